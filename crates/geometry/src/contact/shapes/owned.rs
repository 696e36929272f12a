//! Which normals a triangle may give, its neighbours being what they are.
//!
//! A body touches a surface at a point p along the unit vector n only if the surface near p falls away from
//! n: for every direction t in which the surface leaves p, t·n ≤ 0. On a face that leaves n = ±N; at an edge
//! the arc between the two faces' normals, empty if the surface rises over it; at a corner the cone {n :
//! e·n ≤ 0 for every edge e that leaves it}. A triangle on its own, without its neighbours, yields normals
//! outside of these: ghost collisions that stop a body as it slides from one triangle to the next. Such
//! contacts are treated as follows:
//!
//! - the surface goes on flat or rises, or the normal comes from the side: the face supports the body, along
//!   its own N;
//! - the surface bends back: the contact belongs to the neighbour, which has its own chance.

use glam::DVec3;

use super::surface::Surface;

/// t·n up to this much above zero still falls away.
const FALLS: f64 = 1e-8;
/// Sine of the fold (20°) from which a convex edge is sharp.
const SHARP: f64 = 0.342;
/// Cosine from which a normal comes from the front.
const FRONTAL: f64 = 0.5;
/// A normal nearer to the face's than this (1 − cos, 4.5e-7 rad) is the face's.
pub(super) const FACE: f64 = 1e-13;
/// A point nearer to an edge than this part of the triangle's size lies on it.
pub(super) const ON_EDGE: f64 = 1e-7;

/// Treatment of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalClass {
    /// Its normal is that of the face.
    OnFace,
    /// Its normal lies where an edge or corner may have it.
    Owned,
    /// To be taken anew along the face's normal.
    Snap,
    /// The neighbour's business.
    Foreign,
}

/// (surface, triangle's number, corners, unit normal on the touched side, normal of the contact, point on the
/// triangle)
pub(super) fn classify_normal(
    surface: &Surface<'_>,
    i: u32,
    triangle: &[DVec3; 3],
    facing: DVec3,
    normal: DVec3,
    p: DVec3,
) -> NormalClass {
    if 1.0 - normal.dot(facing) <= FACE {
        return NormalClass::OnFace;
    }
    // Seen from the front a contact over a convex edge is the neighbour's; one from the side comes of a depth
    // larger than the triangle, which the neighbours do not report either.
    let frontal = normal.dot(facing) > FRONTAL;
    let rejected = |edges: &[usize], w: DVec3, from: DVec3| {
        let bends_back = facing.dot(w - from) < -FALLS * (w - from).length();
        let sharp = edges.iter().any(|&edge| is_sharp(surface, i, triangle, facing, edge));
        if sharp || (frontal && bends_back) { NormalClass::Foreign } else { NormalClass::Snap }
    };
    let size_squared =
        (0..3).map(|k| triangle[k].distance_squared(triangle[(k + 1) % 3])).fold(0.0, f64::max);
    // All compared without roots.
    let near_squared = ON_EDGE * ON_EDGE * size_squared;
    let corner = (0..3).find(|&k| triangle[k].distance_squared(p) <= near_squared);
    if let Some(k) = corner {
        let riser = riser_at_corner(surface, i, k, triangle[k], normal);
        return riser.map_or(NormalClass::Owned, |w| rejected(&[k, (k + 2) % 3], w, triangle[k]));
    }
    let mut verdict = NormalClass::Snap;
    for k in 0..3 {
        let inward = facing.cross(triangle[(k + 1) % 3] - triangle[k]);
        if inward.dot(p - triangle[k]).powi(2) > near_squared * inward.length_squared() {
            continue;
        }
        verdict = NormalClass::Owned;
        if let Some(arm) = riser_over_edge(surface, i, k, triangle, normal) {
            return rejected(&[k], triangle[k] + arm, triangle[k]);
        }
    }
    verdict
}

/// A neighbour of corner k of triangle i, at v, towards which the surface does not fall away from the normal.
#[inline]
pub(super) fn riser_at_corner(
    surface: &Surface<'_>,
    i: u32,
    k: usize,
    v: DVec3,
    normal: DVec3,
) -> Option<DVec3> {
    let mut riser = None;
    surface.all_around(i, k, |w| {
        let falls = (w - v).dot(normal) <= FALLS * (w - v).length();
        if !falls {
            riser = Some(w);
        }
        falls
    });
    riser
}

/// How the surface continues over edge k of triangle i, if it does not fall away from the normal.
#[inline]
pub(super) fn riser_over_edge(
    surface: &Surface<'_>,
    i: u32,
    k: usize,
    triangle: &[DVec3; 3],
    normal: DVec3,
) -> Option<DVec3> {
    let arm = (surface.across(i, k)? - triangle[k]).reject_from(triangle[(k + 1) % 3] - triangle[k]);
    (arm.dot(normal) > FALLS * arm.length()).then_some(arm)
}

/// Whether the surface bends back sharply over an edge.
fn is_sharp(surface: &Surface<'_>, i: u32, triangle: &[DVec3; 3], facing: DVec3, k: usize) -> bool {
    let Some(w) = surface.across(i, k) else { return false };
    let (p, q) = (triangle[k], triangle[(k + 1) % 3]);
    let arm = (w - p).reject_from(q - p);
    let own = (triangle[(k + 2) % 3] - p).reject_from(q - p);
    let rise = facing.dot(arm);
    // Beyond a right angle the arm comes back over the own side.
    rise < -SHARP * arm.length() || (rise < 0.0 && own.dot(arm) > 0.0)
}
