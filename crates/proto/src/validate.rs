//! Why a datagram is dropped, in the order in which a receiver looks.
//!
//! Everything that arrives is hostile until a check says otherwise. The checks run from the cheapest to the dearest and
//! stop at the first that fails; a failed datagram changes nothing but its counter, so that it can neither use up
//! memory, nor move the replay window, nor keep a dead connection alive.
//!
//! For session packets the checks run in the order of the variants, with three exceptions: [`TooShort`](Rejection::TooShort)
//! is found twice (an empty datagram, a missing trailer); so is [`Malformed`](Rejection::Malformed) (a payload that does not
//! parse; later, beside the last two, one that contradicts what is known); [`TooOld`](Rejection::TooOld) and
//! [`Replayed`](Rejection::Replayed) exclude each other and are one check. The variants of the handshake do not occur there:
//! its packets have orders of their own, by type. Section 27 of `docs/STANDARD.md` has all of them.

/// Why a datagram was dropped. The order of the variants is the order of the checks of a session packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rejection {
    /// Shorter than the smallest packet of its type.
    TooShort,
    /// Longer than a datagram may be.
    TooLong,
    /// A packet type that does not exist.
    UnknownType,
    /// A reserved flag is set, or a flag that this type does not have.
    BadFlags,
    /// The header runs past the end.
    TruncatedHeader,
    /// A handshake packet for a server, and this endpoint does not listen.
    NotListening,
    /// A handshake request shorter than its reply may be.
    Unpadded,
    /// No connection belongs to this session id, alias or address.
    UnknownSession,
    /// A type that is not allowed in the state of the connection.
    WrongState,
    /// A plain packet on a sealed connection, or the reverse.
    WrongSecurity,
    /// A plain packet from another address than the connection's.
    WrongAddress,
    /// This packet number was already received.
    Replayed,
    /// Older than the replay window.
    TooOld,
    /// The CRC32C or the authentication tag does not match.
    Integrity,
    /// Too many requests from this address, or altogether, or too many who are connecting.
    RateLimited,
    /// The cookie is forged, too old or from elsewhere.
    BadCookie,
    /// A handshake reply that answers no request of ours.
    Unsolicited,
    /// The peer acknowledges a packet that was never sent.
    AckOfUnsent,
    /// The payload does not parse.
    Malformed,
    /// A reliable message further ahead than the window: the sender ignores our acknowledgements.
    OutOfWindow,
    /// No room for what the packet carries; it is not acknowledged, so its reliable part comes again.
    NoRoom,
}

impl Rejection {
    /// Every reason, in the order of the variants.
    pub const ALL: [Rejection; 21] = {
        use Rejection::*;
        [
            TooShort,
            TooLong,
            UnknownType,
            BadFlags,
            TruncatedHeader,
            NotListening,
            Unpadded,
            UnknownSession,
            WrongState,
            WrongSecurity,
            WrongAddress,
            Replayed,
            TooOld,
            Integrity,
            RateLimited,
            BadCookie,
            Unsolicited,
            AckOfUnsent,
            Malformed,
            OutOfWindow,
            NoRoom,
        ]
    };

    /// A short name for tables and metrics.
    pub const fn name(self) -> &'static str {
        use Rejection::*;
        match self {
            TooShort => "too_short",
            TooLong => "too_long",
            UnknownType => "unknown_type",
            BadFlags => "bad_flags",
            TruncatedHeader => "truncated_header",
            NotListening => "not_listening",
            Unpadded => "unpadded",
            UnknownSession => "unknown_session",
            WrongState => "wrong_state",
            WrongSecurity => "wrong_security",
            WrongAddress => "wrong_address",
            Replayed => "replayed",
            TooOld => "too_old",
            Integrity => "integrity",
            RateLimited => "rate_limited",
            BadCookie => "bad_cookie",
            Unsolicited => "unsolicited",
            AckOfUnsent => "ack_of_unsent",
            Malformed => "malformed",
            OutOfWindow => "out_of_window",
            NoRoom => "no_room",
        }
    }
}

/// How many datagrams were dropped, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejections([u64; Rejection::ALL.len()]);

impl Rejections {
    /// Counts one.
    pub(crate) fn count(&mut self, reason: Rejection) {
        self.0[reason as usize] += 1;
    }

    /// Datagrams dropped for this reason.
    pub fn get(&self, reason: Rejection) -> u64 {
        self.0[reason as usize]
    }

    /// Datagrams dropped altogether.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons that occurred, with their counts, in the order of [`Rejection::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Rejection, u64)> + '_ {
        Rejection::ALL.into_iter().map(|reason| (reason, self.get(reason))).filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_variants_and_complete() {
        for (index, reason) in Rejection::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
        let mut names: Vec<_> = Rejection::ALL.iter().map(|reason| reason.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rejection::ALL.len());
    }

    #[test]
    fn counts_are_kept_by_reason() {
        let mut rejections = Rejections::default();
        rejections.count(Rejection::Replayed);
        rejections.count(Rejection::Replayed);
        assert_eq!(rejections.get(Rejection::Replayed), 2);
        assert_eq!(rejections.total(), 2);
        assert_eq!(rejections.iter().collect::<Vec<_>>(), [(Rejection::Replayed, 2)]);
    }
}
