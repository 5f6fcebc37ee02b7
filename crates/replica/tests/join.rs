//! Somebody joins a world that is larger than a tick's budget.

use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, Progress, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_replica::{Class, ClassId, Pose};
use netloom_wire::schema::{Audience, FieldKind, SyncFlags, Value};
use netloom_wire::{Alias, ObjectId, Profile, Schema};

const OBJECTS: u64 = 1_000;
const PLAYER: OwnerId = OwnerId(7);

struct Join {
    server: ReplicaServer,
    client: ReplicaClient,
    peer: ReplicaPeer,
    objects: Vec<ObjectIndex>,
    sequence: u64,
}

impl Join {
    /// Objects on a line, a metre apart; the last is the player's own.
    fn new() -> Join {
        let schema = Schema::builder("thing")
            .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
            .field("number", FieldKind::int(0, 65_535).unwrap(), SyncFlags::PUBLIC_SYNC, 1)
            .build()
            .unwrap();
        let classes = || vec![Class::new(schema.clone()).unwrap()];
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        let mut objects = Vec::new();
        for number in 0..OBJECTS {
            let owner = (number == OBJECTS - 1).then_some(PLAYER);
            let spawn = Spawn { owner, ..Spawn::new(ObjectId(number), ClassId(0)) };
            let index = world.spawn(spawn).unwrap();
            world.set_position(index, [number as f64, 0.0, 0.0]).unwrap();
            world.set(index, 1, Value::Word(number as i32)).unwrap();
            objects.push(index);
        }
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let eye = PeerConfig { position: [500.0, 0.0, 0.0], ..PeerConfig::new(PLAYER) };
        let peer = server.add_peer(eye);
        let client = ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        Join { server, client, peer, objects, sequence: 0 }
    }

    fn tick(&mut self, budget_bytes: usize) {
        self.server.begin_tick().unwrap();
        self.server.select(self.peer, budget_bytes);
        let mut out = [0; 1_150];
        while let Some(length) = self.server.poll_snapshot(self.peer, self.sequence, &mut out) {
            self.client.handle_snapshot(&out[..length]).unwrap();
            self.server.handle_outcome(self.peer, self.sequence, true);
            self.sequence += 1;
        }
    }

    fn numbers(&self) -> Vec<i32> {
        let number = |value| if let Some(Value::Word(number)) = value { number } else { -1 };
        let class = |object| self.client.class(object).unwrap();
        self.client.iter().map(|object| number(object.value(class(object), 1))).collect()
    }
}

#[test]
fn what_is_near_comes_first_and_the_own_object_before_everything() {
    let mut join = Join::new();
    join.tick(1_000);
    let numbers = join.numbers();
    assert!((20..200).contains(&numbers.len()), "{} of {OBJECTS} fitted", numbers.len());
    assert!(numbers.contains(&(OBJECTS as i32 - 1)), "its own");
    let reach = numbers.len() as i32 / 2 + 1;
    let far = numbers.iter().filter(|number| (**number - 500).abs() > reach).count();
    assert_eq!(far, 1, "nothing far but its own: {numbers:?}");
}

#[test]
fn progress_grows_to_all_there_is() {
    let mut join = Join::new();
    assert_eq!(
        join.server.progress(join.peer),
        Some(Progress { held: 0, total: 0 }),
        "nothing was looked at yet"
    );
    let mut last = 0;
    for _ in 0..200 {
        join.tick(1_000);
        let progress = join.server.progress(join.peer).unwrap();
        assert_eq!(progress.total as u64, OBJECTS);
        assert!(progress.held >= last);
        last = progress.held;
        if progress.held == progress.total {
            break;
        }
    }
    assert_eq!(last as u64, OBJECTS);
    assert_eq!(join.client.len() as u64, OBJECTS);
}

#[test]
fn aliases_and_objects_lead_to_each_other_and_only_for_what_is_seen() {
    let mut join = Join::new();
    (0..60).for_each(|_| join.tick(4_000));
    let aliases: Vec<Alias> = join.client.iter().map(|object| object.alias()).collect();
    assert_eq!(aliases.len() as u64, OBJECTS);
    for alias in aliases {
        let index = join.server.object_of(join.peer, alias).expect("it was told");
        assert_eq!(join.server.alias_of(join.peer, index), Some(alias));
        let other = Alias { generation: alias.generation.wrapping_add(1), ..alias };
        assert_eq!(join.server.object_of(join.peer, other), None, "another lifetime");
    }
    let gone = join.objects[3];
    let alias = join.server.alias_of(join.peer, gone).unwrap();
    join.server.world_mut().despawn(gone).unwrap();
    assert_eq!(join.server.alias_of(join.peer, gone), None);
    join.tick(4_000);
    assert_eq!(join.server.object_of(join.peer, alias), None);
    let own = join.client.iter().find(|object| object.audience() == Audience::Owner).map(|own| own.alias());
    assert_eq!(own, join.server.alias_of(join.peer, join.objects[OBJECTS as usize - 1]));
}

#[test]
fn the_pose_of_an_object_is_what_the_game_said_last() {
    let mut join = Join::new();
    let [parent, child] = [join.objects[0], join.objects[1]];
    let world = join.server.world_mut();
    world.set_position(parent, [10.0, 0.0, 0.0]).unwrap();
    world.attach(child, Some(parent)).unwrap();
    world.set_position(child, [0.0, 2.0, 0.0]).unwrap();
    assert_eq!(
        world.pose(child),
        Some(Pose::new([10.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0])),
        "before any commit"
    );
    world.despawn(child).unwrap();
    assert_eq!(world.pose(child), None);
}
