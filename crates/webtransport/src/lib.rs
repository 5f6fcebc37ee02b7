//! Datagrams over WebTransport, for browsers.
//!
//! A WebSocket is a stream: one lost packet holds up everything behind it. WebTransport gives a page what games use elsewhere,
//! datagrams that may be lost and come in any order, over QUIC and so encrypted. Each datagram of a session is one of Netloom's.
//!
//! ```text
//!   https://host:port/netloom ──▶ QUIC ──▶ CONNECT, 200 ──▶ datagram, datagram, …
//!
//!   caller's thread                      thread of the transport (Tokio)
//!   send    ────────────────────────────▶ QUIC's queue, bounded ──▶ socket
//!   receive ◀── inbox, bounded, copied ◀── a task for each session ◀── socket
//! ```
//!
//! The interface is that of every other [`Transport`](netloom_transport::Transport), and the runtime stays behind it: one thread with
//! Tokio in it, which ends with the transport.
//!
//! A peer costs what is written down in [`WebTransportConfig`] and [`limits`], whatever it sends: streams are allowed as far as
//! HTTP/3 needs them, nothing is read from others, and datagrams that nobody fetches or that a peer does not read are dropped and
//! counted. Handshakes of addresses that have not proven that they are there are few at a time; more of them have to prove it first,
//! at the cost of one round trip and of no memory here.
//!
//! Browsers accept a server without a certificate of an authority if the page knows its hash, and only if it is valid for two weeks at
//! most. [`Certificates`] makes such ones, replaces them in time, and gives the hashes for the page.
//!
//! | module | what it does |
//! |---|---|
//! | [`certificate`] | what the server shows, and its hashes |
//! | [`config`] | what can be set |
//! | [`limits`] | what nobody sets |
//! | [`error`] | what can go wrong |
//! | `table` | sessions and what waits for or from them, shared by both threads |
//! | `listen`, `dial` | what the thread does, of a server and of a client |
//! | `quic` | the settings of QUIC that the limits come down to |
#![forbid(unsafe_code)]

pub mod certificate;
pub mod config;
mod dial;
pub mod error;
pub mod limits;
mod listen;
mod quic;
mod session;
mod table;
mod transport;

pub use certificate::{CertificateError, CertificateHash, Certificates};
pub use config::{Trust, WebTransportConfig};
pub use error::WebTransportError;
pub use limits::MTU_BYTES;
pub use transport::WebTransport;

/// Where sessions are opened.
pub use netloom_transport::websocket::PATH;
