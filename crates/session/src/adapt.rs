//! What a peer is sent when its connection gets worse, and that it gets everything back when the connection recovers.
//!
//! # The problem
//!
//! A connection that loses packets or queues them is made worse by what is sent over it. So less is sent: fewer
//! snapshots, and fewer bytes. Three ways to get this wrong are well known. One measure for all peers lets a bad
//! connection slow down everybody. One threshold for both directions lets a connection that lives at the threshold
//! change its rate at every look: with a true loss of 5 %, measured over 100 packets, and a threshold of 5 %, two looks in
//! five change it. And a budget per send, bandwidth times interval, grows as the rate falls, so that half the rate is the
//! same load in larger bursts.
//!
//! # The mechanism
//!
//! Every peer has its own [`Adapt`]. It smooths what was measured, and every setting it decides on is a *ladder*: worse at
//! one threshold, better only below a smaller one, and neither before it has lasted.
//!
//! ```text
//!   smoothed     worse when above for 1 s        better, one level at a time, when below for 10 s
//!      │  half  ─────────────────────────  10 %
//!      │                                          5 %  ──────────────────────── three quarters
//!      │  three quarters ────────────────   5 %
//!      │                                        2.5 %  ──────────────────────── full
//!      0
//! ```
//!
//! | measured | then | else |
//! |---|---|---|
//! | loss above 10 %, or queueing above 200 ms | half of the rate and of the bytes | |
//! | loss above 5 %, or queueing above 100 ms | three quarters | full |
//! | loss above 10 % | small messages that matter are repeated twice | once |
//! | round trip above 150 ms | a prediction window of 200 ms | 100 ms |
//! | jitter above 50 ms | an interpolation delay of at least 150 ms | at least 50 ms |
//!
//! **Queueing, not distance.** The thresholds of 100 and 200 ms are on the round trip less its minimum. On the round trip
//! itself they would take half of the updates from a player who lives 210 ms away, over a connection that is perfect;
//! and sending less would not bring that player nearer. What sending less can cure is a queue, and a queue is exactly
//! what is above the minimum. The minimum is that of the last ten seconds, during which the congestion controller empties
//! its own queues, so a standing queue does not come to look like distance. The prediction window is no punishment but
//! what distance needs, so there the round trip itself counts.
//!
//! **Less and more at once.** Loss asks for a lower rate (the link may be full) and for redundancy (what is sent should
//! arrive). Both are done: the rate and the bytes fall, and of those bytes small reliable messages are
//! repeated twice and not once (`netloom_proto::Redundancy`). Redundancy never adds to the budget.
//!
//! [`share`] divides what the server may send in total among the budgets of its peers.

mod ladder;
mod share;

use netloom_proto::Redundancy;
use netloom_wire::Micros;

use crate::measured::{Measured, Smoothed, Smoothing};
use ladder::{Ladder, Threshold, heights};
use netloom_replica::SettingError;
pub use share::share;

/// How much of its updates a peer gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateLevel {
    /// All.
    #[default]
    Full,
    /// 75 %.
    ThreeQuarters,
    /// 50 %.
    Half,
}

impl RateLevel {
    /// The part, in percent.
    pub const fn percent(self) -> u32 {
        match self {
            RateLevel::Full => 100,
            RateLevel::ThreeQuarters => 75,
            RateLevel::Half => 50,
        }
    }

    fn from_height(height: usize) -> RateLevel {
        match height {
            0 => RateLevel::Full,
            1 => RateLevel::ThreeQuarters,
            _ => RateLevel::Half,
        }
    }
}

/// What a peer gets now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// How much of the updates and of the bytes.
    pub rate: RateLevel,
    /// How often small messages that matter are repeated before anybody asks for them, within the budget.
    pub small_message_copies: u32,
    /// How far a client may predict ahead without a word from the server.
    pub prediction_window: Micros,
    /// What the interpolation delay must not be below.
    pub interpolation_delay_min: Micros,
}

impl Quality {
    /// Sends per second, in thousandths, of a peer that would get `full_hertz`: the statistic `effective_send_rate`.
    pub fn send_rate_millihertz(&self, full_hertz: u32) -> u64 {
        u64::from(full_hertz) * u64::from(self.rate.percent()) * 10
    }

    /// The time between two sends of a peer that would get `full_hertz`; zero hertz never sends.
    pub fn send_interval(&self, full_hertz: u32) -> Micros {
        let millihertz = self.send_rate_millihertz(full_hertz);
        Micros(1_000_000_000u64.checked_div(millihertz).unwrap_or(u64::MAX))
    }

    /// How a connection repeats small messages that is configured to do so in one way or another. One that shall not
    /// repeat anything does not.
    pub fn redundancy(&self, configured: Redundancy) -> Redundancy {
        match (configured, self.small_message_copies) {
            (Redundancy::Off, _) | (_, ..=1) => configured,
            _ => Redundancy::Twice,
        }
    }

    /// Bytes per second of a peer that would get `full_bytes_per_second`. They fall with the rate: a send has the same
    /// budget at every level.
    pub fn bytes_per_second(&self, full_bytes_per_second: u64) -> u64 {
        let bytes = u128::from(full_bytes_per_second) * u128::from(self.rate.percent()) / 100;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// When a peer gets less, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptConfig {
    /// Loss above which the rate is three quarters and half: rising, 1 to 1,000 thousandths.
    pub rate_loss_per_mille: [u32; 2],
    /// Queueing above which the rate is three quarters and half: rising, 1 ms to 10 s.
    pub rate_queueing: [Micros; 2],
    /// Loss above which small messages that matter are repeated twice: 1 to 1,000 thousandths.
    pub redundancy_loss_per_mille: u32,
    /// Round trip above which the longer prediction window holds: 1 ms to 10 s.
    pub prediction_rtt: Micros,
    /// The prediction windows, near and far: rising, 1 ms to 5 s.
    pub prediction_windows: [Micros; 2],
    /// Jitter above which the longer interpolation delay holds: 1 ms to 10 s.
    pub interpolation_jitter: Micros,
    /// What interpolation delays are at least, with little jitter and with much: rising, 0 to 500 ms.
    pub interpolation_delays: [Micros; 2],
    /// Over how long measurements are smoothed: 0 to 60 s.
    pub smoothing: Micros,
    /// How long a threshold must be exceeded: 0 to 60 s.
    pub worsen_hold: Micros,
    /// How long a measure must be below what is good enough before one level is taken back: 0 to 600 s.
    pub recover_hold: Micros,
    /// What is good enough, in percent of the threshold: 1 to 100.
    pub recover_percent: u32,
}

impl Default for AdaptConfig {
    fn default() -> AdaptConfig {
        AdaptConfig {
            rate_loss_per_mille: [50, 100],
            rate_queueing: [Micros::from_millis(100), Micros::from_millis(200)],
            redundancy_loss_per_mille: 100,
            prediction_rtt: Micros::from_millis(150),
            prediction_windows: [Micros::from_millis(100), Micros::from_millis(200)],
            interpolation_jitter: Micros::from_millis(50),
            interpolation_delays: [Micros::from_millis(50), Micros::from_millis(150)],
            smoothing: Micros::from_secs(5),
            worsen_hold: Micros::from_secs(1),
            recover_hold: Micros::from_secs(10),
            recover_percent: 50,
        }
    }
}

impl AdaptConfig {
    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        let [loss_some, loss_much] = self.rate_loss_per_mille;
        SettingError::check("rate_loss_per_mille[0]", loss_some, 1..=1_000, "1 to 1,000")?;
        SettingError::check(
            "rate_loss_per_mille[1]",
            loss_much,
            loss_some..=1_000,
            "rate_loss_per_mille[0] to 1,000",
        )?;
        SettingError::check(
            "redundancy_loss_per_mille",
            self.redundancy_loss_per_mille,
            1..=1_000,
            "1 to 1,000",
        )?;
        let delays = [
            ("rate_queueing[0]", self.rate_queueing[0]),
            ("rate_queueing[1]", self.rate_queueing[1]),
            ("prediction_rtt", self.prediction_rtt),
            ("interpolation_jitter", self.interpolation_jitter),
        ];
        for (field, delay) in delays {
            SettingError::check(field, delay.0, 1_000..=10_000_000, "1,000 to 10,000,000 microseconds")?;
        }
        let windows = self.prediction_windows;
        SettingError::check(
            "prediction_windows[0]",
            windows[0].0,
            1_000..=5_000_000,
            "1,000 to 5,000,000 microseconds",
        )?;
        SettingError::check(
            "prediction_windows[1]",
            windows[1].0,
            1_000..=5_000_000,
            "1,000 to 5,000,000 microseconds",
        )?;
        SettingError::check(
            "interpolation_delays[1]",
            self.interpolation_delays[1].0,
            0..=500_000,
            "0 to 500,000 microseconds",
        )?;
        let pairs = [
            ("rate_queueing[0]", self.rate_queueing, "at most rate_queueing[1]"),
            ("prediction_windows[0]", windows, "at most prediction_windows[1]"),
            ("interpolation_delays[0]", self.interpolation_delays, "at most interpolation_delays[1]"),
        ];
        for (field, [lower, upper], allowed) in pairs {
            SettingError::check(field, lower.0, 0..=upper.0, allowed)?;
        }
        SettingError::check("smoothing", self.smoothing.0, 0..=60_000_000, "0 to 60,000,000 microseconds")?;
        SettingError::check(
            "worsen_hold",
            self.worsen_hold.0,
            0..=60_000_000,
            "0 to 60,000,000 microseconds",
        )?;
        SettingError::check(
            "recover_hold",
            self.recover_hold.0,
            0..=600_000_000,
            "0 to 600,000,000 microseconds",
        )?;
        SettingError::check("recover_percent", self.recover_percent, 1..=100, "1 to 100")
    }
}

/// What one peer gets, by how its connection is. See the [module](self).
///
/// ```
/// use netloom_session::adapt::{Adapt, AdaptConfig, RateLevel};
/// use netloom_session::measured::Measured;
/// use netloom_wire::Micros;
///
/// let mut adapt = Adapt::new(AdaptConfig::default())?;
/// let full = Measured { loss_per_mille: 120, ..Measured::default() };
/// for second in 0..10 {
///     adapt.update(Micros::from_secs(second), &full);
/// }
/// assert_eq!(adapt.quality().rate, RateLevel::Half);
/// assert_eq!(adapt.quality().bytes_per_second(256 * 1024), 128 * 1024);
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adapt {
    smoothing: Smoothing,
    loss: Smoothed,
    queueing: Smoothed,
    rtt: Smoothed,
    jitter: Smoothed,
    /// `None` before the first update.
    updated: Option<Micros>,
    calm: Calm,
    /// What follows from the ladders.
    quality: Quality,
    /// Every ladder stands on the ground, and none is about to be climbed.
    is_calm: bool,
    /// Apart, because most connections are well at most looks: then a server that looks at everybody reads three lines of
    /// memory for each instead of six.
    ladders: Box<Ladders>,
}

/// What depends on the level of each measure.
#[derive(Clone, Debug)]
struct Ladders {
    config: AdaptConfig,
    thresholds: Thresholds,
    rate: Ladder,
    redundancy: Ladder,
    prediction: Ladder,
    interpolation: Ladder,
}

/// Up to here no measure demands anything.
#[derive(Clone, Copy, Debug)]
struct Calm {
    loss: u64,
    queueing: u64,
    rtt: u64,
    jitter: u64,
}

impl Calm {
    fn is_kept(&self, loss: u64, queueing: u64, rtt: u64, jitter: u64) -> bool {
        // All of them, without a branch for each.
        (loss <= self.loss) & (queueing <= self.queueing) & (rtt <= self.rtt) & (jitter <= self.jitter)
    }
}

/// What is worked out of the settings once instead of at every look.
#[derive(Clone, Copy, Debug)]
struct Thresholds {
    rate_loss: [Threshold; 2],
    rate_queueing: [Threshold; 2],
    redundancy_loss: [Threshold; 1],
    prediction_rtt: [Threshold; 1],
    interpolation_jitter: [Threshold; 1],
}

impl Thresholds {
    fn new(config: &AdaptConfig) -> Thresholds {
        let of = |worse| Threshold::new(worse, config.recover_percent);
        Thresholds {
            rate_loss: config.rate_loss_per_mille.map(|loss| of(loss.into())),
            rate_queueing: config.rate_queueing.map(|delay| of(delay.0)),
            redundancy_loss: [of(config.redundancy_loss_per_mille.into())],
            prediction_rtt: [of(config.prediction_rtt.0)],
            interpolation_jitter: [of(config.interpolation_jitter.0)],
        }
    }

    /// Up to where no measure demands anything.
    fn calm(&self) -> Calm {
        Calm {
            loss: self.rate_loss[0].worse().min(self.redundancy_loss[0].worse()),
            queueing: self.rate_queueing[0].worse(),
            rtt: self.prediction_rtt[0].worse(),
            jitter: self.interpolation_jitter[0].worse(),
        }
    }
}

impl Adapt {
    /// A peer of whose connection nothing is known, which gets everything.
    pub fn new(config: AdaptConfig) -> Result<Adapt, SettingError> {
        config.check()?;
        let thresholds = Thresholds::new(&config);
        let smoothed = Smoothed::default();
        let [rate, redundancy, prediction, interpolation] = [Ladder::default(); 4];
        Ok(Adapt {
            smoothing: Smoothing::new(config.smoothing),
            loss: smoothed,
            queueing: smoothed,
            rtt: smoothed,
            jitter: smoothed,
            updated: None,
            calm: thresholds.calm(),
            quality: Quality {
                rate: RateLevel::Full,
                small_message_copies: 1,
                prediction_window: config.prediction_windows[0],
                interpolation_delay_min: config.interpolation_delays[0],
            },
            is_calm: true,
            ladders: Box::new(Ladders { config, thresholds, rate, redundancy, prediction, interpolation }),
        })
    }

    /// Takes in what was measured, a few times a second or at every tick. A clock that goes back changes nothing.
    pub fn update(&mut self, now: Micros, measured: &Measured) -> Quality {
        let elapsed = now - self.updated.unwrap_or(now);
        let now = self.updated.map_or(now, |before| before.max(now));
        self.updated = Some(now);
        let weight = self.smoothing.weigh(elapsed);
        let loss = self.loss.handle(weight, measured.loss_per_mille.into());
        // Before the first sample there is nothing to smooth, and zero would be remembered as a short round trip.
        if measured.rtt > Micros::ZERO {
            let queueing = self.queueing.handle(weight, measured.queueing().0);
            let rtt = self.rtt.handle(weight, measured.rtt.0);
            let jitter = self.jitter.handle(weight, measured.jitter.0);
            self.climb(now, loss, queueing, rtt, jitter);
        } else {
            self.climb(now, loss, 0, 0, 0);
        }
        self.quality
    }

    #[inline]
    fn climb(&mut self, now: Micros, loss: u64, queueing: u64, rtt: u64, jitter: u64) {
        if !(self.is_calm && self.calm.is_kept(loss, queueing, rtt, jitter)) {
            (self.quality, self.is_calm) = self.ladders.climb(now, loss, queueing, rtt, jitter);
        }
    }

    /// What the peer gets since the last update.
    pub fn quality(&self) -> Quality {
        self.quality
    }
}

impl Ladders {
    /// What the peer gets, and whether every ladder is at rest on the ground.
    #[inline(never)] // beside the usual case, which is that nothing happens
    fn climb(&mut self, now: Micros, loss: u64, queueing: u64, rtt: u64, jitter: u64) -> (Quality, bool) {
        let Thresholds { rate_loss, rate_queueing, redundancy_loss, prediction_rtt, interpolation_jitter } =
            &self.thresholds;
        let changes = [
            (&mut self.rate, heights(loss, rate_loss).worst(heights(queueing, rate_queueing))),
            (&mut self.redundancy, heights(loss, redundancy_loss)),
            (&mut self.prediction, heights(rtt, prediction_rtt)),
            (&mut self.interpolation, heights(jitter, interpolation_jitter)),
        ];
        for (ladder, heights) in changes {
            ladder.update(now, heights, self.config.worsen_hold, self.config.recover_hold);
        }
        let ladders = [&self.rate, &self.redundancy, &self.prediction, &self.interpolation];
        let is_calm = ladders.into_iter().all(Ladder::is_at_rest);
        let of =
            |[usual, more]: [Micros; 2], ladder: &Ladder| if ladder.height() == 0 { usual } else { more };
        let quality = Quality {
            rate: RateLevel::from_height(self.rate.height()),
            small_message_copies: if self.redundancy.height() == 0 { 1 } else { 2 },
            prediction_window: of(self.config.prediction_windows, &self.prediction),
            interpolation_delay_min: of(self.config.interpolation_delays, &self.interpolation),
        };
        (quality, is_calm)
    }
}

#[cfg(test)]
mod tests;
