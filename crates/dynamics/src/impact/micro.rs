//! Microcollisions: how a body rests on collisions alone.
//!
//! A body at rest on an impulse-based floor falls through the last stretch ε of its gap over and over. A
//! collision slower than the speed after that fall, −u_z < √(2 g ε), is a microcollision, and is resolved in
//! this order:
//!
//! 1. **Reversal.** p = −2K⁻¹u reverses the whole velocity and does no work. Used if it lies in the friction
//!    cone.
//! 2. **Boost.** At the distance d the penetration into the collision shell is δ = ε − d; the collision is
//!    resolved with e(δ) = e + (e_max − e)(δ/ε)², or with the restitution that gives the least rebound if
//!    that is more. Either may exceed 1 and push the body back out.
//!
//! A boost is limited by energy: where friction alone drives the compression, as in Painlevé's region, e > 1
//! would multiply its work. So the impulse goes no farther along the collision than to where its whole work
//! is zero (or an allowance): the friction of a sliding body may pay for a hop, and a body at rest hops no
//! higher than it fell.
//!
//! The boosted restitution is heuristic, so the integration is carried out to five digits only, which costs a
//! third; the work is that of the impulse itself, to rounding.
//!
//! The decision depends on this one contact only; no state distinguishes resting, rolling and sliding
//! contacts.

use super::law::ReducedOrder;
use super::passive::without_gain;
use super::settings::resolve_unbounded;
use super::{
    Collision, CollisionError, CollisionSettings, Compliance, ContactLaw, Law, Outcome, Scheme, SlipHistory,
    resolve_passive,
};
use serde::{Deserialize, Serialize};

/// Largest restitution used for the least rebound.
const MOST_RESTITUTION: f64 = 1e4;

/// Definition of microcollisions and their resolution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MicroSettings {
    /// Whether slow collisions are microcollisions.
    pub enabled: bool,
    /// Whether velocities may be reversed.
    pub reversing: bool,
    /// Whether the restitution is boosted.
    pub boost: bool,
    /// Restitution at distance 0; at least 0.
    pub e_max: f64,
    /// Factor on the threshold √(2 g ε); at least 0.
    pub threshold_factor: f64,
    /// Magnitude of gravity g, in m/s²; at 0 there are no microcollisions.
    pub gravity: f64,
    /// Least normal velocity after a microcollision that is not reversed, in m/s, as far as it creates no
    /// energy: ever smaller hops would be ever more frequent.
    pub least_rebound: f64,
    /// Largest energy that a boost may create, in J; at least 0.
    pub allowance: f64,
    /// Width ε of the collision shell, in m; above 0.
    pub collision_epsilon: f64,
}

impl Default for MicroSettings {
    /// On, reversing, boosting up to 5, threshold √(2 g ε) with g = 9.81 m/s² and ε = 1 mm.
    fn default() -> Self {
        Self {
            enabled: true,
            reversing: true,
            boost: true,
            e_max: 5.0,
            threshold_factor: 1.0,
            gravity: 9.81,
            least_rebound: 0.0,
            allowance: 0.0,
            collision_epsilon: 1e-3,
        }
    }
}

impl MicroSettings {
    /// Approach speed below which a collision is a microcollision, in m/s.
    pub fn threshold(&self) -> f64 {
        self.threshold_factor * (2.0 * self.gravity * self.collision_epsilon).sqrt()
    }

    /// (e of the materials, distance) ⇒ boosted e; the distance is clamped to [0, ε].
    pub fn boosted(&self, e: f64, distance: f64) -> f64 {
        let depth = (1.0 - distance / self.collision_epsilon).clamp(0.0, 1.0);
        e + (self.e_max - e).max(0.0) * depth * depth
    }

    fn check(&self, distance: f64) -> Result<(), CollisionError> {
        let refuse = |what, allowed, value| Err(CollisionError::Coefficient { what, allowed, value });
        let size = |value: f64| value.is_finite() && value >= 0.0;
        if !size(self.e_max) {
            return refuse("e_max", "finite and at least 0", self.e_max);
        }
        if !size(self.threshold_factor) {
            return refuse("the threshold factor", "finite and at least 0", self.threshold_factor);
        }
        if !size(self.gravity) {
            return refuse("the size of gravity", "finite and at least 0", self.gravity);
        }
        if !(size(self.collision_epsilon) && self.collision_epsilon > 0.0) {
            return refuse("the collision epsilon", "finite and above 0", self.collision_epsilon);
        }
        if !size(self.least_rebound) {
            return refuse("the least rebound", "finite and at least 0", self.least_rebound);
        }
        if !size(self.allowance) {
            return refuse("the allowance", "finite and at least 0", self.allowance);
        }
        if distance.is_nan() {
            return refuse("the distance", "a number", distance);
        }
        Ok(())
    }
}

/// How a collision was resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MicroKind {
    /// Too fast for a microcollision: by the impact law.
    Ordinary,
    /// By reversing the velocity.
    Reversed,
    /// With this restitution, as far as it creates no energy.
    Boosted {
        /// Restitution that was requested.
        e: f64,
    },
}

/// Outcome of a collision that may be a microcollision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MicroOutcome {
    /// How it was resolved.
    pub kind: MicroKind,
    /// Its outcome.
    pub outcome: Outcome,
}

/// (collision, materials, micro-collision rule, distance of the bodies) ⇒ what to do about it.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::impact::{Collision, CollisionSettings, MicroKind, MicroSettings, micro_collision};
///
/// let collision = Collision { k: DMat3::IDENTITY, u: DVec3::new(0.01, 0.0, -0.1) };
/// let micro = micro_collision(&collision, &CollisionSettings::default(), &MicroSettings::default(), 0.5e-3)?;
/// assert_eq!(micro.kind, MicroKind::Reversed);
/// assert_eq!(micro.outcome.velocity, DVec3::new(-0.01, 0.0, 0.1));
/// # Ok::<(), rattleback_dynamics::impact::CollisionError>(())
/// ```
pub fn micro_collision(
    collision: &Collision,
    settings: &CollisionSettings,
    micro: &MicroSettings,
    distance: f64,
) -> Result<MicroOutcome, CollisionError> {
    settings.check()?;
    micro.check(distance)?;
    let Collision { k, u } = *collision;
    let candidate = micro.enabled && u.z < 0.0 && -u.z < micro.threshold();
    if !candidate {
        return Ok(MicroOutcome {
            kind: MicroKind::Ordinary,
            outcome: resolve_passive(collision, settings)?,
        });
    }
    if !u.is_finite() {
        return Err(CollisionError::NotFinite { what: "the relative velocity" });
    }
    let p = -2.0 * Compliance::new(&k)?.impulse(u);
    if micro.reversing && p.is_finite() && p.z > 0.0 && p.truncate().length() <= settings.mu * p.z {
        let work = 0.5 * u.z * (0.5 * p.z);
        let outcome = Outcome {
            impulse: p,
            velocity: -u,
            compression_work: work,
            restitution_work: -work,
            work: 0.0,
            slip: SlipHistory::default(),
            evaluations: 0,
            scheme: Scheme::Algebraic,
        };
        return Ok(MicroOutcome { kind: MicroKind::Reversed, outcome });
    }
    let least = (micro.least_rebound / -u.z).min(MOST_RESTITUTION);
    let e = if micro.boost { micro.boosted(settings.e, distance) } else { settings.e }.max(least);
    let boosted = CollisionSettings { e, ..*settings };
    let law: &dyn ContactLaw =
        if settings.law == Law::Integrated { &ReducedOrder } else { settings.law.law() };
    let outcome = resolve_unbounded(collision, &boosted, law)?;
    let outcome = without_gain(collision, settings, law, outcome, micro.allowance)?;
    Ok(MicroOutcome { kind: MicroKind::Boosted { e }, outcome })
}
