//! Box, polyhedron or triangle against box, polyhedron or triangle.
//!
//! The axis of least overlap is exact (see `axis`). Clipped against each other along it, the facets that face
//! along it share the contact region. Apart, the axis may fall short of the true distance, where corners or
//! edges pass each other; it is the true one if the common part has a corner at that separation, since no two
//! points can be nearer than the separation along any axis. Otherwise the nearest points are searched for.

use glam::DVec3;

use super::axis::{Axis, Features, Found, MAX_FACES, Search};
use super::facet::{Facet, SURFACE, Window, edge_code, face_code, vertex_code};
use super::overlap::ALONG;
use super::patch::{joined, lay_over_axis, lay_over_witness};
use super::polytope::Polytope;
use super::{ContactPoint, Manifold, PieceCache};
use crate::Pose;
use crate::closest::{ClosestError, Separation, signed_distance};
use crate::frame::Frame;
use crate::primitive::{LineSegment, closest_segment_segment};

/// Cosine of the angle up to which a face beside a touching edge is laid over the other.
const BESIDE: f64 = 0.98;

/// (A, B, B in A's frame, margin, cache) ⇒ manifold of the points nearer than the margin.
pub(super) fn collide<A: Polytope, B: Polytope>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    if a.face_count() <= MAX_FACES && b.face_count() <= MAX_FACES {
        // Last time's axis may be as good as the best but not be the one that points of both are at; then
        // once more without.
        for (last, inner) in [(cache.features, cache.inner), (Features::None, None)] {
            match Search::new(a, b, frame, margin).run(last, inner) {
                Found::Apart(axis) => {
                    cache.features = axis.features;
                    return Ok(None);
                }
                Found::Best(axis) => {
                    if let Some(manifold) = along_axis(a, b, frame, margin, &axis) {
                        cache.remember(&manifold, axis.features, frame);
                        cache.spread = spread(a, b, frame, axis.features);
                        return Ok(Some(manifold));
                    }
                }
                Found::TooMany => break,
            }
            if last == Features::None {
                break;
            }
        }
    }
    search(a, b, b_in_a, frame, margin, cache)
}

/// Nearest points by search, then the facets along their normal.
#[inline(never)]
pub(super) fn search<A: Polytope, B: Polytope>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    let nearest = signed_distance(a, b, b_in_a, &mut cache.gjk)?;
    if !(nearest.distance <= margin) {
        cache.features = Features::None;
        return Ok(None);
    }
    let manifold = along_search(a, b, frame, margin, &nearest);
    cache.remember(&manifold, Features::None, frame);
    Ok(Some(manifold))
}

/// How much farther an axis turns than the solids that made it.
pub(super) fn spread<A: Polytope, B: Polytope>(a: &A, b: &B, frame: &Frame, features: Features) -> f64 {
    let Features::Edges(edge_a, edge_b) = features else { return 1.0 };
    let [from_a, to_a] = a.edge(edge_a as usize).ends.map(|vertex| a.vertex(vertex));
    let [from_b, to_b] = b.edge(edge_b as usize).ends.map(|vertex| b.vertex(vertex));
    let (along_a, along_b) = (to_a - from_a, frame.vector(to_b - from_b));
    let sine_squared =
        along_a.cross(along_b).length_squared() / (along_a.length_squared() * along_b.length_squared());
    1.1 / sine_squared.sqrt()
}

/// Axis ⇒ manifold; None if the common part does not prove the axis.
fn along_axis<A: Polytope, B: Polytope>(
    a: &A,
    b: &B,
    frame: &Frame,
    margin: f64,
    axis: &Axis,
) -> Option<Manifold> {
    let n = axis.normal;
    let (face_a, face_b, origin) = match axis.features {
        Features::FaceA(face, vertex) => {
            let incident = b.face_at(vertex, -frame.vector_in_b(n));
            (face as usize, incident, frame.point(b.vertex(vertex)))
        }
        Features::FaceB(face, vertex) => (a.face_at(vertex, n), face as usize, a.vertex(vertex)),
        Features::Edges(edge_a, edge_b) => return along_edges(a, b, frame, margin, axis, edge_a, edge_b),
        Features::None => return None,
    };
    let window = Window::new(n, origin);
    let facet_a = Facet::of_face(a, face_a, &window, a.plane(face_a).0, |p| p)?;
    let facet_b = Facet::of_face(b, face_b, &window, frame.vector(b.plane(face_b).0), |p| frame.point(p))?;
    lay_over_axis(&window, &facet_a, &facet_b, margin, axis.separation)
}

/// Two edges that cross; with the faces beside them if those all but lie on each other.
pub(super) fn along_edges<A: Polytope, B: Polytope>(
    a: &A,
    b: &B,
    frame: &Frame,
    margin: f64,
    axis: &Axis,
    edge_a: u32,
    edge_b: u32,
) -> Option<Manifold> {
    let n = axis.normal;
    let ends_a = a.edge(edge_a as usize).ends.map(|vertex| a.vertex(vertex));
    let ends_b = b.edge(edge_b as usize).ends.map(|vertex| frame.point(b.vertex(vertex)));
    let pair = closest_segment_segment(
        &LineSegment::new(ends_a[0], ends_a[1]),
        &LineSegment::new(ends_b[0], ends_b[1]),
    );
    let between = pair.point_b - pair.point_a;
    let size = (ends_a[1] - ends_a[0]).abs().max_element() + (ends_b[1] - ends_b[0]).abs().max_element();
    // The edges pass each other: then the axis is not theirs.
    if (between - axis.separation * n).abs().max_element() > 1e-9 * (size + axis.separation.abs()) {
        return None;
    }
    let witness =
        Separation { distance: axis.separation, normal: n, point_a: pair.point_a, point_b: pair.point_b };
    let id = [edge_code(edge_a), edge_code(edge_b)];
    let d = -frame.vector_in_b(n);
    let alone = |looks: f64| looks < BESIDE;
    if alone(facing_cosine(a, edge_a, n)) && alone(facing_cosine(b, edge_b, d)) && cross(&ends_a, &ends_b, n)
    {
        let mut manifold = Manifold::new(n);
        let (point_a, point_b, separation) = (pair.point_a, pair.point_b, axis.separation);
        manifold.push(ContactPoint { point_a, point_b, separation, id: joined(id) });
        return Some(manifold);
    }
    let window = Window::new(n, pair.point_a);
    let facet_a = beside(a, edge_a, n, &window, |v| v, |p| p);
    let facet_b = beside(b, edge_b, d, &window, |v| frame.vector(v), |p| frame.point(p));
    Some(lay_over_witness(&window, &facet_a, &facet_b, margin, &witness, id))
}

/// Largest cosine between a direction and the normals of the two faces beside an edge.
#[inline]
fn facing_cosine<P: Polytope>(solid: &P, edge: u32, direction: DVec3) -> f64 {
    let [left, right] =
        solid.edge(edge as usize).faces.map(|face| solid.plane(face as usize).0.dot(direction));
    left.max(right)
}

/// Whether two edges cross at an angle, seen along n, instead of lying along each other.
#[inline]
fn cross(ends_a: &[DVec3; 2], ends_b: &[DVec3; 2], n: DVec3) -> bool {
    let (along_a, along_b) = (ends_a[1] - ends_a[0], ends_b[1] - ends_b[0]);
    let sine = along_a.cross(along_b).dot(n);
    sine * sine > (ALONG * ALONG) * along_a.length_squared() * along_b.length_squared()
}

/// The face beside an edge that faces along a direction, or else the edge.
fn beside<P: Polytope>(
    solid: &P,
    edge: u32,
    direction: DVec3,
    window: &Window,
    turn: impl Fn(DVec3) -> DVec3,
    place: impl Fn(DVec3) -> DVec3,
) -> Facet {
    let side = solid.edge(edge as usize);
    let looks = |face: u32| solid.plane(face as usize).0.dot(direction);
    let [left, right] = side.faces;
    let face = if looks(left) >= looks(right) { left } else { right };
    if looks(face) >= BESIDE
        && let Some(facet) =
            Facet::of_face(solid, face as usize, window, turn(solid.plane(face as usize).0), &place)
    {
        return facet;
    }
    let ends = side.ends.map(|vertex| place(solid.vertex(vertex)));
    Facet::segment(window, ends, side.ends.map(vertex_code), edge_code(edge))
}

/// Nearest points ⇒ manifold along their normal.
pub(super) fn along_search<A: Polytope, B: Polytope>(
    a: &A,
    b: &B,
    frame: &Frame,
    margin: f64,
    nearest: &Separation,
) -> Manifold {
    let n = nearest.normal;
    let window = Window::new(n, nearest.point_a);
    let facet_a = facing(a, n, &window, |v| v, |p| p);
    let facet_b = facing(b, -frame.vector_in_b(n), &window, |v| frame.vector(v), |p| frame.point(p));
    lay_over_witness(&window, &facet_a, &facet_b, margin, nearest, [SURFACE; 2])
}

/// The face that faces along a direction where the solid is farthest along it, or the corner there.
pub(super) fn facing<P: Polytope>(
    solid: &P,
    direction: DVec3,
    window: &Window,
    turn: impl Fn(DVec3) -> DVec3,
    place: impl Fn(DVec3) -> DVec3,
) -> Facet {
    let vertex = solid.farthest_vertex(direction, 0);
    let face = solid.face_at(vertex, direction);
    let facet = Facet::of_face(solid, face, window, turn(solid.plane(face).0), &place);
    facet.unwrap_or_else(|| {
        let mut point = Facet::point(window, place(solid.vertex(vertex)), vertex_code(vertex));
        point.face = face_code(face as u32);
        point
    })
}
