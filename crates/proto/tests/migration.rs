//! Peers whose address changes, people who want to take over a session, and seats that are taken up again.

mod common;

use std::net::SocketAddr;

use common::*;
use netloom_proto::packet::PacketType;
use netloom_proto::{
    DisconnectReason, ListenConfig, PeerId, RejectReason, Rejection, ResumeToken, Security, State,
};

fn elsewhere() -> SocketAddr {
    "172.16.9.9:33333".parse().unwrap()
}

/// Both sides talk for some ticks.
fn talk(world: &mut World, (client, server): (PeerId, PeerId), ticks: u32) {
    for number in 0..ticks {
        world.send(CLIENT, client, ORDERED, &number.to_le_bytes()).unwrap();
        world.send(SERVER, server, ORDERED, &number.to_le_bytes()).unwrap();
        world.step();
    }
}

#[test]
fn a_sealed_session_follows_its_client_to_a_new_address_once_that_is_proven() {
    let (mut world, client, server) = World::connected(sealed());
    talk(&mut world, (client, server), 20);
    let (old, new) = (world.client().address, elsewhere());
    world.forget();
    world.client().address = new;
    talk(&mut world, (client, server), 100);
    world.run_for(secs(2));
    assert_eq!(world.server().endpoint.address(server), Some(new));
    assert_eq!(world.server().stats(server).counters.migrations, 1);
    // Nothing is lost on the way: what went to the old address in the meantime comes again.
    assert_eq!(world.client().messages(ORDERED).len(), 100 + 4);
    assert_eq!(world.server().messages(ORDERED).len(), 100 + 4);

    let proof = world.recorded_of(PacketType::PathResponse)[0].clone();
    let proven_at = proof.sent_at + world.delay;
    let before = |datagram: &&Datagram| datagram.sent_at < proven_at;
    let bytes = |wanted: &dyn Fn(&Datagram) -> bool| -> usize {
        let wanted = world.recorded.iter().filter(before).filter(|datagram| wanted(datagram));
        wanted.map(|datagram| datagram.bytes.len()).sum()
    };
    let to_new = bytes(&|datagram| datagram.to == new);
    let from_new = bytes(&|datagram| datagram.from == new && datagram.sent_at + ms(20) <= proven_at);
    assert!(to_new > 0 && to_new <= 3 * from_new, "{to_new} bytes for {from_new}");
    assert!(
        world
            .recorded
            .iter()
            .filter(before)
            .filter(|datagram| datagram.to == new)
            .all(|datagram| datagram.kind() == PacketType::PathChallenge as u8),
        "nothing but challenges goes to an unproven address"
    );
    assert!(bytes(&|datagram| datagram.to == old) > 0, "the old path is used until then");
    world.forget();
    talk(&mut world, (client, server), 20);
    assert!(world.recorded.iter().all(|datagram| datagram.to != old));
}

#[test]
fn a_challenge_that_gets_no_answer_costs_at_most_three_times_what_came() {
    let (mut world, client, server) = World::connected(sealed());
    talk(&mut world, (client, server), 20);
    world.run_for(ms(200));
    // One packet comes from elsewhere, and then no more: a copy that overtook the original, say.
    world.forget();
    world.script(Passing::drop);
    world.send(CLIENT, client, UNRELIABLE, b"x").unwrap();
    world.step();
    world.perfect_link();
    let stolen = world.recorded_of(PacketType::Data)[0].clone();
    world.inject(elsewhere(), stolen.to, &stolen.bytes);
    world.run_for(secs(10));
    let answered = world.recorded.iter().filter(|datagram| datagram.to == elsewhere());
    let bytes: usize = answered.map(|datagram| datagram.bytes.len()).sum();
    assert!(bytes > 0 && bytes <= 3 * stolen.bytes.len(), "{bytes} for {}", stolen.bytes.len());
    assert_ne!(world.server().endpoint.address(server), Some(elsewhere()));
    assert_eq!(world.client().state(client), State::Connected);
}

#[test]
fn an_idle_probe_does_not_wake_the_driver_all_the_time() {
    let (mut world, client, server) = World::connected(sealed());
    talk(&mut world, (client, server), 20);
    world.run_for(ms(200));
    world.forget();
    world.script(Passing::drop);
    world.send(CLIENT, client, UNRELIABLE, b"x").unwrap();
    world.step();
    let stolen = world.recorded_of(PacketType::Data)[0].clone();
    world.inject(elsewhere(), stolen.to, &stolen.bytes);
    // Nothing arrives any more; the driver looks whenever it is told to.
    let (mut now, mut wakeups, mut buffer) = (world.now, 0, [0; 1200]);
    let end = now + secs(3);
    let endpoint = &mut world.server().endpoint;
    while now < end {
        wakeups += 1;
        endpoint.begin_tick(now);
        while endpoint.poll_event().is_some() {}
        while endpoint.poll_transmit(now, &mut buffer).is_some() {}
        now = endpoint.poll_timeout().expect("a live connection").max(now + netloom_proto::Micros(1));
    }
    assert!(wakeups < 200, "{wakeups} wake-ups in three seconds");
}

#[test]
fn whoever_delivers_packets_first_from_elsewhere_captures_nothing() {
    let (mut world, client, server) = World::connected(sealed());
    talk(&mut world, (client, server), 20);
    world.run_for(ms(200));
    world.forget();
    let home = world.client().address;
    // Everything that the client sends arrives from the attacker's address first; the original comes later.
    world.script(move |passing| {
        if passing.datagram.from == home {
            passing.delays = vec![ms(25)];
        }
    });
    for number in 0..1_000u32 {
        world.send(CLIENT, client, ORDERED, &number.to_le_bytes()).unwrap();
        world.send(SERVER, server, ORDERED, &number.to_le_bytes()).unwrap();
        let before = world.recorded.len();
        world.step();
        let stolen: Vec<_> =
            world.recorded[before..].iter().filter(|datagram| datagram.from == home).cloned().collect();
        for datagram in stolen {
            world.inject(elsewhere(), datagram.to, &datagram.bytes);
        }
    }
    world.run_for(secs(1));
    assert_eq!(world.server().endpoint.address(server), Some(home));
    assert_eq!(world.server().stats(server).counters.migrations, 0);
    assert_eq!(world.client().messages(ORDERED).len(), 1_000);
    assert_eq!(world.server().messages(ORDERED).len(), 1_000);
    assert!(world.server().rejected(Rejection::Replayed) >= 900, "the originals came second");
    let to_attacker: Vec<_> = world.recorded.iter().filter(|datagram| datagram.to == elsewhere()).collect();
    assert!(!to_attacker.is_empty());
    assert!(to_attacker.iter().all(|datagram| datagram.kind() == PacketType::PathChallenge as u8));
}

#[test]
fn a_proof_from_another_address_than_the_challenged_one_proves_nothing() {
    let (mut world, client, server) = World::connected(sealed());
    talk(&mut world, (client, server), 20);
    let (home, new) = (world.client().address, elsewhere());
    world.forget();
    world.client().address = new;
    // The client's proof is taken on the way and delivered from a third address.
    world.script(|passing| {
        if passing.datagram.kind() == PacketType::PathResponse as u8 {
            passing.drop();
        }
    });
    world.send(CLIENT, client, UNRELIABLE, b"from the new address").unwrap();
    world.run_for(ms(100));
    let proofs = world.recorded_of(PacketType::PathResponse);
    assert!(!proofs.is_empty());
    for proof in proofs {
        world.inject("172.16.7.7:1".parse().unwrap(), proof.to, &proof.bytes);
    }
    world.step();
    assert_eq!(world.server().endpoint.address(server), Some(home));
}

#[test]
fn a_plain_session_does_not_follow_an_address() {
    let (mut world, client, server) = World::connected(plain());
    talk(&mut world, (client, server), 20);
    world.run_for(ms(200));
    world.forget();
    world.client().address = elsewhere();
    talk(&mut world, (client, server), 20);
    world.run_for(ms(100));
    assert_eq!(world.server().messages(ORDERED), Vec::<Vec<u8>>::new());
    assert!(world.server().rejected(Rejection::WrongAddress) > 5);
    assert!(world.recorded.iter().all(|datagram| datagram.to != elsewhere()));
    world.run_for(secs(11));
    assert_eq!(world.server().ends(), [DisconnectReason::Timeout]);
}

/// A world whose client has a token and has gone silently; the server has noticed or not.
fn lost(security: Security, is_noticed: bool) -> (World, PeerId, ResumeToken) {
    lost_with(security, is_noticed, ListenConfig::default())
}

fn lost_with(security: Security, is_noticed: bool, listen: ListenConfig) -> (World, PeerId, ResumeToken) {
    let config = netloom_proto::Config { security, ..sealed() };
    let mut world = World::with_listen(config.clone(), listen, config.clone());
    world.start_connecting(CLIENT, None);
    world.run_for(ms(300));
    let token = world.client().resume_token().expect("every client gets a token");
    let old = world.server().peer();
    world.client().is_off = true;
    world.run_for(if is_noticed { secs(12) } else { secs(1) });
    world.client().is_off = false;
    world.restart(CLIENT, config);
    world.forget();
    (world, old, token)
}

/// What the server says to a client that comes with this token.
fn resume(world: &mut World, token: ResumeToken) -> Result<Option<PeerId>, RejectReason> {
    world.forget();
    world.start_connecting(CLIENT, Some(token));
    world.run_for(ms(500));
    match world.client().events.last().expect("an answer") {
        (_, Seen::Connected { .. }) => {}
        (_, Seen::Disconnected(_, Some((reason, _)))) => return Err(*reason),
        other => panic!("{other:?}"),
    }
    let resumed = world.server().events.iter().find_map(|(_, seen)| match seen {
        Seen::Connected { resumed_from, .. } => Some(*resumed_from),
        _ => None,
    });
    Ok(resumed.expect("the server is connected too"))
}

#[test]
fn a_lost_session_is_taken_up_and_the_new_one_names_the_old() {
    for security in [Security::Required, Security::Off] {
        for is_noticed in [true, false] {
            let (mut world, old, token) = lost(security, is_noticed);
            assert_eq!(resume(&mut world, token), Ok(Some(old)));
            assert_eq!(world.server().endpoint.peer_count(), 1);
            let ends: Vec<_> = if is_noticed { vec![] } else { vec![DisconnectReason::Resumed] };
            assert_eq!(world.server().ends(), ends);
            assert_ne!(world.server().peer(), old);
        }
    }
}

#[test]
fn a_token_is_good_once_and_replaced_by_another() {
    let (mut world, old, token) = lost(Security::Required, true);
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
    let (second, rotated) = (world.server().peer(), world.client().resume_token().unwrap());
    assert_ne!(rotated, token);
    world.restart(CLIENT, sealed());
    assert_eq!(resume(&mut world, token), Err(RejectReason::Resume), "used");
    world.restart(CLIENT, sealed());
    assert_eq!(resume(&mut world, rotated), Ok(Some(second)));
}

#[test]
fn a_token_runs_out_with_the_window() {
    let (mut world, old, token) = lost(Security::Required, true);
    world.tick = ms(50);
    world.run_for(secs(50));
    world.tick = ms(5);
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
    let (mut world, _, token) = lost(Security::Required, true);
    world.tick = ms(50);
    world.run_for(secs(61));
    world.tick = ms(5);
    assert_eq!(resume(&mut world, token), Err(RejectReason::Resume));
}

#[test]
fn a_goodbye_gives_the_seat_up() {
    for leaving in [CLIENT, SERVER] {
        let mut world = World::new(sealed(), sealed());
        let client = world.start_connecting(CLIENT, None);
        world.run_for(ms(300));
        let token = world.client().resume_token().unwrap();
        let peers = [world.server().peer(), client];
        world.disconnect(leaving, peers[leaving], DisconnectReason::Requested);
        world.run_for(secs(3));
        assert_eq!(resume(&mut world, token), Err(RejectReason::Resume));
    }
}

#[test]
fn a_plain_token_is_good_only_from_the_same_network_and_a_sealed_one_from_anywhere() {
    for (security, address, is_good) in [
        (Security::Off, "10.0.1.99:1234", true),
        (Security::Off, "10.0.2.2:50000", false),
        (Security::Required, "10.0.2.2:50000", true),
    ] {
        for is_noticed in [true, false] {
            let (mut world, old, token) = lost(security, is_noticed);
            world.client().address = address.parse().unwrap();
            let expected = if is_good { Ok(Some(old)) } else { Err(RejectReason::Resume) };
            assert_eq!(resume(&mut world, token), expected, "{security:?} from {address}");
        }
    }
}

#[test]
fn a_sealed_token_never_travels_readable() {
    let (mut world, old, token) = lost(Security::Required, true);
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
    let rotated = world.client().resume_token().unwrap();
    for datagram in &world.recorded {
        let readable = |token: &ResumeToken| datagram.bytes.windows(32).any(|window| window == token.0);
        assert!(!readable(&token) && !readable(&rotated));
    }
}

#[test]
fn a_player_resumes_on_a_full_server_that_has_not_noticed_the_loss() {
    let listen = ListenConfig { peers_max: 1, ..ListenConfig::default() };
    let (mut world, old, token) = lost_with(Security::Required, false, listen);
    world.client().address = elsewhere();
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
    assert_eq!(world.server().endpoint.peer_count(), 1);
}

#[test]
fn a_token_survives_the_answer_full_and_works_later() {
    let listen = ListenConfig { peers_max: 1, ..ListenConfig::default() };
    let (mut world, old, token) = lost_with(Security::Required, true, listen);
    let other = world.add("10.0.5.5:5555", sealed(), None);
    let guest = world.start_connecting(other, None);
    world.run_for(ms(300));
    assert_eq!(world.nodes[other].connects(), 1);
    assert_eq!(resume(&mut world, token), Err(RejectReason::Full));
    world.disconnect(other, guest, DisconnectReason::Requested);
    world.run_for(ms(300));
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
}

#[test]
fn half_open_handshakes_push_nobody_out_of_a_seat() {
    let listen = ListenConfig { peers_max: 2, ..ListenConfig::default() };
    let (mut world, old, token) = lost_with(Security::Required, true, listen);
    let attacker = world.add("10.0.5.5:5555", sealed(), None);
    world.script(|passing| {
        if passing.datagram.kind() == PacketType::Accept as u8 {
            passing.drop();
        }
    });
    for _ in 0..12 {
        world.start_connecting(attacker, None);
        world.run_for(ms(1_100));
        world.restart(attacker, sealed());
    }
    world.run_for(secs(6));
    world.perfect_link();
    assert_eq!(resume(&mut world, token), Ok(Some(old)));
}

/// A client comes with this token while the link drops some datagrams for `duration`; it is restarted then.
fn attempt_over(
    world: &mut World,
    token: ResumeToken,
    duration: netloom_wire::Micros,
    is_lost: impl Fn(u8) -> bool + 'static,
) -> Option<ResumeToken> {
    world.forget();
    world.script(move |passing| {
        if is_lost(passing.datagram.kind()) {
            passing.drop();
        }
    });
    world.start_connecting(CLIENT, Some(token));
    world.run_for(duration);
    assert_eq!(world.server().connects(), 0, "the server has seen no packet of the new connection");
    world.perfect_link();
    let rotated = world.client().resume_token();
    let config = world.client().endpoint.config().clone();
    world.restart(CLIENT, config);
    rotated
}

#[test]
fn an_answer_that_is_lost_costs_no_seat() {
    for security in [Security::Required, Security::Off] {
        for (is_noticed, duration) in [(true, ms(700)), (false, ms(700)), (true, secs(8)), (false, secs(8))] {
            let (mut world, old, token) = lost(security, is_noticed);
            let rotated = attempt_over(&mut world, token, duration, |kind| kind == PacketType::Accept as u8);
            assert_eq!(rotated, None, "nothing reached the client");
            assert_eq!(resume(&mut world, token), Ok(Some(old)), "{security:?}, after {duration:?}");
            assert_eq!(world.server().endpoint.peer_count(), 1);
        }
    }
}

#[test]
fn a_client_that_was_answered_and_not_heard_comes_back_with_either_token_and_then_the_other_is_over() {
    for security in [Security::Required, Security::Off] {
        for (has_kept_it, duration) in [(true, ms(700)), (false, ms(700)), (true, secs(8)), (false, secs(8))]
        {
            let (mut world, old, token) = lost(security, true);
            let rotated = attempt_over(&mut world, token, duration, |kind| kind > PacketType::Reject as u8);
            let rotated = rotated.expect("the answer arrived");
            let (kept, other) = if has_kept_it { (rotated, token) } else { (token, rotated) };
            assert_eq!(resume(&mut world, kept), Ok(Some(old)), "{security:?}, after {duration:?}");
            assert_eq!(world.server().endpoint.peer_count(), 1);
            for stolen in [kept, other] {
                let config = world.client().endpoint.config().clone();
                world.restart(CLIENT, config);
                assert_eq!(resume(&mut world, stolen), Err(RejectReason::Resume));
            }
        }
    }
}

#[test]
fn a_stolen_token_is_worth_nothing_once_its_owner_has_the_next_one() {
    for security in [Security::Required, Security::Off] {
        let (mut world, old, token) = lost(security, true);
        assert_eq!(resume(&mut world, token), Ok(Some(old)));
        let (owner, config) = (world.server().peer(), world.client().endpoint.config().clone());
        world.forget();
        let thief = world.add("10.0.1.77:5555", config, None);
        world.start_connecting(thief, Some(token));
        world.run_for(secs(1));
        assert!(matches!(
            world.nodes[thief].events[..],
            [(_, Seen::Disconnected(DisconnectReason::Rejected, Some((RejectReason::Resume, 0))))]
        ));
        assert_eq!(world.server().endpoint.state(owner), State::Connected);
        assert!(world.server().ends().is_empty() && world.client().ends().is_empty());
    }
}
