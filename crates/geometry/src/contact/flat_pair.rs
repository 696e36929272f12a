//! A flat face or a corner of one shape against any shape, or two straight lines: a candidate normal, then
//! the early-exit test (see `early_exit`).
//!
//! The other shape's farthest point against a face's normal, and its projection onto the face, are nearest
//! points if the face is the right one: the early-exit test decides. The rest is left to the search. Any face
//! that parts the shapes by more than the margin ends the question. A corner of a box or polyhedron and its
//! projection to a curved shape are nearest points if no other corner is farther that way; from one corner to
//! the next this ends after a few. Between an edge of a box and the side of a cylinder n lies across both:
//! the line of the side facing −n, and the edge farthest along n, must cross.

use glam::{DVec2, DVec3};

use super::Piece;
use super::early_exit::{inside_crossing, inside_face, is_best};
use super::round::project;
use crate::closest::{ConvexShape, GjkCache, Separation, Support};
use crate::frame::Frame;
use crate::primitive::{LineSegment, closest_segment_segment};
use crate::{ConvexPolyhedron, Cuboid, Cylinder};

/// Most corners that are tried one after the other.
const MOST_CORNERS: usize = 4;
/// Distance from a surface, as a part of the coordinates, at which the way out is not known.
const TOUCHING: f64 = 1e-7;
/// How much farther another corner may be, as a part of the coordinates.
const ROUNDING: f64 = 1e-13;

/// Result of testing the faces.
pub(super) enum Flat {
    /// Farther apart than the margin.
    Apart,
    /// The nearest points.
    Proved(Separation),
    /// Nothing.
    Unknown,
}

/// A face and the point of the other shape's core that is deepest below it, in the frame of the face's shape.
struct FaceContact {
    normal: DVec3,
    separation: f64,
    point: DVec3,
    /// How far inside the face the projection of the point is.
    inside: f64,
}

/// (A, B, B's frame, margin) ⇒ result of testing the faces of both.
#[inline]
pub(super) fn nearest(a: &ConvexShape<'_>, b: &ConvexShape<'_>, frame: &Frame, margin: f64) -> Flat {
    let radii = Support::radius(a) + Support::radius(b);
    let of_a = best_face(a, b, frame);
    let back = frame.inverse();
    let of_b = best_face(b, a, &back);
    let [height_a, height_b] = [&of_a, &of_b].map(|touch| match touch {
        Some(touch) => touch.separation,
        None => f64::NEG_INFINITY,
    });
    let separation = height_a.max(height_b);
    if separation - radii > margin {
        return Flat::Apart;
    }
    let (normal, point_a, point_b, inside) = match (of_a, of_b) {
        (Some(touch), _) if height_a >= height_b => {
            (touch.normal, touch.point - separation * touch.normal, touch.point, touch.inside)
        }
        (_, Some(touch)) => {
            let foot = touch.point - separation * touch.normal;
            (-frame.vector(touch.normal), frame.point(touch.point), frame.point(foot), touch.inside)
        }
        _ => return Flat::Unknown,
    };
    if !is_best(separation, inside, normal, frame.point(middle(b)) - middle(a)) {
        return not_flat(a, b, frame, &back, normal);
    }
    Flat::Proved(Separation {
        distance: separation - radii,
        normal,
        point_a: point_a + Support::radius(a) * normal,
        point_b: point_b - Support::radius(b) * normal,
    })
}

/// Corners and lines, `guess` being about the direction from A to B.
fn not_flat(a: &ConvexShape<'_>, b: &ConvexShape<'_>, frame: &Frame, back: &Frame, guess: DVec3) -> Flat {
    use ConvexShape::{Capsule, Convex, Cuboid, Cylinder};
    let found = match (a, b) {
        // Cores with corners only are searched quickly and exactly.
        (Cuboid(_) | Convex(_) | Capsule(_), Cuboid(_) | Convex(_) | Capsule(_)) => None,
        (Cuboid(cuboid), Cylinder(cylinder)) => {
            corner_of(a, b, frame, guess).or_else(|| edge_on_side(cuboid, cylinder, frame))
        }
        (Cylinder(cylinder), Cuboid(cuboid)) => corner_of(b, a, back, -back.vector(guess))
            .or_else(|| edge_on_side(cuboid, cylinder, back))
            .map(|found| in_frame(&found, frame)),
        (Cuboid(_) | Convex(_), _) => corner_of(a, b, frame, guess),
        (_, Cuboid(_) | Convex(_)) => {
            corner_of(b, a, back, -back.vector(guess)).map(|found| in_frame(&found, frame))
        }
        _ => None,
    };
    found.map_or(Flat::Unknown, Flat::Proved)
}

/// Nearest points of B and A in B's frame ⇒ those of A and B in A's.
fn in_frame(found: &Separation, frame: &Frame) -> Separation {
    Separation {
        distance: found.distance,
        normal: -frame.vector(found.normal),
        point_a: frame.point(found.point_b),
        point_b: frame.point(found.point_a),
    }
}

/// A corner of A against B, if that is proved to be the contact.
fn corner_of(a: &ConvexShape<'_>, b: &ConvexShape<'_>, frame: &Frame, guess: DVec3) -> Option<Separation> {
    if matches!(b, ConvexShape::Custom(_)) {
        return None;
    }
    let (mut point_a, mut number) = a.farthest(guess, 0);
    let mut cache = GjkCache::default();
    for _ in 0..MOST_CORNERS {
        let at = project(&Piece::Bounded(*b), frame.point_in_b(point_a), &mut cache).ok()?;
        let normal = -frame.vector(at.normal);
        let (next, next_number) = a.farthest(normal, number);
        let size = point_a.abs().max_element();
        // The direction is lost in rounding otherwise.
        if !(at.distance.abs() > TOUCHING * size) {
            return None;
        }
        if (next - point_a).dot(normal) <= ROUNDING * size {
            return Some(Separation {
                distance: at.distance,
                normal,
                point_a,
                point_b: frame.point(at.point),
            });
        }
        (point_a, number) = (next, next_number);
    }
    None
}

/// An edge of a box across the side of a cylinder, if that is proved to be the contact. In the box's frame.
fn edge_on_side(cuboid: &Cuboid, cylinder: &Cylinder, frame: &Frame) -> Option<Separation> {
    let (half, t, z) = (cuboid.half_extents(), frame.translation, frame.rotation.z_axis);
    let mut best = (f64::NEG_INFINITY, DVec3::ZERO, 0);
    for k in 0..3 {
        let Some(n) = DVec3::AXES[k].cross(z).try_normalize() else { continue };
        let separation = n.dot(t).abs() - half.dot(n.abs()) - cylinder.radius();
        if separation > best.0 {
            best = (separation, if n.dot(t) < 0.0 { -n } else { n }, k);
        }
    }
    let (distance, normal, k) = best;
    if distance == f64::NEG_INFINITY {
        return None;
    }
    let mut edge = [DVec3::select(normal.cmplt(DVec3::ZERO), -half, half); 2];
    (edge[0][k], edge[1][k]) = (-half[k], half[k]);
    let middle = t - cylinder.radius() * normal;
    let line = [middle - 0.5 * cylinder.height() * z, middle + 0.5 * cylinder.height() * z];
    let inside = inside_crossing(edge, line, normal);
    if !(inside > 0.0 && is_best(distance, inside, normal, t)) {
        return None;
    }
    let pair =
        closest_segment_segment(&LineSegment::new(edge[0], edge[1]), &LineSegment::new(line[0], line[1]));
    Some(Separation { distance, normal, point_a: pair.point_a, point_b: pair.point_b })
}

/// The face of a shape that another is highest above, if the shape has flat faces.
#[inline]
fn best_face(shape: &ConvexShape<'_>, other: &ConvexShape<'_>, frame: &Frame) -> Option<FaceContact> {
    let lowest = |normal: DVec3| frame.point(other.farthest(-frame.vector_in_b(normal), 0).0);
    let at = frame.translation;
    let on_disc = |radius: f64, normal: DVec3, offset: f64| {
        let point = lowest(normal);
        let inside = radius - DVec2::new(point.x, point.y).length();
        FaceContact { normal, separation: normal.dot(point) - offset, point, inside }
    };
    match shape {
        ConvexShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            let mut best: Option<FaceContact> = None;
            for k in 0..3 {
                let normal = if at[k] < 0.0 { -DVec3::AXES[k] } else { DVec3::AXES[k] };
                let point = lowest(normal);
                let separation = normal[k] * point[k] - half[k];
                if best.as_ref().is_none_or(|best| separation > best.separation) {
                    let room = half - point.abs();
                    let inside = room[(k + 1) % 3].min(room[(k + 2) % 3]);
                    best = Some(FaceContact { normal, separation, point, inside });
                }
            }
            best
        }
        ConvexShape::Cylinder(cylinder) => {
            let normal = if at.z < 0.0 { -DVec3::Z } else { DVec3::Z };
            Some(on_disc(cylinder.radius(), normal, 0.5 * cylinder.height()))
        }
        ConvexShape::Cone(cone) if at.z < 0.0 => Some(on_disc(cone.radius(), -DVec3::Z, -cone.base())),
        ConvexShape::Convex(convex) => {
            // Around the corner towards the other's middle, then around the one towards its lowest point.
            let toward = frame.point(middle(other)) - middle(shape);
            let corner = convex.support_vertex(toward, 0);
            let first = face_around(convex, corner, frame.point(middle(other)));
            let under = lowest(convex.normals()[first]);
            let corner = convex.support_vertex(under - middle(shape), corner);
            let face = face_around(convex, corner, under);
            let normal = convex.normals()[face];
            let point = lowest(normal);
            let separation = normal.dot(point) - convex.offsets()[face];
            Some(FaceContact { normal, separation, point, inside: inside_face(*convex, face, point) })
        }
        _ => None,
    }
}

/// Of the faces around a corner the one that a point is highest above.
#[inline]
fn face_around(convex: &ConvexPolyhedron, corner: u32, p: DVec3) -> usize {
    let mut best = (f64::NEG_INFINITY, 0);
    for &edge in convex.vertex_edges(corner as usize) {
        for face in convex.edges()[edge as usize].faces {
            let height = convex.normals()[face as usize].dot(p) - convex.offsets()[face as usize];
            if height > best.0 {
                best = (height, face as usize);
            }
        }
    }
    best.1
}

/// A point of the core, not at its surface if that is cheap.
#[inline]
fn middle(shape: &ConvexShape<'_>) -> DVec3 {
    match shape {
        ConvexShape::Convex(convex) => {
            let corners = convex.vertices();
            0.5 * (corners[0] + corners[corners.len() / 2])
        }
        ConvexShape::Custom(custom) => custom.support(DVec3::X),
        _ => DVec3::ZERO,
    }
}
