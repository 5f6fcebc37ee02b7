//! Rates, budgets, and who is let go.

use netloom_session::adapt::{Adapt, AdaptConfig, RateLevel, share};
use netloom_session::health::{Health, HealthConfig, UnfitReason};
use netloom_session::measured::Measured;
use netloom_wire::Micros;

/// Numbers that are the same in every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// How many of 100 packets are lost, in thousandths, if each is with this probability.
    fn loss_per_mille(&mut self, true_per_mille: u64) -> u32 {
        10 * (0..100).filter(|_| self.below(1_000) < true_per_mille).count() as u32
    }
}

fn literal_level(loss_per_mille: u32, rtt: Micros) -> RateLevel {
    if loss_per_mille > 100 || rtt > Micros::from_millis(200) {
        RateLevel::Half
    } else if loss_per_mille > 50 || rtt > Micros::from_millis(100) {
        RateLevel::ThreeQuarters
    } else {
        RateLevel::Full
    }
}

fn switches(levels: impl Iterator<Item = RateLevel>) -> usize {
    let levels: Vec<RateLevel> = levels.collect();
    levels.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

fn adapt() -> Adapt {
    Adapt::new(AdaptConfig::default()).unwrap()
}

/// X-U6: one threshold for both directions, looked at through 100 packets.
#[test]
fn thresholds_without_hysteresis_switch_at_two_looks_of_five_and_ours_hardly_ever() {
    for seed in 1..=20 {
        let mut noise = Noise(seed);
        let losses: Vec<u32> = (0..200).map(|_| noise.loss_per_mille(50)).collect();
        let literal = switches(losses.iter().map(|loss| literal_level(*loss, Micros::ZERO)));
        assert!((60..120).contains(&literal), "{literal} switches in 200 evaluations");

        // 100 packets are five seconds at 20 a second; looking more often than that sees the same ones again.
        for (interval_ms, repeats) in [(5_000, 1), (50, 100)] {
            let mut adapt = adapt();
            let looks = losses.iter().flat_map(|loss| std::iter::repeat_n(*loss, repeats)).enumerate();
            let ours = switches(looks.map(|(look, loss_per_mille)| {
                let measured = Measured { loss_per_mille, ..Measured::default() };
                adapt.update(Micros::from_millis(look as u64 * interval_ms), &measured).rate
            }));
            assert!(ours <= 4, "{ours} switches, looking every {interval_ms} ms, seed {seed}");
        }
    }
}

/// X-U6: the round trip itself, and the worst of all peers for everybody.
#[test]
fn distance_halves_the_rate_of_all_by_the_letter_and_nobodys_here() {
    let rtts = [20, 30, 250].map(Micros::from_millis);
    let worst = rtts.into_iter().max().unwrap();
    assert_eq!(literal_level(0, worst), RateLevel::Half, "for the neighbours too");
    assert_eq!(literal_level(0, Micros::from_millis(150)), RateLevel::ThreeQuarters, "in the declared range");

    for rtt in rtts {
        let (mut adapt, measured) = (adapt(), Measured { rtt, rtt_min: rtt, ..Measured::default() });
        let levels = (0..600).map(|look| adapt.update(Micros::from_millis(look * 50), &measured).rate);
        assert!(levels.into_iter().all(|level| level == RateLevel::Full));
    }
}

/// X-U7: bandwidth times interval is the same bandwidth at every rate, and nobody says for how many peers.
#[test]
fn half_the_rate_is_half_the_bytes_and_all_peers_together_keep_the_total() {
    let literal_budget = |hertz: u64| 262_144 / hertz;
    assert_eq!((literal_budget(20), literal_budget(10)), (13_107, 26_214));

    let (mut adapt, measured) = (adapt(), Measured { loss_per_mille: 200, ..Measured::default() });
    let quality = (0..10).map(|second| adapt.update(Micros::from_secs(second), &measured)).last().unwrap();
    let bytes_per_send = |hertz_milli: u64, bytes: u64| bytes * 1_000 / hertz_milli;
    let bytes_per_second = quality.bytes_per_second(262_144);
    assert_eq!((quality.send_rate_millihertz(20), bytes_per_second), (10_000, 131_072));
    assert_eq!(bytes_per_send(10_000, bytes_per_second), bytes_per_send(20_000, 262_144));

    let mut peers = [200 * 16 * 20; 16];
    assert_eq!(peers.iter().sum::<u64>(), 1_024_000, "what 16 peers want");
    peers[3] = 1_000;
    share(262_144, &mut peers);
    assert_eq!(peers[3], 1_000, "the modest one gets what it wants");
    assert!(peers.iter().sum::<u64>() <= 262_144 && peers.iter().sum::<u64>() > 262_144 - 16);
}

/// X-B24 and X-C7: redundancy, windows and delays are raised and never lowered; and one design sends less where the other
/// sends more.
#[test]
fn quality_goes_both_ways_and_redundancy_stays_within_a_smaller_budget() {
    let mut adapt = adapt();
    let bad = Measured {
        rtt: Micros::from_millis(160),
        rtt_min: Micros::from_millis(160),
        jitter: Micros::from_millis(60),
        loss_per_mille: 120,
        ..Measured::default()
    };
    let good =
        Measured { rtt: Micros::from_millis(40), rtt_min: Micros::from_millis(40), ..Measured::default() };
    let before = adapt.quality();
    let mut run = |seconds: std::ops::Range<u64>, measured: &Measured| {
        seconds.map(|second| adapt.update(Micros::from_secs(second), measured)).last().unwrap()
    };
    let during = run(0..20, &bad);
    assert_eq!((during.small_message_copies, during.rate), (2, RateLevel::Half));
    assert!(during.bytes_per_second(1_000) < 1_000);
    assert_eq!(during.prediction_window, Micros::from_millis(200));
    assert_eq!(during.interpolation_delay_min, Micros::from_millis(150));
    assert_eq!(run(20..80, &good), before);
}

/// U's check of a peer, which keeps the time since the last answer and never sets it back.
fn literal_kicks(elapsed_s: f64, rtt_ms: u64, queue: usize) -> bool {
    rtt_ms > 500 || queue > 256 || elapsed_s > 10.0
}

/// X-U27: a spike, a join and eleven seconds of play.
#[test]
fn a_spike_a_join_and_time_itself_end_a_connection_by_the_letter_and_not_here() {
    assert!(literal_kicks(1.0, 501, 0), "one late packet");
    assert!(literal_kicks(0.1, 40, 300), "the world of a newcomer, on its way");
    assert!(literal_kicks(10.1, 40, 0), "an answer every tick, and the time since is never reset");

    let mut health = Health::new(HealthConfig::default(), Micros::ZERO).unwrap();
    for tick in 1..=20 * 600u64 {
        let now = Micros::from_millis(tick * 50);
        let is_joining = tick < 20 * 6;
        let rtt = Micros::from_millis(if tick % 100 == 0 { 1_500 } else { 40 });
        let queue_packets = if is_joining { 300 } else { 5 };
        let measured = Measured { rtt, queue_packets, last_received: now, ..Measured::default() };
        assert_eq!(health.update(now, &measured), None, "tick {tick}");
    }
}

/// X-U27: every cause has one name.
#[test]
fn who_cannot_follow_goes_with_the_reason_that_it_was() {
    let causes = [
        (UnfitReason::Latency, Measured { rtt: Micros::from_millis(600), ..Measured::default() }),
        (UnfitReason::Queue, Measured { queue_packets: 257, ..Measured::default() }),
    ];
    for (reason, measured) in causes {
        let mut health = Health::new(HealthConfig::default(), Micros::ZERO).unwrap();
        let times = (1..400).map(|tick| Micros::from_millis(tick * 50));
        let unfit = times
            .map(|now| health.update(now, &Measured { last_received: now, ..measured }))
            .find_map(|unfit| unfit)
            .unwrap();
        assert_eq!(unfit.reason, reason);
    }
}
