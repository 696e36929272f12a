//! Half-space against any piece: along its own normal n the separation of a point is n·p, and a shape's is
//! that of its farthest point along −n.

use glam::DVec3;

use super::facet::{Facet, SURFACE, Window, face_code, vertex_code};
use super::patch::joined;
use super::reduce::{Candidate, EQUAL, deepest_first};
use super::surface_facet::facet_of;
use super::{ContactPoint, MAX_POINTS, Manifold, Piece};
use crate::closest::{ClosestError, ConvexShape, Separation, Support};
use crate::frame::Frame;
use crate::{ConvexPolyhedron, HalfSpace, MAX_LENGTH};

/// Most corners below the margin that are listed individually.
const MOST_BELOW: usize = 16;

/// (A's normal, B, B's frame) ⇒ nearest points; not for another half-space.
pub(super) fn nearest(
    half_space: &HalfSpace,
    b: &Piece<'_>,
    frame: &Frame,
) -> Result<Separation, ClosestError> {
    let n = half_space.normal();
    let d = -frame.vector_in_b(n);
    let local = match b {
        Piece::Bounded(shape) => shape.farthest(d, 0).0 + Support::radius(shape) * d,
        Piece::Triangle(corners) => crate::primitive::Triangle::from(*corners).support(d),
        Piece::HalfSpace(_) => return Err(ClosestError::NotConvex(crate::ShapeKind::HalfSpace)),
    };
    let point_b = frame.point(local);
    if !(point_b.abs().max_element() <= 4.0 * MAX_LENGTH) {
        return Err(ClosestError::InvalidPoint);
    }
    let distance = n.dot(point_b);
    Ok(Separation { distance, normal: n, point_a: point_b - distance * n, point_b })
}

/// (A, B, B's frame, margin) ⇒ manifold of the points nearer than the margin.
pub(super) fn collide(
    half_space: &HalfSpace,
    b: &Piece<'_>,
    frame: &Frame,
    margin: f64,
) -> Result<Option<Manifold>, ClosestError> {
    let n = half_space.normal();
    match b {
        Piece::Bounded(ConvexShape::Cuboid(cuboid)) => {
            let corners = std::array::from_fn::<_, 8, _>(|i| {
                crate::closest::Support::corner(*cuboid, i as u32).unwrap_or_default()
            });
            return Ok(face_below(n, &corners, frame, margin));
        }
        Piece::Bounded(ConvexShape::Convex(convex)) => return Ok(polyhedron_below(n, convex, frame, margin)),
        Piece::Triangle(corners) => {
            if !corners.iter().all(|p| p.abs().max_element() <= MAX_LENGTH && p.is_finite()) {
                return Err(ClosestError::InvalidPoint);
            }
            return Ok(corners_below(n, corners, frame, margin));
        }
        _ => {}
    }
    let deepest = nearest(half_space, b, frame)?;
    let Piece::Bounded(shape) = b else { return Ok(None) };
    if !(deepest.distance <= margin) {
        return Ok(None);
    }
    let window = Window::new(n, deepest.point_a);
    Ok(Some(of_facet(&facet_of(shape, frame, -n, &window), &window, &deepest, margin)))
}

/// The corners of a facet below the margin, and the deepest point if none of them is.
fn of_facet(facet: &Facet, window: &Window, deepest: &Separation, margin: f64) -> Manifold {
    let mut candidates = [Candidate::default(); super::facet::MAX_SIDES + 1];
    let mut count = 0;
    let mut least = f64::INFINITY;
    for i in 0..facet.count {
        let separation = facet.height(facet.points[i]);
        least = least.min(separation);
        if separation <= margin {
            candidates[count] =
                Candidate { point: facet.points[i], separation, id: [face_code(0), facet.vertices[i]] };
            count += 1;
        }
    }
    if count == 0 || least > deepest.distance + 1e-9 * (facet.extent() + deepest.distance.abs()) {
        let point = window.flat(deepest.point_b);
        candidates[count] = Candidate { point, separation: deepest.distance, id: [face_code(0), SURFACE] };
        count += 1;
    }
    let mut manifold = Manifold::new(window.n);
    let (chosen, count) = deepest_first(&candidates[..count]);
    for candidate in chosen[..count].iter().map(|&i| &candidates[i]) {
        manifold.push(ContactPoint {
            point_a: window.point(candidate.point, 0.0),
            point_b: window.point(candidate.point, candidate.separation),
            separation: candidate.separation,
            id: joined(candidate.id),
        });
    }
    manifold
}

/// The corners nearer than the margin of the face of a box that is most opposed to n. The deepest corner is
/// one of them. Corners of other faces do not belong to the contact: those above it are as far from each
/// other as those below, and where the margin is larger than a plate is thick, they would take their places.
fn face_below(n: DVec3, corners: &[DVec3; 8], frame: &Frame, margin: f64) -> Option<Manifold> {
    let (m, below) = (frame.vector_in_b(n), margin - n.dot(frame.translation));
    let size = m.abs();
    let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
    let mut found = [0u32; MAX_POINTS];
    let mut count = 0;
    for (i, p) in (0u32..).zip(corners) {
        if p[axis] * m[axis] < 0.0 && m.dot(*p) <= below && count < MAX_POINTS {
            found[count] = i;
            count += 1;
        }
    }
    (count > 0).then(|| standing_on(n, corners, &found[..count], frame))
}

/// At most four of a handful of corners nearer than the margin.
fn corners_below(n: DVec3, corners: &[DVec3], frame: &Frame, margin: f64) -> Option<Manifold> {
    // Seen from B, so that a corner costs one product.
    let (m, below) = (frame.vector_in_b(n), margin - n.dot(frame.translation));
    let mut found = [0u32; MOST_BELOW];
    let mut count = 0;
    for (i, p) in (0u32..).zip(corners) {
        if m.dot(*p) <= below && count < MOST_BELOW {
            found[count] = i;
            count += 1;
        }
    }
    few_below(n, corners, &found[..count], m, frame)
}

/// At most four corners of a polyhedron nearer than the margin.
fn polyhedron_below(n: DVec3, convex: &ConvexPolyhedron, frame: &Frame, margin: f64) -> Option<Manifold> {
    let (m, below) = (frame.vector_in_b(n), margin - n.dot(frame.translation));
    let mut found = [0; MOST_BELOW];
    if let Some(count) = convex.vertices_below(m, below, &mut found) {
        return few_below(n, convex.vertices(), &found[..count], m, frame);
    }
    let (chosen, most) = convex.spread_below(m, below);
    Some(standing_on(n, convex.vertices(), &chosen[..most], frame))
}

/// At most four of some corners.
#[inline]
fn few_below(n: DVec3, corners: &[DVec3], found: &[u32], m: DVec3, frame: &Frame) -> Option<Manifold> {
    if found.len() <= MAX_POINTS {
        return (!found.is_empty()).then(|| standing_on(n, corners, found, frame));
    }
    let (chosen, most) = spread(corners, found, m);
    Some(standing_on(n, corners, &chosen[..most], frame))
}

/// Manifold of some corners.
#[inline]
fn standing_on(n: DVec3, corners: &[DVec3], chosen: &[u32], frame: &Frame) -> Manifold {
    let mut manifold = Manifold::new(n);
    for &i in chosen {
        let point_b = frame.point(corners[i as usize]);
        let separation = n.dot(point_b);
        let id = joined([face_code(0), vertex_code(i)]);
        manifold.push(ContactPoint { point_a: point_b - separation * n, point_b, separation, id });
    }
    manifold
}

/// Four of some corners: the deepest, the farthest from it, and the farthest on both sides of that line, as
/// seen along m.
fn spread(corners: &[DVec3], found: &[u32], m: DVec3) -> ([u32; 4], usize) {
    let at = |i: u32| corners[i as usize];
    let deepest = found.iter().map(|&i| m.dot(at(i))).fold(f64::INFINITY, f64::min);
    let extent = found.iter().map(|&i| (at(i) - at(found[0])).abs().max_element()).fold(0.0, f64::max);
    // Of equally deep ones the first, so that rounding does not choose.
    let equal = |i: &&u32| m.dot(at(**i)) <= deepest + EQUAL * extent;
    let first = found.iter().find(equal).copied().unwrap_or(found[0]);
    let farthest = |value: &dyn Fn(DVec3) -> f64| {
        let mut best = (0.0, None);
        for &i in found {
            let value = value(at(i) - at(first));
            if value > best.0 {
                best = (value, Some(i));
            }
        }
        best.1
    };
    let mut chosen = ([first; 4], 1);
    let mut add = |next: Option<u32>| {
        if let Some(i) = next {
            chosen.0[chosen.1] = i;
            chosen.1 += 1;
        }
    };
    let second = farthest(&|p| p.length_squared() - m.dot(p).powi(2));
    let side = m.cross(at(second.unwrap_or(first)) - at(first));
    add(second);
    add(farthest(&|p| side.dot(p)));
    add(farthest(&|p| -side.dot(p)));
    chosen
}
