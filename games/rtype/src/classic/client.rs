//! A classic client: a socket, a thread that receives, and a queue between.
//!
//! ```no_run
//! use netloom_rtype::classic::Client;
//! use netloom_rtype::classic::codec::{FromServer, PlayerInput, ToServer};
//!
//! let mut client = Client::connect("127.0.0.1", "12345")?;
//! while client.is_connected() {
//!     client.say(ToServer::Input(PlayerInput::UP.with(PlayerInput::SHOOT)))?;
//!     while let Some(datagram) = client.try_pop_message() {
//!         println!("{:?}", FromServer::decode(&datagram));
//!     }
//!     // … draw a frame …
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::codec::{Cookie, DATAGRAM_BYTES_MAX, ErrorCode, FromServer, Join, ToClient, ToServer, Token};

/// Messages that wait to be popped; the oldest give way.
const INBOX_MAX: usize = 4_096;
/// How often the client asks to be let in, and shows that it is there.
const JOIN_EVERY: Duration = Duration::from_millis(250);
const PING_EVERY: Duration = Duration::from_secs(1);
/// Without a word for so long the server is gone.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// How long the thread listens before it looks at the time.
const LISTEN: Duration = Duration::from_millis(20);
/// Goodbyes: one of them may be lost.
const FAREWELLS: usize = 3;

/// What thread and owner share.
#[derive(Default)]
struct Shared {
    is_connected: AtomicBool,
    is_stopping: AtomicBool,
    inbox: Mutex<VecDeque<Vec<u8>>>,
    session: Mutex<Session>,
}

#[derive(Clone, Copy, Default)]
struct Session {
    cookie: Option<Cookie>,
    token: Option<Token>,
    ended: Option<ErrorCode>,
}

impl Shared {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbox(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See the [module](self).
pub struct Client {
    socket: Arc<UdpSocket>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    /// Begins to connect; [`is_connected`](Client::is_connected) says when that has succeeded.
    pub fn connect(address: &str, port: &str) -> io::Result<Client> {
        let port: u16 = port.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let server = (address, port).to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let any: SocketAddr = match server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(LISTEN))?;
        let (socket, shared) = (Arc::new(socket), Arc::new(Shared::default()));
        let listener = Listener { socket: Arc::clone(&socket), shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name(String::from("classic-client"));
        let thread = Some(thread.spawn(move || listener.run())?);
        Ok(Client { socket, shared, thread })
    }

    /// Whether there is a session.
    pub fn is_connected(&self) -> bool {
        self.shared.is_connected.load(Ordering::Acquire)
    }

    /// Why there is no session any more, if the server said so.
    pub fn ended(&self) -> Option<ErrorCode> {
        self.shared.session().ended
    }

    /// Sends a datagram as it is.
    pub fn send(&self, datagram: &[u8]) -> io::Result<()> {
        self.socket.send(datagram).map(drop)
    }

    /// Sends a message, with the token of the session.
    pub fn say(&self, message: ToServer) -> io::Result<()> {
        say(&self.socket, &self.shared, message)
    }

    /// Asks the server to answer, with an empty PING.
    pub fn send_ping(&self) -> io::Result<()> {
        self.say(ToServer::Ping(None))
    }

    /// The next datagram that came, if there is one. Never waits.
    pub fn try_pop_message(&self) -> Option<Vec<u8>> {
        self.shared.inbox().pop_front()
    }

    /// Says goodbye, and waits for the end of the thread. There is no session after this.
    pub fn disconnect(&mut self) {
        if self.is_connected() {
            // Whoever cannot say goodbye is missed after five seconds.
            let _said = (0..FAREWELLS).try_for_each(|_| self.say(ToServer::Leave));
        }
        self.shared.is_stopping.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of a classic client panicked");
        }
        self.shared.is_connected.store(false, Ordering::Release);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.disconnect();
    }
}

fn say(socket: &UdpSocket, shared: &Shared, message: ToServer) -> io::Result<()> {
    let mut out = [0; ToServer::BYTES_MAX];
    let length = message.signed(shared.session().token).encode(&mut out).map_err(io::Error::other)?;
    socket.send(&out[..length]).map(drop)
}

/// What the thread does.
struct Listener {
    socket: Arc<UdpSocket>,
    shared: Arc<Shared>,
}

impl Listener {
    fn run(self) {
        let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
        let (mut heard, mut said) = (Instant::now(), None::<Instant>);
        while !self.shared.is_stopping.load(Ordering::Acquire) && self.shared.session().ended.is_none() {
            let is_connected = self.shared.is_connected.load(Ordering::Acquire);
            let every = if is_connected { PING_EVERY } else { JOIN_EVERY };
            if said.is_none_or(|said| said.elapsed() >= every) {
                self.show_up(is_connected);
                said = Some(Instant::now());
            }
            if is_connected && heard.elapsed() > SILENCE_MAX {
                break;
            }
            // An error is a report that nobody is there, or the time is up; both are found out by silence.
            let Ok(length) = self.socket.recv(&mut buffer) else { continue };
            heard = Instant::now();
            let Some(datagram) = buffer.get(..length) else { continue };
            if self.handle_datagram(datagram) {
                // The next word is the answer to what was just said.
                said = None;
            }
        }
        self.shared.is_connected.store(false, Ordering::Release);
    }

    fn show_up(&self, is_connected: bool) {
        let message = match (is_connected, self.shared.session().cookie) {
            (true, _) => ToServer::Ping(None),
            (false, None) => ToServer::Join(Some(Join::FIRST)),
            (false, Some(cookie)) => ToServer::Join(Some(Join::with(cookie))),
        };
        if let Err(error) = say(&self.socket, &self.shared, message) {
            tracing::debug!(%error, "a classic client cannot send");
        }
    }

    /// Takes in a datagram; whether it is a challenge, to be answered at once.
    fn handle_datagram(&self, datagram: &[u8]) -> bool {
        let mut session = self.shared.session();
        match FromServer::decode(datagram) {
            Ok(FromServer::Message(ToClient::Challenge(cookie))) => {
                session.cookie = cookie;
                return cookie.is_some() && session.token.is_none();
            }
            Ok(FromServer::Message(ToClient::Session(token))) => {
                session.token = Some(token);
                self.shared.is_connected.store(true, Ordering::Release);
                return false;
            }
            Ok(FromServer::Message(ToClient::Error(error))) if error.code.ends_session() => {
                session.ended = Some(error.code);
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a datagram of the server makes no sense");
                return false;
            }
        }
        drop(session);
        let mut inbox = self.shared.inbox();
        if inbox.len() == INBOX_MAX {
            inbox.pop_front();
        }
        inbox.push_back(datagram.to_vec());
        false
    }
}
