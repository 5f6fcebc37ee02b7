//! Payloads and blocks: a count, frames, and nothing after them.

use netloom_proto::ChannelKind;
use netloom_proto::frame::{ChannelTable, Frame, FrameWriter, Frames, LINK_HEADER_MAX};
use netloom_proto::limits::MESSAGES_PER_DATAGRAM_MAX;

use crate::input::Input;

const KINDS: [ChannelKind; 5] = [
    ChannelKind::Priority,
    ChannelKind::Ordered,
    ChannelKind::Unordered,
    ChannelKind::Unreliable,
    ChannelKind::Sequenced,
];

/// Parses a payload, or a block of frames without a count.
pub fn proto_frames(data: &[u8]) {
    let mut input = Input::new(data);
    let form = input.u8();
    let table = ChannelTable::new(KINDS.into_iter().cycle().take(usize::from(form >> 1) % 16));
    let bytes = input.rest();
    if form & 1 == 0 {
        check_payload(bytes, &table);
    } else {
        check_block(bytes, &table);
    }
}

fn check_payload(payload: &[u8], table: &ChannelTable) {
    let Ok(frames) = Frames::of_payload(payload, table) else {
        return;
    };
    assert!(frames.left() > 0);
    assert!(payload[1..].starts_with(frames.block()), "a block begins its payload");
    let Ok(frames) = frames.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let again = written(&frames);
    let reread = Frames::of_payload(&again, table).and_then(Iterator::collect);
    assert_eq!(reread, Ok(frames.clone()));
    // A parity has a short form for the usual distances, and only the frames after it are moved by that.
    let has_one_form = |frame: &Frame<'_>| matches!(frame, Frame::Message(_));
    assert!(again.len() <= payload.len());
    assert!(again == payload || !frames.iter().all(has_one_form));
}

fn check_block(block: &[u8], table: &ChannelTable) {
    let frames = Frames::of_block(block, table);
    assert!(block.starts_with(frames.block()));
    let Ok(frames) = frames.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    if frames.len() <= MESSAGES_PER_DATAGRAM_MAX {
        let again = written(&frames);
        let reread = Frames::of_block(&again[1..], table).collect();
        assert_eq!(Ok(frames), reread);
    }
}

/// The payload of these frames, at most 255 of them.
fn written(frames: &[Frame<'_>]) -> Vec<u8> {
    let most = |frame: &Frame<'_>| match frame {
        Frame::Message(message) => FrameWriter::length(message.kind, message.fragment, message.data.len()),
        Frame::Link(link) => LINK_HEADER_MAX + link.body.len(),
    };
    let mut out = vec![0; 1 + frames.iter().map(most).sum::<usize>()];
    let mut writer = FrameWriter::new(&mut out);
    for frame in frames {
        let before = writer.len();
        assert!(match frame {
            Frame::Message(message) => writer.message(message),
            Frame::Link(link) => writer.link(link),
        });
        let length = writer.len() - before;
        assert!(length == most(frame) || matches!(frame, Frame::Link(_)));
    }
    let length = writer.finish();
    out.truncate(length);
    out
}
