//! renet over netcode: snapshots on the default unreliable channel, messages on the default reliable-ordered one.
//!
//! Setting `resend100`: a reliable message is resent after 100 ms instead of renet's usual 300.

#![forbid(unsafe_code)]

use bytes::Bytes;
use peer_common::plain::{View, encode};
use peer_common::{
    Clients, Contender, Heard, Options, RELIABLE_BYTES, Server, State, TICK, UNRELIABLE_BYTES, Walk,
    Workload, run,
};
use renet::{ConnectionConfig, DefaultChannel, RenetClient, RenetServer, SendType};
use renet_netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication, ServerConfig,
};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, SystemTime};

const PROTOCOL: u64 = 7;
const RESEND_QUICKLY: &str = "resend100";

struct Host {
    server: RenetServer,
    transport: NetcodeServerTransport,
    buffer: Vec<u8>,
}

impl Host {
    fn receive(&mut self) {
        self.server.update(TICK);
        self.transport.update(TICK, &mut self.server).expect("a socket");
        while self.server.get_event().is_some() {}
    }
}

impl Server for Host {
    fn ready_count(&mut self) -> usize {
        self.transport.connected_clients()
    }

    fn tick(&mut self, walk: &Walk, is_send_tick: bool) {
        self.receive();
        let Host { server, transport, buffer } = self;
        if is_send_tick {
            encode(walk, buffer, |message| {
                server.broadcast_message(DefaultChannel::Unreliable, Bytes::copy_from_slice(message));
            });
        }
        transport.send_packets(server);
    }

    fn tick_messages(
        &mut self,
        reliable: &[[u8; RELIABLE_BYTES]],
        unreliable: Option<&[u8; UNRELIABLE_BYTES]>,
    ) {
        self.receive();
        for message in reliable {
            self.server.broadcast_message(DefaultChannel::ReliableOrdered, Bytes::copy_from_slice(message));
        }
        if let Some(message) = unreliable {
            self.server.broadcast_message(DefaultChannel::Unreliable, Bytes::copy_from_slice(message));
        }
        self.transport.send_packets(&mut self.server);
    }
}

struct Guest {
    client: RenetClient,
    transport: NetcodeClientTransport,
    view: View,
}

struct Guests {
    guests: Vec<Guest>,
    workload: Workload,
    heard: Heard,
}

impl Clients for Guests {
    fn poll(&mut self, elapsed: Duration) {
        for (number, Guest { client, transport, view }) in self.guests.iter_mut().enumerate() {
            client.update(elapsed);
            transport.update(elapsed, client).expect("a connection");
            if client.is_connected() {
                while let Some(message) = client.receive_message(DefaultChannel::Unreliable) {
                    match self.workload {
                        Workload::Replicate => view.decode(&message),
                        Workload::Messages | Workload::Latency => self.heard.unreliable(),
                    }
                }
                while let Some(message) = client.receive_message(DefaultChannel::ReliableOrdered) {
                    self.heard.reliable(number, &message);
                }
            }
            // Until it is connected there is nothing that it may send.
            let _ = transport.send_packets(client);
        }
    }

    fn updates(&self) -> u64 {
        self.guests.iter().map(|guest| guest.view.updates()).sum()
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        self.guests[client].view.read(into);
    }

    fn heard(&self) -> Option<&Heard> {
        Some(&self.heard)
    }
}

fn connection(options: &Options) -> ConnectionConfig {
    let mut config = ConnectionConfig::default();
    if options.setting == RESEND_QUICKLY {
        let resend_time = Duration::from_millis(100);
        for channel in config.server_channels_config.iter_mut().chain(&mut config.client_channels_config) {
            if let SendType::ReliableOrdered { .. } = channel.send_type {
                channel.send_type = SendType::ReliableOrdered { resend_time };
            }
        }
    }
    config
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970")
}

fn server(options: &Options) -> Host {
    let config = ServerConfig {
        current_time: now(),
        max_clients: options.clients,
        protocol_id: PROTOCOL,
        public_addresses: vec![options.dial_address()],
        authentication: ServerAuthentication::Unsecure,
    };
    let socket = options.server_socket().expect("a free port");
    let transport = NetcodeServerTransport::new(config, socket).expect("a transport");
    Host { server: RenetServer::new(connection(options)), transport, buffer: Vec::new() }
}

fn clients(options: &Options) -> Guests {
    let guest = |number: usize| {
        let authentication = ClientAuthentication::Unsecure {
            protocol_id: PROTOCOL,
            client_id: number as u64 + 1,
            server_addr: options.dial_address(),
            user_data: None,
        };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let transport = NetcodeClientTransport::new(now(), authentication, socket).expect("a transport");
        Guest { client: RenetClient::new(connection(options)), transport, view: View::new(options.objects) }
    };
    let guests = (0..options.clients).map(guest).collect();
    Guests { guests, workload: options.workload, heard: Heard::new(options.clients) }
}

fn main() {
    let contender = Contender { name: "renet", settings: &["exact", RESEND_QUICKLY], has_messages: true };
    run(contender, server, clients);
}
