//! Response to an impulse at a point: what impact laws and contact rows need of whatever they push.
//!
//! An impulse p at a point changes the velocity u of the material there by K p. K, the inverse mass at the point, is symmetric and
//! positive semidefinite. For a rigid body with the arm r from its centre of mass, r̃ x = r × x,
//!
//!   u = v + ω × r,   K = 1/m − r̃ I⁻¹ r̃,   Δv = p/m,   Δω = I⁻¹ (r × p).
//!
//! For a link of a multibody, K = J H⁻¹ Jᵀ with the Jacobian J of the point and the joint-space inertia H; an impulse changes the
//! velocities of all joints, and K is singular in directions in which the joints do not let the link move. A body that impulses
//! do not move has K = 0.

use crate::impact::ContactBody;
use crate::multibody::{
    DynamicsError, Mechanism, MechanismError, SpatialForce, Vector, Workspace, forward_dynamics,
    forward_velocities, impulse_response, inverse_mass,
};
use crate::rigid::{Inertia, Motion, rotated_diagonal};
use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::lcp::blocks::Block;

/// What an impulse at a point does.
///
/// Rigid bodies ([`RigidResponse`]) and links of multibodies ([`LinkResponse`]) implement it; so can anything else that collides.
/// [`Collision::at`](crate::impact::Collision::at) builds a collision from two of them.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::impact::{Collision, CollisionSettings, resolve};
/// use rattleback_dynamics::solver::{ImpulseResponse, RigidResponse};
/// use rattleback_dynamics::rigid::{Inertia, Motion};
///
/// /// A particle: a point mass, kg, with its velocity, m/s.
/// struct Particle(f64, DVec3);
///
/// impl ImpulseResponse for Particle {
///     fn velocity_at(&self, _point: DVec3) -> DVec3 {
///         self.1
///     }
///     fn inverse_mass_at(&self, _point: DVec3) -> DMat3 {
///         DMat3::from_diagonal(DVec3::splat(1.0 / self.0))
///     }
///     fn apply_impulse(&mut self, _point: DVec3, impulse: DVec3) {
///         self.1 += impulse / self.0;
///     }
/// }
///
/// let mut particle = Particle(1.0, DVec3::X);
/// let inertia = Inertia { inverse_mass: 1.0, ..Inertia::default() };
/// let mut ball = RigidResponse::new(&inertia, &Motion::default());
/// let point = DVec3::ZERO;
/// let (collision, world) = Collision::at(&particle, &ball, point, DVec3::X)?;
/// let impulse = world * resolve(&collision, &CollisionSettings { e: 1.0, ..CollisionSettings::default() })?.impulse;
/// particle.apply_impulse(point, -impulse);
/// ball.apply_impulse(point, impulse);
/// // Equal masses exchange their velocities.
/// assert!(particle.1.length() < 1e-12 && (ball.velocity_at(point) - DVec3::X).length() < 1e-12);
/// # Ok::<(), rattleback_dynamics::impact::CollisionError>(())
/// ```
pub trait ImpulseResponse {
    /// Velocity of the material at a point in the world, m/s.
    fn velocity_at(&self, point: DVec3) -> DVec3;

    /// K: change of that velocity per impulse at the point, 1/kg; symmetric and positive semidefinite, zero for what impulses do not
    /// move.
    fn inverse_mass_at(&self, point: DVec3) -> DMat3;

    /// Changes the velocities by an impulse at the point, N s.
    fn apply_impulse(&mut self, point: DVec3, impulse: DVec3);
}

/// K of two sides at a point of each: change of the relative velocity of the points per impulse, 1/kg.
pub fn relative_inverse_mass(
    a: &(impl ImpulseResponse + ?Sized),
    b: &(impl ImpulseResponse + ?Sized),
    points: [DVec3; 2],
) -> DMat3 {
    a.inverse_mass_at(points[0]) + b.inverse_mass_at(points[1])
}

/// A rigid body: a copy of its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidResponse {
    /// Centre of mass, m.
    pub x: DVec3,
    /// Velocity of the centre of mass, m/s.
    pub v: DVec3,
    /// Angular velocity, rad/s.
    pub omega: DVec3,
    /// 1/m, 1/kg; 0 for a body of infinite mass.
    pub inverse_mass: f64,
    /// I⁻¹ about the centre of mass in world axes, 1/(kg m²).
    pub inverse_inertia: DMat3,
}

impl RigidResponse {
    /// (inertia, state) ⇒ the response of the body in that state.
    pub fn new(inertia: &Inertia, motion: &Motion) -> Self {
        Self {
            x: motion.x,
            v: motion.v,
            omega: motion.omega,
            inverse_mass: inertia.inverse_mass,
            inverse_inertia: inertia.inverse_world_tensor(motion.q),
        }
    }

    /// The body in contact at a point.
    pub fn contact_at(&self, point: DVec3) -> ContactBody {
        ContactBody {
            inverse_mass: self.inverse_mass,
            inverse_inertia: self.inverse_inertia,
            r: point - self.x,
            v: self.v,
            omega: self.omega,
        }
    }
}

impl ImpulseResponse for RigidResponse {
    fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.contact_at(point).point_velocity()
    }

    fn inverse_mass_at(&self, point: DVec3) -> DMat3 {
        self.contact_at(point).inverse_point_mass()
    }

    fn apply_impulse(&mut self, point: DVec3, impulse: DVec3) {
        let after = self.contact_at(point).after(impulse);
        (self.v, self.omega) = (after.v, after.omega);
    }
}

/// (inertia, attitude, v and ω without constraints) ⇒ a body in a block problem.
pub(crate) fn rigid_block(inertia: &Inertia, q: DQuat, [v, omega]: [DVec3; 2]) -> Block {
    let tensor = rotated_diagonal(q, inertia.large_moments());
    Block::rigid(inertia.mass(), tensor, inertia.inverse_world_tensor(q), v, omega)
}

/// A link of a multibody; an impulse on it changes the joint velocities of the whole multibody.
///
/// A bob on a rod of 1 m, hinged at the origin, hit at the bob along its path: it responds with its whole mass. Across the hinge it does
/// not respond.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::multibody::joint::RevoluteJoint;
/// use rattleback_dynamics::multibody::{Link, LinkTree, Mechanism};
/// use rattleback_dynamics::solver::{ImpulseResponse, LinkResponse};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bob = Link::new("bob", None, RevoluteJoint { axis: DVec3::Y }).with_mass(2.0, -DVec3::Z, DMat3::ZERO);
/// let mut pendulum = Mechanism::new(LinkTree::new(vec![bob])?);
/// let mut link = LinkResponse::new(&mut pendulum, 0)?;
/// assert!((link.inverse_mass_at(-DVec3::Z).x_axis - DVec3::X / 2.0).length() < 1e-12);
/// assert!(link.inverse_mass_at(-DVec3::Z).y_axis.length() < 1e-12);
/// link.apply_impulse(-DVec3::Z, DVec3::X);
/// assert!((link.velocity_at(-DVec3::Z) - DVec3::X / 2.0).length() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct LinkResponse<'m> {
    mechanism: &'m mut Mechanism,
    link: usize,
    work: Workspace<f64>,
}

impl<'m> LinkResponse<'m> {
    /// (multibody, place of the link in its tree) ⇒ the response in the present state.
    ///
    /// # Errors
    /// No such link, a joint that moves no mass, or a multibody with couplings or loops, whose rows the response does not include.
    pub fn new(mechanism: &'m mut Mechanism, link: usize) -> Result<Self, MechanismError> {
        let count = mechanism.tree().links().len();
        if link >= count {
            return Err(DynamicsError::UnknownLink { link, count }.into());
        }
        if mechanism.has_constraints() {
            return Err(MechanismError::Parameter {
                what: "impulse response of a link".into(),
                number: "couplings and loops",
                allowed: "none",
            });
        }
        let mut work = Workspace::new(mechanism.tree());
        let (q, v) = (mechanism.positions(), mechanism.velocities());
        // The factors of H depend on positions only; forces are not needed.
        let mut scratch = vec![0.0; v.len()];
        let zeros = vec![0.0; v.len()];
        forward_dynamics(mechanism.tree(), &mut work, (q, v, &zeros), None, DVec3::ZERO, &mut scratch)?;
        forward_velocities(mechanism.tree(), &mut work, q, v);
        Ok(Self { mechanism, link, work })
    }
}

impl ImpulseResponse for LinkResponse<'_> {
    fn velocity_at(&self, point: DVec3) -> DVec3 {
        let twist = self.work.velocity(self.link);
        let arm = point - self.work.origin(self.link, 0);
        twist.linear.lane(0) + twist.angular.lane(0).cross(arm)
    }

    fn inverse_mass_at(&self, point: DVec3) -> DMat3 {
        // The link exists: it was looked up when this was made.
        let k = inverse_mass(self.mechanism.tree(), &self.work, self.link, Vector::splat(point));
        k.map_or(DMat3::ZERO, |k| k.lane(0))
    }

    fn apply_impulse(&mut self, point: DVec3, impulse: DVec3) {
        let Self { mechanism, link, work } = self;
        let arm = point - work.origin(*link, 0);
        let about_origin =
            SpatialForce { torque: Vector::splat(arm.cross(impulse)), force: Vector::splat(impulse) };
        let mut changes = vec![0.0; mechanism.velocities().len()];
        if impulse_response(mechanism.tree(), work, *link, about_origin, &mut changes).is_err() {
            return;
        }
        let q = mechanism.positions().to_vec();
        let v: Vec<f64> = mechanism.velocities().iter().zip(&changes).map(|(v, more)| v + more).collect();
        // Refused if the impulse is not finite; then nothing changes.
        if mechanism.set_state(&q, &v).is_ok() {
            forward_velocities(mechanism.tree(), work, &q, &v);
        }
    }
}
