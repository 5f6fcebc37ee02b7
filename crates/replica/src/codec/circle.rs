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
//! All is computed in [integers](whole). What is predicted is rounded to a single, and what is sent is the difference of [ordinals](super::exact): whatever the prediction is, the
//! result is exact.

mod whole;

use core::convert::Infallible;

use netloom_wire::quantize::Rotation;
use netloom_wire::{BitReader, ReadError};

use super::exact::{self, Base, ordinal, width};
use super::line::{FACTOR_BITS, Line};
use super::run::Run;
use whole::Whole;

/// The bits that are expected of a difference that only rounding makes.
pub(super) const ROUNDING: i32 = 4;
/// Bits of the ratio with which a turn goes on.
const RATIO_BITS: i32 = 11;

/// In full a rotation takes no more.
pub(super) const ROTATION_BITS_MAX: u32 = 128;

/// The bits of a quaternion's components, x y z w.
pub(super) type Words = [i32; 4];

/// The ordinal of the single nearest to a number of 2^-26.
#[inline(always)]
fn nearest(fixed: impl Whole) -> i32 {
    ordinal(fixed.single().to_bits() as i32)
}

/// The component at a place from 0 to 3.
#[inline(always)]
pub(super) fn component<T: Copy>(of: [T; 4], place: i32) -> T {
    let [x, y, z, w] = of;
    let low = if place == 0 { x } else { y };
    let high = if place == 2 { z } else { w };
    if place < 2 { low } else { high }
}

/// The place of the largest of these, the first of equals.
#[inline(always)]
fn largest<T: Copy + PartialOrd>(sizes: [T; 4]) -> i32 {
    let [a, b, c, d] = sizes;
    let (first, one) = if b > a { (1, b) } else { (0, a) };
    let (second, other) = if d > c { (3, d) } else { (2, c) };
    if other > one { second } else { first }
}

/// The place of the largest component but for one.
#[inline(always)]
pub(super) fn largest_beside(words: Words, except: i32) -> i32 {
    largest(core::array::from_fn(|place| if place as i32 == except { -1 } else { words[place] & i32::MAX }))
}

/// The two places that are neither of these.
#[inline(always)]
pub(super) fn others(a: i32, b: i32) -> [i32; 2] {
    let is_free = |place: i32| (a != place) & (b != place);
    let second = if is_free(1) { 1 } else { 2 };
    let second = if is_free(0) { 0 } else { second };
    [second, 6 - a - b - second]
}

/// Predicts the last component from the others, with the sign that it had.
#[inline(always)]
pub(super) fn rest<W: Whole>(words: Words, newer: Words, last: i32) -> i32 {
    let squares: [W; 4] = core::array::from_fn(|place| {
        let component = W::fixed(words[place]);
        if place as i32 == last { W::ZERO } else { component * component }
    });
    let square = W::SQUARE - squares[0] - squares[1] - squares[2] - squares[3];
    let root = square.within(W::ZERO, W::SQUARE).root();
    nearest(root.negated_if(component(newer, last) < 0))
}

/// What a rotation takes at least from the newer one: three of four differences, two classes, and the bit that says so.
#[inline(always)]
pub(super) fn near_bits_min(words: Words, newer: Words) -> i32 {
    let bits: [i32; 4] =
        core::array::from_fn(|place| width(ordinal(words[place]).wrapping_sub(ordinal(newer[place]))));
    let most = bits[0].max(bits[1]).max(bits[2]).max(bits[3]);
    bits[0] + bits[1] + bits[2] + bits[3] - most + 7
}

/// The circle through two rotations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle<W> {
    /// A basis of its plane.
    pub newer: [W; 4],
    pub across: [W; 4],
    /// The sine of the angle between both.
    pub sine: W,
    pub lead: i32,
}

impl<W: Whole> Circle<W> {
    /// The circle, and whether it is one: both may be nearly the same, and then nothing of it means anything.
    #[inline(always)]
    pub fn new(newer: Words, older: Words) -> (Circle<W>, bool) {
        let (newer, older) = (newer.map(W::fixed), older.map(W::fixed));
        let dot = |a: [W; 4], b: [W; 4]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        // A rotation has two quaternions; of which one is told is no matter.
        let near = dot(newer, older);
        let older = older.map(|component| component.negated_if(near < W::ZERO));
        let cosine = near.size().cut();
        let across: [W; 4] = core::array::from_fn(|place| (newer[place] * cosine).cut() - older[place]);
        let sine = dot(across, across).within(W::ZERO, W::SQUARE).root();
        let divisor = sine.within(W::new(1), W::ONE);
        let across = across.map(|component| (component * W::ONE).over(divisor));
        let lead = largest(across.map(W::size));
        (Circle { newer, across, sine, lead }, sine >= W::CHORD_MIN)
    }

    /// `None` if both are nearly the same.
    #[inline(always)]
    fn through(newer: Words, older: Words) -> Option<Circle<W>> {
        let (circle, is_one) = Circle::new(newer, older);
        is_one.then_some(circle)
    }

    /// The places of the components in the order in which they are said: the lead, two that the circle tells, and the one that these
    /// leave.
    #[inline(always)]
    pub fn order(&self, newer: Words) -> [i32; 4] {
        let last = largest_beside(newer, self.lead);
        let [second, third] = others(self.lead, last);
        [self.lead, second, third, last]
    }

    /// The ordinal of a component at an angle.
    #[inline(always)]
    fn at(&self, place: i32, (cosine, sine): (W, W)) -> i32 {
        nearest((component(self.newer, place) * cosine + component(self.across, place) * sine).cut())
    }

    /// The ordinal of the lead where an even turn ends.
    #[inline(always)]
    pub fn ahead(&self, line: &Line) -> i32 {
        // sin(r·t) = r·s + r(1 − r²)/6·s³ and so on, with s = sin(t)
        let cubed = ((self.sine * self.sine).cut() * self.sine).cut();
        let onwards = (self.sine * W::new(line.ratio(RATIO_BITS))).shifted(RATIO_BITS);
        let bow = (cubed * W::new(line.backwards)).shifted(FACTOR_BITS + 1);
        let sine = (onwards - bow).within(W::ZERO, W::ONE);
        self.at(self.lead, ((W::SQUARE - sine * sine).root(), sine))
    }

    /// The ordinals of two components where the lead is this.
    #[inline(always)]
    pub fn beside(&self, lead: i32, [second, third]: [i32; 2]) -> [i32; 2] {
        let angle = self.angle(lead);
        [self.at(second, angle), self.at(third, angle)]
    }

    /// The cosine and sine of the angle at which the lead is this: of two the one nearer to the newer rotation.
    #[inline(always)]
    fn angle(&self, lead: i32) -> (W, W) {
        let (along, across) = (component(self.newer, self.lead), component(self.across, self.lead));
        let square = along * along + across * across;
        let most = square.within(W::ZERO, W::SQUARE).root();
        let lead = W::fixed(lead).within(W::ZERO - most, most);
        let beside = (square - lead * lead).within(W::ZERO, W::SQUARE).root();
        let beside = beside.negated_if(across < W::ZERO);
        let divisor = square.cut().within(W::new(1), W::SQUARE);
        ((lead * along + across * beside).over(divisor), (lead * across - along * beside).over(divisor))
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
    fn circle(&self) -> Option<(Circle<i64>, &Line)> {
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
        let last = largest_beside(*self.newer, -1);
        let first = i32::from(last == 0);
        let [second, third] = others(first, last);
        let [first, second, third, last] = [first, second, third, last].map(|place| place as usize);
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
        circle: &Circle<i64>,
        line: &Line,
        differences: &mut D,
    ) -> Result<Words, D::Error> {
        let order = circle.order(*self.newer);
        let [lead, second, third, last] = order.map(|place| place as usize);
        let mut words = *self.newer;
        [words[lead]] = differences.next([lead], [circle.ahead(line)], self.expected([lead], true))?;
        let predicted = circle.beside(words[lead], [order[1], order[2]]);
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
        [words[last]] = differences.next([last], [rest::<i64>(words, *self.newer, last as i32)], ROUNDING)?;
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
        if along.run.length() as i32 <= near_bits_min(*words, *self.newer) {
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

/// Whether this is a rotation, as [`check`] has it.
#[inline(always)]
pub(super) fn is_unit(words: Words) -> bool {
    Rotation::is_raw(words.map(|word| f32::from_bits(word as u32)))
}

/// Refuses what is no rotation.
#[inline]
pub(super) fn check(words: &Words) -> Result<(), ReadError> {
    Rotation::from_raw(words.map(|word| f32::from_bits(word as u32))).map(|_| ())
}

#[cfg(test)]
mod tests;
