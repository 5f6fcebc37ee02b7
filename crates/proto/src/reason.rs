//! Why a connection was refused or ended. The codes are on the wire and never change their meaning.

netloom_wire::codes! {
    /// Why a server does not accept a connection.
    RejectReason {
        /// The wire versions differ.
        Version = 1, "the server speaks another protocol version: update the older side";
        /// The schemas or the channel kinds differ.
        Schema = 2, "client and server define different replicated data or channels: build both from the same sources";
        /// The code tables differ.
        Tables = 3, "client and server use different code tables: ship the same table file with both";
        /// One side requires encryption and the other does not have it.
        Security = 4, "one side requires encryption and the other has it switched off";
        /// No seat is free.
        Full = 5, "the server is full: try again later";
        /// The resume token is unknown, used or too old.
        Resume = 6, "the session can no longer be resumed: connect anew";
        /// The application said no.
        Denied = 7, "the server refused this player";
    }
}

netloom_wire::codes! {
    /// Why a connection ended.
    DisconnectReason {
        /// The local or remote user asked for it.
        Requested = 0, "disconnected on request";
        /// No valid packet arrived in time.
        Timeout = 1, "the other side fell silent";
        /// No connection within the configured attempts.
        ConnectTimeout = 2, "no answer: there is no server at this address, or it serves another game";
        /// The connection attempt was cancelled by its caller.
        Cancelled = 3, "the connection attempt was cancelled";
        /// The server refused; the reject reason says why.
        Rejected = 4, "the server refused the connection";
        /// The other side broke the protocol.
        Protocol = 5, "the other side violated the protocol";
        /// A reliable message could not be delivered within the configured resends.
        Undeliverable = 6, "a reliable message could not be delivered";
        /// The peer cannot keep up: latency or queue beyond the configured thresholds.
        SlowConsumer = 7, "the peer could not keep up";
        /// The same seat was taken up by a resumed connection.
        Resumed = 8, "the session goes on in a newer connection";
        /// The endpoint shuts down.
        Shutdown = 9, "the server is shutting down";
        /// The peer was removed by the application.
        Kicked = 10, "removed by the server";
        /// The stream below closed without a goodbye. Never said to the other side, who is not there.
        Broken = 11, "the stream to the other side broke";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_unknown_ones_are_none() {
        for &reason in RejectReason::ALL {
            assert_eq!(RejectReason::from_code(reason.code()), Some(reason));
        }
        for &reason in DisconnectReason::ALL {
            assert_eq!(DisconnectReason::from_code(reason.code()), Some(reason));
        }
        assert_eq!(RejectReason::from_code(0), None);
        assert_eq!(DisconnectReason::from_code(255), None);
    }
}
