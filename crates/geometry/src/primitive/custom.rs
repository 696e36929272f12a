//! Rays and nearest points of shapes known only by their support function.
//!
//! Ray: the plane in front of the set that the nearest point gives bounds how far the ray may run without
//! touching; that is Newton's method on a convex function and never runs past the surface. A ray from inside
//! leaves where the ray back from beyond enters.
//!
//! Nearest point: the distance, or from inside the depth, of the shape and a point.

use std::sync::Arc;

use glam::DVec3;

use super::Ray;
use super::cast::{FromInside, RayHit};
use super::project::PointProjection;
use crate::closest::{Gjk, GjkCache, Separation, gjk, signed_distance};
use crate::{Pose, SupportShape};

const MAX_STEPS: usize = 100;
/// The distance of curved shapes is known from above; this much of it is sure.
const GAP: f64 = 1.0 - 1e-9;

pub(crate) fn cast(ray: &Ray, max: f64, inside: FromInside, shape: &Arc<dyn SupportShape>) -> Option<RayHit> {
    let bounds = shape.bounding_sphere()?;
    let [near, leave] = super::bounding_volume::sphere_interval(ray, &bounds)?;
    let size = bounds.radius();
    let touch = 1e-12 * size;
    // Advance to the bounding sphere of the shape.
    let mut t = near.max(0.0);
    let mut normal = None;
    let mut cache = GjkCache::default();
    for _ in 0..MAX_STEPS {
        let Some(apart) = separation(ray.at(t), shape, &mut cache) else { break };
        normal = Some(apart.normal);
        if apart.distance <= touch {
            break;
        }
        let closing = -apart.normal.dot(ray.direction());
        if !(closing > 0.0) {
            return None;
        }
        t += GAP * apart.distance / closing;
        if !(t <= max) {
            return None;
        }
    }
    match normal {
        Some(normal) => (t <= max).then(|| RayHit::new(ray, t, normal, 0)),
        None if inside == FromInside::Origin => Some(RayHit::new(ray, 0.0, -ray.direction(), 0)),
        None => {
            // Where it leaves is where the ray back from beyond enters.
            let far = leave + size;
            let back = Ray::new(ray.at(far), -ray.direction()).ok()?;
            let entry = cast(&back, 2.0 * far, FromInside::Origin, shape)?;
            let t = (far - entry.t).max(0.0);
            (t <= max).then(|| RayHit::new(ray, t, entry.normal, 0))
        }
    }
}

pub(crate) fn project(p: DVec3, shape: &Arc<dyn SupportShape>) -> Option<PointProjection> {
    let apart = signed_distance(shape, &DVec3::ZERO, &Pose::at(p), &mut GjkCache::default()).ok()?;
    let (distance, normal) = (apart.distance, apart.normal);
    Some(PointProjection { point: p - distance * normal, distance, inside: distance <= 0.0, normal })
}

/// Nearest point of the shape to p, with the normal from the shape to p; None if p lies inside.
fn separation(p: DVec3, shape: &Arc<dyn SupportShape>, cache: &mut GjkCache) -> Option<Separation> {
    match gjk(shape, &DVec3::ZERO, &Pose::at(p), cache) {
        Ok(Gjk::Apart(separation)) if separation.distance > 0.0 => Some(separation),
        _ => None,
    }
}
