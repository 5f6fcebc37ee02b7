//! The settings of QUIC that this crate's limits come down to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use netloom_transport::{Micros, TransportError};
use wtransport::config::{Ipv6DualStackConfig, QuicTransportConfig, TlsServerConfig};
use wtransport::endpoint::endpoint_side::{Client, Server};
use wtransport::quinn::{IdleTimeout, VarInt};
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::rustls::RootCertStore;
use wtransport::tls::rustls::crypto::ring;
use wtransport::tls::rustls::version::TLS13;
use wtransport::tls::{Sha256Digest, WEBTRANSPORT_ALPN, build_native_cert_store};
use wtransport::{ClientConfig, Endpoint, ServerConfig};

use crate::certificate::Certificates;
use crate::config::{Trust, WebTransportConfig};
use crate::dial::Resolved;
use crate::error::WebTransportError;
use crate::limits::{
    BIDI_STREAMS_MAX, CRYPTO_BYTES_MAX, INCOMING_BYTES_MAX, INCOMING_BYTES_TOTAL_MAX, INCOMING_MAX,
    PACKET_BYTES_MIN, QUIC_INBOX_BYTES, STREAM_BYTES_MAX, STREAMS_BYTES_MAX, UNI_STREAMS_MAX,
};

pub(crate) const PROTOCOL: &str = "WebTransport";

/// A listening endpoint. To be called in a runtime.
pub(crate) fn bind(
    address: SocketAddr,
    config: &WebTransportConfig,
    certificates: &Certificates,
) -> Result<Endpoint<Server>, WebTransportError> {
    let mut bound = bind_at(address, config, certificates);
    // A machine without IPv6 has all of its addresses at 0.0.0.0.
    if bound.is_err() && address.ip() == std::net::Ipv6Addr::UNSPECIFIED && !config.is_v6_only {
        let all_of_v4 = SocketAddr::from(([0, 0, 0, 0], address.port()));
        bound = std::net::UdpSocket::bind((std::net::Ipv6Addr::LOCALHOST, 0))
            .err()
            .map_or(bound, |_| bind_at(all_of_v4, config, certificates));
    }
    let bind_error = |source| TransportError::Bind { protocol: PROTOCOL, address: address.into(), source };
    Ok(bound.map_err(bind_error)?)
}

fn bind_at(
    address: SocketAddr,
    config: &WebTransportConfig,
    certificates: &Certificates,
) -> std::io::Result<Endpoint<Server>> {
    let builder = ServerConfig::builder();
    let dual = if config.is_v6_only { Ipv6DualStackConfig::Deny } else { Ipv6DualStackConfig::Allow };
    let builder = match address {
        SocketAddr::V4(_) => builder.with_bind_address(address),
        SocketAddr::V6(v6) => builder.with_bind_address_v6(v6, dual),
    };
    let tls = server_tls(certificates).map_err(std::io::Error::other)?;
    let mut server = builder.with_custom_tls_and_transport(tls, transport(config)).build();
    let quic = server.quic_config_mut();
    quic.max_incoming(INCOMING_MAX);
    quic.incoming_buffer_size(INCOMING_BYTES_MAX);
    quic.incoming_buffer_size_total(INCOMING_BYTES_TOTAL_MAX);
    Endpoint::server(server)
}

fn server_tls(certificates: &Certificates) -> Result<TlsServerConfig, wtransport::tls::rustls::Error> {
    let mut tls = TlsServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificates.clone()));
    tls.alpn_protocols = vec![WEBTRANSPORT_ALPN.to_vec()];
    Ok(tls)
}

/// An endpoint that connects to a host at an address. To be called in a runtime.
pub(crate) fn client(
    server: SocketAddr,
    config: &WebTransportConfig,
    trust: &Trust,
) -> Result<Endpoint<Client>, WebTransportError> {
    let any = match server {
        SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0; 16], 0)),
    };
    let tls = match trust {
        Trust::System => build_default_tls_config(Arc::new(build_native_cert_store()), None),
        Trust::Hashes(hashes) => {
            let hashes = hashes.iter().map(|hash| Sha256Digest::new(hash.0));
            let verification = Arc::new(ServerHashVerification::new(hashes));
            build_default_tls_config(Arc::new(RootCertStore::empty()), Some(verification))
        }
    };
    let mut transport = transport(config);
    // Whoever listens knows by the connection above whether a client is there, and asks nothing of those who have left.
    transport.keep_alive_interval(Some(duration(config.idle_timeout) / 3));
    let client = ClientConfig::builder()
        .with_bind_address(any)
        .with_custom_tls_and_transport(tls, transport)
        .dns_resolver(Resolved(server))
        .build();
    let connect_error =
        |source| TransportError::Connect { protocol: PROTOCOL, address: server.into(), source };
    Ok(Endpoint::client(client).map_err(connect_error)?)
}

fn transport(config: &WebTransportConfig) -> QuicTransportConfig {
    let mut transport = QuicTransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(BIDI_STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(UNI_STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(STREAM_BYTES_MAX))
        .receive_window(VarInt::from_u32(STREAMS_BYTES_MAX))
        .send_window(STREAMS_BYTES_MAX.into())
        .crypto_buffer_size(CRYPTO_BYTES_MAX)
        .datagram_receive_buffer_size(Some(QUIC_INBOX_BYTES))
        .datagram_send_buffer_size(config.unsent_bytes_max)
        .min_mtu(PACKET_BYTES_MIN)
        .initial_mtu(PACKET_BYTES_MIN)
        // The setting was checked, so that it fits.
        .max_idle_timeout(IdleTimeout::try_from(duration(config.idle_timeout)).ok());
    transport
}

pub(crate) fn duration(time: Micros) -> Duration {
    Duration::from_micros(time.0)
}
