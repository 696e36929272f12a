//! Planes n·p = d, n of any length.
//!
//! Projection q = p − ((n·p − d)/n²) n, signed distance (n·p − d)/|n|. A segment p₁p₂ intersects the plane at
//! k = (d − n·p₁)/(n·(p₂ − p₁)).

use glam::DVec3;

use super::{LineSegment, PrimitiveError};

/// The plane n·p = d; the positive side is outside.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::Plane;
/// let plane = Plane::new(DVec3::new(0.0, 0.0, 2.0), 2.0)?;
/// assert_eq!(plane.signed_distance(DVec3::new(7.0, 8.0, 4.0)), 3.0);
/// # Ok::<(), rattleback_geometry::primitive::PrimitiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: DVec3,
    offset: f64,
}

/// Intersection of a segment and a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SegmentPlane {
    /// Nothing.
    Empty,
    /// One point, at `parameter` ∈ [0, 1] along the segment.
    Point {
        /// The point.
        point: DVec3,
        /// Where on the segment.
        parameter: f64,
    },
    /// The whole segment lies in the plane.
    Segment,
}

impl Plane {
    /// (normal of any length but zero, offset d) ⇒ the plane n·p = d.
    pub fn new(normal: DVec3, offset: f64) -> Result<Self, PrimitiveError> {
        if !(normal.is_finite() && offset.is_finite()) {
            return Err(PrimitiveError::NonFinite { what: "plane" });
        }
        if !(normal.length_squared() > 0.0 && normal.length_squared().is_finite()) {
            return Err(PrimitiveError::NoDirection { what: "plane normal" });
        }
        Ok(Self { normal, offset })
    }

    /// (point, normal) ⇒ the plane through the point.
    pub fn through(point: DVec3, normal: DVec3) -> Result<Self, PrimitiveError> {
        Self::new(normal, normal.dot(point))
    }

    /// Normal as given.
    pub const fn normal(&self) -> DVec3 {
        self.normal
    }

    /// d of n·p = d.
    pub const fn offset(&self) -> f64 {
        self.offset
    }

    /// Distance of a point, negative on the inside.
    pub fn signed_distance(&self, p: DVec3) -> f64 {
        (self.normal.dot(p) - self.offset) / self.normal.length()
    }

    /// The nearest point of the plane.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        p - ((self.normal.dot(p) - self.offset) / self.normal.length_squared()) * self.normal
    }

    /// Intersection with a segment.
    pub fn intersect_segment(&self, segment: &LineSegment) -> SegmentPlane {
        let height = self.offset - self.normal.dot(segment.start);
        let climb = self.normal.dot(segment.offset());
        if climb == 0.0 {
            return if height == 0.0 { SegmentPlane::Segment } else { SegmentPlane::Empty };
        }
        let parameter = height / climb;
        if (0.0..=1.0).contains(&parameter) {
            SegmentPlane::Point { point: segment.at(parameter), parameter }
        } else {
            SegmentPlane::Empty
        }
    }
}
