//! Half-space against everything: along its own normal n the separation of a point is n·p, and a shape's is that of its
//! farthest point along −n.

use glam::{DVec2, DVec3};

use super::facet::{Facet, SURFACE, Window, face_code, vertex_code};
use super::frame::Frame;
use super::patch::joined;
use super::reduce::{Candidate, reduce};
use super::surface_facet::facet_of;
use super::{ContactPoint, MAX_POINTS, Manifold, Piece};
use crate::closest::{ClosestError, ConvexShape, Separation, Support};
use crate::{HalfSpace, MAX_LENGTH};

/// Most corners below the margin that are listed instead of looked for again and again.
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
            return Ok(corners_below(n, &corners, frame, margin));
        }
        Piece::Bounded(ConvexShape::Convex(convex)) => {
            return Ok(corners_below(n, convex.vertices(), frame, margin));
        }
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
    let (chosen, count) = reduce(&candidates[..count]);
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

/// At most four of the corners nearer than the margin.
fn corners_below(n: DVec3, corners: &[DVec3], frame: &Frame, margin: f64) -> Option<Manifold> {
    // Seen from B, so that a corner costs one product.
    let (m, offset) = (frame.vector_in_b(n), n.dot(frame.translation));
    let mut found = [0u32; MOST_BELOW];
    let mut count = 0;
    for (i, p) in (0u32..).zip(corners) {
        if m.dot(*p) + offset <= margin {
            if let Some(place) = found.get_mut(count) {
                *place = i;
            }
            count += 1;
        }
    }
    if count <= MAX_POINTS {
        return (count > 0).then(|| standing_on(n, corners, &found[..count], frame));
    }
    let (u, v) = m.any_orthonormal_pair();
    let below = margin - offset;
    let (mut chosen, most) = if count <= MOST_BELOW {
        let points = found.map(|i| corners[i as usize]);
        spread(&points[..count], m, [u, v], below)
    } else {
        spread(corners, m, [u, v], below)
    };
    if count <= MOST_BELOW {
        chosen = chosen.map(|i| found[i as usize]);
    }
    Some(standing_on(n, corners, &chosen[..most], frame))
}

/// Manifold of some corners.
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

/// Numbers of four corners below a height: the deepest, the farthest from it, and the farthest on both sides of that line.
fn spread(corners: &[DVec3], m: DVec3, [u, v]: [DVec3; 2], below: f64) -> ([u32; 4], usize) {
    let under = || (0u32..).zip(corners).filter(|(_, p)| m.dot(**p) <= below);
    let deepest = under().map(|(_, p)| m.dot(*p)).fold(f64::INFINITY, f64::min);
    let extent = corners.iter().map(|p| (*p - corners[0]).abs().max_element()).fold(0.0, f64::max);
    // Of equally deep ones the first, so that rounding does not choose.
    let first = under().find(|(_, p)| m.dot(**p) <= deepest + 1e-8 * extent).map_or(0, |(i, _)| i);
    let from = corners[first as usize];
    let flat = |p: DVec3| DVec2::new((p - from).dot(u), (p - from).dot(v));
    let mut chosen = ([first; 4], 1);
    let mut along = DVec2::ZERO;
    for round in 0..3 {
        let mut best = (0.0, None);
        for (i, p) in under() {
            let p = flat(*p);
            let value = match round {
                0 => p.length_squared(),
                1 => along.perp_dot(p),
                _ => -along.perp_dot(p),
            };
            if value > best.0 {
                best = (value, Some((i, p)));
            }
        }
        if let Some((i, p)) = best.1 {
            chosen.0[chosen.1] = i;
            chosen.1 += 1;
            if round == 0 {
                along = p;
            }
        }
    }
    chosen
}
