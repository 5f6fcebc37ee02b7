//! The phases of a tick, cut into jobs for several threads.
//!
//! Jobs of one phase share nothing that changes; run all of one phase before the next begins.
//!
//! ```
//! # use netloom_replica::server::{PeerConfig, ReplicaServer, ServerConfig};
//! # use netloom_replica::world::{OwnerId, World, WorldConfig};
//! # let world = World::new(Vec::new(), WorldConfig::default())?;
//! # let mut server = ReplicaServer::new(world, netloom_replica::codec::Codes::generic(), ServerConfig::default())?;
//! # for owner in 0..10 { server.add_peer(PeerConfig::new(OwnerId(owner))); }
//! server.begin_tick()?;
//! std::thread::scope(|threads| {
//!     for mut job in server.select_jobs(2) {
//!         threads.spawn(move || job.peers().for_each(|peer| job.select(peer, 1_000)));
//!     }
//! });
//! std::thread::scope(|threads| {
//!     for job in server.encode_jobs(2) {
//!         threads.spawn(move || job.run());
//!     }
//! });
//! std::thread::scope(|threads| {
//!     for mut job in server.append_jobs(2) {
//!         threads.spawn(move || {
//!             let mut out = [0; 1_150];
//!             for peer in job.peers() {
//!                 while let Some(length) = job.poll_snapshot(peer, 1, &mut out) {
//!                     // seal and send out[..length]
//!                     # let _ = length;
//!                 }
//!             }
//!         });
//!     }
//! });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use super::append::{Appending, Scribe};
use super::cache::{ENCODERS_MAX, Encoder, Present, Row};
use super::choose::{Choosing, Worker};
use super::peer::{Peer, Scene};
use super::{ReplicaPeer, ReplicaServer};

/// Some of the peers, to be selected for.
#[derive(Debug)]
pub struct SelectJob<'a> {
    scene: Scene<'a>,
    choosing: &'a Choosing,
    worker: &'a mut Worker,
    peers: Share<'a>,
}

impl SelectJob<'_> {
    /// The peers of this job.
    pub fn peers(&self) -> impl Iterator<Item = ReplicaPeer> + use<> {
        self.peers.range()
    }

    /// As [`ReplicaServer::select`], for a peer of this job.
    pub fn select(&mut self, peer: ReplicaPeer, budget_bytes: usize) {
        if let Some(peer) = self.peers.get(peer) {
            peer.select(budget_bytes, &self.scene, self.choosing, self.worker);
        }
    }
}

/// Some of the codes, to be made.
#[derive(Debug)]
pub struct EncodeJob<'a> {
    present: Present<'a>,
    encoder: &'a mut Encoder,
    rows: &'a mut [Row],
}

impl EncodeJob<'_> {
    /// Makes them.
    pub fn run(self) {
        for row in self.rows {
            row.encode(self.encoder, self.present);
        }
    }
}

/// Some of the peers, whose snapshots are to be written.
#[derive(Debug)]
pub struct AppendJob<'a> {
    appending: Appending<'a>,
    scribe: &'a mut Scribe,
    peers: Share<'a>,
}

impl AppendJob<'_> {
    /// The peers of this job.
    pub fn peers(&self) -> impl Iterator<Item = ReplicaPeer> + use<> {
        self.peers.range()
    }

    /// As [`ReplicaServer::poll_snapshot`], for a peer of this job.
    pub fn poll_snapshot(&mut self, peer: ReplicaPeer, sequence: u64, out: &mut [u8]) -> Option<usize> {
        let peer = self.peers.get(peer)?;
        self.appending.write(peer, self.scribe, sequence, out)
    }
}

/// Peers that lie next to each other.
#[derive(Debug)]
struct Share<'a> {
    first: u32,
    peers: &'a mut [Option<Box<Peer>>],
}

impl Share<'_> {
    fn range(&self) -> impl Iterator<Item = ReplicaPeer> + use<> {
        let Range { start, end } = self.first..self.first + self.peers.len() as u32;
        (start..end).map(ReplicaPeer)
    }

    fn get(&mut self, peer: ReplicaPeer) -> Option<&mut Peer> {
        self.peers.get_mut(peer.0.checked_sub(self.first)? as usize)?.as_deref_mut()
    }
}

/// Cuts peers into `count` shares of about the same size.
fn shares(peers: &mut [Option<Box<Peer>>], count: usize) -> impl Iterator<Item = Share<'_>> {
    let size = peers.len().div_ceil(count).max(1);
    peers.chunks_mut(size).enumerate().map(move |(at, peers)| Share { first: (at * size) as u32, peers })
}

impl ReplicaServer {
    /// The first phase in at most `count` jobs, 1 to 64.
    pub fn select_jobs(&mut self, count: usize) -> impl Iterator<Item = SelectJob<'_>> {
        let count = count.clamp(1, ENCODERS_MAX);
        let objects = self.world.slot_count();
        while self.workers.len() < count {
            let mut worker = Worker::default();
            worker.wanted.begin(objects);
            self.workers.push(worker);
        }
        let (scene, choosing, peers, workers) = self.selecting();
        let shares = shares(peers, count).zip(workers);
        shares.map(move |(peers, worker)| SelectJob { scene, choosing, worker, peers })
    }

    /// The second phase in at most `count` jobs, 1 to 64.
    pub fn encode_jobs(&mut self, count: usize) -> impl Iterator<Item = EncodeJob<'_>> {
        let count = count.clamp(1, ENCODERS_MAX);
        while self.encoders.len() < count {
            self.encoders.push(Encoder::new(self.encoders.len(), self.arena_bytes));
        }
        let ReplicaServer { world, codes, cache, workers, encoders, tick, .. } = self;
        workers.iter_mut().for_each(|worker| cache.want(&mut worker.wanted, world.live()));
        let present = Present { world, codes, tick: *tick };
        let parts = encoders.iter_mut().zip(cache.parts_mut(count));
        parts.map(move |(encoder, rows)| EncodeJob { present, encoder, rows })
    }

    /// The last phase in at most `count` jobs, 1 to 64.
    pub fn append_jobs(&mut self, count: usize) -> impl Iterator<Item = AppendJob<'_>> {
        let count = count.clamp(1, ENCODERS_MAX);
        while self.scribes.len() < count {
            self.scribes.push(Scribe::new(self.arena_bytes, self.world.classes().len()));
        }
        let ReplicaServer { world, codes, gaps, cache, choosing, peers, encoders, scribes, tick, .. } = self;
        let present = Present { world, codes, tick: *tick };
        let cadence = &choosing.cadence;
        let appending = Appending { present, cache, encoders, gaps, cadence };
        let shares = shares(peers, count).zip(scribes);
        shares.map(move |(peers, scribe)| AppendJob { appending, scribe, peers })
    }
}
