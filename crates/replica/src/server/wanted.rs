//! Which codes a tick needs: for each pair of baselines, the objects that somebody builds on them.
//!
//! Choosing what goes out, peer by peer, leaves here a bit for every object and pair of ages that was chosen. So
//! nothing is encoded that nobody wants and nothing twice, and workers that choose for different peers share nothing:
//! each has a table of its own, and the tables are merged before encoding.

use netloom_wire::schema::Audience;

use super::held::{KINDS_USUAL, Kind};
use crate::bits::{Bits, ones};

/// Rows of a tick. Peers with other baselines than these have their codes made for themselves alone.
pub(super) const ROWS_MAX: usize = 192;

/// Rows that have their memory before they are needed: as many as 16 peers come to use whose packets get lost now and then.
pub(super) const ROWS_USUAL: usize = 64;

/// Places of the index: a power of two, several times the rows.
const PLACES: usize = 512;

/// What a code was made against, and for whom. Codes that were made against states of the same ages are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Of the newer baseline, 1 or more.
    pub newer_age: u8,
    /// Of the older one; 0 if there is none.
    pub older_age: u8,
    pub audience: Audience,
}

impl Key {
    fn place(self) -> usize {
        let mixed =
            u32::from(self.newer_age) * 37 + u32::from(self.older_age) * 101 + self.audience as u32 * 67;
        mixed as usize % PLACES
    }
}

/// Finds rows by key.
#[derive(Clone, Debug)]
pub(super) struct Index {
    keys: Vec<Key>,
    /// One more than the row; 0 is empty.
    places: Box<[u8; PLACES]>,
}

impl Default for Index {
    fn default() -> Index {
        Index { keys: Vec::with_capacity(ROWS_MAX), places: Box::new([0; PLACES]) }
    }
}

impl Index {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.places.fill(0);
    }

    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The row of a key.
    #[inline]
    pub fn find(&self, key: Key) -> Option<usize> {
        let mut place = key.place();
        loop {
            let row = usize::from(self.places[place]).checked_sub(1)?;
            if self.keys[row] == key {
                return Some(row);
            }
            place = (place + 1) % PLACES;
        }
    }

    /// The row of a key, a new one if need be and possible.
    #[inline]
    pub fn find_or_add(&mut self, key: Key) -> Option<usize> {
        if let Some(row) = self.find(key) {
            return Some(row);
        }
        if self.keys.len() == ROWS_MAX {
            return None;
        }
        let mut place = key.place();
        while self.places[place] != 0 {
            place = (place + 1) % PLACES;
        }
        self.keys.push(key);
        self.places[place] = self.keys.len() as u8;
        Some(self.keys.len() - 1)
    }
}

const _: () = assert!(ROWS_MAX * 2 < PLACES && ROWS_MAX < 255);

/// The rows of the pairs that one peer's slots have, as far as they were asked for.
#[derive(Debug)]
pub(super) struct Found {
    /// One more than the row; 0 is unknown.
    rows: Vec<u8>,
}

impl Default for Found {
    fn default() -> Found {
        Found { rows: Vec::with_capacity(KINDS_USUAL) }
    }
}

impl Found {
    /// Of another peer, which has so many kinds of pairs.
    #[inline]
    pub fn begin(&mut self, kinds: usize) {
        self.rows.clear();
        self.rows.resize(kinds, 0);
    }

    /// The row of a kind.
    #[inline]
    pub fn get(&self, kind: Kind) -> Option<usize> {
        usize::from(self.rows.get(usize::from(kind)).copied().unwrap_or(0)).checked_sub(1)
    }

    /// A kind has this row.
    #[inline]
    pub fn set(&mut self, kind: Kind, row: usize) {
        if let Some(place) = self.rows.get_mut(usize::from(kind)) {
            *place = row as u8 + 1;
        }
    }
}

/// A row that was asked for codes so many times as often as there are objects has as good as all of them asked for, and
/// noting each costs more than making the few that nobody will ask for.
const SATURATION: usize = 4;

/// What one worker's peers need of a key.
#[derive(Debug, Default)]
pub(super) struct WantedRow {
    objects: Bits,
    /// How many more may be asked for until all of them are.
    unsaturated: usize,
}

impl WantedRow {
    /// An object is wanted.
    #[inline]
    pub fn insert(&mut self, object: usize) {
        self.objects.insert(object);
    }

    /// So are these 64 objects and not others, the `at`th word of them.
    #[inline]
    pub fn insert_word(&mut self, at: usize, objects: u64) {
        self.objects.words_mut()[at] |= objects;
    }

    /// So are these, by their places in a list.
    #[inline]
    pub fn insert_all(&mut self, places: u64, objects: &[u32; 64]) {
        if self.unsaturated > 0 {
            self.unsaturated = self.unsaturated.saturating_sub(places.count_ones() as usize);
            ones(places).for_each(|place| self.objects.insert(objects[place] as usize));
        }
    }
}

/// What one worker's peers need.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    index: Index,
    rows: Vec<WantedRow>,
    objects: usize,
}

impl Wanted {
    /// A new tick, of a world with room for so many objects.
    pub fn begin(&mut self, objects: usize) {
        self.index.clear();
        if objects > self.objects {
            self.rows.resize_with(self.rows.len().max(ROWS_USUAL), WantedRow::default);
            self.rows.iter_mut().for_each(|row| row.objects.reserve(objects));
        }
        self.objects = objects;
    }

    /// The row of a key: the objects wanted of it.
    #[inline]
    pub fn row(&mut self, key: Key) -> Option<&mut WantedRow> {
        let row = self.find_row(key)?;
        self.rows.get_mut(row)
    }

    /// The number of that row.
    #[inline]
    pub fn find_row(&mut self, key: Key) -> Option<usize> {
        let known = self.index.keys().len();
        let row = self.index.find_or_add(key)?;
        if row == known {
            self.open(row);
        }
        Some(row)
    }

    /// All rows, by number.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [WantedRow] {
        &mut self.rows
    }

    fn open(&mut self, row: usize) {
        if self.rows.len() <= row {
            self.rows.push(WantedRow::default());
        }
        let row = &mut self.rows[row];
        row.objects.reserve(self.objects);
        row.objects.clear();
        row.unsaturated = SATURATION * self.objects;
    }

    /// Hands over everything that is wanted, of all the objects that live: by key, as words of 64 objects.
    pub fn drain(&mut self, live: &[u64], mut visit: impl FnMut(Key, &[u64])) {
        for (key, row) in self.index.keys().iter().zip(&self.rows) {
            visit(*key, if row.unsaturated == 0 { live } else { row.objects.words() });
        }
        self.index.clear();
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.index.keys().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(newer_age: u8, older_age: u8) -> Key {
        Key { newer_age, older_age, audience: Audience::Public }
    }

    #[test]
    fn keys_are_found_again_however_their_places_collide() {
        let mut index = Index::default();
        let keys: Vec<Key> = (0..ROWS_MAX as u8).map(|n| key(1 + n % 7, 8 + n)).collect();
        for (row, key) in keys.iter().enumerate() {
            assert_eq!(index.find(*key), None);
            assert_eq!(index.find_or_add(*key), Some(row));
        }
        for (row, key) in keys.iter().enumerate() {
            assert_eq!(index.find(*key), Some(row));
        }
        assert_eq!(index.find_or_add(key(220, 0)), None, "no more rows than that");
        index.clear();
        assert_eq!(index.find_or_add(key(200, 0)), Some(0));
    }

    #[test]
    fn what_is_wanted_is_handed_over_once() {
        let mut wanted = Wanted::default();
        wanted.begin(100);
        wanted.row(key(1, 0)).unwrap().insert(7);
        wanted.row(key(2, 6)).unwrap().insert(8);
        wanted.row(key(1, 0)).unwrap().insert(9);
        let mut rows = Vec::new();
        wanted.drain(&[u64::MAX; 2], |key, words| rows.push((key, words.to_vec())));
        assert_eq!(rows, [(key(1, 0), vec![1 << 7 | 1 << 9, 0]), (key(2, 6), vec![1 << 8, 0])]);
        assert!(wanted.is_empty());
        wanted.row(key(1, 0)).unwrap();
        wanted.drain(&[u64::MAX; 2], |_, words| assert_eq!(words, [0, 0]));
    }

    #[test]
    fn where_nearly_all_were_asked_for_all_are_wanted() {
        let mut wanted = Wanted::default();
        wanted.begin(64);
        let objects: [u32; 64] = std::array::from_fn(|place| place as u32);
        for asked in 1..=2 * SATURATION {
            wanted.row(key(1, 0)).unwrap().insert_all(0xffff_ffff, &objects);
            let is_saturated = wanted.row(key(1, 0)).unwrap().unsaturated == 0;
            assert_eq!(is_saturated, asked == 2 * SATURATION);
        }
        wanted.drain(&[0x00ff_ffff_ffff_ffff], |_, words| assert_eq!(words, [0x00ff_ffff_ffff_ffff]));
    }
}
