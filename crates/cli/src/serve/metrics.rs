//! `/metrics` and `/healthz` over HTTP, in a thread of its own: whatever is asked there, the game does not notice.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use netloom::clock::Clock;
use netloom::prelude::Micros;
use netloom::transport::http::{Request, Response};
use netloom::transport::{Batch, Transport, TransportEvent, Waker, WebSocketConfig, WebSocketTransport};
use netloom::{Address, Stats};

/// How long the thread sleeps at most.
const SLEEP_MAX: Micros = Micros::from_secs(1);

/// The thread, until it is dropped.
pub struct Metrics {
    address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Metrics {
    /// Listens at an address and answers with what the figures are then.
    pub fn start(address: &str, stats: Arc<Stats>) -> Result<Metrics, String> {
        let about = |error: String| format!("{error} (for metrics: --metrics, or server.metrics)");
        let at: Address = address.parse().map_err(|error: netloom::AddressError| about(error.to_string()))?;
        let at = at.resolve().map_err(|error| about(error.to_string()))?;
        // Nothing here is secret, and whoever names an address that others reach wants them to.
        let config = WebSocketConfig { allows_plain_on_network: true, ..WebSocketConfig::default() };
        let mut transport =
            WebSocketTransport::listen(at.into(), config).map_err(|error| about(error.to_string()))?;
        transport.serve_http(move |request| answer(request, &stats));
        let address = transport.local_address().to_socket_addr();
        let (is_stopping, waker) = (Arc::new(AtomicBool::new(false)), transport.waker());
        let stop = Arc::clone(&is_stopping);
        let thread = std::thread::Builder::new()
            .name(String::from("netloom-metrics"))
            .spawn(move || {
                if let Err(error) = serve(&mut transport, &stop) {
                    tracing::error!(%error, "metrics are no longer served");
                }
            })
            .map_err(|error| about(error.to_string()))?;
        Ok(Metrics { address, is_stopping, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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
        transport.wait(now, now + SLEEP_MAX)?;
    }
    Ok(())
}

fn answer(request: &Request<'_>, stats: &Stats) -> Response {
    match request.path() {
        "/metrics" => Response::new(200, "text/plain; version=0.0.4; charset=utf-8", stats.prometheus()),
        "/healthz" => match stats.health() {
            Ok(()) => Response::text(200, "ok\n"),
            Err(problem) => Response::text(503, format!("{problem}\n")),
        },
        _ => Response::text(404, "there is /metrics and /healthz\n"),
    }
}
