//! The full record of an object: words to bytes and back, and the longer way from the game's floats and back.
//!
//! ```text
//!   floats --quantize--> words --encode--> bytes --decode--> words --dequantize--> floats
//!                        |-- record_encode --|-- record_decode --|
//!   |----------- floats_to_record -----------|----------- record_to_floats ----------|
//! ```
//!
//! The core keeps its state in words, so the shorter way is what a snapshot pays per object. The longer one is paid where
//! a game hands in a transform or asks for it. Both are shown, so that neither can be mistaken for the other.
//!
//! A codec fed with one and the same object learns its branches by heart and looks faster than it is. So the operations
//! walk over many objects that differ in everything.

use crate::error::BenchError;
use netloom_wire::{Alias, Profile, QuantizeCounters, ReadError, Record, SectorOrigin, Sequence8};
use std::hint::black_box;

const LIBRARY: &str = "netloom";
const PROFILE: Profile = Profile::Standard;
/// Enough to defeat branch prediction, few enough to stay in the first-level cache. A power of two: picking the next
/// object must not cost a division.
const OBJECTS: usize = 128;
/// Position and rotation in the STANDARD profile: header 6, position 6, rotation 4.
const RECORD_BYTES: usize = 16;
/// Half a step of one centimetre, and what rounding the comparison itself costs.
const POSITION_ERROR_METRES_MAX: f64 = 0.005 + 1e-4;

type Transform = ([f64; 3], [f32; 4]);

/// The same objects in all three forms.
pub struct Records {
    transforms: Vec<Transform>,
    records: Vec<Record<'static>>,
    encoded: Vec<[u8; RECORD_BYTES]>,
}

impl Records {
    /// The objects, after a check that each survives the way to the wire and back.
    pub fn new() -> Result<Records, BenchError> {
        let transforms: Vec<Transform> = (0..OBJECTS).map(transform).collect();
        let mut counters = QuantizeCounters::default();
        let quantized = transforms.iter().enumerate();
        let records: Vec<Record<'static>> =
            quantized.map(|(index, transform)| quantize(index, *transform, &mut counters)).collect();
        let mut encoded = Vec::with_capacity(OBJECTS);
        for (record, (position, _)) in records.iter().zip(&transforms) {
            let mut bytes = [0; RECORD_BYTES];
            let length = record.encode(&mut bytes).map_err(|error| BenchError::refused(LIBRARY, error))?;
            let (back, _) = to_floats(&bytes).map_err(|error| BenchError::refused(LIBRARY, error))?;
            let far =
                (0..3).any(|axis| (f64::from(back[axis]) - position[axis]).abs() > POSITION_ERROR_METRES_MAX);
            if far || length != RECORD_BYTES {
                return Err(BenchError::refused(LIBRARY, "a record does not decode to what was encoded"));
            }
            encoded.push(bytes);
        }
        Ok(Records { transforms, records, encoded })
    }

    /// Words to bytes.
    pub fn encode(&self, operations: u32) {
        let mut bytes = [0; RECORD_BYTES];
        for index in 0..operations as usize {
            let record = black_box(&self.records[index % OBJECTS]);
            let _ = black_box(record.encode(black_box(&mut bytes)));
        }
    }

    /// Bytes to words.
    pub fn decode(&self, operations: u32) {
        for index in 0..operations as usize {
            let _ = black_box(Record::decode(black_box(&self.encoded[index % OBJECTS])));
        }
    }

    /// Floats to bytes.
    pub fn encode_floats(&self, operations: u32) {
        let mut counters = QuantizeCounters::default();
        let mut bytes = [0; RECORD_BYTES];
        for index in 0..operations as usize {
            let transform = *black_box(&self.transforms[index % OBJECTS]);
            let record = quantize(index, transform, &mut counters);
            let _ = black_box(record.encode(black_box(&mut bytes)));
        }
        black_box(counters);
    }

    /// Bytes to floats.
    pub fn decode_floats(&self, operations: u32) {
        for index in 0..operations as usize {
            let _ = black_box(to_floats(black_box(&self.encoded[index % OBJECTS])));
        }
    }
}

#[inline]
fn quantize(
    index: usize,
    (position, rotation): Transform,
    counters: &mut QuantizeCounters,
) -> Record<'static> {
    Record {
        alias: Alias { slot: index as u16, generation: 1 },
        profile: PROFILE,
        sequence: Sequence8(index as u8),
        position: Some(PROFILE.quantize_position(position, &SectorOrigin::default(), counters)),
        rotation: Some(PROFILE.quantize_rotation(rotation, counters)),
        ..Record::default()
    }
}

/// Position and rotation of a record that has both; zero where one is missing, which the check in `new` would notice.
#[inline]
fn to_floats(bytes: &[u8]) -> Result<([f32; 3], [f32; 4]), ReadError> {
    let (record, _) = Record::decode(bytes)?;
    let position = record.position.map_or([0.0; 3], |words| record.profile.dequantize_position(words));
    let rotation = record.rotation.map_or([0.0; 4], |words| record.profile.dequantize_rotation(words));
    Ok((position, rotation))
}

/// Positions within the range of the profile, rotations in all directions, nothing regular.
fn transform(index: usize) -> Transform {
    let wave = |step: f64| ((index + 1) as f64 * step).sin();
    let quaternion = [wave(1.1), wave(2.3), wave(3.7), wave(5.9)];
    let length = quaternion.iter().map(|component| component * component).sum::<f64>().sqrt();
    ([wave(0.7) * 300.0, wave(1.9) * 300.0, wave(4.3) * 300.0], quaternion.map(|part| (part / length) as f32))
}
