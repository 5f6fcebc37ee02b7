//! The first phase: what goes to one peer in this tick.
//!
//! Usually everything that changed fits the budget, and choosing is a few operations on words of 64 slots. Only when it
//! does not, or when the game gave rates or weights that matter, is every object weighed.

use netloom_wire::Tick;
use netloom_wire::schema::Audience;

use super::audit::AUDIT_BYTES;
use super::config::Heartbeat;
use super::interest::Scratch;
use super::page::place;
use super::peer::{Peer, Scene};
use super::priority::{Cadence, DistanceCurve, Picking, Sight, Tiers, Waiting, Weights};
use super::wanted::{Found, Key, Wanted};
use crate::bits::ones;
use crate::world::World;

/// Tick, flags, both ages and the count of updates.
pub(super) const FRAME_BYTES: usize = 3 + 2 + 2;

/// What a leave and an entry take, roughly.
const LEAVE_BYTES: usize = 5;
const ENTRY_BYTES: usize = 32;

/// Entries may take a whole budget once in so many ticks.
const ENTRIES_TURN_TICKS: u32 = 4;

/// How many times the account of an object with the common baselines counts in a tick that becomes one.
const SHARED_FAVOUR: f32 = 8.0;

/// A digest takes at most a twentieth of a budget.
const AUDIT_BUDGET_BYTES_MIN: usize = 20 * AUDIT_BYTES;

/// What an object weighs before anyone looks at it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// What it gains a tick at distance 0, if [these are kept](Choosing::has_importances).
    pub importance: f32,
    /// The factor of the squares of its distances.
    pub closeness: f32,
}

/// How what does not fit is chosen from.
#[derive(Debug)]
pub(super) struct Choosing {
    pub weights: Weights<DistanceCurve>,
    pub picking: Picking,
    pub tiers: Tiers,
    pub cadence: Cadence,
    /// What each object weighs before anyone looks at it, by its slot in the world.
    pub standings: Vec<Standing>,
    /// Whether the importances in them are those of this tick. Where everything fits, nobody asks, and they are not kept up to date.
    pub has_importances: bool,
    pub heartbeat: Heartbeat,
    /// Every so manieth tick becomes a baseline.
    pub baseline_ticks: u32,
}

/// What a worker that chooses needs, and what its peers want encoded.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub interest: Scratch,
    pub waiting: Waiting,
    pub wanted: Wanted,
    /// The rows that the pairs of one peer were found to have.
    rows: Found,
    has_weighed: bool,
}

impl Choosing {
    /// Follows what changed with a tick, if anybody weighed anything in the one before: then somebody will again.
    pub fn note_changes(&mut self, world: &World, weighed: bool) {
        let had_importances = std::mem::replace(&mut self.has_importances, weighed);
        if !weighed {
            return;
        }
        if !had_importances {
            return (0..self.standings.len()).for_each(|slot| self.note_importance(slot, world));
        }
        for index in world.changed().iter().chain(world.retuned()) {
            self.note_importance(index.slot(), world);
        }
    }

    fn note_importance(&mut self, slot: usize, world: &World) {
        self.standings[slot].importance = self.importance_of(slot, world);
    }

    fn importance_of(&self, slot: usize, world: &World) -> f32 {
        let (priority, speed) = (world.priorities()[slot], world.motions()[slot].speed);
        self.weights.importance(priority, speed, world.kind_weights()[slot])
    }

    #[inline]
    fn standing(&self, slot: usize, world: &World) -> Standing {
        let standing = self.standings[slot];
        match self.has_importances {
            true => standing,
            false => Standing { importance: self.importance_of(slot, world), ..standing },
        }
    }
}

impl Worker {
    /// Whether this one weighed anything since this was asked last.
    pub fn take_weighed(&mut self) -> bool {
        std::mem::take(&mut self.has_weighed)
    }
}

impl Peer {
    /// Chooses what goes out within a budget.
    pub fn select(
        &mut self,
        budget_bytes: usize,
        scene: &Scene<'_>,
        choosing: &Choosing,
        worker: &mut Worker,
    ) {
        self.look(scene, &mut worker.interest);
        self.find_existence(scene);
        self.feedback = self.next_feedback.take();
        self.is_feedback_due = self.feedback.is_some();
        if let Heartbeat::Resend { ticks } = choosing.heartbeat {
            self.add_heartbeats(budget_bytes, ticks);
        }
        self.audit_due = match choosing.heartbeat {
            Heartbeat::Digest { ticks } if budget_bytes >= AUDIT_BUDGET_BYTES_MIN => {
                self.audit(scene.digests, ticks)
            }
            _ => None,
        };
        let (count, was_cut) = self.choose_all();
        self.outlook.experience.handle_tick(was_cut);
        self.outlook.estimate_bits = self.outlook.experience.expected_bits(scene.tick);
        self.plan(budget_bytes, count, scene.tick);
        self.order_entries(scene);
        let room_bits = self.updates_room_bits();
        let fits = count as u64 * u64::from(self.outlook.estimate_bits) <= room_bits;
        let is_plain = choosing.cadence == Cadence::EVERY_TICK && !scene.world.has_silent();
        if !(fits && is_plain && !self.outlook.is_tight) {
            self.weigh(count, room_bits, scene, choosing, worker);
        } else if self.outlook.has_accounts {
            self.accounts.clear();
            self.outlook.has_accounts = false;
            self.outlook.is_starved = false;
        }
        self.want(scene.tick, worker);
    }

    /// Chooses everything that is due: how much it is, and whether some of what was chosen in the last tick found no
    /// room. Pages without anything due or on its way are put to rest.
    fn choose_all(&mut self) -> (usize, bool) {
        let (mut count, mut left_over) = (0, 0);
        let mut from = 0;
        while let Some(at) = self.held.pages.next_busy(from) {
            from = at + 1;
            let page = &mut self.held.pages[at];
            left_over |= page.chosen;
            page.chosen = page.known & page.dirty;
            count += page.chosen.count_ones() as usize;
            if page.dirty | page.uniform == 0 && !self.flights.touches_page(at) {
                self.held.pages.rest(at);
            }
        }
        (count, left_over != 0)
    }

    /// Splits the budget. Entries have what updates are not expected to need, and all of it in every fourth tick: a
    /// quarter of the whole, without making an entry that is larger than that impossible.
    fn plan(&mut self, budget_bytes: usize, updates: usize, tick: Tick) {
        let leaves = self.leaves_due.len() * LEAVE_BYTES;
        let updates_bytes = updates * self.outlook.estimate_bits as usize / 8;
        let expected = self.frame_bytes() + leaves + updates_bytes;
        let outlook = &mut self.outlook;
        #[cfg(netloom_mutations)]
        let budget_bytes = match crate::mutation::is(crate::mutation::Mutation::BudgetExceeded) {
            true => 2 * budget_bytes,
            false => budget_bytes,
        };
        outlook.budget_left = budget_bytes;
        let has_all = updates == 0 || tick.0.is_multiple_of(ENTRIES_TURN_TICKS);
        outlook.entries_left = if has_all { budget_bytes } else { budget_bytes.saturating_sub(expected) };
    }

    /// Where not all that entered can be told at once, what is near comes first, and its own before everything.
    fn order_entries(&mut self, scene: &Scene<'_>) {
        if self.entries_due.len() * ENTRY_BYTES <= self.outlook.entries_left {
            return;
        }
        let (eye, slots, pages) = (self.config.position, &self.slots, &self.held.pages);
        let motions = scene.world.motions();
        let distance = |number: u16| {
            let there = motions[pages.object(number.into())].position;
            let is_own = slots.get(number).is_some_and(|slot| slot.audience == Audience::Owner);
            let square: f32 = (0..3).map(|axis| (there[axis] - eye[axis]).powi(2)).sum();
            if is_own { -1.0 } else { square }
        };
        let entries = self.entries_due.make_contiguous();
        entries.sort_unstable_by(|a, b| distance(*a).total_cmp(&distance(*b)).then(a.cmp(b)));
    }

    fn frame_bytes(&self) -> usize {
        FRAME_BYTES + if self.audit_due.is_some() { AUDIT_BYTES } else { 0 }
    }

    fn updates_room_bits(&self) -> u64 {
        let entries = (self.entries_due.len() * ENTRY_BYTES).min(self.outlook.entries_left);
        let taken = self.frame_bytes() + self.leaves_due.len() * LEAVE_BYTES + entries;
        self.outlook.budget_left.saturating_sub(taken) as u64 * 8
    }

    /// Entries and leaves go out again after twice the usual time without news of them.
    fn find_existence(&mut self, scene: &Scene<'_>) {
        self.entries_due.clear();
        self.leaves_due.clear();
        if self.entering.is_empty() && self.leaving.is_empty() {
            return;
        }
        let repeat_ticks = self.outlook.round_ticks as i32 * 2 + 1;
        let is_due = |sent: Option<Tick>| sent.is_none_or(|sent| scene.tick.distance(sent) >= repeat_ticks);
        let (slots, pages) = (&self.slots, &self.held.pages);
        let sent = |number: u16| slots.get(number).and_then(|slot| slot.sent);
        self.leaves_due.extend(self.leaving.iter().copied().filter(|number| is_due(sent(*number))));
        let priorities = scene.world.priorities();
        let is_silent = |number: u16| priorities[pages.object(number.into())] <= 0.0;
        let entering = self.entering.iter().copied();
        self.entries_due.extend(entering.filter(|number| is_due(sent(*number)) && !is_silent(*number)));
    }

    /// Keeps of what was chosen what matters most and fits.
    fn weigh(
        &mut self,
        count: usize,
        room_bits: u64,
        scene: &Scene<'_>,
        choosing: &Choosing,
        worker: &mut Worker,
    ) {
        let motions = scene.world.motions();
        let (eye, view) = (self.config.position, self.config.view);
        // Whoever is left out of a tick that becomes a baseline builds on others than most for a while, which costs bytes
        // and time. So in those ticks it is mostly those that do so already.
        let becomes_baseline =
            choosing.baseline_ticks > 1 && scene.tick.0.is_multiple_of(choosing.baseline_ticks);
        let favours = [1.0, if becomes_baseline && !self.outlook.is_starved { SHARED_FAVOUR } else { 1.0 }];
        let pages = &self.held.pages;
        let sight = |slot: usize| {
            let object = pages.object(slot);
            let there = motions[object].position;
            let offset = [there[0] - eye[0], there[1] - eye[1], there[2] - eye[2]];
            let in_view = view.is_some_and(|view| view.contains(offset));
            let is_shared = pages[slot / 64].uniform >> (slot % 64) & 1 != 0;
            let Standing { importance, closeness } = choosing.standing(object, scene.world);
            let Sight { square_metres, importance, .. } = choosing.weights.sight(importance, offset, in_view);
            let favour = favours[usize::from(is_shared)];
            Sight { square_metres: square_metres * closeness, importance, favour }
        };
        worker.has_weighed = true;
        let waiting = &mut worker.waiting;
        waiting.fill(count, self.held.pages.chosen().map(|(at, page)| (at, page.chosen)), sight);
        choosing.weights.weigh(waiting);
        if choosing.cadence != Cadence::EVERY_TICK {
            let Choosing { tiers, cadence, .. } = choosing;
            waiting.retain(|slot, gain| {
                let is_due = self.phases.is_due(slot, tiers.tier(gain), scene.tick, cadence);
                if !is_due {
                    let (at, bit) = place(slot.into());
                    self.held.pages[at].chosen &= !bit;
                }
                is_due
            });
        }
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::WaitingUnpaid) {
            self.accounts.clear();
        }
        let places = (room_bits / u64::from(self.outlook.estimate_bits)) as usize;
        let pages = &mut self.held.pages;
        let drop = |at: usize, slots: u64| pages[at].chosen &= !slots;
        let picked = self.accounts.select(waiting, places, &choosing.picking, drop);
        self.outlook.has_accounts = true;
        self.outlook.is_tight = picked < waiting.len();
        self.outlook.is_starved = picked * 2 < waiting.len();
    }

    /// Adds full entries of slots whose turn it is to be told although nothing changed: one after the other, all within
    /// the interval if a twentieth of the budget is enough for that.
    fn add_heartbeats(&mut self, budget_bytes: usize, interval_ticks: u32) {
        let (interval, slots) = (u64::from(interval_ticks), self.slots.len());
        // In parts of the interval, so that few slots have their turn after many ticks.
        self.beats_due =
            (self.beats_due + slots as u64 * u64::from(self.elapsed_ticks)).min(interval * slots as u64);
        self.beat_bytes = (self.beat_bytes + budget_bytes / 20).min(budget_bytes.max(ENTRY_BYTES));
        while self.beats_due >= interval && self.beat_bytes >= ENTRY_BYTES {
            self.beats_due -= interval;
            let slot = if self.beat_next < slots { self.beat_next } else { 0 };
            self.beat_next = slot + 1;
            let (at, bit) = place(slot);
            let page = self.held.pages.get(at);
            if page.known & !page.dirty & bit != 0 && !self.flights.touches(slot) {
                self.beat_bytes -= ENTRY_BYTES;
                self.entries_due.push_back(slot as u16);
            }
        }
    }

    /// Says which codes the chosen updates need.
    fn want(&mut self, tick: Tick, worker: &mut Worker) {
        let Worker { wanted, rows, .. } = worker;
        let common = self.held.common.ages(tick).map(|(newer_age, older_age)| Key {
            newer_age,
            older_age,
            audience: Audience::Public,
        });
        rows.begin(self.held.kinds());
        let mut from = 0;
        while let Some(at) = self.held.pages.next_busy(from) {
            from = at + 1;
            let page = self.held.pages[at];
            if page.chosen == 0 {
                continue;
            }
            let shared = page.chosen & page.uniform & !page.special;
            if let Some(row) = common.filter(|_| shared != 0).and_then(|common| wanted.row(common)) {
                let own = shared & page.own;
                if own != 0 {
                    row.insert_word(at, own);
                }
                row.insert_all(shared & !own, self.held.pages.objects(at));
            }
            let rest = if common.is_some() { page.chosen & !shared } else { page.chosen };
            for bit in ones(rest) {
                let is_plain = (page.uniform | page.special) >> bit & 1 == 0;
                self.want_one(at * 64 + bit, is_plain, tick, wanted, rows);
            }
        }
    }

    /// The same for one slot; whether it is plain, which is to say that its kind says all about its row.
    #[inline]
    fn want_one(&mut self, slot: usize, is_plain: bool, tick: Tick, wanted: &mut Wanted, rows: &mut Found) {
        let object = self.held.pages.object(slot);
        if let Some(row) = rows.get(self.held.pages.kind(slot)).filter(|_| is_plain) {
            return wanted.rows_mut()[row].insert(object);
        }
        let Some(key) = self.key(slot, tick) else {
            return self.tell_anew(slot as u16);
        };
        // Where there is no row left, the code is made when the snapshot is written.
        let Some(row) = wanted.find_row(key) else { return };
        wanted.rows_mut()[row].insert(object);
        if is_plain {
            rows.set(self.held.pages.kind(slot), row);
        }
    }

    /// What the update of a slot is encoded against; `None` if its states are too old.
    #[inline]
    pub fn key(&self, slot: usize, tick: Tick) -> Option<Key> {
        let (newer_age, older_age) = self.held.pair(slot).ages(tick)?;
        let (at, bit) = place(slot);
        let audience = match self.slots.get(slot as u16) {
            Some(slot) if self.held.pages[at].special & bit != 0 => slot.audience,
            _ => Audience::Public,
        };
        Some(Key { newer_age, older_age, audience })
    }
}
