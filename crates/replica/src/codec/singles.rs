//! Many objects of singles with the same ages at once.
//!
//! As of those that are [quantized](super::batch), what is predicted of one object depends on no other, and sixteen of them lie in
//! columns. Here are those that moved and turned and still do, as nearly all do that move: their position is said from the line or from
//! the newer baseline, their rotation along the circle. Any other is encoded alone; the bits are the same.

use super::batch::{Column, LANES, Rows, at, put};
use super::circle::{self, Circle, ROUNDING, component};
use super::exact::{self, Base, Sizes, ordinal};
use super::line::Line;
use super::run::{LongRun, Run};

/// The bits of one object, the first one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongCode {
    /// The bits.
    pub bits: u128,
    /// How many there are; none of an object that is to be encoded alone.
    pub length: u32,
}

/// What becomes of sixteen objects.
#[derive(Debug, Default)]
pub(super) struct Singles {
    /// Not zero if the object is to be encoded alone.
    alone: Column,
    /// Not zero if its position is said from the line; and how.
    is_line: Column,
    place: Differences<3>,
    /// The components in the order in which they are said: now, and in the newer baseline; and which is the last.
    said: [Column; 4],
    said_before: [Column; 4],
    order: [Column; 4],
    lead_older: Column,
    /// The lead is told apart, two follow from it, and the last from all.
    lead_turn: Differences<1>,
    next_turn: Differences<2>,
    last_turn: Differences<1>,
    /// The bits of all four.
    turn_bits: Column,
}

/// The circles of sixteen objects. Not beside the columns of other numbers: where columns of different widths lie in one place,
/// a compiler does not see that they have nothing in common.
#[derive(Default)]
struct Circles {
    newer: [[f64; LANES]; 4],
    across: [[f64; LANES]; 4],
    sine: [f64; LANES],
    lead: Column,
}

impl Circles {
    #[inline(always)]
    fn at(&self, lane: usize) -> Circle<f64> {
        let (newer, across) = (at(&self.newer, lane), at(&self.across, lane));
        Circle { newer, across, sine: self.sine[lane], lead: self.lead[lane] }
    }
}

/// Differences that are said together.
#[derive(Debug)]
struct Differences<const N: usize> {
    differences: [Column; N],
    head: Column,
    head_bits: Column,
    bits: [Column; N],
}

impl<const N: usize> Default for Differences<N> {
    fn default() -> Differences<N> {
        Differences {
            differences: [[0; LANES]; N],
            head: [0; LANES],
            head_bits: [0; LANES],
            bits: [[0; LANES]; N],
        }
    }
}

impl<const N: usize> Differences<N> {
    /// Keeps differences, and returns how many bits they take.
    #[inline(always)]
    fn put(&mut self, lane: usize, differences: [i32; N], base: &Base<N>, expected: i32) -> i32 {
        let sizes = Sizes::new(differences, base, expected);
        put(&mut self.differences, lane, differences);
        put(&mut self.bits, lane, sizes.bits);
        self.head[lane] = sizes.head;
        self.head_bits[lane] = sizes.head_bits;
        sizes.sum()
    }

    #[inline(always)]
    fn write(&self, lane: usize, run: &mut LongRun) {
        let (head, head_bits) = (self.head[lane], self.head_bits[lane]);
        Sizes { head, head_bits, bits: at(&self.bits, lane) }.write(at(&self.differences, lane), run);
    }
}

impl Singles {
    /// Computes how all are said.
    #[inline(always)]
    pub fn compute(&mut self, positions: &Rows, rotations: &Rows, line: &Line) {
        self.compute_positions(positions, line);
        let mut circles = Circles::default();
        self.find_circles(&mut circles, rotations);
        self.order(&circles, rotations);
        self.begin_turns(&circles, line);
        self.follow_circles(&circles, rotations);
    }

    #[inline(always)]
    fn compute_positions(&mut self, rows: &Rows, line: &Line) {
        let line = *line;
        for lane in 0..LANES {
            let [[x, y, z, raw], [newer @ .., newer_raw], [older @ .., older_raw]] =
                rows.each_ref().map(|rows| rows[lane]);
            let words = [x, y, z];
            let (differences, is_line, base) = exact::said(words, newer, older, &line);
            let length = 1 + self.place.put(lane, differences, &base, base.expected(older, is_line));
            self.is_line[lane] = i32::from(is_line);
            let differs = |a: [i32; 3], b: [i32; 3]| (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) != 0;
            let is_finite = exact::is_finite(x) & exact::is_finite(y) & exact::is_finite(z);
            let is_raw = (raw != 0) & (newer_raw != 0) & (older_raw != 0);
            let moves = differs(words, newer) & differs(newer, older);
            let fits = length <= exact::POSITION_BITS_MAX as i32;
            self.alone[lane] = i32::from(!(is_finite & is_raw & moves & fits));
        }
    }

    #[inline(always)]
    fn find_circles(&mut self, circles: &mut Circles, rows: &Rows) {
        for lane in 0..LANES {
            let [words, newer, older] = rows.each_ref().map(|rows| rows[lane]);
            let (circle, is_one) = Circle::<f64>::new(newer, older);
            put(&mut circles.newer, lane, circle.newer);
            put(&mut circles.across, lane, circle.across);
            circles.sine[lane] = circle.sine;
            circles.lead[lane] = circle.lead;
            let are_rotations = circle::is_unit(words) & circle::is_unit(newer) & circle::is_unit(older);
            let differs = [0, 1, 2, 3].map(|place| words[place] ^ newer[place]);
            let turns = differs[0] | differs[1] | differs[2] | differs[3] != 0;
            self.alone[lane] |= i32::from(!(is_one & are_rotations & turns));
        }
    }

    /// In which order the components are said.
    #[inline(always)]
    fn order(&mut self, circles: &Circles, rows: &Rows) {
        for lane in 0..LANES {
            let [words, newer, older] = rows.each_ref().map(|rows| rows[lane]);
            let lead = circles.lead[lane];
            let last = circle::largest_beside(newer, lead);
            let [second, third] = circle::others(lead, last);
            let order = [lead, second, third, last];
            put(&mut self.order, lane, order);
            put(&mut self.said, lane, order.map(|place| component(words, place)));
            put(&mut self.said_before, lane, order.map(|place| component(newer, place)));
            self.lead_older[lane] = component(older, lead);
        }
    }

    /// What comes first of each rotation, and which components follow.
    #[inline(always)]
    fn begin_turns(&mut self, circles: &Circles, line: &Line) {
        let line = *line;
        for lane in 0..LANES {
            let [word, newer, older] = [self.said[0][lane], self.said_before[0][lane], self.lead_older[lane]];
            let base = Base::new([newer]);
            let expected = base.expected([older], true);
            let difference = ordinal(word).wrapping_sub(circles.at(lane).ahead(&line));
            self.turn_bits[lane] = 1 + self.lead_turn.put(lane, [difference], &base, expected);
        }
    }

    /// The others: two on the circle, and the one that is left.
    #[inline(always)]
    fn follow_circles(&mut self, circles: &Circles, rows: &Rows) {
        for lane in 0..LANES {
            let [lead, second, third, _] = at(&self.said, lane);
            let predicted = circles.at(lane).beside(lead, [self.order[1][lane], self.order[2][lane]]);
            let differences =
                [ordinal(second).wrapping_sub(predicted[0]), ordinal(third).wrapping_sub(predicted[1])];
            let [_, second, third, _] = at(&self.said_before, lane);
            let base = Base::new([second, third]);
            self.turn_bits[lane] += self.next_turn.put(lane, differences, &base, ROUNDING);
        }
        for lane in 0..LANES {
            let [words, newer, _] = rows.each_ref().map(|rows| rows[lane]);
            let [.., last] = at(&self.said, lane);
            let [.., last_before] = at(&self.said_before, lane);
            let difference =
                ordinal(last).wrapping_sub(circle::rest::<f64>(words, newer, self.order[3][lane]));
            let length = self.turn_bits[lane]
                + self.last_turn.put(lane, [difference], &Base::new([last_before]), ROUNDING);
            self.turn_bits[lane] = length;
            // Of the other form it is known only what it takes at least.
            let is_best = length <= circle::near_bits_min(words, newer);
            self.alone[lane] |= i32::from(!(is_best & (length <= circle::ROTATION_BITS_MAX as i32)));
        }
    }

    /// The bits of one object.
    #[inline(always)]
    pub fn code(&self, lane: usize) -> LongCode {
        let lane = lane & (LANES - 1);
        if self.alone[lane] != 0 {
            return LongCode::default();
        }
        // As usual; and the position from the line or not.
        let mut run = LongRun::default();
        run.put(1 | (self.is_line[lane] as u64) << 1, 2);
        self.place.write(lane, &mut run);
        // Along the circle.
        run.put(1, 1);
        self.lead_turn.write(lane, &mut run);
        self.next_turn.write(lane, &mut run);
        self.last_turn.write(lane, &mut run);
        match run.length <= u128::BITS {
            true => LongCode { bits: run.bits, length: run.length },
            false => LongCode::default(),
        }
    }
}

#[cfg(test)]
mod tests;
