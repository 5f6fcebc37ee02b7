//! The messages of a session: the first byte says what it is.
//!
//! ```text
//!   client ──▶ server                               server ──▶ client
//!    1 Hello      who I am, which room               64 Welcome    your seat, the room's clock
//!    2 Input      what the player does               65 Refused    no seat, and why
//!    3 Unread     a snapshot that I could not read   66 Snapshot   the world
//!    4 Mismatch   64 slots that I hold otherwise     67 Property   a value of which every one counts
//!    5 Call       a remote call                      68 Joined     somebody is here
//!    6 Lobby      a wish in the lobby                69 Left       somebody is gone
//!    7 Claim      may I have this object?            70 Call       a remote call
//!    8 Write      a field that I may write           71 CallRefused  why a call of yours was not made
//!    9 Viewing    how far behind my view is          72 Lobby      the lobby, or something that happened there
//!   10 Chat       to the room or the team            73 Claimed    the answer to a claim
//!                                                    74 Rejected   an input of yours was refused, and why
//!                                                    75 Names      the server's calls
//!                                                    76 Notice     why you are about to be disconnected, and other news
//!                                                    77 Chat       somebody says something
//!                                                    78 Packed     a snapshot made smaller
//! ```
//!
//! A message that does not decode to its last byte ends nothing: it is counted and dropped, and who sends many such is
//! disconnected. Text is UTF-8 of bounded length.

mod codes;
#[cfg(test)]
mod tests;
mod to_client;
mod to_server;

use netloom_wire::{Alias, ByteReader, ByteSink, MessageBuffer, ReadError};

pub use codes::{CallRefusal, LobbyNews, NoticeKind, Refusal};
pub use to_client::{ToClient, Welcome};
pub use to_server::{Hello, ToServer};

/// The longest message of control, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 32 << 10;
/// The longest name of a player, in bytes.
pub const PLAYER_NAME_BYTES_MAX: usize = 64;
/// The longest name of a room, in bytes.
pub const ROOM_NAME_BYTES_MAX: usize = 64;
/// The longest ticket that a client shows to be let in, in bytes.
pub const TICKET_BYTES_MAX: usize = 1_024;
/// The longest text that says why, in bytes.
pub const REASON_BYTES_MAX: usize = 256;
/// The longest line of chat, in bytes.
pub const CHAT_BYTES_MAX: usize = 2_000;

/// The first byte.
pub(crate) mod kind {
    pub const HELLO: u8 = 1;
    pub const INPUT: u8 = 2;
    pub const UNREAD: u8 = 3;
    pub const MISMATCH: u8 = 4;
    pub const CALL: u8 = 5;
    pub const LOBBY: u8 = 6;
    pub const CLAIM: u8 = 7;
    pub const WRITE: u8 = 8;
    pub const VIEWING: u8 = 9;
    pub const CHAT: u8 = 10;
    pub const WELCOME: u8 = 64;
    pub const REFUSED: u8 = 65;
    pub const SNAPSHOT: u8 = 66;
    pub const PROPERTY: u8 = 67;
    pub const JOINED: u8 = 68;
    pub const LEFT: u8 = 69;
    pub const CALLED: u8 = 70;
    pub const CALL_REFUSED: u8 = 71;
    pub const LOBBY_NEWS: u8 = 72;
    pub const CLAIMED: u8 = 73;
    pub const REJECTED: u8 = 74;
    pub const NAMES: u8 = 75;
    pub const NOTICE: u8 = 76;
    pub const SAID: u8 = 77;
    pub const PACKED: u8 = 78;
}

/// The kinds of messages that went wrong on the wire, for whoever counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There is no such message.
    #[error("a message has the unknown kind {0}")]
    UnknownKind(u8),
    /// It does not decode.
    #[error("a message does not decode: {0}")]
    Malformed(#[from] ReadError),
}

fn prefixed(out: &mut MessageBuffer, kind: u8, content: &[u8]) {
    out.write_u8(kind);
    out.write_bytes(content);
}

fn write_alias(out: &mut MessageBuffer, alias: Alias) {
    out.write_u16(alias.slot);
    out.write_u8(alias.generation);
}

fn read_alias(reader: &mut ByteReader<'_>) -> Result<Alias, ReadError> {
    Ok(Alias { slot: reader.read_u16()?, generation: reader.read_u8()? })
}

fn read_code<T>(reader: &mut ByteReader<'_>, code: fn(u8) -> Option<T>) -> Result<T, ReadError> {
    code(reader.read_u8()?).ok_or(ReadError::OutOfRange)
}
