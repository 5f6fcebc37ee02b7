use super::mask::StreamMask;
use super::*;
use crate::bytes::{ByteReader, ByteSink, KEPT_CAPACITY_BYTES};
use crate::error::WriteError;
use proptest::prelude::*;

fn framed(messages: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut writer = FrameWriter::new(100_000, 1 << 20).unwrap();
    for (id, payload) in messages {
        writer.start_message(*id).write_bytes(payload);
        writer.end_message().unwrap();
    }
    writer.as_bytes().to_vec()
}

#[test]
fn a_frame_has_the_documented_bytes() {
    assert_eq!(framed(&[(0x0102, vec![9, 8])]), [0x22, 0x94, 0x1e, 0x01, 2, 0, 0, 0, 0x02, 0x01, 9, 8]);
}

#[test]
fn a_frame_appears_only_when_its_last_byte_arrived() {
    let bytes = framed(&[(5, b"hello".to_vec())]);
    let mut reader = FrameReader::new(100).unwrap();
    for byte in &bytes[..bytes.len() - 1] {
        assert_eq!(reader.push(&[*byte]), 1);
        assert!(!reader.needs_process());
        assert_eq!(reader.poll_frame(), Ok(None));
    }
    reader.push(&bytes[bytes.len() - 1..]);
    assert!(reader.needs_process());
    let frame = reader.poll_frame().unwrap().unwrap();
    assert_eq!(ByteReader::new(frame.payload).read_bytes(5), Ok(&b"hello"[..]));
    assert_eq!(frame.id, 5);
    assert_eq!(reader.poll_frame(), Ok(None));
}

#[test]
fn the_first_wrong_signature_byte_poisons_the_stream_for_good() {
    let mut reader = FrameReader::new(100).unwrap();
    reader.push(&[0x22, 0x95]);
    assert_eq!(reader.poll_frame(), Err(FrameError::BadSignature));
    let good = framed(&[(1, vec![])]);
    assert_eq!(reader.push(&good), good.len());
    assert_eq!(reader.poll_frame(), Err(FrameError::BadSignature));
    assert_eq!((reader.buffered(), reader.capacity()), (0, 0));
}

#[test]
fn an_oversize_announcement_is_refused_before_its_payload_arrives() {
    let mut reader = FrameReader::new(100).unwrap();
    let mut header = framed(&[(1, vec![])]);
    header[4..8].copy_from_slice(&101u32.to_le_bytes());
    reader.push(&header[..8]);
    assert_eq!(reader.poll_frame(), Err(FrameError::Oversize { length: 101, max: 100 }));
}

#[test]
fn a_reader_holds_one_largest_frame_and_no_more() {
    let mut reader = FrameReader::new(100).unwrap();
    let bytes = framed(&[(1, vec![7; 100]), (2, vec![8; 100])]);
    let taken = reader.push(&bytes);
    assert_eq!(taken, 110);
    assert_eq!(reader.poll_frame().unwrap().unwrap().id, 1);
    assert_eq!(reader.push(&bytes[taken..]), 110);
    assert_eq!(reader.poll_frame().unwrap().unwrap().id, 2);
}

#[test]
fn memory_of_a_large_message_is_given_back() {
    let mut reader = FrameReader::new(100_000).unwrap();
    reader.push(&framed(&[(1, vec![0; 100_000])]));
    assert!(reader.poll_frame().unwrap().is_some());
    reader.push(&[]);
    assert!(reader.capacity() <= KEPT_CAPACITY_BYTES);
}

#[test]
fn a_failed_message_leaves_no_trace() {
    let mut writer = FrameWriter::new(4, 64).unwrap();
    writer.start_message(1).write_u32(1);
    writer.end_message().unwrap();
    let before = writer.as_bytes().to_vec();
    writer.start_message(2).write_u64(1);
    assert_eq!(writer.as_bytes(), before, "an open message is not sent");
    assert_eq!(writer.end_message(), Err(WriteError::TooLong));
    writer.start_message(3).write_bytes(&[0; 64]);
    assert_eq!(writer.end_message(), Err(WriteError::BufferFull));
    writer.start_message(4).write_u8(1);
    writer.start_message(5).write_u8(2);
    writer.consume(before.len());
    writer.end_message().unwrap();
    assert_eq!(writer.as_bytes(), framed(&[(5, vec![2])]));
}

#[test]
fn impossible_limits_are_refused() {
    assert_eq!(FrameReader::new(0).err(), Some(PayloadLimitError { payload_bytes_max: 0 }));
    assert!(FrameWriter::new(PAYLOAD_BYTES_LIMIT + 1, 1).is_err());
}

#[test]
fn a_mask_undoes_itself_at_any_split() {
    let plain: Vec<u8> = (0..=255).collect();
    let mut masked = plain.clone();
    StreamMask::from_seed(42).apply(&mut masked);
    assert_ne!(masked, plain);
    assert_eq!(masked[0] ^ plain[0], masked[50] ^ plain[50], "keys repeat every 50 bytes");
    let mut mask = StreamMask::from_seed(42);
    for piece in masked.chunks_mut(7) {
        mask.apply(piece);
    }
    assert_eq!(masked, plain);
}

proptest! {
    #[test]
    fn messages_return_however_the_stream_is_cut(
        messages in proptest::collection::vec((any::<u16>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..12),
        cuts in proptest::collection::vec(1usize..40, 1..20),
    ) {
        let bytes = framed(&messages);
        let mut reader = FrameReader::new(60).unwrap();
        let mut received = Vec::new();
        let mut rest = &bytes[..];
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let piece = &rest[..(*cuts.next().unwrap()).min(rest.len())];
            let taken = reader.push(piece);
            rest = &rest[taken..];
            while let Some(frame) = reader.poll_frame().unwrap() {
                received.push((frame.id, frame.payload.to_vec()));
            }
        }
        prop_assert_eq!(received, messages);
    }

    #[test]
    fn any_bytes_are_taken_without_panic_and_within_the_limit(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..20)) {
        let mut reader = FrameReader::new(32).unwrap();
        for piece in pieces {
            reader.push(&piece);
            let _ = reader.poll_frame();
            prop_assert!(reader.buffered() <= 42);
        }
    }
}
