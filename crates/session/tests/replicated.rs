//! Structs become objects, cross to clients in snapshots, and become structs again.

use netloom_replica::Class;
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::step::{FieldValue, Fields};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, ValueError, World, WorldConfig, WorldError};
use netloom_session::replicated::{Choice, ClassOf, Replicated};
use netloom_wire::schema::{Delivery, ElementKind, Field, FieldKind, SyncFlags, Value, Writer};
use netloom_wire::{Name, ObjectId, Profile, Schema, Tick};
use proptest::prelude::*;

const HEALTH_MAX: u16 = 1_000;
const OWNER: OwnerId = OwnerId(1);

#[derive(Choice, Clone, Copy, Debug, Default, PartialEq)]
#[replicated(crate = netloom_session)]
enum Gear {
    Neutral,
    #[default]
    Forward,
    Back,
}

/// A field of every kind.
#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(crate = netloom_session, name = "everything", priority = 2.0, radius = 80, weight = 3.0, predict)]
struct Everything {
    #[replicated(text = 32)]
    title: String,
    #[replicated(range = 0..=HEALTH_MAX)]
    health: u32,
    #[replicated(position)]
    at: [f64; 3],
    #[replicated(rotation)]
    turned: [f32; 4],
    #[replicated(scale)]
    size: [f32; 3],
    #[replicated(velocity)]
    speed: [f32; 3],
    #[replicated(range = -1.0..=1.0, step = 0.01, hot = 200)]
    throttle: f32,
    #[replicated(range = -1_000_000.0..=1_000_000.0, step = 0.001)]
    depth: f64,
    #[replicated(range = -3.2..=3.2, step = 0.01, angle)]
    heading: f32,
    gear: Gear,
    is_lit: bool,
    level: u8,
    offset: i16,
    heat: f32,
    id: u64,
    #[replicated(name)]
    skin: Name,
    #[replicated(bytes = 16)]
    blob: Vec<u8>,
    #[replicated(array = 10, range = -5..=5)]
    digits: Vec<i64>,
    #[replicated(array = 4, range = 0.0..=10.0, step = 0.25)]
    curve: Vec<f64>,
    #[replicated(array = 9)]
    gears: Vec<Gear>,
    #[replicated(array = 40)]
    switches: Vec<bool>,
    #[replicated(range = 0..=999, owner, client_writes)]
    ammo: u16,
    #[replicated(text = 2_000, reliable, owner)]
    diary: String,
    /// Its default is not the first: what was not sent is no zero.
    #[replicated(owner)]
    plan: Gear,
    #[replicated(server_only)]
    seed: u64,
    #[replicated(any_client_writes)]
    votes: u8,
    #[replicated(skip)]
    cache: Vec<String>,
}

fn finite(range: core::ops::Range<f32>) -> impl Strategy<Value = f32> {
    range
}

prop_compose! {
    fn any_place()(
        at in prop::array::uniform3(-320.0f64..320.0),
        turned in prop::array::uniform4(-1.0f32..1.0).prop_filter("a direction", |q| {
            q.iter().map(|part| part * part).sum::<f32>() > 0.01
        }),
        size in prop::array::uniform3(0.1f32..7.9),
        speed in prop::array::uniform3(-300.0f32..300.0),
    ) -> ([f64; 3], [f32; 4], [f32; 3], [f32; 3]) {
        let length = turned.iter().map(|part| part * part).sum::<f32>().sqrt();
        (at, turned.map(|part| part / length), size, speed)
    }
}

prop_compose! {
    fn any_contents()(
        title in "[a-zäß]{0,16}",
        blob in prop::collection::vec(any::<u8>(), 0..=16),
        digits in prop::collection::vec(-5i64..=5, 0..=10),
        curve in prop::collection::vec(0.0f64..=10.0, 0..=4),
        gears in prop::collection::vec(any_gear(), 0..=9),
        switches in prop::collection::vec(any::<bool>(), 0..=40),
        diary in "[a-z ]{0,400}",
    ) -> Everything {
        Everything { title, blob, digits, curve, gears, switches, diary, ..everything() }
    }
}

fn any_gear() -> impl Strategy<Value = Gear> {
    (0..Gear::COUNT).prop_map(|index| Gear::from_index(index).unwrap())
}

prop_compose! {
    fn any_everything()(
        place in any_place(),
        (contents, gear, plan) in (any_contents(), any_gear(), any_gear()),
        health in 0..=u32::from(HEALTH_MAX),
        throttle in -1.0f32..=1.0,
        depth in -1e6f64..=1e6,
        heading in -3.2f32..=3.2,
        heat in finite(-1e30..1e30),
        (is_lit, level, offset, id, skin) in any::<(bool, u8, i16, u64, u64)>(),
        (ammo, seed, votes) in (0u16..=999, any::<u64>(), any::<u8>()),
    ) -> Everything {
        let (at, turned, size, speed) = place;
        Everything {
            health, at, turned, size, speed, throttle, depth, heading, gear, is_lit, level, offset, heat, id,
            skin: Name(skin), ammo, plan, seed, votes, ..contents
        }
    }
}

fn everything() -> Everything {
    Everything {
        title: "a tank".to_owned(),
        health: 900,
        at: [1.5, -2.0, 300.0],
        turned: [0.0, 0.0, 0.0, 1.0],
        size: [1.0, 2.0, 0.5],
        speed: [3.0, 0.0, -1.0],
        throttle: 0.5,
        depth: -12.345,
        heading: 3.1,
        gear: Gear::Back,
        is_lit: true,
        level: 255,
        offset: -300,
        heat: 36.6,
        id: u64::MAX,
        skin: Name::of("rusty"),
        blob: vec![1, 2, 3],
        digits: vec![-5, 5],
        curve: vec![0.25, 10.0],
        gears: vec![Gear::Forward, Gear::Neutral],
        switches: vec![true; 9],
        ammo: 7,
        diary: "day one".to_owned(),
        plan: Gear::Back,
        seed: 42,
        votes: 3,
        cache: Vec::new(),
    }
}

/// Within the error that each attribute states; the quantities that are exact are equal.
fn check_close(sent: &Everything, read: &Everything) -> Result<(), TestCaseError> {
    let within = |a: f64, b: f64, error: f64, name: &str| {
        prop_assert!((a - b).abs() <= error * 1.0001 + 1e-6 * error, "{name}: {a} became {b}");
        Ok(())
    };
    for axis in 0..3 {
        within(sent.at[axis], read.at[axis], 0.005, "at")?;
        within(sent.size[axis].into(), read.size[axis].into(), 0.5 / 32.0, "size")?;
        within(sent.speed[axis].into(), read.speed[axis].into(), 0.005 + 1e-5, "speed")?;
    }
    let along: f32 = sent.turned.iter().zip(read.turned).map(|(a, b)| a * b).sum();
    // Half the angle between the two, at most 0.28 degrees of it.
    prop_assert!(along.abs() > 0.14f32.to_radians().cos() - 1e-6, "{:?} {:?}", sent.turned, read.turned);
    within(sent.throttle.into(), read.throttle.into(), 0.005, "throttle")?;
    within(sent.depth, read.depth, 0.0005, "depth")?;
    within(sent.heading.into(), read.heading.into(), 0.005, "heading")?;
    prop_assert_eq!(sent.curve.len(), read.curve.len());
    for (sent, read) in sent.curve.iter().zip(&read.curve) {
        within(*sent, *read, 0.125, "curve")?;
    }
    let Everything { at, turned, size, speed, throttle, depth, heading, curve, .. } = read.clone();
    prop_assert_eq!(
        &Everything { at, turned, size, speed, throttle, depth, heading, curve, ..sent.clone() },
        read
    );
    Ok(())
}

/// What somebody who is not the owner sees.
fn public_part(value: &Everything) -> Everything {
    Everything { ammo: 0, diary: String::new(), plan: Gear::Forward, seed: 0, ..value.clone() }
}

fn classes() -> Vec<Class> {
    vec![Everything::class().unwrap()]
}

/// A server with one object, its owner and somebody else, over a network that delivers at once.
struct Link {
    server: ReplicaServer,
    peers: [(ReplicaPeer, ReplicaClient); 2],
    class: ClassOf<Everything>,
    object: ObjectIndex,
    sequence: u64,
}

impl Link {
    fn new(value: &Everything) -> Link {
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        let class = ClassOf::<Everything>::find(world.classes()).unwrap();
        let object = class.spawn(&mut world, ObjectId(1), Some(OWNER), value).unwrap();
        let mut server = ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).unwrap();
        let peers = [OWNER, OwnerId(2)].map(|owner| {
            let table = ClassTable::new(classes()).unwrap();
            (server.add_peer(PeerConfig::new(owner)), ReplicaClient::new(table, Codes::generic()))
        });
        Link { server, peers, class, object, sequence: 0 }
    }

    fn tick(&mut self) {
        self.server.begin_tick().unwrap();
        for (peer, client) in &mut self.peers {
            self.server.select(*peer, 1_100);
            let mut snapshot = [0; 1_150];
            while let Some(length) = self.server.poll_snapshot(*peer, self.sequence, &mut snapshot) {
                client.handle_snapshot(&snapshot[..length]).unwrap();
                self.server.handle_outcome(*peer, self.sequence, true);
                self.sequence += 1;
            }
            let mut message = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
            while let Some(length) = self.server.poll_property(*peer, &mut message) {
                client.handle_property(&message[..length]).unwrap();
                while client.poll_property().unwrap().is_some() {}
            }
        }
    }

    /// What the owner and the other see.
    fn seen(&self) -> [Everything; 2] {
        [0, 1].map(|number| {
            let client = &self.peers[number].1;
            self.class.read(client, client.iter().next().unwrap()).unwrap()
        })
    }
}

#[test]
fn the_schema_is_the_one_that_would_be_written_by_hand() {
    let public = SyncFlags::PUBLIC_SYNC;
    let array = |element, count_max| FieldKind::Array { element, count_max };
    let profile = Profile::Standard;
    let by_hand = Schema::builder("everything")
        .field("title", FieldKind::Text { bytes_max: 32 }, public, 10)
        .field("health", FieldKind::int(0, 1_000).unwrap(), public, 100)
        .field("at", FieldKind::Position(profile), public, 255)
        .field("turned", FieldKind::Rotation(profile), public, 254)
        .field("size", FieldKind::Scale(profile), public, 20)
        .field("speed", FieldKind::Velocity(profile), public, 253)
        .field("throttle", FieldKind::quantized(-1.0, 1.0, 100).unwrap(), public, 200)
        .field("depth", FieldKind::quantized(-1e6, 1e6, 1_000).unwrap(), public, 100)
        .field("heading", FieldKind::quantized(-3.2, 3.2, 100).unwrap(), public, 100)
        .field("gear", FieldKind::int(0, 2).unwrap(), public, 100)
        .field("is_lit", FieldKind::Bool, public, 100)
        .field("level", FieldKind::int(0, 255).unwrap(), public, 100)
        .field("offset", FieldKind::int(-32_768, 32_767).unwrap(), public, 100)
        .field("heat", FieldKind::F32, public, 100)
        .field("id", FieldKind::U64, public, 100)
        .field("skin", FieldKind::Name, public, 100)
        .field("blob", FieldKind::Bytes { bytes_max: 16 }, public, 10)
        .field("digits", array(ElementKind::int(-5, 5).unwrap(), 10), public, 10)
        .field("curve", array(ElementKind::quantized(0.0, 10.0, 4).unwrap(), 4), public, 10)
        .field("gears", array(ElementKind::int(0, 2).unwrap(), 9), public, 10)
        .field("switches", array(ElementKind::Bool, 40), public, 10)
        .field(
            "ammo",
            FieldKind::int(0, 999).unwrap(),
            SyncFlags::OWNER_SYNC.with(SyncFlags::MODIFIABLE_BY_CLIENT),
            100,
        )
        .with(
            Field::new("diary", FieldKind::Text { bytes_max: 2_000 }, SyncFlags::OWNER_SYNC, 10)
                .delivered(Delivery::Reliable),
        )
        .field("plan", FieldKind::int(0, 2).unwrap(), SyncFlags::OWNER_SYNC, 100)
        .field("seed", FieldKind::U64, SyncFlags::NO_SYNC, 100)
        .field(
            "votes",
            FieldKind::int(0, 255).unwrap(),
            public.with(SyncFlags::MODIFIABLE_BY_ANY_CLIENT),
            100,
        )
        .build()
        .unwrap();
    let derived = Everything::schema().unwrap();
    assert_eq!(derived, by_hand);
    assert!(derived.fields().iter().map(Field::name).eq(Everything::FIELDS.iter().copied()));
    assert_eq!(Everything::NAME, "everything");
}

#[test]
fn objects_are_spawned_as_the_struct_says() {
    let defaults = Everything::spawn_defaults();
    let link = Link::new(&everything());
    let object = link.server.world().object(link.object).unwrap();
    assert_eq!((object.priority(), object.relevance_radius(), object.kind_weight()), (2.0, 80.0, 3.0));
    assert_eq!((object.profile(), object.owner(), defaults.predict), (Profile::Standard, Some(OWNER), true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_server_reads_back_what_it_wrote_within_the_stated_error(value in any_everything()) {
        let link = Link::new(&value);
        let read = link.class.read_world(link.server.world(), link.object).unwrap();
        check_close(&value, &read)?;
        // What is on the grid of the wire already comes back as it is.
        let again = Link::new(&read);
        let read_again = again.class.read_world(again.server.world(), again.object).unwrap();
        prop_assert_eq!(&Everything { turned: read.turned, ..read_again }, &read);
    }

    #[test]
    fn the_owner_sees_everything_and_others_what_is_public(
        first in any_everything(), second in any_everything(),
    ) {
        let mut link = Link::new(&first);
        link.tick();
        link.tick();
        for value in [&first, &second] {
            value.write(link.server.world_mut(), link.object).unwrap();
            link.tick();
            let [owner, other] = link.seen();
            check_close(&Everything { seed: 0, ..value.clone() }, &owner)?;
            check_close(&public_part(value), &other)?;
        }
    }

    #[test]
    fn prediction_finds_no_difference_that_the_wire_made(value in any_everything()) {
        let mut link = Link::new(&value);
        link.tick();
        let [own, server] = [&value, &link.seen()[0]].map(|value| {
            let mut fields = Fields::new();
            value.describe(&mut fields);
            fields
        });
        prop_assert_eq!(own.len(), server.len());
        for ((name, own), (_, server)) in own.iter().zip(server.iter()) {
            prop_assert_eq!(own.error(&server), None, "{}", name);
        }
    }
}

#[test]
fn prediction_lists_what_the_owner_is_sent_in_snapshots() {
    let listed = |value: &Everything| {
        let mut fields = Fields::new();
        value.describe(&mut fields);
        assert_eq!(fields.excess(), 0);
        fields.iter().collect::<Vec<_>>()
    };
    let value = everything();
    let before = listed(&value);
    let names: Vec<&str> = before.iter().map(|(name, _)| *name).collect();
    assert!(names.contains(&"ammo") && !names.contains(&"diary") && !names.contains(&"seed"));
    assert_eq!(names.iter().filter(|name| **name == "speed").count(), 3);
    assert!(before.contains(&("at", FieldValue::Position(Profile::Standard, value.at))));
    let changes: [fn(&mut Everything); 10] = [
        |value| value.title.push('s'),
        |value| value.health -= 1,
        |value| value.gear = Gear::Neutral,
        |value| value.digits[1] = 4,
        |value| value.curve[0] += 0.5,
        |value| value.switches.push(false),
        |value| value.blob[0] = 9,
        |value| value.skin = Name::of("new"),
        |value| value.speed[2] += 0.03,
        |value| value.size[0] += 0.1,
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = value.clone();
        change(&mut changed);
        let after = listed(&changed);
        let differs = before.len() != after.len()
            || before.iter().zip(&after).any(|((_, own), (_, server))| own.error(server).is_some());
        assert!(differs, "change {number} goes unnoticed");
    }
}

#[test]
fn a_value_that_does_not_fit_is_refused_and_all_others_are_written() {
    let mut link = Link::new(&everything());
    let field = |name: &str| Everything::FIELDS.iter().position(|field| *field == name).unwrap();
    let too_much =
        Everything { health: 1_001, ammo: 1_000, level: 9, diary: "day two".to_owned(), ..everything() };
    let refused = |name, source| Err(WorldError::Value { field: field(name), source });
    assert_eq!(
        too_much.write(link.server.world_mut(), link.object),
        refused("health", ValueError::OutOfRange),
        "the first of the two"
    );
    let read = link.class.read_world(link.server.world(), link.object).unwrap();
    assert_eq!((read.health, read.ammo, read.level, read.diary.as_str()), (900, 7, 9, "day two"));

    let mut write = |value: Everything| value.write(link.server.world_mut(), link.object);
    let title = "x".repeat(33);
    let too_long = ValueError::TooLong { bytes: 33, bytes_max: 32 };
    assert_eq!(write(Everything { title, ..everything() }), refused("title", too_long));
    let too_many = ValueError::TooMany { count: 11, count_max: 10 };
    assert_eq!(write(Everything { digits: vec![0; 11], ..everything() }), refused("digits", too_many));
    let digits = vec![i64::MAX];
    assert_eq!(write(Everything { digits, ..everything() }), refused("digits", ValueError::OutOfRange));
    let curve = vec![f64::NAN];
    assert_eq!(write(Everything { curve, ..everything() }), refused("curve", ValueError::NonFinite));
    assert_eq!(write(Everything { heat: f32::NAN, ..everything() }), refused("heat", ValueError::NonFinite));
}

#[test]
fn a_float_beyond_its_range_saturates_and_is_counted() {
    let mut link = Link::new(&everything());
    let before = link.server.world().quantize_counters();
    let value =
        Everything { throttle: 2.0, depth: -1e300, heading: f32::NAN, curve: vec![99.0], ..everything() };
    value.write(link.server.world_mut(), link.object).unwrap();
    let read = link.class.read_world(link.server.world(), link.object).unwrap();
    assert_eq!((read.throttle, read.depth, read.heading, read.curve), (1.0, -1e6, 0.0, vec![10.0]));
    let after = link.server.world().quantize_counters();
    assert_eq!((after.saturated - before.saturated, after.non_finite - before.non_finite), (2, 1));
}

#[test]
fn unchanged_fields_make_no_new_version() {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let class = ClassOf::<Everything>::find(world.classes()).unwrap();
    let object = class.spawn(&mut world, ObjectId(1), None, &everything()).unwrap();
    world.commit(Tick(1)).unwrap();
    everything().write(&mut world, object).unwrap();
    world.commit(Tick(2)).unwrap();
    assert_eq!((world.object(object).unwrap().version(), world.changed().len()), (Tick(1), 0));
}

#[test]
fn clients_may_write_what_the_attributes_let_them() {
    let mut link = Link::new(&everything());
    let (object, world) = (link.object, link.server.world_mut());
    let mut may = |name: &str, writer| {
        let field = Everything::FIELDS.iter().position(|field| *field == name).unwrap();
        world.client_write(object, field, Value::Word(5), writer, |_, _| true).is_ok()
    };
    assert!(may("ammo", Writer::Owner) && !may("ammo", Writer::OtherClient));
    assert!(may("votes", Writer::Owner) && may("votes", Writer::OtherClient));
    assert!(!may("health", Writer::Owner) && !may("level", Writer::OtherClient));
}

#[test]
fn an_object_whose_first_value_is_refused_is_not_there() {
    let mut world = World::new(classes(), WorldConfig::default()).unwrap();
    let class = ClassOf::<Everything>::find(world.classes()).unwrap();
    let value = Everything { health: 5_000, ..everything() };
    assert!(class.spawn(&mut world, ObjectId(1), None, &value).is_err());
    assert!(world.is_empty());
}

#[test]
fn a_choice_is_a_number_of_as_few_bits_as_it_needs() {
    assert_eq!(Gear::COUNT, 3);
    for index in 0..3 {
        assert_eq!(Gear::from_index(index).map(Choice::index), Some(index));
    }
    assert_eq!(Gear::from_index(3), None);
    let schema = Everything::schema().unwrap();
    let gear = schema.field(schema.index_of("gear").unwrap()).unwrap();
    assert_eq!(gear.kind().bit_width().max(), 2);
}

#[derive(Replicated, Debug, PartialEq)]
#[replicated(crate = netloom_session)]
struct Other {
    level: u8,
}

#[test]
fn what_a_client_holds_of_another_class_is_not_taken_for_the_struct() {
    let mut link = Link::new(&everything());
    link.tick();
    let client = &link.peers[0].1;
    let seen = client.iter().next().unwrap();
    assert_eq!(Other::read(seen, &Other::class().unwrap()), None, "it has other words");
    assert_eq!(Other::read(seen, client.class(seen).unwrap()), None, "its first field is a place");
    let table = ClassTable::new(vec![Everything::class().unwrap(), Other::class().unwrap()]).unwrap();
    assert_eq!(ClassOf::<Other>::find(&table).unwrap().read(client, seen), None, "it is of class 0");
}
