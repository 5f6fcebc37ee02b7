//! Does the thing that a requirement points at exist?
//!
//! A ledger that names tests rots silently: a renamed test leaves a name behind that proves nothing. So each piece of
//! evidence is looked up in the tree:
//!
//! ```text
//! crates/proto/tests/replay.rs::late_packet_is_refused   a function under #[test] that is not ignored
//! conformance/reader/read.py::read_record                a Python function
//! docs/STANDARD.md#receiver-obligations                  a heading, by the anchor that GitHub gives it
//! bench:core:record_encode_ns                            a key that the bench's suite prints
//! ```

use crate::tree::Tree;
use std::collections::HashMap;

/// Where the benchmarks live.
const BENCH_SOURCES: &str = "bench/src";

/// What a requirement can point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A test function in a Rust file, or a function in a Python file.
    Function {
        /// The file, from the root of the repository.
        path: String,
        /// The bare name, without the modules around it.
        name: String,
    },
    /// A figure that a benchmark prints.
    Bench {
        /// The suite, as given on the bench's command line.
        suite: String,
        /// The key of the figure in the suite's JSON.
        key: String,
    },
    /// A section of a document.
    Section {
        /// The Markdown file, from the root of the repository.
        path: String,
        /// The anchor of the heading, without `#`.
        anchor: String,
    },
}

impl Evidence {
    /// Reads one of the written forms shown at the top of this module.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(bench) = text.strip_prefix("bench:") {
            return match bench.split_once(':') {
                Some((suite, key)) if !suite.is_empty() && !key.is_empty() => {
                    Ok(Self::Bench { suite: suite.to_owned(), key: key.to_owned() })
                }
                _ => Err(format!("`{text}` should read bench:<suite>:<key>")),
            };
        }
        if let Some((path, name)) = text.split_once("::") {
            // Tests are often named with the modules around them; the function's own name is the last part.
            let name = name.rsplit("::").next().unwrap_or(name);
            return match path.rsplit_once('.') {
                Some((_, "rs" | "py")) if !name.is_empty() => {
                    Ok(Self::Function { path: path.to_owned(), name: name.to_owned() })
                }
                _ => Err(format!("`{text}` should read <file.rs or file.py>::<function>")),
            };
        }
        match text.split_once('#') {
            Some((path, anchor)) if path.ends_with(".md") && !anchor.is_empty() => {
                Ok(Self::Section { path: path.to_owned(), anchor: anchor.to_owned() })
            }
            _ => Err(format!(
                "`{text}` is none of <file.rs>::<test>, <file.py>::<function>, <file.md>#<anchor>, bench:<suite>:<key>"
            )),
        }
    }

    /// Says what is missing, or nothing when the evidence is there.
    pub fn missing_from(&self, tree: &dyn Tree) -> Option<String> {
        match self {
            Self::Function { path, name } => missing_function(tree, path, name),
            Self::Bench { suite, key } => missing_figure(tree, suite, key),
            Self::Section { path, anchor } => missing_section(tree, path, anchor),
        }
    }
}

fn missing_function(tree: &dyn Tree, path: &str, name: &str) -> Option<String> {
    let Some(text) = tree.read(path) else {
        return Some(format!("no file {path}"));
    };
    let found = match path.ends_with(".py") {
        true => text.lines().any(|line| declares(line, "def", name)),
        false => has_rust_test(&text, name),
    };
    (!found).then(|| format!("no test `{name}` in {path}"))
}

/// Whether a line declares a function of exactly this name with this keyword.
fn declares(line: &str, keyword: &str, name: &str) -> bool {
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        if word == keyword {
            let declared = words.next().unwrap_or("");
            let end = declared.find(['(', '<']).unwrap_or(declared.len());
            return declared.get(..end) == Some(name);
        }
    }
    false
}

/// A test counts only when it runs: `#[test]` stands in the lines right above it and `#[ignore]` does not. The same
/// form covers tests inside `proptest!`, which carry the attribute too.
fn has_rust_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    (0..lines.len()).filter(|&at| !lines[at].starts_with("//") && declares(lines[at], "fn", name)).any(|at| {
        let own_line = std::iter::once(lines[at]);
        let above = lines[..at]
            .iter()
            .rev()
            .copied()
            .take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let attributes: Vec<&str> = own_line.chain(above).filter(|line| line.starts_with("#[")).collect();
        attributes.iter().any(|line| line.contains("#[test]"))
            && !attributes.iter().any(|line| line.contains("#[ignore"))
    })
}

fn missing_figure(tree: &dyn Tree, suite: &str, key: &str) -> Option<String> {
    let files = tree.files_below(BENCH_SOURCES);
    let is_suite = |path: &String| {
        path.trim_start_matches(BENCH_SOURCES).trim_end_matches(".rs").split('/').any(|part| part == suite)
    };
    if !files.iter().any(is_suite) {
        return Some(format!("no suite `{suite}` in {BENCH_SOURCES}"));
    }
    let quoted = format!("\"{key}\"");
    let found = files.iter().any(|path| tree.read(path).is_some_and(|text| text.contains(&quoted)));
    (!found).then(|| format!("no figure `{key}` in {BENCH_SOURCES}"))
}

fn missing_section(tree: &dyn Tree, path: &str, anchor: &str) -> Option<String> {
    let Some(text) = tree.read(path) else {
        return Some(format!("no file {path}"));
    };
    (!anchors(&text).iter().any(|known| known == anchor)).then(|| format!("no heading #{anchor} in {path}"))
}

/// The anchors of a Markdown text's headings: lower case, punctuation dropped, blanks to hyphens, and a running
/// number on repeated ones, as GitHub does it.
pub fn anchors(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let level = line.chars().take_while(|&letter| letter == '#').count();
        let heading = line.get(level..).unwrap_or("");
        if fenced || !(1..=6).contains(&level) || !heading.starts_with(' ') {
            continue;
        }
        let slug: String = heading
            .trim()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .flat_map(char::to_lowercase)
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let repeats = seen.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(0);
        found.push(if *repeats == 0 { slug } else { format!("{slug}-{repeats}") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn missing(evidence: &str) -> Option<String> {
        let tree = BTreeMap::from([
            (
                "a/tests/x.rs",
                "/// Says why.\n#[test]\nfn real() {}\n\nfn helper() {}\n\n#[test]\n#[ignore]\nfn slow() {}\n\
                 // fn commented() {}\nproptest! {\n    #[test]\n    fn any(value in 0..3u8) {}\n}\n\
                 mod tests {\n    #[test]\n    fn real_longer() {}\n}\n#[test] fn same_line() {}\n",
            ),
            ("reader/read.py", "def read_record(bits):\n    pass\n"),
            (
                "docs/S.md",
                "# Part I: encodings\n```text\n# not a heading\n```\n## Bits\n## Bits\n## `Name`s & `ids`\n",
            ),
            ("bench/src/core.rs", "row(\"record_encode_ns\")"),
        ]);
        Evidence::parse(evidence).unwrap().missing_from(&tree)
    }

    #[test]
    fn evidence_that_exists_is_found() {
        for evidence in [
            "a/tests/x.rs::real",
            "a/tests/x.rs::tests::real_longer",
            "a/tests/x.rs::any",
            "a/tests/x.rs::same_line",
            "reader/read.py::read_record",
            "docs/S.md#part-i-encodings",
            "docs/S.md#bits",
            "docs/S.md#bits-1",
            "docs/S.md#names--ids",
            "bench:core:record_encode_ns",
        ] {
            assert_eq!(missing(evidence), None, "{evidence}");
        }
    }

    #[test]
    fn evidence_that_does_not_exist_is_named() {
        for (evidence, says) in [
            ("a/tests/gone.rs::real", "no file a/tests/gone.rs"),
            ("a/tests/x.rs::rea", "no test `rea`"),
            ("a/tests/x.rs::helper", "no test `helper`"),
            ("a/tests/x.rs::slow", "no test `slow`"),
            ("a/tests/x.rs::commented", "no test `commented`"),
            ("reader/read.py::read_rec", "no test `read_rec`"),
            ("docs/S.md#not-a-heading", "no heading #not-a-heading"),
            ("docs/S.md#bits-2", "no heading #bits-2"),
            ("bench:core:record_encode", "no figure `record_encode`"),
            ("bench:crowd:record_encode_ns", "no suite `crowd`"),
        ] {
            let found = missing(evidence).unwrap_or_else(|| panic!("{evidence} was taken for real"));
            assert!(found.starts_with(says), "{evidence}: {found}");
        }
    }

    #[test]
    fn forms_that_nothing_can_look_up_are_refused() {
        for text in
            ["it works", "bench:core", "bench::key", "a/x.rs::", "a/x.toml::name", "docs/S.md#", "docs/S.md"]
        {
            assert!(Evidence::parse(text).is_err(), "{text}");
        }
    }
}
