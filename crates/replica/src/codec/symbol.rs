//! The one symbol that says what changed.
//!
//! Whether an object moved, turned, how it is predicted and whether other fields changed go together: what flies turns,
//! what rests does neither. One code for the combination costs less than one for each.
//!
//! ```text
//!   symbol = place + 5 × turn + 35 × (1 if other fields follow)        70: the object jumped, how long ago and another
//!                                                                      symbol follow
//! ```
//!
//! The table is chosen by what the object did between the baselines.
//!
//! **The usual form.** A code has at least one bit, also where there is nothing to say. What moved between its baselines
//! goes on moving, nearly always; so there the first code of the object is the first number of its position, as if the
//! symbol had been the usual one, and the tables of that number have two symbols more to say that it was not (see
//! [`chain`](super::chain)):
//!
//! ```text
//!   the object                               usual place      usual turn
//!   has two baselines or three, and moved    FromLine         FromLine if it turned, else Same
//!   has one baseline, or is carried          FromNewer        FromNewer
//!   rested between them, or has no position  (none: the symbol comes first)
//! ```
//!
//! A position of singles (see [`exact`](super::exact)) has no such tables: a bit comes first, and says that the form is the usual
//! one, with position and rotation from what they are predicted to be, each as is best for it.
//!
//! **Jumps.** Every update that builds on a state from before a jump says that there was one, so one jump is told many times,
//! and of two of which one got lost only one is told. A receiver that had to guess which is which would sweep some jumps
//! and take motion for others. So the age of the newest jump is said, in ticks, and as the receiver knows from
//! that when it was, every state tells exactly whether there is a jump between it and any other. An age is less than
//! that of the newer baseline and takes the bits of that range: usually two or three, and the same for every receiver
//! with this baseline. A counter would cost as much and be ambiguous after as many jumps as it can count.

use netloom_wire::{BitReader, ReadError};

use super::chain::{self, Expected, FROM_NEWER, OTHER_FORM};
use super::codes::Codes;
use super::run::Run;

/// How a position is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As in the newer baseline.
    Same = 0,
    /// Exactly as predicted by the line.
    Predicted = 1,
    /// Differences from the newer baseline follow.
    FromNewer = 2,
    /// Differences from the line follow.
    FromLine = 3,
    /// The position follows.
    Absolute = 4,
}

/// How a rotation is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// As in the newer baseline.
    Same = 0,
    /// Exactly as predicted by the arc.
    Predicted = 1,
    /// Differences from the newer baseline follow.
    FromNewer = 2,
    /// The same, after the component that was dropped.
    FromNewerDropping = 3,
    /// Differences from the arc follow.
    FromLine = 4,
    /// The same, after the component that was dropped.
    FromLineDropping = 5,
    /// The rotation follows.
    Absolute = 6,
}

const PLACES: [Place; 5] =
    [Place::Same, Place::Predicted, Place::FromNewer, Place::FromLine, Place::Absolute];

const TURNS: [Turn; 7] = [
    Turn::Same,
    Turn::Predicted,
    Turn::FromNewer,
    Turn::FromNewerDropping,
    Turn::FromLine,
    Turn::FromLineDropping,
    Turn::Absolute,
];

impl Place {
    /// The place with this number.
    #[inline(always)]
    pub fn of(number: i32) -> Place {
        PLACES[number as usize % PLACES.len()]
    }
}

impl Turn {
    /// The turn with this number.
    #[inline(always)]
    pub fn of(number: i32) -> Turn {
        TURNS[number as usize % TURNS.len()]
    }
}

const COMBINATIONS: usize = PLACES.len() * TURNS.len();
const JUMPED: usize = 2 * COMBINATIONS;

/// All symbols.
pub(super) const SYMBOLS: usize = JUMPED + 1;

/// Tables: one baseline only; or two, and the object rested, moved, turned, did both; the same with three baselines; and
/// something carries it.
pub(super) const SYMBOL_TABLES: usize = 10;

/// What an object did between its baselines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past(usize);

impl Past {
    /// There is no line through two baselines.
    pub const UNKNOWN: Past = Past(0);

    #[inline]
    pub fn of(moved: bool, turned: bool, has_three: bool) -> Past {
        Past(1 + usize::from(moved) + 2 * usize::from(turned) + 4 * usize::from(has_three))
    }

    /// Another object carries it.
    pub const CARRIED: Past = Past(9);
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// How many ticks ago it jumped, if it did since the newer baseline: less than the age of that.
    pub jump_age: Option<u32>,
    pub place: Place,
    pub turn: Turn,
    pub others: bool,
}

/// Places of one table among the codes of all.
pub(super) const SYMBOL_STRIDE: usize = 128;

/// The place of the code of an object of which only the transform changed, and that moved and turned between two
/// baselines or did not.
#[inline(always)]
pub(super) fn place_of_code(place: i32, turn: i32, moved: bool, turned: bool) -> i32 {
    let past = 1 + i32::from(moved) + 2 * i32::from(turned);
    past * SYMBOL_STRIDE as i32 + place + PLACES.len() as i32 * turn
}

/// The form that needs no symbol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub place: Place,
    pub turn: Turn,
    pub opening: Opening,
}

/// What an object with a usual form begins with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    /// A code of the head, in the table of the first number of the position, of which this is expected.
    Head(Expected),
    /// A bit: one if the form is the usual one.
    Bit,
}

impl Opening {
    /// Says that the form is not the usual one: a symbol of the head, and of bits the only other one.
    #[inline(always)]
    fn write_unusual(&self, symbol: usize, codes: &Codes, run: &mut impl Run) {
        match self {
            Opening::Head(expected) => run.put_code(codes.head().code_at(expected.first() + symbol as i32)),
            Opening::Bit => run.put(0, 1),
        }
    }
}

/// How the first code of an object with a usual form is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// It is the first number of the position.
    Usual,
    /// The symbol of the form that differs only in that the position is from the newer baseline.
    FromNewer,
    /// The symbol of other forms; the symbol that says which follows.
    Other,
}

impl Usual {
    #[inline(always)]
    pub fn head(&self, change: &Change) -> Head {
        let is_plain = change.jump_age.is_none() & !change.others & (change.turn == self.turn);
        match change.place {
            place if is_plain && place == self.place => Head::Usual,
            Place::FromNewer if is_plain => Head::FromNewer,
            _ => Head::Other,
        }
    }
}

/// The bits of an age that is less than that of the newer baseline.
#[inline]
fn jump_age_bits(newer_age: u32) -> u32 {
    u32::BITS - newer_age.saturating_sub(1).leading_zeros()
}

impl Change {
    /// Writes what the first codes of the object say, and returns how the head does where there is a usual form.
    #[inline(always)]
    pub fn write(
        &self,
        codes: &Codes,
        past: Past,
        usual: Option<&Usual>,
        newer_age: u32,
        run: &mut impl Run,
    ) -> Option<Head> {
        let head = usual.map(|usual| (usual, usual.head(self)));
        match head {
            Some((usual, Head::Usual)) => {
                if let Opening::Bit = usual.opening {
                    run.put(1, 1);
                }
                return Some(Head::Usual);
            }
            Some((usual, Head::FromNewer)) => {
                usual.opening.write_unusual(FROM_NEWER, codes, run);
                return Some(Head::FromNewer);
            }
            Some((usual, Head::Other)) => usual.opening.write_unusual(OTHER_FORM, codes, run),
            None => {}
        }
        if let Some(age) = self.jump_age {
            run.put_code(codes.symbol().code(past.0, JUMPED));
            run.put(age.into(), jump_age_bits(newer_age));
        }
        let combination = self.place as usize + PLACES.len() * self.turn as usize;
        let others = if self.others { COMBINATIONS } else { 0 };
        run.put_code(codes.symbol().code(past.0, combination + others));
        head.map(|(_, head)| head)
    }

    /// Reads it, and the symbol of the first number of the position if the head is that.
    #[inline]
    pub fn read(
        codes: &Codes,
        past: Past,
        usual: Option<&Usual>,
        newer_age: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<(Change, Option<usize>), ReadError> {
        if let Some(usual) = usual {
            let change = Change { jump_age: None, place: usual.place, turn: usual.turn, others: false };
            match usual.opening {
                Opening::Bit if reader.read_bool()? => return Ok((change, None)),
                Opening::Bit => {}
                Opening::Head(expected) => {
                    match chain::read_symbol(codes.head(), expected.first(), reader)? {
                        OTHER_FORM => {}
                        FROM_NEWER if usual.place == Place::FromNewer => return Err(ReadError::InvalidCode),
                        FROM_NEWER => return Ok((Change { place: Place::FromNewer, ..change }, None)),
                        symbol => return Ok((change, Some(symbol))),
                    }
                }
            }
        }
        Change::read_symbol(codes, past, newer_age, reader).map(|change| (change, None))
    }

    #[inline]
    fn read_symbol(
        codes: &Codes,
        past: Past,
        newer_age: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<Change, ReadError> {
        let next = |reader: &mut BitReader<'_>| {
            let (symbol, length) = codes.symbol().symbol(past.0, reader.peek_bits(16));
            reader.skip_bits(length as usize).map(|()| symbol)
        };
        let mut symbol = next(reader)?;
        let mut jump_age = None;
        if symbol == JUMPED {
            let age = reader.read_bits(jump_age_bits(newer_age))? as u32;
            if age >= newer_age {
                return Err(ReadError::OutOfRange);
            }
            jump_age = Some(age);
            symbol = next(reader)?;
        }
        if symbol >= 2 * COMBINATIONS {
            return Err(ReadError::InvalidCode);
        }
        let combination = symbol % COMBINATIONS;
        Ok(Change {
            jump_age,
            place: PLACES[combination % PLACES.len()],
            turn: TURNS[combination / PLACES.len()],
            others: symbol >= COMBINATIONS,
        })
    }
}
