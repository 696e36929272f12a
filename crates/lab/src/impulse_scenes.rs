//! The twelve scenes of pure impulses against the clock, and against the slowdowns published for such scenes.

use rattleback_dynamics::property::ComponentType;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Registry, Simulator};
use rattleback_scene::{BuiltScene, Scene, SceneError};
use std::time::{Duration, Instant};

/// A scene, how long it was run when its slowdown was published, and that slowdown: seconds of computing (on a
/// workstation of 200 MHz, without graphics) per simulated second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Name of the built-in scene.
    pub name: &'static str,
    /// Simulated, s.
    pub duration: f64,
    /// Computed over simulated time.
    pub slowdown: f64,
}

const fn published(name: &'static str, duration: f64, slowdown: f64) -> Published {
    Published { name, duration, slowdown }
}

/// The twelve.
pub const SCENES: [Published; 12] = [
    published("dominos", 1.2, 3.1),
    published("block-drop", 0.8, 0.5),
    published("block-on-ramp", 5.0, 0.3),
    published("chain-of-balls", 2.5, 1.2),
    published("balls-in-dish", 5.8, 2.4),
    published("coins", 3.6, 4.6),
    published("pool-break", 3.0, 9.0),
    published("bowling", 5.0, 3.6),
    published("platter", 40.0, 1.4),
    published("rattleback", 10.0, 1.2),
    published("chute", 5.0, 6.6),
    published("exploding-text", 4.0, 4.5),
];

/// Why an experiment with the event-driven simulator came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The scene cannot be built.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// A step failed.
    #[error("{0}")]
    Engine(#[from] rattleback_dynamics::Error),
    /// The scene is for another simulator.
    #[error("the scene is for the simulator `{0}`; this experiment needs `impulse`")]
    OtherSimulator(String),
    /// The scene has no body of that name.
    #[error("the scene has no body called `{0}`")]
    NoBody(String),
}

/// What a run cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Simulated time, s; less than requested if the time limit was reached.
    pub simulated: f64,
    /// s on the clock.
    pub wall: f64,
    /// Processor time, s; the same as `wall` where the system does not report it.
    pub computed: f64,
    /// Measured gaps.
    pub checks: u64,
    /// Collisions of every kind.
    pub collisions: u64,
    /// Slow ones among them.
    pub microcollisions: u64,
    /// Bodies put to rest.
    pub rested: u64,
    /// Pairs that stalled.
    pub stalled: u64,
    /// Smallest gap ever measured, m.
    pub smallest_gap: f64,
    /// (time, collision checks per simulated second) over a hundredth of the run each.
    pub check_rate: Vec<(f64, f64)>,
}

/// Processor time of this thread, s, where the system reports it.
fn computed_so_far() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

/// Scene ⇒ the built scene, and a simulator with the same settings and access to its internals.
///
/// # Errors
/// A scene that cannot be built, or whose simulator is not `impulse`.
pub fn open(scene: &Scene, registry: &Registry) -> Result<(BuiltScene, Impulse), ExperimentError> {
    open_with(scene, registry, |_| {})
}

/// [`open`] with settings that are changed first.
fn open_with(
    scene: &Scene,
    registry: &Registry,
    change: impl FnOnce(&mut ImpulseSettings),
) -> Result<(BuiltScene, Impulse), ExperimentError> {
    let built = scene.build(registry)?;
    let description = built.simulator.description();
    if description.type_name != ImpulseSettings::TYPE_NAME {
        return Err(ExperimentError::OtherSimulator(description.type_name));
    }
    let mut settings =
        ImpulseSettings::with(&description.properties).map_err(rattleback_dynamics::Error::from)?;
    change(&mut settings);
    Ok((built, Impulse::new(settings)?))
}

/// Runs a built-in scene for a number of simulated seconds or until the time limit. With several threads the wall time is measured.
pub fn measure(
    name: &str,
    duration: f64,
    patience: Duration,
    threads: u32,
    registry: &Registry,
) -> Result<Cost, ExperimentError> {
    let set = |settings: &mut ImpulseSettings| settings.threads = i64::from(threads);
    let (mut built, mut impulse) = open_with(&Scene::built_in(name)?, registry, set)?;
    let steps = (duration / built.dt).round().max(1.0) as u64;
    let stride = steps.div_ceil(100);
    let mut check_rate = Vec::new();
    let mut checks_before = 0;
    let (began, computed_before) = (Instant::now(), computed_so_far());
    for step in 1..=steps {
        impulse.step(&mut built.world, built.dt)?;
        if step.is_multiple_of(stride) {
            let checks = impulse.counters().checks;
            let rate = (checks - checks_before) as f64 / (stride as f64 * built.dt);
            check_rate.push((built.world.time(), rate));
            checks_before = checks;
            if began.elapsed() > patience {
                break;
            }
        }
    }
    let counters = impulse.counters();
    let wall = began.elapsed().as_secs_f64();
    let own = computed_so_far().zip(computed_before).map(|(after, before)| after - before);
    let computed = own.filter(|_| threads == 1).unwrap_or(wall);
    Ok(Cost {
        simulated: built.world.time(),
        wall,
        computed,
        checks: counters.checks,
        collisions: counters.collisions,
        microcollisions: counters.microcollisions,
        rested: counters.rested,
        stalled: counters.stalled,
        smallest_gap: impulse.smallest_gap(),
        check_rate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run reports as many checks in its parts as in the whole, and a shorter time limit gives fewer.
    #[test]
    fn the_parts_of_a_run_add_up() {
        let registry = Registry::default();
        let cost = measure("block-drop", 0.2, Duration::from_secs(90), 1, &registry).unwrap();
        assert!((cost.simulated - 0.2).abs() < 1e-9 && cost.smallest_gap > 0.0);
        let sum: f64 = cost.check_rate.iter().map(|(_, rate)| rate * 0.002).sum();
        assert!((sum - cost.checks as f64).abs() < 0.5, "{sum} {}", cost.checks);
        let short = measure("block-drop", 0.2, Duration::ZERO, 2, &registry).unwrap();
        assert!(short.simulated < 0.01);
        assert!(matches!(
            measure("binary", 1.0, Duration::ZERO, 1, &registry),
            Err(ExperimentError::OtherSimulator(_))
        ));
    }
}
