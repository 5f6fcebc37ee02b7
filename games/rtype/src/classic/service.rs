//! The classic protocol on a UDP port, in a thread of its own.
//!
//! The game's thread knows nothing of it: between the two there is Netloom's network in memory, whose queues are bounded and never make
//! anybody wait.
//!
//! ```
//! use netloom_rtype::classic::{DeskConfig, Entrance, Service};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (entrance, transport) = Entrance::new(netloom_rtype::protocol::protocol())?;
//! // … `ServerBuilder::transport(transport)`, bind the server, and run it …
//! # drop(transport);
//! let service = Service::start("127.0.0.1:0", DeskConfig::default(), entrance)?;
//! println!("classic clients play at {}", service.address());
//! service.stop();
//! # Ok(())
//! # }
//! ```

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use netloom::client::Client;
use netloom::clock::Clock;
use netloom::session::{ClientConfig, Protocol};
use netloom::transport::{
    Batch, ConfigError, MemoryConfig, MemoryNetwork, MemoryTransport, PeerAddress, Transport, TransportError,
    UdpConfig, UdpTransport, Waker,
};
use netloom::wire::Micros;

use super::codec::DATAGRAM_BYTES_MAX;
use super::desk::{CLIENTS_LIMIT, ClientId, DeskConfig, DeskCounters, DeskError};
use super::frames::Frames;
use super::gateway::Gateway;
use super::pilot::NetloomPilot;
use crate::protocol;

/// Datagrams that are received or sent in one go.
const BATCH_DATAGRAMS: usize = 64;
/// How long a service that stops says goodbye to the server.
const FAREWELL: Micros = Micros::from_millis(500);

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The address is none.
    #[error("{address:?} is no address to listen at, as 0.0.0.0:12345 is: {error}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong.
        error: std::io::Error,
    },
    /// The socket, or the network in memory.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A setting of a transport that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting that cannot be.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// There is no randomness, or no thread.
    #[error("the system has no {0}: {1}")]
    System(&'static str, String),
}

/// The way into a server of this process.
#[derive(Clone, Debug)]
pub struct Entrance {
    protocol: Protocol,
    network: MemoryNetwork,
    server: PeerAddress,
}

impl Entrance {
    /// A way in for those who speak the server's protocol, and the transport that the server has to listen on.
    pub fn new(protocol: Protocol) -> Result<(Entrance, MemoryTransport), ServiceError> {
        let config = MemoryConfig {
            // Those who come while others are on their way out.
            peers_max: 1 + 2 * CLIENTS_LIMIT,
            queue_datagrams_max: 128,
            ..MemoryConfig::default()
        };
        let network = MemoryNetwork::new(config)?;
        let transport = network.join()?;
        let server = transport.local_address();
        Ok((Entrance { protocol, network, server }, transport))
    }

    /// A player who is about to enter.
    pub fn enter(&self, name: &str) -> Result<Client<protocol::Act>, netloom::Error> {
        let config = ClientConfig {
            name: name.to_owned(),
            // Whoever looks is elsewhere, and whoever is lost there is gone here.
            is_headless: true,
            reconnects: false,
            ..ClientConfig::default()
        };
        Client::<protocol::Act>::builder().config(config).connect_over(
            self.protocol.clone(),
            self.network.join()?,
            self.server,
        )
    }
}

/// What the thread and the handle share.
#[derive(Default)]
struct Shared {
    is_stopping: AtomicBool,
    clients: AtomicUsize,
    counters: Mutex<DeskCounters>,
}

/// The thread. Dropping it stops it.
pub struct Service {
    address: SocketAddr,
    shared: Arc<Shared>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Listens at an address, `0.0.0.0:12345`, and lets those who come there into the server behind the entrance.
    pub fn start(address: &str, config: DeskConfig, entrance: Entrance) -> Result<Service, ServiceError> {
        let wrong = |error| ServiceError::Address { address: address.to_owned(), error };
        let resolved = address.to_socket_addrs().map_err(wrong)?.next();
        let at = resolved.ok_or_else(|| wrong(std::io::ErrorKind::AddrNotAvailable.into()))?;
        let socket = UdpTransport::bind(at.into(), UdpConfig::default())?;
        let (address, waker) = (socket.local_address().to_socket_addr(), socket.waker());
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| ServiceError::System("randomness", error.to_string()))?;
        let clock = Clock::new();
        let hire = move |client: ClientId| match entrance.enter(&format!("classic {}", client.0)) {
            Ok(client) => Some(NetloomPilot::new(client)),
            Err(error) => {
                tracing::warn!(%error, "a classic player cannot enter");
                None
            }
        };
        let gateway = Gateway::new(clock.now(), config, &seed, hire)?;
        let batch = Batch::new(BATCH_DATAGRAMS, socket.capabilities().mtu_bytes)?;
        let shared = Arc::new(Shared::default());
        let mut work = Work { socket, gateway, batch, clock, shared: Arc::clone(&shared) };
        let thread =
            std::thread::Builder::new().name(String::from("netloom-classic")).spawn(move || work.run());
        let thread = thread.map_err(|error| ServiceError::System("thread", error.to_string()))?;
        Ok(Service { address, shared, waker, thread: Some(thread) })
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many clients there are.
    pub fn client_count(&self) -> usize {
        self.shared.clients.load(Ordering::Relaxed)
    }

    /// What became of the datagrams, a frame ago.
    pub fn counters(&self) -> DeskCounters {
        *self.shared.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everybody that it is over, and waits for the thread's end.
    pub fn stop(mut self) {
        self.join();
    }

    fn join(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the classic protocol panicked");
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.join();
    }
}

/// What the thread does.
struct Work<H> {
    socket: UdpTransport,
    gateway: Gateway<NetloomPilot, H>,
    batch: Batch,
    clock: Clock,
    shared: Arc<Shared>,
}

impl<H: FnMut(ClientId) -> Option<NetloomPilot>> Work<H> {
    fn run(&mut self) {
        let mut frames = Frames::new(self.clock.now());
        while !self.shared.is_stopping.load(Ordering::Acquire) {
            self.turn(&mut frames);
        }
        let now = self.clock.now();
        self.gateway.stop();
        while !self.gateway.is_empty() && self.clock.now() < now + FAREWELL {
            self.turn(&mut frames);
        }
        self.note_errors("sending", |work| work.send());
    }

    /// Takes in what arrived, makes the frames that are due, sends, and sleeps until the next.
    fn turn(&mut self, frames: &mut Frames) {
        self.note_errors("receiving", |work| work.receive());
        let now = self.clock.now();
        while let Some(frame) = frames.poll(now) {
            self.gateway.handle_frame(now, frame);
        }
        self.shared.clients.store(self.gateway.client_count(), Ordering::Relaxed);
        *self.shared.counters.lock().unwrap_or_else(PoisonError::into_inner) = self.gateway.counters();
        self.note_errors("sending", |work| work.send());
        let due = frames.due();
        self.note_errors("waiting", |work| work.socket.wait(work.clock.now(), due));
    }

    fn receive(&mut self) -> Result<(), TransportError> {
        // As many as are there now; whoever sends without end does not keep the frames from coming.
        self.batch.clear();
        let now = self.clock.now();
        self.socket.receive(now, &mut self.batch)?;
        for datagram in self.batch.iter() {
            self.gateway.handle_datagram(now, datagram.address().to_socket_addr(), datagram.bytes());
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), TransportError> {
        let mut is_done = false;
        while !is_done {
            self.batch.clear();
            while let Some(slot) = self.batch.next_slot() {
                let Some((to, length)) = self.gateway.poll_transmit(slot) else {
                    is_done = true;
                    break;
                };
                self.batch.commit(to.into(), length);
            }
            // What a full socket does not take is lost, as anything on this protocol may be.
            self.socket.send(self.clock.now(), &mut self.batch)?;
        }
        Ok(())
    }

    /// A socket that fails once is tried again; one that always fails must not keep a processor busy.
    fn note_errors(
        &mut self,
        what: &'static str,
        run: impl FnOnce(&mut Work<H>) -> Result<(), TransportError>,
    ) {
        if let Err(error) = run(self) {
            tracing::warn!(%error, what, "the socket of the classic protocol");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

const _: () = assert!(DATAGRAM_BYTES_MAX <= netloom::transport::limits::MTU_BYTES_DEFAULT);
