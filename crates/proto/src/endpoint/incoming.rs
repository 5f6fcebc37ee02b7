//! Datagrams as they arrive: to the listener, to an attempt of ours, or to a connection.

use std::net::SocketAddr;

use netloom_wire::Micros;

use super::listener::{Applicant, Reply};
use super::{Endpoint, PeerId};
use crate::connection::{Admission, Connection, Context};
use crate::handshake::{Accept, REPLY_MAX, Response, ResumeToken};
use crate::packet::{Header, PacketType, SessionRef};
use crate::reason::{DisconnectReason, RejectReason};
use crate::validate::Rejection;

impl Endpoint {
    #[inline(never)] // rare beside session packets, and large
    pub(super) fn handle_handshake(
        &mut self,
        now: Micros,
        from: SocketAddr,
        kind: PacketType,
        datagram: &mut [u8],
    ) -> Result<(), Rejection> {
        match kind {
            PacketType::Connect => self.handle_connect(now, from, datagram),
            PacketType::Response => self.handle_response(now, from, datagram),
            _ => self.handle_answer(now, from, kind, datagram),
        }
    }

    fn handle_connect(&mut self, now: Micros, from: SocketAddr, datagram: &[u8]) -> Result<(), Rejection> {
        // Whether a seat is free is decided later: a proven client may have one already, to resume or to replace.
        let is_crowded = self.is_crowded();
        let listener = self.listener.as_mut().ok_or(Rejection::NotListening)?;
        let reply = listener.handle_connect(now, from, datagram, is_crowded, &self.config)?;
        self.reply(reply)
    }

    fn handle_response(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &mut [u8],
    ) -> Result<(), Rejection> {
        let listener = self.listener.as_mut().ok_or(Rejection::NotListening)?;
        let response = Response::parse(datagram, self.config.protocol_id)?;
        let issued = listener.issued(now, from, &response)?;
        if let Some(&index) = self.addresses.get(&from)
            && let Some(connection) = &mut self.slots[usize::from(index)].connection
        {
            let is_repeated = connection.is_opened_by(&response.claims.nonce);
            if is_repeated && connection.is_accepting() {
                connection.repeat_accept();
                self.wakes[usize::from(index)] = Micros::ZERO;
                return Ok(());
            }
            // The Response of an earlier attempt, late or replayed, must not end what came after it.
            if is_repeated || connection.is_younger_than(issued) {
                return Err(Rejection::Unsolicited);
            }
        }
        match listener.handle_response(now, from, response, &self.config)? {
            Ok(applicant) => self.admit(now, from, applicant),
            Err(reply) => self.reply(reply),
        }
    }

    /// Gives a proven client a seat, or says why not.
    fn admit(&mut self, now: Micros, from: SocketAddr, applicant: Applicant) -> Result<(), Rejection> {
        let claims = applicant.claims;
        let sealed = applicant.secret.is_some();
        let replaced = self.addresses.get(&from).copied();
        let listener = self.listener.as_mut().ok_or(Rejection::NotListening)?;
        let claim = match &applicant.resume {
            None => None,
            Some(token) => match listener.seats.peek(now, token, sealed, from) {
                None => {
                    return self.reply(Reply::reject(from, &claims, RejectReason::Resume, 0, &self.config));
                }
                known => known,
            },
        };
        // Whoever sat there before is gone: the same client under a new session, or the same address under a new client.
        let live = |peer: PeerId| self.connection(peer).map(|_| peer.index);
        let predecessor = claim.and_then(|claim| live(claim.peer));
        let pending = claim.and_then(|claim| live(claim.pending?));
        let frees_a_seat = [predecessor, pending, replaced]
            .iter()
            .flatten()
            .any(|&index| self.slots[usize::from(index)].is_live);
        if self.is_full() && !frees_a_seat {
            return self.reply(Reply::reject(from, &claims, RejectReason::Full, 0, &self.config));
        }
        if self.is_crowded() && !frees_a_seat {
            return Err(Rejection::RateLimited);
        }
        if let (Some(listener), Some(token)) = (&mut self.listener, &applicant.resume) {
            listener.seats.handle_used(token, now + listener.config.resume_window);
        }
        self.clear_seats(now, predecessor, pending, replaced);
        let Some(index) = self.allocate() else {
            return self.reply(Reply::reject(from, &claims, RejectReason::Full, 0, &self.config));
        };
        let accept = Accept {
            session_id: self.entropy.u64(),
            alias: index,
            resume: ResumeToken(self.entropy.bytes()),
        };
        let server_nonce = self.entropy.bytes();
        let keys = applicant
            .secret
            .map(|(secret, transcript)| secret.session_keys(&claims.nonce, &server_nonce, &transcript));
        let mut accept_packet = vec![0; REPLY_MAX];
        let seal = keys.as_ref().map(|keys| &keys.to_client);
        let length =
            accept.write(&claims.nonce, &server_nonce, seal, self.config.protocol_id, &mut accept_packet);
        accept_packet.truncate(length);
        let admission = Admission {
            address: from,
            client_nonce: claims.nonce,
            client_alias: claims.alias,
            cookie_issued: applicant.issued,
            accept,
            accept_packet,
            keys,
            resumed_from: claim.map(|claim| claim.peer),
        };
        let connection = Connection::accepted(now, admission, &self.config);
        self.sessions.insert(accept.session_id, index);
        self.addresses.insert(from, index);
        let peer = self.occupy(index, connection);
        if let Some(listener) = &mut self.listener {
            let seat = listener.seats.insert(&accept.resume, peer, sealed, from, applicant.resume.as_ref());
            self.slots[peer.index()].seat = Some(Box::new(seat));
        }
        Ok(())
    }

    /// Ends whoever gives way to a new peer: whose seat it takes up, an attempt at the same seat, and who was at its address.
    fn clear_seats(
        &mut self,
        now: Micros,
        predecessor: Option<u16>,
        pending: Option<u16>,
        replaced: Option<u16>,
    ) {
        if let Some(index) = predecessor {
            // Its token lives on until the new one is proven.
            self.slots[usize::from(index)].seat = None;
            self.end(now, index, DisconnectReason::Resumed);
        }
        if let Some(index) = pending {
            self.end(now, index, DisconnectReason::ConnectTimeout);
        }
        if let Some(index) = replaced {
            // Only who was connected has lost something that can be resumed.
            let reason = match self.slots[usize::from(index)].is_accepting {
                true => DisconnectReason::ConnectTimeout,
                false => DisconnectReason::Timeout,
            };
            self.end(now, index, reason);
        }
    }

    /// A server's answer to an attempt of ours.
    fn handle_answer(
        &mut self,
        now: Micros,
        from: SocketAddr,
        kind: PacketType,
        datagram: &mut [u8],
    ) -> Result<(), Rejection> {
        let index = *self.addresses.get(&from).ok_or(Rejection::Unsolicited)?;
        let context = context!(self);
        let connection = self.slots[usize::from(index)].connection.as_mut().ok_or(Rejection::Unsolicited)?;
        let handled = match kind {
            PacketType::Challenge => connection.handle_challenge(now, datagram, &context),
            PacketType::Accept => connection.handle_accept(now, datagram, &context),
            _ => connection.handle_reject_packet(now, datagram, &context),
        };
        handled?;
        if kind == PacketType::Accept {
            let holder = *self.sessions.entry(connection.session_id()).or_insert(index);
            if holder != index {
                // No honest server draws the number of another session. That one keeps it.
                self.end(now, index, DisconnectReason::Protocol);
                return Err(Rejection::Malformed);
            }
        }
        self.settle(index);
        Ok(())
    }

    /// Asks for the memory that taking in a datagram needs, ahead of [`handle_datagram`](Self::handle_datagram): whoever has several
    /// asks for those of all before the first, and their lines come side by side and not one after the other. See
    /// [`netloom_cpu::fetch`](mod@netloom_cpu::fetch).
    pub fn fetch_for(&self, from: SocketAddr, datagram: &[u8]) {
        let header = Header::parse(datagram, self.listener.is_some());
        let index = header.ok().and_then(|(header, _)| self.receiver(from, header.session));
        let slot = index.and_then(|index| self.slots.get(usize::from(index)));
        slot.and_then(|slot| slot.connection.as_deref()).into_iter().for_each(Connection::fetch);
    }

    /// Whose a packet is.
    fn receiver(&self, from: SocketAddr, session: SessionRef) -> Option<u16> {
        match session {
            SessionRef::Id(id) => self.sessions.get(&id).copied(),
            SessionRef::Alias(alias) => Some(alias),
            SessionRef::Address => self.addresses.get(&from).copied(),
        }
    }

    pub(super) fn handle_session_packet(
        &mut self,
        now: Micros,
        from: SocketAddr,
        datagram: &mut [u8],
    ) -> Result<(), Rejection> {
        let parsed = Header::parse(datagram, self.listener.is_some())?;
        let index = self.receiver(from, parsed.0.session).ok_or(Rejection::UnknownSession)?;
        let mut context = context!(self);
        let slot = self.slots.get_mut(usize::from(index)).ok_or(Rejection::UnknownSession)?;
        let connection = slot.connection.as_mut().ok_or(Rejection::UnknownSession)?;
        let (address, migrations) = (connection.address(), connection.migrations());
        let handled = connection.handle_packet(now, from, datagram, parsed, &mut context);
        if connection.migrations() != migrations {
            let moved = connection.address();
            if self.addresses.get(&address) == Some(&index) {
                self.addresses.remove(&address);
            }
            self.addresses.insert(moved, index);
        }
        self.settle(index);
        handled
    }
}
