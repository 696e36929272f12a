//! Text tables with aligned columns.

use std::io::{self, Write};

/// Rows of cells; numbers are best formatted by the caller.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    right: &'static [usize],
}

impl Table {
    /// Header, and which columns are aligned to the right.
    pub fn new(header: &[&str], right: &'static [usize]) -> Self {
        Self { rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect()], right }
    }

    /// Rows without a header.
    pub fn headless() -> Self {
        Self::default()
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes all rows, each column as wide as its widest cell.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) =
                    if self.right.contains(&column) { (&*padding, "") } else { ("", &*padding) };
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
                line.push_str("  ");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Number ⇒ about `digits` significant digits, in the shorter of plain and exponent form.
pub fn number(x: f64, digits: u8) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    // Rounded first, so that 9.9996 counts as 10.
    let rounded: f64 = format!("{x:.*e}", usize::from(digits) - 1).parse().unwrap_or(x);
    let exponent = rounded.abs().log10().floor() as i32;
    if (-4..i32::from(digits) + 3).contains(&exponent) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["name", "n"], &[1]);
        table.row(vec!["ζ".into(), "100".into()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name    n\nζ     100\n");
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (1.0 / 3.0, "0.3333"),
            (-4.905, "-4.905"),
            (123456.0, "123500"),
            (1.0e-9 / 3.0, "3.333e-10"),
            (6.02e23, "6.02e23"),
            (9.99996, "10"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x, 4), text);
        }
    }
}
