//! Tables for a terminal: the first column to the left, figures to the right.

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
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(formatter, "  {cell:<width$}")?,
                    _ => write!(formatter, "  {cell:>width$}")?,
                }
            }
            writeln!(formatter)?;
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
    fn figures_keep_a_sensible_precision() {
        assert_eq!([0.0, 3.0, 1.256, 312.34, 45_678.9].map(figure), ["0", "3", "1.26", "312.3", "45679"]);
    }
}
