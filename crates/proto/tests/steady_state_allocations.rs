//! Two peers that talk at a steady pace do not touch the heap.
//!
//! An allocator that counts stands in for the system's. After a warm-up, in which buffers grow to what the traffic
//! needs, 600 ticks of traffic on all five channels in both directions must allocate nothing.

use std::net::SocketAddr;

use netloom_count::allocations;
use netloom_proto::{Config, Endpoint, Event, ListenConfig, Micros, PeerId, Redundancy, Security};

/// A link of a fixed delay in whole ticks, with slots that are allocated once.
struct Pipe {
    slots: Vec<(u64, usize, [u8; 1200])>,
    waiting: usize,
}

impl Pipe {
    fn new() -> Pipe {
        Pipe { slots: vec![(0, 0, [0; 1200]); 64], waiting: 0 }
    }

    fn push(&mut self, due: u64, bytes: &[u8]) {
        let (at, length, slot) = &mut self.slots[self.waiting];
        (*at, *length) = (due, bytes.len());
        slot[..bytes.len()].copy_from_slice(bytes);
        self.waiting += 1;
    }

    /// Hands over what is due, in order.
    fn deliver(&mut self, tick: u64, mut take: impl FnMut(&mut [u8])) {
        let due = self.slots[..self.waiting].iter().take_while(|(at, ..)| *at <= tick).count();
        for (_, length, bytes) in &mut self.slots[..due] {
            take(&mut bytes[..*length]);
        }
        self.slots[..self.waiting].rotate_left(due);
        self.waiting -= due;
    }
}

struct Pair {
    ends: [Endpoint; 2],
    addresses: [SocketAddr; 2],
    pipes: [Pipe; 2],
    tick: u64,
    received: u64,
    line: Line,
}

/// What becomes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Good,
    /// One in thirteen is lost.
    Lossy,
    /// Nothing arrives for five ticks of every second.
    Stalling,
}

const TICK: Micros = Micros(16_667);
const DELAY_TICKS: u64 = 2;

impl Pair {
    fn connect(config: Config) -> (Pair, [PeerId; 2]) {
        let addresses =
            ["10.0.0.1:7777", "10.0.0.2:50000"].map(|address| address.parse().expect("an address"));
        let listen = Some(ListenConfig::default());
        let server = Endpoint::new(config.clone(), listen, [1; 32]).expect("a valid configuration");
        let client = Endpoint::new(config, None, [2; 32]).expect("a valid configuration");
        let mut pair = Pair {
            ends: [server, client],
            addresses,
            pipes: [Pipe::new(), Pipe::new()],
            tick: 0,
            received: 0,
            line: Line::Good,
        };
        let peer = pair.ends[1].connect(Micros::ZERO, addresses[0], None).expect("a free place");
        for _ in 0..60 {
            pair.step();
        }
        let of_server = pair.ends[0].peers().next().expect("the client has connected");
        (pair, [of_server, peer])
    }

    fn step(&mut self) {
        self.tick += 1;
        let now = Micros(self.tick * TICK.0);
        for index in 0..2 {
            let from = self.addresses[1 - index];
            let end = &mut self.ends[index];
            if self.line != Line::Stalling || self.tick % 60 >= 5 {
                self.pipes[index].deliver(self.tick, |bytes| end.handle_datagram(now, from, bytes));
            }
            end.begin_tick(now);
            while let Some((_, event)) = end.poll_event() {
                if let Event::Message { data, .. } = event {
                    self.received += 1;
                    assert!(!data.is_empty());
                }
            }
        }
        for index in 0..2 {
            let mut buffer = [0; 1200];
            let mut sent = 0;
            while let Some(transmit) = self.ends[index].poll_transmit(now, &mut buffer) {
                sent += 1;
                if self.line == Line::Lossy && (self.tick + sent).is_multiple_of(13) {
                    continue;
                }
                self.pipes[1 - index].push(self.tick + DELAY_TICKS, &buffer[..transmit.length]);
            }
        }
    }

    /// One tick of a game: a snapshot, inputs, a few events, both ways.
    fn play(&mut self, peers: [PeerId; 2]) {
        let message = [self.tick as u8; 300];
        for (end, peer) in self.ends.iter_mut().zip(peers) {
            end.send(peer, 0, &message[..8]).expect("room");
            end.send(peer, 1, &message[..40]).expect("room");
            end.send(peer, 2, &message[..25]).expect("room");
            end.send_tagged(peer, 3, &message[..60], self.tick).expect("room");
            end.send_tagged(peer, 4, &message, self.tick).expect("room");
        }
        self.step();
    }
}

/// Allocations in 600 ticks after a warm-up over a good line, and messages received in them.
fn allocations_in_ten_seconds(config: Config, line: Line) -> (u64, u64) {
    let (mut pair, peers) = Pair::connect(config);
    for _ in 0..900 {
        pair.play(peers);
    }
    pair.line = line;
    let (before, received) = (allocations(), pair.received);
    for _ in 0..600 {
        pair.play(peers);
    }
    (allocations() - before, pair.received - received)
}

#[test]
fn steady_traffic_allocates_nothing() {
    for security in [Security::Required, Security::Off] {
        for redundancy in [Redundancy::Off, Redundancy::Copy, Redundancy::Parity] {
            let config = Config { security, redundancy, ..Config::default() };
            let (allocations, received) = allocations_in_ten_seconds(config, Line::Good);
            assert_eq!(received, 600 * 10, "every message arrives");
            assert_eq!(allocations, 0, "{security:?}, {redundancy:?}");
        }
    }
}

#[test]
fn a_line_that_gets_worse_does_not_make_it_allocate() {
    for security in [Security::Required, Security::Off] {
        for line in [Line::Lossy, Line::Stalling] {
            let config = Config { security, ..Config::default() };
            let (allocations, received) = allocations_in_ten_seconds(config, line);
            assert!(received > 600 * 8, "{received} messages, {security:?}, {line:?}");
            assert_eq!(allocations, 0, "{security:?}, {line:?}");
        }
    }
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    let boxed = std::hint::black_box(Box::new(7));
    assert_eq!(allocations(), before + 1, "{boxed}");
}
