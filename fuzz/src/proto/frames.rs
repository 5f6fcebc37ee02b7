//! Payloads and blocks: a count, frames, and nothing after them.

use netloom_proto::ChannelKind;
use netloom_proto::frame::{ChannelTable, Frame, FrameWriter, Frames};

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
        let Ok(frames) = Frames::of_payload(bytes, &table) else {
            return;
        };
        assert!(frames.left() > 0);
        check(frames, bytes, 0);
    } else {
        check(Frames::of_block(bytes, &table), bytes, 1);
    }
}

/// `skipped` bytes of what is written again, the count, are not part of `bytes`.
fn check(frames: Frames<'_>, bytes: &[u8], skipped: usize) {
    assert!(
        bytes[1 - skipped..].starts_with(frames.block()),
        "a block is the beginning of its payload"
    );
    let mut again = vec![0; bytes.len() + 1];
    let mut writer = FrameWriter::new(&mut again);
    let mut count = 0;
    for frame in frames {
        let Ok(frame) = frame else { return };
        let fitted = match frame {
            Frame::Message(message) => {
                let expected = writer.frames().len() + FrameWriter::message_len(&message);
                let fitted = writer.message(&message);
                assert!(!fitted || writer.frames().len() == expected);
                fitted
            }
            Frame::Link(link) => writer.link(&link),
        };
        count += 1;
        if count > 255 {
            assert!(!fitted, "a packet has at most 255 frames");
            return;
        }
        assert!(fitted);
    }
    let length = writer.finish();
    assert_eq!(&again[skipped..length], bytes);
}
