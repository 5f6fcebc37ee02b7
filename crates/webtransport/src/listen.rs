//! What the thread of a server does: accepts, shakes hands, and starts a task for each session.

use std::sync::Arc;

use netloom_transport::PeerAddress;
use netloom_transport::websocket::PATH;
use tokio::sync::Notify;
use tokio::time::timeout;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::endpoint::{IncomingSession, SessionRequest};
use wtransport::error::ConnectionError;
use wtransport::{Connection, Endpoint};

use crate::limits::{MTU_BYTES, SESSION_BYTES_MAX};
use crate::quic::duration;
use crate::session::Run;
use crate::table::{Admission, Table, Ticket};

/// Accepts until it is told to stop.
pub(crate) async fn listen(endpoint: &Endpoint<Server>, table: &Arc<Table>, stop: &Notify) {
    loop {
        let incoming = tokio::select! {
            () = stop.notified() => return,
            incoming = endpoint.accept() => incoming,
        };
        let peer = PeerAddress::from(incoming.remote_address());
        match table.admit(peer, incoming.remote_address_validated()) {
            Admission::Admitted(ticket) => drop(tokio::spawn(greet(Arc::clone(table), incoming, ticket))),
            Admission::Unproven => incoming.retry(),
            Admission::Refused => incoming.refuse(),
        }
    }
}

/// One handshake, and the session that comes of it.
async fn greet(table: Arc<Table>, incoming: IncomingSession, ticket: Ticket) {
    let greeted = timeout(duration(table.config.open_timeout), shake_hands(&table, incoming)).await;
    let Ok(Ok(Some(connection))) = greeted else {
        table.fail_greeting();
        return;
    };
    let peer = PeerAddress::from(connection.remote_address());
    let Some((number, leave)) = table.open(peer, connection.clone()) else { return };
    // It counts as a session from now on.
    drop(ticket);
    let first_timeout = Some(duration(table.config.open_timeout));
    Run { table, connection, peer, number, leave, first_timeout }.run().await;
}

/// `None`: what was asked for was refused.
async fn shake_hands(
    table: &Table,
    incoming: IncomingSession,
) -> Result<Option<Connection>, ConnectionError> {
    let request = incoming.await?;
    if request.path().split('?').next() != Some(PATH) {
        request.not_found().await;
        return Ok(None);
    }
    if !is_welcome(table, &request) {
        request.forbidden().await;
        return Ok(None);
    }
    let connection = request.accept().await?;
    // A peer may allow less than any packet of Netloom needs, or none.
    let longest = connection.quic_connection().max_datagram_size().unwrap_or(0);
    Ok((longest >= MTU_BYTES + SESSION_BYTES_MAX).then_some(connection))
}

fn is_welcome(table: &Table, request: &SessionRequest) -> bool {
    // Somebody on this machine is where a game is developed, whatever other addresses are listened at.
    let origins = table.config.origins.clone().at(request.remote_address().into());
    request.origin().is_none_or(|origin| origins.allow(origin, request.authority()))
}
