//! One process with one endpoint.

use std::net::SocketAddr;

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{Config, Endpoint, ListenConfig, ResumeToken};
use netloom_wire::Micros;

use super::Flow;
use crate::rng::Rng;
use crate::runner::Failure;

/// Where every node's clock starts: far enough from zero to jump back.
const CLOCK_ORIGIN_MICROS: i64 = 1_000_000_000_000;

/// When a node looks at its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Once per tick of the game, as an engine's main loop does.
    Tick,
    /// At every arrival and deadline as well, as an I/O thread does.
    Eager,
}

/// What a node is.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// Its own address.
    pub socket: SocketAddr,
    /// Its endpoint's configuration.
    pub config: Config,
    /// Whether it accepts connections, and how many.
    pub listen: Option<ListenConfig>,
    /// When it looks at its endpoint.
    pub driver: Driver,
    /// What it sends to every peer.
    pub traffic: Vec<Flow>,
    /// When it stops sending.
    pub traffic_until: Micros,
    /// A client that connects again whenever its connection is lost.
    pub reconnects: bool,
    /// Rewrites what it sends, as a modified client does.
    pub tamper: Option<Tamper>,
}

/// Rewrites a datagram of the given length in place and returns its new length.
pub type Tamper = fn(&mut Rng, &Config, &mut [u8; DATAGRAM_MAX], usize) -> usize;

impl NodeConfig {
    /// A node that listens to nobody, sends nothing and looks at its endpoint once per tick.
    pub fn new(socket: SocketAddr, config: Config) -> NodeConfig {
        NodeConfig {
            socket,
            config,
            listen: None,
            driver: Driver::Tick,
            traffic: Vec::new(),
            traffic_until: Micros::MAX,
            reconnects: false,
            tamper: None,
        }
    }
}

/// A node and its state.
pub struct Node {
    pub(super) setup: NodeConfig,
    pub(super) endpoint: Endpoint,
    pub(super) server: Option<SocketAddr>,
    pub(super) resume_token: Option<ResumeToken>,
    pub(super) wakes_at: Option<Micros>,
    pub(super) is_dirty: bool,
    pub(super) rng: Rng,
    seeds: Rng,
    pub(super) starts: u64,
    clock_offset_micros: i64,
}

impl Node {
    pub(super) fn new(setup: NodeConfig, rng: &Rng) -> Result<Node, Failure> {
        let seeds = rng.fork("endpoint seeds");
        Ok(Node {
            endpoint: endpoint(&setup, &seeds, 0)?,
            setup,
            server: None,
            resume_token: None,
            wakes_at: None,
            is_dirty: true,
            rng: rng.fork("traffic"),
            seeds,
            starts: 1,
            clock_offset_micros: CLOCK_ORIGIN_MICROS,
        })
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The endpoint's configuration.
    pub fn config(&self) -> &Config {
        &self.setup.config
    }

    /// The node's own address.
    pub fn socket(&self) -> SocketAddr {
        self.setup.socket
    }

    /// Whether the node accepts connections.
    pub fn is_listening(&self) -> bool {
        self.setup.listen.is_some()
    }

    /// What the node's clock shows.
    pub(super) fn local(&self, now: Micros) -> Micros {
        Micros(now.0.saturating_add_signed(self.clock_offset_micros))
    }

    /// When the node's clock will show `local`.
    pub(super) fn global(&self, local: Micros) -> Micros {
        Micros(local.0.saturating_add_signed(-self.clock_offset_micros))
    }

    pub(super) fn jump_clock(&mut self, by_micros: i64) {
        self.clock_offset_micros += by_micros;
        self.is_dirty = true;
    }

    /// Starts anew with nothing but the configuration, and fresh randomness as every process gets.
    pub(super) fn restart(&mut self) {
        let endpoint = endpoint(&self.setup, &self.seeds, self.starts);
        self.endpoint = endpoint.expect("the first start took this configuration");
        self.starts += 1;
        self.resume_token = None;
        self.is_dirty = true;
    }
}

fn endpoint(setup: &NodeConfig, seeds: &Rng, start: u64) -> Result<Endpoint, Failure> {
    let mut seed = [0; 32];
    seeds.fork_index(start).fill(&mut seed);
    Endpoint::new(setup.config.clone(), setup.listen, seed).map_err(|error| Failure::Setup(error.to_string()))
}
