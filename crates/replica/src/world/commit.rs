//! What the game wrote becomes what peers receive.
//!
//! Only objects that somebody wrote to are looked at. Their words are compared with their newest version, which is exact
//! where a hash could collide, and says at once which objects a server has to think about in this tick.

use netloom_wire::Tick;

use super::history::{AGE_KEPT, not_ancient};
use super::transform::{Place, to_singles};
use super::value::load_triple;
use super::{Changes, Motion, ObjectIndex, World, WorldError, flag};
use crate::limits::BASELINE_AGE_MAX;
use crate::pose::Pose;

/// What can be the case with an object that was only written to and belongs to no family: nearly all that moves.
const WRITTEN: u16 = flag::LASTING & !flag::IN_FAMILY | flag::TOUCHED | flag::MOVED | flag::TURNED;

impl World {
    /// Stores a version under `tick` of every object that differs from its newest version, was spawned, was
    /// [touched](super::World::touch), or has another frame. Ticks must go forward.
    pub fn commit(&mut self, tick: Tick) -> Result<(), WorldError> {
        if let Some(last) = self.committed
            && !tick.is_newer_than(last)
        {
            return Err(WorldError::TickNotNewer { tick, last });
        }
        self.committed = Some(tick);
        let changes = &mut self.changes;
        let Changes { changed, spawned, despawned, moved, reassigned, reframed, retuned } = changes;
        for list in [changed, spawned, moved, reassigned, reframed, &mut *despawned, &mut *retuned] {
            list.clear();
        }
        despawned.append(&mut self.despawned_next);
        retuned.append(&mut self.retuned_next);

        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        for &slot in &touched {
            let (slot, flags) = (slot as usize, self.slots[slot as usize].flags);
            let is_written = flags & flag::LIVE != 0 && flags & !WRITTEN == 0;
            let is_alike =
                self.lanes.first().is_none_or(|first| self.slots[first].kind == self.slots[slot].kind);
            if !is_written || !is_alike || self.lanes.is_full() {
                self.commit_lanes(tick);
            }
            match is_written {
                true => self.lanes.push(slot),
                false => self.commit_slot(slot, tick),
            }
        }
        self.commit_lanes(tick);
        touched.clear();
        self.touched = touched;
        self.free.extend(self.released.drain(..));
        self.refresh_one(tick);
        Ok(())
    }

    /// The tick of the newest commit.
    pub fn tick(&self) -> Option<Tick> {
        self.committed
    }

    /// The objects with a version of the newest commit, spawned ones included, by slot.
    pub fn changed(&self) -> &[ObjectIndex] {
        &self.changes.changed
    }

    /// The objects that appeared with the newest commit, by slot.
    pub fn spawned(&self) -> &[ObjectIndex] {
        &self.changes.spawned
    }

    /// The objects that disappeared with the newest commit, in the order in which they were despawned. Their slots may
    /// hold other objects from now on.
    pub fn despawned(&self) -> &[ObjectIndex] {
        &self.changes.despawned
    }

    /// The objects whose place in the world changed with the newest commit: spawned ones, and ones that their parents
    /// took along, included.
    pub fn moved(&self) -> &[ObjectIndex] {
        &self.changes.moved
    }

    /// The objects whose owner or team changed with the newest commit, by slot.
    pub fn reassigned(&self) -> &[ObjectIndex] {
        &self.changes.reassigned
    }

    /// The objects whose words changed their meaning with the newest commit, by slot; not those that it brought.
    pub fn reframed(&self) -> &[ObjectIndex] {
        &self.changes.reframed
    }

    /// The objects whose priority or relevance radius was set before the newest commit; some may be gone.
    pub fn retuned(&self) -> &[ObjectIndex] {
        &self.changes.retuned
    }

    /// Whether there are objects that are never sent.
    pub fn has_silent(&self) -> bool {
        self.silent > 0
    }

    /// Where objects are and how fast they move, by slot; of empty slots anything.
    pub fn motions(&self) -> &[Motion] {
        &self.motions
    }

    /// How many slots there are, with and without an object.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// The tick of the newest version of what is in a slot, which must exist.
    #[inline]
    pub fn version_at(&self, slot: usize) -> Tick {
        self.slots[slot].version
    }

    /// Priorities by slot.
    pub fn priorities(&self) -> &[f32] {
        &self.priorities
    }

    /// The factors of the priority for the kind of each object, by slot.
    pub fn kind_weights(&self) -> &[f32] {
        &self.kind_weights
    }

    /// Relevance radii by slot.
    pub fn relevance_radii(&self) -> &[f32] {
        &self.relevance_radii
    }

    /// Which slots hold an object that was committed: bit `slot % 64` of word `slot / 64`.
    pub fn live(&self) -> &[u64] {
        &self.live
    }

    /// As [`commit_slot`](Self::commit_slot), for objects that were only [written](WRITTEN) to.
    fn commit_lanes(&mut self, tick: Tick) {
        let Some(first) = self.lanes.first() else { return };
        let kind = self.slots[first].kind;
        self.histories.fetch(first, self.lanes.len());
        let World { lanes, slots, transforms, motions, .. } = self;
        lanes.load(|slot| {
            let elapsed_ticks = tick.0.wrapping_sub(slots[slot].version.0);
            (&transforms[slot], motions[slot].position, elapsed_ticks)
        });
        lanes.compute(kind.profile.quantizer(), self.config.ticks_per_second);
        let class = self.classes.class_of(kind);
        let parts = (class.position(), class.rotation());
        for number in 0..self.lanes.len() {
            self.commit_lane(number, parts, tick);
        }
        self.lanes.clear();
    }

    #[inline(always)]
    fn commit_lane(&mut self, number: usize, parts: (Option<usize>, Option<usize>), tick: Tick) {
        let slot = self.lanes.slot(number);
        if self.lanes.is_odd(number) {
            self.settle(slot);
        }
        let World { lanes, slots, histories, changes, motions, .. } = self;
        let own = &mut slots[slot];
        let flags = own.flags;
        own.flags = flags & flag::LASTING;
        let is_news = histories.advance(slot, tick, |words| {
            if let Some(first) = parts.0.filter(|_| flags & flag::MOVED != 0) {
                words[first..first + 4].copy_from_slice(&lanes.place(number));
            }
            if let Some(first) = parts.1.filter(|_| flags & flag::TURNED != 0) {
                words[first..first + 4].copy_from_slice(&lanes.turn(number));
            }
        });
        if !is_news {
            return;
        }
        own.version = tick;
        let index = ObjectIndex { slot: slot as u32, generation: own.generation };
        changes.changed.push(index);
        let now = lanes.motion(number);
        if now.position != motions[slot].position {
            changes.moved.push(index);
        }
        motions[slot] = now;
        if flags & flag::HAS_VELOCITY != 0 {
            self.motions[slot].speed = self.told_speed(slot);
        }
    }

    fn commit_slot(&mut self, slot: usize, tick: Tick) {
        let flags = self.slots[slot].flags;
        if flags & flag::LIVE == 0 {
            return;
        }
        self.settle(slot);
        self.slots[slot].flags &= flag::LASTING;
        let index = self.index_of(slot);
        let born = flags & flag::UNBORN != 0;
        let reframed = born || flags & flag::REFRAMED != 0;
        #[cfg(netloom_mutations)]
        let reframed = born || reframed && !crate::mutation::is(crate::mutation::Mutation::FrameIgnored);
        if flags & flag::REASSIGNED != 0 && !born {
            self.changes.reassigned.push(index);
        }
        if !reframed && flags & flag::FORCED == 0 && !self.histories.differs(slot) {
            return;
        }
        let elapsed_ticks = if born { 0 } else { tick.0.wrapping_sub(self.slots[slot].version.0) };
        self.histories.store(slot, tick, reframed);
        self.slots[slot].version = tick;
        self.changes.changed.push(index);
        if reframed {
            self.slots[slot].frame = self.slots[slot].frame.wrapping_add(1);
            if !born {
                self.changes.reframed.push(index);
            }
        }
        let teleported = flags & flag::TELEPORTED != 0;
        #[cfg(netloom_mutations)]
        let teleported = teleported && !crate::mutation::is(crate::mutation::Mutation::JumpForgotten);
        if teleported {
            self.settings[slot].jumped = Some(tick);
            self.slots[slot].flags |= flag::JUMPED;
        }
        if born {
            self.live[slot / 64] |= 1 << (slot % 64);
            self.changes.spawned.push(index);
        }
        // What jumps, or has only just appeared, has no speed by its last change.
        let moves_smoothly = !born && !teleported;
        self.follow(slot, if moves_smoothly { elapsed_ticks } else { 0 });
    }

    /// Brings the place of an object and of everything attached to it up to date.
    fn follow(&mut self, root: usize, elapsed_ticks: u32) {
        let mut next = Some(root);
        while let Some(slot) = next {
            self.place(slot, elapsed_ticks);
            next = self.family.next_descendant(root, slot);
        }
    }

    fn place(&mut self, slot: usize, elapsed_ticks: u32) {
        let position = match self.family.parent(slot) {
            None => self.transforms[slot].position,
            Some(_) => self.world_place(slot).position,
        };
        self.arrive(slot, position, elapsed_ticks);
    }

    /// An object is at a place of the world, so many ticks after it was where it is known to be.
    fn arrive(&mut self, slot: usize, position: [f64; 3], elapsed_ticks: u32) {
        let position = to_singles(position);
        let before = self.motions[slot].position;
        if self.slots[slot].flags & flag::HAS_VELOCITY != 0 {
            self.motions[slot].speed = self.told_speed(slot);
        } else if elapsed_ticks > 0 {
            let way: [f32; 3] = std::array::from_fn(|axis| position[axis] - before[axis]);
            let speed = length(way) * self.config.ticks_per_second / elapsed_ticks as f32;
            self.motions[slot].speed = if speed.is_finite() { speed } else { f32::MAX };
        }
        if position != before {
            self.motions[slot].position = position;
            self.changes.moved.push(self.index_of(slot));
        }
    }

    /// How fast an object is by its velocity field.
    fn told_speed(&self, slot: usize) -> f32 {
        let Some(part) = self.shape_of(slot).velocity else { return 0.0 };
        let words = load_triple(&self.histories.draft(slot)[part.first_word..]);
        length(part.profile.dequantize_velocity(words))
    }

    /// Where an object is in the world, as the game said it last: before rounding, and before the next commit.
    pub fn pose(&self, index: ObjectIndex) -> Option<Pose> {
        let place = self.world_place(self.slot_of(index).ok()?);
        Some(Pose::new(place.position, place.rotation.map(|part| part as f32)))
    }

    /// Where an object is in the world.
    pub(super) fn world_place(&self, slot: usize) -> Place {
        let place = self.transforms[slot].place();
        self.family
            .ancestors(slot)
            .fold(place, |inner, ancestor| self.transforms[ancestor].place().outward(inner))
    }

    /// Takes one slot per commit in turn and keeps its ticks comparable, however long the object has been at rest.
    fn refresh_one(&mut self, now: Tick) {
        let Some(slots) = std::num::NonZero::new(self.slots.len()) else { return };
        let slot = self.refresh_next % slots;
        self.refresh_next = slot + 1;
        if self.slots[slot].flags & flag::LIVE == 0 {
            return;
        }
        self.histories.refresh(slot, now);
        self.slots[slot].version = not_ancient(self.slots[slot].version, now);
        let jumped = &mut self.settings[slot].jumped;
        *jumped = jumped.filter(|jumped| now.0.wrapping_sub(jumped.0) <= AGE_KEPT);
        if jumped.is_none_or(|jumped| now.0.wrapping_sub(jumped.0) > BASELINE_AGE_MAX) {
            self.slots[slot].flags &= !flag::JUMPED;
        }
    }
}

fn length([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}
