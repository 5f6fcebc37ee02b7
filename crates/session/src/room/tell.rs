//! Snapshots: what goes to whom, and what became of it.

use netloom_proto::{Endpoint, PeerId, Tag};
use netloom_replica::input::ViewTime;
use netloom_replica::server::rewind::{PastView, PeerTiming};
use netloom_replica::server::{PeerConfig, Progress, ReplicaServer};
use netloom_replica::snapshot::Feedback;
use netloom_replica::world::WorldError;
use netloom_wire::{Micros, Tick};

use super::look::Looking;
use super::seat::{sequence, tick_of};
use super::spread::SPREAD_PLAYERS_MIN;
use super::{Room, RoomCounters, Seat};
use crate::adapt::Quality;
use crate::channel::{ORDERED, UNRELIABLE};
use crate::crew::{Awake, Crew};
use crate::game::{PlayerId, Rejected};
use crate::message::{ToClient, kind};
use crate::packed::{SNAPSHOT_BYTES_MAX, pack};
use crate::validate::{self, RejectedMessage, Verdict};

/// What a datagram costs besides what is in it: IP and UDP headers, packet header, tag and frame.
const OVERHEAD_BYTES: u64 = 28 + 32;
/// What is sent at least in a tick, however small the budget.
const BUDGET_BYTES_MIN: u64 = 96;
/// Messages with reliable values that go to one peer in a tick.
const PROPERTIES_PER_TICK: usize = 32;
/// No more of them go out while so much waits: a peer that falls behind gets the newest values only.
const PROPERTY_WAITING_BYTES_MAX: usize = 64 << 10;

/// Seats whose memory is asked for ahead: a quarter of a megabyte of lines, which a core's own cache holds.
const FETCHED_SEATS: usize = 64;

/// What sending needs: the connections and memory to write into.
pub(crate) struct Telling<'a> {
    pub endpoint: &'a mut Endpoint,
    /// Holds the largest message of a channel.
    pub buffer: &'a mut [u8],
    /// Bytes a second to each peer at most; 0 for no limit but the connection's own.
    pub bytes_per_second_max: u64,
    /// Threads that help with large rooms.
    pub crew: Option<&'a dyn Crew>,
}

impl Room {
    /// Whether the newest step is one of which snapshots tell.
    pub fn is_told(&self) -> bool {
        self.clock.count().is_multiple_of(self.config.steps_per_send().into())
    }

    /// Asks for the memory of everybody who is about to be told. Between two ticks it has gone from the caches, and where the
    /// machine is busy with others, most of the time of a snapshot is waiting for it line by line. With 16 players that was 38 µs of
    /// 157; asking takes 8, and 19 are left.
    fn fetch_seats(&self, endpoint: &Endpoint) {
        let seats = || self.seats.values().take(FETCHED_SEATS);
        seats().for_each(Seat::fetch);
        for seat in seats() {
            seat.peer.into_iter().for_each(|peer| endpoint.fetch(peer));
            self.replica.fetch(seat.replica);
        }
        for seat in seats() {
            seat.peer.into_iter().for_each(|peer| endpoint.fetch_channel(peer, UNRELIABLE));
            self.replica.fetch_slots(seat.replica);
        }
    }

    /// Tells everybody what they see of the world as it is now.
    #[inline(never)] // so that steps of which nobody is told do not need its place on the stack
    pub(crate) fn tell(&mut self, telling: &mut Telling<'_>) -> Result<(), WorldError> {
        let crew = telling.crew.filter(|_| self.seats.len() >= SPREAD_PLAYERS_MIN).map(Awake::new);
        self.fetch_seats(telling.endpoint);
        for (peer, number, acked) in self.outcomes.drain(..) {
            self.replica.handle_outcome(peer, number, acked);
        }
        let tick = self.replica.begin_tick()?;
        let interval = Micros(1_000_000 / u64::from(self.config.sends_per_second));
        let looking = Looking::new(self);
        let Room { replica, seats, unfit, outbox, spread, .. } = self;
        spread.begin();
        for (place, (player, seat)) in seats.iter_mut().enumerate() {
            let Some(peer) = seat.peer else { continue };
            let Some(allowance) = telling.endpoint.allowance(peer) else { continue };
            if looking.is_due(place, seat) || outbox.is_overflown(peer) {
                let found = looking.look(seat, peer, telling.endpoint, replica, outbox);
                unfit.extend(found.map(|found| (*player, found)));
            }
            seat.is_due = seat.viewer().is_some() && seat.spend();
            if !seat.is_due {
                continue;
            }
            let place = match seat.follows.and_then(|object| replica.world().object(object)) {
                Some(object) => object.position(),
                None => seat.viewpoint,
            };
            let config = PeerConfig { team: seat.team, position: place, ..seat.config };
            if config != seat.config {
                seat.config = config;
                replica.set_peer(seat.replica, config);
            }
            let limit =
                if telling.bytes_per_second_max == 0 { u64::MAX } else { telling.bytes_per_second_max };
            let rate = allowance.rate_bytes_per_second.min(limit);
            let budget = budget_bytes(rate, interval, allowance.pending_bytes);
            let budget = seat.packed.stretch(budget);
            match crew {
                None => replica.select(seat.replica, budget),
                Some(_) => spread.plan(seat.replica, *player, budget),
            }
        }
        outbox.forget_overflown();
        match crew {
            None => self.tell_alone(tick, telling),
            Some(crew) => self.tell_together(crew, tick, telling),
        }
        // In a world without any, asking everybody's connection and replication is 45 lines of memory for 16 players.
        if self.has_properties {
            self.seats.values().for_each(|seat| send_properties(&mut self.replica, seat, telling));
        }
        let refused: u32 = self.replica.arenas().map(|arena| arena.refused()).sum();
        if refused > 0 {
            self.counters.arena_overflows += 1;
            tracing::warn!(
                room = self.name(),
                refused,
                "codes were too long for the arena: raise arena_bytes"
            );
        }
        Ok(())
    }

    /// Encodes, writes and sends what was selected, everything on this thread.
    fn tell_alone(&mut self, tick: Tick, telling: &mut Telling<'_>) {
        let Room { replica, seats, counters, .. } = self;
        replica.encode();
        let room = telling.endpoint.whole_message_max().min(SNAPSHOT_BYTES_MAX);
        let (snapshot, packed) = telling.buffer.split_at_mut(room);
        let mut sending = Sending { replica, endpoint: telling.endpoint, packed, counters };
        let is_told = |seat: &&mut Seat| seat.is_due && seat.viewer().is_some();
        for seat in seats.values_mut().filter(is_told) {
            for number in (0..).map_while(|part| sequence(tick, part)) {
                let length = sending.replica.poll_snapshot(seat.replica, number, &mut snapshot[1..]);
                if !length.is_some_and(|length| sending.send(seat, number, &mut snapshot[..=length])) {
                    break;
                }
            }
        }
    }

    /// A snapshot arrived, or was lost. The replication hears of it right before it makes the next ones: then what it knows of
    /// the peer is fetched into the caches once and not twice: 114 lines of memory less in 50 ms with 16 players.
    pub(crate) fn handle_outcome(&mut self, player: PlayerId, number: u64, acked: bool) {
        let Some(seat) = self.seats.get_mut(&player) else { return };
        self.outcomes.push((seat.replica, number, acked));
        let tick = tick_of(number);
        if acked && seat.acked.is_none_or(|newest| tick.is_newer_than(newest)) {
            seat.acked = Some(tick);
        }
    }

    /// A client could not read a snapshot.
    pub(crate) fn handle_unread(&mut self, player: PlayerId, tick: Tick) {
        if let Some(seat) = self.seats.get(&player) {
            self.replica.handle_refusal(seat.replica, tick);
        }
    }

    /// A client holds something else than it should.
    pub(crate) fn handle_mismatch(&mut self, player: PlayerId, region: u16) {
        if let Some(seat) = self.seats.get(&player) {
            self.replica.handle_mismatch(seat.replica, region);
        }
    }

    /// How far behind a client's view is.
    pub(crate) fn handle_viewing(&mut self, player: PlayerId, delay: Micros) {
        if let Some(seat) = self.seats.get_mut(&player) {
            (seat.view_delay, seat.is_viewing) = (delay, true);
        }
    }

    /// How much of what a player sees has arrived.
    pub fn progress(&self, player: PlayerId) -> Option<Progress> {
        self.replica.progress(self.seats.get(&player)?.replica)
    }

    /// What became of a player's inputs goes out with the next snapshot.
    pub(crate) fn set_feedback(&mut self, player: PlayerId, feedback: Feedback) {
        if let Some(seat) = self.seats.get(&player) {
            self.replica.set_feedback(seat.replica, feedback);
        }
    }

    /// What a player did not do, the server made up: it must hear what came of that, even if that is nothing.
    pub(crate) fn touch_owned(&mut self, player: PlayerId) {
        if let Some(seat) = self.seats.get(&player).filter(|seat| seat.peer.is_some()) {
            self.replica.touch_owned(seat.replica);
        }
    }

    /// An input has no effect.
    pub(crate) fn reject(&mut self, player: PlayerId, step: Tick, rejected: &Rejected) {
        self.counters.rejected_inputs += 1;
        self.counters.rejected_inputs_by_reason[rejected.reason.place()] += 1;
        self.touch_owned(player);
        let now = self.clock.time();
        let Some(seat) = self.seats.get_mut(&player) else { return };
        let of_step = validate::Rejected { step, reason: rejected.reason };
        match seat.suspicion.handle(now, of_step) {
            Some(Verdict::Kick) => self.kicked.push((player, format!("too often: {}", rejected.reason))),
            Some(Verdict::Warn) => {
                tracing::warn!(player = player.0, reason = %rejected.reason, "suspicious inputs")
            }
            None => {}
        }
        let message = ToClient::Rejected(RejectedMessage::new(of_step, rejected.text()));
        self.outbox.push(seat.peer, ORDERED, &message);
    }

    /// What a player gets now, by how the connection is.
    pub fn quality(&self, player: PlayerId) -> Option<Quality> {
        self.seats.get(&player).map(|seat| seat.adapt.quality())
    }

    /// What is known of everybody's time, for shots: asks for the round trip, and how long inputs wait.
    pub(crate) fn update_timings(&mut self, known: impl Fn(PlayerId, PeerId) -> Option<(Micros, Micros)>) {
        let steps_per_send = self.config.steps_per_send();
        let Some(rewind) = &mut self.rewind else { return };
        for (player, seat) in &self.seats {
            let (Some(peer), Some(acked)) = (seat.peer, seat.acked) else { continue };
            let Some((rtt, input_wait)) = known(*player, peer) else { continue };
            let seen = ViewTime { step: Tick(acked.0.wrapping_mul(steps_per_send)), fraction: 0 };
            let Ok(newest_acked) = rewind.time_of(seen) else { continue };
            let timing = PeerTiming { rtt, interpolation_delay: seat.view_delay, input_wait, newest_acked };
            // There is a place for every player that the room can hold.
            let _in_range = rewind.set_peer(seat.replica, timing);
        }
    }

    /// What a player may have seen, of what it says it saw.
    pub(crate) fn verify_view(&mut self, player: PlayerId, claimed: ViewTime) -> Option<PastView> {
        let (rewind, seat) = (self.rewind.as_mut()?, self.seats.get(&player)?);
        let claimed = rewind.time_of(claimed).ok()?;
        rewind.view(seat.replica, claimed).ok()
    }

    /// Remembers where everything is that can be hit.
    pub(crate) fn record(&mut self) {
        let (step, now) = (self.clock.step(), self.clock.time());
        let Room { rewind: Some(rewind), replica, .. } = self else { return };
        // The clock of a room never stands still between two steps.
        let _later = rewind.record(step, now, |object| replica.world().pose(object));
    }
}

/// What snapshots of one tick may take.
fn budget_bytes(rate: u64, interval: Micros, pending_bytes: usize) -> usize {
    let all = rate.saturating_mul(interval.0) / 1_000_000;
    let waiting = (pending_bytes as u64).min(all / 2);
    let datagrams = all.div_ceil(1_200);
    (all - waiting).saturating_sub(datagrams * OVERHEAD_BYTES).max(BUDGET_BYTES_MIN) as usize
}

/// Snapshots on their way to connections.
pub(super) struct Sending<'a> {
    pub replica: &'a mut ReplicaServer,
    pub endpoint: &'a mut Endpoint,
    /// Memory to pack into.
    pub packed: &'a mut [u8],
    pub counters: &'a mut RoomCounters,
}

impl Sending<'_> {
    /// Sends one, in front of which there is a byte for its kind; whether it is on its way.
    pub fn send(&mut self, seat: &mut Seat, number: u64, snapshot: &mut [u8]) -> bool {
        let (Some(peer), [kind, ..]) = (seat.viewer(), &mut *snapshot) else { return false };
        *kind = kind::SNAPSHOT;
        let packed = seat.is_joining.then(|| pack(&snapshot[1..], self.packed)).flatten();
        let message = packed.unwrap_or(snapshot);
        if seat.is_joining {
            seat.packed.note(snapshot.len(), message.len());
        }
        let tag = if self.replica.is_awaited(seat.replica) { Tag::from } else { Tag::that_can_wait };
        if self.endpoint.send_tagged(peer, UNRELIABLE, message, tag(number)).is_err() {
            self.replica.handle_outcome(seat.replica, number, false);
            self.counters.undelivered += 1;
            return false;
        }
        self.counters.snapshots += 1;
        self.counters.snapshot_bytes += message.len() as u64;
        self.counters.packing_saved_bytes += (snapshot.len() - message.len()) as u64;
        true
    }
}

fn send_properties(replica: &mut ReplicaServer, seat: &Seat, telling: &mut Telling<'_>) {
    let Some(peer) = seat.viewer() else { return };
    for _ in 0..PROPERTIES_PER_TICK {
        if telling.endpoint.pending_bytes(peer, ORDERED) > PROPERTY_WAITING_BYTES_MAX {
            break;
        }
        let Some(length) = replica.poll_property(seat.replica, &mut telling.buffer[1..]) else { break };
        telling.buffer[0] = kind::PROPERTY;
        // There is room: that was asked.
        let _sent = telling.endpoint.send(peer, ORDERED, &telling.buffer[..=length]);
    }
}
