//! The choice among what waits: its limits, its fairness, and the faults of the first designs beside what is done here.

use proptest::prelude::*;

use super::*;

/// An object that waits.
#[derive(Clone, Copy, Debug)]
struct Object {
    slot: u16,
    gain: f32,
    is_distant: bool,
}

/// A peer with a choice to make.
struct Peer {
    accounts: Accounts,
    picking: Picking,
    /// Gains are what objects say, whatever their distance.
    weights: Weights<fn(f32) -> f32>,
    waiting: Waiting,
    words: Vec<u64>,
    chosen: Vec<u16>,
}

impl Default for Peer {
    fn default() -> Peer {
        let config = WeightConfig { floor: 1e-6, ceiling: 1e6, ..Default::default() };
        Peer {
            accounts: Accounts::new(),
            picking: Picking::default(),
            weights: Weights::new(config, (|_| 1.0) as fn(f32) -> f32).unwrap(),
            waiting: Waiting::default(),
            words: vec![0; 16],
            chosen: Vec::new(),
        }
    }
}

impl Peer {
    /// Everything gains, some are chosen.
    fn choose(&mut self, objects: &[Object], places: usize) {
        self.words.fill(0);
        objects
            .iter()
            .for_each(|object| self.words[usize::from(object.slot / 64)] |= 1 << (object.slot % 64));
        let sight = |slot: usize| {
            let at = objects.binary_search_by_key(&slot, |object| usize::from(object.slot)).unwrap();
            let metres = if objects[at].is_distant { 150.0 } else { 50.0 };
            self.weights.sight(objects[at].gain, [0.0, 0.0, metres], false)
        };
        self.waiting.fill(objects.len(), self.words.iter().copied().enumerate(), sight);
        self.weights.weigh(&mut self.waiting);
        let words = &mut self.words;
        let drop = |at: usize, slots: u64| words[at] &= !slots;
        let count = self.accounts.select(&mut self.waiting, places, &self.picking, drop);
        let is_chosen = |slot: &u16| self.words[usize::from(slot / 64)] >> (slot % 64) & 1 != 0;
        self.chosen = (0..self.words.len() as u16 * 64).filter(is_chosen).collect();
        assert_eq!(count, self.chosen.len());
    }

    /// One tick: what is chosen is also sent.
    fn tick(&mut self, objects: &[Object], places: usize) {
        self.choose(objects, places);
        self.sent();
    }

    /// What was chosen went out.
    fn sent(&mut self) {
        let words = self.words.iter().enumerate();
        words.for_each(|(at, word)| self.accounts.reset_all(at, *word));
    }
}

fn at(slot: u16, distance_metres: f32) -> Object {
    let weights = Weights::default();
    let gain = weights.gain(weights.importance(1.0, 0.0, 1.0), distance_metres, false);
    Object { slot, gain, is_distant: distance_metres > 100.0 }
}

/// 200 objects around the viewer, 50 far away.
fn crowd() -> Vec<Object> {
    let near = (0..200).map(|slot| at(slot, 5.0 + f32::from(slot) / 10.0));
    near.chain((200..250).map(|slot| at(slot, 400.0 + f32::from(slot)))).collect()
}

fn distant(chosen: &[u16]) -> usize {
    chosen.iter().filter(|slot| **slot >= 200).count()
}

/// The longest that any slot went without being sent, in ticks, and the fewest distant objects in a tick.
fn longest_wait(objects: &[Object], places: usize, ticks: u32) -> (u32, usize) {
    let mut peer = Peer::default();
    let mut sent_last = vec![0; objects.len()];
    let (mut longest, mut distant_least) = (0, usize::MAX);
    for tick in 1..=ticks {
        peer.tick(objects, places);
        assert_eq!(peer.chosen.len(), places);
        distant_least = distant_least.min(distant(&peer.chosen));
        for slot in &peer.chosen {
            longest = longest.max(tick - std::mem::replace(&mut sent_last[usize::from(*slot)], tick));
        }
    }
    (sent_last.iter().map(|last| ticks - last).fold(longest, u32::max), distant_least)
}

/// The bound of the module's documentation.
fn wait_max(objects: &[Object], places: usize) -> u32 {
    let gains = || objects.iter().map(|object| object.gain);
    let ratio = gains().fold(0.0, f32::max) / gains().fold(f32::MAX, f32::min);
    let per_tick = places - Picking::default().distant_reserve;
    ((ratio + 1.0) * objects.len().div_ceil(per_tick) as f32).ceil() as u32
}

#[test]
fn under_a_tight_budget_every_object_is_sent_within_the_bound_and_two_distant_in_every_tick() {
    let objects = crowd();
    for places in [4, 10, 51] {
        let (longest, distant_least) = longest_wait(&objects, places, 3000);
        let bound = wait_max(&objects, places);
        assert!(longest <= bound, "{places} a tick: waited {longest} ticks, bound {bound}");
        assert!(distant_least >= 2, "{places} a tick: {distant_least} distant");
    }
}

#[test]
fn with_room_for_a_single_object_nobody_starves_either() {
    let objects = crowd();
    let mut peer = Peer::default();
    let mut sent = vec![0; objects.len()];
    for _ in 0..4000 {
        peer.tick(&objects, 1);
        assert_eq!(peer.chosen.len(), 1);
        peer.chosen.iter().for_each(|slot| sent[usize::from(*slot)] += 1);
    }
    assert!(sent.iter().all(|times| *times > 0), "{sent:?}");
}

#[test]
fn the_reserve_takes_at_most_half_of_a_snapshot() {
    let mut peer = Peer::default();
    for _ in 0..100 {
        peer.tick(&crowd()[200..], 0);
    }
    peer.tick(&crowd(), 3);
    let first = distant(&peer.chosen);
    peer.accounts = Accounts::new();
    peer.tick(&crowd(), 3);
    assert_eq!(
        (first, distant(&peer.chosen)),
        (3, 1),
        "by their accounts all three may be distant, by reserve one"
    );
}

#[test]
fn a_reserve_after_the_budget_sends_51_near_and_ours_49_and_2_distant() {
    const OBJECT_BYTES: usize = 16;
    let (objects, budget_bytes) = (crowd(), 819);
    let mut literal = objects.clone();
    literal.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let (mut left_bytes, mut near, mut far) = (budget_bytes, 0, 0);
    for _ in &literal {
        if left_bytes < OBJECT_BYTES {
            break;
        }
        left_bytes -= OBJECT_BYTES;
        near += 1;
    }
    for _ in 0..2 {
        far += usize::from(left_bytes >= OBJECT_BYTES);
    }
    assert_eq!((near, far), (51, 0));

    let mut peer = Peer::default();
    peer.tick(&objects, budget_bytes / OBJECT_BYTES);
    assert_eq!((peer.chosen.len() - distant(&peer.chosen), distant(&peer.chosen)), (49, 2));
}

#[test]
fn priority_by_recency_starves_90_of_100_and_ours_none() {
    let objects: Vec<Object> = (0..100).map(|slot| at(slot, f32::from(slot) * 4.0)).collect();
    let (mut literal, mut sent_last_ms) = ([0; 100], [0.0f32; 100]);
    let (mut peer, mut ours) = (Peer::default(), [0; 100]);
    for tick in 1..=2000u32 {
        let now_ms = tick as f32 * 50.0;
        let value = |slot: usize| objects[slot].gain / (1.0 + (now_ms - sent_last_ms[slot]) / 1000.0);
        let mut order: Vec<usize> = (0..100).collect();
        order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
        for slot in &order[..10] {
            sent_last_ms[*slot] = now_ms;
            literal[*slot] += 1;
        }
        peer.tick(&objects, 10);
        peer.chosen.iter().for_each(|slot| ours[usize::from(*slot)] += 1);
    }
    assert_eq!(literal.iter().filter(|times| **times == 0).count(), 90);
    assert!(ours.iter().all(|times| *times >= 60), "{ours:?}");
}

#[test]
fn an_object_of_weight_zero_starves_without_a_floor_and_ours_is_sent() {
    let nothing_beyond = |metres: f32| if metres < 100.0 { 1.0 } else { 0.0 };
    let weights = Weights::new(WeightConfig::default(), nothing_beyond).unwrap();
    let object = |slot, metres| Object { slot, gain: weights.gain(1.0, metres, false), is_distant: false };
    let mut objects: Vec<Object> = (0..20).map(|slot| object(slot, 10.0)).collect();
    objects.push(object(20, 900.0));
    let mut literal = [0.0f32; 21];
    let mut is_sent_literally = false;
    let (mut peer, mut is_sent) = (Peer::default(), false);
    for _ in 0..2000 {
        (0..20).for_each(|slot| literal[slot] += 1.0);
        let mut order: Vec<usize> = (0..21).collect();
        order.sort_by(|a, b| literal[*b].total_cmp(&literal[*a]));
        is_sent_literally |= order[..5].contains(&20);
        order[..5].iter().for_each(|slot| literal[*slot] = 0.0);
        peer.tick(&objects, 5);
        is_sent |= peer.chosen.contains(&20);
    }
    assert!(!is_sent_literally);
    assert!(is_sent);
}

#[test]
fn a_walk_over_a_partition_sends_less_than_the_best_and_ours_exactly_those() {
    let gains = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0];
    let objects: Vec<Object> =
        (0..).zip(gains).map(|(slot, gain)| Object { slot, gain, is_distant: false }).collect();
    // One of the orders that a partition at five may leave: no promise is broken, and yet the walk begins with a 3.
    let literal = [3.0, 6.0, 9.0, 8.0, 7.0, 4.0, 1.0, 2.0];
    assert!(literal[..5].iter().filter(|gain| **gain >= 6.0).count() == 4);
    assert_eq!(literal[..3].iter().filter(|gain| **gain >= 7.0).count(), 1, "of the three best");

    let mut peer = Peer::default();
    peer.tick(&objects, 3);
    assert_eq!(peer.chosen, [0, 2, 4]);
}

#[test]
fn more_places_than_objects_take_everything_but_what_never_goes() {
    let object = |slot, gain| Object { slot, gain, is_distant: slot % 2 == 0 };
    let objects = [object(3, 1.0), object(70, 0.0), object(71, 2.0), object(900, 1.0)];
    let mut peer = Peer::default();
    peer.tick(&objects, 1000);
    assert_eq!(peer.chosen, [3, 71, 900]);
    peer.tick(&[], 1000);
    assert_eq!(peer.chosen, []);
}

#[test]
fn what_never_goes_from_now_on_keeps_nobody_from_going() {
    let object = |slot, gain| Object { slot, gain, is_distant: false };
    let mut peer = Peer::default();
    (0..10).for_each(|_| peer.tick(&[object(0, 100.0), object(1, 1.0)], 0));
    peer.tick(&[object(0, 0.0), object(1, 1.0)], 1);
    assert_eq!(peer.chosen, [1]);
    assert_eq!(peer.accounts.account(0), 1000.0);
}

#[test]
fn only_what_was_really_sent_starts_again_at_zero() {
    let objects = [at(0, 10.0), at(1, 10.0)];
    let mut peer = Peer::default();
    peer.choose(&objects, 2);
    assert_eq!(peer.chosen, [0, 1]);
    peer.accounts.reset_all(0, 0b01);
    assert_eq!(peer.accounts.account(0), 0.0);
    assert_eq!(peer.accounts.account(1), objects[1].gain);
    peer.accounts.reset(1);
    assert_eq!(peer.accounts.account(1), 0.0);
}

#[test]
fn what_a_rate_holds_back_is_neither_chosen_nor_credited() {
    let weights = Weights::default();
    let mut waiting = Waiting::default();
    waiting
        .fill(4, [(0, 0b1111)].into_iter(), |slot| weights.sight(1.0, [slot as f32 * 60.0, 0.0, 0.0], false));
    weights.weigh(&mut waiting);
    waiting.retain(|slot, _| slot != 1);
    assert_eq!(waiting.len(), 3);
    let (mut accounts, mut words) = (Accounts::new(), [0b1101]);
    // The nearest and, by reserve, the nearer of the two distant ones.
    accounts.select(&mut waiting, 2, &Picking { distant_reserve: 1 }, |at, slots| words[at] &= !slots);
    assert_eq!(words, [0b0101]);
    assert_eq!(accounts.account(1), 0.0);
}

#[test]
fn picking_out_of_range_is_refused_by_name() {
    assert_eq!(Picking { distant_reserve: 65 }.check().unwrap_err().field, "distant_reserve");
    assert!(Picking::default().check().is_ok());
}

fn any_objects() -> impl Strategy<Value = Vec<Object>> {
    let gain = prop_oneof![4 => 0.01f32..100.0, 3 => Just(1.0), 1 => Just(0.0), 1 => Just(f32::NAN), 1 => Just(-1.0)];
    prop::collection::vec((gain, any::<bool>(), 1u16..9), 0..120).prop_map(|objects| {
        let mut slot = 0;
        let mut object = |(gain, is_distant, step)| {
            slot += step;
            Object { slot, gain, is_distant }
        };
        objects.into_iter().map(&mut object).collect()
    })
}

/// What a full sort chooses: first the reserve, then the highest of all the others; ascending.
fn sorted_out(objects: &[Object], accounts: &Accounts, places: usize, reserve: usize) -> Vec<u16> {
    let mut order: Vec<&Object> = objects.iter().filter(|object| object.gain > 0.0).collect();
    order.sort_by(|a, b| accounts.account(b.slot).total_cmp(&accounts.account(a.slot)));
    let reserved = order.iter().filter(|object| object.is_distant).take(reserve.min(places / 2));
    let mut chosen: Vec<u16> = reserved.map(|object| object.slot).collect();
    let others: Vec<u16> =
        order.iter().map(|object| object.slot).filter(|slot| !chosen.contains(slot)).collect();
    chosen.extend(others.into_iter().take(places - chosen.len()));
    chosen.sort();
    chosen
}

proptest! {
    #[test]
    fn a_choice_is_what_a_full_sort_would_choose_and_includes_the_highest(
        objects in any_objects(),
        places in prop::collection::vec(0usize..130, 1..12),
        distant_reserve in 0usize..9,
    ) {
        let mut peer = Peer { picking: Picking { distant_reserve }, ..Default::default() };
        for places in places {
            peer.choose(&objects, places);
            let before = peer.accounts.clone();
            prop_assert_eq!(&peer.chosen, &sorted_out(&objects, &before, places, distant_reserve));
            let possible = objects.iter().filter(|object| object.gain > 0.0);
            let highest = possible.map(|object| before.account(object.slot)).reduce(f32::max);
            if let Some(highest) = highest.filter(|_| places > 0) {
                prop_assert!(peer.chosen.iter().any(|slot| before.account(*slot) == highest), "it was passed over");
            }
            peer.sent();
            for object in &objects {
                let is_sent = peer.chosen.binary_search(&object.slot).is_ok();
                let expected = if is_sent { 0.0 } else { before.account(object.slot) };
                prop_assert_eq!(peer.accounts.account(object.slot), expected);
            }
        }
    }

    #[test]
    fn accounts_of_any_size_are_told_apart(
        gains in prop::collection::vec(prop_oneof![1e-6f32..1e6, 1e-6f32..1e-5, Just(3.0)], 1..400),
        places in 1usize..100,
    ) {
        let object = |(slot, gain): (u16, &f32)| Object { slot, gain: *gain, is_distant: false };
        let objects: Vec<Object> = (0..).zip(&gains).map(object).collect();
        let mut peer = Peer::default();
        peer.choose(&objects, places);
        prop_assert_eq!(&peer.chosen, &sorted_out(&objects, &peer.accounts, places, 0));
    }
}

#[test]
fn a_favour_counts_in_one_choice_and_what_waited_for_it_is_next() {
    let (weights, mut waiting, mut accounts) = (Weights::default(), Waiting::default(), Accounts::new());
    let mut choose = |favour: f32| {
        let mut chosen = 0b1111;
        let sight = |slot: usize| {
            let sight = weights.sight(1.0, [50.0, 0.0, 0.0], false);
            Sight { favour: if slot >= 2 { favour } else { 1.0 }, ..sight }
        };
        waiting.fill(4, [(0, chosen)].into_iter(), sight);
        weights.weigh(&mut waiting);
        accounts.select(&mut waiting, 2, &Picking::default(), |_, slots| chosen &= !slots);
        accounts.reset_all(0, chosen);
        chosen
    };
    // Among equals the lowest slots go, and 0 and 1 are owed a tick more with each that they are left out of.
    assert_eq!([8.0, 1.0, 8.0, 1.0, 1.0].map(&mut choose), [0b1100, 0b0011, 0b1100, 0b0011, 0b1100]);
}
