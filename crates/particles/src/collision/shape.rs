//! A moving sphere and a shape at rest.
//!
//! The distance of a point from a convex solid is a convex function along a line. With g(s) = distance(c(s)) − r
//! and slope g′ = n·d, Newton's method s ← s − g/g′ from outside therefore never passes the first root, and if
//! g′ ≥ 0 there is none. Compounds go part by part, meshes and terrain triangle by triangle.

use std::ops::ControlFlow;

use glam::DVec3;
use rattleback_geometry::hierarchy::Scratch;
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::{Aabb, Shape};

use super::swept_particle_triangle;

/// When a particle touches a shape, in the frame of the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeHit {
    /// s ∈ [0, 1].
    pub time: f64,
    /// Unit vector out of the shape.
    pub normal: DVec3,
    /// Touched point of the shape.
    pub point: DVec3,
}

/// Newton steps at most; convergence is quadratic but for grazing.
const MAX_NEWTON: u32 = 64;

/// (start, displacement, radius, shape), in the frame of the shape ⇒ first contact with s ∈ [0, 1] at which they
/// approach.
pub fn swept_particle_shape(
    c: DVec3,
    d: DVec3,
    r: f64,
    shape: &Shape,
    scratch: &mut Scratch,
) -> Option<ShapeHit> {
    match shape {
        Shape::HalfSpace(plane) => {
            let normal = plane.normal();
            let (gap, closing) = (normal.dot(c) - r, -normal.dot(d));
            if !(closing > 0.0 && gap <= closing) {
                return None;
            }
            let time = (gap / closing).max(0.0);
            let center = c + time * d;
            Some(ShapeHit { time, normal, point: center - normal.dot(center) * normal })
        }
        Shape::Compound(compound) => {
            let mut first: Option<ShapeHit> = None;
            for (pose, part) in compound.parts() {
                let (start, along) = (pose.inverse_point(c), pose.inverse_vector(d));
                if let Some(hit) = swept_particle_shape(start, along, r, part, scratch)
                    && first.is_none_or(|known| hit.time < known.time)
                {
                    let (normal, point) = (pose.vector(hit.normal), pose.point(hit.point));
                    first = Some(ShapeHit { normal, point, ..hit });
                }
            }
            first
        }
        Shape::Mesh(mesh) => {
            let (tree, query) = (mesh.tree().ok()?, swept_box(c, d, r)?);
            let mut first = None;
            tree.triangles_in_box(&query, scratch, |i| {
                offer(&mut first, c, d, r, mesh.triangle(i as usize), i);
                ControlFlow::Continue(())
            });
            first.map(|(hit, _)| hit)
        }
        Shape::HeightField(field) => {
            let mut first = None;
            field
                .triangles_in_box(&swept_box(c, d, r)?, |i| offer(&mut first, c, d, r, field.triangle(i), i));
            first.map(|(hit, _)| hit)
        }
        convex => swept_particle_convex(c, d, r, convex),
    }
}

/// Box around the sphere along its whole way.
fn swept_box(c: DVec3, d: DVec3, r: f64) -> Option<Aabb> {
    // Slightly larger than needed, so that triangles in its faces are found.
    let margin = r + 1e-9 * (r + d.length()) + f64::MIN_POSITIVE;
    Aabb::from_points([c, c + d]).ok()?.enlarged(margin).ok()
}

/// Keeps the earlier of two hits, the triangle of the lower index at equal times.
fn offer(first: &mut Option<(ShapeHit, u32)>, c: DVec3, d: DVec3, r: f64, corners: [DVec3; 3], index: u32) {
    if let Some(hit) = swept_particle_triangle(c, d, r, &Triangle::from(corners)) {
        let earlier = |known: &(ShapeHit, u32)| (hit.time, index) < (known.0.time, known.1);
        if first.as_ref().is_none_or(earlier) {
            *first = Some((ShapeHit { time: hit.time, normal: hit.normal, point: hit.point }, index));
        }
    }
}

fn swept_particle_convex(c: DVec3, d: DVec3, r: f64, shape: &Shape) -> Option<ShapeHit> {
    let mut time = 0.0;
    let length = d.length();
    for _ in 0..MAX_NEWTON {
        let center = c + time * d;
        let near = shape.closest_point(center)?;
        let (gap, slope) = (near.distance - r, near.normal.dot(d));
        if !(slope < 0.0) {
            return None;
        }
        if gap <= 1e-13 * (r + length) || time >= 1.0 {
            return (time <= 1.0 && gap <= 1e-9 * (r + length)).then_some(ShapeHit {
                time,
                normal: near.normal,
                point: near.point,
            });
        }
        time = (time + gap / -slope).min(1.0);
    }
    // A grazing path: contact is approached from one side, and this is as near as it got.
    let near = shape.closest_point(c + time * d)?;
    (near.distance - r <= 1e-9 * (r + length)).then_some(ShapeHit {
        time,
        normal: near.normal,
        point: near.point,
    })
}
