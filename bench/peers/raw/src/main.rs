//! The floor: plain UDP sockets of the standard library. No connections, no acknowledgements, no encryption; a snapshot is made
//! once and sent to each client.

#![forbid(unsafe_code)]

use peer_common::plain::{View, encode};
use peer_common::{Clients, Contender, Options, Server, State, Walk, run};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const DATAGRAM_BYTES_MAX: usize = 1500;

struct Sockets {
    socket: UdpSocket,
    clients: Vec<SocketAddr>,
    buffer: Vec<u8>,
}

impl Server for Sockets {
    fn ready_count(&mut self) -> usize {
        self.clients.len()
    }

    fn tick(&mut self, walk: &Walk, is_send_tick: bool) {
        let mut datagram = [0; DATAGRAM_BYTES_MAX];
        while let Ok((_, from)) = self.socket.recv_from(&mut datagram) {
            if !self.clients.contains(&from) {
                self.clients.push(from);
            }
        }
        if is_send_tick {
            let Sockets { socket, clients, buffer } = self;
            encode(walk, buffer, |message| {
                for client in &*clients {
                    // What the kernel has no room for is lost, as it is on any network.
                    let _ = socket.send_to(message, client);
                }
            });
        }
    }
}

struct Views(Vec<(UdpSocket, View)>);

impl Clients for Views {
    fn poll(&mut self, _: Duration) {
        let mut datagram = [0; DATAGRAM_BYTES_MAX];
        for (socket, view) in &mut self.0 {
            // A server knows a client by its first datagram, which a bad network may lose.
            if view.updates() == 0 {
                let _ = socket.send(b"here I am");
            }
            while let Ok(length) = socket.recv(&mut datagram) {
                view.decode(&datagram[..length]);
            }
        }
    }

    fn updates(&self) -> u64 {
        self.0.iter().map(|(_, view)| view.updates()).sum()
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        self.0[client].1.read(into);
    }
}

fn server(options: &Options) -> Sockets {
    let socket = UdpSocket::bind(options.server_address()).expect("a free port");
    socket.set_nonblocking(true).expect("a socket that does not block");
    Sockets { socket, clients: Vec::new(), buffer: Vec::new() }
}

fn clients(options: &Options) -> Views {
    let client = |_| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        socket.connect(options.dial_address()).expect("an address");
        socket.set_nonblocking(true).expect("a socket that does not block");
        (socket, View::new(options.objects))
    };
    Views((0..options.clients).map(client).collect())
}

fn main() {
    let contender = Contender { name: "raw", settings: &["exact"], has_messages: false };
    run(contender, server, clients);
}
