//! What the thread of a client does: makes a session, and another one when there is something to send after it has ended.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use netloom_transport::PeerAddress;
use tokio::sync::Notify;
use tokio::time::timeout;
use wtransport::Endpoint;
use wtransport::config::{DnsLookupFuture, DnsResolver};
use wtransport::endpoint::endpoint_side::Client;
use wtransport::error::ConnectingError;

use crate::limits::{MTU_BYTES, SESSION_BYTES_MAX};
use crate::quic::duration;
use crate::session::{Run, kind_of};
use crate::table::Table;

/// The address of the server, which was looked up before: whoever drives this knows the peer by it.
#[derive(Debug)]
pub(crate) struct Resolved(pub SocketAddr);

impl DnsResolver for Resolved {
    fn resolve(&self, _host: &str) -> Pin<Box<dyn DnsLookupFuture>> {
        let address = self.0;
        Box::pin(async move { Ok(Some(address)) })
    }
}

/// Makes sessions until it is told to stop.
pub(crate) async fn dial(
    endpoint: &Endpoint<Client>,
    table: &Arc<Table>,
    server: PeerAddress,
    url: &str,
    stop: &Notify,
) {
    loop {
        let made = tokio::select! {
            () = stop.notified() => return,
            made = timeout(duration(table.config.open_timeout), endpoint.connect(url)) => made,
        };
        match made {
            Ok(Ok(connection)) => {
                let longest = connection.quic_connection().max_datagram_size().unwrap_or(0);
                if longest < MTU_BYTES + SESSION_BYTES_MAX {
                    table.fail_dial(io::ErrorKind::Unsupported);
                } else if let Some((number, leave)) = table.open(server, connection.clone()) {
                    let table = Arc::clone(table);
                    let run = Run { table, connection, peer: server, number, leave, first_timeout: None };
                    drop(tokio::spawn(run.run()));
                }
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, url, "no session");
                table.fail_dial(dial_kind(&error));
            }
            Err(_) => table.fail_dial(io::ErrorKind::TimedOut),
        }
        tokio::select! {
            () = stop.notified() => return,
            () = table.dial.notified() => {}
        }
    }
}

fn dial_kind(error: &ConnectingError) -> io::ErrorKind {
    match error {
        ConnectingError::ConnectionError(error) => kind_of(error),
        ConnectingError::SessionRejected => io::ErrorKind::PermissionDenied,
        ConnectingError::InvalidRemoteAddress(_) => io::ErrorKind::AddrNotAvailable,
        _ => io::ErrorKind::Other,
    }
}
