//! Two bodies in contact at one point: from their velocities to the collision matrix and back.
//!
//! The normal n points from A to B, r runs from the centre of mass to the contact point, the impulse p acts
//! on B and −p on A, and u = v_B + ω_B × r_B − v_A − ω_A × r_A, so that n·u < 0 while the bodies approach. An
//! impulse changes Δv_B = p/m_B, Δω_B = I_B⁻¹(r_B × p), and likewise A with −p, hence
//!
//!   Δu = K p,   K = (1/m_A + 1/m_B) 1 − r̃_A I_A⁻¹ r̃_A − r̃_B I_B⁻¹ r̃_B,   r̃ x = r × x.
//!
//! K is constant over the collision, symmetric, and positive definite if one of the bodies can move. The
//! contact frame has its z axis along n. (Mirtich numbers the bodies: his body 1 is B, his body 2 is A.)

use super::CollisionError;
use crate::solver::ImpulseResponse;
use glam::{DMat3, DVec3};

/// One of two bodies in contact, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactBody {
    /// 1/m in 1/kg; 0 for a body of infinite mass.
    pub inverse_mass: f64,
    /// I⁻¹ about the centre of mass, in 1/(kg m²).
    pub inverse_inertia: DMat3,
    /// From the centre of mass to the contact point, in m.
    pub r: DVec3,
    /// Velocity of the centre of mass, in m/s.
    pub v: DVec3,
    /// Angular velocity, in rad/s.
    pub omega: DVec3,
}

impl ContactBody {
    /// A body that no impulse moves, at rest.
    pub const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        r: DVec3::ZERO,
        v: DVec3::ZERO,
        omega: DVec3::ZERO,
    };

    /// Velocity of the contact point.
    pub fn point_velocity(&self) -> DVec3 {
        self.v + self.omega.cross(self.r)
    }

    /// (p) ⇒ the same body after the impulse p, both in the world frame.
    #[must_use]
    pub fn after(&self, p: DVec3) -> Self {
        Self {
            v: self.v + self.inverse_mass * p,
            omega: self.omega + self.inverse_inertia * self.r.cross(p),
            ..*self
        }
    }

    /// Velocity of the contact point per impulse on it, 1/kg.
    pub(crate) fn inverse_point_mass(&self) -> DMat3 {
        let column = |axis: DVec3| {
            self.inverse_mass * axis + (self.inverse_inertia * self.r.cross(axis)).cross(self.r)
        };
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
    }

    fn check(&self) -> Result<(), CollisionError> {
        let finite = self.inverse_mass.is_finite()
            && self.inverse_inertia.is_finite()
            && self.r.is_finite()
            && self.v.is_finite()
            && self.omega.is_finite();
        if !finite {
            return Err(CollisionError::NotFinite {
                what: "mass, inertia, lever arm and velocities of a body",
            });
        }
        if self.inverse_mass < 0.0 {
            return Err(CollisionError::Coefficient {
                what: "inverse mass",
                allowed: "at least 0",
                value: self.inverse_mass,
            });
        }
        Ok(())
    }
}

/// (A, B) ⇒ K in the world frame.
pub fn collision_matrix(a: &ContactBody, b: &ContactBody) -> DMat3 {
    let k = a.inverse_point_mass() + b.inverse_point_mass();
    // Symmetric except for rounding.
    (k + k.transpose()) * 0.5
}

/// Normal ⇒ world from contact frame: two tangents and the unit normal as columns, right-handed.
///
/// The tangents depend continuously on the normal except where it passes −z.
///
/// # Errors
/// A normal that is zero or not finite.
pub fn contact_frame(normal: DVec3) -> Result<DMat3, CollisionError> {
    if !normal.is_finite() {
        return Err(CollisionError::NotFinite { what: "the contact normal" });
    }
    let size = normal.abs().max_element();
    if size == 0.0 {
        return Err(CollisionError::NoNormal);
    }
    let n = (normal / size).normalize();
    let (x, y) = n.any_orthonormal_pair();
    Ok(if x.cross(y).dot(n) > 0.0 { DMat3::from_cols(x, y, n) } else { DMat3::from_cols(y, x, n) })
}

/// A collision in its contact frame: all that its outcome depends on, besides the materials.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::impact::{Collision, CollisionSettings, ContactBody, resolve};
///
/// // A ball of 1 kg and radius 0.1 m, thrown flat onto the floor.
/// let inverse_inertia = DMat3::from_diagonal(DVec3::splat(1.0 / 0.004));
/// let r = DVec3::new(0.0, 0.0, -0.1);
/// let ball =
///     ContactBody { inverse_mass: 1.0, inverse_inertia, r, v: DVec3::new(3.0, 0.0, -2.0), omega: DVec3::ZERO };
/// let (collision, world) = Collision::between(&ContactBody::FIXED, &ball, DVec3::Z)?;
/// let settings = CollisionSettings { e: 0.5, mu: 0.2, ..CollisionSettings::default() };
/// let outcome = resolve(&collision, &settings)?;
/// let ball = ball.after(world * outcome.impulse);
/// assert!((ball.v - DVec3::new(2.4, 0.0, 1.0)).length() < 1e-12);
/// # Ok::<(), rattleback_dynamics::impact::CollisionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// Collision matrix K, in 1/kg.
    pub k: DMat3,
    /// Relative velocity u of the contact points, B against A; z along the normal.
    pub u: DVec3,
}

impl Collision {
    /// (A, B, normal from A to B) ⇒ the collision, and the rotation world ← contact frame.
    ///
    /// # Errors
    /// Values that are not finite, a negative inverse mass, no direction of the normal, or two bodies of
    /// infinite mass.
    pub fn between(a: &ContactBody, b: &ContactBody, normal: DVec3) -> Result<(Self, DMat3), CollisionError> {
        a.check()?;
        b.check()?;
        if a.inverse_mass == 0.0 && b.inverse_mass == 0.0 {
            return Err(CollisionError::NoDynamicBody);
        }
        Self::in_frame(collision_matrix(a, b), b.point_velocity() - a.point_velocity(), normal)
    }

    /// (A, B, contact point, normal from A to B) ⇒ the collision of anything that responds to impulses, and the rotation
    /// world ← contact frame. [`ImpulseResponse`] has an example.
    ///
    /// # Errors
    /// Responses that are not finite, no direction of the normal, or two sides that impulses do not move.
    pub fn at(
        a: &(impl ImpulseResponse + ?Sized),
        b: &(impl ImpulseResponse + ?Sized),
        point: DVec3,
        normal: DVec3,
    ) -> Result<(Self, DMat3), CollisionError> {
        let k = a.inverse_mass_at(point) + b.inverse_mass_at(point);
        Self::new(k, b.velocity_at(point) - a.velocity_at(point), normal)
    }

    /// (K and u in world axes, normal from A to B) ⇒ the collision, and the rotation world ← contact frame.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn new(k: DMat3, u: DVec3, normal: DVec3) -> Result<(Self, DMat3), CollisionError> {
        if !(k.is_finite() && u.is_finite()) {
            return Err(CollisionError::NotFinite { what: "inverse mass and velocity at the contact point" });
        }
        if k == DMat3::ZERO {
            return Err(CollisionError::NoDynamicBody);
        }
        Self::in_frame((k + k.transpose()) * 0.5, u, normal)
    }

    /// (K and u in world axes, normal) ⇒ the collision, and the rotation world ← contact frame.
    fn in_frame(k: DMat3, u: DVec3, normal: DVec3) -> Result<(Self, DMat3), CollisionError> {
        let world = contact_frame(normal)?;
        let contact = world.transpose();
        let k = contact * k * world;
        Ok((Self { k: (k + k.transpose()) * 0.5, u: contact * u }, world))
    }
}
