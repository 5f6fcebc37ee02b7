//! One evening in numbers, for a picture: where things were, where they were shown, and what the network did meanwhile.

use netloom_wire::Micros;

use super::host::Shove;
use super::stage::{Fault, Setup, Stage};
use super::walk::STEPS_PER_SECOND;
use crate::network::{LinkConfig, Loss};
use crate::runner::Failure;

/// Who is drawn: one that is somewhere else at times, and one that stops and goes.
const BLINKER: usize = 1;
const WALKER: usize = 3;
/// Time to join before the first sample.
const WARM: Micros = Micros::from_secs(4);
/// Without a frame for so long the picture on the screen stands still, and so does its line.
const FROZEN_SECONDS: f64 = 0.15;
const LASTS: Micros = Micros::from_secs(14);

/// The network of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelConfig {
    /// What the seed decides: who moves how.
    pub seed: u64,
    /// The share of datagrams that vanish, in each direction.
    pub loss: f64,
    /// The round trip without jitter.
    pub rtt: Micros,
}

/// What happened at a time, or for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// What.
    pub name: &'static str,
    /// When it began, in seconds.
    pub from_seconds: f64,
    /// When it ended; the same if it was over at once.
    pub until_seconds: f64,
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelSample {
    /// When, in seconds.
    pub seconds: f64,
    /// Where one that stops and goes is on the server.
    pub truth: f64,
    /// And where it is shown.
    pub shown: f64,
    /// Where one that jumps is on the server.
    pub jumper_truth: f64,
    /// And where it is shown.
    pub jumper_shown: f64,
    /// Where the server has the player.
    pub own_server: f64,
    /// Where the player predicts itself.
    pub own_predicted: f64,
    /// And where it sees itself.
    pub own_shown: f64,
    /// How early the next input is expected to come, in milliseconds.
    pub slack_ms: f64,
    /// How early it should.
    pub target_ms: f64,
    /// How far the view lies behind what the server does, in milliseconds.
    pub behind_ms: f64,
}

/// An evening.
#[derive(Clone, Debug, PartialEq)]
pub struct FeelTrace {
    /// The network.
    pub config: FeelConfig,
    /// What happened.
    pub happened: Vec<Happened>,
    /// What was seen.
    pub samples: Vec<FeelSample>,
}

/// Runs an evening. Every promise of the scenario is checked on the way.
pub fn trace(config: FeelConfig) -> Result<FeelTrace, Failure> {
    let latency = Micros(config.rtt.0 / 2);
    let jitter = Micros(latency.0 / 5);
    let loss = if config.loss > 0.0 { Loss::Uniform(config.loss) } else { Loss::None };
    let link = LinkConfig { loss, latency, jitter, ..LinkConfig::default() };
    let mut stage = Stage::new(Setup {
        seed: config.seed,
        tick: 40,
        steps_per_tick: 3,
        frames_per_second: 60,
        frame_jitter: 0.1,
        drift_ppm: 120.0,
        link,
    })?;
    let mut trace = FeelTrace { config, happened: Vec::new(), samples: Vec::new() };
    stage.run_until(WARM, |_, _| {})?;
    for (at, name, fault) in evening() {
        trace.run(&mut stage, at)?;
        let (from_seconds, until_seconds) = (at.as_secs_f64(), (at + lasts(fault)).as_secs_f64());
        trace.happened.push(Happened { name, from_seconds, until_seconds });
        stage.apply(fault);
    }
    trace.run(&mut stage, LASTS)?;
    for jump in stage.host.movers[BLINKER].jumps() {
        let step = jump as u32 + stage.host.origin();
        let seconds =
            f64::from(step) / f64::from(STEPS_PER_SECOND) - stage.begin_seconds() - WARM.as_secs_f64();
        if (0.0..LASTS.as_secs_f64()).contains(&seconds) {
            let (from_seconds, until_seconds) = (seconds, seconds);
            trace.happened.push(Happened { name: "teleport", from_seconds, until_seconds });
        }
    }
    Ok(trace)
}

/// What happens when.
fn evening() -> [(Micros, &'static str, Fault); 5] {
    let (ms, push) = (Micros::from_millis, |by| Fault::Shove(Shove::Push(by)));
    [
        (ms(1_500), "outage", Fault::Outage { lasts: ms(700) }),
        (ms(4_300), "push", push([1.5, 0.0, 0.3])),
        (ms(6_300), "suspended", Fault::Pause { lasts: ms(900), stops_clock: false }),
        (ms(9_000), "push", push([-1.5, 0.0, 0.3])),
        (ms(10_700), "outage", Fault::Outage { lasts: ms(300) }),
    ]
}

fn lasts(fault: Fault) -> Micros {
    match fault {
        Fault::Pause { lasts, .. } | Fault::Outage { lasts } => lasts,
        Fault::Shove(_) => Micros::ZERO,
    }
}

impl FeelTrace {
    fn run(&mut self, stage: &mut Stage, until: Micros) -> Result<(), Failure> {
        let samples = &mut self.samples;
        stage.run_until(WARM + until, |stage, frame| {
            let shown =
                |number| frame.shown.iter().find(|(mover, _)| *mover == number).map(|(_, place)| place[0]);
            let (Some(own), Some(view_time)) = (&stage.player.own, frame.view_time) else { return };
            let Some((shown, jumper_shown)) = shown(WALKER).zip(shown(BLINKER)) else { return };
            let Some(record) = stage.host.record(stage.host.newest()) else { return };
            let truth = |number: usize| stage.host.movers[number].place()[0];
            let sample = FeelSample {
                seconds: (stage.elapsed() - WARM).as_secs_f64(),
                truth: truth(WALKER),
                shown,
                jumper_truth: truth(BLINKER),
                jumper_shown,
                own_server: record.walker.position[0].into(),
                own_predicted: own.state().position[0].into(),
                own_shown: own.view().position[0],
                slack_ms: stage.player.input.expected_slack_us().unwrap_or(0) as f64 / 1e3,
                target_ms: stage.player.input.target_slack().as_millis_f64(),
                behind_ms: (stage.begin_seconds() + stage.elapsed().as_secs_f64() - view_time.as_secs_f64())
                    * 1e3,
            };
            if let Some(before) =
                samples.last().filter(|before| sample.seconds - before.seconds > FROZEN_SECONDS)
            {
                let frozen = FeelSample {
                    seconds: sample.seconds - 1e-3,
                    truth: sample.truth,
                    jumper_truth: sample.jumper_truth,
                    own_server: sample.own_server,
                    ..*before
                };
                samples.push(frozen);
            }
            samples.push(sample);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_its_events_and_a_sample_of_every_frame() {
        let trace = trace(FeelConfig { seed: 1, loss: 0.05, rtt: Micros::from_millis(120) }).unwrap();
        let count = |name| trace.happened.iter().filter(|happened| happened.name == name).count();
        assert_eq!((count("outage"), count("push"), count("suspended")), (2, 2, 1));
        assert!((700..=850).contains(&trace.samples.len()), "{}", trace.samples.len());
        // The view lies behind by half a round trip and its delay.
        let behind =
            trace.samples.iter().map(|sample| sample.behind_ms).sum::<f64>() / trace.samples.len() as f64;
        assert!((150.0..400.0).contains(&behind), "{behind}");
    }
}
