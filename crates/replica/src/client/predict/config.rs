//! How much is predicted, and which errors are seen.

use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Micros};

use crate::client::{ClientObject, ReplicaClient};
use crate::rate::Rate;
use crate::setting::SettingError;
use crate::step::{FIELDS_MAX, Fields};

/// Steps that a log holds at least.
const CAPACITY_MIN: usize = 64;

/// How an object is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictConfig {
    /// Steps of the simulation in a second, 1 to 1,000.
    pub steps_per_second: u32,
    /// How long the log of inputs reaches back, 1 to 5 s: the longest round trip that is bridged. At least 64 steps.
    pub window: Micros,
    /// Up to this distance a correction is not worth smoothing: 0 and above.
    pub small_metres: f64,
    /// Beyond this distance the view jumps: above `small_metres`.
    pub large_metres: f64,
    /// The same for turning, up to π.
    pub small_radians: f32,
    /// And beyond this the view jumps: above `small_radians`, up to 2π; from π on it never does.
    pub large_radians: f32,
    /// If an object has moved here, and the server says nothing of it for so long, it has not moved there: 100 ms to 60 s. Of
    /// what does not change servers say nothing. Above the round trip, in which a lost state comes again.
    pub silence: Micros,
    /// How fast an offset decays, 0.1 to 100: after a time t, e^(−this·t) of it is left.
    pub decay_per_second: f32,
}

impl Default for PredictConfig {
    fn default() -> PredictConfig {
        PredictConfig {
            steps_per_second: 60,
            window: Micros::from_millis(1_500),
            small_metres: 0.02,
            large_metres: 2.0,
            small_radians: 0.02,
            large_radians: 1.6,
            silence: Micros::from_millis(500),
            decay_per_second: 6.3,
        }
    }
}

impl PredictConfig {
    /// Steps that the log holds.
    pub(super) fn capacity(&self) -> Result<usize, PredictError> {
        let rate = Rate::new("steps_per_second", self.steps_per_second)?;
        SettingError::check("window", self.window.0, 1_000_000..=5_000_000, "1 to 5 s")?;
        SettingError::check("small_metres", self.small_metres, 0.0..=f64::MAX, "0 and above")?;
        let above_small = self.small_metres.next_up()..=f64::MAX;
        SettingError::check("large_metres", self.large_metres, above_small, "above small_metres")?;
        let half_turn = std::f32::consts::PI;
        SettingError::check("small_radians", self.small_radians, 0.0..=half_turn, "0 to π")?;
        let above_small = self.small_radians.next_up()..=2.0 * half_turn;
        SettingError::check("large_radians", self.large_radians, above_small, "above small_radians, to 2π")?;
        SettingError::check("silence", self.silence.0, 100_000..=60_000_000, "100 ms to 60 s")?;
        SettingError::check("decay_per_second", self.decay_per_second, 0.1..=100.0, "0.1 to 100")?;
        Ok(CAPACITY_MIN.max(rate.steps_within(self.window) as usize))
    }
}

/// Why an object cannot be predicted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PredictError {
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The state lists too many fields, or none.
    #[error("the state describes {count} fields: use 1 to {FIELDS_MAX}")]
    Fields {
        /// How many.
        count: usize,
    },
    /// There is no such object.
    #[error("slot {slot} has no object in sight: only what is replicated can be predicted")]
    NotReplicated {
        /// Where it was looked for.
        slot: u16,
    },
    /// It is somebody else's.
    #[error("the object of slot {slot} is not this client's own: only its owner's inputs move it")]
    NotOwned {
        /// Its slot.
        slot: u16,
    },
}

impl PredictError {
    /// Whether an object can be predicted by this client: it is in sight, and its own.
    pub fn check_own(client: &ReplicaClient, alias: Alias) -> Result<(), PredictError> {
        let slot = alias.slot;
        match client.object(alias).map(ClientObject::audience) {
            Some(Audience::Owner) => Ok(()),
            Some(_) => Err(PredictError::NotOwned { slot }),
            None => Err(PredictError::NotReplicated { slot }),
        }
    }

    pub(super) fn check_fields(fields: &Fields) -> Result<(), PredictError> {
        let count = fields.len() + fields.excess();
        if (1..=FIELDS_MAX).contains(&count) { Ok(()) } else { Err(PredictError::Fields { count }) }
    }
}
