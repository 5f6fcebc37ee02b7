//! What lag compensation refuses, and why.

use netloom_wire::Micros;

use super::ModelId;
use crate::server::ReplicaPeer;
use crate::setting::SettingError;
use crate::world::ObjectIndex;

/// Why a call had no effect or no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RewindError {
    /// A number is out of its range: a setting, a shape, a ray.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no room for another object.
    #[error("all {objects_max} places are in use: untrack what is gone, or raise objects_max")]
    Full {
        /// The configured number.
        objects_max: usize,
    },
    /// The object is tracked already.
    #[error("object {0:?} is tracked already: change its model with `set_model`")]
    AlreadyTracked(ObjectIndex),
    /// The object is not tracked.
    #[error("object {0:?} is not tracked: call `track` first")]
    NotTracked(ObjectIndex),
    /// No model has this number.
    #[error("there is no {0:?}: make one with `add_model`")]
    UnknownModel(ModelId),
    /// Models are for kinds of objects, not for single ones.
    #[error("65,536 models exist: objects that look alike share one")]
    TooManyModels,
    /// A peer beyond the configured number.
    #[error("{peer:?} is beyond peers_max = {peers_max}")]
    PeerOutOfRange {
        /// Which.
        peer: ReplicaPeer,
        /// The configured number.
        peers_max: usize,
    },
    /// Nothing is known about the peer's time.
    #[error("nothing is known about the time of {0:?}: call `set_peer` first")]
    UnknownPeer(ReplicaPeer),
    /// Time must advance from record to record.
    #[error("a record at {} us, and the newest is of {} us: record once per step, with later times", now.0, newest.0)]
    NotLater {
        /// The time given.
        now: Micros,
        /// The time of the newest record.
        newest: Micros,
    },
    /// Nothing was recorded yet.
    #[error("nothing was recorded yet: call `record` in every step")]
    NoHistory,
    /// The past was never kept, or no longer.
    #[error("{} us is outside the history, which has {} to {} us", at.0, oldest.0, newest.0)]
    OutsideHistory {
        /// The time asked for.
        at: Micros,
        /// The oldest record.
        oldest: Micros,
        /// The newest record.
        newest: Micros,
    },
    /// Whoever shoots must be there.
    #[error("object {0:?} cannot shoot: it is not tracked or not in the newest record")]
    NoShooter(ObjectIndex),
}
