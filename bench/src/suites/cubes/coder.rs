//! A frame of cubes in bits, with nothing but what replication has: the codec of objects, its predictions, contexts and
//! tables.
//!
//! ```text
//!   the player's cube │ every other cube that is expected to change, in order │ the rest: ( gap │ cube )… gap to the end
//! ```
//!
//! A cube that moved or turned between its baselines nearly always goes on doing so. Such cubes need no gaps: both sides
//! know which they are, and one that came to rest says so. Among the others the few that begin to move are found by
//! gaps.

use std::error::Error;

use netloom_replica::Class;
use netloom_replica::codec::{Carrier, Codes, Pair, States, Tally, gap_code, read_gap};
use netloom_scene::cubes::{self, CUBES, Cube};
use netloom_wire::schema::{FieldKind, SyncFlags};
use netloom_wire::{BitReader, BitWriter, Profile, Schema};

/// The ages of the baselines in frames. The newest acknowledged frame is six old, and a client that has it has those
/// acknowledged before.
pub const AGES: [usize; 3] = [6, 8, 12];

/// Frames at the start that only serve as baselines.
pub const SKIPPED: usize = AGES[0];

/// Words of a cube: position, rotation, and whether the player holds or touches it.
const WORDS: usize = 9;
const INTERACTING: usize = TRANSFORM_WORDS;
const TRANSFORM_WORDS: usize = 8;

/// The cube that the player rolls, to which others stick.
const PLAYER: usize = 0;

type Words = [i32; WORDS];

/// All frames of a recording as words of the codec.
pub struct Film {
    frames: Vec<Box<[Words]>>,
}

impl Film {
    /// The words of recorded frames.
    pub fn new(frames: &[Vec<Cube>]) -> Film {
        let words = |cube: &Cube| -> Words {
            let &[largest, a, b, c, x, y, z, interacting] = cube;
            let [a, b, c] = [a, b, c].map(|step| step - (cubes::ROTATION_STEP_MAX + 1) / 2);
            [x, y, z, 0, largest, a, b, c, interacting]
        };
        Film { frames: frames.iter().map(|frame| frame.iter().map(words).collect()).collect() }
    }

    /// How many frames it has.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn frame(&self, at: usize) -> &[Words] {
        &self.frames[at]
    }

    /// The frame of an age, or the first one if there was none yet.
    fn ago(&self, at: usize, age: usize) -> &[Words] {
        &self.frames[at.saturating_sub(age)]
    }
}

/// What the cubes of a frame are predicted from.
struct Past<'a> {
    newer: &'a [Words],
    older: &'a [Words],
    oldest: &'a [Words],
    /// How the player's cube moved between its baselines, and from both to the present.
    carriers: Option<[Carrier; 3]>,
}

/// Codes frames.
pub struct Coder {
    class: Class,
    visible: u64,
    three: Pair,
    carried: Pair,
    is_attached: bool,
}

/// The baselines of a cube where its carrier brought them.
struct Load {
    newer: Words,
    oldest: Words,
}

/// A cube that was not expected to change and did.
pub struct Late {
    cube: usize,
    /// How many before it did not.
    gap: u32,
}

/// What is done with the cubes that changed.
pub trait Sink {
    fn update(&mut self, coder: &Coder, pair: &Pair, current: &Words, states: &States<'_>);
    fn gap(&mut self, gap: u32);
}

impl Coder {
    /// Cubes for themselves, or those that stick to the player's cube as its load.
    pub fn new(is_attached: bool) -> Coder {
        let schema = Schema::builder("cube")
            .field("position", FieldKind::Position(Profile::High), SyncFlags::PUBLIC_SYNC, 255)
            .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254)
            .field("interacting", FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 1)
            .build()
            .expect("three fields with names of their own");
        let class = Class::new(schema).expect("nine words").with_nine_bit_rotation();
        let ages = AGES.map(|age| age as u32);
        Coder {
            class,
            visible: 0b111,
            three: Pair::of_three(ages[0], ages[1], ages[2]),
            carried: Pair::new(ages[0], Some(ages[2])),
            is_attached,
        }
    }

    fn past<'a>(&self, film: &'a Film, at: usize) -> Past<'a> {
        let [newer, older, oldest] = AGES.map(|age| film.ago(at, age));
        Past { newer, older, oldest, carriers: None }
    }

    /// The same once the present of the player's cube is known.
    fn learn_player(&self, past: &mut Past<'_>, player: &Words) {
        let carrier = |then: &Words, now: &Words| Carrier::new(&self.class, then, now);
        let (newer, oldest) = (&past.newer[PLAYER], &past.oldest[PLAYER]);
        if self.is_attached {
            past.carriers = carrier(oldest, newer)
                .zip(carrier(newer, player))
                .zip(carrier(oldest, player))
                .map(|((before, since_newer), since_oldest)| [before, since_newer, since_oldest]);
        }
    }

    fn states<'a>(&self, past: &Past<'a>, cube: usize) -> States<'a> {
        States {
            newer: &past.newer[cube],
            older: Some(&past.older[cube]),
            oldest: Some(&past.oldest[cube]),
            is_carried: false,
        }
    }

    /// Whether a cube is expected to change, which is what [`States::expect_change`] says: position and rotation are the first
    /// eight words. Most cubes rest, and eight words in a row are compared at once.
    #[inline]
    fn expects_change(&self, past: &Past<'_>, cube: usize) -> bool {
        let [newer, older, oldest] =
            [past.newer, past.older, past.oldest].map(|words| transform(&words[cube]));
        let differs: [i32; TRANSFORM_WORDS] =
            std::array::from_fn(|word| (newer[word] ^ older[word]) | (newer[word] ^ oldest[word]));
        let expects = differs.into_iter().fold(0, |any, word| any | word) != 0;
        debug_assert_eq!(expects, self.states(past, cube).expect_change(&self.class, self.visible));
        expects
    }

    /// Where the player's cube brought the baselines of a cube that sticks to it; `None` if it does not.
    #[inline]
    fn load(&self, past: &Past<'_>, cube: usize) -> Option<Load> {
        let [before, since_newer, since_oldest] = past.carriers.as_ref()?;
        let (newer, oldest) = (&past.newer[cube], &past.oldest[cube]);
        let mut load = Load { newer: [0; WORDS], oldest: [0; WORDS] };
        if newer[INTERACTING] == 0 || cube == PLAYER || !before.explains(oldest, newer, &mut load.oldest) {
            return None;
        }
        since_newer.carry(newer, &mut load.newer);
        since_oldest.carry(oldest, &mut load.oldest);
        Some(load)
    }

    /// Hands a frame to a sink. `late` is memory for the few cubes that begin to move.
    pub fn code(&self, film: &Film, at: usize, late: &mut Vec<Late>, sink: &mut impl Sink) {
        let frame = film.frame(at);
        let mut past = self.past(film, at);
        late.clear();
        let mut gap = 0;
        for (cube, current) in frame.iter().enumerate() {
            if cube == PLAYER {
                sink.update(self, &self.three, current, &self.states(&past, cube));
                self.learn_player(&mut past, current);
            } else if self.expects_change(&past, cube) {
                self.update(&past, cube, current, sink);
            } else if is_same(current, &past.newer[cube]) {
                gap += 1;
            } else {
                late.push(Late { cube, gap });
                gap = 0;
            }
        }
        for &Late { cube, gap } in &*late {
            sink.gap(gap);
            self.update(&past, cube, &frame[cube], sink);
        }
        sink.gap(gap);
    }

    fn update(&self, past: &Past<'_>, cube: usize, current: &Words, sink: &mut impl Sink) {
        match self.load(past, cube) {
            None => sink.update(self, &self.three, current, &self.states(past, cube)),
            Some(Load { newer, oldest }) => {
                let states = States { newer: &newer, older: Some(&oldest), oldest: None, is_carried: true };
                sink.update(self, &self.carried, current, &states);
            }
        }
    }

    /// Reads a frame into `frame`, given those before it.
    pub fn decode(
        &self,
        film: &Film,
        at: usize,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        rest: &mut Vec<u16>,
        frame: &mut [Words],
    ) -> Result<(), Box<dyn Error>> {
        let mut past = self.past(film, at);
        frame.copy_from_slice(past.newer);
        rest.clear();
        for (cube, current) in frame.iter_mut().enumerate() {
            if cube == PLAYER {
                self.read(&self.three, &self.states(&past, cube), codes, reader, current)?;
                self.learn_player(&mut past, current);
            } else if self.expects_change(&past, cube) {
                self.read_cube(&past, cube, codes, reader, current)?;
            } else {
                rest.push(cube as u16);
            }
        }
        let mut next = 0;
        loop {
            next += read_gap(codes, reader, (rest.len() - next) as u32)?.0 as usize;
            let Some(&cube) = rest.get(next) else { return Ok(()) };
            let cube = usize::from(cube);
            self.read_cube(&past, cube, codes, reader, &mut frame[cube])?;
            next += 1;
        }
    }

    fn read_cube(
        &self,
        past: &Past<'_>,
        cube: usize,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        current: &mut Words,
    ) -> Result<(), Box<dyn Error>> {
        match self.load(past, cube) {
            None => self.read(&self.three, &self.states(past, cube), codes, reader, current),
            Some(Load { newer, oldest }) => {
                let states = States { newer: &newer, older: Some(&oldest), oldest: None, is_carried: true };
                self.read(&self.carried, &states, codes, reader, current)
            }
        }
    }

    fn read(
        &self,
        pair: &Pair,
        states: &States<'_>,
        codes: &Codes,
        reader: &mut BitReader<'_>,
        current: &mut Words,
    ) -> Result<(), Box<dyn Error>> {
        pair.decode_from(&self.class, self.visible, states, codes, reader, current, &mut |_, _| {})?;
        Ok(())
    }
}

#[inline]
fn transform(words: &Words) -> &[i32; TRANSFORM_WORDS] {
    words.first_chunk().expect("fewer than all")
}

/// Whether all words are equal: without a call for each of the many cubes that rest.
#[inline]
fn is_same(one: &Words, other: &Words) -> bool {
    let differs: Words = std::array::from_fn(|word| one[word] ^ other[word]);
    differs.into_iter().fold(0, |any, word| any | word) == 0
}

/// Writes frames.
pub struct Writing<'a, 'w> {
    pub codes: &'a Codes,
    pub writer: &'a mut BitWriter<'w>,
}

impl Sink for Writing<'_, '_> {
    #[inline]
    fn update(&mut self, coder: &Coder, pair: &Pair, current: &Words, states: &States<'_>) {
        let Coder { class, visible, .. } = coder;
        match pair.encode_small_from(class, *visible, current, states, None, self.codes) {
            Some(code) => self.writer.append_bits(code.bits(), code.length()),
            None => pair.encode_from(class, *visible, current, states, None, &(), self.codes, self.writer),
        }
    }

    fn gap(&mut self, gap: u32) {
        let (bits, length) = gap_code(self.codes, gap, true);
        self.writer.append_bits(bits, length);
    }
}

impl Sink for Tally {
    fn update(&mut self, coder: &Coder, pair: &Pair, current: &Words, states: &States<'_>) {
        self.update_from(pair, &coder.class, coder.visible, current, states, None, &());
    }

    fn gap(&mut self, gap: u32) {
        Tally::gap(self, gap, true);
    }
}

const _: () = assert!(CUBES <= u16::MAX as usize);
