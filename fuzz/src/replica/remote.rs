//! One client behind a network that does what it is told.
//!
//! ```text
//!   server ──▶ down: snapshots, in any order, lost, repeated ──▶ client
//!          ──▶ channel: properties, late but in order        ──▶
//!          ◀── up: what arrived, what was refused, in any order ──
//! ```

use std::collections::VecDeque;

use netloom_replica::client::ReplicaClient;
use netloom_replica::property::PROPERTY_MESSAGE_BYTES_MAX;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer};
use netloom_replica::world::ObjectIndex;
use netloom_wire::Tick;

use super::recording::fresh_client;
use super::witness::Witness;

/// Snapshots on their way; the oldest is lost when there are more.
const DOWN_MAX: usize = 48;

/// What the client, or the connection below it, will tell the server.
#[derive(Clone, Copy, Debug)]
enum Report {
    Outcome { sequence: u64, acked: bool },
    Refused(Tick),
    Mismatch(u16),
}

struct Snapshot {
    /// `None` of a copy, of which nobody is told.
    sequence: Option<u64>,
    bytes: Vec<u8>,
}

/// A client and what is on its way to it and back.
pub struct Remote {
    pub peer: ReplicaPeer,
    pub config: PeerConfig,
    pub client: ReplicaClient,
    /// What the game shows it, where that is the game's to say.
    pub sight: Vec<ObjectIndex>,
    /// Whether it only ever told the truth.
    pub is_honest: bool,
    witness: Witness,
    down: Vec<Snapshot>,
    up: Vec<Report>,
    channel: VecDeque<Vec<u8>>,
}

impl Remote {
    pub fn new(peer: ReplicaPeer, config: PeerConfig) -> Remote {
        Remote {
            peer,
            config,
            client: fresh_client(),
            sight: Vec::new(),
            is_honest: true,
            witness: Witness::default(),
            down: Vec::new(),
            up: Vec::new(),
            channel: VecDeque::new(),
        }
    }

    /// Takes this tick's snapshots from the server, which must keep within the budget.
    pub fn select(&mut self, server: &mut ReplicaServer, sequence: &mut u64, budget: usize, room: usize) {
        server.select(self.peer, budget);
        let mut out = vec![0; room];
        let mut left = budget;
        while let Some(length) = server.poll_snapshot(self.peer, *sequence, &mut out) {
            assert!(length <= room, "no snapshot is longer than its buffer");
            left = left.checked_sub(length).expect("no tick takes more than its budget");
            if self.down.len() == DOWN_MAX {
                self.lose(0);
            }
            self.down.push(Snapshot { sequence: Some(*sequence), bytes: out[..length].to_vec() });
            *sequence += 1;
        }
    }

    /// Takes up to `count` messages for the property channel.
    pub fn take_properties(&mut self, server: &mut ReplicaServer, count: usize) {
        let mut out = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
        for _ in 0..count {
            let Some(length) = server.poll_property(self.peer, &mut out) else { break };
            self.channel.push_back(out[..length].to_vec());
        }
    }

    pub fn snapshots_on_their_way(&self) -> usize {
        self.down.len()
    }

    pub fn reports_on_their_way(&self) -> usize {
        self.up.len()
    }

    /// A snapshot arrives.
    pub fn deliver(&mut self, index: usize) {
        let Snapshot { sequence, bytes } = self.down.remove(index);
        let _read_or_refused = self.client.handle_snapshot(&bytes);
        let refused = std::iter::from_fn(|| self.client.poll_refusal());
        self.up.extend(refused.map(|refusal| Report::Refused(refusal.tick)));
        self.up.extend(sequence.map(|sequence| Report::Outcome { sequence, acked: true }));
        while let Some(region) = self.client.poll_mismatch() {
            assert!(!self.is_honest, "what rests is the same on both sides: region {region}");
            self.up.push(Report::Mismatch(region));
        }
        self.witness.check(&mut self.client);
    }

    /// A snapshot is lost.
    pub fn lose(&mut self, index: usize) {
        let lost = self.down.remove(index).sequence;
        self.up.extend(lost.map(|sequence| Report::Outcome { sequence, acked: false }));
    }

    /// A snapshot is taken for lost, but may arrive all the same.
    pub fn give_up(&mut self, index: usize) {
        let lost = self.down[index].sequence.take();
        self.up.extend(lost.map(|sequence| Report::Outcome { sequence, acked: false }));
    }

    pub fn duplicate(&mut self, index: usize) {
        if self.down.len() < DOWN_MAX {
            let bytes = self.down[index].bytes.clone();
            self.down.push(Snapshot { sequence: None, bytes });
        }
    }

    /// The server learns something.
    pub fn report(&mut self, server: &mut ReplicaServer, index: usize) {
        match self.up.remove(index) {
            Report::Outcome { sequence, acked } => server.handle_outcome(self.peer, sequence, acked),
            Report::Refused(tick) => server.handle_refusal(self.peer, tick),
            Report::Mismatch(region) => server.handle_mismatch(self.peer, region),
        }
    }

    /// Messages of the property channel arrive.
    pub fn deliver_properties(&mut self, count: usize) {
        for message in self.channel.drain(..count.min(self.channel.len())) {
            self.client.handle_property(&message).expect("a server writes valid messages");
        }
        while self.client.poll_property().expect("a server says what the class allows").is_some() {}
    }

    /// Everything that is on its way arrives.
    pub fn deliver_all(&mut self, server: &mut ReplicaServer) {
        while !self.down.is_empty() {
            self.deliver(0);
        }
        while !self.up.is_empty() {
            self.report(server, 0);
        }
        self.deliver_properties(usize::MAX);
    }
}
