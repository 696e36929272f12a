//! Nearest points of two features, each part of its polyhedron, with the polyhedra in their own frames.
//!
//! Two edges x = p + s u, y = q + t v with unit directions, w = p − q, n = u × v: the nearest points of the
//! lines differ along n, so s = −(w × v)·n/n². Clamped to the edge, s gives t = v·(w + s u), clamped, and
//! that s = u·(t v − w). Where the edges are parallel, the middle of their overlap serves. The textbook's 2×2
//! system has 1 − (u·v)² for n², which has lost half its digits where the edges are nearly parallel.

use glam::DVec3;

use super::feature_map::{EdgeRegion, FeatureMap};
use super::{ClosestError, Feature, Separation};
use crate::Pose;
use crate::frame::Frame;

/// Sine (squared) below which two edges are parallel.
const PARALLEL_SQUARED: f64 = 1e-24;

/// A polyhedron and how to bring the other's points into its frame.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) map: &'a FeatureMap,
    other: Frame,
}

impl Side<'_> {
    /// Point of the other ⇒ the same in this frame.
    #[inline]
    pub(super) fn point(&self, p: DVec3) -> DVec3 {
        self.other.point(p)
    }

    /// Direction of the other ⇒ the same in this frame.
    #[inline]
    pub(super) fn vector(&self, v: DVec3) -> DVec3 {
        self.other.vector(v)
    }
}

/// (A, B, B in A's frame) ⇒ both sides.
#[inline]
pub(super) fn sides<'a>(
    a: &'a FeatureMap,
    b: &'a FeatureMap,
    b_in_a: &Pose,
) -> Result<[Side<'a>; 2], ClosestError> {
    let frame = Frame::new(b_in_a)?;
    Ok([Side { map: a, other: frame }, Side { map: b, other: frame.inverse() }])
}

/// The features of a cache, with vertex 0 for numbers that do not exist.
#[inline]
pub(super) fn existing(sides: &[Side<'_>; 2], features: [Feature; 2]) -> [Feature; 2] {
    let has = |i: usize| if sides[i].map.has(features[i]) { features[i] } else { Feature::Vertex(0) };
    [has(0), has(1)]
}

/// Nearest points of two features, in A's frame. Faces are taken as planes.
#[inline]
pub(super) fn nearest_points(sides: &[Side<'_>; 2], features: [Feature; 2]) -> (DVec3, DVec3) {
    let [a, b] = sides;
    match features {
        [Feature::Vertex(v), Feature::Vertex(w)] => (a.map.vertex(v), a.point(b.map.vertex(w))),
        [Feature::Vertex(v), Feature::Edge(e)] => {
            let p = a.map.vertex(v);
            let (tail, direction, length) = seen(a, b.map.edge(e));
            (p, tail + (p - tail).dot(direction).clamp(0.0, length) * direction)
        }
        [Feature::Edge(e), Feature::Vertex(v)] => {
            let (edge, p) = (a.map.edge(e), a.point(b.map.vertex(v)));
            let along = (p - edge.tail).dot(edge.direction).clamp(0.0, edge.length);
            (edge.tail + along * edge.direction, p)
        }
        [Feature::Vertex(v), Feature::Face(f)] => {
            let p = a.map.vertex(v);
            let height = b.map.height(f, b.point(p));
            (p, p - height * a.vector(b.map.normal(f)))
        }
        [Feature::Face(f), Feature::Vertex(v)] => {
            let p = a.point(b.map.vertex(v));
            (p - a.map.height(f, p) * a.map.normal(f), p)
        }
        [Feature::Edge(e), Feature::Edge(g)] => {
            let edge = a.map.edge(e);
            edge_points([edge.tail, edge.direction], edge.length, seen(a, b.map.edge(g)))
        }
        [Feature::Edge(e), Feature::Face(f)] => {
            let edge = a.map.edge(e);
            let heights = [edge.tail, edge.head()].map(|p| b.map.height(f, b.point(p)));
            let p = if heights[0].abs() <= heights[1].abs() { edge.tail } else { edge.head() };
            (p, p - heights[0].abs().min(heights[1].abs()).copysign(heights[0]) * a.vector(b.map.normal(f)))
        }
        [Feature::Face(f), _] => {
            let p = match features[1] {
                Feature::Edge(e) => {
                    let (tail, direction, length) = seen(a, b.map.edge(e));
                    let head = tail + length * direction;
                    let lower = a.map.height(f, tail).abs() <= a.map.height(f, head).abs();
                    if lower { tail } else { head }
                }
                Feature::Face(g) => a.point(b.map.edge(b.map.side_planes(g)[0].edge).tail),
                Feature::Vertex(v) => a.point(b.map.vertex(v)),
            };
            (p - a.map.height(f, p) * a.map.normal(f), p)
        }
    }
}

/// An edge of the other in this frame: tail, direction, length.
#[inline]
pub(super) fn seen(side: &Side<'_>, edge: &EdgeRegion) -> (DVec3, DVec3, f64) {
    (side.point(edge.tail), side.vector(edge.direction), edge.length)
}

/// Nearest points of two edges with unit directions.
#[inline]
pub(super) fn edge_points(
    [p, u]: [DVec3; 2],
    length_u: f64,
    (q, v, length_v): (DVec3, DVec3, f64),
) -> (DVec3, DVec3) {
    let w = p - q;
    let (c, uw, vw) = (u.dot(v), u.dot(w), v.dot(w));
    let n = u.cross(v);
    let sine_squared = n.length_squared();
    if sine_squared <= PARALLEL_SQUARED {
        let ends = [-uw, -uw + c * length_v];
        let low = ends[0].min(ends[1]).clamp(0.0, length_u);
        let high = ends[0].max(ends[1]).clamp(0.0, length_u);
        let s = 0.5 * (low + high);
        let t = (vw + c * s).clamp(0.0, length_v);
        return (p + s * u, q + t * v);
    }
    let s = (-w.cross(v).dot(n) / sine_squared).clamp(0.0, length_u);
    let t = (vw + c * s).clamp(0.0, length_v);
    let s = (c * t - uw).clamp(0.0, length_u);
    (p + s * u, q + t * v)
}

/// Separation of two nearest features. `last` is the normal to use where they touch and define none.
pub(super) fn separation(sides: &[Side<'_>; 2], features: [Feature; 2], last: DVec3) -> Separation {
    separation_of(sides, features, nearest_points(sides, features), last)
}

/// The same where the nearest points are known.
#[inline]
pub(super) fn separation_of(
    sides: &[Side<'_>; 2],
    features: [Feature; 2],
    (point_a, point_b): (DVec3, DVec3),
    last: DVec3,
) -> Separation {
    let gap = point_b - point_a;
    let length = gap.length();
    // From the features where they have a normal: near to each other, the points' difference is all rounding.
    let [a, b] = sides;
    let of_features = match features {
        [Feature::Face(f), _] => Some(a.map.normal(f)),
        [_, Feature::Face(f)] => Some(-a.vector(b.map.normal(f))),
        [Feature::Edge(e), Feature::Edge(g)] if length < 1e-6 * a.map.size().max(b.map.size()) => {
            let normal = a.map.edge(e).direction.cross(a.vector(b.map.edge(g).direction)).try_normalize();
            let outward = a.map.edge(e).faces.map(|f| a.map.normal(f)).into_iter().sum::<DVec3>();
            normal.map(|n| if n.dot(outward) < 0.0 { -n } else { n })
        }
        _ => None,
    };
    let inverse = length.recip();
    let along_gap = || (inverse.is_finite() && inverse > 0.0).then(|| gap * inverse);
    let normal = of_features.or_else(along_gap).unwrap_or(last);
    let distance = match features {
        [Feature::Face(_), _] | [_, Feature::Face(_)] => gap.dot(normal),
        _ => length,
    };
    Separation { distance, normal, point_a, point_b }
}
