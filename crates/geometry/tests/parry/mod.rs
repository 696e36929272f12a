//! Shapes and poses as the second opinion understands them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use glam::DVec3;
use parry3d_f64::math::{Pose as ParryPose, Rot3, Vector};
use parry3d_f64::shape::{self, SharedShape};
use rattleback_geometry::{Pose, Shape};

pub fn vector(v: DVec3) -> Vector {
    Vector::from_array(v.to_array())
}

pub fn back(v: Vector) -> DVec3 {
    DVec3::from_array(v.to_array())
}

pub fn pose(pose: &Pose) -> ParryPose {
    let mut out = ParryPose::IDENTITY;
    out.rotation = Rot3::from_array(pose.rotation.to_array());
    out.translation = vector(pose.translation);
    out
}

/// A shape in the other library, and the turn that brings its axis (y there) to z and its cone's middle to
/// our origin.
pub fn shape(shape: &Shape) -> Option<(SharedShape, Pose)> {
    let upright = Pose::new(glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), DVec3::ZERO);
    Some(match shape {
        Shape::Sphere(s) => (SharedShape::new(shape::Ball::new(s.radius())), Pose::IDENTITY),
        Shape::Cuboid(c) => (SharedShape::new(shape::Cuboid::new(vector(c.half_extents()))), Pose::IDENTITY),
        Shape::Cylinder(c) => (SharedShape::new(shape::Cylinder::new(0.5 * c.height(), c.radius())), upright),
        Shape::Capsule(c) => {
            (SharedShape::new(shape::Capsule::new_z(0.5 * c.height(), c.radius())), Pose::IDENTITY)
        }
        Shape::Cone(c) => {
            let lifted = Pose::new(upright.rotation, DVec3::Z * (0.25 * c.height()));
            (SharedShape::new(shape::Cone::new(0.5 * c.height(), c.radius())), lifted)
        }
        Shape::Convex(c) => {
            let points: Vec<Vector> = c.vertices().iter().map(|&p| vector(p)).collect();
            (SharedShape::new(shape::ConvexPolyhedron::from_convex_hull(&points)?), Pose::IDENTITY)
        }
        Shape::Mesh(m) => {
            let points: Vec<Vector> = m.vertices().iter().map(|&p| vector(p)).collect();
            let flags = shape::TriMeshFlags::ORIENTED;
            let mesh = shape::TriMesh::with_flags(points, m.triangles().to_vec(), flags).ok()?;
            (SharedShape::new(mesh), Pose::IDENTITY)
        }
        _ => return None,
    })
}
