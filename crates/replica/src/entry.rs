//! The full entry of an object: everything a peer must know to hold it, without any baseline.
//!
//! ```text
//!   class u8 │ bits u8 │ [parent slot u16] │ [origin, 25 bytes] │ record: 6-byte header, position, rotation, properties
//!   │ [jump age varint]
//! ```
//!
//! An entry is sent when an object enters a peer's sight, when the meaning of its words changes (another profile, another
//! sector origin, another parent), and when no baseline is left. Both sides then start from the same words: an entry
//! holds every field that its receiver sees and no other, so that no word is left to guess. Fields that are delivered
//! reliably are no part of it.
//!
//! If the object jumped since its receiver was first told of it, the record is marked as a teleport and how many ticks ago that
//! was follows: whatever the receiver holds of it, it knows whether that was before.

use netloom_wire::quantize::Rotation;
use netloom_wire::record::RECORD_BYTES_MAX;
use netloom_wire::schema::{Array, Audience, FieldKind, PropertyReader, Value, write_properties};
use netloom_wire::{
    Alias, ByteReader, ByteSink, ByteWriter, Name, NameRegistry, Profile, ReadError, Record, SectorOrigin,
    Sequence8, WriteError,
};

use crate::class::{Class, ClassId, FieldWords};
use crate::codec::Blobs;
use crate::limits::WORDS_MAX;
use crate::snapshot::check_slot;
use crate::world::ClassTable;

/// The largest entry.
pub const ENTRY_BYTES_MAX: usize = 2 + 2 + 25 + RECORD_BYTES_MAX + 5;

/// The oldest jump that is told, in ticks: half of those that count as older. Nobody holds a state from before that.
pub const JUMP_AGE_MAX: u32 = 1 << 30;

const OWNED: u8 = 1;
const TEAM: u8 = 2;
const ATTACHED: u8 = 4;
const ORIGIN: u8 = 8;

/// What an entry says besides the words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The object on this connection.
    pub alias: Alias,
    /// The kind of object, by its number.
    pub class: u8,
    /// What the receiver is to it.
    pub audience: Audience,
    /// The slot of the object that it is attached to.
    pub parent: Option<u16>,
    /// How its transform is quantized.
    pub profile: Profile,
    /// What its position is relative to.
    pub origin: SectorOrigin,
    /// How many ticks ago it jumped, if it did since it was first told: at most [`JUMP_AGE_MAX`].
    pub jump_age: Option<u32>,
}

/// Writes an entry with the fields that its audience may see; returns its length.
pub fn write_entry(
    entry: &Entry,
    class: &Class,
    words: &[i32],
    blobs: &impl Blobs,
    sequence: Sequence8,
    out: &mut [u8],
) -> Result<usize, WriteError> {
    let mut writer = ByteWriter::new(out);
    writer.write_u8(entry.class);
    let has_origin = entry.profile.uses_origin() && entry.origin != SectorOrigin::default();
    let bits = match entry.audience {
        Audience::Owner => OWNED,
        Audience::Team => TEAM,
        Audience::Public => 0,
    };
    let attached = if entry.parent.is_some() { ATTACHED } else { 0 };
    writer.write_u8(bits | attached | if has_origin { ORIGIN } else { 0 });
    if let Some(parent) = entry.parent {
        writer.write_u16(parent);
    }
    if has_origin {
        entry.origin.write(&mut writer);
    }
    let start = writer.finish()?;

    let visible = class.visible(entry.audience);
    #[cfg(netloom_mutations)]
    let visible = match crate::mutation::is(crate::mutation::Mutation::OwnerFieldsToAll) {
        true => class.visible(Audience::Owner),
        false => visible,
    };
    let mut properties = [0; RECORD_BYTES_MAX];
    let block = write_block(class, visible, words, blobs, &mut properties)?;
    let field = |first: Option<usize>| first.filter(|&first| visible & transform_bit(class, first) != 0);
    let jump_age = entry.jump_age.filter(|_| field(class.position()).is_some());
    let record = Record {
        alias: entry.alias,
        profile: entry.profile,
        origin_version: if entry.profile.uses_origin() { entry.origin.version() } else { Default::default() },
        sequence,
        teleport: jump_age.is_some(),
        position: field(class.position()).map(|first| triple(&words[first..])),
        rotation: field(class.rotation()).map(|first| rotation(&words[first..], entry.profile)),
        properties: (block > 0).then_some(&properties[..block]),
        ..Record::default()
    };
    let end = start + record.encode(out.get_mut(start..).unwrap_or_default())?;
    let mut writer = ByteWriter::new(out.get_mut(end..).unwrap_or_default());
    match jump_age {
        Some(age) if age > JUMP_AGE_MAX => return Err(WriteError::OutOfRange),
        Some(age) => writer.write_varint(age.into()),
        None => {}
    }
    Ok(end + writer.finish()?)
}

/// Reads an entry: what it says, its words, and how many bytes it took. Contents of texts, bytes and arrays go to `blob`.
pub fn read_entry(
    bytes: &[u8],
    classes: &ClassTable,
    words: &mut [i32; WORDS_MAX],
    mut blob: impl FnMut(usize, &[u8]),
) -> Result<(Entry, usize), ReadError> {
    let mut reader = ByteReader::new(bytes);
    let number = reader.read_u8()?;
    let class = classes.class(ClassId(number), Profile::default()).ok_or(ReadError::OutOfRange)?;
    let bits = reader.read_u8()?;
    if bits & !(OWNED | TEAM | ATTACHED | ORIGIN) != 0 || bits & (OWNED | TEAM) == OWNED | TEAM {
        return Err(ReadError::ReservedBits);
    }
    let parent = if bits & ATTACHED != 0 { Some(reader.read_u16()?) } else { None };
    let origin = if bits & ORIGIN != 0 { SectorOrigin::read(&mut reader)? } else { SectorOrigin::default() };
    let start = reader.position();
    let (record, length) = Record::decode(bytes.get(start..).unwrap_or_default())?;
    check_slot(record.alias.slot)?;
    parent.map_or(Ok(()), check_slot)?;
    let has_idle_origin = bits & ORIGIN != 0 && !record.profile.uses_origin();
    let has_fields_of_no_entry = record.scale.is_some() || record.velocity.is_some();
    if record.origin_version != origin.version() || has_idle_origin || has_fields_of_no_entry {
        return Err(ReadError::InvalidFlags);
    }
    let audience = match bits & (OWNED | TEAM) {
        OWNED => Audience::Owner,
        TEAM => Audience::Team,
        _ => Audience::Public,
    };
    words.fill(0);
    let mut told = store_transform(class, &record, words)?;
    if let Some(block) = record.properties {
        let mut properties = PropertyReader::new(class.schema(), ByteReader::new(block))?;
        while let Some((index, value)) = properties.poll_property()? {
            let field = class.fields().get(index).filter(|field| field.count > 0);
            let field = field.ok_or(ReadError::InvalidField)?;
            store(field, index, value, words, &mut blob)?;
            told |= 1 << index;
        }
        properties.into_reader().finish()?;
    }
    if told != class.visible(audience) {
        return Err(ReadError::InvalidField);
    }
    let end = start + length;
    let mut after = ByteReader::new(bytes.get(end..).unwrap_or_default());
    let jump_age = match record.teleport {
        true => Some(after.read_varint_up_to(JUMP_AGE_MAX.into())? as u32),
        false => None,
    };
    let entry = Entry {
        alias: record.alias,
        class: number,
        audience,
        parent,
        profile: record.profile,
        origin,
        jump_age,
    };
    Ok((entry, end + after.position()))
}

/// The value of a field, from its words and its content.
pub fn value_of<'a>(field: &FieldWords, words: &[i32], profile: Profile, content: &'a [u8]) -> Value<'a> {
    let own = &words[field.first..field.first + field.count];
    match field.kind {
        FieldKind::Bool => Value::Bool(own[0] != 0),
        FieldKind::Int(_) | FieldKind::Quantized(_) => Value::Word(own[0]),
        FieldKind::F32 => Value::F32(f32::from_bits(own[0] as u32)),
        FieldKind::U64 => Value::U64(wide(own)),
        FieldKind::Name => Value::Name(Name(wide(own))),
        FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_) => Value::Triple(triple(own)),
        FieldKind::Rotation(_) => Value::Rotation(rotation(own, profile)),
        FieldKind::Text { .. } => Value::Text(std::str::from_utf8(content).unwrap_or_default()),
        FieldKind::Bytes { .. } => Value::Bytes(content),
        FieldKind::Array { element, .. } => {
            field.kind.read_content(content).unwrap_or(Value::Array(Array::empty(element)))
        }
    }
}

fn write_block(
    class: &Class,
    visible: u64,
    words: &[i32],
    blobs: &impl Blobs,
    out: &mut [u8],
) -> Result<usize, WriteError> {
    let mut values = [(0, Value::Bool(false)); 64];
    let mut count = 0;
    for (index, field) in class.fields().iter().enumerate() {
        let in_record = matches!(field.kind, FieldKind::Position(_) | FieldKind::Rotation(_));
        if !in_record && visible >> index & 1 != 0 {
            values[count] = (index, value_of(field, words, Profile::default(), blobs.blob(index)));
            count += 1;
        }
    }
    if count == 0 {
        return Ok(0);
    }
    let mut writer = ByteWriter::new(out);
    write_properties(class.schema(), &values[..count], &NameRegistry::new(0), &mut writer);
    writer.finish()
}

/// Stores position and rotation, and returns which fields they are, a bit each.
fn store_transform(
    class: &Class,
    record: &Record<'_>,
    words: &mut [i32; WORDS_MAX],
) -> Result<u64, ReadError> {
    let mut told = 0;
    if let Some(position) = record.position {
        let first = class.position().ok_or(ReadError::InvalidField)?;
        words[first..first + 3].copy_from_slice(&position.words);
        words[first + 3] = position.raw.into();
        told |= transform_bit(class, first);
    }
    if let Some(rotation) = record.rotation {
        let first = class.rotation().ok_or(ReadError::InvalidField)?;
        words[first..first + 4].copy_from_slice(&rotation_words(rotation));
        told |= transform_bit(class, first);
    }
    Ok(told)
}

fn store(
    field: &FieldWords,
    index: usize,
    value: Value<'_>,
    words: &mut [i32],
    blob: &mut impl FnMut(usize, &[u8]),
) -> Result<(), ReadError> {
    let own = &mut words[field.first..field.first + field.count];
    match value {
        Value::Bool(value) => own[0] = value.into(),
        Value::Word(word) => own[0] = word,
        Value::F32(value) => own[0] = value.to_bits() as i32,
        Value::U64(value) => set_wide(own, value),
        Value::Name(name) => set_wide(own, name.0),
        Value::Triple(triple) if !matches!(field.kind, FieldKind::Position(_)) => {
            own[..3].copy_from_slice(&triple.words);
            own[3] = triple.raw.into();
        }
        // They are in the record, in the profile of the object.
        Value::Triple(_) | Value::Rotation(_) => return Err(ReadError::InvalidField),
        Value::Text(_) | Value::Bytes(_) | Value::Array(_) => {
            blob(index, value.content().unwrap_or_default());
        }
    }
    Ok(())
}

/// The bit of the position or rotation whose words begin at `first`.
fn transform_bit(class: &Class, first: usize) -> u64 {
    let index = class.fields().iter().position(|field| field.first == first && field.count == 4);
    index.map_or(0, |index| 1 << index)
}

pub(crate) fn triple(words: &[i32]) -> netloom_wire::quantize::Words3 {
    netloom_wire::quantize::Words3 { words: [words[0], words[1], words[2]], raw: words[3] != 0 }
}

pub(crate) fn rotation(words: &[i32], profile: Profile) -> Rotation {
    match profile.rotation_width() {
        Some(_) => Rotation::SmallestThree {
            largest: words[0] as u8 & 3,
            steps: [words[1] as i16, words[2] as i16, words[3] as i16],
        },
        None => {
            Rotation::Raw([words[0], words[1], words[2], words[3]].map(|word| f32::from_bits(word as u32)))
        }
    }
}

/// The four words of a rotation.
pub fn rotation_words(rotation: Rotation) -> [i32; 4] {
    match rotation {
        Rotation::SmallestThree { largest, steps } => {
            [largest.into(), steps[0].into(), steps[1].into(), steps[2].into()]
        }
        Rotation::Raw(quaternion) => quaternion.map(|component| component.to_bits() as i32),
    }
}

fn wide(words: &[i32]) -> u64 {
    u64::from(words[0] as u32) | u64::from(words[1] as u32) << 32
}

fn set_wide(words: &mut [i32], value: u64) {
    words[0] = value as i32;
    words[1] = (value >> 32) as i32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::Schema;
    use netloom_wire::quantize::{WordRange, Words3};
    use netloom_wire::schema::{Delivery, Field, SyncFlags};

    struct Full;

    impl Blobs for Full {
        fn blob(&self, field: usize) -> &[u8] {
            if field == 2 { &[7; 512] } else { &[] }
        }
    }

    /// As many bytes as a class can have: 64 fields, 96 words, contents up to their limit, everything raw.
    #[test]
    fn the_longest_entry_fits_and_returns() {
        let public = SyncFlags::PUBLIC_SYNC;
        let mut builder = Schema::builder("everything")
            .field("position", FieldKind::Position(Profile::High), public, 255)
            .field("rotation", FieldKind::Rotation(Profile::None), public, 254)
            .field("content", FieldKind::Bytes { bytes_max: 512 }, public, 253);
        for number in 0..61 {
            let kind = if number < 26 { FieldKind::U64 } else { FieldKind::Int(WordRange::ALL) };
            builder = builder.field(&format!("field{number}"), kind, public, 9);
        }
        let class = Class::new(builder.build().unwrap()).unwrap();
        assert_eq!((class.word_count(), class.fields().len()), (WORDS_MAX, 64));
        let table = ClassTable::new(vec![class]).unwrap();
        let class = table.class(ClassId(0), Profile::None).unwrap();
        let mut words = [i32::MAX; WORDS_MAX];
        words[..3].copy_from_slice(&Words3::raw([1.0, 2.0, 3.0]).words);
        words[3] = 1;
        words[4..8].copy_from_slice(&rotation_words(Rotation::Raw([0.0, 0.6, 0.0, 0.8])));
        words[8] = 0;
        let entry = Entry {
            alias: Alias { slot: 1, generation: 2 },
            class: 0,
            audience: Audience::Owner,
            parent: Some(3),
            profile: Profile::None,
            origin: SectorOrigin::default(),
            jump_age: Some(JUMP_AGE_MAX),
        };
        let mut out = [0; ENTRY_BYTES_MAX];
        let length = write_entry(&entry, class, &words, &Full, Sequence8(0), &mut out).unwrap();
        let mut read = [0; WORDS_MAX];
        let mut contents = Vec::new();
        let keep = |field, content: &[u8]| contents.push((field, content.to_vec()));
        assert_eq!(read_entry(&out[..length], &table, &mut read, keep), Ok((entry, length)));
        assert_eq!((read, contents), (words, vec![(2, vec![7; 512])]));
    }

    #[test]
    fn a_reliable_field_is_no_part_of_an_entry() {
        let text = FieldKind::Text { bytes_max: 9 };
        let table = |delivery| {
            let field = Field::new("log", text, SyncFlags::PUBLIC_SYNC, 2).delivered(delivery);
            let schema =
                Schema::builder("thing").with(field).field("on", FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 1);
            ClassTable::new(vec![Class::new(schema.build().unwrap()).unwrap()]).unwrap()
        };
        let (latest, reliable) = (table(Delivery::Latest), table(Delivery::Reliable));
        let entry = Entry {
            alias: Alias { slot: 1, generation: 2 },
            class: 0,
            audience: Audience::Public,
            parent: None,
            profile: Profile::Standard,
            origin: SectorOrigin::default(),
            jump_age: None,
        };
        let written = |table: &ClassTable| {
            let class = table.class(ClassId(0), Profile::Standard).unwrap();
            let mut out = vec![0; ENTRY_BYTES_MAX];
            let length = write_entry(&entry, class, &[1; WORDS_MAX], &(), Sequence8(0), &mut out).unwrap();
            out.truncate(length);
            out
        };
        let read =
            |table: &ClassTable, bytes: &[u8]| read_entry(bytes, table, &mut [0; WORDS_MAX], |_, _| {});
        assert_eq!(written(&latest).len(), written(&reliable).len() + 2, "an index and an empty text");
        assert!(read(&reliable, &written(&reliable)).is_ok());
        assert_eq!(read(&reliable, &written(&latest)), Err(ReadError::InvalidField));
    }

    /// A word that an entry leaves out would be none of its field: a health of 5 to 105 is not 0.
    #[test]
    fn an_entry_with_more_or_less_than_its_receiver_sees_is_refused() {
        let int = |min| FieldKind::int(min, 105).unwrap();
        let builder = Schema::builder("thing")
            .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 9)
            .field("health", int(5), SyncFlags::PUBLIC_SYNC, 8)
            .field("ammo", int(1), SyncFlags::OWNER_SYNC, 7);
        let table = ClassTable::new(vec![Class::new(builder.build().unwrap()).unwrap()]).unwrap();
        let transform = |mask: u8, profile: u8| vec![0, 0, 1, 0, 2, mask, profile, 0];
        let position = [1, 0, 2, 0, 3, 0];
        let entry = |mask: u8, block: &[u8]| {
            let block = [&[block.len() as u8][..], block].concat();
            [transform(mask, 0), position.to_vec(), block].concat()
        };
        let read = |bytes: &[u8]| read_entry(bytes, &table, &mut [0; WORDS_MAX], |_, _| {}).map(|_| ());
        assert_eq!(read(&entry(0b1001, &[1, 1, 20])), Ok(()));
        let missing = entry(0b1001, &[0]);
        let hidden = entry(0b1001, &[2, 1, 20, 2, 3]);
        let twice = entry(0b1001, &[2, 0, 0, 1, 0, 2, 0, 3, 0, 1, 20]);
        let nowhere = [transform(0b1000, 0), vec![3, 1, 1, 20]].concat();
        for bytes in [missing, hidden, twice, nowhere] {
            assert_eq!(read(&bytes), Err(ReadError::InvalidField), "{bytes:?}");
        }
        let mut owned = entry(0b1001, &[2, 1, 20, 2, 3]);
        owned[1] = OWNED;
        assert_eq!(read(&owned), Ok(()));
        let with_scale = [transform(0b1101, 0), position.to_vec(), vec![9, 9, 9], vec![3, 1, 1, 20]].concat();
        assert_eq!(read(&with_scale), Err(ReadError::InvalidFlags));
        let mut idle_origin = vec![0, ORIGIN];
        idle_origin.extend([0; 25]);
        idle_origin.extend([1, 0, 2, 0b1001, 2, 0]);
        idle_origin.extend(position.iter().chain(&[3, 1, 1, 20]));
        assert_eq!(read(&idle_origin), Err(ReadError::InvalidFlags));
    }
}
