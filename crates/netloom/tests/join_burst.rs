//! A late arrival on a thin line, into a big world in which others play.

mod common;

use std::time::{Duration, Instant};

use common::game::{Ball, Park};
use common::{Carrier, Rig, Way};
use netloom::Client;
use netloom::prelude::*;
use netloom::transport::link::{Bandwidth, Buffer, LinkConfig};

const OBJECTS: usize = 2_000;
/// How many of the nearest one needs to play.
const NEAREST: usize = 50;

/// 1 Mbit/s and 80 ms each way, with a buffer as home routers have it.
fn thin_line() -> LinkConfig {
    LinkConfig {
        latency: Micros::from_millis(80),
        bandwidth: Some(Bandwidth {
            bytes_per_second: 125_000,
            buffer: Buffer::Time(Micros::from_millis(500)),
        }),
        ..LinkConfig::default()
    }
}

/// How many of the nearest balls a client knows: each rolls in a circle around its place.
fn nearest_known(client: &Client<common::game::Keys>) -> usize {
    let balls: Vec<[f32; 3]> = client.all::<Ball>().map(|(_, ball)| ball.at).collect();
    let is_known = |number: &usize| {
        let [x, y, _] = Park::place(*number);
        balls.iter().any(|at| (at[0] - x).hypot(at[1] - y) < 0.5)
    };
    (0..NEAREST).filter(is_known).count()
}

/// The time between two snapshots that nine of ten are below.
fn typical_gap(gaps: &mut [Duration]) -> Duration {
    gaps.sort();
    gaps[gaps.len() * 9 / 10]
}

#[test]
fn who_joins_over_a_thin_line_plays_within_a_second_and_nobody_else_notices() {
    let park = Park { rolling_count: 100, ..Park::new(OBJECTS) };
    let way = Way { carrier: Carrier::Udp, driver: Driver::Polling };
    let mut rig = Rig::with(way, ServerConfig::default(), [(RoomConfig::new("park"), park)]);
    let others: Vec<usize> = (0..4).map(|number| rig.join(&format!("other {number}"))).collect();
    for other in &others {
        rig.until_event(*other, "all of it", |event| *event == ClientEvent::Complete);
    }
    for player in &mut rig.players {
        player.gaps.clear();
    }
    rig.run(Duration::from_secs(2));
    let before: Vec<Duration> = rig.players.iter_mut().map(|player| typical_gap(&mut player.gaps)).collect();
    rig.players.iter_mut().for_each(|player| player.gaps.clear());

    let late = rig.join_by(Client::<common::game::Keys>::builder().name("late").bad_line(thin_line()));
    rig.until("a welcome", |rig| rig.players[late].is_welcome());
    let welcomed = Instant::now();
    let mut progress = vec![rig.players[late].client.progress()];
    rig.until("the nearest", |rig| nearest_known(&rig.players[late].client) == NEAREST);
    let playable = welcomed.elapsed();
    rig.until("all of it", |rig| {
        progress.push(rig.players[late].client.progress());
        rig.players[late].has(|event| *event == ClientEvent::Complete)
    });
    let complete = welcomed.elapsed();
    let received = rig.players[late].client.stats().map_or(0, |stats| stats.counters.bytes_received);
    println!("playable after {playable:?}, complete after {complete:?} and {received} bytes");
    rig.run(Duration::from_secs(1));

    assert!(playable < Duration::from_secs(1), "the nearest {NEAREST} took {playable:?}");
    assert!(complete < Duration::from_secs(10), "all took {complete:?}");
    let steps = progress.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!(progress.is_sorted() && steps >= 5, "progress grew {steps} times");
    for (other, before) in others.iter().zip(before) {
        let player = &mut rig.players[*other];
        let during = typical_gap(&mut player.gaps);
        assert!(!player.has_trouble());
        assert!(during < before * 2, "a snapshot every {before:?} before, every {during:?} meanwhile");
    }
    let saved =
        rig.ask(|server| server.session().rooms().map(|room| room.counters().packing_saved_bytes).sum());
    assert!(5 * (OBJECTS as u64) < saved, "packing saved {saved} bytes for five who joined");
    assert!(!rig.players[late].has_trouble(), "{:?}", rig.players[late].events);
}
