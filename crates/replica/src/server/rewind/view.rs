//! What a shooter may claim to have seen.
//!
//! A player shoots at what the screen shows, and that is the past: snapshots took half a round trip to arrive, were shown
//! after the interpolation delay, and the shot took the other half to come here and waited for its step. Only the client
//! knows exactly which server time it showed, so it says so with every input. But a client that may say anything chooses
//! when to shoot after the fact: an old time hits who has long reached cover, a frozen one hits the same spot for ever.
//!
//! ```text
//!     server time ──────────────────────────────────────────────────────────▶
//!           now − clamp        expected − tolerance   expected + tolerance    newest acked    now
//!               │                        ├─────────────────────┤                   │           │
//!               └─ never older           └─ the server's own idea of the view      │           └─ never newer
//!                                                                  never newer ────┘
//!     expected = now − (round trip + interpolation delay + input wait)
//!
//!     and along time:   reference moves at 0.9 to 1.1 of real time; a claim may lie `jitter` beside it
//! ```
//!
//! The claim is moved into all of these, each time by the least that will do, and the result says which bound decided. So
//! honest clients are believed, and a lie is worth the tolerance at most. Where bounds contradict each other the
//! clamp wins over what was acked, that over the estimate, and the estimate over the speed: no shot is ever judged
//! earlier than the clamp.
//!
//! The *reference* is what keeps a view from running, standing still or going back and forth. Claims have the jitter of
//! frames, so they are not compared with each other: a reference runs as time does, and they must stay near it. Claims that
//! do not draw it after them, at a bounded speed. It follows no others: frames and steps beat, and a reference that went
//! along with claims that are late by up to a frame would be a whole frame beside the next one. So a single lie among honest
//! claims is worth twice the jitter at most. The reference is held inside the other bounds too, so an honest client whose
//! connection changed is believed again at once.

use netloom_wire::Micros;

/// What the server knows about a peer's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerTiming {
    /// The round trip, as the server measures it.
    pub rtt: Micros,
    /// How long the client holds snapshots back before it shows them.
    pub interpolation_delay: Micros,
    /// How long its inputs wait for their step.
    pub input_wait: Micros,
    /// The server time of the newest snapshot that it acknowledged.
    pub newest_acked: Micros,
}

impl PeerTiming {
    /// How far back the peer's view is when its input is simulated.
    pub fn rewind(&self) -> Micros {
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::DelayForgotten) {
            return self.rtt + self.input_wait;
        }
        self.rtt + self.interpolation_delay + self.input_wait
    }
}

/// How much is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewRules {
    /// No view is older than this.
    pub rewind_max: Micros,
    /// How far a claim may lie from the server's own estimate.
    pub tolerance: Micros,
    /// By how much a view may run faster or slower than real time.
    pub speed_percent: u64,
    /// How far single claims may lie beside a view of steady speed: about half a frame of a slow client.
    pub jitter: Micros,
}

/// The bound that moved a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adjustment {
    /// It went back, stood still or advanced too slowly.
    TooSlow,
    /// It advanced too fast.
    TooFast,
    /// It was older than round trip, delay and wait explain.
    TooOld,
    /// It was newer than round trip, delay and wait allow.
    TooNew,
    /// It was newer than the newest snapshot that the peer acknowledged.
    NotSeenYet,
    /// It was older than the clamp. Honest peers with a long round trip have this all the time.
    Clamped,
    /// It was older than everything that is kept.
    BeforeHistory,
    /// It was newer than everything that is kept.
    AfterHistory,
}

/// How often claims were moved, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCounters {
    /// Claims that were believed as they were.
    pub believed: u64,
    /// See [`Adjustment::TooSlow`].
    pub too_slow: u64,
    /// See [`Adjustment::TooFast`].
    pub too_fast: u64,
    /// See [`Adjustment::TooOld`].
    pub too_old: u64,
    /// See [`Adjustment::TooNew`].
    pub too_new: u64,
    /// See [`Adjustment::NotSeenYet`].
    pub not_seen_yet: u64,
    /// See [`Adjustment::Clamped`].
    pub clamped: u64,
    /// See [`Adjustment::BeforeHistory`] and [`Adjustment::AfterHistory`].
    pub outside_history: u64,
}

impl ViewCounters {
    fn count(&mut self, adjusted: Option<Adjustment>) {
        let counter = match adjusted {
            None => &mut self.believed,
            Some(Adjustment::TooSlow) => &mut self.too_slow,
            Some(Adjustment::TooFast) => &mut self.too_fast,
            Some(Adjustment::TooOld) => &mut self.too_old,
            Some(Adjustment::TooNew) => &mut self.too_new,
            Some(Adjustment::NotSeenYet) => &mut self.not_seen_yet,
            Some(Adjustment::Clamped) => &mut self.clamped,
            Some(Adjustment::BeforeHistory | Adjustment::AfterHistory) => &mut self.outside_history,
        };
        *counter += 1;
    }
}

/// A time at which the past may be asked: verified, or the server's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastView {
    pub(super) at: Micros,
    pub(super) claimed: Micros,
    pub(super) now: Micros,
    pub(super) adjusted: Option<Adjustment>,
}

impl PastView {
    /// The time that queries look at.
    pub fn at(&self) -> Micros {
        self.at
    }

    /// What the client said.
    pub fn claimed(&self) -> Micros {
        self.claimed
    }

    /// How far it lies back.
    pub fn rewound(&self) -> Micros {
        self.now - self.at
    }

    /// The bound that decided, if the claim was not believed as it was.
    pub fn adjusted(&self) -> Option<Adjustment> {
        self.adjusted
    }
}

/// The server's times between which a view can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The oldest record.
    pub oldest: Micros,
    /// The newest record, which is also the present.
    pub newest: Micros,
}

/// One peer's view, followed over time.
///
/// ```
/// use netloom_replica::server::rewind::{Adjustment, Kept, PeerTiming, ViewRules, ViewTracker};
/// use netloom_wire::Micros;
///
/// let ms = Micros::from_millis;
/// let rules = ViewRules { rewind_max: ms(250), tolerance: ms(50), speed_percent: 10, jitter: ms(10) };
/// let timing = PeerTiming {
///     rtt: ms(60),
///     interpolation_delay: ms(100),
///     input_wait: ms(10),
///     newest_acked: ms(9_930),
/// };
/// let mut tracker = ViewTracker::default();
/// let kept = Kept { oldest: ms(9_000), newest: ms(10_000) };
///
/// let honest = tracker.verify(ms(9_830), &timing, kept, &rules);
/// assert_eq!((honest.at(), honest.adjusted()), (ms(9_830), None));
/// // 100 ms later the same time again: it should have advanced by 90 ms, and 10 ms are jitter.
/// let kept = Kept { oldest: ms(9_100), newest: ms(10_100) };
/// let frozen = tracker.verify(ms(9_830), &timing, kept, &rules);
/// assert_eq!((frozen.at(), frozen.adjusted()), (ms(9_910), Some(Adjustment::TooSlow)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ViewTracker {
    reference: Option<Reference>,
    counters: ViewCounters,
}

#[derive(Clone, Copy, Debug)]
struct Reference {
    at: Micros,
    now: Micros,
}

impl ViewTracker {
    /// How often claims were moved.
    pub fn counters(&self) -> ViewCounters {
        self.counters
    }

    /// Moves a claim to where it can be believed. Ask with every input and not with shots alone: the longer a view was not
    /// heard of, the farther it may have moved.
    pub fn verify(
        &mut self,
        claimed: Micros,
        timing: &PeerTiming,
        kept: Kept,
        rules: &ViewRules,
    ) -> PastView {
        let now = kept.newest;
        #[cfg(netloom_mutations)]
        let rules = &mutated(*rules);
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::ViewBelieved) {
            let at = claimed.clamp(kept.oldest.max(now - rules.rewind_max), now);
            return PastView { at, claimed, now, adjusted: None };
        }
        #[cfg(netloom_mutations)]
        if crate::mutation::is(crate::mutation::Mutation::PresentJudged) {
            return PastView { at: now, claimed, now, adjusted: None };
        }
        let mut believed = Believed { at: claimed, adjusted: None };
        let mut reference = Believed { at: claimed, adjusted: None };
        if let Some(before) = self.reference {
            let passed = (now - before.now).0;
            let percent = |speed: u64| before.at + Micros(passed.saturating_mul(speed) / 100);
            reference.at = percent(100).clamp(claimed - rules.jitter, claimed + rules.jitter);
            reference.raise(percent(100 - rules.speed_percent.min(100)), Adjustment::TooSlow);
            reference.lower(percent(100 + rules.speed_percent.min(100)), Adjustment::TooFast);
            believed.raise(reference.at - rules.jitter, Adjustment::TooSlow);
            believed.lower(reference.at + rules.jitter, Adjustment::TooFast);
        }
        let expected = now - timing.rewind();
        for view in [&mut believed, &mut reference] {
            view.raise(expected - rules.tolerance, Adjustment::TooOld);
            view.lower(expected + rules.tolerance, Adjustment::TooNew);
        }
        // Acknowledgements get lost, and are there again in the next step; the clamp and what is kept say nothing about
        // the peer. So its reference, from which it could return at 110 % only, does not follow these.
        believed.lower(timing.newest_acked, Adjustment::NotSeenYet);
        believed.raise(now - rules.rewind_max, Adjustment::Clamped);
        believed.raise(kept.oldest, Adjustment::BeforeHistory);
        believed.lower(kept.newest, Adjustment::AfterHistory);
        self.reference = Some(Reference { at: reference.at, now });
        // One rule may take back what another did.
        let adjusted = believed.adjusted.filter(|_| believed.at != claimed);
        self.counters.count(adjusted);
        PastView { at: believed.at, claimed, now, adjusted }
    }
}

/// The rules with a deliberate bug.
#[cfg(netloom_mutations)]
fn mutated(rules: ViewRules) -> ViewRules {
    use crate::mutation::{Mutation, is};
    let rewind_max = if is(Mutation::ClampOff) { Micros::MAX } else { rules.rewind_max };
    let speed_percent = if is(Mutation::ViewUnpaced) { 100 } else { rules.speed_percent };
    let jitter = if is(Mutation::ViewUnpaced) { Micros::from_secs(9) } else { rules.jitter };
    ViewRules { rewind_max, speed_percent, jitter, ..rules }
}

struct Believed {
    at: Micros,
    adjusted: Option<Adjustment>,
}

impl Believed {
    fn raise(&mut self, least: Micros, why: Adjustment) {
        if self.at < least {
            (self.at, self.adjusted) = (least, Some(why));
        }
    }

    fn lower(&mut self, most: Micros, why: Adjustment) {
        if self.at > most {
            (self.at, self.adjusted) = (most, Some(why));
        }
    }
}
