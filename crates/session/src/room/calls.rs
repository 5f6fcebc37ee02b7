//! Calls from a room to its players.
//!
//! A game calls from within its callbacks, often about something that it made a line before. Two things are not known at that
//! moment: what each recipient will call the object, and whether they will see it at all; both follow when the world is told.
//! So calls are written down once, with objects by their place in the world, and go out at the end of the tick:
//!
//! ```text
//!   call(All, "explode", rocket, …) ─┐    ┌─ nobody can have heard of the rocket yet: wait for the next snapshot,
//!   call(All, "score", none, …) ─────┴─▶ ▢▢    and so does what comes after it
//!                                          └─▶ for each recipient: its own alias ─▶ outbox
//! ```
//!
//! Arguments are encoded once. If no object is involved, the message is written once too, whatever the number of recipients.
//! Who receives a call is decided when it is made; only who sees an object is decided when it goes out.

use std::ops::Range;

use netloom_replica::server::ReplicaServer;
use netloom_replica::world::ObjectIndex;
use netloom_wire::{Alias, MessageBuffer, Name, Tick};
use serde::Serialize;

use super::groups::NO_ME;
use super::{Room, Seat};
use crate::channel::{ORDERED, UNORDERED, UNRELIABLE};
use crate::game::PlayerId;
use crate::message::ToClient;
use crate::rpc::call::{Arguments, Raw, Typed};
use crate::rpc::frame::HEADER_BYTES_MAX;
use crate::rpc::value::translate_objects;
use crate::rpc::{
    ARGS_BYTES_MAX, Call, CallFailed, Callee, Caller, Delivery, ObjectArg, RpcId, RpcOptions, ServerCall,
    Target,
};

/// Calls that wait at once.
const CALLS_MAX: usize = 16_384;
/// Bytes of their arguments.
const BYTES_MAX: usize = 2 << 20;
/// Recipients of all of them.
const RECIPIENTS_MAX: usize = 1 << 20;

/// Whom a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// Everybody in the room.
    All,
    /// Everybody but one.
    Others(PlayerId),
    /// The owner of an object.
    OwnerOf(ObjectIndex),
    /// One player.
    Player(PlayerId),
    /// The members of a group: see [`CallTarget::group`].
    Group(Name),
    /// Everybody who sees an object.
    Seeing(ObjectIndex),
}

impl CallTarget {
    /// The members of a group of the room.
    pub const fn group(name: &str) -> CallTarget {
        CallTarget::Group(Name::of(name))
    }

    /// Whom a client's call is for; `None` is the server. `object` is there if the target needs one.
    pub(crate) fn of_client(
        target: Target,
        from: PlayerId,
        object: Option<ObjectIndex>,
    ) -> Option<CallTarget> {
        Some(match target {
            Target::Server => return None,
            Target::All => CallTarget::All,
            Target::Others => CallTarget::Others(from),
            Target::Owner => CallTarget::OwnerOf(object?),
            Target::Player(player) => CallTarget::Player(player),
            Target::Group(group) if group == Name::of(NO_ME) => CallTarget::Others(from),
            Target::Group(group) => CallTarget::Group(group),
            Target::Interested => CallTarget::Seeing(object?),
        })
    }
}

/// A call that waits, without its arguments.
#[derive(Clone, Debug)]
struct Waiting {
    id: RpcId,
    caller: Caller,
    channel: u8,
    tick: Option<Tick>,
    object: Option<ObjectIndex>,
    /// Only those who see this get it.
    seeing: Option<ObjectIndex>,
    recipients: Range<usize>,
    args: Range<usize>,
    /// Objects that were named since the last call: all that may be new to the recipients.
    named: Range<usize>,
    has_objects: bool,
}

/// A call whose arguments are written down.
struct New {
    id: RpcId,
    caller: Caller,
    options: RpcOptions,
    object: Option<ObjectIndex>,
    /// Where they begin.
    args: usize,
    has_objects: bool,
}

/// The calls that wait. See the [module](self).
#[derive(Debug)]
pub(crate) struct Calls {
    waiting: Vec<Waiting>,
    recipients: Vec<PlayerId>,
    args: Vec<u8>,
    /// Objects among arguments, which hold the index here in place of a slot.
    objects: Vec<ObjectIndex>,
    /// Stands for a generation: what was named before the list was emptied is nobody now.
    epoch: u8,
    /// The first object that no call has claimed.
    unclaimed: usize,
    translated: Vec<u8>,
    frame: MessageBuffer,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            waiting: Vec::new(),
            recipients: Vec::new(),
            args: Vec::new(),
            objects: Vec::new(),
            epoch: 0,
            unclaimed: 0,
            translated: Vec::new(),
            frame: MessageBuffer::new(HEADER_BYTES_MAX + ARGS_BYTES_MAX),
        }
    }
}

impl Calls {
    /// A place for an object among arguments; `None` if there are too many.
    fn name(objects: &mut Vec<ObjectIndex>, epoch: u8, object: ObjectIndex) -> Option<Alias> {
        let slot = u16::try_from(objects.len()).ok()?;
        objects.push(object);
        Some(Alias { slot, generation: epoch })
    }

    fn named(objects: &[ObjectIndex], epoch: u8, alias: Alias) -> Option<ObjectIndex> {
        objects.get(usize::from(alias.slot)).copied().filter(|_| alias.generation == epoch)
    }

    /// Everything was sent.
    fn clear(&mut self) {
        self.waiting.clear();
        self.recipients.clear();
        self.args.clear();
        if !self.objects.is_empty() {
            self.objects.clear();
            self.epoch = self.epoch.wrapping_add(1);
        }
        self.unclaimed = 0;
    }
}

/// The channel of a delivery.
pub(crate) const fn channel_of(delivery: Delivery) -> u8 {
    match delivery {
        Delivery::Ordered => ORDERED,
        Delivery::Unordered => UNORDERED,
        Delivery::Unreliable => UNRELIABLE,
    }
}

impl Room {
    /// Calls something on clients, by name or by id, with a tuple or a struct of arguments. `object` is what it is about: each
    /// recipient gets it under its own alias, or not at all if it does not see it. Objects among the arguments are made with
    /// [`object_arg`](Room::object_arg).
    ///
    /// Calls of ordered delivery arrive in the order in which they were made. If the options of the call say `at_view_time`,
    /// clients get it when they see the next snapshot, which has what the game did in this step.
    pub fn call<T: Serialize + ?Sized>(
        &mut self,
        target: CallTarget,
        callee: impl Callee,
        object: Option<ObjectIndex>,
        args: &T,
    ) -> Result<(), CallFailed> {
        let call = self.write_call(callee, object, &Typed(args))?;
        self.queue_call(target, call)
    }

    /// The same with arguments that are MessagePack already: a list, as [`write_args`](crate::rpc::args::write_args) makes it.
    pub fn call_raw(
        &mut self,
        target: CallTarget,
        callee: impl Callee,
        object: Option<ObjectIndex>,
        args: &[u8],
    ) -> Result<(), CallFailed> {
        let call = self.write_call(callee, object, &Raw(args))?;
        self.queue_call(target, call)
    }

    /// An object to be an argument of a call in this callback: each recipient gets its own alias, or nobody if it does not
    /// see it. It means nothing in a later callback.
    pub fn object_arg(&mut self, object: ObjectIndex) -> ObjectArg {
        let Calls { objects, epoch, .. } = &mut self.calls;
        ObjectArg(Calls::name(objects, *epoch, object))
    }

    /// The object that an argument of a player's call is; `None` if it is gone, or was never told to that player.
    pub fn object_of(&self, player: PlayerId, arg: ObjectArg) -> Option<ObjectIndex> {
        self.object_called(player, arg.0?)
    }

    /// Writes the arguments down, if the server may make the call with them.
    fn write_call(
        &mut self,
        callee: impl Callee,
        object: Option<ObjectIndex>,
        args: &impl Arguments,
    ) -> Result<New, CallFailed> {
        let table = self.protocol.rpcs();
        let id = callee.find(table)?;
        let Calls { args: out, objects, epoch, .. } = &mut self.calls;
        let start = out.len();
        let bytes = args.write(out)?;
        match table.check_call(id, bytes) {
            Ok(rpc) => {
                let options = *rpc.options();
                // What was named in an earlier callback is nobody.
                let is_named = |alias: &Alias| Calls::named(objects, *epoch, *alias).is_some();
                let has_objects = has_objects(out, start, |alias| Some(alias).filter(is_named));
                Ok(New { id, caller: Caller::Server, options, object, args: start, has_objects })
            }
            Err(error) => {
                out.truncate(start);
                Err(error.into())
            }
        }
    }

    /// A player's call goes to others, with its objects as they call them.
    pub(crate) fn pass_on(
        &mut self,
        from: PlayerId,
        target: CallTarget,
        call: &Call<'_>,
    ) -> Result<(), CallFailed> {
        let Room { replica, seats, calls, .. } = self;
        let Calls { args, objects, epoch, .. } = calls;
        let start = args.len();
        args.extend_from_slice(call.raw());
        let seat = seats.get(&from).map(|seat| seat.replica);
        let has_objects =
            has_objects(args, start, |alias| Calls::name(objects, *epoch, replica.object_of(seat?, alias)?));
        let (caller, options) = (Caller::Player(from), *call.rpc.options());
        let new = New { id: call.id, caller, options, object: call.object, args: start, has_objects };
        self.queue_call(target, new)
    }

    fn queue_call(&mut self, target: CallTarget, new: New) -> Result<(), CallFailed> {
        let first = self.calls.recipients.len();
        self.add_recipients(target);
        let tick = self.replica.tick().next();
        let calls = &mut self.calls;
        let is_for_nobody = calls.recipients.len() == first;
        let is_too_much = calls.waiting.len() >= CALLS_MAX
            || calls.args.len() > BYTES_MAX
            || calls.recipients.len() > RECIPIENTS_MAX;
        if is_for_nobody || is_too_much {
            calls.args.truncate(new.args);
            calls.recipients.truncate(first);
            let failed = CallFailed::TooMany { calls: calls.waiting.len() };
            return if is_for_nobody { Ok(()) } else { Err(failed) };
        }
        let named = calls.unclaimed..calls.objects.len();
        calls.unclaimed = named.end;
        calls.waiting.push(Waiting {
            id: new.id,
            caller: new.caller,
            channel: channel_of(new.options.delivery),
            tick: new.options.at_view_time.then_some(tick),
            object: new.object,
            seeing: if let CallTarget::Seeing(object) = target { Some(object) } else { None },
            recipients: first..calls.recipients.len(),
            args: new.args..calls.args.len(),
            named,
            has_objects: new.has_objects,
        });
        Ok(())
    }

    fn add_recipients(&mut self, target: CallTarget) {
        let Room { calls, seats, groups, replica, .. } = self;
        let here = seats.iter().filter(|(_, seat)| seat.peer.is_some()).map(|(player, _)| *player);
        let one = |player: Option<PlayerId>| player.filter(|player| seats.contains_key(player));
        match target {
            CallTarget::All | CallTarget::Seeing(_) => calls.recipients.extend(here),
            CallTarget::Others(player) => calls.recipients.extend(here.filter(|other| *other != player)),
            CallTarget::Player(player) => calls.recipients.extend(one(Some(player))),
            CallTarget::OwnerOf(object) => {
                let owner = replica.world().object(object).and_then(|object| object.owner());
                calls.recipients.extend(one(owner));
            }
            CallTarget::Group(group) => calls.recipients.extend_from_slice(groups.members(group)),
        }
    }

    /// Who owns an object, if that is somebody in this room.
    pub(crate) fn owner_here(&self, object: ObjectIndex) -> Option<PlayerId> {
        let owner = self.world().object(object)?.owner()?;
        self.seats.contains_key(&owner).then_some(owner)
    }

    /// Hands what waits to the outbox, up to a call about an object that nobody can have heard of yet; all of it if this is
    /// the last time.
    pub(crate) fn send_calls(&mut self, is_last: bool) {
        let waiting = std::mem::take(&mut self.calls.waiting);
        let world = self.replica.world();
        let is_unborn =
            |object: &ObjectIndex| world.object(*object).is_some_and(|object| object.history().is_empty());
        let objects = &self.calls.objects;
        let waits = |call: &Waiting| {
            let named = objects.get(call.named.clone()).unwrap_or_default();
            call.object.iter().chain(&call.seeing).chain(named).any(is_unborn)
        };
        let sent = if is_last { None } else { waiting.iter().position(waits) };
        let sent = sent.unwrap_or(waiting.len());
        for call in waiting.iter().take(sent) {
            self.send_call(call);
        }
        self.calls.waiting = waiting;
        self.calls.waiting.drain(..sent);
        if self.calls.waiting.is_empty() {
            self.calls.clear();
        }
    }

    fn send_call(&mut self, call: &Waiting) {
        let Room { calls, seats, replica, outbox, .. } = self;
        let recipients = calls.recipients.get(call.recipients.clone()).unwrap_or_default();
        let args = calls.args.get(call.args.clone()).unwrap_or_default();
        let seats = recipients.iter().filter_map(|player| seats.get(player));
        let with_peers = seats.filter_map(|seat: &Seat| Some((seat, seat.peer?)));
        let frame = ServerCall { id: call.id, caller: call.caller, object: None, tick: call.tick, args };
        if call.object.is_none() && call.seeing.is_none() && !call.has_objects {
            calls.frame.clear();
            frame.write(&mut calls.frame);
            let peers = with_peers.map(|(_, peer)| peer);
            return outbox.push(peers, call.channel, &ToClient::Call(calls.frame.as_bytes()));
        }
        for (seat, peer) in with_peers {
            let alias_of = |object: ObjectIndex| alias_of(replica, seat, object);
            if call.seeing.is_some_and(|object| alias_of(object).is_none()) {
                continue;
            }
            calls.translated.clear();
            calls.translated.extend_from_slice(args);
            // They were found to be well-formed before.
            let _objects = translate_objects(&mut calls.translated, |alias| {
                Calls::named(&calls.objects, calls.epoch, alias).and_then(alias_of)
            });
            let object = call.object.and_then(alias_of);
            calls.frame.clear();
            ServerCall { object, args: &calls.translated, ..frame }.write(&mut calls.frame);
            outbox.push([peer], call.channel, &ToClient::Call(calls.frame.as_bytes()));
        }
    }
}

fn alias_of(replica: &ReplicaServer, seat: &Seat, object: ObjectIndex) -> Option<Alias> {
    replica.alias_of(seat.replica, object)
}

/// Replaces the objects among the arguments from `start` on, and says whether there are any.
fn has_objects(args: &mut [u8], start: usize, alias_of: impl FnMut(Alias) -> Option<Alias>) -> bool {
    // They were found to be well-formed before.
    args.get_mut(start..).is_some_and(|args| translate_objects(args, alias_of).is_ok_and(|count| count > 0))
}
