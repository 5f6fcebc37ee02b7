//! Sessions: what players may say to a server beside playing.

mod lobby;

pub use lobby::session_lobby;
