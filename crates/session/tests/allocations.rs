//! A tick in which nobody comes or goes allocates nothing, on either side.
//!
//! The network between the two is made of buffers that are never given back, so that what is counted is the session's own.

mod common;

use std::collections::VecDeque;
use std::net::SocketAddr;

use common::{Cubes, Keys, protocol};
use netloom_count::allocations;
use netloom_session::config::{ClientConfig, RoomConfig, ServerConfig};
use netloom_session::{Client, Server};
use netloom_wire::Micros;

const CLIENTS: usize = 4;
/// Everybody has everything, and every buffer its size.
const WARM_UP_TICKS: u64 = 1_200;
const TICKS: u64 = 1_800;

/// Datagrams of one tick: whose, and how many of the bytes.
type Post = Vec<(usize, usize, [u8; 1_200])>;

struct Table {
    server: Server,
    clients: Vec<Client<Keys>>,
    /// What arrives in this tick comes first.
    up: VecDeque<Post>,
    down: VecDeque<Post>,
    tick: u64,
    /// One in so many datagrams of the server is lost.
    loses_one_in: Option<u64>,
    sent: u64,
    server_allocations: u64,
    client_allocations: u64,
}

fn address(client: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, client as u8], 4_000))
}

impl Table {
    /// Datagrams take so many ticks each way.
    fn new(delay_ticks: usize) -> Table {
        let mut server = Server::new(ServerConfig::default(), protocol(), [1; 32]).unwrap();
        server.add_room(Micros::ZERO, RoomConfig::new("main"), Cubes::new(200)).unwrap();
        let clients = (0..CLIENTS).map(|number| {
            let mut client =
                Client::new(ClientConfig::default(), protocol(), [number as u8 + 2; 32]).unwrap();
            client.connect(Micros::ZERO, common::SERVER.parse().unwrap()).unwrap();
            client
        });
        let post = || -> VecDeque<Post> { (0..=delay_ticks).map(|_| Post::with_capacity(100)).collect() };
        let (up, down, clients) = (post(), post(), clients.collect());
        let (server_allocations, client_allocations) = (0, 0);
        let (tick, loses_one_in, sent) = (0, None, 0);
        Table { server, clients, up, down, tick, loses_one_in, sent, server_allocations, client_allocations }
    }

    fn step(&mut self) {
        self.tick += 1;
        let now = Micros((self.tick * 1_000_000).div_ceil(60));
        let mut out = [0; 1_200];
        // The list of what has arrived is the list of what is sent next.
        let (mut up, mut down) = (self.up.pop_front().unwrap(), self.down.pop_front().unwrap());
        let before = allocations();
        for (client, length, bytes) in up.drain(..) {
            out = bytes;
            self.server.handle_datagram(now, address(client), &mut out[..length]);
        }
        self.server.tick(now);
        while let Some(sent) = self.server.poll_transmit(now, &mut out) {
            let client = (0..CLIENTS).find(|client| address(*client) == sent.to).unwrap();
            self.sent += 1;
            if self.loses_one_in.is_none_or(|many| !self.sent.is_multiple_of(many)) {
                up.push((client, sent.length, out));
            }
        }
        self.server_allocations += allocations() - before;
        while self.server.poll_event().is_some() {}
        let before = allocations();
        for (client, length, bytes) in down.drain(..) {
            out = bytes;
            self.clients[client].handle_datagram(now, common::SERVER.parse().unwrap(), &mut out[..length]);
        }
        for (number, client) in self.clients.iter_mut().enumerate() {
            client.tick(now);
            while client.poll_event().is_some() {}
            while let Some(step) = client.poll_step() {
                client.push_input(step, Keys { x: 1, y: step.0 as i8 % 2 }).unwrap();
            }
            while let Some(sent) = client.poll_transmit(now, &mut out) {
                down.push((number, sent.length, out));
            }
        }
        self.client_allocations += allocations() - before;
        self.down.push_back(up);
        self.up.push_back(down);
    }
}

/// On either side after a warm-up in which nothing is lost.
fn allocated(delay_ticks: usize, loses_one_in: Option<u64>) -> (u64, u64) {
    let mut table = Table::new(delay_ticks);
    (0..WARM_UP_TICKS).for_each(|_| table.step());
    for client in &table.clients {
        assert_eq!(client.progress(), 1.0, "everybody has everything");
        assert_eq!(client.objects().map(|objects| objects.len()), Some(200 + CLIENTS));
    }
    (table.server_allocations, table.client_allocations) = (0, 0);
    table.loses_one_in = loses_one_in;
    (0..TICKS).for_each(|_| table.step());
    let room = table.server.rooms().next().unwrap();
    assert!(room.counters().snapshots >= TICKS / 3 * CLIENTS as u64, "snapshots were sent all the time");
    (table.server_allocations, table.client_allocations)
}

#[test]
fn steady_ticks_of_server_and_clients_allocate_nothing() {
    assert_eq!(allocated(0, None), (0, 0), "server, clients");
}

#[test]
fn distance_changes_nothing_about_that() {
    assert_eq!(allocated(3, None), (0, 0), "server, clients, at a round trip of 100 ms and more");
}

#[test]
fn nor_does_loss_that_begins_later() {
    let (server, _) = allocated(3, Some(31));
    assert_eq!(server, 0);
}
