//! The game whose server is measured: walkers that a film moves, and players who do something in every step.

use super::film::{Film, OBJECTS};
use crate::cpu;
use netloom_replica::ClassId;
use netloom_replica::world::{ObjectIndex, Spawn};
use netloom_session::{Command, Game, GameError, PlayerId, Protocol, Rejected, Room};
use netloom_wire::quantize::OriginVersion;
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema, SectorOrigin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a player does: two axes.
pub type Keys = [u8; 2];

const WALKER: ClassId = ClassId(0);

/// The fields of [`WALKER`], in order.
pub const POSITION: usize = 0;
/// See [`POSITION`].
pub const ROTATION: usize = 1;

/// Positions are sent relative to the nearest point of this raster: STANDARD reaches 327 m, the walk 500 m and more.
const SECTOR_METRES: f64 = 256.0;

/// What clients and server have in common: position and rotation, both STANDARD (1 cm, 10 bits a component).
pub fn protocol() -> Result<Protocol, GameError> {
    let walker = Schema::builder("walker")
        .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254)
        .build()?;
    Ok(Protocol::builder("netloom-bench tick").class(walker).build()?)
}

/// The game.
pub struct Screening {
    film: Arc<Film>,
    /// So many walkers, the first, are written in every step.
    moving: usize,
    walkers: Vec<ObjectIndex>,
    ledger: Arc<Ledger>,
}

/// What the game counts while it runs.
#[derive(Default)]
pub struct Ledger {
    /// Processor time of writing the world, in nanoseconds.
    pub written_ns: AtomicU64,
    /// Inputs of players.
    pub inputs: AtomicU64,
    /// Events that players sent.
    pub heard: AtomicU64,
}

impl Screening {
    /// Shows a film; in each step the game writes the first `moving` walkers.
    pub fn new(film: Arc<Film>, moving: usize) -> Screening {
        Screening { film, moving, walkers: Vec::with_capacity(OBJECTS), ledger: Arc::default() }
    }

    /// What it counts.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.ledger.clone()
    }
}

impl Game for Screening {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        let frame = self.film.frame(0);
        for (position, rotation) in frame.positions.iter().zip(&frame.rotations) {
            let position = position.map(f64::from);
            let raster = position.map(|axis| (axis / SECTOR_METRES).round() * SECTOR_METRES);
            let origin = SectorOrigin::new(raster, OriginVersion::new(0))?;
            let walker = room.spawn_with(|id| Spawn { origin, ..Spawn::new(id, WALKER) })?;
            room.world_mut().set_position(walker, position)?;
            room.world_mut().set_rotation(walker, *rotation)?;
            self.walkers.push(walker);
        }
        Ok(())
    }

    fn join(&mut self, _: &mut Room, _: PlayerId) {}

    fn input(&mut self, _: &mut Room, _: PlayerId, command: &Command<Keys>) -> Result<(), Rejected> {
        self.ledger.inputs.fetch_add(u64::from(command.input[0]), Ordering::Relaxed);
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        let started = cpu::thread_time();
        let frame = self.film.frame(room.steps());
        let world = room.world_mut();
        for (number, &walker) in self.walkers[..self.moving].iter().enumerate() {
            // A walker that cannot be written stays where it is, and every client's check finds it.
            let _ = world.set_position(walker, frame.positions[number].map(f64::from));
            let _ = world.set_rotation(walker, frame.rotations[number]);
        }
        let used = cpu::thread_time() - started;
        self.ledger.written_ns.fetch_add(used.as_nanos() as u64, Ordering::Relaxed);
    }

    /// An event that takes the whole way to the game, which keeps it to itself.
    fn chat(&mut self, _: &mut Room, _: PlayerId, _: &str) -> bool {
        self.ledger.heard.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}
