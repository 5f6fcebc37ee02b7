//! The aliases of one peer: which slot names which object, and what the peer holds of it.
//!
//! ```text
//!   free ──enter──▶ entering ──its snapshot acked──▶ present ──leave──▶ leaving ──its snapshot acked──▶ free
//! ```
//!
//! A slot is used again only when the peer is known to have let go of it, and with another generation. So a late
//! snapshot can never touch another object, and gaps between slots tell nobody what is hidden.

use std::collections::{BTreeMap, VecDeque};

use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Tick};

use crate::limits::{VERSIONS_KEPT, VISIBLE_MAX};

/// Where a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Names nothing.
    Free,
    /// The peer is being told of the object.
    Entering,
    /// The peer has the object.
    Present,
    /// The peer is being told that the object is gone; since when.
    Leaving(Tick),
}

/// What a peer holds of one object.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The object's place in the world.
    pub object: u32,
    /// Tells its lifetimes apart.
    pub generation: u8,
    /// Where it stands.
    pub phase: Phase,
    /// What the peer is to the object, as far as it is known to know.
    pub audience: Audience,
    /// The frame of the entry that the peer has.
    pub frame: u32,
    /// The tick of the newest entry that is known to have arrived.
    pub entry: Option<Tick>,
    /// The newest acknowledged state, and the one before it.
    pub newer: Option<Tick>,
    /// The one before it.
    pub older: Option<Tick>,
    /// The newest state that was sent and is not known to be lost.
    pub sent: Option<Tick>,
    /// States sent since the slot was taken, and how many of them up to the newer baseline.
    sends: u32,
    sends_to_newer: u32,
}

impl Slot {
    const FREE: Slot = Slot {
        object: u32::MAX,
        generation: 0,
        phase: Phase::Free,
        audience: Audience::Public,
        frame: 0,
        entry: None,
        newer: None,
        older: None,
        sent: None,
        sends: 0,
        sends_to_newer: 0,
    };

    /// A state was sent: how many that makes, to be remembered with it.
    pub fn handle_sent(&mut self, tick: Tick) -> u32 {
        self.sent = Some(tick);
        self.sends += 1;
        self.sends
    }

    /// A snapshot with a state of this object arrived. It becomes a baseline if `keep` says so or there is none.
    pub fn handle_acked(&mut self, tick: Tick, sends: u32, keep: bool) {
        if self.newer.is_some_and(|newer| !tick.is_newer_than(newer)) || (self.newer.is_some() && !keep) {
            return;
        }
        self.older = self.newer;
        self.newer = Some(tick);
        self.sends_to_newer = sends;
    }

    /// Whether an entry that arrived is newer than those before; remembers it.
    pub fn is_newer_entry(&mut self, tick: Tick) -> bool {
        let is_newer = self.entry.is_none_or(|entry| tick.is_newer_than(entry));
        if is_newer {
            self.entry = Some(tick);
        }
        is_newer
    }

    /// A snapshot with a state of this object was lost.
    pub fn handle_lost(&mut self, tick: Tick) {
        if self.sent == Some(tick) {
            self.sent = self.newer;
        }
    }

    /// The peer could not read the snapshot of this tick, whatever its acknowledgement said.
    pub fn handle_refused(&mut self, tick: Tick) {
        if self.newer == Some(tick) || self.older == Some(tick) {
            self.newer = None;
            self.older = None;
        }
        self.handle_lost(tick);
    }

    /// Whether the peer still keeps the newer baseline: it forgets after so many states.
    pub fn is_remembered(&self) -> bool {
        self.sends - self.sends_to_newer < VERSIONS_KEPT as u32 - 1
    }
}

/// All aliases of a peer.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    by_object: BTreeMap<u32, u16>,
    free: VecDeque<u16>,
}

impl Slots {
    /// Takes a slot for an object; `None` if the peer sees as much as it can.
    pub fn take(&mut self, object: u32, audience: Audience, prefers_own_number: bool) -> Option<u16> {
        let number = match prefers_own_number
            && self.slots.len() <= object as usize
            && (object as usize) < VISIBLE_MAX
        {
            true => {
                let from = self.slots.len();
                self.slots.resize(object as usize + 1, Slot::FREE);
                self.free.extend((from..object as usize).map(|number| number as u16));
                object as u16
            }
            false => match self.free.iter().position(|&free| prefers_own_number && u32::from(free) == object)
            {
                Some(place) => self.free.remove(place)?,
                None if !self.free.is_empty() => self.free.pop_front()?,
                None if self.slots.len() < VISIBLE_MAX => {
                    self.slots.push(Slot::FREE);
                    (self.slots.len() - 1) as u16
                }
                None => return None,
            },
        };
        let slot = &mut self.slots[usize::from(number)];
        let generation = slot.generation;
        *slot = Slot { object, generation, phase: Phase::Entering, audience, ..Slot::FREE };
        self.by_object.insert(object, number);
        Some(number)
    }

    /// The object goes out of sight.
    pub fn leave(&mut self, object: u32, tick: Tick) -> Option<u16> {
        let number = self.by_object.remove(&object)?;
        self.slots[usize::from(number)].phase = Phase::Leaving(tick);
        Some(number)
    }

    /// The peer has let go of a slot.
    pub fn release(&mut self, number: u16) {
        if let Some(slot) = self.slots.get_mut(usize::from(number)) {
            let generation = slot.generation.wrapping_add(1);
            *slot = Slot { generation, ..Slot::FREE };
            self.free.push_back(number);
        }
    }

    /// The slot of an object in sight.
    pub fn of(&self, object: u32) -> Option<u16> {
        self.by_object.get(&object).copied()
    }

    /// A slot.
    pub fn get(&self, number: u16) -> Option<&Slot> {
        self.slots.get(usize::from(number))
    }

    /// A slot, to change it.
    pub fn get_mut(&mut self, number: u16) -> Option<&mut Slot> {
        self.slots.get_mut(usize::from(number))
    }

    /// All slots, by number.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u16, &mut Slot)> {
        self.slots.iter_mut().enumerate().map(|(number, slot)| (number as u16, slot))
    }

    /// How a peer calls the object of a slot.
    pub fn alias(&self, number: u16) -> Alias {
        Alias { slot: number, generation: self.get(number).map_or(0, |slot| slot.generation) }
    }
}
