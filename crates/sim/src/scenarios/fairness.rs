//! Shooters near and far hit equally well, and lying about time gains nothing.
//!
//! A field of targets that strafe, turn and jump, and a row of shooters, each behind a network of its own:
//!
//! ```text
//!    targets            shooters                              the same shots, judged
//!   ↕  ↻  ⤴  ↕   ◀────  honest, round trip 0 ms      ┐        as the shooter saw it: all hit equally often
//!                ◀────  honest, 50, 100, 130 ms      ┘        as it is now: nobody hits, the far least of all
//!                ◀────  honest, 250 ms                        rewound by 250 ms and never more: it must lead
//!                ◀────  six cheats, 50 ms                     none is better off than the honest one at 50 ms
//! ```
//!
//! All parts are the real ones: the targets are replicated, shown by a [`View`](netloom_replica::client::View), aimed at from a
//! predicted place, shot at through input messages that carry the time of the view, and judged by a
//! [`Rewind`](netloom_replica::server::rewind::Rewind) at the time that it believes. Players aim at the middle and miss it by a
//! spread; in the same step all of them miss it by the same.
//!
//! | promise | what is asserted |
//! |---|---|
//! | distance costs nothing | hit rates of 0 to 130 ms within 5 points of each other, and high |
//! | what was shown is what is judged | targets are judged within centimetres of where they were shown |
//! | the clamp holds | nobody is ever rewound farther, and at 250 ms everybody is rewound so far |
//! | honest players are believed | nearly all of their claims are taken as they are |
//! | no cheat hits more | than the honest shooter with the same round trip, beyond noise |
//! | no cheat shoots at the past or the future | beyond the tolerance of the server |
//! | no cheat's view stands still or runs | over a tenth of a second |
//! | no cheat walks farther or shoots more often | one input a step, and a step per input only as time passes |

mod arena;
mod cheat;
mod judge;
mod shooter;
mod tally;
mod verdict;
mod walker;

pub use cheat::Conduct;

use netloom_wire::{Micros, Tick};

use crate::network::{LinkConfig, Loss};
use crate::report::{Fold, Report};
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use arena::Arena;
use tally::Tally;

/// Steps of the simulation in a second.
const STEPS_PER_SECOND: u32 = 60;
/// Every third step is told in snapshots: 20 a second.
const STEPS_PER_TICK: u32 = 3;
/// From one shot to the next.
const COOLDOWN_STEPS: u32 = 6;
/// How many targets there are.
const TARGETS: usize = 6;
/// The delay that the server expects clients to have: the default one.
const INTERPOLATION_DELAY: Micros = Micros::from_millis(100);
/// Until then clocks settle, and nothing is counted.
const WARM_UP: Micros = Micros::from_secs(6);
/// Until then everything is.
const END: Micros = Micros::from_secs(46);
/// Networks are good ones: what they do is what the default delay is made for.
const JITTER_US_MAX: u64 = 3_000;
const LOSS_MAX: f64 = 0.01;

/// One of the shooters.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// What tables call it.
    pub name: &'static str,
    /// Its round trip.
    pub rtt_ms: u64,
    /// Whether it lies, and how.
    pub conduct: Conduct,
}

/// All shooters. The first four must be equal, the fifth is beyond the clamp, the others are compared with the second.
pub const ROLES: [Role; 11] = {
    const fn role(name: &'static str, rtt_ms: u64, conduct: Conduct) -> Role {
        Role { name, rtt_ms, conduct }
    }
    [
        role("honest, 0 ms", 0, Conduct::Honest),
        role("honest, 50 ms", 50, Conduct::Honest),
        role("honest, 100 ms", 100, Conduct::Honest),
        role("honest, 130 ms", 130, Conduct::Honest),
        role("honest, 250 ms", 250, Conduct::Honest),
        role("old view", 50, Conduct::OldView),
        role("future view", 50, Conduct::FutureView),
        role("frozen view", 50, Conduct::FrozenView),
        role("fast clock", 50, Conduct::FastClock),
        role("input flood", 50, Conduct::Flood),
        role("withheld inputs", 50, Conduct::Withheld),
    ]
};

/// Shooters near and far, and six who lie.
pub struct Fairness;

impl Scenario for Fairness {
    fn name(&self) -> &'static str {
        "fairness"
    }

    fn about(&self) -> &'static str {
        "shooters at 0 to 130 ms hit moving targets equally often; six cheats with time gain nothing"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut rng = Rng::new(seed).fork("fairness");
        let mut arena = Arena::new(seed)?;
        for (number, role) in ROLES.into_iter().enumerate() {
            let link = draw_link(role, &mut rng);
            arena.join(role, link, &rng, rng.fork_index(number as u64))?;
        }
        arena.run_until(WARM_UP)?;
        arena.clear_tallies();
        arena.run_until(END)?;
        let tallies: Vec<Tally> = arena.tallies().cloned().collect();
        write_report(&tallies, &arena, report);
        verdict::check(&tallies).map_err(|violation| Failure::Violation { at_ms: END.0 / 1_000, violation })
    }
}

fn draw_link(role: Role, rng: &mut Rng) -> LinkConfig {
    let latency = Micros::from_millis(role.rtt_ms).0 / 2;
    LinkConfig {
        loss: Loss::Uniform(LOSS_MAX * rng.unit()),
        latency: Micros(latency),
        jitter: Micros(rng.between(0, JITTER_US_MAX).min(latency)),
        reorder: 0.01 * rng.unit(),
        reorder_delay_max: Micros::from_millis(20),
        duplicate: 0.01 * rng.unit(),
        ..LinkConfig::default()
    }
}

fn write_report(tallies: &[Tally], arena: &Arena, report: &mut Report) {
    let rates = || tallies.iter().take(verdict::EQUALS).map(Tally::hit_percent);
    let now = || tallies.iter().take(verdict::EQUALS).map(Tally::hit_percent_in_the_present);
    report.add("hit rates, 0 to 130 ms, apart", "points", verdict::apart(rates()));
    report.add("the same without compensation", "points", verdict::apart(now()));
    report.add("lowest hit rate", "%", rates().fold(100.0, f64::min));
    for ((role, tally), delay) in ROLES.iter().zip(tallies).zip(arena.view_delays()) {
        let mut cell = |column, fold, value| report.add_cell(role.name, column, fold, value);
        cell("RTT ms", Fold::Mean, role.rtt_ms as f64);
        cell("shots", Fold::Sum, tally.shots as f64);
        cell("hits", Fold::Sum, tally.hits as f64);
        cell("hit rate %", Fold::Mean, tally.hit_percent());
        cell("uncompensated %", Fold::Mean, tally.hit_percent_in_the_present());
        cell("rewind ms", Fold::Mean, tally.rewound_ms());
        cell("largest ms", Fold::Max, tally.rewound_max.as_millis_f64());
        cell("beside cm", Fold::Mean, tally.beside_cm());
        cell("moved %", Fold::Mean, tally.moved_percent());
        cell("clamped %", Fold::Mean, tally.clamped_percent());
        cell("view delay ms", Fold::Mean, delay.as_millis_f64());
        cell("way m", Fold::Mean, tally.way_metres);
    }
}

/// When the server simulates a step.
fn step_time(step: Tick) -> Micros {
    Micros(u64::from(step.0) * 1_000_000 / u64::from(STEPS_PER_SECOND))
}

/// When the server makes the snapshots of a tick.
fn tick_time(tick: Tick) -> Micros {
    step_time(Tick(tick.0 * STEPS_PER_TICK))
}
