//! Frames at a contact, and how fast they turn.
//!
//! From the unit normal n the smallest component is dropped and the other two rotated: |n_x| smallest ⇒ a =
//! (0, n_z, −n_y), else |n_y| smallest ⇒ a = (−n_z, 0, n_x), else a = (n_y, −n_x, 0); t = a/|a|, k = n × t.
//! Ties go in this order.
//!
//! Rates: ȧ is the same rule applied to ṅ, ṫ = (ȧ − (t·ȧ) t)/|a|, k̇ = ṅ × t + n × ṫ. The normal itself:
//! between points ṅ = (v − (v·n) n)/|p₁ − p₂|; of a face ṅ = ω × n; of two edges N = e₁ × e₂,
//! Ṅ = (e₁·e₂)(ω₂ − ω₁) + (e₂·ω₁) e₁ − (e₁·ω₂) e₂, ṅ = (Ṅ − (n·Ṅ) n)/|N|.

use glam::DVec3;

use super::PrimitiveError;

/// Right-handed orthonormal frame (normal, tangent, binormal).
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::ContactFrame;
/// let frame = ContactFrame::new(DVec3::Z)?;
/// assert_eq!((frame.tangent, frame.binormal), (DVec3::Y, -DVec3::X));
/// # Ok::<(), rattleback_geometry::primitive::PrimitiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactFrame {
    /// n
    pub normal: DVec3,
    /// t
    pub tangent: DVec3,
    /// k = n × t
    pub binormal: DVec3,
}

impl ContactFrame {
    /// Normal of any length but zero ⇒ frame.
    pub fn new(normal: DVec3) -> Result<Self, PrimitiveError> {
        if !normal.is_finite() {
            return Err(PrimitiveError::NonFinite { what: "contact normal" });
        }
        let scale = normal.abs().max_element();
        if scale == 0.0 {
            return Err(PrimitiveError::NoDirection { what: "contact normal" });
        }
        let normal = (normal / scale).normalize();
        let tangent = rotated(smallest_component(normal), normal).normalize();
        Ok(Self { normal, tangent, binormal: normal.cross(tangent) })
    }

    /// Rate of the unit normal ⇒ rates of (normal, tangent, binormal), as long as the same component stays
    /// smallest.
    pub fn rates(&self, normal_rate: DVec3) -> [DVec3; 3] {
        let smallest = smallest_component(self.normal);
        let length = rotated(smallest, self.normal).length();
        let a_rate = rotated(smallest, normal_rate);
        let tangent_rate = (a_rate - self.tangent.dot(a_rate) * self.tangent) / length;
        [normal_rate, tangent_rate, normal_rate.cross(self.tangent) + self.normal.cross(tangent_rate)]
    }
}

/// (p₁ − p₂, its rate) ⇒ rate of the unit vector along it; None if the points coincide.
pub fn point_normal_rate(between: DVec3, relative_velocity: DVec3) -> Option<DVec3> {
    let distance = between.length();
    let n = between.try_normalize()?;
    Some((relative_velocity - relative_velocity.dot(n) * n) / distance)
}

/// (angular velocity of the body with the face, its unit normal) ⇒ rate of the normal.
pub fn face_normal_rate(omega: DVec3, normal: DVec3) -> DVec3 {
    omega.cross(normal)
}

/// (edge of body 1, edge of body 2, their angular velocities) ⇒ unit e₁ × e₂ and its rate; None for parallel
/// edges. If the normal is flipped, so is its rate.
pub fn edge_normal_rate(e1: DVec3, e2: DVec3, omega1: DVec3, omega2: DVec3) -> Option<(DVec3, DVec3)> {
    let product = e1.cross(e2);
    let length = product.length();
    if !(length > 1e-14 * e1.length() * e2.length()) {
        return None;
    }
    let n = product / length;
    let rate = e1.dot(e2) * (omega2 - omega1) + e2.dot(omega1) * e1 - e1.dot(omega2) * e2;
    Some((n, (rate - n.dot(rate) * n) / length))
}

fn smallest_component(n: DVec3) -> usize {
    let n = n.abs();
    if n.x <= n.y && n.x <= n.z {
        0
    } else if n.y <= n.z {
        1
    } else {
        2
    }
}

fn rotated(smallest: usize, n: DVec3) -> DVec3 {
    match smallest {
        0 => DVec3::new(0.0, n.z, -n.y),
        1 => DVec3::new(-n.z, 0.0, n.x),
        _ => DVec3::new(n.y, -n.x, 0.0),
    }
}
