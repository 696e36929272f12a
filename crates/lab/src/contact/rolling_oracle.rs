//! Rolling without slip on a horizontal plane, as an ordinary differential equation.
//!
//! With r from the centre of mass G to the contact point, the material point there is at rest: v = −ω × r. The acceleration of G is then
//! −ω̇ × r − ω × ṙ, and the contact force F = m (v̇ − g) turns the body by r × F:
//!
//!   [I + m (r² 1 − r rᵀ)] ω̇ = −ω × I ω − m r × (ω × ṙ) − m r × g.
//!
//! The contact point is the lowest point of the surface. In the body frame the downward direction n changes as ṅ = −ω × n; for an
//! ellipsoid with A = diag(semi-axes), p = A²n/s with s = |A n|, so ṗ = A²ṅ/s − A²n (n·A²ṅ)/s³; for the rim of a disc
//! p = a m/|m| ± h z with m = n − (n·z) z. In the world ṙ = R ṗ + ω × r.
//!
//! Independent of the engine: integrated by Dormand and Prince's pair with a tolerance of 1e-12.

use super::Failure;
use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::adaptive::{Embedded, StepControl};
use rattleback_numerics::integrator::DormandPrince;
use rattleback_numerics::{System, Tolerance};

/// Points between two readings at which forces are looked at and means are taken.
const BETWEEN: usize = 20;

/// Surface that rolls, in the body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// Semi-axes along x, y, z, m.
    Ellipsoid(DVec3),
    /// Rim of a cylinder about z: radius and half its height, m.
    Disc(f64, f64),
}

impl Surface {
    /// (downward unit vector n, ṅ) ⇒ lowest point p and ṗ, all in the body frame.
    pub fn lowest(&self, n: DVec3, rate: DVec3) -> (DVec3, DVec3) {
        match *self {
            Self::Ellipsoid(axes) => {
                let (a, s) = (axes * axes, (axes * n).length());
                (a * n / s, a * rate / s - a * n * (n.dot(a * rate) / s.powi(3)))
            }
            Self::Disc(radius, half_height) => {
                let flat = DVec3::new(1.0, 1.0, 0.0);
                let (m, dm) = (n * flat, rate * flat);
                let size = m.length();
                let side = DVec3::Z * half_height * n.z.signum();
                (radius * m / size + side, radius * (dm / size - m * (m.dot(dm) / size.powi(3))))
            }
        }
    }
}

/// A body that rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolling {
    /// Its surface.
    pub surface: Surface,
    /// Centre of mass in the body frame, m.
    pub center_of_mass: DVec3,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia tensor about the centre of mass along the axes of the body frame, kg·m².
    pub inertia: DMat3,
    /// Size of gravity along −z, m/s².
    pub gravity: f64,
}

/// Attitude (body → world) and angular velocity in the world.
pub type RollingState = (DQuat, DVec3);

impl Rolling {
    /// State ⇒ r from the centre of mass to the contact point and ṙ, in the world.
    pub fn arm(&self, (q, omega): RollingState) -> (DVec3, DVec3) {
        let down = q.conjugate() * -DVec3::Z;
        let spin = q.conjugate() * omega;
        let (p, rate) = self.surface.lowest(down, -spin.cross(down));
        let r = q * (p - self.center_of_mass);
        (r, q * rate + omega.cross(r))
    }

    /// Velocity of the centre of mass, m/s.
    pub fn velocity(&self, state: RollingState) -> DVec3 {
        -state.1.cross(self.arm(state).0)
    }

    /// State ⇒ ω̇ and the contact force, N.
    fn acceleration(&self, state: RollingState) -> (DVec3, DVec3) {
        let (q, omega) = state;
        let (r, rate) = self.arm(state);
        let (m, g) = (self.mass, -self.gravity * DVec3::Z);
        let turn = DMat3::from_quat(q);
        let inertia = turn * self.inertia * turn.transpose();
        let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        let about_contact = inertia + (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * m;
        let moment = -omega.cross(inertia * omega) - m * r.cross(omega.cross(rate)) - m * r.cross(g);
        let spin_up = about_contact.inverse() * moment;
        (spin_up, m * (-spin_up.cross(r) - omega.cross(rate) - g))
    }

    /// ½ m v² + ½ ω·I ω + m g z, J.
    #[cfg(test)]
    fn energy(&self, state: RollingState) -> f64 {
        let turn = DMat3::from_quat(state.0);
        let spin = turn * self.inertia * turn.transpose() * state.1;
        let (r, _) = self.arm(state);
        0.5 * self.mass * self.velocity(state).length_squared() + 0.5 * state.1.dot(spin)
            - self.mass * self.gravity * r.z
    }

    /// State now, time between two readings, their number ⇒ the states at those times (the first is the one given), with the friction
    /// coefficient that rolling needs and the least normal force in parts of the weight.
    pub fn integrate(
        &self,
        start: RollingState,
        every: f64,
        count: usize,
    ) -> Result<RollingTrajectory, Failure> {
        let mut control = StepControl::new(Tolerance::absolute(1e-12));
        control.initial_step = Some(1e-3);
        let mut method = Embedded::new(DormandPrince::default(), control);
        let (mut state, mut system) = (start, *self);
        let mut trajectory = RollingTrajectory {
            states: vec![state],
            mean_spins: Vec::new(),
            friction: 0.0,
            least_weight: f64::INFINITY,
        };
        let h = every / BETWEEN as f64;
        for k in 0..count {
            let mut sum = DVec3::ZERO;
            for j in 0..BETWEEN {
                let force = self.acceleration(state).1;
                trajectory.friction =
                    trajectory.friction.max(force.truncate().length() / force.z.max(1e-300));
                trajectory.least_weight = trajectory.least_weight.min(force.z / (self.mass * self.gravity));
                let (before, t) = (state.1, k as f64 * every + j as f64 * h);
                method.integrate(&mut system, t, t + h, &mut state)?;
                sum += 0.5 * (before + state.1);
            }
            trajectory.states.push(state);
            trajectory.mean_spins.push(sum / BETWEEN as f64);
        }
        Ok(trajectory)
    }
}

/// A motion of rolling, read at equal times.
#[derive(Clone, Debug, PartialEq)]
pub struct RollingTrajectory {
    /// States, from the beginning on.
    pub states: Vec<RollingState>,
    /// Angular velocity averaged between two readings, rad/s.
    pub mean_spins: Vec<DVec3>,
    /// Largest ratio of tangential to normal force at the readings.
    pub friction: f64,
    /// Least normal force at the readings, in parts of the weight.
    pub least_weight: f64,
}

impl System<RollingState> for Rolling {
    fn rate(&mut self, _: f64, state: &RollingState, rate: &mut RollingState) {
        let (q, omega) = (state.0.normalize(), state.1);
        let spin = DQuat::from_xyzw(omega.x, omega.y, omega.z, 0.0);
        *rate = ((spin * q) * 0.5, self.acceleration((q, omega)).0);
    }

    fn project(&mut self, state: &mut RollingState) {
        state.0 = state.0.normalize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rattleback() -> Rolling {
        Rolling {
            surface: Surface::Ellipsoid(DVec3::new(0.1, 0.03, 0.02)),
            center_of_mass: DVec3::new(0.0, 0.0, 0.001),
            mass: 0.5,
            inertia: DMat3::from_cols(
                DVec3::new(1.3e-4, 3e-5, 0.0),
                DVec3::new(3e-5, 1.04e-3, 0.0),
                DVec3::new(0.0, 0.0, 1.1e-3),
            ),
            gravity: 9.81,
        }
    }

    /// Rolling without slip does no work: an invariant that the equation does not mention.
    #[test]
    fn energy_is_kept() {
        let body = rattleback();
        let start = (DQuat::from_rotation_x(0.05) * DQuat::from_rotation_y(0.02), DVec3::new(0.2, -0.1, 4.0));
        let trajectory = body.integrate(start, 0.05, 100).unwrap();
        let (first, last) = (body.energy(start), body.energy(trajectory.states[100]));
        assert!((last / first - 1.0).abs() < 1e-9, "{first} {last}");
        assert!(trajectory.states.iter().any(|state| state.1.z < 0.0), "it is a rattleback");
    }

    /// A ball rolls straight on; a disc on its edge precesses at the rate of the textbooks: for a thin disc that leans by α from the
    /// vertical and whose centre stands still, Ω² = 4 g /(a sin α) with α the tilt of its plane from the ground.
    #[test]
    fn a_disc_whose_centre_stands_still_precesses_as_the_textbooks_say() {
        let (a, mass, tilt) = (0.1_f64, 0.3, 0.4_f64);
        let inertia = DMat3::from_diagonal(DVec3::new(0.25, 0.25, 0.5) * mass * a * a);
        let disc = Rolling {
            surface: Surface::Disc(a, 1e-9),
            center_of_mass: DVec3::ZERO,
            mass,
            inertia,
            gravity: 9.81,
        };
        let rate = (4.0 * 9.81 / (a * tilt.sin())).sqrt();
        let q = DQuat::from_rotation_x(tilt);
        // Its angular velocity lies along the line from the contact point to the centre: both stand still.
        let along = disc.arm((q, DVec3::ZERO)).0.normalize();
        let omega = along * (-rate * tilt.sin());
        let trajectory = disc.integrate((q, omega), 0.05, 40).unwrap();
        for (q, omega) in trajectory.states {
            assert!(((q * DVec3::Z).z - tilt.cos()).abs() < 1e-6);
            assert!(disc.velocity((q, omega)).length() < 1e-6);
        }
    }
}
