//! Support functions of convex shapes.
//!
//! A shape is its core thickened by a radius r: all points within r of the core. A sphere is a point and r, a
//! capsule a segment and r, everything else is its own core and r = 0. Distances of cores are exact where
//! those of the rounded shapes would only converge.

use std::sync::Arc;

use glam::DVec3;

use crate::primitive::Triangle;
use crate::{Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, Ellipsoid, Sphere, SupportShape};

/// Support function of a bounded convex shape.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Capsule, closest::Support};
/// let capsule = Capsule::new(0.5, 2.0)?;
/// assert_eq!(capsule.farthest(DVec3::new(1.0, 0.0, 0.1), 0).0, DVec3::Z);
/// assert_eq!(Support::radius(&capsule), 0.5);
/// # Ok::<(), rattleback_geometry::ShapeError>(())
/// ```
pub trait Support {
    /// (direction of any length, number of a corner to start from) ⇒ a point of the core farthest along the
    /// direction, and its number.
    fn farthest(&self, direction: DVec3, start: u32) -> (DVec3, u32);

    /// Number ⇒ the corner of a core that has only finitely many, some corner if there is none of that
    /// number; None for curved cores.
    #[inline]
    fn corner(&self, _number: u32) -> Option<DVec3> {
        None
    }

    /// How much the core is thickened.
    fn radius(&self) -> f64 {
        0.0
    }
}

/// A point.
impl Support for DVec3 {
    #[inline]
    fn farthest(&self, _direction: DVec3, _start: u32) -> (DVec3, u32) {
        (*self, 0)
    }

    #[inline]
    fn corner(&self, _number: u32) -> Option<DVec3> {
        Some(*self)
    }
}

/// A segment.
impl Support for [DVec3; 2] {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        let number = u32::from((self[1] - self[0]).dot(direction) > 0.0);
        (self[number as usize], number)
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        Some(self[(number & 1) as usize])
    }
}

impl Support for Triangle {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        let [a, b, c] = self.corners().map(|p| p.dot(direction));
        if a >= b && a >= c {
            (self.a, 0)
        } else if b >= c {
            (self.b, 1)
        } else {
            (self.c, 2)
        }
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        Some(match number {
            0 => self.a,
            1 => self.b,
            _ => self.c,
        })
    }
}

impl Support for Sphere {
    #[inline]
    fn farthest(&self, _direction: DVec3, _start: u32) -> (DVec3, u32) {
        (DVec3::ZERO, 0)
    }

    #[inline]
    fn corner(&self, _number: u32) -> Option<DVec3> {
        Some(DVec3::ZERO)
    }

    #[inline]
    fn radius(&self) -> f64 {
        self.radius()
    }
}

impl Support for Capsule {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        let number = u32::from(direction.z > 0.0);
        (capsule_end(self, number), number)
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        Some(capsule_end(self, number))
    }

    #[inline]
    fn radius(&self) -> f64 {
        self.radius()
    }
}

#[inline]
fn capsule_end(capsule: &Capsule, number: u32) -> DVec3 {
    DVec3::Z * (0.5 * capsule.height() * if number == 0 { -1.0 } else { 1.0 })
}

impl Support for Cuboid {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        (self.half_extents().copysign(direction), direction.is_negative_bitmask())
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        let side = |bit: u32| if number & bit == 0 { 1.0 } else { -1.0 };
        Some(self.half_extents() * DVec3::new(side(1), side(2), side(4)))
    }
}

impl Support for Cylinder {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        (self.support(direction), u32::MAX)
    }
}

impl Support for Cone {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        (self.support(direction), u32::MAX)
    }
}

impl Support for Ellipsoid {
    #[inline]
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        (self.support(direction), u32::MAX)
    }
}

impl Support for ConvexPolyhedron {
    #[inline(always)]
    fn farthest(&self, direction: DVec3, start: u32) -> (DVec3, u32) {
        let number = self.support_vertex(direction, start);
        (self.vertices()[number as usize], number)
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        self.vertices().get(number as usize).or(self.vertices().first()).copied()
    }
}

/// A custom shape, queried along unit directions only.
impl Support for Arc<dyn SupportShape> {
    fn farthest(&self, direction: DVec3, _start: u32) -> (DVec3, u32) {
        (self.support(direction.normalize_or(DVec3::X)), u32::MAX)
    }
}
