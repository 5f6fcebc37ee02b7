//! Packets as they arrive: checked in the order of [`Rejection`], then believed.

use std::net::SocketAddr;

use netloom_wire::Micros;

use super::path::{PROOF_BYTES, PathProbe};
use super::{Connection, Context, Keys, report, session_ref};
use crate::channel::Receiver;
use crate::config::ChannelKind;
use crate::crypto::SessionKeys;
use crate::frame::{ChannelTable, Frame, Frames, LinkFrame, MessageFrame};
use crate::handshake::{Challenge, Reject};
use crate::packet::{Ack, CRC_BYTES, Header, PacketType};
use crate::reason::DisconnectReason;
use crate::receive::Answer;
use crate::sent::{Carried, Verdict};
use crate::state::State;
use crate::validate::Rejection;

/// What IP and UDP add to a datagram; the rate counts it, so that many small packets are not free.
pub(super) const IP_UDP_BYTES: usize = 28;

/// The first byte of a Disconnect's payload.
pub(super) const GOODBYE: u8 = 0;
pub(super) const CONFIRM: u8 = 1;

impl Connection {
    /// A Challenge for this client's attempt.
    pub fn handle_challenge(
        &mut self,
        now: Micros,
        datagram: &[u8],
        context: &Context<'_>,
    ) -> Result<(), Rejection> {
        let challenge = Challenge::parse(datagram, context.config.protocol_id)?;
        let handshake = self.handshake.as_mut().ok_or(Rejection::Unsolicited)?;
        handshake.handle_challenge(now, &challenge, context.config)
    }

    /// An Accept for this client's attempt.
    pub fn handle_accept(
        &mut self,
        now: Micros,
        datagram: &mut [u8],
        context: &Context<'_>,
    ) -> Result<(), Rejection> {
        let handshake = self.handshake.as_ref().ok_or(Rejection::Unsolicited)?;
        let (accept, keys) = handshake.handle_accept(datagram, context.config)?;
        self.session_id = accept.session_id;
        self.session = session_ref(keys.is_some(), accept.session_id, Some(accept.alias));
        self.keys = keys.map(|keys| {
            let SessionKeys { to_server: seal, to_client: open, fingerprint } = keys;
            Box::new(Keys { seal, open, fingerprint })
        });
        self.become_connected(now, Some(accept.resume));
        // The server is connected only when it hears from us.
        self.is_greeting_due = true;
        Ok(())
    }

    /// A Reject for this client's attempt.
    pub fn handle_reject_packet(
        &mut self,
        now: Micros,
        datagram: &[u8],
        context: &Context<'_>,
    ) -> Result<(), Rejection> {
        let reject = Reject::parse(datagram, context.config.protocol_id)?;
        match &self.handshake {
            Some(handshake) if handshake.is_answered_by(&reject) => {
                self.handle_reject(now, reject.reason, reject.detail);
                Ok(())
            }
            _ => Err(Rejection::Unsolicited),
        }
    }

    /// The client repeats its Response: it has not got our Accept.
    pub fn repeat_accept(&mut self) {
        if let Some(accepting) = &mut self.accepting {
            accepting.is_due = true;
        }
    }

    /// A packet of the session.
    pub fn handle_packet(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &mut [u8],
        (header, header_len): (Header, usize),
        context: &mut Context<'_>,
    ) -> Result<(), Rejection> {
        let length = datagram.len();
        self.check_allowed(header.kind)?;
        if header.session.is_sealed() != self.is_sealed() {
            return Err(Rejection::WrongSecurity);
        }
        let is_elsewhere = from != self.address;
        if is_elsewhere && !self.is_sealed() {
            return Err(Rejection::WrongAddress);
        }
        let number = self.window.expand(header.number);
        self.window.check(number)?;
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::WindowBeforeAuthentication) {
            self.window.insert(number, true);
        }
        let payload = self.authenticate(number, datagram, header_len, context)?;
        let acked = match &header.ack {
            None => None,
            Some(ack) => Some(self.sent.expand(ack.newest).map_err(|_| Rejection::AckOfUnsent)?),
        };
        let contents = Contents::check(&header, payload, context.table)?;

        // From here on the packet is believed.
        let is_newest = self.window.newest().is_none_or(|newest| number > newest);
        self.last_received = now;
        self.counters.packets_received += 1;
        self.counters.bytes_received += length as u64;
        if self.state == State::Connecting {
            self.become_connected(now, None);
        }
        if is_elsewhere && is_newest {
            self.examine_address(now, from, length, context);
        }
        if let (Some(ack), Some(newest)) = (header.ack, acked)
            && self.state != State::Disconnected
        {
            self.handle_ack(now, newest, ack, context);
        }
        let answer = contents.answer(header.kind);
        let taken = self.take_contents(now, from, number, header.protected, contents, context);
        self.window.insert(number, taken.is_ok());
        match taken {
            Ok(()) => self.window.handle_taken(now, number, answer, context.config.ack_delay),
            Err(reason) => {
                self.counters.packets_refused += 1;
                if reason == Rejection::Malformed {
                    self.disconnect(now, DisconnectReason::Protocol, context.config);
                }
            }
        }
        taken
    }

    /// Which packets each state accepts.
    fn check_allowed(&self, kind: PacketType) -> Result<(), Rejection> {
        use PacketType::*;
        let allowed = match self.state {
            State::Connecting => {
                self.accepting.is_some() && matches!(kind, Data | Quiet | Ack | KeepAlive | Disconnect)
            }
            State::Connected => !kind.is_handshake(),
            State::Disconnecting => kind == Disconnect,
            State::Disconnected => kind == Disconnect && self.draining_until.is_some(),
        };
        if allowed { Ok(()) } else { Err(Rejection::WrongState) }
    }

    fn authenticate<'a>(
        &self,
        number: u64,
        datagram: &'a mut [u8],
        header_len: usize,
        context: &Context<'_>,
    ) -> Result<&'a [u8], Rejection> {
        match &self.keys {
            Some(keys) => keys
                .open
                .open(number, datagram, header_len)
                .map(|payload| &*payload)
                .ok_or(Rejection::Integrity),
            None => {
                let (body, crc) = datagram.split_last_chunk::<CRC_BYTES>().ok_or(Rejection::TooShort)?;
                let payload = body.get(header_len..).ok_or(Rejection::TooShort)?;
                match context.checksum.of(body) == u32::from_le_bytes(*crc) {
                    true => Ok(payload),
                    false => Err(Rejection::Integrity),
                }
            }
        }
    }

    fn handle_ack(&mut self, now: Micros, newest: u64, ack: Ack, context: &mut Context<'_>) {
        let Connection { sent, outbox, outcomes, rate, window, history, counters, unanswered_probes, .. } =
            self;
        sent.handle_ack(newest, ack.bits, |number, packet, verdict, carries| {
            match verdict {
                Verdict::Acked => {
                    *unanswered_probes = 0;
                    let delay = Micros::from_millis(ack.delay_ms.into());
                    let measured = number == newest && ack.delay_ms != u8::MAX;
                    let rtt = Micros((now - packet.sent_at).since(delay).0.max(1));
                    // A longer one was made by a clock that jumped, not by the network.
                    let rtt = (measured && rtt < context.config.peer_timeout).then_some(rtt);
                    rate.handle_acked(now, packet.sent_at, usize::from(packet.bytes) + IP_UDP_BYTES, rtt);
                }
                Verdict::AckedLate => counters.packets_late += 1,
                Verdict::Repeated => {}
            }
            if let Some(reported) = packet.reported.filter(|_| verdict != Verdict::Repeated) {
                window.handle_reported(reported);
            }
            history.handle_acked(number);
            for carried in carries.iter() {
                match carried {
                    Carried::Reliable { channel, count, id } => outbox.handle_acked(channel, id, count),
                    Carried::Tagged(tag) if verdict == Verdict::Acked => report(outcomes, tag, true),
                    Carried::Tagged(_) => {}
                }
            }
        });
        if self.detect_losses(now, context).is_err() {
            self.disconnect(now, DisconnectReason::Undeliverable, context.config);
        }
    }

    fn take_contents(
        &mut self,
        now: Micros,
        from: SocketAddr,
        number: u64,
        protected: bool,
        contents: Contents<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Rejection> {
        match contents {
            Contents::Nothing => {}
            Contents::Message(message) => return self.take_message(now, &message, context),
            Contents::Frames(frames) => return self.take_frames(now, number, protected, frames, context),
            Contents::Goodbye(code) => self.take_goodbye(now, code, context),
            Contents::Confirm => {
                if let Some(reason) = self.goodbye.as_ref().map(|goodbye| goodbye.reason) {
                    self.end(now, reason, None);
                }
            }
            Contents::PathChallenge(proof) => self.path.get_or_insert_default().answer = Some(proof),
            Contents::PathResponse(proof) => self.take_proof(from, &proof),
        }
        Ok(())
    }

    /// Hands every frame to its channel. One that finds no room spoils the acknowledgement of the packet, not the rest.
    #[inline(never)] // its blocks would sit on the stack of every packet
    fn take_frames(
        &mut self,
        now: Micros,
        number: u64,
        protected: bool,
        frames: Frames<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Rejection> {
        let block = frames.block();
        let mut result = Ok(());
        for frame in frames {
            let taken = match frame.map_err(|_| Rejection::Malformed)? {
                Frame::Message(message) => self.take_message(now, &message, context),
                Frame::Link(link) if link.parity.is_some() => {
                    self.store.insert_parity(number, &link);
                    Ok(())
                }
                Frame::Link(link) => self.take_copy(now, number, &link, context),
            };
            result = worse(result, taken);
        }
        if protected && result.is_ok() {
            self.store.insert(number, block);
        }
        worse(result, self.take_recovered(now, context))
    }

    /// The block of a lost packet, repeated as it is.
    fn take_copy(
        &mut self,
        now: Micros,
        number: u64,
        link: &LinkFrame<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Rejection> {
        match number.checked_sub(link.distance) {
            Some(lost) if !self.store.contains(lost) => {
                self.take_block(now, link.body, context)?;
                self.store.insert(lost, link.body);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The blocks that parities give away.
    fn take_recovered(&mut self, now: Micros, context: &mut Context<'_>) -> Result<(), Rejection> {
        let (mut result, mut place) = (Ok(()), 0);
        while let Some(recovered) = self.store.poll_recovered(&mut place) {
            let taken = self.take_block(now, recovered.block.frames(), context);
            if taken.is_ok() {
                self.store.handle_taken(recovered);
                place = 0;
            }
            result = worse(result, taken);
        }
        result
    }

    /// The messages of a lost packet, brought back.
    fn take_block(&mut self, now: Micros, block: &[u8], context: &mut Context<'_>) -> Result<(), Rejection> {
        let mut result = Ok(());
        for frame in Frames::of_block(block, context.table) {
            match frame {
                Ok(Frame::Message(message)) if message.kind.is_reliable() && message.fragment.is_none() => {
                    result = worse(result, self.take_message(now, &message, context));
                }
                _ => return Err(Rejection::Malformed),
            }
        }
        self.counters.blocks_recovered += u64::from(result.is_ok());
        result
    }

    fn take_message(
        &mut self,
        now: Micros,
        message: &MessageFrame<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Rejection> {
        let index = usize::from(message.channel);
        let (Some(receiver), Some(channel)) =
            (self.receivers.get_mut(index), context.config.channels.get(index))
        else {
            return Err(Rejection::Malformed);
        };
        let mut inbox = self.events.inbox(message.channel, context.config);
        let bytes_max = channel.receive_bytes_max;
        let taken = match receiver {
            Receiver::Reliable(receiver) => receiver.receive(message, bytes_max, context.pool, &mut inbox),
            Receiver::Unreliable(receiver) => {
                receiver.receive(now, message, bytes_max, context.pool, &mut inbox)
            }
        };
        self.is_inbox_blocked |= self.events.is_full(context.config);
        taken
    }

    /// Delivers what waited for room in the event queue.
    pub(super) fn resume_receivers(&mut self, now: Micros, context: &mut Context<'_>) {
        self.is_inbox_blocked = false;
        for (index, receiver) in self.receivers.iter_mut().enumerate() {
            let Receiver::Reliable(receiver) = receiver else {
                continue;
            };
            let mut inbox = self.events.inbox(index as u8, context.config);
            if receiver.resume(context.pool, &mut inbox).is_err() {
                return self.disconnect(now, DisconnectReason::Protocol, context.config);
            }
        }
        self.is_inbox_blocked = self.events.is_full(context.config);
    }

    fn take_goodbye(&mut self, now: Micros, code: u8, context: &Context<'_>) {
        // A goodbye that is repeated for ever must not keep the connection in memory as long.
        if self.state != State::Disconnected {
            let reason = DisconnectReason::from_code(code).unwrap_or(DisconnectReason::Requested);
            self.end(now, reason, None);
            self.draining_until = Some(now + context.config.disconnect_timeout);
        }
        self.confirm_due = true;
    }

    /// An authentic packet came from another address than the one we send to.
    #[cold]
    fn examine_address(&mut self, now: Micros, from: SocketAddr, bytes: usize, context: &mut Context<'_>) {
        if self.state != State::Connected {
            return;
        }
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::PathUnproven) {
            self.address = from;
            self.counters.migrations += 1;
            return;
        }
        let probe = &mut self.path.get_or_insert_default().probe;
        let probe = match probe.take_if(|probe| probe.address() == from) {
            Some(same) => probe.insert(same),
            None => probe.insert(PathProbe::new(now, from, context.entropy.bytes())),
        };
        probe.handle_received(bytes);
    }

    fn take_proof(&mut self, from: SocketAddr, proof: &[u8; PROOF_BYTES]) {
        let probe = self.path.as_mut().map(|path| &mut path.probe);
        if let Some(probe) = probe
            && probe.take_if(|probe| probe.is_proven_by(from, proof)).is_some()
        {
            self.address = from;
            self.counters.migrations += 1;
        }
    }
}

/// A payload that has been found to parse as what its type promises. Nothing in it is believed before.
enum Contents<'a> {
    Nothing,
    /// The only frame, and no block: the most frequent case, so it is not parsed twice.
    Message(MessageFrame<'a>),
    Frames(Frames<'a>),
    Goodbye(u8),
    Confirm,
    PathChallenge([u8; PROOF_BYTES]),
    PathResponse([u8; PROOF_BYTES]),
}

impl<'a> Contents<'a> {
    fn check(header: &Header, payload: &'a [u8], table: &'a ChannelTable) -> Result<Contents<'a>, Rejection> {
        let contents = match (header.kind, payload) {
            (PacketType::Data | PacketType::Quiet, payload) => {
                Contents::check_frames(payload, header.protected, table)
            }
            (PacketType::Ack | PacketType::KeepAlive, []) => Some(Contents::Nothing),
            (PacketType::Disconnect, &[GOODBYE, code]) => Some(Contents::Goodbye(code)),
            (PacketType::Disconnect, &[CONFIRM, _]) => Some(Contents::Confirm),
            (PacketType::PathChallenge, payload) => payload.try_into().ok().map(Contents::PathChallenge),
            (PacketType::PathResponse, payload) => payload.try_into().ok().map(Contents::PathResponse),
            _ => None,
        };
        contents.ok_or(Rejection::Malformed)
    }

    /// What the sender is owed. An unreliable message that comes alone is never sent again.
    fn answer(&self, kind: PacketType) -> Answer {
        match self {
            _ if kind == PacketType::Quiet => Answer::Quiet,
            Contents::Message(message) if message.kind == ChannelKind::Sequenced => Answer::Patient,
            Contents::Message(message) if message.kind == ChannelKind::Unreliable => Answer::InPairs,
            _ if kind.elicits_ack() => Answer::Soon,
            _ => Answer::None,
        }
    }

    fn check_frames(payload: &'a [u8], protected: bool, table: &'a ChannelTable) -> Option<Contents<'a>> {
        let frames = Frames::of_payload(payload, table).ok()?;
        let mut rest = frames.clone();
        match rest.next()?.ok()? {
            Frame::Message(message) if rest.is_at_end() && !protected => Some(Contents::Message(message)),
            _ => rest.all(|frame| frame.is_ok()).then_some(Contents::Frames(frames)),
        }
    }
}

/// The graver of two results: a broken sender over a lack of room.
fn worse(first: Result<(), Rejection>, second: Result<(), Rejection>) -> Result<(), Rejection> {
    match (first, second) {
        (Err(Rejection::Malformed), _) | (_, Err(Rejection::Malformed)) => Err(Rejection::Malformed),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
        _ => Ok(()),
    }
}
