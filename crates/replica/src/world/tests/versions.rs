use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::*;
use crate::limits::VERSIONS_KEPT;
use crate::world::WorldError;

#[test]
fn a_version_is_stored_only_where_words_differ() {
    let (mut world, ship) = world_with_ship();
    let rock = world.spawn(Spawn::new(ObjectId(2), SHIP)).unwrap();
    world.commit(Tick(1)).unwrap();
    set_health(&mut world, ship, 5);
    set_health(&mut world, rock, 5);
    set_health(&mut world, rock, 0);
    world.commit(Tick(2)).unwrap();
    assert_eq!(world.changed(), [ship], "the rock has the words that it had");
    assert_eq!(world.object(rock).unwrap().version(), Tick(1));
    world.set_position(ship, [0.001, 0.0, 0.0]).unwrap();
    world.commit(Tick(3)).unwrap();
    assert!(world.changed().is_empty(), "a millimetre is no centimetre");
    assert_eq!([0, 1].map(|slot| world.version_at(slot)), [Tick(2), Tick(1)]);
}

#[test]
fn the_words_in_force_are_those_of_the_newest_version_not_after_the_tick() {
    let (mut world, ship) = world_with_ship();
    for (tick, health) in [(3, 10), (4, 20), (9, 30)] {
        set_health(&mut world, ship, health);
        world.commit(Tick(tick)).unwrap();
    }
    let expected = [(0, 0), (2, 0), (3, 10), (4, 20), (8, 20), (9, 30), (200, 30)];
    for (tick, health) in expected {
        assert_eq!(health_at(&world, ship, tick), Some(health), "tick {tick}");
    }
    assert_eq!(health_at(&world, ship, u32::MAX), None, "one before the first tick");
    assert_eq!(world.object(ship).unwrap().words()[8], 30);
}

#[test]
fn the_ring_forgets_after_32_changes_and_not_before() {
    let (mut world, ship) = world_with_ship();
    for change in 1..VERSIONS_KEPT as u32 {
        set_health(&mut world, ship, change as i32);
        world.commit(Tick(change)).unwrap();
    }
    assert_eq!(health_at(&world, ship, 0), Some(0));
    set_health(&mut world, ship, 99);
    world.commit(Tick(32)).unwrap();
    assert_eq!(health_at(&world, ship, 0), None);
    assert_eq!(health_at(&world, ship, 1), Some(1));
    assert_eq!(world.object(ship).unwrap().history().len(), VERSIONS_KEPT);
}

#[test]
fn rows_of_a_history_tell_which_ticks_share_a_version() {
    let (mut world, ship) = world_with_ship();
    set_health(&mut world, ship, 1);
    world.commit(Tick(6)).unwrap();
    let history = world.object(ship).unwrap().history();
    let rows = [0, 5, 6, 7].map(|tick| history.row_at(Tick(tick)).unwrap());
    assert!(rows[0] == rows[1] && rows[1] != rows[2] && rows[2] == rows[3]);
    assert_eq!(rows[2], history.newest_row());
    assert_eq!((history.tick_of(rows[0]), history.tick_of(rows[2])), (Tick(0), Tick(6)));
    assert_eq!((history.row(rows[0])[8], history.row(rows[2])[8]), (0, 1));
}

/// The seed's dirty check: a hash that is stored when it is looked at.
#[derive(Default)]
struct HashStoredAtCheck {
    last: u64,
}

impl HashStoredAtCheck {
    fn is_dirty(&mut self, words: &[i32]) -> bool {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let differs = hasher.finish() != self.last;
        self.last = hasher.finish();
        differs
    }
}

#[test]
fn a_change_that_is_put_off_stays_newer_than_what_was_acked() {
    let (mut world, ship) = world_with_ship();
    let mut literal = HashStoredAtCheck::default();
    literal.is_dirty(world.object(ship).unwrap().words());
    let acked = Tick(0);
    set_health(&mut world, ship, 50);
    let (mut dirty_literally, mut dirty) = (0, 0);
    for tick in 1..=100 {
        world.commit(Tick(tick)).unwrap();
        let object = world.object(ship).unwrap();
        dirty_literally += u32::from(literal.is_dirty(object.words()));
        dirty += u32::from(object.version().is_newer_than(acked));
        assert_eq!(object.words_at(acked).unwrap()[8], 0, "the baseline of the peer is still there");
    }
    assert_eq!(dirty_literally, 1, "if the budget defers that one send, the change is lost for the other 99");
    assert_eq!(dirty, 100);
    assert!(
        !world.object(ship).unwrap().version().is_newer_than(Tick(1)),
        "and an ack of its tick settles it"
    );
}

#[test]
fn touching_an_object_makes_a_version_of_the_same_words() {
    let (mut world, ship) = world_with_ship();
    world.touch(ship).unwrap();
    world.commit(Tick(4)).unwrap();
    assert_eq!(world.changed(), [ship]);
    assert_eq!(world.object(ship).unwrap().version(), Tick(4));
    world.commit(Tick(5)).unwrap();
    assert!(world.changed().is_empty());
}

#[test]
fn ticks_go_forward_and_may_wrap() {
    let (mut world, ship) = world_with_ship();
    assert_eq!(world.commit(Tick(0)), Err(WorldError::TickNotNewer { tick: Tick(0), last: Tick(0) }));
    assert!(world.commit(Tick(u32::MAX)).is_err());
    assert_eq!(world.tick(), Some(Tick(0)));

    let mut world = super::world();
    let other = world.spawn(Spawn::new(ObjectId(1), SHIP)).unwrap();
    assert_eq!(ship, other);
    for (step, health) in (0..4).zip([1, 2, 3, 4]) {
        set_health(&mut world, other, health);
        world.commit(Tick(u32::MAX - 1).plus(step)).unwrap();
    }
    assert_eq!(health_at(&world, other, u32::MAX), Some(2));
    assert_eq!(health_at(&world, other, 0), Some(3));
    assert_eq!(health_at(&world, other, 5), Some(4));
}

#[test]
fn an_object_that_rests_longer_than_ticks_can_tell_keeps_its_words() {
    let (mut world, ship) = world_with_ship();
    world.teleport(ship).unwrap();
    set_health(&mut world, ship, 7);
    world.commit(Tick(1)).unwrap();
    let mut now = Tick(1);
    for _ in 0..20 {
        now = now.plus(1 << 29);
        world.commit(now).unwrap();
        let object = world.object(ship).unwrap();
        assert_eq!(object.words_at(now).map(|words| words[8]), Some(7));
        assert!(now.is_newer_than(object.version()));
    }
    assert_eq!(world.object(ship).unwrap().jumped_since(Tick(now.0.wrapping_sub(255))), None);
}

#[test]
fn a_jump_is_marked_in_the_version_that_it_made() {
    let (mut world, ship) = world_with_ship();
    world.set_position(ship, [100.0, 0.0, 0.0]).unwrap();
    world.teleport(ship).unwrap();
    world.commit(Tick(5)).unwrap();
    let since = |world: &World, tick| world.object(ship).unwrap().jumped_since(Tick(tick));
    assert_eq!((since(&world, 4), since(&world, 5)), (Some(Tick(5)), None));
    for tick in 6..100 {
        set_health(&mut world, ship, tick as i32 % 2);
        world.commit(Tick(tick)).unwrap();
    }
    assert_eq!(since(&world, 4), Some(Tick(5)), "also when that version is forgotten");
    world.teleport(ship).unwrap();
    world.commit(Tick(100)).unwrap();
    set_health(&mut world, ship, 50);
    world.commit(Tick(101)).unwrap();
    assert_eq!(since(&world, 99), None, "a jump to where it was is none, and does not mark a later change");
}
