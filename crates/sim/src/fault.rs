//! What goes wrong during a run, and when.
//!
//! A fault is data: a list of (time, fault) in virtual time, written by hand where a scenario tells one story and drawn
//! from a seed where it wants many. The schedule asks the world for the few things it cannot do by itself, restarting a
//! node and moving its clock, so that it serves every kind of node.

use std::net::SocketAddr;

use netloom_wire::Micros;

use crate::network::{LinkConfig, LinkError, Network, RebindError};
use crate::rng::Rng;

/// One thing that goes wrong, or gets well again. Nodes are named by their sockets.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Replaces one direction between two nodes.
    SetLink {
        /// The sending node.
        from: SocketAddr,
        /// The receiving node.
        to: SocketAddr,
        /// Its new behaviour.
        config: LinkConfig,
    },
    /// Makes one direction vanish.
    Block {
        /// The sending node.
        from: SocketAddr,
        /// The receiving node.
        to: SocketAddr,
    },
    /// Makes both directions vanish.
    Partition {
        /// One side.
        a: SocketAddr,
        /// The other.
        b: SocketAddr,
    },
    /// Ends blocks and partitions between two nodes.
    Heal {
        /// One side.
        a: SocketAddr,
        /// The other.
        b: SocketAddr,
    },
    /// The node's NAT forgets it and gives it another external address.
    Rebind {
        /// The node behind the NAT.
        node: SocketAddr,
        /// The address that others see from now on.
        external: SocketAddr,
    },
    /// The node's process dies and starts again, with nothing but its configuration.
    Restart {
        /// The node.
        node: SocketAddr,
    },
    /// The node's clock jumps, as after a sleep or a correction by hand.
    ClockJump {
        /// The node.
        node: SocketAddr,
        /// By how much, backwards if negative.
        by_micros: i64,
    },
}

/// A fault that could not be applied: a mistake of the scenario.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// The link's configuration is impossible.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The new address is impossible.
    #[error(transparent)]
    Rebind(#[from] RebindError),
}

/// What a schedule acts upon.
pub trait FaultTarget {
    /// The network between the nodes.
    fn network(&mut self) -> &mut Network;
    /// Restarts a node.
    fn restart(&mut self, now: Micros, node: SocketAddr);
    /// Moves a node's clock.
    fn jump_clock(&mut self, node: SocketAddr, by_micros: i64);
}

/// How many faults of which kind [`Schedule::random`] draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomFaults {
    /// Faults begin after this time.
    pub from: Micros,
    /// And before this one.
    pub until: Micros,
    /// Two-way partitions.
    pub partitions: u32,
    /// How long each lasts.
    pub partition: Micros,
    /// Address changes of the client.
    pub rebinds: u16,
    /// Clock jumps of the client, each within a second either way.
    pub clock_jumps: u32,
}

/// Faults in the order of their time.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    entries: Vec<(Micros, Fault)>,
    applied: usize,
}

impl Schedule {
    /// A schedule without faults.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// Adds a fault; those of equal time happen in the order in which they were added.
    pub fn at(mut self, time: Micros, fault: Fault) -> Schedule {
        let place = self.entries.partition_point(|(other, _)| *other <= time).max(self.applied);
        self.entries.insert(place, (time, fault));
        self
    }

    /// Draws faults between a client and a server.
    pub fn random(rng: &Rng, plan: &RandomFaults, client: SocketAddr, server: SocketAddr) -> Schedule {
        let mut schedule = Schedule::new();
        let time = |rng: &mut Rng| Micros(rng.between(plan.from.0, plan.until.0));
        let mut draws = rng.fork("partitions");
        for _ in 0..plan.partitions {
            let begins = time(&mut draws);
            schedule = schedule
                .at(begins, Fault::Partition { a: client, b: server })
                .at(begins + plan.partition, Fault::Heal { a: client, b: server });
        }
        let mut draws = rng.fork("rebinds");
        for count in 0..plan.rebinds {
            let mut external = client;
            // Only the port moves: that is what a forgotten mapping costs behind most NATs.
            external.set_port(client.port().wrapping_add(1 + count));
            schedule = schedule.at(time(&mut draws), Fault::Rebind { node: client, external });
        }
        let mut draws = rng.fork("clock jumps");
        for _ in 0..plan.clock_jumps {
            let by_micros = draws.between(0, 2_000_000) as i64 - 1_000_000;
            schedule = schedule.at(time(&mut draws), Fault::ClockJump { node: client, by_micros });
        }
        schedule
    }

    /// When the next fault happens.
    pub fn next_due(&self) -> Option<Micros> {
        self.entries.get(self.applied).map(|(time, _)| *time)
    }

    /// Applies everything due by `now`.
    pub fn apply_due(&mut self, now: Micros, target: &mut impl FaultTarget) -> Result<(), FaultError> {
        while let Some((time, fault)) = self.entries.get(self.applied)
            && *time <= now
        {
            self.applied += 1;
            apply(now, fault, target)?;
        }
        Ok(())
    }
}

fn apply(now: Micros, fault: &Fault, target: &mut impl FaultTarget) -> Result<(), FaultError> {
    match *fault {
        Fault::SetLink { from, to, config } => target.network().set_link(from, to, config)?,
        Fault::Block { from, to } => target.network().block(from, to),
        Fault::Partition { a, b } => target.network().partition(a, b),
        Fault::Heal { a, b } => target.network().heal(a, b),
        Fault::Rebind { node, external } => {
            let old_external = target.network().external(node);
            target.network().rebind(old_external, external)?;
        }
        Fault::Restart { node } => target.restart(now, node),
        Fault::ClockJump { node, by_micros } => target.jump_clock(node, by_micros),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Recorder {
        network: Network,
        restarts: Vec<(Micros, SocketAddr)>,
        jumps: Vec<i64>,
    }

    impl FaultTarget for Recorder {
        fn network(&mut self) -> &mut Network {
            &mut self.network
        }
        fn restart(&mut self, now: Micros, node: SocketAddr) {
            self.restarts.push((now, node));
        }
        fn jump_clock(&mut self, _node: SocketAddr, by_micros: i64) {
            self.jumps.push(by_micros);
        }
    }

    fn address(host: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], 4_000))
    }

    fn recorder() -> Recorder {
        let mut network = Network::new(0, LinkConfig::default()).unwrap();
        network.add_node(address(1));
        network.add_node(address(2));
        Recorder { network, restarts: Vec::new(), jumps: Vec::new() }
    }

    fn passes(recorder: &mut Recorder) -> bool {
        let mut bytes = Vec::new();
        let to = recorder.network.external(address(1));
        recorder.network.send(Micros::ZERO, address(2), to, b"x");
        recorder.network.poll_delivery(Micros::MAX, &mut bytes).is_some()
    }

    #[test]
    fn faults_happen_in_time_order_and_only_when_due() {
        let mut target = recorder();
        let mut schedule = Schedule::new()
            .at(Micros(30), Fault::Heal { a: address(1), b: address(2) })
            .at(Micros(10), Fault::Partition { a: address(1), b: address(2) })
            .at(Micros(20), Fault::Restart { node: address(2) });
        schedule.apply_due(Micros(9), &mut target).unwrap();
        assert!(passes(&mut target));
        assert_eq!(schedule.next_due(), Some(Micros(10)));
        schedule.apply_due(Micros(25), &mut target).unwrap();
        assert!(!passes(&mut target));
        assert_eq!(target.restarts, [(Micros(25), address(2))]);
        schedule.apply_due(Micros(30), &mut target).unwrap();
        assert!(passes(&mut target));
        assert_eq!(schedule.next_due(), None);
    }

    #[test]
    fn a_rebind_starts_from_whatever_address_the_node_has() {
        let mut target = recorder();
        let rebind = |host| Fault::Rebind { node: address(1), external: address(host) };
        let mut schedule =
            Schedule::new().at(Micros(1), rebind(3)).at(Micros(2), rebind(4)).at(Micros(3), rebind(2));
        schedule.apply_due(Micros(2), &mut target).unwrap();
        assert_eq!(target.network.external(address(1)), address(4));
        let error = schedule.apply_due(Micros(3), &mut target).unwrap_err();
        assert_eq!(error, FaultError::Rebind(RebindError::Taken(address(2))));
    }

    #[test]
    fn random_schedules_follow_the_seed_and_the_plan() {
        let plan = RandomFaults {
            from: Micros::from_secs(1),
            until: Micros::from_secs(9),
            partitions: 2,
            partition: Micros::from_secs(3),
            rebinds: 1,
            clock_jumps: 3,
        };
        let draw = |seed| Schedule::random(&Rng::new(seed), &plan, address(1), address(2)).entries;
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
        let count = |matches: fn(&Fault) -> bool| draw(5).iter().filter(|(_, fault)| matches(fault)).count();
        assert_eq!(count(|fault| matches!(fault, Fault::Partition { .. })), 2);
        assert_eq!(count(|fault| matches!(fault, Fault::Heal { .. })), 2);
        assert_eq!(count(|fault| matches!(fault, Fault::Rebind { .. })), 1);
        assert_eq!(count(|fault| matches!(fault, Fault::ClockJump { .. })), 3);
        assert!(draw(5).iter().all(|(time, _)| (1..=12).contains(&(time.0 / 1_000_000))));
    }

    #[test]
    fn an_impossible_link_is_reported() {
        let config = LinkConfig { corrupt: 2.0, ..LinkConfig::default() };
        let fault = Fault::SetLink { from: address(1), to: address(2), config };
        let error = Schedule::new().at(Micros(0), fault).apply_due(Micros(0), &mut recorder()).unwrap_err();
        assert!(error.to_string().contains("`corrupt` is 2"));
    }
}
