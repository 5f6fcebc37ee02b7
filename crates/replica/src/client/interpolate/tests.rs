use proptest::prelude::*;

use super::*;
use crate::noise::Noise;
use crate::space::{UNTURNED, arc_radians};

mod bounds;

const INTERVAL_US: u64 = 50_000;
const FRAME_US: u64 = 16_667;
/// The slot of the object in most tests.
const SLOT: u16 = 3;

fn objects() -> Interpolator {
    Interpolator::new(InterpolatorConfig::default()).unwrap()
}

fn at(time_us: u64, x: f64) -> State {
    let pose = Pose { position: [x, 0.0, 0.0], rotation: UNTURNED };
    State { time: Micros(time_us), pose, velocity: None, jumped: None }
}

fn about_z(degrees: f64) -> [f32; 4] {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin() as f32, half.cos() as f32]
}

impl Interpolator {
    /// A snapshot with this state arrives.
    fn receive(&mut self, state: State) {
        self.handle_snapshot(state.time);
        self.insert(SLOT, state);
    }

    fn x_at(&mut self, time_us: u64) -> f64 {
        self.advance(Micros(time_us));
        self.shown(SLOT).unwrap().pose.position[0]
    }

    fn source(&self) -> Source {
        self.shown(SLOT).unwrap().source
    }
}

#[test]
fn rings_hold_the_longest_delay_and_two_more_but_never_fewer_than_twelve() {
    let capacity = |states_per_second| {
        let config = InterpolatorConfig { states_per_second, ..InterpolatorConfig::default() };
        Interpolator::new(config).unwrap().capacity()
    };
    assert!(capacity(1) >= 12 && capacity(20) >= 12 && capacity(60) >= 32 && capacity(128) >= 66);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |config| Interpolator::new(config).unwrap_err().to_string();
    let usual = InterpolatorConfig::default();
    let error = refused(InterpolatorConfig { states_per_second: 0, ..usual });
    assert_eq!(error, "states_per_second = 0 is not allowed: use 1 to 1,000");
    let error = refused(InterpolatorConfig { objects: 0, ..usual });
    assert_eq!(error, "objects = 0 is not allowed: use 1 to 65,535");
    let error = refused(InterpolatorConfig { extrapolation: Micros(250_001), ..usual });
    assert_eq!(error, "extrapolation = 250001 is not allowed: use 0 to 250,000 µs");
}

#[test]
fn one_state_is_shown_as_it_is_before_and_after_its_time() {
    let mut objects = objects();
    assert_eq!(objects.shown(SLOT), None);
    objects.receive(at(1_000_000, 4.0));
    assert_eq!(objects.shown(SLOT), None, "not before the next frame");
    assert_eq!((objects.x_at(0), objects.source()), (4.0, Source::Ahead));
    assert_eq!((objects.x_at(5_000_000), objects.source()), (4.0, Source::Held));
}

#[test]
fn late_copied_and_too_old_states_find_their_place_or_none() {
    let mut objects = objects();
    for time_us in [100_000, 200_000, 150_000, 200_000, 50_000, 150_000] {
        objects.receive(at(time_us, time_us as f64 / 1e5));
    }
    let mut copy = at(150_000, 99.0);
    assert!(!objects.insert(SLOT, copy), "the first of two equal times counts");
    for time_us in (50_000..=200_000).step_by(10_000) {
        assert!((objects.x_at(time_us) - time_us as f64 / 1e5).abs() < 1e-6, "{time_us}");
    }
    for number in 0..40 {
        objects.receive(at(300_000 + number * INTERVAL_US, 0.0));
    }
    copy.time = Micros(60_000);
    assert!(!objects.insert(SLOT, copy), "older than all of a full ring");
}

#[test]
fn an_object_that_rested_stays_where_it_was_until_one_interval_before_its_first_new_state() {
    let mut objects = objects();
    objects.receive(at(0, 5.0));
    // Snapshots arrive for ten seconds, without it.
    for tick in 1..200 {
        objects.handle_snapshot(Micros(tick * INTERVAL_US));
    }
    objects.receive(at(200 * INTERVAL_US, 5.5));
    assert_eq!(objects.x_at(100_000), 5.0);
    assert_eq!(objects.x_at(199 * INTERVAL_US), 5.0);
    assert!((objects.x_at(199 * INTERVAL_US + INTERVAL_US / 2) - 5.25).abs() < 1e-6);
    assert_eq!(objects.x_at(200 * INTERVAL_US), 5.5);
}

#[test]
fn an_object_that_was_starved_while_it_moved_is_bridged() {
    let mut objects = objects();
    for tick in 0..3 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    // Eight snapshots are lost; it went on.
    objects.receive(at(11 * INTERVAL_US, 11.0));
    for tick in [2, 4, 7, 10] {
        assert!((objects.x_at(tick * INTERVAL_US) - tick as f64).abs() < 1e-5, "tick {tick}");
    }
}

#[test]
fn an_object_that_waited_for_room_in_snapshots_moves_at_its_own_speed() {
    let mut objects = objects();
    for tick in 0..3 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    // Two snapshots arrive without it although it moves.
    objects.handle_snapshot(Micros(3 * INTERVAL_US));
    objects.handle_snapshot(Micros(4 * INTERVAL_US));
    objects.receive(at(5 * INTERVAL_US, 5.0));
    for tick in [2.5, 3.0, 4.0, 4.5] {
        let x = objects.x_at((tick * INTERVAL_US as f64) as u64);
        assert!((x - tick).abs() < 1e-4, "{x} at {tick}");
    }
}

#[test]
fn an_object_that_is_sent_seldom_is_shown_at_its_own_rhythm() {
    let mut objects = objects();
    for tick in 0..120 {
        objects.handle_snapshot(Micros(tick * INTERVAL_US));
        if tick % 6 == 0 {
            objects.insert(SLOT, at(tick * INTERVAL_US, tick as f64));
        }
    }
    // The rhythm is learned: at the end it moves all the time, although most snapshots are silent.
    for tick in 103..114 {
        assert!((objects.x_at(tick * INTERVAL_US) - tick as f64).abs() < 1e-3, "tick {tick}");
    }
}

#[test]
fn what_stopped_is_not_carried_on_when_snapshots_go_on_without_it() {
    let mut objects = objects();
    for tick in 0..5 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    objects.handle_snapshot(Micros(5 * INTERVAL_US));
    objects.handle_snapshot(Micros(6 * INTERVAL_US));
    for time_us in (4 * INTERVAL_US..12 * INTERVAL_US).step_by(5_000) {
        assert_eq!((objects.x_at(time_us), objects.source()), (4.0, Source::Held));
    }
}

#[test]
fn without_news_motion_goes_on_for_250_ms_and_is_then_held() {
    let mut objects = objects();
    for tick in 0..5 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    let end_us = 4 * INTERVAL_US;
    assert!((objects.x_at(end_us + 125_000) - 6.5).abs() < 1e-5);
    assert_eq!(objects.source(), Source::Extrapolated);
    assert!((objects.x_at(end_us + 250_000) - 9.0).abs() < 1e-5);
    assert!((objects.x_at(end_us + 900_000) - 9.0).abs() < 1e-5);
    assert_eq!(objects.source(), Source::Held);
}

#[test]
fn the_velocity_that_the_server_sends_is_used_beyond_the_newest_state() {
    let mut objects = objects();
    objects.receive(State { velocity: Some([0.0, 8.0, 0.0]), ..at(0, 1.0) });
    objects.advance(Micros(100_000));
    let position = objects.shown(SLOT).unwrap().pose.position;
    assert!((position[0] - 1.0).abs() < 1e-9 && (position[1] - 0.8).abs() < 1e-5, "{position:?}");
}

#[test]
fn a_state_that_was_guessed_wrong_is_eased_to_and_not_jumped_to() {
    let mut objects = objects();
    for tick in 0..5 {
        objects.receive(at(tick * INTERVAL_US, tick as f64));
    }
    // It stopped, and that is heard of only after 200 ms of carrying on.
    let speed = 1.0 / INTERVAL_US as f64;
    let mut time_us = 4 * INTERVAL_US;
    let mut x = objects.x_at(time_us);
    for frame in 0..60 {
        if frame == 12 {
            objects.receive(at(5 * INTERVAL_US, 4.2));
            objects.handle_snapshot(Micros(6 * INTERVAL_US));
        }
        time_us += FRAME_US;
        let next = objects.x_at(time_us);
        assert!((next - x).abs() <= 2.0 * speed * FRAME_US as f64, "frame {frame}: {x} to {next}");
        x = next;
    }
    assert_eq!(x, 4.2);
}

#[test]
fn a_jump_is_not_swept_through_and_cancels_what_is_being_eased() {
    let mut objects = objects();
    for tick in 0..5 {
        objects.receive(at(tick * INTERVAL_US, tick as f64 * 0.1));
    }
    objects.receive(State { jumped: Some(Micros(5 * INTERVAL_US)), ..at(5 * INTERVAL_US, 500.0) });
    objects.receive(at(6 * INTERVAL_US, 500.1));
    assert!((objects.x_at(5 * INTERVAL_US - 1) - 0.4).abs() < 1e-6);
    assert_eq!(objects.x_at(5 * INTERVAL_US), 500.0);
    assert!((objects.x_at(5 * INTERVAL_US + INTERVAL_US / 2) - 500.05).abs() < 1e-5);

    // And one that comes while the object is carried on.
    objects.x_at(9 * INTERVAL_US);
    objects.receive(State { jumped: Some(Micros(8 * INTERVAL_US)), ..at(8 * INTERVAL_US, -70.0) });
    assert_eq!(objects.x_at(9 * INTERVAL_US + FRAME_US), -70.0);
}

#[test]
fn silence_after_an_object_was_told_in_full_is_no_rest() {
    let mut objects = objects();
    objects.enter(SLOT, None);
    objects.note_entry(SLOT, Micros(0));
    objects.receive(at(0, 0.0));
    (1..6).for_each(|tick| objects.handle_snapshot(Micros(tick * INTERVAL_US)));
    objects.receive(at(6 * INTERVAL_US, 6.0));
    objects.receive(at(7 * INTERVAL_US, 7.0));
    for tick in 0..=7 {
        assert!((objects.x_at(tick * INTERVAL_US) - tick as f64).abs() < 1e-5, "tick {tick}");
    }
}

#[test]
fn who_started_while_snapshots_got_lost_comes_at_its_own_pace() {
    let mut objects = objects();
    (0..=3).for_each(|tick| objects.receive(at(tick * INTERVAL_US, tick as f64)));
    // It rests, then it moves for four ticks, of which three get lost and in one the server waits for news of them.
    [4, 5, 9].into_iter().for_each(|tick| objects.handle_snapshot(Micros(tick * INTERVAL_US)));
    objects.receive(at(10 * INTERVAL_US, 7.0));
    for (tick, x) in [(4, 3.0), (6, 3.0), (8, 5.0), (10, 7.0)] {
        assert!((objects.x_at(tick * INTERVAL_US) - x).abs() < 1e-5, "tick {tick}");
    }
}

#[test]
fn a_jump_that_fell_out_of_the_ring_during_a_pause_is_not_swept() {
    let mut objects = objects();
    (0..5).for_each(|tick| objects.receive(at(tick * INTERVAL_US, tick as f64)));
    objects.x_at(4 * INTERVAL_US);
    for tick in 5..50 {
        let jumped = (tick == 10).then_some(Micros(tick * INTERVAL_US));
        let x = tick as f64 + if tick < 10 { 0.0 } else { 500.0 };
        objects.receive(State { jumped, ..at(tick * INTERVAL_US, x) });
    }
    assert!((objects.x_at(48 * INTERVAL_US) - 548.0).abs() < 1e-3);
}

#[test]
fn a_jump_that_is_told_again_is_motion_and_another_one_is_none_however_near() {
    let mut objects = objects();
    let jumped = |tick: u64, state| State { jumped: Some(Micros(tick * INTERVAL_US)), ..state };
    objects.receive(at(0, 0.0));
    objects.receive(jumped(1, at(INTERVAL_US, 300.0)));
    objects.receive(jumped(1, at(2 * INTERVAL_US, 400.0)));
    objects.receive(jumped(3, at(3 * INTERVAL_US, 400.5)));
    assert!((objects.x_at(INTERVAL_US + INTERVAL_US / 2) - 350.0).abs() < 1e-4);
    assert!((objects.x_at(2 * INTERVAL_US + INTERVAL_US / 2) - 400.0).abs() < 1e-4);
    assert_eq!(objects.x_at(3 * INTERVAL_US), 400.5);
}

#[test]
fn a_late_state_shows_on_which_side_of_it_the_jump_was() {
    // The jump is to 500 metres further on.
    for (jump_tick, late, between) in [(1, 502.0, 503.0), (3, 2.0, 2.0)] {
        let mut objects = objects();
        let jumped = Some(Micros(jump_tick * INTERVAL_US));
        objects.receive(at(0, 0.0));
        objects.receive(State { jumped, ..at(4 * INTERVAL_US, 504.0) });
        assert_eq!(objects.x_at(0), 0.0);
        objects.receive(State { jumped: jumped.filter(|_| jump_tick == 1), ..at(2 * INTERVAL_US, late) });
        for (tick, x) in [(2, late), (3, between), (4, 504.0)] {
            assert!(
                (objects.x_at(tick * INTERVAL_US) - x).abs() < 1e-3,
                "tick {tick} after a jump at {jump_tick}"
            );
        }
    }
}

#[test]
fn a_turn_from_359_9_to_0_1_degrees_takes_the_short_way() {
    let mut objects = objects();
    let turned = |time_us, degrees| {
        let pose = Pose { rotation: about_z(degrees), ..Pose::default() };
        State { pose, ..at(time_us, 0.0) }
    };
    objects.receive(turned(0, 359.9));
    objects.receive(turned(INTERVAL_US, 0.1));
    objects.advance(Micros(INTERVAL_US / 2));
    let rotation = objects.shown(SLOT).unwrap().pose.rotation;
    assert!(2.0 * arc_radians(rotation, UNTURNED).to_degrees() < 0.01, "{rotation:?}");
}

#[test]
fn velocities_at_both_ends_make_a_circle_rounder_and_mad_or_unset_ones_are_ignored() {
    let radius = 10.0;
    let error_of = |speed: Option<f64>| {
        let mut objects = objects();
        for tick in 0..6u64 {
            let (sine, cosine) = (tick as f64 * 0.6).sin_cos();
            let pose = Pose { position: [radius * cosine, radius * sine, 0.0], rotation: UNTURNED };
            let velocity = speed.map(|speed| [-sine * speed, cosine * speed, 0.0].map(|axis| axis as f32));
            objects.receive(State { time: Micros(tick * INTERVAL_US), pose, velocity, jumped: None });
        }
        let mut worst: f64 = 0.0;
        for time_us in (0..5 * INTERVAL_US).step_by(1_000) {
            objects.advance(Micros(time_us));
            let [x, y, _] = objects.shown(SLOT).unwrap().pose.position;
            worst = worst.max((x.hypot(y) - radius).abs());
        }
        worst
    };
    let (straight, curved) = (error_of(None), error_of(Some(0.6 * radius * 20.0)));
    assert!(straight > 0.4 && curved < 0.01, "{straight} {curved}");
    assert_eq!((error_of(Some(1e6)), error_of(Some(0.0))), (straight, straight));
}

#[test]
fn what_is_not_finite_is_refused_and_what_is_huge_does_no_harm() {
    let mut objects = objects();
    objects.receive(at(0, 1.0));
    let mut bad = at(INTERVAL_US, f64::NAN);
    assert!(!objects.insert(SLOT, bad));
    bad.pose = Pose { rotation: [f32::NAN, 0.0, 0.0, 1.0], ..Pose::default() };
    assert!(!objects.insert(SLOT, bad));
    bad.pose.rotation = [0.0; 4];
    assert!(!objects.insert(SLOT, bad));
    assert!(!objects.insert(u16::MAX, at(0, 0.0)), "a slot that nobody has");
    assert_eq!(objects.refused(), 4);
    objects
        .receive(State { velocity: Some([f32::INFINITY, 0.0, 0.0]), ..at(INTERVAL_US, f64::from(f32::MAX)) });
    objects.receive(State { velocity: Some([f32::MAX; 3]), ..at(2 * INTERVAL_US, f64::from(f32::MIN)) });
    for time_us in (0..20 * INTERVAL_US).step_by(3_000) {
        objects.advance(Micros(time_us));
        let pose = objects.shown(SLOT).unwrap().pose;
        assert!(pose.position.iter().all(|axis| axis.is_finite()), "{pose:?}");
        assert!(pose.rotation.iter().all(|part| part.is_finite()), "{pose:?}");
    }
}

#[test]
fn a_child_is_placed_where_its_parent_is_shown() {
    let mut objects = objects();
    let (parent, child) = (1, SLOT);
    for tick in 0..4u64 {
        let time = Micros(tick * INTERVAL_US);
        let turning = Pose { position: [tick as f64, 0.0, 0.0], rotation: about_z(90.0 * tick as f64) };
        objects.handle_snapshot(time);
        objects.insert(parent, State { pose: turning, ..at(time.0, 0.0) });
        objects.enter(child, Some(parent));
        objects.insert(child, at(time.0, 2.0));
    }
    for tick in [0.5, 1.0, 1.75f64] {
        objects.advance(Micros((tick * INTERVAL_US as f64) as u64));
        let [x, y, _] = objects.shown(child).unwrap().pose.position;
        let angle = (90.0 * tick).to_radians();
        assert!((x - tick - 2.0 * angle.cos()).abs() < 1e-4 && (y - 2.0 * angle.sin()).abs() < 1e-4);
        assert_eq!(objects.shown_locally(child).unwrap().pose.position, [2.0, 0.0, 0.0]);
    }
}

#[test]
fn being_attached_and_let_go_moves_nothing_at_that_moment() {
    let mut objects = objects();
    let (parent, child) = (1, SLOT);
    let mut time_us = 0;
    let mut before = None::<[f64; 3]>;
    for tick in 0..40u64 {
        let time = Micros(tick * INTERVAL_US);
        let carrier = Pose { position: [tick as f64 * 0.2, 50.0, 0.0], rotation: about_z(30.0) };
        // Both go the same way; the child is told relative to the carrier for a while.
        let world = Pose { position: [tick as f64 * 0.2 + 1.0, 51.0, 0.0], rotation: about_z(10.0) };
        objects.handle_snapshot(time);
        objects.insert(parent, State { pose: carrier, ..at(time.0, 0.0) });
        let is_carried = (10..25).contains(&tick);
        objects.enter(child, is_carried.then_some(parent));
        let pose = if is_carried { carrier.inward(&world) } else { world };
        objects.insert(child, State { pose, ..at(time.0, 0.0) });
        for _ in 0..3 {
            time_us += FRAME_US;
            objects.advance(Micros(time_us.saturating_sub(100_000)));
            let position = objects.shown(child).unwrap().pose.position;
            if let Some(before) = before {
                let moved = (position[0] - before[0]).hypot(position[1] - before[1]);
                assert!(moved < 2.0 * 0.2 / 3.0 + 0.02, "tick {tick}: moved by {moved}");
            }
            before = Some(position);
        }
    }
}

proptest! {
    #[test]
    fn rotations_follow_the_arc_to_a_thousandth_of_a_degree(
        a in prop::array::uniform4(-1f32..1.0), b in prop::array::uniform4(-1f32..1.0), part in 0.0f64..1.0,
    ) {
        let (Some(a), Some(b)) = (normalized(a), normalized(b)) else { return Ok(()) };
        let mut objects = objects();
        let turned = |time_us, rotation| {
            State { pose: Pose { rotation, ..Pose::default() }, ..at(time_us, 0.0) }
        };
        objects.receive(turned(0, a));
        objects.receive(turned(INTERVAL_US, b));
        let time_us = (part * INTERVAL_US as f64) as u64;
        objects.advance(Micros(time_us));
        let shown = objects.shown(SLOT).unwrap().pose.rotation.map(f64::from);

        let u = time_us as f64 / INTERVAL_US as f64;
        let cosine: f64 = (0..4).map(|at| f64::from(a[at]) * f64::from(b[at])).sum();
        let sign = cosine.signum();
        let arc = cosine.abs().min(1.0).acos();
        prop_assume!(arc > 1e-3);
        let weights = [((1.0 - u) * arc).sin() / arc.sin(), sign * (u * arc).sin() / arc.sin()];
        let exact: [f64; 4] =
            std::array::from_fn(|at| f64::from(a[at]) * weights[0] + f64::from(b[at]) * weights[1]);
        let apart: f64 = (0..4).map(|at| (shown[at] - exact[at]).powi(2)).sum::<f64>().sqrt();
        prop_assert!((2.0 * apart).to_degrees() < 1e-3, "{} degrees off", (2.0 * apart).to_degrees());
    }

    #[test]
    fn objects_that_come_and_go_never_show_anothers_pose(
        moves in prop::collection::vec((0u16..12, any::<bool>()), 0..80),
    ) {
        let mut objects = objects();
        let mut model = std::collections::BTreeMap::new();
        for (number, (slot, comes)) in moves.into_iter().enumerate() {
            if comes {
                let x = *model.entry(slot).or_insert(number as f64);
                objects.insert(slot, at(number as u64, x));
            } else {
                objects.remove(slot);
                model.remove(&slot);
            }
            objects.advance(Micros(number as u64));
            prop_assert_eq!(objects.len(), model.len());
            for (slot, x) in &model {
                prop_assert_eq!(objects.shown(*slot).unwrap().pose.position[0], *x);
            }
            prop_assert_eq!(objects.iter().count(), model.len());
        }
    }
}

#[test]
fn a_cleared_interpolator_is_as_new() {
    let mut objects = objects();
    let mut noise = Noise(5);
    for slot in 0..30 {
        objects.handle_snapshot(Micros(noise.next() % 1_000_000));
        objects.insert(slot, at(noise.next() % 1_000_000, 1.0));
    }
    objects.advance(Micros(1_000_000));
    objects.clear();
    assert!(objects.is_empty() && objects.shown(3).is_none());
    objects.receive(at(5, 2.0));
    assert_eq!(objects.x_at(0), 2.0);
}
