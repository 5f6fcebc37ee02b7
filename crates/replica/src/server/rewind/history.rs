//! Where everything was, step by step.
//!
//! A query of the past needs all objects at one time, so a row holds one step and all objects, each coordinate by itself:
//! looking for what is near reads a few stretches of memory from begin to end.
//!
//! ```text
//!              place 0   1   2   3   …                       at ───────┐
//!   step 117:  x        x   -   x        time 1.950 s                  │
//!   step 118:  x        x   x   x        time 1.967 s    ◀── older     ▼ fraction 0.4
//!   step 119:  x        -   x   x°       time 1.983 s    ◀── newer
//!   …          - absent     ° jumped since the step before
//! ```
//!
//! Between two steps there is what the older one has. It moves on a straight line to where the newer one has it, unless it
//! jumped there or is gone: then it stays until the newer step. What only the newer one has is not there yet.

use netloom_wire::{Micros, Tick};

use super::Recorded;
use super::geometry::Placed;
use super::shape::{check_position, unit_rotation};
use crate::space::{UNTURNED, Vector, dot, lerp, narrowed, scale, slerp, sub, widened};

/// The two rows around a time, and how far it lies between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    older: usize,
    newer: usize,
    fraction: f64,
}

/// What a query reaches: everything within `thickness` of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beam {
    pub origin: Vector,
    /// Of length one.
    pub direction: Vector,
    pub length: f64,
    pub thickness: f64,
}

/// A ring of rows.
#[derive(Debug)]
pub(super) struct History {
    places_max: usize,
    /// Sets of places, in words of 64.
    words: usize,
    steps: Box<[(Tick, Micros)]>,
    first: usize,
    len: usize,
    x: Box<[f64]>,
    y: Box<[f64]>,
    z: Box<[f64]>,
    rotations: Box<[[f32; 4]]>,
    models: Box<[u16]>,
    reaches: Box<[f64]>,
    present: Box<[u64]>,
    jumped: Box<[u64]>,
}

impl History {
    pub fn new(rows: usize, places_max: usize) -> History {
        let words = places_max.div_ceil(64);
        let cells = rows * places_max;
        History {
            places_max,
            words,
            steps: vec![(Tick(0), Micros::ZERO); rows].into(),
            first: 0,
            len: 0,
            x: vec![0.0; cells].into(),
            y: vec![0.0; cells].into(),
            z: vec![0.0; cells].into(),
            rotations: vec![UNTURNED; cells].into(),
            models: vec![0; cells].into(),
            reaches: vec![0.0; cells].into(),
            present: vec![0; rows * words].into(),
            jumped: vec![0; rows * words].into(),
        }
    }

    pub fn words(&self) -> usize {
        self.words
    }

    pub fn oldest(&self) -> Option<(Tick, Micros)> {
        (self.len > 0).then(|| self.steps[self.first])
    }

    pub fn newest(&self) -> Option<(Tick, Micros)> {
        (self.len > 0).then(|| self.steps[self.newest_row()])
    }

    /// A row for the next step, in which nothing is present yet. The oldest makes room.
    pub fn begin(&mut self, step: Tick, now: Micros) {
        if self.len < self.steps.len() {
            self.len += 1;
        } else {
            self.first = (self.first + 1) % self.steps.len();
        }
        let row = self.newest_row();
        self.steps[row] = (step, now);
        self.present[row * self.words..][..self.words].fill(0);
        self.jumped[row * self.words..][..self.words].fill(0);
    }

    /// Writes into the newest row. False if the pose is no place where anything can be.
    pub fn write(&mut self, place: usize, recorded: &Recorded, model: u16, reach_metres: f64) -> bool {
        let Recorded { pose, jumped } = recorded;
        let rotation = unit_rotation(pose.rotation);
        let (Some(rotation), Ok(())) = (rotation, check_position("position", pose.position)) else {
            return false;
        };
        let row = self.newest_row();
        let cell = row * self.places_max + place;
        [self.x[cell], self.y[cell], self.z[cell]] = pose.position;
        self.rotations[cell] = narrowed(rotation);
        self.models[cell] = model;
        self.reaches[cell] = reach_metres;
        let (word, bit) = (row * self.words + place / 64, 1 << (place % 64));
        self.present[word] |= bit;
        if *jumped {
            self.jumped[word] |= bit;
        }
        true
    }

    /// Nothing was ever in this place.
    pub fn forget(&mut self, place: usize) {
        for row in 0..self.steps.len() {
            self.present[row * self.words + place / 64] &= !(1 << (place % 64));
        }
    }

    /// The rows around a time; none before the oldest and after the newest.
    pub fn bracket(&self, at: Micros) -> Option<Bracket> {
        let (_, oldest) = self.oldest()?;
        let (_, newest) = self.newest()?;
        if at < oldest || at > newest {
            return None;
        }
        // The last row that is not later. It exists, for the oldest is one.
        let (mut low, mut high) = (0, self.len);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.steps[self.row(middle)].1 <= at { low = middle } else { high = middle }
        }
        let (older, newer) = (self.row(low), self.row((low + 1).min(self.len - 1)));
        let (from, to) = (self.steps[older].1, self.steps[newer].1);
        let fraction = if to > from { (at - from).0 as f64 / (to - from).0 as f64 } else { 0.0 };
        Some(Bracket { older, newer, fraction })
    }

    /// The kept step that is `step`, or the last one before it; the oldest if all are later.
    pub fn nearest_step(&self, step: Tick) -> Option<(Tick, Micros)> {
        let mut newest_first = (0..self.len).rev().map(|age| self.steps[self.row(age)]);
        newest_first.find(|(kept, _)| kept.distance(step) <= 0).or(self.oldest())
    }

    /// The newest row alone.
    pub fn newest_bracket(&self) -> Option<Bracket> {
        self.newest().map(|_| {
            let row = self.newest_row();
            Bracket { older: row, newer: row, fraction: 0.0 }
        })
    }

    /// Which of 64 places hold something that may be within the beam.
    pub fn near(&self, bracket: &Bracket, beam: &Beam, word: usize) -> u64 {
        let present = self.present[bracket.older * self.words + word];
        if present == 0 {
            return 0;
        }
        let moving = self.moving(bracket, word);
        let count = (self.places_max - word * 64).min(64);
        let older = bracket.older * self.places_max + word * 64;
        let newer = bracket.newer * self.places_max + word * 64;
        let (xa, ya, za) = (&self.x[older..][..count], &self.y[older..][..count], &self.z[older..][..count]);
        let (xb, yb, zb) = (&self.x[newer..][..count], &self.y[newer..][..count], &self.z[newer..][..count]);
        let reaches = &self.reaches[older..][..count];
        let mut near = 0;
        for place in 0..count {
            let fraction = if moving >> place & 1 == 1 { bracket.fraction } else { 0.0 };
            let position = [
                lerp(xa[place], xb[place], fraction),
                lerp(ya[place], yb[place], fraction),
                lerp(za[place], zb[place], fraction),
            ];
            let to = sub(position, beam.origin);
            let along = dot(to, beam.direction).clamp(0.0, beam.length);
            let off = sub(to, scale(beam.direction, along));
            let reach = reaches[place] + beam.thickness;
            near |= u64::from(dot(off, off) <= reach * reach) << place;
        }
        near & present
    }

    /// What is in a place, and by which model; none if nothing is.
    pub fn placed(&self, bracket: &Bracket, place: usize) -> Option<(Placed, u16)> {
        let (word, bit) = (place / 64, place % 64);
        if self.present[bracket.older * self.words + word] >> bit & 1 == 0 {
            return None;
        }
        let (older, newer) =
            (bracket.older * self.places_max + place, bracket.newer * self.places_max + place);
        let model = self.models[older];
        let at = |cell: usize| -> Vector { [self.x[cell], self.y[cell], self.z[cell]] };
        let turned = |cell: usize| unit_rotation(self.rotations[cell]).unwrap_or(widened(UNTURNED));
        if self.moving(bracket, word) >> bit & 1 == 0 {
            return Some((Placed { position: at(older), rotation: turned(older) }, model));
        }
        let (from, to) = (at(older), at(newer));
        let position = std::array::from_fn(|axis| lerp(from[axis], to[axis], bracket.fraction));
        let rotation = slerp(turned(older), turned(newer), bracket.fraction);
        Some((Placed { position, rotation }, model))
    }

    /// Which of 64 places go from one row to the next without a jump.
    fn moving(&self, bracket: &Bracket, word: usize) -> u64 {
        let newer = bracket.newer * self.words + word;
        self.present[newer] & !self.jumped[newer]
    }

    fn newest_row(&self) -> usize {
        self.row(self.len - 1)
    }

    fn row(&self, age_from_oldest: usize) -> usize {
        (self.first + age_from_oldest) % self.steps.len()
    }
}
