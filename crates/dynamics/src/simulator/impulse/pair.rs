//! Pairs of parts that may meet soon.
//!
//! Most gaps are last_gap by search, but one kind is so common that it is tried first: a body above a plane, a face of a box or an end of a cylinder. Let p be the
//! point of the body farthest against the outward normal n of the face, h above its plane. If h > 0 and p lies over the face, then
//! the distance is h exactly: the plane keeps the two apart by h, and p is h away from its own foot on the face. Rims of cylinders have a way of
//! their own (`cylinder_distance`).

use super::ballistic_body::BallisticBody;
use super::convex_part::ConvexPart;
use super::cylinder_distance::rim_distance;
use super::motion_bound::MotionBound;
use super::tuning::{FACE_ANGLE, OVERLAP_ROUNDING};
use crate::motion::Motion;
use glam::DVec3;
use rattleback_geometry::Pose;
use rattleback_geometry::closest::{ClosestError, ConvexShape, Separation, Support};
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
use serde::{Deserialize, Serialize};

/// Two parts of different bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ImpulsePair {
    pub parts: [u32; 2],
    pub bodies: [u32; 2],
    /// Whether their swept boxes are close at present.
    pub boxes_overlap: bool,
    #[serde(skip)]
    pub cache: PieceCache,
    /// The step that the cache is of: each begins anew, so that a run taken up from a snapshot goes on bit for bit.
    #[serde(skip)]
    pub cache_step: u64,
    /// When the gap was last last_gap, and what it was.
    pub last_gap: (f64, f64),
    /// What is known of the gap: at this time it was at least so wide along the normal, and shrinks no faster than the bound.
    pub bound_time: f64,
    pub distance: f64,
    pub bound: MotionBound,
    /// Whether it need not be looked at until an odometer of its bodies passes these readings (`travel_deadline`).
    pub deferred: bool,
    pub deadlines: [f64; 2],
    pub restitution: f64,
    /// Coulomb coefficient while sliding.
    pub friction: f64,
    /// Coulomb coefficient that holds.
    pub static_friction: f64,
    /// Levers of the resistance against rolling and against spinning about the normal, m.
    pub rolling_levers: [f64; 2],
    /// Sum of the impulses on the second body since `sum_start`.
    pub impulse: DVec3,
    pub sum_start: f64,
    /// Average force over the last full window, N.
    pub force: DVec3,
    /// Normal of the last look, world frame: what is left if bodies should ever overlap.
    pub normal: DVec3,
    /// Where that was.
    pub point: DVec3,
    /// Which of the two showed a face there, if one did.
    pub face: Option<u8>,
    /// When they last collided, and how fast they parted then.
    pub hop: (f64, f64),
    /// Velocity of the second against the first where they touched, just after that, m/s.
    pub hop_velocity: DVec3,
    /// How wide the gap was then, m.
    pub hop_gap: f64,
    /// By how much, and in what time, the gap was pull_sum together over its last hops.
    pub pull_sum: (f64, f64),
    /// Slow collisions since `count_start`, within a time in which hardly anything moves.
    pub collision_count: u32,
    pub count_start: f64,
    /// Events since `stall_start`, within one stall time.
    pub event_count: u32,
    pub stall_start: f64,
    /// Added to every gap, m: bodies that touched exactly when they began near, to rounding, have a gap of [`INITIAL_GAP`] ε then.
    pub offset: f64,
}

impl ImpulsePair {
    /// A number that tells pairs apart whatever the order they were made in.
    pub fn pair_key(&self) -> u64 {
        u64::from(self.parts[0]) << 32 | u64::from(self.parts[1])
    }

    /// A width that the gap has at least at time t, as long as neither body has been touched since it was last last_gap.
    pub fn gap_lower_bound(&self, t: f64) -> f64 {
        self.distance - self.bound.displacement(t - self.bound_time)
    }

    /// Which of the two an body is.
    pub fn side_of(&self, body: u32) -> usize {
        usize::from(self.bodies[0] != body)
    }
}

/// Where two parts are nearest, in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairGap {
    /// Negative if they overlap.
    pub distance: f64,
    /// From the first to the second.
    pub normal: DVec3,
    /// Midway between the nearest points.
    pub point: DVec3,
    /// Velocity of the second against the first along the normal at that point: below zero they close in.
    pub rate: f64,
    /// Which of the two shows a face there, if one does.
    pub face: Option<u8>,
}

/// (parts, their bodies now) ⇒ the gap.
pub(super) fn measure(
    parts: [&ConvexPart; 2],
    motion: [&Motion; 2],
    cache: &mut PieceCache,
    last_normal: DVec3,
) -> Result<PairGap, ClosestError> {
    let poses = [0, 1].map(|k| motion[k].pose() * parts[k].pose);
    let pieces = [parts[0].piece()?, parts[1].piece()?];
    for (face, over) in [(0, 1), (1, 0)] {
        let outward = if face == 0 { last_normal } else { -last_normal };
        if let Some(gap) =
            distance_over_face([&pieces[face], &pieces[over]], [&poses[face], &poses[over]], outward)
        {
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

/// (box or cylinder and another, their poses, outward direction) ⇒ distance, normal of the face that looks there, and the
/// point between, if the other is nearest to the inside of that face.
fn distance_over_face(
    pieces: [&Piece<'_>; 2],
    poses: [&Pose; 2],
    outward: DVec3,
) -> Option<(f64, DVec3, DVec3)> {
    let Piece::Bounded(other) = pieces[1] else { return None };
    let faced = match pieces[0] {
        Piece::Bounded(faced) => faced,
        Piece::HalfSpace(half_space) => {
            let out = poses[0].vector(half_space.normal());
            let point = support_point(other, poses[1], -out);
            let height = (point - poses[0].translation).dot(out);
            return Some((height, out, point - 0.5 * height * out));
        }
        Piece::Triangle(_) => return None,
    };
    let local = poses[0].inverse_vector(outward);
    let (axis, depth) = match faced {
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
    let over = match faced {
        ConvexShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            [(axis + 1) % 3, (axis + 2) % 3].into_iter().all(|side| above[side].abs() <= half[side])
        }
        ConvexShape::Cylinder(cylinder) => above.truncate().length() <= cylinder.radius(),
        _ => false,
    };
    (height > -OVERLAP_ROUNDING * depth && over).then(|| (height, out, point - 0.5 * height * out))
}

/// The point farthest along a unit direction of the world; of a flat side that faces it, or an edge across it, the support_centroid, so
/// that bodies that meet flat do not begin to turn.
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

/// (corners, direction, a foremost one) ⇒ the support_centroid of all foremost corners.
fn support_centroid(corners: &[DVec3], d: DVec3, foremost: DVec3) -> DVec3 {
    let least = foremost.dot(d) - FACE_ANGLE * foremost.length();
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for corner in corners {
        if corner.dot(d) >= least {
            sum += *corner;
            count += 1.0;
        }
    }
    if count > 1.0 { sum / count } else { foremost }
}

/// (parts, bodies, how they move now, normal, landing rule of a bound) ⇒ seconds during which they cannot have met, and the
/// bound that says so.
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
