//! Lag compensation: shots at 100 capsules that walk, judged at what the shooters saw.

use super::{Measured, microseconds, progress};
use crate::error::BenchError;
use crate::measure::interleaved;
use crate::suites::Options;
use crate::table::Target;
use netloom_count::allocations;
use netloom_replica::codec::Codes;
use netloom_replica::server::rewind::{
    Filter, Hit, HitModel, HitPart, ModelId, PartId, PeerTiming, Pose, Rewind, RewindConfig, RewindError,
    Shape, ViewCounters,
};
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_replica::{Class, ClassId};
use netloom_scene::generate::walk::Walk;
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{Micros, ObjectId, Profile, Schema, Tick};
use std::hint::black_box;

const WORKLOAD: &str = "rewind";
const CAPSULES: usize = 100;
/// Half the edge of the ground that they walk on.
const GROUND_METRES: f32 = 25.0;
const STEP: Micros = Micros(16_667);
/// The history is full and every place in it was written more than once.
const STEPS: u32 = 200;
const SHOTS: usize = 256;
/// Every so many shots aim beside their target, where somebody else or nobody is.
const ASIDE_EVERY: usize = 2;
const RANGE_METRES: f64 = 200.0;
const BLAST_METRES: f64 = 5.0;
/// Steps and shots in which nothing may be allocated: a minute.
const STEADY_STEPS: u32 = 3_600;

const NOTES: &[&str] = &[
    "Rewind: 100 capsules on 50 m x 50 m, 60 records a second, a second of them kept. A query verifies what the client",
    "  claims to have seen, 170 ms ago give or take 4, and asks what the ray from a shooter's eye hits first there. Half",
    "  of the shots aim at a capsule where it was seen, half two metres beside it. Every shot that aims must hit, or there is",
    "  no figure.",
];

/// The rows of this file.
pub fn measure(options: &Options) -> Result<Measured, BenchError> {
    progress(WORKLOAD);
    let (mut range, mut other, mut third) = (Range::new()?, Range::new()?, Range::new()?);
    let mut recorder = Range::new()?;
    let ns = interleaved(
        options.batches,
        &mut [&mut |n| range.shoot(n), &mut |n| other.shoot_through(n), &mut |n| third.blast(n), &mut |n| {
            (0..n).for_each(|_| recorder.record())
        }],
    );
    for range in [&range, &other, &third, &recorder] {
        range.verdict()?;
    }
    let rows = vec![
        microseconds("rewound ray over 100 capsules", "rewind_us", Target::AtMost(10.0), ns[0]),
        microseconds("  all that it passes through", "rewind_all_us", Target::None, ns[1]),
        microseconds("  a sphere of 5 m instead", "rewind_sphere_us", Target::None, ns[2]),
        microseconds("  recording a step of 100", "rewind_record_us", Target::None, ns[3]),
    ];
    Ok(Measured { rows, allocations: allocated()?, notes: NOTES })
}

/// Allocations in a minute of recording, and of shooting with everything there is in each step.
fn allocated() -> Result<u64, BenchError> {
    let mut range = Range::new()?;
    let before = allocations();
    for _ in 0..STEADY_STEPS {
        range.walk.step(CAPSULES);
        range.record();
        for fire in [Range::shoot, Range::shoot_through, Range::blast] {
            range.aim(range.next + 1);
            fire(&mut range, 1);
        }
    }
    let allocated = allocations() - before;
    range.verdict()?;
    Ok(allocated)
}

/// Who shoots, at whom, and what he claims.
#[derive(Clone, Copy)]
struct Shot {
    shooter: usize,
    target: usize,
    is_aside: bool,
    back: Micros,
}

struct Range {
    rewind: Rewind,
    objects: Vec<ObjectIndex>,
    peer: ReplicaPeer,
    walk: Walk,
    now: Micros,
    step: u32,
    shots: Vec<Shot>,
    /// As they can be judged at present: who shoots, where to, what he claims.
    aimed: Vec<(ObjectIndex, [f64; 3], Micros)>,
    next: usize,
    hits: Vec<Hit>,
    found: u64,
    failure: Option<BenchError>,
}

impl Range {
    fn new() -> Result<Range, BenchError> {
        let (objects, peer) = cast()?;
        let config = RewindConfig { objects_max: CAPSULES, peers_max: 1, ..RewindConfig::default() };
        let mut rewind = Rewind::new(config).map_err(refused)?;
        let model = capsule(&mut rewind)?;
        objects.iter().try_for_each(|&object| rewind.track(object, model, 1)).map_err(refused)?;
        let shots = (0..SHOTS).map(|number| Shot {
            shooter: number % CAPSULES,
            target: (number + 1 + number * 7 % (CAPSULES - 1)) % CAPSULES,
            is_aside: number % ASIDE_EVERY == 1,
            back: Micros(166_000 + number as u64 * 7_919 % 8_000),
        });
        let mut range = Range {
            rewind,
            peer,
            walk: Walk::new(CAPSULES, GROUND_METRES),
            now: Micros::from_secs(1),
            step: 0,
            aimed: vec![(objects[0], [0.0; 3], Micros::ZERO); SHOTS],
            shots: shots.collect(),
            objects,
            next: 0,
            hits: Vec::with_capacity(CAPSULES),
            found: 0,
            failure: None,
        };
        for _ in 0..STEPS {
            range.walk.step(CAPSULES);
            range.record();
        }
        (0..SHOTS).for_each(|number| range.aim(number));
        Ok(range)
    }

    /// A step in which everybody is where the walk has them.
    fn record(&mut self) {
        self.now += STEP;
        self.step += 1;
        let (positions, rotations) = (self.walk.positions(), self.walk.rotations());
        // The world gives out its slots from 0 on.
        let pose = |object: ObjectIndex| {
            let [x, _, z] = positions[object.slot()].map(f64::from);
            // On the ground, and turning as they walk.
            Some(Pose::new([x, 0.0, z], rotations[object.slot()]))
        };
        let recorded = self.rewind.record(Tick(self.step), self.now, pose);
        let ms = Micros::from_millis;
        let timing = PeerTiming {
            rtt: ms(60),
            interpolation_delay: ms(100),
            input_wait: ms(10),
            newest_acked: self.now - ms(60),
        };
        let told = recorded.and_then(|()| self.rewind.set_peer(self.peer, timing));
        self.note(told.map(|()| true));
    }

    /// Aims a shot anew. This is the client's work and not timed.
    fn aim(&mut self, number: usize) {
        let number = number % SHOTS;
        let shot = self.shots[number];
        let (shooter, claimed) = (self.objects[shot.shooter], self.now - shot.back);
        let aimed = self.rewind.at(claimed).and_then(|view| {
            let target = self.rewind.position_at(view, self.objects[shot.target])?;
            let eye = self.rewind.aim(shooter, [1.0, 0.0, 0.0], RANGE_METRES)?.origin();
            let [x, y, z] = target.unwrap_or([f64::NAN; 3]);
            let aside = if shot.is_aside { 2.0 } else { 0.0 };
            Ok((shooter, [x + aside - eye[0], y - eye[1], z - eye[2]], claimed))
        });
        match aimed {
            Ok(aimed) => self.aimed[number] = aimed,
            Err(error) => self.failure = Some(refused(error)),
        }
    }

    fn next(&mut self) -> (ObjectIndex, [f64; 3], Micros, bool) {
        self.next = (self.next + 1) % SHOTS;
        let (shooter, direction, claimed) = self.aimed[self.next];
        (shooter, direction, claimed, !self.shots[self.next].is_aside)
    }

    fn shoot(&mut self, shots: u32) {
        for _ in 0..shots {
            let (shooter, direction, claimed, is_sure) = self.next();
            let hit = self.rewind.view(self.peer, black_box(claimed)).and_then(|view| {
                self.rewind.ray(view, shooter, black_box(direction), RANGE_METRES, &Filter::default())
            });
            self.note(black_box(hit).map(|hit| hit.is_some() || !is_sure));
        }
    }

    fn shoot_through(&mut self, shots: u32) {
        for _ in 0..shots {
            let (shooter, direction, claimed, is_sure) = self.next();
            let Range { rewind, hits, .. } = self;
            let hit = rewind.view(self.peer, black_box(claimed)).and_then(|view| {
                let (direction, filter) = (black_box(direction), Filter::default());
                rewind.ray_all(view, shooter, direction, RANGE_METRES, &filter, hits)
            });
            let found = black_box(self.hits.len());
            self.note(hit.map(|()| found > 0 || !is_sure));
        }
    }

    fn blast(&mut self, blasts: u32) {
        for _ in 0..blasts {
            let (shooter, _, claimed, _) = self.next();
            let [x, _, z] = self.walk.positions()[shooter.slot()].map(f64::from);
            let Range { rewind, hits, .. } = self;
            let hit = rewind.view(self.peer, black_box(claimed)).and_then(|view| {
                let blast = Shape::sphere(black_box([x, 1.0, z]), BLAST_METRES)?;
                rewind.overlap(view, &blast, &Filter::default(), hits)
            });
            let found = black_box(self.hits.len());
            self.note(hit.map(|()| found > 0));
        }
    }

    fn note(&mut self, result: Result<bool, RewindError>) {
        match result {
            Ok(true) => self.found += 1,
            Ok(false) => self.failure = Some(wrong("a shot missed what it aimed at")),
            Err(error) => self.failure = Some(refused(error)),
        }
    }

    /// An error if a shot that aimed missed, if a call was refused, or if a claim was not believed.
    fn verdict(&self) -> Result<(), BenchError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let counters = self.rewind.view_counters(self.peer).unwrap_or_default();
        let moved = counters != ViewCounters { believed: counters.believed, ..ViewCounters::default() };
        match (self.found, moved) {
            (0, _) => Err(wrong("nothing was measured")),
            (_, true) => Err(wrong("an honest claim was not believed")),
            _ => Ok(()),
        }
    }
}

fn wrong(what: &str) -> BenchError {
    BenchError::WrongWorkload { workload: WORKLOAD, what: what.to_string() }
}

fn refused(error: RewindError) -> BenchError {
    BenchError::refused("netloom", error)
}

/// As tall as a person, y up.
fn capsule(rewind: &mut Rewind) -> Result<ModelId, BenchError> {
    let model = || {
        let shape = Shape::capsule([0.0, -0.6, 0.0], [0.0, 0.6, 0.0], 0.3)?;
        HitModel::new(&[HitPart { part: PartId(0), shape }])?.with_eye([0.0, 0.5, 0.0])
    };
    model().map_err(RewindError::from).and_then(|model| rewind.add_model(model)).map_err(refused)
}

/// Objects and a peer, as a server names them.
fn cast() -> Result<(Vec<ObjectIndex>, ReplicaPeer), BenchError> {
    let failed = |what: &dyn std::fmt::Debug| BenchError::refused("netloom", what);
    let position = FieldKind::Position(Profile::Standard);
    let schema = Schema::builder("capsule").field("position", position, SyncFlags::PUBLIC_SYNC, 255).build();
    let class = Class::new(schema.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    let mut world = World::new(vec![class], WorldConfig::default()).map_err(|error| failed(&error))?;
    let spawned = (0..CAPSULES as u64).map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))));
    let objects = spawned.collect::<Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
    let server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default());
    let peer = server.map_err(|error| failed(&error))?.add_peer(PeerConfig::new(OwnerId(0)));
    Ok((objects, peer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aimed_shot_hits_and_a_minute_allocates_nothing() {
        let mut range = Range::new().expect("a range");
        range.shoot(SHOTS as u32);
        range.shoot_through(SHOTS as u32);
        range.blast(SHOTS as u32);
        assert_eq!(range.verdict(), Ok(()));
        assert_eq!((0..SHOTS).filter(|_| range.next().3).count(), SHOTS / 2);
        assert_eq!(allocated(), Ok(0));
    }

    #[test]
    fn a_shot_that_misses_what_it_aims_at_has_no_figure() {
        let mut range = Range::new().expect("a range");
        for (_, direction, _) in &mut range.aimed {
            *direction = [0.0, 1.0, 0.0];
        }
        range.shoot(SHOTS as u32);
        assert!(range.verdict().is_err());
    }
}
