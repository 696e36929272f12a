//! Bounds on the displacement of a moving convex part, for the time of impact and for fat AABBs.
//!
//! Let h(d) be the support function of a part about the centre it rotates about. Along a fixed world
//! direction d its support point lies at x·d + h(Rᵀd). In the frame of the body the direction Rᵀd moves at
//! the rate |ω × d|, and h changes by at most ℓ per radian, ℓ = max |p* × d| over all directions d and their
//! support points p*: the *lever*. A sphere about its own centre has ℓ = 0, however fast it spins; a plate
//! that rotates about d moves nothing along d. So over a time s
//!
//!   support(s) − support(0) ≤ A s² + B s
//!
//! and for a ballistic body (constant gravity g, torque-free rotation) two choices hold, each for all s ≥ 0:
//!
//!   A = ½ g·d,             B = v·d + ℓ ω_max
//!   A = ½ g·d + ½ ℓ α_max,  B = v·d + ℓ |ω × d|
//!
//! ω_max is the exact maximum of |ω| on the polhode (attained where the middle component vanishes): ω_max² =
//! (2E (I_min + I_max) − L²) / (I_min I_max), and |ω̇| ≤ α_max = ω_max² max |I_i − I_j| / I_k.

use crate::rigid::{Inertia, Motion};
use serde::{Deserialize, Serialize};

/// Bound A s² + B s on the displacement along a direction within a time s; A in m/s², B in m/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MotionBound {
    pub a: f64,
    pub b: f64,
}

/// At which gap the next event of an approaching pair is scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct LandingRule {
    /// Gap at which the pair collides, at most ε, m.
    pub epsilon: f64,
    /// σ: part of the gap that is left.
    pub sigma: f64,
    /// Wanted speed of a hop, m/s.
    pub hop: f64,
    /// Whether hops end at a larger gap than they started from: for two movable bodies, whose gap is closed
    /// by the load of their neighbours and would be used up.
    pub climbs: bool,
    /// Speed of separation up to which there is no hop, m/s: below that of an approach that counts as a
    /// collision. A hop that slow would return without a collision, after a time that may be lost in the
    /// rounding of the clock, and be scheduled again for ever.
    pub still: f64,
}

impl LandingRule {
    /// Smallest gap that is left.
    #[inline]
    pub fn least_gap(self, d: f64) -> f64 {
        self.sigma * d.min(self.epsilon)
    }

    /// (gap, A, B < 0) ⇒ distance below its starting gap at which a hop ends, m.
    ///
    /// No collision creates energy, so a hop returns as fast as it left, to the same gap. A hop that became
    /// slow, because a collision dissipated more than usual, would remain slow, and recur ever more often. It
    /// regains its speed from gravity by falling c farther, v² = B² + 4 A c, down to σ d at most, and not
    /// below a thousandth of ε.
    #[inline]
    pub fn descent(self, d: f64, a: f64, b: f64) -> f64 {
        if self.climbs {
            let rise = 0.25 * b * b / a;
            return d - (d + 0.1 * rise).min((self.sigma * self.epsilon).max(d)).max(self.least_gap(d));
        }
        let most = d - self.least_gap(d).max((1e-3 * self.epsilon).min(d));
        (0.25 * (self.hop * self.hop - b * b) / a).clamp(0.0, most)
    }
}

impl MotionBound {
    /// Smallest s > 0 with A s² + B s = d; infinite if there is none. Never uses infinity in arithmetic.
    #[inline]
    pub fn time_to_cover(self, d: f64) -> f64 {
        let discriminant = self.b * self.b + 4.0 * self.a * d;
        if discriminant < 0.0 {
            return f64::INFINITY;
        }
        let denominator = self.b + discriminant.sqrt();
        if denominator > 0.0 { 2.0 * d / denominator } else { f64::INFINITY }
    }

    /// Time, s, after which a gap d is measured again, chosen so that at least a part of it is left then.
    ///
    /// From outside ε that part is σ ε, and from inside σ d. A hop, B < 0 < A, ends at the gap it started
    /// from; a slow one at a smaller gap, see [`LandingRule::descent`].
    #[inline]
    pub fn landing_time(self, d: f64, landing: LandingRule) -> f64 {
        if !(d < landing.epsilon && self.a > 0.0 && self.b < -landing.still) {
            return self.time_to_cover(d - landing.least_gap(d));
        }
        // The larger root: on the way back.
        let discriminant = self.b * self.b + 4.0 * self.a * landing.descent(d, self.a, self.b);
        0.5 * (discriminant.max(0.0).sqrt() - self.b) / self.a
    }

    /// A s² + B s.
    #[inline]
    pub fn displacement(self, s: f64) -> f64 {
        (self.a * s + self.b) * s
    }

    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self { a: self.a + other.a, b: self.b + other.b }
    }
}

/// Bounds on the torque-free rotation of a body until its next impulse.
#[allow(clippy::struct_field_names)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SpinBound {
    /// Largest |ω|, rad/s.
    pub max_speed: f64,
    /// Largest |ω̇|, rad/s².
    pub max_acceleration: f64,
    /// Largest third derivative of a unit vector fixed to the body, 1/s³: ω³ + 3 ω |ω̇| + |ω̈|, where |ω̈| ≤ √2 k² ω³
    /// with k = max |I_i − I_j| / I_k, since ω̈_i is k_i (ω̇_j ω_k + ω_j ω̇_k).
    pub max_jerk: f64,
}

impl SpinBound {
    /// Bounds for a torque-free body.
    pub fn of(inertia: &Inertia, motion: &Motion) -> Self {
        let w = motion.q.conjugate() * motion.omega;
        let i = inertia.moments;
        let (least, most) = (i.min_element(), i.max_element());
        let twice_energy = (i * w).dot(w);
        let momentum_squared = (i * w).length_squared();
        // The two terms nearly cancel for a sphere, where |ω| is constant.
        let squared =
            ((twice_energy * (least + most) - momentum_squared) / (least * most)).max(w.length_squared());
        let max_speed = if squared.is_finite() { squared.sqrt() * (1.0 + 1e-12) } else { w.length() };
        let skew = ((i.y - i.z).abs() / i.x).max((i.z - i.x).abs() / i.y).max((i.x - i.y).abs() / i.z);
        let max_jerk = (1.0 + 3.0 * skew + std::f64::consts::SQRT_2 * skew * skew) * max_speed.powi(3);
        Self { max_speed, max_acceleration: skew * max_speed * max_speed, max_jerk }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rigid::fly;
    use glam::{DQuat, DVec3};

    fn body(moments: DVec3, omega: DVec3) -> (Inertia, Motion) {
        let inertia = Inertia {
            inverse_mass: 1.0,
            moments,
            inverse_moments: moments.recip(),
            linear_damping: 0.0,
            angular_damping: 0.0,
        };
        (inertia, Motion { q: DQuat::IDENTITY, omega, ..Motion::default() })
    }

    /// N12: I = (1, 2, 3), ω = (1, 1, 1): at most 1.825742 rad/s.
    #[test]
    fn max_spin_is_exact() {
        let (inertia, motion) = body(DVec3::new(1.0, 2.0, 3.0), DVec3::ONE);
        assert!((SpinBound::of(&inertia, &motion).max_speed - 1.825742).abs() < 1e-6);
    }

    /// Impulse test 12: the bound is attained within a thousandth and never exceeded, over several periods of
    /// the polhode.
    #[test]
    fn max_spin_is_attained_and_never_exceeded() {
        let mut worst: f64 = 1.0;
        for (moments, omega) in [
            (DVec3::new(1.0, 2.0, 2.5), DVec3::new(0.3, 1.0, -0.4)),
            (DVec3::new(2.0, 1.0, 2.9), DVec3::new(1.0, 0.2, 0.7)),
            (DVec3::new(3.0, 2.2, 1.0), DVec3::new(-1.0, 0.1, 0.3)),
        ] {
            let (inertia, mut motion) = body(moments, omega);
            let bound = SpinBound::of(&inertia, &motion);
            let mut most: f64 = 0.0;
            for _ in 0..60_000 {
                let before = motion.omega;
                fly(std::slice::from_mut(&mut motion), &[inertia], 1e-3);
                most = most.max(motion.omega.length());
                assert!((motion.omega - before).length() <= 1e-3 * bound.max_acceleration * (1.0 + 1e-9));
            }
            assert!(most <= bound.max_speed * (1.0 + 1e-9));
            worst = worst.min(most / bound.max_speed);
        }
        assert!(worst > 0.999, "{worst}");
    }

    /// Impulse test 13: a fall from h takes √(2h/g), and every combination of signs has the right root.
    #[test]
    fn times_of_impact_of_all_signs() {
        let falling = MotionBound { a: 0.5 * 9.81, b: 0.0 };
        assert!((falling.time_to_cover(2.0) - (4.0f64 / 9.81).sqrt()).abs() < 1e-15);
        assert_eq!(MotionBound { a: 0.0, b: 2.0 }.time_to_cover(3.0), 1.5);
        assert_eq!(MotionBound { a: 0.0, b: -2.0 }.time_to_cover(3.0), f64::INFINITY);
        assert_eq!(MotionBound { a: 0.0, b: 0.0 }.time_to_cover(3.0), f64::INFINITY);
        assert_eq!(MotionBound { a: -1.0, b: 1.0 }.time_to_cover(3.0), f64::INFINITY);
        assert!((MotionBound { a: -1.0, b: 4.0 }.time_to_cover(3.0) - 1.0).abs() < 1e-15);
        assert_eq!(MotionBound { a: -1.0, b: -4.0 }.time_to_cover(3.0), f64::INFINITY);
        assert!((MotionBound { a: 1.0, b: -2.0 }.time_to_cover(3.0) - 3.0).abs() < 1e-15);
    }

    /// A fast hop ends at the gap it started from, a slow one as much lower as restores its speed, and an
    /// approach leaves its part of the gap.
    #[test]
    fn hops_end_where_they_started() {
        let landing = LandingRule { epsilon: 1e-3, sigma: 0.9, hop: 0.03, climbs: false, still: 1e-10 };
        for (d, v) in [(1e-6, 0.01), (1e-4, 0.01), (4e-4, 0.1), (4.9e-4, 0.05), (9.9e-4, 0.0299)] {
            let hop = MotionBound { a: 0.5 * 9.81, b: -v };
            let s = hop.landing_time(d, landing);
            let left = d - (hop.a * s + hop.b) * s;
            let speed = 2.0 * hop.a * s + hop.b;
            assert!(left <= d + 1e-15 && left >= landing.sigma * d - 1e-15, "{d} {left}");
            assert!(speed >= v * (1.0 - 1e-9) && speed <= v.max(landing.hop) * (1.0 + 1e-9), "{speed}");
        }
        let falling = MotionBound { a: 0.5 * 9.81, b: 1.0 };
        for d in [1e-5, 1e-3, 1.0] {
            let s = falling.landing_time(d, landing);
            let left = d - (falling.a * s + falling.b) * s;
            assert!((left - landing.least_gap(d)).abs() < 1e-12);
        }
    }
}
