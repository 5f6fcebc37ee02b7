//! A session with somebody who speaks the connection properly and says whatever the bytes say.
//!
//! ```text
//!  bytes ──▶ a client that was let in  ──▶ Server with a room, a lobby and a game
//!        ──▶ a server that lets in     ──▶ Client with its world, its lobby and its inputs
//! ```
//!
//! Neither may panic, loop or grow without bound, whatever is said.

use std::net::SocketAddr;

use netloom_proto::{Config, Endpoint, Event, ListenConfig, PeerId, Security};
use netloom_replica::codec::Codes;
use netloom_session::channel::{CONTROL, channels};
use netloom_session::config::{ClientConfig, Profile, RoomConfig, ServerConfig};
use netloom_session::message::{Hello, MESSAGE_BYTES_MAX, ToClient, ToServer, Welcome};
use netloom_session::{Client, Command, Game, PlayerId, Protocol, Rejected, Room, Server};
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{MessageBuffer, Micros, Profile as Quantized, Schema, Tick};

use crate::input::Input;

/// Messages of one input: beyond that a run gets slow before it gets more interesting.
const MESSAGES_MAX: usize = 64;
/// What a client or a server may keep of what was said: no message is longer than 64 KiB.
const EVENTS_MAX: usize = 8_192;

fn protocol() -> Protocol {
    let thing = Schema::builder("thing")
        .field("position", FieldKind::Position(Quantized::Standard), SyncFlags::PUBLIC_SYNC, 255)
        .field(
            "name",
            FieldKind::Text { bytes_max: 16 },
            SyncFlags::PUBLIC_SYNC.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT),
            1,
        )
        .build()
        .expect("a schema");
    Protocol::builder("fuzz").class(thing).build().expect("a protocol")
}

fn connection() -> Config {
    let protocol = protocol();
    Config {
        protocol_id: protocol.id(),
        schema_hash: protocol.schema_hash(),
        table_id: Codes::generic().id(),
        security: Security::Off,
        channels: channels(),
        ..Config::default()
    }
}

/// A game that takes everything.
struct Things;

impl Game for Things {
    type Input = [u8; 2];

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let class = netloom_replica::ClassId(0);
        let spawn = |id| netloom_replica::world::Spawn {
            owner: Some(player),
            ..netloom_replica::world::Spawn::new(id, class)
        };
        room.spawn_with(spawn).expect("there is room");
    }

    fn input(&mut self, _: &mut Room, _: PlayerId, command: &Command<[u8; 2]>) -> Result<(), Rejected> {
        if command.input[0] == 255 { Err(Rejected::new(1, "no")) } else { Ok(()) }
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

/// Says what the bytes say to a server or a client.
pub fn session_pair(data: &[u8]) {
    let mut input = Input::new(data);
    match input.choice(2) {
        0 => attack_server(&mut input),
        _ => attack_client(&mut input),
    }
}

/// The raw side of a connection.
struct Raw {
    endpoint: Endpoint,
    address: SocketAddr,
    peer: Option<PeerId>,
    message: MessageBuffer,
}

impl Raw {
    fn new(listen: Option<ListenConfig>, address: SocketAddr) -> Raw {
        let endpoint = Endpoint::new(connection(), listen, [2; 32]).expect("a configuration");
        Raw { endpoint, address, peer: None, message: MessageBuffer::new(MESSAGE_BYTES_MAX) }
    }

    fn say(&mut self, channel: u8, bytes: &[u8]) {
        if let Some(peer) = self.peer {
            // What has no room, or is empty, is not said.
            let _sent = self.endpoint.send(peer, channel, bytes);
        }
    }

    fn begin(&mut self, now: Micros) -> bool {
        self.endpoint.begin_tick(now);
        let mut is_new = false;
        while let Some((peer, event)) = self.endpoint.poll_event() {
            match event {
                Event::Connected { .. } => (self.peer, is_new) = (Some(peer), true),
                Event::Disconnected { .. } if self.peer == Some(peer) => self.peer = None,
                _ => {}
            }
        }
        is_new
    }
}

fn addresses() -> [SocketAddr; 2] {
    [SocketAddr::from(([10, 0, 0, 1], 7_777)), SocketAddr::from(([10, 0, 0, 2], 4_000))]
}

fn attack_server(input: &mut Input<'_>) {
    let [server_address, own] = addresses();
    let profile = if input.choice(2) == 0 { Profile::Small } else { Profile::Lobby4 };
    let mut config = ServerConfig::default();
    config.connection.security = Security::Off;
    let mut server = Server::new(config, protocol(), [1; 32]).expect("a server");
    server.add_room(Micros::ZERO, RoomConfig::for_profile("main", profile), Things).expect("a room");
    let mut raw = Raw::new(None, own);
    raw.peer = raw.endpoint.connect(Micros::ZERO, server_address, None).ok();
    let mut now = Micros::ZERO;
    let mut said = 0;
    while said < MESSAGES_MAX && !(input.is_empty() && said > 0) {
        now += Micros::from_millis(16);
        if raw.begin(now) {
            let hello = ToServer::Hello(Hello { name: "fuzz", ..Hello::default() });
            let bytes = hello.write(&mut raw.message).to_vec();
            raw.say(CONTROL, &bytes);
        }
        let (channel, length) = (input.choice(5) as u8, usize::from(input.u8()));
        raw.say(channel, input.bytes(length));
        said += 1;
        let mut out = [0; 1_200];
        while let Some(transmit) = raw.endpoint.poll_transmit(now, &mut out) {
            server.handle_datagram(now, raw.address, &mut out[..transmit.length]);
        }
        server.tick(now);
        while let Some(transmit) = server.poll_transmit(now, &mut out) {
            raw.endpoint.handle_datagram(now, server_address, &mut out[..transmit.length]);
        }
        while server.poll_event().is_some() {}
        assert!(server.player_count() <= 2 && server.rooms().count() == 1, "the room goes on");
    }
}

fn attack_client(input: &mut Input<'_>) {
    let [server_address, client_address] = addresses();
    let mut config = ClientConfig::default();
    config.connection.security = Security::Off;
    let mut client = Client::<[u8; 2]>::new(config, protocol(), [1; 32]).expect("a client");
    client.connect(Micros::ZERO, server_address).expect("not connected yet");
    let mut raw = Raw::new(Some(ListenConfig::default()), server_address);
    let (mut now, mut said) = (Micros::ZERO, 0);
    while said < MESSAGES_MAX && !(input.is_empty() && said > 0) {
        now += Micros::from_millis(16);
        let mut out = [0; 1_200];
        client.tick(now);
        let events = std::iter::from_fn(|| client.poll_event()).count();
        assert!(events <= EVENTS_MAX);
        while let Some(step) = client.poll_step() {
            client.push_input(step, [said as u8, 1]).expect("it was asked for");
        }
        while let Some(transmit) = client.poll_transmit(now, &mut out) {
            raw.endpoint.handle_datagram(now, client_address, &mut out[..transmit.length]);
        }
        if raw.begin(now) {
            let bytes = ToClient::Welcome(welcome(input)).write(&mut raw.message).to_vec();
            raw.say(CONTROL, &bytes);
        }
        let (channel, length) = (input.choice(5) as u8, usize::from(input.u8()));
        raw.say(channel, input.bytes(length));
        said += 1;
        while let Some(transmit) = raw.endpoint.poll_transmit(now, &mut out) {
            client.handle_datagram(now, server_address, &mut out[..transmit.length]);
        }
    }
}

fn welcome(input: &mut Input<'_>) -> Welcome<'static> {
    Welcome {
        player: input.u32(),
        is_resumed: false,
        has_same_calls: true,
        is_spectator: false,
        tick: Tick(input.u32()),
        step: Tick(input.u32()),
        steps_per_second: input.pick([60, 20, 0, 65_535]),
        sends_per_second: input.pick([20, 60, 0, 65_535]),
        objects: input.u16().into(),
        room: "main",
    }
}
