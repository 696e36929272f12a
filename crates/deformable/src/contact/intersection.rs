//! Which edges pass through which triangles, decided exactly: an oracle for whole runs, independent of distances and barriers.
//!
//! An edge pq crosses the triangle abc if p and q lie on different sides of its plane and the three tetrahedra pqab, pqbc, pqca
//! have one orientation. Signs are those of exact arithmetic (J. Shewchuk 1997, crate `robust`). A point exactly on the
//! plane counts as on either side; then the answer is that of the distance being zero to rounding.

use glam::DVec3;
use robust::{Coord3D, orient3d};

use super::FeaturePair;
use super::distance::nearest;
use super::tree::{Box32, Tree};

/// An edge that passes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeThroughTriangle {
    /// Ends of the edge.
    pub edge: [u32; 2],
    /// Corners of the triangle.
    pub triangle: [u32; 3],
}

fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
    orient3d(a, b, c, d)
}

fn crosses([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let (sp, sq) = (side(a, b, c, p), side(a, b, c, q));
    if sp * sq > 0.0 && sp.signum() == sq.signum() {
        return false;
    }
    let s = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    if s.iter().any(|&s| s > 0.0) && s.iter().any(|&s| s < 0.0) {
        return false;
    }
    if sp != 0.0 && sq != 0.0 && s.iter().all(|&s| s != 0.0) {
        return true;
    }
    // A degenerate position: they meet if their distance is zero.
    let size = [q, a, b, c].iter().map(|x| x.distance(p)).fold(0.0, f64::max);
    let mut distance = f64::INFINITY;
    for end in [p, q] {
        distance = distance.min(nearest(FeaturePair::VertexFace, &[end, a, b, c]).offset.length());
    }
    for [u, v] in [[a, b], [b, c], [c, a]] {
        distance = distance.min(nearest(FeaturePair::EdgeEdge, &[p, q, u, v]).offset.length());
    }
    distance <= 1e-12 * size
}

/// All edges that pass through triangles with which they share no point.
///
/// ```
/// use glam::DVec3;
/// use rattleback_deformable::contact::intersections;
/// let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 1.0)];
/// assert_eq!(intersections(&x, &[[3, 4]], &[[0, 1, 2]]).len(), 1);
/// ```
pub fn intersections(x: &[DVec3], edges: &[[u32; 2]], triangles: &[[u32; 3]]) -> Vec<EdgeThroughTriangle> {
    let at = |p: u32| x.get(p as usize).copied().unwrap_or(DVec3::NAN);
    let bounds = |points: &[u32]| {
        let (low, high) = points
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &p| (l.min(at(p)), h.max(at(p))));
        Box32::around(low, high)
    };
    let places: Vec<DVec3> = triangles.iter().map(|t| (at(t[0]) + at(t[1]) + at(t[2])) / 3.0).collect();
    let mut tree = Tree::new(&places);
    tree.refit(1, |i| bounds(&triangles[i as usize]));
    let mut found = Vec::new();
    for &edge in edges {
        let around = bounds(&edge);
        tree.query(&around, 0, |from, to| {
            for k in from..to {
                let triangle = triangles[tree.order[k] as usize];
                if tree.boxes[k].overlaps(&around)
                    && !triangle.iter().any(|p| edge.contains(p))
                    && crosses(edge.map(at), triangle.map(at))
                {
                    found.push(EdgeThroughTriangle { edge, triangle });
                }
            }
        });
    }
    found.sort_by_key(|hit| (hit.edge, hit.triangle));
    found
}
