//! Netloom's server and clients, driven as a game would: everything that has arrived, a tick, everything that is to go.

use super::film::{Film, OBJECTS};
use super::game::{Keys, Ledger, POSITION, ROTATION, Screening, protocol};
use super::refused;
use super::seen::{Seen, Truth};
use crate::cpu;
use crate::error::BenchError;
use netloom_proto::Security;
use netloom_session::client::ClientEvent;
use netloom_session::validate::RateRule;
use netloom_session::{Client, ClientConfig, RoomConfig, RoomId, Server, ServerConfig};
use netloom_transport::link::LinkConfig;
use netloom_transport::{
    Batch, Conditioner, ConditionerConfig, Counters, PeerAddress, Transport, UdpConfig, UdpTransport,
};
use netloom_wire::schema::Value;
use netloom_wire::{Micros, Tick};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Datagrams that are received or sent in one call.
const BATCH_DATAGRAMS: usize = 64;

/// Batches that one tick takes in: a flood must not keep the game waiting.
const BATCHES_PER_TICK: usize = 16;

/// What players may say: more than they do here.
const TALK: RateRule = RateRule { per_second: 1_000, burst: 1_000 };

/// Steps from one snapshot to the next: 60 and 20 a second.
pub const STEPS_PER_SEND: u64 = 3;

/// The server, its socket, and memory for datagrams.
pub struct OurServer {
    server: Server,
    room: RoomId,
    transport: UdpTransport,
    batch: Batch,
    ledger: Arc<Ledger>,
}

/// The processor time of the parts of ticks, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// What has arrived goes in.
    pub receive: f64,
    /// The rooms step, the game's writes apart.
    pub step: f64,
    /// The game writes the world.
    pub write: f64,
    /// What is to be sent goes out.
    pub send: f64,
}

impl Parts {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.receive + self.step + self.write + self.send
    }
}

impl OurServer {
    /// A server of profile `small` with one room, on a port of the system's choice.
    pub fn bind(film: Arc<Film>, moving: usize) -> Result<OurServer, BenchError> {
        let address = PeerAddress::from(SocketAddr::from(([127, 0, 0, 1], 0)));
        let transport = UdpTransport::bind(address, UdpConfig::default()).map_err(refused)?;
        let mut server =
            Server::new(ServerConfig::default(), protocol().map_err(refused)?, [1; 32]).map_err(refused)?;
        let game = Screening::new(film, moving);
        let ledger = game.ledger();
        // The burst of the budgets is more than anybody may say by default.
        let config = RoomConfig { chat: TALK, ..RoomConfig::new("hall") };
        let room = server.add_room(Micros::ZERO, config, game).map_err(refused)?;
        let batch = Batch::new(BATCH_DATAGRAMS, transport.capabilities().mtu_bytes).map_err(refused)?;
        Ok(OurServer { server, room, transport, batch, ledger })
    }

    /// Where it is.
    pub fn address(&self) -> PeerAddress {
        self.transport.local_address()
    }

    /// The whole tick of a driver.
    pub fn tick(&mut self, now: Micros) -> Result<(), BenchError> {
        self.receive(now)?;
        self.step(now);
        self.send(now)
    }

    /// The same, with what its parts used.
    pub fn tick_in_parts(&mut self, now: Micros) -> Result<Parts, BenchError> {
        let before = self.written_us();
        let (received, receive) = cpu::microseconds(|| self.receive(now));
        let ((), step) = cpu::microseconds(|| self.step(now));
        let (sent, send) = cpu::microseconds(|| self.send(now));
        let write = self.written_us() - before;
        received.and(sent).map(|()| Parts { receive, step: step - write, write, send })
    }

    /// Processor time of the game's writes so far.
    pub fn written_us(&self) -> f64 {
        self.ledger.written_ns.load(Ordering::Relaxed) as f64 / 1e3
    }

    /// What the game counts.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What has arrived goes in.
    fn receive(&mut self, now: Micros) -> Result<(), BenchError> {
        let OurServer { server, transport, batch, .. } = self;
        for _ in 0..BATCHES_PER_TICK {
            batch.clear();
            let is_full = transport.receive(now, batch).map_err(refused)? == batch.capacity();
            for datagram in batch.iter_mut() {
                let from = datagram.address().to_socket_addr();
                server.handle_datagram(now, from, datagram.bytes_mut());
            }
            if !is_full {
                break;
            }
        }
        batch.clear();
        Ok(())
    }

    /// The rooms step.
    fn step(&mut self, now: Micros) {
        self.server.tick(now);
        while self.server.poll_event().is_some() {}
    }

    /// What is to be sent goes out.
    fn send(&mut self, now: Micros) -> Result<(), BenchError> {
        let OurServer { server, transport, batch, .. } = self;
        loop {
            while let Some(slot) = batch.next_slot()
                && let Some(transmit) = server.poll_transmit(now, slot)
            {
                batch.commit(transmit.to.into(), transmit.length);
            }
            if batch.is_empty() {
                return Ok(());
            }
            transport.send(now, batch).map_err(refused)?;
            // What would have blocked is lost, as on any network.
            batch.clear();
        }
    }

    /// Steps that its room has made.
    pub fn steps(&self) -> u64 {
        self.server.room(self.room).map_or(0, |room| room.steps())
    }

    /// The server itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What its socket counted.
    pub fn counters(&self) -> Counters {
        self.transport.counters()
    }
}

/// A client and its socket.
pub struct OurClient {
    client: Client<Keys>,
    line: Box<dyn Transport>,
    batch: Batch,
    /// Of each walker, the newest tick that was compared.
    ticks: Vec<Option<Tick>>,
    /// The world that there was when it joined is here.
    pub is_complete: bool,
}

/// What a client is like.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The round trip of its line.
    pub rtt: Micros,
    /// Whether it plays, and so has something to say in every step, or only watches.
    pub plays: bool,
    /// Whether its connection is encrypted.
    pub is_sealed: bool,
}

impl Manner {
    /// As the clients of plain sockets are: near, silent but for what the connection needs, and not encrypted.
    pub const PLAIN: Manner = Manner { rtt: Micros::ZERO, plays: false, is_sealed: false };
}

impl OurClient {
    /// Begins to connect.
    pub fn connect(number: usize, server: PeerAddress, manner: Manner) -> Result<OurClient, BenchError> {
        let socket = UdpTransport::connect(server, UdpConfig::default()).map_err(refused)?;
        let mtu_bytes = socket.capabilities().mtu_bytes;
        let line: Box<dyn Transport> = match manner.rtt {
            Micros::ZERO => Box::new(socket),
            rtt => {
                let line = LinkConfig { latency: Micros(rtt.0 / 2), ..LinkConfig::default() };
                let config = ConditionerConfig {
                    in_flight_max: 256,
                    ..ConditionerConfig::symmetric(line, number as u64)
                };
                Box::new(Conditioner::new(socket, config).map_err(refused)?)
            }
        };
        let name = format!("player {number}");
        let mut config = ClientConfig { name, is_spectator: !manner.plays, ..ClientConfig::default() };
        config.connection.security = if manner.is_sealed { Security::Required } else { Security::Off };
        let mut client =
            Client::new(config, protocol().map_err(refused)?, [number as u8 + 2; 32]).map_err(refused)?;
        client.connect(Micros::ZERO, server.to_socket_addr()).map_err(refused)?;
        let batch = Batch::new(BATCH_DATAGRAMS, mtu_bytes).map_err(refused)?;
        Ok(OurClient { client, line, batch, ticks: vec![None; OBJECTS], is_complete: false })
    }

    /// One frame: what arrived is taken in and compared, the player acts, what is to be sent goes out.
    pub fn frame(&mut self, now: Micros, film: &Film, seen: &mut Seen) -> Result<(), BenchError> {
        self.receive(now)?;
        self.client.tick(now);
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Complete => self.is_complete = true,
                ClientEvent::Ended(ending) => return Err(refused(ending)),
                _ => {}
            }
        }
        self.compare(film, seen);
        while let Some(step) = self.client.poll_step() {
            self.client.push_input(step, [1, step.0 as u8]).map_err(refused)?;
        }
        self.send(now)
    }

    fn receive(&mut self, now: Micros) -> Result<(), BenchError> {
        let OurClient { client, line, batch, .. } = self;
        batch.clear();
        while line.receive(now, batch).map_err(refused)? > 0 {
            for datagram in batch.iter_mut() {
                let from = datagram.address().to_socket_addr();
                client.handle_datagram(now, from, datagram.bytes_mut());
            }
            batch.clear();
        }
        Ok(())
    }

    fn send(&mut self, now: Micros) -> Result<(), BenchError> {
        let OurClient { client, line, batch, .. } = self;
        batch.clear();
        while let Some(slot) = batch.next_slot()
            && let Some(transmit) = client.poll_transmit(now, slot)
        {
            batch.commit(transmit.to.into(), transmit.length);
        }
        line.send(now, batch).map_err(refused)?;
        batch.clear();
        Ok(())
    }

    /// Says something that reaches the game, in a datagram of its own.
    pub fn say(&mut self, now: Micros) -> Result<(), BenchError> {
        self.client.chat(false, "an event").map_err(refused)?;
        self.send(now)
    }

    /// Compares what is new with what the server had at its tick.
    fn compare(&mut self, film: &Film, seen: &mut Seen) {
        for walker in 0..OBJECTS {
            let Some((tick, position, rotation)) = self.walker(walker) else { continue };
            if self.ticks[walker] != Some(tick) {
                self.ticks[walker] = Some(tick);
                seen.check(Truth { film, step: step_of(tick), walker }, position, rotation);
            }
        }
    }

    /// Compares what it holds in the end with where everything came to rest.
    pub fn finish(&self, film: &Film, seen: &mut Seen) {
        for walker in 0..OBJECTS {
            match self.walker(walker) {
                Some((_, position, rotation)) => {
                    seen.check_last(Truth { film, step: film.end(), walker }, position, rotation);
                }
                None => seen.missing += 1,
            }
        }
    }

    /// A walker as this client holds it, and since when. Where everybody sees everything, aliases are the numbers of
    /// objects in the order in which they were made.
    fn walker(&self, number: usize) -> Option<(Tick, [f32; 3], [f32; 4])> {
        let objects = self.client.objects()?;
        let alias = netloom_wire::Alias { slot: number as u16, generation: 0 };
        let object = objects.object(alias)?;
        let (class, profile) = (objects.class(object)?, object.profile());
        let Value::Triple(words) = object.value(class, POSITION)? else { return None };
        let Value::Rotation(rotation) = object.value(class, ROTATION)? else { return None };
        let (near, origin) = (profile.dequantize_position(words), object.origin().metres());
        let position = std::array::from_fn(|axis| (f64::from(near[axis]) + origin[axis]) as f32);
        Some((object.tick(), position, profile.dequantize_rotation(rotation)))
    }
}

/// The step of which the snapshots of a tick tell.
fn step_of(tick: Tick) -> u64 {
    u64::from(tick.0) * STEPS_PER_SEND
}
