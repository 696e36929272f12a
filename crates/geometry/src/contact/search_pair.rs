//! Any two bounded shapes: nearest points by search, then the facets that look along their normal.

use glam::DVec3;

use super::facet::{Facet, SURFACE, Window, edge_code, vertex_code};
use super::frame::Frame;
use super::patch::Patch;
use super::polytope::FlatTriangle;
use super::polytope_pair::facing;
use super::second_look::second_look;
use super::surface_facet::facet_of;
use super::{Manifold, PieceCache};
use crate::Pose;
use crate::closest::{ClosestError, ConvexShape, GjkCache, Separation, Support, Triangle, signed_distance};

/// A shape to search on and to take facets of.
pub(super) trait Faced: Support {
    /// The same as a shape of many kinds, if it is one.
    fn as_shape(&self) -> Option<&ConvexShape<'_>> {
        None
    }

    /// The facet that looks along a direction, in the frame of the window.
    fn facet(&self, frame: &Frame, outward: DVec3, window: &Window) -> Facet;
}

impl Faced for ConvexShape<'_> {
    fn as_shape(&self) -> Option<&ConvexShape<'_>> {
        Some(self)
    }

    fn facet(&self, frame: &Frame, outward: DVec3, window: &Window) -> Facet {
        facet_of(self, frame, outward, window)
    }
}

impl Faced for FlatTriangle {
    fn facet(&self, frame: &Frame, outward: DVec3, window: &Window) -> Facet {
        let d = frame.vector_in_b(outward);
        facing(self, d, window, |v| frame.vector(v), |p| frame.point(p))
    }
}

/// A triangle without area is its longest side.
impl Faced for Triangle {
    fn facet(&self, frame: &Frame, _outward: DVec3, window: &Window) -> Facet {
        let length = |i: usize| self.0[i].distance_squared(self.0[(i + 1) % 3]);
        let longest = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
        let (from, to) = (longest, (longest + 1) % 3);
        let ends = [from, to].map(|i| frame.point(self.0[i]));
        Facet::segment(window, ends, [from, to].map(|i| vertex_code(i as u32)), edge_code(longest as u32))
    }
}

/// (A, B, B in A's frame, margin, cache) ⇒ manifold of the points nearer than the margin.
pub(super) fn collide<A: Faced, B: Faced>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let nearest = nearest(a, b, b_in_a, frame, &mut cache.gjk)?;
    Ok((nearest.distance <= margin).then(|| along(a, b, frame, margin, &nearest)))
}

/// Nearest points, with a second look at a depth.
pub(super) fn nearest<A: Faced, B: Faced>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    frame: &Frame,
    cache: &mut GjkCache,
) -> Result<Separation, ClosestError> {
    let first = signed_distance(a, b, b_in_a, cache)?;
    Ok(match (a.as_shape(), b.as_shape()) {
        (Some(a), Some(b)) if first.distance < 0.0 => second_look(a, b, frame, first),
        _ => first,
    })
}

/// Nearest points ⇒ manifold along their normal.
pub(super) fn along<A: Faced, B: Faced>(
    a: &A,
    b: &B,
    frame: &Frame,
    margin: f64,
    nearest: &Separation,
) -> Manifold {
    let n = nearest.normal;
    let window = Window::new(n, nearest.point_a);
    let facet_a = a.facet(&Frame::IDENTITY, n, &window);
    let facet_b = b.facet(frame, -n, &window);
    let mut patch = Patch::new(&facet_a, &facet_b, margin);
    patch.manifold_with(&window, &facet_a, &facet_b, nearest, [SURFACE; 2])
}
