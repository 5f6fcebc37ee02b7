//! What the player sees and feels, from the key to the screen, over a bad network.
//!
//! A run tells one story:
//!
//! ```text
//!   join ──▶ storm: jitter, loss, outages, suspended frames, pushes ──▶ calm ──▶ everything exactly right
//! ```
//!
//! All parts are the real ones: snapshots with feedback, input messages, prediction, the view and its events. What
//! must hold in every frame is in `check`.

mod carrier;
mod check;
mod host;
mod motion;
mod player;
mod stage;
mod trace;
mod walk;

pub use trace::{FeelConfig, FeelSample, FeelTrace, Happened, trace};

use netloom_wire::Micros;

use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use host::Shove;
use stage::{Fault, Setup, Stage};

/// Time to join.
const JOIN: Micros = Micros::from_secs(3);
/// After this of a calm network everything must be right.
const SETTLE: Micros = Micros::from_secs(10);
/// And stay so.
const CALM: Micros = Micros::from_secs(5);
/// Steps on the wire have 16 bits, and so have ticks: some runs begin shortly before either is used up.
const STEPS_WRAP: u32 = 1 << 16;

/// A player and a bad night.
pub struct Feel;

impl Scenario for Feel {
    fn name(&self) -> &'static str {
        "feel"
    }

    fn about(&self) -> &'static str {
        "a player on a bad network: nothing jumps, keys act at once, corrections have a reason, all converges"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut rng = Rng::new(seed).fork("plan");
        let weather = Weather::draw(&mut rng);
        let mut stage = Stage::new(weather.setup(seed, &mut rng))?;
        let storm = Micros::from_secs(rng.between(12, 20));
        let mut time = JOIN;
        stage.run_until(time, |_, _| {})?;
        for (after, fault) in faults(&mut rng, storm) {
            stage.run_until(JOIN + after, |_, _| {})?;
            stage.apply(fault);
        }
        time += storm;
        stage.run_until(time, |_, _| {})?;
        stage.set_link(weather.calm_link())?;
        time += SETTLE;
        stage.run_until(time, |_, _| {})?;
        stage.checks.set_calm(true);
        let corrections = stage.checks.own.corrections;
        time += CALM;
        stage.run_until(time, |_, _| {})?;
        finish(&stage, corrections, report)
    }
}

fn finish(stage: &Stage, corrections: u64, report: &mut Report) -> Result<(), Failure> {
    let checks = &stage.checks;
    // What happened within the round trip and the delay may be on its way.
    let ended = checks.events.check_end(stage.host.carrier.count(), 12);
    ended.map_err(|violation| stage.failure(violation))?;
    if checks.own.corrections != corrections {
        let detail = format!("{} in calm", checks.own.corrections - corrections);
        let violation = crate::check::Violation::new("nothing is corrected when the server agrees", detail);
        return Err(stage.failure(violation));
    }
    report.add("motion of the bound", "%", 100.0 * checks.others.speed_share_max);
    report.add("error of the stated, in calm", "%", 100.0 * checks.others.error_share_max);
    report.add("slack off its target", "steps", checks.slack.off_steps_max);
    report.add("corrections", "", checks.own.corrections as f64);
    report.add("seen corrections", "", checks.own.seen as f64);
    report.add("steps without input", "", stage.host.starved_since(stage.host.origin() + 180) as f64);
    report.add("frames with a reaction", "", checks.own.reactions as f64);
    report.add("teleports shown", "", checks.others.jumps as f64);
    report.add("events given", "", checks.events.given as f64);
    report.add("events after their time", "", checks.events.late as f64);
    report.add("view delay in calm", "ms", stage.player.view.delay().delay().as_millis_f64());
    report.add("clock breaks", "", checks.view_time.resyncs as f64);
    Ok(())
}

/// The network of a run.
#[derive(Clone, Copy, Debug)]
struct Weather {
    rtt: Micros,
    /// Each way takes up to this longer.
    jitter: Micros,
    loss: f64,
    reorder: f64,
    duplicate: f64,
}

impl Weather {
    fn draw(rng: &mut Rng) -> Weather {
        let rtt = Micros(rng.below(300_001));
        let jitter = if rng.chance(0.2) { Micros::ZERO } else { Micros(rng.below(80_001)) };
        Weather {
            rtt,
            jitter,
            loss: if rng.chance(0.2) { 0.0 } else { 0.2 * rng.unit() },
            reorder: if rng.chance(0.5) { 0.02 * rng.unit() } else { 0.0 },
            duplicate: if rng.chance(0.5) { 0.05 * rng.unit() } else { 0.0 },
        }
    }

    fn setup(&self, seed: u64, rng: &mut Rng) -> Setup {
        let steps_per_tick = [3, 3, 3, 2, 6][rng.below(5) as usize];
        let tick = match rng.below(10) {
            0 => STEPS_WRAP / steps_per_tick - rng.between(100, 400) as u32,
            1 => STEPS_WRAP - rng.between(100, 400) as u32,
            _ => rng.below(1_000) as u32,
        };
        Setup {
            seed,
            tick,
            steps_per_tick,
            frames_per_second: [30, 60, 144][rng.below(3) as usize],
            frame_jitter: 0.3 * rng.unit(),
            drift_ppm: 400.0 * rng.unit() - 200.0,
            link: self.link(),
        }
    }

    fn link(&self) -> LinkConfig {
        let half = Micros(self.jitter.0 / 2);
        LinkConfig {
            loss: if self.loss > 0.0 { Loss::Uniform(self.loss) } else { Loss::None },
            latency: Micros(self.rtt.0 / 2) + half,
            jitter: half,
            reorder: self.reorder,
            reorder_delay_max: Micros::from_millis(80),
            duplicate: self.duplicate,
            ..LinkConfig::default()
        }
    }

    fn calm_link(&self) -> LinkConfig {
        LinkConfig { latency: Micros(self.rtt.0 / 2), ..LinkConfig::default() }
    }
}

/// What goes wrong in a storm, and when.
fn faults(rng: &mut Rng, storm: Micros) -> Vec<(Micros, Fault)> {
    let mut faults = Vec::new();
    let mut at = Micros::from_millis(rng.between(0, 3_000));
    let is_quiet = rng.chance(0.25);
    while at < storm && !is_quiet {
        faults.push((at, fault(rng)));
        at += Micros::from_millis(rng.between(1_500, 6_000));
    }
    faults
}

fn fault(rng: &mut Rng) -> Fault {
    match rng.below(10) {
        0..3 => Fault::Pause { lasts: Micros::from_millis(rng.between(200, 3_000)), stops_clock: false },
        3 => Fault::Pause { lasts: Micros::from_millis(rng.between(1_000, 3_000)), stops_clock: true },
        4 | 5 => Fault::Outage { lasts: Micros::from_millis(rng.between(100, 1_200)) },
        6 => Fault::Shove(Shove::Respawn),
        _ => {
            let mut metres = || 2.0 * rng.unit() as f32 - 1.0;
            // Upwards, where no key leads: nothing that the player does at the same time makes up for it.
            Fault::Shove(Shove::Push([metres(), metres(), 0.3]))
        }
    }
}
