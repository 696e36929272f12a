//! Nearest points of shapes, with sign.
//!
//! Bodies of revolution are handled in the half-plane (ρ, z) of the point, where they are a rectangle, a
//! triangle or a segment with a radius. A box from inside: the nearest of its six faces. An ellipsoid has its
//! own file.

use glam::{DVec2, DVec3};

use super::{ellipsoid, polyhedron, surface};
use crate::{Capsule, Compound, Cone, Cuboid, Cylinder, Pose, Shape};

/// The surface point of a shape nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointProjection {
    /// Nearest point of the surface.
    pub point: DVec3,
    /// Distance, negative inside a solid. Open meshes have no inside.
    pub distance: f64,
    /// Whether the point lies inside or on the solid.
    pub inside: bool,
    /// Unit vector along which the distance grows fastest: outward.
    pub normal: DVec3,
}

impl PointProjection {
    /// A point `p` outside whose nearest surface point is `point`; `normal` is taken if they coincide.
    pub(crate) fn outside(p: DVec3, point: DVec3, normal: DVec3) -> Self {
        let out = p - point;
        let distance = out.length();
        let normal = if distance > 0.0 { out / distance } else { normal };
        Self { point, distance, inside: distance == 0.0, normal }
    }

    /// The same in the frame in which the shape is at `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { point: pose.point(self.point), normal: pose.vector(self.normal), ..*self }
    }
}

impl Shape {
    /// The surface point nearest to `p`, both in the shape's frame. None if `p` is not finite or a custom
    /// shape returns points that are not finite.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_geometry::Shape;
    /// let sphere = Shape::sphere(2.0)?;
    /// let inside = sphere.closest_point(DVec3::new(0.0, 1.5, 0.0)).unwrap();
    /// assert_eq!((inside.distance, inside.normal), (-0.5, DVec3::Y));
    /// # Ok::<(), rattleback_geometry::ShapeError>(())
    /// ```
    pub fn closest_point(&self, p: DVec3) -> Option<PointProjection> {
        if !p.is_finite() {
            return None;
        }
        match self {
            Self::Sphere(sphere) => Some(sphere_projection(p, DVec3::ZERO, sphere.radius())),
            Self::Cuboid(shape) => Some(cuboid(p, shape)),
            Self::Cylinder(shape) => Some(cylinder(p, shape)),
            Self::Capsule(shape) => Some(capsule(p, shape)),
            Self::Cone(shape) => Some(cone(p, shape)),
            Self::Ellipsoid(shape) => Some(ellipsoid::project(p, shape)),
            Self::HalfSpace(half_space) => {
                let (normal, distance) = (half_space.normal(), half_space.normal().dot(p));
                let point = p - distance * normal;
                Some(PointProjection { point, distance, inside: distance <= 0.0, normal })
            }
            Self::Convex(convex) => polyhedron::project(p, convex),
            Self::Mesh(mesh) => surface::project_on_mesh(p, mesh),
            Self::HeightField(field) => surface::project_on_height_field(p, field),
            Self::Compound(parts) => compound(p, parts),
            Self::Custom(custom) => super::custom::project(p, custom),
        }
    }
}

fn sphere_projection(p: DVec3, center: DVec3, radius: f64) -> PointProjection {
    let out = p - center;
    let length = out.length();
    let normal = if length > 0.0 { out / length } else { DVec3::Z };
    let distance = length - radius;
    PointProjection { point: center + radius * normal, distance, inside: distance <= 0.0, normal }
}

fn cuboid(p: DVec3, cuboid: &Cuboid) -> PointProjection {
    let h = cuboid.half_extents();
    let depth = h - p.abs();
    let axis = depth.min_position();
    let side = if p[axis] < 0.0 { -1.0 } else { 1.0 };
    let normal = side * DVec3::AXES[axis];
    if depth.min_element() >= 0.0 {
        let mut point = p;
        point[axis] = side * h[axis];
        return PointProjection { point, distance: -depth[axis], inside: true, normal };
    }
    PointProjection::outside(p, p.clamp(-h, h), normal)
}

fn capsule(p: DVec3, capsule: &Capsule) -> PointProjection {
    let half = 0.5 * capsule.height();
    let center = DVec3::Z * p.z.clamp(-half, half);
    // On the axis between the ends every direction across is equally near; +z would lead along the axis.
    if p == center && p.z.abs() < half {
        let point = center + capsule.radius() * DVec3::X;
        return PointProjection { point, distance: -capsule.radius(), inside: true, normal: DVec3::X };
    }
    sphere_projection(p, center, capsule.radius())
}

/// A nearest point in the half-plane (ρ, z) ⇒ the same in space.
fn revolved(p: DVec3, flat: (DVec2, f64, DVec2)) -> PointProjection {
    let (point, distance, normal) = flat;
    let radial = p.truncate().normalize_or(DVec2::X);
    let lift = |v: DVec2| (v.x * radial).extend(v.y);
    PointProjection { point: lift(point), distance, inside: distance <= 0.0, normal: lift(normal) }
}

fn outside_in_plane(q: DVec2, nearest: DVec2, fallback: DVec2) -> (DVec2, f64, DVec2) {
    let out = q - nearest;
    let distance = out.length();
    (nearest, distance, if distance > 0.0 { out / distance } else { fallback })
}

fn cylinder(p: DVec3, cylinder: &Cylinder) -> PointProjection {
    let h = DVec2::new(cylinder.radius(), 0.5 * cylinder.height());
    let q = DVec2::new(p.truncate().length(), p.z);
    let depth = h - q.abs();
    let cap = DVec2::new(0.0, if q.y < 0.0 { -1.0 } else { 1.0 });
    let flat = if depth.min_element() < 0.0 {
        outside_in_plane(q, q.clamp(-h, h), cap)
    } else if depth.x < depth.y {
        (DVec2::new(h.x, q.y), -depth.x, DVec2::X)
    } else {
        (DVec2::new(q.x, cap.y * h.y), -depth.y, cap)
    };
    revolved(p, flat)
}

fn cone(p: DVec3, cone: &Cone) -> PointProjection {
    let q = DVec2::new(p.truncate().length(), p.z);
    let (apex, rim) = (DVec2::new(0.0, cone.apex()), DVec2::new(cone.radius(), cone.base()));
    let slope = rim - apex;
    let side_normal = DVec2::new(cone.height(), cone.radius()).normalize();
    let t = ((q - apex).dot(slope) / slope.length_squared()).clamp(0.0, 1.0);
    let on_side = if t > 0.5 { rim - (1.0 - t) * slope } else { apex + t * slope };
    let on_base = DVec2::new(q.x.min(cone.radius()), cone.base());
    let (above_side, below_base) = ((q - rim).dot(side_normal), cone.base() - q.y);
    let flat = if above_side <= 0.0 && below_base <= 0.0 {
        if above_side >= below_base {
            (on_side, above_side, side_normal)
        } else {
            (on_base, below_base, -DVec2::Y)
        }
    } else if q.distance_squared(on_side) <= q.distance_squared(on_base) {
        outside_in_plane(q, on_side, side_normal)
    } else {
        outside_in_plane(q, on_base, -DVec2::Y)
    };
    revolved(p, flat)
}

/// The part of least signed distance. Outside that is the nearest surface; inside overlapping parts it is the
/// surface of the part the point is deepest in, so the depth is a lower bound.
fn compound(p: DVec3, compound: &Compound) -> Option<PointProjection> {
    let mut best: Option<PointProjection> = None;
    for (place, part) in compound.parts() {
        let next = part.closest_point(place.inverse_point(p))?.transformed(place);
        if best.is_none_or(|known| next.distance < known.distance) {
            best = Some(next);
        }
    }
    best
}
