//! Queries against asking every part of every object, and what they refuse.

use netloom_wire::{Micros, Tick};
use proptest::prelude::*;

use super::super::geometry::{Line, Placed};
use super::super::{
    Filter, Hit, HitModel, HitPart, ModelId, PartId, Pose, Ray, Recorded, Rewind, RewindConfig, RewindError,
    Shape,
};
use super::{EVERYONE, STRAIGHT, ball, objects, pose, record, small, time};
use crate::space::{add, inverse, length, lerp, scale, slerp, sub, turn};
use crate::world::ObjectIndex;

const OBJECTS: usize = 70;
const STEPS: u32 = 4;

fn models() -> Vec<HitModel> {
    let part = |number, shape| HitPart { part: PartId(number), shape };
    let head = part(0, Shape::sphere([0.0, 0.1, 1.7], 0.2).unwrap());
    let body = part(1, Shape::capsule([0.0, 0.0, 0.3], [0.0, 0.0, 1.4], 0.35).unwrap());
    let shield = part(2, Shape::cuboid([0.6, 0.0, 1.0], [0.05, 0.5, 0.7], [0.0, 0.1, 0.0, 1.0]).unwrap());
    let crate_box = part(3, Shape::cuboid([0.0; 3], [1.0, 0.5, 0.25], STRAIGHT).unwrap());
    vec![
        HitModel::new(&[head, body]).unwrap(),
        HitModel::new(&[shield, body, head]).unwrap(),
        HitModel::new(&[crate_box]).unwrap(),
    ]
}

fn any_pose() -> impl Strategy<Value = Option<Recorded>> {
    let position = [-12.0..12.0f64, -12.0..12.0, -3.0..3.0];
    let rotation = [-1.0..1.0f32, -1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|parts| {
        let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
        if length < 0.1 { STRAIGHT } else { parts.map(|part| part / length) }
    });
    let pose = (position, rotation, prop::bool::weighted(0.1));
    prop::option::weighted(
        0.85,
        pose.prop_map(|(position, rotation, jumped)| Recorded { pose: Pose { position, rotation }, jumped }),
    )
}

/// Some objects on their ways, and everything about them once more in plain lists.
#[derive(Debug)]
struct Scene {
    rewind: Rewind,
    objects: Vec<ObjectIndex>,
    ways: Vec<Vec<Option<Recorded>>>,
    models: Vec<HitModel>,
}

impl Scene {
    fn new(ways: Vec<Vec<Option<Recorded>>>) -> Scene {
        let config = RewindConfig { objects_max: OBJECTS, ..RewindConfig::default() };
        let mut rewind = Rewind::new(config).unwrap();
        let (objects, models) = (objects(ways.len() as u64), models());
        let ids: Vec<ModelId> = models.iter().map(|model| rewind.add_model(model.clone()).unwrap()).collect();
        for (number, &object) in objects.iter().enumerate() {
            rewind.track(object, ids[number % 3], 1 << (number % 4)).unwrap();
        }
        for step in 0..STEPS {
            let pose = |object| {
                let number = objects.iter().position(|other| *other == object)?;
                ways[number][step as usize]
            };
            rewind.record(Tick(step), time(step), pose).unwrap();
        }
        Scene { rewind, objects, ways, models }
    }

    /// Where an object is, by the words of the documentation.
    fn placed(&self, number: usize, offset: u64) -> Option<Placed> {
        let step = (offset / 10_000) as usize;
        let fraction = (offset % 10_000) as f64 / 10_000.0;
        let turned = |pose: &Pose| {
            let length = pose.rotation.iter().map(|part| f64::from(*part).powi(2)).sum::<f64>().sqrt();
            pose.rotation.map(|part| f64::from(part) / length)
        };
        let from = self.ways[number][step]?.pose;
        let held = Placed { position: from.position, rotation: turned(&from) };
        let Some(Some(to)) = self.ways[number].get(step + 1) else { return Some(held) };
        if to.jumped {
            return Some(held);
        }
        let to = to.pose;
        let position = std::array::from_fn(|axis| lerp(from.position[axis], to.position[axis], fraction));
        Some(Placed { position, rotation: slerp(turned(&from), turned(&to), fraction) })
    }

    fn asked<'a>(
        &'a self,
        offset: u64,
        filter: &'a Filter<'a>,
    ) -> impl Iterator<Item = (ObjectIndex, &'a HitModel, Placed)> + 'a {
        let allowed = move |number: &usize| {
            1 << (number % 4) & filter.groups != 0 && !filter.ignore.contains(&self.objects[*number])
        };
        let all = (0..self.ways.len()).filter(allowed);
        all.filter_map(move |number| {
            Some((self.objects[number], &self.models[number % 3], self.placed(number, offset)?))
        })
    }
}

fn scene() -> impl Strategy<Value = Scene> {
    let ways = prop::collection::vec(prop::collection::vec(any_pose(), STEPS as usize), 1..OBJECTS);
    ways.prop_map(Scene::new)
}

fn by_object(hits: &[Hit]) -> Vec<Hit> {
    let mut hits = hits.to_vec();
    hits.sort_by_key(|hit| hit.object);
    hits
}

/// Of the same hits in the same places.
fn assert_same(ours: &[Hit], tried: &[Hit]) -> Result<(), TestCaseError> {
    let names = |hits: &[Hit]| hits.iter().map(|hit| hit.object).collect::<Vec<_>>();
    prop_assert_eq!(names(ours), names(tried));
    for (ours, tried) in ours.iter().zip(tried) {
        prop_assert!((ours.distance_metres - tried.distance_metres).abs() < 1e-5, "{ours:?} {tried:?}");
        prop_assert!(length(sub(ours.point, tried.point)) < 1e-4, "{ours:?} {tried:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_ray_hits_what_asking_every_part_of_every_object_hits(
        scene in scene(), offset in 0..=u64::from(STEPS - 1) * 10_000,
        origin in [-15.0..15.0f64, -15.0..15.0, -4.0..4.0], direction in [-1.0..1.0f64, -1.0..1.0, -0.3..0.3],
        range in 1.0..40.0f64, groups in 1..16u32,
    ) {
        prop_assume!(length(direction) > 0.01);
        let ignore = [scene.objects[0]];
        let filter = Filter { groups, ignore: &ignore };
        let ray = Ray::new(origin, direction, range).unwrap();
        let mut tried: Vec<Hit> = Vec::new();
        for (object, model, placed) in scene.asked(offset, &filter) {
            // Every part is put into the world, which is the other way round than queries go.
            let rotation = inverse(placed.rotation);
            let back = Placed { position: turn(rotation, scale(placed.position, -1.0)), rotation };
            let line = Line { origin: ray.origin(), direction: ray.direction(), begin: 0.0, end: range };
            let contacts = model.parts().iter().filter_map(|part| {
                Some((part.part, part.shape.solid.inward(&back).first_contact(&line)?))
            });
            let first = contacts.min_by(|a, b| a.1.along.total_cmp(&b.1.along));
            if let Some((part, contact)) = first {
                let point = add(ray.origin(), scale(ray.direction(), contact.along));
                tried.push(Hit { object, part, distance_metres: contact.along, point, normal: contact.normal });
            }
        }
        let view = scene.rewind.at(time(0) + Micros(offset)).unwrap();
        let mut hits = Vec::new();
        scene.rewind.cast_all(view, &ray, &filter, &mut hits).unwrap();
        prop_assert!(hits.is_sorted_by(|a, b| a.distance_metres <= b.distance_metres));
        assert_same(&by_object(&hits), &tried)?;
        prop_assert_eq!(scene.rewind.cast(view, &ray, &filter).unwrap(), hits.first().copied());
    }

    #[test]
    fn an_overlap_finds_what_asking_every_part_of_every_object_finds(
        scene in scene(), offset in 0..=u64::from(STEPS - 1) * 10_000,
        at in [-12.0..12.0f64, -12.0..12.0, -3.0..3.0], to in [-12.0..12.0f64, -12.0..12.0, -3.0..3.0],
        size in 0.1..6.0f64, kind in 0..3u8,
    ) {
        let shape = match kind {
            0 => Shape::sphere(at, size).unwrap(),
            1 => Shape::capsule(at, to, size).unwrap(),
            _ => Shape::cuboid(at, [size, size / 2.0, 1.0], [0.3, 0.1, -0.5, 0.8]).unwrap(),
        };
        let filter = Filter::default();
        let mut tried = Vec::new();
        for (object, model, placed) in scene.asked(offset, &filter) {
            let body = shape.solid.inward(&placed);
            let reference = placed.inward(shape.reference());
            let touched = model.parts().iter().filter(|part| part.shape.solid.overlaps(&body));
            let nearest = touched.map(|part| {
                let point = part.shape.solid.nearest_to(reference);
                (part.part, point, length(sub(point, reference)))
            });
            if let Some((part, point, distance_metres)) = nearest.min_by(|a, b| a.2.total_cmp(&b.2)) {
                let point = placed.outward(point);
                tried.push(Hit { object, part, distance_metres, point, normal: [0.0; 3] });
            }
        }
        let view = scene.rewind.at(time(0) + Micros(offset)).unwrap();
        let mut hits = vec![];
        scene.rewind.overlap(view, &shape, &filter, &mut hits).unwrap();
        prop_assert!(hits.is_sorted_by(|a, b| a.distance_metres <= b.distance_metres));
        assert_same(&by_object(&hits), &tried)?;
        for hit in &hits {
            let expected = if hit.distance_metres > 0.0 { 1.0 } else { 0.0 };
            prop_assert!((length(hit.normal) - expected).abs() < 1e-9, "{hit:?}");
        }
    }
}

fn duel() -> (Rewind, ObjectIndex, ObjectIndex) {
    let mut rewind = small();
    let both = objects(2);
    let model = rewind.add_model(ball(0.5).with_eye([0.0, 0.0, 0.25]).unwrap()).unwrap();
    both.iter().for_each(|&object| rewind.track(object, model, EVERYONE).unwrap());
    record(&mut rewind, 0, &[(both[0], 0.0), (both[1], 10.0)]);
    (rewind, both[0], both[1])
}

#[test]
fn a_shot_begins_at_the_shooters_eye_in_the_present_and_never_hits_the_shooter() {
    let (mut rewind, shooter, target) = duel();
    // The shooter turned and went on; the target is where it was.
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turned = Pose::new([2.0, 0.0, 0.0], [half, 0.0, 0.0, half]);
    let at = |object| Some(if object == shooter { turned } else { pose(10.0) });
    rewind.record(Tick(1), time(1), at).unwrap();
    let ray = rewind.aim(shooter, [3.0, 0.0, 0.0], 50.0).unwrap();
    assert!(length(sub(ray.origin(), [2.0, -0.25, 0.0])) < 1e-6, "{ray:?}");
    assert_eq!(ray.direction(), [1.0, 0.0, 0.0]);

    let past = rewind.at(time(0)).unwrap();
    let hit = rewind.ray(past, shooter, [1.0, 0.0, 0.0], 50.0, &Filter::default()).unwrap().unwrap();
    assert_eq!((hit.object, hit.part), (target, PartId(7)));
    assert!((hit.distance_metres - (8.0 - (0.25f64 - 0.0625).sqrt())).abs() < 1e-6, "{hit:?}");
    let mut hits = vec![hit; 3];
    rewind.ray_all(past, shooter, [-1.0, 0.0, 0.0], 50.0, &Filter::default(), &mut hits).unwrap();
    assert_eq!(hits, [], "its own past is behind it and is not hit");
}

#[test]
fn a_ray_from_inside_hits_at_once_and_a_blast_in_the_middle_has_no_distance() {
    let (rewind, shooter, target) = duel();
    let view = rewind.present().unwrap();
    let ray = Ray::new([10.1, 0.0, 0.0], [0.0, 1.0, 0.0], 5.0).unwrap();
    let hit = rewind.cast(view, &ray, &Filter::default()).unwrap().unwrap();
    assert_eq!((hit.object, hit.distance_metres, hit.point), (target, 0.0, [10.1, 0.0, 0.0]));
    assert_eq!(hit.normal, [0.0, -1.0, 0.0]);
    let mut hits = Vec::new();
    let blast = Shape::sphere([9.9, 0.0, 0.0], 20.0).unwrap();
    rewind.overlap(view, &blast, &Filter::default(), &mut hits).unwrap();
    let found: Vec<_> = hits.iter().map(|hit| (hit.object, hit.distance_metres, hit.normal)).collect();
    assert_eq!(found[0], (target, 0.0, [0.0; 3]));
    assert_eq!(found[1].0, shooter);
    assert!((found[1].1 - 9.4).abs() < 1e-9 && found[1].2[0] > 0.999);
}

#[test]
fn teams_and_ignored_objects_are_passed_through() {
    let (mut rewind, shooter, target) = duel();
    rewind.set_groups(target, 0b100).unwrap();
    let view = rewind.present().unwrap();
    let hits =
        |filter: &Filter<'_>| rewind.ray(view, shooter, [1.0, 0.0, 0.0], 50.0, filter).unwrap().is_some();
    assert!(hits(&Filter::default()));
    assert!(hits(&Filter { groups: 0b110, ..Filter::default() }));
    assert!(!hits(&Filter { groups: 0b011, ..Filter::default() }));
    assert!(!hits(&Filter { ignore: &[target], ..Filter::default() }));
}

#[test]
fn rays_that_are_none_are_refused_with_what_is_allowed() {
    let (rewind, shooter, target) = duel();
    let view = rewind.present().unwrap();
    let refused = |direction, range| {
        rewind.ray(view, shooter, direction, range, &Filter::default()).unwrap_err().to_string()
    };
    let forward = [1.0, 0.0, 0.0];
    let [nan, infinity] = [f64::NAN, f64::INFINITY];
    for direction in [[0.0; 3], [nan, 0.0, 1.0], [infinity, 0.0, 0.0], [1e-9, 0.0, 0.0], [1e300, 0.0, 0.0]] {
        let message = refused(direction, 10.0);
        assert!(message.starts_with("length of the direction"), "{message}");
    }
    for range in [0.0, -1.0, nan, infinity, 100_001.0] {
        let message = refused(forward, range);
        assert!(message.starts_with(&format!("range_metres = {range} is")), "{message}");
    }
    assert!(Ray::new([nan, 0.0, 0.0], forward, 1.0).is_err());
    let stranger = objects(3)[2];
    let unknown = rewind.ray(view, stranger, forward, 10.0, &Filter::default());
    assert_eq!(unknown, Err(RewindError::NoShooter(stranger)));
    assert!(rewind.ray(view, target, forward, 10.0, &Filter::default()).is_ok());
}

#[test]
fn a_shooter_that_is_not_there_does_not_shoot() {
    let (mut rewind, shooter, target) = duel();
    record(&mut rewind, 1, &[(target, 10.0)]);
    let view = rewind.at(time(0)).unwrap();
    let shot = rewind.ray(view, shooter, [1.0, 0.0, 0.0], 50.0, &Filter::default());
    assert_eq!(shot, Err(RewindError::NoShooter(shooter)));
}

#[test]
fn absurd_shapes_models_and_settings_are_refused_by_name() {
    let nan = f64::NAN;
    assert!(Shape::sphere([0.0; 3], 0.0).is_err());
    assert!(Shape::sphere([0.0; 3], nan).is_err());
    assert!(Shape::sphere([nan, 0.0, 0.0], 1.0).is_err());
    assert!(Shape::sphere([0.0; 3], 10_001.0).is_err());
    assert!(Shape::capsule([0.0; 3], [0.0, 0.0, 30_000.0], 1.0).is_err());
    assert!(Shape::cuboid([0.0; 3], [1.0, -1.0, 1.0], STRAIGHT).is_err());
    assert!(Shape::cuboid([0.0; 3], [1.0; 3], [0.0; 4]).is_err());
    assert!(HitModel::new(&[]).is_err());
    assert!(ball(1.0).with_eye([nan; 3]).is_err());
    let far = HitPart { part: PartId(0), shape: Shape::sphere([9_999.0, 0.0, 0.0], 2.0).unwrap() };
    assert!(HitModel::new(&[far]).is_err());
    assert!(HitModel::new(&vec![far; 33]).unwrap_err().to_string().starts_with("parts = 33"));
    let wrong = RewindConfig { rewind_ms_max: 1_001, ..RewindConfig::default() };
    let message = Rewind::new(wrong).unwrap_err().to_string();
    assert_eq!(message, "rewind_ms_max = 1001 is not allowed: use 0 to history_ms");
    let mut rewind = small();
    let object = objects(1)[0];
    assert_eq!(rewind.track(object, ModelId(0), 1), Err(RewindError::UnknownModel(ModelId(0))));
    let model = rewind.add_model(ball(1.0)).unwrap();
    rewind.track(object, model, 1).unwrap();
    assert_eq!(rewind.track(object, model, 1), Err(RewindError::AlreadyTracked(object)));
    assert_eq!(rewind.set_model(object, ModelId(1)), Err(RewindError::UnknownModel(ModelId(1))));
}

#[test]
fn the_earlier_part_is_hit_where_two_are_equally_near() {
    let shape = Shape::sphere([0.0; 3], 1.0).unwrap();
    let twins = [4, 3].map(|number| HitPart { part: PartId(number), shape });
    let mut rewind = small();
    let object = objects(1)[0];
    let model = rewind.add_model(HitModel::new(&twins).unwrap()).unwrap();
    rewind.track(object, model, EVERYONE).unwrap();
    record(&mut rewind, 0, &[(object, 0.0)]);
    let ray = Ray::new([-5.0, 0.0, 0.0], [1.0, 0.0, 0.0], 10.0).unwrap();
    let hit = rewind.cast(rewind.present().unwrap(), &ray, &Filter::default()).unwrap();
    assert_eq!(hit.map(|hit| hit.part), Some(PartId(4)));
}

#[test]
fn a_hit_100_km_away_is_exact_to_a_tenth_of_a_millimetre() {
    let mut rewind = small();
    let object = objects(1)[0];
    let model = rewind.add_model(ball(0.5)).unwrap();
    rewind.track(object, model, EVERYONE).unwrap();
    let there = Pose::new([5e7, 9e4, 0.0], [0.6, 0.0, 0.0, 0.8]);
    rewind.record(Tick(0), time(0), |_| Some(there)).unwrap();
    let ray = Ray::new([5e7, 0.0, 0.3], [0.0, 1.0, 0.0], 1e5).unwrap();
    let hit = rewind.cast(rewind.present().unwrap(), &ray, &Filter::default()).unwrap().unwrap();
    assert!((hit.distance_metres - (9e4 - 0.4)).abs() < 1e-4, "{hit:?}");
}
