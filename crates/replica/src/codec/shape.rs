//! What of an object a receiver sees, said against what it knows.
//!
//! Position and rotation are said apart, each as is best for it; what both are together is the form, which decides whether
//! a symbol is needed (see [`symbol`](super::symbol)). Where the past tells which form fits, that form is also tried where
//! the rule would take another, and the shorter one is sent.

use netloom_wire::quantize::WordRange;
use netloom_wire::{BitReader, BitWriter, ReadError, WriteError};

use super::run::{Run, Written};
use super::symbol::{Change, Head, Opening, Past, Place, Turn, Usual};
use super::{Codes, Known, chain, circle, exact, fields, four, position, rotation};
use crate::class::{Class, Grain, Spot};

/// What of an object the receiver sees.
pub(super) struct Shape<'a> {
    pub position: Option<&'a Spot<WordRange>>,
    pub rotation: Option<&'a Spot<Grain>>,
    /// The other visible fields.
    pub others: u64,
}

/// The bits of a transform.
pub(super) struct Transform<R> {
    pub symbol: R,
    pub position: R,
    pub rotation: R,
}

impl<'a> Shape<'a> {
    #[inline]
    pub fn of(class: &'a Class, visible: u64) -> Shape<'a> {
        let transform = class.transform();
        Shape {
            position: transform.position.as_ref().filter(|spot| visible >> (spot.field & 63) & 1 == 1),
            rotation: transform.rotation.as_ref().filter(|spot| visible >> (spot.field & 63) & 1 == 1),
            others: visible & !transform.mask,
        }
    }

    #[inline]
    pub fn has_transform(&self) -> bool {
        self.position.is_some() || self.rotation.is_some()
    }

    /// Whether the position and the rotation differ between the baselines.
    #[inline]
    fn motion(&self, known: &Known<'_>) -> (bool, bool) {
        let differs =
            |first: u8| known.older.is_some_and(|(older, _)| four(older, first) != known.newer(first));
        (
            self.position.is_some_and(|spot| differs(spot.first)),
            self.rotation.is_some_and(|spot| differs(spot.first)),
        )
    }

    #[inline]
    fn past(&self, known: &Known<'_>) -> Past {
        if known.older.is_none() {
            return Past::UNKNOWN;
        }
        if known.is_carried {
            return Past::CARRIED;
        }
        let (moved, turned) = self.motion(known);
        Past::of(moved, turned, known.oldest.is_some())
    }

    /// Whether the words of the position or the rotation are singles that the receiver can build on, so that codes are long.
    #[inline]
    pub fn is_exact(&self, newer: &[i32]) -> bool {
        self.rotation.is_some_and(|spot| spot.quantized.is_none())
            || self.position.is_some_and(|spot| four(newer, spot.first)[3] != 0)
    }

    /// What is known of the position, unless its words are singles.
    #[inline]
    fn known_position<'k>(&self, known: &Known<'k>) -> Option<position::Known<'k>> {
        let spot = self.position?;
        let range = spot.quantized?;
        let newer = known.newer(spot.first);
        let older = known.older(spot.first).filter(|(older, _)| older[3] == 0);
        let oldest = known.oldest(spot.first).filter(|(oldest, _)| oldest[3] == 0 && older.is_some());
        let is_carried = known.is_carried;
        (newer[3] == 0).then_some(position::Known { newer, older, oldest, is_carried, range })
    }

    /// What is known of the position if its words are singles.
    #[inline]
    fn exact_position<'k>(&self, known: &Known<'k>) -> Option<exact::Known<'k>> {
        let first = self.position?.first;
        let newer = known.newer(first);
        let older = known.older(first).filter(|(older, _)| older[3] != 0);
        (newer[3] != 0).then_some(exact::Known { newer, older })
    }

    /// What is known of the rotation if its words are singles.
    #[inline]
    fn exact_rotation<'k>(&self, known: &Known<'k>) -> Option<circle::Known<'k>> {
        let spot = self.rotation.filter(|spot| spot.quantized.is_none())?;
        Some(circle::Known { newer: known.newer(spot.first), older: known.older(spot.first) })
    }

    #[inline]
    fn known_rotation<'k>(&self, known: &Known<'k>) -> Option<rotation::Known<'k>> {
        let spot = self.rotation?;
        Some(rotation::Known {
            newer: known.newer(spot.first),
            older: known.older(spot.first),
            oldest: known.oldest(spot.first),
            is_carried: known.is_carried,
            grain: spot.quantized?,
        })
    }

    /// The form that needs no symbol, of an object whose position is known: in words, with what is ahead of them, or in
    /// singles.
    #[inline]
    fn usual(
        &self,
        known: &Known<'_>,
        words: Option<Option<&position::Ahead>>,
        singles: Option<&exact::Known<'_>>,
    ) -> Option<Usual> {
        let (moved, turned) = self.motion(known);
        let turn = match self.rotation {
            Some(_) if known.older.is_none() || known.is_carried => Turn::FromNewer,
            // Singles are from either, and say themselves from which.
            Some(spot) if turned && spot.quantized.is_none() => Turn::FromNewer,
            Some(_) if turned => Turn::FromLine,
            _ => Turn::Same,
        };
        if let Some(singles) = singles {
            let is_usual = moved || singles.older.is_none();
            return is_usual.then_some(Usual { place: Place::FromNewer, turn, opening: Opening::Bit });
        }
        let usual = |place, expected| Usual { place, turn, opening: Opening::Head(expected) };
        match words? {
            None => Some(usual(Place::FromNewer, chain::Expected::ALONE)),
            Some(ahead) if known.is_carried => Some(usual(Place::FromNewer, ahead.expected(false))),
            Some(ahead) => moved.then(|| usual(Place::FromLine, ahead.expected(true))),
        }
    }

    /// Appends the transform, or fails the writer if anything is out of range. False if a part did not fit its run.
    pub fn append<R: Written>(
        &self,
        known: &Known<'_>,
        current: &[i32],
        jump_age: Option<u32>,
        others: bool,
        codes: &Codes,
        writer: &mut BitWriter<'_>,
    ) -> bool {
        let Some(transform) = self.write::<R>(known, current, jump_age, others, codes) else {
            writer.fail(WriteError::OutOfRange);
            return true;
        };
        let Transform { symbol, position, rotation } = transform;
        let fits = position.length() <= R::BITS_MAX && rotation.length() <= R::BITS_MAX;
        if fits {
            symbol.write(writer);
            position.write(writer);
            rotation.write(writer);
        }
        fits
    }

    /// `None` if words or the age of the jump are out of range.
    #[inline(always)]
    pub fn write<R: Run>(
        &self,
        known: &Known<'_>,
        current: &[i32],
        jump_age: Option<u32>,
        others: bool,
        codes: &Codes,
    ) -> Option<Transform<R>> {
        if jump_age.is_some_and(|age| age >= known.newer_age) {
            return None;
        }
        let known_position = self.known_position(known);
        let ahead = known_position.and_then(|position| position.ahead());
        let exact = self.exact_position(known);
        let usual = self.usual(known, known_position.map(|_| ahead.as_ref()), exact.as_ref());
        let position = match &exact {
            Some(exact) => self.say_singles(exact, current)?,
            None => self.say_position(known, known_position.as_ref(), ahead.as_ref(), current)?,
        };
        let rotation = self.say_rotation(known, current)?;
        let past = self.past(known);
        let form = Form { jump_age, others, past, newer_age: known.newer_age, usual: usual.as_ref() };
        let said = form.write(&position, &rotation, codes);
        let is_usual = |usual: &Usual| usual.head(&form.change(&position, &rotation)) == Head::Usual;
        let settled =
            usual.filter(|usual| known.is_settled() && jump_age.is_none() && !others && !is_usual(usual));
        Some(match settled.and_then(|usual| self.say_as_usual(known, &usual, ahead.as_ref(), current)) {
            Some((position, rotation)) => shorter(form.write(&position, &rotation, codes), said),
            None => said,
        })
    }

    #[inline(always)]
    fn say_position<R: Run>(
        &self,
        known: &Known<'_>,
        known_position: Option<&position::Known<'_>>,
        ahead: Option<&position::Ahead>,
        current: &[i32],
    ) -> Option<Position<R>> {
        let Some(spot) = self.position else { return Some(Position::SAME) };
        let words = four(current, spot.first);
        match known_position {
            Some(known) if known.contains(words) => {
                let said = known.say(ahead, words);
                if !said.has_differences() || !position::is_far(said.spread, known.range) {
                    return Some(Position::Said(said));
                }
            }
            _ if words == known.newer(spot.first) => return Some(Position::SAME),
            _ => {}
        }
        Some(Position::Whole(fields::whole(spot.kind, *words)?))
    }

    /// The position where it was said in singles.
    #[inline(always)]
    fn say_singles<R: Run>(&self, known: &exact::Known<'_>, current: &[i32]) -> Option<Position<R>> {
        let spot = self.position?;
        let words = four(current, spot.first);
        if words == known.newer {
            return Some(Position::SAME);
        }
        if words[3] != 0 && words.iter().take(3).all(|&word| exact::is_finite(word)) {
            let run: R = known.write(words);
            if run.length() <= exact::POSITION_BITS_MAX {
                return Some(Position::Singles(run));
            }
        }
        Some(Position::Whole(fields::whole(spot.kind, *words)?))
    }

    #[inline(always)]
    fn say_rotation<R: Run>(&self, known: &Known<'_>, current: &[i32]) -> Option<Rotation<R>> {
        let Some(spot) = self.rotation else { return Some(Rotation::SAME) };
        let words = four(current, spot.first);
        match self.known_rotation(known) {
            Some(known) if !known.contains(words) => return None,
            Some(known) => {
                if let Some(said) = known.say(words) {
                    return Some(Rotation::Said(said));
                }
            }
            None if words == known.newer(spot.first) => return Some(Rotation::SAME),
            None => {
                circle::check(words).ok()?;
                let run: R = self.exact_rotation(known)?.write(words);
                if run.length() <= circle::ROTATION_BITS_MAX {
                    return Some(Rotation::Singles(run));
                }
            }
        }
        Some(Rotation::Whole(fields::whole(spot.kind, *words)?))
    }

    /// The transform in its usual form, if it can be said so.
    fn say_as_usual<R: Run>(
        &self,
        known: &Known<'_>,
        usual: &Usual,
        ahead: Option<&position::Ahead>,
        current: &[i32],
    ) -> Option<(Position<R>, Rotation<R>)> {
        let (spot, known_position) = self.position.zip(self.known_position(known))?;
        let words = four(current, spot.first);
        let position = known_position.say_as(usual.place, ahead, words);
        if !known_position.contains(words) || position::is_far(position.spread, known_position.range) {
            return None;
        }
        let rotation = match usual.turn {
            Turn::Same => self.say_rotation(known, current)?,
            turn => {
                let (spot, rotation) = self.rotation.zip(self.known_rotation(known))?;
                Rotation::Said(rotation.say_as(four(current, spot.first), turn == Turn::FromLine)?)
            }
        };
        Some((Position::Said(position), rotation))
    }

    /// Reads position and rotation into `words`, and which of the two fields changed; returns what the symbol said.
    #[inline]
    pub fn read(
        &self,
        known: &Known<'_>,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        words: &mut [i32],
        changed: &mut u64,
    ) -> Result<Change, ReadError> {
        let position = self.known_position(known);
        let ahead = position.and_then(|position| position.ahead());
        let exact = self.exact_position(known);
        let usual = self.usual(known, position.map(|_| ahead.as_ref()), exact.as_ref());
        let (change, first) = Change::read(codes, self.past(known), usual.as_ref(), known.newer_age, reader)?;
        if change.others && self.others == 0 {
            return Err(ReadError::InvalidCode);
        }
        if change.place != Place::Same {
            let spot = self.position.ok_or(ReadError::InvalidCode)?;
            let target = &mut words[usize::from(spot.first)..usize::from(spot.first) + 4];
            if change.place == Place::Absolute {
                fields::read_whole(spot.kind, reader, target)?;
            } else if let Some(exact) = exact {
                let words = (change.place == Place::FromNewer).then(|| exact.read(reader));
                target.copy_from_slice(&words.ok_or(ReadError::InvalidCode)??);
            } else {
                let position = position.ok_or(ReadError::InvalidCode)?;
                target.copy_from_slice(&position.read(change.place, ahead.as_ref(), first, codes, reader)?);
            }
            *changed |= 1 << (spot.field & 63);
        }
        if change.turn != Turn::Same {
            let spot = self.rotation.ok_or(ReadError::InvalidCode)?;
            let target = &mut words[usize::from(spot.first)..usize::from(spot.first) + 4];
            if change.turn == Turn::Absolute {
                fields::read_whole(spot.kind, reader, target)?;
            } else if let Some(exact) = self.exact_rotation(known) {
                let words = (change.turn == Turn::FromNewer).then(|| exact.read(reader));
                target.copy_from_slice(&words.ok_or(ReadError::InvalidCode)??);
            } else {
                let rotation = self.known_rotation(known).ok_or(ReadError::InvalidCode)?;
                target.copy_from_slice(&rotation.read(change.turn, codes, reader)?);
            }
            *changed |= 1 << (spot.field & 63);
        }
        Ok(change)
    }
}

/// How a position is said.
enum Position<R> {
    Said(position::Said),
    /// From what is predicted of singles, in these bits.
    Singles(R),
    /// In full, in these bits.
    Whole(R),
}

impl<R> Position<R> {
    const SAME: Position<R> = Position::Said(position::Said {
        place: Place::Same as i32,
        differences: [0; 3],
        spread: 0,
        expected: chain::Expected::ALONE,
    });

    #[inline(always)]
    fn place(&self) -> Place {
        match self {
            Position::Said(said) => Place::of(said.place),
            Position::Singles(_) => Place::FromNewer,
            Position::Whole(_) => Place::Absolute,
        }
    }
}

/// How a rotation is said.
enum Rotation<R> {
    Said(rotation::Said),
    /// From what is predicted of singles, in these bits.
    Singles(R),
    /// In full, in these bits.
    Whole(R),
}

impl<R> Rotation<R> {
    const SAME: Rotation<R> = Rotation::Said(rotation::Said {
        turn: Turn::Same as i32,
        dropped: 0,
        differences: [0; 3],
        expected: chain::Expected::ALONE,
    });

    #[inline(always)]
    fn turn(&self) -> Turn {
        match self {
            Rotation::Said(said) => Turn::of(said.turn),
            Rotation::Singles(_) => Turn::FromNewer,
            Rotation::Whole(_) => Turn::Absolute,
        }
    }
}

/// Everything about the form of an object but how position and rotation are said.
struct Form<'a> {
    jump_age: Option<u32>,
    others: bool,
    past: Past,
    newer_age: u32,
    usual: Option<&'a Usual>,
}

impl Form<'_> {
    #[inline(always)]
    fn change<R>(&self, position: &Position<R>, rotation: &Rotation<R>) -> Change {
        Change {
            jump_age: self.jump_age,
            place: position.place(),
            turn: rotation.turn(),
            others: self.others,
        }
    }

    #[inline(always)]
    fn write<R: Run>(&self, position: &Position<R>, rotation: &Rotation<R>, codes: &Codes) -> Transform<R> {
        let change = self.change(position, rotation);
        let mut symbol = R::default();
        let head = change.write(codes, self.past, self.usual, self.newer_age, &mut symbol);
        let position = match position {
            Position::Singles(run) | Position::Whole(run) => *run,
            Position::Said(said) => {
                let mut run = R::default();
                if said.has_differences() {
                    let first = if head == Some(Head::Usual) { codes.head() } else { codes.place() };
                    chain::write([first, codes.place()], said.expected, said.differences, &mut run);
                }
                run
            }
        };
        let rotation = match rotation {
            Rotation::Singles(run) | Rotation::Whole(run) => *run,
            Rotation::Said(said) => {
                let mut run = R::default();
                said.write(codes, &mut run);
                run
            }
        };
        Transform { symbol, position, rotation }
    }
}

/// The shorter of two, of equal ones the first.
#[inline]
fn shorter<R: Run>(a: Transform<R>, b: Transform<R>) -> Transform<R> {
    let length = |transform: &Transform<R>| {
        transform.symbol.length() + transform.position.length() + transform.rotation.length()
    };
    if length(&b) < length(&a) { b } else { a }
}
