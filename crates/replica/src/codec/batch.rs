//! Many objects with the same ages at once.
//!
//! A server encodes the same row of ages for every object of a snapshot. What is predicted of one object depends on no
//! other, so the arithmetic is done to sixteen objects side by side, in columns that a compiler turns into vector
//! instructions:
//!
//! ```text
//!   rows, one for each object                    columns, one for each word
//!   x y z raw  dropped a b c                     x x x x x x …
//!   x y z raw  dropped a b c        ──────►      y y y y y y …      ──────►   how each is said   ──────►  codes
//!   x y z raw  dropped a b c                     z z z z z z …
//! ```
//!
//! An object that has anything unusual about it is encoded alone; the bits are the same.

use netloom_cpu::{Work, widest};
use netloom_wire::quantize::WordRange;

use super::arc::{self, Arc, Unit};
use super::chain::{self, Expected, Kind};
use super::codes::Codes;
use super::line::Line;
use super::number::Number;
use super::rotation::{Compared, Drops};
use super::run::{Run, ShortRun};
use super::singles::{LongCode, Singles};
use super::symbol::{self, Place, Turn};
use super::{Others, Pair, Shape, SmallCode, four, position, rotation};
use crate::class::{Class, Grain};

/// Objects side by side.
pub const LANES: usize = 16;

/// One word of each.
pub(super) type Column = [i32; LANES];

/// An object with two baselines.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// Its words now.
    pub current: &'a [i32],
    /// Those of the newer baseline.
    pub newer: &'a [i32],
    /// Those of the older one.
    pub older: &'a [i32],
    /// Whether it jumped since the newer baseline: then it is encoded alone.
    pub jumped: bool,
}

impl Pair {
    /// How objects of a class are encoded side by side; `None` if each of them is encoded alone.
    pub fn beside<'a>(&'a self, class: &'a Class, visible: u64) -> Option<Beside<'a>> {
        let shape = Shape::of(class, visible);
        let (line, layout) = self.line.as_ref().zip(Layout::of(&shape))?;
        Some(Beside { line, layout, class, others: shape.others })
    }
}

/// Objects of one class with the same ages, side by side.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    line: &'a Line,
    layout: Layout,
    class: &'a Class,
    /// The fields besides position and rotation.
    others: u64,
}

impl Beside<'_> {
    /// Puts an object into its place of a batch, below [`LANES`].
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[inline(always)]
    pub fn load(&self, batch: &mut Batch, lane: usize, update: &Update<'_>) {
        // One that jumped has a symbol more.
        let alone = update.jumped
            || self.others != 0
                && Others::new(self.class, self.others, update.current, update.newer).any_changed();
        batch.load(lane, self.layout, update, alone);
    }

    /// [`Pair::encode_small`] for the first objects of a batch: the bits of each, as [`SmallCode`] holds them. Those of an object with
    /// anything unusual are zero: it is to be encoded alone.
    pub fn encode(&self, batch: &mut Batch, codes: &Codes, out: &mut [u64]) {
        let count = out.len().min(LANES);
        match self.layout.range {
            Some(range) => widest(Encoding { batch, line: self.line, range, codes, out: &mut out[..count] }),
            None => out.fill(0),
        }
    }

    /// Whether all words are singles, whose bits are more than those of a [`SmallCode`].
    pub fn is_exact(&self) -> bool {
        self.layout.range.is_none()
    }

    /// The same for objects of singles: the bits that [`Pair::encode_from`] writes. Of one with anything unusual there are none.
    pub fn encode_exact(&self, batch: &mut Batch, out: &mut [LongCode]) {
        let count = out.len().min(LANES);
        match self.is_exact() {
            true => widest(ExactEncoding { batch, line: self.line, out: &mut out[..count] }),
            false => out.fill(LongCode::default()),
        }
    }
}

/// Where the words are that make columns: a position and a rotation, both of singles or both quantized, the rotation to ten bits.
#[derive(Clone, Copy, Debug)]
struct Layout {
    position: u8,
    rotation: u8,
    /// Of the words of positions, unless all are singles.
    range: Option<WordRange>,
}

impl Layout {
    fn of(shape: &Shape<'_>) -> Option<Layout> {
        let (position, rotation) = (shape.position?, shape.rotation?);
        let is_alike = match position.quantized {
            Some(_) => rotation.quantized == Some(Grain::Ten),
            None => rotation.quantized.is_none(),
        };
        let (range, position) = (position.quantized, position.first);
        is_alike.then_some(Layout { position, rotation: rotation.first, range })
    }
}

/// The words of sixteen objects; and what becomes of each. Memory to encode in: nothing of it outlasts a call, and whoever
/// encodes often keeps it, because it is large.
#[derive(Debug, Default)]
pub struct Batch {
    positions: Rows,
    rotations: Rows,
    /// Not zero if the object is to be encoded alone.
    alone: Column,
    /// What is said of positions: one of [`Place`], the places of the codes of three numbers, and what follows them.
    place: Column,
    moved: Column,
    position: [Column; 6],
    /// The place of the table of the head, if the position goes on as it did.
    head: Column,
    /// What is known and predicted of rotations.
    steps: [[f32; LANES]; 3],
    whole_newer: [[f32; LANES]; 4],
    whole_older: [[f32; LANES]; 4],
    predicted: [[f32; LANES]; 4],
    dropped: Column,
    dropped_before: Column,
    dropped_ahead: Column,
    turned: Column,
    /// Not zero if the rotation differs from the newer baseline.
    differs: Column,
    /// What is said of them: one of [`Turn`], three differences, and how large they are expected to be.
    turn: Column,
    differences: [Column; 3],
    size: Column,
    rotation: [Column; 8],
    /// The place of the symbol's code; negative if the object is to be encoded alone.
    symbol: Column,
    /// What becomes of objects of singles.
    singles: Singles,
}

/// Makes the codes of the objects of a batch; zero of one that must be encoded alone.
struct Encoding<'a> {
    batch: &'a mut Batch,
    line: &'a Line,
    range: WordRange,
    codes: &'a Codes,
    out: &'a mut [u64],
}

impl Work for Encoding<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Encoding { batch, line, range, codes, out } = self;
        batch.compute_positions(line, range);
        batch.predict_rotations(line);
        batch.compute_rotations();
        for (lane, code) in out.iter_mut().enumerate() {
            *code = batch.code(lane, codes).unwrap_or(0);
        }
    }
}

/// Makes the codes of objects of singles.
struct ExactEncoding<'a> {
    batch: &'a mut Batch,
    line: &'a Line,
    out: &'a mut [LongCode],
}

impl Work for ExactEncoding<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ExactEncoding { batch, line, out } = self;
        let Batch { positions, rotations, alone, singles, .. } = batch;
        singles.compute(positions, rotations, line);
        for (lane, code) in out.iter_mut().enumerate() {
            *code = if alone[lane] == 0 { singles.code(lane) } else { LongCode::default() };
        }
    }
}

/// Four words of each object now, in the newer and in the older baseline.
pub(super) type Rows = [[[i32; 4]; LANES]; 3];

impl Batch {
    #[inline(always)]
    fn load(&mut self, lane: usize, layout: Layout, update: &Update<'_>, alone: bool) {
        let lane = lane & (LANES - 1);
        self.alone[lane] = i32::from(alone);
        for (row, words) in [update.current, update.newer, update.older].into_iter().enumerate() {
            self.positions[row][lane] = *four(words, layout.position);
            self.rotations[row][lane] = *four(words, layout.rotation);
        }
    }

    /// How positions are said.
    #[inline(always)]
    fn compute_positions(&mut self, line: &Line, range: WordRange) {
        let line = *line;
        let bits_max = chain::BITS_MAX.min(range.bit_width().saturating_sub(3));
        for lane in 0..LANES {
            let [[x, y, z, raw], [newer @ .., newer_raw], [older @ .., older_raw]] =
                self.positions.each_ref().map(|rows| rows[lane]);
            let rise = position::subtract(newer, older);
            let ahead = position::Ahead::new(rise.map(|rise| line.step(rise)));
            let said = position::Said::new([x, y, z], newer, &ahead);
            let chain::Packed { codes: [a, b, c], tails: [d, e, f] } =
                chain::Packed::new(said.expected, said.differences);
            put(&mut self.position, lane, [a, b, c, d, e, f]);
            self.place[lane] = said.place;
            self.head[lane] = ahead.expected(true).first();
            self.moved[lane] = rise[0] | rise[1] | rise[2];
            // Nothing that has differences of more bits than this is left to be said in full.
            let is_far = said.has_differences() & (said.spread >> bits_max != 0);
            let inside = |word: i32| (word >= range.min()) & (word <= range.max());
            let is_valid = inside(x) & inside(y) & inside(z) & (raw | newer_raw | older_raw == 0);
            self.alone[lane] |= i32::from(is_far | !is_valid);
        }
    }

    /// What rotations are predicted to be. In several short loops: a long one would wait for its roots and quotients.
    #[inline(always)]
    fn predict_rotations(&mut self, line: &Line) {
        let (line, unit) = (*line, Unit::TEN);
        let mut columns = [[[0; LANES]; 4]; 3];
        for (columns, rows) in columns.iter_mut().zip(&self.rotations) {
            for (lane, row) in rows.iter().enumerate() {
                put(columns, lane, *row);
            }
        }
        for lane in 0..LANES {
            let [current, newer, older] = columns.each_ref().map(|columns| at(columns, lane));
            let (whole_newer, newer_rest) = arc::whole::<f32>(newer, &unit);
            let (whole_older, older_rest) = arc::whole::<f32>(older, &unit);
            put(&mut self.whole_newer, lane, whole_newer);
            put(&mut self.whole_older, lane, whole_older);
            let [dropped, steps @ ..] = current;
            put(&mut self.steps, lane, steps.map(<f32 as Number>::new));
            self.dropped[lane] = dropped;
            self.dropped_before[lane] = newer[0];
            let [d, a, b, c]: [i32; 4] = core::array::from_fn(|word| newer[word] ^ older[word]);
            self.turned[lane] = d | a | b | c;
            let [d, a, b, c]: [i32; 4] = core::array::from_fn(|word| newer[word] ^ current[word]);
            self.differs[lane] = d | a | b | c;
            let is_valid = unit.contains::<f32>(dropped, steps) & (newer_rest >= 0.0) & (older_rest >= 0.0);
            self.alone[lane] |= i32::from(!is_valid);
        }
        for lane in 0..LANES {
            let (newer, older) = (at(&self.whole_newer, lane), at(&self.whole_older, lane));
            let arc = Arc::new(newer, older, &line, &unit);
            put(&mut self.predicted, lane, arc.predicted);
            self.dropped_ahead[lane] = arc.dropped();
        }
    }

    /// How rotations are said.
    #[inline(always)]
    fn compute_rotations(&mut self) {
        let unit = Unit::TEN;
        for lane in 0..LANES {
            let (newer, predicted) = (at(&self.whole_newer, lane), at(&self.predicted, lane));
            let dropped = self.dropped[lane];
            let drops = Drops {
                as_newer: dropped == self.dropped_before[lane],
                as_arc: dropped == self.dropped_ahead[lane],
            };
            let compared = Compared::new(dropped, newer, predicted, &unit);
            let (turn, differences) =
                compared.said(at(&self.steps, lane), self.differs[lane] == 0, drops, &unit);
            self.turn[lane] = turn;
            put(&mut self.differences, lane, differences.map(f32::word));
            self.size[lane] = compared.size();
        }
        for lane in 0..LANES {
            let differences = at(&self.differences, lane);
            let turn = self.turn[lane];
            let is_arc = turn >= Turn::FromLine as i32;
            let [line, newer] = [Kind::Line, Kind::Newer].map(|kind| Expected::new(kind, self.size[lane]));
            let expected = Expected::select(is_arc, line, newer);
            let said = rotation::Said { turn, dropped: self.dropped[lane], differences, expected };
            let chain::Packed { codes: [a, b, c], tails: [d, e, f] } =
                chain::Packed::new(expected, differences);
            put(&mut self.rotation, lane, [said.dropped_if_named(), said.naming_bits(), a, b, c, d, e, f]);
            let is_far = said.has_differences() & rotation::is_far(chain::spread(differences), Grain::Ten);
            let (moved, turned) = (self.moved[lane] != 0, self.turned[lane] != 0);
            let symbol = symbol::place_of_code(self.place[lane], turn, moved, turned);
            self.symbol[lane] = if is_far | (self.alone[lane] != 0) { -1 } else { symbol };
        }
    }

    /// The bits of one object; `None` if it must be encoded alone.
    #[inline(always)]
    fn code(&self, lane: usize, codes: &Codes) -> Option<u64> {
        let lane = lane & (LANES - 1);
        if self.symbol[lane] < 0 {
            return None;
        }
        let mut run = ShortRun::default();
        let [place, turn] = [self.place[lane], self.turn[lane]];
        let is_usual = self.write_symbol(lane, codes, &mut run);
        if place >= Place::FromNewer as i32 {
            let [a, b, c, d, e, f] = at(&self.position, lane);
            let first = if is_usual { codes.head() } else { codes.place() };
            chain::Packed { codes: [a, b, c], tails: [d, e, f] }.write(first, codes.place(), &mut run);
        }
        if turn >= Turn::FromNewer as i32 {
            let [dropped, dropped_bits, a, b, c, d, e, f] = at(&self.rotation, lane);
            run.put(dropped as u64, dropped_bits as u32);
            chain::Packed { codes: [a, b, c], tails: [d, e, f] }.write(codes.lead(), codes.rest(), &mut run);
        }
        (run.length <= SmallCode::BITS_MAX).then_some(run.bits | u64::from(run.length) << SmallCode::BITS_MAX)
    }

    /// The codes before the numbers, as [`symbol::Usual`] says them; whether there are none.
    #[inline(always)]
    fn write_symbol(&self, lane: usize, codes: &Codes, run: &mut ShortRun) -> bool {
        let [place, turn, head] = [self.place[lane], self.turn[lane], self.head[lane]];
        if self.moved[lane] != 0 {
            let usual = if self.turned[lane] != 0 { Turn::FromLine } else { Turn::Same };
            let is_plain = turn == usual as i32;
            if is_plain & (place == Place::FromLine as i32) {
                return true;
            }
            if is_plain & (place == Place::FromNewer as i32) {
                run.put_code(codes.head().code_at(head + chain::FROM_NEWER as i32));
                return false;
            }
            run.put_code(codes.head().code_at(head + chain::OTHER_FORM as i32));
        }
        run.put_code(codes.symbol().code_at(self.symbol[lane]));
        false
    }
}

/// The numbers of one object.
#[inline(always)]
pub(super) fn at<T: Copy, const N: usize>(columns: &[[T; LANES]; N], lane: usize) -> [T; N] {
    core::array::from_fn(|place| columns[place][lane])
}

#[inline(always)]
pub(super) fn put<T, const N: usize>(columns: &mut [[T; LANES]; N], lane: usize, numbers: [T; N]) {
    for (column, number) in columns.iter_mut().zip(numbers) {
        column[lane] = number;
    }
}

#[cfg(test)]
mod tests;
