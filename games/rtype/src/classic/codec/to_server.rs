//! What clients say.

use netloom::wire::{ByteReader, ByteSink, ByteWriter, ReadError, WriteError};

use super::field::{Field, layout, read_whole};
use super::{COOKIE_BYTES, Cookie, HEADER_BYTES, Packet, PlayerInput, TOKEN_BYTES, Token, opcode};

layout! {
    /// One of what was offered.
    Choice {
        /// Which offer.
        offer: u16,
        /// Which of its choices, from 0 on.
        choice: u8,
    }
    /// The payload of a JOIN that can be answered with a challenge: as long as the answer, so that nobody gains by asking in somebody
    /// else's name.
    Join {
        /// Of these extensions: [`VERSION`](super::VERSION).
        version: u8,
        /// What the challenge said; zeros before there was one.
        cookie: [u8; COOKIE_BYTES],
    }
}

impl Join {
    /// The one that asks for a challenge.
    pub const FIRST: Join = Join { version: super::VERSION, cookie: [0; COOKIE_BYTES] };

    /// The answer to a challenge.
    pub const fn with(cookie: Cookie) -> Join {
        Join { version: super::VERSION, cookie }
    }
}

/// What a client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToServer {
    /// Wants a place; `None` is the bare three bytes.
    Join(Option<Join>),
    /// Wants to begin.
    Ready,
    /// Goes.
    Leave,
    /// The buttons held.
    Input(PlayerInput),
    /// One of the powers that were offered.
    ChoosePower(Choice),
    /// One of the weapons that were offered.
    ChooseWeapon(Choice),
    /// To be returned; with a number or without.
    Ping(Option<u32>),
}

/// A message of a client, and the token behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it says.
    pub message: ToServer,
    /// What shows whose it is. A JOIN has none: it has a cookie.
    pub token: Option<Token>,
}

/// Why a datagram is no message of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Its size is not the one that it says.
    #[error("the datagram is not as long as its header says: {0}")]
    Header(ReadError),
    /// No client says that.
    #[error("opcode {0:#04x} means nothing from a client")]
    UnknownOpcode(u8),
    /// The payload has a size that the opcode never has.
    #[error("opcode {opcode:#04x} never has a payload of {bytes} bytes")]
    Size {
        /// What it was to be.
        opcode: u8,
        /// How long the payload is.
        bytes: usize,
    },
    /// The payload has the right size and cannot be.
    #[error("the payload of opcode {opcode:#04x} cannot be: {error}")]
    Payload {
        /// What it was to be.
        opcode: u8,
        /// What is wrong.
        error: ReadError,
    },
}

impl RequestError {
    /// What the datagram was to be, if it said so.
    pub fn opcode(&self) -> Option<u8> {
        match *self {
            RequestError::Header(_) => None,
            RequestError::UnknownOpcode(opcode)
            | RequestError::Size { opcode, .. }
            | RequestError::Payload { opcode, .. } => Some(opcode),
        }
    }
}

/// Bytes of a PING's number.
const NONCE_BYTES: usize = u32::BYTES;

/// The sizes that a payload can have without a token. No two of an opcode differ by the size of a token, so that a size says whether one is
/// there.
fn body_sizes(opcode: u8) -> Option<&'static [usize]> {
    Some(match opcode {
        opcode::JOIN_LOBBY => &[0, Join::BYTES],
        opcode::READY_TO_PLAY | opcode::LEAVE => &[0],
        opcode::PLAYER_INPUT => &[1],
        opcode::POWERUP_CHOICE | opcode::WEAPON_UPGRADE_CHOICE => &[Choice::BYTES],
        opcode::PING => &[0, NONCE_BYTES],
        _ => return None,
    })
}

impl Request {
    /// Takes a datagram apart: header, opcode, size, content, in this order; the first that is wrong is told.
    pub fn decode(datagram: &[u8]) -> Result<Request, RequestError> {
        let Packet { opcode, payload } = Packet::decode(datagram).map_err(RequestError::Header)?;
        let sizes = body_sizes(opcode).ok_or(RequestError::UnknownOpcode(opcode))?;
        let (body, token) =
            split(opcode, sizes, payload).ok_or(RequestError::Size { opcode, bytes: payload.len() })?;
        let message =
            ToServer::read(opcode, body).map_err(|error| RequestError::Payload { opcode, error })?;
        Ok(Request { message, token })
    }

    /// Writes the datagram at the start of `out` and returns its length.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, WriteError> {
        let mut writer = ByteWriter::new(out);
        let body = body_bytes(&self.message);
        let token_bytes = if self.token.is_some() { TOKEN_BYTES } else { 0 };
        writer.write_u8(self.message.opcode());
        writer.write_u16((body + token_bytes) as u16);
        self.message.write(&mut writer);
        if let Some(token) = self.token {
            token.write(&mut writer);
        }
        writer.finish()
    }
}

/// Body and token of a payload of one of these sizes, with a token behind it or without; a JOIN never has one.
fn split<'a>(opcode: u8, sizes: &[usize], payload: &'a [u8]) -> Option<(&'a [u8], Option<Token>)> {
    if sizes.contains(&payload.len()) {
        return Some((payload, None));
    }
    let body_bytes = payload.len().checked_sub(TOKEN_BYTES)?;
    if opcode == opcode::JOIN_LOBBY || !sizes.contains(&body_bytes) {
        return None;
    }
    let (body, token) = payload.split_at_checked(body_bytes)?;
    Some((body, Some(Token::from_le_bytes(token.try_into().ok()?))))
}

fn body_bytes(message: &ToServer) -> usize {
    match message {
        ToServer::Join(None) | ToServer::Ready | ToServer::Leave | ToServer::Ping(None) => 0,
        ToServer::Join(Some(_)) => Join::BYTES,
        ToServer::Input(_) => 1,
        ToServer::ChoosePower(_) | ToServer::ChooseWeapon(_) => Choice::BYTES,
        ToServer::Ping(Some(_)) => NONCE_BYTES,
    }
}

impl ToServer {
    /// The bytes of the longest datagram.
    pub const BYTES_MAX: usize = HEADER_BYTES + Join::BYTES;

    /// Its opcode.
    pub fn opcode(&self) -> u8 {
        match self {
            ToServer::Join(_) => opcode::JOIN_LOBBY,
            ToServer::Ready => opcode::READY_TO_PLAY,
            ToServer::Leave => opcode::LEAVE,
            ToServer::Input(_) => opcode::PLAYER_INPUT,
            ToServer::ChoosePower(_) => opcode::POWERUP_CHOICE,
            ToServer::ChooseWeapon(_) => opcode::WEAPON_UPGRADE_CHOICE,
            ToServer::Ping(_) => opcode::PING,
        }
    }

    /// The same with a token, or with none.
    pub fn signed(self, token: Option<Token>) -> Request {
        let token = if matches!(self, ToServer::Join(_)) { None } else { token };
        Request { message: self, token }
    }

    fn read(opcode: u8, body: &[u8]) -> Result<ToServer, ReadError> {
        Ok(match opcode {
            opcode::JOIN_LOBBY if body.is_empty() => ToServer::Join(None),
            opcode::JOIN_LOBBY => ToServer::Join(Some(read_whole(body)?)),
            opcode::READY_TO_PLAY => ToServer::Ready,
            opcode::LEAVE => ToServer::Leave,
            opcode::PLAYER_INPUT => ToServer::Input(PlayerInput::decode(body)?),
            opcode::POWERUP_CHOICE => ToServer::ChoosePower(read_whole(body)?),
            opcode::WEAPON_UPGRADE_CHOICE => ToServer::ChooseWeapon(read_whole(body)?),
            _ if body.is_empty() => ToServer::Ping(None),
            _ => ToServer::Ping(Some(read_whole(body)?)),
        })
    }

    fn write(&self, writer: &mut ByteWriter<'_>) {
        match self {
            ToServer::Join(None) | ToServer::Ready | ToServer::Leave | ToServer::Ping(None) => {}
            ToServer::Join(Some(join)) => join.write(writer),
            ToServer::Input(input) => writer.write_u8(input.bits()),
            ToServer::ChoosePower(choice) | ToServer::ChooseWeapon(choice) => choice.write(writer),
            ToServer::Ping(Some(nonce)) => nonce.write(writer),
        }
    }
}
