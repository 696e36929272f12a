//! The measurements of the source: four parts, dropped and counted (Mirtich 1996, 7.5; Mirtich, Zhuang, Goldberg, Craig, Zanutta, Carlisle, Canny 1996).
//!
//! e = 100 Σ p_i |a_i − p_i| is the error of an estimate a against measured shares p: mean deviation, weighted by how often a pose occurs, in percent.

/// Shares of poses of one part, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceTable {
    /// Part.
    pub part: &'static str,
    /// Number of physical drops.
    pub trials: u32,
    /// Quasi-static, perturbed, dynamic, physical: a row for each pose.
    pub rows: &'static [[f64; 4]],
    /// Printed errors of the first three columns.
    pub errors: [f64; 3],
}

/// The four tables.
pub const SOURCE_TABLES: [SourceTable; 4] = [
    SourceTable {
        part: "orange insulator cap",
        trials: 1036,
        rows: &[
            [30.5, 46.5, 41.9, 46.0],
            [37.3, 30.2, 26.2, 27.1],
            [19.6, 19.8, 28.3, 19.7],
            [8.3, 3.5, 3.0, 5.0],
            [4.2, 0.0, 0.8, 2.2],
        ],
        errors: [10.1, 1.2, 4.0],
    },
    SourceTable {
        part: "white stereo button",
        trials: 545,
        rows: &[
            [34.5, 48.8, 71.7, 75.8],
            [39.9, 30.6, 20.9, 13.8],
            [19.2, 20.5, 7.4, 10.5],
            [6.3, 0.0, 0.1, 0.0],
        ],
        errors: [35.8, 23.8, 4.4],
    },
    SourceTable {
        part: "rectangular black stereo button",
        trials: 1099,
        rows: &[
            [36.2, 47.3, 54.1, 56.0],
            [16.0, 25.5, 24.1, 24.5],
            [17.4, 17.0, 14.0, 13.6],
            [8.1, 1.2, 1.4, 4.4],
            [10.6, 4.5, 5.3, 1.4],
            [7.5, 4.4, 1.0, 0.3],
            [4.3, 0.0, 0.3, 0.0],
        ],
        errors: [14.0, 5.8, 1.4],
    },
    SourceTable {
        part: "square black stereo button",
        trials: 915,
        rows: &[
            [35.7, 46.6, 68.4, 62.2],
            [17.5, 15.5, 16.6, 15.2],
            [12.1, 17.0, 6.1, 11.0],
            [7.2, 8.6, 6.0, 4.7],
            [3.9, 1.6, 2.7, 3.1],
            [5.6, 1.5, 0.0, 2.8],
            [3.8, 3.9, 0.3, 0.5],
            [4.2, 1.7, 0.0, 0.0],
            [3.0, 2.3, 0.0, 0.0],
            [2.6, 0.7, 0.0, 0.0],
            [2.2, 0.0, 0.0, 0.0],
            [2.1, 0.5, 0.0, 0.0],
        ],
        errors: [17.2, 10.7, 4.8],
    },
];

/// (estimated shares a, measured shares p; fractions) ⇒ e = 100 Σ p |a − p|, percent.
pub fn pose_error(estimated: &[f64], measured: &[f64]) -> f64 {
    100.0 * estimated.iter().zip(measured).map(|(a, p)| p * (a - p).abs()).sum::<f64>()
}

impl SourceTable {
    /// A column as fractions: 0 quasi-static, 1 perturbed, 2 dynamic, 3 physical.
    pub fn column(&self, column: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row[column] / 100.0).collect()
    }
}

/// Columns of (name, shares) ⇒ text in the layout of the source: poses, percent, and errors against the last column.
pub fn table_text(title: &str, columns: &[(&str, Vec<f64>)]) -> String {
    use std::fmt::Write;
    let mut text = format!("{title}\n{:>6}", "pose");
    for (name, _) in columns {
        let _ = write!(text, "{name:>14}");
    }
    text.push('\n');
    let rows = columns.iter().map(|(_, p)| p.len()).max().unwrap_or(0);
    for row in 0..rows {
        let _ = write!(text, "{:>6}", row + 1);
        for (_, p) in columns {
            let _ = write!(text, "{:>14.1}", 100.0 * p.get(row).copied().unwrap_or(0.0));
        }
        text.push('\n');
    }
    if let Some(((_, reference), rest)) = columns.split_last() {
        let _ = write!(text, "{:>6}", "error");
        for (_, p) in rest {
            let _ = write!(text, "{:>14.1}", pose_error(p, reference));
        }
        text.push('\n');
    }
    text
}
