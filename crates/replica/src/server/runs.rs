//! What several peers are told alike is put together once.
//!
//! Where everybody sees everything, most peers are told the same of 64 slots: the same slots after the same gaps, with the
//! same codes behind them. Such a run is put together when it is asked for the second time in a tick, and from then on
//! copied:
//!
//! ```text
//!   first peer      gap │ mark │ code │ gap │ mark │ code │ …     one lookup and one store for each object
//!   second          the same into a place of its own, and from there
//!   all others      ▓▓▓▓▓▓▓▓ ▓▓▓▓▓▓▓▓ ▓▓▓▓▓▓▓▓ …                  eight bytes at a time
//! ```
//!
//! Nothing is kept of what only one peer is told, so crowds that all see different things lose a comparison for each page.
//! With 16 peers that see the same 200 objects, or 100 with 100, writing snapshots takes half of the time.

use netloom_wire::{BitWriter, Tick};

use super::wanted::Key;

/// Shorter ones are as soon written.
const OBJECTS_MIN: u32 = 8;

/// 64 codes with their gaps, of 16 bytes each on average, and what a [`BitWriter`] wants behind them: no more fits a datagram.
const RUN_BYTES: usize = 64 * 16 + 8;

/// Runs that are kept of a page. Peers at different distances build on different ticks, usually four apart.
const PLACES: usize = 4;

/// All that the bits of a run depend on, where slots have the numbers of their objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunKey {
    /// Of the snapshots.
    pub tick: Tick,
    /// What the codes are encoded against.
    pub baselines: Key,
    /// The slots of the page.
    pub slots: u64,
    /// The place in the page after the slot that was written before.
    pub after: u32,
}

impl RunKey {
    /// Whether it is worth the trouble.
    pub fn is_long(&self) -> bool {
        self.slots.count_ones() >= OBJECTS_MIN
    }

    /// Where it is kept.
    fn place(&self, at: usize) -> usize {
        at * PLACES + usize::from(self.baselines.newer_age) / 4 % PLACES
    }
}

/// What is known of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Somebody was told it.
    Seen,
    /// It is here, with so many bits.
    Kept(usize),
    /// It cannot be kept: some of it has no code or no place.
    Broken,
}

#[derive(Debug)]
struct Run {
    key: Option<RunKey>,
    state: State,
    bytes: [u8; RUN_BYTES],
}

impl Run {
    const NONE: Run = Run { key: None, state: State::Seen, bytes: [0; RUN_BYTES] };
}

/// The last runs of every page.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

impl Runs {
    /// Makes room for so many pages.
    pub fn reserve(&mut self, pages: usize) {
        if self.runs.len() < pages * PLACES {
            self.runs.resize_with(pages * PLACES, || Run::NONE);
        }
    }

    /// The bits of a run of page `at`, if it was asked for before; `write` puts it together and says whether it could.
    pub fn find(
        &mut self,
        at: usize,
        key: RunKey,
        write: impl FnOnce(&mut BitWriter<'_>) -> bool,
    ) -> Option<(&[u8], usize)> {
        let run = self.runs.get_mut(key.place(at))?;
        if run.key != Some(key) {
            (run.key, run.state) = (Some(key), State::Seen);
            return None;
        }
        if run.state == State::Seen {
            let mut writer = BitWriter::new(&mut run.bytes);
            let is_whole = write(&mut writer);
            let bits = writer.bit_len();
            let is_kept = is_whole && writer.finish().is_ok();
            run.state = if is_kept { State::Kept(bits) } else { State::Broken };
        }
        match run.state {
            State::Kept(bits) => Some((&run.bytes, bits)),
            State::Seen | State::Broken => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_wire::schema::Audience;

    use super::*;

    const BASELINES: Key = Key { newer_age: 2, older_age: 6, audience: Audience::Public };

    #[test]
    fn a_run_is_kept_from_the_second_time_on_until_another_one_or_another_tick() {
        let mut runs = Runs::default();
        runs.reserve(1);
        let key = RunKey { tick: Tick(1), baselines: BASELINES, slots: u64::MAX, after: 0 };
        let one = |writer: &mut BitWriter<'_>| {
            writer.write_bits(0b101, 3);
            true
        };
        let never = |_: &mut BitWriter<'_>| panic!("it is here already");
        assert_eq!(runs.find(0, key, never), None, "the first time");
        assert_eq!(runs.find(0, key, one).map(|(bytes, bits)| (bytes[0], bits)), Some((0b101, 3)));
        assert_eq!(runs.find(0, key, never).map(|(bytes, bits)| (bytes[0], bits)), Some((0b101, 3)));
        for other in [RunKey { tick: Tick(2), ..key }, RunKey { slots: 1, ..key }, RunKey { after: 1, ..key }]
        {
            assert_eq!(runs.find(0, other, never), None, "{other:?}");
        }
        assert_eq!(runs.find(0, key, never), None, "it was forgotten");
        assert_eq!(runs.find(1, key, never), None, "there is no such page");
    }

    #[test]
    fn a_run_that_cannot_be_put_together_is_not_tried_again_in_its_tick() {
        let mut runs = Runs::default();
        runs.reserve(1);
        let key = RunKey { tick: Tick(1), baselines: BASELINES, slots: u64::MAX, after: 0 };
        assert_eq!(runs.find(0, key, |_| true), None);
        assert_eq!(runs.find(0, key, |_| false), None);
        assert_eq!(runs.find(0, key, |_| panic!("it was tried")), None);
    }
}
