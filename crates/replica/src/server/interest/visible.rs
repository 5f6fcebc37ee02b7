//! What one viewer sees, and how that changed.
//!
//! Entering and leaving cost bytes and attention, so only the difference to what was seen before is told. Both the
//! previous set and the new findings are in ascending order; one walk over the two gives what entered, what stayed
//! and what left. A place in the world may change hands between two looks: each object has a birth number, and an
//! entry whose birth is not that of the object found has left, whatever stands in its place now.

use netloom_wire::Tick;

use super::audience::Membership;
use super::marks::{Block, Marks};
use crate::limits::VISIBLE_MAX;

/// What changed for one viewer. The lists are ascending. An object index in both means that another object has taken
/// the place of one that was seen: handle `left` first.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Objects that are seen from now on.
    pub entered: Vec<u32>,
    /// Objects that are seen no longer.
    pub left: Vec<u32>,
    /// Objects near enough that found no room, for a viewer has at most [`VISIBLE_MAX`] aliases.
    pub crowded_out: u32,
}

impl Changes {
    pub(super) fn clear(&mut self) {
        self.entered.clear();
        self.left.clear();
        self.crowded_out = 0;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) object: u32,
    pub(super) birth: u32,
    pub(super) since: Tick,
}

/// The objects that one viewer sees, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct VisibleSet {
    entries: Vec<Entry>,
    /// The same objects as bits.
    blocks: Vec<Block>,
    /// Under which membership, and after which round of changes, the set was right; `None` if it must be made anew.
    pub(super) judged: Option<(Membership, u32)>,
}

impl VisibleSet {
    /// An empty set: its first update looks at everything.
    pub fn new() -> VisibleSet {
        VisibleSet::default()
    }

    /// How many objects are seen.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is seen.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The objects, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.entries.iter().map(|entry| entry.object)
    }

    /// Whether an object is seen.
    pub fn contains(&self, object: u32) -> bool {
        self.birth(object).is_some()
    }

    /// Makes the next update look at everything, as after a teleport of the viewer.
    pub fn expire(&mut self) {
        self.judged = None;
    }

    pub(super) fn birth(&self, object: u32) -> Option<u32> {
        let place = self.entries.binary_search_by_key(&object, |entry| entry.object).ok()?;
        Some(self.entries[place].birth)
    }

    /// Empties the findings if they change nothing. Asks no births: nothing in the set may have been replaced.
    pub(super) fn agrees(&self, found: &mut Marks) -> bool {
        found.drain_if_same(&self.blocks)
    }

    /// Merges findings into the set. An entry that was not found stays if `stays` says so.
    pub(super) fn merge(
        &mut self,
        found: &mut Marks,
        births: &[u32],
        tick: Tick,
        stays: impl Fn(&Entry) -> bool,
        next: &mut Vec<Entry>,
        changes: &mut Changes,
    ) {
        next.clear();
        let previous = self.entries.as_slice();
        let mut cursor = 0;
        found.drain(|object, enters| {
            while let Some(entry) = previous.get(cursor).filter(|entry| entry.object < object) {
                keep_or_leave(entry, stays(entry), next, changes);
                cursor += 1;
            }
            let birth = births[object as usize];
            if let Some(entry) = previous.get(cursor).filter(|entry| entry.object == object) {
                cursor += 1;
                keep_or_leave(entry, entry.birth == birth, next, changes);
                if entry.birth == birth {
                    return;
                }
            }
            if !enters {
                return;
            }
            // What has not left yet still holds its alias, so it counts although it may leave later in this walk.
            if previous.len() - changes.left.len() + changes.entered.len() >= VISIBLE_MAX {
                changes.crowded_out += 1;
                return;
            }
            changes.entered.push(object);
            next.push(Entry { object, birth, since: tick });
        });
        for entry in &previous[cursor..] {
            keep_or_leave(entry, stays(entry), next, changes);
        }
        if !changes.entered.is_empty() || !changes.left.is_empty() {
            // Copied, not swapped: buffers that wander between viewers would all have to grow to the largest.
            self.entries.clear();
            self.entries.extend_from_slice(next);
            self.blocks.clear();
            next.iter().for_each(|entry| Block::push(&mut self.blocks, entry.object));
        }
    }
}

#[inline]
fn keep_or_leave(entry: &Entry, stays: bool, next: &mut Vec<Entry>, changes: &mut Changes) {
    if stays {
        next.push(*entry);
    } else {
        changes.left.push(entry.object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(set: &mut VisibleSet, found: &[u32], births: &[u32]) -> Changes {
        let (mut marks, mut changes) = (Marks::default(), Changes::default());
        marks.reserve(births.len());
        found.iter().for_each(|index| marks.mark(*index, true));
        set.merge(&mut marks, births, Tick(0), |_| false, &mut Vec::new(), &mut changes);
        changes
    }

    #[test]
    fn the_difference_of_two_sets_is_told_in_order() {
        let births = [1; 10];
        let mut set = VisibleSet::new();
        assert_eq!(merge(&mut set, &[7, 1, 3], &births).entered, [1, 3, 7]);
        let changes = merge(&mut set, &[9, 3, 0], &births);
        assert_eq!((changes.entered, changes.left), (vec![0, 9], vec![1, 7]));
        assert!(set.iter().eq([0, 3, 9]));
        assert!(set.contains(3) && !set.contains(7));
    }

    #[test]
    fn another_object_in_the_same_place_is_a_leave_and_an_enter() {
        let mut set = VisibleSet::new();
        merge(&mut set, &[2], &[1, 1, 1]);
        let changes = merge(&mut set, &[2], &[1, 1, 4]);
        assert_eq!((changes.entered, changes.left), (vec![2], vec![2]));
        assert_eq!(set.birth(2), Some(4));
    }

    #[test]
    fn a_full_set_takes_nothing_in_until_something_left() {
        let births = vec![1; VISIBLE_MAX + 2];
        let everything: Vec<u32> = (0..births.len() as u32).collect();
        let mut set = VisibleSet::new();
        assert_eq!(merge(&mut set, &everything, &births).crowded_out, 2);
        assert_eq!(set.len(), VISIBLE_MAX);
        let changes = merge(&mut set, &everything[1..], &births);
        assert_eq!((changes.entered, changes.left), (vec![VISIBLE_MAX as u32], vec![0]));
        assert_eq!((set.len(), changes.crowded_out), (VISIBLE_MAX, 1));
    }
}
