//! Netloom: two endpoints in memory.

use super::{PacketRound, ReliablePipe, TICK, Wire};
use crate::error::BenchError;
use crate::link::Link;
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{Config, Endpoint, Event, ListenConfig, PeerId, Redundancy, Rejection, Security};
use netloom_wire::Micros;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const LIBRARY: &str = "netloom";
const SENDER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 7_000);
const RECEIVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 7_001);
/// The default channels, by id.
const ORDERED: u8 = 1;
const UNRELIABLE: u8 = 3;
const CHANNELS: std::ops::Range<u8> = 0..5;
/// Exchanges to complete the handshake, with room to spare.
const HANDSHAKE_ROUNDS: u32 = 100;

/// One endpoint with its single connection.
struct Side {
    endpoint: Endpoint,
    address: SocketAddr,
    /// The other side, once it is connected.
    peer: Option<PeerId>,
    /// Where the endpoint writes what it sends.
    datagram: [u8; DATAGRAM_MAX],
}

impl Side {
    fn new(
        config: &Config,
        listen: Option<ListenConfig>,
        address: SocketAddr,
        seed: u8,
    ) -> Result<Side, BenchError> {
        let endpoint = Endpoint::new(config.clone(), listen, [seed; 32]);
        let endpoint = endpoint.map_err(|error| BenchError::refused(LIBRARY, error))?;
        Ok(Side { endpoint, address, peer: None, datagram: [0; DATAGRAM_MAX] })
    }

    /// Takes in one datagram of the other side.
    fn handle(&mut self, now: Micros, from: SocketAddr, datagram: &mut [u8]) {
        self.endpoint.handle_datagram(now, from, datagram);
    }

    /// Passes every message to `deliver`.
    fn poll_messages(&mut self, deliver: &mut dyn FnMut(&[u8])) -> Result<(), BenchError> {
        while let Some((peer, event)) = self.endpoint.poll_event() {
            match event {
                Event::Connected { .. } => self.peer = Some(peer),
                Event::Message { data, .. } => deliver(data),
                Event::Outcome { .. } => {}
                Event::Disconnected { reason, .. } => return Err(BenchError::refused(LIBRARY, reason)),
            }
        }
        Ok(())
    }

    fn send(&mut self, channel: u8, message: &[u8]) -> Result<(), BenchError> {
        let peer = self.peer.ok_or(BenchError::NeverConnected { library: LIBRARY })?;
        self.endpoint.send(peer, channel, message).map_err(|error| BenchError::refused(LIBRARY, error))
    }

    /// Hands every datagram that is due straight to `other`.
    fn transmit_to(&mut self, now: Micros, other: &mut Side) {
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.datagram) {
            other.handle(now, self.address, &mut self.datagram[..transmit.length]);
        }
    }

    /// Hands every datagram that is due to the network.
    fn give_out(&mut self, now: Micros, link: &mut Link) {
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.datagram) {
            link.send(now, &self.datagram[..transmit.length]);
        }
    }
}

/// Two sides, one of which accepted the other. The accepting side sends the reliable stream.
pub struct NetloomPair {
    sender: Side,
    receiver: Side,
    now: Micros,
}

impl NetloomPair {
    /// The receiver has begun to connect, but nothing has been exchanged yet.
    pub fn connecting(
        now: Micros,
        security: Security,
        redundancy: Redundancy,
    ) -> Result<NetloomPair, BenchError> {
        let config = Config { protocol_id: 0x0062_656e_6368, security, redundancy, ..Config::default() };
        let sender = Side::new(&config, Some(ListenConfig::default()), SENDER, 1)?;
        let mut receiver = Side::new(&config, None, RECEIVER, 2)?;
        receiver.endpoint.connect(now, SENDER, None).map_err(|error| BenchError::refused(LIBRARY, error))?;
        Ok(NetloomPair { sender, receiver, now })
    }

    /// Connected over a perfect network.
    pub fn established(
        now: Micros,
        security: Security,
        redundancy: Redundancy,
    ) -> Result<NetloomPair, BenchError> {
        let mut pair = NetloomPair::connecting(now, security, redundancy)?;
        for _ in 0..HANDSHAKE_ROUNDS {
            pair.round(|_| Ok(()), &mut |_| {})?;
            if pair.sender.peer.is_some() && pair.receiver.peer.is_some() {
                return Ok(pair);
            }
        }
        Err(BenchError::NeverConnected { library: LIBRARY })
    }

    /// One tick in which both sides send a message of `payload` on every channel; returns the payload bytes delivered.
    pub fn exchange_on_all_channels(&mut self, payload: &[u8]) -> Result<usize, BenchError> {
        let mut delivered = 0;
        self.round(
            |side| CHANNELS.clone().try_for_each(|channel| side.send(channel, payload)),
            &mut |message| delivered += std::hint::black_box(message).len(),
        )?;
        Ok(delivered)
    }

    /// One tick of both sides over a perfect network.
    #[inline]
    fn round(
        &mut self,
        mut send: impl FnMut(&mut Side) -> Result<(), BenchError>,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BenchError> {
        self.now += TICK;
        let (now, sender, receiver) = (self.now, &mut self.sender, &mut self.receiver);
        sender.endpoint.begin_tick(now);
        send(sender)?;
        sender.transmit_to(now, receiver);
        receiver.endpoint.begin_tick(now);
        receiver.poll_messages(deliver)?;
        send(receiver)?;
        receiver.transmit_to(now, sender);
        sender.poll_messages(deliver)
    }
}

impl PacketRound for NetloomPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<usize, BenchError> {
        let mut delivered = 0;
        self.round(|side| side.send(UNRELIABLE, payload), &mut |message| {
            delivered += std::hint::black_box(message).len()
        })?;
        Ok(delivered)
    }
}

impl ReliablePipe for NetloomPair {
    fn library(&self) -> &'static str {
        LIBRARY
    }

    fn connected(&self) -> bool {
        self.sender.peer.is_some() && self.receiver.peer.is_some()
    }

    fn drive_sender(
        &mut self,
        now: Micros,
        message: Option<&[u8]>,
        wire: &mut Wire,
    ) -> Result<(), BenchError> {
        let sender = &mut self.sender;
        sender.endpoint.begin_tick(now);
        while wire.to_sender.receive(now, |datagram| sender.handle(now, RECEIVER, datagram)) {}
        sender.poll_messages(&mut |_| {})?;
        if let Some(message) = message {
            sender.send(ORDERED, message)?;
        }
        sender.give_out(now, &mut wire.to_receiver);
        Ok(())
    }

    fn poll_receiver(
        &mut self,
        now: Micros,
        wire: &mut Wire,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BenchError> {
        let receiver = &mut self.receiver;
        receiver.endpoint.begin_tick(now);
        while wire.to_receiver.receive(now, |datagram| receiver.handle(now, SENDER, datagram)) {}
        receiver.poll_messages(deliver)?;
        receiver.give_out(now, &mut wire.to_sender);
        Ok(())
    }
}

/// An endpoint that listens, with one connected peer and nothing to do.
///
/// Time stands still, so that no timer ever runs out: what is left is the look at the connection's timers, at its next
/// transmission and at its events.
pub struct Idle {
    side: Side,
    now: Micros,
    /// Calls that found something to do.
    busy: u64,
}

impl Idle {
    /// The accepting side of `pair`, after everything that was due has been sent and read.
    pub fn new(pair: NetloomPair) -> Result<Idle, BenchError> {
        let NetloomPair { mut sender, mut receiver, now } = pair;
        for _ in 0..HANDSHAKE_ROUNDS {
            sender.transmit_to(now, &mut receiver);
            receiver.transmit_to(now, &mut sender);
            sender.poll_messages(&mut |_| {})?;
        }
        sender.endpoint.begin_tick(now);
        Ok(Idle { side: sender, now, busy: 0 })
    }

    /// `operations` ticks: begin, ask for a datagram, ask for an event.
    #[inline]
    pub fn run(&mut self, operations: u32) {
        let Side { endpoint, datagram, .. } = &mut self.side;
        for _ in 0..operations {
            let now = std::hint::black_box(self.now);
            endpoint.begin_tick(now);
            let sends = endpoint.poll_transmit(now, datagram).is_some();
            let tells = endpoint.poll_event().is_some();
            self.busy += u64::from(sends | tells);
        }
    }

    /// Moves time to where the endpoint has something to send.
    #[cfg(test)]
    pub fn skip_to_keepalive(&mut self) {
        self.now = self.side.endpoint.poll_timeout().unwrap_or(self.now);
    }

    /// An error if the endpoint was not idle, or no longer connected.
    pub fn verdict(self) -> Result<(), BenchError> {
        match self.busy == 0 && self.side.endpoint.peer_count() == 1 {
            true => Ok(()),
            false => Err(BenchError::refused(LIBRARY, "an idle endpoint had something to do")),
        }
    }
}

/// A receiver and a sealed datagram that it has already accepted.
///
/// Handed in again, it passes every check that comes before decryption except the last, the replay window: the whole
/// cost of validation and nothing of what follows it.
pub struct Replay {
    side: Side,
    datagram: Vec<u8>,
    now: Micros,
    handled: u64,
}

impl Replay {
    /// Takes one datagram from the traffic of `pair` and delivers it once.
    pub fn new(mut pair: NetloomPair) -> Result<Replay, BenchError> {
        pair.now += TICK;
        let NetloomPair { mut sender, mut receiver, now } = pair;
        receiver.endpoint.begin_tick(now);
        receiver.send(UNRELIABLE, &[0x5A; 300])?;
        let mut buffer = [0; DATAGRAM_MAX];
        let length = receiver.endpoint.poll_transmit(now, &mut buffer).map_or(0, |transmit| transmit.length);
        let datagram = buffer[..length].to_vec();
        sender.endpoint.begin_tick(now);
        sender.handle(now, RECEIVER, &mut buffer[..length]);
        Ok(Replay { side: sender, datagram, now, handled: 0 })
    }

    /// Hands the datagram in `operations` times more. A refused datagram is left as it was.
    pub fn run(&mut self, operations: u32) {
        for _ in 0..operations {
            self.side.handle(self.now, RECEIVER, std::hint::black_box(&mut self.datagram));
        }
        self.handled += u64::from(operations);
    }

    /// An error unless the replay window, and nothing before it, refused every copy.
    pub fn verdict(self) -> Result<(), BenchError> {
        let refused = self.side.endpoint.rejections().get(Rejection::Replayed);
        match refused == self.handled {
            true => Ok(()),
            false => Err(BenchError::refused(LIBRARY, "a replayed datagram was not refused as a replay")),
        }
    }
}
