//! Calls from a room to its players.
//!
//! A game calls from within its callbacks, often about something that it made a line before. Two things are not known at that
//! moment: what each recipient will call the object, and whether they will see it at all; both follow when the world is told.
//! So calls are written down once, with objects by their place in the world, and go out at the end of the tick, to each
//! recipient under its own alias:
//!
//! ```text
//!   call(All, "explode", rocket, …) ─┐      ┌─ the rocket is new, and this one has not heard of it yet: wait, some ticks at most
//!   call(All, "score", none, …) ─────┴─▶ ▢▢ ┴─▶ its own alias for the rocket ─▶ outbox
//! ```
//!
//! Arguments are encoded once. If no object is involved, the message is written once too, whatever the number of recipients.
//! Who receives a call is decided when it is made; only who sees an object is decided when it goes out. A call that waits for
//! its object holds up those about the same object and nothing else, as it would at the client.

use std::ops::Range;

use netloom_replica::server::interest::Policy;
use netloom_replica::world::ObjectIndex;
use netloom_wire::{Alias, MessageBuffer, Name, Tick};
use serde::Serialize;

use super::Room;
use super::groups::NO_ME;
use super::named::{NAMED_MAX, Named};
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
/// For so many ticks of snapshots a call waits for its object at most, whatever the interest of the room is.
const WAIT_TICKS_MAX: u32 = 16;

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
    /// The tick of which it is a part.
    made: Tick,
    at_view: bool,
    object: Option<ObjectIndex>,
    /// Only those who see this get it.
    seeing: Option<ObjectIndex>,
    recipients: Range<usize>,
    args: Range<usize>,
    /// The objects among the arguments are some of these.
    named: Range<u64>,
}

/// A call whose arguments are written down.
struct New {
    id: RpcId,
    caller: Caller,
    options: RpcOptions,
    object: Option<ObjectIndex>,
    /// Where they begin.
    args: usize,
    named: Range<u64>,
}

/// The calls that wait. See the [module](self).
#[derive(Debug)]
pub(crate) struct Calls {
    waiting: Vec<Waiting>,
    recipients: Vec<PlayerId>,
    args: Vec<u8>,
    named: Named,
    translated: Vec<u8>,
    frame: MessageBuffer,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            waiting: Vec::new(),
            recipients: Vec::new(),
            args: Vec::new(),
            named: Named::default(),
            translated: Vec::new(),
            frame: MessageBuffer::new(HEADER_BYTES_MAX + ARGS_BYTES_MAX),
        }
    }
}

impl Calls {
    /// Forgets what nobody waits for any more.
    fn compact(&mut self) {
        let Calls { waiting, recipients, args, named, .. } = self;
        waiting.retain(|call| !call.recipients.is_empty());
        // In the order in which they lie, so that nothing is overwritten that is still to be moved.
        let (mut recipients_end, mut args_end) = (0, 0);
        for call in waiting.iter_mut() {
            recipients.copy_within(call.recipients.clone(), recipients_end);
            call.recipients = recipients_end..recipients_end + call.recipients.len();
            recipients_end = call.recipients.end;
            args.copy_within(call.args.clone(), args_end);
            call.args = args_end..args_end + call.args.len();
            args_end = call.args.end;
        }
        recipients.truncate(recipients_end);
        args.truncate(args_end);
        let is_naming = |call: &&Waiting| !call.named.is_empty();
        let needed = waiting.iter().filter(is_naming).map(|call| call.named.start).min();
        named.forget(needed.unwrap_or(named.end()));
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
        ObjectArg(self.calls.named.add(object))
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
        let Calls { args: out, named, .. } = &mut self.calls;
        let start = out.len();
        let bytes = args.write(out)?;
        match table.check_call(id, bytes) {
            Ok(rpc) => {
                let options = *rpc.options();
                // What was named in an earlier callback is nobody.
                let named = translate(out, start, |alias| Some((alias, named.number(alias)?)));
                Ok(New { id, caller: Caller::Server, options, object, args: start, named })
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
        let Calls { args, named, .. } = calls;
        let start = args.len();
        args.extend_from_slice(call.raw());
        let seat = seats.get(&from).map(|seat| seat.replica);
        let named = translate(args, start, |alias| {
            let alias = named.add(replica.object_of(seat?, alias)?)?;
            Some((alias, named.number(alias)?))
        });
        let (caller, options) = (Caller::Player(from), *call.rpc.options());
        self.queue_call(target, New { id: call.id, caller, options, object: call.object, args: start, named })
    }

    fn queue_call(&mut self, target: CallTarget, new: New) -> Result<(), CallFailed> {
        let first = self.calls.recipients.len();
        self.add_recipients(target);
        let made = self.replica.tick().next();
        let calls = &mut self.calls;
        let is_for_nobody = calls.recipients.len() == first;
        // Whatever players pass on, there is room for the game.
        let share = if new.caller == Caller::Server { 1 } else { 2 };
        let is_too_much = calls.waiting.len() >= CALLS_MAX / share
            || calls.args.len() > BYTES_MAX / share
            || calls.recipients.len() > RECIPIENTS_MAX / share
            || calls.named.len() > NAMED_MAX / share;
        if is_for_nobody || is_too_much {
            calls.args.truncate(new.args);
            calls.recipients.truncate(first);
            let failed = CallFailed::TooMany { calls: calls.waiting.len() };
            return if is_for_nobody { Ok(()) } else { Err(failed) };
        }
        calls.waiting.push(Waiting {
            id: new.id,
            caller: new.caller,
            channel: channel_of(new.options.delivery),
            made,
            at_view: new.options.at_view_time,
            object: new.object,
            seeing: if let CallTarget::Seeing(object) = target { Some(object) } else { None },
            recipients: first..calls.recipients.len(),
            args: new.args..calls.args.len(),
            named: new.named,
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

    /// Hands what waits to the outbox, but for what somebody has yet to hear the object of; all of it if this is the last time.
    #[inline]
    pub(crate) fn send_calls(&mut self, is_last: bool) {
        if !self.calls.waiting.is_empty() || !self.calls.named.is_empty() {
            self.send_waiting(is_last);
        }
    }

    fn send_waiting(&mut self, is_last: bool) {
        let mut waiting = std::mem::take(&mut self.calls.waiting);
        for call in &mut waiting {
            if call.object.is_none() && call.seeing.is_none() && call.named.is_empty() {
                self.send_to_all(call);
            } else {
                self.send_to_each(call, is_last);
            }
        }
        self.calls.waiting = waiting;
        self.calls.compact();
    }

    fn send_to_all(&mut self, call: &mut Waiting) {
        let Room { calls, seats, outbox, .. } = self;
        let Calls { recipients, args, frame, .. } = calls;
        let recipients = recipients.get(call.recipients.clone()).unwrap_or_default();
        let peers = recipients.iter().filter_map(|player| seats.get(player)?.peer);
        frame.clear();
        call.frame(None, args.get(call.args.clone()).unwrap_or_default()).write(frame);
        outbox.push(peers, call.channel, &ToClient::Call(frame.as_bytes()));
        call.recipients.end = call.recipients.start;
    }

    fn send_to_each(&mut self, call: &mut Waiting, is_last: bool) {
        let is_patient = !is_last && self.is_waiting_for_objects(call);
        let is_old = self.replica.tick().distance(call.made) > WAIT_TICKS_MAX as i32;
        let Room { calls, seats, replica, outbox, .. } = self;
        let Calls { recipients, args, named, translated, frame, .. } = calls;
        let args = args.get(call.args.clone()).unwrap_or_default();
        let mut kept = call.recipients.start;
        for place in call.recipients.clone() {
            let Some(&player) = recipients.get(place) else { break };
            let Some((seat, peer)) = seats.get(&player).and_then(|seat| Some((seat.replica, seat.peer?)))
            else {
                continue;
            };
            // Whoever was just welcomed is shown nothing before it says that it is ready for that.
            let is_shown = replica.progress(seat).is_some_and(|progress| progress.total > 0);
            let is_patient = is_patient || !(is_last || is_shown || is_old);
            let is_unseen = |object: &ObjectIndex| replica.alias_of(seat, *object).is_none();
            if is_patient
                && call.object.iter().chain(&call.seeing).chain(named.range(&call.named)).any(is_unseen)
            {
                // Those who wait move up.
                recipients.swap(kept, place);
                kept += 1;
                continue;
            }
            if call.seeing.as_ref().is_some_and(is_unseen) {
                continue;
            }
            translated.clear();
            translated.extend_from_slice(args);
            translate(translated, 0, |alias| Some((replica.alias_of(seat, named.get(alias)?)?, 0)));
            let object = call.object.and_then(|object| replica.alias_of(seat, object));
            frame.clear();
            call.frame(object, translated).write(frame);
            outbox.push([peer], call.channel, &ToClient::Call(frame.as_bytes()));
        }
        call.recipients.end = kept;
    }

    /// Whether one of its objects is so new that who does not see it may yet do so.
    fn is_waiting_for_objects(&self, call: &Waiting) -> bool {
        let ticks = match &self.config.replication.policy {
            Policy::Grid(grid) => grid.refresh_ticks.min(WAIT_TICKS_MAX),
            Policy::Everyone | Policy::Custom => 1,
        };
        let tick = self.replica.tick();
        let before = Tick(tick.0.wrapping_sub(ticks));
        let is_new = |object: &ObjectIndex| {
            self.world().object(*object).is_some_and(|object| object.words_at(before).is_none())
        };
        let is_early = tick.distance(call.made) <= ticks as i32;
        is_early
            && call.object.iter().chain(&call.seeing).chain(self.calls.named.range(&call.named)).any(is_new)
    }
}

impl Waiting {
    fn frame<'a>(&self, object: Option<Alias>, args: &'a [u8]) -> ServerCall<'a> {
        let tick = self.at_view.then_some(self.made);
        ServerCall { id: self.id, caller: self.caller, object, tick, args }
    }
}

/// Replaces the objects among the arguments from `start` on by aliases, and says between which numbers theirs lie.
fn translate(args: &mut [u8], start: usize, mut of: impl FnMut(Alias) -> Option<(Alias, u64)>) -> Range<u64> {
    let (mut first, mut end) = (u64::MAX, 0);
    let Some(args) = args.get_mut(start..) else { return 0..0 };
    // They were found to be well-formed before.
    let _objects = translate_objects(args, |alias| {
        let (alias, number) = of(alias)?;
        (first, end) = (first.min(number), end.max(number + 1));
        Some(alias)
    });
    if first < end { first..end } else { 0..0 }
}
