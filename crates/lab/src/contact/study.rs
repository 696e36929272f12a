//! Many experiments of many classes: run on all cores, put together into rows, drawn.

use super::{Aggregate, Class, Experiment, Quantity, Random, Setup};
use crate::plot::{Chart, Panel, Series};
use rattleback_dynamics::Registry;
use rattleback_numerics::team;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Errors below this are drawn as this: a logarithmic axis has no zero.
const FLOOR: f64 = 1e-16;

/// How many experiments, with which simulators and time steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Experiments of each class for each simulator and time step.
    pub samples: u32,
    /// Number of the first experiment.
    pub first: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time steps, s.
    pub steps: Vec<f64>,
    /// Only this simulator; all for none.
    pub simulator: Option<String>,
    /// Threads that share the experiments.
    pub threads: usize,
}

impl Default for Study {
    /// Ten experiments at 1/60 s, 1/240 s and 1 ms, on all cores.
    fn default() -> Self {
        Self {
            samples: 10,
            first: 0,
            seed: 1,
            steps: vec![1.0 / 60.0, 1.0 / 240.0, 1e-3],
            simulator: None,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

/// One quantity of a class under one simulator with one time step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Class and quantity: `contact/bounce: height`.
    pub case: String,
    /// Simulator.
    pub simulator: String,
    /// Time step, s.
    pub dt: f64,
    /// Unit of the errors; empty for relative ones.
    pub unit: &'static str,
    /// Experiments that were carried out.
    pub samples: usize,
    /// Experiments that ended with an error of the simulator.
    pub failures: usize,
    /// Median of the errors.
    pub median: f64,
    /// Error that 99 of 100 experiments stay below.
    pub percentile_99: f64,
    /// Largest error.
    pub worst: f64,
    /// Sum or mean over the sample, or the worst case: what is compared with the limit.
    pub error: f64,
    /// Largest error that passes; none for a row that is for comparison only.
    pub allowed: Option<f64>,
    /// Whether the error is within what is allowed and no experiment failed.
    pub pass: bool,
    /// Number of the worst experiment (`--first NUMBER --samples 1` repeats it).
    pub worst_experiment: u32,
    /// Its parameters, or the error of the first experiment that failed.
    pub worst_case: String,
    /// All errors, sorted; for pictures.
    #[serde(skip)]
    pub errors: Vec<f64>,
}

impl Study {
    /// Runs every experiment of a class ⇒ a row for each quantity, simulator and time step.
    pub fn run(&self, class: &Class, registry: &Registry) -> Vec<Row> {
        let mut rows = Vec::new();
        for simulator in class.simulators {
            if self.simulator.as_deref().is_some_and(|only| only != *simulator) {
                continue;
            }
            for dt in &self.steps {
                let setup = Setup { registry, simulator, dt: *dt };
                let mut results: Vec<Result<Experiment, String>> =
                    vec![Err(String::new()); self.samples as usize];
                team::each(self.threads, &mut results, |index, result| {
                    *result = self.experiment(class, &setup, self.first + index as u32);
                });
                let row = |(place, quantity)| self.row(class, &setup, quantity, place, &results);
                rows.extend(class.quantities.iter().enumerate().map(row));
            }
        }
        rows
    }

    /// One experiment; a panic in it is an error like any other.
    fn experiment(&self, class: &Class, setup: &Setup<'_>, number: u32) -> Result<Experiment, String> {
        let mut random = Random::new(self.seed, u64::from(number));
        match catch_unwind(AssertUnwindSafe(|| (class.run)(setup, &mut random))) {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("the simulator panicked".into()),
        }
    }

    fn row(
        &self,
        class: &Class,
        setup: &Setup<'_>,
        quantity: &Quantity,
        place: usize,
        results: &[Result<Experiment, String>],
    ) -> Row {
        let measured = results.iter().enumerate().filter_map(|(index, result)| {
            let experiment = result.as_ref().ok()?;
            let error = experiment.errors.get(place).copied().flatten()?;
            Some((if error.is_nan() { f64::INFINITY } else { error }, index, experiment))
        });
        let worst = measured.clone().max_by(|a, b| a.0.total_cmp(&b.0));
        let mut errors: Vec<f64> = measured.map(|(error, ..)| error).collect();
        errors.sort_by(f64::total_cmp);
        let failed = results.iter().enumerate().filter_map(|(i, result)| Some((i, result.as_ref().err()?)));
        let failures = failed.clone().count();
        let at = |share: f64| {
            let place = (share * errors.len() as f64).ceil() as usize;
            errors.get(place.clamp(1, errors.len().max(1)) - 1).copied().unwrap_or(0.0)
        };
        let sum: f64 = errors.iter().sum();
        let error = match quantity.aggregate {
            Aggregate::Worst => at(1.0),
            Aggregate::Sum => sum,
            Aggregate::Mean => sum / errors.len().max(1) as f64,
        };
        let allowed = (quantity.limit)(setup.simulator, setup.dt);
        let (index, worst_case) = match (failed.clone().next(), worst) {
            (Some((index, message)), _) => (index, message.clone()),
            (None, Some((_, index, experiment))) => (index, experiment.case.clone()),
            (None, None) => (0, String::new()),
        };
        Row {
            case: format!("{}: {}", class.name, quantity.name),
            simulator: setup.simulator.into(),
            dt: setup.dt,
            unit: quantity.unit,
            samples: errors.len(),
            failures,
            median: at(0.5),
            percentile_99: at(0.99),
            worst: at(1.0),
            error,
            allowed,
            pass: allowed.is_none_or(|limit| failures == 0 && error <= limit),
            worst_experiment: self.first + index as u32,
            worst_case,
            errors,
        }
    }
}

/// Rows ⇒ a picture: for each quantity the distribution of the errors, a curve for each simulator and time step. Where a curve reaches a height,
/// its share of the experiments has smaller errors than that.
pub fn chart(rows: &[Row]) -> Chart {
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows {
        let label =
            if row.unit.is_empty() { row.case.clone() } else { format!("{} ({})", row.case, row.unit) };
        let count = row.errors.len().max(1) as f64;
        let points = |error: (usize, &f64)| ((error.0 as f64 + 0.5) / count, error.1.clamp(FLOOR, 1e16));
        let series = Series {
            name: format!("{}, {:.3} ms", row.simulator, 1e3 * row.dt),
            points: row.errors.iter().enumerate().map(points).collect(),
        };
        match panels.last_mut() {
            Some(panel) if panel.y_label == label => panel.series.push(series),
            _ => panels.push(Panel { y_label: label, series: vec![series], log_y: true }),
        }
    }
    Chart { title: "Errors of contact".into(), x_label: "share of the experiments".into(), panels }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(_: &str, dt: f64) -> Option<f64> {
        (dt < 0.1).then_some(1.0)
    }

    const QUANTITIES: &[Quantity] = &[
        Quantity { name: "worst", unit: "m", aggregate: Aggregate::Worst, limit: limits },
        Quantity { name: "sum", unit: "", aggregate: Aggregate::Sum, limit: limits },
        Quantity { name: "mean", unit: "", aggregate: Aggregate::Mean, limit: limits },
    ];

    fn numbers(run: fn(&Setup<'_>, &mut Random) -> Result<Experiment, super::super::Failure>) -> Vec<Row> {
        let class = Class { name: "a", doc: "", simulators: &["impulse"], quantities: QUANTITIES, run };
        Study { samples: 100, steps: vec![0.01], ..Study::default() }.run(&class, &Registry::default())
    }

    #[test]
    fn rows_say_how_large_errors_are_and_which_is_worst() {
        let rows = numbers(|_, random| {
            let error = Some(0.9 * random.unit());
            Ok(Experiment { case: format!("{error:?}"), errors: vec![error; 3] })
        });
        let [worst, sum, mean] = &rows[..] else { panic!("{rows:?}") };
        assert!(worst.pass && worst.worst < 0.9 && worst.worst > 0.8 && worst.median > 0.3);
        assert!(worst.worst_case.contains(&worst.worst.to_string()), "{worst:?}");
        assert!(!sum.pass && (sum.error - worst.errors.iter().sum::<f64>()).abs() < 1e-12);
        assert!(mean.pass && (mean.error - 0.45).abs() < 0.1);
        assert!(chart(&rows).to_svg().is_ok());
    }

    #[test]
    fn failures_panics_and_nan_do_not_pass() {
        for row in numbers(|_, _| Err("no".into())) {
            assert!(!row.pass && row.failures == 100 && row.worst_case == "no");
        }
        for row in numbers(|_, _| Ok(Experiment { case: String::new(), errors: vec![Some(f64::NAN); 3] })) {
            assert!(!row.pass);
        }
    }

    #[test]
    fn threads_do_not_change_a_sample() {
        let class = super::super::matching("bounce").next().unwrap();
        let study = |threads| {
            let study = Study { samples: 4, steps: vec![0.01], threads, ..Study::default() };
            study.run(class, &Registry::default())
        };
        assert_eq!(study(1), study(3));
    }
}
