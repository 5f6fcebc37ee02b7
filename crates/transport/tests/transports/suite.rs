//! The promises of [`Transport`], kept by every one of them.

use netloom_transport::{Batch, Micros, PeerAddress, PeerState, Transport, TransportError, TransportEvent};

use crate::rig::{self, Rig};

/// Every function of this module that takes a rig, for every transport.
macro_rules! suite {
    ($transports:tt $promises:tt) => {
        suite!(@each $transports $promises);
    };
    (@each [$($transport:ident),*] $promises:tt) => {
        $(suite!(@one $transport $promises);)*
    };
    (@one $transport:ident [$($promise:ident),*]) => {
        mod $transport {
            $(
                #[test]
                fn $promise() {
                    super::$promise(super::rig::$transport());
                }
            )*
        }
    };
}

suite!(
    [memory, udp, udp_v6, udp_one_at_a_time, tcp, tcp_v6, websocket, websocket_v6,
     conditioned_memory, conditioned_udp, conditioned_tcp, conditioned_websocket]
    [
        a_datagram_comes_back,
        a_batch_arrives_whole_with_its_senders_address,
        an_empty_datagram_is_a_datagram,
        every_client_gets_its_own_answer,
        a_datagram_longer_than_the_mtu_is_refused_and_those_behind_it_are_sent,
        slots_shorter_than_the_mtu_are_refused,
        ten_thousand_datagrams_pass_without_an_allocation,
        a_peer_that_never_reads_costs_bounded_memory,
        a_peer_that_vanishes_leaves_the_others_served,
        nobody_at_an_address_is_counted_and_no_error,
        an_arrival_ends_a_wait,
        a_waker_ends_a_wait,
        a_deadline_ends_a_wait
    ]
);

// QUIC allocates for every packet; what it may keep is tested where it is bounded.
suite!(
    [webtransport, webtransport_v6, conditioned_webtransport]
    [
        a_datagram_comes_back,
        a_batch_arrives_whole_with_its_senders_address,
        an_empty_datagram_is_a_datagram,
        every_client_gets_its_own_answer,
        a_datagram_longer_than_the_mtu_is_refused_and_those_behind_it_are_sent,
        slots_shorter_than_the_mtu_are_refused,
        a_peer_that_vanishes_leaves_the_others_served,
        nobody_at_an_address_is_counted_and_no_error,
        an_arrival_ends_a_wait,
        a_waker_ends_a_wait,
        a_deadline_ends_a_wait
    ]
);

fn echo(server: &mut dyn Transport, now: Micros, batch: &mut Batch) {
    // What was received is what is sent, in place: the batch is the only buffer.
    server.receive(now, batch).unwrap();
    server.send(now, batch).unwrap();
}

fn a_datagram_comes_back(mut rig: Rig) {
    let mut client = rig.client();
    let (mut there, mut back) = (rig.batch(), rig.batch());
    let mut at_server = rig.batch();
    assert!(there.push(rig.server.local_address(), b"hello"));
    rig.until("an echo", |server, now| {
        client.send(now, &mut there).unwrap();
        echo(server, now, &mut at_server);
        client.receive(now, &mut back).unwrap();
        !back.is_empty()
    });
    let datagram = back.iter().next().unwrap();
    assert_eq!((datagram.address(), datagram.bytes()), (rig.server.local_address(), &b"hello"[..]));
    for counters in [rig.server.counters(), client.counters()] {
        assert_eq!((counters.sent_datagrams, counters.sent_bytes), (1, 5));
        assert_eq!((counters.received_datagrams, counters.received_bytes), (1, 5));
        assert_eq!(counters.dropped(), 0);
    }
}

fn a_batch_arrives_whole_with_its_senders_address(mut rig: Rig) {
    let mut client = rig.client();
    let seen_as = rig.meet(&mut *client);
    let (mut there, mut at_server) = (rig.batch(), rig.batch());
    let mtu_bytes = rig.server.capabilities().mtu_bytes;
    let content = |index: usize| vec![index as u8; if index.is_multiple_of(2) { mtu_bytes } else { index }];
    for index in 0..there.capacity() {
        assert!(there.push(rig.server.local_address(), &content(index)));
    }
    rig.until("a whole batch", |server, now| {
        client.send(now, &mut there).unwrap();
        client.receive(now, &mut Batch::new(1, mtu_bytes).unwrap()).unwrap();
        server.receive(now, &mut at_server).unwrap();
        at_server.is_full()
    });
    // Loopback keeps the order of one sender even where nobody promises it.
    for (index, datagram) in at_server.iter().enumerate() {
        assert_eq!((datagram.address(), datagram.bytes()), (seen_as, &content(index)[..]));
    }
}

fn an_empty_datagram_is_a_datagram(mut rig: Rig) {
    let mut client = rig.client();
    let seen_as = rig.meet(&mut *client);
    let (mut there, mut at_server) = (rig.batch(), rig.batch());
    assert!(there.push(rig.server.local_address(), b""));
    rig.until("an empty datagram", |server, now| {
        client.send(now, &mut there).unwrap();
        server.receive(now, &mut at_server).unwrap();
        !at_server.is_empty()
    });
    let datagram = at_server.iter().next().unwrap();
    assert_eq!((datagram.address(), datagram.bytes()), (seen_as, &b""[..]));
}

fn every_client_gets_its_own_answer(mut rig: Rig) {
    let mut clients: Vec<_> =
        (0..20u8).map(|number| (number, rig.client(), rig.batch(), rig.batch())).collect();
    let server_address = rig.server.local_address();
    for (number, _, there, _) in &mut clients {
        assert!(there.push(server_address, &[*number; 9]));
    }
    let mut at_server = rig.batch();
    rig.until("an answer to each", |server, now| {
        for (_, client, there, back) in &mut clients {
            client.send(now, there).unwrap();
            client.receive(now, back).unwrap();
        }
        echo(server, now, &mut at_server);
        clients.iter().all(|(_, _, _, back)| !back.is_empty())
    });
    for (number, _, _, back) in &clients {
        assert_eq!(back.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(), [[*number; 9]]);
    }
}

fn a_datagram_longer_than_the_mtu_is_refused_and_those_behind_it_are_sent(mut rig: Rig) {
    let mut client = rig.client();
    let seen_as = rig.meet(&mut *client);
    let to = rig.server.local_address();
    let mtu_bytes = client.capabilities().mtu_bytes;
    let mut there = Batch::new(4, mtu_bytes + 1).unwrap();
    assert!(there.push(to, &vec![1; mtu_bytes + 1]) && there.push(to, &vec![2; mtu_bytes]));
    match client.send(rig.now(), &mut there).unwrap_err() {
        TransportError::TooLong { to: named, length, mtu_bytes: limit } => {
            assert_eq!((named, length, limit), (to, mtu_bytes + 1, mtu_bytes));
        }
        error => panic!("{error}"),
    }
    let mut at_server = rig.batch();
    rig.until("the datagram behind", |server, now| {
        client.send(now, &mut there).unwrap();
        server.receive(now, &mut at_server).unwrap();
        !at_server.is_empty()
    });
    let datagram = at_server.iter().next().unwrap();
    assert_eq!((datagram.address(), datagram.bytes()), (seen_as, &vec![2; mtu_bytes][..]));
}

fn slots_shorter_than_the_mtu_are_refused(mut rig: Rig) {
    let mut batch = Batch::new(4, rig.server.capabilities().mtu_bytes - 1).unwrap();
    let error = rig.server.receive(Micros::ZERO, &mut batch).unwrap_err();
    assert!(matches!(error, TransportError::ShortSlots { .. }), "{error}");
}

fn ten_thousand_datagrams_pass_without_an_allocation(mut rig: Rig) {
    let mut client = rig.client();
    rig.meet(&mut *client);
    let to = rig.server.local_address();
    let (mut there, mut at_server, mut back) = (rig.batch(), rig.batch(), rig.batch());
    let is_ordered = rig.server.capabilities().ordered;
    let mut exchange = |rig: &mut Rig, first: u32, count: u32| {
        let (mut sent, mut received) = (first, first);
        rig.until("all datagrams", |server, now| {
            // No more at once than every transport has room for from the start.
            while sent < first + count && sent < received + 64 && !there.is_full() {
                let mut content = [0; 400];
                content[..4].copy_from_slice(&sent.to_le_bytes());
                assert!(there.push(to, &content));
                sent += 1;
            }
            client.send(now, &mut there).unwrap();
            echo(server, now, &mut at_server);
            client.receive(now, &mut back).unwrap();
            for datagram in back.iter() {
                let number = u32::from_le_bytes(*datagram.bytes().first_chunk().unwrap());
                assert!(!is_ordered || number == received, "{number} came back as number {received}");
                assert_eq!(datagram.bytes().len(), 400);
                received += 1;
            }
            back.clear();
            received == first + count
        });
    };
    exchange(&mut rig, 0, 1_000);
    let before = netloom_count::allocations();
    exchange(&mut rig, 1_000, 10_000);
    assert_eq!(netloom_count::allocations() - before, 0);
    let counters = rig.server.counters();
    assert_eq!((counters.received_datagrams, counters.dropped()), (11_001, 0));
}

fn a_peer_that_never_reads_costs_bounded_memory(mut rig: Rig) {
    let mut sleeper = rig.client();
    let sleeping = rig.meet(&mut *sleeper);
    let mut reader = rig.client();
    let reading = rig.meet(&mut *reader);
    let (mut batch, mut back) = (rig.batch(), rig.batch());
    let (mut sent, mut answers) = (0u32, 0);
    let datagram = [7; 1_000];
    let before = netloom_count::allocations();
    rig.until("all is sent to the sleeper", |server, now| {
        while sent < 20_000 && !batch.is_full() {
            assert!(batch.push(sleeping, &datagram));
            sent += 1;
            if sent.is_multiple_of(1_000) {
                batch.push(reading, b"you are served");
            }
        }
        server.send(now, &mut batch).unwrap();
        reader.receive(now, &mut back).unwrap();
        answers += back.len();
        back.clear();
        sent == 20_000 && batch.is_empty()
    });
    // Buffers of this process grow to their limits and no further: some dozens of doublings, not 20,000 datagrams.
    assert!(netloom_count::allocations() - before < 100, "{}", netloom_count::allocations() - before);
    assert!(rig.server.status(sleeping).unsent_bytes <= 64 << 10);
    assert!(answers > 0, "the reader was kept waiting");
}

fn a_peer_that_vanishes_leaves_the_others_served(mut rig: Rig) {
    let mut gone = rig.client();
    let gone_address = rig.meet(&mut *gone);
    let mut other = rig.client();
    let other_address = rig.meet(&mut *other);
    drop(gone);
    let (mut batch, mut back, mut at_server) = (rig.batch(), rig.batch(), rig.batch());
    rig.until("an answer for the other", |server, now| {
        batch.push(gone_address, b"are you there?");
        batch.push(other_address, b"and you?");
        server.send(now, &mut batch).unwrap();
        server.receive(now, &mut at_server).unwrap();
        other.receive(now, &mut back).unwrap();
        back.len() >= 3
    });
    assert!(back.iter().all(|datagram| datagram.bytes() == b"and you?"));
    let is_stream = rig.server.capabilities().reliable;
    if is_stream {
        let is_closed = |event: &TransportEvent| matches!(event, TransportEvent::Closed { peer, .. } if *peer == gone_address);
        rig.until("the news that it is gone", |server, now| {
            server.receive(now, &mut at_server).unwrap();
            rig::events(server).iter().any(is_closed)
        });
        assert_eq!(rig.server.status(gone_address).state, PeerState::Closed);
        assert_eq!(rig.server.status(other_address).state, PeerState::Connected);
    }
}

fn nobody_at_an_address_is_counted_and_no_error(mut rig: Rig) {
    let mut client = rig.client();
    let seen_as = rig.meet(&mut *client);
    // Neither family of addresses suits every transport; each is somebody's nobody.
    let nobodies = [PeerAddress::Memory(77), rig::address("127.0.0.1:0")];
    let (mut batch, mut back) = (rig.batch(), rig.batch());
    for nobody in nobodies {
        assert!(batch.push(nobody, b"hello?"));
    }
    assert!(batch.push(seen_as, b"hello"));
    rig.until("the datagram behind", |server, now| {
        server.send(now, &mut batch).unwrap();
        client.receive(now, &mut back).unwrap();
        !back.is_empty()
    });
    assert_eq!(rig.server.counters().dropped_unroutable, nobodies.len() as u64);
    assert_eq!(back.iter().next().unwrap().bytes(), b"hello");
}

/// The whole run fails on its own clock if a wait that must end does not; no test here waits for a time to pass.
const LONG: Micros = Micros::from_secs(30);

fn drain(transport: &mut dyn Transport, now: Micros, batch: &mut Batch) {
    while transport.receive(now, batch).unwrap() > 0 {
        batch.clear();
    }
}

fn an_arrival_ends_a_wait(mut rig: Rig) {
    let mut client = rig.client();
    rig.meet(&mut *client);
    let to = rig.server.local_address();
    let mut at_server = rig.batch();
    let mut there = rig.batch();
    let now = rig.now();
    drain(&mut *rig.server, now, &mut at_server);
    let thread = std::thread::spawn(move || {
        assert!(there.push(to, b"wake up"));
        while !there.is_empty() {
            client.send(now, &mut there).unwrap();
        }
        client
    });
    while rig.server.receive(rig.now(), &mut at_server).unwrap() == 0 {
        let now = rig.now();
        assert!(now < LONG, "nothing arrived");
        rig.server.wait(now, now + LONG).unwrap();
    }
    assert!(rig.now() < LONG, "the wait ended by its deadline");
    thread.join().unwrap();
}

fn a_waker_ends_a_wait(mut rig: Rig) {
    let waker = rig.server.waker();
    drain(&mut *rig.server, Micros::ZERO, &mut Batch::new(4, 2_000).unwrap());
    let thread = std::thread::spawn(move || waker.wake());
    rig.server.wait(Micros::ZERO, LONG).unwrap();
    thread.join().unwrap();
    assert!(rig.now() < LONG, "the wait ended by its deadline");
}

fn a_deadline_ends_a_wait(mut rig: Rig) {
    drain(&mut *rig.server, Micros::ZERO, &mut Batch::new(4, 2_000).unwrap());
    let before = rig.now();
    rig.server.wait(before, before + Micros(700)).unwrap();
    assert!(rig.now() >= before + Micros(700), "nothing was there to wake it");
    rig.server.wait(rig.now(), Micros::ZERO).unwrap();
}
