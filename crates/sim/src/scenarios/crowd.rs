//! Many players join at once while somebody floods the server with requests from addresses that are not his.

use std::net::SocketAddr;

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{Config, DisconnectReason, Endpoint, ListenConfig};
use netloom_wire::Micros;

use super::pair::SERVER;
use crate::check::Violation;
use crate::network::{LinkConfig, Loss};
use crate::report::{Report, quantile};
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use crate::world::{Flow, NodeConfig, World};

const CLIENTS: u16 = 200;
/// Spoofed requests per tick: 3,000 per second.
const FLOOD_PER_TICK: u32 = 50;
const JOINED_WITHIN: Micros = Micros::from_secs(5);
const TRAFFIC: Micros = Micros::from_secs(8);

/// Two hundred clients and a flood.
pub struct Crowd;

impl Scenario for Crowd {
    fn name(&self) -> &'static str {
        "crowd"
    }

    fn about(&self) -> &'static str {
        "200 clients join at once during a flood of spoofed requests; all get in, the flood gets no seat and no gain"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut world = build(seed)?;
        for client in 1..=usize::from(CLIENTS) {
            world.connect(client, SERVER, None)?;
        }
        flood(&mut world, seed)?;
        let all_joined = |world: &World| world.ledger().connected(0).len() == usize::from(CLIENTS);
        world.run_until_that("everybody gets in", JOINED_WITHIN, all_joined)?;
        let peers = world.node(0).endpoint().peer_count();
        if peers != usize::from(CLIENTS) {
            let detail = format!("{peers} seats are taken by {CLIENTS} clients");
            return Err(world.failure(Violation::new("a flood gets no seat", detail)));
        }
        measure(&world, report);
        world.run_until(TRAFFIC)?;
        world.run_until_that("every reliable message arrives", Micros::from_secs(20), |world| {
            world.ledger().live_streams().all(|stream| stream.is_complete())
        })?;
        for client in 1..=usize::from(CLIENTS) {
            world.disconnect(client, DisconnectReason::Requested);
        }
        world.run_until_that("all sides end", Micros::from_secs(20), |world| {
            (0..=usize::from(CLIENTS)).all(|node| world.node(node).endpoint().peer_count() == 0)
        })
    }
}

fn build(seed: u64) -> Result<World, Failure> {
    let link = LinkConfig {
        loss: Loss::Uniform(0.02),
        latency: Micros::from_millis(40),
        jitter: Micros::from_millis(20),
        ..LinkConfig::default()
    };
    let config = Config::default();
    let mut world = World::new(seed, link, &config)?;
    let listen = ListenConfig {
        peers_max: 256,
        peers_connecting_max: 256,
        unproven_per_second: 10_000,
        ..ListenConfig::default()
    };
    let node = |socket, listen, traffic| NodeConfig {
        listen,
        traffic,
        traffic_until: TRAFFIC,
        ..NodeConfig::new(socket, config.clone())
    };
    let positions = vec![Flow::sometimes(4, 0.3, 40, 90), Flow::sometimes(1, 0.05, 21, 60)];
    world.add_node(node(SERVER, Some(listen), positions))?;
    for client in 0..CLIENTS {
        // Ten players behind each address: proven peers of one NAT must not be held against each other.
        let socket = SocketAddr::from(([10, 0, 1, (client / 10) as u8], 5_000 + client % 10));
        world.add_node(node(
            socket,
            None,
            vec![Flow::sometimes(4, 0.5, 40, 60), Flow::sometimes(1, 0.05, 21, 60)],
        ))?;
    }
    Ok(world)
}

/// Two seconds of a valid first request from ever new addresses.
fn flood(world: &mut World, seed: u64) -> Result<(), Failure> {
    let mut rng = Rng::new(seed).fork("flood");
    let mut request = [0; DATAGRAM_MAX];
    let length = first_request(&mut rng, &mut request)?;
    for tick in 0..120 {
        world.run_until(Micros(tick * crate::world::TICK.0))?;
        for _ in 0..FLOOD_PER_TICK {
            let host = rng.next_u64().to_le_bytes();
            let spoofed = SocketAddr::from(([203, host[0], host[1], host[2]], 1_024 + u16::from(host[3])));
            world.inject(spoofed, SERVER, &request[..length]);
        }
    }
    Ok(())
}

fn first_request(rng: &mut Rng, request: &mut [u8]) -> Result<usize, Failure> {
    let setup = |error: String| Failure::Setup(error);
    let mut seed = [0; 32];
    rng.fill(&mut seed);
    let mut attacker =
        Endpoint::new(Config::default(), None, seed).map_err(|error| setup(error.to_string()))?;
    attacker.connect(Micros::ZERO, SERVER, None).map_err(|error| setup(error.to_string()))?;
    let transmit = attacker.poll_transmit(Micros::ZERO, request);
    transmit
        .map(|transmit| transmit.length)
        .ok_or_else(|| setup("a client without a first request".to_owned()))
}

fn measure(world: &World, report: &mut Report) {
    let connections = world.ledger().connections().iter().filter(|connection| connection.node != 0);
    let handshakes: Vec<f64> = connections
        .filter_map(|connection| Some(connection.connected_at?.since(connection.opened_at).as_millis_f64()))
        .collect();
    report.add("handshake p50", "ms", quantile(&handshakes, 0.5));
    report.add("handshake p99", "ms", quantile(&handshakes, 0.99));
    report.add("datagrams", "", world.network().counters().sent as f64);
}
