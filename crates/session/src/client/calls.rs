//! Calls of a client, in both directions.
//!
//! A call may arrive before everything that it needs: before the welcome, which travels on another channel; before the
//! server's list, if the two sides were built from different tables; before its object; and before the view shows the moment
//! that it is about. Each has a place to wait, and each place has an end:
//!
//! ```text
//!   frame ─▶ inbox ──welcome, list──▶ WaitingCalls ──its object, or 1 s──▶ ViewEvents ──its tick is seen──▶ ClientEvent::Called
//!            4,096 calls               256 calls                            256 calls
//! ```
//!
//! Calls of this client do not wait: before the list is here they fail, because only then is it known whether the server
//! takes them at all.

use std::sync::Arc;

use netloom_replica::SettingError;
use netloom_replica::client::{ViewEvents, ViewEventsConfig, When};
use netloom_replica::input::Input;
use netloom_wire::{Alias, MessageBuffer, Micros, Tick};
use serde::{Deserialize, Serialize};

use super::seat::Seat;
use super::{Client, ClientError, ClientEvent};
use crate::events::Events;
use crate::game::PlayerId;
use crate::message::{CallRefusal, ToServer, Welcome};
use crate::protocol::Protocol;
use crate::room::channel_of;
use crate::rpc::call::{Arguments, Raw, Typed};
use crate::rpc::frame::HEADER_BYTES_MAX;
use crate::rpc::queue::{Queue, Room};
use crate::rpc::value::Items;
use crate::rpc::{
    ARGS_BYTES_MAX, Args, ArgsError, Callee, Caller, ClientCall, RpcId, RpcList, RpcMap, ServerCall, Target,
    WaitingCalls,
};

/// Calls that arrived and were not looked at yet.
const INBOX: Room = Room { items: 4_096, bytes: 1 << 20 };
/// Calls that wait for the view.
const AT_VIEW_MAX: usize = 256;
/// How far ahead of the view they may be about.
const AHEAD_MAX: Micros = Micros::from_secs(2);

/// A call that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// What is called, in this side's table.
    pub id: RpcId,
    /// Its name.
    pub name: Arc<str>,
    /// Who calls; `None` is the server. That is the server's word, no player can forge it.
    pub caller: Option<PlayerId>,
    /// The object that it is about. `None` if there is none, or this client does not see it.
    pub object: Option<Alias>,
    /// The tick of snapshots that it belongs to, if it was to be seen together with that.
    pub tick: Option<Tick>,
    /// By how much that had passed when the call arrived.
    pub late: Micros,
    /// The arguments as MessagePack, well-formed.
    pub args: Box<[u8]>,
}

impl Called {
    /// The arguments as the fields of a struct or the elements of a tuple.
    pub fn args<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ArgsError> {
        Args::checked_before(&self.args).decode()
    }

    /// The arguments one by one.
    pub fn values(&self) -> Items<'_> {
        Args::checked_before(&self.args).values()
    }
}

/// What became of the calls that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounters {
    /// Given as events.
    pub given: u64,
    /// Of names that this side does not have.
    pub unknown: u64,
    /// Not to be read.
    pub malformed: u64,
    /// Dropped because too many waited.
    pub dropped: u64,
    /// Given without their object, because it did not come into sight.
    pub without_object: u64,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Calls {
    /// `None` until both sides agree.
    map: Option<RpcMap>,
    list: RpcList,
    inbox: Queue<()>,
    waiting: WaitingCalls,
    at_view: ViewEvents<Called>,
    counters: CallCounters,
    args: Vec<u8>,
    frame: MessageBuffer,
}

impl Calls {
    pub fn new() -> Result<Calls, SettingError> {
        let at_view = ViewEventsConfig { waiting_max: AT_VIEW_MAX, ahead_max: AHEAD_MAX };
        Ok(Calls {
            map: None,
            list: RpcList::new(),
            inbox: Queue::new(INBOX),
            waiting: WaitingCalls::new(),
            at_view: ViewEvents::new(at_view)?,
            counters: CallCounters::default(),
            args: Vec::new(),
            frame: MessageBuffer::new(HEADER_BYTES_MAX + ARGS_BYTES_MAX),
        })
    }

    /// Another connection, or none: nothing of the old one counts.
    pub fn restart(&mut self) {
        (self.map, self.list) = (None, RpcList::new());
        self.inbox.clear();
        self.waiting.clear();
        self.at_view.clear();
    }

    pub fn handle_welcome(&mut self, protocol: &Protocol, welcome: &Welcome<'_>) {
        self.map = welcome.has_same_calls.then(|| RpcMap::same(protocol.rpcs()));
    }

    /// A page of the server's list.
    pub fn handle_page(&mut self, protocol: &Protocol, page: &[u8], events: &mut Events<ClientEvent>) {
        let agreed = match self.list.handle_page(page) {
            Ok(true) => RpcMap::agree(protocol.rpcs(), &self.list),
            Ok(false) => return,
            Err(error) => Err(error),
        };
        match agreed {
            Ok(map) => {
                let missing = map.missing(protocol.rpcs()).map(Arc::from).collect();
                events.push(ClientEvent::CallsAgreed { missing });
                self.map = Some(map);
            }
            Err(error) => tracing::warn!(%error, "the server's calls cannot be understood"),
        }
    }

    /// Keeps a call until [`deliver`](Calls::deliver): what entered with the same packet comes first.
    pub fn handle_call(&mut self, frame: &[u8]) {
        self.counters.dropped += u64::from(!self.inbox.push((), frame));
    }

    /// A call of this client was refused.
    pub fn refused(&self, protocol: &Protocol, id: u16, reason: CallRefusal, text: &str) -> ClientEvent {
        let id = self.map.as_ref().and_then(|map| map.incoming(RpcId(id)));
        let name = id.and_then(|id| protocol.rpcs().get(id)).map(|rpc| rpc.shared_name());
        let text = if text.is_empty() { reason.to_string() } else { text.to_owned() };
        ClientEvent::CallRefused { name, reason, text }
    }

    /// An object is here: what waits for it goes on.
    pub fn handle_entered(
        &mut self,
        alias: Alias,
        seat: &Seat,
        protocol: &Protocol,
        events: &mut Events<ClientEvent>,
    ) {
        let Calls { map: Some(map), waiting, at_view, counters, .. } = self else { return };
        let mut out = Out { map, protocol, seat, at_view, counters, events };
        waiting.release(alias, |call| out.give(call));
    }

    /// Goes through what has arrived, if both sides agree on names.
    pub fn deliver(
        &mut self,
        now: Micros,
        seat: &Seat,
        protocol: &Protocol,
        events: &mut Events<ClientEvent>,
    ) {
        let Calls { map: Some(map), inbox, waiting, at_view, counters, .. } = self else { return };
        let mut out = Out { map, protocol, seat, at_view, counters, events };
        for ((), frame) in inbox.iter() {
            let Ok(call) = ServerCall::read(frame) else {
                out.counters.malformed += 1;
                continue;
            };
            match call.object {
                Some(alias) if seat.replica.object(alias).is_none() => {
                    waiting.hold(now, alias, &call, |call| out.give_without_object(call));
                }
                _ => out.give(call),
            }
        }
        inbox.clear();
    }

    /// Gives what the view has reached, and what has waited for its object for too long.
    pub fn advance(
        &mut self,
        now: Micros,
        seat: &Seat,
        protocol: &Protocol,
        events: &mut Events<ClientEvent>,
    ) {
        let Calls { map: Some(map), waiting, at_view, counters, .. } = self else { return };
        let mut out = Out { map, protocol, seat, at_view, counters, events };
        waiting.handle_timeout(now, |call| out.give_without_object(call));
        let Some(view_time) = seat.view.time() else { return };
        while let Some(due) = at_view.poll(view_time) {
            counters.given += 1;
            events.push(ClientEvent::Called(Called { late: due.late, ..due.payload }));
        }
    }

    pub fn poll_timeout(&self) -> Option<Micros> {
        self.waiting.poll_timeout()
    }
}

/// The end of the way of a call.
struct Out<'a> {
    map: &'a RpcMap,
    protocol: &'a Protocol,
    seat: &'a Seat,
    at_view: &'a mut ViewEvents<Called>,
    counters: &'a mut CallCounters,
    events: &'a mut Events<ClientEvent>,
}

impl Out<'_> {
    fn give_without_object(&mut self, call: ServerCall<'_>) {
        self.counters.without_object += 1;
        self.give(ServerCall { object: None, ..call });
    }

    fn give(&mut self, call: ServerCall<'_>) {
        let id = self.map.incoming(call.id);
        let Some((id, rpc)) = id.and_then(|id| Some((id, self.protocol.rpcs().get(id)?))) else {
            self.counters.unknown += 1;
            return;
        };
        let Ok(args) = Args::read(call.args) else {
            self.counters.malformed += 1;
            return;
        };
        let caller = match call.caller {
            Caller::Server => None,
            Caller::Player(player) => Some(player),
        };
        let called = Called {
            id,
            name: rpc.shared_name(),
            caller,
            object: call.object,
            tick: call.tick,
            late: Micros::ZERO,
            args: args.as_bytes().into(),
        };
        let view = &self.seat.view;
        let when = call.tick.and_then(|tick| Some((view.time()?, view.time_of(tick))));
        match when.filter(|(view_time, time)| self.has_room(*view_time, *time)) {
            Some((view_time, time)) => {
                let at_view = self.at_view.push(view_time, time, When::AtView, called);
                self.counters.dropped += u64::from(at_view.is_err());
            }
            None => {
                self.counters.given += 1;
                self.events.push(ClientEvent::Called(called));
            }
        }
    }

    /// Whether a call can wait for the view. If not it is given at once: a call that was to arrive does.
    fn has_room(&self, view_time: Micros, time: Micros) -> bool {
        self.at_view.len() < AT_VIEW_MAX && time.since(view_time) <= AHEAD_MAX
    }
}

impl<I: Input> Client<I> {
    /// Calls something on the server, by name or by id, with a tuple or a struct of arguments.
    pub fn call<T: Serialize + ?Sized>(&mut self, callee: impl Callee, args: &T) -> Result<(), ClientError> {
        self.call_to(Target::Server, callee, None, args)
    }

    /// Calls something on the server about an object.
    pub fn call_object<T: Serialize + ?Sized>(
        &mut self,
        callee: impl Callee,
        object: Alias,
        args: &T,
    ) -> Result<(), ClientError> {
        self.call_to(Target::Server, callee, Some(object), args)
    }

    /// Calls something on the server, or on other players through it, about an object or none. The server passes on what the
    /// options of the call allow, if the game agrees.
    ///
    /// The call waits for nothing: while the server's list of calls is on its way it fails with
    /// [`ClientError::CallsNotAgreed`]. If its options say `at_view_time`, it carries the tick that the player sees.
    pub fn call_to<T: Serialize + ?Sized>(
        &mut self,
        target: Target,
        callee: impl Callee,
        object: Option<Alias>,
        args: &T,
    ) -> Result<(), ClientError> {
        self.send_call(target, callee, object, &Typed(args))
    }

    /// The same with arguments that are MessagePack already: a list, as [`write_args`](crate::rpc::args::write_args) makes it.
    pub fn call_raw(
        &mut self,
        target: Target,
        callee: impl Callee,
        object: Option<Alias>,
        args: &[u8],
    ) -> Result<(), ClientError> {
        self.send_call(target, callee, object, &Raw(args))
    }

    /// What became of the calls that arrived.
    pub fn call_counters(&self) -> CallCounters {
        self.calls.counters
    }

    /// Whether this client knows which calls the server has.
    pub fn can_call(&self) -> bool {
        self.seat.is_some() && self.calls.map.is_some()
    }

    fn send_call(
        &mut self,
        target: Target,
        callee: impl Callee,
        object: Option<Alias>,
        args: &impl Arguments,
    ) -> Result<(), ClientError> {
        let Client { calls, seat, protocol, endpoint, peer, message, .. } = self;
        let (Some(seat), Some(peer)) = (seat, peer) else { return Err(ClientError::NoSeat) };
        // Nobody is player 0 but the server.
        let target = if target == Target::Player(PlayerId(0)) { Target::Server } else { target };
        let id = callee.find(protocol.rpcs())?;
        let map = calls.map.as_ref().ok_or(ClientError::CallsNotAgreed)?;
        if target.needs_object() && object.is_none() {
            return Err(ClientError::NeedsObject);
        }
        calls.args.clear();
        let bytes = args.write(&mut calls.args)?;
        let (theirs, delivery) = map.outgoing(protocol.rpcs(), id, target.is_for_others(), bytes)?;
        let tick = if map.is_at_view_time(id) { seat.view_tick() } else { None };
        calls.frame.clear();
        ClientCall { id: theirs, target, object, tick, args: &calls.args }.write(&mut calls.frame);
        let frame = ToServer::Call(calls.frame.as_bytes());
        Ok(endpoint.send(*peer, channel_of(delivery), frame.write(message))?)
    }
}
