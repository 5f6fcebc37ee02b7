//! The connection: parsers first, then endpoints that are thrown datagrams, then two of them over a hostile network.

mod datagram;
mod frames;
mod handshake;
mod header;
mod pair;
mod rig;
mod session;

pub use datagram::endpoint_datagram;
pub use frames::proto_frames;
pub use handshake::proto_handshake;
pub use header::proto_header;
pub use pair::connection_pair;
pub use session::endpoint_session;

pub(crate) use rig::{PROTOCOL_ID, Rig, Side, checksum, config};
