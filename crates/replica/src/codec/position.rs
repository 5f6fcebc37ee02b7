//! A position, predicted from where the object was.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::lanes::{Lanes, integer, lanes, size, subtract};
use super::line::Line;
use super::run::Run;
use super::symbol::Place;
use super::track::{Source, Track};

/// What the receiver knows: the newer position, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    newer: [i32; 4],
    line: Option<([i32; 4], Line)>,
    range: WordRange,
}

impl Known {
    /// `None` if the newer position is no words of `range` but the bits of singles, from which nothing is predicted.
    #[inline]
    pub fn new(newer: [i32; 4], older: Option<([i32; 4], Line)>, range: WordRange) -> Option<Known> {
        let line = older.filter(|(older, _)| older[3] == 0);
        (newer[3] == 0).then_some(Known { newer, line, range })
    }

    /// Whether `words` are a position of this range.
    #[inline]
    pub fn contains(&self, words: [i32; 4]) -> bool {
        let [x, y, z, raw] = words;
        (raw == 0) & self.range.contains(x) & self.range.contains(y) & self.range.contains(z)
    }

    /// The bits of a position in full: the raw mark and three words.
    #[inline]
    pub fn absolute_bits(&self) -> u32 {
        1 + 3 * self.range.bit_width()
    }

    /// How `words`, which must be contained, are said best, and the bits that follow the symbol.
    ///
    /// The line must be better by a quarter: where both are alike the motion is erratic, and then the objects around
    /// it are best coded alike.
    #[inline]
    pub fn write<R: Run>(&self, codes: &Codes, words: [i32; 4]) -> (Place, R) {
        let mut run = R::default();
        if words == self.newer {
            return (Place::Same, run);
        }
        let newer = lanes(self.newer);
        let mut differences = subtract(lanes(words), newer);
        let mut track = Track { source: Source::Newer, motion: None, range: self.range };
        if let Some((older, line)) = self.line {
            let rise = subtract(newer, lanes(older));
            let by_line = subtract(lanes(words), line.extrapolate(newer, rise, self.range));
            let distance = size(by_line);
            if distance == 0.0 {
                return (Place::Predicted, run);
            }
            let better = 5.0 * distance <= 4.0 * size(differences);
            differences = if better { by_line } else { differences };
            track.source = if better { Source::Line } else { Source::Newer };
            track.motion = Some(line.motion(size(rise)));
        }
        let [x, y, z, _] = differences.map(integer);
        track.write(codes, [words[0], words[1], words[2]], [x, y, z], &mut run);
        let place = match track.source {
            Source::Newer => Place::FromNewer,
            Source::Line => Place::FromLine,
        };
        (place, run)
    }

    /// The position that was said as `place`.
    #[inline]
    pub fn read(
        &self,
        place: Place,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        let source = match place {
            Place::Same => return Ok(self.newer),
            Place::Absolute => return Err(ReadError::InvalidCode),
            Place::FromNewer => Source::Newer,
            Place::Predicted | Place::FromLine => Source::Line,
        };
        let newer = lanes(self.newer);
        let rise = self.line.map(|(older, line)| (subtract(newer, lanes(older)), line));
        let predicted: Lanes = match source {
            Source::Newer => newer,
            Source::Line => {
                let (rise, line) = rise.ok_or(ReadError::InvalidCode)?;
                line.extrapolate(newer, rise, self.range)
            }
        };
        let predicted = predicted.map(integer);
        let [x, y, z] = match place {
            Place::Predicted => [predicted[0] as i32, predicted[1] as i32, predicted[2] as i32],
            _ => {
                let motion = rise.map(|(rise, line)| line.motion(size(rise)));
                Track { source, motion, range: self.range }.read(codes, |axis, _| predicted[axis], reader)?
            }
        };
        Ok([x, y, z, 0])
    }
}
