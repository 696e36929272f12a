//! The tests of accuracy on which seven other engines were measured, for each simulator, with their figures.
//!
//! Every test has an exact answer. The figures of the others ([`PEERS`]) were measured in November 2026 with their own defaults, at 1/240 s and 1 ms; ours are made by [`TESTS`] when they
//! are asked for, on the same scenes: a ball of radius 0.1 m dropped by 1 m with e = 1; a block of 0.2 × 0.2 × 0.1 m at 3 m/s on a plane and on an incline of 10°, μ = 0.3, 0.5, 0.7; a
//! torque-free body of I = diag(0.010, 0.015, 0.020), ω₀ = (0.6, 6, 0.3); a row of five touching balls; rods of 1 m whose end hits a plane at 10° to 80° with μ = 0.1 to 1.2; nine boxes of 1 kg below one of
//! 1000 kg; a ball of 100 m/s against a wall of 10 mm. Where the record of their scene leaves something open (headings on the incline, the slope of the creep
//! test, the speed of the rods), the description of the test says what is done here.

mod peers;
mod tests_of_contact;
mod tests_of_motion;

pub use peers::{PEER_NOTE, PEERS};

use rattleback_dynamics::{Properties, Registry, Simulator};

/// What a test measured, one number for each of its [`AccuracyTest::values`].
pub type Measured = Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>>;

/// A simulator and a time step.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// Makes simulators by name.
    pub registry: &'a Registry,
    /// Name of the simulator.
    pub simulator: &'a str,
    /// Time step, s.
    pub dt: f64,
}

impl Circumstances<'_> {
    /// The simulator with its defaults.
    pub fn simulator(&self) -> Result<Box<dyn Simulator>, rattleback_dynamics::Error> {
        Ok(self.registry.simulators.make(self.simulator, &Properties::default())?)
    }

    /// Number of steps of a duration.
    pub fn steps(&self, duration: f64) -> u32 {
        (duration / self.dt).round().max(1.0) as u32
    }
}

/// A test with an exact answer.
#[derive(Clone, Copy)]
pub struct AccuracyTest {
    /// Name.
    pub name: &'static str,
    /// What is done, and what is measured.
    pub doc: &'static str,
    /// Name, unit and exact value of each number.
    pub values: &'static [(&'static str, &'static str, f64)],
    /// Figures of each of the [`PEERS`], as they were noted.
    pub peers: [&'static str; 7],
    /// Runs it.
    pub run: fn(&Circumstances<'_>) -> Measured,
}

/// All tests.
pub const TESTS: &[AccuracyTest] = &[
    AccuracyTest {
        name: "bounce",
        doc: "A ball with e = 1 falls by 1 m and bounces for 10 s: mechanical energy left, of that at the start.",
        values: &[("energy left", "", 1.0)],
        peers: peers::BOUNCE,
        run: tests_of_contact::bounce,
    },
    AccuracyTest {
        name: "slide",
        doc: "A block at 3 m/s slides to a stop: mean relative error of the distance v²/(2a), on a plane with headings of 0° to 45° and down an incline of 10°; μ = 0.3, 0.5, 0.7.",
        values: &[("mean error", "%", 0.0)],
        peers: peers::SLIDE,
        run: tests_of_contact::slide,
    },
    AccuracyTest {
        name: "slide at 45°",
        doc: "The block on the plane at 45° to the axes, μ = 0.5: distance, of the exact one.",
        values: &[("distance", "", 1.0)],
        peers: peers::SLIDE_45,
        run: tests_of_contact::slide_at_45,
    },
    AccuracyTest {
        name: "creep",
        doc: "The block lies on an incline of 20° with μ = 0.5: its mean velocity from 1 s to 5 s.",
        values: &[("velocity", "mm/s", 0.0)],
        peers: peers::CREEP,
        run: tests_of_contact::creep,
    },
    AccuracyTest {
        name: "torque-free",
        doc: "A body turns freely for 100 s: relative drift of its energy and of its angular momentum.",
        values: &[("energy drift", "", 0.0), ("momentum drift", "", 0.0)],
        peers: peers::TORQUE_FREE,
        run: tests_of_motion::torque_free,
    },
    AccuracyTest {
        name: "cradle",
        doc: "One of five touching balls with e = 1 comes at 1 m/s: largest error of a velocity (m/s) and energy afterwards, of that before.",
        values: &[("velocity error", "m/s", 0.0), ("energy", "", 1.0)],
        peers: peers::CRADLE,
        run: tests_of_contact::cradle,
    },
    AccuracyTest {
        name: "rods",
        doc: "200 impacts of a rod with one end, e = 1, with friction, at 1 to 3 m/s: how many create energy (more than 10⁻⁶), the worst ratio of energies, and the mean error of the velocity against Stronge's law.",
        values: &[("create energy", "of 200", 0.0), ("worst ratio", "", 1.0), ("velocity error", "m/s", 0.0)],
        peers: peers::RODS,
        run: tests_of_contact::rods,
    },
    AccuracyTest {
        name: "stack",
        doc: "1000 kg on nine boxes of 1 kg: by how much the top has moved after 5 s. Peers: whether it stands.",
        values: &[("displacement", "mm", 0.0)],
        peers: peers::STACK,
        run: tests_of_contact::stack,
    },
    AccuracyTest {
        name: "wall",
        doc: "A ball of 5 cm radius flies at 100 m/s against a wall of 10 mm, at 40 phases of the step: how many pass through. Peers: at 1/60 s.",
        values: &[("pass", "of 40", 0.0)],
        peers: peers::WALL,
        run: tests_of_motion::wall,
    },
];

/// Simulators that resolve contacts.
pub const SIMULATORS: [&str; 5] = ["realtime", "impulse", "constraint", "sequential", "penalty"];

/// The time steps at which the others were measured, s.
pub const STEPS: [f64; 2] = [1.0 / 240.0, 1e-3];
