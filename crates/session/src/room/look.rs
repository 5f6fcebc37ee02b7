//! How connections are, and what follows: over a bad one a player gets less, and one that cannot be kept is told of.
//!
//! Everything that is decided here is smoothed over seconds, so nobody's connection needs a look at every snapshot. Players
//! take turns, and a look reads nine lines of memory of each: with 16 players and 20 snapshots a second that is 96 lines
//! fewer for each.

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{Endpoint, PeerId};
use netloom_replica::server::ReplicaServer;
use netloom_wire::Micros;

use super::{Room, Seat};
use crate::health::Unfit;
use crate::measured::Measured;
use crate::outbox::Outbox;
use crate::packed::Share;

/// From one look at a connection to the next, where there are as many snapshots.
const LOOK_INTERVAL: Micros = Micros::from_millis(150);

/// The looks of one tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looking {
    now: Micros,
    /// Who shares a turn, and whose it is.
    turns: u64,
    turn: u64,
    queue_packets_max: usize,
}

impl Looking {
    pub fn new(room: &Room) -> Looking {
        let ticks = LOOK_INTERVAL.0 * u64::from(room.config.sends_per_second) / 1_000_000;
        let turns = ticks.max(1);
        Looking {
            now: room.clock.time(),
            turns,
            turn: room.clock.count() / u64::from(room.config.steps_per_send()) % turns,
            queue_packets_max: room.config.health.queue_packets_max,
        }
    }

    /// Whether it is the turn of who has this place among all. What somebody is told of the world for the first time changes
    /// from tick to tick.
    #[inline]
    pub fn is_due(&self, place: usize, seat: &Seat) -> bool {
        seat.is_joining || place as u64 % self.turns == self.turn
    }

    /// Looks at a player's connection; why it cannot be kept, if so.
    pub fn look(
        &self,
        seat: &mut Seat,
        peer: PeerId,
        endpoint: &mut Endpoint,
        replica: &ReplicaServer,
        outbox: &Outbox,
    ) -> Option<Unfit> {
        let mut measured = Measured::from(&endpoint.pulse(peer)?);
        measured.queue_packets += outbox.backlog_bytes(peer).div_ceil(DATAGRAM_MAX);
        if seat.is_held {
            // A stream that takes nothing: what waits below the connection is not among what waits in it.
            measured.queue_packets = measured.queue_packets.max(self.queue_packets_max + 1);
        }
        let quality = seat.adapt.update(self.now, &measured);
        seat.rate_percent = quality.rate.percent();
        endpoint.set_redundancy(peer, quality.redundancy(endpoint.config().redundancy));
        let progress = replica.progress(seat.replica).unwrap_or_default();
        if progress.held < progress.total {
            seat.health.begin_grace();
        } else if progress.total > 0 {
            (seat.is_joining, seat.packed) = (false, Share::default());
        }
        let found = seat.health.update(self.now, &measured);
        outbox.is_overflown(peer).then(|| seat.health.overflown(&measured)).or(found)
    }
}
