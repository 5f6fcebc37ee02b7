//! The last states of every object, in the order of their times.
//!
//! All rings lie in one allocation, a row of them for each object. A ring has room for the longest delay at the full rate
//! and two more, so that the state before the view and the one after it are both there, whatever the delay.
//!
//! **Rest.** The server sends nothing of what does not change. When an object starts to move after a rest, its old state
//! may be minutes old, and a line from there to the new one would creep through all that time. So every state knows when the
//! motion towards it began:
//!
//! ```text
//!   snapshots   │    │    │    │    │    │        arrived
//!   states      A                        B
//!   shown       A A A A A A A A A A A A ─▶ B      it is known to have been at A in all snapshots without it
//!
//!   snapshots   │    ×    ×    ×    ×    │        lost
//!   states      A                        B
//!   shown       A ──────────────────────▶ B       it may have moved all the time: bridged
//! ```
//!
//! Which silence proves rest is told in `silence.rs`. None does if the server had too little room for all. An object that was moving is
//! therefore given the time that it would need at its speed, up to three times its usual interval, and that interval is
//! learned from the gaps between its states.

use super::segment::length;
use super::silence::{REST_US, Silence};
use crate::pose::Pose;
use crate::space::{UNTURNED, arc_radians};

/// A state of an object as it arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knot {
    pub time_us: i64,
    /// When the motion towards this state began, at the earliest with the state before.
    pub from_us: i64,
    pub pose: Pose,
    /// Metres a second.
    pub velocity: Option<[f32; 3]>,
    /// When it had jumped last by then; the least number if never.
    pub jump_us: i64,
    /// It was told in full.
    pub in_full: bool,
}

const _: () = assert!(size_of::<Knot>() == 88, "the documentation of the module above says so");

impl Knot {
    /// Whether it jumped between an earlier state and this one.
    pub fn jumped_after(&self, before: &Knot) -> bool {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::TeleportSwept) {
            return false;
        }
        self.jump_us > before.time_us
    }
}

const EMPTY: Knot = Knot {
    time_us: 0,
    from_us: 0,
    pose: Pose { position: [0.0; 3], rotation: UNTURNED },
    velocity: None,
    jump_us: i64::MIN,
    in_full: false,
};

/// How much time a motion after a gap may be given, in usual intervals.
const INTERVALS_MAX: i64 = 3;
/// Slower is rest: rounding alone makes as much.
const SPEED_MIN: f32 = 1e-3;

#[derive(Clone, Copy, Debug)]
struct Row {
    first: u32,
    count: u32,
    /// The time between its states while it moves.
    interval_us: i64,
    /// The newest state that is known to come in full.
    entry_us: i64,
}

/// What an insertion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// It is the newest.
    Newest,
    /// It lies before the newest.
    Late,
    /// A state of this time is there, or it is too old for the ring.
    Ignored,
}

#[derive(Debug)]
pub(super) struct Rings {
    knots: Vec<Knot>,
    rows: Vec<Row>,
    /// A power of two.
    capacity: usize,
}

impl Rings {
    /// Rings with room for so many states each, rounded up.
    pub fn new(capacity: usize, rows: usize) -> Rings {
        let capacity = capacity.next_power_of_two();
        Rings { knots: Vec::with_capacity(capacity * rows), rows: Vec::with_capacity(rows), capacity }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn push_row(&mut self, interval_us: i64) {
        self.rows.push(Row { first: 0, count: 0, interval_us, entry_us: i64::MIN });
        self.knots.resize(self.rows.len() * self.capacity, EMPTY);
    }

    /// The last row takes the place of this one.
    pub fn swap_remove_row(&mut self, row: usize) {
        self.rows.swap_remove(row);
        let last = self.rows.len() * self.capacity;
        self.knots.copy_within(last.., row * self.capacity);
        self.knots.truncate(last);
    }

    pub fn len(&self, row: usize) -> usize {
        self.rows[row].count as usize
    }

    pub fn interval_us(&self, row: usize) -> i64 {
        self.rows[row].interval_us
    }

    /// The state of this time comes in full.
    pub fn note_entry(&mut self, row: usize, time_us: i64) {
        self.rows[row].entry_us = time_us;
    }

    /// The `number`th oldest of a row.
    pub fn knot(&self, row: usize, number: usize) -> &Knot {
        &self.knots[self.place(row, number)]
    }

    pub fn for_each(&mut self, row: usize, mut change: impl FnMut(&mut Knot)) {
        for number in 0..self.len(row) {
            let place = self.place(row, number);
            change(&mut self.knots[place]);
        }
    }

    /// How many are not later than `time_us`. The newest are looked at first, because the view is near them.
    pub fn until(&self, row: usize, time_us: i64) -> usize {
        let count = self.len(row);
        let later = (0..count).rev().take_while(|number| self.knot(row, *number).time_us > time_us).count();
        count - later
    }

    /// Takes in a state.
    pub fn insert(&mut self, row: usize, mut knot: Knot, silence: &Silence) -> Inserted {
        let at = self.until(row, knot.time_us);
        let count = self.len(row);
        let is_known = at > 0 && self.knot(row, at - 1).time_us == knot.time_us;
        if is_known || (at == 0 && count == self.capacity) {
            return Inserted::Ignored;
        }
        knot.from_us = knot.time_us;
        knot.in_full = knot.time_us == self.rows[row].entry_us;
        if at > 0 {
            let paces = self.paces(row, at - 1);
            let before = *self.knot(row, at - 1);
            knot.jump_us = knot.jump_us.max(before.jump_us);
            knot.from_us = self.motion_start(row, &before, &knot, paces, silence);
            let is_usual = at == count && !before.in_full;
            self.learn_interval(row, knot.time_us - before.time_us, is_usual);
        }
        let at = self.place_knot(row, at, knot);
        if at + 1 == self.len(row) {
            return Inserted::Newest;
        }
        let after = *self.knot(row, at + 1);
        let from_us = self.motion_start(row, &knot, &after, self.paces(row, at), silence);
        let place = self.place(row, at + 1);
        self.knots[place].from_us = from_us;
        Inserted::Late
    }

    /// Speed in metres, and spin in radians of arc, a second, with which an object came to its `number`th state.
    pub fn speeds(&self, row: usize, number: usize) -> (f32, f32) {
        let knot = self.knot(row, number);
        let (mut speed, mut spin) = (knot.velocity.map_or(0.0, length), 0.0);
        let before = number.checked_sub(1).map(|before| self.knot(row, before));
        if let Some(before) = before.filter(|before| !knot.jumped_after(before)) {
            let seconds = (knot.time_us - knot.from_us).max(1) as f32 * 1e-6;
            speed = speed.max(length(apart(before, knot)) / seconds);
            spin = arc_radians(before.pose.rotation, knot.pose.rotation) / seconds;
        }
        (speed, spin)
    }

    /// As [`speeds`](Rings::speeds), of the newest state up to a number that had any: one after a jump and one that was
    /// told again at rest say nothing of them.
    fn paces(&self, row: usize, number: usize) -> (f32, f32) {
        let mut speeds = (0..=number).rev().map(|number| self.speeds(row, number));
        let has_any = |(speed, spin): &(f32, f32)| *speed > SPEED_MIN || *spin > SPEED_MIN;
        speeds.find(has_any).unwrap_or_default()
    }

    fn motion_start(
        &self,
        row: usize,
        before: &Knot,
        knot: &Knot,
        (speed, spin): (f32, f32),
        silence: &Silence,
    ) -> i64 {
        if knot.jumped_after(before) {
            return knot.time_us;
        }
        let interval_us = self.rows[row].interval_us;
        let rested = silence.rest_until(before.time_us, interval_us, before.in_full, knot.time_us);
        let Some(rest) = rested else { return before.time_us };
        let mut needed_us = interval_us;
        let mut allow = |way: f32, pace: f32| {
            if pace > SPEED_MIN {
                needed_us = needed_us.max((way / pace * 1e6) as i64);
            }
        };
        allow(length(apart(before, knot)), speed);
        allow(arc_radians(before.pose.rotation, knot.pose.rotation), spin);
        // Who may have moved since is given the time that it needs: told in full, it may have been waited for all the time.
        let latest_us = knot.time_us - needed_us.min(INTERVALS_MAX * interval_us);
        let earliest_us = if knot.in_full { before.time_us } else { rest.certain_us.min(latest_us) };
        let start_us = rest.until_us.min(knot.time_us - needed_us).max(earliest_us);
        start_us.clamp(before.time_us, knot.time_us - 1)
    }

    /// Shorter at once, longer by halves: an object that is sent less often shows it more than once.
    fn learn_interval(&mut self, row: usize, gap_us: i64, is_usual: bool) {
        let interval_us = &mut self.rows[row].interval_us;
        if is_usual && gap_us < *interval_us {
            *interval_us = gap_us;
        } else if is_usual && gap_us < REST_US {
            *interval_us = gap_us.min(*interval_us + *interval_us / 2 + 1);
        }
    }

    /// Makes room for a state, if need be at the cost of the oldest; its number.
    fn place_knot(&mut self, row: usize, at: usize, knot: Knot) -> usize {
        let mut at = at;
        if self.len(row) == self.capacity {
            let oldest = &mut self.rows[row].first;
            *oldest = (*oldest + 1) % self.capacity as u32;
            at -= 1;
        } else {
            self.rows[row].count += 1;
        }
        for number in (at + 1..self.len(row)).rev() {
            let (to, from) = (self.place(row, number), self.place(row, number - 1));
            self.knots[to] = self.knots[from];
        }
        let place = self.place(row, at);
        self.knots[place] = knot;
        at
    }

    fn place(&self, row: usize, number: usize) -> usize {
        let number = self.rows[row].first as usize + number;
        row * self.capacity + (number & (self.capacity - 1))
    }
}

/// The way from one state to another; infinite parts mean that it cannot be told in singles.
pub(super) fn apart(from: &Knot, to: &Knot) -> [f32; 3] {
    std::array::from_fn(|axis| (to.pose.position[axis] - from.pose.position[axis]) as f32)
}
