//! Who is connected to whom, what they sent and what arrived: the application's side of a run.
//!
//! Each side of each session sends on a *stream* of its own, named in every message by its [`Stamp`]. A side learns
//! the other's stream from the first message that arrives and from then on accepts no other: a message that crosses from
//! one session into another, or outlives its own, is caught by its name.

use std::collections::{BTreeMap, HashMap};

use netloom_proto::{ChannelKind, DisconnectReason, PeerId};
use netloom_wire::Micros;

use crate::check::{ChannelCheck, Promise, Stamp, Violation};

/// What a channel kind promises.
pub fn promise(kind: ChannelKind) -> Promise {
    match kind {
        ChannelKind::Priority | ChannelKind::Ordered => Promise::Ordered,
        ChannelKind::Unordered => Promise::Unordered,
        ChannelKind::Unreliable => Promise::Unreliable,
        ChannelKind::Sequenced => Promise::Sequenced,
    }
}

/// Where one side of a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Asked for, not yet answered.
    Connecting,
    /// In use.
    Connected,
    /// Over, for this reason.
    Ended(DisconnectReason),
    /// Its process was restarted.
    Forgotten,
}

/// One side of one session.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The node.
    pub node: usize,
    /// The node's name for the other side.
    pub peer: PeerId,
    /// Where it stands.
    pub phase: Phase,
    /// When it was asked for, or accepted.
    pub opened_at: Micros,
    /// When it was established.
    pub connected_at: Option<Micros>,
    /// When it ended.
    pub ended_at: Option<Micros>,
    /// Whether it took up the seat of a lost one.
    pub is_resumed: bool,
    /// The stream it sends on.
    pub outgoing: usize,
    /// The stream it receives, once known.
    pub incoming: Option<usize>,
}

/// One direction of one session.
#[derive(Clone, Debug)]
pub struct Stream {
    channels: Vec<ChannelCheck>,
    sent_at: Vec<Vec<Micros>>,
    latencies_ms: Vec<Vec<f64>>,
    payload_bytes: u64,
    is_cut: bool,
}

impl Stream {
    /// The checks, by channel.
    pub fn channels(&self) -> &[ChannelCheck] {
        &self.channels
    }

    /// How long the messages of a channel took, in the order of their delivery.
    pub fn latencies_ms(&self, channel: usize) -> &[f64] {
        &self.latencies_ms[channel]
    }

    /// The bytes of all messages sent.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Whether every reliable message arrived.
    pub fn is_complete(&self) -> bool {
        self.channels.iter().all(ChannelCheck::is_complete)
    }
}

/// All sessions of a run.
#[derive(Debug)]
pub struct Ledger {
    promises: Vec<Promise>,
    connections: Vec<Connection>,
    streams: Vec<Stream>,
    // Only looked up, so its order never shows.
    by_peer: HashMap<(usize, PeerId), usize>,
    connected: BTreeMap<usize, Vec<usize>>,
}

impl Ledger {
    /// A ledger for channels with these promises.
    pub fn new(promises: Vec<Promise>) -> Ledger {
        let (by_peer, connected) = (HashMap::new(), BTreeMap::new());
        Ledger { promises, connections: Vec::new(), streams: Vec::new(), by_peer, connected }
    }

    /// The indices of a node's established connections.
    pub fn connected(&self, node: usize) -> &[usize] {
        self.connected.get(&node).map_or(&[], Vec::as_slice)
    }

    /// All connections, in the order of their opening.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// All streams, in the order of their opening.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The streams of which neither end is over.
    pub fn live_streams(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter().filter(|stream| !stream.is_cut)
    }

    /// The index of a node's connection to a peer.
    pub fn find(&self, node: usize, peer: PeerId) -> Option<usize> {
        self.by_peer.get(&(node, peer)).copied()
    }

    /// A node opened a connection, or accepted one.
    pub fn handle_opened(&mut self, now: Micros, node: usize, peer: PeerId) -> usize {
        let outgoing = self.streams.len();
        let channels = self.promises.iter().copied().map(ChannelCheck::new).collect::<Vec<_>>();
        let (sent_at, latencies_ms) = (vec![Vec::new(); channels.len()], vec![Vec::new(); channels.len()]);
        self.streams.push(Stream { channels, sent_at, latencies_ms, payload_bytes: 0, is_cut: false });
        let index = self.connections.len();
        self.connections.push(Connection {
            node,
            peer,
            phase: Phase::Connecting,
            opened_at: now,
            connected_at: None,
            ended_at: None,
            is_resumed: false,
            outgoing,
            incoming: None,
        });
        self.by_peer.insert((node, peer), index);
        index
    }

    /// The stack reported a connection as established; the other side of a client's request appears here first.
    pub fn handle_connected(
        &mut self,
        now: Micros,
        node: usize,
        peer: PeerId,
        is_resumed: bool,
    ) -> Result<(), Violation> {
        let index = match self.find(node, peer) {
            Some(index) if self.connections[index].phase == Phase::Connecting => index,
            Some(index) if matches!(self.connections[index].phase, Phase::Connected) => {
                return Err(Violation::new(
                    "a session begins once",
                    format!("node {node} was connected again"),
                ));
            }
            _ => self.handle_opened(now, node, peer),
        };
        let connection = &mut self.connections[index];
        connection.phase = Phase::Connected;
        connection.connected_at = Some(now);
        connection.is_resumed = is_resumed;
        self.connected.entry(node).or_default().push(index);
        Ok(())
    }

    /// The stack reported a connection as ended.
    pub fn handle_ended(
        &mut self,
        now: Micros,
        node: usize,
        peer: PeerId,
        reason: DisconnectReason,
    ) -> Result<(), Violation> {
        let rule = "a session ends once";
        let unknown = || Violation::new(rule, format!("node {node} lost a peer that it never had"));
        let index = self.find(node, peer).ok_or_else(unknown)?;
        let connection = &mut self.connections[index];
        if matches!(connection.phase, Phase::Ended(_)) {
            return Err(Violation::new(rule, format!("node {node} lost the same peer twice")));
        }
        connection.phase = Phase::Ended(reason);
        connection.ended_at = Some(now);
        cut(&mut self.streams, connection);
        self.connected.entry(node).or_default().retain(|open| *open != index);
        Ok(())
    }

    /// A node's process died: it knows nothing any more, and its names for peers are free again.
    pub fn handle_restart(&mut self, now: Micros, node: usize) {
        for connection in self.connections.iter_mut().filter(|connection| connection.node == node) {
            if !matches!(connection.phase, Phase::Ended(_)) {
                connection.phase = Phase::Forgotten;
                connection.ended_at = Some(now);
                cut(&mut self.streams, connection);
            }
            self.by_peer.remove(&(node, connection.peer));
        }
        self.connected.remove(&node);
    }

    /// The stamp that the next message of a connection on a channel must carry.
    pub fn next_stamp(&self, connection: usize, channel: u8) -> Stamp {
        let stream = self.connections[connection].outgoing;
        let index = self.streams[stream].channels[usize::from(channel)].next_index();
        Stamp { stream: stream as u32, channel, index }
    }

    /// The message with that stamp was accepted for sending.
    pub fn handle_sent(&mut self, now: Micros, stamp: Stamp, bytes: usize) {
        let stream = &mut self.streams[stamp.stream as usize];
        stream.channels[usize::from(stamp.channel)].handle_sent();
        stream.sent_at[usize::from(stamp.channel)].push(now);
        stream.payload_bytes += bytes as u64;
    }

    /// A message was handed to a node's application.
    pub fn handle_message(
        &mut self,
        now: Micros,
        node: usize,
        peer: PeerId,
        channel: u8,
        message: &[u8],
    ) -> Result<(), Violation> {
        let rule = "messages belong to a session";
        let stamp = Stamp::read(message)?;
        let stream_index = stamp.stream as usize;
        let connection = self.find(node, peer).and_then(|index| self.connections.get_mut(index));
        let connection = connection.filter(|connection| connection.phase == Phase::Connected);
        let outside = || Violation::new(rule, format!("node {node} got a message outside of a session"));
        let connection = connection.ok_or_else(outside)?;
        if *connection.incoming.get_or_insert(stream_index) != stream_index
            || connection.outgoing == stream_index
        {
            return Err(Violation::new(
                rule,
                format!("stream {stream_index} reached a session that is not its own"),
            ));
        }
        if stamp.channel != channel {
            let detail = format!("sent on channel {}, delivered on {channel}", stamp.channel);
            return Err(Violation::new("a message keeps its channel", detail));
        }
        let unknown = || Violation::new(rule, format!("stream {stream_index} does not exist"));
        let stream = self.streams.get_mut(stream_index).ok_or_else(unknown)?;
        stream.channels[usize::from(channel)].handle_delivered(stamp.index)?;
        let sent_at = stream.sent_at[usize::from(channel)][stamp.index as usize];
        stream.latencies_ms[usize::from(channel)].push(now.since(sent_at).as_millis_f64());
        Ok(())
    }

    /// The stack reported what became of a tagged message.
    pub fn handle_outcome(
        &mut self,
        node: usize,
        peer: PeerId,
        tag: u64,
        is_acked: bool,
    ) -> Result<(), Violation> {
        let stamp = stamp_of(tag);
        let connection = self.find(node, peer).map(|index| &self.connections[index]);
        if connection.is_none_or(|connection| connection.outgoing != stamp.stream as usize) {
            return Err(Violation::new(
                "outcomes come back to the sender",
                format!("tag {tag:x} at node {node}"),
            ));
        }
        self.streams[stamp.stream as usize].channels[usize::from(stamp.channel)]
            .handle_outcome(stamp.index, is_acked)
    }
}

/// What one side sent last may never arrive once either side is over.
fn cut(streams: &mut [Stream], connection: &Connection) {
    for stream in [Some(connection.outgoing), connection.incoming].into_iter().flatten() {
        streams[stream].is_cut = true;
    }
}

/// The tag under which a stamped message is sent.
pub fn tag_of(stamp: Stamp) -> u64 {
    u64::from(stamp.stream) << 40 | u64::from(stamp.channel) << 32 | u64::from(stamp.index)
}

fn stamp_of(tag: u64) -> Stamp {
    Stamp { stream: (tag >> 40) as u32, channel: (tag >> 32) as u8, index: tag as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_proto::{Config, Endpoint};

    const NOW: Micros = Micros(1);

    /// Nodes 0 and 1, connected to each other by two sessions: the peers of node 0, then those of node 1.
    fn two_sessions() -> (Ledger, [PeerId; 2]) {
        let mut endpoint = Endpoint::new(Config::default(), None, [0; 32]).unwrap();
        let peers = [1, 2].map(|port| endpoint.connect(NOW, ([10, 0, 0, 1], port).into(), None).unwrap());
        let mut ledger = Ledger::new(vec![Promise::Ordered, Promise::Unreliable]);
        for peer in peers {
            for node in [0, 1] {
                ledger.handle_connected(NOW, node, peer, false).unwrap();
            }
        }
        (ledger, peers)
    }

    /// Sends the next message of a node to a peer and returns its bytes.
    fn sent(ledger: &mut Ledger, node: usize, peer: PeerId, channel: u8) -> Vec<u8> {
        let mut message = Vec::new();
        let stamp = ledger.next_stamp(ledger.find(node, peer).unwrap(), channel);
        stamp.write(40, &mut message);
        ledger.handle_sent(NOW, stamp, message.len());
        message
    }

    fn rule(result: Result<(), Violation>) -> &'static str {
        result.unwrap_err().rule
    }

    #[test]
    fn a_message_may_not_cross_into_another_session() {
        let (mut ledger, [first, second]) = two_sessions();
        let messages = [sent(&mut ledger, 0, first, 0), sent(&mut ledger, 0, first, 0)];
        ledger.handle_message(NOW, 1, first, 0, &messages[0]).unwrap();
        let other = sent(&mut ledger, 0, second, 0);
        assert_eq!(rule(ledger.handle_message(NOW, 1, first, 0, &other)), "messages belong to a session");
        let echoed = ledger.handle_message(NOW, 0, first, 0, &messages[1]);
        assert_eq!(rule(echoed), "messages belong to a session", "its own sender got it");
    }

    #[test]
    fn a_message_keeps_its_channel() {
        let (mut ledger, [peer, _]) = two_sessions();
        let message = sent(&mut ledger, 0, peer, 0);
        assert_eq!(rule(ledger.handle_message(NOW, 1, peer, 1, &message)), "a message keeps its channel");
    }

    #[test]
    fn nothing_arrives_after_the_end() {
        let (mut ledger, [peer, _]) = two_sessions();
        let message = sent(&mut ledger, 0, peer, 0);
        ledger.handle_ended(NOW, 1, peer, DisconnectReason::Timeout).unwrap();
        assert_eq!(rule(ledger.handle_message(NOW, 1, peer, 0, &message)), "messages belong to a session");
        assert_eq!(rule(ledger.handle_ended(NOW, 1, peer, DisconnectReason::Timeout)), "a session ends once");
    }

    #[test]
    fn a_session_begins_once_and_only_known_ones_end() {
        let (mut ledger, [peer, _]) = two_sessions();
        assert_eq!(rule(ledger.handle_connected(NOW, 0, peer, false)), "a session begins once");
        assert_eq!(rule(ledger.handle_ended(NOW, 7, peer, DisconnectReason::Timeout)), "a session ends once");
    }

    #[test]
    fn outcomes_return_to_the_sender_alone() {
        let (mut ledger, [first, second]) = two_sessions();
        sent(&mut ledger, 0, first, 1);
        let tag = tag_of(Stamp { stream: 0, channel: 1, index: 0 });
        assert_eq!(rule(ledger.handle_outcome(0, second, tag, true)), "outcomes come back to the sender");
        ledger.handle_outcome(0, first, tag, true).unwrap();
        assert_eq!(rule(ledger.handle_outcome(0, first, tag, true)), "a tagged message has one outcome");
    }

    #[test]
    fn a_restart_cuts_the_streams_of_a_node_and_frees_its_names() {
        let (mut ledger, [peer, _]) = two_sessions();
        ledger.handle_restart(NOW, 0);
        assert!(ledger.connected(0).is_empty() && ledger.find(0, peer).is_none());
        assert_eq!(ledger.live_streams().count(), 2, "those of node 1, which has not noticed");
        ledger.handle_connected(NOW, 0, peer, false).unwrap();
    }
}
