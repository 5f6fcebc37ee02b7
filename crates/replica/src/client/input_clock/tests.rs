use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::noise::Noise;
use crate::snapshot::Slack;

const FRAME_US: u64 = 16_667;
const STEP_US: f64 = 1e6 / 60.0;
const SNAPSHOT_US: u64 = 50_000;

/// A client and a server over a route, in the client's time.
struct Loop {
    noise: Noise,
    one_way_us: u64,
    jitter_us: u64,
    ppm: f64,
    /// Messages that do not arrive, of all.
    loss: f64,
    now_us: u64,
    clock: ServerClock,
    input: InputClock,
    /// By arrival: messages on their way up, by their newest step; snapshots on their way down.
    up: BTreeMap<(u64, u32), ()>,
    down: BTreeMap<(u64, u64), Option<(Tick, i64)>>,
    feedback: Option<(Tick, f64)>,
    newest: Option<Tick>,
    next_snapshot_us: u64,
    /// Of all inputs, and of the newest of each message.
    slacks_us: Vec<i64>,
    newest_slacks_us: Vec<i64>,
    /// Whether something else than the frames reads what arrives, and when it does.
    has_own_reader: bool,
}

impl Loop {
    fn new(rtt_us: u64, jitter_us: u64, ppm: f64) -> Loop {
        Loop {
            noise: Noise(rtt_us + 3 * jitter_us + 1),
            one_way_us: rtt_us / 2,
            jitter_us,
            ppm,
            loss: 0.0,
            now_us: 3_000_000,
            clock: ServerClock::new(),
            input: InputClock::new(InputClockConfig::default()).unwrap(),
            up: BTreeMap::new(),
            down: BTreeMap::new(),
            feedback: None,
            newest: None,
            next_snapshot_us: 3_000_000,
            slacks_us: Vec::new(),
            newest_slacks_us: Vec::new(),
            has_own_reader: false,
        }
    }

    fn server_us(&self, now_us: u64) -> f64 {
        now_us as f64 * (1.0 + self.ppm * 1e-6)
    }

    fn way_us(&mut self) -> u64 {
        self.one_way_us + (self.noise.unit() * self.jitter_us as f64) as u64
    }

    fn serve(&mut self) {
        while let Some(((arrival_us, step), ())) = self.up.pop_first_if_due(self.now_us) {
            // What a message brings was in the one that overtook it, too.
            let first = self.feedback.map_or(step, |(newest, _)| newest.0 + 1);
            if first > step {
                continue;
            }
            let slack_of = |step: u32| (f64::from(step) * STEP_US - self.server_us(arrival_us)) as i64;
            let slack_us = slack_of(step);
            let slacks_us: Vec<i64> = (first..=step).map(slack_of).collect();
            self.slacks_us.extend(slacks_us);
            self.newest_slacks_us.push(slack_us);
            let smooth = self
                .feedback
                .map_or(slack_us as f64, |(_, smooth)| smooth + (slack_us as f64 - smooth) / 8.0);
            self.feedback = Some((Tick(step), smooth));
        }
        while self.next_snapshot_us <= self.now_us {
            let arrival_us = self.next_snapshot_us + self.way_us();
            let feedback = self.feedback.map(|(step, slack)| (step, slack as i64));
            if self.noise.unit() > 0.1 {
                self.down.insert((arrival_us, self.next_snapshot_us), feedback);
            }
            self.next_snapshot_us += SNAPSHOT_US;
        }
    }

    fn frame(&mut self, passed_us: u64) -> Steps {
        self.now_us += passed_us;
        self.serve();
        let now = Micros(self.now_us);
        while let Some(((arrival_us, sent_us), feedback)) = self.down.pop_first_if_due(self.now_us) {
            let read = if self.has_own_reader { Micros(arrival_us) } else { now };
            self.clock.handle_snapshot(read, Micros(self.server_us(sent_us) as u64));
            if let Some((step, slack_us)) = feedback {
                self.input.handle_slack(step, slack_us);
            }
            self.clock.handle_rtt(Micros(2 * self.one_way_us + self.jitter_us));
        }
        self.clock.advance(now);
        let steps = self.input.poll_steps(now, &self.clock);
        assert!(steps.count <= 8);
        for step in steps.iter() {
            assert!(self.newest.is_none_or(|newest| step.is_newer_than(newest)), "step {step:?} again");
            self.newest = Some(step);
        }
        if let Some(newest) = steps.iter().last() {
            let arrival_us = self.now_us + self.way_us();
            if self.loss == 0.0 || self.noise.unit() >= self.loss {
                self.up.insert((arrival_us, newest.0), ());
            }
        }
        steps
    }

    fn run(&mut self, seconds: u64) {
        self.run_with_frames(seconds, FRAME_US);
    }

    fn run_with_frames(&mut self, seconds: u64, frame_us: u64) {
        for _ in 0..seconds * 1_000_000 / frame_us {
            self.frame(frame_us);
        }
    }

    /// The mean slack of the last `seconds`, after running for so long.
    fn mean_slack_us(&mut self, seconds: u64) -> f64 {
        self.slacks_us.clear();
        self.newest_slacks_us.clear();
        self.run(seconds);
        self.newest_slacks_us.iter().sum::<i64>() as f64 / self.newest_slacks_us.len() as f64
    }
}

trait PopDue<N, V> {
    fn pop_first_if_due(&mut self, now_us: u64) -> Option<((u64, N), V)>;
}

impl<N: Ord + Copy, V> PopDue<N, V> for BTreeMap<(u64, N), V> {
    fn pop_first_if_due(&mut self, now_us: u64) -> Option<((u64, N), V)> {
        let entry = self.first_entry().filter(|entry| entry.key().0 <= now_us)?;
        Some(entry.remove_entry())
    }
}

#[test]
fn slack_stays_within_a_step_of_its_target_on_any_route_and_with_drifting_clocks() {
    for rtt_us in [0, 30_000, 100_000, 300_000] {
        for jitter_us in [0, 20_000, 80_000] {
            for ppm in [-200.0, 0.0, 200.0] {
                let mut game = Loop::new(rtt_us, jitter_us, ppm);
                game.run(12);
                for _ in 0..10 {
                    let slack_us = game.mean_slack_us(3);
                    let target_us = game.input.target_slack().0 as f64;
                    let at = format!("{rtt_us} {jitter_us} {ppm}: slack {slack_us}, target {target_us}");
                    assert!((slack_us - target_us).abs() < STEP_US, "{at}");
                }
                let late = game.slacks_us.iter().filter(|slack| **slack < 0).count();
                assert!(late * 20 <= game.slacks_us.len(), "{late} of {} came late", game.slacks_us.len());
            }
        }
    }
}

#[test]
fn at_30_frames_a_second_the_older_step_of_a_frame_is_in_time_too() {
    let mut route = Loop::new(100_000, 0, 0.0);
    for _ in 0..300 {
        route.frame(2 * FRAME_US);
    }
    route.slacks_us.clear();
    for _ in 0..300 {
        route.frame(2 * FRAME_US);
    }
    let least_us = route.slacks_us.iter().min().unwrap();
    assert!(*least_us > 0 && *least_us < STEP_US as i64, "{least_us}");
}

#[test]
fn where_messages_get_lost_two_in_a_row_make_nothing_late() {
    let late_of = |told_per_mille: u32| {
        let mut route = Loop { loss: 0.05, ..Loop::new(150_000, 0, 0.0) };
        route.input.handle_loss(told_per_mille);
        route.run(20);
        route.slacks_us.clear();
        route.run(600);
        let late = route.slacks_us.iter().filter(|slack| **slack < 0).count();
        (late * 10_000 / route.slacks_us.len(), route.input.target_slack().0 as f64)
    };
    let [(unaware, usual_us), (aware, early_us)] = [0, 50].map(late_of);
    assert!(unaware >= 20 && aware * 8 <= unaware, "{unaware} and {aware} of 10,000 are late");
    assert!((early_us - usual_us - STEP_US).abs() < 1_000.0, "{usual_us} and {early_us} µs early");
}

#[test]
fn a_loss_that_has_passed_is_forgotten_slowly() {
    let mut route = Loop::new(60_000, 0, 0.0);
    let usual = route.input.target_slack();
    route.input.handle_loss(400);
    route.run(4);
    let early = route.input.target_slack();
    route.input.handle_loss(0);
    route.run(5);
    let later = route.input.target_slack();
    route.run(60);
    assert!(usual < later && later < early, "{usual:?} {later:?} {early:?}");
    assert!(route.input.target_slack().0 < usual.0 + 200);
}

/// A frame of two steps, a little faster or slower: every few seconds it has one or three, and its oldest step is late by a
/// whole gap after it was late by half a gap for long.
#[test]
fn no_step_is_late_wherever_steps_and_frames_meet() {
    for frame_us in [33_300, 33_333, 33_367, 16_650, 16_690, 20_000, 25_100] {
        for ppm in [-200.0, 30.0] {
            let mut route = Loop { has_own_reader: true, ..Loop::new(100_000, 0, ppm) };
            route.run_with_frames(20, frame_us);
            route.slacks_us.clear();
            route.run_with_frames(120, frame_us);
            let least_us = *route.slacks_us.iter().min().unwrap();
            assert!(least_us > 0, "{least_us} µs with frames of {frame_us} µs at {ppm} ppm");
        }
    }
}

#[test]
fn the_steps_follow_a_falling_target() {
    let mut route = Loop::new(60_000, 80_000, 0.0);
    route.run(20);
    route.jitter_us = 0;
    route.one_way_us += 20_000;
    let mut off_us: f64 = 0.0;
    for _ in 0..40 {
        let slack_us = route.mean_slack_us(1);
        off_us = off_us.max((slack_us - route.input.target_slack().0 as f64).abs());
    }
    assert!(off_us < STEP_US, "{off_us}");
}

#[test]
fn a_slack_finds_its_step_by_16_bits() {
    let mut server = ServerClock::new();
    server.handle_snapshot(Micros(0), Micros::from_secs(2_000));
    let mut input = InputClock::new(InputClockConfig::default()).unwrap();
    let steps = input.poll_steps(Micros(0), &server);
    assert!(steps.count > 0 && steps.first.0 > 0xffff, "{steps:?}");
    input.handle_slack(Tick(steps.first.0 & 0xffff), 5_000);
    assert_eq!(input.expected_slack_us(), Some(5_000));
}

#[test]
fn the_steps_of_a_second_are_those_of_the_server_within_the_dilation() {
    let mut game = Loop::new(80_000, 10_000, 150.0);
    game.run(10);
    let steps: u32 = (0..600).map(|_| game.frame(FRAME_US).count).sum();
    assert!((598..=602).contains(&steps), "{steps} steps in ten seconds");
}

#[test]
fn the_first_inputs_already_arrive_in_time() {
    let mut game = Loop::new(200_000, 0, 0.0);
    game.run(1);
    assert!(!game.slacks_us.is_empty());
    assert!(game.slacks_us.iter().all(|slack| *slack > 0), "{:?}", game.slacks_us);
}

#[test]
fn a_route_that_becomes_slower_makes_steps_shorter_and_skips_none() {
    let mut game = Loop::new(40_000, 0, 0.0);
    game.run(10);
    game.one_way_us += 60_000;
    let mut skipped = 0;
    for _ in 0..600 {
        skipped += game.frame(FRAME_US).skipped;
    }
    let slack_us = game.mean_slack_us(2);
    let target_us = game.input.target_slack().0 as f64;
    assert!((slack_us - target_us).abs() < STEP_US, "slack {slack_us}, target {target_us}");
    assert_eq!(skipped, 0);
}

#[test]
fn after_a_long_pause_steps_are_skipped_and_after_a_short_one_made_up() {
    let mut game = Loop::new(40_000, 0, 0.0);
    game.run(5);
    let short = game.frame(100_000);
    assert_eq!((short.count, short.skipped), (6, 0));
    let long = game.frame(3_000_000);
    assert_eq!(long.count, 8);
    assert!((165..=180).contains(&long.skipped), "{long:?}");
    game.run(5);
    let slack_us = game.mean_slack_us(2);
    assert!((slack_us - game.input.target_slack().0 as f64).abs() < STEP_US, "{slack_us}");
}

#[test]
fn a_client_whom_the_server_has_left_behind_goes_by_the_clock() {
    let (mut clock, mut input) = (ServerClock::new(), InputClock::new(InputClockConfig::default()).unwrap());
    let mut newest = Tick(0);
    for frame in 0..120 {
        let now = Micros(frame * FRAME_US);
        let simulated = Tick((60 * now.0 / 1_000_000) as u32 + 600);
        if frame % 3 == 0 {
            clock.handle_snapshot(now, Micros::from_secs(10) + now);
        }
        if frame > 0 && frame % 3 == 0 {
            // A slack of long ago: the client waits, until the server has come past it.
            let slack = (frame < 60).then(|| Slack::from_steps(27.0));
            input.handle_feedback(&Feedback { step: simulated, slack });
        }
        clock.advance(now);
        let steps = input.poll_steps(now, &clock);
        newest = steps.iter().last().unwrap_or(newest);
        let is_late = !newest.is_newer_than(simulated);
        assert!(frame < 80 || !is_late, "{newest:?} is made when {simulated:?} is over");
    }
}

#[test]
fn without_feedback_the_lead_follows_the_round_trip() {
    let mut clock = ServerClock::new();
    let mut input = InputClock::new(InputClockConfig::default()).unwrap();
    clock.handle_rtt(Micros(100_000));
    let mut given = Tick(0);
    for frame in 0..600u64 {
        let now = Micros(frame * FRAME_US);
        if frame % 3 == 0 {
            clock.handle_snapshot(now, now + Micros(5_000_000));
        }
        clock.advance(now);
        given = input.poll_steps(now, &clock).iter().last().unwrap_or(given);
    }
    let lead_us = f64::from(given.0) * STEP_US - (599 * FRAME_US + 5_000_000) as f64;
    assert!((100_000.0 + STEP_US..100_000.0 + 3.0 * STEP_US).contains(&lead_us), "{lead_us}");
    assert_eq!(input.expected_slack_us(), None);
    let (tick, phase) = input.phase().unwrap();
    assert!(tick == given && (0.0..=1.0).contains(&phase));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |config| InputClock::new(config).unwrap_err().to_string();
    let usual = InputClockConfig::default();
    let error = refused(InputClockConfig { steps_per_second: 0, ..usual });
    assert_eq!(error, "steps_per_second = 0 is not allowed: use 1 to 1,000");
    let error = refused(InputClockConfig { steps_per_poll_max: 0, ..usual });
    assert_eq!(error, "steps_per_poll_max = 0 is not allowed: use 1 to 64");
    let error = refused(InputClockConfig { resync: Micros(1), ..usual });
    assert_eq!(error, "resync = 1 is not allowed: use 50,000 to 5,000,000 µs");
}

#[test]
fn a_clock_of_ours_that_leaps_to_the_end_of_time_and_back_breaks_nothing() {
    let mut clock = ServerClock::new();
    clock.handle_snapshot(Micros(0), Micros::from_secs(10));
    let mut input = InputClock::new(InputClockConfig::default()).unwrap();
    for look in 0..200 {
        let now = if look % 2 == 0 { Micros(look * FRAME_US) } else { Micros::MAX };
        clock.advance(now);
        assert!(input.poll_steps(now, &clock).count <= 8);
        input.handle_slack(Tick(600 + look as u32), i64::MIN);
        let (_, phase) = input.phase().unwrap();
        assert!((0.0..=1.0).contains(&phase));
    }
}

#[test]
fn slack_is_understood_at_every_rate_a_second_after_the_step_was_made() {
    for steps_per_second in [1, 10, 128, 1_000] {
        let config =
            InputClockConfig { steps_per_second, steps_per_poll_max: 64, ..InputClockConfig::default() };
        let (mut clock, mut input) = (ServerClock::new(), InputClock::new(config).unwrap());
        clock.handle_snapshot(Micros(0), Micros::from_secs(100));
        let mut given = Vec::new();
        for frame in 0..240 {
            clock.advance(Micros(frame * FRAME_US));
            given.extend(input.poll_steps(Micros(frame * FRAME_US), &clock).iter());
        }
        let ago = given.len() - 1 - steps_per_second as usize;
        input.handle_slack(given[ago], 3_000);
        assert!(input.expected_slack_us().is_some(), "{steps_per_second} a second");
    }
}

#[test]
fn inputs_of_slow_frames_come_in_time_too() {
    for frame_us in [16_667, 33_500, 49_000] {
        let mut client = Loop { has_own_reader: true, ..Loop::new(60_000, 4_000, 0.0) };
        client.run_with_frames(10, frame_us);
        client.slacks_us.clear();
        client.run_with_frames(30, frame_us);
        let late = client.slacks_us.iter().filter(|slack_us| **slack_us < 0).count();
        let total = client.slacks_us.len();
        assert!(late * 200 < total, "{late} of {total} came too late with frames of {frame_us} µs");
    }
}

proptest! {
    #[test]
    fn whatever_is_reported_steps_are_few_and_never_given_twice(
        frames in prop::collection::vec((0u64..200_000, any::<i64>(), any::<u32>(), 0u8..8), 1..200),
    ) {
        let mut clock = ServerClock::new();
        let mut input = InputClock::new(InputClockConfig::default()).unwrap();
        let (mut now_us, mut newest) = (1_000_000, None::<Tick>);
        for (passed_us, slack_us, step, kind) in frames {
            now_us = if kind == 0 { now_us - passed_us.min(now_us) } else { now_us + passed_us };
            if kind > 2 {
                clock.handle_snapshot(Micros(now_us), Micros(now_us + 9_000_000));
            }
            let step = newest.filter(|_| kind > 1).map_or(Tick(step), |newest| Tick(newest.0 - step % 4));
            input.handle_slack(step, slack_us);
            clock.advance(Micros(now_us));
            let resyncs = clock.resyncs();
            let steps = input.poll_steps(Micros(now_us), &clock);
            prop_assert!(steps.count <= 8);
            for step in steps.iter() {
                prop_assert!(resyncs > 0 || newest.is_none_or(|newest| step.is_newer_than(newest)));
                newest = Some(step);
            }
        }
    }
}
