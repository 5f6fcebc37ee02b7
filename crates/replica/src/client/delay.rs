//! How far behind the server's time the view is.
//!
//! To show motion between two states, both must be here. The view therefore lies behind the newest snapshot by a delay:
//! too short, and every late or lost snapshot freezes what is seen; too long, and the player aims at the past. What is
//! needed depends on the connection and changes with it.
//!
//! ```text
//!   wanted = max(setting, 1.5 × send interval, delay that would have sufficed for 98 % of the snapshots + 5 ms)
//!
//!   delay     ┌───────────────┐              up as soon as more is wanted
//!          ───┘               └──────        down when less was wanted for four seconds, to the most of that time
//! ```
//!
//! A delay that changes makes the view run faster or slower, by at most 5 %. It is never below 1.5 intervals, whatever
//! was set: with less, no two states would be at hand half of the time.

use netloom_wire::Micros;

use crate::setting::SettingError;

/// The shortest delay that can be set.
pub const DELAY_MIN: Micros = Micros(50_000);
/// The longest delay, set or found.
pub const DELAY_MAX: Micros = Micros(500_000);

/// How much the delay may change per time that passes.
const CHANGE_MAX: f64 = 0.05;
/// A new delay is reached in about this time, if the limit of the change allows.
const SETTLE_US: f64 = 500_000.0;
const MARGIN: Micros = Micros(5_000);
/// Less must be wanted by this before it counts as less.
const HYSTERESIS: Micros = Micros(10_000);
const CALM: Micros = Micros(4_000_000);

/// How far behind the server's time the view is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayConfig {
    /// The delay on a good connection: 50 to 500 ms.
    pub delay: Micros,
    /// Whether it grows with jitter and loss, and shrinks again. Otherwise only the send interval moves it.
    pub is_adaptive: bool,
}

impl Default for DelayConfig {
    fn default() -> DelayConfig {
        DelayConfig { delay: Micros::from_millis(100), is_adaptive: true }
    }
}

/// The delay as it is now. See the [module](self).
#[derive(Clone, Debug)]
pub struct ViewDelay {
    config: DelayConfig,
    delay_us: f64,
    target: Micros,
    /// Since when less is wanted, and the most that was wanted since.
    calm: Option<(Micros, Micros)>,
    seen: Option<Micros>,
}

impl ViewDelay {
    /// The delay as it is set.
    pub fn new(config: DelayConfig) -> Result<ViewDelay, SettingError> {
        check(config.delay)?;
        let delay_us = config.delay.0 as f64;
        Ok(ViewDelay { config, delay_us, target: config.delay, calm: None, seen: None })
    }

    /// Another delay for a good connection; the present one moves there smoothly.
    pub fn set_delay(&mut self, delay: Micros) -> Result<(), SettingError> {
        check(delay)?;
        self.config.delay = delay;
        Ok(())
    }

    /// The delay at `now`, on a connection that sends at `interval` and would have needed a delay of `needed`.
    pub fn advance(&mut self, now: Micros, interval: Micros, needed: Micros) -> Micros {
        let passed_us = self.seen.map_or(0.0, |seen| now.since(seen).0 as f64);
        self.seen = Some(now);
        let enough = Micros(interval.0.saturating_add(interval.0 / 2));
        let adapted = if self.config.is_adaptive { needed + MARGIN } else { Micros::ZERO };
        self.choose(now, self.config.delay.max(enough).max(adapted).min(DELAY_MAX));
        let error_us = self.target.0 as f64 - self.delay_us;
        let limit_us = CHANGE_MAX * passed_us;
        self.delay_us += (error_us * (passed_us / SETTLE_US).min(1.0)).clamp(-limit_us, limit_us);
        self.delay()
    }

    /// The delay when it was last asked for.
    pub fn delay(&self) -> Micros {
        Micros(self.delay_us as u64)
    }

    /// The delay that it moves to.
    pub fn target(&self) -> Micros {
        self.target
    }

    fn choose(&mut self, now: Micros, wanted: Micros) {
        if wanted >= self.target {
            (self.target, self.calm) = (wanted, None);
            return;
        }
        // A little less is not worth a change, unless it is the setting itself.
        if wanted + HYSTERESIS > self.target && wanted > self.config.delay {
            self.calm = None;
            return;
        }
        let (since, most) = self.calm.unwrap_or((now, wanted));
        self.calm = Some((since.min(now), most.max(wanted)));
        if now.since(since) >= CALM {
            (self.target, self.calm) = (most.max(wanted), None);
        }
    }
}

fn check(delay: Micros) -> Result<(), SettingError> {
    SettingError::check("delay", delay.0, DELAY_MIN.0..=DELAY_MAX.0, "50,000 to 500,000 µs")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Micros = Micros(50_000);

    /// Runs at 60 frames a second, and checks the speed of every change.
    fn run(delay: &mut ViewDelay, now: &mut Micros, seconds: f64, needed: Micros) {
        for _ in 0..(seconds * 60.0) as u32 {
            let before = delay.delay();
            *now += Micros(16_667);
            let after = delay.advance(*now, INTERVAL, needed);
            assert!(after.0.abs_diff(before.0) <= 16_667 / 20 + 1, "{before:?} to {after:?}");
        }
    }

    #[test]
    fn delays_outside_50_to_500_ms_are_refused() {
        for (ms, is_allowed) in [(49, false), (50, true), (500, true), (501, false)] {
            let config = DelayConfig { delay: Micros::from_millis(ms), ..DelayConfig::default() };
            assert_eq!(ViewDelay::new(config).is_ok(), is_allowed, "{ms} ms");
        }
        let mut delay = ViewDelay::new(DelayConfig::default()).unwrap();
        assert_eq!(
            delay.set_delay(Micros(7)).unwrap_err().to_string(),
            "delay = 7 is not allowed: use 50,000 to 500,000 µs"
        );
        assert_eq!(delay.delay(), Micros::from_millis(100));
    }

    #[test]
    fn the_delay_follows_the_connection_up_and_comes_back_down() {
        let (mut delay, mut now) = (ViewDelay::new(DelayConfig::default()).unwrap(), Micros(0));
        run(&mut delay, &mut now, 2.0, Micros(80_000));
        assert_eq!(delay.delay(), Micros(100_000));
        run(&mut delay, &mut now, 8.0, Micros(240_000));
        assert!(delay.delay().0.abs_diff(245_000) < 1_000, "{:?}", delay.delay());
        run(&mut delay, &mut now, 3.9, Micros(80_000));
        assert_eq!(delay.target(), Micros(245_000), "a short calm changes nothing");
        run(&mut delay, &mut now, 10.0, Micros(80_000));
        assert!(delay.delay().0.abs_diff(100_000) < 1_000, "{:?}", delay.delay());
    }

    #[test]
    fn a_connection_that_wavers_does_not_make_the_delay_waver() {
        let (mut delay, mut now) = (ViewDelay::new(DelayConfig::default()).unwrap(), Micros(0));
        run(&mut delay, &mut now, 8.0, Micros(200_000));
        for _ in 0..10 {
            run(&mut delay, &mut now, 2.0, Micros(150_000));
            run(&mut delay, &mut now, 0.5, Micros(200_000));
            assert_eq!(delay.target(), Micros(205_000));
        }
        run(&mut delay, &mut now, 30.0, Micros(197_000));
        assert_eq!(delay.target(), Micros(205_000), "less by less than the hysteresis");
    }

    #[test]
    fn the_delay_is_at_least_one_and_a_half_intervals_and_at_most_half_a_second() {
        let config = DelayConfig { delay: DELAY_MIN, is_adaptive: false };
        for (interval_ms, expected_ms) in
            [(16, 50), (50, 75), (100, 150), (400, 500), (u64::MAX / 1_000, 500)]
        {
            let mut delay = ViewDelay::new(config).unwrap();
            for frame in 0..3_000 {
                delay.advance(Micros(frame * 16_667), Micros::from_millis(interval_ms), Micros::MAX);
            }
            let settled = delay.delay();
            assert!(settled.0.abs_diff(expected_ms * 1_000) < 500, "{interval_ms} ms: {settled:?}");
        }
    }

    #[test]
    fn a_moved_slider_takes_effect_both_ways() {
        let (mut delay, mut now) = (ViewDelay::new(DelayConfig::default()).unwrap(), Micros(0));
        for ms in [300, 80, 100] {
            delay.set_delay(Micros::from_millis(ms)).unwrap();
            run(&mut delay, &mut now, 12.0, Micros(60_000));
            assert!(delay.delay().0.abs_diff(ms * 1_000) < 1_000, "{ms}: {:?}", delay.delay());
        }
    }
}
