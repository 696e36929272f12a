//! A flat face of one shape against anything: guessed, then proved (see `proof`).
//!
//! The other shape's farthest point against a face's normal, and the foot of it in the face, are nearest points if the
//! face is the right one: the proof tells. What cannot be proved is left to the search. Any face that parts the shapes by
//! more than the margin ends the question.

use glam::{DVec2, DVec3};

use super::axis::highest_face;
use super::frame::Frame;
use super::proof::{inside_face, is_best};
use crate::closest::{ConvexShape, Separation, Support};

/// What the faces tell.
pub(super) enum Flat {
    /// Farther apart than the margin.
    Apart,
    /// The nearest points.
    Proved(Separation),
    /// Nothing.
    Unknown,
}

/// A face and the point of the other shape's core that is deepest below it, in the frame of the face's shape.
struct Touch {
    normal: DVec3,
    separation: f64,
    point: DVec3,
    /// How far inside the face the point's foot is.
    inside: f64,
}

/// (A, B, B's frame, margin) ⇒ what the faces of both tell.
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
        return Flat::Unknown;
    }
    Flat::Proved(Separation {
        distance: separation - radii,
        normal,
        point_a: point_a + Support::radius(a) * normal,
        point_b: point_b - Support::radius(b) * normal,
    })
}

/// The face of a shape that another is highest above, if the shape has flat faces.
#[inline]
fn best_face(shape: &ConvexShape<'_>, other: &ConvexShape<'_>, frame: &Frame) -> Option<Touch> {
    let lowest = |normal: DVec3| frame.point(other.farthest(-frame.vector_in_b(normal), 0).0);
    let at = frame.translation;
    let on_disc = |radius: f64, normal: DVec3, offset: f64| {
        let point = lowest(normal);
        let inside = radius - DVec2::new(point.x, point.y).length();
        Touch { normal, separation: normal.dot(point) - offset, point, inside }
    };
    match shape {
        ConvexShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            let mut best: Option<Touch> = None;
            for k in 0..3 {
                let normal = if at[k] < 0.0 { -DVec3::AXES[k] } else { DVec3::AXES[k] };
                let point = lowest(normal);
                let separation = normal[k] * point[k] - half[k];
                if best.as_ref().is_none_or(|best| separation > best.separation) {
                    let room = half - point.abs();
                    let inside = room[(k + 1) % 3].min(room[(k + 2) % 3]);
                    best = Some(Touch { normal, separation, point, inside });
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
            // Under the middle of the other, then under its lowest point there.
            let first = highest_face(*convex, frame.point(middle(other))) as usize;
            let face = highest_face(*convex, lowest(convex.normals()[first])) as usize;
            let normal = convex.normals()[face];
            let point = lowest(normal);
            let separation = normal.dot(point) - convex.offsets()[face];
            Some(Touch { normal, separation, point, inside: inside_face(*convex, face, point) })
        }
        _ => None,
    }
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
