//! One node's turn: events out, messages in, datagrams out.

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::{DisconnectReason, Event, SendError};

use super::ledger::tag_of;
use super::observer::Sent;
use super::{Flow, Phase, World};
use crate::check::{KeyHolder, Violation, at_most};
use crate::runner::Failure;

/// Messages that a greedy flow offers per tick at most, so that a channel without a limit shows instead of hanging.
const GREEDY_MESSAGES_MAX: usize = 4_096;

/// Connected, disconnected and outcomes are not messages and need no room among them.
const EVENTS_BEYOND_LIMIT_MAX: usize = 2_048;

impl World {
    /// Hands a node's events to the ledger.
    pub(super) fn take_events(&mut self, index: usize) -> Result<(), Violation> {
        let node = &mut self.nodes[index];
        while let Some((peer, event)) = node.endpoint.poll_event() {
            match event {
                Event::Connected { resumed_from, resume } => {
                    node.resume_token = resume;
                    self.ledger.handle_connected(self.now, index, peer, resumed_from.is_some())?;
                }
                Event::Message { channel, data } => {
                    self.ledger.handle_message(self.now, index, peer, channel, data)?;
                }
                Event::Outcome { tag, acked } => self.ledger.handle_outcome(index, peer, tag, acked)?,
                Event::Disconnected { reason, .. } => {
                    self.ledger.handle_ended(self.now, index, peer, reason)?;
                }
            }
        }
        Ok(())
    }

    /// Sends what the application has for each of its peers.
    pub(super) fn send_traffic(&mut self, index: usize) -> Result<(), Violation> {
        if self.now >= self.nodes[index].setup.traffic_until {
            return Ok(());
        }
        let mut place = 0;
        while let Some(&connection) = self.ledger.connected(index).get(place) {
            place += 1;
            for flow in 0..self.nodes[index].setup.traffic.len() {
                self.send_flow(index, connection, self.nodes[index].setup.traffic[flow])?;
            }
            self.check_memory(index, connection)?;
        }
        Ok(())
    }

    fn send_flow(&mut self, index: usize, connection: usize, flow: Flow) -> Result<(), Violation> {
        let node = &mut self.nodes[index];
        let peer = self.ledger.connections()[connection].peer;
        let most = if flow.is_greedy { GREEDY_MESSAGES_MAX } else { 1 };
        for _ in 0..most {
            let Some(bytes) = flow.draw(&mut node.rng) else {
                break;
            };
            let stamp = self.ledger.next_stamp(connection, flow.channel);
            stamp.write(bytes, &mut self.message);
            let sent = match flow.is_tagged {
                true => node.endpoint.send_tagged(peer, flow.channel, &self.message, tag_of(stamp)),
                false => node.endpoint.send(peer, flow.channel, &self.message),
            };
            match sent {
                Ok(()) => self.ledger.handle_sent(self.now, stamp, self.message.len()),
                // A full channel is the application's signal to wait; one that is about to end says so in an event.
                Err(SendError::Full { .. } | SendError::NotConnected) => break,
                Err(error) => return Err(Violation::new("a valid message is taken", error.to_string())),
            }
        }
        Ok(())
    }

    fn check_memory(&self, index: usize, connection: usize) -> Result<(), Violation> {
        let node = &self.nodes[index];
        let Some(stats) = node.endpoint.stats(self.ledger.connections()[connection].peer) else {
            return Ok(());
        };
        let channels = &node.setup.config.channels;
        let pending_max: usize = channels.iter().map(|channel| channel.pending_bytes_max).sum();
        let waiting_max: usize = channels.iter().map(|channel| channel.receive_bytes_max).sum();
        at_most("what waits to be sent is bounded", stats.pending_bytes as u64, pending_max as u64)?;
        at_most(
            "what waits for its predecessors is bounded",
            stats.waiting_bytes as u64,
            waiting_max as u64,
        )?;
        let events_max = node.setup.config.events_queued_max + EVENTS_BEYOND_LIMIT_MAX;
        at_most("the events that wait are bounded", stats.queue_depth as u64, events_max as u64)
    }

    /// Puts a node's datagrams on the network.
    pub(super) fn transmit(&mut self, index: usize) -> Result<(), Violation> {
        let node = &mut self.nodes[index];
        let local = node.local(self.now);
        let mut buffer = [0; DATAGRAM_MAX];
        while let Some(transmit) = node.endpoint.poll_transmit(local, &mut buffer) {
            let length = match node.setup.tamper {
                Some(tamper) => tamper(&mut node.rng, &node.setup.config, &mut buffer, transmit.length),
                None => transmit.length,
            };
            let datagram = &buffer[..length];
            self.observer.handle_sent(&Sent {
                sender: node.setup.socket,
                external: self.network.external(node.setup.socket),
                is_server: node.is_listening(),
                to: transmit.to,
                mtu: node.setup.config.mtu,
                datagram,
            })?;
            self.network.send(self.now, node.setup.socket, transmit.to, datagram);
        }
        Ok(())
    }

    /// Looks at the keys of a node's sessions, the half-open ones included.
    pub(super) fn check_keys(&mut self, index: usize) -> Result<(), Violation> {
        let node = &self.nodes[index];
        for peer in node.endpoint.peers() {
            if let Some(fingerprint) = node.endpoint.key_fingerprint(peer) {
                let holder = KeyHolder { node: node.setup.socket, start: node.starts, peer };
                self.observer.handle_key(fingerprint, node.is_listening(), holder)?;
            }
        }
        Ok(())
    }

    /// A client whose connection was lost tries again, with its token if it has one.
    pub(super) fn reconnect_if_lost(&mut self, index: usize) -> Result<(), Failure> {
        let node = &mut self.nodes[index];
        let Some(server) = node.server.filter(|_| node.setup.reconnects) else {
            return Ok(());
        };
        let is_lost = self.newest_connection(index).is_some_and(|connection| {
            matches!(connection.phase, Phase::Ended(reason) if reason != DisconnectReason::Requested)
        });
        if !is_lost {
            return Ok(());
        }
        let token = self.nodes[index].resume_token.take();
        self.connect(index, server, token)
    }
}
