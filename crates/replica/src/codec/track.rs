//! Three words that moved together.
//!
//! The first is coded by how far the object was expected to go; the others by how far off those before them were, since
//! an object that surprises on one axis does so on all.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, ReadError};

use super::codes::Codes;
use super::residual::{self, Family, Scale, within};
use super::run::Run;

/// What the words are predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The newer baseline alone.
    Newer,
    /// The line, or the arc, through both.
    Line,
}

/// How three words of one range are coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    pub source: Source,
    /// How far the object would go at the pace between its baselines; unknown with one baseline.
    pub motion: Option<u64>,
    pub range: WordRange,
}

impl Track {
    /// Appends the bits of `words`, which must lie in the range and differ by `differences` from their predictions.
    #[inline]
    pub fn write(&self, codes: &Codes, words: [i32; 3], differences: [i64; 3], run: &mut impl Run) {
        let [first, second, _] = differences.map(i64::unsigned_abs);
        let scales = [self.first_scale(), self.next_scale(2 * first), self.next_scale(first + second)];
        for axis in 0..3 {
            residual::write(codes, scales[axis], words[axis], differences[axis], self.range, run);
        }
    }

    /// Reads three words. What is predicted of a word may depend on the difference of the first.
    #[inline]
    pub fn read(
        &self,
        codes: &Codes,
        predicted: impl Fn(usize, i64) -> i64,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 3], ReadError> {
        match self.glance(codes, reader.peek_bits(56)) {
            Some((differences, length)) => {
                reader.skip_bits(length as usize)?;
                let word = |axis: usize, led| within(self.range, predicted(axis, led) + differences[axis]);
                Ok([word(0, 0)?, word(1, differences[0])?, word(2, differences[0])?])
            }
            None => self.read_large(codes, predicted, reader),
        }
    }

    /// The differences that `bits` begin with and their number of bits, if all are small.
    #[inline]
    fn glance(&self, codes: &Codes, bits: u64) -> Option<([i64; 3], u32)> {
        let (first, used) = residual::glance(codes, self.first_scale(), bits)?;
        let (second, length) =
            residual::glance(codes, self.next_scale(2 * first.unsigned_abs()), bits >> used)?;
        let used = used + length;
        let scale = self.next_scale(first.unsigned_abs() + second.unsigned_abs());
        let (third, length) = residual::glance(codes, scale, bits >> used)?;
        Some(([first, second, third], used + length))
    }

    fn read_large(
        &self,
        codes: &Codes,
        predicted: impl Fn(usize, i64) -> i64,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 3], ReadError> {
        let read = |scale, axis, led, reader: &mut BitReader<'_>| {
            let predicted = predicted(axis, led);
            let word = residual::read(codes, scale, predicted, self.range, reader)?;
            Ok((word, i64::from(word) - predicted))
        };
        let (x, led) = read(self.first_scale(), 0, 0, reader)?;
        let (y, next) = read(self.next_scale(2 * led.unsigned_abs()), 1, led, reader)?;
        let (z, _) = read(self.next_scale(led.unsigned_abs() + next.unsigned_abs()), 2, led, reader)?;
        Ok([x, y, z])
    }

    #[inline]
    fn first_scale(&self) -> Scale {
        match (self.motion, self.source) {
            (None, _) => Scale::UNKNOWN,
            (Some(motion), Source::Newer) => Scale::of(Family::NewerFirst, motion),
            // A line is off by a part of the motion only.
            (Some(motion), Source::Line) => Scale::of(Family::LineFirst, motion / 4),
        }
    }

    #[inline]
    fn next_scale(&self, expected: u64) -> Scale {
        let family = match self.source {
            Source::Newer => Family::NewerNext,
            Source::Line => Family::LineNext,
        };
        Scale::of(family, expected)
    }
}
