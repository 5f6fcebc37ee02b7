//! A position, predicted from where the object was.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::line::{Line, size, subtract};
use super::run::Run;
use super::symbol::Place;
use super::track::{Source, Track};

/// What the receiver knows: the newer position, and the older one if there is a line through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    newer: [i64; 3],
    /// How far the object went between the baselines, and their line.
    rise: Option<([i64; 3], Line)>,
    range: WordRange,
}

impl Known {
    /// `None` if the newer position is no words of `range` but the bits of singles, from which nothing is predicted.
    #[inline]
    pub fn new(newer: [i32; 4], older: Option<([i32; 4], Line)>, range: WordRange) -> Option<Known> {
        let [x, y, z, raw] = newer;
        let newer = [x, y, z].map(i64::from);
        let rise = older.and_then(|([x, y, z, raw], line)| {
            (raw == 0).then(|| (subtract(newer, [x, y, z].map(i64::from)), line))
        });
        (raw == 0).then_some(Known { newer, rise, range })
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
        let words = [words[0], words[1], words[2]];
        let mut differences = subtract(words.map(i64::from), self.newer);
        let distance = size(differences);
        if distance == 0 {
            return (Place::Same, run);
        }
        let mut track = Track { source: Source::Newer, motion: None, range: self.range };
        let mut place = Place::FromNewer;
        if let Some((rise, line)) = self.rise {
            let by_line = subtract(words.map(i64::from), self.on_line(rise, line));
            let distance_by_line = size(by_line);
            if distance_by_line == 0 {
                return (Place::Predicted, run);
            }
            track.motion = Some(line.motion(rise));
            if 5 * distance_by_line <= 4 * distance {
                (differences, track.source, place) = (by_line, Source::Line, Place::FromLine);
            }
        }
        track.write(codes, words, differences, &mut run);
        (place, run)
    }

    /// The position that was said as `place`.
    #[inline]
    pub fn read(&self, place: Place, codes: &Codes, reader: &mut BitReader<'_>) -> Result<[i32; 4], ReadError> {
        let (source, predicted) = match (place, self.rise) {
            (Place::Same | Place::FromNewer, _) => (Source::Newer, self.newer),
            (Place::Predicted | Place::FromLine, Some((rise, line))) => (Source::Line, self.on_line(rise, line)),
            _ => return Err(ReadError::InvalidCode),
        };
        let [x, y, z] = match place {
            Place::Same | Place::Predicted => predicted.map(|word| word as i32),
            _ => {
                let motion = self.rise.map(|(rise, line)| line.motion(rise));
                Track { source, motion, range: self.range }.read(codes, |axis, _| predicted[axis], reader)?
            }
        };
        Ok([x, y, z, 0])
    }

    #[inline]
    fn on_line(&self, rise: [i64; 3], line: Line) -> [i64; 3] {
        let steps = line.steps(rise);
        let axis = |axis: usize| i64::from(self.range.clamp(self.newer[axis] + steps[axis]));
        [axis(0), axis(1), axis(2)]
    }
}
