//! One bot: a client that plays, measures and compares.

use std::collections::BTreeMap;
use std::time::Instant;

use netloom::prelude::*;
use netloom::transport::link::LinkConfig;
use netloom::world_hash;

use super::behaviour::{Behaviour, Will};
use super::stage::{Phase, Stage};
use crate::config::Config;
use crate::games::{self, Playable};

/// How many ticks after the last that is compared a bot waits for what is still on its way.
const LATE_TICKS: u32 = 4;
/// How often the round trip is noted.
const RTT_INTERVAL: Micros = Micros::from_millis(500);
/// For how long the fastest arrival is remembered, at least.
const FASTEST_KEPT: Micros = Micros::from_secs(5);

/// What every bot is made from.
#[derive(Debug)]
pub struct Recipe {
    pub server: String,
    pub protocol: Protocol,
    pub config: Config,
    pub line: Option<LinkConfig>,
    pub behaviour: Behaviour,
}

/// What a bot found out.
#[derive(Clone, Debug, Default)]
pub struct BotReport {
    /// Whether it ever had a seat.
    pub has_joined: bool,
    /// How often it got one.
    pub joins: u32,
    /// The room it was in last.
    pub room: String,
    /// Why it was disconnected, as often as it was and did not want to be.
    pub disconnects: BTreeMap<String, u32>,
    pub rtts_us: Vec<u32>,
    pub ages_us: Vec<u32>,
    /// The time between snapshots.
    pub interval: Micros,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub packets_sent: u64,
    pub packets_lost: u64,
    /// Inputs that the game refused.
    pub rejected: u64,
    pub objects: usize,
    /// The hashes of its world; some ticks have two, before and after what was late.
    pub hashes: Vec<(Tick, u64)>,
}

/// A bot.
pub struct Bot<'a, P: Playable> {
    number: u32,
    recipe: &'a Recipe,
    stage: &'a Stage,
    will: Will,
    client: Option<Client<P::Act>>,
    /// When to connect; `None` for never again.
    start: Option<Instant>,
    /// When to leave.
    leave: Option<Instant>,
    is_seated: bool,
    /// Whether the lobby asked if it is ready.
    was_asked: bool,
    is_leaving: bool,
    newest: Option<Tick>,
    fastest: Fastest,
    rtt_noted: Micros,
    window: Option<Tick>,
    is_asking: bool,
    has_compared: bool,
    /// The newest tick whose hash was taken.
    hashed: Option<Tick>,
    before: Option<Traffic>,
    report: BotReport,
}

impl<'a, P: Playable> Bot<'a, P> {
    pub fn new(number: u32, start: Instant, recipe: &'a Recipe, stage: &'a Stage) -> Bot<'a, P> {
        Bot {
            number,
            recipe,
            stage,
            will: Will::new(recipe.behaviour, number.into()),
            client: None,
            start: Some(start),
            leave: None,
            is_seated: false,
            was_asked: false,
            is_leaving: false,
            newest: None,
            fastest: Fastest::default(),
            rtt_noted: Micros::ZERO,
            window: None,
            is_asking: false,
            has_compared: false,
            hashed: None,
            before: None,
            report: BotReport::default(),
        }
    }

    /// Whether it has nothing more to do.
    pub fn is_gone(&self) -> bool {
        self.client.is_none()
    }

    pub fn into_report(self) -> BotReport {
        self.report
    }

    /// A frame: takes in what arrived, acts, measures.
    pub fn frame(&mut self, now: Instant, phase: Phase) {
        if self.client.is_none() && phase != Phase::Leaving && self.start.is_some_and(|start| now >= start) {
            self.start = None;
            self.connect();
        }
        if let Err(error) = self.play(now, phase) {
            self.handle_end(now, error.to_string());
        }
    }

    fn connect(&mut self) {
        let name = format!("bot-{}", self.number + 1);
        let mut config = self.recipe.config.client_config(&name);
        // A server that does not answer in one attempt is not there.
        config.connection.connect_retries = 0;
        config.is_headless = true;
        let mut builder = self.recipe.config.client_builder(config);
        if let Some(line) = &self.recipe.line {
            builder = builder.bad_line(*line);
        }
        match builder.connect(self.recipe.protocol.clone(), &self.recipe.server) {
            Ok(client) => self.client = Some(client),
            Err(error) => self.handle_end(Instant::now(), error.to_string()),
        }
    }

    fn play(&mut self, now: Instant, phase: Phase) -> Result<(), Error> {
        let Some(client) = &mut self.client else { return Ok(()) };
        client.tick()?;
        self.handle_events(now);
        let Some(client) = &mut self.client else { return Ok(()) };
        games::get_ready(client, &mut self.was_asked);
        while let Some(step) = client.poll_step() {
            client.push_input(step, P::act(self.will.step()))?;
        }
        if self.is_seated {
            if phase != Phase::Leaving && self.will.says() {
                // A line that is refused is refused by the server.
                let _said = client.chat(false, "spam, spam, spam");
            }
            self.watch(phase);
            if phase == Phase::Comparing {
                self.compare();
            }
        }
        let wants_to_go = match phase {
            Phase::Leaving => true,
            // Nobody comes or goes while worlds are compared.
            Phase::Settling | Phase::Comparing => false,
            Phase::Joining | Phase::Measuring => self.leave.is_some_and(|leave| now >= leave),
        };
        let Some(client) = &mut self.client else { return Ok(()) };
        if wants_to_go && !self.is_leaving {
            self.is_leaving = true;
            let now = client.now();
            client.disconnect(now);
        }
        client.send()
    }

    fn handle_events(&mut self, now: Instant) {
        while let Some(event) = self.client.as_mut().and_then(|client| client.poll_event()) {
            match event {
                ClientEvent::Welcomed { room, is_resumed, .. } => {
                    self.report.room = room;
                    self.newest = None;
                    self.fastest = Fastest::default();
                    if !is_resumed {
                        self.handle_joined(now);
                    }
                }
                ClientEvent::Lost { reason } => self.count_disconnect(format!("{reason}, taken up again")),
                ClientEvent::Ended(ending) => self.handle_end(now, ending.to_string()),
                ClientEvent::Rejected { .. } => self.report.rejected += 1,
                ClientEvent::Called(called) => {
                    if let Some(hashes) = world_hash::read_answer(&called) {
                        self.stage.set_truth(&self.report.room, hashes);
                    }
                }
                _ => {}
            }
        }
    }

    fn handle_joined(&mut self, now: Instant) {
        self.is_seated = true;
        self.stage.handle_joined();
        (self.report.has_joined, self.report.joins) = (true, self.report.joins + 1);
        self.leave = self.will.stay().map(|stay| now + stay);
    }

    /// The connection is gone, as this bot wanted or not.
    fn handle_end(&mut self, now: Instant, reason: String) {
        self.stop_counting();
        self.client = None;
        if std::mem::take(&mut self.is_seated) {
            self.stage.handle_left();
        }
        if std::mem::take(&mut self.is_leaving) {
            self.start = Some(now + self.will.pause());
        } else {
            self.count_disconnect(reason);
            self.stage.handle_failed();
        }
    }

    fn count_disconnect(&mut self, reason: String) {
        *self.report.disconnects.entry(reason).or_default() += 1;
    }

    /// Notes what there is to measure.
    fn watch(&mut self, phase: Phase) {
        let Some(client) = &self.client else { return };
        let (Some(objects), Some(view), Some(stats)) = (client.objects(), client.view(), client.stats())
        else {
            return;
        };
        let Some(newest) = objects.newest() else { return };
        self.report.objects = objects.len();
        let (now, made) = (client.now(), view.time_of(newest));
        if self.newest.replace(newest) != Some(newest) {
            self.fastest.handle_arrival(now, made);
        }
        self.report.interval = Micros(view.time_of(Tick(newest.0.wrapping_add(1))).0.saturating_sub(made.0));
        if phase != Phase::Measuring {
            return self.stop_counting();
        }
        self.before.get_or_insert_with(|| Traffic::of(client));
        if let Some(late) = self.fastest.age(now, made) {
            // The fastest took half a round trip as well.
            self.report.ages_us.push((late + stats.rtt_min.0 / 2) as u32);
        }
        if now.since(self.rtt_noted) >= RTT_INTERVAL && stats.rtt > Micros::ZERO {
            self.rtt_noted = now;
            self.report.rtts_us.push(stats.rtt.0 as u32);
        }
    }

    /// What was sent and received since counting began is part of the report.
    fn stop_counting(&mut self) {
        let (Some(before), Some(client)) = (self.before.take(), &self.client) else { return };
        let (now, report) = (Traffic::of(client), &mut self.report);
        report.bytes_received += now.received - before.received;
        report.bytes_sent += now.sent - before.sent;
        report.packets_sent += now.packets.saturating_sub(before.packets);
        report.packets_lost += now.lost.saturating_sub(before.lost);
    }

    /// Takes the hashes of this bot's world as its ticks arrive, and once more when all that concerns them has; one bot of a room
    /// asks the server as well.
    fn compare(&mut self) {
        let Some(client) = self.client.as_mut().filter(|_| !self.has_compared) else { return };
        let Some(newest) = client.objects().and_then(|objects| objects.newest()) else { return };
        let first = *self.window.get_or_insert_with(|| {
            let (first, is_asking) = self.stage.window(&self.report.room, Tick(newest.0.wrapping_add(1)));
            self.is_asking = is_asking;
            first
        });
        if let Some(objects) = client.objects().filter(|_| self.hashed != Some(newest)) {
            // Here and now, while all of it is there: what leaves has no past.
            self.hashed = Some(newest);
            self.report.hashes.push((newest, world_hash::of_client(objects, newest)));
        }
        let enough = Tick(first.0.wrapping_add(world_hash::TICKS + LATE_TICKS));
        if enough.is_newer_than(newest) {
            return;
        }
        self.has_compared = true;
        if let Some(objects) = client.objects() {
            // And again, with what was late.
            let hashes = world_hash::ticks(first).map(|tick| (tick, world_hash::of_client(objects, tick)));
            self.report.hashes.extend(hashes);
        }
        if self.is_asking {
            // Without an answer there is nothing to compare with, which the report tells.
            let _asked = world_hash::ask(client, first);
        }
        self.stage.handle_compared();
    }
}

/// What went over a connection so far.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    received: u64,
    sent: u64,
    packets: u64,
    lost: u64,
}

impl Traffic {
    fn of<I: Input>(client: &Client<I>) -> Traffic {
        let (transport, connection) =
            (client.transport_counters(), client.stats().unwrap_or_default().counters);
        Traffic {
            received: transport.received_bytes,
            sent: transport.sent_bytes,
            packets: connection.packets_sent,
            lost: connection.packets_lost,
        }
    }
}

/// How far the bot's clock is ahead of the server's, less the fastest way of a snapshot: the least difference between the
/// arrival of a snapshot and its making. It is forgotten after a while, for a server that lost time shifts it for good.
#[derive(Debug, Default)]
struct Fastest {
    since: Micros,
    /// Of the present stretch of time and of the one before.
    least: [Option<i64>; 2],
}

impl Fastest {
    fn handle_arrival(&mut self, now: Micros, made: Micros) {
        if now.since(self.since) >= FASTEST_KEPT {
            self.since = now;
            self.least = [None, self.least[0]];
        }
        let difference = now.0 as i64 - made.0 as i64;
        self.least[0] = Some(self.least[0].map_or(difference, |least| least.min(difference)));
    }

    /// How old what was made then is now, compared with what came fastest, in microseconds.
    fn age(&self, now: Micros, made: Micros) -> Option<u64> {
        let least = self.least.iter().flatten().min()?;
        Some((now.0 as i64 - made.0 as i64 - least).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_counts_from_the_making_and_forgets_a_shifted_clock() {
        let ms = Micros::from_millis;
        let mut fastest = Fastest::default();
        fastest.handle_arrival(ms(1_010), ms(0));
        fastest.handle_arrival(ms(1_080), ms(50)); // 20 ms late
        assert_eq!(fastest.age(ms(1_090), ms(50)), Some(30_000));
        // The server loses a second.
        for after in 0..300 {
            fastest.handle_arrival(ms(2_100 + 50 * after), ms(100 + 50 * after));
        }
        assert_eq!(fastest.age(ms(2_100 + 15_000), ms(100 + 15_000)), Some(0));
    }
}
