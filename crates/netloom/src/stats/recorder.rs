//! The game's thread's side of the figures: measures ticks, and writes rows when it is time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use netloom_session::room::Room;
use netloom_session::{PlayerId, Server as Session};
use netloom_transport::Counters;
use netloom_wire::Micros;

use super::row::{Text, word};
use super::{PEER_WORDS, ROOM_WORDS, STATS_INTERVAL, Stats, Summary};
use crate::line::untagged;

/// What was known when rows were written last, to see what changed since.
#[derive(Debug)]
pub(crate) struct Recorder {
    stats: Arc<Stats>,
    written: Micros,
    steps: u64,
    bytes: Traffic,
    sends: u64,
    peers: BTreeMap<PlayerId, Traffic>,
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

impl Recorder {
    pub fn new(stats: Arc<Stats>, transports: Vec<&'static str>) -> Recorder {
        Recorder {
            stats,
            written: Micros::ZERO,
            steps: 0,
            bytes: Traffic::default(),
            sends: 0,
            peers: BTreeMap::new(),
            transports,
        }
    }

    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// A tick is over. Most are made because a datagram arrived, and do little: those with a step are measured.
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
            self.stats.ticks.count(ended.since(began));
        }
        let elapsed = ended.since(self.written);
        if elapsed >= STATS_INTERVAL {
            self.written = ended;
            self.write(session, &counters(), elapsed.as_secs_f64());
        }
    }

    fn write(&mut self, session: &Session, counters: &Counters, seconds: f64) {
        self.write_summary(session, counters, seconds);
        self.stats.rooms.write(session.rooms().map(room_words));
        let (peers, transports) = (&mut self.peers, &self.transports);
        let rows = session.rooms().flat_map(|room| room.players().map(move |player| (room, player)));
        self.stats.peers.write(rows.filter_map(|(room, player)| {
            let stats = session.stats_of(player.id)?;
            let now = Traffic { sent: stats.counters.bytes_sent, received: stats.counters.bytes_received };
            let before = peers.insert(player.id, now).unwrap_or_default();
            let (sent, received) = now.per_second(before, seconds);
            let progress = room.progress(player.id);
            let mut words = [0; PEER_WORDS];
            words[..12].copy_from_slice(&[
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
            ]);
            let transport = session.address_of(player.id).map(|address| untagged(address).0);
            let transport = transport.and_then(|number| transports.get(number)).copied().unwrap_or_default();
            let (name, carrier) = words[12..].split_at_mut(Text::WORDS);
            Text::write(player.name, name);
            Text::write(transport, carrier);
            Some(words)
        }));
        self.peers.retain(|player, _| session.peer_of(*player).is_some());
    }

    fn write_summary(&mut self, session: &Session, counters: &Counters, seconds: f64) {
        let bytes = Traffic { sent: counters.sent_bytes, received: counters.received_bytes };
        let (sent, received) = bytes.per_second(std::mem::replace(&mut self.bytes, bytes), seconds);
        let rooms = session.rooms().count();
        let sends: u64 =
            session.rooms().filter_map(|room| room.world().tick()).map(|tick| u64::from(tick.0)).sum();
        let sent_ticks = sends.saturating_sub(std::mem::replace(&mut self.sends, sends));
        let players = session.rooms().flat_map(Room::players);
        let connected = players.filter_map(|player| session.stats_of(player.id));
        let (mut peers, mut ping_ms, mut loss_pct, mut jitter_ms, mut queue_depth) =
            (0_u64, 0.0, 0.0, 0.0, 0);
        for stats in connected {
            peers += 1;
            ping_ms += stats.rtt.as_millis_f64();
            loss_pct += f64::from(stats.loss_per_mille) / 10.0;
            jitter_ms += stats.jitter.as_millis_f64();
            queue_depth = queue_depth.max(stats.queue_depth as u64);
        }
        let mean = |sum: f64| sum / peers.max(1) as f64;
        let summary = Summary {
            bytes_sent_per_sec: sent,
            bytes_recv_per_sec: received,
            ping_ms: mean(ping_ms),
            packet_loss_pct: mean(loss_pct),
            jitter_ms: mean(jitter_ms),
            connected_peers: peers,
            replicated_objects: session.rooms().map(|room| room.world().len() as u64).sum(),
            arena_overflows: session.rooms().map(|room| room.counters().arena_overflows).sum(),
            effective_send_rate: sent_ticks as f64 / seconds / rooms.max(1) as f64,
            queue_depth,
            bytes_sent: bytes.sent,
            bytes_received: bytes.received,
            datagrams_dropped: counters.dropped(),
            datagrams_refused: session.rejections().total(),
        };
        self.stats.summary.write(&summary.to_words());
    }
}

fn room_words(room: &Room) -> [u64; ROOM_WORDS] {
    let counters = room.counters();
    let mut words = [0; ROOM_WORDS];
    words[..10].copy_from_slice(&[
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
    ]);
    Text::write(room.name(), &mut words[10..]);
    words
}
