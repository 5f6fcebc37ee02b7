//! Clients that are gone, or as good as gone.

use std::time::Duration;

use netloom::prelude::*;

use crate::child::Process;
use crate::common::game::Park;
use crate::common::{Carrier, Rig, Way};

/// The longest that anybody else may wait for a snapshot meanwhile.
const GAP_MAX: Duration = Duration::from_secs(1);

fn rig(carrier: Carrier) -> Rig {
    let mut config = ServerConfig::default();
    config.connection.peer_timeout = Micros::from_secs(1);
    config.connection.keepalive = Micros::from_millis(200);
    config.connection.rate.bytes_per_second_initial = config.connection.rate.bytes_per_second_max;
    config.connection.disconnect_timeout = Micros::from_millis(200);
    config.listen.resume_window = Micros::from_millis(500);
    let mut room = RoomConfig::new("park");
    (room.health.sustained, room.health.grace) = (Micros::from_millis(500), Micros::from_millis(500));
    let way = Way { carrier, driver: Driver::Polling };
    Rig::with(way, config, [(room, Park::new(300))])
}

/// Waits until the server has let go of a player, and says why it did.
fn reason_of_leave(rig: &mut Rig) -> DisconnectReason {
    let left = |event: &ServerEvent| match event {
        ServerEvent::Left { reason, .. } => Some(*reason),
        _ => None,
    };
    rig.until("a leave", |rig| rig.server_events().iter().any(|event| left(event).is_some()));
    rig.server_events().iter().find_map(left).expect("there was one")
}

/// Somebody who plays on, and must not notice.
fn bystander(rig: &mut Rig) -> usize {
    let bob = rig.welcome("bob");
    rig.until_event(bob, "all of it", |event| *event == ClientEvent::Complete);
    rig.players[bob].gaps.clear();
    bob
}

fn assert_unbothered(rig: &Rig, bob: usize) {
    let player = &rig.players[bob];
    assert!(!player.has_trouble(), "{:?}", player.events);
    let gap = player.gap_longest();
    assert!(gap < GAP_MAX, "nothing came for {gap:?}");
}

#[test]
fn a_client_that_is_killed_is_missed_by_its_silence_or_by_the_end_of_its_stream() {
    for (carrier, expected) in [
        (Carrier::Udp, DisconnectReason::Timeout),
        (Carrier::Tcp, DisconnectReason::Broken),
        (Carrier::WebSocket, DisconnectReason::Broken),
    ] {
        let mut rig = rig(carrier);
        let bob = bystander(&mut rig);
        let mut doomed = Process::client(carrier, rig.address);
        rig.until_event(bob, "company", |event| matches!(event, ClientEvent::Joined { .. }));
        doomed.kill();
        let is_away =
            |event: &ServerEvent| matches!(event, ServerEvent::Away { reason, .. } if *reason == expected);
        rig.until("an absence", |rig| rig.server_has(is_away));
        assert_eq!(reason_of_leave(&mut rig), expected);
        rig.until_event(
            bob,
            "a leave",
            |event| matches!(event, ClientEvent::Left { name, .. } if name == "doomed"),
        );
        assert_unbothered(&rig, bob);
    }
}

#[test]
fn a_client_that_vanishes_behind_an_open_stream_is_missed_by_its_silence() {
    for carrier in [Carrier::Tcp, Carrier::WebSocket] {
        let mut rig = rig(carrier);
        let bob = bystander(&mut rig);
        let alice = rig.welcome("alice");
        // The stream stays open and nobody is there: no end of it will ever come.
        let vanished = rig.players.remove(alice);
        assert_eq!(reason_of_leave(&mut rig), DisconnectReason::Timeout);
        assert_unbothered(&rig, bob);
        drop(vanished);
    }
}

#[test]
fn a_client_that_stops_reading_its_stream_is_let_go_as_too_slow() {
    for carrier in [Carrier::Tcp, Carrier::WebSocket] {
        let mut rig = rig(carrier);
        let bob = bystander(&mut rig);
        let alice = rig.welcome("alice");
        rig.until_event(alice, "all of it", |event| *event == ClientEvent::Complete);
        rig.players[alice].switch.set_deaf();
        // More than the system holds for somebody who does not read, and less than counts as a queue by itself.
        let player = rig.players[alice].client.player().expect("a seat");
        rig.ask(move |server| {
            let room = server.session().rooms().next().map(|room| room.id()).expect("a room");
            let room = server.session_mut().room_mut(room).expect("it is open");
            (0..800).for_each(|_| room.notify(player, &"read this! ".repeat(23)));
        });
        assert_eq!(reason_of_leave(&mut rig), DisconnectReason::SlowConsumer);
        rig.until_event(
            bob,
            "a leave",
            |event| matches!(event, ClientEvent::Left { name, .. } if name == "alice"),
        );
        assert_unbothered(&rig, bob);
    }
}
