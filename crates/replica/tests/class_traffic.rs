//! What the objects of each class cost, as the server counts it, is what went over the line.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{Delivery, Field, FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

const SHIP: ClassId = ClassId(0);
const ROCK: ClassId = ClassId(1);
const SHIPS: u64 = 100;
const ROCKS: u64 = 40;
/// A header, a count and what is left of the last byte.
const AROUND_UPDATES_BYTES: u64 = 8;
const ONE_SNAPSHOT_BYTES: usize = 1_150;

fn classes() -> Vec<Class> {
    let public = SyncFlags::PUBLIC_SYNC;
    let ship = Schema::builder("ship")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .field("name", FieldKind::Text { bytes_max: 40 }, public, 1)
        .build()
        .unwrap();
    let rock = Schema::builder("rock")
        .field("position", FieldKind::Position(Profile::Standard), public, 255)
        .with(Field::new("title", FieldKind::Text { bytes_max: 40 }, public, 1).delivered(Delivery::Reliable))
        .build()
        .unwrap();
    vec![Class::new(ship).unwrap(), Class::new(rock).unwrap()]
}

struct Game {
    server: ReplicaServer,
    ships: Vec<ObjectIndex>,
    rocks: Vec<ObjectIndex>,
    remotes: Vec<(ReplicaPeer, ReplicaClient)>,
    now: u32,
    value_bytes: u64,
    /// What goes to each peer in a tick.
    budget_bytes: usize,
}

impl Game {
    fn new(peers: u32, budget_bytes: usize) -> Game {
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        let ships = (0..SHIPS).map(|id| world.spawn(Spawn::new(ObjectId(id), SHIP)).unwrap()).collect();
        let rocks =
            (0..ROCKS).map(|id| world.spawn(Spawn::new(ObjectId(SHIPS + id), ROCK)).unwrap()).collect();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let client = || ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        let remotes =
            (0..peers).map(|owner| (server.add_peer(PeerConfig::new(OwnerId(owner))), client())).collect();
        Game { server, ships, rocks, remotes, now: 0, value_bytes: 0, budget_bytes }
    }

    /// Ships fly and have long names now and then; of the rocks every other rolls.
    fn tick(&mut self) {
        self.now += 1;
        let time = f64::from(self.now);
        let world = self.server.world_mut();
        for (number, &ship) in self.ships.iter().enumerate() {
            let phase = time * 0.05 + number as f64;
            world.set_position(ship, [phase.cos() * 80.0, phase.sin() * 80.0, 1.0]).unwrap();
            if (number as u32 + self.now).is_multiple_of(20) {
                let name = format!("{} is more than what fits into one word", self.now);
                world.set(ship, 1, Value::Text(&name)).unwrap();
            }
        }
        for (number, &rock) in self.rocks.iter().enumerate().filter(|(number, _)| number % 2 == 0) {
            world.set_position(rock, [time * 0.1, number as f64, 0.0]).unwrap();
        }
        self.server.begin_tick().unwrap();
        for (peer, _) in &self.remotes {
            self.server.select(*peer, self.budget_bytes);
        }
        self.server.encode();
        let mut out = [0; PROPERTY_MESSAGE_BYTES_MAX];
        for (peer, client) in &mut self.remotes {
            let mut sequence = u64::from(self.now) * 10;
            while let Some(length) = self.server.poll_snapshot(*peer, sequence, &mut out[..1_150]) {
                client.handle_snapshot(&out[..length]).unwrap();
                self.server.handle_outcome(*peer, sequence, true);
                sequence += 1;
            }
            while let Some(length) = self.server.poll_property(*peer, &mut out) {
                self.value_bytes += length as u64;
            }
            while client.poll_event().is_some() {}
        }
    }
}

#[test]
fn with_one_peer_the_classes_add_up_to_what_was_written() {
    let mut game = Game::new(1, ONE_SNAPSHOT_BYTES);
    (0..200).for_each(|_| game.tick());
    let (ship, rock) = (game.server.class_traffic(SHIP), game.server.class_traffic(ROCK));
    let written = game.server.written();
    assert_eq!(ship.updates + rock.updates, written.updates);
    assert_eq!(ship.entries + rock.entries, written.entries);
    assert!(
        ship.updates > 100 * SHIPS && ship.entries >= SHIPS && rock.entries >= ROCKS,
        "{ship:?} {rock:?}"
    );
    assert!(rock.updates > 2_000 && rock.updates < 210 * ROCKS / 2, "only every other rolls: {rock:?}");
    let counted = ship.bytes() + rock.bytes();
    let around = written.snapshots * AROUND_UPDATES_BYTES + 2;
    assert!(counted <= written.bytes && counted + around >= written.bytes, "{counted} of {}", written.bytes);
}

#[test]
fn of_many_peers_a_sample_tells_nearly_the_same() {
    let mut game = Game::new(16, 4_000);
    (0..100).for_each(|_| game.tick());
    let before = [SHIP, ROCK].map(|class| game.server.class_traffic(class));
    let written = game.server.written();
    (0..400).for_each(|_| game.tick());
    let since = [SHIP, ROCK].map(|class| game.server.class_traffic(class));
    let updates = since[0].updates + since[1].updates - before[0].updates - before[1].updates;
    let bytes = since[0].bytes() + since[1].bytes() - before[0].bytes() - before[1].bytes();
    let (exact, exact_bytes) =
        (game.server.written().updates - written.updates, game.server.written().bytes - written.bytes);
    assert!(updates.abs_diff(exact) * 20 < exact, "{updates} updates counted of {exact}");
    assert!(bytes.abs_diff(exact_bytes) * 20 < exact_bytes, "{bytes} bytes counted of {exact_bytes}");
    let ships = since[0].updates - before[0].updates;
    assert!(ships.abs_diff(400 * 16 * SHIPS) * 20 < 400 * 16 * SHIPS, "{ships} updates of ships");
}

#[test]
fn values_of_reliable_fields_count_for_their_class() {
    let mut game = Game::new(3, 4_000);
    (0..10).for_each(|_| game.tick());
    let before = game.server.class_traffic(ROCK).values;
    let rock = game.rocks[7];
    game.server.world_mut().set(rock, 1, Value::Text("the seventh")).unwrap();
    (0..3).for_each(|_| game.tick());
    let (ship, rock) = (game.server.class_traffic(SHIP), game.server.class_traffic(ROCK));
    assert_eq!((rock.values - before, rock.value_bytes, ship.values), (3, game.value_bytes, 0));
}

#[test]
fn the_world_knows_how_many_there_are_of_each_class() {
    let mut game = Game::new(1, 4_000);
    let count = |game: &Game| [SHIP, ROCK, ClassId(9)].map(|class| game.server.world().population(class));
    assert_eq!(count(&game), [SHIPS as usize, ROCKS as usize, 0]);
    game.server.world_mut().despawn(game.ships[3]).unwrap();
    assert!(game.server.world_mut().despawn(game.ships[3]).is_err(), "it is gone already");
    assert_eq!(count(&game), [SHIPS as usize - 1, ROCKS as usize, 0]);
}
