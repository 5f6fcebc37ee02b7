//! Plain structs as objects.
//!
//! A world keeps words by the number of their field, and a schema says what the words mean. Written by hand the two drift
//! apart: a field is added to the game's struct and forgotten in the schema, or a number is off by one after somebody
//! made a field hotter. With [`#[derive(Replicated)]`](derive@Replicated) the struct itself is the table:
//!
//! ```text
//!                      Tank { at, health, … }
//!                        │ T::write                       T::read ▲      the fields that this client is sent;
//!                        ▼                                        │      the others have their Default
//!   server   World ── words ──▶ snapshots ──▶ network ──▶ ClientObject
//!                        │ T::read_world
//!                        ▼
//!                      Tank, rounded as the wire rounds
//! ```
//!
//! The numbers of fields are computed when the struct is compiled, so that writing an object looks nothing up and
//! allocates nothing, and a struct that cannot be sent does not compile. What the schema is, who sees a field and how
//! finely it is sent are written beside the field; the [derive](derive@Replicated) lists the attributes.
//!
//! ```
//! use netloom_replica::world::{World, WorldConfig};
//! use netloom_session::replicated::{ClassOf, Replicated};
//! use netloom_wire::{ObjectId, Tick};
//!
//! #[derive(Replicated, Debug, PartialEq)]
//! #[replicated(crate = netloom_session, priority = 2.0)]
//! struct Walker {
//!     #[replicated(position)]
//!     at: [f32; 3],
//!     #[replicated(range = 0..=100)]
//!     health: u8,
//! }
//!
//! let mut world = World::new(vec![Walker::class()?], WorldConfig::default())?;
//! let walkers = ClassOf::<Walker>::find(world.classes()).ok_or("both sides must list the class")?;
//!
//! let mut walker = Walker { at: [1.0, 2.0, 3.0], health: 100 };
//! let index = walkers.spawn(&mut world, ObjectId(7), None, &walker)?;
//! world.commit(Tick(1))?;
//! walker.health -= 30;
//! walker.write(&mut world, index)?;
//! world.commit(Tick(2))?;
//! assert_eq!(walkers.read_world(&world, index), Some(walker));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class_of;
mod form;

pub use class_of::ClassOf;
pub use form::{PlainField, Source};
pub use netloom_derive::{Choice, Replicated};

use netloom_replica::client::ClientObject;
use netloom_replica::step::Fields;
use netloom_replica::world::{Object, ObjectIndex, Spawn, World, WorldError};
use netloom_replica::{Class, ClassError, ClassId};
use netloom_wire::schema::{Schema, SchemaError};
use netloom_wire::{ObjectId, Profile};

/// A struct whose values are objects of a world. Made by [`#[derive(Replicated)]`](derive@Replicated).
pub trait Replicated: Sized {
    /// What the kind of object is called.
    const NAME: &'static str;

    /// The names of the fields in the order of their numbers: hottest first.
    const FIELDS: &'static [&'static str];

    /// The fields as both sides must know them.
    fn schema() -> Result<Schema, SchemaError>;

    /// How its objects are spawned.
    fn spawn_defaults() -> SpawnDefaults;

    /// Writes every field. Fields that are as they were cost nothing from here on.
    ///
    /// A float beyond its range is saturated, which the world counts. Anything else that a field cannot hold is refused:
    /// all other fields are written, and the error is that of the first one refused.
    fn write(&self, world: &mut World, object: ObjectIndex) -> Result<(), WorldError>;

    /// The value that an object has; `None` if it is of another class. Fields that the reader is not sent, and skipped
    /// ones, have their default.
    fn read_from(source: &Source<'_>) -> Option<Self>;

    /// Lists what prediction compares: every field that the owner is sent in snapshots, with the precision that it is sent
    /// with.
    fn describe(&self, fields: &mut Fields);

    /// The value of an object of the server, as it was written last and rounded as the wire rounds.
    fn read_world(object: &Object<'_>) -> Option<Self> {
        Self::read_from(&Source::world(*object))
    }

    /// The value of an object of a client, as it arrived last. `class` is the one that
    /// [`ReplicaClient::class`](netloom_replica::client::ReplicaClient::class) gives for the object.
    fn read(object: &ClientObject, class: &Class) -> Option<Self> {
        Self::read_from(&Source::client(object, class)?)
    }

    /// The class of its objects, for the list that both sides share.
    fn class() -> Result<Class, ReplicatedError> {
        Ok(Class::new(Self::schema()?)?)
    }
}

/// How the objects of a struct are spawned: what its attributes say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpawnDefaults {
    /// How its transform is quantized.
    pub profile: Profile,
    /// How important its objects are compared with others; 0 is never sent.
    pub priority: f32,
    /// How far away they are seen, in metres; infinite is everywhere.
    pub relevance_radius: f32,
    /// A factor of the priority for the kind of object.
    pub kind_weight: f32,
    /// Whether the client that owns one predicts it.
    pub predict: bool,
}

impl SpawnDefaults {
    /// A new object of this kind that nobody owns.
    pub fn spawn(&self, id: ObjectId, class: ClassId) -> Spawn {
        Spawn {
            profile: Some(self.profile),
            priority: self.priority,
            relevance_radius: self.relevance_radius,
            kind_weight: self.kind_weight,
            ..Spawn::new(id, class)
        }
    }
}

/// A choice among a few: an enum without data. Made by [`#[derive(Choice)]`](derive@Choice).
pub trait Choice: Copy {
    /// How many there are: 2 to 65,536.
    const COUNT: u32;

    /// Which one it is, from 0 in the order of declaration.
    fn index(self) -> u32;

    /// The one of this number.
    fn from_index(index: u32) -> Option<Self>;
}

/// Why a struct is no class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicatedError {
    /// Its schema is impossible.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Its objects are too large.
    #[error(transparent)]
    Class(#[from] ClassError),
}

/// What the derives name. Not for use by hand: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use super::form::{
        Angle, Array, Bytes, Form, Place, PlainField, PlainForm, Rotation, Scale, Source, Steps, Text,
        Velocity, Whole, array_bytes, check_listed, choice_from, choice_kind, choice_value, element_bits,
        priority, radius, weight,
    };
    pub use super::{Choice, Replicated, SpawnDefaults};
    pub use netloom_replica::step::Fields;
    pub use netloom_replica::world::{ObjectIndex, World, WorldError};
    pub use netloom_wire::Profile;
    pub use netloom_wire::schema::{Delivery, ElementKind, Field, Schema, SchemaError, SyncFlags, Value};
}
