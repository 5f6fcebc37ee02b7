//! The figures as Prometheus reads them: its text format, version 0.0.4.
//!
//! Names end with their unit, counters with `_total`; times are in seconds and shares are ratios, as is the custom there.

use std::fmt::{Display, Write as _};

use super::{ClassStats, PeerStats, RejectStats, RoomStats, Stats, TICK_BUCKETS_US};

/// Everything.
pub(super) fn text(stats: &Stats) -> String {
    let mut page = Page(String::with_capacity(8 << 10));
    server(&mut page, stats);
    ticks(&mut page, stats);
    rooms(&mut page, &stats.rooms());
    peers(&mut page, &stats.peers());
    classes(&mut page, &stats.classes());
    rejects(&mut page, &stats.rejects());
    page.0
}

fn server(page: &mut Page, stats: &Stats) {
    page.begin("netloom_info", "gauge", "Which game this is, and which version of Netloom.");
    page.sample("netloom_info", &[("game", &stats.game), ("version", &env!("CARGO_PKG_VERSION"))], 1);
    let summary = stats.summary();
    let gauges: [(&str, &str, f64); 12] = [
        ("netloom_uptime_seconds", "Time since the server began.", stats.uptime().as_secs_f64()),
        (
            "netloom_healthy",
            "1 while the server ticks and is not stopping.",
            f64::from(u8::from(stats.health().is_ok())),
        ),
        ("netloom_sent_bytes_per_second", "Bytes sent to all peers.", summary.bytes_sent_per_sec),
        ("netloom_received_bytes_per_second", "Bytes received from all peers.", summary.bytes_recv_per_sec),
        ("netloom_ping_seconds", "Round trip, mean of all peers.", summary.ping_ms / 1e3),
        (
            "netloom_packet_loss_ratio",
            "Share of packets lost, mean of all peers.",
            summary.packet_loss_pct / 1e2,
        ),
        ("netloom_jitter_seconds", "How much round trips vary, mean of all peers.", summary.jitter_ms / 1e3),
        (
            "netloom_connected_peers",
            "Players and watchers who are connected.",
            summary.connected_peers as f64,
        ),
        ("netloom_replicated_objects", "Objects in all rooms.", summary.replicated_objects as f64),
        (
            "netloom_effective_send_rate_hertz",
            "Snapshots a second, mean of all rooms.",
            summary.effective_send_rate,
        ),
        (
            "netloom_queue_depth_events",
            "Events that wait, of the peer with most.",
            summary.queue_depth as f64,
        ),
        (
            "netloom_longest_tick_seconds",
            "The longest tick of the last second.",
            summary.longest_tick_ms / 1e3,
        ),
    ];
    for (name, help, value) in gauges {
        page.begin(name, "gauge", help);
        page.sample(name, &[], value);
    }
    let counters = [
        ("netloom_sent_bytes_total", "Bytes sent.", summary.bytes_sent),
        ("netloom_received_bytes_total", "Bytes received.", summary.bytes_received),
        ("netloom_arena_overflows_total", "Ticks in which codes found no room.", summary.arena_overflows),
        ("netloom_dropped_datagrams_total", "Datagrams dropped on this machine.", summary.datagrams_dropped),
        (
            "netloom_refused_datagrams_total",
            "Datagrams damaged, forged or foreign.",
            summary.datagrams_refused,
        ),
    ];
    for (name, help, value) in counters {
        page.begin(name, "counter", help);
        page.sample(name, &[], value);
    }
}

fn ticks(page: &mut Page, stats: &Stats) {
    let times = stats.ticks();
    page.begin("netloom_tick_seconds", "histogram", "How long ticks take in which a room makes a step.");
    let ends = TICK_BUCKETS_US.iter().map(|end| (*end as f64 / 1e6).to_string());
    let mut below = 0;
    for (count, end) in times.counts.iter().zip(ends.chain([String::from("+Inf")])) {
        below += count;
        page.sample("netloom_tick_seconds_bucket", &[("le", &end)], below);
    }
    page.sample("netloom_tick_seconds_sum", &[], times.total.as_secs_f64());
    page.sample("netloom_tick_seconds_count", &[], times.count());
}

fn rooms(page: &mut Page, rooms: &[RoomStats]) {
    type Figure = fn(&RoomStats) -> u64;
    let figures: [(&str, &str, &str, Figure); 11] = [
        ("netloom_room_players", "gauge", "Players and watchers in a room.", |room| room.players),
        ("netloom_room_objects", "gauge", "Objects in a room.", |room| room.objects),
        ("netloom_room_steps_total", "counter", "Steps that a room made.", |room| room.steps),
        ("netloom_room_skipped_steps_total", "counter", "Steps for which it was too late.", |room| {
            room.steps_skipped
        }),
        ("netloom_room_snapshots_total", "counter", "Snapshots sent.", |room| room.snapshots),
        ("netloom_room_snapshot_bytes_total", "counter", "Bytes of snapshots sent.", |room| {
            room.snapshot_bytes
        }),
        ("netloom_room_rejected_inputs_total", "counter", "Inputs that the game refused.", |room| {
            room.rejected_inputs
        }),
        ("netloom_room_undelivered_messages_total", "counter", "Messages without room.", |room| {
            room.undelivered
        }),
        ("netloom_room_arena_overflows_total", "counter", "Ticks in which codes found no room.", |room| {
            room.arena_overflows
        }),
        ("netloom_room_calls_total", "counter", "Players' calls that reached the game.", |room| room.calls),
        ("netloom_room_refused_calls_total", "counter", "Players' calls that were refused.", |room| {
            room.refused_calls
        }),
    ];
    for (name, kind, help, figure) in figures {
        page.begin(name, kind, help);
        for room in rooms {
            page.sample(name, &[("room", &room.name)], figure(room));
        }
    }
}

fn peers(page: &mut Page, peers: &[PeerStats]) {
    type Figure = fn(&PeerStats) -> f64;
    let figures: [(&str, &str, &str, Figure); 13] = [
        ("netloom_peer_ping_seconds", "gauge", "Round trip.", |peer| peer.ping_ms / 1e3),
        ("netloom_peer_packet_loss_ratio", "gauge", "Share of packets lost.", |peer| {
            peer.packet_loss_pct / 1e2
        }),
        ("netloom_peer_jitter_seconds", "gauge", "How much the round trip varies.", |peer| {
            peer.jitter_ms / 1e3
        }),
        ("netloom_peer_sent_bytes_per_second", "gauge", "Bytes sent to it.", |peer| peer.bytes_sent_per_sec),
        ("netloom_peer_received_bytes_per_second", "gauge", "Bytes from it.", |peer| peer.bytes_recv_per_sec),
        ("netloom_peer_sent_bytes_total", "counter", "Bytes sent to it.", |peer| peer.bytes_sent as f64),
        ("netloom_peer_received_bytes_total", "counter", "Bytes from it.", |peer| peer.bytes_received as f64),
        ("netloom_peer_send_rate_hertz", "gauge", "Snapshots a second that it gets.", |peer| peer.send_rate),
        ("netloom_peer_budget_bytes_per_second", "gauge", "Bytes that may be sent to it.", |peer| {
            peer.budget_bytes_per_sec as f64
        }),
        ("netloom_peer_pending_bytes", "gauge", "Bytes unsent or unacknowledged.", |peer| {
            peer.pending_bytes as f64
        }),
        ("netloom_peer_queue_depth_events", "gauge", "Events that wait.", |peer| peer.queue_depth as f64),
        ("netloom_peer_held_objects", "gauge", "Objects that it is known to have.", |peer| {
            peer.objects_held as f64
        }),
        ("netloom_peer_seen_objects", "gauge", "Objects that it sees.", |peer| peer.objects_seen as f64),
    ];
    for (name, kind, help, figure) in figures {
        page.begin(name, kind, help);
        for peer in peers {
            page.sample(
                name,
                &[
                    ("player", &peer.player),
                    ("name", &peer.name),
                    ("room", &peer.room),
                    ("transport", &peer.transport),
                ],
                figure(peer),
            );
        }
    }
}

fn classes(page: &mut Page, classes: &[ClassStats]) {
    page.begin("netloom_class_objects", "gauge", "Objects of a class, in all rooms.");
    for class in classes {
        page.sample("netloom_class_objects", &[("class", &class.name)], class.objects);
    }
    type Figure = fn(&ClassStats) -> u64;
    type Figures = (&'static str, &'static str, [(&'static str, Figure); 3]);
    let figures: [Figures; 2] = [
        (
            "netloom_class_messages_total",
            "What was sent about the objects of a class; updates are extrapolated from a sample.",
            [
                ("update", |class| class.updates),
                ("entry", |class| class.entries),
                ("value", |class| class.values),
            ],
        ),
        (
            "netloom_class_bytes_total",
            "Bytes that were sent about the objects of a class; those of updates are extrapolated from a sample.",
            [
                ("update", |class| class.update_bytes),
                ("entry", |class| class.entry_bytes),
                ("value", |class| class.value_bytes),
            ],
        ),
    ];
    for (name, help, kinds) in figures {
        page.begin(name, "counter", help);
        for class in classes {
            for (kind, figure) in kinds {
                page.sample(name, &[("class", &class.name), ("kind", &kind)], figure(class));
            }
        }
    }
}

fn rejects(page: &mut Page, rejects: &[RejectStats]) {
    page.begin("netloom_rejects_total", "counter", "What was refused, and why.");
    for row in rejects {
        page.sample(
            "netloom_rejects_total",
            &[("kind", &row.kind.name()), ("reason", &row.reason)],
            row.count,
        );
    }
}

/// A page as it is written.
struct Page(String);

impl Page {
    /// What samples of this name are. Writing to a string does not fail, here and below.
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(text));
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}

/// A label's value as it may stand between quotes: players choose their names.
fn escaped(text: &dyn Display) -> String {
    let mut escaped = String::new();
    for letter in text.to_string().chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_name_cannot_leave_its_label() {
        let mut page = Page(String::new());
        page.sample("metric", &[("name", &"a\"} 1\nevil 2\\"), ("n", &7)], 3);
        assert_eq!(page.0, "metric{name=\"a\\\"} 1\\nevil 2\\\\\",n=\"7\"} 3\n");
    }

    #[test]
    fn every_sample_has_help_and_type_before_it() {
        let protocol = netloom_session::Protocol::builder("game").build().unwrap();
        let stats = Stats::new(Clock::new(), &protocol, 4);
        stats.ticks.count(netloom_wire::Micros(70));
        let text = stats.prometheus();
        let mut known = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("# ") {
                Some(comment) => {
                    known.extend(comment.strip_prefix("TYPE ").and_then(|rest| rest.split(' ').next()))
                }
                None => assert!(known.iter().any(|name| line.starts_with(name)), "{line}"),
            }
        }
        assert!(
            known.len() > 30 && text.contains("netloom_tick_seconds_bucket{le=\"0.0001\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("netloom_tick_seconds_bucket{le=\"0.00005\"} 0\n"));
    }
}
