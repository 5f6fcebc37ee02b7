//! rusty_enet: snapshots as unreliable, unsequenced packets on one channel, reliable messages on the other.

#![forbid(unsafe_code)]

use peer_common::plain::{View, encode};
use peer_common::{
    Clients, Contender, Heard, Options, RELIABLE_BYTES, Server, State, UNRELIABLE_BYTES, Walk, Workload, run,
};
use rusty_enet::{Event, Host, HostSettings, Packet};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const RELIABLE: u8 = 0;
const UNRELIABLE: u8 = 1;
const CHANNELS: usize = 2;

struct EnetServer {
    host: Host<UdpSocket>,
    connected: usize,
    buffer: Vec<u8>,
}

impl EnetServer {
    fn receive(&mut self) {
        while let Some(event) = self.host.service().expect("a socket") {
            match event {
                Event::Connect { .. } => self.connected += 1,
                Event::Disconnect { .. } => self.connected -= 1,
                Event::Receive { .. } => {}
            }
        }
    }
}

impl Server for EnetServer {
    fn ready_count(&mut self) -> usize {
        self.connected
    }

    fn tick(&mut self, walk: &Walk, is_send_tick: bool) {
        self.receive();
        if is_send_tick {
            let EnetServer { host, buffer, .. } = self;
            encode(walk, buffer, |message| {
                host.broadcast(UNRELIABLE, &Packet::always_unreliable_unsequenced(message));
            });
            host.flush();
        }
    }

    fn tick_messages(
        &mut self,
        reliable: &[[u8; RELIABLE_BYTES]],
        unreliable: Option<&[u8; UNRELIABLE_BYTES]>,
    ) {
        self.receive();
        for message in reliable {
            self.host.broadcast(RELIABLE, &Packet::reliable(&message[..]));
        }
        if let Some(message) = unreliable {
            self.host.broadcast(UNRELIABLE, &Packet::always_unreliable_unsequenced(&message[..]));
        }
        self.host.flush();
    }
}

struct EnetClients {
    clients: Vec<(Host<UdpSocket>, View)>,
    workload: Workload,
    heard: Heard,
}

impl Clients for EnetClients {
    fn poll(&mut self, _: Duration) {
        for (number, (host, view)) in self.clients.iter_mut().enumerate() {
            while let Some(event) = host.service().expect("a socket") {
                let Event::Receive { channel_id, packet, .. } = event else { continue };
                match (self.workload, channel_id) {
                    (Workload::Replicate, _) => view.decode(packet.data()),
                    (_, RELIABLE) => self.heard.reliable(number, packet.data()),
                    _ => self.heard.unreliable(),
                }
            }
        }
    }

    fn updates(&self) -> u64 {
        self.clients.iter().map(|(_, view)| view.updates()).sum()
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        self.clients[client].1.read(into);
    }

    fn heard(&self) -> Option<&Heard> {
        Some(&self.heard)
    }
}

fn host(address: SocketAddr, peers: usize) -> Host<UdpSocket> {
    let settings = HostSettings { peer_limit: peers, channel_limit: CHANNELS, ..HostSettings::default() };
    let socket = UdpSocket::bind(address).expect("a free port");
    Host::new(socket, settings).expect("settings that ENet accepts")
}

fn server(options: &Options) -> EnetServer {
    let host = host(options.server_address(), options.clients);
    EnetServer { host, connected: 0, buffer: Vec::new() }
}

fn clients(options: &Options) -> EnetClients {
    let client = |_| {
        let mut host = host(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 1);
        host.connect(options.dial_address(), CHANNELS, 0).expect("room for a connection");
        (host, View::new(options.objects))
    };
    let clients = (0..options.clients).map(client).collect();
    EnetClients { clients, workload: options.workload, heard: Heard::new(options.clients) }
}

fn main() {
    let contender = Contender { name: "enet", settings: &["exact"], has_messages: true };
    run(contender, server, clients);
}
