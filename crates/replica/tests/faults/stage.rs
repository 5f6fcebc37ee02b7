//! A server and its clients, with every snapshot in the hands of the test.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SchemaBuilder, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

pub const POSITION: usize = 0;
pub const ROTATION: usize = 1;
pub const HEALTH: usize = 2;
pub const ANIMATION: usize = 3;

/// More than any snapshot here needs.
pub const PLENTY: usize = 100_000;

pub fn class(schema: SchemaBuilder) -> Class {
    Class::new(schema.build().unwrap()).unwrap()
}

/// Position, rotation, health in percent and the number of an animation.
pub fn walker() -> Class {
    let public = SyncFlags::PUBLIC_SYNC;
    class(
        Schema::builder("walker")
            .field("position", FieldKind::Position(Profile::Standard), public, 255)
            .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
            .field("health", FieldKind::int(0, 100).unwrap(), public, 100)
            .field("animation", FieldKind::int(0, 63).unwrap(), public, 90),
    )
}

/// A snapshot on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub sequence: u64,
    pub bytes: Vec<u8>,
}

pub struct Remote {
    pub peer: ReplicaPeer,
    pub client: ReplicaClient,
}

impl Remote {
    /// The only object that it sees.
    pub fn only(&self) -> &ClientObject {
        assert_eq!(self.client.len(), 1);
        self.client.iter().next().unwrap()
    }

    pub fn value(&self, field: usize) -> Value<'_> {
        let object = self.only();
        object.value(self.client.class(object).unwrap(), field).unwrap()
    }

    /// Where the only object is in the world, as far as this client can tell.
    pub fn place(&self) -> [f64; 3] {
        let Value::Triple(words) = self.value(POSITION) else { panic!("no position") };
        let object = self.only();
        object.profile().world_position(words, &object.origin())
    }
}

pub struct Stage {
    pub server: ReplicaServer,
    pub remotes: Vec<Remote>,
    class: Class,
    sequence: u64,
    ids: u64,
}

impl Stage {
    /// A server of objects of one class, without peers.
    pub fn new(class: Class, config: ServerConfig) -> Stage {
        let world = World::new(vec![class.clone()], WorldConfig::default()).unwrap();
        let server = ReplicaServer::new(world, Codes::generic(), config).unwrap();
        Stage { server, remotes: Vec::new(), class, sequence: 0, ids: 0 }
    }

    /// One walker and one peer that has it.
    pub fn with_one_walker() -> (Stage, ObjectIndex) {
        let mut stage = Stage::new(walker(), ServerConfig::default());
        stage.join(PeerConfig::new(OwnerId(0)));
        let index = stage.spawn();
        stage.tick(PLENTY);
        stage.tick(PLENTY);
        assert_eq!(stage.remotes[0].client.len(), 1);
        (stage, index)
    }

    pub fn join(&mut self, config: PeerConfig) {
        let peer = self.server.add_peer(config);
        let classes = ClassTable::new(vec![self.class.clone()]).unwrap();
        self.remotes.push(Remote { peer, client: ReplicaClient::new(classes, Codes::generic()) });
    }

    pub fn spawn(&mut self) -> ObjectIndex {
        self.spawn_as(|_| {})
    }

    pub fn spawn_as(&mut self, change: impl FnOnce(&mut Spawn)) -> ObjectIndex {
        self.ids += 1;
        let mut spawn = Spawn::new(ObjectId(self.ids), ClassId(0));
        change(&mut spawn);
        self.server.world_mut().spawn(spawn).unwrap()
    }

    pub fn set(&mut self, index: ObjectIndex, field: usize, word: i32) {
        self.server.world_mut().set(index, field, Value::Word(word)).unwrap();
    }

    pub fn place(&mut self, index: ObjectIndex, place: [f64; 3]) {
        self.server.world_mut().set_position(index, place).unwrap();
    }

    /// The snapshots of this tick for one client, neither delivered nor lost.
    pub fn send(&mut self, number: usize, budget_bytes: usize) -> Vec<Sent> {
        let peer = self.remotes[number].peer;
        self.server.select(peer, budget_bytes);
        let (mut sent, mut out) = (Vec::new(), [0; 1_150]);
        while let Some(length) = self.server.poll_snapshot(peer, self.sequence, &mut out) {
            sent.push(Sent { sequence: self.sequence, bytes: out[..length].to_vec() });
            self.sequence += 1;
        }
        sent
    }

    /// They arrive, and the server hears of it.
    pub fn deliver(&mut self, number: usize, sent: &[Sent]) {
        for snapshot in sent {
            let remote = &mut self.remotes[number];
            remote.client.handle_snapshot(&snapshot.bytes).unwrap();
            self.server.handle_outcome(remote.peer, snapshot.sequence, true);
        }
    }

    /// They are lost, and the server hears of it.
    pub fn lose(&mut self, number: usize, sent: &[Sent]) {
        for snapshot in sent {
            self.server.handle_outcome(self.remotes[number].peer, snapshot.sequence, false);
        }
    }

    /// One tick in which everything arrives at everyone. The bytes that each client was sent.
    pub fn tick(&mut self, budget_bytes: usize) -> Vec<usize> {
        self.server.begin_tick().unwrap();
        let all: Vec<Vec<Sent>> =
            (0..self.remotes.len()).map(|number| self.send(number, budget_bytes)).collect();
        for (number, sent) in all.iter().enumerate() {
            self.deliver(number, sent);
        }
        all.iter().map(|sent| bytes_of(sent)).collect()
    }
}

pub fn bytes_of(sent: &[Sent]) -> usize {
    sent.iter().map(|snapshot| snapshot.bytes.len()).sum()
}

/// xorshift64*: the same numbers in every run.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from −`limit` to `limit`.
    pub fn within(&mut self, limit: f64) -> f64 {
        ((self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * limit
    }
}
