//! The words of the game: what there is, and what can be pressed. Clients are told in the same words.
//!
//! Each has a number, from 0 on in the order given here: on the wire, in the hash of a state and in JavaScript.

use netloom::prelude::Choice;

/// What a ship fires.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weapon {
    /// Straight ahead, one after the other.
    #[default]
    Cannon,
    /// A fan.
    Spread,
    /// Few that go through what they hit.
    Lance,
    /// Slow ones that turn towards their targets.
    Seeker,
}

/// What an enemy is.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnemyKind {
    /// Straight ahead.
    #[default]
    Drone,
    /// Up and down on its way.
    Weaver,
    /// Comes for the nearest ship.
    Hunter,
    /// Slow; aims and fires.
    Turret,
    /// Waits, then rushes.
    Dasher,
    /// Large; lets drones out.
    Carrier,
    /// The first boss.
    Warden,
    /// The second boss.
    Leviathan,
}

/// What a shot is.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShotKind {
    /// Of the cannon and the spread.
    #[default]
    Bolt,
    /// Of the lance.
    Lance,
    /// Of the seeker.
    Seeker,
    /// An enemy's.
    Pellet,
    /// A boss's.
    Orb,
}

/// What can be had from a capsule.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Power {
    /// Faster.
    #[default]
    Thrusters,
    /// Takes hits.
    Shield,
    /// A companion that fires, too.
    Drone,
}

/// What the game is about to do.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// A level's waves.
    #[default]
    Waves,
    /// A boss is here.
    Boss,
    /// The level is done, the next one is near.
    Cleared,
    /// Nobody is left.
    Lost,
    /// The last level is done.
    Won,
}

/// What can be pressed. The first five are those of the classic protocol.
pub mod buttons {
    /// Upwards.
    pub const UP: u8 = 0x01;
    /// Downwards.
    pub const DOWN: u8 = 0x02;
    /// To the left.
    pub const LEFT: u8 = 0x04;
    /// To the right.
    pub const RIGHT: u8 = 0x08;
    /// Fires.
    pub const SHOOT: u8 = 0x10;
    /// Fires the beam.
    pub const BEAM: u8 = 0x20;
    /// How many there are.
    pub const COUNT: u32 = 6;
}
