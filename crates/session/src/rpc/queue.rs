//! Things with bytes, first in, first out, bounded in number and bytes.
//!
//! Calls that are kept for a moment all need the same: an order, an end, and no allocation for each. The bytes of all lie
//! one after the other in one buffer, and each thing knows only its length.

use std::collections::VecDeque;

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub items: usize,
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Item<T> {
    head: T,
    length: usize,
}

/// The queue. Its memory grows to what was needed once and stays.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    items: VecDeque<Item<T>>,
    bytes: Vec<u8>,
    room: Room,
}

impl<T: Copy> Queue<T> {
    pub fn new(room: Room) -> Queue<T> {
        Queue { items: VecDeque::new(), bytes: Vec::new(), room }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn fits(&self, bytes: usize) -> bool {
        self.items.len() < self.room.items && bytes <= self.room.bytes.saturating_sub(self.bytes.len())
    }

    /// Adds one at the end if it [fits](Queue::fits).
    pub fn push(&mut self, head: T, bytes: &[u8]) -> bool {
        let fits = self.fits(bytes.len());
        if fits {
            self.items.push_back(Item { head, length: bytes.len() });
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    pub fn first(&self) -> Option<&T> {
        self.items.front().map(|item| &item.head)
    }

    /// All of them, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (T, &[u8])> {
        let mut rest = &*self.bytes;
        self.items.iter().map(move |item| {
            let (bytes, after) = rest.split_at_checked(item.length).unwrap_or_default();
            rest = after;
            (item.head, bytes)
        })
    }

    /// Removes those that `is_leaving` says, after it saw them.
    pub fn remove_if(&mut self, mut is_leaving: impl FnMut(&T, &[u8]) -> bool) {
        let Queue { items, bytes, .. } = self;
        let (mut from, mut to) = (0, 0);
        items.retain(|item| {
            let range = from..from + item.length;
            from = range.end;
            if is_leaving(&item.head, bytes.get(range.clone()).unwrap_or_default()) {
                return false;
            }
            bytes.copy_within(range, to);
            to += item.length;
            true
        });
        bytes.truncate(to);
    }

    /// Removes the oldest `count`.
    pub fn remove_first(&mut self, count: usize) {
        let mut left = count;
        self.remove_if(|_, _| {
            let is_leaving = left > 0;
            left = left.saturating_sub(1);
            is_leaving
        });
    }

    pub fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
    }
}
