//! A rotation of singles, on the circle through its baselines.
//!
//! Four singles say what three could, and what spins about an axis needs but one. Unit quaternions are points of a sphere
//! in four dimensions; two of them span a plane, and turning on about the same axis goes along the circle in which
//! that plane cuts the sphere:
//!
//! ```text
//!                  ● B                         A, V      a basis of the plane: A the newer baseline, V across it
//!             ●─────────► A                    lead      the component that changes most at A
//!          now ╲          │                    now       A·cos + V·sin: where its lead is what was sent, that tells
//!               ╲─────── V│                              the angle, and so the other components
//! ```
//!
//! So the components are sent one after the other, each as the difference from what those before it predict: the lead from where
//! an even turn would end; the second and the third from the circle; and the last one, the largest of the others, from what
//! they leave of one. What turns about a changed axis leaves the circle, but never the sphere. Or, where that is shorter, three
//! components come as differences from the newer baseline, and only the last one is predicted: a bit says which.
//!
//! All is computed in integers of 2^-26, the finest step of which every product fits the 53 bits that all languages have.
//! What is predicted is rounded to a single, and what is sent is the difference of [ordinals](super::exact): whatever the prediction is, the
//! result is exact.

use core::convert::Infallible;

use netloom_wire::quantize::Rotation;
use netloom_wire::{BitReader, ReadError};

use super::exact::{self, Base, ordinal, width};
use super::line::{FACTOR_BITS, Line};
use super::run::Run;

/// Bits of a fraction.
const BITS: i32 = 26;
const ONE: i64 = 1 << BITS;
/// The square of one.
const SQUARE: i64 = 1 << (2 * BITS);
const FIXED_MAX: i64 = ONE + ONE / 4;
/// Rotations that differ by less than this part of [`ONE`] have no plane that is worth it.
const CHORD_MIN: i64 = 1 << 10;
/// The bits that are expected of a difference that only rounding makes.
const ROUNDING: i32 = 4;
/// Bits of the ratio with which a turn goes on.
const RATIO_BITS: i32 = 11;

/// The bits of a quaternion's components, x y z w.
type Words = [i32; 4];

/// A single in 2^-26, rounded towards zero. Of one that no rotation has, some number that is more than one and does not
/// overflow: what becomes of it is refused.
#[inline(always)]
fn fixed(word: i32) -> i64 {
    let value = f64::from(f32::from_bits(word as u32)) * ONE as f64;
    (value as i64).clamp(-FIXED_MAX, FIXED_MAX)
}

/// The ordinal of the single nearest to a number of 2^-26; of equally near ones the even one.
#[inline(always)]
fn nearest(fixed: i64) -> i32 {
    ordinal((fixed as f32 / ONE as f32).to_bits() as i32)
}

/// A product in 2^-26, rounded down.
#[inline(always)]
fn cut(product: i64) -> i64 {
    product >> BITS
}

/// The root of a number from zero to one, in 2^-52; of others that of the nearest of these. Rounded down.
#[inline(always)]
fn root(square: i64) -> i64 {
    // The root of a double is exact to its last bit everywhere, and too near the next integer for no square of 52 bits.
    (square.clamp(0, SQUARE) as f64).sqrt() as i64
}

/// The largest component of these, the first of equals.
#[inline(always)]
fn largest(words: Words, except: usize) -> usize {
    let size = |place: usize| if place == except { -1 } else { words[place] & i32::MAX };
    (1..4).fold(0, |best, place| if size(place) > size(best) { place } else { best })
}

/// The two places that are neither of these.
#[inline(always)]
fn others(a: usize, b: usize) -> [usize; 2] {
    let second = (0..3).find(|&place| place != a && place != b).unwrap_or(0);
    [second, 6 - a - b - second]
}

/// Predicts the last component from the others, with the sign that it had.
#[inline(always)]
fn rest(words: Words, newer: Words, last: usize) -> i32 {
    let square = |place: usize| if place == last { 0 } else { fixed(words[place]) * fixed(words[place]) };
    let root = root(SQUARE - (0..4).map(square).sum::<i64>());
    nearest(if newer[last] < 0 { -root } else { root })
}

/// The circle through two rotations.
#[derive(Clone, Copy, Debug)]
struct Circle {
    newer: [i64; 4],
    across: [i64; 4],
    /// The sine of the angle between both.
    sine: i64,
    lead: usize,
}

impl Circle {
    /// `None` if both are nearly the same.
    #[inline(always)]
    fn through(newer: Words, older: Words) -> Option<Circle> {
        let (newer, mut older) = (newer.map(fixed), older.map(fixed));
        let dot = |a: [i64; 4], b: [i64; 4]| (0..4).map(|place| a[place] * b[place]).sum::<i64>();
        // A rotation has two quaternions; of which one is told is no matter.
        if dot(newer, older) < 0 {
            older = older.map(|component| -component);
        }
        let cosine = cut(dot(newer, older));
        let across: [i64; 4] = core::array::from_fn(|place| cut(newer[place] * cosine) - older[place]);
        let sine = root(dot(across, across));
        if sine < CHORD_MIN {
            return None;
        }
        let across = across.map(|component| (component << BITS).div_euclid(sine));
        let lead =
            (1..4).fold(0, |best, place| if across[place].abs() > across[best].abs() { place } else { best });
        Some(Circle { newer, across, sine, lead })
    }

    /// The ordinal of a component at an angle.
    #[inline(always)]
    fn component(&self, place: usize, cosine: i64, sine: i64) -> i32 {
        nearest(cut(self.newer[place] * cosine + self.across[place] * sine))
    }

    /// The ordinal of the lead where an even turn ends.
    #[inline(always)]
    fn ahead(&self, line: &Line) -> i32 {
        // sin(r·t) = r·s + r(1 − r²)/6·s³ and so on, with s = sin(t)
        let cubed = cut(cut(self.sine * self.sine) * self.sine);
        let onwards = (self.sine * i64::from(line.ratio(RATIO_BITS))) >> RATIO_BITS;
        let bow = (cubed * i64::from(line.backwards)) >> (FACTOR_BITS + 1);
        let sine = (onwards - bow).clamp(0, ONE);
        self.component(self.lead, root(SQUARE - sine * sine), sine)
    }

    /// The angle at which the lead is this: of two the one nearer to the newer rotation.
    #[inline(always)]
    fn angle(&self, lead: i32) -> (i64, i64) {
        let (along, across) = (self.newer[self.lead], self.across[self.lead]);
        let square = along * along + across * across;
        let most = root(square);
        let lead = fixed(lead).clamp(-most, most);
        let beside = root(square - lead * lead);
        let beside = if across < 0 { -beside } else { beside };
        let divisor = cut(square).max(1);
        let over = |number: i64| number.div_euclid(divisor);
        (over(lead * along + across * beside), over(lead * across - along * beside))
    }
}

/// What the receiver knows: the newer rotation, and the older one if there is a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub newer: &'a Words,
    pub older: Option<(&'a Words, &'a Line)>,
}

/// Says or hears differences, some at a time.
trait Differences {
    type Error;
    /// The words of these components, of which the predicted ordinals are these.
    fn next<const N: usize>(
        &mut self,
        places: [usize; N],
        predicted: [i32; N],
        expected: i32,
    ) -> Result<[i32; N], Self::Error>;
}

struct Said<'a, R> {
    words: &'a Words,
    newer: &'a Words,
    run: R,
}

impl<R: Run> Differences for Said<'_, R> {
    type Error = Infallible;

    #[inline(always)]
    fn next<const N: usize>(
        &mut self,
        places: [usize; N],
        predicted: [i32; N],
        expected: i32,
    ) -> Result<[i32; N], Infallible> {
        let words = places.map(|place| self.words[place]);
        let differences = core::array::from_fn(|at| ordinal(words[at]).wrapping_sub(predicted[at]));
        exact::put(differences, &Base::new(places.map(|place| self.newer[place])), expected, &mut self.run);
        Ok(words)
    }
}

struct Heard<'a, 'r, 'b> {
    newer: &'a Words,
    reader: &'r mut BitReader<'b>,
}

impl Differences for Heard<'_, '_, '_> {
    type Error = ReadError;

    #[inline(always)]
    fn next<const N: usize>(
        &mut self,
        places: [usize; N],
        predicted: [i32; N],
        expected: i32,
    ) -> Result<[i32; N], ReadError> {
        let base = Base::new(places.map(|place| self.newer[place]));
        let differences = exact::take(&base, expected, self.reader)?;
        Ok(core::array::from_fn(|at| ordinal(predicted[at].wrapping_add(differences[at]))))
    }
}

impl Known<'_> {
    #[inline(always)]
    fn circle(&self) -> Option<(Circle, &Line)> {
        let (older, line) = self.older?;
        Some((Circle::through(*self.newer, *older)?, line))
    }

    /// What is expected of differences of these components.
    #[inline(always)]
    fn expected<const N: usize>(&self, places: [usize; N], is_line: bool) -> i32 {
        let of = |words: &Words| places.map(|place| words[place]);
        self.older.map_or(exact::UNKNOWN, |(older, _)| Base::new(of(self.newer)).expected(of(older), is_line))
    }

    /// All components, from the newer rotation.
    #[inline(always)]
    fn near_newer<D: Differences>(&self, differences: &mut D) -> Result<Words, D::Error> {
        let last = largest(*self.newer, usize::MAX);
        let first = usize::from(last == 0);
        let [second, third] = others(first, last);
        let three = [first, second, third];
        let predicted = three.map(|place| ordinal(self.newer[place]));
        let mut words = *self.newer;
        [words[first], words[second], words[third]] =
            differences.next(three, predicted, self.expected(three, false))?;
        self.last(last, words, differences)
    }

    /// The same along the circle.
    #[inline(always)]
    fn along<D: Differences>(
        &self,
        circle: &Circle,
        line: &Line,
        differences: &mut D,
    ) -> Result<Words, D::Error> {
        let lead = circle.lead;
        let last = largest(*self.newer, lead);
        let [second, third] = others(lead, last);
        let mut words = *self.newer;
        [words[lead]] = differences.next([lead], [circle.ahead(line)], self.expected([lead], true))?;
        let (cosine, sine) = circle.angle(words[lead]);
        let predicted = [second, third].map(|place| circle.component(place, cosine, sine));
        [words[second], words[third]] = differences.next([second, third], predicted, ROUNDING)?;
        self.last(last, words, differences)
    }

    #[inline(always)]
    fn last<D: Differences>(
        &self,
        last: usize,
        mut words: Words,
        differences: &mut D,
    ) -> Result<Words, D::Error> {
        [words[last]] = differences.next([last], [rest(words, *self.newer, last)], ROUNDING)?;
        Ok(words)
    }

    /// A rotation, which must be [valid](is_valid).
    #[inline(always)]
    pub fn write<R: Run>(&self, words: &Words) -> R {
        let said = |run| Said { words, newer: self.newer, run };
        let mut run = R::default();
        let Some((circle, line)) = self.circle() else {
            let mut said = said(run);
            let Ok(_) = self.near_newer(&mut said);
            return said.run;
        };
        run.put(1, 1);
        let mut along = said(run);
        let Ok(_) = self.along(&circle, line, &mut along);
        let bits = |place: usize| width(ordinal(words[place]).wrapping_sub(ordinal(self.newer[place])));
        let [sum, most] = (0..4).map(bits).fold([0; 2], |[sum, most], bits| [sum + bits, most.max(bits)]);
        // The other one takes at least three of these and two classes.
        if along.run.length() as i32 <= sum - most + 7 {
            return along.run;
        }
        let mut run = R::default();
        run.put(0, 1);
        let mut newer = said(run);
        let Ok(_) = self.near_newer(&mut newer);
        if newer.run.length() < along.run.length() { newer.run } else { along.run }
    }

    /// Reads what [`write`](Known::write) wrote.
    #[inline(always)]
    pub fn read(&self, reader: &mut BitReader<'_>) -> Result<Words, ReadError> {
        let circle = self.circle();
        let is_along = circle.is_some() && reader.read_bool()?;
        let mut heard = Heard { newer: self.newer, reader };
        let words = match circle.filter(|_| is_along) {
            Some((circle, line)) => self.along(&circle, line, &mut heard)?,
            None => self.near_newer(&mut heard)?,
        };
        check(&words)?;
        Ok(words)
    }
}

/// Refuses what is no rotation.
#[inline]
pub(super) fn check(words: &Words) -> Result<(), ReadError> {
    Rotation::from_raw(words.map(|word| f32::from_bits(word as u32))).map(|_| ())
}

#[cfg(test)]
mod tests;
