//! What a room knows of one player.

use std::mem::offset_of;

use netloom_proto::PeerId;
use netloom_replica::server::{PeerConfig, ReplicaPeer};
use netloom_replica::world::{ObjectIndex, TeamId};
use netloom_wire::{Micros, Tick};

use super::incoming::CallAccount;
use crate::adapt::Adapt;
use crate::config::RoomConfig;
use crate::health::Health;
use crate::packed::Share;
use crate::rpc::RpcTable;
use crate::validate::{ActionRate, RateRule, Suspicion};
use netloom_replica::SettingError;

/// Snapshots of one tick to one peer: their numbers have so many bits.
const PART_BITS: u32 = 6;

/// The seat of a player.
///
/// In this order in memory: what is looked at for every snapshot comes first and lies together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Seat {
    /// The connection; `None` while it is lost.
    pub peer: Option<PeerId>,
    pub replica: ReplicaPeer,
    /// Parts of a snapshot that are due, in percent: one goes out at 100.
    pub due_percent: u32,
    /// How much of the snapshots the player gets, in percent, by how the connection is.
    pub rate_percent: u32,
    pub is_due: bool,
    pub is_spectator: bool,
    /// Whether the client said that it is ready for snapshots: one that comes before the welcome would be acknowledged by
    /// the connection and never read.
    pub is_viewing: bool,
    /// Whether older bytes wait in this process.
    pub is_held: bool,
    /// Whether the world is being told for the first time, and what packing saves of that.
    pub is_joining: bool,
    pub packed: Share,
    /// The newest tick of which the client is known to have a snapshot.
    pub acked: Option<Tick>,
    /// What the player looks from: an object, or nothing in particular.
    pub follows: Option<ObjectIndex>,
    pub viewpoint: [f32; 3],
    pub team: Option<TeamId>,
    /// What the replication was told of the player last.
    pub config: PeerConfig,
    /// What the player gets, by how the connection is, and whether it can be kept.
    pub adapt: Adapt,
    pub health: Health,
    /// How far behind the player's view is, as the client says.
    pub view_delay: Micros,
    /// Refused inputs, and lines of chat.
    pub suspicion: Suspicion,
    pub chat: ActionRate,
    pub inputs: ActionRate,
    /// What the player may still call.
    pub account: CallAccount,
    pub name: Box<str>,
}

impl Seat {
    /// A seat, for somebody whose connection is new.
    pub fn new(
        now: Micros,
        room: &RoomConfig,
        calls: &RpcTable,
        name: &str,
        is_spectator: bool,
        peer: PeerId,
        (replica, config): (ReplicaPeer, PeerConfig),
    ) -> Result<Seat, SettingError> {
        Ok(Seat {
            name: name.into(),
            is_spectator,
            peer: Some(peer),
            replica,
            config,
            follows: None,
            viewpoint: [0.0; 3],
            team: None,
            view_delay: Micros::from_millis(100),
            adapt: Adapt::new(room.adapt)?,
            health: Health::new(room.health, now)?,
            due_percent: 0,
            rate_percent: 100,
            is_due: false,
            suspicion: Suspicion::new(room.suspicion, now)?,
            chat: ActionRate::new(room.chat, now)?,
            inputs: ActionRate::new(input_rate(room), now)?,
            acked: None,
            is_viewing: false,
            is_held: false,
            is_joining: true,
            packed: Share::default(),
            account: CallAccount::new(calls, room.call_rate, now),
        })
    }

    /// Asks for what is looked at for every snapshot.
    pub fn fetch(&self) {
        netloom_cpu::fetch_first(self, offset_of!(Seat, adapt));
    }

    /// Another connection of the same player: nothing is known of it.
    pub fn renew(
        &mut self,
        now: Micros,
        room: &RoomConfig,
        peer: PeerId,
        replica: ReplicaPeer,
    ) -> Result<(), SettingError> {
        (self.peer, self.replica, self.acked, self.is_viewing) = (Some(peer), replica, None, false);
        (self.is_joining, self.packed) = (true, Share::default());
        (self.adapt, self.health) = (Adapt::new(room.adapt)?, Health::new(room.health, now)?);
        self.rate_percent = 100;
        Ok(())
    }

    /// Whether a snapshot is due in this tick.
    pub fn spend(&mut self) -> bool {
        self.due_percent += self.rate_percent;
        let is_due = self.due_percent >= 100;
        if is_due {
            self.due_percent -= 100;
        }
        is_due
    }

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

/// How many messages with inputs a client may send: one for every step, and half as many again.
fn input_rate(room: &RoomConfig) -> RateRule {
    let steps = room.steps_per_second;
    RateRule { per_second: RateRule::INPUTS.per_second.max(steps + steps / 2), ..RateRule::INPUTS }
}
