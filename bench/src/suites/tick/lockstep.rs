//! A server and its clients over real sockets, tick by tick in one thread: what a tick costs that is just so.
//!
//! ```text
//!   not timed                          timed                          not timed
//!   clients say what the tick is for │ the server's tick, in parts │ clients: receive, compare, answer
//! ```
//!
//! Loopback delivers before the call that sends returns, so every event of a tick is there when it begins.

use super::crowd::CLIENTS;
use super::film::{Film, OBJECTS};
use super::ours::{Manner, OurClient, OurServer, Parts, STEPS_PER_SEND};
use super::pace::time_of;
use super::seen::Seen;
use crate::error::BenchError;
use crate::measure::percentile;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Until everybody has everything and every buffer has its size.
const WARM_UP_TICKS: u64 = 600;

/// A kind of tick.
#[derive(Clone, Copy)]
pub struct Scene {
    /// For errors.
    pub workload: &'static str,
    /// Whether snapshots are sent in it. If not it is the last tick before one in which they are: acknowledgements have
    /// been taken in by then.
    pub sends: bool,
    /// Events that arrive in it, each in a datagram of its own.
    pub events: usize,
    /// Objects that change in every step.
    pub changing: usize,
    /// Whether players act in every step.
    pub plays: bool,
}

/// The times of many ticks of one kind.
pub struct Samples(Vec<Parts>);

impl Samples {
    /// A percentile of some of the parts together, in microseconds.
    pub fn percentile(&self, percent: f64, parts: impl Fn(&Parts) -> f64) -> f64 {
        let mut together: Vec<f64> = self.0.iter().map(parts).collect();
        percentile(&mut together, percent).unwrap_or(f64::NAN)
    }
}

/// Server and clients in the middle of their work.
pub struct Lockstep {
    scene: Scene,
    server: OurServer,
    clients: Vec<OurClient>,
    film: Arc<Film>,
    seen: Seen,
    tick: u64,
    said: u64,
}

impl Lockstep {
    /// A server and clients, warmed up, with a film of so many more steps.
    pub fn new(scene: Scene, ticks: usize) -> Result<Lockstep, BenchError> {
        let steps = WARM_UP_TICKS + (ticks as u64 + 1) * STEPS_PER_SEND;
        let film = Arc::new(Film::new(steps as usize, scene.changing));
        let server = OurServer::bind(film.clone(), scene.changing)?;
        let manner = Manner { plays: scene.plays, ..Manner::PLAIN };
        let connect = |number| OurClient::connect(number, server.address(), manner);
        let clients = (0..CLIENTS).map(connect).collect::<Result<Vec<_>, _>>()?;
        let mut lockstep = Lockstep { scene, server, clients, film, seen: Seen::default(), tick: 0, said: 0 };
        for _ in 0..WARM_UP_TICKS {
            lockstep.advance(0)?;
        }
        match lockstep.clients.iter().all(|client| client.is_complete) {
            true => Ok(lockstep),
            false => Err(lockstep.failed("not every client had everything in time".into())),
        }
    }

    /// So many ticks of the kind that the scene says, with those between them.
    pub fn run(&mut self, ticks: usize) -> Result<Samples, BenchError> {
        let mut samples = Vec::with_capacity(ticks);
        while samples.len() < ticks {
            let next = self.tick + 1;
            let is_it = next % STEPS_PER_SEND == if self.scene.sends { 0 } else { STEPS_PER_SEND - 1 };
            let parts = self.advance(if is_it { self.scene.events } else { 0 })?;
            if is_it {
                samples.push(parts);
            }
        }
        self.verdict()?;
        Ok(Samples(samples))
    }

    /// The server.
    pub fn server(&self) -> &OurServer {
        &self.server
    }

    fn advance(&mut self, events: usize) -> Result<Parts, BenchError> {
        self.tick += 1;
        let now = time_of(self.tick);
        for number in 0..events {
            self.clients[number % CLIENTS].say(now)?;
        }
        self.said += events as u64;
        let parts = self.server.tick_in_parts(now)?;
        for client in &mut self.clients {
            client.frame(now, &self.film, &mut self.seen)?;
        }
        Ok(parts)
    }

    /// Every event must have reached the game, and every state its client.
    fn verdict(&self) -> Result<(), BenchError> {
        let ledger = self.server.ledger();
        let heard = ledger.heard.load(Ordering::Relaxed);
        if heard != self.said {
            return Err(self.failed(format!("{heard} events reached the game of {}", self.said)));
        }
        if self.scene.plays && ledger.inputs.load(Ordering::Relaxed) < self.tick {
            return Err(self.failed("inputs did not reach the game".into()));
        }
        let least = self.tick / STEPS_PER_SEND * (self.scene.changing.min(OBJECTS) * CLIENTS) as u64 / 2;
        match self.seen {
            Seen { wrong, .. } if wrong > 0 => Err(self.failed(format!("{wrong} states were wrong"))),
            Seen { updates, .. } if updates < least => {
                Err(self.failed(format!("only {updates} states came")))
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, what: String) -> BenchError {
        BenchError::WrongWorkload { workload: self.scene.workload, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reaches_the_game_and_every_state_its_client() {
        let scene = Scene { workload: "test", sends: true, events: 40, changing: 20, plays: true };
        let mut lockstep = Lockstep::new(scene, 10).expect("everybody joins");
        let samples = lockstep.run(10).expect("everything arrives");
        assert_eq!(samples.0.len(), 10);
        lockstep.said += 1;
        assert!(lockstep.verdict().is_err(), "an event that was lost is noticed");
    }
}
