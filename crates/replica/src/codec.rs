//! What changed of one object, in as few bits as the receiver's knowledge allows.
//!
//! Most of a snapshot is transforms of things that move, and most of a transform follows from the two before it. Both
//! sides hold the same words of the object at one or two earlier ticks, the baselines. So the sender says only how the
//! present differs from what they predict:
//!
//! ```text
//!   symbol                what changed and how it is predicted: one code for the combination   (symbol)
//!   position              three residuals, or in full                                          (position, track)
//!   rotation              [the dropped component] three residuals, or in full                  (rotation, track)
//!   other fields          a mask and their values                                              (fields)
//! ```
//!
//! Even motion is predicted best by the line through both baselines, erratic motion by the newer one alone; the sender
//! chooses per object and says so in the symbol, position and rotation apart. Code tables are static and chosen by the
//! object's own baselines: nothing is adapted from packet to packet, so that nothing is lost with one, and the bits of
//! an object depend on no other object and no peer, so that they are encoded once and sent to many.
//!
//! An object without visible transform has no symbol: its bits begin with the mask.

mod codes;
mod fields;
mod generic;
mod line;
mod position;
mod prefix;
mod residual;
mod rotation;
mod run;
mod symbol;
mod track;

pub use codes::{Codes, gap_code, read_gap};

use netloom_wire::schema::FieldKind;
use netloom_wire::{BitReader, BitWriter, ReadError, WriteError};

use crate::class::Class;
use fields::{Others, four, triple_range};
use line::{Lanes, Line};
use run::{LongRun, Run, ShortRun};
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
    /// Whether the object jumped, so that nothing may sweep it from its old place to the new one.
    pub teleported: bool,
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
/// `older` one that is not older than `newer` is ignored. Whatever does not fit or lies out of range becomes the
/// writer's failure.
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
    teleported: bool,
    blobs: &impl Blobs,
    codes: &Codes,
    writer: &mut BitWriter<'_>,
) {
    let shape = Shape::of(class, visible);
    let others = Others::new(class, shape.others, current, newer.words);
    if shape.has_transform() {
        let known = Known::new(&shape, newer, older);
        if !known.append::<ShortRun>(current, teleported, others.any_changed(), codes, writer) {
            known.append::<LongRun>(current, teleported, others.any_changed(), codes, writer);
        }
    }
    if others.any_changed() || (!shape.has_transform() && shape.others != 0) {
        others.write(blobs, codes, writer);
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
    teleported: bool,
    codes: &Codes,
) -> Option<SmallCode> {
    let shape = Shape::of(class, visible);
    if !shape.has_transform() || Others::new(class, shape.others, current, newer.words).any_changed() {
        return None;
    }
    let known = Known::new(&shape, newer, older);
    let transform = known.write::<ShortRun>(current, teleported, false, codes)?;
    let Transform { symbol, position, rotation } = transform;
    let length = symbol.length + position.length + rotation.length;
    if length > SmallCode::BITS_MAX {
        return None;
    }
    let bits = symbol.bits
        | position.bits << (symbol.length & 63)
        | rotation.bits << ((symbol.length + position.length) & 63);
    Some(SmallCode(bits | u64::from(length) << SmallCode::BITS_MAX))
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
    let shape = Shape::of(class, visible);
    words[..class.word_count()].copy_from_slice(&newer.words[..class.word_count()]);
    let mut decoded = Decoded { teleported: false, changed: 0 };
    let mut others = shape.others != 0;
    if shape.has_transform() {
        let known = Known::new(&shape, newer, older);
        let change = Change::read(codes, known.past(), reader)?;
        if change.others && shape.others == 0 {
            return Err(ReadError::InvalidCode);
        }
        decoded.teleported = change.teleported;
        decoded.changed = known.read(change, codes, reader, words)?;
        others = change.others;
    }
    if others {
        decoded.changed |= fields::read(class, shape.others, codes, reader, words, blob)?;
    }
    Ok(decoded)
}

/// The line through both baselines, and the words of the older one; `None` if there is no line.
#[inline]
fn line_through<'a>(newer: Baseline<'_>, older: Option<Baseline<'a>>) -> Option<(&'a [i32], Line)> {
    let older = older?;
    Some((older.words, Line::between(newer.age, older.age)?))
}

/// Where a transform field is.
#[derive(Clone, Copy)]
struct Spot {
    field: usize,
    first: usize,
    kind: FieldKind,
}

/// What of an object the receiver sees.
struct Shape {
    position: Option<Spot>,
    rotation: Option<Spot>,
    /// The other visible fields.
    others: u64,
}

impl Shape {
    #[inline]
    fn of(class: &Class, visible: u64) -> Shape {
        let mut shape = Shape { position: None, rotation: None, others: 0 };
        for (field, words) in class.fields().iter().enumerate() {
            if visible >> field & 1 == 0 {
                continue;
            }
            let spot = Spot { field, first: words.first, kind: words.kind };
            match words.kind {
                FieldKind::Position(_) => shape.position = Some(spot),
                FieldKind::Rotation(_) => shape.rotation = Some(spot),
                _ => shape.others |= 1 << field,
            }
        }
        shape
    }

    #[inline]
    fn has_transform(&self) -> bool {
        self.position.is_some() || self.rotation.is_some()
    }
}

/// What the receiver knows of an object's transform.
struct Known<'a> {
    position: Option<Field<'a>>,
    rotation: Option<Field<'a>>,
}

/// What the receiver knows of a transform field.
#[derive(Clone, Copy)]
struct Field<'a> {
    spot: Spot,
    newer: &'a Lanes,
    older: Option<(&'a Lanes, Line)>,
}

/// The bits of a transform.
struct Transform<R> {
    symbol: ShortRun,
    position: R,
    rotation: R,
}

impl<'a> Known<'a> {
    #[inline]
    fn new(shape: &Shape, newer: Baseline<'a>, older: Option<Baseline<'a>>) -> Known<'a> {
        let older = line_through(newer, older);
        let field = |spot: Spot| Field {
            spot,
            newer: four(newer.words, spot.first),
            older: older.map(|(words, line)| (four(words, spot.first), line)),
        };
        Known { position: shape.position.map(field), rotation: shape.rotation.map(field) }
    }

    /// What the object did between the baselines.
    #[inline]
    fn past(&self) -> Past {
        let moved = |field: &Field| Some(field.older?.0 != field.newer);
        let (position, rotation) = (self.position.as_ref().map(moved), self.rotation.as_ref().map(moved));
        match position.or(rotation) {
            Some(Some(_)) => Past::of(position.flatten() == Some(true), rotation.flatten() == Some(true)),
            _ => Past::UNKNOWN,
        }
    }

    /// Appends the transform, or fails the writer if words are out of range. False if a part did not fit its run.
    fn append<R: Run>(
        &self,
        current: &[i32],
        teleported: bool,
        others: bool,
        codes: &Codes,
        writer: &mut BitWriter<'_>,
    ) -> bool {
        let Some(transform) = self.write::<R>(current, teleported, others, codes) else {
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

    /// `None` if words are out of range.
    #[inline]
    fn write<R: Run>(
        &self,
        current: &[i32],
        teleported: bool,
        others: bool,
        codes: &Codes,
    ) -> Option<Transform<R>> {
        let (mut place, mut position) = (Place::Same, R::default());
        if let Some(field) = &self.position {
            let words = four(current, field.spot.first);
            if words != field.newer {
                (place, position) = field.write_position(words, codes)?;
            }
        }
        let (mut turn, mut rotation) = (Turn::Same, R::default());
        if let Some(field) = &self.rotation {
            let words = four(current, field.spot.first);
            if words != field.newer {
                (turn, rotation) = field.write_rotation(words, codes)?;
            }
        }
        let mut symbol = ShortRun::default();
        Change { teleported, place, turn, others }.write(codes, self.past(), &mut symbol);
        Some(Transform { symbol, position, rotation })
    }

    /// Reads position and rotation into `words` and returns which of the two fields changed.
    #[inline]
    fn read(
        &self,
        change: Change,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        words: &mut [i32],
    ) -> Result<u64, ReadError> {
        let mut changed = 0;
        if change.place != Place::Same {
            let field = self.position.as_ref().ok_or(ReadError::InvalidCode)?;
            let read = field.read_position(change.place, codes, reader)?;
            changed |= field.spot.put(read, words);
        }
        if change.turn != Turn::Same {
            let field = self.rotation.as_ref().ok_or(ReadError::InvalidCode)?;
            let read = field.read_rotation(change.turn, codes, reader)?;
            changed |= field.spot.put(read, words);
        }
        Ok(changed)
    }
}

impl Spot {
    /// Stores the words of the field and returns its bit.
    #[inline]
    fn put(&self, lanes: Lanes, words: &mut [i32]) -> u64 {
        words[self.first..self.first + 4].copy_from_slice(&lanes);
        1 << self.field
    }
}

impl Field<'_> {
    #[inline]
    fn position(&self) -> Option<position::Known<'_>> {
        position::Known::new(self.newer, self.older, triple_range(self.spot.kind)?)
    }

    #[inline]
    fn rotation(&self) -> Option<rotation::Known<'_>> {
        let FieldKind::Rotation(profile) = self.spot.kind else { return None };
        Some(rotation::Known::new(self.newer, self.older, rotation::Unit::of(profile.rotation_width()?)))
    }

    #[inline]
    fn write_position<R: Run>(&self, words: &Lanes, codes: &Codes) -> Option<(Place, R)> {
        let absolute = || Some((Place::Absolute, fields::whole(self.spot.kind, words)?));
        match self.position() {
            Some(known) if known.contains(words) => {
                let (place, run) = known.write::<R>(codes, words);
                if run.length() <= known.absolute_bits() { Some((place, run)) } else { absolute() }
            }
            _ => absolute(),
        }
    }

    #[inline]
    fn write_rotation<R: Run>(&self, words: &Lanes, codes: &Codes) -> Option<(Turn, R)> {
        let absolute = || Some((Turn::Absolute, fields::whole(self.spot.kind, words)?));
        match self.rotation() {
            Some(known) if known.contains(words) => {
                let (turn, run) = known.write::<R>(codes, words);
                if run.length() <= known.absolute_bits() { Some((turn, run)) } else { absolute() }
            }
            Some(_) => None,
            None => absolute(),
        }
    }

    #[inline]
    fn read_position(
        &self,
        place: Place,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<Lanes, ReadError> {
        match (place, self.position()) {
            (Place::Absolute, _) => fields::read_transform(self.spot.kind, reader),
            (_, Some(known)) => known.read(place, codes, reader),
            (_, None) => Err(ReadError::InvalidCode),
        }
    }

    #[inline]
    fn read_rotation(
        &self,
        turn: Turn,
        codes: &Codes,
        reader: &mut BitReader<'_>,
    ) -> Result<Lanes, ReadError> {
        match (turn, self.rotation()) {
            (Turn::Absolute, _) => fields::read_transform(self.spot.kind, reader),
            (_, Some(known)) => known.read(turn, codes, reader),
            (_, None) => Err(ReadError::InvalidCode),
        }
    }
}

#[cfg(test)]
mod tests;
