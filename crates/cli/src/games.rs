//! The games that this command serves, plays and load-tests, by name.

pub mod cubes;
pub mod world_hash;

use std::process::ExitCode;

use netloom::prelude::*;
use netloom::replicated::Replicated as Object;
use netloom::server::ServerBuilder;

use crate::{bots, connect};

/// What a player wants, whatever the game makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    /// To the right, if positive; -1, 0 or 1.
    pub right: i8,
    /// Upwards, if positive; -1, 0 or 1.
    pub up: i8,
    /// What the game has a key for.
    pub acts: bool,
}

/// Something to draw on a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Where, in metres.
    pub at: [f32; 2],
    /// What.
    pub kind: DotKind,
}

/// What a dot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotKind {
    /// What nobody steers.
    Thing,
    /// Somebody else.
    Player,
    /// The player in front of the terminal.
    Own,
}

/// A game that this command can serve and be a client of.
pub trait Playable: Game<Input = Self::Act> {
    /// By what it is asked for.
    const NAME: &'static str;
    /// What happens in it, in a line.
    const ABOUT: &'static str;
    /// What a player does in a step.
    type Act: Input + Default + Send;
    /// How the player's own object moves.
    type Move: Step<State: Object, Input = Self::Act> + Clone + Default + Send;

    /// What client and server have in common.
    fn protocol() -> Protocol;
    /// For a room with so many things that nobody steers.
    fn with_things(things: u16) -> Self;
    /// What to do to go somewhere.
    fn act(steering: Steering) -> Self::Act;
    /// Where the player's own object is.
    fn place(own: &<Self::Move as Step>::State) -> [f32; 2];
    /// What is to be seen.
    fn dots(client: &Client<Self::Act>) -> Vec<Dot>;
    /// How far it is from the middle of the map to its edge, in metres.
    fn extent() -> f32;
}

/// A game without its types: what can be done with it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// By what it is asked for.
    pub name: &'static str,
    /// What happens in it, in a line.
    pub about: &'static str,
    /// What client and server have in common.
    pub protocol: fn() -> Protocol,
    /// Opens a room with it, and with so many things that nobody steers.
    pub add_room: fn(ServerBuilder, RoomConfig, u16) -> ServerBuilder,
    /// Plays it in a terminal.
    pub connect: fn(&connect::ConnectArgs) -> Result<ExitCode, String>,
    /// Sends bots to play it.
    pub bots: fn(&bots::BotsArgs) -> Result<ExitCode, String>,
}

impl Entry {
    const fn of<P: Playable>() -> Entry {
        Entry {
            name: P::NAME,
            about: P::ABOUT,
            protocol: P::protocol,
            add_room: |builder, config, things| builder.room(config, P::with_things(things)),
            connect: connect::play::<P>,
            bots: bots::send::<P>,
        }
    }
}

/// All of them.
pub const ALL: [Entry; 1] = [Entry::of::<cubes::Cubes>()];

/// The one with this name.
pub fn find(name: &str) -> Result<Entry, String> {
    ALL.into_iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<String> =
            ALL.iter().map(|entry| format!("{} ({})", entry.name, entry.about)).collect();
        format!("there is no game called {name:?}: choose {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_game_names_the_known_ones() {
        assert_eq!(find("cubes").unwrap().name, "cubes");
        let message = find("chess").unwrap_err();
        assert!(message.contains("\"chess\"") && message.contains("cubes"), "{message}");
    }
}
