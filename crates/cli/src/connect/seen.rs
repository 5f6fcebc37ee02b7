//! What is shown of a connection: figures, their recent past, and what was said.

use std::collections::VecDeque;

use netloom::prelude::*;

/// Samples that a graph has.
pub const SAMPLES: usize = 120;
/// How often one is taken.
const SAMPLE_INTERVAL: Micros = Micros::from_millis(250);
/// Lines that are kept.
const LINES: usize = 64;

/// What there is to see.
#[derive(Debug)]
pub struct Seen {
    pub server: String,
    pub room: Option<String>,
    pub state: &'static str,
    pub rtt_ms: f64,
    pub jitter_ms: f64,
    pub loss_pct: f64,
    pub bytes_in_per_sec: f64,
    pub bytes_out_per_sec: f64,
    pub objects: usize,
    pub others: usize,
    pub delay_ms: f64,
    pub progress: f32,
    pub own: Option<[f32; 2]>,
    pub rejected: u64,
    /// Round trips and bytes of the past, the newest last.
    pub rtts_ms: VecDeque<f64>,
    pub bytes_in: VecDeque<f64>,
    pub lines: VecDeque<String>,
    sampled: Micros,
    bytes: (u64, u64),
}

impl Seen {
    pub fn new(server: &str) -> Seen {
        Seen {
            server: server.to_owned(),
            room: None,
            state: "connecting",
            rtt_ms: 0.0,
            jitter_ms: 0.0,
            loss_pct: 0.0,
            bytes_in_per_sec: 0.0,
            bytes_out_per_sec: 0.0,
            objects: 0,
            others: 0,
            delay_ms: 0.0,
            progress: 0.0,
            own: None,
            rejected: 0,
            rtts_ms: VecDeque::new(),
            bytes_in: VecDeque::new(),
            lines: VecDeque::new(),
            sampled: Micros::ZERO,
            bytes: (0, 0),
        }
    }

    pub fn handle_event(&mut self, event: &ClientEvent) {
        let line = match event {
            ClientEvent::Welcomed { room, is_resumed, .. } => {
                self.room = Some(room.clone());
                format!("{} {room}", if *is_resumed { "back in" } else { "joined" })
            }
            ClientEvent::Lost { reason } => format!("connection lost ({reason}), trying again"),
            ClientEvent::Ended(ending) => format!("over: {ending}"),
            ClientEvent::Left { name, .. } => format!("{name} left"),
            ClientEvent::Complete => String::from("the world is here"),
            ClientEvent::Rejected { text, .. } => {
                self.rejected += 1;
                format!("refused: {text}")
            }
            ClientEvent::Notice { text, .. } => text.clone(),
            ClientEvent::Said { player, text, .. } => match player {
                Some(player) => format!("{}: {text}", player.0),
                None => text.clone(),
            },
            _ => return,
        };
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line.replace(char::is_control, " "));
    }

    pub fn handle_frame<I: Input>(&mut self, client: &Client<I>) {
        self.state = client.state().name();
        self.objects = client.objects().map_or(0, |objects| objects.len());
        self.others = client.others().count();
        self.progress = client.progress();
        self.delay_ms = client.view().map_or(0.0, |view| view.delay().delay().as_millis_f64());
        let (now, counters) = (client.now(), client.transport_counters());
        let elapsed = now.since(self.sampled);
        if elapsed < SAMPLE_INTERVAL {
            return;
        }
        self.sampled = now;
        let bytes = (counters.received_bytes, counters.sent_bytes);
        let rate = |now: u64, before: u64| (now - before) as f64 / elapsed.as_secs_f64();
        self.bytes_in_per_sec = rate(bytes.0, self.bytes.0);
        self.bytes_out_per_sec = rate(bytes.1, self.bytes.1);
        self.bytes = bytes;
        if let Some(stats) = client.stats() {
            self.rtt_ms = stats.rtt.as_millis_f64();
            self.jitter_ms = stats.jitter.as_millis_f64();
            self.loss_pct = f64::from(stats.loss_per_mille) / 10.0;
        }
        remember(&mut self.rtts_ms, self.rtt_ms);
        remember(&mut self.bytes_in, self.bytes_in_per_sec);
    }
}

fn remember(samples: &mut VecDeque<f64>, value: f64) {
    if samples.len() == SAMPLES {
        samples.pop_front();
    }
    samples.push_back(value);
}
