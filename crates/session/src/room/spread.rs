//! Snapshots of a large room, made by several threads.
//!
//! ```text
//!   this thread   │ who gets how much │ select, per peer │ encode, per row │ append, per peer │ to the connections │
//!   the others    │ wake up           │ select           │ encode          │ append           │ sleep              │
//! ```
//!
//! Peers share nothing that changes in the first and the last of these phases, and rows of codes nothing in the second. So
//! what is written is what one thread would have written. It waits in a sheaf for each thread until all are done, since
//! the connections are this thread's.

use netloom_replica::server::ReplicaPeer;
use netloom_wire::Tick;
use std::ops::Range;

use super::Room;
use super::seat::sequence;
use super::tell::{Sending, Telling};
use crate::crew::Awake;
use crate::game::PlayerId;
use crate::packed::SNAPSHOT_BYTES_MAX;

/// Rooms with fewer players are told sooner by one thread: waking others takes longer than what they would do.
pub(super) const SPREAD_PLAYERS_MIN: usize = 64;

/// What threads work from, and where they leave what they made.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    /// By the peer's number in the replication.
    plans: Vec<Option<Plan>>,
    sheaves: Vec<Sheaf>,
}

/// What somebody gets in this tick.
#[derive(Clone, Copy, Debug)]
struct Plan {
    player: PlayerId,
    budget_bytes: usize,
}

impl Spread {
    /// Nobody gets anything yet.
    pub fn begin(&mut self) {
        self.plans.fill(None);
    }

    /// Somebody gets so many bytes in this tick.
    pub fn plan(&mut self, peer: ReplicaPeer, player: PlayerId, budget_bytes: usize) {
        if self.plans.len() <= peer.index() {
            self.plans.resize(peer.index() + 1, None);
        }
        self.plans[peer.index()] = Some(Plan { player, budget_bytes });
    }
}

/// Snapshots that one thread wrote.
#[derive(Debug, Default)]
struct Sheaf {
    bytes: Vec<u8>,
    used: usize,
    written: Vec<(PlayerId, u64, Range<usize>)>,
}

impl Sheaf {
    fn clear(&mut self) {
        self.used = 0;
        self.written.clear();
    }

    /// Room for one more.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.bytes.len() < self.used + bytes {
            self.bytes.resize((self.used + bytes) * 2, 0);
        }
        &mut self.bytes[self.used..][..bytes]
    }

    fn keep(&mut self, player: PlayerId, number: u64, bytes: usize) {
        let start = self.used;
        self.used += bytes;
        self.written.push((player, number, start..self.used));
    }
}

impl Room {
    /// Selects, encodes, writes and sends what was planned.
    pub(super) fn tell_together(&mut self, crew: Awake<'_>, tick: Tick, telling: &mut Telling<'_>) {
        let Room { replica, seats, spread: Spread { plans, sheaves }, counters, .. } = self;
        let (count, plan_of) = (crew.parts(), |peer: ReplicaPeer| plans.get(peer.index()).copied().flatten());
        crew.share_out(replica.select_jobs(count), |mut job| {
            for peer in job.peers() {
                if let Some(plan) = plan_of(peer) {
                    job.select(peer, plan.budget_bytes);
                }
            }
        });
        crew.share_out(replica.encode_jobs(count), |job| job.run());
        let room = telling.endpoint.whole_message_max().min(SNAPSHOT_BYTES_MAX);
        sheaves.resize_with(count, Sheaf::default);
        sheaves.iter_mut().for_each(Sheaf::clear);
        crew.share_out(replica.append_jobs(count).zip(sheaves.iter_mut()), |(mut job, sheaf)| {
            for peer in job.peers() {
                let Some(plan) = plan_of(peer) else { continue };
                for number in (0..).map_while(|part| sequence(tick, part)) {
                    let out = &mut sheaf.room(room)[1..];
                    let Some(length) = job.poll_snapshot(peer, number, out) else { break };
                    sheaf.keep(plan.player, number, 1 + length);
                }
            }
        });
        drop(crew);
        let (_, packed) = telling.buffer.split_at_mut(room);
        let mut sending = Sending { replica, endpoint: telling.endpoint, packed, counters };
        for sheaf in sheaves.iter_mut() {
            for (player, number, place) in &sheaf.written {
                if let Some(seat) = seats.get_mut(player) {
                    sending.send(seat, *number, &mut sheaf.bytes[place.clone()]);
                }
            }
        }
    }
}
