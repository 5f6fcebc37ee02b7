//! The numbers that stand for names on the wire, and the hash over the kinds of the channels.

use super::PROTOCOL_ID;
use netloom_proto::handshake::{WIRE_VERSION, parse_connect};
use netloom_proto::packet::PacketType;
use netloom_proto::{
    ChannelConfig, ChannelKind, Config, DisconnectReason, Endpoint, Micros, RejectReason, Rejection, limits,
};
use serde_json::{Value, json};

/// The channel kinds in the order of their codes.
const KINDS: [ChannelKind; 5] = [
    ChannelKind::Priority,
    ChannelKind::Ordered,
    ChannelKind::Unordered,
    ChannelKind::Unreliable,
    ChannelKind::Sequenced,
];

pub fn file() -> Value {
    use PacketType::*;
    let types = [
        Connect,
        Challenge,
        Response,
        Accept,
        Reject,
        Data,
        Ack,
        KeepAlive,
        Disconnect,
        PathChallenge,
        PathResponse,
        Quiet,
    ];
    let types = types.map(|kind| json!([format!("{kind:?}"), kind as u8]));
    let rejects = RejectReason::ALL.iter().map(|reason| json!([format!("{reason:?}"), reason.code()]));
    let ends = DisconnectReason::ALL.iter().map(|reason| json!([format!("{reason:?}"), reason.code()]));
    let rejections = Rejection::ALL.iter().map(|rejection| rejection.name());
    let limits = json!({
        "wire_version": WIRE_VERSION,
        "datagram_max": limits::DATAGRAM_MAX,
        "handshake_request_min": limits::HANDSHAKE_REQUEST_MIN,
        "messages_per_datagram_max": limits::MESSAGES_PER_DATAGRAM_MAX,
        "channels_max": limits::CHANNELS_MAX,
        "link_channel": limits::LINK_CHANNEL,
        "fragment_bytes": limits::FRAGMENT_BYTES,
        "reliable_fragments_max": limits::RELIABLE_WINDOW / 2,
        "unreliable_fragments_max": limits::UNRELIABLE_FRAGMENTS_MAX,
        "reliable_window": limits::RELIABLE_WINDOW,
        "replay_window": limits::REPLAY_WINDOW,
        "block_bytes_max": limits::BLOCK_BYTES_MAX,
        "block_distance_max": limits::BLOCK_DISTANCE_MAX,
        "resume_token_bytes": limits::RESUME_TOKEN_BYTES,
    });
    super::file(
        "Codes and limits of the wire. Rejections stand in the order of their counters.",
        vec![
            named("packet_types", json!(types)),
            named("reject_reasons", rejects.collect()),
            named("disconnect_reasons", ends.collect()),
            named("rejections", rejections.collect()),
            named("limits", limits),
        ],
    )
}

fn named(name: &str, value: Value) -> Value {
    super::case(name, &[], Value::Null, &[], value)
}

/// The hash over schema and channel kinds, as a client puts it into its Connect.
pub fn layout() -> Value {
    let cases: [(&str, u64, &[ChannelKind]); 4] = [
        ("the five default channels, no schema", 0, &KINDS),
        ("one unreliable channel", 0, &[ChannelKind::Unreliable]),
        ("two channels and a schema", 0x0123_4567_89ab_cdef, &[ChannelKind::Ordered, ChannelKind::Sequenced]),
        (
            "the same, the other way round",
            0x0123_4567_89ab_cdef,
            &[ChannelKind::Sequenced, ChannelKind::Ordered],
        ),
    ];
    let cases = cases.map(|(name, schema_hash, kinds)| {
        let hash = layout_hash(schema_hash, kinds);
        let given = json!({
            "schema_hash": schema_hash.to_string(),
            "channel_kinds": kinds.iter().map(|&kind| kind_name(kind)).collect::<Vec<_>>(),
        });
        let hashed: Vec<u8> =
            schema_hash.to_le_bytes().into_iter().chain(kinds.iter().map(|&kind| code(kind))).collect();
        super::case(name, &[], given, &hashed, json!({ "layout_hash": hash.to_string() }))
    });
    super::file(
        "The layout hash of Connect: FNV-1a over the schema hash and one code per channel.",
        cases.to_vec(),
    )
}

/// What a client with this schema and these channels claims.
pub fn layout_hash(schema_hash: u64, kinds: &[ChannelKind]) -> u64 {
    let config = Config {
        protocol_id: PROTOCOL_ID,
        schema_hash,
        channels: kinds.iter().copied().map(ChannelConfig::new).collect(),
        ..Config::default()
    };
    let mut client = Endpoint::new(config, None, [0; 32]).expect("a valid configuration");
    let server = ([127, 0, 0, 1], 7777).into();
    client.connect(Micros::ZERO, server, None).expect("the first connection");
    let mut out = [0; limits::DATAGRAM_MAX];
    let sent = client.poll_transmit(Micros::ZERO, &mut out).expect("a Connect is due at once");
    let claims = parse_connect(&out[..sent.length], PROTOCOL_ID).expect("the Connect of an endpoint parses");
    claims.layout_hash
}

/// A kind as the vectors spell it.
pub fn kind_name(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Priority => "priority",
        ChannelKind::Ordered => "ordered",
        ChannelKind::Unordered => "unordered",
        ChannelKind::Unreliable => "unreliable",
        ChannelKind::Sequenced => "sequenced",
    }
}

fn code(kind: ChannelKind) -> u8 {
    KINDS.iter().position(|&other| other == kind).map_or(u8::MAX, |code| code as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_hash_is_fnv_1a_over_schema_and_codes() {
        let mut bytes = 9u64.to_le_bytes().to_vec();
        bytes.extend([0, 1, 2, 3, 4]);
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(layout_hash(9, &KINDS), hash);
    }
}
