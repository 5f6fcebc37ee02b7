//! quinn (QUIC with TLS 1.3): snapshots as datagrams, reliable messages on one stream per client.
//!
//! Its runtime has one worker thread, so only the figure of all threads tells what it costs.

#![forbid(unsafe_code)]

mod guests;
mod host;

use peer_common::{Contender, Options, run};
use quinn::TransportConfig;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// As large a datagram as a path of the Internet nearly always carries; QUIC would find out itself, later.
const MTU_BYTES: u16 = 1400;
const IDLE_MAX: Duration = Duration::from_secs(30);

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.initial_mtu(MTU_BYTES).max_idle_timeout(Some(IDLE_MAX.try_into().expect("a short time")));
    Arc::new(config)
}

/// Where the server leaves its certificate for the clients; no other process has this port.
fn certificate_path(options: &Options) -> PathBuf {
    std::env::temp_dir().join(format!("netloom-peers-quinn-{}.der", options.server_address().port()))
}

fn main() {
    let contender = Contender { name: "quinn", settings: &["exact"], has_messages: true };
    run(contender, host::Host::listen, guests::Guests::connect);
}
