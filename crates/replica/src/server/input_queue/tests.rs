//! What arrives, what is simulated, and what cheats gain: nothing.

use proptest::prelude::*;

use super::*;
use crate::input::{INPUT_MESSAGE_BYTES_MAX, write_inputs};

type Queue = InputQueue<[u8; 1]>;

const NEUTRAL: [u8; 1] = [0];
const STEP_MICROS: u64 = 10_000;

fn config() -> InputQueueConfig {
    InputQueueConfig { steps_per_second: 100, ..InputQueueConfig::default() }
}

fn queue(config: InputQueueConfig) -> Queue {
    InputQueue::new(NEUTRAL, Tick(1_000), config).unwrap()
}

/// Inputs of the steps that end with `newest`, given from the oldest.
fn message(newest: u32, inputs: &[u8]) -> Vec<u8> {
    message_with(newest, inputs, None)
}

fn message_with(newest: u32, inputs: &[u8], view: Option<ViewTime>) -> Vec<u8> {
    let inputs: Vec<[u8; 1]> = inputs.iter().rev().map(|input| [*input]).collect();
    let mut out = [0; INPUT_MESSAGE_BYTES_MAX];
    let length = write_inputs(Tick(newest), view, inputs.iter(), &mut out).unwrap();
    out[..length].to_vec()
}

fn send(queue: &mut Queue, newest: u32, inputs: &[u8]) {
    queue.handle_message(&message(newest, inputs), Micros(0)).unwrap();
}

/// The inputs of some steps, and where they came from.
fn take(queue: &mut Queue, steps: std::ops::RangeInclusive<u32>) -> Vec<(u8, InputSource)> {
    let mut taken = steps.map(|step| queue.take(Tick(step), Micros(u64::from(step) * STEP_MICROS)).unwrap());
    taken.by_ref().map(|taken| (taken.input[0], taken.source)).collect()
}

#[test]
fn each_step_gets_its_own_input_whatever_order_they_came_in() {
    let mut queue = queue(config());
    send(&mut queue, 1_003, &[4]);
    send(&mut queue, 1_001, &[1, 2]);
    send(&mut queue, 1_002, &[1, 2, 3]);
    let client = InputSource::Client;
    assert_eq!(take(&mut queue, 1_000..=1_003), [(1, client), (2, client), (3, client), (4, client)]);
    assert_eq!(queue.take(Tick(1_003), Micros(0)), None, "exactly one input per step");
    assert_eq!(queue.counters().duplicates, 2);
    assert!(queue.is_empty());
}

#[test]
fn what_does_not_come_is_the_last_input_for_a_while_and_then_nothing() {
    let starvation = Starvation::Repeat { steps_max: 2 };
    let mut queue = queue(InputQueueConfig { starvation, ..config() });
    send(&mut queue, 1_000, &[7]);
    let (client, again, neutral) = (InputSource::Client, InputSource::Repeated, InputSource::Neutral);
    assert_eq!(
        take(&mut queue, 1_000..=1_004),
        [(7, client), (7, again), (7, again), (0, neutral), (0, neutral)]
    );
    send(&mut queue, 1_005, &[8]);
    assert_eq!(take(&mut queue, 1_005..=1_006), [(8, client), (8, again)], "the count begins anew");

    let mut strict = super::tests::queue(InputQueueConfig { starvation: Starvation::Neutral, ..config() });
    send(&mut strict, 1_000, &[7]);
    assert_eq!(take(&mut strict, 1_000..=1_001), [(7, client), (0, neutral)]);
}

/// A button that must not be held down by silence.
#[derive(Clone, Debug, PartialEq)]
struct Trigger {
    run: bool,
    fire: bool,
}

impl Input for Trigger {
    const BITS_MAX: u32 = 2;

    fn write(&self, writer: &mut netloom_wire::BitWriter<'_>) {
        writer.write_bool(self.run);
        writer.write_bool(self.fire);
    }

    fn read(reader: &mut netloom_wire::BitReader<'_>) -> Result<Trigger, ReadError> {
        Ok(Trigger { run: reader.read_bool()?, fire: reader.read_bool()? })
    }

    fn repeated(&self) -> Trigger {
        Trigger { fire: false, ..self.clone() }
    }
}

#[test]
fn a_repeated_input_leaves_out_what_happens_once() {
    let neutral = Trigger { run: false, fire: false };
    let mut queue = InputQueue::new(neutral, Tick(0), config()).unwrap();
    let (mut out, inputs) = ([0; 16], [Trigger { run: true, fire: true }]);
    let length = write_inputs(Tick(0), None, inputs.iter(), &mut out).unwrap();
    queue.handle_message(&out[..length], Micros(0)).unwrap();
    let taken: Vec<Trigger> = (0..2).map(|step| queue.take(Tick(step), Micros(0)).unwrap().input).collect();
    assert_eq!(taken, [Trigger { run: true, fire: true }, Trigger { run: true, fire: false }]);
}

#[test]
fn late_inputs_are_counted_once_and_never_simulated() {
    let mut queue = queue(config());
    take(&mut queue, 1_000..=1_009);
    for _ in 0..5 {
        send(&mut queue, 1_009, &[9; 10]);
    }
    assert_eq!((queue.counters().late, queue.counters().duplicates), (10, 40));
    assert_eq!(take(&mut queue, 1_010..=1_010), [(0, InputSource::Neutral)]);
    send(&mut queue, 900, &[1; 64]);
    assert_eq!(queue.counters().late, 10, "older than anybody can tell");
}

#[test]
fn inputs_from_the_future_are_kept_within_the_window_and_refused_beyond() {
    let mut queue = queue(InputQueueConfig { window_steps: 8, ..config() });
    send(&mut queue, 1_020, &[1; 21]);
    assert_eq!((queue.len(), queue.counters().early), (8, 13));
    let taken = take(&mut queue, 1_000..=1_008);
    assert!(taken[..8].iter().all(|taken| *taken == (1, InputSource::Client)));
    assert_eq!(taken[8].1, InputSource::Repeated);
}

#[test]
fn the_first_content_of_an_input_holds_and_a_changed_one_is_noticed() {
    let mut queue = queue(config());
    send(&mut queue, 1_001, &[1, 2]);
    send(&mut queue, 1_001, &[1, 9]);
    assert_eq!(take(&mut queue, 1_000..=1_001), [(1, InputSource::Client), (2, InputSource::Client)]);
    send(&mut queue, 1_001, &[8, 2]);
    assert_eq!(
        (queue.counters().changed, queue.counters().duplicates),
        (2, 2),
        "also after it was simulated"
    );
}

#[test]
fn a_message_that_cannot_be_read_changes_nothing() {
    let mut queue = queue(config());
    let mut bytes = message(1_001, &[1, 2]);
    bytes.push(0);
    assert_eq!(queue.handle_message(&bytes, Micros(0)), Err(ReadError::TrailingData));
    assert_eq!((queue.len(), queue.counters().malformed, queue.counters().messages), (0, 1, 0));
}

#[test]
fn the_view_goes_back_with_the_age_of_an_input() {
    let mut queue = queue(config());
    let view = ViewTime { step: Tick(990), fraction: 128 };
    queue.handle_message(&message_with(1_002, &[1, 2, 3], Some(view)), Micros(0)).unwrap();
    let views: Vec<_> = (1_000..=1_003).map(|step| queue.take(Tick(step), Micros(0)).unwrap().view).collect();
    assert_eq!(views, [Some(view.earlier(2)), Some(view.earlier(1)), Some(view), None]);
}

#[test]
fn the_view_of_an_input_is_that_of_the_message_it_was_the_newest_of_also_if_that_comes_second() {
    // A slow frame makes two steps, of which both saw the same.
    let seen = ViewTime { step: Tick(990), fraction: 100 };
    let (first, second) = (message_with(1_000, &[1], Some(seen)), message_with(1_001, &[1, 2], Some(seen)));
    for order in [[&first, &second], [&second, &first]] {
        let mut queue = queue(config());
        order.iter().for_each(|message| queue.handle_message(message, Micros(0)).unwrap());
        let mut view = |step| queue.take(Tick(step), Micros(0)).unwrap().view;
        assert_eq!([view(1_000), view(1_001)], [Some(seen); 2]);
    }
}

#[test]
fn slack_is_the_time_before_the_step_and_negative_after_it() {
    for (arrival_steps, expected) in [(-3.5, 3.5), (-1.0, 1.0), (0.25, -0.25), (2.0, -2.0)] {
        let mut queue = queue(config());
        take(&mut queue, 1_000..=1_010);
        let mut step = 1_010u32;
        // Each input arrives so long after its step, for half a second.
        for _ in 0..50 {
            let newest = (f64::from(step) - arrival_steps).ceil() as u32;
            let at = (f64::from(newest) + arrival_steps) * STEP_MICROS as f64;
            queue.handle_message(&message(newest, &[1]), Micros(at as u64)).unwrap();
            step += 1;
            take(&mut queue, step..=step);
        }
        let slack = queue.slack_steps().unwrap();
        assert!((slack - expected).abs() < 0.01, "{arrival_steps}: {slack}");
        let feedback = queue.feedback().unwrap();
        assert_eq!(feedback.step, Tick(step));
        assert_eq!(f64::from(feedback.slack.unwrap().quarters()), expected * 4.0);
        assert!(queue.slack_deviation_steps() < 0.01);
    }
}

#[test]
fn the_slack_of_a_client_that_began_its_steps_anew_is_that_of_the_new_ones() {
    let mut queue = queue(config());
    take(&mut queue, 1_000..=1_000);
    // The server stood still, and all that came meanwhile is there at once.
    for step in 1_001..=1_060 {
        queue.handle_message(&message(step, &[1]), Micros(1_000 * STEP_MICROS)).unwrap();
    }
    assert!(queue.slack_steps().unwrap() > 10.0);
    take(&mut queue, 1_001..=1_020);
    queue.handle_message(&message(1_022, &[1]), Micros(1_020 * STEP_MICROS)).unwrap();
    assert_eq!(queue.slack_steps(), Some(2.0));
    queue.handle_message(&message(1_021, &[1]), Micros(1_020 * STEP_MICROS)).unwrap();
    assert_eq!(queue.slack_steps(), Some(2.0), "overtaken on the way");
}

#[test]
fn without_inputs_for_a_second_nothing_is_said_of_their_slack() {
    let mut queue = queue(config());
    assert_eq!(queue.feedback(), None);
    take(&mut queue, 1_000..=1_000);
    assert_eq!(queue.feedback().unwrap().slack, None);
    queue.handle_message(&message(1_002, &[1]), Micros(1_000 * STEP_MICROS)).unwrap();
    assert!(queue.feedback().unwrap().slack.is_some());
    take(&mut queue, 1_001..=1_101);
    assert_eq!(queue.feedback().unwrap().slack, None);
}

#[test]
fn a_server_that_leaves_out_steps_does_not_simulate_them_later() {
    let mut queue = queue(config());
    send(&mut queue, 1_005, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(queue.take(Tick(1_004), Micros(0)).unwrap().input, [5]);
    assert_eq!(queue.take(Tick(1_002), Micros(0)), None);
    assert_eq!(queue.take(Tick(1_005), Micros(0)).unwrap().input, [6]);
}

#[test]
fn steps_wrap() {
    let first = u32::MAX - 2;
    let mut queue = InputQueue::new(NEUTRAL, Tick(first), config()).unwrap();
    send(&mut queue, 3, &[1, 2, 3, 4, 5, 6, 7]);
    let taken: Vec<u8> =
        (0..7).map(|step| queue.take(Tick(first.wrapping_add(step)), Micros(0)).unwrap().input[0]).collect();
    assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7]);
}

/// How far somebody gets who moves by one in every step of `seconds`, in a game that steps per tick and in one that steps
/// per input, whatever `cheat` sends in each step.
fn distance(seconds: u32, mut cheat: impl FnMut(u32) -> Vec<Vec<u8>>) -> (u32, u32) {
    let (mut per_tick, mut per_input) = (queue(config()), queue(config()));
    let (mut ticked, mut polled) = (0, 0);
    for step in 1_000..1_000 + seconds * 100 {
        let now = Micros(u64::from(step) * STEP_MICROS);
        for bytes in cheat(step) {
            let _read_or_refused = per_tick.handle_message(&bytes, now);
            let _read_or_refused = per_input.handle_message(&bytes, now);
        }
        ticked += u32::from(per_tick.take(Tick(step), now).unwrap().input[0] > 0);
        let at_once = std::iter::from_fn(|| per_input.poll_input(now)).count() as u32;
        assert!(at_once <= BURST, "{at_once} steps at once");
        polled += at_once;
    }
    (ticked, polled)
}

const BURST: u32 = 8;

#[test]
fn an_honest_player_gets_a_step_for_each_tick() {
    assert_eq!(distance(10, |step| vec![message(step, &[1])]), (1_000, 1_000));
}

#[test]
fn an_input_flood_gains_nothing() {
    let (ticked, polled) = distance(10, |step| (0..50).map(|n| message(step + n, &[1; 64])).collect());
    assert_eq!(ticked, 1_000);
    assert!(polled <= 1_000 + BURST, "{polled}");
}

#[test]
fn withheld_inputs_sent_at_once_gain_nothing() {
    let (ticked, polled) = distance(10, |step| match step % 64 {
        63 => vec![message(step, &[1; 64])],
        _ => vec![],
    });
    // Silence is filled up with repeats for a while, and the burst is too late.
    assert!(ticked <= 1_000, "{ticked}");
    assert!(polled <= 1_000, "what was held back is simulated later, and no faster: {polled}");
}

#[test]
fn inputs_for_the_far_future_gain_nothing() {
    let mut ahead = 0;
    let (ticked, polled) = distance(10, |step| {
        ahead += 5;
        vec![message(step + ahead, &[1; 64])]
    });
    assert!(ticked <= 1_000 && polled <= 1_000 + BURST, "{ticked} {polled}");
}

#[test]
fn old_inputs_gain_nothing() {
    let (ticked, polled) = distance(10, |step| vec![message(step, &[1]), message(step - 40, &[1; 60])]);
    assert_eq!((ticked, polled), (1_000, 1_000));
}

#[test]
fn a_clock_that_runs_double_gains_nothing() {
    let mut own = 1_000;
    let (ticked, polled) = distance(10, |_| {
        own += 2;
        vec![message(own, &[1, 1])]
    });
    assert!(ticked <= 1_000 && polled <= 1_000 + BURST, "{ticked} {polled}");
}

#[test]
fn a_step_per_input_goes_on_after_a_pause_of_any_length() {
    let mut queue = queue(config());
    let mut polled = |step: u32| {
        let now = Micros(u64::from(step) * STEP_MICROS);
        queue.handle_message(&message(step, &[1]), now).unwrap();
        std::iter::from_fn(|| queue.poll_input(now)).count()
    };
    assert_eq!(polled(1_000), 1);
    assert_eq!(polled(1_000 + 360_000), 1, "an hour later");
    assert_eq!((1..=50).map(|step| polled(361_000 + step)).sum::<usize>(), 50);
}

#[test]
fn a_bad_setting_is_refused_by_name() {
    for (config, field) in [
        (InputQueueConfig { steps_per_second: 0, ..config() }, "steps_per_second"),
        (InputQueueConfig { window_steps: 257, ..config() }, "window_steps"),
        (InputQueueConfig { burst_steps: 0, ..config() }, "burst_steps"),
        (
            InputQueueConfig { starvation: Starvation::Repeat { steps_max: 1_001 }, ..config() },
            "starvation.steps_max",
        ),
    ] {
        assert_eq!(InputQueue::new(NEUTRAL, Tick(0), config).unwrap_err().field, field);
    }
}

proptest! {
    #[test]
    fn every_step_is_simulated_once_with_what_came_first_and_in_time(
        messages in prop::collection::vec((0u32..40, 0u32..50, prop::collection::vec(1u8..5, 1..20)), 0..80),
    ) {
        let mut queue = queue(InputQueueConfig { window_steps: 16, starvation: Starvation::Neutral, ..config() });
        let mut first = std::collections::BTreeMap::new();
        let mut at = messages;
        at.sort_by_key(|(arrives, ..)| *arrives);
        for step in 0..40u32 {
            for (_, newest, inputs) in at.iter().filter(|(arrives, ..)| *arrives == step) {
                let newest = 1_000 + newest;
                queue.handle_message(&message(newest, inputs), Micros(0)).unwrap();
                for (age, input) in inputs.iter().rev().enumerate() {
                    let of = newest - age as u32;
                    if (1_000 + step..1_000 + step + 16).contains(&of) {
                        first.entry(of).or_insert(*input);
                    }
                }
            }
            let taken = queue.take(Tick(1_000 + step), Micros(0)).unwrap();
            let expected = first.get(&(1_000 + step));
            prop_assert_eq!(taken.input[0], expected.copied().unwrap_or(0));
            prop_assert_eq!(taken.source == InputSource::Client, expected.is_some());
        }
    }
}
