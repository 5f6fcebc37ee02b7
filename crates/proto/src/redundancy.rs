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
//! twice      B(n)     B(n+1) B(n-1) B(n)   B(n+2) B(n) B(n+1)  B(n+3) B(n+1) B(n+2)
//! ```
//!
//! Copy and parity take the same bytes. A copy follows at a distance of two: losses come in pairs, and when n is lost, n+1 still
//! tells the sender so, before it could know that the copy in n+2 is lost too. When n and n+1 are lost, n+2 and n+3
//! bring them back; n and n+2 together are one too many. With parity, n+1 is enough to bring back n; when both are lost,
//! n+3 gives n+1 (it has n+2) and then the parity of n+2 gives n. Twice takes half as many bytes again, and loses nothing
//! unless three packets in a row are lost: for links that lose many.
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
    /// How many frames that takes.
    pub fn frames(self) -> u64 {
        match self {
            Repeats::Nothing => 0,
            Repeats::Parity(_) => 1,
            Repeats::Copies(_) => self.copied_by(u64::MAX).iter().flatten().count() as u64,
        }
    }

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
    /// Since when it waits to be repeated.
    waiting_since: Option<Micros>,
    /// How often it is still to be repeated.
    repeats_left: u8,
}

/// The sending side: the last two blocks.
#[derive(Debug, Default)]
pub struct BlockHistory {
    last: Option<Box<SentBlock>>,
    before: Option<Box<SentBlock>>,
}

impl BlockHistory {
    /// Packet `number` was sent with these protected frames.
    pub fn handle_sent(&mut self, now: Micros, number: u64, mode: Redundancy, frames: &[u8]) {
        let Some(block) = Block::new(number, frames) else {
            return;
        };
        let sent = SentBlock { block, waiting_since: Some(now), repeats_left: mode.repeats() };
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
        now: Micros,
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
            (Redundancy::Parity, false) => self.write_parity(now, number, reserve, writer),
            (_, true) | (Redundancy::Twice, false) => self.write_copies(now, number, 2, 1, reserve, writer),
            (Redundancy::Copy, false) => self.write_copies(now, number, 1, COPY_DISTANCE, reserve, writer),
        }
    }

    /// Copies at most `count` waiting blocks that are at least `distance_min` back, the older first.
    fn write_copies(
        &mut self,
        now: Micros,
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
                sent.repeats_left = sent.repeats_left.saturating_sub(1);
                sent.waiting_since = (sent.repeats_left > 0).then_some(now);
                *written = distance;
            }
        }
        match distances {
            [0, 0] => Repeats::Nothing,
            [first, second] => Repeats::Copies(Distances::new(first, second)),
        }
    }

    /// Writes the XOR of the last two blocks if the last one waits; its copy if the other is too far back.
    fn write_parity(
        &mut self,
        now: Micros,
        number: u64,
        reserve: usize,
        writer: &mut FrameWriter<'_>,
    ) -> Repeats {
        let BlockHistory { last: Some(last), before } = self else {
            return Repeats::Nothing;
        };
        let Some(before) =
            before.as_mut().filter(|before| number - before.block.number <= BLOCK_DISTANCE_MAX)
        else {
            return self.write_copies(now, number, 1, 1, reserve, writer);
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
mod tests;
