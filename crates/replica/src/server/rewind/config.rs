//! How much of the past is kept, and how much of what clients say about it is believed.

use netloom_wire::Micros;

use super::view::ViewRules;
use crate::rate::Rate;
use crate::setting::SettingError;

/// Objects times steps that are kept: 50 bytes each, so 840 MB.
const CELLS_MAX: usize = 1 << 24;

/// How a [`Rewind`](super::Rewind) works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewindConfig {
    /// How long the past is kept, in milliseconds: 50 to 5,000.
    pub history_ms: u32,
    /// Steps of the simulation per second: 1 to 1,000.
    pub steps_per_second: u32,
    /// Objects that can be tracked at once: 1 to 65,536, and times the steps of `history_ms` at most 2^24.
    pub objects_max: usize,
    /// Peers whose views are followed: 1 to 65,536.
    pub peers_max: usize,
    /// The clamp: no shot is judged earlier than so many milliseconds ago, 0 to `history_ms`.
    pub rewind_ms_max: u32,
    /// How far a claim may lie from round trip + interpolation delay + input wait, in milliseconds: 0 to 250. It covers
    /// what the measured round trip is off.
    pub tolerance_ms: u32,
    /// By how many percent a view may run faster or slower than real time: 0 to 50.
    pub speed_percent: u32,
    /// How far single claims may lie beside a view of steady speed, in milliseconds: 0 to 100. Clients claim what a frame
    /// showed, and frames do not fall on steps.
    pub jitter_ms: u32,
}

impl Default for RewindConfig {
    fn default() -> RewindConfig {
        RewindConfig {
            history_ms: 1_000,
            steps_per_second: 60,
            objects_max: 256,
            peers_max: 256,
            rewind_ms_max: 250,
            tolerance_ms: 50,
            speed_percent: 10,
            jitter_ms: 10,
        }
    }
}

impl RewindConfig {
    pub(super) fn check(&self) -> Result<Rate, SettingError> {
        SettingError::check("history_ms", self.history_ms, 50..=5_000, "50 to 5,000")?;
        let rate = Rate::new("steps_per_second", self.steps_per_second)?;
        SettingError::check("objects_max", self.objects_max, 1..=65_536, "1 to 65,536")?;
        SettingError::check("peers_max", self.peers_max, 1..=65_536, "1 to 65,536")?;
        SettingError::check("rewind_ms_max", self.rewind_ms_max, 0..=self.history_ms, "0 to history_ms")?;
        SettingError::check("tolerance_ms", self.tolerance_ms, 0..=250, "0 to 250")?;
        SettingError::check("speed_percent", self.speed_percent, 0..=50, "0 to 50")?;
        SettingError::check("jitter_ms", self.jitter_ms, 0..=100, "0 to 100")?;
        let objects_most = CELLS_MAX / self.rows();
        let allowed = "objects_max times the steps of history_ms at most 16,777,216";
        SettingError::check("objects_max", self.objects_max, 1..=objects_most, allowed)?;
        Ok(rate)
    }

    /// Rows for the whole time, one for the present, and one because times and steps do not fall together.
    pub(super) fn rows(&self) -> usize {
        let steps = u64::from(self.history_ms) * u64::from(self.steps_per_second);
        steps.div_ceil(1_000) as usize + 2
    }

    pub(super) fn rules(&self) -> ViewRules {
        ViewRules {
            rewind_max: Micros::from_millis(u64::from(self.rewind_ms_max)),
            tolerance: Micros::from_millis(u64::from(self.tolerance_ms)),
            speed_percent: u64::from(self.speed_percent),
            jitter: Micros::from_millis(u64::from(self.jitter_ms)),
        }
    }
}
