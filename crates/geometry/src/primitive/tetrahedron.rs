//! Tetrahedra abcd: V = (d − a)·((b − a) × (c − a))/6.

use glam::DVec3;

use super::Triangle;
use crate::Pose;

/// Four corners; the solid between them.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::Tetrahedron;
/// let corner = Tetrahedron::new([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
/// assert!((corner.volume() - 1.0 / 6.0).abs() < 1e-15);
/// assert!(corner.contains(DVec3::splat(0.3)) && !corner.contains(DVec3::splat(0.4)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tetrahedron {
    /// The corners.
    pub corners: [DVec3; 4],
}

/// Corners of the face opposite to corner i, outwards if the volume is positive.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl Tetrahedron {
    /// Corners ⇒ tetrahedron.
    pub const fn new(corners: [DVec3; 4]) -> Self {
        Self { corners }
    }

    /// Volume with sign: positive if the fourth corner lies where the normal of the first three points to.
    pub fn signed_volume(&self) -> f64 {
        let [a, b, c, d] = self.corners;
        (d - a).dot((b - a).cross(c - a)) / 6.0
    }

    /// Volume.
    pub fn volume(&self) -> f64 {
        self.signed_volume().abs()
    }

    /// Middle of the corners.
    pub fn centroid(&self) -> DVec3 {
        let [a, b, c, d] = self.corners;
        a + ((b - a) + (c - a) + (d - a)) / 4.0
    }

    /// The face opposite to each corner, outwards.
    pub fn faces(&self) -> [Triangle; 4] {
        FACES.map(|face| {
            let [a, b, c] = face.map(|i| self.corners[i]);
            if self.signed_volume() < 0.0 { Triangle::new(a, c, b) } else { Triangle::new(a, b, c) }
        })
    }

    /// The tetrahedron moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { corners: self.corners.map(|p| pose.point(p)) }
    }

    /// Whether the point lies inside or on the surface. A tetrahedron without volume contains no point.
    pub fn contains(&self, p: DVec3) -> bool {
        self.signed_volume() != 0.0
            && self.faces().iter().all(|face| (p - face.a).dot(face.double_area_vector()) <= 0.0)
    }

    /// Nearest point of the solid: `p` itself if inside.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        if self.contains(p) {
            return p;
        }
        // Relative to p, for accuracy far from the origin.
        let faces = Self { corners: self.corners.map(|corner| corner - p) }.faces();
        let mut best = faces[0].closest_point(DVec3::ZERO);
        for face in &faces[1..] {
            let q = face.closest_point(DVec3::ZERO);
            if q.length_squared() < best.length_squared() {
                best = q;
            }
        }
        p + best
    }

    /// Distance of a point from the solid, 0 inside.
    pub fn distance(&self, p: DVec3) -> f64 {
        p.distance(self.closest_point(p))
    }
}
