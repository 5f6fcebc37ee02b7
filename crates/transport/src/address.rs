//! Who a datagram is from or for, whatever carries it.
//!
//! A connection is found by the address of its peer, and the core knows addresses as `SocketAddr`. Peers in memory have
//! none, and a socket that speaks both families sees one IPv4 peer under two names. So there is one type with one form
//! per peer, and a lossless way to and from `SocketAddr`:
//!
//! ```text
//!  Socket(192.0.2.7:7777)          192.0.2.7:7777
//!  [::ffff:192.0.2.7]:7777    ──▶  Socket(192.0.2.7:7777)       one peer, one address
//!  Memory(5)                  ◀──▶ [fd4e:6c6d:0:5::1]:0         port 0 is nobody's, so no socket has this address
//! ```
//!
//! The number of a peer in memory stands above the 64 bits that limits per address look at: peers in memory count apart.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::str::FromStr;

const MEMORY_PREFIX: [u16; 2] = [0xfd4e, 0x6c6d];
const MEMORY_SCHEME: &str = "memory:";

/// The address of a peer.
///
/// ```
/// use netloom_transport::PeerAddress;
///
/// let peer: PeerAddress = "[::ffff:192.0.2.7]:7777".parse()?;
/// assert_eq!(peer.to_string(), "192.0.2.7:7777");
/// assert_eq!(PeerAddress::from(PeerAddress::Memory(5).to_socket_addr()), PeerAddress::Memory(5));
/// # Ok::<(), netloom_transport::AddressError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeerAddress {
    /// A member of a [`MemoryNetwork`](crate::MemoryNetwork).
    Memory(u32),
    /// An IP address and a port. Made by `From`, never by hand from an IPv4-mapped IPv6 address.
    Socket(SocketAddr),
}

impl PeerAddress {
    /// The address as the core knows it; [`PeerAddress::from`] is the way back.
    #[inline]
    pub fn to_socket_addr(self) -> SocketAddr {
        match self {
            Self::Socket(address) => address,
            Self::Memory(id) => {
                let [high, low] = [(id >> 16) as u16, id as u16];
                let [first, second] = MEMORY_PREFIX;
                SocketAddr::from((Ipv6Addr::new(first, second, high, low, 0, 0, 0, 1), 0))
            }
        }
    }

    /// The part that limits per address look at: the IPv4 address, the IPv6 /64, the peer in memory.
    pub fn network(self) -> IpAddr {
        match self.to_socket_addr().ip() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }
}

impl From<SocketAddr> for PeerAddress {
    #[inline]
    fn from(address: SocketAddr) -> PeerAddress {
        let SocketAddr::V6(v6) = address else {
            return Self::Socket(address);
        };
        if let Some(v4) = v6.ip().to_ipv4_mapped() {
            return Self::Socket(SocketAddr::from((v4, v6.port())));
        }
        match (v6.ip().segments(), v6.port()) {
            ([first, second, high, low, 0, 0, 0, 1], 0) if [first, second] == MEMORY_PREFIX => {
                Self::Memory(u32::from(high) << 16 | u32::from(low))
            }
            // The flow label belongs to a path, not to a peer; the scope is needed to reply on a local link.
            _ => Self::Socket(SocketAddrV6::new(*v6.ip(), v6.port(), 0, v6.scope_id()).into()),
        }
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(formatter, "{MEMORY_SCHEME}{id}"),
            Self::Socket(address) => address.fmt(formatter),
        }
    }
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no address: write an IP address and a port, such as 127.0.0.1:7777 or [::1]:7777")]
pub struct AddressError {
    /// The text.
    pub text: String,
}

impl FromStr for PeerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<PeerAddress, AddressError> {
        let address = match text.strip_prefix(MEMORY_SCHEME) {
            Some(id) => id.parse().ok().map(Self::Memory),
            None => text.parse().ok().map(|address: SocketAddr| Self::from(address)),
        };
        address.ok_or_else(|| AddressError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bad_address_is_quoted_with_an_example_of_a_good_one() {
        for text in ["", "localhost", "127.0.0.1", "1.2.3.4:70000", "::1:7777", "memory:", "memory:-1"] {
            let message = text.parse::<PeerAddress>().unwrap_err().to_string();
            assert!(
                message.contains(&format!("`{text}`")) && message.contains("127.0.0.1:7777"),
                "{message}"
            );
        }
    }

    #[test]
    fn limits_see_an_ipv4_address_an_ipv6_64_or_one_peer_in_memory() {
        let network = |text: &str| text.parse::<PeerAddress>().unwrap().network();
        assert_eq!(network("192.0.2.7:1"), network("[::ffff:192.0.2.7]:2"));
        assert_ne!(network("192.0.2.7:1"), network("192.0.2.8:1"));
        assert_eq!(network("[2001:db8::1]:1"), network("[2001:db8::ffff:2]:9"));
        assert_ne!(network("[2001:db8::1]:1"), network("[2001:db8:0:1::1]:1"));
        assert_ne!(network("memory:1"), network("memory:2"));
    }

    proptest! {
        #[test]
        fn peers_in_memory_return_through_socket_addresses_and_text(id: u32) {
            let address = PeerAddress::Memory(id);
            prop_assert_eq!(PeerAddress::from(address.to_socket_addr()), address);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }

        #[test]
        fn socket_addresses_are_nobody_in_memory_and_have_one_form(ip: IpAddr, port in 1u16..) {
            let address = PeerAddress::from(SocketAddr::new(ip, port));
            prop_assert!(matches!(address, PeerAddress::Socket(_)));
            prop_assert_eq!(PeerAddress::from(address.to_socket_addr()), address);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
        }
    }
}
