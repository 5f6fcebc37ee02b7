//! Counts what goes through sockets, whoever opened them.
//!
//! Libraries count their own bytes differently, or not at all. So the program defines the socket functions of the C library
//! itself: the linker prefers them to the library's, every crate calls them, and they count and pass the call on to the kernel.
//! What is counted is UDP payload, without IP and UDP headers (28 bytes a datagram).
//!
//! A library that bypassed them would look better than it is. In a network namespace of its own the kernel's counters of the
//! loopback device know everything that was sent; [`loopback`] reads them, and `run` compares.

use libc::{c_int, c_uint, c_void, iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    pub bytes: u64,
    pub datagrams: u64,
    pub calls: u64,
    /// Calls to send that the kernel refused; looking for a datagram in vain is not one.
    pub refused: u64,
}

/// Both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub sent: Direction,
    pub received: Direction,
}

impl std::ops::Sub for Traffic {
    type Output = Traffic;

    fn sub(self, earlier: Traffic) -> Traffic {
        Traffic { sent: self.sent.since(earlier.sent), received: self.received.since(earlier.received) }
    }
}

impl Direction {
    fn since(self, earlier: Direction) -> Direction {
        Direction {
            bytes: self.bytes - earlier.bytes,
            datagrams: self.datagrams - earlier.datagrams,
            calls: self.calls - earlier.calls,
            refused: self.refused - earlier.refused,
        }
    }
}

/// Everything so far.
pub fn counted() -> Traffic {
    // The linker keeps definitions that something refers to.
    std::hint::black_box((
        sendto as *const (),
        send as *const (),
        sendmsg as *const (),
        sendmmsg as *const (),
    ));
    std::hint::black_box((
        recvfrom as *const (),
        recv as *const (),
        recvmsg as *const (),
        recvmmsg as *const (),
    ));
    Traffic { sent: SENT.read(), received: RECEIVED.read() }
}

/// Bytes and packets that this network namespace's loopback device carried, headers included.
pub fn loopback() -> Option<(u64, u64)> {
    let devices = std::fs::read_to_string("/proc/net/dev").ok()?;
    let figures = devices.lines().find_map(|line| line.trim().strip_prefix("lo:"))?;
    let mut figures = figures.split_whitespace().map_while(|figure| figure.parse().ok());
    Some((figures.next()?, figures.next()?))
}

struct Counters {
    bytes: AtomicU64,
    datagrams: AtomicU64,
    calls: AtomicU64,
    refused: AtomicU64,
}

static SENT: Counters = Counters::new();
static RECEIVED: Counters = Counters::new();

impl Counters {
    const fn new() -> Counters {
        Counters {
            bytes: AtomicU64::new(0),
            datagrams: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    fn read(&self) -> Direction {
        Direction {
            bytes: self.bytes.load(Relaxed),
            datagrams: self.datagrams.load(Relaxed),
            calls: self.calls.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }

    /// A call that moved one message, of so many datagrams if it did.
    fn call(&self, result: ssize_t, datagrams: u64) -> ssize_t {
        self.calls.fetch_add(1, Relaxed);
        match u64::try_from(result) {
            Ok(bytes) => self.moved(bytes, datagrams),
            Err(_) => _ = self.refused.fetch_add(1, Relaxed),
        }
        result
    }

    fn moved(&self, bytes: u64, datagrams: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
        self.datagrams.fetch_add(datagrams, Relaxed);
    }

    /// A call that moved the first `result` of many messages.
    ///
    /// # Safety
    /// `messages` holds as many messages as the kernel said.
    unsafe fn call_many(&self, result: c_int, messages: *const mmsghdr) -> c_int {
        self.calls.fetch_add(1, Relaxed);
        self.refused.fetch_add(u64::from(result < 0), Relaxed);
        for number in 0..usize::try_from(result).unwrap_or(0) {
            // SAFETY: the caller's promise.
            let message = unsafe { &*messages.add(number) };
            // SAFETY: the kernel has read this header without complaint.
            self.moved(u64::from(message.msg_len), unsafe { datagrams(&message.msg_hdr) });
        }
        result
    }
}

/// Datagrams of one message: several if the kernel was asked to cut it (UDP_SEGMENT).
///
/// # Safety
/// `message` is a header that the kernel accepted.
unsafe fn datagrams(message: &msghdr) -> u64 {
    // SAFETY: the macros walk control messages within the bounds that the header states.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            if (*control).cmsg_level == libc::SOL_UDP && (*control).cmsg_type == libc::UDP_SEGMENT {
                let segment = libc::CMSG_DATA(control).cast::<u16>().read_unaligned();
                let parts = std::slice::from_raw_parts::<iovec>(message.msg_iov, message.msg_iovlen);
                let length: usize = parts.iter().map(|part| part.iov_len).sum();
                return (length as u64).div_ceil(u64::from(segment.max(1)));
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    socket: c_int,
    bytes: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's arguments, unchanged; so in all functions below.
    let result =
        unsafe { libc::syscall(libc::SYS_sendto, socket, bytes, length, flags, address, address_length) };
    SENT.call(result as ssize_t, 1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(socket: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: as in `sendto`.
    unsafe { sendto(socket, bytes, length, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: as in `sendto`.
    let result = unsafe { libc::syscall(libc::SYS_sendmsg, socket, message, flags) };
    // SAFETY: looked at only after the kernel has accepted it.
    let datagrams = if result < 0 { 0 } else { unsafe { datagrams(&*message) } };
    SENT.call(result as ssize_t, datagrams)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(socket: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
    // SAFETY: as in `sendto`; the kernel tells how many of the messages it took.
    unsafe {
        let result = libc::syscall(libc::SYS_sendmmsg, socket, messages, count, flags);
        SENT.call_many(result as c_int, messages)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    socket: c_int,
    bytes: *mut c_void,
    length: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as in `sendto`.
    let result =
        unsafe { libc::syscall(libc::SYS_recvfrom, socket, bytes, length, flags, address, address_length) };
    RECEIVED.call(result as ssize_t, 1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(socket: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: as in `sendto`.
    unsafe { recvfrom(socket, bytes, length, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: as in `sendto`.
    let result = unsafe { libc::syscall(libc::SYS_recvmsg, socket, message, flags) };
    RECEIVED.call(result as ssize_t, 1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    socket: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    // SAFETY: as in `sendmmsg`.
    unsafe {
        let result = libc::syscall(libc::SYS_recvmmsg, socket, messages, count, flags, timeout);
        RECEIVED.call_many(result as c_int, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn what_the_standard_library_sends_and_receives_is_counted() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = counted();
        sender.send_to(&[7; 321], receiver.local_addr().unwrap()).unwrap();
        receiver.recv(&mut [0; 500]).unwrap();
        let traffic = counted() - before;
        // Other tests of this program may send at the same time.
        assert!(traffic.sent.bytes >= 321 && traffic.sent.datagrams >= 1 && traffic.sent.calls >= 1);
        assert!(traffic.received.bytes >= 321 && traffic.received.datagrams >= 1);
    }

    #[test]
    fn the_kernel_knows_the_loopback_device() {
        assert!(loopback().is_some());
    }
}
