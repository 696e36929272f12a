//! Rigid bodies among deformable ones.
//!
//! A point X of the body, in its principal frame, is at x = c + X₁ a₁ + X₂ a₂ + X₃ a₃. c has the mass m of the body and a_k the second moment
//! J_k = ∫ ρ X_k² dV = ½ (I₁ + I₂ + I₃) − I_k; products vanish in the principal frame, so the four unknowns are like four particles:
//! Σ m v and Σ m x × v over them are momentum (of c only) and angular momentum of the body. What keeps the axes orthonormal
//! is `element::Affine`. Contact forces act on c and the axes through the same weights, so that momentum is exchanged with
//! deformable bodies exactly.

use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{Pose, TriangleMesh};
use serde::{Deserialize, Serialize};

use crate::DeformableError;

/// How a rigid body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RigidStatus {
    /// Not at all.
    Fixed,
    /// At its velocities, whatever it meets.
    Driven,
    /// By forces.
    Free,
}

/// A rigid body of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidBody {
    /// Index of the unknown c; the axes follow.
    pub(crate) first: u32,
    pub(crate) status: RigidStatus,
    /// Surface vertices in the principal frame.
    pub(crate) local: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Frame of the mesh in the principal frame.
    pub(crate) mesh_in_principal: Pose,
    pub(crate) mass: f64,
    /// J_k, kg m².
    pub(crate) moments: DVec3,
    /// Impulse by contacts and attachments in the last step, N s.
    pub(crate) impulse: DVec3,
    /// Its moment about the origin, N m s.
    pub(crate) moment: DVec3,
}

/// (mesh, pose, density, status) ⇒ body without a place among the unknowns, and its principal frame in the world.
pub(crate) fn rigid_body(
    mesh: &TriangleMesh,
    pose: &Pose,
    density: f64,
    status: RigidStatus,
) -> Result<(RigidBody, Pose), DeformableError> {
    let wrong = |error: &dyn std::fmt::Display| DeformableError::Mesh { reason: error.to_string() };
    if !pose.is_valid() {
        return Err(DeformableError::Mesh { reason: "pose must be finite, rotation of length 1".into() });
    }
    let (principal, mass, moments) = if status == RigidStatus::Free {
        let mass = mesh.mass_properties(density).map_err(|e| wrong(&e))?;
        let inertia = mass.principal().moments;
        let moments = DVec3::splat(0.5 * inertia.element_sum()) - inertia;
        if !(mass.mass > 0.0 && moments.min_element() > 0.0 && moments.is_finite()) {
            return Err(DeformableError::InvalidMass { mass: mass.mass });
        }
        (mass.principal_frame(), mass.mass, moments)
    } else {
        (Pose::at(mesh.bounds().center()), 1.0, DVec3::ONE)
    };
    let mesh_in_principal = principal.inverse();
    let body = RigidBody {
        first: 0,
        status,
        local: mesh.vertices().iter().map(|&p| mesh_in_principal.point(p)).collect(),
        triangles: mesh.triangles().to_vec(),
        mesh_in_principal,
        mass,
        moments,
        impulse: DVec3::ZERO,
        moment: DVec3::ZERO,
    };
    Ok((body, *pose * principal))
}

/// c, a₁, a₂, a₃ ⇒ pose of the principal frame; the axes orthonormalised.
pub(crate) fn frame(x: &[DVec3]) -> Pose {
    let a = x[1].normalize_or(DVec3::X);
    let b = (x[2] - a * a.dot(x[2])).normalize_or_zero();
    let b = if b == DVec3::ZERO { a.any_orthonormal_vector() } else { b };
    Pose::new(DQuat::from_mat3(&DMat3::from_cols(a, b, a.cross(b))).normalize(), x[0])
}

/// ω of axes and their rates: ½ Σ a × ȧ, exact for orthonormal axes.
pub(crate) fn angular_velocity(x: &[DVec3], v: &[DVec3]) -> DVec3 {
    0.5 * (1..4).map(|k| x[k].cross(v[k])).fold(DVec3::ZERO, |sum, w| sum + w)
}
