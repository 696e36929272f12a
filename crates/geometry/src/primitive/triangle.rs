//! Triangles abc, right-handed normal n = (b − a) × (c − b).
//!
//! Nearest point to p: the foot of the perpendicular if it lies inside (all three ((aᵢ₊₁ − aᵢ) × (p −
//! aᵢ))·n ≥ 0), else the nearest of the three sides' nearest points. This costs more than a search through
//! Voronoi regions, but is correct for needles and triangles without area, through their sides.

use glam::DVec3;

use super::{LineSegment, Tolerances};
use crate::Pose;

/// Height, as a fraction of the length, below which a triangle counts as its sides only: its plane would be
/// rounding.
pub(crate) const NEEDLE: f64 = 1e-8;

/// Above this sine (squared) of a corner angle it does not matter which two sides a normal is taken from.
const BLUNT_SQUARED: f64 = 0.04;

/// Three corners, counter-clockwise seen from outside.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::Triangle;
/// let triangle = Triangle::new(DVec3::ZERO, DVec3::X, DVec3::Y);
/// assert_eq!(triangle.area(), 0.5);
/// assert_eq!(triangle.normal(), Some(DVec3::Z));
/// assert_eq!(triangle.closest_point(DVec3::new(0.2, 0.2, 3.0)), DVec3::new(0.2, 0.2, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// First corner.
    pub a: DVec3,
    /// Second corner.
    pub b: DVec3,
    /// Third corner.
    pub c: DVec3,
}

impl From<[DVec3; 3]> for Triangle {
    fn from([a, b, c]: [DVec3; 3]) -> Self {
        Self { a, b, c }
    }
}

impl Triangle {
    /// Corners ⇒ triangle.
    pub const fn new(a: DVec3, b: DVec3, c: DVec3) -> Self {
        Self { a, b, c }
    }

    /// The corners in order.
    pub const fn corners(&self) -> [DVec3; 3] {
        [self.a, self.b, self.c]
    }

    /// Side i goes from corner i to corner i + 1.
    pub const fn sides(&self) -> [LineSegment; 3] {
        [LineSegment::new(self.a, self.b), LineSegment::new(self.b, self.c), LineSegment::new(self.c, self.a)]
    }

    /// b − a, c − b, a − c.
    pub fn edge_vectors(&self) -> [DVec3; 3] {
        [self.b - self.a, self.c - self.b, self.a - self.c]
    }

    /// Twice the area times the unit normal, from the two shorter sides, whose product rounds least.
    pub fn double_area_vector(&self) -> DVec3 {
        let [ab, bc, ca] = self.edge_vectors();
        let (ab2, bc2, ca2) = (ab.length_squared(), bc.length_squared(), ca.length_squared());
        if ca2 >= ab2 && ca2 >= bc2 {
            ab.cross(bc)
        } else if ab2 >= bc2 {
            bc.cross(ca)
        } else {
            ca.cross(ab)
        }
    }

    /// Length of the longest side.
    pub fn longest_side(&self) -> f64 {
        self.edge_vectors().iter().map(|e| e.length_squared()).fold(0.0, f64::max).sqrt()
    }

    /// Area.
    pub fn area(&self) -> f64 {
        0.5 * self.double_area_vector().length()
    }

    /// Unit normal, right-handed; None for a triangle without area (height below 1e-14 of its length).
    pub fn normal(&self) -> Option<DVec3> {
        let n = self.double_area_vector();
        let longest = self.longest_side();
        let length = n.length();
        (length > 1e-14 * longest * longest).then(|| n / length)
    }

    /// Middle of the corners.
    pub fn centroid(&self) -> DVec3 {
        self.a + ((self.b - self.a) + (self.c - self.a)) / 3.0
    }

    /// The triangle moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        self.corners().map(|p| pose.point(p)).into()
    }

    /// Least and greatest p·axis.
    pub fn project(&self, axis: DVec3) -> [f64; 2] {
        let [a, b, c] = self.corners().map(|p| p.dot(axis));
        [a.min(b).min(c), a.max(b).max(c)]
    }

    /// A corner farthest along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let mut best = self.a;
        for p in [self.b, self.c] {
            if p.dot(direction) > best.dot(direction) {
                best = p;
            }
        }
        best
    }

    /// Whether a point of the triangle's plane lies inside; sides and corners count. False without area.
    pub fn contains_coplanar(&self, p: DVec3, tolerances: &Tolerances) -> bool {
        let Some(n) = self.normal() else { return false };
        self.sides().iter().all(|side| {
            let e = side.offset();
            e.cross(p - side.start).dot(n) >= -tolerances.length(self.longest_side()) * e.length()
        })
    }

    /// Whether a point lies in the triangle and, within tolerance, in its plane.
    pub fn contains(&self, p: DVec3, tolerances: &Tolerances) -> bool {
        self.distance(p) <= tolerances.length(self.longest_side())
    }

    /// Nearest point of the triangle.
    #[inline]
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        // Relative to p, for accuracy far from the origin.
        // The normal is that of the corners as given: seen from p, a triangle without area may seem to have
        // some.
        let (ab, bc) = (self.b - self.a, self.c - self.b);
        let mut n = ab.cross(bc);
        if !(n.length_squared() > BLUNT_SQUARED * ab.length_squared() * bc.length_squared()) {
            n = self.double_area_vector();
            let longest = self.longest_side();
            if !(n.length() > NEEDLE * longest * longest) {
                n = DVec3::ZERO;
            }
        }
        let seen = Self::from(self.corners().map(|corner| corner - p));
        p + seen.closest_to_origin(n)
    }

    /// Nearest point to the origin; n is the normal, zero if the plane is undefined.
    fn closest_to_origin(&self, n: DVec3) -> DVec3 {
        let n_squared = n.length_squared();
        let sides = self.sides();
        if n_squared > 0.0 && sides.iter().all(|s| s.offset().cross(-s.start).dot(n) >= 0.0) {
            // Measured from the nearest corner, whose distance rounds least.
            let mut corner = self.a;
            for other in [self.b, self.c] {
                if other.length_squared() < corner.length_squared() {
                    corner = other;
                }
            }
            return (corner.dot(n) / n_squared) * n;
        }
        let mut best = sides[0].closest_point(DVec3::ZERO);
        for side in &sides[1..] {
            let q = side.closest_point(DVec3::ZERO);
            if q.length_squared() < best.length_squared() {
                best = q;
            }
        }
        best
    }

    /// Distance of a point.
    pub fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.closest_point(p))
    }

    /// Weights (u, v, w) of the corners with u + v + w = 1 for a point of the plane; None without area.
    pub fn barycentric(&self, p: DVec3) -> Option<DVec3> {
        let n = self.double_area_vector();
        let n_squared = n.length_squared();
        self.normal()?;
        let weight = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(n) / n_squared;
        Some(DVec3::new(weight(self.b, self.c), weight(self.c, self.a), weight(self.a, self.b)))
    }
}
