//! An attacker who sees every datagram, can send from any address and is nearer to both sides than they to each other.
//!
//! He cannot break the encryption, so nothing that he does may be noticed by the players: not replaying what was sent,
//! not damaging it, not delivering it first from an address of his own, and not repeating a handshake after the end.

use std::net::SocketAddr;

use netloom_proto::packet::{PacketType, packet_type};
use netloom_wire::Micros;

use super::pair::{CLIENT, Pair, Plan, SERVER};
use crate::check::Violation;
use crate::fault::{Fault, Schedule};
use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use crate::world::{Flow, Recorded, TICK, game};

/// Short enough that the handshake can be repeated while its cookie still lives.
const TRAFFIC: Micros = Micros::from_secs(4);
/// How far back the attacker remembers.
const RECORDED_MAX: usize = 2_000;
/// A server remembers the end of a session this long, to confirm it again.
const FORGETS_AFTER: Micros = Micros::from_secs(3);
/// A half-open session must be gone after this.
const FORGOTTEN_AFTER: Micros = Micros::from_secs(30);

/// Replays, forgeries and stolen packets.
pub struct Attack;

impl Scenario for Attack {
    fn name(&self) -> &'static str {
        "attack"
    }

    fn about(&self) -> &'static str {
        "an attacker on the path replays, forges and steals packets and repeats handshakes; nobody notices"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut pair = Pair::connect(seed, plan())?;
        pair.world.record(RECORDED_MAX);
        let mut attacker = Attacker { rng: Rng::new(seed).fork("attacker"), injected: 0 };
        while pair.world.now() < TRAFFIC {
            let next = pair.world.now() + TICK;
            pair.world.run_until(next)?;
            attacker.act(&mut pair);
        }
        pair.finish(report)?;
        report.add("injected", "", f64::from(attacker.injected));
        repeat_handshakes(&mut pair)
    }
}

fn plan() -> Plan {
    let slow = LinkConfig {
        loss: Loss::Uniform(0.02),
        latency: Micros::from_millis(50),
        jitter: Micros::from_millis(10),
        ..LinkConfig::default()
    };
    let mut server_traffic = game();
    // Enough that a stolen path shows at once.
    server_traffic.push(Flow::every_tick(3, 800));
    Plan {
        link: LinkConfig { latency: Micros::from_millis(5), ..LinkConfig::default() },
        faults: Schedule::new()
            .at(Micros::ZERO, Fault::SetLink { from: CLIENT, to: SERVER, config: slow })
            .at(Micros::ZERO, Fault::SetLink { from: SERVER, to: CLIENT, config: slow }),
        server_traffic,
        traffic: TRAFFIC,
        ..Plan::new(game())
    }
}

struct Attacker {
    rng: Rng,
    injected: u32,
}

impl Attacker {
    fn act(&mut self, pair: &mut Pair) {
        let recorded = pair.world.recorded().len() as u64;
        if recorded == 0 {
            return;
        }
        let place = self.rng.below(recorded) as usize;
        let action = self.rng.below(5);
        let Some(Recorded { from, to, mut datagram }) = pair.world.recorded().get(place).cloned() else {
            return;
        };
        let own = SocketAddr::from(([198, 51, 100, self.rng.below(4) as u8], 666));
        match action {
            0 => pair.world.inject(from, to, &datagram),
            1 => pair.world.inject(own, SERVER, &datagram),
            2 => {
                // A forgery with a number far ahead, which must not move the replay window.
                let at = self.rng.below(datagram.len().min(12) as u64) as usize;
                datagram[at] ^= 1 << self.rng.below(8);
                pair.world.inject(from, to, &datagram);
            }
            3 => {
                let newest = pair.world.recorded().iter().rev().find(|seen| seen.to == SERVER).cloned();
                if let Some(stolen) = newest {
                    pair.world.inject(own, SERVER, &stolen.datagram);
                }
            }
            _ => {
                datagram.truncate(self.rng.below(datagram.len() as u64 + 1) as usize);
                self.rng.fill(&mut datagram);
                pair.world.inject(own, to, &datagram);
            }
        }
        self.injected += 1;
    }
}

/// After the end the attacker sends the client's requests again, from the client's address.
fn repeat_handshakes(pair: &mut Pair) -> Result<(), Failure> {
    pair.world.run_until(pair.world.now() + FORGETS_AFTER)?;
    let sessions = pair.world.ledger().connections().len();
    let is_request = |seen: &&Recorded| {
        matches!(packet_type(&seen.datagram), Ok(PacketType::Connect | PacketType::Response))
            && seen.to == SERVER
    };
    let requests: Vec<_> = pair.world.handshakes().iter().filter(is_request).cloned().collect();
    for request in requests {
        pair.world.inject(request.from, request.to, &request.datagram);
    }
    pair.world.run_until(pair.world.now() + FORGOTTEN_AFTER)?;
    let peers = pair.world.node(pair.server).endpoint().peer_count();
    if peers > 0 || pair.world.ledger().connections().len() > sessions {
        let detail = format!("{peers} peers remain after repeated requests");
        return Err(pair.world.failure(Violation::new("a repeated handshake opens nothing", detail)));
    }
    Ok(())
}
