//! Segments p₁p₂.
//!
//! Nearest point to p: k = (p − p₁)·(p₂ − p₁)/|p₂ − p₁|², clamped to [0, 1]. Nearest point to a line: with u,
//! w the parts of p₁, p₂ at right angles to the line, k = u·(u − w)/|u − w|², clamped.

use glam::DVec3;

use super::Ray;
use crate::Pose;

/// The points start + t (end − start), 0 ≤ t ≤ 1. A segment of length zero is a point.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::LineSegment;
/// let segment = LineSegment::new(DVec3::ZERO, 4.0 * DVec3::X);
/// assert_eq!(segment.closest_point(DVec3::new(1.0, 2.0, 0.0)), DVec3::X);
/// assert_eq!(segment.distance(DVec3::new(7.0, 4.0, 0.0)), 5.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSegment {
    /// Point at t = 0.
    pub start: DVec3,
    /// Point at t = 1.
    pub end: DVec3,
}

impl LineSegment {
    /// (start, end) ⇒ segment.
    pub const fn new(start: DVec3, end: DVec3) -> Self {
        Self { start, end }
    }

    /// End minus start.
    pub fn offset(&self) -> DVec3 {
        self.end - self.start
    }

    /// Length.
    pub fn length(&self) -> f64 {
        self.offset().length()
    }

    /// Square of the length.
    pub fn length_squared(&self) -> f64 {
        self.offset().length_squared()
    }

    /// Unit vector from start to end; None for a segment without length.
    pub fn direction(&self) -> Option<DVec3> {
        self.offset().try_normalize()
    }

    /// Point in the middle.
    pub fn midpoint(&self) -> DVec3 {
        self.start.midpoint(self.end)
    }

    /// The same segment from end to start.
    #[must_use]
    pub const fn inverted(&self) -> Self {
        Self { start: self.end, end: self.start }
    }

    /// The segment moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { start: pose.point(self.start), end: pose.point(self.end) }
    }

    pub(crate) fn shifted(&self, shift: DVec3) -> Self {
        Self { start: self.start + shift, end: self.end + shift }
    }

    /// Point at parameter t; t = 1 gives the end exactly.
    pub fn at(&self, t: f64) -> DVec3 {
        if t == 1.0 { self.end } else { self.start + t * self.offset() }
    }

    /// Parameter, of any size, of the point of the infinite line through the segment nearest to `p`; None
    /// without length.
    pub fn line_parameter(&self, p: DVec3) -> Option<f64> {
        let d = self.offset();
        let length_squared = d.length_squared();
        (length_squared > 0.0).then(|| (p - self.start).dot(d) / length_squared)
    }

    /// Parameter in [0, 1] of the point nearest to `p`.
    pub fn closest_parameter(&self, p: DVec3) -> f64 {
        self.line_parameter(p).map_or(0.0, |k| k.clamp(0.0, 1.0))
    }

    /// Nearest point of the segment.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        let t = self.closest_parameter(p);
        // Measured from the nearer end, so that rounding is relative to the shorter way.
        if t > 0.5 { self.end - (1.0 - t) * self.offset() } else { self.start + t * self.offset() }
    }

    /// Distance of a point.
    pub fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.closest_point(p))
    }

    /// Nearest point to the infinite line along `line`: (parameter in [0, 1], point). The start if they are
    /// parallel.
    pub fn closest_to_line(&self, line: &Ray) -> (f64, DVec3) {
        let across = |p: DVec3| {
            let from_origin = p - line.origin();
            from_origin - from_origin.dot(line.direction()) * line.direction()
        };
        let u = across(self.start);
        let change = u - across(self.end);
        let change_squared = change.length_squared();
        let k = if change_squared > 1e-28 * self.length_squared() {
            (u.dot(change) / change_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (k, self.at(k))
    }
}
