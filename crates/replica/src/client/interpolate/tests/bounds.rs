//! What is shown never moves faster than about twice as fast as the object, whatever the network does.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Metres a second: no motion here is faster.
const SPEED: f64 = 8.0;
/// What quantizing would add.
const ERROR: f64 = 0.01;
/// It turns as it goes, and back as it comes back.
const DEGREES_PER_METRE: f64 = 20.0;
const ERROR_DEGREES: f64 = 0.5;

/// An object that walks, stops, starts and turns back.
struct Walk {
    noise: Noise,
    x: f64,
    speed: f64,
    ticks_left: u32,
}

impl Walk {
    fn new(seed: u64) -> Walk {
        Walk { noise: Noise(seed * 2 + 1), x: 0.0, speed: SPEED, ticks_left: 20 }
    }

    /// Where it is a tick later.
    fn tick(&mut self) -> f64 {
        if self.ticks_left == 0 {
            self.speed = [0.0, SPEED, -SPEED, SPEED / 2.0][(self.noise.next() % 4) as usize];
            self.ticks_left = 5 + (self.noise.next() % 25) as u32;
        }
        self.ticks_left -= 1;
        self.x += self.speed * INTERVAL_US as f64 * 1e-6;
        self.x
    }
}

#[derive(Clone, Copy, Debug)]
struct Weather {
    seed: u64,
    jitter_us: u64,
    loss: f64,
    delay_us: u64,
    frame_us: u64,
    has_velocity: bool,
    /// No snapshot sent in this time arrives.
    outage: (u64, u64),
}

/// Sends twenty seconds of a walk through the weather, then five calm ones, and looks at every frame.
fn show(weather: Weather) -> Result<(), TestCaseError> {
    let Weather { seed, jitter_us, loss, delay_us, frame_us, has_velocity, outage } = weather;
    let (mut walk, mut noise, mut objects) = (Walk::new(seed), Noise(seed * 3 + 7), objects());
    let mut in_flight = BTreeMap::new();
    // The server repeats a state until it hears, three ticks later, that one of them arrived.
    let (mut changed, mut arrived) = (0, Vec::new());
    for tick in 0..500u64 {
        let is_calm = tick >= 400;
        if tick == 440 {
            (walk.speed, walk.ticks_left) = (0.0, 1_000);
        }
        let x = walk.tick();
        changed = if walk.speed != 0.0 { tick } else { changed };
        let velocity = has_velocity.then_some([walk.speed as f32, 0.0, 0.0]);
        let is_known = arrived.iter().any(|&other| other >= changed && other + 3 <= tick);
        let sent_us = tick * INTERVAL_US;
        let late_us = if is_calm { 0 } else { (noise.unit() * jitter_us as f64) as u64 };
        let is_lost = !is_calm && (noise.unit() < loss || (outage.0..outage.1).contains(&sent_us));
        if !is_lost {
            in_flight.insert((sent_us + late_us, tick), (!is_known).then_some((x, velocity)));
            arrived.extend((!is_known).then_some(tick));
        }
    }
    let (mut now_us, mut shown) = (0, None::<Pose>);
    while now_us < 500 * INTERVAL_US {
        while let Some(entry) = in_flight.first_entry().filter(|entry| entry.key().0 <= now_us) {
            let ((_, tick), x) = entry.remove_entry();
            let time = Micros(tick * INTERVAL_US);
            objects.handle_snapshot(time);
            if let Some((x, velocity)) = x {
                let pose = Pose { position: [x, 0.0, 0.0], rotation: about_z(x * DEGREES_PER_METRE) };
                objects.insert(SLOT, State { time, pose, velocity, jumped: None });
            }
        }
        objects.advance(Micros(now_us.saturating_sub(delay_us)));
        if let Some(Shown { pose: next, .. }) = objects.shown(SLOT) {
            let before = shown.unwrap_or(next);
            let limit = 2.0 * SPEED * frame_us as f64 * 1e-6;
            let moved = (next.position[0] - before.position[0]).abs();
            let turned = f64::from(2.0 * arc_radians(next.rotation, before.rotation)).to_degrees();
            let at = format!("{weather:?} at {now_us} µs: moved by {moved}, turned by {turned}; {limit}");
            prop_assert!(
                moved <= limit + ERROR && turned <= limit * DEGREES_PER_METRE + ERROR_DEGREES,
                "{at}"
            );
            shown = Some(next);
        }
        now_us += frame_us;
    }
    let (shown, truth) = (shown.unwrap().position[0], walk.x);
    prop_assert!((shown - truth).abs() < ERROR, "{weather:?}: {shown} at the end, is {truth}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn motion_never_jumps_and_converges_when_the_network_calms(
        seed in 0u64..1_000_000, jitter_us in 0u64..80_000, loss in 0.0f64..0.2, delay_us in 75_000u64..300_000,
        frame_us in prop::sample::select(vec![6_944u64, 16_667, 33_333]),
        has_velocity: bool, outage_start in 0u64..15_000_000, outage in 0u64..1_500_000,
    ) {
        let outage = (outage_start, outage_start + outage);
        show(Weather { seed, jitter_us, loss, delay_us, frame_us, has_velocity, outage })?;
    }
}

#[test]
fn a_difference_waits_while_the_way_itself_is_fast() {
    // From rest to full speed between two states, while four metres of an outage are made up for.
    let weather = Weather {
        seed: 775_854,
        jitter_us: 0,
        loss: 0.196_685_869_962_961_1,
        delay_us: 75_000,
        frame_us: 6_944,
        has_velocity: true,
        outage: (1_846_883, 3_100_001),
    };
    show(weather).unwrap();
}

#[test]
fn a_large_turn_shrinks_no_faster_in_the_middle() {
    let weather = Weather {
        seed: 364_918,
        jitter_us: 42_125,
        loss: 0.0,
        delay_us: 83_279,
        frame_us: 33_333,
        has_velocity: false,
        outage: (4_201_598, 5_250_001),
    };
    show(weather).unwrap();
}

#[test]
fn a_child_stays_where_it_is_when_its_parent_is_removed_and_another_takes_the_slot() {
    let mut objects = objects();
    let (parent, child) = (1, 2);
    for tick in 0..4 {
        let time_us = tick * INTERVAL_US;
        objects.handle_snapshot(Micros(time_us));
        objects.insert(parent, at(time_us, 100.0));
        objects.enter(child, Some(parent));
        objects.insert(child, at(time_us, 2.0));
    }
    objects.advance(Micros(3 * INTERVAL_US));
    let place = |objects: &Interpolator| objects.shown(child).unwrap().pose.position[0];
    assert_eq!(place(&objects), 102.0);
    objects.remove(parent);
    objects.advance(Micros(3 * INTERVAL_US + FRAME_US));
    assert_eq!(place(&objects), 102.0);
    objects.insert(parent, at(4 * INTERVAL_US, -7.0));
    objects.advance(Micros(4 * INTERVAL_US));
    assert_eq!(place(&objects), 102.0);
}

#[test]
fn places_beyond_all_measure_are_refused_so_that_their_sums_stay_numbers() {
    let mut objects = objects();
    for slot in 0..4u16 {
        objects.enter(slot, slot.checked_sub(1));
        objects.insert(slot, at(0, 1e308));
        objects.insert(slot, at(INTERVAL_US, 1e15));
        objects.insert(slot, at(2 * INTERVAL_US, -1e15));
    }
    objects.advance(Micros(INTERVAL_US + FRAME_US));
    objects.enter(3, None);
    objects.advance(Micros(INTERVAL_US + 2 * FRAME_US));
    assert_eq!(objects.iter().count(), 4);
    for (slot, shown) in objects.iter() {
        let parts = shown.pose.position.into_iter().chain(shown.pose.rotation.map(f64::from));
        assert!(parts.clone().all(f64::is_finite), "{slot}: {shown:?}");
    }
    assert_eq!(objects.refused(), 4);
}

#[test]
fn two_states_a_microsecond_apart_do_not_make_an_object_rest_for_ever() {
    let mut objects = objects();
    objects.receive(at(0, 0.0));
    objects.receive(at(1, 0.0));
    for tick in 1..60 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    let row = objects.row(SLOT).unwrap();
    assert_eq!(objects.rings.interval_us(row), INTERVAL_US as i64);
}
