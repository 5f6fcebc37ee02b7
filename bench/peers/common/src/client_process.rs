//! The clients' process: all of them, polled one after the other, until the server's process has heard enough.

use crate::clock::process_cpu_ns;
use crate::compare::compare;
use crate::pace::Pace;
use crate::proxy::{self, LossSwitch};
use crate::report::Report;
use crate::statistics::{mean, percentile};
use crate::word::Word;
use crate::{Clients, Options, TICK, Walk, Workload};
use std::io::BufRead;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A game's client looks at its socket once in a frame, which would add up to 17 ms to every latency: for latencies it looks more
/// often, so that what is measured is the library.
const LATENCY_POLL: Duration = Duration::from_millis(1);

/// So many clients that a poll of all takes long have not seen the end when the server's process asks: they are given the polls
/// that others had, up to some time.
const POLLS_TO_CATCH_UP: u64 = 30;
const CATCH_UP_MAX: Duration = Duration::from_secs(15);

/// The distribution of latencies is told at so many points, the last being the longest.
const QUANTILES: usize = 200;

pub fn run<C: Clients>(options: &Options, make: impl FnOnce(&Options) -> C) {
    let loss =
        if options.has_proxy() { proxy::spawn(options).expect("free ports") } else { LossSwitch::default() };
    let mut clients = make(options);
    let words = words_of_the_server();
    let interval = if options.workload == Workload::Latency { LATENCY_POLL } else { TICK };
    let mut pace = Pace::of_clients(interval);
    let mut polls = 0;
    let mut start = Moment::now(&clients, polls);
    let mut stop = start;
    let mut asked = None;
    loop {
        clients.poll(interval);
        polls += 1;
        if let Ok(word) = words.try_recv() {
            match word {
                Word::Connected => loss.throw(),
                Word::Start => start = Moment::now(&clients, polls),
                Word::Stop => stop = Moment::now(&clients, polls),
                Word::Compare { tick } => asked = Some((tick, Instant::now())),
            }
        }
        if let Some((tick, since)) = asked
            && (polls >= stop.polls + POLLS_TO_CATCH_UP || since.elapsed() > CATCH_UP_MAX)
        {
            println!("{}", report(options, &clients, &start, &stop, tick).line());
            asked = None;
        }
        pace.wait();
    }
}

/// What the server's process says; the end of it is the end of this one.
fn words_of_the_server() -> mpsc::Receiver<Word> {
    let (word, words) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        for next in lines.filter_map(|line| line.parse().ok()) {
            if word.send(next).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    words
}

/// Where everything stood when the server's process began, or ended, to measure.
#[derive(Clone, Copy)]
struct Moment {
    time: Instant,
    cpu_ns: u64,
    polls: u64,
    updates: u64,
    reliable: usize,
    unreliable: u64,
}

impl Moment {
    fn now(clients: &impl Clients, polls: u64) -> Moment {
        let heard = clients.heard();
        Moment {
            time: Instant::now(),
            cpu_ns: process_cpu_ns(),
            polls,
            updates: clients.updates(),
            reliable: heard.map_or(0, |heard| heard.latencies_ns().len()),
            unreliable: heard.map_or(0, |heard| heard.unreliable_count()),
        }
    }
}

fn report(options: &Options, clients: &impl Clients, start: &Moment, stop: &Moment, tick: u64) -> Report {
    let mut report = Report::default();
    let seconds = (stop.time - start.time).as_secs_f64();
    report.number("client_polls_per_s", (stop.polls - start.polls) as f64 / seconds);
    report.number("client_cpu_s", (stop.cpu_ns - start.cpu_ns) as f64 / 1e9);
    if options.workload == Workload::Replicate {
        let updates = (stop.updates - start.updates) as f64;
        let objects = (options.clients * options.objects) as f64;
        report.number("updates_per_object_s", updates / objects / seconds);
        let mut walk = Walk::new(options.objects);
        while walk.tick < tick {
            walk.step();
        }
        compare(clients, options.clients, &walk, &mut report);
    } else if let Some(heard) = clients.heard() {
        let mut latencies = heard.latencies_ns()[start.reliable..stop.reliable].to_vec();
        latencies.sort_unstable();
        report.number("reliable_received", heard.latencies_ns().len() as f64);
        report.number("reliable_out_of_order", heard.out_of_order_count() as f64);
        report.number("unreliable_per_client_s", {
            (stop.unreliable - start.unreliable) as f64 / seconds / options.clients as f64
        });
        let ms = |share: f64| percentile(&latencies, share) / 1e6;
        report.number("latency_ms", mean(&latencies) / 1e6);
        report.number("latency_ms_p50", ms(0.5));
        report.number("latency_ms_p90", ms(0.9));
        report.number("latency_ms_p99", ms(0.99));
        report.number("latency_ms_max", ms(1.0));
        let shares = (1..=QUANTILES).map(|number| ms(number as f64 / QUANTILES as f64));
        report.numbers("latency_ms_quantiles", &shares.collect::<Vec<f64>>());
    }
    report
}
