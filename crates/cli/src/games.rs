//! The games that this command serves, plays and load-tests, by name.

pub mod cubes;
pub mod rtype;

use std::process::ExitCode;

use netloom::prelude::*;
use netloom::replicated::Replicated as Object;
use netloom::server::ServerBuilder;
use netloom::session::lobby::{LobbyCommand, Phase, Role};

use crate::config::Config;
use crate::serve::witness::{Witnessed, Witnesses};
use crate::{bots, connect, scene};

/// What a player wants, whatever the game makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    /// To the right, if positive; -1, 0 or 1.
    pub right: i8,
    /// Upwards, if positive; -1, 0 or 1.
    pub up: i8,
    /// What the game has a key for.
    pub acts: bool,
    /// What it has another key for.
    pub acts_otherwise: bool,
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

/// How many a game is for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Players in a room at once, unless a setting says otherwise.
    pub players: usize,
    /// The most that a setting can say.
    pub players_max: usize,
    /// Steps of the simulation a second, if its rules are counted in them.
    pub steps_per_second: Option<u32>,
}

/// A game that this command can serve and be a client of.
pub trait Playable: Game<Input = Self::Act> + Sized {
    /// By what it is asked for.
    const NAME: &'static str;
    /// What happens in it, in a line.
    const ABOUT: &'static str;
    /// How many it is for.
    const LIMITS: Limits;
    /// What kind of room it is made for.
    const PROFILE: Profile;
    /// What a player does in a step.
    type Act: Input + Default + Send;
    /// How the player's own object moves.
    type Move: Step<State: Object, Input = Self::Act> + Clone + Default + Send;

    /// What client and server have in common.
    fn protocol() -> Protocol;
    /// A game for one room, as it is set.
    fn open(config: &Config) -> Result<Self, String>;
    /// What the room is like, where that differs from its profile and no setting says otherwise.
    fn furnish(&self, room: &mut RoomConfig);
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
    /// How many it is for.
    pub limits: Limits,
    /// What kind of room it is made for.
    pub profile: Profile,
    /// Opens a room with it, the so-manyth from 0; what happens there is written down if it has witnesses.
    pub add_room: fn(ServerBuilder, &Config, i64, Witnesses) -> Result<ServerBuilder, String>,
    /// Plays it in a terminal.
    pub connect: fn(&connect::ConnectArgs) -> Result<ExitCode, String>,
    /// Sends bots to play it.
    pub bots: fn(&bots::BotsArgs) -> Result<ExitCode, String>,
    /// Lets bots play it in virtual time.
    pub bout: fn(&scene::Bout<'_>, &mut scene::See<'_>) -> Result<(), String>,
}

impl Entry {
    const fn of<P: Playable>() -> Entry {
        Entry {
            name: P::NAME,
            about: P::ABOUT,
            protocol: P::protocol,
            limits: P::LIMITS,
            profile: P::PROFILE,
            add_room: |builder, config, number, witnesses| {
                let game = P::open(config)?;
                let room = config.room_config(number, |room| game.furnish(room));
                Ok(match witnesses.are_there() {
                    true => builder.room(room, Witnessed::new(game, witnesses)),
                    false => builder.room(room, game),
                })
            },
            connect: connect::play::<P>,
            bots: bots::send::<P>,
            bout: scene::play::<P>,
        }
    }
}

/// All of them; the first is served unless another is asked for.
pub const ALL: [Entry; 2] = [Entry::of::<netloom_rtype::Rtype>(), Entry::of::<cubes::Cubes>()];

/// The name of the first.
pub const DEFAULT: &str = ALL[0].name;

/// A program has nothing to wait for: it says that it is ready, in every lobby that asks. `was_asked` is what it answered for.
pub fn get_ready<I: Input>(client: &mut netloom::session::Client<I>, was_asked: &mut bool) {
    let own = client.lobby_state().and_then(|lobby| Some((lobby.phase, lobby.member(client.player()?)?)));
    let is_asked = own.is_some_and(|(phase, member)| {
        phase != Phase::Playing && member.role == Role::Player && !member.is_ready
    });
    if is_asked && !*was_asked {
        // A connection that is about to be lost is not ready either.
        let _said = client.lobby(LobbyCommand::Ready(true));
    }
    *was_asked = is_asked;
}

/// The one with this name.
pub fn find(name: &str) -> Result<Entry, String> {
    ALL.into_iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<String> =
            ALL.iter().map(|entry| format!("{} ({})", entry.name, entry.about)).collect();
        format!("there is no game called {name:?}: choose {}", known.join(", "))
    })
}

/// For whoever does not get into a server: which game it was that knocked there, and how to play another.
pub fn knocked_for(name: &str) -> String {
    let others: Vec<&str> = ALL.iter().map(|entry| entry.name).filter(|other| *other != name).collect();
    format!("This was for the game {name}; for another: --game {}", others.join(", --game "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_game_names_the_known_ones() {
        for entry in ALL {
            assert_eq!(find(entry.name).unwrap().about, entry.about);
        }
        let message = find("chess").unwrap_err();
        assert!(["\"chess\"", "rtype", "cubes"].iter().all(|part| message.contains(part)), "{message}");
    }
}
