//! The tangential flow of a collision: what a unit of normal impulse does to the sliding velocity.
//!
//! K = ⎡M s⎤ with M = ⎡a f⎤ and s = ⎡e⎤ relates velocity to impulse, Δu = K p. While the contact slides in the
//!     ⎣sᵀ k⎦         ⎣f b⎦         ⎣d⎦
//! direction û(θ) = (cos θ, sin θ), Coulomb's law makes each unit of normal impulse bring ξ = (−μ û, 1), so
//!
//!   du_t/dp_z = s − μ M û,    du_z/dp_z = κ(θ) = k − μ s·û.
//!
//! In polar form u_t = ρ û, with primes for ρ d/dp_z:
//!
//!   θ' = g(θ) = û × (s − μ M û) = (a−b)μ cos θ sin θ + fμ(sin²θ − cos²θ) + d cos θ − e sin θ,
//!   ρ' = ρ h(θ),  h(θ) = û·(s − μ M û).
//!
//! Sticking needs friction −M⁻¹s per unit of normal impulse; it lasts if |M⁻¹s| ≤ μ, and then du_z/dp_z = k − s·M⁻¹s.
//! Otherwise the contact slides away along the one ray with g = 0 and h = λ > 0: (μM + λ)û = s. Because
//! φ(λ) = |(μM + λ)⁻¹s| falls strictly from |M⁻¹s|/μ > 1 to 0, there is exactly one such λ, and Newton's method on
//! 1/φ − 1 climbs to it from λ = 0 without overshooting.

use super::CollisionError;
use glam::{DMat2, DMat3, DVec2, DVec3};

/// A pivot smaller than this part of its diagonal element is lost in rounding.
const SMALLEST_PIVOT: f64 = 16.0 * f64::EPSILON;

/// How far a collision matrix may be from symmetric, relative to its largest element.
const ASYMMETRY: f64 = 1e-9;

/// Blocks of a checked collision matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Upper left 2×2 of K: tangential velocity per tangential impulse.
    pub m: DMat2,
    /// (K13, K23): coupling of tangent and normal.
    pub s: DVec2,
    /// K33: normal velocity per normal impulse.
    pub k: f64,
    /// M⁻¹s: tangential impulse, reversed, that prevents sliding, per unit of normal impulse.
    pub holding: DVec2,
    /// k − s·M⁻¹s = 1/(K⁻¹)₃₃: normal velocity per normal impulse while sticking.
    pub sticking: f64,
}

/// Behaviour of a contact whose sliding velocity has reached zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sticking {
    /// The friction cone contains the sticking impulse: the contact sticks.
    Stable,
    /// Friction is too weak: the contact slides away along this direction, accelerating by `lambda` per unit
    /// of p_z.
    Unstable {
        /// Unit direction û(β) of the diverging ray.
        direction: DVec2,
        /// d|u_t|/dp_z > 0.
        lambda: f64,
    },
}

/// Rates of the sliding velocity and of the normal velocity at one direction of sliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// û × du_t/dp_z: rate at which the direction turns.
    pub g: f64,
    /// û · du_t/dp_z: rate at which the sliding speed grows.
    pub h: f64,
    /// dg/dθ: if negative, directions nearby turn towards this one.
    pub g_slope: f64,
    /// du_z/dp_z.
    pub kappa: f64,
}

impl Compliance {
    /// K ⇒ its blocks.
    ///
    /// # Errors
    /// A matrix that is not finite, not symmetric or not positive definite.
    pub fn new(k: &DMat3) -> Result<Self, CollisionError> {
        if !k.is_finite() {
            return Err(CollisionError::NotFinite { what: "the collision matrix" });
        }
        let (x, y, z) = (k.x_axis, k.y_axis, k.z_axis);
        let largest = x.abs().max(y.abs()).max(z.abs()).max_element();
        let asymmetry = (x.y - y.x).abs().max((x.z - z.x).abs()).max((y.z - z.y).abs());
        if asymmetry > ASYMMETRY * largest {
            return Err(CollisionError::CollisionMatrix { defect: "it is not symmetric" });
        }
        let (a, b, k33) = (x.x, y.y, z.z);
        let (f, s) = (0.5 * (x.y + y.x), DVec2::new(0.5 * (x.z + z.x), 0.5 * (y.z + z.y)));
        if !(a > 0.0 && b > 0.0 && k33 > 0.0) {
            return Err(CollisionError::CollisionMatrix { defect: "its diagonal is not positive" });
        }
        // Cholesky, the larger of a and b first: the second pivot is det M over it, the third the sticking compliance.
        let holding = if a >= b {
            let pivot = b - f * (f / a);
            Self::check_pivot(pivot, b)?;
            let y = (s.y - f / a * s.x) / pivot;
            DVec2::new((s.x - f * y) / a, y)
        } else {
            let pivot = a - f * (f / b);
            Self::check_pivot(pivot, a)?;
            let x = (s.x - f / b * s.y) / pivot;
            DVec2::new(x, (s.y - f * x) / b)
        };
        let sticking = k33 - s.dot(holding);
        Self::check_pivot(sticking, k33)?;
        Ok(Self { m: DMat2::from_cols(DVec2::new(a, f), DVec2::new(f, b)), s, k: k33, holding, sticking })
    }

    /// Refuses a pivot that is lost in rounding.
    fn check_pivot(pivot: f64, diagonal: f64) -> Result<(), CollisionError> {
        if pivot > SMALLEST_PIVOT * diagonal {
            Ok(())
        } else {
            Err(CollisionError::CollisionMatrix { defect: "a direction has no mass left in it" })
        }
    }

    /// The same flow with velocities per impulse measured in another unit: every element divided by `unit`.
    #[must_use]
    pub fn divided_by(&self, unit: f64) -> Self {
        Self {
            m: self.m * unit.recip(),
            s: self.s / unit,
            k: self.k / unit,
            holding: self.holding,
            sticking: self.sticking / unit,
        }
    }

    /// p ⇒ K p.
    pub fn velocity(&self, p: DVec3) -> DVec3 {
        let tangent = self.m * p.truncate() + self.s * p.z;
        tangent.extend(self.s.dot(p.truncate()) + self.k * p.z)
    }

    /// u ⇒ K⁻¹ u.
    pub fn impulse(&self, u: DVec3) -> DVec3 {
        let z = (u.z - self.holding.dot(u.truncate())) / self.sticking;
        (self.solve_tangent(u.truncate()) - self.holding * z).extend(z)
    }

    /// M⁻¹ v, by elimination of the larger diagonal element first.
    pub fn solve_tangent(&self, v: DVec2) -> DVec2 {
        solve_symmetric(&self.m, v)
    }

    /// The friction from which on sticking is stable: |M⁻¹s|.
    pub fn critical_friction(&self) -> f64 {
        self.holding.length()
    }

    /// Largest rate at which the flow can turn or grow: |s| + μ (a + b).
    pub fn rate(&self, mu: f64) -> f64 {
        self.s.length() + mu * (self.m.x_axis.x + self.m.y_axis.y)
    }

    /// (μ, unit û) ⇒ the flow at this sliding direction.
    pub fn flow(&self, mu: f64, u_hat: DVec2) -> Flow {
        let m_u = self.m * u_hat;
        let normal = u_hat.perp();
        let along = self.s.dot(u_hat);
        let across = self.s.dot(normal);
        let (m_along, m_across) = (m_u.dot(u_hat), m_u.dot(normal));
        let m_normal = (self.m * normal).dot(normal);
        Flow {
            g: across - mu * m_across,
            h: along - mu * m_along,
            // d/dθ of n·s − μ n·Mû with n' = −û, û' = n.
            g_slope: -along - mu * (m_normal - m_along),
            kappa: self.k - mu * along,
        }
    }

    /// Whether sticking is stable, and the direction of sliding if it is not.
    pub fn sticking(&self, mu: f64) -> Sticking {
        if self.critical_friction() <= mu {
            return Sticking::Stable;
        }
        let (direction, lambda) = self.diverging_ray(mu);
        Sticking::Unstable { direction, lambda }
    }

    /// Root of the secular equation; only for unstable sticking, so s ≠ 0.
    fn diverging_ray(&self, mu: f64) -> (DVec2, f64) {
        let mut lambda = 0.0;
        if mu > 0.0 {
            // Convex and increasing, so Newton's steps shrink to nothing in a handful; the bound only guards rounding.
            for _ in 0..64 {
                let shifted = self.m * mu + DMat2::from_diagonal(DVec2::splat(lambda));
                let w = solve_symmetric(&shifted, self.s);
                let phi = w.length();
                let q = w.dot(solve_symmetric(&shifted, w));
                let step = (1.0 - phi.recip()) * phi * phi * phi / q;
                if step.is_nan() || step <= 4.0 * f64::EPSILON * lambda {
                    break;
                }
                lambda += step;
            }
        } else {
            lambda = self.s.length();
        }
        let shifted = self.m * mu + DMat2::from_diagonal(DVec2::splat(lambda));
        (solve_symmetric(&shifted, self.s).normalize_or(DVec2::X), lambda)
    }
}

/// (A symmetric positive definite, v) ⇒ A⁻¹ v.
fn solve_symmetric(matrix: &DMat2, v: DVec2) -> DVec2 {
    let (a, f, b) = (matrix.x_axis.x, matrix.x_axis.y, matrix.y_axis.y);
    if a >= b {
        let ratio = f / a;
        let y = (v.y - ratio * v.x) / (b - f * ratio);
        DVec2::new((v.x - f * y) / a, y)
    } else {
        let ratio = f / b;
        let x = (v.x - ratio * v.y) / (a - f * ratio);
        DVec2::new(x, (v.y - f * x) / b)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Mirtich's Fig. 3.3.
    pub(in crate::impact) fn figure() -> Compliance {
        let k = DMat3::from_cols_array(&[8.0, -2.0, 1.0, -2.0, 3.0, -1.0, 1.0, -1.0, 5.0]);
        Compliance::new(&k).expect("positive definite")
    }

    /// N6: critical friction √37/20, third column of K⁻¹, and the diverging ray.
    #[test]
    fn the_published_matrix_has_its_published_numbers() {
        let compliance = figure();
        assert!((compliance.critical_friction() - 37.0_f64.sqrt() / 20.0).abs() < 1e-15);
        assert!((compliance.impulse(DVec3::Z) - DVec3::new(-1.0, 6.0, 20.0) / 93.0).length() < 1e-15);
        let Sticking::Unstable { direction, lambda } = compliance.sticking(0.2) else { panic!("unstable") };
        assert!((direction.to_angle().to_degrees() + 71.1126847213).abs() < 1e-9);
        assert!((lambda - 0.3200553117).abs() < 1e-9);
        assert_eq!(compliance.sticking(0.5), Sticking::Stable);
    }

    #[test]
    fn the_slope_of_the_turning_rate_is_its_derivative() {
        let compliance = figure();
        for step in 0..12 {
            let theta = f64::from(step) * 0.5;
            let at = |theta: f64| compliance.flow(0.7, DVec2::from_angle(theta));
            let difference = (at(theta + 1e-5).g - at(theta - 1e-5).g) / 2e-5;
            assert!((at(theta).g_slope - difference).abs() < 1e-8);
        }
    }

    /// Fig. 3.8 is only possible with an indefinite K: refused.
    #[test]
    fn what_is_no_collision_matrix_is_refused() {
        let refused = |columns: [f64; 9]| Compliance::new(&DMat3::from_cols_array(&columns)).is_err();
        assert!(refused([1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0]), "indefinite");
        assert!(refused([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]), "singular");
        assert!(refused([0.0; 9]), "zero");
        assert!(refused([1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), "asymmetric");
        assert!(refused([f64::NAN, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), "not a number");
    }
}
