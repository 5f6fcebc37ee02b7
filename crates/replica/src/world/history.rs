//! The versions of every object, in one vector.
//!
//! A baseline is the state of an object at a tick that a peer acked, so the past of every object must be at hand, in
//! the form in which it is compared and subtracted. Objects are encoded side by side against states of the same ages, so
//! those of one width share blocks, and in a block the same row of all of them lies together:
//!
//! ```text
//!   a block   row 0    object a, object b, object c …      versions, as wide as the class
//!             row 1    object a, object b, object c …
//!             …
//!             row 31
//!             drafts   object a, object b, object c …      what the game wrote since the newest version
//! ```
//!
//! The 32 version rows are a ring. An object's first version lies in the row of its tick, so objects that change at
//! every tick have the states of one age in one row, and reading them is reading on. Its ticks ascend backwards from the newest row, so the row that was in force at a
//! tick needs no search: as many versions as are newer than the tick lie between it and the newest, and counting 32
//! integers takes a few vector instructions.
//!
//! What changes at every tick has versions of consecutive ticks, a *streak*: the newest tick and its length say them all. They
//! are written down only when the streak ends, because the ticks of an object fill two lines of memory, and a tick of the
//! world in which everything moves would touch them for every object.
//!
//! Places of despawned objects are kept by width and given to the next object as wide.

use std::ops::Range;

use netloom_cpu::fetch;
use netloom_wire::sequence::Tick;

use crate::limits::{VERSIONS_KEPT, WORDS_MAX};

const ROWS: usize = VERSIONS_KEPT + 1;

/// Objects in a block: enough for a good stretch of memory, and little waste for a class with few objects.
const BLOCK_OBJECTS: usize = 32;

/// A version this old is as good as eternal. Its tick is kept from falling further behind, because ticks wrap and half
/// their range away "older" turns into "newer".
pub(super) const AGE_KEPT: u32 = 1 << 30;

/// Where an object's versions are. Four of these lie in one line of memory, because every write asks for one.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Of row 0.
    offset: u32,
    word_count: u16,
    newest: u8,
    /// How many rows hold versions of the present frame.
    len: u8,
    /// The tick of the newest version, and how many ticks before it had one each.
    latest: Tick,
    streak: u32,
}

const _: () = assert!(size_of::<Place>() == 16 && WORDS_MAX <= u16::MAX as usize);

/// The longest streak of which all is kept.
const STREAK_MAX: u32 = VERSIONS_KEPT as u32 - 1;

/// The words from one row of a block to the next.
#[inline]
const fn stride(word_count: usize) -> usize {
    BLOCK_OBJECTS * word_count
}

impl Place {
    /// Where the words of a row are.
    #[inline]
    fn row(self, row: usize) -> Range<usize> {
        let word_count = usize::from(self.word_count);
        let start = self.offset as usize + row * stride(word_count);
        start..start + word_count
    }

    #[inline]
    fn newest_row(self) -> Range<usize> {
        self.row(self.newest.into())
    }
}

/// The row so many versions before another.
#[inline]
const fn row_before(row: usize, back: usize) -> usize {
    (row + VERSIONS_KEPT - back) % VERSIONS_KEPT
}

/// Where the versions of three ticks lie, of one object that changes at every tick, and so of all that go in step with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    place: Place,
    /// How long they must have done so.
    streak_min: u32,
    /// Of the rows, from the object's offset on.
    starts: [usize; 3],
}

/// The versions of all objects, by slot.
#[derive(Debug)]
pub(super) struct Histories {
    words: Vec<i32>,
    places: Vec<Place>,
    /// The tick of each row, but for those of a streak: they have older ones. Rows without a version have a tick that is
    /// not newer than any that has.
    ticks: Vec<[Tick; VERSIONS_KEPT]>,
    /// Offsets of unused places, by their width.
    unused: Vec<Vec<usize>>,
}

/// The versions of one object in its present frame: a ring of rows.
///
/// For several ticks of one object take this once and call [`History::row_at`] for each; rows are plain numbers, so
/// that a caller can see whether two ticks share one without comparing words.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    words: &'a [i32],
    ticks: &'a [Tick; VERSIONS_KEPT],
    word_count: usize,
    newest: usize,
    len: usize,
    latest: Tick,
    streak: u32,
}

impl<'a> History<'a> {
    /// How many versions are kept: at most [`VERSIONS_KEPT`].
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none, before the first commit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row of the newest version.
    pub fn newest_row(&self) -> usize {
        self.newest
    }

    /// The row of the version that was in force at `tick`; `None` if it is forgotten, of an earlier frame, or from
    /// before the object was there.
    #[inline]
    pub fn row_at(&self, tick: Tick) -> Option<usize> {
        let back = self.latest.0.wrapping_sub(tick.0) as i32;
        if back <= 0 && self.len > 0 {
            return Some(self.newest);
        }
        // Objects that change at every tick have a version for each: nothing needs to be looked up.
        if back as u32 <= self.streak {
            return Some(row_before(self.newest, back as usize));
        }
        if self.streak == STREAK_MAX {
            return None;
        }
        // What is written down for the rows of the streak is older than everything that is kept: it counts only for a
        // tick from before that, of which nothing is kept anyway.
        let written: u32 = self.ticks.iter().map(|version| u32::from(version.is_newer_than(tick))).sum();
        let newer = (written + self.streak) as usize;
        (newer < self.len).then(|| row_before(self.newest, newer))
    }

    /// The words of a row; none if there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> &'a [i32] {
        let start = row * stride(self.word_count);
        self.words.get(start..start + self.word_count).unwrap_or_default()
    }

    /// The tick of a row's version. A row without a version has a tick that is not newer than any that has.
    #[cfg(test)]
    pub(crate) fn tick_of(&self, row: usize) -> Tick {
        let back = row_before(self.newest, row);
        match back <= self.streak as usize {
            true => Tick(self.latest.0.wrapping_sub(back as u32)),
            false => self.ticks[row],
        }
    }
}

impl Histories {
    pub(super) fn new() -> Histories {
        Histories {
            words: Vec::new(),
            places: Vec::new(),
            ticks: Vec::new(),
            unused: vec![Vec::new(); WORDS_MAX + 1],
        }
    }

    /// Gives a slot a place without versions, for objects of `word_count` words.
    pub(super) fn open(&mut self, slot: usize, word_count: usize) {
        if slot >= self.places.len() {
            self.places.resize(slot + 1, Place::default());
            self.ticks.resize(slot + 1, [Tick::default(); VERSIONS_KEPT]);
        }
        if self.unused[word_count].is_empty() {
            let block = self.words.len();
            self.words.resize(block + ROWS * stride(word_count), 0);
            // The last is taken first.
            let places = (0..BLOCK_OBJECTS).rev().map(|place| block + place * word_count);
            self.unused[word_count].extend(places);
        }
        let offset = self.unused[word_count].pop().unwrap_or_default();
        let offset = u32::try_from(offset).expect("sixteen gigabytes of versions");
        self.places[slot] = Place { offset, word_count: word_count as u16, ..Place::default() };
    }

    /// Takes the place of a slot back.
    pub(super) fn close(&mut self, slot: usize) {
        let Place { offset, word_count, .. } = std::mem::take(&mut self.places[slot]);
        self.unused[usize::from(word_count)].push(offset as usize);
    }

    /// What will be the next version.
    #[inline]
    pub(super) fn draft(&self, slot: usize) -> &[i32] {
        &self.words[self.places[slot].row(VERSIONS_KEPT)]
    }

    #[inline]
    pub(super) fn draft_mut(&mut self, slot: usize) -> &mut [i32] {
        &mut self.words[self.places[slot].row(VERSIONS_KEPT)]
    }

    /// Whether the draft says something else than the newest version.
    #[inline]
    pub(super) fn differs(&self, slot: usize) -> bool {
        let place = self.places[slot];
        place.len == 0 || self.words[place.newest_row()] != self.words[place.row(VERSIONS_KEPT)]
    }

    /// Asks for what [`advance`](Histories::advance) needs of so many objects, the first of which is in this slot. Those of one kind lie
    /// behind each other, mostly.
    pub(super) fn fetch(&self, slot: usize, count: usize) {
        let place = self.places[slot];
        let next = row_before(place.newest.into(), VERSIONS_KEPT - 1);
        for row in [VERSIONS_KEPT, place.newest.into(), next] {
            let start = place.row(row).start;
            self.words.get(start..start + count * usize::from(place.word_count)).into_iter().for_each(fetch);
        }
    }

    /// Writes to the draft, which becomes the newest version if it says something else; whether it does. Its words mean what they
    /// meant before.
    #[inline(always)]
    pub(super) fn advance(&mut self, slot: usize, tick: Tick, write: impl FnOnce(&mut [i32])) -> bool {
        let place = &mut self.places[slot];
        let (count, stride) = (usize::from(place.word_count), stride(place.word_count.into()));
        let words = &mut self.words[place.offset as usize..][..VERSIONS_KEPT * stride + count];
        let (rows, draft) = words.split_at_mut(VERSIONS_KEPT * stride);
        write(draft);
        let differs = place.len == 0 || differ(&rows[usize::from(place.newest) * stride..][..count], draft);
        if !differs || place.len == 0 || tick != place.latest.next() {
            if differs {
                self.store(slot, tick, false);
            }
            return differs;
        }
        place.newest = row_before(place.newest.into(), VERSIONS_KEPT - 1) as u8;
        place.streak = (place.streak + 1).min(STREAK_MAX);
        place.latest = tick;
        place.len = (place.len + 1).min(VERSIONS_KEPT as u8);
        copy(draft, &mut rows[usize::from(place.newest) * stride..][..count]);
        true
    }

    /// The draft becomes the newest version. If the words have another meaning than before, the older ones go.
    pub(super) fn store(&mut self, slot: usize, tick: Tick, reframed: bool) {
        let is_first = reframed || self.places[slot].len == 0;
        let follows = !is_first && tick == self.places[slot].latest.next();
        if !is_first && !follows {
            self.end_streak(slot);
        }
        let place = &mut self.places[slot];
        place.newest = ((usize::from(place.newest) + 1) % VERSIONS_KEPT) as u8;
        if is_first {
            place.len = 0;
            place.newest = (tick.0 as usize % VERSIONS_KEPT) as u8;
            self.ticks[slot] = [tick; VERSIONS_KEPT];
        } else if !follows {
            self.ticks[slot][usize::from(place.newest)] = tick;
        }
        place.streak = if follows { (place.streak + 1).min(STREAK_MAX) } else { 0 };
        place.latest = tick;
        place.len = (place.len + 1).min(VERSIONS_KEPT as u8);
        self.words.copy_within(place.row(VERSIONS_KEPT), place.newest_row().start);
    }

    /// Writes the ticks of a streak down.
    fn end_streak(&mut self, slot: usize) {
        let place = &mut self.places[slot];
        for back in 0..=std::mem::take(&mut place.streak) {
            let row = row_before(place.newest.into(), back as usize);
            self.ticks[slot][row] = Tick(place.latest.0.wrapping_sub(back));
        }
    }

    /// The words of the newest version, and those in force at two ticks; `None` as for [`History::row_at`].
    #[inline(always)]
    pub(super) fn versions(&self, slot: usize, ticks: [Tick; 2]) -> Option<[&[i32]; 3]> {
        let place = self.places[slot];
        let [newer, older] = ticks.map(|tick| place.latest.0.wrapping_sub(tick.0));
        let rows = match place.len > 0 && newer.max(older) <= place.streak {
            true => [0, newer, older].map(|back| row_before(place.newest.into(), back as usize)),
            // What rests, or began to change a short while ago.
            false => {
                let history = self.history(slot);
                let [newer, older] = ticks.map(|tick| history.row_at(tick));
                [history.newest_row(), newer?, older?]
            }
        };
        Some(rows.map(|row| &self.words[place.row(row)]))
    }

    /// How those lie of an object that changes at every tick; `None` if this one does not.
    pub(super) fn stride_of(&self, slot: usize, ticks: [Tick; 2]) -> Option<Stride> {
        let place = self.places[slot];
        let back = ticks.map(|tick| place.latest.0.wrapping_sub(tick.0));
        let streak_min = back[0].max(back[1]);
        (place.len > 0 && streak_min <= place.streak).then(|| {
            let row = |back: u32| place.row(row_before(place.newest.into(), back as usize)).start;
            let starts = [0, back[0], back[1]].map(|back| row(back) - place.offset as usize);
            Stride { place, streak_min, starts }
        })
    }

    /// [`versions`](Histories::versions) of an object that goes in step with another; `None` if it does not.
    #[inline(always)]
    pub(super) fn versions_in_stride(&self, slot: usize, stride: &Stride) -> Option<[&[i32]; 3]> {
        let (place, first) = (&self.places[slot], &stride.place);
        let in_step = (place.latest.0 ^ first.latest.0)
            | u32::from(place.newest ^ first.newest)
            | u32::from(place.word_count ^ first.word_count);
        if in_step != 0 || place.streak < stride.streak_min {
            return None;
        }
        let rows = self.words.get(place.offset as usize..)?;
        let row = |start: usize| rows.get(start..start + usize::from(first.word_count));
        let [current, newer, older] = stride.starts;
        Some([row(current)?, row(newer)?, row(older)?])
    }

    #[inline]
    pub(super) fn history(&self, slot: usize) -> History<'_> {
        let place = self.places[slot];
        let words = &self.words[place.offset as usize..place.row(VERSIONS_KEPT - 1).end];
        let Place { latest, streak, .. } = place;
        let [newest, len] = [place.newest, place.len].map(usize::from);
        let word_count = place.word_count.into();
        History { words, ticks: &self.ticks[slot], word_count, newest, len, latest, streak }
    }

    /// Keeps very old ticks comparable.
    pub(super) fn refresh(&mut self, slot: usize, now: Tick) {
        let latest = not_ancient(self.places[slot].latest, now);
        if latest != self.places[slot].latest {
            self.end_streak(slot);
            self.places[slot].latest = latest;
        }
        self.ticks[slot].iter_mut().for_each(|tick| *tick = not_ancient(*tick, now));
    }
}

/// The words of a position and a rotation, which is what most classes have: calling a function that can do any length takes longer.
type Usual = [i32; 8];

/// Whether two rows say something else.
#[inline(always)]
fn differ(one: &[i32], other: &[i32]) -> bool {
    match (<&Usual>::try_from(one), <&Usual>::try_from(other)) {
        (Ok(one), Ok(other)) => one != other,
        _ => one != other,
    }
}

/// Copies a row.
#[inline(always)]
fn copy(from: &[i32], to: &mut [i32]) {
    match (<&Usual>::try_from(from), <&mut Usual>::try_from(&mut *to)) {
        (Ok(from), Ok(to)) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// The tick, or one [`AGE_KEPT`] ago if it is older.
pub(super) fn not_ancient(tick: Tick, now: Tick) -> Tick {
    let age = now.0.wrapping_sub(tick.0);
    if age > AGE_KEPT { Tick(now.0.wrapping_sub(AGE_KEPT)) } else { tick }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However ticks with a change and ticks without follow each other.
        #[test]
        fn the_version_in_force_at_a_tick_is_the_last_one_before_it(changes in proptest::collection::vec(0u32..8, 1..150)) {
            let mut histories = Histories::new();
            histories.open(0, 1);
            let (mut tick, mut stored) = (1_000, Vec::new());
            for (number, pause) in changes.into_iter().enumerate() {
                tick += 1 + pause.saturating_sub(5);
                histories.draft_mut(0)[0] = number as i32;
                histories.store(0, Tick(tick), false);
                stored.push((tick, number as i32));
                let (history, kept) = (histories.history(0), stored.len().saturating_sub(VERSIONS_KEPT));
                for asked in tick.saturating_sub(90)..tick + 3 {
                    let found = history.row_at(Tick(asked)).map(|row| history.row(row)[0]);
                    let expected = stored[kept..].iter().rev().find(|(at, _)| *at <= asked);
                    prop_assert_eq!(found, expected.map(|(_, number)| *number), "tick {}", asked);
                }
                for (row, (at, _)) in (0..).zip(stored.iter().rev().take(VERSIONS_KEPT)) {
                    prop_assert_eq!(history.tick_of(row_before(history.newest_row(), row)), Tick(*at));
                }
            }
        }
    }

    #[test]
    fn a_place_goes_to_the_next_object_of_its_width() {
        let mut histories = Histories::new();
        histories.open(0, 10);
        histories.open(1, 4);
        let taken = histories.words.len();
        assert_eq!(taken, 33 * 32 * 14);
        for respawn in 0..100 {
            histories.store(0, Tick(respawn), false);
            histories.close(0);
            histories.close(1);
            histories.open(1, 10);
            histories.open(0, 4);
            assert!(histories.history(0).is_empty());
            histories.close(0);
            histories.close(1);
            histories.open(0, 10);
            histories.open(1, 4);
        }
        assert_eq!(histories.words.len(), taken);
    }
}
