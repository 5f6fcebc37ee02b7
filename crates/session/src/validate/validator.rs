//! All checks of one player.

use netloom_wire::{Micros, Tick};

use super::check_mask;
use super::cooldown::{ActionId, Cooldowns};
use super::movement::Movement;
use super::rate::{ActionRate, RateRule};
use super::reason::{Reason, Rejected};
use super::suspicion::{Suspicion, SuspicionRule, Verdict};
use super::time::{TimeBudget, TimeRule};
use netloom_replica::SettingError;

/// What is asked of every player of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidatorConfig {
    /// How far commands may be ahead of the server's time.
    pub time: TimeRule,
    /// How many commands.
    pub inputs: RateRule,
    /// The bits that an input may have.
    pub input_mask: u32,
    /// The cooldown of each action, in ticks.
    pub cooldowns_ticks: Vec<u32>,
    /// What follows from violations.
    pub suspicion: SuspicionRule,
}

impl Default for ValidatorConfig {
    fn default() -> ValidatorConfig {
        ValidatorConfig {
            time: TimeRule::default(),
            inputs: RateRule::INPUTS,
            input_mask: u32::MAX,
            cooldowns_ticks: Vec::new(),
            suspicion: SuspicionRule::default(),
        }
    }
}

/// The checks of one player. Whatever one of them refuses counts against that player, and the answer is what to send.
///
/// ```
/// use netloom_session::validate::{ActionId, Reason, Validator, ValidatorConfig};
/// use netloom_wire::{Micros, Tick};
///
/// let config = ValidatorConfig { cooldowns_ticks: vec![12], ..ValidatorConfig::default() };
/// let mut player = Validator::new(&config, Micros::ZERO)?;
/// let (now, step) = (Micros::from_secs(1), Tick(60));
/// assert!(player.check_action(now, step, ActionId(0)).is_ok());
/// let rejected = player.check_action(now, step.next(), ActionId(0)).unwrap_err();
/// assert_eq!((rejected.step, rejected.reason), (Tick(61), Reason::Cooldown));
/// # Ok::<(), netloom_replica::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Validator {
    time: TimeBudget,
    inputs: ActionRate,
    input_mask: u32,
    cooldowns: Cooldowns,
    suspicion: Suspicion,
    /// The worst verdict that nobody has asked for yet.
    verdict: Option<Verdict>,
}

impl Validator {
    /// A player who just came.
    pub fn new(config: &ValidatorConfig, now: Micros) -> Result<Validator, SettingError> {
        Ok(Validator {
            time: TimeBudget::new(config.time, now)?,
            inputs: ActionRate::new(config.inputs, now)?,
            input_mask: config.input_mask,
            cooldowns: Cooldowns::new(&config.cooldowns_ticks)?,
            suspicion: Suspicion::new(config.suspicion, now)?,
            verdict: None,
        })
    }

    /// Checks how often inputs come and which bits they have: for those that are taken one per step.
    pub fn check_input(&mut self, now: Micros, step: Tick, mask: u32) -> Result<(), Rejected> {
        let result = self.inputs.take(now).and_then(|()| check_mask(mask, self.input_mask));
        self.judge(now, step, result)
    }

    /// Checks that a command does not take longer than time allows: for those that bring a duration of their own.
    pub fn check_duration(&mut self, now: Micros, step: Tick, duration: Micros) -> Result<(), Rejected> {
        let result = self.time.spend(now, duration);
        self.judge(now, step, result)
    }

    /// Takes an action in a step of the simulation, unless it is still cooling down.
    pub fn check_action(&mut self, now: Micros, step: Tick, action: ActionId) -> Result<(), Rejected> {
        let result = self.cooldowns.take(step, action);
        self.judge(now, step, result)
    }

    /// Moves one of this player's objects, if it can have got there.
    pub fn check_move(
        &mut self,
        now: Micros,
        step: Tick,
        object: &mut Movement,
        to: [f64; 3],
    ) -> Result<(), Rejected> {
        let result = object.check(now, to);
        self.judge(now, step, result)
    }

    /// Refuses something for a reason that the game found.
    pub fn reject(&mut self, now: Micros, step: Tick, reason: Reason) -> Rejected {
        let rejected = Rejected { step, reason };
        let verdict = self.suspicion.handle(now, rejected);
        self.verdict =
            if self.verdict == Some(Verdict::Kick) { self.verdict } else { verdict.or(self.verdict) };
        rejected
    }

    fn judge(&mut self, now: Micros, step: Tick, result: Result<(), Reason>) -> Result<(), Rejected> {
        result.map_err(|reason| self.reject(now, step, reason))
    }

    /// What should be done about this player, if anything new.
    pub fn poll_verdict(&mut self) -> Option<Verdict> {
        self.verdict.take()
    }

    /// What speaks against this player.
    pub fn suspicion(&self) -> &Suspicion {
        &self.suspicion
    }

    /// The cooldowns, to show them or to end them.
    pub fn cooldowns_mut(&mut self) -> &mut Cooldowns {
        &mut self.cooldowns
    }
}

#[cfg(test)]
mod tests {
    use super::super::movement::MovementRule;
    use super::*;

    fn validator() -> Validator {
        let config =
            ValidatorConfig { input_mask: 0x1f, cooldowns_ticks: vec![12], ..ValidatorConfig::default() };
        Validator::new(&config, Micros::ZERO).unwrap()
    }

    #[test]
    fn an_honest_player_is_never_refused() {
        let mut player = validator();
        let mut ship = Movement::new(MovementRule::new(5.0), [0.0; 3], Micros::ZERO).unwrap();
        for tick in 1..=36_000u32 {
            let (now, step) = (Micros(u64::from(tick) * 1_000_000 / 60), Tick(tick));
            player.check_input(now, step, tick & 0x1f).unwrap();
            player.check_duration(now, step, Micros(16_666)).unwrap();
            player.check_move(now, step, &mut ship, [f64::from(tick) * 5.0 / 60.0, 0.0, 0.0]).unwrap();
            if tick % 12 == 0 {
                player.check_action(now, step, ActionId(0)).unwrap();
            }
        }
        assert_eq!((player.poll_verdict(), player.suspicion().recent().count()), (None, 0));
    }

    #[test]
    fn every_check_answers_with_the_step_and_the_reason_and_counts() {
        let (mut player, now) = (validator(), Micros::from_secs(1));
        let mut ship = Movement::new(MovementRule::new(5.0), [0.0; 3], now).unwrap();
        player.check_action(now, Tick(3), ActionId(0)).unwrap();
        let refused = [
            player.check_input(now, Tick(1), 0x20).unwrap_err(),
            player.check_duration(now, Tick(2), Micros::from_secs(100)).unwrap_err(),
            player.check_action(now, Tick(4), ActionId(0)).unwrap_err(),
            player.check_action(now, Tick(5), ActionId(1)).unwrap_err(),
            player.check_move(now, Tick(6), &mut ship, [550.0, 0.0, 0.0]).unwrap_err(),
            player.reject(now, Tick(7), Reason::Game(0)),
        ];
        let reasons = [
            (1, Reason::Mask),
            (2, Reason::TimeBudget),
            (4, Reason::Cooldown),
            (5, Reason::UnknownAction),
            (6, Reason::Teleport),
            (7, Reason::Game(0)),
        ];
        assert_eq!(refused.map(|rejected| (rejected.step.0, rejected.reason)), reasons);
        assert!(reasons.iter().all(|(_, reason)| player.suspicion().count(*reason) == 1));
        assert_eq!(player.poll_verdict(), Some(Verdict::Warn));
        assert_eq!(player.poll_verdict(), None);
    }

    #[test]
    fn a_kick_is_not_forgotten_for_a_later_warning() {
        let mut player = validator();
        for second in 0..2 {
            (0..10).for_each(|_| {
                let _ = player.check_input(Micros::from_secs(second * 1_000), Tick(0), u32::MAX);
            });
        }
        assert_eq!(player.poll_verdict(), Some(Verdict::Kick));
    }
}
