//! The physics checks: what the engine computes against what is known to be true.
//!
//! A [`Case`] runs a small experiment and returns [`Check`]s. A check compares one number with its expected value,
//! which comes from a closed form, a conservation law or a publication, never from an earlier run of this program.

mod body_integrators;
mod collision;
mod forces;
mod mass;
mod methods;
mod multibody;
mod repeatability;
mod rotation;
mod zero_crossing;

use rattleback_dynamics::Registry;
use serde::Serialize;
use std::error::Error;

/// How far a number may be from the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Allowed {
    Absolute(f64),
    Relative(f64),
    /// For comparison only.
    Anything,
}

/// One number compared with the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Group and name: `rotation/flip-period`.
    pub case: String,
    /// What computed it: a simulator and its integrator, or a method.
    pub simulator: String,
    /// What is true, with its source in the case's documentation.
    pub expected: f64,
    /// What came out.
    pub got: f64,
    /// |got − expected|, divided by |expected| if `relative`.
    pub error: f64,
    /// Whether `error` and `allowed` are relative to the expected number.
    pub relative: bool,
    /// Largest error that passes; nothing for a row that is for comparison only.
    pub allowed: Option<f64>,
    /// Whether it is within what is allowed; comparisons always are.
    pub pass: bool,
}

impl Check {
    fn new(
        case: impl Into<String>,
        simulator: impl Into<String>,
        expected: f64,
        got: f64,
        allowed: Allowed,
    ) -> Self {
        let relative = matches!(allowed, Allowed::Relative(_));
        let difference = (got - expected).abs();
        let error = if relative { difference / expected.abs() } else { difference };
        let limit = match allowed {
            Allowed::Absolute(limit) | Allowed::Relative(limit) => Some(limit),
            Allowed::Anything => None,
        };
        // Written so that NaN fails.
        let pass = limit.is_none_or(|limit| error <= limit);
        Self {
            case: case.into(),
            simulator: simulator.into(),
            expected,
            got,
            error,
            relative,
            allowed: limit,
            pass,
        }
    }
}

type Outcome = Result<Vec<Check>, Box<dyn Error + Send + Sync>>;

/// A small experiment.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Group and name: the checks it makes begin with it.
    pub name: &'static str,
    /// Description, one line.
    pub doc: &'static str,
    /// Takes long: runs only if the filter names it.
    pub long: bool,
    run: fn(&Registry) -> Outcome,
}

impl Case {
    /// Runs the experiment. One that could not be carried out counts as a failed check.
    pub fn run(&self, registry: &Registry) -> Vec<Check> {
        (self.run)(registry).unwrap_or_else(|error| {
            vec![Check::new(format!("{}: {error}", self.name), "", 0.0, f64::NAN, Allowed::Absolute(0.0))]
        })
    }
}

const fn case(name: &'static str, doc: &'static str, run: fn(&Registry) -> Outcome) -> Case {
    Case { name, doc, long: false, run }
}

const fn long(name: &'static str, doc: &'static str, run: fn(&Registry) -> Outcome) -> Case {
    Case { name, doc, long: true, run }
}

/// Every case there is, in the order in which they are shown.
pub const CASES: [Case; 29] = [
    case("mass/cube", "Volume integrals of a cube to 15 digits", mass::cube),
    case("mass/tetrahedron", "Volume integrals of a tetrahedron to 15 digits", mass::tetrahedron),
    case("mass/icosphere", "Volume integrals of six icospheres to 6 digits", mass::icospheres),
    case("method/order", "Measured order of every method on the oscillator", methods::orders),
    case("method/energy", "Energy of the oscillator after 100 steps", methods::energies),
    case("method/drift", "Conserved quantity of symplectic methods over 100 000 steps", methods::drifts),
    case("method/step-control", "Step factors, and a Kepler orbit by step doubling", methods::step_control),
    case("body/order", "Measured order of every integrator of rigid bodies", body_integrators::orders),
    case(
        "body/tumbling-order",
        "Measured order of every integrator on a tumbling body under a torque",
        body_integrators::tumbling_orders,
    ),
    case("body/free-fall", "Height after one second of fall", body_integrators::free_fall),
    case(
        "rotation/conservation",
        "Energy and angular momentum of a torque-free body over 100 s",
        rotation::conservation,
    ),
    case("rotation/flip-period", "Period of a body spun about its middle axis", rotation::flip_period),
    case(
        "rotation/symmetric-top",
        "Precession rate of a symmetric top in its own frame",
        rotation::symmetric_top,
    ),
    case("force/drag", "Fall against linear drag", forces::drag),
    case("force/binary", "Period of two masses around each other", forces::binary),
    case("force/spring", "Damped spring between two masses", forces::spring),
    case("force/spring-critical", "A critically damped spring never swings through", forces::critical_spring),
    case("force/buoyancy", "Depth at which balls float", forces::floating),
    case("force/momentum", "Momentum of a cloud under pair forces and springs", forces::pair_momentum),
    case("collision/reference", "Nine single collisions to ten digits", collision::references),
    case("collision/rays", "Directions of sliding that stay", collision::constant_sliding),
    case("collision/energy", "Energy and works over random collisions", collision::energy),
    case(
        "multibody/reference",
        "Accelerations of a double pendulum against their closed form",
        multibody::reference,
    ),
    case("multibody/energy", "Energy of a triple pendulum over 60 s", multibody::energy),
    case(
        "multibody/conservation",
        "Momentum and energy of a floating tree of links over 60 s",
        multibody::conservation,
    ),
    long(
        "multibody/loops",
        "Closure of a four-bar linkage and a Stewart platform over 100 s",
        multibody::loops,
    ),
    case("repeat/determinism", "The same run twice, bit for bit", repeatability::determinism),
    case("repeat/snapshot", "Saved, restored and continued, bit for bit", repeatability::snapshot),
    case("repeat/reversal", "Forwards, velocities reversed, backwards", repeatability::reversal),
];

/// The cases whose name contains the filter; all of them but the long ones for an empty one.
pub fn matching(filter: &str) -> impl Iterator<Item = &'static Case> + '_ {
    CASES.iter().filter(move |case| case.name.contains(filter) && !(case.long && filter.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_a_number_fails() {
        assert!(!Check::new("", "", 1.0, f64::NAN, Allowed::Relative(1e9)).pass);
        assert!(!Check::new("", "", 0.0, 0.0, Allowed::Relative(1.0)).pass, "0/0 proves nothing");
        assert!(Check::new("", "", 2.0, 2.1, Allowed::Relative(0.051)).pass);
        assert!(Check::new("", "", 2.0, 9.0, Allowed::Anything).pass);
    }

    #[test]
    fn filters_choose_by_name() {
        assert_eq!(matching("").count(), CASES.iter().filter(|case| !case.long).count());
        assert_eq!(matching("multibody").count(), 4, "a filter runs the long ones too");
        assert_eq!(matching("mass/").count(), 3);
        assert_eq!(matching("nothing").count(), 0);
    }

    /// A-T1 (first state), A-T4, T-INT-02, -03, -04, -05, -06, -08, T-FRC-02, -03, -05, RB-3, A-58, C-T1, R1 to R9, N6: what a user would run. Of RB-1 the period
    /// and the first zero; its bound of 1e-12 on the angular momentum vector over 60 s is not among the checks.
    #[test]
    fn every_check_passes() {
        let registry = Registry::default();
        for case in matching("") {
            for check in case.run(&registry) {
                assert!(check.pass, "{check:?}");
                assert!(check.case.starts_with(case.name), "{check:?}");
            }
        }
    }
}
