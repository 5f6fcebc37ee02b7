//! The snapshots that one thread wrote in a tick, and how threads share the jobs of a phase.

use netloom_crew::{Crew, Job};
use netloom_replica::server::ReplicaPeer;

/// What a datagram leaves for one snapshot.
const SNAPSHOT_BYTES_MAX: usize = 1_150;

/// Parts of the snapshots of one tick: their sequence numbers have so many bits.
const PART_BITS: u32 = 6;

/// A snapshot.
pub struct Sent {
    /// To whom: the number of the peer.
    pub peer: usize,
    /// Its number.
    pub sequence: u64,
    start: usize,
    /// Its bytes.
    pub length: usize,
}

/// Snapshots, and their bytes.
#[derive(Default)]
pub struct Sheaf {
    bytes: Vec<u8>,
    /// In the order of peers.
    pub sent: Vec<Sent>,
}

impl Sheaf {
    /// Takes all snapshots of a tick for some peers.
    pub fn fill(
        &mut self,
        tick: usize,
        peers: impl Iterator<Item = ReplicaPeer>,
        mut poll: impl FnMut(ReplicaPeer, u64, &mut [u8]) -> Option<usize>,
    ) {
        self.sent.clear();
        let mut start = 0;
        for peer in peers {
            for part in 0..1 << PART_BITS {
                if self.bytes.len() < start + SNAPSHOT_BYTES_MAX {
                    self.bytes.resize(2 * (start + SNAPSHOT_BYTES_MAX), 0);
                }
                let sequence = (tick as u64) << PART_BITS | part;
                let room = &mut self.bytes[start..start + SNAPSHOT_BYTES_MAX];
                let Some(length) = poll(peer, sequence, room) else { break };
                self.sent.push(Sent { peer: peer.index(), sequence, start, length });
                start += length;
            }
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Sent, &[u8])> {
        self.sent.iter().map(|sent| (sent, &self.bytes[sent.start..sent.start + sent.length]))
    }
}

/// Lets the threads of a crew do jobs, and waits for them.
pub fn share_out<J: Send>(crew: &Crew, jobs: impl Iterator<Item = J>, work: impl Fn(J) + Sync) {
    let (mut jobs, work): (Vec<Option<J>>, _) = (jobs.map(Some).collect(), &work);
    let mut calls: Vec<_> =
        jobs.iter_mut().map(|job| move || job.take().into_iter().for_each(work)).collect();
    let mut calls: Vec<Job<'_>> = calls.iter_mut().map(|call| -> Job<'_> { call }).collect();
    crew.run(&mut calls);
}
