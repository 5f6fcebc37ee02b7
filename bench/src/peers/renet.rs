//! renet 2.0.1: channels and acknowledgements, without its netcode transport (and so without encryption).

use super::{PacketRound, ReliablePipe, TICK, Wire};
use crate::error::BenchError;
use bytes::Bytes;
use netloom_wire::Micros;
use renet::{ClientId, ConnectionConfig, DefaultChannel, RenetClient, RenetServer};
use std::time::Duration;

const LIBRARY: &str = "renet";
const CLIENT: ClientId = 1;

/// A server and a client with the default channels. The server is the sender of the reliable stream.
pub struct RenetPair {
    server: RenetServer,
    client: RenetClient,
    server_now: Micros,
    client_now: Micros,
}

impl RenetPair {
    /// Connected from the start: without a transport there is no handshake.
    pub fn new(now: Micros) -> RenetPair {
        let mut server = RenetServer::new(ConnectionConfig::default());
        server.add_connection(CLIENT);
        let mut client = RenetClient::new(ConnectionConfig::default());
        client.set_connected();
        RenetPair { server, client, server_now: now, client_now: now }
    }

    fn update_server(&mut self, now: Micros) {
        self.server.update(duration(now.since(self.server_now)));
        self.server_now = now;
    }

    fn update_client(&mut self, now: Micros) {
        self.client.update(duration(now.since(self.client_now)));
        self.client_now = now;
    }

    /// renet turns every fault into a closed connection and goes silent; a benchmark must not.
    fn still_connected(&self) -> Result<(), BenchError> {
        let reason = self.client.disconnect_reason().or(self.server.disconnect_reason(CLIENT));
        reason.map_or(Ok(()), |reason| Err(BenchError::refused(LIBRARY, reason)))
    }
}

impl PacketRound for RenetPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<usize, BenchError> {
        let mut delivered = 0;

        self.update_server(self.server_now + TICK);
        self.server.send_message(CLIENT, DefaultChannel::Unreliable, Bytes::copy_from_slice(payload));
        for packet in self.server.get_packets_to_send(CLIENT).map_err(|e| BenchError::refused(LIBRARY, e))? {
            self.client.process_packet(&packet);
        }
        while let Some(message) = self.client.receive_message(DefaultChannel::Unreliable) {
            delivered += std::hint::black_box(&message).len();
        }

        self.update_client(self.client_now + TICK);
        self.client.send_message(DefaultChannel::Unreliable, Bytes::copy_from_slice(payload));
        for packet in self.client.get_packets_to_send() {
            self.server.process_packet_from(&packet, CLIENT).map_err(|e| BenchError::refused(LIBRARY, e))?;
        }
        while let Some(message) = self.server.receive_message(CLIENT, DefaultChannel::Unreliable) {
            delivered += std::hint::black_box(&message).len();
        }
        Ok(delivered)
    }
}

impl ReliablePipe for RenetPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn connected(&self) -> bool {
        true
    }

    fn drive_sender(
        &mut self,
        now: Micros,
        message: Option<&[u8]>,
        wire: &mut Wire,
    ) -> Result<(), BenchError> {
        self.update_server(now);
        let server = &mut self.server;
        while wire.to_sender.receive(now, |datagram| {
            // The client is known for as long as this pair exists; a fault shows in `still_connected`.
            let _ = server.process_packet_from(datagram, CLIENT);
        }) {}
        // renet sends once a frame, as its documentation asks. It acknowledges acknowledgements, so a server that flushed
        // at every poll would answer each answer and send more than four times the bytes.
        let Some(message) = message else {
            return self.still_connected();
        };
        self.server.send_message(CLIENT, DefaultChannel::ReliableOrdered, Bytes::copy_from_slice(message));
        for packet in self.server.get_packets_to_send(CLIENT).map_err(|e| BenchError::refused(LIBRARY, e))? {
            wire.to_receiver.send(now, &packet);
        }
        self.still_connected()
    }

    fn poll_receiver(
        &mut self,
        now: Micros,
        wire: &mut Wire,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BenchError> {
        self.update_client(now);
        let client = &mut self.client;
        while wire.to_receiver.receive(now, |datagram| client.process_packet(datagram)) {}
        while let Some(message) = self.client.receive_message(DefaultChannel::ReliableOrdered) {
            deliver(&message);
        }
        for packet in self.client.get_packets_to_send() {
            wire.to_sender.send(now, &packet);
        }
        self.still_connected()
    }
}

fn duration(time: Micros) -> Duration {
    Duration::from_micros(time.0)
}
