//! The frame of a snapshot, shared by both halves.
//!
//! ```text
//!   tick u16 │ flags u8 │ [age1 u8] │ [age2 u8] │ [feedback] │ [digest] │ [leaves] │ [enters] │ [updates]
//!
//!   feedback  step u16 │ slack i8                                 see `Feedback`
//!   digest    region u16 │ u32                                    see `digest`
//!   leaves    count │ slot u16, generation u8, age …
//!   enters    count │ entry …                                     see `entry`
//!   updates   count │ bits: gap, baselines, what changed …        see `codec`
//! ```
//!
//! Counts and ages of leaves are varints. Most objects of a snapshot build on the same two baselines, so those are
//! named once, and an update says with one bit that it uses them, or with two that it uses those that were named last.

use netloom_wire::{BitReader, ByteReader, ReadError, Tick};

use crate::limits::VISIBLE_MAX;

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// A default baseline is named.
    pub const AGE: Flags = Flags(1);
    /// And a second one.
    pub const SECOND_AGE: Flags = Flags(2);
    /// Something left.
    pub const LEAVES: Flags = Flags(4);
    /// Something entered.
    pub const ENTERS: Flags = Flags(8);
    /// Something changed.
    pub const UPDATES: Flags = Flags(16);

    /// A digest of what rests.
    pub const DIGEST: Flags = Flags(32);
    /// What became of the receiver's inputs.
    pub const FEEDBACK: Flags = Flags(64);

    /// Whether a flag is set.
    pub const fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    /// With another flag set.
    pub const fn with(self, flag: Flags) -> Flags {
        Flags(self.0 | flag.0)
    }
}

/// The baselines of an update: ages in ticks, the newer first.
pub type Ages = (u32, Option<u32>);

/// What became of a client's inputs, as every snapshot tells it that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The newest step that the server has simulated, with this client's input or with what took its place. What the
    /// snapshot says of the client's objects is how they were after it.
    pub step: Tick,
    /// How early inputs come.
    pub slack: Option<Slack>,
}

impl Feedback {
    /// Bytes that it takes.
    pub(crate) const BYTES: usize = 3;

    pub(crate) fn write(self) -> [u8; Feedback::BYTES] {
        let [low, high] = (self.step.0 as u16).to_le_bytes();
        [low, high, self.slack.map_or(i8::MIN, |slack| slack.0) as u8]
    }
}

/// How long before its step an input reached the server, in quarters of a step, −127 to 127; negative if it came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slack(i8);

impl Slack {
    /// The nearest that can be told.
    pub fn from_steps(steps: f64) -> Slack {
        // NaN becomes 0.
        Slack((steps * 4.0).round().clamp(-127.0, 127.0) as i8)
    }

    /// In steps.
    pub fn steps(self) -> f64 {
        f64::from(self.0) / 4.0
    }

    /// As on the wire.
    pub fn quarters(self) -> i8 {
        self.0
    }
}

/// The start of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it holds.
    pub flags: Flags,
    /// The baselines that most updates use.
    pub ages: Option<Ages>,
    /// The low 16 bits of the newest simulated step, and how early inputs come.
    pub feedback: Option<(u16, Option<Slack>)>,
    /// The digest of a region.
    pub digest: Option<(u16, u32)>,
}

/// The tick that ends in these 16 bits and is nearest to another; of two equally near, the older.
pub(crate) fn nearest_tick(low: u16, near: Tick) -> Tick {
    let distance = low.wrapping_sub(near.0 as u16) as i16;
    Tick(near.0.wrapping_add_signed(distance.into()))
}

/// Refuses a slot that no alias has.
pub(crate) fn check_slot(slot: u16) -> Result<(), ReadError> {
    if usize::from(slot) < VISIBLE_MAX { Ok(()) } else { Err(ReadError::OutOfRange) }
}

/// Reads the start of a snapshot.
pub fn read_header(payload: &[u8]) -> Result<(Header, ByteReader<'_>), ReadError> {
    let mut reader = ByteReader::new(payload);
    reader.read_u16()?;
    let flags = Flags(reader.read_u8()?);
    if flags.0 >= 128 || (flags.contains(Flags::SECOND_AGE) && !flags.contains(Flags::AGE)) {
        return Err(ReadError::ReservedBits);
    }
    let mut age = |flag| match flags.contains(flag) {
        true => reader.read_u8().map(|age| Some(u32::from(age))),
        false => Ok(None),
    };
    let ages = match (age(Flags::AGE)?, age(Flags::SECOND_AGE)?) {
        (None, _) => None,
        (Some(newer), older) if newer > 0 && older.is_none_or(|older| older > newer) => Some((newer, older)),
        _ => return Err(ReadError::OutOfRange),
    };
    let feedback = match flags.contains(Flags::FEEDBACK) {
        true => {
            let (step, slack) = (reader.read_u16()?, reader.read_i8()?);
            Some((step, (slack != i8::MIN).then_some(Slack(slack))))
        }
        false => None,
    };
    let digest = match flags.contains(Flags::DIGEST) {
        true => Some((reader.read_u16()?, reader.read_u32()?)),
        false => None,
    };
    Ok((Header { flags, ages, feedback, digest }, reader))
}

/// Which baselines the updates of a snapshot use, one after the other. The gap of an update says whether they are the
/// common ones; of others a mark follows.
///
/// ```text
///   1                             those that were named last
///   0 │ two │ age 8 │ [gap 8]     named here: how old the newer one is, and if there are two how much older the other
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Baselines {
    common: Option<Ages>,
    named: Option<Ages>,
}

impl Baselines {
    /// The most bits that a mark has.
    pub const MARK_BITS_MAX: u32 = 2 + 8 + 8;

    /// Before the first update.
    pub fn new(common: Option<Ages>) -> Baselines {
        Baselines { common, named: None }
    }

    /// Reads which baselines the next update uses, of whose gap it is known whether it said the common ones.
    #[inline]
    pub fn read(&mut self, is_common: bool, reader: &mut BitReader<'_>) -> Result<Ages, ReadError> {
        if is_common {
            return self.common.ok_or(ReadError::InvalidFlags);
        }
        if reader.read_bool()? {
            return self.named.ok_or(ReadError::InvalidFlags);
        }
        let has_second = reader.read_bool()?;
        let newer = reader.read_bits(8)? as u32;
        let older = if has_second { Some(newer + reader.read_bits(8)? as u32) } else { None };
        if newer == 0 || older.is_some_and(|older| older <= newer) {
            return Err(ReadError::OutOfRange);
        }
        self.named = Some((newer, older));
        Ok((newer, older))
    }

    /// The mark of the baselines that the next update uses, and its bits; `None` if they are the common ones.
    #[inline]
    pub fn mark(&mut self, ages: Ages) -> Option<(u64, u32)> {
        if self.common == Some(ages) {
            return None;
        }
        if self.named == Some(ages) {
            return Some(Baselines::NAMED_LAST);
        }
        self.named = Some(ages);
        Some(match ages {
            (newer, Some(older)) => (u64::from(newer) << 2 | 2 | u64::from(older - newer) << 10, 18),
            (newer, None) => (u64::from(newer) << 2, 10),
        })
    }

    /// The mark of those that were named last.
    const NAMED_LAST: (u64, u32) = (1, 1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ages() -> impl Strategy<Value = Ages> {
        (1u32..=255, prop::option::of(1u32..=255))
            .prop_map(|(newer, gap)| (newer, gap.map(|gap| newer + gap)))
    }

    proptest! {
        #[test]
        fn marks_are_read_as_they_were_written(
            common in prop::option::of(ages()),
            few in prop::collection::vec(ages(), 1..4),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let mut bytes = [0; 200];
            let mut writer = netloom_wire::BitWriter::new(&mut bytes);
            let mut marks = Baselines::new(common);
            let used: Vec<Ages> = picks.iter().map(|pick| *pick.get(&few)).collect();
            for &ages in &used {
                let mark = marks.mark(ages);
                writer.append_bits(u64::from(mark.is_none()), 1);
                let (bits, length) = mark.unwrap_or_default();
                prop_assert!(length <= Baselines::MARK_BITS_MAX);
                writer.append_bits(bits, length);
            }
            writer.finish().unwrap();
            let (mut reader, mut marks) = (BitReader::new(&bytes), Baselines::new(common));
            for &ages in &used {
                let is_common = reader.read_bool().unwrap();
                prop_assert_eq!(marks.read(is_common, &mut reader).unwrap(), ages);
            }
        }
    }

    #[test]
    fn nothing_is_common_or_named_last_unless_somebody_said_so() {
        for is_common in [false, true] {
            let named_last = [1];
            let read = Baselines::new(None).read(is_common, &mut BitReader::new(&named_last));
            assert_eq!(read, Err(ReadError::InvalidFlags));
        }
        let an_age_of_zero = [0b0000_0000, 0, 0];
        assert_eq!(
            Baselines::new(None).read(false, &mut BitReader::new(&an_age_of_zero)),
            Err(ReadError::OutOfRange)
        );
    }
}
