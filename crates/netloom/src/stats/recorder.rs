//! The game's thread's side of the figures: measures ticks, and writes rows when it is time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use netloom_proto::{PeerId, Stats as ConnectionStats};
use netloom_replica::server::ClassTraffic;
use netloom_session::Server as Session;
use netloom_session::message::CallRefusal;
use netloom_session::room::{Room, RoomCounters, RoomId};
use netloom_session::validate::Reason;
use netloom_transport::Counters;
use netloom_wire::Micros;

use super::rejects::RejectKind;
use super::row::{Text, word};
use super::{
    CLASS_WORDS, PEER_FIGURES, PEER_WORDS, ROOM_FIGURES, ROOM_WORDS, STATS_INTERVAL, Stats, Summary,
};
use crate::line::untagged;

/// The longest time between two writings.
const INTERVAL_MAX: Micros = Micros(STATS_INTERVAL.0 * 2);

/// Intervals of which the longest tick is told: a second.
const INTERVALS: usize = (1_000_000 / STATS_INTERVAL.0) as usize;

/// Reasons for which inputs are refused; those of games count as one.
const INPUT_REASONS: usize = Reason::ALL.len() + 1;
/// Reasons for which calls are refused.
const CALL_REASONS: usize = CallRefusal::ALL.len();

/// What was known when rows were written last, to see what changed since.
#[derive(Debug)]
pub(crate) struct Recorder {
    stats: Arc<Stats>,
    written: Micros,
    steps: u64,
    bytes: Traffic,
    sends: u64,
    /// The longest tick of each of the last intervals, the present one first.
    longest: [Micros; INTERVALS],
    /// By the index of the connection.
    peers: Vec<Option<(PeerId, Traffic)>>,
    rooms: BTreeMap<RoomId, Counted>,
    /// What was counted in all rooms, those that ended included.
    total: Counted,
    /// Objects of each class in all rooms.
    populations: Box<[u64]>,
    /// What the transports are called, by number.
    transports: Vec<&'static str>,
}

/// Bytes sent and received so far.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    sent: u64,
    received: u64,
}

impl Traffic {
    /// Both a second. Counters of a connection begin anew with it.
    fn per_second(self, before: Traffic, seconds: f64) -> (f64, f64) {
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        (rate(self.sent, before.sent), rate(self.received, before.received))
    }
}

/// All connections together.
#[derive(Debug, Default)]
struct Connections {
    count: u64,
    ping_ms: f64,
    loss_pct: f64,
    jitter_ms: f64,
    queue_depth: u64,
}

impl Connections {
    fn add(&mut self, stats: &ConnectionStats) {
        self.count += 1;
        self.ping_ms += stats.rtt.as_millis_f64();
        self.loss_pct += f64::from(stats.loss_per_mille) / 10.0;
        self.jitter_ms += stats.jitter.as_millis_f64();
        self.queue_depth = self.queue_depth.max(stats.queue_depth as u64);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.count.max(1) as f64
    }
}

/// What rooms count, and what is to be told of all of them together.
#[derive(Clone, Debug)]
struct Counted {
    inputs: [u64; INPUT_REASONS],
    calls: [u64; CALL_REASONS],
    /// By class.
    classes: Box<[ClassTraffic]>,
}

impl Counted {
    fn new(classes: usize) -> Counted {
        let classes = vec![ClassTraffic::default(); classes].into();
        Counted { inputs: [0; INPUT_REASONS], calls: [0; CALL_REASONS], classes }
    }

    /// Adds what a room counted since it was looked at last.
    fn add(&mut self, room: &Room, before: &mut Counted) {
        fn add(total: &mut [u64], now: &[u64], before: &mut [u64]) {
            for ((total, now), before) in total.iter_mut().zip(now).zip(before) {
                *total += now - std::mem::replace(before, *now);
            }
        }
        let RoomCounters { rejected_inputs_by_reason, refused_calls_by_reason, .. } = room.counters();
        add(&mut self.inputs, &rejected_inputs_by_reason, &mut before.inputs);
        add(&mut self.calls, &refused_calls_by_reason, &mut before.calls);
        let classes = self.classes.iter_mut().zip(room.class_traffic()).zip(&mut before.classes);
        for ((total, now), before) in classes {
            *total = total.and(now.since(std::mem::replace(before, now)));
        }
    }
}

impl Recorder {
    pub fn new(stats: Arc<Stats>, transports: Vec<&'static str>) -> Recorder {
        Recorder {
            total: Counted::new(stats.class_names.len()),
            populations: vec![0; stats.class_names.len()].into(),
            stats,
            written: Micros::ZERO,
            steps: 0,
            bytes: Traffic::default(),
            sends: 0,
            longest: [Micros::ZERO; INTERVALS],
            peers: Vec::new(),
            rooms: BTreeMap::new(),
            transports,
        }
    }

    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// A tick is over. Most are made because a datagram arrived, and do little: those with a step are measured.
    #[inline]
    pub fn handle_tick(
        &mut self,
        began: Micros,
        ended: Micros,
        session: &Session,
        counters: impl FnOnce() -> Counters,
    ) {
        self.stats.ticked_us.store(ended.0, Ordering::Relaxed);
        let steps = session.rooms().map(Room::steps).sum();
        if std::mem::replace(&mut self.steps, steps) != steps {
            let took = ended.since(began);
            self.stats.ticks.count(took);
            self.longest[0] = self.longest[0].max(took);
        }
        let elapsed = ended.since(self.written);
        // Right after snapshots everybody's connection is in the caches, and at another time it would be fetched for this alone. Who
        // sends less often than that does not keep the figures waiting.
        let is_good_time = || session.rooms().any(Room::is_told) || elapsed >= INTERVAL_MAX;
        if elapsed >= STATS_INTERVAL && is_good_time() {
            self.written = ended;
            self.write(session, &counters(), elapsed.as_secs_f64());
        }
    }

    #[cold]
    fn write(&mut self, session: &Session, counters: &Counters, seconds: f64) {
        let connections = self.write_peers(session, seconds);
        self.write_summary(session, counters, &connections, seconds);
        self.stats.rooms.write(session.rooms().map(room_words));
        self.count_rooms(session);
        self.write_classes();
        self.write_rejects(session);
    }

    /// Writes the rows of peers, and tells what they come to: a connection is looked at once.
    fn write_peers(&mut self, session: &Session, seconds: f64) -> Connections {
        let mut connections = Connections::default();
        let (peers, transports) = (&mut self.peers, &self.transports);
        let rows = session.rooms().flat_map(|room| room.players().map(move |player| (room, player)));
        self.stats.peers.write(rows.filter_map(|(room, player)| {
            let peer = player.peer?;
            let stats = session.stats(peer)?;
            connections.add(&stats);
            let now = Traffic { sent: stats.counters.bytes_sent, received: stats.counters.bytes_received };
            if peers.len() <= peer.index() {
                peers.resize(peer.index() + 1, None);
            }
            let before = peers[peer.index()].replace((peer, now)).filter(|(before, _)| *before == peer);
            let before = before.map_or(Traffic::default(), |(_, before)| before);
            let (sent, received) = now.per_second(before, seconds);
            let progress = room.progress(player.id);
            let full_hertz = room.config().sends_per_second;
            let send_rate = room.quality(player.id).map(|quality| quality.send_rate_millihertz(full_hertz));
            let mut words = [0; PEER_WORDS];
            words[..PEER_FIGURES].copy_from_slice(&[
                player.id.0.into(),
                room.id().0.into(),
                word(sent),
                word(received),
                word(stats.rtt.as_millis_f64()),
                word(f64::from(stats.loss_per_mille) / 10.0),
                word(stats.jitter.as_millis_f64()),
                stats.rate_bytes_per_second,
                stats.pending_bytes as u64,
                stats.queue_depth as u64,
                progress.map_or(0, |progress| progress.held as u64),
                progress.map_or(0, |progress| progress.total as u64),
                word(send_rate.unwrap_or_default() as f64 / 1e3),
                now.sent,
                now.received,
            ]);
            let transport = session.address(peer).map(|address| untagged(address).0);
            let transport = transport.and_then(|number| transports.get(number)).copied().unwrap_or_default();
            let (name, carrier) = words[PEER_FIGURES..].split_at_mut(Text::WORDS);
            Text::write(player.name, name);
            Text::write(transport, carrier);
            Some(words)
        }));
        connections
    }

    /// What a room counted goes with it when it ends: it is added up while the room is there.
    fn count_rooms(&mut self, session: &Session) {
        self.populations.fill(0);
        for room in session.rooms() {
            let classes = self.total.classes.len();
            let before = self.rooms.entry(room.id()).or_insert_with(|| Counted::new(classes));
            self.total.add(room, before);
            let populations = self.populations.iter_mut().zip(room.populations());
            populations.for_each(|(total, objects)| *total += objects as u64);
        }
        if self.rooms.len() > session.rooms().count() {
            self.rooms.retain(|room, _| session.room(*room).is_some());
        }
    }

    fn write_classes(&self) {
        let counted = self.populations.iter().zip(&self.total.classes);
        for (row, (objects, traffic)) in self.stats.classes.iter().zip(counted) {
            let words: [u64; CLASS_WORDS] = [
                *objects,
                traffic.updates,
                traffic.update_bits / 8,
                traffic.entries,
                traffic.entry_bytes,
                traffic.values,
                traffic.value_bytes,
            ];
            row.write(&words);
        }
    }

    fn write_rejects(&self, session: &Session) {
        let (rejects, desk) = (&self.stats.rejects, session.counters());
        let datagrams = session.rejections();
        rejects
            .write(RejectKind::Datagram, netloom_proto::Rejection::ALL.map(|reason| datagrams.get(reason)));
        rejects.write(RejectKind::Connection, session.refusals().map(|(_, count)| count));
        rejects.write(RejectKind::Seat, desk.refused_by_reason);
        rejects.write(RejectKind::Message, [desk.nonsense]);
        rejects.write(RejectKind::Input, self.total.inputs);
        rejects.write(RejectKind::Call, self.total.calls);
    }

    fn write_summary(
        &mut self,
        session: &Session,
        counters: &Counters,
        connections: &Connections,
        seconds: f64,
    ) {
        let bytes = Traffic { sent: counters.sent_bytes, received: counters.received_bytes };
        let (sent, received) = bytes.per_second(std::mem::replace(&mut self.bytes, bytes), seconds);
        let rooms = session.rooms().count();
        let sends: u64 =
            session.rooms().filter_map(|room| room.world().tick()).map(|tick| u64::from(tick.0)).sum();
        let sent_ticks = sends.saturating_sub(std::mem::replace(&mut self.sends, sends));
        let longest = self.longest.iter().copied().fold(Micros::ZERO, Micros::max);
        self.longest.rotate_right(1);
        self.longest[0] = Micros::ZERO;
        let summary = Summary {
            bytes_sent_per_sec: sent,
            bytes_recv_per_sec: received,
            ping_ms: connections.mean(connections.ping_ms),
            packet_loss_pct: connections.mean(connections.loss_pct),
            jitter_ms: connections.mean(connections.jitter_ms),
            connected_peers: connections.count,
            replicated_objects: session.rooms().map(|room| room.world().len() as u64).sum(),
            arena_overflows: session.rooms().map(|room| room.counters().arena_overflows).sum(),
            effective_send_rate: sent_ticks as f64 / seconds / rooms.max(1) as f64,
            queue_depth: connections.queue_depth,
            bytes_sent: bytes.sent,
            bytes_received: bytes.received,
            datagrams_dropped: counters.dropped(),
            datagrams_refused: session.rejections().total(),
            longest_tick_ms: longest.as_millis_f64(),
            written_at: self.written,
        };
        self.stats.summary.write(&summary.to_words());
    }
}

fn room_words(room: &Room) -> [u64; ROOM_WORDS] {
    let counters = room.counters();
    let mut words = [0; ROOM_WORDS];
    words[..ROOM_FIGURES].copy_from_slice(&[
        room.id().0.into(),
        room.player_count() as u64,
        room.world().len() as u64,
        room.steps(),
        room.skipped_steps(),
        counters.snapshots,
        counters.snapshot_bytes,
        counters.rejected_inputs,
        counters.undelivered,
        counters.arena_overflows,
        counters.calls,
        counters.refused_calls,
    ]);
    Text::write(room.name(), &mut words[ROOM_FIGURES..]);
    words
}
