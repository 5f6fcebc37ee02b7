//! Server, client and the link between them, in virtual time.
//!
//! Virtual time is the server's clock. The client's runs a little faster or slower, started at another time, and may
//! stand still while the machine sleeps:
//!
//! ```text
//!   server   step  step  step  step  step  step  …        60 a second, a snapshot after every third
//!   client   frame    frame   frame  ╳ suspended ╳  frame …  reads what came, shows, reacts, sends
//! ```

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use netloom_wire::Micros;

use super::check::Checks;
use super::host::{Host, Shove, time_of};
use super::motion::{Kind, Mover};
use super::player::{Frame, Player};
use super::walk::{Keys, STEPS_PER_SECOND, setup};
use crate::check::Violation;
use crate::network::{LinkConfig, Network};
use crate::rng::Rng;
use crate::runner::Failure;

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4_000);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4_000);

/// By the client's clock, the run begins here.
const CLIENT_EPOCH: Micros = Micros::from_secs(5_000);

/// Who plays, and over what.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// What the seed decides besides: where everybody is, what is lost.
    pub seed: u64,
    /// The tick before the first.
    pub tick: u32,
    /// Steps of the simulation between two snapshots.
    pub steps_per_tick: u32,
    /// Frames a second.
    pub frames_per_second: u32,
    /// By how much the length of a frame varies, as a share of it.
    pub frame_jitter: f64,
    /// How much faster the client's clock runs, in parts per million.
    pub drift_ppm: f64,
    /// Each direction.
    pub link: LinkConfig,
}

/// What goes wrong, or is done to the player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The client makes no frame for so long.
    Pause {
        /// How long.
        lasts: Micros,
        /// Whether its clock stands still, as on a machine that sleeps.
        stops_clock: bool,
    },
    /// Nothing passes in either direction.
    Outage {
        /// How long.
        lasts: Micros,
    },
    /// The server moves the player.
    Shove(Shove),
}

/// Everything.
#[derive(Debug)]
pub struct Stage {
    /// The server.
    pub host: Host,
    /// The client.
    pub player: Player,
    /// What must hold.
    pub checks: Checks,
    network: Network,
    setup: Setup,
    /// Virtual time.
    now: Micros,
    begin: Micros,
    frame_at: Micros,
    outage_until: Option<Micros>,
    /// The client's clock stood still for so long.
    slept: Micros,
    inbox: Vec<Vec<u8>>,
    keys: Keys,
    keys_until: Micros,
    rng: Rng,
}

impl Stage {
    /// Nobody has said anything yet.
    pub fn new(setup_of: Setup) -> Result<Stage, Failure> {
        let rng = Rng::new(setup_of.seed).fork("feel");
        let mut network = Network::new(setup_of.seed, setup_of.link).map_err(setup)?;
        [SERVER, CLIENT].into_iter().for_each(|node| network.add_node(node));
        let movers = movers(&rng.fork("movers"));
        let steps_per_tick = setup_of.steps_per_tick;
        let host = Host::new(setup_of.tick, steps_per_tick, movers, rng.fork("host"))?;
        let begin = time_of(host.origin());
        let rtt = Micros(2 * setup_of.link.latency.0);
        let player = Player::new(STEPS_PER_SECOND / steps_per_tick, rtt)?;
        Ok(Stage {
            checks: Checks::new(&host, STEPS_PER_SECOND / steps_per_tick),
            host,
            player,
            network,
            setup: setup_of,
            now: begin,
            begin,
            frame_at: begin + Micros(7_001),
            outage_until: None,
            slept: Micros::ZERO,
            inbox: Vec::new(),
            keys: Keys::NONE,
            keys_until: begin,
            rng: rng.fork("stage"),
        })
    }

    /// How long it has lasted.
    pub fn elapsed(&self) -> Micros {
        self.now.since(self.begin)
    }

    /// When it began, by the server's clock.
    pub fn begin_seconds(&self) -> f64 {
        self.begin.as_secs_f64()
    }

    /// Another link, in both directions.
    pub fn set_link(&mut self, link: LinkConfig) -> Result<(), Failure> {
        self.network.set_link(SERVER, CLIENT, link).map_err(setup)?;
        self.network.set_link(CLIENT, SERVER, link).map_err(setup)?;
        self.checks.disturb(self.now);
        Ok(())
    }

    /// Something happens now.
    pub fn apply(&mut self, fault: Fault) {
        self.checks.disturb(self.now);
        match fault {
            // Who is suspended cannot be suspended again.
            Fault::Pause { .. } if self.frame_at > self.now + Micros::from_millis(100) => {}
            Fault::Pause { lasts, stops_clock } => {
                self.frame_at = self.frame_at.max(self.now + lasts);
                if stops_clock {
                    self.slept += lasts;
                    self.checks.others.sleep(lasts);
                }
            }
            Fault::Outage { lasts } => {
                self.network.partition(SERVER, CLIENT);
                self.outage_until = Some(self.now + lasts);
            }
            Fault::Shove(shove) => self.host.shove(shove),
        }
    }

    /// Runs until a time since the beginning; `look` sees every frame.
    pub fn run_until(&mut self, until: Micros, mut look: impl FnMut(&Stage, &Frame)) -> Result<(), Failure> {
        while self.elapsed() < until {
            let step_at = self.host.next_step_at();
            self.now = step_at.min(self.frame_at);
            if self.outage_until.is_some_and(|end| end <= self.now) {
                self.network.heal(SERVER, CLIENT);
                self.outage_until = None;
                self.checks.disturb(self.now);
            }
            self.deliver()?;
            if step_at == self.now {
                self.step()?;
            } else {
                let frame = self.frame()?;
                look(self, &frame);
            }
        }
        Ok(())
    }

    /// A failure at this time.
    pub fn failure(&self, violation: Violation) -> Failure {
        Failure::Violation { at_ms: self.elapsed().0 / 1_000, violation }
    }

    fn deliver(&mut self) -> Result<(), Failure> {
        let mut datagram = Vec::new();
        while let Some(delivery) = self.network.poll_delivery(self.now, &mut datagram) {
            match delivery.to == SERVER {
                true => self.host.handle_datagram(&datagram, delivery.at)?,
                false => self.inbox.push(datagram.clone()),
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        let datagram = self.host.step()?;
        let checked = self.checks.check_step(&self.host);
        checked.map_err(|violation| self.failure(violation))?;
        if let Some(datagram) = datagram {
            self.network.send(self.now, SERVER, CLIENT, &datagram);
        }
        Ok(())
    }

    fn frame(&mut self) -> Result<Frame, Failure> {
        self.play();
        let local = self.client_clock();
        let frame = self.player.frame(local, &mut self.inbox, self.keys)?;
        let checked = self.checks.check_frame(self.now, &frame, &self.player, &self.host);
        checked.map_err(|violation| self.failure(violation))?;
        self.network.send(self.now, CLIENT, SERVER, &frame.datagram);
        let length_us = 1e6 / f64::from(self.setup.frames_per_second);
        let jitter = self.setup.frame_jitter * (2.0 * self.rng.unit() - 1.0);
        self.frame_at = self.now + Micros((length_us * (1.0 + jitter)) as u64);
        Ok(frame)
    }

    /// The player's fingers. It comes back before it is lost.
    fn play(&mut self) {
        if self.now < self.keys_until {
            return;
        }
        self.keys_until = self.now + Micros::from_millis(self.rng.between(120, 1_200));
        let Some(own) = &self.player.own else { return };
        let place = own.state().position;
        let mut axis = |axis: usize| match place[axis] - super::host::START[axis] {
            away if away > 12.0 => -1,
            away if away < -12.0 => 1,
            _ => self.rng.between(0, 2) as i8 - 1,
        };
        let direction = [axis(0), axis(1)];
        self.keys = Keys { direction, run: self.rng.chance(0.5) };
    }

    fn client_clock(&self) -> Micros {
        let elapsed = self.now.since(self.begin).since(self.slept);
        let drifted = elapsed.0 as f64 * (1.0 + self.setup.drift_ppm / 1e6);
        CLIENT_EPOCH + Micros(drifted as u64)
    }
}

fn movers(rng: &Rng) -> Vec<Mover> {
    let kinds = [
        Kind::Patrol,
        Kind::Blinker,
        Kind::Circle { radius: 5.0 },
        Kind::StopAndGo,
        Kind::Patrol,
        Kind::StopAndGo,
        Kind::Circle { radius: 12.0 },
        Kind::Blinker,
    ];
    let mover = |(number, kind): (usize, Kind)| {
        let mut rng = rng.fork_index(number as u64);
        let speed = 2.0 + 6.0 * rng.unit();
        Mover::new(kind, speed, [10.0, 14.0 * number as f64, 0.0], rng)
    };
    kinds.into_iter().enumerate().map(mover).collect()
}
