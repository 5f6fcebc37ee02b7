//! The objects that wait for a place in one peer's snapshots, as a table of columns.
//!
//! Every peer weighs every object that changed in its sight, so this is the largest count of the whole server: peers ×
//! objects × ticks. A table of columns lets roots, divisions and comparisons run over several objects at a time; only
//! finding an object's place and its account, which lie anywhere, goes one by one:
//!
//! ```text
//!              ┌──────── LANES ────────┐
//!   slot          3       4       9   …│     ascending
//!   square     2500     900   19600   …│     fill: of the distance
//!   gain        1.0     2.0     1.0   …│ 0   fill: the importance;  weigh: what it gains in a tick
//!   favour      1.0     8.0     1.0   …│     fill: how many times the account counts in this choice
//!   weight     0.67    0.77    0.42   …│     weigh: the factor of distance
//!   distant       0       0   all 1   …│     weigh: a mask
//!   key           …                    │     select: the account, as an integer of the same order
//! ```
//!
//! Columns are whole groups of lanes; what is beyond the last object gains nothing, so it is never chosen.

use crate::bits::ones;

/// How many objects are worked on together: whole registers, whatever their width is.
pub(super) const LANES: usize = 16;

/// An object that has something to send, as a viewer sees it. See [`Weights::sight`](super::Weights::sight).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// The square of its distance from the viewer.
    pub square_metres: f32,
    /// What it would gain a tick at distance 0; 0 means never.
    pub importance: f32,
    /// How many times its account counts in this choice.
    pub favour: f32,
}

/// What waits for one peer. One per worker; its content means nothing between choices.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    pub(super) slots: Vec<u16>,
    pub(super) squares: Vec<f32>,
    pub(super) gains: Vec<f32>,
    pub(super) favours: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) distant: Vec<i32>,
    pub(super) keys: Vec<i32>,
}

impl Waiting {
    /// How many objects wait.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Replaces everything by the objects of `count` slots, in words of 64 with the number of the word, ascending.
    /// `sight` says how the viewer sees that of a slot.
    #[inline]
    pub fn fill(
        &mut self,
        count: usize,
        slots: impl Iterator<Item = (usize, u64)>,
        sight: impl Fn(usize) -> Sight,
    ) {
        self.resize(count);
        if let (Some(squares), Some(gains)) = (self.squares.last_chunk_mut(), self.gains.last_chunk_mut()) {
            (*squares, *gains) = ([0.0; LANES], [0.0; LANES]);
        }
        // Cut to one length, so that one comparison shows that all have a row.
        let columns = (
            &mut self.slots[..count],
            &mut self.squares[..count],
            &mut self.gains[..count],
            &mut self.favours[..count],
        );
        let mut row = 0;
        for (at, word) in slots {
            for bit in ones(word).take(count - row) {
                let slot = at * 64 + bit;
                let Sight { square_metres, importance, favour } = sight(slot);
                columns.0[row] = slot as u16;
                columns.1[row] = square_metres;
                columns.2[row] = importance;
                columns.3[row] = favour;
                row += 1;
            }
        }
        debug_assert_eq!(row, count, "as many slots as were said");
    }

    /// Keeps the objects, by slot and gain, that a condition holds for.
    pub fn retain(&mut self, mut is_kept: impl FnMut(u16, f32) -> bool) {
        let mut kept = 0;
        for at in 0..self.slots.len() {
            let (slot, gain) = (self.slots[at], self.gains[at]);
            (self.slots[kept], self.gains[kept], self.distant[kept]) = (slot, gain, self.distant[at]);
            self.favours[kept] = self.favours[at];
            kept += usize::from(is_kept(slot, gain));
        }
        self.resize(kept);
        self.gains[kept..].fill(0.0);
    }

    fn resize(&mut self, count: usize) {
        let rows = count.next_multiple_of(LANES);
        self.slots.resize(count, 0);
        self.squares.resize(rows, 0.0);
        self.gains.resize(rows, 0.0);
        self.favours.resize(rows, 1.0);
        self.weights.resize(rows, 0.0);
        self.distant.resize(rows, 0);
        self.keys.resize(rows, 0);
    }
}
