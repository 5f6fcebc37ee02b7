//! The picture of `netloom sim --scenario replication --plot`.

use netloom_sim::scenarios::replication::{NEAR_METRES, SAMPLE_SECONDS, Sample, Trace, TraceConfig, trace};

use crate::plot::{Band, Panel, Picture, Series};

const BLUE: &str = "#1f6fb4";
const ORANGE: &str = "#d9661f";
const GREY: &str = "#7a828c";

/// Runs an evening of replication and draws it.
pub fn draw(config: TraceConfig) -> Result<String, String> {
    trace(config).map(|trace| picture(&trace).to_string()).map_err(|failure| failure.to_string())
}

fn picture(trace: &Trace) -> Picture {
    let TraceConfig { seed, loss, rtt } = trace.config;
    let bands = trace.phases.iter();
    Picture {
        title: "Replication over time".to_owned(),
        subtitle: format!(
            "{} objects, {} clients, 20 ticks a second, {:.0} ms round trip, {} % loss each way (seed {seed})",
            trace.objects,
            trace.clients,
            rtt.as_millis_f64(),
            loss * 100.0,
        ),
        bands: bands
            .map(|phase| Band {
                name: phase.name,
                seconds: (phase.from_seconds, phase.until_seconds),
                colour: None,
            })
            .collect(),
        marks: Vec::new(),
        panels: vec![
            Panel {
                title: "Bytes per tick and client",
                unit: "bytes",
                is_from_zero: true,
                series: vec![line("sent", BLUE, false, trace, |sample| sample.bytes), budget(trace)],
            },
            Panel {
                title: "How long clients are behind",
                unit: "ms",
                is_from_zero: true,
                series: ages(trace),
            },
            Panel {
                title: "Encodes per changed object and tick",
                unit: "codes",
                is_from_zero: true,
                series: vec![
                    line("made", BLUE, false, trace, |sample| sample.encodes),
                    line("clients that see it", GREY, true, trace, |sample| sample.watchers),
                ],
            },
        ],
    }
}

/// A budget changes at once, not from one sample to the next.
fn budget(trace: &Trace) -> Series {
    let ends = |sample: &Sample| {
        [sample.seconds - SAMPLE_SECONDS, sample.seconds].map(|at| (at, sample.budget_bytes))
    };
    let points = trace.samples.iter().flat_map(ends).collect();
    Series { name: "budget".to_owned(), colour: GREY, is_dashed: true, points }
}

fn ages(trace: &Trace) -> Vec<Series> {
    let near = format!("near (< {NEAR_METRES:.0} m)");
    vec![
        line(&format!("{near}, median"), BLUE, false, trace, |sample| sample.near_ms.median),
        line("p95", BLUE, true, trace, |sample| sample.near_ms.p95),
        line("distant, median", ORANGE, false, trace, |sample| sample.distant_ms.median),
        line("p95", ORANGE, true, trace, |sample| sample.distant_ms.p95),
    ]
}

fn line(
    name: &str,
    colour: &'static str,
    is_dashed: bool,
    trace: &Trace,
    of: impl Fn(&Sample) -> f64,
) -> Series {
    let points = trace.samples.iter().map(|sample| (sample.seconds, of(sample))).collect();
    Series { name: name.to_owned(), colour, is_dashed, points }
}
