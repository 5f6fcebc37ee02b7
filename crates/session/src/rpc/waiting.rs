//! Calls about objects that a client does not have yet.
//!
//! Objects appear in snapshots and calls come in messages of their own, so "the door opens" may overtake the door. Such a
//! call waits until its object enters, and is then delivered with the others about that object, in their order. It does
//! not wait for ever: after a second, or when too much waits, it comes out as a call about an unknown object, the oldest
//! first. So order holds there too.
//!
//! ```text
//!   open(door)   lock(door)             snapshot: door enters
//!      │ hold       │ hold                │ release(door) ──▶ open(door), lock(door)
//!   ───┴────────────┴────────────────────┴──────────────▶ time
//!      └──────── 1 s at most ────────┘
//! ```

use netloom_wire::{Alias, Micros};

use super::frame::ServerCall;
use super::queue::{Queue, Room};

/// Calls that wait at once.
pub const WAITING_CALLS_MAX: usize = 256;
/// Bytes of arguments that wait at once.
pub const WAITING_BYTES_MAX: usize = 64 << 10;
/// The longest wait: an object that is still not there has left, or was never for this client.
pub const WAIT_MAX: Micros = Micros::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Held {
    /// Without its arguments.
    call: ServerCall<'static>,
    object: Alias,
    since: Micros,
}

impl Held {
    fn with<'a>(&self, args: &'a [u8]) -> ServerCall<'a> {
        ServerCall { args, ..self.call }
    }
}

/// The calls that wait.
#[derive(Clone, Debug)]
pub struct WaitingCalls {
    calls: Queue<Held>,
    unknown: u64,
}

impl Default for WaitingCalls {
    fn default() -> WaitingCalls {
        WaitingCalls::new()
    }
}

impl WaitingCalls {
    /// Nothing waits.
    pub fn new() -> WaitingCalls {
        let room = Room { items: WAITING_CALLS_MAX, bytes: WAITING_BYTES_MAX };
        WaitingCalls { calls: Queue::new(room), unknown: 0 }
    }

    /// Keeps a call about `object`, which the client does not have. The oldest of those that wait are given to `unknown`
    /// if it takes their place.
    pub fn hold(
        &mut self,
        now: Micros,
        object: Alias,
        call: &ServerCall<'_>,
        mut unknown: impl FnMut(ServerCall<'_>),
    ) {
        let held = Held { call: ServerCall { args: &[], ..*call }, object, since: now };
        while !self.calls.push(held, call.args) {
            match self.calls.iter().next() {
                Some((oldest, args)) => unknown(oldest.with(args)),
                // Larger than all there is room for: nothing to wait in.
                None => unknown(*call),
            }
            self.unknown += 1;
            if self.calls.len() == 0 {
                return;
            }
            self.calls.remove_first(1);
        }
    }

    /// Whether calls about `object` wait.
    pub fn is_waiting_for(&self, object: Alias) -> bool {
        self.calls.iter().any(|(held, _)| held.object == object)
    }

    /// Gives all calls about `object`, which has entered, to `deliver`, in order. To be called before any later call
    /// about it is delivered.
    pub fn release(&mut self, object: Alias, mut deliver: impl FnMut(ServerCall<'_>)) {
        self.calls.remove_if(|held, args| {
            let is_about_it = held.object == object;
            if is_about_it {
                deliver(held.with(args));
            }
            is_about_it
        });
    }

    /// Gives every call that has waited for [`WAIT_MAX`] to `unknown`, the oldest first.
    pub fn handle_timeout(&mut self, now: Micros, mut unknown: impl FnMut(ServerCall<'_>)) {
        let count = &mut self.unknown;
        self.calls.remove_if(|held, args| {
            let is_overdue = now.since(held.since) >= WAIT_MAX;
            if is_overdue {
                *count += 1;
                unknown(held.with(args));
            }
            is_overdue
        });
    }

    /// When [`WaitingCalls::handle_timeout`] has something to do next.
    pub fn poll_timeout(&self) -> Option<Micros> {
        self.calls.first().map(|held| held.since + WAIT_MAX)
    }

    /// Forgets all of them: the connection is gone.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.calls.len() == 0
    }

    /// How many bytes of arguments wait.
    pub fn bytes(&self) -> usize {
        self.calls.bytes()
    }

    /// How many came out as calls about an unknown object.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}

#[cfg(test)]
mod tests;
