//! A second look at a depth: along the normals of flat parts and across straight ones.
//!
//! A growing polytope can stop short where a curved shape has flat parts: all of a cap is equally deep. Of the directions in
//! which flat and straight parts look, h_A(n) + h_B(−n) is exact, and the least of them is never less than the depth.

use glam::DVec3;

use super::frame::Frame;
use crate::closest::{ConvexShape, Separation, Support};

/// Most directions looked along, each way.
const MOST: usize = 48;

/// Directions that a shape's flat parts look along and its straight parts run along, in its own frame.
struct Flats {
    normals: [DVec3; MOST],
    normal_count: usize,
    lines: [DVec3; 3],
    line_count: usize,
}

impl Flats {
    fn of(shape: &ConvexShape<'_>) -> Self {
        let mut flats =
            Self { normals: [DVec3::ZERO; MOST], normal_count: 0, lines: DVec3::AXES, line_count: 0 };
        let mut push = |n: DVec3| {
            if flats.normal_count < MOST {
                flats.normals[flats.normal_count] = n;
                flats.normal_count += 1;
            }
        };
        match shape {
            ConvexShape::Cuboid(_) => {
                DVec3::AXES.into_iter().for_each(|axis| {
                    push(axis);
                    push(-axis);
                });
                flats.line_count = 3;
            }
            ConvexShape::Cylinder(_) => {
                push(DVec3::Z);
                push(-DVec3::Z);
                (flats.lines[0], flats.line_count) = (DVec3::Z, 1);
            }
            ConvexShape::Cone(_) => push(-DVec3::Z),
            ConvexShape::Convex(convex) => convex.normals().iter().for_each(|&n| push(n)),
            _ => {}
        }
        flats
    }

    fn normals(&self) -> &[DVec3] {
        &self.normals[..self.normal_count]
    }

    fn lines(&self) -> &[DVec3] {
        &self.lines[..self.line_count]
    }
}

/// A depth found by search ⇒ the same, or a smaller one along a flat part.
pub(super) fn second_look(
    a: &ConvexShape<'_>,
    b: &ConvexShape<'_>,
    frame: &Frame,
    first: Separation,
) -> Separation {
    let (flats_a, flats_b) = (Flats::of(a), Flats::of(b));
    let mut best = first;
    let mut look = |n: DVec3| {
        let d = -frame.vector_in_b(n);
        let point_a = a.farthest(n, 0).0 + Support::radius(a) * n;
        let point_b = frame.point(b.farthest(d, 0).0 + Support::radius(b) * d);
        let distance = (point_b - point_a).dot(n);
        if distance > best.distance + 1e-12 * (point_a.abs() + point_b.abs()).max_element() {
            // The deeper of the two corners, carried over to the other surface.
            best = Separation { distance, normal: n, point_a: point_b - distance * n, point_b };
            if !on_flat(flats_a.normals(), n) {
                (best.point_a, best.point_b) = (point_a, point_a + distance * n);
            }
        }
    };
    flats_a.normals().iter().for_each(|&n| look(n));
    flats_b.normals().iter().for_each(|&n| look(-frame.vector(n)));
    for &u in flats_a.lines() {
        for &v in flats_b.lines() {
            if let Some(n) = u.cross(frame.vector(v)).try_normalize() {
                look(n);
                look(-n);
            }
        }
    }
    best
}

fn on_flat(normals: &[DVec3], n: DVec3) -> bool {
    normals.iter().any(|normal| normal.dot(n) > 1.0 - 1e-12)
}
