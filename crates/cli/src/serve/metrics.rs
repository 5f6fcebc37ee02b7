//! `/metrics`, `/healthz` and the [dashboard](super::dashboard) over HTTP, in a thread of its own: whatever is asked there, the game does
//! not notice.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use netloom::clock::Clock;
use netloom::prelude::Micros;
use netloom::transport::http::{Request, Response};
use netloom::transport::{Batch, Transport, TransportEvent, Waker, WebSocketConfig, WebSocketTransport};
use netloom::{Address, Stats};

use super::dashboard::{self, Dashboard};

/// How long the thread sleeps at most.
const SLEEP_MAX: Micros = Micros::from_secs(1);

/// The thread, until it is dropped.
pub struct Metrics {
    address: SocketAddr,
    has_dashboard: bool,
    is_stopping: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Metrics {
    /// Listens at an address and answers with what the figures are then.
    pub fn start(address: &str, stats: Arc<Stats>, dashboard: Option<Dashboard>) -> Result<Metrics, String> {
        let about = |error: String| format!("{error} (for metrics: --metrics, or server.metrics)");
        let at: Address = address.parse().map_err(|error: netloom::AddressError| about(error.to_string()))?;
        let at = at.resolve().map_err(|error| about(error.to_string()))?;
        let config = WebSocketConfig {
            // Nothing here is secret, and whoever names an address that others reach wants them to. The dashboard looks at who asks.
            allows_plain_on_network: true,
            http_body_bytes_max: if dashboard.is_some() { dashboard::BODY_BYTES_MAX } else { 0 },
            ..WebSocketConfig::default()
        };
        let mut transport =
            WebSocketTransport::listen(at.into(), config).map_err(|error| about(error.to_string()))?;
        let (sampled, has_dashboard) = (dashboard.clone(), dashboard.is_some());
        transport.serve_http(move |request| answer(request, &stats, dashboard.as_ref()));
        let address = transport.local_address().to_socket_addr();
        let (is_stopping, waker) = (Arc::new(AtomicBool::new(false)), transport.waker());
        let stop = Arc::clone(&is_stopping);
        let thread = std::thread::Builder::new()
            .name(String::from("netloom-metrics"))
            .spawn(move || {
                if let Err(error) = serve(&mut transport, sampled.as_ref(), &stop) {
                    tracing::error!(%error, "metrics are no longer served");
                }
            })
            .map_err(|error| about(error.to_string()))?;
        Ok(Metrics { address, has_dashboard, is_stopping, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where this machine finds the dashboard, if there is one.
    pub fn dashboard(&self) -> Option<String> {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let is_near = ip.to_canonical().is_loopback();
        let address = SocketAddr::new(ip, self.address.port());
        (self.has_dashboard && is_near).then(|| format!("http://{address}{}", dashboard::PATH))
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(
    transport: &mut WebSocketTransport,
    dashboard: Option<&Dashboard>,
    stop: &AtomicBool,
) -> Result<(), netloom::transport::TransportError> {
    let clock = Clock::new();
    let mut batch = Batch::new(1, transport.capabilities().mtu_bytes)?;
    while !stop.load(Ordering::Acquire) {
        transport.receive(clock.now(), &mut batch)?;
        batch.clear();
        while let Some(event) = transport.poll_event() {
            // There is nothing here for a WebSocket.
            if let TransportEvent::Opened(peer) = event {
                transport.disconnect(peer);
            }
        }
        let now = clock.now();
        let due = dashboard.map_or(Micros::MAX, |dashboard| dashboard.handle_time(now));
        transport.wait(now, due.min(now + SLEEP_MAX))?;
    }
    Ok(())
}

fn answer(request: &Request<'_>, stats: &Stats, dashboard: Option<&Dashboard>) -> Response {
    match (request.path(), dashboard) {
        (path, Some(dashboard)) if dashboard::is_needed(path) => dashboard.answer(request),
        _ if request.method() == "POST" => {
            Response::text(405, "only GET and HEAD are served here\n").with_field("Allow", "GET, HEAD")
        }
        (path, _) => answer_figures(path, stats),
    }
}

fn answer_figures(path: &str, stats: &Stats) -> Response {
    match path {
        "/metrics" => Response::new(200, "text/plain; version=0.0.4; charset=utf-8", stats.prometheus()),
        "/healthz" => match stats.health() {
            Ok(()) => Response::text(200, "ok\n"),
            Err(problem) => Response::text(503, format!("{problem}\n")),
        },
        _ => Response::text(404, "there is /metrics and /healthz\n"),
    }
}
