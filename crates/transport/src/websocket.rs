//! Datagrams over WebSocket, for browsers and for networks that let nothing but the web through.
//!
//! A browser opens no other sockets than this that a server without certificates can answer. It is [RFC 6455] over the
//! streams that [`tcp`](crate::tcp) has, with the same limits, the same bound on what waits unsent and the same reports of
//! slow peers; each datagram is one binary message.
//!
//! ```text
//!   GET /netloom, Upgrade: websocket ──▶ 101 ──▶ message, message, …  ──▶ Close
//!   GET /metrics                     ──▶ what the handler answers, and the end        on the same port
//! ```
//!
//! Frames are cut and masked where they lie, in memory that is allocated once. What a peer may send is bounded at its first
//! byte: a head of 8 KiB in 5 s, messages of the mtu whether whole or in parts, control frames of 125 bytes, of which pings
//! are answered as long as they are few. Whatever else it sends, it is told by a close frame with code and reason, or by an
//! HTTP error that says what to do, and then the connection ends. Nothing is ever compressed.
//!
//! There is no TLS here, so by default a server binds and a client connects to loopback addresses only; in front of the
//! network belongs a proxy with a certificate, or [`WebSocketConfig::allows_plain_on_network`].
//!
//! [RFC 6455]: https://www.rfc-editor.org/rfc/rfc6455

mod codec;
mod frame;
mod message;
mod upgrade;

pub use frame::{
    CONTROL_BYTES_MAX, FRAME_HEADER_BYTES_MAX, FrameHeader, Opcode, Role, WebSocketError, apply_mask,
    write_frame,
};
pub use message::{Incoming, MessageReader};
pub use upgrade::{
    Answer, Origins, PATH, PlainHttp, SUBPROTOCOL, UpgradeError, accept_for, answer, check_response,
};

use netloom_wire::Micros;

use crate::address::PeerAddress;
use crate::error::TransportError;
use crate::http::{BODY_BYTES_MAX, Request, Response};
use crate::stream::{Streams, TcpConfig, transport_over_streams};
use codec::{Masks, Shared, WebSocketCodec};

/// What WebSockets are like.
#[derive(Clone, Debug)]
pub struct WebSocketConfig {
    /// The streams that they are on.
    pub tcp: TcpConfig,
    /// How long a connection may take to send the head of its request, or of its response.
    pub upgrade_timeout: Micros,
    /// Which pages may connect.
    pub origins: Origins,
    /// Whether to bind, or connect to, addresses that are not loopback: what is sent can be read and changed on the way.
    pub allows_plain_on_network: bool,
    /// The longest body of a plain POST request, up to [`BODY_BYTES_MAX`]. With 0 there is no POST: only GET
    /// and HEAD reach the handler of [`serve_http`](WebSocketTransport::serve_http).
    pub http_body_bytes_max: usize,
}

impl Default for WebSocketConfig {
    fn default() -> WebSocketConfig {
        WebSocketConfig {
            tcp: TcpConfig::default(),
            upgrade_timeout: Micros::from_secs(5),
            origins: Origins::default(),
            allows_plain_on_network: false,
            http_body_bytes_max: 0,
        }
    }
}

impl WebSocketConfig {
    fn check(&self, address: PeerAddress) -> Result<(), TransportError> {
        if let Some(text) = self.origins.first_wrong() {
            return Err(TransportError::WrongOrigin { text: text.to_owned() });
        }
        let is_loopback = address.to_socket_addr().ip().is_loopback();
        if matches!(address, PeerAddress::Socket(_)) && !is_loopback && !self.allows_plain_on_network {
            return Err(TransportError::PlainOnNetwork { address });
        }
        Ok(())
    }

    fn into_parts(self, local: PeerAddress) -> (TcpConfig, Shared) {
        let shared = Shared {
            origins: self.origins.at(local),
            upgrade_timeout: self.upgrade_timeout,
            body_bytes_max: self.http_body_bytes_max.min(BODY_BYTES_MAX),
            http: None,
            masks: Masks::new(),
        };
        (self.tcp, shared)
    }
}

/// Connections over WebSocket: those that a listener accepted, or the one that was asked for.
///
/// ```
/// use netloom_transport::http::Response;
/// use netloom_transport::{Batch, Micros, Transport, WebSocketConfig, WebSocketTransport};
///
/// let mut server = WebSocketTransport::listen("127.0.0.1:0".parse()?, WebSocketConfig::default())?;
/// server.serve_http(|request| match request.path() {
///     "/healthz" => Response::text(200, "ok\n"),
///     _ => Response::text(404, "there is /healthz\n"),
/// });
/// let mut client = WebSocketTransport::connect(server.local_address(), WebSocketConfig::default())?;
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello"); // waits for the connection
/// client.send(Micros::ZERO, &mut batch)?;
/// while server.receive(Micros::ZERO, &mut batch)? == 0 {
///     client.receive(Micros::ZERO, &mut Batch::new(1, 1_200)?)?;
///     server.wait(Micros::ZERO, Micros::from_millis(10))?;
/// }
/// assert_eq!(batch.iter().next().expect("it was sent").bytes(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WebSocketTransport {
    streams: Streams<WebSocketCodec>,
}

impl WebSocketTransport {
    /// A listener at an address. Port 0 lets the system choose; `[::]` is every address of both families.
    pub fn listen(
        address: PeerAddress,
        config: WebSocketConfig,
    ) -> Result<WebSocketTransport, TransportError> {
        config.check(address)?;
        let (tcp, shared) = config.into_parts(address);
        Ok(WebSocketTransport { streams: Streams::listen(address, tcp, shared)? })
    }

    /// A connection to a server. What is sent to it before it is open waits; when it has ended, the next thing that is sent
    /// makes another one.
    pub fn connect(
        server: PeerAddress,
        config: WebSocketConfig,
    ) -> Result<WebSocketTransport, TransportError> {
        config.check(server)?;
        let (tcp, shared) = config.into_parts(server);
        Ok(WebSocketTransport { streams: Streams::connect(server, tcp, shared)? })
    }

    /// Answers plain GET and HEAD requests on the same port, except those for [`PATH`]; POST as well where
    /// [bodies](WebSocketConfig::http_body_bytes_max) are allowed. The handler runs in [`receive`](crate::Transport::receive): it should
    /// answer from what it has.
    pub fn serve_http(&mut self, handler: impl FnMut(&Request<'_>) -> Response + Send + 'static) {
        self.streams.shared.http = Some(Box::new(handler));
    }
}

transport_over_streams!(WebSocketTransport);
