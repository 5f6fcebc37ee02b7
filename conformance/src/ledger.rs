//! The requirement ledger: every statement of the source designs, and what became of it.
//!
//! A requirement can be forgotten in two ways: nobody builds it, or somebody once built it and the proof disappeared.
//! `requirements.toml` gives each id exactly one status, and [`problems`] finds ids that are missing, invented, out of
//! order, given two statuses, or proven by something that does not exist:
//!
//! ```text
//! "U-3.7.2" = { says = "...", proven = ["crates/proto/tests/validate.rs::undersize_is_refused"] }
//! "U-4.1.1" = { says = "...", planned = "bricks" }
//! "B-V.1.2" = { says = "...", superseded = { by = "X-B23", because = "..." } }
//! ```
//!
//! `corrected_by` names the contradictions whose correction is what is built in place of the statement's own numbers.

use crate::evidence::{Evidence, anchors};
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::fmt;
use toml::Value;

/// The longest paraphrase: one line of a table.
const PARAPHRASE_CHARS_MAX: usize = 100;

/// Where decisions are written down that a `superseded` entry may name.
const DECISIONS: &str = "ARCHITECTURE.md";

/// The ledger as written, with every entry in one of the three allowed shapes.
#[derive(Debug, Clone)]
pub struct Ledger {
    capabilities: Vec<String>,
    entries: Vec<Entry>,
}

/// One requirement.
#[derive(Debug, Clone)]
struct Entry {
    id: String,
    status: Status,
    corrected_by: Vec<String>,
}

/// What became of a requirement.
#[derive(Debug, Clone)]
enum Status {
    Proven(Vec<Evidence>),
    Planned { capability: String },
    Superseded { by: String },
}

/// How many requirements have which status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Requirements whose evidence is in the tree.
    pub proven: usize,
    /// Requirements that a capability will bring, by capability.
    pub planned: BTreeMap<String, usize>,
    /// Requirements that will not be built as stated.
    pub superseded: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let planned: usize = self.planned.values().sum();
        writeln!(out, "{} proven, {planned} planned, {} superseded", self.proven, self.superseded)?;
        self.planned.iter().try_for_each(|(capability, count)| writeln!(out, "  {count:>4} {capability}"))
    }
}

impl Ledger {
    /// Reads the ledger; every entry that has not one of the allowed shapes is a problem.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let root: toml::Table = text.parse().map_err(|error| vec![format!("requirements.toml: {error}")])?;
        let table = |name: &str| root.get(name).and_then(Value::as_table).cloned().unwrap_or_default();
        let capabilities = table("capabilities").keys().cloned().collect();
        let mut entries = Vec::new();
        let mut problems = Vec::new();
        for (id, fields) in &table("requirements") {
            match Entry::parse(id, fields) {
                Ok(entry) => entries.push(entry),
                Err(problem) => problems.push(format!("{id}: {problem}")),
            }
        }
        if problems.is_empty() { Ok(Self { capabilities, entries }) } else { Err(problems) }
    }

    /// Counts the statuses.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for entry in &self.entries {
            match &entry.status {
                Status::Proven(_) => summary.proven += 1,
                Status::Planned { capability } => {
                    *summary.planned.entry(capability.clone()).or_default() += 1
                }
                Status::Superseded { .. } => summary.superseded += 1,
            }
        }
        summary
    }
}

impl Entry {
    fn parse(id: &str, fields: &Value) -> Result<Self, String> {
        let fields = fields.as_table().ok_or("is not a table")?;
        if let Some(unknown) = fields
            .keys()
            .find(|key| !["says", "proven", "planned", "superseded", "corrected_by"].contains(&key.as_str()))
        {
            return Err(format!("unknown field `{unknown}`"));
        }
        let says = fields.get("says").and_then(Value::as_str).unwrap_or("").trim();
        if says.is_empty() || says.chars().count() > PARAPHRASE_CHARS_MAX {
            return Err(format!("`says` must have 1 to {PARAPHRASE_CHARS_MAX} characters"));
        }
        let corrected_by = match fields.get("corrected_by") {
            Some(value) => strings(value).ok_or("`corrected_by` must be a list of X- ids")?,
            None => Vec::new(),
        };
        let status = match (fields.get("proven"), fields.get("planned"), fields.get("superseded")) {
            (Some(proven), None, None) => proven_status(proven)?,
            (None, Some(planned), None) => {
                let capability = planned.as_str().ok_or("`planned` must name a capability")?;
                Status::Planned { capability: capability.to_owned() }
            }
            (None, None, Some(superseded)) => superseded_status(superseded)?,
            _ => return Err("needs exactly one of proven, planned, superseded".to_owned()),
        };
        Ok(Self { id: id.to_owned(), status, corrected_by })
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn proven_status(value: &Value) -> Result<Status, String> {
    let names = strings(value).ok_or("`proven` must be a list of at least one test, figure or section")?;
    names.iter().map(|name| Evidence::parse(name)).collect::<Result<_, _>>().map(Status::Proven)
}

fn superseded_status(value: &Value) -> Result<Status, String> {
    let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("").trim();
    if field("by").is_empty() || field("because").is_empty() {
        return Err("`superseded` needs `by` and `because`".to_owned());
    }
    Ok(Status::Superseded { by: field("by").to_owned() })
}

/// Everything that is wrong with a ledger, given the ids it must hold in this order, the known contradictions, and
/// the tree that its evidence lives in.
pub fn problems(ledger: &Ledger, ids: &[&str], contradictions: &[&str], tree: &dyn Tree) -> Vec<String> {
    let mut problems = id_problems(ledger, ids);
    for entry in &ledger.entries {
        let unknown = entry.corrected_by.iter().filter(|by| !contradictions.contains(&by.as_str()));
        problems.extend(unknown.map(|by| format!("{}: corrected by unknown {by}", entry.id)));
        match &entry.status {
            Status::Proven(evidence) => {
                let missing = evidence.iter().filter_map(|evidence| evidence.missing_from(tree));
                problems.extend(missing.map(|what| format!("{}: {what}", entry.id)));
            }
            Status::Planned { capability } if !ledger.capabilities.contains(capability) => {
                problems.push(format!("{}: unknown capability `{capability}`", entry.id));
            }
            Status::Planned { .. } => {}
            Status::Superseded { by } => {
                let reason = supersession_problem(by, contradictions, tree);
                problems.extend(reason.map(|reason| format!("{}: {reason}", entry.id)));
            }
        }
    }
    problems
}

fn id_problems(ledger: &Ledger, ids: &[&str]) -> Vec<String> {
    let held: Vec<&str> = ledger.entries.iter().map(|entry| entry.id.as_str()).collect();
    let missing =
        ids.iter().filter(|id| !held.contains(id)).map(|id| format!("{id}: missing from the ledger"));
    let invented = held.iter().filter(|id| !ids.contains(id)).map(|id| format!("{id}: not a requirement"));
    let mut problems: Vec<String> = missing.chain(invented).collect();
    if problems.is_empty()
        && let Some((_, id)) = ids.iter().zip(&held).find(|(expected, found)| expected != found)
    {
        problems.push(format!("{id}: out of order"));
    }
    problems
}

fn supersession_problem(by: &str, contradictions: &[&str], tree: &dyn Tree) -> Option<String> {
    let Some(decision) = by.strip_prefix("DESIGN: ") else {
        return (!contradictions.contains(&by)).then(|| format!("superseded by unknown `{by}`"));
    };
    let headings = tree.read(DECISIONS).map(|text| anchors(&text)).unwrap_or_default();
    let anchor = anchors(&format!("# {decision}"));
    (!anchor.iter().all(|anchor| headings.contains(anchor)))
        .then(|| format!("superseded by a decision without a heading in {DECISIONS}: `{decision}`"))
}
