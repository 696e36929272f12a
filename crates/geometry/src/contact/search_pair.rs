//! Any two bounded shapes: nearest points by search, then the facets that face along their normal.

use glam::DVec3;

use super::facet::{Facet, SURFACE, Window, edge_code, vertex_code};
use super::flat_pair::{self, Flat};
use super::patch::lay_over_witness;
use super::polytope::FlatTriangle;
use super::polytope_pair::facing;
use super::refined_depth::{TOUCHING, refine_depth};
use super::round::single;
use super::surface_facet::facet_of;
use super::{Manifold, PieceCache, segment_box};
use crate::Pose;
use crate::closest::{ClosestError, ConvexShape, GjkCache, Separation, Support, signed_distance};
use crate::frame::Frame;
use crate::primitive::Triangle;

/// A shape to search on and to take facets of.
pub(super) trait Faced: Support {
    /// The same as a shape of many kinds, if it is one.
    fn as_shape(&self) -> Option<&ConvexShape<'_>> {
        None
    }

    /// The facet that faces along a direction, in the frame of the window.
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
        let corners = self.corners();
        let length = |i: usize| corners[i].distance_squared(corners[(i + 1) % 3]);
        let longest = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j))).unwrap_or(0);
        let (from, to) = (longest, (longest + 1) % 3);
        let ends = [from, to].map(|i| frame.point(corners[i]));
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
    let nearest = match at_once(a, b, frame, margin) {
        Flat::Apart => return Ok(None),
        Flat::Proved(nearest) => nearest,
        Flat::Unknown => self::nearest(a, b, b_in_a, frame, &mut cache.gjk)?,
    };
    Ok((nearest.distance <= margin).then(|| along(a, b, frame, margin, &nearest)))
}

/// Result without a search, if one of the closed forms applies.
#[inline]
fn at_once<A: Faced, B: Faced>(a: &A, b: &B, frame: &Frame, margin: f64) -> Flat {
    let (Some(a), Some(b)) = (a.as_shape(), b.as_shape()) else { return Flat::Unknown };
    let found = match (a, b) {
        (ConvexShape::Cuboid(cuboid), ConvexShape::Capsule(capsule)) => {
            let half = DVec3::Z * (0.5 * capsule.height());
            let [point_a, point_b] =
                segment_box::nearest(cuboid.half_extents(), [-half, half].map(|p| frame.point(p)));
            thickened(point_a, point_b, [0.0, capsule.radius()])
        }
        (ConvexShape::Capsule(capsule), ConvexShape::Cuboid(cuboid)) => {
            let half = DVec3::Z * (0.5 * capsule.height());
            let ends = [-half, half].map(|p| frame.point_in_b(p));
            let [point_b, point_a] =
                segment_box::nearest(cuboid.half_extents(), ends).map(|p| frame.point(p));
            thickened(point_a, point_b, [capsule.radius(), 0.0])
        }
        // A search is as fast as testing the faces.
        (ConvexShape::Convex(_), ConvexShape::Capsule(_))
        | (ConvexShape::Capsule(_), ConvexShape::Convex(_)) => {
            return Flat::Unknown;
        }
        _ => None,
    };
    match found {
        Some(nearest) => Flat::Proved(nearest),
        None => flat_pair::nearest(a, b, frame, margin),
    }
}

/// Nearest points of cores and their radii ⇒ nearest points of the shapes; None if the cores all but touch.
#[inline]
fn thickened(point_a: DVec3, point_b: DVec3, radii: [f64; 2]) -> Option<Separation> {
    let between = point_b - point_a;
    let distance = between.length();
    // The direction is lost in rounding otherwise.
    (distance > 1e-6 * (point_a.abs().max_element() + point_b.abs().max_element())).then(|| {
        let normal = between / distance;
        Separation {
            distance: distance - radii[0] - radii[1],
            normal,
            point_a: point_a + radii[0] * normal,
            point_b: point_b - radii[1] * normal,
        }
    })
}

/// Nearest points by search, with a refined depth where cores overlap or nearly do. Of flat parts that lie on
/// each other it finds points well inside, where the early exit would return a corner.
#[inline(never)]
pub(super) fn nearest<A: Faced, B: Faced>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    frame: &Frame,
    cache: &mut GjkCache,
) -> Result<Separation, ClosestError> {
    let first = match (a.as_shape(), b.as_shape()) {
        (Some(ConvexShape::Convex(a)), Some(ConvexShape::Capsule(b))) => {
            signed_distance(*a, *b, b_in_a, cache)?
        }
        (Some(ConvexShape::Capsule(a)), Some(ConvexShape::Convex(b))) => {
            signed_distance(*a, *b, b_in_a, cache)?
        }
        _ => signed_distance(a, b, b_in_a, cache)?,
    };
    let of_cores = first.distance + a.radius() + b.radius();
    Ok(match (a.as_shape(), b.as_shape()) {
        (Some(a), Some(b)) if of_cores <= TOUCHING * first.point_a.abs().max_element() => {
            refine_depth(a, b, frame, first)
        }
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
    // Contact in a point has a facet of one point.
    let facet_b = b.facet(frame, -n, &window);
    if facet_b.count == 1 {
        return single(nearest);
    }
    let facet_a = a.facet(&Frame::IDENTITY, n, &window);
    if facet_a.count == 1 {
        return single(nearest);
    }
    lay_over_witness(&window, &facet_a, &facet_b, margin, nearest, [SURFACE; 2])
}
