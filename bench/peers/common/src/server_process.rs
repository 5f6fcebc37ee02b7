//! The server's process: connect, warm up, measure, let things settle, compare.
//!
//! ```text
//!   connect │ 0.5 s │ warm-up 1 s │ measured │ settling 1 s: nothing moves │ the clients' process compares and tells
//!                   └ loss begins └ start    └ stop                        └ compare
//! ```
//!
//! What is measured is CPU time, in the kernel included. The server's thread is timed around `write` and around `tick`; what
//! it spends between, moving the walkers and keeping time, is the harness's own, and so is reading the clock. All other threads of the process are the
//! library's, whenever they run. So
//!
//! ```text
//!   all threads = CPU of the process − CPU of the server's thread outside of write and tick − write
//! ```

use crate::clock::{Stopwatch, process_cpu_ns, thread_cpu_ns};
use crate::contender::reliable_message;
use crate::pace::Pace;
use crate::report::Report;
use crate::statistics::{mean, percentile};
use crate::traffic::{self, Traffic};
use crate::word::Word;
use crate::{
    Contender, Options, RELIABLE_BYTES, Server, TICK, TICKS_PER_SECOND, UNRELIABLE_BYTES, Walk, Workload,
    allocations,
};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const CONNECT_SECONDS_MAX: u64 = 40;
const SETTLING_IN_TICKS: u64 = TICKS_PER_SECOND / 2;
const WARM_UP_TICKS: u64 = TICKS_PER_SECOND;
const SETTLING_TICKS: u64 = TICKS_PER_SECOND;
/// However slow a contender is.
const PERIODS_MIN: u64 = 10;
const COMPARE_SECONDS_MAX: u64 = 30;

pub fn run<S: Server>(contender: &Contender, options: &Options, make: impl FnOnce(&Options) -> S) {
    let mut report = Report::default();
    report.word("peer", contender.name);
    report.word("setting", &options.setting);
    let mut stage = Stage::new(make(options), options);
    let mut others = OtherProcess::spawn(options);
    match measure(&mut stage, &mut others, options) {
        Ok(measured) => {
            measured.tell(options, &mut report);
            report.number("connected_at_end", stage.server.ready_count() as f64);
            report.append(&others.compare(&mut stage));
        }
        Err(failure) => report.word("failed", &failure),
    }
    println!("{}", report.line());
}

fn measure<S: Server>(
    stage: &mut Stage<S>,
    others: &mut OtherProcess,
    options: &Options,
) -> Result<Measured, String> {
    let start = Instant::now();
    loop {
        stage.turn(Activity::Connecting);
        let ready = stage.server.ready_count();
        if ready >= options.clients {
            break;
        }
        if start.elapsed() > Duration::from_secs(CONNECT_SECONDS_MAX) {
            let all = options.clients;
            return Err(format!("{ready} of {all} clients were connected after {CONNECT_SECONDS_MAX} s"));
        }
    }
    let connect = start.elapsed();
    // What a server calls connected, its client may not know yet.
    for _ in 0..SETTLING_IN_TICKS {
        stage.turn(Activity::Connecting);
    }
    others.tell(Word::Connected);
    // Measuring starts with a whole period.
    for _ in 0..WARM_UP_TICKS.next_multiple_of(stage.ticks_per_period) + stage.ticks_to_period() {
        stage.turn(Activity::Everything);
    }
    others.tell(Word::Start);
    let mut measured = stage.measure(Duration::from_secs_f64(options.seconds));
    measured.connect = connect;
    others.tell(Word::Stop);
    for _ in 0..SETTLING_TICKS {
        stage.turn(Activity::Settling);
    }
    Ok(measured)
}

/// What happens in a tick besides the library's own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// The world moves already; messages wait until everybody is there.
    Connecting,
    Everything,
    /// The world stands still and there are no messages, so that clients can catch up.
    Settling,
}

/// The library's server and what it is fed with.
struct Stage<S> {
    server: S,
    workload: Workload,
    walk: Walk,
    tick: u64,
    ticks_per_period: u64,
    next_message: u64,
    reliable: Vec<[u8; RELIABLE_BYTES]>,
    pace: Pace,
}

/// CPU time of one tick.
#[derive(Clone, Copy, Default)]
struct Cost {
    write_ns: u64,
    tick_ns: u64,
}

impl<S: Server> Stage<S> {
    fn new(server: S, options: &Options) -> Stage<S> {
        let is_world = options.workload == Workload::Replicate;
        Stage {
            server,
            workload: options.workload,
            walk: Walk::new(if is_world { options.objects } else { 0 }),
            tick: 0,
            ticks_per_period: if is_world { options.ticks_per_send() } else { 1 },
            next_message: 0,
            reliable: vec![[0; RELIABLE_BYTES]; options.reliable_per_tick],
            pace: Pace::of_server(TICK),
        }
    }

    fn ticks_to_period(&self) -> u64 {
        self.tick.next_multiple_of(self.ticks_per_period) - self.tick
    }

    /// One tick at its time.
    fn turn(&mut self, activity: Activity) -> Cost {
        self.tick += 1;
        let cost = match self.workload {
            Workload::Replicate => self.world_tick(activity),
            Workload::Messages | Workload::Latency => self.message_tick(activity),
        };
        self.pace.wait();
        cost
    }

    fn world_tick(&mut self, activity: Activity) -> Cost {
        let mut cost = Cost::default();
        if activity != Activity::Settling {
            self.walk.step();
            let watch = Stopwatch::start();
            self.server.write(&self.walk);
            cost.write_ns = watch.stop();
        }
        let watch = Stopwatch::start();
        self.server.tick(&self.walk, self.tick.is_multiple_of(self.ticks_per_period));
        cost.tick_ns = watch.stop();
        cost
    }

    fn message_tick(&mut self, activity: Activity) -> Cost {
        let is_busy = activity == Activity::Everything;
        let unreliable = [self.tick as u8; UNRELIABLE_BYTES];
        if is_busy {
            for message in &mut self.reliable {
                *message = reliable_message(self.next_message);
                self.next_message += 1;
            }
        }
        let reliable = if is_busy { self.reliable.as_slice() } else { &[] };
        let unreliable = (is_busy && self.workload == Workload::Messages).then_some(&unreliable);
        let watch = Stopwatch::start();
        self.server.tick_messages(reliable, unreliable);
        Cost { write_ns: 0, tick_ns: watch.stop() }
    }

    /// Whole periods until `duration` is over.
    fn measure(&mut self, duration: Duration) -> Measured {
        let room = (duration.as_secs_f64() * TICKS_PER_SECOND as f64) as usize + 1_000;
        let mut measured = Measured { ticks_ns: Vec::with_capacity(room), ..Measured::default() };
        measured.dearest_ns.reserve(room);
        let (mut period_ns_max, mut ticks) = (0, 0);
        let loopback_before = traffic::loopback();
        let before = Reading::now();
        let start = Instant::now();
        while ticks % self.ticks_per_period != 0
            || ticks < PERIODS_MIN * self.ticks_per_period
            || start.elapsed() < duration
        {
            let cost = self.turn(Activity::Everything);
            ticks += 1;
            measured.ticks_ns.push(cost.tick_ns);
            measured.write_ns += cost.write_ns;
            period_ns_max = cost.tick_ns.max(period_ns_max);
            if ticks % self.ticks_per_period == 0 {
                measured.dearest_ns.push(period_ns_max);
                period_ns_max = 0;
            }
        }
        measured.wall = start.elapsed();
        measured.spent = Reading::now().since(&before);
        // Asking for them allocates, so they are asked for outside of what is counted.
        let loopback = traffic::loopback().zip(loopback_before);
        measured.loopback = loopback.map(|(after, before)| (after.0 - before.0, after.1 - before.1));
        measured.ticks = ticks;
        measured.reliable_sent = self.next_message;
        measured
    }
}

/// Everything that is counted, at one moment or between two.
#[derive(Clone, Copy, Default)]
struct Reading {
    process_ns: u64,
    thread_ns: u64,
    allocations: u64,
    allocated_bytes: u64,
    traffic: Traffic,
}

impl Reading {
    fn now() -> Reading {
        let (allocations, allocated_bytes) = allocations::counts();
        Reading {
            process_ns: process_cpu_ns(),
            thread_ns: thread_cpu_ns(),
            allocations,
            allocated_bytes,
            traffic: traffic::counted(),
        }
    }

    fn since(&self, before: &Reading) -> Reading {
        Reading {
            process_ns: self.process_ns - before.process_ns,
            thread_ns: self.thread_ns - before.thread_ns,
            allocations: self.allocations - before.allocations,
            allocated_bytes: self.allocated_bytes - before.allocated_bytes,
            traffic: self.traffic - before.traffic,
        }
    }
}

#[derive(Default)]
struct Measured {
    connect: Duration,
    wall: Duration,
    ticks: u64,
    ticks_ns: Vec<u64>,
    /// The dearest tick of each period: the one that sends. Some libraries choose themselves which that is.
    dearest_ns: Vec<u64>,
    write_ns: u64,
    spent: Reading,
    /// Bytes and packets, by the kernel.
    loopback: Option<(u64, u64)>,
    reliable_sent: u64,
}

impl Measured {
    fn tell(mut self, options: &Options, report: &mut Report) {
        self.dearest_ns.sort_unstable();
        let periods = self.dearest_ns.len() as f64;
        let in_ticks_ns: u64 = self.ticks_ns.iter().sum();
        let outside_ns = self.spent.thread_ns.saturating_sub(in_ticks_ns);
        let all_threads_ns = self.spent.process_ns.saturating_sub(outside_ns) as f64;
        let us_per_period = |ns: f64| ns / 1e3 / periods;
        report.number("periods", periods);
        report.number("period_ms", 1e3 * self.ticks as f64 / periods / TICKS_PER_SECOND as f64);
        report.number("wall_s", self.wall.as_secs_f64());
        report.number("ticks_per_s", self.ticks as f64 / self.wall.as_secs_f64());
        report.number("connect_s", self.connect.as_secs_f64());
        report.number("all_threads_us_per_period", us_per_period(all_threads_ns));
        report.number("write_us_per_period", us_per_period(self.write_ns as f64));
        report.number("with_write_us_per_period", us_per_period(all_threads_ns + self.write_ns as f64));
        report.number("thread_us_per_period", us_per_period(in_ticks_ns as f64));
        report.number("send_tick_us", mean(&self.dearest_ns) / 1e3);
        report.number("send_tick_us_p50", percentile(&self.dearest_ns, 0.5) / 1e3);
        report.number("send_tick_us_p99", percentile(&self.dearest_ns, 0.99) / 1e3);
        self.tell_of_memory(report);
        self.tell_of_traffic(options, report);
        if options.workload != Workload::Replicate {
            report.number("reliable_sent", (self.reliable_sent * options.clients as u64) as f64);
        }
    }

    fn tell_of_memory(&self, report: &mut Report) {
        report.number("allocations_per_tick", self.spent.allocations as f64 / self.ticks as f64);
        report.number("allocated_bytes_per_tick", self.spent.allocated_bytes as f64 / self.ticks as f64);
        report.number("resident_mb", resident_mb());
        // One is the harness's own: it listens to the clients' process.
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count).saturating_sub(1);
        report.number("threads", threads as f64);
    }

    fn tell_of_traffic(&self, options: &Options, report: &mut Report) {
        let Traffic { sent, received } = self.spent.traffic;
        let seconds = self.wall.as_secs_f64();
        let per_client = |count: u64| count as f64 / seconds / options.clients as f64;
        report.number("bytes_per_client_s", per_client(sent.bytes));
        report.number("datagrams_per_client_s", per_client(sent.datagrams));
        report.number("received_bytes_per_client_s", per_client(received.bytes));
        report.number("send_calls_per_s", sent.calls as f64 / seconds);
        report.number("receive_calls_per_s", received.calls as f64 / seconds);
        report.number("sends_refused", sent.refused as f64);
        report.number("counted_bytes", (sent.bytes + received.bytes) as f64);
        if let Some((bytes, packets)) = self.loopback {
            report.number("loopback_bytes", bytes as f64);
            report.number("loopback_packets", packets as f64);
        }
    }
}

fn resident_mb() -> f64 {
    const PAGE_BYTES: f64 = 4096.0;
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok());
    resident.unwrap_or(0.0) * PAGE_BYTES / 1e6
}

/// The clients, as seen from here. They end when the line to them does.
struct OtherProcess {
    child: Child,
    line: ChildStdin,
    answers: mpsc::Receiver<String>,
}

impl OtherProcess {
    fn spawn(options: &Options) -> OtherProcess {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .args(options.child_arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started a second time");
        let line = child.stdin.take().expect("a pipe was asked for");
        let output = child.stdout.take().expect("a pipe was asked for");
        let (answer, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if answer.send(line).is_err() {
                    return;
                }
            }
        });
        OtherProcess { child, line, answers }
    }

    fn tell(&mut self, word: Word) {
        // A process that is gone is noticed when it does not answer.
        let _ = writeln!(self.line, "{word}");
    }

    /// Has everything compared, while the server lives on.
    fn compare<S: Server>(&mut self, stage: &mut Stage<S>) -> String {
        self.tell(Word::Compare { tick: stage.walk.tick });
        let until = Instant::now() + Duration::from_secs(COMPARE_SECONDS_MAX);
        while Instant::now() < until {
            match self.answers.try_recv() {
                Ok(answer) => return answer,
                Err(mpsc::TryRecvError::Disconnected) => return "nothing, and ended".to_owned(),
                Err(mpsc::TryRecvError::Empty) => _ = stage.turn(Activity::Settling),
            }
        }
        format!("nothing for {COMPARE_SECONDS_MAX} s")
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
