//! Digests of what rests, so that a client notices when it holds something else.
//!
//! The digest of an object is made once per version, for all peers: at each tick for a few objects in turn. That of a
//! region is a sum over those, and only of regions of which the peer is known to have everything. See
//! [`digest`](crate::digest) for the numbers.

use super::cache::Contents;
use super::peer::Peer;
use crate::bits::{Bits, ones};
use crate::digest::{REGION_SLOTS, object_digest, placed};
use crate::world::World;

/// Region and digest in a snapshot.
pub(super) const AUDIT_BYTES: usize = 2 + 4;

/// The digests of a world's objects, by slot in the world.
#[derive(Debug, Default)]
pub(super) struct Digests {
    made: Vec<u32>,
    /// Which of them are of the newest version.
    valid: Bits,
    next: usize,
}

impl Digests {
    /// Forgets those of objects that changed, and makes those of some others, so that all have had their turn after
    /// `ticks`.
    pub fn refresh(&mut self, world: &World, changed: &Bits, ticks: u32) {
        let count = world.slot_count();
        self.made.resize(count, 0);
        self.valid.reserve(count);
        self.valid.subtract(changed);
        world.despawned().iter().for_each(|index| self.valid.remove(index.slot()));
        for _ in 0..count.div_ceil(ticks as usize) {
            self.next = if self.next + 1 < count { self.next + 1 } else { 0 };
            let object = world.at(self.next).filter(|_| !self.valid.contains(self.next));
            let Some(object) = object.filter(|object| !object.words().is_empty()) else { continue };
            let (number, contents) = (object.class_id().0, Contents(object));
            self.made[self.next] = object_digest(number, object.class(), object.words(), &contents);
            self.valid.insert(self.next);
        }
    }

    #[inline]
    fn get(&self, object: usize) -> Option<u32> {
        self.valid.contains(object).then(|| self.made[object])
    }
}

impl Peer {
    /// The region whose turn it is and its digest, if the peer has everything of it and it rests.
    pub fn audit(&mut self, digests: &Digests, ticks: u32) -> Option<(u16, u32)> {
        let regions = self.slots.len().div_ceil(REGION_SLOTS);
        let interval = u64::from(ticks);
        self.audits_due = (self.audits_due + regions as u64 * u64::from(self.elapsed_ticks)).min(interval);
        if self.audits_due < interval {
            return None;
        }
        self.audits_due -= interval;
        self.audited = if self.audited + 1 < regions { self.audited + 1 } else { 0 };
        let at = self.audited;
        let page = self.held.pages.get(at);
        let moves = |number: &u16| usize::from(*number) / REGION_SLOTS == at;
        let rests = page.known != 0
            && page.dirty == 0
            && !self.entering.iter().any(moves)
            && !self.leaving.iter().any(moves)
            && !self.flights.touches_page(at)
            && !self.flights.enters_page(at);
        if !rests {
            return None;
        }
        let mut sum = 0u32;
        for bit in ones(page.known) {
            let slot = at * REGION_SLOTS + bit;
            let digest = digests.get(self.held.pages.object(slot))?;
            sum = sum.wrapping_add(placed(digest, self.slots.alias(slot as u16)));
        }
        Some((at as u16, sum))
    }

    /// The peer holds something else in a region than it should: all of it is told anew.
    pub fn handle_mismatch(&mut self, region: u16) {
        for bit in ones(self.held.pages.get(region.into()).known) {
            self.tell_anew(region * REGION_SLOTS as u16 + bit as u16);
        }
    }
}
