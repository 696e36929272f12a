//! Dynamic estimates: many drops, on all cores, which can be interrupted and continued.
//!
//! Drop number i of a method starts from random numbers of (seed, method, i) and from the results of rounds before its own, never from those of its own
//! round. A round can therefore be shared by any number of threads, and a record of drops can be continued anywhere, with the same table.
//!
//! - `Uniform`: every drop is independent and starts in a uniformly random orientation.
//! - `Bootstrap`, the source's: 20 uniform drops, then every drop starts from an earlier result, turned by up to 1.5° about a random axis: parts that
//!   fall from one belt onto the next. Drops are not independent and reinforce each other; so several chains are run side by side, whose spread gives the interval.
//!   (One generation of 20 draws from the results of all generations before it.)
//! - `Transition`: equal numbers of drops from every pose; the stationary distribution of the counted matrix is what the bootstrap would tend to
//!   without its first 20 drops.

use super::drop::{DropSettings, Dropper, Start, disturbed_start, pose_orientation, uniform_start};
use super::error::PoseError;
use super::interval::{of_chains, sample_size, wilson};
use super::landscape::Landscape;
use super::part::{Part, check};
use super::stationary::{Stationary, stationary};
use crate::contact::Random;
use crate::queue::in_turn;
use glam::{DQuat, DVec3};
use rattleback_dynamics::Registry;
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops of a generation of a chain, and of its uniform beginning.
pub const GENERATION: usize = 20;
/// Largest turn of a drop from an earlier result, rad: 1.5°.
pub const DISTURBANCE: f64 = 1.5 * std::f64::consts::PI / 180.0;
/// Drops of a round, about.
const ROUND: usize = 200;

/// How drops start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Independent, uniform.
    Uniform,
    /// The source's.
    Bootstrap,
    /// From every pose.
    Transition,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Uniform, Self::Bootstrap, Self::Transition];

    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Bootstrap => "bootstrap",
            Self::Transition => "transition",
        }
    }
}

/// How many drops, of which kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudySettings {
    /// Circumstances of every drop.
    pub drop: DropSettings,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Chains of the bootstrap, 1 to 1000; intervals need at least five.
    pub chains: usize,
    /// Confidence of intervals.
    pub confidence: f64,
}

impl Default for StudySettings {
    fn default() -> Self {
        Self { drop: DropSettings::default(), seed: 1, chains: 10, confidence: 0.95 }
    }
}

/// When a method has enough drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// After so many.
    Drops(usize),
    /// When every interval is at most this far from its estimate, as a fraction; at the latest after `most` drops. Where there are no intervals, after as many
    /// as independent drops would need.
    Precision {
        /// Half-width.
        delta: f64,
        /// Drops at most.
        most: usize,
    },
}

/// One drop as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DropRecord {
    /// Method it belongs to.
    pub method: Method,
    /// Its number within the method.
    pub index: usize,
    /// Earlier drop from whose result it started, or pose it started in (transition); none for uniform starts.
    pub from: Option<usize>,
    /// Orientation at the start: x, y, z, w.
    pub start: [f64; 4],
    /// Orientation at the end.
    pub end: [f64; 4],
    /// Pose at the end; none if it did not settle.
    pub pose: Option<usize>,
    /// Time until its end was certain, s.
    pub time: f64,
    /// Error of the simulator, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Probabilities of poses by drops.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Of which drops.
    pub method: Method,
    /// Probability of each pose.
    pub p: Vec<f64>,
    /// Confidence interval of each.
    pub interval: Option<Vec<(f64, f64)>>,
    /// Drops.
    pub drops: usize,
    /// Drops that did not settle in time; they count for no pose.
    pub unsettled: usize,
    /// Drops that ended with an error of the simulator.
    pub failed: usize,
    /// Sets of poses that are never left, by transitions; 1 if the stationary distribution is unique.
    pub closed_classes: Option<usize>,
    /// Transition matrix, if it was counted.
    pub matrix: Option<Vec<Vec<f64>>>,
}

impl Estimate {
    /// Largest distance of an end of an interval from its estimate.
    pub fn half_width(&self) -> Option<f64> {
        let interval = self.interval.as_ref()?;
        Some(interval.iter().zip(&self.p).map(|((low, high), p)| (high - p).max(p - low)).fold(0.0, f64::max))
    }
}

/// Drops of one part under one set of circumstances.
pub struct PoseStudy<'a> {
    landscape: &'a Landscape,
    settings: &'a StudySettings,
    dropper: Dropper<'a>,
}

impl<'a> PoseStudy<'a> {
    /// Part, poses and settings ⇒ study.
    pub fn new(
        part: &'a Part,
        landscape: &'a Landscape,
        settings: &'a StudySettings,
        registry: &'a Registry,
    ) -> Result<Self, PoseError> {
        check(
            "number of chains",
            settings.chains as f64,
            (1..=1000).contains(&settings.chains),
            "from 1 to 1000",
        )?;
        check(
            "confidence",
            settings.confidence,
            settings.confidence > 0.0 && settings.confidence < 1.0,
            "between 0 and 1",
        )?;
        let dropper = Dropper::new(part, landscape, &settings.drop, registry)?;
        Ok(Self { landscape, settings, dropper })
    }

    /// Adds drops to the records of a method until there are enough. `after_round` is given the new records and the estimate after every round; the study ends
    /// early when it returns false.
    pub fn run(
        &self,
        method: Method,
        stop: Stop,
        threads: usize,
        records: &mut Vec<DropRecord>,
        mut after_round: impl FnMut(&[DropRecord], &Estimate) -> bool,
    ) -> Result<Estimate, PoseError> {
        let round = self.round(method);
        let most = match stop {
            Stop::Drops(count) => count,
            Stop::Precision { delta, most } => {
                check("precision", delta, delta > 0.0 && delta < 0.5, "above 0 and below 50 %")?;
                most
            }
        };
        let reached = |records: &[DropRecord]| match stop {
            Stop::Precision { delta, .. }
                if records.len() >= ROUND && records.len().is_multiple_of(round) =>
            {
                match self.estimate(method, records).half_width() {
                    Some(width) => width <= delta,
                    // Without intervals (one chain, poses that are never left), as many as independent drops would need.
                    None => records.len() as u64 >= sample_size(delta, 1.0 - self.settings.confidence),
                }
            }
            _ => false,
        };
        while records.len() < most && !reached(records) {
            let first = records.len();
            let end = (first / round * round + round).min(most);
            let plans: Vec<(Start, Option<usize>)> =
                (first..end).map(|index| self.start(method, index, records)).collect();
            // Drops take from a tenth of a second to ten.
            records.extend(in_turn(threads, plans.len(), |place| {
                let (start, from) = plans[place];
                self.drop(method, first + place, start, from)
            }));
            let fresh = &records[first..];
            if let (true, Some(error)) =
                (fresh.iter().all(|r| r.error.is_some()), fresh.first().and_then(|r| r.error.clone()))
            {
                return Err(PoseError::Simulator { first: error });
            }
            if !after_round(fresh, &self.estimate(method, records)) {
                break;
            }
        }
        Ok(self.estimate(method, records))
    }

    /// Number of a uniform drop ⇒ pose and velocity in which the part is released.
    pub fn uniform_release(&self, index: usize) -> (Pose, DVec3) {
        let (start, _) = self.start(Method::Uniform, index, &[]);
        (self.dropper.release(&start), self.dropper.velocity(&start))
    }

    /// Drops of a round: their starts do not depend on each other.
    fn round(&self, method: Method) -> usize {
        match method {
            Method::Uniform => ROUND,
            Method::Bootstrap => GENERATION * self.settings.chains,
            Method::Transition => {
                let poses = self.landscape.poses.len();
                poses * ROUND.div_ceil(poses)
            }
        }
    }

    /// Chain of a drop of the bootstrap, and its generation.
    fn place(&self, index: usize) -> (usize, usize) {
        let block = index / GENERATION;
        (block % self.settings.chains, block / self.settings.chains)
    }

    /// Start of a drop, and where it comes from.
    fn start(&self, method: Method, index: usize, records: &[DropRecord]) -> (Start, Option<usize>) {
        let surface = self.settings.drop.surface;
        let stream = (method as u64 + 1) << 48 | index as u64;
        let mut random = Random::new(self.settings.seed, stream);
        match method {
            Method::Uniform => (uniform_start(&mut random, surface), None),
            Method::Bootstrap => {
                let (chain, generation) = self.place(index);
                let settled: Vec<usize> = (0..generation)
                    .flat_map(|g| {
                        let first = (g * self.settings.chains + chain) * GENERATION;
                        first..first + GENERATION
                    })
                    .filter(|i| records.get(*i).is_some_and(|r| r.pose.is_some()))
                    .collect();
                if settled.is_empty() {
                    return (uniform_start(&mut random, surface), None);
                }
                let earlier = settled[random.index(settled.len())];
                let orientation = DQuat::from_array(records[earlier].end);
                (disturbed_start(orientation, DISTURBANCE, &mut random, surface), Some(earlier))
            }
            Method::Transition => {
                let pose = index % self.landscape.poses.len();
                let orientation = pose_orientation(self.landscape, pose, &mut random);
                (disturbed_start(orientation, DISTURBANCE, &mut random, surface), Some(pose))
            }
        }
    }

    /// One drop; a panic in the simulator is an error like any other.
    fn drop(&self, method: Method, index: usize, start: Start, from: Option<usize>) -> DropRecord {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.dropper.drop(&start)));
        let (landing, error) = match outcome {
            Ok(Ok(landing)) => (Some(landing), None),
            Ok(Err(error)) => (None, Some(error.to_string())),
            Err(_) => (None, Some("the simulator panicked".to_owned())),
        };
        DropRecord {
            method,
            index,
            from,
            start: start.orientation.to_array(),
            end: landing.map_or(start.orientation, |l| l.orientation).to_array(),
            pose: landing.and_then(|l| l.pose),
            time: landing.map_or(0.0, |l| l.time),
            error,
        }
    }

    /// Records of a method ⇒ estimate.
    pub fn estimate(&self, method: Method, records: &[DropRecord]) -> Estimate {
        let (k, confidence) = (self.landscape.poses.len(), self.settings.confidence);
        let mut counts = vec![0.0; k];
        for pose in records.iter().filter_map(|record| record.pose) {
            counts[pose] += 1.0;
        }
        let settled: f64 = counts.iter().sum();
        let share = |count: f64| if settled > 0.0 { count / settled } else { 0.0 };
        let failed = records.iter().filter(|r| r.error.is_some()).count();
        let mut estimate = Estimate {
            method,
            p: counts.iter().map(|count| share(*count)).collect(),
            interval: None,
            drops: records.len(),
            unsettled: records.iter().filter(|r| r.pose.is_none()).count() - failed,
            failed,
            closed_classes: None,
            matrix: None,
        };
        match method {
            Method::Uniform => {
                estimate.interval =
                    Some(counts.iter().map(|count| wilson(*count, settled, confidence)).collect());
            }
            Method::Bootstrap => {
                let chains = self.settings.chains;
                let mut by_chain = vec![vec![0.0; k]; chains];
                for record in records {
                    if let Some(pose) = record.pose {
                        by_chain[self.place(record.index).0][pose] += 1.0;
                    }
                }
                estimate.interval = (0..k)
                    .map(|pose| {
                        let shares: Vec<f64> = by_chain
                            .iter()
                            .map(|chain| (chain[pose], chain.iter().sum::<f64>()))
                            .filter(|(_, total)| *total > 0.0)
                            .map(|(count, total)| count / total)
                            .collect();
                        of_chains(&shares, counts[pose], settled, confidence)
                    })
                    .collect();
            }
            Method::Transition => {
                let mut matrix = vec![vec![0.0; k]; k];
                for record in records {
                    if let (Some(from), Some(to)) = (record.from, record.pose) {
                        matrix[from][to] += 1.0;
                    }
                }
                let first: Vec<f64> = self.landscape.poses.iter().map(|pose| pose.quasi_static).collect();
                let Stationary { p, interval, closed_classes, matrix } =
                    stationary(&matrix, &first, confidence);
                estimate.p = p;
                estimate.interval = interval;
                (estimate.closed_classes, estimate.matrix) = (Some(closed_classes), Some(matrix));
            }
        }
        estimate
    }
}
