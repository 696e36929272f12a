//! Micro-collisions: how a body can rest on collisions alone.
//!
//! A body at rest on an impulse-based floor falls through the last stretch ε of its gap over and over. A collision slower
//! than what that fall gives, −u_z < √(2 g ε), counts as such a micro-collision, and then, in this order:
//!
//! 1. **Reversal.** p = −2K⁻¹u turns the whole velocity round and does no work. Taken if it lies in the friction cone.
//! 2. **Boost.** At the distance d the gap has been eaten into by δ = ε − d; the collision is resolved with
//!    e(δ) = e + (e_max − e)(δ/ε)², or with what gives the least rebound if that is more. Either may exceed 1 and push the body back out.
//!
//! A boost is paid for: where friction alone drives the compression, as in Painlevé's region, e > 1 would multiply its work. So the impulse goes
//! no farther along the collision than to where its whole work is zero (or an allowance): friction of a body that slides may pay for a hop,
//! and a body at rest hops no higher than it fell.
//!
//! A boosted restitution is a rule of thumb, so integrated slides are followed to five digits only, which costs a third; the work is
//! that of the impulse itself, to rounding.
//!
//! The decision looks at this one contact only; nothing remembers what rests, rolls or slides.

use super::law::Brief;
use super::passive::without_gain;
use super::settings::resolve_unbounded;
use super::{
    Collision, CollisionError, CollisionSettings, Compliance, ContactLaw, Law, Outcome, Scheme, SlipHistory,
    resolve_passive,
};
use serde::{Deserialize, Serialize};

/// Largest restitution that the least rebound may ask for.
const MOST_RESTITUTION: f64 = 1e4;

/// When a collision is a micro-collision, and what is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MicroSettings {
    /// Whether there are any.
    pub enabled: bool,
    /// Whether velocities may be reversed.
    pub reversing: bool,
    /// Whether restitution is boosted.
    pub boost: bool,
    /// Restitution at distance 0; at least 0.
    pub e_max: f64,
    /// Factor on the threshold √(2 g ε); at least 0.
    pub threshold_factor: f64,
    /// Size of gravity g, in m/s²; at 0 there are no micro-collisions.
    pub gravity: f64,
    /// Normal velocity at which a micro-collision that is not reversed leaves at least if that creates no energy, in m/s: hops that get ever
    /// smaller would come ever more often.
    pub least_rebound: f64,
    /// Energy that a boost may create at most, J.
    pub allowance: f64,
    /// Width ε of the gap in which bodies count as touching, in m; above 0.
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
    /// Approach speed below which a collision is a micro-collision, in m/s.
    pub fn threshold(&self) -> f64 {
        self.threshold_factor * (2.0 * self.gravity * self.collision_epsilon).sqrt()
    }

    /// (e of the materials, distance) ⇒ boosted e; the distance is cut to [0, ε].
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

/// What was done about a collision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MicroKind {
    /// It was too fast: resolved as any other.
    Ordinary,
    /// The velocity was reversed.
    Reversed,
    /// It was resolved with this restitution, as far as that creates no energy.
    Boosted {
        /// Restitution that was asked for.
        e: f64,
    },
}

/// A collision that may have been a micro-collision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MicroOutcome {
    /// What was done.
    pub kind: MicroKind,
    /// What came out.
    pub outcome: Outcome,
}

/// (collision, materials, micro-collision rule, distance of the bodies) ⇒ what to do about it.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::contact::{Collision, CollisionSettings, MicroKind, MicroSettings, micro_collision};
///
/// let collision = Collision { k: DMat3::IDENTITY, u: DVec3::new(0.01, 0.0, -0.1) };
/// let micro = micro_collision(&collision, &CollisionSettings::default(), &MicroSettings::default(), 0.5e-3)?;
/// assert_eq!(micro.kind, MicroKind::Reversed);
/// assert_eq!(micro.outcome.velocity, DVec3::new(-0.01, 0.0, 0.1));
/// # Ok::<(), rattleback_dynamics::contact::CollisionError>(())
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
    let law: &dyn ContactLaw = if settings.law == Law::Integrated { &Brief } else { settings.law.law() };
    let outcome = resolve_unbounded(collision, &boosted, law)?;
    let outcome = without_gain(collision, settings, law, outcome, micro.allowance)?;
    Ok(MicroOutcome { kind: MicroKind::Boosted { e }, outcome })
}
