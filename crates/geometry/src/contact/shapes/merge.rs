//! Manifolds of many triangles that lie nearly in one plane, as one.
//!
//! The deepest manifold not yet taken leads; all whose normals lie within the merge angle of its normal join
//! it. Their points keep their places on both bodies and take their separation along the leader's normal.

use super::cache::Workspace;
use crate::contact::Manifold;
use crate::contact::reduce::widest_first;

/// Names of points of different triangles must not coincide.
pub(super) fn name(parts: [u32; 2], id: u32) -> u32 {
    let mixed = (parts[0].wrapping_mul(0x9E37_79B1) ^ parts[1].wrapping_mul(0x85EB_CA6B)).rotate_left(13);
    (mixed ^ id).wrapping_mul(0xC2B2_AE35)
}

/// Replaces `work.raw` by the merged manifolds, each of at most four points.
pub(super) fn merge(work: &mut Workspace, angle: f64) {
    let limit = angle.cos();
    for manifold in &mut work.raw {
        let parts = manifold.parts;
        manifold.points_mut().iter_mut().for_each(|point| point.id = name(parts, point.id));
    }
    if angle == 0.0 {
        return;
    }
    work.merged.clear();
    while let Some(leader) = leader(&work.raw) {
        let mut joined = Manifold::new(leader.normal);
        joined.parts = leader.parts;
        work.points.clear();
        let points = &mut work.points;
        work.raw.retain(|manifold| {
            // The leader itself, regardless of rounding.
            if manifold.normal.dot(leader.normal) < limit && manifold.normal != leader.normal {
                return true;
            }
            points.extend(manifold.points().iter().map(|point| {
                let separation = leader.normal.dot(point.point_b - point.point_a);
                crate::contact::ContactPoint { separation, ..*point }
            }));
            false
        });
        let kept = widest_first(points, leader.normal);
        for &point in &points[..kept] {
            joined.push(point);
        }
        work.merged.push(joined);
    }
    std::mem::swap(&mut work.raw, &mut work.merged);
}

/// The manifold with the deepest point, the first of equal ones.
fn leader(raw: &[Manifold]) -> Option<Manifold> {
    let depth = |manifold: &Manifold| manifold.deepest().map_or(f64::INFINITY, |point| point.separation);
    let mut best: Option<(f64, &Manifold)> = None;
    for manifold in raw {
        let here = depth(manifold);
        if best.is_none_or(|(known, _)| here < known) {
            best = Some((here, manifold));
        }
    }
    best.map(|(_, manifold)| *manifold)
}
