//! Packet headers: every bit has a meaning, so what parses writes back the same.

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{HEADER_MAX, Header, packet_type};

/// Parses a datagram's header as a listening and as any other endpoint.
pub fn proto_header(data: &[u8]) {
    assert!(data.len() <= DATAGRAM_MAX || packet_type(data).is_err());
    for aliased in [false, true] {
        let Ok((header, length)) = Header::parse(data, aliased) else {
            continue;
        };
        assert!(packet_type(data) == Ok(header.kind) && !header.kind.is_handshake());
        assert!(length + header.session.trailer_bytes() <= data.len());
        let mut again = [0; HEADER_MAX];
        assert_eq!(header.write(&mut again), length);
        assert_eq!(&again[..length], &data[..length]);
    }
}
