//! Aliases: small, reusable names of objects, and the pool that hands them out.
//!
//! A wire alias is a 16-bit slot and an 8-bit generation. Packets arrive late, so a slot that was given to a new object
//! must not accept a packet meant for the old one. Three rules make that safe:
//!
//! - the generation is raised when the alias is *released*, so that a late packet fails at once, not only after reuse;
//! - a slot knows whether it is live, so that guessing the next generation finds nothing;
//! - free slots are reused first in, first out, and not before they were quarantined, so that one busy slot does not
//!   run through its 256 generations while packets of the first are still in flight.
//!
//! ```text
//!   allocate ──► live (slot 7, generation 3) ──release──► quarantine (generation 4) ──time──► allocate
//! ```

use std::collections::VecDeque;

use crate::time::Micros;

/// The name of an object on one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alias {
    /// The index of the object's slot.
    pub slot: u16,
    /// Which lifetime of the slot is meant.
    pub generation: u8,
}

impl Alias {
    /// The opaque integer that scripts see: `slot | generation << 16`.
    pub const fn to_script_int(self) -> u32 {
        self.slot as u32 | (self.generation as u32) << 16
    }

    /// The inverse of [`Alias::to_script_int`]; `None` for integers that it never yields.
    pub const fn from_script_int(value: u32) -> Option<Alias> {
        if value >> 24 != 0 {
            return None;
        }
        Some(Alias { slot: value as u16, generation: (value >> 16) as u8 })
    }
}

/// Why a pool refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AliasError {
    /// The pool was asked for with a size that it cannot have.
    #[error("capacity is {capacity}, allowed are 1 to 65536")]
    InvalidCapacity {
        /// The size asked for.
        capacity: usize,
    },
    /// Every slot is live or still quarantined.
    #[error("every alias is in use or in quarantine")]
    Exhausted,
    /// The alias is not live: it was never given, was released already, or belongs to an earlier lifetime.
    #[error("the alias is not live")]
    NotLive,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    generation: u8,
    live: bool,
}

/// Hands out aliases. All memory is taken at construction.
#[derive(Clone, Debug)]
pub struct AliasPool {
    slots: Vec<Slot>,
    /// How many slots were ever used; the ones after are fresh.
    used: usize,
    /// Released slots and when they were released, oldest first.
    released: VecDeque<(u16, Micros)>,
    quarantine: Micros,
}

impl AliasPool {
    /// A pool of `capacity` slots, each of which rests for `quarantine` before it is reused.
    ///
    /// With a quarantine of q a generation comes back no sooner than after 256 × q.
    pub fn new(capacity: usize, quarantine: Micros) -> Result<AliasPool, AliasError> {
        if capacity == 0 || capacity > 1 << 16 {
            return Err(AliasError::InvalidCapacity { capacity });
        }
        Ok(AliasPool {
            slots: vec![Slot::default(); capacity],
            used: 0,
            released: VecDeque::with_capacity(capacity),
            quarantine,
        })
    }

    /// Gives an alias: a fresh slot while there is one, else the one that was released longest ago.
    pub fn allocate(&mut self, now: Micros) -> Result<Alias, AliasError> {
        let index = if self.used < self.slots.len() {
            self.used += 1;
            self.used - 1
        } else {
            match self.released.front() {
                Some(&(slot, released_at)) if now.since(released_at) >= self.quarantine => {
                    self.released.pop_front();
                    usize::from(slot)
                }
                _ => return Err(AliasError::Exhausted),
            }
        };
        let slot = self.slots.get_mut(index).ok_or(AliasError::Exhausted)?;
        slot.live = true;
        Ok(Alias { slot: index as u16, generation: slot.generation })
    }

    /// Takes an alias back. From now on it is not live, and its slot rests for the quarantine.
    pub fn release(&mut self, alias: Alias, now: Micros) -> Result<(), AliasError> {
        match self.slots.get_mut(usize::from(alias.slot)) {
            Some(slot) if slot.live && slot.generation == alias.generation => {
                *slot = Slot { generation: alias.generation.wrapping_add(1), live: false };
                self.released.push_back((alias.slot, now));
                Ok(())
            }
            _ => Err(AliasError::NotLive),
        }
    }

    /// Whether `alias` names a live object; packets for any other alias are dropped.
    pub fn is_live(&self, alias: Alias) -> bool {
        self.slots
            .get(usize::from(alias.slot))
            .is_some_and(|slot| slot.live && slot.generation == alias.generation)
    }

    /// How many aliases are live.
    pub fn live_count(&self) -> usize {
        self.used - self.released.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUARANTINE: Micros = Micros(1_000);

    #[test]
    fn a_released_alias_is_dead_before_its_slot_is_reused() {
        let mut pool = AliasPool::new(1, QUARANTINE).unwrap();
        let first = pool.allocate(Micros(0)).unwrap();
        assert!(pool.is_live(first));
        pool.release(first, Micros(10)).unwrap();
        assert!(!pool.is_live(first));
        assert!(!pool.is_live(Alias { slot: 0, generation: 1 }), "the next generation is not live yet");
        assert_eq!(pool.release(first, Micros(11)), Err(AliasError::NotLive));
    }

    #[test]
    fn a_slot_rests_for_the_quarantine() {
        let mut pool = AliasPool::new(1, QUARANTINE).unwrap();
        let first = pool.allocate(Micros(0)).unwrap();
        pool.release(first, Micros(10)).unwrap();
        assert_eq!(pool.allocate(Micros(1_009)), Err(AliasError::Exhausted));
        assert_eq!(pool.allocate(Micros(1_010)), Ok(Alias { slot: 0, generation: 1 }));
    }

    #[test]
    fn fresh_slots_come_first_then_the_longest_rested() {
        let mut pool = AliasPool::new(3, Micros(0)).unwrap();
        let [a, b] = [0, 1].map(|_| pool.allocate(Micros(0)).unwrap());
        pool.release(b, Micros(1)).unwrap();
        pool.release(a, Micros(2)).unwrap();
        let slots: Vec<_> = (0..3).map(|_| pool.allocate(Micros(3)).unwrap().slot).collect();
        assert_eq!(slots, [2, b.slot, a.slot]);
        assert_eq!(pool.live_count(), 3);
    }

    #[test]
    fn script_integers_are_slot_and_generation() {
        let alias = Alias { slot: 0x1234, generation: 0x56 };
        assert_eq!(alias.to_script_int(), 0x56_1234);
        assert_eq!(Alias::from_script_int(0x56_1234), Some(alias));
        assert_eq!(Alias::from_script_int(0x100_0000), None);
    }

    #[test]
    fn impossible_capacities_are_refused() {
        assert_eq!(AliasPool::new(0, QUARANTINE).err(), Some(AliasError::InvalidCapacity { capacity: 0 }));
        assert_eq!(
            AliasPool::new(65_537, QUARANTINE).err(),
            Some(AliasError::InvalidCapacity { capacity: 65_537 })
        );
        assert!(AliasPool::new(65_536, QUARANTINE).is_ok());
    }

    proptest! {
        #[test]
        fn no_alias_is_given_twice_within_the_quarantine(operations in proptest::collection::vec((any::<bool>(), 0usize..8, 0u64..700), 0..200)) {
            let mut pool = AliasPool::new(8, QUARANTINE).unwrap();
            let mut live: Vec<Alias> = Vec::new();
            let mut rested: Vec<(u16, Micros)> = Vec::new();
            let mut now = Micros(0);
            for (allocate, index, step) in operations {
                now += Micros(step);
                if allocate {
                    if let Ok(alias) = pool.allocate(now) {
                        prop_assert!(live.iter().all(|other| other.slot != alias.slot));
                        prop_assert!(rested.iter().all(|&(slot, at)| slot != alias.slot || now.since(at) >= QUARANTINE));
                        live.push(alias);
                    }
                } else if index < live.len() {
                    let alias = live.swap_remove(index);
                    pool.release(alias, now).unwrap();
                    rested.push((alias.slot, now));
                }
                prop_assert_eq!(pool.live_count(), live.len());
                prop_assert!(live.iter().all(|&alias| pool.is_live(alias)));
            }
        }
    }
}
