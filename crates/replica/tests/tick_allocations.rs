//! A tick of replication does not touch the heap, neither on the server nor on a client.
//!
//! Everything moves, values and texts change, snapshots are lost, and acknowledgements come after different times.

use std::collections::VecDeque;

use netloom_count::allocations;
use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

const OBJECTS: u64 = 120;
const PEERS: u32 = 6;

fn classes() -> Vec<Class> {
    let public = SyncFlags::PUBLIC_SYNC;
    let schema = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("rotation", FieldKind::Rotation(Profile::Standard), public, 254)
        .field("ammo", FieldKind::int(0, 999).unwrap(), SyncFlags::OWNER_SYNC, 50)
        .field("name", FieldKind::Text { bytes_max: 40 }, public, 1)
        .build()
        .unwrap();
    vec![Class::new(schema).unwrap()]
}

struct Remote {
    peer: ReplicaPeer,
    client: ReplicaClient,
    /// When the server hears of a snapshot, and what.
    outcomes: VecDeque<(u32, u64, bool)>,
}

struct Game {
    server: ReplicaServer,
    objects: Vec<ObjectIndex>,
    remotes: Vec<Remote>,
    sequence: u64,
    now: u32,
    loses_some: bool,
}

impl Game {
    fn new() -> Game {
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        let spawn =
            |id| Spawn { owner: Some(OwnerId(id as u32 % PEERS)), ..Spawn::new(ObjectId(id), ClassId(0)) };
        let objects = (0..OBJECTS).map(|id| world.spawn(spawn(id)).unwrap()).collect();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let remotes = (0..PEERS).map(|owner| Remote {
            peer: server.add_peer(PeerConfig::new(OwnerId(owner))),
            client: ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic()),
            outcomes: VecDeque::with_capacity(64),
        });
        let remotes = remotes.collect();
        Game { server, objects, remotes, sequence: 0, now: 0, loses_some: true }
    }

    fn move_everything(&mut self) {
        let time = f64::from(self.now);
        let world = self.server.world_mut();
        for (number, &index) in self.objects.iter().enumerate() {
            let phase = time * 0.05 + number as f64;
            world.set_position(index, [phase.cos() * 80.0, phase.sin() * 80.0, number as f64]).unwrap();
            let half = (phase / 2.0) as f32;
            world.set_rotation(index, [0.0, 0.0, half.sin(), half.cos()]).unwrap();
            if (number as u32 + self.now).is_multiple_of(10) {
                world.set(index, 2, Value::Word((self.now % 1_000) as i32)).unwrap();
                let name = ["a ship", "a ship whose name is somewhat longer"][self.now as usize / 10 % 2];
                world.set(index, 3, Value::Text(name)).unwrap();
            }
        }
    }

    fn tick(&mut self) {
        self.now += 1;
        self.move_everything();
        let (server, now) = (&mut self.server, self.now);
        for remote in &mut self.remotes {
            while let Some((_, sequence, acked)) = remote.outcomes.pop_front_if(|outcome| outcome.0 <= now) {
                server.handle_outcome(remote.peer, sequence, acked);
            }
        }
        server.begin_tick().unwrap();
        for (number, remote) in self.remotes.iter().enumerate() {
            // Enough for the first, too little for the others.
            server.select(remote.peer, if number == 0 { 3_000 } else { 400 });
        }
        server.encode();
        let mut out = [0; 1_150];
        for (number, remote) in self.remotes.iter_mut().enumerate() {
            while let Some(length) = server.poll_snapshot(remote.peer, self.sequence, &mut out) {
                let arrives = !self.loses_some || !self.sequence.is_multiple_of(11);
                if arrives {
                    remote.client.handle_snapshot(&out[..length]).unwrap();
                }
                remote.outcomes.push_back((now + 1 + number as u32, self.sequence, arrives));
                self.sequence += 1;
            }
            while remote.client.poll_event().is_some() {}
        }
    }
}

#[test]
fn a_steady_tick_allocates_nothing_on_either_side() {
    let mut game = Game::new();
    (0..2_000).for_each(|_| game.tick());
    let (before, written) = (allocations(), game.server.written());
    (0..200).for_each(|_| game.tick());
    assert_eq!(allocations() - before, 0);
    let written_since = game.server.written().updates - written.updates;
    assert!(written_since > 30_000, "{written_since} updates");
    assert!(game.remotes.iter().all(|remote| remote.client.len() == OBJECTS as usize));
}

#[test]
fn nor_does_a_tick_in_which_snapshots_begin_to_get_lost() {
    let mut game = Game::new();
    game.loses_some = false;
    (0..2_000).for_each(|_| game.tick());
    game.loses_some = true;
    let before = allocations();
    (0..200).for_each(|_| game.tick());
    assert_eq!(allocations() - before, 0);
}
