//! Rules about the sources themselves: no clock in the core, no `unsafe`, no file that nobody can read in one sitting.
//!
//! The compiler and Clippy enforce the first two once they are told to; a crate that forgets to tell them is checked
//! by nothing. So these functions check that the telling is there.

use crate::tree::Tree;
use std::collections::BTreeSet;

/// Beyond this a file surely holds two ideas.
pub const FILE_LINES_MAX: usize = 700;

/// Beyond this a file deserves a second look.
pub const FILE_LINES_NOTED: usize = 500;

/// Files that people write by hand and read from top to bottom. Specifications, ledgers and generated data are read
/// by looking things up, so their length says nothing.
const SOURCE_ENDINGS: [&str; 9] = [".rs", ".py", ".js", ".mjs", ".ts", ".c", ".h", ".html", ".sh"];

/// What a core crate's `clippy.toml` must ban.
const BANS: [(&str, &[&str]); 2] = [
    (
        "disallowed-methods",
        &[
            "std::time::Instant::now",
            "std::time::SystemTime::now",
            "std::thread::spawn",
            "std::thread::sleep",
            "std::collections::HashMap::new",
            "std::collections::HashMap::with_capacity",
            "std::collections::HashSet::new",
            "std::collections::HashSet::with_capacity",
        ],
    ),
    (
        "disallowed-types",
        &[
            "std::time::Instant",
            "std::time::SystemTime",
            "std::collections::hash_map::RandomState",
            "std::net::UdpSocket",
        ],
    ),
];

/// The bans that the text of a core crate's `clippy.toml` lacks.
pub fn missing_bans(clippy_toml: &str) -> Vec<String> {
    let settings: toml::Table = match clippy_toml.parse() {
        Ok(settings) => settings,
        Err(error) => return vec![format!("clippy.toml cannot be read: {error}")],
    };
    let mut missing = Vec::new();
    for (list, paths) in BANS {
        let empty = Vec::new();
        let entries = settings.get(list).and_then(toml::Value::as_array).unwrap_or(&empty);
        let banned: Vec<&str> =
            entries.iter().filter_map(|entry| entry.get("path").unwrap_or(entry).as_str()).collect();
        let absent = paths.iter().filter(|path| !banned.contains(path));
        missing.extend(absent.map(|path| format!("{list} lacks {path}")));
    }
    missing
}

/// Whether a crate's root file forbids `unsafe` as an attribute of the crate (a comment does not).
pub fn forbids_unsafe(root_file: &str) -> bool {
    root_file.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]")
}

/// Statics that something can be written to: state that nobody owns, and that two servers in one process would share. A
/// `LazyLock` is none: its value is made once, from nothing but the program.
const SHARED_STATE: [&str; 5] = ["static mut ", "thread_local!", "OnceLock", "Mutex<", "Atomic"];

/// Lines of a crate's sources that hold state beside what its caller owns. Tests may, and the switches of deliberate bugs,
/// which no user's build has.
pub fn shared_state(tree: &dyn Tree, sources: &str) -> Vec<String> {
    let is_checked =
        |path: &String| path.ends_with(".rs") && !path.contains("/tests") && !path.ends_with("/mutation.rs");
    let mut found = Vec::new();
    for path in tree.files_below(sources).into_iter().filter(is_checked) {
        let text = tree.read(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        let stateful = lines.filter(|(_, line)| SHARED_STATE.iter().any(|mark| line.contains(mark)));
        found.extend(stateful.map(|(number, line)| format!("{path}:{}: {}", number + 1, line.trim())));
    }
    found
}

/// Source files with more lines than `lines_max`, longest first.
pub fn long_files(tree: &dyn Tree, lines_max: usize) -> Vec<(String, usize)> {
    let is_source = |path: &String| SOURCE_ENDINGS.iter().any(|ending| path.ends_with(ending));
    let mut long: Vec<(String, usize)> = tree
        .files_below("")
        .into_iter()
        .filter(is_source)
        .filter_map(|path| tree.read(&path).map(|text| (path, text.lines().count())))
        .filter(|(_, lines)| *lines > lines_max)
        .collect();
    long.sort_by_key(|(path, lines)| (usize::MAX - lines, path.clone()));
    long
}

/// Top-level modules of a crate's sources that the text has no `` `module` `` for, so that a map of the code stays whole.
pub fn modules_not_in(text: &str, tree: &dyn Tree, sources: &str) -> Vec<String> {
    let is_root = |name: &&str| !matches!(*name, "lib" | "main");
    let files = tree.files_below(sources);
    let modules: BTreeSet<&str> = files
        .iter()
        .filter_map(|path| path.strip_prefix(sources)?.trim_start_matches('/').split(['/', '.']).next())
        .filter(is_root)
        .collect();
    let absent = modules.into_iter().filter(|module| !text.contains(&format!("`{module}`")));
    absent.map(|module| format!("{sources}: `{module}`")).collect()
}
