//! Who may say what: sessions of classic clients, without a socket and without a clock.
//!
//! An address in a datagram is a claim. Until it is proven nothing is kept for it, and nothing longer than its own datagram is sent to it:
//!
//! ```text
//!   JOIN, padded ─────────▶ ◀──────── CHALLENGE, not longer: a MAC over address, port and time, kept by nobody
//!   JOIN with the cookie ──▶ ◀──────── SESSION with a token, LOBBY_STATUS, and from then on the game
//!   anything, with token ──▶           counts as alive; without the token it is nobody's
//! ```
//!
//! The bare JOIN of three bytes has no room for any of this. It is answered by three bytes that ask for the longer form; only from
//! loopback addresses, and only if the operator says so ([`DeskConfig::trusts_loopback`]), does it open a session by itself, which then
//! has no token: there the operating system vouches for the address.

mod cookies;
mod outbox;
mod session;
mod strangers;

use std::net::SocketAddr;

use netloom::proto::crypto::Entropy;
use netloom::session::validate::RateRule;
use netloom::transport::PeerAddress;
use netloom::wire::Micros;

use super::codec::{
    Choice, Cookie, ENTITIES_PER_DATAGRAM_MAX, EntityPosition, ErrorCode, ErrorMessage, Join, PlayerInput,
    Request, RequestError, ToClient, ToServer, Token, VERSION, encode_entity_positions, opcode,
};
use cookies::Cookies;
use outbox::Outbox;
use session::Session;
use strangers::Strangers;

/// Sessions that a configuration may ask for.
pub const CLIENTS_LIMIT: usize = 64;

/// What the desk is like.
#[derive(Clone, Debug)]
pub struct DeskConfig {
    /// Sessions at once, 1 to [`CLIENTS_LIMIT`].
    pub clients_max: usize,
    /// Sessions of one IPv4 address or IPv6 /64 at once: a household behind one address, not a whole server's worth.
    pub clients_per_network_max: usize,
    /// Whether the bare JOIN opens a session if it comes from a loopback address. Only for machines whose every user may play for every
    /// other, and never behind a proxy that forwards from elsewhere.
    pub trusts_loopback: bool,
    /// How long a client may be silent.
    pub silence_max: Micros,
    /// Inputs of a client.
    pub inputs: RateRule,
    /// Everything else of a client.
    pub actions: RateRule,
    /// Errors that a client is told of.
    pub errors: RateRule,
}

impl Default for DeskConfig {
    fn default() -> DeskConfig {
        DeskConfig {
            clients_max: 16,
            clients_per_network_max: 8,
            trusts_loopback: false,
            silence_max: Micros::from_secs(5),
            inputs: RateRule::INPUTS,
            actions: RateRule { per_second: 10, burst: 20 },
            errors: RateRule { per_second: 2, burst: 5 },
        }
    }
}

/// Why there is no desk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// A number that cannot be.
    #[error("{0} classic clients cannot be: use 1 to {CLIENTS_LIMIT}")]
    Clients(usize),
    /// A rate that cannot be.
    #[error("a rate of classic clients cannot be: {0}")]
    Rate(String),
}

/// A session, for as long as it lasts; never used again after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

/// What a client who may say so said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Is here now.
    Joined,
    /// Is here already, and asks how things are.
    Asked,
    /// Wants to begin.
    Ready,
    /// Holds these buttons.
    Input(PlayerInput),
    /// Chooses a power.
    ChoosePower(Choice),
    /// Chooses a weapon.
    ChooseWeapon(Choice),
    /// Is gone.
    Left,
}

/// What became of the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeskCounters {
    /// Challenges that were sent, bare ones included.
    pub challenged: u64,
    /// Sessions that began.
    pub joined: u64,
    /// Proven clients without a place.
    pub refused: u64,
    /// JOINs beyond the limits of strangers.
    pub limited: u64,
    /// Messages of addresses without a session.
    pub strangers: u64,
    /// Messages without the token of their session, or with another.
    pub unsigned: u64,
    /// Datagrams that are no message of a client.
    pub malformed: u64,
    /// Messages beyond the limits of their session.
    pub too_often: u64,
    /// Sessions that ended by silence.
    pub silent: u64,
    /// Datagrams that had no room to be sent.
    pub unsent: u64,
}

/// See the [module](self).
pub struct Desk {
    config: DeskConfig,
    sessions: Vec<Session>,
    next_id: u32,
    cookies: Cookies,
    strangers: Strangers,
    entropy: Entropy,
    outbox: Outbox,
    counters: DeskCounters,
}

impl Desk {
    /// A desk without clients. The seed must be 32 bytes of secret randomness.
    pub fn new(now: Micros, config: DeskConfig, seed: &[u8; 32]) -> Result<Desk, DeskError> {
        if !(1..=CLIENTS_LIMIT).contains(&config.clients_max) {
            return Err(DeskError::Clients(config.clients_max));
        }
        for rule in [config.inputs, config.actions, config.errors] {
            rule.check().map_err(|error| DeskError::Rate(error.to_string()))?;
        }
        let mut entropy = Entropy::new(seed);
        Ok(Desk {
            sessions: Vec::with_capacity(config.clients_max),
            next_id: 1,
            cookies: Cookies::new(now, &mut entropy),
            strangers: Strangers::new(now, &mut entropy)
                .map_err(|error| DeskError::Rate(error.to_string()))?,
            entropy,
            outbox: Outbox::new(),
            counters: DeskCounters::default(),
            config,
        })
    }

    /// Takes in a datagram; what it says, if it is of somebody who may.
    pub fn handle_datagram(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Option<(ClientId, Said)> {
        match Request::decode(datagram) {
            Ok(Request { message: ToServer::Join(join), .. }) => self.handle_join(now, from, join),
            Ok(request) => self.handle_request(now, from, &request),
            Err(error) => {
                self.counters.malformed += 1;
                self.handle_nonsense(now, from, datagram, error);
                None
            }
        }
    }

    fn handle_join(&mut self, now: Micros, from: SocketAddr, join: Option<Join>) -> Option<(ClientId, Said)> {
        self.cookies.rotate(now, &mut self.entropy);
        let is_proven = join.is_some_and(|join| self.cookies.redeem(now, from, &join.cookie));
        if let Some(session) = self.sessions.iter_mut().find(|session| session.address == from)
            && (is_proven || (join.is_none() && session.token.is_none()))
        {
            session.heard = now;
            if !session.may_act(now) {
                self.counters.too_often += 1;
                return None;
            }
            if is_proven {
                // The same token again: the first answer may be lost, and what is on its way is signed with it.
                let token = *session.token.get_or_insert_with(|| self.entropy.u64());
                self.outbox.push(from, &ToClient::Session(token));
            }
            return Some((session.id, Said::Asked));
        }
        if !self.strangers.admit(now, PeerAddress::from(from).network()) {
            self.counters.limited += 1;
            return None;
        }
        match join {
            None if self.config.trusts_loopback && from.ip().to_canonical().is_loopback() => {
                self.open(now, from, None)
            }
            None => self.challenge(from, None),
            Some(_) if !is_proven => {
                let cookie = self.cookies.issue(now, from);
                self.challenge(from, Some(cookie))
            }
            Some(join) if join.version != VERSION => self.refuse(from, ErrorCode::Version),
            Some(_) => {
                let token = self.entropy.u64();
                self.open(now, from, Some(token))
            }
        }
    }

    fn challenge(&mut self, to: SocketAddr, cookie: Option<Cookie>) -> Option<(ClientId, Said)> {
        self.counters.challenged += 1;
        self.outbox.push(to, &ToClient::Challenge(cookie));
        None
    }

    fn refuse(&mut self, to: SocketAddr, code: ErrorCode) -> Option<(ClientId, Said)> {
        self.counters.refused += 1;
        self.outbox.push(to, &ToClient::Error(ErrorMessage { code, opcode: opcode::JOIN_LOBBY }));
        None
    }

    /// A session for an address that is proven, or vouched for.
    fn open(&mut self, now: Micros, address: SocketAddr, token: Option<Token>) -> Option<(ClientId, Said)> {
        // Whoever was here with a token and comes without one is somebody else with the same address.
        let is_known = self.sessions.iter().any(|session| session.address == address);
        let network = PeerAddress::from(address).network();
        let neighbours =
            self.sessions.iter().filter(|session| PeerAddress::from(session.address).network() == network);
        let has_place = self.sessions.len() < self.config.clients_max
            && neighbours.count() < self.config.clients_per_network_max;
        if is_known || !has_place {
            return self.refuse(address, ErrorCode::Full);
        }
        let id = ClientId(self.next_id);
        let Ok(session) = Session::new(now, id, address, token, &self.config) else {
            return self.refuse(address, ErrorCode::Full);
        };
        self.next_id = self.next_id.wrapping_add(1);
        self.sessions.push(session);
        self.counters.joined += 1;
        if let Some(token) = token {
            self.outbox.push(address, &ToClient::Session(token));
        }
        Some((id, Said::Joined))
    }

    fn handle_request(
        &mut self,
        now: Micros,
        from: SocketAddr,
        request: &Request,
    ) -> Option<(ClientId, Said)> {
        let Some(session) = self.sessions.iter_mut().find(|session| session.address == from) else {
            self.counters.strangers += 1;
            return None;
        };
        if !session.accepts(request.token) {
            self.counters.unsigned += 1;
            return None;
        }
        session.heard = now;
        let id = session.id;
        let may = match request.message {
            ToServer::Input(_) => session.may_steer(now),
            ToServer::Leave => true,
            _ => session.may_act(now),
        };
        if !may {
            self.counters.too_often += 1;
            return None;
        }
        let said = match request.message {
            ToServer::Join(_) => Said::Asked,
            ToServer::Ready => Said::Ready,
            ToServer::Input(input) => Said::Input(input),
            ToServer::ChoosePower(choice) => Said::ChoosePower(choice),
            ToServer::ChooseWeapon(choice) => Said::ChooseWeapon(choice),
            ToServer::Ping(nonce) => {
                self.outbox.push(from, &ToClient::Ping(nonce));
                return None;
            }
            ToServer::Leave => {
                self.sessions.retain(|session| session.id != id);
                Said::Left
            }
        };
        Some((id, said))
    }

    /// Tells a client what was wrong, if it is one, and if it is not an input: those are dropped, sixty of them a second.
    fn handle_nonsense(&mut self, now: Micros, from: SocketAddr, datagram: &[u8], error: RequestError) {
        let Some(session) = self.sessions.iter_mut().find(|session| session.address == from) else { return };
        if !session.has_signed(datagram) {
            return;
        }
        session.heard = now;
        let code = match error {
            RequestError::Header(_) => return,
            RequestError::UnknownOpcode(_) => ErrorCode::UnknownOpcode,
            RequestError::Size { .. } | RequestError::Payload { .. } => ErrorCode::Malformed,
        };
        if let Some(opcode) = error.opcode().filter(|opcode| *opcode != opcode::PLAYER_INPUT)
            && session.may_err(now)
        {
            self.outbox.push(from, &ToClient::Error(ErrorMessage { code, opcode }));
        }
    }

    /// A client of whom nothing was heard for too long: told so, and forgotten. Ask until `None`.
    pub fn poll_silent(&mut self, now: Micros) -> Option<ClientId> {
        let silence_max = self.config.silence_max;
        let silent = self.sessions.iter().find(|session| now.since(session.heard) > silence_max)?.id;
        self.counters.silent += 1;
        self.end(silent, ErrorCode::Silent);
        Some(silent)
    }

    /// Tells a client that the session is over, and forgets it.
    pub fn end(&mut self, client: ClientId, code: ErrorCode) {
        self.send_to_client(client, &ToClient::Error(ErrorMessage { code, opcode: 0 }));
        self.sessions.retain(|session| session.id != client);
    }

    /// Tells everybody that their sessions are over, and forgets them.
    pub fn end_all(&mut self, code: ErrorCode) {
        self.broadcast_to_all_clients(&ToClient::Error(ErrorMessage { code, opcode: 0 }));
        self.sessions.clear();
    }

    /// Tells a client that something it asked for does not go.
    pub fn refuse_request(&mut self, now: Micros, client: ClientId, opcode: u8) {
        let session = self.sessions.iter_mut().find(|session| session.id == client);
        if let Some(session) = session
            && session.may_err(now)
        {
            let error = ErrorMessage { code: ErrorCode::Refused, opcode };
            self.outbox.push(session.address, &ToClient::Error(error));
        }
    }

    /// How many sessions there are.
    pub fn client_count(&self) -> usize {
        self.sessions.len()
    }

    /// Where a client is.
    pub fn address_of(&self, client: ClientId) -> Option<SocketAddr> {
        self.sessions.iter().find(|session| session.id == client).map(|session| session.address)
    }

    /// Queues a message for one client.
    pub fn send_to_client(&mut self, client: ClientId, message: &ToClient) {
        if let Some(address) = self.address_of(client) {
            self.outbox.push(address, message);
        }
    }

    /// Queues where everything is for one client, in as many datagrams as it takes.
    pub fn send_entities(&mut self, client: ClientId, entities: &[EntityPosition]) {
        if let Some(address) = self.address_of(client) {
            for chunk in entities.chunks(ENTITIES_PER_DATAGRAM_MAX) {
                self.outbox.write(address, |out| encode_entity_positions(chunk, out));
            }
        }
    }

    /// Queues a message for everybody.
    pub fn broadcast_to_all_clients(&mut self, message: &ToClient) {
        for session in &self.sessions {
            self.outbox.push(session.address, message);
        }
    }

    /// The next datagram to send, in `out`, which must hold [`DATAGRAM_BYTES_MAX`](super::codec::DATAGRAM_BYTES_MAX). Call until `None`.
    pub fn poll_transmit(&mut self, out: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.outbox.pop(out)
    }

    /// What became of the datagrams.
    pub fn counters(&self) -> DeskCounters {
        DeskCounters { unsent: self.outbox.dropped(), ..self.counters }
    }
}

#[cfg(test)]
mod tests;
