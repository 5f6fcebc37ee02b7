//! Calls from players to their room, before the game sees them.
//!
//! ```text
//!   frame ─▶ reads? ─▶ known, allowed, small, not too often? ─▶ on its channel? ─▶ a list? ─▶ its object is there? ─▶ game
//!              │            │                                      │                │             │
//!              └ nonsense   └ refused, answered                    └ nonsense       └ nonsense    └ refused, answered
//! ```
//!
//! A client checks its own calls by the server's table, so an honest one is refused only for calling too often, for an object
//! that has just gone, or by the game. Whatever else is refused counts as nonsense, which ends in a disconnect. A flood costs
//! its sender more than the server: refusals are answered a few times a second and otherwise only counted, and who goes on at
//! more than twice the allowed rate talks nonsense too.

use netloom_proto::PeerId;
use netloom_wire::{MessageBuffer, Micros};

use super::Room;
use super::calls::channel_of;
use crate::channel::CONTROL;
use crate::game::{PlayerId, cut};
use crate::message::{CallRefusal, ToClient};
use crate::protocol::Protocol;
use crate::rpc::table::PAGE_BYTES_MAX;
use crate::rpc::{
    Args, Call, CallRefused, ClientCall, PeerLimits, Rate, Refusal, RefusalCounters, RpcId, RpcTable, Target,
};

/// Refusals that one client is told of in a second.
const ANSWERS_PER_SECOND: u32 = 8;
const SECOND: Micros = Micros::from_secs(1);

/// What a room knows of a player as a caller.
#[derive(Debug)]
pub(crate) struct CallAccount {
    limits: PeerLimits,
    /// When the second began in which these were counted.
    since: Micros,
    answered: u32,
    too_often: u32,
}

impl CallAccount {
    pub fn new(table: &RpcTable, rate: Rate, now: Micros) -> CallAccount {
        CallAccount { limits: PeerLimits::new(table, rate, now), since: now, answered: 0, too_often: 0 }
    }

    /// Whether a refusal is told.
    fn answer(&mut self, now: Micros) -> bool {
        self.handle_time(now);
        let is_told = self.answered < ANSWERS_PER_SECOND;
        self.answered += u32::from(is_told);
        is_told
    }

    /// Counts a call beyond a rate of `limit` a second, and says whether that makes sense still.
    fn count_too_often(&mut self, now: Micros, limit: u32) -> bool {
        self.handle_time(now);
        self.too_often = self.too_often.saturating_add(1);
        self.too_often <= limit
    }

    fn handle_time(&mut self, now: Micros) {
        if now.since(self.since) >= SECOND {
            (self.since, self.answered, self.too_often) = (now, 0, 0);
        }
    }
}

/// Why a call does not reach the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Nobody honest would have sent it.
    Nonsense,
    /// It is refused.
    Refused {
        id: RpcId,
        refused: CallRefused,
        /// Whether an honest client could have made it.
        made_sense: bool,
    },
}

impl Room {
    /// Looks at a player's call. `protocol` is the room's own.
    pub(crate) fn admit_call<'a>(
        &mut self,
        now: Micros,
        from: PlayerId,
        channel: u8,
        protocol: &'a Protocol,
        frame: &'a [u8],
    ) -> Result<(Call<'a>, Target), Stopped> {
        let frame = ClientCall::read(frame).map_err(|_| Stopped::Nonsense)?;
        let (id, target) = (frame.id, frame.target);
        let seat = self.seats.get_mut(&from).ok_or(Stopped::Nonsense)?;
        let rpc = seat.account.limits.admit(now, protocol.rpcs(), &frame).map_err(|refusal| {
            let (reason, made_sense) = match refusal {
                Refusal::TooOften { limit } => {
                    (CallRefusal::TooOften, seat.account.count_too_often(now, limit))
                }
                Refusal::Unknown => (CallRefusal::Unknown, false),
                Refusal::NotAllowed => (CallRefusal::NotAllowed, false),
                Refusal::NotForwarded => (CallRefusal::NotForwarded, false),
                Refusal::TooLarge { .. } => (CallRefusal::TooLarge, false),
            };
            Stopped::Refused { id, refused: CallRefused::of(reason), made_sense }
        })?;
        if channel != channel_of(rpc.options().delivery) {
            return Err(Stopped::Nonsense);
        }
        let args = Args::read(frame.args).map_err(|_| Stopped::Nonsense)?;
        // Nobody sees what is not known to have arrived.
        let acked = seat.acked;
        let tick = frame
            .tick
            .and_then(|seen| acked.map(|acked| if seen.is_newer_than(acked) { acked } else { seen }));
        let mut object = None;
        if let Some(alias) = frame.object {
            object = self.object_called(from, alias);
            if object.is_none() {
                let refused = CallRefused::of(CallRefusal::NoSuchObject);
                return Err(Stopped::Refused { id, refused, made_sense: true });
            }
        }
        self.counters.calls += 1;
        Ok((Call { id, rpc, object, tick, args }, target))
    }

    /// Tells a player that a call was refused, unless it has been told enough.
    pub(crate) fn refuse_call(&mut self, now: Micros, from: PlayerId, id: RpcId, refused: &CallRefused) {
        self.counters.refused_calls += 1;
        self.counters.refused_calls_by_reason[refused.reason() as usize] += 1;
        let Some(seat) = self.seats.get_mut(&from) else { return };
        if seat.account.answer(now) {
            let message =
                ToClient::CallRefused { id: id.0, reason: refused.reason(), text: cut(refused.text()) };
            self.outbox.push(seat.peer, CONTROL, &message);
        }
    }

    /// Sends the list of calls to somebody who has another one.
    pub(crate) fn tell_calls(&mut self, peer: PeerId) {
        let mut page = MessageBuffer::new(PAGE_BYTES_MAX);
        let mut next = Some(0);
        while let Some(first) = next {
            page.clear();
            next = self.protocol.rpcs().write_page(first, &mut page);
            self.outbox.push([peer], CONTROL, &ToClient::Names(page.as_bytes()));
        }
    }

    /// What became of a player's calls.
    pub fn calls_of(&self, player: PlayerId) -> Option<RefusalCounters> {
        self.seats.get(&player).map(|seat| seat.account.limits.counters())
    }
}
