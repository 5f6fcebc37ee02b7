//! Tests of the log, of both halves, and of the two together.

mod inbox;
mod model;

use netloom_wire::schema::{
    ArrayWriter, Audience, Delivery, ElementKind, Field, FieldKind, SyncFlags, Value, Writer,
};
use netloom_wire::{Alias, ObjectId, ReadError, Schema, Tick};
use proptest::prelude::*;

use super::*;
use crate::class::{Class, ClassId};
use crate::world::{ObjectIndex, Spawn, ValueError, World, WorldConfig, WorldError, WriteRefused};

pub(super) const DIARY: usize = 0;
pub(super) const BAG: usize = 1;

const BAG_KIND: FieldKind = FieldKind::Array { element: ElementKind::U64, count_max: 100 };

/// A diary for everyone and a bag for the owner, both reliable, and a name that rides in snapshots.
pub(super) fn class() -> Class {
    let (public, owner) = (SyncFlags::PUBLIC_SYNC, SyncFlags::OWNER_SYNC);
    let (diary, bag) = (FieldKind::Text { bytes_max: 60_000 }, BAG_KIND);
    let writable = owner.with(SyncFlags::MODIFIABLE_BY_CLIENT);
    let schema = Schema::builder("player")
        .with(Field::new("diary", diary, public, 9).delivered(Delivery::Reliable))
        .with(Field::new("bag", bag, writable, 8).delivered(Delivery::Reliable))
        .field("name", FieldKind::Text { bytes_max: 20 }, public, 7)
        .build();
    Class::new(schema.unwrap()).unwrap()
}

pub(super) fn world() -> World {
    let config = WorldConfig { property_log_bytes: 131_072, ..WorldConfig::default() };
    World::new(vec![class()], config).unwrap()
}

fn world_with_player() -> (World, ObjectIndex) {
    let mut world = world();
    let player = world.spawn(Spawn::new(ObjectId(1), ClassId(0))).unwrap();
    world.commit(Tick(1)).unwrap();
    (world, player)
}

fn write(world: &mut World, object: ObjectIndex, text: &str) {
    world.set(object, DIARY, Value::Text(text)).unwrap();
}

fn with_bag<T>(items: &[u64], work: impl FnOnce(Value<'_>) -> T) -> T {
    let mut buffer = [0; 1_000];
    let mut writer = ArrayWriter::new(ElementKind::U64, 110, &mut buffer);
    writer.extend(items.iter().map(|&item| Value::U64(item)));
    work(Value::Array(writer.finish().unwrap()))
}

fn pack(world: &mut World, object: ObjectIndex, items: &[u64]) {
    with_bag(items, |bag| world.set(object, BAG, bag)).unwrap();
}

/// All messages that a peer gets now: alias slot, field, content.
fn drain(peer: &mut PropertyPeer, world: &World) -> Vec<(u16, usize, Vec<u8>)> {
    let mut out = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
    let next = || {
        let length = peer.poll_property(world, &mut out)?;
        let message = PropertyMessage::read(&out[..length]).unwrap();
        Some((message.alias.slot, usize::from(message.field), message.content.to_vec()))
    };
    std::iter::from_fn(next).collect()
}

fn texts(peer: &mut PropertyPeer, world: &World) -> Vec<String> {
    drain(peer, world).into_iter().map(|(_, _, content)| String::from_utf8(content).unwrap()).collect()
}

const ALIAS: Alias = Alias { slot: 7, generation: 2 };
const PUBLIC_FIELDS: u64 = 1 << DIARY;
const OWNER_FIELDS: u64 = 1 << DIARY | 1 << BAG;

#[test]
fn a_message_has_the_documented_bytes() {
    let message = PropertyMessage { alias: Alias { slot: 300, generation: 7 }, field: 2, content: b"hi" };
    let mut out = [0; 8];
    assert_eq!(message.write(&mut out), Some(6));
    assert_eq!(out[..6], [0x2c, 0x01, 7, 2, b'h', b'i']);
    assert_eq!(PropertyMessage::read(&out[..6]), Ok(message));
    assert_eq!(message.write(&mut out[..5]), None);
    assert_eq!(PropertyMessage::read(&out[..3]), Err(ReadError::UnexpectedEnd));
    let long = vec![0; PROPERTY_MESSAGE_BYTES_MAX + 1];
    assert_eq!(PropertyMessage::read(&long), Err(ReadError::TooLong));
    assert_eq!(PropertyMessage::read(&long[1..]).map(|message| message.content.len()), Ok(65_532));
    assert_eq!(PROPERTY_MESSAGE_BYTES_MAX, 64 << 10);
}

#[test]
fn every_value_arrives_once_and_in_order_at_those_who_may_see_it() {
    let (mut world, player) = world_with_player();
    let class = class();
    let (mut owner, mut other) =
        (PropertyPeer::new(world.property_log()), PropertyPeer::new(world.property_log()));
    owner.enter(world.property_log(), ALIAS, player, class.reliable(Audience::Owner));
    other.enter(
        world.property_log(),
        Alias { slot: 3, generation: 0 },
        player,
        class.reliable(Audience::Public),
    );
    assert!(drain(&mut owner, &world).is_empty() && drain(&mut other, &world).is_empty(), "nothing was set");
    write(&mut world, player, "one");
    pack(&mut world, player, &[5]);
    write(&mut world, player, "one");
    write(&mut world, player, "two");
    write(&mut world, player, "");
    let bag = vec![1, 5, 0, 0, 0, 0, 0, 0, 0];
    let text = |slot, text: &str| (slot, DIARY, text.as_bytes().to_vec());
    assert_eq!(drain(&mut owner, &world), [text(7, "one"), (7, BAG, bag), text(7, "two"), text(7, "")]);
    assert_eq!(drain(&mut other, &world), [text(3, "one"), text(3, "two"), text(3, "")]);
    assert!(drain(&mut owner, &world).is_empty());
    assert_eq!(owner.counters(), PropertyCounters { messages: 4, resyncs: 0 });
    world.commit(Tick(2)).unwrap();
    assert!(world.changed().is_empty(), "snapshots have nothing to say of it");
}

#[test]
fn an_object_that_enters_brings_its_values_and_one_that_leaves_is_silent() {
    let (mut world, player) = world_with_player();
    let mut peer = PropertyPeer::new(world.property_log());
    write(&mut world, player, "before");
    assert!(texts(&mut peer, &world).is_empty());
    peer.enter(world.property_log(), ALIAS, player, OWNER_FIELDS);
    assert_eq!(texts(&mut peer, &world), ["before"], "the bag is empty, as the client takes it to be");
    write(&mut world, player, "after");
    peer.leave(player.slot());
    assert!(texts(&mut peer, &world).is_empty());
    write(&mut world, player, "unseen");
    peer.enter(world.property_log(), Alias { slot: 7, generation: 3 }, player, PUBLIC_FIELDS);
    assert_eq!(texts(&mut peer, &world), ["unseen"]);
}

#[test]
fn what_enters_while_the_peer_is_behind_is_told_once() {
    let (mut world, player) = world_with_player();
    let other = world.spawn(Spawn::new(ObjectId(2), ClassId(0))).unwrap();
    let mut peer = PropertyPeer::new(world.property_log());
    peer.enter(world.property_log(), ALIAS, player, PUBLIC_FIELDS);
    write(&mut world, player, "a");
    write(&mut world, other, "x");
    write(&mut world, player, "b");
    peer.enter(world.property_log(), Alias { slot: 8, generation: 0 }, other, PUBLIC_FIELDS);
    write(&mut world, other, "y");
    assert_eq!(texts(&mut peer, &world), ["a", "b", "y"]);
    write(&mut world, other, "z");
    assert_eq!(texts(&mut peer, &world), ["z"]);
}

#[test]
fn a_peer_that_falls_behind_gets_the_newest_values_and_it_is_counted() {
    let (mut world, player) = world_with_player();
    let mut peers = [(); 2].map(|()| PropertyPeer::new(world.property_log()));
    peers.iter_mut().for_each(|peer| peer.enter(world.property_log(), ALIAS, player, OWNER_FIELDS));
    write(&mut world, player, "told");
    let mut arrived = peers.iter_mut().map(|peer| drain(peer, &world).len()).sum::<usize>() - 1;
    for number in 0..9 {
        write(&mut world, player, &format!("{number}").repeat(30_000));
        arrived += drain(&mut peers[0], &world).len();
    }
    write(&mut world, player, "");
    assert_eq!((arrived, drain(&mut peers[0], &world).len(), peers[0].counters().resyncs), (10, 1, 0));
    assert_eq!(
        drain(&mut peers[1], &world),
        [(7, DIARY, vec![])],
        "an empty value is news to it, an empty bag is not"
    );
    assert_eq!(peers[1].counters(), PropertyCounters { messages: 2, resyncs: 1 });
    write(&mut world, player, "on");
    assert_eq!(texts(&mut peers[1], &world), ["on"]);
}

#[test]
fn another_audience_brings_and_takes_fields() {
    let (mut world, player) = world_with_player();
    let mut peer = PropertyPeer::new(world.property_log());
    pack(&mut world, player, &[1]);
    peer.enter(world.property_log(), ALIAS, player, PUBLIC_FIELDS);
    assert!(drain(&mut peer, &world).is_empty());
    peer.enter(world.property_log(), ALIAS, player, OWNER_FIELDS);
    assert_eq!(drain(&mut peer, &world).len(), 1);
    pack(&mut world, player, &[2]);
    peer.restrict(player.slot(), PUBLIC_FIELDS);
    pack(&mut world, player, &[]);
    assert!(drain(&mut peer, &world).is_empty(), "not even what it could see a moment ago");
    peer.enter(world.property_log(), ALIAS, player, OWNER_FIELDS);
    assert_eq!(drain(&mut peer, &world), [(7, BAG, vec![0])], "it may still hold the full bag");
}

#[test]
fn changes_of_a_slots_last_object_are_not_those_of_its_next() {
    let (mut world, player) = world_with_player();
    let mut peer = PropertyPeer::new(world.property_log());
    peer.enter(world.property_log(), ALIAS, player, PUBLIC_FIELDS);
    write(&mut world, player, "old");
    world.despawn(player).unwrap();
    world.commit(Tick(2)).unwrap();
    let next = world.spawn(Spawn::new(ObjectId(2), ClassId(0))).unwrap();
    assert_eq!(next.slot(), player.slot());
    peer.leave(player.slot());
    peer.enter(world.property_log(), Alias { slot: 8, generation: 0 }, next, PUBLIC_FIELDS);
    assert!(drain(&mut peer, &world).is_empty());
    write(&mut world, next, "new");
    assert_eq!(drain(&mut peer, &world), [(8, DIARY, b"new".to_vec())]);
}

#[test]
fn a_message_waits_for_a_buffer_that_holds_it() {
    let (mut world, player) = world_with_player();
    let mut peer = PropertyPeer::new(world.property_log());
    write(&mut world, player, "too long");
    peer.enter(world.property_log(), ALIAS, player, PUBLIC_FIELDS);
    assert_eq!(peer.poll_property(&world, &mut [0; 11]), None);
    assert_eq!(peer.poll_property(&world, &mut [0; 12]), Some(12));
    write(&mut world, player, "too long again");
    assert_eq!(peer.poll_property(&world, &mut [0; 17]), None);
    assert_eq!(peer.poll_property(&world, &mut [0; 18]), Some(18));
}

#[test]
fn a_client_writes_reliable_fields_as_it_does_others() {
    let (mut world, player) = world_with_player();
    let ask = |world: &mut World, items: &[u64], writer| {
        let most_three = |_: crate::world::Object<'_>, value: Value<'_>| matches!(value, Value::Array(bag) if bag.len() <= 3);
        with_bag(items, |bag| world.client_write(player, BAG, bag, writer, most_three))
    };
    assert_eq!(ask(&mut world, &[1, 2, 3], Writer::Owner), Ok(()));
    assert_eq!(ask(&mut world, &[1; 4], Writer::Owner), Err(WriteRefused::Rejected));
    assert_eq!(ask(&mut world, &[1], Writer::OtherClient), Err(WriteRefused::Forbidden));
    let too_many = ValueError::TooMany { count: 101, count_max: 100 };
    assert_eq!(ask(&mut world, &[1; 101], Writer::Owner), Err(WriteRefused::Invalid(too_many)));
    with_bag(&[1; 101], |bag| {
        let refused = world.set(player, BAG, bag);
        assert_eq!(refused, Err(WorldError::Value { field: BAG, source: too_many }));
        assert_eq!(too_many.to_string(), "101 elements, at most 100 are allowed");
    });
    let Some(Value::Array(bag)) = world.get(player, BAG) else { panic!("the bag is an array") };
    assert!(bag.iter().eq([1, 2, 3].map(Value::U64)));
    let long = "x".repeat(60_001);
    let refused = world.set(player, DIARY, Value::Text(&long)).unwrap_err();
    assert_eq!(refused.to_string(), "field 0: 60001 bytes, at most 60000 are allowed");
    assert_eq!(world.property_log().end(), 1, "only what was accepted is logged");
}

proptest! {
    /// The log gives back what it keeps, keeps at least the newest, and forgets no more than it must.
    #[test]
    fn the_log_keeps_the_newest_that_fit(lengths in proptest::collection::vec(0usize..400, 1..200)) {
        let (_, object) = world_with_player();
        let mut log = PropertyLog::new(1_000);
        let mut pushed: Vec<Vec<u8>> = Vec::new();
        for length in lengths {
            let content: Vec<u8> = (0..length).map(|byte| (pushed.len() * 7 + byte) as u8).collect();
            log.push(object, DIARY, &content);
            pushed.push(content);
            prop_assert_eq!(log.end(), pushed.len() as u64);
            prop_assert!(log.first() < log.end());
            prop_assert_eq!(log.get(log.end()), None);
            prop_assert_eq!(log.first().checked_sub(1).and_then(|gone| log.get(gone)), None);
            for number in log.first()..log.end() {
                let content = &pushed[number as usize][..];
                prop_assert_eq!(log.get(number), Some(LoggedProperty { object, field: DIARY, content }));
            }
            let kept: usize = pushed[log.first() as usize..].iter().map(Vec::len).sum();
            prop_assert!(kept <= 1_000);
            // What did not fit at the end of the ring leaves less than one content unused.
            prop_assert!(log.first() == 0 || kept + 400 + pushed[log.first() as usize - 1].len() > 1_000);
        }
    }
}

#[test]
fn a_change_that_cannot_be_kept_counts_as_missed() {
    let (_, object) = world_with_player();
    let mut log = PropertyLog::new(10);
    log.push(object, DIARY, b"kept");
    log.push(object, DIARY, b"longer than all");
    assert_eq!((log.first(), log.end(), log.get(1)), (2, 2, None));
    log.push(object, DIARY, b"kept");
    assert_eq!(log.get(2).map(|change| change.content), Some(&b"kept"[..]));
}
