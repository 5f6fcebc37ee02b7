//! The four states of a connection and the transitions between them.
//!
//! ```text
//!                 connect                    handshake succeeds
//! Disconnected ───────────▶ Connecting ─────────────────────────▶ Connected
//!      ▲                        │                                   │   │
//!      │  reject, cancel,       │                        disconnect │   │ silence, violation
//!      │  attempts exhausted    │                                   ▼   │
//!      ├────────────────────────┘          confirmed, timeout  Disconnecting
//!      ├──────────────────────────────────────────────────────────┘     │
//!      └────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Listening is not a state of a connection: an endpoint that listens has one such machine per peer.

/// Where a connection stands. The values are those that every SDK shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Not connected, and not trying.
    #[default]
    Disconnected = 0,
    /// In the handshake.
    Connecting = 1,
    /// Exchanging data.
    Connected = 2,
    /// Saying goodbye; no more data.
    Disconnecting = 3,
}

impl State {
    /// Every state.
    pub const ALL: [State; 4] =
        [State::Disconnected, State::Connecting, State::Connected, State::Disconnecting];

    /// Whether the machine may go from `self` to `next`.
    pub const fn allows(self, next: State) -> bool {
        use State::*;
        matches!(
            (self, next),
            (Disconnected, Connecting)
                | (Connecting, Connected | Disconnected)
                | (Connected, Disconnecting | Disconnected)
                | (Disconnecting, Disconnected)
        )
    }

    /// Goes to `next` if that is legal, and says whether it was.
    #[must_use]
    pub fn transition_to(&mut self, next: State) -> bool {
        let legal = self.allows(next);
        if legal {
            *self = next;
        }
        legal
    }

    /// The name that scripts see.
    pub const fn name(self) -> &'static str {
        match self {
            State::Disconnected => "disconnected",
            State::Connecting => "connecting",
            State::Connected => "connected",
            State::Disconnecting => "disconnecting",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_six_documented_transitions_are_legal() {
        use State::*;
        let legal = [
            (Disconnected, Connecting),
            (Connecting, Connected),
            (Connecting, Disconnected),
            (Connected, Disconnecting),
            (Connected, Disconnected),
            (Disconnecting, Disconnected),
        ];
        for from in State::ALL {
            for to in State::ALL {
                let mut state = from;
                assert_eq!(state.transition_to(to), legal.contains(&(from, to)), "{from:?} to {to:?}");
                assert_eq!(state, if legal.contains(&(from, to)) { to } else { from });
            }
        }
    }

    #[test]
    fn the_values_are_the_documented_ones() {
        assert_eq!(State::ALL.map(|state| state as u8), [0, 1, 2, 3]);
    }
}
