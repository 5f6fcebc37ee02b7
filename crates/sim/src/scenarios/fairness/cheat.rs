//! What can be gained by lying about time, if nobody looks.
//!
//! | conduct | what it does | what it hopes for |
//! |---|---|---|
//! | old view | claims to see what was shown 200 ms ago, and aims there | hits who has reached cover |
//! | future view | aims at the newest snapshot, and claims to see later than that | is judged nearer to the present than others |
//! | frozen view | claims one time for half a second, and aims where everybody was then | a world that stands still |
//! | fast clock | runs one and a half steps in the time of one; its view runs as fast, then falls back | walks and shoots faster |
//! | input flood | sends everything three times, changes what it sent, fires in every step, also ahead | the same |
//! | withheld inputs | sends nothing for 400 ms of every second, then all at once | acts in the past, knowing what came of it |

use std::collections::VecDeque;

use netloom_wire::Micros;

/// How a shooter behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// As the client does.
    Honest,
    /// Claims to see the past.
    OldView,
    /// Claims to see the future.
    FutureView,
    /// Claims that time stands still.
    FrozenView,
    /// Runs its steps and its view faster.
    FastClock,
    /// Sends more inputs than there are steps.
    Flood,
    /// Sends inputs when it is too late.
    Withheld,
}

/// How long ago the past is.
const OLD: Micros = Micros::from_millis(200);
/// How far the future is.
const FUTURE: Micros = Micros::from_millis(100);
const FROZEN: Micros = Micros::from_millis(500);
/// The view of a fast clock gains so much, then falls back.
const RUN: Micros = Micros::from_millis(200);
/// Of every second so much is withheld.
const WITHHELD: Micros = Micros::from_millis(400);
const SECOND: Micros = Micros::from_secs(1);
/// What was shown is remembered so long.
const MEMORY: Micros = Micros::from_secs(1);

/// Where the targets were shown, by number; `None` for those not in sight.
pub type Scene = Vec<Option<[f64; 3]>>;

/// What a shooter says it saw, and where it aims.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The server's time.
    pub view: Micros,
    /// Everybody at that time.
    pub scene: Scene,
}

/// A shooter's memory of what it was shown.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    shown: VecDeque<Claim>,
    frozen: Option<(Micros, Claim)>,
}

impl Memory {
    /// A frame showed this.
    pub fn handle_frame(&mut self, claim: Claim) {
        while self.shown.front().is_some_and(|oldest| oldest.view + MEMORY < claim.view) {
            self.shown.pop_front();
        }
        self.shown.push_back(claim);
    }

    /// What is claimed at a time of the shooter's own clock. `newest` is what the newest snapshot says.
    pub fn claim(&mut self, conduct: Conduct, now: Micros, newest: impl FnOnce() -> Claim) -> Option<Claim> {
        let shown = self.shown.back()?.clone();
        Some(match conduct {
            Conduct::Honest | Conduct::Flood => shown,
            Conduct::OldView => self.before(shown.view - OLD)?,
            Conduct::FutureView => {
                let newest = newest();
                Claim { view: newest.view + FUTURE, ..newest }
            }
            Conduct::FrozenView => self.frozen_since(now, FROZEN, shown),
            Conduct::FastClock => {
                let ahead = Micros(now.0 / 2 % RUN.0);
                self.before(shown.view + ahead - RUN)?
            }
            Conduct::Withheld if withholds(conduct, now) => self.frozen_since(now, WITHHELD, shown),
            Conduct::Withheld => shown,
        })
    }

    /// The last frame that showed nothing newer.
    fn before(&self, view: Micros) -> Option<Claim> {
        let place = self.shown.partition_point(|shown| shown.view <= view);
        self.shown.get(place.saturating_sub(1)).cloned()
    }

    fn frozen_since(&mut self, now: Micros, longest: Micros, shown: Claim) -> Claim {
        match &self.frozen {
            Some((since, claim)) if now - *since < longest => claim.clone(),
            _ => {
                self.frozen = Some((now, shown.clone()));
                shown
            }
        }
    }
}

/// Whether nothing is sent at this time of the shooter's own clock.
pub fn withholds(conduct: Conduct, now: Micros) -> bool {
    conduct == Conduct::Withheld && now.0 % SECOND.0 < WITHHELD.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed_ms(conduct: Conduct, now_ms: u64) -> u64 {
        let mut memory = Memory::default();
        for ms in 0..=now_ms {
            memory.handle_frame(Claim { view: Micros::from_millis(ms), scene: Vec::new() });
            if conduct == Conduct::FrozenView && ms > 0 {
                memory.claim(conduct, Micros::from_millis(ms), || unreachable!("not asked for"));
            }
        }
        let newest = || Claim { view: Micros::from_millis(now_ms + 70), scene: Vec::new() };
        memory.claim(conduct, Micros::from_millis(now_ms), newest).unwrap().view.0 / 1_000
    }

    #[test]
    fn each_conduct_claims_what_it_says() {
        assert_eq!(claimed_ms(Conduct::Honest, 1_900), 1_900);
        assert_eq!(claimed_ms(Conduct::OldView, 1_900), 1_700);
        assert_eq!(claimed_ms(Conduct::FutureView, 1_900), 2_070);
        assert_eq!(claimed_ms(Conduct::FrozenView, 1_900), 1_501);
        assert_eq!([1_600, 1_700, 1_999].map(|ms| claimed_ms(Conduct::FastClock, ms)), [1_400, 1_550, 1_998]);
        assert_eq!(claimed_ms(Conduct::Withheld, 1_900), 1_900);
    }
}
