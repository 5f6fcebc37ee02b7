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
//! ```
//!
//! A message that does not decode to its last byte ends nothing: it is counted and dropped, and who sends many such is
//! disconnected. Text is UTF-8 of bounded length.

use netloom_wire::{Alias, ByteReader, ByteSink, MessageBuffer, ReadError, Tick};

use crate::validate::RejectedMessage;

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
}

/// A message that a server takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToServer<'a> {
    /// The first message of every connection.
    Hello(Hello<'a>),
    /// What the player does: see `netloom_replica::input`.
    Input(&'a [u8]),
    /// The snapshot of this tick (low 16 bits count) could not be read to its end.
    Unread(Tick),
    /// What rests in these 64 slots is something else here.
    Mismatch(u16),
    /// A remote call.
    Call(&'a [u8]),
    /// A wish in the lobby.
    Lobby(&'a [u8]),
    /// May I have this object (or give it back)?
    Claim {
        /// Which.
        object: Alias,
        /// To have it, or to give it back.
        is_wanted: bool,
    },
    /// A field that this client may write.
    Write {
        /// Of which object.
        object: Alias,
        /// The index of the field.
        field: u8,
        /// The value as a property block has it.
        value: &'a [u8],
    },
    /// How far behind the view of this client is, in milliseconds.
    Viewing(u16),
    /// Something to say.
    Chat {
        /// To the own team only.
        to_team: bool,
        /// What.
        text: &'a str,
    },
}

/// Who somebody is, and where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The name to be known by.
    pub name: &'a str,
    /// The room, by name or code; empty for the server's choice.
    pub room: &'a str,
    /// To watch only.
    pub is_spectator: bool,
    /// The hash of the client's table of calls.
    pub calls_hash: u64,
    /// What the game asks for to let somebody in.
    pub ticket: &'a [u8],
}

/// A message that a client takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ToClient<'a> {
    /// A seat.
    Welcome(Welcome<'a>),
    /// No seat.
    Refused {
        /// Why, for programs.
        reason: Refusal,
        /// Why, for people.
        text: &'a str,
    },
    /// The world: see `netloom_replica::snapshot`.
    Snapshot(&'a [u8]),
    /// A value of which every one counts.
    Property(&'a [u8]),
    /// Somebody is here.
    Joined {
        /// Who.
        player: u32,
        /// Whether they only watch.
        is_spectator: bool,
        /// Their name.
        name: &'a str,
    },
    /// Somebody is gone.
    Left {
        /// Who.
        player: u32,
    },
    /// A remote call.
    Call(&'a [u8]),
    /// A call of this client was not made.
    CallRefused {
        /// Which, as the server numbers them.
        id: u16,
        /// Why.
        reason: u8,
    },
    /// News of the lobby: see `netloom_session::lobby`.
    Lobby(LobbyNews, &'a [u8]),
    /// The answer to a claim.
    Claimed {
        /// Of which object.
        object: Alias,
        /// Whether it is granted.
        is_granted: bool,
    },
    /// An input was refused.
    Rejected(RejectedMessage<'a>),
    /// The server's calls, by hash of their names.
    Names(&'a [u8]),
    /// Something that people should read.
    Notice {
        /// What it is about.
        kind: NoticeKind,
        /// The text.
        text: &'a str,
    },
    /// Somebody says something.
    Said {
        /// Who; 0 is the server.
        player: u32,
        /// To the team only.
        to_team: bool,
        /// What.
        text: &'a str,
    },
}

/// The seat of a player, and the clock of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome<'a> {
    /// Who this client is.
    pub player: u32,
    /// Whether the seat is one that was left: the game goes on.
    pub is_resumed: bool,
    /// Whether the tables of calls are the same.
    pub has_same_calls: bool,
    /// Whether this client only watches.
    pub is_spectator: bool,
    /// The newest tick of snapshots.
    pub tick: Tick,
    /// The newest step of the simulation.
    pub step: Tick,
    /// Steps a second.
    pub steps_per_second: u16,
    /// Snapshots a second.
    pub sends_per_second: u16,
    /// Objects in the room, for showing progress.
    pub objects: u32,
    /// The room.
    pub room: &'a str,
}

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The code on the wire.
            pub const fn code(self) -> u8 {
                match self { $($name::$variant => $code,)* }
            }

            /// What a code means; `None` for codes of a later version.
            pub const fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant,)*];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self { $($name::$variant => $text,)* })
            }
        }
    };
}

codes! {
    /// Why a client got no seat.
    Refusal {
        /// Every seat is taken.
        RoomFull = 1, "the room is full: try again later or choose another one";
        /// There is no such room.
        NoSuchRoom = 2, "there is no room of that name on this server";
        /// The name is taken.
        NameTaken = 3, "somebody in the room has that name: choose another one";
        /// The name cannot be used.
        BadName = 4, "that name cannot be used: 1 to 32 visible characters";
        /// The game said no.
        Denied = 5, "the game refused this player";
        /// This address or player is banned.
        Banned = 6, "this player is banned from the server";
        /// The room has ended.
        RoomClosed = 7, "the room has ended";
        /// The first message was no greeting, or came too late.
        BadHello = 8, "the greeting could not be understood";
    }
}

codes! {
    /// What is told of a lobby.
    LobbyNews {
        /// Everything about it.
        State = 0, "the state";
        /// Something that happened once.
        Event = 1, "an event";
    }
}

codes! {
    /// What a notice is about.
    NoticeKind {
        /// Something to read.
        Info = 1, "notice";
        /// This client is about to be removed.
        Kicked = 2, "kicked";
        /// The server is about to stop.
        Shutdown = 3, "the server is stopping";
        /// The room ended.
        RoomEnded = 4, "the room has ended";
        /// The connection cannot keep up.
        SlowConsumer = 5, "the connection could not keep up";
    }
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

impl<'a> ToServer<'a> {
    /// Reads a message.
    pub fn read(bytes: &'a [u8]) -> Result<ToServer<'a>, MessageError> {
        let mut reader = ByteReader::new(bytes);
        let message = match reader.read_u8()? {
            kind::HELLO => ToServer::Hello(Hello {
                name: reader.read_str(PLAYER_NAME_BYTES_MAX)?,
                room: reader.read_str(ROOM_NAME_BYTES_MAX)?,
                is_spectator: reader.read_bool()?,
                calls_hash: reader.read_u64()?,
                ticket: reader.read_blob(TICKET_BYTES_MAX)?,
            }),
            kind::INPUT => return Ok(ToServer::Input(reader.rest())),
            kind::UNREAD => ToServer::Unread(Tick(reader.read_u16()?.into())),
            kind::MISMATCH => ToServer::Mismatch(reader.read_u16()?),
            kind::CALL => return Ok(ToServer::Call(reader.rest())),
            kind::LOBBY => return Ok(ToServer::Lobby(reader.rest())),
            kind::CLAIM => {
                ToServer::Claim { object: read_alias(&mut reader)?, is_wanted: reader.read_bool()? }
            }
            kind::WRITE => {
                let (object, field) = (read_alias(&mut reader)?, reader.read_u8()?);
                return Ok(ToServer::Write { object, field, value: reader.rest() });
            }
            kind::VIEWING => ToServer::Viewing(reader.read_u16()?),
            kind::CHAT => {
                ToServer::Chat { to_team: reader.read_bool()?, text: reader.read_str(CHAT_BYTES_MAX)? }
            }
            unknown => return Err(MessageError::UnknownKind(unknown)),
        };
        reader.finish()?;
        Ok(message)
    }

    /// Writes it; the buffer is cleared first.
    pub fn write<'b>(&self, out: &'b mut MessageBuffer) -> &'b [u8] {
        out.clear();
        match *self {
            ToServer::Hello(hello) => {
                out.write_u8(kind::HELLO);
                out.write_str(hello.name, PLAYER_NAME_BYTES_MAX);
                out.write_str(hello.room, ROOM_NAME_BYTES_MAX);
                out.write_bool(hello.is_spectator);
                out.write_u64(hello.calls_hash);
                out.write_blob(hello.ticket, TICKET_BYTES_MAX);
            }
            ToServer::Input(inputs) => prefixed(out, kind::INPUT, inputs),
            ToServer::Unread(tick) => {
                out.write_u8(kind::UNREAD);
                out.write_u16(tick.0 as u16);
            }
            ToServer::Mismatch(region) => {
                out.write_u8(kind::MISMATCH);
                out.write_u16(region);
            }
            ToServer::Call(frame) => prefixed(out, kind::CALL, frame),
            ToServer::Lobby(command) => prefixed(out, kind::LOBBY, command),
            ToServer::Claim { object, is_wanted } => {
                out.write_u8(kind::CLAIM);
                write_alias(out, object);
                out.write_bool(is_wanted);
            }
            ToServer::Write { object, field, value } => {
                out.write_u8(kind::WRITE);
                write_alias(out, object);
                out.write_u8(field);
                out.write_bytes(value);
            }
            ToServer::Viewing(ms) => {
                out.write_u8(kind::VIEWING);
                out.write_u16(ms);
            }
            ToServer::Chat { to_team, text } => {
                out.write_u8(kind::CHAT);
                out.write_bool(to_team);
                out.write_str(text, CHAT_BYTES_MAX);
            }
        }
        out.as_bytes()
    }
}

impl<'a> ToClient<'a> {
    /// Reads a message.
    pub fn read(bytes: &'a [u8]) -> Result<ToClient<'a>, MessageError> {
        let mut reader = ByteReader::new(bytes);
        let message = match reader.read_u8()? {
            kind::WELCOME => ToClient::Welcome(read_welcome(&mut reader)?),
            kind::REFUSED => ToClient::Refused {
                reason: read_code(&mut reader, Refusal::from_code)?,
                text: reader.read_str(REASON_BYTES_MAX)?,
            },
            kind::SNAPSHOT => return Ok(ToClient::Snapshot(reader.rest())),
            kind::PROPERTY => return Ok(ToClient::Property(reader.rest())),
            kind::JOINED => ToClient::Joined {
                player: reader.read_u32()?,
                is_spectator: reader.read_bool()?,
                name: reader.read_str(PLAYER_NAME_BYTES_MAX)?,
            },
            kind::LEFT => ToClient::Left { player: reader.read_u32()? },
            kind::CALLED => return Ok(ToClient::Call(reader.rest())),
            kind::CALL_REFUSED => ToClient::CallRefused { id: reader.read_u16()?, reason: reader.read_u8()? },
            kind::LOBBY_NEWS => {
                let news = read_code(&mut reader, LobbyNews::from_code)?;
                return Ok(ToClient::Lobby(news, reader.rest()));
            }
            kind::CLAIMED => {
                ToClient::Claimed { object: read_alias(&mut reader)?, is_granted: reader.read_bool()? }
            }
            kind::REJECTED => return Ok(ToClient::Rejected(RejectedMessage::read(reader.rest())?)),
            kind::NAMES => return Ok(ToClient::Names(reader.rest())),
            kind::NOTICE => ToClient::Notice {
                kind: read_code(&mut reader, NoticeKind::from_code)?,
                text: reader.read_str(REASON_BYTES_MAX)?,
            },
            kind::SAID => ToClient::Said {
                player: reader.read_u32()?,
                to_team: reader.read_bool()?,
                text: reader.read_str(CHAT_BYTES_MAX)?,
            },
            unknown => return Err(MessageError::UnknownKind(unknown)),
        };
        reader.finish()?;
        Ok(message)
    }

    /// Writes it; the buffer is cleared first.
    pub fn write<'b>(&self, out: &'b mut MessageBuffer) -> &'b [u8] {
        out.clear();
        match *self {
            ToClient::Welcome(ref welcome) => write_welcome(out, welcome),
            ToClient::Refused { reason, text } => {
                out.write_u8(kind::REFUSED);
                out.write_u8(reason.code());
                out.write_str(text, REASON_BYTES_MAX);
            }
            ToClient::Snapshot(snapshot) => prefixed(out, kind::SNAPSHOT, snapshot),
            ToClient::Property(property) => prefixed(out, kind::PROPERTY, property),
            ToClient::Joined { player, is_spectator, name } => {
                out.write_u8(kind::JOINED);
                out.write_u32(player);
                out.write_bool(is_spectator);
                out.write_str(name, PLAYER_NAME_BYTES_MAX);
            }
            ToClient::Left { player } => {
                out.write_u8(kind::LEFT);
                out.write_u32(player);
            }
            ToClient::Call(frame) => prefixed(out, kind::CALLED, frame),
            ToClient::CallRefused { id, reason } => {
                out.write_u8(kind::CALL_REFUSED);
                out.write_u16(id);
                out.write_u8(reason);
            }
            ToClient::Lobby(news, content) => {
                out.write_u8(kind::LOBBY_NEWS);
                out.write_u8(news.code());
                out.write_bytes(content);
            }
            ToClient::Claimed { object, is_granted } => {
                out.write_u8(kind::CLAIMED);
                write_alias(out, object);
                out.write_bool(is_granted);
            }
            ToClient::Rejected(message) => {
                out.write_u8(kind::REJECTED);
                message.write(out);
            }
            ToClient::Names(names) => prefixed(out, kind::NAMES, names),
            ToClient::Notice { kind, text } => {
                out.write_u8(kind::NOTICE);
                out.write_u8(kind.code());
                out.write_str(text, REASON_BYTES_MAX);
            }
            ToClient::Said { player, to_team, text } => {
                out.write_u8(kind::SAID);
                out.write_u32(player);
                out.write_bool(to_team);
                out.write_str(text, CHAT_BYTES_MAX);
            }
        }
        out.as_bytes()
    }
}

mod flag {
    pub const RESUMED: u8 = 1;
    pub const SAME_CALLS: u8 = 2;
    pub const SPECTATOR: u8 = 4;
    pub const ALL: u8 = 7;
}

fn write_welcome(out: &mut MessageBuffer, welcome: &Welcome<'_>) {
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    out.write_u8(kind::WELCOME);
    out.write_u8(
        bit(welcome.is_resumed, flag::RESUMED)
            | bit(welcome.has_same_calls, flag::SAME_CALLS)
            | bit(welcome.is_spectator, flag::SPECTATOR),
    );
    out.write_u32(welcome.player);
    out.write_u32(welcome.tick.0);
    out.write_u32(welcome.step.0);
    out.write_u16(welcome.steps_per_second);
    out.write_u16(welcome.sends_per_second);
    out.write_u32(welcome.objects);
    out.write_str(welcome.room, ROOM_NAME_BYTES_MAX);
}

fn read_welcome<'a>(reader: &mut ByteReader<'a>) -> Result<Welcome<'a>, ReadError> {
    let flags = reader.read_u8()?;
    if flags & !flag::ALL != 0 {
        return Err(ReadError::ReservedBits);
    }
    Ok(Welcome {
        is_resumed: flags & flag::RESUMED != 0,
        has_same_calls: flags & flag::SAME_CALLS != 0,
        is_spectator: flags & flag::SPECTATOR != 0,
        player: reader.read_u32()?,
        tick: Tick(reader.read_u32()?),
        step: Tick(reader.read_u32()?),
        steps_per_second: reader.read_u16()?,
        sends_per_second: reader.read_u16()?,
        objects: reader.read_u32()?,
        room: reader.read_str(ROOM_NAME_BYTES_MAX)?,
    })
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
