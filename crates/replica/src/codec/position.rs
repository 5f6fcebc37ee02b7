//! A position, predicted from where the object was.
//!
//! Even motion is predicted best by the line through both baselines, erratic motion by the newer one alone. The sender
//! compares how wide the differences are and takes the line only if it is better by a quarter: where both are alike the
//! motion is erratic, and then the objects around it are best coded alike.
//!
//! Words are subtracted and added modulo 2^32: of words that are far apart predictions are useless, but the same on both
//! sides.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::line::Line;
use super::run::Run;
use super::symbol::Place;
use super::triple::{self, Expected, bits_of_small, spread};

/// How a position is said best.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// One of [`Place`], but never in full.
    pub place: i32,
    /// From what that says.
    pub differences: [i32; 3],
    /// Of the differences.
    pub spread: i32,
    /// Of the way that the object goes from the newer baseline to the present, at the pace between both.
    pub motion: i32,
}

impl Said {
    /// With two baselines, between which and the present the object makes this step. Without branches, because it is
    /// done to many objects at once.
    #[inline(always)]
    pub fn new(words: [i32; 3], newer: [i32; 3], step: [i32; 3]) -> Said {
        let by_newer = subtract(words, newer);
        let by_line = subtract(by_newer, step);
        let (newer_spread, line_spread) = (spread(by_newer), spread(by_line));
        let is_line = line_spread.wrapping_add(line_spread >> 2) <= newer_spread;
        let select = |by_line: i32, by_newer: i32| if is_line { by_line } else { by_newer };
        let differences: [i32; 3] = core::array::from_fn(|axis| select(by_line[axis], by_newer[axis]));
        let is_zero = |[x, y, z]: [i32; 3]| x | y | z == 0;
        let place = select(Place::FromLine as i32, Place::FromNewer as i32);
        let place = if is_zero(by_line) { Place::Predicted as i32 } else { place };
        let place = if is_zero(by_newer) { Place::Same as i32 } else { place };
        Said { place, differences, spread: select(line_spread, newer_spread), motion: spread(step) }
    }

    /// What chooses the code of the differences.
    #[inline(always)]
    pub fn expected(&self) -> Expected {
        Expected::of(self.place == Place::FromLine as i32, bits_of_small(self.motion))
    }
}

/// What the receiver knows: the newer position, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    newer: &'a [i32; 4],
    older: Option<(&'a [i32; 4], &'a Line)>,
    range: WordRange,
}

impl<'a> Known<'a> {
    /// `None` if the newer position is no words of `range` but the bits of singles, from which nothing is predicted.
    #[inline(always)]
    pub fn new(
        newer: &'a [i32; 4],
        older: Option<(&'a [i32; 4], &'a Line)>,
        range: WordRange,
    ) -> Option<Known<'a>> {
        let older = older.filter(|(older, _)| older[3] == 0);
        (newer[3] == 0).then_some(Known { newer, older, range })
    }

    /// Whether `words` are a position of this range.
    #[inline(always)]
    pub fn contains(&self, words: &[i32; 4]) -> bool {
        let [x, y, z, raw] = *words;
        (raw == 0) & self.range.contains(x) & self.range.contains(y) & self.range.contains(z)
    }

    /// The bits of a position in full: the raw mark and three words.
    #[inline(always)]
    pub fn absolute_bits(&self) -> u32 {
        1 + 3 * self.range.bit_width()
    }

    /// How `words`, which must be contained, are said best, and the bits that follow the symbol.
    #[inline(always)]
    pub fn write<R: Run>(&self, codes: &Codes, words: &[i32; 4]) -> (Place, R) {
        let mut run = R::default();
        let Some((older, line)) = self.older else {
            let differences = subtract(three(words), three(self.newer));
            if differences == [0; 3] {
                return (Place::Same, run);
            }
            triple::write(codes, Expected::UNKNOWN, differences, spread(differences), &mut run);
            return (Place::FromNewer, run);
        };
        let newer = three(self.newer);
        let step = subtract(newer, three(older)).map(|rise| line.step(rise));
        let said = Said::new(three(words), newer, step);
        if said.place >= Place::FromNewer as i32 {
            triple::write(codes, said.expected(), said.differences, said.spread, &mut run);
        }
        (Place::of(said.place), run)
    }

    /// The position that was said as `place`, which is neither as before nor in full.
    #[inline(always)]
    pub fn read(
        &self,
        place: Place,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        let newer = three(self.newer);
        let step = self.older.map(|(older, line)| subtract(newer, three(older)).map(|rise| line.step(rise)));
        let (from, expected) = match (place, step) {
            (Place::FromNewer, None) => (newer, Expected::UNKNOWN),
            (Place::FromNewer, Some(step)) => (newer, Expected::of(false, bits_of_small(spread(step)))),
            (Place::FromLine | Place::Predicted, Some(step)) => {
                (add(newer, step), Expected::of(true, bits_of_small(spread(step))))
            }
            _ => return Err(ReadError::InvalidCode),
        };
        let differences = match place {
            Place::Predicted => [0; 3],
            _ => triple::read(codes, expected, reader)?,
        };
        let [x, y, z] = add(from, differences);
        let words = [x, y, z, 0];
        if self.contains(&words) { Ok(words) } else { Err(ReadError::OutOfRange) }
    }
}

#[inline(always)]
fn three(&[x, y, z, _]: &[i32; 4]) -> [i32; 3] {
    [x, y, z]
}

#[inline(always)]
fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    core::array::from_fn(|axis| a[axis].wrapping_add(b[axis]))
}

#[inline(always)]
pub(super) fn subtract(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    core::array::from_fn(|axis| a[axis].wrapping_sub(b[axis]))
}
