//! Shots at the past: which past, where in it, and whose word is taken.

use netloom_replica::ClassId;
use netloom_replica::codec::Codes;
use netloom_replica::server::rewind::{
    Adjustment, Filter, HitModel, HitPart, PartId, PeerTiming, Pose, Rewind, RewindConfig, RewindError, Shape,
};
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::{Micros, ObjectId, Tick};

use crate::stage::{Noise, walker};

const TICK_US: u64 = 50_000;
const SPEED: f64 = 10.0;
const RADIUS: f64 = 0.4;
/// The shooter stands so far beside the target's track.
const BESIDE: f64 = 20.0;

/// A target that runs along x at 10 m/s and a shooter that stands, at 20 Hz, as in the design.
struct Range {
    rewind: Rewind,
    shooter: ObjectIndex,
    target: ObjectIndex,
    peer: ReplicaPeer,
    ticks: u32,
}

impl Range {
    fn new() -> Range {
        let classes = vec![walker()];
        let mut world = World::new(classes, WorldConfig::default()).unwrap();
        let [shooter, target] = [1, 2].map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap());
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let peer = server.add_peer(PeerConfig::new(OwnerId(1)));
        let config = RewindConfig { steps_per_second: 20, ..RewindConfig::default() };
        let mut rewind = Rewind::new(config).unwrap();
        let shape = Shape::sphere([0.0; 3], RADIUS).unwrap();
        let model = HitModel::new(&[HitPart { part: PartId(0), shape }]).unwrap();
        let model = rewind.add_model(model).unwrap();
        rewind.track(shooter, model, 1).unwrap();
        rewind.track(target, model, 1).unwrap();
        Range { rewind, shooter, target, peer, ticks: 0 }
    }

    fn run(ticks: u32) -> Range {
        let mut range = Range::new();
        (0..ticks).for_each(|_| range.tick());
        range
    }

    fn tick(&mut self) {
        let (shooter, now) = (self.shooter, self.now());
        let pose = |object| {
            let place = if object == shooter { [0.0, -BESIDE, 0.0] } else { target_at(now) };
            Some(Pose::new(place, [0.0, 0.0, 0.0, 1.0]))
        };
        self.rewind.record(Tick(self.ticks), now, pose).unwrap();
        self.ticks += 1;
    }

    /// The time of the next tick.
    fn now(&self) -> Micros {
        Micros(1_000_000 + u64::from(self.ticks) * TICK_US)
    }

    /// The time of the newest.
    fn newest(&self) -> Micros {
        self.now() - Micros(TICK_US)
    }

    /// All ticks that are kept, oldest first, as the design has them: a time and where the target was.
    fn literal_history(&self) -> Vec<(Micros, f64)> {
        let kept = self.rewind.kept().unwrap();
        (0..self.ticks)
            .map(|tick| Micros(1_000_000 + u64::from(tick) * TICK_US))
            .filter(|time| *time >= kept.oldest)
            .map(|time| (time, target_at(time)[0]))
            .collect()
    }

    fn timing(&self, rtt_ms: u64) -> PeerTiming {
        PeerTiming {
            rtt: Micros::from_millis(rtt_ms),
            interpolation_delay: Micros::from_millis(100),
            input_wait: Micros::ZERO,
            newest_acked: self.newest() - Micros::from_millis(rtt_ms),
        }
    }

    fn hits(&mut self, claimed: Micros, aimed_at: [f64; 3]) -> bool {
        let view = self.rewind.view(self.peer, claimed).unwrap();
        let direction = [aimed_at[0], aimed_at[1] + BESIDE, aimed_at[2]];
        let hit = self.rewind.ray(view, self.shooter, direction, 200.0, &Filter::default()).unwrap();
        hit.is_some_and(|hit| hit.object == self.target)
    }
}

fn target_at(time: Micros) -> [f64; 3] {
    [time.as_secs_f64() * SPEED, 0.0, 0.0]
}

/// B's rewind: the first record that is not earlier than the time asked for.
fn literal_lower_bound(history: &[(Micros, f64)], at: Micros) -> Option<f64> {
    history.iter().find(|(time, _)| *time >= at).map(|(_, x)| *x)
}

/// X-B9: `lower_bound` is the next later record, not the interpolated state.
#[test]
fn the_next_later_record_is_half_a_metre_off_and_ours_is_where_the_target_was() {
    let range = Range::run(30);
    let history = range.literal_history();
    let (mut sum, mut most, samples) = (0.0, 0.0f64, 1_000u64);
    for sample in 0..samples {
        let at = range.newest() - Micros(sample * 249_000 / samples);
        let truth = target_at(at)[0];
        let off = literal_lower_bound(&history, at).unwrap() - truth;
        (sum, most) = (sum + off, most.max(off));
        let view = range.rewind.at(at).unwrap();
        let ours = range.rewind.position_at(view, range.target).unwrap().unwrap()[0];
        assert!((ours - truth).abs() < 1e-6, "{ours} for {truth}");
    }
    let mean = sum / samples as f64;
    assert!((0.23..0.27).contains(&mean) && (0.48..=0.5).contains(&most), "mean {mean} m, most {most} m");
}

/// X-B9: too old returns the oldest silently, too new nothing, and an absent player is invented.
#[test]
fn an_old_time_means_the_oldest_record_and_absent_players_stand_at_zero_and_ours_says_so() {
    let range = Range::run(60);
    let history = range.literal_history();
    let ancient = Micros(1_000_000);
    let literal = literal_lower_bound(&history, ancient).unwrap();
    assert!(literal - target_at(ancient)[0] > 15.0, "silently {literal} m");
    assert_eq!(literal_lower_bound(&history, range.now()), None);
    for at in [ancient, range.now()] {
        assert!(matches!(range.rewind.at(at), Err(RewindError::OutsideHistory { .. })));
    }

    // `states[target]` of a map makes a state at zero for whoever is not in it.
    let mut states = std::collections::BTreeMap::from([(1u32, [0.0, -BESIDE, 0.0])]);
    assert_eq!(*states.entry(2).or_insert([0.0; 3]), [0.0; 3]);
    let mut range = Range::new();
    let (shooter, now) = (range.shooter, range.now());
    let only_shooter =
        |object| (object == shooter).then_some(Pose::new([0.0, -BESIDE, 0.0], [0.0, 0.0, 0.0, 1.0]));
    range.rewind.record(Tick(0), now, only_shooter).unwrap();
    let shot = range.rewind.ray(
        range.rewind.present().unwrap(),
        shooter,
        [0.0, 1.0, 0.0],
        100.0,
        &Filter::default(),
    );
    assert_eq!(shot, Ok(None), "absent is a miss");
}

/// X-B8: now − (now − timestamp) is the timestamp, whatever the client writes into it.
#[test]
fn a_timestamp_that_the_client_chooses_is_believed_by_a_second_and_ours_by_the_tolerance() {
    let mut range = Range::run(40);
    let now = range.newest();
    let literal = |timestamp: Micros| now - (now - timestamp);
    let ambush = now - Micros::from_millis(900);
    assert_eq!(literal(ambush), ambush, "900 ms ago, on a connection of 50 ms");

    range.rewind.set_peer(range.peer, range.timing(50)).unwrap();
    assert!(!range.hits(ambush, target_at(ambush)));
    let view = range.rewind.view(range.peer, ambush).unwrap();
    assert_eq!((view.rewound(), view.adjusted()), (Micros::from_millis(200), Some(Adjustment::TooOld)));
    range.rewind.set_peer(range.peer, range.timing(400)).unwrap();
    let view = range.rewind.view(range.peer, ambush).unwrap();
    assert_eq!((view.rewound(), view.adjusted()), (Micros::from_millis(250), Some(Adjustment::Clamped)));
}

/// X-B8: the client's timestamp is when it shot, and it saw the target 100 ms before that.
#[test]
fn rewinding_without_the_interpolation_delay_misses_by_a_metre_and_ours_hits() {
    for rtt_ms in [0, 50, 100, 130] {
        let mut range = Range::run(40);
        let timing = range.timing(rtt_ms);
        range.rewind.set_peer(range.peer, timing).unwrap();
        let seen_at = range.newest() - timing.rewind();
        let literal_at = range.newest() - timing.rtt;
        let off = target_at(literal_at)[0] - target_at(seen_at)[0];
        assert!((off - 1.0).abs() < 1e-9 && off > RADIUS, "{off} m at {rtt_ms} ms");
        assert!(range.hits(seen_at, target_at(seen_at)), "at {rtt_ms} ms");
        assert!(!range.hits(seen_at, target_at(literal_at)), "at {rtt_ms} ms, aimed beside it");
    }
}

/// B's `ValidateHit`: the client says where it hit, and that is compared with the target.
fn literal_validate(claimed_hit: [f64; 3], target: [f64; 3]) -> bool {
    let off: f64 = (0..3).map(|axis| (claimed_hit[axis] - target[axis]).powi(2)).sum();
    off.sqrt() <= RADIUS
}

/// X-B10: whoever claims the target's own position hits, wherever he aims.
#[test]
fn claiming_the_targets_position_always_hits_and_ours_asks_where_the_shooter_aims() {
    let mut noise = Noise(11);
    let (mut literal, mut ours) = (0, 0);
    for _ in 0..100 {
        let mut range = Range::run(40);
        let timing = range.timing(50);
        range.rewind.set_peer(range.peer, timing).unwrap();
        let seen_at = range.newest() - timing.rewind();
        let target = target_at(seen_at);
        literal += u32::from(literal_validate(target, target));
        // Anywhere but at the target, whatever else the client says about a hit.
        let beside = [target[0] + 3.0 + noise.within(2.0), 0.0, 0.0];
        ours += u32::from(range.hits(seen_at, beside));
        assert!(range.hits(seen_at, target));
    }
    assert_eq!((literal, ours), (100, 0));

    // The shot ends where the level begins: its distance is the range of the ray.
    let mut range = Range::run(40);
    range.rewind.set_peer(range.peer, range.timing(50)).unwrap();
    let seen_at = range.newest() - range.timing(50).rewind();
    let view = range.rewind.view(range.peer, seen_at).unwrap();
    let target = target_at(seen_at);
    let direction = [target[0], target[1] + BESIDE, 0.0];
    let way = (direction[0].powi(2) + direction[1].powi(2)).sqrt();
    let shot = |range_metres| {
        range.rewind.ray(view, range.shooter, direction, range_metres, &Filter::default()).unwrap().is_some()
    };
    assert!(shot(way) && !shot(way / 2.0), "a wall half way");
}

/// X-U41: singles cannot tell two steps apart after a day and a half; histories of them cannot either.
#[test]
fn float_seconds_move_a_target_by_eight_centimetres_after_37_hours_and_micros_by_nothing() {
    let start = 37 * 3_600 * 1_000_000u64;
    let ulp = f32::from_bits(((start as f64 / 1e6) as f32).to_bits() + 1) - (start as f64 / 1e6) as f32;
    assert_eq!(ulp, 0.015_625);
    assert!(f64::from(ulp) / 2.0 * SPEED > 0.078);

    let mut range = Range::new();
    let steps = (0..20).map(|step| Micros(start + step * 16_667));
    for (step, now) in (0..).zip(steps) {
        let pose = |_| Some(Pose::new(target_at(now), [0.0, 0.0, 0.0, 1.0]));
        range.rewind.record(Tick(step), now, pose).unwrap();
    }
    for offset in (0..300_000).step_by(1_237) {
        let at = Micros(start + offset);
        let view = range.rewind.at(at).unwrap();
        let place = range.rewind.position_at(view, range.target).unwrap().unwrap();
        assert!((place[0] - target_at(at)[0]).abs() < 1e-6);
    }
}
