//! What a world refuses, and why.

use netloom_wire::ObjectId;
use netloom_wire::sequence::Tick;

use super::{ATTACH_DEPTH_MAX, ObjectIndex};
use crate::class::ClassError;

/// Why a call to a world had no effect.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// The list of classes is impossible.
    #[error(transparent)]
    Class(#[from] ClassError),
    /// A number of the configuration, of a spawn or of a setting is out of its range.
    #[error("{field} is {value}, allowed are {allowed}")]
    OutOfRange {
        /// Which number.
        field: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// There is no room for another object.
    #[error("all {objects_max} objects are in use (places of despawned ones are free after the next commit)")]
    Full {
        /// The configured number.
        objects_max: usize,
    },
    /// Another object has this id.
    #[error("object id {} is in use", .0.0)]
    IdInUse(ObjectId),
    /// The world has no such class.
    #[error("class {class} does not exist, the world has {count}")]
    UnknownClass {
        /// The number asked for.
        class: u8,
        /// How many there are.
        count: usize,
    },
    /// The object was despawned, or the index is of another world.
    #[error("object {0:?} is not in the world: it was despawned")]
    Gone(ObjectIndex),
    /// The class has no such field.
    #[error("class {class} has no {field}")]
    NoField {
        /// The number of the class.
        class: u8,
        /// What was asked for: a kind of field, or "field of this number".
        field: &'static str,
    },
    /// The value is none of the field's.
    #[error("field {field}: {source}")]
    Value {
        /// The number of the field.
        field: usize,
        /// What is wrong with the value.
        source: ValueError,
    },
    /// An object would be attached to itself, directly or through others.
    #[error("attaching object {child:?} to {parent:?} would close a circle")]
    Circle {
        /// The object to attach.
        child: ObjectIndex,
        /// What to.
        parent: ObjectIndex,
    },
    /// A chain of attached objects would be too long.
    #[error("a chain of {depth} attached objects, at most {ATTACH_DEPTH_MAX} are allowed")]
    TooDeep {
        /// Its length.
        depth: usize,
    },
    /// Two origins of an object with the same version would be taken for each other.
    #[error("the new origin has version {found}, the next one is {expected}: make it with `moved_to`")]
    OriginVersion {
        /// The version given.
        found: u8,
        /// The version that comes next.
        expected: u8,
    },
    /// Ticks go forward.
    #[error("tick {} was committed already, {} is not newer", .last.0, .tick.0)]
    TickNotNewer {
        /// The tick given.
        tick: Tick,
        /// The newest committed one.
        last: Tick,
    },
}

/// Why a value does not fit a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is of another kind.
    #[error("the value is of another kind than the field")]
    WrongKind,
    /// It lies outside the range of the field.
    #[error("the value is outside the range of the field")]
    OutOfRange,
    /// It is infinite or not a number.
    #[error("the value is not finite")]
    NonFinite,
    /// A text or byte run is too long.
    #[error("{bytes} bytes, at most {bytes_max} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit of the field.
        bytes_max: u16,
    },
    /// An array has too many elements.
    #[error("{count} elements, at most {count_max} are allowed")]
    TooMany {
        /// How many.
        count: usize,
        /// The limit of the field.
        count_max: u16,
    },
}

/// Why a client's write was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteRefused {
    /// The object is gone.
    #[error("the object was despawned")]
    Gone,
    /// The class has no field of this number.
    #[error("the class has no such field")]
    NoField,
    /// The field may not be written by this client.
    #[error("the flags of the field do not let this client write it")]
    Forbidden,
    /// The value is none of the field's.
    #[error(transparent)]
    Invalid(#[from] ValueError),
    /// The server's own check said no.
    #[error("the server's check refused the value")]
    Rejected,
}

/// What became of the clients' writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCounters {
    /// Written.
    pub accepted: u64,
    /// Of objects that are gone.
    pub gone: u64,
    /// Of fields that do not exist.
    pub no_field: u64,
    /// By clients that may not.
    pub forbidden: u64,
    /// Of values that the field cannot have.
    pub invalid: u64,
    /// Refused by the server's check.
    pub rejected: u64,
}

impl WriteCounters {
    pub(super) fn count(&mut self, result: &Result<(), WriteRefused>) {
        *match result {
            Ok(()) => &mut self.accepted,
            Err(WriteRefused::Gone) => &mut self.gone,
            Err(WriteRefused::NoField) => &mut self.no_field,
            Err(WriteRefused::Forbidden) => &mut self.forbidden,
            Err(WriteRefused::Invalid(_)) => &mut self.invalid,
            Err(WriteRefused::Rejected) => &mut self.rejected,
        } += 1;
    }
}
