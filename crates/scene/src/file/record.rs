//! Records: what happened to an object from one tick to the next.
//!
//! ```text
//!   record   kind u8 │ slot, as the distance from that of the record before: zigzag varint │ …
//! ```
//!
//! | kind | name | then |
//! |---|---|---|
//! | 0 | end of a tick | nothing, not even a slot |
//! | 1 | spawn | id varint, class u8, profile u8, which of the following there are u8: owner varint, team u16, origin 25 bytes; priority, relevance radius, weight of its kind: 3 × f32 |
//! | 2 | despawn | |
//! | 3 | parent | the slot of the parent + 1, or 0 for none: varint |
//! | 4 | frame | profile u8, origin 25 bytes |
//! | 5 | assignment | which there are u8: owner varint, team u16 |
//! | 6 | tuning | priority f32, relevance radius f32 |
//! | 7 | jump | |
//! | 8 | touch: a version without a difference | |
//! | 9 | words | a bit for each word that differs, 64 to a varint; their differences from the tick before, modulo 2^32, as zigzag varints |
//! | 10 | content | field u8, length varint, bytes |
//!
//! A spawn is followed by all words of the object, of which the state before is zero. Words that number the contents of
//! texts, bytes and arrays are left out: they are zero here.

use netloom_replica::ClassId;
use netloom_replica::limits::WORDS_MAX;
use netloom_replica::world::{OwnerId, Spawn, TeamId};
use netloom_wire::schema::RELIABLE_BYTES_MAX;
use netloom_wire::{ByteReader, ByteSink, ObjectId, Profile, ReadError, SectorOrigin, varint};

use crate::error::Damage;

/// The longest record: the longest content, or the words of the largest object.
pub(crate) const RECORD_BYTES_MAX: usize = RELIABLE_BYTES_MAX as usize + 32;
const _: () = assert!(WORDS_MAX * 5 + 64 < RECORD_BYTES_MAX && WORDS_MAX <= 128);

mod kind {
    pub const TICK_END: u8 = 0;
    pub const SPAWN: u8 = 1;
    pub const DESPAWN: u8 = 2;
    pub const PARENT: u8 = 3;
    pub const FRAME: u8 = 4;
    pub const ASSIGNMENT: u8 = 5;
    pub const TUNING: u8 = 6;
    pub const JUMP: u8 = 7;
    pub const TOUCH: u8 = 8;
    pub const WORDS: u8 = 9;
    pub const CONTENT: u8 = 10;
}

const HAS_OWNER: u8 = 1;
const HAS_TEAM: u8 = 1 << 1;
const HAS_ORIGIN: u8 = 1 << 2;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Record<'a> {
    TickEnd,
    Of(u32, What<'a>),
}

/// What it says about an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What<'a> {
    Spawn(Spawn),
    Despawn,
    Parent(Option<u32>),
    Frame(Profile, SectorOrigin),
    Assignment(Option<OwnerId>, Option<TeamId>),
    Tuning {
        priority: f32,
        relevance_radius: f32,
    },
    Jump,
    Touch,
    /// Followed by differences: [`write_words`], [`read_words`].
    Words,
    Content {
        field: u8,
        content: &'a [u8],
    },
}

impl What<'_> {
    fn kind(&self) -> u8 {
        match self {
            What::Spawn(_) => kind::SPAWN,
            What::Despawn => kind::DESPAWN,
            What::Parent(_) => kind::PARENT,
            What::Frame(..) => kind::FRAME,
            What::Assignment(..) => kind::ASSIGNMENT,
            What::Tuning { .. } => kind::TUNING,
            What::Jump => kind::JUMP,
            What::Touch => kind::TOUCH,
            What::Words => kind::WORDS,
            What::Content { .. } => kind::CONTENT,
        }
    }
}

/// Bytes at the end of a vector: records are far shorter than what fails here.
struct Tail<'a>(&'a mut Vec<u8>);

impl ByteSink for Tail<'_> {
    fn write_bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn fail(&mut self, error: netloom_wire::WriteError) {
        unreachable!("a record has no value that could not be written: {error}");
    }

    fn name_mode(&self) -> netloom_wire::NameMode {
        netloom_wire::NameMode::Hashed
    }
}

/// Appends the end of a tick.
pub(crate) fn write_tick_end(out: &mut Vec<u8>) {
    out.push(kind::TICK_END);
}

/// Appends a record about the object in `slot`; `slot_before` is that of the last one.
pub(crate) fn write(out: &mut Vec<u8>, slot_before: &mut u32, slot: u32, what: What<'_>) {
    let mut sink = Tail(out);
    sink.write_u8(what.kind());
    sink.write_varint(varint::zigzag(i64::from(slot) - i64::from(*slot_before)));
    *slot_before = slot;
    match what {
        What::Spawn(spawn) => write_spawn(&spawn, &mut sink),
        What::Parent(parent) => sink.write_varint(parent.map_or(0, |parent| u64::from(parent) + 1)),
        What::Frame(profile, origin) => {
            sink.write_u8(profile as u8);
            origin.write(&mut sink);
        }
        What::Assignment(owner, team) => write_assignment(owner, team, 0, &mut sink),
        What::Tuning { priority, relevance_radius } => {
            sink.write_f32(priority);
            sink.write_f32(relevance_radius);
        }
        What::Content { field, content } => {
            sink.write_u8(field);
            sink.write_blob(content, content.len());
        }
        What::Despawn | What::Jump | What::Touch | What::Words => {}
    }
}

/// Reads a record.
pub(crate) fn read<'a>(reader: &mut ByteReader<'a>, slot_before: &mut u32) -> Result<Record<'a>, Damage> {
    let kind = reader.read_u8()?;
    if kind == kind::TICK_END {
        return Ok(Record::TickEnd);
    }
    let distance = varint::unzigzag(reader.read_varint()?);
    let slot = i64::from(*slot_before).checked_add(distance).and_then(|slot| u32::try_from(slot).ok());
    let slot = slot.ok_or(ReadError::OutOfRange)?;
    *slot_before = slot;
    let what = match kind {
        kind::SPAWN => What::Spawn(read_spawn(reader)?),
        kind::DESPAWN => What::Despawn,
        kind::PARENT => {
            What::Parent(reader.read_varint_up_to(u32::MAX.into())?.checked_sub(1).map(|slot| slot as u32))
        }
        kind::FRAME => What::Frame(read_profile(reader)?, SectorOrigin::read(reader)?),
        kind::ASSIGNMENT => {
            let has = read_has(reader, HAS_OWNER | HAS_TEAM)?;
            let (owner, team) = read_assignment(has, reader)?;
            What::Assignment(owner, team)
        }
        kind::TUNING => What::Tuning { priority: reader.read_f32()?, relevance_radius: reader.read_f32()? },
        kind::JUMP => What::Jump,
        kind::TOUCH => What::Touch,
        kind::WORDS => What::Words,
        kind::CONTENT => {
            What::Content { field: reader.read_u8()?, content: reader.read_blob(RELIABLE_BYTES_MAX.into())? }
        }
        other => return Err(Damage::UnknownRecord(other)),
    };
    Ok(Record::Of(slot, what))
}

/// Appends which of `words` differ from those before, and by how much; `mask` may name more of them.
pub(crate) fn write_words(out: &mut Vec<u8>, before: &[i32], words: &[i32], mask: u128) {
    let mut sink = Tail(out);
    for first in (0..words.len()).step_by(64) {
        sink.write_varint((mask >> first) as u64);
    }
    for (place, (word, before)) in words.iter().zip(before).enumerate() {
        if mask >> place & 1 != 0 {
            sink.write_varint(varint::zigzag(word.wrapping_sub(*before).into()));
        }
    }
}

/// Reads differences into `words`, and which of them were named.
pub(crate) fn read_words(reader: &mut ByteReader<'_>, words: &mut [i32]) -> Result<u128, ReadError> {
    let mut mask = 0u128;
    for first in (0..words.len()).step_by(64) {
        mask |= u128::from(reader.read_varint()?) << first;
    }
    if mask.checked_shr(words.len() as u32).unwrap_or(0) != 0 {
        return Err(ReadError::ReservedBits);
    }
    for (place, word) in words.iter_mut().enumerate() {
        if mask >> place & 1 != 0 {
            let difference = varint::unzigzag(reader.read_varint_up_to(u32::MAX.into())?);
            *word = word.wrapping_add(difference as i32);
        }
    }
    Ok(mask)
}

fn write_spawn(spawn: &Spawn, sink: &mut impl ByteSink) {
    let Spawn { id, class, owner, team, profile, origin, priority, relevance_radius, kind_weight } = *spawn;
    sink.write_varint(id.0);
    sink.write_u8(class.0);
    sink.write_u8(profile.unwrap_or_default() as u8);
    let has_origin = origin != SectorOrigin::default();
    write_assignment(owner, team, if has_origin { HAS_ORIGIN } else { 0 }, sink);
    if has_origin {
        origin.write(sink);
    }
    [priority, relevance_radius, kind_weight].into_iter().for_each(|value| sink.write_f32(value));
}

fn read_spawn(reader: &mut ByteReader<'_>) -> Result<Spawn, ReadError> {
    let id = ObjectId(reader.read_varint()?);
    let class = ClassId(reader.read_u8()?);
    let profile = Some(read_profile(reader)?);
    let has = read_has(reader, HAS_OWNER | HAS_TEAM | HAS_ORIGIN)?;
    let (owner, team) = read_assignment(has, reader)?;
    let origin = if has & HAS_ORIGIN != 0 { SectorOrigin::read(reader)? } else { SectorOrigin::default() };
    let [priority, relevance_radius, kind_weight] =
        [reader.read_f32()?, reader.read_f32()?, reader.read_f32()?];
    Ok(Spawn { id, class, owner, team, profile, origin, priority, relevance_radius, kind_weight })
}

fn write_assignment(owner: Option<OwnerId>, team: Option<TeamId>, has_more: u8, sink: &mut impl ByteSink) {
    let has_owner = if owner.is_some() { HAS_OWNER } else { 0 };
    let has_team = if team.is_some() { HAS_TEAM } else { 0 };
    sink.write_u8(has_owner | has_team | has_more);
    if let Some(OwnerId(owner)) = owner {
        sink.write_varint(owner.into());
    }
    if let Some(TeamId(team)) = team {
        sink.write_u16(team);
    }
}

fn read_assignment(
    has: u8,
    reader: &mut ByteReader<'_>,
) -> Result<(Option<OwnerId>, Option<TeamId>), ReadError> {
    let owner = match has & HAS_OWNER {
        0 => None,
        _ => Some(OwnerId(reader.read_varint_up_to(u32::MAX.into())? as u32)),
    };
    let team = if has & HAS_TEAM != 0 { Some(TeamId(reader.read_u16()?)) } else { None };
    Ok((owner, team))
}

fn read_has(reader: &mut ByteReader<'_>, known: u8) -> Result<u8, ReadError> {
    let has = reader.read_u8()?;
    if has & !known == 0 { Ok(has) } else { Err(ReadError::ReservedBits) }
}

fn read_profile(reader: &mut ByteReader<'_>) -> Result<Profile, ReadError> {
    let profile = reader.read_u8()?;
    Profile::ALL.get(usize::from(profile)).copied().ok_or(ReadError::OutOfRange)
}
