//! Recording, verifying views and asking the past do not touch the heap, while objects come and go.

use netloom_count::allocations;
use netloom_replica::codec::Codes;
use netloom_replica::server::rewind::{
    Filter, Hit, HitModel, HitPart, PartId, PeerTiming, Pose, Rewind, RewindConfig, Shape,
};
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Micros, ObjectId, Profile, Schema, Tick};

const OBJECTS: u64 = 100;
const STEP: Micros = Micros(16_667);

struct Game {
    rewind: Rewind,
    objects: Vec<ObjectIndex>,
    peer: ReplicaPeer,
    hits: Vec<Hit>,
    now: Micros,
    found: usize,
}

impl Game {
    fn new() -> Game {
        let position = FieldKind::Position(Profile::Standard);
        let schema = Schema::builder("walker").field("position", position, SyncFlags::PUBLIC_SYNC, 255);
        let classes = vec![Class::new(schema.build().unwrap()).unwrap()];
        let mut world = World::new(classes, WorldConfig::default()).unwrap();
        let objects = (0..OBJECTS).map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap());
        let objects = objects.collect();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let peer = server.add_peer(PeerConfig::new(OwnerId(0)));
        let rewind = Rewind::new(RewindConfig { objects_max: 100, ..RewindConfig::default() }).unwrap();
        Game { rewind, objects, peer, hits: Vec::with_capacity(100), now: Micros::from_secs(1), found: 0 }
    }

    fn start(&mut self) {
        let body = Shape::capsule([0.0, 0.0, 0.3], [0.0, 0.0, 1.5], 0.4).unwrap();
        let model = HitModel::new(&[HitPart { part: PartId(0), shape: body }]).unwrap();
        let model = self.rewind.add_model(model.with_eye([0.0, 0.0, 1.2]).unwrap()).unwrap();
        self.objects.iter().for_each(|&object| self.rewind.track(object, model, 1).unwrap());
        self.tick_with(0, |_| {});
    }

    fn tick_with(&mut self, step: u32, churn: impl FnOnce(&mut Rewind)) {
        self.now += STEP;
        churn(&mut self.rewind);
        let angle = |object: ObjectIndex| object.slot() as f64 * 0.7 + f64::from(step) * 0.01;
        let place = |object: ObjectIndex| {
            let radius = 3.0 + object.slot() as f64 / 5.0;
            [radius * angle(object).cos(), radius * angle(object).sin(), 0.0]
        };
        let pose = |object| Some(Pose::new(place(object), [0.0, 0.0, 0.0, 1.0]));
        self.rewind.record(Tick(step), self.now, pose).unwrap();
        let timing = PeerTiming {
            rtt: Micros::from_millis(60),
            interpolation_delay: Micros::from_millis(100),
            input_wait: Micros::from_millis(10),
            newest_acked: self.now - Micros::from_millis(60),
        };
        self.rewind.set_peer(self.peer, timing).unwrap();
        let view = self.rewind.view(self.peer, self.now - timing.rewind()).unwrap();
        let shooter = self.objects[50];
        let direction = [angle(shooter).sin(), -1.0, 0.0];
        let filter = Filter::default();
        self.found +=
            usize::from(self.rewind.ray(view, shooter, direction, 90.0, &filter).unwrap().is_some());
        self.rewind.ray_all(view, shooter, direction, 90.0, &filter, &mut self.hits).unwrap();
        self.found += self.hits.len();
        let blast = Shape::sphere(place(shooter), 5.0).unwrap();
        self.rewind.overlap(view, &blast, &filter, &mut self.hits).unwrap();
        self.found += self.hits.len();
    }
}

#[test]
fn a_step_of_lag_compensation_allocates_nothing() {
    let mut game = Game::new();
    game.start();
    let body = Shape::sphere([0.0, 0.0, 1.0], 1.0).unwrap();
    let model = HitModel::new(&[HitPart { part: PartId(1), shape: body }]).unwrap();
    let model = game.rewind.add_model(model).unwrap();
    let before = allocations();
    for step in 1..1_000 {
        // One leaves and comes back as another in every step, but not who shoots.
        let replaced = game.objects[step as usize * 7 % 50];
        game.tick_with(step, |rewind| {
            rewind.untrack(replaced).unwrap();
            rewind.track(replaced, model, 1).unwrap();
        });
    }
    assert_eq!(allocations() - before, 0);
    assert!(game.found > 5_000, "{} hits", game.found);
    let counters = game.rewind.view_counters(game.peer).unwrap();
    assert_eq!((counters.believed, counters.outside_history), (989, 11), "all but before 170 ms were kept");
}
