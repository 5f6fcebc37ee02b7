//! One object as a client holds it.

use netloom_wire::schema::{Audience, Value};
use netloom_wire::{Alias, Profile, SectorOrigin, Tick};

use crate::class::Class;
use crate::entry::{Entry, value_of};
use crate::limits::VERSIONS_KEPT;

/// An object, with the states of it that arrived.
#[derive(Debug)]
pub struct ClientObject {
    entry: Entry,
    /// The tick of the entry: nothing older can be read.
    entered: Tick,
    /// One that left is kept until its slot is used again: late snapshots still have to be read past it.
    is_in_sight: bool,
    word_count: usize,
    ticks: [Tick; VERSIONS_KEPT],
    words: Vec<i32>,
    count: usize,
    newest: usize,
    contents: Vec<Vec<u8>>,
    teleported: bool,
}

impl ClientObject {
    pub(super) fn new(entry: Entry, tick: Tick, class: &Class, words: &[i32]) -> ClientObject {
        let word_count = class.word_count();
        let mut object = ClientObject {
            entry,
            entered: tick,
            is_in_sight: true,
            word_count,
            ticks: [Tick(0); VERSIONS_KEPT],
            words: vec![0; VERSIONS_KEPT * word_count],
            count: 0,
            newest: 0,
            contents: vec![Vec::new(); class.fields().len()],
            teleported: entry.teleport,
        };
        object.insert(tick, &words[..word_count], entry.teleport);
        object
    }

    /// What it is called on this connection.
    pub fn alias(&self) -> Alias {
        self.entry.alias
    }

    /// The number of its kind.
    pub fn class(&self) -> u8 {
        self.entry.class
    }

    /// What this client is to it.
    pub fn audience(&self) -> Audience {
        self.entry.audience
    }

    /// The slot of what it is attached to.
    pub fn parent(&self) -> Option<u16> {
        self.entry.parent
    }

    /// How its transform is quantized.
    pub fn profile(&self) -> Profile {
        self.entry.profile
    }

    /// What its position is relative to.
    pub fn origin(&self) -> SectorOrigin {
        self.entry.origin
    }

    /// Its newest words.
    pub fn words(&self) -> &[i32] {
        self.row(self.newest)
    }

    /// The tick of its newest state.
    pub fn tick(&self) -> Tick {
        self.ticks[self.newest]
    }

    /// Whether it jumped to its newest state.
    pub fn teleported(&self) -> bool {
        self.teleported
    }

    /// The newest value of a field.
    pub fn value(&self, class: &Class, field: usize) -> Option<Value<'_>> {
        let words = class.fields().get(field)?;
        Some(value_of(words, self.words(), self.entry.profile, self.contents.get(field)?))
    }

    /// Whether an entry says what is known already, the words apart.
    pub(super) fn is_same(&self, entry: &Entry) -> bool {
        self.is_in_sight && Entry { teleport: self.entry.teleport, ..*entry } == self.entry
    }

    pub(super) fn is_in_sight(&self) -> bool {
        self.is_in_sight
    }

    pub(super) fn entered(&self) -> Tick {
        self.entered
    }

    pub(super) fn leave(&mut self) {
        self.is_in_sight = false;
    }

    /// The state that a snapshot of this tick brought.
    pub(super) fn state_at(&self, tick: Tick) -> Option<&[i32]> {
        let row = self.ticks[..self.count].iter().position(|&kept| kept == tick)?;
        Some(self.row(row))
    }

    /// Keeps a state. The oldest gives way; the newest is what the game sees.
    pub(super) fn insert(&mut self, tick: Tick, words: &[i32], teleported: bool) {
        if self.ticks[..self.count].contains(&tick) {
            return;
        }
        let row = if self.count < VERSIONS_KEPT {
            self.count += 1;
            self.count - 1
        } else {
            let oldest = (0..VERSIONS_KEPT)
                .reduce(|a, b| if self.ticks[a].is_newer_than(self.ticks[b]) { b } else { a });
            oldest.unwrap_or(0)
        };
        let was_newest = self.ticks[self.newest];
        let start = row * self.word_count;
        self.words[start..start + self.word_count].copy_from_slice(words);
        self.ticks[row] = tick;
        if self.count == 1 || tick.is_newer_than(was_newest) {
            self.newest = row;
            self.teleported = teleported;
        }
    }

    pub(super) fn set_content(&mut self, field: usize, content: &[u8]) {
        if let Some(kept) = self.contents.get_mut(field) {
            kept.clear();
            kept.extend_from_slice(content);
        }
    }

    fn row(&self, row: usize) -> &[i32] {
        &self.words[row * self.word_count..(row + 1) * self.word_count]
    }
}
