//! Counts: the file, and the comparison.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use toml::{Table, Value};

/// How much more or less than written down is as good as equal, in percent.
const TOLERANCE_PERCENT: u128 = 5;

const HEAD: &str = "\
# Instructions of the programs of bench/instructions, as callgrind counts them. Written by
#   cargo run --release -p netloom-instructions -- write
# and compared by ./test, which takes 5 % more or less for equal.
";

/// How many instructions each program takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What compiled them.
    pub compiler: String,
    pub instructions: BTreeMap<String, u64>,
}

/// What a count is beside the one that is written down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// About the same; both counts.
    Same(u64, u64),
    Slower(u64, u64),
    Faster(u64, u64),
    /// Nothing is written down.
    Unknown,
    /// It is written down, and there is no such program.
    Gone,
}

impl Counts {
    /// None yet, of programs of this compiler.
    pub fn of_this_compiler() -> Counts {
        let asked = Command::new("rustc").arg("--version").output().ok();
        let compiler = asked.map(|asked| String::from_utf8_lossy(&asked.stdout).trim().to_owned());
        Counts { compiler: compiler.unwrap_or_default(), ..Counts::default() }
    }

    /// Those of a file.
    pub fn read(path: &Path) -> Result<Counts, String> {
        let text = fs::read_to_string(path).map_err(|error| {
            format!("{} cannot be read: {error}. Run this in the repository's folder", path.display())
        })?;
        Counts::parse(&text).map_err(|what| format!("{}: {what}", path.display()))
    }

    fn parse(text: &str) -> Result<Counts, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let compiler = table.get("compiler").and_then(Value::as_str).unwrap_or_default().to_owned();
        let counts = table.get("instructions").and_then(Value::as_table);
        let counts = counts.ok_or("there is no section [instructions]")?;
        let count = |(name, value): (&String, &Value)| {
            let count = value.as_integer().and_then(|count| u64::try_from(count).ok());
            count.filter(|count| *count > 0).map(|count| (name.clone(), count)).ok_or_else(|| {
                format!(
                    "{name} = {value}: instructions are a whole number above 0; `write` makes the file anew"
                )
            })
        };
        Ok(Counts { compiler, instructions: counts.iter().map(count).collect::<Result<_, _>>()? })
    }

    /// Writes them to a file.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        fs::write(path, self.render())
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    fn render(&self) -> String {
        let counts = self.instructions.iter().map(|(name, count)| format!("{name} = {count}\n"));
        format!("{HEAD}compiler = {:?}\n\n[instructions]\n{}", self.compiler, counts.collect::<String>())
    }

    /// What the counts of now are beside these.
    pub fn compare<'a>(&'a self, now: &'a Counts) -> impl Iterator<Item = (&'a str, Verdict)> {
        let gone = self.instructions.keys().filter(|name| !now.instructions.contains_key(*name));
        let gone = gone.map(|name| (&**name, Verdict::Gone));
        let there = now.instructions.iter().map(|(name, &count)| {
            (&**name, self.instructions.get(name).map_or(Verdict::Unknown, |&before| verdict(before, count)))
        });
        there.chain(gone)
    }
}

/// What a count is beside the one before.
pub fn verdict(before: u64, now: u64) -> Verdict {
    let allowed = |percent: u128| u128::from(before) * percent;
    if 100 * u128::from(now) > allowed(100 + TOLERANCE_PERCENT) {
        Verdict::Slower(before, now)
    } else if 100 * u128::from(now) < allowed(100 - TOLERANCE_PERCENT) {
        Verdict::Faster(before, now)
    } else {
        Verdict::Same(before, now)
    }
}

fn percent(before: u64, now: u64) -> f64 {
    100.0 * (now as f64 / before as f64 - 1.0)
}

impl Verdict {
    /// Whether nothing is to be done.
    pub fn is_good(&self) -> bool {
        matches!(self, Verdict::Same(..))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, before, now) = match *self {
            Verdict::Same(before, now) => ("as before", before, now),
            Verdict::Slower(before, now) => ("SLOWER than written down", before, now),
            Verdict::Faster(before, now) => ("FASTER than written down: write that down", before, now),
            Verdict::Unknown => return write!(f, "NOT written down yet"),
            Verdict::Gone => return write!(f, "is written down, and there is NO such program"),
        };
        write!(f, "{now:>12} instructions, {:+.1} %: {word}", percent(before, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        let instructions = pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Counts { compiler: String::from("rustc 1"), instructions }
    }

    #[test]
    fn five_percent_either_way_are_as_good_as_equal_and_nothing_beyond() {
        for (now, good) in [(1_000, true), (1_050, true), (951, true), (1_051, false), (949, false)] {
            assert_eq!(verdict(1_000, now).is_good(), good, "{now}");
        }
        assert_eq!(verdict(1_000, 1_100), Verdict::Slower(1_000, 1_100));
        assert_eq!(verdict(1_000, 900), Verdict::Faster(1_000, 900));
    }

    #[test]
    fn programs_that_only_one_side_knows_are_noticed() {
        let (before, now) = (counts(&[("old", 1), ("same", 7)]), counts(&[("new", 2), ("same", 7)]));
        let verdicts: Vec<_> = before.compare(&now).collect();
        assert_eq!(
            verdicts,
            [("new", Verdict::Unknown), ("same", Verdict::Same(7, 7)), ("old", Verdict::Gone)]
        );
    }

    #[test]
    fn what_is_written_can_be_read_and_what_cannot_says_why() {
        let all = counts(&[("decode", 5), ("encode", 7)]);
        assert_eq!(Counts::parse(&all.render()), Ok(all));
        for (text, part) in [
            ("x", "expected"),
            ("a = 1", "[instructions]"),
            ("[instructions]\nencode = 0", "above 0"),
            ("[instructions]\nencode = \"many\"", "whole number"),
        ] {
            let said = Counts::parse(text).unwrap_err();
            assert!(said.contains(part), "{text:?}: {said}");
        }
    }
}
