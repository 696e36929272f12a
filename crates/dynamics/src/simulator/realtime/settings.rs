//! User settings of the real-time simulator.

use crate::component;
use crate::impact::Restitution;
use crate::property::{self, Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Soft constraints with sub-steps: piles, stacks and joints in real time.
    pub struct RealtimeSettings as "realtime" {
        /// Sub-steps per step, 1 to 1000. More sub-steps make contacts, joints and stacks stiffer.
        substeps: i64 = 4, "", Allowed::Within(1.0, 1000.0);
        /// Frequency of the contact springs as a fraction of the largest stable one, a quarter of the
        /// sub-step rate; 0.001 to 1.
        contact_frequency: f64 = 0.9, "", Allowed::Within(0.001, 1.0);
        /// Damping ratio of these springs, dimensionless, above 0; above 1 overlap is removed without
        /// overshoot.
        contact_damping: f64 = 3.0, "", Allowed::Positive;
        /// Frequency of the joint springs as a fraction of the largest that is stable in joint graphs of any
        /// size, 1/(2πh) for a sub-step h; 0.001 to 2. Long chains and joints between very different masses
        /// are solved exactly and are rigid.
        joint_frequency: f64 = 1.6, "", Allowed::Within(0.001, 2.0);
        /// Damping ratio of these springs, dimensionless, above 0; above 1 overlap is removed without
        /// overshoot.
        joint_damping: f64 = 2.0, "", Allowed::Positive;
        /// Smallest number of joints, 1 to 1e9, for which a tree of joints is solved exactly; smaller ones
        /// are solved iteratively, which is faster and slightly compliant.
        exact_joints: i64 = 16, "", Allowed::Within(1.0, 1e9);
        /// Maximum depenetration speed, m/s, above 0.
        push_speed: f64 = 3.0, "m/s", Allowed::Positive;
        /// Speculative margin: distance at which contact points are created ahead of contact, m, above 0; at
        /// most a quarter of the radius of the smaller collider.
        foresight: f64 = 0.02, "m", Allowed::Positive;
        /// Relative motion of two colliders, as a fraction of the radius of the smaller, up to which their
        /// contact manifold is reused; 0 to 0.1.
        recycling: f64 = 0.01, "", Allowed::Within(0.0, 0.1);
        /// Approaches slower than the speed that gravity adds within this many steps do not bounce; 0 or
        /// more.
        bounce_threshold: f64 = 1.0, "", Allowed::NonNegative;
        /// Law of restitution: stronge (energetic), poisson (kinetic) or newton (kinematic).
        restitution_law: Restitution = Restitution::Stronge, "", Allowed::OneOf(&["stronge", "poisson", "newton"]);
        /// Whether bodies that stay still fall asleep.
        sleep: bool = true, "", Allowed::Finite;
        /// Speed below which every point of a body must stay for the body to count as still, m/s, 0 or more.
        sleep_speed: f64 = 0.05, "m/s", Allowed::NonNegative;
        /// Time for which all bodies of an island must be still before it falls asleep, s, 0 or more.
        sleep_time: f64 = 0.5, "s", Allowed::NonNegative;
        /// Continuous collision detection: whether fast bodies are stopped at their first contact instead of
        /// passing through others.
        continuous: bool = true, "", Allowed::Finite;
        /// Broad phase: name of a registered space.
        space: SpaceKind = SpaceKind::DynamicBvh, "", Allowed::OneOf(&SpaceKind::NAMES);
        /// Worker threads per step, 1 to 256; the result does not depend on their number.
        threads: i64 = 1, "", Allowed::Within(1.0, 256.0);
    }
}

impl RealtimeSettings {
    /// The settings, if every name in them is known and every number in its range.
    ///
    /// # Errors
    /// Returns which property is out of range or unknown.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        Ok(self)
    }
}
