//! A seat in a room, from the inside: the world as it arrives, and the clocks.

use netloom_proto::{Endpoint, PeerId};
use netloom_replica::SettingError;
use netloom_replica::client::{
    ClientEvent as ReplicaEvent, ClientObject, InputClock, InputClockConfig, ReplicaClient, View, ViewConfig,
};
use netloom_replica::input::{Input, ViewTime};
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, MessageBuffer, Micros, Tick};

use super::ClientEvent;
use super::inputs::Inputs;
use crate::adapt::{Adapt, AdaptConfig, Quality};
use crate::channel::CONTROL;
use crate::config::ClientConfig;
use crate::game::PlayerId;
use crate::lobby::{LobbyState, Role};
use crate::measured::Measured;
use crate::message::{ToServer, Welcome};
use crate::packed::{SNAPSHOT_BYTES_MAX, unpack};
use crate::protocol::Protocol;

/// The server hears of another delay of the view if it differs by so much, and this often at most.
const VIEWING_MS_MIN: u16 = 5;
const VIEWING_INTERVAL: Micros = Micros::from_millis(250);
/// Snapshots of which it is remembered after which step they were.
const TOLD_KEPT: usize = 64;

/// What is known in a room.
#[derive(Debug)]
pub(super) struct Seat {
    pub player: PlayerId,
    /// Whether this player only watched when it came; a lobby knows what it does now.
    came_to_watch: bool,
    pub room: Box<str>,
    pub steps_per_second: u32,
    sends_per_second: u32,
    pub replica: ReplicaClient,
    pub view: View,
    pub lobby: Option<LobbyState>,
    input_clock: InputClock,
    /// Of the last snapshots: their tick, and the step after which they were.
    told: [(Tick, Tick); TOLD_KEPT],
    told_count: usize,
    objects_at_join: usize,
    is_complete: bool,
    /// What the server was told of the delay, and when.
    viewing: Option<(u16, Micros)>,
    /// What the connection asks of the view, and what the user does.
    adapt: Adapt,
    delay: Micros,
    delay_min: Micros,
}

impl Seat {
    /// Whether the settings can be.
    pub fn check(config: &ClientConfig) -> Result<(), SettingError> {
        View::new(ViewConfig { delay: config.delay, objects: config.objects, ..ViewConfig::default() })?;
        Ok(())
    }

    pub fn new(
        config: &ClientConfig,
        protocol: &Protocol,
        welcome: &Welcome<'_>,
    ) -> Result<Seat, SettingError> {
        let steps_per_second = welcome.steps_per_second.into();
        let view = ViewConfig {
            ticks_per_second: welcome.sends_per_second.into(),
            delay: config.delay,
            objects: config.objects,
            is_headless: config.is_headless,
            ..ViewConfig::default()
        };
        let input_clock = InputClockConfig {
            steps_per_second,
            steps_per_poll_max: config.steps_per_frame_max,
            ..InputClockConfig::default()
        };
        let mut replica = ReplicaClient::new(protocol.table(), protocol.codes().clone());
        replica.start_near(welcome.tick, welcome.step);
        Ok(Seat {
            player: PlayerId(welcome.player),
            came_to_watch: welcome.is_spectator,
            room: welcome.room.into(),
            steps_per_second,
            sends_per_second: welcome.sends_per_second.into(),
            replica,
            view: View::new(view)?,
            lobby: None,
            input_clock: InputClock::new(input_clock)?,
            told: [(Tick(0), Tick(0)); TOLD_KEPT],
            told_count: 0,
            objects_at_join: welcome.objects as usize,
            is_complete: false,
            viewing: None,
            adapt: Adapt::new(AdaptConfig::default())?,
            delay: config.delay.delay,
            delay_min: Micros::ZERO,
        })
    }

    pub fn handle_snapshot(&mut self, now: Micros, snapshot: &[u8]) {
        if let Err(error) = self.replica.handle_snapshot(snapshot) {
            // The server is told, and builds on something else.
            tracing::debug!(%error, "a snapshot cannot be read");
        }
        self.view.handle_snapshot(now, &self.replica);
        if let (Some(tick), Some(feedback)) = (self.replica.newest(), self.replica.feedback()) {
            self.input_clock.handle_feedback(&feedback);
            let last = self.told[(self.told_count + TOLD_KEPT - 1) % TOLD_KEPT];
            if self.told_count == 0 || last.0 != tick {
                self.told[self.told_count % TOLD_KEPT] = (tick, feedback.step);
                self.told_count += 1;
            }
        }
    }

    pub fn handle_packed(&mut self, now: Micros, packed: &[u8]) {
        let mut out = [0; SNAPSHOT_BYTES_MAX];
        match unpack(packed, &mut out) {
            Ok(snapshot) => self.handle_snapshot(now, snapshot),
            Err(error) => tracing::debug!(%error, "a packed snapshot cannot be unpacked"),
        }
    }

    pub fn handle_property(&mut self, property: &[u8]) {
        if let Err(error) = self.replica.handle_property(property) {
            tracing::debug!(%error, "a property cannot be read");
        }
    }

    /// An own object as it was told last, and the step after which it was so.
    pub fn told(&self, alias: Alias) -> Option<(Tick, &ClientObject)> {
        let object = self.replica.object(alias).filter(|object| object.audience() == Audience::Owner)?;
        let known = &self.told[..self.told_count.min(TOLD_KEPT)];
        let (_, step) = known.iter().find(|(tick, _)| *tick == object.tick())?;
        Some((*step, object))
    }

    /// Tells the server what could not be read, and what is held otherwise.
    pub fn flush(&mut self, endpoint: &mut Endpoint, peer: Option<PeerId>, message: &mut MessageBuffer) {
        let Some(peer) = peer else { return };
        while let Some(refusal) = self.replica.poll_refusal() {
            // A connection that has no room for this has bigger troubles.
            let _sent = endpoint.send(peer, CONTROL, ToServer::Unread(refusal.tick).write(message));
        }
        while let Some(region) = self.replica.poll_mismatch() {
            let _sent = endpoint.send(peer, CONTROL, ToServer::Mismatch(region).write(message));
        }
        while let Ok(Some(_)) = self.replica.poll_property() {}
    }

    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        if let Some(event) = self.replica.poll_event() {
            return Some(match event {
                ReplicaEvent::Entered(alias) | ReplicaEvent::Refreshed(alias) => ClientEvent::Entered(alias),
                ReplicaEvent::Left(alias) => ClientEvent::Gone(alias),
            });
        }
        let is_here = self.replica.newest().is_some() && self.replica.len() >= self.objects_at_join;
        (is_here && !std::mem::replace(&mut self.is_complete, true)).then_some(ClientEvent::Complete)
    }

    pub fn advance<I: Input>(&mut self, now: Micros, measured: Option<Measured>, inputs: &mut Inputs<I>) {
        if let Some(measured) = measured {
            if measured.rtt > Micros::ZERO {
                self.view.handle_rtt(measured.rtt);
            }
            self.input_clock.handle_loss(measured.loss_per_mille);
            let delay_min = self.adapt.update(now, &measured).interpolation_delay_min;
            if delay_min != std::mem::replace(&mut self.delay_min, delay_min) {
                self.follow_delay();
            }
        }
        self.view.advance(now);
        if let Some(feedback) = self.replica.feedback() {
            inputs.confirm(feedback.step);
        }
        if !self.watches() {
            inputs.set_steps(self.input_clock.poll_steps(now, self.view.clock()));
        }
    }

    /// Whoever only watches acts in no step.
    fn watches(&self) -> bool {
        let member = self.lobby.as_ref().and_then(|lobby| lobby.member(self.player));
        member.map_or(self.came_to_watch, |member| member.role == Role::Spectator)
    }

    /// The delay that the user wants; the connection may ask for more.
    pub fn set_delay(&mut self, delay: Micros) -> Result<(), SettingError> {
        self.view.set_delay(delay)?;
        self.delay = delay;
        self.follow_delay();
        Ok(())
    }

    fn follow_delay(&mut self) {
        // Both are within the range of delays.
        let _in_range = self.view.set_delay(self.delay.max(self.delay_min));
    }

    /// What the connection allows.
    pub fn quality(&self) -> Quality {
        self.adapt.quality()
    }

    /// The moment that the player sees, for judging shots.
    pub fn view_time(&self) -> Option<ViewTime> {
        self.view.view_time(self.steps_per_second)
    }

    /// The tick of snapshots that the player sees.
    pub fn view_tick(&self) -> Option<Tick> {
        self.view.view_time(self.sends_per_second).map(|time| time.step)
    }

    /// How far the view is behind, in milliseconds, if the server should hear of it. The first one also says that this
    /// client is ready for snapshots.
    pub fn poll_viewing(&mut self, now: Micros) -> Option<u16> {
        let ms = (self.view.delay().delay().0 / 1_000) as u16;
        if let Some((said, at)) = self.viewing
            && (said.abs_diff(ms) < VIEWING_MS_MIN || now.since(at) < VIEWING_INTERVAL)
        {
            return None;
        }
        self.viewing = Some((ms, now));
        Some(ms)
    }

    pub fn progress(&self) -> f32 {
        match self.objects_at_join {
            _ if self.is_complete => 1.0,
            0 => 0.0,
            all => (self.replica.len() as f32 / all as f32).min(1.0),
        }
    }
}
