//! Measured shares of poses, against which estimates are compared.

use crate::failure::Failure;
use rattleback_lab::poses::pose_error;
use std::path::Path;

/// Measured shares of groups of poses.
#[derive(Debug)]
pub struct Measured {
    /// Poses of each line, from 0.
    pub groups: Vec<Vec<usize>>,
    /// Share of each line.
    pub shares: Vec<f64>,
}

impl Measured {
    /// Shares of all poses ⇒ the source's error, percent.
    pub fn error(&self, p: &[f64]) -> f64 {
        let sums: Vec<f64> =
            self.groups.iter().map(|group| group.iter().map(|pose| p[*pose]).sum()).collect();
        pose_error(&sums, &self.shares)
    }
}

/// A CSV file of `pose,count` or `1+2,count` ⇒ measured shares.
pub fn read(path: &Path, poses: usize) -> Result<Measured, Failure> {
    let named = |message: String| Failure::Input(format!("{}: {message}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    let mut measured = Measured { groups: Vec::new(), shares: Vec::new() };
    let mut seen = vec![false; poses];
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let mut cells = content.split([',', ';', '\t']).map(str::trim);
        let (label, value) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
        let group: Option<Vec<usize>> = label.split('+').map(|pose| pose.trim().parse().ok()).collect();
        let (Some(group), Ok(value)) = (group, value.parse::<f64>()) else {
            // The first line may name the columns.
            if measured.groups.is_empty() {
                continue;
            }
            return Err(named(format!(
                "line {line} must be a pose and its count, such as `1,476`; got `{content}`"
            )));
        };
        if !(value.is_finite() && value >= 0.0) {
            return Err(named(format!("line {line}: a count must be finite and ≥ 0; got {value}")));
        }
        let mut zero_based = Vec::new();
        for pose in group {
            if !(1..=poses).contains(&pose) {
                return Err(named(format!(
                    "line {line}: there is no pose {pose}, the part has 1 to {poses}"
                )));
            }
            if std::mem::replace(&mut seen[pose - 1], true) {
                return Err(named(format!("line {line}: pose {pose} is given twice")));
            }
            zero_based.push(pose - 1);
        }
        measured.groups.push(zero_based);
        measured.shares.push(value);
    }
    let sum: f64 = measured.shares.iter().sum();
    if sum <= 0.0 {
        return Err(named("no counts above 0".into()));
    }
    measured.shares.iter_mut().for_each(|share| *share /= sum);
    Ok(measured)
}
