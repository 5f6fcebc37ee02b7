//! Who plays: the players of a room before, during and after a game.
//!
//! # The problem
//!
//! People gather, choose sides and settings, say that they are ready, and the game begins for all of them at once. In
//! the meantime some leave, the one who opened the room among them, others come late, and some misbehave. What each
//! of them sees must agree: a start that gets lost leaves one player waiting for ever, "all are ready" means something
//! else with two of four seats taken, and two players of the same name are an invitation to pretend.
//!
//! # The mechanism
//!
//! A [`Lobby`] is a state machine on the server. Players give it [`LobbyCommand`]s and get refused with a reason or not;
//! it tells them [`LobbyEvent`]s, each to whom it concerns, and the whole [`LobbyState`] whenever that changed, at most once
//! per tick. All of it travels on a reliable, ordered channel, so nothing has to be repeated here.
//!
//! ```text
//!             enough players, all ready            countdown over
//!   ┌────────┐ (or the host says so)  ┌──────────┐                ┌─────────┐
//!   │waiting │ ─────────────────────▶ │countdown │ ─────────────▶ │ playing │   Started { your_id } to each
//!   └────────┘ ◀───────────────────── └──────────┘                └─────────┘
//!        ▲      no longer so                                           │
//!        └──────────────────────── restart ────────────────────────────┘   everybody stays, nobody is ready
//! ```
//!
//! The whole state, and not what changed: it is some kilobytes at most, changes a few times a minute, and a client that
//! has the newest one needs nothing else. During a game only chat, kicks, and who is there still change.
//!
//! Everything that players type is cleaned before anybody else sees it (`text`), and everything they do is
//! counted against a rate.

mod command;
mod config;
mod event;
mod machine;
mod members;
mod refused;
mod state;

pub use crate::names::DuplicateNames;
pub use crate::text::{CHAT_CHARS_MAX, NAME_CHARS_MAX, REASON_CHARS_MAX};
pub use command::{LOBBY_COMMAND_BYTES_MAX, LobbyCommand};
pub use config::{HostRule, LateJoin, LobbyConfig, SettingRule, StartRule};
pub use event::{LOBBY_EVENT_BYTES_MAX, LobbyEvent, Recipient};
pub use machine::{EVENTS_WAITING_MAX, Lobby};
pub use refused::LobbyRefused;
pub use state::{LOBBY_STATE_BYTES_MAX, LobbyState, Member, Phase, Role};

/// Players of one lobby at most: with as many spectators, the state still is a message of some kilobytes.
pub const PLAYERS_MAX: usize = 64;

/// Spectators of one lobby at most.
pub const SPECTATORS_MAX: usize = 64;

/// Teams of one lobby at most.
pub const TEAMS_MAX: usize = 16;

/// Settings of one lobby at most.
pub const SETTINGS_MAX: usize = 32;

/// Bytes of the name of a setting.
pub const SETTING_KEY_BYTES_MAX: usize = 32;

/// Bytes of the value of a setting.
pub const SETTING_VALUE_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests;
