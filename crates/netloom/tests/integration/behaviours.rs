//! The behaviours, each for any way to run.

use std::time::Duration;

use netloom::prelude::*;
use netloom::session::message::Refusal;
use netloom::wire::schema::Audience;

use crate::common::game::{Ball, Keys, Park, SPELL, Walker, balls_of, balls_seen};
use crate::common::{Rig, Way};

/// Short enough for a test, and longer than a busy machine leaves a thread waiting.
const SILENCE: Micros = Micros::from_millis(600);

pub fn players_join_meet_and_leave(way: Way) {
    let mut rig = Rig::new(way);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    for (one, other) in [(alice, "bob"), (bob, "alice")] {
        rig.until("they know each other", |rig| {
            rig.players[one].client.others().any(|(_, known)| known.name == other)
        });
    }
    assert!(rig.server_has(|event| matches!(event, ServerEvent::Joined { name, .. } if name == "bob")));
    let gone = rig.players.remove(bob);
    gone.client.leave(Micros::from_secs(5)).unwrap();
    rig.until_event(
        alice,
        "that bob left",
        |event| matches!(event, ClientEvent::Left { name, .. } if name == "bob"),
    );
    let reason = DisconnectReason::Requested;
    rig.until("the server says so", |rig| {
        rig.server_has(|event| matches!(event, ServerEvent::Left { reason: told, .. } if *told == reason))
    });
}

pub fn the_world_arrives_and_follows(way: Way) {
    let park = Park { rolling_steps: 90, ..Park::new(60) };
    let mut rig = Rig::with(way, ServerConfig::default(), [(RoomConfig::new("park"), park)]);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    rig.until_event(alice, "all of it", |event| *event == ClientEvent::Complete);
    assert_eq!(rig.players[alice].client.progress(), 1.0);
    rig.until("the balls lie still", |rig| {
        rig.ask(|server| server.session().rooms().all(|room| room.steps() > 90))
    });
    let balls = rig.ask(|server| balls_of(server, "park"));
    assert_eq!(balls.len(), 60);
    for player in [alice, bob] {
        rig.until("the same balls", |rig| balls_seen(&rig.players[player].client) == balls);
        rig.until("the same view", |rig| {
            rig.players[player].client.view().is_some_and(|view| view.iter().count() == 62)
        });
    }
}

pub fn the_own_walker_reacts_at_once_and_the_server_agrees(way: Way) {
    let mut rig = Rig::new(way);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    rig.until("a walker", |rig| rig.players[alice].own.state().is_some());
    rig.players[alice].keys = Keys { x: 1, y: 0 };
    rig.until("a walk", |rig| rig.players[alice].own.state().is_some_and(|walker| walker.at[0] > 1.0));
    rig.players[alice].keys = Keys::default();
    let own = rig.players[alice].own.object().expect("it is predicted");
    rig.until("agreement of all", |rig| {
        let [alice, bob] = [alice, bob].map(|player| &rig.players[player]);
        let (Some(predicted), Some(told)) = (alice.own.state(), alice.client.read::<Walker>(own)) else {
            return false;
        };
        let is_near = |walker: &Walker| (walker.at[0] - predicted.at[0]).abs() < 0.02;
        let mut seen = bob.client.all::<Walker>().map(|(_, walker)| walker);
        // On a busy machine some steps go without their input, and the walk was shorter than predicted.
        predicted.at[0] > 0.1 && is_near(&told) && seen.any(|walker| is_near(&walker))
    });
}

pub fn chat_reaches_everybody_unless_the_game_minds(way: Way) {
    let mut rig = Rig::new(way);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    for text in ["darn", "hello"] {
        rig.players[alice].client.chat(false, text).unwrap();
    }
    let player = rig.players[alice].client.player();
    for hearer in [alice, bob] {
        rig.until_event(hearer, "a hello", |event| {
            *event == ClientEvent::Said { player, to_team: false, text: "hello".to_owned() }
        });
        let is_rude = |event: &ClientEvent| matches!(event, ClientEvent::Said { text, .. } if text == "darn");
        assert!(!rig.players[hearer].has(is_rude));
    }
}

pub fn calls_are_made_answered_and_refused(way: Way) {
    let mut rig = Rig::new(way);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    for metres in [21, -1] {
        rig.players[alice].client.call("throw", &(metres, "catch!")).unwrap();
    }
    for hearer in [alice, bob] {
        rig.until_event(hearer, "a throw", |event| match event {
            ClientEvent::Called(called) => {
                &*called.name == "thrown" && called.args::<(i64, &str)>() == Ok((42, "catch!"))
            }
            _ => false,
        });
    }
    rig.until_event(alice, "a refusal", |event| matches!(event, ClientEvent::CallRefused { .. }));
    assert!(!rig.players[bob].has(|event| matches!(event, ClientEvent::CallRefused { .. })));
}

pub fn a_claim_is_granted_or_not(way: Way) {
    let park = Park::new(2);
    let mut rig = Rig::with(way, ServerConfig::default(), [(RoomConfig::new("park"), park)]);
    let alice = rig.welcome("alice");
    rig.until("two balls", |rig| rig.players[alice].client.all::<Ball>().count() == 2);
    let mut balls: Vec<Alias> = rig.players[alice].client.all::<Ball>().map(|(alias, _)| alias).collect();
    balls.sort_by_key(|alias| alias.slot);
    for (ball, is_granted) in [(balls[0], true), (balls[1], false)] {
        rig.players[alice].client.claim(ball, true).unwrap();
        rig.until_event(alice, "an answer", |event| {
            *event == ClientEvent::Claimed { object: ball, is_granted }
        });
    }
    rig.until("ownership", |rig| {
        let objects = rig.players[alice].client.objects().expect("a seat");
        objects.object(balls[0]).is_some_and(|ball| ball.audience() == Audience::Owner)
    });
}

pub fn who_is_kicked_is_told_why(way: Way) {
    let mut rig = Rig::new(way);
    let [alice, bob] = ["alice", "bob"].map(|name| rig.welcome(name));
    let player = rig.players[alice].client.player().expect("a seat");
    assert!(rig.ask(move |server| server.kick(player, "no shouting")));
    rig.until_event(alice, "an end", |event| {
        *event == ClientEvent::Ended(Ending::Kicked("no shouting".to_owned()))
    });
    rig.until_event(
        bob,
        "that alice left",
        |event| matches!(event, ClientEvent::Left { name, .. } if name == "alice"),
    );
    assert!(!rig.players[bob].has_trouble());
    assert_eq!(rig.ask(|server| server.session().player_count()), 1);
}

pub fn a_lost_connection_is_taken_up_again(way: Way) {
    let mut config = ServerConfig::default();
    let mut own = ClientConfig { name: "alice".to_owned(), ..ClientConfig::default() };
    for connection in [&mut config.connection, &mut own.connection] {
        (connection.peer_timeout, connection.keepalive) = (SILENCE, Micros::from_millis(100));
    }
    let mut rig = Rig::with(way, config, [(RoomConfig::new("park"), Park::new(5))]);
    let alice = rig.join_with(own);
    rig.until("a walker", |rig| rig.players[alice].own.state().is_some());
    rig.players[alice].keys = Keys { x: 1, y: 0 };
    rig.until("a walk", |rig| {
        rig.players[alice].client.all::<Walker>().any(|(_, walker)| walker.at[0] > 0.5)
    });
    rig.players[alice].keys = Keys::default();
    let player = rig.players[alice].client.player();
    rig.players[alice].switch.set_unplugged(true);
    rig.until_event(alice, "a loss", |event| matches!(event, ClientEvent::Lost { .. }));
    rig.until("the server misses it", |rig| {
        rig.server_has(|event| matches!(event, ServerEvent::Away { .. }))
    });
    assert_eq!(rig.ask(|server| server.session().player_count()), 1, "the seat is kept");
    rig.players[alice].switch.set_unplugged(false);
    rig.until_event(alice, "the old seat", |event| {
        matches!(event, ClientEvent::Welcomed { is_resumed: true, .. })
    });
    assert_eq!(rig.players[alice].client.player(), player);
    rig.until("the walker stands where it went", |rig| {
        rig.players[alice].client.all::<Walker>().any(|(_, walker)| walker.at[0] > 0.5)
    });
    // And it obeys.
    let before = rig.players[alice].own.state().map_or(0.0, |walker| walker.at[1]);
    rig.players[alice].keys = Keys { x: 0, y: 1 };
    rig.until("a walk", |rig| {
        rig.players[alice].client.all::<Walker>().any(|(_, walker)| walker.at[1] > before + 0.3)
    });
}

pub fn a_change_of_address_costs_no_seat(way: Way) {
    let mut rig = Rig::new(way);
    let alice = rig.welcome("alice");
    rig.until("a walker", |rig| rig.players[alice].own.state().is_some());
    let player = rig.players[alice].client.player().expect("a seat");
    let before = rig.ask(move |server| server.address_of(player));
    rig.players[alice].switch.change_address();
    if way.carrier.has_connections() {
        rig.until_event(alice, "the old seat", |event| {
            matches!(event, ClientEvent::Welcomed { is_resumed: true, .. })
        });
    }
    rig.until("another address", |rig| {
        let now = rig.ask(move |server| server.address_of(player));
        now.is_some() && now != before
    });
    let has_noticed = rig.players[alice].has(|event| matches!(event, ClientEvent::Lost { .. }));
    assert_eq!(
        has_noticed,
        way.carrier.has_connections(),
        "datagrams are followed, connections are made anew"
    );
    assert_eq!(rig.players[alice].client.player(), Some(player));
    rig.players[alice].keys = Keys { x: 1, y: 0 };
    rig.until("a walk", |rig| {
        rig.players[alice].client.all::<Walker>().any(|(_, walker)| walker.at[0] > 0.3)
    });
}

pub fn a_server_that_stops_says_why(way: Way) {
    let mut rig = Rig::new(way);
    let players = ["alice", "bob", "carol"].map(|name| rig.welcome(name));
    rig.ask(|server| server.stop("maintenance"));
    for player in players {
        rig.until_event(player, "an end", |event| {
            *event == ClientEvent::Ended(Ending::Shutdown("maintenance".to_owned()))
        });
    }
    rig.until("the end", |rig| rig.server.as_ref().is_none_or(ServerHandle::is_finished));
    rig.server.take().expect("it ran").stop("again").unwrap();
}

pub fn a_full_room_is_refused_with_a_reason(way: Way) {
    let room = RoomConfig { players_max: 1, ..RoomConfig::new("park") };
    let mut rig = Rig::with(way, ServerConfig::default(), [(room, Park::new(3))]);
    let alice = rig.welcome("alice");
    let bob = rig.join("bob");
    rig.until_event(bob, "a refusal", |event| {
        matches!(event, ClientEvent::Ended(Ending::Refused { reason: Refusal::RoomFull, .. }))
    });
    assert!(rig.server_has(|event| matches!(event, ServerEvent::Refused { .. })));
    assert!(!rig.players[alice].has_trouble());
}

pub fn a_game_that_panics_ends_only_its_room(way: Way) {
    let doomed = Park { is_fragile: true, ..Park::new(3) };
    let rooms = [(RoomConfig::new("doomed"), doomed), (RoomConfig::new("fine"), Park::new(3))];
    let mut rig = Rig::with(way, ServerConfig::default(), rooms);
    let [alice, bob] = ["doomed", "fine"].map(|room| {
        let player = rig.join_with(ClientConfig { room: room.to_owned(), ..ClientConfig::default() });
        rig.until("a welcome", |rig| rig.players[player].is_welcome());
        player
    });
    rig.players[alice].client.chat(false, SPELL).unwrap();
    rig.until_event(alice, "an end", |event| {
        matches!(event, ClientEvent::Ended(Ending::RoomEnded(text)) if text.contains("the spell worked"))
    });
    assert!(rig.server_has(|event| matches!(event, ServerEvent::RoomEnded { by_panic: true, .. })));
    let steps = rig.ask(|server| server.session().rooms().map(|room| room.steps()).next());
    rig.until("the other room goes on", |rig| {
        rig.ask(|server| server.session().rooms().map(|room| room.steps()).next()) > steps
    });
    rig.run(Duration::from_millis(100));
    assert!(!rig.players[bob].has_trouble());
}
