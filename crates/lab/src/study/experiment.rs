//! The runs of a study.
//!
//! Run number i is repetition r of combination l of the values of lists at sample s, i = (s n_l + l) n_r + r: combinations of a sample follow each other, so that a part
//! of the runs is a fair part. The seed of the scene depends on (s, r) only: combinations are compared under the same circumstances.

use super::design::points;
use super::measurement::Measurement;
use crate::contact::Random;
use crate::poses::normal_quantile;
use rattleback_dynamics::world::LedgerSettings;
use rattleback_dynamics::{Properties, Registry};
use rattleback_scene::{
    FileAccess, ParameterValue, ParameterValues, Place, Problem, SampleDesign, Scene, SceneError, SceneFault,
    StudyFile, evaluate,
};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Most steps of a run.
const MAX_STEPS: f64 = 1e10;

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// Something in the study file, or in the scene, with its place.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// Every run of the first so many failed.
    #[error("all of the first {count} runs failed; the first: {first}")]
    AllFailed {
        /// Number of runs.
        count: usize,
        /// Error of the first.
        first: String,
    },
}

/// A run that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number.
    pub index: usize,
    /// Number of the sample of ranges and distributions.
    pub sample: usize,
    /// Number of the repetition.
    pub repetition: usize,
    /// Seed of the scene.
    pub seed: u64,
    /// A value for each parameter of the study.
    pub values: Vec<ParameterValue>,
}

/// A run that has been made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its number.
    pub index: usize,
    /// A number for each result of the study; none if there is none.
    pub results: Vec<Option<f64>>,
    /// Error of the run, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A study, ready to run.
#[derive(Debug)]
pub struct Experiment {
    study: StudyFile,
    scene: Scene,
    /// Coordinates of ranges and distributions for each sample, except in a grid.
    points: Vec<Vec<f64>>,
}

fn at(place: &Place, message: impl Into<String>) -> SceneError {
    SceneError::Fault(Box::new(SceneFault {
        place: place.clone(),
        problem: Problem::Conflict(message.into()),
    }))
}

impl Experiment {
    /// Opens the scene and prepares the first run, so that errors are found before anything is computed.
    ///
    /// # Errors
    /// The first error, with its place in the study or in the scene.
    pub fn new(study: StudyFile, access: FileAccess, registry: &Registry) -> Result<Self, StudyError> {
        let beside = study.folder.join(&study.scene);
        let name = if beside.is_file() { beside.display().to_string() } else { study.scene.clone() };
        let scene = Scene::open_with(&name, access).map_err(|error| match error {
            error @ SceneError::Fault(_) => error,
            other => at(&study.scene_place, other.to_string()),
        })?;
        let dimensions =
            study.parameters.iter().filter(|p| !matches!(p.values, ParameterValues::List(_))).count();
        let points = if study.design == SampleDesign::Grid {
            Vec::new()
        } else {
            points(study.design, study.sample_count() as usize, dimensions, study.seed)
        };
        let experiment = Self { study, scene, points };
        // Names of results are those of every run: a run that fails later is an error of its values.
        let trial = experiment.trial(0);
        let mut built = experiment.scene(&trial)?.build(registry)?;
        if let Some(name) = &experiment.study.simulator {
            built.simulator = registry
                .simulators
                .make(name, &Properties::default())
                .map_err(|error| at(&experiment.study.scene_place, error.to_string()))?;
        }
        for (_, _, result, place) in &experiment.study.results {
            Measurement::new(result, &built.world).map_err(|message| at(place, message))?;
        }
        let dt = experiment.study.time_step.unwrap_or(built.dt);
        let steps = experiment.study.duration.unwrap_or(built.duration) / dt;
        if steps > MAX_STEPS {
            let message = format!("a run has {steps:e} steps; at most {MAX_STEPS:e} are allowed");
            return Err(at(&experiment.study.scene_place, message).into());
        }
        Ok(experiment)
    }

    /// The study.
    pub const fn study(&self) -> &StudyFile {
        &self.study
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.study.runs() as usize
    }

    /// Hash of everything that determines the results (FNV-1a over study and scene).
    pub fn fingerprint(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.study.text.bytes().chain([0]).chain(self.scene.to_toml().bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    }

    /// Number of a run ⇒ its values.
    pub fn trial(&self, index: usize) -> Trial {
        let study = &self.study;
        let (repetitions, combinations) = (study.repetitions as usize, study.combinations() as usize);
        let repetition = index % repetitions;
        let mut combination = index / repetitions % combinations;
        let sample = index / repetitions / combinations;
        // One stream of numbers for each sample and repetition.
        let mut random = Random::new(study.seed, ((sample as u64) << 24 | repetition as u64) + 1);
        let seed = (random.unit() * (1_u64 << 53) as f64) as u64;
        let (mut place, mut dimension) = (sample, 0);
        let values = study.parameters.iter().map(|parameter| {
            if let ParameterValues::List(list) = &parameter.values {
                let value = list[combination % list.len()].clone();
                combination /= list.len();
                return value;
            }
            let u = match (study.design, &parameter.values) {
                (SampleDesign::Grid, ParameterValues::Range { steps, .. }) => {
                    let steps = *steps as usize;
                    let step = place % steps;
                    place /= steps;
                    if steps == 1 { 0.5 } else { step as f64 / (steps - 1) as f64 }
                }
                (SampleDesign::Grid, _) => random.unit().max(1e-16),
                _ => self.points[sample][dimension],
            };
            dimension += 1;
            ParameterValue::Real(quantile(&parameter.values, u))
        });
        let values = values.collect();
        Trial { index, sample, repetition, seed, values }
    }

    /// The scene of a run.
    ///
    /// # Errors
    /// A formula or a path that is wrong, with its place in the study, or a value that the scene refuses.
    pub fn scene(&self, trial: &Trial) -> Result<Scene, SceneError> {
        let study = &self.study;
        let names: Vec<(String, ParameterValue)> = study
            .parameters
            .iter()
            .zip(&trial.values)
            .map(|(p, value)| (p.name.clone(), value.clone()))
            .collect();
        let seeded = study.sets.iter().any(|set| set.path == "seed")
            || study.parameters.iter().any(|p| p.paths.iter().any(|path| path == "seed"));
        let mut sets: Vec<((String, ParameterValue), &Place)> = Vec::new();
        if !seeded {
            sets.push((
                ("seed".into(), ParameterValue::Integer(trial.seed.cast_signed())),
                &study.scene_place,
            ));
        }
        for (parameter, value) in study.parameters.iter().zip(&trial.values) {
            sets.extend(parameter.paths.iter().map(|path| ((path.clone(), value.clone()), &parameter.place)));
        }
        for set in &study.sets {
            let value = match (&set.formula, &set.value) {
                (Some(formula), _) => evaluate(formula, &names)
                    .map_err(|message| at(&set.place, format!("formula: {message}")))?,
                (None, Some(value)) => value.clone(),
                (None, None) => continue,
            };
            sets.push(((set.path.clone(), value), &set.place));
        }
        let all: Vec<_> = sets.iter().map(|(set, _)| set.clone()).collect();
        self.scene.with_parameters(&all).map_err(|error| {
            // One after the other, to find which of them was refused.
            let mut scene = self.scene.clone();
            for (set, place) in &sets {
                match scene.with_parameters(std::slice::from_ref(set)) {
                    Ok(changed) => scene = changed,
                    Err(error @ SceneError::Parameter { .. }) => return at(place, error.to_string()),
                    Err(error) => {
                        return at(place, format!("the scene refuses {} for `{}`: {error}", set.1, set.0));
                    }
                }
            }
            error
        })
    }

    /// Makes a run; what goes wrong is in its record.
    pub fn run_one(&self, index: usize, registry: &Registry) -> TrialRecord {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.measured(&self.trial(index), registry)));
        let (results, error) = match outcome {
            Ok(Ok(results)) => (results, None),
            Ok(Err(error)) => (vec![None; self.study.results.len()], Some(error)),
            Err(_) => (vec![None; self.study.results.len()], Some("the simulator panicked".into())),
        };
        TrialRecord { index, results, error }
    }

    fn measured(&self, trial: &Trial, registry: &Registry) -> Result<Vec<Option<f64>>, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let mut built =
            self.scene(trial).and_then(|scene| scene.build(registry)).map_err(|error| text(&error))?;
        if let Some(name) = &self.study.simulator {
            built.simulator =
                registry.simulators.make(name, &Properties::default()).map_err(|error| text(&error))?;
        }
        let world = &mut built.world;
        let results = self.study.results.iter();
        let mut measurements = results
            .map(|(_, _, result, _)| Measurement::new(result, world))
            .collect::<Result<Vec<_>, _>>()?;
        if measurements.iter().any(Measurement::needs_ledger) && world.energy_ledger().is_none() {
            world.open_energy_ledger(LedgerSettings::default()).map_err(|error| text(&error))?;
        }
        let dt = self.study.time_step.unwrap_or(built.dt);
        let duration = self.study.duration.unwrap_or(built.duration);
        // A remainder of a millionth of a step is rounding.
        let steps = (duration / dt - 1e-6).ceil().clamp(1.0, MAX_STEPS) as u64;
        let energy = world.readout().energy();
        for measurement in measurements.iter_mut().filter(|m| m.is_continuous()) {
            measurement.observe(world, energy, false);
        }
        for step in 1..=steps {
            built.simulator.step(world, dt).map_err(|error| text(&error))?;
            for measurement in &mut measurements {
                measurement.observe(world, energy, step == steps);
                measurement.count_events(world);
            }
        }
        Ok(measurements.iter().map(Measurement::result).collect())
    }

    /// Makes the runs that are missing, on several threads. `after` is given each record as soon as it is there, in any order; when it returns false, runs that have
    /// begun are finished and the rest is left.
    ///
    /// # Errors
    /// All of the first runs failed.
    pub fn run(
        &self,
        threads: usize,
        records: &mut Vec<TrialRecord>,
        registry: &Registry,
        mut after: impl FnMut(&TrialRecord) -> bool,
    ) -> Result<(), StudyError> {
        let mut known = vec![false; self.runs()];
        records.retain(|record| {
            let fresh = known.get(record.index) == Some(&false);
            if fresh {
                known[record.index] = true;
            }
            fresh
        });
        let missing: Vec<usize> = (0..known.len()).filter(|index| !known[*index]).collect();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads.clamp(1, 256) {
                let (sender, missing, next, stop) = (sender.clone(), &missing, &next, &stop);
                scope.spawn(move || {
                    while let Some(index) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if stop.load(Ordering::Relaxed)
                            || sender.send(self.run_one(*index, registry)).is_err()
                        {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let (mut failed, mut fine) = (0, !records.is_empty());
            for record in receiver {
                fine |= record.error.is_none();
                failed += usize::from(record.error.is_some());
                // Nothing will work.
                if !after(&record) || (!fine && failed >= 8) {
                    stop.store(true, Ordering::Relaxed);
                }
                records.push(record);
            }
        });
        records.sort_by_key(|record| record.index);
        match records.iter().find_map(|record| record.error.clone()) {
            Some(first) if records.iter().all(|record| record.error.is_some()) => {
                Err(StudyError::AllFailed { count: records.len(), first })
            }
            _ => Ok(()),
        }
    }
}

/// u in (0, 1) ⇒ value of a parameter.
fn quantile(values: &ParameterValues, u: f64) -> f64 {
    match values {
        ParameterValues::List(_) => f64::NAN,
        ParameterValues::Range { low, high, log: false, .. } => low + (high - low) * u,
        ParameterValues::Range { low, high, log: true, .. } => low * (high / low).powf(u),
        ParameterValues::Normal { mean, deviation } => mean + deviation * normal_quantile(u),
        ParameterValues::LogNormal { median, factor } => median * factor.powf(normal_quantile(u)),
    }
}
