//! What changed of one object, in as few bits as the receiver's knowledge allows.
//!
//! Most of a snapshot is transforms of things that move, and most of a transform follows from the two before it. Both
//! sides hold the same words of the object at one or two earlier ticks, the baselines. So the sender says only how the
//! present differs from what they predict:
//!
//! ```text
//!   symbol                what changed and how it is predicted, unless it is as usual          (symbol)
//!   position              three differences, or in full                                        (position, chain)
//!   rotation              [the dropped component] three differences, or in full                (rotation, arc, chain)
//!   other fields          a mask and their values                                              (fields)
//! ```
//!
//! Even motion is predicted best by the line through both baselines, erratic motion by the newer one alone; the sender
//! chooses per object and says so in the symbol, position and rotation apart. A third baseline tells how the line bends
//! and how much it can be trusted, and what sticks to something that moves is predicted from that ([`Carrier`]). Code
//! tables are static and chosen by the
//! object's own baselines: nothing is adapted from packet to packet, so that nothing is lost with one, and the bits of
//! an object depend on no other object and no peer, so that they are encoded once and sent to many.
//!
//! An object without visible transform has no symbol: its bits begin with the mask.

mod arc;
mod batch;
mod carry;
mod chain;
mod circle;
mod codes;
mod exact;
mod fields;
mod line;
mod number;
mod position;
mod prefix;
mod rotation;
mod run;
mod shape;
mod singles;
mod symbol;
mod tally;

pub use batch::{Batch, Beside, LANES, Update};
pub use carry::Carrier;
pub use codes::{
    Codes, GAP_BITS_MAX, GROUPS, Group, NAME_BYTES_MAX, SHIPPED, TABLE_BYTES_MAX, TableError, gap_code,
    read_gap,
};
pub use singles::LongCode;
pub use tally::{BLEND_UNIT, Blend, Saving, Tally};

use netloom_wire::{BitReader, BitWriter, ReadError};

use crate::class::Class;
use fields::Others;
use line::{Curve, Line};
use run::{LongRun, ShortRun};
use shape::{Shape, Transform};

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
    let states =
        States { newer: newer.words, older: older.map(|older| older.words), oldest: None, is_carried: false };
    pair.encode_from(class, visible, current, &states, jump_age, blobs, codes, writer);
}

/// The bits that [`encode`] appends, if they fit one word and say nothing but a transform that is quantized.
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

/// The words of an object at its baselines.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    /// Those of the newer one.
    pub newer: &'a [i32],
    /// Those of the older one.
    pub older: Option<&'a [i32]>,
    /// Those of a third, which is older than both.
    pub oldest: Option<&'a [i32]>,
    /// Whether these are where another object has [carried](Carrier) them.
    pub is_carried: bool,
}

/// The ages of two baselines, prepared once for all objects that have them.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    newer_age: u32,
    line: Option<Line>,
    curve: Option<Curve>,
}

impl Pair {
    /// The pair of these ages, in send ticks. An older one from which nothing can be predicted counts as none: one that
    /// is not older than `newer_age`, more than 1,023, or less than a quarter of `newer_age` apart from it.
    #[inline]
    pub fn new(newer_age: u32, older_age: Option<u32>) -> Pair {
        let line = older_age.and_then(|older_age| Line::between(newer_age, older_age));
        Pair { newer_age, line, curve: None }
    }

    /// The same with a third baseline. From one that is not older than `older_age`, or less than a quarter of the
    /// distance of the others apart from it, nothing can be predicted.
    #[inline]
    pub fn of_three(newer_age: u32, older_age: u32, oldest_age: u32) -> Pair {
        let curve = Curve::between(newer_age, older_age, oldest_age);
        Pair { curve, ..Pair::new(newer_age, Some(older_age)) }
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
        let states = States { newer, older, oldest: None, is_carried: false };
        self.encode_small_from(class, visible, current, &states, jump_age, codes)
    }

    /// The same from whatever states there are.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[inline]
    pub fn encode_small_from(
        &self,
        class: &Class,
        visible: u64,
        current: &[i32],
        states: &States<'_>,
        jump_age: Option<u32>,
        codes: &Codes,
    ) -> Option<SmallCode> {
        let shape = Shape::of(class, visible);
        if shape.others != 0 && Others::new(class, shape.others, current, states.newer).any_changed() {
            return None;
        }
        if !shape.has_transform() || shape.is_exact(states.newer) {
            return None;
        }
        let known = self.known(states);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::WrittenTwice) {
            let written =
                shape.write::<ShortRun>(&known, std::hint::black_box(current), jump_age, false, codes);
            std::hint::black_box(written.map(|transform| transform.position.length));
        }
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

    /// [`encode`] for one of many objects with these ages.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as encode, of which the ages are self")]
    pub fn encode_from(
        &self,
        class: &Class,
        visible: u64,
        current: &[i32],
        states: &States<'_>,
        jump_age: Option<u32>,
        blobs: &impl Blobs,
        codes: &Codes,
        writer: &mut BitWriter<'_>,
    ) {
        let shape = Shape::of(class, visible);
        let others = Others::new(class, shape.others, current, states.newer);
        if shape.has_transform() {
            let known = self.known(states);
            let is_short = !shape.is_exact(states.newer)
                && shape.append::<ShortRun>(&known, current, jump_age, others.any_changed(), codes, writer);
            if !is_short {
                shape.append::<LongRun>(&known, current, jump_age, others.any_changed(), codes, writer);
            }
        }
        if others.any_changed() || (!shape.has_transform() && shape.others != 0) {
            others.write(blobs, codes.mask(), codes.word(), writer);
        }
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
        let states = States { newer, older, oldest: None, is_carried: false };
        self.decode_from(class, visible, &states, codes, reader, words, blob)
    }

    /// The same from whatever states there are.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as decode, of which the ages are self")]
    #[inline]
    pub fn decode_from(
        &self,
        class: &Class,
        visible: u64,
        states: &States<'_>,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        words: &mut [i32],
        blob: &mut impl FnMut(usize, &[u8]),
    ) -> Result<Decoded, ReadError> {
        let shape = Shape::of(class, visible);
        words[..class.word_count()].copy_from_slice(&states.newer[..class.word_count()]);
        let mut decoded = Decoded { jump_age: None, changed: 0 };
        let mut others = shape.others != 0;
        if shape.has_transform() {
            let change = shape.read(&self.known(states), codes, reader, words, &mut decoded.changed)?;
            decoded.jump_age = change.jump_age;
            others = change.others;
        }
        if others {
            decoded.changed |= fields::read(class, shape.others, codes, reader, words, blob)?;
        }
        Ok(decoded)
    }

    #[inline]
    fn known<'a>(&'a self, states: &States<'a>) -> Known<'a> {
        let older = states.older.zip(self.line.as_ref());
        let oldest = states.oldest.zip(self.curve.as_ref()).filter(|_| older.is_some());
        let is_carried = states.is_carried && older.is_some();
        Known { newer: states.newer, newer_age: self.newer_age, older, oldest, is_carried }
    }
}

/// The baselines, with the line through them if there is one.
struct Known<'a> {
    newer: &'a [i32],
    newer_age: u32,
    older: Option<(&'a [i32], &'a Line)>,
    oldest: Option<(&'a [i32], &'a Curve)>,
    is_carried: bool,
}

impl States<'_> {
    /// Whether an object of this class is expected to change: whether anything that is visible of its transform did
    /// between its newer and an older state.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    pub fn expect_change(&self, class: &Class, visible: u64) -> bool {
        let shape = Shape::of(class, visible);
        let firsts = [shape.position.map(|spot| spot.first), shape.rotation.map(|spot| spot.first)];
        let differs = |words: &[i32]| {
            firsts.into_iter().flatten().any(|first| four(words, first) != four(self.newer, first))
        };
        self.older.is_some_and(differs) || self.oldest.is_some_and(differs)
    }
}

impl<'a> Known<'a> {
    /// The four words of a transform field in the newer baseline.
    #[inline]
    fn newer(&self, first: u8) -> &'a [i32; 4] {
        four(self.newer, first)
    }

    /// Those in the older one.
    #[inline]
    fn older(&self, first: u8) -> Option<(&'a [i32; 4], &'a Line)> {
        self.older.map(|(words, line)| (four(words, first), line))
    }

    /// Those in the third.
    #[inline]
    fn oldest(&self, first: u8) -> Option<(&'a [i32; 4], &'a Curve)> {
        self.oldest.map(|(words, curve)| (four(words, first), curve))
    }

    /// Whether the past tells which form fits, so that others are worth it only where they are shorter.
    #[inline]
    fn is_settled(&self) -> bool {
        self.oldest.is_some() | self.is_carried
    }
}

/// The four words from `first` on.
#[inline]
fn four(words: &[i32], first: u8) -> &[i32; 4] {
    let first = usize::from(first);
    words[first..first + 4].first_chunk().expect("a slice of four")
}

#[cfg(test)]
mod tests;
