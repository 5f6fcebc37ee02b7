//! What an object's properties are, agreed by both ends before the first byte.
//!
//! A sender and a receiver that disagree about one field's width read garbage from there on. So the fields of a kind of
//! object stand in one table, built once, with a hash over its canonical form; the handshake compares the hashes and
//! nothing is ever decoded with another table than it was encoded with.
//!
//! The table also decides who sees a field and who may write it ([`SyncFlags`]), and whether the newest value of a text,
//! byte run or array is enough or every one must arrive ([`Delivery`]). Its order is the order on the wire: hottest
//! first, so that a changed mask of the usual changes is short.
//!
//! A table that forgets a field is the classic mistake. [`schema_for!`](crate::schema_for) builds the table of a struct
//! and does not compile unless every field is listed:
//!
//! ```
//! use netloom_wire::schema::{Delivery, ElementKind, FieldKind, SyncFlags};
//!
//! struct Player { health: f32, score: i32, items: Vec<u64>, diary: String }
//!
//! let items = FieldKind::Array { element: ElementKind::Name, count_max: 20 };
//! let schema = netloom_wire::schema_for!(Player {
//!     health: FieldKind::quantized(0.0, 100.0, 1)?, SyncFlags::PUBLIC_SYNC, 200;
//!     score: FieldKind::int(0, 1_000_000)?, SyncFlags::OWNER_SYNC, 10;
//!     items: items, SyncFlags::OWNER_SYNC, 5;
//!     diary: FieldKind::Text { bytes_max: 10_000 }, SyncFlags::OWNER_SYNC, 1, Delivery::Reliable;
//! })?;
//! assert_eq!(schema.index_of("health"), Some(0));
//! # let Player { health: _, score: _, items: _, diary: _ } =
//! #     (Player { health: 1.0, score: 2, items: vec![], diary: String::new() });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```compile_fail,E0027
//! use netloom_wire::schema::{FieldKind, SyncFlags};
//!
//! struct Player { health: f32, score: i32 }
//!
//! let schema = netloom_wire::schema_for!(Player {
//!     health: FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 200;
//! });
//! ```

mod array;
mod bit_value;
mod canonical;
mod delivery;
mod flags;
mod kind;
mod property;

pub use array::{Array, ArrayReader, ArrayWriter, ElementKind};
pub use delivery::Delivery;
pub use flags::{Audience, FlagsError, SyncFlags, Writer};
pub use kind::{BLOB_BYTES_MAX, BitWidth, FieldKind, RELIABLE_BYTES_MAX, Value};
pub use property::{PropertyReader, write_properties};

use crate::delta::mask::FIELDS_MAX;
use crate::error::ReadError;
use crate::hash::fnv1a_64;
use canonical::canonical_bytes;

/// The longest name of a schema or field, in bytes of UTF-8.
pub const FIELD_NAME_BYTES_MAX: usize = 64;

/// One property of a kind of object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: Box<str>,
    kind: FieldKind,
    flags: SyncFlags,
    hotness: u8,
    delivery: Delivery,
}

impl Field {
    /// A field that rides in snapshots.
    pub fn new(name: &str, kind: FieldKind, flags: SyncFlags, hotness: u8) -> Field {
        Field { name: name.into(), kind, flags, hotness, delivery: Delivery::default() }
    }

    /// The same field, delivered in another way; only fields of variable length have the choice.
    #[must_use]
    pub fn delivered(self, delivery: Delivery) -> Field {
        Field { delivery, ..self }
    }

    /// The same field with values of another kind.
    #[must_use]
    pub fn with_kind(self, kind: FieldKind) -> Field {
        Field { kind, ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What values it takes.
    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    /// Who sees it and who may write it.
    pub fn flags(&self) -> SyncFlags {
        self.flags
    }

    /// How often it changes compared with others; larger comes first on the wire.
    pub fn hotness(&self) -> u8 {
        self.hotness
    }

    /// How it reaches those who see it.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }
}

/// The fields of a kind of object, hottest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    name: Box<str>,
    fields: Vec<Field>,
    hash: u64,
}

impl Schema {
    /// Begins a schema.
    pub fn builder(name: &str) -> SchemaBuilder {
        SchemaBuilder { name: name.into(), fields: Vec::new() }
    }

    /// What the kind of object is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields in the order of their indexes.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many fields there are: 1 to 64.
    pub fn field_count(&self) -> u32 {
        self.fields.len() as u32
    }

    /// The field with this index.
    pub fn field(&self, index: usize) -> Option<&Field> {
        self.fields.get(index)
    }

    /// The index of the field with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| &*field.name == name)
    }

    /// The fields that `audience` may see, as a changed mask.
    pub fn visible_mask(&self, audience: Audience) -> u64 {
        let visible = |(index, field): (usize, &Field)| u64::from(field.flags.reaches(audience)) << index;
        self.fields.iter().enumerate().map(visible).sum()
    }

    /// FNV-1a 64 of the canonical form: equal on both ends if and, but for collisions, only if the tables are equal.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The bytes that are hashed.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        canonical_bytes(&self.name, &self.fields)
    }

    /// The schema of [canonical bytes](Schema::canonical_bytes), whoever wrote them. How hot fields are is not told, only
    /// their order; the hash is the same.
    pub fn from_canonical(bytes: &[u8]) -> Result<Schema, SchemaError> {
        canonical::read_schema(bytes)
    }
}

/// Collects the fields of a [`Schema`].
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    name: Box<str>,
    fields: Vec<Field>,
}

impl SchemaBuilder {
    /// Adds a field that rides in snapshots. Of two equally hot fields the one added first comes first.
    #[must_use]
    pub fn field(self, name: &str, kind: FieldKind, flags: SyncFlags, hotness: u8) -> SchemaBuilder {
        self.with(Field::new(name, kind, flags, hotness))
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, field: Field) -> SchemaBuilder {
        self.fields.push(field);
        self
    }

    /// The schema, or the first mistake in it.
    pub fn build(self) -> Result<Schema, SchemaError> {
        let SchemaBuilder { name, mut fields } = self;
        check_name(&name)?;
        if fields.is_empty() || fields.len() > FIELDS_MAX as usize {
            return Err(SchemaError::FieldCount { count: fields.len() });
        }
        for field in &mut fields {
            check_name(&field.name)?;
            check_kind(field)?;
            field.flags = field
                .flags
                .validated()
                .map_err(|source| SchemaError::Flags { field: field.name.to_string(), source })?;
        }
        let mut names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SchemaError::DuplicateField { field: pair[0].to_owned() });
        }
        fields.sort_by_key(|field| core::cmp::Reverse(field.hotness));
        let hash = fnv1a_64(&canonical_bytes(&name, &fields));
        Ok(Schema { name, fields, hash })
    }
}

fn check_name(name: &str) -> Result<(), SchemaError> {
    match (1..=FIELD_NAME_BYTES_MAX).contains(&name.len()) {
        true => Ok(()),
        false => Err(SchemaError::NameLength { name: name.to_owned() }),
    }
}

fn check_kind(field: &Field) -> Result<(), SchemaError> {
    let name = || field.name.to_string();
    let limit = field.delivery.content_bytes_max();
    match (field.kind, field.kind.content_bytes_max()) {
        (kind, _) if kind.bit_width().max() == 0 => Err(SchemaError::ZeroWidth { field: name() }),
        (FieldKind::Array { element, .. }, _) if element.bit_width() == 0 => {
            Err(SchemaError::ZeroWidth { field: name() })
        }
        (_, Some(bytes)) if bytes > usize::from(limit) => {
            Err(SchemaError::BlobLimit { field: name(), bytes, limit, delivery: field.delivery })
        }
        (_, None) if field.delivery == Delivery::Reliable => {
            Err(SchemaError::ReliableFixedSize { field: name() })
        }
        _ => Ok(()),
    }
}

/// Why a schema cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A schema or field has no name or too long a one.
    #[error("\"{name}\" has {} bytes, a name has 1 to {FIELD_NAME_BYTES_MAX}", name.len())]
    NameLength {
        /// The name.
        name: String,
    },
    /// There are no fields, or more than a changed mask has bits.
    #[error("the schema has {count} fields, allowed are 1 to {FIELDS_MAX}")]
    FieldCount {
        /// How many there are.
        count: usize,
    },
    /// Two fields have the same name.
    #[error("field \"{field}\" is listed twice")]
    DuplicateField {
        /// The name.
        field: String,
    },
    /// A field has a single possible value and carries no information.
    #[error("field \"{field}\" can take a single value only: widen its range or leave it out")]
    ZeroWidth {
        /// The field.
        field: String,
    },
    /// A string, byte or array field is too long for the way in which it is delivered.
    #[error(
        "field \"{field}\" takes up to {bytes} bytes, delivered as {delivery:?} it may take 1 to {limit}"
    )]
    BlobLimit {
        /// The field.
        field: String,
        /// The longest content of its kind.
        bytes: usize,
        /// The longest content that may be.
        limit: u16,
        /// How it is delivered.
        delivery: Delivery,
    },
    /// A field of fixed size was to be delivered reliably.
    #[error("field \"{field}\" has a fixed size: only texts, bytes and arrays can be delivered reliably")]
    ReliableFixedSize {
        /// The field.
        field: String,
    },
    /// The sync flags of a field contradict each other.
    #[error("field \"{field}\": {source}")]
    Flags {
        /// The field.
        field: String,
        /// The contradiction.
        source: FlagsError,
    },
    /// Bytes that were to be a schema are none.
    #[error("the bytes are no schema: {0}")]
    Canonical(#[from] ReadError),
}

/// Builds the [`Schema`] of a struct, and does not compile unless every field of the struct is listed.
///
/// Each line is `field: kind, flags, hotness;` or `field: kind, flags, hotness, delivery;`. The value is a
/// `Result<Schema, SchemaError>`.
#[macro_export]
macro_rules! schema_for {
    ($type:ident { $($field:ident: $kind:expr, $flags:expr, $hotness:expr $(, $delivery:expr)?;)+ }) => {{
        #[allow(dead_code)]
        fn every_field_is_listed(value: &$type) {
            let $type { $($field: _),+ } = value;
        }
        $crate::schema::Schema::builder(stringify!($type))
            $(.with(
                $crate::schema::Field::new(stringify!($field), $kind, $flags, $hotness)
                    $(.delivered($delivery))?
            ))+
            .build()
    }};
}

#[cfg(test)]
mod tests;
