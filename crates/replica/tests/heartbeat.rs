//! What is told of objects that do not change.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

const OBJECTS: u64 = 200;
const HEALTH: usize = 1;

fn classes() -> Vec<Class> {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("crate")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("health", FieldKind::int(0, 100).unwrap(), public, 100)
        .build()
        .unwrap();
    vec![Class::new(schema).unwrap()]
}

struct Pair {
    server: ReplicaServer,
    peer: ReplicaPeer,
    client: ReplicaClient,
    sequence: u64,
}

impl Pair {
    fn new(heartbeat: Heartbeat) -> Pair {
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        for id in 0..OBJECTS {
            let index = world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap();
            world.set_position(index, [id as f64, 0.0, 1.0]).unwrap();
            world.set(index, HEALTH, Value::Word(7)).unwrap();
        }
        let config = ServerConfig { heartbeat, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).unwrap();
        let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
        let client = ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        Pair { server, peer, client, sequence: 0 }
    }

    /// One tick over a perfect network; the bytes that it took.
    fn tick(&mut self, budget_bytes: usize) -> usize {
        self.server.begin_tick().unwrap();
        self.server.select(self.peer, budget_bytes);
        let (mut out, mut bytes) = ([0; 1_150], 0);
        while let Some(length) = self.server.poll_snapshot(self.peer, self.sequence, &mut out) {
            self.client.handle_snapshot(&out[..length]).unwrap();
            self.server.handle_outcome(self.peer, self.sequence, true);
            self.sequence += 1;
            bytes += length;
        }
        bytes
    }

    fn ticks(&mut self, count: usize) -> usize {
        (0..count).map(|_| self.tick(10_000)).sum()
    }

    fn health(&self) -> Vec<i32> {
        self.client.iter().map(|object| object.words()[4]).collect()
    }
}

#[test]
fn every_object_is_told_once_per_interval_within_a_twentieth_of_the_budget() {
    let mut pair = Pair::new(Heartbeat::Resend { ticks: 50 });
    pair.ticks(20);
    let told = |pair: &Pair| pair.server.written().entries;
    let (before, mut bytes) = (told(&pair), 0);
    for _ in 0..50 {
        let so_far = told(&pair);
        bytes += pair.tick(4_000);
        assert!(told(&pair) - so_far <= OBJECTS / 50, "and not all together");
    }
    assert_eq!(told(&pair) - before, OBJECTS);
    assert!(bytes <= 50 * 4_000 / 20, "{bytes} bytes");
}

#[test]
fn a_small_budget_only_makes_the_interval_longer() {
    let mut pair = Pair::new(Heartbeat::Resend { ticks: 10 });
    pair.ticks(20);
    let before = pair.server.written().entries;
    let bytes: usize = (0..1_000).map(|_| pair.tick(300)).sum();
    let told = pair.server.written().entries - before;
    assert!(told > 2 * OBJECTS && bytes <= 1_000 * 300 / 20, "{told} in {bytes} bytes");
}

#[test]
fn without_heartbeats_a_world_at_rest_costs_nothing() {
    let mut pair = Pair::new(Heartbeat::Off);
    pair.ticks(20);
    assert_eq!(pair.ticks(300), 0);
}

#[test]
fn a_digest_finds_what_a_client_holds_by_mistake_and_it_is_told_anew() {
    let mut pair = Pair::new(Heartbeat::Digest { ticks: 40 });
    pair.ticks(100);
    assert_eq!(pair.client.poll_mismatch(), None);

    // A second server of the same history says something else in one tick: the client believes it.
    let mut other = Pair::new(Heartbeat::Off);
    other.ticks(100);
    let index = other.server.world().find(ObjectId(70)).unwrap();
    other.server.world_mut().set(index, HEALTH, Value::Word(99)).unwrap();
    other.server.begin_tick().unwrap();
    other.server.select(other.peer, 10_000);
    let mut out = [0; 1_150];
    let length = other.server.poll_snapshot(other.peer, 0, &mut out).unwrap();
    pair.tick(10_000);
    pair.client.handle_snapshot(&out[..length]).unwrap();
    assert_eq!(pair.health().iter().filter(|health| **health == 99).count(), 1);

    let region = (0..100).find_map(|_| {
        pair.tick(10_000);
        pair.client.poll_mismatch()
    });
    assert_eq!(region, Some(1), "slot 70 is among the second 64");
    pair.server.handle_mismatch(pair.peer, 1);
    pair.ticks(100);
    assert_eq!(pair.health(), [7; OBJECTS as usize]);
    assert_eq!(pair.client.poll_mismatch(), None);
}

#[test]
fn a_mismatch_of_slots_that_do_not_exist_is_nothing() {
    let mut pair = Pair::new(Heartbeat::default());
    pair.ticks(20);
    let before = pair.server.written();
    for region in [4, 1_023, 1_024, u16::MAX] {
        pair.server.handle_mismatch(pair.peer, region);
    }
    pair.ticks(20);
    assert_eq!(pair.server.written().entries, before.entries);
}
