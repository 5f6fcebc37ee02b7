//! Connections alone: a server that tells 16 clients something in every tick, four messages that must arrive and one that may be
//! lost, and hears what arrived.

use std::net::SocketAddr;

use netloom_proto::{Config, Endpoint, Event, ListenConfig, PeerId, Security};
use netloom_wire::Micros;

use super::cold::Cold;
use super::counted;

const CLIENTS: usize = 16;
const TICK: Micros = Micros(16_667);
/// Until everybody is connected and rates have settled.
const WARM_UP_TICKS: u64 = 240;
pub const TICKS: u64 = 60;
/// Of the default channels.
const ORDERED: u8 = 1;
const UNRELIABLE: u8 = 3;
const RELIABLE_PER_TICK: usize = 4;
const RELIABLE_BYTES: usize = 64;
const UNRELIABLE_BYTES: usize = 200;

/// Datagrams on their way, with the client that they are from or for.
type Post = Vec<(usize, Vec<u8>)>;

fn config() -> Config {
    Config { security: Security::Off, ..Config::default() }
}

fn address(client: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 1_000 + client as u16))
}

fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 2], 7_777))
}

/// Everything that arrived, and how many messages that must arrive were among it.
fn hear(endpoint: &mut Endpoint, now: Micros, connected: &mut Vec<PeerId>) -> usize {
    endpoint.begin_tick(now);
    let mut reliable = 0;
    while let Some((peer, event)) = endpoint.poll_event() {
        match event {
            Event::Connected { .. } => connected.push(peer),
            Event::Message { channel: ORDERED, .. } => reliable += 1,
            Event::Disconnected { reason, .. } => panic!("a connection ended: {reason:?}"),
            _ => {}
        }
    }
    reliable
}

fn tell(endpoint: &mut Endpoint, peers: &[PeerId]) {
    for &peer in peers {
        for _ in 0..RELIABLE_PER_TICK {
            endpoint.send(peer, ORDERED, &[7; RELIABLE_BYTES]).expect("room in a queue");
        }
        endpoint.send(peer, UNRELIABLE, &[8; UNRELIABLE_BYTES]).expect("room in a queue");
    }
}

pub fn run() {
    let listen = ListenConfig { peers_max: CLIENTS, ..ListenConfig::default() };
    let mut server = Endpoint::new(config(), Some(listen), [1; 32]).expect("the defaults are good");
    let mut clients: Vec<(Endpoint, Vec<PeerId>)> = (0..CLIENTS)
        .map(|client| {
            let mut endpoint =
                Endpoint::new(config(), None, [client as u8 + 2; 32]).expect("the defaults are good");
            endpoint.connect(Micros::ZERO, server_address(), None).expect("nothing was connected before");
            (endpoint, Vec::new())
        })
        .collect();
    let mut connected = Vec::new();
    let (mut to_server, mut to_clients): (Post, Post) = (Vec::new(), Vec::new());
    let (mut sent, mut heard) = (0, 0);
    let mut slots = vec![vec![0; server.config().mtu]; 2 * CLIENTS];
    let mut cold = Cold::new();
    for tick in 1..=WARM_UP_TICKS + TICKS {
        let now = Micros(tick * TICK.0);
        let mut filled = 0;
        let mut lengths = [(0, 0); 2 * CLIENTS];
        let mut work = || {
            for (from, datagram) in &mut to_server {
                server.handle_datagram(now, address(*from), datagram);
            }
            hear(&mut server, now, &mut connected);
            tell(&mut server, &connected);
            while let Some(slot) = slots.get_mut(filled)
                && let Some(transmit) = server.poll_transmit(now, slot)
            {
                lengths[filled] = (usize::from(transmit.to.port()) - 1_000, transmit.length);
                filled += 1;
            }
        };
        cold.forget_all();
        match tick > WARM_UP_TICKS {
            true => counted(&mut work),
            false => work(),
        }
        sent += connected.len() * RELIABLE_PER_TICK;
        to_server.clear();
        to_clients.extend(
            lengths
                .iter()
                .zip(&slots)
                .take(filled)
                .map(|(&(to, length), slot)| (to, slot[..length].to_vec())),
        );
        for (to, datagram) in &mut to_clients {
            clients[*to].0.handle_datagram(now, server_address(), datagram);
        }
        to_clients.clear();
        let mut out = [0; 1_200];
        for (client, (endpoint, connected)) in clients.iter_mut().enumerate() {
            heard += hear(endpoint, now, connected);
            while let Some(transmit) = endpoint.poll_transmit(now, &mut out) {
                to_server.push((client, out[..transmit.length].to_vec()));
            }
        }
    }
    assert_eq!((connected.len(), heard), (CLIENTS, sent), "everything arrives");
}
