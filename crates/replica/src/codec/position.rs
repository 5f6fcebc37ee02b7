//! A position, predicted from where the object was.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::line::{Lanes, Line, add, size, subtract};
use super::run::Run;
use super::symbol::Place;
use super::track::{Source, Track};

/// What the receiver knows: the newer position, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    newer: &'a Lanes,
    older: Option<(&'a Lanes, Line)>,
    range: WordRange,
}

impl<'a> Known<'a> {
    /// `None` if the newer position is no words of `range` but the bits of singles, from which nothing is predicted.
    #[inline]
    pub fn new(newer: &'a Lanes, older: Option<(&'a Lanes, Line)>, range: WordRange) -> Option<Known<'a>> {
        let older = older.filter(|(older, _)| older[3] == 0);
        (newer[3] == 0).then_some(Known { newer, older, range })
    }

    /// Whether `words` are a position of this range.
    #[inline]
    pub fn contains(&self, words: &Lanes) -> bool {
        let [x, y, z, raw] = *words;
        (raw == 0) & self.range.contains(x) & self.range.contains(y) & self.range.contains(z)
    }

    /// The bits of a position in full: the raw mark and three words.
    #[inline]
    pub fn absolute_bits(&self) -> u32 {
        1 + 3 * self.range.bit_width()
    }

    /// How `words`, which must be contained and have changed, are said best, and the bits that follow the symbol.
    ///
    /// The line must be better by a quarter: where both are alike the motion is erratic, and then the objects around
    /// it are best coded alike.
    #[inline]
    pub fn write<R: Run>(&self, codes: &Codes, words: &Lanes) -> (Place, R) {
        let mut run = R::default();
        let mut differences = subtract(words, self.newer);
        let mut track = Track { source: Source::Newer, motion: None, range: self.range };
        if let Some((older, line)) = self.older {
            let rise = subtract(self.newer, older);
            let by_line = subtract(&differences, &line.steps(&rise));
            if by_line == [0; 4] {
                return (Place::Predicted, run);
            }
            track.motion = Some(line.motion(size(&rise)));
            if 5 * u64::from(size(&by_line)) <= 4 * u64::from(size(&differences)) {
                (differences, track.source) = (by_line, Source::Line);
            }
        }
        let ([x, y, z, _], [a, b, c, _]) = (*words, differences);
        track.write(codes, [x, y, z], [a, b, c], &mut run);
        let place = match track.source {
            Source::Newer => Place::FromNewer,
            Source::Line => Place::FromLine,
        };
        (place, run)
    }

    /// The position that was said as `place`, which is not as before.
    #[inline]
    pub fn read(&self, place: Place, codes: &Codes, reader: &mut BitReader<'_>) -> Result<Lanes, ReadError> {
        let rise = self.older.map(|(older, line)| (subtract(self.newer, older), line));
        let (source, predicted) = match (place, rise) {
            (Place::FromNewer, _) => (Source::Newer, *self.newer),
            (Place::Predicted | Place::FromLine, Some((rise, line))) => {
                (Source::Line, add(self.newer, &line.steps(&rise)))
            }
            _ => return Err(ReadError::InvalidCode),
        };
        if place == Place::Predicted {
            return if self.contains(&predicted) { Ok(predicted) } else { Err(ReadError::OutOfRange) };
        }
        let motion = rise.map(|(rise, line)| line.motion(size(&rise)));
        let track = Track { source, motion, range: self.range };
        let [x, y, z] = track.read(codes, |axis, _| predicted[axis], reader)?;
        Ok([x, y, z, 0])
    }
}
