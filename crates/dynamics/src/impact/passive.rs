//! Collisions that never create energy.
//!
//! The work of an impulse p on a contact that approaches at u₀ is W(p) = p·u₀ + ½ p·K p, the change of the kinetic energy of
//! both bodies. Stronge's restitution with e ≤ 1 keeps W ≤ 0: the normal force gives back at most what it took, and
//! friction only takes. Newton's does not, nor does any law once e > 1. Two ways back to W ≤ 0, both inside the cone of friction:
//!
//! * [`resolve_passive`] lowers e until W = 0. The path of a collision does not depend on e, which only determines where it ends;
//!   so the answer lies on the path of the law, before the place where energy would have been created.
//! * [`without_gain`] goes from the end of the path, p₁, towards the end of compression, p₀, where W(p₀) ≤ 0 (u_z ≤ 0
//!   so far, so the normal force only took). On the chord p₀ + λ(p₁ − p₀) W is a quadratic of λ, so it costs no iteration; the
//!   chord is in the cone, which is convex, and parts because both of its ends do.

use super::settings::resolve_unbounded;
use super::{Collision, CollisionError, CollisionSettings, ContactLaw, Outcome, resolve};
use glam::DVec3;

/// Bisections of the interval of e.
const HALVINGS: usize = 60;

impl Collision {
    /// p ⇒ change of the kinetic energy of both bodies, J.
    pub fn work(&self, p: DVec3) -> f64 {
        p.dot(self.u + 0.5 * (self.k * p))
    }
}

/// As [`resolve`], with e lowered where the law would create energy: used by every simulator.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::impact::{Collision, CollisionSettings, Restitution, resolve, resolve_passive};
///
/// // A rod tilted by 50° that slides towards its upper end.
/// let k = DMat3::from_cols(
///     DVec3::new(2.760, 0.0, 1.477), DVec3::new(0.0, 4.0, 0.0), DVec3::new(1.477, 0.0, 2.240),
/// );
/// let collision = Collision { k, u: DVec3::new(-0.5, 0.0, -1.0) };
/// let settings = CollisionSettings { restitution: Restitution::Newton, e: 1.0, mu: 0.6, ..CollisionSettings::default() };
/// assert!(resolve(&collision, &settings)?.work > 0.1);
/// assert!(resolve_passive(&collision, &settings)?.work < 1e-12);
/// # Ok::<(), rattleback_dynamics::impact::CollisionError>(())
/// ```
pub fn resolve_passive(
    collision: &Collision,
    settings: &CollisionSettings,
) -> Result<Outcome, CollisionError> {
    let outcome = resolve(collision, settings)?;
    let gain = collision.work(outcome.impulse);
    if gain <= rounding(collision, outcome.impulse) {
        return Ok(outcome);
    }
    let at = |e: f64| resolve(collision, &CollisionSettings { e, ..*settings });
    let (mut low, mut high) = (0.0, settings.e);
    let mut best = at(low)?;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let there = at(middle)?;
        if collision.work(there.impulse) <= 0.0 {
            (low, best) = (middle, there);
        } else {
            high = middle;
        }
    }
    Ok(best)
}

/// Work that is rounding error, in J.
fn rounding(collision: &Collision, p: DVec3) -> f64 {
    4.0 * f64::EPSILON * (p.abs().dot(collision.u.abs()) + 0.5 * p.dot(collision.k * p))
}

/// (collision, settings, law, outcome, allowance) ⇒ the outcome itself if it creates no more energy than
/// that, else the last point before it on the chord from the end of compression that does not.
pub(super) fn without_gain(
    collision: &Collision,
    settings: &CollisionSettings,
    law: &(impl ContactLaw + ?Sized),
    outcome: Outcome,
    allowance: f64,
) -> Result<Outcome, CollisionError> {
    let gain = collision.work(outcome.impulse);
    if gain <= allowance {
        return Ok(outcome);
    }
    let compressed = resolve_unbounded(collision, &CollisionSettings { e: 0.0, ..*settings }, law)?;
    let (start, way) = (compressed.impulse, outcome.impulse - compressed.impulse);
    // W(λ) − allowance = c + b λ + a λ², c ≤ 0 < its value at 1: one root in [0, 1).
    let a = 0.5 * way.dot(collision.k * way);
    let b = way.dot(collision.u + collision.k * start);
    let c = collision.work(start).min(0.0) - allowance;
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    let share = if b > 0.0 { -2.0 * c / (b + root) } else { 0.5 * (root - b) / a };
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let impulse = start + share * way;
    let velocity = collision.u + collision.k * impulse;
    let restored = share * (outcome.restitution_work - compressed.restitution_work);
    Ok(Outcome {
        impulse,
        velocity: DVec3::new(velocity.x, velocity.y, velocity.z.max(0.0)),
        compression_work: compressed.compression_work,
        restitution_work: compressed.restitution_work + restored,
        work: collision.work(impulse).min(allowance),
        ..outcome
    })
}
