//! The server's side.

use crate::{certificate_path, runtime, transport};
use bytes::Bytes;
use peer_common::plain::encode;
use peer_common::{Options, RELIABLE_BYTES, Server, UNRELIABLE_BYTES, Walk};
use quinn::{Connection, Endpoint, SendStream, ServerConfig};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::runtime::Runtime;

type Connections = Vec<(Connection, SendStream)>;

pub struct Host {
    connections: Arc<Mutex<Connections>>,
    buffer: Vec<u8>,
    runtime: Runtime,
}

impl Host {
    pub fn listen(options: &Options) -> Host {
        let runtime = runtime();
        let certified =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let certificate = certified.cert.der().clone();
        std::fs::write(certificate_path(options), &certificate).expect("room for a certificate");
        let mut config =
            ServerConfig::with_single_cert(vec![certificate], key.into()).expect("a configuration");
        config.transport_config(transport());
        let connections: Arc<Mutex<Connections>> = Arc::default();
        let endpoint = {
            let _guard = runtime.enter();
            Endpoint::server(config, options.server_address()).expect("a free port")
        };
        runtime.spawn(accept(endpoint, connections.clone()));
        Host { connections, buffer: Vec::new(), runtime }
    }
}

async fn accept(endpoint: Endpoint, connections: Arc<Mutex<Connections>>) {
    while let Some(incoming) = endpoint.accept().await {
        let Ok(connection) = incoming.await else { continue };
        let Ok(mut stream) = connection.open_uni().await else { continue };
        // A client sees a stream only once something is on it.
        if stream.write_all(&[0; RELIABLE_BYTES]).await.is_ok() {
            lock(&connections).push((connection, stream));
        }
    }
}

fn lock(connections: &Mutex<Connections>) -> MutexGuard<'_, Connections> {
    connections.lock().expect("nobody panicked")
}

impl Server for Host {
    fn ready_count(&mut self) -> usize {
        lock(&self.connections).len()
    }

    fn tick(&mut self, walk: &Walk, is_send_tick: bool) {
        if is_send_tick {
            let connections = lock(&self.connections);
            encode(walk, &mut self.buffer, |message| {
                let message = Bytes::copy_from_slice(message);
                for (connection, _) in &*connections {
                    // A connection that has no room loses the datagram, as networks do.
                    let _ = connection.send_datagram(message.clone());
                }
            });
        }
    }

    fn tick_messages(
        &mut self,
        reliable: &[[u8; RELIABLE_BYTES]],
        unreliable: Option<&[u8; UNRELIABLE_BYTES]>,
    ) {
        let unreliable = unreliable.map(|message| Bytes::copy_from_slice(message));
        let reliable = reliable.as_flattened();
        for (connection, stream) in &mut *lock(&self.connections) {
            if let Some(message) = &unreliable {
                let _ = connection.send_datagram(message.clone());
            }
            if !reliable.is_empty() {
                self.runtime.block_on(stream.write_all(reliable)).expect("a connection");
            }
        }
    }
}
