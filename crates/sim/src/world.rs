//! Endpoints on a simulated network, driven in virtual time and watched from all sides.
//!
//! ```text
//!            ┌── schedule: faults                          ┌── ledger: what the applications saw
//!  time ──▶ step ── network ──▶ endpoint ── events ────────┤
//!            └── traffic ─────▶ endpoint ── datagrams ──┬──┴── wiretap, amplification
//!                                                       └──▶ network
//! ```
//!
//! Time jumps from one thing that happens to the next: a tick of the game, an arrival, a fault or a deadline of an
//! endpoint. Nothing happens in between, so nothing is computed in between.
//!
//! Each node has a clock of its own, whose offset is large so that it can also jump back.

mod drive;
mod ledger;
mod node;
mod observer;
mod traffic;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use netloom_proto::{Config, DisconnectReason, ResumeToken};
use netloom_wire::Micros;

pub use ledger::{Connection, Ledger, Phase, Stream, promise};
pub use node::{Driver, Node, NodeConfig, Tamper};
pub use observer::Recorded;
pub use traffic::{Flow, game};

use crate::check::Violation;
use crate::fault::{FaultTarget, Schedule};
use crate::network::{LinkConfig, Network};
use crate::rng::Rng;
use crate::runner::Failure;
use observer::Observer;

/// The game's tick unless a scenario wants another: 60 Hz.
pub const TICK: Micros = Micros(16_667);

/// Steps without time passing before a run counts as stuck; a burst of deliveries is one step each.
const IDLE_STEPS_MAX: u32 = 100_000;

/// Endpoints, the network between them and everything that watches.
pub struct World {
    now: Micros,
    tick: Micros,
    next_tick: Micros,
    idle_steps: u32,
    network: Network,
    nodes: Vec<Node>,
    by_socket: BTreeMap<SocketAddr, usize>,
    schedule: Schedule,
    ledger: Ledger,
    observer: Observer,
    rng: Rng,
    message: Vec<u8>,
    datagram: Vec<u8>,
}

impl World {
    /// A world without nodes. All nodes that join must have the channels of `channels_of`.
    pub fn new(seed: u64, link: LinkConfig, channels_of: &Config) -> Result<World, Failure> {
        let network = Network::new(seed, link).map_err(|error| Failure::Setup(error.to_string()))?;
        let promises = channels_of.channels.iter().map(|channel| promise(channel.kind)).collect();
        Ok(World {
            now: Micros::ZERO,
            tick: TICK,
            next_tick: Micros::ZERO,
            idle_steps: 0,
            network,
            nodes: Vec::new(),
            by_socket: BTreeMap::new(),
            schedule: Schedule::new(),
            ledger: Ledger::new(promises),
            observer: Observer::default(),
            rng: Rng::new(seed),
            message: Vec::new(),
            datagram: Vec::new(),
        })
    }
}

/// Building and commanding.
impl World {
    /// Adds a node and returns its index.
    pub fn add_node(&mut self, setup: NodeConfig) -> Result<usize, Failure> {
        self.network.add_node(setup.socket);
        self.by_socket.insert(setup.socket, self.nodes.len());
        let rng = self.rng.fork("node").fork_index(self.nodes.len() as u64);
        self.nodes.push(Node::new(setup, &rng)?);
        Ok(self.nodes.len() - 1)
    }

    /// Replaces the length of a tick.
    pub fn set_tick(&mut self, tick: Micros) {
        self.tick = tick.max(Micros(1));
    }

    /// Plans the faults.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Lets a client connect to a server's external address.
    pub fn connect(
        &mut self,
        node: usize,
        server: SocketAddr,
        resume: Option<ResumeToken>,
    ) -> Result<(), Failure> {
        let now = self.now;
        let client = &mut self.nodes[node];
        client.server = Some(server);
        client.is_dirty = true;
        let local = client.local(now);
        let peer = client.endpoint.connect(local, server, resume);
        let peer = peer.map_err(|error| Failure::Setup(format!("connect: {error}")))?;
        self.ledger.handle_opened(now, node, peer);
        Ok(())
    }

    /// Ends every connection of a node, which does not come back by itself.
    pub fn disconnect(&mut self, node: usize, reason: DisconnectReason) {
        let local = self.nodes[node].local(self.now);
        let open = |connection: &&Connection| {
            connection.node == node && matches!(connection.phase, Phase::Connecting | Phase::Connected)
        };
        for connection in self.ledger.connections().iter().filter(open) {
            self.nodes[node].endpoint.disconnect(local, connection.peer, reason);
        }
        self.nodes[node].server = None;
        self.nodes[node].is_dirty = true;
    }

    /// Sends a datagram with any source address, as an attacker can.
    pub fn inject(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        self.network.send(self.now, from, to, datagram);
    }
}

/// Looking.
impl World {
    /// Virtual time.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// A node.
    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What the applications saw.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The newest connection of a node.
    pub fn newest_connection(&self, node: usize) -> Option<&Connection> {
        self.ledger.connections().iter().rev().find(|connection| connection.node == node)
    }

    /// Lets an attacker on the path remember what passes.
    pub fn record(&mut self, datagrams_max: usize) {
        self.observer.record(datagrams_max);
    }

    /// The newest datagrams that the attacker saw.
    pub fn recorded(&self) -> &VecDeque<Recorded> {
        self.observer.recorded()
    }

    /// All datagrams of handshakes that the attacker saw.
    pub fn handshakes(&self) -> &[Recorded] {
        self.observer.handshakes()
    }

    /// A failure at this moment.
    pub fn failure(&self, violation: Violation) -> Failure {
        Failure::Violation { at_ms: self.now.0 / 1_000, violation }
    }
}

/// Running.
impl World {
    /// Runs until a point in virtual time.
    pub fn run_until(&mut self, time: Micros) -> Result<(), Failure> {
        while self.next_step() <= time {
            self.step()?;
        }
        self.now = self.now.max(time);
        Ok(())
    }

    /// Runs until `done` holds after some step, or says that it never did.
    pub fn run_until_that(
        &mut self,
        rule: &'static str,
        within: Micros,
        done: impl Fn(&World) -> bool,
    ) -> Result<(), Failure> {
        let deadline = self.now + within;
        while !done(self) {
            if self.next_step() > deadline {
                let detail = format!("not within {} s", within.as_secs_f64());
                return Err(self.failure(Violation::new(rule, detail)));
            }
            self.step()?;
        }
        Ok(())
    }

    fn next_step(&self) -> Micros {
        if self.nodes.iter().any(|node| node.is_dirty && node.setup.driver == Driver::Eager) {
            return self.now;
        }
        let wakes = self
            .nodes
            .iter()
            .filter(|node| node.setup.driver == Driver::Eager)
            .filter_map(|node| node.wakes_at);
        // Nodes that look once per tick find at the tick what arrived since the last one.
        let is_eager = self.nodes.iter().any(|node| node.setup.driver == Driver::Eager);
        let arrival = self.network.next_delivery().filter(|_| is_eager);
        let others = [Some(self.next_tick), arrival, self.schedule.next_due()];
        wakes.chain(others.into_iter().flatten()).min().unwrap_or(self.next_tick).max(self.now)
    }

    fn step(&mut self) -> Result<(), Failure> {
        let time = self.next_step();
        self.idle_steps = if time > self.now { 0 } else { self.idle_steps + 1 };
        if self.idle_steps > IDLE_STEPS_MAX {
            let detail = "an endpoint asks again and again to be woken at once";
            return Err(self.failure(Violation::new("time goes on", detail)));
        }
        self.now = time;
        let mut schedule = std::mem::take(&mut self.schedule);
        let applied = schedule.apply_due(self.now, self);
        self.schedule = schedule;
        applied.map_err(|error| Failure::Setup(error.to_string()))?;
        self.deliver();
        let is_tick = self.now >= self.next_tick;
        if is_tick {
            self.next_tick += self.tick;
        }
        for index in 0..self.nodes.len() {
            self.run_node(index, is_tick)?;
        }
        Ok(())
    }

    fn deliver(&mut self) {
        while let Some(delivery) = self.network.poll_delivery(self.now, &mut self.datagram) {
            let Some(&index) = self.by_socket.get(&delivery.to) else {
                continue;
            };
            let node = &mut self.nodes[index];
            let external = self.network.external(delivery.to);
            self.observer.handle_arrival(&delivery, external, node.is_listening(), &self.datagram);
            let local = node.local(self.now);
            node.endpoint.handle_datagram(local, delivery.from, &mut self.datagram);
            node.is_dirty = true;
        }
    }

    fn run_node(&mut self, index: usize, is_tick: bool) -> Result<(), Failure> {
        let node = &mut self.nodes[index];
        let is_due = node.is_dirty || node.wakes_at.is_some_and(|time| time <= self.now);
        let is_awake = node.setup.driver == Driver::Eager && is_due;
        if !is_tick && !is_awake {
            return Ok(());
        }
        let local = node.local(self.now);
        // A driver that waits begins a tick of its own when a deadline passes.
        node.endpoint.begin_tick(local);
        let checked = self.take_events(index).and_then(|()| {
            if is_tick {
                self.send_traffic(index)?;
                self.check_keys(index)?;
            }
            self.transmit(index)
        });
        checked.map_err(|violation| self.failure(violation))?;
        let node = &mut self.nodes[index];
        node.is_dirty = false;
        node.wakes_at = node.endpoint.poll_timeout().map(|local| node.global(local));
        self.reconnect_if_lost(index)
    }
}

impl FaultTarget for World {
    fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    fn restart(&mut self, now: Micros, node: SocketAddr) {
        let Some(&index) = self.by_socket.get(&node) else {
            return;
        };
        self.nodes[index].restart();
        self.ledger.handle_restart(now, index);
        self.observer.handle_restart(node);
    }

    fn jump_clock(&mut self, node: SocketAddr, by_micros: i64) {
        if let Some(&index) = self.by_socket.get(&node) {
            self.nodes[index].jump_clock(by_micros);
        }
    }
}
