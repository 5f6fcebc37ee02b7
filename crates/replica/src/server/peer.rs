//! What the server knows of one peer: what it sees, what it holds, what is on its way to it.

use std::collections::VecDeque;

use netloom_cpu::fetch;
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Tick};

use super::audit::Digests;
use super::cache::canonical;
use super::experience::Experience;
use super::flight::Flights;
use super::held::Held;
use super::interest::{Changes, Interest, Membership, Policy, Scratch, Viewer, VisibleSet};
use super::page::{NO_OBJECT, place};
use super::priority::{Accounts, Cadence, Phases, ViewCone};
use super::slots::{Phase, Slot, Slots};
use crate::bits::{Bits, ones};
use crate::property::PropertyPeer;
use crate::snapshot::Feedback;
use crate::world::{Object, ObjectIndex, OwnerId, TeamId, World};

/// Pages of snapshots that arrive between two ticks, usually.
const SETTLING_USUAL: usize = 64;

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
    /// What it has in view: objects there come sooner. `None` if it does not say.
    pub view: Option<ViewCone>,
}

impl PeerConfig {
    /// A peer without team and groups that looks from the middle of the world.
    pub fn new(owner: OwnerId) -> PeerConfig {
        PeerConfig { owner, team: None, groups: 0, position: [0.0; 3], view: None }
    }
}

/// One peer.
#[derive(Debug)]
pub(super) struct Peer {
    pub config: PeerConfig,
    number: u32,
    owned: Vec<u32>,
    /// Objects that the game shows it, under [`Policy::Custom`], and the slots of those that exist.
    pub named: Vec<ObjectIndex>,
    named_slots: Vec<u32>,
    visible: VisibleSet,
    changes: Changes,
    pub slots: Slots,
    pub held: Held,
    pub flights: Flights,
    /// Slots that the peer must be told of, and those that it must let go of.
    pub entering: Vec<u16>,
    pub leaving: Vec<u16>,
    /// Of these, what is due in this tick.
    pub entries_due: VecDeque<u16>,
    pub leaves_due: VecDeque<u16>,
    pub accounts: Accounts,
    pub phases: Phases,
    pub outlook: Outlook,
    /// Ticks since the selection before this one.
    pub elapsed_ticks: u32,
    /// The slot that is next to be told although it did not change, and how many are, in parts of the interval.
    pub beat_next: usize,
    pub beats_due: u64,
    /// Bytes saved up for that.
    pub beat_bytes: usize,
    /// The region that was last looked at for its digest, how much of the next one is due, and what is to be sent.
    pub audited: usize,
    pub audits_due: u64,
    pub audit_due: Option<(u16, u32)>,
    /// What became of its inputs: for the next tick, for this one, and whether no snapshot has told it yet.
    pub next_feedback: Option<Feedback>,
    pub feedback: Option<Feedback>,
    pub is_feedback_due: bool,
    /// Fields of which every value arrives.
    pub properties: PropertyPeer,
    /// Slots that the peer has since the last selection.
    pub arrived: Vec<u16>,
    /// Updates that arrived since the last selection and became no baselines: their tick, and slots by page.
    pub settling: Vec<(Tick, usize, u64)>,
    /// The tick of the last selection.
    pub selected: Option<Tick>,
    /// Whether the peer is somebody else since.
    is_changed: bool,
    /// Ticks whose snapshots the peer could not read, whatever their acknowledgement says.
    pub refused: VecDeque<Tick>,
}

/// What is left of a tick's budget, and what experience says about the next one's.
#[derive(Debug)]
pub(super) struct Outlook {
    /// Bytes that this tick may still use.
    pub budget_left: usize,
    /// Bytes of those for entries.
    pub entries_left: usize,
    /// What updates take, and what one of this tick is reckoned with.
    pub experience: Experience,
    pub estimate_bits: u32,
    /// Ticks from a snapshot to the news that it arrived.
    pub round_ticks: u32,
    /// Whether the last tick's choice did not fit.
    pub is_tight: bool,
    /// Whether it had less than half of what it wanted.
    pub is_starved: bool,
    /// Whether any account may be above zero.
    pub has_accounts: bool,
}

/// The world at this tick, as those who choose see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene<'a> {
    pub world: &'a World,
    pub interest: &'a Interest,
    /// Objects with a version of this tick, and which words of the set are not empty.
    pub changed: &'a Bits,
    pub changed_words: &'a [usize],
    /// Whether that is everything there is.
    pub all_changed: bool,
    pub digests: &'a Digests,
    pub cadence: &'a Cadence,
    pub tick: Tick,
}

impl Peer {
    /// The place in the world of the object that the peer calls by an alias.
    pub fn object_slot(&self, alias: Alias) -> Option<usize> {
        let slot = self.slots.get(alias.slot).filter(|slot| slot.generation == alias.generation)?;
        let is_told = matches!(slot.phase, Phase::Entering | Phase::Present) && slot.told.is_some();
        is_told.then(|| self.held.pages.object(alias.slot.into()))
    }

    /// The places in the world of its own objects.
    pub fn owned(&self) -> &[u32] {
        &self.owned
    }

    /// Asks for what lies elsewhere and is needed at every tick.
    pub fn fetch_slots(&self) {
        self.held.pages.fetch();
        self.flights.fetch();
        self.settling.first().into_iter().for_each(fetch);
    }

    pub fn new(number: u32, config: PeerConfig, world: &World) -> Peer {
        let mine = world.iter().filter(|object| object.owner() == Some(config.owner));
        Peer {
            config,
            number,
            owned: mine.map(|object| object.index().slot() as u32).collect(),
            named: Vec::new(),
            named_slots: Vec::new(),
            visible: VisibleSet::new(),
            changes: Changes::default(),
            slots: Slots::default(),
            held: Held::default(),
            flights: Flights::default(),
            entering: Vec::new(),
            leaving: Vec::new(),
            entries_due: VecDeque::new(),
            leaves_due: VecDeque::new(),
            accounts: Accounts::new(),
            phases: Phases::new(),
            outlook: Outlook {
                budget_left: 0,
                entries_left: 0,
                experience: Experience::default(),
                estimate_bits: 0,
                round_ticks: 1,
                is_tight: false,
                is_starved: false,
                has_accounts: false,
            },
            elapsed_ticks: 0,
            beat_next: 0,
            beats_due: 0,
            beat_bytes: 0,
            audited: 0,
            audits_due: 0,
            audit_due: None,
            next_feedback: None,
            feedback: None,
            is_feedback_due: false,
            properties: PropertyPeer::new(world.property_log()),
            arrived: Vec::new(),
            settling: Vec::with_capacity(SETTLING_USUAL),
            selected: None,
            is_changed: false,
            refused: VecDeque::new(),
        }
    }

    fn audience(&self, object: &Object<'_>) -> Audience {
        object.audience(self.config.owner, self.config.team)
    }

    /// Brings what the peer sees, and what it has not been sent, up to date.
    pub fn look(&mut self, scene: &Scene<'_>, scratch: &mut Scratch) {
        let Scene { world, interest, tick, .. } = *scene;
        let membership = Membership { team: self.config.team.map(|team| team.0), groups: self.config.groups };
        let viewer =
            Viewer { number: self.number, position: self.config.position, membership, owned: &self.owned };
        match interest.policy() {
            Policy::Custom => {
                let Peer { named, named_slots, visible, changes, .. } = self;
                // Slots are used again: one that was named for another object shows nothing.
                named.retain(|index| world.contains(*index));
                named_slots.clear();
                named_slots.extend(named.iter().map(|index| index.slot() as u32));
                interest.update_to(named_slots, &viewer, tick, scratch, visible, changes);
            }
            _ => interest.update(&viewer, tick, scratch, &mut self.visible, &mut self.changes),
        }
        let changes = std::mem::take(&mut self.changes);
        changes.left.iter().for_each(|object| self.hide(*object, tick));
        changes.entered.iter().for_each(|object| self.show(*object, scene));
        let is_quiet = changes.left.is_empty()
            && changes.entered.is_empty()
            && world.reframed().is_empty()
            && world.retuned().is_empty();
        self.changes = changes;
        if !(is_quiet && self.follows(tick)) {
            self.follow_parents(scene);
        }
        self.elapsed_ticks = self.selected.map_or(1, |last| tick.distance(last).max(0) as u32);
        self.note_changes(scene);
        self.begin_properties(world);
        self.settle(tick);
        self.selected = Some(tick);
        self.is_changed = false;
    }

    /// Whether this peer has seen everything up to the tick before this one.
    fn follows(&self, tick: Tick) -> bool {
        !self.is_changed && self.selected.is_some_and(|last| last.next() == tick || last == tick)
    }

    /// Gives an object a slot, unless it is attached to something out of sight: it is told relative to that.
    fn show(&mut self, object: u32, scene: &Scene<'_>) {
        let Some(seen) = scene.world.at(object as usize) else { return };
        if !self.sees_parents(&seen, scene.world) {
            return;
        }
        let audience = self.audience(&seen);
        // Where something is hidden, numbers with gaps would tell how much.
        let keeps_numbers =
            matches!(scene.interest.policy(), Policy::Everyone) && !scene.interest.has_hidden();
        let taken = self.slots.take(object, Slot::entering(audience, seen.frame()), keeps_numbers);
        let Some(number) = taken else { return };
        self.held.pages.reserve(self.slots.len());
        self.held.pages.set_object(number.into(), object);
        self.flights.reserve(self.held.pages.len());
        let (at, bit) = place(number.into());
        match object == number.into() {
            true => self.held.pages[at].own |= bit,
            false => self.held.pages[at].stray |= bit,
        }
        self.accounts.reset(number);
        if *scene.cadence != Cadence::EVERY_TICK {
            self.phases.enter(number, scene.tick, scene.cadence);
        }
        self.set_special(number, &seen, audience);
        self.entering.push(number);
    }

    /// Whether the peer is told of everything that an object is attached to.
    fn sees_parents(&self, object: &Object<'_>, world: &World) -> bool {
        object.ancestors().all(|ancestor| {
            let is_silent = world.priorities()[ancestor.slot()] <= 0.0;
            self.visible.contains(ancestor.slot() as u32) && !is_silent
        })
    }

    fn hide(&mut self, object: u32, tick: Tick) {
        let Some(number) = self.slots.leave(object, tick) else { return };
        let at = usize::from(number);
        self.properties.leave(object as usize);
        self.held.forget(at);
        let (at, bit) = place(at);
        let page = &mut self.held.pages[at];
        for bits in [&mut page.own, &mut page.stray, &mut page.special, &mut page.dirty, &mut page.chosen] {
            *bits &= !bit;
        }
        self.entering.retain(|entering| *entering != number);
        let was_told = self.slots.get(number).is_some_and(|slot| slot.told.is_some());
        #[cfg(netloom_mutations)]
        let was_told = was_told && !crate::mutation::is(crate::mutation::Mutation::AliasReusedEarly);
        match was_told {
            true => self.leaving.push(number),
            // It never heard of the object: there is nothing to take back.
            false => self.release(number),
        }
    }

    /// The peer has let go of a slot.
    pub fn release(&mut self, number: u16) {
        self.slots.release(number);
        self.held.pages.set_object(number.into(), NO_OBJECT);
        self.flights.forget(usize::from(number));
    }

    /// Hides what lost sight of what it is attached to, and shows what found it or was detached.
    fn follow_parents(&mut self, scene: &Scene<'_>) {
        for object in scene.world.attached() {
            let index = object.index().slot() as u32;
            let is_shown = self.slots.of(index).is_some();
            match self.visible.contains(index) && self.sees_parents(&object, scene.world) {
                true if !is_shown => self.show(index, scene),
                false if is_shown => self.hide(index, scene.tick),
                _ => {}
            }
        }
        for &index in scene.world.reframed() {
            self.show_if_hidden(index.slot() as u32, scene);
        }
        if !self.follows(scene.tick) {
            let visible = std::mem::take(&mut self.visible);
            let hidden = visible.iter().filter(|object| self.slots.of(*object).is_none());
            let hidden: Vec<u32> = hidden.collect();
            self.visible = visible;
            hidden.into_iter().for_each(|object| self.show(object, scene));
        }
    }

    fn show_if_hidden(&mut self, object: u32, scene: &Scene<'_>) {
        if self.visible.contains(object) && self.slots.of(object).is_none() {
            self.show(object, scene);
        }
    }

    /// Every value of the fields that need it, from now on, for objects that the peer has now.
    fn begin_properties(&mut self, world: &World) {
        for number in self.arrived.drain(..) {
            let Some(slot) = self.slots.get(number).filter(|slot| slot.phase == Phase::Present) else {
                continue;
            };
            let Some(seen) = world.at(self.held.pages.object(number.into())) else { continue };
            let fields = seen.class().reliable(slot.audience);
            self.properties.enter(world.property_log(), self.slots.alias(number), seen.index(), fields);
        }
    }

    /// Notes what changed since the last selection.
    fn note_changes(&mut self, scene: &Scene<'_>) {
        let Scene { world, tick, .. } = *scene;
        if self.follows(tick) {
            self.note_own(scene);
            self.note_strays(scene);
            for &index in world.reframed().iter().chain(world.reassigned()) {
                self.check_meaning(index.slot() as u32, world);
            }
            return;
        }
        // Ticks went by without this peer, or it is somebody else now: look at everything.
        for place in 0..self.slots.in_sight().len() {
            let (object, number) = self.slots.in_sight()[place];
            let is_news =
                self.selected.is_none_or(|last| world.version_at(object as usize).is_newer_than(last));
            if is_news {
                self.soil(number);
            }
            self.check_meaning(object, world);
        }
    }

    /// What changed of the objects whose number is that of their slot.
    fn note_own(&mut self, scene: &Scene<'_>) {
        let pages = &mut self.held.pages;
        let count = pages.len();
        for &at in scene.changed_words.iter().take_while(|at| **at < count) {
            pages.soil(at, scene.changed.word(at) & pages[at].own);
        }
    }

    /// What changed of the others: where each one's bit is has to be looked up.
    fn note_strays(&mut self, scene: &Scene<'_>) {
        for at in 0..self.held.pages.len() {
            let stray = self.held.pages[at].stray;
            if stray == 0 || scene.all_changed {
                self.held.pages.soil(at, stray);
                continue;
            }
            let objects = self.held.pages.objects(at);
            let is_changed = |bit: usize| u64::from(scene.changed.contains(objects[bit] as usize)) << bit;
            // Where there are many, looking at all costs less than finding each one.
            let soiled = match stray.count_ones() >= 32 {
                true => (0..64).fold(0, |all, bit| all | is_changed(bit)) & stray,
                false => ones(stray).fold(0, |all, bit| all | is_changed(bit)),
            };
            self.held.pages.soil(at, soiled);
        }
    }

    /// There is something new of a slot.
    pub fn soil(&mut self, number: u16) {
        let (at, bit) = place(number.into());
        self.held.pages.soil(at, bit);
    }

    /// If the words of an object mean something else now, or the peer is something else to it, it is told anew.
    fn check_meaning(&mut self, object: u32, world: &World) {
        let (Some(number), Some(seen)) = (self.slots.of(object), world.at(object as usize)) else { return };
        let audience = self.audience(&seen);
        let Some(slot) = self.slots.get_mut(number) else { return };
        #[cfg(netloom_mutations)]
        let audience = match crate::mutation::is(crate::mutation::Mutation::AudienceKept) {
            true => slot.audience,
            false => audience,
        };
        if slot.frame == seen.frame() && slot.audience == audience {
            return;
        }
        slot.frame = seen.frame();
        slot.audience = audience;
        self.properties.restrict(object as usize, seen.class().reliable(audience));
        self.set_special(number, &seen, audience);
        self.tell_anew(number);
    }

    fn set_special(&mut self, number: u16, object: &Object<'_>, audience: Audience) {
        let (at, bit) = place(number.into());
        match canonical(object, audience) {
            Audience::Public => self.held.pages[at].special &= !bit,
            _ => self.held.pages[at].special |= bit,
        }
    }

    /// Nothing that the peer has of a slot can be built on: it gets a full entry.
    pub fn tell_anew(&mut self, number: u16) {
        let at = usize::from(number);
        self.held.forget(at);
        self.flights.forget(at);
        let (at, bit) = place(at);
        self.held.pages[at].chosen &= !bit;
        let Some(slot) = self.slots.get_mut(number) else { return };
        if !matches!(slot.phase, Phase::Free | Phase::Leaving(_)) {
            slot.sent = None;
            slot.telling = slot.telling.wrapping_add(1);
            if slot.phase == Phase::Present {
                self.entering.push(number);
            }
            slot.phase = Phase::Entering;
        }
    }

    /// The peer looks from elsewhere, or is somebody else.
    pub fn set_config(&mut self, config: PeerConfig, world: &World) {
        let before = std::mem::replace(&mut self.config, config);
        if before.owner != config.owner {
            self.owned.clear();
            let mine = world.iter().filter(|object| object.owner() == Some(config.owner));
            self.owned.extend(mine.map(|object| object.index().slot() as u32));
            self.visible.expire();
        }
        self.is_changed |= before.owner != config.owner || before.team != config.team;
    }

    /// An object has another owner, or none.
    pub fn set_owned(&mut self, object: u32, is_owned: bool) {
        match (self.owned.binary_search(&object), is_owned) {
            (Err(place), true) => self.owned.insert(place, object),
            (Ok(place), false) => {
                self.owned.remove(place);
            }
            _ => {}
        }
    }
}
