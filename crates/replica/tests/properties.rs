//! Texts, bytes and arrays over a bad network: the newest ones through snapshots, every one beside them.
//!
//! Snapshots are lost, delayed and reordered; the channel of reliable properties only delays, as a reliable channel does.

use std::collections::VecDeque;

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{ArrayWriter, Delivery, ElementKind, Field, FieldKind, SyncFlags, Value};
use netloom_wire::{Alias, ObjectId, Schema};

const CELLS: usize = 0;
const SAID: usize = 1;
const ORDERS: usize = 2;
const ORDERS_KIND: ElementKind = ElementKind::U64;
const OBJECTS: usize = 5;
/// Old states are forgotten by then, so that entries are sent again.
const TICKS: u32 = 400;

/// Cells that ride in snapshots, what was said to everyone, and orders for the owner.
fn classes() -> Vec<Class> {
    let (public, owner) = (SyncFlags::PUBLIC_SYNC, SyncFlags::OWNER_SYNC);
    let cells = FieldKind::Array { element: ElementKind::int(0, 6).unwrap(), count_max: 90 };
    let orders = FieldKind::Array { element: ORDERS_KIND, count_max: 2_000 };
    let schema = Schema::builder("field")
        .field("cells", cells, public, 9)
        .with(Field::new("said", FieldKind::Text { bytes_max: 100 }, public, 8).delivered(Delivery::Reliable))
        .with(Field::new("orders", orders, owner, 7).delivered(Delivery::Reliable))
        .build();
    vec![Class::new(schema.unwrap()).unwrap()]
}

/// A generator that is good enough to make trouble with.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

struct Remote {
    peer: ReplicaPeer,
    owner: OwnerId,
    client: ReplicaClient,
    snapshots: Vec<(u32, u64, Vec<u8>)>,
    outcomes: Vec<(u32, u64, bool)>,
    channel: VecDeque<(u32, Vec<u8>)>,
    /// What the client saw being said, by object.
    heard: Vec<Vec<String>>,
}

struct Game {
    rng: Rng,
    server: ReplicaServer,
    remotes: Vec<Remote>,
    objects: Vec<ObjectIndex>,
    /// Everything that was said, by object.
    said: Vec<Vec<String>>,
    sequence: u64,
    now: u32,
}

impl Game {
    fn new(seed: u64) -> Game {
        let world = World::new(classes(), WorldConfig::default()).unwrap();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let spawn = |id: usize| Spawn {
            owner: Some(OwnerId(id as u32 % 2)),
            ..Spawn::new(ObjectId(id as u64), ClassId(0))
        };
        let objects = (0..OBJECTS).map(|id| server.world_mut().spawn(spawn(id)).unwrap()).collect();
        let remotes = (0..2)
            .map(|number| {
                let owner = OwnerId(number);
                Remote {
                    peer: server.add_peer(PeerConfig::new(owner)),
                    owner,
                    client: ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic()),
                    snapshots: Vec::new(),
                    outcomes: Vec::new(),
                    channel: VecDeque::new(),
                    heard: vec![Vec::new(); OBJECTS],
                }
            })
            .collect();
        let rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Game { rng, server, remotes, objects, said: vec![Vec::new(); OBJECTS], sequence: 0, now: 0 }
    }

    fn change_world(&mut self) {
        let number = self.rng.below(OBJECTS as u64) as usize;
        let index = self.objects[number];
        let world = self.server.world_mut();
        let mut buffer = [0; 20_000];
        let mut cells = ArrayWriter::new(ElementKind::int(0, 6).unwrap(), 90, &mut buffer);
        cells.extend((0..self.rng.below(91)).map(|cell| Value::Word((cell % 7) as i32)));
        world.set(index, CELLS, Value::Array(cells.finish().unwrap())).unwrap();
        for _ in 0..self.rng.below(3) {
            let line = format!("{} at {}", self.said[number].len(), self.now);
            world.set(index, SAID, Value::Text(&line)).unwrap();
            self.said[number].push(line);
        }
        let mut orders = ArrayWriter::new(ORDERS_KIND, 2_000, &mut buffer);
        orders.extend((0..self.rng.below(2_001)).map(Value::U64));
        world.set(index, ORDERS, Value::Array(orders.finish().unwrap())).unwrap();
        if self.rng.below(20) == 0 {
            world.set_owner(index, Some(OwnerId(self.rng.below(3) as u32))).unwrap();
        }
    }

    fn tick(&mut self) {
        self.now += 1;
        self.server.begin_tick().unwrap();
        for place in 0..self.remotes.len() {
            self.send(place);
            self.receive(place);
        }
    }

    fn send(&mut self, place: usize) {
        let Game { server, rng, now, sequence, .. } = self;
        let remote = &mut self.remotes[place];
        remote.outcomes.retain(|&(at, sequence, acked)| {
            let is_due = at <= *now;
            if is_due {
                server.handle_outcome(remote.peer, sequence, acked);
            }
            !is_due
        });
        while let Some(refusal) = remote.client.poll_refusal() {
            server.handle_refusal(remote.peer, refusal.tick);
        }
        server.select(remote.peer, 700);
        let mut out = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
        while let Some(length) = server.poll_snapshot(remote.peer, *sequence, &mut out[..1_150]) {
            match rng.below(4) {
                0 => remote.outcomes.push((*now + 6, *sequence, false)),
                _ => {
                    remote.snapshots.push((*now + 1 + rng.below(4) as u32, *sequence, out[..length].to_vec()))
                }
            }
            *sequence += 1;
        }
        // The channel takes a few messages a tick.
        for _ in 0..3 {
            if let Some(length) = server.poll_property(remote.peer, &mut out) {
                remote.channel.push_back((*now + 1 + rng.below(3) as u32, out[..length].to_vec()));
            }
        }
    }

    fn receive(&mut self, place: usize) {
        let (now, remote) = (self.now, &mut self.remotes[place]);
        while remote.channel.front().is_some_and(|&(at, _)| at <= now) {
            let (_, message) = remote.channel.pop_front().unwrap();
            remote.client.handle_property(&message).unwrap();
        }
        let Remote { client, snapshots, outcomes, .. } = remote;
        snapshots.retain(|(at, sequence, bytes)| {
            let is_due = *at <= now;
            if is_due {
                let _read_or_refused = client.handle_snapshot(bytes);
                outcomes.push((now + 2, *sequence, true));
            }
            !is_due
        });
        assert_eq!(client.poll_mismatch(), None, "what rests is the same on both sides");
        while let Some(applied) = client.poll_property().unwrap() {
            let object = client.object(applied.alias).unwrap();
            let value = object.value(client.class(object).unwrap(), applied.field);
            if let (SAID, Some(Value::Text(line))) = (applied.field, value) {
                remote.heard[usize::from(applied.alias.slot)].push(line.to_owned());
            }
        }
    }

    fn check(&self) {
        for remote in &self.remotes {
            assert_eq!(remote.client.len(), OBJECTS);
            assert_eq!(self.server.property_counters(remote.peer).unwrap().resyncs, 0);
            for object in self.server.world().iter() {
                let slot = object.index().slot();
                let held = remote.client.object(Alias { slot: slot as u16, generation: 0 }).unwrap();
                let class = remote.client.class(held).unwrap();
                let value = |field| held.value(class, field).unwrap();
                assert_eq!(value(CELLS), object.get(CELLS).unwrap());
                assert_eq!(value(SAID), object.get(SAID).unwrap());
                if object.owner() == Some(remote.owner) {
                    assert_eq!(value(ORDERS), object.get(ORDERS).unwrap());
                } else {
                    assert!(
                        matches!(value(ORDERS), Value::Array(orders) if orders.is_empty()),
                        "no longer its business"
                    );
                }
                assert!(
                    self.said[slot].ends_with(&remote.heard[slot]),
                    "every line once it came into sight, in order"
                );
                assert!(remote.heard[slot].len() > 20);
            }
        }
    }
}

#[test]
fn clients_end_with_the_newest_contents_and_heard_every_line() {
    for seed in 1..=10 {
        let mut game = Game::new(seed);
        for _ in 0..TICKS {
            game.change_world();
            game.tick();
        }
        (0..600).for_each(|_| game.tick());
        game.check();
    }
}
