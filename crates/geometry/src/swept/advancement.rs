//! First contact of convex bodies by conservative advancement.
//!
//! Let n be the unit vector from A's nearest point to B's and d their distance. No point of either body lies
//! between the planes through the two points across n. A point at ρ from a centre that moves by v and turns
//! by ω per unit of s comes nearer along n by at most v·n + ρ·(n × ω) ≤ v·n + |n × ω| r, r the largest |ρ|.
//! So the bodies cannot touch before
//!
//! ds = d / ((v_A − v_B)·n + |n × ω_A| r_A + |n × ω_B| r_B)
//!
//! has passed; there the distance is measured anew. A denominator ≤ 0 means that they never touch. Aimed at a
//! gap of half the tolerance, every pose on the way is free, and the time reported is never late. (Mirtich
//! 1996.)

use glam::DVec3;

use super::Motion;
use crate::Pose;
use crate::primitive::PrimitiveError;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advancement {
    /// Distance, in metres, at which bodies count as touching. Default 1e-6.
    pub distance_tolerance: f64,
    /// Steps after which the place reached is reported as contact. Default 100.
    pub max_iterations: u32,
}

impl Default for Advancement {
    fn default() -> Self {
        Self { distance_tolerance: 1e-6, max_iterations: 100 }
    }
}

impl Advancement {
    #[inline]
    pub(super) fn check(&self) -> Result<(), PrimitiveError> {
        if self.distance_tolerance > 0.0 && self.distance_tolerance.is_finite() {
            return Ok(());
        }
        let (what, value) = ("distance tolerance", self.distance_tolerance);
        Err(PrimitiveError::OutOfRange { what, value, allowed: "positive and finite" })
    }
}

/// Nearest points of two bodies in the outer frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Distance, > 0.
    pub distance: f64,
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// Nearest point of A.
    pub point_a: DVec3,
    /// Nearest point of B.
    pub point_b: DVec3,
}

/// A body on its way: its motion and the largest distance of its points from the motion's centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingBody {
    /// How it moves.
    pub motion: Motion,
    /// No point of it is farther from the centre than this.
    pub radius: f64,
}

impl MovingBody {
    /// How fast its points may move along n.
    fn reach_along(&self, n: DVec3) -> f64 {
        let swing = n.cross(self.motion.turn()).length();
        self.motion.displacement().dot(n) + if swing > 0.0 { swing * self.radius } else { 0.0 }
    }
}

/// First contact found by advancing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// s ∈ [0, 1], not after the first touch.
    pub time: f64,
    /// The gap left at that time; None if the bodies overlap from the start.
    pub gap: Option<Gap>,
    /// Distances measured.
    pub iterations: u32,
    /// The iterations ran out: the bodies are free up to `time`, and may stay so.
    pub limit_reached: bool,
}

/// (two moving convex bodies, how to measure their distance at given poses; None = they overlap) ⇒ first
/// contact.
pub fn advance(
    a: &MovingBody,
    b: &MovingBody,
    settings: &Advancement,
    mut gap: impl FnMut(&Pose, &Pose) -> Option<Gap>,
) -> Result<Option<Contact>, PrimitiveError> {
    settings.check()?;
    let tolerance = settings.distance_tolerance;
    let mut s = 0.0;
    let mut last: Option<Gap> = None;
    for iterations in 1..=settings.max_iterations.max(1) {
        let Some(here) = gap(&a.motion.pose(s), &b.motion.pose(s)) else {
            // Rounding, if it was free before: the way up to `s` was.
            return Ok(Some(Contact { time: s, gap: last, iterations, limit_reached: false }));
        };
        if here.distance < tolerance {
            return Ok(Some(Contact { time: s, gap: Some(here), iterations, limit_reached: false }));
        }
        let closing = a.reach_along(here.normal) + b.reach_along(-here.normal);
        if !(closing > 1e-300) {
            return Ok(None);
        }
        let next = s + (here.distance - 0.5 * tolerance) / closing;
        if !(next <= 1.0) {
            return Ok(None);
        }
        last = Some(here);
        s = next;
    }
    let iterations = settings.max_iterations;
    Ok(Some(Contact { time: s, gap: last, iterations, limit_reached: true }))
}
