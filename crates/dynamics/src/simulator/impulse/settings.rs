//! Settings of the event-driven simulator.

use crate::component;
use crate::impact::Restitution;
use crate::property::{self, Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Event-driven, impulse-based: every contact is a sequence of collisions, and bodies never overlap.
    pub struct ImpulseSettings as "impulse" {
        /// ε, width of the collision shell, m: two bodies closer than this collide if they approach; at least
        /// 0, where 0 chooses a thousandth of the diameter of the smallest dynamic body. Contacts hover
        /// within it. Smaller: more accurate, with more microcollisions (their number grows as 1/√ε).
        collision_epsilon: f64 = 0.0, "m", Allowed::NonNegative;
        /// σ, part of a gap (of at most ε) that is left when a pair is next measured; 0.01 to 0.99. Larger:
        /// collisions happen at wider gaps.
        landing_margin: f64 = 0.9, "", Allowed::Within(0.01, 0.99);
        /// Broad phase: the name of a space.
        space: SpaceKind = SpaceKind::SpatialHash, "", Allowed::OneOf(&SpaceKind::NAMES);
        /// Search for collisions: `one-sided` bounds the time of impact from below and never misses a
        /// collision; `bracketing` samples and bisects, and misses bodies that pass through each other within
        /// a sample.
        search: String = "one-sided", "", Allowed::OneOf(&["one-sided", "bracketing"]);
        /// Time between two samples of the bracketing search, s; above 0.
        sampling: f64 = 1.0 / 60.0, "s", Allowed::Positive;
        /// Meaning of the coefficient of restitution: `stronge` (energy), `poisson` (impulse) or `newton`
        /// (velocity).
        restitution_law: Restitution = Restitution::Stronge, "", Allowed::OneOf(&["stronge", "poisson", "newton"]);
        /// Whether collisions slower than about √(2gε) follow the rules of microcollisions, which keep
        /// resting bodies hopping within ε.
        microcollisions: bool = true, "", Allowed::Finite;
        /// Whether a microcollision may reverse the relative velocity, if the friction cone allows that
        /// impulse.
        reversing: bool = true, "", Allowed::Finite;
        /// Coefficient of restitution of a microcollision between two movable bodies at a gap of 0; 0 to 100.
        /// At a gap of ε it is that of the materials, with a parabola between. The energy it may add is
        /// limited to that of a fall through ε.
        boosted_restitution: f64 = 5.0, "", Allowed::Within(0.0, 100.0);
        /// Separation speed of a microcollision, in units of √(2gε), as far as it creates no energy; 0 to 1,
        /// where values below 0.02 count as 0.02. Smaller: lower and more frequent hops, hence slower and
        /// more accurate.
        least_hop: f64 = 0.25, "", Allowed::Within(0.0, 1.0);
        /// Whether bodies that are still, and whose contacts provably hold them in equilibrium, are put to
        /// rest.
        rest: bool = true, "", Allowed::Finite;
        /// Number of events of a pair (measurements of its gap) within one `stall_time` at which its bodies
        /// are frozen until the end of the step and reported as stalled; 10 to 1e9. Bounds the work of a
        /// step.
        stall_limit: i64 = 2000, "", Allowed::Within(10.0, 1e9);
        /// Window in which the events of a pair are counted, s; at least 0, where 0 chooses √(2ε/g), the
        /// duration of a free fall through ε, at most 1 s.
        stall_time: f64 = 0.0, "s", Allowed::NonNegative;
        /// Time over which contact forces are averaged, s; above 0.
        force_window: f64 = 0.1, "s", Allowed::Positive;
        /// Number of threads for independent groups of bodies; 1 to 256. The result is the same to the last
        /// bit for any number.
        threads: i64 = 1, "", Allowed::Within(1.0, 256.0);
        /// Whether microcollisions are reported as events, like other collisions.
        report_microcollisions: bool = false, "", Allowed::Finite;
    }
}

impl ImpulseSettings {
    /// The settings themselves, if every value is in its range and every name is known, by the rules of scene
    /// files.
    ///
    /// # Errors
    /// The first value that is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        Ok(self)
    }
}
