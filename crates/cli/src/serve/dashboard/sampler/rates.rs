//! Counts since the beginning as rates over the time between two samples.

use std::collections::BTreeMap;

use netloom::Stats;
use netloom::stats::{ClassStats, PeerStats, RejectKind, RoomStats};
use serde_json::{Value, json};

use super::rounded;

/// Rooms, peers, classes and rejects of the last sample, each with what it counted since the one before.
#[derive(Debug)]
pub struct Rates {
    /// Between the samples.
    seconds: f64,
    rooms: Since<u32, RoomStats>,
    peers: Since<u32, PeerStats>,
    classes: Since<String, ClassStats>,
    rejects: Since<(RejectKind, String), u64>,
}

/// What there is now and what there was, by what it is known by.
#[derive(Debug)]
struct Since<K, V> {
    now: BTreeMap<K, V>,
    before: BTreeMap<K, V>,
}

impl<K, V> Default for Since<K, V> {
    fn default() -> Since<K, V> {
        Since { now: BTreeMap::new(), before: BTreeMap::new() }
    }
}

impl<K: Ord, V> Since<K, V> {
    fn take(&mut self, rows: impl Iterator<Item = (K, V)>) {
        self.before = std::mem::replace(&mut self.now, rows.collect());
    }

    /// How much more something is than it was. What is new was nothing, and what began anew, too.
    fn grown(&self, key: &K, figure: impl Fn(&V) -> u64) -> u64 {
        let (now, before) = (self.now.get(key).map_or(0, &figure), self.before.get(key).map_or(0, &figure));
        now.checked_sub(before).unwrap_or(now)
    }
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            seconds: 1.0,
            rooms: Since::default(),
            peers: Since::default(),
            classes: Since::default(),
            rejects: Since::default(),
        }
    }
}

impl Rates {
    /// Takes a sample, so many seconds after the one before.
    pub fn take(&mut self, stats: &Stats, seconds: f64) {
        self.seconds = seconds;
        self.rooms.take(stats.rooms().into_iter().map(|room| (room.room, room)));
        self.peers.take(stats.peers().into_iter().map(|peer| (peer.player, peer)));
        self.classes.take(stats.classes().into_iter().map(|class| (class.name.clone(), class)));
        self.rejects.take(stats.rejects().into_iter().map(|row| ((row.kind, row.reason), row.count)));
    }

    fn per_second(&self, count: u64) -> f64 {
        rounded(count as f64 / self.seconds)
    }

    /// The rooms, as JSON.
    pub fn rooms(&self) -> Vec<Value> {
        let describe = |(id, room): (&u32, &RoomStats)| {
            let rate = |figure: fn(&RoomStats) -> u64| self.per_second(self.rooms.grown(id, figure));
            json!({
                "room": id,
                "name": room.name,
                "players": room.players,
                "objects": room.objects,
                "steps_per_second": rate(|room| room.steps),
                "snapshots_per_second": rate(|room| room.snapshots),
                "snapshot_bytes_per_second": rate(|room| room.snapshot_bytes),
                "calls_per_second": rate(|room| room.calls),
                "skipped_steps_per_second": rate(|room| room.steps_skipped),
                "skipped_steps_total": room.steps_skipped,
                "rejected_inputs_total": room.rejected_inputs,
                "refused_calls_total": room.refused_calls,
                "undelivered_messages_total": room.undelivered,
                "arena_overflows_total": room.arena_overflows,
            })
        };
        self.rooms.now.iter().map(describe).collect()
    }

    /// Those who are connected, as JSON.
    pub fn peers(&self) -> Vec<Value> {
        let describe = |(player, peer): (&u32, &PeerStats)| {
            let rate = |figure: fn(&PeerStats) -> u64| self.per_second(self.peers.grown(player, figure));
            json!({
                "player": player,
                "name": peer.name,
                "room": peer.room,
                "transport": peer.transport,
                "ping_ms": rounded(peer.ping_ms),
                "jitter_ms": rounded(peer.jitter_ms),
                "packet_loss_percent": rounded(peer.packet_loss_pct),
                "send_rate_hertz": rounded(peer.send_rate),
                "budget_bytes_per_second": peer.budget_bytes_per_sec,
                "sent_bytes_per_second": rate(|peer| peer.bytes_sent),
                "received_bytes_per_second": rate(|peer| peer.bytes_received),
                "pending_bytes": peer.pending_bytes,
                "queue_events": peer.queue_depth,
                "held_objects": peer.objects_held,
                "seen_objects": peer.objects_seen,
            })
        };
        self.peers.now.iter().map(describe).collect()
    }

    /// Kinds of objects, as JSON.
    pub fn classes(&self) -> Vec<Value> {
        let describe = |(name, class): (&String, &ClassStats)| {
            let rate = |figure: fn(&ClassStats) -> u64| self.per_second(self.classes.grown(name, figure));
            json!({
                "class": name,
                "objects": class.objects,
                "updates_per_second": rate(|class| class.updates),
                "entries_per_second": rate(|class| class.entries),
                "values_per_second": rate(|class| class.values),
                "bytes_per_second": rate(ClassStats::bytes),
                "bytes_total": class.bytes(),
            })
        };
        self.classes.now.iter().map(describe).collect()
    }

    /// How often something was refused for a reason.
    pub fn rejects_per_second(&self, kind: RejectKind, reason: &str) -> f64 {
        self.per_second(self.rejects.grown(&(kind, reason.to_owned()), |count| *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_or_began_anew_counts_from_nothing() {
        let mut since = Since::default();
        since.take([("a", 10), ("b", 10)].into_iter());
        since.take([("a", 15), ("b", 4), ("c", 7)].into_iter());
        assert_eq!(["a", "b", "c", "d"].map(|key| since.grown(&key, |count| *count)), [5, 4, 7, 0]);
        since.take([].into_iter());
        assert_eq!(since.grown(&"a", |count| *count), 0);
    }

    #[test]
    fn a_rate_is_what_was_counted_over_the_time_it_took() {
        let mut rates = Rates { seconds: 2.0, ..Rates::default() };
        let class = |updates, update_bytes| ClassStats { updates, update_bytes, ..ClassStats::default() };
        rates.classes.take([(String::from("ship"), class(100, 1_000))].into_iter());
        rates.classes.take([(String::from("ship"), class(140, 1_500))].into_iter());
        let ship = &rates.classes()[0];
        assert_eq!((&ship["updates_per_second"], &ship["bytes_per_second"]), (&20.0.into(), &250.0.into()));
        assert_eq!(ship["bytes_total"], 1_500);
    }
}
