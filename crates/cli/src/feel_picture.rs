//! The picture of `netloom sim --scenario feel --plot`.

use netloom_sim::scenarios::feel::{FeelConfig, FeelSample, FeelTrace, trace};

use crate::plot::{Band, Mark, Panel, Picture, Series};

const BLUE: &str = "#1f6fb4";
const ORANGE: &str = "#d9661f";
const GREY: &str = "#7a828c";
const RED: &str = "#b3261e";
const PURPLE: &str = "#6b3fa0";
const PALE_RED: &str = "#fbe3e1";
const PALE_YELLOW: &str = "#fdf3d0";

/// Runs an evening of one player and draws it.
pub fn draw(config: FeelConfig) -> Result<String, String> {
    trace(config).map(|trace| picture(&trace).to_string()).map_err(|failure| failure.to_string())
}

fn picture(trace: &FeelTrace) -> Picture {
    let FeelConfig { seed, loss, rtt } = trace.config;
    let lasting = trace.happened.iter().filter(|happened| happened.until_seconds > happened.from_seconds);
    let moments = trace.happened.iter().filter(|happened| happened.until_seconds == happened.from_seconds);
    Picture {
        title: "What one player sees and feels".to_owned(),
        subtitle: format!(
            "60 steps and 20 snapshots a second, {:.0} ms round trip with jitter, {} % loss each way (seed {seed})",
            rtt.as_millis_f64(),
            loss * 100.0,
        ),
        bands: lasting
            .map(|happened| Band {
                name: happened.name,
                seconds: (happened.from_seconds, happened.until_seconds),
                colour: Some(if happened.name == "outage" { PALE_RED } else { PALE_YELLOW }),
            })
            .collect(),
        marks: moments
            .map(|happened| Mark {
                name: happened.name,
                seconds: happened.from_seconds,
                colour: if happened.name == "push" { RED } else { PURPLE },
            })
            .collect(),
        panels: vec![
            places(
                "Somebody else",
                vec![
                    line("on the server", GREY, false, trace, |sample| sample.truth),
                    line("shown: interpolated", BLUE, false, trace, |sample| sample.shown),
                ],
            ),
            places(
                "Somebody who teleports",
                vec![
                    line("on the server", GREY, false, trace, |sample| sample.jumper_truth),
                    line("shown: interpolated", BLUE, false, trace, |sample| sample.jumper_shown),
                ],
            ),
            places(
                "The own character",
                vec![
                    line("on the server", GREY, false, trace, |sample| sample.own_server),
                    line("predicted", ORANGE, true, trace, |sample| sample.own_predicted),
                    line("shown: corrected smoothly", BLUE, false, trace, |sample| sample.own_shown),
                ],
            ),
            Panel {
                title: "How far the view is behind, and how early inputs come",
                unit: "ms",
                is_from_zero: true,
                series: vec![
                    line("behind", BLUE, false, trace, |sample| sample.behind_ms),
                    line("slack", ORANGE, false, trace, |sample| sample.slack_ms.max(0.0)),
                    line("its target", GREY, true, trace, |sample| sample.target_ms),
                ],
            },
        ],
    }
}

fn places(title: &'static str, series: Vec<Series>) -> Panel {
    Panel { title, unit: "m", is_from_zero: false, series }
}

fn line(
    name: &str,
    colour: &'static str,
    is_dashed: bool,
    trace: &FeelTrace,
    of: impl Fn(&FeelSample) -> f64,
) -> Series {
    let points = trace.samples.iter().map(|sample| (sample.seconds, of(sample))).collect();
    Series { name: name.to_owned(), colour, is_dashed, points }
}
