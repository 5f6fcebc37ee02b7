//! A position, predicted from where the object was.
//!
//! Even motion is predicted best by the line through both baselines, bent by what a third one tells of the change of its
//! pace; erratic motion by the newer baseline alone. The sender compares how wide the differences are and takes the line
//! only if it is better by a quarter: where both are alike the motion is erratic, and then the objects around it are
//! best coded alike.
//!
//! Words are subtracted and added modulo 2^32: of words that are far apart predictions are useless, but the same on both
//! sides.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::chain::{self, BITS_MAX, Expected, Kind, bits_of, folded, spread};
use super::codes::Codes;
use super::line::{Curve, Line};
use super::symbol::Place;

/// How a position is said best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    /// One of [`Place`], but never in full.
    pub place: i32,
    /// From what that says.
    pub differences: [i32; 3],
    /// Of the differences.
    pub spread: i32,
    /// What is expected of them.
    pub expected: Expected,
}

/// What the baselines tell of the present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// From the newer baseline to where the line ends.
    pub step: [i32; 3],
    /// Of differences from the newer baseline.
    newer: Expected,
    /// Of differences from the line.
    line: Expected,
}

impl Ahead {
    /// With two baselines, between which and the present the object makes this step.
    #[inline(always)]
    pub fn new(step: [i32; 3]) -> Ahead {
        let size = spread(step);
        Ahead { step, newer: Expected::new(Kind::Newer, size), line: Expected::new(Kind::Line, size) }
    }

    /// The same with a third, which says that it gets off the line by `bow`.
    #[inline(always)]
    fn bent(self, bow: [i32; 3]) -> Ahead {
        let sum =
            |numbers: [i32; 3]| numbers.into_iter().map(|number| i64::from(folded(number))).sum::<i64>();
        let size = (4 * sum(bow) + sum(self.step)) >> 3;
        let step = core::array::from_fn(|axis| self.step[axis].wrapping_add(Curve::part(bow[axis])));
        let line = Expected::new(Kind::Curve, i32::try_from(size).unwrap_or(i32::MAX));
        Ahead { step, line, ..self }
    }

    /// What is expected of the numbers of a place.
    #[inline(always)]
    pub fn expected(&self, is_line: bool) -> Expected {
        Expected::select(is_line, self.line, self.newer)
    }
}

impl Said {
    /// With two baselines or three. Without branches, because it is done to many objects at once.
    #[inline(always)]
    pub fn new(words: [i32; 3], newer: [i32; 3], ahead: &Ahead) -> Said {
        let by_newer = subtract(words, newer);
        let by_line = subtract(by_newer, ahead.step);
        let (newer_spread, line_spread) = (spread(by_newer), spread(by_line));
        let is_line = line_spread.wrapping_add(line_spread >> 2) <= newer_spread;
        let select = |by_line: i32, by_newer: i32| if is_line { by_line } else { by_newer };
        let differences: [i32; 3] = core::array::from_fn(|axis| select(by_line[axis], by_newer[axis]));
        let is_zero = |[x, y, z]: [i32; 3]| x | y | z == 0;
        let place = select(Place::FromLine as i32, Place::FromNewer as i32);
        let place = if is_zero(by_line) { Place::Predicted as i32 } else { place };
        let place = if is_zero(by_newer) { Place::Same as i32 } else { place };
        Said {
            place,
            differences,
            spread: select(line_spread, newer_spread),
            expected: ahead.expected(is_line),
        }
    }

    /// Whether differences follow.
    #[inline(always)]
    pub fn has_differences(&self) -> bool {
        self.place >= Place::FromNewer as i32
    }
}

/// Whether differences of this spread take more than the words of a range themselves. So wide ones also keep within what
/// a run holds.
#[inline(always)]
pub(super) fn is_far(spread: i32, range: WordRange) -> bool {
    let bits = bits_of(spread);
    // The escape of larger numbers is long.
    bits + if bits > BITS_MAX { 8 } else { 3 } > range.bit_width()
}

/// What the receiver knows: the newer position, and older ones if there is a line through them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub newer: &'a [i32; 4],
    pub older: Option<(&'a [i32; 4], &'a Line)>,
    pub oldest: Option<(&'a [i32; 4], &'a Curve)>,
    pub is_carried: bool,
    pub range: WordRange,
}

impl Known<'_> {
    /// Whether `words` are a position of this range.
    #[inline(always)]
    pub fn contains(&self, words: &[i32; 4]) -> bool {
        let [x, y, z, raw] = *words;
        (raw == 0) & self.range.contains(x) & self.range.contains(y) & self.range.contains(z)
    }

    /// What the baselines tell, if there is more than one.
    #[inline(always)]
    pub fn ahead(&self) -> Option<Ahead> {
        let (older, line) = self.older?;
        let rise = subtract(three(self.newer), three(older));
        let ahead = Ahead::new(rise.map(|rise| line.step(rise)));
        Some(match self.oldest {
            _ if self.is_carried => {
                Ahead { newer: Expected::new(Kind::Carried, spread(ahead.step)), ..ahead }
            }
            Some((oldest, curve)) => {
                let before = subtract(three(older), three(oldest));
                ahead.bent(core::array::from_fn(|axis| curve.bow(rise[axis], before[axis])))
            }
            None => ahead,
        })
    }

    /// How `words`, which must be contained, are said best.
    #[inline(always)]
    pub fn say(&self, ahead: Option<&Ahead>, words: &[i32; 4]) -> Said {
        match ahead {
            Some(ahead) => Said::new(three(words), three(self.newer), ahead),
            None => {
                let is_same = words == self.newer;
                self.say_as(if is_same { Place::Same } else { Place::FromNewer }, None, words)
            }
        }
    }

    /// The same as the place says.
    #[inline(always)]
    pub fn say_as(&self, place: Place, ahead: Option<&Ahead>, words: &[i32; 4]) -> Said {
        let is_line = place == Place::FromLine;
        let step = ahead.filter(|_| is_line).map_or([0; 3], |ahead| ahead.step);
        let differences = subtract(subtract(three(words), three(self.newer)), step);
        let expected = ahead.map_or(Expected::ALONE, |ahead| ahead.expected(is_line));
        Said { place: place as i32, differences, spread: spread(differences), expected }
    }

    /// The position that was said as `place`, which is neither as before nor in full; the symbol of its first number if
    /// that has been read.
    #[inline(always)]
    pub fn read(
        &self,
        place: Place,
        ahead: Option<&Ahead>,
        first: Option<usize>,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        let is_line = place != Place::FromNewer;
        let (step, expected) = match ahead {
            None if is_line => return Err(ReadError::InvalidCode),
            None => ([0; 3], Expected::ALONE),
            Some(ahead) => (if is_line { ahead.step } else { [0; 3] }, ahead.expected(is_line)),
        };
        let differences = match first {
            Some(symbol) => chain::read_after(symbol, codes.place(), expected, reader)?,
            None if place == Place::Predicted => [0; 3],
            None => chain::read([codes.place(); 2], expected, reader)?,
        };
        let [x, y, z] = add(add(three(self.newer), step), differences);
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
