//! Lower bounds on the distance of two separated colliders, which let the narrow phase skip the pair.
//!
//! The oriented bounding boxes of the colliders give a distance d that the colliders cannot fall short of.
//! Along each of the six face normals n (the face axes of the separating axis test, Gottschalk, Lin & Manocha
//! 1996) the boxes are
//!
//!   |n·Δc| − Σᵢ hᵢ|n·aᵢ| − Σⱼ kⱼ|n·bⱼ|
//!
//! apart, with Δc between the box centres and h, k the half extents along the box axes a and b. The bounding
//! spheres are |Δc| − r − s apart. The largest of these values is the bound.
//!
//! In a step, a point of a body within r of its centre of mass moves by at most |Δx| + 2r sin(θ/2) = |Δx| +
//! 2r|q⃗|, with q⃗ the vector part of the rotation of the step. The bound therefore shrinks to d − |Δx_a −
//! Δx_b| − 2r_a|q⃗_a| − 2r_b|q⃗_b| without reading the shapes. As long as it exceeds the speculative margin,
//! the pair needs no narrow phase. Motion that two bodies have in common (free fall) cancels.
//!
//! Single precision may round up; the bounds are reduced by a few ulp.

use super::sim_bodies::SimCollider;
use crate::rigid::Motion;
use glam::{DMat3, DVec3, Vec3};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};

/// Displacement of a body in the last step and its present velocity, packed in single precision for the pair
/// loop.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct StepDisplacement {
    /// Displacement of the centre of mass, m.
    translation: Vec3,
    /// Bound on the displacement of any point of the body by rotation, m.
    rotation: f32,
    velocity: Vec3,
    /// Bound on the speed of any point of the body by rotation, m/s.
    rotation_speed: f32,
}

impl StepDisplacement {
    /// A body that never moves.
    pub const REST: Self =
        Self { translation: Vec3::ZERO, rotation: 0.0, velocity: Vec3::ZERO, rotation_speed: 0.0 };
    /// Unknown displacement: invalidates every bound.
    pub const UNKNOWN: Self = Self { rotation: f32::INFINITY, ..Self::REST };

    /// (states before and after the step, largest distance of the surface from the centre of mass in m) ⇒
    /// displacement.
    #[inline]
    pub fn new(before: &Motion, now: &Motion, reach: f64) -> Self {
        let turn = before.q.conjugate() * now.q;
        Self {
            translation: (now.x - before.x).as_vec3(),
            rotation: (2.0 * reach * DVec3::new(turn.x, turn.y, turn.z).length()) as f32,
            velocity: now.v.as_vec3(),
            rotation_speed: (reach * now.omega.length()) as f32,
        }
    }
}

/// Factors that bound the rounding error of a sum of a few terms from below and above.
const ROUND_DOWN: f32 = 1.0 - 4.0 * f32::EPSILON;
const ROUND_UP: f32 = 1.0 + 16.0 * f32::EPSILON;

/// (separation bound, displacements of the last step) ⇒ separation bound after the step, m.
#[inline]
pub(super) fn remaining(bound: f32, [a, b]: [&StepDisplacement; 2]) -> f32 {
    ROUND_DOWN * (bound - ROUND_UP * ((a.translation - b.translation).length() + a.rotation + b.rotation))
}

/// (displacements, length of the coming step in s) ⇒ bound on the approach in that step, m.
#[inline]
pub(super) fn approach([a, b]: [&StepDisplacement; 2], dt: f64) -> f32 {
    ROUND_UP * dt as f32 * ((a.velocity - b.velocity).length() + a.rotation_speed + b.rotation_speed)
}

/// Largest lever arm about the centre of mass of one body with which a point of the other's touching collider moves in the
/// first one's frame, in units of the first body's reach. The tracked collider is the smaller of the two: its points are
/// at most one reach, its diameter, and a margin of half its radius away.
const TRACKED_LEVER: f32 = 4.0;

/// (how far the smaller of two touching colliders may still move as seen from the other body, displacements of the
/// last step) ⇒ the same after the step, m.
#[inline]
pub(super) fn remaining_slack(slack: f32, [a, b]: [&StepDisplacement; 2]) -> f32 {
    let rotation = TRACKED_LEVER * (a.rotation + b.rotation);
    ROUND_DOWN * (slack - ROUND_UP * ((a.translation - b.translation).length() + rotation))
}

/// (displacements, length of the coming step in s) ⇒ bound on the approach of touching colliders in that step, m.
#[inline]
pub(super) fn tracked_approach([a, b]: [&StepDisplacement; 2], dt: f64) -> f32 {
    let rotation = TRACKED_LEVER * (a.rotation_speed + b.rotation_speed);
    ROUND_UP * dt as f32 * ((a.velocity - b.velocity).length() + rotation)
}

/// Bound on the relative speed by rotation of any point of two bodies, m/s.
#[inline]
pub(super) fn rotation_speed([a, b]: [&StepDisplacement; 2]) -> f32 {
    ROUND_UP * (a.rotation_speed + b.rotation_speed)
}

/// Axes of the oriented bounding box of a collider.
fn axes((collider, pose): (&SimCollider, &Pose)) -> DMat3 {
    DMat3::from_quat(pose.rotation * collider.local_pose.rotation)
}

/// Lower bound on the distance of two colliders of bodies at these poses, m; not positive or NaN if none is
/// known.
#[inline]
pub(super) fn separation_bound(a: (&SimCollider, &Pose), b: (&SimCollider, &Pose)) -> f64 {
    let center = |(collider, pose): (&SimCollider, &Pose)| pose.point(collider.center);
    for (wall, other) in [(a, b), (b, a)] {
        if let Shape::HalfSpace(half_space) = &wall.0.shape {
            let plane = *wall.1 * wall.0.local_pose;
            let normal = plane.vector(half_space.normal());
            let across = axes(other).transpose() * normal;
            return normal.dot(center(other) - plane.translation) - across.abs().dot(other.0.half_extents);
        }
    }
    let between = center(b) - center(a);
    let spheres = between.length() - a.0.radius - b.0.radius;
    let (axes_a, axes_b) = (axes(a), axes(b));
    // Columns are B's axes in A's frame; rows are A's axes in B's frame.
    let relative = axes_a.transpose() * axes_b;
    let size = DMat3::from_cols(relative.x_axis.abs(), relative.y_axis.abs(), relative.z_axis.abs());
    let (half_a, half_b) = (a.0.half_extents, b.0.half_extents);
    let along_a = (axes_a.transpose() * between).abs() - half_a - size * half_b;
    let along_b = (axes_b.transpose() * between).abs() - half_b - size.transpose() * half_a;
    let boxes = along_a.max(along_b).max_element();
    if boxes > spheres { boxes } else { spheres }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Handle, World};
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::contact::distance as exact;
    use rattleback_geometry::space::{Mobility, SpaceKind, everywhere};

    fn collider(shape: &Shape, local_pose: Pose) -> SimCollider {
        let mut world = World::default();
        let body = world.add_body(Body::fixed().with_shape(shape.clone())).unwrap();
        let id = world.body(body).unwrap().shapes()[0];
        let proxy = SpaceKind::default().create().insert(&everywhere(), Mobility::Moving, 0).unwrap();
        SimCollider::plain(shape.clone(), local_pose, id, body.slot(), proxy)
    }

    fn poses() -> impl Strategy<Value = Pose> {
        let numbers = || (-1.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64).prop_map(DVec3::from);
        (numbers(), numbers()).prop_map(|(x, turn)| Pose {
            translation: 3.0 * x,
            rotation: DQuat::from_scaled_axis(3.0 * turn),
        })
    }

    fn shapes() -> Vec<Shape> {
        vec![
            Shape::sphere(0.4).unwrap(),
            Shape::cuboid(DVec3::new(0.3, 0.5, 0.7)).unwrap(),
            Shape::capsule(0.5, 0.2).unwrap(),
            Shape::cone(0.5, 0.9).unwrap(),
            Shape::half_space(DVec3::new(0.3, -0.2, 1.0)).unwrap(),
        ]
    }

    fn motion(pose: &Pose, v: DVec3, omega: DVec3) -> Motion {
        Motion { x: pose.translation, q: pose.rotation, v, omega }
    }

    proptest! {
        /// Neither the bound nor what remains of it after a step exceeds the exact distance.
        #[test]
        fn bounds_never_exceed_the_distance(
            kinds in [0..4_usize, 0..5_usize],
            local_poses in [poses(), poses()],
            before in [poses(), poses()],
            after in [poses(), poses()],
        ) {
            let shapes = shapes();
            let colliders = [0, 1].map(|k| collider(&shapes[kinds[k]], local_poses[k]));
            let gap = |at: &[Pose; 2]| {
                let [a, b] = [at[0] * local_poses[0], at[1] * local_poses[1]];
                let found = exact(&shapes[kinds[0]], &shapes[kinds[1]], &a.relative(&b));
                found.map_or(0.0, |found| found.distance)
            };
            let bound = separation_bound((&colliders[0], &before[0]), (&colliders[1], &before[1]));
            prop_assert!(bound <= gap(&before).max(0.0) + 1e-9, "{} of {}", bound, gap(&before));
            let displacement = |k: usize| {
                let reach = colliders[k].center.length() + colliders[k].radius;
                let [then, now] = [&before[k], &after[k]].map(|pose| motion(pose, DVec3::ZERO, DVec3::ZERO));
                StepDisplacement::new(&then, &now, reach)
            };
            let rest = remaining(bound as f32, [&displacement(0), &displacement(1)]);
            prop_assert!(rest.is_nan() || f64::from(rest) <= gap(&after).max(0.0) + 1e-6);
        }

        /// The bound is exact for boxes with parallel faces along a face normal, and for spheres.
        #[test]
        fn bounds_are_exact_for_parallel_faces_and_spheres(gap in 0.01..5.0_f64, pose in poses()) {
            let cube = collider(&Shape::cuboid(DVec3::splat(0.5)).unwrap(), Pose::IDENTITY);
            let beside = pose * Pose { translation: (1.0 + gap) * DVec3::Y, rotation: DQuat::IDENTITY };
            prop_assert!((separation_bound((&cube, &pose), (&cube, &beside)) - gap).abs() < 1e-12);
            let ball = collider(&Shape::sphere(0.5).unwrap(), Pose::IDENTITY);
            prop_assert!((separation_bound((&ball, &pose), (&ball, &beside)) - gap).abs() < 1e-12);
        }
    }

    /// An unknown displacement uses up any bound; bodies at rest keep it up to rounding.
    #[test]
    fn an_unknown_displacement_invalidates_a_bound() {
        assert!(remaining(1e30, [&StepDisplacement::UNKNOWN, &StepDisplacement::REST]) < 0.0);
        assert!(remaining(1.0, [&StepDisplacement::REST, &StepDisplacement::REST]) > 0.999_999);
    }
}
