//! What the checks believe.

use std::collections::BTreeSet;

use netloom_session::validate::{ActionRate, Movement, MovementRule, RateRule, Reason, TimeBudget, TimeRule};
use netloom_wire::Micros;

const SPEED_MAX: f64 = 5.0;

/// X-U36: the client says how long its move took.
#[test]
fn a_client_that_claims_100_seconds_moves_550_metres_by_the_letter_and_3_here() {
    let literal_allows = |metres: f64, client_dt_s: f64| metres <= SPEED_MAX * client_dt_s * 1.1;
    assert!(literal_allows(549.999, 100.0) && !literal_allows(550.001, 100.0));

    let mut movement = Movement::new(MovementRule::new(SPEED_MAX), [0.0; 3], Micros::ZERO).unwrap();
    let now = Micros::from_secs(1);
    assert_eq!(movement.check(now, [550.0, 0.0, 0.0]), Err(Reason::Teleport));
    let furthest = (0..=5_500).map(|tenth| f64::from(tenth) / 10.0).rfind(|metres| {
        let mut movement = Movement::new(MovementRule::new(SPEED_MAX), [0.0; 3], Micros::ZERO).unwrap();
        movement.check(now, [*metres, 0.0, 0.0]).is_ok()
    });
    assert_eq!(furthest, Some(3.0), "half a second of slack at 6 m/s");
}

/// X-B1: the check compares what the command does with what the command does, times 1.2.
#[test]
fn a_speed_check_by_the_commands_own_dt_always_passes_and_more_commands_buy_nothing_here() {
    let ratio = |dt: f64| (SPEED_MAX * dt) / (1.2 * SPEED_MAX * dt);
    for dt in [0.001, 0.016, 1.0, 1e6] {
        assert!((ratio(dt) - 0.833).abs() < 0.001, "whatever the client claims");
    }
    // Ten times as many commands of a sixtieth, each of which passes, are ten times the speed.
    let (commands_per_second, command) = (600u32, Micros(16_667));
    let literal_metres = f64::from(commands_per_second) * command.as_secs_f64() * SPEED_MAX;
    assert!(literal_metres > 49.0);

    let seconds = 60;
    let mut budget = TimeBudget::new(TimeRule::default(), Micros::ZERO).unwrap();
    let times = (1..=u64::from(commands_per_second) * seconds).map(|number| Micros(number * 1_000_000 / 600));
    let accepted = times.filter(|now| budget.spend(*now, command).is_ok()).count();
    let metres = accepted as f64 * command.as_secs_f64() * SPEED_MAX;
    assert!(metres <= (seconds as f64 + 0.25) * SPEED_MAX, "{metres} m in a minute");
}

/// X-B28: the interval between two actions is that of the client's timestamps.
#[test]
fn spam_with_invented_timestamps_passes_by_the_letter_and_receipt_counts_here() {
    let (mut last, mut literal) = (0, 0);
    for claimed_ms in (0..1_000).map(|number| number * 1_000) {
        literal += u32::from(claimed_ms == 0 || claimed_ms - last >= 100);
        last = claimed_ms;
    }
    assert_eq!(literal, 1_000, "all in one millisecond, and each a second after the other");

    let mut rate = ActionRate::new(RateRule { per_second: 10, burst: 3 }, Micros::ZERO).unwrap();
    assert_eq!((0..1_000).filter(|number| rate.take(Micros(*number)).is_ok()).count(), 3);
}

/// X-R16: seconds in a float of 32 bits, after 48.5 days.
#[test]
fn float_seconds_tell_5_of_120_frames_apart_and_microseconds_all() {
    let start_s = 4_194_304u64;
    assert_eq!(start_s * 10 / 86_400, 485, "days");
    let literal: BTreeSet<u32> =
        (0..120).map(|frame| (start_s as f32 + frame as f32 / 60.0).to_bits()).collect();
    assert_eq!(literal.len(), 5);

    let frame = |number: u64| Micros::from_secs(start_s) + Micros(number * 1_000_000 / 60);
    assert_eq!((0..120).map(frame).collect::<BTreeSet<Micros>>().len(), 120);
    // A player who sends at 60 a second is never refused, and one who sends at 6,000 gets what is allowed.
    let mut rate = ActionRate::new(RateRule::INPUTS, frame(0)).unwrap();
    assert!((0..120).all(|number| rate.take(frame(number)).is_ok()));
    let mut rate = ActionRate::new(RateRule::INPUTS, frame(0)).unwrap();
    let flood = (0..12_000).map(|number| frame(0) + Micros(number * 1_000 / 6));
    assert_eq!(flood.filter(|now| rate.take(*now).is_ok()).count(), 50 + 199);
}

/// X-R16: a limiter that remembers everything that was ever sent to it.
#[test]
fn a_limiter_by_remembered_times_grows_with_the_flood_and_ours_has_one_size() {
    let mut literal: Vec<Micros> = Vec::new();
    literal.extend((0..100_000).map(Micros));
    assert!(literal.len() * size_of::<Micros>() > 700_000, "bytes, for one client that floods");
    assert!(size_of::<ActionRate>() <= 32);
}
