//! Snapshots whose fate is not known.
//!
//! A record holds which slots a snapshot updated, a bit each, and what it said about existence. What later became
//! pointless is taken out of the records at once: a slot that was given back, an object whose words changed their
//! meaning, a state that a newer one has overtaken. So an outcome needs no look at generations or ticks.

use std::collections::VecDeque;

use netloom_wire::Tick;

use crate::bits::Bits;
use crate::limits::SNAPSHOTS_IN_FLIGHT_MAX;

/// An entry in a snapshot, and which telling of its object it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentEntry {
    pub slot: u16,
    pub generation: u8,
    pub telling: u32,
}

/// One snapshot.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub sequence: u64,
    pub tick: Tick,
    pub updates: Bits,
    pub enters: Vec<SentEntry>,
    /// Slot and generation.
    pub leaves: Vec<(u16, u8)>,
}

/// The snapshots on their way to one peer, oldest first.
#[derive(Debug, Default)]
pub(super) struct Flights {
    flights: VecDeque<Flight>,
    spare: Vec<Flight>,
}

impl Flights {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.flights.len()
    }

    /// An empty record with room for `slots`, from an old one if there is one.
    pub fn open(&mut self, sequence: u64, tick: Tick, slots: usize) -> Flight {
        let mut flight = self.spare.pop().unwrap_or_default();
        flight.sequence = sequence;
        flight.tick = tick;
        flight.updates.reserve(slots);
        flight.updates.clear();
        flight.enters.clear();
        flight.leaves.clear();
        flight
    }

    /// A record that is no longer needed.
    pub fn give_back(&mut self, flight: Flight) {
        self.spare.push(flight);
    }

    /// A snapshot went out. Returns the number of one that has waited too long, if there is one: it counts as lost.
    pub fn push(&mut self, flight: Flight) -> Option<u64> {
        self.flights.push_back(flight);
        let is_full = self.flights.len() > SNAPSHOTS_IN_FLIGHT_MAX;
        self.flights.front().filter(|_| is_full).map(|oldest| oldest.sequence)
    }

    /// Takes out the record of a snapshot, and how many older ones there are.
    pub fn take(&mut self, sequence: u64) -> Option<(Flight, usize)> {
        let place = self.flights.iter().position(|flight| flight.sequence == sequence)?;
        self.flights.remove(place).map(|flight| (flight, place))
    }

    /// These slots were received later than anything in the first `count` records.
    pub fn overtake(&mut self, count: usize, slots: &Bits) {
        self.flights.iter_mut().take(count).for_each(|flight| flight.updates.subtract(slots));
    }

    /// Leaves in `slots` only what no record from the `count`th on has.
    pub fn subtract_later(&self, count: usize, slots: &mut Bits) {
        self.flights.iter().skip(count).for_each(|flight| slots.subtract(&flight.updates));
    }

    /// Of 64 slots those of which nothing is on its way.
    pub fn without_touched(&self, at: usize, slots: u64) -> u64 {
        match slots {
            0 => 0,
            _ => self.flights.iter().fold(slots, |left, flight| left & !flight.updates.word(at)),
        }
    }

    /// What is on its way of a slot does not count any more.
    pub fn forget(&mut self, slot: usize) {
        self.flights.iter_mut().for_each(|flight| flight.updates.remove(slot));
    }

    /// Whether a state of a slot is on its way.
    pub fn touches(&self, slot: usize) -> bool {
        self.flights.iter().any(|flight| flight.updates.contains(slot))
    }

    /// Whether anything about 64 slots is on its way.
    pub fn touches_region(&self, at: usize) -> bool {
        self.flights.iter().any(|flight| {
            let enters = flight.enters.iter().any(|entry| usize::from(entry.slot) / 64 == at);
            enters || flight.updates.word(at) != 0
        })
    }
}
