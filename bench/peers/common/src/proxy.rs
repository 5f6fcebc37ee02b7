//! A bad network between clients and server: a delay each way, and loss.
//!
//! Loopback loses nothing and takes no time, so a library's worst side never shows there. The proxy stands between: clients
//! talk to its one address, and for each of them it has a socket of its own towards the server, so that the server sees as many
//! addresses as there are clients. It runs in the clients' process; what it spends is not the server's.
//!
//! ```text
//!   client A ──┐            ┌── socket of A ──┐
//!              ├── front ───┤                 ├── server       every datagram: lost, or later by the delay
//!   client B ──┘            └── socket of B ──┘
//! ```
//!
//! The delay is the same for all datagrams, so none overtakes another and one queue holds them all. Which are lost follows from a
//! seed and their order; one sequence for each direction.

use crate::Options;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SEED_UP: u64 = 0xC0FF_EE00_0000_0001;
const SEED_DOWN: u64 = 0xC0FF_EE00_0000_0002;
const DATAGRAM_BYTES_MAX: usize = 65_536;
/// How long an idle proxy waits at most before it looks again.
const IDLE_MAX: Duration = Duration::from_millis(100);

/// Starts it, in a thread that lasts as long as the process. Nothing is lost before the switch is thrown: some libraries
/// connect badly over a bad network, and a run with clients that are not there would say nothing about the others.
pub fn spawn(options: &Options) -> io::Result<LossSwitch> {
    let mut proxy =
        Proxy::bind(options.dial_address(), options.server_address(), options.delay, options.loss)?;
    let switch = LossSwitch(proxy.is_losing.clone());
    std::thread::Builder::new().name("proxy".to_owned()).spawn(move || {
        loop {
            if let Err(error) = proxy.turn() {
                eprintln!("the proxy ends: {error}");
                return;
            }
        }
    })?;
    Ok(switch)
}

/// Makes a proxy lose datagrams.
#[derive(Default)]
pub struct LossSwitch(Arc<AtomicBool>);

impl LossSwitch {
    pub fn throw(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Proxy {
    front: UdpSocket,
    server: SocketAddr,
    /// By client: where it is, and its socket towards the server.
    clients: Vec<(SocketAddr, UdpSocket)>,
    delay: Duration,
    is_losing: Arc<AtomicBool>,
    up: Loss,
    down: Loss,
    queue: VecDeque<Queued>,
    buffer: Vec<u8>,
}

struct Queued {
    due: Instant,
    client: usize,
    is_up: bool,
    bytes: Vec<u8>,
}

impl Proxy {
    fn bind(front: SocketAddr, server: SocketAddr, delay: Duration, loss: f64) -> io::Result<Proxy> {
        Ok(Proxy {
            front: socket(front)?,
            server,
            clients: Vec::new(),
            delay,
            is_losing: Arc::default(),
            up: Loss { share: loss, random: SEED_UP },
            down: Loss { share: loss, random: SEED_DOWN },
            queue: VecDeque::new(),
            buffer: vec![0; DATAGRAM_BYTES_MAX],
        })
    }

    /// Waits until something arrives or is due, and moves it on.
    fn turn(&mut self) -> io::Result<()> {
        self.wait()?;
        let due = Instant::now() + self.delay;
        let is_losing = self.is_losing.load(Ordering::Relaxed);
        self.receive_from_clients(due, is_losing)?;
        self.receive_from_server(due, is_losing);
        self.send_what_is_due();
        Ok(())
    }

    fn wait(&self) -> io::Result<()> {
        let next = self.queue.front().map(|queued| queued.due.saturating_duration_since(Instant::now()));
        let timeout = next.unwrap_or(IDLE_MAX).min(IDLE_MAX);
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
        let sockets = self.clients.iter().map(|(_, socket)| socket);
        let mut watched: Vec<PollFd<'_>> =
            sockets.chain([&self.front]).map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn receive_from_clients(&mut self, due: Instant, is_losing: bool) -> io::Result<()> {
        while let Ok((length, from)) = self.front.recv_from(&mut self.buffer) {
            let known = self.clients.iter().position(|(address, _)| *address == from);
            let client = match known {
                Some(client) => client,
                None => {
                    self.clients.push((from, socket(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?));
                    self.clients.len() - 1
                }
            };
            if !(is_losing && self.up.takes_next()) {
                let bytes = self.buffer[..length].to_vec();
                self.queue.push_back(Queued { due, client, is_up: true, bytes });
            }
        }
        Ok(())
    }

    fn receive_from_server(&mut self, due: Instant, is_losing: bool) {
        for (client, (_, socket)) in self.clients.iter().enumerate() {
            while let Ok((length, _)) = socket.recv_from(&mut self.buffer) {
                if !(is_losing && self.down.takes_next()) {
                    let bytes = self.buffer[..length].to_vec();
                    self.queue.push_back(Queued { due, client, is_up: false, bytes });
                }
            }
        }
    }

    fn send_what_is_due(&mut self) {
        let now = Instant::now();
        while let Some(queued) = self.queue.pop_front_if(|queued| queued.due <= now) {
            let (address, socket) = &self.clients[queued.client];
            // A full buffer or a closed port loses a datagram, as networks do.
            let _ = if queued.is_up {
                socket.send_to(&queued.bytes, self.server)
            } else {
                self.front.send_to(&queued.bytes, address)
            };
        }
    }
}

fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Which datagrams of one direction are lost.
struct Loss {
    share: f64,
    random: u64,
}

impl Loss {
    fn takes_next(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 11) as f64 / (1u64 << 53) as f64) < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn patient_socket() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        socket
    }

    /// Turns the proxy until `socket` gets something.
    fn received(proxy: &mut Proxy, socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
        let mut buffer = [0; 100];
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            proxy.turn().unwrap();
            if let Ok((length, from)) = socket.recv_from(&mut buffer) {
                return (buffer[..length].to_vec(), from);
            }
        }
        panic!("nothing arrived");
    }

    #[test]
    fn every_client_has_an_address_of_its_own_and_gets_its_own_answers() {
        let server = patient_socket();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut proxy =
            Proxy::bind(any, server.local_addr().unwrap(), Duration::from_millis(3), 0.0).unwrap();
        let front = proxy.front.local_addr().unwrap();
        let clients = [patient_socket(), patient_socket()];
        let mut seen = Vec::new();
        for (number, client) in clients.iter().enumerate() {
            let start = Instant::now();
            client.send_to(&[number as u8], front).unwrap();
            let (bytes, from) = received(&mut proxy, &server);
            assert_eq!(bytes, [number as u8]);
            assert!(start.elapsed() >= Duration::from_millis(3), "earlier than the delay");
            seen.push(from);
        }
        assert_ne!(seen[0], seen[1]);
        for (number, client) in clients.iter().enumerate().rev() {
            server.send_to(&[10 + number as u8], seen[number]).unwrap();
            assert_eq!(received(&mut proxy, client), (vec![10 + number as u8], front));
        }
    }

    #[test]
    fn nothing_is_lost_before_the_switch_is_thrown() {
        let server = patient_socket();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut proxy = Proxy::bind(any, server.local_addr().unwrap(), Duration::ZERO, 1.0).unwrap();
        let client = patient_socket();
        client.send_to(b"before", proxy.front.local_addr().unwrap()).unwrap();
        assert_eq!(received(&mut proxy, &server).0, b"before");
        LossSwitch(proxy.is_losing.clone()).throw();
        client.send_to(b"after", proxy.front.local_addr().unwrap()).unwrap();
        proxy.turn().unwrap();
        assert!(proxy.queue.is_empty());
    }

    #[test]
    fn as_many_are_lost_as_was_said_and_always_the_same() {
        let lost = |share: f64| {
            let mut loss = Loss { share, random: SEED_UP };
            (0..100_000).filter(|_| loss.takes_next()).count()
        };
        assert_eq!(lost(0.0), 0);
        assert!((4_700..5_300).contains(&lost(0.05)), "{}", lost(0.05));
        assert_eq!(lost(0.05), lost(0.05));
    }
}
