//! Snapshots whose fate is not known.
//!
//! A record holds which slots a snapshot updated, a bit each, and what it said about existence. What later became
//! pointless is taken out of the records at once: a slot that was given back, an object whose words changed their
//! meaning, a state that a newer one has overtaken. So an outcome needs no look at generations or ticks.
//!
//! Records have a ring of places, and the words of one page lie together, so that a question about 64 slots and all
//! snapshots on their way is a question about one line of memory:
//!
//! ```text
//!   place        0     1     2     3     4     5     6     7
//!   page 0     │     │ 40  │ 41  │ 42  │ 43  │     │     │     │      the slots that the snapshot of tick 40 updated, …
//!   page 1     │     │ 40  │ …
//! ```
//!
//! The word of a place without a record is zero.

use std::collections::VecDeque;
use std::ops::Range;

use netloom_cpu::{fetch, fetch_next};
use netloom_wire::Tick;

use super::page::{FETCHED_PAGES, place};
use crate::limits::{EXISTENCE_IN_FLIGHT_MAX, SNAPSHOTS_IN_FLIGHT_MAX};

/// Places at first: enough for a round trip of a third of a second at 20 snapshots a second.
const PLACES: usize = 8;

/// What a snapshot said about a slot's existence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Its object in full, and which telling of it that was.
    Entered { telling: u32 },
    /// That its object is gone.
    Left,
}

/// The same with the slot and the snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    sequence: u64,
    pub slot: u16,
    pub generation: u8,
    pub news: News,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    sequence: u64,
    tick: Tick,
    /// Whether its fate is still unknown.
    is_flying: bool,
}

/// A snapshot whose fate became known: its record until [`Flights::retire`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Landed {
    pub tick: Tick,
    sequence: u64,
    /// How many records are older.
    older: usize,
}

/// The snapshots on their way to one peer.
#[derive(Debug, Default)]
pub(super) struct Flights {
    /// Oldest first, which is always on its way.
    records: VecDeque<Record>,
    /// The place of the oldest.
    first: usize,
    /// Places of each page: none, or a power of two.
    places: usize,
    /// By page and place.
    words: Vec<u64>,
    /// In the order of records.
    told: Vec<Told>,
}

impl Flights {
    /// Asks for the records, and for the words of the first pages.
    pub fn fetch(&self) {
        let words = self.words.get(..FETCHED_PAGES * self.places).unwrap_or(&self.words);
        fetch(words);
        self.records.front().into_iter().for_each(fetch);
        self.records.back().into_iter().for_each(fetch_next);
    }

    /// Makes room for so many pages.
    pub fn reserve(&mut self, pages: usize) {
        self.places = self.places.max(PLACES);
        if self.words.len() < pages * self.places {
            self.words.resize(pages * self.places, 0);
        }
    }

    /// Whether so many are on their way that nothing should enter or leave.
    pub fn is_crowded(&self) -> bool {
        // Counting is for those who have reason to.
        self.records.len() >= EXISTENCE_IN_FLIGHT_MAX
            && self.records.iter().filter(|record| record.is_flying).count() >= EXISTENCE_IN_FLIGHT_MAX
    }

    /// A snapshot is being written: what it says is noted from here on.
    pub fn begin(&mut self, sequence: u64, tick: Tick) {
        if self.records.len() >= self.places {
            self.grow();
        }
        self.records.push_back(Record { sequence, tick, is_flying: true });
    }

    /// Twice as many places.
    #[cold]
    fn grow(&mut self) {
        let (before, places) = (self.places, (2 * self.places).max(PLACES));
        let pages = self.words.len() / before.max(1);
        let mut words = vec![0; pages * places];
        for page in 0..pages {
            for order in 0..self.records.len() {
                words[page * places + order] = self.words[page * before + self.place(order)];
            }
        }
        (self.words, self.places, self.first) = (words, places, 0);
    }

    #[inline]
    fn place(&self, order: usize) -> usize {
        (self.first + order) & (self.places - 1)
    }

    #[inline]
    fn at(&self, at: usize, order: usize) -> usize {
        at * self.places + self.place(order)
    }

    /// The words of a page, in any order.
    #[inline]
    fn page(&self, at: usize) -> &[u64] {
        self.words.get(at * self.places..(at + 1) * self.places).unwrap_or_default()
    }

    /// The newest snapshot updates these slots.
    #[inline]
    pub fn note_updates(&mut self, at: usize, slots: u64) {
        let word = self.at(at, self.records.len() - 1);
        self.words[word] |= slots;
    }

    /// What the newest snapshot updates.
    #[cfg(netloom_mutations)]
    pub fn newest_updates(&self, at: usize) -> u64 {
        self.words[self.at(at, self.records.len() - 1)]
    }

    /// The tick of the newest snapshot.
    #[cfg(netloom_mutations)]
    pub fn newest_tick(&self) -> Tick {
        self.records.back().map(|record| record.tick).unwrap_or_default()
    }

    /// The newest snapshot says that an object is there, or gone.
    pub fn note_told(&mut self, slot: u16, generation: u8, news: News) {
        let Some(sequence) = self.records.back().map(|record| record.sequence) else { return };
        self.told.push(Told { sequence, slot, generation, news });
    }

    /// The newest snapshot says nothing and is not sent.
    pub fn cancel(&mut self) {
        self.records.pop_back();
    }

    /// The number of a snapshot that has waited too long: it counts as lost.
    pub fn overdue(&self) -> Option<u64> {
        let is_full = self.records.len() > SNAPSHOTS_IN_FLIGHT_MAX;
        self.records.front().filter(|_| is_full).map(|oldest| oldest.sequence)
    }

    /// The fate of a snapshot is known.
    pub fn land(&mut self, sequence: u64) -> Option<Landed> {
        let is_it = |record: &Record| record.is_flying && record.sequence == sequence;
        let older = self.records.iter().position(is_it)?;
        let record = &mut self.records[older];
        record.is_flying = false;
        Some(Landed { tick: record.tick, sequence, older })
    }

    /// Which slots of a page it updated.
    #[inline]
    pub fn updates(&self, landed: &Landed, at: usize) -> u64 {
        self.words[self.at(at, landed.older)]
    }

    /// Its updates were received later than those of older snapshots.
    pub fn overtake(&mut self, landed: &Landed, at: usize) {
        let updates = self.updates(landed, at);
        for order in 0..landed.older {
            let word = self.at(at, order);
            self.words[word] &= !updates;
        }
    }

    /// Its updates that no later snapshot has.
    pub fn only_updates(&self, landed: &Landed, at: usize) -> u64 {
        let later = landed.older + 1..self.records.len();
        later.fold(self.updates(landed, at), |left, order| left & !self.words[self.at(at, order)])
    }

    /// Takes its updates of a page away.
    #[inline]
    pub fn clear(&mut self, landed: &Landed, at: usize) {
        let word = self.at(at, landed.older);
        self.words[word] = 0;
    }

    /// Where [`told`](Flights::told) has what it said about existence.
    pub fn told_of(&self, landed: &Landed) -> Range<usize> {
        let of_it = |told: &Told| told.sequence == landed.sequence;
        let start = self.told.iter().position(of_it).unwrap_or(self.told.len());
        start..start + self.told[start..].iter().take_while(|told| of_it(told)).count()
    }

    /// What all snapshots on their way say about existence.
    pub fn told(&self) -> &[Told] {
        &self.told
    }

    /// Nothing is asked of the record any more.
    pub fn retire(&mut self, landed: &Landed) {
        let told = self.told_of(landed);
        self.told.drain(told);
        while self.records.front().is_some_and(|record| !record.is_flying) {
            self.records.pop_front();
            self.first = self.place(1);
        }
    }

    /// Of 64 slots those of which nothing is on its way.
    #[inline]
    pub fn without_touched(&self, at: usize, slots: u64) -> u64 {
        // Mostly everything moves, and then there is nothing to look for.
        if slots == 0 { 0 } else { self.page(at).iter().fold(slots, |left, word| left & !word) }
    }

    /// What is on its way of a slot does not count any more.
    pub fn forget(&mut self, slot: usize) {
        let (at, bit) = place(slot);
        let page = at * self.places..(at + 1) * self.places;
        self.words.get_mut(page).unwrap_or_default().iter_mut().for_each(|word| *word &= !bit);
    }

    /// Whether a state of a slot is on its way.
    pub fn touches(&self, slot: usize) -> bool {
        let (at, bit) = place(slot);
        self.without_touched(at, bit) == 0
    }

    /// Whether an update of a page is on its way.
    #[inline]
    pub fn touches_page(&self, at: usize) -> bool {
        self.page(at).iter().fold(0, |all, word| all | word) != 0
    }

    /// Whether an entry of a page is on its way.
    pub fn enters_page(&self, at: usize) -> bool {
        let enters = |told: &Told| usize::from(told.slot) / 64 == at && told.news != News::Left;
        self.told.iter().any(enters)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGES: usize = 3;

    proptest! {
        /// Whatever order fates become known in, the records say the same as a plain list of them.
        #[test]
        fn records_are_those_of_a_plain_list(
            steps in prop::collection::vec((any::<bool>(), any::<[u64; PAGES]>(), any::<prop::sample::Index>()), 1..80),
        ) {
            let mut flights = Flights::default();
            flights.reserve(PAGES);
            let mut plain: Vec<(u64, [u64; PAGES])> = Vec::new();
            for (sequence, (sends, words, pick)) in (0u64..).zip(steps) {
                if sends || plain.is_empty() {
                    flights.begin(sequence, Tick(sequence as u32));
                    (0..PAGES).for_each(|at| flights.note_updates(at, words[at]));
                    plain.push((sequence, words));
                } else {
                    let place = pick.index(plain.len());
                    let (number, updates) = plain[place];
                    let landed = flights.land(number).unwrap();
                    prop_assert_eq!(landed.tick, Tick(number as u32));
                    for at in 0..PAGES {
                        prop_assert_eq!(flights.updates(&landed, at), updates[at]);
                        let later = plain[place + 1..].iter().fold(updates[at], |left, (_, words)| left & !words[at]);
                        prop_assert_eq!(flights.only_updates(&landed, at), later);
                        flights.overtake(&landed, at);
                        plain[..place].iter_mut().for_each(|(_, words)| words[at] &= !updates[at]);
                        flights.clear(&landed, at);
                    }
                    flights.retire(&landed);
                    prop_assert!(flights.land(number).is_none(), "known twice");
                    plain.remove(place);
                }
                for at in 0..PAGES {
                    let all = plain.iter().fold(0, |all, (_, words)| all | words[at]);
                    prop_assert_eq!(flights.without_touched(at, u64::MAX), !all);
                    prop_assert_eq!(flights.touches_page(at), all != 0);
                }
            }
        }
    }

    #[test]
    fn what_was_told_comes_back_with_its_snapshot() {
        let mut flights = Flights::default();
        flights.reserve(1);
        for sequence in [5, 6] {
            flights.begin(sequence, Tick(1));
            flights.note_told(sequence as u16, 0, News::Left);
            flights.note_told(70, 1, News::Entered { telling: 3 });
        }
        assert!(flights.enters_page(1) && !flights.enters_page(0));
        let landed = flights.land(6).unwrap();
        let told = flights.told()[flights.told_of(&landed)].iter().map(|told| (told.slot, told.news));
        assert_eq!(told.collect::<Vec<_>>(), [(6, News::Left), (70, News::Entered { telling: 3 })]);
        flights.retire(&landed);
        let landed = flights.land(5).unwrap();
        assert_eq!(flights.told_of(&landed), 0..2);
        assert_eq!(flights.told().len(), 2);
    }

    #[test]
    fn the_oldest_of_too_many_counts_as_lost() {
        let mut flights = Flights::default();
        flights.reserve(1);
        for sequence in 0..=SNAPSHOTS_IN_FLIGHT_MAX as u64 {
            assert_eq!(flights.overdue(), None);
            flights.begin(sequence, Tick(0));
        }
        assert_eq!(flights.overdue(), Some(0));
        assert!(flights.is_crowded());
        let landed = flights.land(0).unwrap();
        flights.retire(&landed);
        assert_eq!(flights.overdue(), None);
    }
}
