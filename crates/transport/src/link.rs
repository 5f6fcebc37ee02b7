//! What one direction of a bad line does to a datagram.
//!
//! The simulator's links and the [`Conditioner`](crate::Conditioner) are this one model, so what a game meets on a
//! conditioned line is what its simulations have met. It reads no clock: time is an argument.
//!
//! Each test of a datagram is a question with its own answer in the configuration, asked in the order in which a real
//! path asks it:
//!
//! ```text
//! send → mtu → partition → queue of the bottleneck → loss → duplication ┬→ corruption → delay → arrival
//!                                                                       └→ corruption → delay → arrival
//! ```
//!
//! The fate of the n-th datagram is drawn from a generator of its own, forked by n, so that switching one
//! disturbance on leaves the others' decisions as they were.
//!
//! A stream loses, doubles and reorders nothing: its operating system sends again and keeps the rest waiting. There,
//! what would have been lost is late by a timeout, and everything behind it as well ([`Link::admit_to_stream`]).

use netloom_wire::Micros;

use crate::rng::Rng;

/// The shortest time after which a stream's operating system sends again what was lost.
pub const STREAM_RESEND_MIN: Micros = Micros::from_millis(200);

/// The bytes that IP and UDP headers add to a datagram, counted against a bandwidth cap.
pub const HEADER_OVERHEAD_BYTES: usize = 28;

/// A value that a link cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("link setting `{field}` is {value}, allowed is {allowed}")]
pub struct LinkError {
    /// The field of [`LinkConfig`], with its path.
    pub field: &'static str,
    /// What it was.
    pub value: String,
    /// What it may be.
    pub allowed: &'static str,
}

/// Which datagrams vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each with the same probability.
    Uniform(f64),
    /// In bursts: a two-state chain (Gilbert-Elliott) that moves once per datagram.
    Bursts {
        /// The probability of turning bad when good.
        good_to_bad: f64,
        /// The probability of turning good when bad; its inverse is the mean length of a burst in datagrams.
        bad_to_good: f64,
        /// The loss probability while good.
        loss_good: f64,
        /// The loss probability while bad.
        loss_bad: f64,
    },
}

/// How much a bottleneck's queue holds before the tail is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// What the link sends in this time.
    Time(Micros),
    /// This many bytes.
    Bytes(u64),
}

/// A bottleneck: datagrams leave one after another at a fixed rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// The rate, headers included ([`HEADER_OVERHEAD_BYTES`] per datagram).
    pub bytes_per_second: u64,
    /// The queue in front of it.
    pub buffer: Buffer,
}

/// One direction between two nodes. The default is a perfect link with the mtu of Ethernet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Which datagrams vanish.
    pub loss: Loss,
    /// The mean one-way delay.
    pub latency: Micros,
    /// The largest deviation from `latency` either way, uniform and independent per datagram: it reorders, too.
    pub jitter: Micros,
    /// The probability that a datagram is held back so that later ones overtake it.
    pub reorder: f64,
    /// The longest time for which it is held back.
    pub reorder_delay_max: Micros,
    /// The probability that a datagram arrives twice, each copy with a delay of its own.
    pub duplicate: f64,
    /// The probability that a copy is damaged: one to three flipped bits or, one time in eight, a cut tail.
    pub corrupt: f64,
    /// The bottleneck, if any.
    pub bandwidth: Option<Bandwidth>,
    /// The largest datagram that passes, without IP and UDP headers; larger ones vanish.
    pub mtu_bytes: usize,
}

impl Default for LinkConfig {
    fn default() -> LinkConfig {
        LinkConfig {
            loss: Loss::None,
            latency: Micros::ZERO,
            jitter: Micros::ZERO,
            reorder: 0.0,
            reorder_delay_max: Micros::from_millis(50),
            duplicate: 0.0,
            corrupt: 0.0,
            bandwidth: None,
            mtu_bytes: 1_472,
        }
    }
}

impl LinkConfig {
    /// Says which setting is impossible, if one is.
    pub fn check(&self) -> Result<(), LinkError> {
        match self.loss {
            Loss::None => {}
            Loss::Uniform(probability) => check_probability("loss", probability)?,
            Loss::Bursts { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                check_probability("loss.good_to_bad", good_to_bad)?;
                check_probability("loss.bad_to_good", bad_to_good)?;
                check_probability("loss.loss_good", loss_good)?;
                check_probability("loss.loss_bad", loss_bad)?;
            }
        }
        check_probability("reorder", self.reorder)?;
        check_probability("duplicate", self.duplicate)?;
        check_probability("corrupt", self.corrupt)?;
        let error = |field, value: String, allowed| Err(LinkError { field, value, allowed });
        if self.jitter > self.latency {
            return error("jitter", format!("{} us", self.jitter.0), "0 to `latency`");
        }
        if self.mtu_bytes == 0 {
            return error("mtu_bytes", "0".to_owned(), "1 or more");
        }
        if self.bandwidth.is_some_and(|bandwidth| bandwidth.bytes_per_second == 0) {
            return error("bandwidth.bytes_per_second", "0".to_owned(), "1 or more, or no bandwidth cap");
        }
        Ok(())
    }
}

fn check_probability(field: &'static str, value: f64) -> Result<(), LinkError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(LinkError { field, value: value.to_string(), allowed: "0.0 to 1.0" })
}

/// What happened to the datagrams of a link, or of all links.
///
/// Every datagram has one end: `sent + duplicated` equals the sum of `delivered`, the five `lost_*` and what is still
/// in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams handed to the network.
    pub sent: u64,
    /// Their bytes, without IP and UDP headers.
    pub sent_bytes: u64,
    /// Datagrams that reached a node, copies included.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Lost by [`LinkConfig::loss`].
    pub lost_random: u64,
    /// Dropped by a full bottleneck queue.
    pub lost_queue: u64,
    /// Larger than the mtu.
    pub lost_mtu: u64,
    /// Sent into a partition.
    pub lost_partition: u64,
    /// Addressed to nobody, for example to an address that a node had before it was rebound.
    pub lost_unroutable: u64,
    /// Second copies.
    pub duplicated: u64,
    /// Held back by [`LinkConfig::reorder`] or, on a stream, by a loss.
    pub held_back: u64,
    /// Copies with flipped bits.
    pub corrupted: u64,
    /// Copies with a cut tail.
    pub truncated: u64,
}

impl Counters {
    /// Adds another link's counts.
    pub fn add(&mut self, other: &Counters) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.lost_random += other.lost_random;
        self.lost_queue += other.lost_queue;
        self.lost_mtu += other.lost_mtu;
        self.lost_partition += other.lost_partition;
        self.lost_unroutable += other.lost_unroutable;
        self.duplicated += other.duplicated;
        self.held_back += other.held_back;
        self.corrupted += other.corrupted;
        self.truncated += other.truncated;
    }

    /// All datagrams that did not arrive, whatever the cause.
    pub fn lost(&self) -> u64 {
        self.lost_random + self.lost_queue + self.lost_mtu + self.lost_partition + self.lost_unroutable
    }
}

/// A direction's configuration and its memory.
#[derive(Debug)]
pub struct Link {
    /// What it does from now on; [checked](LinkConfig::check) by whoever sets it.
    pub config: LinkConfig,
    /// What it did.
    pub counters: Counters,
    rng: Rng,
    in_burst: bool,
    idle_at: Micros,
}

/// One copy of a datagram on its way.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub at: Micros,
    /// Whether it is to be [damaged](Link::damage).
    pub is_damaged: bool,
    /// Where the damage is drawn from.
    pub rng: Rng,
}

impl Link {
    /// A link that has seen nothing. The configuration must have been [checked](LinkConfig::check).
    pub fn new(config: LinkConfig, rng: Rng) -> Link {
        Link { config, counters: Counters::default(), rng, in_burst: false, idle_at: Micros::ZERO }
    }

    /// How long a datagram sent now would wait for those before it.
    pub fn queue_delay(&self, now: Micros) -> Micros {
        self.idle_at.since(now)
    }

    /// Decides a datagram's fate: up to two copies that will arrive.
    pub fn admit(&mut self, now: Micros, bytes: usize, is_partitioned: bool) -> [Option<Arrival>; 2] {
        let mut rng = self.rng.fork_index(self.counters.sent);
        self.counters.sent += 1;
        self.counters.sent_bytes += bytes as u64;
        let vanishes = self.loses(&mut rng.fork("loss"));
        if bytes > self.config.mtu_bytes {
            self.counters.lost_mtu += 1;
            return [None, None];
        }
        if is_partitioned {
            self.counters.lost_partition += 1;
            return [None, None];
        }
        let Some(leaves_at) = self.pass_bottleneck(now, bytes) else {
            self.counters.lost_queue += 1;
            return [None, None];
        };
        if vanishes {
            self.counters.lost_random += 1;
            return [None, None];
        }
        let is_doubled = rng.chance(self.config.duplicate);
        self.counters.duplicated += u64::from(is_doubled);
        let first = self.arrival(leaves_at, rng.fork("first"));
        let second = is_doubled.then(|| self.arrival(leaves_at, rng.fork("second")));
        [Some(first), second]
    }

    /// When a piece of a stream arrives, which is not before `earliest`, the arrival of the piece before it. A full queue
    /// is a loss like any other: it is made good after a timeout.
    pub fn admit_to_stream(&mut self, now: Micros, bytes: usize, earliest: Micros) -> Micros {
        let mut rng = self.rng.fork_index(self.counters.sent);
        self.counters.sent += 1;
        self.counters.sent_bytes += bytes as u64;
        let vanishes = self.loses(&mut rng.fork("loss"));
        let (leaves_at, is_late) = match self.pass_bottleneck(now, bytes) {
            Some(leaves_at) => (leaves_at, vanishes),
            None => (self.idle_at, true),
        };
        let mut at = leaves_at + self.config.latency + Micros(rng.between(0, 2 * self.config.jitter.0))
            - self.config.jitter;
        if is_late {
            self.counters.held_back += 1;
            at += self.stream_resend();
        }
        at.max(earliest)
    }

    /// The timeout after which a stream on this link sends again: a round trip and four times its deviation.
    fn stream_resend(&self) -> Micros {
        let round_trip = self.config.latency + self.config.latency;
        STREAM_RESEND_MIN.max(round_trip + Micros(self.config.jitter.0.saturating_mul(4)))
    }

    fn loses(&mut self, rng: &mut Rng) -> bool {
        match self.config.loss {
            Loss::None => false,
            Loss::Uniform(probability) => rng.chance(probability),
            Loss::Bursts { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let turns = rng.chance(if self.in_burst { bad_to_good } else { good_to_bad });
                self.in_burst ^= turns;
                rng.chance(if self.in_burst { loss_bad } else { loss_good })
            }
        }
    }

    /// When the last bit of the datagram leaves the bottleneck, or `None` if its queue is full.
    fn pass_bottleneck(&mut self, now: Micros, bytes: usize) -> Option<Micros> {
        let Some(Bandwidth { bytes_per_second, buffer }) = self.config.bandwidth else {
            return Some(now);
        };
        let queued = self.queue_delay(now);
        let is_full = match buffer {
            Buffer::Time(longest) => queued > longest,
            Buffer::Bytes(most) => {
                u128::from(queued.0) * u128::from(bytes_per_second) / 1_000_000 > u128::from(most)
            }
        };
        if is_full {
            return None;
        }
        let wire_bytes = (bytes + HEADER_OVERHEAD_BYTES) as u64;
        self.idle_at = now.max(self.idle_at) + Micros((wire_bytes * 1_000_000).div_ceil(bytes_per_second));
        Some(self.idle_at)
    }

    fn arrival(&mut self, leaves_at: Micros, mut rng: Rng) -> Arrival {
        let config = &self.config;
        let jitter = rng.between(0, 2 * config.jitter.0);
        let mut at = leaves_at + config.latency + Micros(jitter) - config.jitter;
        let (is_late, lateness) =
            (rng.chance(config.reorder), rng.between(1, config.reorder_delay_max.0.max(1)));
        if is_late {
            self.counters.held_back += 1;
            at += Micros(lateness);
        }
        let is_damaged = rng.chance(config.corrupt);
        Arrival { at, is_damaged, rng }
    }

    /// Flips one to three bits of a datagram, or cuts its tail. Returns how long it is then.
    pub fn damage(&mut self, datagram: &mut [u8], rng: &mut Rng) -> usize {
        if datagram.is_empty() {
            return 0;
        }
        if rng.chance(1.0 / 8.0) {
            self.counters.truncated += 1;
            return rng.below(datagram.len() as u64) as usize;
        }
        let bits = datagram.len() as u64 * 8;
        let flips = rng.between(1, 3);
        // Spread evenly from a random start, so that the bits are distinct and no flip undoes another.
        let (first, stride) = (rng.below(bits), bits / flips);
        for flip in 0..flips {
            let bit = (first + flip * stride) % bits;
            datagram[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        self.counters.corrupted += 1;
        datagram.len()
    }
}
