//! The controller against a modelled bottleneck, in virtual time.

use super::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Every packet of the model is this long.
const DATAGRAM: u64 = 1_200;

/// A 60 Hz driver and a driver that wakes every millisecond.
const TICKS: [u64; 2] = [16_667, 1_000];

fn ms(ms: u64) -> Micros {
    Micros::from_millis(ms)
}

#[derive(Clone, Copy)]
struct Path {
    bits_per_second: u64,
    rtt: Micros,
    buffer: Micros,
    loss_per_mille: u64,
    /// Each ack is late by up to this much.
    jitter: Micros,
    tick: u64,
}

impl Path {
    /// A home link: half a second of drop-tail buffer, no random loss.
    fn new(bits_per_second: u64, rtt_ms: u64, tick: u64) -> Path {
        let buffer = ms(500);
        Path { bits_per_second, rtt: ms(rtt_ms), buffer, loss_per_mille: 0, jitter: Micros::ZERO, tick }
    }

    /// A link that never queues.
    fn wide(rtt_ms: u64) -> Path {
        Path::new(1_000_000_000, rtt_ms, 16_667)
    }
}

/// One drop-tail queue shared by all flows, propagation on both sides, peers that wake on ticks.
struct Bottleneck {
    path: Path,
    now: Micros,
    free_at: Micros,
    random: u64,
    /// (when the sender learns of it, flow, sent at, arrived)
    news: BinaryHeap<Reverse<(Micros, usize, Micros, bool)>>,
    delivered: Vec<u64>,
    /// How long each packet waited in the queue.
    waits: Vec<Micros>,
    lost: u64,
}

impl Bottleneck {
    fn new(path: Path, flows: usize) -> Bottleneck {
        Bottleneck {
            path,
            now: Micros::ZERO,
            free_at: Micros::ZERO,
            random: 0x9e37_79b9_7f4a_7c15,
            news: BinaryHeap::new(),
            delivered: vec![0; flows],
            waits: Vec::new(),
            lost: 0,
        }
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn send(&mut self, now: Micros, flow: usize, bytes: u64) {
        let wait = self.free_at.since(now);
        let half = Micros(self.path.rtt.0 / 2);
        if wait > self.path.buffer || self.next_random() % 1_000 < self.path.loss_per_mille {
            self.lost += 1;
            self.news.push(Reverse((now + wait + self.path.rtt + ms(40), flow, now, false)));
            return;
        }
        self.waits.push(wait);
        self.free_at = now + wait + Micros(bytes * 8_000_000 / self.path.bits_per_second);
        self.delivered[flow] += bytes;
        let acked_at = Micros((self.free_at + half).0.next_multiple_of(self.path.tick));
        let late = Micros(self.next_random() % (self.path.jitter.0 + 1));
        self.news.push(Reverse((acked_at + half + late, flow, now, true)));
    }

    fn forget_measurements(&mut self) {
        self.waits.clear();
        self.delivered.fill(0);
        self.lost = 0;
    }

    /// What was used of the link over `seconds`, in percent.
    fn used_percent(&self, seconds: u64) -> u64 {
        self.delivered.iter().sum::<u64>() * 800 / (seconds * self.path.bits_per_second)
    }

    fn wait_p95(&mut self) -> Micros {
        self.waits.sort_unstable();
        self.waits[self.waits.len() * 95 / 100]
    }
}

struct Flow {
    control: RateControl,
    starts_at: Micros,
    /// `None` sends all it may.
    packets_per_tick: Option<u64>,
}

impl Flow {
    fn greedy(bytes_per_second_max: u64) -> Flow {
        let config = RateConfig { bytes_per_second_max, ..RateConfig::default() };
        config.check().unwrap();
        Flow {
            control: RateControl::new(&config, Micros::ZERO),
            starts_at: Micros::ZERO,
            packets_per_tick: None,
        }
    }

    fn send(&mut self, link: &mut Bottleneck, index: usize) {
        let now = link.now;
        let mut wanted = self.packets_per_tick.unwrap_or(u64::MAX);
        while now >= self.starts_at && wanted > 0 && self.control.budget(now) >= DATAGRAM as usize {
            wanted -= 1;
            self.control.handle_sent(now, DATAGRAM as usize);
            link.send(now, index, DATAGRAM);
        }
    }
}

/// Runs the flows for so many seconds, one tick at a time.
fn run(link: &mut Bottleneck, flows: &mut [Flow], seconds: u64) {
    let end = link.now + Micros::from_secs(seconds);
    while link.now < end {
        let now = link.now;
        while let Some(Reverse((at, flow, sent_at, arrived))) = link.news.peek().copied()
            && at <= now
        {
            link.news.pop();
            let control = &mut flows[flow].control;
            match arrived {
                true => control.handle_acked(now, sent_at, DATAGRAM as usize, Some(now.since(sent_at))),
                false => control.handle_lost(now, sent_at),
            }
        }
        // Whoever always came first would always get the last free place in the queue.
        let first = link.next_random() as usize % flows.len();
        for turn in 0..flows.len() {
            let index = (first + turn) % flows.len();
            flows[index].send(link, index);
        }
        link.now += Micros(link.path.tick);
    }
}

/// One greedy flow: link use in percent and the 95th percentile of the queueing delay, from the sixth second on.
fn greedy_alone(path: Path, seconds: u64) -> (u64, Micros) {
    let mut link = Bottleneck::new(path, 1);
    let mut flows = [Flow::greedy(8_000_000)];
    run(&mut link, &mut flows, 5);
    link.forget_measurements();
    run(&mut link, &mut flows, seconds);
    (link.used_percent(seconds), link.wait_p95())
}

#[test]
fn greedy_sender_on_one_megabit_uses_it_without_filling_its_buffer() {
    for rtt_ms in [20, 80, 180] {
        for tick in TICKS {
            let (used, wait) = greedy_alone(Path::new(1_000_000, rtt_ms, tick), 30);
            assert!(used >= 80, "{used} % used at {rtt_ms} ms, tick {tick}");
            assert!(wait <= ms(60), "queueing delay {wait:?} at {rtt_ms} ms, tick {tick}");
        }
    }
}

#[test]
fn greedy_sender_finds_the_rate_of_slow_and_fast_links() {
    for bits_per_second in [250_000, 4_000_000, 20_000_000] {
        for rtt_ms in [20, 80, 180] {
            for tick in TICKS {
                let (used, wait) = greedy_alone(Path::new(bits_per_second, rtt_ms, tick), 30);
                assert!(used >= 80, "{used} % of {bits_per_second} used at {rtt_ms} ms, tick {tick}");
                // On a slow link a single datagram ahead in the queue is a long wait.
                let wait_max = ms(65) + Micros(DATAGRAM * 8_000_000 / bits_per_second);
                assert!(wait <= wait_max, "{wait:?} at {bits_per_second}, {rtt_ms} ms, tick {tick}");
            }
        }
    }
}

#[test]
fn distant_player_on_a_healthy_path_gets_the_full_configured_rate() {
    for bytes_per_second_max in [256 * 1024, 2_000_000] {
        let mut link = Bottleneck::new(Path::wide(180), 1);
        let mut flows = [Flow::greedy(bytes_per_second_max)];
        run(&mut link, &mut flows, 5);
        for _ in 0..30 {
            assert_eq!(flows[0].control.rate(), bytes_per_second_max);
            run(&mut link, &mut flows, 1);
        }
        assert!(flows[0].control.is_limited());
        assert!(flows[0].control.estimate() >= bytes_per_second_max * 95 / 100);
    }
}

#[test]
fn random_loss_costs_a_dip_and_not_the_rate() {
    for loss_per_mille in [20, 50, 100] {
        let mut link = Bottleneck::new(Path { loss_per_mille, ..Path::wide(80) }, 1);
        let mut flows = [Flow::greedy(256 * 1024)];
        run(&mut link, &mut flows, 5);
        let mut sum = 0;
        for _ in 0..60 {
            run(&mut link, &mut flows, 1);
            let rate = flows[0].control.rate();
            assert!(rate >= 128 * 1024, "{rate} B/s at {loss_per_mille} per mille");
            sum += rate;
        }
        assert!(sum / 60 >= 230 * 1024, "mean {} B/s at {loss_per_mille} per mille", sum / 60);
    }
}

#[test]
fn shallow_buffer_without_delay_is_found_by_its_loss() {
    let path = Path { buffer: ms(5), ..Path::new(2_000_000, 40, 1_000) };
    let mut link = Bottleneck::new(path, 1);
    let mut flows = [Flow::greedy(8_000_000)];
    run(&mut link, &mut flows, 10);
    link.forget_measurements();
    run(&mut link, &mut flows, 30);
    let sent = link.lost + link.waits.len() as u64;
    assert!(link.used_percent(30) >= 80, "{} % used", link.used_percent(30));
    assert!(link.lost * 1_000 / sent <= 50, "{} of {sent} lost", link.lost);
}

#[test]
fn newcomer_and_established_sender_share_one_link() {
    for bits_per_second in [250_000, 1_000_000, 4_000_000, 20_000_000] {
        for rtt_ms in [20, 80, 180] {
            for tick in TICKS {
                let mut link = Bottleneck::new(Path::new(bits_per_second, rtt_ms, tick), 2);
                let mut flows = [Flow::greedy(8_000_000), Flow::greedy(8_000_000)];
                flows[1].starts_at = Micros::from_secs(5);
                run(&mut link, &mut flows, 20);
                link.forget_measurements();
                run(&mut link, &mut flows, 40);
                let (most, least) =
                    (link.delivered.iter().max().unwrap(), link.delivered.iter().min().unwrap());
                assert!(
                    *most <= 3 * least,
                    "{most} : {least} at {bits_per_second}, {rtt_ms} ms, tick {tick}"
                );
            }
        }
    }
}

#[test]
fn link_that_becomes_narrow_is_followed_down_and_up_again() {
    let mut link = Bottleneck::new(Path::new(20_000_000, 40, 16_667), 1);
    let mut flows = [Flow::greedy(8_000_000)];
    run(&mut link, &mut flows, 10);
    link.path.bits_per_second = 1_000_000;
    run(&mut link, &mut flows, 5);
    link.forget_measurements();
    run(&mut link, &mut flows, 10);
    assert!(link.used_percent(10) >= 80, "{} % used after the fall", link.used_percent(10));
    let wait = link.wait_p95();
    assert!(wait <= ms(60), "queueing delay {wait:?} after the fall");

    link.path.bits_per_second = 4_000_000;
    run(&mut link, &mut flows, 15);
    link.forget_measurements();
    run(&mut link, &mut flows, 10);
    assert!(link.used_percent(10) >= 80, "{} % used after the rise", link.used_percent(10));
}

#[test]
fn route_that_becomes_longer_is_not_taken_for_a_queue_for_long() {
    let mut link = Bottleneck::new(Path::wide(30), 1);
    let mut flows = [Flow::greedy(256 * 1024)];
    run(&mut link, &mut flows, 10);
    link.path.rtt = ms(110);
    for _ in 0..15 {
        run(&mut link, &mut flows, 1);
        let rate = flows[0].control.rate();
        assert!(rate >= 64 * 1024, "{rate} B/s");
    }
    assert_eq!(flows[0].control.rate(), 256 * 1024);
}

#[test]
fn jitter_is_not_taken_for_a_queue() {
    for packets_per_tick in [Some(1), None] {
        let mut link = Bottleneck::new(Path { jitter: ms(60), ..Path::wide(40) }, 1);
        let mut flows = [Flow { packets_per_tick, ..Flow::greedy(256 * 1024) }];
        run(&mut link, &mut flows, 10);
        for _ in 0..30 {
            run(&mut link, &mut flows, 1);
            let rate = flows[0].control.rate();
            assert!(rate >= 64 * 1024, "{rate} B/s");
        }
    }
}

#[test]
fn sender_that_does_not_use_its_rate_keeps_room_for_twice_its_need_and_no_more() {
    let mut link = Bottleneck::new(Path::wide(40), 1);
    let mut flows = [Flow { packets_per_tick: Some(1), ..Flow::greedy(8_000_000) }];
    run(&mut link, &mut flows, 20);
    let need = DATAGRAM * 60;
    let rate = flows[0].control.rate();
    assert!((need * 3 / 2..=need * 5 / 2).contains(&rate), "{rate} B/s for a need of {need}");
    assert!(!flows[0].control.is_limited());
}

#[test]
fn silence_lowers_the_rate_to_the_minimum_and_an_answer_restores_it() {
    let mut link = Bottleneck::new(Path::wide(40), 1);
    let mut flows = [Flow::greedy(256 * 1024)];
    run(&mut link, &mut flows, 5);
    link.path.loss_per_mille = 1_000;
    run(&mut link, &mut flows, 10);
    assert_eq!(flows[0].control.rate(), RateConfig::default().bytes_per_second_min);
    link.path.loss_per_mille = 0;
    run(&mut link, &mut flows, 10);
    assert_eq!(flows[0].control.rate(), 256 * 1024);
}

#[test]
fn lone_lost_keepalive_is_not_silence() {
    let mut control = RateControl::new(&RateConfig::default(), Micros::ZERO);
    for second in 0..7 {
        control.handle_sent(Micros::from_secs(second), 60);
    }
    assert_eq!(control.rate(), RateConfig::default().bytes_per_second_initial);
}

#[test]
fn new_maximum_holds_at_once_and_never_undercuts_the_minimum() {
    let mut control = RateControl::new(&RateConfig::default(), Micros::ZERO);
    control.set_max(20_000);
    assert_eq!(control.rate(), 20_000);
    control.set_max(0);
    assert_eq!(control.rate(), RateConfig::default().bytes_per_second_min);
}

#[test]
fn budget_is_spent_and_comes_back_when_promised() {
    let start = Micros::from_secs(1);
    let mut control = RateControl::new(&RateConfig::default(), start);
    while control.budget(start) >= 1_200 {
        assert_eq!(control.next_send(start, 1_200), start);
        control.handle_sent(start, 1_200);
    }
    let next = control.next_send(start, 1_200);
    assert!(next > start && next <= start + ms(20), "{next:?}");
    assert!(control.budget(next) >= 1_200 && control.budget(next - Micros(1)) < 1_200);
}

#[test]
fn clock_that_jumps_by_hours_neither_stalls_nor_floods() {
    let mut link = Bottleneck::new(Path::wide(40), 1);
    link.now = Micros::from_secs(20_000);
    let mut flows = [Flow::greedy(256 * 1024)];
    run(&mut link, &mut flows, 5);
    for jumped_to in [Micros::from_secs(60), Micros::from_secs(90_000)] {
        link.now = jumped_to;
        link.free_at = Micros::ZERO;
        link.news.clear();
        assert!(flows[0].control.budget(jumped_to) as u64 <= flows[0].control.burst());
        run(&mut link, &mut flows, 10);
        assert_eq!(flows[0].control.rate(), 256 * 1024);
    }
}

proptest! {
    #[test]
    fn arbitrary_inputs_keep_rate_and_budget_within_their_bounds(
        steps in prop::collection::vec((0u8..5, any::<u64>(), any::<u64>(), any::<usize>()), 1..200),
    ) {
        let config = RateConfig::default();
        let mut control = RateControl::new(&config, Micros(1));
        for (kind, now, other, bytes) in steps {
            let now = Micros(now);
            match kind {
                0 => control.handle_sent(now, bytes),
                1 => control.handle_acked(now, Micros(other), bytes, Some(Micros(other))),
                2 => control.handle_acked(now, Micros(other), bytes, None),
                3 => control.handle_lost(now, Micros(other)),
                _ => control.set_max(other),
            }
            prop_assert!(control.rate() >= config.bytes_per_second_min);
            prop_assert!(control.rate() <= control.config.bytes_per_second_max);
            prop_assert!(control.budget(now) as u64 <= control.burst());
            prop_assert!(control.next_send(now, bytes) >= now);
        }
    }
}
