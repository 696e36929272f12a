//! Boxes and spheres around shapes.

use glam::DVec3;

use super::Shape;
use super::cylinder::circle_reach;
use crate::{Aabb, BoundingSphere, OrientedBox, Pose};

impl Shape {
    /// The smallest axis-aligned box of the shape at `pose`. None if the shape is unbounded or the pose is
    /// not finite.
    ///
    /// Of a compound: around the boxes of its parts.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let center = pose.translation;
        let around_center = |half_extents: DVec3| Aabb::from_center(center, half_extents).ok();
        match self {
            Self::Sphere(sphere) => around_center(DVec3::splat(sphere.radius())),
            Self::Cuboid(cuboid) => around_center(pose.rotation_matrix().abs() * cuboid.half_extents()),
            Self::Cylinder(cylinder) => around_center(cylinder.half_extents_along(pose.vector(DVec3::Z))),
            Self::Capsule(capsule) => {
                around_center(0.5 * capsule.height() * pose.vector(DVec3::Z).abs() + capsule.radius())
            }
            Self::Cone(cone) => {
                let axis = pose.vector(DVec3::Z);
                let (apex, base) = (center + cone.apex() * axis, center + cone.base() * axis);
                let rim = cone.radius() * circle_reach(axis);
                Aabb::new(apex.min(base - rim), apex.max(base + rim)).ok()
            }
            Self::Ellipsoid(ellipsoid) => {
                around_center(ellipsoid.half_extents_rotated(pose.rotation_matrix()))
            }
            Self::HalfSpace(_) => None,
            Self::Convex(convex) => convex.aabb(pose),
            Self::Mesh(mesh) => bounds_of_points(mesh.vertices(), pose),
            Self::HeightField(field) => field.aabb(pose),
            Self::Compound(compound) => compound.aabb(pose),
            Self::Custom(custom) => custom.aabb(pose),
        }
    }

    /// A sphere around the shape in its own frame, the smallest one except for compounds and custom shapes.
    /// None if unbounded.
    pub fn bounding_sphere(&self) -> Option<BoundingSphere> {
        let about_origin = |radius: f64| BoundingSphere::new(DVec3::ZERO, radius).ok();
        match self {
            Self::Sphere(sphere) => about_origin(sphere.radius()),
            Self::Cuboid(cuboid) => about_origin(cuboid.half_extents().length()),
            Self::Cylinder(cylinder) => about_origin(cylinder.radius().hypot(0.5 * cylinder.height())),
            Self::Capsule(capsule) => about_origin(capsule.radius() + 0.5 * capsule.height()),
            Self::Cone(cone) => {
                let (height, radius) = cone.bounding_sphere();
                BoundingSphere::new(height * DVec3::Z, radius).ok()
            }
            Self::Ellipsoid(ellipsoid) => about_origin(ellipsoid.semi_axes().max_element()),
            Self::HalfSpace(_) => None,
            Self::Convex(convex) => BoundingSphere::smallest(convex.vertices()).ok(),
            Self::Mesh(mesh) => BoundingSphere::smallest(mesh.vertices()).ok(),
            Self::HeightField(field) => BoundingSphere::smallest(&field.points()).ok(),
            Self::Compound(compound) => compound.bounding_sphere(),
            Self::Custom(custom) => custom.bounding_sphere(),
        }
    }

    /// Distance from `about` beyond which no point of the shape ever gets, however it turns about that point.
    /// None if unbounded. Exact for all but ellipsoids off their centre and custom shapes, where it is an
    /// upper bound.
    pub fn rotation_radius(&self, about: DVec3) -> Option<f64> {
        let (rho, z) = (about.truncate().length(), about.z);
        let farthest = |points: &[DVec3]| points.iter().map(|p| p.distance(about)).fold(0.0, f64::max);
        let radius = match self {
            Self::Sphere(sphere) => about.length() + sphere.radius(),
            Self::Cuboid(cuboid) => (about.abs() + cuboid.half_extents()).length(),
            Self::Cylinder(cylinder) => (rho + cylinder.radius()).hypot(z.abs() + 0.5 * cylinder.height()),
            Self::Capsule(capsule) => rho.hypot(z.abs() + 0.5 * capsule.height()) + capsule.radius(),
            Self::Cone(cone) => {
                let (rim, apex) = ((rho + cone.radius()).hypot(z - cone.base()), rho.hypot(z - cone.apex()));
                rim.max(apex)
            }
            Self::Ellipsoid(ellipsoid) => about.length() + ellipsoid.semi_axes().max_element(),
            Self::HalfSpace(_) => return None,
            Self::Convex(convex) => farthest(convex.vertices()),
            Self::Mesh(mesh) => farthest(mesh.vertices()),
            Self::HeightField(field) => farthest(&field.points()),
            Self::Compound(compound) => {
                let parts = compound.parts().iter();
                let mut radii = parts.map(|(place, part)| part.rotation_radius(place.inverse_point(about)));
                return radii.try_fold(0.0, |known, radius| Some(f64::max(known, radius?)));
            }
            Self::Custom(custom) => custom.bounding_sphere()?.rotation_radius(about),
        };
        radius.is_finite().then_some(radius)
    }

    /// Least and greatest value of p·direction over the shape. None if unbounded or the direction is not
    /// finite.
    pub fn extent_along(&self, direction: DVec3) -> Option<[f64; 2]> {
        if !direction.is_finite() {
            return None;
        }
        let over = |points: &[DVec3]| {
            let values = points.iter().map(|p| p.dot(direction));
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
        };
        match self {
            Self::Mesh(mesh) => Some(over(mesh.vertices())),
            Self::HeightField(field) => Some(over(&field.points())),
            Self::Compound(compound) => {
                let mut extents = compound.parts().iter().map(|(place, part)| {
                    let shift = place.translation.dot(direction);
                    Some(part.extent_along(place.inverse_vector(direction))?.map(|value| value + shift))
                });
                let first = extents.next()??;
                extents.try_fold(first, |[low, high], next| next.map(|[a, b]| [low.min(a), high.max(b)]))
            }
            _ => Some([self.support(-direction)?.dot(direction), self.support(direction)?.dot(direction)]),
        }
    }

    /// An oriented box around the shape. None if unbounded.
    pub fn oriented_box(&self) -> Option<OrientedBox> {
        match self {
            Self::Convex(convex) => OrientedBox::fit(convex.vertices()).ok(),
            Self::Mesh(mesh) => OrientedBox::fit(mesh.vertices()).ok(),
            Self::HeightField(field) => OrientedBox::fit(&field.points()).ok(),
            Self::Compound(compound) => {
                let mut corners = Vec::new();
                for (place, part) in compound.parts() {
                    corners.extend(part.oriented_box()?.corners().map(|p| place.point(p)));
                }
                OrientedBox::fit(&corners).ok()
            }
            _ => Some(OrientedBox::from(self.aabb(&Pose::IDENTITY)?)),
        }
    }
}

/// Smallest axis-aligned box of points moved by `pose`.
pub(crate) fn bounds_of_points(points: &[DVec3], pose: &Pose) -> Option<Aabb> {
    let rotation = pose.rotation_matrix();
    Aabb::from_points(points.iter().map(|&p| rotation * p + pose.translation)).ok()
}
