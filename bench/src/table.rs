//! What a suite hands back, and its two faces: a table for people and one JSON line for programs.
//!
//! ```text
//!   Row  = label, unit, target | one figure per column, each with its JSON key
//!          ^ for people          ^ for both
//! ```
//!
//! A figure is written down once, with its key, so that the table and the JSON can never disagree.

use std::fmt::Write as _;

/// A measured value under the key by which programs read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The key in the JSON object.
    pub key: &'static str,
    /// The value, in the unit of its row.
    pub value: f64,
}

impl Figure {
    /// `value` under `key`, as a row takes it: a figure that exists.
    pub fn new(key: &'static str, value: f64) -> Option<Figure> {
        Some(Figure { key, value })
    }
}

/// What Netloom's own figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Nothing is asked; the row informs.
    None,
    /// At most this much.
    AtMost(f64),
}

/// One line: the same measurement for every column.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is measured, for people.
    pub label: &'static str,
    /// The unit of all figures of the row.
    pub unit: &'static str,
    /// Decimals shown in the table.
    pub decimals: usize,
    /// What the first column should reach.
    pub target: Target,
    /// One figure per column of the report, Netloom's first; `None` where the measurement does not apply.
    pub figures: Vec<Option<Figure>>,
}

/// The result of a suite.
#[derive(Clone, Debug)]
pub struct Report {
    /// The line above the table.
    pub title: String,
    /// Who is measured, Netloom first.
    pub columns: Vec<&'static str>,
    /// The measurements.
    pub rows: Vec<Row>,
    /// What a reader must know to judge the figures.
    pub notes: Vec<String>,
}

impl Report {
    /// The table with its notes, ending in a newline.
    pub fn table(&self) -> String {
        let mut lines = vec![self.header()];
        lines.extend(self.rows.iter().map(|row| self.cells(row)));
        let columns = lines[0].len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();

        let mut text = format!("{}\n\n", self.title);
        for (index, line) in lines.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                // Words are read from the left, numbers from the right.
                let _ = if column < 2 {
                    write!(text, "{cell:<width$}  ")
                } else {
                    write!(text, "{cell:>width$}  ")
                };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                let _ = writeln!(text, "{}", rule.join("  "));
            }
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}");
        }
        text.push('\n');
        text
    }

    /// Exactly one flat JSON object, without a line break: key → number, or null where a figure is not finite.
    pub fn json_line(&self) -> String {
        let figures = self.rows.iter().flat_map(|row| row.figures.iter().flatten());
        let members: Vec<String> = figures
            .map(|figure| match figure.value.is_finite() {
                true => format!("\"{}\":{}", figure.key, rounded(figure.value)),
                false => format!("\"{}\":null", figure.key),
            })
            .collect();
        format!("{{{}}}", members.join(","))
    }

    fn header(&self) -> Vec<String> {
        let mut cells = vec!["measurement".to_string(), "unit".to_string()];
        cells.extend(self.columns.iter().map(|column| column.to_string()));
        cells.extend(["target".to_string(), "verdict".to_string()]);
        cells
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let decimals = row.decimals;
        let mut cells = vec![row.label.to_string(), row.unit.to_string()];
        for column in 0..self.columns.len() {
            let figure = row.figures.get(column).copied().flatten();
            cells.push(figure.map_or("-".to_string(), |figure| format!("{:.decimals$}", figure.value)));
        }
        let ours = row.figures.first().copied().flatten();
        let (target, verdict) = match (row.target, ours) {
            (Target::None, _) => (String::new(), ""),
            (Target::AtMost(most), Some(ours)) if ours.value <= most => (format!("<= {most}"), "met"),
            (Target::AtMost(most), _) => (format!("<= {most}"), "missed"),
        };
        cells.extend([target, verdict.to_string()]);
        cells
    }
}

/// Four decimals are below the noise of everything measured here; more would only pretend.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row = |label, target, figures| Row { label, unit: "ns", decimals: 1, target, figures };
        Report {
            title: "A title".into(),
            columns: vec!["netloom", "renet"],
            rows: vec![
                row("fast", Target::AtMost(40.0), vec![Figure::new("fast_ns", 12.34567), None]),
                row(
                    "slow",
                    Target::AtMost(40.0),
                    vec![Figure::new("slow_ns", 40.1), Figure::new("renet_slow_ns", 7.0)],
                ),
                row("broken", Target::AtMost(40.0), vec![Figure::new("broken_ns", f64::NAN), None]),
                row("told", Target::None, vec![Figure::new("told_ns", 0.0), None]),
            ],
            notes: vec!["A note.".into()],
        }
    }

    #[test]
    fn json_is_one_flat_object_on_one_line() {
        let line = report().json_line();
        assert!(!line.contains('\n'), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).expect("valid JSON");
        let object = value.as_object().expect("an object");
        assert_eq!(object.len(), 5, "a key per figure, none lost to a duplicate");
        assert!(object.values().all(|member| member.is_number() || member.is_null()), "flat: {line}");
        assert_eq!(object["fast_ns"], 12.3457);
        assert_eq!(object["renet_slow_ns"], 7.0);
        assert!(object["broken_ns"].is_null());
    }

    #[test]
    fn verdict_follows_the_target_and_a_figure_that_is_no_number_misses_it() {
        let table = report().table();
        let verdict = |label: &str| {
            table.lines().find(|line| line.starts_with(label)).and_then(|line| line.split_whitespace().last())
        };
        assert_eq!(verdict("fast"), Some("met"));
        assert_eq!(verdict("slow"), Some("missed"));
        assert_eq!(verdict("broken"), Some("missed"));
        assert_eq!(verdict("told"), Some("-"), "no target, no verdict");
    }

    #[test]
    fn columns_are_aligned_and_notes_come_last() {
        let table = report().table();
        let lines: Vec<&str> = table.lines().collect();
        let rule = lines.iter().position(|line| line.starts_with("---")).expect("a rule under the header");
        let end_of_ours = lines[rule - 1].find("netloom").expect("our column") + "netloom".len();
        for (line, value) in lines[rule + 1..].iter().zip(["12.3", "40.1", "NaN", "0.0"]) {
            assert!(line[..end_of_ours].ends_with(value), "{line}");
        }
        assert_eq!(lines.last(), Some(&"A note."));
    }
}
