//! What a server does, for whoever wants to see it while it runs.
//!
//! A dashboard, a monitor and the game itself look at a server at moments of their own choosing, from threads of their own. None of
//! them may make the game's thread wait. So that thread writes what it knows into rows of atomic numbers, four times a second,
//! and readers copy rows out; a row that was written meanwhile is read again.
//!
//! ```text
//!   game's thread: tick, tick, tick ─▶ Recorder ─▶ [ summary | room, … | peer, peer, … | class, … | rejects | histogram of ticks ]
//!                                                        │ no lock, nobody waits
//!   any thread:                                    Stats::{summary, rooms, peers, …}, Stats::prometheus
//! ```
//!
//! [`Server::stats`](crate::Server::stats) gives the [`Stats`] of a server; they outlive it.

mod histogram;
mod prometheus;
mod recorder;
mod rejects;
mod row;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use netloom_session::Protocol;
use netloom_wire::Micros;

pub use histogram::{TICK_BUCKETS_US, TickTimes};
pub(crate) use recorder::Recorder;
pub use rejects::{RejectKind, RejectStats};

use crate::clock::Clock;
use histogram::Histogram;
use rejects::Rejects;
use row::{Row, Text, number, word};

/// How often rows are written, about: once at least in twice this time.
pub const STATS_INTERVAL: Micros = Micros::from_millis(250);
/// Peers that have a row at most; the summary counts all of them.
pub const PEER_ROWS_MAX: usize = 4_096;
/// Rooms that have a row at most; the summary counts all of them.
pub const ROOM_ROWS_MAX: usize = 1_024;
/// Without a tick for so long, a server is not well: it makes many a second.
pub const STALL: Micros = Micros::from_secs(2);

const SUMMARY_WORDS: usize = 16;
const ROOM_FIGURES: usize = 12;
const ROOM_WORDS: usize = ROOM_FIGURES + Text::WORDS;
const PEER_FIGURES: usize = 15;
const PEER_WORDS: usize = PEER_FIGURES + Text::WORDS + TRANSPORT_WORDS;
const CLASS_WORDS: usize = 7;
/// Names of transports have 16 bytes.
const TRANSPORT_WORDS: usize = 2;

/// The server in ten figures, and a few that they are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Bytes a second that are sent to all peers, without IP and UDP headers.
    pub bytes_sent_per_sec: f64,
    /// Bytes a second that arrive from all peers.
    pub bytes_recv_per_sec: f64,
    /// The round trip, in the mean of all peers.
    pub ping_ms: f64,
    /// The share of packets that are lost, in the mean of all peers.
    pub packet_loss_pct: f64,
    /// How much round trips vary, in the mean of all peers.
    pub jitter_ms: f64,
    /// Players and watchers who are connected.
    pub connected_peers: u64,
    /// Objects in all rooms.
    pub replicated_objects: u64,
    /// Ticks in which codes found no room in their memory.
    pub arena_overflows: u64,
    /// Snapshots that a room makes in a second, in the mean of all rooms.
    pub effective_send_rate: f64,
    /// Events that wait for the peer for which most wait.
    pub queue_depth: u64,
    /// Bytes sent so far.
    pub bytes_sent: u64,
    /// Bytes received so far.
    pub bytes_received: u64,
    /// Datagrams of the transports that were dropped on this machine.
    pub datagrams_dropped: u64,
    /// Datagrams that were refused: damaged, forged, repeated, of another game.
    pub datagrams_refused: u64,
    /// The longest tick of the last second.
    pub longest_tick_ms: f64,
    /// When all figures were written, counted from the beginning of the server: what rates over a longer time are divided by.
    pub written_at: Micros,
}

/// A room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoomStats {
    /// Its name.
    pub name: String,
    /// Its number.
    pub room: u32,
    /// Players and watchers in it.
    pub players: u64,
    /// Objects in it.
    pub objects: u64,
    /// Steps so far.
    pub steps: u64,
    /// Steps whose time passed without them being made.
    pub steps_skipped: u64,
    /// Snapshots sent so far.
    pub snapshots: u64,
    /// Bytes of snapshots sent so far.
    pub snapshot_bytes: u64,
    /// Inputs that the game refused.
    pub rejected_inputs: u64,
    /// Messages for which there was no room, or nobody to send to.
    pub undelivered: u64,
    /// Ticks in which codes found no room in their memory.
    pub arena_overflows: u64,
    /// Players' calls that reached the game.
    pub calls: u64,
    /// Players' calls that were refused.
    pub refused_calls: u64,
}

/// A peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerStats {
    /// The name of the player.
    pub name: String,
    /// What carries its packets: `udp`, `tcp`, `websocket`, `webtransport`, `memory`, or `custom` for a transport of the game's own.
    pub transport: String,
    /// The player.
    pub player: u32,
    /// The number of the room.
    pub room: u32,
    /// Bytes a second that are sent to it.
    pub bytes_sent_per_sec: f64,
    /// Bytes a second that arrive from it.
    pub bytes_recv_per_sec: f64,
    /// The round trip.
    pub ping_ms: f64,
    /// The share of packets that are lost.
    pub packet_loss_pct: f64,
    /// How much the round trip varies.
    pub jitter_ms: f64,
    /// Bytes a second that may be sent to it.
    pub budget_bytes_per_sec: u64,
    /// Bytes that wait to be sent or acknowledged.
    pub pending_bytes: u64,
    /// Events that wait.
    pub queue_depth: u64,
    /// How much of the world has arrived there.
    pub objects_held: u64,
    /// How much of the world it sees.
    pub objects_seen: u64,
    /// Snapshots a second that it gets, as adapted to its connection.
    pub send_rate: f64,
    /// Bytes sent to it so far.
    pub bytes_sent: u64,
    /// Bytes received from it so far.
    pub bytes_received: u64,
}

/// The objects of a class, in all rooms; what was sent about them counts since the server began. Of updates a sample is counted for all:
/// see [`tally`](netloom_replica::server::tally).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// The name of the class.
    pub name: String,
    /// How many there are.
    pub objects: u64,
    /// Changes of objects that were sent to peers.
    pub updates: u64,
    /// Bytes of those.
    pub update_bytes: u64,
    /// How often an object was told anew: it came into sight, or was repeated.
    pub entries: u64,
    /// Bytes of those.
    pub entry_bytes: u64,
    /// Values of reliable fields.
    pub values: u64,
    /// Bytes of those.
    pub value_bytes: u64,
}

impl ClassStats {
    /// Everything that was sent about them.
    pub fn bytes(&self) -> u64 {
        self.update_bytes + self.entry_bytes + self.value_bytes
    }
}

/// The figures of a server. Reading them never makes the server wait.
#[derive(Debug)]
pub struct Stats {
    clock: Clock,
    game: Box<str>,
    summary: Row<SUMMARY_WORDS>,
    rooms: Rows<ROOM_WORDS>,
    peers: Rows<PEER_WORDS>,
    class_names: Box<[Box<str>]>,
    /// As many as there are names.
    classes: Box<[Row<CLASS_WORDS>]>,
    rejects: Rejects,
    ticks: Histogram,
    /// When the last tick ended.
    ticked_us: AtomicU64,
    is_stopping: AtomicBool,
}

/// As many rows as are in use, of as many as there may be.
#[derive(Debug)]
struct Rows<const WORDS: usize> {
    rows: Box<[Row<WORDS>]>,
    used: AtomicUsize,
}

impl<const WORDS: usize> Rows<WORDS> {
    fn new(max: usize) -> Rows<WORDS> {
        Rows { rows: (0..max).map(|_| Row::new()).collect(), used: AtomicUsize::new(0) }
    }

    fn write(&self, rows: impl Iterator<Item = [u64; WORDS]>) {
        // All are asked for, also those that have no row: the summary counts them.
        let mut count = 0;
        for words in rows {
            if let Some(row) = self.rows.get(count) {
                row.write(&words);
                count += 1;
            }
        }
        self.used.store(count, Ordering::Relaxed);
    }

    fn read(&self) -> impl Iterator<Item = [u64; WORDS]> {
        let used = self.used.load(Ordering::Relaxed);
        self.rows.iter().take(used).filter_map(Row::read)
    }
}

impl Stats {
    pub(crate) fn new(clock: Clock, protocol: &Protocol, peers_max: usize) -> Stats {
        let classes = protocol.classes();
        Stats {
            clock,
            game: protocol.name().into(),
            class_names: classes.iter().map(|class| class.schema().name().into()).collect(),
            classes: classes.iter().map(|_| Row::new()).collect(),
            rejects: Rejects::new(),
            summary: Row::new(),
            rooms: Rows::new(ROOM_ROWS_MAX),
            peers: Rows::new(peers_max.min(PEER_ROWS_MAX)),
            ticks: Histogram::new(),
            ticked_us: AtomicU64::new(0),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// The server as a whole.
    pub fn summary(&self) -> Summary {
        self.summary.read().map(Summary::from_words).unwrap_or_default()
    }

    /// Its rooms.
    pub fn rooms(&self) -> Vec<RoomStats> {
        self.rooms.read().map(RoomStats::from_words).collect()
    }

    /// Those who are connected.
    pub fn peers(&self) -> Vec<PeerStats> {
        self.peers.read().map(PeerStats::from_words).collect()
    }

    /// Kinds of objects, in the order of the protocol.
    pub fn classes(&self) -> Vec<ClassStats> {
        let rows = self.class_names.iter().zip(&self.classes);
        rows.filter_map(|(name, row)| Some(ClassStats::from_words(name, row.read()?))).collect()
    }

    /// What was refused, for every reason there is.
    pub fn rejects(&self) -> Vec<RejectStats> {
        self.rejects.read()
    }

    /// The name of the game.
    pub fn game(&self) -> &str {
        &self.game
    }

    /// How long the ticks took in which a room made a step.
    pub fn ticks(&self) -> TickTimes {
        self.ticks.read()
    }

    /// How long the server has been there.
    pub fn uptime(&self) -> Micros {
        self.clock.now()
    }

    /// Whether it ticks, and is not about to stop; if not, why.
    pub fn health(&self) -> Result<(), &'static str> {
        let ticked = Micros(self.ticked_us.load(Ordering::Relaxed));
        match self.clock.now().since(ticked) {
            _ if self.is_stopping.load(Ordering::Relaxed) => Err("stopping"),
            silence if silence > STALL => Err("stalled: the server makes no ticks"),
            _ => Ok(()),
        }
    }

    /// Everything as Prometheus reads it (text format 0.0.4).
    pub fn prometheus(&self) -> String {
        prometheus::text(self)
    }

    pub(crate) fn set_stopping(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }
}

impl Summary {
    fn to_words(self) -> [u64; SUMMARY_WORDS] {
        [
            word(self.bytes_sent_per_sec),
            word(self.bytes_recv_per_sec),
            word(self.ping_ms),
            word(self.packet_loss_pct),
            word(self.jitter_ms),
            self.connected_peers,
            self.replicated_objects,
            self.arena_overflows,
            word(self.effective_send_rate),
            self.queue_depth,
            self.bytes_sent,
            self.bytes_received,
            self.datagrams_dropped,
            self.datagrams_refused,
            word(self.longest_tick_ms),
            self.written_at.0,
        ]
    }

    fn from_words(words: [u64; SUMMARY_WORDS]) -> Summary {
        Summary {
            bytes_sent_per_sec: number(words[0]),
            bytes_recv_per_sec: number(words[1]),
            ping_ms: number(words[2]),
            packet_loss_pct: number(words[3]),
            jitter_ms: number(words[4]),
            connected_peers: words[5],
            replicated_objects: words[6],
            arena_overflows: words[7],
            effective_send_rate: number(words[8]),
            queue_depth: words[9],
            bytes_sent: words[10],
            bytes_received: words[11],
            datagrams_dropped: words[12],
            datagrams_refused: words[13],
            longest_tick_ms: number(words[14]),
            written_at: Micros(words[15]),
        }
    }
}

impl RoomStats {
    fn from_words(words: [u64; ROOM_WORDS]) -> RoomStats {
        RoomStats {
            room: words[0] as u32,
            players: words[1],
            objects: words[2],
            steps: words[3],
            steps_skipped: words[4],
            snapshots: words[5],
            snapshot_bytes: words[6],
            rejected_inputs: words[7],
            undelivered: words[8],
            arena_overflows: words[9],
            calls: words[10],
            refused_calls: words[11],
            name: Text::read(&words[ROOM_FIGURES..]),
        }
    }
}

impl PeerStats {
    fn from_words(words: [u64; PEER_WORDS]) -> PeerStats {
        PeerStats {
            player: words[0] as u32,
            room: words[1] as u32,
            bytes_sent_per_sec: number(words[2]),
            bytes_recv_per_sec: number(words[3]),
            ping_ms: number(words[4]),
            packet_loss_pct: number(words[5]),
            jitter_ms: number(words[6]),
            budget_bytes_per_sec: words[7],
            pending_bytes: words[8],
            queue_depth: words[9],
            objects_held: words[10],
            objects_seen: words[11],
            send_rate: number(words[12]),
            bytes_sent: words[13],
            bytes_received: words[14],
            name: Text::read(&words[PEER_FIGURES..PEER_FIGURES + Text::WORDS]),
            transport: Text::read(&words[PEER_FIGURES + Text::WORDS..]),
        }
    }
}

impl ClassStats {
    fn from_words(name: &str, words: [u64; CLASS_WORDS]) -> ClassStats {
        ClassStats {
            name: name.to_owned(),
            objects: words[0],
            updates: words[1],
            update_bytes: words[2],
            entries: words[3],
            entry_bytes: words[4],
            values: words[5],
            value_bytes: words[6],
        }
    }
}
