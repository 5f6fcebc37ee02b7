//! The choice under a budget: its limits, its fairness, and the faults of the first designs beside what is done here.

use proptest::prelude::*;

use super::*;

/// A peer with a choice to make.
#[derive(Default)]
struct Peer {
    accounts: Accounts,
    picking: Picking,
    scratch: PickScratch,
    chosen: Vec<u16>,
}

impl Peer {
    /// One tick: everything gains, some are sent. Returns the bits.
    fn tick(&mut self, pending: &[Pending], budget_bits: u32) -> u32 {
        self.accounts.accumulate(pending);
        let bits =
            self.accounts.select(pending, budget_bits, &self.picking, &mut self.scratch, &mut self.chosen);
        self.accounts.reset(&self.chosen);
        bits
    }
}

const OBJECT_BITS: u16 = 16 * 8;

fn at(slot: u16, distance_metres: f32) -> Pending {
    let weights = Weights::default();
    weights.pending(slot, OBJECT_BITS, weights.importance(1.0, 0.0, 1.0), [distance_metres, 0.0, 0.0], false)
}

/// 200 objects around the viewer, 50 far away.
fn crowd() -> Vec<Pending> {
    let near = (0..200).map(|slot| at(slot, 5.0 + f32::from(slot) / 10.0));
    near.chain((200..250).map(|slot| at(slot, 400.0 + f32::from(slot)))).collect()
}

fn distant(chosen: &[u16]) -> usize {
    chosen.iter().filter(|slot| **slot >= 200).count()
}

/// The longest that any slot went without being sent, in ticks, and the fewest distant objects in a tick.
fn longest_wait(pending: &[Pending], budget_bits: u32, ticks: u32) -> (u32, usize) {
    let mut peer = Peer::default();
    let mut sent_last = vec![0; pending.len()];
    let (mut longest, mut distant_least) = (0, usize::MAX);
    for tick in 1..=ticks {
        assert!(peer.tick(pending, budget_bits) <= budget_bits);
        distant_least = distant_least.min(distant(&peer.chosen));
        for slot in &peer.chosen {
            longest = longest.max(tick - std::mem::replace(&mut sent_last[usize::from(*slot)], tick));
        }
    }
    (sent_last.iter().map(|last| ticks - last).fold(longest, u32::max), distant_least)
}

/// The bound of the module's documentation.
fn wait_max(pending: &[Pending], budget_bits: u32) -> u32 {
    let gains = || pending.iter().map(|object| object.gain);
    let ratio = gains().fold(0.0, f32::max) / gains().fold(f32::MAX, f32::min);
    let per_tick = budget_bits / u32::from(OBJECT_BITS) - Picking::default().distant_reserve as u32;
    ((ratio + 1.0) * (pending.len() as u32).div_ceil(per_tick) as f32).ceil() as u32
}

#[test]
fn under_a_tight_budget_every_object_is_sent_within_the_bound_and_two_distant_in_every_tick() {
    let pending = crowd();
    for objects_per_tick in [4, 10, 51] {
        let budget_bits = objects_per_tick * u32::from(OBJECT_BITS);
        let (longest, distant_least) = longest_wait(&pending, budget_bits, 3000);
        let bound = wait_max(&pending, budget_bits);
        assert!(longest <= bound, "{objects_per_tick} a tick: waited {longest} ticks, bound {bound}");
        assert!(distant_least >= 2, "{objects_per_tick} a tick: {distant_least} distant");
    }
}

#[test]
fn with_room_for_a_single_object_nobody_starves_either() {
    let pending = crowd();
    let mut peer = Peer::default();
    let mut sent = vec![0; pending.len()];
    for _ in 0..4000 {
        peer.tick(&pending, u32::from(OBJECT_BITS));
        assert_eq!(peer.chosen.len(), 1);
        peer.chosen.iter().for_each(|slot| sent[usize::from(*slot)] += 1);
    }
    assert!(sent.iter().all(|times| *times > 0), "{sent:?}");
}

#[test]
fn the_reserve_takes_at_most_half_of_a_snapshot() {
    let mut peer = Peer::default();
    for _ in 0..100 {
        peer.accounts.accumulate(&crowd()[200..]);
    }
    peer.tick(&crowd(), 3 * u32::from(OBJECT_BITS));
    let first = distant(&peer.chosen);
    peer.accounts = Accounts::new();
    peer.tick(&crowd(), 3 * u32::from(OBJECT_BITS));
    assert_eq!(
        (first, distant(&peer.chosen)),
        (3, 1),
        "by their accounts all three may be distant, by reserve one"
    );
}

#[test]
fn a_reserve_after_the_budget_sends_51_near_and_ours_49_and_2_distant() {
    let (pending, budget_bits) = (crowd(), 819 * 8);
    let mut literal = pending.clone();
    literal.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let (mut left_bits, mut near, mut far) = (budget_bits, 0, 0);
    for object in &literal {
        if left_bits < u32::from(object.estimate_bits) {
            break;
        }
        left_bits -= u32::from(object.estimate_bits);
        near += 1;
    }
    for _ in 0..2 {
        far += usize::from(left_bits >= u32::from(OBJECT_BITS));
    }
    assert_eq!((near, far), (51, 0));

    let mut peer = Peer::default();
    assert_eq!(peer.tick(&pending, budget_bits), 51 * u32::from(OBJECT_BITS));
    assert_eq!((peer.chosen.len() - distant(&peer.chosen), distant(&peer.chosen)), (49, 2));
}

#[test]
fn priority_by_recency_starves_90_of_100_and_ours_none() {
    let pending: Vec<Pending> = (0..100).map(|slot| at(slot, f32::from(slot) * 4.0)).collect();
    let (mut literal, mut sent_last_ms) = ([0; 100], [0.0f32; 100]);
    let (mut peer, mut ours) = (Peer::default(), [0; 100]);
    for tick in 1..=2000u32 {
        let now_ms = tick as f32 * 50.0;
        let value = |slot: usize| pending[slot].gain / (1.0 + (now_ms - sent_last_ms[slot]) / 1000.0);
        let mut order: Vec<usize> = (0..100).collect();
        order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
        for slot in &order[..10] {
            sent_last_ms[*slot] = now_ms;
            literal[*slot] += 1;
        }
        peer.tick(&pending, 10 * u32::from(OBJECT_BITS));
        peer.chosen.iter().for_each(|slot| ours[usize::from(*slot)] += 1);
    }
    assert_eq!(literal.iter().filter(|times| **times == 0).count(), 90);
    assert!(ours.iter().all(|times| *times >= 60), "{ours:?}");
}

#[test]
fn an_object_of_weight_zero_starves_without_a_floor_and_ours_is_sent() {
    let nothing_beyond = |metres: f32| if metres < 100.0 { 1.0 } else { 0.0 };
    let weights =
        Weights::new(WeightConfig { distant_metres: 1e9, ..Default::default() }, nothing_beyond).unwrap();
    let mut pending: Vec<Pending> =
        (0..20).map(|slot| weights.pending(slot, OBJECT_BITS, 1.0, [10.0, 0.0, 0.0], false)).collect();
    pending.push(weights.pending(20, OBJECT_BITS, 1.0, [900.0, 0.0, 0.0], false));
    let mut literal = [0.0f32; 21];
    let mut is_sent_literally = false;
    let (mut peer, mut is_sent) = (Peer::default(), false);
    for _ in 0..2000 {
        (0..20).for_each(|slot| literal[slot] += 1.0);
        let mut order: Vec<usize> = (0..21).collect();
        order.sort_by(|a, b| literal[*b].total_cmp(&literal[*a]));
        is_sent_literally |= order[..5].contains(&20);
        order[..5].iter().for_each(|slot| literal[*slot] = 0.0);
        peer.tick(&pending, 5 * u32::from(OBJECT_BITS));
        is_sent |= peer.chosen.contains(&20);
    }
    assert!(!is_sent_literally);
    assert!(is_sent);
}

#[test]
fn what_does_not_fit_is_skipped_and_smaller_ones_use_the_rest() {
    let object = |slot, estimate_bits, gain| Pending { slot, estimate_bits, is_distant: false, gain };
    let pending = [
        object(0, 400, 5.0),
        object(1, 500, 4.9),
        object(2, 450, 4.8),
        object(3, 440, 4.77),
        object(4, 90, 1.0),
    ];
    let mut peer = Peer::default();
    assert_eq!(peer.tick(&pending, 1000), 990);
    assert_eq!(peer.chosen, [0, 1, 4], "a stop at the first that does not fit would send two");

    let mut impatient =
        Peer { picking: Picking { misses_max: 1, ..Default::default() }, ..Default::default() };
    impatient.tick(&pending, 1000);
    assert_eq!(impatient.chosen, [0, 1], "two did not fit");
}

#[test]
fn only_what_was_really_sent_starts_again_at_zero() {
    let pending = [at(0, 10.0), at(1, 10.0)];
    let mut peer = Peer::default();
    peer.accounts.accumulate(&pending);
    peer.accounts.select(&pending, 10_000, &peer.picking, &mut peer.scratch, &mut peer.chosen);
    assert_eq!(peer.chosen, [0, 1]);
    peer.accounts.reset(&[0]);
    assert_eq!(peer.accounts.account(0), 0.0);
    assert_eq!(peer.accounts.account(1), pending[1].gain);
}

#[test]
fn picking_out_of_range_is_refused_by_name() {
    assert_eq!(
        Picking { distant_reserve: 65, ..Default::default() }.check().unwrap_err().field,
        "distant_reserve"
    );
    assert_eq!(Picking { misses_max: 5000, ..Default::default() }.check().unwrap_err().field, "misses_max");
    assert!(Picking::default().check().is_ok());
}

fn any_pending() -> impl Strategy<Value = Vec<Pending>> {
    let gain = prop_oneof![4 => 0.01f32..100.0, 2 => Just(1.0), 1 => Just(0.0), 1 => Just(f32::NAN), 1 => Just(-1.0)];
    let bits = prop_oneof![8 => 10u16..200, 1 => any::<u16>(), 1 => Just(40)];
    prop::collection::vec((gain, bits, any::<bool>()), 0..120).prop_map(|objects| {
        let object =
            |(slot, (gain, estimate_bits, is_distant))| Pending { slot, estimate_bits, is_distant, gain };
        (0..).map(|slot| slot * 3).zip(objects).map(object).collect()
    })
}

proptest! {
    #[test]
    fn a_choice_is_within_its_budget_ordered_fair_and_never_of_what_never_goes(
        pending in any_pending(),
        budgets in prop::collection::vec(0u32..6000, 1..12),
        distant_reserve in 0usize..4,
    ) {
        let picking = Picking { distant_reserve, ..Default::default() };
        let mut peer = Peer { picking, ..Default::default() };
        for budget_bits in budgets {
            let mut before = peer.accounts.clone();
            before.accumulate(&pending);
            let bits = peer.tick(&pending, budget_bits);
            let is_chosen = |object: &&Pending| peer.chosen.binary_search(&object.slot).is_ok();
            let cost = |object: &Pending| u32::from(object.estimate_bits.max(1));
            let chosen: Vec<&Pending> = pending.iter().filter(is_chosen).collect();
            prop_assert!(peer.chosen.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(chosen.len(), peer.chosen.len());
            prop_assert_eq!(bits, chosen.iter().map(|object| cost(object)).sum::<u32>());
            prop_assert!(bits <= budget_bits);
            prop_assert!(chosen.iter().all(|object| object.gain > 0.0));
            let possible = || pending.iter().filter(|object| object.gain > 0.0 && cost(object) <= budget_bits);
            let account = |object: &Pending| before.account(object.slot);
            if let Some(highest) = possible().map(account).reduce(f32::max) {
                prop_assert!(chosen.iter().any(|object| account(object) == highest), "the highest was passed over");
            }
            for object in &pending {
                let expected = if is_chosen(&object) { 0.0 } else { account(object) };
                prop_assert_eq!(peer.accounts.account(object.slot), expected);
            }
        }
    }

    #[test]
    fn objects_of_one_size_are_chosen_as_a_full_sort_would(
        gains in prop::collection::vec(0.01f32..100.0, 1..200),
        count in 1usize..60,
        ticks in 1usize..6,
    ) {
        let object = |(slot, gain): (u16, &f32)| Pending { slot, estimate_bits: 50, is_distant: false, gain: *gain };
        let pending: Vec<Pending> = (0..).zip(&gains).map(object).collect();
        let mut peer = Peer::default();
        for _ in 0..ticks {
            let mut before = peer.accounts.clone();
            before.accumulate(&pending);
            peer.tick(&pending, count as u32 * 50);
            let mut order: Vec<u16> = (0..pending.len() as u16).collect();
            order.sort_by(|a, b| before.account(*b).total_cmp(&before.account(*a)).then(a.cmp(b)));
            order.truncate(count);
            order.sort();
            prop_assert_eq!(&peer.chosen, &order);
        }
    }
}
