//! What happens in the world: everything that a game can do to it, at random.

use netloom_replica::server::ReplicaServer;
use netloom_replica::server::interest::VisibleTo;
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, TeamId, World};
use netloom_replica::{ClassId, class::FieldWords};
use netloom_wire::quantize::WordRange;
use netloom_wire::schema::{ArrayWriter, FieldKind, Value};
use netloom_wire::{Name, ObjectId, Profile};

use super::classes::IDENTITY;
use super::ledger::Ledger;
use crate::rng::Rng;
use crate::runner::Failure;

/// Owners that objects are given to: a few more than there are players.
pub const OWNERS: u64 = 6;
/// Teams of objects and players.
pub const TEAMS: u64 = 3;
/// Objects and viewers stay within this distance of the middle, on each axis.
pub const FIELD_METRES: f64 = 220.0;

const CLASSES: u64 = 4;
/// Metres that an object moves in a tick at most.
const STEP_METRES: f64 = 1.5;

/// How likely each thing is: those of the world per tick, those of an object per object and tick.
#[derive(Clone, Copy, Debug)]
pub struct Mood {
    /// Objects that the world has room for.
    pub objects_max: usize,
    /// A new object.
    pub spawn: f64,
    /// The end of one.
    pub despawn: f64,
    /// A step.
    pub step: f64,
    /// Another value of a field.
    pub write: f64,
    /// Another owner or team.
    pub reassign: f64,
    /// Another parent, or none.
    pub attach: f64,
    /// Another profile or origin.
    pub reframe: f64,
    /// Others may see it.
    pub hide: f64,
    /// A jump.
    pub jump: f64,
    /// Another priority or radius.
    pub retune: f64,
    /// A client asks for another value of something; per client and tick.
    pub wish: f64,
}

impl Mood {
    /// Nothing happens.
    pub const REST: Mood = Mood {
        objects_max: 0,
        spawn: 0.0,
        despawn: 0.0,
        step: 0.0,
        write: 0.0,
        reassign: 0.0,
        attach: 0.0,
        reframe: 0.0,
        hide: 0.0,
        jump: 0.0,
        retune: 0.0,
        wish: 0.0,
    };

    /// Everything moves and nothing else happens.
    pub const MOVING: Mood = Mood { step: 1.0, ..Mood::REST };

    /// Objects appear and nothing else happens.
    pub const GROWING: Mood = Mood { objects_max: 45, spawn: 1.0, ..Mood::REST };

    /// Everything happens, each seed with its own weights; some have hardly anything but births and deaths.
    pub fn storm(rng: &mut Rng) -> Mood {
        let is_churning = rng.chance(0.25);
        let mut up_to = |most: f64| rng.unit() * most;
        let (spawn, despawn) = if is_churning { (0.9, 0.9) } else { (0.5, 0.2) };
        Mood {
            spawn: 0.1 + up_to(spawn),
            despawn: up_to(despawn),
            step: up_to(0.8),
            write: up_to(0.15),
            reassign: up_to(0.03),
            attach: up_to(0.03),
            reframe: up_to(0.02),
            hide: up_to(0.02),
            jump: up_to(0.02),
            retune: up_to(0.02),
            wish: up_to(0.5),
            objects_max: 10 + rng.below(60) as usize,
        }
    }
}

/// An object and where it is going.
#[derive(Debug)]
struct Actor {
    index: ObjectIndex,
    place: [f64; 3],
    step: [f64; 3],
    is_mute: bool,
}

/// Makes things happen.
#[derive(Debug)]
pub struct Director {
    rng: Rng,
    actors: Vec<Actor>,
    next_identity: u64,
}

impl Director {
    /// A director of an empty world.
    pub fn new(rng: Rng) -> Director {
        Director { rng, actors: Vec::new(), next_identity: 1 }
    }

    /// A tick's worth of things.
    pub fn act(
        &mut self,
        mood: &Mood,
        server: &mut ReplicaServer,
        ledger: &mut Ledger,
    ) -> Result<(), Failure> {
        self.populate(mood, server, ledger)?;
        for place in 0..self.actors.len() {
            self.direct(place, mood, server, ledger)?;
        }
        Ok(())
    }

    /// The end of everything.
    pub fn clear(&mut self, world: &mut World) -> Result<(), Failure> {
        self.actors.drain(..).try_for_each(|actor| world.despawn(actor.index).map_err(setup))
    }

    fn populate(
        &mut self,
        mood: &Mood,
        server: &mut ReplicaServer,
        ledger: &mut Ledger,
    ) -> Result<(), Failure> {
        // Churn wants several slots to change hands at once.
        let times = if mood.despawn > 0.5 || mood.spawn >= 1.0 { 3 } else { 1 };
        for _ in 0..times {
            if self.actors.len() < mood.objects_max && self.rng.chance(mood.spawn) {
                self.spawn(server, ledger)?;
            }
            if !self.actors.is_empty() && self.rng.chance(mood.despawn) {
                let place = self.rng.below(self.actors.len() as u64) as usize;
                let actor = self.actors.swap_remove(place);
                server.world_mut().despawn(actor.index).map_err(setup)?;
            }
        }
        Ok(())
    }

    fn spawn(&mut self, server: &mut ReplicaServer, ledger: &mut Ledger) -> Result<(), Failure> {
        let rng = &mut self.rng;
        let identity = self.next_identity;
        self.next_identity += 1;
        let class = ClassId(rng.below(CLASSES) as u8);
        let spawn = Spawn {
            owner: owner(rng),
            team: team(rng),
            profile: rng.chance(0.5).then(|| profile(rng)),
            priority: if rng.chance(0.05) { 0.0 } else { priority(rng) },
            relevance_radius: radius(rng),
            kind_weight: if rng.chance(0.2) { 2.0 } else { 1.0 },
            ..Spawn::new(ObjectId(identity), class)
        };
        let world = server.world_mut();
        let index = world.spawn(spawn).map_err(setup)?;
        let actor = Actor { index, place: place(rng), step: step(rng), is_mute: spawn.priority <= 0.0 };
        set_place(world, index, actor.place)?;
        let schema = world.object(index).map(|object| object.class().schema());
        let field = schema.and_then(|schema| schema.index_of(IDENTITY));
        world.set(index, field.unwrap_or(usize::MAX), Value::U64(identity)).map_err(setup)?;
        if rng.chance(0.2) {
            let visible_to = visible_to(rng);
            server.set_visible_to(index, visible_to);
            ledger.set_visible_to(index, visible_to);
        }
        self.actors.push(actor);
        Ok(())
    }

    fn direct(
        &mut self,
        place: usize,
        mood: &Mood,
        server: &mut ReplicaServer,
        ledger: &mut Ledger,
    ) -> Result<(), Failure> {
        let others = self.actors.len() as u64;
        let parent = self.actors[self.rng.below(others) as usize].index;
        let Director { rng, actors, .. } = self;
        let actor = &mut actors[place];
        let index = actor.index;
        let world = server.world_mut();
        if rng.chance(mood.step) {
            actor.walk(rng);
            set_place(world, index, actor.place)?;
            turn(world, index, rng)?;
        }
        if rng.chance(mood.jump) && has_place(world, index) {
            actor.place = self::place(rng);
            world.teleport(index).map_err(setup)?;
            ledger.jump(index);
            set_place(world, index, actor.place)?;
        }
        if rng.chance(mood.write) {
            write_something(world, index, rng)?;
        }
        if rng.chance(mood.reassign) {
            world.set_owner(index, owner(rng)).map_err(setup)?;
        }
        if rng.chance(mood.reassign) {
            world.set_team(index, team(rng)).map_err(setup)?;
        }
        if rng.chance(mood.attach) {
            let parent = rng.chance(0.6).then_some(parent);
            // Circles and chains that are too long are refused, and nothing has happened then.
            let _may_be_refused = world.attach(index, parent);
        }
        if rng.chance(mood.reframe) {
            world.set_profile(index, profile(rng)).map_err(setup)?;
        }
        if rng.chance(mood.reframe) {
            rebase(world, index, rng)?;
        }
        if rng.chance(mood.retune) && !actor.is_mute {
            world.set_priority(index, priority(rng)).map_err(setup)?;
            world.set_relevance_radius(index, radius(rng)).map_err(setup)?;
        }
        if rng.chance(mood.hide) {
            let visible_to = visible_to(rng);
            server.set_visible_to(index, visible_to);
            ledger.set_visible_to(index, visible_to);
        }
        Ok(())
    }
}

impl Actor {
    fn walk(&mut self, rng: &mut Rng) {
        if rng.chance(0.05) {
            self.step = step(rng);
        }
        for (place, step) in self.place.iter_mut().zip(&mut self.step) {
            if (*place + *step).abs() > FIELD_METRES {
                *step = -*step;
            }
            *place += *step;
        }
    }
}

/// The value that a number means to a field; `None` for the transform, which has calls of its own.
pub fn value_of<'a>(field: &FieldWords, number: u32, buffer: &'a mut Vec<u8>) -> Option<Value<'a>> {
    let word =
        |range: WordRange| range.min().wrapping_add_unsigned(number % range.span().saturating_add(1).max(1));
    buffer.clear();
    Some(match field.kind {
        FieldKind::Bool => Value::Bool(number & 1 != 0),
        FieldKind::Int(_) | FieldKind::Quantized(_) => Value::Word(word(field.range)),
        FieldKind::F32 => Value::F32(number as f32 / 64.0),
        FieldKind::U64 => Value::U64(u64::from(number) << 16),
        FieldKind::Name => Value::Name(Name(u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        FieldKind::Text { bytes_max } | FieldKind::Bytes { bytes_max } => {
            let length = number % (u32::from(bytes_max) + 1);
            buffer.extend((0..length).map(|at| b'a' + ((number >> (at % 24)) & 15) as u8));
            match field.kind {
                FieldKind::Text { .. } => Value::Text(std::str::from_utf8(buffer).ok()?),
                _ => Value::Bytes(buffer),
            }
        }
        FieldKind::Array { element, count_max } => {
            buffer.resize(element.content_bytes_max(count_max), 0);
            let mut writer = ArrayWriter::new(element, count_max, buffer);
            let count = number % (u32::from(count_max) + 1);
            (0..count).for_each(|at| writer.push(Value::Word((number >> at & 15) as i32)));
            Value::Array(writer.finish().ok()?)
        }
        FieldKind::Position(_) | FieldKind::Rotation(_) | FieldKind::Scale(_) | FieldKind::Velocity(_) => {
            return None;
        }
    })
}

/// Somewhere in the field.
pub fn place(rng: &mut Rng) -> [f64; 3] {
    [(); 3].map(|()| (rng.unit() * 2.0 - 1.0) * FIELD_METRES)
}

/// One of the ways in which objects can be hidden.
fn visible_to(rng: &mut Rng) -> VisibleTo {
    match rng.below(6) {
        0 | 1 => VisibleTo::Everyone,
        2 | 3 => VisibleTo::Team(rng.below(TEAMS) as u16),
        4 => VisibleTo::Groups(1 << rng.below(3)),
        _ => VisibleTo::Nobody,
    }
}

fn set_place(world: &mut World, index: ObjectIndex, place: [f64; 3]) -> Result<(), Failure> {
    if has_place(world, index) { world.set_position(index, place).map_err(setup) } else { Ok(()) }
}

fn has_place(world: &World, index: ObjectIndex) -> bool {
    world.object(index).is_some_and(|object| object.class().position().is_some())
}

fn turn(world: &mut World, index: ObjectIndex, rng: &mut Rng) -> Result<(), Failure> {
    let Some(class) = world.object(index).map(|object| object.class()) else { return Ok(()) };
    let has = |wanted: fn(FieldKind) -> bool| class.fields().iter().any(|field| wanted(field.kind));
    let (has_rotation, has_velocity) =
        (class.rotation().is_some(), has(|kind| matches!(kind, FieldKind::Velocity(_))));
    let has_scale = has(|kind| matches!(kind, FieldKind::Scale(_)));
    if has_rotation {
        let quaternion = [(); 4].map(|()| rng.unit() as f32 * 2.0 - 1.0);
        world.set_rotation(index, quaternion).map_err(setup)?;
    }
    if has_velocity && rng.chance(0.3) {
        world.set_velocity(index, [(); 3].map(|()| rng.unit() as f32 * 20.0 - 10.0)).map_err(setup)?;
    }
    if has_scale && rng.chance(0.1) {
        world.set_scale(index, [(); 3].map(|()| 0.5 + rng.unit() as f32)).map_err(setup)?;
    }
    Ok(())
}

fn write_something(world: &mut World, index: ObjectIndex, rng: &mut Rng) -> Result<(), Failure> {
    let Some(class) = world.object(index).map(|object| object.class()) else { return Ok(()) };
    let field = rng.below(class.fields().len() as u64) as usize;
    let (words, name) = (class.fields()[field], class.schema().fields()[field].name());
    if name == IDENTITY {
        return Ok(());
    }
    match value_of(&words, rng.next_u64() as u32, &mut Vec::new()) {
        Some(value) => world.set(index, field, value).map_err(setup),
        None => Ok(()),
    }
}

fn rebase(world: &mut World, index: ObjectIndex, rng: &mut Rng) -> Result<(), Failure> {
    let Some(origin) = world.object(index).map(|object| object.origin()) else { return Ok(()) };
    let moved = origin.moved_to(place(rng)).map_err(|error| Failure::Setup(error.to_string()))?;
    world.rebase(index, moved).map_err(setup)
}

fn step(rng: &mut Rng) -> [f64; 3] {
    [(); 3].map(|()| (rng.unit() * 2.0 - 1.0) * STEP_METRES)
}

fn owner(rng: &mut Rng) -> Option<OwnerId> {
    rng.chance(0.6).then(|| OwnerId(rng.below(OWNERS) as u32))
}

fn team(rng: &mut Rng) -> Option<TeamId> {
    rng.chance(0.6).then(|| TeamId(rng.below(TEAMS) as u16))
}

fn profile(rng: &mut Rng) -> Profile {
    Profile::ALL[rng.below(4) as usize]
}

fn priority(rng: &mut Rng) -> f32 {
    0.5 + 2.0 * rng.unit() as f32
}

fn radius(rng: &mut Rng) -> f32 {
    match rng.below(4) {
        0 => f32::INFINITY,
        1 => 40.0 + 200.0 * rng.unit() as f32,
        _ => 0.0,
    }
}

fn setup(error: impl std::fmt::Display) -> Failure {
    Failure::Setup(error.to_string())
}
