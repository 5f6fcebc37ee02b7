//! The aliases of one peer: which slot names which object.
//!
//! ```text
//!   free ──enter──▶ entering ──its snapshot acked──▶ present ──leave──▶ leaving ──its snapshot acked──▶ free
//!                      ▲──────────told anew─────────────┘
//! ```
//!
//! A slot is used again only when the peer is known to have let go of it, and with another generation. So a late
//! snapshot can never touch another object, and gaps between slots tell nobody what is hidden.
//!
//! Where a peer sees everything, a slot has the number of its object, as far as possible: then what changed in the
//! world is what changed for the peer, 64 objects at a time. Slots of other numbers are *strays*, looked at one by one.

use std::collections::VecDeque;

use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Tick};

use crate::limits::VISIBLE_MAX;

/// Where a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Names nothing.
    Free,
    /// The peer is being told of the object, or told anew.
    Entering,
    /// The peer has the object.
    Present,
    /// The peer is being told that the object is gone; since when.
    Leaving(Tick),
}

/// One alias.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Tells its lifetimes apart.
    pub generation: u8,
    pub phase: Phase,
    /// What the peer is to the object.
    pub audience: Audience,
    /// The frame that the object has.
    pub frame: u32,
    /// When the entry or the leave was last sent, if that is not known to be lost.
    pub sent: Option<Tick>,
    /// When the first entry was sent.
    pub told: Option<Tick>,
    /// Counts how often the object was told anew: an entry of before says nothing about what the peer has now, even
    /// if it said the same.
    pub telling: u32,
}

impl Slot {
    const FREE: Slot = Slot {
        generation: 0,
        phase: Phase::Free,
        audience: Audience::Public,
        frame: 0,
        sent: None,
        told: None,
        telling: 0,
    };

    /// A slot of an object that the peer has not been told of.
    pub fn entering(audience: Audience, frame: u32) -> Slot {
        Slot { phase: Phase::Entering, audience, frame, ..Slot::FREE }
    }
}

/// All aliases of a peer.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Objects in sight and their slots, by object.
    by_object: Vec<(u32, u16)>,
    free: VecDeque<u16>,
}

impl Slots {
    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Takes a slot for an object; `None` if the peer sees as much as it can.
    pub fn take(&mut self, object: u32, slot: Slot, prefers_own_number: bool) -> Option<u16> {
        let number = self.free_number(object, prefers_own_number)?;
        let at = usize::from(number);
        let generation = self.slots[at].generation;
        self.slots[at] = Slot { generation, ..slot };
        if let Err(place) = self.by_object.binary_search_by_key(&object, |entry| entry.0) {
            self.by_object.insert(place, (object, number));
        }
        Some(number)
    }

    fn free_number(&mut self, object: u32, prefers_own_number: bool) -> Option<u16> {
        let own = object as usize;
        if prefers_own_number && own < VISIBLE_MAX {
            let from = self.slots.len();
            if from <= own {
                self.grow(own + 1);
                self.free.extend((from..own).map(|number| number as u16));
                return Some(own as u16);
            }
            if let Some(place) = self.free.iter().position(|&free| usize::from(free) == own) {
                return self.free.remove(place);
            }
        }
        if self.free.is_empty() && self.slots.len() < VISIBLE_MAX {
            self.grow(self.slots.len() + 1);
            return Some((self.slots.len() - 1) as u16);
        }
        self.free.pop_front()
    }

    fn grow(&mut self, count: usize) {
        self.slots.resize(count, Slot::FREE);
    }

    /// The object goes out of sight: its slot, which leaves from now on.
    pub fn leave(&mut self, object: u32, tick: Tick) -> Option<u16> {
        let place = self.by_object.binary_search_by_key(&object, |entry| entry.0).ok()?;
        let (_, number) = self.by_object.remove(place);
        let at = usize::from(number);
        let slot = &mut self.slots[at];
        slot.phase = Phase::Leaving(tick);
        slot.sent = None;
        Some(number)
    }

    /// The peer has let go of a slot.
    pub fn release(&mut self, number: u16) {
        if let Some(slot) = self.slots.get_mut(usize::from(number)) {
            *slot = Slot { generation: slot.generation.wrapping_add(1), ..Slot::FREE };
            #[cfg(netloom_mutations)]
            if crate::mutation::is(crate::mutation::Mutation::SlotLeaked) {
                return;
            }
            self.free.push_back(number);
        }
    }

    /// The slot of an object in sight.
    pub fn of(&self, object: u32) -> Option<u16> {
        let place = self.by_object.binary_search_by_key(&object, |entry| entry.0).ok()?;
        Some(self.by_object[place].1)
    }

    /// A slot.
    pub fn get(&self, number: u16) -> Option<&Slot> {
        self.slots.get(usize::from(number))
    }

    /// A slot, to change it.
    pub fn get_mut(&mut self, number: u16) -> Option<&mut Slot> {
        self.slots.get_mut(usize::from(number))
    }

    /// Objects in sight and their slots, by object.
    pub fn in_sight(&self) -> &[(u32, u16)] {
        &self.by_object
    }

    /// How a peer calls the object of a slot.
    pub fn alias(&self, number: u16) -> Alias {
        Alias { slot: number, generation: self.get(number).map_or(0, |slot| slot.generation) }
    }
}
