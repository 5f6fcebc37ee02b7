//! What the player sees: every object in sight, at one time, smoothly.
//!
//! ```text
//!   snapshot ─▶ ReplicaClient ─▶ View::handle_snapshot ─▶ clock: when it arrived       ─▶ delay
//!                                                      └▶ states: metres, quaternions  ─▶ rings
//!   frame    ─▶ View::advance(now):  view time = server's time as it arrives − delay   ─▶ a pose of every object
//! ```
//!
//! A view is fed after every snapshot that the [`ReplicaClient`] took in, and asked in every frame. It has no part in what
//! the game does with its own, predicted character; of that, everybody else's view is shown by other means.
//!
//! View time runs at 1 ± 7 % of real time (2 % for the clock, 5 % for the delay) and never backwards, except after a break
//! of the clock, which [`View::poll_resync`] reports. Time begins with the server: for as long as its first moments lie
//! within the delay, the view stands at zero.
//!
//! An object that left is shown until view time reaches the tick in which it did, unless its slot is used again before: of
//! a rocket that hits, the last metres are seen too. [`ReplicaClient`] has it no longer, and [`View::sample`] says when it is
//! gone. One that entered is shown at once; until the view gets there it stands still, as [`Source::Ahead`](super::Source::Ahead) tells.
//!
//! An object that is attached to another is interpolated in the frame of its parent, and then placed where the parent is
//! shown. When an object is attached or let go, its older states are converted by where both are shown at that moment.

use netloom_wire::schema::FieldKind;
use netloom_wire::{Alias, Micros, SectorOrigin, Tick};

use super::clock::{Resync, ServerClock};
use super::delay::{DelayConfig, ViewDelay};
use super::interpolate::{EXTRAPOLATION_MAX, Interpolator, InterpolatorConfig, Shown, State};
use super::{Applied, Change, ChangeKind, ClientObject, ReplicaClient};
use crate::class::Class;
use crate::entry::{rotation, triple};
use crate::input::ViewTime;
use crate::limits::VISIBLE_MAX;
use crate::pose::Pose;
use crate::rate::Rate;
use crate::setting::SettingError;

/// How the world is viewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewConfig {
    /// Ticks of snapshots a second, as the server has them: 1 to 1,000.
    pub ticks_per_second: u32,
    /// How far the view lies behind.
    pub delay: DelayConfig,
    /// Objects for which memory is there from the start, 1 to 65,535.
    pub objects: usize,
    /// How long anything is carried on without news: 0 to 250 ms.
    pub extrapolation: Micros,
    /// Whether there is nobody to see it: time passes as ever, but no object is shown. For bots, of which a machine has hundreds:
    /// it is nearly half of what a client does.
    pub is_headless: bool,
}

impl Default for ViewConfig {
    fn default() -> ViewConfig {
        ViewConfig {
            ticks_per_second: 20,
            delay: DelayConfig::default(),
            objects: 256,
            extrapolation: EXTRAPOLATION_MAX,
            is_headless: false,
        }
    }
}

/// The view of a client. See the [module](self).
///
/// ```
/// use netloom_replica::client::{ReplicaClient, View, ViewConfig};
/// use netloom_replica::codec::Codes;
/// use netloom_replica::world::ClassTable;
/// use netloom_wire::Micros;
///
/// let mut client = ReplicaClient::new(ClassTable::new(vec![])?, Codes::generic());
/// let mut view = View::new(ViewConfig::default())?;
///
/// // For each snapshot that arrives; this one is empty, of tick 5.
/// client.handle_snapshot(&[5, 0, 0])?;
/// view.handle_snapshot(Micros::from_millis(730), &client);
///
/// // In each frame.
/// view.advance(Micros::from_millis(740));
/// for (alias, shown) in view.iter() {
///     println!("{alias:?} is at {:?}", shown.pose.position);
/// }
/// assert_eq!(view.time(), Some(Micros::from_millis(5 * 50 + 10 - 100)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct View {
    rate: Rate,
    /// The newest tick of a snapshot, and what number it is of those since the server began.
    newest: Option<(Tick, u64)>,
    clock: ServerClock,
    delay: ViewDelay,
    objects: Interpolator,
    /// By slot.
    seats: Vec<Option<Alias>>,
    /// What has left, and when: still seated until the view gets there.
    leaving: Vec<(Micros, Alias)>,
    time: Option<Micros>,
    resync: Option<Resync>,
    is_headless: bool,
}

impl View {
    /// An empty view.
    pub fn new(config: ViewConfig) -> Result<View, SettingError> {
        let rate = Rate::new("ticks_per_second", config.ticks_per_second)?;
        let objects = Interpolator::new(InterpolatorConfig {
            states_per_second: config.ticks_per_second,
            objects: config.objects,
            extrapolation: config.extrapolation,
        })?;
        Ok(View {
            rate,
            newest: None,
            clock: ServerClock::new(),
            delay: ViewDelay::new(config.delay)?,
            objects,
            seats: vec![None; config.objects],
            leaving: Vec::with_capacity(config.objects),
            time: None,
            resync: None,
            is_headless: config.is_headless,
        })
    }

    /// Takes over what the client's last [`handle_snapshot`](ReplicaClient::handle_snapshot) changed. To be called after
    /// each of them, whether it was read to its end or not.
    pub fn handle_snapshot(&mut self, now: Micros, client: &ReplicaClient) {
        let Some(Applied { tick, is_whole }) = client.applied else { return };
        let number = self.number_of(tick);
        if self.newest.is_none_or(|(newest, _)| tick.is_newer_than(newest)) {
            self.newest = Some((tick, number));
        }
        let time = self.rate.time_of(number);
        self.clock.handle_snapshot(now, time);
        if self.is_headless {
            return;
        }
        if is_whole {
            self.objects.handle_snapshot(time);
        }
        for change in client.changes() {
            match change.kind {
                ChangeKind::Left => self.leave(change),
                ChangeKind::Entered | ChangeKind::Updated => self.take(tick, time, change, client),
            }
        }
    }

    /// The round trip was measured.
    pub fn handle_rtt(&mut self, rtt: Micros) {
        self.clock.handle_rtt(rtt);
    }

    /// Shows everything as of `now`. The time that is shown; `None` before the first snapshot.
    pub fn advance(&mut self, now: Micros) -> Option<Micros> {
        let reading = self.clock.advance(now)?;
        let resync = self.clock.poll_resync();
        self.resync = resync.or(self.resync);
        let interval = match self.clock.send_interval() {
            Micros::ZERO => self.rate.time_of(1),
            interval => interval,
        };
        let delay = self.delay.advance(now, interval, self.clock.needed_delay());
        let time = reading - delay;
        let time = if resync.is_some() { time } else { self.time.map_or(time, |before| before.max(time)) };
        if !self.is_headless {
            self.let_go(time, resync.is_some());
            self.objects.advance(time);
        }
        self.time = Some(time);
        self.time
    }

    /// An object as it is shown.
    pub fn sample(&self, alias: Alias) -> Option<Shown> {
        self.is_seated(alias).then_some(())?;
        self.objects.shown(alias.slot)
    }

    /// The same relative to its parent, if it has one.
    pub fn sample_locally(&self, alias: Alias) -> Option<Shown> {
        self.is_seated(alias).then_some(())?;
        self.objects.shown_locally(alias.slot)
    }

    /// Everything that is shown, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Alias, Shown)> {
        self.objects.iter().filter_map(|(slot, shown)| Some((self.seats[usize::from(slot)]?, shown)))
    }

    /// The server's time that is shown.
    pub fn time(&self) -> Option<Micros> {
        self.time
    }

    /// The same in steps of a simulation that has so many a second, as inputs carry it to the server: see
    /// [`Predictor::write_inputs`](super::Predictor::write_inputs).
    pub fn view_time(&self, steps_per_second: u32) -> Option<ViewTime> {
        Some(ViewTime::at(self.time?, steps_per_second))
    }

    /// The server's time of a tick, counted as those of snapshots are: for events that are stamped with one.
    pub fn time_of(&self, tick: Tick) -> Micros {
        self.rate.time_of(self.number_of(tick))
    }

    /// The server's clock as its snapshots tell it.
    pub fn clock(&self) -> &ServerClock {
        &self.clock
    }

    /// How far the view lies behind.
    pub fn delay(&self) -> &ViewDelay {
        &self.delay
    }

    /// Another delay for a good connection: 50 to 500 ms.
    pub fn set_delay(&mut self, delay: Micros) -> Result<(), SettingError> {
        self.delay.set_delay(delay)
    }

    /// Whether view time jumped since the last call.
    pub fn poll_resync(&mut self) -> Option<Resync> {
        self.resync.take()
    }

    /// Ticks have 32 bits and wrap; times do not.
    fn number_of(&self, tick: Tick) -> u64 {
        let (newest, number) = self.newest.unwrap_or((tick, tick.0.into()));
        number.saturating_add_signed(tick.distance(newest).into())
    }

    fn is_seated(&self, alias: Alias) -> bool {
        self.seats.get(usize::from(alias.slot)).is_some_and(|seat| *seat == Some(alias))
    }

    /// Whatever flew there is still on its way in the view: it goes when the view gets there.
    fn leave(&mut self, change: &Change) {
        if self.is_seated(change.alias) {
            self.leaving.push((self.time_of(change.tick), change.alias));
        }
    }

    /// Takes away what has left by now, or, after a break of the clock, everything that has left.
    fn let_go(&mut self, time: Micros, all: bool) {
        let mut at = 0;
        while let Some(&(left, alias)) = self.leaving.get(at) {
            if left > time && !all {
                at += 1;
                continue;
            }
            self.leaving.swap_remove(at);
            if self.is_seated(alias) {
                self.seats[usize::from(alias.slot)] = None;
                self.objects.remove(alias.slot);
            }
        }
    }

    fn take(&mut self, tick: Tick, time: Micros, change: &Change, client: &ReplicaClient) {
        let slot = change.alias.slot;
        let Some(object) = client.object(change.alias) else { return };
        let Some(class) = client.class(object) else { return };
        let Some((pose, velocity)) = state_of(object, class, tick) else { return };
        if self.seats.len() <= usize::from(slot) {
            self.seats.resize((usize::from(slot) + 1).min(VISIBLE_MAX), None);
        }
        if !self.is_seated(change.alias) {
            self.objects.remove(slot);
        }
        // Whatever left this slot before has no seat to lose any more.
        self.leaving.retain(|(_, alias)| alias.slot != slot);
        let Some(seat) = self.seats.get_mut(usize::from(slot)) else { return };
        *seat = Some(change.alias);
        let jumped = change.jumped.map(|jumped| self.time_of(jumped));
        self.objects.enter(slot, object.parent());
        if change.in_full {
            self.objects.note_entry(slot, time);
        }
        self.objects.insert(slot, State { time, pose, velocity, jumped });
    }
}

/// Where the words of a tick say that an object is; `None` if they say nothing about it.
fn state_of(object: &ClientObject, class: &Class, tick: Tick) -> Option<(Pose, Option<[f32; 3]>)> {
    let words = object.state_at(tick)?.words;
    let (visible, profile) = (class.visible(object.audience()), object.profile());
    let fields = class.fields().iter().enumerate().filter(|(index, _)| visible >> index & 1 != 0);
    let origin = if object.parent().is_some() { SectorOrigin::default() } else { object.origin() };
    let (mut position, mut pose, mut velocity) = (None, Pose::default(), None);
    for (_, field) in fields {
        let own = words.get(field.first..field.first + field.count)?;
        match field.kind {
            FieldKind::Position(_) => position = Some(profile.world_position(triple(own), &origin)),
            FieldKind::Rotation(_) => pose.rotation = profile.dequantize_rotation(rotation(own, profile)),
            FieldKind::Velocity(declared) if velocity.is_none() => {
                velocity = Some(declared.dequantize_velocity(triple(own)));
            }
            _ => {}
        }
    }
    pose.position = position?;
    Some((pose, velocity))
}

#[cfg(test)]
mod tests;
