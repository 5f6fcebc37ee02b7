//! The own character.
//!
//! The checker runs its own copy of everything: the step, the log of what the player did, and the offset that a correction
//! leaves. What the predictor shows must be that, to a millimetre.

use std::collections::BTreeMap;

use netloom_replica::client::predict::{Reconciled, Severity};
use netloom_replica::step::Step;
use netloom_wire::Micros;

use super::super::host::Host;
use super::super::player::{Frame, Player, Word};
use super::super::walk::{GRID_METRES, Keys, Walk, Walker};
use crate::check::Violation;

/// The same place: sums of singles.
const SAME_METRES: f64 = 1e-3;
/// The same place after the wire: two that lie next to each other on the grid, in the space diagonal.
const WIRE_METRES: f64 = 2.0 * 1.75 * GRID_METRES;
/// Prediction waits only if the server was silent for about its window.
const SILENCE: Micros = Micros::from_millis(700);
/// What the player did is remembered for so many steps.
const STEPS: u32 = 600;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct OwnCheck {
    /// Whether the server must have nothing to correct.
    pub is_calm: bool,
    /// Corrections, and how many of them the player could have seen.
    pub corrections: u64,
    /// Those that were smoothed or jumped.
    pub seen: u64,
    /// Frames in which the player did something and saw it.
    pub reactions: u64,
    /// What the player did, and what came of it, by step.
    log: BTreeMap<u32, (Keys, Walker)>,
    /// The newest step that the server spoke of.
    told: Option<u32>,
    /// The newest step that it is known to have simulated.
    acked: u32,
    /// When it last spoke.
    heard: Micros,
    /// What the view is beside the present.
    offset: [f64; 3],
    present: Option<Walker>,
}

impl OwnCheck {
    /// After a step of the server: in calm it is what was predicted.
    pub fn check_step(&self, host: &Host) -> Result<(), Violation> {
        let step = host.newest();
        let Some(record) = host.record(step).filter(|_| self.is_calm) else { return Ok(()) };
        if !record.is_from_player {
            return broken("inputs come in time when the network is calm", format!("step {step} had none"));
        }
        match self.log.get(&step) {
            Some((_, predicted)) if is_same(predicted, &record.walker) => Ok(()),
            predicted => {
                let detail =
                    format!("step {step}: {predicted:?} was predicted, the server has {:?}", record.walker);
                broken("what is predicted is what the server does", detail)
            }
        }
    }

    /// After a frame.
    pub fn check_frame(&mut self, frame: &Frame, player: &Player, host: &Host) -> Result<(), Violation> {
        let Some(own) = &player.own else { return Ok(()) };
        if let Some((step, walker)) = &frame.began {
            (self.told, self.present, self.heard) =
                (Some(host.step_near(*step)), Some(walker.clone()), frame.now);
        }
        let Some(mut present) = self.present.take() else { return Ok(()) };
        for word in &frame.words {
            if !matches!(word.reconciled, Reconciled::Stale) {
                self.heard = frame.now;
            }
            self.check_word(word, host)?;
            present = word.after.clone();
        }
        let decay = f64::from(Player::predict_config().decay_per_second);
        let left = (-decay * frame.elapsed.as_secs_f64()).exp();
        self.offset = self.offset.map(|axis| axis * left);
        // What the server has simulated is past, however the steps are counted here.
        self.acked = frame.acked.map_or(self.acked, |acked| host.step_near(acked).max(self.acked));
        let due = frame.steps.iter().filter(|step| step.0 > self.acked).count();
        let past = frame.steps.count as usize - due;
        for step in frame.steps.iter().skip(past).take(frame.predicted as usize) {
            Walk.step(&mut present, &frame.keys);
            self.log.insert(step.0, (frame.keys, present.clone()));
        }
        if (frame.predicted as usize) != due && !own.is_paused() {
            let detail = format!("{:?}, {} were simulated", frame.steps, frame.predicted);
            return broken("every step that is due is simulated", detail);
        }
        if own.is_paused() && frame.now.since(self.heard) < SILENCE {
            let detail = format!("heard {:.0} ms ago", frame.now.since(self.heard).as_millis_f64());
            return broken("prediction waits only for a silent server", detail);
        }
        self.log = self.log.split_off(&host.newest().saturating_sub(STEPS));
        self.reactions += u64::from(frame.predicted > 0 && frame.keys.direction != [0; 2]);
        if present.distance(own.state()) > SAME_METRES || present.breath != own.state().breath {
            let detail = format!("{present:?} follows from the input, the present is {:?}", own.state());
            return broken("the own character reacts in the frame of the input", detail);
        }
        let shown = own.view().position;
        let offset = (0..3).map(|axis| shown[axis] - f64::from(present.position[axis]) - self.offset[axis]);
        let off = offset.map(|axis| axis * axis).sum::<f64>().sqrt();
        if off > SAME_METRES {
            let detail = format!("{off:.3} m beside what {:?} leaves", self.offset);
            return broken("a correction is smooth, and as fast at any frame rate", detail);
        }
        self.present = Some(present);
        Ok(())
    }

    /// The server spoke.
    fn check_word(&mut self, word: &Word, host: &Host) -> Result<(), Violation> {
        let step = host.step_near(word.step);
        let told = self.told.unwrap_or(step);
        match word.reconciled {
            Reconciled::Stale => return Ok(()),
            Reconciled::Confirmed => self.check_confirmed(step, told, host)?,
            Reconciled::Corrected(correction) => {
                self.corrections += 1;
                self.check_reason(step, told, host)?;
                match correction.severity {
                    Severity::Small => {}
                    Severity::Medium => {
                        self.seen += 1;
                        for (axis, offset) in self.offset.iter_mut().enumerate() {
                            *offset +=
                                f64::from(word.before.position[axis]) - f64::from(word.after.position[axis]);
                        }
                    }
                    Severity::Large => {
                        self.seen += 1;
                        self.offset = [0.0; 3];
                    }
                }
            }
        }
        self.told = Some(step);
        Ok(())
    }

    fn check_confirmed(&self, step: u32, told: u32, host: &Host) -> Result<(), Violation> {
        if (told + 1..=step).any(|step| host.record(step).is_some_and(|record| record.is_moved)) {
            return broken("a push is a correction", format!("confirmed up to step {step}"));
        }
        let (Some((_, predicted)), Some(record)) = (self.log.get(&step), host.record(step)) else {
            return Ok(());
        };
        // What was predicted at first may have been corrected since.
        let is_first = told >= step || self.corrections == 0;
        if is_first && !is_same(predicted, &record.walker) {
            let detail = format!("step {step}: {predicted:?}, the server had {:?}", record.walker);
            return broken("what is confirmed is what the server had", detail);
        }
        Ok(())
    }

    /// The server did something else than the player since it spoke last.
    fn check_reason(&self, step: u32, told: u32, host: &Host) -> Result<(), Violation> {
        let differs = |step: u32| {
            let Some(record) = host.record(step) else { return false };
            record.is_moved || self.log.get(&step).is_none_or(|(keys, _)| *keys != record.keys)
        };
        if (told + 1..=step).any(differs) {
            return Ok(());
        }
        let detail =
            format!("step {step} was corrected, and since step {told} the server did what the player did");
        broken("corrections have a reason", detail)
    }
}

fn is_same(a: &Walker, b: &Walker) -> bool {
    a.distance(b) <= WIRE_METRES && a.breath == b.breath
}

fn broken(rule: &'static str, detail: String) -> Result<(), Violation> {
    Err(Violation::new(rule, detail))
}
