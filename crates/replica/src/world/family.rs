//! Who is attached to whom.
//!
//! A parent that moves moves its children, and one that is despawned frees them, so both directions are kept: each
//! object knows its parent, its first child and its neighbours among the children of its parent.

use crate::bits::Bits;

/// How many objects may be attached in a chain. A turret on a tank on a train on a ferry needs three.
pub const ATTACH_DEPTH_MAX: usize = 8;

const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Links {
    parent: u32,
    first_child: u32,
    next: u32,
    previous: u32,
}

const ALONE: Links = Links { parent: NOBODY, first_child: NOBODY, next: NOBODY, previous: NOBODY };

/// The links of all objects, by slot.
#[derive(Debug, Default)]
pub(super) struct Family {
    links: Vec<Links>,
    attached: Bits,
}

impl Family {
    /// Makes room for a slot, which is attached to nothing.
    pub fn open(&mut self, slot: usize) {
        if slot >= self.links.len() {
            self.links.resize(slot + 1, ALONE);
            self.attached.reserve(slot + 1);
        }
        self.links[slot] = ALONE;
    }

    pub fn parent(&self, slot: usize) -> Option<usize> {
        somebody(self.links[slot].parent)
    }

    /// Whether it is attached to nothing, and nothing to it.
    #[inline]
    pub fn is_alone(&self, slot: usize) -> bool {
        let Links { parent, first_child, .. } = self.links[slot];
        parent == NOBODY && first_child == NOBODY
    }

    /// Everything that is attached to something, by slot.
    pub fn attached(&self) -> &Bits {
        &self.attached
    }

    pub fn first_child(&self, slot: usize) -> Option<usize> {
        somebody(self.links[slot].first_child)
    }

    /// The parent, its parent, and so on.
    pub fn ancestors(&self, slot: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(slot), |&ancestor| self.parent(ancestor))
    }

    /// The object after `slot` among `root` and its descendants, parents before children.
    pub fn next_descendant(&self, root: usize, slot: usize) -> Option<usize> {
        if let Some(child) = self.first_child(slot) {
            return Some(child);
        }
        let mut slot = slot;
        while slot != root {
            if let Some(next) = somebody(self.links[slot].next) {
                return Some(next);
            }
            slot = self.parent(slot)?;
        }
        None
    }

    /// The longest chain from `root` down.
    pub fn height(&self, root: usize) -> usize {
        let depth_of = |slot| self.ancestors(slot).take_while(|&ancestor| ancestor != root).count() + 1;
        let mut height = 0;
        let mut next = self.next_descendant(root, root);
        while let Some(slot) = next {
            height = height.max(depth_of(slot));
            next = self.next_descendant(root, slot);
        }
        height
    }

    /// Makes `slot` a child of `parent`, or of nobody.
    pub fn attach(&mut self, slot: usize, parent: Option<usize>) {
        let Links { parent: old_parent, next, previous, .. } = self.links[slot];
        if let Some(next) = somebody(next) {
            self.links[next].previous = previous;
        }
        match (somebody(previous), somebody(old_parent)) {
            (Some(previous), _) => self.links[previous].next = next,
            (None, Some(old_parent)) => self.links[old_parent].first_child = next,
            (None, None) => {}
        }
        let first = parent.map_or(NOBODY, |parent| self.links[parent].first_child);
        match parent {
            Some(_) => self.attached.insert(slot),
            None => self.attached.remove(slot),
        }
        let child = &mut self.links[slot];
        (child.parent, child.next, child.previous) =
            (parent.map_or(NOBODY, |parent| parent as u32), first, NOBODY);
        if let Some(first) = somebody(first) {
            self.links[first].previous = slot as u32;
        }
        if let Some(parent) = parent {
            self.links[parent].first_child = slot as u32;
        }
    }
}

fn somebody(link: u32) -> Option<usize> {
    (link != NOBODY).then_some(link as usize)
}
