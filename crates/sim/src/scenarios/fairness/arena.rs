//! The server, its targets and shooters, and the network between them, from event to event.

use std::net::SocketAddr;

use netloom_replica::class::ClassId;
use netloom_replica::codec::Codes;
use netloom_replica::server::rewind::{Pose, Rewind, RewindConfig};
use netloom_replica::server::{PeerConfig, ReplicaServer, ServerConfig};
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::Value;
use netloom_wire::{ByteReader, Micros, ObjectId, Tick};

use super::judge::Seat;
use super::shooter::{ACKS, Shooter};
use super::tally::Tally;
use super::walker::{self, IDENTITY_FIELD, Target};
use super::{Role, STEPS_PER_TICK, TARGETS, step_time};
use crate::check::Violation;
use crate::network::{LinkConfig, Network};
use crate::rng::Rng;
use crate::runner::Failure;
use crate::scenarios::replication::path::{DOWN_HEADER_BYTES, Up};

/// The largest snapshot, as connections take it.
const SNAPSHOT_BYTES_MAX: usize = 1_150;
/// Enough for everything in every tick: this is about time, not about bytes.
const BUDGET_BYTES: usize = 4_000;
/// Shooters stand in a row so far from the middle of the field.
const DISTANCE_METRES: f32 = 25.0;

const SERVER: SocketAddr = address(0);

/// Everything that takes part.
#[derive(Debug)]
pub struct Arena {
    server: ReplicaServer,
    rewind: Rewind,
    targets: Vec<Target>,
    objects: Vec<ObjectIndex>,
    seats: Vec<Seat>,
    shooters: Vec<Shooter>,
    network: Network,
    /// The step that comes next.
    step: Tick,
    datagram: Vec<u8>,
}

impl Arena {
    /// A field with targets, and nobody who shoots.
    pub fn new(seed: u64) -> Result<Arena, Failure> {
        let mut world = World::new(walker::classes()?, WorldConfig::default()).map_err(Failure::setup)?;
        let mut rewind = Rewind::new(RewindConfig::default()).map_err(Failure::setup)?;
        let model = walker::hit_model().map_err(Failure::setup)?;
        let model = rewind.add_model(model).map_err(Failure::setup)?;
        let rng = Rng::new(seed).fork("targets");
        let (mut targets, mut objects) = (Vec::new(), Vec::new());
        for number in 0..TARGETS {
            let object = spawn(&mut world, number as u64, None)?;
            rewind.track(object, model, 1 << number).map_err(Failure::setup)?;
            targets.push(Target::new(number, rng.fork_index(number as u64)));
            objects.push(object);
        }
        let server =
            ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).map_err(Failure::setup)?;
        let mut network = Network::new(seed, LinkConfig::default()).map_err(Failure::setup)?;
        network.add_node(SERVER);
        Ok(Arena {
            server,
            rewind,
            targets,
            objects,
            seats: Vec::new(),
            shooters: Vec::new(),
            network,
            step: Tick(1),
            datagram: Vec::new(),
        })
    }

    /// A shooter joins, over such a link each way. What `common` draws is the same for all.
    pub fn join(&mut self, role: Role, link: LinkConfig, common: &Rng, rng: Rng) -> Result<(), Failure> {
        let number = self.seats.len() as u16 + 1;
        let (owner, address) = (OwnerId(number.into()), address(number));
        let object = spawn(self.server.world_mut(), 1_000 + u64::from(number), Some(owner))?;
        let position = [-DISTANCE_METRES, f32::from(number) - 6.0, 0.0];
        // Shooters shoot and are never hit: they are in no group.
        let model = walker::hit_model().map_err(Failure::setup)?;
        let model = self.rewind.add_model(model).map_err(Failure::setup)?;
        self.rewind.track(object, model, 0).map_err(Failure::setup)?;
        let peer = self.server.add_peer(PeerConfig::new(owner));
        self.seats.push(Seat::new(peer, object, position)?);
        self.shooters.push(Shooter::new(address, role, common, rng)?);
        self.network.add_node(address);
        self.network.set_link(SERVER, address, link).map_err(Failure::setup)?;
        self.network.set_link(address, SERVER, link).map_err(Failure::setup)
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Micros) -> Result<(), Failure> {
        loop {
            let frames = self.shooters.iter().map(|shooter| shooter.next_frame).min();
            let arrival = self.network.next_delivery();
            let events = [Some(step_time(self.step)), frames, arrival];
            let now = events.into_iter().flatten().min().unwrap_or(end);
            if now >= end {
                return Ok(());
            }
            self.deliver(now)?;
            if step_time(self.step) == now {
                self.run_step(now).map_err(|failure| at(now, failure))?;
            }
            for place in 0..self.shooters.len() {
                if self.shooters[place].next_frame == now {
                    self.shooters[place].handle_frame(now)?;
                }
                self.send_up(place, now);
            }
        }
    }

    /// What was counted of each shooter, in the order in which they joined.
    pub fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.seats.iter().map(|seat| &seat.tally)
    }

    /// How far each shooter's view lies behind what arrives.
    pub fn view_delays(&self) -> impl Iterator<Item = Micros> {
        self.shooters.iter().map(Shooter::view_delay)
    }

    /// Counts from here on.
    pub fn clear_tallies(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.tally = Tally::default());
    }

    fn deliver(&mut self, now: Micros) -> Result<(), Failure> {
        let mut datagram = std::mem::take(&mut self.datagram);
        while let Some(delivery) = self.network.poll_delivery(now, &mut datagram) {
            let is_up = delivery.to == SERVER;
            let client = if is_up { delivery.from } else { delivery.to };
            let place = self.shooters.iter().position(|shooter| shooter.address == client);
            let Some(place) = place else { continue };
            match is_up {
                true => self.handle_up(place, now, &datagram)?,
                false => self.shooters[place].handle_datagram(now, &datagram)?,
            }
        }
        self.datagram = datagram;
        Ok(())
    }

    fn handle_up(&mut self, place: usize, now: Micros, datagram: &[u8]) -> Result<(), Failure> {
        let Arena { server, seats, .. } = self;
        let seat = &mut seats[place];
        let mut reader = ByteReader::new(datagram);
        if reader.read_u8().map_err(Failure::setup)? != ACKS {
            let stamp = reader.read_u64().map_err(Failure::setup)?;
            return seat.handle_inputs(now, stamp, reader.rest());
        }
        let up = Up::read(reader.rest()).map_err(Failure::setup)?;
        let peer = seat.peer;
        seat.handle_acks(now, &up, |sequence, is_acked| server.handle_outcome(peer, sequence, is_acked));
        for &tick in seat.sender.hear_refusals(&up) {
            server.handle_refusal(peer, tick);
        }
        for &region in &up.mismatches {
            server.handle_mismatch(peer, region);
        }
        Ok(())
    }

    /// A step of the server: inputs are simulated, everything is recorded, then shots are judged.
    fn run_step(&mut self, now: Micros) -> Result<(), Failure> {
        let step = self.step;
        self.step = step.next();
        self.targets.iter_mut().for_each(Target::step);
        for seat in &mut self.seats {
            seat.simulate(step, now).map_err(|violation| Failure::Violation { at_ms: 0, violation })?;
        }
        let Arena { server, rewind, targets, objects, seats, shooters, .. } = self;
        let pose = |object: ObjectIndex| {
            if let Some(place) = objects.iter().position(|target| *target == object) {
                return Some(Pose::new(targets[place].position, targets[place].rotation()));
            }
            let seat = seats.iter().find(|seat| seat.object == object)?;
            Some(Pose::new(seat.position.map(f64::from), [0.0, 0.0, 0.0, 1.0]))
        };
        rewind.record(step, now, pose).map_err(Failure::setup)?;
        for (seat, shooter) in seats.iter_mut().zip(shooters) {
            seat.judge(step, rewind, &mut shooter.intents, objects)?;
        }
        if !step.0.is_multiple_of(STEPS_PER_TICK) {
            return Ok(());
        }
        let world = server.world_mut();
        for (target, &object) in targets.iter().zip(&*objects) {
            world.set_position(object, target.position).map_err(Failure::setup)?;
            world.set_rotation(object, target.rotation()).map_err(Failure::setup)?;
            let velocity = target.velocity.map(|axis| axis as f32);
            world.set_velocity(object, velocity).map_err(Failure::setup)?;
        }
        for seat in &*seats {
            world.set_position(seat.object, seat.position.map(f64::from)).map_err(Failure::setup)?;
        }
        self.send_snapshots(now)
    }

    fn send_snapshots(&mut self, now: Micros) -> Result<(), Failure> {
        let tick = self.server.begin_tick().map_err(Failure::setup)?;
        let Arena { server, seats, shooters, network, .. } = self;
        for (seat, shooter) in seats.iter_mut().zip(shooters) {
            let peer = seat.peer;
            if let Some(feedback) = seat.feedback() {
                server.set_feedback(peer, feedback);
            }
            server.select(peer, BUDGET_BYTES);
            let echo = seat.echo(now);
            let head = echo.len() + DOWN_HEADER_BYTES;
            let mut datagram = [0; 12 + DOWN_HEADER_BYTES + SNAPSHOT_BYTES_MAX];
            datagram[..echo.len()].copy_from_slice(&echo);
            loop {
                let sequence = seat.sender.next_sequence();
                let Some(length) = server.poll_snapshot(peer, sequence, &mut datagram[head..]) else { break };
                datagram[echo.len()..head].copy_from_slice(&seat.sender.handle_sent(now, tick.0));
                seat.handle_sent(sequence, tick, now);
                network.send(now, SERVER, shooter.address, &datagram[..head + length]);
            }
            seat.sender.expire(now, |sequence| server.handle_outcome(peer, sequence, false));
        }
        Ok(())
    }

    fn send_up(&mut self, place: usize, now: Micros) {
        let Arena { shooters, network, .. } = self;
        let shooter = &mut shooters[place];
        while let Some(datagram) = shooter.poll_datagram(now) {
            network.send(now, shooter.address, SERVER, &datagram);
        }
    }
}

fn spawn(world: &mut World, id: u64, owner: Option<OwnerId>) -> Result<ObjectIndex, Failure> {
    let object =
        world.spawn(Spawn { owner, ..Spawn::new(ObjectId(id), ClassId(0)) }).map_err(Failure::setup)?;
    world.set(object, IDENTITY_FIELD, Value::U64(id)).map_err(Failure::setup)?;
    Ok(object)
}

/// Says when a promise was broken.
fn at(now: Micros, failure: Failure) -> Failure {
    match failure {
        Failure::Violation { violation: Violation { rule, detail }, .. } => {
            Failure::Violation { at_ms: now.0 / 1_000, violation: Violation { rule, detail } }
        }
        other => other,
    }
}

const fn address(number: u16) -> SocketAddr {
    let [high, low] = number.to_be_bytes();
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, high, low)), 4_000)
}
