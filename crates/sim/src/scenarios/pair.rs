//! A client and a server, from the first handshake to the last goodbye: the frame of most scenarios.

use std::net::SocketAddr;

use netloom_proto::{Config, DisconnectReason, ListenConfig, State};
use netloom_wire::Micros;

use crate::check::Violation;
use crate::fault::Schedule;
use crate::network::LinkConfig;
use crate::report::{Report, quantile};
use crate::rng::Rng;
use crate::runner::Failure;
use crate::world::{Driver, Flow, NodeConfig, Phase, World};

/// The client's socket.
pub const CLIENT: SocketAddr = address(2);
/// The server's socket.
pub const SERVER: SocketAddr = address(1);

/// Reliable messages get this long to arrive once nothing new is sent.
const DRAIN_MAX: Micros = Micros::from_secs(60);
/// A goodbye gets this long, even if all of it is lost and silence must decide.
const GOODBYE_MAX: Micros = Micros::from_secs(30);

const fn address(host: u8) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, host)), 4_000)
}

/// What a run of two nodes is made of.
pub struct Plan {
    /// Both endpoints' configuration.
    pub config: Config,
    /// Both directions.
    pub link: LinkConfig,
    /// What goes wrong.
    pub faults: Schedule,
    /// What the client sends.
    pub client_traffic: Vec<Flow>,
    /// What the server sends.
    pub server_traffic: Vec<Flow>,
    /// For how long they send.
    pub traffic: Micros,
    /// Whether the client connects again when it is cut off.
    pub reconnects: bool,
}

impl Plan {
    /// Both sides send the same for fifteen seconds over a perfect link, encrypted.
    pub fn new(traffic: Vec<Flow>) -> Plan {
        Plan {
            config: Config { protocol_id: 0x6e65_746c_6f6f_6d21, ..Config::default() },
            link: LinkConfig::default(),
            faults: Schedule::new(),
            client_traffic: traffic.clone(),
            server_traffic: traffic,
            traffic: Micros::from_secs(15),
            reconnects: false,
        }
    }
}

/// Two nodes in a world.
pub struct Pair {
    /// The world.
    pub world: World,
    /// The client's index.
    pub client: usize,
    /// The server's index.
    pub server: usize,
    traffic: Micros,
}

impl Pair {
    /// Builds both nodes and lets the client connect.
    pub fn connect(seed: u64, plan: Plan) -> Result<Pair, Failure> {
        let mut world = World::new(seed, plan.link, &plan.config)?;
        let mut rng = Rng::new(seed).fork("drivers");
        let mut node = |socket, listen, traffic| NodeConfig {
            listen,
            traffic,
            driver: if rng.chance(0.5) { Driver::Eager } else { Driver::Tick },
            traffic_until: plan.traffic,
            reconnects: plan.reconnects && socket == CLIENT,
            ..NodeConfig::new(socket, plan.config.clone())
        };
        let server = world.add_node(node(SERVER, Some(ListenConfig::default()), plan.server_traffic))?;
        let client = world.add_node(node(CLIENT, None, plan.client_traffic))?;
        world.set_schedule(plan.faults);
        world.connect(client, SERVER, None)?;
        Ok(Pair { world, client, server, traffic: plan.traffic })
    }

    /// Runs the traffic, waits for what is still on its way, says goodbye and checks what must hold at each point.
    pub fn finish(&mut self, report: &mut Report) -> Result<(), Failure> {
        self.world.run_until(self.traffic)?;
        let (client, server) = (self.client, self.server);
        self.world.run_until_that("the client is connected in the end", DRAIN_MAX, |world| {
            [client, server].iter().all(|&node| world.ledger().connected(node).len() == 1)
        })?;
        self.world.run_until_that("every reliable message arrives", DRAIN_MAX, |world| {
            world.ledger().live_streams().all(|stream| stream.is_complete())
        })?;
        // Late unreliable messages and outcomes are still to come.
        self.world.run_until(self.world.now() + Micros::from_secs(2))?;
        self.check_streams().map_err(|violation| self.world.failure(violation))?;
        self.measure(report);
        self.world.disconnect(client, DisconnectReason::Requested);
        self.world.run_until_that("both sides end", GOODBYE_MAX, |world| {
            [client, server].iter().all(|&node| world.node(node).endpoint().peer_count() == 0)
        })?;
        self.world.run_until(self.world.now() + Micros::from_secs(1))?;
        self.check_end().map_err(|violation| self.world.failure(violation))
    }

    fn check_streams(&self) -> Result<(), Violation> {
        let ledger = self.world.ledger();
        for stream in ledger.live_streams() {
            stream.channels().iter().try_for_each(|channel| channel.check_drained())?;
        }
        for stream in ledger.streams() {
            stream.channels().iter().try_for_each(|channel| channel.check_outcomes())?;
        }
        Ok(())
    }

    fn check_end(&self) -> Result<(), Violation> {
        for connection in self.world.ledger().connections() {
            let rule = "both sides end";
            let node = connection.node;
            if !matches!(connection.phase, Phase::Ended(_) | Phase::Forgotten) {
                return Err(Violation::new(
                    rule,
                    format!("node {node} still has a peer in {:?}", connection.phase),
                ));
            }
            let state = self.world.node(node).endpoint().state(connection.peer);
            if state != State::Disconnected {
                return Err(Violation::new(rule, format!("node {node} is {}", state.name())));
            }
        }
        Ok(())
    }

    fn measure(&self, report: &mut Report) {
        let world = &self.world;
        if let Some(first) =
            world.ledger().connections().iter().find(|connection| connection.node == self.client)
        {
            let took = first.connected_at.unwrap_or(world.now()).since(first.opened_at);
            report.add("handshake", "ms", took.as_millis_f64());
        }
        let names = [
            ["priority p50", "priority p99"],
            ["ordered p50", "ordered p99"],
            ["unordered p50", "unordered p99"],
            ["unreliable p50", "unreliable p99"],
            ["sequenced p50", "sequenced p99"],
        ];
        for (channel, [p50, p99]) in names.into_iter().enumerate() {
            let all: Vec<f64> = world
                .ledger()
                .streams()
                .iter()
                .flat_map(|stream| stream.latencies_ms(channel).iter().copied())
                .collect();
            report.add(p50, "ms", quantile(&all, 0.50));
            report.add(p99, "ms", quantile(&all, 0.99));
        }
        self.measure_cost(report);
    }

    fn measure_cost(&self, report: &mut Report) {
        let world = &self.world;
        let connections = world.ledger().connections();
        let resumed = connections.iter().filter(|connection| connection.is_resumed).count();
        report.add("sessions", "", connections.len() as f64 / 2.0);
        report.add("sessions resumed", "", resumed as f64);
        let (mut resends, mut recovered) = (0, 0);
        for connection in connections {
            if let Some(stats) = world.node(connection.node).endpoint().stats(connection.peer) {
                resends += stats.counters.resends;
                recovered += stats.counters.blocks_recovered;
            }
        }
        let network = world.network().counters();
        let lost_percent = 100.0 * network.lost() as f64 / network.sent.max(1) as f64;
        let message_bytes: u64 = world.ledger().streams().iter().map(|stream| stream.payload_bytes()).sum();
        report.add("datagrams", "", network.sent as f64);
        report.add("datagrams lost", "%", lost_percent);
        report.add("messages sent again", "", resends as f64);
        report.add("losses made good by redundancy", "", recovered as f64);
        report.add("bytes of messages", "", message_bytes as f64);
        report.add("bytes of datagrams", "", network.sent_bytes as f64);
        report.add("bytes per message byte", "", network.sent_bytes as f64 / message_bytes.max(1) as f64);
    }
}
