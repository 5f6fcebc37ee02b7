//! Who gets a call, and what it says to each of them.

use netloom_replica::server::interest::{GridConfig, Policy};
use netloom_session::client::{ClientError, ClientEvent};
use netloom_session::message::CallRefusal;
use netloom_session::room::{GroupError, NO_ME};
use netloom_session::rpc::{ObjectArg, Target, Value};

use super::*;

/// Far away from everything else.
const FAR: f32 = 10_000.0;

/// Alice stands where everything is, and bob far away; each sees what is near.
fn apart() -> (Net, Heard, [usize; 2]) {
    let mut config = RoomConfig::new("main");
    config.replication.policy = Policy::Grid(GridConfig::default());
    let (mut net, heard) = party(config);
    let clients = ["alice", "bob"].map(|name| net.join(name));
    clients.iter().for_each(|client| net.welcome(*client));
    let bob = player(&net, clients[1]);
    room(&mut net).set_viewpoint(bob, [FAR, 0.0, 0.0]);
    net.run(seconds(3));
    (net, heard, clients)
}

#[test]
fn a_typed_call_reaches_the_game_and_its_answer_the_caller_alone() {
    let (mut net, heard, [alice, bob]) = party_of(["alice", "bob"]);
    net.clients[alice].client.call("add", &(40, 2)).unwrap();
    net.until_event(alice, "the sum", |event| {
        matches!(event, ClientEvent::Called(called) if &*called.name == "sum" && called.caller.is_none())
    });
    assert_eq!(numbers(&net, alice, "sum"), [42]);
    assert_eq!(numbers(&net, bob, "sum"), []);
    let from = player(&net, alice);
    assert_eq!(*heard.lock().unwrap(), [(from, "add".to_owned(), None)]);
}

#[test]
fn a_call_by_id_with_values_of_a_script_is_the_same_call() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    let id = protocol().rpcs().id("add").unwrap();
    let mut args = Vec::new();
    netloom_session::rpc::args::write_args(2, &mut args, |writer| {
        writer.int(40);
        writer.int(2);
    })
    .unwrap();
    net.clients[alice].client.call_raw(Target::Server, id, None, &args).unwrap();
    net.run(seconds(1));
    let sum = called(&net, alice, "sum").next().expect("an answer");
    assert_eq!(sum.values().collect::<Vec<_>>(), [Value::Int(42)]);
    room(&mut net).call_raw(CallTarget::All, "ordered", None, b"\x91\x07").unwrap();
    assert!(room(&mut net).call_raw(CallTarget::All, "ordered", None, b"\x92\x07").is_err(), "no list");
    net.run(seconds(1));
    assert_eq!(numbers(&net, alice, "ordered"), [7]);
}

#[test]
fn a_room_calls_all_others_one_the_owner_and_a_group() {
    let (mut net, _, clients) = party_of(["alice", "bob", "carol"]);
    let [alice, bob, carol] = clients;
    let [one, two, three] = clients.map(|client| player(&net, client));
    let room = room(&mut net);
    room.join_group(two, "red").unwrap();
    room.join_group(three, "red").unwrap();
    let owned = room.spawn(&Lamp::default(), Some(two)).unwrap();
    let nobodys = room.spawn(&Lamp::default(), None).unwrap();
    let targets = [
        CallTarget::All,
        CallTarget::Others(one),
        CallTarget::Player(three),
        CallTarget::OwnerOf(owned),
        CallTarget::group("red"),
        CallTarget::Seeing(owned),
    ];
    for (number, target) in (0..).zip(targets) {
        room.call(target, "ordered", None, &(number,)).unwrap();
    }
    for nobody in [CallTarget::OwnerOf(nobodys), CallTarget::group("blue"), CallTarget::Player(PlayerId(99))]
    {
        room.call(nobody, "ordered", None, &(99,)).expect("nobody there is no error");
    }
    net.run(seconds(1));
    assert_eq!(numbers(&net, alice, "ordered"), [0, 5]);
    assert_eq!(numbers(&net, bob, "ordered"), [0, 1, 3, 4, 5]);
    assert_eq!(numbers(&net, carol, "ordered"), [0, 1, 2, 4, 5]);
}

#[test]
fn a_client_reaches_others_through_the_server_which_says_who_called() {
    let (mut net, _, clients) = party_of(["alice", "bob", "carol"]);
    let [alice, bob, carol] = clients;
    let [one, two, three] = clients.map(|client| player(&net, client));
    room(&mut net).join_group(three, "red").unwrap();
    let owned = room(&mut net).spawn(&Lamp { at: [50.0, 0.0, 0.0] }, Some(two)).unwrap();
    net.run(seconds(1));
    let object = lamp_at(&net, alice, 50.0);
    assert!(object.is_some() && room(&mut net).world().contains(owned));
    let targets = [
        Target::All,
        Target::Others,
        Target::Owner,
        Target::Player(three),
        Target::Group(netloom_wire::Name::of("red")),
        Target::Group(netloom_wire::Name::of(NO_ME)),
        Target::Interested,
    ];
    for (number, target) in (0..).zip(targets) {
        net.clients[alice].client.call_to(target, "tell", object, &(number,)).unwrap();
    }
    net.run(seconds(1));
    assert_eq!(numbers(&net, alice, "tell"), [0, 6]);
    assert_eq!(numbers(&net, bob, "tell"), [0, 1, 2, 5, 6]);
    assert_eq!(numbers(&net, carol, "tell"), [0, 1, 3, 4, 5, 6]);
    assert!(called(&net, bob, "tell").all(|called| called.caller == Some(one) && called.object.is_some()));
}

#[test]
fn what_nobody_owns_is_the_servers_and_the_game_may_refuse_to_pass_on() {
    let (mut net, heard, [alice, bob]) = party_of(["alice", "bob"]);
    let one = player(&net, alice);
    let cube = net.clients[alice].client.all::<common::Cube>().next().unwrap().0;
    net.clients[alice].client.call_to(Target::Owner, "tell", Some(cube), &()).unwrap();
    net.clients[alice].client.call_to(Target::Others, "rude", None, &()).unwrap();
    net.until_event(alice, "a no", |event| {
        matches!(event, ClientEvent::CallRefused { name: Some(name), reason: CallRefusal::NotPassedOn, .. }
            if &**name == "rude")
    });
    assert_eq!(called(&net, bob, "rude").count(), 0);
    let heard = heard.lock().unwrap();
    assert!(matches!(&heard[..], [(from, name, Some(_))] if *from == one && name == "tell"), "{heard:?}");
}

#[test]
fn only_those_who_see_an_object_hear_of_it() {
    let (mut net, _, [alice, bob]) = apart();
    let far = room(&mut net).spawn(&Lamp { at: [FAR, 1.0, 0.0] }, None).unwrap();
    let near = room(&mut net).spawn(&Lamp { at: [70.0, 1.0, 0.0] }, None).unwrap();
    net.run(seconds(1));
    let room = room(&mut net);
    room.call(CallTarget::Seeing(far), "ordered", Some(far), &(1,)).unwrap();
    room.call(CallTarget::Seeing(near), "ordered", Some(near), &(2,)).unwrap();
    room.call(CallTarget::All, "ordered", Some(far), &(3,)).unwrap();
    net.run(seconds(1));
    assert_eq!(numbers(&net, alice, "ordered"), [2, 3]);
    assert_eq!(numbers(&net, bob, "ordered"), [1, 3]);
    let about = |net: &Net, client: usize| called(net, client, "ordered").last().unwrap().object;
    assert_eq!(about(&net, alice), None, "alice does not see it");
    assert_eq!(about(&net, bob), lamp_at(&net, bob, FAR));
    assert!(about(&net, bob).is_some());
}

#[test]
fn a_call_about_what_has_just_appeared_reaches_those_who_will_see_it() {
    let (mut net, _, [alice, bob]) = apart();
    for number in 0..10 {
        let x = FAR + 5.0 * number as f32;
        let lamp = room(&mut net).spawn(&Lamp { at: [x, 1.0, 0.0] }, None).unwrap();
        room(&mut net).call(CallTarget::Seeing(lamp), "ordered", Some(lamp), &(number,)).unwrap();
        net.run(Micros::from_millis(85));
    }
    net.run(seconds(1));
    assert_eq!(numbers(&net, alice, "ordered"), []);
    assert!(numbers(&net, bob, "ordered").into_iter().eq(0..10));
    for (number, called) in called(&net, bob, "ordered").enumerate() {
        assert_eq!(called.object, lamp_at(&net, bob, FAR + 5.0 * number as f32));
        assert!(called.object.is_some());
    }
}

#[test]
fn an_object_among_arguments_is_to_each_what_they_call_it() {
    let (mut net, _, [alice, bob]) = apart();
    let carol = net.join("carol");
    net.welcome(carol);
    // Carol sees one more than bob, which came first.
    room(&mut net).spawn(&Lamp { at: [FAR + 150.0, 1.0, 0.0] }, None).unwrap();
    room(&mut net).spawn(&Lamp { at: [FAR, 1.0, 0.0] }, None).unwrap();
    let three = player(&net, carol);
    room(&mut net).set_viewpoint(three, [FAR + 75.0, 0.0, 0.0]);
    net.run(seconds(3));
    let (by_bob, by_carol) = (lamp_at(&net, bob, FAR).unwrap(), lamp_at(&net, carol, FAR).unwrap());
    assert_ne!(by_bob, by_carol, "or this test shows nothing");
    // Through the game, and passed on by the server.
    let arg = (ObjectArg(Some(by_bob)),);
    net.clients[bob].client.call("point", &arg).unwrap();
    net.clients[bob].client.call_to(Target::All, "tell", None, &arg).unwrap();
    net.run(seconds(1));
    for name in ["pointed", "tell"] {
        for (client, alias) in [(alice, None), (bob, Some(by_bob)), (carol, Some(by_carol))] {
            let called = called(&net, client, name).next().expect(name);
            assert_eq!(called.args(), Ok((ObjectArg(alias),)), "{name}");
        }
    }
}

#[test]
fn an_object_that_was_named_in_an_earlier_callback_is_nobody() {
    let (mut net, _, [alice]) = party_of(["alice"]);
    let cube = room(&mut net).world().iter().next().unwrap().index();
    let kept = room(&mut net).object_arg(cube);
    net.run(seconds(1));
    room(&mut net).call(CallTarget::All, "pointed", None, &(kept,)).unwrap();
    net.run(seconds(1));
    assert_eq!(called(&net, alice, "pointed").next().unwrap().args(), Ok((ObjectArg(None),)));
}

#[test]
fn a_call_about_an_object_that_the_caller_does_not_see_is_refused() {
    let (mut net, heard, [alice, bob]) = apart();
    room(&mut net).spawn(&Lamp { at: [FAR, 1.0, 0.0] }, None).unwrap();
    net.run(seconds(1));
    let by_bob = lamp_at(&net, bob, FAR).unwrap();
    let wrong = Alias { slot: by_bob.slot + 100, ..by_bob };
    net.clients[alice].client.call_object("grumble", wrong, &()).unwrap();
    net.until_event(alice, "a no", |event| {
        matches!(event, ClientEvent::CallRefused { reason: CallRefusal::NoSuchObject, .. })
    });
    assert!(heard.lock().unwrap().is_empty());
    let error = net.clients[alice].client.call_to(Target::Owner, "tell", None, &()).unwrap_err();
    assert!(matches!(error, ClientError::NeedsObject), "{error}");
}

#[test]
fn who_leaves_the_room_leaves_its_groups() {
    let (mut net, _, [alice, bob]) = party_of(["alice", "bob"]);
    let [one, two] = [alice, bob].map(|client| player(&net, client));
    let in_room = room(&mut net);
    for player in [one, two] {
        in_room.join_group(player, "red").unwrap();
    }
    assert_eq!(in_room.group("red"), [one, two]);
    assert_eq!(in_room.join_group(PlayerId(99), "red"), Err(GroupError::NoSuchPlayer(PlayerId(99))));
    let now = net.now;
    net.clients[bob].client.disconnect(now);
    net.run(seconds(1));
    assert_eq!(room(&mut net).group("red"), [one]);
    assert!(room(&mut net).leave_group(one, "red"));
    assert_eq!(room(&mut net).groups().count(), 0);
}

#[test]
fn who_is_not_there_hears_nothing_and_neither_does_anybody_else() {
    let (mut net, heard, [alice, bob]) = party_of(["alice", "bob"]);
    let gone = player(&net, bob);
    let nobodies =
        [Target::Player(PlayerId(999)), Target::Group(netloom_wire::Name::of("blue")), Target::Player(gone)];
    net.server.kick(net.now, gone, "bye");
    for target in nobodies {
        net.clients[alice].client.call_to(target, "tell", None, &(1,)).unwrap();
    }
    net.run(seconds(2));
    let counts = [alice, bob].map(|client| called(&net, client, "tell").count());
    assert_eq!((counts, heard.lock().unwrap().len()), ([0, 0], 0));
    assert_eq!(net.server.player_count(), 1, "asking for nobody is no offence");
}

#[test]
fn player_0_is_the_server() {
    let (mut net, heard, [alice]) = party_of(["alice"]);
    net.clients[alice].client.call_to(Target::Player(PlayerId(0)), "tell", None, &()).unwrap();
    net.run(seconds(1));
    assert_eq!(heard.lock().unwrap().len(), 1);
}
