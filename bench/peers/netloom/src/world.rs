//! The walkers as objects of a room, through the library's front door: `netloom::Server` and `netloom::Client`.

use crate::setting::Setting;
use netloom::prelude::*;
use netloom::proto::ListenConfig;
use netloom::replica::ClassId;
use netloom::replica::client::ReplicaClient;
use netloom::replica::world::Spawn;
use netloom::session::{ClientConfig, RoomConfig, RoomId, ServerConfig};
use netloom::wire::quantize::{OriginVersion, SectorOrigin};
use netloom::wire::schema::{FieldKind, SyncFlags, Value};
use netloom::wire::{Profile, Schema};
use peer_common::{ErrorBound, Options, State, Walk};

const WALKER: ClassId = ClassId(0);
const POSITION: usize = 0;
const ROTATION: usize = 1;
/// STANDARD reaches 327 m and the walk more than 500, so positions are relative to the nearest point of this raster.
const SECTOR_METRES: f64 = 256.0;
/// A connection's usual limit of 256 KiB/s cannot carry 800 whole states 20 times a second.
const BYTES_PER_SECOND_MAX: u64 = 1_000_000;

fn protocol(profile: Profile) -> Protocol {
    let walker = Schema::builder("walker")
        .field("position", FieldKind::Position(profile), SyncFlags::PUBLIC_SYNC, 255)
        .field("rotation", FieldKind::Rotation(profile), SyncFlags::PUBLIC_SYNC, 254)
        .build()
        .expect("a schema");
    Protocol::builder("walkers").class(walker).build().expect("a protocol")
}

/// What these players say to the game.
type Nothing = [u8; 1];

/// A game without rules: the harness moves everything.
struct Yard;

impl Game for Yard {
    type Input = Nothing;

    fn join(&mut self, _: &mut Room, _: PlayerId) {}
    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<Nothing>) -> Result<(), Rejected> {
        Ok(())
    }
    fn step(&mut self, _: &mut Room) {}
    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

pub struct Host {
    server: netloom::Server,
    room: RoomId,
    walkers: Vec<ObjectIndex>,
    clients: usize,
}

impl Host {
    pub fn bind(options: &Options) -> Host {
        let setting = Setting::of(options);
        let listen = ListenConfig { peers_max: options.clients, ..ListenConfig::default() };
        let mut config = ServerConfig { listen, ..ServerConfig::default() };
        setting.secure(&mut config.connection);
        config.connection.rate.bytes_per_second_max = BYTES_PER_SECOND_MAX;
        let room = RoomConfig {
            spectators_max: options.clients,
            sends_per_second: options.sends_per_second as u32,
            ..RoomConfig::new("yard")
        };
        let server = netloom::Server::builder(protocol(setting.profile()))
            .config(config)
            .room(room, Yard)
            .listen(&options.server_address().to_string())
            .bind()
            .expect("a server");
        let room = server.session().rooms().next().expect("the room").id();
        let mut host = Host { walkers: Vec::new(), room, clients: options.clients, server };
        host.spawn(&Walk::new(options.objects), setting);
        host
    }

    fn spawn(&mut self, walk: &Walk, setting: Setting) {
        let room = self.server.session_mut().room_mut(self.room).expect("the room");
        for position in &walk.positions {
            let raster = position.map(|axis| match setting {
                Setting::Exact => 0.0,
                _ => (f64::from(axis) / SECTOR_METRES).round() * SECTOR_METRES,
            });
            let origin = SectorOrigin::new(raster, OriginVersion::new(0)).expect("an origin");
            let walker = room.spawn_with(|id| Spawn { origin, ..Spawn::new(id, WALKER) });
            self.walkers.push(walker.expect("room for a walker"));
        }
        self.write(walk);
    }

    /// The new state, as any game writes it.
    pub fn write(&mut self, walk: &Walk) {
        let world = self.server.session_mut().room_mut(self.room).expect("the room").world_mut();
        for (number, &walker) in self.walkers.iter().enumerate() {
            world.set_position(walker, walk.positions[number].map(f64::from)).expect("a position");
            world.set_rotation(walker, walk.rotations[number]).expect("a rotation");
        }
    }

    pub fn tick(&mut self) {
        self.server.tick().expect("a tick");
        while self.server.poll_event().is_some() {}
    }

    pub fn ready_count(&mut self) -> usize {
        self.server.session().player_count().min(self.clients)
    }
}

struct Guest {
    client: netloom::Client<Nothing>,
    /// Of each walker, the newest tick that was counted.
    ticks: Vec<Option<Tick>>,
}

pub struct Guests {
    guests: Vec<Guest>,
    setting: Setting,
    updates: u64,
}

impl Guests {
    pub fn connect(options: &Options) -> Guests {
        let setting = Setting::of(options);
        let guest = |number: usize| {
            let mut config = ClientConfig {
                name: format!("guest {number}"),
                is_spectator: true,
                // Nobody looks at these: they decode all, as ever, and interpolate nothing, as the others' clients.
                is_headless: true,
                objects: options.objects,
                ..ClientConfig::default()
            };
            setting.secure(&mut config.connection);
            let client = netloom::Client::<Nothing>::builder()
                .config(config)
                .connect(protocol(setting.profile()), &options.dial_address().to_string())
                .expect("a client");
            Guest { client, ticks: vec![None; options.objects] }
        };
        Guests { guests: (0..options.clients).map(guest).collect(), setting, updates: 0 }
    }

    pub fn poll(&mut self) {
        for guest in &mut self.guests {
            guest.client.tick().expect("a connection");
            while let Some(event) = guest.client.poll_event() {
                if let ClientEvent::Ended(ending) = event {
                    eprintln!("a client ended: {ending:?}");
                }
            }
            guest.client.send().expect("a connection");
            let Some(objects) = guest.client.objects() else { continue };
            for (number, last) in guest.ticks.iter_mut().enumerate() {
                if let Some(tick) = objects.object(alias(number)).map(|object| object.tick())
                    && *last != Some(tick)
                {
                    *last = Some(tick);
                    self.updates += 1;
                }
            }
        }
    }

    pub fn updates(&self) -> u64 {
        self.updates
    }

    pub fn read(&self, client: usize, into: &mut [Option<State>]) {
        let Some(objects) = self.guests[client].client.objects() else { return };
        for (number, state) in into.iter_mut().enumerate() {
            *state = read(objects, alias(number));
        }
    }

    pub fn error_bound(&self) -> ErrorBound {
        self.setting.error_bound()
    }
}

/// Where everybody sees everything, an object's alias is its slot.
fn alias(walker: usize) -> Alias {
    Alias { slot: walker as u16, generation: 0 }
}

fn read(objects: &ReplicaClient, alias: Alias) -> Option<State> {
    let object = objects.object(alias)?;
    let (class, profile) = (objects.class(object)?, object.profile());
    let Value::Triple(words) = object.value(class, POSITION)? else { return None };
    let Value::Rotation(rotation) = object.value(class, ROTATION)? else { return None };
    let (near, origin) = (profile.dequantize_position(words), object.origin().metres());
    let position = std::array::from_fn(|axis| (f64::from(near[axis]) + origin[axis]) as f32);
    Some(State { position, rotation: profile.dequantize_rotation(rotation) })
}
