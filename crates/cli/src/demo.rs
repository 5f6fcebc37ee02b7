//! What `netloom demo` shows: ten seconds of a game between a client and a server, in virtual time.

use std::process::ExitCode;

use netloom_sim::network::{LinkConfig, Loss};
use netloom_sim::report::{Report, quantile};
use netloom_sim::scenarios::{Pair, Plan};
use netloom_sim::world::game;
use netloom_wire::Micros;

use crate::out;
use crate::table::{Table, figure};

const SEED: u64 = 1;

/// Runs the session and prints it.
pub fn run() -> Result<ExitCode, String> {
    let link = LinkConfig {
        loss: Loss::Uniform(0.03),
        latency: Micros::from_millis(40),
        jitter: Micros::from_millis(10),
        duplicate: 0.01,
        ..LinkConfig::default()
    };
    let plan = Plan { link, traffic: Micros::from_secs(10), ..Plan::new(game()) };
    let mut report = Report::new();
    let mut pair = Pair::connect(SEED, plan).map_err(|failure| failure.to_string())?;
    pair.finish(&mut report).map_err(|failure| failure.to_string())?;
    out::line(format_args!(
        "Ten seconds of a game between a client and a server, encrypted, in virtual time, over a network with"
    ));
    out::line(format_args!("40 +- 10 ms each way, 3 % loss and 1 % duplicates (seed {SEED}).\n"));
    print_channels(&pair);
    print_measures(&report);
    out::line(format_args!("Every promise was checked on the way. More: netloom sim --list, netloom --help"));
    Ok(ExitCode::SUCCESS)
}

fn print_channels(pair: &Pair) {
    let mut table = Table::new(&["channel", "sent", "delivered", "p50 ms", "p99 ms"]);
    let names = ["priority", "ordered", "unordered", "unreliable", "sequenced"];
    for (channel, name) in names.into_iter().enumerate() {
        let streams = pair.world.ledger().streams();
        let sent: u32 = streams.iter().map(|stream| stream.channels()[channel].sent()).sum();
        let delivered: u32 = streams.iter().map(|stream| stream.channels()[channel].delivered()).sum();
        let latencies: Vec<f64> =
            streams.iter().flat_map(|stream| stream.latencies_ms(channel)).copied().collect();
        let quantiles = [0.5, 0.99].map(|share| figure(quantile(&latencies, share)));
        let counts = [name.to_owned(), sent.to_string(), delivered.to_string()];
        table.row(counts.into_iter().chain(quantiles));
    }
    out::line(format_args!("{table}"));
}

fn print_measures(report: &Report) {
    let mut table = Table::new(&["measure", "value", "unit"]);
    for measure in report.measures().iter().filter(|measure| !is_latency(measure.name)) {
        table.row([measure.name.to_owned(), figure(measure.value), measure.unit.to_owned()]);
    }
    out::line(format_args!("{table}"));
}

/// Latencies stand in the table of the channels already.
fn is_latency(name: &str) -> bool {
    name.ends_with(" p50") || name.ends_with(" p99")
}
