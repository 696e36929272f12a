//! Pairs of convex parts, and the measurement of their gap.
//!
//! Most distances are computed by iteration, but one kind is so common that it is tried first: a body above a
//! plane, above a face of a box or above an end of a cylinder. Let p be the support point of the body against
//! the outward normal n of the face, at the height h above its plane. If h > 0 and the projection of p lies
//! inside the face, the distance is exactly h: the plane separates the two by h, and p is h away from its
//! projection. Rims of cylinders have a closed iteration of their own (`cylinder_distance`).

use super::ballistic_body::BallisticBody;
use super::convex_part::ConvexPart;
use super::cylinder_distance::rim_distance;
use super::motion_bound::MotionBound;
use super::tuning::{FACE_ANGLE, OVERLAP_ROUNDING};
use crate::rigid::Motion;
use glam::DVec3;
use rattleback_geometry::Pose;
use rattleback_geometry::closest::{ClosestError, ConvexShape, Separation, Support};
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
use serde::{Deserialize, Serialize};

/// Pair of convex parts of different bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ImpulsePair {
    pub parts: [u32; 2],
    pub bodies: [u32; 2],
    /// Whether their fat AABBs overlap at present.
    pub boxes_overlap: bool,
    #[serde(skip)]
    pub cache: PieceCache,
    /// Step in which the cache was started: it restarts at every step, so that a run continued from a
    /// snapshot stays the same.
    #[serde(skip)]
    pub cache_step: u64,
    /// Time of the last measurement, s, and its gap, m.
    pub last_gap: (f64, f64),
    /// Lower bound of the gap: at this time, s, it was at least `distance` along the normal, m, and shrinks
    /// at most by `bound`.
    pub bound_time: f64,
    pub distance: f64,
    pub bound: MotionBound,
    /// Whether the pair is deferred until the odometer of one of its bodies passes its reading
    /// (`travel_deadline`), m.
    pub deferred: bool,
    pub deadlines: [f64; 2],
    pub restitution: f64,
    /// Coefficient of kinetic friction.
    pub friction: f64,
    /// Coefficient of static friction.
    pub static_friction: f64,
    /// Levers of rolling and of spinning friction, m.
    pub rolling_levers: [f64; 2],
    /// Sum of the impulses on the second body since `sum_start`, N s.
    pub impulse: DVec3,
    pub sum_start: f64,
    /// Mean force on the second body over the last full window, N.
    pub force: DVec3,
    /// Normal at the last measurement, world frame; used where the bodies overlap within rounding.
    pub normal: DVec3,
    /// Midpoint of the nearest points at the last measurement, m.
    pub point: DVec3,
    /// Index of the body whose face was nearest then, if a face was.
    pub face: Option<u8>,
    /// Time of the last collision, s, and the separation speed after it, m/s.
    pub hop: (f64, f64),
    /// Relative velocity at the contact after the last collision, second body against first, m/s.
    pub hop_velocity: DVec3,
    /// Gap at the last collision, m.
    pub hop_gap: f64,
    /// Decaying sums over the last hops: change of the closing speed, m/s, and duration, s.
    pub pull_sum: (f64, f64),
    /// Slow collisions since `count_start`, within a window in which hardly anything moves.
    pub collision_count: u32,
    pub count_start: f64,
    /// Events since `stall_start`, within one stall time.
    pub event_count: u32,
    pub stall_start: f64,
    /// Added to every measured gap, m: bodies that touch exactly when the pair is created, to rounding, start
    /// from a gap of `INITIAL_GAP` ε.
    pub offset: f64,
}

impl ImpulsePair {
    /// Key that identifies a pair, whatever the order of creation.
    pub fn pair_key(&self) -> u64 {
        u64::from(self.parts[0]) << 32 | u64::from(self.parts[1])
    }

    /// Lower bound of the gap at time t, m, as long as neither trajectory has been restarted since the last
    /// measurement.
    pub fn gap_lower_bound(&self, t: f64) -> f64 {
        self.distance - self.bound.displacement(t - self.bound_time)
    }

    /// Position of a body in the pair, 0 or 1.
    pub fn side_of(&self, body: u32) -> usize {
        usize::from(self.bodies[0] != body)
    }
}

/// Result of a distance measurement, in the world frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairGap {
    /// Distance, m; negative if the parts overlap.
    pub distance: f64,
    /// Unit normal from the first part to the second.
    pub normal: DVec3,
    /// Midpoint of the nearest points, m.
    pub point: DVec3,
    /// Relative velocity of the second body against the first along the normal at that point, m/s: negative
    /// while they approach.
    pub rate: f64,
    /// Index of the body whose face is nearest, if a face is.
    pub face: Option<u8>,
}

/// (parts, states of their bodies, cache, last normal, error of the distance that is allowed, m) ⇒ the gap.
pub(super) fn measure(
    parts: [&ConvexPart; 2],
    motion: [&Motion; 2],
    cache: &mut PieceCache,
    last_normal: DVec3,
    tolerance: f64,
) -> Result<PairGap, ClosestError> {
    let poses = [0, 1].map(|k| motion[k].pose() * parts[k].pose);
    let pieces = [parts[0].piece()?, parts[1].piece()?];
    for (face, over) in [(0, 1), (1, 0)] {
        let outward = if face == 0 { last_normal } else { -last_normal };
        if let Some(gap) = distance_over_face(
            [&pieces[face], &pieces[over]],
            [&poses[face], &poses[over]],
            outward,
            tolerance,
        ) {
            let (distance, out, point) = gap;
            let normal = if face == 0 { out } else { -out };
            let rate = (motion[1].velocity_at(point) - motion[0].velocity_at(point)).dot(normal);
            return Ok(PairGap { distance, normal, point, rate, face: Some(face as u8) });
        }
    }
    if let [Piece::Bounded(ConvexShape::Cylinder(first)), Piece::Bounded(ConvexShape::Cylinder(second))] =
        &pieces
        && let Some((distance, normal, point)) =
            rim_distance([first, second], [&poses[0], &poses[1]], last_normal)
    {
        let rate = (motion[1].velocity_at(point) - motion[0].velocity_at(point)).dot(normal);
        return Ok(PairGap { distance, normal, point, rate, face: None });
    }
    let [a, b] = poses;
    let near: Separation = distance_pieces(&pieces[0], &pieces[1], &a.relative(&b), cache)?;
    let mut normal = a.vector(near.normal);
    if normal.length_squared() < 0.5 || normal.is_nan() {
        normal = last_normal;
    }
    let point = a.point(0.5 * (near.point_a + near.point_b));
    let rate = (motion[1].velocity_at(point) - motion[0].velocity_at(point)).dot(normal);
    Ok(PairGap { distance: near.distance, normal, point, rate, face: None })
}

/// (shape with faces and another, their poses, outward direction, tolerance) ⇒ distance, normal of the face that
/// points there and midpoint, if the other shape is nearest to the inside of that face; if one of its edges crosses the
/// border of the face, within the tolerance.
fn distance_over_face(
    pieces: [&Piece<'_>; 2],
    poses: [&Pose; 2],
    outward: DVec3,
    tolerance: f64,
) -> Option<(f64, DVec3, DVec3)> {
    let Piece::Bounded(other) = pieces[1] else { return None };
    let with_faces = match pieces[0] {
        Piece::Bounded(with_faces) => with_faces,
        Piece::HalfSpace(half_space) => {
            let out = poses[0].vector(half_space.normal());
            let point = support_point(other, poses[1], -out);
            let height = (point - poses[0].translation).dot(out);
            return Some((height, out, point - 0.5 * height * out));
        }
        Piece::Triangle(_) => return None,
    };
    let local = poses[0].inverse_vector(outward);
    let (axis, depth) = match with_faces {
        ConvexShape::Cuboid(cuboid) => {
            let axis = local.abs().max_position();
            (axis, cuboid.half_extents()[axis])
        }
        ConvexShape::Cylinder(cylinder) => (2, 0.5 * cylinder.height()),
        _ => return None,
    };
    let mut normal = DVec3::ZERO;
    normal[axis] = 1f64.copysign(local[axis]);
    let out = poses[0].vector(normal);
    let point = support_point(other, poses[1], -out);
    let above = poses[0].inverse_point(point);
    let height = above[axis] * normal[axis] - depth;
    let over = match with_faces {
        ConvexShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            [(axis + 1) % 3, (axis + 2) % 3].into_iter().all(|side| above[side].abs() <= half[side])
        }
        ConvexShape::Cylinder(cylinder) => above.truncate().length() <= cylinder.radius(),
        _ => false,
    };
    if height <= -OVERLAP_ROUNDING * depth {
        return None;
    }
    if over {
        return Some((height, out, point - 0.5 * height * out));
    }
    let (ConvexShape::Cuboid(face), ConvexShape::Cuboid(edges)) = (with_faces, other) else { return None };
    let start = poses[0].inverse_point(poses[1].point(other.farthest(poses[1].inverse_vector(-out), 0).0));
    let crossing = border_crossing(
        face.half_extents(),
        axis,
        start,
        poses,
        edges.half_extents(),
        normal[axis],
        tolerance,
    )?;
    Some((height, out, poses[0].point(crossing) - 0.5 * height * out))
}

/// Where an edge of a box that begins at its support vertex first gets over a face of another box, if it rises no more than
/// the tolerance on the way. Edges of equal length that lie along each other end at the border of the face, within
/// rounding: their contact is that of an edge and a face nevertheless, and follows the face.
fn border_crossing(
    face: DVec3,
    axis: usize,
    vertex: DVec3,
    poses: [&Pose; 2],
    half: DVec3,
    sign: f64,
    tolerance: f64,
) -> Option<DVec3> {
    let center = poses[0].inverse_point(poses[1].translation);
    for k in 0..3 {
        let mut edge = DVec3::ZERO;
        edge[k] = 2.0 * half[k];
        let edge = poses[0].inverse_vector(poses[1].vector(edge));
        // From the vertex to the other end, on the side of the centre.
        let edge = if edge.dot(center - vertex) < 0.0 { -edge } else { edge };
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for side in [(axis + 1) % 3, (axis + 2) % 3] {
            let (x, step, limit) = (vertex[side], edge[side], face[side]);
            let [a, b] = [(-limit - x) / step, (limit - x) / step];
            if a.is_nan() || b.is_nan() || step == 0.0 {
                if x.abs() > limit {
                    to = -1.0;
                }
                continue;
            }
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        }
        if from <= to && from * edge[axis] * sign <= tolerance {
            return Some(vertex + from * edge);
        }
    }
    None
}

/// Support point along a unit direction of the world; the centre of a parallel face or edge, so that bodies
/// that collide flat do not start to rotate.
fn support_point(shape: &ConvexShape<'_>, pose: &Pose, direction: DVec3) -> DVec3 {
    let d = pose.inverse_vector(direction);
    let mut point = shape.farthest(d, 0).0;
    match shape {
        ConvexShape::Cuboid(_) => {
            for side in 0..3 {
                if d[side].abs() < FACE_ANGLE {
                    point[side] = 0.0;
                }
            }
        }
        ConvexShape::Cylinder(_) if d.truncate().length() < FACE_ANGLE => (point.x, point.y) = (0.0, 0.0),
        ConvexShape::Cylinder(_) if d.z.abs() < FACE_ANGLE => point.z = 0.0,
        ConvexShape::Convex(convex) => point = support_centroid(convex.polyhedron().vertices(), d, point),
        _ => {}
    }
    pose.point(point + Support::radius(shape) * d)
}

/// (vertices, direction, a support vertex) ⇒ mean of all support vertices.
fn support_centroid(corners: &[DVec3], d: DVec3, support: DVec3) -> DVec3 {
    let least = support.dot(d) - FACE_ANGLE * support.length();
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for corner in corners {
        if corner.dot(d) >= least {
            sum += *corner;
            count += 1.0;
        }
    }
    if count > 1.0 { sum / count } else { support }
}

/// (parts, bodies, their states, normal, landing time of a bound) ⇒ time during which they cannot collide, s,
/// and the bound that proves it.
pub(super) fn separation_time(
    parts: [&ConvexPart; 2],
    bodies: [&BallisticBody; 2],
    motion: [&Motion; 2],
    normal: DVec3,
    landing: impl Fn(MotionBound) -> f64,
) -> (f64, MotionBound) {
    let first = bodies[0].bounds(parts[0], normal, motion[0]);
    let second = bodies[1].bounds(parts[1], -normal, motion[1]);
    let mut latest = (0.0f64, first[0].plus(second[0]));
    for a in first {
        for b in second {
            let bound = a.plus(b);
            let time = landing(bound);
            if time > latest.0 {
                latest = (time, bound);
            }
        }
    }
    latest
}
