//! Messages with inputs.

use netloom_replica::input::{Input, InputBytes, InputMessage, ViewTime, write_inputs};
use netloom_wire::{ReadError, Tick};
use serde_json::{Value, json};

use crate::wire_vectors::{case, file, hex, refused};

/// The step that the server has come to in most cases.
const NEAR: Tick = Tick(100_000);

fn written<I: Input>(newest: u32, view: Option<ViewTime>, inputs: &[I]) -> Vec<u8> {
    let mut out = [0; 512];
    let length = write_inputs(Tick(newest), view, inputs.iter(), &mut out).expect("room for the inputs");
    out[..length].to_vec()
}

/// What a message says, with the bytes of each of its inputs.
fn described<I: Input>(
    bytes: &[u8],
    near: Tick,
    content: impl Fn(&I) -> Vec<u8>,
) -> Result<Value, ReadError> {
    let message = InputMessage::<I>::read(bytes)?;
    let view = message.view(near).map(|view| json!({ "step": view.step.0, "fraction": view.fraction }));
    let inputs: Vec<String> = message.inputs().map(|input| hex(&content(&input))).collect();
    Ok(json!({ "newest": message.newest(near).0, "view": view, "inputs": inputs }))
}

/// A message whose inputs have so many bytes, or their length before them.
fn outcome(name: &str, count: Option<usize>, near: Tick, bytes: &[u8]) -> Value {
    let found = match count {
        Some(1) => described::<[u8; 1]>(bytes, near, |input| input.to_vec()),
        Some(3) => described::<[u8; 3]>(bytes, near, |input| input.to_vec()),
        None => described::<InputBytes>(bytes, near, |input| input.as_slice().to_vec()),
        Some(count) => panic!("no case has inputs of {count} bytes"),
    };
    let given = json!({ "bytes": count, "near": near.0 });
    match found {
        Ok(value) => case(name, given, bytes, value),
        Err(error) => refused::<()>(name, given, bytes, Err(error)),
    }
}

pub fn inputs() -> Value {
    let view = Some(ViewTime { step: Tick(99_990), fraction: 192 });
    let bytes = |content: &[u8]| InputBytes::new(content).expect("few enough bytes");
    let held = [[7u8]; 64];
    let mixed = [[1u8, 2, 3], [1, 2, 3], [9, 9, 9], [9, 9, 9], [1, 2, 3]];
    let good = [
        ("one input", Some(1), NEAR, written(100_004, None, &held[..1])),
        ("the same input 64 times", Some(1), NEAR, written(100_004, None, &held)),
        ("inputs that change and change back", Some(3), NEAR, written(100_004, None, &mixed)),
        ("with a view time", Some(3), NEAR, written(100_004, view, &mixed)),
        ("the same input said twice in full", Some(1), NEAR, vec![4, 0, 2, 7, 14, 0]),
        ("a step over the end of 16 bits", Some(1), Tick(65_530), written(65_540, None, &held[..2])),
        ("a step before the end of 16 bits", Some(1), Tick(65_540), written(65_530, None, &held[..2])),
        ("a step over the end of 32 bits", Some(1), Tick(u32::MAX - 1), written(3, None, &held[..2])),
        (
            "a step exactly half the range away is older",
            Some(1),
            NEAR,
            written(100_000 + 32_768, None, &held[..1]),
        ),
        (
            "bytes with their length",
            None,
            NEAR,
            written(100_004, None, &[bytes(b"left"), bytes(b""), bytes(b"fire!")]),
        ),
        ("the most bytes", None, NEAR, written(100_004, view, &[bytes(&[0xa5; 64])])),
    ];
    let mut cases: Vec<Value> =
        good.iter().map(|(name, count, near, message)| outcome(name, *count, *near, message)).collect();
    assert!(cases.iter().all(|case| case.get("value").is_some()), "all of these can be read");
    let bad: [(&str, Option<usize>, &[u8]); 10] = [
        ("no count", Some(1), &[1, 0]),
        ("no inputs", Some(1), &[1, 0, 0, 5]),
        ("65 inputs", Some(1), &[1, 0, 65, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("a view time that is cut off", Some(1), &[1, 0, 0x81, 3, 0]),
        ("an input that is cut off", Some(3), &[1, 0, 1, 5, 5]),
        ("a second input that is not there", Some(1), &[1, 0, 2, 5]),
        ("bits after the last input", Some(1), &[1, 0, 2, 5, 3]),
        ("a byte after the last input", Some(1), &[1, 0, 1, 5, 0]),
        ("65 bytes", None, &[1, 0, 1, 65, 0]),
        ("too long for a message", Some(1), &[1; 513]),
    ];
    let bad: Vec<Value> = bad.iter().map(|(name, count, bytes)| outcome(name, *count, NEAR, bytes)).collect();
    assert!(bad.iter().all(|case| case.get("error").is_some()), "none of these can be read");
    cases.extend(bad);
    file(
        "Messages with inputs. given.bytes: of an input, null if they begin with their length; given.near: the step that \
         the server has come to.",
        cases,
    )
}
