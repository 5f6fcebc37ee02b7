//! The clients of both servers, in a thread of their own.
//!
//! Sixty times a second each takes in what has arrived, compares it with the film and answers. What they use of the processor
//! is not the server's and is not counted.

use super::film::Film;
use super::ours::{Manner, OurClient};
use super::pace::Pace;
use super::raw::RawClient;
use super::refused;
use super::seen::Seen;
use crate::error::BenchError;
use netloom_transport::PeerAddress;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Clients of each server.
pub const CLIENTS: usize = 16;

/// What the thread of the servers and that of the clients tell each other.
#[derive(Default)]
pub struct Signals {
    /// Netloom's clients that hold the whole world.
    pub complete: AtomicU64,
    /// Clients that have to be told nothing more: compare what you hold, and end.
    pub is_over: AtomicBool,
    /// The thread has ended, well or not.
    pub has_ended: AtomicBool,
    /// States that arrived so far: at Netloom's clients, and at the others.
    pub updates: [AtomicU64; 2],
}

/// What both kinds of clients saw.
pub struct Verdict {
    /// Netloom's.
    pub ours: Seen,
    /// Those of the plain sockets.
    pub raw: Seen,
}

/// Where the servers are.
#[derive(Clone, Copy)]
pub struct Servers {
    /// Netloom's.
    pub ours: PeerAddress,
    /// The one over plain sockets.
    pub raw: SocketAddr,
}

/// Starts the thread.
pub fn spawn(
    servers: Servers,
    manner: Manner,
    film: Arc<Film>,
    signals: Arc<Signals>,
) -> JoinHandle<Result<Verdict, BenchError>> {
    std::thread::spawn(move || {
        let verdict = run(servers, manner, &film, &signals);
        signals.has_ended.store(true, Ordering::Release);
        verdict
    })
}

fn run(servers: Servers, manner: Manner, film: &Film, signals: &Signals) -> Result<Verdict, BenchError> {
    let mut ours = (0..CLIENTS)
        .map(|number| OurClient::connect(number, servers.ours, manner))
        .collect::<Result<Vec<_>, _>>()?;
    let connect = |_| RawClient::connect(servers.raw).map_err(refused);
    let mut raw = (0..CLIENTS).map(connect).collect::<Result<Vec<_>, _>>()?;
    let mut verdict = Verdict { ours: Seen::default(), raw: Seen::default() };
    let mut pace = Pace::start();
    while !signals.is_over.load(Ordering::Acquire) {
        let now = pace.elapsed();
        for client in &mut ours {
            client.frame(now, film, &mut verdict.ours)?;
        }
        for client in &mut raw {
            client.poll(film, &mut verdict.raw);
        }
        let complete = ours.iter().filter(|client| client.is_complete).count();
        signals.complete.store(complete as u64, Ordering::Relaxed);
        signals.updates[0].store(verdict.ours.updates, Ordering::Relaxed);
        signals.updates[1].store(verdict.raw.updates, Ordering::Relaxed);
        pace.wait();
    }
    ours.iter().for_each(|client| client.finish(film, &mut verdict.ours));
    raw.iter().for_each(|client| client.finish(film, &mut verdict.raw));
    Ok(verdict)
}
