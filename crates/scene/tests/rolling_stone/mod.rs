//! An ellipsoid with a point mass on its rim that rolls on a plane without slip: the second opinion on the rattleback.
//!
//! In the body's frame let u point up, ρ lead from the centre of mass to the point of contact, I be the inertia about the
//! centre of mass. The foremost point downwards is k(d) = A²d/|A d| with d = −u and A = diag(a, b, c), so ρ = k(−u) − c.
//! No slip: v = ρ × ω. With the force F = m (v̇ + g u) at the contact, I ω̇ + ω × Iω = ρ × F becomes
//!
//! (I + m (ρ² − ρ ρᵀ)) ω̇ = −ω × Iω + m ρ × (ρ̇ × ω + ω × (ρ × ω) + g u),    u̇ = u × ω.

use glam::{DMat3, DVec3};

const AXES: DVec3 = DVec3::new(0.10, 0.02, 0.015);
const MASS: f64 = 0.5;
const LOAD: f64 = 0.03;

/// The stone.
pub struct RollingStone {
    center: DVec3,
    inertia: DMat3,
    /// Up, in the body's frame.
    u: DVec3,
    omega: DVec3,
}

fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

fn foremost(d: DVec3) -> DVec3 {
    AXES * AXES * d / (AXES * d).length()
}

impl RollingStone {
    /// (place of the load, spin about the vertical) ⇒ stone at its equilibrium, with the small push of the scene.
    pub fn new(load: DVec3, spin: f64) -> Self {
        let squares = AXES * AXES;
        let moments = DVec3::splat(squares.element_sum()) - squares;
        let center = load * LOAD / (MASS + LOAD);
        let point = |m: f64, r: DVec3| (DMat3::IDENTITY * r.length_squared() - outer(r)) * m;
        let inertia =
            DMat3::from_diagonal(0.2 * MASS * moments) + point(MASS, center) + point(LOAD, load - center);
        // At rest the centre of mass is right above the contact: down the slope of the height until there is none.
        let mut d = -DVec3::Z;
        for _ in 0..20_000 {
            let slope = (foremost(d) - center).reject_from(d);
            d = (d - slope).normalize();
        }
        Self { center, inertia, u: -d, omega: -d * spin + DVec3::new(0.05, 0.05, 0.0) }
    }

    /// Spin about the vertical, rad/s.
    pub fn spin(&self) -> f64 {
        self.omega.dot(self.u)
    }

    /// J.
    pub fn energy(&self) -> f64 {
        let rho = foremost(-self.u) - self.center;
        let v = rho.cross(self.omega);
        let mass = MASS + LOAD;
        0.5 * mass * v.length_squared() + 0.5 * self.omega.dot(self.inertia * self.omega)
            - mass * 9.81 * rho.dot(self.u)
    }

    fn rates(&self, u: DVec3, omega: DVec3) -> (DVec3, DVec3) {
        let (mass, squares, d) = (MASS + LOAD, AXES * AXES, -u);
        let u_rate = u.cross(omega);
        let s = (AXES * d).length();
        let rho = foremost(d) - self.center;
        let rho_rate = -squares * u_rate / s + squares * d * d.dot(squares * u_rate) / (s * s * s);
        let effective = self.inertia + (DMat3::IDENTITY * rho.length_squared() - outer(rho)) * mass;
        let pull = rho_rate.cross(omega) + omega.cross(rho.cross(omega)) + 9.81 * u;
        let torque = mass * rho.cross(pull) - omega.cross(self.inertia * omega);
        (u_rate, effective.inverse() * torque)
    }

    /// One step of Runge and Kutta.
    pub fn step(&mut self, h: f64) {
        let (u, w) = (self.u, self.omega);
        let k1 = self.rates(u, w);
        let k2 = self.rates(u + 0.5 * h * k1.0, w + 0.5 * h * k1.1);
        let k3 = self.rates(u + 0.5 * h * k2.0, w + 0.5 * h * k2.1);
        let k4 = self.rates(u + h * k3.0, w + h * k3.1);
        self.u = (u + h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0)).normalize();
        self.omega = w + h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
    }
}
