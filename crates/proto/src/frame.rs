//! What a Data packet carries: a count, then that many frames, and nothing after them.
//!
//! ```text
//! payload:  count u8 │ frame │ frame │ …
//! frame:    channel (4 bits) · form (2 bits) · 0 (2 bits) │ fields by kind of channel and form │ data
//!
//!   reliable whole       id u16 │ length │ data              unreliable whole   length │ data
//!   sequenced whole      id u16 │ length │ data
//!   any fragment         id u16 │ index  │ count │ length │ data
//!   link copy            distance u8            │ length u8 │ block
//!   link parity          distance u8, nibbles   │ lengths xored u8 │ length u8 │ blocks xored
//!   link near parity     of the two packets before this one, whose blocks have the same length: length u8 │ xored
//! ```
//!
//! Lengths, indices and counts are varints. Reliable fragments have an id each, consecutive; the fragments of an
//! unreliable message share one.

use netloom_wire::varint;

use crate::config::ChannelKind;
use crate::limits::{
    BLOCK_DISTANCE_MAX, CHANNELS_MAX, LINK_CHANNEL, RELIABLE_WINDOW, UNRELIABLE_FRAGMENTS_MAX,
};

const FORM_SHIFT: u8 = 4;
const FORM_WHOLE: u8 = 0;
const FORM_FRAGMENT: u8 = 1;
const FORM_COPY: u8 = 0;
const FORM_PARITY: u8 = 1;
const FORM_NEAR_PARITY: u8 = 2;

/// The largest header of a redundancy frame: form, distances, lengths, length.
pub const LINK_HEADER_MAX: usize = 4;

/// The longest that stands before the data of a message: form, id, index, count and length.
pub const FRAME_HEAD_MAX: usize = 1 + 2 + 2 + 2 + 3;

/// The payload does not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed payload")]
pub struct Malformed;

/// The kinds of the channels, for parsing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChannelTable([Option<ChannelKind>; CHANNELS_MAX + 1]);

impl ChannelTable {
    /// The table of these channels; entries beyond [`CHANNELS_MAX`] are ignored.
    pub fn new(kinds: impl IntoIterator<Item = ChannelKind>) -> ChannelTable {
        let mut table = ChannelTable::default();
        for (slot, kind) in table.0.iter_mut().take(CHANNELS_MAX).zip(kinds) {
            *slot = Some(kind);
        }
        table
    }

    /// The kind of a channel.
    pub fn kind(&self, channel: u8) -> Option<ChannelKind> {
        self.0.get(usize::from(channel)).copied().flatten()
    }
}

/// A message, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFrame<'a> {
    /// The channel.
    pub channel: u8,
    /// How the channel delivers.
    pub kind: ChannelKind,
    /// The message id, truncated; 0 on unreliable channels unless it is a fragment.
    pub id: u16,
    /// Which part this is: index and count; `None` for a whole message.
    pub fragment: Option<(u16, u16)>,
    /// The bytes.
    pub data: &'a [u8],
}

/// The blocks of earlier packets, repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFrame<'a> {
    /// How many packets ago the repeated block was sent.
    pub distance: u64,
    /// The other block of a parity, and the XOR of both lengths.
    pub parity: Option<(u64, u8)>,
    /// The block, or the XOR of both, the shorter filled up with zeros.
    pub body: &'a [u8],
}

/// One frame of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A message or a fragment.
    Message(MessageFrame<'a>),
    /// Redundancy.
    Link(LinkFrame<'a>),
}

/// Reads frames one after another.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    rest: &'a [u8],
    left: usize,
    table: &'a ChannelTable,
}

impl<'a> Frames<'a> {
    /// The frames of a payload.
    pub fn of_payload(payload: &'a [u8], table: &'a ChannelTable) -> Result<Frames<'a>, Malformed> {
        let (&count, rest) = payload.split_first().ok_or(Malformed)?;
        match count {
            0 => Err(Malformed),
            _ => Ok(Frames { rest, left: usize::from(count), table }),
        }
    }

    /// The frames of a block, which has no count: they go on to its end.
    pub fn of_block(block: &'a [u8], table: &'a ChannelTable) -> Frames<'a> {
        Frames { rest: block, left: usize::MAX, table }
    }

    /// Whether the payload ends here, as it should.
    pub fn is_at_end(&self) -> bool {
        self.left == 0 && self.rest.is_empty()
    }

    /// How many frames are still to come; meaningless for a block.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The leading run of whole reliable frames: what redundancy repeats.
    pub fn block(&self) -> &'a [u8] {
        let mut ahead = self.clone();
        let start = ahead.rest;
        let mut length = 0;
        while let Some(Ok(Frame::Message(message))) = ahead.next() {
            if !message.kind.is_reliable() || message.fragment.is_some() {
                break;
            }
            length = start.len() - ahead.rest.len();
        }
        &start[..length]
    }

    fn parse(&mut self) -> Result<Frame<'a>, Malformed> {
        let head = self.byte()?;
        if head >> 6 != 0 {
            return Err(Malformed);
        }
        let (channel, form) = (head & 0x0f, head >> FORM_SHIFT);
        if channel == LINK_CHANNEL {
            return self.parse_link(form).map(Frame::Link);
        }
        let kind = self.table.kind(channel).ok_or(Malformed)?;
        let has_id = form == FORM_FRAGMENT || kind != ChannelKind::Unreliable;
        let id = if has_id { u16::from_le_bytes([self.byte()?, self.byte()?]) } else { 0 };
        let fragment = match form {
            FORM_WHOLE => None,
            FORM_FRAGMENT => Some(self.parse_fragment(kind)?),
            _ => return Err(Malformed),
        };
        let length = self.varint()?;
        let data = self.bytes(usize::try_from(length).map_err(|_| Malformed)?)?;
        Ok(Frame::Message(MessageFrame { channel, kind, id, fragment, data }))
    }

    fn parse_fragment(&mut self, kind: ChannelKind) -> Result<(u16, u16), Malformed> {
        let (index, count) = (self.varint()?, self.varint()?);
        let most = if kind.is_reliable() { RELIABLE_WINDOW / 2 } else { UNRELIABLE_FRAGMENTS_MAX };
        match index < count && (2..=most as u64).contains(&count) {
            true => Ok((index as u16, count as u16)),
            false => Err(Malformed),
        }
    }

    fn parse_link(&mut self, form: u8) -> Result<LinkFrame<'a>, Malformed> {
        let (distance, parity) = match form {
            FORM_COPY => (u64::from(self.byte()?), None),
            FORM_PARITY => {
                let distances = self.byte()?;
                (u64::from(distances & 0x0f), Some((u64::from(distances >> 4), self.byte()?)))
            }
            FORM_NEAR_PARITY => (1, Some((2, 0))),
            _ => return Err(Malformed),
        };
        let farthest = parity.map_or(distance, |(other, _)| other);
        let in_order = distance > 0 && parity.is_none_or(|(other, _)| other > distance);
        let is_long_for_near = form == FORM_PARITY && (distance, parity) == (1, Some((2, 0)));
        if !in_order || farthest > BLOCK_DISTANCE_MAX || is_long_for_near {
            return Err(Malformed);
        }
        let length = self.byte()?;
        let body = self.bytes(usize::from(length))?;
        Ok(LinkFrame { distance, parity, body })
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (&byte, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let (value, length) = varint::read(self.rest).ok_or(Malformed)?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let in_block = self.left == usize::MAX;
        if self.left == 0 || (in_block && self.rest.is_empty()) {
            return match self.rest.is_empty() {
                true => None,
                false => {
                    self.rest = &[];
                    Some(Err(Malformed))
                }
            };
        }
        let frame = self.parse();
        match frame {
            Ok(_) if in_block => {}
            Ok(_) => self.left -= 1,
            Err(Malformed) => {
                self.left = 0;
                self.rest = &[];
            }
        }
        Some(frame)
    }
}

/// What stands before the data of a message.
#[derive(Clone, Copy, Debug)]
pub struct FrameHead {
    bytes: [u8; FRAME_HEAD_MAX],
    length: u8,
}

impl FrameHead {
    /// Of a message, or a part of one, of so many bytes.
    #[inline]
    pub fn new(
        channel: u8,
        kind: ChannelKind,
        id: u16,
        fragment: Option<(u16, u16)>,
        data_len: usize,
    ) -> FrameHead {
        let mut bytes = [0; FRAME_HEAD_MAX];
        let form = if fragment.is_some() { FORM_FRAGMENT } else { FORM_WHOLE };
        bytes[0] = channel | form << FORM_SHIFT;
        let mut at = 1;
        if fragment.is_some() || kind != ChannelKind::Unreliable {
            [bytes[1], bytes[2]] = id.to_le_bytes();
            at = 3;
        }
        let mut put = |number: u64| at += varint::write(number, &mut bytes[at..]).unwrap_or(0);
        if let Some((index, count)) = fragment {
            put(index.into());
            put(count.into());
        }
        put(data_len as u64);
        FrameHead { bytes, length: at as u8 }
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }
}

/// Writes frames into the payload of one packet.
#[derive(Debug)]
pub struct FrameWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    count: u8,
    /// Where the leading run of whole reliable frames ends, and in how many calls they were written.
    block_end: usize,
    block_runs: u8,
}

impl<'a> FrameWriter<'a> {
    /// An empty payload in `out`.
    pub fn new(out: &'a mut [u8]) -> FrameWriter<'a> {
        FrameWriter { out, at: 1, count: 0, block_end: 1, block_runs: 0 }
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the payload so far, the count of frames included.
    pub fn len(&self) -> usize {
        self.at
    }

    /// Bytes left, if another frame is allowed at all.
    pub fn room(&self) -> usize {
        if self.count == u8::MAX { 0 } else { self.out.len().saturating_sub(self.at) }
    }

    /// The length of the leading run of whole reliable frames, and in how many calls they were written: what [`Frames::block`]
    /// finds on the other side. Noted as they are written, since reading them again took a tenth of the instructions of sending four.
    pub fn block(&self) -> (usize, usize) {
        (self.block_end - 1, self.block_runs.into())
    }

    /// Bytes that a message of so many bytes takes.
    #[inline]
    pub fn length(kind: ChannelKind, fragment: Option<(u16, u16)>, bytes: usize) -> usize {
        let has_id = fragment.is_some() || kind != ChannelKind::Unreliable;
        let fragment =
            fragment.map_or(0, |(index, count)| varint::len(index.into()) + varint::len(count.into()));
        1 + usize::from(has_id) * 2 + fragment + varint::len(bytes as u64) + bytes
    }

    /// Appends a message; says whether it fitted.
    pub fn message(&mut self, frame: &MessageFrame<'_>) -> bool {
        self.message_within(frame, 0)
    }

    /// The same if `reserve` bytes are left after it.
    #[inline]
    pub fn message_within(&mut self, frame: &MessageFrame<'_>, reserve: usize) -> bool {
        let head = FrameHead::new(frame.channel, frame.kind, frame.id, frame.fragment, frame.data.len());
        let head = head.bytes();
        let length = head.len() + frame.data.len();
        let room = self.room();
        let Some(out) = self.out.get_mut(self.at..self.at + length).filter(|_| length + reserve <= room)
        else {
            return false;
        };
        let (out_head, out_data) = out.split_at_mut(head.len());
        out_head.copy_from_slice(head);
        out_data.copy_from_slice(frame.data);
        self.advance(length, 1, frame.kind.is_reliable() && frame.fragment.is_none());
        true
    }

    /// How many more frames a packet may have.
    #[inline]
    pub fn frames_left(&self) -> usize {
        (u8::MAX - self.count).into()
    }

    /// Appends frames of reliable channels that were written before, at most [`frames_left`](Self::frames_left), and whether
    /// they are whole messages; says whether they fitted.
    #[inline]
    pub fn frames(&mut self, frames: &[u8], count: usize, are_whole: bool) -> bool {
        let frames_left = self.frames_left();
        let end = self.at + frames.len();
        let Some(out) = self.out.get_mut(self.at..end).filter(|_| count <= frames_left) else {
            return false;
        };
        out.copy_from_slice(frames);
        self.advance(frames.len(), count as u8, are_whole);
        true
    }

    #[inline]
    fn advance(&mut self, length: usize, count: u8, are_whole_and_reliable: bool) {
        let end = self.at + length;
        if self.block_end == self.at && are_whole_and_reliable {
            self.block_end = end;
            self.block_runs += 1;
        }
        self.at = end;
        self.count += count;
    }

    /// Appends a redundancy frame; says whether it fitted.
    pub fn link(&mut self, frame: &LinkFrame<'_>) -> bool {
        self.link_within(frame, 0)
    }

    /// The same if `reserve` bytes are left after it.
    pub fn link_within(&mut self, frame: &LinkFrame<'_>, reserve: usize) -> bool {
        if LINK_HEADER_MAX + frame.body.len() + reserve > self.room() {
            return false;
        }
        match frame.parity {
            None => self.put(&[LINK_CHANNEL | FORM_COPY << FORM_SHIFT, frame.distance as u8]),
            Some((2, 0)) if frame.distance == 1 => self.put(&[LINK_CHANNEL | FORM_NEAR_PARITY << FORM_SHIFT]),
            Some((other, lengths)) => {
                let distances = frame.distance as u8 | (other as u8) << 4;
                self.put(&[LINK_CHANNEL | FORM_PARITY << FORM_SHIFT, distances, lengths]);
            }
        }
        self.put(&[frame.body.len() as u8]);
        self.put(frame.body);
        self.count += 1;
        true
    }

    /// Writes the count and returns the length of the payload.
    pub fn finish(self) -> usize {
        self.out[0] = self.count;
        self.at
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> ChannelTable {
        use ChannelKind::*;
        ChannelTable::new([Priority, Ordered, Unordered, Unreliable, Sequenced])
    }

    /// Channel, id, fragment and data.
    type Message = (u8, u16, Option<(u16, u16)>, Vec<u8>);

    fn messages() -> impl Strategy<Value = Vec<Message>> {
        let fragment = (2u16..=64).prop_flat_map(|count| (0..count, Just(count)));
        let data = proptest::collection::vec(any::<u8>(), 0..100);
        proptest::collection::vec((0u8..5, any::<u16>(), proptest::option::of(fragment), data), 1..12)
    }

    proptest! {
        #[test]
        fn written_frames_are_read_back(messages in messages()) {
            let table = table();
            let mut out = [0; 1200];
            let mut writer = FrameWriter::new(&mut out);
            let mut expected = vec![];
            for (channel, id, fragment, data) in &messages {
                let kind = table.kind(*channel).unwrap();
                let id = if kind == ChannelKind::Unreliable && fragment.is_none() { 0 } else { *id };
                let frame = MessageFrame { channel: *channel, kind, id, fragment: *fragment, data };
                let before = writer.room();
                if writer.message(&frame) {
                    prop_assert_eq!(before - writer.room(), FrameWriter::length(frame.kind, frame.fragment, frame.data.len()));
                    expected.push(Frame::Message(frame));
                }
            }
            let (block_len, _) = writer.block();
            let length = writer.finish();
            prop_assert_eq!(block_len, Frames::of_payload(&out[..length], &table).map_or(0, |frames| frames.block().len()));
            let read: Result<Vec<_>, _> = Frames::of_payload(&out[..length], &table).unwrap().collect();
            prop_assert_eq!(read, Ok(expected));
            prop_assert!(Frames::of_payload(&out[..length - 1], &table).unwrap().any(|frame| frame.is_err()));
        }

        #[test]
        fn no_bytes_panic_and_every_walk_ends(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let table = table();
            if let Ok(frames) = Frames::of_payload(&bytes, &table) {
                let _ = frames.block();
                prop_assert!(frames.count() <= 256);
            }
            prop_assert!(Frames::of_block(&bytes, &table).count() <= bytes.len() + 1);
        }
    }

    #[test]
    fn a_count_that_does_not_match_is_malformed() {
        let table = table();
        let mut out = [0; 64];
        let mut writer = FrameWriter::new(&mut out);
        let frame =
            MessageFrame { channel: 3, kind: ChannelKind::Unreliable, id: 0, fragment: None, data: b"hello" };
        assert!(writer.message(&frame) && writer.message(&frame));
        let length = writer.finish();
        for (count, valid) in [(0, false), (1, false), (2, true), (3, false)] {
            out[0] = count;
            let all = Frames::of_payload(&out[..length], &table)
                .is_ok_and(|mut frames| frames.all(|frame| frame.is_ok()));
            assert_eq!(all, valid, "count {count}");
        }
    }

    #[test]
    fn the_block_is_the_leading_run_of_whole_reliable_frames() {
        let table = table();
        let mut out = [0; 256];
        let mut writer = FrameWriter::new(&mut out);
        let reliable =
            MessageFrame { channel: 1, kind: ChannelKind::Ordered, id: 7, fragment: None, data: b"abc" };
        let other =
            MessageFrame { channel: 3, kind: ChannelKind::Unreliable, id: 0, fragment: None, data: b"xyz" };
        assert!(
            writer.message(&reliable)
                && writer.message(&reliable)
                && writer.message(&other)
                && writer.message(&reliable)
        );
        let written = writer.block();
        let length = writer.finish();
        let block = Frames::of_payload(&out[..length], &table).unwrap().block();
        assert_eq!(block.len(), 2 * FrameWriter::length(reliable.kind, None, reliable.data.len()));
        assert_eq!(written, (block.len(), 2));
        assert_eq!(Frames::of_block(block, &table).filter(|frame| frame.is_ok()).count(), 2);
    }

    #[test]
    fn link_frames_reach_back_only_so_far() {
        let table = table();
        let mut out = [0; 64];
        for (distance, parity, valid) in [
            (1, None, true),
            (8, None, true),
            (9, None, false),
            (0, None, false),
            (1, Some((2, 5)), true),
            (1, Some((2, 0)), true),
            (2, Some((2, 5)), false),
            (3, Some((2, 5)), false),
        ] {
            let mut writer = FrameWriter::new(&mut out);
            assert!(writer.link(&LinkFrame { distance, parity, body: b"body" }));
            let length = writer.finish();
            let read = Frames::of_payload(&out[..length], &table).unwrap().next().unwrap();
            assert_eq!(read.is_ok(), valid, "{distance} {parity:?}");
        }
    }
}
