//! A transport of your own: here one that wraps another and counts what passes, as a place for logs, tunnels or statistics.
//!
//! ```text
//! cargo run -p netloom --example custom_transport
//! ```
//!
//! Anything that carries datagrams of about 1,200 bytes can be a [`Transport`]; connections, encryption, acknowledgement and
//! pacing are above it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use netloom::prelude::*;
use netloom::transport::{
    Batch, Capabilities, Counters, PeerAddress, PeerStatus, Transport, TransportError, TransportEvent,
    UdpConfig, UdpTransport, Waker,
};

/// Bytes that passed, shared with whoever wants to know.
#[derive(Clone, Default)]
struct Meter {
    sent: Arc<AtomicU64>,
    received: Arc<AtomicU64>,
}

struct Metered<T> {
    inner: T,
    meter: Meter,
}

fn bytes_of(batch: &Batch) -> u64 {
    batch.iter().map(|datagram| datagram.bytes().len() as u64).sum()
}

impl<T: Transport> Transport for Metered<T> {
    /// What this promises decides what is done above: on a reliable transport nothing waits for long, for example.
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn local_address(&self) -> PeerAddress {
        self.inner.local_address()
    }

    /// What is taken leaves the batch; what would block stays.
    fn send(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let before = bytes_of(batch);
        let sent = self.inner.send(now, batch);
        self.meter.sent.fetch_add(before - bytes_of(batch), Ordering::Relaxed);
        sent
    }

    /// What arrives is added to the batch. Zero means: nothing now, and never an error by itself.
    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let before = bytes_of(batch);
        let received = self.inner.receive(now, batch);
        self.meter.received.fetch_add(bytes_of(batch) - before, Ordering::Relaxed);
        received
    }

    /// The only call that may sleep.
    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        self.inner.wait(now, deadline)
    }

    fn waker(&self) -> Waker {
        self.inner.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        self.inner.poll_event()
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        self.inner.status(peer)
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        self.inner.disconnect(peer);
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}

/// A room in which nothing happens.
struct Empty;

impl Game for Empty {
    type Input = [u8; 1];

    fn join(&mut self, _: &mut Room, _: PlayerId) {}

    fn input(&mut self, _: &mut Room, _: PlayerId, _: &Command<[u8; 1]>) -> Result<(), Rejected> {
        Ok(())
    }

    fn leave(&mut self, _: &mut Room, _: PlayerId) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protocol = Protocol::builder("empty").build()?;
    let socket = UdpTransport::bind("127.0.0.1:0".parse()?, UdpConfig::default())?;
    let address = socket.local_address();
    let meter = Meter::default();
    let transport = Metered { inner: socket, meter: meter.clone() };
    let server = Server::builder(protocol.clone()).room(RoomConfig::new("room"), Empty);
    let server = server.transport(transport).bind()?.spawn()?;

    // A client takes one as well: `Client::builder().connect_over(protocol, transport, server)`.
    let mut client = Client::<[u8; 1]>::connect(protocol, &address.to_string())?;
    while client.room().is_none() {
        client.tick()?;
        client.wait(Micros::from_millis(10))?;
    }
    client.leave(Micros::from_secs(1))?;
    server.stop("done")?;
    let [sent, received] = [meter.sent, meter.received].map(|bytes| bytes.load(Ordering::Relaxed));
    println!("a visit took {sent} bytes out and {received} bytes in");
    Ok(())
}
