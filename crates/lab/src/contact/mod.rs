//! Contact, sampled at random: classes of experiments with a known answer, run under each simulator.
//!
//! A single height, offset or time step proves one case. A [`Class`] therefore draws each experiment from a distribution
//! of sizes, masses, phases and coefficients, and [`Study::run`] reports the spread of the errors, the worst case and the
//! number with which it can be repeated. Experiment `i` of a class is the same for every simulator and time step, so that their
//! errors can be compared one by one; it depends on the seed and on `i` only, never on the number of threads.

// Limits of a class are functions of one type, also where every simulator has one.
#![allow(clippy::unnecessary_wraps)]

mod bounce;
mod chains;
mod cradle;
mod free;
mod joints;
mod painleve;
mod random;
mod rest;
mod restore;
mod rods;
mod rolling;
mod rolling_oracle;
mod slide;
mod stacks;
mod study;

pub use random::Random;
pub use study::{Row, Study, chart};

use rattleback_dynamics::{Properties, Registry, Simulator, Value};
use std::error::Error;

/// Why an experiment could not be carried out to its end.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What an experiment is run with.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Makes simulators by name.
    pub registry: &'a Registry,
    /// Name of the simulator under test.
    pub simulator: &'static str,
    /// Time step, s.
    pub dt: f64,
}

impl Setup<'_> {
    /// The simulator with its default settings.
    pub fn simulator(&self) -> Result<Box<dyn Simulator>, Failure> {
        self.simulator_with([])
    }

    /// The simulator with some settings changed.
    pub fn simulator_with<const N: usize>(
        &self,
        settings: [(&str, Value); N],
    ) -> Result<Box<dyn Simulator>, Failure> {
        let settings: Properties =
            settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(self.registry.simulators.make(self.simulator, &settings)?)
    }

    /// Number of steps that cover a duration, at least one.
    pub fn steps(&self, duration: f64) -> u32 {
        (duration / self.dt).ceil().max(1.0) as u32
    }
}

/// How the errors of many experiments become the number that is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The largest of them.
    Worst,
    /// Their sum: small gains must not add up.
    Sum,
    /// Their mean: of readings that are 0 or 1, the share of failures.
    Mean,
}

/// One error that a class measures.
#[derive(Clone, Copy)]
pub struct Quantity {
    /// Name: `height`, `energy gained`.
    pub name: &'static str,
    /// Unit; empty for relative errors.
    pub unit: &'static str,
    /// How errors are put together.
    pub aggregate: Aggregate,
    /// (simulator, time step) ⇒ limit; none for a row that is for comparison only.
    pub limit: fn(&str, f64) -> Option<f64>,
}

/// What one experiment measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Description of the parameters, so that the worst case can be reproduced.
    pub case: String,
    /// Error of each quantity of the class, in their order; none where it does not apply to this case.
    pub errors: Vec<Option<f64>>,
}

/// A class of experiments with a known answer.
#[derive(Clone, Copy)]
pub struct Class {
    /// Name: `contact/bounce`.
    pub name: &'static str,
    /// Description, one line.
    pub doc: &'static str,
    /// Simulators it makes sense for.
    pub simulators: &'static [&'static str],
    /// What it measures.
    pub quantities: &'static [Quantity],
    /// (setup, random numbers of this experiment) ⇒ its errors.
    pub run: fn(&Setup<'_>, &mut Random) -> Result<Experiment, Failure>,
}

/// Every class, in the order in which they are shown.
pub const CLASSES: &[Class] = &[
    bounce::CLASS,
    slide::CLASS,
    rods::CLASS,
    painleve::CLASS,
    cradle::CLASS,
    stacks::CLASS,
    rest::CLASS,
    rolling::CLASS,
    joints::CLASS,
    chains::CLASS,
    free::CLASS,
    restore::CLASS,
];

/// The class of this name (`contact/rest`), or, if there is none, those whose name contains the filter (`contact/`).
pub fn matching(filter: &str) -> impl Iterator<Item = &'static Class> + '_ {
    let exact = CLASSES.iter().any(|class| class.name == filter);
    CLASSES.iter().filter(move |class| class.name == filter || !exact && class.name.contains(filter))
}
