//! A rotation, predicted by turning on.
//!
//! The words of a rotation are three components of a unit quaternion, the largest one dropped. No component of an even
//! turn moves evenly: the quaternion goes round a circle, so that the line through two of them leaves it. What is
//! predicted is therefore the line, bent towards the centre by as much as the baselines are apart:
//!
//! ```text
//!     ● older                     rise = newer − older                     r = newer age / (older age − newer age)
//!       ╲                         bend = |rise|² / |newer|²
//!         ● newer
//!         │ ╲                     predicted = newer + r·rise − bend·(r(r+1)/2 · newer + r(r²−1)/6 · rise)
//!         ○   · line
//!     predicted                   r = 1:    = newer + rise − bend · newer
//! ```
//!
//! The rise of the dropped component counts too; it follows from the others, whose squares and its own add up to one:
//!
//! ```text
//!   unit  = 2 · half²                      the sum of squares that stands for one
//!   rest  = unit − newer·newer             at least unit / 4
//!   along = newer·rise − ⌊rise·rise / 2⌋
//!   slope = along · 2^10 / rest            cut towards zero
//!   chord = rise·rise + ⌊along · slope / 2^10⌋, at most unit
//!   bend  = ⌊chord · ⌊2^45 / unit⌋ / 2^29⌋             in units of 2^-16
//! ```
//!
//! Without the bend something that turns by 4° a frame takes four bits more per update.
//!
//! A turning object mostly keeps its axis and changes its speed, so that all three steps are off in proportion: along
//! the *tangent*, the direction in which the prediction moves on. The step with the largest share of it leads and is
//! coded first. Its difference corrects the prediction of the other two, and what remains there is rounding:
//!
//! ```text
//!           ╱ tangent             tangent = 3 · (predicted − newer) − r·rise
//!     ○────●          ○ predicted    ● actual
//!      ╲   │           the lead says how far along the tangent it went, the others follow:
//!       ╲  │ lead      predicted += difference of the lead × tangent / tangent of the lead
//! ```
//!
//! All of this takes place in the components that the newer baseline kept. Where the older one or the present dropped
//! another, they are restored from the others first (see `Known::reframed`).
//!
//! Quotients are rounded to nearest, ties away from zero, where nothing else is said; ⌊⌋ is towards minus infinity. No
//! intermediate of words that are rotations exceeds 2^52; of words that are none, arithmetic wraps.

use netloom_wire::quantize::{RotationWidth, WordRange};
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::line::{Lanes, Line, add, divide_rounding, size, subtract};
use super::run::Run;
use super::symbol::Turn;
use super::track::{Source, Track};

/// One, as a bend.
const ONE: i32 = 1 << 16;

/// The components that remain when each one is dropped.
const REMAINING: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// The lane of the leading step, then those of the others.
const ORDERS: [[usize; 3]; 3] = [[1, 2, 3], [2, 1, 3], [3, 1, 2]];

/// How finely steps are quantized, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The largest step.
    half: i32,
    /// The sum of squared steps that stands for one.
    squared: i64,
    /// 2^45 divided by that.
    reciprocal: i64,
}

impl Unit {
    pub const fn new(half: i16) -> Unit {
        let squared = 2 * half as i64 * half as i64;
        Unit { half: half as i32, squared, reciprocal: (1 << 45) / squared }
    }

    #[inline]
    pub fn of(width: RotationWidth) -> Unit {
        const TEN: Unit = Unit::new(RotationWidth::Ten.half());
        const FIFTEEN: Unit = Unit::new(RotationWidth::Fifteen.half());
        match width {
            RotationWidth::Ten => TEN,
            RotationWidth::Fifteen => FIFTEEN,
        }
    }
}

/// What the receiver knows: the newer rotation, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    newer: &'a Lanes,
    older: Option<(&'a Lanes, Line)>,
    unit: Unit,
}

/// What is expected, and which way it moves on: a dropped component and three steps.
#[derive(Clone, Copy, Debug)]
struct Arc {
    predicted: Lanes,
    tangent: Lanes,
    motion: u64,
}

impl<'a> Known<'a> {
    #[inline]
    pub fn new(newer: &'a Lanes, older: Option<(&'a Lanes, Line)>, unit: Unit) -> Known<'a> {
        Known { newer, older, unit }
    }

    /// Whether `words` are a rotation of this width.
    #[inline]
    pub fn contains(&self, words: &Lanes) -> bool {
        let [dropped, a, b, c] = *words;
        let half = self.unit.half;
        let inside = |step: i32| (-half..=half).contains(&step);
        let square = |step: i32| step.wrapping_mul(step);
        (dropped & !3 == 0)
            & (inside(a) & inside(b) & inside(c))
            & (square(a).wrapping_add(square(b)).wrapping_add(square(c)) <= 2 * half * half)
    }

    /// The bits of a rotation in full: the dropped component and three steps.
    #[inline]
    pub fn absolute_bits(&self) -> u32 {
        2 + 3 * self.range().bit_width()
    }

    /// How `words`, which must be contained and have changed, are said best, and the bits that follow the symbol.
    #[inline]
    pub fn write<R: Run>(&self, codes: &Codes, words: &Lanes) -> (Turn, R) {
        let arc = self.older.map(|(older, line)| self.arc(older, line));
        match words[0] == self.newer[0] {
            true => self.write_steps::<R, false>(codes, words, self.newer, arc),
            false => self.write_dropping(codes, words, arc),
        }
    }

    /// The present dropped another component than the newer baseline. Apart, so that the usual case is short.
    #[inline(never)]
    fn write_dropping<R: Run>(&self, codes: &Codes, words: &Lanes, arc: Option<Arc>) -> (Turn, R) {
        let (newer, _) = self.reframed(self.newer, &[0; 4], words[0]);
        let arc = arc.map(|arc| self.arc_reframed(arc, words[0]));
        self.write_steps::<R, true>(codes, words, &newer, arc)
    }

    #[inline]
    fn write_steps<R: Run, const DROPPING: bool>(
        &self,
        codes: &Codes,
        words: &Lanes,
        newer: &Lanes,
        arc: Option<Arc>,
    ) -> (Turn, R) {
        let mut run = R::default();
        if DROPPING {
            run.put(words[0] as u64 & 3, 2);
        }
        let by_newer = subtract(words, newer);
        let mut track = Track { source: Source::Newer, motion: None, range: self.range() };
        if let Some(arc) = arc {
            track.motion = Some(arc.motion);
            let by_arc = subtract(words, &arc.predicted);
            if by_arc == [0; 4] && !DROPPING {
                return (Turn::Predicted, run);
            }
            if size(&by_arc) <= size(&by_newer) {
                track.source = Source::Line;
                let order = arc.order();
                let [lead, second, third] = order.map(|lane| by_arc[lane]);
                let differences = [
                    lead,
                    second.wrapping_sub(arc.correction(order, 1, lead)),
                    third.wrapping_sub(arc.correction(order, 2, lead)),
                ];
                track.write(codes, order.map(|lane| words[lane]), differences, &mut run);
                return (if DROPPING { Turn::FromLineDropping } else { Turn::FromLine }, run);
            }
        }
        let ([_, a, b, c], [_, d, e, f]) = (*words, by_newer);
        track.write(codes, [a, b, c], [d, e, f], &mut run);
        (if DROPPING { Turn::FromNewerDropping } else { Turn::FromNewer }, run)
    }

    /// The rotation that was said as `turn`, which is not as before.
    #[inline]
    pub fn read(&self, turn: Turn, codes: &Codes, reader: &mut BitReader<'_>) -> Result<Lanes, ReadError> {
        let mut newer = *self.newer;
        let mut arc = self.older.map(|(older, line)| self.arc(older, line));
        if matches!(turn, Turn::FromNewerDropping | Turn::FromLineDropping) {
            let dropped = reader.read_bits(2)? as i32;
            newer = self.reframed(&newer, &[0; 4], dropped).0;
            arc = arc.map(|arc| self.arc_reframed(arc, dropped));
        }
        let mut track =
            Track { source: Source::Newer, motion: arc.map(|arc| arc.motion), range: self.range() };
        let words = match (turn, arc) {
            (Turn::FromNewer | Turn::FromNewerDropping, _) => {
                let [a, b, c] = track.read(codes, |axis, _| newer[axis + 1], reader)?;
                [newer[0], a, b, c]
            }
            (Turn::Predicted, Some(arc)) => arc.predicted,
            (Turn::FromLine | Turn::FromLineDropping, Some(arc)) => {
                track.source = Source::Line;
                let order = arc.order();
                let predict = |axis: usize, led: i32| {
                    let correction = if axis > 0 { arc.correction(order, axis, led) } else { 0 };
                    arc.predicted[order[axis]].wrapping_add(correction)
                };
                let mut words = arc.predicted;
                for (lane, word) in order.into_iter().zip(track.read(codes, predict, reader)?) {
                    words[lane] = word;
                }
                words
            }
            _ => return Err(ReadError::InvalidCode),
        };
        if self.contains(&words) { Ok(words) } else { Err(ReadError::InvalidRotation) }
    }

    #[inline]
    fn range(&self) -> WordRange {
        WordRange::symmetric(self.unit.half)
    }

    #[inline]
    fn arc(&self, older: &Lanes, line: Line) -> Arc {
        let newer = self.newer;
        let rise = match older[0] == newer[0] {
            true => subtract(newer, older),
            false => subtract(newer, &self.reframed(older, &[0; 4], newer[0]).0),
        };
        let bend = self.bend(newer, &rise);
        let steps = line.steps(&rise);
        let (of_newer, of_rise) = if line.is_even() { (bend, 0) } else { uneven_bends(bend, line) };
        let bent = |lane: usize| {
            let inwards =
                i64::from(of_newer) * i64::from(newer[lane]) + i64::from(of_rise) * i64::from(rise[lane]);
            ((inwards + i64::from(ONE / 2)) >> ONE.ilog2()) as i32
        };
        let ahead = subtract(&steps, &[0, bent(1), bent(2), bent(3)]);
        Arc {
            predicted: add(newer, &ahead),
            tangent: subtract(&ahead.map(|step| step.wrapping_mul(3)), &steps),
            motion: line.motion(size(&rise)),
        }
    }

    /// The square of the whole rise, as a part of one.
    #[inline]
    fn bend(&self, newer: &Lanes, rise: &Lanes) -> i32 {
        let unit = self.unit.squared;
        let rest = unit.wrapping_sub(dot(newer, newer)).max(unit / 4);
        let straight = dot(rise, rise);
        let along = dot(newer, rise).wrapping_sub(straight >> 1);
        let slope = (along << 10) / rest;
        let chord = straight.wrapping_add(along.wrapping_mul(slope) >> 10).clamp(0, unit);
        ((chord * self.unit.reciprocal) >> 29) as i32
    }

    /// Steps, and a direction in which they move, in the components that remain when another one is dropped.
    ///
    /// The dropped component is the positive root of what the others leave; it moves so that the length remains. If the
    /// one that is dropped instead is negative, the quaternion is negated, which is the same rotation.
    #[inline(never)]
    fn reframed(&self, steps: &Lanes, tangent: &Lanes, to: i32) -> (Lanes, Lanes) {
        let root = rounded_root(self.unit.squared.wrapping_sub(dot(steps, steps))).max(1);
        let mut whole = [root as i32; 4];
        let mut moving = [divide_rounding(dot(steps, tangent), root).wrapping_neg() as i32; 4];
        for (lane, component) in (1..).zip(REMAINING[steps[0] as usize & 3]) {
            whole[component] = steps[lane];
            moving[component] = tangent[lane];
        }
        let negative = whole[to as usize & 3] < 0;
        let signed = |step: i32| if negative { step.wrapping_neg() } else { step };
        let [a, b, c] = REMAINING[to as usize & 3];
        let framed = |first: i32, whole: Lanes| [first, signed(whole[a]), signed(whole[b]), signed(whole[c])];
        (framed(to, whole), framed(0, moving))
    }

    fn arc_reframed(&self, arc: Arc, to: i32) -> Arc {
        let (predicted, tangent) = self.reframed(&arc.predicted, &arc.tangent, to);
        Arc { predicted, tangent, motion: arc.motion }
    }
}

impl Arc {
    /// The lane with the largest share of the tangent first; of equal ones the first.
    #[inline]
    fn order(&self) -> [usize; 3] {
        let [_, a, b, c] = self.tangent.map(i32::unsigned_abs);
        let not_first = usize::from((b > a) | (c > a));
        ORDERS[not_first + (not_first & usize::from(c > b))]
    }

    /// What a step is expected to be off by, once the lead turned out to be off by `led`.
    #[inline]
    fn correction(&self, order: [usize; 3], axis: usize, led: i32) -> i32 {
        let along = i64::from(self.tangent[order[0]]);
        let led = if along < 0 { -i64::from(led) } else { i64::from(led) };
        divide_rounding(led * i64::from(self.tangent[order[axis]]), along.abs().max(1)) as i32
    }
}

/// The bend as a part of the newer quaternion and of the rise, if r is not 1. Far ahead of close baselines an arc means
/// nothing; there it is only kept small.
#[inline(never)]
fn uneven_bends(bend: i32, line: Line) -> (i32, i32) {
    let Line { ahead, behind } = line;
    let (bend, squared) = (i64::from(bend), behind * behind);
    let limited = |bend: i64| bend.clamp(-4 * i64::from(ONE), 4 * i64::from(ONE)) as i32;
    let of_newer = limited(divide_rounding(bend * ahead * (ahead + behind), 2 * squared));
    let of_rise = limited(divide_rounding(bend * ahead * (ahead * ahead - squared), 6 * squared * behind));
    (of_newer, of_rise)
}

/// The product of the steps.
#[inline]
fn dot(a: &Lanes, b: &Lanes) -> i64 {
    let product = |lane: usize| i64::from(a[lane]) * i64::from(b[lane]);
    product(1).wrapping_add(product(2)).wrapping_add(product(3))
}

/// The integer nearest to the square root of `square`, which is below 2^40; zero for a negative one.
///
/// The root of a double is exact to its last bit everywhere, and no integer's root is near a half.
fn rounded_root(square: i64) -> i64 {
    ((square.max(0) as f64).sqrt() + 0.5) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::quantize::{QuantizeCounters, Rotation};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn roots_are_those_of_integers(square in 0i64..1 << 40) {
            let floor = square.isqrt();
            prop_assert_eq!(rounded_root(square), floor + i64::from(square - floor * floor > floor));
        }
    }

    /// The words of a turn about z.
    fn turned(degrees: f64) -> [i32; 4] {
        let (sine, cosine) = (degrees / 2.0).to_radians().sin_cos();
        let quaternion = [0.0, 0.0, sine as f32, cosine as f32];
        let rotation =
            Rotation::quantize(quaternion, RotationWidth::Fifteen, &mut QuantizeCounters::default());
        let Rotation::SmallestThree { largest, steps: [a, b, c] } = rotation else {
            unreachable!("quantized")
        };
        [i32::from(largest), i32::from(a), i32::from(b), i32::from(c)]
    }

    /// What is expected of something that turns by 6° a tick.
    fn expected(baselines: &[Lanes; 2], ages: (u32, u32)) -> (Known<'_>, Arc) {
        let line = Line::between(ages.0, ages.1).unwrap();
        let [newer, older] = baselines;
        let known = Known::new(newer, Some((older, line)), Unit::of(RotationWidth::Fifteen));
        (known, known.arc(older, line))
    }

    fn baselines(now_degrees: f64, ages: (u32, u32)) -> [Lanes; 2] {
        [ages.0, ages.1].map(|age| turned(now_degrees - 6.0 * f64::from(age)))
    }

    /// How many steps of 32,767 the prediction is off, at most over a full turn.
    fn off_by(ages: (u32, u32)) -> u32 {
        let distance = |now: u32| {
            let baselines = baselines(f64::from(now), ages);
            let (known, mut arc) = expected(&baselines, ages);
            let current = turned(f64::from(now));
            if current[0] != known.newer[0] {
                arc = known.arc_reframed(arc, current[0]);
            }
            size(&subtract(&current, &arc.predicted))
        };
        (0..360).map(distance).max().unwrap_or(0)
    }

    #[test]
    fn an_even_turn_is_predicted_also_where_another_component_is_dropped() {
        assert!(off_by((1, 2)) <= 10, "{} steps", off_by((1, 2)));
        assert!(off_by((2, 4)) <= 60, "{} steps", off_by((2, 4)));
    }

    #[test]
    fn an_even_turn_is_predicted_from_uneven_ages() {
        for ages in [(1, 4), (2, 3), (3, 5), (4, 7)] {
            let steps = off_by(ages);
            assert!(steps <= 200, "{steps} steps at ages {ages:?}");
        }
    }

    #[test]
    fn a_change_of_speed_about_the_same_axis_is_said_by_the_lead_alone() {
        let mut seen = 0;
        for now in 0..360 {
            let baselines = baselines(f64::from(now), (2, 4));
            let (known, arc) = expected(&baselines, (2, 4));
            let current = turned(f64::from(now) + 3.0);
            if current[0] != known.newer[0] {
                continue;
            }
            let order = arc.order();
            let off = subtract(&current, &arc.predicted);
            let lead = off[order[0]];
            assert!(lead.abs() > 200, "three degrees are many steps: {lead} at {now}");
            for axis in [1, 2] {
                let left = off[order[axis]] - arc.correction(order, axis, lead);
                assert!(left.abs() <= 40, "{left} left at {now}");
            }
            seen += 1;
        }
        assert!(seen > 300);
    }
}
