//! What reliable fields were set to of late, once for all peers.
//!
//! Contents lie in a ring of bytes, each in one piece; a second ring says whose they are. Places in the bytes are counted
//! from the beginning of time, so that a content is gone exactly when more than a whole ring was written after it began:
//!
//! ```text
//!   bytes   │ 41 │ 42 ──── │ (unused: 43 did not fit) │      the next content overwrites 39, which is forgotten first
//!           └────────── then from the start: 43, 44 …
//! ```

use std::collections::VecDeque;

use crate::world::ObjectIndex;

/// Changes kept, however short their contents: more than the busiest tick of a game has.
const CHANGES_MAX: usize = 8_192;

/// A value that a field was set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedProperty<'a> {
    /// Whose field it is.
    pub object: ObjectIndex,
    /// The index of the field.
    pub field: usize,
    /// The content of the value.
    pub content: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Change {
    object: ObjectIndex,
    field: u8,
    length: u32,
    /// Where the content begins, counted from the beginning of time.
    start: u64,
}

/// A bounded memory of changes, numbered in the order in which they were made.
#[derive(Debug)]
pub struct PropertyLog {
    bytes: Box<[u8]>,
    changes: VecDeque<Change>,
    /// The number of the oldest change that is kept.
    first: u64,
    /// Where the next content begins.
    next_start: u64,
}

impl PropertyLog {
    /// A log of so many bytes of contents; zero keeps nothing.
    pub fn new(bytes_max: usize) -> PropertyLog {
        let changes = VecDeque::with_capacity(if bytes_max > 0 { CHANGES_MAX } else { 0 });
        PropertyLog { bytes: vec![0; bytes_max].into(), changes, first: 0, next_start: 0 }
    }

    /// The number of the oldest change that is kept.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next change gets.
    pub fn end(&self) -> u64 {
        self.first + self.changes.len() as u64
    }

    /// A change by its number; `None` if it is forgotten or has not happened yet.
    pub fn get(&self, number: u64) -> Option<LoggedProperty<'_>> {
        let change = self.changes.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let start = (change.start % self.bytes.len().max(1) as u64) as usize;
        let content = self.bytes.get(start..start + change.length as usize)?;
        Some(LoggedProperty { object: change.object, field: usize::from(change.field), content })
    }

    /// Notes a change, and forgets the oldest ones that it takes the room of.
    pub fn push(&mut self, object: ObjectIndex, field: usize, content: &[u8]) {
        let capacity = self.bytes.len() as u64;
        let length = content.len() as u64;
        if capacity == 0 || length > capacity {
            // A change that cannot be kept is one that everybody has missed.
            self.first = self.end() + 1;
            self.changes.clear();
            return;
        }
        if self.next_start % capacity + length > capacity {
            self.next_start = self.next_start.next_multiple_of(capacity);
        }
        let start = self.next_start;
        self.next_start += length;
        let is_overwritten = |oldest: &Change| oldest.start + capacity < start + length;
        while self.changes.len() == CHANGES_MAX || self.changes.front().is_some_and(is_overwritten) {
            self.changes.pop_front();
            self.first += 1;
        }
        let place = (start % capacity) as usize;
        self.bytes[place..place + content.len()].copy_from_slice(content);
        self.changes.push_back(Change { object, field: field as u8, length: length as u32, start });
    }
}
