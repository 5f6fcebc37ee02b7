//! The objects of a server: what they are now, and what they were.
//!
//! A peer receives the difference between an object's present and a past that the peer is known to hold. The present
//! alone is therefore not enough: the world keeps the last 32 *versions* of every object, each under the tick at which
//! it came into force. Everything is kept as quantized words, because two words are equal on both sides or they are
//! not, while floats are nearly equal.
//!
//! ```text
//!        set_position, set, attach, …             commit(tick)
//!   game ───────────────────────────▶ draft ──────────────────▶ versions ───▶ server: encode, interest, priority
//!                                       words compared with the newest version; equal → nothing happens
//! ```
//!
//! A version stays newer than what a peer acked for as long as that peer did not ack it, so a change whose sending was
//! put off is never forgotten, however long that takes. Objects that nobody wrote to cost nothing in a commit.
//!
//! The *frame* of an object moves when its words change their meaning: another profile, another sector origin, another
//! parent. Versions of an earlier frame are gone, because nothing can be computed with them.
//!
//! Objects are found by [`ObjectIndex`]: a dense slot and the lifetime of the slot that is meant. Rows that are walked
//! every tick ([`World::motions`], [`World::priorities`], …) are plain slices by slot; an [`Object`] shows everything
//! about one.
//!
//! ```
//! use netloom_replica::world::{Spawn, World, WorldConfig};
//! use netloom_replica::{Class, ClassId};
//! use netloom_wire::schema::{FieldKind, SyncFlags, Value};
//! use netloom_wire::{ObjectId, Profile, Schema, Tick};
//!
//! let schema = Schema::builder("tank")
//!     .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
//!     .field("health", FieldKind::int(0, 100)?, SyncFlags::PUBLIC_SYNC, 100)
//!     .build()?;
//! let mut world = World::new(vec![Class::new(schema)?], WorldConfig::default())?;
//!
//! let tank = world.spawn(Spawn::new(ObjectId(7), ClassId(0)))?;
//! world.set_position(tank, [1.5, 0.0, -3.0])?;
//! world.set(tank, 1, Value::Word(80))?;
//! world.commit(Tick(1))?;
//! world.set(tank, 1, Value::Word(75))?;
//! world.commit(Tick(2))?;
//!
//! let tank = world.object(tank).ok_or("gone")?;
//! assert_eq!(tank.words(), [150, 0, -300, 0, 75]);
//! assert_eq!(tank.words_at(Tick(1)), Some(&[150, 0, -300, 0, 80][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class_table;
mod commit;
mod error;
mod family;
mod history;
mod lanes;
mod object;
mod transform;
mod value;
mod write;

pub use class_table::ClassTable;
pub use error::{ValueError, WorldError, WriteCounters, WriteRefused};
pub use family::ATTACH_DEPTH_MAX;
pub use history::History;
pub use object::Object;

use std::collections::{BTreeMap, VecDeque};

use netloom_wire::{ObjectId, Profile, QuantizeCounters, SectorOrigin, Tick};

use crate::class::{Class, ClassId};
use crate::limits::OBJECTS_MAX;
use crate::property::PropertyLog;
use class_table::Shape;
use family::Family;
use history::{Histories, Stride};
use lanes::Lanes;
use transform::Transform;

/// An object of a world: a dense slot, and which lifetime of the slot is meant.
///
/// Slots are used again, first in, first out, and not before the commit that reports the despawn. The generation moves
/// when the object is despawned, so that an index kept too long finds nothing rather than another object. It has 32
/// bits: a slot that is used again at every tick of a 60 Hz server needs two years to come round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIndex {
    slot: u32,
    generation: u32,
}

impl ObjectIndex {
    /// The place of the object in the rows of its world.
    #[inline]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Which lifetime of the slot is meant.
    pub fn generation(self) -> u32 {
        self.generation
    }
}

/// Somebody who can own objects: a player, not a connection, for players come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// A team of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TeamId(pub u16);

/// What is fixed for the life of a world. What may change at run time is a setting of each object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldConfig {
    /// Objects at once, 1 to [`OBJECTS_MAX`].
    pub objects_max: usize,
    /// Send ticks per second, above 0 to 1,000: gives the speed of objects that have no velocity field.
    pub ticks_per_second: f32,
    /// How much of what reliable fields were set to is kept for peers that have not taken it yet, in bytes: 131,072 to
    /// 67,108,864. Nothing is allocated if no class has such a field.
    pub property_log_bytes: usize,
}

impl Default for WorldConfig {
    fn default() -> WorldConfig {
        WorldConfig { objects_max: 65_536, ticks_per_second: 20.0, property_log_bytes: 1 << 20 }
    }
}

/// A new object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spawn {
    /// Its identity, unique in the world and across zones.
    pub id: ObjectId,
    /// Its kind.
    pub class: ClassId,
    /// Whose it is.
    pub owner: Option<OwnerId>,
    /// The team that it belongs to.
    pub team: Option<TeamId>,
    /// How its position and rotation are quantized; `None` as its class says.
    pub profile: Option<Profile>,
    /// What its position is relative to on the wire.
    pub origin: SectorOrigin,
    /// How important it is compared with others; 0 is never sent.
    pub priority: f32,
    /// How far away it is seen, in metres; infinite is everywhere. A finite one is also what its distance is measured by
    /// where a budget does not hold everything.
    pub relevance_radius: f32,
    /// A factor of the priority for its kind of object: 2 for players.
    pub kind_weight: f32,
}

impl Spawn {
    /// An object that nobody owns, with priority 1, seen from everywhere.
    pub fn new(id: ObjectId, class: ClassId) -> Spawn {
        Spawn {
            id,
            class,
            owner: None,
            team: None,
            profile: None,
            origin: SectorOrigin::default(),
            priority: 1.0,
            relevance_radius: f32::INFINITY,
            kind_weight: 1.0,
        }
    }
}

/// What an object is: what its words mean follows from it. Apart from the other settings, because every code asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub class: ClassId,
    pub profile: Profile,
}

/// What every write and every commit asks of a slot, four of them in a line of memory.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Of the object in it, or of the next one.
    generation: u32,
    /// The tick of the newest version.
    version: Tick,
    /// Counts the changes of what the words mean.
    frame: u32,
    /// What is to be done about it at the next commit, and what is so all the time; zero without an object.
    flags: u16,
    kind: Kind,
}

const _: () = assert!(size_of::<Slot>() == 16);

impl Slot {
    #[inline]
    fn is_live(&self) -> bool {
        self.flags & flag::LIVE != 0
    }
}

/// What many objects have in common: their kind, and where their versions are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    kind: Kind,
    stride: Stride,
}

/// Where an object is in the world, and how fast it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Where, in metres.
    pub position: [f32; 3],
    /// In metres per second.
    pub speed: f32,
}

/// What is seldom looked at.
#[derive(Clone, Copy, Debug)]
struct Settings {
    id: ObjectId,
    owner: Option<OwnerId>,
    team: Option<TeamId>,
    origin: SectorOrigin,
    jumped: Option<Tick>,
}

/// Flags of a [`Slot`].
mod flag {
    pub const LIVE: u16 = 1;
    pub const TOUCHED: u16 = 1 << 1;
    pub const FORCED: u16 = 1 << 2;
    pub const REFRAMED: u16 = 1 << 3;
    pub const TELEPORTED: u16 = 1 << 4;
    pub const UNBORN: u16 = 1 << 5;
    pub const REASSIGNED: u16 = 1 << 6;
    /// The words of the position are those from before it was set last.
    pub const MOVED: u16 = 1 << 7;
    /// The words of the rotation are those from before it was set last.
    pub const TURNED: u16 = 1 << 8;
    /// There is a position: of the class, but asked for at every write.
    pub const HAS_POSITION: u16 = 1 << 9;
    /// There is a rotation.
    pub const HAS_ROTATION: u16 = 1 << 10;
    /// There is a velocity.
    pub const HAS_VELOCITY: u16 = 1 << 11;
    /// It is attached to something, or something to it.
    pub const IN_FAMILY: u16 = 1 << 12;
    /// It jumped, and perhaps not so long ago that nobody builds on what was before.
    pub const JUMPED: u16 = 1 << 13;
    /// What no commit settles.
    pub const LASTING: u16 = LIVE | HAS_POSITION | HAS_ROTATION | HAS_VELOCITY | IN_FAMILY | JUMPED;
}

/// What changed at the newest commit.
#[derive(Debug, Default)]
struct Changes {
    changed: Vec<ObjectIndex>,
    spawned: Vec<ObjectIndex>,
    despawned: Vec<ObjectIndex>,
    moved: Vec<ObjectIndex>,
    reassigned: Vec<ObjectIndex>,
    reframed: Vec<ObjectIndex>,
    retuned: Vec<ObjectIndex>,
}

/// The objects of a server. See the [module](self).
#[derive(Debug)]
pub struct World {
    config: WorldConfig,
    classes: ClassTable,
    ids: BTreeMap<ObjectId, u32>,

    slots: Vec<Slot>,
    settings: Vec<Settings>,
    transforms: Vec<Transform>,
    family: Family,
    histories: Histories,
    /// The contents of text, byte and array fields, by slot and then by their number in the class.
    contents: Vec<Vec<Vec<u8>>>,
    property_log: PropertyLog,

    motions: Vec<Motion>,
    priorities: Vec<f32>,
    relevance_radii: Vec<f32>,
    kind_weights: Vec<f32>,
    live: Vec<u64>,

    touched: Vec<u32>,
    /// Scratch: objects that are committed side by side.
    lanes: Box<Lanes>,
    free: VecDeque<u32>,
    /// Slots that become free with the next commit, and the objects that it will report as despawned.
    released: Vec<u32>,
    despawned_next: Vec<ObjectIndex>,
    retuned_next: Vec<ObjectIndex>,
    /// Objects whose priority is 0.
    silent: usize,
    /// Objects of each class.
    populations: Box<[usize]>,
    committed: Option<Tick>,
    refresh_next: usize,
    changes: Changes,
    quantize_counters: QuantizeCounters,
    write_counters: WriteCounters,
}

impl World {
    /// A world without objects.
    pub fn new(classes: Vec<Class>, config: WorldConfig) -> Result<World, WorldError> {
        let within = |field, value: f64, min: f64, max: f64, allowed| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(WorldError::OutOfRange { field, value, allowed }),
        };
        within("objects_max", config.objects_max as f64, 1.0, OBJECTS_MAX as f64, "1 to 1048576")?;
        let rate = f64::from(config.ticks_per_second);
        within("ticks_per_second", rate, f64::MIN_POSITIVE, 1_000.0, "above 0 to 1000")?;
        let log_bytes = config.property_log_bytes as f64;
        within("property_log_bytes", log_bytes, 131_072.0, 67_108_864.0, "131072 to 67108864")?;
        let classes = ClassTable::new(classes)?;
        let property_log =
            PropertyLog::new(if classes.has_reliable() { config.property_log_bytes } else { 0 });
        Ok(World {
            config,
            populations: vec![0; classes.len()].into(),
            classes,
            property_log,
            ids: BTreeMap::new(),
            slots: Vec::new(),
            settings: Vec::new(),
            transforms: Vec::new(),
            family: Family::default(),
            histories: Histories::new(),
            contents: Vec::new(),
            motions: Vec::new(),
            priorities: Vec::new(),
            relevance_radii: Vec::new(),
            kind_weights: Vec::new(),
            live: Vec::new(),
            touched: Vec::new(),
            lanes: Box::default(),
            free: VecDeque::new(),
            released: Vec::new(),
            despawned_next: Vec::new(),
            retuned_next: Vec::new(),
            silent: 0,
            committed: None,
            refresh_next: 0,
            changes: Changes::default(),
            quantize_counters: QuantizeCounters::default(),
            write_counters: WriteCounters::default(),
        })
    }

    /// What was configured.
    pub fn config(&self) -> &WorldConfig {
        &self.config
    }

    /// The classes of the world.
    pub fn classes(&self) -> &ClassTable {
        &self.classes
    }

    /// Adds an object. Its fields are zero (or the nearest that they can be) and its scale is one until they are set.
    /// It appears with the next commit.
    pub fn spawn(&mut self, spawn: Spawn) -> Result<ObjectIndex, WorldError> {
        let unknown = WorldError::UnknownClass { class: spawn.class.0, count: self.classes.len() };
        let shape = self.classes.shape(spawn.class).ok_or(unknown)?;
        let kind = Kind { class: spawn.class, profile: spawn.profile.unwrap_or(shape.profile) };
        let Spawn { id, owner, team, origin, .. } = spawn;
        let settings = Settings { id, owner, team, origin, jumped: None };
        let kind_weight =
            in_range("kind_weight", spawn.kind_weight, f32::MIN_POSITIVE, f32::MAX, "finite and above 0")?;
        let priority = checked_priority(spawn.priority)?;
        let radius = checked_radius(spawn.relevance_radius)?;
        if self.ids.contains_key(&spawn.id) {
            return Err(WorldError::IdInUse(spawn.id));
        }
        let slot = self.take_slot(kind, settings)?;
        self.ids.insert(spawn.id, slot as u32);
        (self.slots[slot].kind, self.settings[slot]) = (kind, settings);
        self.slots[slot].flags = flag::LIVE | flag::UNBORN | self.classes.parts_of(kind);
        self.priorities[slot] = priority;
        self.silent += usize::from(priority == 0.0);
        self.populations[usize::from(spawn.class.0)] += 1;
        self.relevance_radii[slot] = radius;
        self.kind_weights[slot] = kind_weight;
        // Words of zero mean the origin, where positions are relative to one.
        let zero = kind.profile.zero(&origin);
        self.transforms[slot] = Transform { position: zero, zero, ..Transform::default() };
        self.motions[slot].speed = 0.0;
        self.slots[slot].version = self.committed.unwrap_or_default();
        // Differs from every place, so that the first commit reports the object as moved.
        self.motions[slot].position = [f32::NAN; 3];
        self.family.open(slot);
        self.open_words(slot);
        self.open_contents(slot);
        self.touch_slot(slot);
        Ok(self.index_of(slot))
    }

    /// Removes an object. What was attached to it stays where it is in the world, attached to nothing.
    pub fn despawn(&mut self, index: ObjectIndex) -> Result<(), WorldError> {
        let slot = self.slot_of(index)?;
        while let Some(child) = self.family.first_child(slot) {
            self.move_to_parent(child, None);
        }
        self.attach_to(slot, None);
        self.ids.remove(&self.settings[slot].id);
        self.populations[usize::from(self.slots[slot].kind.class.0)] -= 1;
        self.silent -= usize::from(self.priorities[slot] == 0.0);
        self.histories.close(slot);
        if self.slots[slot].flags & flag::UNBORN == 0 {
            self.despawned_next.push(index);
        }
        self.slots[slot].flags = 0;
        self.live[slot / 64] &= !(1 << (slot % 64));
        self.slots[slot].generation = self.slots[slot].generation.wrapping_add(1);
        self.released.push(slot as u32);
        Ok(())
    }

    /// The object with this identity.
    pub fn find(&self, id: ObjectId) -> Option<ObjectIndex> {
        self.ids.get(&id).map(|&slot| self.index_of(slot as usize))
    }

    /// Whether the object is in the world.
    #[inline]
    pub fn contains(&self, index: ObjectIndex) -> bool {
        self.slot_of(index).is_ok()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// How many there are of a class.
    pub fn population(&self, class: ClassId) -> usize {
        self.populations.get(usize::from(class.0)).copied().unwrap_or_default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// One object; `None` if it is not in the world.
    #[inline]
    pub fn object(&self, index: ObjectIndex) -> Option<Object<'_>> {
        Some(Object::new(self, self.slot_of(index).ok()?))
    }

    /// The object in a slot; `None` if it is empty.
    #[inline]
    pub fn at(&self, slot: usize) -> Option<Object<'_>> {
        let is_live = self.slots.get(slot).is_some_and(Slot::is_live);
        is_live.then(|| Object::new(self, slot))
    }

    /// The class and the profile of the object in a slot; `None` if it is empty.
    #[inline]
    pub(crate) fn kind_at(&self, slot: usize) -> Option<Kind> {
        self.slots.get(slot).filter(|slot| slot.is_live()).map(|slot| slot.kind)
    }

    /// The words of the object in a slot now, and those that were in force at two ticks, the newer one first; `None` as for
    /// [`Object::words_at`]. Whether it jumped since the newer one.
    #[inline(always)]
    pub(crate) fn past_at(&self, slot: usize, ticks: [Tick; 2]) -> Option<([&[i32]; 3], bool)> {
        let jumped = self.slots[slot].flags & flag::JUMPED != 0
            && self.settings[slot].jumped.is_some_and(|jumped| jumped.is_newer_than(ticks[0]));
        self.histories.versions(slot, ticks).map(|words| (words, jumped))
    }

    /// What [`World::past_at`] finds for the object in a slot, it finds in the same places for others like it.
    pub(crate) fn alike(&self, slot: usize, ticks: [Tick; 2]) -> Option<Alike> {
        let slot_of = self.slots.get(slot).filter(|slot| slot.is_live())?;
        Some(Alike { kind: slot_of.kind, stride: self.histories.stride_of(slot, ticks)? })
    }

    /// [`World::past_at`] for an object that is like another one and did not jump; `None` if it is not, or did.
    #[inline(always)]
    pub(crate) fn past_of(&self, slot: usize, alike: &Alike) -> Option<[&[i32]; 3]> {
        let Slot { flags, kind, .. } = *self.slots.get(slot)?;
        if flags & (flag::LIVE | flag::JUMPED) != flag::LIVE || kind != alike.kind {
            return None;
        }
        self.histories.versions_in_stride(slot, &alike.stride)
    }

    /// All objects, by slot.
    pub fn iter(&self) -> impl Iterator<Item = Object<'_>> {
        (0..self.slots.len()).filter_map(|slot| self.at(slot))
    }

    /// All objects that are attached to others, by slot.
    pub fn attached(&self) -> impl Iterator<Item = Object<'_>> {
        self.family.attached().iter().filter_map(|slot| self.at(slot))
    }

    /// What reliable fields were set to of late.
    pub fn property_log(&self) -> &PropertyLog {
        &self.property_log
    }

    /// How often a value could not be quantized faithfully.
    pub fn quantize_counters(&self) -> QuantizeCounters {
        self.quantize_counters
    }

    /// What became of the clients' writes.
    pub fn write_counters(&self) -> WriteCounters {
        self.write_counters
    }

    fn take_slot(&mut self, kind: Kind, settings: Settings) -> Result<usize, WorldError> {
        if let Some(slot) = self.free.pop_front() {
            return Ok(slot as usize);
        }
        let slot = self.slots.len();
        if slot == self.config.objects_max {
            return Err(WorldError::Full { objects_max: slot });
        }
        self.slots.push(Slot { generation: 0, version: Tick::default(), frame: 0, flags: 0, kind });
        self.settings.push(settings);
        self.transforms.push(Transform::default());
        self.contents.push(Vec::new());
        self.motions.push(Motion::default());
        self.priorities.push(0.0);
        self.relevance_radii.push(0.0);
        self.kind_weights.push(0.0);
        self.live.resize(slot / 64 + 1, 0);
        Ok(slot)
    }

    fn open_words(&mut self, slot: usize) {
        let class = self.classes.class_of(self.slots[slot].kind);
        self.histories.open(slot, class.word_count());
        let words = self.histories.draft_mut(slot);
        for field in class.fields() {
            value::store_default(field.kind, &mut words[field.first..field.first + field.count]);
        }
    }

    #[inline]
    fn class_of(&self, slot: usize) -> &Class {
        self.classes.class_of(self.slots[slot].kind)
    }

    #[inline]
    fn shape_of(&self, slot: usize) -> &Shape {
        self.classes.shape_of(self.slots[slot].kind)
    }

    #[inline]
    fn index_of(&self, slot: usize) -> ObjectIndex {
        ObjectIndex { slot: slot as u32, generation: self.slots[slot].generation }
    }

    #[inline]
    fn slot_of(&self, index: ObjectIndex) -> Result<usize, WorldError> {
        let slot = index.slot();
        match self.slots.get(slot) {
            Some(found) if found.is_live() && found.generation == index.generation => Ok(slot),
            _ => Err(WorldError::Gone(index)),
        }
    }

    #[inline]
    fn touch_slot(&mut self, slot: usize) {
        self.mark(slot, 0);
    }
}

fn in_range(
    field: &'static str,
    value: f32,
    min: f32,
    max: f32,
    allowed: &'static str,
) -> Result<f32, WorldError> {
    match (min..=max).contains(&value) {
        true => Ok(value),
        false => Err(WorldError::OutOfRange { field, value: f64::from(value), allowed }),
    }
}

fn checked_priority(priority: f32) -> Result<f32, WorldError> {
    in_range("priority", priority, 0.0, f32::MAX, "finite and not negative")
}

fn checked_radius(radius: f32) -> Result<f32, WorldError> {
    in_range("relevance_radius", radius, 0.0, f32::INFINITY, "not negative, or infinite for everywhere")
}

#[cfg(test)]
mod tests;
