//! A transport that can be unplugged, and moved to another address, while somebody else owns it.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use netloom::transport::{
    Batch, Capabilities, CloseReason, Counters, PeerAddress, PeerState, PeerStatus, Transport,
    TransportError, TransportEvent, Waker,
};
use netloom::wire::Micros;

use super::Dial;

/// What the test holds of a [`Plug`].
#[derive(Clone, Debug, Default)]
pub struct Switch(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_unplugged: AtomicBool,
    is_deaf: AtomicBool,
    moves: AtomicU32,
}

impl Switch {
    /// Nothing gets through any more, and nothing says so; or everything does again.
    pub fn set_unplugged(&self, is_unplugged: bool) {
        self.0.is_unplugged.store(is_unplugged, Ordering::SeqCst);
    }

    /// What arrives is not read any more: it piles up in the system, here and at the other end.
    pub fn set_deaf(&self) {
        self.0.is_deaf.store(true, Ordering::SeqCst);
    }

    /// The machine gets another address: sockets are bound anew, and connections break.
    pub fn change_address(&self) {
        self.0.moves.fetch_add(1, Ordering::SeqCst);
    }
}

pub struct Plug {
    dial: Dial,
    inner: Box<dyn Transport>,
    server: PeerAddress,
    switch: Switch,
    moves: u32,
    events: VecDeque<TransportEvent>,
}

impl Plug {
    pub fn new(mut dial: Dial, server: PeerAddress, switch: Switch) -> Plug {
        let inner = dial();
        Plug { dial, inner, server, switch, moves: 0, events: VecDeque::new() }
    }

    fn is_unplugged(&self) -> bool {
        self.switch.0.is_unplugged.load(Ordering::SeqCst)
    }

    fn follow_moves(&mut self) {
        let moves = self.switch.0.moves.load(Ordering::SeqCst);
        if std::mem::replace(&mut self.moves, moves) == moves {
            return;
        }
        if self.status(self.server).state != PeerState::Connectionless {
            self.inner.disconnect(self.server);
            let reason = CloseReason::Broken(io::ErrorKind::ConnectionReset);
            self.events.push_back(TransportEvent::Closed { peer: self.server, reason });
        }
        if !self.capabilities().reliable {
            self.inner = (self.dial)();
        }
    }
}

impl Transport for Plug {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn local_address(&self) -> PeerAddress {
        self.inner.local_address()
    }

    fn send(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        self.follow_moves();
        if self.is_unplugged() {
            let count = batch.len();
            batch.clear();
            return Ok(count);
        }
        self.inner.send(now, batch)
    }

    fn receive(&mut self, now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        self.follow_moves();
        if self.switch.0.is_deaf.load(Ordering::SeqCst) {
            return Ok(0);
        }
        let count = self.inner.receive(now, batch)?;
        if self.is_unplugged() {
            batch.clear();
            return Ok(0);
        }
        Ok(count)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        self.inner.wait(now, deadline)
    }

    fn waker(&self) -> Waker {
        self.inner.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        loop {
            let event = self.events.pop_front().or_else(|| self.inner.poll_event())?;
            if !self.is_unplugged() {
                return Some(event);
            }
        }
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        self.inner.status(peer)
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        self.inner.disconnect(peer);
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}
