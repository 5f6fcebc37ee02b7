//! The codec alone: bodies that fall and tumble, object by object, without a server.

use std::hint::black_box;

use netloom_replica::Class;
use netloom_replica::codec::{Codes, Pair, States};
use netloom_scene::Source;
use netloom_scene::generate::rigid::Rigid;
use netloom_wire::schema::Audience;
use netloom_wire::{BitReader, BitWriter, Tick};

use super::counted;

const SEED: u64 = 5;
/// Until boxes have fallen on each other.
const SKIPPED_TICKS: usize = 30;
const TICKS: usize = 30;
/// The ages of the baselines: a round trip of 60 ms, and a baseline at every fourth tick.
const AGES: [usize; 2] = [2, 6];
/// More than any tick takes.
const TICK_BYTES: usize = 1 << 14;

/// The words of every body at every tick.
struct Film {
    class: Class,
    ticks: Vec<Vec<Vec<i32>>>,
}

impl Film {
    fn new() -> Film {
        let mut source = Rigid::new(SEED);
        let mut world = source.world().expect("a world for the bodies");
        let class = source.classes()[0].clone();
        let mut ticks = Vec::new();
        for tick in 1..=(SKIPPED_TICKS + TICKS) as u32 {
            source.play(&mut world).expect("bodies that fit the world");
            world.commit(Tick(tick)).expect("ticks in order");
            ticks.push(world.iter().map(|body| body.words().to_vec()).collect());
        }
        Film { class, ticks }
    }

    /// Writes the bodies of a tick that changed since the newer baseline; returns the bytes.
    fn write(&self, at: usize, pair: &Pair, codes: &Codes, out: &mut [u8]) -> usize {
        let visible = self.class.visible(Audience::Public);
        let [newer, older] = AGES.map(|age| &self.ticks[at - age]);
        let mut writer = BitWriter::new(out);
        for (body, words) in self.ticks[at].iter().enumerate() {
            if *words == newer[body] {
                continue;
            }
            let older = Some(&older[body][..]);
            match pair.encode_small(&self.class, visible, words, &newer[body], older, None, codes) {
                Some(code) => writer.append_bits(code.bits(), code.length()),
                // A body that was hit hard.
                None => {
                    let states = States { newer: &newer[body], older, oldest: None, is_carried: false };
                    pair.encode_from(&self.class, visible, words, &states, None, &(), codes, &mut writer);
                }
            }
        }
        writer.finish().expect("room for all bodies")
    }

    /// Reads them, each into `read`, and compares.
    fn read(&self, at: usize, pair: &Pair, codes: &Codes, bytes: &[u8], read: &mut [i32]) {
        let visible = self.class.visible(Audience::Public);
        let [newer, older] = AGES.map(|age| &self.ticks[at - age]);
        let mut reader = BitReader::new(bytes);
        for (body, words) in self.ticks[at].iter().enumerate() {
            if *words == newer[body] {
                continue;
            }
            let older = Some(&older[body][..]);
            let decoded = pair.decode(
                &self.class,
                visible,
                &newer[body],
                older,
                codes,
                &mut reader,
                read,
                &mut |_, _| {},
            );
            assert!(decoded.is_ok() && *words == *read, "tick {at}, body {body}");
        }
    }
}

fn pair() -> Pair {
    let [newer, older] = AGES.map(|age| age as u32);
    Pair::new(newer, Some(older))
}

pub fn write() {
    let (film, codes, pair) = (Film::new(), Codes::generic(), pair());
    let mut out = vec![0; TICK_BYTES];
    for at in SKIPPED_TICKS..film.ticks.len() {
        out.fill(0);
        counted(&mut || {
            black_box(film.write(at, &pair, &codes, &mut out));
        });
    }
}

pub fn read() {
    let (film, codes, pair) = (Film::new(), Codes::generic(), pair());
    let mut out = vec![0; TICK_BYTES];
    let mut body = vec![0; film.class.word_count()];
    for at in SKIPPED_TICKS..film.ticks.len() {
        out.fill(0);
        let length = film.write(at, &pair, &codes, &mut out);
        counted(&mut || film.read(at, &pair, &codes, &out[..length], &mut body));
    }
}
