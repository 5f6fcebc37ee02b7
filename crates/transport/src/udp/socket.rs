//! One socket and its two ways of calling the system: many datagrams at once, or one at a time.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockAddr, Type};

use super::UdpConfig;
use crate::batch::Datagram;
use crate::counters::Counters;
#[cfg(target_os = "linux")]
use crate::sys::Descriptor;

/// How many more datagrams than expected there is room for in one call. Preparing a slot costs as much as a tenth of a
/// datagram: a server that hears from a few players does not prepare for all that a call can take.
#[cfg(target_os = "linux")]
const RECEIVE_SPARE: usize = 4;
/// One in so many expected datagrams is no longer expected after a call that brought fewer.
#[cfg(target_os = "linux")]
const RECEIVE_FORGOTTEN: usize = 8;
/// Datagrams that a call has room for after several that found none: in most ticks of a server whose players watch there are
/// none, and what preparing costs is mostly memory that is not in the caches. If there are some, another call follows.
#[cfg(target_os = "linux")]
const RECEIVE_IDLE: usize = 4;
/// So many: whoever answers every second packet is heard in every second tick.
#[cfg(target_os = "linux")]
const IDLE_CALLS: u8 = 2;

/// The longest payload that every path carries whole: the least that IPv6 asks of a link, without headers. Whoever sends longer
/// ones relies on fragments.
#[cfg(target_os = "linux")]
const WHOLE_BYTES_MAX: usize = 1_280 - 48;

#[derive(Debug)]
pub(super) struct Socket {
    socket: mio::net::UdpSocket,
    #[cfg(target_os = "linux")]
    descriptor: Descriptor,
    batches_system_calls: bool,
    /// Datagrams that one call is expected to bring.
    #[cfg(target_os = "linux")]
    expected: usize,
    /// Calls that brought none since the last that did.
    #[cfg(target_os = "linux")]
    empty_calls: u8,
    /// One byte longer than any datagram may be, so that one that is too long shows. Only for single calls, which do not
    /// tell that they have cut something off.
    scratch: Box<[u8]>,
}

/// What came of one attempt to receive.
pub(super) struct Received {
    /// Datagrams in the first slots.
    pub kept: usize,
    /// Nothing was left behind it.
    pub is_drained: bool,
}

impl Socket {
    /// The socket, and what the system granted for its receive buffer.
    pub fn bind(address: SocketAddr, config: &UdpConfig) -> io::Result<(Socket, usize)> {
        let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(config.is_v6_only)?;
        }
        // Some systems refuse what is too much instead of granting less; the default is better than no socket.
        let _ = socket.set_recv_buffer_size(config.receive_buffer_bytes);
        let _ = socket.set_send_buffer_size(config.send_buffer_bytes);
        // Numbers that tell the fragments of one datagram from those of another are a twentieth of what sending costs (16 datagrams
        // on loopback: 47.4 µs with, 44.1 without), and fragments are what firewalls drop and strangers forge.
        #[cfg(target_os = "linux")]
        if config.mtu_bytes <= WHOLE_BYTES_MAX {
            crate::sys::send_whole(&socket);
        }
        socket.set_nonblocking(true)?;
        socket.bind(&SockAddr::from(address))?;
        // Linux reports twice what it granted, because its own bookkeeping takes the other half.
        let granted = socket.recv_buffer_size()? / if cfg!(target_os = "linux") { 2 } else { 1 };
        let socket = Socket {
            #[cfg(target_os = "linux")]
            descriptor: Descriptor::of(&socket),
            socket: mio::net::UdpSocket::from_std(socket.into()),
            batches_system_calls: config.batches_system_calls && cfg!(target_os = "linux"),
            #[cfg(target_os = "linux")]
            expected: crate::sys::CALL_DATAGRAMS_MAX - RECEIVE_SPARE,
            #[cfg(target_os = "linux")]
            empty_calls: 0,
            scratch: vec![0; config.mtu_bytes + 1].into(),
        };
        Ok((socket, granted))
    }

    pub fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub fn source(&mut self) -> &mut mio::net::UdpSocket {
        &mut self.socket
    }

    /// Sends from the first on and returns how many, at least one; an error concerns the first.
    pub fn send(&self, datagrams: &[Datagram], is_v6: bool, is_connected: bool) -> io::Result<usize> {
        let address_of = |datagram: &Datagram| {
            let address = datagram.address().to_socket_addr();
            (!is_connected).then(|| if is_v6 { mapped(address) } else { address })
        };
        #[cfg(target_os = "linux")]
        if self.batches_system_calls {
            let sent = crate::sys::send(self.descriptor, datagrams, address_of)?;
            return if sent == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(sent) };
        }
        let Some(datagram) = datagrams.first() else {
            return Ok(0);
        };
        match address_of(datagram) {
            Some(address) => self.socket.send_to(datagram.bytes(), address)?,
            None => self.socket.send(datagram.bytes())?,
        };
        Ok(1)
    }

    /// Receives into the first slots; what cannot be used is counted.
    pub fn receive(
        &mut self,
        slots: &mut [Datagram],
        mtu_bytes: usize,
        counters: &mut Counters,
    ) -> io::Result<Received> {
        #[cfg(target_os = "linux")]
        if self.batches_system_calls {
            return self.receive_many(slots, mtu_bytes, counters);
        }
        let received = self.socket.recv_from(&mut self.scratch);
        #[cfg(windows)]
        if received.as_ref().is_err_and(|error| error.raw_os_error() == Some(WSAEMSGSIZE)) {
            counters.dropped_truncated += 1;
            return Ok(Received { kept: 0, is_drained: false });
        }
        let (length, from) = received?;
        let bytes = self.scratch.get(..length).unwrap_or_default();
        let is_kept = is_usable(Some(from), length > mtu_bytes, counters)
            && slots.first_mut().is_some_and(|slot| slot.copy_from(from.into(), bytes));
        if is_kept {
            counters.count_received(length);
        }
        Ok(Received { kept: usize::from(is_kept), is_drained: false })
    }

    #[cfg(target_os = "linux")]
    fn receive_many(
        &mut self,
        slots: &mut [Datagram],
        mtu_bytes: usize,
        counters: &mut Counters,
    ) -> io::Result<Received> {
        let was_idle = self.empty_calls >= IDLE_CALLS;
        let asked = slots.len().min(if was_idle { RECEIVE_IDLE } else { self.expected + RECEIVE_SPARE });
        let slots = slots.get_mut(..asked).unwrap_or_default();
        let mut unusable = 0u64;
        let mut index = 0;
        let received = crate::sys::receive(self.descriptor, slots, |slot, from, is_cut| {
            let is_cut = is_cut || slot.bytes().len() > mtu_bytes;
            let is_kept = is_usable(from, is_cut, counters);
            match from.filter(|_| is_kept) {
                Some(from) => {
                    slot.address = from.into();
                    counters.count_received(slot.bytes().len());
                }
                None => unusable |= 1 << index,
            }
            index += 1;
        })?;
        if received == 0 {
            self.empty_calls = self.empty_calls.saturating_add(1);
            return Ok(Received { kept: 0, is_drained: true });
        }
        self.empty_calls = 0;
        let mut kept = 0;
        for index in 0..received {
            if unusable & (1 << index) == 0 {
                slots.swap(kept, index);
                kept += 1;
            }
        }
        let is_drained = received < asked;
        // Bursts are rare and come again: the expectation follows them at once and forgets them slowly.
        let forgotten = self.expected - self.expected.div_ceil(RECEIVE_FORGOTTEN);
        let most = crate::sys::CALL_DATAGRAMS_MAX - RECEIVE_SPARE;
        self.expected = match (is_drained, was_idle) {
            (true, _) => forgotten.max(received),
            (false, true) => self.expected,
            (false, false) => most,
        };
        Ok(Received { kept, is_drained })
    }
}

#[cfg(windows)]
const WSAEMSGSIZE: i32 = 10_040;

/// Whether a datagram can be answered and is whole; counted if not. Port 0 cannot be answered, and in an address it is
/// the mark of peers in memory.
fn is_usable(from: Option<SocketAddr>, is_cut: bool, counters: &mut Counters) -> bool {
    let is_named = from.is_some_and(|from| from.port() != 0);
    if !is_named {
        counters.dropped_nameless += 1;
    } else if is_cut {
        counters.dropped_truncated += 1;
    }
    is_named && !is_cut
}

/// The form in which an IPv6 socket takes an address.
fn mapped(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) => SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port())),
        SocketAddr::V6(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_that_cannot_be_answered_and_cut_datagrams_are_told_apart() {
        let mut counters = Counters::default();
        let named = "192.0.2.1:7".parse().ok();
        assert!(is_usable(named, false, &mut counters));
        assert!(!is_usable(named, true, &mut counters));
        assert!(!is_usable("192.0.2.1:0".parse().ok(), false, &mut counters));
        assert!(!is_usable(None, true, &mut counters));
        assert_eq!((counters.dropped_truncated, counters.dropped_nameless), (1, 2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_what_some_path_cannot_carry_whole_may_be_cut() {
        for address in ["127.0.0.1:0", "[::]:0"] {
            for (mtu_bytes, is_whole) in [(WHOLE_BYTES_MAX, true), (WHOLE_BYTES_MAX + 1, false)] {
                let config = UdpConfig { mtu_bytes, ..UdpConfig::default() };
                let (socket, _) = Socket::bind(address.parse().unwrap(), &config).unwrap();
                assert_eq!(crate::sys::sends_whole(&socket.socket), is_whole, "{address}, {mtu_bytes} bytes");
            }
        }
        assert!(UdpConfig::default().mtu_bytes <= WHOLE_BYTES_MAX);
    }
}
