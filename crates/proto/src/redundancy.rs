//! Repeating small reliable messages before anybody asks for them.
//!
//! A lost packet costs at least a round trip until its messages come again, and on an ordered channel everything
//! behind them waits. Small messages are cheap, so each packet repeats those of the packets before it. The unit is
//! the *block* of a packet: its leading whole reliable frames, at most 255 bytes.
//!
//! ```text
//! packet     n        n+1              n+2                 n+3
//! copy       B(n)     B(n+1) B(n)      B(n+2) B(n+1)       B(n+3) B(n+2)
//! parity     B(n)     B(n+1) B(n)⊕B(n-1)   B(n+2) B(n+1)⊕B(n)   B(n+3) B(n+2)⊕B(n+1)
//! ```
//!
//! Both take the same bytes. When n and n+1 are lost, a copy in n+2 brings back n+1 but not n; with parity, n+3
//! gives n+1 (it has n+2) and then the parity of n+2 gives n.
//!
//! The last block before a pause has no successor: after `tail_delay` a packet is made for it.

use netloom_wire::Micros;

use crate::config::Redundancy;
use crate::frame::{FrameWriter, LINK_HEADER_MAX, LinkFrame};
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

/// The sending side: the last two blocks.
#[derive(Debug, Default)]
pub struct BlockHistory {
    last: Option<Box<Block>>,
    before: Option<Box<Block>>,
    /// Since when the last block has not been repeated.
    waiting_since: Option<Micros>,
}

impl BlockHistory {
    /// Packet `number` was sent with these protected frames.
    pub fn handle_sent(&mut self, now: Micros, number: u64, frames: &[u8]) {
        let Some(block) = Block::new(number, frames) else {
            return;
        };
        std::mem::swap(&mut self.last, &mut self.before);
        match &mut self.last {
            Some(last) => **last = block,
            empty => *empty = Some(Box::new(block)),
        }
        self.waiting_since = Some(now);
    }

    /// Packet `number` arrived: its block needs no repetition.
    pub fn handle_acked(&mut self, number: u64) {
        if self.last.as_ref().is_some_and(|last| last.number == number) {
            self.waiting_since = None;
        }
    }

    /// Since when the last block waits to be repeated.
    pub fn waiting_since(&self) -> Option<Micros> {
        self.waiting_since
    }

    /// Repeats the last block in the packet `number` that is being written, if it fits and `reserve` bytes are left.
    pub fn write(
        &mut self,
        number: u64,
        mode: Redundancy,
        reserve: usize,
        writer: &mut FrameWriter<'_>,
    ) -> bool {
        let (Some(last), Some(_)) = (&self.last, self.waiting_since) else {
            return false;
        };
        let distance = number - last.number;
        if mode == Redundancy::Off || distance > BLOCK_DISTANCE_MAX {
            self.waiting_since = None;
            return false;
        }
        if writer.room() < LINK_HEADER_MAX + BLOCK_BYTES_MAX + reserve {
            return false;
        }
        // A packet of its own has nothing behind it that could resolve a parity: it repeats the block as it is.
        let partner = self.before.as_ref().filter(|before| {
            mode == Redundancy::Parity && !writer.is_empty() && number - before.number <= BLOCK_DISTANCE_MAX
        });
        let written = match partner {
            None => writer.link(&LinkFrame { distance, parity: None, body: last.frames() }),
            Some(before) => {
                let mut both = **last;
                both.xor(before.frames());
                let length = usize::from(last.length.max(before.length));
                let parity = Some((number - before.number, last.length ^ before.length));
                writer.link(&LinkFrame { distance, parity, body: &both.bytes[..length] })
            }
        };
        if written {
            self.waiting_since = None;
        }
        written
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

/// The receiving side: recent blocks, and parities that are not resolved yet.
#[derive(Debug, Default)]
pub struct BlockStore(Option<Box<Shelves>>);

impl BlockStore {
    /// Packet `number` arrived with these protected frames.
    pub fn insert(&mut self, number: u64, frames: &[u8]) {
        if let Some(block) = Block::new(number, frames) {
            self.shelves().put(block);
        }
    }

    /// Takes in a redundancy frame of packet `number`; returns the block that it repeats if that is news by itself.
    pub fn handle_link(&mut self, number: u64, frame: &LinkFrame<'_>) -> Option<Block> {
        let first = number.checked_sub(frame.distance)?;
        let shelves = self.shelves();
        match frame.parity {
            None => {
                let block = Block::new(first, frame.body)?;
                shelves.get(first).is_none().then(|| {
                    shelves.put(block);
                    block
                })
            }
            Some((distance, lengths)) => {
                let second = number.checked_sub(distance)?;
                let both = Block::new(number, frame.body)?;
                shelves.parities[number as usize % KEPT] =
                    Some(Parity { numbers: [first, second], lengths, both });
                None
            }
        }
    }

    /// The next block that the parities give away. Call until `None` whenever something was inserted.
    pub fn poll_recovered(&mut self) -> Option<Block> {
        let shelves = self.0.as_mut()?;
        for index in 0..KEPT {
            let Some(parity) = shelves.parities[index] else {
                continue;
            };
            let known = parity.numbers.map(|number| shelves.get(number).copied());
            let (missing, other) = match known {
                [Some(_), Some(_)] => {
                    shelves.parities[index] = None;
                    continue;
                }
                [None, None] => continue,
                [None, Some(other)] => (parity.numbers[0], other),
                [Some(other), None] => (parity.numbers[1], other),
            };
            shelves.parities[index] = None;
            let mut block = parity.both;
            block.xor(&other.bytes);
            block.number = missing;
            block.length = parity.lengths ^ other.length;
            // What a sender put behind the shorter block is no part of it, nor of what it helps to recover.
            block.bytes[usize::from(block.length)..].fill(0);
            shelves.put(block);
            return Some(block);
        }
        None
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

    /// The blocks that are known after the packets marked as lost did not arrive.
    fn recovered(mode: Redundancy, blocks: &[Vec<u8>], lost: &[usize]) -> Vec<usize> {
        let table = ChannelTable::new([ChannelKind::Unreliable]);
        let mut store = BlockStore::default();
        let mut known = vec![];
        let mut learn = |block: Block| {
            assert_eq!(block.frames(), blocks[block.number as usize], "block {}", block.number);
            known.push(block.number as usize);
        };
        for (number, packet) in packets(mode, blocks).iter().enumerate() {
            if lost.contains(&number) {
                continue;
            }
            store.insert(number as u64, &blocks[number]);
            for frame in Frames::of_payload(packet, &table).unwrap() {
                if let Frame::Link(link) = frame.unwrap() {
                    store.handle_link(number as u64, &link).map(&mut learn);
                }
            }
            while let Some(block) = store.poll_recovered() {
                learn(block);
            }
        }
        known.sort_unstable();
        known
    }

    fn some_blocks() -> Vec<Vec<u8>> {
        (0..10u8).map(|number| vec![number + 1; 10 + usize::from(number) * 7]).collect()
    }

    #[test]
    fn a_copy_repairs_one_loss_and_parity_two_in_a_row() {
        for mode in [Redundancy::Copy, Redundancy::Parity] {
            assert_eq!(recovered(mode, &some_blocks(), &[4]), [4]);
        }
        assert_eq!(recovered(Redundancy::Copy, &some_blocks(), &[4, 5]), [5]);
        assert_eq!(recovered(Redundancy::Parity, &some_blocks(), &[4, 5]), [4, 5]);
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
        assert!(!history.write(4, Redundancy::Copy, 0, &mut FrameWriter::new(&mut out)));
    }

    #[test]
    fn a_block_too_far_back_is_not_repeated() {
        let mut history = BlockHistory::default();
        history.handle_sent(Micros(5), 3, b"block");
        let mut out = [0; 1200];
        assert!(!history.write(
            3 + BLOCK_DISTANCE_MAX + 1,
            Redundancy::Copy,
            0,
            &mut FrameWriter::new(&mut out)
        ));
        assert_eq!(history.waiting_since(), None);
    }

    #[test]
    fn what_a_sender_hides_behind_a_recovered_block_does_not_reach_the_next() {
        let mut store = BlockStore::default();
        store.insert(0, &[1, 2, 3]);
        let parity = |lengths, body| LinkFrame { distance: 1, parity: Some((2, lengths)), body };
        store.handle_link(2, &parity(3 ^ 2, &[1 ^ 7, 2 ^ 8, 3, 9, 9]));
        assert_eq!(store.poll_recovered().unwrap().frames(), [7, 8], "block 1, and two bytes behind it");
        store.handle_link(3, &parity(2 ^ 5, &[7, 8, 0, 4, 5]));
        assert_eq!(store.poll_recovered().unwrap().frames(), [0, 0, 0, 4, 5], "block 2");
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
                store.handle_link(number, &LinkFrame { distance, parity, body: &body });
                let mut rounds = 0;
                while let Some(block) = store.poll_recovered() {
                    let _ = block.frames();
                    rounds += 1;
                    prop_assert!(rounds <= 2 * KEPT);
                }
            }
        }
    }
}
