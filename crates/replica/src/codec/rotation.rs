//! A rotation, as its difference from what is expected of it.
//!
//! The prediction by turning on is in [`arc`](super::arc). Where the object stopped or turned back the newer baseline is
//! nearer. The sender compares how wide the differences are and takes the arc only if it is better by a quarter.
//!
//! The component that the prediction drops is expected to be dropped, or of differences from the newer baseline the one
//! that this dropped; the sender names another one if it is.
//!
//! A third baseline does not correct the arc, for which steps are too coarse. But how much the turn changed tells how
//! far the arc will be off.

use netloom_wire::{BitReader, ReadError};

use super::arc::{Along, Arc, Quaternion, Unit, is_negative, steps, unit_of, whole};
use super::chain::{self, Expected, Kind, spread};
use super::codes::Codes;
use super::line::{Curve, Line};
use super::number::Number;
use super::run::Run;
use super::symbol::Turn;
use crate::class::Grain;

/// How a rotation is said best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    /// One of [`Turn`], but never in full.
    pub turn: i32,
    /// The component that is dropped.
    pub dropped: i32,
    /// From what the turn says: from the arc the lead, and what it leaves of the others.
    pub differences: [i32; 3],
    /// What is expected of them.
    pub expected: Expected,
}

/// What is compared to say a rotation with two baselines: three words each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared<T> {
    pub newer: [T; 3],
    pub predicted: [T; 3],
    pub along: Along<T>,
}

impl<T: Number> Compared<T> {
    /// The words of quaternions that drop the same component.
    #[inline(always)]
    pub fn new(dropped: i32, newer: Quaternion<T>, predicted: Quaternion<T>, unit: &Unit) -> Compared<T> {
        let flips = is_negative(predicted, dropped);
        let words = |quaternion| steps(quaternion, dropped, flips).map(|step| unit.word(step));
        let (newer, predicted) = (words(newer), words(predicted));
        Compared { newer, predicted, along: Along::new(newer, predicted, unit) }
    }

    /// How far the object is expected to turn.
    #[inline(always)]
    pub fn size(&self) -> i32 {
        self.along.size.word()
    }

    /// The differences of words from the arc, as the lead leaves them.
    #[inline(always)]
    pub fn by_arc(&self, words: [T; 3], unit: &Unit) -> [T; 3] {
        self.along.left_by_lead(subtract(words, self.predicted), unit)
    }

    /// The turn and the differences, where the component may be the one that the newer baseline and the arc drop.
    #[inline(always)]
    pub fn said(&self, words: [T; 3], is_same: bool, drops: Drops, unit: &Unit) -> (i32, [T; 3]) {
        let by_newer = subtract(words, self.newer);
        let by_arc = subtract(words, self.predicted);
        let is_arc = width(by_arc).times(T::new(5)) <= width(by_newer).times(T::new(4));
        let left = self.along.left_by_lead(by_arc, unit);
        let differences: [T; 3] =
            core::array::from_fn(|step| if is_arc { left[step] } else { by_newer[step] });
        let [a, b, c] = by_arc;
        let is_predicted = (a == T::new(0)) & (b == T::new(0)) & (c == T::new(0)) & drops.as_arc;
        let turn = drops.turn(is_arc);
        let turn = if is_predicted { Turn::Predicted as i32 } else { turn };
        (if is_same { Turn::Same as i32 } else { turn }, differences)
    }
}

/// Whether a component is dropped as expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drops {
    pub as_newer: bool,
    pub as_arc: bool,
}

impl Drops {
    /// How differences are said.
    #[inline(always)]
    fn turn(self, is_arc: bool) -> i32 {
        let arc = if self.as_arc { Turn::FromLine } else { Turn::FromLineDropping };
        let newer = if self.as_newer { Turn::FromNewer } else { Turn::FromNewerDropping };
        if is_arc { arc as i32 } else { newer as i32 }
    }
}

impl Said {
    /// Whether differences follow.
    #[inline(always)]
    pub fn has_differences(&self) -> bool {
        self.turn >= Turn::FromNewer as i32
    }

    /// The bits that follow the symbol.
    #[inline(always)]
    pub fn write(&self, codes: &Codes, run: &mut impl Run) {
        if self.has_differences() {
            run.put(self.dropped_if_named() as u64, self.naming_bits() as u32);
            chain::write([codes.lead(), codes.rest()], self.expected, self.differences, run);
        }
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

/// Whether differences of this spread are so wide that the rotation is best said in full.
#[inline(always)]
pub(super) fn is_far(spread: i32, grain: Grain) -> bool {
    spread >> (grain.component_bits() - 2) != 0
}

/// What the receiver knows: the newer rotation, and older ones if there is an arc through them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub newer: &'a [i32; 4],
    pub older: Option<(&'a [i32; 4], &'a Line)>,
    pub oldest: Option<(&'a [i32; 4], &'a Curve)>,
    pub is_carried: bool,
    pub grain: Grain,
}

/// The rotations as quaternions, and where the arc through them ends.
struct Traced {
    newer: Quaternion<i64>,
    arc: Option<Arc<i64>>,
    bow: Option<Quaternion<i64>>,
}

/// What is expected of a rotation that drops a component.
struct Ahead {
    compared: Compared<i64>,
    /// Of differences from the newer baseline.
    newer: Expected,
    /// Of differences from the arc.
    line: Expected,
}

impl Known<'_> {
    /// Whether `words` are a rotation of this width.
    #[inline(always)]
    pub fn contains(&self, words: &[i32; 4]) -> bool {
        let [dropped, steps @ ..] = *words;
        unit_of(self.grain).contains::<i64>(dropped, steps)
    }

    /// How `words`, which must be contained, are said best; `None` if they are so far off that they are best said in
    /// full.
    pub fn say(&self, words: &[i32; 4]) -> Option<Said> {
        // Apart, so that everything about a width is a constant.
        match self.grain {
            Grain::Nine => self.say_in(&Unit::NINE, words, None),
            Grain::Ten => self.say_in(&Unit::TEN, words, None),
            Grain::Fifteen => self.say_in(&Unit::FIFTEEN, words, None),
        }
    }

    /// The same with differences from the arc or from the newer baseline.
    pub fn say_as(&self, words: &[i32; 4], is_arc: bool) -> Option<Said> {
        self.say_in(unit_of(self.grain), words, Some(is_arc))
    }

    #[inline(always)]
    fn say_in(&self, unit: &Unit, words: &[i32; 4], is_arc: Option<bool>) -> Option<Said> {
        let [dropped, steps @ ..] = *words;
        let is_same = words == self.newer;
        let nothing = Said { turn: 0, dropped, differences: [0; 3], expected: Expected::ALONE };
        if is_same && is_arc.is_none() {
            return Some(nothing);
        }
        let traced = self.traced(unit);
        let ahead = self.ahead(&traced, dropped, unit);
        let drops = Drops {
            as_newer: dropped == self.newer[0],
            as_arc: traced.arc.is_some_and(|arc| arc.dropped() == dropped),
        };
        let words = steps.map(i64::from);
        let (turn, differences) = match (is_arc, &traced.arc) {
            (None, Some(_)) => ahead.compared.said(words, is_same, drops, unit),
            (Some(true), Some(_)) => (drops.turn(true), ahead.compared.by_arc(words, unit)),
            _ => (drops.turn(false), subtract(words, ahead.compared.newer)),
        };
        let differences = differences.map(|difference| difference as i32);
        let expected = if turn >= Turn::FromLine as i32 { ahead.line } else { ahead.newer };
        let said = Said { turn, dropped, differences, expected };
        (!said.has_differences() || !is_far(spread(differences), self.grain)).then_some(said)
    }

    #[inline(always)]
    fn traced(&self, unit: &Unit) -> Traced {
        let (newer, _) = whole(*self.newer, unit);
        let arc = self.older.map(|(older, line)| Arc::new(newer, whole(*older, unit).0, line, unit));
        let oldest = self.oldest.filter(|_| !self.is_carried).zip(arc);
        let bow = oldest.map(|((oldest, curve), arc)| arc.bow(newer, whole(*oldest, unit).0, curve));
        Traced { newer, arc, bow }
    }

    #[inline(always)]
    fn ahead(&self, traced: &Traced, dropped: i32, unit: &Unit) -> Ahead {
        let newer = traced.newer;
        let Some(arc) = &traced.arc else {
            let compared = Compared::new(dropped, newer, newer, unit);
            return Ahead { compared, newer: Expected::ALONE, line: Expected::ALONE };
        };
        let compared = Compared::new(dropped, newer, arc.predicted, unit);
        let size = compared.size();
        let kind = if self.is_carried { Kind::Carried } else { Kind::Newer };
        let line = match traced.bow {
            Some(bow) => {
                let sum = |numbers: [i64; 3]| numbers.into_iter().map(Number::size).fold(0, i64::plus);
                let way = subtract(compared.predicted, compared.newer);
                let bent = unit.word(sum(steps(bow, dropped, false)));
                Expected::new(Kind::Curve, (bent.times(3).plus(sum(way).times(2)) >> 2) as i32)
            }
            None => Expected::new(Kind::Line, size),
        };
        Ahead { compared, newer: Expected::new(kind, size), line }
    }

    /// The rotation that was said as `turn`, which is neither as before nor in full.
    #[inline(always)]
    pub fn read(&self, turn: Turn, codes: &Codes, reader: &mut BitReader<'_>) -> Result<[i32; 4], ReadError> {
        let words = match self.grain {
            Grain::Nine => self.read_in(&Unit::NINE, turn, codes, reader)?,
            Grain::Ten => self.read_in(&Unit::TEN, turn, codes, reader)?,
            Grain::Fifteen => self.read_fifteen(turn, codes, reader)?,
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
        self.read_in(&Unit::FIFTEEN, turn, codes, reader)
    }

    #[inline(always)]
    fn read_in(
        &self,
        unit: &Unit,
        turn: Turn,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<[i32; 4], ReadError> {
        let traced = self.traced(unit);
        let is_arc = !matches!(turn, Turn::FromNewer | Turn::FromNewerDropping);
        let dropped = match (turn, &traced.arc) {
            (_, None) if is_arc => return Err(ReadError::InvalidCode),
            (Turn::FromNewerDropping | Turn::FromLineDropping, _) => reader.read_bits(2)? as i32,
            (Turn::FromLine | Turn::Predicted, Some(arc)) => arc.dropped(),
            _ => self.newer[0],
        };
        let Ahead { compared, newer, line } = self.ahead(&traced, dropped, unit);
        let tables = [codes.lead(), codes.rest()];
        let [a, b, c] = match turn {
            Turn::Predicted => compared.predicted.map(|word| word as i32),
            _ if is_arc => {
                let left = chain::read(tables, line, reader)?.map(i64::from);
                add(compared.predicted, compared.along.restored(left, unit))
            }
            _ => add(compared.newer, chain::read(tables, newer, reader)?.map(i64::from)),
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
fn add(a: [i64; 3], b: [i64; 3]) -> [i32; 3] {
    core::array::from_fn(|step| a[step].wrapping_add(b[step]) as i32)
}

#[inline(always)]
fn subtract<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    core::array::from_fn(|step| a[step].minus(b[step]))
}
