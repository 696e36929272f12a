//! Steps of a system.
//!
//! | method | what it solves | when |
//! |---|---|---|
//! | `ExplicitEuler`, `SymplecticEuler`, `VelocityVerlet` | forces at the start | soft springs, short steps, no contact |
//! | `LinearImplicit` | one linear system (implicit Euler, linearised) | stiff bodies without contact |
//! | `Newton`, `NewtonBdf2` | the minimum of the incremental potential | anything; the only ones with contact |

mod explicit;
mod incremental;
mod linear;
mod newton;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::conjugate_gradients::ConjugateGradients;
use crate::contact::barrier::{Contact, Friction};
use crate::error::check;
use crate::lists::{Lists, Plans};
use crate::matrix::{BlockMatrix, Couplings};
use crate::system::State;
use crate::{DeformableError, DeformableSystem, RigidStatus};

/// How a system is advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// x' = x + h v, v' = v + h a(x, v).
    ExplicitEuler,
    /// v' = v + h a(x, v), x' = x + h v'.
    SymplecticEuler,
    /// x' = x + h v + ½ h² a, v' = v + ½ h (a + a').
    VelocityVerlet,
    /// (M − h D − h² K) Δv = h (f + h K v), x' = x + h v'.
    LinearImplicit,
    /// Implicit Euler, solved: Newton's method with line search on the incremental potential.
    #[default]
    Newton,
    /// The same with the second-order backward formula: far less numerical damping.
    NewtonBdf2,
}

/// Settings of a system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Method.
    pub method: Method,
    /// m/s²
    pub gravity: DVec3,
    /// Threads; bits do not depend on their number.
    pub threads: usize,
    /// d̂, m: surfaces repel each other within this distance. 0: no contact.
    pub contact_distance: f64,
    /// Stiffness of the barrier in units of m/h².
    pub barrier_stiffness: f64,
    /// Relative speed below which friction sticks, m/s.
    pub stick_speed: f64,
    /// Newton's method ends when no vertex wants to move faster than this beyond its solution, m/s.
    pub tolerance: f64,
    /// Iterations of Newton's method at most; every iterate is free of intersections.
    pub max_iterations: usize,
    /// Relative residual at which linear solves end.
    pub linear_tolerance: f64,
    /// Clamp on compressed springs in `LinearImplicit`.
    pub compression_clamp: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Newton,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            threads: 1,
            contact_distance: 1e-3,
            barrier_stiffness: 10.0,
            stick_speed: 1e-3,
            tolerance: 1e-3,
            max_iterations: 50,
            linear_tolerance: 1e-4,
            compression_clamp: true,
        }
    }
}

impl Settings {
    fn validate(&self) -> Result<(), DeformableError> {
        check("gravity", self.gravity.length(), true, "finite")?;
        check("contact_distance", self.contact_distance, self.contact_distance >= 0.0, "≥ 0 m")?;
        check("barrier_stiffness", self.barrier_stiffness, self.barrier_stiffness > 0.0, "> 0")?;
        check("stick_speed", self.stick_speed, self.stick_speed > 0.0, "> 0 m/s")?;
        check("tolerance", self.tolerance, self.tolerance > 0.0, "> 0 m/s")?;
        let linear = self.linear_tolerance;
        check("linear_tolerance", linear, linear > 0.0 && linear < 1.0, "above 0, below 1")
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Iterations of Newton's method.
    pub iterations: usize,
    /// Iterations of conjugate gradients, in all.
    pub linear_iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// Largest speed by which the last iteration still moved a vertex, m/s.
    pub residual: f64,
    /// Pairs of features that were looked at.
    pub candidates: usize,
    /// Pairs within the activation distance at the end.
    pub contacts: usize,
    /// Smallest distance of two features, m; infinite without contact.
    pub smallest_distance: f64,
    /// Whether pinned vertices and driven bodies are where they should be: something may be in their way.
    pub targets_reached: bool,
    /// Edges that tore.
    pub torn: usize,
    /// The matrix was not positive definite, and the clamp was switched on.
    pub clamped: bool,
}

/// Arrays of a step, kept between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    pub lists: Lists,
    pub plans: Plans,
    pub matrix: BlockMatrix,
    pub solver: ConjugateGradients,
    pub couplings: Couplings,
    pub gradient: Vec<DVec3>,
    pub start: Vec<DVec3>,
    pub x: Vec<DVec3>,
    pub trial: Vec<DVec3>,
    pub direction: Vec<DVec3>,
    pub predicted: Vec<DVec3>,
    pub drag: Vec<DMat3>,
    pub force: Vec<DVec3>,
    pub contacts: Vec<Contact>,
    pub trial_contacts: Vec<Contact>,
    pub found: Vec<Vec<Contact>>,
    pub friction: Vec<Friction>,
    pub points: Vec<DVec3>,
    pub points_start: Vec<DVec3>,
    pub points_trial: Vec<DVec3>,
    pub times: Vec<f64>,
    /// Positions and velocities one step ago, and its length: for the second-order formula.
    pub before: Option<(Vec<DVec3>, Vec<DVec3>, f64)>,
}

impl Workspace {
    /// Matrix and plans of a new topology.
    pub fn prepare(&mut self, state: &State) {
        let rows = state.model.len();
        self.lists.load(&state.model, &state.affines, &state.model.position, 0.0);
        self.matrix = self.lists.matrix(rows);
        self.plans = self.lists.plans(rows, &self.matrix);
        self.before = None;
    }
}

impl DeformableSystem {
    /// Advances by h seconds.
    ///
    /// # Errors
    /// A step length or setting out of range, surfaces that intersect before the step, a state that is not finite after it. The
    /// system is left as it was.
    pub fn step(&mut self, h: f64) -> Result<StepReport, DeformableError> {
        check("step", h, h > 0.0, "> 0 s")?;
        self.state.settings.validate()?;
        self.prepare();
        self.set_driven_targets(h);
        let mut report = match self.state.settings.method {
            Method::ExplicitEuler | Method::SymplecticEuler | Method::VelocityVerlet => {
                self.explicit_step(h)?
            }
            Method::LinearImplicit => self.linear_step(h)?,
            Method::Newton | Method::NewtonBdf2 => self.newton_step(h)?,
        };
        self.state.time += h;
        report.torn = self.tear();
        Ok(report)
    }

    /// Targets of driven bodies at the end of a step.
    fn set_driven_targets(&mut self, h: f64) {
        let state = &mut self.state;
        for body in state.bodies.iter().filter(|b| b.status == RigidStatus::Driven) {
            let first = body.first as usize;
            let (x, v) = (&state.model.position[first..first + 4], &state.model.velocity[first..first + 4]);
            let turn = glam::DQuat::from_scaled_axis(h * crate::rigid::angular_velocity(x, v));
            let target: [DVec3; 4] =
                std::array::from_fn(
                    |k| if k == 0 { x[0] + h * v[0] } else { (turn * x[k]).normalize_or(x[k]) },
                );
            state.target[first..first + 4].copy_from_slice(&target);
        }
    }

    /// Takes over new positions and velocities if they are finite.
    fn accept(&mut self, x: &[DVec3], v: &[DVec3]) -> Result<(), DeformableError> {
        let state = &mut self.state;
        for (what, vectors) in [("position", x), ("velocity", v)] {
            if let Some(vertex) = vectors.iter().position(|x| !x.is_finite()) {
                return Err(DeformableError::NonFiniteState { what, vertex });
            }
        }
        let driven: Vec<_> = state
            .bodies
            .iter()
            .filter(|b| b.status == RigidStatus::Driven)
            .map(|b| {
                let first = b.first as usize;
                let range = first..first + 4;
                let (x, v) = (&state.model.position[range.clone()], &state.model.velocity[range]);
                (first, v[0], crate::rigid::angular_velocity(x, v))
            })
            .collect();
        state.model.position.copy_from_slice(x);
        state.model.velocity.copy_from_slice(v);
        // Driven bodies keep their velocities; those of a chord would slow them down.
        for (first, velocity, angular) in driven {
            state.model.velocity[first] = velocity;
            for k in first + 1..first + 4 {
                state.model.velocity[k] = angular.cross(x[k]);
            }
        }
        Ok(())
    }
}
