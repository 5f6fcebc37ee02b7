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
//! every tick ([`World::positions`], [`World::versions`], …) are plain slices by slot; an [`Object`] shows everything
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
use history::Histories;
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

/// What is seldom looked at.
#[derive(Clone, Copy, Debug)]
struct Settings {
    id: ObjectId,
    class: ClassId,
    owner: Option<OwnerId>,
    team: Option<TeamId>,
    profile: Profile,
    origin: SectorOrigin,
    jumped: Option<Tick>,
}

/// What is to be done about a slot at the next commit; zero for a slot without an object.
mod flag {
    pub const LIVE: u8 = 1;
    pub const TOUCHED: u8 = 1 << 1;
    pub const FORCED: u8 = 1 << 2;
    pub const REFRAMED: u8 = 1 << 3;
    pub const TELEPORTED: u8 = 1 << 4;
    pub const UNBORN: u8 = 1 << 5;
    pub const REASSIGNED: u8 = 1 << 6;
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

    generations: Vec<u32>,
    flags: Vec<u8>,
    settings: Vec<Settings>,
    transforms: Vec<Transform>,
    family: Family,
    histories: Histories,
    /// The contents of text, byte and array fields, by slot and then by their number in the class.
    contents: Vec<Vec<Vec<u8>>>,
    property_log: PropertyLog,

    positions: Vec<[f32; 3]>,
    speeds: Vec<f32>,
    versions: Vec<Tick>,
    frames: Vec<u32>,
    priorities: Vec<f32>,
    relevance_radii: Vec<f32>,
    kind_weights: Vec<f32>,
    live: Vec<u64>,

    touched: Vec<u32>,
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
            generations: Vec::new(),
            flags: Vec::new(),
            settings: Vec::new(),
            transforms: Vec::new(),
            family: Family::default(),
            histories: Histories::new(),
            contents: Vec::new(),
            positions: Vec::new(),
            speeds: Vec::new(),
            versions: Vec::new(),
            frames: Vec::new(),
            priorities: Vec::new(),
            relevance_radii: Vec::new(),
            kind_weights: Vec::new(),
            live: Vec::new(),
            touched: Vec::new(),
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
        let settings = Settings {
            id: spawn.id,
            class: spawn.class,
            owner: spawn.owner,
            team: spawn.team,
            profile: spawn.profile.unwrap_or(shape.profile),
            origin: spawn.origin,
            jumped: None,
        };
        let kind_weight =
            in_range("kind_weight", spawn.kind_weight, f32::MIN_POSITIVE, f32::MAX, "finite and above 0")?;
        let priority = checked_priority(spawn.priority)?;
        let radius = checked_radius(spawn.relevance_radius)?;
        if self.ids.contains_key(&spawn.id) {
            return Err(WorldError::IdInUse(spawn.id));
        }
        let slot = self.take_slot(settings)?;
        self.ids.insert(spawn.id, slot as u32);
        self.settings[slot] = settings;
        self.flags[slot] = flag::LIVE | flag::UNBORN;
        self.priorities[slot] = priority;
        self.silent += usize::from(priority == 0.0);
        self.populations[usize::from(spawn.class.0)] += 1;
        self.relevance_radii[slot] = radius;
        self.kind_weights[slot] = kind_weight;
        // Words of zero mean the origin, where positions are relative to one.
        let position = if settings.profile.uses_origin() { spawn.origin.metres() } else { [0.0; 3] };
        self.transforms[slot] = Transform { position, ..Transform::default() };
        self.speeds[slot] = 0.0;
        self.versions[slot] = self.committed.unwrap_or_default();
        // Differs from every place, so that the first commit reports the object as moved.
        self.positions[slot] = [f32::NAN; 3];
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
        self.family.attach(slot, None);
        self.ids.remove(&self.settings[slot].id);
        self.populations[usize::from(self.settings[slot].class.0)] -= 1;
        self.silent -= usize::from(self.priorities[slot] == 0.0);
        self.histories.close(slot);
        if self.flags[slot] & flag::UNBORN == 0 {
            self.despawned_next.push(index);
        }
        self.flags[slot] = 0;
        self.live[slot / 64] &= !(1 << (slot % 64));
        self.generations[slot] = self.generations[slot].wrapping_add(1);
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
        let live = self.flags.get(slot).is_some_and(|flags| flags & flag::LIVE != 0);
        live.then(|| Object::new(self, slot))
    }

    /// The class and the profile of the object in a slot; `None` if it is empty.
    #[inline]
    pub(crate) fn kind_at(&self, slot: usize) -> Option<(ClassId, Profile)> {
        let live = self.flags.get(slot).is_some_and(|flags| flags & flag::LIVE != 0);
        live.then(|| (self.settings[slot].class, self.settings[slot].profile))
    }

    /// The words of the object in a slot now, and those that were in force at two ticks, the newer one first; `None` as for
    /// [`Object::words_at`]. Whether it jumped since the newer one.
    #[inline(always)]
    pub(crate) fn past_at(&self, slot: usize, ticks: [Tick; 2]) -> Option<([&[i32]; 3], bool)> {
        let jumped = self.settings[slot].jumped.is_some_and(|jumped| jumped.is_newer_than(ticks[0]));
        self.histories.versions(slot, ticks).map(|words| (words, jumped))
    }

    /// All objects, by slot.
    pub fn iter(&self) -> impl Iterator<Item = Object<'_>> {
        (0..self.flags.len()).filter_map(|slot| self.at(slot))
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

    fn take_slot(&mut self, settings: Settings) -> Result<usize, WorldError> {
        if let Some(slot) = self.free.pop_front() {
            return Ok(slot as usize);
        }
        let slot = self.flags.len();
        if slot == self.config.objects_max {
            return Err(WorldError::Full { objects_max: slot });
        }
        self.generations.push(0);
        self.flags.push(0);
        self.settings.push(settings);
        self.transforms.push(Transform::default());
        self.contents.push(Vec::new());
        self.positions.push([0.0; 3]);
        self.speeds.push(0.0);
        self.versions.push(Tick::default());
        self.frames.push(0);
        self.priorities.push(0.0);
        self.relevance_radii.push(0.0);
        self.kind_weights.push(0.0);
        self.live.resize(slot / 64 + 1, 0);
        Ok(slot)
    }

    fn open_words(&mut self, slot: usize) {
        let class = self.classes.class_of(&self.settings[slot]);
        self.histories.open(slot, class.word_count());
        let words = self.histories.draft_mut(slot);
        for field in class.fields() {
            value::store_default(field.kind, &mut words[field.first..field.first + field.count]);
        }
    }

    #[inline]
    fn class_of(&self, slot: usize) -> &Class {
        self.classes.class_of(&self.settings[slot])
    }

    #[inline]
    fn shape_of(&self, slot: usize) -> &Shape {
        self.classes.shape_of(&self.settings[slot])
    }

    #[inline]
    fn index_of(&self, slot: usize) -> ObjectIndex {
        ObjectIndex { slot: slot as u32, generation: self.generations[slot] }
    }

    #[inline]
    fn slot_of(&self, index: ObjectIndex) -> Result<usize, WorldError> {
        let slot = index.slot();
        match self.flags.get(slot) {
            Some(flags) if flags & flag::LIVE != 0 && self.generations[slot] == index.generation => Ok(slot),
            _ => Err(WorldError::Gone(index)),
        }
    }

    #[inline]
    fn touch_slot(&mut self, slot: usize) {
        if self.flags[slot] & flag::TOUCHED == 0 {
            self.flags[slot] |= flag::TOUCHED;
            self.touched.push(slot as u32);
        }
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
