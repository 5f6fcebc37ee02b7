//! The handshake against loss, repetition, disagreement and forgery.

mod common;

use common::*;
use netloom_proto::config::{ChannelConfig, ChannelKind};
use netloom_proto::crypto::Checksum;
use netloom_proto::handshake::{Claims, WIRE_VERSION, parse_connect, write_connect};
use netloom_proto::packet::PacketType;
use netloom_proto::{
    Config, DisconnectReason, ListenConfig, PeerId, RejectReason, Rejection, ResumeToken, Security, State,
};

const PROTOCOL: u64 = 0x6e65_746c_6f6f_6d00;

fn with_security(security: Security) -> Config {
    Config { security, ..sealed() }
}

/// What the client hears when it connects with `client` to a server with `server`.
fn refusal(
    server: Config,
    listen: ListenConfig,
    client: Config,
) -> (DisconnectReason, Option<(RejectReason, u64)>) {
    let mut world = World::with_listen(server, listen, client);
    world.start_connecting(CLIENT, None);
    world.run_for(ms(500));
    assert_eq!(world.server().endpoint.peer_count(), 0, "a refused client takes no seat");
    match world.client().events.as_slice() {
        [(_, Seen::Disconnected(reason, reject))] => (*reason, *reject),
        events => panic!("expected one refusal, got {events:?}"),
    }
}

#[test]
fn both_sides_connect_and_agree_on_sealing() {
    use Security::*;
    for (client, server, is_sealed) in [
        (Off, Off, false),
        (Off, Optional, false),
        (Optional, Off, false),
        (Optional, Optional, true),
        (Optional, Required, true),
        (Required, Optional, true),
        (Required, Required, true),
    ] {
        let mut world = World::new(with_security(server), with_security(client));
        let (ours, theirs) = world.connect();
        let (client_end, server_end) = (&world.nodes[CLIENT].endpoint, &world.nodes[SERVER].endpoint);
        assert_eq!(client_end.is_sealed(ours), is_sealed, "{client:?} with {server:?}");
        assert_eq!(server_end.is_sealed(theirs), is_sealed);
        assert_eq!(client_end.key_fingerprint(ours), server_end.key_fingerprint(theirs));
        assert_eq!(client_end.key_fingerprint(ours).is_some(), is_sealed);
    }
}

#[test]
fn every_disagreement_is_refused_with_its_reason_and_the_servers_value() {
    let listen = ListenConfig::default();
    let schema = |schema_hash| Config { schema_hash, ..sealed() };
    let refused = refusal(schema(8), listen, schema(7));
    assert_eq!(refused, (DisconnectReason::Rejected, Some((RejectReason::Schema, 8))));
    let channels = Config { channels: vec![ChannelConfig::new(ChannelKind::Ordered)], ..schema(8) };
    assert_eq!(
        refusal(schema(8), listen, channels).1,
        Some((RejectReason::Schema, 8)),
        "channel kinds are part of the layout"
    );
    let tables = |table_id| Config { table_id, ..sealed() };
    assert_eq!(refusal(tables(5), listen, tables(6)).1, Some((RejectReason::Tables, 5)));
    for (client, server) in [(Security::Off, Security::Required), (Security::Required, Security::Off)] {
        assert_eq!(
            refusal(with_security(server), listen, with_security(client)).1,
            Some((RejectReason::Security, 0))
        );
    }
}

#[test]
fn a_full_server_says_so() {
    let listen = ListenConfig { peers_max: 1, ..ListenConfig::default() };
    let mut world = World::with_listen(sealed(), listen, sealed());
    world.connect();
    let second = world.add("10.0.1.3:50000", sealed(), None);
    world.start_connecting(second, None);
    world.run_for(ms(500));
    assert!(matches!(
        world.nodes[second].events.as_slice(),
        [(_, Seen::Disconnected(DisconnectReason::Rejected, Some((RejectReason::Full, 0))))]
    ));
    assert_eq!(world.server().endpoint.peer_count(), 1);
    let told: Vec<_> = world.server().endpoint.refusals().filter(|(_, count)| *count > 0).collect();
    assert_eq!(told, [(RejectReason::Full, 1)]);
}

#[test]
fn whoever_comes_while_many_are_connecting_waits_for_a_moment_and_gets_in() {
    const CONNECTING_MAX: usize = 3;
    for config in [sealed(), plain()] {
        let listen = ListenConfig { peers_connecting_max: CONNECTING_MAX, ..ListenConfig::default() };
        let mut world = World::with_listen(config.clone(), listen, config.clone());
        // At 20 ms each way, four Responses come together at 60 ms and confirmations at 100 ms; in between comes a Connect.
        let arrivals = [0, 0, 0, 0, 55].map(ms);
        let mut clients = vec![];
        for (number, arrival) in arrivals.into_iter().enumerate() {
            world.run_for(arrival - world.now);
            let client = world.add(&format!("10.0.2.{number}:50000"), config.clone(), None);
            world.start_connecting(client, None);
            clients.push(client);
        }
        world.run_until(secs(2), |world| {
            let server = &world.nodes[SERVER];
            let is_connecting = |peer: &PeerId| server.state(*peer) == State::Connecting;
            assert!(server.endpoint.peers().filter(is_connecting).count() <= CONNECTING_MAX);
            clients.iter().all(|&client| world.nodes[client].connects() == 1)
        });
        assert_eq!(world.server().endpoint.peer_count(), arrivals.len());
        assert_eq!(world.server().endpoint.refusals().map(|(_, count)| count).sum::<u64>(), 0);
        assert_eq!(world.server().rejected(Rejection::RateLimited), 2, "a Response and a Connect");
    }
}

#[test]
fn an_unknown_resume_token_is_refused() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, Some(ResumeToken([9; 32])));
    world.run_for(ms(500));
    assert!(matches!(
        world.client().events.as_slice(),
        [(_, Seen::Disconnected(DisconnectReason::Rejected, Some((RejectReason::Resume, 0))))]
    ));
}

/// A Connect as another program could send it.
fn claims(world: &World) -> Claims {
    let connect = world.recorded_of(PacketType::Connect);
    parse_connect(&connect[0].bytes, PROTOCOL).expect("a Connect")
}

#[test]
fn another_wire_version_is_refused_with_ours() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, None);
    world.step();
    let forged = Claims { version: WIRE_VERSION + 1, ..claims(&world) };
    let mut connect = [0; 1200];
    let length = write_connect(&forged, PROTOCOL, 1200, &mut connect);
    // The link swaps the client's request for one of a newer version.
    world.script(move |passing| {
        if passing.datagram.kind() == PacketType::Connect as u8 {
            passing.datagram.bytes = connect[..length].to_vec();
        }
        if passing.datagram.kind() == PacketType::Challenge as u8 {
            passing.drop();
        }
    });
    world.run_for(secs(1));
    assert_eq!(
        world.client().events.last().map(|(_, seen)| seen.clone()),
        Some(Seen::Disconnected(
            DisconnectReason::Rejected,
            Some((RejectReason::Version, WIRE_VERSION.into()))
        ))
    );
}

#[test]
fn four_attempts_of_five_seconds_with_a_request_every_250_ms_then_a_timeout() {
    let mut world = World::new(sealed(), sealed());
    world.script(Passing::drop);
    let peer = world.start_connecting(CLIENT, None);
    let start = world.now;
    world.run_until(secs(21), |world| !world.nodes[CLIENT].events.is_empty());
    assert_eq!(world.client().ends(), [DisconnectReason::ConnectTimeout]);
    assert!((world.now - start) - secs(20) <= ms(10), "{:?}", world.now - start);
    assert_eq!(world.client().state(peer), State::Disconnected);
    let requests = world.recorded_of(PacketType::Connect);
    let gaps = requests.windows(2).map(|pair| pair[1].sent_at - pair[0].sent_at);
    assert!((78..=82).contains(&requests.len()), "{}", requests.len());
    assert!(gaps.clone().all(|gap| gap <= ms(255)));
    let mut nonces: Vec<_> =
        requests.iter().map(|request| parse_connect(&request.bytes, PROTOCOL).unwrap().nonce).collect();
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "each attempt has a nonce of its own");
}

#[test]
fn any_lost_handshake_packet_is_made_up_for_by_a_resend() {
    for kind in [
        PacketType::Connect,
        PacketType::Challenge,
        PacketType::Response,
        PacketType::Accept,
        PacketType::KeepAlive,
    ] {
        let mut world = World::new(sealed(), sealed());
        let mut losses = 2;
        world.script(move |passing| {
            if passing.datagram.kind() == kind as u8 && losses > 0 {
                losses -= 1;
                passing.drop();
            }
        });
        let peer = world.start_connecting(CLIENT, None);
        world.run_for(secs(4));
        assert_eq!(world.client().state(peer), State::Connected, "lost {kind:?}");
        assert_eq!(world.server().connects(), 1, "lost {kind:?}");
        assert_eq!(world.server().endpoint.peer_count(), 1);
    }
}

#[test]
fn repeated_requests_and_responses_take_one_seat() {
    let mut world = World::new(sealed(), sealed());
    world.script(|passing| passing.delays = vec![ms(20), ms(21), ms(90), ms(400)]);
    let peer = world.start_connecting(CLIENT, None);
    world.run_for(secs(1));
    assert_eq!(world.client().state(peer), State::Connected);
    assert_eq!(world.server().endpoint.peer_count(), 1);
    assert_eq!((world.server().connects(), world.client().connects()), (1, 1));
}

#[test]
fn a_response_replayed_after_the_session_opens_no_second_session_with_its_keys() {
    let mut world = World::new(sealed(), sealed());
    let client = world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let theirs = world.server().peer();
    let keys = world.server().endpoint.key_fingerprint(theirs);
    let recorded: Vec<_> = world.recorded.clone();
    world.disconnect(CLIENT, client, DisconnectReason::Requested);
    world.run_for(secs(4));
    assert_eq!(world.server().endpoint.peer_count(), 0);
    world.forget();
    // The cookie is still young: the server takes the Response for a new attempt, under new keys.
    let server = world.nodes[SERVER].address;
    for datagram in recorded.iter().filter(|datagram| datagram.to == server) {
        world.inject(datagram.from, datagram.to, &datagram.bytes);
    }
    world.step();
    let ghosts: Vec<_> = world.server().endpoint.peers().collect();
    assert!(ghosts.len() <= 1);
    for ghost in &ghosts {
        assert_ne!(world.server().endpoint.key_fingerprint(*ghost), keys);
        assert_eq!(world.server().state(*ghost), State::Connecting);
    }
    world.run_for(secs(10));
    assert_eq!(world.server().endpoint.peer_count(), 0, "nobody confirmed the keys");
    assert_eq!(world.server().connects(), 0);
}

#[test]
fn a_replayed_response_of_an_earlier_attempt_does_not_end_the_session_that_followed() {
    let mut world = World::new(sealed(), sealed());
    let first = world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let response = world.recorded_of(PacketType::Response)[0].clone();
    world.disconnect(CLIENT, first, DisconnectReason::Requested);
    world.run_for(secs(4));
    world.forget();
    let (client, server) = world.connect();
    world.inject(response.from, response.to, &response.bytes);
    world.run_for(secs(2));
    assert_eq!(world.server().ends(), []);
    assert_eq!(world.server().state(server), State::Connected);
    assert_eq!(world.client().state(client), State::Connected);
}

#[test]
fn a_replayed_response_from_the_same_second_does_not_end_the_live_session() {
    let mut world = World::new(sealed(), sealed());
    let first = world.start_connecting(CLIENT, None);
    world.run_for(ms(150));
    let response = world.recorded_of(PacketType::Response)[0].clone();
    world.disconnect(CLIENT, first, DisconnectReason::Requested);
    world.run_for(ms(100));
    world.forget();
    let (client, server) = world.connect();
    assert!(world.now < secs(1), "both cookies are of the first second");
    world.inject(response.from, response.to, &response.bytes);
    assert_eq!(world.server().rejected(Rejection::Unsolicited), 1);
    world.run_for(secs(2));
    assert_eq!(world.server().ends(), []);
    assert_eq!(world.server().state(server), State::Connected);
    assert_eq!(world.client().state(client), State::Connected);
}

#[test]
fn a_repeated_response_does_not_use_up_the_handshakes_of_others() {
    for config in [sealed(), plain()] {
        let listen = ListenConfig { handshakes_per_second: 2, ..ListenConfig::default() };
        let mut world = World::with_listen(config.clone(), listen, config.clone());
        world.script(|passing| {
            if passing.datagram.kind() == PacketType::Accept as u8 && passing.datagram.to.port() == 50_000 {
                passing.drop();
            }
        });
        world.start_connecting(CLIENT, None);
        world.run_for(ms(100));
        let response = world.recorded_of(PacketType::Response)[0].clone();
        for _ in 0..100 {
            world.inject(response.from, response.to, &response.bytes);
        }
        assert_eq!(world.server().endpoint.peer_count(), 1);
        let second = world.add("10.0.1.3:50001", config, None);
        world.start_connecting(second, None);
        world.run_for(ms(100));
        assert_eq!(world.nodes[second].connects(), 1);
        assert_eq!(world.server().rejected(Rejection::RateLimited), 0);
    }
}

#[test]
fn a_limit_on_handshakes_holds_for_plain_ones_too() {
    for config in [sealed(), plain()] {
        let listen = ListenConfig { handshakes_per_second: 2, ..ListenConfig::default() };
        let mut world = World::with_listen(config.clone(), listen, config.clone());
        for number in 0..10 {
            let client = world.add(&format!("10.0.2.{number}:50000"), config.clone(), None);
            world.start_connecting(client, None);
        }
        world.run_for(ms(100));
        assert_eq!(world.server().endpoint.peer_count(), 2);
        assert_eq!(world.server().rejected(Rejection::RateLimited), 8);
        world.run_for(secs(5));
        assert_eq!(world.server().endpoint.peer_count(), 10, "the others come in their turn");
    }
}

#[test]
fn a_handshake_that_is_never_confirmed_is_forgotten_without_an_event() {
    let mut world = World::new(sealed(), sealed());
    // Everything that the server says after the Challenge is lost, so the keys are never confirmed.
    world.script(|passing| {
        if passing.datagram.kind() == PacketType::Accept as u8 {
            passing.drop();
        }
    });
    world.start_connecting(CLIENT, None);
    world.run_for(secs(1));
    assert_eq!(world.server().endpoint.peer_count(), 1);
    world.client().is_off = true;
    world.run_for(secs(6));
    assert_eq!(world.server().endpoint.peer_count(), 0);
    assert_eq!(world.server().events, [], "a peer that never came cannot leave");
}

#[test]
fn every_reply_is_smaller_than_its_request() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let longest = |kind| world.recorded_of(kind).iter().map(|datagram| datagram.bytes.len()).max();
    assert_eq!(longest(PacketType::Connect), Some(1200));
    assert_eq!(longest(PacketType::Response), Some(1200));
    assert!(longest(PacketType::Challenge).is_some_and(|length| length < 128));
    assert!(longest(PacketType::Accept).is_some_and(|length| length < 128));
    let mut other = World::new(sealed(), with_security(Security::Off));
    other.start_connecting(CLIENT, None);
    other.run_for(ms(300));
    let rejects = other.recorded_of(PacketType::Reject);
    assert!(!rejects.is_empty() && rejects.iter().all(|reject| reject.bytes.len() < 128));
}

#[test]
fn a_request_without_its_padding_is_not_answered() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, None);
    world.step();
    let claims = claims(&world);
    let mut short = [0; 1200];
    let length = write_connect(&claims, PROTOCOL, 999, &mut short);
    world.forget();
    world.inject_to_server(&short[..length]);
    world.transmit(SERVER);
    assert_eq!(world.server().rejected(Rejection::Unpadded), 1);
    assert_eq!(world.recorded, []);
}

#[test]
fn replies_that_answer_no_request_are_dropped() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let mut replies = world.recorded_of(PacketType::Challenge);
    replies.extend(world.recorded_of(PacketType::Accept));
    let mut refused = World::new(sealed(), plain());
    refused.start_connecting(CLIENT, None);
    refused.run_for(ms(300));
    replies.extend(refused.recorded_of(PacketType::Reject));
    assert!(replies.len() >= 3);
    world.forget();

    // To a client that is connected, to one that is connecting under another nonce, and to one that asks nothing.
    let connecting = world.add("10.0.1.3:50000", sealed(), None);
    let idle = world.add("10.0.1.4:50000", sealed(), None);
    world.start_connecting(connecting, None);
    for reply in &replies {
        for target in [CLIENT, connecting, idle, SERVER] {
            let to = world.nodes[target].address;
            world.inject(reply.from, to, &reply.bytes);
        }
    }
    for target in [CLIENT, connecting, idle, SERVER] {
        assert_eq!(world.nodes[target].rejected(Rejection::Unsolicited), replies.len() as u64);
        assert_eq!(world.nodes[target].events, []);
    }
    world.run_for(ms(300));
    assert_eq!(world.nodes[connecting].connects(), 1);
}

#[test]
fn a_connection_attempt_can_be_cancelled() {
    let mut world = World::new(sealed(), sealed());
    let peer = world.start_connecting(CLIENT, None);
    world.run_for(ms(10));
    world.disconnect(CLIENT, peer, DisconnectReason::Requested);
    world.run_for(secs(1));
    assert_eq!(world.client().ends(), [DisconnectReason::Cancelled]);
    assert_eq!(world.client().endpoint.peer_count(), 0);
    assert_eq!(world.client().connects(), 0);
    world.forget();
    world.run_for(secs(6));
    assert!(world.recorded.is_empty(), "nobody talks any more");
    world.connect();
}

#[test]
fn a_client_that_starts_again_at_the_same_address_replaces_its_old_self() {
    for config in [sealed(), plain()] {
        let (mut world, _, old) = World::connected(config.clone());
        world.run_for(secs(2));
        world.restart(CLIENT, config);
        let client = world.start_connecting(CLIENT, None);
        world.run_for(secs(1));
        assert_eq!(world.client().state(client), State::Connected);
        assert_eq!(world.server().endpoint.peer_count(), 1);
        assert_eq!(world.server().state(old), State::Disconnected);
        let new = world.server().peer();
        assert_ne!(new, old);
        let ends: Vec<_> = world
            .server()
            .events
            .iter()
            .filter(|(_, seen)| matches!(seen, Seen::Disconnected(..)))
            .map(|(peer, _)| *peer)
            .collect();
        assert_eq!(ends, [old]);
    }
}

#[test]
fn a_client_that_starts_again_gets_its_seat_on_a_full_server() {
    let listen = ListenConfig { peers_max: 1, ..ListenConfig::default() };
    let mut world = World::with_listen(sealed(), listen, sealed());
    world.connect();
    world.run_for(secs(2));
    world.restart(CLIENT, sealed());
    let client = world.start_connecting(CLIENT, None);
    world.run_for(secs(1));
    assert_eq!(world.client().state(client), State::Connected);
    assert_eq!(world.server().endpoint.peer_count(), 1);
}

#[test]
fn ten_thousand_spoofed_requests_leave_nothing_behind() {
    let mut world = World::new(sealed(), sealed());
    world.start_connecting(CLIENT, None);
    world.step();
    let request = world.recorded_of(PacketType::Connect)[0].clone();
    world.client().is_off = true;
    world.forget();
    for spoofed in 0..10_000u32 {
        let from = std::net::SocketAddr::from(((0x0b00_0000 + spoofed).to_be_bytes(), 9));
        world.inject(from, request.to, &request.bytes);
        if spoofed % 100 == 0 {
            world.transmit(SERVER);
        }
    }
    world.transmit(SERVER);
    let limit = ListenConfig::default().unproven_per_second as usize;
    assert!(world.recorded.len() <= limit + 1, "{} replies", world.recorded.len());
    let (bytes_out, bytes_in): (usize, usize) =
        (world.recorded.iter().map(|reply| reply.bytes.len()).sum(), 10_000 * request.bytes.len());
    assert!(bytes_out * 10 < bytes_in);
    assert_eq!(world.server().endpoint.peer_count(), 0);
    assert!(world.server().rejected(Rejection::RateLimited) >= 7_000);
    assert_eq!(world.server().events, []);
    // Somebody honest gets in as soon as the flood is over.
    world.client().is_off = false;
    world.run_for(secs(3));
    assert_eq!(world.client().connects(), 1);
}

#[test]
fn a_server_that_picks_the_id_of_another_session_ends_only_its_own() {
    let mut world = World::new(plain(), plain());
    let first = world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let theirs = world.server().peer();
    let id: [u8; 8] = world.recorded_of(PacketType::Accept)[0].bytes[33..41].try_into().unwrap();
    world.forget();

    let thief = world.add("10.0.0.2:7777", plain(), Some(ListenConfig::default()));
    let thief_address = world.nodes[thief].address;
    world.script(move |passing| {
        let datagram = &mut passing.datagram;
        if datagram.kind() == PacketType::Accept as u8 && datagram.from == thief_address {
            let end = datagram.bytes.len() - 4;
            datagram.bytes[33..41].copy_from_slice(&id);
            let crc = Checksum::new(PROTOCOL).of(&datagram.bytes[..end]);
            datagram.bytes[end..].copy_from_slice(&crc.to_le_bytes());
        }
    });
    let now = world.now;
    let second = world.client().endpoint.connect(now, thief_address, None).unwrap();
    world.run_for(ms(300));
    let ended: Vec<_> = world
        .client()
        .events
        .iter()
        .filter(|(_, seen)| matches!(seen, Seen::Disconnected(..)))
        .map(|(peer, _)| *peer)
        .collect();
    assert_eq!(ended, [second]);
    assert_eq!(world.client().ends(), [DisconnectReason::Protocol]);

    // The first session goes on in both directions, longer than it would live in silence.
    world.run_for(secs(12));
    world.send(CLIENT, first, 1, b"there").unwrap();
    world.send(SERVER, theirs, 1, b"and back").unwrap();
    world.run_for(ms(100));
    assert_eq!(world.server().messages(1), [b"there"]);
    assert_eq!(world.client().messages(1), [b"and back"]);
}
