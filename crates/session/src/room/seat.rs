//! What a room knows of one player.

use netloom_proto::PeerId;
use netloom_replica::server::{PeerConfig, ReplicaPeer};
use netloom_replica::world::{ObjectIndex, TeamId};
use netloom_wire::{Micros, Tick};

use super::incoming::CallAccount;

/// Snapshots of one tick to one peer: their numbers have so many bits.
const PART_BITS: u32 = 6;

/// The seat of a player.
#[derive(Debug)]
pub(crate) struct Seat {
    pub name: Box<str>,
    pub is_spectator: bool,
    /// The connection; `None` while it is lost.
    pub peer: Option<PeerId>,
    pub replica: ReplicaPeer,
    /// What the replication was told of the player last.
    pub config: PeerConfig,
    /// What the player looks from: an object, or nothing in particular.
    pub follows: Option<ObjectIndex>,
    pub viewpoint: [f32; 3],
    pub team: Option<TeamId>,
    /// How far behind the player's view is, as the client says.
    pub view_delay: Micros,
    /// The newest tick of which the client is known to have a snapshot.
    pub acked: Option<Tick>,
    /// Whether the client said that it is ready for snapshots: one that comes before the welcome would be acknowledged by
    /// the connection and never read.
    pub is_viewing: bool,
    /// Whether older bytes wait in this process.
    pub is_held: bool,
    /// What the player may still call.
    pub account: CallAccount,
}

impl Seat {
    /// The connection, if it is to get snapshots now.
    pub fn viewer(&self) -> Option<PeerId> {
        self.peer.filter(|_| self.is_viewing && !self.is_held)
    }
}

/// The number of a snapshot: which tick, and which part of it.
pub(super) fn sequence(tick: Tick, part: u32) -> Option<u64> {
    (part < 1 << PART_BITS).then(|| u64::from(tick.0) << PART_BITS | u64::from(part))
}

/// The tick of a snapshot with this number.
pub(super) fn tick_of(sequence: u64) -> Tick {
    Tick((sequence >> PART_BITS) as u32)
}
