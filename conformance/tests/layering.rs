//! The workspace follows the rule of arrows and its source rules. The second half shows each rule failing on metadata
//! or files made up to break it.

use netloom_conformance::layering::{core_folders, problems, roots_without_unsafe};
use netloom_conformance::source_rules::{
    FILE_LINES_MAX, FILE_LINES_NOTED, forbids_unsafe, long_files, missing_bans, modules_not_in, shared_state,
};
use netloom_conformance::tree::{Repository, Tree};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

fn workspace() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn arrows_point_downwards() {
    let found = problems(&workspace());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn core_crates_ban_clocks_threads_and_sockets() {
    let folders = core_folders(&workspace());
    assert!(
        folders.iter().any(|(package, _)| package == "netloom-wire"),
        "the core was not found: {folders:?}"
    );
    for (package, folder) in folders {
        let missing = missing_bans(&read(&format!("{folder}clippy.toml")));
        assert!(missing.is_empty(), "{package}: {}", missing.join(", "));
    }
}

#[test]
fn crates_forbid_unsafe() {
    let roots = roots_without_unsafe(&workspace());
    assert!(roots.len() >= 3, "too few roots were found: {roots:?}");
    for (package, root) in roots {
        assert!(forbids_unsafe(&read(&root)), "{package}: {root} lacks #![forbid(unsafe_code)]");
    }
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let tree = Repository::of_this_build();
    assert!(
        tree.files_below("").contains(&"conformance/tests/layering.rs".to_owned()),
        "the tree was not found"
    );
    for (path, lines) in long_files(&tree, FILE_LINES_NOTED) {
        println!("note: {path} has {lines} lines (aim for {FILE_LINES_NOTED})");
    }
    let long = long_files(&tree, FILE_LINES_MAX);
    assert!(long.is_empty(), "more than {FILE_LINES_MAX} lines, look for the two ideas inside: {long:?}");
}

#[test]
fn architecture_has_a_line_for_every_module() {
    let tree = Repository::of_this_build();
    let map = tree.read("ARCHITECTURE.md").expect("ARCHITECTURE.md");
    for sources in ["crates/wire/src", "crates/proto/src", "crates/replica/src", "crates/sim/src"] {
        let absent = modules_not_in(&map, &tree, sources);
        assert!(absent.is_empty(), "ARCHITECTURE.md has no line for {}", absent.join(", "));
    }
}

#[test]
fn the_core_owns_no_state_of_its_own() {
    let tree = Repository::of_this_build();
    for sources in ["crates/wire/src", "crates/proto/src", "crates/replica/src", "crates/session/src"] {
        let found = shared_state(&tree, sources);
        assert!(found.is_empty(), "state belongs to whoever made the server or client: {}", found.join("\n"));
    }
}

/// One package with one dependency, in the shape that Cargo prints.
fn package(name: &str, dependency: &str, kind: Value) -> Value {
    json!({
        "name": name,
        "manifest_path": format!("/w/{name}/Cargo.toml"),
        "dependencies": [{ "name": dependency, "kind": kind }],
        "features": {},
        "targets": [
            { "kind": ["lib"], "src_path": format!("/w/{name}/src/lib.rs") },
            { "kind": ["test"], "src_path": format!("/w/{name}/tests/t.rs") },
        ],
    })
}

fn found_for(name: &str, dependency: &str, kind: Value) -> String {
    problems(&json!({ "packages": [package(name, dependency, kind)] })).join("\n")
}

#[test]
fn allowed_arrows_pass() {
    for (name, dependency) in [
        ("netloom-proto", "netloom-wire"),
        ("netloom-session", "netloom-replica"),
        ("netloom", "netloom-transport"),
        ("netloom-cli", "netloom-sim"),
        ("netloom-wire", "thiserror"),
        ("netloom-cli", "clap"),
    ] {
        assert_eq!(found_for(name, dependency, Value::Null), "", "{name} -> {dependency}");
    }
}

#[test]
fn forbidden_arrows_are_found() {
    for (name, dependency) in [
        ("netloom-wire", "netloom-proto"),
        ("netloom-proto", "netloom-replica"),
        ("netloom-replica", "netloom-proto"),
        ("netloom-transport", "netloom-proto"),
        ("netloom-store", "netloom-wire"),
        ("netloom-session", "netloom-transport"),
        ("netloom", "netloom-sim"),
        ("netloom-cluster", "netloom-cli"),
    ] {
        let found = found_for(name, dependency, Value::Null);
        assert_eq!(found, format!("{name} must not depend on {dependency}: arrows point downwards"));
        assert_eq!(found_for(name, dependency, json!("build")), found, "build dependencies are arrows too");
        assert_eq!(found_for(name, dependency, json!("dev")), "", "tests may use what helps them");
    }
}

#[test]
fn foreign_dependencies_of_the_core_are_found() {
    let found = found_for("netloom-wire", "tokio", Value::Null);
    assert_eq!(found, "netloom-wire must not depend on tokio: a core crate uses only thiserror");
    assert!(found_for("netloom-proto", "rand", Value::Null).contains("ring, thiserror, x25519-dalek"));
}

#[test]
fn unknown_packages_are_told_where_to_go() {
    let found = found_for("netloom-new", "serde", Value::Null);
    assert!(found.contains("netloom-new: unknown package") && found.contains("ARCHITECTURE.md"), "{found}");
    assert_eq!(problems(&json!({})), ["the metadata names no package"]);
}

#[test]
fn features_outside_the_facade_and_the_command_are_found() {
    for (name, expected) in [("netloom-wire", 1), ("netloom", 0), ("netloom-cli", 0)] {
        let mut package = package(name, "thiserror", Value::Null);
        package["features"] = json!({ "fast": [] });
        assert_eq!(problems(&json!({ "packages": [package] })).len(), expected, "{name}");
    }
}

#[test]
fn roots_and_folders_are_those_that_the_rules_cover() {
    let packages: Vec<Value> = ["netloom-wire", "netloom-transport", "netloom-sim"]
        .map(|name| package(name, "thiserror", Value::Null))
        .into();
    let metadata = json!({ "packages": packages });
    let roots: Vec<String> = roots_without_unsafe(&metadata).into_iter().map(|(_, root)| root).collect();
    assert_eq!(roots, ["/w/netloom-wire/src/lib.rs", "/w/netloom-sim/src/lib.rs"]);
    assert_eq!(core_folders(&metadata), [("netloom-wire".to_owned(), "/w/netloom-wire/".to_owned())]);
}

#[test]
fn absent_bans_are_found() {
    let whole = read(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/wire/clippy.toml"));
    assert_eq!(missing_bans(&whole), Vec::<String>::new());
    let without_sleep = whole.replace("std::thread::sleep", "std::thread::yield_now");
    assert_eq!(missing_bans(&without_sleep), ["disallowed-methods lacks std::thread::sleep"]);
    assert_eq!(missing_bans("").len(), 12);
    assert!(missing_bans("= broken")[0].contains("cannot be read"));
}

#[test]
fn only_the_attribute_forbids_unsafe() {
    assert!(forbids_unsafe("//! Docs.\n\n#![forbid(unsafe_code)]\n"));
    assert!(!forbids_unsafe("// #![forbid(unsafe_code)]\n"));
    assert!(!forbids_unsafe("#![deny(unsafe_code)]\n"));
}

#[test]
fn state_that_nobody_owns_is_found_outside_tests() {
    let tree = BTreeMap::from([
        (
            "c/src/a.rs",
            "static TABLE: [u8; 2] = [0; 2];\n// thread_local! is banned\nstatic mut COUNT: u32 = 0;\n",
        ),
        (
            "c/src/b.rs",
            "fn b() {}\n#[cfg(test)]\nmod tests { static SEEN: OnceLock<u8> = OnceLock::new(); }\n",
        ),
        ("c/src/mutation.rs", "thread_local! {}\n"),
        ("c/src/b/tests.rs", "static SEEN: AtomicBool = AtomicBool::new(false);\n"),
    ]);
    assert_eq!(shared_state(&tree, "c/src"), ["c/src/a.rs:3: static mut COUNT: u32 = 0;"]);
}

#[test]
fn long_sources_are_found_and_long_data_is_not() {
    let text = "line\n".repeat(4);
    let longer = "line\n".repeat(5);
    let tree = BTreeMap::from([
        ("a.rs", text.as_str()),
        ("b.py", longer.as_str()),
        ("c.json", longer.as_str()),
        ("d.md", longer.as_str()),
    ]);
    assert_eq!(long_files(&tree, 3), [("b.py".to_owned(), 5), ("a.rs".to_owned(), 4)]);
    assert!(long_files(&tree, 5).is_empty());
}

#[test]
fn modules_without_a_line_are_found() {
    let tree = BTreeMap::from([
        ("c/src/lib.rs", ""),
        ("c/src/bits.rs", ""),
        ("c/src/bits/tests.rs", ""),
        ("c/src/names/mod.rs", ""),
        ("d/src/other.rs", ""),
    ]);
    assert_eq!(modules_not_in("`bits`", &tree, "c/src"), ["c/src: `names`"]);
    assert!(modules_not_in("`bits` and `names`", &tree, "c/src").is_empty());
}
