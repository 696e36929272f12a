//! Oriented boxes.
//!
//! Axes are the eigenvectors of the covariance of the hull's surface. For triangles (v1, v2, v3) of area A
//! with midpoint μ, A_t = Σ A, μ_t = Σ A μ / A_t: C = Σ A/(12 A_t) (9 μ μᵀ + v1 v1ᵀ + v2 v2ᵀ + v3 v3ᵀ) − μ_t
//! μ_tᵀ. Taking the surface of the hull instead of the vertices makes the box blind to interior points and to
//! clusters. Equal eigenvalues (a cube) leave the axes open, so the coordinate axes compete as well and the
//! smaller box wins.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::convex_hull::hull_triangles;
use crate::symmetric_eigen::symmetric_eigen;
use crate::{Aabb, BoundsError, Pose};

/// A box with its own axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct OrientedBox {
    pose: Pose,
    half_extents: DVec3,
}

#[derive(Deserialize)]
struct Unchecked {
    pose: Pose,
    half_extents: DVec3,
}

impl TryFrom<Unchecked> for OrientedBox {
    type Error = BoundsError;

    fn try_from(read: Unchecked) -> Result<Self, BoundsError> {
        Self::new(read.pose, read.half_extents)
    }
}

impl From<Aabb> for OrientedBox {
    fn from(bounds: Aabb) -> Self {
        Self { pose: Pose::at(bounds.center()), half_extents: bounds.half_extents() }
    }
}

impl OrientedBox {
    /// (place of the centre and axes, half extents ≥ 0) ⇒ box.
    pub fn new(pose: Pose, half_extents: DVec3) -> Result<Self, BoundsError> {
        if !(pose.is_valid() && half_extents.is_finite()) {
            return Err(BoundsError::NonFinite);
        }
        if half_extents.min_element() < 0.0 {
            return Err(BoundsError::Negative { name: "half extent", value: half_extents.min_element() });
        }
        Ok(Self { pose, half_extents })
    }

    /// A box around points by the covariance of their hull; points in one plane, on one line or in one place
    /// do too.
    pub fn fit(points: &[DVec3]) -> Result<Self, BoundsError> {
        let bounds = Aabb::from_points(points.iter().copied())?;
        let covariance = match hull_triangles(points) {
            Ok(triangles) => surface_covariance(points, &triangles, bounds.center()),
            Err(_) => point_covariance(points, bounds.center()),
        };
        let fitted = Self::along(points, symmetric_eigen(covariance).1);
        let aligned = Self::from(bounds);
        let size = bounds.diagonal();
        // Flat boxes have no volume to compare; their diagonal does as well.
        let cost = |b: &Self| ((b.half_extents + 1e-9 * size).element_product(), b.half_extents.length());
        Ok(match fitted {
            Ok(fitted) if cost(&fitted) < cost(&aligned) => fitted,
            _ => aligned,
        })
    }

    /// The smallest box around points with given axes (columns of a rotation matrix).
    pub fn along(points: &[DVec3], axes: DMat3) -> Result<Self, BoundsError> {
        let turned = Aabb::from_points(points.iter().map(|&p| axes.transpose() * p))?;
        Self::new(
            Pose::new(DQuat::from_mat3(&axes).normalize(), axes * turned.center()),
            turned.half_extents(),
        )
    }

    /// Centre.
    pub fn center(&self) -> DVec3 {
        self.pose.translation
    }

    /// Place of the centre and of the axes.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// Unit vectors along the sides.
    pub fn axes(&self) -> [DVec3; 3] {
        DVec3::AXES.map(|axis| self.pose.vector(axis))
    }

    /// Half the side lengths.
    pub fn half_extents(&self) -> DVec3 {
        self.half_extents
    }

    /// Product of the side lengths.
    pub fn volume(&self) -> f64 {
        8.0 * self.half_extents.element_product()
    }

    /// The eight corners.
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let sign = |axis: usize| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
            self.pose.point(self.half_extents * DVec3::new(sign(0), sign(1), sign(2)))
        })
    }

    /// Whether the point lies inside or on the box.
    pub fn contains(&self, p: DVec3) -> bool {
        self.pose.inverse_point(p).abs().cmple(self.half_extents).all()
    }

    /// The box moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { pose: *pose * self.pose, half_extents: self.half_extents }
    }

    /// The smallest axis-aligned box around it.
    pub fn aabb(&self) -> Result<Aabb, BoundsError> {
        Aabb::from_center(self.center(), self.pose.rotation_matrix().abs() * self.half_extents)
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Covariance of the uniform distribution over triangles.
pub(crate) fn surface_covariance(points: &[DVec3], triangles: &[[u32; 3]], center: DVec3) -> DMat3 {
    let (mut area_sum, mut mean, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for triangle in triangles {
        let [v1, v2, v3] = triangle.map(|i| points[i as usize] - center);
        let area = 0.5 * (v2 - v1).cross(v3 - v2).length();
        let mu = (v1 + v2 + v3) / 3.0;
        area_sum += area;
        mean += area * mu;
        second += (outer(mu) * 9.0 + outer(v1) + outer(v2) + outer(v3)) * (area / 12.0);
    }
    second * (1.0 / area_sum) - outer(mean / area_sum)
}

/// Covariance of the points themselves, for sets that have no hull.
fn point_covariance(points: &[DVec3], center: DVec3) -> DMat3 {
    let count = points.len() as f64;
    let mean = points.iter().map(|&p| p - center).sum::<DVec3>() / count;
    points.iter().map(|&p| outer(p - center - mean)).fold(DMat3::ZERO, |a, b| a + b) * (1.0 / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    /// BVH-5: covariance of the surface of a box with half sizes 1, 2, 3 is 23/33, 68/33, 45/11 along its
    /// axes.
    #[test]
    fn bvh_5_covariance_of_a_box() {
        let corners = generate::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap().vertices;
        let covariance = surface_covariance(&corners, &hull_triangles(&corners).unwrap(), DVec3::splat(0.2));
        let exact = DVec3::new(23.0 / 33.0, 68.0 / 33.0, 45.0 / 11.0);
        assert!(covariance.abs_diff_eq(DMat3::from_diagonal(exact), 1e-13), "{covariance}");
    }
}
