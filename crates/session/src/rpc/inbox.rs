//! The calls of one tick, ready for their handlers.
//!
//! Entering an interpreter costs more than a handler: its lock has to be taken, and taking it for each of fifty calls costs
//! fifty times as much as taking it once. So calls are collected as they arrive and handed out once a tick: those with
//! native handlers one by one, those with scripts as one batch. If there are none, the interpreter is not entered at all.
//!
//! ```text
//!  messages ──push──▶ native  ▢▢▢ ──drain_native───▶ handler(call), handler(call), …
//!                     scripts ▢▢  ──drain_scripts──▶ lock once, then call, call, … unlock
//! ```
//!
//! Among native calls the order of arrival holds, and among scripts', not between the two. A tick handles at most as many
//! as it is told to; the rest is first in the next one. What does not fit into the inbox is refused and counted: that is
//! an overloaded game, and keeping everything would make it worse.

use netloom_wire::Tick;

use super::args::Args;
use super::frame::Caller;
use super::queue::{Queue, Room};
use super::table::{RpcId, RpcTable};

/// What runs when a call arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handler {
    /// Compiled code.
    #[default]
    Native,
    /// A script, behind an interpreter's lock.
    Script,
}

/// How much an inbox holds, of native calls and of scripts' each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxConfig {
    /// Calls, 1 to 65,536.
    pub calls_max: usize,
    /// Bytes of their arguments, 16 KiB to 64 MiB: the largest call always fits into an empty inbox.
    pub bytes_max: usize,
}

impl Default for InboxConfig {
    /// 1,024 calls, 256 KiB.
    fn default() -> InboxConfig {
        InboxConfig { calls_max: 1_024, bytes_max: 256 << 10 }
    }
}

/// Why there is no such inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, allowed are {min} to {max}")]
pub struct InboxConfigError {
    /// The field of [`InboxConfig`].
    pub field: &'static str,
    /// Its value.
    pub value: usize,
    /// The smallest value that is allowed.
    pub min: usize,
    /// The largest value that is allowed.
    pub max: usize,
}

/// The inbox is full: the call is dropped, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more calls wait for their handlers than there is room for")]
pub struct InboxFull;

/// A call on its way to its handler. `O` is what an object is called on this side.
#[derive(Clone, Copy, Debug)]
pub struct InboxCall<'a, O> {
    /// What is called, in this side's table.
    pub id: RpcId,
    /// Who calls.
    pub caller: Caller,
    /// The object that it is about.
    pub object: Option<O>,
    /// The tick that it is about.
    pub tick: Option<Tick>,
    /// Its arguments.
    pub args: Args<'a>,
}

#[derive(Clone, Copy, Debug)]
struct Head<O> {
    id: RpcId,
    caller: Caller,
    object: Option<O>,
    tick: Option<Tick>,
}

impl<O: Copy> Head<O> {
    fn with(self, args: &[u8]) -> InboxCall<'_, O> {
        let Head { id, caller, object, tick } = self;
        InboxCall { id, caller, object, tick, args: Args::checked_before(args) }
    }
}

/// Calls between their arrival and their handlers.
#[derive(Clone, Debug)]
pub struct RpcInbox<O> {
    /// By id.
    handlers: Box<[Handler]>,
    native: Queue<Head<O>>,
    scripts: Queue<Head<O>>,
    dropped: u64,
}

impl<O: Copy> RpcInbox<O> {
    /// An empty inbox for the calls of `table`, all with native handlers.
    pub fn new(table: &RpcTable, config: InboxConfig) -> Result<RpcInbox<O>, InboxConfigError> {
        for (field, value, min, max) in [
            ("calls_max", config.calls_max, 1, 1 << 16),
            ("bytes_max", config.bytes_max, super::ARGS_BYTES_MAX, 64 << 20),
        ] {
            if !(min..=max).contains(&value) {
                return Err(InboxConfigError { field, value, min, max });
            }
        }
        let room = Room { items: config.calls_max, bytes: config.bytes_max };
        Ok(RpcInbox {
            handlers: vec![Handler::Native; table.len()].into(),
            native: Queue::new(room),
            scripts: Queue::new(room),
            dropped: 0,
        })
    }

    /// Says what handles a call from now on; calls that wait already stay where they are. An id that the table does not
    /// have changes nothing.
    pub fn set_handler(&mut self, id: RpcId, handler: Handler) {
        if let Some(place) = self.handlers.get_mut(usize::from(id.0)) {
            *place = handler;
        }
    }

    /// Takes a call that has passed all limits.
    pub fn push(&mut self, call: InboxCall<'_, O>) -> Result<(), InboxFull> {
        let handler = self.handlers.get(usize::from(call.id.0)).copied().unwrap_or_default();
        let queue = match handler {
            Handler::Native => &mut self.native,
            Handler::Script => &mut self.scripts,
        };
        let InboxCall { id, caller, object, tick, args } = call;
        if queue.push(Head { id, caller, object, tick }, args.as_bytes()) {
            return Ok(());
        }
        self.dropped += 1;
        Err(InboxFull)
    }

    /// Gives at most `calls_max` native calls to `handle`, and says how many.
    pub fn drain_native(&mut self, calls_max: usize, handle: impl FnMut(InboxCall<'_, O>)) -> usize {
        let count = self.native.len().min(calls_max);
        self.native.iter().take(count).map(|(head, args)| head.with(args)).for_each(handle);
        self.native.remove_first(count);
        count
    }

    /// Gives at most `calls_max` calls with scripts to `run`, all at once, so that it takes the interpreter's lock once;
    /// if there are none, `run` does not run. All that it was given count as handled, whether it looked at them or not.
    pub fn drain_scripts<R>(
        &mut self,
        calls_max: usize,
        run: impl FnOnce(&mut dyn Iterator<Item = InboxCall<'_, O>>) -> R,
    ) -> Option<R> {
        let count = self.scripts.len().min(calls_max);
        if count == 0 {
            return None;
        }
        let result = run(&mut self.scripts.iter().take(count).map(|(head, args)| head.with(args)));
        self.scripts.remove_first(count);
        Some(result)
    }

    /// Calls that wait, native ones and scripts'.
    pub fn len(&self) -> usize {
        self.native.len() + self.scripts.len()
    }

    /// Whether no call waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many calls were refused because the inbox was full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
