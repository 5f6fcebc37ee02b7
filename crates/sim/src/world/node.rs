//! One process with one endpoint.

use std::net::SocketAddr;

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
    /// Whether a restart repeats the first start's randomness: the worst case for keys and nonces.
    pub restarts_with_same_seed: bool,
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

    /// Starts anew with nothing but the configuration.
    pub(super) fn restart(&mut self) {
        let start = if self.setup.restarts_with_same_seed {
            0
        } else {
            self.starts
        };
        self.starts += 1;
        self.endpoint =
            endpoint(&self.setup, &self.seeds, start).expect("the first start took this configuration");
        self.resume_token = None;
        self.is_dirty = true;
    }
}

fn endpoint(setup: &NodeConfig, seeds: &Rng, start: u64) -> Result<Endpoint, Failure> {
    let mut seed = [0; 32];
    seeds.fork_index(start).fill(&mut seed);
    Endpoint::new(setup.config.clone(), setup.listen, seed).map_err(|error| Failure::Setup(error.to_string()))
}
