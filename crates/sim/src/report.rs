//! What a run measured, and what many runs measured together.

/// One measured value of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// What was measured.
    pub name: &'static str,
    /// Its unit, empty for counts.
    pub unit: &'static str,
    /// The value.
    pub value: f64,
}

/// What a cell of a table means for many runs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// All of them together.
    Sum,
    /// The middle of all.
    Mean,
    /// The largest.
    Max,
}

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    row: &'static str,
    column: &'static str,
    fold: Fold,
    value: f64,
    /// How many runs are in it.
    runs: u32,
}

/// What one run measured, in the order in which it was added.
#[derive(Clone, Debug, Default)]
pub struct Report {
    measures: Vec<Measure>,
    cells: Vec<Cell>,
}

impl Report {
    /// An empty report.
    pub fn new() -> Report {
        Report::default()
    }

    /// Adds a value.
    pub fn add(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.measures.push(Measure { name, unit, value });
    }

    /// Adds a value to the table of the run: for what is measured of several that are to be compared.
    pub fn add_cell(&mut self, row: &'static str, column: &'static str, fold: Fold, value: f64) {
        self.cells.push(Cell { row, column, fold, value, runs: 1 });
    }

    /// The values.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// The value of a name, if it was added.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.measures.iter().find(|measure| measure.name == name).map(|measure| measure.value)
    }

    /// Takes the values out.
    pub fn into_measures(self) -> Vec<Measure> {
        self.measures
    }
}

/// One name's values over many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// What was measured.
    pub name: &'static str,
    /// Its unit, empty for counts.
    pub unit: &'static str,
    values: Vec<f64>,
}

impl SummaryRow {
    /// The value below which the given share of the runs lies; zero if there were none.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.values, share)
    }
}

/// Values over many runs, by name, in the order of their first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    rows: Vec<SummaryRow>,
    cells: Vec<Cell>,
}

impl Summary {
    /// Adds one run.
    pub fn add(&mut self, report: &Report) {
        for measure in &report.measures {
            let row = match self.rows.iter().position(|row| row.name == measure.name) {
                Some(place) => &mut self.rows[place],
                None => {
                    self.rows.push(SummaryRow { name: measure.name, unit: measure.unit, values: Vec::new() });
                    self.rows.last_mut().expect("a row was just added")
                }
            };
            row.values.push(measure.value);
        }
        for cell in &report.cells {
            let is_same = |known: &&mut Cell| (known.row, known.column) == (cell.row, cell.column);
            let Some(known) = self.cells.iter_mut().find(is_same) else {
                self.cells.push(*cell);
                continue;
            };
            known.runs += 1;
            known.value = match cell.fold {
                Fold::Sum => known.value + cell.value,
                Fold::Mean => known.value + (cell.value - known.value) / f64::from(known.runs),
                Fold::Max => known.value.max(cell.value),
            };
        }
    }

    /// The columns of the table, if the scenario has one.
    pub fn columns(&self) -> Vec<&'static str> {
        in_order(self.cells.iter().map(|cell| cell.column))
    }

    /// The rows of the table, each with a value for each column.
    pub fn table(&self) -> Vec<(&'static str, Vec<Option<f64>>)> {
        let columns = self.columns();
        let value = |row, column| {
            self.cells.iter().find(|cell| (cell.row, cell.column) == (row, column)).map(|cell| cell.value)
        };
        let rows = in_order(self.cells.iter().map(|cell| cell.row)).into_iter();
        rows.map(|row| (row, columns.iter().map(|column| value(row, *column)).collect())).collect()
    }

    /// The rows.
    pub fn rows(&self) -> &[SummaryRow] {
        &self.rows
    }
}

/// Each name once, in the order of first appearance.
fn in_order(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// The nearest-rank quantile of unsorted values; zero if there are none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!([0.0, 0.5, 0.95, 1.0].map(|share| quantile(&values, share)), [1.0, 50.0, 95.0, 100.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[3.0], 0.99), 3.0);
    }

    #[test]
    fn a_summary_groups_by_name_and_keeps_first_appearance_order() {
        let mut summary = Summary::default();
        for value in [3.0, 1.0, 2.0] {
            let mut report = Report::new();
            report.add("rtt", "ms", value);
            report.add("loss", "%", 10.0 * value);
            summary.add(&report);
        }
        let rows: Vec<_> =
            summary.rows().iter().map(|row| (row.name, row.quantile(0.5), row.quantile(1.0))).collect();
        assert_eq!(rows, [("rtt", 2.0, 3.0), ("loss", 20.0, 30.0)]);
    }

    #[test]
    fn a_table_folds_each_cell_as_it_was_said() {
        let mut summary = Summary::default();
        for value in [3.0, 1.0, 5.0] {
            let mut report = Report::new();
            report.add_cell("near", "shots", Fold::Sum, value);
            report.add_cell("near", "rate", Fold::Mean, value);
            report.add_cell("far", "rate", Fold::Max, value);
            summary.add(&report);
        }
        assert_eq!(summary.columns(), ["shots", "rate"]);
        assert_eq!(summary.table(), [("near", vec![Some(9.0), Some(3.0)]), ("far", vec![None, Some(5.0)])]);
    }
}
