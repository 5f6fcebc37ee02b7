//! The floor: a server and clients over plain UDP sockets, as the comparison programs have them.
//!
//! ```text
//!   u32 tick | u16 count | count × ( u16 walker | 3 × f32 position | 4 × f32 rotation )     39 walkers in 1,176 bytes
//! ```
//!
//! No connection, no acknowledgement, no encryption, no change detection: every walker is written out once in full, and
//! the same bytes go to every client, one system call for each datagram. Clients say nothing after their first word.

use super::film::{Film, Frame, OBJECTS};
use super::seen::{Seen, Truth};
use std::io;
use std::net::{SocketAddr, UdpSocket};

const WALKERS_PER_DATAGRAM: usize = 39;
const WALKER_BYTES: usize = 30;
const HEAD_BYTES: usize = 6;
const DATAGRAM_BYTES_MAX: usize = 1_500;

/// The server.
pub struct RawServer {
    socket: UdpSocket,
    clients: Vec<SocketAddr>,
    buffer: Vec<u8>,
    /// Bytes that the system took.
    pub sent_bytes: u64,
}

impl RawServer {
    /// On a port of the system's choice.
    pub fn bind() -> io::Result<RawServer> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_nonblocking(true)?;
        Ok(RawServer { socket, clients: Vec::new(), buffer: Vec::new(), sent_bytes: 0 })
    }

    /// Where it is.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Who said something.
    pub fn client_count(&self) -> usize {
        self.clients.len()
    }

    /// Looks for new clients and, in a tick of which clients are told, tells them.
    pub fn tick(&mut self, step: u64, frame: &Frame, is_told: bool) {
        let mut datagram = [0; DATAGRAM_BYTES_MAX];
        while let Ok((_, from)) = self.socket.recv_from(&mut datagram) {
            if !self.clients.contains(&from) {
                self.clients.push(from);
            }
        }
        if !is_told {
            return;
        }
        for first in (0..frame.positions.len()).step_by(WALKERS_PER_DATAGRAM) {
            self.write(step, frame, first);
            for client in &self.clients {
                let sent = self.socket.send_to(&self.buffer, client);
                self.sent_bytes += sent.unwrap_or(0) as u64;
            }
        }
    }

    fn write(&mut self, step: u64, frame: &Frame, first: usize) {
        let end = frame.positions.len().min(first + WALKERS_PER_DATAGRAM);
        self.buffer.clear();
        self.buffer.extend_from_slice(&(step as u32).to_le_bytes());
        self.buffer.extend_from_slice(&((end - first) as u16).to_le_bytes());
        for walker in first..end {
            self.buffer.extend_from_slice(&(walker as u16).to_le_bytes());
            for value in frame.positions[walker].iter().chain(&frame.rotations[walker]) {
                self.buffer.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}

/// A client.
pub struct RawClient {
    socket: UdpSocket,
    steps: Vec<u64>,
    positions: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
}

impl RawClient {
    /// Says its first word.
    pub fn connect(server: SocketAddr) -> io::Result<RawClient> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        socket.send(b"hi")?;
        let (positions, rotations) = (vec![[f32::NAN; 3]; OBJECTS], vec![[0.0; 4]; OBJECTS]);
        Ok(RawClient { socket, steps: vec![0; OBJECTS], positions, rotations })
    }

    /// Takes in what has arrived, and compares it with the truth.
    pub fn poll(&mut self, film: &Film, seen: &mut Seen) {
        let mut datagram = [0; DATAGRAM_BYTES_MAX];
        while let Ok(length) = self.socket.recv(&mut datagram) {
            let Some((head, walkers)) = datagram[..length].split_at_checked(HEAD_BYTES) else { continue };
            let step = u64::from(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
            for record in walkers.chunks_exact(WALKER_BYTES) {
                self.read(step, record, film, seen);
            }
        }
    }

    fn read(&mut self, step: u64, record: &[u8], film: &Film, seen: &mut Seen) {
        let walker = usize::from(u16::from_le_bytes([record[0], record[1]]));
        if walker >= OBJECTS || step < self.steps[walker] {
            return;
        }
        let value = |at: usize| f32::from_le_bytes(std::array::from_fn(|byte| record[2 + 4 * at + byte]));
        self.steps[walker] = step;
        self.positions[walker] = std::array::from_fn(value);
        self.rotations[walker] = std::array::from_fn(|axis| value(3 + axis));
        seen.check(Truth { film, step, walker }, self.positions[walker], self.rotations[walker]);
    }

    /// Compares what it holds in the end with where everything came to rest.
    pub fn finish(&self, film: &Film, seen: &mut Seen) {
        for walker in 0..OBJECTS {
            match self.steps[walker] >= film.end() {
                true => {
                    let truth = Truth { film, step: film.end(), walker };
                    seen.check_last(truth, self.positions[walker], self.rotations[walker]);
                }
                false => seen.missing += 1,
            }
        }
    }
}
