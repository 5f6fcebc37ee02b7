//! `netloom top`: what a server does, live in a terminal or once as text, from its `/metrics`.

mod page;
mod screen;

use std::io::{IsTerminal, Read, Write, stdout};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use netloom::Address;

use crate::out;
use crate::table::{Table, figure};
use page::Page;

/// How long a server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// The longest answer that is read.
const PAGE_BYTES_MAX: u64 = 64 << 20;
/// Peers that are shown at most.
const PEERS_SHOWN: usize = 40;

/// What to look at.
#[derive(Debug, Args)]
pub struct TopArgs {
    /// The metrics of a server, as 127.0.0.1:7779 or http://127.0.0.1:7779/metrics
    address: String,
    /// Print one table and stop
    #[arg(long)]
    once: bool,
}

/// Runs the command.
pub fn run(args: &TopArgs) -> Result<ExitCode, String> {
    let address = args.address.trim_start_matches("http://");
    let address = address.split_once('/').map_or(address, |(host, _)| host);
    let page = fetch(address)?;
    match args.once || !stdout().is_terminal() {
        true => print(&page),
        false => screen::run(address, page)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What the server says now.
fn fetch(address: &str) -> Result<Page, String> {
    let failed = |problem: String| format!("no metrics from {address}: {problem}");
    let at: Address = address.parse().map_err(|error: netloom::AddressError| failed(error.to_string()))?;
    let at = at.resolve().map_err(|error| failed(error.to_string()))?;
    let answer = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&at, ANSWER_MAX)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        stream.write_all(
            format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut text = String::new();
        stream.take(PAGE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    let answer = answer().map_err(|error| failed(error.to_string()))?;
    let (head, body) =
        answer.split_once("\r\n\r\n").ok_or_else(|| failed(String::from("that is no HTTP")))?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" || !body.contains("netloom_info") {
        return Err(failed(format!(
            "status {status}; is that the metrics address that `netloom serve` printed?"
        )));
    }
    Ok(Page::read(body))
}

/// The figures of the server: what each is called, and its value for people.
fn summary(page: &Page) -> Vec<(&'static str, String)> {
    let one = |name: &str| page.value(name).unwrap_or(0.0);
    let loss_pct = 100.0 * one("netloom_packet_loss_ratio");
    let ms = |name: &str| format!("{:.1} ms", 1e3 * one(name));
    let rate = |name: &str| format!("{:.1} kB/s", one(name) / 1e3);
    let ticks = one("netloom_tick_seconds_count").max(1.0);
    vec![
        ("game", page.label("netloom_info", "game").unwrap_or_default()),
        ("up for", format!("{:.0} s", one("netloom_uptime_seconds"))),
        ("connected peers", figure(one("netloom_connected_peers"))),
        ("replicated objects", figure(one("netloom_replicated_objects"))),
        ("sent", rate("netloom_sent_bytes_per_second")),
        ("received", rate("netloom_received_bytes_per_second")),
        ("ping, mean", ms("netloom_ping_seconds")),
        ("jitter, mean", ms("netloom_jitter_seconds")),
        ("packet loss, mean", format!("{loss_pct:.2} %")),
        ("effective send rate", format!("{:.1} Hz", one("netloom_effective_send_rate_hertz"))),
        ("queue depth, longest", figure(one("netloom_queue_depth_events"))),
        ("arena overflows", figure(one("netloom_arena_overflows_total"))),
        ("tick, mean", format!("{:.0} µs", 1e6 * one("netloom_tick_seconds_sum") / ticks)),
        ("tick, p99 below", tick_p99(page)),
    ]
}

fn tick_p99(page: &Page) -> String {
    let ticks = page.value("netloom_tick_seconds_count").unwrap_or(0.0);
    let within = page.samples("netloom_tick_seconds_bucket").find(|sample| sample.value >= 0.99 * ticks);
    match within.and_then(|sample| sample.label("le")?.parse::<f64>().ok()) {
        Some(seconds) if seconds.is_finite() => format!("{:.0} µs", 1e6 * seconds),
        _ => String::from("-"),
    }
}

/// A row for each peer, those with the longest round trip first.
fn peers(page: &Page) -> Vec<[String; 9]> {
    let mut pings: Vec<_> = page.samples("netloom_peer_ping_seconds").collect();
    pings.sort_by(|a, b| b.value.total_cmp(&a.value));
    let rows = pings.into_iter().take(PEERS_SHOWN).map(|ping| {
        let player = ping.label("player").unwrap_or_default();
        let of = |name: &str| {
            let mut samples = page.samples(name);
            samples.find(|sample| sample.label("player") == Some(player)).map_or(0.0, |sample| sample.value)
        };
        [
            player.to_owned(),
            ping.label("name").unwrap_or_default().replace(char::is_control, " "),
            ping.label("room").unwrap_or_default().to_owned(),
            ping.label("transport").unwrap_or_default().to_owned(),
            format!("{:.1}", 1e3 * ping.value),
            format!("{:.1}", 1e3 * of("netloom_peer_jitter_seconds")),
            format!("{:.2}", 100.0 * of("netloom_peer_packet_loss_ratio")),
            format!("{:.1}", of("netloom_peer_sent_bytes_per_second") / 1e3),
            format!("{}/{}", of("netloom_peer_held_objects"), of("netloom_peer_seen_objects")),
        ]
    });
    rows.collect()
}

/// The columns of [`peers`].
const PEER_COLUMNS: [&str; 9] =
    ["player", "name", "room", "over", "ping ms", "jitter ms", "loss %", "kB/s", "objects"];

fn print(page: &Page) {
    let mut table = Table::new(&["measure", "value"]);
    for (name, value) in summary(page) {
        table.row([name.to_owned(), value]);
    }
    out::line(format_args!("{table}"));
    let rows = peers(page);
    if !rows.is_empty() {
        let mut table = Table::new(&PEER_COLUMNS);
        rows.into_iter().for_each(|row| table.row(row));
        out::print(format_args!("{table}"));
    }
}
