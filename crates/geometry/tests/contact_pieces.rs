//! Contact of pieces against bounds, brute force and closed forms.

use crate::contact_oracle;
use crate::random;

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use contact_oracle::{PAIRS, SPECIAL, Solid, Worst, hull, worst_errors};
use glam::{DQuat, DVec2, DVec3};
use proptest::prelude::*;
use random::Random;
use rattleback_geometry::closest::{ClosestError, ConvexShape, GjkCache, signed_distance};
use rattleback_geometry::contact::{
    Manifold, Piece, PieceCache, collide_pieces, distance_pieces, pieces_intersect,
};
use rattleback_geometry::{Pose, Shape, convex_hull};

fn touch(a: &Piece<'_>, b: &Piece<'_>, pose: &Pose, margin: f64) -> Option<Manifold> {
    collide_pieces(a, b, pose, margin, &mut PieceCache::default()).unwrap()
}

/// Distances to 1e-9 of the size, also exchanged and moved; depths and manifolds to 1e-6.
fn keeps_its_promises(name: &str, worst: &Worst) {
    assert_eq!(worst.disagreements, 0, "{name}: {worst:?}");
    assert!(
        [worst.distance, worst.swapped, worst.moved].iter().all(|&error| error < 1e-9),
        "{name}: {worst:?}"
    );
    let coarse = [worst.depth, worst.manifold, worst.manifold_moved, worst.cached];
    assert!(coarse.iter().all(|&error| error < 1e-6), "{name}: {worst:?}");
    assert!(worst.witness < 1e-5, "{name}: {worst:?}");
}

/// every pair, every claim, over random poses.
#[test]
fn every_pair_keeps_its_promises() {
    for pair in PAIRS {
        let worst = worst_errors(pair, 40, 7);
        keeps_its_promises(pair.name, &worst);
    }
}

/// Touching, parallel, nested, far, tiny, stretched and custom ones.
#[test]
fn special_places_keep_their_promises() {
    for pair in SPECIAL {
        let worst = worst_errors(pair, 40, 3);
        keeps_its_promises(pair.name, &worst);
    }
}

/// One cache through thousands of aligned poses, where an edge's axis can be as good as a face's: the depth
/// stays the fresh one.
#[test]
fn caches_do_not_change_depths_of_aligned_boxes() {
    let worst = worst_errors(&SPECIAL[0], 3000, 1);
    assert!(worst.cached < 1e-8 && worst.disagreements == 0, "{worst:?}");
}

/// two spheres, apart and concentric.
#[test]
fn two_spheres_touch_on_the_line_of_centres() {
    let (one, two) = (Shape::sphere(1.0).unwrap(), Shape::sphere(2.0).unwrap());
    let (a, b) = (Piece::try_from(&one).unwrap(), Piece::try_from(&two).unwrap());
    let manifold = touch(&a, &b, &Pose::at(DVec3::X * 2.5), 0.0).unwrap();
    let point = manifold.points()[0];
    assert_eq!((manifold.normal, point.separation), (DVec3::X, -0.5));
    assert_eq!((point.point_a, point.point_b), (DVec3::X, DVec3::X * 0.5));
    let concentric = touch(&a, &b, &Pose::IDENTITY, 0.0).unwrap();
    assert!(concentric.normal.is_normalized() && concentric.points()[0].separation == -3.0);
}

fn apart(a: &Piece<'_>, b: &Piece<'_>, pose: &Pose) -> f64 {
    let nearest = distance_pieces(a, b, pose, &mut PieceCache::default()).unwrap();
    assert!(!pieces_intersect(a, b, pose, &mut PieceCache::default()).unwrap());
    assert!(touch(a, b, pose, nearest.distance - 1e-9).is_none());
    assert!(touch(a, b, pose, nearest.distance + 1e-9).is_some());
    nearest.distance
}

/// pairs that fewer axes than all would call overlapping.
#[test]
fn axes_that_are_easily_forgotten_separate() {
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let cylinder = Shape::cylinder(1.0, 2.0).unwrap();
    let (cube, cylinder) = (Piece::try_from(&cube).unwrap(), Piece::try_from(&cylinder).unwrap());
    let triangle = Piece::Triangle([
        DVec3::new(-1.0, -0.5, 3.0),
        DVec3::new(2.0, -3.0, 0.5),
        DVec3::new(2.0, -3.0, 2.5),
    ]);
    assert!((apart(&triangle, &cube, &Pose::IDENTITY) - 1.060660).abs() < 1e-6);

    let tilted = DQuat::from_rotation_arc(DVec3::Z, DVec3::new(1.0, 2.0, 1.0) / 6.0f64.sqrt());
    let upright = DQuat::from_rotation_x(-FRAC_PI_2);
    let a_in_world = Pose::new(upright, DVec3::ZERO);
    let b_in_world = Pose::new(tilted, DVec3::new(1.75, 2.25, -0.75));
    assert!(apart(&cylinder, &cylinder, &a_in_world.relative(&b_in_world)) > 0.148);
    assert!(apart(&cube, &cylinder, &Pose::new(tilted, DVec3::new(-1.0, 2.25, 2.25))) > 0.4017);

    let corners = [[-1.0, -3.0, -3.0], [2.0, -3.0, -4.0], [3.0, -4.0, 0.0], [-3.0, 1.0, -4.0]];
    let tetrahedron = Shape::Convex(Arc::new(convex_hull(&corners.map(DVec3::from_array)).unwrap()));
    let gap = apart(&Piece::try_from(&tetrahedron).unwrap(), &cube, &Pose::IDENTITY);
    assert!((gap - 1.093216).abs() < 1e-6, "{gap}");
}

/// Whether the origin lies in the hull of points in the plane.
fn surrounds(points: &[DVec2]) -> bool {
    let angles = (0..64).map(|k| DVec2::from_angle(f64::from(k) * std::f64::consts::TAU / 64.0));
    points.len() >= 3 && angles.into_iter().all(|d| points.iter().any(|p| p.dot(d) > 0.0))
}

/// Aligned boxes, cylinders and cones that touch or overlap along flat parts: the nearest points lie in both,
/// however little the flat parts share.
#[test]
fn nearest_points_of_aligned_bodies_lie_in_both() {
    let shapes = [
        Shape::cuboid(DVec3::ONE).unwrap(),
        Shape::cylinder(1.0, 2.0).unwrap(),
        Shape::cone(1.0, 2.0).unwrap(),
    ];
    let steps = [-2.0, -1.9, -1.0, 0.0, 0.5, 1.4, 2.0, 2.0 + 1e-10, 2.0 - 1e-10];
    for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
        for turn in [DQuat::IDENTITY, DQuat::from_rotation_x(FRAC_PI_2), DQuat::from_rotation_y(FRAC_PI_2)] {
            for at in steps.iter().flat_map(|&x| steps.iter().map(move |&z| DVec3::new(x, 0.5 * z, z))) {
                let pose = Pose::new(turn, at);
                let (piece_a, piece_b) = (Piece::try_from(a).unwrap(), Piece::try_from(b).unwrap());
                let nearest = distance_pieces(&piece_a, &piece_b, &pose, &mut PieceCache::default()).unwrap();
                let gap = nearest.point_b - nearest.point_a - nearest.distance * nearest.normal;
                let outside_a = a.closest_point(nearest.point_a).unwrap().distance;
                let outside_b = b.closest_point(pose.inverse_point(nearest.point_b)).unwrap().distance;
                // As far off as a depth may be, which against a cone's side is known to 1e-6.
                assert!(
                    gap.length().max(outside_a).max(outside_b) < 1e-6,
                    "{a:?} {b:?} {pose:?} {nearest:?}"
                );
            }
        }
    }
}

/// Anything with a flat side that stands on a box, leaning by a millionth, is held all around.
#[test]
fn standing_bodies_are_held_all_around() {
    let floor = Shape::cuboid(DVec3::new(3.0, 3.0, 1.0)).unwrap();
    let half = Shape::half_space(DVec3::Z).unwrap();
    let bodies = [
        (Shape::cylinder(0.5, 2.0).unwrap(), 1.0),
        (Shape::cone(0.5, 4.0).unwrap(), 1.0),
        (Shape::cuboid(DVec3::new(0.5, 0.4, 1.0)).unwrap(), 1.0),
        (Shape::cylinder(0.5, 2.0).unwrap(), 1.0),
    ];
    for (body, base) in &bodies {
        for (ground, top) in [(&floor, 1.0), (&half, 0.0)] {
            for k in 0..8 {
                let way = DVec2::from_angle(f64::from(k)).extend(0.0);
                let turn = DQuat::from_scaled_axis(1e-6 * way) * DQuat::from_rotation_z(0.3 * f64::from(k));
                for gap in [-1e-4, 1e-4] {
                    let pose = Pose::new(turn, DVec3::new(0.1, -0.2, top + base + gap));
                    let (a, b) = (Piece::try_from(ground).unwrap(), Piece::try_from(body).unwrap());
                    let manifold = touch(&a, &b, &pose, 0.01).unwrap();
                    let flat = |p: DVec3| (p - pose.translation).truncate();
                    let feet: Vec<DVec2> = manifold.points().iter().map(|p| flat(p.point_a)).collect();
                    assert!(surrounds(&feet), "{body:?} on {ground:?}: {manifold:?}");
                    assert!(manifold.normal.z > 1.0 - 1e-9);
                }
            }
        }
    }
}

/// Lying capsules and cylinders touch along a line: two points, near its ends.
#[test]
fn lying_bodies_touch_at_both_ends() {
    let floor = Shape::cuboid(DVec3::new(3.0, 3.0, 1.0)).unwrap();
    let other = Shape::capsule(0.3, 4.0).unwrap();
    let lying = DQuat::from_rotation_y(FRAC_PI_2) * DQuat::from_rotation_z(0.4);
    for body in [Shape::capsule(0.5, 2.0).unwrap(), Shape::cylinder(0.5, 2.0).unwrap()] {
        let (a, b) = (Piece::try_from(&floor).unwrap(), Piece::try_from(&body).unwrap());
        let manifold = touch(&a, &b, &Pose::new(lying, DVec3::Z * 1.499), 0.01).unwrap();
        let ends: Vec<f64> = manifold.points().iter().map(|p| p.point_a.x).collect();
        assert_eq!(ends.len(), 2, "{manifold:?}");
        assert!((ends[0].abs() - 1.0).abs() < 1e-9 && (ends[0] + ends[1]).abs() < 1e-9);
        assert!(manifold.points().iter().all(|p| (p.separation + 0.001).abs() < 1e-9));
    }
    // Side by side along z: over the shorter of the two.
    let short = Shape::capsule(0.2, 1.0).unwrap();
    let (a, b) = (Piece::try_from(&other).unwrap(), Piece::try_from(&short).unwrap());
    let manifold = touch(&a, &b, &Pose::at(DVec3::X * 0.501), 0.01).unwrap();
    let heights: Vec<f64> = manifold.points().iter().map(|p| p.point_b.z).collect();
    assert!(heights.len() == 2 && heights.iter().all(|z| (z.abs() - 0.5).abs() < 1e-12));
}

/// Names of contact points are those of features: they survive a small motion and the exchange of A and B.
#[test]
fn names_stay_while_features_do() {
    let (floor, cube) =
        (Shape::cuboid(DVec3::new(3.0, 3.0, 1.0)).unwrap(), Shape::cuboid(DVec3::ONE).unwrap());
    let (a, b) = (Piece::try_from(&floor).unwrap(), Piece::try_from(&cube).unwrap());
    let mut cache = PieceCache::default();
    let names = |manifold: &Manifold| {
        let mut ids: Vec<u32> = manifold.points().iter().map(|p| p.id).collect();
        ids.sort_unstable();
        ids
    };
    let mut first = None;
    for k in 0..100 {
        let t = f64::from(k);
        let turn = DQuat::from_scaled_axis(1e-4 * DVec3::new((3.0 * t).sin(), (5.0 * t).cos(), t));
        let pose = Pose::new(turn, DVec3::new(1e-3 * t, 0.0, 1.9995 + 4e-4 * t.sin()));
        let manifold = collide_pieces(&a, &b, &pose, 0.01, &mut cache).unwrap().unwrap();
        let back =
            collide_pieces(&b, &a, &pose.inverse(), 0.01, &mut PieceCache::default()).unwrap().unwrap();
        let ids = names(&manifold);
        assert_eq!(ids.len(), 4);
        assert_eq!(names(&back.swapped(&pose.inverse())), ids);
        assert_eq!(*first.get_or_insert(ids.clone()), ids);
    }
}

/// Two half-spaces overlap unless they face each other.
#[test]
fn half_spaces_intersect_unless_they_face_each_other() {
    let (up, down) = (Shape::half_space(DVec3::Z).unwrap(), Shape::half_space(-DVec3::Z).unwrap());
    let (a, b) = (Piece::try_from(&up).unwrap(), Piece::try_from(&down).unwrap());
    let cache = &mut PieceCache::default();
    let above = Pose::at(DVec3::Z * 2.0);
    assert_eq!(distance_pieces(&a, &b, &above, cache).unwrap().distance, 2.0);
    assert!(!pieces_intersect(&a, &b, &above, cache).unwrap());
    assert!(pieces_intersect(&a, &b, &above.inverse(), cache).unwrap());
    assert!(pieces_intersect(&a, &a, &above, cache).unwrap());
    assert!(matches!(distance_pieces(&a, &a, &above, cache), Err(ClosestError::NotConvex(_))));
    assert!(collide_pieces(&a, &b, &above.inverse(), 1.0, cache).unwrap().is_none());
}

#[test]
fn bad_questions_get_errors_or_nothing() {
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let cube = Piece::try_from(&cube).unwrap();
    let cache = &mut PieceCache::default();
    let nowhere = Pose::at(DVec3::new(0.0, f64::NAN, 0.0));
    assert_eq!(collide_pieces(&cube, &cube, &nowhere, 0.0, cache), Err(ClosestError::InvalidPose));
    assert_eq!(collide_pieces(&cube, &cube, &Pose::IDENTITY, f64::NAN, cache), Ok(None));
    let lost = Piece::Triangle([DVec3::ZERO, DVec3::X, DVec3::splat(f64::INFINITY)]);
    assert_eq!(collide_pieces(&cube, &lost, &Pose::IDENTITY, 0.0, cache), Err(ClosestError::InvalidPoint));
    assert_eq!(
        distance_pieces(&lost, &cube, &Pose::IDENTITY, cache).map(|_| ()),
        Err(ClosestError::InvalidPoint)
    );
    // Without area, without length: still a defined answer.
    for corners in [[DVec3::ZERO; 3], [DVec3::ZERO, DVec3::X, DVec3::X * 2.0]] {
        let thin = Piece::Triangle(corners);
        let manifold = collide_pieces(&cube, &thin, &Pose::at(DVec3::Z * 0.9), 0.0, cache).unwrap().unwrap();
        assert!((manifold.deepest().unwrap().separation + 0.1).abs() < 1e-9);
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2.0..2.0f64,
        1 => prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(1e-12), Just(1e6), Just(1e-4)],
    ]
}

fn vector() -> impl Strategy<Value = DVec3> {
    (number(), number(), number()).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

fn any_shape() -> impl Strategy<Value = Option<Shape>> {
    (0..9u8, vector(), prop::collection::vec(vector(), 4..20)).prop_map(|(kind, size, points)| {
        let s = size.abs();
        match kind {
            0 => Shape::sphere(s.x),
            1 => Shape::cuboid(s),
            2 => Shape::cylinder(s.x, s.y),
            3 => Shape::capsule(s.x, s.y),
            4 => Shape::cone(s.x, s.y),
            5 => Shape::ellipsoid(s),
            6 => Shape::half_space(size),
            _ => Shape::convex_hull(&points),
        }
        .ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the pieces and the pose, a manifold is finite, small and within its margin, and a used cache
    /// changes nothing.
    #[test]
    fn any_two_pieces_give_a_sound_manifold(
        a in any_shape(), b in any_shape(), corners in [vector(), vector(), vector()], swap in any::<bool>(),
        axis in vector(), at in vector(), margin in -0.5..0.5f64,
    ) {
        let pose = Pose::new(DQuat::from_scaled_axis(axis), at);
        let a = a.as_ref().map_or(Piece::Triangle(corners), |shape| Piece::try_from(shape).unwrap());
        let b = b.as_ref().map_or(Piece::Triangle(corners), |shape| Piece::try_from(shape).unwrap());
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let mut cache = PieceCache::default();
        for pose in [pose, pose, Pose::new(pose.rotation, at + DVec3::splat(1e-3))] {
            let Ok(Some(manifold)) = collide_pieces(&a, &b, &pose, margin, &mut cache) else { continue };
            prop_assert!((manifold.normal.length() - 1.0).abs() < 1e-9);
            prop_assert!(!manifold.points().is_empty() && manifold.points().len() <= 4);
            for point in manifold.points() {
                prop_assert!(point.point_a.is_finite() && point.point_b.is_finite());
                prop_assert!(point.separation <= margin);
            }
        }
    }
}

/// One cache through thousands of unrelated poses of ever other hulls: whatever its contents, the result is
/// the fresh one.
#[test]
fn caches_of_other_pairs_do_no_harm() {
    let mut random = Random(5);
    let mut cache = GjkCache::default();
    for _ in 0..400 {
        let [a, b] = [(); 2].map(|()| hull(&mut random));
        let (Solid::Shape(a), Solid::Shape(b)) = (&a, &b) else { continue };
        let [a, b] = [a, b].map(|shape| ConvexShape::try_from(shape).unwrap());
        for _ in 0..20 {
            let pose = random.pose(1.5);
            let kept = signed_distance(&a, &b, &pose, &mut cache).unwrap();
            let fresh = signed_distance(&a, &b, &pose, &mut GjkCache::default()).unwrap();
            assert!((kept.distance - fresh.distance).abs() < 1e-12, "{kept:?} {fresh:?}");
        }
    }
}
