//! What is done for contexts that no recording has.
//!
//! Tables that start from nothing know nothing of a context that hardly ever occurred, and the next one is a better guess than
//! that: the tables of numbers stand in the order of the sizes that they expect, kind after kind.

use super::super::chain::{CHAIN_TABLES, LEVELS};
use super::super::codes::{Group, tables};
use super::Tally;

/// A table that was asked for fewer symbols borrows.
const SYMBOLS_MIN: u64 = 300;
/// How far the next level of the same kind is, and how much further another kind.
const LEVEL_DISTANCE: usize = 2;
const KIND_DISTANCE: usize = 5;

impl Tally {
    /// Counts for every table of numbers that has hardly any what the nearest of its group counted that has: for training from
    /// [`Codes::untrained`](super::Codes::untrained).
    pub fn lend(&mut self) {
        let counted = self.counts.clone();
        let is_seen = |group: &Group, first: usize| {
            counted[first..first + group.symbols].iter().sum::<u64>() >= SYMBOLS_MIN
        };
        let of_numbers = || tables().filter(|(group, ..)| group.tables == CHAIN_TABLES);
        for (group, table, first) in of_numbers().filter(|&(group, _, first)| !is_seen(group, first)) {
            let lenders = of_numbers().filter(|&(of, _, at)| of == group && is_seen(of, at));
            let Some((_, _, lender)) = lenders.min_by_key(|&(_, other, _)| distance(table, other)) else {
                continue;
            };
            for symbol in 0..group.symbols {
                self.counts[first + symbol] += counted[lender + symbol];
            }
        }
    }
}

/// How unlike two tables of numbers are.
fn distance(one: usize, other: usize) -> usize {
    let levels = (one % LEVELS).abs_diff(other % LEVELS);
    let is_other_kind = one / LEVELS != other / LEVELS;
    LEVEL_DISTANCE * levels + KIND_DISTANCE * usize::from(is_other_kind)
}
