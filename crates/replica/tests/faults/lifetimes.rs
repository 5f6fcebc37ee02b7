//! Names that are used again.

use netloom_replica::client::SnapshotError;
use netloom_replica::server::{PeerConfig, ServerConfig};
use netloom_replica::world::OwnerId;
use netloom_wire::schema::Value;

use crate::stage::{HEALTH, PLENTY, Sent, Stage, walker};

/// U's handles: the generation moves when a slot is taken, not when it is given back, and has eight bits.
struct LiteralSlot {
    generation: u8,
    health: i32,
}

impl LiteralSlot {
    fn register(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.health = 100;
    }

    fn handle_late(&mut self, generation: u8, health: i32) {
        if generation == self.generation {
            self.health = health;
        }
    }
}

fn everyone() -> Stage {
    let mut stage = Stage::new(walker(), ServerConfig::default());
    stage.join(PeerConfig::new(OwnerId(0)));
    stage
}

/// X-U28: a slot that was given back still answers to its old name.
#[test]
fn a_late_packet_finds_what_was_unregistered_and_ours_changes_nothing() {
    let mut literal = LiteralSlot { generation: 0, health: 0 };
    literal.register();
    literal.handle_late(1, 7);
    assert_eq!(literal.health, 7, "between unregistering and the next registration nothing moves");

    let mut stage = everyone();
    let walker = stage.spawn();
    stage.tick(PLENTY);
    stage.tick(PLENTY);
    stage.set(walker, HEALTH, 7);
    stage.server.begin_tick().unwrap();
    let late = stage.send(0, PLENTY);
    stage.server.world_mut().despawn(walker).unwrap();
    stage.tick(PLENTY);
    assert!(stage.remotes[0].client.is_empty());
    stage.deliver(0, &late);
    assert!(stage.remotes[0].client.is_empty(), "a late update does not bring it back");
    let entered_again = std::iter::from_fn(|| stage.remotes[0].client.poll_event()).count();
    assert_eq!(entered_again, 2, "it entered and it left");
}

/// X-U28: with the last freed slot used first, 256 lifetimes pass in 12.8 s at 20 respawns a second.
#[test]
fn a_packet_of_256_lifetimes_ago_means_the_new_object_in_eight_bits_and_ours_is_dropped() {
    let mut literal = LiteralSlot { generation: 0, health: 0 };
    literal.register();
    (0..256).for_each(|_| literal.register());
    literal.handle_late(1, 7);
    assert_eq!(literal.health, 7, "the new object got the old one's health");

    let mut stage = everyone();
    let (mut first, mut first_alias): (Option<[Sent; 2]>, _) = (None, None);
    for lifetime in 0..=256 {
        let walker = stage.spawn();
        stage.set(walker, HEALTH, 100);
        stage.server.begin_tick().unwrap();
        let entry = stage.send(0, PLENTY);
        stage.deliver(0, &entry);
        stage.set(walker, HEALTH, 7);
        stage.server.begin_tick().unwrap();
        let update = stage.send(0, PLENTY);
        stage.deliver(0, &update);
        let alias = stage.remotes[0].only().alias();
        if lifetime == 0 {
            (first, first_alias) = (Some([entry[0].clone(), update[0].clone()]), Some(alias));
        }
        if lifetime == 256 {
            assert_eq!(Some(alias), first_alias, "the same slot, and the generation has come round");
            stage.set(walker, HEALTH, 55);
            stage.tick(PLENTY);
            break;
        }
        stage.server.world_mut().despawn(walker).unwrap();
        stage.tick(PLENTY);
        stage.tick(PLENTY);
    }
    let [entry, update] = first.unwrap();
    let client = &mut stage.remotes[0].client;
    client.handle_snapshot(&entry.bytes).unwrap();
    let late = client.handle_snapshot(&update.bytes);
    assert!(matches!(late, Err(SnapshotError::MissingBaseline { .. })), "{late:?}");
    assert_eq!(stage.remotes[0].value(HEALTH), Value::Word(55));
}

/// Alias slots are used again only when the peer is known to have let go, not after a time.
#[test]
fn a_slot_whose_leave_was_lost_is_not_given_to_another_object() {
    let mut stage = everyone();
    let first = stage.spawn();
    stage.tick(PLENTY);
    let name = stage.remotes[0].only().alias();
    stage.server.world_mut().despawn(first).unwrap();
    for tick in 0..30 {
        if tick == 2 {
            stage.spawn();
        }
        stage.server.begin_tick().unwrap();
        let sent = stage.send(0, PLENTY);
        stage.lose(0, &sent);
    }
    stage.tick(PLENTY);
    stage.tick(PLENTY);
    let second = stage.remotes[0].only().alias();
    assert_ne!(second.slot, name.slot, "the first slot was still the first object's when the second came");
}
