//! Writing what happens in a world to a scene file.
//!
//! The recorder looks at a world after each of its commits, as any peer would that sees everything, and writes how it
//! differs from what it wrote before. It keeps the words that it wrote last, so nothing is asked of the game, a tick that was
//! missed is no harm, and a recording can begin in the middle of a game.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use netloom_replica::Class;
use netloom_replica::world::{Object, ObjectIndex, OwnerId, Spawn, TeamId, World};
use netloom_wire::{Profile, SectorOrigin, Tick};

use crate::file::record::{self, RECORD_BYTES_MAX, What};
use crate::file::{BlockWriter, Header};
use crate::{SceneError, Source};

/// After so many seconds of the scene, what was recorded is passed on to the system: as much is lost if the program is killed.
const FLUSH_SECONDS: u32 = 2;

/// Records a world. [`Recorder::finish`] ends the file, as does dropping the recorder if nobody called it.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    blocks: BlockWriter<W>,
    slot_before: u32,
    /// What was written last, by slot.
    written: Vec<Option<Written>>,
    /// When slots became free, in order: a world uses them again in that order, and so does the one that is played into.
    freed: HashMap<u32, u64>,
    freed_count: u64,
    newest: Option<Tick>,
    ticks_per_flush: u32,
    ticks_unflushed: u32,
    is_finished: bool,
    scratch: Vec<i32>,
}

/// An object as it was written.
#[derive(Clone, Debug)]
struct Written {
    index: ObjectIndex,
    frame: u32,
    parent: Option<ObjectIndex>,
    profile: Profile,
    origin: SectorOrigin,
    owner: Option<OwnerId>,
    team: Option<TeamId>,
    priority: f32,
    relevance_radius: f32,
    words: Vec<i32>,
    /// By field; empty for fields without content.
    contents: Vec<Vec<u8>>,
}

impl Recorder<BufWriter<File>> {
    /// Records into a new file; one that is there is overwritten.
    pub fn create(
        path: &Path,
        name: &str,
        ticks_per_second: u32,
        classes: &[Class],
    ) -> Result<Recorder<BufWriter<File>>, SceneError> {
        let file = File::create(path).map_err(|source| SceneError::Io { offset: 0, source })?;
        Recorder::new(BufWriter::new(file), name, ticks_per_second, classes)
    }
}

impl<W: Write> Recorder<W> {
    /// Begins a scene with this name (1 to 64 bytes), of a world with these classes that sends so often (1 to 1,000).
    pub fn new(
        writer: W,
        name: &str,
        ticks_per_second: u32,
        classes: &[Class],
    ) -> Result<Recorder<W>, SceneError> {
        let header = Header::new(name, ticks_per_second, classes)?;
        Ok(Recorder {
            blocks: BlockWriter::new(writer, &header)?,
            slot_before: 0,
            written: Vec::new(),
            freed: HashMap::new(),
            freed_count: 0,
            newest: None,
            ticks_per_flush: FLUSH_SECONDS * ticks_per_second,
            ticks_unflushed: 0,
            is_finished: false,
            scratch: Vec::new(),
        })
    }

    /// Records the newest commit of a world: to be called once after each, before the game writes again.
    pub fn tick(&mut self, world: &World) -> Result<(), SceneError> {
        let Some(now) = world.tick() else { return Ok(()) };
        self.note_despawned(world)?;
        self.note_spawned(world)?;
        self.note_parents(world)?;
        let before = self.newest.unwrap_or(Tick(now.0.wrapping_sub(1)));
        for slot in live(world) {
            if let Some(object) = world.at(slot) {
                self.note(object, before)?;
            }
        }
        self.newest = Some(now);
        record::write_tick_end(self.blocks.records());
        self.ticks_unflushed += 1;
        if self.ticks_unflushed >= self.ticks_per_flush {
            self.ticks_unflushed = 0;
            return self.blocks.flush();
        }
        self.blocks.after_tick()
    }

    /// Ends the scene. What is recorded after that is not written.
    pub fn finish(&mut self) -> Result<(), SceneError> {
        if self.is_finished {
            return Ok(());
        }
        self.is_finished = true;
        self.blocks.finish()
    }

    fn note_despawned(&mut self, world: &World) -> Result<(), SceneError> {
        for index in world.despawned() {
            self.note_gone(index.slot(), *index)?;
        }
        for slot in 0..self.written.len() {
            let Some(index) = self.written[slot].as_ref().map(|written| written.index) else { continue };
            if !world.contains(index) {
                self.note_gone(slot, index)?;
            }
        }
        Ok(())
    }

    fn note_gone(&mut self, slot: usize, index: ObjectIndex) -> Result<(), SceneError> {
        let Some(place) = self.written.get_mut(slot) else { return Ok(()) };
        if place.take_if(|written| written.index == index).is_none() {
            return Ok(());
        }
        self.freed.insert(slot as u32, self.freed_count);
        self.freed_count += 1;
        self.put(slot, What::Despawn)
    }

    fn note_spawned(&mut self, world: &World) -> Result<(), SceneError> {
        let is_new = |slot: &usize| self.written.get(*slot).is_none_or(Option::is_none);
        let mut spawned: Vec<usize> = live(world).filter(is_new).collect();
        spawned.sort_by_key(|slot| (self.freed.get(&(*slot as u32)).copied().unwrap_or(u64::MAX), *slot));
        for slot in spawned {
            let Some(object) = world.at(slot) else { continue };
            self.freed.remove(&(slot as u32));
            if self.written.len() <= slot {
                self.written.resize_with(slot + 1, || None);
            }
            let spawn = Spawn {
                owner: object.owner(),
                team: object.team(),
                profile: Some(object.profile()),
                origin: object.origin(),
                priority: object.priority(),
                relevance_radius: object.relevance_radius(),
                kind_weight: object.kind_weight(),
                ..Spawn::new(object.id(), object.class_id())
            };
            self.written[slot] = Some(Written::spawned(object));
            self.put(slot, What::Spawn(spawn))?;
        }
        Ok(())
    }

    /// First all that come off, then all that are put on: in between there is never a circle or too long a chain.
    fn note_parents(&mut self, world: &World) -> Result<(), SceneError> {
        for is_on in [false, true] {
            for slot in live(world) {
                let (Some(object), Some(Some(written))) = (world.at(slot), self.written.get_mut(slot)) else {
                    continue;
                };
                let parent = if is_on { object.parent() } else { None };
                let differs = written.parent != object.parent();
                if differs && written.parent != parent {
                    written.parent = parent;
                    self.put(slot, What::Parent(parent.map(|parent| parent.slot() as u32)))?;
                }
            }
        }
        Ok(())
    }

    /// What is new about an object that is known.
    fn note(&mut self, object: Object<'_>, before: Tick) -> Result<(), SceneError> {
        let slot = object.index().slot();
        let Some(mut written) = self.written.get_mut(slot).and_then(Option::take) else { return Ok(()) };
        let result = self.note_differences(slot, &mut written, object, before);
        self.written[slot] = Some(written);
        result
    }

    fn note_differences(
        &mut self,
        slot: usize,
        written: &mut Written,
        object: Object<'_>,
        before: Tick,
    ) -> Result<(), SceneError> {
        let frame = (object.profile(), object.origin());
        if (written.profile, written.origin) != frame {
            (written.profile, written.origin) = frame;
            self.put(slot, What::Frame(frame.0, frame.1))?;
        }
        let assignment = (object.owner(), object.team());
        if (written.owner, written.team) != assignment {
            (written.owner, written.team) = assignment;
            self.put(slot, What::Assignment(assignment.0, assignment.1))?;
        }
        let tuning = (object.priority(), object.relevance_radius());
        if (written.priority, written.relevance_radius) != tuning {
            (written.priority, written.relevance_radius) = tuning;
            self.put(slot, What::Tuning { priority: tuning.0, relevance_radius: tuning.1 })?;
        }
        if object.jumped_since(before).is_some() {
            self.put(slot, What::Jump)?;
        }
        self.note_contents(slot, written, object)?;
        // A version without other words is of another content or frame, or the game asked for it.
        if !self.note_words(slot, written, object)? && object.version().is_newer_than(before) {
            self.put(slot, What::Touch)?;
        }
        Ok(())
    }

    /// Writes the words that differ, or all of them if they mean something else than before. Whether any differs.
    fn note_words(
        &mut self,
        slot: usize,
        written: &mut Written,
        object: Object<'_>,
    ) -> Result<bool, SceneError> {
        let words = &mut self.scratch;
        words.clear();
        words.extend_from_slice(object.words());
        for field in object.class().fields().iter().filter(|field| field.kind.content_bytes_max().is_some()) {
            words[field.first..field.first + field.count].fill(0);
        }
        let mut mask = 0u128;
        for (place, (word, before)) in words.iter().zip(&written.words).enumerate() {
            mask |= u128::from(word != before) << place;
        }
        let differs = mask != 0;
        if written.frame != object.frame() {
            written.frame = object.frame();
            mask = (1u128 << words.len()) - 1;
        }
        if mask == 0 {
            return Ok(false);
        }
        record::write(self.blocks.records(), &mut self.slot_before, slot as u32, What::Words);
        record::write_words(self.blocks.records(), &written.words, &self.scratch, mask);
        written.words.copy_from_slice(&self.scratch);
        self.blocks.after_record(RECORD_BYTES_MAX)?;
        Ok(differs)
    }

    fn note_contents(
        &mut self,
        slot: usize,
        written: &mut Written,
        object: Object<'_>,
    ) -> Result<(), SceneError> {
        for (field, before) in written.contents.iter_mut().enumerate() {
            let content = object.content(field);
            if before != content {
                before.clear();
                before.extend_from_slice(content);
                self.put(slot, What::Content { field: field as u8, content })?;
            }
        }
        Ok(())
    }

    fn put(&mut self, slot: usize, what: What<'_>) -> Result<(), SceneError> {
        record::write(self.blocks.records(), &mut self.slot_before, slot as u32, what);
        self.blocks.after_record(RECORD_BYTES_MAX)
    }
}

/// Writes a source down until it ends. `progress` is told after each tick.
pub fn record(
    mut source: impl Source,
    writer: impl Write,
    mut progress: impl FnMut(),
) -> Result<(), SceneError> {
    let mut recorder = Recorder::new(writer, source.name(), source.ticks_per_second(), source.classes())?;
    let mut world = source.world()?;
    let mut tick = Tick(0);
    while source.play(&mut world)? {
        tick = Tick(tick.0.wrapping_add(1));
        world.commit(tick)?;
        recorder.tick(&world)?;
        progress();
    }
    recorder.finish()
}

impl<W: Write> Drop for Recorder<W> {
    fn drop(&mut self) {
        // Whoever wants to know calls `finish`.
        let _ended = self.finish();
    }
}

impl Written {
    /// As a reader knows an object that was just spawned: no words, and nothing that is not in the record.
    fn spawned(object: Object<'_>) -> Written {
        Written {
            index: object.index(),
            // Another than it has, so that all words are written.
            frame: object.frame().wrapping_sub(1),
            parent: None,
            profile: object.profile(),
            origin: object.origin(),
            owner: object.owner(),
            team: object.team(),
            priority: object.priority(),
            relevance_radius: object.relevance_radius(),
            words: vec![0; object.class().word_count()],
            contents: vec![Vec::new(); object.class().fields().len()],
        }
    }
}

/// The slots of objects that were committed.
fn live(world: &World) -> impl Iterator<Item = usize> + '_ {
    let bits = |(word, bits): (usize, &u64)| {
        let bits = *bits;
        (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| 64 * word + bit)
    };
    world.live().iter().enumerate().flat_map(bits)
}
