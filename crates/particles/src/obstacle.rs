//! What particles and fluids collide with: bodies of any kind, seen through a few questions.
//!
//! A body is a shape at a pose with velocities, and answers impulses at points: Δv(p) = K(p) J. For a rigid body
//! K = (1/M) I − [r]ₓ I⁻¹ [r]ₓ with r = p − p_cm; a link of a mechanism has another K and the same interface.

use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};

use crate::ParticleError;

/// A body that particles and fluids collide with.
pub trait Obstacle: Send + Sync {
    /// Its shape, in the frame of its pose.
    fn shape(&self) -> &Shape;

    /// Pose at the end of the interval.
    fn pose(&self) -> Pose;

    /// Pose at the start of the interval; that of the end for a body at rest.
    fn start_pose(&self) -> Pose {
        self.pose()
    }

    /// Velocity of the material point at p, m/s.
    fn velocity_at(&self, p: DVec3) -> DVec3;

    /// Angular velocity, rad/s.
    fn angular_velocity(&self) -> DVec3 {
        DVec3::ZERO
    }

    /// Acceleration of the material point at p without contact forces, m/s².
    fn acceleration_at(&self, _p: DVec3) -> DVec3 {
        DVec3::ZERO
    }

    /// K at p, kg⁻¹: velocity of the material point there by a unit impulse there. Zero for a fixed body.
    fn inverse_mass_at(&self, p: DVec3) -> DMat3;

    /// 1/M, kg⁻¹, for the law of the source that ignores rotation; zero for a fixed body.
    fn inverse_mass(&self) -> f64;

    /// Changes its velocities by an impulse at p, N s.
    fn apply_impulse(&mut self, p: DVec3, impulse: DVec3);

    /// Changes its angular velocity by a moment of impulse, N m s.
    fn apply_couple(&mut self, couple: DVec3) {
        // Two opposite impulses f at ±u with u ⟂ couple, |u| = 1: 2 u × f = couple.
        let u = couple.any_orthonormal_vector();
        let center = self.pose().translation;
        if couple != DVec3::ZERO {
            let f = 0.5 * couple.cross(u);
            self.apply_impulse(center + u, f);
            self.apply_impulse(center - u, -f);
        }
    }

    /// Coefficient of restitution.
    fn restitution(&self) -> f64 {
        0.5
    }

    /// Coefficients of static and of dynamic friction.
    fn friction(&self) -> [f64; 2] {
        [0.0; 2]
    }
}

/// Impulse and its moment about the origin that a body is still to receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reaction {
    /// Σ J, N s.
    pub impulse: DVec3,
    /// Σ p × J, N m s.
    pub moment: DVec3,
}

impl Reaction {
    /// Adds an impulse at a point.
    pub fn add(&mut self, p: DVec3, impulse: DVec3) {
        self.impulse += impulse;
        self.moment += p.cross(impulse);
    }

    /// Applies all to a body.
    pub fn apply(&self, obstacle: &mut dyn Obstacle) {
        if *self != Self::default() {
            let center = obstacle.pose().translation;
            obstacle.apply_impulse(center, self.impulse);
            obstacle.apply_couple(self.moment - center.cross(self.impulse));
        }
    }
}

impl std::ops::Add for Reaction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { impulse: self.impulse + other.impulse, moment: self.moment + other.moment }
    }
}

/// A single rigid body, fixed, moved along, or free: what the crate needs of bodies for itself.
#[derive(Clone, Debug)]
pub struct RigidObstacle {
    shape: Shape,
    /// Shape frame in the frame of the centre of mass, constant.
    shape_in_body: Pose,
    /// Centre of mass and principal axes.
    body: Pose,
    start: Pose,
    velocity: DVec3,
    angular_velocity: DVec3,
    inverse_mass: f64,
    /// Inverse principal moments, kg⁻¹ m⁻².
    inverse_inertia: DVec3,
    /// Acceleration of the centre of mass without contacts, m/s².
    pub acceleration: DVec3,
    restitution: f64,
    friction: [f64; 2],
}

impl RigidObstacle {
    /// A body that does not react; it may be moved by [`set_motion`](Self::set_motion).
    ///
    /// # Errors
    /// The pose is not valid.
    pub fn fixed(shape: Shape, pose: Pose) -> Result<Self, ParticleError> {
        if !pose.is_valid() {
            return Err(ParticleError::Obstacle {
                reason: "pose must be finite, rotation of length 1".into(),
            });
        }
        Ok(Self {
            shape,
            shape_in_body: Pose::IDENTITY,
            body: pose,
            start: pose,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: DVec3::ZERO,
            acceleration: DVec3::ZERO,
            restitution: 0.5,
            friction: [0.0; 2],
        })
    }

    /// A free body of uniform density, kg/m³.
    ///
    /// # Errors
    /// The pose is not valid, or the shape has no mass.
    pub fn free(shape: Shape, pose: Pose, density: f64) -> Result<Self, ParticleError> {
        let reason = |error: &dyn std::fmt::Display| ParticleError::Obstacle { reason: error.to_string() };
        let mass = shape.mass_properties(density).map_err(|e| reason(&e))?;
        let principal = mass.principal();
        let body_in_shape = mass.principal_frame();
        let mut free = Self::fixed(shape, pose)?;
        free.body = pose * body_in_shape;
        free.start = free.body;
        free.shape_in_body = body_in_shape.inverse();
        free.inverse_mass = 1.0 / mass.mass;
        free.inverse_inertia = principal.moments.recip();
        Ok(free)
    }

    /// The same with other coefficients of restitution and of static and dynamic friction.
    #[must_use]
    pub const fn with_surface(mut self, restitution: f64, friction: [f64; 2]) -> Self {
        self.restitution = restitution;
        self.friction = friction;
        self
    }

    /// Sets the velocity of the centre of mass, m/s, and the angular velocity, rad/s.
    pub const fn set_motion(&mut self, velocity: DVec3, angular_velocity: DVec3) {
        self.velocity = velocity;
        self.angular_velocity = angular_velocity;
    }

    /// Velocity of the centre of mass, m/s.
    pub const fn velocity(&self) -> DVec3 {
        self.velocity
    }

    /// Centre of mass, m.
    pub const fn center(&self) -> DVec3 {
        self.body.translation
    }

    /// Mass, kg; infinite for a fixed body.
    pub fn mass(&self) -> f64 {
        1.0 / self.inverse_mass
    }

    /// Inverse inertia in world axes.
    fn world_inverse_inertia(&self) -> DMat3 {
        let r = self.body.rotation_matrix();
        r * DMat3::from_diagonal(self.inverse_inertia) * r.transpose()
    }

    /// Angular momentum about the centre of mass, kg m²/s; zero for a fixed body.
    pub fn spin(&self) -> DVec3 {
        if self.inverse_mass == 0.0 {
            return DVec3::ZERO;
        }
        let local = self.body.inverse_vector(self.angular_velocity);
        self.body.vector(local / self.inverse_inertia)
    }

    /// Moves the body over the time dt: velocity by `acceleration`, then position; angular momentum is kept.
    pub fn advance(&mut self, dt: f64) {
        self.start = self.body;
        if self.inverse_mass > 0.0 {
            self.velocity += dt * self.acceleration;
        }
        let spin = self.spin();
        self.body.translation += dt * self.velocity;
        self.body.rotation =
            (DQuat::from_scaled_axis(dt * self.angular_velocity) * self.body.rotation).normalize();
        if self.inverse_mass > 0.0 {
            self.angular_velocity = self.world_inverse_inertia() * spin;
        }
    }
}

impl Obstacle for RigidObstacle {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn pose(&self) -> Pose {
        self.body * self.shape_in_body
    }

    fn start_pose(&self) -> Pose {
        self.start * self.shape_in_body
    }

    fn velocity_at(&self, p: DVec3) -> DVec3 {
        self.velocity + self.angular_velocity.cross(p - self.body.translation)
    }

    fn angular_velocity(&self) -> DVec3 {
        self.angular_velocity
    }

    fn acceleration_at(&self, p: DVec3) -> DVec3 {
        let (w, r) = (self.angular_velocity, p - self.body.translation);
        let turning = if self.inverse_mass > 0.0 {
            self.world_inverse_inertia() * self.spin().cross(w)
        } else {
            DVec3::ZERO
        };
        self.acceleration + turning.cross(r) + w.cross(w.cross(r))
    }

    fn inverse_mass_at(&self, p: DVec3) -> DMat3 {
        if self.inverse_mass == 0.0 {
            return DMat3::ZERO;
        }
        let lever = rattleback_geometry::primitive::cross_matrix(p - self.body.translation);
        DMat3::from_diagonal(DVec3::splat(self.inverse_mass)) - lever * self.world_inverse_inertia() * lever
    }

    fn inverse_mass(&self) -> f64 {
        self.inverse_mass
    }

    fn apply_impulse(&mut self, p: DVec3, impulse: DVec3) {
        self.velocity += self.inverse_mass * impulse;
        let lever = p - self.body.translation;
        self.angular_velocity += self.world_inverse_inertia() * lever.cross(impulse);
    }

    fn apply_couple(&mut self, couple: DVec3) {
        self.angular_velocity += self.world_inverse_inertia() * couple;
    }

    fn restitution(&self) -> f64 {
        self.restitution
    }

    fn friction(&self) -> [f64; 2] {
        self.friction
    }
}
