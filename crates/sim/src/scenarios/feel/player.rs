//! The client, as a game would write it: read what came, show a frame, react, send.

use netloom_replica::client::predict::{PredictConfig, Predictor, Reconciled};
use netloom_replica::client::{
    ClientObject, DueEvent, InputClock, InputClockConfig, ReplicaClient, Resync, Steps, View, ViewConfig,
    ViewEvents, ViewEventsConfig, When,
};
use netloom_replica::codec::Codes;
use netloom_replica::input::{INPUT_MESSAGE_BYTES_MAX, ViewTime};
use netloom_wire::schema::{Audience, Value};
use netloom_wire::{Alias, Micros, Tick};

use super::super::replication::path::{Receiver, UP_BYTES_MAX};
use super::carrier::{Down, Happening, Up};
use super::walk::{DETAIL, Keys, STEPS_PER_SECOND, Walk, Walker, class, class_table, setup};
use crate::runner::Failure;

/// One event in so many concerns no motion and is given on arrival.
const AT_ONCE: u32 = 7;

/// What the server said of the own character, and what came of it.
#[derive(Clone, Debug)]
pub struct Word {
    /// The step.
    pub step: Tick,
    /// The present before it.
    pub before: Walker,
    /// And after it.
    pub after: Walker,
    /// What came of it.
    pub reconciled: Reconciled,
}

/// A state of somebody else arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Who.
    pub mover: usize,
    /// Of which tick.
    pub tick: Tick,
}

/// What a frame did, for those who check.
#[derive(Debug, Default)]
pub struct Frame {
    /// The own clock.
    pub now: Micros,
    /// Since the frame before.
    pub elapsed: Micros,
    /// The time that is shown; `None` before the first snapshot.
    pub view_time: Option<Micros>,
    /// Whether it jumped.
    pub resync: Option<Resync>,
    /// Whom it shows where.
    pub shown: Vec<(usize, [f64; 3])>,
    /// What came of others.
    pub arrivals: Vec<Arrival>,
    /// The newest step that the server is known to have simulated.
    pub acked: Option<Tick>,
    /// The own character appeared: after which step, and how it was.
    pub began: Option<(Tick, Walker)>,
    /// What the server said of the own character.
    pub words: Vec<Word>,
    /// The steps that were made.
    pub steps: Steps,
    /// How many of them could be predicted.
    pub predicted: u32,
    /// What the player held down in them.
    pub keys: Keys,
    /// Events that came, in this order.
    pub came: Vec<Happening>,
    /// Events that were given, in this order.
    pub given: Vec<DueEvent<u32>>,
    /// What goes to the server.
    pub datagram: Vec<u8>,
}

/// The client.
#[derive(Debug)]
pub struct Player {
    /// What everybody else looks like.
    pub view: View,
    /// The own character, once it is there.
    pub own: Option<Predictor<Walk>>,
    /// Which step it is at.
    pub input: InputClock,
    client: ReplicaClient,
    receiver: Receiver,
    events: ViewEvents<u32>,
    /// Events that came so far.
    heard: u32,
    /// The newest state of the own character that was compared with the prediction.
    reconciled: Option<Tick>,
    seen: Option<Micros>,
}

impl Player {
    /// A client of a server with so many ticks of snapshots a second, to which it found this round trip when it
    /// connected.
    pub fn new(ticks_per_second: u32, rtt: Micros) -> Result<Player, Failure> {
        let view = ViewConfig { ticks_per_second, ..ViewConfig::default() };
        // On a machine that slept the view is so far behind until it knows.
        let events = ViewEventsConfig { ahead_max: Micros::from_secs(10), ..ViewEventsConfig::default() };
        let mut view = View::new(view).map_err(setup)?;
        view.handle_rtt(rtt);
        Ok(Player {
            view,
            own: None,
            input: InputClock::new(InputClockConfig::default()).map_err(setup)?,
            client: ReplicaClient::new(class_table()?, Codes::generic()),
            receiver: Receiver::default(),
            events: ViewEvents::new(events).map_err(setup)?,
            heard: 0,
            reconciled: None,
            seen: None,
        })
    }

    /// How a prediction is configured. This server touches the object whenever it had to make up an input, so its silence
    /// never hides a disagreement, and is never taken for one: a server that waits for news of a loss is silent, too.
    pub fn predict_config() -> PredictConfig {
        let silence = Micros::from_secs(60);
        PredictConfig { steps_per_second: STEPS_PER_SECOND, silence, ..PredictConfig::default() }
    }

    /// Whether this event is given on arrival.
    pub fn is_at_once(number: u32) -> bool {
        number % AT_ONCE == AT_ONCE - 1
    }

    /// A frame.
    pub fn frame(&mut self, now: Micros, inbox: &mut Vec<Vec<u8>>, keys: Keys) -> Result<Frame, Failure> {
        let elapsed = self.seen.map_or(Micros::ZERO, |seen| now.since(seen));
        self.seen = Some(now);
        let mut frame = Frame { now, elapsed, keys, ..Frame::default() };
        for datagram in inbox.drain(..) {
            self.receive(&datagram, &mut frame)?;
        }
        frame.view_time = self.view.advance(now);
        frame.resync = self.view.poll_resync();
        self.show_others(&mut frame);
        self.give_events(&mut frame)?;
        frame.steps = self.input.poll_steps(now, self.view.clock());
        if let Some(own) = &mut self.own {
            own.advance_view(elapsed);
            let steps = frame.steps.iter();
            frame.predicted = steps.map(|step| u32::from(own.apply_local(step, keys).is_ok())).sum();
        }
        self.write(&mut frame);
        Ok(frame)
    }

    fn receive(&mut self, datagram: &[u8], frame: &mut Frame) -> Result<(), Failure> {
        let payload = self.receiver.handle_datagram(datagram).map_err(setup)?;
        let down = Down::read(payload, frame.now).map_err(setup)?;
        if let Some(rtt) = down.rtt {
            self.view.handle_rtt(rtt);
        }
        let fresh = down.happenings.into_iter().filter(|happening| happening.number >= self.heard);
        frame.came.extend(fresh);
        self.heard = frame.came.last().map_or(self.heard, |last| self.heard.max(last.number + 1));
        // What cannot be read is refused, and the server told.
        let tick = self.client.handle_snapshot(down.snapshot).ok();
        self.view.handle_snapshot(frame.now, &self.client);
        while let Some(refusal) = self.client.poll_refusal() {
            self.receiver.refuse(refusal.tick);
        }
        while let Some(region) = self.client.poll_mismatch() {
            self.receiver.mismatch(region);
        }
        while self.client.poll_event().is_some() {}
        let Some(tick) = tick else { return Ok(()) };
        let arrived = self.client.changes().iter().filter_map(|change| self.mover(change.alias));
        frame.arrivals.extend(arrived.map(|mover| Arrival { mover, tick }));
        self.reconcile(frame)
    }

    /// What the server says of the own character, and of its inputs.
    fn reconcile(&mut self, frame: &mut Frame) -> Result<(), Failure> {
        let Some(feedback) = self.client.feedback() else { return Ok(()) };
        frame.acked = Some(feedback.step);
        if let Some(slack) = feedback.slack {
            let slack_us = slack.steps() * 1e6 / f64::from(STEPS_PER_SECOND);
            self.input.handle_slack(feedback.step, slack_us as i64);
        }
        let is_own = |object: &&ClientObject| object.audience() == Audience::Owner;
        let Some(alias) = self.client.iter().find(is_own).map(|object| object.alias()) else { return Ok(()) };
        let Some((step, object)) = self.client.confirmed(alias) else {
            self.own.iter_mut().for_each(|own| own.handle_acked(feedback.step));
            return Ok(());
        };
        let Some(server) = Walker::of(&self.client, object) else { return Ok(()) };
        let before = self.reconciled.replace(object.tick());
        let Some(own) = &mut self.own else {
            let config = Player::predict_config();
            frame.began = Some((step, server.clone()));
            let own = Predictor::of_object(&self.client, alias, Walk, step, server, config);
            self.own = Some(own.map_err(setup)?);
            return Ok(());
        };
        let is_jump = before.is_some_and(|before| object.jumped_since(before));
        let before = own.state().clone();
        let reconciled =
            if is_jump { own.handle_jump(step, &server) } else { own.handle_state(step, &server) };
        frame.words.push(Word { step, before, after: own.state().clone(), reconciled });
        Ok(())
    }

    fn show_others(&self, frame: &mut Frame) {
        for (alias, shown) in self.view.iter() {
            if let Some(mover) = self.mover(alias) {
                frame.shown.push((mover, shown.pose.position));
            }
        }
    }

    /// Events are handed over when the frame's view time is known: after a long pause the one before is far behind.
    fn give_events(&mut self, frame: &mut Frame) -> Result<(), Failure> {
        let Some(view_time) = frame.view_time else { return Ok(()) };
        for happening in &frame.came {
            let when = if Player::is_at_once(happening.number) { When::OnArrival } else { When::AtView };
            self.events.push(view_time, happening.time, when, happening.number).map_err(setup)?;
        }
        frame.given.extend(std::iter::from_fn(|| self.events.poll(view_time)));
        Ok(())
    }

    fn write(&mut self, frame: &mut Frame) {
        let mut path = [0; UP_BYTES_MAX];
        let length = self.receiver.write(None, &mut path);
        let view = frame.view_time.map(|time| ViewTime::at(time, STEPS_PER_SECOND));
        let mut inputs = [0; INPUT_MESSAGE_BYTES_MAX];
        let own = self.own.as_ref().filter(|_| frame.steps.count > 0);
        let count = own.and_then(|own| own.write_inputs(view, &mut inputs)).unwrap_or(0);
        Up::write(&path[..length], frame.now, self.heard, &inputs[..count], &mut frame.datagram);
    }

    /// Whose alias this is, if it is somebody else's.
    fn mover(&self, alias: Alias) -> Option<usize> {
        let object = self.client.object(alias).filter(|object| object.class() != class::WALKER.0)?;
        match object.value(self.client.class(object)?, DETAIL)? {
            Value::Word(number) => Some(number as usize),
            _ => None,
        }
    }
}
