//! A client ahead of its server: in agreement, corrected, cut off.

use proptest::prelude::*;

use super::*;
use crate::server::input_queue::{InputQueue, InputQueueConfig, InputSource};
use crate::space::{length, sub};
use crate::step::Step;
use netloom_wire::{Profile, QuantizeCounters};

/// Runs and turns; what it runs with is lost in deep water.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// A wall that only one side knows of.
    wall: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Runner {
    position: [f32; 3],
    yaw: f32,
    stamina: u16,
}

const START: Runner = Runner { position: [0.0; 3], yaw: 0.0, stamina: 60_000 };

impl Step for Run {
    type State = Runner;
    /// Forward, and how far it turns.
    type Input = [u8; 2];

    fn step(&self, runner: &mut Runner, [forward, turn]: &[u8; 2]) {
        runner.yaw += f32::from(*turn) / 255.0 * 0.2;
        let way = f32::from(*forward) / 255.0 * 6.0 / 60.0;
        runner.position[0] += way * runner.yaw.cos();
        runner.position[1] += way * runner.yaw.sin();
        if let Some(wall) = self.wall {
            runner.position[0] = runner.position[0].min(wall);
        }
        runner.stamina -= u16::from(*forward > 200);
    }
}

impl Describe for Run {
    fn describe(&self, runner: &Runner, fields: &mut Fields) {
        fields.position("position", Profile::Standard, runner.position);
        let half = runner.yaw / 2.0;
        fields.rotation("rotation", Profile::Standard, [0.0, 0.0, half.sin(), half.cos()]);
        fields.whole("stamina", runner.stamina);
    }
}

fn predictor(config: PredictConfig) -> Predictor<Run> {
    Predictor::new(Run::default(), Tick(0), START, config).unwrap()
}

/// What the wire makes of a state.
fn sent(runner: &Runner) -> Runner {
    let mut counters = QuantizeCounters::default();
    let profile = Profile::Standard;
    let words = (profile.codec().position)(runner.position.map(f64::from), &mut counters);
    let half = runner.yaw / 2.0;
    let rotation = profile.quantize_rotation([0.0, 0.0, half.sin(), half.cos()], &mut counters);
    let [_, _, z, w] = profile.dequantize_rotation(rotation);
    Runner { position: profile.dequantize_position(words), yaw: 2.0 * z.atan2(w), ..*runner }
}

fn run(own: &mut Predictor<Run>, steps: std::ops::RangeInclusive<u32>, input: [u8; 2]) {
    for step in steps {
        own.apply_local(Tick(step), input).unwrap();
    }
}

fn moved(from: Runner, steps: u32, input: [u8; 2]) -> Runner {
    let mut runner = from;
    (0..steps).for_each(|_| Run::default().step(&mut runner, &input));
    runner
}

fn correction(reconciled: Reconciled) -> Correction {
    match reconciled {
        Reconciled::Corrected(correction) => correction,
        other => panic!("{other:?}"),
    }
}

const AHEAD: [u8; 2] = [255, 0];

#[test]
fn an_input_moves_the_object_in_the_call_that_brings_it() {
    let mut own = predictor(PredictConfig::default());
    let state = *own.apply_local(Tick(1), AHEAD).unwrap();
    assert_eq!(state, moved(START, 1, AHEAD));
    assert_eq!(own.view().position[0], f64::from(state.position[0]), "and is seen at once");
    let half = own.view_between(0.5).position[0];
    assert!((half - f64::from(state.position[0]) / 2.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn a_server_that_agrees_corrects_nothing(
        inputs in prop::collection::vec(prop::array::uniform2(any::<u8>()), 1..200),
        behind in 1usize..20,
        every in 1usize..4,
    ) {
        let mut own = predictor(PredictConfig::default());
        let mut server = START;
        for (number, input) in inputs.iter().enumerate() {
            own.apply_local(Tick(number as u32 + 1), *input).unwrap();
            let Some(past) = (number + 1).checked_sub(behind).filter(|past| *past > 0) else { continue };
            Run::default().step(&mut server, &inputs[past - 1]);
            if past.is_multiple_of(every) {
                prop_assert_eq!(own.handle_state(Tick(past as u32), &sent(&server)), Reconciled::Confirmed);
            }
        }
        prop_assert_eq!(own.report().corrections(), 0);
        prop_assert!(own.report().fields.iter().all(|field| field.count == 0));
        prop_assert!(!own.is_correcting());
    }

    #[test]
    fn after_a_correction_the_present_is_what_follows_from_the_server_and_stays_so(
        inputs in prop::collection::vec(prop::array::uniform2(any::<u8>()), 30..90),
        pushed_at in 5usize..20,
        push in prop::array::uniform2(-3.0f32..3.0),
    ) {
        prop_assume!(push[0].abs() + push[1].abs() > 0.05);
        let mut own = predictor(PredictConfig::default());
        let mut server = START;
        let mut corrections = 0;
        for (number, input) in inputs.iter().enumerate() {
            own.apply_local(Tick(number as u32 + 1), *input).unwrap();
            let Some(past) = number.checked_sub(8) else { continue };
            Run::default().step(&mut server, &inputs[past]);
            if past == pushed_at {
                server.position[0] += push[0];
                server.position[1] += push[1];
            }
            let told = sent(&server);
            let answer = own.handle_state(Tick(past as u32 + 1), &told);
            if let Reconciled::Corrected(_) = answer {
                corrections += 1;
                let expected = inputs[past + 1..=number].iter().fold(told, |state, input| moved(state, 1, *input));
                prop_assert_eq!(*own.state(), expected);
            }
        }
        prop_assert_eq!(corrections, u32::from(pushed_at + 8 < inputs.len()), "once, and never again");
    }

    #[test]
    fn the_view_does_not_move_when_a_medium_correction_comes_and_then_goes_to_the_present(
        push in prop::array::uniform2(0.05f32..1.3),
        turn in -1.0f32..1.0,
    ) {
        let mut own = predictor(PredictConfig::default());
        run(&mut own, 1..=10, [200, 3]);
        let before = own.view();
        let mut server = moved(START, 4, [200, 3]);
        server.position[0] += push[0];
        server.position[1] -= push[1];
        server.yaw += turn;
        let answer = correction(own.handle_state(Tick(4), &server));
        prop_assume!(answer.severity == Severity::Medium);
        let (metres, radians) = own.view().apart(before);
        prop_assert!(metres < 1e-6 && radians < 1e-2, "{metres} {radians}");
        let mut left = f64::INFINITY;
        let present = own.state().position.map(f64::from);
        for _ in 0..400 {
            own.advance_view(Micros::from_millis(5));
            let distance = length(sub(own.view().position, present));
            prop_assert!(distance <= left);
            left = distance;
        }
        prop_assert!(left == 0.0 && !own.is_correcting());
    }
}

#[test]
fn the_decay_is_that_of_the_setting_at_30_60_and_144_frames_a_second() {
    for frames in [30u64, 60, 144] {
        let mut own = predictor(PredictConfig::default());
        run(&mut own, 1..=2, AHEAD);
        let server = Runner { position: [0.0, 1.0, 0.0], ..moved(START, 2, AHEAD) };
        assert_eq!(correction(own.handle_state(Tick(2), &server)).severity, Severity::Medium);
        let offset =
            |own: &Predictor<Run>| length(sub(own.view().position, own.state().position.map(f64::from)));
        let before = offset(&own);
        (0..frames).for_each(|frame| {
            own.advance_view(Micros((frame + 1) * 1_000_000 / frames - frame * 1_000_000 / frames))
        });
        let left = offset(&own) / before;
        assert!((left - (-6.3f64).exp()).abs() < 1e-6, "{frames} frames a second: {left}");
    }
}

#[test]
fn small_errors_are_followed_at_once_and_large_ones_jump_and_are_counted() {
    let mut own = predictor(PredictConfig { small_metres: 0.1, ..PredictConfig::default() });
    let off = |step: u32, metres: f32| {
        let runner = moved(START, step, AHEAD);
        Runner { position: [runner.position[0], metres, 0.0], ..runner }
    };
    run(&mut own, 1..=30, AHEAD);
    let small = correction(own.handle_state(Tick(10), &off(10, 0.05)));
    assert_eq!((small.severity, small.replayed), (Severity::Small, 20));
    assert_eq!(own.state().position[1], 0.05, "the state is exact");
    assert!(!own.is_correcting(), "and the view is there already");
    let large = correction(own.handle_state(Tick(11), &off(11, 50.0)));
    assert_eq!(large.severity, Severity::Large);
    assert!(large.metres > 49.0);
    assert_eq!(own.view().position[1], 50.0);
    let jump = correction(own.handle_jump(Tick(12), &off(12, 49.0)));
    assert_eq!(jump.severity, Severity::Large, "the server moved it there");
    let report = own.report();
    assert_eq!((report.small, report.medium, report.large), (1, 0, 2));
}

#[test]
fn many_medium_corrections_in_one_direction_end_in_a_jump() {
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=60, [0, 0]);
    let severities: Vec<Severity> = (1..=3u8)
        .map(|n| {
            let server = Runner { position: [0.9 * f32::from(n), 0.0, 0.0], ..START };
            correction(own.handle_state(Tick(n.into()), &server)).severity
        })
        .collect();
    assert_eq!(severities, [Severity::Medium, Severity::Medium, Severity::Large]);
    assert!(!own.is_correcting());
}

#[test]
fn a_turn_over_north_is_corrected_by_the_short_way() {
    let mut own = predictor(PredictConfig::default());
    own.apply_local(Tick(1), [0, 0]).unwrap();
    let server = Runner { yaw: 359f32.to_radians(), ..START };
    let answer = correction(own.handle_state(Tick(1), &server));
    assert!((answer.radians - 1f32.to_radians()).abs() < 1e-4, "{}", answer.radians);
    let nearly = Runner { yaw: 359.9f32.to_radians(), ..START };
    let mut own = predictor(PredictConfig::default());
    own.apply_local(Tick(1), [0, 0]).unwrap();
    assert_eq!(
        own.handle_state(Tick(1), &nearly),
        Reconciled::Confirmed,
        "a tenth of a degree is below the wire's"
    );
}

#[test]
fn a_report_names_the_field_the_step_and_the_input() {
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=3, AHEAD);
    own.apply_local(Tick(4), [9, 9]).unwrap();
    let mut server = moved(moved(START, 3, AHEAD), 1, [9, 9]);
    assert_eq!(own.handle_state(Tick(2), &moved(START, 2, AHEAD)), Reconciled::Confirmed);
    server.stamina -= 40;
    assert_eq!(
        correction(own.handle_state(Tick(4), &server)).severity,
        Severity::Small,
        "nothing to be seen"
    );
    let report = own.report();
    let counts: Vec<_> = report.fields.iter().map(|field| (field.name, field.count)).collect();
    assert_eq!(counts, [("position", 0), ("rotation", 0), ("stamina", 1)]);
    assert_eq!((report.fields[2].largest, report.fields[2].largest_at), (40.0, Tick(4)));
    assert_eq!(report.last, Some(Misprediction { step: Tick(4), since: Tick(2), input: Some([9, 9]) }));
    assert_eq!(own.state().stamina, server.stamina);
}

#[test]
fn a_full_log_pauses_until_the_server_speaks_and_then_goes_on() {
    let mut own = predictor(PredictConfig { window: Micros::from_secs(1), ..PredictConfig::default() });
    run(&mut own, 1..=64, AHEAD);
    let last = *own.state();
    for step in 65..=80 {
        assert_eq!(own.apply_local(Tick(step), AHEAD), Err(NotPredicted::Paused));
    }
    assert!(own.is_paused() && own.report().pauses == 1);
    assert_eq!(*own.state(), last, "it stands where it was");
    own.handle_acked(Tick(10));
    assert_eq!(own.pending(), 54);
    own.apply_local(Tick(81), AHEAD).unwrap();
    // The server did not hear of the steps between, and stood still in them.
    assert_eq!(own.handle_state(Tick(81), &moved(START, 65, AHEAD)), Reconciled::Confirmed);
    assert_eq!(own.pending(), 0);
}

#[test]
fn the_log_holds_the_window_at_the_rate_and_at_least_64_steps() {
    for (steps_per_second, millis, expected) in
        [(20, 1_000, 64), (60, 1_000, 64), (60, 1_500, 90), (128, 2_000, 256)]
    {
        let window = Micros::from_millis(millis);
        let mut own = predictor(PredictConfig { steps_per_second, window, ..PredictConfig::default() });
        let held = (1..1_000).take_while(|step| own.apply_local(Tick(*step), AHEAD).is_ok()).count();
        assert_eq!(held, expected);
    }
}

#[test]
fn what_is_old_or_repeated_changes_nothing() {
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=5, AHEAD);
    assert_eq!(own.handle_state(Tick(3), &moved(START, 3, AHEAD)), Reconciled::Confirmed);
    let present = *own.state();
    for step in [0, 2, 3] {
        assert_eq!(own.handle_state(Tick(step), &START), Reconciled::Stale);
        own.handle_acked(Tick(step));
    }
    assert_eq!((*own.state(), own.pending(), own.report().stale), (present, 2, 3));
    assert_eq!(
        own.apply_local(Tick(5), AHEAD),
        Err(NotPredicted::NotNewer { step: Tick(5), newest: Tick(5) })
    );
}

#[test]
fn a_state_that_comes_after_the_news_of_its_step_is_still_compared_once() {
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=5, AHEAD);
    own.handle_acked(Tick(3));
    let pushed = Runner { position: [0.5, 0.5, 0.0], ..moved(START, 3, AHEAD) };
    assert_eq!(correction(own.handle_state(Tick(3), &pushed)).replayed, 2);
    assert_eq!(*own.state(), moved(pushed, 2, AHEAD));
    assert_eq!(own.handle_state(Tick(3), &pushed), Reconciled::Stale);
    own.handle_acked(Tick(4));
    assert_eq!(own.handle_state(Tick(3), &START), Reconciled::Stale);
}

#[test]
fn a_server_that_stays_silent_because_nothing_moved_there_is_believed_after_a_while() {
    // The server holds the runner fast, so it has nothing to say about it but which inputs are done with.
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=6, AHEAD);
    let mut farthest = 0f32;
    for step in 7..=300 {
        own.apply_local(Tick(step), AHEAD).unwrap();
        own.handle_acked(Tick(step - 6));
        farthest = farthest.max(own.state().position[0]);
    }
    assert!(farthest < 5.0, "runs away in its own view: {farthest} m");
    assert!(own.report().corrections() >= 5, "{:?}", own.report());
    // When the player lets go, it is where the server has it.
    for step in 301..=340 {
        own.apply_local(Tick(step), [0, 0]).unwrap();
        own.handle_acked(Tick(step - 6));
    }
    assert_eq!(own.state().position, START.position);
}

#[test]
fn silence_about_an_object_that_rests_here_too_changes_nothing() {
    let mut own = predictor(PredictConfig::default());
    for step in 1..=1_000 {
        own.apply_local(Tick(step), [0, 0]).unwrap();
        own.handle_acked(Tick(step));
    }
    assert_eq!((own.report().corrections(), *own.state()), (0, START));
}

#[test]
fn steps_wrap() {
    let first = Tick(u32::MAX - 3);
    let mut own = Predictor::new(Run::default(), first, START, PredictConfig::default()).unwrap();
    (1..=10).for_each(|step| {
        own.apply_local(first.plus(step), AHEAD).unwrap();
    });
    assert_eq!(own.handle_state(first.plus(7), &moved(START, 7, AHEAD)), Reconciled::Confirmed);
    assert_eq!((own.pending(), own.newest()), (3, Tick(6)));
}

#[test]
fn a_step_of_which_only_16_bits_are_known_is_the_nearest() {
    // Whoever joins after 18 minutes of 60 steps a second hears of steps by their low bits.
    let (joined, heard) = (Tick(3 * 65_000), |step: u32| Tick((3 * 65_000 + step) & 0xffff));
    let mut own = Predictor::new(Run::default(), heard(0), START, PredictConfig::default()).unwrap();
    (1..=10).for_each(|step| {
        own.apply_local(joined.plus(step), AHEAD).unwrap();
    });
    assert_eq!(own.handle_state(heard(7), &moved(START, 7, AHEAD)), Reconciled::Confirmed);
    assert_eq!(own.pending(), 3);
    own.handle_acked(heard(9));
    assert_eq!((own.pending(), own.newest()), (1, joined.plus(10)));
}

#[test]
fn a_server_state_that_is_not_a_number_is_never_seen() {
    let mut own = predictor(PredictConfig::default());
    run(&mut own, 1..=5, AHEAD);
    let broken = Runner { position: [f32::NAN, 0.0, 0.0], ..START };
    let seen = own.view();
    assert_eq!(correction(own.handle_state(Tick(1), &broken)).severity, Severity::Small);
    assert_eq!((own.view(), own.report().fields[0].largest), (seen, f64::INFINITY));
    own.apply_local(Tick(6), AHEAD).unwrap();
    assert_eq!(own.view_between(0.5), seen, "it stays where it was seen last");
    own.handle_state(Tick(2), &moved(START, 2, AHEAD));
    own.advance_view(Micros::from_secs(5));
    assert_eq!(own.view().position[0], f64::from(moved(START, 6, AHEAD).position[0]));
}

#[test]
fn a_bad_setting_is_refused_by_name() {
    let good = PredictConfig::default();
    for (config, field) in [
        (PredictConfig { steps_per_second: 0, ..good }, "steps_per_second"),
        (PredictConfig { window: Micros(999_999), ..good }, "window"),
        (PredictConfig { small_metres: f64::NAN, ..good }, "small_metres"),
        (PredictConfig { large_metres: 0.02, ..good }, "large_metres"),
        (PredictConfig { small_radians: -0.1, ..good }, "small_radians"),
        (PredictConfig { large_radians: f32::INFINITY, ..good }, "large_radians"),
        (PredictConfig { decay_per_second: 0.0, ..good }, "decay_per_second"),
    ] {
        match Predictor::new(Run::default(), Tick(0), START, config) {
            Err(PredictError::Setting(error)) => assert_eq!(error.field, field),
            other => panic!("{field}: {other:?}"),
        }
    }
}

/// Server and client over a network that loses a part of the messages and delays the rest.
fn play(loss_percent: u32, wall: Option<f32>, lead: u32) -> (Predictor<Run>, InputQueue<[u8; 2]>, u64) {
    let mut own = predictor(PredictConfig::default());
    let mut queue = InputQueue::new([0; 2], Tick(1), InputQueueConfig::default()).unwrap();
    let (mut server, server_step) = (START, Run { wall });
    let (mut to_server, mut to_client) = (VecDeque::new(), VecDeque::new());
    let mut random = 12_345u32;
    let mut is_lost = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % 100 < loss_percent
    };
    let mut starved = 0;
    for now in 0..600u32 {
        let client_step = now + lead;
        let input = [200 + (client_step / 9 % 40) as u8, (client_step / 30 % 5) as u8];
        if client_step > 0 {
            own.apply_local(Tick(client_step), input).unwrap();
        }
        let mut message = [0; 256];
        if let Some(length) = own.write_inputs(None, &mut message).filter(|_| !is_lost()) {
            to_server.push_back((now + 3 + now % 3, message[..length].to_vec()));
        }
        while let Some((_, message)) = to_server.pop_front_if(|(at, _)| *at <= now) {
            queue.handle_message(&message, Micros(u64::from(now) * 16_667)).unwrap();
        }
        if now > 0 {
            let taken = queue.take(Tick(now), Micros(u64::from(now) * 16_667)).unwrap();
            // Before the first input can have come nobody moves.
            starved += u64::from(now > lead + 8 && taken.source != InputSource::Client);
            server_step.step(&mut server, &taken.input);
            if now % 3 == 0 && !is_lost() {
                to_client.push_back((now + 4, Tick(now), sent(&server)));
            }
        }
        while let Some((_, step, state)) = to_client.pop_front_if(|(at, ..)| *at <= now) {
            own.handle_state(step, &state);
        }
    }
    (own, queue, starved)
}

#[test]
fn redundancy_makes_up_for_loss_and_nothing_is_corrected_while_inputs_come_in_time() {
    let (own, queue, starved) = play(20, None, 16);
    assert_eq!((starved, own.report().corrections()), (0, 0));
    assert!(own.report().confirmed > 100);
    assert!(queue.counters().duplicates > 1_000, "inputs came several times");
    assert_eq!((queue.counters().changed, queue.counters().early), (0, 0));
}

#[test]
fn inputs_that_come_too_late_are_corrected_and_counted() {
    let (own, queue, starved) = play(20, None, 4);
    assert!(starved > 100 && queue.counters().late > 100);
    assert!(own.report().corrections() > 0);
    assert!(queue.slack_steps().unwrap() < 1.0);
}

#[test]
fn what_only_the_server_knows_is_corrected_to_the_server_s_state() {
    let (own, _, starved) = play(0, Some(3.0), 12);
    assert_eq!(starved, 0);
    assert!(own.report().corrections() > 0);
    assert!(own.report().fields[0].count == own.report().corrections() && own.report().fields[2].count == 0);
}
