//! A rotation, predicted by turning on.
//!
//! The words of a rotation are three components of a unit quaternion; which three changes as the object turns, and no
//! component moves evenly. So the prediction is made on the whole quaternion, in steps: the dropped component is
//! restored as the root of what the others leave, and the arc through both baselines is continued.
//!
//! ```text
//!     ● older                    unit  = 2 · half²                  the sum of squared steps that stands for one
//!      ╲                         chord = |newer − older|²
//!       ● newer                  bend  = chord / (2 · unit)         1 − cos θ
//!       │
//!       ○ predicted  =  (sin (1+r)θ · newer − sin rθ · older) / sin θ               r as in `line`
//!
//!   up to terms in bend², and exactly if r = 1, with rise = newer − older:
//!                    =  newer  +  (r − r(r²−1)/3 · bend) · rise  −  r(r+1) · bend · newer
//! ```
//!
//! A straight line instead of the arc costs about four bits more per update of something that turns by 4° a frame.
//!
//! A turning object mostly keeps its axis and changes its speed, so that all three steps are off in proportion: along
//! the way from the newer baseline to the prediction. The step with the largest share of it leads and is coded first. Its
//! difference corrects the prediction of the other two, and what remains there is little:
//!
//! ```text
//!     newer ●────────○────●          ○ predicted    ● actual
//!                     ╲   │           the lead says how far along the way it went, the others follow:
//!                      ╲  │ lead      predicted += difference of the lead × way / way of the lead
//! ```
//!
//! Every quotient is rounded to nearest, ties up, as soon as it is computed; [`Unit`] has their fractions. With words
//! that are rotations nothing exceeds 2^31.

use netloom_wire::quantize::RotationWidth;

use super::line::{BEND_BITS, Curve, FACTOR_BITS, Line};
use super::number::Number;
use crate::class::Grain;

/// How finely steps are quantized, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The largest step.
    pub half: i32,
    /// The sum of squared steps that stands for one.
    pub squared: i32,
    /// Bits that are cut off a chord, so that 13 are left.
    chord_bits: i32,
    /// What makes such a chord a bend, in 2^-8.
    chord_factor: i32,
    /// Bits of the fraction of a weight.
    weight_bits: i32,
    /// Bits of one divided by a step.
    reciprocal_bits: i32,
    /// Bits of the fraction of a slope.
    slope_bits: i32,
    /// Whether words are every second step, and none of them zero: word n is step 2·n + 1.
    is_halved: bool,
}

/// Bits of the fraction of [`Unit::chord_factor`].
const CHORD_FACTOR_BITS: i32 = 8;

impl Unit {
    /// Ten bits: nothing exceeds 2^23.
    pub const TEN: Unit = Unit {
        weight_bits: 10,
        reciprocal_bits: 22,
        slope_bits: 10,
        ..Unit::new(RotationWidth::Ten.half(), 7)
    };

    /// Nine bits, half as fine as ten.
    pub const NINE: Unit = Unit { is_halved: true, ..Unit::TEN };

    /// Fifteen bits: nothing exceeds 2^31.
    pub const FIFTEEN: Unit = Unit {
        weight_bits: 13,
        reciprocal_bits: 30,
        slope_bits: 12,
        ..Unit::new(RotationWidth::Fifteen.half(), 17)
    };

    const fn new(half: i16, chord_bits: i32) -> Unit {
        let squared = 2 * half as i32 * half as i32;
        let factor = (1i64 << (BEND_BITS - 1 + chord_bits + CHORD_FACTOR_BITS)) / squared as i64;
        Unit {
            half: half as i32,
            squared,
            chord_bits,
            chord_factor: factor as i32,
            weight_bits: 0,
            reciprocal_bits: 0,
            slope_bits: 0,
            is_halved: false,
        }
    }

    /// The step that a word stands for.
    #[inline(always)]
    fn step<T: Number>(&self, word: i32) -> T {
        T::new(if self.is_halved { word.wrapping_mul(2).wrapping_add(1) } else { word })
    }

    /// The word nearest to a step, of two the upper one.
    #[inline(always)]
    pub fn word<T: Number>(&self, step: T) -> T {
        if self.is_halved { step.minus(T::new(1)).over_two_to(1) } else { step }
    }

    /// The word nearest to the step that is a quotient, within the width.
    pub fn word_of(&self, numerator: i64, denominator: i64) -> i32 {
        let (word, [min, max]) = match self.is_halved {
            true => (numerator.div_euclid(2 * denominator), [-(self.half + 1) / 2, (self.half - 1) / 2]),
            false => ((2 * numerator + denominator).div_euclid(2 * denominator), [-self.half, self.half]),
        };
        word.clamp(min.into(), max.into()) as i32
    }

    /// Whether these are the dropped component and the words of a rotation of this width.
    #[inline(always)]
    pub fn contains<T: Number>(&self, dropped: i32, words: [i32; 3]) -> bool {
        let half = T::new(self.half);
        let [a, b, c] = words.map(|word| self.step::<T>(word));
        let inside = |step: T| (step <= half) & (T::new(0).minus(half) <= step);
        let squares = a.times(a).plus(b.times(b)).plus(c.times(c));
        (dropped & !3 == 0) & inside(a) & inside(b) & inside(c) & (squares <= T::new(self.squared))
    }
}

/// The unit of a grain.
pub(super) const fn unit_of(grain: Grain) -> &'static Unit {
    match grain {
        Grain::Nine => &Unit::NINE,
        Grain::Ten => &Unit::TEN,
        Grain::Fifteen => &Unit::FIFTEEN,
    }
}

/// A whole quaternion in steps, in the order of its components.
pub(super) type Quaternion<T> = [T; 4];

/// The whole quaternion of words; and the square of the restored component, which is negative if the words are no
/// rotation.
#[inline(always)]
pub(super) fn whole<T: Number>([dropped, a, b, c]: [i32; 4], unit: &Unit) -> (Quaternion<T>, T) {
    let [a, b, c] = [a, b, c].map(|word| unit.step::<T>(word));
    let squares = a.times(a).plus(b.times(b)).plus(c.times(c));
    let rest = T::new(unit.squared).minus(squares);
    let zero = T::new(0);
    let root = if rest < zero { zero } else { rest }.root();
    let second = if dropped == 1 { root } else { b };
    let third = if dropped == 2 { root } else { b };
    let quaternion = [
        if dropped == 0 { root } else { a },
        if dropped == 0 { a } else { second },
        if dropped == 3 { c } else { third },
        if dropped == 3 { root } else { c },
    ];
    (quaternion, rest)
}

/// The arc through both baselines, up to the present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc<T> {
    /// Where it ends.
    pub predicted: Quaternion<T>,
    /// From the older baseline to the newer one.
    rise: Quaternion<T>,
}

impl<T: Number> Arc<T> {
    #[inline(always)]
    pub fn new(newer: Quaternion<T>, older: Quaternion<T>, line: &Line, unit: &Unit) -> Arc<T> {
        // A quaternion and its negative are the same rotation: take the nearer one.
        let is_far = sum(core::array::from_fn(|lane| newer[lane].times(older[lane]))) < T::new(0);
        let rise: Quaternion<T> =
            core::array::from_fn(|lane| newer[lane].minus(older[lane].negated_if(is_far)));
        let chord = sum(rise.map(|rise| rise.times(rise)));
        let (inwards, onwards) = weights(chord, line, unit);
        let predicted = |lane: usize| {
            let step = rise[lane].times(onwards).minus(newer[lane].times(inwards));
            newer[lane].plus(step.over_two_to(unit.weight_bits))
        };
        Arc { predicted: core::array::from_fn(predicted), rise }
    }

    /// The component that the end of it drops: the largest, of equal ones the first.
    #[inline(always)]
    pub fn dropped(&self) -> i32 {
        largest(self.predicted)
    }
}

impl Arc<i64> {
    /// How far a third baseline says that the object is turning off the arc by the present.
    #[inline(always)]
    pub fn bow(&self, newer: Quaternion<i64>, oldest: Quaternion<i64>, curve: &Curve) -> Quaternion<i64> {
        let older: Quaternion<i64> = core::array::from_fn(|lane| newer[lane].minus(self.rise[lane]));
        let is_far = sum(core::array::from_fn(|lane| older[lane].times(oldest[lane]))) < 0;
        core::array::from_fn(|lane| {
            let before = older[lane].minus(oldest[lane].negated_if(is_far));
            i64::from(curve.bow(self.rise[lane] as i32, before as i32))
        })
    }
}

/// The largest component, of equal ones the first.
#[inline(always)]
fn largest<T: Number>(quaternion: Quaternion<T>) -> i32 {
    let [x, y, z, w] = quaternion.map(T::size);
    let (low, low_size) = if y > x { (1, y) } else { (0, x) };
    let (high, high_size) = if w > z { (3, w) } else { (2, z) };
    if high_size > low_size { high } else { low }
}

/// What the newer rotation and the rise weigh in the way ahead: how far the arc bends inwards, and how far it goes on.
#[inline(always)]
fn weights<T: Number>(chord: T, line: &Line, unit: &Unit) -> (T, T) {
    let bend = chord.over_two_to(unit.chord_bits).times(T::new(unit.chord_factor));
    let bend = bend.over_two_to(CHORD_FACTOR_BITS);
    let bend_max = T::new(line.bend_max);
    let bend = if bend > bend_max { bend_max } else { bend };
    let part =
        |factor: i32| T::new(factor).times(bend).over_two_to(FACTOR_BITS + BEND_BITS - unit.weight_bits);
    let straight = T::new(line.ratio(unit.weight_bits));
    (part(line.inwards), straight.minus(part(line.backwards)))
}

/// The three steps of a quaternion that drops a component, with signs changed where it is told.
#[inline(always)]
pub(super) fn steps<T: Number>([x, y, z, w]: Quaternion<T>, dropped: i32, flips: bool) -> [T; 3] {
    [
        if dropped == 0 { y } else { x }.negated_if(flips),
        if dropped < 2 { z } else { y }.negated_if(flips),
        if dropped == 3 { z } else { w }.negated_if(flips),
    ]
}

/// Whether a component of a quaternion is negative: dropped, it is taken for positive.
#[inline(always)]
pub(super) fn is_negative<T: Number>([x, y, z, w]: Quaternion<T>, dropped: i32) -> bool {
    let low = if dropped == 0 { x } else { y };
    let high = if dropped == 2 { z } else { w };
    (if dropped < 2 { low } else { high }) < T::new(0)
}

/// How the other steps follow the lead: the one with the largest share of the way ahead, of equal ones the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Along<T> {
    /// Whether the second or the third step leads.
    not_first: bool,
    /// Whether the third does.
    third: bool,
    /// The ways of the others as parts of that of the lead.
    slopes: [T; 2],
    /// How long the way of the lead is.
    pub size: T,
}

impl<T: Number> Along<T> {
    #[inline(always)]
    pub fn new(newer: [T; 3], predicted: [T; 3], unit: &Unit) -> Along<T> {
        let zero = T::new(0);
        let way: [T; 3] = core::array::from_fn(|step| predicted[step].minus(newer[step]));
        let [a, b, c] = way.map(T::size);
        let not_first = (b > a) | (c > a);
        let mut along = Along { not_first, third: not_first & (c > b), slopes: [zero; 2], size: zero };
        let [lead, second, third] = along.ordered(way);
        let one = T::new(1);
        let size = lead.size();
        along.size = size;
        let size = if size < one { one } else { size };
        let reciprocal = size.reciprocal(unit.reciprocal_bits).negated_if(lead < zero);
        along.slopes = [second, third]
            .map(|step| step.times(reciprocal).over_two_to(unit.reciprocal_bits - unit.slope_bits))
            .map(|slope| slope.times(T::new(3)).over_two_to(2));
        along
    }

    /// The lead of three steps, then the others.
    #[inline(always)]
    fn ordered(&self, [a, b, c]: [T; 3]) -> [T; 3] {
        let later = if self.third { c } else { b };
        [
            if self.not_first { later } else { a },
            if self.not_first { a } else { b },
            if self.third { b } else { c },
        ]
    }

    /// How much further the others go when the lead does by `lead`.
    #[inline(always)]
    fn corrections(&self, lead: T, unit: &Unit) -> [T; 2] {
        self.slopes.map(|slope| lead.times(slope).over_two_to(unit.slope_bits))
    }

    /// The lead of the differences of three steps, and what it leaves of the others.
    #[inline(always)]
    pub fn left_by_lead(&self, differences: [T; 3], unit: &Unit) -> [T; 3] {
        let [lead, second, third] = self.ordered(differences);
        let corrections = self.corrections(lead, unit);
        [lead, second.minus(corrections[0]), third.minus(corrections[1])]
    }

    /// The differences of which that is left.
    #[inline(always)]
    pub fn restored(&self, [lead, second, third]: [T; 3], unit: &Unit) -> [T; 3] {
        let corrections = self.corrections(lead, unit);
        let second = second.plus(corrections[0]);
        let third = third.plus(corrections[1]);
        let middle = if self.third { third } else { lead };
        [
            if self.not_first { second } else { lead },
            if self.not_first { middle } else { second },
            if self.third { lead } else { third },
        ]
    }
}

#[inline(always)]
fn sum<T: Number>([x, y, z, w]: [T; 4]) -> T {
    x.plus(y).plus(z.plus(w))
}

#[cfg(test)]
mod tests;
