//! Any bounded convex `Shape` as something to search on, without a virtual call.

use std::sync::Arc;

use glam::DVec3;

use super::{ClosestError, Support};
use crate::{Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, Ellipsoid, Shape, Sphere, SupportShape};

/// A borrowed `Shape` that is bounded and convex.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Shape, closest::ConvexShape};
/// assert!(ConvexShape::try_from(&Shape::sphere(1.0)?).is_ok());
/// assert!(ConvexShape::try_from(&Shape::half_space(DVec3::Z)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ConvexShape<'a> {
    /// Sphere.
    Sphere(&'a Sphere),
    /// Box.
    Cuboid(&'a Cuboid),
    /// Right circular cylinder.
    Cylinder(&'a Cylinder),
    /// Cylinder with half-sphere ends.
    Capsule(&'a Capsule),
    /// Right circular cone.
    Cone(&'a Cone),
    /// Ellipsoid.
    Ellipsoid(&'a Ellipsoid),
    /// Convex polyhedron.
    Convex(&'a ConvexPolyhedron),
    /// Shape of the user's.
    Custom(&'a Arc<dyn SupportShape>),
}

impl<'a> TryFrom<&'a Shape> for ConvexShape<'a> {
    type Error = ClosestError;

    fn try_from(shape: &'a Shape) -> Result<Self, ClosestError> {
        Ok(match shape {
            Shape::Sphere(sphere) => Self::Sphere(sphere),
            Shape::Cuboid(cuboid) => Self::Cuboid(cuboid),
            Shape::Cylinder(cylinder) => Self::Cylinder(cylinder),
            Shape::Capsule(capsule) => Self::Capsule(capsule),
            Shape::Cone(cone) => Self::Cone(cone),
            Shape::Ellipsoid(ellipsoid) => Self::Ellipsoid(ellipsoid),
            Shape::Convex(convex) => Self::Convex(convex),
            Shape::Custom(custom) => Self::Custom(custom),
            Shape::HalfSpace(_) | Shape::Mesh(_) | Shape::HeightField(_) | Shape::Compound(_) => {
                return Err(ClosestError::NotConvex(shape.kind()));
            }
        })
    }
}

macro_rules! each {
    ($self:ident, $shape:ident => $answer:expr) => {
        match $self {
            ConvexShape::Sphere($shape) => $answer,
            ConvexShape::Cuboid($shape) => $answer,
            ConvexShape::Cylinder($shape) => $answer,
            ConvexShape::Capsule($shape) => $answer,
            ConvexShape::Cone($shape) => $answer,
            ConvexShape::Ellipsoid($shape) => $answer,
            ConvexShape::Convex($shape) => $answer,
            ConvexShape::Custom($shape) => $answer,
        }
    };
}

impl Support for ConvexShape<'_> {
    #[inline]
    fn farthest(&self, direction: DVec3, start: u32) -> (DVec3, u32) {
        each!(self, shape => Support::farthest(*shape, direction, start))
    }

    #[inline]
    fn corner(&self, number: u32) -> Option<DVec3> {
        each!(self, shape => Support::corner(*shape, number))
    }

    #[inline]
    fn radius(&self) -> f64 {
        each!(self, shape => Support::radius(*shape))
    }
}
