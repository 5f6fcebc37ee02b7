//! Every file of every corpus, through its target, on any toolchain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use netloom_fuzz::{TARGETS, seeds};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn names_in(path: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn no_file_of_a_corpus_breaks_its_target() {
    for (target, body) in TARGETS {
        let corpus = folder("corpus").join(target);
        let files = names_in(&corpus);
        assert!(!files.is_empty(), "{target} has no corpus");
        for file in files {
            println!("{target}/{file}");
            body(&fs::read(corpus.join(file)).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_program_and_a_corpus_and_no_others_exist() {
    let expected: BTreeSet<String> = TARGETS.iter().map(|(target, _)| target.to_string()).collect();
    let programs: BTreeSet<String> = names_in(&folder("fuzz_targets"))
        .iter()
        .map(|file| file.trim_end_matches(".rs").to_owned())
        .collect();
    assert_eq!(programs, expected);
    assert_eq!(names_in(&folder("corpus")), expected);
}

#[test]
fn the_seeds_are_what_the_encoders_write_today() {
    for seed in seeds::all() {
        let path = folder("corpus").join(seed.target).join(seed.name);
        let written = fs::read(&path).unwrap_or_default();
        assert!(
            written == seed.bytes,
            "{} is out of date: run `cargo run --example seeds` in fuzz/",
            path.display()
        );
    }
}
