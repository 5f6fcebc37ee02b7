//! A game of moving cubes, a server and clients of it, and a network between them in virtual time.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::VecDeque;
use std::net::SocketAddr;

use netloom_replica::step::Step;
use netloom_replica::world::ObjectIndex;
use netloom_session::client::{ClientEvent, Prediction};
use netloom_session::config::{ClientConfig, RoomConfig, ServerConfig};
use netloom_session::random::Random;
use netloom_session::replicated::Replicated;
use netloom_session::{Client, Command, Game, GameError, PlayerId, Protocol, Rejected, Room, RoomId, Server};
use netloom_wire::schema::Value;
use netloom_wire::{BitReader, BitWriter, Micros, ReadError};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(crate = netloom_session)]
pub struct Cube {
    #[replicated(position)]
    pub at: [f32; 3],
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(crate = netloom_session, weight = 2.0, predict)]
pub struct Walker {
    #[replicated(position)]
    pub at: [f32; 3],
    #[replicated(range = 0..=9, client_writes)]
    pub mood: u8,
}

pub fn protocol() -> Protocol {
    Protocol::builder("cubes").version(3).object::<Cube>().object::<Walker>().build().unwrap()
}

/// Which way to walk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keys {
    pub x: i8,
    pub y: i8,
}

impl netloom_replica::input::Input for Keys {
    const BITS_MAX: u32 = 16;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.write_bits((self.x as u8).into(), 8);
        writer.write_bits((self.y as u8).into(), 8);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Keys, ReadError> {
        let mut axis = || reader.read_bits(8).map(|bits| bits as u8 as i8);
        Ok(Keys { x: axis()?, y: axis()? })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Walk;

impl Step for Walk {
    type State = Walker;
    type Input = Keys;

    fn step(&self, walker: &mut Walker, keys: &Keys) {
        walker.at[0] += f32::from(keys.x.signum()) * 0.05;
        walker.at[1] += f32::from(keys.y.signum()) * 0.05;
    }
}

/// Cubes that wander, and walkers that players move.
#[derive(Default)]
pub struct Cubes {
    pub count: usize,
    pub panics_at: Option<u64>,
    pub cubes: Vec<ObjectIndex>,
    pub walkers: Vec<(PlayerId, ObjectIndex, Walker)>,
}

impl Cubes {
    pub fn new(count: usize) -> Cubes {
        Cubes { count, ..Cubes::default() }
    }
}

impl Game for Cubes {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for number in 0..self.count {
            self.cubes.push(room.spawn(&Cube { at: [number as f32, 0.0, 0.0] }, None)?);
        }
        Ok(())
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        if room.player(player).is_some_and(|player| player.is_spectator) {
            return;
        }
        let walker = room.spawn(&Walker::default(), Some(player)).unwrap();
        room.follow(player, walker);
        self.walkers.push((player, walker, Walker::default()));
    }

    fn change_role(&mut self, room: &mut Room, player: PlayerId) {
        self.leave(room, player);
        self.join(room, player);
    }

    fn input(&mut self, room: &mut Room, player: PlayerId, command: &Command<Keys>) -> Result<(), Rejected> {
        if command.input.x.abs() > 1 || command.input.y.abs() > 1 {
            return Err(Rejected::new(7, "nobody walks that fast"));
        }
        let walker = self.walkers.iter_mut().find(|walker| walker.0 == player);
        let (_, object, walker) = walker.ok_or(Rejected::new(1, "no walker"))?;
        Walk.step(walker, &command.input);
        room.write(*object, walker).unwrap();
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        if self.panics_at.is_some_and(|at| room.steps() >= at) {
            panic!("the dice fell off the table");
        }
        let step = room.steps() as f32;
        for (number, cube) in self.cubes.iter().enumerate() {
            let angle = step * 0.02 + number as f32;
            let at = [number as f32 + angle.sin(), angle.cos(), 0.0];
            room.write(*cube, &Cube { at }).unwrap();
        }
    }

    fn claim(&mut self, _: &mut Room, _: PlayerId, object: ObjectIndex, _: bool) -> bool {
        self.cubes.first() == Some(&object)
    }

    fn write(&mut self, _: &mut Room, player: PlayerId, _: ObjectIndex, _: usize, value: Value<'_>) -> bool {
        let walker = self.walkers.iter_mut().find(|walker| walker.0 == player);
        match (walker, value) {
            (Some((_, _, walker)), Value::Word(mood)) if mood != 9 => {
                walker.mood = mood as u8;
                true
            }
            _ => false,
        }
    }

    fn chat(&mut self, _: &mut Room, _: PlayerId, text: &str) -> bool {
        !text.contains("darn")
    }

    fn leave(&mut self, room: &mut Room, player: PlayerId) {
        if let Some(at) = self.walkers.iter().position(|walker| walker.0 == player) {
            let (_, object, _) = self.walkers.swap_remove(at);
            room.despawn(object).unwrap();
        }
    }
}

/// A datagram on its way.
struct Flying {
    due: Micros,
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// A client with what it saw.
pub struct Seen {
    pub client: Client<Keys>,
    pub prediction: Prediction<Walk>,
    pub address: SocketAddr,
    pub events: Vec<ClientEvent>,
    pub keys: Keys,
    pub corrections: usize,
    /// Whether its datagrams get through, and how many of them do not.
    pub is_plugged: bool,
    pub loss: f32,
}

impl Seen {
    pub fn has(&self, wanted: impl Fn(&ClientEvent) -> bool) -> bool {
        self.events.iter().any(wanted)
    }
}

/// A server, its clients, and a network.
pub struct Net {
    pub now: Micros,
    pub server: Server,
    pub room: RoomId,
    pub clients: Vec<Seen>,
    pub latency: Micros,
    pub loss: f32,
    /// Of everything that the server sent, byte by byte.
    pub sent_hash: u64,
    protocol: Protocol,
    flying: VecDeque<Flying>,
    random: Random,
}

pub const SERVER: &str = "10.0.0.1:7777";

impl Net {
    pub fn new(config: ServerConfig, room: RoomConfig, game: Cubes) -> Net {
        Net::play(config, room, protocol(), game)
    }

    /// Any game whose players have keys.
    pub fn play(
        config: ServerConfig,
        room: RoomConfig,
        protocol: Protocol,
        game: impl Game<Input = Keys>,
    ) -> Net {
        let mut server = Server::new(config, protocol.clone(), [1; 32]).unwrap();
        let room = server.add_room(Micros::ZERO, room, game).unwrap();
        Net {
            now: Micros::ZERO,
            server,
            room,
            clients: Vec::new(),
            latency: Micros::from_millis(20),
            loss: 0.0,
            sent_hash: 0,
            protocol,
            flying: VecDeque::new(),
            random: Random::new(5),
        }
    }

    pub fn cubes(count: usize) -> Net {
        Net::new(ServerConfig::default(), RoomConfig::new("main"), Cubes::new(count))
    }

    pub fn join(&mut self, name: &str) -> usize {
        self.join_with(ClientConfig { name: name.to_owned(), ..ClientConfig::default() })
    }

    pub fn join_with(&mut self, config: ClientConfig) -> usize {
        self.join_as(config, self.protocol.clone())
    }

    pub fn join_as(&mut self, config: ClientConfig, protocol: Protocol) -> usize {
        let number = self.clients.len();
        let mut client = Client::new(config, protocol, [number as u8 + 2; 32]).unwrap();
        client.connect(self.now, SERVER.parse().unwrap()).unwrap();
        let address = SocketAddr::from(([10, 0, 1, number as u8], 4_000));
        let prediction = Prediction::new(Walk);
        let (events, keys) = (Vec::new(), Keys::default());
        self.clients.push(Seen {
            client,
            prediction,
            address,
            events,
            keys,
            corrections: 0,
            is_plugged: true,
            loss: 0.0,
        });
        number
    }

    fn fly(&mut self, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        let of_client = self.clients.iter().find(|seen| seen.address == from || seen.address == to);
        let loss = self.loss.max(of_client.map_or(0.0, |seen| seen.loss));
        if self.random.between(0.0, 1.0) >= loss {
            self.flying.push_back(Flying { due: self.now + self.latency, from, to, bytes });
        }
    }

    /// Five milliseconds.
    pub fn step(&mut self) {
        self.now += Micros::from_millis(5);
        let now = self.now;
        let server: SocketAddr = SERVER.parse().unwrap();
        while self.flying.front().is_some_and(|flying| flying.due <= now) {
            let mut flying = self.flying.pop_front().unwrap();
            if flying.to == server {
                self.server.handle_datagram(now, flying.from, &mut flying.bytes);
            } else if let Some(seen) =
                self.clients.iter_mut().find(|seen| seen.address == flying.to && seen.is_plugged)
            {
                seen.client.handle_datagram(now, server, &mut flying.bytes);
            }
        }
        self.server.tick(now);
        let mut out = [0; 1_200];
        while let Some(transmit) = self.server.poll_transmit(now, &mut out) {
            let sent = &out[..transmit.length];
            let hashed = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            self.sent_hash = sent.iter().fold(self.sent_hash, hashed);
            self.fly(server, transmit.to, sent.to_vec());
        }
        for number in 0..self.clients.len() {
            let mut sent = Vec::new();
            let seen = &mut self.clients[number];
            seen.frame(now, &mut sent);
            let (address, is_plugged) = (seen.address, seen.is_plugged);
            for bytes in sent.into_iter().filter(|_| is_plugged) {
                self.fly(address, server, bytes);
            }
        }
    }

    pub fn run(&mut self, time: Micros) {
        let until = self.now + time;
        while self.now < until {
            self.step();
        }
    }

    /// Runs until something is so; panics after 30 s.
    pub fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Net) -> bool) {
        let deadline = self.now + Micros::from_secs(30);
        while !is_so(self) {
            assert!(self.now < deadline, "{what} did not come to pass");
            self.step();
        }
    }

    pub fn until_event(&mut self, client: usize, what: &str, wanted: impl Fn(&ClientEvent) -> bool) {
        self.until(what, |net| net.clients[client].has(&wanted));
    }

    pub fn welcome(&mut self, client: usize) {
        self.until_event(client, "a welcome", |event| matches!(event, ClientEvent::Welcomed { .. }));
    }
}

impl Seen {
    fn frame(&mut self, now: Micros, sent: &mut Vec<Vec<u8>>) {
        self.client.tick(now);
        self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
        let reconciled = self.prediction.update(&self.client, Micros::from_millis(5)).unwrap();
        self.corrections +=
            usize::from(matches!(reconciled, Some(netloom_replica::client::Reconciled::Corrected(_))));
        while let Some(step) = self.client.poll_step() {
            self.client.push_input(step, self.keys).unwrap();
            self.prediction.apply(step, self.keys);
        }
        let mut out = [0; 1_200];
        while let Some(transmit) = self.client.poll_transmit(now, &mut out) {
            sent.push(out[..transmit.length].to_vec());
        }
    }
}
