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
//! What does not fit a datagram goes on in another: the rest is a sheet of its own, for those with the same room.
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

/// Baselines whose sheets are kept. Peers at different distances build on different ticks, usually four apart.
const KEYS: usize = 4;

/// Sheets of each: what does not fit one datagram goes on in others.
const PARTS: usize = 8;

/// Slots from which on it is another part: about as many as a datagram holds of long codes.
const PART_SLOTS: usize = 32;

/// What all updates of a sheet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SheetKey {
    /// Of the snapshots.
    pub tick: Tick,
    /// What the codes are encoded against.
    pub baselines: Key,
}

impl SheetKey {
    /// Where the sheet is kept of what is chosen in these pages.
    fn place(self, pages: &Pages) -> usize {
        let first = pages.chosen().next();
        let slot = first.map_or(0, |(at, page)| at * 64 + page.chosen.trailing_zeros() as usize);
        usize::from(self.baselines.newer_age) / 4 % KEYS * PARTS + slot / PART_SLOTS % PARTS
    }
}

/// All updates of a snapshot.
#[derive(Debug)]
pub(super) struct Sheet {
    key: Option<SheetKey>,
    /// Pages, and which slots of them were to be told, in their order.
    chosen: Vec<(u32, u64)>,
    /// Of these, which have an update.
    slots: Vec<(u32, u64)>,
    /// The room in which there was none for more; `None` if all are in it.
    room: Option<usize>,
    length: usize,
    /// How many updates there are, and the bits of all together.
    pub count: usize,
    pub bits: usize,
    bytes: [u8; SHEET_BYTES_MAX],
}

impl Sheet {
    fn empty() -> Sheet {
        let [chosen, slots] = [(); 2].map(|()| Vec::with_capacity(SHEET_PAGES_MAX));
        let bytes = [0; SHEET_BYTES_MAX];
        Sheet { key: None, chosen, slots, room: None, length: 0, count: 0, bits: 0, bytes }
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
        Sheets((0..KEYS * PARTS).map(|_| Sheet::empty()).collect())
    }
}

impl Sheets {
    /// The sheet for a peer with so much room, if all that is chosen for it is common and somebody else was told it.
    pub fn find(&self, key: SheetKey, pages: &Pages, room: usize) -> Option<&Sheet> {
        let sheet = self.0.get(key.place(pages)).filter(|sheet| sheet.key == Some(key))?;
        let fits = sheet.room.map_or(sheet.length <= room, |full| full == room);
        let chosen = pages.chosen().map(|(at, page)| (at as u32, page.common_chosen()));
        let is_same = || sheet.chosen.iter().map(|&(at, slots)| (at, Some(slots))).eq(chosen);
        (fits && is_same()).then_some(sheet)
    }

    /// A peer is about to be told what is chosen for it: where that is kept, if others may be told the same.
    pub fn begin(&mut self, key: SheetKey, pages: &Pages) -> Option<usize> {
        let place = key.place(pages);
        let sheet = self.0.get_mut(place)?;
        sheet.key = None;
        sheet.chosen.clear();
        for (at, page) in pages.chosen() {
            let slots = page.common_chosen().filter(|_| sheet.chosen.len() < SHEET_PAGES_MAX)?;
            sheet.chosen.push((at as u32, slots));
        }
        Some(place)
    }

    /// It was told these bytes, with so many updates in so many bits; what is still chosen had no place in so much room.
    pub fn keep(
        &mut self,
        place: usize,
        key: SheetKey,
        pages: &Pages,
        room: usize,
        (bytes, count, bits): (&[u8], usize, usize),
    ) {
        let Some(sheet) = self.0.get_mut(place) else { return };
        let Some(target) = sheet.bytes.get_mut(..bytes.len()) else { return };
        sheet.slots.clear();
        sheet.room = None;
        for &(at, chosen) in &sheet.chosen {
            let left = pages[at as usize].chosen;
            let written = chosen & !left;
            // What was left out before the end was so for reasons of its own.
            let is_ordered = left == 0 || written.leading_zeros() > 63 - left.trailing_zeros();
            if !is_ordered || (sheet.room.is_some() && written != 0) {
                return;
            }
            if left != 0 {
                sheet.room = Some(room);
            }
            if written != 0 {
                sheet.slots.push((at, written));
            }
        }
        target.copy_from_slice(bytes);
        (sheet.key, sheet.length, sheet.count, sheet.bits) = (Some(key), bytes.len(), count, bits);
    }
}

#[cfg(test)]
mod tests {
    use netloom_wire::schema::Audience;

    use super::*;

    const KEY: SheetKey =
        SheetKey { tick: Tick(7), baselines: Key { newer_age: 2, older_age: 6, audience: Audience::Public } };

    const ROOM: usize = 1_000;

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
        assert!(sheets.find(KEY, &wanted, ROOM).is_none());
        let place = sheets.begin(KEY, &wanted).expect("all of it is common");
        assert!(sheets.find(KEY, &wanted, ROOM).is_none(), "not told yet");
        sheets.keep(place, KEY, &pages(&[]), ROOM, (b"updates", 66, 51));
        assert!(sheets.find(KEY, &wanted, 6).is_none(), "it does not fit");
        let sheet = sheets.find(KEY, &wanted, 7).expect("it is kept");
        assert_eq!((sheet.bytes(), sheet.count, sheet.bits), (&b"updates"[..], 66, 51));
        assert_eq!(sheet.slots(), [(0, 0b11), (3, u64::MAX)]);
        for others in [&[(0, 0b11)][..], &[(0, 0b11), (4, u64::MAX)], &[(0, 0b111), (3, u64::MAX)]] {
            assert!(sheets.find(KEY, &pages(others), ROOM).is_none(), "{others:?}");
        }
        let older = Key { older_age: 10, ..KEY.baselines };
        for other in [SheetKey { tick: Tick(8), ..KEY }, SheetKey { baselines: older, ..KEY }] {
            assert!(sheets.find(other, &wanted, ROOM).is_none(), "{other:?}");
        }
    }

    #[test]
    fn slots_with_anything_of_their_own_are_on_no_sheet() {
        let mut sheets = Sheets::default();
        let common = pages(&[(1, 0b1110)]);
        let place = sheets.begin(KEY, &common).expect("all of it is common");
        sheets.keep(place, KEY, &pages(&[]), ROOM, (b"updates", 3, 51));
        let mut others = [(); 3].map(|()| pages(&[(1, 0b1110)]));
        others[0][1].special = 0b100;
        others[1][1].uniform = 0b1010;
        others[2][1].own = 0b0110;
        for pages in &others {
            assert!(sheets.find(KEY, pages, ROOM).is_none());
        }
        for pages in &others {
            assert!(sheets.begin(KEY, pages).is_none());
            assert!(sheets.find(KEY, &common, ROOM).is_none(), "what is begun replaces what was there");
        }
    }

    #[test]
    fn what_has_no_place_in_a_room_is_a_sheet_of_its_own_for_those_with_the_same() {
        let mut sheets = Sheets::default();
        let [all, rest] = [&[(0, 0b1111), (1, 0b11)][..], &[(0, 0b1000), (1, 0b11)]].map(pages);
        let place = sheets.begin(KEY, &all).expect("all of it is common");
        sheets.keep(place, KEY, &rest, ROOM, (b"three", 3, 40));
        let sheet = sheets.find(KEY, &all, ROOM).expect("it is kept");
        assert_eq!((sheet.bytes(), sheet.slots()), (&b"three"[..], &[(0, 0b111)][..]));
        assert!(sheets.find(KEY, &all, ROOM + 1).is_none(), "more may fit that");
        assert!(sheets.find(KEY, &rest, ROOM).is_none());
        let far = pages(&[(1, 0b11), (2, 1)]);
        let other = sheets.begin(KEY, &far).expect("all of it is common");
        sheets.keep(other, KEY, &pages(&[]), ROOM, (b"rest", 3, 30));
        assert!(sheets.find(KEY, &all, ROOM).is_some() && sheets.find(KEY, &far, ROOM).is_some());
    }

    #[test]
    fn what_leaves_one_out_in_between_is_not_kept() {
        for left in [&[(0, 0b0100), (1, 0b11)][..], &[(0, 0b1000), (1, 0b10)]].map(pages) {
            let mut sheets = Sheets::default();
            let all = pages(&[(0, 0b1111), (1, 0b11)]);
            let place = sheets.begin(KEY, &all).expect("all of it is common");
            sheets.keep(place, KEY, &left, ROOM, (b"some", 3, 40));
            assert!(sheets.find(KEY, &all, ROOM).is_none());
        }
    }

    #[test]
    fn what_is_too_long_for_a_datagram_is_not_kept() {
        let mut sheets = Sheets::default();
        let wanted = pages(&[(0, 1)]);
        let place = sheets.begin(KEY, &wanted).expect("all of it is common");
        sheets.keep(place, KEY, &pages(&[]), 9_000, (&[0; SHEET_BYTES_MAX + 1], 1, 8));
        assert!(sheets.find(KEY, &wanted, 9_000).is_none());
    }
}
