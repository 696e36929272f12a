//! Rays against shapes: hits, solids of revolution and boxes.
//!
//! A solid is an interval of t on the line o + t d: boxes by slabs, spheres by their nearest approach, an
//! ellipsoid as the unit sphere of the space divided by its semi-axes, a cylinder as the infinite one (a
//! quadratic in the plane) cut by the slab of its caps, a cone as its quadratic x² + y² = (r/h)² (z_apex −
//! z)² cut by the slab, a capsule as the union of a cylinder and two spheres. The ray enters at the first end
//! of the interval and leaves at the last.

use glam::DVec3;

use super::Ray;
use super::bounding_volume::sphere_interval;
use super::segment_box::slab_interval;
use crate::{Aabb, BoundingSphere, Capsule, Cone, Cuboid, Cylinder, Ellipsoid};

/// Hit of a ray that starts inside a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FromInside {
    /// A hit at its origin, t = 0, with the normal against the ray.
    #[default]
    Origin,
    /// The point where it leaves, with the outward normal.
    Exit,
}

/// Where a ray hits a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Distance from the ray's origin.
    pub t: f64,
    /// The point.
    pub point: DVec3,
    /// Outward unit normal there; of an open surface the side the ray comes from.
    pub normal: DVec3,
    /// Which face: triangle of a mesh, face of a polyhedron, 2·cell + triangle of a terrain, 2·axis + (1 if
    /// positive) of a box, 0 for the curved side and 1, 2 for the lower and upper cap of a cylinder or cone,
    /// else 0.
    pub feature: u32,
    /// Which part of a compound, else 0.
    pub part: u32,
}

impl RayHit {
    #[inline]
    pub(crate) fn new(ray: &Ray, t: f64, normal: DVec3, feature: u32) -> Self {
        Self { t, point: ray.at(t), normal, feature, part: 0 }
    }
}

/// One end of the interval a line spends in a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub t: f64,
    /// Not normalised: only the reported one is.
    pub normal: DVec3,
    pub feature: u32,
}

/// The interval of a convex solid ⇒ the hit of a ray on it.
pub(crate) fn hit_of_interval(
    ray: &Ray,
    max: f64,
    inside: FromInside,
    interval: Option<[Crossing; 2]>,
) -> Option<RayHit> {
    let [enter, leave] = interval?;
    if leave.t < 0.0 {
        return None;
    }
    if enter.t < 0.0 && inside == FromInside::Origin {
        return Some(RayHit::new(ray, 0.0, -ray.direction(), enter.feature));
    }
    let crossing = if enter.t >= 0.0 { enter } else { leave };
    let normal = crossing.normal.normalize_or(-ray.direction());
    (crossing.t <= max).then(|| RayHit::new(ray, crossing.t, normal, crossing.feature))
}

/// Only the end that is reported gets a point and a normal. With c the point of the line nearest to the
/// centre, that end is c ± h d, and its length the radius but for rounding.
#[inline]
pub(crate) fn cast_at_sphere(ray: &Ray, max: f64, inside: FromInside, radius: f64) -> Option<RayHit> {
    let (o, d) = (ray.origin(), ray.direction());
    let middle = -o.dot(d);
    let c = o + middle * d;
    let half_squared = radius * radius - c.length_squared();
    if !(half_squared >= 0.0) {
        return None;
    }
    let half = half_squared.sqrt();
    let (enter, leave) = (middle - half, middle + half);
    if leave < 0.0 {
        return None;
    }
    if enter < 0.0 && inside == FromInside::Origin {
        return Some(RayHit::new(ray, 0.0, -d, 0));
    }
    let (t, side) = if enter >= 0.0 { (enter, -half) } else { (leave, half) };
    if !(t <= max) {
        return None;
    }
    let point = c + side * d;
    let normal = unit_again(point * (1.0 / radius), -d);
    Some(RayHit { t, point, normal, feature: 0, part: 0 })
}

/// A vector that has unit length but for rounding ⇒ with unit length: one step of Newton's method for
/// 1/√(n²). From far away c is rounded so much that only the root will do.
#[inline]
fn unit_again(n: DVec3, otherwise: DVec3) -> DVec3 {
    let excess = n.length_squared() - 1.0;
    if excess.abs() < 1e-8 { n * (1.0 - 0.5 * excess) } else { n.normalize_or(otherwise) }
}

/// Slabs side by side. Along an axis that the ray does not move on, the quotients are infinite, and classify
/// in or out by their signs, or, on the side itself, not a number, which `max` and `min` pass over.
#[inline]
pub(crate) fn cast_at_cuboid(ray: &Ray, max: f64, inside: FromInside, cuboid: &Cuboid) -> Option<RayHit> {
    let (o, d) = (ray.origin(), ray.direction());
    let side = cuboid.half_extents().copysign(d);
    let (near, far) = ((-side - o) / d, (side - o) / d);
    let enter = near.x.max(near.y).max(near.z);
    let leave = far.x.min(far.y).min(far.z);
    if !(enter <= leave && leave >= 0.0) {
        return None;
    }
    let from_inside = enter < 0.0;
    if from_inside && inside == FromInside::Origin {
        return Some(RayHit::new(ray, 0.0, -d, face_of(near, enter, d, false).1));
    }
    let (t, sides) = if from_inside { (leave, far) } else { (enter, near) };
    let (normal, feature) = face_of(sides, t, d, from_inside);
    (t <= max).then(|| RayHit::new(ray, t, normal, feature))
}

/// The first side that is hit at t: its normal and number. `forward` if the normal is along the ray.
#[inline]
fn face_of(sides: DVec3, t: f64, d: DVec3, forward: bool) -> (DVec3, u32) {
    let axis = if sides.x == t {
        0
    } else if sides.y == t {
        1
    } else {
        2
    };
    let positive = (d[axis] > 0.0) == forward;
    let normal = if positive { DVec3::AXES[axis] } else { -DVec3::AXES[axis] };
    (normal, 2 * axis as u32 + u32::from(positive))
}

pub(crate) fn ellipsoid(ray: &Ray, ellipsoid: &Ellipsoid) -> Option<[Crossing; 2]> {
    let s = ellipsoid.semi_axes();
    let (o, d) = (ray.origin() / s, ray.direction() / s);
    let stretch = d.length();
    let unit = Ray::new(o, d).ok()?;
    let ends = sphere_interval(&unit, &BoundingSphere::new(DVec3::ZERO, 1.0).ok()?)?;
    Some(ends.map(|t| {
        let on_unit_sphere = unit.at(t);
        Crossing { t: t / stretch, normal: on_unit_sphere / s, feature: 0 }
    }))
}

pub(crate) fn cylinder(ray: &Ray, cylinder: &Cylinder) -> Option<[Crossing; 2]> {
    let half = 0.5 * cylinder.height();
    let side = tube(ray, cylinder.radius())?;
    cut(side, slab(ray, -half, half)?)
}

pub(crate) fn capsule(ray: &Ray, capsule: &Capsule) -> Option<[Crossing; 2]> {
    let half = 0.5 * capsule.height();
    let cap = |z: f64| {
        let sphere = BoundingSphere::new(z * DVec3::Z, capsule.radius()).ok()?;
        let ends = sphere_interval(ray, &sphere)?;
        Some(ends.map(|t| Crossing { t, normal: ray.at(t) - z * DVec3::Z, feature: 0 }))
    };
    let middle = tube(ray, capsule.radius()).and_then(|side| cut(side, slab(ray, -half, half)?));
    // The union of three convex pieces that together are convex: the first way in and the last way out.
    let mut joined: Option<[Crossing; 2]> = None;
    for piece in [middle, cap(-half), cap(half)].into_iter().flatten() {
        joined = Some(match joined {
            None => piece,
            Some([enter, leave]) => [
                if piece[0].t < enter.t { piece[0] } else { enter },
                if piece[1].t > leave.t { piece[1] } else { leave },
            ],
        });
    }
    joined
}

/// The interval of x² + y² ≤ r² on the line.
fn tube(ray: &Ray, radius: f64) -> Option<[Crossing; 2]> {
    let (o, d) = (ray.origin().truncate(), ray.direction().truncate());
    let length_squared = d.length_squared();
    if length_squared == 0.0 {
        let everything = |t: f64| Crossing { t, normal: DVec3::X, feature: 0 };
        return (o.length_squared() <= radius * radius)
            .then(|| [everything(f64::NEG_INFINITY), everything(f64::INFINITY)]);
    }
    let middle = -o.dot(d) / length_squared;
    let across = d.perp_dot(o).abs() / length_squared.sqrt();
    let half_squared = (radius - across) * (radius + across) / length_squared;
    if !(half_squared >= 0.0) {
        return None;
    }
    let half = half_squared.sqrt();
    Some([middle - half, middle + half].map(|t| {
        let normal = (o + t * d).extend(0.0);
        Crossing { t, normal, feature: 0 }
    }))
}

/// The interval of low ≤ z ≤ high on the line.
fn slab(ray: &Ray, low: f64, high: f64) -> Option<[Crossing; 2]> {
    let (o, d) = (ray.origin().z, ray.direction().z);
    let lower = |t: f64| Crossing { t, normal: -DVec3::Z, feature: 1 };
    let upper = |t: f64| Crossing { t, normal: DVec3::Z, feature: 2 };
    if d == 0.0 {
        return (low..=high).contains(&o).then(|| [lower(f64::NEG_INFINITY), upper(f64::INFINITY)]);
    }
    let (t_low, t_high) = ((low - o) / d, (high - o) / d);
    Some(if d > 0.0 { [lower(t_low), upper(t_high)] } else { [upper(t_high), lower(t_low)] })
}

fn cut(a: [Crossing; 2], b: [Crossing; 2]) -> Option<[Crossing; 2]> {
    let enter = if b[0].t > a[0].t { b[0] } else { a[0] };
    let leave = if b[1].t < a[1].t { b[1] } else { a[1] };
    (enter.t <= leave.t).then_some([enter, leave])
}

/// x² + y² = k² w², w = z_apex − z: only the nappe below the apex, w ≥ 0, and above the base counts. The line
/// spends one interval in it, whose ends are among the crossings of the side and of the base.
pub(crate) fn cone(ray: &Ray, cone: &Cone) -> Option<[Crossing; 2]> {
    // Moved to where the line passes the middle: squares of a far origin would cancel the cone's size.
    let shift = -ray.origin().dot(ray.direction());
    let (o, d) = (ray.at(shift), ray.direction());
    let (k, w) = (cone.radius() / cone.height(), cone.apex() - o.z);
    let (a, b, c) = (
        d.truncate().length_squared() - (k * d.z).powi(2),
        o.truncate().dot(d.truncate()) + k * k * w * d.z,
        o.truncate().length_squared() - (k * w).powi(2),
    );
    let mut found: [Option<Crossing>; 3] = [None; 3];
    for (slot, t) in found.iter_mut().zip(quadratic_roots(a, b, c)) {
        let p = o + t * d;
        if t.is_finite() && (cone.base()..=cone.apex()).contains(&p.z) {
            let normal = p.truncate().normalize_or(glam::DVec2::X).extend(k);
            *slot = Some(Crossing { t: shift + t, normal, feature: 0 });
        }
    }
    if d.z != 0.0 {
        let t = (cone.base() - o.z) / d.z;
        if (o + t * d).truncate().length_squared() <= cone.radius() * cone.radius() {
            found[2] = Some(Crossing { t: shift + t, normal: -DVec3::Z, feature: 1 });
        }
    }
    let mut crossings = found.into_iter().flatten();
    let first = crossings.next()?;
    let (enter, leave) = crossings.fold((first, first), |(enter, leave), next| {
        (if next.t < enter.t { next } else { enter }, if next.t > leave.t { next } else { leave })
    });
    // Of a ray that starts inside and leaves through the rim, rounding may lose the way in.
    if enter.t == leave.t && enter.t > 0.0 && cone.contains(ray.origin()) {
        return Some([Crossing { t: f64::NEG_INFINITY, ..enter }, leave]);
    }
    Some([enter, leave])
}

/// Roots of a t² + 2 b t + c without cancellation; NaN or infinite where there is none.
fn quadratic_roots(a: f64, b: f64, c: f64) -> [f64; 2] {
    let discriminant = b * b - a * c;
    if !(discriminant >= 0.0) {
        return [f64::NAN; 2];
    }
    let q = -(b + discriminant.sqrt().copysign(b));
    [q / a, c / q]
}

/// Whether the ray hits the box within `max`.
pub(crate) fn may_hit(ray: &Ray, max: f64, bounds: &Aabb) -> bool {
    slab_interval(ray.origin(), ray.direction(), max, bounds).is_some()
}
