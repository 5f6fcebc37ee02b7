//! Peers that are told just the same get the same bytes.
//!
//! Where everybody sees everything and nobody's packets are lost, what peers are told differs in nothing but when they joined:
//! the same slots, the same baselines, the same codes. The updates of such a snapshot are put together for the first of
//! them and kept as a *sheet*; whoever wants the same slots against the same baselines in the same tick gets a copy:
//!
//! ```text
//!   first peer      page │ page │ page │ page      written, slot by slot or by runs (server::runs)
//!   all others      ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓      a comparison for each page, and one copy
//! ```
//!
//! What a peer holds stays its own affair: which slots it was sent, what arrived of that, what it builds on. Peers that differ
//! in any of it, for a tick or for ever, are written to as always. For 16 peers with the same 200 objects, this takes two
//! thirds of the instructions out of writing snapshots, and a fifth out of replication as a whole.

use netloom_wire::Tick;

use super::page::Pages;
use super::wanted::Key;

/// The longest sheet: what a datagram holds.
const SHEET_BYTES_MAX: usize = 1_200;

/// Pages with updates in one sheet.
const SHEET_PAGES_MAX: usize = 64;

/// Sheets of one tick. Peers at different distances build on different ticks, usually four apart.
const SHEETS: usize = 4;

/// What all updates of a sheet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SheetKey {
    /// Of the snapshots.
    pub tick: Tick,
    /// What the codes are encoded against.
    pub baselines: Key,
}

impl SheetKey {
    fn place(self) -> usize {
        usize::from(self.baselines.newer_age) / 4 % SHEETS
    }
}

/// All updates of a snapshot.
#[derive(Debug)]
pub(super) struct Sheet {
    key: Option<SheetKey>,
    /// Pages, and which slots of them have an update, in their order.
    slots: Vec<(u32, u64)>,
    length: usize,
    /// How many updates there are, and the bits of all together.
    pub count: usize,
    pub bits: usize,
    bytes: [u8; SHEET_BYTES_MAX],
}

impl Sheet {
    fn empty() -> Sheet {
        let slots = Vec::with_capacity(SHEET_PAGES_MAX);
        Sheet { key: None, slots, length: 0, count: 0, bits: 0, bytes: [0; SHEET_BYTES_MAX] }
    }

    /// Their count and their bits, as they stand in a snapshot.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Which slots of which pages it updates.
    pub fn slots(&self) -> &[(u32, u64)] {
        &self.slots
    }
}

/// The sheets of one who writes snapshots.
#[derive(Debug)]
pub(super) struct Sheets(Vec<Sheet>);

impl Default for Sheets {
    fn default() -> Sheets {
        Sheets((0..SHEETS).map(|_| Sheet::empty()).collect())
    }
}

impl Sheets {
    /// The sheet with exactly what is chosen for a peer, if all of that is common and somebody else was told it.
    pub fn find(&self, key: SheetKey, pages: &Pages) -> Option<&Sheet> {
        let sheet = self.0.get(key.place()).filter(|sheet| sheet.key == Some(key))?;
        let chosen = pages.chosen().map(|(at, page)| (at as u32, page.common_chosen()));
        sheet.slots.iter().map(|&(at, slots)| (at, Some(slots))).eq(chosen).then_some(sheet)
    }

    /// A peer is about to be told what is chosen for it: whether others may be told the same.
    pub fn begin(&mut self, key: SheetKey, pages: &Pages) -> bool {
        let Some(sheet) = self.0.get_mut(key.place()) else { return false };
        sheet.key = None;
        sheet.slots.clear();
        for (at, page) in pages.chosen() {
            let Some(slots) = page.common_chosen().filter(|_| sheet.slots.len() < SHEET_PAGES_MAX) else {
                return false;
            };
            sheet.slots.push((at as u32, slots));
        }
        true
    }

    /// It was told all of it: these bytes, with so many updates in so many bits.
    pub fn keep(&mut self, key: SheetKey, bytes: &[u8], count: usize, bits: usize) {
        let Some(sheet) = self.0.get_mut(key.place()) else { return };
        if let Some(room) = sheet.bytes.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            (sheet.key, sheet.length, sheet.count, sheet.bits) = (Some(key), bytes.len(), count, bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_wire::schema::Audience;

    use super::*;

    const KEY: SheetKey =
        SheetKey { tick: Tick(7), baselines: Key { newer_age: 2, older_age: 6, audience: Audience::Public } };

    fn pages(words: &[(usize, u64)]) -> Pages {
        let mut pages = Pages::default();
        pages.reserve(64 * 8);
        for &(at, slots) in words {
            pages.soil(at, slots);
            let page = &mut pages[at];
            (page.known, page.own, page.uniform, page.chosen) = (slots, slots, slots, slots);
        }
        pages
    }

    #[test]
    fn a_sheet_is_for_those_with_the_same_slots_and_baselines_in_the_same_tick() {
        let mut sheets = Sheets::default();
        let wanted = pages(&[(0, 0b11), (3, u64::MAX)]);
        assert!(sheets.find(KEY, &wanted).is_none());
        assert!(sheets.begin(KEY, &wanted));
        assert!(sheets.find(KEY, &wanted).is_none(), "not told yet");
        sheets.keep(KEY, b"updates", 66, 51);
        let sheet = sheets.find(KEY, &wanted).expect("it is kept");
        assert_eq!((sheet.bytes(), sheet.count, sheet.bits), (&b"updates"[..], 66, 51));
        assert_eq!(sheet.slots(), [(0, 0b11), (3, u64::MAX)]);
        for others in [&[(0, 0b11)][..], &[(0, 0b11), (4, u64::MAX)], &[(0, 0b111), (3, u64::MAX)]] {
            assert!(sheets.find(KEY, &pages(others)).is_none(), "{others:?}");
        }
        let older = Key { older_age: 10, ..KEY.baselines };
        for other in [SheetKey { tick: Tick(8), ..KEY }, SheetKey { baselines: older, ..KEY }] {
            assert!(sheets.find(other, &wanted).is_none(), "{other:?}");
        }
    }

    #[test]
    fn slots_with_anything_of_their_own_are_on_no_sheet() {
        let mut sheets = Sheets::default();
        let common = pages(&[(1, 0b1110)]);
        assert!(sheets.begin(KEY, &common));
        sheets.keep(KEY, b"updates", 3, 51);
        let mut others = [(); 3].map(|()| pages(&[(1, 0b1110)]));
        others[0][1].special = 0b100;
        others[1][1].uniform = 0b1010;
        others[2][1].own = 0b0110;
        for pages in &others {
            assert!(sheets.find(KEY, pages).is_none());
        }
        for pages in &others {
            assert!(!sheets.begin(KEY, pages));
            assert!(sheets.find(KEY, &common).is_none(), "what is begun replaces what was there");
        }
    }

    #[test]
    fn what_is_too_long_for_a_datagram_is_not_kept() {
        let mut sheets = Sheets::default();
        let wanted = pages(&[(0, 1)]);
        assert!(sheets.begin(KEY, &wanted));
        sheets.keep(KEY, &[0; SHEET_BYTES_MAX + 1], 1, 8);
        assert!(sheets.find(KEY, &wanted).is_none());
    }
}
