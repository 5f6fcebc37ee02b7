//! What changed of an object, against one state or two.
//!
//! Named cases show each way to say something; those after them are motion of every kind, in both widths and at many
//! ages, so that a reader whose arithmetic rounds differently anywhere finds out.

use netloom_replica::Class;
use netloom_replica::codec::{Baseline, Codes, GROUPS, decode, encode};
use netloom_wire::entropy::CodeTable;
use netloom_wire::quantize::Words3;
use netloom_wire::schema::Audience;
use netloom_wire::{BitReader, BitWriter, Profile, QuantizeCounters, ReadError, SectorOrigin};
use serde_json::{Value, json};

mod singles;

use super::scene::{Contents, audience_name, class, table};
use crate::wire_vectors::{case, file, refused};

const SHIP: u8 = 0;
const CRATE: u8 = 1;
const BOARD: u8 = 2;
const TURRET: u8 = 3;
const DRONE: u8 = 4;

/// Fields of the ship by their first word.
const VELOCITY: usize = 8;
const SCALE: usize = 12;
const HEALTH: usize = 16;
const AMMO: usize = 18;
const TITLE: usize = 25;

/// Cases of random motion.
const MOTIONS: u64 = 240;

/// Further ones, in which the last bit of a reciprocal counts.
const CLOSE_MOTIONS: [u64; 5] = [1_077, 3_717, 4_641, 6_299, 7_266];

/// Two states and the present.
#[derive(Clone)]
struct Scene {
    class: u8,
    profile: Profile,
    audience: Audience,
    newer: (u32, Vec<i32>),
    older: Option<(u32, Vec<i32>)>,
    current: Vec<i32>,
    contents: Contents,
    jump_age: Option<u32>,
}

impl Scene {
    /// An object that rests, seen by the public.
    fn rest(number: u8, profile: Profile) -> Scene {
        let words = resting_words(class(&table(), number, profile), profile);
        Scene {
            class: number,
            profile,
            audience: Audience::Public,
            newer: (2, words.clone()),
            older: Some((4, words.clone())),
            current: words,
            contents: Contents::default(),
            jump_age: None,
        }
    }

    /// The object was, is and will be at these words from `first` on.
    fn moving(mut self, first: usize, older: &[i32], newer: &[i32], current: &[i32]) -> Scene {
        let put = |words: &mut Vec<i32>, from: &[i32]| words[first..first + from.len()].copy_from_slice(from);
        put(&mut self.newer.1, newer);
        put(&mut self.current, current);
        if let Some((_, words)) = &mut self.older {
            put(words, older);
        }
        self
    }

    fn aged(mut self, newer: u32, older: Option<u32>) -> Scene {
        self.newer.0 = newer;
        self.older = self.older.zip(older).map(|((_, words), age)| (age, words));
        self
    }

    fn seen_by(self, audience: Audience) -> Scene {
        Scene { audience, ..self }
    }

    fn with_content(mut self, field: usize, content: &[u8]) -> Scene {
        self.contents.push(field, content);
        self
    }

    fn baselines(&self) -> (Baseline<'_>, Option<Baseline<'_>>) {
        let baseline = |(age, words)| Baseline { words, age };
        (
            baseline((self.newer.0, &self.newer.1)),
            self.older.as_ref().map(|(age, words)| baseline((*age, words))),
        )
    }

    fn given(&self) -> Value {
        let state = |(age, words): &(u32, Vec<i32>)| json!({ "age": age, "words": words });
        json!({
            "class": self.class,
            "profile": self.profile as u8,
            "audience": audience_name(self.audience),
            "newer": state(&self.newer),
            "older": self.older.as_ref().map(state),
        })
    }

    fn encoded(&self) -> Vec<u8> {
        let table = table();
        let class = class(&table, self.class, self.profile);
        let mut bytes = [0; 1_024];
        let mut writer = BitWriter::new(&mut bytes);
        let (newer, older) = self.baselines();
        let visible = class.visible(self.audience);
        let codes = Codes::generic();
        encode(
            class,
            visible,
            &self.current,
            newer,
            older,
            self.jump_age,
            &self.contents,
            &codes,
            &mut writer,
        );
        let length = writer.finish().expect("words of the class");
        bytes[..length].to_vec()
    }

    fn read(&self, bytes: &[u8]) -> Result<(Vec<i32>, Contents, Option<u32>), ReadError> {
        let table = table();
        let class = class(&table, self.class, self.profile);
        let (newer, older) = self.baselines();
        let (mut words, mut contents) = (vec![0; class.word_count()], Contents::default());
        let mut reader = BitReader::new(bytes);
        let mut keep = |field: usize, content: &[u8]| contents.push(field, content);
        let visible = class.visible(self.audience);
        let codes = Codes::generic();
        let decoded = decode(class, visible, newer, older, &codes, &mut reader, &mut words, &mut keep)?;
        reader.finish()?;
        Ok((words, contents, decoded.jump_age))
    }

    fn good(&self, name: &str) -> Value {
        let bytes = self.encoded();
        let (words, contents, jump_age) = self.read(&bytes).expect("what was encoded");
        assert_eq!((&words, jump_age), (&self.current, self.jump_age), "{name}");
        let value = json!({ "words": words, "contents": contents.described(), "jump_age": jump_age });
        case(name, self.given(), &bytes, value)
    }

    fn bad(&self, name: &str, bytes: &[u8]) -> Value {
        refused(name, self.given(), bytes, self.read(bytes))
    }
}

/// Words that every field may have.
fn resting_words(class: &Class, profile: Profile) -> Vec<i32> {
    let mut words = vec![0; class.word_count()];
    let counters = &mut QuantizeCounters::default();
    if let Some(first) = class.position() {
        let place = profile.quantize_position([1.0, -2.0, 3.0], &SectorOrigin::default(), counters);
        words[first..first + 4].copy_from_slice(&four(place));
    }
    if let Some(first) = class.rotation() {
        words[first..first + 4].copy_from_slice(&rotation(profile, [0.1, -0.2, 0.3, 0.927_361_9]));
    }
    if class.schema().name() == "ship" {
        words[SCALE..SCALE + 3].fill(32);
        words[HEALTH] = 50;
        // The drag of a ship is always singles.
        words[class.word_count() - 2] = 1;
    }
    words
}

fn four(triple: Words3) -> [i32; 4] {
    let [x, y, z] = triple.words;
    [x, y, z, triple.raw.into()]
}

fn rotation(profile: Profile, quaternion: [f32; 4]) -> [i32; 4] {
    let counters = &mut QuantizeCounters::default();
    netloom_replica::entry::rotation_words(profile.quantize_rotation(quaternion, counters))
}

/// A turn of so many degrees about z.
fn turned(profile: Profile, degrees: f64) -> [i32; 4] {
    let (sine, cosine) = sin_cos(degrees / 2.0);
    rotation(profile, [0.0, 0.0, sine as f32, cosine as f32])
}

fn transforms() -> Vec<(&'static str, Scene)> {
    let crate_ = || Scene::rest(CRATE, Profile::Standard);
    let high = || Scene::rest(CRATE, Profile::High);
    let raw = |x: f32| four(Words3::raw([x, 0.5, -1.0]));
    let turret = |profile, degrees: [f64; 3]| {
        let [older, newer, current] = degrees.map(|degrees| turned(profile, degrees));
        Scene::rest(TURRET, profile).moving(0, &older, &newer, &current)
    };
    let jumped = |age, scene: Scene| Scene { jump_age: Some(age), ..scene };
    vec![
        ("a position as before", crate_()),
        ("a position as predicted", crate_().moving(0, &[0, 0, 0], &[10, -20, 30], &[20, -40, 60])),
        ("a position near the line", crate_().moving(0, &[0, 0, 0], &[100, -20, 30], &[201, -42, 60])),
        ("a position near the newer one", crate_().moving(0, &[0, 0, 0], &[100, -20, 30], &[99, -19, 30])),
        (
            "from uneven ages",
            crate_().moving(0, &[7, 0, 0], &[100, -20, 3], &[140, -33, 9]).aged(3, Some(10)),
        ),
        ("from one state", crate_().moving(0, &[], &[100, -20, 3], &[104, -20, 2]).aged(9, None)),
        (
            "from two states too near each other",
            crate_().moving(0, &[0, 0, 0], &[100, 0, 0], &[150, 0, 0]).aged(5, Some(6)),
        ),
        (
            "from two states just far enough apart",
            crate_().moving(0, &[0, 0, 0], &[10, 0, 0], &[50, 1, 0]).aged(4, Some(5)),
        ),
        (
            "from the oldest states",
            crate_().moving(0, &[0, 0, 0], &[10, 0, 0], &[21, 1, 0]).aged(255, Some(510)),
        ),
        ("two axes of three", crate_().moving(0, &[0, 0, 0], &[0, 0, 0], &[0, 900, -17])),
        ("a jump within HIGH", high().moving(0, &[0; 3], &[0; 3], &[2_000_000_000, -2_000_000_000, 5])),
        (
            "steps that wrap",
            high().moving(0, &[-2_000_000_000, 0, 0], &[2_000_000_000, 0, 0], &[2_000_000_100, 1, 0]),
        ),
        ("a large difference by its width", high().moving(0, &[0; 3], &[0; 3], &[70_000, -70_000, 1])),
        ("jumped", jumped(0, crate_().moving(0, &[0; 3], &[0; 3], &[30_000, 1, 2]))),
        ("jumped to where it was", jumped(1, crate_())),
        ("jumped, and the newer state is one tick old", jumped(0, crate_().aged(1, Some(2)))),
        ("jumped in one of five ticks", jumped(4, crate_().aged(5, None))),
        ("jumped right after the oldest state", jumped(254, crate_().aged(255, Some(510)))),
        ("to a raw position", crate_().moving(0, &[0; 4], &[1, 2, 3, 0], &raw(1e6))),
        ("from a raw position", crate_().moving(0, &[0; 4], &raw(1e6), &[1, 2, 3, 0])),
        ("with a raw older position", crate_().moving(0, &raw(1e6), &[1, 2, 3, 0], &[4, 5, 6, 0])),
        ("a rotation as before", turret(Profile::High, [10.0, 20.0, 20.0])),
        ("an even turn, 15 bits", turret(Profile::High, [10.0, 14.0, 18.0])),
        ("an even turn, 10 bits", turret(Profile::World, [10.0, 14.0, 18.0])),
        ("a turn that stops", turret(Profile::High, [10.0, 14.0, 14.01])),
        ("a turn that speeds up", turret(Profile::High, [10.0, 14.0, 21.0])),
        ("another component is dropped", turret(Profile::High, [80.0, 86.0, 92.5])),
        (
            "another component is dropped, from one state",
            turret(Profile::High, [0.0, 86.0, 92.5]).aged(3, None),
        ),
        ("a turn far off", turret(Profile::High, [10.0, 14.0, 170.0])),
        ("a half turn between the states", turret(Profile::World, [0.0, 179.0, -2.0])),
        ("a turn from one state", turret(Profile::World, [0.0, 30.0, 33.0]).aged(1, None)),
        ("a turn from uneven ages", turret(Profile::High, [0.0, 30.0, 72.0]).aged(8, Some(13))),
        ("a component whose root lies just below a half", below_half()),
        ("two steps that would lead", equal_leads()),
    ]
}

/// The dropped component is said by another one, as the root of what the others leave: f² + f, which is nearer to f.
fn below_half() -> Scene {
    let one: i32 = 2 * 511 * 511;
    let is_near = |&step: &i32| {
        let rest = one - step * step - 200 * 200 - 300 * 300;
        let floor = rest.isqrt();
        rest - floor * floor == floor
    };
    let step = (0..300).find(is_near).expect("there is one");
    let newer = [0, 200, 300, step];
    let current = rotation(Profile::World, [0.5, 0.3, 0.6, 0.4]);
    Scene::rest(TURRET, Profile::World).moving(0, &[], &newer, &current).aged(3, None)
}

/// About an axis between two others the first leads.
fn equal_leads() -> Scene {
    let [older, newer] = [10.0, 14.0].map(|degrees| about(Profile::High, [1.0, 1.0, 0.0], degrees));
    let current = about(Profile::High, [1.0, 0.97, 0.02], 18.4);
    Scene::rest(TURRET, Profile::High).moving(0, &older, &newer, &current)
}

fn others() -> Vec<(&'static str, Scene)> {
    let ship = || Scene::rest(SHIP, Profile::Standard);
    let board = || Scene::rest(BOARD, Profile::Standard);
    let raw_scale = four(Words3::raw([-1.0, 0.0, 9.0]));
    let mut every = ship().seen_by(Audience::Owner);
    every.current.copy_from_slice(&[
        101,
        -201,
        299,
        0,
        3,
        56,
        -111,
        165,
        7,
        -7,
        0,
        0,
        33,
        1,
        255,
        0,
        105,
        -1_000,
        2_000_000_000,
        1,
        0x3dcc_cccd_u32 as i32,
        -1,
        5,
        6,
        8,
        9,
        10,
        11,
        12,
        0,
        0,
        1,
        0,
    ]);
    let drag = four(Words3::raw([0.5, 0.0, -9.75]));
    let drag_first = every.current.len() - 5;
    every.current[drag_first..drag_first + 4].copy_from_slice(&drag);
    let every = every
        .with_content(11, "Grüße".as_bytes())
        .with_content(12, &[1, 2, 3])
        .with_content(13, &[3, 0x35, 0x01]);
    vec![
        ("one integer", ship().moving(HEALTH, &[50], &[50], &[49])),
        (
            "an integer that moved far",
            ship().seen_by(Audience::Owner).moving(AMMO, &[0], &[0], &[1_999_999_999]),
        ),
        ("a velocity", ship().moving(VELOCITY, &[0; 3], &[0; 3], &[-300, 32_767, 1])),
        ("a scale", ship().moving(SCALE, &[32; 3], &[32; 3], &[33, 1, 255])),
        ("to a raw scale", ship().moving(SCALE, &[32; 4], &[32, 32, 32, 0], &raw_scale)),
        ("from a raw scale", ship().moving(SCALE, &[32; 4], &raw_scale, &[32, 33, 34, 0])),
        ("a text", ship().moving(TITLE, &[0], &[0], &[1]).with_content(11, b"one")),
        (
            "an empty text, many changes later",
            ship().moving(TITLE, &[0], &[0], &[100_000]).with_content(11, b""),
        ),
        ("every field", every),
        ("nothing, without transform", board()),
        ("a text without transform", board().moving(0, &[5, 0], &[5, 0], &[9, 1]).with_content(3, b"to do")),
    ]
}

/// Motion and turns of every kind, from gentle to wild.
fn motion(seed: u64) -> Scene {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let profile = [Profile::Standard, Profile::High, Profile::World, Profile::High][(seed % 4) as usize];
    let behind = 1 + rng.below(8) as u32;
    let ahead = 1 + rng.below(u64::from(behind) * 3) as u32;
    let mut scene = Scene::rest(DRONE, profile).aged(ahead, Some(ahead + behind));
    let reach = [3, 40, 500, 9_000][rng.below(4) as usize];
    let step: [i64; 3] = std::array::from_fn(|_| rng.around(reach));
    let angle_step = [0.3, 3.0, 20.0, 90.0][rng.below(4) as usize];
    let axis: [f64; 3] = std::array::from_fn(|_| rng.around(1_000) as f64);
    let start = rng.below(360) as f64;
    let wobble = (rng.below(3) as i64 * reach / 4).max(1);
    // On, to a stop, or back.
    let onwards = [1.0, 1.0, 0.0, -0.3][rng.below(4) as usize];
    let mut state = |tick: f64| {
        let place = step.map(|step| (step as f64 * tick) as i32 + rng.around(wobble) as i32);
        let angle = start + angle_step * tick + rng.around(100) as f64 * angle_step / 500.0;
        (place.map(|word| word.clamp(-32_767, 32_767)), about(profile, axis, angle))
    };
    let (older, newer) = (state(0.0), state(f64::from(behind)));
    let current = state(f64::from(behind) + f64::from(ahead) * onwards);
    for (words, (place, turn)) in [
        (&mut scene.newer.1, newer),
        (&mut scene.current, current),
        (&mut scene.older.as_mut().expect("two states").1, older),
    ] {
        words[..3].copy_from_slice(&place);
        words[4..8].copy_from_slice(&turn);
    }
    scene
}

/// A turn of so many degrees about an axis.
fn about(profile: Profile, axis: [f64; 3], degrees: f64) -> [i32; 4] {
    let length = axis.iter().map(|part| part * part).sum::<f64>().sqrt().max(0.1);
    let (sine, cosine) = sin_cos(degrees / 2.0);
    let [x, y, z] = axis.map(|part| (part / length * sine) as f32);
    rotation(profile, [x, y, z, cosine as f32])
}

/// Sine and cosine by their series: those of a platform may differ in their last bit, and the vectors with them.
fn sin_cos(degrees: f64) -> (f64, f64) {
    let radians = (degrees - 360.0 * (degrees / 360.0).round()) * (std::f64::consts::PI / 180.0);
    let (mut term, mut sums) = (1.0, [0.0, 0.0]);
    for power in 0..40 {
        let sign = if power % 4 < 2 { 1.0 } else { -1.0 };
        sums[power % 2] += sign * term;
        term *= radians / (power + 1) as f64;
    }
    (sums[1], sums[0])
}

/// xorshift64*.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % end
    }

    fn around(&mut self, reach: i64) -> i64 {
        self.below(2 * reach as u64 + 1) as i64 - reach
    }
}

/// One of the generic tables of a group.
fn generic_table(name: &str, table: usize) -> CodeTable {
    let before =
        GROUPS.iter().take_while(|group| group.name != name).map(|group| group.codes()).sum::<usize>();
    let symbols = GROUPS.iter().find(|group| group.name == name).map_or(0, |group| group.symbols);
    let first = before + symbols * table;
    CodeTable::from_lengths(&Codes::generic().lengths()[first..first + symbols]).expect("a complete code")
}

/// What says in a head that the form is the one from the newer state, and any other one.
const HEAD_FROM_NEWER: u8 = 105;
const HEAD_OTHER: u8 = 106;
/// The head tables of an object with one state, and of one that moves by 30,000 along a line.
const ALONE: usize = 0;
const FAST: usize = 24 + 11;

/// Bits that begin with a symbol of a head, and then those of a symbol table.
fn after_head(head: usize, symbol: u8, table: usize, symbols: &[u8], rest: &[(u64, u32)]) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    generic_table("head", head).write(symbol, &mut writer);
    put_symbols(table, symbols, rest, &mut writer);
    let length = writer.finish().expect("a few bits");
    bytes[..length].to_vec()
}

fn put_symbols(table: usize, symbols: &[u8], rest: &[(u64, u32)], writer: &mut BitWriter<'_>) {
    let table = generic_table("symbol", table);
    symbols.iter().for_each(|symbol| table.write(*symbol, writer));
    rest.iter().for_each(|(bits, length)| writer.write_bits(*bits, *length));
}

/// Bits that begin with symbols of a symbol table.
fn symbols(table: usize, symbols: &[u8], rest: &[(u64, u32)]) -> Vec<u8> {
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    put_symbols(table, symbols, rest, &mut writer);
    let length = writer.finish().expect("a few bits");
    bytes[..length].to_vec()
}

/// A jump, its age in one bit, and a jump again.
fn jumped_twice() -> Vec<u8> {
    let table = generic_table("symbol", 1);
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    table.write(70, &mut writer);
    writer.write_bits(1, 1);
    table.write(70, &mut writer);
    let length = writer.finish().expect("a few bits");
    bytes[..length].to_vec()
}

fn refusals() -> Vec<Value> {
    let crate_ = Scene::rest(CRATE, Profile::Standard);
    let alone = crate_.clone().aged(3, None);
    let fast = crate_.clone().moving(0, &[0; 3], &[30_000, 0, 0], &[0; 3]);
    let raw = four(Words3::raw([1e6, 0.0, 0.0]));
    let older_raw = crate_.clone().moving(0, &raw, &[0; 4], &[0; 4]);
    let turret = Scene::rest(TURRET, Profile::High);
    let board = Scene::rest(BOARD, Profile::Standard);
    let (place, turn, others) = (|place: u8| place, |turn: u8| 5 * turn, 35);
    let whole = |scene: &Scene| {
        let mut far = scene.clone().moving(0, &[0; 3], &[0; 3], &[32_767, -32_767, 0]);
        far.jump_age = Some(1);
        far.encoded()
    };
    let beside = |numbers: &[u8], rest: &[(u64, u32)]| after_head(ALONE, HEAD_OTHER, 0, numbers, rest);
    let mut trailing = crate_.encoded();
    trailing.push(0);
    let long = whole(&crate_);
    let rotation = |code: u64| symbols(1, &[turn(6)], &[(0, 2), (code, 15), (code, 15), (code, 15)]);
    vec![
        crate_.bad("jumped twice", &jumped_twice()),
        alone.bad("jumped as long ago as the state", &beside(&[70], &[(3, 2), (0, 16)])),
        alone.bad("the usual form, said as another", &after_head(ALONE, HEAD_FROM_NEWER, 0, &[], &[(0, 64)])),
        crate_.bad("other fields where there are none", &symbols(1, &[others], &[])),
        crate_.bad("a turn without rotation", &symbols(1, &[turn(1)], &[])),
        turret.bad("a place without position", &symbols(1, &[place(2)], &[(0, 64)])),
        alone.bad("a line through one state", &beside(&[place(1)], &[])),
        alone.bad("differences from a line through one state", &beside(&[place(3)], &[(0, 64)])),
        older_raw.bad("a line from a raw position", &after_head(ALONE, HEAD_OTHER, 2, &[place(1)], &[])),
        turret
            .clone()
            .aged(3, None)
            .bad("an arc through one state", &symbols(0, &[turn(5)], &[(1, 2), (0, 62)])),
        fast.bad("a line that leaves the range", &after_head(FAST, HEAD_OTHER, 2, &[place(1)], &[])),
        turret.bad("a rotation in full with steps that are none", &rotation(0x7fff)),
        turret.bad("a rotation in full that is longer than one", &rotation(0x7ffe)),
        crate_.bad("cut off", &long[..long.len() - 1]),
        crate_.bad("a byte more", &trailing),
        board.bad("a word below its range", &residual(&[0], 1)),
        board.bad("a text that is too long", &residual(&[1], 0)),
        board.bad("nothing at all", &[]),
    ]
}

/// A change of some fields of the board, two of which it shows: the first down by one from zero, the second a text of 31
/// bytes.
fn residual(fields: &[u8], magnitude: u8) -> Vec<u8> {
    let tables = netloom_wire::entropy::TableSet::generic();
    let mut bytes = [0; 64];
    let mut writer = BitWriter::new(&mut bytes);
    tables.mask.write(1, &mut writer);
    writer.write_bits(fields[0].into(), 1);
    tables.residual.write(magnitude, &mut writer);
    writer.write_bits(u64::from(magnitude), u32::from(magnitude));
    if magnitude == 0 {
        writer.write_bits(31, 5);
    }
    let length = writer.finish().expect("a few bits");
    bytes[..length].to_vec()
}

pub fn updates() -> Value {
    let named = transforms().into_iter().chain(singles::named()).chain(others());
    let mut cases: Vec<Value> = named.map(|(name, scene)| scene.good(name)).collect();
    cases.extend((0..MOTIONS).chain(CLOSE_MOTIONS).map(|seed| motion(seed).good(&format!("motion {seed}"))));
    cases.extend(singles::motions().map(|(name, scene)| scene.good(&name)));
    cases.extend(refusals());
    cases.extend(singles::refusals());
    file(
        "What changed of an object. given.newer and older: its states, in words, and how many ticks ago they were.",
        cases,
    )
}
