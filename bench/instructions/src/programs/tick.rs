//! A server with a room, 16 clients over the memory transport, and everything that a tick of it does.

use std::net::SocketAddr;

use netloom_proto::Security;
use netloom_replica::ClassId;
use netloom_replica::world::{ObjectIndex, Spawn};
use netloom_scene::generate::walk::{EXTENT_METRES, WALKERS, Walk, class};
use netloom_session::client::ClientEvent;
use netloom_session::{
    Client, ClientConfig, Command, Game, GameError, PlayerId, Protocol, Rejected, Room, RoomConfig, Server,
    ServerConfig,
};
use netloom_transport::{Batch, MemoryConfig, MemoryNetwork, MemoryTransport, Transport};
use netloom_wire::quantize::OriginVersion;
use netloom_wire::{Micros, SectorOrigin};

use super::cold::Cold;
use super::counted;

const CLIENTS: u8 = 16;
const STEP: Micros = Micros(16_667);
/// Until everybody has joined and holds everything.
const WARM_UP_STEPS: u64 = 240;
const STEPS: u64 = 60;
/// Of three steps each, the last of which is told.
pub const PERIODS: u64 = STEPS / 3;
const BATCH_DATAGRAMS: usize = 64;

/// What a player does: two axes.
type Keys = [u8; 2];

/// Walkers that go on walking.
struct Walkers {
    walk: Walk,
    objects: Vec<ObjectIndex>,
}

impl Game for Walkers {
    type Input = Keys;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        for (position, rotation) in self.walk.positions().iter().zip(self.walk.rotations()) {
            let position = position.map(f64::from);
            let origin = SectorOrigin::new(netloom_scene::generate::sector(position), OriginVersion::new(0))?;
            let object = room.spawn_with(|id| Spawn { origin, ..Spawn::new(id, ClassId(0)) })?;
            room.world_mut().set_position(object, position)?;
            room.world_mut().set_rotation(object, *rotation)?;
            self.objects.push(object);
        }
        Ok(())
    }

    fn join(&mut self, _: &mut Room, _: PlayerId) {}

    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<Keys>) -> Result<(), Rejected> {
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        self.walk.step(WALKERS);
        let world = room.world_mut();
        for (number, &object) in self.objects.iter().enumerate() {
            // One that cannot be written stays where it is.
            let _ = world.set_position(object, self.walk.positions()[number].map(f64::from));
            let _ = world.set_rotation(object, self.walk.rotations()[number]);
        }
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

fn protocol() -> Protocol {
    let class = class();
    let builder = Protocol::builder("netloom-instructions").class(class.schema().clone());
    builder.build().expect("a class of two fields")
}

/// One end of the network.
struct End {
    line: MemoryTransport,
    batch: Batch,
}

impl End {
    fn new(line: MemoryTransport) -> End {
        let batch = Batch::new(BATCH_DATAGRAMS, line.capabilities().mtu_bytes).expect("a usual size");
        End { line, batch }
    }

    fn receive(&mut self, now: Micros, mut handle: impl FnMut(SocketAddr, &mut [u8])) {
        self.batch.clear();
        while self.line.receive(now, &mut self.batch).expect("memory does not fail") > 0 {
            for datagram in self.batch.iter_mut() {
                handle(datagram.address().to_socket_addr(), datagram.bytes_mut());
            }
            self.batch.clear();
        }
    }

    fn send(&mut self, now: Micros, mut poll: impl FnMut(&mut [u8]) -> Option<(SocketAddr, usize)>) {
        self.batch.clear();
        loop {
            while let Some(slot) = self.batch.next_slot()
                && let Some((to, length)) = poll(slot)
            {
                self.batch.commit(to.into(), length);
            }
            if self.batch.is_empty() {
                return;
            }
            self.line.send(now, &mut self.batch).expect("memory does not fail");
            self.batch.clear();
        }
    }
}

struct Player {
    client: Client<Keys>,
    end: End,
    is_complete: bool,
}

impl Player {
    fn frame(&mut self, now: Micros) {
        let Player { client, end, is_complete } = self;
        end.receive(now, |from, bytes| client.handle_datagram(now, from, bytes));
        client.tick(now);
        while let Some(event) = client.poll_event() {
            *is_complete |= matches!(event, ClientEvent::Complete);
        }
        while let Some(step) = client.poll_step() {
            client.push_input(step, [1, step.0 as u8]).expect("the step was asked for");
        }
        end.send(now, |slot| client.poll_transmit(now, slot).map(|sent| (sent.to, sent.length)));
    }
}

/// 16 players who act in every step.
pub fn run() {
    play(ClientConfig::default(), None);
}

/// 16 who only watch, not encrypted, on a machine that forgets between two ticks.
pub fn watch() {
    let mut config = ClientConfig { is_spectator: true, ..ClientConfig::default() };
    config.connection.security = Security::Off;
    play(config, Some(Cold::new()));
}

fn play(client: ClientConfig, mut cold: Option<Cold>) {
    let network = MemoryNetwork::new(MemoryConfig::default()).expect("the defaults are good");
    let mut end = End::new(network.join().expect("the first member"));
    let address = end.line.local_address().to_socket_addr();
    let mut server =
        Server::new(ServerConfig::default(), protocol(), [1; 32]).expect("the defaults are good");
    let walk = Walk::new(WALKERS, EXTENT_METRES);
    let game = Walkers { walk, objects: Vec::with_capacity(WALKERS) };
    server.add_room(Micros::ZERO, RoomConfig::new("hall"), game).expect("a usual room");
    let join = |number: u8| {
        let config = ClientConfig { name: format!("player {number}"), ..client.clone() };
        let mut client = Client::new(config, protocol(), [number + 2; 32]).expect("the defaults are good");
        client.connect(Micros::ZERO, address).expect("nothing was connected before");
        Player { client, end: End::new(network.join().expect("another member")), is_complete: false }
    };
    let mut players: Vec<Player> = (0..CLIENTS).map(join).collect();
    for step in 1..=WARM_UP_STEPS + STEPS {
        let now = Micros(step * STEP.0);
        let mut work = || {
            end.receive(now, |from, bytes| server.handle_datagram(now, from, bytes));
            server.tick(now);
            while server.poll_event().is_some() {}
            end.send(now, |slot| server.poll_transmit(now, slot).map(|sent| (sent.to, sent.length)));
        };
        if let Some(cold) = &mut cold {
            cold.forget_all();
        }
        match step > WARM_UP_STEPS {
            true => counted(&mut work),
            false => work(),
        }
        players.iter_mut().for_each(|player| player.frame(now));
    }
    assert!(players.iter().all(|player| player.is_complete), "everybody has everything");
}
