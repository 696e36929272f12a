//! Kinds of joints: how a link's frame moves in its parent joint frame.
//!
//! A joint has positions q and velocities v, not always equally many (a quaternion has four numbers for three velocities). Its motion
//! is (ω, v) = S(q) v, S in the axes of the link's own frame and about that frame's origin. Every kind is a file of its own.

mod cylindrical;
mod fixed;
mod free;
mod planar;
mod prismatic;
mod revolute;
mod screw;
mod spherical;
mod universal;

pub use cylindrical::CylindricalJoint;
pub use fixed::FixedJoint;
pub use free::FreeJoint;
pub use planar::PlanarJoint;
pub use prismatic::PrismaticJoint;
pub use revolute::RevoluteJoint;
pub use screw::ScrewJoint;
pub use spherical::SphericalJoint;
pub use universal::UniversalJoint;

use super::linear::Vector;
use super::spatial::SpatialMotion;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// One motion that a joint allows: angular and linear part along the axes of the link's frame.
pub type Column = SpatialMotion<f64>;

/// (angular part, linear part) ⇒ a column of S.
pub fn column(angular: DVec3, linear: DVec3) -> Column {
    Column { angular: Vector::splat(angular), linear: Vector::splat(linear) }
}

/// Joints with one axis, for which the algorithms have short forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SingleAxis {
    /// Turns about this unit vector through the origin of the link's frame.
    Rotation(DVec3),
    /// Slides along this unit vector.
    Translation(DVec3),
}

/// A kind of joint.
///
/// To make one's own, implement this for a type and give it to [`Link::new`](super::Link::new).
pub trait JointKind: std::fmt::Debug + Send + Sync {
    /// Name for messages and files.
    fn name(&self) -> &'static str;

    /// Numbers that make the joint again by [`from_name`], together with its name; none for kinds from outside this crate, which a
    /// snapshot cannot hold.
    fn parameters(&self) -> Option<Vec<f64>> {
        None
    }

    /// Number of positions.
    fn position_count(&self) -> usize;

    /// Number of velocities; at most 6.
    fn velocity_count(&self) -> usize;

    /// Positions at which the link's frame lies in the joint's frame.
    fn neutral(&self, q: &mut [f64]) {
        q.fill(0.0);
    }

    /// Positions ⇒ axes and origin of the link's frame in the joint's frame.
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3);

    /// Positions ⇒ the columns of S.
    fn motion_subspace(&self, q: &[f64], columns: &mut [Column]);

    /// (positions, velocities) ⇒ Ṡ v with Ṡ as seen in the link's frame; zero where S is constant there.
    fn bias(&self, _q: &[f64], _v: &[f64]) -> Column {
        Column::default()
    }

    /// Whether S, seen in the link's frame, is the same at all positions. Then its derivatives below are zero.
    fn has_constant_subspace(&self) -> bool {
        false
    }

    /// (positions, velocity k) ⇒ ∂S/∂ξ_k: the columns' change in the link's frame for a displacement along velocity k.
    ///
    /// Unless a kind gives its own formula: five-point differences, exact to about 1e-12.
    fn motion_subspace_derivative(&self, q: &[f64], k: usize, columns: &mut [Column]) {
        columns.fill(Column::default());
        if self.has_constant_subspace() {
            return;
        }
        let mut moved = [Column::default(); 6];
        for (offset, weight) in FIVE_POINTS {
            with_displacement(self, q, k, offset, |q| self.motion_subspace(q, &mut moved[..columns.len()]));
            for (column, moved) in columns.iter_mut().zip(&moved) {
                *column += *moved * weight;
            }
        }
    }

    /// (positions, velocities) ⇒ ∂(Ṡ v)/∂ξ_k and ∂(Ṡ v)/∂v_k in the link's frame.
    ///
    /// Unless a kind gives its own formula: five-point differences, exact to about 1e-12.
    fn bias_derivatives(&self, q: &[f64], v: &[f64], by_position: &mut [Column], by_velocity: &mut [Column]) {
        by_position.fill(Column::default());
        by_velocity.fill(Column::default());
        if self.has_constant_subspace() {
            return;
        }
        for k in 0..v.len() {
            for (offset, weight) in FIVE_POINTS {
                with_displacement(self, q, k, offset, |q| by_position[k] += self.bias(q, v) * weight);
                let mut speeds = [0.0; 6];
                speeds[..v.len()].copy_from_slice(v);
                speeds[k] += offset;
                by_velocity[k] += self.bias(q, &speeds[..v.len()]) * weight;
            }
        }
    }

    /// (positions, velocities) ⇒ q̇. A quaternion need not have unit length: its rate is in proportion.
    fn position_rate(&self, _q: &[f64], v: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(v);
    }

    /// (positions q₀, positions q) ⇒ ξ with q = q₀ ⊕ ξ: the inverse of [`retract`](Self::retract).
    fn displacement(&self, start: &[f64], q: &[f64], xi: &mut [f64]) {
        for ((xi, start), q) in xi.iter_mut().zip(start).zip(q) {
            *xi = q - start;
        }
    }

    /// Whether each velocity is the rate of the position of the same place (angles and lengths, no quaternions). Only such axes can have
    /// limits and couplings.
    fn velocities_are_rates(&self) -> bool {
        true
    }

    /// Moves positions along constant velocities for a time, s.
    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        for (q, v) in q.iter_mut().zip(v) {
            *q += h * v;
        }
    }

    /// (positions q₀, coordinates ξ) ⇒ q₀ ⊕ ξ. Around q₀ positions are described by as many numbers ξ as there are velocities.
    fn retract(&self, start: &[f64], xi: &[f64], q: &mut [f64]) {
        for ((q, start), xi) in q.iter_mut().zip(start).zip(xi) {
            *q = start + xi;
        }
    }

    /// (positions q₀, coordinates ξ, velocities at q₀ ⊕ ξ) ⇒ ξ̇.
    fn coordinate_rate(&self, _start: &[f64], _xi: &[f64], v: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(v);
    }

    /// Puts positions back where they must lie (unit quaternions).
    fn normalize(&self, _q: &mut [f64]) {}

    /// Its axis if it has a single one and turns about it or slides along it.
    fn single_axis(&self) -> Option<SingleAxis> {
        None
    }

    /// Unit vectors that must be such, for validation.
    fn axes(&self) -> Vec<DVec3> {
        Vec::new()
    }
}

/// (name, [parameters](JointKind::parameters)) ⇒ joint of this crate; none for an unknown name or another number of parameters.
pub fn from_name(name: &str, parameters: &[f64]) -> Option<Arc<dyn JointKind>> {
    let vector = |at: usize| parameters.get(at..at + 3).map(DVec3::from_slice);
    let expected = match name {
        "revolute" | "prismatic" | "cylindrical" => 3,
        "screw" => 4,
        "universal" => 6,
        _ => 0,
    };
    if parameters.len() != expected {
        return None;
    }
    Some(match name {
        "revolute" => Arc::new(RevoluteJoint { axis: vector(0)? }),
        "prismatic" => Arc::new(PrismaticJoint { axis: vector(0)? }),
        "cylindrical" => Arc::new(CylindricalJoint { axis: vector(0)? }),
        "screw" => Arc::new(ScrewJoint { axis: vector(0)?, lead: parameters[3] }),
        "universal" => Arc::new(UniversalJoint { first: vector(0)?, second: vector(3)? }),
        "spherical" => Arc::new(SphericalJoint),
        "planar" => Arc::new(PlanarJoint),
        "free" => Arc::new(FreeJoint),
        "fixed" => Arc::new(FixedJoint),
        _ => return None,
    })
}

/// Offsets and weights of a central difference of fourth order, step 2⁻⁸.
const FIVE_POINTS: [(f64, f64); 4] = {
    let h = 1.0 / 256.0;
    [(-2.0 * h, 1.0 / (12.0 * h)), (-h, -2.0 / (3.0 * h)), (h, 2.0 / (3.0 * h)), (2.0 * h, -1.0 / (12.0 * h))]
};

/// Calls with the positions moved along velocity k.
fn with_displacement<J: JointKind + ?Sized>(
    joint: &J,
    q: &[f64],
    k: usize,
    offset: f64,
    mut call: impl FnMut(&[f64]),
) {
    let (mut way, mut few, mut many) = ([0.0; 6], [0.0; 8], Vec::new());
    way[k] = offset;
    let moved = if q.len() <= few.len() {
        &mut few[..q.len()]
    } else {
        many.resize(q.len(), 0.0);
        &mut many[..]
    };
    moved.copy_from_slice(q);
    joint.advance(moved, &way[..joint.velocity_count()], 1.0);
    call(moved);
}

/// (quaternion, angular velocity in its frame) ⇒ rate ½ q ⊗ (ω, 0).
fn quaternion_rate(q: &[f64], omega: DVec3, rate: &mut [f64]) {
    let half = 0.5 * omega;
    let product = quaternion(q) * DQuat::from_xyzw(half.x, half.y, half.z, 0.0);
    rate.copy_from_slice(&product.to_array());
}

/// (quaternion q₀, quaternion q) ⇒ rotation vector of q₀⁻¹ q, of at most π.
fn rotation_vector(start: &[f64], q: &[f64]) -> DVec3 {
    let difference = quaternion(start).conjugate() * quaternion(q);
    let (axis, w) = (difference.xyz(), difference.w);
    let (sine, sign) = (axis.length(), if w < 0.0 { -1.0 } else { 1.0 });
    if sine < 1e-8 {
        return axis * (2.0 * sign / (w * sign).max(f64::MIN_POSITIVE));
    }
    axis * (2.0 * sign * sine.atan2(w * sign) / sine)
}

/// Quaternion in four positions, in the order x, y, z, w.
fn quaternion(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[0], q[1], q[2], q[3])
}

/// Turns a quaternion by a constant angular velocity in its own frame for a time.
fn turn(q: &mut [f64], omega: DVec3, h: f64) {
    let turned = (quaternion(q) * DQuat::from_scaled_axis(omega * h)).normalize();
    q.copy_from_slice(&turned.to_array());
}

/// Puts a quaternion back to unit length; one without a direction becomes the identity.
fn normalize_quaternion(q: &mut [f64]) {
    let size = quaternion(q).length();
    let unit = if size > 0.0 && size.is_finite() { quaternion(q) * (1.0 / size) } else { DQuat::IDENTITY };
    q.copy_from_slice(&unit.to_array());
}

/// (rotation vector ξ, angular velocity in the turned frame) ⇒ ξ̇ of R₀ exp(ξ): ω + ½ ξ × ω + (1 − θ/2 cot θ/2)/θ² ξ × (ξ × ω).
fn rotation_vector_rate(xi: DVec3, omega: DVec3) -> DVec3 {
    let theta2 = xi.length_squared();
    // 1/12 + θ²/720 + θ⁴/30240 + … below a tenth of a radian, where the closed form loses digits.
    let factor = if theta2 < 1e-2 {
        1.0 / 12.0 + theta2 * (1.0 / 720.0 + theta2 * (1.0 / 30240.0 + theta2 / 1209600.0))
    } else {
        let half = 0.5 * theta2.sqrt();
        (1.0 - half / half.tan()) / theta2
    };
    let once = xi.cross(omega);
    omega + 0.5 * once + factor * xi.cross(once)
}
