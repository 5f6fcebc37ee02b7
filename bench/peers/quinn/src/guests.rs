//! The clients' side. Tasks of the runtime receive; decoding is done when the harness polls.

use crate::{certificate_path, runtime, transport};
use bytes::Bytes;
use peer_common::plain::View;
use peer_common::{Clients, Heard, Options, RELIABLE_BYTES, State, Workload};
use quinn::{ClientConfig, Connection, Endpoint};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;

enum Message {
    Reliable([u8; RELIABLE_BYTES]),
    Datagram(Bytes),
}

type Inbox = mpsc::Sender<(usize, Message)>;

pub struct Guests {
    messages: mpsc::Receiver<(usize, Message)>,
    views: Vec<View>,
    workload: Workload,
    heard: Heard,
    /// Ends all tasks when it is dropped.
    _runtime: Runtime,
}

impl Guests {
    pub fn connect(options: &Options) -> Guests {
        let runtime = runtime();
        let (inbox, messages) = mpsc::channel();
        let config = client_config(options);
        for number in 0..options.clients {
            runtime.spawn(guest(number, options.dial_address(), config.clone(), inbox.clone()));
        }
        Guests {
            messages,
            views: vec![View::new(options.objects); options.clients],
            workload: options.workload,
            heard: Heard::new(options.clients),
            _runtime: runtime,
        }
    }
}

fn client_config(options: &Options) -> ClientConfig {
    let path = certificate_path(options);
    let certificate = std::fs::read(&path).expect("the server's certificate");
    // Only this process needs it; what remains of it would be litter.
    let _ = std::fs::remove_file(&path);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate)).expect("a certificate");
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a configuration");
    config.transport_config(transport());
    config
}

async fn guest(number: usize, server: SocketAddr, config: ClientConfig, inbox: Inbox) {
    let endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
    let connecting = endpoint.connect_with(config, server, "localhost").expect("an address");
    let connection = connecting.await.expect("a connection");
    tokio::spawn(datagrams(number, connection.clone(), inbox.clone()));
    let mut stream = connection.accept_uni().await.expect("a stream");
    let mut message = [0; RELIABLE_BYTES];
    // The first only makes the stream known.
    stream.read_exact(&mut message).await.expect("a message");
    while stream.read_exact(&mut message).await.is_ok() {
        if inbox.send((number, Message::Reliable(message))).is_err() {
            return;
        }
    }
}

async fn datagrams(number: usize, connection: Connection, inbox: Inbox) {
    while let Ok(datagram) = connection.read_datagram().await {
        if inbox.send((number, Message::Datagram(datagram))).is_err() {
            return;
        }
    }
}

impl Clients for Guests {
    fn poll(&mut self, _: Duration) {
        while let Ok((number, message)) = self.messages.try_recv() {
            match message {
                Message::Reliable(message) => self.heard.reliable(number, &message),
                Message::Datagram(datagram) if self.workload == Workload::Replicate => {
                    self.views[number].decode(&datagram);
                }
                Message::Datagram(_) => self.heard.unreliable(),
            }
        }
    }

    fn updates(&self) -> u64 {
        self.views.iter().map(View::updates).sum()
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        self.views[client].read(into);
    }

    fn heard(&self) -> Option<&Heard> {
        Some(&self.heard)
    }
}
