//! Axis-aligned boxes.
//!
//! A box is the product of three closed intervals [minᵢ, maxᵢ]. Under a rotation R with |R|ᵢⱼ = |Rᵢⱼ| the
//! smallest axis-aligned box around the rotated box has the half extents h′ = |R| h.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Pose;

/// Why a bounding volume cannot be built.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum BoundsError {
    /// A minimum lies above its maximum.
    #[error("bounds are inverted on axis {axis}: minimum {min} exceeds maximum {max}")]
    Inverted {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
        /// The offending minimum.
        min: f64,
        /// The offending maximum.
        max: f64,
    },
    /// A coordinate is NaN or infinite.
    #[error("bounds must be finite")]
    NonFinite,
    /// No point was given.
    #[error("bounds of an empty set of points")]
    Empty,
    /// A size below zero.
    #[error("{name} is {value}, must be finite and not negative")]
    Negative {
        /// The negative quantity.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// A closed axis-aligned box; touching counts as overlapping.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::Aabb;
/// let unit = Aabb::new(DVec3::ZERO, DVec3::ONE)?;
/// assert!(unit.contains(DVec3::splat(0.5)));
/// assert_eq!(unit.enlarged(1.0)?.volume(), 27.0);
/// # Ok::<(), rattleback_geometry::BoundsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Corners")]
pub struct Aabb {
    min: DVec3,
    max: DVec3,
}

#[derive(Deserialize)]
struct Corners {
    min: DVec3,
    max: DVec3,
}

impl TryFrom<Corners> for Aabb {
    type Error = BoundsError;

    fn try_from(corners: Corners) -> Result<Self, BoundsError> {
        Self::new(corners.min, corners.max)
    }
}

impl Aabb {
    /// (min, max) ⇒ box, if both are finite and min ≤ max on each axis.
    #[inline]
    pub fn new(min: DVec3, max: DVec3) -> Result<Self, BoundsError> {
        if min.cmple(max).all() && min.min_element() > f64::NEG_INFINITY && max.max_element() < f64::INFINITY
        {
            return Ok(Self { min, max });
        }
        Err(Self::refusal(min, max))
    }

    /// Why there is no box with these corners.
    #[cold]
    fn refusal(min: DVec3, max: DVec3) -> BoundsError {
        let inverted = (0..3).find(|axis| min[*axis] > max[*axis]);
        match inverted.filter(|_| min.is_finite() && max.is_finite()) {
            Some(axis) => BoundsError::Inverted { axis, min: min[axis], max: max[axis] },
            None => BoundsError::NonFinite,
        }
    }

    /// The smallest box around a set of points.
    pub fn from_points(points: impl IntoIterator<Item = DVec3>) -> Result<Self, BoundsError> {
        let (mut min, mut max, mut sum) = (DVec3::INFINITY, DVec3::NEG_INFINITY, DVec3::ZERO);
        let mut empty = true;
        for p in points {
            min = min.min(p);
            max = max.max(p);
            // Minimum and maximum may drop a NaN; 0·p propagates it.
            sum += 0.0 * p;
            empty = false;
        }
        if empty {
            return Err(BoundsError::Empty);
        }
        if sum != DVec3::ZERO {
            return Err(BoundsError::NonFinite);
        }
        Ok(Self { min, max })
    }

    /// (centre, half extents) ⇒ box.
    pub fn from_center(center: DVec3, half_extents: DVec3) -> Result<Self, BoundsError> {
        Self::new(center - half_extents, center + half_extents)
    }

    /// Corner with the smallest coordinates.
    pub const fn min(&self) -> DVec3 {
        self.min
    }

    /// Corner with the largest coordinates.
    pub const fn max(&self) -> DVec3 {
        self.max
    }

    /// Midpoint.
    pub fn center(&self) -> DVec3 {
        0.5 * self.min + 0.5 * self.max
    }

    /// Half the side lengths.
    pub fn half_extents(&self) -> DVec3 {
        0.5 * self.max - 0.5 * self.min
    }

    /// Side lengths.
    pub fn extents(&self) -> DVec3 {
        self.max - self.min
    }

    /// Length of the space diagonal.
    pub fn diagonal(&self) -> f64 {
        self.extents().length()
    }

    /// Product of the side lengths.
    pub fn volume(&self) -> f64 {
        self.extents().element_product()
    }

    /// Area of the six sides, the cost measure of box trees.
    pub fn surface_area(&self) -> f64 {
        let e = self.extents();
        2.0 * (e.x * e.y + e.y * e.z + e.z * e.x)
    }

    /// The eight corners; bit 0, 1, 2 of the index chooses max on x, y, z.
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let choose = |axis: usize| if i >> axis & 1 == 1 { self.max[axis] } else { self.min[axis] };
            DVec3::new(choose(0), choose(1), choose(2))
        })
    }

    /// Whether the point lies inside or on the boundary.
    pub fn contains(&self, p: DVec3) -> bool {
        self.min.cmple(p).all() && p.cmple(self.max).all()
    }

    /// Whether the other box lies inside this one.
    pub fn contains_box(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// Whether the boxes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box of common points, if any.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        self.overlaps(other).then(|| Self { min: self.min.max(other.min), max: self.max.min(other.max) })
    }

    /// The box grown by `margin` ≥ 0 on every side.
    pub fn enlarged(&self, margin: f64) -> Result<Self, BoundsError> {
        if !(margin.is_finite() && margin >= 0.0) {
            return Err(BoundsError::Negative { name: "margin", value: margin });
        }
        Self::new(self.min - margin, self.max + margin)
    }

    /// The box swept along a displacement.
    pub fn swept(&self, displacement: DVec3) -> Result<Self, BoundsError> {
        Self::new(self.min + displacement.min(DVec3::ZERO), self.max + displacement.max(DVec3::ZERO))
    }

    /// The smallest axis-aligned box around this box moved by `pose`.
    pub fn transformed(&self, pose: &Pose) -> Result<Self, BoundsError> {
        Self::from_center(pose.point(self.center()), pose.rotation_matrix().abs() * self.half_extents())
    }

    /// The point of the box nearest to `p`.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        p.max(self.min).min(self.max)
    }

    /// Distance of `p` from the box, 0 inside.
    pub fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.closest_point(p))
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn inverted_nan_and_empty_are_refused() {
        assert!(matches!(Aabb::new(DVec3::X, DVec3::ZERO), Err(BoundsError::Inverted { axis: 0, .. })));
        assert_eq!(Aabb::new(DVec3::NAN, DVec3::ZERO), Err(BoundsError::NonFinite));
        assert_eq!(Aabb::from_points([]), Err(BoundsError::Empty));
        assert_eq!(
            Aabb::from_points([DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0)]),
            Err(BoundsError::NonFinite)
        );
        assert!(serde_json::from_str::<Aabb>(r#"{"min":[1,0,0],"max":[0,0,0]}"#).is_err());
    }

    #[test]
    fn touching_boxes_overlap_in_their_common_face() {
        let a = Aabb::new(DVec3::ZERO, DVec3::ONE).unwrap();
        let b = Aabb::new(DVec3::new(1.0, 0.0, 0.0), DVec3::splat(2.0)).unwrap();
        assert!(a.overlaps(&b));
        assert_eq!(a.intersection(&b).unwrap().extents(), DVec3::new(0.0, 1.0, 1.0));
        assert_eq!(a.union(&b).volume(), 8.0);
        assert_eq!(a.distance(DVec3::new(4.0, 5.0, 1.0)), 5.0);
    }

    proptest! {
        #[test]
        fn transformed_box_is_the_box_of_the_transformed_corners(
            c in prop::array::uniform3(-5.0..5.0f64), h in prop::array::uniform3(0.0..3.0f64),
            q in prop::array::uniform4(-1.0..1.0f64), t in prop::array::uniform3(-5.0..5.0f64),
        ) {
            let q = DQuat::from_array(q);
            prop_assume!(q.length() > 0.1);
            let pose = Pose::new(q.normalize(), DVec3::from_array(t));
            let local = Aabb::from_center(DVec3::from_array(c), DVec3::from_array(h)).unwrap();
            let expected = Aabb::from_points(local.corners().map(|p| pose.point(p))).unwrap();
            let got = local.transformed(&pose).unwrap();
            prop_assert!(got.min().abs_diff_eq(expected.min(), 1e-12) && got.max().abs_diff_eq(expected.max(), 1e-12));
        }
    }
}
