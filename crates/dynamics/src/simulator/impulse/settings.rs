//! What a user can set.

use crate::component;
use crate::contact::Restitution;
use crate::property::{self, Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Event-driven: every contact is a collision, nothing ever overlaps.
    pub struct ImpulseSettings as "impulse" {
        /// ε: a gap below which two bodies count as touching; 0 chooses a thousandth of the smallest moving body.
        collision_epsilon: f64 = 0.0, "m", Allowed::NonNegative;
        /// σ: the part of a gap (of at most ε) that a step towards contact leaves.
        landing_margin: f64 = 0.9, "", Allowed::Within(0.01, 0.99);
        /// Broad phase: the name of a space.
        space: String = "spatial-hash", "", Allowed::Finite;
        /// How collisions are found: one-sided never passes one; bracketing samples, and can be outrun.
        search: String = "one-sided", "", Allowed::Finite;
        /// Time between two samples of the bracketing search.
        sampling: f64 = 1.0 / 60.0, "s", Allowed::Positive;
        /// How a collision ends: stronge, poisson or newton.
        restitution_law: String = "stronge", "", Allowed::Finite;
        /// Whether slow collisions are answered so that resting bodies do not sink into ε.
        microcollisions: bool = true, "", Allowed::Finite;
        /// Whether a slow collision may simply be turned back.
        reversing: bool = true, "", Allowed::Finite;
        /// Restitution of a slow collision between two bodies that both move, at the bottom of ε.
        boosted_restitution: f64 = 5.0, "", Allowed::Within(0.0, 100.0);
        /// Wanted rebound of a slow collision, in parts of √(2gε), as far as that creates no energy: keeps hops from becoming ever smaller and
        /// more frequent.
        least_hop: f64 = 0.25, "", Allowed::Within(0.0, 1.0);
        /// Whether bodies that nothing moves any more, and whose contacts can be proved to carry them, stand still.
        rest: bool = true, "", Allowed::Finite;
        /// Events of a pair (gaps last_gap) within one stall time, beyond which its bodies are held until the end of the step and reported as stalled.
        stall_limit: i64 = 2000, "", Allowed::Within(10.0, 1e9);
        /// Window of the stall guard; 0 chooses the time of a fall through ε.
        stall_time: f64 = 0.0, "s", Allowed::NonNegative;
        /// Over how long contact forces are averaged.
        force_window: f64 = 0.1, "s", Allowed::Positive;
        /// Threads that run_events parts of the world which have nothing to do with each other; the result is the same to the last bit for any number.
        threads: i64 = 1, "", Allowed::Within(1.0, 256.0);
        /// Whether slow collisions are reported as events too.
        report_microcollisions: bool = false, "", Allowed::Finite;
    }
}

impl ImpulseSettings {
    /// The settings themselves if every value is allowed and every name in them known, by the same rules as in files.
    ///
    /// # Errors
    /// The first value that is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        one_of("restitution_law", &self.restitution_law, &Restitution::NAMES.map(|(name, _)| name))?;
        one_of("search", &self.search, &["one-sided", "bracketing"])?;
        one_of("space", &self.space, &SpaceKind::names().collect::<Vec<_>>())?;
        Ok(self)
    }

    /// The law of restitution.
    pub(super) fn law(&self) -> Restitution {
        Restitution::named(&self.restitution_law).unwrap_or_default()
    }
}

fn one_of(name: &str, value: &str, known: &[&str]) -> Result<(), PropertyError> {
    if known.contains(&value) {
        return Ok(());
    }
    Err(PropertyError::Range {
        component: "impulse".into(),
        name: name.into(),
        allowed: format!("one of {}", known.join(", ")),
        value: value.into(),
    })
}
