//! What changed of one object, in as few bits as the receiver's knowledge allows.
//!
//! Most of a snapshot is transforms of things that move, and most of a transform follows from the two before it. Both
//! sides hold the same words of the object at one or two earlier ticks, the baselines. So the sender says only how the
//! present differs from what they predict:
//!
//! ```text
//!   symbol                what changed and how it is predicted: one code for the combination   (symbol)
//!   position              three differences, or in full                                        (position, triple)
//!   rotation              [the dropped component] three differences, or in full                (rotation, lead)
//!   other fields          a mask and their values                                              (fields)
//! ```
//!
//! Even motion is predicted best by the line through both baselines, erratic motion by the newer one alone; the sender
//! chooses per object and says so in the symbol, position and rotation apart. Code tables are static and chosen by the
//! object's own baselines: nothing is adapted from packet to packet, so that nothing is lost with one, and the bits of
//! an object depend on no other object and no peer, so that they are encoded once and sent to many.
//!
//! An object without visible transform has no symbol: its bits begin with the mask.

mod arc;
mod batch;
mod codes;
mod fields;
mod lead;
mod line;
mod number;
mod position;
mod prefix;
mod rotation;
mod run;
mod symbol;
mod tally;
mod triple;

pub use batch::Update;
pub use codes::{
    Codes, GROUPS, Group, NAME_BYTES_MAX, SHIPPED, TABLE_BYTES_MAX, TableError, gap_code, read_gap,
};
pub use tally::{Saving, Tally};

use netloom_wire::quantize::{RotationWidth, WordRange};
use netloom_wire::{BitReader, BitWriter, ReadError, WriteError};

use crate::class::{Class, Spot};
use fields::Others;
use line::Line;
use run::{LongRun, Run, ShortRun, Written};
use symbol::{Change, Past, Place, Turn};

/// Words of an object that the receiver is known to hold.
#[derive(Clone, Copy, Debug)]
pub struct Baseline<'a> {
    /// The words, as the class lays them out.
    pub words: &'a [i32],
    /// How many send ticks ago they were the object's.
    pub age: u32,
}

/// The content of an object's text and byte fields, which words only number.
pub trait Blobs {
    /// The content of the field with this index.
    fn blob(&self, field: usize) -> &[u8];
}

/// An object without text and byte fields.
impl Blobs for () {
    fn blob(&self, _field: usize) -> &[u8] {
        &[]
    }
}

/// What a receiver learned besides the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// How many ticks ago the object jumped, if it did since the newer baseline: nothing may sweep it from where it was
    /// before that to where it is now.
    pub jump_age: Option<u32>,
    /// The fields that differ from the newer baseline.
    pub changed: u64,
}

/// The bits of one object in one word: 56 bits of code, the first one lowest, and their number in the top byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallCode(pub u64);

impl SmallCode {
    /// The most bits that it holds.
    pub const BITS_MAX: u32 = 56;

    /// The code.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0 & ((1 << SmallCode::BITS_MAX) - 1)
    }

    /// How many bits it has; at least one.
    #[inline]
    pub fn length(self) -> u32 {
        (self.0 >> SmallCode::BITS_MAX) as u32
    }
}

/// Appends the visible fields of an object that differ from what the receiver can predict.
///
/// `visible` has a bit for each field, as [`Class::visible`] gives it; `newer` is the younger of the two baselines. An
/// `older` one that is not older than `newer` is ignored. `jump_age` says how many ticks ago the object jumped, if it did
/// since `newer`, so it is less than the age of that. Whatever does not fit or lies out of range becomes the writer's
/// failure.
///
/// # Panics
/// If any words are fewer than the class has.
#[allow(
    clippy::too_many_arguments,
    reason = "a pure function of two baselines, the present, and how to write it"
)]
pub fn encode(
    class: &Class,
    visible: u64,
    current: &[i32],
    newer: Baseline<'_>,
    older: Option<Baseline<'_>>,
    jump_age: Option<u32>,
    blobs: &impl Blobs,
    codes: &Codes,
    writer: &mut BitWriter<'_>,
) {
    let pair = Pair::new(newer.age, older.map(|older| older.age));
    let shape = Shape::of(class, visible);
    let others = Others::new(class, shape.others, current, newer.words);
    if shape.has_transform() {
        let known = pair.known(newer.words, older.map(|older| older.words));
        if !shape.append::<ShortRun>(&known, current, jump_age, others.any_changed(), codes, writer) {
            shape.append::<LongRun>(&known, current, jump_age, others.any_changed(), codes, writer);
        }
    }
    if others.any_changed() || (!shape.has_transform() && shape.others != 0) {
        others.write(blobs, codes.mask(), codes.word(), writer);
    }
}

/// The bits that [`encode`] appends, if they fit one word and say nothing but the transform.
///
/// # Panics
/// If any words are fewer than the class has.
#[inline]
pub fn encode_small(
    class: &Class,
    visible: u64,
    current: &[i32],
    newer: Baseline<'_>,
    older: Option<Baseline<'_>>,
    jump_age: Option<u32>,
    codes: &Codes,
) -> Option<SmallCode> {
    let pair = Pair::new(newer.age, older.map(|older| older.age));
    let older = older.map(|older| older.words);
    pair.encode_small(class, visible, current, newer.words, older, jump_age, codes)
}

/// Reads what [`encode`] wrote with the same baselines, and leaves the object's words in `words`.
///
/// The content of changed text and byte fields goes to `blob`, with the index of the field. After an error `words` hold
/// anything.
///
/// # Panics
/// If any words are fewer than the class has.
#[allow(clippy::too_many_arguments, reason = "the mirror of encode")]
pub fn decode(
    class: &Class,
    visible: u64,
    newer: Baseline<'_>,
    older: Option<Baseline<'_>>,
    codes: &Codes,
    reader: &mut BitReader<'_>,
    words: &mut [i32],
    blob: &mut impl FnMut(usize, &[u8]),
) -> Result<Decoded, ReadError> {
    let pair = Pair::new(newer.age, older.map(|older| older.age));
    pair.decode(class, visible, newer.words, older.map(|older| older.words), codes, reader, words, blob)
}

/// The ages of two baselines, prepared once for all objects that have them.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    newer_age: u32,
    line: Option<Line>,
}

impl Pair {
    /// The pair of these ages, in send ticks. An older one from which nothing can be predicted counts as none: one that
    /// is not older than `newer_age`, more than 1,023, or less than a quarter of `newer_age` apart from it.
    #[inline]
    pub fn new(newer_age: u32, older_age: Option<u32>) -> Pair {
        Pair { newer_age, line: older_age.and_then(|older_age| Line::between(newer_age, older_age)) }
    }

    /// [`encode_small`] for one of many objects with these ages.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as encode_small, of which the ages are self")]
    #[inline]
    pub fn encode_small(
        &self,
        class: &Class,
        visible: u64,
        current: &[i32],
        newer: &[i32],
        older: Option<&[i32]>,
        jump_age: Option<u32>,
        codes: &Codes,
    ) -> Option<SmallCode> {
        let shape = Shape::of(class, visible);
        if shape.others != 0 && Others::new(class, shape.others, current, newer).any_changed() {
            return None;
        }
        if !shape.has_transform() {
            return None;
        }
        let known = self.known(newer, older);
        let Transform { symbol, position, rotation } =
            shape.write::<ShortRun>(&known, current, jump_age, false, codes)?;
        let length = symbol.length + position.length + rotation.length;
        if length > SmallCode::BITS_MAX {
            return None;
        }
        let bits = symbol.bits
            | position.bits << (symbol.length & 63)
            | rotation.bits << ((symbol.length + position.length) & 63);
        Some(SmallCode(bits | u64::from(length) << SmallCode::BITS_MAX))
    }

    /// [`decode`] for one of many objects with these ages.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as decode, of which the ages are self")]
    #[inline]
    pub fn decode(
        &self,
        class: &Class,
        visible: u64,
        newer: &[i32],
        older: Option<&[i32]>,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        words: &mut [i32],
        blob: &mut impl FnMut(usize, &[u8]),
    ) -> Result<Decoded, ReadError> {
        let shape = Shape::of(class, visible);
        words[..class.word_count()].copy_from_slice(&newer[..class.word_count()]);
        let mut decoded = Decoded { jump_age: None, changed: 0 };
        let mut others = shape.others != 0;
        if shape.has_transform() {
            let known = self.known(newer, older);
            let change = Change::read(codes, shape.past(&known), self.newer_age, reader)?;
            if change.others && shape.others == 0 {
                return Err(ReadError::InvalidCode);
            }
            decoded.jump_age = change.jump_age;
            decoded.changed = shape.read(&known, change, codes, reader, words)?;
            others = change.others;
        }
        if others {
            decoded.changed |= fields::read(class, shape.others, codes, reader, words, blob)?;
        }
        Ok(decoded)
    }

    #[inline]
    fn known<'a>(&'a self, newer: &'a [i32], older: Option<&'a [i32]>) -> Known<'a> {
        Known { newer, newer_age: self.newer_age, older: older.zip(self.line.as_ref()) }
    }
}

/// The baselines, with the line through them if there is one.
struct Known<'a> {
    newer: &'a [i32],
    newer_age: u32,
    older: Option<(&'a [i32], &'a Line)>,
}

impl<'a> Known<'a> {
    /// The four words of a transform field, newer and older.
    #[inline]
    fn at(&self, first: u8) -> (&'a [i32; 4], Option<(&'a [i32; 4], &'a Line)>) {
        (four(self.newer, first), self.older.map(|(words, line)| (four(words, first), line)))
    }
}

/// The four words from `first` on.
#[inline]
fn four(words: &[i32], first: u8) -> &[i32; 4] {
    let first = usize::from(first);
    words[first..first + 4].first_chunk().expect("a slice of four")
}

/// What of an object the receiver sees.
struct Shape<'a> {
    position: Option<&'a Spot<WordRange>>,
    rotation: Option<&'a Spot<RotationWidth>>,
    /// The other visible fields.
    others: u64,
}

/// The bits of a transform.
struct Transform<R> {
    symbol: R,
    position: R,
    rotation: R,
}

impl<'a> Shape<'a> {
    #[inline]
    fn of(class: &'a Class, visible: u64) -> Shape<'a> {
        let transform = class.transform();
        Shape {
            position: transform.position.as_ref().filter(|spot| visible >> (spot.field & 63) & 1 == 1),
            rotation: transform.rotation.as_ref().filter(|spot| visible >> (spot.field & 63) & 1 == 1),
            others: visible & !transform.mask,
        }
    }

    #[inline]
    fn has_transform(&self) -> bool {
        self.position.is_some() || self.rotation.is_some()
    }

    #[inline]
    fn past(&self, known: &Known<'_>) -> Past {
        let Some((older, _)) = known.older else { return Past::UNKNOWN };
        let differs = |first: u8| four(older, first) != four(known.newer, first);
        Past::of(
            self.position.is_some_and(|spot| differs(spot.first)),
            self.rotation.is_some_and(|spot| differs(spot.first)),
        )
    }

    /// Appends the transform, or fails the writer if anything is out of range. False if a part did not fit its run.
    fn append<R: Written>(
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
    fn write<R: Run>(
        &self,
        known: &Known<'_>,
        current: &[i32],
        jump_age: Option<u32>,
        others: bool,
        codes: &Codes,
    ) -> Option<Transform<R>> {
        let (place, position) = match self.position {
            Some(spot) => write_position(spot, known, four(current, spot.first), codes)?,
            None => (Place::Same, R::default()),
        };
        let (turn, rotation) = match self.rotation {
            Some(spot) => write_rotation(spot, known, four(current, spot.first), codes)?,
            None => (Turn::Same, R::default()),
        };
        if jump_age.is_some_and(|age| age >= known.newer_age) {
            return None;
        }
        let mut symbol = R::default();
        Change { jump_age, place, turn, others }.write(codes, self.past(known), known.newer_age, &mut symbol);
        Some(Transform { symbol, position, rotation })
    }

    /// Reads position and rotation into `words` and returns which of the two fields changed.
    #[inline]
    fn read(
        &self,
        known: &Known<'_>,
        change: Change,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        words: &mut [i32],
    ) -> Result<u64, ReadError> {
        let mut changed = 0;
        if change.place != Place::Same {
            let spot = self.position.ok_or(ReadError::InvalidCode)?;
            read_position(spot, known, change.place, codes, reader, words)?;
            changed |= 1 << (spot.field & 63);
        }
        if change.turn != Turn::Same {
            let spot = self.rotation.ok_or(ReadError::InvalidCode)?;
            read_rotation(spot, known, change.turn, codes, reader, words)?;
            changed |= 1 << (spot.field & 63);
        }
        Ok(changed)
    }
}

#[inline]
fn position_known<'a>(spot: &Spot<WordRange>, known: &Known<'a>) -> Option<position::Known<'a>> {
    let (newer, older) = known.at(spot.first);
    position::Known::new(newer, older, spot.quantized?)
}

#[inline]
fn rotation_known<'a>(spot: &Spot<RotationWidth>, known: &Known<'a>) -> Option<rotation::Known<'a>> {
    let (newer, older) = known.at(spot.first);
    Some(rotation::Known::new(newer, older, spot.quantized?))
}

#[inline]
fn write_position<R: Run>(
    spot: &Spot<WordRange>,
    known: &Known<'_>,
    words: &[i32; 4],
    codes: &Codes,
) -> Option<(Place, R)> {
    let absolute = || Some((Place::Absolute, fields::whole(spot.kind, *words)?));
    match position_known(spot, known) {
        Some(known) if known.contains(words) => {
            let (place, run) = known.write::<R>(codes, words);
            if run.length() <= known.absolute_bits() { Some((place, run)) } else { absolute() }
        }
        _ if words == four(known.newer, spot.first) => Some((Place::Same, R::default())),
        _ => absolute(),
    }
}

#[inline]
fn write_rotation<R: Run>(
    spot: &Spot<RotationWidth>,
    known: &Known<'_>,
    words: &[i32; 4],
    codes: &Codes,
) -> Option<(Turn, R)> {
    let absolute = || Some((Turn::Absolute, fields::whole(spot.kind, *words)?));
    match rotation_known(spot, known) {
        Some(known) if !known.contains(words) => None,
        Some(known) => known.write::<R>(codes, words).or_else(absolute),
        None if words == four(known.newer, spot.first) => Some((Turn::Same, R::default())),
        None => absolute(),
    }
}

#[inline]
fn read_position(
    spot: &Spot<WordRange>,
    known: &Known<'_>,
    place: Place,
    codes: &Codes,
    reader: &mut BitReader<'_>,
    words: &mut [i32],
) -> Result<(), ReadError> {
    let target = &mut words[usize::from(spot.first)..usize::from(spot.first) + 4];
    if place == Place::Absolute {
        return fields::read_whole(spot.kind, reader, target);
    }
    let known = position_known(spot, known).ok_or(ReadError::InvalidCode)?;
    target.copy_from_slice(&known.read(place, codes, reader)?);
    Ok(())
}

#[inline]
fn read_rotation(
    spot: &Spot<RotationWidth>,
    known: &Known<'_>,
    turn: Turn,
    codes: &Codes,
    reader: &mut BitReader<'_>,
    words: &mut [i32],
) -> Result<(), ReadError> {
    let target = &mut words[usize::from(spot.first)..usize::from(spot.first) + 4];
    if turn == Turn::Absolute {
        return fields::read_whole(spot.kind, reader, target);
    }
    let known = rotation_known(spot, known).ok_or(ReadError::InvalidCode)?;
    target.copy_from_slice(&known.read(turn, codes, reader)?);
    Ok(())
}

#[cfg(test)]
mod tests;
