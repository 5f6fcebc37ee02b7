//! What the server says.

use netloom::wire::classic::decode_entity_positions;
use netloom::wire::{ByteReader, ByteSink, ByteWriter, ReadError, WriteError};

use super::field::{Field, code_fields, layout, read_whole};
use super::{COOKIE_BYTES, Cookie, EntityPosition, HEADER_BYTES, Packet, PowerupSpawned, Token, opcode};

netloom::wire::codes! {
    /// What the lobby is doing.
    LobbyPhase {
        /// Waits for players.
        Waiting = 0, "waiting";
        /// About to begin.
        Countdown = 1, "countdown";
        /// In a game.
        Playing = 2, "playing";
    }
}

netloom::wire::codes! {
    /// What the game is doing.
    GamePhase {
        /// Waves of a level.
        Waves = 0, "waves";
        /// A boss is here.
        Boss = 1, "boss";
        /// The level is done.
        Cleared = 2, "cleared";
        /// Nobody is left.
        Lost = 3, "lost";
        /// The last level is done.
        Won = 4, "won";
    }
}

netloom::wire::codes! {
    /// What a capsule gives.
    PowerType {
        /// Nothing.
        None = 0, "none";
        /// Faster.
        Thrusters = 1, "thrusters";
        /// Takes hits.
        Shield = 2, "shield";
        /// A companion that fires, too.
        Drone = 3, "drone";
    }
}

netloom::wire::codes! {
    /// What a ship fires.
    WeaponType {
        /// Nothing.
        None = 0, "none";
        /// Straight ahead.
        Cannon = 1, "cannon";
        /// A fan.
        Spread = 2, "spread";
        /// Through what it hits.
        Lance = 3, "lance";
        /// Turns towards its target.
        Seeker = 4, "seeker";
    }
}

netloom::wire::codes! {
    /// Which boss.
    BossKind {
        /// The first.
        Warden = 1, "warden";
        /// The second.
        Leviathan = 2, "leviathan";
    }
}

netloom::wire::codes! {
    /// What was wrong.
    ErrorCode {
        /// No client says that.
        UnknownOpcode = 1, "no such opcode";
        /// The payload has the wrong size, or a value that cannot be.
        Malformed = 2, "the payload cannot be";
        /// What was asked for does not go: an offer that is not there, a choice that is none of its.
        Refused = 3, "not possible";
        /// The extensions have another version.
        Version = 4, "another version of the extensions";
        /// There is no place. The session is over.
        Full = 5, "no place is left";
        /// The server goes, or has removed this player. The session is over.
        Ended = 6, "the session is over";
        /// Nothing was heard for too long. The session is over.
        Silent = 7, "nothing was heard of you";
    }
}

impl ErrorCode {
    /// Whether there is no session after this.
    pub fn ends_session(self) -> bool {
        matches!(self, ErrorCode::Version | ErrorCode::Full | ErrorCode::Ended | ErrorCode::Silent)
    }
}

code_fields!(LobbyPhase, GamePhase, PowerType, WeaponType, BossKind, ErrorCode);

layout! {
    /// Who is there and who is ready.
    LobbyStatus {
        /// How many have a seat.
        players: u8,
        /// How many of them are ready.
        ready: u8,
        /// How many seats there are.
        capacity: u8,
        /// How many players a game needs.
        minimum: u8,
        /// What the lobby is doing.
        phase: LobbyPhase,
        /// The recipient's id: that of the ship, once there is one.
        your_id: u32,
        /// Whether the recipient is ready.
        your_ready: bool,
    }
    /// The game runs.
    GameStart {
        /// The recipient's id, which is the id of the ship.
        your_id: u32,
    }
    /// How the recipient's ship is, and the game.
    GameInfo {
        /// Points.
        score: u32,
        /// Ships left.
        lives: u8,
        /// The level, from 1 on.
        level: u8,
        /// The wave, from 1 on.
        wave: u8,
        /// What the game is doing.
        phase: GamePhase,
        /// Hits that the shield takes.
        shield: u8,
        /// How fast beyond the slowest, 0 to 3.
        thrusters: u8,
        /// Whether there is a companion.
        drone: bool,
        /// What it fires.
        weapon: WeaponType,
        /// How strong that is, 1 to 3.
        weapon_level: u8,
        /// Shots left.
        ammo: u8,
    }
    /// The level and its time.
    LevelInfo {
        /// The level, from 1 on.
        level: u8,
        /// How long it has been going on.
        elapsed_ms: u32,
    }
    /// A boss is here.
    BossSpawned {
        /// Its entity.
        id: u32,
        /// Which.
        kind: BossKind,
    }
    /// It is over.
    GameOver {
        /// Whether it is won.
        won: bool,
        /// Points of all ships.
        score: u32,
        /// The level that it ended in.
        level: u8,
    }
    /// What is offered, and what was taken last.
    PowerupStatus {
        /// The open offer; 0 if there is none.
        offer: u16,
        /// Its choices.
        choices: [PowerType; 3],
        /// What was taken last.
        taken: PowerType,
        /// What the ship has of it now.
        level: u8,
    }
    /// Weapons to choose from.
    WeaponOffer {
        /// Which offer.
        offer: u16,
        /// Its choices.
        choices: [WeaponType; 3],
    }
    /// What the ship fires from now on.
    WeaponConfirm {
        /// The offer that this comes from.
        offer: u16,
        /// What it fires.
        weapon: WeaponType,
        /// How strong that is.
        level: u8,
    }
    /// Prove that you receive what is sent to your address.
    Challenge {
        /// To be returned in a JOIN.
        cookie: [u8; COOKIE_BYTES],
    }
    /// A session began.
    SessionGranted {
        /// To be behind every message from now on.
        token: u64,
    }
    /// What was wrong.
    ErrorMessage {
        /// What.
        code: ErrorCode,
        /// With what.
        opcode: u8,
    }
}

/// What the server says, except where everything is: that is [`encode_entity_positions`](super::encode_entity_positions).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToClient {
    /// Who is there.
    LobbyStatus(LobbyStatus),
    /// The game runs.
    GameStart(GameStart),
    /// A cookie, or none: whoever sent the bare JOIN has to ask in the longer form.
    Challenge(Option<Cookie>),
    /// The session began; this is its token.
    Session(Token),
    /// How the ship is.
    GameInfo(GameInfo),
    /// The level.
    LevelInfo(LevelInfo),
    /// A boss.
    BossSpawned(BossSpawned),
    /// The end.
    GameOver(GameOver),
    /// A capsule.
    PowerupSpawned(PowerupSpawned),
    /// Offered and taken powers.
    PowerupStatus(PowerupStatus),
    /// Offered weapons.
    WeaponOffer(WeaponOffer),
    /// The weapon.
    WeaponConfirm(WeaponConfirm),
    /// What was sent to be returned.
    Ping(Option<u32>),
    /// What was wrong.
    Error(ErrorMessage),
}

impl ToClient {
    /// The bytes of the longest datagram.
    pub const BYTES_MAX: usize = HEADER_BYTES + COOKIE_BYTES;

    /// Its opcode.
    pub fn opcode(&self) -> u8 {
        match self {
            ToClient::LobbyStatus(_) => opcode::LOBBY_STATUS,
            ToClient::GameStart(_) => opcode::GAME_START,
            ToClient::Challenge(_) => opcode::CHALLENGE,
            ToClient::Session(_) => opcode::SESSION,
            ToClient::GameInfo(_) => opcode::GAME_INFO,
            ToClient::LevelInfo(_) => opcode::LEVEL_INFO,
            ToClient::BossSpawned(_) => opcode::BOSS_SPAWNED,
            ToClient::GameOver(_) => opcode::GAME_OVER,
            ToClient::PowerupSpawned(_) => opcode::POWERUP_SPAWNED,
            ToClient::PowerupStatus(_) => opcode::POWERUP_STATUS,
            ToClient::WeaponOffer(_) => opcode::WEAPON_UPGRADE_AVAILABLE,
            ToClient::WeaponConfirm(_) => opcode::WEAPON_UPGRADE_CONFIRM,
            ToClient::Ping(_) => opcode::PING,
            ToClient::Error(_) => opcode::ERROR,
        }
    }

    /// Writes the datagram at the start of `out` and returns its length.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        let opcode = self.opcode();
        match self {
            ToClient::LobbyStatus(status) => encode(opcode, status, out),
            ToClient::GameStart(start) => encode(opcode, start, out),
            ToClient::Challenge(Some(cookie)) => encode(opcode, &Challenge { cookie: *cookie }, out),
            ToClient::Challenge(None) | ToClient::Ping(None) => Packet { opcode, payload: &[] }.encode(out),
            ToClient::Session(token) => encode(opcode, &SessionGranted { token: *token }, out),
            ToClient::GameInfo(info) => encode(opcode, info, out),
            ToClient::LevelInfo(info) => encode(opcode, info, out),
            ToClient::BossSpawned(boss) => encode(opcode, boss, out),
            ToClient::GameOver(over) => encode(opcode, over, out),
            ToClient::PowerupSpawned(capsule) => capsule.encode(out),
            ToClient::PowerupStatus(status) => encode(opcode, status, out),
            ToClient::WeaponOffer(offer) => encode(opcode, offer, out),
            ToClient::WeaponConfirm(confirm) => encode(opcode, confirm, out),
            ToClient::Ping(Some(nonce)) => encode(opcode, nonce, out),
            ToClient::Error(error) => encode(opcode, error, out),
        }
    }

    fn read(opcode: u8, payload: &[u8]) -> Result<ToClient, ReadError> {
        Ok(match opcode {
            opcode::LOBBY_STATUS => ToClient::LobbyStatus(read_whole(payload)?),
            opcode::GAME_START => ToClient::GameStart(read_whole(payload)?),
            opcode::CHALLENGE if payload.is_empty() => ToClient::Challenge(None),
            opcode::CHALLENGE => ToClient::Challenge(Some(read_whole::<Challenge>(payload)?.cookie)),
            opcode::SESSION => ToClient::Session(read_whole::<SessionGranted>(payload)?.token),
            opcode::GAME_INFO => ToClient::GameInfo(read_whole(payload)?),
            opcode::LEVEL_INFO => ToClient::LevelInfo(read_whole(payload)?),
            opcode::BOSS_SPAWNED => ToClient::BossSpawned(read_whole(payload)?),
            opcode::GAME_OVER => ToClient::GameOver(read_whole(payload)?),
            opcode::POWERUP_SPAWNED => ToClient::PowerupSpawned(PowerupSpawned::decode(payload)?),
            opcode::POWERUP_STATUS => ToClient::PowerupStatus(read_whole(payload)?),
            opcode::WEAPON_UPGRADE_AVAILABLE => ToClient::WeaponOffer(read_whole(payload)?),
            opcode::WEAPON_UPGRADE_CONFIRM => ToClient::WeaponConfirm(read_whole(payload)?),
            opcode::PING if payload.is_empty() => ToClient::Ping(None),
            opcode::PING => ToClient::Ping(Some(read_whole(payload)?)),
            opcode::ERROR => ToClient::Error(read_whole(payload)?),
            _ => return Err(ReadError::OutOfRange),
        })
    }
}

fn encode<F: Field>(opcode: u8, payload: &F, out: &mut [u8]) -> Result<usize, WriteError> {
    let mut writer = ByteWriter::new(out);
    writer.write_u8(opcode);
    writer.write_u16(F::BYTES as u16);
    payload.write(&mut writer);
    writer.finish()
}

/// Where everything is, checked to the last float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityPositions<'a>(&'a [u8]);

impl<'a> EntityPositions<'a> {
    fn read(payload: &'a [u8]) -> Result<EntityPositions<'a>, ReadError> {
        decode_entity_positions(payload)?.try_for_each(|entity| entity.map(drop))?;
        Ok(EntityPositions(payload))
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = EntityPosition> + 'a {
        decode_entity_positions(self.0).into_iter().flatten().flatten()
    }
}

/// A datagram of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FromServer<'a> {
    /// Everything but the next.
    Message(ToClient),
    /// Where everything is.
    Entities(EntityPositions<'a>),
}

impl<'a> FromServer<'a> {
    /// Takes a datagram apart. An opcode that no server says is [`ReadError::OutOfRange`].
    pub fn decode(datagram: &'a [u8]) -> Result<FromServer<'a>, ReadError> {
        let Packet { opcode, payload } = Packet::decode(datagram)?;
        Ok(match opcode {
            opcode::ENTITY_POSITIONS => FromServer::Entities(EntityPositions::read(payload)?),
            opcode => FromServer::Message(ToClient::read(opcode, payload)?),
        })
    }
}
