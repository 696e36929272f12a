//! What a user can set.

use crate::component;
use crate::contact::Restitution;
use crate::property::{Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Rigid contacts solved exactly: collisions at their times, resting contacts by complementarity.
    pub struct ConstraintSettings as "constraint" {
        /// Sub-steps of equal length in a step; with an error tolerance, what it starts with.
        substeps: i64 = 1, "", Allowed::Within(1.0, 1048576.0);
        /// Largest change of place within a sub-step that comes from forces changing on the way; 0: sub-steps are not adapted.
        error_tolerance: f64 = 0.0, "m", Allowed::NonNegative;
        /// Approach slower than this is contact, faster is collision; 0 chooses twice what gravity adds in a sub-step.
        contact_speed: f64 = 0.0, "m/s", Allowed::NonNegative;
        /// Slip slower than this meets static friction.
        stick_speed: f64 = 1e-4, "m/s", Allowed::NonNegative;
        /// Gap below which bodies touch, in parts of the smaller.
        touch_gap: f64 = 1e-6, "", Allowed::Within(1e-12, 0.01);
        /// Rounds of collisions in a sub-step after which bodies do not bounce any more.
        collision_limit: i64 = 32, "", Allowed::Within(1.0, 10000.0);
        /// Islands of more bodies than this, while they move, take a sub-step in short pieces instead of going from collision to collision.
        exact_bodies: i64 = 16, "", Allowed::Within(0.0, 1e9);
        /// What restitution is a ratio of in a single collision: stronge (works), poisson (impulses) or newton (velocities). Simultaneous collisions
        /// part with at least e times the velocities they came with, less where that would create energy.
        restitution_law: String = "stronge", "", Allowed::Finite;
        /// Whether restitution is reduced where it would create energy.
        clamp_energy: bool = true, "", Allowed::Finite;
        /// Simultaneous collisions: complementarity (nobody is pulled, some part faster than restitution says) or linear (all part as restitution
        /// says, even where that takes a pull).
        impulses: String = "complementarity", "", Allowed::OneOf(&["complementarity", "linear"]);
        /// Contact forces: newton (sparse, isotropic friction) or baraff (pivoting, friction along two axes).
        solver: String = "newton", "", Allowed::Finite;
        /// Velocity by which contacts of bodies at rest may miss their conditions; faster ones by more.
        solver_tolerance: f64 = 1e-12, "m/s", Allowed::Positive;
        /// Error that a step of jointed bodies may make where nothing touches them; their steps are chosen for it.
        joint_tolerance: f64 = 1e-10, "m", Allowed::Positive;
        /// Broad phase: the name of a space.
        space: String = "dynamic-bvh", "", Allowed::Finite;
    }
}

impl ConstraintSettings {
    /// The settings themselves if every name in them is known and every number in its range, else which is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        use crate::property::{Component, ComponentType};
        Self::with(&self.properties())?;
        self.space_kind()?;
        if !["stronge", "poisson", "newton"].contains(&self.restitution_law.as_str()) {
            return Err(refuse(
                "restitution_law",
                "one of stronge, poisson, newton".into(),
                &self.restitution_law,
            ));
        }
        if !["newton", "baraff"].contains(&self.solver.as_str()) {
            return Err(refuse("solver", "one of newton, baraff".into(), &self.solver));
        }
        Ok(self)
    }

    /// The law of restitution of single collisions.
    pub(super) fn law(&self) -> Restitution {
        match self.restitution_law.as_str() {
            "newton" => Restitution::Newton,
            "poisson" => Restitution::Poisson,
            _ => Restitution::Stronge,
        }
    }

    pub(super) fn space_kind(&self) -> Result<SpaceKind, PropertyError> {
        SpaceKind::from_name(&self.space).map_err(|_| {
            let known = format!("one of {}", SpaceKind::names().collect::<Vec<_>>().join(", "));
            refuse("space", known, &self.space)
        })
    }
}

fn refuse(name: &str, allowed: String, value: &str) -> PropertyError {
    PropertyError::Range { component: "constraint".into(), name: name.into(), allowed, value: value.into() }
}
