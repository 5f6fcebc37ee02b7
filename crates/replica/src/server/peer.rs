//! What the server knows of one peer: what it sees, what it holds, what is on its way to it.

use std::collections::VecDeque;

use netloom_wire::Tick;
use netloom_wire::schema::Audience;

use super::cache::Key;
use super::interest::{Changes, Interest, Membership, Policy, Scratch, Viewer, VisibleSet};
use super::priority::{Accounts, Pending, PickScratch, Picking, Weights};
use super::slots::{Phase, Slots};
use crate::limits::{BASELINE_AGE_MAX, SNAPSHOTS_IN_FLIGHT_MAX};
use crate::world::{Object, OwnerId, TeamId, World};

/// After so many ticks without news an entry or a leave goes out again.
const EXISTENCE_REPEAT_TICKS: i32 = 3;

/// What one update takes, as long as nothing better is known: a jump of position and rotation.
const ESTIMATE_BITS: u16 = 72;

/// How many refused ticks are remembered, for acknowledgements that come later.
const REFUSED_KEPT: usize = 64;

/// Who a peer is, and where it looks from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerConfig {
    /// Whose objects are its own.
    pub owner: OwnerId,
    /// Its team.
    pub team: Option<TeamId>,
    /// Its groups, a bit each.
    pub groups: u64,
    /// Where it looks from.
    pub position: [f32; 3],
}

/// An entry in a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentEntry {
    pub slot: u16,
    pub generation: u8,
    /// How many states had been sent.
    pub sends: u32,
    /// What it told the peer.
    pub frame: u32,
    pub audience: Audience,
}

/// A snapshot whose fate is not known.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub sequence: u64,
    pub tick: Tick,
    /// Slot, its generation, and how many states had been sent.
    pub updates: Vec<(u16, u8, u32)>,
    pub enters: Vec<SentEntry>,
    pub leaves: Vec<(u16, u8)>,
}

/// One peer.
#[derive(Debug)]
pub(super) struct Peer {
    pub config: PeerConfig,
    number: u32,
    owned: Vec<u32>,
    visible: VisibleSet,
    changes: Changes,
    pub slots: Slots,
    pub flights: VecDeque<Flight>,
    spare: Vec<Flight>,
    accounts: Accounts,
    pending: Vec<Pending>,
    /// Slots whose update goes into this tick's snapshots, ascending; taken from the front.
    pub chosen: VecDeque<u16>,
    pub entries_due: VecDeque<u16>,
    pub leaves_due: VecDeque<u16>,
    picked: Vec<u16>,
    /// Ticks whose snapshots the peer could not read, whatever their acknowledgement says.
    refused: VecDeque<Tick>,
}

/// Buffers that peers share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub interest: Scratch,
    pub pick: PickScratch,
    pub picking: Picking,
    pub weights: Weights,
}

impl Peer {
    pub fn new(number: u32, config: PeerConfig) -> Peer {
        Peer {
            config,
            number,
            owned: Vec::new(),
            visible: VisibleSet::new(),
            changes: Changes::default(),
            slots: Slots::default(),
            flights: VecDeque::new(),
            spare: Vec::new(),
            accounts: Accounts::new(),
            pending: Vec::new(),
            chosen: VecDeque::new(),
            entries_due: VecDeque::new(),
            leaves_due: VecDeque::new(),
            picked: Vec::new(),
            refused: VecDeque::new(),
        }
    }

    pub fn audience(&self, object: &Object<'_>) -> Audience {
        object.audience(self.config.owner, self.config.team)
    }

    /// The first phase: what this peer sees, and what of it goes out in this tick.
    pub fn select(
        &mut self,
        tick: Tick,
        budget_bits: u32,
        world: &World,
        interest: &Interest,
        shared: &mut Shared,
    ) {
        self.look(tick, world, interest, shared);
        self.chosen.clear();
        self.entries_due.clear();
        self.leaves_due.clear();
        self.pending.clear();
        let due_again =
            |sent: Option<Tick>| sent.is_none_or(|sent| tick.distance(sent) >= EXISTENCE_REPEAT_TICKS);
        let (owner, team, viewpoint) = (self.config.owner, self.config.team, self.config.position);
        for (number, slot) in self.slots.iter_mut() {
            match slot.phase {
                Phase::Free => continue,
                Phase::Leaving(_) => {
                    if due_again(slot.sent) {
                        self.leaves_due.push_back(number);
                    }
                    continue;
                }
                Phase::Entering | Phase::Present => {}
            }
            let Some(object) = world.at(slot.object as usize) else { continue };
            if object.priority() <= 0.0 {
                continue;
            }
            let audience = object.audience(owner, team);
            let is_known = slot.phase == Phase::Present
                && slot.frame == object.frame()
                && slot.audience == audience
                && slot.newer.is_some_and(|newer| {
                    slot.is_remembered()
                        && tick.distance(newer) <= BASELINE_AGE_MAX as i32
                        && object.words_at(newer).is_some()
                });
            let is_news = slot.sent.is_none_or(|sent| object.version().is_newer_than(sent));
            if is_known {
                if is_news {
                    let distance = distance(object.position(), viewpoint);
                    let importance =
                        shared.weights.importance(object.priority(), object.speed(), object.kind_weight());
                    let gain = shared.weights.gain(importance, distance, false);
                    let is_distant = distance > 100.0;
                    self.pending.push(Pending {
                        slot: number,
                        estimate_bits: ESTIMATE_BITS,
                        is_distant,
                        gain,
                    });
                }
            } else if due_again(slot.sent) {
                self.entries_due.push_back(number);
            }
        }
        self.accounts.accumulate(&self.pending);
        self.picked.clear();
        self.accounts.select(&self.pending, budget_bits, &shared.picking, &mut shared.pick, &mut self.picked);
        self.chosen.extend(&self.picked);
    }

    /// The baselines and the audience of a slot's update.
    pub fn key(&self, number: u16, tick: Tick, object: &Object<'_>) -> Option<Key> {
        let slot = self.slots.get(number)?;
        let newer = slot.newer?;
        let usable = |older: &Tick| {
            tick.distance(*older) <= BASELINE_AGE_MAX as i32 && object.words_at(*older).is_some()
        };
        Some(Key { newer, older: slot.older.filter(usable), audience: slot.audience })
    }

    /// What was really sent starts again at zero.
    pub fn handle_sent(&mut self, flight: Flight) {
        let slots: Vec<u16> = flight.updates.iter().map(|update| update.0).collect();
        self.accounts.reset(&slots);
        self.flights.push_back(flight);
        if self.flights.len() > SNAPSHOTS_IN_FLIGHT_MAX
            && let Some(sequence) = self.flights.front().map(|oldest| oldest.sequence)
        {
            self.handle_outcome(sequence, false, 1);
        }
    }

    /// An empty record, from an old one if there is one.
    pub fn flight(&mut self, sequence: u64, tick: Tick) -> Flight {
        let mut flight = self.spare.pop().unwrap_or_default();
        flight.sequence = sequence;
        flight.tick = tick;
        flight.updates.clear();
        flight.enters.clear();
        flight.leaves.clear();
        flight
    }

    /// A record that was not used.
    pub fn give_back(&mut self, flight: Flight) {
        self.spare.push(flight);
    }

    /// A snapshot arrived or was lost.
    pub fn handle_outcome(&mut self, sequence: u64, acked: bool, baseline_ticks: u32) {
        let Some(place) = self.flights.iter().position(|flight| flight.sequence == sequence) else { return };
        let Some(flight) = self.flights.remove(place) else { return };
        let acked = acked && !self.refused.contains(&flight.tick);
        let keep = flight.tick.0 % baseline_ticks == 0;
        for &(number, generation, sends) in &flight.updates {
            if let Some(slot) = self.slots.get_mut(number).filter(|slot| slot.generation == generation) {
                match acked {
                    true => slot.handle_acked(flight.tick, sends, keep),
                    false => slot.handle_lost(flight.tick),
                }
            }
        }
        for entry in &flight.enters {
            let slot = self.slots.get_mut(entry.slot).filter(|slot| slot.generation == entry.generation);
            let Some(slot) = slot else { continue };
            match (acked, slot.phase) {
                (false, _) => slot.sent = None,
                (true, Phase::Entering | Phase::Present) if slot.is_newer_entry(flight.tick) => {
                    slot.phase = Phase::Present;
                    slot.frame = entry.frame;
                    slot.audience = entry.audience;
                    slot.older = None;
                    slot.newer = None;
                    slot.handle_acked(flight.tick, entry.sends, true);
                }
                (true, _) => {}
            }
        }
        for &(number, generation) in &flight.leaves {
            let is_leaving = self
                .slots
                .get(number)
                .is_some_and(|slot| slot.generation == generation && matches!(slot.phase, Phase::Leaving(_)));
            match (is_leaving, acked) {
                (true, true) => self.slots.release(number),
                (true, false) => {
                    if let Some(slot) = self.slots.get_mut(number) {
                        slot.sent = None;
                    }
                }
                _ => {}
            }
        }
        self.spare.push(flight);
    }

    /// The peer could not read the snapshot of this tick.
    pub fn handle_refusal(&mut self, tick: Tick) {
        if self.refused.len() == REFUSED_KEPT {
            self.refused.pop_front();
        }
        self.refused.push_back(tick);
        self.slots.iter_mut().for_each(|(_, slot)| slot.handle_refused(tick));
    }

    fn look(&mut self, tick: Tick, world: &World, interest: &Interest, shared: &mut Shared) {
        let membership = Membership { team: self.config.team.map(|team| team.0), groups: self.config.groups };
        let viewer =
            Viewer { number: self.number, position: self.config.position, membership, owned: &self.owned };
        interest.update(&viewer, tick, &mut shared.interest, &mut self.visible, &mut self.changes);
        let keeps_numbers = matches!(interest.policy(), Policy::Everyone);
        for &object in &self.changes.left {
            if let Some(slot) = self.slots.leave(object, tick).and_then(|number| self.slots.get_mut(number)) {
                slot.sent = None;
            }
        }
        for &object in &self.changes.entered {
            let Some(seen) = world.at(object as usize) else { continue };
            let audience = seen.audience(self.config.owner, self.config.team);
            if let Some(number) = self.slots.take(object, audience, keeps_numbers) {
                self.accounts.reset(&[number]);
            }
        }
    }

    /// The objects that the peer owns changed.
    pub fn set_owned(&mut self, world: &World) {
        self.owned.clear();
        let mine = world.iter().filter(|object| object.owner() == Some(self.config.owner));
        self.owned.extend(mine.map(|object| object.index().slot() as u32));
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f32>().sqrt()
}
