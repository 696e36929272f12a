//! The barrier, and friction beside it.
//!
//! b(δ) = −(δ − d̂)² ln(δ/d̂) for δ < d̂, else 0: twice continuously differentiable at d̂, infinite at 0.
//! b′ = −2 (δ − d̂) ln(δ/d̂) − (δ − d̂)²/δ ≤ 0, b″ = −2 ln(δ/d̂) − 4 (δ − d̂)/δ + (δ − d̂)²/δ² ≥ 0.
//! The second derivative of b(δ(x)) is b″ ∇δ ∇δᵀ + b′ ∇²δ; the second term has no positive part that matters and is left out, so
//! that the matrix is a coupling b″ n nᵀ of the four points.
//!
//! Friction dissipates μ λ f(|u|) over a step, u the tangential relative displacement since its start, with the normal force λ and
//! the tangent plane of the start. f(u) = u beyond ε, else −u³/(3ε²) + u²/ε + ε/3: below the displacement ε contacts stick.

use glam::{DMat3, DVec3};

use crate::dual::outer;

/// δ, d̂ ⇒ b, b′, b″; zero beyond d̂.
#[inline]
pub(crate) fn barrier(distance: f64, range: f64) -> [f64; 3] {
    if distance >= range {
        return [0.0; 3];
    }
    let (c, log) = (distance - range, (distance / range).ln());
    let ratio = c / distance;
    [-c * c * log, -2.0 * c * log - c * ratio, -2.0 * log - 4.0 * ratio + ratio * ratio]
}

/// Two features within the activation distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Surface points.
    pub points: [u32; 4],
    pub weights: [f64; 4],
    /// From the second feature to the first.
    pub normal: DVec3,
    /// δ − ξ, m: distance beyond the floor that is never reached.
    pub distance: f64,
    /// d̂ − ξ, m.
    pub range: f64,
    /// ξ, m.
    pub floor: f64,
    /// Factor of the barrier in the potential of the step, kg.
    pub scale: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

/// Friction at one contact over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Friction {
    pub points: [u32; 4],
    pub weights: [f64; 4],
    pub normal: DVec3,
    /// μ λ h², kg m.
    pub limit: f64,
    /// ε, m.
    pub stick: f64,
}

impl Friction {
    /// Relative displacement of the contact points ⇒ (energy, gradient with respect to it, its positive matrix).
    pub fn evaluate(&self, displacement: DVec3) -> (f64, DVec3, DMat3) {
        let tangent = displacement - self.normal * self.normal.dot(displacement);
        let u = tangent.length();
        let e = self.stick;
        let across = DMat3::IDENTITY - outer(self.normal, self.normal);
        if u >= e {
            let k = self.limit / u;
            // μ λ (I − û ûᵀ)/|u|, in the plane.
            let along = tangent / u;
            return (self.limit * u, tangent * k, (across - outer(along, along)) * k);
        }
        let energy = -u * u * u / (3.0 * e * e) + u * u / e + e / 3.0;
        let k = self.limit * (2.0 / e - u / (e * e));
        (self.limit * energy, tangent * k, across * k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_the_barrier_are_those_of_differences() {
        for k in 1..100 {
            let (d, h) = (0.01 * f64::from(k), 1e-6);
            let [_, first, second] = barrier(d, 1.0);
            let [up, down] = [barrier(d + h, 1.0), barrier(d - h, 1.0)];
            assert!(((up[0] - down[0]) / (2.0 * h) - first).abs() < 1e-7 * (1.0 + first.abs()));
            assert!(((up[1] - down[1]) / (2.0 * h) - second).abs() < 1e-5 * (1.0 + second.abs()));
            assert!(first <= 0.0 && second >= 0.0);
        }
        assert_eq!(barrier(1.0, 1.0), [0.0; 3]);
    }
}
