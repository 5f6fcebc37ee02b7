//! Reading a scene file and playing it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use netloom_replica::class::{Class, FieldWords, classes_hash};
use netloom_replica::entry::value_of;
use netloom_replica::world::{ObjectIndex, World, WorldError};
use netloom_wire::{ByteReader, Profile, SectorOrigin};

use crate::error::Damage;
use crate::file::record::{self, Record, What};
use crate::file::{BlockReader, Header, Next};
use crate::{SceneError, Source};

/// Objects at once that are taken from a file unless more are allowed: what a world takes unless more are configured.
const OBJECTS_MAX_DEFAULT: usize = 65_536;

/// A recorded scene, read as it is played.
///
/// Playing writes the words that were recorded, so they are the same in the world as they were in the game. Two things
/// are not told by words: the numbers of texts, bytes and arrays count what was played, and the values of a field
/// that is delivered reliably between two ticks are not there, only the last.
#[derive(Debug)]
pub struct Recording<R: Read> {
    blocks: BlockReader<R>,
    header: Header,
    classes_hash: u64,
    objects_max: usize,
    /// How much of the present block is played.
    position: usize,
    slot_before: u32,
    /// By the slot that they had when they were recorded.
    objects: Vec<Option<Played>>,
    ending: Option<Ending>,
}

/// How a recording came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Whoever recorded it finished it.
    Finished,
    /// The file ends before its end: the program that wrote it was killed, or copying was interrupted. All ticks that are
    /// there were played.
    Cut,
}

/// An object that is in the world.
#[derive(Debug)]
struct Played {
    index: ObjectIndex,
    words: Vec<i32>,
}

impl Recording<BufReader<File>> {
    /// The recording in a file.
    pub fn open(path: &Path) -> Result<Recording<BufReader<File>>, SceneError> {
        let file = File::open(path).map_err(|source| SceneError::Io { offset: 0, source })?;
        Recording::new(BufReader::new(file))
    }
}

impl<R: Read> Recording<R> {
    /// The recording that a reader yields.
    pub fn new(reader: R) -> Result<Recording<R>, SceneError> {
        let (blocks, header) = BlockReader::new(reader)?;
        Ok(Recording {
            classes_hash: classes_hash(&header.classes)?,
            blocks,
            header,
            objects_max: OBJECTS_MAX_DEFAULT,
            position: 0,
            slot_before: 0,
            objects: Vec::new(),
            ending: None,
        })
    }

    /// Takes so many objects at once instead of 65,536. What a file can make its reader remember is bounded by that.
    #[must_use]
    pub fn with_objects_max(self, objects_max: usize) -> Recording<R> {
        Recording { objects_max, ..self }
    }

    /// How it ended; `None` while there may be more.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn play_record(&mut self, world: &mut World) -> Result<bool, Damage> {
        let Recording { blocks, objects, slot_before, position, objects_max, .. } = self;
        let mut reader = ByteReader::new(blocks.block().get(*position..).unwrap_or_default());
        let record = record::read(&mut reader, slot_before)?;
        let Record::Of(slot, what) = record else {
            *position += reader.position();
            return Ok(true);
        };
        let missing = Damage::Object(slot.into());
        if let What::Spawn(spawn) = what {
            let number = slot as usize;
            if number >= *objects_max || objects.get(number).is_some_and(Option::is_some) {
                return Err(missing);
            }
            let index = world.spawn(spawn).map_err(Damage::Refused)?;
            let word_count = world.object(index).map_or(0, |object| object.class().word_count());
            objects.resize_with(objects.len().max(number + 1), || None);
            objects[number] = Some(Played { index, words: vec![0; word_count] });
        } else if what == What::Despawn {
            let gone = objects.get_mut(slot as usize).and_then(Option::take).ok_or(missing)?;
            world.despawn(gone.index).map_err(Damage::Refused)?;
        } else if let What::Parent(parent) = what {
            let find = |slot: u32| objects.get(slot as usize)?.as_ref().map(|played| played.index);
            let index = find(slot).ok_or(missing)?;
            let parent = parent.map(|slot| find(slot).ok_or(Damage::Object(slot.into()))).transpose()?;
            world.attach(index, parent).map_err(Damage::Refused)?;
        } else {
            let played = objects.get_mut(slot as usize).and_then(Option::as_mut).ok_or(missing)?;
            match what {
                What::Words => played.read_words(&mut reader, world)?,
                what => played.play(what, world)?,
            }
        }
        *position += reader.position();
        Ok(false)
    }
}

impl<R: Read> Source for Recording<R> {
    fn name(&self) -> &str {
        &self.header.name
    }

    fn classes(&self) -> &[Class] {
        &self.header.classes
    }

    fn ticks_per_second(&self) -> u32 {
        self.header.ticks_per_second
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        if world.classes().hash() != self.classes_hash {
            return Err(SceneError::OtherClasses);
        }
        let mut is_begun = false;
        while self.ending.is_none() {
            if self.position == self.blocks.block().len() {
                self.position = 0;
                self.ending = match self.blocks.next()? {
                    Next::Block => None,
                    Next::End => Some(Ending::Finished),
                    Next::Cut => Some(Ending::Cut),
                };
                continue;
            }
            is_begun = true;
            if self.play_record(world).map_err(|what| self.blocks.damaged(what))? {
                return Ok(true);
            }
        }
        if is_begun { Err(self.blocks.damaged(Damage::TickEnds)) } else { Ok(false) }
    }
}

impl Played {
    /// What a record says besides words, and but for what concerns other objects, too.
    fn play(&mut self, what: What<'_>, world: &mut World) -> Result<(), Damage> {
        let index = self.index;
        let played = match what {
            What::Frame(profile, origin) => self.reframe(profile, origin, world),
            What::Assignment(owner, team) => {
                world.set_owner(index, owner).and_then(|()| world.set_team(index, team))
            }
            What::Tuning { priority, relevance_radius } => world
                .set_priority(index, priority)
                .and_then(|()| world.set_relevance_radius(index, relevance_radius)),
            What::Jump => world.teleport(index),
            What::Touch => world.touch(index),
            What::Content { field, content } => {
                let field = usize::from(field);
                let own = world.object(index).and_then(|object| object.class().fields().get(field).copied());
                let own = own.ok_or(netloom_wire::ReadError::InvalidField)?;
                world.set(index, field, own.kind.read_content(content)?)
            }
            What::Spawn(_) | What::Despawn | What::Parent(_) | What::Words => Ok(()),
        };
        played.map_err(Damage::Refused)
    }

    fn reframe(&self, profile: Profile, origin: SectorOrigin, world: &mut World) -> Result<(), WorldError> {
        world.set_profile(self.index, profile)?;
        // A world wants to hear of every version; a game may have moved the origin twice in a tick. There are 64 of them.
        while let Some(present) = world.object(self.index).map(|object| object.origin())
            && present != origin
        {
            let next = present.moved_to(origin.metres()).map_err(|_| WorldError::OriginVersion {
                found: origin.version().get(),
                expected: present.version().next().get(),
            })?;
            world.rebase(self.index, next)?;
        }
        Ok(())
    }

    fn read_words(&mut self, reader: &mut ByteReader<'_>, world: &mut World) -> Result<(), Damage> {
        let mask = record::read_words(reader, &mut self.words)?;
        let Some(object) = world.object(self.index) else { return Ok(()) };
        // The number of fields is at most 64, and what they are is asked while the world changes.
        let (profile, field_count) = (object.profile(), object.class().fields().len());
        for field in 0..field_count {
            let own = world.object(self.index).map(|object| object.class().fields()[field]);
            if let Some(own) = own.filter(|own| is_named(own, mask)) {
                let value = value_of(&own, &self.words, profile, &[]);
                world.set(self.index, field, value).map_err(Damage::Refused)?;
            }
        }
        Ok(())
    }
}

/// Whether a field has words that say what it holds, and one of them is named.
fn is_named(field: &FieldWords, mask: u128) -> bool {
    let own = ((1u128 << field.count) - 1) << field.first;
    field.kind.content_bytes_max().is_none() && mask & own != 0
}
