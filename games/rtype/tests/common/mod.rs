//! A server, players, and lines between them, in virtual time: what takes a minute to play takes a second to test, and comes out the
//! same every time.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::net::SocketAddr;

use netloom::prelude::{
    ClientConfig, ClientEvent, Micros, Prediction, Profile, RoomConfig, RoomId, ServerConfig,
};
use netloom::replicated::Replicated;
use netloom::session::client::Called;
use netloom::session::lobby::LobbyCommand;
use netloom::session::{Client, Room, Server};
use netloom::transport::link::{Link, LinkConfig};
use netloom::transport::rng::Rng;
use netloom_count::allocations;
use netloom_rtype::game::{Rtype, Setup};
use netloom_rtype::prediction::Fly;
use netloom_rtype::protocol::{Act, Ship, protocol};
use netloom_rtype::rules::Levels;

/// A frame: half a step of the game.
const FRAME: Micros = Micros(8_333);
const SERVER: &str = "10.0.0.1:7777";

/// A datagram on its way.
struct Flying {
    due: Micros,
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// What went over a line in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    pub bytes: u64,
    pub datagrams: u64,
}

impl Traffic {
    fn add(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.datagrams += 1;
    }
}

/// A client with what it saw and does.
pub struct Player {
    pub client: Client<Act>,
    pub own: Prediction<Fly>,
    /// Every call that came.
    pub calls: Vec<Called>,
    pub refusals: Vec<String>,
    pub notices: Vec<String>,
    /// What is pressed until something else is.
    pub buttons: u8,
    /// Bytes of datagrams and datagrams, to this player and from it.
    pub traffic: [Traffic; 2],
    address: SocketAddr,
    lines: [Link; 2],
    /// Whether datagrams get through at all.
    pub is_plugged: bool,
}

impl Player {
    /// Says that it is ready, once that makes sense.
    pub fn ready(&mut self) {
        self.client.lobby(LobbyCommand::Ready(true)).unwrap();
    }

    /// The objects of a kind, as they were told last.
    pub fn all<T: Replicated>(&self) -> Vec<T> {
        self.client.all::<T>().map(|(_, object)| object).collect()
    }

    /// The own ship, as it was told last.
    pub fn ship(&self) -> Option<Ship> {
        let own = self.client.player()?.0 as u16;
        self.all::<Ship>().into_iter().find(|ship| ship.pilot == own)
    }

    /// The newest call of a name.
    pub fn called(&self, name: &str) -> Option<&Called> {
        self.calls.iter().rev().find(|called| &*called.name == name)
    }

    pub fn count(&self, name: &str) -> usize {
        self.calls.iter().filter(|called| &*called.name == name).count()
    }
}

/// A server, its players, and the lines between them.
pub struct Field {
    pub now: Micros,
    pub server: Server,
    pub room: RoomId,
    pub players: Vec<Player>,
    flying: Vec<Flying>,
    /// What the server allocated in its ticks.
    pub server_allocations: u64,
}

/// The levels that come with the game.
pub fn levels() -> Levels {
    Levels::embedded()
}

/// One level, of this JSON.
pub fn level(json: &str) -> Levels {
    Levels::new(Levels::parse("test.json", json).unwrap(), Vec::new())
}

/// A level in which nothing happens for ten minutes.
pub fn empty_level() -> Levels {
    let late = r#"{ "at_seconds": 590, "spawns": [ { "kind": "drone" } ] }"#;
    level(&format!(r#"{{ "name": "Nothing", "seconds": 600, "endless": true, "waves": [ {late} ] }}"#))
}

impl Field {
    pub fn new(levels: Levels, setup: Setup) -> Field {
        let game = Rtype::new(levels, setup).unwrap();
        let mut room = RoomConfig { seed: 7, ..RoomConfig::for_profile("field", Profile::Lobby4) };
        game.furnish(&mut room);
        let config = ServerConfig::for_profile(Profile::Lobby4);
        let mut server = Server::new(config, protocol(), [1; 32]).unwrap();
        let room = server.add_room(Micros::ZERO, room, game).unwrap();
        Field {
            now: Micros::ZERO,
            server,
            room,
            players: Vec::new(),
            flying: Vec::new(),
            server_allocations: 0,
        }
    }

    pub fn room(&self) -> &Room {
        self.server.room(self.room).unwrap()
    }

    /// Somebody comes over a good line.
    pub fn join(&mut self, name: &str) -> usize {
        self.join_over(name, LinkConfig { latency: Micros::from_millis(10), ..LinkConfig::default() }, false)
    }

    /// Somebody comes over a line of this kind, the same in both directions.
    pub fn join_over(&mut self, name: &str, line: LinkConfig, is_spectator: bool) -> usize {
        let number = self.players.len();
        let config = ClientConfig { name: name.to_owned(), is_spectator, ..ClientConfig::default() };
        let mut client = Client::new(config, protocol(), [number as u8 + 2; 32]).unwrap();
        client.connect(self.now, SERVER.parse().unwrap()).unwrap();
        let line = |seed: usize| Link::new(line, Rng::new(seed as u64));
        self.players.push(Player {
            client,
            own: Prediction::new(Fly),
            calls: Vec::new(),
            refusals: Vec::new(),
            notices: Vec::new(),
            buttons: 0,
            traffic: [Traffic::default(); 2],
            address: SocketAddr::from(([10, 0, 1, number as u8], 4_000)),
            lines: [line(2 * number + 1), line(2 * number + 2)],
            is_plugged: true,
        });
        number
    }

    /// So many come, are ready, and play.
    pub fn play(&mut self, names: &[&str]) {
        for name in names {
            self.join(name);
        }
        self.until("everybody is here", |field| {
            field.players.iter().all(|player| player.client.lobby_state().is_some())
        });
        self.players.iter_mut().for_each(Player::ready);
        self.until("everybody has a ship", |field| {
            field.players.iter().all(|player| player.ship().is_some())
        });
    }

    /// A frame in which everybody does what is held.
    pub fn frame(&mut self) {
        self.frame_with(|player| player.buttons);
    }

    /// A frame; asks what each player presses, in every step.
    pub fn frame_with(&mut self, mut press: impl FnMut(&Player) -> u8) {
        self.now += FRAME;
        self.deliver();
        let before = allocations();
        self.server.tick(self.now);
        self.server_allocations += allocations() - before;
        let mut out = [0; 1_500];
        while let Some(sent) = self.server.poll_transmit(self.now, &mut out) {
            self.post(SERVER.parse().unwrap(), sent.to, &out[..sent.length]);
        }
        while self.server.poll_event().is_some() {}
        for number in 0..self.players.len() {
            let now = self.now;
            let player = &mut self.players[number];
            player.client.tick(now);
            while let Some(event) = player.client.poll_event() {
                match event {
                    ClientEvent::Called(called) => player.calls.push(called),
                    ClientEvent::CallRefused { reason, text, .. } => {
                        player.refusals.push(format!("{reason}: {text}"));
                    }
                    ClientEvent::Rejected { reason, .. } => player.refusals.push(reason.to_string()),
                    ClientEvent::Notice { text, .. } => player.notices.push(text),
                    _ => {}
                }
            }
            player.own.update(&player.client, FRAME).unwrap();
            while let Some(step) = player.client.poll_step() {
                let act = Act { buttons: press(player) };
                player.client.push_input(step, act).unwrap();
                player.own.apply(step, act);
            }
            let address = player.address;
            while let Some(sent) = self.players[number].client.poll_transmit(now, &mut out) {
                self.post(address, sent.to, &out[..sent.length]);
            }
        }
    }

    fn post(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let now = self.now;
        let is_down = from == SERVER.parse().unwrap();
        let who = if is_down { to } else { from };
        let Some(player) = self.players.iter_mut().find(|player| player.address == who) else { return };
        player.traffic[usize::from(!is_down)].add(bytes.len());
        let is_partitioned = !player.is_plugged;
        let arrivals = player.lines[usize::from(is_down)].admit(now, bytes.len(), is_partitioned);
        for arrival in arrivals.into_iter().flatten() {
            self.flying.push(Flying { due: arrival.at, from, to, bytes: bytes.to_vec() });
        }
    }

    fn deliver(&mut self) {
        let now = self.now;
        let mut arrived: Vec<Flying> = self.flying.extract_if(.., |flying| flying.due <= now).collect();
        arrived.sort_by_key(|flying| flying.due);
        for mut flying in arrived {
            match self.players.iter_mut().find(|player| player.address == flying.to) {
                Some(player) => player.client.handle_datagram(now, flying.from, &mut flying.bytes),
                None => self.server.handle_datagram(now, flying.from, &mut flying.bytes),
            }
        }
    }

    pub fn run(&mut self, seconds: u64) {
        let until = self.now + Micros::from_secs(seconds);
        while self.now < until {
            self.frame();
        }
    }

    /// Goes on until something is so, for two minutes at most.
    pub fn until(&mut self, what: &str, is_so: impl FnMut(&Field) -> bool) {
        self.until_with(what, |player| player.buttons, is_so);
    }

    /// The same with what players press.
    pub fn until_with(
        &mut self,
        what: &str,
        mut press: impl FnMut(&Player) -> u8,
        mut is_so: impl FnMut(&Field) -> bool,
    ) {
        let until = self.now + Micros::from_secs(120);
        while !is_so(self) {
            assert!(self.now < until, "it never came to this: {what}");
            self.frame_with(&mut press);
        }
    }
}
