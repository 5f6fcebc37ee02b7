//! Reading a snapshot.

use netloom_wire::{Alias, BitReader, ByteReader, ReadError, Tick};

use super::object::tick_before;
use super::{Change, ChangeKind, ClientEvent, ClientObject, MISMATCHES_MAX, ReplicaClient, SnapshotError};
use crate::class::{Class, ClassId};
use crate::codec::{self, Baseline, Blobs, Tally};
use crate::digest::{REGION_SLOTS, REGIONS_MAX, object_digest, placed};
use crate::entry::{Entry, JUMP_AGE_MAX, read_entry};
use crate::limits::{EXISTENCE_PER_SNAPSHOT_MAX, VISIBLE_MAX, WORDS_MAX};
use crate::snapshot::{Baselines, Feedback, Flags, Header, check_slot, nearest_tick, read_header};

/// The full tick of a snapshot: the one nearest to what is known.
pub fn tick(payload: &[u8], near: Option<Tick>) -> Result<Tick, ReadError> {
    let truncated = ByteReader::new(payload).read_u16()?;
    Ok(near.map_or(Tick(truncated.into()), |near| nearest_tick(truncated, near)))
}

/// Looks on while updates are read.
pub trait Watch {
    /// The next object is so many slots further, and its baselines are the common ones or not.
    fn gap(&mut self, gap: u32, is_common: bool);

    /// An object was read.
    #[allow(clippy::too_many_arguments, reason = "what an encoder is told")]
    fn update(
        &mut self,
        class: &Class,
        visible: u64,
        words: &[i32],
        newer: Baseline<'_>,
        older: Option<Baseline<'_>>,
        jump_age: Option<u32>,
        contents: &impl Blobs,
    );
}

/// Nobody looks.
impl Watch for () {
    #[inline(always)]
    fn gap(&mut self, _: u32, _: bool) {}

    #[inline(always)]
    fn update(
        &mut self,
        _: &Class,
        _: u64,
        _: &[i32],
        _: Baseline<'_>,
        _: Option<Baseline<'_>>,
        _: Option<u32>,
        _: &impl Blobs,
    ) {
    }
}

impl Watch for Tally {
    fn gap(&mut self, gap: u32, is_common: bool) {
        Tally::gap(self, gap, is_common);
    }

    fn update(
        &mut self,
        class: &Class,
        visible: u64,
        words: &[i32],
        newer: Baseline<'_>,
        older: Option<Baseline<'_>>,
        jump_age: Option<u32>,
        contents: &impl Blobs,
    ) {
        Tally::update(self, class, visible, words, newer, older, jump_age, contents);
    }
}

impl ReplicaClient {
    pub(super) fn apply(
        &mut self,
        tick: Tick,
        payload: &[u8],
        watch: &mut impl Watch,
    ) -> Result<(), SnapshotError> {
        let (header, mut reader) = read_header(payload)?;
        self.note_feedback(tick, &header);
        if header.flags.contains(Flags::LEAVES) {
            for _ in 0..reader.read_varint_up_to(EXISTENCE_PER_SNAPSHOT_MAX as u64)? {
                let alias = Alias { slot: reader.read_u16()?, generation: reader.read_u8()? };
                check_slot(alias.slot)?;
                let age = reader.read_varint_up_to(u32::MAX.into())? as u32;
                self.leave(alias, Tick(tick.0.wrapping_sub(age)));
            }
        }
        if header.flags.contains(Flags::ENTERS) {
            for _ in 0..reader.read_varint_up_to(EXISTENCE_PER_SNAPSHOT_MAX as u64)? {
                let length = self.enter(tick, reader.rest())?;
                reader.read_bytes(length)?;
            }
        }
        if header.flags.contains(Flags::UPDATES) {
            let count = reader.read_varint_up_to(VISIBLE_MAX as u64)?;
            self.update(tick, &header, count as usize, reader.rest(), watch)?;
        } else {
            reader.finish()?;
        }
        // A snapshot that newer ones overtook says nothing about the present.
        let is_present = self.newest.is_none_or(|newest| !newest.is_newer_than(tick));
        if let Some((region, digest)) = header.digest.filter(|_| is_present) {
            self.compare(region, digest)?;
        }
        Ok(())
    }

    /// Keeps the newest feedback. A step is known by 16 bits; the first is near what was said at the start.
    fn note_feedback(&mut self, tick: Tick, header: &Header) {
        let Some((low, slack)) = header.feedback else { return };
        let step = match self.feedback {
            Some((of, _)) if !tick.is_newer_than(of) => return,
            Some((_, before)) => nearest_tick(low, before.step),
            None => self.start.map_or(Tick(low.into()), |(_, near)| nearest_tick(low, near)),
        };
        self.feedback = Some((tick, Feedback { step, slack }));
    }

    /// Compares what is here with what the server says.
    fn compare(&mut self, region: u16, digest: u32) -> Result<(), ReadError> {
        let region_index = usize::from(region);
        if region_index >= REGIONS_MAX {
            return Err(ReadError::OutOfRange);
        }
        let slots = self.objects.iter().skip(region_index * REGION_SLOTS).take(REGION_SLOTS).flatten();
        let mut own = 0u32;
        for object in slots.filter(|object| object.is_in_sight()) {
            let Some(class) = self.classes.class(ClassId(object.class()), object.profile()) else { continue };
            let digest = object_digest(object.class(), class, object.words(), &**object);
            own = own.wrapping_add(placed(digest, object.alias()));
        }
        if own != digest && self.mismatches.len() < MISMATCHES_MAX && !self.mismatches.contains(&region) {
            self.mismatches.push_back(region);
        }
        Ok(())
    }

    /// Lets the processor fetch what will most likely be read next, while this object is worked on: a client whose memory is
    /// cold waits for that half of its time.
    #[inline]
    fn fetch_ahead(&self, slot: usize, baseline: Tick) {
        let object = |ahead: usize| self.objects.get(slot + ahead).and_then(Option::as_ref);
        std::hint::black_box(object(2).map(|object| object.tick()));
        std::hint::black_box(object(1).map(|object| object.peek(baseline)));
    }

    fn leave(&mut self, alias: Alias, tick: Tick) {
        let slot = usize::from(alias.slot);
        if self.leaves.len() <= slot {
            self.leaves.resize(slot + 1, None);
        }
        let last = &mut self.leaves[slot];
        if last.is_none_or(|left| tick.is_newer_than(left)) {
            *last = Some(tick);
        }
        let Some(Some(object)) = self.objects.get_mut(slot) else { return };
        let is_meant = object.alias() == alias && !object.entered().is_newer_than(tick);
        #[cfg(netloom_mutations)]
        let is_meant = is_meant || crate::mutation::is(crate::mutation::Mutation::LeaveOfAnotherObject);
        if is_meant && object.is_in_sight() {
            object.leave();
            self.in_sight -= 1;
            self.tell(tick, ClientEvent::Left(alias));
        }
    }

    fn enter(&mut self, tick: Tick, bytes: &[u8]) -> Result<usize, ReadError> {
        let mut words = [0; WORDS_MAX];
        self.contents.clear();
        let contents = &mut self.contents;
        let (entry, length) = read_entry(bytes, &self.classes, &mut words, |field, content| {
            contents.push(field, content);
        })?;
        if self.is_outdated(&entry, tick) {
            return Ok(length);
        }
        let slot = usize::from(entry.alias.slot);
        if self.objects.len() <= slot {
            self.objects.resize_with(slot + 1, || None);
        }
        let class = self.classes.class(ClassId(entry.class), entry.profile).ok_or(ReadError::OutOfRange)?;
        if let Some(object) = self.objects[slot].as_mut().filter(|object| object.is_same(&entry)) {
            // Told again: one more state of what is here.
            if tick.is_newer_than(object.tick()) {
                self.contents.iter().for_each(|(field, content)| object.set_content(field, content));
            }
            let jumped = entry.jump_age.map(|age| tick_before(tick, age));
            object.insert(tick, &words[..class.word_count()], jumped);
            let (alias, kind) = (entry.alias, ChangeKind::Updated);
            self.changes.push(Change { alias, kind, in_full: true, tick, jumped });
            return Ok(length);
        }
        let mut object = Box::new(ClientObject::new(entry, tick, class, &words));
        self.contents.iter().for_each(|(field, content)| object.set_content(field, content));
        if let Some(before) = &mut self.objects[slot] {
            object.inherit(before, class);
        }
        let before = self.objects[slot].replace(object);
        match before.filter(|before| before.is_in_sight()) {
            Some(before) if before.alias() == entry.alias => {
                self.tell(tick, ClientEvent::Refreshed(entry.alias))
            }
            Some(before) => {
                self.tell(tick, ClientEvent::Left(before.alias()));
                self.tell(tick, ClientEvent::Entered(entry.alias));
            }
            None => {
                self.in_sight += 1;
                self.tell(tick, ClientEvent::Entered(entry.alias));
            }
        }
        Ok(length)
    }

    /// Whether the object left later, or what this slot holds came later.
    fn is_outdated(&self, entry: &Entry, tick: Tick) -> bool {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::StaleEntryApplied) {
            return false;
        }
        let slot = usize::from(entry.alias.slot);
        let left = self.leaves.get(slot).copied().flatten();
        let has_left = left.is_some_and(|left| !tick.is_newer_than(left));
        let held = self.objects.get(slot).and_then(Option::as_ref);
        let is_old = |object: &ClientObject| match object.is_same(entry) {
            true => !tick.is_newer_than(object.entered()),
            false => !tick.is_newer_than(object.tick()),
        };
        has_left || held.is_some_and(|object| is_old(object))
    }

    fn update(
        &mut self,
        tick: Tick,
        header: &Header,
        count: usize,
        bytes: &[u8],
        watch: &mut impl Watch,
    ) -> Result<(), SnapshotError> {
        let mut reader = BitReader::new(bytes);
        let mut baselines = Baselines::new(header.ages);
        let mut next = 0u32;
        let mut words = [0; WORDS_MAX];
        for _ in 0..count {
            let slots_left = (VISIBLE_MAX as u32).checked_sub(next + 1).ok_or(ReadError::OutOfRange)?;
            let (gap, is_common) = codec::read_gap(&self.codes, &mut reader, slots_left)?;
            watch.gap(gap, is_common);
            let slot = next + gap;
            next = slot + 1;
            let slot = u16::try_from(slot).map_err(|_| ReadError::OutOfRange)?;
            let (newer, older) = baselines.read(is_common, &mut reader)?;
            self.fetch_ahead(usize::from(slot), tick_before(tick, newer));
            let object = self.objects.get_mut(usize::from(slot)).and_then(|object| object.as_mut());
            let object = object.ok_or(SnapshotError::UnknownObject(slot))?;
            let class = self
                .classes
                .class(ClassId(object.class()), object.profile())
                .ok_or(SnapshotError::UnknownObject(slot))?;
            let state = |age: u32| {
                let at = tick_before(tick, age);
                let kept = object.state_at(at).ok_or(SnapshotError::MissingBaseline { slot, tick: at });
                kept.map(|kept| (Baseline { words: kept.words, age }, kept.jumped))
            };
            let (newer, jumped) = state(newer)?;
            let older = older.map(|age| state(age).map(|(older, _)| older)).transpose()?;
            let visible = class.visible(object.audience());
            self.contents.clear();
            let mut keep = |field: usize, content: &[u8]| self.contents.push(field, content);
            let decoded =
                codec::decode(class, visible, newer, older, &self.codes, &mut reader, &mut words, &mut keep)?;
            watch.update(class, visible, &words, newer, older, decoded.jump_age, &self.contents);
            let is_newest = tick.is_newer_than(object.tick());
            #[cfg(netloom_mutations)]
            let is_newest = is_newest || crate::mutation::is(crate::mutation::Mutation::OlderContentKept);
            if is_newest {
                self.contents.iter().for_each(|(field, content)| object.set_content(field, content));
            }
            // An update that says nothing of a jump says that there was none since the state that it builds on.
            let jumped = match decoded.jump_age {
                Some(age) => Some(tick_before(tick, age)),
                None => jumped.filter(|jumped| tick.0.wrapping_sub(jumped.0) <= JUMP_AGE_MAX),
            };
            object.insert(tick, &words[..class.word_count()], jumped);
            if object.is_in_sight() {
                let alias = object.alias();
                let kind = ChangeKind::Updated;
                self.changes.push(Change { alias, kind, in_full: false, tick, jumped });
            }
        }
        reader.finish()?;
        Ok(())
    }
}
