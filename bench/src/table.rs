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

/// A table of its own below the rows: how figures grow with something.
#[derive(Clone, Debug)]
pub struct Series {
    /// The line above it.
    pub title: String,
    /// The head of the names, and the name of each line; `None` if numbers say which line it is.
    pub names: Option<(&'static str, Vec<String>)>,
    /// The head of each column, and the decimals shown below it.
    pub columns: Vec<(&'static str, usize)>,
    /// The lines, a cell per column.
    pub lines: Vec<Vec<Cell>>,
}

/// One value of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The key in the JSON object; `None` for a value that only says where its line is.
    pub key: Option<String>,
    /// The value, in the unit of its column.
    pub value: f64,
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
    /// How some of them grow.
    pub series: Vec<Series>,
    /// What a reader must know to judge the figures.
    pub notes: Vec<String>,
}

impl Report {
    /// The table with its series and notes, ending in a newline.
    pub fn table(&self) -> String {
        let mut lines = vec![self.header()];
        lines.extend(self.rows.iter().map(|row| self.cells(row)));
        let mut text = format!("{}\n\n", self.title);
        write_aligned(&lines, 2, &mut text);
        for series in &self.series {
            let _ = write!(text, "\n{}\n\n", series.title);
            write_aligned(&series.cells(), usize::from(series.names.is_some()), &mut text);
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
        let figures = figures.map(|figure| (figure.key, figure.value));
        let cells = self.series.iter().flat_map(|series| series.lines.iter().flatten());
        let cells = cells.filter_map(|cell| Some((cell.key.as_deref()?, cell.value)));
        let members: Vec<String> = figures
            .chain(cells)
            .map(|(key, value)| match value.is_finite() {
                true => format!("\"{key}\":{}", rounded(value)),
                false => format!("\"{key}\":null"),
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

impl Series {
    fn cells(&self) -> Vec<Vec<String>> {
        let mut lines = vec![self.columns.iter().map(|(head, _)| head.to_string()).collect()];
        lines.extend(self.lines.iter().map(|line| {
            let cells = line.iter().zip(&self.columns);
            cells.map(|(cell, &(_, decimals))| format!("{:.decimals$}", cell.value)).collect()
        }));
        if let Some((head, names)) = &self.names {
            let names = std::iter::once(head.to_string()).chain(names.iter().cloned());
            lines
                .iter_mut()
                .zip(names)
                .for_each(|(line, name): (&mut Vec<String>, String)| line.insert(0, name));
        }
        lines
    }
}

/// Writes lines with a rule under the first. Words, the first `words` columns, are read from the left, numbers from
/// the right.
fn write_aligned(lines: &[Vec<String>], words: usize, text: &mut String) {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    for (index, line) in lines.iter().enumerate() {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            let _ = match column < words {
                true => write!(text, "{cell:<width$}  "),
                false => write!(text, "{cell:>width$}  "),
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "{}", rule.join("  "));
        }
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
            series: vec![Series {
                title: "Growth".into(),
                names: None,
                columns: vec![("peers", 0), ("us", 1)],
                lines: [(1.0, "peers_1_us", 0.25), (100.0, "peers_100_us", 12.5)]
                    .map(|(peers, key, us)| {
                        vec![Cell { key: None, value: peers }, Cell { key: Some(key.into()), value: us }]
                    })
                    .to_vec(),
            }],
            notes: vec!["A note.".into()],
        }
    }

    #[test]
    fn json_is_one_flat_object_on_one_line() {
        let line = report().json_line();
        assert!(!line.contains('\n'), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).expect("valid JSON");
        let object = value.as_object().expect("an object");
        assert_eq!(object.len(), 7, "a key per figure and keyed cell, none lost to a duplicate");
        assert_eq!(object["peers_100_us"], 12.5);
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
    fn a_series_stands_below_the_rows_with_its_own_columns() {
        let table = report().table();
        let below = table.split("Growth\n\n").nth(1).expect("the series");
        let lines: Vec<&str> = below.lines().take(4).collect();
        assert_eq!(lines, ["peers    us", "-----  ----", "    1   0.2", "  100  12.5"]);
    }

    #[test]
    fn the_lines_of_a_series_may_have_names() {
        let mut report = report();
        report.series[0].names = Some(("where", vec!["here".into(), "there".into()]));
        let table = report.table();
        let below = table.split("Growth\n\n").nth(1).expect("the series");
        let lines: Vec<&str> = below.lines().take(4).collect();
        assert_eq!(
            lines,
            ["where  peers    us", "-----  -----  ----", "here       1   0.2", "there    100  12.5"]
        );
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
