//! The five packets of the handshake, with and without a checksum that matches.

use netloom_proto::crypto::{NONCE_BYTES, SealKey};
use netloom_proto::handshake::{
    Accept, Challenge, Reject, Response, parse_connect, write_connect, write_response,
};
use netloom_proto::limits::{DATAGRAM_MAX, HANDSHAKE_REQUEST_MIN};
use netloom_proto::packet::CRC_BYTES;

use super::{PROTOCOL_ID, checksum};
use crate::input::Input;

/// Parses the bytes as each packet. Bit 0 of the first byte asks for a correct checksum, bit 1 for padding.
pub fn proto_handshake(data: &[u8]) {
    let mut input = Input::new(data);
    let form = input.u8();
    let mut datagram = input.bytes(DATAGRAM_MAX - CRC_BYTES).to_vec();
    if form & 2 != 0 {
        let padded = datagram.len().max(HANDSHAKE_REQUEST_MIN - CRC_BYTES);
        datagram.resize(padded, 0);
    }
    if form & 1 != 0 {
        datagram.extend_from_slice(&checksum(&datagram));
    }
    check_requests(&datagram);
    check_replies(&datagram);
    if form & 4 != 0 {
        open_sealed(&datagram);
    }
}

/// The type byte is the demultiplexer's business; parsers do not look at it, writers set it.
fn assert_same(again: &[u8], datagram: &[u8]) {
    let end = datagram.len() - CRC_BYTES;
    assert_eq!(&again[1..end], &datagram[1..end]);
}

fn check_requests(datagram: &[u8]) {
    let mut again = [0; DATAGRAM_MAX];
    if let Ok(claims) = parse_connect(datagram, PROTOCOL_ID) {
        assert!(datagram.len() >= HANDSHAKE_REQUEST_MIN);
        let length = write_connect(&claims, PROTOCOL_ID, datagram.len(), &mut again);
        assert_eq!(parse_connect(&again[..length], PROTOCOL_ID), Ok(claims));
    }
    let mut copy = datagram.to_vec();
    if let Ok(response) = Response::parse(&mut copy, PROTOCOL_ID) {
        let (claims, cookie) = (response.claims, response.cookie);
        let Ok(resume) = response.open(None) else { return };
        let resume = resume.as_ref();
        let length = write_response(&claims, &cookie, resume, None, PROTOCOL_ID, datagram.len(), &mut again);
        let written =
            Response::parse(&mut again[..length], PROTOCOL_ID).expect("a Response that was written");
        assert_eq!((written.claims, written.cookie), (claims, cookie));
        assert_eq!(written.open(None).as_ref().map(Option::as_ref), Ok(resume));
    }
}

fn check_replies(datagram: &[u8]) {
    let mut again = [0; DATAGRAM_MAX];
    if let Ok(challenge) = Challenge::parse(datagram, PROTOCOL_ID) {
        assert_eq!(challenge.write(PROTOCOL_ID, &mut again), datagram.len());
        assert_same(&again, datagram);
    }
    if let Ok(reject) = Reject::parse(datagram, PROTOCOL_ID) {
        assert_eq!(reject.write(PROTOCOL_ID, &mut again), datagram.len());
        assert_same(&again, datagram);
    }
    if let Ok([client, server]) = Accept::parse_nonces(datagram, PROTOCOL_ID)
        && let Ok(accept) = Accept::open(&mut datagram.to_vec(), None)
    {
        let length = accept.write(&client, &server, None, PROTOCOL_ID, &mut again);
        assert_eq!(length, datagram.len());
        assert_same(&again, datagram);
    }
}

/// Nobody without the key gets a sealed part opened.
fn open_sealed(datagram: &[u8]) {
    let key = SealKey::new(&[7; 32]);
    if let Ok(response) = Response::parse(&mut datagram.to_vec(), PROTOCOL_ID) {
        assert!(response.open(Some(&key)).is_err());
    }
    if let Ok(nonces) = Accept::parse_nonces(datagram, PROTOCOL_ID) {
        assert!(nonces.as_flattened().len() == 2 * NONCE_BYTES);
        assert!(Accept::open(&mut datagram.to_vec(), Some(&key)).is_err());
    }
}
