//! Exact geometry against geometry by trying: distances to surfaces, and small steps along lines.

use proptest::prelude::*;

use super::super::geometry::{Line, Placed, Solid};
use crate::space::{Rotation, Vector, add, dot, inverse, length, scale, sub, turn, unit};

/// Below it, nearly touching is neither a hit nor a miss that can be told by trying.
const UNCERTAIN_METRES: f64 = 1e-3;
const SAMPLES: usize = 4_000;

fn vector(reach: f64) -> impl Strategy<Value = Vector> {
    [-reach..reach, -reach..reach, -reach..reach]
}

fn rotation() -> impl Strategy<Value = Rotation> {
    let parts = [-1.0..1.0f64, -1.0..1.0, -1.0..1.0, -1.0..1.0];
    parts.prop_filter_map("no direction", |parts| {
        let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
        (length > 0.1).then(|| parts.map(|part| part / length))
    })
}

fn solid() -> impl Strategy<Value = Solid> {
    let round = (vector(2.0), vector(2.0), 0.05..1.5f64, 0..4u8).prop_map(|(from, to, radius, kind)| {
        let to = match kind {
            0 => from,
            1 => [from[0], from[1], to[2]],
            _ => to,
        };
        Solid::Rounded { from, to, radius }
    });
    let half_extents = [0.05..1.5f64, 0.05..1.5, 0.05..1.5];
    let unturned = Just([0.0, 0.0, 0.0, 1.0]);
    let boxes = (vector(2.0), half_extents, prop_oneof![3 => rotation(), 1 => unturned]);
    let boxes =
        boxes.prop_map(|(centre, half_extents, rotation)| Solid::Box { centre, half_extents, rotation });
    prop_oneof![round, boxes]
}

/// How far outside a body a point lies; negative inside. Written apart from what it tests.
fn outside(solid: &Solid, point: Vector) -> f64 {
    match *solid {
        Solid::Rounded { from, to, radius } => {
            let axis = sub(to, from);
            let along = dot(sub(point, from), axis) / dot(axis, axis).max(1e-300);
            length(sub(point, add(from, scale(axis, along.clamp(0.0, 1.0))))) - radius
        }
        Solid::Box { centre, half_extents, rotation } => {
            let local = turn(inverse(rotation), sub(point, centre));
            let beyond: Vector = std::array::from_fn(|axis| local[axis].abs() - half_extents[axis]);
            let deepest = beyond.into_iter().fold(f64::NEG_INFINITY, f64::max);
            if deepest <= 0.0 { deepest } else { length(beyond.map(|axis| axis.max(0.0))) }
        }
    }
}

/// The first sample inside, and the depth of the deepest.
fn walk(solid: &Solid, line: &Line) -> (Option<f64>, f64) {
    let mut deepest = f64::INFINITY;
    let mut first = None;
    for sample in 0..=SAMPLES {
        let along = line.begin + (line.end - line.begin) * sample as f64 / SAMPLES as f64;
        let depth = outside(solid, line.at(along));
        deepest = deepest.min(depth);
        if depth <= 0.0 && first.is_none() {
            first = Some(along);
        }
    }
    (first, deepest)
}

/// The least distance of two bodies: from one to the other and back, which only comes nearer for convex ones.
fn apart(a: &Solid, b: &Solid) -> f64 {
    let mut point = [0.0; 3];
    let mut distance = f64::INFINITY;
    for _ in 0..20_000 {
        let on_a = a.nearest_to(point);
        point = b.nearest_to(on_a);
        let now = length(sub(point, on_a));
        if now < 1e-9 || distance - now < 1e-13 {
            return now;
        }
        distance = now;
    }
    distance
}

fn grown(solid: &Solid, metres: f64) -> Solid {
    match *solid {
        Solid::Rounded { from, to, radius } => Solid::Rounded { from, to, radius: radius + metres },
        Solid::Box { centre, half_extents, rotation } => {
            Solid::Box { centre, half_extents: half_extents.map(|half| half + metres), rotation }
        }
    }
}

proptest! {
    #[test]
    fn a_line_enters_where_small_steps_along_it_do(
        solid in solid(), origin in vector(6.0), direction in vector(1.0), range in 0.5..15.0f64,
    ) {
        prop_assume!(length(direction) > 0.01);
        let line = Line { origin, direction: unit(direction).unwrap(), begin: 0.0, end: range };
        let (first, deepest) = walk(&solid, &line);
        let step = range / SAMPLES as f64;
        match solid.first_contact(&line) {
            None => prop_assert!(deepest > -UNCERTAIN_METRES, "missed, {} deep", -deepest),
            Some(contact) => {
                prop_assert!(deepest < UNCERTAIN_METRES + step, "hit, {deepest} away");
                prop_assert!((length(contact.normal) - 1.0).abs() < 1e-9);
                prop_assert!(outside(&solid, line.at(contact.along)) < 1e-9, "not on the surface");
                if let Some(first) = first {
                    prop_assert!(contact.along <= first + 1e-9, "{} for {first}", contact.along);
                    prop_assert!(contact.along > 0.0 || first == 0.0);
                }
                // Nothing of the way before is inside.
                let before = Line { end: contact.along - 1e-6, ..line };
                prop_assert!(before.end <= 0.0 || walk(&solid, &before).1 > -1e-6);
            }
        }
    }

    #[test]
    fn a_normal_points_out_of_the_surface_and_against_the_line(
        solid in solid(), origin in vector(6.0), towards in vector(1.0),
    ) {
        prop_assume!(outside(&solid, origin) > 0.01);
        let inner = match solid {
            Solid::Rounded { from, to, .. } => scale(add(from, to), 0.5),
            Solid::Box { centre, .. } => centre,
        };
        let way = sub(add(inner, scale(towards, 0.02)), origin);
        let line = Line { origin, direction: unit(way).unwrap(), begin: 0.0, end: 40.0 };
        let contact = solid.first_contact(&line).expect("a line to its middle enters");
        prop_assert!(dot(contact.normal, line.direction) <= 1e-9);
        let point = line.at(contact.along);
        let away = outside(&solid, add(point, scale(contact.normal, 1e-4)));
        prop_assert!((away - 1e-4).abs() < 1e-6, "{away} after a tenth of a millimetre");
    }

    #[test]
    fn the_nearest_point_is_on_the_surface_and_none_is_nearer(
        solid in solid(), point in vector(5.0), other in vector(5.0),
    ) {
        let nearest = solid.nearest_to(point);
        let distance = length(sub(nearest, point));
        prop_assert!((distance - outside(&solid, point).max(0.0)).abs() < 1e-9);
        prop_assert!(outside(&solid, nearest) < 1e-9);
        if outside(&solid, other) <= 0.0 {
            prop_assert!(length(sub(other, point)) >= distance - 1e-9);
        }
    }

    #[test]
    fn bodies_overlap_when_going_to_and_fro_between_them_meets(a in solid(), b in solid()) {
        let overlaps = a.overlaps(&b);
        prop_assert_eq!(overlaps, b.overlaps(&a));
        // Only where a millimetre more or less does not matter can trying tell.
        prop_assume!(grown(&a, UNCERTAIN_METRES).overlaps(&b) == grown(&a, -UNCERTAIN_METRES).overlaps(&b));
        let apart = apart(&a, &b);
        prop_assert_eq!(overlaps, apart < UNCERTAIN_METRES / 2.0, "{} apart", apart);
    }

    #[test]
    fn a_body_seen_from_elsewhere_is_the_same_body(
        a in solid(), b in solid(), position in vector(50.0), rotation in rotation(),
    ) {
        prop_assume!(grown(&a, 1e-6).overlaps(&b) == grown(&a, -1e-6).overlaps(&b));
        let placed = Placed { position, rotation };
        prop_assert_eq!(a.inward(&placed).overlaps(&b.inward(&placed)), a.overlaps(&b));
    }
}

#[test]
fn a_line_along_a_face_or_an_edge_touches_and_one_beside_it_does_not() {
    let cube = Solid::Box { centre: [0.0; 3], half_extents: [1.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };
    let along_x =
        |y: f64, z: f64| Line { origin: [-5.0, y, z], direction: [1.0, 0.0, 0.0], begin: 0.0, end: 100.0 };
    assert_eq!(cube.first_contact(&along_x(1.0, 0.0)).map(|contact| contact.along), Some(4.0));
    assert_eq!(cube.first_contact(&along_x(1.0, -1.0)).map(|contact| contact.along), Some(4.0));
    assert!(cube.first_contact(&along_x(1.000_001, 0.0)).is_none());
    assert!(cube.first_contact(&Line { end: 3.999, ..along_x(0.0, 0.0) }).is_none());
    assert!(cube.first_contact(&Line { direction: [-1.0, 0.0, 0.0], ..along_x(0.0, 0.0) }).is_none());
}
