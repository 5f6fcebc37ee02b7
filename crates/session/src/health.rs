//! Which peers a server cannot keep.
//!
//! # The problem
//!
//! A peer that cannot follow costs memory (what is sent waits), and in games with lag compensation it costs the others'
//! trust in what they see. So it is let go. But one late packet is no reason, nor is the burst of a join, nor is a pause of
//! the server itself, and whoever is let go wants to know why.
//!
//! # The mechanism
//!
//! Three measures, each with a limit and a time for which it must be exceeded without a break:
//!
//! | measure | limit | exceeded for | reason |
//! |---|---|---|---|
//! | round trip, smoothed over 1 s | 500 ms | 5 s | [`UnfitReason::Latency`] |
//! | packets that wait | 256 | 5 s | [`UnfitReason::Queue`] |
//! | time since the last packet | 10 s | | [`UnfitReason::Silence`] |
//!
//! ```text
//!   joined        grace         sustained
//!   ├─────────────┼─────────────────────────────▶
//!    latency and queue do not count            │ Unfit { reason, figures }
//!                 └ 2 s after the last begin_grace
//! ```
//!
//! Time counts only as far as somebody looked: an update that comes late, because the process was stopped or the machine
//! slept, counts as [`UPDATE_GAP_MAX`]. Else a server that was frozen for ten seconds would let everybody go on waking up,
//! with all their packets waiting in its socket.
//!
//! Messages that wait because a connection has no room count among its packets. Only when they are more than there is memory
//! for is nothing waited for: [`Health::overflown`].
//!
//! [`Health::update`] only tells. Whoever asks removes the peer when it is done with asking about all of them.

use netloom_proto::DisconnectReason;
use netloom_wire::Micros;

use crate::measured::{Measured, Smoothed, Smoothing};
use netloom_replica::SettingError;

/// The most that the time between two updates counts for.
pub const UPDATE_GAP_MAX: Micros = Micros::from_secs(1);

/// When a peer is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthConfig {
    /// The longest round trip: 10 ms to 60 s.
    pub rtt_max: Micros,
    /// The most packets that may wait to be sent or acknowledged: 1 to 1,000,000.
    pub queue_packets_max: usize,
    /// The longest silence: 100 ms to 600 s.
    pub silence_max: Micros,
    /// How long round trip or queue must be beyond their limits: 0 to 600 s.
    pub sustained: Micros,
    /// How long they do not count after a join: 0 to 600 s.
    pub grace: Micros,
    /// Over how long the round trip is smoothed: 0 to 60 s.
    pub smoothing: Micros,
}

impl Default for HealthConfig {
    fn default() -> HealthConfig {
        HealthConfig {
            rtt_max: Micros::from_millis(500),
            queue_packets_max: 256,
            silence_max: Micros::from_secs(10),
            sustained: Micros::from_secs(5),
            grace: Micros::from_secs(2),
            smoothing: Micros::from_secs(1),
        }
    }
}

impl HealthConfig {
    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check(
            "rtt_max",
            self.rtt_max.0,
            10_000..=60_000_000,
            "10,000 to 60,000,000 microseconds",
        )?;
        SettingError::check("queue_packets_max", self.queue_packets_max, 1..=1_000_000, "1 to 1,000,000")?;
        SettingError::check(
            "silence_max",
            self.silence_max.0,
            100_000..=600_000_000,
            "100,000 to 600,000,000 microseconds",
        )?;
        SettingError::check("sustained", self.sustained.0, 0..=600_000_000, "0 to 600,000,000 microseconds")?;
        SettingError::check("grace", self.grace.0, 0..=600_000_000, "0 to 600,000,000 microseconds")?;
        SettingError::check("smoothing", self.smoothing.0, 0..=60_000_000, "0 to 60,000,000 microseconds")
    }
}

/// Why a peer cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitReason {
    /// The round trip is too long.
    Latency,
    /// Too much waits for it.
    Queue,
    /// It says nothing.
    Silence,
}

/// A peer that cannot be kept, with the figures that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} for {:.1} s: round trip {:.0} ms, {queue_packets} packets waiting, silent for {:.1} s",
    match reason {
        UnfitReason::Latency => "round trip above its limit",
        UnfitReason::Queue => "too many packets waiting",
        UnfitReason::Silence => "nothing received",
    },
    lasted.as_secs_f64(), rtt.as_millis_f64(), silence.as_secs_f64()
)]
pub struct Unfit {
    /// Why.
    pub reason: UnfitReason,
    /// For how long that has been so.
    pub lasted: Micros,
    /// The smoothed round trip.
    pub rtt: Micros,
    /// Packets that wait.
    pub queue_packets: usize,
    /// Time without a packet.
    pub silence: Micros,
}

impl Unfit {
    /// What the connection is closed with. The text of the error tells latency and queue apart.
    pub fn disconnect_reason(&self) -> DisconnectReason {
        match self.reason {
            UnfitReason::Latency | UnfitReason::Queue => DisconnectReason::SlowConsumer,
            UnfitReason::Silence => DisconnectReason::Timeout,
        }
    }
}

/// Whether one peer can be kept. See the [module](self).
#[derive(Clone, Debug)]
pub struct Health {
    config: HealthConfig,
    smoothing: Smoothing,
    rtt: Smoothed,
    updated: Micros,
    last_received: Micros,
    /// For how long each has been beyond its limit, and for silence how long it is.
    slow: Micros,
    queued: Micros,
    silent: Micros,
    grace_left: Micros,
}

impl Health {
    /// A peer that joined now, with its time of grace.
    pub fn new(config: HealthConfig, now: Micros) -> Result<Health, SettingError> {
        config.check()?;
        Ok(Health {
            config,
            smoothing: Smoothing::new(config.smoothing),
            rtt: Smoothed::default(),
            updated: now,
            last_received: now,
            slow: Micros::ZERO,
            queued: Micros::ZERO,
            silent: Micros::ZERO,
            grace_left: config.grace,
        })
    }

    /// Grants the time of grace anew: while the world is sent for the first time, or all of it again.
    pub fn begin_grace(&mut self) {
        self.grace_left = self.config.grace;
        (self.slow, self.queued) = (Micros::ZERO, Micros::ZERO);
    }

    /// What is to be said of a peer for whom more waits than there is memory for, however short a time.
    pub fn overflown(&self, measured: &Measured) -> Unfit {
        Unfit {
            reason: UnfitReason::Queue,
            lasted: self.queued,
            rtt: measured.rtt,
            queue_packets: measured.queue_packets,
            silence: self.silent,
        }
    }

    /// Takes in what was measured, at least once a second, and answers whether the peer has to go. It answers so until the
    /// connection is better again. A clock that goes back changes nothing.
    pub fn update(&mut self, now: Micros, measured: &Measured) -> Option<Unfit> {
        let elapsed = (now - self.updated).min(UPDATE_GAP_MAX);
        self.updated = self.updated.max(now);
        let counted = if self.grace_left > Micros::ZERO { Micros::ZERO } else { elapsed };
        self.grace_left = self.grace_left - elapsed;

        let rtt = Micros(self.rtt.handle(self.smoothing.weigh(elapsed), measured.rtt.0));
        lengthen(&mut self.slow, rtt > self.config.rtt_max, counted);
        lengthen(&mut self.queued, measured.queue_packets > self.config.queue_packets_max, counted);
        let is_silent = measured.last_received <= self.last_received;
        lengthen(&mut self.silent, is_silent, elapsed);
        self.last_received = self.last_received.max(measured.last_received);

        let Health { config, slow, queued, silent, .. } = *self;
        let causes = [
            (UnfitReason::Silence, silent, config.silence_max),
            (UnfitReason::Queue, queued, config.sustained),
            (UnfitReason::Latency, slow, config.sustained),
        ];
        let worst = causes.into_iter().find(|(_, lasted, limit)| lasted > limit);
        worst.map(|(reason, lasted, _)| Unfit {
            reason,
            lasted,
            rtt,
            queue_packets: measured.queue_packets,
            silence: silent,
        })
    }
}

fn lengthen(lasted: &mut Micros, goes_on: bool, elapsed: Micros) {
    *lasted = if goes_on { *lasted + elapsed } else { Micros::ZERO };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP: Micros = Micros::from_millis(50);

    /// A peer and a clock.
    struct Watched {
        health: Health,
        now: Micros,
    }

    impl Watched {
        /// A peer past its grace.
        fn new() -> Watched {
            let mut watched = Watched::joining();
            assert_eq!(watched.run(3_000, &good()), None);
            watched
        }

        fn joining() -> Watched {
            let now = Micros::from_secs(100);
            Watched { health: Health::new(HealthConfig::default(), now).unwrap(), now }
        }

        /// Updates for so long with a packet in each, until the peer has to go.
        fn run(&mut self, ms: u64, measured: &Measured) -> Option<Unfit> {
            self.run_with(ms, |now| Measured { last_received: now, ..*measured })
        }

        fn run_with(&mut self, ms: u64, measured: impl Fn(Micros) -> Measured) -> Option<Unfit> {
            let end = self.now + Micros::from_millis(ms);
            while self.now < end {
                self.now += STEP;
                let unfit = self.health.update(self.now, &measured(self.now));
                if unfit.is_some() {
                    return unfit;
                }
            }
            None
        }
    }

    fn good() -> Measured {
        Measured { rtt: Micros::from_millis(60), ..Measured::default() }
    }

    fn slow() -> Measured {
        Measured { rtt: Micros::from_millis(800), ..Measured::default() }
    }

    fn queued() -> Measured {
        Measured { queue_packets: 257, ..good() }
    }

    #[test]
    fn each_cause_has_its_reason_and_its_figures() {
        let unfit = Watched::new().run(10_000, &slow()).unwrap();
        assert_eq!(
            (unfit.reason, unfit.disconnect_reason()),
            (UnfitReason::Latency, DisconnectReason::SlowConsumer)
        );
        assert!(unfit.rtt > Micros::from_millis(500) && unfit.lasted > Micros::from_secs(5));

        let unfit = Watched::new().run(10_000, &queued()).unwrap();
        assert_eq!((unfit.reason, unfit.queue_packets), (UnfitReason::Queue, 257));
        assert_eq!(
            unfit.to_string(),
            "too many packets waiting for 5.0 s: round trip 60 ms, 257 packets waiting, silent for 0.0 s"
        );

        let mut watched = Watched::new();
        let last_received = watched.now;
        let unfit = watched.run_with(20_000, |_| Measured { last_received, ..good() }).unwrap();
        assert_eq!(
            (unfit.reason, unfit.disconnect_reason()),
            (UnfitReason::Silence, DisconnectReason::Timeout)
        );
        assert_eq!(unfit.silence, Micros::from_millis(10_050));
    }

    #[test]
    fn what_does_not_last_is_no_reason() {
        let mut watched = Watched::new();
        for _ in 0..20 {
            assert_eq!(watched.run(4_900, &queued()), None);
            assert_eq!(watched.run(100, &good()), None);
        }
    }

    #[test]
    fn at_its_limit_nothing_is_exceeded() {
        let at_limit = Measured { rtt: Micros::from_millis(500), queue_packets: 256, ..Measured::default() };
        assert_eq!(Watched::new().run(60_000, &at_limit), None);
    }

    #[test]
    fn a_packet_every_nine_seconds_is_enough() {
        let mut watched = Watched::new();
        let packet = |now: Micros| Micros(now.0 / 9_000_000 * 9_000_000);
        assert_eq!(watched.run_with(90_000, |now| Measured { last_received: packet(now), ..good() }), None);
    }

    #[test]
    fn the_burst_of_a_join_does_not_count_and_silence_does() {
        let mut watched = Watched::joining();
        for _ in 0..30 {
            watched.health.begin_grace();
            assert_eq!(watched.run(1_000, &queued()), None, "the world is still on its way");
        }
        assert_eq!(watched.run(5_900, &queued()), None, "what is left of the grace, then five seconds");
        assert_eq!(watched.run(1_000, &queued()).unwrap().reason, UnfitReason::Queue);

        let mut watched = Watched::joining();
        let mut unfit = None;
        for _ in 0..11 {
            watched.health.begin_grace();
            unfit = unfit.or(watched.run_with(1_000, |_| good()));
        }
        assert_eq!(unfit.unwrap().reason, UnfitReason::Silence);
    }

    #[test]
    fn a_server_that_was_frozen_lets_nobody_go_for_it() {
        let mut watched = Watched::new();
        let last_received = watched.now;
        watched.now += Micros::from_secs(60);
        let frozen = Measured { last_received, ..good() };
        assert_eq!(watched.health.update(watched.now, &frozen), None);
        assert_eq!(watched.run(1_000, &good()), None);
    }

    #[test]
    fn each_setting_out_of_its_range_is_named() {
        let valid = HealthConfig::default();
        let wrong = [
            ("rtt_max", HealthConfig { rtt_max: Micros::ZERO, ..valid }),
            ("queue_packets_max", HealthConfig { queue_packets_max: 0, ..valid }),
            ("silence_max", HealthConfig { silence_max: Micros::ZERO, ..valid }),
            ("sustained", HealthConfig { sustained: Micros::MAX, ..valid }),
            ("grace", HealthConfig { grace: Micros::MAX, ..valid }),
            ("smoothing", HealthConfig { smoothing: Micros::MAX, ..valid }),
        ];
        for (field, config) in wrong {
            assert_eq!(Health::new(config, Micros::ZERO).unwrap_err().field, field);
        }
    }

    proptest! {
        #[test]
        fn nobody_goes_before_the_limit_could_have_been_exceeded_for_so_long(
            steps in proptest::collection::vec((0u64..1_500_000, any::<bool>(), any::<bool>()), 1..60),
        ) {
            let mut watched = Watched::joining();
            let (mut last_received, mut bad_since) = (watched.now, watched.now);
            for (elapsed, is_queued, is_heard) in steps {
                let before = watched.now;
                watched.now += Micros(elapsed);
                last_received = if is_heard { watched.now } else { last_received };
                bad_since = if is_queued { bad_since } else { watched.now };
                let measured = if is_queued { queued() } else { good() };
                let measured = Measured { last_received, ..measured };
                if let Some(unfit) = watched.health.update(watched.now, &measured) {
                    let since = match unfit.reason {
                        UnfitReason::Silence => last_received + Micros::from_secs(5),
                        _ => bad_since,
                    };
                    prop_assert!(watched.now - since > Micros::from_secs(5), "{:?} at {:?}", unfit, before);
                }
            }
        }
    }
}
