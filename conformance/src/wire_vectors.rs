//! Golden vectors of `netloom-wire`: bytes, and what a reader must make of them.
//!
//! Each case has `hex` (the input), `given` (what the reader knows beforehand, such as a range or a schema), and either
//! `value` (the decoded fields) or `error` (the reason for which the input must be refused). Integers that may exceed 53
//! bits are decimal strings; a float is an object with its value and its bits in hexadecimal.
//!
//! Every case is decoded again while it is generated, so that a vector cannot disagree with the code it comes from.

mod codes;
pub(crate) mod objects;
mod primitives;
mod streams;

use netloom_wire::ReadError;
use serde_json::{Value, json};

/// The vector files of this layer.
pub fn vectors() -> Vec<crate::VectorFile> {
    let mut files = primitives::vectors();
    files.extend(objects::vectors());
    files.extend(codes::vectors());
    files.extend(streams::vectors());
    files
}

pub(crate) fn file(about: &str, cases: Vec<Value>) -> Value {
    json!({ "about": about, "cases": cases })
}

/// A case that decodes to `value`.
pub(crate) fn case(name: &str, given: Value, bytes: &[u8], value: Value) -> Value {
    json!({ "name": name, "given": given, "hex": hex(bytes), "value": value })
}

/// A case that must be refused for the reason that the reader gave.
pub(crate) fn refused<T>(name: &str, given: Value, bytes: &[u8], result: Result<T, ReadError>) -> Value {
    match result {
        Ok(_) => panic!("case {name} of the golden vectors must be refused"),
        Err(error) => refused_as(name, given, bytes, reason(error)),
    }
}

pub(crate) fn refused_as(name: &str, given: Value, bytes: &[u8], reason: &str) -> Value {
    json!({ "name": name, "given": given, "hex": hex(bytes), "error": reason })
}

/// The reason's name in the standard.
pub(crate) fn reason(error: ReadError) -> &'static str {
    match error {
        ReadError::UnexpectedEnd => "UnexpectedEnd",
        ReadError::TrailingData => "TrailingData",
        ReadError::ReservedBits => "ReservedBits",
        ReadError::OutOfRange => "OutOfRange",
        ReadError::InvalidVarint => "InvalidVarint",
        ReadError::InvalidBool => "InvalidBool",
        ReadError::TooLong => "TooLong",
        ReadError::InvalidUtf8 => "InvalidUtf8",
        ReadError::NonFinite => "NonFinite",
        ReadError::InvalidRotation => "InvalidRotation",
        ReadError::InvalidFlags => "InvalidFlags",
        ReadError::InvalidField => "InvalidField",
        ReadError::InvalidCode => "InvalidCode",
        ReadError::NameMismatch(_) => "NameMismatch",
        ReadError::UnknownName(_) => "UnknownName",
        other => panic!("{other:?} has no name in the standard yet"),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn single(value: f32) -> Value {
    json!({ "float": value, "bits": format!("{:08x}", value.to_bits()) })
}

pub(crate) fn double(value: f64) -> Value {
    json!({ "float": value, "bits": format!("{:016x}", value.to_bits()) })
}

fn singles(values: &[f32]) -> Value {
    values.iter().copied().map(single).collect()
}

/// What `write` writes into a buffer that is large enough.
pub(crate) fn written(write: impl FnOnce(&mut [u8]) -> Result<usize, netloom_wire::WriteError>) -> Vec<u8> {
    let mut buffer = vec![0; 4096];
    let length = write(&mut buffer).expect("the values of the golden vectors are valid");
    buffer.truncate(length);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_a_unique_name_and_exactly_one_outcome() {
        for (stem, contents) in vectors() {
            let cases = contents["cases"].as_array().unwrap();
            let names: BTreeSet<&str> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
            assert_eq!(names.len(), cases.len(), "{stem} repeats a name");
            for case in cases {
                assert!(case.get("value").is_some() != case.get("error").is_some(), "{stem}: {case}");
            }
        }
    }
}
