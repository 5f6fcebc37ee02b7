//! When calls arrive, and in which order.

use netloom_session::client::{ClientError, ClientEvent};
use netloom_session::config::ClientConfig;
use netloom_session::rpc::CallError;

use super::*;

#[test]
fn a_lossy_network_keeps_order_where_order_was_asked_for_and_loses_only_what_may_be_lost() {
    let (mut net, _, [alice, bob]) = party_of(["alice", "bob"]);
    (net.loss, net.latency) = (0.2, Micros::from_millis(40));
    let count = 300;
    for number in 0..count {
        for name in ["ordered", "unordered", "unreliable"] {
            room(&mut net).call(CallTarget::All, name, None, &(number,)).unwrap();
        }
        net.step();
    }
    net.run(seconds(5));
    for client in [alice, bob] {
        assert!(numbers(&net, client, "ordered").into_iter().eq(0..count));
        let mut all = numbers(&net, client, "unordered");
        assert!(!all.is_sorted(), "what is behind a loss does not wait");
        all.sort_unstable();
        assert!(all.into_iter().eq(0..count));
        let some = numbers(&net, client, "unreliable");
        assert!((150..300).contains(&some.len()), "{} of {count}", some.len());
    }
}

#[test]
fn a_call_about_an_object_comes_after_the_object_whatever_is_lost() {
    let (mut net, _, [alice, bob]) = party_of(["alice", "bob"]);
    net.loss = 0.3;
    for number in 0..20 {
        let at = [1_000.0 + number as f32, 0.0, 0.0];
        let cube = room(&mut net).spawn(&Lamp { at }, None).unwrap();
        let named = room(&mut net).object_arg(cube);
        room(&mut net).call(CallTarget::All, "ordered", Some(cube), &(number,)).unwrap();
        room(&mut net).call(CallTarget::All, "pointed", None, &(named,)).unwrap();
        net.run(Micros::from_millis(35));
    }
    net.run(seconds(3));
    for client in [alice, bob] {
        let events = &net.clients[client].events;
        let mut seen = 0;
        for (place, event) in events.iter().enumerate() {
            let ClientEvent::Called(called) = event else { continue };
            if &*called.name != "ordered" {
                continue;
            }
            let object = called.object.expect("it was on its way");
            assert!(events[..place].contains(&ClientEvent::Entered(object)));
            let (number,): (u32,) = called.args().unwrap();
            assert_eq!(lamp_at(&net, client, 1_000.0 + number as f32), Some(object));
            seen += 1;
        }
        assert_eq!(seen, 20);
        let named: Vec<(ObjectArg,)> =
            called(&net, client, "pointed").map(|called| called.args().unwrap()).collect();
        assert!(named.len() == 20 && named.iter().all(|(arg,)| arg.0.is_some()));
    }
}

#[test]
fn a_call_to_a_player_who_is_far_away_and_has_just_come_waits_for_its_object() {
    let (mut net, _, _) = party_of(["alice", "bob"]);
    let lamp = room(&mut net).spawn(&Lamp { at: [1_000.0, 0.0, 0.0] }, None).unwrap();
    net.run(seconds(1));
    net.latency = Micros::from_millis(150);
    let carl = net.join("carl");
    net.until("a seat", |net| room(net).player_count() == 3);
    let player = room(&mut net).players().map(|player| player.id).max().unwrap();
    room(&mut net).call(CallTarget::Player(player), "ordered", Some(lamp), &(1u32,)).unwrap();
    net.run(seconds(3));
    let objects: Vec<Option<Alias>> = called(&net, carl, "ordered").map(|called| called.object).collect();
    assert_eq!(objects, [lamp_at(&net, carl, 1_000.0)]);
    assert!(objects[0].is_some(), "it is there");
}

#[test]
fn a_call_about_an_object_that_never_comes_is_given_without_it() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    net.clients[alice].is_plugged = false;
    let cube = room(&mut net).spawn(&Lamp { at: [500.0, 0.0, 0.0] }, None).unwrap();
    net.run(Micros::from_millis(100));
    room(&mut net).call(CallTarget::All, "ordered", Some(cube), &(7,)).unwrap();
    net.run(Micros::from_millis(100));
    // It is gone before anything of it gets through.
    room(&mut net).despawn(cube).unwrap();
    net.run(Micros::from_millis(100));
    net.clients[alice].is_plugged = true;
    net.until("the call", |net| called(net, alice, "ordered").next().is_some());
    assert_eq!(called(&net, alice, "ordered").next().unwrap().object, None);
    assert_eq!(net.clients[alice].client.call_counters().without_object, 1);
}

#[test]
fn what_belongs_to_a_moment_is_given_when_the_view_gets_there() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    net.run(seconds(2));
    room(&mut net).call(CallTarget::All, "boom", None, &(1,)).unwrap();
    room(&mut net).call(CallTarget::All, "ordered", None, &(2,)).unwrap();
    net.until("the other one", |net| called(net, alice, "ordered").next().is_some());
    assert_eq!(called(&net, alice, "boom").count(), 0, "its moment is not seen yet");
    let arrived = net.now;
    net.until("the boom", |net| called(net, alice, "boom").next().is_some());
    let boom = called(&net, alice, "boom").next().unwrap();
    let view = net.clients[alice].client.view().unwrap();
    let ahead = view.time().unwrap().since(view.time_of(boom.tick.unwrap()));
    assert!(ahead <= Micros::from_millis(6), "in the first frame of it, not {ahead:?} later");
    assert!(net.now.since(arrived) >= Micros::from_millis(30));
    assert_eq!(boom.late, Micros::ZERO);
}

#[test]
fn a_client_says_what_it_saw_and_nobody_sees_the_future() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    net.run(seconds(2));
    net.clients[alice].client.call("look", &()).unwrap();
    let seen_ms = net.clients[alice].client.view().unwrap().time().unwrap().0 / 1_000;
    net.until("an answer", |net| called(net, alice, "sum").next().is_some());
    let (tick,): (Option<u32>,) = called(&net, alice, "sum").next().unwrap().args().unwrap();
    assert_eq!(u64::from(tick.expect("a tick")), seen_ms / 50, "at 20 ticks a second");
}

#[test]
fn tables_of_other_builds_agree_by_name() {
    let (mut net, heard, [alice]) = party_of(["alice"]);
    let other = objects()
        .rpc("add", RpcOptions { bytes_max: 10, ..by(Callers::Clients) })
        .rpc("aardvark", by(Callers::Both))
        .rpc("sum", by(Callers::Both))
        .rpc("tiny", RpcOptions { is_forwarded: true, ..RpcOptions::default() });
    let bob = net.join_as(ClientConfig::default(), other.build().unwrap());
    net.welcome(bob);
    net.until_event(bob, "the list", |event| {
        matches!(event, ClientEvent::CallsAgreed { missing } if missing.iter().any(|name| &**name == "aardvark"))
    });
    let ids = (protocol().rpcs().id("add"), net.clients[bob].client.protocol().rpcs().id("add"));
    assert_ne!(ids.0, ids.1, "or this test shows nothing");
    let client = &mut net.clients[bob].client;
    client.call("add", &(1_000_000_000, 2_000_000_000)).expect("the server allows more");
    let lacks = client.call("aardvark", &()).unwrap_err();
    assert!(matches!(lacks, ClientError::Call(CallError::ServerLacks { .. })), "{lacks}");
    let unknown = client.call("grumble", &()).unwrap_err();
    assert!(matches!(unknown, ClientError::Call(CallError::UnknownName { .. })), "{unknown}");
    let refused = client.call_to(netloom_session::rpc::Target::All, "tiny", None, &()).unwrap_err();
    assert!(matches!(refused, ClientError::Call(CallError::Refused { .. })), "{refused}");
    room(&mut net).call(CallTarget::All, "ordered", None, &(1,)).unwrap();
    net.run(seconds(1));
    assert_eq!(called(&net, bob, "sum").next().unwrap().args(), Ok((3_000_000_000_u64,)));
    assert_eq!(heard.lock().unwrap().len(), 1);
    let counters = net.clients[bob].client.call_counters();
    assert_eq!(counters.unknown, 2, "a greeting and an order that bob has no names for");
    assert_eq!(numbers(&net, alice, "ordered"), [1]);
}

#[test]
fn before_the_list_is_here_calls_fail_and_what_arrives_waits() {
    // So many names that they take more than a packet.
    let many = (0..1_500)
        .fold(calls(objects()), |calls, number| calls.rpc(&format!("call {number}"), RpcOptions::default()));
    let game = Party::default();
    let mut net = Net::play(ServerConfig::default(), RoomConfig::new("main"), many.build().unwrap(), game);
    net.loss = 0.2;
    let mut early = 0;
    for number in 0..5 {
        let protocol = objects().rpc("add", by(Callers::Both)).rpc("greet", by(Callers::Both)).build();
        let bob = net.join_as(
            ClientConfig { name: format!("bob{number}"), ..ClientConfig::default() },
            protocol.unwrap(),
        );
        assert!(matches!(net.clients[bob].client.call("add", &(1, 2)), Err(ClientError::NoSeat)));
        net.until("a seat and the list", |net| {
            let client = &mut net.clients[bob].client;
            if client.player().is_some() && !client.can_call() {
                early += 1;
                assert!(matches!(client.call("add", &(1, 2)), Err(ClientError::CallsNotAgreed)));
            }
            client.can_call()
        });
        net.until("the greeting", |net| called(net, bob, "greet").next().is_some());
        let (now, events) = (net.now, &net.clients[bob].events);
        let place = |wanted: fn(&ClientEvent) -> bool| events.iter().position(wanted).unwrap();
        let agreed = place(|event| matches!(event, ClientEvent::CallsAgreed { .. }));
        assert!(agreed < place(|event| matches!(event, ClientEvent::Called(_))));
        net.clients[bob].client.disconnect(now);
        net.run(seconds(1));
    }
    assert!(early > 0, "the list never came later than the seat");
}

#[test]
fn calls_go_on_after_a_lost_connection_is_taken_up_again() {
    let mut config = ServerConfig::default();
    config.connection.peer_timeout = seconds(3);
    let game = Party { cubes: Cubes::new(3), ..Party::default() };
    let mut net = Net::play(config, RoomConfig::new("main"), protocol(), game);
    let mut own = ClientConfig::default();
    own.connection.peer_timeout = seconds(3);
    let alice = net.join_with(own);
    net.until_event(alice, "the world", |event| *event == ClientEvent::Complete);
    net.clients[alice].is_plugged = false;
    net.until_event(alice, "a loss", |event| matches!(event, ClientEvent::Lost { .. }));
    assert!(net.clients[alice].client.call("add", &(1, 2)).is_err());
    room(&mut net).call(CallTarget::All, "ordered", None, &(1,)).expect("nobody there is no error");
    net.clients[alice].is_plugged = true;
    net.until_event(alice, "the old seat", |event| {
        matches!(event, ClientEvent::Welcomed { is_resumed: true, .. })
    });
    room(&mut net).call(CallTarget::All, "ordered", None, &(2,)).unwrap();
    net.clients[alice].client.call("add", &(1, 2)).unwrap();
    net.run(seconds(2));
    assert_eq!(numbers(&net, alice, "sum"), [3]);
    assert_eq!(numbers(&net, alice, "ordered"), [2]);
}

#[test]
fn a_last_call_reaches_whoever_is_kicked_and_a_room_that_ends() {
    let (mut net, _, [alice, bob]) = party_of(["alice", "bob"]);
    let one = player(&net, alice);
    let in_room = room(&mut net);
    in_room.call(CallTarget::Player(one), "ordered", None, &(1,)).unwrap();
    in_room.kick(one, "enough");
    net.until_event(alice, "an end", |event| matches!(event, ClientEvent::Ended(_)));
    assert_eq!(numbers(&net, alice, "ordered"), [1]);
    let in_room = room(&mut net);
    in_room.call(CallTarget::All, "ordered", None, &(2,)).unwrap();
    in_room.end("good night");
    net.until_event(bob, "an end", |event| matches!(event, ClientEvent::Ended(_)));
    assert_eq!(numbers(&net, bob, "ordered"), [2]);
}
