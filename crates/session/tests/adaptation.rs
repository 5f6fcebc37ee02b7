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
