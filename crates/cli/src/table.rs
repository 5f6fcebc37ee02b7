//! Tables for a terminal: text to the left, figures to the right.

use std::fmt;

/// Rows under a header.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(header: &[&str]) -> Table {
        Table { rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether every cell under the header of a column is a number.
    fn has_figures(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().skip(1).filter_map(|row| row.get(column));
        cells.all(|cell| cell.parse::<f64>().is_ok())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let has_figures: Vec<bool> = (0..columns).map(|column| self.has_figures(column)).collect();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((cell, &width), &is_figure) in row.iter().zip(&widths).zip(&has_figures) {
                line += &match is_figure {
                    true => format!("  {cell:>width$}"),
                    false => format!("  {cell:<width$}"),
                };
            }
            writeln!(formatter, "{}", line.trim_end())?;
            if index == 0 {
                let total = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
                writeln!(formatter, "  {}", "-".repeat(total))?;
            }
        }
        Ok(())
    }
}

/// A figure with as many decimals as it deserves.
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        size if size == size.trunc() || size >= 1_000.0 => 0,
        size if size >= 100.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_under_their_widest_cell() {
        let mut table = Table::new(&["name", "n"]);
        table.row(["a".to_owned(), "1234".to_owned()]);
        table.row(["longer".to_owned(), "5".to_owned()]);
        let expected = "  name       n\n  ------------\n  a       1234\n  longer     5\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn text_stands_to_the_left_in_every_column_and_lines_end_with_it() {
        let mut table = Table::new(&["measure", "value", "unit"]);
        table.row(["time".to_owned(), "12.5".to_owned(), "ms".to_owned()]);
        table.row(["count".to_owned(), "7".to_owned(), String::new()]);
        let expected =
            "  measure  value  unit\n  --------------------\n  time      12.5  ms\n  count        7\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn figures_keep_a_sensible_precision() {
        assert_eq!([0.0, 3.0, 1.256, 312.34, 45_678.9].map(figure), ["0", "3", "1.26", "312.3", "45679"]);
    }
}
