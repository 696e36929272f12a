//! Articulated bodies in joint coordinates: trees of links that cannot drift apart, because nothing but joint positions describes them.

mod batch;
mod builder;
mod collocation;
mod constrained;
mod constraint;
mod derivatives;
mod double_double;
mod element;
mod extended;
mod forward_dynamics;
mod image;
mod impulse_response;
mod integration;
mod inverse_dynamics;
mod inverse_kinematics;
mod jacobian;
pub mod joint;
mod kinematics;
mod lanes;
mod linear;
mod mass_matrix;
mod mechanism;
mod momentum;
mod row_solver;
mod scalar;
mod spatial;
mod tree;

pub use batch::{FourStates, forward_dynamics_of_four, inverse_dynamics_of_four};
pub use builder::TreeBuilder;
pub use collocation::Collocation;
pub use constraint::{Coupling, LoopClosure, LoopKind};
pub use derivatives::DynamicsDerivatives;
pub use double_double::DoubleDouble;
pub use element::{Actuator, Element, Friction, Limit, LimitHit, Servo};
pub use extended::ExtendedDynamics;
pub use forward_dynamics::{ExternalForces, forward_dynamics};
pub use image::{ImageError, MechanismImage, MechanismState};
pub use impulse_response::{apply_inverse_mass, impulse_response, inverse_mass};
pub use integration::{LinkForces, Method, TreeSystem, step_all};
pub use inverse_dynamics::{inverse_dynamics, joint_reactions};
pub use inverse_kinematics::{IkReport, IkSettings, IkTarget, InverseKinematics};
pub use jacobian::{bias_acceleration, jacobian, jacobian_rate};
pub use kinematics::{Workspace, forward_kinematics, forward_velocities};
pub use lanes::Lanes;
pub use linear::{Matrix, Symmetric, Vector};
pub use mass_matrix::MassMatrix;
pub use mechanism::{Mechanism, MechanismError, MechanismParts, MechanismReadout, Redundancy, StepReport};
pub use momentum::{
    CentroidalMomentum, center_of_mass, external_power, joint_power, kinetic_energy, momentum,
    potential_energy,
};
pub use scalar::Scalar;
pub use spatial::{ArticulatedInertia, RigidInertia, SpatialForce, SpatialMotion};
pub use tree::{Link, LinkTree, TreeError};

/// Why an algorithm could not be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// A joint moves no mass, or its numbers are not finite.
    #[error("the joint of link `{link}` moves no mass, or a number there is not finite")]
    Singular {
        /// Name of the link.
        link: String,
    },
    /// The mass matrix is not positive definite.
    #[error("the mass matrix is not positive definite at velocity {axis}")]
    NotPositive {
        /// Place of the velocity whose pivot is not above 0.
        axis: usize,
    },
    /// The iteration of an implicit step did not converge: the step is too long for the forces.
    #[error("a step of {step} s does not converge; take a shorter one")]
    NotConverged {
        /// Length of the step, s.
        step: f64,
    },
    /// A hard spring stands at the coordinate from which it repels.
    #[error("the hard spring at link `{link}` stands where its force has no bound")]
    HardSpring {
        /// Name of the link.
        link: String,
    },
    /// Contacts of joints with their limits, or stick and slip, changed too often within a step.
    #[error("more than {count} changes of contact or friction within one step, at {time} s")]
    TooManyEvents {
        /// How many were allowed.
        count: u32,
        /// Time, s.
        time: f64,
    },
    /// An integrator of the library refused the step.
    #[error(transparent)]
    Integrator(#[from] rattleback_numerics::StepError),
    /// There is no such link.
    #[error("there is no link {link}; the tree has {count}")]
    UnknownLink {
        /// Index asked for.
        link: usize,
        /// How many there are.
        count: usize,
    },
    /// A slice does not have the length the tree needs.
    #[error("{what}: {found} numbers, the tree has {expected}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
}

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), DynamicsError> {
    if found == expected { Ok(()) } else { Err(DynamicsError::Length { what, found, expected }) }
}

fn check_link(tree: &LinkTree, link: usize) -> Result<(), DynamicsError> {
    let count = tree.links().len();
    if link < count { Ok(()) } else { Err(DynamicsError::UnknownLink { link, count }) }
}
