//! Addresses as people write them: a transport, a host and a port.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use netloom_transport::websocket::PATH;

/// The port that servers listen on unless they are told otherwise.
pub const DEFAULT_PORT: u16 = 7777;

/// What carries datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Datagrams.
    #[default]
    Udp,
    /// A stream, where datagrams do not get through.
    Tcp,
    /// A WebSocket, for browsers and for networks that let only the web through.
    WebSocket,
    /// Datagrams over QUIC, for browsers. It needs the feature `webtransport`.
    WebTransport,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 4] = [Scheme::Udp, Scheme::Tcp, Scheme::WebSocket, Scheme::WebTransport];

    /// How addresses begin.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Udp => "udp",
            Scheme::Tcp => "tcp",
            Scheme::WebSocket => "ws",
            Scheme::WebTransport => "https",
        }
    }

    /// What it is called in figures.
    pub const fn transport_name(self) -> &'static str {
        match self {
            Scheme::Udp => "udp",
            Scheme::Tcp => "tcp",
            Scheme::WebSocket => "websocket",
            Scheme::WebTransport => "webtransport",
        }
    }

    /// Whether its addresses have a path.
    const fn is_web(self) -> bool {
        matches!(self, Scheme::WebSocket | Scheme::WebTransport)
    }
}

/// A transport, a host and a port: `127.0.0.1:7777`, `tcp://game.example:7777`, `ws://[::1]:8080`, `https://game.example:7778`.
///
/// Without a transport it is UDP, without a port [`DEFAULT_PORT`]. Behind `ws://` and `https://` the path of the standard may follow,
/// `/netloom`.
///
/// ```
/// let address: netloom::Address = "tcp://127.0.0.1".parse()?;
/// assert_eq!(address.to_string(), "tcp://127.0.0.1:7777");
/// assert!("ftp://127.0.0.1".parse::<netloom::Address>().is_err());
/// # Ok::<(), netloom::AddressError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// What carries datagrams.
    pub scheme: Scheme,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// A text that is no address, or a name that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It begins with something else than a transport.
    #[error("`{0}` does not begin with udp://, tcp://, ws:// or https://")]
    Scheme(String),
    /// There is no host in it.
    #[error(
        "`{0}` names no host: write an address such as 127.0.0.1:7777, [::1]:7777 or tcp://game.example:7777"
    )]
    Host(String),
    /// The port is none.
    #[error("`{0}` has no valid port: use 1 to 65535 (0 lets the system choose when listening)")]
    Port(String),
    /// The name does not resolve.
    #[error("the host `{host}` is not known: {problem}")]
    Unknown {
        /// The name.
        host: String,
        /// What the system says.
        problem: String,
    },
}

impl Address {
    /// Where that is. A name is looked up, which may take a while.
    pub fn resolve(&self) -> Result<SocketAddr, AddressError> {
        let unknown = |problem: String| AddressError::Unknown { host: self.host.clone(), problem };
        let mut found =
            (&*self.host, self.port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
        found.next().ok_or_else(|| unknown(String::from("it has no address")))
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let known = Scheme::ALL.into_iter().find(|known| known.name() == scheme);
                (known.ok_or_else(|| AddressError::Scheme(text.to_owned()))?, rest)
            }
            None => (Scheme::Udp, text),
        };
        let rest = rest.trim_end_matches('/');
        let rest = rest.strip_suffix(PATH).filter(|_| scheme.is_web()).unwrap_or(rest);
        let (host, port) = match rest.strip_prefix('[') {
            Some(bracketed) => {
                let (host, after) =
                    bracketed.split_once(']').ok_or_else(|| AddressError::Host(text.to_owned()))?;
                (host, after.strip_prefix(':'))
            }
            // More than one colon and no brackets: an IPv6 address without a port.
            None if rest.matches(':').count() > 1 => (rest, None),
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        if host.is_empty() || host.contains(|char: char| char.is_whitespace() || char == '/') {
            return Err(AddressError::Host(text.to_owned()));
        }
        let port = match port {
            Some(port) => port.parse().map_err(|_| AddressError::Port(text.to_owned()))?,
            None => DEFAULT_PORT,
        };
        Ok(Address { scheme, host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { scheme, host, port } = self;
        match host.contains(':') {
            true => write!(formatter, "{}://[{host}]:{port}", scheme.name()),
            false => write!(formatter, "{}://{host}:{port}", scheme.name()),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        Address { scheme: Scheme::Udp, host: address.ip().to_string(), port: address.port() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_they_are_written() {
        for (text, shown) in [
            ("127.0.0.1:7777", "udp://127.0.0.1:7777"),
            ("udp://10.0.0.1:1", "udp://10.0.0.1:1"),
            ("tcp://localhost", "tcp://localhost:7777"),
            ("[::1]:9", "udp://[::1]:9"),
            ("::1", "udp://[::1]:7777"),
            ("[::1]", "udp://[::1]:7777"),
            ("ws://0.0.0.0:0/", "ws://0.0.0.0:0"),
            ("ws://localhost:8080/netloom", "ws://localhost:8080"),
            ("https://[::1]:7778/netloom", "https://[::1]:7778"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(shown.parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn what_is_no_address_says_what_to_write() {
        for text in [
            "",
            ":7777",
            "http://a",
            "127.0.0.1:99999",
            "127.0.0.1:x",
            "[::1",
            "a b:1",
            "host/path:1",
            "udp://a/netloom",
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains('`'), "{text}: {error}");
        }
        let unknown: Address = "udp://no.such.host.invalid:1".parse().unwrap();
        assert!(unknown.resolve().unwrap_err().to_string().contains("no.such.host.invalid"));
    }
}
