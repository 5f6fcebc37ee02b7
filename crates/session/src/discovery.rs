//! Finding servers on the local network, and rooms by a code.
//!
//! A client asks everybody on the network for servers of its game, and each answers with what a player needs to choose.
//! Nobody is connected by that, and nothing is kept:
//!
//! ```text
//!   query    0      4   5               13      21 …… 200
//!            ├ NLFQ ┼ 1 ┼ protocol, u64 ┼ nonce ┼ zeros          padded, so that no answer is larger
//!   answer   ├ NLFA ┼ 1 ┼ protocol      ┼ nonce ┼ version u16 ┼ port u16 ┼ scheme u8 ┼ players u16 ┼ seats u16 ┼ name ┼ room ┼ code
//! ```
//!
//! A server of another game does not answer. Who asks with a source address that is not its own makes somebody get one
//! answer that is no larger than the question, and the asker of a server is limited in how often.
//!
//! A *code* is a short name of a room that can be read out over a telephone: letters and digits that do not look alike.

use netloom_wire::{ByteReader, ByteSink, ByteWriter, ReadError};

use crate::protocol::Protocol;
use crate::random::Random;

/// The port that servers listen on for queries.
pub const DISCOVERY_PORT: u16 = 7776;
/// Bytes of a query, and of an answer at most.
pub const DISCOVERY_BYTES: usize = 240;
/// Characters of a code that [`code`] makes.
pub const CODE_CHARS: usize = 6;

const QUERY: &[u8; 4] = b"NLFQ";
const ANSWER: &[u8; 4] = b"NLFA";
const VERSION: u8 = 1;
/// Bytes of the names in an answer: with all three of them it still fits.
const NAME_BYTES_MAX: usize = 64;
/// No vowels, so that codes spell nothing; nothing that looks like something else.
const ALPHABET: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ23456789";

/// A client looks for servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Of which game: see [`Protocol::id`].
    pub protocol: u64,
    /// Comes back with the answer.
    pub nonce: u64,
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The query that it answers.
    pub query: Query,
    /// The version of the game.
    pub version: u16,
    /// The port to connect to, at the address that the answer comes from.
    pub port: u16,
    /// By what: 0 UDP, 1 TCP, 2 WebSocket.
    pub scheme: u8,
    /// Players in all rooms.
    pub players: u16,
    /// Seats in all rooms.
    pub seats: u16,
    /// The name of the server.
    pub name: &'a str,
    /// The first room.
    pub room: &'a str,
    /// Its code; empty if it has none.
    pub code: &'a str,
}

impl Query {
    /// A query for servers of a game.
    pub fn new(protocol: &Protocol, nonce: u64) -> Query {
        Query { protocol: protocol.id(), nonce }
    }

    /// Its bytes.
    pub fn write(&self) -> [u8; DISCOVERY_BYTES] {
        let mut bytes = [0; DISCOVERY_BYTES];
        let mut writer = ByteWriter::new(&mut bytes);
        write_head(&mut writer, QUERY, self);
        bytes
    }

    /// Reads one; `None` for everything else that arrives at a port.
    pub fn read(bytes: &[u8]) -> Option<Query> {
        (bytes.len() == DISCOVERY_BYTES).then_some(())?;
        let mut reader = ByteReader::new(bytes);
        let query = read_head(&mut reader, QUERY).ok()?;
        reader.rest().iter().all(|byte| *byte == 0).then_some(query)
    }
}

impl<'a> Answer<'a> {
    /// Writes it; its length, at most [`DISCOVERY_BYTES`]. Names are cut.
    pub fn write(&self, out: &mut [u8; DISCOVERY_BYTES]) -> usize {
        let mut writer = ByteWriter::new(out);
        write_head(&mut writer, ANSWER, &self.query);
        writer.write_u16(self.version);
        writer.write_u16(self.port);
        writer.write_u8(self.scheme);
        writer.write_u16(self.players);
        writer.write_u16(self.seats);
        for name in [self.name, self.room, self.code] {
            writer.write_str(&name[..name.floor_char_boundary(NAME_BYTES_MAX)], NAME_BYTES_MAX);
        }
        // 30 bytes and three names of 65 fit.
        writer.finish().unwrap_or(0)
    }

    /// Reads an answer to a query.
    pub fn read(bytes: &'a [u8]) -> Result<Answer<'a>, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let answer = Answer {
            query: read_head(&mut reader, ANSWER)?,
            version: reader.read_u16()?,
            port: reader.read_u16()?,
            scheme: reader.read_u8()?,
            players: reader.read_u16()?,
            seats: reader.read_u16()?,
            name: reader.read_str(NAME_BYTES_MAX)?,
            room: reader.read_str(NAME_BYTES_MAX)?,
            code: reader.read_str(NAME_BYTES_MAX)?,
        };
        reader.finish()?;
        Ok(answer)
    }
}

fn write_head(writer: &mut ByteWriter<'_>, magic: &[u8; 4], query: &Query) {
    writer.write_bytes(magic);
    writer.write_u8(VERSION);
    writer.write_u64(query.protocol);
    writer.write_u64(query.nonce);
}

fn read_head(reader: &mut ByteReader<'_>, magic: &[u8; 4]) -> Result<Query, ReadError> {
    if reader.read_array::<4>()? != *magic || reader.read_u8()? != VERSION {
        return Err(ReadError::OutOfRange);
    }
    Ok(Query { protocol: reader.read_u64()?, nonce: reader.read_u64()? })
}

/// A code of [`CODE_CHARS`] characters from some randomness: one of 480 million.
pub fn code(random: &mut Random) -> String {
    let char = |_| char::from(ALPHABET[random.below(ALPHABET.len() as u64) as usize]);
    (0..CODE_CHARS).map(char).collect()
}

/// Whether somebody typed a code, however they did: small letters, spaces and dashes do not matter.
pub fn is_code(typed: &str, code: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|char| !matches!(char, ' ' | '-')).map(|char| char.to_ascii_uppercase()).collect()
    };
    !code.is_empty() && plain(typed) == plain(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_query_and_its_answer_come_back_as_they_were() {
        let query = Query { protocol: 7, nonce: 9 };
        assert_eq!(Query::read(&query.write()), Some(query));
        let answer = Answer {
            query,
            version: 3,
            port: 7_777,
            scheme: 0,
            players: 2,
            seats: 16,
            name: "Anna's machine",
            room: "main",
            code: "BCDFGH",
        };
        let mut out = [0; DISCOVERY_BYTES];
        let length = answer.write(&mut out);
        assert_eq!(Answer::read(&out[..length]), Ok(answer));
    }

    #[test]
    fn an_answer_is_never_larger_than_the_question() {
        let long = "x".repeat(300);
        let query = Query { protocol: 7, nonce: 9 };
        let answer = Answer {
            query,
            version: 3,
            port: 1,
            scheme: 0,
            players: 2,
            seats: 16,
            name: &long,
            room: &long,
            code: &long,
        };
        let mut out = [0; DISCOVERY_BYTES];
        let length = answer.write(&mut out);
        assert!(length > 200 && length <= DISCOVERY_BYTES);
        assert_eq!(Answer::read(&out[..length]).unwrap().name.len(), NAME_BYTES_MAX);
        assert_eq!(Query::read(&out), None);
        assert_eq!(Query::read(&query.write()[..100]), None, "a short question gets no answer");
    }

    #[test]
    fn codes_are_read_however_they_are_typed() {
        let mut random = Random::new(3);
        let made = code(&mut random);
        assert_eq!(made.len(), CODE_CHARS);
        assert_ne!(made, code(&mut random));
        let typed = format!(" {}-{}", made[..3].to_lowercase(), &made[3..]);
        assert!(is_code(&typed, &made));
        assert!(!is_code("", "") && !is_code(&made[1..], &made));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Query::read(&bytes);
            let _ = Answer::read(&bytes);
        }
    }
}
