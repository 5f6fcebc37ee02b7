//! What is seen: the ring, the clock, the ends of the buffer, rotations, adaptation.

use netloom_replica::client::{
    DelayConfig, Interpolator, InterpolatorConfig, Pose, ServerClock, Source, State, ViewDelay,
};
use netloom_wire::Micros;

const TICK_US: u64 = 50_000;
const FRAME_US: u64 = 16_667;

fn state(time_us: u64, x: f64) -> State {
    let pose = Pose { position: [x, 0.0, 0.0], ..Pose::default() };
    State { time: Micros(time_us), pose, velocity: None, jumped: None }
}

/// The part of the frames of ten seconds that have a state before and one after them, as `is_bracketed` finds.
fn bracketed(interval_us: u64, delay_us: u64, mut is_bracketed: impl FnMut(u64, Option<u64>) -> bool) -> f64 {
    let mut next_us = 0;
    let (mut frames, mut found) = (0, 0);
    for now_us in (0..10_000_000).step_by(FRAME_US as usize) {
        let arrived = (now_us >= next_us).then_some(next_us);
        next_us += if arrived.is_some() { interval_us } else { 0 };
        let Some(view_us) = u64::checked_sub(now_us, delay_us) else {
            is_bracketed(0, arrived);
            continue;
        };
        frames += 1;
        found += u32::from(is_bracketed(view_us, arrived));
    }
    f64::from(found) / f64::from(frames)
}

/// U's ring of four: the newest four states, whatever the delay.
fn literal_ring(capacity: usize) -> impl FnMut(u64, Option<u64>) -> bool {
    let mut ring = Vec::new();
    move |view_us, arrived| {
        ring.extend(arrived);
        if ring.len() > capacity {
            ring.remove(0);
        }
        ring.iter().any(|time_us| *time_us <= view_us) && ring.iter().any(|time_us| *time_us >= view_us)
    }
}

fn our_ring(interval_us: u64) -> impl FnMut(u64, Option<u64>) -> bool {
    let states_per_second = 1_000_000u64.div_ceil(interval_us) as u32;
    let config = InterpolatorConfig { states_per_second, ..InterpolatorConfig::default() };
    let mut objects = Interpolator::new(config).unwrap();
    move |view_us, arrived| {
        if let Some(time_us) = arrived {
            objects.handle_snapshot(Micros(time_us));
            objects.insert(0, state(time_us, time_us as f64));
        }
        objects.advance(Micros(view_us));
        objects.shown(0).is_some_and(|shown| shown.source == Source::Between)
    }
}

/// X-U23: four states per object, and a delay of up to 500 ms.
#[test]
fn a_ring_of_four_has_no_states_around_300_ms_ago_and_ours_always_has() {
    assert!(bracketed(TICK_US, 100_000, literal_ring(4)) > 0.99);
    assert!(bracketed(TICK_US, 200_000, literal_ring(4)) < 0.3);
    assert_eq!(bracketed(TICK_US, 300_000, literal_ring(4)), 0.0);
    assert_eq!(bracketed(TICK_US, 500_000, literal_ring(4)), 0.0);
    for delay_us in [100_000, 200_000, 300_000, 500_000] {
        for interval_us in [TICK_US, 33_333, FRAME_US] {
            let part = bracketed(interval_us, delay_us, our_ring(interval_us));
            assert!(
                part > 0.99,
                "{part} of the frames at {delay_us} µs and one state every {interval_us} µs"
            );
        }
    }
}

/// X-U23: a delay of 50 ms while the server has adapted to 10 Hz.
#[test]
fn a_delay_of_50_ms_is_too_short_at_10_hertz_and_ours_grows_to_one_and_a_half_intervals() {
    let literal = bracketed(100_000, 50_000, literal_ring(4));
    assert!((0.4..0.6).contains(&literal), "{literal}");

    let config = DelayConfig { delay: Micros::from_millis(50), is_adaptive: false };
    let mut delay = ViewDelay::new(config).unwrap();
    for frame in 0..600 {
        delay.advance(Micros(frame * FRAME_US), Micros::from_millis(100), Micros::ZERO);
    }
    assert!(delay.delay() >= Micros(149_000), "{:?}", delay.delay());
    assert!(bracketed(100_000, delay.delay().0, our_ring(100_000)) > 0.99);
}

/// X-U41: server time in float seconds.
#[test]
fn float_seconds_are_too_coarse_after_a_day_and_ours_are_as_fine_as_at_the_start() {
    let literal_step = |seconds: f32| f32::from_bits(seconds.to_bits() + 1) - seconds;
    assert!(literal_step(36.5 * 3_600.0) > 0.015, "a frame cannot be told from the next");

    for hours in [0, 37, 24 * 365] {
        let start_us = hours * 3_600_000_000;
        let mut objects = Interpolator::new(InterpolatorConfig::default()).unwrap();
        for tick in 0..10 {
            objects.handle_snapshot(Micros(start_us + tick * TICK_US));
            objects.insert(0, state(start_us + tick * TICK_US, tick as f64));
        }
        for step_us in (0..400_000).step_by(1_000) {
            objects.advance(Micros(start_us + step_us));
            let x = objects.shown(0).unwrap().pose.position[0];
            assert!((x - step_us as f64 / TICK_US as f64).abs() < 1e-6, "{hours} h: {x}");
        }
    }
}

/// X-B21 and X-U26: unsigned subtraction before the first state; equal times; order of arrival.
#[test]
fn a_time_before_the_first_state_and_equal_times_break_the_literal_form_and_not_ours() {
    let literal = |states: &[(u32, f32)], time: u32| {
        let (a, b) = (states[0], states[1]);
        let t = time.wrapping_sub(a.0) as f32 / b.0.wrapping_sub(a.0) as f32;
        a.1 + (b.1 - a.1) * t
    };
    assert!(literal(&[(1_000, 0.0), (1_050, 1.0)], 990) > 8e7);
    assert!(!literal(&[(1_000, 0.0), (1_000, 1.0)], 1_000).is_finite());

    let mut objects = Interpolator::new(InterpolatorConfig::default()).unwrap();
    for (time_us, x) in [(1_050_000, 1.0), (1_000_000, 0.0), (1_000_000, 7.0), (1_050_000, 9.0)] {
        objects.handle_snapshot(Micros(time_us));
        objects.insert(0, state(time_us, x));
    }
    for (time_us, expected) in
        [(0, 0.0), (990_000, 0.0), (1_000_000, 0.0), (1_025_000, 0.5), (1_050_000, 1.0)]
    {
        objects.advance(Micros(time_us));
        let x = objects.shown(0).unwrap().pose.position[0];
        assert!((x - expected).abs() < 1e-6, "{x} at {time_us}");
    }
}

/// X-U26: extrapolation without a limit of time.
#[test]
fn extrapolation_without_a_limit_runs_away_and_ours_stops_after_250_ms() {
    let (speed, outage) = (10.0, 5.0);
    let literal = 1.0 + speed * outage;
    assert!(literal > 50.0);

    let mut objects = Interpolator::new(InterpolatorConfig::default()).unwrap();
    objects.handle_snapshot(Micros(0));
    objects.insert(0, State { velocity: Some([speed as f32, 0.0, 0.0]), ..state(0, 1.0) });
    let mut furthest: f64 = 0.0;
    for time_us in (0..5_000_000).step_by(FRAME_US as usize) {
        objects.advance(Micros(time_us));
        furthest = furthest.max(objects.shown(0).unwrap().pose.position[0]);
    }
    assert!((furthest - (1.0 + speed * 0.25)).abs() < 1e-4, "{furthest}");
}

fn about_z(degrees: f64) -> [f32; 4] {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin() as f32, half.cos() as f32]
}

fn degrees_of([_, _, z, w]: [f32; 4]) -> f64 {
    (2.0 * f64::from(z).atan2(f64::from(w))).to_degrees().rem_euclid(360.0)
}

/// X-U26: quaternions, component by component.
#[test]
fn a_lerp_of_359_degrees_to_1_goes_the_long_way_and_ours_the_short_one() {
    let (a, b) = (about_z(359.0), about_z(1.0));
    let literal: [f32; 4] = std::array::from_fn(|at| (a[at] + b[at]) / 2.0);
    assert!((degrees_of(literal) - 180.0).abs() < 1.0, "{}", degrees_of(literal));

    let mut objects = Interpolator::new(InterpolatorConfig::default()).unwrap();
    for (time_us, rotation) in [(0, a), (TICK_US, b)] {
        objects.handle_snapshot(Micros(time_us));
        objects.insert(0, State { pose: Pose { rotation, ..Pose::default() }, ..state(time_us, 0.0) });
    }
    objects.advance(Micros(TICK_US / 2));
    let degrees = degrees_of(objects.shown(0).unwrap().pose.rotation);
    assert!(!(0.01..=359.99).contains(&degrees), "{degrees}");
}

/// X-U26: no clock is described; the first packet's delay would stay in the reading for ever.
#[test]
fn a_clock_set_by_its_first_snapshot_keeps_that_delay_and_drifts_and_ours_does_neither() {
    let (first_late_us, ppm) = (80_000, 200e-6);
    let mut clock = ServerClock::new();
    let mut literal_offset = None;
    let (mut literal_us, mut server_us) = (0.0, 0.0);
    for frame in 0..60 * 600u64 {
        let now_us = 1_000_000 + frame * FRAME_US;
        server_us = 50e6 + now_us as f64 * (1.0 + ppm);
        if frame.is_multiple_of(3) {
            let late_us = if frame == 0 { first_late_us } else { 0 };
            let stamp_us = server_us as u64 - late_us;
            literal_offset.get_or_insert(stamp_us as i64 - now_us as i64);
            clock.handle_snapshot(Micros(now_us), Micros(stamp_us));
        }
        clock.advance(Micros(now_us));
        literal_us = (now_us as i64 + literal_offset.unwrap()) as f64;
    }
    assert!(server_us - literal_us > 190_000.0, "{} µs", server_us - literal_us);
    let ours_us = clock.reading().unwrap().0 as f64;
    assert!((server_us - ours_us).abs() < 3_000.0, "{} µs", server_us - ours_us);
}

/// X-B24: what was adapted is never taken back.
#[test]
fn a_delay_that_only_grows_stays_long_for_ever_and_ours_returns() {
    let (mut literal, mut delay) = (100_000, ViewDelay::new(DelayConfig::default()).unwrap());
    for frame in 0..60 * 60 {
        // Ten seconds of jitter in a minute.
        let needed_us = if (600..1_200).contains(&frame) { 220_000 } else { 70_000 };
        literal = literal.max(needed_us);
        delay.advance(Micros(frame * FRAME_US), Micros(TICK_US), Micros(needed_us));
        if frame == 1_199 {
            assert!(delay.delay().0 > 215_000, "{:?}", delay.delay());
        }
    }
    assert_eq!(literal, 220_000);
    assert!(delay.delay().0.abs_diff(100_000) < 1_000, "{:?}", delay.delay());
}

/// X-C17 and R: two samples and t = elapsed / interval freeze with every snapshot that is late.
#[test]
fn two_samples_freeze_when_one_is_lost_and_ours_move_on() {
    let arrives = |tick: u64| !tick.is_multiple_of(8);
    let mut objects = Interpolator::new(InterpolatorConfig::default()).unwrap();
    let (mut pair, mut arrived_us) = ((0.0, 0.0), 0);
    let (mut literal_before, mut ours_before) = (0.0, 0.0);
    let (mut literal_still, mut ours_still) = (0, 0);
    for frame in 0..1_200u64 {
        let now_us = frame * FRAME_US;
        let tick = now_us / TICK_US;
        let is_new = frame == 0 || tick > (now_us - FRAME_US) / TICK_US;
        if is_new && arrives(tick) {
            (pair, arrived_us) = ((pair.1, tick as f64), now_us);
            objects.handle_snapshot(Micros(tick * TICK_US));
            objects.insert(0, state(tick * TICK_US, tick as f64));
        }
        let t = ((now_us - arrived_us) as f64 / TICK_US as f64).min(1.0);
        let literal = pair.0 + (pair.1 - pair.0) * t;
        objects.advance(Micros(now_us.saturating_sub(100_000)));
        let ours = objects.shown(0).map_or(0.0, |shown| shown.pose.position[0]);
        if frame > 30 {
            literal_still += u32::from(literal - literal_before < 1e-9);
            ours_still += u32::from(ours - ours_before < 1e-9);
        }
        (literal_before, ours_before) = (literal, ours);
    }
    assert!(literal_still > 90, "{literal_still} frames without motion");
    assert_eq!(ours_still, 0);
}
