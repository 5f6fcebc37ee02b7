//! One sealed connection from its first datagram to its last, between two real endpoints.
//!
//! Everything else in these vectors is made to show one thing. This shows what an implementation meets in the wild:
//! resends of nothing, acknowledgements that ride on data, the greeting that confirms the keys, redundancy, goodbye.

use super::keys::{Inputs, Keys, Pair, transcript};
use super::peer::{SERVER_SEED, config, home};
use super::{CHACHA20_POLY1305, CRC32C, HKDF_SHA256, PROTOCOL_ID, X25519, hex, packets};
use netloom_proto::crypto::{Entropy, SealKey};
use netloom_proto::handshake::{Accept, Challenge, parse_connect};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Header, packet_type};
use netloom_proto::{DisconnectReason, Endpoint, Event, ListenConfig, Micros, PeerId, Security};
use serde_json::{Value, json};
use std::net::SocketAddr;

const CLIENT_SEED: [u8; 32] = [0x77; 32];
const TICK: Micros = Micros::from_millis(10);
const TICKS: u64 = 40;

/// A datagram under way.
struct Sent {
    to_server: bool,
    at: Micros,
    bytes: Vec<u8>,
}

/// Two endpoints and what has gone between them.
struct Line {
    client: Endpoint,
    server: Endpoint,
    peer: PeerId,
    log: Vec<Sent>,
    heard: Vec<Value>,
}

fn server_address() -> SocketAddr {
    ([192, 0, 2, 100], 7_777).into()
}

impl Line {
    fn new() -> Line {
        let config = config(Security::Required);
        let mut client = Endpoint::new(config.clone(), None, CLIENT_SEED).expect("a valid configuration");
        let listen = Some(ListenConfig::default());
        let server = Endpoint::new(config, listen, SERVER_SEED).expect("a valid configuration");
        let peer = client.connect(Micros::ZERO, server_address(), None).expect("the first connection");
        Line { client, server, peer, log: vec![], heard: vec![] }
    }

    fn tick(&mut self, now: Micros) {
        self.client.begin_tick(now);
        self.server.begin_tick(now);
        let mut out = [0; DATAGRAM_MAX];
        while let Some(sent) = self.client.poll_transmit(now, &mut out) {
            self.log.push(Sent { to_server: true, at: now, bytes: out[..sent.length].to_vec() });
            self.server.handle_datagram(now, home(), &mut out[..sent.length]);
        }
        while let Some(sent) = self.server.poll_transmit(now, &mut out) {
            self.log.push(Sent { to_server: false, at: now, bytes: out[..sent.length].to_vec() });
            self.client.handle_datagram(now, server_address(), &mut out[..sent.length]);
        }
        self.hear(now);
    }

    fn hear(&mut self, now: Micros) {
        let mut answers = vec![];
        while let Some((peer, event)) = self.server.poll_event() {
            self.heard.push(told("server", now, &event));
            if let Event::Message { channel, data } = event {
                answers.push((peer, channel, data.to_vec()));
            }
        }
        for (peer, channel, data) in answers {
            self.server.send(peer, channel, &data).expect("room for an answer");
        }
        while let Some((_, event)) = self.client.poll_event() {
            self.heard.push(told("client", now, &event));
        }
    }

    /// The client greets on two channels, says more a little later, and leaves.
    fn play(&mut self) {
        for tick in 0..TICKS {
            let now = Micros(TICK.0 * tick);
            match tick {
                5 => self.say(&[(1, b"hello"), (3, b"position 1")]),
                7 => self.say(&[(1, b"again"), (4, b"state 1")]),
                8 => self.say(&[(0, b"urgent"), (4, b"state 2")]),
                20 => self.client.disconnect(now, self.peer, DisconnectReason::Requested),
                _ => {}
            }
            self.tick(now);
        }
    }

    fn say(&mut self, messages: &[(u8, &[u8])]) {
        for &(channel, data) in messages {
            self.client.send(self.peer, channel, data).expect("a connected client");
        }
    }
}

fn told(who: &str, now: Micros, event: &Event<'_>) -> Value {
    let (event, channel, data) = match event {
        Event::Connected { .. } => ("connected", None, None),
        Event::Message { channel, data } => ("message", Some(channel), Some(hex(data))),
        Event::Outcome { .. } => ("outcome", None, None),
        Event::Disconnected { .. } => ("disconnected", None, None),
    };
    json!({ "to": who, "ms": now.0 / 1_000, "event": event, "channel": channel, "data": data })
}

/// The keys, from the client's secret and what the two said aloud.
fn keys(client: &Pair, log: &[Sent]) -> Keys {
    let connect = log.first().expect("a Connect");
    let claims = parse_connect(&connect.bytes, PROTOCOL_ID).expect("a Connect");
    assert_eq!(claims.public, client.public, "the secret belongs to the Connect");
    let challenge = log.iter().find_map(|sent| Challenge::parse(&sent.bytes, PROTOCOL_ID).ok());
    let challenge = challenge.expect("a Challenge");
    let accept = log.iter().filter(|sent| sent.bytes[0] == 3).map(|sent| &sent.bytes);
    let [_, server_nonce] =
        accept.filter_map(|bytes| Accept::parse_nonces(bytes, PROTOCOL_ID).ok()).next().expect("an Accept");
    Inputs {
        shared: x25519_dalek::x25519(client.secret, challenge.public),
        client_nonce: claims.nonce,
        server_nonce,
        transcript: transcript(&claims, &challenge.public, &challenge.cookie),
    }
    .derive()
}

fn describe(sent: &Sent, keys: &Keys) -> Value {
    let kind = packet_type(&sent.bytes).expect("a valid type");
    let from = if sent.to_server { "client" } else { "server" };
    let mut step = json!({
        "from": from,
        "ms": sent.at.0 / 1_000,
        "type": format!("{kind:?}"),
        "hex": hex(&sent.bytes),
    });
    if !kind.is_handshake() {
        let (header, length) = Header::parse(&sent.bytes, sent.to_server).expect("a valid header");
        let key = if sent.to_server { keys.to_server } else { keys.to_client };
        let mut packet = sent.bytes.clone();
        // The conversation is short: full and truncated numbers are the same.
        let payload = SealKey::new(&key).open(header.number.into(), &mut packet, length);
        step["header"] = packets::describe(&header);
        step["payload"] = json!(hex(payload.expect("sealed with these keys")));
    }
    step
}

pub fn file() -> Value {
    let mut line = Line::new();
    line.play();
    // The first thing that a client draws from its seed is its secret.
    let client = Pair::from_secret(Entropy::new(&CLIENT_SEED).bytes());
    let keys = keys(&client, &line.log);
    let case = json!({
        "name": "connect, talk, disconnect",
        "needs": [CRC32C, X25519, HKDF_SHA256, CHACHA20_POLY1305],
        "given": { "protocol_id": PROTOCOL_ID.to_string(), "client_secret": hex(&client.secret) },
        "value": {
            "response_key": hex(&keys.response),
            "to_server_key": hex(&keys.to_server),
            "to_client_key": hex(&keys.to_client),
            "fingerprint": keys.fingerprint.to_string(),
            "events": line.heard,
        },
        "datagrams": line.log.iter().map(|sent| describe(sent, &keys)).collect::<Vec<_>>(),
    });
    super::file(
        "Every datagram between a client and a server that echoes what it hears, with the client's secret. A reader \
         derives the keys, opens each packet, and finds the payload.",
        vec![case],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_hear_everything_and_part_in_peace() {
        let mut line = Line::new();
        line.play();
        let heard = |who: &str, event: &str| {
            line.heard.iter().filter(|told| told["to"] == who && told["event"] == event).count()
        };
        for who in ["client", "server"] {
            assert_eq!(heard(who, "connected"), 1, "{who}");
            assert_eq!(heard(who, "message"), 6, "{who}");
            assert_eq!(heard(who, "disconnected"), 1, "{who}");
        }
    }
}
