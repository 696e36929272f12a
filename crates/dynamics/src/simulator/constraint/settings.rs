//! Settings of the constraint simulator.

use crate::component;
use crate::impact::Restitution;
use crate::property::{self, Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Rigid contacts: collisions at their times, contact forces by complementarity.
    pub struct ConstraintSettings as "constraint" {
        /// Sub-steps of equal length in a step; with `error_tolerance` > 0, their least number. At least 1.
        substeps: i64 = 1, "", Allowed::Within(1.0, 1048576.0);
        /// Largest position error in a sub-step from loads that change within it, m; sub-steps are doubled
        /// and halved to meet it. 0: fixed sub-steps.
        error_tolerance: f64 = 0.0, "m", Allowed::NonNegative;
        /// Normal approach speed above which a contact point is a collision with restitution, m/s. 0: twice
        /// the speed that gravity adds in a sub-step, at least 1e-4.
        contact_speed: f64 = 0.0, "m/s", Allowed::NonNegative;
        /// Slip speed up to which the static coefficient of friction applies, m/s.
        stick_speed: f64 = 1e-4, "m/s", Allowed::NonNegative;
        /// Gap up to which bodies touch, as a fraction of the smaller collider's half length; 1e-12 to 0.01.
        touch_gap: f64 = 1e-6, "", Allowed::Within(1e-12, 0.01);
        /// Rounds of collisions in a sub-step after which restitution is zero; 1 to 10000.
        collision_limit: i64 = 32, "", Allowed::Within(1.0, 10000.0);
        /// Largest number of bodies of a moving island that is advanced from collision to collision, twice as
        /// many in rows and stacks; larger ones are advanced in short pieces.
        exact_bodies: i64 = 8, "", Allowed::Within(0.0, 1e9);
        /// Restitution law of a single collision: `stronge` (ratio of works), `poisson` (of impulses) or
        /// `newton` (of velocities). In simultaneous collisions every point separates with at least e times
        /// its approach speed, less where that would create energy.
        restitution_law: Restitution = Restitution::Stronge, "", Allowed::OneOf(&["stronge", "poisson", "newton"]);
        /// Whether restitution is reduced where it would increase kinetic energy.
        clamp_energy: bool = true, "", Allowed::Finite;
        /// Simultaneous collisions: `complementarity` (impulses only push; points may separate faster than e
        /// requires) or `linear` (every point separates with exactly e times its approach speed, by pulling
        /// impulses if necessary).
        impulses: String = "complementarity", "", Allowed::OneOf(&["complementarity", "linear"]);
        /// Contact force solver: `newton` (sparse, isotropic friction) or `baraff` (dense pivoting, friction
        /// along two axes).
        solver: String = "newton", "", Allowed::OneOf(&["newton", "baraff"]);
        /// Residual of the contact conditions for bodies at rest, m/s; it grows with the speed of the island.
        solver_tolerance: f64 = 1e-12, "m/s", Allowed::Positive;
        /// Local error of the integrator of mechanisms without contacts, m or rad; it determines its steps.
        joint_tolerance: f64 = 1e-10, "m", Allowed::Positive;
        /// Broad phase, by the name of a space.
        space: SpaceKind = SpaceKind::DynamicBvh, "", Allowed::OneOf(&SpaceKind::NAMES);
    }
}

impl ConstraintSettings {
    /// Validates the settings.
    ///
    /// # Errors
    /// Names the first setting that is out of its range or unknown.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        Ok(self)
    }
}
