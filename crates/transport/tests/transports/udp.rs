//! What is particular to UDP.

use std::net::UdpSocket;

use netloom_transport::{
    Batch, Micros, PeerAddress, Transport, TransportError, TransportEvent, UdpConfig, UdpTransport,
};

use crate::rig::{self, Rig, address};

fn bind(text: &str) -> UdpTransport {
    UdpTransport::bind(address(text), UdpConfig::default()).unwrap()
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let first = bind("127.0.0.1:0");
    let taken = first.local_address();
    let message = UdpTransport::bind(taken, UdpConfig::default()).unwrap_err().to_string();
    assert!(message.starts_with(&format!("cannot bind UDP to {taken}: ")), "{message}");
    assert!(message.contains("another program has this port"), "{message}");
}

#[test]
fn an_address_of_another_machine_is_named_with_what_to_do() {
    let message = UdpTransport::bind(address("192.0.2.1:0"), UdpConfig::default()).unwrap_err().to_string();
    assert!(message.contains("192.0.2.1:0") && message.contains("0.0.0.0"), "{message}");
}

#[test]
fn a_peer_in_memory_is_no_address_for_a_socket() {
    for made in [
        UdpTransport::bind(PeerAddress::Memory(3), UdpConfig::default()),
        UdpTransport::connect(PeerAddress::Memory(3), UdpConfig::default()),
    ] {
        assert_eq!(made.unwrap_err().to_string(), "UDP does not know addresses such as memory:3");
    }
}

#[test]
fn impossible_settings_are_named() {
    let made = UdpTransport::bind(address("127.0.0.1:0"), UdpConfig { mtu_bytes: 0, ..UdpConfig::default() });
    assert!(matches!(&made, Err(TransportError::Config(error)) if error.field == "mtu_bytes"), "{made:?}");
}

#[test]
fn the_granted_receive_buffer_is_told() {
    let small = UdpConfig { receive_buffer_bytes: 64 << 10, ..UdpConfig::default() };
    let small = UdpTransport::bind(address("127.0.0.1:0"), small).unwrap();
    assert_eq!(small.receive_buffer_bytes(), 64 << 10, "every system grants this much");
    assert!(bind("127.0.0.1:0").receive_buffer_bytes() > 64 << 10);
}

/// Sends to a server from a plain socket until it hears, and returns how the server sees it.
fn seen_from(server: &mut UdpTransport, socket: &UdpSocket, to: std::net::SocketAddr) -> PeerAddress {
    let mut batch = Batch::new(4, 1_200).unwrap();
    socket.send_to(b"hello", to).unwrap();
    server.wait(Micros::ZERO, Micros::from_secs(20)).unwrap();
    server.receive(Micros::ZERO, &mut batch).unwrap();
    if batch.is_empty() {
        // The first wait of a new socket returns at once.
        server.wait(Micros::ZERO, Micros::from_secs(20)).unwrap();
        server.receive(Micros::ZERO, &mut batch).unwrap();
    }
    batch.iter().next().expect("loopback loses nothing").address()
}

#[test]
fn a_dual_stack_server_answers_both_families_under_their_own_addresses() {
    let mut server = bind("[::]:0");
    let port = server.local_address().to_socket_addr().port();
    for local in ["127.0.0.1:0", "[::1]:0"] {
        let socket = UdpSocket::bind(local).unwrap();
        let own = socket.local_addr().unwrap();
        let peer = seen_from(&mut server, &socket, (own.ip(), port).into());
        assert_eq!(peer, PeerAddress::Socket(own), "IPv4 peers are not seen as mapped IPv6 addresses");
        let mut batch = Batch::new(4, 1_200).unwrap();
        assert!(batch.push(peer, b"welcome"));
        assert_eq!(server.send(Micros::ZERO, &mut batch).unwrap(), 1);
        let mut answer = [0; 16];
        socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let (length, _) = socket.recv_from(&mut answer).unwrap();
        assert_eq!(&answer[..length], b"welcome");
    }
}

#[test]
fn an_ipv6_only_server_and_an_ipv4_server_may_share_a_port_number() {
    let v4 = bind("0.0.0.0:0");
    let port = v4.local_address().to_socket_addr().port();
    let v6_only = UdpConfig { is_v6_only: true, ..UdpConfig::default() };
    UdpTransport::bind(address(&format!("[::]:{port}")), v6_only).unwrap();
}

#[test]
fn an_ipv4_socket_counts_what_is_for_ipv6_peers() {
    let mut v4 = bind("127.0.0.1:0");
    let mut batch = Batch::new(4, 1_200).unwrap();
    assert!(batch.push(address("[::1]:9"), b"?"));
    assert_eq!(v4.send(Micros::ZERO, &mut batch).unwrap(), 0);
    assert_eq!((v4.counters().dropped_unroutable, batch.len()), (1, 0));
}

#[test]
fn a_refusal_is_a_hint_and_the_socket_lives_on() {
    for mut rig in [rig::udp(), rig::udp_one_at_a_time(), rig::udp_v6()] {
        let server_address = rig.server.local_address();
        let mut client = rig.client();
        rig.meet(&mut *client);
        let Rig { server, .. } = rig;
        drop(server);
        let mut batch = Batch::new(64, 1_200).unwrap();
        let mut reports = Vec::new();
        for _ in 0..1_000 {
            batch.push(server_address, b"are you there?");
            client.send(Micros::ZERO, &mut batch).unwrap();
            client.receive(Micros::ZERO, &mut batch).unwrap();
            batch.clear();
            reports.extend(rig::events(&mut *client));
            if !reports.is_empty() {
                break;
            }
        }
        assert_eq!(reports.first(), Some(&TransportEvent::Unreachable(server_address)));
        assert!(client.counters().unreachable_reports > 0);
        // The same port, and somebody is there again.
        let mut again = UdpTransport::bind(server_address, UdpConfig::default()).unwrap();
        let mut heard = Batch::new(64, 1_200).unwrap();
        while heard.is_empty() {
            batch.push(server_address, b"and now?");
            client.send(Micros::ZERO, &mut batch).unwrap();
            again.wait(Micros::ZERO, Micros::from_secs(1)).unwrap();
            again.receive(Micros::ZERO, &mut heard).unwrap();
        }
        assert_eq!(heard.iter().next().unwrap().bytes(), b"and now?");
    }
}

#[test]
fn a_cut_datagram_is_dropped_counted_and_those_around_it_delivered() {
    for batches_system_calls in [true, false] {
        let config = UdpConfig { mtu_bytes: 100, batches_system_calls, ..UdpConfig::default() };
        let mut server = UdpTransport::bind(address("127.0.0.1:0"), config).unwrap();
        let to = server.local_address().to_socket_addr();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for length in [100, 101, 99, 1_400, 1] {
            socket.send_to(&vec![length as u8; length], to).unwrap();
        }
        // Slots with and without room for more than the mtu.
        for slot_bytes in [100, 2_000] {
            let mut batch = Batch::new(64, slot_bytes).unwrap();
            while batch.len() < 3 {
                server.wait(Micros::ZERO, Micros::from_secs(20)).unwrap();
                server.receive(Micros::ZERO, &mut batch).unwrap();
            }
            let lengths: Vec<_> = batch.iter().map(|datagram| datagram.bytes().len()).collect();
            assert_eq!(lengths, [100, 99, 1]);
            assert!(batch.iter().all(|datagram| datagram.bytes()[0] as usize == datagram.bytes().len()));
            for length in [100, 101, 99, 1_400, 1] {
                socket.send_to(&vec![length as u8; length], to).unwrap();
            }
        }
        assert_eq!(server.counters().dropped_truncated, 4);
    }
}

#[test]
fn a_connected_client_hears_its_server_only() {
    let mut server = bind("127.0.0.1:0");
    let mut client = UdpTransport::connect(server.local_address(), UdpConfig::default()).unwrap();
    let mut batch = Batch::new(4, 1_200).unwrap();
    let client_address = PeerAddress::from(std::net::SocketAddr::from((
        [127, 0, 0, 1],
        client.local_address().to_socket_addr().port(),
    )));
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"forged", client_address.to_socket_addr()).unwrap();
    assert!(batch.push(client_address, b"genuine"));
    server.send(Micros::ZERO, &mut batch).unwrap();
    while batch.is_empty() {
        client.wait(Micros::ZERO, Micros::from_secs(20)).unwrap();
        client.receive(Micros::ZERO, &mut batch).unwrap();
    }
    assert_eq!(batch.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(), [b"genuine"]);
    batch.clear();
    assert!(batch.push(address("127.0.0.1:9"), b"elsewhere"));
    assert_eq!(client.send(Micros::ZERO, &mut batch).unwrap(), 0);
    assert_eq!(client.counters().dropped_unroutable, 1);
}
