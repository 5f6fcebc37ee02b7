//! Deliberate bugs, one at a time, that the simulator's checkers must catch. Compiled only for that test.

use std::cell::Cell;

/// A bug to switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// No bug.
    None,
    /// A packet is acknowledged that never arrived.
    AckOfUnreceived,
    /// An acknowledgement of a packet that was never sent is believed.
    AckOfUnsentBelieved,
    /// The replay window accepts a packet twice.
    ReplayAccepted,
    /// The replay window moves before the packet is authenticated.
    WindowBeforeAuthentication,
    /// A lost reliable message is not sent again.
    ResendDropped,
    /// An ordered channel delivers as messages arrive.
    OrderBroken,
    /// Fragments of two messages are put together.
    FragmentMixed,
    /// The server nonce stays out of the key: a repeated request repeats the keys.
    KeyReused,
    /// The memory limit of a channel is not looked at.
    LimitIgnored,
    /// A sequenced channel delivers older messages too.
    SequenceRegress,
    /// A new address is used without proof.
    PathUnproven,
    /// A packet number is used for two packets.
    NumberReused,
}

impl Mutation {
    /// Every bug.
    pub const ALL: [Mutation; 12] = {
        use Mutation::*;
        [
            AckOfUnreceived,
            AckOfUnsentBelieved,
            ReplayAccepted,
            WindowBeforeAuthentication,
            ResendDropped,
            OrderBroken,
            FragmentMixed,
            KeyReused,
            LimitIgnored,
            SequenceRegress,
            PathUnproven,
            NumberReused,
        ]
    };
}

thread_local! {
    static ACTIVE: Cell<Mutation> = const { Cell::new(Mutation::None) };
}

/// Switches a bug on for this thread.
pub fn set(mutation: Mutation) {
    ACTIVE.set(mutation);
}

/// Whether this bug is on.
pub fn is(mutation: Mutation) -> bool {
    ACTIVE.get() == mutation
}
