//! A peer that holds a plain session and breaks the rules: it writes the packets that no honest sender would.

use netloom_proto::config::ChannelKind;
use netloom_proto::crypto::Checksum;
use netloom_proto::frame::{FrameWriter, LinkFrame, MessageFrame};
use netloom_proto::packet::{Ack, Header, PacketType, SessionRef};

use super::{CLIENT, Datagram, SERVER, World};

/// Writes packets of a plain session from the client to the server.
#[derive(Clone, Debug)]
pub struct Forger {
    pub protocol_id: u64,
    pub session_id: u64,
    /// The number of the next packet.
    pub number: u64,
}

impl Forger {
    /// Takes over the client's side of a session: the real client falls silent.
    pub fn impersonate(world: &mut World) -> Forger {
        world.run_for(super::secs(2));
        let (client, server) = (world.nodes[CLIENT].address, world.nodes[SERVER].address);
        let last = world
            .recorded
            .iter()
            .rev()
            .find(|datagram| datagram.from == client && datagram.to == server && datagram.kind() >= 5)
            .expect("the client has sent something");
        let (header, _) = parse(last);
        let SessionRef::Id(session_id) = header.session else {
            panic!("the session is sealed");
        };
        world.nodes[CLIENT].is_off = true;
        Forger {
            protocol_id: world.nodes[CLIENT].endpoint.config().protocol_id,
            session_id,
            number: u64::from(header.number) + 1,
        }
    }

    /// A packet with this payload, under the next number.
    pub fn packet(&mut self, kind: PacketType, payload: &[u8]) -> Vec<u8> {
        let number = self.number;
        self.number += 1;
        self.packet_with(kind, number as u16, None, payload)
    }

    /// A packet with everything chosen.
    pub fn packet_with(&self, kind: PacketType, number: u16, ack: Option<Ack>, payload: &[u8]) -> Vec<u8> {
        let header = Header { kind, session: SessionRef::Id(self.session_id), number, ack, protected: false };
        let mut out = vec![0; 1200];
        let length = header.write(&mut out);
        out.truncate(length);
        out.extend_from_slice(payload);
        let crc = Checksum::new(self.protocol_id).of(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// A Data packet with these frames.
    pub fn data(&mut self, frames: &[MessageFrame<'_>]) -> Vec<u8> {
        let payload = payload(|writer| {
            for frame in frames {
                assert!(writer.message(frame), "the frame fits");
            }
        });
        self.packet(PacketType::Data, &payload)
    }

    /// A Data packet with redundancy alone.
    pub fn links(&mut self, frames: &[LinkFrame<'_>]) -> Vec<u8> {
        let payload = payload(|writer| {
            for frame in frames {
                assert!(writer.link(frame), "the frame fits");
            }
        });
        self.packet(PacketType::Data, &payload)
    }
}

/// The payload that `write` fills.
pub fn payload(write: impl FnOnce(&mut FrameWriter<'_>)) -> Vec<u8> {
    let mut out = vec![0; 1160];
    let mut writer = FrameWriter::new(&mut out);
    write(&mut writer);
    let length = writer.finish();
    out.truncate(length);
    out
}

/// A whole message of a reliable or sequenced channel.
pub fn whole(channel: u8, kind: ChannelKind, id: u16, data: &[u8]) -> MessageFrame<'_> {
    MessageFrame { channel, kind, id, fragment: None, data }
}

/// A part of a message.
pub fn part(channel: u8, kind: ChannelKind, id: u16, part: (u16, u16), data: &[u8]) -> MessageFrame<'_> {
    MessageFrame { channel, kind, id, fragment: Some(part), data }
}

/// The header of a plain packet, or of a sealed one to the server.
pub fn parse(datagram: &Datagram) -> (Header, usize) {
    Header::parse(&datagram.bytes, true).expect("a session packet")
}
