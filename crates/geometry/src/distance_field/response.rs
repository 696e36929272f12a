//! Collision response of two bodies with many vertices of one inside the other.
//!
//! Each vertex i, at depth wᵢ, is treated as if it were the only collision; its outcome is a pair of
//! velocities (vᵢ, ωᵢ). The bodies then get the mean, where deep contacts count more:
//!   v = Σ wᵢ vᵢ / Σ wᵢ,   ω = Σ wᵢ ωᵢ / Σ wᵢ.
//! Momentum is linear in the velocities, so if every single outcome conserves it, the mean does.

use glam::DVec3;

/// Velocity of a body's centre of mass and its angular velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Linear velocity.
    pub linear: DVec3,
    /// Angular velocity.
    pub angular: DVec3,
}

/// Response of both bodies to a single contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// How deep the vertex lies, the weight of this outcome.
    pub depth: f64,
    /// Velocities of the two bodies afterwards.
    pub velocities: [Velocity; 2],
}

/// Outcomes of single contacts ⇒ velocities of both bodies, weighted by depth. None if there is no contact
/// with a positive finite depth; contacts without one are left out.
pub fn mean_outcome(outcomes: &[Outcome]) -> Option<[Velocity; 2]> {
    let weighted = || outcomes.iter().filter(|outcome| outcome.depth > 0.0 && outcome.depth.is_finite());
    // Dividing by the largest first keeps the sum of weights finite.
    let largest = weighted().map(|outcome| outcome.depth).fold(0.0, f64::max);
    let total: f64 = weighted().map(|outcome| outcome.depth / largest).sum();
    if !(total > 0.0) {
        return None;
    }
    let mut mean = [Velocity::default(); 2];
    for outcome in weighted() {
        let share = outcome.depth / largest / total;
        for (sum, velocity) in mean.iter_mut().zip(outcome.velocities) {
            sum.linear += share * velocity.linear;
            sum.angular += share * velocity.angular;
        }
    }
    Some(mean)
}
