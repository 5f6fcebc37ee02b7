//! Frames, the stream mask, and the classic datagrams.

use super::{case, file, hex, refused, refused_as, single, written};
use netloom_wire::classic::{
    EntityPosition, Packet, PlayerInput, PowerupSpawned, decode_entity_positions, encode_entity_positions,
    opcode,
};
use netloom_wire::message::mask::StreamMask;
use netloom_wire::message::{FrameError, FrameReader, FrameWriter};
use netloom_wire::{ByteSink, ReadError};
use serde_json::{Value, json};

pub fn vectors() -> Vec<crate::VectorFile> {
    vec![("wire_frame", frames()), ("wire_stream_mask", stream_masks()), ("wire_classic", classic())]
}

const PAYLOAD_BYTES_MAX: usize = 100;

fn framed(messages: &[(u16, &[u8])]) -> Vec<u8> {
    let mut writer = FrameWriter::new(PAYLOAD_BYTES_MAX, 4096).expect("a valid limit");
    for (id, payload) in messages {
        writer.start_message(*id).write_bytes(payload);
        writer.end_message().expect("the message fits");
    }
    writer.as_bytes().to_vec()
}

fn read_frames(stream: &[u8]) -> Result<Value, FrameError> {
    let mut reader = FrameReader::new(PAYLOAD_BYTES_MAX).expect("a valid limit");
    let mut frames = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        rest = &rest[reader.push(rest)..];
        while let Some(frame) = reader.poll_frame()? {
            frames.push(json!({ "id": frame.id, "payload": hex(frame.payload) }));
        }
    }
    Ok(json!({ "frames": frames, "left_over": reader.buffered() }))
}

fn frames() -> Value {
    let two = framed(&[(258, b"\x09\x08"), (7, b"")]);
    let given = json!({ "payload_bytes_max": PAYLOAD_BYTES_MAX });
    let mut cases: Vec<Value> = [
        ("two frames", two.clone()),
        ("a frame and part of the next", two[..15].to_vec()),
        ("the largest frame", framed(&[(1, &[0xab; PAYLOAD_BYTES_MAX])])),
        ("nothing", Vec::new()),
    ]
    .into_iter()
    .map(|(name, stream)| {
        let value = read_frames(&stream).expect("a valid stream");
        case(name, given.clone(), &stream, value)
    })
    .collect();
    let mut garbage_after = two.clone();
    garbage_after[12] = 0;
    let mut oversize = framed(&[(1, b"")]);
    oversize[4] = 101;
    for (name, stream) in [
        ("a wrong first byte", vec![0x23]),
        ("a wrong second signature", garbage_after),
        ("one byte more than the limit", oversize),
    ] {
        let reason = match read_frames(&stream).expect_err("a broken stream") {
            FrameError::BadSignature => "BadSignature",
            FrameError::Oversize { .. } => "Oversize",
        };
        cases.push(refused_as(name, given.clone(), &stream, reason));
    }
    file("Framed streams. value.left_over: bytes of a frame that is not whole yet.", cases)
}

fn stream_masks() -> Value {
    let cases = [0, 1, 42, u32::MAX].map(|seed| {
        let plain: Vec<u8> = (0..=99).collect();
        let mut masked = plain.clone();
        StreamMask::from_seed(seed).apply(&mut masked);
        case(&format!("seed {seed}"), json!({ "seed": seed }), &masked, json!({ "plain": hex(&plain) }))
    });
    file("The compatibility mask over the first 100 bytes of a stream.", cases.to_vec())
}

fn entities(payload: &[u8]) -> Result<Vec<EntityPosition>, ReadError> {
    decode_entity_positions(payload)?.collect()
}

fn described(datagram: &[u8]) -> Result<Value, ReadError> {
    let packet = Packet::decode(datagram)?;
    let payload = match packet.opcode {
        opcode::PLAYER_INPUT => json!({ "mask": PlayerInput::decode(packet.payload)?.bits() }),
        opcode::ENTITY_POSITIONS => {
            let entity = |entity: &EntityPosition| {
                json!({
                    "id": entity.id, "x": single(entity.x), "y": single(entity.y),
                    "vx": single(entity.vx), "vy": single(entity.vy), "type": entity.kind,
                })
            };
            json!({ "entities": entities(packet.payload)?.iter().map(entity).collect::<Value>() })
        }
        opcode::POWERUP_SPAWNED => {
            let powerup = PowerupSpawned::decode(packet.payload)?;
            json!({ "id": powerup.id, "x": single(powerup.x), "y": single(powerup.y), "type": powerup.kind })
        }
        _ => json!({ "payload": hex(packet.payload) }),
    };
    Ok(json!({ "opcode": packet.opcode, "payload": payload }))
}

fn classic() -> Value {
    let pair = [
        EntityPosition { id: 42, x: 100.5, y: 200.0, vx: 5.0, vy: 0.0, kind: EntityPosition::PLAYER },
        EntityPosition { id: 100, x: 400.0, y: 150.5, vx: -3.0, vy: 1.0, kind: EntityPosition::ENEMY },
    ];
    let input = PlayerInput::UP.with(PlayerInput::RIGHT).with(PlayerInput::SHOOT);
    let shield = PowerupSpawned { id: 55, x: 250.0, y: 180.0, kind: PowerupSpawned::SHIELD };
    let two = written(|out| encode_entity_positions(&pair, out));
    let good = [
        ("join", written(|out| Packet { opcode: opcode::JOIN_LOBBY, payload: &[] }.encode(out))),
        ("up, right and shoot", written(|out| input.encode(out))),
        ("two entities", two.clone()),
        ("no entities", written(|out| encode_entity_positions(&[], out))),
        ("56 entities", written(|out| encode_entity_positions(&[pair[0]; 56], out))),
        ("a shield", written(|out| shield.encode(out))),
        ("join with a payload", vec![0x01, 2, 0, 0xab, 0xcd]),
        ("an opcode without a meaning here", vec![0x77, 1, 0, 0xab]),
    ];
    let mut cases: Vec<Value> = good
        .iter()
        .map(|(name, datagram)| {
            case(name, Value::Null, datagram, described(datagram).expect("a valid datagram"))
        })
        .collect();
    let patched = |at: usize, patch: &[u8]| {
        let mut bad = two.clone();
        bad[at..at + patch.len()].copy_from_slice(patch);
        bad
    };
    for (name, datagram) in [
        ("shorter than its size", two[..48].to_vec()),
        ("longer than its size", [&two[..], &[0]].concat()),
        ("no header", vec![0x10, 0x01]),
        ("reserved input bits", vec![0x10, 0x01, 0x00, 0x20]),
        ("a count too large for the payload", patched(3, &[3])),
        ("a count too small for the payload", patched(3, &[1])),
        ("57 entities announced", patched(3, &[57])),
        ("a place that is not a number", patched(11, &f32::NAN.to_le_bytes())),
        ("a power-up of 12 bytes", vec![0x30, 12, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        cases.push(refused(name, Value::Null, &datagram, described(&datagram)));
    }
    file("Datagrams of the classic shooter.", cases)
}
