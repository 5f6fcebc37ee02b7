//! Two endpoints, a network that does what the bytes say, and the promises of the channels.
//!
//! ```text
//!  operations ──▶ users: send, disconnect, connect again, stop looking at events
//!             ──▶ network: deliver in any order, drop, duplicate, damage, move the client to another address
//!             ──▶ clock
//!                       then the network heals, everybody looks at their events, and time runs on:
//!                       what was sent reliably has arrived, or its connection has ended with a reason
//! ```
//!
//! The checkers are those of the simulator. It draws plausible networks from a seed; here the fuzzer searches for the
//! implausible one.

use std::net::SocketAddr;

use netloom_proto::{DisconnectReason, Event, Micros, PeerId, Redundancy, ResumeToken, Security, SendError};
use netloom_sim::check::{Stamp, Violation};
use netloom_sim::world::{Ledger, Phase, promise};

use super::rig::{Rig, Side, check_limits, config};
use crate::input::Input;

/// Operations per input: beyond that a run gets slow before it gets more interesting.
const OPERATIONS_MAX: usize = 400;

/// Datagrams on the way; the oldest is lost when there are more.
const IN_FLIGHT_MAX: usize = 256;

/// More than every timeout of the configuration together.
const HEALING: Micros = Micros::from_secs(30);

/// Wake-ups within the healing time before an endpoint counts as spinning.
const HEALING_STEPS_MAX: usize = 60_000;

struct Datagram {
    by: Side,
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
    is_damaged: bool,
}

struct Pair {
    rig: Rig,
    ledger: Ledger,
    network: Vec<Datagram>,
    is_polled: [bool; 2],
    /// Events of the last run; none, with both sides polled, means that none are waiting.
    events: usize,
    token: Option<ResumeToken>,
    message: Vec<u8>,
}

/// Runs a list of operations on a connection and checks what the channels promise.
pub fn connection_pair(data: &[u8]) {
    if let Err(violation) = run(data) {
        panic!("{violation}");
    }
}

fn run(data: &[u8]) -> Result<Ledger, Violation> {
    let mut input = Input::new(data);
    let mut pair = Pair::new(input.u8());
    pair.connect(None);
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        pair.operate(&mut input)?;
        check_limits(&pair.rig.server);
        check_limits(&pair.rig.client);
    }
    pair.heal()?;
    Ok(pair.ledger)
}

const REDUNDANCIES: [Redundancy; 4] =
    [Redundancy::Off, Redundancy::Copy, Redundancy::Parity, Redundancy::Twice];

impl Pair {
    fn new(setup: u8) -> Pair {
        let security = [Security::Off, Security::Required][usize::from(setup & 1)];
        let redundancy = REDUNDANCIES[usize::from(setup >> 1) % REDUNDANCIES.len()];
        let config = config(security, redundancy);
        let promises = config.channels.iter().map(|channel| promise(channel.kind));
        Pair {
            ledger: Ledger::new(promises.collect()),
            rig: Rig::new(config.clone(), config),
            network: Vec::new(),
            is_polled: [true; 2],
            events: 0,
            token: None,
            message: Vec::new(),
        }
    }

    fn operate(&mut self, input: &mut Input<'_>) -> Result<(), Violation> {
        let operation = input.u8();
        let side = Side::BOTH[usize::from(operation >> 7)];
        match operation & 15 {
            0 => self.send(side, operation >> 4 & 7, usize::from(input.u8()), false)?,
            1 => self.send(side, operation >> 4 & 7, usize::from(input.u16()), false)?,
            2 => self.send(side, operation >> 4 & 7, usize::from(input.u8()), true)?,
            3 => self.with_datagram(input, |pair, index| pair.deliver(index)),
            4 => self.with_datagram(input, |pair, index| drop(pair.network.remove(index))),
            5 => self.with_datagram(input, Pair::duplicate),
            6 => {
                let (at, change) = (usize::from(input.u16()), input.u8());
                self.with_datagram(input, |pair, index| pair.damage(index, at, change));
            }
            7 => self.deliver_all(side),
            8 => self.run(Micros::from_millis(16))?,
            9 => self.run(Micros::from_millis(u64::from(input.u8()) * 8))?,
            10 => {
                self.run(Micros::from_millis(5))?;
                self.deliver_all(Side::Server);
                self.run(Micros::from_millis(5))?;
                self.deliver_all(Side::Client);
            }
            11 => self.rig.client_address.set_port(5000 + u16::from(operation >> 4)),
            12 => self.is_polled[side as usize] ^= true,
            13 => self.disconnect(side),
            _ => self.reconnect(operation & 16 != 0),
        }
        Ok(())
    }

    fn send(&mut self, side: Side, channel: u8, bytes: usize, is_tagged: bool) -> Result<(), Violation> {
        let Some(&connection) = self.ledger.connected(side as usize).last() else {
            return Ok(());
        };
        let peer = self.ledger.connections()[connection].peer;
        if usize::from(channel) >= self.rig.server.config().channels.len() {
            let refused = self.rig.endpoint(side).send(peer, channel, &[]);
            let expected = [Err(SendError::NoSuchChannel(channel)), Err(SendError::NotConnected)];
            assert!(expected.contains(&refused));
            return Ok(());
        }
        let stamp = self.ledger.next_stamp(connection, channel);
        let mut message = std::mem::take(&mut self.message);
        stamp.write(bytes, &mut message);
        let endpoint = self.rig.endpoint(side);
        let sent = match is_tagged {
            true => endpoint.send_tagged(peer, channel, &message, tag_of(stamp)),
            false => endpoint.send(peer, channel, &message),
        };
        match sent {
            Ok(()) => self.ledger.handle_sent(self.rig.now, stamp, message.len()),
            Err(SendError::NoSuchChannel(_)) => panic!("channel {channel} exists"),
            Err(SendError::TagOnReliable(_)) => assert!(is_tagged && channel < 3),
            Err(SendError::TagOnFragments { .. }) => panic!("{bytes} bytes fit one packet"),
            Err(SendError::NotConnected | SendError::TooLarge { .. } | SendError::Full { .. }) => {}
        }
        self.message = message;
        Ok(())
    }

    fn with_datagram(&mut self, input: &mut Input<'_>, act: impl FnOnce(&mut Pair, usize)) {
        let index = input.choice(self.network.len());
        if index < self.network.len() {
            act(self, index);
        }
    }

    fn deliver(&mut self, index: usize) {
        let mut datagram = self.network.remove(index);
        let receiver = datagram.by.other();
        if datagram.to == self.rig.address(receiver) {
            let now = self.rig.now;
            self.rig.endpoint(receiver).handle_datagram(now, datagram.from, &mut datagram.bytes);
        }
    }

    fn deliver_all(&mut self, to: Side) {
        while let Some(index) = self.network.iter().position(|datagram| datagram.by != to) {
            self.deliver(index);
        }
    }

    fn duplicate(&mut self, index: usize) {
        let Datagram { by, from, to, .. } = self.network[index];
        let (bytes, is_damaged) = (self.network[index].bytes.clone(), self.network[index].is_damaged);
        self.put(Datagram { by, from, to, bytes, is_damaged });
    }

    /// Once per datagram and within one byte: what a checksum is certain to notice.
    fn damage(&mut self, index: usize, at: usize, change: u8) {
        let datagram = &mut self.network[index];
        let at = at % datagram.bytes.len();
        if !std::mem::replace(&mut datagram.is_damaged, true) {
            datagram.bytes[at] ^= change;
        }
    }

    fn put(&mut self, datagram: Datagram) {
        if self.network.len() == IN_FLIGHT_MAX {
            self.network.remove(0);
        }
        self.network.push(datagram);
    }

    /// Lets time pass and both sides work.
    fn run(&mut self, duration: Micros) -> Result<(), Violation> {
        self.rig.now += duration;
        self.events = 0;
        for side in Side::BOTH {
            let now = self.rig.now;
            self.rig.endpoint(side).begin_tick(now);
            if self.is_polled[side as usize] {
                self.take_events(side)?;
            }
            for sent in self.rig.transmit(side) {
                self.put(Datagram {
                    by: side,
                    from: self.rig.address(side),
                    to: sent.to,
                    bytes: sent.bytes,
                    is_damaged: false,
                });
            }
        }
        Ok(())
    }

    fn take_events(&mut self, side: Side) -> Result<(), Violation> {
        let (now, node) = (self.rig.now, side as usize);
        let endpoint = match side {
            Side::Server => &mut self.rig.server,
            Side::Client => &mut self.rig.client,
        };
        while let Some((peer, event)) = endpoint.poll_event() {
            self.events += 1;
            match event {
                Event::Connected { resume, resumed_from } => {
                    self.token = resume.or(self.token);
                    let is_resumed = resumed_from.is_some();
                    self.ledger.handle_connected(now, node, peer, is_resumed)?;
                }
                Event::Message { channel, data } => {
                    self.ledger.handle_message(now, node, peer, channel, data)?;
                }
                Event::Outcome { tag, acked } => self.ledger.handle_outcome(node, peer, tag, acked)?,
                Event::Disconnected { reason, .. } => {
                    self.ledger.handle_ended(now, node, peer, reason)?;
                }
            }
        }
        Ok(())
    }

    fn connect(&mut self, token: Option<ResumeToken>) {
        let (now, server) = (self.rig.now, self.rig.server_address);
        if let Ok(peer) = self.rig.client.connect(now, server, token) {
            self.ledger.handle_opened(now, Side::Client as usize, peer);
        }
    }

    fn reconnect(&mut self, resumes: bool) {
        let token = if resumes { self.token.take() } else { None };
        self.connect(token);
    }

    fn disconnect(&mut self, side: Side) {
        let now = self.rig.now;
        let peers: Vec<PeerId> = self.rig.endpoint(side).peers().collect();
        for peer in peers {
            self.rig.endpoint(side).disconnect(now, peer, DisconnectReason::Requested);
        }
    }

    /// Everything arrives from now on. In the end nothing reliable is missing on a connection that still exists.
    fn heal(&mut self) -> Result<(), Violation> {
        self.is_polled = [true; 2];
        let ends = self.rig.now + HEALING;
        let mut steps = 0;
        while steps == 0 || (self.rig.now < ends && !self.is_quiet()) {
            let wakes = [self.rig.server.poll_timeout(), self.rig.client.poll_timeout()];
            let next = wakes.into_iter().flatten().min().unwrap_or(ends).min(ends);
            // Ten ticks a second at least, so that events that were held back come out.
            let pause = (next - self.rig.now).min(Micros::from_millis(100)).max(Micros(100));
            self.run(pause)?;
            Side::BOTH.into_iter().for_each(|side| self.deliver_all(side));
            steps += 1;
            assert!(steps < HEALING_STEPS_MAX, "an endpoint asks to be woken again and again");
        }
        self.check_healed()
    }

    /// Whether nothing more can happen that the final check asks for.
    fn is_quiet(&self) -> bool {
        let is_settled = |phase| !matches!(phase, Phase::Connecting);
        let open = |node| self.ledger.connected(node).len();
        self.network.is_empty()
            && self.events == 0
            && open(0) == open(1)
            && self.ledger.connections().iter().all(|side| is_settled(side.phase))
            && self.ledger.live_streams().all(|stream| stream.is_complete())
    }

    fn check_healed(&self) -> Result<(), Violation> {
        for stream in self.ledger.live_streams() {
            stream.channels().iter().try_for_each(|channel| channel.check_drained())?;
        }
        for stream in self.ledger.streams() {
            stream.channels().iter().try_for_each(|channel| channel.check_outcomes())?;
        }
        let server_side = self.ledger.connected(Side::Server as usize).len();
        let client_side = self.ledger.connected(Side::Client as usize).len();
        assert_eq!(server_side, client_side, "one side believes in a connection alone");
        Ok(())
    }
}

/// The tag by which the ledger finds a message again.
fn tag_of(stamp: Stamp) -> u64 {
    u64::from(stamp.stream) << 40 | u64::from(stamp.channel) << 32 | u64::from(stamp.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds;

    fn ledger(name: &str) -> Ledger {
        let seed = seeds::all()
            .into_iter()
            .find(|seed| (seed.target, seed.name) == ("connection_pair", name))
            .expect("a seed of this name");
        run(&seed.bytes).expect("no promise is broken")
    }

    #[test]
    fn the_seeds_talk_on_every_channel_in_both_directions() {
        for name in ["plain_talk", "sealed_talk", "unpolled"] {
            let ledger = ledger(name);
            for stream in &ledger.streams()[..2] {
                for (channel, check) in stream.channels().iter().enumerate() {
                    assert!(check.delivered() > 0, "{name}: nothing on channel {channel}");
                }
            }
        }
    }

    #[test]
    fn the_seed_of_resuming_resumes() {
        assert!(ledger("resume").connections().iter().any(|side| side.is_resumed));
    }
}
