//! That it is physics.

use super::*;
use crate::generate::vector::{UPRIGHT, dot};
use netloom_wire::Tick;

fn alone(body: Body) -> Rigid {
    Rigid { bodies: vec![body], ..Rigid::with_bodies(1, 0) }
}

fn run(rigid: &mut Rigid, seconds: f64) {
    (0..(seconds / STEP_SECONDS).round() as usize).for_each(|_| rigid.step());
}

#[test]
fn what_falls_falls_as_fast_as_it_should() {
    let mut rigid = alone(Body::new([0.0, 50.0, 0.0], UPRIGHT, [0.3; 3]));
    run(&mut rigid, 2.0);
    let fallen = 50.0 - rigid.bodies[0].position[1];
    assert!((fallen - 0.5 * 9.81 * 4.0).abs() < 0.2, "{fallen} m in 2 s");
    assert_eq!(rigid.bodies[0].rotation, UPRIGHT, "nothing turns it");
}

#[test]
fn a_box_that_falls_on_a_corner_comes_to_rest_on_a_side() {
    let mut rigid = alone(Body::new([0.0, 2.0, 0.0], unit([0.3, 0.2, 0.5, 0.8]), [0.3, 0.4, 0.25]));
    run(&mut rigid, 6.0);
    let body = &rigid.bodies[0];
    assert!(body.is_resting, "{body:?}");
    let up = body.axes.map(|axis| dot(axis, [0.0, 1.0, 0.0]).abs());
    let flat = (0..3).find(|axis| up[*axis] > 0.995).expect("a side is up");
    assert!((body.position[1] - body.half[flat]).abs() < 0.02, "{} on {}", body.position[1], body.half[flat]);
}

#[test]
fn a_tower_stands() {
    let tower = (0..4).map(|floor| Body::new([0.0, 0.3 + 0.61 * f64::from(floor), 0.0], UPRIGHT, [0.3; 3]));
    let mut rigid = Rigid { bodies: tower.collect(), ..Rigid::with_bodies(1, 0) };
    run(&mut rigid, 4.0);
    for (floor, body) in rigid.bodies.iter().enumerate() {
        let height = 0.3 + 0.6 * floor as f64;
        let [x, y, z] = body.position;
        assert!(body.is_resting && x.hypot(z) < 0.05 && (y - height).abs() < 0.05, "floor {floor}: {body:?}");
    }
}

#[test]
fn friction_stops_what_slides_and_rolls_what_is_pushed_high() {
    let mut body = Body::new([0.0, 0.3, 0.0], UPRIGHT, [0.3; 3]);
    body.kick([3.0, 0.0, 0.0], [0.0; 3]);
    let mut rigid = alone(body);
    run(&mut rigid, 3.0);
    let way = rigid.bodies[0].position[0];
    // v² / 2 µ g
    assert!(rigid.bodies[0].is_resting && (0.4..1.4).contains(&way), "{way} m");
}

#[test]
fn boxes_stay_in_the_arena_apart_and_most_of_them_move() {
    let mut rigid = Rigid::new(5);
    let mut world = rigid.world().expect("a world");
    let (mut changed, ticks) = (0, 600);
    for tick in 1..=ticks + 100 {
        rigid.play(&mut world).expect("plays");
        world.commit(Tick(tick)).expect("a tick");
        changed += if tick > 100 { world.changed().len() } else { 0 };
    }
    let share = changed as f64 / f64::from(ticks) / BODIES as f64;
    assert!((0.6..0.9).contains(&share), "{share} of the boxes change in a tick");
    for body in &rigid.bodies {
        let [x, y, z] = body.position;
        assert!(x.abs() < ARENA_METRES && z.abs() < ARENA_METRES && (0.0..15.0).contains(&y), "{body:?}");
    }
    let near = rigid.bodies.iter().enumerate().flat_map(|(number, one)| {
        let others = &rigid.bodies[number + 1..];
        others.iter().map(move |two| length(sub(one.position, two.position)))
    });
    let closest = near.fold(f64::INFINITY, f64::min);
    assert!(closest > 0.25, "two boxes are in each other: {closest} m");
}
