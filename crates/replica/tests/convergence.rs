//! Random worlds over a bad network: in the end every client holds what the server has, and never what it may not see.

use std::collections::VecDeque;

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::interest::{GridConfig, Policy, VisibleTo};
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, TeamId, World, WorldConfig};
use netloom_wire::schema::{Audience, FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

/// xorshift64*: enough to make trouble with.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn within(&mut self, limit: f32) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 * limit - limit
    }
}

const HEALTH: usize = 2;
const AMMO: usize = 3;

fn classes() -> Vec<Class> {
    let public = SyncFlags::PUBLIC_SYNC;
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("health", FieldKind::int(0, 100).unwrap(), public, 100)
        .field("ammo", FieldKind::int(0, 999).unwrap(), SyncFlags::OWNER_SYNC, 50)
        .field("hidden", FieldKind::Bool, public, 20)
        .field("secret", FieldKind::int(0, 9).unwrap(), SyncFlags::NO_SYNC, 10)
        .field("name", FieldKind::Text { bytes_max: 20 }, public, 1)
        .build()
        .unwrap();
    let crate_ = Schema::builder("crate")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("hidden", FieldKind::Bool, public, 20)
        .build()
        .unwrap();
    vec![Class::new(ship).unwrap(), Class::new(crate_).unwrap()]
}

/// A client behind a network that loses, delays, repeats and reorders.
struct Remote {
    peer: ReplicaPeer,
    config: PeerConfig,
    client: ReplicaClient,
    /// Snapshots on their way: when they arrive, their number, and their bytes.
    down: Vec<(u32, u64, Vec<u8>)>,
    /// What the server will learn: when, which snapshot, and whether it arrived.
    up: VecDeque<(u32, u64, bool)>,
    refusals: VecDeque<(u32, netloom_wire::Tick)>,
}

struct Game {
    rng: Rng,
    server: ReplicaServer,
    remotes: Vec<Remote>,
    objects: Vec<ObjectIndex>,
    now: u32,
    sequence: u64,
    loss_percent: u64,
    next_id: u64,
}

impl Game {
    fn new(seed: u64, policy: Policy) -> Game {
        let world = World::new(classes(), WorldConfig::default()).unwrap();
        let config =
            ServerConfig { policy, baseline_ticks: 1 + (seed % 4) as u32, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).unwrap();
        let remotes = (0..3u32)
            .map(|number| {
                let config = PeerConfig {
                    owner: OwnerId(number),
                    team: Some(TeamId(number as u16 % 2)),
                    groups: 0,
                    position: [0.0; 3],
                    view: None,
                };
                Remote {
                    peer: server.add_peer(config),
                    config,
                    client: ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic()),
                    down: Vec::new(),
                    up: VecDeque::new(),
                    refusals: VecDeque::new(),
                }
            })
            .collect();
        let rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Game { rng, server, remotes, objects: Vec::new(), now: 0, sequence: 0, loss_percent: 20, next_id: 1 }
    }

    fn change_world(&mut self) {
        for _ in 0..self.rng.below(3) {
            if self.objects.len() < 40 && self.rng.chance(60) {
                self.spawn();
            } else if !self.objects.is_empty() && self.rng.chance(30) {
                let place = self.rng.below(self.objects.len() as u64) as usize;
                let index = self.objects.swap_remove(place);
                self.server.world_mut().despawn(index).unwrap();
            }
        }
        for place in 0..self.objects.len() {
            let index = self.objects[place];
            if self.rng.chance(40) {
                let position = [0; 3].map(|_: i32| f64::from(self.rng.within(150.0)));
                let world = self.server.world_mut();
                world.set_position(index, position).unwrap();
            }
            if self.rng.chance(5) {
                let health = self.rng.below(101) as i32;
                let world = self.server.world_mut();
                if world.object(index).unwrap().class_id() == ClassId(0) {
                    world.set(index, HEALTH, Value::Word(health)).unwrap();
                    world.set(index, AMMO, Value::Word(health * 3)).unwrap();
                }
            }
            if self.rng.chance(2) {
                let owner = self.rng.below(4) as u32;
                self.server.world_mut().set_owner(index, (owner < 3).then_some(OwnerId(owner))).unwrap();
            }
            if self.rng.chance(1) {
                let profile = Profile::ALL[self.rng.below(4) as usize];
                self.server.world_mut().set_profile(index, profile).unwrap();
            }
        }
    }

    fn spawn(&mut self) {
        let class = ClassId(self.rng.below(2) as u8);
        let id = ObjectId(self.next_id);
        self.next_id += 1;
        let world = self.server.world_mut();
        let index = world.spawn(Spawn::new(id, class)).unwrap();
        world.set_position(index, [1.0, 2.0, 3.0]).unwrap();
        if index.slot() % 7 == 3 {
            let field = world.object(index).unwrap().class().schema().index_of("hidden").unwrap();
            world.set(index, field, Value::Bool(true)).unwrap();
            self.server.set_visible_to(index, VisibleTo::Team(1));
        }
        self.objects.push(index);
    }

    fn tick(&mut self, budget: usize) {
        self.now += 1;
        let now = self.now;
        self.server.begin_tick().unwrap();
        let mut out = [0; 600];
        for remote in &mut self.remotes {
            while remote.up.front().is_some_and(|&(at, ..)| at <= now) {
                let (_, sequence, acked) = remote.up.pop_front().unwrap();
                self.server.handle_outcome(remote.peer, sequence, acked);
            }
            while remote.refusals.front().is_some_and(|&(at, _)| at <= now) {
                let (_, tick) = remote.refusals.pop_front().unwrap();
                self.server.handle_refusal(remote.peer, tick);
            }
            self.server.select(remote.peer, budget);
            while let Some(length) = self.server.poll_snapshot(remote.peer, self.sequence, &mut out) {
                let delay = 1 + self.rng.below(4) as u32;
                if self.rng.chance(self.loss_percent) {
                    remote.up.push_back((now + 8, self.sequence, false));
                } else {
                    remote.down.push((now + delay, self.sequence, out[..length].to_vec()));
                    if self.rng.chance(5) {
                        remote.down.push((now + delay + 1, u64::MAX, out[..length].to_vec()));
                    }
                }
                self.sequence += 1;
            }
            let mut place = 0;
            while place < remote.down.len() {
                if remote.down[place].0 > now {
                    place += 1;
                    continue;
                }
                let (_, sequence, bytes) = remote.down.remove(place);
                let _read_or_refused = remote.client.handle_snapshot(&bytes);
                check_secrecy(remote);
                assert_eq!(remote.client.poll_mismatch(), None, "what rests is the same on both sides");
                if sequence != u64::MAX {
                    remote.up.push_back((now + 2, sequence, true));
                }
                while let Some(refusal) = remote.client.poll_refusal() {
                    remote.refusals.push_back((now + 2, refusal.tick));
                }
            }
            remote.up.make_contiguous().sort_unstable();
        }
    }

    /// What a client should hold, by class, audience and visible words.
    fn expected(&self, remote: &Remote) -> Vec<Vec<i32>> {
        let mut all: Vec<Vec<i32>> = (self.server.world().iter())
            .filter(|object| {
                let hidden = object.index().slot() % 7 == 3;
                !hidden
                    || remote.config.team == Some(TeamId(1))
                    || object.owner() == Some(remote.config.owner)
            })
            .map(|object| {
                let audience = object.audience(remote.config.owner, remote.config.team);
                visible_words(object.class(), object.class_id().0, object.words(), audience)
            })
            .collect();
        all.sort();
        all
    }
}

fn visible_words(
    class: &Class,
    number: u8,
    words: &[i32],
    audience: netloom_wire::schema::Audience,
) -> Vec<i32> {
    let visible = class.visible(audience);
    let mut row = vec![number.into(), audience as i32];
    for (index, field) in class.fields().iter().enumerate() {
        let is_content = matches!(field.kind, FieldKind::Text { .. } | FieldKind::Bytes { .. });
        if visible >> index & 1 != 0 && !is_content {
            row.extend_from_slice(&words[field.first..field.first + field.count]);
        }
    }
    row
}

/// Nobody holds what is hidden from him, at any time; but who owned it a moment ago may.
fn check_secrecy(remote: &Remote) {
    for object in remote.client.iter() {
        let class = remote.client.class(object).unwrap();
        let hidden = class.fields()[class.schema().index_of("hidden").unwrap()].first;
        let may_see = remote.config.team == Some(TeamId(1)) || object.audience() == Audience::Owner;
        assert!(object.words()[hidden] == 0 || may_see, "a hidden object");
    }
}

fn held(remote: &Remote) -> Vec<Vec<i32>> {
    let mut all: Vec<Vec<i32>> = (remote.client.iter())
        .map(|object| {
            let class = remote.client.class(object).unwrap();
            visible_words(class, object.class(), object.words(), object.audience())
        })
        .collect();
    all.sort();
    all
}

fn run(seed: u64, policy: Policy, budget: usize) {
    let mut game = Game::new(seed, policy);
    for _ in 0..150 {
        game.change_world();
        game.tick(budget);
    }
    game.loss_percent = 0;
    for _ in 0..120 {
        game.tick(budget);
    }
    for (number, remote) in game.remotes.iter().enumerate() {
        let (held, expected) = (held(remote), game.expected(remote));
        let extra: Vec<_> = held.iter().filter(|row| !expected.contains(row)).collect();
        let missing: Vec<_> = expected.iter().filter(|row| !held.contains(row)).collect();
        assert!(held == expected, "seed {seed}, client {number}: too much {extra:?}, missing {missing:?}");
        for object in remote.client.iter() {
            let class = remote.client.class(object).unwrap();
            let secret = class.schema().index_of("secret").map(|field| class.fields()[field].first);
            assert!(secret.is_none_or(|first| object.words()[first] == 0), "a field that nobody may see");
        }
    }
}

#[test]
fn every_client_ends_with_what_the_server_has() {
    for seed in 1..=150 {
        run(seed, Policy::Everyone, 500);
    }
}

#[test]
fn a_starved_budget_only_takes_longer() {
    for seed in 1..=80 {
        run(seed, Policy::Everyone, 60);
    }
}

#[test]
fn a_grid_that_reaches_everything_ends_the_same() {
    let policy = Policy::Grid(GridConfig { radius_metres: 10_000.0, ..GridConfig::default() });
    for seed in 1..=80 {
        run(seed, policy.clone(), 500);
    }
}
