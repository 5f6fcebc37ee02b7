//! The ledger holds every requirement once, and what it calls proven exists. The second half feeds the checker wrong
//! ledgers, since a checker that finds nothing proves nothing.

use netloom_conformance::ledger::{Ledger, problems};
use netloom_conformance::tree::Repository;
use std::collections::BTreeMap;

const LEDGER: &str = include_str!("../requirements.toml");
const REQUIREMENT_IDS: &str = include_str!("../requirement_ids.txt");
const CONTRADICTION_IDS: &str = include_str!("../contradiction_ids.txt");

#[test]
fn id_lists_are_whole() {
    for (list, count) in [(REQUIREMENT_IDS, 696), (CONTRADICTION_IDS, 131)] {
        let mut ids: Vec<&str> = list.lines().collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "distinct ids");
        assert_eq!(list.lines().count(), count, "lines");
    }
}

#[test]
fn every_requirement_has_one_true_status() {
    let ledger = Ledger::parse(LEDGER).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    let ids: Vec<&str> = REQUIREMENT_IDS.lines().collect();
    let contradictions: Vec<&str> = CONTRADICTION_IDS.lines().collect();
    println!("{}", ledger.summary());
    let found = problems(&ledger, &ids, &contradictions, &Repository::of_this_build());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A correct ledger of three requirements; each test below breaks one thing in it.
const SMALL: &str = r#"
[capabilities]
core = "packets"

[requirements]
"A-1" = { says = "one", proven = ["tests/a.rs::works"] }
"A-2" = { says = "two", planned = "core", corrected_by = ["X-A1"] }
"A-3" = { says = "three", superseded = { by = "DESIGN: Keys", because = "measured" } }
"#;

fn found_in(ledger: &str) -> String {
    let tree =
        BTreeMap::from([("tests/a.rs", "#[test]\nfn works() {}"), ("ARCHITECTURE.md", "# A\n## Keys\n")]);
    match Ledger::parse(ledger) {
        Ok(ledger) => problems(&ledger, &["A-1", "A-2", "A-3"], &["X-A1"], &tree).join("\n"),
        Err(problems) => problems.join("\n"),
    }
}

fn found_after(from: &str, to: &str) -> String {
    let broken = SMALL.replacen(from, to, 1);
    assert_ne!(broken, SMALL, "`{from}` is not in the small ledger");
    found_in(&broken)
}

#[test]
fn correct_ledger_has_no_problems() {
    assert_eq!(found_in(SMALL), "");
    let summary = Ledger::parse(SMALL).unwrap().summary();
    assert_eq!(summary.to_string(), "1 proven, 1 planned, 1 superseded\n     1 core\n");
}

#[test]
fn missing_invented_and_misplaced_ids_are_found() {
    assert_eq!(
        found_after("\"A-1\" = { says = \"one\", proven = [\"tests/a.rs::works\"] }\n", ""),
        "A-1: missing from the ledger"
    );
    assert_eq!(found_after("\"A-3\"", "\"A-4\""), "A-3: missing from the ledger\nA-4: not a requirement");
    assert_eq!(found_after("\"A-1\"", "\"A-9\"").lines().count(), 2);
    let swapped = SMALL.replace("A-1", "A-0").replace("A-2", "A-1").replace("A-0", "A-2");
    assert_eq!(found_in(&swapped), "A-2: out of order");
    assert!(found_after("\"A-2\"", "\"A-1\"").contains("duplicate key"));
}

#[test]
fn none_or_two_statuses_are_found() {
    let expected = "A-2: needs exactly one of proven, planned, superseded";
    assert_eq!(found_after("planned = \"core\", ", ""), expected);
    assert_eq!(
        found_after("planned = \"core\"", "planned = \"core\", proven = [\"tests/a.rs::works\"]"),
        expected
    );
}

#[test]
fn evidence_that_is_not_there_is_found() {
    assert_eq!(found_after("a.rs::works", "a.rs::worked"), "A-1: no test `worked` in tests/a.rs");
    assert_eq!(found_after("tests/a.rs::works", "tests/b.rs::works"), "A-1: no file tests/b.rs");
    assert!(found_after("[\"tests/a.rs::works\"]", "[]").contains("at least one"));
    assert!(found_after("tests/a.rs::works", "trust me").contains("is none of"));
}

#[test]
fn names_that_nothing_defines_are_found() {
    assert_eq!(found_after("planned = \"core\"", "planned = \"soon\""), "A-2: unknown capability `soon`");
    assert_eq!(found_after("[\"X-A1\"]", "[\"X-A2\"]"), "A-2: corrected by unknown X-A2");
    assert_eq!(found_after("DESIGN: Keys", "X-A7"), "A-3: superseded by unknown `X-A7`");
    assert!(found_after("DESIGN: Keys", "DESIGN: Locks").contains("without a heading"));
}

#[test]
fn entries_without_words_are_found() {
    assert!(found_after("says = \"one\"", "says = \"\"").contains("`says`"));
    let long = format!("says = \"{}\"", "x".repeat(101));
    assert!(found_after("says = \"one\"", &long).contains("`says`"));
    assert!(found_after("because = \"measured\"", "because = \" \"").contains("`because`"));
    assert!(found_after("says = \"one\",", "says = \"one\", note = \"\",").contains("unknown field `note`"));
}
