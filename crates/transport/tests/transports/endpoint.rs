//! Connections of `netloom-proto` over every transport, driven as a game would.

use netloom_proto::{Config, Endpoint, Event, ListenConfig, PeerId};
use netloom_transport::{Batch, Micros, Transport};

use crate::rig::{self, Rig};

/// An endpoint and what it has to tell, owned.
struct Node {
    endpoint: Endpoint,
    batch: Batch,
    connected: Vec<PeerId>,
    messages: Vec<(PeerId, u8, Vec<u8>)>,
    is_ended: bool,
}

impl Node {
    fn new(rig: &Rig, listen: Option<ListenConfig>, seed: u8) -> Node {
        let mtu = rig.server.capabilities().mtu_bytes.min(Config::default().mtu);
        let endpoint = Endpoint::new(Config { mtu, ..Config::default() }, listen, [seed; 32]).unwrap();
        let batch = Batch::new(64, endpoint.config().mtu).unwrap();
        Node { endpoint, batch, connected: Vec::new(), messages: Vec::new(), is_ended: false }
    }

    fn has_heard(&self, channel: u8) -> bool {
        self.messages.iter().any(|(_, on, _)| *on == channel)
    }

    fn turn(&mut self, transport: &mut dyn Transport, now: Micros) {
        self.endpoint.begin_tick(now);
        while transport.receive(now, &mut self.batch).unwrap() > 0 {
            for datagram in self.batch.iter_mut() {
                let from = datagram.address().to_socket_addr();
                self.endpoint.handle_datagram(now, from, datagram.bytes_mut());
            }
            self.batch.clear();
        }
        while let Some((peer, event)) = self.endpoint.poll_event() {
            match event {
                Event::Connected { .. } => self.connected.push(peer),
                Event::Message { channel, data } => self.messages.push((peer, channel, data.to_vec())),
                Event::Disconnected { .. } => self.is_ended = true,
                Event::Outcome { .. } => {}
            }
        }
        while let Some(slot) = self.batch.next_slot()
            && let Some(transmit) = self.endpoint.poll_transmit(now, slot)
        {
            self.batch.commit(transmit.to.into(), transmit.length);
        }
        transport.send(now, &mut self.batch).unwrap();
        self.batch.clear();
    }
}

struct Scene {
    server: Node,
    clients: Vec<(Node, Box<dyn Transport>)>,
}

impl Scene {
    fn until(&mut self, rig: &mut Rig, what: &str, mut done: impl FnMut(&mut Scene) -> bool) {
        rig.until(what, |transport, now| {
            self.server.turn(transport, now);
            for (node, transport) in &mut self.clients {
                node.turn(&mut **transport, now);
            }
            done(self)
        });
    }
}

#[test]
fn over_memory_connections_are_made_carry_every_channel_and_end() {
    connections_are_made_carry_every_channel_and_end(rig::memory());
}

#[test]
fn over_udp_connections_are_made_carry_every_channel_and_end() {
    for rig in [rig::udp(), rig::udp_v6(), rig::udp_one_at_a_time()] {
        connections_are_made_carry_every_channel_and_end(rig);
    }
}

#[test]
fn over_tcp_connections_are_made_carry_every_channel_and_end() {
    for rig in [rig::tcp(), rig::tcp_v6()] {
        connections_are_made_carry_every_channel_and_end(rig);
    }
}

#[test]
fn over_websocket_connections_are_made_carry_every_channel_and_end() {
    for rig in [rig::websocket(), rig::websocket_v6()] {
        connections_are_made_carry_every_channel_and_end(rig);
    }
}

#[test]
fn over_webtransport_connections_are_made_carry_every_channel_and_end() {
    for rig in [rig::webtransport(), rig::webtransport_v6()] {
        connections_are_made_carry_every_channel_and_end(rig);
    }
}

#[test]
fn on_a_mobile_line_connections_are_made_carry_every_channel_and_end() {
    for rig in [rig::memory(), rig::udp(), rig::tcp(), rig::websocket(), rig::webtransport()] {
        connections_are_made_carry_every_channel_and_end(rig::on_a_line(rig, "4G"));
    }
}

fn connections_are_made_carry_every_channel_and_end(mut rig: Rig) {
    let to = rig.server.local_address().to_socket_addr();
    let mut scene = Scene {
        server: Node::new(&rig, Some(ListenConfig::default()), 0),
        clients: (1..=3).map(|seed| (Node::new(&rig, None, seed), rig.client())).collect(),
    };
    for (node, _) in &mut scene.clients {
        node.endpoint.connect(Micros::ZERO, to, None).unwrap();
    }
    scene.until(&mut rig, "connections", |scene| {
        scene.server.connected.len() == 3 && scene.clients.iter().all(|(node, _)| node.connected.len() == 1)
    });
    // Longer than a datagram where the channel may cut it.
    let content = |channel: u8| vec![channel; if channel < 3 { 5_000 } else { 500 }];
    for (node, _) in &mut scene.clients {
        for channel in 0..3 {
            node.endpoint.send(node.connected[0], channel, &content(channel)).unwrap();
        }
    }
    scene.until(&mut rig, "an echo on each channel", |scene| {
        for (peer, channel, message) in scene.server.messages.drain(..) {
            scene.server.endpoint.send(peer, channel, &message).unwrap();
        }
        // What may be lost is sent until it is not.
        for (node, _) in &mut scene.clients {
            for channel in [3, 4] {
                if node.has_heard(channel) {
                    continue;
                }
                node.endpoint.send(node.connected[0], channel, &content(channel)).unwrap();
            }
        }
        scene.clients.iter().all(|(node, _)| (0..5).all(|channel| node.has_heard(channel)))
    });
    for (node, _) in &mut scene.clients {
        node.messages.sort();
        node.messages.dedup();
        let echoes: Vec<_> =
            node.messages.iter().map(|(_, channel, data)| (*channel, data.clone())).collect();
        assert_eq!(echoes, (0..5).map(|channel| (channel, content(channel))).collect::<Vec<_>>());
    }
    scene.server.endpoint.shutdown(Micros::ZERO);
    scene.until(&mut rig, "goodbyes", |scene| scene.clients.iter().all(|(node, _)| node.is_ended));
}
