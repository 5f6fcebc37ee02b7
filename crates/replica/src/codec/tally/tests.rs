use netloom_wire::delta::run::RUN_MAX;
use proptest::prelude::*;

use super::super::tests::objects::{Content, Object, Scene, any_scene};
use super::super::{encode, gap_code};
use super::*;

fn tallied(scenes: &[Scene], prior: &Codes) -> Tally {
    let mut tally = Tally::new(prior);
    for Scene { class, visible, current, newer, older, jump_age } in scenes {
        let older = older.as_ref().map(Object::baseline);
        let content = Content(current.contents.clone());
        tally.update(class, *visible, &current.words, newer.baseline(), older, *jump_age, &content);
    }
    tally
}

/// The bits of what the encoder writes.
fn bits(scenes: &[Scene], codes: &Codes) -> u64 {
    let mut bytes = vec![0; SCRATCH_BYTES];
    let mut sum = 0;
    for Scene { class, visible, current, newer, older, jump_age } in scenes {
        let mut writer = BitWriter::new(&mut bytes);
        let older = older.as_ref().map(Object::baseline);
        let content = Content(current.contents.clone());
        encode(
            class,
            *visible,
            &current.words,
            newer.baseline(),
            older,
            *jump_age,
            &content,
            codes,
            &mut writer,
        );
        sum += writer.bit_len() as u64;
        writer.finish().unwrap();
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The counts and the plain bits make the length of what the encoder writes, with any tables.
    #[test]
    fn what_is_counted_is_what_is_written(scenes in prop::collection::vec(any_scene(), 1..8)) {
        let generic = Codes::generic();
        let tally = tallied(&scenes, &generic);
        prop_assert_eq!(tally.bits(&generic), bits(&scenes, &generic));
        prop_assert_eq!(tally.updates(), scenes.len() as u64);
        let trained = tally.train("trained", &Blend::default()).unwrap();
        prop_assert_eq!(tallied(&scenes, &trained).bits(&trained), bits(&scenes, &trained));
    }

    #[test]
    fn gaps_are_counted_as_they_are_written(gaps in prop::collection::vec(0..=RUN_MAX, 0..20)) {
        let codes = Codes::generic();
        let mut tally = Tally::new(&codes);
        gaps.iter().for_each(|&gap| tally.gap(gap, true));
        let written: u32 = gaps.iter().map(|&gap| gap_code(&codes, gap, true).1).sum();
        prop_assert_eq!(tally.bits(&codes), u64::from(written));
    }
}

#[test]
fn without_a_recording_nothing_changes() {
    let generic = Codes::generic();
    let trained = Tally::new(&generic).train("nothing", &Blend::default()).unwrap();
    assert_eq!(trained, generic);
    assert_eq!(trained.id(), generic.id(), "a name is no part of what it names");
    assert!(Tally::new(&generic).savings(&trained).is_empty());
}

#[test]
fn training_helps_what_it_saw_and_leaves_other_contexts_alone() {
    let generic = Codes::generic();
    let mut tally = Tally::new(&generic);
    (0..10_000).for_each(|number| tally.gap(30 + number % 2, true));
    let trained = tally.train("sparse", &Blend::default()).unwrap();
    let [saving] = tally.savings(&trained)[..] else { panic!("one table was needed") };
    assert_eq!((saving.group.name, saving.symbols), ("gap", 10_000));
    assert_eq!(saving.bits_before, tally.bits(&generic) - tally.plain_bits);
    assert!(saving.bits_after * 2 < saving.bits_before, "{saving:?}");
    assert_eq!(tally.bits(&generic) - tally.bits(&trained), saving.bits_before - saving.bits_after);
    let differing = tables().filter(|&(group, _, first)| {
        let place = first..first + group.symbols;
        trained.lengths()[place.clone()] != generic.lengths()[place]
    });
    assert_eq!(differing.map(|(group, ..)| group.name).collect::<Vec<_>>(), ["gap"]);
    assert_eq!(
        tally.train("sparse", &Blend::default()).unwrap().serialize(),
        trained.serialize(),
        "the same counts, the same bytes"
    );
}

#[test]
fn a_context_that_was_never_seen_borrows_from_the_nearest_that_was() {
    let untrained = Codes::untrained();
    let (group, _, first) = tables().find(|(group, ..)| group.name == "place").unwrap();
    let mut tally = Tally::new(&untrained);
    let at = |table: usize| first + table * group.symbols;
    tally.counts[at(2) + 3] = 1_000;
    tally.counts[at(7) + 5] = 1_000;
    tally.lend();
    for (table, symbol) in [(0, 3), (2, 3), (4, 3), (5, 5), (11, 5), (14, 3), (20, 5)] {
        let row = &tally.counts[at(table)..at(table) + group.symbols];
        assert_eq!((row[symbol], row.iter().sum::<u64>()), (1_000, 1_000), "table {table}");
    }
    let codes = tally.train("lent", &Blend::default()).unwrap();
    assert!(codes.lengths()[at(4) + 3] < codes.lengths()[at(4) + 5]);
    assert_eq!(tally.counts[..first].iter().sum::<u64>(), 0, "other groups are left alone");
}

#[test]
fn counts_that_are_added_to_scale_keep_their_proportions() {
    let codes = Codes::generic();
    let (mut small, mut sum) = (Tally::new(&codes), Tally::new(&codes));
    for gap in [0, 0, 0, 7] {
        small.gap(gap, true);
    }
    sum.add_scaled(&small, 400);
    assert_eq!(sum.symbols(), 400);
    assert_eq!(sum.bits(&codes), 100 * small.bits(&codes));
}
