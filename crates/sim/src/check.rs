//! What must be true in every run, whatever the network did.
//!
//! A scenario that only looks at its end result misses most bugs: a message delivered twice in the middle leaves no
//! trace at the end. So the promises of the stack are checked as events happen, by checkers that know nothing of the
//! implementation:
//!
//! | checker | promise |
//! |---|---|
//! | [`ChannelCheck`] | once and in order, once, at most once, never backwards; outcomes are the truth |
//! | [`Stamp`] | what arrives is, byte for byte, what was sent on that channel of that session |
//! | [`WireTap`] | no packet number is used twice under one key, no key is used by two sessions, nothing exceeds the mtu |
//! | [`AmplificationCheck`] | an address that has proved nothing cannot be made a target |
//! | [`at_most`] | memory stays within its configured limit |

mod amplification;
mod channel;
mod payload;
mod tap;

pub use amplification::{AmplificationCheck, HANDSHAKE_FACTOR, MIGRATION_FACTOR};
pub use channel::{ChannelCheck, Promise};
pub use payload::{STAMP_BYTES, Stamp};
pub use tap::{KeyHolder, PacketKey, WireTap};

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {detail}")]
pub struct Violation {
    /// The promise, in a few words.
    pub rule: &'static str,
    /// What happened instead.
    pub detail: String,
}

impl Violation {
    /// A violation of `rule`.
    pub fn new(rule: &'static str, detail: impl Into<String>) -> Violation {
        Violation { rule, detail: detail.into() }
    }
}

/// Checks a quantity against its limit.
pub fn at_most(rule: &'static str, value: u64, limit: u64) -> Result<(), Violation> {
    if value <= limit {
        return Ok(());
    }
    Err(Violation::new(rule, format!("{value} exceeds the limit of {limit}")))
}
