//! The two ways an encoding can fail: bytes that do not decode, and values that do not fit.
//!
//! Every reader of this crate answers hostile bytes with a [`ReadError`], never with a panic. Every writer remembers
//! its first [`WriteError`] and reports it at `finish`, so that a message is built without a check per field.

use crate::name::Name;

/// Why received bytes were refused. Each variant is a reason that a receiver counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input ends before the value does.
    #[error("the input ends before the value does")]
    UnexpectedEnd,
    /// Bytes or bits follow the last value.
    #[error("the input continues after its last value")]
    TrailingData,
    /// A padding or reserved bit that must be zero is set.
    #[error("a padding or reserved bit is not zero")]
    ReservedBits,
    /// A number lies outside the range that its field allows.
    #[error("a value is outside the range of its field")]
    OutOfRange,
    /// A variable-length integer is longer than needed or does not fit 64 bits.
    #[error("a variable-length integer is overlong or exceeds 64 bits")]
    InvalidVarint,
    /// A boolean byte is neither 0 nor 1.
    #[error("a boolean is neither 0 nor 1")]
    InvalidBool,
    /// A length or count exceeds the limit of the receiver.
    #[error("a length or count exceeds its limit")]
    TooLong,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    InvalidUtf8,
    /// A float is infinite or not a number.
    #[error("a float is infinite or not a number")]
    NonFinite,
    /// A rotation is no unit quaternion.
    #[error("a rotation is not a unit quaternion")]
    InvalidRotation,
    /// The flags of a record contradict one another or its profile.
    #[error("the flags of a record contradict each other or its profile")]
    InvalidFlags,
    /// A field index is not part of the schema, or does not follow the previous one.
    #[error("a field index is unknown or out of order")]
    InvalidField,
    /// The bits are no code of the agreed table.
    #[error("the bits are no code of the table")]
    InvalidCode,
    /// The text sent along with a name does not hash to that name.
    #[error("the text of name {0} hashes to something else")]
    NameMismatch(Name),
    /// The receiver knows no text for this name: a recoverable event that the application reports to its peer.
    #[error("name {0} is not registered here")]
    UnknownName(Name),
}

/// Why a value was not written. The first error sticks to the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output has no room for the value; send what fits and start another message.
    #[error("the output buffer is full")]
    BufferFull,
    /// The value lies outside the range that its field was declared with.
    #[error("a value is outside the range declared for its field")]
    OutOfRange,
    /// A string or byte run is longer than its declared limit.
    #[error("a string or byte run is longer than its declared limit")]
    TooLong,
    /// A float is infinite or not a number.
    #[error("a float is infinite or not a number")]
    NonFinite,
    /// The value's type is not that of the schema's field, or the schema has no such field.
    #[error("the value does not match the schema's field")]
    FieldMismatch,
    /// Fields must be written in the order of the schema, each at most once.
    #[error("fields must be written in ascending order, each at most once")]
    FieldOrder,
}
