//! What happened in a step, for whoever shows or tells it.

use super::kinds::{EnemyKind, Power, ShotKind, Weapon};
use super::offers::{POWERS, WEAPONS};

/// Something that happened. Places are in units, seats from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what their names say")]
pub enum Event {
    /// A shot is there. Its index counts those of the same ship in the same step, as [`Fired`](super::Fired) does; `seat` is
    /// [`NO_SEAT`](super::NO_SEAT) for those of enemies.
    ShotFired { id: u32, kind: ShotKind, seat: u8, index: usize, x: i32, y: i32 },
    /// A beam was fired, from the nose of a ship. What it hits is for [`strike`](super::State::strike) to say.
    Beam { seat: usize, x: i32, y: i32 },
    /// An enemy is gone, by a ship's doing.
    EnemyKilled { id: u32, kind: EnemyKind, x: i32, y: i32, by: usize },
    /// A shield took a hit, or nothing was lost because the level is endless.
    ShipHit { seat: usize },
    /// A ship is down. With no lives left it is out until the next level.
    ShipDown { seat: usize, x: i32, y: i32, lives: i32 },
    /// A ship is back at its start.
    ShipBack { seat: usize },
    /// An enemy left a capsule.
    CapsuleSpawned { id: u32, x: i32, y: i32, power: Power },
    /// A ship took a capsule: an offer follows.
    CapsuleTaken { id: u32, seat: usize },
    /// A ship may choose a power.
    PowerOffered { seat: usize, offer: u16, powers: [Power; POWERS] },
    /// A ship has a power now, at that level.
    PowerTaken { seat: usize, power: Power, level: i32 },
    /// A ship may choose a weapon.
    WeaponOffered { seat: usize, offer: u16, weapons: [Weapon; WEAPONS] },
    /// A ship has a weapon now, at that level.
    WeaponTaken { seat: usize, weapon: Weapon, level: i32 },
    /// A level begins.
    LevelBegan { level: u8 },
    /// A wave of the level begins.
    WaveBegan { wave: u8 },
    /// The boss of the level is here.
    BossSpawned { id: u32, kind: EnemyKind },
    /// The level is done.
    LevelCleared { level: u8 },
    /// Nobody is left.
    GameLost,
    /// The last level is done.
    GameWon,
}
