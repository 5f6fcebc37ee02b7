//! What a room does about connections that get worse.

mod common;

use common::{Cubes, Net};
use netloom_proto::DisconnectReason;
use netloom_session::adapt::RateLevel;
use netloom_session::client::{ClientEvent, Ending};
use netloom_session::config::{RoomConfig, ServerConfig};
use netloom_session::health::HealthConfig;
use netloom_session::{PlayerId, ServerEvent};
use netloom_wire::{Alias, Micros};

fn rate(net: &Net, player: PlayerId) -> RateLevel {
    net.server.room(net.room).unwrap().quality(player).unwrap().rate
}

fn snapshots_in_ten_seconds(net: &mut Net) -> u64 {
    let sent = |net: &Net| net.server.room(net.room).unwrap().counters().snapshots;
    let before = sent(net);
    net.run(Micros::from_secs(10));
    sent(net) - before
}

#[test]
fn a_lossy_connection_gets_fewer_snapshots_and_all_of_them_back_when_it_recovers() {
    let mut net = Net::cubes(20);
    let alice = net.join("alice");
    net.welcome(alice);
    let player = net.clients[alice].client.player().unwrap();
    net.run(Micros::from_secs(2));
    assert_eq!(rate(&net, player), RateLevel::Full);
    let full = snapshots_in_ten_seconds(&mut net);
    assert!((195..=205).contains(&full), "{full} at 20 Hz");
    net.loss = 0.25;
    net.until("half of the rate", |net| rate(net, player) == RateLevel::Half);
    let half = snapshots_in_ten_seconds(&mut net);
    assert!((95..=105).contains(&half), "{half} of {full}");
    net.loss = 0.0;
    net.run(Micros::from_secs(90));
    assert_eq!(rate(&net, player), RateLevel::Full);
}

/// How often small messages were repeated while forty went each way: by the server, and by the client.
fn repeated(net: &mut Net, client: usize, player: PlayerId) -> [u64; 2] {
    let counted = |net: &Net| {
        let stats = [net.server.stats_of(player), net.clients[client].client.stats()];
        stats.map(|stats| stats.unwrap().counters.blocks_repeated)
    };
    let before = counted(net);
    let object = Alias { slot: 0, generation: 0 };
    for line in 0..40 {
        net.server.room_mut(net.room).unwrap().notify(player, &format!("line {line}"));
        net.clients[client].client.claim(object, true).unwrap();
        net.run(Micros::from_millis(50));
    }
    let after = counted(net);
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn small_messages_are_repeated_twice_over_a_lossy_connection_and_once_over_a_good_one() {
    let mut net = Net::cubes(5);
    // Far enough that nothing is acknowledged before it could be repeated twice.
    net.latency = Micros::from_millis(120);
    let alice = net.join("alice");
    net.welcome(alice);
    let player = net.clients[alice].client.player().unwrap();
    net.run(Micros::from_secs(2));
    // The server answers as well.
    let is_times = |found: [u64; 2], times: u64| {
        let about = [80 * times, 40 * times];
        assert!(
            found.iter().zip(about).all(|(count, about)| count.abs_diff(about) <= about / 4),
            "{found:?}"
        );
    };
    let copies = |net: &Net| {
        let server = net.server.room(net.room).unwrap().quality(player).unwrap();
        [server, net.clients[alice].client.quality().unwrap()].map(|quality| quality.small_message_copies)
    };
    is_times(repeated(&mut net, alice, player), 1);
    net.loss = 0.25;
    net.until("two copies", |net| copies(net) == [2, 2]);
    net.run(Micros::from_secs(1));
    is_times(repeated(&mut net, alice, player), 2);
    net.loss = 0.0;
    net.run(Micros::from_secs(90));
    assert_eq!(copies(&net), [1, 1]);
    is_times(repeated(&mut net, alice, player), 1);
}

#[test]
fn one_bad_connection_slows_nobody_else_down() {
    let mut net = Net::cubes(20);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    let [bad, good] = [alice, bob].map(|client| net.clients[client].client.player().unwrap());
    net.clients[alice].loss = 0.3;
    net.until("half of the rate", |net| rate(net, bad) == RateLevel::Half);
    assert_eq!(rate(&net, good), RateLevel::Full);
}

#[test]
fn a_distant_player_over_a_good_line_gets_everything() {
    let mut net = Net::cubes(20);
    net.latency = Micros::from_millis(150);
    let alice = net.join("alice");
    net.welcome(alice);
    let player = net.clients[alice].client.player().unwrap();
    net.run(Micros::from_secs(20));
    assert_eq!(rate(&net, player), RateLevel::Full, "300 ms of distance are no queue");
}

#[test]
fn who_cannot_keep_up_is_told_why_and_let_go() {
    let health = HealthConfig { rtt_max: Micros::from_millis(250), ..HealthConfig::default() };
    let room = RoomConfig { health, ..RoomConfig::new("main") };
    let mut net = Net::new(ServerConfig::default(), room, Cubes::new(5));
    net.latency = Micros::from_millis(200);
    let alice = net.join("alice");
    net.welcome(alice);
    net.until_event(alice, "an end", |event| {
        matches!(event, ClientEvent::Ended(Ending::Kicked(text)) if text.starts_with("round trip above its limit"))
    });
    let events: Vec<ServerEvent> = std::iter::from_fn(|| net.server.poll_event()).collect();
    let slow = |event: &ServerEvent| {
        matches!(event, ServerEvent::Left { reason: DisconnectReason::SlowConsumer, .. })
    };
    assert!(events.iter().any(slow), "{events:?}");
}

#[test]
fn a_short_spike_is_no_reason() {
    let mut net = Net::cubes(5);
    let alice = net.join("alice");
    net.welcome(alice);
    net.run(Micros::from_secs(3));
    net.latency = Micros::from_millis(700);
    net.run(Micros::from_secs(3));
    net.latency = Micros::from_millis(20);
    net.run(Micros::from_secs(20));
    assert!(
        !net.clients[alice].has(|event| matches!(event, ClientEvent::Ended(_) | ClientEvent::Lost { .. }))
    );
}

/// Lines for one player to read, so many at a time that a connection which does not answer has no room for them in a second.
fn notify_much(net: &mut Net, player: PlayerId, next: &mut u32) {
    let room = net.server.room_mut(net.room).unwrap();
    for _ in 0..40 {
        room.notify(player, &format!("{next:0>200}"));
        *next += 1;
    }
}

fn lines_read(net: &Net, client: usize) -> Vec<u32> {
    let line = |event: &ClientEvent| match event {
        ClientEvent::Notice { text, .. } => Some(text.parse().unwrap()),
        _ => None,
    };
    net.clients[client].events.iter().filter_map(line).collect()
}

#[test]
fn what_a_connection_has_no_room_for_waits_and_arrives_in_order_when_it_has() {
    let mut net = Net::cubes(5);
    let alice = net.join("alice");
    net.welcome(alice);
    let player = net.clients[alice].client.player().unwrap();
    net.run(Micros::from_secs(3));
    net.clients[alice].is_plugged = false;
    let mut sent = 0;
    for _ in 0..200 {
        notify_much(&mut net, player, &mut sent);
        net.step();
    }
    let pending = net.server.stats_of(player).unwrap().pending_bytes;
    assert!(pending > 1_000_000 && pending < sent as usize * 200, "{pending}: the rest waits elsewhere");
    net.clients[alice].is_plugged = true;
    net.run(Micros::from_secs(3));
    // Far more than a line can take in five seconds: this time it is about the waiting, so nobody is let go of yet.
    let read = lines_read(&net, alice);
    assert_eq!(read, (0..read.len() as u32).collect::<Vec<u32>>());
    assert!(!read.is_empty() && net.server.counters().undelivered == 0);
}

#[test]
fn who_never_reads_is_a_slow_consumer_and_nobody_else_notices() {
    let mut net = Net::cubes(5);
    let [alice, bob] = ["alice", "bob"].map(|name| net.join(name));
    net.welcome(alice);
    net.welcome(bob);
    let [slow, good] = [alice, bob].map(|client| net.clients[client].client.player().unwrap());
    net.run(Micros::from_secs(3));
    while net.server.poll_event().is_some() {}
    net.clients[alice].is_plugged = false;
    let (mut to_slow, mut to_good) = (0, 0);
    for _ in 0..1_000 {
        notify_much(&mut net, slow, &mut to_slow);
        net.server.room_mut(net.room).unwrap().notify(good, &to_good.to_string());
        to_good += 1;
        net.step();
    }
    let events: Vec<ServerEvent> = std::iter::from_fn(|| net.server.poll_event()).collect();
    let left: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ServerEvent::Left { player, reason, .. } => Some((*player, *reason)),
            _ => None,
        })
        .collect();
    assert_eq!(left, [(slow, DisconnectReason::SlowConsumer)]);
    net.run(Micros::from_secs(1));
    assert_eq!(lines_read(&net, bob), (0..to_good).collect::<Vec<u32>>());
}
