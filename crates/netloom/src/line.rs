//! What is between a session and its transports: in the same thread, or in threads of their own.
//!
//! ```text
//!   direct     game loop: receive ─▶ tick ─▶ send                           one thread does everything, when it is called
//!
//!   threaded   I/O thread, one per transport         game loop
//!              receive ──────────── ring ──────────▶ tick
//!              send    ◀─────────── ring ─────────── poll_transmit          neither ever waits for the other
//! ```
//!
//! A session sees no difference: datagrams come with the time of their arrival and go into a buffer. The rings hold a fixed
//! number of datagrams and have no locks; what finds no room is dropped and counted, as a network would.
//!
//! A server can have several transports. Each knows its peers by their addresses, and two of them may know the same one. So
//! the number of the transport travels in the flow label of the address, which no peer has.

mod direct;
mod threaded;

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use netloom_transport::{Counters, PeerAddress, Transport, TransportError};
use netloom_wire::Micros;

pub use threaded::RING_DATAGRAMS;

use crate::clock::Clock;
use direct::Direct;
use threaded::Threaded;

/// How transports are driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// By the thread that calls: for engines with a loop of their own, and for tests.
    #[default]
    Polling,
    /// By a thread for each transport, apart from the game's.
    DualLoop,
}

/// What comes from a peer.
pub(crate) enum Arrival<'a> {
    /// To come in a moment, after others: what it needs can be got ready.
    Next(&'a [u8]),
    /// To be opened in place.
    Datagram(&'a mut [u8]),
    /// Nothing any more: its stream ended, and not by [`Line::close`].
    Broken,
}

/// Transports, however they are driven.
pub(crate) enum Line {
    Direct(Direct),
    Threaded(Threaded),
}

impl Line {
    pub fn new(
        driver: Driver,
        transports: Vec<Box<dyn Transport>>,
        clock: Clock,
    ) -> Result<Line, TransportError> {
        Ok(match driver {
            Driver::Polling => Line::Direct(Direct::new(transports)?),
            Driver::DualLoop => Line::Threaded(Threaded::start(transports, clock)?),
        })
    }

    /// Hands over what has arrived: when, from whom, and what.
    pub fn receive(
        &mut self,
        now: Micros,
        handle: impl FnMut(Micros, SocketAddr, Arrival<'_>),
    ) -> Result<(), TransportError> {
        match self {
            Line::Direct(direct) => direct.receive(now, handle),
            Line::Threaded(threaded) => threaded.receive(handle),
        }
    }

    /// Asks for datagrams to send until there are none: where to, and how long.
    pub fn send(
        &mut self,
        now: Micros,
        next: impl FnMut(&mut [u8]) -> Option<(SocketAddr, usize)>,
    ) -> Result<(), TransportError> {
        match self {
            Line::Direct(direct) => direct.send(now, next),
            Line::Threaded(threaded) => threaded.send(next),
        }
    }

    /// Sleeps until something arrives, or until `deadline`; it may return early.
    pub fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        match self {
            Line::Direct(direct) => direct.wait(now, deadline),
            Line::Threaded(threaded) => {
                threaded.wait(now, deadline);
                Ok(())
            }
        }
    }

    /// Whether anybody may be [congested](Line::is_congested) at all: without streams nobody ever is, and nobody needs to be
    /// asked for.
    pub fn has_congested(&self) -> bool {
        match self {
            Line::Direct(direct) => direct.has_congested(),
            Line::Threaded(threaded) => threaded.has_congested(),
        }
    }

    /// Whether bytes wait in this process for a peer on a stream: what is sent now would be old on arrival.
    pub fn is_congested(&self, peer: SocketAddr) -> bool {
        match self {
            Line::Direct(direct) => direct.is_congested(peer),
            Line::Threaded(threaded) => threaded.is_congested(peer),
        }
    }

    /// Lets go of a peer: on a stream, the stream ends.
    pub fn close(&mut self, peer: SocketAddr) {
        match self {
            Line::Direct(direct) => direct.close(peer),
            Line::Threaded(threaded) => threaded.close(peer),
        }
    }

    /// What happened so far, over all transports.
    pub fn counters(&self) -> Counters {
        match self {
            Line::Direct(direct) => direct.counters(),
            Line::Threaded(threaded) => threaded.counters(),
        }
    }
}

/// The address of a peer of a transport, as the session knows it.
pub(crate) fn tagged(transport: usize, peer: PeerAddress) -> SocketAddr {
    let address = peer.to_socket_addr();
    if transport == 0 {
        return address;
    }
    let (ip, scope) = match address {
        SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(v6) => (*v6.ip(), v6.scope_id()),
    };
    SocketAddrV6::new(ip, address.port(), transport as u32, scope).into()
}

/// The transport and the address that [`tagged`] was made of.
pub(crate) fn untagged(address: SocketAddr) -> (usize, PeerAddress) {
    let transport = match address {
        SocketAddr::V6(v6) => v6.flowinfo() as usize,
        SocketAddr::V4(_) => 0,
    };
    (transport, PeerAddress::from(address))
}

/// The address without the number of the transport, for people.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    let (_, peer) = untagged(address);
    match peer.to_socket_addr() {
        SocketAddr::V6(v6) => match IpAddr::V6(*v6.ip()).to_canonical() {
            IpAddr::V4(v4) => SocketAddr::from((v4, v6.port())),
            IpAddr::V6(_) => v6.into(),
        },
        v4 => v4,
    }
}

/// Adds up what several transports counted.
fn sum(counters: impl Iterator<Item = Counters>) -> Counters {
    counters.fold(Counters::default(), |all, one| all.and(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_different_transports_never_meet() {
        for text in ["127.0.0.1:7777", "[::1]:7777", "[fe80::1]:9", "memory:5"] {
            let peer: PeerAddress = text.parse().unwrap();
            let mut seen = Vec::new();
            for transport in 0..4 {
                let address = tagged(transport, peer);
                assert!(!seen.contains(&address), "{address}");
                assert_eq!(untagged(address), (transport, peer));
                seen.push(address);
            }
        }
        let tcp = tagged(1, "192.0.2.7:5".parse().unwrap());
        assert_eq!(plain(tcp).to_string(), "192.0.2.7:5");
    }
}
