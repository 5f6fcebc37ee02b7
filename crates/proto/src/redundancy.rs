//! Repeating small reliable messages before anybody asks for them.
//!
//! A lost packet costs at least a round trip until its messages come again, and on an ordered channel everything
//! behind them waits. Small messages are cheap, so each packet repeats those of the packets before it. The unit is
//! the *block* of a packet: its leading whole reliable frames, at most 255 bytes.
//!
//! ```text
//! packet     n        n+1                  n+2                 n+3
//! copy       B(n)     B(n+1) B(n-1)        B(n+2) B(n)         B(n+3) B(n+1)
//! parity     B(n)     B(n+1) B(n)⊕B(n-1)   B(n+2) B(n+1)⊕B(n)  B(n+3) B(n+2)⊕B(n+1)
//! ```
//!
//! Both take the same bytes. A copy follows at a distance of two: losses come in pairs, and when n is lost, n+1 still
//! tells the sender so, before it could know that the copy in n+2 is lost too. When n and n+1 are lost, n+2 and n+3
//! bring them back; n and n+2 together are one too many. With parity, n+1 is enough to bring back n; when both are lost,
//! n+3 gives n+1 (it has n+2) and then the parity of n+2 gives n.
//!
//! The last blocks before a pause have no successors: after `tail_delay` a packet is made for them.
//!
//! What was repeated need not be resent. A receiver acknowledges a packet only when it has taken everything that the
//! packet gave it, repetitions included, and keeps a block only when it has taken it. So the acknowledgements tell
//! a sender which blocks arrived without their packets: see [`Repeats`].

use netloom_wire::Micros;

use crate::config::Redundancy;
use crate::frame::{FrameWriter, LinkFrame};
use crate::limits::{BLOCK_BYTES_MAX, BLOCK_DISTANCE_MAX};

/// The reliable frames of one packet.
#[derive(Clone, Copy)]
pub struct Block {
    /// The packet.
    pub number: u64,
    length: u8,
    bytes: [u8; BLOCK_BYTES_MAX],
}

impl std::fmt::Debug for Block {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Block({}, {} bytes)", self.number, self.length)
    }
}

impl Block {
    fn new(number: u64, frames: &[u8]) -> Option<Block> {
        let length = u8::try_from(frames.len()).ok()?;
        let mut bytes = [0; BLOCK_BYTES_MAX];
        bytes[..frames.len()].copy_from_slice(frames);
        Some(Block { number, length, bytes })
    }

    /// Its frames.
    pub fn frames(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn xor(&mut self, other: &[u8]) {
        self.bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
    }
}

/// How many packets later a copy follows, unless it goes in a packet of its own.
const COPY_DISTANCE: u64 = 2;

/// Two distances back from a packet, a nibble each; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distances(u8);

impl Distances {
    fn new(near: u64, far: u64) -> Distances {
        Distances(near as u8 | (far as u8) << 4)
    }

    fn packets_before(self, number: u64) -> [Option<u64>; 2] {
        let before = |distance: u8| number.checked_sub(distance.into()).filter(|_| distance > 0);
        [before(self.0 & 0x0f), before(self.0 >> 4)]
    }
}

/// The blocks that a packet repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// None.
    #[default]
    Nothing,
    /// One or two, each as it is.
    Copies(Distances),
    /// Two, XORed.
    Parity(Distances),
}

impl Repeats {
    /// The packets whose blocks packet `number` repeats as they are.
    pub fn copied_by(self, number: u64) -> [Option<u64>; 2] {
        match self {
            Repeats::Copies(distances) => distances.packets_before(number),
            Repeats::Nothing | Repeats::Parity(_) => [None; 2],
        }
    }

    /// The packets whose blocks have arrived because packet `number`, which repeats them, was acknowledged.
    ///
    /// A copy speaks for itself. A parity gives one block if the receiver has the other, which it does if that packet is
    /// acknowledged and the receiver still held whichever of the two came first when the second came: it holds the last
    /// 16, so nothing that was sent so far (up to `next_number`) may have pushed them out.
    pub fn settled_by(
        self,
        number: u64,
        next_number: u64,
        is_acked: impl Fn(u64) -> bool,
    ) -> [Option<u64>; 2] {
        match self {
            Repeats::Nothing | Repeats::Copies(_) => self.copied_by(number),
            Repeats::Parity(distances) => match distances.packets_before(number) {
                [Some(near), Some(far)] if next_number <= far + KEPT as u64 => {
                    [is_acked(far).then_some(near), is_acked(near).then_some(far)]
                }
                _ => [None; 2],
            },
        }
    }
}

#[derive(Debug)]
struct SentBlock {
    block: Block,
    /// Since when it has not been repeated.
    waiting_since: Option<Micros>,
}

/// The sending side: the last two blocks.
#[derive(Debug, Default)]
pub struct BlockHistory {
    last: Option<Box<SentBlock>>,
    before: Option<Box<SentBlock>>,
}

impl BlockHistory {
    /// Packet `number` was sent with these protected frames.
    pub fn handle_sent(&mut self, now: Micros, number: u64, frames: &[u8]) {
        let Some(block) = Block::new(number, frames) else {
            return;
        };
        let sent = SentBlock { block, waiting_since: Some(now) };
        std::mem::swap(&mut self.last, &mut self.before);
        match &mut self.last {
            Some(last) => **last = sent,
            empty => *empty = Some(Box::new(sent)),
        }
    }

    /// Packet `number` arrived: its block needs no repetition.
    pub fn handle_acked(&mut self, number: u64) {
        for sent in [&mut self.last, &mut self.before].into_iter().flatten() {
            if sent.block.number == number {
                sent.waiting_since = None;
            }
        }
    }

    /// Since when the newest block that waits to be repeated does so.
    pub fn waiting_since(&self) -> Option<Micros> {
        let newest_first = [&self.last, &self.before].into_iter().flatten();
        newest_first.filter_map(|sent| sent.waiting_since).next()
    }

    /// Repeats blocks in the packet `number` that is being written, if they fit and `reserve` bytes are left. A packet
    /// with nothing in it so far is made for them: it repeats all that wait, as they are, for nothing behind it could
    /// resolve a parity.
    pub fn write(
        &mut self,
        number: u64,
        mode: Redundancy,
        reserve: usize,
        writer: &mut FrameWriter<'_>,
    ) -> Repeats {
        for sent in [&mut self.last, &mut self.before].into_iter().flatten() {
            if mode == Redundancy::Off || number - sent.block.number > BLOCK_DISTANCE_MAX {
                sent.waiting_since = None;
            }
        }
        match (mode, writer.is_empty()) {
            (Redundancy::Off, _) => Repeats::Nothing,
            (Redundancy::Parity, false) => self.write_parity(number, reserve, writer),
            (_, true) => self.write_copies(number, 2, 1, reserve, writer),
            (Redundancy::Copy, false) => self.write_copies(number, 1, COPY_DISTANCE, reserve, writer),
        }
    }

    /// Copies at most `count` waiting blocks that are at least `distance_min` back, the older first.
    fn write_copies(
        &mut self,
        number: u64,
        count: usize,
        distance_min: u64,
        reserve: usize,
        writer: &mut FrameWriter<'_>,
    ) -> Repeats {
        let mut distances = [0; 2];
        let oldest_first = [&mut self.before, &mut self.last].into_iter().flatten();
        let waiting = oldest_first.filter(|sent| sent.waiting_since.is_some()).take(count);
        for (sent, written) in waiting.zip(&mut distances) {
            let distance = number - sent.block.number;
            let link = LinkFrame { distance, parity: None, body: sent.block.frames() };
            if distance >= distance_min && writer.link_within(&link, reserve) {
                sent.waiting_since = None;
                *written = distance;
            }
        }
        match distances {
            [0, 0] => Repeats::Nothing,
            [first, second] => Repeats::Copies(Distances::new(first, second)),
        }
    }

    /// Writes the XOR of the last two blocks if the last one waits; its copy if the other is too far back.
    fn write_parity(&mut self, number: u64, reserve: usize, writer: &mut FrameWriter<'_>) -> Repeats {
        let BlockHistory { last: Some(last), before } = self else {
            return Repeats::Nothing;
        };
        let Some(before) =
            before.as_mut().filter(|before| number - before.block.number <= BLOCK_DISTANCE_MAX)
        else {
            return self.write_copies(number, 1, 1, reserve, writer);
        };
        if last.waiting_since.is_none() {
            return Repeats::Nothing;
        }
        let (near, far) = (number - last.block.number, number - before.block.number);
        let mut both = last.block;
        both.xor(before.block.frames());
        let length = usize::from(last.block.length.max(before.block.length));
        let parity = Some((far, last.block.length ^ before.block.length));
        let link = LinkFrame { distance: near, parity, body: &both.bytes[..length] };
        if !writer.link_within(&link, reserve) {
            return Repeats::Nothing;
        }
        last.waiting_since = None;
        before.waiting_since = None;
        Repeats::Parity(Distances::new(near, far))
    }
}

const KEPT: usize = 2 * BLOCK_DISTANCE_MAX as usize;

#[derive(Clone, Copy, Debug)]
struct Parity {
    numbers: [u64; 2],
    lengths: u8,
    both: Block,
}

#[derive(Debug)]
struct Shelves {
    blocks: [Option<Block>; KEPT],
    parities: [Option<Parity>; KEPT],
}

/// The receiving side: recent blocks whose frames have been taken, and parities that are not resolved yet.
#[derive(Debug, Default)]
pub struct BlockStore(Option<Box<Shelves>>);

/// A block that a parity gives away.
#[derive(Clone, Copy, Debug)]
pub struct Recovered {
    /// It.
    pub block: Block,
    parity: usize,
}

impl BlockStore {
    /// Keeps the block of packet `number`. All of its frames must have been taken.
    pub fn insert(&mut self, number: u64, frames: &[u8]) {
        if let Some(block) = Block::new(number, frames) {
            self.shelves().put(block);
        }
    }

    /// Whether the block of packet `number` is kept.
    pub fn contains(&self, number: u64) -> bool {
        self.0.as_ref().is_some_and(|shelves| shelves.get(number).is_some())
    }

    /// Keeps a parity of packet `number`; one that reaches back before the first packet is ignored.
    pub fn insert_parity(&mut self, number: u64, frame: &LinkFrame<'_>) {
        let first = number.checked_sub(frame.distance);
        let second = frame.parity.and_then(|(distance, _)| number.checked_sub(distance));
        let both = Block::new(number, frame.body);
        if let (Some(first), Some(second), Some((_, lengths)), Some(both)) =
            (first, second, frame.parity, both)
        {
            self.shelves().parities[number as usize % KEPT] =
                Some(Parity { numbers: [first, second], lengths, both });
        }
    }

    /// The next block that a parity gives away, looking from `place` on. Look from 0 whenever something was inserted.
    pub fn poll_recovered(&mut self, place: &mut usize) -> Option<Recovered> {
        let shelves = self.0.as_mut()?;
        while *place < KEPT {
            let index = *place;
            *place += 1;
            let Some(parity) = &shelves.parities[index] else {
                continue;
            };
            let (missing, other) = match parity.numbers.map(|number| shelves.get(number)) {
                [Some(_), Some(_)] => {
                    shelves.parities[index] = None;
                    continue;
                }
                [None, None] => continue,
                [None, Some(other)] => (parity.numbers[0], other),
                [Some(other), None] => (parity.numbers[1], other),
            };
            let mut block = parity.both;
            block.xor(&other.bytes);
            block.number = missing;
            block.length = parity.lengths ^ other.length;
            // What a sender put behind the shorter block is no part of it, nor of what it helps to recover.
            block.bytes[usize::from(block.length)..].fill(0);
            return Some(Recovered { block, parity: index });
        }
        None
    }

    /// The frames of a recovered block have all been taken. Until then its parity stays, so that it comes again.
    pub fn handle_taken(&mut self, recovered: Recovered) {
        let shelves = self.shelves();
        shelves.parities[recovered.parity] = None;
        shelves.put(recovered.block);
    }

    fn shelves(&mut self) -> &mut Shelves {
        self.0.get_or_insert_with(|| Box::new(Shelves { blocks: [None; KEPT], parities: [None; KEPT] }))
    }
}

impl Shelves {
    fn get(&self, number: u64) -> Option<&Block> {
        self.blocks[number as usize % KEPT].as_ref().filter(|block| block.number == number)
    }

    /// Newer blocks push out older ones, never the reverse.
    fn put(&mut self, block: Block) {
        let place = &mut self.blocks[block.number as usize % KEPT];
        if place.as_ref().is_none_or(|kept| kept.number < block.number) {
            *place = Some(block);
        }
    }
}

#[cfg(test)]
impl Repeats {
    pub fn copy_of_two_before() -> Repeats {
        Repeats::Copies(Distances::new(2, 0))
    }

    pub fn parity_of_two_before() -> Repeats {
        Repeats::Parity(Distances::new(1, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChannelKind;
    use crate::frame::{ChannelTable, Frame, Frames};
    use proptest::prelude::*;

    /// Packets 0.. with one block each; returns what each carries besides its block.
    fn packets(mode: Redundancy, blocks: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut history = BlockHistory::default();
        blocks
            .iter()
            .enumerate()
            .map(|(number, block)| {
                let mut out = [0; 1200];
                let mut writer = FrameWriter::new(&mut out);
                assert!(writer.message(&crate::frame::MessageFrame {
                    channel: 0,
                    kind: ChannelKind::Unreliable,
                    id: 0,
                    fragment: None,
                    data: b"",
                }));
                history.write(number as u64, mode, 0, &mut writer);
                let length = writer.finish();
                history.handle_sent(Micros::ZERO, number as u64, block);
                out[..length].to_vec()
            })
            .collect()
    }

    /// The blocks that are known after the packets marked as lost did not arrive, without those of other packets.
    fn recovered(mode: Redundancy, blocks: &[Vec<u8>], lost: &[usize]) -> Vec<usize> {
        let table = ChannelTable::new([ChannelKind::Unreliable]);
        let mut store = BlockStore::default();
        let mut known = vec![];
        for (number, packet) in packets(mode, blocks).iter().enumerate() {
            if lost.contains(&number) {
                continue;
            }
            store.insert(number as u64, &blocks[number]);
            for frame in Frames::of_payload(packet, &table).unwrap() {
                match frame.unwrap() {
                    Frame::Link(link) if link.parity.is_some() => store.insert_parity(number as u64, &link),
                    Frame::Link(link) => {
                        let repeated = number - link.distance as usize;
                        assert_eq!(link.body, blocks[repeated], "block {repeated}");
                        known.push(repeated);
                    }
                    Frame::Message(_) => {}
                }
            }
            known.extend(all_recovered(&mut store).iter().map(|block| {
                assert_eq!(block.frames(), blocks[block.number as usize], "block {}", block.number);
                block.number as usize
            }));
        }
        known.retain(|number| lost.contains(number));
        known.sort_unstable();
        known
    }

    /// Everything that the parities give away, taken.
    fn all_recovered(store: &mut BlockStore) -> Vec<Block> {
        let (mut blocks, mut place) = (vec![], 0);
        while let Some(recovered) = store.poll_recovered(&mut place) {
            store.handle_taken(recovered);
            blocks.push(recovered.block);
            place = 0;
        }
        blocks
    }

    fn some_blocks() -> Vec<Vec<u8>> {
        (0..10u8).map(|number| vec![number + 1; 10 + usize::from(number) * 7]).collect()
    }

    #[test]
    fn single_losses_and_two_in_a_row_are_repaired() {
        for mode in [Redundancy::Copy, Redundancy::Parity] {
            assert_eq!(recovered(mode, &some_blocks(), &[4]), [4]);
            assert_eq!(recovered(mode, &some_blocks(), &[4, 5]), [4, 5]);
        }
        assert_eq!(recovered(Redundancy::Copy, &some_blocks(), &[4, 6]), [6], "its copy is lost too");
        assert_eq!(recovered(Redundancy::Parity, &some_blocks(), &[4, 6]), [4, 6]);
        assert_eq!(
            recovered(Redundancy::Parity, &some_blocks(), &[4, 5, 6]),
            [5, 6],
            "the first of three is resent"
        );
        assert_eq!(recovered(Redundancy::Off, &some_blocks(), &[4]), []);
    }

    #[test]
    fn an_acknowledged_block_is_not_repeated() {
        let mut history = BlockHistory::default();
        history.handle_sent(Micros(5), 3, b"block");
        assert_eq!(history.waiting_since(), Some(Micros(5)));
        history.handle_acked(3);
        let mut out = [0; 1200];
        let repeats = history.write(4, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
        assert_eq!(repeats, Repeats::Nothing);
    }

    #[test]
    fn a_packet_of_their_own_repeats_all_blocks_that_wait() {
        let mut history = BlockHistory::default();
        history.handle_sent(Micros(5), 3, b"block");
        history.handle_sent(Micros(7), 4, b"another");
        assert_eq!(history.waiting_since(), Some(Micros(7)));
        let mut out = [0; 1200];
        let repeats = history.write(5, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
        assert_eq!(repeats.settled_by(5, 100, |_| false), [Some(3), Some(4)]);
        assert_eq!(history.waiting_since(), None);
    }

    #[test]
    fn a_block_too_far_back_is_not_repeated() {
        let mut history = BlockHistory::default();
        history.handle_sent(Micros(5), 3, b"block");
        let mut out = [0; 1200];
        let number = 3 + BLOCK_DISTANCE_MAX + 1;
        let repeats = history.write(number, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out));
        assert_eq!((repeats, history.waiting_since()), (Repeats::Nothing, None));
    }

    #[test]
    fn a_parity_settles_a_block_if_the_other_arrived_and_cannot_have_been_pushed_out() {
        let parity = Repeats::Parity(Distances::new(1, 2));
        assert_eq!(parity.settled_by(10, 11, |_| false), [None, None]);
        assert_eq!(parity.settled_by(10, 24, |number| number == 8), [Some(9), None]);
        assert_eq!(parity.settled_by(10, 24, |number| number == 9), [None, Some(8)]);
        assert_eq!(parity.settled_by(10, 25, |number| number == 8), [None, None], "24 may have replaced 8");
        assert_eq!(Repeats::Nothing.settled_by(10, 11, |_| true), [None, None]);
    }

    #[test]
    fn a_block_that_was_not_taken_comes_again() {
        let mut store = BlockStore::default();
        store.insert(0, b"ab");
        let body = [b'a' ^ b'c', b'b' ^ b'd'];
        store.insert_parity(2, &LinkFrame { distance: 1, parity: Some((2, 0)), body: &body });
        for _ in 0..3 {
            let mut place = 0;
            assert_eq!(store.poll_recovered(&mut place).unwrap().block.frames(), b"cd");
            assert!(store.poll_recovered(&mut place).is_none(), "once per look");
        }
        assert_eq!(all_recovered(&mut store).len(), 1);
        assert!(store.contains(1) && all_recovered(&mut store).is_empty());
    }

    #[test]
    fn what_a_sender_hides_behind_a_recovered_block_does_not_reach_the_next() {
        let mut store = BlockStore::default();
        store.insert(0, &[1, 2, 3]);
        let parity = |lengths, body| LinkFrame { distance: 1, parity: Some((2, lengths)), body };
        store.insert_parity(2, &parity(3 ^ 2, &[1 ^ 7, 2 ^ 8, 3, 9, 9]));
        assert_eq!(all_recovered(&mut store)[0].frames(), [7, 8], "block 1, and two bytes behind it");
        store.insert_parity(3, &parity(2 ^ 5, &[7, 8, 0, 4, 5]));
        assert_eq!(all_recovered(&mut store)[0].frames(), [0, 0, 0, 4, 5], "block 2");
    }

    proptest! {
        #[test]
        fn recovered_blocks_are_always_the_ones_that_were_sent(
            blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..=255), 1..40),
            lost in proptest::collection::vec(any::<bool>(), 40),
            parity: bool,
        ) {
            let lost: Vec<usize> = (0..blocks.len()).filter(|&number| lost[number]).collect();
            let mode = if parity { Redundancy::Parity } else { Redundancy::Copy };
            let known = recovered(mode, &blocks, &lost);
            prop_assert!(known.iter().all(|number| lost.contains(number)));
        }

        #[test]
        fn hostile_links_do_no_harm(links in proptest::collection::vec((0u64..40, 1u64..=8, proptest::option::of((1u64..=8, any::<u8>())), proptest::collection::vec(any::<u8>(), 0..255)), 0..60)) {
            let mut store = BlockStore::default();
            for (number, distance, parity, body) in links {
                let link = LinkFrame { distance, parity, body: &body };
                match (parity, number.checked_sub(distance)) {
                    (Some(_), _) => store.insert_parity(number, &link),
                    (None, Some(repeated)) => store.insert(repeated, &body),
                    (None, None) => {}
                }
                prop_assert!(all_recovered(&mut store).len() <= KEPT);
            }
        }
    }
}
