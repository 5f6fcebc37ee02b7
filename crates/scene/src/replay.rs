//! A scene through replication: a server, a network that delays and loses, and clients that decode everything.
//!
//! A figure of bytes is worth something only if whoever received them ended up with what was sent. So every client decodes
//! every snapshot that reaches it, and after each tick everything that it holds is compared with what the server had at
//! that tick, word for word; a difference ends the replay with an error and there is no figure.
//!
//! ```text
//!   Source ──▶ World ──▶ ReplicaServer ──▶ snapshots ──▶ lost? ──▶ ReplicaClient ──▶ compared
//!                            ▲                             └── the server hears of it `ack_ticks` later,
//!                            └── acked, or lost ◀───────────── of a loss three ticks after that
//! ```

mod compare;
mod traffic;

pub use compare::{Loss, feed};
pub use traffic::Traffic;

use std::collections::VecDeque;

use netloom_replica::SettingError;
use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::Codes;
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::world::{ClassTable, OwnerId};

use crate::{SceneError, Source};

/// A sender calls a packet lost when those after it are acknowledged and it is not.
const LOSS_NOTICED_TICKS: usize = 3;
/// Ticks without motion or loss until entries that were lost, and what came after them, must have arrived.
const CALM_TICKS: usize = 48;

/// What a scene is sent through.
#[derive(Clone, Debug)]
pub struct ReplayConfig {
    /// The tables that both sides have.
    pub codes: Codes,
    /// How the server replicates.
    pub server: ServerConfig,
    /// How many clients see everything: 1 and more.
    pub clients: usize,
    /// How many ticks after a snapshot the server hears that it arrived, 1 and more: the age of the newest baseline.
    pub ack_ticks: usize,
    /// How many of 100 snapshots do not arrive.
    pub loss_percent: u32,
    /// What decides which.
    pub seed: u64,
    /// Bytes of snapshots for a client and tick.
    pub budget_bytes: usize,
    /// Bytes of a snapshot: what a datagram leaves for it.
    pub snapshot_bytes_max: usize,
    /// What a datagram has besides the snapshot: header, tag, frame. It counts as sent.
    pub datagram_overhead_bytes: usize,
}

impl ReplayConfig {
    /// One client that sees everything, without loss, whose acks come two ticks after the snapshot; the server as it is by
    /// default. Datagrams weigh nothing.
    pub fn new(codes: Codes) -> ReplayConfig {
        ReplayConfig {
            codes,
            server: ServerConfig::default(),
            clients: 1,
            ack_ticks: 2,
            loss_percent: 0,
            seed: 1,
            budget_bytes: 64 * 1024,
            snapshot_bytes_max: 1_150,
            datagram_overhead_bytes: 0,
        }
    }
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The scene has no next tick.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A setting of the server is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A client does not hold what the server sent.
    #[error("tick {tick}: client {client} {what}")]
    Diverged {
        /// The tick, counted from 1.
        tick: u64,
        /// The client, counted from 0.
        client: usize,
        /// The difference.
        what: String,
    },
    /// The server made a snapshot that has no form.
    #[error("tick {tick}: the server's own snapshot cannot be read: {source}")]
    Snapshot {
        /// The tick, counted from 1.
        tick: u64,
        /// What is wrong with it.
        source: netloom_wire::ReadError,
    },
}

/// What was counted since the beginning, or since it was [forgotten](Replay::forget_figures).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Ticks that were played.
    pub ticks: u64,
    /// Objects that changed, summed over ticks.
    pub changed: u64,
    /// Objects that there were, summed over ticks.
    pub objects: u64,
    /// Clients.
    pub clients: u64,
    /// What was sent to all of them.
    pub traffic: Traffic,
    /// Bytes of datagrams besides snapshots.
    pub overhead_bytes: u64,
    /// How far clients were from the scene at most.
    pub loss: Loss,
    /// Ticks of a second.
    pub ticks_per_second: u32,
}

impl Figures {
    /// The share of the objects that change in a tick.
    pub fn changed_share(&self) -> f64 {
        self.changed as f64 / self.objects as f64
    }

    /// All bytes but those of entries and leaves, for each update.
    pub fn bytes_per_update(&self) -> f64 {
        (self.traffic.bytes - self.traffic.existence_bytes + self.overhead_bytes) as f64
            / self.traffic.updates as f64
    }

    /// All bytes, entries and leaves included, for each object that changed, and client.
    pub fn bytes_per_changed(&self) -> f64 {
        (self.traffic.bytes + self.overhead_bytes) as f64 / (self.changed * self.clients) as f64
    }

    /// Thousands of bytes to one client in a second.
    pub fn kb_per_second(&self) -> f64 {
        let seconds = self.ticks as f64 / f64::from(self.ticks_per_second);
        (self.traffic.bytes + self.overhead_bytes) as f64 / 1_000.0 / seconds / self.clients as f64
    }
}

struct Client {
    peer: ReplicaPeer,
    client: ReplicaClient,
    sequence_next: u64,
    /// Sequences whose fate the server hears of, by ticks from now.
    outcomes: VecDeque<Vec<(u64, bool)>>,
}

/// A snapshot of the newest tick.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// For which client, counted from 0.
    pub client: usize,
    /// The bytes.
    pub payload: &'a [u8],
    /// Whether it reached the client.
    pub has_arrived: bool,
}

/// A replay in the middle of its work.
pub struct Replay<S> {
    source: S,
    server: ReplicaServer,
    config: ReplayConfig,
    clients: Vec<Client>,
    random: u64,
    ticks: u64,
    figures: Figures,
    /// Bytes of the newest tick's snapshots, and of each the client, where it ends, and whether it arrived.
    bytes: Vec<u8>,
    sent: Vec<(usize, usize, bool)>,
}

impl<S: Source> Replay<S> {
    /// Everybody in place, nothing sent yet.
    pub fn new(source: S, config: ReplayConfig) -> Result<Replay<S>, ReplayError> {
        let at_least_one = |field, value: usize| SettingError::check(field, value, 1..=65_535, "1 to 65,535");
        at_least_one("clients", config.clients)?;
        at_least_one("ack_ticks", config.ack_ticks)?;
        SettingError::check("loss_percent", config.loss_percent, 0..=99, "0 to 99")?;
        SettingError::check("snapshot_bytes_max", config.snapshot_bytes_max, 256..=65_535, "256 to 65,535")?;
        let world = source.world()?;
        let classes: ClassTable = world.classes().clone();
        let mut server = ReplicaServer::new(world, config.codes.clone(), config.server.clone())?;
        let clients = (0..config.clients).map(|number| Client {
            peer: server.add_peer(PeerConfig::new(OwnerId(number as u32))),
            client: ReplicaClient::new(classes.clone(), config.codes.clone()),
            sequence_next: 0,
            outcomes: vec![Vec::new(); config.ack_ticks + LOSS_NOTICED_TICKS].into(),
        });
        let clients = clients.collect();
        let random = config.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let figures = Replay::<S>::no_figures(&source, &config);
        let (bytes, sent) = (Vec::new(), Vec::new());
        Ok(Replay { source, server, config, clients, random, ticks: 0, figures, bytes, sent })
    }

    /// One tick. False if the scene is over: then nothing happened.
    pub fn tick(&mut self) -> Result<bool, ReplayError> {
        if !self.source.play(self.server.world_mut())? {
            return Ok(false);
        }
        self.send(self.config.loss_percent)?;
        self.compare(false)?;
        Ok(true)
    }

    /// So many ticks, or as many as the scene has: how many those were.
    pub fn run(&mut self, ticks: usize) -> Result<usize, ReplayError> {
        for played in 0..ticks {
            if !self.tick()? {
                return Ok(played);
            }
        }
        Ok(ticks)
    }

    /// The scene stands still and nothing is lost, until every client must hold all that the server has. Figures are as before.
    pub fn settle(&mut self) -> Result<(), ReplayError> {
        let figures = self.figures;
        for _ in 0..CALM_TICKS + self.config.ack_ticks {
            self.send(0)?;
        }
        self.figures = figures;
        self.compare(true)
    }

    /// What was counted.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Counts from here.
    pub fn forget_figures(&mut self) {
        self.figures = Replay::<S>::no_figures(&self.source, &self.config);
    }

    /// The server.
    pub fn server(&self) -> &ReplicaServer {
        &self.server
    }

    /// What a client has.
    pub fn client(&self, number: usize) -> Option<&ReplicaClient> {
        self.clients.get(number).map(|client| &client.client)
    }

    /// The snapshots of the newest tick.
    pub fn sent(&self) -> impl Iterator<Item = Sent<'_>> {
        let mut start = 0;
        self.sent.iter().map(move |&(client, end, has_arrived)| {
            let payload = &self.bytes[start..end];
            start = end;
            Sent { client, payload, has_arrived }
        })
    }

    fn no_figures(source: &S, config: &ReplayConfig) -> Figures {
        let ticks_per_second = source.ticks_per_second();
        Figures { clients: config.clients as u64, ticks_per_second, ..Figures::default() }
    }

    /// What the game wrote goes out, and what arrives is decoded.
    fn send(&mut self, loss_percent: u32) -> Result<(), ReplayError> {
        self.ticks += 1;
        for client in &mut self.clients {
            for (sequence, has_arrived) in client.outcomes.pop_front().unwrap_or_default() {
                self.server.handle_outcome(client.peer, sequence, has_arrived);
            }
            client.outcomes.push_back(Vec::new());
        }
        self.server.begin_tick().map_err(SceneError::from)?;
        for client in &self.clients {
            self.server.select(client.peer, self.config.budget_bytes);
        }
        self.server.encode();
        self.bytes.clear();
        self.sent.clear();
        for number in 0..self.clients.len() {
            self.send_to(number, loss_percent)?;
        }
        let world = self.server.world();
        self.figures.ticks += 1;
        self.figures.changed += world.changed().len() as u64;
        self.figures.objects += world.len() as u64;
        Ok(())
    }

    fn send_to(&mut self, number: usize, loss_percent: u32) -> Result<(), ReplayError> {
        let tick = self.ticks;
        loop {
            let start = self.bytes.len();
            self.bytes.resize(start + self.config.snapshot_bytes_max, 0);
            let client = &mut self.clients[number];
            let sequence = client.sequence_next;
            let length = self.server.poll_snapshot(client.peer, sequence, &mut self.bytes[start..]);
            self.bytes.truncate(start + length.unwrap_or(0));
            if length.is_none() {
                return Ok(());
            }
            client.sequence_next += 1;
            let payload = &self.bytes[start..];
            let counted = self.figures.traffic.count(payload, self.server.world().classes());
            counted.map_err(|source| ReplayError::Snapshot { tick, source })?;
            self.figures.overhead_bytes += self.config.datagram_overhead_bytes as u64;
            let has_arrived = percent(&mut self.random) >= loss_percent;
            let heard = self.config.ack_ticks - 1 + if has_arrived { 0 } else { LOSS_NOTICED_TICKS };
            client.outcomes[heard].push((sequence, has_arrived));
            self.sent.push((number, self.bytes.len(), has_arrived));
            if has_arrived {
                let fed = feed(&mut client.client, payload);
                fed.map_err(|what| ReplayError::Diverged { tick, client: number, what })?;
                while let Some(region) = client.client.poll_mismatch() {
                    self.server.handle_mismatch(client.peer, region);
                }
            }
        }
    }

    fn compare(&mut self, is_settled: bool) -> Result<(), ReplayError> {
        for (number, client) in self.clients.iter().enumerate() {
            let compared = compare::compare(
                &client.client,
                &self.server,
                client.peer,
                is_settled,
                &mut self.figures.loss,
            );
            compared.map_err(|what| ReplayError::Diverged { tick: self.ticks, client: number, what })?;
        }
        Ok(())
    }
}

/// One of 0 to 99: xorshift64.
fn percent(random: &mut u64) -> u32 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    ((*random >> 33) % 100) as u32
}
