//! Whether two features are nearest still, by the definition.
//!
//! Two features of disjoint convex polyhedra are nearest if each one's nearest point lies in the Voronoi
//! region of the other. While shapes move little that is so most of the time, and takes one test of each
//! region's planes. The test may be conservative: pairs that fail it are walked (see `vclip`), and the walk
//! decides.

use glam::DVec3;

use super::Feature;
use super::feature_map::{EdgeRegion, FeatureMap};
use super::feature_pair::{Side, edge_points, seen};
use super::vclip::{Step, vertex_face};

/// Two features ⇒ their nearest points in A's frame, if they are the nearest features.
#[inline]
pub(super) fn still_nearest(sides: &[Side<'_>; 2], features: [Feature; 2]) -> Option<(DVec3, DVec3)> {
    let [a, b] = sides;
    match features {
        [Feature::Vertex(v), Feature::Vertex(w)] => {
            let (p, q) = (a.map.vertex(v), a.point(b.map.vertex(w)));
            let holds = vertex_holds(a.map, v, q) && vertex_holds(b.map, w, b.point(p));
            holds.then_some((p, q))
        }
        [Feature::Vertex(v), Feature::Edge(e)] => {
            let q = a.point(vertex_and_edge(a, b, v, e)?);
            Some((a.map.vertex(v), q))
        }
        [Feature::Edge(e), Feature::Vertex(v)] => {
            let p = vertex_and_edge(b, a, v, e)?;
            Some((p, a.point(b.map.vertex(v))))
        }
        [Feature::Edge(e), Feature::Edge(g)] => {
            let (edge, other) = (a.map.edge(e), b.map.edge(g));
            let (p, q) = edge_points([edge.tail, edge.direction], edge.length, seen(a, other));
            (edge_holds(edge, q) && edge_holds(other, b.point(p))).then_some((p, q))
        }
        [Feature::Vertex(v), Feature::Face(f)] => {
            let Step::Done = vertex_face(a, b, v, f) else { return None };
            let p = a.map.vertex(v);
            Some((p, p - b.map.height(f, b.point(p)) * a.vector(b.map.normal(f))))
        }
        [Feature::Face(f), Feature::Vertex(v)] => {
            let Step::Done = vertex_face(b, a, v, f) else { return None };
            let q = a.point(b.map.vertex(v));
            Some((q - a.map.height(f, q) * a.map.normal(f), q))
        }
        _ => None,
    }
}

/// Vertex of `a`, edge of `b` ⇒ the edge's nearest point in `b`'s frame, if they are nearest.
#[inline]
fn vertex_and_edge(a: &Side<'_>, b: &Side<'_>, v: u32, e: u32) -> Option<DVec3> {
    let edge = b.map.edge(e);
    let p = b.point(a.map.vertex(v));
    let q = edge.tail + (p - edge.tail).dot(edge.direction) * edge.direction;
    (edge_holds(edge, p) && vertex_holds(a.map, v, a.point(q))).then_some(q)
}

#[inline]
fn vertex_holds(map: &FeatureMap, v: u32, p: DVec3) -> bool {
    let from = p - map.vertex(v);
    // All planes rather than the first that excludes: no branch to mispredict.
    map.vertex_planes(v).iter().fold(true, |holds, plane| holds & (plane.away.dot(from) <= 0.0))
}

#[inline]
fn edge_holds(edge: &EdgeRegion, p: DVec3) -> bool {
    let from = p - edge.tail;
    let along = from.dot(edge.direction);
    let [left, right] = edge.into_faces.map(|into| into.dot(from) <= 0.0);
    (0.0..=edge.length).contains(&along) && left && right
}
