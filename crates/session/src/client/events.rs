//! What a client has to tell.

use std::sync::Arc;

use netloom_proto::{DisconnectReason, RejectReason};
use netloom_wire::{Alias, Tick};

use super::calls::Called;
use crate::game::PlayerId;
use crate::lobby::LobbyEvent;
use crate::message::{CallRefusal, NoticeKind, Refusal, Welcome};
use crate::protocol::Protocol;
use crate::validate::Reason;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// This client has a seat.
    Welcomed {
        /// Who it is.
        player: PlayerId,
        /// In which room.
        room: String,
        /// Whether it sat there before.
        is_resumed: bool,
    },
    /// The connection is lost, and is being taken up again.
    Lost {
        /// How it ended.
        reason: DisconnectReason,
    },
    /// It is over. Nothing follows until the next connect.
    Ended(Ending),
    /// Somebody is in the room: see [`Client::others`](super::Client::others).
    Joined {
        /// Who.
        player: PlayerId,
    },
    /// Somebody is gone.
    Left {
        /// Who.
        player: PlayerId,
        /// Under which name.
        name: String,
    },
    /// An object came into sight, or is told anew with another parent, profile, origin or owner.
    Entered(Alias),
    /// An object is no longer in sight.
    Gone(Alias),
    /// The world that there was at the beginning is here.
    Complete,
    /// The lobby is another one: see [`Client::lobby_state`](super::Client::lobby_state).
    LobbyChanged,
    /// Something happened in the lobby.
    Lobby(LobbyEvent),
    /// The answer to a claim.
    Claimed {
        /// Of which object.
        object: Alias,
        /// Whether it is granted.
        is_granted: bool,
    },
    /// An input of this client had no effect.
    Rejected {
        /// In which step.
        step: Tick,
        /// Why.
        reason: Reason,
        /// Why, in words.
        text: String,
    },
    /// Something to read.
    Notice {
        /// What it is about.
        kind: NoticeKind,
        /// The text.
        text: String,
    },
    /// Somebody says something; `None` is the server.
    Said {
        /// Who.
        player: Option<PlayerId>,
        /// Whether only the team hears it.
        to_team: bool,
        /// What.
        text: String,
    },
    /// The server calls something here, or another player through it.
    Called(Called),
    /// A call of this client was not made.
    CallRefused {
        /// Which: `None` if this side has no name for it.
        name: Option<Arc<str>>,
        /// Why.
        reason: CallRefusal,
        /// Why, in words.
        text: String,
    },
    /// The server has another table of calls, and its list has arrived: from now on this client can call. With the same table
    /// it can from [`Welcomed`](ClientEvent::Welcomed) on, and there is no such event.
    CallsAgreed {
        /// The names of this side that the server does not have.
        missing: Vec<Arc<str>>,
    },
}

impl ClientEvent {
    pub(super) fn welcomed(welcome: &Welcome<'_>) -> ClientEvent {
        ClientEvent::Welcomed {
            player: PlayerId(welcome.player),
            room: welcome.room.to_owned(),
            is_resumed: welcome.is_resumed,
        }
    }
}

/// Why it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The connection ended, or was never made.
    Connection {
        /// How.
        reason: DisconnectReason,
        /// What the server said, if it refused, and its own value of what did not match.
        reject: Option<(RejectReason, u64)>,
    },
    /// The server had no seat.
    Refused {
        /// Why.
        reason: Refusal,
        /// Why, in words.
        text: String,
    },
    /// This client was removed.
    Kicked(String),
    /// The room ended.
    RoomEnded(String),
    /// The server stopped.
    Shutdown(String),
}

impl Ending {
    /// The ending that a notice announces.
    pub(super) fn announced(kind: NoticeKind, text: &str) -> Option<Ending> {
        let text = text.to_owned();
        match kind {
            NoticeKind::Info => None,
            NoticeKind::Kicked | NoticeKind::SlowConsumer => Some(Ending::Kicked(text)),
            NoticeKind::Shutdown => Some(Ending::Shutdown(text)),
            NoticeKind::RoomEnded => Some(Ending::RoomEnded(text)),
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Connection { reject: Some((RejectReason::Schema, theirs)), .. } => {
                let version = Protocol::version_in(*theirs);
                write!(formatter, "{}; the server has version {version} of the game", RejectReason::Schema)
            }
            Ending::Connection { reject: Some((RejectReason::Version, theirs)), .. } => {
                write!(formatter, "{}; the server speaks version {theirs}", RejectReason::Version)
            }
            Ending::Connection { reject: Some((RejectReason::Tables, theirs)), .. } => {
                write!(
                    formatter,
                    "{}; the server has the table with the id {theirs:08x}",
                    RejectReason::Tables
                )
            }
            Ending::Connection { reject: Some((reject, _)), .. } => reject.fmt(formatter),
            Ending::Connection { reason, reject: None } => reason.fmt(formatter),
            Ending::Refused { text, .. } => formatter.write_str(text),
            Ending::Kicked(text) => write!(formatter, "removed by the server: {text}"),
            Ending::RoomEnded(text) => write!(formatter, "the room has ended: {text}"),
            Ending::Shutdown(text) => write!(formatter, "the server stopped: {text}"),
        }
    }
}
