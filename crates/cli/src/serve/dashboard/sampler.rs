//! What the dashboard shows, once a second.
//!
//! The figures of a server are counts since its beginning, or rates over a quarter of a second, which jump. People read rates over
//! a second and a chart of the last minutes. So a sample is taken every second: what was counted is compared with the sample
//! before, and what charts are made of is kept for five minutes, so that a dashboard that is opened after a problem still
//! shows it. Text is made of it only when somebody asks, and once for all who do.

mod rates;

use std::collections::VecDeque;
use std::sync::Arc;

use netloom::Stats;
use netloom::prelude::Micros;
use netloom::stats::{RejectStats, Summary, TICK_BUCKETS_US, TickTimes};
use netloom::transport::http::Body;
use serde_json::{Value, json};

use rates::Rates;

/// The time between samples.
const INTERVAL: Micros = Micros::from_secs(1);
/// Samples that are kept: five minutes.
const SAMPLES_MAX: usize = 300;
/// A server that stands still writes nothing: nothing is counted then, and this is what it is divided by.
const SECONDS_MIN: f64 = 0.1;
/// The version of the layout of both answers.
const VERSION: u32 = 1;

/// What charts are made of.
#[derive(Clone, Copy, Debug)]
struct Point {
    summary: Summary,
    /// The ticks since the sample before.
    ticks: TickTimes,
    rejects_per_second: f64,
}

/// Takes samples of a server's figures.
#[derive(Debug)]
pub struct Sampler {
    stats: Arc<Stats>,
    due: Micros,
    /// How many samples there were.
    number: u64,
    points: VecDeque<Point>,
    /// The ticks up to the last sample.
    ticks: TickTimes,
    rejects: u64,
    rates: Rates,
    /// What the last sample says, if anybody asked.
    text: Option<Arc<[u8]>>,
}

impl Sampler {
    pub fn new(stats: Arc<Stats>) -> Sampler {
        Sampler {
            stats,
            due: Micros::ZERO,
            number: 0,
            points: VecDeque::with_capacity(SAMPLES_MAX),
            ticks: TickTimes::default(),
            rejects: 0,
            rates: Rates::default(),
            text: None,
        }
    }

    /// Takes a sample if it is time, and says when the next one is.
    pub fn handle_time(&mut self, now: Micros) -> Micros {
        if now >= self.due {
            self.take();
            // After a hitch not all at once.
            self.due = (self.due + INTERVAL).max(now + Micros(INTERVAL.0 / 2));
        }
        self.due
    }

    fn take(&mut self) {
        let (mut summary, all) = (self.stats.summary(), self.stats.ticks());
        let before = self.points.back().map(|point| point.summary).unwrap_or_default();
        // Figures are written a few times a second: between two samples lies not the time between them, but that between two writes.
        let seconds = summary.written_at.since(before.written_at).as_secs_f64().max(SECONDS_MIN);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        summary.bytes_sent_per_sec = rate(summary.bytes_sent, before.bytes_sent);
        summary.bytes_recv_per_sec = rate(summary.bytes_received, before.bytes_received);
        let refused: u64 = self.stats.rejects().iter().map(|row| row.count).sum();
        let rejects_per_second = rate(refused, self.rejects);
        let longest = Micros((summary.longest_tick_ms * 1e3) as u64);
        let ticks = TickTimes { longest, ..all.since(&self.ticks) };
        if self.points.len() == SAMPLES_MAX {
            self.points.pop_front();
        }
        self.points.push_back(Point { summary, ticks, rejects_per_second });
        (self.ticks, self.rejects) = (all, refused);
        self.rates.take(&self.stats, seconds);
        self.number += 1;
        self.text = None;
    }

    /// The last sample, as JSON.
    pub fn data(&mut self) -> Body {
        let text = match self.text.take() {
            Some(text) => text,
            None => format!("{}\n", self.describe()).into_bytes().into(),
        };
        self.text = Some(Arc::clone(&text));
        text.into()
    }

    /// The last five minutes, as JSON: a list for each figure, the oldest value first.
    pub fn history(&mut self) -> Body {
        type Figure = fn(&Point) -> f64;
        let figures: [(&str, Figure); 12] = [
            ("sent_bytes_per_second", |point| point.summary.bytes_sent_per_sec),
            ("received_bytes_per_second", |point| point.summary.bytes_recv_per_sec),
            ("peers", |point| point.summary.connected_peers as f64),
            ("objects", |point| point.summary.replicated_objects as f64),
            ("ping_ms", |point| point.summary.ping_ms),
            ("jitter_ms", |point| point.summary.jitter_ms),
            ("packet_loss_percent", |point| point.summary.packet_loss_pct),
            ("queue_events", |point| point.summary.queue_depth as f64),
            ("tick_p50_ms", |point| point.ticks.quantile(0.5).as_millis_f64()),
            ("tick_p99_ms", |point| point.ticks.quantile(0.99).as_millis_f64()),
            ("tick_longest_ms", |point| point.ticks.longest.as_millis_f64()),
            ("rejects_per_second", |point| point.rejects_per_second),
        ];
        let columns = figures.map(|(name, figure)| {
            let values: Vec<f64> = self.points.iter().map(|point| rounded(figure(point))).collect();
            (name.to_owned(), json!(values))
        });
        let columns: serde_json::Map<String, Value> = columns.into_iter().collect();
        let seconds = INTERVAL.as_secs_f64();
        let history = json!({ "version": VERSION, "sample": self.number, "interval_seconds": seconds, "figures": columns });
        format!("{history}\n").into()
    }

    fn describe(&self) -> Value {
        let health = self.stats.health().err().unwrap_or("ok");
        json!({
            "version": VERSION,
            "sample": self.number,
            "game": self.stats.game(),
            "netloom": env!("CARGO_PKG_VERSION"),
            "uptime_seconds": rounded(self.stats.uptime().as_secs_f64()),
            "health": health,
            "server": self.points.back().map(describe_server),
            "ticks": self.describe_ticks(),
            "rooms": self.rates.rooms(),
            "peers": self.rates.peers(),
            "classes": self.rates.classes(),
            "rejects": self.describe_rejects(),
        })
    }

    /// The ticks of the samples that are kept.
    fn describe_ticks(&self) -> Value {
        let kept = self.points.iter().fold(TickTimes::default(), |sum, point| sum.and(&point.ticks));
        let ms = |time: Micros| rounded(time.as_millis_f64());
        json!({
            "bucket_ends_ms": TICK_BUCKETS_US.map(|end| end as f64 / 1e3),
            "counts": kept.counts,
            "count": kept.count(),
            "mean_ms": rounded(kept.total.as_millis_f64() / kept.count().max(1) as f64),
            "p50_ms": ms(kept.quantile(0.5)),
            "p99_ms": ms(kept.quantile(0.99)),
            "longest_ms": ms(kept.longest),
            "longest_ever_ms": ms(self.ticks.longest),
        })
    }

    /// Only what happened.
    fn describe_rejects(&self) -> Value {
        let happened = self.stats.rejects().into_iter().filter(|row| row.count > 0);
        happened.map(|RejectStats { kind, reason, count }| {
            let per_second = self.rates.rejects_per_second(kind, &reason);
            json!({ "kind": kind.name(), "reason": reason, "total": count, "per_second": rounded(per_second) })
        }).collect()
    }
}

fn describe_server(Point { summary, ticks, rejects_per_second }: &Point) -> Value {
    json!({
        "sent_bytes_per_second": rounded(summary.bytes_sent_per_sec),
        "received_bytes_per_second": rounded(summary.bytes_recv_per_sec),
        "sent_bytes_total": summary.bytes_sent,
        "received_bytes_total": summary.bytes_received,
        "peers": summary.connected_peers,
        "objects": summary.replicated_objects,
        "ping_ms": rounded(summary.ping_ms),
        "jitter_ms": rounded(summary.jitter_ms),
        "packet_loss_percent": rounded(summary.packet_loss_pct),
        "send_rate_hertz": rounded(summary.effective_send_rate),
        "queue_events": summary.queue_depth,
        "dropped_datagrams_total": summary.datagrams_dropped,
        "refused_datagrams_total": summary.datagrams_refused,
        "arena_overflows_total": summary.arena_overflows,
        "tick_p50_ms": rounded(ticks.quantile(0.5).as_millis_f64()),
        "tick_p99_ms": rounded(ticks.quantile(0.99).as_millis_f64()),
        "tick_longest_ms": rounded(ticks.longest.as_millis_f64()),
        "rejects_per_second": rounded(*rejects_per_second),
    })
}

/// To a thousandth: more digits say nothing and make half of the text.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler() -> Sampler {
        let protocol = netloom::prelude::Protocol::builder("empty").build().unwrap();
        let server = netloom::Server::builder(protocol).listen("127.0.0.1:0").bind().unwrap();
        Sampler::new(server.stats())
    }

    fn read(body: &Body) -> Value {
        serde_json::from_slice(body.as_bytes()).unwrap()
    }

    #[test]
    fn a_sample_is_taken_each_second_and_five_minutes_are_kept() {
        let mut sampler = sampler();
        assert_eq!(sampler.handle_time(Micros::ZERO), Micros::from_secs(1));
        assert_eq!(sampler.handle_time(Micros::from_millis(999)), Micros::from_secs(1));
        assert_eq!(read(&sampler.data())["sample"], 1);
        for second in 1..=400 {
            sampler.handle_time(Micros::from_secs(second));
        }
        let history = read(&sampler.history());
        assert_eq!((&history["sample"], &history["interval_seconds"]), (&401.into(), &1.0.into()));
        let figures = history["figures"].as_object().unwrap();
        assert!(
            figures.len() == 12 && figures.values().all(|values| values.as_array().unwrap().len() == 300)
        );
    }

    #[test]
    fn after_a_hitch_samples_do_not_come_all_at_once() {
        let mut sampler = sampler();
        sampler.handle_time(Micros::ZERO);
        let due = sampler.handle_time(Micros::from_secs(60));
        assert!(due >= Micros::from_millis(60_500), "{due:?}");
        assert_eq!(read(&sampler.data())["sample"], 2);
    }

    #[test]
    fn whoever_asks_twice_within_a_second_gets_the_same_text() {
        let mut sampler = sampler();
        sampler.handle_time(Micros::ZERO);
        let first = sampler.data();
        assert_eq!(first.as_bytes().as_ptr(), sampler.data().as_bytes().as_ptr());
        sampler.handle_time(Micros::from_secs(1));
        assert_ne!(read(&first)["sample"], read(&sampler.data())["sample"]);
    }

    #[test]
    fn before_anything_happened_every_part_is_there_and_empty() {
        let mut sampler = sampler();
        sampler.handle_time(Micros::ZERO);
        let data = read(&sampler.data());
        assert_eq!((&data["version"], &data["game"]), (&1.into(), &"empty".into()));
        for list in ["rooms", "peers", "classes", "rejects"] {
            assert_eq!(data[list], json!([]), "{list}");
        }
        assert_eq!(data["ticks"]["count"], 0);
        let ends = data["ticks"]["bucket_ends_ms"].as_array().unwrap().len();
        assert_eq!(data["ticks"]["counts"].as_array().unwrap().len(), ends + 1);
    }
}
