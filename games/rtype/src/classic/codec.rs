//! The bytes of the classic protocol.
//!
//! Every datagram is one message: an opcode, the size of the payload, the payload. Sizes are exact; a receiver that finds a byte too few or
//! too many, a number out of its range or a float that is none, refuses the datagram whole. Nothing here allocates.
//!
//! ```text
//!   ├─ opcode ─┼─ payload size ─┼─ payload ─┼─ token ─┤
//!      u8         u16 LE                       u64, in messages of clients that have one; part of the payload size
//! ```

mod field;
mod to_client;
mod to_server;

pub use field::Field;
pub use netloom::wire::classic::{
    ENTITIES_PER_DATAGRAM_MAX, ENTITY_BYTES, EntityPosition, HEADER_BYTES, Packet, PlayerInput,
    PowerupSpawned, encode_entity_positions,
};
pub use to_client::{
    BossKind, BossSpawned, Challenge, EntityPositions, ErrorCode, ErrorMessage, FromServer, GameInfo,
    GameOver, GamePhase, GameStart, LevelInfo, LobbyPhase, LobbyStatus, PowerType, PowerupStatus,
    SessionGranted, ToClient, WeaponConfirm, WeaponOffer, WeaponType,
};
pub use to_server::{Choice, Join, Request, RequestError, ToServer};

/// What the payload of a datagram is. An opcode means something on this port and nowhere else.
pub mod opcode {
    pub use netloom::wire::classic::opcode::{ENTITY_POSITIONS, JOIN_LOBBY, PLAYER_INPUT, POWERUP_SPAWNED};

    /// Server to client: who is there and who is ready.
    pub const LOBBY_STATUS: u8 = 0x02;
    /// Client to server: wants to begin.
    pub const READY_TO_PLAY: u8 = 0x03;
    /// Server to client: the game runs.
    pub const GAME_START: u8 = 0x04;
    /// Server to client, an extension: prove that you receive what is sent to your address.
    pub const CHALLENGE: u8 = 0x05;
    /// Server to client, an extension: the token of the session.
    pub const SESSION: u8 = 0x06;
    /// Client to server, an extension: goodbye.
    pub const LEAVE: u8 = 0x07;
    /// Server to client: how the recipient's ship is.
    pub const GAME_INFO: u8 = 0x12;
    /// Server to client: the level and its time.
    pub const LEVEL_INFO: u8 = 0x20;
    /// Server to client: a boss is here.
    pub const BOSS_SPAWNED: u8 = 0x21;
    /// Server to client: it is over.
    pub const GAME_OVER: u8 = 0x22;
    /// Client to server: one of the powers that were offered.
    pub const POWERUP_CHOICE: u8 = 0x31;
    /// Server to client: what is offered, and what was taken last.
    pub const POWERUP_STATUS: u8 = 0x32;
    /// Server to client: weapons to choose from.
    pub const WEAPON_UPGRADE_AVAILABLE: u8 = 0x40;
    /// Client to server: one of them.
    pub const WEAPON_UPGRADE_CHOICE: u8 = 0x41;
    /// Server to client: what the ship fires from now on.
    pub const WEAPON_UPGRADE_CONFIRM: u8 = 0x42;
    /// Both ways: returned as it is.
    pub const PING: u8 = 0xfe;
    /// Server to client: what was wrong.
    pub const ERROR: u8 = 0xff;
}

/// The longest datagram of either direction: the most entities that are sent at once.
pub const DATAGRAM_BYTES_MAX: usize = HEADER_BYTES + 4 + ENTITIES_PER_DATAGRAM_MAX * ENTITY_BYTES;

/// The version of the extensions, in the JOIN that asks for a challenge.
pub const VERSION: u8 = 1;

/// Bytes of the cookie that a challenge carries.
pub const COOKIE_BYTES: usize = netloom::proto::crypto::COOKIE_BYTES;

/// What a challenge carries and a JOIN returns.
pub type Cookie = [u8; COOKIE_BYTES];

/// What shows that a message is of who joined: random, told once to the address that was proven.
pub type Token = u64;

/// Bytes of a token.
pub const TOKEN_BYTES: usize = 8;

#[cfg(test)]
mod tests;
