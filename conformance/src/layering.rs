//! The rule of arrows: which crate may depend on which.
//!
//! Layers erode one convenient import at a time. The table in this module is the picture in ARCHITECTURE.md as data,
//! and [`problems`] compares it with what Cargo says the packages really depend on. Only normal and build dependencies
//! are arrows: a test may use whatever helps it, because nothing that a user links follows from it.

use serde_json::Value;

/// What one package may use.
struct Rule {
    package: &'static str,
    /// The packages of this workspace that it may depend on.
    ours: Ours,
    /// The packages from elsewhere, for the crates that must stay nearly free of them; `None` leaves the choice free.
    foreign: Option<&'static [&'static str]>,
}

/// Crates without sockets, clocks, threads or unseeded randomness.
pub const CORE_PACKAGES: [&str; 4] = ["netloom-wire", "netloom-proto", "netloom-replica", "netloom-session"];

/// Packages that may have features: one per optional transport or engine, so that combinations do not multiply.
const PACKAGES_WITH_FEATURES: [&str; 2] = ["netloom", "netloom-cli"];

/// Packages that may contain `unsafe`: batched UDP system calls, the C interface, the counting allocator, what
/// only the processor knows, threads that borrow.
const PACKAGES_WITH_UNSAFE: [&str; 5] =
    ["netloom-transport", "netloom-c", "netloom-count", "netloom-cpu", "netloom-crew"];

/// The whole stack from the bottom up, for the packages that may use all of it up to some height.
const STACK: [&str; 18] = [
    "netloom-count",
    "netloom-crew",
    "netloom-derive",
    "netloom-cpu",
    "netloom-wire",
    "netloom-proto",
    "netloom-replica",
    "netloom-scene",
    "netloom-session",
    "netloom-transport",
    "netloom-webtransport",
    "netloom-store",
    "netloom",
    "netloom-cluster",
    "netloom-rtype",
    "netloom-marble",
    "netloom-bridge",
    "netloom-sim",
];

/// Packages of this workspace that a package may depend on.
enum Ours {
    Only(&'static [&'static str]),
    StackUpTo(&'static str),
}

impl Ours {
    fn contain(&self, package: &str) -> bool {
        match self {
            Self::Only(packages) => packages.contains(&package),
            Self::StackUpTo(top) => {
                let height = |name: &str| STACK.iter().position(|layer| *layer == name);
                height(package).is_some_and(|height_of_package| Some(height_of_package) <= height(top))
            }
        }
    }
}

const fn core(
    package: &'static str,
    ours: &'static [&'static str],
    foreign: &'static [&'static str],
) -> Rule {
    Rule { package, ours: Ours::Only(ours), foreign: Some(foreign) }
}

const fn edge(package: &'static str, ours: Ours) -> Rule {
    Rule { package, ours, foreign: None }
}

/// The picture in ARCHITECTURE.md. A new package gets its line here and its place there.
const RULES: &[Rule] = &[
    core("netloom-wire", &[], &["thiserror"]),
    core("netloom-proto", &["netloom-cpu", "netloom-wire"], &["ring", "thiserror", "x25519-dalek"]),
    core("netloom-replica", &["netloom-cpu", "netloom-wire"], &["glam", "thiserror"]),
    core(
        "netloom-session",
        &["netloom-cpu", "netloom-derive", "netloom-wire", "netloom-proto", "netloom-replica"],
        &["lz4_flex", "rmp", "rmp-serde", "serde", "thiserror", "tracing"],
    ),
    core("netloom-count", &[], &[]),
    core("netloom-cpu", &[], &["crc32c"]),
    edge("netloom-crew", Ours::Only(&[])),
    core("netloom-derive", &[], &["proc-macro2", "quote", "syn"]),
    edge("netloom-scene", Ours::Only(&["netloom-wire", "netloom-replica"])),
    edge("netloom-transport", Ours::Only(&["netloom-cpu", "netloom-wire"])),
    edge("netloom-webtransport", Ours::Only(&["netloom-transport"])),
    edge("netloom-store", Ours::Only(&[])),
    edge("netloom", Ours::StackUpTo("netloom-store")),
    edge("netloom-cluster", Ours::StackUpTo("netloom")),
    edge("netloom-rtype", Ours::StackUpTo("netloom")),
    edge("netloom-marble", Ours::StackUpTo("netloom")),
    edge("netloom-bridge", Ours::StackUpTo("netloom")),
    edge("netloom-c", Ours::StackUpTo("netloom")),
    edge("netloom-python", Ours::StackUpTo("netloom")),
    edge("netloom-sim", Ours::StackUpTo("netloom-bridge")),
    edge("netloom-cli", Ours::StackUpTo("netloom-sim")),
    edge("netloom-bench", Ours::StackUpTo("netloom-sim")),
    edge("netloom-instructions", Ours::StackUpTo("netloom-transport")),
    edge("netloom-conformance", Ours::StackUpTo("netloom-sim")),
];

/// Every forbidden arrow, foreign dependency, feature and unknown package in the output of
/// `cargo metadata --format-version 1 --no-deps`.
pub fn problems(metadata: &Value) -> Vec<String> {
    let packages = list(metadata, "packages");
    if packages.is_empty() {
        return vec!["the metadata names no package".to_owned()];
    }
    let members: Vec<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = text(package, "name");
        match RULES.iter().find(|rule| rule.package == name) {
            Some(rule) => problems.extend(dependency_problems(rule, package, &members)),
            None => problems.push(format!(
                "{name}: unknown package; give it a line in RULES (conformance/src/layering.rs) and a place in ARCHITECTURE.md"
            )),
        }
        let features = package.get("features").and_then(Value::as_object);
        if features.is_some_and(|features| !features.is_empty()) && !PACKAGES_WITH_FEATURES.contains(&name) {
            problems.push(format!("{name}: has features; only {} may", PACKAGES_WITH_FEATURES.join(" and ")));
        }
    }
    problems
}

fn dependency_problems(rule: &Rule, package: &Value, members: &[&str]) -> Vec<String> {
    let arrows = list(package, "dependencies").iter().filter(|dependency| text(dependency, "kind") != "dev");
    let mut problems = Vec::new();
    for name in arrows.map(|dependency| text(dependency, "name")) {
        if members.contains(&name) || RULES.iter().any(|rule| rule.package == name) {
            if !rule.ours.contain(name) {
                problems.push(format!("{} must not depend on {name}: arrows point downwards", rule.package));
            }
        } else if rule.foreign.is_some_and(|allowed| !allowed.contains(&name)) {
            problems.push(format!(
                "{} must not depend on {name}: a core crate uses only {}",
                rule.package,
                rule.foreign.unwrap_or_default().join(", ")
            ));
        }
    }
    problems
}

/// The root files (library or program) of the packages that must forbid `unsafe`, as `(package, absolute path)`.
pub fn roots_without_unsafe(metadata: &Value) -> Vec<(String, String)> {
    let mut roots = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        if PACKAGES_WITH_UNSAFE.contains(&name) {
            continue;
        }
        for target in list(package, "targets") {
            let shipped =
                list(target, "kind").iter().any(|kind| matches!(kind.as_str(), Some("lib" | "bin")));
            if shipped {
                roots.push((name.to_owned(), text(target, "src_path").to_owned()));
            }
        }
    }
    roots
}

/// The folders of the core packages that exist, as `(package, absolute path)`.
pub fn core_folders(metadata: &Value) -> Vec<(String, String)> {
    list(metadata, "packages")
        .iter()
        .filter(|package| CORE_PACKAGES.contains(&text(package, "name")))
        .map(|package| {
            let folder = text(package, "manifest_path").trim_end_matches("Cargo.toml");
            (text(package, "name").to_owned(), folder.to_owned())
        })
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}
