//! Objects among the arguments of calls, before it is known who will read them.
//!
//! Arguments are encoded before anybody's aliases are known. Until then an object is a number, counted up, in the place of an
//! alias, of which it has the 24 bits. A number that is no longer in use is nobody: what a game kept too long means nothing
//! rather than something else.

use std::collections::VecDeque;
use std::ops::Range;

use netloom_replica::world::ObjectIndex;
use netloom_wire::Alias;

/// Objects that have a number at once.
pub(super) const NAMED_MAX: usize = 1 << 16;

/// Objects among arguments, which have a number in place of an alias until it is known whose.
#[derive(Debug, Default)]
pub(super) struct Named {
    objects: VecDeque<ObjectIndex>,
    /// The number of the first.
    first: u64,
}

impl Named {
    /// Gives an object a number; `None` if too many have one.
    pub fn add(&mut self, object: ObjectIndex) -> Option<Alias> {
        if self.objects.len() == NAMED_MAX {
            return None;
        }
        let number = self.end();
        self.objects.push_back(object);
        Some(Alias { slot: number as u16, generation: (number >> 16) as u8 })
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The number that comes next.
    pub fn end(&self) -> u64 {
        self.first + self.objects.len() as u64
    }

    /// The number that an alias stands for, if that is in use.
    pub fn number(&self, alias: Alias) -> Option<u64> {
        let low = u64::from(alias.slot) | u64::from(alias.generation) << 16;
        let ahead = low.wrapping_sub(self.first) & 0xff_ffff;
        (ahead < self.objects.len() as u64).then(|| self.first + ahead)
    }

    /// The object that an alias stands for.
    pub fn get(&self, alias: Alias) -> Option<ObjectIndex> {
        let place = self.number(alias)?.checked_sub(self.first)?;
        self.objects.get(place as usize).copied()
    }

    /// Those with these numbers.
    pub fn range(&self, numbers: &Range<u64>) -> impl Iterator<Item = &ObjectIndex> {
        let [start, end] = [numbers.start, numbers.end]
            .map(|number| (number.saturating_sub(self.first) as usize).min(self.objects.len()));
        self.objects.range(start..end.max(start))
    }

    /// Forgets those below a number.
    pub fn forget(&mut self, until: u64) {
        let count = (until.saturating_sub(self.first) as usize).min(self.objects.len());
        self.objects.drain(..count);
        self.first += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use netloom_replica::world::{World, WorldConfig};
    use netloom_replica::{Class, ClassId};
    use netloom_wire::schema::{FieldKind, SyncFlags};
    use netloom_wire::{ObjectId, Schema};

    use super::*;

    fn objects(count: u64) -> Vec<ObjectIndex> {
        let schema = Schema::builder("thing").field("x", FieldKind::F32, SyncFlags::PUBLIC_SYNC, 1).build();
        let classes = vec![Class::new(schema.unwrap()).unwrap()];
        let mut world = World::new(classes, WorldConfig::default()).unwrap();
        let spawn = |id| netloom_replica::world::Spawn::new(ObjectId(id), ClassId(0));
        (1..=count).map(|id| world.spawn(spawn(id)).unwrap()).collect()
    }

    #[test]
    fn a_number_is_its_object_until_it_is_forgotten_and_also_where_24_bits_end() {
        let objects = objects(4);
        let mut named = Named { first: (1 << 24) - 2, ..Named::default() };
        let aliases: Vec<Alias> = objects.iter().map(|object| named.add(*object).unwrap()).collect();
        assert_eq!(aliases[2], Alias { slot: 0, generation: 0 }, "after all ones");
        for (alias, object) in aliases.iter().zip(&objects) {
            assert_eq!(named.get(*alias), Some(*object));
        }
        let middle = named.number(aliases[1]).unwrap()..named.end() - 1;
        assert!(named.range(&middle).eq(&objects[1..3]));
        named.forget(middle.end);
        let left: Vec<Option<ObjectIndex>> = aliases.iter().map(|alias| named.get(*alias)).collect();
        assert_eq!(left, [None, None, None, Some(objects[3])]);
        assert_eq!(named.range(&middle).count(), 0);
        named.forget(u64::MAX);
        assert!(named.is_empty());
    }

    #[test]
    fn there_is_an_end_to_how_many_have_a_number() {
        let object = objects(1)[0];
        let mut named = Named::default();
        assert!((0..NAMED_MAX).all(|_| named.add(object).is_some()));
        assert_eq!(named.add(object), None);
        named.forget(1);
        assert!(named.add(object).is_some());
    }
}
