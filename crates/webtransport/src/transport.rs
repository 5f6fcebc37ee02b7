//! The transport: a table that the caller looks at, and a thread that fills it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use netloom_transport::toolkit::{check_slots, sleep_time};
use netloom_transport::websocket::PATH;
use netloom_transport::{
    Batch, Capabilities, Counters, Micros, PeerAddress, PeerStatus, Transport, TransportError,
    TransportEvent, Waker,
};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use wtransport::{Endpoint, VarInt};

use crate::certificate::Certificates;
use crate::config::{Trust, WebTransportConfig};
use crate::dial::dial;
use crate::error::WebTransportError;
use crate::limits::{GOODBYE_MAX, LEAVE_LOOK, LEAVE_MAX, MTU_BYTES};
use crate::listen::listen;
use crate::quic;
use crate::table::Table;

/// Sessions over WebTransport: those that a listener accepted, or the one that was asked for.
///
/// ```
/// use netloom_transport::{Batch, Micros, Transport};
/// use netloom_webtransport::{Certificates, Trust, WebTransport, WebTransportConfig};
///
/// let config = WebTransportConfig::default();
/// let certificates = Certificates::self_signed(&["localhost"])?;
/// let mut server = WebTransport::listen("127.0.0.1:0".parse()?, config.clone(), &certificates)?;
/// let trust = Trust::Hashes(certificates.hashes());
/// let mut client = WebTransport::connect("localhost", server.local_address(), config, &trust)?;
/// let mut batch = Batch::new(64, server.capabilities().mtu_bytes)?;
///
/// batch.push(server.local_address(), b"hello"); // waits for the session
/// client.send(Micros::ZERO, &mut batch)?;
/// while server.receive(Micros::ZERO, &mut batch)? == 0 {
///     server.wait(Micros::ZERO, Micros::from_millis(10))?;
/// }
/// assert_eq!(batch.iter().next().expect("it was sent").bytes(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WebTransport {
    table: Arc<Table>,
    local: PeerAddress,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl WebTransport {
    /// A listener at an address, with a thread of its own. Port 0 lets the system choose; `[::]` is every address of both families,
    /// and of IPv4 alone on a machine without IPv6.
    pub fn listen(
        address: PeerAddress,
        config: WebTransportConfig,
        certificates: &Certificates,
    ) -> Result<WebTransport, WebTransportError> {
        config.check()?;
        let at = socket_address(address)?;
        let runtime = runtime()?;
        let endpoint = {
            let _context = runtime.enter();
            quic::bind(at, &config, certificates)?
        };
        let local = endpoint.local_addr().map_err(TransportError::system("asking for the port"))?;
        let table = Arc::new(Table::new(config, None));
        let work = {
            let table = Arc::clone(&table);
            async move |stop: Arc<Notify>| {
                listen(&endpoint, &table, &stop).await;
                finish(&table, &endpoint).await;
            }
        };
        WebTransport::start(runtime, table, local, work)
    }

    /// A session with a server: its host, as certificates name it, and its address. What is sent to it before it is open waits; when it
    /// has ended, the next thing that is sent makes another one.
    pub fn connect(
        host: &str,
        server: PeerAddress,
        config: WebTransportConfig,
        trust: &Trust,
    ) -> Result<WebTransport, WebTransportError> {
        config.check()?;
        let at = socket_address(server)?;
        let url = url(host, at.port())?;
        let runtime = runtime()?;
        let endpoint = {
            let _context = runtime.enter();
            quic::client(at, &config, trust)?
        };
        let local = endpoint.local_addr().map_err(TransportError::system("asking for the port"))?;
        let table = Arc::new(Table::new(config, Some(server)));
        let work = {
            let table = Arc::clone(&table);
            async move |stop: Arc<Notify>| {
                dial(&endpoint, &table, server, &url, &stop).await;
                finish(&table, &endpoint).await;
            }
        };
        WebTransport::start(runtime, table, local, work)
    }

    fn start<W>(
        runtime: Runtime,
        table: Arc<Table>,
        local: SocketAddr,
        work: W,
    ) -> Result<WebTransport, WebTransportError>
    where
        W: AsyncFnOnce(Arc<Notify>) + Send + 'static,
    {
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let body = move || runtime.block_on(work(stopped));
        let thread = std::thread::Builder::new().name(String::from("netloom-webtransport")).spawn(body);
        let thread = thread.map_err(TransportError::system("starting a thread"))?;
        Ok(WebTransport { table, local: local.into(), stop, thread: Some(thread) })
    }
}

/// Sends what waits, and says goodbye to everybody.
async fn finish<Side>(table: &Table, endpoint: &Endpoint<Side>) {
    let is_flushed = async {
        while !table.is_flushed() {
            sleep(LEAVE_LOOK).await;
        }
    };
    // Whoever takes nothing must not keep the rest.
    let _is_late = timeout(LEAVE_MAX, is_flushed).await;
    endpoint.close(VarInt::from_u32(0), b"");
    let _is_late = timeout(GOODBYE_MAX, endpoint.wait_idle()).await;
}

fn runtime() -> Result<Runtime, TransportError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(TransportError::system("making a runtime"))
}

fn socket_address(address: PeerAddress) -> Result<SocketAddr, TransportError> {
    match address {
        PeerAddress::Socket(at) => Ok(at),
        PeerAddress::Memory(_) => Err(TransportError::WrongAddress { protocol: quic::PROTOCOL, address }),
    }
}

fn url(host: &str, port: u16) -> Result<String, WebTransportError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:%".contains(letter);
    if host.is_empty() || !host.chars().all(is_plain) {
        return Err(WebTransportError::Host(host.to_owned()));
    }
    Ok(match host.contains(':') {
        true => format!("https://[{host}]:{port}{PATH}"),
        false => format!("https://{host}:{port}{PATH}"),
    })
}

impl Drop for WebTransport {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // What it says now concerns nobody any more.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for WebTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebTransport").field("local", &self.local).finish_non_exhaustive()
    }
}

impl Transport for WebTransport {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reliable: false, ordered: false, mtu_bytes: MTU_BYTES, secure: true }
    }

    fn local_address(&self) -> PeerAddress {
        self.local
    }

    fn send(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        self.table.send(batch)
    }

    fn receive(&mut self, _now: Micros, batch: &mut Batch) -> Result<usize, TransportError> {
        check_slots(batch, MTU_BYTES)?;
        Ok(self.table.fetch(batch))
    }

    fn wait(&mut self, now: Micros, deadline: Micros) -> Result<(), TransportError> {
        if !self.table.has_datagrams() {
            self.table.bell.wait(sleep_time(now, deadline));
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.table.bell.waker()
    }

    fn poll_event(&mut self) -> Option<TransportEvent> {
        self.table.poll_event()
    }

    fn status(&self, peer: PeerAddress) -> PeerStatus {
        self.table.status(peer)
    }

    fn disconnect(&mut self, peer: PeerAddress) {
        self.table.disconnect(peer);
    }

    fn counters(&self) -> Counters {
        self.table.counters()
    }
}
