//! A client made by hand, against a real server.
//!
//! What a receiver does with a datagram depends on what came before. This client speaks the handshake with the public
//! functions of the protocol and keeps the keys, so that it can send any datagram it likes: late, twice, damaged or
//! with a number far ahead. What the server then counts, delivers and answers is the vector.

use super::codes::layout_hash;
use super::frames::CHANNELS;
use super::keys::{Inputs, Pair, transcript};
use super::{PROTOCOL_ID, counting, packets};
use netloom_proto::crypto::SealKey;
use netloom_proto::handshake::{Accept, Challenge, Claims, WIRE_VERSION, write_response};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Ack, Header, PacketType, SessionRef};
use netloom_proto::{Config, Endpoint, Event, ListenConfig, Micros, Rejection, Security};
use std::net::SocketAddr;

/// The seed of every server; a vector must come out the same each time.
pub const SERVER_SEED: [u8; 32] = counting_seed();

const fn counting_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    let mut index = 0;
    while index < seed.len() {
        seed[index] = 0xc0 + index as u8;
        index += 1;
    }
    seed
}

/// The configuration of every endpoint in the vectors, except for its security.
pub fn config(security: Security) -> Config {
    Config { protocol_id: PROTOCOL_ID, security, mtu: 1_000, ..Config::default() }
}

/// The client's address.
pub fn home() -> SocketAddr {
    ([192, 0, 2, 1], 50_000).into()
}

/// Another client's.
pub fn elsewhere() -> SocketAddr {
    ([192, 0, 2, 2], 50_000).into()
}

/// What the server did with one datagram.
pub struct Delivered {
    /// `accepted`, or the name of the rejection.
    pub outcome: &'static str,
    /// Channel and bytes of each message that it brought.
    pub messages: Vec<(u8, Vec<u8>)>,
}

/// The client, and its server.
pub struct Peer {
    server: Endpoint,
    now: Micros,
    /// How the client names its session.
    pub session: SessionRef,
    /// The session's id, known to both sides even where packets name an alias.
    pub session_id: u64,
    /// The server's alias for the session, known to both sides even where packets name the id.
    pub alias: u16,
    /// What seals packets to the server; `None` in a plain session.
    pub key: Option<[u8; 32]>,
}

impl Peer {
    /// A server and a client that has just been accepted.
    pub fn connected(sealed: bool) -> Peer {
        let security = if sealed { Security::Required } else { Security::Off };
        let listen = Some(ListenConfig::default());
        let server = Endpoint::new(config(security), listen, SERVER_SEED).expect("a valid configuration");
        let mut peer = Peer {
            server,
            now: Micros::from_millis(1),
            session: SessionRef::Address,
            session_id: 0,
            alias: 0,
            key: None,
        };
        peer.shake_hands(security);
        peer
    }

    fn shake_hands(&mut self, security: Security) {
        let pair = Pair::from_secret(counting(0x20));
        let claims = Claims {
            version: WIRE_VERSION,
            layout_hash: layout_hash(0, &CHANNELS),
            table_id: 0,
            security,
            nonce: counting(0x60),
            public: if security == Security::Off { [0; 32] } else { pair.public },
            alias: None,
        };
        let reply = self.ask(&super::handshake::connect(&claims, 1_000));
        let challenge = Challenge::parse(&reply, PROTOCOL_ID).expect("a Challenge");
        let mut inputs = Inputs {
            shared: x25519_dalek::x25519(pair.secret, challenge.public),
            client_nonce: claims.nonce,
            server_nonce: [0; 16],
            transcript: transcript(&claims, &challenge.public, &challenge.cookie),
        };
        let response_key = challenge.sealed.then(|| SealKey::new(&inputs.derive().response));
        let mut response = [0; DATAGRAM_MAX];
        let length = write_response(
            &claims,
            &challenge.cookie,
            None,
            response_key.as_ref(),
            PROTOCOL_ID,
            1_000,
            &mut response,
        );
        let mut reply = self.ask(&response[..length]);
        [_, inputs.server_nonce] = Accept::parse_nonces(&reply, PROTOCOL_ID).expect("an Accept");
        let keys = challenge.sealed.then(|| inputs.derive());
        let to_client = keys.as_ref().map(|keys| SealKey::new(&keys.to_client));
        let accept = Accept::open(&mut reply, to_client.as_ref()).expect("an Accept that opens");
        self.session_id = accept.session_id;
        self.alias = accept.alias;
        self.session = match keys {
            Some(_) => SessionRef::Alias(accept.alias),
            None => SessionRef::Id(accept.session_id),
        };
        self.key = keys.map(|keys| keys.to_server);
    }

    /// The header of a session packet from this client.
    pub fn header(&self, kind: PacketType, number: u64) -> Header {
        Header { kind, session: self.session, number: number as u16, ack: None, protected: false }
    }

    /// Closes a packet with whatever this session closes packets with.
    pub fn close(&self, header: &Header, number: u64, payload: &[u8]) -> Vec<u8> {
        match &self.key {
            Some(key) => packets::sealed(header, payload, key, number),
            None => packets::plain(header, payload, PROTOCOL_ID),
        }
    }

    /// A Data packet.
    pub fn data(&self, number: u64, payload: &[u8]) -> Vec<u8> {
        self.close(&self.header(PacketType::Data, number), number, payload)
    }

    /// A Data packet whose block later packets repeat.
    pub fn protected(&self, number: u64, payload: &[u8]) -> Vec<u8> {
        let header = Header { protected: true, ..self.header(PacketType::Data, number) };
        self.close(&header, number, payload)
    }

    /// A packet without payload that acknowledges something.
    pub fn acking(&self, number: u64, ack: Ack) -> Vec<u8> {
        let header = Header { ack: Some(ack), ..self.header(PacketType::Ack, number) };
        self.close(&header, number, &[])
    }

    /// Hands a datagram to the server.
    pub fn deliver(&mut self, datagram: &[u8]) -> Delivered {
        self.deliver_from(home(), datagram)
    }

    /// Hands a datagram to the server as if it came from `from`.
    pub fn deliver_from(&mut self, from: SocketAddr, datagram: &[u8]) -> Delivered {
        self.now += Micros::from_millis(1);
        self.server.begin_tick(self.now);
        let before = self.server.rejections().clone();
        self.server.handle_datagram(self.now, from, &mut datagram.to_vec());
        let after = self.server.rejections();
        let counted = Rejection::ALL.into_iter().find(|&reason| after.get(reason) > before.get(reason));
        let mut messages = vec![];
        while let Some((_, event)) = self.server.poll_event() {
            if let Event::Message { channel, data } = event {
                messages.push((channel, data.to_vec()));
            }
        }
        Delivered { outcome: counted.map_or("accepted", Rejection::name), messages }
    }

    /// What the server sends after `wait`.
    pub fn reply_after(&mut self, wait: Micros) -> Vec<u8> {
        self.now += wait;
        let mut out = [0; DATAGRAM_MAX];
        let sent = self.server.poll_transmit(self.now, &mut out).expect("the server has to answer");
        out[..sent.length].to_vec()
    }

    fn ask(&mut self, datagram: &[u8]) -> Vec<u8> {
        assert_eq!(self.deliver(datagram).outcome, "accepted", "the handshake");
        self.reply_after(Micros::ZERO)
    }
}
