//! Effects: the mean of a result over a parameter, and how much of its variance the parameter explains.
//!
//! Values of a parameter are put in k levels (those of a list or grid, else equally many samples each). With the sums of squares within the levels S_w and about the mean of
//! all n runs S, the explained share is ε² = 1 − (S_w / (n − k)) / (S / (n − 1)), which is 0 in the mean for a parameter without effect.
//! With independent parameters it estimates the first-order Sobol index. Intervals of means are Student's, of 95 %.

use super::experiment::{Experiment, TrialRecord};
use crate::plot::{Chart, Panel, Series};
use crate::poses::student_quantile;
use rattleback_scene::{ParameterValue, ParameterValues, SampleDesign};

/// Most levels of samples.
const MOST_LEVELS: usize = 20;
/// Most curves in a panel: there are seven colours.
const MOST_CURVES: usize = 7;

/// Mean of a result at a level of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelMean {
    /// Mean value of the parameter, or the number of the value from 1 if it is not a number.
    pub x: f64,
    /// Name of the level.
    pub label: String,
    /// Runs with a result.
    pub count: usize,
    /// Mean of the result.
    pub mean: f64,
    /// Half-width of its 95 % interval; none for less than two runs.
    pub half_width: Option<f64>,
}

/// Effect of a parameter on a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Level by level.
    pub levels: Vec<LevelMean>,
    /// Share of the variance that the parameter explains; none if the result does not vary.
    pub share: Option<f64>,
}

/// Numbers ⇒ mean and half-width of its 95 % interval.
fn mean(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, None);
    }
    let variance = values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, Some(student_quantile(0.975, n - 1.0) * (variance / n).sqrt()))
}

/// (experiment, records, number of a parameter, number of a result, which runs) ⇒ effect.
pub fn effect(
    experiment: &Experiment,
    records: &[TrialRecord],
    parameter: usize,
    result: usize,
    wanted: &dyn Fn(&[ParameterValue]) -> bool,
) -> Effect {
    let study = experiment.study();
    let mut points: Vec<(f64, String, f64)> = Vec::new();
    for record in records {
        let Some(y) = record.results.get(result).copied().flatten() else { continue };
        let trial = experiment.trial(record.index);
        if !wanted(&trial.values) {
            continue;
        }
        let value = &trial.values[parameter];
        let x = match (&study.parameters[parameter].values, value.number()) {
            (ParameterValues::List(list), None) => {
                list.iter().position(|item| item == value).map_or(f64::NAN, |at| (at + 1) as f64)
            }
            (_, Some(x)) => x,
            (_, None) => f64::NAN,
        };
        points.push((x, value.to_string(), y));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.total_cmp(&b.2)));
    let discrete = matches!(study.parameters[parameter].values, ParameterValues::List(_))
        || (study.design == SampleDesign::Grid
            && matches!(study.parameters[parameter].values, ParameterValues::Range { .. }));
    let groups: Vec<&[(f64, String, f64)]> = if discrete {
        points.chunk_by(|a, b| a.0 == b.0).collect()
    } else {
        // At least four runs in a level.
        let count = (points.len() / 4).clamp(1, MOST_LEVELS);
        (0..count).map(|k| &points[points.len() * k / count..points.len() * (k + 1) / count]).collect()
    };
    let groups: Vec<_> = groups.into_iter().filter(|group| !group.is_empty()).collect();
    let (n, k) = (points.len() as f64, groups.len() as f64);
    let squares = |group: &[(f64, String, f64)]| {
        let mean = group.iter().map(|p| p.2).sum::<f64>() / group.len() as f64;
        group.iter().map(|p| (p.2 - mean).powi(2)).sum::<f64>()
    };
    let (within, whole): (f64, f64) = (groups.iter().map(|group| squares(group)).sum(), squares(&points));
    let share = (whole > 0.0 && n > k && k > 1.0)
        .then(|| (1.0 - (within / (n - k)) / (whole / (n - 1.0))).clamp(0.0, 1.0));
    let levels = groups.into_iter().map(|group| {
        let ys: Vec<f64> = group.iter().map(|p| p.2).collect();
        let (mean, half_width) = mean(&ys);
        let x =
            if discrete { group[0].0 } else { group.iter().map(|p| p.0).sum::<f64>() / group.len() as f64 };
        let label = if discrete { group[0].1.clone() } else { format!("{x:.4}") };
        LevelMean { x, label, count: group.len(), mean, half_width }
    });
    Effect { levels: levels.collect(), share }
}

/// Effects of one parameter on all results: a panel for each result, and a curve for each value of the first other list. Bars are 95 % intervals.
pub fn chart(experiment: &Experiment, records: &[TrialRecord], parameter: usize) -> Chart {
    let study = experiment.study();
    let curves = study.parameters.iter().enumerate().find_map(|(at, other)| match &other.values {
        ParameterValues::List(list) if at != parameter && (2..=MOST_CURVES).contains(&list.len()) => {
            Some((at, other.name.as_str(), list.as_slice()))
        }
        _ => None,
    });
    let panels = study.results.iter().enumerate().map(|(result, (name, unit, ..))| {
        let curve = |name: String, wanted: &dyn Fn(&[ParameterValue]) -> bool| {
            let levels = effect(experiment, records, parameter, result, wanted).levels;
            let mut points: Vec<(f64, f64)> = levels.iter().map(|level| (level.x, level.mean)).collect();
            for level in &levels {
                let half = level.half_width.unwrap_or(0.0);
                points.push((f64::NAN, f64::NAN));
                points.extend([(level.x, level.mean - half), (level.x, level.mean + half)]);
            }
            Series { name, points }
        };
        let series = match curves {
            Some((at, other, list)) => list
                .iter()
                .map(|value| curve(format!("{other} = {value}"), &|values| values[at] == *value))
                .collect(),
            None => vec![curve(String::new(), &|_| true)],
        };
        let y_label = if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") };
        Panel { y_label, series, log_y: false }
    });
    let this = &study.parameters[parameter];
    let mut x_label =
        if this.unit.is_empty() { this.name.clone() } else { format!("{} ({})", this.name, this.unit) };
    if let ParameterValues::List(list) = &this.values
        && list.iter().any(|value| value.number().is_none())
    {
        let names: Vec<String> =
            list.iter().enumerate().map(|(at, value)| format!("{} {value}", at + 1)).collect();
        x_label = format!("{x_label}: {}", names.join(", "));
    }
    let title = if study.title.is_empty() { study.scene.clone() } else { study.title.clone() };
    Chart { title, x_label, panels: panels.take(12).collect() }
}
