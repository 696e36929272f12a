//! Rays against every kind of shape.

use super::cast::{self, FromInside, RayHit, hit_of_interval};
use super::{Ray, cast_triangles, custom, polyhedron};
use crate::{Compound, HalfSpace, Pose, Shape};

impl Shape {
    /// (ray in the shape's frame, reach, what to report from inside) ⇒ nearest hit.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_geometry::Shape;
    /// use rattleback_geometry::primitive::{FromInside, Ray};
    /// let ray = Ray::new(DVec3::new(-5.0, 0.0, 0.0), DVec3::X)?;
    /// let hit = Shape::sphere(1.0)?.cast_ray(&ray, 100.0, FromInside::Origin).unwrap();
    /// assert_eq!((hit.t, hit.normal), (4.0, -DVec3::X));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn cast_ray(&self, ray: &Ray, max: f64, inside: FromInside) -> Option<RayHit> {
        if !(max >= 0.0) {
            return None;
        }
        // Cases that take nanoseconds are inlined: a call with its result through memory would cost as much.
        match self {
            Self::Sphere(sphere) => cast::cast_at_sphere(ray, max, inside, sphere.radius()),
            Self::Cuboid(cuboid) => cast::cast_at_cuboid(ray, max, inside, cuboid),
            other => other.cast_ray_at_others(ray, max, inside),
        }
    }

    fn cast_ray_at_others(&self, ray: &Ray, max: f64, inside: FromInside) -> Option<RayHit> {
        let convex = |interval| hit_of_interval(ray, max, inside, interval);
        match self {
            Self::Sphere(sphere) => cast::cast_at_sphere(ray, max, inside, sphere.radius()),
            Self::Cuboid(cuboid) => cast::cast_at_cuboid(ray, max, inside, cuboid),
            Self::Cylinder(cylinder) => convex(cast::cylinder(ray, cylinder)),
            Self::Capsule(capsule) => convex(cast::capsule(ray, capsule)),
            Self::Cone(cone) => convex(cast::cone(ray, cone)),
            Self::Ellipsoid(ellipsoid) => convex(cast::ellipsoid(ray, ellipsoid)),
            Self::Convex(polyhedron) => convex(polyhedron::interval(ray, polyhedron)),
            Self::HalfSpace(half_space) => cast_at_half_space(ray, max, inside, half_space),
            Self::Mesh(mesh) => cast_triangles::mesh(ray, max, inside, mesh),
            Self::HeightField(field) => cast_triangles::height_field(ray, max, inside, field),
            Self::Compound(compound) => cast_at_compound(ray, max, inside, compound),
            Self::Custom(shape) => custom::cast(ray, max, inside, shape),
        }
    }

    /// As `cast_ray` with the shape standing at `pose` and the ray in the outer frame.
    pub fn cast_ray_at(&self, pose: &Pose, ray: &Ray, max: f64, inside: FromInside) -> Option<RayHit> {
        let hit = self.cast_ray(&ray.in_frame(pose), max, inside)?;
        Some(RayHit { point: ray.at(hit.t), normal: pose.vector(hit.normal), ..hit })
    }
}

fn cast_at_half_space(ray: &Ray, max: f64, inside: FromInside, half_space: &HalfSpace) -> Option<RayHit> {
    let normal = half_space.normal();
    let height = normal.dot(ray.origin());
    let climb = normal.dot(ray.direction());
    if height <= 0.0 && inside == FromInside::Origin {
        return Some(RayHit::new(ray, 0.0, if height == 0.0 { normal } else { -ray.direction() }, 0));
    }
    let t = -height / climb;
    let reaches = if height > 0.0 { climb < 0.0 } else { climb > 0.0 };
    (reaches && t <= max).then(|| RayHit::new(ray, t, normal, 0))
}

/// The nearest hit of any part. A ray that leaves one part inside another has not left the compound: with
/// `FromInside::Exit` the exits of the parts are followed until none of them holds the point.
fn cast_at_compound(ray: &Ray, max: f64, inside: FromInside, compound: &Compound) -> Option<RayHit> {
    let in_part = |index: usize, from: &Ray, reach: f64, rule: FromInside| {
        let (place, part) = &compound.parts()[index];
        let hit = part.cast_ray_at(place, from, reach, rule)?;
        Some(RayHit { part: index as u32, ..hit })
    };
    let mut best: Option<RayHit> = None;
    for index in 0..compound.parts().len() {
        let reach = best.map_or(max, |b| b.t);
        if let Some(hit) = in_part(index, ray, reach, FromInside::Origin)
            && best.is_none_or(|b| hit.t < b.t)
        {
            best = Some(hit);
        }
    }
    let starts_inside = compound.contains(ray.origin());
    if inside == FromInside::Origin || !starts_inside {
        return best;
    }
    exit_of_compound(ray, max, compound)
}

fn exit_of_compound(ray: &Ray, max: f64, compound: &Compound) -> Option<RayHit> {
    let mut last: Option<RayHit> = None;
    let mut t = 0.0;
    // Every round leaves at least one part for good.
    for _ in 0..=compound.parts().len() {
        let from = Ray::new(ray.at(t), ray.direction()).ok()?;
        let mut farthest: Option<RayHit> = None;
        for (index, (place, part)) in compound.parts().iter().enumerate() {
            if !part.contains(place.inverse_point(from.origin())) {
                continue;
            }
            if let Some(hit) = part.cast_ray_at(place, &from, f64::INFINITY, FromInside::Exit)
                && farthest.is_none_or(|f| hit.t > f.t)
            {
                farthest = Some(RayHit { part: index as u32, ..hit });
            }
        }
        let Some(hit) = farthest.filter(|hit| hit.t > 0.0 || last.is_none()) else { break };
        t += hit.t;
        last = Some(RayHit { t, point: ray.at(t), ..hit });
        if hit.t == 0.0 {
            break;
        }
    }
    last.filter(|hit| hit.t <= max)
}
