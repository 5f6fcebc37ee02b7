//! What became of snapshots, and what follows from it.
//!
//! ```text
//!   arrived    its states become what is built on, at once or, if its tick is none that peers share, once they rest
//!   lost       what it said is news again, unless a later snapshot said it too
//!   refused    as lost, and nothing builds on its tick whatever else is heard of it
//! ```

use netloom_wire::Tick;

use super::flight::{Landed, News, Told};
use super::peer::Peer;
use super::slots::{Phase, Slot};

/// How many refused ticks are remembered, for acknowledgements that come later.
const REFUSED_KEPT: usize = 64;

impl Peer {
    /// A snapshot arrived or was lost.
    pub fn handle_outcome(&mut self, sequence: u64, acked: bool, baseline_ticks: u32) {
        let Some(landed) = self.flights.land(sequence) else { return };
        let acked = acked && !self.refused.contains(&landed.tick);
        match acked {
            true => self.handle_arrived(&landed, baseline_ticks),
            false => self.handle_lost(&landed),
        }
        for place in self.flights.told_of(&landed) {
            let told = self.flights.told()[place];
            match told.news {
                News::Entered { telling } => self.handle_entry_outcome(told, telling, landed.tick, acked),
                News::Left => self.handle_leave_outcome(told, acked),
            }
        }
        self.flights.retire(&landed);
    }

    /// What a snapshot updated is held now, and may become what is built on.
    fn handle_arrived(&mut self, landed: &Landed, baseline_ticks: u32) {
        let tick = landed.tick;
        if self.awaits(tick, baseline_ticks) {
            // The news of others may have waited.
            let round_ticks = self.selected.map_or(1, |now| now.distance(tick) + 1).clamp(1, 64) as u32;
            self.outlook.round_ticks = (self.outlook.round_ticks * 3 + round_ticks).div_ceil(4);
        }
        let is_baseline = self.becomes_baseline(tick, baseline_ticks);
        if is_baseline {
            let Peer { held, flights, .. } = self;
            held.handle_acked(|at| flights.updates(landed, at), tick);
        }
        let mut from = 0;
        while let Some(at) = self.held.pages.next_busy(from) {
            from = at + 1;
            let updates = self.flights.updates(landed, at);
            if updates != 0 {
                self.flights.overtake(landed, at);
                self.flights.clear(landed, at);
            }
            if updates != 0 && !is_baseline {
                self.settling.push((tick, at, updates));
            }
        }
    }

    /// Whether others are built upon the states of a tick. Of what mostly does not fit, peers are sent different things at
    /// different times: there is little to share.
    fn becomes_baseline(&self, tick: Tick, baseline_ticks: u32) -> bool {
        self.outlook.is_starved || tick.0.is_multiple_of(baseline_ticks)
    }

    /// Whether much hangs on the news that a snapshot of this tick arrived.
    pub fn awaits(&self, tick: Tick, baseline_ticks: u32) -> bool {
        let is_moving_in = !self.entering.is_empty() || !self.leaving.is_empty();
        is_moving_in || self.becomes_baseline(tick, baseline_ticks)
    }

    /// What a snapshot updated is news again, unless a later one told it too.
    fn handle_lost(&mut self, landed: &Landed) {
        let mut from = 0;
        while let Some(at) = self.held.pages.next_busy(from) {
            from = at + 1;
            let lost = self.flights.only_updates(landed, at);
            self.flights.clear(landed, at);
            #[cfg(netloom_mutations)]
            let lost = match crate::mutation::is(crate::mutation::Mutation::ChangeLost) {
                true => 0,
                false => lost,
            };
            self.held.pages.soil(at, lost);
        }
    }

    fn handle_entry_outcome(&mut self, told: Told, telling: u32, tick: Tick, acked: bool) {
        let slot = self.slots.get_mut(told.slot).filter(|slot| slot.generation == told.generation);
        let Some(slot) = slot else { return };
        let is_current = slot.telling == telling;
        match (acked, slot.phase) {
            (true, Phase::Entering) if is_current => {
                slot.phase = Phase::Present;
                self.entering.retain(|entering| *entering != told.slot);
                self.arrived.push(told.slot);
                self.held.handle_entered(told.slot.into(), tick);
            }
            // Told once more before the first was known to have arrived.
            (true, Phase::Present)
                if is_current && tick.is_newer_than(self.held.pair(told.slot.into()).newer) =>
            {
                self.held.handle_entered(told.slot.into(), tick);
            }
            #[cfg(netloom_mutations)]
            (false, Phase::Entering) if crate::mutation::is(crate::mutation::Mutation::EntryLost) => {
                slot.sent = Some(tick.plus(1 << 20));
            }
            // An older entry may still turn out to have arrived: then what this one said is news.
            (false, Phase::Entering) => {
                slot.sent = None;
                self.soil(told.slot);
            }
            (false, Phase::Present) => self.soil(told.slot),
            _ => {}
        }
    }

    fn handle_leave_outcome(&mut self, told: Told, acked: bool) {
        let leaving =
            |slot: &&mut Slot| slot.generation == told.generation && matches!(slot.phase, Phase::Leaving(_));
        let Some(slot) = self.slots.get_mut(told.slot).filter(leaving) else { return };
        #[cfg(netloom_mutations)]
        let acked = acked || crate::mutation::is(crate::mutation::Mutation::LeaveLost);
        if acked {
            self.leaving.retain(|leaving| *leaving != told.slot);
            self.release(told.slot);
        } else {
            slot.sent = None;
        }
    }

    /// States that arrived and became no baselines do so after all for objects that have come to rest, of which they are
    /// the last ones, and for objects that are sent so seldom that the next one to be shared may come too late.
    pub fn settle(&mut self, now: Tick) {
        while let Some((tick, at, updates)) = self.settling.pop() {
            // The refusal may have come right after the acknowledgement.
            let updates = if self.refused.contains(&tick) { 0 } else { updates };
            let page = self.held.pages[at];
            let updates = updates & page.known;
            if updates != 0 {
                let rested = self.flights.without_touched(at, updates & !page.dirty);
                let slots = rested | self.held.outdated(at, updates, now);
                self.held.handle_acked_apart(at, slots, tick);
            }
        }
    }

    /// The peer could not read the snapshot of this tick: nothing builds on it, and what it said is said again.
    pub fn handle_refusal(&mut self, tick: Tick) {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::RefusalIgnored) {
            return;
        }
        if self.refused.len() == REFUSED_KEPT {
            self.refused.pop_front();
        }
        self.refused.push_back(tick);
        let mut forgotten = Vec::new();
        self.held.handle_refused(tick, |slot| forgotten.push(slot as u16));
        forgotten.into_iter().for_each(|slot| self.tell_anew(slot));
        // Which of its updates were read before the end is not known.
        for at in 0..self.held.pages.len() {
            let known = self.held.pages[at].known;
            self.held.pages.soil(at, known);
        }
    }
}
