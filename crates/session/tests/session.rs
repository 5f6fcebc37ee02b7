//! A server and its clients, from the first greeting to the last farewell.

mod common;

use common::{Cube, Cubes, Keys, Net, Walker};
use netloom_proto::DisconnectReason;
use netloom_replica::codec::{Blend, Codes, Tally};
use netloom_session::client::{ClientEvent, Ending};
use netloom_session::config::{ClientConfig, RoomConfig, ServerConfig};
use netloom_session::lobby::DuplicateNames;
use netloom_session::message::Refusal;
use netloom_session::replicated::Replicated;
use netloom_session::validate::Reason;
use netloom_session::{Protocol, ServerEvent};
use netloom_wire::quantize::Words3;
use netloom_wire::schema::{Audience, Value};
use netloom_wire::{Alias, Micros};

fn seconds(seconds: u64) -> Micros {
    Micros::from_secs(seconds)
}

#[test]
fn a_client_joins_and_sees_what_the_server_has() {
    let mut net = Net::cubes(200);
    let alice = net.join("alice");
    net.welcome(alice);
    net.until_event(alice, "the whole world", |event| *event == ClientEvent::Complete);
    net.run(seconds(2));
    let room = net.server.room(net.room).unwrap();
    let objects = net.clients[alice].client.objects().unwrap();
    assert_eq!(objects.len(), 201, "200 cubes and the own walker");
    assert_eq!(room.world().len(), 201);
    assert_eq!(net.clients[alice].client.all::<Cube>().count(), 200);
    let view = net.clients[alice].client.view().unwrap();
    assert_eq!(view.iter().count(), 201);
    assert!(net.clients[alice].client.progress() == 1.0);
}

#[test]
fn without_a_seat_nothing_is_replicated_and_every_operation_says_so() {
    let mut net = Net::cubes(5);
    let snapshots = |net: &Net| net.server.room(net.room).unwrap().counters().snapshots;
    let alice = net.join("alice");
    net.clients[alice].is_plugged = false;
    net.run(seconds(1));
    let client = &mut net.clients[alice].client;
    let object = Alias { slot: 0, generation: 0 };
    assert!(client.chat(false, "hello").is_err() && client.claim(object, true).is_err());
    assert!(client.call("wave", &()).is_err() && client.write(object, 0, Value::Word(1)).is_err());
    assert!(client.objects().is_none() && client.poll_step().is_none());
    assert_eq!(snapshots(&net), 0);
    net.clients[alice].is_plugged = true;
    net.welcome(alice);
    net.run(seconds(1));
    assert!(snapshots(&net) > 0 && net.clients[alice].client.chat(false, "hello").is_ok());
    net.clients[alice].is_plugged = false;
    net.run(seconds(12));
    let before = snapshots(&net);
    net.run(seconds(2));
    assert_eq!(snapshots(&net), before, "whoever is away is told nothing");
}

#[test]
fn the_own_walker_reacts_at_once_and_the_server_agrees() {
    let mut net = Net::cubes(3);
    net.latency = Micros::from_millis(60);
    let alice = net.join("alice");
    net.welcome(alice);
    net.until("a prediction", |net| net.clients[alice].prediction.object().is_some());
    net.run(seconds(1));
    let before = net.clients[alice].prediction.state().unwrap().clone();
    net.clients[alice].keys = Keys { x: 1, y: 0 };
    net.run(Micros::from_millis(20));
    let after = net.clients[alice].prediction.state().unwrap();
    assert!(after.at[0] > before.at[0], "within a frame, at a round trip of 120 ms");
    net.run(seconds(2));
    net.clients[alice].keys = Keys::default();
    net.run(seconds(1));
    let seen = &net.clients[alice];
    let there = seen.client.all::<Walker>().next().unwrap().1.at[0];
    assert!((there - seen.prediction.state().unwrap().at[0]).abs() < 0.02, "{there}");
    assert!(there > 5.0, "two seconds at 3 m/s: {there}");
    assert_eq!(seen.corrections, 0, "the server did the same");
}

#[test]
fn players_hear_of_each_other() {
    let mut net = Net::cubes(1);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    net.run(Micros::from_millis(200));
    let names = |net: &Net, client: usize| -> Vec<String> {
        net.clients[client].client.others().map(|(_, other)| other.name.clone()).collect()
    };
    assert_eq!(names(&net, alice), ["bob"]);
    assert_eq!(names(&net, bob), ["alice"]);
    let (now, bob_id) = (net.now, net.clients[bob].client.player().unwrap());
    net.clients[bob].client.disconnect(now);
    net.until_event(alice, "that bob left", |event| {
        *event == ClientEvent::Left { player: bob_id, name: "bob".to_owned() }
    });
    assert_eq!(net.server.player_count(), 1);
    assert_eq!(net.server.room(net.room).unwrap().world().len(), 2, "bob's walker is gone");
}

#[test]
fn few_players_build_on_the_newest_states_and_many_share_older_ones() {
    let mut net = Net::cubes(3);
    let ticks = |net: &mut Net| net.server.room_mut(net.room).unwrap().replication().baseline_ticks();
    for (players, expected) in [(1, 1), (4, 1), (5, 2), (16, 4)] {
        while net.clients.len() < players {
            let name = format!("player {}", net.clients.len());
            let player = net.join(&name);
            net.welcome(player);
        }
        assert_eq!(ticks(&mut net), expected, "{players} players");
    }
    for player in net.clients.iter().skip(1).map(|client| client.client.player().unwrap()).collect::<Vec<_>>()
    {
        let now = net.now;
        assert!(net.server.kick(now, player, "enough"));
    }
    net.until("one is left", |net| net.server.player_count() == 1);
    assert_eq!(ticks(&mut net), 1);
}

#[test]
fn chat_reaches_the_room_unless_the_game_minds() {
    let mut net = Net::cubes(1);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    net.clients[alice].client.chat(false, "darn").unwrap();
    net.clients[alice].client.chat(false, "hello").unwrap();
    let from = net.clients[alice].client.player();
    let said = |text: &str| ClientEvent::Said { player: from, to_team: false, text: text.to_owned() };
    net.until_event(bob, "a hello", |event| *event == said("hello"));
    assert!(!net.clients[bob].has(|event| *event == said("darn")));
    assert!(net.clients[alice].client.chat(false, &"x".repeat(3_000)).is_err());
}

#[test]
fn an_input_that_cannot_be_is_refused_with_a_reason() {
    let mut net = Net::cubes(1);
    let alice = net.join("alice");
    net.welcome(alice);
    net.clients[alice].keys = Keys { x: 100, y: 0 };
    net.until_event(alice, "a refusal", |event| {
        matches!(event, ClientEvent::Rejected { reason: Reason::Game(7), text, .. } if text == "nobody walks that fast")
    });
    let counters = net.server.room(net.room).unwrap().counters();
    let [known @ .., by_game] = counters.rejected_inputs_by_reason;
    assert!(counters.rejected_inputs > 0 && known == [0; 8]);
    assert_eq!(by_game, counters.rejected_inputs);
}

#[test]
fn ownership_is_asked_for_and_granted_or_not() {
    let mut net = Net::cubes(2);
    let alice = net.join("alice");
    net.welcome(alice);
    net.run(seconds(1));
    let mut cubes: Vec<Alias> = net.clients[alice].client.all::<Cube>().map(|(alias, _)| alias).collect();
    cubes.sort_by_key(|alias| alias.slot);
    let [first, second] = cubes[..] else { panic!("{cubes:?}") };
    for cube in [first, second] {
        net.clients[alice].client.claim(cube, true).unwrap();
    }
    net.until_event(alice, "a yes", |event| {
        *event == ClientEvent::Claimed { object: first, is_granted: true }
    });
    net.until_event(alice, "a no", |event| {
        *event == ClientEvent::Claimed { object: second, is_granted: false }
    });
    net.run(seconds(1));
    let cube = net.clients[alice].client.objects().unwrap().object(first).unwrap();
    assert_eq!(cube.audience(), Audience::Owner);
}

#[test]
fn a_client_writes_what_it_may_and_nothing_else() {
    let mut net = Net::cubes(1);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    net.run(seconds(1));
    let mood = Walker::FIELDS.iter().position(|field| *field == "mood").unwrap();
    let own = net.clients[alice].prediction.object().unwrap();
    let walkers = net.clients[alice].client.all::<Walker>();
    let other = walkers.map(|(alias, _)| alias).find(|alias| *alias != own).unwrap();
    let client = &mut net.clients[alice].client;
    client.write(other, mood, Value::Word(3)).unwrap();
    client.write(own, mood, Value::Word(9)).unwrap();
    client.write(own, 1 - mood, Value::Triple(Words3::default())).unwrap();
    client.write(own, mood, Value::Word(5)).unwrap();
    assert!(client.write(own, 7, Value::Word(5)).is_err(), "no such field");
    assert!(client.write(own, mood, Value::Bool(true)).is_err(), "no such value");
    net.until("a mood", |net| net.clients[bob].client.all::<Walker>().any(|(_, walker)| walker.mood == 5));
    let moods: Vec<u8> = net.clients[bob].client.all::<Walker>().map(|(_, walker)| walker.mood).collect();
    assert_eq!(moods.iter().sum::<u8>(), 5, "not the other's, not 9: {moods:?}");
    assert_eq!(net.server.counters().nonsense, 0);
}

#[test]
fn who_is_kicked_is_told_why_and_gone() {
    let mut net = Net::cubes(1);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    let (now, player) = (net.now, net.clients[alice].client.player().unwrap());
    assert!(net.server.kick(now, player, "no shouting"));
    net.until_event(alice, "an end", |event| {
        *event == ClientEvent::Ended(Ending::Kicked("no shouting".to_owned()))
    });
    net.until_event(bob, "that alice left", |event| matches!(event, ClientEvent::Left { .. }));
    assert!(!net.server.kick(now, player, "again"));
}

#[test]
fn a_lost_connection_is_taken_up_again_with_the_same_seat() {
    let mut config = ServerConfig::default();
    config.connection.peer_timeout = seconds(3);
    let mut net = Net::new(config, RoomConfig::new("main"), Cubes::new(5));
    let mut own = ClientConfig { name: "alice".to_owned(), ..ClientConfig::default() };
    own.connection.peer_timeout = seconds(3);
    let alice = net.join_with(own);
    net.welcome(alice);
    net.clients[alice].keys = Keys { x: 1, y: 0 };
    net.run(seconds(2));
    let player = net.clients[alice].client.player();
    net.clients[alice].is_plugged = false;
    net.until_event(alice, "a loss", |event| matches!(event, ClientEvent::Lost { .. }));
    net.run(seconds(2));
    assert_eq!(net.server.player_count(), 1, "the seat is kept");
    net.clients[alice].is_plugged = true;
    net.until_event(alice, "the old seat", |event| {
        matches!(event, ClientEvent::Welcomed { is_resumed: true, .. })
    });
    net.run(seconds(2));
    assert_eq!(net.clients[alice].client.player(), player);
    let (_, own) = net.clients[alice].client.all::<Walker>().next().unwrap();
    assert!(own.at[0] > 1.0, "it stands where it walked to: {own:?}");
}

#[test]
fn who_does_not_come_back_is_gone_after_a_while() {
    let mut config = ServerConfig::default();
    config.connection.peer_timeout = seconds(3);
    config.listen.resume_window = seconds(5);
    let mut net = Net::new(config, RoomConfig::new("main"), Cubes::new(5));
    let alice = net.join("alice");
    net.welcome(alice);
    net.clients[alice].is_plugged = false;
    net.run(seconds(5));
    assert_eq!(net.server.player_count(), 1);
    net.run(seconds(6));
    assert_eq!(net.server.player_count(), 0);
    let events: Vec<ServerEvent> = std::iter::from_fn(|| net.server.poll_event()).collect();
    let reason = DisconnectReason::Timeout;
    assert!(events.iter().any(|event| matches!(event, ServerEvent::Away { reason: r, .. } if *r == reason)));
    assert!(events.iter().any(|event| matches!(event, ServerEvent::Left { reason: r, .. } if *r == reason)));
}

#[test]
fn a_full_room_an_unknown_room_and_a_taken_name_are_refused_with_words() {
    let room =
        RoomConfig { players_max: 1, duplicate_names: DuplicateNames::Refuse, ..RoomConfig::new("main") };
    let mut net = Net::new(ServerConfig::default(), room, Cubes::new(1));
    let alice = net.join("alice");
    net.welcome(alice);
    let expect =
        |net: &mut Net, config: ClientConfig, refusal: Refusal| {
            let client = net.join_with(config);
            net.until_event(client, "a refusal", |event| {
            matches!(event, ClientEvent::Ended(Ending::Refused { reason, .. }) if *reason == refusal)
        });
        };
    expect(&mut net, ClientConfig::default(), Refusal::RoomFull);
    let elsewhere = ClientConfig { room: "nowhere".to_owned(), ..ClientConfig::default() };
    expect(&mut net, elsewhere, Refusal::NoSuchRoom);
    let same = ClientConfig { name: "alice".to_owned(), is_spectator: true, ..ClientConfig::default() };
    expect(&mut net, same, Refusal::NameTaken);
    let counters = net.server.counters();
    let by_reason = Refusal::ALL.iter().map(|reason| counters.refused_by_reason[*reason as usize]);
    assert_eq!((counters.refused, by_reason.collect::<Vec<_>>()), (3, vec![1, 1, 1, 0, 0, 0, 0, 0]));
}

#[test]
fn a_room_is_found_by_its_code() {
    let mut net = Net::cubes(1);
    let secret = RoomConfig { code: "BCD234".to_owned(), ..RoomConfig::new("a long name nobody types") };
    let secret = net.server.add_room(net.now, secret, Cubes::new(1)).unwrap();
    let client = net.join_with(ClientConfig { room: "bcd-234".to_owned(), ..ClientConfig::default() });
    net.welcome(client);
    assert_eq!(net.server.room(secret).unwrap().player_count(), 1);
}

#[test]
fn another_version_of_the_game_is_told_which_version_the_server_has() {
    let mut net = Net::cubes(1);
    let older = Protocol::builder("cubes").version(2).build().unwrap();
    let client = net.join_as(ClientConfig::default(), older);
    net.until_event(client, "an end", |event| matches!(event, ClientEvent::Ended(_)));
    let Some(ClientEvent::Ended(ending)) = net.clients[client].events.last() else { panic!() };
    assert!(ending.to_string().ends_with("the server has version 3 of the game"), "{ending}");
}

#[test]
fn a_client_with_other_code_tables_is_told_which_the_server_has_and_with_the_same_it_plays() {
    let mut net = Net::cubes(1);
    let mut tally = Tally::new(&Codes::generic());
    (0..999).for_each(|_| tally.gap(30, true));
    let trained = tally.train("sparse", &Blend::default()).unwrap();
    let client = net.join_as(ClientConfig::default(), common::protocol().with_codes(trained.clone()));
    net.until_event(client, "an end", |event| matches!(event, ClientEvent::Ended(_)));
    let Some(ClientEvent::Ended(ending)) = net.clients[client].events.last() else { panic!() };
    let id = format!("the server has the table with the id {:08x}", Codes::generic().id());
    assert!(ending.to_string().ends_with(&id), "{ending}");
    let refused = net.server.refusals().find(|(reason, _)| *reason == netloom_proto::RejectReason::Tables);
    assert!(refused.is_some_and(|(_, count)| count > 0));
    // The name is for people: the handshake compares what is in it.
    let renamed = Codes::from_lengths("renamed", Codes::generic().lengths()).unwrap();
    let client = net.join_as(ClientConfig::default(), common::protocol().with_codes(renamed));
    net.welcome(client);
}

#[test]
fn a_game_that_panics_ends_its_room_and_nothing_else() {
    let doomed = Cubes { panics_at: Some(120), ..Cubes::new(1) };
    let mut net = Net::new(ServerConfig::default(), RoomConfig::new("doomed"), doomed);
    let fine = net.server.add_room(net.now, RoomConfig::new("fine"), Cubes::new(1)).unwrap();
    let [alice, bob] = ["doomed", "fine"]
        .map(|room| net.join_with(ClientConfig { room: room.to_owned(), ..ClientConfig::default() }));
    net.welcome(alice);
    net.welcome(bob);
    net.until_event(alice, "an end", |event| {
        matches!(event, ClientEvent::Ended(Ending::RoomEnded(text)) if text.contains("the dice fell"))
    });
    net.run(seconds(1));
    assert!(net.server.room(net.room).is_none());
    assert_eq!(net.server.room(fine).unwrap().player_count(), 1);
    assert!(!net.clients[bob].has(|event| matches!(event, ClientEvent::Ended(_))));
    let events: Vec<ServerEvent> = std::iter::from_fn(|| net.server.poll_event()).collect();
    assert!(events.iter().any(|event| matches!(event, ServerEvent::RoomEnded { by_panic: true, .. })));
}

#[test]
fn a_server_that_stops_says_why_and_waits_until_everybody_is_gone() {
    let mut net = Net::cubes(1);
    let clients = ["a", "b", "c"].map(|name| net.join(name));
    clients.iter().for_each(|client| net.welcome(*client));
    let now = net.now;
    net.server.stop(now, "maintenance");
    assert!(!net.server.is_stopped());
    for client in clients {
        net.until_event(client, "an end", |event| {
            *event == ClientEvent::Ended(Ending::Shutdown("maintenance".to_owned()))
        });
    }
    net.until("the end", |net| net.server.is_stopped());
}

#[test]
fn a_banned_address_is_let_go_of_and_not_let_in_again() {
    let mut net = Net::cubes(1);
    let alice = net.join("alice");
    net.welcome(alice);
    let (now, ip) = (net.now, net.clients[alice].address.ip());
    net.server.ban(now, ip);
    net.until_event(alice, "an end", |event| matches!(event, ClientEvent::Ended(Ending::Kicked(_))));
    let (now, server) = (net.now, common::SERVER.parse().unwrap());
    net.clients[alice].events.clear();
    net.clients[alice].client.connect(now, server).unwrap();
    net.until_event(alice, "a refusal", |event| {
        matches!(event, ClientEvent::Ended(Ending::Refused { reason: Refusal::Banned, .. }))
    });
    net.server.unban(ip);
    let now = net.now;
    net.clients[alice].events.clear();
    net.clients[alice].client.connect(now, server).unwrap();
    net.welcome(alice);
}

#[test]
fn everything_holds_with_loss() {
    let mut net = Net::cubes(50);
    (net.loss, net.latency) = (0.1, Micros::from_millis(50));
    let clients: Vec<usize> = (0..8).map(|number| net.join(&format!("p{number}"))).collect();
    clients.iter().for_each(|client| net.welcome(*client));
    for (number, client) in clients.iter().enumerate() {
        net.clients[*client].keys = Keys { x: (number % 3) as i8 - 1, y: 1 };
    }
    net.run(seconds(10));
    net.loss = 0.0;
    clients.iter().for_each(|client| net.clients[*client].keys = Keys::default());
    net.run(seconds(2));
    for client in clients {
        let seen = &net.clients[client];
        assert_eq!(seen.client.objects().unwrap().len(), 58);
        assert!(!seen.has(|event| matches!(event, ClientEvent::Ended(_) | ClientEvent::Lost { .. })));
    }
}
