//! The transport that carries nothing.
//!
//! A game without a network, a test of everything above the network, a server's load without its clients: all want a
//! transport that takes what is sent and never delivers. What it takes is counted as sent.

use std::sync::Arc;

use netloom_wire::Micros;

use crate::address::PeerAddress;
use crate::batch::{Batch, SLOT_BYTES_LIMIT};
use crate::counters::Counters;
use crate::error::{ConfigError, TransportError, check_range};
use crate::poll::{Bell, Waker, sleep_time};
use crate::transport::{Capabilities, PeerStatus, Transport, TransportEvent, refuse_too_long};

/// Takes every datagram and delivers none.
#[derive(Debug)]
pub struct DummyTransport {
    mtu_bytes: usize,
    counters: Counters,
    bell: Arc<Bell>,
}

impl DummyTransport {
    /// A transport that takes datagrams of at most `mtu_bytes`.
    pub fn new(mtu_bytes: usize) -> Result<DummyTransport, ConfigError> {
        check_range("mtu_bytes", mtu_bytes, 1, SLOT_BYTES_LIMIT)?;
        Ok(DummyTransport { mtu_bytes, counters: Counters::default(), bell: Arc::default() })
    }
}

impl Transport for DummyTransport {
    fn capabilities(&self) -> Capabilities {
        // Secure without a doubt: nobody learns anything.
        Capabilities { reliable: false, ordered: false, mtu_bytes: self.mtu_bytes, secure: true }
    }

    fn local_address(&self) -> PeerAddress {
        PeerAddress::Memory(0)
    }

    fn send(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        let mut sent = 0;
        while !batch.is_empty() {
            refuse_too_long(batch, self.mtu_bytes)?;
            if let Some(datagram) = batch.front_mut() {
                self.counters.count_sent(datagram.bytes().len());
                sent += 1;
            }
            batch.consume(1);
        }
        Ok(sent)
    }

    fn receive(&mut self, _now: Micros, _batch: &mut Batch) -> Result<usize, TransportError> {
        Ok(0)
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        self.bell.wait(sleep_time(now, deadline));
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.bell.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        None
    }

    fn status(&self, _peer: PeerAddress) -> PeerStatus {
        PeerStatus::connectionless(self.mtu_bytes)
    }

    fn disconnect(&mut self, _peer: PeerAddress) {}

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_taken_counted_and_never_delivered() {
        let mut dummy = DummyTransport::new(8).unwrap();
        let mut batch = Batch::new(4, 16).unwrap();
        assert!(batch.push(PeerAddress::Memory(1), b"12345678") && batch.push(PeerAddress::Memory(2), b"1"));
        assert_eq!(dummy.send(Micros::ZERO, &mut batch).unwrap(), 2);
        assert_eq!((dummy.counters().sent_datagrams, dummy.counters().sent_bytes), (2, 9));
        assert_eq!(dummy.receive(Micros::ZERO, &mut batch).unwrap(), 0);
        assert!(batch.is_empty());
    }

    #[test]
    fn a_long_datagram_is_refused_and_the_next_one_taken() {
        let mut dummy = DummyTransport::new(8).unwrap();
        let mut batch = Batch::new(4, 16).unwrap();
        assert!(batch.push(PeerAddress::Memory(1), b"123456789") && batch.push(PeerAddress::Memory(2), b"1"));
        let error = dummy.send(Micros::ZERO, &mut batch).unwrap_err();
        assert!(matches!(error, TransportError::TooLong { length: 9, mtu_bytes: 8, .. }), "{error}");
        assert_eq!(dummy.send(Micros::ZERO, &mut batch).unwrap(), 1);
    }
}
