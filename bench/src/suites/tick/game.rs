//! The game whose server is measured: walkers that a film moves, and players who do something in every step.

use super::film::{Film, OBJECTS};
use netloom_replica::ClassId;
use netloom_replica::world::{ObjectIndex, Spawn};
use netloom_session::{Command, Game, GameError, PlayerId, Protocol, Rejected, Room};
use netloom_wire::quantize::OriginVersion;
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Profile, Schema, SectorOrigin};
use std::sync::Arc;

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
    /// What players did, so that doing it is not optimised away.
    done: u64,
}

impl Screening {
    /// Shows a film; in each step the game writes the first `moving` walkers.
    pub fn new(film: Arc<Film>, moving: usize) -> Screening {
        Screening { film, moving, walkers: Vec::with_capacity(OBJECTS), done: 0 }
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
        self.done += u64::from(command.input[0]);
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        let step = room.steps();
        let frame = self.film.frame(step);
        let world = room.world_mut();
        for (number, &walker) in self.walkers[..self.moving].iter().enumerate() {
            // A walker that cannot be written stays where it is, and every client's check finds it.
            let _ = world.set_position(walker, frame.positions[number].map(f64::from));
            let _ = world.set_rotation(walker, frame.rotations[number]);
        }
    }

    /// An event that takes the whole way to the game, which keeps it to itself.
    fn chat(&mut self, _: &mut Room, _: PlayerId, text: &str) -> bool {
        self.done += text.len() as u64;
        false
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}
