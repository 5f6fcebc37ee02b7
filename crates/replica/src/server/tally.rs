//! What the objects of each class cost.
//!
//! Whoever runs a server wants to know which kind of object fills the line. But most updates are not written one by one: runs
//! of them are copied, and counting each would cost as much as writing it. So some snapshots are taken apart: they are
//! written object by object, to the same bits, and what each object took counts for a whole block of snapshots.
//!
//! ```text
//!   ░ ░ ▓ ░ ░ ░ ░ ░ │ ░ ░ ░ ░ ░ ░ ▓ ░ │ ░ ▓ ░ …     one of eight counts eight times, another peer's each time
//!   ▓ │ ▓ │ ▓ │ …                                   with a single peer each counts once: the figures are exact
//! ```
//!
//! Entries and the values of reliable fields are few and long: all of them are counted.

use netloom_wire::Tick;

use crate::class::ClassId;

/// What was sent about the objects of a class since the beginning: see the [module](self) for how updates are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTraffic {
    /// Objects that changed.
    pub updates: u64,
    /// What that took, in bits: most updates are no whole bytes.
    pub update_bits: u64,
    /// Objects that entered, repeats included.
    pub entries: u64,
    /// What that took, in bytes.
    pub entry_bytes: u64,
    /// Values of reliable fields.
    pub values: u64,
    /// What they took, in bytes.
    pub value_bytes: u64,
}

impl ClassTraffic {
    /// Everything together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.update_bits / 8 + self.entry_bytes + self.value_bytes
    }

    /// What came since it was like this.
    #[must_use]
    pub fn since(self, earlier: ClassTraffic) -> ClassTraffic {
        ClassTraffic {
            updates: self.updates - earlier.updates,
            update_bits: self.update_bits - earlier.update_bits,
            entries: self.entries - earlier.entries,
            entry_bytes: self.entry_bytes - earlier.entry_bytes,
            values: self.values - earlier.values,
            value_bytes: self.value_bytes - earlier.value_bytes,
        }
    }

    /// What two counted.
    #[must_use]
    pub fn and(self, other: ClassTraffic) -> ClassTraffic {
        ClassTraffic {
            updates: self.updates + other.updates,
            update_bits: self.update_bits + other.update_bits,
            entries: self.entries + other.entries,
            entry_bytes: self.entry_bytes + other.entry_bytes,
            values: self.values + other.values,
            value_bytes: self.value_bytes + other.value_bytes,
        }
    }
}

/// How many ticks a block lasts, if more than one snapshot is written in each.
const TICKS_PER_BLOCK: u32 = 4;

/// The counts of one who writes snapshots.
#[derive(Debug)]
pub(super) struct Tally {
    /// By class.
    classes: Box<[ClassTraffic]>,
    tick: Tick,
    /// Snapshots of this tick, and of the one before.
    snapshots: u32,
    snapshots_before: u32,
    /// Snapshots in the block, of which so many were written.
    block: u32,
    written: u32,
    /// The one that is taken apart.
    taken: u32,
    blocks: u32,
}

impl Tally {
    pub fn new(classes: usize) -> Tally {
        Tally {
            classes: vec![ClassTraffic::default(); classes].into(),
            tick: Tick(0),
            snapshots: 0,
            snapshots_before: 0,
            block: 1,
            written: 0,
            taken: 0,
            blocks: 0,
        }
    }

    /// How many snapshots the next one stands for; 0 if it is not taken apart.
    #[inline]
    pub fn stake(&self) -> u32 {
        if self.written == self.taken { self.block } else { 0 }
    }

    /// A snapshot of this tick was written.
    #[inline]
    pub fn handle_snapshot(&mut self, tick: Tick) {
        if tick != self.tick {
            (self.tick, self.snapshots_before, self.snapshots) = (tick, self.snapshots, 0);
        }
        self.snapshots += 1;
        self.written += 1;
        if self.written == self.block {
            self.begin_block();
        }
    }

    fn begin_block(&mut self) {
        let in_a_tick = self.snapshots_before.max(self.snapshots);
        self.block = if in_a_tick > 1 { in_a_tick * TICKS_PER_BLOCK } else { 1 };
        self.written = 0;
        self.blocks = self.blocks.wrapping_add(1);
        // Scattered, so that no rhythm of the peers decides who is counted.
        let scattered = u64::from(self.blocks.wrapping_mul(0x9e37_79b1));
        self.taken = ((scattered * u64::from(self.block)) >> 32) as u32;
    }

    /// An update took so many bits in a snapshot that stands for `stake`.
    pub fn count_update(&mut self, class: ClassId, bits: usize, stake: u32) {
        if let Some(class) = self.classes.get_mut(usize::from(class.0)) {
            class.updates += u64::from(stake);
            class.update_bits += bits as u64 * u64::from(stake);
        }
    }

    pub fn count_entry(&mut self, class: ClassId, bytes: usize) {
        if let Some(class) = self.classes.get_mut(usize::from(class.0)) {
            class.entries += 1;
            class.entry_bytes += bytes as u64;
        }
    }

    pub fn count_value(&mut self, class: ClassId, bytes: usize) {
        if let Some(class) = self.classes.get_mut(usize::from(class.0)) {
            class.values += 1;
            class.value_bytes += bytes as u64;
        }
    }

    pub fn class(&self, class: ClassId) -> ClassTraffic {
        self.classes.get(usize::from(class.0)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has `peers` snapshots written in each of some ticks, and tells what each stood for.
    fn run(tally: &mut Tally, ticks: std::ops::Range<u32>, peers: usize) -> Vec<Vec<u32>> {
        let one = |tally: &mut Tally, tick| {
            let stake = tally.stake();
            if stake > 0 {
                tally.count_update(ClassId(0), 10, stake);
            }
            tally.handle_snapshot(Tick(tick));
            stake
        };
        ticks.map(|tick| (0..peers).map(|_| one(tally, tick)).collect()).collect()
    }

    #[test]
    fn a_single_peer_is_counted_exactly() {
        let mut tally = Tally::new(1);
        run(&mut tally, 1..101, 1);
        assert_eq!(tally.class(ClassId(0)).updates, 100);
        assert_eq!(tally.class(ClassId(0)).bytes(), 125);
    }

    #[test]
    fn of_many_one_stands_for_all_and_all_have_their_turn() {
        let mut tally = Tally::new(1);
        run(&mut tally, 1..101, 16);
        let before = tally.class(ClassId(0)).updates;
        let stakes = run(&mut tally, 101..4_101, 16);
        assert!(stakes.iter().flatten().all(|stake| [0, 64].contains(stake)));
        for peer in 0..16 {
            let turns = stakes.iter().filter(|tick| tick[peer] > 0).count();
            assert!((40..90).contains(&turns), "peer {peer} was counted {turns} times of 1,000");
        }
        let counted = tally.class(ClassId(0)).updates - before;
        assert!(counted.abs_diff(64_000) <= 64, "{counted}");
    }

    #[test]
    fn a_crowd_that_comes_and_goes_is_counted_block_by_block() {
        let mut tally = Tally::new(1);
        let mut written = 0;
        for tick in 1..2_001 {
            let peers = if tick % 3 == 0 { 30 } else { 7 };
            run(&mut tally, tick..tick + 1, peers);
            written += peers as u64;
        }
        let counted = tally.class(ClassId(0)).updates;
        assert!(counted.abs_diff(written) <= 120, "{counted} of {written}");
    }

    #[test]
    fn a_class_that_is_not_there_counts_nowhere() {
        let mut tally = Tally::new(1);
        tally.count_update(ClassId(1), 8, 1);
        tally.count_entry(ClassId(9), 8);
        tally.count_value(ClassId(0), 3);
        tally.count_entry(ClassId(0), 4);
        let expected =
            ClassTraffic { values: 1, value_bytes: 3, entries: 1, entry_bytes: 4, ..ClassTraffic::default() };
        assert_eq!((tally.class(ClassId(0)), tally.class(ClassId(9))), (expected, ClassTraffic::default()));
        assert_eq!(expected.and(expected).bytes(), 14);
        assert_eq!(expected.and(expected).since(expected), expected);
    }
}
