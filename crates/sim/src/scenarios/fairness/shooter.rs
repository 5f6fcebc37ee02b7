//! A shooter's machine: a client as a game has it, with the real parts, and a player who aims at what it shows.
//!
//! ```text
//!   snapshot ─▶ ReplicaClient ─▶ View ──── what is shown ───▶ player: aims there, not quite exactly
//!                   │                                            │
//!                   └─▶ Predictor, InputClock ◀── buttons ───────┘ ──▶ inputs with the claimed view
//! ```
//!
//! Every player misses the middle of the target by the same in the same shot: what is left of the difference between two
//! hit rates is made by the network and by what the server makes of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use netloom_replica::client::predict::{PredictConfig, Predictor};
use netloom_replica::client::{
    ClientObject, InputClock, InputClockConfig, ReplicaClient, SnapshotError, View, ViewConfig,
};
use netloom_replica::codec::Codes;
use netloom_replica::input::{INPUT_MESSAGE_BYTES_MAX, ViewTime, write_inputs};
use netloom_replica::step::Step;
use netloom_replica::world::ClassTable;
use netloom_wire::schema::{Audience, Value};
use netloom_wire::{Alias, ByteReader, Micros, Profile, Tick};

use super::cheat::{Claim, Conduct, Memory, Scene, withholds};
use super::walker::{self, Buttons, EYE_METRES, IDENTITY_FIELD, MIDDLE_METRES, Walk};
use super::{COOLDOWN_STEPS, Role, STEPS_PER_SECOND, TARGETS};
use crate::rng::Rng;
use crate::runner::Failure;
use crate::scenarios::replication::path::{Receiver, UP_BYTES_MAX};

/// The first byte of a datagram to the server: acknowledgements, or a time stamp and inputs.
pub const ACKS: u8 = 0;
/// See [`ACKS`].
pub const INPUTS: u8 = 1;

/// How far beside the middle shots go, sideways and upwards: the deviation.
const SPREAD_METRES: [f64; 2] = [0.2, 0.3];
/// A fast clock is never farther ahead than the server's window.
const FAST_STEPS_MAX: i32 = 60;
/// A flood goes so many steps ahead.
const FLOOD_STEPS: u32 = 3;

/// What a shot was meant to hit.
#[derive(Clone, Copy, Debug)]
pub struct Intent {
    /// The target.
    pub target: usize,
    /// Where it was, as the shooter claims to have seen it.
    pub shown: [f64; 3],
}

/// A client and its player.
#[derive(Debug)]
pub struct Shooter {
    /// Where it is on the network.
    pub address: SocketAddr,
    /// When it draws its next frame.
    pub next_frame: Micros,
    /// What its shots were meant to hit, by step: what the player knows, and no server.
    pub intents: BTreeMap<u32, Intent>,
    role: Role,
    frame: Micros,
    frame_rng: Rng,
    /// Draws how far shots go astray; the same for all shooters.
    spread: Rng,
    clock_offset: Micros,
    clock_ppm: i64,
    receiver: Receiver,
    client: ReplicaClient,
    view: View,
    input_clock: InputClock,
    predictor: Option<Predictor<Walk>>,
    aliases: [Option<Alias>; TARGETS],
    memory: Memory,
    is_resting: bool,
    outbox: Vec<Vec<u8>>,
}

impl Shooter {
    /// A shooter. What `common` draws is the same for all.
    pub fn new(address: SocketAddr, role: Role, common: &Rng, mut rng: Rng) -> Result<Shooter, Failure> {
        // Who is compared has the same machine.
        let machine = common.fork("machine").fork_index(role.rtt_ms).below(3);
        let frame = [Micros(16_667), Micros(6_944), Micros(33_333)][machine as usize];
        let classes = ClassTable::new(walker::classes()?).map_err(Failure::setup)?;
        Ok(Shooter {
            address,
            next_frame: Micros(rng.below(frame.0)),
            intents: BTreeMap::new(),
            role,
            frame,
            spread: common.fork("spread"),
            clock_offset: Micros(rng.below(1_000_000_000)),
            clock_ppm: rng.between(0, 400) as i64 - 200,
            frame_rng: rng,
            receiver: Receiver::default(),
            client: ReplicaClient::new(classes, Codes::generic()),
            view: View::new(ViewConfig::default()).map_err(Failure::setup)?,
            input_clock: InputClock::new(InputClockConfig::default()).map_err(Failure::setup)?,
            predictor: None,
            aliases: [None; TARGETS],
            memory: Memory::default(),
            is_resting: false,
            outbox: Vec::new(),
        })
    }

    /// Takes in a datagram from the server and acknowledges it.
    pub fn handle_datagram(&mut self, now: Micros, datagram: &[u8]) -> Result<(), Failure> {
        let local = self.local(now);
        let mut reader = ByteReader::new(datagram);
        let stamp = reader.read_u64().map_err(Failure::setup)?;
        let held = Micros(reader.read_u32().map_err(Failure::setup)?.into());
        if stamp > 0 {
            self.view.handle_rtt(local - Micros(stamp) - held);
        }
        let snapshot = self.receiver.handle_datagram(reader.rest()).map_err(Failure::setup)?;
        // What builds on a state that got lost is refused, and the server hears of it; that is no matter of fairness.
        if let Err(error @ SnapshotError::Malformed(_)) = self.client.handle_snapshot(snapshot) {
            return Err(Failure::setup(error));
        }
        self.view.handle_snapshot(local, &self.client);
        while let Some(refusal) = self.client.poll_refusal() {
            self.receiver.refuse(refusal.tick);
        }
        while let Some(region) = self.client.poll_mismatch() {
            self.receiver.mismatch(region);
        }
        self.take_feedback()?;
        let mut acks = [0; 1 + UP_BYTES_MAX];
        acks[0] = ACKS;
        let (_, body) = acks.split_at_mut(1);
        let length = body.first_chunk_mut().map_or(0, |body| self.receiver.write(None, body));
        self.outbox.push(acks[..1 + length].to_vec());
        Ok(())
    }

    /// Draws a frame, and runs the steps that are due.
    pub fn handle_frame(&mut self, now: Micros) -> Result<(), Failure> {
        let jitter = self.frame.0 / 8;
        self.next_frame = now + Micros(self.frame.0 - jitter / 2 + self.frame_rng.below(jitter + 1));
        let local = self.local(now);
        let Some(time) = self.view.advance(local) else { return Ok(()) };
        let scene = self.scene();
        self.memory.handle_frame(Claim { view: time, scene });
        let steps = self.input_clock.poll_steps(local, self.view.clock());
        let Some(predictor) = &self.predictor else { return Ok(()) };
        let newest = predictor.newest();
        match self.role.conduct {
            Conduct::FastClock => self.run_fast(local, newest, steps.first, steps.count),
            _ => steps.iter().try_for_each(|step| self.run_step(local, step)),
        }
    }

    /// A datagram that leaves now.
    pub fn poll_datagram(&mut self, now: Micros) -> Option<Vec<u8>> {
        let is_withheld = withholds(self.role.conduct, self.local(now));
        let has_any = !is_withheld && !self.outbox.is_empty();
        has_any.then(|| self.outbox.remove(0))
    }

    /// How far the view lies behind what arrives.
    pub fn view_delay(&self) -> Micros {
        self.view.delay().delay()
    }

    /// What its own clock shows.
    fn local(&self, now: Micros) -> Micros {
        let drift = now.0 as i64 / 1_000 * self.clock_ppm / 1_000;
        Micros((now + self.clock_offset).0.saturating_add_signed(drift))
    }

    fn take_feedback(&mut self) -> Result<(), Failure> {
        let Some(feedback) = self.client.feedback() else { return Ok(()) };
        // Who sends steps before they are due, or late on purpose, must not mind being told so.
        let is_steered =
            !matches!(self.role.conduct, Conduct::FastClock | Conduct::Flood | Conduct::Withheld);
        if let Some(slack) = feedback.slack.filter(|_| is_steered) {
            let slack_us = slack.steps() * 1e6 / f64::from(STEPS_PER_SECOND);
            self.input_clock.handle_slack(feedback.step, slack_us as i64);
        }
        let own = self.client.iter().find(|object| object.audience() == Audience::Owner);
        let Some(alias) = own.map(ClientObject::alias) else { return Ok(()) };
        let confirmed = self.client.confirmed(alias);
        let confirmed = confirmed.and_then(|(step, object)| Some((step, self.position_of(object)?)));
        match (&mut self.predictor, confirmed) {
            (Some(predictor), Some((step, state))) => {
                predictor.handle_state(step, &state);
            }
            (Some(predictor), None) => predictor.handle_acked(feedback.step),
            (none, Some((step, state))) => {
                let config = PredictConfig::default();
                let predictor = Predictor::of_object(&self.client, alias, Walk, step, state, config);
                *none = Some(predictor.map_err(Failure::setup)?);
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn position_of(&self, object: &ClientObject) -> Option<[f32; 3]> {
        match object.value(self.client.class(object)?, 0)? {
            Value::Triple(words) => Some(Profile::Standard.dequantize_position(words)),
            _ => None,
        }
    }

    /// Where the view shows each target.
    fn scene(&mut self) -> Scene {
        for object in self.client.iter() {
            let identity = self.client.class(object).and_then(|class| object.value(class, IDENTITY_FIELD));
            if let Some(Value::U64(identity)) = identity
                && let Some(alias) = self.aliases.get_mut(identity as usize)
            {
                *alias = Some(object.alias());
            }
        }
        let shown = |alias: &Option<Alias>| Some(self.view.sample((*alias)?)?.pose.position);
        self.aliases.iter().map(shown).collect()
    }

    /// What the newest snapshot says, which nobody is shown.
    fn newest(&mut self) -> Claim {
        let held = |alias: &Option<Alias>| {
            self.position_of(self.client.object((*alias)?)?).map(|metres| metres.map(f64::from))
        };
        let scene = self.aliases.iter().map(held).collect();
        let tick = self.client.newest().unwrap_or(Tick(0));
        Claim { view: self.view.time_of(tick), scene }
    }

    fn run_step(&mut self, local: Micros, step: Tick) -> Result<(), Failure> {
        let mut memory = std::mem::take(&mut self.memory);
        let claim = memory.claim(self.role.conduct, local, || self.newest());
        self.memory = memory;
        let Some(claim) = claim else { return Ok(()) };
        let buttons = self.buttons(step, &claim);
        let Some(predictor) = &mut self.predictor else { return Ok(()) };
        // What cannot be predicted, after a long silence, is not sent either.
        if predictor.apply_local(step, buttons).is_err() {
            return Ok(());
        }
        let view = ViewTime::at(claim.view, STEPS_PER_SECOND);
        let mut message = [0; INPUT_MESSAGE_BYTES_MAX];
        let Some(length) = predictor.write_inputs(Some(view), &mut message) else { return Ok(()) };
        self.send_inputs(local, &message[..length]);
        if self.role.conduct == Conduct::Flood {
            self.flood(local, step, &claim, &message[..length]);
        }
        Ok(())
    }

    /// The same again, what was sent before with another content, and steps that are not due yet.
    fn flood(&mut self, local: Micros, step: Tick, claim: &Claim, message: &[u8]) {
        self.send_inputs(local, message);
        self.send_inputs(local, message);
        let ahead: Vec<Buttons> =
            (0..2 * FLOOD_STEPS).map(|age| self.buttons(Tick(step.0 + FLOOD_STEPS - age), claim)).collect();
        let view = ViewTime::at(claim.view, STEPS_PER_SECOND);
        let mut message = [0; INPUT_MESSAGE_BYTES_MAX];
        let newest = step.plus(FLOOD_STEPS);
        if let Some(length) = write_inputs(newest, Some(view), ahead.iter(), &mut message) {
            self.send_inputs(local, &message[..length]);
        }
    }

    /// Three steps for two that are due, until the server would refuse them; then it waits.
    fn run_fast(&mut self, local: Micros, newest: Tick, first: Tick, count: u32) -> Result<(), Failure> {
        let due = first.plus(count.saturating_sub(1));
        let lead = newest.distance(due);
        self.is_resting = lead > if self.is_resting { 0 } else { FAST_STEPS_MAX };
        if count == 0 || self.is_resting {
            return Ok(());
        }
        let begin = if lead < 0 { first } else { newest.next() };
        let steps = count + u32::from(due.0.is_multiple_of(2));
        (0..steps).try_for_each(|ahead| self.run_step(local, begin.plus(ahead)))
    }

    /// What the player does in a step, seeing what it claims to see.
    fn buttons(&mut self, step: Tick, claim: &Claim) -> Buttons {
        let walk = if (step.0 / STEPS_PER_SECOND).is_multiple_of(2) { 1 } else { -1 };
        let mut buttons = Buttons { walk, shot: None };
        let shot = step.0 / COOLDOWN_STEPS;
        if !step.0.is_multiple_of(COOLDOWN_STEPS) && self.role.conduct != Conduct::Flood {
            return buttons;
        }
        let target = shot as usize % TARGETS;
        let Some(shown) = claim.scene.get(target).copied().flatten() else { return buttons };
        let Some(predictor) = &self.predictor else { return buttons };
        // The server judges a shot after the step, so the player aims from where the step leads.
        let mut own = *predictor.state();
        Walk.step(&mut own, &buttons);
        let [sideways, upwards] = spread(self.spread.fork_index(shot.into()));
        let (x, y) = (shown[0] - f64::from(own[0]), shown[1] - f64::from(own[1]));
        let (left, distance) = ([-y, x], x.hypot(y).max(0.1));
        let rise = shown[2] + MIDDLE_METRES + upwards - f64::from(own[2]) - EYE_METRES;
        let astray = left.map(|axis| axis / distance * sideways);
        buttons.shot = Some(walker::angles_of([x + astray[0], y + astray[1], rise]));
        self.intents.entry(step.0).or_insert(Intent { target, shown });
        buttons
    }

    fn send_inputs(&mut self, local: Micros, message: &[u8]) {
        let mut datagram = vec![INPUTS];
        datagram.extend_from_slice(&local.0.to_le_bytes());
        datagram.extend_from_slice(message);
        self.outbox.push(datagram);
    }
}

/// How far a shot goes beside the middle: near to it more often than far.
fn spread(mut rng: Rng) -> [f64; 2] {
    // The sum of twelve has the deviation one, and a shape that no player can tell from a bell.
    SPREAD_METRES.map(|metres| metres * ((0..12).map(|_| rng.unit()).sum::<f64>() - 6.0))
}
