//! Classes and full entries.

use netloom_replica::entry::{ENTRY_BYTES_MAX, Entry, JUMP_AGE_MAX, read_entry, write_entry};
use netloom_replica::limits::WORDS_MAX;
use netloom_replica::world::{ObjectIndex, Spawn, World, WorldConfig};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{Audience, Value as Property};
use netloom_wire::{Alias, Name, ObjectId, Profile, ReadError, SectorOrigin, Sequence8, Tick};
use serde_json::{Value, json};

use super::scene::{Contents, WorldContents, audience_name, classes, described_class, table};
use crate::wire_vectors::{case, double, file, refused};

pub fn classes_of_all_files() -> Value {
    let masks = |class: &Class, of: fn(&Class, Audience) -> u64| {
        let by_audience = [Audience::Owner, Audience::Team, Audience::Public];
        let pairs =
            by_audience.map(|audience| (audience_name(audience).to_owned(), json!(of(class, audience))));
        Value::Object(pairs.into_iter().collect())
    };
    let described = |class: &Class| {
        let firsts = class.fields().iter().map(|field| (field.count > 0).then_some(field.first));
        json!({
            "words": class.word_count(),
            "firsts": firsts.collect::<Vec<Option<usize>>>(),
            "visible": masks(class, Class::visible),
            "reliable": masks(class, Class::reliable),
        })
    };
    let one = |name: &str, classes: &[Class]| {
        let hash = netloom_replica::class::classes_hash(classes).expect("few classes");
        let value =
            json!({ "hash": hash.to_string(), "classes": classes.iter().map(described).collect::<Value>() });
        let given: Value = classes.iter().map(described_class).collect();
        case(name, json!({ "classes": given }), &[], value)
    };
    let cases = vec![one("one class", &classes()[2..3]), one("the classes of all other files", &classes())];
    file(
        "Where the words of classes are, who sees which fields (a bit each), and the hash of the list.",
        cases,
    )
}

/// What a reader must find in an entry.
fn described(entry: &Entry, words: &[i32], contents: &Contents) -> Value {
    json!({
        "slot": entry.alias.slot,
        "generation": entry.alias.generation,
        "class": entry.class,
        "audience": audience_name(entry.audience),
        "parent": entry.parent,
        "profile": entry.profile as u8,
        "origin": { "metres": entry.origin.metres().map(double), "version": entry.origin.version().get() },
        "jump_age": entry.jump_age,
        "words": words,
        "contents": contents.described(),
    })
}

fn read(bytes: &[u8]) -> Result<(Entry, Vec<i32>, Contents), ReadError> {
    let table = table();
    let (mut words, mut contents) = ([0; WORDS_MAX], Contents::default());
    let keep = |field, content: &[u8]| contents.push(field, content);
    let (entry, length) = read_entry(bytes, &table, &mut words, keep)?;
    assert_eq!(length, bytes.len(), "an entry of the vectors has nothing behind it");
    let class = table.class(ClassId(entry.class), entry.profile).expect("it was read");
    Ok((entry, words[..class.word_count()].to_vec(), contents))
}

/// A world with one object of each kind and profile that matters.
struct Stage {
    world: World,
    next_id: u64,
}

impl Stage {
    fn spawn(&mut self, class: u8, profile: Profile, origin: SectorOrigin) -> ObjectIndex {
        self.next_id += 1;
        let spawn =
            Spawn { profile: Some(profile), origin, ..Spawn::new(ObjectId(self.next_id), ClassId(class)) };
        let index = self.world.spawn(spawn).expect("a new id");
        let has = |field: Option<usize>| field.is_some();
        let object_class = self.world.object(index).expect("it is there").class();
        let (has_position, has_rotation) = (has(object_class.position()), has(object_class.rotation()));
        if has_position {
            let [x, y, z] = origin.metres();
            self.world.set_position(index, [x + 1.25, y - 2.0, z + 100.5]).expect("it has a position");
        }
        if has_rotation {
            self.world.set_rotation(index, [0.1, -0.2, 0.3, 0.927_361_9]).expect("it has a rotation");
        }
        index
    }

    fn set(&mut self, index: ObjectIndex, field: &str, value: Property<'_>) {
        let field = self.world.object(index).expect("it is there").class().schema().index_of(field);
        self.world.set(index, field.expect("a field of the class"), value).expect("a value of the field");
    }

    fn entry(
        &self,
        index: ObjectIndex,
        audience: Audience,
        parent: Option<u16>,
        jump_age: Option<u32>,
    ) -> Vec<u8> {
        let object = self.world.object(index).expect("it is there");
        let entry = Entry {
            alias: Alias { slot: 300, generation: 7 },
            class: object.class_id().0,
            audience,
            parent,
            profile: object.profile(),
            origin: object.origin(),
            jump_age,
        };
        let mut out = [0; ENTRY_BYTES_MAX];
        let contents = WorldContents(object);
        let length = write_entry(&entry, object.class(), object.words(), &contents, Sequence8(0), &mut out);
        out[..length.expect("an object of a world")].to_vec()
    }
}

fn good_entries() -> Vec<(&'static str, Vec<u8>)> {
    let world = World::new(classes(), WorldConfig::default()).expect("a small world");
    let mut stage = Stage { world, next_id: 0 };
    let near = SectorOrigin::default();
    let far = SectorOrigin::moved_to(&near, [1_000.0, 0.0, -3.5]).expect("near enough");
    let ship = stage.spawn(0, Profile::Standard, near);
    let high = stage.spawn(0, Profile::High, far);
    let world_ship = stage.spawn(0, Profile::World, near);
    let raw = stage.spawn(0, Profile::None, near);
    let beyond = stage.spawn(0, Profile::Standard, far);
    let crate_ = stage.spawn(1, Profile::High, near);
    let board = stage.spawn(2, Profile::Standard, near);
    let turret = stage.spawn(3, Profile::High, near);
    let cells = [3, 0x35, 0x01];
    let cells = netloom_wire::schema::ElementKind::int(0, 6).ok().and_then(|element| {
        netloom_wire::schema::FieldKind::Array { element, count_max: 40 }.read_content(&cells).ok()
    });
    for (field, value) in [
        ("health", Property::Word(77)),
        ("heat", Property::Word(-1_000)),
        ("ammo", Property::Word(-2_000_000_000)),
        ("armed", Property::Bool(true)),
        ("ratio", Property::F32(0.1)),
        ("tag", Property::Name(Name::of("sword"))),
        ("serial", Property::U64(u64::MAX - 1)),
        ("title", Property::Text("Grüße")),
        ("badge", Property::Bytes(&[0, 255])),
        ("cells", cells.expect("three digits")),
        ("secret", Property::Word(9)),
    ] {
        stage.set(ship, field, value);
    }
    stage.world.set_scale(ship, [1.0, 0.5, 2.0]).expect("it has a scale");
    stage.world.set_scale(raw, [-1.0, 0.0, 9.0]).expect("it has a scale");
    stage.world.set_velocity(ship, [3.0, -0.01, 327.67]).expect("it has a velocity");
    stage.world.set_position(beyond, [9_000.0, 0.0, 0.0]).expect("it has a position");
    stage.world.commit(Tick(1)).expect("the first tick");
    vec![
        ("only a place", stage.entry(crate_, Audience::Public, None, None)),
        ("everything, STANDARD, public", stage.entry(ship, Audience::Public, None, None)),
        (
            "everything, STANDARD, for its owner, attached",
            stage.entry(ship, Audience::Owner, Some(65_534), Some(0)),
        ),
        ("HIGH, with an origin, for its team", stage.entry(high, Audience::Team, None, None)),
        ("WORLD", stage.entry(world_ship, Audience::Public, None, Some(JUMP_AGE_MAX))),
        ("NONE, with a raw scale", stage.entry(raw, Audience::Public, None, None)),
        ("a raw position, with an origin", stage.entry(beyond, Audience::Public, None, None)),
        ("without transform", stage.entry(board, Audience::Public, None, None)),
        ("only a rotation, without properties", stage.entry(turret, Audience::Public, None, None)),
        ("only a rotation, for its owner", stage.entry(turret, Audience::Owner, None, None)),
    ]
}

pub fn entries() -> Value {
    let good = good_entries();
    let mut cases: Vec<Value> = good
        .iter()
        .map(|(name, bytes)| {
            let (entry, words, contents) = read(bytes).expect("an entry that was written");
            case(name, Value::Null, bytes, described(&entry, &words, &contents))
        })
        .collect();
    let board = |block: &[u8]| [&[2, 0, 5, 0, 1, 8, 0, 0, block.len() as u8][..], block].concat();
    let [crate_, with_origin, turret] = [0, 3, 8].map(|place| good[place].1.clone());
    let patched = |bytes: &[u8], at: usize, patch: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + patch.len()].copy_from_slice(patch);
        bytes
    };
    let origin = [0; 25];
    let world_with_origin = [&[1, 8][..], &origin, &[5, 0, 1, 1, 2, 0], &[0; 6]].concat();
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("a class that does not exist", patched(&crate_, 0, &[5])),
        ("bit 4", patched(&crate_, 1, &[16])),
        ("owner and team", patched(&crate_, 1, &[3])),
        ("slot 65535", patched(&crate_, 2, &[0xff, 0xff])),
        ("a parent in slot 65535", [&[1, 4, 0xff, 0xff][..], &crate_[2..]].concat()),
        ("another origin version in the record", patched(&with_origin, 2 + 25 + 4, &[1 | 2 << 2])),
        ("an origin version without origin", patched(&crate_, 6, &[1 | 1 << 2])),
        ("an origin that WORLD does not use", world_with_origin),
        ("a scale in the record", [&patched(&crate_, 5, &[5])[..], &[32, 32, 32]].concat()),
        ("a velocity in the record", [&patched(&crate_, 5, &[17])[..], &[0; 12]].concat()),
        ("no position", patched(&crate_[..8], 5, &[0])),
        (
            "a rotation that the class does not have",
            [&patched(&crate_, 5, &[3])[..], &turret[8..14]].concat(),
        ),
        (
            "a position that the class does not have",
            [&patched(&turret, 5, &[3])[..8], &[0; 12], &turret[8..]].concat(),
        ),
        ("a field is missing", board(&[1, 2, 50])),
        ("a field that is delivered reliably", board(&[3, 0, 0, 2, 50, 3, 0])),
        ("a field for the owner alone", [&patched(&turret, 5, &[10])[..], &[3, 1, 1, 1]].concat()),
        ("a word above its range", board(&[2, 2, 101, 3, 0])),
        ("bytes after the last property", board(&[2, 2, 50, 3, 0, 0])),
        ("a jump without its age", patched(&crate_, 5, &[1 | 32])),
        (
            "a jump too long ago",
            [&patched(&crate_, 5, &[1 | 32])[..], &[0x81, 0x80, 0x80, 0x80, 0x04]].concat(),
        ),
        ("cut off", crate_[..crate_.len() - 1].to_vec()),
    ];
    cases.extend(bad.iter().map(|(name, bytes)| refused(name, Value::Null, bytes, read(bytes))));
    file("Full entries. contents: those of texts, bytes and arrays in hex, by field.", cases)
}
