//! Records what a real server sends to one client over a bad network, for readers in other languages.
//!
//! The golden vectors show each rule once. Whether an implementation agrees with this one on everything that a server
//! does over time is shown by sessions at random: objects of all classes that move, turn, jump, change and go, while
//! snapshots are lost, late, repeated and out of order. With every snapshot that arrives stands what the reference
//! client made of it: the error, how many objects it sees, and the hash of all their words.
//!
//! ```text
//!   cargo run --release -p netloom-conformance --example record_sessions > bindings/js/test/recorded.json
//! ```

use std::collections::VecDeque;

use netloom_conformance::recorded_scenes::world_hash;
use netloom_conformance::replica_vectors::scene::{classes, table};
use netloom_replica::ClassId;
use netloom_replica::client::{ReplicaClient, SnapshotError};
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, TeamId, World, WorldConfig};
use netloom_wire::schema::Value as Property;
use netloom_wire::{ObjectId, Profile};
use serde_json::{Value, json};

const ME: OwnerId = OwnerId(7);
const DRONE: u8 = 4;

/// xorshift64*: enough to make trouble with.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn within(&mut self, limit: f64) -> f64 {
        (self.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0) * limit
    }
}

struct Mover {
    index: ObjectIndex,
    class: u8,
    position: [f64; 3],
    velocity: [f64; 3],
    angle: f64,
    spin: f64,
}

/// A server, its client, and the network between them.
struct Session {
    random: Random,
    server: ReplicaServer,
    peer: ReplicaPeer,
    client: ReplicaClient,
    movers: Vec<Mover>,
    /// When it arrives, its number, and its bytes.
    down: Vec<(u32, u64, Vec<u8>)>,
    /// When the server learns of which snapshot whether it arrived.
    up: VecDeque<(u32, u64, bool)>,
    now: u32,
    sequence: u64,
    next_id: u64,
    steps: Vec<Value>,
}

impl Session {
    fn new(seed: u64) -> Session {
        let world = World::new(classes(), WorldConfig::default()).expect("a small world");
        let config = ServerConfig { baseline_ticks: 1 + (seed % 4) as u32, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).expect("a valid configuration");
        let peer = server.add_peer(PeerConfig { team: Some(TeamId(1)), ..PeerConfig::new(ME) });
        Session {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            server,
            peer,
            client: ReplicaClient::new(table(), Codes::generic()),
            movers: Vec::new(),
            down: Vec::new(),
            up: VecDeque::new(),
            now: 0,
            sequence: 0,
            next_id: 1,
            steps: Vec::new(),
        }
    }

    fn spawn(&mut self, class: u8) {
        let owner = self.random.chance(20).then_some(ME);
        let spawn = Spawn { owner, ..Spawn::new(ObjectId(self.next_id), ClassId(class)) };
        self.next_id += 1;
        let index = self.server.world_mut().spawn(spawn).expect("a new id");
        let position = [0; 3].map(|_| self.random.within(250.0));
        let velocity = [0; 3].map(|_| self.random.within(10.0));
        let spin = self.random.within(3.0);
        self.movers.push(Mover { index, class, position, velocity, angle: 0.0, spin });
    }

    /// Everything moves on by a tick of 50 ms, erratically; with `trouble`, it does much else.
    fn change_world(&mut self, trouble: bool) {
        if trouble && self.movers.len() < 24 && self.random.chance(40) {
            let class = self.random.below(5) as u8;
            self.spawn(class);
        }
        if trouble && self.movers.len() > 4 && self.random.chance(8) {
            let place = self.random.below(self.movers.len() as u64) as usize;
            let gone = self.movers.swap_remove(place);
            self.server.world_mut().despawn(gone.index).expect("it is there");
        }
        let mut movers = std::mem::take(&mut self.movers);
        for mover in &mut movers {
            if trouble {
                self.disturb(mover);
            } else {
                mover.velocity = mover.velocity.map(|speed| speed + self.random.within(2.0));
                mover.spin += self.random.within(0.5);
            }
            for (axis, speed) in mover.position.iter_mut().zip(mover.velocity) {
                *axis += speed * 0.05;
            }
            mover.angle += mover.spin * 0.05;
            self.show(mover);
        }
        self.movers = movers;
    }

    /// Places and turns what can be placed and turned; the rest refuses.
    fn show(&mut self, mover: &Mover) {
        let world = self.server.world_mut();
        let (sine, cosine) = (mover.angle / 2.0).sin_cos();
        let turned = [0.6 * sine, 0.0, 0.8 * sine, cosine].map(|part| part as f32);
        if matches!(mover.class, 0 | 1 | DRONE) {
            world.set_position(mover.index, mover.position).expect("it has a position");
        }
        if matches!(mover.class, 0 | 3 | DRONE) {
            world.set_rotation(mover.index, turned).expect("it has a rotation");
        }
        if mover.class == 0 {
            world
                .set_velocity(mover.index, mover.velocity.map(|axis| axis as f32))
                .expect("it has a velocity");
        }
    }

    fn disturb(&mut self, mover: &mut Mover) {
        let index = mover.index;
        if self.random.chance(10) {
            mover.velocity = [0; 3].map(|_| self.random.within(20.0));
            mover.spin = self.random.within(4.0);
        }
        if self.random.chance(10) {
            (mover.velocity, mover.spin) = ([0.0; 3], 0.0);
        }
        if self.random.chance(2) && matches!(mover.class, 0 | 1 | DRONE) {
            mover.position = [0; 3].map(|_| self.random.within(600.0));
            self.server.world_mut().teleport(index).expect("it is there");
        }
        if self.random.chance(1) {
            let profile = Profile::ALL[self.random.below(4) as usize];
            self.server.world_mut().set_profile(index, profile).expect("it is there");
        }
        if self.random.chance(1) {
            let owner = self.random.chance(50).then_some(ME);
            self.server.world_mut().set_owner(index, owner).expect("it is there");
        }
        if mover.class == 0 && self.random.chance(15) {
            self.change_fields(index);
        }
    }

    fn change_fields(&mut self, index: ObjectIndex) {
        let (number, wide) = (self.random.below(100) as i32, self.random.below(1 << 40));
        let scale = [0; 3].map(|_| self.random.within(9.0).abs() as f32);
        let text = format!("ship {number} {}", if number % 2 == 0 { "ünder way" } else { "" });
        let world = self.server.world_mut();
        let mut set = |field: usize, value: Property<'_>| world.set(index, field, value).expect("a value");
        match number % 8 {
            0 => set(4, Property::Word(5 + number)),
            1 => set(5, Property::Word(number * 10)),
            2 => set(6, Property::Word(number * 19_000_000)),
            3 => set(7, Property::Bool(number > 50)),
            4 => set(8, Property::F32(number as f32 / 7.0)),
            5 => set(10, Property::U64(wide)),
            6 => set(11, Property::Text(text.get(..20).unwrap_or("ship"))),
            _ => world.set_scale(index, scale).expect("it has a scale"),
        }
    }

    /// A tick of the server, and what arrives in it at the client.
    fn tick(&mut self, budget: usize, loss_percent: u64, jitter_ticks: u64) {
        self.now += 1;
        let now = self.now;
        self.server.begin_tick().expect("ticks go forward");
        while self.up.front().is_some_and(|&(at, ..)| at <= now) {
            let (_, sequence, acked) = self.up.pop_front().expect("one was there");
            self.server.handle_outcome(self.peer, sequence, acked);
        }
        self.server.select(self.peer, budget);
        let mut out = [0; 1_100];
        while let Some(length) = self.server.poll_snapshot(self.peer, self.sequence, &mut out) {
            let bytes = out[..length].to_vec();
            let delay = 1 + self.random.below(jitter_ticks) as u32;
            if self.random.chance(loss_percent) {
                self.up.push_back((now + 8, self.sequence, false));
            } else {
                if self.random.chance(loss_percent / 2) {
                    self.down.push((now + delay + 2, u64::MAX, bytes.clone()));
                }
                self.down.push((now + delay, self.sequence, bytes));
            }
            self.sequence += 1;
        }
        let (due, later) = std::mem::take(&mut self.down).into_iter().partition(|(at, ..)| *at <= now);
        self.down = later;
        let due: Vec<(u32, u64, Vec<u8>)> = due;
        for (_, sequence, bytes) in due {
            self.arrive(&bytes);
            if sequence != u64::MAX {
                self.up.push_back((now + 1, sequence, true));
            }
        }
        self.up.make_contiguous().sort_unstable();
    }

    fn arrive(&mut self, bytes: &[u8]) {
        let error = self.client.handle_snapshot(bytes).err().map(|error| match error {
            SnapshotError::Malformed(error) => format!("{error:?}"),
            SnapshotError::UnknownObject(_) => "UnknownObject".to_owned(),
            SnapshotError::MissingBaseline { .. } => "MissingBaseline".to_owned(),
        });
        while let Some(refusal) = self.client.poll_refusal() {
            self.server.handle_refusal(self.peer, refusal.tick);
        }
        let tick = self.client.newest().unwrap_or_default();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = format!("{:016x}", world_hash(&self.client, tick));
        self.steps.push(json!([hex, error, tick.0, self.client.len(), hash]));
    }
}

fn trouble(seed: u64) -> Value {
    let mut session = Session::new(seed);
    for _ in 0..70 {
        session.change_world(true);
        session.tick(400, 15, 4);
    }
    json!({ "name": format!("trouble, seed {seed}"), "steps": session.steps })
}

fn crowd() -> Value {
    let mut session = Session::new(1);
    (0..200).for_each(|_| session.spawn(DRONE));
    for _ in 0..40 {
        session.change_world(false);
        session.tick(20_000, 0, 1);
    }
    json!({ "name": "200 drones in motion", "steps": session.steps })
}

fn main() {
    let sessions: Vec<Value> = std::iter::once(crowd()).chain((1..=9).map(trouble)).collect();
    println!(
        "{}",
        json!({
            "about": "Snapshots in the order in which a client received them. steps: the bytes, the error or null, the \
                      newest tick, how many objects are in sight, and the hash of their words at that tick.",
            "sessions": sessions,
        })
    );
}
