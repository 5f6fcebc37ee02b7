//! Messages on a stream that arrives in pieces, and the classic datagrams.

use netloom_wire::classic::{
    EntityPosition, Packet, PlayerInput, PowerupSpawned, decode_entity_positions, encode_entity_positions,
    opcode,
};
use netloom_wire::message::mask::StreamMask;
use netloom_wire::message::{FRAME_HEADER_BYTES, FrameError, FrameReader, FrameWriter};
use netloom_wire::{ByteSink, ReadError};

use crate::input::Input;

/// Reads a framed stream in pieces, a classic datagram, or a masked stream.
pub fn wire_stream(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(3) {
        0 => read_stream(&mut input),
        1 => read_classic(input.rest()),
        _ => mask_twice(&mut input),
    }
}

type Frames = (Vec<(u16, Vec<u8>)>, Option<FrameError>);

fn read_stream(input: &mut Input<'_>) {
    let payload_bytes_max = usize::from(input.u8()) + 1;
    let piece_bytes = usize::from(input.u8()) + 1;
    let stream = input.rest();
    let (frames, error) = read_in_pieces(stream, payload_bytes_max, piece_bytes);
    let at_once = read_in_pieces(stream, payload_bytes_max, stream.len().max(1));
    assert_eq!((&frames, error), (&at_once.0, at_once.1), "the pieces decide");

    let mut writer = FrameWriter::new(payload_bytes_max, usize::MAX).expect("a limit of 1 to 256");
    for (id, payload) in &frames {
        writer.start_message(*id).write_bytes(payload);
        writer.end_message().expect("a frame that was read can be written");
    }
    assert_eq!(writer.as_bytes(), &stream[..writer.as_bytes().len()]);
}

fn read_in_pieces(stream: &[u8], payload_bytes_max: usize, piece_bytes: usize) -> Frames {
    let mut reader = FrameReader::new(payload_bytes_max).expect("a limit of 1 to 256");
    let mut frames = Vec::new();
    for piece in stream.chunks(piece_bytes) {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = reader.push(rest);
            rest = &rest[taken..];
            assert!(reader.buffered() <= FRAME_HEADER_BYTES + payload_bytes_max);
            let before = frames.len();
            loop {
                let is_waiting = reader.needs_process();
                match reader.poll_frame() {
                    Ok(Some(frame)) => frames.push((frame.id, frame.payload.to_vec())),
                    Ok(None) => {
                        assert!(!is_waiting);
                        break;
                    }
                    Err(error) => return (frames, Some(error)),
                }
            }
            assert!(taken > 0 || frames.len() > before, "the reader is stuck");
        }
    }
    (frames, None)
}

fn read_classic(datagram: &[u8]) {
    let Ok(packet) = Packet::decode(datagram) else {
        return;
    };
    let mut again = vec![0; datagram.len()];
    assert_eq!(packet.encode(&mut again), Ok(datagram.len()));
    assert_eq!(again, datagram);
    let payload = packet.payload;
    let encoded = match packet.opcode {
        opcode::PLAYER_INPUT => PlayerInput::decode(payload).ok().map(|input| input.encode(&mut again)),
        opcode::POWERUP_SPAWNED => {
            PowerupSpawned::decode(payload).ok().map(|powerup| powerup.encode(&mut again))
        }
        opcode::ENTITY_POSITIONS => {
            decode_entities(payload).map(|entities| encode_entity_positions(&entities, &mut again))
        }
        _ => None,
    };
    if let Some(length) = encoded {
        assert_eq!(length, Ok(datagram.len()));
        assert_eq!(again, datagram);
    }
}

fn decode_entities(payload: &[u8]) -> Option<Vec<EntityPosition>> {
    let entities: Result<Vec<_>, ReadError> = decode_entity_positions(payload).ok()?.collect();
    entities.ok()
}

fn mask_twice(input: &mut Input<'_>) {
    let (seed, piece_bytes) = (input.u32(), usize::from(input.u8()) + 1);
    let plain = input.rest();
    let mut bytes = plain.to_vec();
    StreamMask::from_seed(seed).apply(&mut bytes);
    let mut unmask = StreamMask::from_seed(seed);
    bytes.chunks_mut(piece_bytes).for_each(|piece| unmask.apply(piece));
    assert_eq!(bytes, plain);
}
