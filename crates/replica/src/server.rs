//! The server's half of replication: who sees what, and the snapshots that tell them.
//!
//! A tick has three phases. No two peers share anything that changes in the first and the last, and in the second no
//! two rows of codes do, so a driver can spread each over workers:
//!
//! ```text
//!   world ──commit──▶ select, per peer ──▶ encode, per object and baselines ──▶ append, per peer ──▶ snapshots
//!                     interest, priority     once for all who share them          caller's buffer
//! ```
//!
//! On one thread: [`begin_tick`](ReplicaServer::begin_tick), [`select`](ReplicaServer::select) for every peer,
//! [`encode`](ReplicaServer::encode), then [`poll_snapshot`](ReplicaServer::poll_snapshot) for every peer until it has
//! nothing more. On several: the jobs of [`phases`].
//!
//! Nothing here knows of connections. A snapshot has a sequence number; whoever sends it says later whether it arrived
//! ([`ReplicaServer::handle_outcome`]), and only what arrived is built on.
//!
//! Beside snapshots there is what a server does with time: [`InputQueue`] gives every step exactly one input of a client, and
//! says how early they come; [`Rewind`] judges a shot at what the shooter saw.

mod append;
mod audit;
mod cache;
mod choose;
mod config;
mod existence;
mod experience;
mod flight;
mod held;
pub mod input_queue;
pub mod interest;
mod outcome;
mod page;
mod peer;
pub mod phases;
pub mod priority;
pub mod rewind;
mod runs;
mod sheets;
mod slots;
pub mod tally;
mod wanted;

use netloom_cpu::fetch;
use netloom_wire::{Alias, Tick};

use crate::arena::Arena;
use crate::bits::Bits;
use crate::class::ClassId;
use crate::codec::Codes;
use crate::digest::REGIONS_MAX;
use crate::property::{PropertyCounters, PropertyMessage};
use crate::setting::SettingError;
use crate::snapshot::{Feedback, nearest_tick};
use crate::world::{ObjectIndex, World, WorldError};
use append::{Appending, Gaps, Scribe};
use audit::Digests;
use cache::{Cache, Encoder, Present};
use choose::{Choosing, Standing, Worker};
use interest::{Interest, Placement, VisibleTo};
use peer::{Peer, Scene};
use priority::Weights;

pub use append::Written;
use config::BASELINE_TICKS;
pub use config::{Heartbeat, ServerConfig};
pub use input_queue::{InputQueue, InputQueueConfig, Starvation};
pub use peer::PeerConfig;
pub use rewind::{Rewind, RewindConfig};
pub use tally::ClassTraffic;

/// A peer of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaPeer(u32);

impl ReplicaPeer {
    /// Its number: small, and that of another peer once this one is gone.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How much of what it sees a peer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Objects that it is known to have.
    pub held: usize,
    /// Objects that it sees.
    pub total: usize,
}

/// The world, and what every peer holds of it.
#[derive(Debug)]
pub struct ReplicaServer {
    world: World,
    interest: Interest,
    choosing: Choosing,
    codes: Codes,
    gaps: Gaps,
    cache: Cache,
    peers: Vec<Option<Box<Peer>>>,
    /// One for each thread of a phase.
    workers: Vec<Worker>,
    encoders: Vec<Encoder>,
    scribes: Vec<Scribe>,
    /// Who may see each object, by its slot in the world.
    audiences: Vec<Option<(ObjectIndex, VisibleTo)>>,
    /// Objects with a version of this tick, and which words of the set are not empty.
    changed: Bits,
    changed_words: Vec<usize>,
    all_changed: bool,
    digests: Digests,
    tick: Tick,
    baseline_ticks: u32,
    arena_bytes: usize,
}

impl ReplicaServer {
    /// A server of a world.
    pub fn new(world: World, codes: Codes, config: ServerConfig) -> Result<ReplicaServer, SettingError> {
        config.check()?;
        let scribe = Scribe::new(config.arena_bytes, world.classes().len());
        let choosing = Choosing {
            weights: Weights::new(config.weights, config.distance)?,
            picking: config.picking,
            tiers: config.tiers,
            cadence: config.cadence,
            standings: Vec::new(),
            has_importances: false,
            heartbeat: config.heartbeat,
            baseline_ticks: config.baseline_ticks,
        };
        Ok(ReplicaServer {
            world,
            interest: Interest::new(config.policy)?,
            choosing,
            gaps: Gaps::new(&codes),
            codes,
            cache: Cache::default(),
            peers: Vec::new(),
            workers: vec![Worker::default()],
            encoders: vec![Encoder::new(0, config.arena_bytes)],
            scribes: vec![scribe],
            audiences: Vec::new(),
            changed: Bits::default(),
            changed_words: Vec::new(),
            all_changed: false,
            digests: Digests::default(),
            tick: Tick(0),
            baseline_ticks: config.baseline_ticks,
            arena_bytes: config.arena_bytes,
        })
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to change it; what changed goes out with the next tick.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The tick of the newest snapshots.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// How many codes were made since the beginning: with sharing, far fewer than were sent.
    pub fn encodes(&self) -> u64 {
        self.all_encoders().map(Encoder::encodes).sum()
    }

    /// The memory of long codes, one for each worker: how full it is, and whether it ever was too small.
    pub fn arenas(&self) -> impl Iterator<Item = &Arena> {
        self.all_encoders().map(Encoder::arena)
    }

    fn all_encoders(&self) -> impl Iterator<Item = &Encoder> {
        self.encoders.iter().chain(self.scribes.iter().map(|scribe| &scribe.encoder))
    }

    /// What was written since the beginning.
    pub fn written(&self) -> Written {
        self.scribes.iter().fold(Written::default(), |all, scribe| all.and(scribe.written))
    }

    /// What was sent about the objects of a class since the beginning. Of updates, a sample is counted for all: [`tally`].
    pub fn class_traffic(&self, class: ClassId) -> ClassTraffic {
        let counted = self.scribes.iter().map(|scribe| scribe.tally.class(class));
        counted.fold(ClassTraffic::default(), ClassTraffic::and)
    }

    /// Restricts who may see an object. Said before the tick in which it appears, nobody else ever hears of it.
    pub fn set_visible_to(&mut self, index: ObjectIndex, visible_to: VisibleTo) {
        if !self.world.contains(index) {
            return;
        }
        if self.audiences.len() <= index.slot() {
            self.audiences.resize(index.slot() + 1, None);
        }
        self.audiences[index.slot()] = Some((index, visible_to));
        self.interest.set_visible_to(index.slot() as u32, visible_to);
    }

    fn peer(&self, peer: ReplicaPeer) -> Option<&Peer> {
        self.peers.get(peer.index())?.as_deref()
    }

    /// A peer that holds nothing yet.
    pub fn add_peer(&mut self, config: PeerConfig) -> ReplicaPeer {
        let free = self.peers.iter().position(Option::is_none);
        let number = free.unwrap_or(self.peers.len());
        let peer = Some(Box::new(Peer::new(number as u32, config, &self.world)));
        match free {
            Some(place) => self.peers[place] = peer,
            None => self.peers.push(peer),
        }
        ReplicaPeer(number as u32)
    }

    /// Asks for what is known of a peer, ahead of [`handle_outcome`](ReplicaServer::handle_outcome) and
    /// [`select`](ReplicaServer::select): see [`netloom_cpu::fetch`](mod@netloom_cpu::fetch).
    pub fn fetch(&self, peer: ReplicaPeer) {
        self.peer(peer).into_iter().for_each(fetch);
    }

    /// Asks for its slots and snapshots on their way, once [`fetch`](ReplicaServer::fetch) has come.
    pub fn fetch_slots(&self, peer: ReplicaPeer) {
        self.peer(peer).into_iter().for_each(Peer::fetch_slots);
    }

    /// The peer is gone.
    pub fn remove_peer(&mut self, peer: ReplicaPeer) {
        if let Some(place) = self.peers.get_mut(peer.0 as usize) {
            *place = None;
        }
    }

    /// Where a peer looks from, and to which team and groups it belongs.
    pub fn set_peer(&mut self, peer: ReplicaPeer, config: PeerConfig) {
        let world = &self.world;
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.set_config(config, world);
        }
    }

    /// Which objects a peer sees besides its own, under [`Policy::Custom`](interest::Policy::Custom); in any order.
    /// Those that it may not know are left out.
    pub fn set_sight(&mut self, peer: ReplicaPeer, objects: &[ObjectIndex]) {
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.named.clear();
            peer.named.extend_from_slice(objects);
        }
    }

    /// The object that a peer calls by an alias; `None` if it was never told of such a one, or it is gone.
    pub fn object_of(&self, peer: ReplicaPeer, alias: Alias) -> Option<ObjectIndex> {
        let peer = self.peer(peer)?;
        Some(self.world.at(peer.object_slot(alias)?)?.index())
    }

    /// What a peer calls an object; `None` if it does not see it.
    pub fn alias_of(&self, peer: ReplicaPeer, index: ObjectIndex) -> Option<Alias> {
        let peer = self.peer(peer)?;
        let number = peer.slots.of(index.slot() as u32).filter(|_| self.world.contains(index))?;
        Some(peer.slots.alias(number))
    }

    /// Makes sure that a peer hears of its own objects with the next tick, as [`World::touch`] does for one.
    pub fn touch_owned(&mut self, peer: ReplicaPeer) {
        let ReplicaServer { world, peers, .. } = self;
        let Some(peer) = find(peers, peer) else { return };
        for &slot in peer.owned() {
            let Some(index) = world.at(slot as usize).map(|object| object.index()) else { continue };
            // It was found just now.
            let _here = world.touch(index);
        }
    }

    /// How much of what a peer sees it is known to have, and how much that is in all: who has just joined has nothing yet.
    pub fn progress(&self, peer: ReplicaPeer) -> Option<Progress> {
        let peer = self.peer(peer)?;
        let (total, entering) = (peer.slots.in_sight().len(), peer.entering.len());
        Some(Progress { held: total.saturating_sub(entering), total })
    }

    /// What became of a peer's inputs: said before [`select`](ReplicaServer::select), all snapshots of that tick carry it,
    /// and there is one even if there is nothing else to say. Not said, it costs nothing.
    pub fn set_feedback(&mut self, peer: ReplicaPeer, feedback: Feedback) {
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.next_feedback = Some(feedback);
        }
    }

    /// Begins the next tick: commits the world and brings interest up to date.
    pub fn begin_tick(&mut self) -> Result<Tick, WorldError> {
        self.tick = self.tick.next();
        self.world.commit(self.tick)?;
        let objects = self.world.slot_count();
        self.cache.begin(objects);
        self.workers.iter_mut().for_each(|worker| worker.wanted.begin(objects));
        let own = self.scribes.iter_mut().map(|scribe| &mut scribe.encoder);
        self.encoders.iter_mut().chain(own).for_each(Encoder::begin);
        self.note_changes(objects);
        self.update_owned();
        self.update_interest();
        if let Heartbeat::Digest { ticks } = self.choosing.heartbeat {
            self.digests.refresh(&self.world, &self.changed, ticks);
        }
        Ok(self.tick)
    }

    fn note_changes(&mut self, objects: usize) {
        let ReplicaServer { world, changed, changed_words, all_changed, choosing, .. } = self;
        changed.reserve(objects);
        changed.clear();
        choosing.standings.resize(objects, Standing::default());
        for &index in world.changed() {
            changed.insert(index.slot());
        }
        changed_words.clear();
        let words = changed.words().iter().enumerate();
        changed_words.extend(words.filter(|(_, word)| **word != 0).map(|(at, _)| at));
        let mut words = world.live().iter().zip(changed.words());
        *all_changed = words.all(|(live, changed)| live & !changed == 0);
        let mut weighed = false;
        self.workers.iter_mut().for_each(|worker| weighed |= worker.take_weighed());
        choosing.note_changes(world, weighed);
        // Of an object that is gone both mean nothing.
        for slot in world.spawned().iter().chain(world.retuned()).map(|index| index.slot()) {
            choosing.standings[slot].closeness = choosing.weights.closeness(world.relevance_radii()[slot]);
        }
    }

    fn update_owned(&mut self) {
        let ReplicaServer { world, peers, .. } = self;
        if world.reassigned().is_empty() && world.spawned().is_empty() && world.despawned().is_empty() {
            return;
        }
        for peer in peers.iter_mut().flatten() {
            world.despawned().iter().for_each(|index| peer.set_owned(index.slot() as u32, false));
            for &index in world.spawned().iter().chain(world.reassigned()) {
                let owner = world.object(index).and_then(|object| object.owner());
                peer.set_owned(index.slot() as u32, owner == Some(peer.config.owner));
            }
        }
    }

    fn update_interest(&mut self) {
        let ReplicaServer { world, interest, audiences, .. } = self;
        for index in world.despawned() {
            interest.remove(index.slot() as u32);
        }
        for &index in world.spawned() {
            let Some(object) = world.object(index) else { continue };
            let (position, radius_metres) = (object.position(), object.relevance_radius());
            // What was said of an object that never appeared does not hold for the next one in its slot.
            let said = audiences.get(index.slot()).copied().flatten().filter(|(of, _)| *of == index);
            let visible_to = said.map_or(VisibleTo::Everyone, |(_, visible_to)| visible_to);
            let placement = Placement { position, radius_metres, visible_to };
            // An index and a radius that the world took are within the ranges of interest too.
            let _in_range = interest.insert(index.slot() as u32, placement);
        }
        if interest.asks_where() {
            for index in world.moved() {
                interest.set_position(index.slot() as u32, world.motions()[index.slot()].position);
            }
        }
        for &index in world.retuned() {
            let Some(object) = world.object(index) else { continue };
            let _in_range =
                interest.set_radius(index.slot() as u32, object.relevance_radius(), object.position());
        }
        for index in world.reassigned() {
            interest.touch(index.slot() as u32);
        }
        interest.settle();
    }

    /// What choosing for a peer reads, and the peers and workers that change by it.
    fn selecting(&mut self) -> (Scene<'_>, &Choosing, &mut [Option<Box<Peer>>], &mut [Worker]) {
        let scene = Scene {
            world: &self.world,
            interest: &self.interest,
            changed: &self.changed,
            changed_words: &self.changed_words,
            all_changed: self.all_changed,
            digests: &self.digests,
            cadence: &self.choosing.cadence,
            tick: self.tick,
        };
        (scene, &self.choosing, &mut self.peers, &mut self.workers)
    }

    /// The first phase for one peer: what it sees and what goes out, within `budget_bytes` in all snapshots of this tick.
    pub fn select(&mut self, peer: ReplicaPeer, budget_bytes: usize) {
        let (scene, choosing, peers, workers) = self.selecting();
        let (Some(peer), Some(worker)) = (find(peers, peer), workers.first_mut()) else { return };
        peer.select(budget_bytes, &scene, choosing, worker);
    }

    /// The second phase: encodes what the selected updates need. [`poll_snapshot`](ReplicaServer::poll_snapshot) does it
    /// when it was left out, but selecting for all peers first and then encoding once is faster.
    pub fn encode(&mut self) {
        let ReplicaServer { world, codes, cache, workers, encoders, tick, .. } = self;
        workers.iter_mut().for_each(|worker| cache.want(&mut worker.wanted, world.live()));
        let present = Present { world, codes, tick: *tick };
        for row in cache.rows_mut() {
            row.encode(&mut encoders[0], present);
        }
    }

    /// The next snapshot for a peer: its length in `out`, whose length it never exceeds; `None` when this tick has
    /// nothing more to say or no budget left. [`select`](ReplicaServer::select) comes before, once a tick.
    pub fn poll_snapshot(&mut self, peer: ReplicaPeer, sequence: u64, out: &mut [u8]) -> Option<usize> {
        if self.workers.iter().any(|worker| !worker.wanted.is_empty()) {
            self.encode();
        }
        let ReplicaServer { world, codes, gaps, cache, choosing, peers, encoders, scribes, tick, .. } = self;
        let peer = find(peers, peer)?;
        let present = Present { world, codes, tick: *tick };
        let cadence = &choosing.cadence;
        Appending { present, cache, encoders, gaps, cadence }.write(peer, scribes.first_mut()?, sequence, out)
    }

    /// Whether much hangs on the news that this tick's snapshots for a peer arrived: others will be built upon them, or they
    /// bring or take objects. If not, the news can wait.
    pub fn is_awaited(&self, peer: ReplicaPeer) -> bool {
        self.peer(peer).is_some_and(|peer| peer.awaits(self.tick, self.baseline_ticks))
    }

    /// The next message for a peer's reliable-ordered channel: a value of a field of which every one must arrive
    /// ([`Delivery::Reliable`](netloom_wire::schema::Delivery)). Its length in `out`, of
    /// [`PROPERTY_MESSAGE_BYTES_MAX`](crate::property::PROPERTY_MESSAGE_BYTES_MAX) at most. Poll while the channel has
    /// room: a peer that falls far behind gets the newest values only.
    pub fn poll_property(&mut self, peer: ReplicaPeer, out: &mut [u8]) -> Option<usize> {
        let ReplicaServer { world, peers, scribes, .. } = self;
        let peer = find(peers, peer)?;
        let length = peer.properties.poll_property(world, out)?;
        let message = PropertyMessage::read(&out[..length]).ok();
        let slot = message.and_then(|message| peer.object_slot(message.alias));
        if let (Some(object), Some(scribe)) = (slot.and_then(|slot| world.at(slot)), scribes.first_mut()) {
            scribe.tally.count_value(object.class_id(), length);
        }
        Some(length)
    }

    /// What became of the values that a peer must all receive; `None` for a peer that is gone.
    pub fn property_counters(&self, peer: ReplicaPeer) -> Option<PropertyCounters> {
        Some(self.peer(peer)?.properties.counters())
    }

    /// From now on every so many ticks become baselines; out of the range of [`ServerConfig::baseline_ticks`] the nearest
    /// of it. Where few peers share codes, newer baselines are worth more than shared ones.
    pub fn set_baseline_ticks(&mut self, ticks: u32) {
        let ticks = ticks.clamp(*BASELINE_TICKS.start(), *BASELINE_TICKS.end());
        self.baseline_ticks = ticks;
        self.choosing.baseline_ticks = ticks;
    }

    /// Every so many ticks become baselines.
    pub fn baseline_ticks(&self) -> u32 {
        self.baseline_ticks
    }

    /// A snapshot arrived, or was lost.
    pub fn handle_outcome(&mut self, peer: ReplicaPeer, sequence: u64, acked: bool) {
        let baseline_ticks = self.baseline_ticks;
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.handle_outcome(sequence, acked, baseline_ticks);
        }
    }

    /// The peer could not read the snapshot of this tick: nothing builds on it any more. The tick is as the peer counts.
    pub fn handle_refusal(&mut self, peer: ReplicaPeer, tick: Tick) {
        let tick = nearest_tick(tick.0 as u16, self.tick);
        if let Some(peer) = find(&mut self.peers, peer) {
            peer.handle_refusal(tick);
        }
    }

    /// The peer holds something else in 64 slots than the server's digest says: they are told anew.
    pub fn handle_mismatch(&mut self, peer: ReplicaPeer, region: u16) {
        if let Some(peer) = find(&mut self.peers, peer).filter(|_| usize::from(region) < REGIONS_MAX) {
            peer.handle_mismatch(region);
        }
    }
}

fn find(peers: &mut [Option<Box<Peer>>], peer: ReplicaPeer) -> Option<&mut Peer> {
    peers.get_mut(peer.0 as usize)?.as_deref_mut()
}
