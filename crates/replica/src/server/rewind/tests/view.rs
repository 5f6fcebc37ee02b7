//! Honest views are believed, and lies are worth nothing.

use netloom_wire::{Micros, Tick};
use proptest::prelude::*;

use super::super::{
    Adjustment, Kept, PastView, PeerTiming, Pose, RewindConfig, RewindError, ViewRules, ViewTracker,
};
use super::{small, time};
use crate::server::ReplicaPeer;

const STEP_US: u64 = 16_667;
const START_US: u64 = 10_000_000;

const fn ms(ms: u64) -> Micros {
    Micros::from_millis(ms)
}

const RULES: ViewRules =
    ViewRules { rewind_max: ms(250), tolerance: ms(50), speed_percent: 10, jitter: ms(10) };

/// A peer at some distance, and the server's side of it.
struct Peer {
    tracker: ViewTracker,
    timing: PeerTiming,
    now: Micros,
}

impl Peer {
    fn new(rtt_ms: u64) -> Peer {
        let timing = PeerTiming {
            rtt: ms(rtt_ms),
            interpolation_delay: ms(100),
            input_wait: ms(10),
            newest_acked: Micros::ZERO,
        };
        Peer { tracker: ViewTracker::default(), timing, now: Micros(START_US) }
    }

    /// What an honest client shows.
    fn truth(&self) -> Micros {
        self.now - self.timing.rewind()
    }

    /// The next step, and what is made of a claim.
    fn claim(&mut self, claimed: impl FnOnce(&Peer) -> Micros) -> PastView {
        self.claim_under(&RULES, claimed)
    }

    fn claim_under(&mut self, rules: &ViewRules, claimed: impl FnOnce(&Peer) -> Micros) -> PastView {
        self.now += Micros(STEP_US);
        self.timing.newest_acked = self.now - self.timing.rtt;
        let claimed = claimed(self);
        let kept = Kept { oldest: self.now - ms(1_000), newest: self.now };
        self.tracker.verify(claimed, &self.timing, kept, rules)
    }
}

#[test]
fn an_honest_view_is_believed_to_the_microsecond() {
    for rtt_ms in [0, 50, 100, 130] {
        let mut peer = Peer::new(rtt_ms);
        for step in 0..600u64 {
            // Frames do not fall on steps.
            let view = peer.claim(|peer| peer.truth() + Micros(step * 7_919 % 8_000) - ms(4));
            assert_eq!((view.at(), view.adjusted()), (view.claimed(), None), "step {step} at {rtt_ms} ms");
        }
        assert_eq!(peer.tracker.counters().believed, 600);
    }
}

#[test]
fn lost_acknowledgements_hold_a_view_back_no_longer_than_they_are_missing() {
    let mut peer = Peer::new(50);
    (0..60).for_each(|_| {
        peer.claim(Peer::truth);
    });
    for _ in 0..12 {
        peer.now += Micros(STEP_US);
        let kept = Kept { oldest: peer.now - ms(1_000), newest: peer.now };
        peer.timing.newest_acked = peer.now - ms(240);
        let view = peer.tracker.verify(peer.truth(), &peer.timing, kept, &RULES);
        assert_eq!((view.rewound(), view.adjusted()), (ms(240), Some(Adjustment::NotSeenYet)));
    }
    let view = peer.claim(Peer::truth);
    assert_eq!((view.at(), view.adjusted()), (view.claimed(), None), "the next acknowledgement ends it");
}

#[test]
fn frames_that_beat_with_steps_are_believed() {
    let rules = RewindConfig::default().rules();
    for frame_us in [6_944, 16_600, 16_667, 33_333, 33_500] {
        let mut peer = Peer::new(60);
        for step in 0..3_000 {
            // A step is made, and sees, what the next frame shows.
            let (frame_us, step_us) = (Micros(frame_us), Micros(step * STEP_US));
            let late = Micros(step_us.0.div_ceil(frame_us.0) * frame_us.0) - step_us;
            let half = Micros(frame_us.0 / 2);
            let view = peer.claim_under(&rules, |peer| peer.truth() + late - half);
            // The first claim may be late by a whole frame or by nothing; soon the reference lies between.
            assert!(step < 30 || view.adjusted().is_none(), "step {step} with frames of {frame_us:?}");
        }
    }
}

#[test]
fn an_honest_view_stays_believed_while_its_delay_changes_smoothly() {
    let mut peer = Peer::new(60);
    let mut delay = ms(100);
    for step in 0..1_200 {
        // At 5 % of real time the client goes to 140 ms and back.
        delay =
            if step < 600 { (delay + Micros(833)).min(ms(140)) } else { (delay - Micros(833)).max(ms(100)) };
        let view = peer.claim(|peer| peer.now - peer.timing.rtt - peer.timing.input_wait - delay);
        assert_eq!(view.adjusted(), None, "step {step}");
    }
}

#[test]
fn a_view_beyond_the_clamp_is_clamped_and_never_older() {
    let mut peer = Peer::new(250);
    for _ in 0..100 {
        let view = peer.claim(|peer| peer.truth());
        assert_eq!((view.rewound(), view.adjusted()), (ms(250), Some(Adjustment::Clamped)));
    }
    assert_eq!(peer.tracker.counters().clamped, 100);
}

#[test]
fn an_old_view_gains_no_more_than_the_tolerance() {
    let mut peer = Peer::new(50);
    let first = peer.claim(|peer| peer.now - ms(900));
    assert_eq!((first.at(), first.adjusted()), (peer.truth() - ms(50), Some(Adjustment::TooOld)));
    for _ in 0..600 {
        let view = peer.claim(|peer| peer.now - ms(900));
        assert!(view.at() >= peer.truth() - ms(50), "{view:?}");
        assert_ne!(view.adjusted(), None);
    }
}

#[test]
fn a_single_old_view_among_honest_ones_gains_no_more_than_twice_the_jitter() {
    let mut peer = Peer::new(50);
    for step in 0..600 {
        let lies = step % 30 == 29;
        let view = peer.claim(|peer| peer.truth() - if lies { ms(200) } else { Micros::ZERO });
        let off = peer.truth() - view.at();
        // Lies draw the reference back until honest claims are the jitter beside it, and lie the jitter beside it themselves.
        let most = RULES.jitter + RULES.jitter + Micros(STEP_US / 10 + 1);
        assert!(off <= most, "step {step}: {off:?}");
        assert_eq!(view.adjusted() == Some(Adjustment::TooSlow), lies, "step {step}");
    }
}

#[test]
fn a_frozen_view_advances_all_the_same() {
    let mut peer = Peer::new(50);
    let frozen = peer.claim(|peer| peer.truth()).at();
    for step in 1..=600u64 {
        let view = peer.claim(|_| frozen);
        assert!(view.at() >= peer.truth() - ms(50), "step {step}: {view:?}");
        // Each step is rounded down to a microsecond.
        let least = frozen + Micros(step * (STEP_US * 9 / 10));
        assert!(view.at() + RULES.jitter >= least, "step {step}: {view:?}");
        assert!(view.adjusted().is_some(), "step {step}: {view:?}");
    }
}

#[test]
fn a_fast_clock_never_shows_what_was_not_sent() {
    let mut peer = Peer::new(50);
    let first = peer.claim(|peer| peer.truth()).at();
    for step in 1..=600u64 {
        let view = peer.claim(|_| first + Micros(step * STEP_US * 3 / 2));
        assert!(view.at() <= peer.timing.newest_acked, "step {step}: {view:?}");
        assert!(view.at() <= peer.truth() + ms(50), "step {step}: {view:?}");
        assert!(step < 3 || view.adjusted().is_some(), "step {step}: {view:?}");
    }
    let counters = peer.tracker.counters();
    assert!(counters.too_fast > 0 && counters.too_new > 500, "{counters:?}");
}

#[test]
fn a_future_view_is_at_most_the_newest_that_was_acked() {
    let mut peer = Peer::new(20);
    peer.timing.interpolation_delay = Micros::ZERO;
    peer.timing.input_wait = Micros::ZERO;
    for _ in 0..100 {
        let view = peer.claim(|peer| peer.now + ms(500));
        assert_eq!((view.at(), view.adjusted()), (peer.timing.newest_acked, Some(Adjustment::NotSeenYet)));
    }
}

#[test]
fn going_back_and_forth_gains_no_more_than_the_jitter() {
    let mut peer = Peer::new(50);
    for step in 0..600u64 {
        let view =
            peer.claim(|peer| if step % 2 == 0 { peer.truth() - ms(45) } else { peer.truth() + ms(45) });
        if step > 60 {
            let off = view.at().0.abs_diff(peer.truth().0);
            assert!(off <= ms(60).0, "step {step}: {off}");
        }
    }
    // Two views in a row are never farther apart than the jitter on both sides and the speed allow.
    let mut before = peer.claim(|peer| peer.truth()).at();
    for step in 0..600u64 {
        let at = peer.claim(|peer| if step % 2 == 0 { Micros::ZERO } else { peer.now }).at();
        let way = at.0 as i64 - before.0 as i64;
        assert!((-20_000..=(20_000 + STEP_US as i64 * 11 / 10 + 2)).contains(&way), "step {step}: {way}");
        before = at;
    }
}

#[test]
fn withheld_acks_make_a_view_no_older_than_the_clamp() {
    let mut peer = Peer::new(50);
    peer.claim(|peer| peer.truth());
    let acked = peer.timing.newest_acked;
    for step in 0..120 {
        peer.now += Micros(STEP_US);
        let kept = Kept { oldest: peer.now - ms(1_000), newest: peer.now };
        peer.timing.newest_acked = acked;
        let view = peer.tracker.verify(peer.truth(), &peer.timing, kept, &RULES);
        assert!(view.rewound() <= ms(250), "step {step}: {view:?}");
        assert!(view.at() <= acked || view.adjusted() == Some(Adjustment::Clamped), "step {step}: {view:?}");
    }
}

#[test]
fn after_a_pause_an_honest_view_is_believed_at_once() {
    let mut peer = Peer::new(80);
    peer.claim(|peer| peer.truth());
    peer.now += Micros::from_secs(7);
    assert_eq!(peer.claim(|peer| peer.truth()).adjusted(), None);
    peer.now += Micros::from_secs(100_000);
    assert_eq!(peer.claim(|peer| peer.truth()).adjusted(), None, "after a day");
}

#[test]
fn after_a_lie_an_honest_view_is_believed_within_a_second() {
    let mut peer = Peer::new(50);
    (0..600).for_each(|_| {
        peer.claim(|peer| peer.now - ms(900));
    });
    let steps = (0..).take_while(|_| peer.claim(|peer| peer.truth()).adjusted().is_some()).count();
    assert!((1..=60).contains(&steps), "{steps} steps");
}

#[test]
fn a_young_history_bounds_a_view_and_nothing_is_said_of_unknown_peers() {
    let mut rewind = small();
    let peer = ReplicaPeer(3);
    assert_eq!(rewind.view(peer, time(0)), Err(RewindError::NoHistory));
    rewind.record(Tick(0), time(0), |_| None::<Pose>).unwrap();
    rewind.record(Tick(1), time(1), |_| None::<Pose>).unwrap();
    assert_eq!(rewind.view(peer, time(0)), Err(RewindError::UnknownPeer(peer)));
    let timing = PeerTiming { rtt: ms(100), newest_acked: time(1), ..PeerTiming::default() };
    rewind.set_peer(peer, timing).unwrap();
    let view = rewind.view(peer, time(1) - ms(100)).unwrap();
    assert_eq!((view.at(), view.adjusted()), (time(0), Some(Adjustment::BeforeHistory)));
    assert_eq!(rewind.view_counters(peer).map(|counters| counters.outside_history), Some(1));
    rewind.remove_peer(peer);
    assert_eq!(rewind.view(peer, time(0)), Err(RewindError::UnknownPeer(peer)));
    let beyond = ReplicaPeer(256);
    let refused = RewindError::PeerOutOfRange { peer: beyond, peers_max: 256 };
    assert_eq!(rewind.set_peer(beyond, timing), Err(refused));
}

#[test]
fn a_view_that_is_moved_there_and_back_is_not_adjusted() {
    // Newer than expected by more than is tolerated, and just as old as a view may be.
    let mut peer = Peer::new(287);
    let view = peer.claim(|peer| peer.truth() + ms(147));
    assert_eq!((view.rewound(), view.adjusted()), (ms(250), None));
}

proptest! {
    #[test]
    fn whatever_is_claimed_every_bound_holds(
        claims in prop::collection::vec((any::<u64>(), 0..200_000u64, -400_000..400_000i64, any::<bool>()), 1..100),
        rtt_ms in 0..400u64,
    ) {
        let mut peer = Peer::new(rtt_ms);
        let mut before: Option<(Micros, Micros)> = None;
        for (wild, pause, off, is_wild) in claims {
            peer.now += Micros(pause);
            let view = peer.claim(|peer| match is_wild {
                true => Micros(wild),
                false => Micros(peer.truth().0.saturating_add_signed(off)),
            });
            let (at, now) = (view.at(), peer.now);
            prop_assert!(view.rewound() <= ms(250) && at <= now);
            prop_assert!(at <= peer.timing.newest_acked || view.rewound() == ms(250));
            let is_within = at + ms(50) >= peer.truth() && at <= peer.truth() + ms(50);
            prop_assert!(is_within || view.rewound() == ms(250), "{view:?}");
            prop_assert_eq!(view.adjusted().is_none(), at == view.claimed());
            if let Some((before, then)) = before {
                let fastest = before + Micros((now - then).0 * 11 / 10 + 2 * RULES.jitter.0);
                let must = now - RULES.rewind_max;
                prop_assert!(at <= fastest.max(must).max(peer.truth() - RULES.tolerance), "{view:?}");
            }
            before = Some((at, now));
        }
    }
}
