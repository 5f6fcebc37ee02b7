//! Calls between a server, its rooms and clients, over a network in virtual time.
#![allow(missing_docs, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;

mod delivery;
mod limits;
mod targets;

use std::sync::{Arc, Mutex};

use common::{Cubes, Keys, Net};
use netloom_replica::world::ObjectIndex;
use netloom_session::client::{Called, ClientEvent};
use netloom_session::config::{RoomConfig, ServerConfig};
use netloom_session::protocol::ProtocolBuilder;
use netloom_session::replicated::Replicated;
use netloom_session::rpc::{Callers, Delivery, ObjectArg, Rate};
use netloom_session::{
    Call, CallRefused, CallTarget, Command, Game, GameError, PlayerId, Protocol, Rejected, Room, RpcOptions,
};
use netloom_wire::{Alias, Micros};

/// What reached the game: who called what, about what, and the sum of the arguments.
type Heard = Arc<Mutex<Vec<(PlayerId, String, Option<ObjectIndex>)>>>;

/// Cubes that answer.
#[derive(Default)]
pub struct Party {
    cubes: Cubes,
    heard: Heard,
}

impl Game for Party {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        self.cubes.start(room)
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        self.cubes.join(room, player);
        room.call(CallTarget::Player(player), "greet", None, &("welcome",)).unwrap();
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, command: &Command<Keys>) -> Result<(), Rejected> {
        self.cubes.input(room, player, command)
    }

    fn step(&mut self, room: &mut Room) {
        self.cubes.step(room);
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        self.heard.lock().unwrap().push((from, call.name().to_owned(), call.object()));
        match call.name() {
            "add" => {
                let (one, other): (i64, i64) = call.args()?;
                room.call(CallTarget::Player(from), "sum", None, &(one + other,)).unwrap();
            }
            "look" => {
                let seen = call.tick().map(|tick| tick.0);
                room.call(CallTarget::Player(from), "sum", None, &(seen,)).unwrap();
            }
            "point" => {
                let (arg,): (ObjectArg,) = call.args()?;
                let object = room.object_of(from, arg).ok_or(CallRefused::new("that is nothing"))?;
                let arg = room.object_arg(object);
                room.call(CallTarget::All, "pointed", None, &(arg,)).unwrap();
            }
            "often" | "tell" | "tiny" => {}
            "grumble" => return Err(CallRefused::new("not today")),
            _ => return Err(CallRefused::UNHANDLED),
        }
        Ok(())
    }

    fn forward(&mut self, _: &mut Room, _: PlayerId, call: &Call<'_>, _: CallTarget) -> bool {
        call.name() != "rude"
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        self.cubes.leave(room, player);
    }
}

/// Something that is seen from near by only, where not everybody sees everything.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(crate = netloom_session, radius = 100.0)]
pub struct Lamp {
    #[replicated(position)]
    pub at: [f32; 3],
}

pub fn seconds(seconds: u64) -> Micros {
    Micros::from_secs(seconds)
}

/// The objects of the game, without calls.
pub fn objects() -> ProtocolBuilder {
    Protocol::builder("party").object::<common::Cube>().object::<common::Walker>().object::<Lamp>()
}

pub fn by(callers: Callers) -> RpcOptions {
    RpcOptions { callers, ..RpcOptions::default() }
}

pub fn calls(objects: ProtocolBuilder) -> ProtocolBuilder {
    let server = by(Callers::Server);
    let forwarded = RpcOptions { is_forwarded: true, ..RpcOptions::default() };
    let delivered = |delivery| RpcOptions { delivery, ..server };
    objects
        .rpc("add", by(Callers::Clients))
        .rpc("look", RpcOptions { at_view_time: true, ..by(Callers::Clients) })
        .rpc("point", by(Callers::Clients))
        .rpc("grumble", by(Callers::Clients))
        .rpc("nothing", by(Callers::Clients))
        .rpc("tiny", RpcOptions { bytes_max: 16, ..RpcOptions::default() })
        .rpc("often", RpcOptions { per_second: 5, burst: 5, ..by(Callers::Clients) })
        .rpc("greet", server)
        .rpc("sum", server)
        .rpc("pointed", server)
        .rpc("ordered", server)
        .rpc("unordered", delivered(Delivery::Unordered))
        .rpc("unreliable", delivered(Delivery::Unreliable))
        .rpc("boom", RpcOptions { at_view_time: true, ..server })
        .rpc("tell", forwarded)
        .rpc("rude", forwarded)
}

pub fn protocol() -> Protocol {
    calls(objects()).build().unwrap()
}

/// Three cubes, and who heard what.
pub fn party(room: RoomConfig) -> (Net, Heard) {
    let party = Party { cubes: Cubes::new(3), ..Party::default() };
    let heard = party.heard.clone();
    // Tests call as often as they like, unless they are about that.
    let room = RoomConfig { call_rate: Rate::new(10_000, 10_000).unwrap(), ..room };
    (Net::play(ServerConfig::default(), room, protocol(), party), heard)
}

/// A party with some players who see everything.
pub fn party_of<const N: usize>(names: [&str; N]) -> (Net, Heard, [usize; N]) {
    let (mut net, heard) = party(RoomConfig::new("main"));
    let clients = names.map(|name| net.join(name));
    for client in clients {
        net.until_event(client, "the world", |event| *event == ClientEvent::Complete);
    }
    (net, heard, clients)
}

pub fn room(net: &mut Net) -> &mut Room {
    net.server.room_mut(net.room).unwrap()
}

pub fn player(net: &Net, client: usize) -> PlayerId {
    net.clients[client].client.player().unwrap()
}

/// The calls of this name that a client got.
pub fn called<'a>(net: &'a Net, client: usize, name: &'a str) -> impl Iterator<Item = &'a Called> {
    net.clients[client].events.iter().filter_map(move |event| match event {
        ClientEvent::Called(called) if &*called.name == name => Some(called),
        _ => None,
    })
}

/// The numbers that calls of this name brought to a client.
pub fn numbers(net: &Net, client: usize, name: &str) -> Vec<u32> {
    called(net, client, name).map(|called| called.args::<(u32,)>().unwrap().0).collect()
}

/// What a client calls the lamp that stands there.
pub fn lamp_at(net: &Net, client: usize, x: f32) -> Option<Alias> {
    let mut lamps = net.clients[client].client.all::<Lamp>();
    lamps.find(|(_, lamp)| (lamp.at[0] - x).abs() < 0.1).map(|(alias, _)| alias)
}
