//! Who was where when.

use netloom_wire::{Micros, ObjectId, Tick};

use super::super::{
    Filter, Hit, HitModel, HitPart, PartId, Pose, Ray, Recorded, Rewind, RewindConfig, RewindError, Shape,
};
use super::{EVERYONE, STRAIGHT, ball, objects, pose, record, small, time, world};
use crate::ClassId;
use crate::input::ViewTime;
use crate::world::{ObjectIndex, Spawn};

fn x_at(rewind: &Rewind, micros: u64, object: ObjectIndex) -> Option<f64> {
    let view = rewind.at(Micros(micros)).unwrap();
    rewind.position_at(view, object).unwrap().map(|position| position[0])
}

/// What a ray along x from far away hits.
fn shot(rewind: &Rewind, micros: u64) -> Option<Hit> {
    let ray = Ray::new([-1_000.0, 0.0, 0.0], [1.0, 0.0, 0.0], 5_000.0).unwrap();
    rewind.cast(rewind.at(Micros(micros)).unwrap(), &ray, &Filter::default()).unwrap()
}

fn one(rewind: &mut Rewind) -> ObjectIndex {
    let object = objects(1)[0];
    let model = rewind.add_model(ball(0.5)).unwrap();
    rewind.track(object, model, EVERYONE).unwrap();
    object
}

#[test]
fn between_two_records_an_object_is_between_its_two_places() {
    let mut rewind = small();
    let object = one(&mut rewind);
    for (step, x) in [(0, 0.0), (1, 1.0), (2, 4.0)] {
        record(&mut rewind, step, &[(object, x)]);
    }
    for (micros, x) in
        [(1_000_000, 0.0), (1_002_500, 0.25), (1_010_000, 1.0), (1_015_000, 2.5), (1_020_000, 4.0)]
    {
        assert!((x_at(&rewind, micros, object).unwrap() - x).abs() < 1e-12, "{micros}");
        assert!((shot(&rewind, micros).unwrap().point[0] - (x - 0.5)).abs() < 1e-9);
    }
}

#[test]
fn nothing_is_answered_outside_of_what_is_kept() {
    let mut rewind = small();
    assert_eq!(rewind.present(), Err(RewindError::NoHistory));
    let object = one(&mut rewind);
    record(&mut rewind, 0, &[(object, 0.0)]);
    let stale = rewind.present().unwrap();
    let rows = rewind.config().rows() as u32;
    for step in 1..=rows {
        record(&mut rewind, step, &[(object, f64::from(step))]);
    }
    let (oldest, newest) = (time(1), time(rows));
    assert_eq!(rewind.kept().map(|kept| (kept.oldest, kept.newest)), Some((oldest, newest)));
    let ray = Ray::new([-9.0, 0.0, 0.0], [1.0, 0.0, 0.0], 90.0).unwrap();
    let outside = RewindError::OutsideHistory { at: time(0), oldest, newest };
    assert_eq!(rewind.cast(stale, &ray, &Filter::default()), Err(outside));
    assert!(rewind.at(newest + Micros(1)).is_err());
    assert!(rewind.at(oldest - Micros(1)).is_err());
    assert_eq!(x_at(&rewind, oldest.0, object), Some(1.0));
    assert_eq!(x_at(&rewind, newest.0, object), Some(f64::from(rows)));
}

#[test]
fn a_second_is_kept_at_every_rate() {
    for steps_per_second in [1, 20, 30, 60, 128, 1_000] {
        let config = RewindConfig { steps_per_second, objects_max: 1, ..RewindConfig::default() };
        let mut rewind = Rewind::new(config).unwrap();
        for step in 0..3 * steps_per_second {
            let now = Micros(u64::from(step) * 1_000_000 / u64::from(steps_per_second));
            rewind.record(Tick(step), now, |_| None::<Pose>).unwrap();
        }
        let kept = rewind.kept().unwrap();
        assert!((kept.newest - kept.oldest).0 >= 1_000_000, "{steps_per_second} Hz: {kept:?}");
    }
}

#[test]
fn absent_is_missed_until_it_appears_and_from_when_it_is_gone() {
    let mut rewind = small();
    let object = one(&mut rewind);
    record(&mut rewind, 0, &[]);
    record(&mut rewind, 1, &[(object, 1.0)]);
    record(&mut rewind, 2, &[(object, 2.0)]);
    record(&mut rewind, 3, &[]);
    record(&mut rewind, 4, &[(object, 9.0)]);
    assert_eq!(shot(&rewind, 1_009_999), None, "not there yet");
    assert_eq!(x_at(&rewind, 1_010_000, object), Some(1.0));
    assert_eq!(x_at(&rewind, 1_029_999, object), Some(2.0), "there until the step that it is gone in");
    assert_eq!(shot(&rewind, 1_030_000), None);
    assert_eq!(shot(&rewind, 1_039_999), None);
    assert!(shot(&rewind, 1_040_000).is_some());
}

#[test]
fn a_jump_is_never_swept_through() {
    let mut rewind = small();
    let object = one(&mut rewind);
    record(&mut rewind, 0, &[(object, 0.0)]);
    let there = Recorded { pose: pose(100.0), jumped: true };
    rewind.record(Tick(1), time(1), |_| Some(there)).unwrap();
    record(&mut rewind, 2, &[(object, 101.0)]);
    for micros in (1_000_000..1_010_000).step_by(500) {
        assert_eq!(x_at(&rewind, micros, object), Some(0.0));
        assert_eq!(shot(&rewind, micros).map(|hit| hit.point[0]), Some(-0.5));
    }
    assert_eq!(x_at(&rewind, 1_010_000, object), Some(100.0));
    assert_eq!(x_at(&rewind, 1_015_000, object), Some(100.5));
}

#[test]
fn what_is_gone_is_still_in_the_past_and_never_taken_for_what_took_its_place() {
    let mut world = world();
    let mut rewind = small();
    let model = rewind.add_model(ball(0.5)).unwrap();
    let mut spawn = |id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap();
    let first: Vec<ObjectIndex> = (0..4).map(&mut spawn).collect();
    first.iter().for_each(|&object| rewind.track(object, model, EVERYONE).unwrap());
    assert_eq!(rewind.track(spawn(4), model, EVERYONE), Err(RewindError::Full { objects_max: 4 }));
    record(&mut rewind, 0, &[(first[0], 0.0)]);
    record(&mut rewind, 1, &[(first[0], 1.0)]);

    world.despawn(first[0]).unwrap();
    world.commit(Tick(1)).unwrap();
    rewind.untrack(first[0]).unwrap();
    assert_eq!(rewind.untrack(first[0]), Err(RewindError::NotTracked(first[0])));
    record(&mut rewind, 2, &[(first[0], 2.0)]);
    assert_eq!(shot(&rewind, time(1).0).map(|hit| hit.object), Some(first[0]), "where it was");
    assert_eq!(shot(&rewind, time(2).0), None, "and no longer is");

    let same_slot = world.spawn(Spawn::new(ObjectId(9), ClassId(0))).unwrap();
    assert_eq!(same_slot.slot(), first[0].slot());
    rewind.track(same_slot, model, EVERYONE).unwrap();
    record(&mut rewind, 3, &[(same_slot, 3.0)]);
    record(&mut rewind, 4, &[(same_slot, 4.0)]);
    assert_eq!(shot(&rewind, time(1).0), None, "its place was needed");
    assert_eq!(shot(&rewind, time(2).0 + 5_000), None, "not on the way from somebody else's place");
    assert_eq!(shot(&rewind, time(3).0 + 5_000).map(|hit| hit.object), Some(same_slot));
}

#[test]
fn a_crouch_counts_from_its_own_record_on() {
    let mut rewind = small();
    let object = objects(1)[0];
    let tall = HitPart { part: PartId(1), shape: Shape::capsule([0.0; 3], [0.0, 0.0, 1.8], 0.3).unwrap() };
    let low = HitPart { part: PartId(2), shape: Shape::capsule([0.0; 3], [0.0, 0.0, 0.8], 0.3).unwrap() };
    let tall = rewind.add_model(HitModel::new(&[tall]).unwrap()).unwrap();
    let low = rewind.add_model(HitModel::new(&[low]).unwrap()).unwrap();
    rewind.track(object, tall, EVERYONE).unwrap();
    record(&mut rewind, 0, &[(object, 0.0)]);
    rewind.set_model(object, low).unwrap();
    record(&mut rewind, 1, &[(object, 0.0)]);
    let ray = Ray::new([-5.0, 0.0, 1.5], [1.0, 0.0, 0.0], 10.0).unwrap();
    let hit = |at| rewind.cast(rewind.at(at).unwrap(), &ray, &Filter::default()).unwrap();
    assert_eq!(hit(time(0) + Micros(9_999)).map(|hit| hit.part), Some(PartId(1)));
    assert_eq!(hit(time(1)), None);
}

#[test]
fn time_must_advance_and_a_pose_must_be_a_place() {
    let mut rewind = small();
    let object = one(&mut rewind);
    record(&mut rewind, 5, &[(object, 0.0)]);
    for now in [time(5), time(4)] {
        let refused = RewindError::NotLater { now, newest: time(5) };
        assert_eq!(rewind.record(Tick(6), now, |_| Some(pose(1.0))), Err(refused));
    }
    let wrong = [
        Pose::new([f64::NAN, 0.0, 0.0], STRAIGHT),
        Pose::new([0.0, f64::INFINITY, 0.0], STRAIGHT),
        Pose::new([0.0, 0.0, 1e9], STRAIGHT),
        Pose::new([0.0; 3], [0.0; 4]),
        Pose::new([0.0; 3], [f32::NAN, 0.0, 0.0, 1.0]),
        Pose::new([0.0; 3], [f32::INFINITY, 0.0, 0.0, 1.0]),
    ];
    for (step, wrong) in (6..).zip(wrong) {
        rewind.record(Tick(step), time(step), |_| Some(wrong)).unwrap();
        assert_eq!(shot(&rewind, time(step).0), None, "{wrong:?}");
    }
    assert_eq!(rewind.poses_refused(), 6);
    record(&mut rewind, 20, &[(object, 3.0)]);
    assert_eq!(shot(&rewind, time(20).0).map(|hit| hit.point[0]), Some(2.5));
}

#[test]
fn a_step_has_its_recorded_time_and_others_are_counted_on_across_the_wrap() {
    let config = RewindConfig { steps_per_second: 100, ..RewindConfig::default() };
    let mut rewind = Rewind::new(config).unwrap();
    assert_eq!(rewind.time_of(ViewTime { step: Tick(3), fraction: 0 }), Err(RewindError::NoHistory));
    let first = Tick(u32::MAX - 1);
    for step in 0..5 {
        rewind.record(first.plus(step), time(step), |_| None::<Pose>).unwrap();
    }
    assert_eq!(rewind.time_of(ViewTime { step: first.plus(3), fraction: 0 }), Ok(time(3)));
    assert_eq!(rewind.time_of(ViewTime { step: first.plus(3), fraction: 128 }), Ok(time(3) + Micros(5_000)));
    assert_eq!(rewind.time_of(ViewTime { step: first.plus(9), fraction: 0 }), Ok(time(9)), "not yet");
    assert_eq!(
        rewind.time_of(ViewTime { step: Tick(u32::MAX - 11), fraction: 0 }),
        Ok(Micros(900_000)),
        "no longer"
    );
    let forged = Tick(first.0 - (1 << 30));
    assert_eq!(
        rewind.time_of(ViewTime { step: forged, fraction: 255 }),
        Ok(Micros(9_960)),
        "before the server began"
    );
}

#[test]
fn a_history_that_no_machine_has_memory_for_is_refused_by_name() {
    let longest = RewindConfig { history_ms: 5_000, steps_per_second: 1_000, ..RewindConfig::default() };
    let largest = RewindConfig { objects_max: 65_536, ..longest };
    let refused = Rewind::new(largest).unwrap_err().to_string();
    assert!(refused.starts_with("objects_max = 65536 is not allowed"), "{refused}");
    assert!(Rewind::new(RewindConfig { objects_max: 1, peers_max: 1, ..longest }).is_ok());
}
