//! The server: it simulates, tells, and remembers everything for those who check.

use netloom_replica::codec::Codes;
use netloom_replica::input::InputMessage;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, InputSource};
use netloom_replica::server::{PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::step::Step;
use netloom_replica::world::{ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::Value;
use netloom_wire::{Micros, ObjectId, Tick};

use super::super::replication::path::{self, DOWN_HEADER_BYTES, Sender};
use super::carrier::{DOWN_EXTRA_BYTES_MAX, ServerCarrier, Up};
use super::motion::{Kind, Mover};
use super::walk::{DETAIL, Keys, STEPS_PER_SECOND, Walk, Walker, class, classes, setup};
use crate::rng::Rng;
use crate::runner::Failure;

/// The player.
const PLAYER: OwnerId = OwnerId(1);
/// Bytes of a snapshot: everything fits into one.
const SNAPSHOT_BYTES_MAX: usize = 1_000;
/// Where the player is put to begin with, and when it is put back.
pub const START: [f32; 3] = [20.0, 20.0, 0.0];

/// What the server did in one step.
#[derive(Clone, Debug)]
pub struct StepRecord {
    /// What it simulated the player with.
    pub keys: Keys,
    /// Whether that came from the player.
    pub is_from_player: bool,
    /// Whether it moved the player otherwise.
    pub is_moved: bool,
    /// The player afterwards.
    pub walker: Walker,
}

/// How the server moves the player without being asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shove {
    /// By so much, in metres.
    Push([f32; 3]),
    /// Back to the start, as a jump.
    Respawn,
}

/// The server.
#[derive(Debug)]
pub struct Host {
    /// Everybody else.
    pub movers: Vec<Mover>,
    /// What happens once.
    pub carrier: ServerCarrier,
    /// How long before their steps inputs came, in microseconds.
    pub slacks_us: Vec<i64>,
    server: ReplicaServer,
    peer: ReplicaPeer,
    own: ObjectIndex,
    others: Vec<ObjectIndex>,
    walker: Walker,
    queue: InputQueue<Keys>,
    sender: Sender,
    steps_per_tick: u32,
    first: u32,
    /// The next step.
    next: u32,
    records: Vec<StepRecord>,
    newest_input: Option<Tick>,
    shove: Option<Shove>,
    rng: Rng,
}

impl Host {
    /// A server that begins after `tick`.
    pub fn new(tick: u32, steps_per_tick: u32, movers: Vec<Mover>, rng: Rng) -> Result<Host, Failure> {
        let mut world = World::new(classes()?, WorldConfig::default()).map_err(setup)?;
        let walker = Walker::at(START);
        let own = Spawn { owner: Some(PLAYER), ..Spawn::new(ObjectId(1), class::WALKER) };
        let own = world.spawn(own).map_err(setup)?;
        let mut others = Vec::new();
        for (number, mover) in movers.iter().enumerate() {
            let class = if matches!(mover.kind, Kind::Circle { .. }) { class::SHIP } else { class::DRIFTER };
            let index = world.spawn(Spawn::new(ObjectId(2 + number as u64), class)).map_err(setup)?;
            world.set(index, DETAIL, Value::Word(number as i32)).map_err(setup)?;
            world.set_position(index, mover.place()).map_err(setup)?;
            others.push(index);
        }
        let mut server =
            ReplicaServer::new(world, Codes::generic(), ServerConfig::default()).map_err(setup)?;
        for _ in 0..tick {
            server.begin_tick().map_err(setup)?;
        }
        let peer = server.add_peer(PeerConfig::new(PLAYER));
        let first = tick * steps_per_tick + 1;
        let config = InputQueueConfig { steps_per_second: STEPS_PER_SECOND, ..InputQueueConfig::default() };
        let queue = InputQueue::new(Keys::NONE, Tick(first), config).map_err(setup)?;
        let start =
            StepRecord { keys: Keys::NONE, is_from_player: false, is_moved: false, walker: walker.clone() };
        Ok(Host {
            movers,
            carrier: ServerCarrier::default(),
            slacks_us: Vec::new(),
            server,
            peer,
            own,
            others,
            walker,
            queue,
            sender: Sender::default(),
            steps_per_tick,
            first,
            next: first,
            records: vec![start],
            newest_input: None,
            shove: None,
            rng,
        })
    }

    /// When the next step is.
    pub fn next_step_at(&self) -> Micros {
        time_of(self.next)
    }

    /// The step before the first: what movers count from.
    pub fn origin(&self) -> u32 {
        self.first - 1
    }

    /// What happened in a step; `None` before the first and after the newest.
    pub fn record(&self, step: u32) -> Option<&StepRecord> {
        self.records.get(step.checked_sub(self.origin())? as usize)
    }

    /// The newest step.
    pub fn newest(&self) -> u32 {
        self.next - 1
    }

    /// The step that a client means, who may know only 16 bits of it.
    pub fn step_near(&self, step: Tick) -> u32 {
        let ahead = (step.0 as u16).wrapping_sub(self.newest() as u16) as i16;
        self.newest().wrapping_add_signed(ahead.into())
    }

    /// A server time in steps since the first, for movers.
    pub fn mover_steps(&self, time: Micros) -> f64 {
        time.0 as f64 * f64::from(STEPS_PER_SECOND) / 1e6 - f64::from(self.origin())
    }

    /// Moves the player with the next step.
    pub fn shove(&mut self, shove: Shove) {
        self.shove = Some(shove);
    }

    /// How many of the steps since another one had no input of the player.
    pub fn starved_since(&self, step: u32) -> usize {
        let from = step.saturating_sub(self.origin()) as usize + 1;
        self.records.iter().skip(from).filter(|record| !record.is_from_player).count()
    }

    /// Takes in a datagram of the player.
    pub fn handle_datagram(&mut self, datagram: &[u8], now: Micros) -> Result<(), Failure> {
        let up = Up::read(datagram).map_err(setup)?;
        let path = path::Up::read(up.path).map_err(setup)?;
        let Host { server, peer, sender, .. } = self;
        sender.handle_ack(&path, |sequence, acked| server.handle_outcome(*peer, sequence, acked));
        sender.hear_refusals(&path).iter().for_each(|tick| server.handle_refusal(*peer, *tick));
        path.mismatches.iter().for_each(|region| server.handle_mismatch(*peer, *region));
        self.carrier.handle(&up, now);
        if up.inputs.is_empty() {
            return Ok(());
        }
        let message = InputMessage::<Keys>::read(up.inputs).map_err(setup)?;
        let newest = message.newest(Tick(self.newest()));
        if self.newest_input.is_none_or(|before| newest.is_newer_than(before)) {
            self.newest_input = Some(newest);
            self.slacks_us.push(time_of(newest.0).0 as i64 - now.0 as i64);
        }
        self.queue.handle_message(up.inputs, now).map_err(setup)
    }

    /// Simulates a step; the datagram to send, if this is one of which a snapshot tells.
    pub fn step(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let (step, now) = (self.next, self.next_step_at());
        let is_told = step.is_multiple_of(self.steps_per_tick);
        self.next += 1;
        self.step_player(step, now)?;
        for (mover, index) in self.movers.iter_mut().zip(&self.others) {
            let jumped = mover.step(1.0 / f64::from(STEPS_PER_SECOND), is_told);
            let world = self.server.world_mut();
            world.set_position(*index, mover.place()).map_err(setup)?;
            if matches!(mover.kind, Kind::Circle { .. }) {
                world.set_velocity(*index, mover.velocity().map(|axis| axis as f32)).map_err(setup)?;
            }
            if jumped {
                world.teleport(*index).map_err(setup)?;
            }
        }
        if self.rng.chance(0.04) {
            // Several may happen in one step.
            (0..=self.rng.below(2)).for_each(|_| self.carrier.happen(now));
        }
        if is_told { self.tell(now).map(Some) } else { Ok(None) }
    }

    fn step_player(&mut self, step: u32, now: Micros) -> Result<(), Failure> {
        let taken = self.queue.take(Tick(step), now).ok_or_else(|| setup("a step was simulated twice"))?;
        Walk.step(&mut self.walker, &taken.input);
        let stepped = self.walker.clone();
        let shove = self.shove.take();
        let world = self.server.world_mut();
        match shove {
            None => {}
            Some(Shove::Push(by)) => {
                self.walker.position.iter_mut().zip(by).for_each(|(axis, by)| *axis += by);
            }
            Some(Shove::Respawn) => {
                self.walker = Walker::at(START);
                world.teleport(self.own).map_err(setup)?;
            }
        }
        let is_from_player = taken.source == InputSource::Client;
        world.set_position(self.own, self.walker.position.map(f64::from)).map_err(setup)?;
        world.set(self.own, DETAIL, Value::Word(self.walker.breath)).map_err(setup)?;
        if !is_from_player {
            // The player may have predicted something else: it must hear of this state even if it is the old one.
            world.touch(self.own).map_err(setup)?;
        }
        self.records.push(StepRecord {
            keys: taken.input,
            is_from_player,
            is_moved: stepped.distance(&self.walker) > 0.1,
            walker: self.walker.clone(),
        });
        Ok(())
    }

    fn tell(&mut self, now: Micros) -> Result<Vec<u8>, Failure> {
        let Host { server, sender, peer, .. } = self;
        let tick = server.begin_tick().map_err(setup)?;
        sender.expire(now, |sequence| server.handle_outcome(*peer, sequence, false));
        if let Some(feedback) = self.queue.feedback() {
            server.set_feedback(*peer, feedback);
        }
        server.select(*peer, SNAPSHOT_BYTES_MAX);
        let mut datagram = vec![0; DOWN_HEADER_BYTES + DOWN_EXTRA_BYTES_MAX];
        let extra = self.carrier.write(now, &mut datagram[DOWN_HEADER_BYTES..]);
        let before = DOWN_HEADER_BYTES + extra;
        datagram.resize(before + SNAPSHOT_BYTES_MAX, 0);
        let length = server
            .poll_snapshot(*peer, sender.next_sequence(), &mut datagram[before..])
            .ok_or_else(|| setup("a tick with feedback has a snapshot"))?;
        datagram[..DOWN_HEADER_BYTES].copy_from_slice(&sender.handle_sent(now, tick.0));
        datagram.truncate(before + length);
        Ok(datagram)
    }
}

/// When a step is, by the server's clock.
pub fn time_of(step: u32) -> Micros {
    Micros((u64::from(step) * 1_000_000).div_ceil(STEPS_PER_SECOND.into()))
}
