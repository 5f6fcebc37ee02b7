//! Sixteen players who fight, and what flies, lies and opens around them.
//!
//! Players are the hardest thing to predict: they strafe against their own motion, jump, and turn in flicks. Around them
//! are 64 pickups that lie still and come and go, 40 doors that slide when somebody is near, and up to 80 projectiles that
//! are there for a second or two: rockets that fly straight, grenades that bounce and spin.

mod player;
mod projectile;

use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

use super::moving;
use super::random::Random;
use super::vector::{Vector, add, length, scale, singles, sub};
use crate::{SceneError, Source};
use player::Player;
use projectile::Projectile;

const PLAYERS: usize = 16;
const PICKUPS: usize = 64;
const DOORS: usize = 40;
const PROJECTILES_MAX: usize = 80;
const TICKS_PER_SECOND: u32 = 30;
const STEPS_PER_TICK: usize = 2;
const STEP_SECONDS: f64 = 1.0 / (TICKS_PER_SECOND as f64 * STEPS_PER_TICK as f64);
/// Half the edge of the arena.
const ARENA_METRES: f64 = 40.0;
const GRAVITY: f64 = 16.0;

const PLAYER: ClassId = ClassId(0);
const PROJECTILE: ClassId = ClassId(1);
const PICKUP: ClassId = ClassId(2);
const DOOR: ClassId = ClassId(3);

/// The fields of a player after position and rotation, by number.
mod field {
    pub const PITCH: usize = 2;
    pub const HEALTH: usize = 3;
    pub const WEAPON: usize = 4;
    /// Of a pickup.
    pub const IS_HERE: usize = 1;
}

/// Something that lies there to be taken, and is back after a while.
#[derive(Clone, Debug)]
struct Pickup {
    at: Vector,
    /// Seconds until it is here again.
    away: f64,
}

/// Something that slides up when somebody is near.
#[derive(Clone, Debug)]
struct Door {
    at: Vector,
    /// From 0, shut, to 1.
    open: f64,
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Shooter {
    classes: Vec<Class>,
    random: Random,
    players: Vec<(Player, ObjectIndexOnce)>,
    projectiles: Vec<(Projectile, ObjectIndexOnce)>,
    pickups: Vec<(Pickup, ObjectIndexOnce)>,
    doors: Vec<(Door, ObjectIndexOnce)>,
    gone: Vec<ObjectIndex>,
    id_next: u64,
}

/// The object of something, once it is in a world.
type ObjectIndexOnce = Option<ObjectIndex>;

impl Shooter {
    /// Sixteen players and 184 others, less the projectiles that are not flying.
    pub fn new(seed: u64) -> Shooter {
        let mut random = Random::new(seed);
        let place = |random: &mut Random, height| {
            let [x, _, z] = scale(random.triple(), ARENA_METRES - 2.0);
            [x, height, z]
        };
        Shooter {
            classes: classes(),
            players: (0..PLAYERS)
                .map(|_| (Player::new(place(&mut random, 0.0), &mut random), None))
                .collect(),
            pickups: (0..PICKUPS)
                .map(|_| (Pickup { at: place(&mut random, 0.5), away: 0.0 }, None))
                .collect(),
            doors: (0..DOORS).map(|_| (Door { at: place(&mut random, 1.5), open: 0.0 }, None)).collect(),
            projectiles: Vec::new(),
            gone: Vec::new(),
            id_next: 1,
            random,
        }
    }

    fn step(&mut self) {
        let places: Vec<Vector> = self.players.iter().map(|(player, _)| player.at).collect();
        for (number, (player, _)) in self.players.iter_mut().enumerate() {
            let shot = player.step(number, &places, &mut self.random);
            if let Some(shot) = shot.filter(|_| self.projectiles.len() < PROJECTILES_MAX) {
                self.projectiles.push((shot, None));
            }
        }
        for (projectile, _) in &mut self.projectiles {
            if let Some(hit) = projectile.step(&places) {
                self.players[hit].0.hurt(&mut self.random);
            }
        }
        let gone = &mut self.gone;
        self.projectiles.retain(|(projectile, index)| {
            gone.extend(index.filter(|_| projectile.is_over()));
            !projectile.is_over()
        });
        let is_near = |at: Vector, metres: f64| places.iter().any(|place| length(sub(*place, at)) < metres);
        for (pickup, _) in &mut self.pickups {
            pickup.away -= STEP_SECONDS;
            if pickup.away <= 0.0 && is_near(pickup.at, 1.2) {
                pickup.away = self.random.between(5.0, 20.0);
            }
        }
        for (door, _) in &mut self.doors {
            let speed = if is_near(door.at, 5.0) { 2.5 } else { -1.0 };
            door.open = (door.open + speed * STEP_SECONDS).clamp(0.0, 1.0);
        }
    }

    fn tell(&mut self, world: &mut World) -> Result<(), SceneError> {
        for index in self.gone.drain(..) {
            world.despawn(index)?;
        }
        let ids = &mut self.id_next;
        for (number, (player, index)) in self.players.iter_mut().enumerate() {
            let index = in_world(index, world, ids, PLAYER, Some(number))?;
            world.set_position(index, player.at)?;
            world.set_rotation(index, singles(player.rotation()))?;
            world.set(index, field::PITCH, Value::F32(player.aim[1] as f32))?;
            world.set(index, field::HEALTH, Value::Word(player.health))?;
            world.set(index, field::WEAPON, Value::Word(player.weapon))?;
            if player.take_respawned() {
                world.teleport(index)?;
            }
        }
        for (projectile, index) in &mut self.projectiles {
            let index = in_world(index, world, ids, PROJECTILE, None)?;
            world.set_position(index, projectile.at)?;
            world.set_rotation(index, singles(projectile.rotation))?;
        }
        for (pickup, index) in &mut self.pickups {
            let index = in_world(index, world, ids, PICKUP, None)?;
            world.set_position(index, pickup.at)?;
            world.set(index, field::IS_HERE, Value::Bool(pickup.away <= 0.0))?;
        }
        for (door, index) in &mut self.doors {
            let index = in_world(index, world, ids, DOOR, None)?;
            world.set_position(index, add(door.at, [0.0, 2.8 * door.open, 0.0]))?;
        }
        Ok(())
    }
}

impl Source for Shooter {
    fn name(&self) -> &str {
        "shooter"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        TICKS_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        (0..STEPS_PER_TICK).for_each(|_| self.step());
        self.tell(world)?;
        Ok(true)
    }
}

/// The object of something, which appears when it is asked for.
fn in_world(
    index: &mut ObjectIndexOnce,
    world: &mut World,
    id_next: &mut u64,
    class: ClassId,
    player: Option<usize>,
) -> Result<ObjectIndex, SceneError> {
    if let Some(index) = *index {
        return Ok(index);
    }
    let owner = player.map(|player| OwnerId(player as u32 + 1));
    let spawn = Spawn { owner, ..Spawn::new(ObjectId(*id_next), class) };
    *id_next += 1;
    Ok(*index.insert(world.spawn(spawn)?))
}

fn classes() -> Vec<Class> {
    let pitch = FieldKind::quantized(-1.0, 1.0, 127).expect("a range");
    let health = FieldKind::int(0, 100).expect("a range");
    let weapon = FieldKind::int(0, 7).expect("a range");
    let player = moving("player", |builder| {
        builder
            .field("pitch", pitch, SyncFlags::PUBLIC_SYNC, 200)
            .field("health", health, SyncFlags::PUBLIC_SYNC, 100)
            .field("weapon", weapon, SyncFlags::PUBLIC_SYNC, 50)
    });
    let placed = |name: &str, more: Option<(&str, FieldKind)>| {
        let place = FieldKind::Position(Profile::Standard);
        let builder = Schema::builder(name).field("position", place, SyncFlags::PUBLIC_SYNC, 255);
        let builder = more
            .into_iter()
            .fold(builder, |builder, (name, kind)| builder.field(name, kind, SyncFlags::PUBLIC_SYNC, 100));
        Class::new(builder.build().expect("fields with names of their own")).expect("few words")
    };
    vec![
        player,
        moving("projectile", |builder| builder),
        placed("pickup", Some(("here", FieldKind::Bool))),
        placed("door", None),
    ]
}
