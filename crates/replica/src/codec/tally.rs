//! Which codes a game needs most, and tables made for it.
//!
//! The generic tables suit no game in particular. A [`Tally`] looks on while objects are encoded and counts every symbol
//! of every table; from the counts follow the tables that would have said the same in the fewest bits.
//!
//! **It cannot drift from the encoder**, because it is the encoder: the functions that write an object are compiled once
//! more, for a run that keeps no bits but remembers which codes were put. It knows them by their bits, for it is handed
//! codes whose bits are the places of their symbols. Their lengths are those of the tables that would be in use, so that
//! the choices that depend on lengths are the same too.
//!
//! **Smoothing.** A recording is a sample, and next week's match is another one. What was not seen must be possible, and
//! what was seen a little must not be taken for the rule, so each table begins as if the symbols of the tables
//! before had been seen, in their proportions: [`PRIOR_COUNT`] times, and as often as the [`Blend`] says. A context that
//! never occurred keeps its codes as they are.

mod lend;

use core::cell::RefCell;

use netloom_wire::BitWriter;
use netloom_wire::entropy::{CODE_BITS_MAX, CodeTable, SymbolWriter, lengths_for};

use super::codes::{CODES, Codes, Group, TableError, put_gap, tables};
use super::fields::Others;
use super::prefix::Code;
use super::run::Run;
use super::{Baseline, Blobs, Pair, Shape, States, Transform};
use crate::class::Class;

/// How many symbols a table is taken to have seen before the recording.
const PRIOR_COUNT: u64 = 128;

/// The unit of the parts of a [`Blend`].
pub const BLEND_UNIT: u32 = 64;

/// What tables are made from besides what was counted, in 64ths of that.
#[derive(Clone, Debug)]
pub struct Blend<'a> {
    /// As if so much had been as the tables before expect it.
    pub prior: u32,
    /// As if so much of each of these had been counted, too.
    pub others: Vec<(&'a Tally, u32)>,
}

impl Default for Blend<'_> {
    fn default() -> Self {
        Blend { prior: BLEND_UNIT / 8, others: Vec::new() }
    }
}

/// More than the fields of any object take.
const SCRATCH_BYTES: usize = 1 << 16;

/// Counts of symbols, in the context in which each was needed.
#[derive(Clone, Debug)]
pub struct Tally {
    prior: Codes,
    /// The prior, its bits replaced by places.
    numbered: Codes,
    /// Of each symbol, in the order of the lengths of a set.
    counts: Vec<u64>,
    /// Bits that no table is about: those that follow symbols.
    plain_bits: u64,
    updates: u64,
    scratch: Vec<u8>,
}

/// What one table takes for all that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The group.
    pub group: &'static Group,
    /// The table in it.
    pub table: usize,
    /// How many symbols it was asked for.
    pub symbols: u64,
    /// Their bits with the tables of the tally.
    pub bits_before: u64,
    /// Their bits with the other ones.
    pub bits_after: u64,
}

impl Tally {
    /// Counts what is encoded with these tables, which are also what training starts from.
    pub fn new(prior: &Codes) -> Tally {
        Tally {
            prior: prior.clone(),
            numbered: prior.numbered(),
            counts: vec![0; CODES],
            plain_bits: 0,
            updates: 0,
            scratch: vec![0; SCRATCH_BYTES],
        }
    }

    /// Counts the symbols of an object that is encoded so: see [`encode`](super::encode). What cannot be encoded is not
    /// counted.
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as encode")]
    pub fn update(
        &mut self,
        class: &Class,
        visible: u64,
        current: &[i32],
        newer: Baseline<'_>,
        older: Option<Baseline<'_>>,
        jump_age: Option<u32>,
        blobs: &impl Blobs,
    ) {
        let pair = Pair::new(newer.age, older.map(|older| older.age));
        let states = States {
            newer: newer.words,
            older: older.map(|older| older.words),
            oldest: None,
            is_carried: false,
        };
        self.update_from(&pair, class, visible, current, &states, jump_age, blobs);
    }

    /// The same from whatever states there are: see [`Pair::encode_from`].
    ///
    /// # Panics
    /// If any words are fewer than the class has.
    #[allow(clippy::too_many_arguments, reason = "as encode")]
    pub fn update_from(
        &mut self,
        pair: &Pair,
        class: &Class,
        visible: u64,
        current: &[i32],
        states: &States<'_>,
        jump_age: Option<u32>,
        blobs: &impl Blobs,
    ) {
        let shape = Shape::of(class, visible);
        let others = Others::new(class, shape.others, current, states.newer);
        if shape.has_transform() {
            let known = pair.known(states);
            let written =
                shape.write::<Trace>(&known, current, jump_age, others.any_changed(), &self.numbered);
            let Some(Transform { symbol, position, rotation }) = written else { return };
            [symbol, position, rotation].into_iter().for_each(|trace| self.count(trace));
        }
        if others.any_changed() || (!shape.has_transform() && shape.others != 0) {
            self.count_others(&others, blobs);
        }
        self.updates += 1;
    }

    /// Counts a distance to the next object of a snapshot, and whether that has the common baselines: see
    /// [`gap_code`](super::gap_code).
    pub fn gap(&mut self, gap: u32, is_common: bool) {
        let mut trace = Trace::default();
        put_gap(&self.numbered, gap, is_common, &mut trace);
        self.count(trace);
    }

    /// Adds what another one counted, with the same tables.
    pub fn add(&mut self, other: &Tally) {
        debug_assert_eq!(self.prior, other.prior, "choices differ where lengths do");
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.plain_bits += other.plain_bits;
        self.updates += other.updates;
    }

    /// Adds what another one counted, with the same tables, as if its symbols had been so many.
    pub fn add_scaled(&mut self, other: &Tally, symbols: u64) {
        debug_assert_eq!(self.prior, other.prior, "choices differ where lengths do");
        let scale = Scale { to: symbols.into(), of: other.symbols().max(1).into() };
        for (count, &more) in self.counts.iter_mut().zip(&other.counts) {
            *count += scale.apply(more);
        }
        self.plain_bits += scale.apply(other.plain_bits);
        self.updates += scale.apply(other.updates);
    }

    /// How many symbols were counted.
    pub fn symbols(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many objects were counted.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The bits of everything that was counted, with these tables.
    pub fn bits(&self, codes: &Codes) -> u64 {
        self.plain_bits + self.symbol_bits(codes)
    }

    /// What every table takes with these codes, in place of those of the tally. Tables that nothing needed are left out.
    pub fn savings(&self, codes: &Codes) -> Vec<Saving> {
        let each = tables().map(|(group, table, first)| {
            let counts = &self.counts[first..first + group.symbols];
            let bits = |codes: &Codes| bits_of(counts, &codes.lengths()[first..]);
            Saving {
                group,
                table,
                symbols: counts.iter().sum(),
                bits_before: bits(&self.prior),
                bits_after: bits(codes),
            }
        });
        each.filter(|saving| saving.symbols > 0).collect()
    }

    /// The tables that say in the fewest bits what was counted, smoothed as the module tells. The same counts give the
    /// same tables.
    pub fn train(&self, name: &str, blend: &Blend<'_>) -> Result<Codes, TableError> {
        let counts = self.blended(&blend.others);
        let mut lengths = Vec::with_capacity(CODES);
        for (group, _, first) in tables() {
            let place = first..first + group.symbols;
            let weights = smoothed(&counts[place.clone()], &self.prior.lengths()[place], blend.prior);
            lengths.extend(
                lengths_for(&weights, group.bits_max).expect("groups have as many symbols as codes can have"),
            );
        }
        Codes::from_lengths(name, &lengths)
    }

    /// The counts, and parts of others: the symbols of each are scaled to as many as this one has.
    fn blended(&self, others: &[(&Tally, u32)]) -> Vec<u64> {
        let own = u128::from(self.symbols());
        let mut counts = self.counts.clone();
        for (other, part) in others {
            let scale = Scale {
                to: own * u128::from(*part),
                of: u128::from(other.symbols().max(1)) * u128::from(BLEND_UNIT),
            };
            for (count, &more) in counts.iter_mut().zip(&other.counts) {
                *count += scale.apply(more);
            }
        }
        counts
    }

    fn symbol_bits(&self, codes: &Codes) -> u64 {
        bits_of(&self.counts, codes.lengths())
    }

    fn count(&mut self, trace: Trace) {
        let places = trace.places.iter().take(trace.count);
        for place in places.clone() {
            self.counts[usize::from(*place)] += 1;
        }
        let codes: u32 = places.map(|place| u32::from(self.prior.lengths()[usize::from(*place)])).sum();
        self.plain_bits += u64::from(trace.length - codes);
    }

    fn count_others(&mut self, others: &Others<'_>, blobs: &impl Blobs) {
        let noted = RefCell::new(Vec::new());
        let mut writer = BitWriter::new(&mut self.scratch);
        let [mask, word] =
            [("mask", self.prior.mask()), ("residual", self.prior.word())].map(|(name, table)| {
                let first = tables().find(|(group, ..)| group.name == name).map_or(0, |(_, _, first)| first);
                Noting { table, first, noted: &noted }
            });
        others.write(blobs, &mask, &word, &mut writer);
        let bits = writer.bit_len() as u64;
        if writer.finish().is_err() {
            return;
        }
        let mut codes = 0;
        for place in noted.into_inner() {
            self.counts[place] += 1;
            codes += u64::from(self.prior.lengths()[place]);
        }
        self.plain_bits += bits - codes;
    }
}

/// A ratio of counts.
#[derive(Clone, Copy)]
struct Scale {
    to: u128,
    of: u128,
}

impl Scale {
    fn apply(self, count: u64) -> u64 {
        (u128::from(count) * self.to / self.of) as u64
    }
}

fn bits_of(counts: &[u64], lengths: &[u8]) -> u64 {
    counts.iter().zip(lengths).map(|(count, &bits)| count * u64::from(bits)).sum()
}

/// Weights of symbols that were counted so, where the codes before had these lengths. A code of n bits says that one in
/// 2^n symbols was this one.
fn smoothed(counts: &[u64], lengths: &[u8], prior_part: u32) -> Vec<u64> {
    let seen: u64 = counts.iter().sum();
    let prior = PRIOR_COUNT + seen * u64::from(prior_part) / u64::from(BLEND_UNIT);
    let weight = |(&count, &bits): (&u64, &u8)| {
        let before = prior << (CODE_BITS_MAX - u32::from(bits));
        (count << CODE_BITS_MAX).saturating_add(before)
    };
    counts.iter().zip(lengths).map(weight).collect()
}

/// A run that remembers the places of its codes.
#[derive(Clone, Copy, Debug, Default)]
struct Trace {
    /// More than any part of an object has.
    places: [u16; 8],
    count: usize,
    length: u32,
}

impl Run for Trace {
    #[inline]
    fn put(&mut self, _bits: u64, count: u32) {
        self.length += count;
    }

    #[inline]
    fn length(&self) -> u32 {
        self.length
    }

    #[inline]
    fn put_code(&mut self, code: Code) {
        // Places without symbol have an empty code.
        if code.length > 0 {
            self.places[self.count] = code.bits - 1;
            self.count += 1;
            self.length += u32::from(code.length);
        }
    }
}

/// A table of the wire that notes the places of its symbols.
struct Noting<'a> {
    table: &'a CodeTable,
    /// The place of its first symbol.
    first: usize,
    noted: &'a RefCell<Vec<usize>>,
}

impl SymbolWriter for Noting<'_> {
    fn bit_len(&self, symbol: u8) -> Option<u32> {
        self.table.bit_len(symbol)
    }

    fn write(&self, symbol: u8, writer: &mut BitWriter<'_>) {
        self.noted.borrow_mut().push(self.first + usize::from(symbol));
        self.table.write(symbol, writer);
    }
}

#[cfg(test)]
mod tests;
