//! Seeds for replication.

use netloom_replica::codec::{Blobs, Codes};
use netloom_replica::entry::{ENTRY_BYTES_MAX, Entry, write_entry};
use netloom_replica::world::{Object, ObjectIndex, Spawn, World, WorldConfig};
use netloom_replica::{ClassId, class};
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, ObjectId, Profile, SectorOrigin, Sequence8, Tick};

use super::{Seed, seed};
use crate::replica::{RECORDING, classes};

pub fn seeds() -> Vec<Seed> {
    let mut seeds = entries();
    seeds.extend(updates());
    seeds.extend(tables());
    seeds.extend(inputs());
    seeds.extend(properties());
    seeds.extend(snapshots());
    seeds.extend(pairs());
    seeds
}

/// An object's contents where the encoder looks for them.
struct Contents<'a>(Object<'a>);

impl Blobs for Contents<'_> {
    fn blob(&self, field: usize) -> &[u8] {
        self.0.content(field)
    }
}

fn entry(
    world: &World,
    index: ObjectIndex,
    audience: Audience,
    parent: Option<u16>,
    jump_age: Option<u32>,
) -> Vec<u8> {
    let object = world.object(index).expect("it was spawned");
    let entry = Entry {
        alias: Alias { slot: 7, generation: 3 },
        class: object.class_id().0,
        audience,
        parent,
        profile: object.profile(),
        origin: object.origin(),
        jump_age,
    };
    let mut out = [0; ENTRY_BYTES_MAX];
    let length =
        write_entry(&entry, object.class(), object.words(), &Contents(object), Sequence8(0), &mut out);
    out[..length.expect("an object that exists")].to_vec()
}

fn entries() -> Vec<Seed> {
    let target = "replica_entry";
    let classes: Vec<class::Class> = classes();
    let mut world = World::new(classes, WorldConfig::default()).expect("a small world");
    let mut spawn = |id: u64, class: u8, profile: Profile, origin: SectorOrigin| {
        let spawn = Spawn { profile: Some(profile), origin, ..Spawn::new(ObjectId(id), ClassId(class)) };
        world.spawn(spawn).expect("a new id")
    };
    let far = SectorOrigin::moved_to(&SectorOrigin::default(), [1_000.0, 0.0, -3.5]).expect("near enough");
    let ship = spawn(1, 0, Profile::Standard, SectorOrigin::default());
    let high = spawn(2, 0, Profile::High, far);
    let raw = spawn(3, 0, Profile::None, SectorOrigin::default());
    let place = spawn(4, 1, Profile::World, SectorOrigin::default());
    let board = spawn(5, 2, Profile::Standard, SectorOrigin::default());
    let turret = spawn(6, 3, Profile::None, SectorOrigin::default());
    world.set_position(ship, [1.0, 2_000.0, 3.0]).expect("it has a position");
    world.commit(Tick(1)).expect("the first tick");
    vec![
        seed(target, "public", &[&entry(&world, ship, Audience::Public, None, None)]),
        seed(target, "owned_and_attached", &[&entry(&world, ship, Audience::Owner, Some(9), None)]),
        seed(target, "with_an_origin", &[&entry(&world, high, Audience::Team, None, None)]),
        seed(target, "singles", &[&entry(&world, raw, Audience::Public, None, None)]),
        seed(target, "only_a_place", &[&entry(&world, place, Audience::Public, None, None)]),
        seed(target, "without_transform", &[&entry(&world, board, Audience::Public, None, None)]),
        seed(target, "after_a_jump", &[&entry(&world, ship, Audience::Public, None, Some(300))]),
        seed(target, "only_a_turn", &[&entry(&world, turret, Audience::Public, None, None)]),
    ]
}

/// Class and shape, profile, audience; two baselines; bits.
fn updates() -> Vec<Seed> {
    let target = "replica_codec";
    let pattern: Vec<u8> = (0..200u32).map(|n| (n * n % 251) as u8).collect();
    let names = ["ship", "place", "board", "turret"];
    let mut seeds: Vec<Seed> =
        (0u8..).zip(names).map(|(class, name)| seed(target, name, &[&[class, class, 2], &pattern])).collect();
    seeds.push(seed(target, "one_baseline", &[&[0x40, 0, 0], &pattern]));
    seeds.push(seed(target, "singles", &[&[0, 3, 2], &pattern]));
    seeds.push(seed(target, "wild_words", &[&[0x80, 1, 2], &pattern, &pattern]));
    seeds
}

/// How the bytes are taken; a file, lengths, or tables to be moved and bits.
fn tables() -> Vec<Seed> {
    let target = "replica_tables";
    let file = Codes::generic().serialize();
    let header = 14 + Codes::generic().name().len();
    let pattern: Vec<u8> = (0..200u32).map(|n| (n * n % 251) as u8).collect();
    vec![
        seed(target, "file", &[&[0], &file]),
        seed(target, "cut_off", &[&[0], &file[..file.len() / 2]]),
        seed(target, "lengths", &[&[1], &file[header..]]),
        seed(target, "bits_of_the_generic_set", &[&[2, 0], &pattern]),
        seed(target, "bits_of_moved_tables", &[&[2, 31], &pattern, &pattern]),
    ]
}

/// Setting, window, first step; then messages, bytes and steps.
fn inputs() -> Vec<Seed> {
    let target = "replica_input";
    let hear =
        |offset: u16, count: u8| [&[0][..], &offset.to_le_bytes(), &[count - 1, 0, 1, 0, 1, 1]].concat();
    let game: Vec<u8> = (0..30).flat_map(|step| [&hear(0x84, 8)[..], &[2 + step % 2 * 4]].concat()).collect();
    let lossy: Vec<u8> =
        (0..20).flat_map(|step| [&hear(0x80 + step % 7, 20)[..], &[14, 2]].concat()).collect();
    let own = [&[1, 20, 0, 5, 0, 3, 7, 0xaa][..], &[0x55; 16]].concat();
    let burst = [hear(0xb0, 64), hear(0xd0, 64), vec![2, 2, 34, 2, 250, 2]].concat();
    vec![
        seed(target, "per_tick", &[&[1 + (15 << 2), 63, 0, 1, 0, 0], &game, &own, &[254]]),
        seed(target, "per_input", &[&[2, 63, 0xfd, 0xff, 0xff, 0xff], &game, &burst, &game]),
        seed(target, "late_and_early", &[&[0, 15, 0xf0, 0xff, 0, 0], &lossy, &own, &burst, &lossy]),
    ]
}

fn properties() -> Vec<Seed> {
    let target = "replica_property";
    let all: Vec<u8> = (0..30).flat_map(|number| [1, number]).collect();
    let crowd: Vec<u8> = (0..280u16).flat_map(|number| [2, 5, 200, 0, number as u8, 0, 7]).collect();
    let own = [&[2, 6][..], &RECORDING.properties[0][..6.min(RECORDING.properties[0].len())]].concat();
    vec![
        seed(target, "in_order", &[&[0x60], &all, &[3]]),
        seed(target, "before_their_objects", &[&all, &[3, 0xf0, 3]]),
        seed(target, "between_snapshots", &[&[0x30], &all[..10], &[3, 0x30], &all[10..30], &[0x30, 3], &own]),
        seed(target, "too_many", &[&crowd, &[3]]),
    ]
}

fn snapshots() -> Vec<Seed> {
    let target = "replica_snapshot";
    let again: Vec<u8> = (0..40).flat_map(|number| [1, number * 3 / 2]).collect();
    let first = &RECORDING.snapshots[0];
    let length = (first.len() as u16).to_le_bytes();
    vec![
        seed(target, "a_game", &[&[0xfc, 0xfc]]),
        seed(target, "again_and_late", &[&[0x50], &again, &[0xfc, 1, 20, 1, 30]]),
        seed(target, "damaged", &[&[0x60, 2, 24, 9, 0, 3, 6, 25, 30, 0, 1, 40, 0, 0x80, 2, 30, 3, 0, 0xff]]),
        seed(target, "made_up", &[&[0x28, 7], &length, first, &[0xfc]]),
    ]
}

/// Spawns, motion, existence and complaints under each policy, over networks from good to bad.
fn pairs() -> Vec<Seed> {
    let target = "replica_pair";
    let spawn = |class: u8, owner: u8| [0, class, 0, owner, 0];
    let crowd: Vec<u8> = (0..12).flat_map(|number| spawn(number % 4, number % 3)).collect();
    let shift = |object: u8, by: u8| [3, object, 1, by, 0, 0, by, 1, 0];
    let turn = |object: u8, by: u8| [4, object, by, 3, 0, 40];
    let motion: Vec<u8> = (0..8)
        .flat_map(|n| [&shift(n % 4 * 4, n)[..], &turn(n, n), &[17, 90, 12, 0, 0, 16, 0, 0]].concat())
        .collect();
    let writes: Vec<u8> = (0..14).flat_map(|field| [5, field % 12, field, 9, 1, 0, 3, 1, 19]).collect();
    let life = [6, 1, 4, 19, 7, 4, 1, 19, 8, 0, 3, 4, 5, 19, 9, 8, 1, 2, 19, 10, 4, 1, 1, 51, 2, 3, 19, 2, 0];
    let bad =
        [17, 200, 13, 0, 0, 17, 200, 14, 0, 0, 15, 0, 0, 12, 0, 1, 17, 99, 12, 0, 0, 16, 0, 1, 16, 0, 0];
    let guests = [24, 24, 51, 26, 1, 1, 2, 5, 19, 25, 0, 19, 24, 51];
    let liars = [19, 27, 0, 0, 2, 19, 27, 0, 1, 0, 0, 19, 27, 0, 2, 4, 19];
    vec![
        seed(target, "everyone", &[&[0x18], &crowd, &[51], &motion, &writes, &life, &[51]]),
        seed(target, "grid", &[&[0x29], &crowd, &[51], &motion, &bad, &life, &motion]),
        seed(
            target,
            "custom",
            &[&[0x0a], &crowd, &[28, 0xff, 0x0f, 0, 51], &motion, &[28, 0x55, 0x05, 0], &writes],
        ),
        seed(target, "guests", &[&[0x10], &crowd, &guests, &motion, &life, &guests]),
        seed(target, "liars", &[&[0x08], &crowd, &[51], &liars, &motion, &liars, &bad]),
        seed(target, "long_rest", &[&[0x38], &crowd, &[51], &motion, &[246, 246], &motion, &bad, &[246]]),
        seed(
            target,
            "starved",
            &[&[0x00], &crowd, &[18, 60, 0, 200, 29, 0, 18, 40, 0, 9, 29, 0], &motion, &bad],
        ),
    ]
}
