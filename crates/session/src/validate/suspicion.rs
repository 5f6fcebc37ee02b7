//! Who fails the checks again and again.
//!
//! A single refused command proves nothing: a network delivers late, a game rounds. So a violation adds points by its
//! reason, and time takes them away again:
//!
//! ```text
//!   points  ───── kick ─────────────────────────────×── once
//!                                            ╱╲  ╱
//!           ───── warn ─────────────────×───╱──╲╱────── once, again only after the points fell below half of it
//!                        ╱╲          ╱╲╱
//!                  ─────╱──╲────────╱──────────────────
//! ```

use netloom_wire::{Micros, Tick};

use super::reason::{Reason, Rejected};
use netloom_replica::SettingError;

/// Violations that are remembered one by one.
pub const RECENT_MAX: usize = 16;

/// Points in the unit of the account: a microsecond takes off as many of them as a second does points.
const POINT: u64 = 1_000_000;

/// What violations weigh, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspicionRule {
    /// Points that are forgotten per second: 0 to 10,000.
    pub forgotten_per_second: u32,
    /// Points at which a warning is given: 1 to 1,000,000.
    pub warn_points: u32,
    /// Points at which it is enough: `warn_points` to 1,000,000.
    pub kick_points: u32,
}

impl Default for SuspicionRule {
    fn default() -> SuspicionRule {
        SuspicionRule { forgotten_per_second: 2, warn_points: 60, kick_points: 300 }
    }
}

impl SuspicionRule {
    /// Reports the first field that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::check(
            "suspicion.forgotten_per_second",
            self.forgotten_per_second,
            0..=10_000,
            "0 to 10,000",
        )?;
        SettingError::check("suspicion.warn_points", self.warn_points, 1..=1_000_000, "1 to 1,000,000")?;
        let kicks = self.warn_points..=1_000_000;
        SettingError::check(
            "suspicion.kick_points",
            self.kick_points,
            kicks,
            "suspicion.warn_points to 1,000,000",
        )
    }
}

/// What a violation weighs: what an honest client never does the most, and what a bad network can cause the least.
const fn points(reason: Reason) -> u64 {
    match reason {
        Reason::Mask | Reason::NotFinite | Reason::UnknownAction => 30,
        Reason::Teleport => 15,
        Reason::TooFast | Reason::TimeBudget => 3,
        Reason::TooOften | Reason::Cooldown => 1,
        // Whether an order without money is a mistake or an attempt only the game knows, and it can kick by itself.
        Reason::Game(_) => 0,
    }
}

/// What should be done about a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Look at this player.
    Warn,
    /// Let this player go.
    Kick,
}

/// One refused command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When it arrived.
    pub at: Micros,
    /// What was refused, and why.
    pub rejected: Rejected,
}

/// The account of one player's violations.
#[derive(Clone, Debug)]
pub struct Suspicion {
    rule: SuspicionRule,
    score: u64,
    updated: Micros,
    has_warned: bool,
    has_kicked: bool,
    /// By code, and the last one for all of the game's.
    counts: [u32; Reason::ALL.len() + 1],
    recent: [Violation; RECENT_MAX],
    total: u64,
}

impl Suspicion {
    /// Nothing against anybody.
    pub fn new(rule: SuspicionRule, now: Micros) -> Result<Suspicion, SettingError> {
        rule.check()?;
        let nothing = Violation { at: now, rejected: Rejected { step: Tick(0), reason: Reason::Game(0) } };
        Ok(Suspicion {
            rule,
            score: 0,
            updated: now,
            has_warned: false,
            has_kicked: false,
            counts: [0; Reason::ALL.len() + 1],
            recent: [nothing; RECENT_MAX],
            total: 0,
        })
    }

    /// Records a violation, and says what should follow from it: each verdict once.
    pub fn handle(&mut self, now: Micros, rejected: Rejected) -> Option<Verdict> {
        self.forget(now);
        self.score = self.score.saturating_add(points(rejected.reason) * POINT);
        if let Some(count) = self.counts.get_mut(place(rejected.reason)) {
            *count = count.saturating_add(1);
        }
        self.recent[(self.total % RECENT_MAX as u64) as usize] = Violation { at: now, rejected };
        self.total += 1;

        let reaches = |points: u32| self.score >= u64::from(points) * POINT;
        if reaches(self.rule.kick_points) && !self.has_kicked {
            (self.has_kicked, self.has_warned) = (true, true);
            Some(Verdict::Kick)
        } else if reaches(self.rule.warn_points) && !self.has_warned {
            self.has_warned = true;
            Some(Verdict::Warn)
        } else {
            None
        }
    }

    fn forget(&mut self, now: Micros) {
        let forgotten = (now - self.updated).0.saturating_mul(self.rule.forgotten_per_second.into());
        self.updated = self.updated.max(now);
        self.score = self.score.saturating_sub(forgotten);
        if self.score < u64::from(self.rule.warn_points) * POINT / 2 {
            self.has_warned = false;
        }
    }

    /// The points now.
    pub fn points(&mut self, now: Micros) -> u64 {
        self.forget(now);
        self.score / POINT
    }

    /// How often this player was refused for a reason; those of the game count together.
    pub fn count(&self, reason: Reason) -> u32 {
        self.counts.get(place(reason)).copied().unwrap_or_default()
    }

    /// The last violations, the newest first, at most [`RECENT_MAX`].
    pub fn recent(&self) -> impl Iterator<Item = &Violation> {
        let known = self.total.min(RECENT_MAX as u64);
        (1..=known).filter_map(|back| self.recent.get(((self.total - back) % RECENT_MAX as u64) as usize))
    }
}

fn place(reason: Reason) -> usize {
    usize::from(reason.code()).min(Reason::ALL.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(reason: Reason) -> Rejected {
        Rejected { step: Tick(0), reason }
    }

    fn suspicion() -> Suspicion {
        Suspicion::new(SuspicionRule::default(), Micros::ZERO).unwrap()
    }

    #[test]
    fn persistence_brings_a_warning_and_then_a_kick_each_once() {
        let mut suspicion = suspicion();
        let verdicts: Vec<(u64, Verdict)> = (0..400)
            .filter_map(|number| {
                let at = Micros::from_millis(number * 10);
                suspicion.handle(at, rejected(Reason::TooFast)).map(|verdict| (number, verdict))
            })
            .collect();
        // Three points each, and two a second forgotten.
        assert_eq!(verdicts, [(20, Verdict::Warn), (100, Verdict::Kick)]);
        assert_eq!(suspicion.count(Reason::TooFast), 400);
    }

    #[test]
    fn a_player_on_a_bad_network_is_forgotten_about() {
        let mut suspicion = suspicion();
        for second in 0..3_600 {
            for _ in 0..2 {
                let verdict = suspicion.handle(Micros::from_secs(second), rejected(Reason::TooOften));
                assert_eq!(verdict, None);
            }
        }
        assert_eq!(suspicion.points(Micros::from_secs(3_700)), 0);
    }

    #[test]
    fn a_warning_comes_again_only_after_a_calm_time() {
        let mut suspicion = suspicion();
        let mut warned = |second: u64, count: u32| {
            let at = Micros::from_secs(second);
            (0..count).filter_map(|_| suspicion.handle(at, rejected(Reason::Teleport))).count()
        };
        assert_eq!(warned(0, 4), 1);
        assert_eq!(warned(10, 2), 0, "still above half");
        assert_eq!(warned(60, 4), 1, "nothing was left of it");
    }

    #[test]
    fn what_only_a_forged_client_does_weighs_most_and_reasons_of_the_game_weigh_nothing() {
        let mut forged = suspicion();
        let kicked =
            (1..).find(|_| forged.handle(Micros::ZERO, rejected(Reason::Mask)) == Some(Verdict::Kick));
        assert_eq!(kicked, Some(10));
        let mut poor = suspicion();
        assert!((0..=255).all(|_| poor.handle(Micros::ZERO, rejected(Reason::Game(9))).is_none()));
        assert_eq!((poor.points(Micros::ZERO), poor.count(Reason::Game(77))), (0, 256));
    }

    #[test]
    fn the_last_violations_are_remembered_newest_first() {
        let mut suspicion = suspicion();
        assert_eq!(suspicion.recent().count(), 0);
        for step in 0..40 {
            suspicion.handle(Micros(step), Rejected { step: Tick(step as u32), reason: Reason::Cooldown });
        }
        let steps: Vec<u32> = suspicion.recent().map(|violation| violation.rejected.step.0).collect();
        assert_eq!(steps, (24..40).rev().collect::<Vec<u32>>());
    }

    #[test]
    fn each_setting_out_of_its_range_is_named() {
        let valid = SuspicionRule::default();
        let wrong = [
            ("suspicion.forgotten_per_second", SuspicionRule { forgotten_per_second: 10_001, ..valid }),
            ("suspicion.warn_points", SuspicionRule { warn_points: 0, ..valid }),
            ("suspicion.kick_points", SuspicionRule { kick_points: 59, ..valid }),
        ];
        for (field, rule) in wrong {
            assert_eq!(Suspicion::new(rule, Micros::ZERO).unwrap_err().field, field);
        }
    }
}
