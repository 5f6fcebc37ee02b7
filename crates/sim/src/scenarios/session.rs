//! One session of a game over networks of different kinds.

use netloom_proto::{Config, Rejection, Security};
use netloom_wire::Micros;

use super::pair::{CLIENT, Pair, Plan, SERVER};
use crate::check::{Violation, at_most};
use crate::fault::{RandomFaults, Schedule};
use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use crate::world::{World, game};

/// A session whose network and faults are drawn from the seed.
pub struct Session {
    name: &'static str,
    about: &'static str,
    plan: fn(&Rng) -> Plan,
}

impl Scenario for Session {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let plan = (self.plan)(&Rng::new(seed).fork("plan"));
        let mut pair = Pair::connect(seed, plan)?;
        pair.finish(report)?;
        check_integrity(&pair.world).map_err(|violation| pair.world.failure(violation))
    }
}

/// Nothing goes wrong.
pub const CLEAN: Session = Session {
    name: "clean",
    about: "a session over a good network; everything arrives, quickly",
    plan: |_| session(Security::Required, good_link(), Schedule::new()),
};

/// Everything goes wrong at once.
pub const LOSSY: Session = Session {
    name: "lossy",
    about: "25 % loss, duplicates, reordering, damage, 200 +- 100 ms, an address change and a partition",
    plan: |rng| session(Security::Required, bad_link(), faults(rng, 0)),
};

/// Everything goes wrong at once, without encryption.
pub const PLAIN: Session = Session {
    name: "plain",
    about: "the same without encryption, where an address change means to resume",
    plan: |rng| {
        let mut plan = session(Security::Off, bad_link(), faults(rng, 0));
        plan.config.peer_timeout = Micros::from_secs(5);
        Plan { reconnects: true, ..plan }
    },
};

/// Loss comes in bursts.
pub const BURSTY: Session = Session {
    name: "bursty",
    about: "loss in bursts of ten datagrams (Gilbert-Elliott), as on a bad radio link",
    plan: |_| {
        let loss = Loss::Bursts { good_to_bad: 0.01, bad_to_good: 0.1, loss_good: 0.002, loss_bad: 0.8 };
        session(Security::Required, LinkConfig { loss, ..good_link() }, Schedule::new())
    },
};

/// The client's clock jumps.
pub const JUMPY: Session = Session {
    name: "jumpy",
    about: "a good network and a client whose clock jumps back and forth",
    plan: |rng| session(Security::Required, good_link(), faults(rng, 6)),
};

/// Where the network damages nothing, both sides must be able to open everything.
fn check_integrity(world: &World) -> Result<(), Violation> {
    let counters = world.network().counters();
    if counters.corrupted + counters.truncated > 0 {
        return Ok(());
    }
    for node in world.nodes() {
        let failed = node.endpoint().rejections().get(Rejection::Integrity);
        at_most("an undamaged packet opens", failed, 0)?;
    }
    Ok(())
}

fn good_link() -> LinkConfig {
    LinkConfig { latency: Micros::from_millis(40), jitter: Micros::from_millis(5), ..LinkConfig::default() }
}

fn bad_link() -> LinkConfig {
    LinkConfig {
        loss: Loss::Uniform(0.25),
        latency: Micros::from_millis(200),
        jitter: Micros::from_millis(100),
        reorder: 0.2,
        reorder_delay_max: Micros::from_millis(100),
        duplicate: 0.1,
        corrupt: 0.01,
        ..LinkConfig::default()
    }
}

fn faults(rng: &Rng, clock_jumps: u32) -> Schedule {
    let is_only_clock = clock_jumps > 0;
    let plan = RandomFaults {
        from: Micros::from_secs(2),
        until: Micros::from_secs(12),
        partitions: u32::from(!is_only_clock),
        partition: Micros::from_secs(3),
        rebinds: u16::from(!is_only_clock),
        clock_jumps,
    };
    Schedule::random(rng, &plan, CLIENT, SERVER)
}

fn session(security: Security, link: LinkConfig, faults: Schedule) -> Plan {
    let plan = Plan::new(game());
    Plan { config: Config { security, ..plan.config }, link, faults, ..plan }
}
