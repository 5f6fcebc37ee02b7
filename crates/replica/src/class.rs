//! Kinds of objects, and how the fields of one become words.
//!
//! A schema says what fields a kind of object has. Replication keeps the state of every object as a row of integer
//! words, because words can be compared, subtracted and predicted exactly on both sides. The layout says which words
//! belong to which field:
//!
//! | kind of field | words |
//! |---|---|
//! | bool, integer, quantized float | 1: the value |
//! | single | 1: its bits |
//! | 64-bit integer, name | 2: low, high |
//! | position, scale, velocity | 4: x, y, z, and 1 if they are the bits of singles |
//! | rotation, quantized | 4: which component was dropped, and the steps of the others |
//! | rotation, raw | 4: the bits of x, y, z, w |
//! | text, bytes, array | 1: a number that moves with every change; the content lies elsewhere |
//! | the same, delivered reliably | none: its contents travel apart from snapshots, see [`property`](crate::property) |

use netloom_wire::quantize::{RotationWidth, WordRange};
use netloom_wire::schema::{Audience, Delivery, Field, FieldKind};
use netloom_wire::{Profile, Schema};

use crate::limits::{CLASSES_MAX, LATEST_CONTENT_BYTES_MAX, WORDS_MAX};

/// A kind of object, by its place in the list that both sides share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u8);

/// The words of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldWords {
    /// The kind of the field.
    pub kind: FieldKind,
    /// The first of its words.
    pub first: usize,
    /// How many it has.
    pub count: usize,
    /// What the first word may be; [`WordRange::ALL`] for kinds without a range.
    pub range: WordRange,
}

/// Where the four words of a position or rotation are, and what they mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<T> {
    /// The index of the field.
    pub field: u8,
    /// The first word.
    pub first: u8,
    /// The kind of the field.
    pub kind: FieldKind,
    /// How it is quantized; `None` if its words are the bits of singles.
    pub quantized: Option<T>,
}

/// How fine the words of a rotation are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Nine bits a component, none of them zero: see [`Class::with_nine_bit_rotation`].
    Nine,
    Ten,
    Fifteen,
}

impl Grain {
    /// Bits of one component.
    pub const fn component_bits(self) -> u32 {
        match self {
            Grain::Nine => 9,
            Grain::Ten => RotationWidth::Ten.component_bits(),
            Grain::Fifteen => RotationWidth::Fifteen.component_bits(),
        }
    }
}

impl From<RotationWidth> for Grain {
    fn from(width: RotationWidth) -> Grain {
        match width {
            RotationWidth::Ten => Grain::Ten,
            RotationWidth::Fifteen => Grain::Fifteen,
        }
    }
}

/// The fields of a class that move together and are coded together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transform {
    pub position: Option<Spot<WordRange>>,
    pub rotation: Option<Spot<Grain>>,
    /// A bit for each of the two fields.
    pub mask: u64,
}

/// A kind of object: its schema and where its words are.
#[derive(Clone, Debug)]
pub struct Class {
    schema: Schema,
    fields: Box<[FieldWords]>,
    word_count: usize,
    transform: Transform,
    visible: [u64; 3],
    reliable: [u64; 3],
}

/// Why a list of classes was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassError {
    /// A class has too many words.
    #[error("class {name} takes {words} words, at most {WORDS_MAX} are allowed: split it into two objects")]
    TooLarge {
        /// Its name.
        name: String,
        /// Its words.
        words: usize,
    },
    /// The contents that ride in snapshots are too long together.
    #[error(
        "class {name}: field {field} brings the contents that ride in snapshots to {bytes} bytes, allowed are 0 to \
         {LATEST_CONTENT_BYTES_MAX}: shorten it or deliver it reliably"
    )]
    ContentLimit {
        /// Its name.
        name: String,
        /// The field with which the limit is passed.
        field: String,
        /// The longest contents of the fields up to this one.
        bytes: usize,
    },
    /// Too many classes.
    #[error("{count} classes, at most {CLASSES_MAX} are allowed")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// A class has two positions or two rotations.
    #[error("class {name} has more than one field of kind {kind}: an object has one transform")]
    TwoTransforms {
        /// Its name.
        name: String,
        /// Which kind.
        kind: &'static str,
    },
}

impl Class {
    /// The class of a schema.
    pub fn new(schema: Schema) -> Result<Class, ClassError> {
        let mut fields = Vec::with_capacity(schema.fields().len());
        let mut word_count = 0;
        for field in schema.fields() {
            let kind = field.kind();
            let count = if field.delivery() == Delivery::Reliable { 0 } else { words_of(kind) };
            let range = kind.word_range().unwrap_or(WordRange::ALL);
            fields.push(FieldWords { kind, first: word_count, count, range });
            word_count += count;
        }
        if word_count > WORDS_MAX {
            return Err(ClassError::TooLarge { name: schema.name().to_owned(), words: word_count });
        }
        check_contents(&schema)?;
        let transform = Transform::of(&fields)
            .map_err(|kind| ClassError::TwoTransforms { name: schema.name().to_owned(), kind })?;
        let audiences = [Audience::Owner, Audience::Team, Audience::Public];
        let is_reliable =
            |(index, field): (usize, &Field)| u64::from(field.delivery() == Delivery::Reliable) << index;
        let reliable_mask: u64 = schema.fields().iter().enumerate().map(is_reliable).sum();
        let visible = audiences.map(|audience| schema.visible_mask(audience) & !reliable_mask);
        let reliable = audiences.map(|audience| schema.visible_mask(audience) & reliable_mask);
        Ok(Class { schema, fields: fields.into(), word_count, transform, visible, reliable })
    }

    /// The same for rotations that were quantized elsewhere to nine bits without a zero: a component is
    /// (2 · word + 1) / 511 of 1/√2, with words from -256 to 255. For the codec alone; a world quantizes by its profiles.
    /// A class without rotation of ten bits stays as it is.
    pub fn with_nine_bit_rotation(mut self) -> Class {
        if let Some(spot) = self.transform.rotation.as_mut().filter(|spot| spot.quantized == Some(Grain::Ten))
        {
            spot.quantized = Some(Grain::Nine);
        }
        self
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The words of its fields, in the order of the schema.
    pub fn fields(&self) -> &[FieldWords] {
        &self.fields
    }

    /// How many words an object has.
    pub fn word_count(&self) -> usize {
        self.word_count
    }

    /// The first word of the position: three components and the raw mark.
    pub fn position(&self) -> Option<usize> {
        self.transform.position.map(|spot| usize::from(spot.first))
    }

    /// The first word of the rotation: the dropped component and three steps.
    pub fn rotation(&self) -> Option<usize> {
        self.transform.rotation.map(|spot| usize::from(spot.first))
    }

    /// Position and rotation as the codec needs them.
    #[inline]
    pub(crate) fn transform(&self) -> &Transform {
        &self.transform
    }

    /// The fields that an audience receives in snapshots, a bit each.
    pub fn visible(&self, audience: Audience) -> u64 {
        self.visible[audience as usize]
    }

    /// The fields that an audience receives reliably, a bit each.
    pub fn reliable(&self, audience: Audience) -> u64 {
        self.reliable[audience as usize]
    }

    /// Whether anybody receives any field reliably.
    pub fn has_reliable(&self) -> bool {
        self.reliable.iter().any(|fields| *fields != 0)
    }
}

impl Transform {
    /// The transform among these fields, or the kind of which there are two.
    fn of(fields: &[FieldWords]) -> Result<Transform, &'static str> {
        let mut transform = Transform::default();
        for (index, words) in fields.iter().enumerate() {
            // Both fit: a schema has at most 64 fields, and a class at most WORDS_MAX words.
            let (field, first, kind) = (index as u8, words.first as u8, words.kind);
            match kind {
                FieldKind::Position(_) => {
                    let spot = Spot { field, first, kind, quantized: triple_range(kind) };
                    if transform.position.replace(spot).is_some() {
                        return Err("position");
                    }
                }
                FieldKind::Rotation(profile) => {
                    let spot =
                        Spot { field, first, kind, quantized: profile.rotation_width().map(Grain::from) };
                    if transform.rotation.replace(spot).is_some() {
                        return Err("rotation");
                    }
                }
                _ => continue,
            }
            transform.mask |= 1 << index;
        }
        Ok(transform)
    }
}

/// The words of a quantized triple; `None` if it is always raw, or if the kind is no triple.
pub(crate) fn triple_range(kind: FieldKind) -> Option<WordRange> {
    match kind {
        FieldKind::Position(Profile::None)
        | FieldKind::Scale(Profile::None)
        | FieldKind::Velocity(Profile::None) => None,
        FieldKind::Position(Profile::High) | FieldKind::Velocity(Profile::High) => {
            Some(WordRange::symmetric(i32::MAX))
        }
        FieldKind::Position(_) | FieldKind::Velocity(_) => Some(WordRange::symmetric(i32::from(i16::MAX))),
        FieldKind::Scale(_) => WordRange::new(1, 255).ok(),
        _ => None,
    }
}

/// Checks a list of classes and what both sides must share about it: the hash of all schemas in order.
pub fn classes_hash(classes: &[Class]) -> Result<u64, ClassError> {
    if classes.len() > CLASSES_MAX {
        return Err(ClassError::TooMany { count: classes.len() });
    }
    let bytes: Vec<u8> = classes.iter().flat_map(|class| class.schema.hash().to_le_bytes()).collect();
    Ok(netloom_wire::hash::fnv1a_64(&bytes))
}

/// Refuses contents that could make an entry or an update longer than what carries it.
fn check_contents(schema: &Schema) -> Result<(), ClassError> {
    let rides_in_snapshots =
        |field: &&Field| field.delivery() == Delivery::Latest && field.flags().reaches(Audience::Owner);
    let mut bytes = 0;
    for field in schema.fields().iter().filter(rides_in_snapshots) {
        bytes += field.kind().content_bytes_max().unwrap_or(0);
        if bytes > LATEST_CONTENT_BYTES_MAX {
            let (name, field) = (schema.name().to_owned(), field.name().to_owned());
            return Err(ClassError::ContentLimit { name, field, bytes });
        }
    }
    Ok(())
}

const _: () = assert!(WORDS_MAX <= 256, "a place among the words is a byte");

const fn words_of(kind: FieldKind) -> usize {
    match kind {
        FieldKind::Bool | FieldKind::Int(_) | FieldKind::Quantized(_) | FieldKind::F32 => 1,
        FieldKind::Text { .. } | FieldKind::Bytes { .. } | FieldKind::Array { .. } => 1,
        FieldKind::U64 | FieldKind::Name => 2,
        FieldKind::Position(_) | FieldKind::Scale(_) | FieldKind::Velocity(_) | FieldKind::Rotation(_) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::schema::{ElementKind, SyncFlags};

    #[test]
    fn words_follow_the_order_of_the_schema() {
        let schema = Schema::builder("ship")
            .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
            .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254)
            .field("health", FieldKind::int(0, 100).unwrap(), SyncFlags::PUBLIC_SYNC, 100)
            .field("ammo", FieldKind::int(0, 999).unwrap(), SyncFlags::OWNER_SYNC, 50)
            .build()
            .unwrap();
        let class = Class::new(schema).unwrap();
        assert_eq!((class.position(), class.rotation(), class.word_count()), (Some(0), Some(4), 10));
        assert_eq!(class.visible(Audience::Public).count_ones(), 3);
        assert_eq!(class.visible(Audience::Owner).count_ones(), 4);
    }

    #[test]
    fn two_positions_and_too_many_words_are_refused() {
        let place = |builder: netloom_wire::schema::SchemaBuilder, name: &str| {
            builder.field(name, FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 1)
        };
        let twice = place(place(Schema::builder("two"), "a"), "b").build().unwrap();
        assert!(matches!(Class::new(twice), Err(ClassError::TwoTransforms { kind: "position", .. })));
        let velocity = FieldKind::Velocity(Profile::Standard);
        let many = (0..25).fold(Schema::builder("many"), |builder, n| {
            builder.field(&format!("v{n}"), velocity, SyncFlags::PUBLIC_SYNC, 1)
        });
        assert!(matches!(Class::new(many.build().unwrap()), Err(ClassError::TooLarge { words: 100, .. })));
    }

    #[test]
    fn contents_of_snapshots_are_limited_together_and_reliable_ones_take_no_words() {
        let text = |bytes_max| FieldKind::Text { bytes_max };
        let class = |hidden: SyncFlags, last: Delivery| {
            let kind = FieldKind::Array { element: ElementKind::U64, count_max: 26 };
            let schema = Schema::builder("player")
                .field("name", text(300), SyncFlags::PUBLIC_SYNC, 9)
                .field("notes", text(400), hidden, 8)
                .with(Field::new("items", kind, SyncFlags::OWNER_SYNC, 7).delivered(last));
            Class::new(schema.build().unwrap())
        };
        let fits = class(SyncFlags::NO_SYNC, Delivery::Latest).unwrap();
        assert_eq!((fits.word_count(), fits.reliable(Audience::Owner)), (3, 0));
        let error = class(SyncFlags::OWNER_SYNC, Delivery::Latest).unwrap_err();
        assert_eq!(
            error.to_string(),
            "class player: field notes brings the contents that ride in snapshots to 700 bytes, allowed are 0 to 512: \
             shorten it or deliver it reliably"
        );
        let apart = class(SyncFlags::NO_SYNC, Delivery::Reliable).unwrap();
        assert_eq!((apart.word_count(), apart.fields()[2].count), (2, 0));
        assert_eq!((apart.visible(Audience::Owner), apart.reliable(Audience::Owner)), (0b001, 0b100));
        assert_eq!((apart.visible(Audience::Public), apart.reliable(Audience::Public)), (0b001, 0));
    }
}
