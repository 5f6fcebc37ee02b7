//! Datagrams from anybody to a server and a client, in any state of their handshake.
//!
//! Random bytes alone stop at the checksum. So an attacker here can also compute checksums (the protocol id is no
//! secret) and play genuine datagrams again, changed or not, from any address.

use std::net::SocketAddr;

use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::CRC_BYTES;
use netloom_proto::{Micros, Redundancy, Security};

use super::{Rig, Side, checksum, config};
use crate::input::Input;

const SECURITIES: [Security; 3] = [Security::Off, Security::Optional, Security::Required];

/// An address that never answers: a server may not send it more than it sent.
const STRANGER: ([u8; 4], u16) = ([10, 9, 9, 9], 999);

struct Attack {
    rig: Rig,
    stranger: SocketAddr,
    received_from_stranger: usize,
    sent_to_stranger: usize,
}

/// Throws datagrams at two endpoints that may be connecting or connected.
pub fn endpoint_datagram(data: &[u8]) {
    let mut input = Input::new(data);
    let server = config(input.pick(SECURITIES), Redundancy::Parity);
    let client = config(input.pick(SECURITIES), Redundancy::Copy);
    let mut attack = Attack {
        rig: Rig::new(server, client),
        stranger: SocketAddr::from(STRANGER),
        received_from_stranger: 0,
        sent_to_stranger: 0,
    };
    let progress = input.choice(6);
    attack.rig.connect();
    (0..progress).for_each(|_| attack.rig.exchange());
    while !input.is_empty() {
        attack.step(&mut input);
    }
}

impl Attack {
    fn step(&mut self, input: &mut Input<'_>) {
        let operation = input.u8();
        let target = if operation & 0x80 == 0 { Side::Server } else { Side::Client };
        match operation & 3 {
            0 => {
                let count = usize::from(input.u8());
                let datagram = input.bytes(count).to_vec();
                self.throw(operation, target, datagram);
            }
            1 => {
                let count = usize::from(input.u16()) % (DATAGRAM_MAX + 2);
                let datagram = input.bytes(count).to_vec();
                self.throw(operation, target, datagram);
            }
            2 => {
                let datagram = self.changed(input);
                self.throw(operation, target, datagram);
            }
            _ => self.pass_time(operation, input),
        }
    }

    /// A datagram that was really sent, with some bytes replaced or cut off.
    fn changed(&self, input: &mut Input<'_>) -> Vec<u8> {
        let recorded = &self.rig.recorded;
        let index = input.choice(recorded.len());
        let mut datagram = recorded.get(index).map(|sent| sent.bytes.clone()).unwrap_or_default();
        let (at, count) = (usize::from(input.u16()), input.choice(32));
        for (slot, &byte) in datagram.iter_mut().skip(at).zip(input.bytes(count)) {
            *slot = byte;
        }
        let cut = input.choice(64);
        datagram.truncate(datagram.len() - cut.min(datagram.len()));
        datagram
    }

    fn throw(&mut self, operation: u8, target: Side, mut datagram: Vec<u8>) {
        if operation & 4 != 0 && datagram.len() >= CRC_BYTES {
            let body = datagram.len() - CRC_BYTES;
            let crc = checksum(&datagram[..body]);
            datagram[body..].copy_from_slice(&crc);
        }
        let from = match operation & 8 {
            0 => self.rig.address(target.other()),
            _ => self.stranger,
        };
        if from == self.stranger && target == Side::Server {
            self.received_from_stranger += datagram.len();
        }
        let now = self.rig.now;
        self.rig.endpoint(target).handle_datagram(now, from, &mut datagram);
        self.rig.check_limits(target);
    }

    /// Lets time pass, with or without what the two have to say to each other.
    fn pass_time(&mut self, operation: u8, input: &mut Input<'_>) {
        if operation & 4 != 0 {
            self.rig.exchange();
        } else {
            self.rig.now += Micros::from_millis(u64::from(input.u8()) << (operation >> 4 & 7));
            for side in Side::BOTH {
                let now = self.rig.now;
                self.rig.endpoint(side).begin_tick(now);
                self.rig.drain_events(side, 64);
            }
        }
        let stranger = self.stranger;
        self.sent_to_stranger += self
            .rig
            .transmit(Side::Server)
            .iter()
            .filter(|sent| sent.to == stranger)
            .map(|sent| sent.bytes.len())
            .sum::<usize>();
        // A stranger who plays sealed packets again is asked to prove the address, with at most three times the bytes.
        assert!(
            self.sent_to_stranger <= 3 * self.received_from_stranger,
            "{} bytes to an address that sent {}",
            self.sent_to_stranger,
            self.received_from_stranger
        );
    }
}
