//! Rounds: the spans of time over which the controller measures before it decides.
//!
//! A single ack says little: receivers ack on ticks, so acks come in batches and a round trip is up to a tick too
//! long. A round collects acks for about one round trip (at least [`ROUND_MIN`] and [`ROUND_SAMPLES`] samples) and
//! reports what survives that noise: the least round trip, and the bytes that arrived per second between the last
//! batch of the previous round and the last batch of this one.
//!
//! ```text
//!   acks      ││││      ││││      ││││      ││││      │
//!             └─ marked │                     └─ end  └─ first ack of the next batch: closes the round
//!                       └── acked bytes ───────┘
//!              delivery = acked bytes ÷ max(time between ends, time between their sendings)
//! ```
//!
//! The sending time guards against acks that were held up and then arrive compressed.

use netloom_wire::Micros;

/// Shorter rounds would be at the mercy of a 60 Hz receiver's tick.
const ROUND_MIN: Micros = Micros::from_millis(60);

/// Round-trip samples a round needs for its least one to be a measure of the queue.
const ROUND_SAMPLES: u32 = 4;

/// What one round measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// The least round trip of packets sent since the last [`Round::count_from`].
    pub(super) rtt_min: Micros,
    /// Bytes per second that arrived.
    pub(super) delivery: u64,
    /// Bytes per second that were sent.
    pub(super) sent: u64,
    /// How long the round took.
    pub(super) elapsed: Micros,
}

/// The round being measured.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Round {
    sent_bytes: u64,
    started_at: Micros,
    acked_bytes: u64,
    rtt_min: Micros,
    rtt_samples: u32,
    /// Packets sent earlier still show the queue as it was before the last cut.
    counted_from: Micros,
    /// Arrival and sending time of the last ack of the previous round.
    marked: Option<(Micros, Micros)>,
    /// The same of the newest ack.
    newest: Option<(Micros, Micros)>,
}

impl Round {
    pub(super) fn new(now: Micros) -> Round {
        Round {
            started_at: now,
            sent_bytes: 0,
            acked_bytes: 0,
            rtt_min: Micros::MAX,
            rtt_samples: 0,
            counted_from: Micros::ZERO,
            marked: None,
            newest: None,
        }
    }

    pub(super) fn handle_sent(&mut self, bytes: u64) {
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
    }

    pub(super) fn handle_acked(&mut self, now: Micros, sent_at: Micros, bytes: u64, rtt: Option<Micros>) {
        self.acked_bytes = self.acked_bytes.saturating_add(bytes);
        let newest_sent = self.newest.map_or(sent_at, |(_, newest)| newest.max(sent_at).min(now));
        self.newest = Some((now, newest_sent));
        if let Some(rtt) = rtt
            && (sent_at >= self.counted_from || self.counted_from > now)
        {
            self.rtt_min = self.rtt_min.min(rtt);
            self.rtt_samples = self.rtt_samples.saturating_add(1);
        }
    }

    /// Closes the round if it is long enough; called when an ack arrives, before it is counted.
    pub(super) fn poll_measured(&mut self, now: Micros, rtt_smoothed: Micros) -> Option<Measured> {
        let (arrived, newest_sent) = self.newest?;
        if now < self.started_at {
            // The clock stepped back: this round's times mean nothing.
            *self = Round::new(now);
            return None;
        }
        let elapsed = now.since(self.started_at);
        let same_batch = arrived == now;
        if same_batch || self.rtt_samples < ROUND_SAMPLES || elapsed < rtt_smoothed.max(ROUND_MIN) {
            return None;
        }
        let (marked_arrival, marked_sent) = self.marked.unwrap_or((self.started_at, Micros::ZERO));
        let between_arrivals = arrived.since(marked_arrival);
        let between_sendings =
            if self.marked.is_some() { newest_sent.since(marked_sent) } else { Micros::ZERO };
        let measured = Measured {
            rtt_min: self.rtt_min,
            delivery: per_second(self.acked_bytes, between_arrivals.max(between_sendings)),
            sent: per_second(self.sent_bytes, elapsed),
            elapsed,
        };
        self.marked = self.newest;
        self.begin(now);
        Some(measured)
    }

    /// Notes that the rate was changed so much that only packets sent from now on tell about it.
    pub(super) fn count_from(&mut self, now: Micros) {
        self.counted_from = now;
        self.rtt_min = Micros::MAX;
        self.rtt_samples = 0;
    }

    fn begin(&mut self, now: Micros) {
        self.started_at = now;
        self.sent_bytes = 0;
        self.acked_bytes = 0;
        self.rtt_min = Micros::MAX;
        self.rtt_samples = 0;
    }
}

fn per_second(bytes: u64, elapsed: Micros) -> u64 {
    // A batch that came all at once has no duration; a millisecond is the shortest that means anything.
    bytes.saturating_mul(1_000_000) / elapsed.0.max(1_000)
}
