//! A rotation, as its difference from what is expected of it.
//!
//! The prediction by turning on is in [`arc`](super::arc). Where the object stopped or turned back the newer baseline is
//! nearer. The sender compares how wide the differences are and takes the arc only if it is better by a quarter.
//!
//! The component that the newer baseline dropped is expected to be dropped again; the sender names another one if it is.

use netloom_wire::quantize::RotationWidth;
use netloom_wire::{BitReader, ReadError};

use super::arc::{Along, Arc, Quaternion, Unit, is_negative, steps, whole};
use super::codes::Codes;
use super::line::Line;
use super::number::Number;
use super::run::Run;
use super::symbol::Turn;
use super::triple::{Expected, bits_of, spread};
use super::{lead, triple};

/// How a rotation is said best.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// One of [`Turn`], but never in full.
    pub turn: i32,
    /// The component that is dropped.
    pub dropped: i32,
    /// From what the turn says: from the arc the lead, and what it leaves of the others.
    pub differences: [i32; 3],
    /// Of the differences from the newer baseline.
    pub spread: i32,
    /// The square of the distance between the baselines.
    pub chord: i32,
}

/// What is compared to say a rotation with two baselines: three steps each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared<T> {
    pub words: [T; 3],
    pub newer: [T; 3],
    pub predicted: [T; 3],
    /// Whether the signs of both were changed.
    pub flips: bool,
}

impl<T: Number> Compared<T> {
    /// The steps of words, and of quaternions that drop the same component.
    #[inline(always)]
    pub fn new(words: [T; 3], dropped: i32, newer: Quaternion<T>, predicted: Quaternion<T>) -> Compared<T> {
        let flips = is_negative(predicted, dropped);
        let (newer, predicted) = (steps(newer, dropped, flips), steps(predicted, dropped, flips));
        Compared { words, newer, predicted, flips }
    }

    /// The turn, without saying whether the component is dropped again; the differences; and how wide those from the
    /// newer baseline are.
    #[inline(always)]
    pub fn said(&self, is_dropped_again: bool, unit: &Unit) -> (i32, [T; 3], T) {
        let by_newer = subtract(self.words, self.newer);
        let by_arc = subtract(self.words, self.predicted);
        let (newer_width, arc_width) = (width(by_newer), width(by_arc));
        let is_arc = arc_width.times(T::new(5)) <= newer_width.times(T::new(4));
        let left = Along::new(self.newer, self.predicted, unit).left_by_lead(by_arc, unit);
        let differences: [T; 3] =
            core::array::from_fn(|step| if is_arc { left[step] } else { by_newer[step] });
        let is_zero = |[a, b, c]: [T; 3]| (a == T::new(0)) & (b == T::new(0)) & (c == T::new(0));
        let turn = if is_arc { Turn::FromLine as i32 } else { Turn::FromNewer as i32 };
        let again = if is_zero(by_arc) { Turn::Predicted as i32 } else { turn };
        // The words as they were: with other signs they are another rotation.
        let is_same = is_zero(subtract(self.words, self.newer.map(|step| step.negated_if(self.flips))));
        let again = if is_same { Turn::Same as i32 } else { again };
        (if is_dropped_again { again } else { turn + 1 }, differences, newer_width)
    }
}

impl Said {
    /// With two baselines.
    #[inline(always)]
    fn new<T: Number>(words: [i32; 4], newer: [i32; 4], older: [i32; 4], line: &Line, unit: &Unit) -> Said {
        let (whole_newer, _) = whole::<T>(newer, unit);
        let (whole_older, _) = whole::<T>(older, unit);
        let arc = Arc::new(whole_newer, whole_older, line, unit);
        let [dropped, words @ ..] = words;
        let compared = Compared::new(words.map(T::new), dropped, whole_newer, arc.predicted);
        let (turn, differences, spread) = compared.said(dropped == newer[0], unit);
        let (differences, spread) = (differences.map(T::word), spread.word());
        Said { turn, dropped, differences, spread, chord: arc.chord.word() }
    }

    /// The bits that follow the symbol; false if the rotation is so far off that it is best said in full.
    #[inline(always)]
    pub fn write(&self, codes: &Codes, line: &Line, run: &mut impl Run) -> bool {
        if self.turn < Turn::FromNewer as i32 {
            return true;
        }
        run.put(self.dropped_if_named() as u64, self.naming_bits() as u32);
        let level = level(bits_of(self.chord) as i32, line);
        if self.turn < Turn::FromLine as i32 {
            triple::write(codes, Expected::of(false, level), self.differences, self.spread, run);
            return true;
        }
        let fits = lead::Packed::fits(self.differences);
        if fits {
            lead::Packed::new(level, self.differences).write(codes, run);
        }
        fits
    }

    /// The dropped component if it is named, and its bits.
    #[inline(always)]
    pub fn dropped_if_named(&self) -> i32 {
        if self.naming_bits() == 0 { 0 } else { self.dropped & 3 }
    }

    #[inline(always)]
    pub fn naming_bits(&self) -> i32 {
        let names =
            (self.turn == Turn::FromNewerDropping as i32) | (self.turn == Turn::FromLineDropping as i32);
        if names { 2 } else { 0 }
    }
}

/// How far the object turns from the newer baseline to the present: the bits of the distance, given those of the chord.
#[inline(always)]
pub(super) fn level(chord_bits: i32, line: &Line) -> i32 {
    let twice = chord_bits + line.squared_bits + 2;
    (if twice < 0 { 0 } else { twice }) >> 1
}

/// What the receiver knows: the newer rotation, and the older one if there is an arc through both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    newer: &'a [i32; 4],
    older: Option<(&'a [i32; 4], &'a Line)>,
    width: RotationWidth,
}

impl<'a> Known<'a> {
    #[inline(always)]
    pub fn new(
        newer: &'a [i32; 4],
        older: Option<(&'a [i32; 4], &'a Line)>,
        width: RotationWidth,
    ) -> Known<'a> {
        Known { newer, older, width }
    }

    /// Whether `words` are a rotation of this width.
    #[inline(always)]
    pub fn contains(&self, words: &[i32; 4]) -> bool {
        let [dropped, steps @ ..] = *words;
        match self.width {
            RotationWidth::Ten => Unit::TEN.contains(dropped, steps.map(i64::from)),
            RotationWidth::Fifteen => Unit::FIFTEEN.contains(dropped, steps.map(i64::from)),
        }
    }

    /// How `words`, which must be contained, are said best, and the bits that follow the symbol; `None` if they are so
    /// far off that they are best said in full.
    pub fn write<R: Run>(&self, codes: &Codes, words: &[i32; 4]) -> Option<(Turn, R)> {
        // Apart, so that everything about a width is a constant.
        let (turn, run): (Turn, R) = match self.width {
            RotationWidth::Ten => self.write_in::<i64, R>(&Unit::TEN, codes, words)?,
            RotationWidth::Fifteen => self.write_in::<i64, R>(&Unit::FIFTEEN, codes, words)?,
        };
        (run.length() <= self.width.bit_width()).then_some((turn, run))
    }

    #[inline(always)]
    fn write_in<T: Number, R: Run>(&self, unit: &Unit, codes: &Codes, words: &[i32; 4]) -> Option<(Turn, R)> {
        let mut run = R::default();
        if words == self.newer {
            return Some((Turn::Same, run));
        }
        if let Some((older, line)) = self.older {
            let said = Said::new::<T>(*words, *self.newer, *older, line, unit);
            return said.write(codes, line, &mut run).then_some((Turn::of(said.turn), run));
        }
        let [dropped, a, b, c] = *words;
        let dropping = dropped != self.newer[0];
        if dropping {
            run.put(dropped as u64 & 3, 2);
        }
        let (newer, _) = whole::<T>(*self.newer, unit);
        let newer = steps(newer, dropped, is_negative(newer, dropped));
        let differences = subtract([a, b, c].map(T::new), newer).map(T::word);
        triple::write(codes, Expected::UNKNOWN, differences, spread(differences), &mut run);
        Some((if dropping { Turn::FromNewerDropping } else { Turn::FromNewer }, run))
    }

    /// The rotation that was said as `turn`, which is neither as before nor in full.
    #[inline(always)]
    pub fn read(&self, turn: Turn, codes: &Codes, reader: &mut BitReader<'_>) -> Result<[i32; 4], ReadError> {
        let words = match self.width {
            RotationWidth::Ten => self.read_in::<i64>(&Unit::TEN, turn, codes, reader)?,
            RotationWidth::Fifteen => self.read_fifteen(turn, codes, reader)?,
        };
        if self.contains(&words) { Ok(words) } else { Err(ReadError::InvalidRotation) }
    }

    #[inline(never)]
    fn read_fifteen(
        &self,
        turn: Turn,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        self.read_in::<i64>(&Unit::FIFTEEN, turn, codes, reader)
    }

    #[inline(always)]
    fn read_in<T: Number>(
        &self,
        unit: &Unit,
        turn: Turn,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        let dropped = match turn {
            Turn::FromNewerDropping | Turn::FromLineDropping => reader.read_bits(2)? as i32,
            _ => self.newer[0],
        };
        let (newer, _) = whole::<T>(*self.newer, unit);
        let ahead = self.older.map(|(older, line)| {
            let (older, _) = whole(*older, unit);
            let arc = Arc::new(newer, older, line, unit);
            let flips = is_negative(arc.predicted, dropped);
            let level = level(bits_of(arc.chord.word()) as i32, line);
            (steps(newer, dropped, flips), steps(arc.predicted, dropped, flips), level)
        });
        let [a, b, c] = match (turn, ahead) {
            (Turn::FromNewer | Turn::FromNewerDropping, None) => {
                let newer = steps(newer, dropped, is_negative(newer, dropped));
                add(newer.map(T::word), triple::read(codes, Expected::UNKNOWN, reader)?)
            }
            (Turn::FromNewer | Turn::FromNewerDropping, Some((newer, _, level))) => {
                add(newer.map(T::word), triple::read(codes, Expected::of(false, level), reader)?)
            }
            (Turn::Predicted, Some((_, predicted, _))) => predicted.map(T::word),
            (Turn::FromLine | Turn::FromLineDropping, Some((newer, predicted, level))) => {
                let left = lead::read(codes, level, reader)?.map(T::new);
                let differences = Along::new(newer, predicted, unit).restored(left, unit);
                add(predicted.map(T::word), differences.map(T::word))
            }
            _ => return Err(ReadError::InvalidCode),
        };
        Ok([dropped, a, b, c])
    }
}

/// As wide as the widest of three steps, of which a negative one counts as its complement.
#[inline(always)]
fn width<T: Number>(steps: [T; 3]) -> T {
    let larger = |a: T, b: T| if a > b { a } else { b };
    let folded = |step: T| larger(step, T::new(-1).minus(step));
    let [a, b, c] = steps.map(folded);
    larger(larger(a, b), c)
}

#[inline(always)]
fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    core::array::from_fn(|step| a[step].wrapping_add(b[step]))
}

#[inline(always)]
fn subtract<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    core::array::from_fn(|step| a[step].minus(b[step]))
}
