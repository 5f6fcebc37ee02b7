//! Everybody else as the player sees them.

use std::collections::BTreeSet;

use netloom_wire::Micros;

use super::super::host::Host;
use super::super::motion::{Kind, Mover};
use super::super::player::Frame;
use super::super::walk::{GRID_METRES, distance};
use crate::check::Violation;

/// Nothing moves faster than so many times its own speed.
const SPEED_FACTOR: f64 = 2.0;
/// The stated error of a place: rounding on the wire, of it, of the one before and of the difference that is eased.
const PLACE_METRES: f64 = 3.0 * GRID_METRES;
/// Without news an object goes on for 250 ms. As much again may be left of a difference that is being eased.
const BEYOND_SECONDS: f64 = 0.25;
const EASED_SECONDS: f64 = 0.4;
/// A break of the clock by less is not noticed at once.
const NOTICED: Micros = Micros::from_millis(900);
/// States that are remembered: more than the longest delay has.
const STATES: usize = 64;

/// See the [module](self).
#[derive(Debug)]
pub struct OthersCheck {
    /// Whether what is shown must be what was.
    pub is_calm: bool,
    /// The largest share of the allowed motion that a frame had.
    pub speed_share_max: f64,
    /// The largest distance from the truth in calm, as a share of the stated error.
    pub error_share_max: f64,
    /// How many jumps were shown.
    pub jumps: u64,
    ticks_per_second: u32,
    seen: Vec<Seen>,
    view_time: Option<Micros>,
    /// The machine slept for so long, and the client has not noticed.
    slept: Option<Micros>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    place: Option<[f64; 3]>,
    /// Ticks whose state arrived.
    arrived: BTreeSet<u32>,
}

impl OthersCheck {
    /// Nobody was seen.
    pub fn new(movers: usize, ticks_per_second: u32) -> OthersCheck {
        OthersCheck {
            is_calm: false,
            speed_share_max: 0.0,
            error_share_max: 0.0,
            jumps: 0,
            ticks_per_second,
            seen: vec![Seen::default(); movers],
            view_time: None,
            slept: None,
        }
    }

    /// The machine sleeps, and its clock stands still: until the client notices, it shows what is long past.
    pub fn sleep(&mut self, lasts: Micros) {
        self.slept = Some(self.slept.unwrap_or_default() + lasts);
    }

    /// After a frame.
    pub fn check_frame(&mut self, frame: &Frame, host: &Host) -> Result<(), Violation> {
        for arrival in &frame.arrivals {
            let arrived = &mut self.seen[arrival.mover].arrived;
            arrived.insert(arrival.tick.0);
            if arrived.len() > STATES {
                arrived.pop_first();
            }
        }
        let Some(view_time) = frame.view_time else { return Ok(()) };
        if self.is_calm && self.slept.is_some() {
            return Err(Violation::new(
                "a machine that slept notices",
                format!("{:?} are missing", self.slept),
            ));
        }
        for &(number, place) in &frame.shown {
            let mover = &host.movers[number];
            let at = At { number, place, view_time, steps: host.mover_steps(view_time) };
            let jumped = self.check_motion(frame, mover, &at, host)?;
            self.jumps += u64::from(jumped);
            self.check_beyond(mover, &at, host)?;
            if mover.kind == Kind::Blinker && self.slept.is_none() {
                self.check_blinker(mover, &at, host)?;
            }
            // Just at a jump a microsecond decides.
            if self.is_calm && !mover.jumped_within(at.steps - 0.01, at.steps + 0.01) {
                self.check_truth(mover, &at)?;
            }
            self.seen[number].place = Some(place);
        }
        self.view_time = Some(view_time);
        let noticed = frame.resync.map_or(Micros::ZERO, |resync| Micros(resync.jump_us.unsigned_abs()));
        self.slept = self.slept.map(|slept| slept.since(noticed)).filter(|slept| *slept >= NOTICED);
        Ok(())
    }

    /// Nothing moves by more than twice its speed, jumps apart; whether this was one.
    fn check_motion(
        &mut self,
        frame: &Frame,
        mover: &Mover,
        at: &At,
        host: &Host,
    ) -> Result<bool, Violation> {
        let (Some(before), Some(shown_before)) = (self.seen[at.number].place, self.view_time) else {
            return Ok(false);
        };
        let skipped = frame.resync.map_or(0, |resync| resync.jump_us.unsigned_abs());
        let passed = frame.elapsed.max(at.view_time.since(shown_before));
        let seconds = (passed + Micros(skipped) + self.slept.unwrap_or_default()).as_secs_f64();
        let moved = distance(before, at.place);
        // Both states of an interval are rounded, and so is the speed between them.
        let rounding = GRID_METRES * f64::from(self.ticks_per_second);
        // A cubic over a gap is a little faster than the motion that it stands for.
        let speed = if matches!(mover.kind, Kind::Circle { .. }) { 1.1 * mover.speed } else { mover.speed }
            + rounding;
        let allowed = SPEED_FACTOR * speed * seconds + PLACE_METRES;
        // A jump whose state got lost is shown with the next one.
        let late_steps = 3.0 * f64::from(super::super::walk::STEPS_PER_SECOND);
        let from = host.mover_steps(shown_before) - late_steps;
        let is_asleep = self.slept.is_some() && mover.kind == Kind::Blinker;
        if moved > allowed && (is_asleep || mover.jumped_within(from, at.steps)) {
            return Ok(true);
        }
        self.speed_share_max = self.speed_share_max.max(moved / allowed);
        if moved <= allowed {
            return Ok(false);
        }
        let detail = format!(
            "{} moved {moved:.3} m in a frame of {:.1} ms, {allowed:.3} m are allowed at {:.1} m/s",
            at.name(mover),
            seconds * 1e3,
            mover.speed
        );
        Err(Violation::new("nothing jumps on the screen", detail))
    }

    /// What is not known is not invented.
    fn check_beyond(&self, mover: &Mover, at: &At, host: &Host) -> Result<(), Violation> {
        let Some(newest) = self.seen[at.number].arrived.last().map(|tick| self.time_of(*tick)) else {
            return Ok(());
        };
        let beyond = at.view_time.since(newest).as_secs_f64();
        if beyond <= BEYOND_SECONDS {
            return Ok(());
        }
        let known = mover.at(host.mover_steps(newest));
        let away = distance(at.place, known);
        let allowed = mover.speed * (BEYOND_SECONDS + EASED_SECONDS) + PLACE_METRES;
        // Who is far behind after an outage comes nearer.
        let comes_nearer = self.seen[at.number].place.is_none_or(|before| away <= distance(before, known));
        if away <= allowed || comes_nearer {
            return Ok(());
        }
        let detail = format!(
            "{} is shown {away:.2} m from where it was last known to be, {beyond:.2} s ago: {allowed:.2} m are allowed",
            at.name(mover)
        );
        Err(Violation::new("nothing goes on for ever without news", detail))
    }

    /// A jump is seen at its time, and nothing in between ever is.
    fn check_blinker(&self, mover: &Mover, at: &At, host: &Host) -> Result<(), Violation> {
        let margin = mover.speed * (BEYOND_SECONDS + EASED_SECONDS) + PLACE_METRES;
        let Some(zone) = mover.zone_of(at.place, margin) else {
            let detail = format!("{} is shown at {:.2?}, where it never was", at.name(mover), at.place);
            return Err(Violation::new("a teleport is not swept", detail));
        };
        let known =
            self.seen[at.number].arrived.iter().rev().find(|tick| self.time_of(**tick) <= at.view_time);
        let Some(known) = known.map(|tick| self.time_of(*tick)) else { return Ok(()) };
        if mover.zone_of(mover.at(host.mover_steps(known)), margin) == Some(zone) {
            return Ok(());
        }
        let detail =
            format!("{} is not where its state of {:.3} s says", at.name(mover), known.as_secs_f64());
        Err(Violation::new("a teleport is shown at once", detail))
    }

    /// What is shown is what was, within what a straight way between two states can be off.
    fn check_truth(&mut self, mover: &Mover, at: &At) -> Result<(), Violation> {
        // Before a jump the last state is held, and who starts may start up to three intervals early.
        let share = match mover.kind {
            Kind::Blinker => 1.0,
            Kind::StopAndGo => 0.7,
            Kind::Patrol | Kind::Circle { .. } => 0.5,
        };
        let allowed = share * mover.speed * self.gap_seconds(at) + PLACE_METRES;
        let truth = mover.at(at.steps);
        let error = distance(at.place, truth);
        self.error_share_max = self.error_share_max.max(error / allowed);
        if error <= allowed {
            return Ok(());
        }
        let detail =
            format!("{} is shown {error:.3} m from the truth, {allowed:.3} m are allowed", at.name(mover));
        Err(Violation::new("what is shown converges to what was", detail))
    }

    /// Between the states around what is shown. The server is silent about what it told in full until it knows that this
    /// arrived; a longer silence is rest.
    fn gap_seconds(&self, at: &At) -> f64 {
        let mut times = self.seen[at.number].arrived.iter().map(|tick| self.time_of(*tick));
        let before = times.by_ref().take_while(|time| *time <= at.view_time).last();
        let after = self.seen[at.number]
            .arrived
            .iter()
            .map(|tick| self.time_of(*tick))
            .find(|time| *time > at.view_time);
        let gap = before.zip(after).map_or(Micros::ZERO, |(before, after)| after.since(before));
        let interval = 1.0 / f64::from(self.ticks_per_second);
        if gap < Micros::from_secs(1) { gap.as_secs_f64().max(interval) } else { interval }
    }

    /// Rounded up, as all times of ticks are: a microsecond before that the view shows the one before.
    fn time_of(&self, tick: u32) -> Micros {
        Micros((u64::from(tick) * 1_000_000).div_ceil(self.ticks_per_second.into()))
    }
}

/// One object in one frame.
struct At {
    number: usize,
    place: [f64; 3],
    view_time: Micros,
    /// The same, as movers count.
    steps: f64,
}

impl At {
    fn name(&self, mover: &Mover) -> String {
        format!("{:?} {}", mover.kind, self.number)
    }
}
