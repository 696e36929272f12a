//! What a user can set.

use crate::component;
use crate::contact::Restitution;
use crate::property::Allowed;

component! {
    /// Event-driven: every contact is a collision, nothing ever overlaps.
    pub struct ImpulseSettings as "impulse" {
        /// ε: a gap below which two bodies count as touching; 0 chooses a thousandth of the smallest moving body.
        collision_epsilon: f64 = 0.0, "m", Allowed::NonNegative;
        /// σ: the part of a gap (of at most ε) that a step towards contact leaves.
        landing_margin: f64 = 0.9, "", Allowed::Within(0.01, 0.99);
        /// Broad phase: the name of a space.
        space: String = "spatial-hash", "", Allowed::Finite;
        /// How a collision ends: stronge, poisson or newton.
        restitution_law: String = "stronge", "", Allowed::Finite;
        /// Whether slow collisions are answered so that resting bodies do not sink into ε.
        microcollisions: bool = true, "", Allowed::Finite;
        /// Whether a slow collision may simply be turned back.
        reversing: bool = true, "", Allowed::Finite;
        /// Restitution of a slow collision at the bottom of ε.
        boosted_restitution: f64 = 5.0, "", Allowed::Within(0.0, 100.0);
        /// Least rebound of a slow collision, in parts of √(2gε): keeps hops from becoming ever smaller and more frequent.
        least_hop: f64 = 0.1, "", Allowed::Within(0.0, 1.0);
        /// Whether bodies that nothing moves any more, and whose contacts can be proved to carry them, stand still.
        rest: bool = true, "", Allowed::Finite;
        /// Collisions between two bodies within one stall time before they count as stalled.
        stall_limit: i64 = 100_000, "", Allowed::Within(10.0, 1e9);
        /// Window of the stall guard.
        stall_time: f64 = 1e-6, "s", Allowed::Positive;
        /// Over how long contact forces are averaged.
        force_window: f64 = 0.1, "s", Allowed::Positive;
        /// Whether slow collisions are reported as events too.
        report_microcollisions: bool = false, "", Allowed::Finite;
    }
}

impl ImpulseSettings {
    /// The law of restitution by its name; an unknown name means Stronge's.
    pub(super) fn law(&self) -> Restitution {
        match self.restitution_law.as_str() {
            "newton" => Restitution::Newton,
            "poisson" => Restitution::Poisson,
            _ => Restitution::Stronge,
        }
    }
}
