//! Arguments as Rust types.
//!
//! A Rust game wants to pass a tuple or a struct, and a script on the other side wants to pass a plain list. They meet in
//! the middle: a struct is the list of its fields in order, without names, so `Hit { damage: 10, part: "head" }`, the
//! tuple `(10, "head")` and a script's `[10, "head"]` are the same bytes. Nothing reaches a type's deserializer before
//! [`check`](super::value::check()) has seen that every length is true, so what a call can make it allocate follows from
//! the type and the size of the call.
//!
//! ```
//! use netloom_session::rpc::{decode_args, encode_args};
//!
//! #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
//! struct Hit<'a> {
//!     damage: u8,
//!     part: &'a str,
//! }
//!
//! let mut bytes = Vec::new();
//! encode_args(&(10, "head"), &mut bytes)?;
//! assert_eq!(bytes, b"\x92\x0a\xa4head");
//! assert_eq!(decode_args::<Hit>(&bytes)?, Hit { damage: 10, part: "head" });
//! # Ok::<(), netloom_session::rpc::ArgsError>(())
//! ```

use core::fmt;

use netloom_wire::Alias;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::value::{Items, OBJECT_EXTENSION, Value, ValueError, ValueWriter, token};

/// The arguments of a call that takes none.
pub const NO_ARGS: &[u8] = &[0x90];
/// MessagePack's nil, which `()` becomes.
const NIL: &[u8] = &[0xc0];
/// Characters of what a deserializer says that are kept: it may quote what was sent.
const COMPLAINT_CHARS_MAX: usize = 160;

/// Why arguments could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgsError {
    /// The bytes are no value, or one beyond a limit.
    #[error("the arguments are malformed: {0}")]
    Malformed(#[from] ValueError),
    /// The arguments are one value and not a list of them.
    #[error("arguments are a list: use a tuple or a struct, (value,) for a single one")]
    NotAList,
    /// The arguments are not those that the callee takes, or have no form in MessagePack.
    #[error("the arguments do not match: {complaint}")]
    Mismatch {
        /// What does not match.
        complaint: String,
    },
}

fn mismatch(error: impl fmt::Display) -> ArgsError {
    ArgsError::Mismatch { complaint: error.to_string().chars().take(COMPLAINT_CHARS_MAX).collect() }
}

/// The arguments of a call: bytes that were found to be a list.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(&'a [u8]);

impl<'a> Args<'a> {
    /// Checks `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Args<'a>, ArgsError> {
        match Value::read(bytes)? {
            Value::List(_) => Ok(Args(bytes)),
            _ => Err(ArgsError::NotAList),
        }
    }

    /// Bytes that [`Args::read`] accepted before.
    pub(crate) fn checked_before(bytes: &'a [u8]) -> Args<'a> {
        Args(bytes)
    }

    /// The bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// One argument after the other.
    pub fn values(self) -> Items<'a> {
        Items::of_list(self.0)
    }

    /// All arguments as the fields of a struct or the elements of a tuple.
    pub fn decode<T: Deserialize<'a>>(self) -> Result<T, ArgsError> {
        match rmp_serde::from_slice(self.0) {
            Ok(args) => Ok(args),
            Err(error) if self.0 == NO_ARGS => rmp_serde::from_slice(NIL).map_err(|_| mismatch(error)),
            Err(error) => Err(mismatch(error)),
        }
    }
}

/// Appends `args`, a tuple or a struct, to `out`, and says how many bytes that took. On an error `out` is as it was.
pub fn encode_args<T: Serialize + ?Sized>(args: &T, out: &mut Vec<u8>) -> Result<usize, ArgsError> {
    let start = out.len();
    let written = rmp_serde::encode::write(out, args).map_err(mismatch).and_then(|()| {
        if out.get(start..) == Some(NIL) {
            out.truncate(start);
            out.extend_from_slice(NO_ARGS);
        }
        Args::read(out.get(start..).unwrap_or_default()).map(|args| args.as_bytes().len())
    });
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Reads arguments that nobody has checked yet.
pub fn decode_args<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ArgsError> {
    Args::read(bytes)?.decode()
}

/// Appends the values that `write` gives to `out`, as a list of `length`: the way of a script.
pub fn write_args(
    length: usize,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut ValueWriter<'_>),
) -> Result<usize, ArgsError> {
    let mut writer = ValueWriter::new(out);
    writer.list(length);
    write(&mut writer);
    Ok(writer.finish()?)
}

/// An object among typed arguments, by the alias under which both sides of the connection know it; `None` is one that
/// the receiver cannot see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectArg(pub Option<Alias>);

/// Bytes that serialize as bytes and not as a list of numbers.
struct Raw([u8; 4]);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Raw;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the four bytes of an object")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Raw, E> {
                bytes.try_into().map(Raw).map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

impl Serialize for ObjectArg {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let extension = (OBJECT_EXTENSION, Raw(token::object_bytes(self.0)));
        serializer.serialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, &extension)
    }
}

impl<'de> Deserialize<'de> for ObjectArg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObjectArg, D::Error> {
        struct Extension;
        impl<'de> Visitor<'de> for Extension {
            type Value = ObjectArg;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<ObjectArg, D::Error> {
                inner.deserialize_tuple(2, self)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<ObjectArg, A::Error> {
                match (parts.next_element()?, parts.next_element()?) {
                    (Some(OBJECT_EXTENSION), Some(Raw(bytes))) => {
                        token::object_from_bytes(bytes).map(ObjectArg).map_err(de::Error::custom)
                    }
                    _ => Err(de::Error::custom("an object was expected")),
                }
            }
        }
        deserializer.deserialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, Extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Fire {
        weapon: String,
        target: ObjectArg,
        direction: [f32; 3],
        #[serde(default)]
        charge: Option<u8>,
    }

    fn encoded<T: Serialize>(args: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        assert_eq!(encode_args(args, &mut bytes), Ok(bytes.len()));
        bytes
    }

    #[test]
    fn a_struct_is_the_list_that_a_script_would_send() {
        let target = Some(Alias { slot: 300, generation: 2 });
        let fire = Fire {
            weapon: "bow".into(),
            target: ObjectArg(target),
            direction: [0.0, 1.0, 0.5],
            charge: Some(9),
        };
        let mut by_script = Vec::new();
        write_args(4, &mut by_script, |writer| {
            writer.text("bow");
            writer.object(target);
            writer.list(3);
            [0.0, 1.0, 0.5].into_iter().for_each(|value| writer.f32(value));
            writer.int(9);
        })
        .unwrap();
        assert_eq!(encoded(&fire), by_script);
        assert_eq!(decode_args::<Fire>(&by_script), Ok(fire));
    }

    #[test]
    fn a_script_may_pass_integers_and_doubles_where_floats_are_taken_and_leave_out_what_has_a_default() {
        let mut bytes = Vec::new();
        write_args(3, &mut bytes, |writer| {
            writer.text("bow");
            writer.object(None);
            writer.list(3);
            writer.int(1);
            writer.f64(0.5);
            writer.f64(-2.0);
        })
        .unwrap();
        let fire =
            Fire { weapon: "bow".into(), target: ObjectArg(None), direction: [1.0, 0.5, -2.0], charge: None };
        assert_eq!(decode_args::<Fire>(&bytes), Ok(fire));
    }

    #[test]
    fn no_arguments_are_an_empty_list() {
        assert_eq!(encoded(&()), NO_ARGS);
        assert_eq!(decode_args::<()>(NO_ARGS), Ok(()));
        assert_eq!(Args::read(NO_ARGS).unwrap().values().count(), 0);
        assert!(matches!(decode_args::<(u8,)>(NO_ARGS), Err(ArgsError::Mismatch { .. })));
    }

    #[test]
    fn arguments_that_are_no_list_are_refused_on_both_sides() {
        let mut out = vec![7];
        assert_eq!(encode_args(&5, &mut out), Err(ArgsError::NotAList));
        assert_eq!(encode_args("text", &mut out), Err(ArgsError::NotAList));
        assert_eq!(out, [7], "the buffer is as it was");
        assert_eq!(decode_args::<u8>(&[5]), Err(ArgsError::NotAList));
        assert_eq!(decode_args::<()>(NIL), Err(ArgsError::NotAList));
    }

    #[test]
    fn what_the_receiver_would_refuse_cannot_be_sent() {
        let mut out = Vec::new();
        let by_number = BTreeMap::from([(1, 2)]);
        let error = encode_args(&(by_number,), &mut out);
        assert_eq!(error, Err(ArgsError::Malformed(ValueError::KeyIsNoText)));
        let error = encode_args(&("x".repeat(20_000),), &mut out);
        assert_eq!(error, Err(ArgsError::Malformed(ValueError::TooLong)));
        assert!(out.is_empty());
    }

    #[test]
    fn wrong_counts_and_types_are_a_mismatch_with_a_bounded_complaint() {
        let long = encoded(&("x".repeat(10_000),));
        for result in [
            decode_args::<(u8,)>(&encoded(&(1, 2))).err(),
            decode_args::<(u8, u8)>(&encoded(&(1,))).err(),
            decode_args::<(u8,)>(&encoded(&(300,))).err(),
            decode_args::<(u8,)>(&long).err(),
            decode_args::<(ObjectArg,)>(&encoded(&(1,))).err(),
        ] {
            let Some(ArgsError::Mismatch { complaint }) = result else {
                panic!("accepted, or refused for another reason: {result:?}");
            };
            assert!((1..=COMPLAINT_CHARS_MAX).contains(&complaint.chars().count()));
        }
    }

    #[test]
    fn a_lying_length_never_reaches_the_deserializer() {
        let claims_four_billion = [0x91, 0xdd, 0xff, 0xff, 0xff, 0xff];
        let error = Err(ArgsError::Malformed(ValueError::UnexpectedEnd));
        assert_eq!(decode_args::<(Vec<u64>,)>(&claims_four_billion), error);
    }

    proptest! {
        #[test]
        fn any_bytes_are_arguments_that_encode_again_or_are_refused(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x90u8..0xa4, Just(0xd6), Just(1)], 0..40),
        ) {
            if let Ok(fire) = decode_args::<Fire>(&bytes) {
                // By bytes: what is not a number does not equal itself.
                prop_assert_eq!(encoded(&decode_args::<Fire>(&encoded(&fire)).unwrap()), encoded(&fire));
            }
            if let Ok(nested) = decode_args::<Vec<Vec<u8>>>(&bytes) {
                prop_assert_eq!(decode_args(&encoded(&nested)), Ok(nested));
            }
        }

        #[test]
        fn typed_arguments_survive(weapon in ".{0,20}", slot: u16, generation: u8, direction: [i16; 3], charge: Option<u8>) {
            let fire = Fire {
                weapon,
                target: ObjectArg(Some(Alias { slot, generation })),
                direction: direction.map(f32::from),
                charge,
            };
            prop_assert_eq!(decode_args::<Fire>(&encoded(&fire)), Ok(fire));
        }
    }
}
