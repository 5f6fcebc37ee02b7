//! Plain UDP sockets as naia's traits of a transport want them.
//!
//! naia has a UDP transport of its own, but in 0.25.0 connections over it do not come about: its client measures the clock
//! before the connection is final, and its server answers such measurements only afterwards. Without that feature naia connects in
//! a simpler way, which works. The path of data is the same: one `sendto` or `recvfrom` a packet, not blocking, not encrypted.
//!
//! Introductions go through sockets of their own, which no proxy stands before; naia sends them once and never again.

use naia_client::transport as client;
use naia_server::transport as server;
use naia_shared::IdentityToken;
use peer_common::Options;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

const PACKET_BYTES_MAX: usize = 1500;

/// A socket for data and one for introductions.
#[derive(Clone)]
pub struct Sockets {
    data: Socket,
    introductions: Socket,
}

impl Sockets {
    pub fn of_server(options: &Options) -> Sockets {
        let (data, introductions) = (options.server_address(), options.side_address());
        Sockets { data: Socket::new(data, data), introductions: Socket::new(introductions, introductions) }
    }

    pub fn of_client(options: &Options) -> Sockets {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Sockets {
            data: Socket::new(any, options.dial_address()),
            introductions: Socket::new(any, options.side_address()),
        }
    }
}

/// A socket, the server's address, and room for what arrives.
#[derive(Clone)]
struct Socket {
    socket: Arc<UdpSocket>,
    server: SocketAddr,
    buffer: Box<[u8; PACKET_BYTES_MAX]>,
}

impl Socket {
    fn new(own: SocketAddr, server: SocketAddr) -> Socket {
        let socket = UdpSocket::bind(own).expect("a free port");
        socket.set_nonblocking(true).expect("a socket that does not block");
        Socket { socket: Arc::new(socket), server, buffer: Box::new([0; PACKET_BYTES_MAX]) }
    }

    fn next(&mut self) -> Option<(SocketAddr, &[u8])> {
        let (length, from) = self.socket.recv_from(&mut self.buffer[..]).ok()?;
        Some((from, &self.buffer[..length]))
    }
}

impl From<Sockets> for Box<dyn server::Socket> {
    fn from(sockets: Sockets) -> Box<dyn server::Socket> {
        Box::new(sockets)
    }
}

impl server::Socket for Sockets {
    fn listen(self: Box<Self>) -> server::ListenResult {
        let Sockets { data, introductions } = *self;
        (Box::new(introductions.clone()), Box::new(introductions), Box::new(data.clone()), Box::new(data))
    }
}

impl server::PacketSender for Socket {
    fn send(&self, to: &SocketAddr, packet: &[u8]) -> Result<(), server::SendError> {
        self.socket.send_to(packet, to).map(|_| ()).map_err(|_| server::SendError)
    }
}

impl server::PacketReceiver for Socket {
    fn receive(&mut self) -> Result<Option<(SocketAddr, &[u8])>, server::RecvError> {
        Ok(self.next())
    }
}

impl server::AuthSender for Socket {
    fn accept(&self, to: &SocketAddr, token: &IdentityToken) -> Result<(), server::SendError> {
        self.socket.send_to(token.as_bytes(), to).map(|_| ()).map_err(|_| server::SendError)
    }

    /// Nobody is rejected here.
    fn reject(&self, _: &SocketAddr) -> Result<(), server::SendError> {
        Ok(())
    }
}

impl server::AuthReceiver for Socket {
    fn receive(&mut self) -> Result<Option<(SocketAddr, &[u8])>, server::RecvError> {
        Ok(self.next())
    }
}

type Connection =
    (Box<dyn client::IdentityReceiver>, Box<dyn client::PacketSender>, Box<dyn client::PacketReceiver>);

impl From<Sockets> for Box<dyn client::Socket> {
    fn from(sockets: Sockets) -> Box<dyn client::Socket> {
        Box::new(sockets)
    }
}

impl client::Socket for Sockets {
    fn connect(self: Box<Self>) -> Connection {
        self.connect_with_auth(Vec::new())
    }

    fn connect_with_auth(self: Box<Self>, introduction: Vec<u8>) -> Connection {
        let Sockets { data, introductions } = *self;
        introductions.socket.send_to(&introduction, introductions.server).expect("a server that listens");
        (Box::new(introductions), Box::new(data.clone()), Box::new(data))
    }

    fn connect_with_auth_headers(self: Box<Self>, _: Vec<(String, String)>) -> Connection {
        self.connect()
    }

    fn connect_with_auth_and_headers(
        self: Box<Self>,
        introduction: Vec<u8>,
        _: Vec<(String, String)>,
    ) -> Connection {
        self.connect_with_auth(introduction)
    }
}

impl client::PacketSender for Socket {
    fn send(&self, packet: &[u8]) -> Result<(), client::SendError> {
        self.socket.send_to(packet, self.server).map(|_| ()).map_err(|_| client::SendError)
    }

    fn server_addr(&self) -> client::ServerAddr {
        client::ServerAddr::Found(self.server)
    }
}

impl client::PacketReceiver for Socket {
    fn receive(&mut self) -> Result<Option<&[u8]>, client::RecvError> {
        Ok(self.next().map(|(_, packet)| packet))
    }

    fn server_addr(&self) -> client::ServerAddr {
        client::ServerAddr::Found(self.server)
    }
}

impl client::IdentityReceiver for Socket {
    fn receive(&mut self) -> client::IdentityReceiverResult {
        match self.next() {
            Some((_, token)) => {
                client::IdentityReceiverResult::Success(String::from_utf8_lossy(token).into_owned())
            }
            None => client::IdentityReceiverResult::Waiting,
        }
    }
}
