//! Dynamics of four states at once, with 256-bit instructions where the machine has them. They change nothing in the result: no operation is
//! fused, and each lane has the bits of a single state.
#![allow(unsafe_code)]

use super::DynamicsError;
use super::forward_dynamics::{ExternalForces, forward_dynamics};
use super::inverse_dynamics::inverse_dynamics;
use super::kinematics::Workspace;
use super::lanes::Lanes;
use super::tree::LinkTree;
use glam::DVec3;

/// Positions, velocities, and joint forces or accelerations, each number for four states.
pub type FourStates<'a> = (&'a [Lanes], &'a [Lanes], &'a [Lanes]);

macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident, $algorithm:ident) => {
        $(#[$doc])*
        pub fn $name(
            tree: &LinkTree,
            work: &mut Workspace<Lanes>,
            states: FourStates<'_>,
            external: ExternalForces<'_, Lanes>,
            gravity: DVec3,
            result: &mut [Lanes],
        ) -> Result<(), DynamicsError> {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide(
                    tree: &LinkTree,
                    work: &mut Workspace<Lanes>,
                    states: FourStates<'_>,
                    external: ExternalForces<'_, Lanes>,
                    gravity: DVec3,
                    result: &mut [Lanes],
                ) -> Result<(), DynamicsError> {
                    $algorithm(tree, work, states, external, gravity, result)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has the instructions that the function is compiled for.
                    return unsafe { wide(tree, work, states, external, gravity, result) };
                }
            }
            $algorithm(tree, work, states, external, gravity, result)
        }
    };
}

dispatched! {
    /// [`forward_dynamics`] of four states.
    ///
    /// # Errors
    /// As there; one bad state refuses all four.
    forward_dynamics_of_four, forward_dynamics
}
dispatched! {
    /// [`inverse_dynamics`] of four states.
    ///
    /// # Errors
    /// As there.
    inverse_dynamics_of_four, inverse_dynamics
}
