//! What server and clients have in common: objects, what a player does in a step, and calls.
//!
//! Everything has whole coordinates, in units of a centimetre, which is also how finely positions are sent: what a client is told
//! is exactly what the server has, so that prediction and truth can be compared without a tolerance. The field is
//! 16 m wide and 9 m high, x to the right, y downwards.

use netloom::prelude::*;
use netloom::session::rpc::{Callers, Delivery};
use netloom::world_hash;

pub use crate::rules::{BEAM_ENERGY, EnemyKind, NO_SEAT, Phase, Power, ShotKind, Weapon, buttons};

/// The name of the game, in the handshake and on the command line.
pub const NAME: &str = "rtype";

/// Units to a metre.
pub const UNITS_PER_METRE: f32 = 100.0;

/// The number of the pilot of a ship that nobody steers but the server.
pub const BOT: u16 = u16::MAX;

/// A player's ship, or a bot's.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 4.0, predict)]
pub struct Ship {
    /// In metres.
    #[replicated(position)]
    pub at: [f32; 2],
    /// Which of the four.
    #[replicated(range = 0..=3)]
    pub seat: u8,
    /// The player, or [`BOT`].
    pub pilot: u16,
    /// Ships left, this one included.
    #[replicated(range = 0..=9)]
    pub lives: u8,
    /// Hits that are taken by the shield.
    #[replicated(range = 0..=3)]
    pub shield: u8,
    /// How fast, in units of a step beyond the slowest.
    #[replicated(range = 0..=3)]
    pub thrusters: u8,
    /// Whether it has a companion.
    pub drone: bool,
    /// What it fires.
    pub weapon: Weapon,
    /// How strong that is.
    #[replicated(range = 1..=3)]
    pub weapon_level: u8,
    /// Steps until it is back, 0 while it flies.
    pub down: u8,
    /// Steps for which nothing hits it.
    pub safe: u8,
    /// Points.
    #[replicated(range = 0..=16_777_215)]
    pub score: u32,
    /// Steps until the next shot.
    #[replicated(owner)]
    pub cooldown: u8,
    /// Shots left.
    #[replicated(owner)]
    pub ammo: u8,
    /// Steps until there is one more.
    #[replicated(owner)]
    pub refill: u8,
    /// What the beam has; it fires at [`BEAM_ENERGY`].
    #[replicated(owner)]
    pub energy: u8,
}

/// What the level sends.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 2.0)]
pub struct Enemy {
    /// In metres.
    #[replicated(position)]
    pub at: [f32; 2],
    /// What it is.
    pub kind: EnemyKind,
    /// What is left of it, in percent.
    #[replicated(range = 0..=100)]
    pub health: u8,
    /// What it is about: for bosses, the phase of the fight.
    #[replicated(range = 0..=7)]
    pub mood: u8,
}

/// A shot.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 2.0)]
pub struct Shot {
    /// In metres.
    #[replicated(position)]
    pub at: [f32; 2],
    /// What it is.
    pub kind: ShotKind,
    /// Whose, or [`NO_SEAT`].
    #[replicated(range = 0..=4)]
    pub seat: u8,
    /// By what its shooter recognises it: see [`netloom::replica::client::predict::SpawnKey`]; 0 for those of enemies and bots.
    #[replicated(owner)]
    pub key: u64,
}

/// A capsule with powers to choose from.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
pub struct Capsule {
    /// In metres.
    #[replicated(position)]
    pub at: [f32; 2],
    /// What it is by colour: the first of the powers that it offers.
    pub power: Power,
}

/// Something in the way that belongs to nobody.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 0.5)]
pub struct Debris {
    /// In metres.
    #[replicated(position)]
    pub at: [f32; 2],
    /// Half its width, in units of ten centimetres.
    #[replicated(range = 1..=15)]
    pub size: u8,
}

/// How the game stands: there is one.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(priority = 1.0)]
pub struct Stage {
    /// The level, from 1 on.
    pub level: u8,
    /// The wave of the level, from 1 on.
    pub wave: u8,
    /// What is going on.
    pub phase: Phase,
    /// Seconds since the level began.
    pub seconds: u16,
}

/// What a player does in a step: a mask of [`buttons`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Act {
    /// A mask of [`buttons`].
    pub buttons: u8,
}

impl Input for Act {
    const BITS_MAX: u32 = buttons::COUNT;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.write_bits(self.buttons.into(), buttons::COUNT);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Act, ReadError> {
        Ok(Act { buttons: reader.read_bits(buttons::COUNT)? as u8 })
    }

    /// Who flies goes on; nobody fires unasked.
    fn repeated(&self) -> Act {
        Act { buttons: self.buttons & !(buttons::SHOOT | buttons::BEAM) }
    }
}

/// Calls of clients.
pub mod asks {
    /// (offer: u16, choice: u8): one of the powers that were offered.
    pub const CHOOSE_POWER: &str = "choose_power";
    /// (offer: u16, choice: u8): one of the weapons that were offered.
    pub const CHOOSE_WEAPON: &str = "choose_weapon";
    /// (wanted: bool): whether the own beam is judged by what was seen, or by what is.
    pub const LAG_COMPENSATION: &str = "lag_compensation";
}

/// Calls of the server.
pub mod tells {
    /// (offer: u16, powers: [u8]): to whoever took a capsule. Indices of [`Power`](super::Power).
    pub const POWER_OFFERED: &str = "power_offered";
    /// (power: u8, level: u8): to whoever chose; level is what the ship has of it now.
    pub const POWER_STATUS: &str = "power_status";
    /// (offer: u16, weapons: [u8]): to everybody who may choose. Indices of [`Weapon`](super::Weapon).
    pub const WEAPON_OFFERED: &str = "weapon_offered";
    /// (weapon: u8, level: u8): to whoever chose.
    pub const WEAPON_CONFIRMED: &str = "weapon_confirmed";
    /// (level: u8, seconds: u16, name: text): a level begins; also to whoever comes later.
    pub const LEVEL_INFO: &str = "level_info";
    /// (kind: u8, name: text): a boss is here. Index of [`EnemyKind`](super::EnemyKind).
    pub const BOSS_SPAWNED: &str = "boss_spawned";
    /// (won: bool, score: u32, level: u8): it is over.
    pub const GAME_OVER: &str = "game_over";
    /// (seat: u8, x: u16, y: u16, reach: u16): a beam, in units, from the nose of a ship to where it ends; to everybody who sees it,
    /// when they see it. Those who fired it have shown it already.
    pub const BEAM: &str = "beam";
    /// (hits: u8): to whoever fired a beam: how many it hit.
    pub const BEAM_HITS: &str = "beam_hits";
}

/// The code tables of the game, trained on matches of bots: `docs/TABLES.md` tells how.
pub const TABLE: &[u8] = include_bytes!("../rtype.table");

/// What both sides agree on in the handshake.
pub fn protocol() -> Protocol {
    // Nobody chooses faster than that by hand.
    let ask = RpcOptions {
        callers: Callers::Clients,
        bytes_max: 16,
        per_second: 5,
        burst: 10,
        ..RpcOptions::default()
    };
    let tell = RpcOptions { callers: Callers::Server, ..RpcOptions::default() };
    // Seen a little late it would be seen in the wrong place.
    let flash = RpcOptions { delivery: Delivery::Unreliable, at_view_time: true, ..tell };
    let builder = Protocol::builder(NAME)
        .table(TABLE)
        .object::<Ship>()
        .object::<Enemy>()
        .object::<Shot>()
        .object::<Capsule>()
        .object::<Debris>()
        .object::<Stage>()
        .rpc(tells::BEAM, flash);
    let builder = [asks::CHOOSE_POWER, asks::CHOOSE_WEAPON, asks::LAG_COMPENSATION]
        .into_iter()
        .fold(builder, |builder, name| builder.rpc(name, ask));
    [
        tells::POWER_OFFERED,
        tells::POWER_STATUS,
        tells::WEAPON_OFFERED,
        tells::WEAPON_CONFIRMED,
        tells::LEVEL_INFO,
        tells::BOSS_SPAWNED,
        tells::GAME_OVER,
        tells::BEAM_HITS,
    ]
    .into_iter()
    .fold(world_hash::with_calls(builder), |builder, name| builder.rpc(name, tell))
    .build()
    .expect("the classes of this file are well formed: there is a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_well_formed() {
        assert_eq!(protocol().classes().len(), 6);
    }
}
