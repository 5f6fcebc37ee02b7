//! The task of one session: copies what arrives into the inbox, and closes it when it is to end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use netloom_transport::{CloseReason, PeerAddress};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use wtransport::error::ConnectionError;
use wtransport::{Connection, VarInt};

use crate::limits::{LEAVE_LOOK, LEAVE_MAX};
use crate::table::Table;

/// A session that is in the table.
pub(crate) struct Run {
    pub table: Arc<Table>,
    pub connection: Connection,
    pub peer: PeerAddress,
    pub number: u64,
    pub leave: Arc<Notify>,
    /// How long the first datagram may take; `None` on the side that dialed, whose driver knows the peer anyhow.
    pub first_timeout: Option<Duration>,
}

impl Run {
    pub async fn run(self) {
        let reason = tokio::select! {
            reason = self.receive() => Some(reason),
            () = self.leave.notified() => None,
        };
        match reason {
            Some(reason) => self.table.close(self.peer, self.number, reason),
            None => self.flush().await,
        }
        self.connection.close(VarInt::from_u32(0), b"");
    }

    async fn receive(&self) -> CloseReason {
        let mut first_timeout = self.first_timeout;
        loop {
            let next = self.connection.receive_datagram();
            let received = match first_timeout.take() {
                Some(time) => match timeout(time, next).await {
                    Ok(received) => received,
                    Err(_) => return CloseReason::Silent,
                },
                None => next.await,
            };
            match received {
                Ok(datagram) => self.table.deliver(self.peer, self.number, &datagram),
                Err(error) => return reason_of(&error),
            }
        }
    }

    /// Waits until what was sent is on its way: closing would take it back.
    async fn flush(&self) {
        let quic = self.connection.quic_connection();
        let is_flushed = async {
            while quic.datagram_send_buffer_space() < self.table.config.unsent_bytes_max {
                sleep(LEAVE_LOOK).await;
            }
        };
        // A peer that takes nothing does not get its goodbye either.
        let _is_late = timeout(LEAVE_MAX, is_flushed).await;
    }
}

fn reason_of(error: &ConnectionError) -> CloseReason {
    match error {
        ConnectionError::ConnectionClosed(_) => CloseReason::ByPeer,
        ConnectionError::ApplicationClosed(close) => match u16::try_from(close.code().into_inner()) {
            Ok(code @ 1..) => CloseReason::ByPeerWithCode(code),
            _ => CloseReason::ByPeer,
        },
        error => CloseReason::Broken(kind_of(error)),
    }
}

/// What is next to it among the errors of the system.
pub(crate) fn kind_of(error: &ConnectionError) -> io::ErrorKind {
    match error {
        ConnectionError::TimedOut => io::ErrorKind::TimedOut,
        ConnectionError::ConnectionClosed(_) | ConnectionError::ApplicationClosed(_) => {
            io::ErrorKind::ConnectionRefused
        }
        ConnectionError::LocallyClosed => io::ErrorKind::ConnectionAborted,
        ConnectionError::LocalH3Error(_) | ConnectionError::QuicProto(_) => io::ErrorKind::InvalidData,
        _ => io::ErrorKind::Other,
    }
}
