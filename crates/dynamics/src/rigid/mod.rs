//! How a single rigid body moves: its state, and the flight that needs no integrator.
//!
//! The state belongs to the *principal frame*: origin in the centre of mass x, axes along the principal axes of
//! inertia, so that the inertia tensor is diagonal, I = diag(I₁, I₂, I₃), and the equations of motion are
//! m v̇ = F, L̇ = τ with L = R I Rᵀ ω. The frame a user models in is a constant pose away.

mod free_flight;
mod free_rotation;
mod lane;

pub use free_flight::fly;
pub(crate) use free_rotation::longest_piece;
pub use free_rotation::rotate_freely;

use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// Where a body is and how it moves, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Centre of mass, m.
    pub x: DVec3,
    /// Principal frame → world.
    pub q: DQuat,
    /// Velocity of the centre of mass, m/s.
    pub v: DVec3,
    /// Angular velocity, rad/s.
    pub omega: DVec3,
}

impl Motion {
    /// The principal frame as a pose.
    pub const fn pose(&self) -> Pose {
        Pose::new(self.q, self.x)
    }

    /// (pose of the frame that the body is modelled in, velocity of its origin, m/s, angular velocity, rad/s, principal frame in it) ⇒
    /// the state.
    pub fn of_frame(pose: &Pose, velocity: DVec3, omega: DVec3, body_from_principal: &Pose) -> Self {
        let principal = *pose * *body_from_principal;
        let arm = principal.translation - pose.translation;
        Self { x: principal.translation, q: principal.rotation, v: velocity + omega.cross(arm), omega }
    }

    /// Velocity of the body's material at a world point.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.v + self.omega.cross(point - self.x)
    }

    /// Whether every number is finite, and none so large that their sum is not.
    pub fn is_finite(&self) -> bool {
        // One test instead of thirteen: infinities and NaN survive a sum.
        let sum = self.x + self.v + self.omega;
        (sum.x + sum.y + sum.z + self.q.x + self.q.y + self.q.z + self.q.w).is_finite()
    }
}

/// How a body resists: what the step of a dynamic body reads and never writes. Zero inverses mean immovable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inertia {
    /// 1/m, 1/kg.
    pub inverse_mass: f64,
    /// Principal moments I, kg·m².
    pub moments: DVec3,
    /// 1/I, component by component.
    pub inverse_moments: DVec3,
    /// c in v(t + h) = v(t) e^(−c h), 1/s.
    pub linear_damping: f64,
    /// c in ω(t + h) = ω(t) e^(−c h), 1/s.
    pub angular_damping: f64,
}

impl Inertia {
    /// Mass in kg; infinite for an immovable body.
    pub fn mass(&self) -> f64 {
        1.0 / self.inverse_mass
    }

    /// Principal moments for equations in which the mass matrix stands, kg·m²: those of a body whose rotations are locked are very large.
    pub(crate) fn large_moments(&self) -> DVec3 {
        if self.inverse_moments == DVec3::ZERO { 1e9 * self.moments } else { self.moments }
    }

    /// (attitude, ω) ⇒ L = R I Rᵀ ω, world frame.
    pub fn angular_momentum(&self, q: DQuat, omega: DVec3) -> DVec3 {
        q * (self.moments * (q.conjugate() * omega))
    }

    /// (attitude, L) ⇒ ω = R I⁻¹ Rᵀ L, world frame.
    pub fn angular_velocity(&self, q: DQuat, l: DVec3) -> DVec3 {
        q * (self.inverse_moments * (q.conjugate() * l))
    }

    /// Time h, s ⇒ factors e^(−c h) by which damping reduces v and ω.
    pub fn damping_factors(&self, h: f64) -> [f64; 2] {
        // Most bodies are undamped; skipping e⁰ saves its cost.
        [self.linear_damping, self.angular_damping].map(|c| if c > 0.0 { (-h * c).exp() } else { 1.0 })
    }

    /// Damps v and ω over a time h, s.
    #[inline]
    pub fn damp(&self, motion: &mut Motion, h: f64) {
        if self.linear_damping > 0.0 {
            motion.v *= (-h * self.linear_damping).exp();
        }
        if self.angular_damping > 0.0 {
            motion.omega *= (-h * self.angular_damping).exp();
        }
    }

    /// Attitude ⇒ R I Rᵀ.
    pub fn world_tensor(&self, q: DQuat) -> DMat3 {
        rotated_diagonal(q, self.moments)
    }

    /// Attitude ⇒ R I⁻¹ Rᵀ.
    pub fn inverse_world_tensor(&self, q: DQuat) -> DMat3 {
        rotated_diagonal(q, self.inverse_moments)
    }

    /// ½ m v² + ½ ω·L.
    pub fn kinetic_energy(&self, motion: &Motion) -> f64 {
        let body_omega = motion.q.conjugate() * motion.omega;
        0.5 * self.mass() * motion.v.length_squared() + 0.5 * body_omega.dot(self.moments * body_omega)
    }
}

/// (attitude, d) ⇒ R diag(d) Rᵀ.
pub(crate) fn rotated_diagonal(q: DQuat, d: DVec3) -> DMat3 {
    let r = DMat3::from_quat(q);
    r * DMat3::from_diagonal(d) * r.transpose()
}

/// A force through the centre of mass and a torque about it, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wrench {
    /// N.
    pub force: DVec3,
    /// N·m.
    pub torque: DVec3,
}

impl Wrench {
    /// A force acting at a world point of a body whose centre of mass is at x.
    pub fn at(force: DVec3, point: DVec3, x: DVec3) -> Self {
        Self { force, torque: (point - x).cross(force) }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}
