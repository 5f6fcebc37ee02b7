//! Servers on the local network: answering those who look for one, and looking.
//!
//! A server answers at UDP port [`DISCOVERY_PORT`] if it was built with
//! [`ServerBuilder::discoverable`](crate::ServerBuilder::discoverable). [`discover`] asks everybody on the network, and this
//! machine.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use netloom_session::discovery::{Answer, DISCOVERY_BYTES, Query};
use netloom_session::{Protocol, Server as Session};
use netloom_wire::Micros;

pub use netloom_session::discovery::{CODE_CHARS, DISCOVERY_PORT};

use crate::address::{Address, Scheme};
use crate::error::Error;
use crate::server::seed;

/// Answers a second, to all who ask.
const ANSWERS_PER_SECOND: u32 = 50;
/// Questions that one tick looks at.
const QUESTIONS_PER_TICK: usize = 32;

/// A server that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where to connect to.
    pub address: Address,
    /// What the server is called.
    pub name: String,
    /// Its version of the game; another one than the own will refuse.
    pub version: u16,
    /// Players in it.
    pub players: u16,
    /// And seats.
    pub seats: u16,
    /// Its first room.
    pub room: String,
    /// The code of that; empty if there is none.
    pub code: String,
}

/// A code for a room that nobody guesses: see [`RoomConfig::code`](crate::session::RoomConfig::code).
pub fn room_code() -> Result<String, Error> {
    let seed = seed()?;
    let mut first = [0; 8];
    first.copy_from_slice(&seed[..8]);
    Ok(netloom_session::discovery::code(&mut netloom_session::random::Random::new(u64::from_le_bytes(first))))
}

/// Answers questions for a server.
pub(crate) struct Beacon {
    socket: UdpSocket,
    name: String,
    port: u16,
    scheme: Scheme,
    answered: u32,
    since: Micros,
}

impl Beacon {
    /// Listens at a port for questions about a server at another.
    pub fn bind(at: SocketAddr, name: &str, server: &Address) -> Result<Beacon, Error> {
        let failed = |problem: std::io::Error| Error::Discovery { at, problem: problem.to_string() };
        let socket = UdpSocket::bind(at).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let (name, port, scheme) = (name.to_owned(), server.port, server.scheme);
        Ok(Beacon { socket, name, port, scheme, answered: 0, since: Micros::ZERO })
    }

    /// Where it listens.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Answers those who asked since.
    pub fn answer(&mut self, now: Micros, session: &Session) {
        if now.since(self.since) >= Micros::from_secs(1) {
            (self.answered, self.since) = (0, now);
        }
        let mut bytes = [0; DISCOVERY_BYTES + 1];
        for _ in 0..QUESTIONS_PER_TICK {
            let (length, from) = match self.socket.recv_from(&mut bytes) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Somebody who asked is gone.
                Err(_) => continue,
            };
            let Some(query) = Query::read(&bytes[..length]) else { continue };
            if query.protocol != session.protocol().id() || self.answered >= ANSWERS_PER_SECOND {
                continue;
            }
            self.answered += 1;
            let mut out = [0; DISCOVERY_BYTES];
            let length = self.describe(query, session).write(&mut out);
            // Whoever asked asks again.
            let _sent = self.socket.send_to(&out[..length], from);
        }
    }

    fn describe<'a>(&'a self, query: Query, session: &'a Session) -> Answer<'a> {
        let seats: usize = session.rooms().map(|room| room.config().players_max).sum();
        let first = session.rooms().next();
        Answer {
            query,
            version: session.protocol().version(),
            port: self.port,
            scheme: self.scheme as u8,
            players: session.player_count().min(65_535) as u16,
            seats: seats.min(65_535) as u16,
            name: &self.name,
            room: first.map_or("", |room| room.name()),
            code: first.map_or("", |room| &room.config().code),
        }
    }
}

/// Looks for servers of a game on the local network and on this machine, for so long.
pub fn discover(protocol: &Protocol, time: Duration) -> Result<Vec<Found>, Error> {
    let port = DISCOVERY_PORT;
    let everybody = SocketAddr::from((Ipv4Addr::BROADCAST, port));
    discover_at(protocol, &[everybody, SocketAddr::from((Ipv4Addr::LOCALHOST, port))], time)
}

/// Asks at these addresses for servers of a game, for so long. What cannot be reached is not found.
pub fn discover_at(protocol: &Protocol, at: &[SocketAddr], time: Duration) -> Result<Vec<Found>, Error> {
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let failed = |problem: std::io::Error| Error::Discovery { at: any, problem: problem.to_string() };
    let socket = UdpSocket::bind(any).map_err(failed)?;
    socket.set_broadcast(true).map_err(failed)?;
    let mut nonce = [0; 8];
    nonce.copy_from_slice(&seed()?[..8]);
    let query = Query::new(protocol, u64::from_le_bytes(nonce));
    let until = Instant::now() + time;
    let (mut found, mut asked) = (Vec::new(), None::<Instant>);
    let mut bytes = [0; DISCOVERY_BYTES + 1];
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        if asked.is_none_or(|asked| asked.elapsed() >= Duration::from_millis(250)) {
            asked = Some(Instant::now());
            at.iter().for_each(|address| drop(socket.send_to(&query.write(), address)));
        }
        socket.set_read_timeout(Some(left.min(Duration::from_millis(50)))).map_err(failed)?;
        let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
        let Ok(answer) = Answer::read(&bytes[..length]) else { continue };
        let scheme = Scheme::ALL.get(usize::from(answer.scheme)).copied();
        let (true, Some(scheme)) = (answer.query == query, scheme) else { continue };
        let server = Found {
            address: Address { scheme, host: from.ip().to_string(), port: answer.port },
            name: answer.name.to_owned(),
            version: answer.version,
            players: answer.players,
            seats: answer.seats,
            room: answer.room.to_owned(),
            code: answer.code.to_owned(),
        };
        if !found.contains(&server) {
            found.push(server);
        }
    }
    Ok(found)
}
