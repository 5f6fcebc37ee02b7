//! How a server replicates.

use core::ops::RangeInclusive;

use super::interest::Policy;
use super::priority::{Cadence, DistanceCurve, Picking, Tiers, WeightConfig};
use crate::arena::{ARENA_BYTES_MAX, ARENA_BYTES_MIN};
use crate::setting::SettingError;

/// What is told of objects that did not change. A small game resends; for many objects digests cost less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heartbeat {
    /// Every object in full once in so many ticks, 1 to 65,535, or as often as a twentieth of the budget allows.
    Resend {
        /// The ticks.
        ticks: u32,
    },
    /// Instead, digests of what rests: every 64 slots once in so many ticks, 1 to 65,535. A client that holds something
    /// else says so, see [`ReplicaServer::handle_mismatch`](super::ReplicaServer::handle_mismatch).
    Digest {
        /// The ticks.
        ticks: u32,
    },
    /// Never.
    Off,
}

impl Default for Heartbeat {
    fn default() -> Heartbeat {
        Heartbeat::Digest { ticks: 100 }
    }
}

/// How many ticks there may be from one baseline to the next.
pub(super) const BASELINE_TICKS: RangeInclusive<u32> = 1..=8;

/// How a server replicates.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Who sees what.
    pub policy: Policy,
    /// Only every so many ticks becomes a baseline, so that peers with different round trips share codes: 1 to 8.
    pub baseline_ticks: u32,
    /// What makes an object more important.
    pub weights: WeightConfig,
    /// How distance counts.
    pub distance: DistanceCurve,
    /// What goes first.
    pub picking: Picking,
    /// Which objects belong to which rate.
    pub tiers: Tiers,
    /// The rates.
    pub cadence: Cadence,
    /// What is told of objects that did not change.
    pub heartbeat: Heartbeat,
    /// Memory for long codes of one tick, 64 to 256 KiB.
    pub arena_bytes: usize,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            policy: Policy::Everyone,
            baseline_ticks: 4,
            weights: WeightConfig::default(),
            distance: DistanceCurve::default(),
            picking: Picking::default(),
            tiers: Tiers::default(),
            cadence: Cadence::EVERY_TICK,
            heartbeat: Heartbeat::default(),
            arena_bytes: ARENA_BYTES_MIN,
        }
    }
}

impl ServerConfig {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        SettingError::check("baseline_ticks", self.baseline_ticks, BASELINE_TICKS, "1 to 8")?;
        SettingError::check(
            "arena_bytes",
            self.arena_bytes,
            ARENA_BYTES_MIN..=ARENA_BYTES_MAX,
            "65,536 to 262,144",
        )?;
        if let Heartbeat::Resend { ticks } | Heartbeat::Digest { ticks } = self.heartbeat {
            SettingError::check("heartbeat.ticks", ticks, 1..=65_535, "1 to 65,535")?;
        }
        self.picking.check()
    }
}
