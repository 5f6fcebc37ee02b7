//! How often a client may call.
//!
//! A call costs the server a handler's work, and a client decides when to make it. Every name therefore has a rate: so
//! many per second on average, so many at once after a pause. That is a bucket of tokens, one taken per call, refilled by
//! time. Another bucket is for all calls of a client together, because a table of a thousand names would otherwise
//! multiply what one client may ask for.
//!
//! ```text
//!  tokens  burst ┤▔▔▔╲        ╱▔▔▔▔      in millionths: each microsecond adds `per_second` of them,
//!                │    ╲      ╱           so nothing is rounded and no float is needed
//!              0 ┤     ╲▁▁▁▁╱
//! ```
//!
//! A bucket per name and client would be a map that a hostile client fills and, if it forgets, empties to its advantage.
//! Here it is an array as long as the table, made when the client joins: 16 bytes a name, found by index.

use netloom_wire::Micros;

use super::frame::ClientCall;
use super::table::{RATE_MAX, Refusal, Rpc, RpcTable, Side};

const MILLION: u64 = 1_000_000;

/// So many calls per second on average, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    per_second: u32,
    burst: u32,
}

/// Why there is no such rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, allowed are 1 to {RATE_MAX}")]
pub struct RateError {
    /// What is out of range.
    pub field: &'static str,
    /// Its value.
    pub value: u32,
}

impl Rate {
    /// A rate of `per_second` calls with `burst` at once, each 1 to [`RATE_MAX`].
    pub fn new(per_second: u32, burst: u32) -> Result<Rate, RateError> {
        for (field, value) in [("per_second", per_second), ("burst", burst)] {
            if !(1..=RATE_MAX).contains(&value) {
                return Err(RateError { field, value });
            }
        }
        Ok(Rate { per_second, burst })
    }

    fn of(call: &Rpc) -> Rate {
        Rate { per_second: call.options().per_second, burst: call.options().burst }
    }

    fn full(self) -> u64 {
        u64::from(self.burst) * MILLION
    }
}

impl Default for Rate {
    /// What all calls of one client may come to: 600 per second, 300 at once.
    fn default() -> Rate {
        Rate { per_second: 600, burst: 300 }
    }
}

/// Tokens of one rate, in millionths.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: u64,
    filled_at: Micros,
}

impl Bucket {
    fn full(rate: Rate, now: Micros) -> Bucket {
        Bucket { level: rate.full(), filled_at: now }
    }

    /// Adds what time has brought. A clock that goes back brings nothing, and nothing twice.
    fn refill(&mut self, rate: Rate, now: Micros) {
        let gained = now.since(self.filled_at).0.saturating_mul(rate.per_second.into());
        self.level = self.level.saturating_add(gained).min(rate.full());
        self.filled_at = self.filled_at.max(now);
    }

    fn has_one(&self) -> bool {
        self.level >= MILLION
    }

    fn take_one(&mut self) {
        self.level = self.level.saturating_sub(MILLION);
    }
}

/// What was refused of a client's calls, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounters {
    /// Calls that passed.
    pub allowed: u64,
    /// Ids that no table has.
    pub unknown: u64,
    /// Calls that only the server may make.
    pub not_allowed: u64,
    /// Calls for other players that are for the server only.
    pub not_forwarded: u64,
    /// Arguments beyond the limit of their call.
    pub too_large: u64,
    /// Calls beyond a rate.
    pub too_often: u64,
}

impl RefusalCounters {
    fn count(&mut self, outcome: Result<(), Refusal>) {
        let counter = match outcome {
            Ok(()) => &mut self.allowed,
            Err(Refusal::Unknown) => &mut self.unknown,
            Err(Refusal::NotAllowed) => &mut self.not_allowed,
            Err(Refusal::NotForwarded) => &mut self.not_forwarded,
            Err(Refusal::TooLarge { .. }) => &mut self.too_large,
            Err(Refusal::TooOften { .. }) => &mut self.too_often,
        };
        *counter += 1;
    }

    /// All that was refused.
    pub fn refused(&self) -> u64 {
        self.unknown + self.not_allowed + self.not_forwarded + self.too_large + self.too_often
    }
}

/// What one client may still call.
#[derive(Clone, Debug)]
pub struct PeerLimits {
    /// By id.
    buckets: Box<[Bucket]>,
    total: Bucket,
    total_rate: Rate,
    counters: RefusalCounters,
}

impl PeerLimits {
    /// For a client that joins a server with `table` now, with `total` for all its calls together.
    pub fn new(table: &RpcTable, total: Rate, now: Micros) -> PeerLimits {
        PeerLimits {
            buckets: table.iter().map(|(_, call)| Bucket::full(Rate::of(call), now)).collect(),
            total: Bucket::full(total, now),
            total_rate: total,
            counters: RefusalCounters::default(),
        }
    }

    /// Whether the client may make this call now: one that the table has, that clients may make, of the right size, not
    /// too often; asked in this order. Only a call that passes uses up tokens. `table` is the one given at the start.
    pub fn admit<'t>(
        &mut self,
        now: Micros,
        table: &'t RpcTable,
        call: &ClientCall<'_>,
    ) -> Result<&'t Rpc, Refusal> {
        let outcome = self.judge(now, table, call);
        self.counters.count(outcome.map(|_| ()));
        outcome
    }

    fn judge<'t>(
        &mut self,
        now: Micros,
        table: &'t RpcTable,
        call: &ClientCall<'_>,
    ) -> Result<&'t Rpc, Refusal> {
        let rpc = table.admit(Side::Client, call.id, call.target.is_for_others(), call.args.len())?;
        let bucket = self.buckets.get_mut(usize::from(call.id.0)).ok_or(Refusal::Unknown)?;
        let rate = Rate::of(rpc);
        bucket.refill(rate, now);
        self.total.refill(self.total_rate, now);
        for (bucket, rate) in [(&*bucket, rate), (&self.total, self.total_rate)] {
            if !bucket.has_one() {
                return Err(Refusal::TooOften { limit: rate.per_second });
            }
        }
        bucket.take_one();
        self.total.take_one();
        Ok(rpc)
    }

    /// What passed and what did not.
    pub fn counters(&self) -> RefusalCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests;
