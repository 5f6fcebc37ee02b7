//! Arguments of calls.

use netloom_session::rpc::args::write_args;
use netloom_session::rpc::{ARGS_BYTES_MAX, Args, ArgsError, Value as Argument, ValueError, ValueWriter};
use netloom_wire::Alias;
use serde_json::{Value, json};

use super::sorted_cases;
use crate::wire_vectors::{case, file, hex, refused_as};

/// An argument with its type, which a plain JSON value would lose.
fn shown(value: &Argument<'_>) -> Value {
    match value {
        Argument::Nil => json!({ "nil": null }),
        Argument::Bool(value) => json!({ "bool": value }),
        Argument::Int(value) => json!({ "int": value.to_string() }),
        Argument::UInt(value) => json!({ "int": value.to_string() }),
        Argument::F32(value) => json!({ "f32": format!("{:08x}", value.to_bits()) }),
        Argument::F64(value) => json!({ "f64": format!("{:016x}", value.to_bits()) }),
        Argument::Text(text) => json!({ "text": text }),
        Argument::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        Argument::List(items) => {
            json!({ "list": items.clone().map(|item| shown(&item)).collect::<Vec<_>>() })
        }
        Argument::Map(entries) => {
            let entry = |(key, value)| json!([key, shown(&value)]);
            json!({ "map": entries.clone().map(entry).collect::<Vec<_>>() })
        }
        Argument::Object(object) => {
            let alias = |object: &Alias| json!({ "slot": object.slot, "generation": object.generation });
            json!({ "object": object.as_ref().map(alias) })
        }
    }
}

fn name_of(error: &ArgsError) -> &'static str {
    match error {
        ArgsError::NotAList => "NotAList",
        ArgsError::Mismatch { complaint } => panic!("nothing is deserialized here: {complaint}"),
        ArgsError::Malformed(error) => match error {
            ValueError::UnexpectedEnd => "UnexpectedEnd",
            ValueError::TrailingData => "TrailingData",
            ValueError::TooDeep => "TooDeep",
            ValueError::TooManyElements => "TooManyElements",
            ValueError::TooLong => "TooLong",
            ValueError::InvalidUtf8 => "InvalidUtf8",
            ValueError::KeyIsNoText => "KeyIsNoText",
            ValueError::UnknownType => "UnknownType",
            ValueError::InvalidObject => "InvalidObject",
        },
    }
}

fn reads(name: &str, bytes: &[u8]) -> Value {
    match Args::read(bytes) {
        Ok(args) => {
            let values: Vec<Value> = args.values().map(|value| shown(&value)).collect();
            case(name, Value::Null, bytes, json!({ "arguments": values }))
        }
        Err(error) => refused_as(name, Value::Null, bytes, name_of(&error)),
    }
}

fn written(length: usize, write: impl FnOnce(&mut ValueWriter<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_args(length, &mut bytes, write).expect("arguments within all limits");
    bytes
}

/// One of each kind, as the reference implementation writes them.
fn shortest() -> Vec<(&'static str, Vec<u8>)> {
    let object = Alias { slot: 300, generation: 0 };
    let integers = [0, 127, 128, 65_535, 1 << 32, i64::MAX, -1, -32, -33, -129, -32_769, i64::MIN];
    vec![
        (
            "the example of the standard",
            written(3, |args| {
                args.int(5);
                args.text("fox");
                args.object(Some(object));
            }),
        ),
        ("none", written(0, |_| {})),
        (
            "one of each kind",
            written(11, |args| {
                args.nil();
                args.bool(true);
                args.bool(false);
                args.uint(u64::MAX);
                args.f32(0.1);
                args.f64(-0.0);
                args.text("Zoë 🦊");
                args.bytes(&[0, 255]);
                args.object(Some(Alias { slot: 65_535, generation: 255 }));
                args.object(None);
                args.text("");
            }),
        ),
        (
            "integers of every length",
            written(integers.len(), |args| integers.iter().for_each(|integer| args.int(*integer))),
        ),
        (
            "a list in a map in a list",
            written(2, |args| {
                args.map(2);
                args.text("at");
                args.list(2);
                args.int(1);
                args.f32(1.5);
                args.text("at");
                args.nil();
                args.list(0);
            }),
        ),
        (
            "floats that are no numbers",
            written(3, |args| {
                args.f32(f32::NAN);
                args.f64(f64::INFINITY);
                args.f32(f32::NEG_INFINITY);
            }),
        ),
        (
            "16 lists in each other",
            written(1, |args| {
                (0..14).for_each(|_| args.list(1));
                args.list(0);
            }),
        ),
    ]
}

pub fn arguments() -> Value {
    let mut good: Vec<Value> = shortest().iter().map(|(name, bytes)| reads(name, bytes)).collect();
    let long_forms: [(&str, &[u8]); 4] = [
        ("a list in its longest form", &[0xdd, 0, 0, 0, 1, 0xcf, 0, 0, 0, 0, 0, 0, 0, 5]),
        ("a text in each form", &[0x94, 0xa1, b'x', 0xd9, 1, b'x', 0xda, 0, 1, b'x', 0xdb, 0, 0, 0, 1, b'x']),
        ("bytes in each form", &[0x93, 0xc4, 1, 9, 0xc5, 0, 1, 9, 0xc6, 0, 0, 0, 1, 9]),
        ("a map in each form", &[0x93, 0x80, 0xde, 0, 0, 0xdf, 0, 0, 0, 0]),
    ];
    good.extend(long_forms.iter().map(|(name, bytes)| reads(name, bytes)));
    let most = [&[0xdc, 0x0f, 0xff][..], &[0xc0; 4_095]].concat();
    good.push(reads("the most values", &most));
    let too_many = [&[0xdc, 0x10, 0x00][..], &[0xc0; 4_096]].concat();
    let too_long = [&[0x91, 0xc5, 0x40, 0x00][..], &[0; ARGS_BYTES_MAX]].concat();
    let too_deep = [&[0x91; 16][..], &[0x90]].concat();
    let bad: [(&str, &[u8]); 20] = [
        ("nothing", &[]),
        ("a value that is no list", &[5]),
        ("nothing as a value", &[0xc0]),
        ("a list that claims four billion values", &[0xdd, 0xff, 0xff, 0xff, 0xff]),
        ("a list that is cut off", &[0x92, 5]),
        ("an integer that is cut off", &[0x91, 0xcd, 1]),
        ("a text beyond the end", &[0x91, 0xa3, b'x']),
        ("a second value after the list", &[0x91, 5, 5]),
        ("17 lists in each other", &too_deep),
        ("4,097 values", &too_many),
        ("16,388 bytes", &too_long),
        ("a text that is not UTF-8", &[0x91, 0xa1, 0xff]),
        ("a key that is a number", &[0x91, 0x81, 5, 5]),
        ("a key that is bytes", &[0x91, 0x81, 0xc4, 1, b'x', 5]),
        ("byte C1", &[0x91, 0xc1]),
        ("another extension of four bytes", &[0x91, 0xd6, 2, 1, 0, 0, 0]),
        ("an extension of eight bytes", &[0x91, 0xd7, 1, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("an extension that says its length", &[0x91, 0xc7, 4, 1, 1, 0, 0, 0]),
        ("an object of 2^24", &[0x91, 0xd6, 1, 0, 0, 0, 1]),
        ("an object that is cut off", &[0x91, 0xd6, 1, 0, 0]),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("Arguments of calls.", sorted_cases(good, bad))
}
