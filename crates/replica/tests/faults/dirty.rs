//! What has changed and must be told: epochs, hashes, masks without acknowledgements, heartbeats.

use netloom_replica::server::{Heartbeat, PeerConfig, ServerConfig};
use netloom_replica::world::OwnerId;
use netloom_wire::schema::Value;

use crate::stage::{HEALTH, PLENTY, Stage, walker};

fn updates(stage: &Stage) -> u64 {
    stage.server.written().updates
}

/// X-U4: an object is dirty if its epoch is not the one that was sent last; nothing notes which one that was.
#[test]
fn an_epoch_that_nobody_notes_is_dirty_in_100_of_100_ticks_and_ours_is_told_once() {
    let (epoch, last_sent_epoch) = (1u32, 0u32);
    let literal = (0..100).filter(|_| epoch != last_sent_epoch).count();
    assert_eq!(literal, 100);

    let (mut stage, walker) = Stage::with_one_walker();
    let before = updates(&stage);
    stage.server.world_mut().touch(walker).unwrap();
    for _ in 0..100 {
        stage.tick(PLENTY);
    }
    assert_eq!(updates(&stage) - before, 1, "a moved epoch is told although the words are the same");
}

/// X-U4: the hash is stored when it is looked at, sent or not.
#[test]
fn a_hash_noted_at_the_check_loses_what_the_budget_put_off_for_five_seconds_and_ours_goes_out() {
    let (mut stage, walker) = Stage::with_one_walker();
    stage.set(walker, HEALTH, 50);
    let (mut last_hash, mut sent_literally, mut seen_at) = (0, None, None);
    for tick in 1..=100 {
        // The first tick has no room.
        let budget_bytes = if tick == 1 { 0 } else { PLENTY };
        let hash = 50;
        let is_dirty = hash != std::mem::replace(&mut last_hash, hash);
        if is_dirty && budget_bytes > 0 {
            sent_literally = sent_literally.or(Some(tick));
        }
        stage.tick(budget_bytes);
        if stage.remotes[0].value(HEALTH) == Value::Word(50) {
            seen_at = seen_at.or(Some(tick));
        }
    }
    assert_eq!(sent_literally, None, "lost for 100 ticks, five seconds at 20 a second");
    assert_eq!(seen_at, Some(2));
}

/// X-U37: the mask is cleared when a snapshot is written, whether or not it arrives.
#[test]
fn a_mask_cleared_when_sent_loses_a_lost_change_until_the_heartbeat_and_ours_sends_it_again() {
    let (mut stage, walker) = Stage::with_one_walker();
    stage.set(walker, HEALTH, 50);
    let mut mask_literal = 1u8;
    let (mut literal_at, mut ours_at) = (None, None);
    for tick in 1..=100 {
        let is_lost = tick == 1;
        let is_heartbeat = tick == 100;
        if (std::mem::take(&mut mask_literal) != 0 || is_heartbeat) && !is_lost {
            literal_at = literal_at.or(Some(tick));
        }
        stage.server.begin_tick().unwrap();
        let sent = stage.send(0, PLENTY);
        match is_lost {
            true => stage.lose(0, &sent),
            false => stage.deliver(0, &sent),
        }
        if stage.remotes[0].value(HEALTH) == Value::Word(50) {
            ours_at = ours_at.or(Some(tick));
        }
    }
    assert_eq!((literal_at, ours_at), (Some(100), Some(2)));
}

/// X-U37, where the loss becomes known late: what changed in between goes on, and the lost field comes with it.
#[test]
fn a_lost_field_comes_with_the_next_update_and_needs_no_report_of_the_loss() {
    let (mut stage, walker) = Stage::with_one_walker();
    stage.set(walker, HEALTH, 50);
    stage.server.begin_tick().unwrap();
    let lost = stage.send(0, PLENTY);
    assert_eq!(lost.len(), 1);
    stage.place(walker, [1.0, 0.0, 0.0]);
    stage.tick(PLENTY);
    assert_eq!(stage.remotes[0].value(HEALTH), Value::Word(50), "updates are against what was acked");
}

/// X-U5: a counter per object, all from the same start.
#[test]
fn heartbeats_of_one_start_all_come_in_one_tick_and_ours_are_spread_over_100() {
    let mut ticks_since_full = [0u32; 200];
    let literal = (1..=100).map(|_| {
        ticks_since_full.iter_mut().for_each(|ticks| *ticks += 1);
        ticks_since_full.iter_mut().filter(|ticks| **ticks >= 100).map(|ticks| *ticks = 0).count()
    });
    assert_eq!(literal.max(), Some(200), "200 objects in one tick");

    let config = ServerConfig { heartbeat: Heartbeat::Resend { ticks: 100 }, ..ServerConfig::default() };
    let mut stage = Stage::new(walker(), config);
    stage.join(PeerConfig::new(OwnerId(0)));
    (0..200).for_each(|_| {
        stage.spawn();
    });
    while stage.remotes[0].client.len() < 200 {
        stage.tick(PLENTY);
    }
    stage.tick(PLENTY);
    let mut told = Vec::new();
    for _ in 0..100 {
        let before = stage.server.written().entries;
        stage.tick(PLENTY);
        told.push(stage.server.written().entries - before);
    }
    assert_eq!(told, [2; 100], "each of 200 objects at rest once in 100 ticks");
}
