//! rusty_enet 0.4.1 over a socket that is a pair of queues, with a clock that the benchmark sets.

use super::{PacketRound, ReliablePipe, TICK, Wire};
use crate::error::BenchError;
use crate::link::Link;
use netloom_wire::Micros;
use rusty_enet::{Event, Host, HostSettings, MTU_MAX, Packet, PacketReceived, PeerID, Socket};
use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

const LIBRARY: &str = "rusty_enet";
const RELIABLE: u8 = 0;
const UNRELIABLE: u8 = 1;
const CHANNELS: usize = 2;
/// Each host has room for one peer, the other host.
const PEER: PeerID = PeerID(0);
/// Exchanges to complete the three-way handshake, with room to spare.
const HANDSHAKE_ROUNDS: u32 = 100;

/// ENet asks for its datagrams; a library without I/O is handed them. These queues turn one into the other.
#[derive(Default)]
struct Queues {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
    /// Emptied buffers, so that the queues themselves do not allocate for every datagram.
    spare: Vec<Vec<u8>>,
}

impl Queues {
    fn copy_of(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(datagram);
        buffer
    }
}

impl Socket for Queues {
    type Address = ();
    type Error = Infallible;

    fn send(&mut self, _: (), datagram: &[u8]) -> Result<usize, Infallible> {
        let buffer = self.copy_of(datagram);
        self.outgoing.push_back(buffer);
        Ok(datagram.len())
    }

    fn receive(&mut self, buffer: &mut [u8; MTU_MAX]) -> Result<Option<((), PacketReceived)>, Infallible> {
        let Some(datagram) = self.incoming.pop_front() else {
            return Ok(None);
        };
        let length = datagram.len();
        let received = match buffer.get_mut(..length) {
            Some(start) => {
                start.copy_from_slice(&datagram);
                PacketReceived::Complete(length)
            }
            None => PacketReceived::Partial,
        };
        self.spare.push(datagram);
        Ok(Some(((), received)))
    }
}

/// Two hosts, one clock. `sender` accepts the connection and sends the reliable stream.
pub struct EnetPair {
    clock: Rc<Cell<Duration>>,
    sender: Host<Queues>,
    receiver: Host<Queues>,
    sender_connected: bool,
    receiver_connected: bool,
}

impl EnetPair {
    /// The receiver has begun to connect, but nothing has been exchanged yet.
    pub fn connecting(now: Micros) -> Result<EnetPair, BenchError> {
        let clock = Rc::new(Cell::new(Duration::from_micros(now.0)));
        let host = |seed| {
            let time = clock.clone();
            let settings = HostSettings {
                peer_limit: 1,
                channel_limit: CHANNELS,
                time: Box::new(move || time.get()),
                seed: Some(seed),
                ..HostSettings::default()
            };
            Host::new(Queues::default(), settings).map_err(|e| BenchError::refused(LIBRARY, e))
        };
        let (sender, mut receiver) = (host(1)?, host(2)?);
        receiver.connect((), CHANNELS, 0).map_err(|e| BenchError::refused(LIBRARY, e))?;
        Ok(EnetPair { clock, sender, receiver, sender_connected: false, receiver_connected: false })
    }

    /// Connected over a perfect network.
    pub fn established(now: Micros) -> Result<EnetPair, BenchError> {
        let mut pair = EnetPair::connecting(now)?;
        for _ in 0..HANDSHAKE_ROUNDS {
            pair.advance(TICK);
            pair.service_receiver(&mut |_| {})?;
            hand_over(&mut pair.receiver, &mut pair.sender);
            pair.service_sender(&mut |_| {})?;
            hand_over(&mut pair.sender, &mut pair.receiver);
            if pair.sender_connected && pair.receiver_connected {
                return Ok(pair);
            }
        }
        Err(BenchError::NeverConnected { library: LIBRARY })
    }

    fn advance(&self, by: Micros) {
        self.clock.set(self.clock.get() + Duration::from_micros(by.0));
    }

    fn service_sender(&mut self, deliver: &mut dyn FnMut(&[u8])) -> Result<(), BenchError> {
        service(&mut self.sender, &mut self.sender_connected, deliver)
    }

    fn service_receiver(&mut self, deliver: &mut dyn FnMut(&[u8])) -> Result<(), BenchError> {
        service(&mut self.receiver, &mut self.receiver_connected, deliver)
    }
}

/// Receives, delivers and sends until the host has nothing more to tell.
fn service(
    host: &mut Host<Queues>,
    connected: &mut bool,
    deliver: &mut dyn FnMut(&[u8]),
) -> Result<(), BenchError> {
    while let Some(event) = host.service().map_err(|e| BenchError::refused(LIBRARY, e))? {
        match event {
            Event::Connect { .. } => *connected = true,
            Event::Receive { packet, .. } => deliver(packet.data()),
            Event::Disconnect { .. } => return Err(BenchError::refused(LIBRARY, "disconnected")),
        }
    }
    Ok(())
}

fn hand_over(from: &mut Host<Queues>, to: &mut Host<Queues>) {
    while let Some(datagram) = from.socket_mut().outgoing.pop_front() {
        to.socket_mut().incoming.push_back(datagram);
    }
}

fn send(host: &mut Host<Queues>, channel: u8, packet: &Packet) -> Result<(), BenchError> {
    host.peer_mut(PEER).send(channel, packet).map_err(|e| BenchError::refused(LIBRARY, e))
}

impl PacketRound for EnetPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<usize, BenchError> {
        let mut delivered = 0;
        let mut count = |message: &[u8]| delivered += std::hint::black_box(message).len();
        self.advance(TICK);

        send(&mut self.sender, UNRELIABLE, &Packet::always_unreliable_unsequenced(payload))?;
        self.sender.flush();
        hand_over(&mut self.sender, &mut self.receiver);
        self.service_receiver(&mut count)?;

        send(&mut self.receiver, UNRELIABLE, &Packet::always_unreliable_unsequenced(payload))?;
        self.receiver.flush();
        hand_over(&mut self.receiver, &mut self.sender);
        self.service_sender(&mut count)?;
        Ok(delivered)
    }
}

impl ReliablePipe for EnetPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn connected(&self) -> bool {
        self.sender_connected && self.receiver_connected
    }

    fn drive_sender(
        &mut self,
        now: Micros,
        message: Option<&[u8]>,
        wire: &mut Wire,
    ) -> Result<(), BenchError> {
        self.clock.set(Duration::from_micros(now.0));
        take_in(&mut self.sender, &mut wire.to_sender, now);
        self.service_sender(&mut |_| {})?;
        if let Some(message) = message {
            send(&mut self.sender, RELIABLE, &Packet::reliable(message))?;
            self.sender.flush();
        }
        give_out(&mut self.sender, &mut wire.to_receiver, now);
        Ok(())
    }

    fn poll_receiver(
        &mut self,
        now: Micros,
        wire: &mut Wire,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BenchError> {
        self.clock.set(Duration::from_micros(now.0));
        take_in(&mut self.receiver, &mut wire.to_receiver, now);
        self.service_receiver(deliver)?;
        give_out(&mut self.receiver, &mut wire.to_sender, now);
        Ok(())
    }
}

/// Puts what the network has brought where the host will look for it.
fn take_in(host: &mut Host<Queues>, link: &mut Link, now: Micros) {
    let socket = host.socket_mut();
    while link.receive(now, |datagram| {
        let copy = socket.copy_of(datagram);
        socket.incoming.push_back(copy);
    }) {}
}

/// Gives what the host has sent to the network and keeps the buffers.
fn give_out(host: &mut Host<Queues>, link: &mut Link, now: Micros) {
    let socket = host.socket_mut();
    while let Some(datagram) = socket.outgoing.pop_front() {
        link.send(now, &datagram);
        socket.spare.push(datagram);
    }
}
