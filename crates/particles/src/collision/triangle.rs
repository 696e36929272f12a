//! A moving sphere and a triangle at rest.
//!
//! Centre c(s) = c₀ + s d, radius r. The sphere touches the triangle first at its interior (the plane shifted by
//! r towards the centre), on an edge (ray against a cylinder of radius r, within the ends) or at a corner (ray
//! against a sphere). The earliest counts; interior before edge before corner at equal times. A sphere that
//! overlaps the triangle at the start hits at s = 0 if it comes nearer.

use glam::DVec3;
use rattleback_geometry::primitive::Triangle;

/// Part of a triangle that is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// Interior.
    Face,
    /// Edge from corner k to corner k + 1.
    Edge(u8),
    /// Corner.
    Vertex(u8),
}

/// When a particle touches a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleHit {
    /// s ∈ [0, 1].
    pub time: f64,
    /// Unit vector from the touched point to the centre; for a point particle the face normal against the motion.
    pub normal: DVec3,
    /// Touched point of the triangle.
    pub point: DVec3,
    /// Where on the triangle.
    pub feature: Feature,
}

/// (start, displacement, radius, triangle) ⇒ first contact with s ∈ [0, 1] at which they approach.
pub fn swept_particle_triangle(c: DVec3, d: DVec3, r: f64, triangle: &Triangle) -> Option<TriangleHit> {
    let corners = triangle.corners();
    let nearest = triangle.closest_point(c);
    let out = c - nearest;
    if r > 0.0 && out.length() <= r {
        let normal = out.try_normalize().or_else(|| facing(triangle, d))?;
        let hit = TriangleHit { time: 0.0, normal, point: nearest, feature: Feature::Face };
        return (normal.dot(d) < 0.0).then_some(hit);
    }
    let mut best: Option<(f64, Feature)> = None;
    let mut offer = |time: Option<f64>, feature: Feature| {
        if let Some(time) = time.filter(|t| (0.0..=1.0).contains(t))
            && best.is_none_or(|(known, _)| time < known)
        {
            best = Some((time, feature));
        }
    };
    if let Some(normal) = triangle.normal() {
        let side = if normal.dot(c - corners[0]) < 0.0 { -normal } else { normal };
        let closing = -side.dot(d);
        if closing > 0.0 {
            let time = (side.dot(c - corners[0]) - r) / closing;
            let foot = c + time * d - r * side;
            offer(inside(triangle, foot).then_some(time), Feature::Face);
        }
    }
    if r > 0.0 {
        for k in 0..3 {
            let (start, edge) = (corners[k], corners[(k + 1) % 3] - corners[k]);
            let time = ray_cylinder(c - start, d, edge, r);
            offer(time, Feature::Edge(k as u8));
        }
        for k in 0..3 {
            offer(ray_sphere(c - corners[k], d, r), Feature::Vertex(k as u8));
        }
    }
    let (time, feature) = best?;
    let center = c + time * d;
    let point = match feature {
        Feature::Vertex(k) => corners[k as usize],
        _ => triangle.closest_point(center),
    };
    let normal = if r > 0.0 { (center - point).try_normalize() } else { None };
    let normal = normal.or_else(|| facing(triangle, d))?;
    Some(TriangleHit { time, normal, point, feature })
}

/// Face normal on the side that a displacement comes from.
fn facing(triangle: &Triangle, d: DVec3) -> Option<DVec3> {
    let normal = triangle.normal()?;
    Some(if normal.dot(d) > 0.0 { -normal } else { normal })
}

/// Whether a point of the plane lies in the triangle.
fn inside(triangle: &Triangle, p: DVec3) -> bool {
    triangle.barycentric(p).is_some_and(|w| w.min_element() >= -1e-12)
}

/// |p + s d| = r ⇒ first s from outside, approaching.
fn ray_sphere(p: DVec3, d: DVec3, r: f64) -> Option<f64> {
    let (f2, h, f0) = (d.length_squared(), p.dot(d), p.length_squared() - r * r);
    let discriminant = h * h - f2 * f0;
    (f0 >= 0.0 && h < 0.0 && discriminant >= 0.0).then(|| f0 / (-h + discriminant.sqrt()))
}

/// Distance r from the segment 0 to e, without its ends ⇒ first s from outside, approaching.
fn ray_cylinder(p: DVec3, d: DVec3, e: DVec3, r: f64) -> Option<f64> {
    let e2 = e.length_squared();
    if !(e2 > 0.0) {
        return None;
    }
    let (p_across, d_across) = (p - (p.dot(e) / e2) * e, d - (d.dot(e) / e2) * e);
    let time = ray_sphere(p_across, d_across, r)?;
    let along = (p + time * d).dot(e) / e2;
    (0.0..=1.0).contains(&along).then_some(time)
}
