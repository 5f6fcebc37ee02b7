//! What an input makes appear, before the server has made it.
//!
//! A player who fires sees the bullet at once or feels nothing but delay. The client makes one of its own; when the
//! server's arrives, it must be recognised as the same, or there are two; and if the server made none, the client's has
//! to go. Both sides can tell which is which without talking about it, since they run the same step: a bullet is the
//! first, second … thing that the input of step 41 of this player made:
//!
//! ```text
//!   client   step 41: fire ──▶ own bullet, key (me, 41, 0)  ─ ─ ─ ─ ─ ─ ─ becomes the view of ▶ ╮
//!   server              step 41: fire ──▶ bullet with property key (me, 41, 0) ──▶ enters ──────╯
//! ```
//!
//! The server writes the key into a property of what it spawns, made of the step that it simulates and never of anything
//! that a client said; a field for the owner alone is enough.

use netloom_wire::Tick;

use crate::setting::SettingError;
use crate::world::OwnerId;

/// What an object that an input made is known by, on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpawnKey {
    owner: OwnerId,
    /// Of the step only what the wire has of it: client and server may count differently above.
    step: u16,
    index: u8,
}

impl SpawnKey {
    /// The `index`th thing, from 0 on, that the input of this player made in this step.
    pub fn new(owner: OwnerId, step: Tick, index: u8) -> SpawnKey {
        SpawnKey { owner, step: step.0 as u16, index }
    }

    /// As the value of a property of kind u64.
    pub fn to_bits(self) -> u64 {
        u64::from(self.owner.0) << 32 | u64::from(self.step) << 8 | u64::from(self.index)
    }

    /// From such a value; `None` if no key has it.
    pub fn from_bits(bits: u64) -> Option<SpawnKey> {
        let key =
            SpawnKey { owner: OwnerId((bits >> 32) as u32), step: (bits >> 8) as u16, index: bits as u8 };
        (key.to_bits() == bits).then_some(key)
    }
}

/// Why something was not noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    /// Too many wait already.
    #[error(
        "{max} predicted objects wait for the server already: show no more until some are matched or withdrawn"
    )]
    Full {
        /// As many as there may be.
        max: usize,
    },
    /// Something has this key.
    #[error("this step has a predicted object with this index already")]
    Taken,
}

/// One that waits for the server's.
#[derive(Debug)]
struct Waiting<T> {
    key: SpawnKey,
    step: Tick,
    local: T,
}

/// Objects that a client made ahead of the server. `T` is what the game knows its own by.
///
/// ```
/// use netloom_replica::client::predict::{PredictedSpawns, SpawnKey};
/// use netloom_replica::world::OwnerId;
/// use netloom_wire::Tick;
///
/// let me = OwnerId(7);
/// let mut spawns = PredictedSpawns::new(32, 20)?;
/// spawns.spawn(me, Tick(41), 0, "my bullet")?;
/// spawns.spawn(me, Tick(44), 0, "one that the server refuses")?;
///
/// // An object enters whose property has this value: it takes the place of the own one.
/// let bits = SpawnKey::new(me, Tick(41), 0).to_bits();
/// assert_eq!(spawns.match_spawn(bits), Some("my bullet"));
///
/// // The server has simulated twenty steps more and nothing entered.
/// spawns.handle_acked(Tick(64));
/// assert_eq!(spawns.poll_withdrawn(), Some("one that the server refuses"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PredictedSpawns<T> {
    waiting: Vec<Waiting<T>>,
    max: usize,
    grace_steps: u32,
    acked: Option<Tick>,
}

impl<T> PredictedSpawns<T> {
    /// At most `max`, 1 to 1,024, each withdrawn when the server has simulated its step and `grace_steps` more, 1 to 1,000,
    /// and not confirmed it: enough for an entry that is lost once.
    pub fn new(max: usize, grace_steps: u32) -> Result<PredictedSpawns<T>, SettingError> {
        SettingError::check("max", max, 1..=1_024, "1 to 1,024")?;
        SettingError::check("grace_steps", grace_steps, 1..=1_000, "1 to 1,000")?;
        Ok(PredictedSpawns { waiting: Vec::with_capacity(max), max, grace_steps, acked: None })
    }

    /// The game made something for an input.
    pub fn spawn(&mut self, owner: OwnerId, step: Tick, index: u8, local: T) -> Result<SpawnKey, SpawnError> {
        let key = SpawnKey::new(owner, step, index);
        if self.waiting.iter().any(|waiting| waiting.key == key) {
            return Err(SpawnError::Taken);
        }
        if self.waiting.len() == self.max {
            return Err(SpawnError::Full { max: self.max });
        }
        self.waiting.push(Waiting { key, step, local });
        Ok(key)
    }

    /// An object of the server entered with this key: the own one that it is; `None` if it is none of these, and then it
    /// is shown as any other.
    pub fn match_spawn(&mut self, key_bits: u64) -> Option<T> {
        let key = SpawnKey::from_bits(key_bits)?;
        let at = self.waiting.iter().position(|waiting| waiting.key == key)?;
        Some(self.waiting.remove(at).local)
    }

    /// The server has simulated a step.
    pub fn handle_acked(&mut self, step: Tick) {
        if self.acked.is_none_or(|acked| step.is_newer_than(acked)) {
            self.acked = Some(step);
        }
    }

    /// The next one that the server did not make: the game takes it away.
    pub fn poll_withdrawn(&mut self) -> Option<T> {
        let acked = self.acked?;
        let is_over = |waiting: &Waiting<T>| !waiting.step.plus(self.grace_steps).is_newer_than(acked);
        let at = self.waiting.iter().position(is_over)?;
        Some(self.waiting.remove(at).local)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ME: OwnerId = OwnerId(7);

    proptest! {
        #[test]
        fn keys_return_and_no_other_number_is_one(
            bits in any::<u64>(),
            owner in any::<u32>(),
            step in any::<u32>(),
            index in any::<u8>(),
        ) {
            let key = SpawnKey::new(OwnerId(owner), Tick(step), index);
            prop_assert_eq!(SpawnKey::from_bits(key.to_bits()), Some(key));
            prop_assert!(SpawnKey::from_bits(bits).is_none_or(|key| key.to_bits() == bits));
        }
    }

    #[test]
    fn the_server_s_object_is_the_own_one_and_others_are_not() {
        let mut spawns = PredictedSpawns::new(4, 10).unwrap();
        spawns.spawn(ME, Tick(41), 0, 'a').unwrap();
        spawns.spawn(ME, Tick(41), 1, 'b').unwrap();
        assert_eq!(
            spawns.match_spawn(SpawnKey::new(OwnerId(8), Tick(41), 0).to_bits()),
            None,
            "of another player"
        );
        assert_eq!(spawns.match_spawn(SpawnKey::new(ME, Tick(42), 0).to_bits()), None, "of another step");
        let high = SpawnKey::new(ME, Tick(41 + 3 * 65_536), 1).to_bits();
        assert_eq!(spawns.match_spawn(high), Some('b'), "the server counts further than the client");
        assert_eq!(spawns.match_spawn(high), None, "once");
        assert_eq!(spawns.len(), 1);
    }

    #[test]
    fn what_the_server_did_not_make_is_withdrawn_after_its_grace_and_not_before() {
        let mut spawns = PredictedSpawns::new(4, 10).unwrap();
        spawns.spawn(ME, Tick(u32::MAX - 2), 0, 'a').unwrap();
        spawns.handle_acked(Tick(6));
        assert_eq!(spawns.poll_withdrawn(), None);
        spawns.handle_acked(Tick(u32::MAX));
        spawns.handle_acked(Tick(7));
        assert_eq!((spawns.poll_withdrawn(), spawns.poll_withdrawn()), (Some('a'), None));
    }

    #[test]
    fn there_is_a_bound_and_a_key_is_given_once() {
        let mut spawns = PredictedSpawns::new(1, 10).unwrap();
        spawns.spawn(ME, Tick(1), 0, ()).unwrap();
        assert_eq!(spawns.spawn(ME, Tick(1), 0, ()), Err(SpawnError::Taken));
        assert_eq!(spawns.spawn(ME, Tick(1), 1, ()), Err(SpawnError::Full { max: 1 }));
        assert!(PredictedSpawns::<()>::new(0, 10).is_err() && PredictedSpawns::<()>::new(1, 0).is_err());
    }
}
