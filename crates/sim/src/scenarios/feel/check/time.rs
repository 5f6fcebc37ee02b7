//! Time: what is shown, how early inputs come, and when events are given.

use netloom_wire::Micros;

use super::super::host::Host;
use super::super::player::{Frame, Player};
use super::super::walk::STEPS_PER_SECOND;
use crate::check::Violation;

/// View time runs at 1 ± this: 2 % of the clock and 5 % of the delay.
const PACE: f64 = 0.07;
/// Times are whole microseconds, and the clock and the delay round each.
const ROUNDING_US: f64 = 4.0;

/// The time that is shown.
#[derive(Debug, Default)]
pub struct ViewTimeCheck {
    /// How often it jumped.
    pub resyncs: u64,
    before: Option<Micros>,
}

impl ViewTimeCheck {
    /// After a frame.
    pub fn check_frame(&mut self, frame: &Frame) -> Result<(), Violation> {
        let Some(now) = frame.view_time else { return Ok(()) };
        let Some(before) = self.before.replace(now) else { return Ok(()) };
        if frame.resync.is_some() {
            self.resyncs += 1;
            return Ok(());
        }
        let (shown_us, passed_us) = (now.0 as f64 - before.0 as f64, frame.elapsed.0 as f64);
        let off_us = shown_us - passed_us;
        // 200 ppm of drift come on top.
        let allowed_us = (PACE + 0.001) * passed_us + ROUNDING_US;
        // Time begins with the server: a view that would lie before that stands at zero until it does not.
        let waits = before == Micros::ZERO && off_us < 0.0;
        if (off_us.abs() <= allowed_us || waits) && shown_us >= 0.0 {
            return Ok(());
        }
        let detail = format!("{:.1} ms in a frame of {:.1} ms", shown_us / 1e3, passed_us / 1e3);
        Err(Violation::new("the time that is shown goes on at its pace", detail))
    }
}

/// Slack is judged by the mean of so long …
const WINDOW: Micros = Micros::from_secs(2);
/// … when nothing has happened for so long before: an error of 400 ms is gone in eight seconds at 5 %.
const SETTLE: Micros = Micros::from_secs(9);

/// How early inputs come.
#[derive(Debug, Default)]
pub struct SlackCheck {
    /// The largest distance of a mean from its target, in steps.
    pub off_steps_max: f64,
    /// The mean of the newest window and its target, in milliseconds.
    pub newest_ms: Option<(f64, f64)>,
    disturbed: Micros,
    window_from: Option<Micros>,
    first_sample: usize,
    targets_us: f64,
    frames: u32,
}

impl SlackCheck {
    /// Something happened.
    pub fn disturb(&mut self, now: Micros) {
        self.disturbed = now;
        self.window_from = None;
    }

    /// After a frame.
    pub fn check_frame(&mut self, now: Micros, player: &Player, host: &Host) -> Result<(), Violation> {
        if player.own.is_none() {
            self.disturb(now);
        }
        if now.since(self.disturbed) < SETTLE {
            return Ok(());
        }
        let Some(from) = self.window_from else {
            (self.window_from, self.first_sample) = (Some(now), host.slacks_us.len());
            (self.targets_us, self.frames) = (0.0, 0);
            return Ok(());
        };
        self.targets_us += player.input.target_slack().0 as f64;
        self.frames += 1;
        if now.since(from) < WINDOW {
            return Ok(());
        }
        self.window_from = None;
        let samples = &host.slacks_us[self.first_sample..];
        let mean_us = samples.iter().map(|us| *us as f64).sum::<f64>() / samples.len().max(1) as f64;
        let target_us = self.targets_us / f64::from(self.frames);
        let off_steps = (mean_us - target_us).abs() * f64::from(STEPS_PER_SECOND) / 1e6;
        self.off_steps_max = self.off_steps_max.max(off_steps);
        self.newest_ms = Some((mean_us / 1e3, target_us / 1e3));
        if off_steps <= 1.0 && !samples.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "{} inputs came {:.1} ms early, {:.1} are wanted",
            samples.len(),
            mean_us / 1e3,
            target_us / 1e3
        );
        Err(Violation::new("slack stays within a step of its target", detail))
    }
}

/// When events are given.
#[derive(Debug, Default)]
pub struct EventCheck {
    /// How many were given.
    pub given: u64,
    /// How many of them came after their time.
    pub late: u64,
    waiting: Vec<(u32, Micros)>,
    newest: Option<u32>,
}

impl EventCheck {
    /// After a frame.
    pub fn check_frame(&mut self, frame: &Frame) -> Result<(), Violation> {
        let Some(view_time) = frame.view_time else { return Ok(()) };
        self.waiting.extend(frame.came.iter().map(|happening| (happening.number, happening.time)));
        for due in &frame.given {
            let number = due.payload;
            let Some(place) = self.waiting.iter().position(|(waiting, _)| *waiting == number) else {
                return broken("an event is given once", format!("{number} is not expected"));
            };
            let (_, time) = self.waiting.remove(place);
            self.given += 1;
            self.late += u64::from(due.late > Micros::ZERO);
            if Player::is_at_once(number) {
                continue;
            }
            if self.newest.is_some_and(|newest| newest > number) {
                return broken(
                    "events are given in their order",
                    format!("{number} after {:?}", self.newest),
                );
            }
            self.newest = Some(number);
            if time > view_time {
                let early = (time - view_time).as_millis_f64();
                return broken("an event waits for the view", format!("{number} came {early:.1} ms early"));
            }
        }
        let overdue =
            self.waiting.iter().find(|(number, time)| Player::is_at_once(*number) || *time <= view_time);
        match overdue {
            None => Ok(()),
            Some((number, time)) => {
                let late = (view_time - *time).as_millis_f64();
                broken(
                    "an event is given when the view reaches it",
                    format!("{number} is {late:.1} ms overdue"),
                )
            }
        }
    }

    /// At the end: nothing that came is missing.
    pub fn check_end(&self, happened: u32, waiting_max: u64) -> Result<(), Violation> {
        if u64::from(happened) <= self.given + waiting_max {
            return Ok(());
        }
        broken("every event is given", format!("{happened} happened, {} were given", self.given))
    }
}

fn broken(rule: &'static str, detail: String) -> Result<(), Violation> {
    Err(Violation::new(rule, detail))
}
