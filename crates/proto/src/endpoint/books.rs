//! The endpoint's books: which slot is whose, who counts as a peer, who has something to tell.

use netloom_wire::Micros;

use super::listener::Reply;
use super::{Endpoint, PeerId, Ready, Slot};
use crate::connection::{Connection, Context};
use crate::limits::{PEERS_MAX, STATELESS_REPLIES_MAX};
use crate::reason::DisconnectReason;
use crate::validate::Rejection;

impl Endpoint {
    /// Brings the endpoint's books in line with a connection that was touched.
    pub(super) fn settle(&mut self, index: u16) {
        let place = usize::from(index);
        let slot = &mut self.slots[place];
        let Some(connection) = &slot.connection else {
            return;
        };
        self.wakes[place] = Micros::ZERO;
        let has_ended = connection.ended().is_some();
        if connection.has_events() {
            if has_ended && !slot.is_queued_as_ended {
                slot.is_queued_as_ended = true;
                self.ready.ended.push_back(index);
            } else if !slot.is_queued {
                slot.is_queued = true;
                let queue = if connection.is_new() { &mut self.ready.new } else { &mut self.ready.talking };
                queue.push_back(index);
            }
        }
        if slot.is_accepting && !connection.is_accepting() {
            slot.is_accepting = false;
            self.accepting -= 1;
            let is_confirmed = connection.ended() != Some(DisconnectReason::ConnectTimeout);
            if let (Some(listener), Some(seat), true) = (&mut self.listener, &slot.seat, is_confirmed) {
                let peer = PeerId { index, generation: slot.generation };
                listener.seats.handle_confirmed(seat, peer);
            }
        }
        if let Some(reason) = connection.ended().filter(|_| slot.is_live) {
            slot.is_live = false;
            self.live -= 1;
            if let (Some(listener), Some(seat)) = (&mut self.listener, slot.seat.take()) {
                let seats_max = 2 * listener.config.peers_max;
                match reason {
                    DisconnectReason::Timeout
                    | DisconnectReason::Undeliverable
                    | DisconnectReason::Broken => {
                        listener.seats.handle_lost(
                            &seat,
                            self.now + listener.config.resume_window,
                            seats_max,
                        );
                    }
                    DisconnectReason::ConnectTimeout => listener.seats.handle_unconfirmed(&seat),
                    _ => listener.seats.forget(&seat),
                }
            }
        }
        if connection.is_finished() {
            self.vacate(index);
        }
    }

    /// Whether every seat is taken.
    pub(super) fn is_full(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| self.live >= listener.config.peers_max)
    }

    /// Whether as many are connecting as may at once. That is over in a moment, so whoever comes meanwhile is not refused, which
    /// would end its attempt, but not heard: it asks again.
    pub(super) fn is_crowded(&self) -> bool {
        let limit = self.listener.as_ref().map(|listener| listener.config.peers_connecting_max);
        limit.is_some_and(|limit| self.accepting >= limit)
    }

    pub(super) fn reply(&mut self, reply: Reply) -> Result<(), Rejection> {
        if self.replies.len() >= STATELESS_REPLIES_MAX {
            return Err(Rejection::RateLimited);
        }
        if let Some(reason) = reply.refusal {
            self.refusals[reason as usize] += 1;
        }
        self.replies.push_back(reply);
        Ok(())
    }

    pub(super) fn allocate(&mut self) -> Option<u16> {
        if let Some(index) = self.free.pop_front() {
            return Some(index);
        }
        if self.slots.len() >= PEERS_MAX {
            return None;
        }
        self.slots.push(Slot::default());
        self.wakes.push(Micros::MAX);
        self.timers.push(Micros::MAX);
        Some((self.slots.len() - 1) as u16)
    }

    pub(super) fn occupy(&mut self, index: u16, connection: Connection) -> PeerId {
        let slot = &mut self.slots[usize::from(index)];
        slot.is_live = true;
        self.live += 1;
        self.pool.stock(self.live);
        slot.is_accepting = connection.is_accepting();
        self.accepting += usize::from(slot.is_accepting);
        slot.connection = Some(Box::new(connection));
        self.wakes[usize::from(index)] = Micros::ZERO;
        self.timers[usize::from(index)] = Micros::ZERO;
        PeerId { index, generation: slot.generation }
    }

    pub(super) fn vacate(&mut self, index: u16) {
        let slot = &mut self.slots[usize::from(index)];
        let Some(mut connection) = slot.connection.take() else {
            return;
        };
        connection.release(&mut self.pool);
        slot.generation = slot.generation.wrapping_add(1);
        if self.sessions.get(&connection.session_id()) == Some(&index) {
            self.sessions.remove(&connection.session_id());
        }
        if self.addresses.get(&connection.address()) == Some(&index) {
            self.addresses.remove(&connection.address());
        }
        self.wakes[usize::from(index)] = Micros::MAX;
        self.timers[usize::from(index)] = Micros::MAX;
        self.free.push_back(index);
    }

    /// The peer whose event comes next.
    pub(super) fn next_ready(&mut self) -> Option<u16> {
        loop {
            let ended = !self.ready.ended.is_empty();
            let Ready { ended: first, talking, new, .. } = &mut self.ready;
            let queue = [first, talking, new].into_iter().find(|queue| !queue.is_empty())?;
            let index = *queue.front()?;
            let (now, tick) = (self.now, self.tick);
            let mut context = context!(self);
            let slot = &mut self.slots[usize::from(index)];
            if slot
                .connection
                .as_mut()
                .is_some_and(|connection| connection.has_event(now, tick, &mut context))
            {
                return Some(index);
            }
            queue.pop_front();
            match ended {
                true => slot.is_queued_as_ended = false,
                false => slot.is_queued = false,
            }
            match &slot.connection {
                Some(connection) if connection.has_events() && !slot.is_queued => {
                    slot.is_queued = true;
                    self.ready.deferred.push_back(index);
                }
                Some(connection) if connection.is_finished() => self.vacate(index),
                _ => {}
            }
        }
    }
}
