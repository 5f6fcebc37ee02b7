//! A modified client: its packets are genuine, its numbers are not.
//!
//! Encryption does not help against a player who owns his key. Here he sends real messages and lies about them: the
//! place of a fragment in its message, and which packets he has received. The server must neither believe him nor
//! suffer, and whoever plays beside him must notice nothing.

use std::net::SocketAddr;

use netloom_proto::crypto::Checksum;
use netloom_proto::frame::{ChannelTable, Frame, FrameWriter, Frames};
use netloom_proto::limits::DATAGRAM_MAX;
use netloom_proto::packet::{Ack, CRC_BYTES, Header, PacketType};
use netloom_proto::{Config, DisconnectReason, ListenConfig, Security};
use netloom_wire::Micros;

use super::pair::{CLIENT, SERVER};
use crate::check::Violation;
use crate::network::{LinkConfig, Loss};
use crate::report::Report;
use crate::rng::Rng;
use crate::runner::{Failure, Scenario};
use crate::world::{NodeConfig, Phase, World, game};

const TRAFFIC: Micros = Micros::from_secs(8);
const LIAR: SocketAddr = SocketAddr::new(CLIENT.ip(), CLIENT.port() + 1);
/// How many packets ahead of the truth a false acknowledgement is.
const ACK_AHEAD: u16 = 1_000;

const SERVER_NODE: usize = 0;
const HONEST_NODE: usize = 1;
const LIAR_NODE: usize = 2;

/// A liar beside an honest player.
pub struct Liar;

impl Scenario for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn about(&self) -> &'static str {
        "a modified client lies about fragments and acknowledgements; it is thrown out and nobody else notices"
    }

    fn run(&self, seed: u64, report: &mut Report) -> Result<(), Failure> {
        let mut world = build(seed)?;
        world.connect(HONEST_NODE, SERVER, None)?;
        world.connect(LIAR_NODE, SERVER, None)?;
        world.run_until(TRAFFIC)?;
        world.run_until_that("every honest message arrives", Micros::from_secs(60), honest_is_complete)?;
        judge(&world, report).map_err(|violation| world.failure(violation))?;
        world.disconnect(HONEST_NODE, DisconnectReason::Requested);
        world.disconnect(LIAR_NODE, DisconnectReason::Requested);
        world.run_until_that("all sides end", Micros::from_secs(30), |world| {
            (SERVER_NODE..=LIAR_NODE).all(|node| world.node(node).endpoint().peer_count() == 0)
        })
    }
}

fn build(seed: u64) -> Result<World, Failure> {
    let link = LinkConfig {
        loss: Loss::Uniform(0.02),
        latency: Micros::from_millis(30),
        jitter: Micros::from_millis(10),
        ..LinkConfig::default()
    };
    let mut world = World::new(seed, link, &Config::default())?;
    let node = |socket, security| NodeConfig {
        traffic: game(),
        traffic_until: TRAFFIC,
        ..NodeConfig::new(socket, Config { security, ..Config::default() })
    };
    world
        .add_node(NodeConfig { listen: Some(ListenConfig::default()), ..node(SERVER, Security::Optional) })?;
    world.add_node(node(CLIENT, Security::Required))?;
    // Without encryption his packets can be rewritten on their way out, which is as good as a modified client.
    world.add_node(NodeConfig { reconnects: true, tamper: Some(lie), ..node(LIAR, Security::Off) })?;
    Ok(world)
}

/// The liar may wait in vain for a fragment that he only claimed to exist.
fn honest_is_complete(world: &World) -> bool {
    let streams = world.ledger().streams();
    world.newest_connection(HONEST_NODE).is_some_and(|honest| {
        let both = [Some(honest.outgoing), honest.incoming];
        both.into_iter().flatten().all(|stream| streams[stream].is_complete())
    })
}

fn judge(world: &World, report: &mut Report) -> Result<(), Violation> {
    let connections = world.ledger().connections();
    let honest: Vec<_> = connections.iter().filter(|connection| connection.node == HONEST_NODE).collect();
    if honest.len() != 1 || honest[0].phase != Phase::Connected {
        return Err(Violation::new("an honest player is left alone", format!("{honest:?}")));
    }
    let thrown_out = |connection: &&crate::world::Connection| {
        connection.node == SERVER_NODE && connection.phase == Phase::Ended(DisconnectReason::Protocol)
    };
    let count = connections.iter().filter(thrown_out).count();
    report.add("liar thrown out", "", count as f64);
    if count == 0 {
        return Err(Violation::new("a liar is thrown out", "the server believed everything"));
    }
    Ok(())
}

/// Rewrites a datagram with a lie in it, now and then; returns its length.
fn lie(rng: &mut Rng, config: &Config, buffer: &mut [u8; DATAGRAM_MAX], length: usize) -> usize {
    let genuine = *buffer;
    let datagram = &genuine[..length];
    let Ok((mut header, header_bytes)) = Header::parse(datagram, true) else {
        return length;
    };
    if header.kind != PacketType::Data {
        return length;
    }
    if let (Some(ack), true) = (header.ack, rng.chance(0.02)) {
        header.ack = Some(Ack { newest: ack.newest.wrapping_add(ACK_AHEAD), ..ack });
    }
    let start = header.write(buffer);
    let payload = &datagram[header_bytes..length - CRC_BYTES];
    let Some(payload_bytes) = rewrite(rng, config, payload, &mut buffer[start..]) else {
        return length;
    };
    let end = start + payload_bytes;
    let crc = Checksum::new(config.protocol_id).of(&buffer[..end]).to_le_bytes();
    buffer[end..end + CRC_BYTES].copy_from_slice(&crc);
    end + CRC_BYTES
}

/// Copies a payload frame by frame, with some reliable fragments out of place.
fn rewrite(rng: &mut Rng, config: &Config, payload: &[u8], out: &mut [u8]) -> Option<usize> {
    let table = ChannelTable::new(config.channels.iter().map(|channel| channel.kind));
    let mut writer = FrameWriter::new(out);
    for frame in Frames::of_payload(payload, &table).ok()? {
        match frame.ok()? {
            Frame::Link(link) => writer.link(&link),
            Frame::Message(mut message) => {
                if let (Some((index, count)), true) = (message.fragment, message.kind.is_reliable())
                    && rng.chance(0.3)
                {
                    // Out of place, or as if the next message belonged to it.
                    let lies = [((index + 1) % count, count), (index, count + 1)];
                    message.fragment = Some(lies[rng.below(2) as usize]);
                }
                writer.message(&message)
            }
        };
    }
    Some(writer.finish())
}
