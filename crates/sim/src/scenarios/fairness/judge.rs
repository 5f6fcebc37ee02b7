//! The server's side of one shooter: its inputs, what is known about its time, and the verdict on its shots.

use std::collections::{BTreeMap, VecDeque};

use netloom_replica::server::ReplicaPeer;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig, Taken};
use netloom_replica::server::rewind::{Filter, PastView, PeerTiming, Ray, Rewind};
use netloom_replica::step::Step;
use netloom_replica::world::ObjectIndex;
use netloom_wire::{Micros, Tick};

use super::shooter::Intent;
use super::tally::Tally;
use super::walker::{Buttons, MIDDLE_METRES, RADIUS_METRES, Walk, direction_of};
use super::{COOLDOWN_STEPS, INTERPOLATION_DELAY, STEPS_PER_SECOND, step_time};
use crate::check::Violation;
use crate::runner::Failure;
use crate::scenarios::replication::path::{Sender, Up};

/// The round trip is the shortest of the last two seconds: who holds acknowledgements back now and then does not look far
/// away by that.
const RTT_MEMORY: Micros = Micros::from_secs(2);

const RANGE_METRES: f64 = 100.0;

/// One shooter, as the server has it.
#[derive(Debug)]
pub struct Seat {
    /// Its number in replication.
    pub peer: ReplicaPeer,
    /// Its object.
    pub object: ObjectIndex,
    /// The path to it.
    pub sender: Sender,
    /// Where it is.
    pub position: [f32; 3],
    /// What was counted.
    pub tally: Tally,
    queue: InputQueue<Buttons>,
    /// The same inputs in a game that runs a step per input.
    paced: InputQueue<Buttons>,
    paced_steps: i64,
    sent: BTreeMap<u64, (Tick, Micros)>,
    rtts: VecDeque<(Micros, Micros)>,
    newest_acked: Option<Tick>,
    /// The newest time stamp of the client, and when it came.
    stamp: Option<(u64, Micros)>,
    last_shot: Option<Tick>,
    taken: Option<Taken<Buttons>>,
}

impl Seat {
    /// A shooter that stands somewhere.
    pub fn new(peer: ReplicaPeer, object: ObjectIndex, position: [f32; 3]) -> Result<Seat, Failure> {
        let queue = || InputQueue::new(Buttons::NEUTRAL, Tick(1), InputQueueConfig::default());
        Ok(Seat {
            peer,
            object,
            sender: Sender::default(),
            position,
            tally: Tally::default(),
            queue: queue().map_err(Failure::setup)?,
            paced: queue().map_err(Failure::setup)?,
            paced_steps: 0,
            sent: BTreeMap::new(),
            rtts: VecDeque::new(),
            newest_acked: None,
            stamp: None,
            last_shot: None,
            taken: None,
        })
    }

    /// Inputs arrived, with the time stamp of whoever sent them.
    pub fn handle_inputs(&mut self, now: Micros, stamp: u64, message: &[u8]) -> Result<(), Failure> {
        if self.stamp.is_none_or(|(newest, _)| stamp > newest) {
            self.stamp = Some((stamp, now));
        }
        self.queue.handle_message(message, now).map_err(Failure::setup)?;
        self.paced.handle_message(message, now).map_err(Failure::setup)
    }

    /// What a datagram to the client begins with: its newest time stamp, and how long that has been here.
    pub fn echo(&self, now: Micros) -> [u8; 12] {
        let (stamp, held) = self.stamp.map_or((0, Micros::ZERO), |(stamp, came)| (stamp, now - came));
        let mut echo = [0; 12];
        echo[..8].copy_from_slice(&stamp.to_le_bytes());
        echo[8..].copy_from_slice(&(held.0.min(u32::MAX.into()) as u32).to_le_bytes());
        echo
    }

    /// A snapshot was sent.
    pub fn handle_sent(&mut self, sequence: u64, tick: Tick, now: Micros) {
        self.sent.insert(sequence, (tick, now));
    }

    /// Acknowledgements arrived; `decide` hears of every snapshot whose fate they settle.
    pub fn handle_acks(&mut self, now: Micros, up: &Up, mut decide: impl FnMut(u64, bool)) {
        let Seat { sender, sent, rtts, newest_acked, .. } = self;
        sender.handle_ack(up, |sequence, is_acked| {
            decide(sequence, is_acked);
            let Some((tick, sent_at)) = sent.remove(&sequence).filter(|_| is_acked) else { return };
            rtts.push_back((now, now - sent_at));
            if newest_acked.is_none_or(|newest| tick.is_newer_than(newest)) {
                *newest_acked = Some(tick);
            }
        });
        while self.rtts.front().is_some_and(|(came, _)| *came + RTT_MEMORY < now) {
            self.rtts.pop_front();
        }
    }

    /// What the client is told of its inputs.
    pub fn feedback(&self) -> Option<netloom_replica::snapshot::Feedback> {
        self.queue.feedback()
    }

    /// Simulates a step: one input, whatever was sent.
    pub fn simulate(&mut self, step: Tick, now: Micros) -> Result<(), Violation> {
        self.taken = self.queue.take(step, now);
        if let Some(taken) = &self.taken {
            let before = self.position;
            Walk.step(&mut self.position, &taken.input);
            let way = (self.position[1] - before[1]).abs();
            self.tally.steps += 1;
            self.tally.real += u64::from(taken.view.is_some());
            self.tally.way_metres += f64::from(way);
        }
        if self.queue.take(step, now).is_some() {
            return Err(Violation::new("a step has one input", format!("two were given in {step:?}")));
        }
        while self.paced.poll_input(now).is_some() {
            self.paced_steps += 1;
            // A promise that is broken without end is broken.
            if self.paced_steps > 2 * i64::from(step.0) + 1_000 {
                break;
            }
        }
        let ahead = self.paced_steps - i64::from(step.0);
        self.tally.ahead_steps_max = self.tally.ahead_steps_max.max(ahead);
        Ok(())
    }

    /// What the server knows about this shooter's time.
    fn timing(&self) -> PeerTiming {
        let rtt = self.rtts.iter().map(|(_, rtt)| *rtt).min().unwrap_or_default();
        let wait_us = self.queue.slack_steps().unwrap_or(0.0).max(0.0) * 1e6 / f64::from(STEPS_PER_SECOND);
        PeerTiming {
            rtt,
            interpolation_delay: INTERPOLATION_DELAY,
            input_wait: Micros(wait_us as u64),
            newest_acked: self.newest_acked.map_or(Micros::ZERO, super::tick_time),
        }
    }

    /// Judges what was claimed and shot in this step, after everything was recorded.
    pub fn judge(
        &mut self,
        step: Tick,
        rewind: &mut Rewind,
        intents: &mut BTreeMap<u32, Intent>,
        targets: &[ObjectIndex],
    ) -> Result<(), Failure> {
        let Some(taken) = self.taken.take() else { return Ok(()) };
        let Some(claimed) = taken.view else { return Ok(()) };
        rewind.set_peer(self.peer, self.timing()).map_err(Failure::setup)?;
        let claimed = rewind.time_of(claimed).map_err(Failure::setup)?;
        let view = rewind.view(self.peer, claimed).map_err(Failure::setup)?;
        self.tally.handle_view(step, step_time(step), &view);
        let Some(angles) = taken.input.shot else { return Ok(()) };
        let cooldown = COOLDOWN_STEPS as i32;
        if self.last_shot.is_some_and(|last| step.distance(last) < cooldown) {
            return Ok(());
        }
        self.last_shot = Some(step);
        let Some(Intent { target, shown }) = intents.remove(&step.0) else { return Ok(()) };
        let direction = direction_of(angles);
        let filter = Filter { groups: 1 << target, ..Filter::default() };
        let is_hit = |view| -> Result<bool, Failure> {
            let hit = rewind.ray(view, self.object, direction, RANGE_METRES, &filter);
            Ok(hit.map_err(Failure::setup)?.is_some_and(|hit| hit.object == targets[target]))
        };
        let (is_hit, is_hit_now) = (is_hit(view)?, is_hit(rewind.present().map_err(Failure::setup)?)?);
        self.tally.shots += 1;
        self.tally.hits += u64::from(is_hit);
        self.tally.hits_in_the_present += u64::from(is_hit_now);
        self.tally.beside_sum += beside(rewind, view, &filter, shown)?;
        Ok(())
    }
}

/// How far a target was judged beside where it was shown, in metres; at most its radius. It is found by four rays, from both
/// sides along two axes: where they enter tells where the middle is.
fn beside(rewind: &Rewind, view: PastView, filter: &Filter<'_>, shown: [f64; 3]) -> Result<f64, Failure> {
    let mut square = 0.0;
    for axis in 0..2 {
        let mut middle = 0.0;
        for side in [-1.0, 1.0] {
            let mut origin = [shown[0], shown[1], shown[2] + MIDDLE_METRES];
            origin[axis] += 3.0 * side;
            let mut direction = [0.0; 3];
            direction[axis] = -side;
            let ray = Ray::new(origin, direction, 6.0).map_err(Failure::setup)?;
            let Some(hit) = rewind.cast(view, &ray, filter).map_err(Failure::setup)? else {
                return Ok(RADIUS_METRES);
            };
            middle += hit.point[axis] / 2.0;
        }
        square += (middle - shown[axis]).powi(2);
    }
    Ok(square.sqrt().min(RADIUS_METRES))
}
