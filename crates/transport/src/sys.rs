//! The system calls that the standard library does not have: many datagrams at once, and a precise sleep. Linux only.
//!
//! This is the one place of the crate with `unsafe`. What it needs is always the same: structures that hold pointers to
//! buffers which outlive the call, and reading back only what the call says that it has written.
//!
//! ```text
//!   mmsghdr ──▶ msghdr ─┬─ msg_name ──▶ RawAddress    28 bytes, IPv4 or IPv6
//!   × 64                └─ msg_iov  ──▶ iovec ──▶ the slot's buffer
//! ```
#![allow(unsafe_code)]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::time::Duration;

use crate::batch::Datagram;

/// The most datagrams in one system call. The headers for them, 7 KB, are on the stack.
pub(crate) const CALL_DATAGRAMS_MAX: usize = 64;

/// An address as the system reads and writes it.
#[derive(Clone, Copy)]
#[repr(C)]
union RawAddress {
    /// Shared by both: the first two bytes.
    family: libc::sa_family_t,
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl RawAddress {
    fn empty() -> RawAddress {
        // SAFETY: every field is an integer or an array of integers, for which zeros are a value.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    /// The address and how many of its bytes count.
    fn encode(address: SocketAddr) -> (RawAddress, libc::socklen_t) {
        let mut raw = RawAddress::empty();
        match address {
            SocketAddr::V4(address) => {
                raw.v4 = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                    sin_zero: [0; 8],
                };
                (raw, size_of::<libc::sockaddr_in>() as libc::socklen_t)
            }
            SocketAddr::V6(address) => {
                raw.v6 = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                (raw, size_of::<libc::sockaddr_in6>() as libc::socklen_t)
            }
        }
    }

    fn decode(&self, length: libc::socklen_t) -> Option<SocketAddr> {
        // SAFETY: the union is initialised in full (`empty`), whatever of it the system has overwritten.
        let family = libc::c_int::from(unsafe { self.family });
        if family == libc::AF_INET && length as usize >= size_of::<libc::sockaddr_in>() {
            // SAFETY: as above; integers have no invalid values.
            let raw = unsafe { self.v4 };
            let ip = Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes());
            return Some(SocketAddrV4::new(ip, u16::from_be(raw.sin_port)).into());
        }
        if family == libc::AF_INET6 && length as usize >= size_of::<libc::sockaddr_in6>() {
            // SAFETY: as above.
            let raw = unsafe { self.v6 };
            let ip = Ipv6Addr::from(raw.sin6_addr.s6_addr);
            return Some(SocketAddrV6::new(ip, u16::from_be(raw.sin6_port), 0, raw.sin6_scope_id).into());
        }
        None
    }
}

/// The structures of one call, of which the first `n` are filled. Kept off the heap: pointers do not go to other threads.
struct Call {
    headers: [MaybeUninit<libc::mmsghdr>; CALL_DATAGRAMS_MAX],
    vectors: [MaybeUninit<libc::iovec>; CALL_DATAGRAMS_MAX],
    addresses: [MaybeUninit<RawAddress>; CALL_DATAGRAMS_MAX],
}

impl Call {
    fn new() -> Call {
        Call {
            headers: [const { MaybeUninit::uninit() }; CALL_DATAGRAMS_MAX],
            vectors: [const { MaybeUninit::uninit() }; CALL_DATAGRAMS_MAX],
            addresses: [const { MaybeUninit::uninit() }; CALL_DATAGRAMS_MAX],
        }
    }

    /// Fills entry `index`. The buffer must outlive the call, and be writable if the call is to receive.
    fn fill(&mut self, index: usize, buffer: (*mut u8, usize), name: Option<(RawAddress, libc::socklen_t)>) {
        let vector = self.vectors[index].write(libc::iovec { iov_base: buffer.0.cast(), iov_len: buffer.1 });
        // SAFETY: integers and pointers, for which zeros are a value; some systems have private padding fields in it.
        let mut header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
        if let Some((address, length)) = name {
            header.msg_hdr.msg_name = ptr::from_mut(self.addresses[index].write(address)).cast();
            header.msg_hdr.msg_namelen = length;
        }
        self.headers[index].write(header);
    }
}

/// The descriptor of a socket, for whoever keeps both together: asking the socket for it goes through a function of each of four
/// libraries, every one of them in a place of its own that is cold by the next tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor(RawFd);

impl Descriptor {
    /// Of a socket that stays open for as long as this is used.
    pub fn of(socket: &impl AsRawFd) -> Descriptor {
        Descriptor(socket.as_raw_fd())
    }
}

/// Has datagrams travel whole or not at all, whatever the system has heard of the path: anybody can forge such news. Asking is
/// enough: a system that refuses sends as it always did.
pub(crate) fn send_whole(socket: &impl AsRawFd) {
    let whole: libc::c_int = libc::IP_PMTUDISC_PROBE;
    // SAFETY: the option is read from an integer that outlives the call, and its size is told.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            ptr::from_ref(&whole).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

/// Whether datagrams of a socket travel whole or not at all.
#[cfg(test)]
pub(crate) fn sends_whole(socket: &impl AsRawFd) -> bool {
    let (mut option, mut length): (libc::c_int, _) = (0, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the option is written to an integer whose size is told, and both outlive the call.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            ptr::from_mut(&mut option).cast(),
            &mut length,
        )
    };
    status == 0 && option == libc::IP_PMTUDISC_PROBE
}

/// Sends datagrams, each to the address that `address_of` gives, or to the connected peer if that is `None`. Returns how
/// many were sent; an error concerns the first.
pub(crate) fn send(
    socket: Descriptor,
    datagrams: &[Datagram],
    address_of: impl Fn(&Datagram) -> Option<SocketAddr>,
) -> io::Result<usize> {
    let mut call = Call::new();
    let count = datagrams.len().min(CALL_DATAGRAMS_MAX);
    for (index, datagram) in datagrams.iter().take(count).enumerate() {
        let bytes = datagram.bytes();
        // Sending only reads: the pointer is mutable because the system's structure serves both directions.
        call.fill(
            index,
            (bytes.as_ptr().cast_mut(), bytes.len()),
            address_of(datagram).map(RawAddress::encode),
        );
    }
    // SAFETY: the first `count` headers are filled; their pointers lead to `call`, which is not moved, and to the
    // datagrams' buffers, both borrowed until after the call. A descriptor that is not open is an error.
    let sent = unsafe {
        libc::sendmmsg(
            socket.0,
            call.headers.as_mut_ptr().cast(),
            count as libc::c_uint,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives into the first slots and returns how many, zero if nothing is there. `keep` is given each with the sender and whether it was cut.
pub(crate) fn receive(
    socket: Descriptor,
    slots: &mut [Datagram],
    mut keep: impl FnMut(&mut Datagram, Option<SocketAddr>, bool),
) -> io::Result<usize> {
    let mut call = Call::new();
    let count = slots.len().min(CALL_DATAGRAMS_MAX);
    let name = (RawAddress::empty(), size_of::<RawAddress>() as libc::socklen_t);
    for (index, slot) in slots.iter_mut().take(count).enumerate() {
        let buffer = slot.buffer_mut();
        call.fill(index, (buffer.as_mut_ptr(), buffer.len()), Some(name));
    }
    // SAFETY: as in `send`; the buffers are borrowed mutably, and nothing else looks at them during the call.
    let received = unsafe {
        libc::recvmmsg(
            socket.0,
            call.headers.as_mut_ptr().cast(),
            count as libc::c_uint,
            libc::MSG_DONTWAIT,
            ptr::null_mut(),
        )
    };
    let Ok(received) = usize::try_from(received) else {
        // Two ticks of three find nothing, which is no error.
        let error = io::Error::last_os_error();
        return if error.raw_os_error() == Some(libc::EAGAIN) { Ok(0) } else { Err(error) };
    };
    let received = received.min(count);
    for (index, slot) in slots.iter_mut().take(received).enumerate() {
        // SAFETY: `fill` has initialised this header and this address, because `index < received <= count`.
        let (header, address) =
            unsafe { (call.headers[index].assume_init_ref(), call.addresses[index].assume_init_ref()) };
        slot.set_length(header.msg_len as usize);
        let is_cut = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        keep(slot, address.decode(header.msg_hdr.msg_namelen), is_cut);
    }
    Ok(received)
}

/// Sleeps until a descriptor is readable or the time is over; a closed one counts as readable.
pub(crate) fn sleep_until_readable(descriptor: &impl AsRawFd, longest: Duration) -> io::Result<()> {
    let mut entry = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let timeout = libc::timespec {
        tv_sec: longest.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // SAFETY: one entry, one timeout, both alive during the call; no signal mask is given.
    let ready = unsafe { libc::ppoll(&mut entry, 1, &timeout, ptr::null()) };
    match ready {
        -1 => Err(io::Error::last_os_error()).or_else(|error| match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            _ => Err(error),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn addresses_return_from_their_raw_form(ip: std::net::IpAddr, port: u16) {
            let address = SocketAddr::new(ip, port);
            let (raw, length) = RawAddress::encode(address);
            prop_assert_eq!(raw.decode(length), Some(address));
            prop_assert_eq!(raw.decode(length - 1), None);
        }
    }

    #[test]
    fn an_address_of_another_family_is_none() {
        assert_eq!(RawAddress::empty().decode(28), None);
    }
}
