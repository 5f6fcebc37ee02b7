//! The server's half of replication: who sees what, and the snapshots that tell them.
//!
//! A tick has three phases. No two peers share anything that changes in the first and the last, and in the second no
//! two codes do, so a driver can spread each over workers:
//!
//! ```text
//!   world ──commit──▶ select, per peer ──▶ encode, per object and baselines ──▶ append, per peer ──▶ snapshots
//!                     interest, priority     once for all who share them          caller's buffer
//! ```
//!
//! Nothing here knows of connections. A snapshot has a sequence number; whoever sends it says later whether it arrived
//! ([`ReplicaServer::handle_outcome`]), and only what arrived is built on.

mod cache;
pub mod interest;
mod peer;
pub mod priority;
pub mod setting;
mod slots;
mod write;

use netloom_wire::Tick;

use crate::codec::Codes;
use crate::world::{ObjectIndex, World, WorldError};
use cache::Cache;
use interest::{Interest, Placement, Policy, VisibleTo};
use peer::{Peer, Shared};
use setting::SettingError;

pub use peer::PeerConfig;

/// A peer of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaPeer(u32);

/// How a server replicates.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Who sees what.
    pub policy: Policy,
    /// Only every so many ticks becomes a baseline, so that peers with different round trips share codes: 1 to 8.
    pub baseline_ticks: u32,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig { policy: Policy::Everyone, baseline_ticks: 4 }
    }
}

/// The world, and what every peer holds of it.
#[derive(Debug)]
pub struct ReplicaServer {
    world: World,
    interest: Interest,
    codes: Codes,
    cache: Cache,
    peers: Vec<Option<Box<Peer>>>,
    shared: Shared,
    /// Who may see each object, by its slot in the world.
    audiences: Vec<VisibleTo>,
    tick: Tick,
    baseline_ticks: u32,
}

impl ReplicaServer {
    /// A server of a world.
    pub fn new(world: World, codes: Codes, config: ServerConfig) -> Result<ReplicaServer, SettingError> {
        SettingError::check("baseline_ticks", config.baseline_ticks, 1..=8, "1 to 8")?;
        Ok(ReplicaServer {
            world,
            interest: Interest::new(config.policy)?,
            codes,
            cache: Cache::default(),
            peers: Vec::new(),
            shared: Shared::default(),
            audiences: Vec::new(),
            tick: Tick(0),
            baseline_ticks: config.baseline_ticks,
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
        self.cache.encodes()
    }

    /// Restricts who may see an object. Said before the tick in which it appears, nobody else ever hears of it.
    pub fn set_visible_to(&mut self, index: ObjectIndex, visible_to: VisibleTo) {
        if !self.world.contains(index) {
            return;
        }
        if self.audiences.len() <= index.slot() {
            self.audiences.resize(index.slot() + 1, VisibleTo::Everyone);
        }
        self.audiences[index.slot()] = visible_to;
        self.interest.set_visible_to(index.slot() as u32, visible_to);
    }

    /// A peer that holds nothing yet.
    pub fn add_peer(&mut self, config: PeerConfig) -> ReplicaPeer {
        let free = self.peers.iter().position(Option::is_none);
        let number = free.unwrap_or(self.peers.len());
        let mut peer = Box::new(Peer::new(number as u32, config));
        peer.set_owned(&self.world);
        match free {
            Some(place) => self.peers[place] = Some(peer),
            None => self.peers.push(Some(peer)),
        }
        ReplicaPeer(number as u32)
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
        if let Some(Some(peer)) = self.peers.get_mut(peer.0 as usize) {
            peer.config = config;
            peer.set_owned(world);
        }
    }

    /// Begins the next tick: commits the world and brings interest up to date.
    pub fn begin_tick(&mut self) -> Result<Tick, WorldError> {
        self.tick = self.tick.next();
        self.world.commit(self.tick)?;
        self.cache.clear();
        let world = &self.world;
        for index in world.despawned() {
            self.interest.remove(index.slot() as u32);
            if let Some(audience) = self.audiences.get_mut(index.slot()) {
                *audience = VisibleTo::Everyone;
            }
        }
        for &index in world.spawned() {
            let Some(object) = world.object(index) else { continue };
            let (position, radius_metres) = (object.position(), object.relevance_radius());
            let visible_to = self.audiences.get(index.slot()).copied().unwrap_or_default();
            let placement = Placement { position, radius_metres, visible_to };
            // An index and a radius that the world took are within the ranges of interest too.
            let _in_range = self.interest.insert(index.slot() as u32, placement);
        }
        for index in world.moved() {
            self.interest.set_position(index.slot() as u32, world.positions()[index.slot()]);
        }
        for index in world.reassigned() {
            self.interest.touch(index.slot() as u32);
        }
        self.interest.settle();
        if !world.reassigned().is_empty() || !world.spawned().is_empty() || !world.despawned().is_empty() {
            self.peers.iter_mut().flatten().for_each(|peer| peer.set_owned(world));
        }
        Ok(self.tick)
    }

    /// The first phase for one peer: what it sees and what goes out, within about `budget_bytes` of updates.
    pub fn select(&mut self, peer: ReplicaPeer, budget_bytes: usize) {
        let Some(Some(peer)) = self.peers.get_mut(peer.0 as usize) else { return };
        let budget_bits = u32::try_from(budget_bytes.saturating_mul(8)).unwrap_or(u32::MAX);
        peer.select(self.tick, budget_bits, &self.world, &self.interest, &mut self.shared);
    }

    /// A snapshot arrived, or was lost.
    pub fn handle_outcome(&mut self, peer: ReplicaPeer, sequence: u64, acked: bool) {
        if let Some(Some(peer)) = self.peers.get_mut(peer.0 as usize) {
            peer.handle_outcome(sequence, acked, self.baseline_ticks);
        }
    }

    /// The peer could not read the snapshot of this tick: nothing builds on it any more. The tick is as the peer counts.
    pub fn handle_refusal(&mut self, peer: ReplicaPeer, tick: Tick) {
        let distance = (tick.0 as u16).wrapping_sub(self.tick.0 as u16) as i16;
        let tick = Tick(self.tick.0.wrapping_add_signed(distance.into()));
        if let Some(Some(peer)) = self.peers.get_mut(peer.0 as usize) {
            peer.handle_refusal(tick);
        }
    }
}
