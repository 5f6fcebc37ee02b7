//! Packets as they are made.

use std::net::SocketAddr;

use netloom_wire::Micros;

use super::incoming::{CONFIRM, GOODBYE, IP_UDP_BYTES};
use super::outbox::Packing;
use super::path::PROOF_BYTES;
use super::{Connection, Context};
use crate::config::{Config, Redundancy};
use crate::crypto::Checksum;
use crate::frame::{FRAME_HEAD_MAX, FrameWriter};
use crate::limits::BLOCK_BYTES_MAX;
use crate::packet::{self, CRC_BYTES, HEADER_MAX, Header, PacketType, TAG_BYTES};
use crate::redundancy::Repeats;
use crate::sent::Outgoing;
use crate::state::State;

/// A path challenge, with header and tag.
pub(super) const CHALLENGE_BYTES: usize = HEADER_MAX + PROOF_BYTES + TAG_BYTES;

/// While more than this is under way, every acknowledgement is wanted: they say how much the path carries.
const QUIET_IN_FLIGHT_MAX: usize = 16;

/// How often a goodbye is repeated until it is confirmed.
const GOODBYE_RESEND: Micros = Micros::from_millis(100);

/// The largest message that travels in one packet, whatever else the packet needs.
pub(crate) const fn whole_message_max(mtu: usize) -> usize {
    mtu - HEADER_MAX - TAG_BYTES - 1 - FRAME_HEAD_MAX
}

impl Connection {
    /// The next datagram to send now: where to, and its length in `out`, which must hold an mtu.
    pub fn poll_transmit(
        &mut self,
        now: Micros,
        out: &mut [u8],
        context: &mut Context<'_>,
    ) -> Option<(SocketAddr, usize)> {
        match self.state {
            State::Connecting => self.poll_handshake(now, out, context.config),
            State::Connected => self.poll_connected(now, out, context),
            State::Disconnecting => {
                let goodbye = self.goodbye.as_mut().filter(|goodbye| now >= goodbye.next_send)?;
                goodbye.next_send = now + GOODBYE_RESEND;
                let payload = [GOODBYE, goodbye.reason.code()];
                self.send_small(now, PacketType::Disconnect, &payload, self.address, out, context.checksum)
            }
            State::Disconnected => {
                let due = std::mem::take(&mut self.confirm_due);
                due.then(|| {
                    self.send_small(
                        now,
                        PacketType::Disconnect,
                        &[CONFIRM, 0],
                        self.address,
                        out,
                        context.checksum,
                    )
                })
                .flatten()
            }
        }
    }

    fn poll_handshake(
        &mut self,
        now: Micros,
        out: &mut [u8],
        config: &Config,
    ) -> Option<(SocketAddr, usize)> {
        if let Some(handshake) = &mut self.handshake {
            let length = handshake.poll_transmit(now, config, out)?;
            self.count_sent(now, length);
            return Some((self.address, length));
        }
        let accepting = self.accepting.as_mut().filter(|accepting| accepting.is_due)?;
        accepting.is_due = false;
        let length = accepting.packet.len();
        out[..length].copy_from_slice(&accepting.packet);
        self.count_sent(now, length);
        Some((self.address, length))
    }

    fn poll_connected(
        &mut self,
        now: Micros,
        out: &mut [u8],
        context: &mut Context<'_>,
    ) -> Option<(SocketAddr, usize)> {
        if let Some(sent) = self.poll_path(now, out, context) {
            return Some(sent);
        }
        if self.data_deadline(now, context.config).is_some_and(|deadline| now >= deadline)
            && let Some(length) = self.write_data(now, out, context)
        {
            return Some((self.address, length));
        }
        let is_quiet = self.is_greeting_due || now - self.last_sent >= context.config.keepalive;
        if is_quiet && self.sent.has_room() {
            return self.send_small(now, PacketType::KeepAlive, &[], self.address, out, context.checksum);
        }
        if self.question_at(context.config).is_some_and(|at| now >= at) {
            self.unanswered_probes = self.unanswered_probes.saturating_add(1);
            return self.send_small(now, PacketType::KeepAlive, &[], self.address, out, context.checksum);
        }
        if self.window.ack_at().is_some_and(|at| now >= at) {
            return self.send_small(now, PacketType::Ack, &[], self.address, out, context.checksum);
        }
        None
    }

    /// What is to be said about addresses.
    #[inline]
    fn poll_path(
        &mut self,
        now: Micros,
        out: &mut [u8],
        context: &Context<'_>,
    ) -> Option<(SocketAddr, usize)> {
        let path = self.path.as_mut()?;
        if let Some(proof) = path.answer.take() {
            let (kind, to) = (PacketType::PathResponse, self.address);
            return self.send_small(now, kind, &proof, to, out, context.checksum);
        }
        let probe = path.probe.as_mut()?;
        let (proof, to) = (probe.poll_challenge(now, CHALLENGE_BYTES)?, probe.address());
        self.send_small(now, PacketType::PathChallenge, &proof, to, out, context.checksum)
    }

    /// When a data packet may go: as soon as there is something to send and the rate allows it.
    pub(super) fn data_deadline(&mut self, now: Micros, config: &Config) -> Option<Micros> {
        if !self.sent.has_room() {
            return None;
        }
        let (ready, bytes) = match self.outbox.due_len() {
            Some(bytes) => (now, bytes),
            None => (self.tail_at(config)?, BLOCK_BYTES_MAX),
        };
        Some(self.rate.next_send(now, datagram_cost(bytes)).max(ready))
    }

    /// When a packet is made for what waits to be repeated.
    fn tail_at(&self, config: &Config) -> Option<Micros> {
        let waiting_since = self.history.waiting_since().filter(|_| self.redundancy != Redundancy::Off);
        waiting_since.map(|since| since + config.tail_delay)
    }

    fn write_data(&mut self, now: Micros, out: &mut [u8], context: &mut Context<'_>) -> Option<usize> {
        let number = self.sent.next_number();
        let (ack, reported) = self.window.acknowledge(now).unzip();
        let header = Header {
            kind: PacketType::Data,
            session: self.session,
            number: number as u16,
            ack,
            protected: false,
        };
        let header_len = header.write(out);
        let affordable = self.rate.budget(now).saturating_sub(IP_UDP_BYTES);
        let end = context.config.mtu.min(affordable).saturating_sub(self.session.trailer_bytes());
        let mut writer = FrameWriter::new(out.get_mut(header_len..end).filter(|room| !room.is_empty())?);
        let is_tail_due = self.tail_at(context.config).is_some_and(|at| now >= at);
        // Where packets get lost, whoever sent one has to hear of it soon.
        let is_lossless = self.rate.loss().per_mille() == 0;
        let can_wait = is_lossless && self.sent.in_flight() < QUIET_IN_FLIGHT_MAX;
        let (table, sent) = (context.table, &mut self.sent);
        let mut packing = Packing { number, table, writer: &mut writer, sent, can_wait };
        let for_lost = self.outbox.fill(&mut packing, context.pool);
        // A packet with nothing new in it goes between others: redundancy stays with them unless they fail to come.
        let has_new = !packing.writer.is_empty();
        let repeats = match has_new || is_tail_due {
            true => {
                let reserve = for_lost.unwrap_or(0);
                self.history.write(now, number, self.redundancy, reserve, packing.writer)
            }
            false => Repeats::Nothing,
        };
        let (mut block_len, mut block_runs) = (0, 0);
        if for_lost.is_some() {
            self.counters.resends += self.outbox.fill_lost(&mut packing);
            let is_protected = has_new || self.history.waiting_since().is_none();
            if is_protected && self.redundancy != Redundancy::Off {
                let block = packing.writer.block();
                if block.0 <= BLOCK_BYTES_MAX {
                    (block_len, block_runs) = block;
                }
            }
        }
        if packing.writer.is_empty() {
            return None;
        }
        let is_quiet = packing.can_wait && matches!(repeats, Repeats::Nothing);
        let payload_len = writer.finish();
        self.counters.blocks_repeated += repeats.frames();
        if is_quiet {
            packet::quieten(out);
        }
        if block_len > 0 {
            packet::protect(out);
            let block = &out[header_len + 1..header_len + 1 + block_len];
            self.history.handle_sent(now, number, self.redundancy, block);
        }
        let bytes = self.close(number, out, header_len, header_len + payload_len, context.checksum);
        self.last_eliciting = now;
        self.rate.handle_sent(now, bytes + IP_UDP_BYTES);
        self.sent.handle_sent(now, Outgoing { bytes, elicits_ack: true, reported, block_runs, repeats });
        self.window.handle_acknowledged(reported);
        self.count_sent(now, bytes);
        Some(bytes)
    }

    /// A packet that carries no messages.
    fn send_small(
        &mut self,
        now: Micros,
        kind: PacketType,
        payload: &[u8],
        to: SocketAddr,
        out: &mut [u8],
        checksum: Checksum,
    ) -> Option<(SocketAddr, usize)> {
        if !self.sent.has_room_for_untracked() {
            return None;
        }
        let number = self.sent.next_number();
        let (ack, reported) = self.window.acknowledge(now).unzip();
        let header = Header { kind, session: self.session, number: number as u16, ack, protected: false };
        let header_len = header.write(out);
        let end = header_len + payload.len();
        out.get_mut(header_len..end)?.copy_from_slice(payload);
        let length = self.close(number, out, header_len, end, checksum);
        if kind.elicits_ack() {
            self.last_eliciting = now;
            self.rate.handle_sent(now, length + IP_UDP_BYTES);
        }
        let elicits_ack = kind.elicits_ack();
        self.sent.handle_sent(now, Outgoing { bytes: length, elicits_ack, reported, ..Outgoing::default() });
        self.window.handle_acknowledged(reported);
        self.count_sent(now, length);
        Some((to, length))
    }

    /// Seals a packet, or ends it with its checksum; returns its length.
    fn close(&self, number: u64, out: &mut [u8], header_len: usize, end: usize, checksum: Checksum) -> usize {
        match &self.keys {
            Some(keys) => {
                #[cfg(netloom_mutations)]
                let number = if crate::mutation::is(crate::mutation::Mutation::NumberReused) {
                    number & !1
                } else {
                    number
                };
                keys.seal.seal(number, out, header_len, end)
            }
            None => {
                let crc = checksum.of(&out[..end]);
                out[end..end + CRC_BYTES].copy_from_slice(&crc.to_le_bytes());
                end + CRC_BYTES
            }
        }
    }

    fn count_sent(&mut self, now: Micros, bytes: usize) {
        self.last_sent = now;
        self.is_greeting_due = false;
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += bytes as u64;
    }
}

/// What a datagram with one message of this length costs at least.
fn datagram_cost(message_bytes: usize) -> usize {
    message_bytes + FRAME_HEAD_MAX + 1 + HEADER_MAX + TAG_BYTES + IP_UDP_BYTES
}
