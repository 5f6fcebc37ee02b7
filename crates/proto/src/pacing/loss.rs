//! Loss: how much there is, and whether sending less would help.
//!
//! Loss has two causes that ask for opposite answers. A full queue or a policer drops what exceeds the link: send
//! less and the loss goes away. A radio link drops at random: send less and the player sees less of the game, at the
//! same loss. A single number cannot tell them apart, an experiment can:
//!
//! ```text
//!   loss > ambient + 5 %  ──►  cut the rate  ──►  2/3 of it remain  ──►  not ours: it is ambient, restore the rate
//!                                            └─►  less remains      ──►  ours: stay there, grow again slowly
//! ```
//!
//! One window of packets sent after the cut decides. Ambient loss is believed up to 25 %; it sinks again when windows
//! show less, so that a link that recovers is judged strictly again.

use netloom_wire::Micros;

/// Loss above the ambient level that counts as congestion: the 5 % of the classic adaptive-rate rule.
const EXCESS_PER_MILLE: u32 = 50;

/// More loss than this is never taken for a property of the path.
const AMBIENT_PER_MILLE_MAX: u32 = 250;

/// A window is judged when this much was lost in it: its standard deviation is then a seventh of the loss.
const WINDOW_LOST: u32 = 48;

/// Or when it is this old and has this many packets.
const WINDOW_TIME: Micros = Micros::from_secs(1);
const WINDOW_PACKETS_MIN: u32 = 32;

/// The fraction of recent packets that were lost, smoothed over about the last 64 packets.
#[derive(Clone, Debug, Default)]
pub struct LossEstimator {
    /// Per mille times 64.
    per_mille_x64: u32,
}

impl LossEstimator {
    /// An estimator that has seen no loss.
    pub fn new() -> LossEstimator {
        LossEstimator::default()
    }

    /// Takes in one packet that arrived.
    pub fn handle_acked(&mut self) {
        self.per_mille_x64 -= self.per_mille_x64.div_ceil(64);
    }

    /// Takes in one packet that was declared lost.
    pub fn handle_lost(&mut self) {
        self.per_mille_x64 += 1_000 - self.per_mille_x64.div_ceil(64);
    }

    /// Lost packets per thousand, 0 to 1000.
    pub fn per_mille(&self) -> u32 {
        self.per_mille_x64 / 64
    }
}

/// What a finished window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossVerdict {
    /// No more loss than the path is known for.
    Tolerable,
    /// More loss than the path is known for: cut the rate and call [`LossJudge::begin_trial`].
    Excess {
        /// The loss that was seen.
        per_mille: u32,
    },
    /// Cutting did not help: go back to the rate before the cut.
    Unrelated {
        /// The rate before the cut, in bytes per second.
        rate_before: u64,
    },
}

/// Decides whether loss is congestion, window by window.
#[derive(Clone, Debug)]
pub(super) struct LossJudge {
    acked: u32,
    lost: u32,
    window_started_at: Micros,
    /// Packets sent earlier belong to an earlier rate and are not counted.
    counted_from: Micros,
    ambient_per_mille: u32,
    trial: Option<Trial>,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    per_mille: u32,
    rate_before: u64,
}

impl LossJudge {
    pub(super) fn new(now: Micros) -> LossJudge {
        LossJudge {
            acked: 0,
            lost: 0,
            window_started_at: now,
            counted_from: Micros::ZERO,
            ambient_per_mille: 0,
            trial: None,
        }
    }

    /// Counts one packet; answers when that finishes a window.
    pub(super) fn handle_packet(&mut self, now: Micros, sent_at: Micros, lost: bool) -> Option<LossVerdict> {
        // A send time in the future means that the clock stepped back: better counted than ignored for hours.
        if sent_at < self.counted_from && self.counted_from <= now {
            return None;
        }
        if lost {
            self.lost += 1;
        } else {
            self.acked = self.acked.saturating_add(1);
        }
        let total = self.acked.saturating_add(self.lost);
        self.window_started_at = self.window_started_at.min(now);
        let aged = now.since(self.window_started_at) >= WINDOW_TIME;
        if self.lost >= WINDOW_LOST || (aged && total >= WINDOW_PACKETS_MIN) {
            let per_mille = self.lost * 1_000 / total;
            self.restart_window(now);
            return Some(self.judge(per_mille));
        }
        None
    }

    /// Notes that the rate was cut because of loss; the next window, of packets sent from now on, is the experiment.
    pub(super) fn begin_trial(&mut self, now: Micros, per_mille: u32, rate_before: u64) {
        self.forget(now);
        self.trial = Some(Trial { per_mille, rate_before });
    }

    /// Notes that the rate was cut for another reason: loss of earlier packets was caused by the same queue and must
    /// not be punished twice, and a running experiment is void.
    pub(super) fn forget(&mut self, now: Micros) {
        self.trial = None;
        self.counted_from = now;
        self.restart_window(now);
    }

    fn restart_window(&mut self, now: Micros) {
        self.acked = 0;
        self.lost = 0;
        self.window_started_at = now;
    }

    fn judge(&mut self, per_mille: u32) -> LossVerdict {
        if let Some(trial) = self.trial.take()
            && per_mille * 3 >= trial.per_mille * 2
        {
            self.ambient_per_mille = per_mille.min(AMBIENT_PER_MILLE_MAX);
            return LossVerdict::Unrelated { rate_before: trial.rate_before };
        }
        if per_mille > self.ambient_per_mille + EXCESS_PER_MILLE {
            return LossVerdict::Excess { per_mille };
        }
        // Windows scatter; only a clearly better one says that the path recovered.
        if per_mille < self.ambient_per_mille / 2 {
            self.ambient_per_mille -= (self.ambient_per_mille - per_mille) / 4;
        }
        LossVerdict::Tolerable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds packets of which every `every`-th is lost, until a window is judged.
    fn window(judge: &mut LossJudge, second: u64, every: u32) -> LossVerdict {
        let now = Micros::from_secs(second);
        (1..=1_000).find_map(|packet| judge.handle_packet(now, now, packet % every == 0)).unwrap()
    }

    #[test]
    fn estimate_follows_the_loss_and_returns_to_zero() {
        let mut loss = LossEstimator::new();
        for packet in 0..2_000 {
            if packet % 10 == 0 { loss.handle_lost() } else { loss.handle_acked() }
        }
        assert!(loss.per_mille().abs_diff(100) < 20, "{}", loss.per_mille());
        for _ in 0..2_000 {
            loss.handle_acked();
        }
        assert_eq!(loss.per_mille(), 0);
        for _ in 0..2_000 {
            loss.handle_lost();
        }
        assert!((990..=1_000).contains(&loss.per_mille()), "{}", loss.per_mille());
    }

    #[test]
    fn loss_that_a_cut_does_not_change_becomes_ambient() {
        let mut judge = LossJudge::new(Micros::ZERO);
        let LossVerdict::Excess { per_mille } = window(&mut judge, 10, 10) else {
            panic!("10 % loss is an excess at first")
        };
        judge.begin_trial(Micros::from_secs(20), per_mille, 9_000);
        assert_eq!(window(&mut judge, 30, 10), LossVerdict::Unrelated { rate_before: 9_000 });
        assert_eq!(window(&mut judge, 40, 10), LossVerdict::Tolerable);
        assert!(matches!(window(&mut judge, 50, 4), LossVerdict::Excess { .. }));
    }

    #[test]
    fn loss_that_a_cut_removes_stays_congestion() {
        let mut judge = LossJudge::new(Micros::ZERO);
        judge.begin_trial(Micros::from_secs(20), 100, 9_000);
        assert_eq!(window(&mut judge, 30, 1_000), LossVerdict::Tolerable);
        assert!(matches!(window(&mut judge, 40, 10), LossVerdict::Excess { .. }));
    }

    #[test]
    fn ambient_loss_is_unlearned_when_the_path_recovers() {
        let mut judge = LossJudge::new(Micros::ZERO);
        judge.begin_trial(Micros::from_secs(20), 200, 9_000);
        window(&mut judge, 30, 5);
        for second in 40..60 {
            window(&mut judge, second, 1_000);
        }
        assert!(matches!(window(&mut judge, 60, 10), LossVerdict::Excess { .. }));
    }

    #[test]
    fn packets_sent_before_a_cut_are_not_counted_against_the_new_rate() {
        let mut judge = LossJudge::new(Micros::ZERO);
        judge.forget(Micros::from_secs(100));
        for _ in 0..1_000 {
            assert_eq!(judge.handle_packet(Micros::from_secs(150), Micros::from_secs(99), true), None);
        }
        assert_eq!(window(&mut judge, 200, 1_000), LossVerdict::Tolerable);
    }

    #[test]
    fn heavy_loss_is_judged_before_the_window_is_old() {
        let mut judge = LossJudge::new(Micros::ZERO);
        let verdict = (1..=WINDOW_LOST).find_map(|_| judge.handle_packet(Micros(9), Micros(5), true));
        assert_eq!(verdict, Some(LossVerdict::Excess { per_mille: 1_000 }));
    }
}
