//! Rays and nearest points of shapes known only by their support function.
//!
//! Ray: the plane in front of the set that the nearest point gives bounds how far the ray may run without touching; that
//! is Newton's method on a convex function and never runs past the surface. From inside, the ray leaves at the smallest
//! t with (o + t d)·n = s(n)·n over all n: a polyhedron of support points is refined where the ray leaves it.
//!
//! Nearest surface point from inside: the polyhedron of support points is refined at its face nearest to p until the
//! shape does not bulge over that face (expanding polytope).

use glam::DVec3;

use super::cast::{Crossing, FromInside, RayHit};
use super::project::PointProjection;
use super::support_distance::distance_to_support;
use super::{Ray, polyhedron};
use crate::{ConvexPolyhedron, SupportShape, convex_hull};

const MAX_STEPS: usize = 100;
const MAX_REFINEMENTS: usize = 48;
/// How far the surface may bulge over the polyhedron that stands for it, as a fraction of the size.
const BULGE: f64 = 1e-10;

pub(crate) fn cast(ray: &Ray, max: f64, inside: FromInside, shape: &dyn SupportShape) -> Option<RayHit> {
    let bounds = shape.bounding_sphere()?;
    let [near, _] = super::bounding_volume::sphere_interval(ray, &bounds)?;
    let size = bounds.radius();
    let touch = 1e-12 * size;
    // The way up to the ball around the shape is free.
    let mut t = near.max(0.0);
    let mut normal = None;
    for _ in 0..MAX_STEPS {
        let Some(apart) = distance_to_support(|d| shape.support(unit(d)), size, ray.at(t)) else { break };
        if apart.lower_bound <= touch {
            normal = Some(apart.normal);
            break;
        }
        let closing = -apart.normal.dot(ray.direction());
        if !(closing > 0.0) {
            return None;
        }
        normal = Some(apart.normal);
        t += apart.lower_bound / closing;
        if !(t <= max) {
            return None;
        }
    }
    match normal {
        Some(normal) => (t <= max).then(|| RayHit::new(ray, t, normal, 0)),
        None if inside == FromInside::Origin => Some(RayHit::new(ray, 0.0, -ray.direction(), 0)),
        None => {
            let leave = exit(ray, shape, size)?;
            (leave.t <= max).then(|| RayHit::new(ray, leave.t, leave.normal, 0))
        }
    }
}

fn exit(ray: &Ray, shape: &dyn SupportShape, size: f64) -> Option<Crossing> {
    let mut hull = shape.hull().ok()?;
    for _ in 0..MAX_REFINEMENTS {
        let [_, leave] = polyhedron::interval(ray, &hull)?;
        let bulge = shape.support(leave.normal);
        if (bulge - ray.at(leave.t)).dot(leave.normal) <= BULGE * size {
            return Some(leave);
        }
        hull = with_point(&hull, bulge)?;
    }
    polyhedron::interval(ray, &hull).map(|[_, leave]| leave)
}

pub(crate) fn project(p: DVec3, shape: &dyn SupportShape) -> Option<PointProjection> {
    let size = shape.bounding_sphere()?.radius();
    if let Some(apart) = distance_to_support(|d| shape.support(unit(d)), size, p) {
        return Some(PointProjection::outside(p, apart.point, apart.normal));
    }
    let mut hull = shape.hull().ok()?;
    for _ in 0..MAX_REFINEMENTS {
        let nearest = polyhedron::deepest_face(&hull, p)?;
        let bulge = shape.support(nearest.normal);
        if (bulge - nearest.point).dot(nearest.normal) <= BULGE * size {
            return Some(nearest);
        }
        hull = with_point(&hull, bulge)?;
    }
    polyhedron::deepest_face(&hull, p)
}

fn with_point(hull: &ConvexPolyhedron, p: DVec3) -> Option<ConvexPolyhedron> {
    let points: Vec<DVec3> = hull.vertices().iter().copied().chain([p]).collect();
    convex_hull(&points).ok()
}

fn unit(d: DVec3) -> DVec3 {
    d.normalize_or(DVec3::Z)
}
