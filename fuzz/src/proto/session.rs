//! An established peer that sends whatever it likes.
//!
//! On a plain session the sender of a packet needs nothing but the session id and a checksum, so this attacker writes its
//! own headers and payloads: frames, fragments that do not fit together, redundancy of packets that never were,
//! acknowledgements of anything. A sealed session runs the same code once a packet is opened.

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Ack, CRC_BYTES, HEADER_MAX, Header, PacketType, SessionRef};
use netloom_proto::{DisconnectReason, Micros, PeerId, Redundancy, Security, SendError, State};

use super::{Rig, Side, checksum, config};
use crate::input::Input;

const KINDS: [PacketType; 8] = [
    PacketType::Data,
    PacketType::Data,
    PacketType::Quiet,
    PacketType::Ack,
    PacketType::KeepAlive,
    PacketType::Disconnect,
    PacketType::PathChallenge,
    PacketType::PathResponse,
];

/// More than a goodbye takes, and enough to poll a full queue of events at eight a tick.
const FAREWELL_TICKS: usize = 80;

struct Mad {
    rig: Rig,
    victim: Side,
    peer: PeerId,
    session: SessionRef,
    /// The next packet number of the attacker.
    number: u16,
    /// The newest packet number of the victim.
    victim_number: u16,
    messages: usize,
}

/// Sends valid packets with arbitrary content to a connected server or client.
pub fn endpoint_session(data: &[u8]) {
    run(data);
}

/// How many messages the victim's application got.
fn run(data: &[u8]) -> usize {
    let mut input = Input::new(data);
    let victim = input.pick(Side::BOTH);
    let redundancy = input.pick([Redundancy::Off, Redundancy::Copy, Redundancy::Parity, Redundancy::Twice]);
    let mut mad = Mad::connected(victim, redundancy);
    while !input.is_empty() {
        mad.step(&mut input);
        mad.rig.check_limits(victim);
    }
    mad.end()
}

impl Mad {
    fn connected(victim: Side, redundancy: Redundancy) -> Mad {
        let config = config(Security::Off, redundancy);
        let mut rig = Rig::new(config.clone(), config);
        rig.connect();
        (0..6).for_each(|_| rig.exchange());
        let peer = rig.endpoint(victim).peers().next().expect("one peer each");
        assert_eq!(rig.endpoint(victim).state(peer), State::Connected);
        let newest = |by: Side| {
            let sent = rig.recorded.iter().rev().filter(|sent| sent.by == by);
            sent.filter_map(|sent| Header::parse(&sent.bytes, true).ok()).map(|(header, _)| header).next()
        };
        // Only the client has to speak first; a server that said nothing yet is at packet zero.
        let session = newest(Side::Client).expect("the client has greeted").session;
        let number = newest(victim.other()).map_or(0, |header| header.number.wrapping_add(1));
        let victim_number = newest(victim).map_or(0, |header| header.number);
        Mad { rig, victim, peer, session, number, victim_number, messages: 0 }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let operation = input.u8();
        match operation & 7 {
            0..=3 => self.attack(operation, input),
            4 => {
                let (channel, bytes) = (operation >> 4, usize::from(input.u16()));
                self.let_victim_send(channel, bytes);
            }
            5 => self.messages += self.rig.drain_events(self.victim, usize::from(operation >> 3)),
            6 => self.pass_time(Micros::from_millis(u64::from(input.u8()))),
            _ => self.pass_time(Micros(u64::from(operation >> 3) * 100)),
        }
    }

    /// One packet with a correct checksum.
    fn attack(&mut self, operation: u8, input: &mut Input<'_>) {
        let kind = KINDS[usize::from(operation >> 5)];
        let ack = (operation & 8 != 0).then(|| Ack {
            newest: self.victim_number.wrapping_sub(u16::from(input.u8())),
            delay_ms: input.u8(),
            bits: input.u64(),
            width: 64,
        });
        let skipped = if operation & 16 != 0 { input.u16() } else { 0 };
        let number = self.number.wrapping_add(skipped);
        self.number = number.wrapping_add(1);
        let header = Header {
            kind,
            session: self.session,
            number,
            ack,
            protected: operation & 1 != 0 && kind == PacketType::Data,
        };
        let mut datagram = vec![0; HEADER_MAX];
        let length = header.write(&mut datagram);
        datagram.truncate(length);
        let room = DATAGRAM_MAX - length - CRC_BYTES;
        let count = usize::from(input.u16()) % (room + 1);
        // Long payloads from few bytes: the fuzzer need not write out a kilobyte of filler.
        let given = if operation & 2 != 0 { usize::from(input.u8()) } else { count };
        datagram.extend_from_slice(input.bytes(given.min(count)));
        datagram.resize(length + count, 0x5a);
        datagram.extend_from_slice(&checksum(&datagram));
        let (now, from) = (self.rig.now, self.rig.address(self.victim.other()));
        self.rig.endpoint(self.victim).handle_datagram(now, from, &mut datagram);
    }

    fn let_victim_send(&mut self, channel: u8, bytes: usize) {
        let sent = self.rig.endpoint(self.victim).send(self.peer, channel, &vec![0xa5; bytes]);
        assert!(!matches!(sent, Err(SendError::TagOnReliable(_) | SendError::TagOnFragments { .. })));
    }

    fn pass_time(&mut self, duration: Micros) {
        self.rig.now += duration;
        let now = self.rig.now;
        self.rig.endpoint(self.victim).begin_tick(now);
        for sent in self.rig.transmit(self.victim) {
            if let Ok((header, _)) = Header::parse(&sent.bytes, true) {
                self.victim_number = header.number;
            }
        }
    }

    /// Whatever happened, the victim can still say goodbye and is rid of the peer when its time is up.
    fn end(mut self) -> usize {
        let now = self.rig.now;
        self.rig.endpoint(self.victim).disconnect(now, self.peer, DisconnectReason::Kicked);
        for _ in 0..FAREWELL_TICKS {
            self.pass_time(Micros::from_millis(50));
            self.messages += self.rig.drain_events(self.victim, usize::MAX);
        }
        let endpoint = self.rig.endpoint(self.victim);
        assert_eq!(endpoint.peer_count(), 0);
        assert!(endpoint.stats(self.peer).is_none(), "the place of a peer that left is free");
        self.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    #[test]
    fn the_seeds_get_their_messages_through() {
        let delivered = |name: &str| {
            let seeds = seeds::all();
            let seed = seeds.iter().find(|seed| (seed.target, seed.name) == ("endpoint_session", name));
            run(&seed.expect("a seed of this name").bytes)
        };
        assert_eq!(delivered("messages"), 5);
        assert_eq!(delivered("fragments"), 7);
        assert_eq!(delivered("large_message"), 1);
        assert_eq!(delivered("redundancy"), 9, "one of them was never sent but as a copy");
    }
}
