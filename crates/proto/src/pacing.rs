//! Congestion control and pacing: how many bytes a connection may send, and when.
//!
//! # The problem
//!
//! A game wants its newest state at the other end now. A link that is offered more than it carries first queues and
//! then drops: on a home uplink with a 500 ms buffer a greedy sender turns a 40 ms ping into 540 ms for everyone
//! behind it, long before it sees a single loss. A rule that looks at the round trip itself ("above 200 ms, halve")
//! punishes the player who merely lives far away, and a rule that looks at loss alone punishes the one on a radio
//! link and still fills the buffer of the first.
//!
//! # The mechanism
//!
//! Each connection has its own [`RateControl`]. It takes the *queueing delay*, the least round trip of the last
//! round minus the least of the last ten seconds, as its signal; distance cancels out.
//!
//! ```text
//!  queueing delay
//!             │   cut    rate = 0.85 × what arrives, each round until the delay is below the target
//!     target  ┼───────
//!    (50 ms)  │   hold   rate = 0.95 × what arrives, once; no growth
//! 0.4 target  ┼───────
//!             │   grow   rate + sqrt(rate × datagram) per second, faster the longer ago the last cut or hold
//!          0  ┴───────
//! ```
//!
//! - **Start.** From the initial rate it doubles each round until a queue or loss shows, or the maximum is reached.
//! - **Cut to what arrives, not × 0.7.** While there is a queue, the rate at which acks come back *is* the link's
//!   capacity. Going to 85 % of it drains the queue in one step whether the sender was 5 % or 20 times too fast, and
//!   repeating it while the queue drains does no harm; × 0.7 per step needs many steps in the second case and throws
//!   away a third of the link in the first. A sender that uses only a part of its rate is cut × 0.85 of the rate
//!   instead, for it can hardly be the cause.
//! - **Growth by the square root.** Equal additive steps make two connections on one link converge; proportional ones
//!   suit slow and fast links alike. The square root does enough of both: at 1 Mbit/s it is 10 % per second.
//! - **The queue is emptied every few seconds.** Holding alone could keep a small queue standing until its delay is
//!   all that the last ten seconds remember, and so is taken for distance. A sender that has not seen the queue empty
//!   for three seconds makes a full cut instead of holding.
//! - **A delay that cutting does not change** is not this sender's queue: the route became longer, or somebody else
//!   fills the buffer. After [`FRUITLESS_CUTS_MAX`] cuts without effect the present delay becomes the new base.
//! - **Loss** above 5 % cuts too, but as an experiment: where it stays the same at the lower rate, it is taken for a
//!   property of the path and the rate is restored (see [`loss`]). So random loss of up to 10 % costs short dips and
//!   leaves nine tenths of the rate on average; a policer or a shallow buffer means a lasting cut.
//! - **Silence.** While nothing at all comes back, the rate halves every second (or four round trips), down to the
//!   minimum, and starts again by doubling.
//! - **A sender that does not use its rate** proves nothing about the link: its rate grows to twice what it uses (or
//!   to the initial rate), no further, and is kept over pauses.
//!
//! In the tests' model (one drop-tail queue of 500 ms, 0.25 to 20 Mbit/s, 20 to 180 ms, ticks of 1 and 16.7 ms) a
//! greedy sender uses 82 to 99 % of the link. The 95th percentile of its queueing delay is below 60 ms at 1 Mbit/s,
//! below 65 ms on faster links and below 95 ms at 0.25 Mbit/s, where one datagram takes 38 ms. Two senders share the
//! link within 2 : 1.
//!
//! # What it does not do
//!
//! It yields to a neighbour that fills the buffer and does not react to delay (a download over TCP), until after some
//! cuts in vain it takes the neighbour's queue for distance. Several senders behind one policer or very shallow
//! buffer can take each other's loss for the path's own and live with up to a tenth of it.
//!
//! # Pacing
//!
//! What may be sent now is a token bucket filled at that rate. A datagram's cost is whatever the caller reports: pass
//! its length plus 28 to count IPv4 and UDP headers (48 for IPv6), the same in every call.

mod bucket;
mod config;
pub mod loss;
mod round;
pub mod rtt;
#[cfg(test)]
mod tests;

use netloom_wire::Micros;

use crate::limits::DATAGRAM_MAX;
use bucket::TokenBucket;
use config::BYTES_PER_SECOND_FLOOR;
pub use config::{BYTES_PER_SECOND_LIMIT, RateConfig};
pub use loss::LossEstimator;
use loss::{LossJudge, LossVerdict};
use round::{Measured, Round};
pub use rtt::RttEstimator;

/// Cuts without any effect on the delay after which it is taken for distance. 0.85⁶ leaves 38 % of the rate.
pub const FRUITLESS_CUTS_MAX: u32 = 6;

/// What the largest datagram costs, with IPv6 and UDP headers.
const DATAGRAM_COST: u64 = DATAGRAM_MAX as u64 + 48;

/// What remains at a cut, in percent.
const CUT_PERCENT: u64 = 85;

/// What remains of the arriving bytes when a small queue shows, in percent.
const HOLD_PERCENT: u64 = 95;

/// What remains of the rate at least, then: a round of few packets measures what arrives only roughly, and the slower
/// of two connections would lose by that each time.
const HOLD_PERCENT_MIN: u64 = 85;

/// A queue that was not seen empty for this long is drained by a full cut: well before the least round trip is
/// forgotten, else the queue would come to be taken for distance.
const DRAIN_INTERVAL: Micros = Micros::from_secs(3);

/// Growth has twice its initial speed this long after the last cut or hold, five times after twice as long, and so on
/// with the square: slow around the limit that was just met, fast once that limit is evidently gone.
const GROWTH_DOUBLING: Micros = Micros::from_secs(4);

/// It speeds up no further after this.
const GROWTH_CALM_MAX: Micros = Micros::from_secs(16);

/// The round trip up to which growth has its full speed. Over a longer path a queue is noticed later, so growth is
/// slower in proportion; what it costs is time to reach a rate, never the rate.
const GROWTH_RTT: Micros = Micros::from_millis(60);

/// A sender that uses less than this part of its rate does not test the link, in percent.
const IN_USE_PERCENT: u64 = 75;

/// Without any ack for this long (or four round trips) the rate halves, provided that enough was sent in the meantime
/// for it not to be the loss of a lone keepalive.
const SILENCE: Micros = Micros::from_secs(1);
const SILENCE_PACKETS: u32 = 8;

/// How the rate grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is known yet: double each round.
    Start,
    /// The link's limit was met: probe around it.
    Probe,
}

/// A run of rounds above the target.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The least delay that the cuts of this episode have achieved.
    delay_least: Micros,
    fruitless_cuts: u32,
}

/// The congestion controller and pacer of one connection.
///
/// In this order in memory: what every packet that is sent needs lies in the first line, the bytes of the round included, and in
/// the third, where the round trip begins.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RateControl {
    rate: u64,
    /// What the bucket holds at this rate.
    burst: u64,
    bucket: TokenBucket,
    loss: LossEstimator,
    unanswered_packets: u32,
    /// When the first packet after the newest ack was sent.
    unanswered_since: Option<Micros>,
    round: Round,
    rtt: RttEstimator,
    loss_judge: LossJudge,
    phase: Phase,
    /// Bytes per second that arrive, smoothed over rounds.
    delivery: u64,
    /// Bytes per second that the application sends: the greatest of late, slowly forgotten.
    used: u64,
    in_use: bool,
    /// Whether the last round was in the hold zone.
    holding: bool,
    last_cut_at: Micros,
    episode: Option<Episode>,
    /// When the queue was last seen empty.
    drained_at: Micros,
    config: RateConfig,
}

impl RateControl {
    /// A controller at the initial rate. The configuration is taken as checked; rates beyond the limits are clamped.
    pub fn new(config: &RateConfig, now: Micros) -> RateControl {
        let mut config = config.clone();
        config.bytes_per_second_max =
            config.bytes_per_second_max.clamp(BYTES_PER_SECOND_FLOOR, BYTES_PER_SECOND_LIMIT);
        config.bytes_per_second_min =
            config.bytes_per_second_min.clamp(BYTES_PER_SECOND_FLOOR, config.bytes_per_second_max);
        let rate =
            config.bytes_per_second_initial.clamp(config.bytes_per_second_min, config.bytes_per_second_max);
        RateControl {
            rate,
            phase: Phase::Start,
            rtt: RttEstimator::new(),
            loss: LossEstimator::new(),
            loss_judge: LossJudge::new(now),
            round: Round::new(now),
            burst: burst_bytes(rate, config.burst),
            bucket: TokenBucket::new(now, burst_bytes(rate, config.burst)),
            delivery: 0,
            used: 0,
            in_use: false,
            last_cut_at: now,
            episode: None,
            drained_at: now,
            holding: false,
            unanswered_since: None,
            unanswered_packets: 0,
            config,
        }
    }

    /// Notes that a datagram of `bytes` was sent.
    pub fn handle_sent(&mut self, now: Micros, bytes: usize) {
        let bytes = bytes as u64;
        self.bucket.refill(now, self.rate, self.burst());
        self.bucket.take(bytes, self.burst());
        self.round.handle_sent(bytes);
        self.note_unanswered(now);
    }

    /// Notes that the datagram of `bytes` sent at `sent_at` arrived. `rtt_sample` is its round trip where the ack
    /// allows one to be taken, without the time the peer knowingly held the ack back.
    pub fn handle_acked(&mut self, now: Micros, sent_at: Micros, bytes: usize, rtt_sample: Option<Micros>) {
        self.unanswered_since = None;
        self.unanswered_packets = 0;
        if let Some(measured) = self.round.poll_measured(now, self.rtt_smoothed()) {
            self.handle_round(now, measured);
        }
        if let Some(rtt) = rtt_sample {
            self.rtt.handle_sample(now, rtt);
        }
        self.round.handle_acked(now, sent_at, bytes as u64, rtt_sample);
        self.loss.handle_acked();
        self.judge_loss(now, sent_at, false);
    }

    /// Notes that the datagram sent at `sent_at` was declared lost.
    pub fn handle_lost(&mut self, now: Micros, sent_at: Micros) {
        self.loss.handle_lost();
        self.judge_loss(now, sent_at, true);
    }

    /// Changes the configured maximum while running, clamped to the configured minimum and the overall limit.
    pub fn set_max(&mut self, bytes_per_second: u64) {
        self.config.bytes_per_second_max =
            bytes_per_second.clamp(self.config.bytes_per_second_min, BYTES_PER_SECOND_LIMIT);
        self.keep_rate(self.rate.min(self.config.bytes_per_second_max));
    }

    /// Bytes per second that may be sent now, never above the configured maximum.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Bytes that may be sent now.
    pub fn budget(&self, now: Micros) -> usize {
        let available = self.bucket.available(now, self.rate, self.burst());
        usize::try_from(available).unwrap_or(usize::MAX)
    }

    /// The greatest budget at the present rate: two datagrams, or the configured burst and one datagram.
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// When a datagram of `bytes` may go: `now`, or the time to come back.
    pub fn next_send(&self, now: Micros, bytes: usize) -> Micros {
        self.bucket.ready_at(now, bytes as u64, self.rate, self.burst())
    }

    /// Whether the sender uses what it is allowed, so that a higher rate would let it send more.
    pub fn is_limited(&self) -> bool {
        self.in_use
    }

    /// Bytes per second that have lately arrived at the peer. Under congestion it is what the path carries; while the
    /// sender is not limited, it is only what was sent.
    pub fn estimate(&self) -> u64 {
        self.delivery
    }

    /// The path's round trip without queues, if known.
    pub fn min_rtt(&self) -> Option<Micros> {
        self.rtt.min()
    }

    /// The path's round-trip times.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The path's loss.
    pub fn loss(&self) -> &LossEstimator {
        &self.loss
    }

    fn note_unanswered(&mut self, now: Micros) {
        let since = self.unanswered_since.map_or(now, |since| since.min(now));
        self.unanswered_since = Some(since);
        self.unanswered_packets = self.unanswered_packets.saturating_add(1);
        let patience = SILENCE.max(Micros(self.rtt_smoothed().0 * 4));
        if now.since(since) >= patience && self.unanswered_packets >= SILENCE_PACKETS {
            self.unanswered_since = None;
            self.unanswered_packets = 0;
            self.phase = Phase::Start;
            self.set_rate(now, self.rate / 2);
        }
    }

    fn handle_round(&mut self, now: Micros, measured: Measured) {
        // A clock that stepped back must not leave these in the future for hours.
        self.last_cut_at = self.last_cut_at.min(now);
        self.drained_at = self.drained_at.min(now);
        // Halving is no scatter: the link became narrow, and an average would follow it too slowly.
        self.delivery = match measured.delivery < self.delivery / 2 || self.delivery == 0 {
            true => measured.delivery,
            false => u64::midpoint(self.delivery, measured.delivery),
        };
        self.used = measured.sent.max(self.used - self.used / 8);
        self.in_use = measured.sent >= percent(self.rate, IN_USE_PERCENT);

        let delay = measured.rtt_min - self.rtt.min().unwrap_or(measured.rtt_min);
        let hold = Micros(self.config.delay_target.0 * 2 / 5);
        if delay <= Micros(self.config.delay_target.0 / 8) {
            self.drained_at = now;
        }
        if delay > self.config.delay_target {
            self.back_off(now, delay, measured);
        } else if delay > hold {
            self.hold(now);
        } else {
            self.episode = None;
            self.holding = false;
            self.grow(now, measured.elapsed);
        }
    }

    /// Goes slightly below what arrives, so that a small queue drains, but only once: if it is not ours, repeating it
    /// would wear the rate down.
    fn hold(&mut self, now: Micros) {
        if self.in_use && now.since(self.drained_at) > DRAIN_INTERVAL {
            self.drained_at = now;
            self.cut(now);
        } else if !self.holding && self.in_use {
            let below_arriving = percent(self.delivery, HOLD_PERCENT);
            let least = percent(self.rate, HOLD_PERCENT_MIN);
            self.set_rate(now, below_arriving.clamp(least, self.rate));
        }
        self.holding = true;
        self.enter_probe(now);
    }

    fn back_off(&mut self, now: Micros, delay: Micros, measured: Measured) {
        let noticeable = Micros(self.config.delay_target.0 / 8);
        let episode = match self.episode {
            Some(Episode { delay_least, fruitless_cuts }) if delay + noticeable > delay_least => {
                Episode { delay_least, fruitless_cuts: fruitless_cuts + 1 }
            }
            _ => Episode { delay_least: delay, fruitless_cuts: 0 },
        };
        if episode.fruitless_cuts >= FRUITLESS_CUTS_MAX {
            self.rtt.restart_min(now, measured.rtt_min);
            self.episode = None;
            return;
        }
        self.episode = Some(episode);
        self.cut(now);
        self.loss_judge.forget(now);
    }

    fn judge_loss(&mut self, now: Micros, sent_at: Micros, lost: bool) {
        match self.loss_judge.handle_packet(now, sent_at, lost) {
            Some(LossVerdict::Excess { per_mille }) => {
                let rate_before = self.rate;
                self.cut(now);
                self.loss_judge.begin_trial(now, per_mille, rate_before);
            }
            Some(LossVerdict::Unrelated { rate_before }) => self.set_rate(now, self.rate.max(rate_before)),
            Some(LossVerdict::Tolerable) | None => {}
        }
    }

    fn cut(&mut self, now: Micros) {
        let arriving = if self.in_use { self.delivery } else { self.rate };
        self.enter_probe(now);
        self.set_rate(now, self.rate.min(percent(arriving, CUT_PERCENT)));
        self.round.count_from(now);
    }

    fn enter_probe(&mut self, now: Micros) {
        self.phase = Phase::Probe;
        self.last_cut_at = now;
    }

    fn grow(&mut self, now: Micros, elapsed: Micros) {
        let wanted = self.used.saturating_mul(2).max(self.config.bytes_per_second_initial);
        if self.rate >= wanted {
            return;
        }
        let grown = match self.phase {
            Phase::Start => {
                self.round.count_from(now);
                self.rate * 2
            }
            Phase::Probe => {
                let calm_ms = now.since(self.last_cut_at).min(GROWTH_CALM_MAX).0 / 1_000;
                let speedup_per_mille = 1_000 + calm_ms.pow(2) * 1_000 / (GROWTH_DOUBLING.0 / 1_000).pow(2);
                let nearness_per_mille = GROWTH_RTT.0 * 1_000 / self.rtt_smoothed().max(GROWTH_RTT).0;
                let base = (self.rate * DATAGRAM_COST).isqrt();
                let per_second = base * speedup_per_mille / 1_000 * nearness_per_mille / 1_000;
                let step = per_second * elapsed.min(Micros::from_secs(1)).0 / 1_000_000;
                self.rate + step.min(self.rate / 4)
            }
        };
        self.set_rate(now, grown.min(wanted));
    }

    /// Credits the past at the old rate before the new one holds.
    fn set_rate(&mut self, now: Micros, bytes_per_second: u64) {
        self.bucket.refill(now, self.rate, self.burst());
        self.keep_rate(
            bytes_per_second.clamp(self.config.bytes_per_second_min, self.config.bytes_per_second_max),
        );
    }

    fn keep_rate(&mut self, bytes_per_second: u64) {
        self.rate = bytes_per_second;
        self.burst = burst_bytes(bytes_per_second, self.config.burst);
    }

    fn rtt_smoothed(&self) -> Micros {
        self.rtt.smoothed().unwrap_or(Micros::ZERO)
    }
}

fn burst_bytes(rate: u64, burst: Micros) -> u64 {
    (rate.saturating_mul(burst.0) / 1_000_000 + DATAGRAM_COST).max(2 * DATAGRAM_COST)
}

fn percent(value: u64, percent: u64) -> u64 {
    value.saturating_mul(percent) / 100
}
