//! Refinement of a penetration depth: along the normals of flat parts and across straight ones.
//!
//! The expanding polytope can stop short where a curved shape has flat parts: all of a cap is equally deep.
//! Along the normals of flat and across the lines of straight parts h_A(n) + h_B(−n) is exact, and the least
//! of them is never less than the depth.
//!
//! It can also stop short on a curved part, because its number of corners is limited; a small star of
//! directions around its result detects that.
//!
//! Where shapes just touch, the difference of the nearest points is rounding, and so is the normal computed
//! from it; then the depth is measured again by the support functions along that normal.
//!
//! The witnesses of a direction n with separation d are a common point of A and B − d n, which touch. The
//! farthest corner of one need not be there: two caps may share a sliver that no corner lies in. Projected to
//! A, to B − d n, to A and so on, a point ends in what they have in common (von Neumann 1949), because both
//! are convex.

use std::f64::consts::FRAC_PI_4;

use glam::{DQuat, DVec3};

use super::Piece;
use super::round::project;
use crate::Pose;
use crate::closest::{ConvexShape, Gjk, GjkCache, Separation, Support, gjk};
use crate::frame::Frame;

/// Most normals per shape.
const MOST: usize = 48;

/// Most projections to either side on the way to a common point.
const MOST_TURNS: usize = 12;
/// Distance from either shape, as a fraction of the coordinates, at which a point counts as common.
const COMMON: f64 = 1e-10;

/// Distances below this fraction of the coordinates, of either sign, are refined.
pub(super) const TOUCHING: f64 = 1e-9;

/// Normals of a shape's flat parts and directions of its straight ones, in its own frame.
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
                for axis in DVec3::AXES {
                    push(axis);
                    push(-axis);
                }
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
pub(super) fn refine_depth(
    a: &ConvexShape<'_>,
    b: &ConvexShape<'_>,
    frame: &Frame,
    first: Separation,
) -> Separation {
    let (flats_a, flats_b) = (Flats::of(a), Flats::of(b));
    let farthest = |n: DVec3| {
        let d = -frame.vector_in_b(n);
        let point_a = a.farthest(n, 0).0 + Support::radius(a) * n;
        let point_b = frame.point(b.farthest(d, 0).0 + Support::radius(b) * d);
        (point_a, point_b, (point_b - point_a).dot(n))
    };
    let mut best = first;
    let (far_a, far_b, proved) = farthest(first.normal);
    if first.distance.abs() <= TOUCHING * (far_a.abs() + far_b.abs()).max_element() {
        best.distance = proved;
    }
    let mut look = |n: DVec3| {
        let (point_a, point_b, distance) = farthest(n);
        if distance > best.distance + 1e-12 * (point_a.abs() + point_b.abs()).max_element() {
            best = Separation { distance, normal: n, point_a, point_b: point_a + distance * n };
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
    if best.normal == first.normal {
        let flat = on_flat(flats_a.normals(), first.normal)
            || on_flat(flats_b.normals(), -frame.vector_in_b(first.normal));
        // Nothing better among flat parts: around it there may be, unless it is one.
        best = if flat || first.distance >= 0.0 { first } else { downhill(first, |n| -farthest(n).2) };
    }
    let (far_a, far_b, _) = farthest(best.normal);
    with_common_point(a, b, frame, best, [far_a, far_b - best.distance * best.normal])
}

/// A normal, its separation and where else the shapes may touch ⇒ the same with points that lie in A and in
/// B.
fn with_common_point(
    a: &ConvexShape<'_>,
    b: &ConvexShape<'_>,
    frame: &Frame,
    found: Separation,
    others: [DVec3; 2],
) -> Separation {
    let between = found.distance * found.normal;
    let size = (found.point_a.abs() + found.point_b.abs()).max_element();
    let mut cache = GjkCache::default();
    let mut onto = |shape: &ConvexShape<'_>, p: DVec3| {
        let at = project(&Piece::Bounded(*shape), p, &mut cache).ok();
        at.map_or(p, |at| if at.inside { p } else { at.point })
    };
    // A point of A near p, and how far it is from being one of B − d n.
    let mut turn = |p: DVec3| {
        let on_a = onto(a, p);
        let on_b = frame.point(onto(b, frame.point_in_b(on_a + between)));
        (Separation { point_a: on_a, point_b: on_b, ..found }, (on_b - on_a - between).length())
    };
    let mut best = turn(found.point_a);
    if best.1 <= COMMON * size {
        return best.0;
    }
    for other in others {
        let next = turn(other);
        if next.1 < best.1 {
            best = next;
        }
    }
    for _ in 0..MOST_TURNS {
        best = turn(best.0.point_b - between);
        if best.1 <= COMMON * size {
            return best.0;
        }
    }
    // Where they share a single point, alternating projections converge slowly: with a tiny gap it is their
    // nearest.
    let parted = frame.translation - between + COMMON * size * found.normal;
    let pose = Pose::new(DQuat::from_mat3(&frame.rotation).normalize(), parted);
    if let Ok(Gjk::Apart(nearest)) = gjk(a, b, &pose, &mut GjkCache::default()) {
        let next = turn(nearest.point_a);
        if next.1 < best.1 {
            best = next;
        }
    }
    best.0
}

/// Follows the overlap downhill with a star of eight steps, rotated each time, halved when none descends.
/// After two stars without descent the first result stands.
fn downhill(first: Separation, overlap: impl Fn(DVec3) -> f64) -> Separation {
    let (mut n, mut least) = (first.normal, -first.distance);
    let (mut step, mut turn, mut led) = (1e-3, 0.0, 0);
    for round in 0..64 {
        let (u, v) = n.any_orthonormal_pair();
        let mut moved = false;
        for k in 0..8 {
            let (sine, cosine) = (f64::from(k) * FRAC_PI_4 + turn).sin_cos();
            let next = (n + step * (cosine * u + sine * v)).normalize();
            let value = overlap(next);
            if value < least {
                (n, least, moved) = (next, value, true);
            }
        }
        led += usize::from(moved);
        if (round == 1 && led == 0) || step < 1e-8 {
            break;
        }
        turn += 0.4;
        step *= if moved { 1.0 } else { 0.3 };
    }
    if !(least < -first.distance) {
        return first;
    }
    Separation { distance: -least, normal: n, point_b: first.point_a - least * n, ..first }
}

fn on_flat(normals: &[DVec3], n: DVec3) -> bool {
    normals.iter().any(|normal| normal.dot(n) > 1.0 - 1e-12)
}
