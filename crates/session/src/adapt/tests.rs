use proptest::prelude::*;

use super::*;

fn adapt() -> Adapt {
    Adapt::new(AdaptConfig::default()).unwrap()
}

/// A good connection over some distance.
fn good(rtt_ms: u64) -> Measured {
    let rtt = Micros::from_millis(rtt_ms);
    Measured { rtt, rtt_min: rtt, jitter: Micros::from_millis(2), ..Measured::default() }
}

/// Updates at 20 per second for so long, and the quality at the end.
fn run(adapt: &mut Adapt, from_s: u64, to_s: u64, measured: &Measured) -> Quality {
    let times = (from_s * 20..to_s * 20).map(|twentieth| Micros(twentieth * 50_000));
    times.map(|now| adapt.update(now, measured)).last().unwrap()
}

const EVERYTHING: Quality = Quality {
    rate: RateLevel::Full,
    small_message_copies: 1,
    prediction_window: Micros::from_millis(100),
    interpolation_delay_min: Micros::from_millis(50),
};

#[test]
fn a_good_connection_gets_everything() {
    assert_eq!(run(&mut adapt(), 0, 60, &good(40)), EVERYTHING);
}

#[test]
fn distance_alone_costs_no_update() {
    for rtt_ms in [101, 201, 350, 900] {
        let quality = run(&mut adapt(), 0, 60, &good(rtt_ms));
        assert_eq!(quality.rate, RateLevel::Full, "{rtt_ms} ms");
    }
}

#[test]
fn loss_and_queueing_cut_the_rate_at_their_thresholds() {
    let loss = |loss_per_mille| Measured { loss_per_mille, ..good(40) };
    let queueing = |ms: u64| Measured { rtt: Micros::from_millis(40 + ms), ..good(40) };
    let expected = [
        (loss(50), RateLevel::Full),
        (loss(51), RateLevel::ThreeQuarters),
        (loss(100), RateLevel::ThreeQuarters),
        (loss(101), RateLevel::Half),
        (queueing(100), RateLevel::Full),
        (queueing(110), RateLevel::ThreeQuarters),
        (queueing(200), RateLevel::ThreeQuarters),
        (queueing(210), RateLevel::Half),
    ];
    for (measured, rate) in expected {
        assert_eq!(run(&mut adapt(), 0, 20, &measured).rate, rate, "{measured:?}");
    }
}

#[test]
fn everything_comes_back_with_the_connection() {
    let mut adapt = adapt();
    let bad = Measured {
        rtt: Micros::from_millis(400),
        rtt_min: Micros::from_millis(40),
        jitter: Micros::from_millis(80),
        loss_per_mille: 150,
        ..Measured::default()
    };
    let poor = Quality {
        rate: RateLevel::Half,
        small_message_copies: 2,
        prediction_window: Micros::from_millis(200),
        interpolation_delay_min: Micros::from_millis(150),
    };
    assert_eq!(run(&mut adapt, 0, 20, &bad), poor);
    assert_eq!(run(&mut adapt, 20, 24, &good(40)), poor, "not at once");
    assert_eq!(run(&mut adapt, 24, 60, &good(40)), EVERYTHING);
}

#[test]
fn a_level_is_given_back_one_at_a_time() {
    let mut adapt = adapt();
    run(&mut adapt, 0, 20, &Measured { loss_per_mille: 200, ..good(40) });
    let mut levels = vec![RateLevel::Half];
    for twentieth in 400..1_400 {
        let rate = adapt.update(Micros(twentieth * 50_000), &good(40)).rate;
        if levels.last() != Some(&rate) {
            levels.push(rate);
        }
    }
    assert_eq!(levels, [RateLevel::Half, RateLevel::ThreeQuarters, RateLevel::Full]);
}

#[test]
fn a_spike_changes_nothing() {
    let mut adapt = adapt();
    run(&mut adapt, 0, 10, &good(40));
    let spike = Measured { rtt: Micros::from_millis(900), loss_per_mille: 300, ..good(40) };
    assert_eq!(adapt.update(Micros::from_millis(10_050), &spike), EVERYTHING);
    assert_eq!(run(&mut adapt, 11, 20, &good(40)), EVERYTHING);
}

#[test]
fn between_both_thresholds_a_level_stays_what_it_was() {
    let between = Measured { loss_per_mille: 40, ..good(40) };
    let mut from_above = adapt();
    run(&mut from_above, 0, 20, &Measured { loss_per_mille: 80, ..good(40) });
    assert_eq!(run(&mut from_above, 20, 200, &between).rate, RateLevel::ThreeQuarters);
    assert_eq!(run(&mut adapt(), 0, 200, &between).rate, RateLevel::Full);
}

#[test]
fn rate_and_bytes_fall_together() {
    let half = Quality { rate: RateLevel::Half, ..EVERYTHING };
    assert_eq!(half.send_rate_millihertz(20), 10_000);
    assert_eq!(half.send_interval(20), Micros::from_millis(100));
    assert_eq!(half.bytes_per_second(262_144), 131_072);
    assert_eq!(EVERYTHING.send_interval(20), Micros::from_millis(50));
    assert_eq!(EVERYTHING.bytes_per_second(u64::MAX), u64::MAX);
    assert_eq!(half.send_interval(0), Micros::MAX);
}

#[test]
fn each_setting_out_of_its_range_is_named() {
    let valid = AdaptConfig::default();
    assert!(valid.check().is_ok());
    let wrong = [
        ("rate_loss_per_mille[0]", AdaptConfig { rate_loss_per_mille: [0, 5], ..valid }),
        ("rate_loss_per_mille[1]", AdaptConfig { rate_loss_per_mille: [5, 4], ..valid }),
        ("redundancy_loss_per_mille", AdaptConfig { redundancy_loss_per_mille: 1_001, ..valid }),
        ("rate_queueing[0]", AdaptConfig { rate_queueing: [Micros(5_000), Micros(4_000)], ..valid }),
        ("rate_queueing[1]", AdaptConfig { rate_queueing: [Micros(5_000), Micros::MAX], ..valid }),
        ("prediction_rtt", AdaptConfig { prediction_rtt: Micros::ZERO, ..valid }),
        (
            "prediction_windows[0]",
            AdaptConfig { prediction_windows: [Micros(2_000), Micros(1_000)], ..valid },
        ),
        ("interpolation_jitter", AdaptConfig { interpolation_jitter: Micros::ZERO, ..valid }),
        (
            "interpolation_delays[1]",
            AdaptConfig { interpolation_delays: [Micros::ZERO, Micros::MAX], ..valid },
        ),
        ("smoothing", AdaptConfig { smoothing: Micros::MAX, ..valid }),
        ("worsen_hold", AdaptConfig { worsen_hold: Micros::MAX, ..valid }),
        ("recover_hold", AdaptConfig { recover_hold: Micros::MAX, ..valid }),
        ("recover_percent", AdaptConfig { recover_percent: 0, ..valid }),
    ];
    for (field, config) in wrong {
        assert_eq!(Adapt::new(config).unwrap_err().field, field);
    }
}

proptest! {
    #[test]
    fn no_level_changes_twice_within_the_shorter_hold(
        samples in proptest::collection::vec((0u64..2_000_000, 0u32..300, 0u64..600_000), 2..200),
    ) {
        let (mut adapt, mut now, mut changed) = (adapt(), Micros::ZERO, None::<Micros>);
        for (elapsed, loss_per_mille, queueing) in samples {
            now += Micros(elapsed);
            let before = adapt.quality().rate;
            let measured = Measured {
                rtt: Micros(40_000 + queueing), rtt_min: Micros(40_000), loss_per_mille, ..Measured::default()
            };
            if adapt.update(now, &measured).rate != before {
                let hold = AdaptConfig::default().worsen_hold;
                prop_assert!(changed.is_none_or(|at| now - at >= hold));
                changed = Some(now);
            }
        }
    }

    #[test]
    fn no_measurement_and_no_clock_breaks_it(
        samples in proptest::collection::vec((any::<u64>(), any::<[u64; 3]>(), any::<u32>()), 1..50),
    ) {
        let mut adapt = adapt();
        for (now, [rtt, rtt_min, jitter], loss_per_mille) in samples {
            let (rtt, rtt_min, jitter) = (Micros(rtt), Micros(rtt_min), Micros(jitter));
            let measured = Measured { rtt, rtt_min, jitter, loss_per_mille, ..Measured::default() };
            prop_assert_eq!(adapt.update(Micros(now), &measured), adapt.quality());
        }
    }
}
