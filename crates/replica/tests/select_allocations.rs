//! Choosing what each viewer sees and gets does not touch the heap once buffers have grown.
//!
//! An allocator that counts stands in for the system's. Walkers move through a grid, the looks of 100 viewers are
//! brought up to date, and every viewer chooses under a budget that is too small. Objects enter and leave all the time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use netloom_replica::server::interest::{
    Changes, GridConfig, Interest, Membership, Placement, Policy, Scratch, Viewer, VisibleSet, VisibleTo,
};
use netloom_replica::server::priority::{Accounts, Cadence, Phases, Picking, Tier, Waiting, Weights};
use netloom_wire::Tick;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter left; what it allocates is none of this test's business.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches only a thread-local integer that needs
// neither initialisation nor a destructor, so it cannot allocate or be re-entered.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, for everything that this allocator gives out does.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the pointer came from `System`, and the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WALKERS: u32 = 500;
const VIEWERS: usize = 100;

#[derive(Default)]
struct Peer {
    seen: VisibleSet,
    accounts: Accounts,
    phases: Phases,
}

struct Server {
    interest: Interest,
    peers: Vec<Peer>,
    cadence: Cadence,
    scratch: Scratch,
    changes: Changes,
    picking: Picking,
    waiting: Waiting,
    /// Slots, 64 a word.
    chosen: Vec<u64>,
    sent: Vec<u16>,
    events: usize,
    updates: usize,
}

/// Walkers go round in circles of different sizes and speeds, so that every stretch of time is like every other.
fn position(walker: u32, tick: u32) -> [f32; 3] {
    let radius = 20.0 + walker as f32;
    let angle = walker as f32 * 2.4 + tick as f32 * 4.0 / radius;
    [radius * angle.cos(), radius * angle.sin(), 0.0]
}

impl Server {
    fn new() -> Server {
        let mut interest = Interest::new(Policy::Grid(GridConfig::default())).unwrap();
        for walker in 0..WALKERS {
            let place = Placement {
                position: position(walker, 0),
                radius_metres: 0.0,
                visible_to: VisibleTo::Everyone,
            };
            interest.insert(walker, place).unwrap();
        }
        Server {
            interest,
            peers: (0..VIEWERS).map(|_| Peer::default()).collect(),
            cadence: Cadence::hertz([30, 10, 3], 20).unwrap(),
            scratch: Scratch::default(),
            changes: Changes::default(),
            picking: Picking::default(),
            waiting: Waiting::default(),
            chosen: vec![0; WALKERS.div_ceil(64) as usize],
            sent: Vec::new(),
            events: 0,
            updates: 0,
        }
    }

    fn tick(&mut self, tick: u32) {
        (0..WALKERS).for_each(|walker| self.interest.set_position(walker, position(walker, tick)));
        // One walker is replaced by another in every tick.
        let replaced = tick % WALKERS;
        let place = Placement {
            position: position(replaced, tick),
            radius_metres: 0.0,
            visible_to: VisibleTo::Everyone,
        };
        self.interest.insert(replaced, place).unwrap();
        self.interest.settle();
        for number in 0..VIEWERS {
            self.serve(number, Tick(tick));
        }
    }

    fn serve(&mut self, number: usize, tick: Tick) {
        let Peer { seen, accounts, phases } = &mut self.peers[number];
        let eye = position(number as u32 * 5, tick.0);
        let owned = [number as u32 * 5];
        let viewer =
            Viewer { number: number as u32, position: eye, membership: Membership::default(), owned: &owned };
        self.interest.update(&viewer, tick, &mut self.scratch, seen, &mut self.changes);
        self.events += self.changes.entered.len() + self.changes.left.len();
        // The index stands in for an alias slot here.
        self.changes.left.iter().for_each(|object| accounts.reset(*object as u16));
        self.changes.entered.iter().for_each(|object| phases.enter(*object as u16, tick, &self.cadence));
        self.chosen.fill(0);
        seen.iter().for_each(|object| self.chosen[object as usize / 64] |= 1 << (object % 64));
        let weights = Weights::default();
        let sight = |object: usize| {
            let there = position(object as u32, tick.0);
            weights.sight(1.0, [there[0] - eye[0], there[1] - eye[1], 0.0], false)
        };
        let words = self.chosen.iter().copied().enumerate();
        let count = words.clone().map(|(_, word)| word.count_ones() as usize).sum();
        self.waiting.fill(count, words, sight);
        weights.weigh(&mut self.waiting);
        self.waiting.retain(|slot, _| {
            let is_due = phases.is_due(slot, Tier::Medium, tick, &self.cadence);
            if !is_due {
                self.chosen[usize::from(slot / 64)] &= !(1 << (slot % 64));
            }
            is_due
        });
        let chosen = &mut self.chosen;
        let drop = |at: usize, slots: u64| chosen[at] &= !slots;
        self.updates += accounts.select(&mut self.waiting, 10, &self.picking, drop);
        self.chosen.iter().enumerate().for_each(|(at, word)| accounts.reset_all(at, *word));
        self.sent.clear();
        let is_chosen = |slot: &u16| self.chosen[usize::from(slot / 64)] >> (slot % 64) & 1 != 0;
        self.sent.extend((0..WALKERS as u16).filter(is_chosen));
        phases.sent(&self.sent, &self.cadence);
    }
}

#[test]
fn a_steady_tick_of_interest_and_priority_allocates_nothing() {
    let mut server = Server::new();
    (0..3000).for_each(|tick| server.tick(tick));
    (server.events, server.updates) = (0, 0);
    let before = ALLOCATIONS.get();
    (3000..3500).for_each(|tick| server.tick(tick));
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(server.events > 10_000, "{} objects entered or left", server.events);
    assert!(server.updates > 100_000, "{} updates", server.updates);
}
