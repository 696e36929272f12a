//! Recycled contacts of bodies that move little: errors within their bound, and of second order in
//! the motion.

use crate::contact_oracle;
use crate::random;

use contact_oracle::{PAIRS, Solid};
use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::contact::{
    CachedContact, Manifold, Piece, PieceCache, Recycling, collide_pieces, distance_pieces,
};
use rattleback_geometry::{Pose, Shape};

const GENEROUS: Recycling = Recycling { tilt: 0.1, slip: 0.05, tolerance: f64::INFINITY };

fn depth(manifold: Option<&Manifold>) -> Option<f64> {
    manifold.and_then(|manifold| manifold.deepest().map(|point| point.separation))
}

fn distance(a: &Piece<'_>, b: &Piece<'_>, pose: &Pose) -> f64 {
    distance_pieces(a, b, pose, &mut PieceCache::default()).unwrap().distance
}

/// Without recycling a cached contact is the computed one, and the same pose again is free.
#[test]
fn exact_contacts_are_those_computed_anew() {
    let mut random = Random(5);
    for pair in PAIRS {
        let [a, b] = (pair.make)(&mut random);
        let (mut contact, mut cache) = (CachedContact::default(), PieceCache::default());
        for _ in 0..10 {
            let pose = (pair.pose)(&mut random);
            let (a, b) = (a.piece(), b.piece());
            let expected = collide_pieces(&a, &b, &pose, 0.1, &mut cache).unwrap();
            for _ in 0..2 {
                let found = contact.update(&a, &b, &pose, 0.1, &Recycling::EXACT).unwrap();
                assert_eq!(found.copied(), expected, "{}", pair.name);
            }
        }
        assert_eq!((contact.computed(), contact.recycled()), (10, 10));
    }
}

/// Every pair of kinds: a recycled depth is off by at most twice the farthest motion, and every recycled
/// point lies in both bodies.
#[test]
fn recycled_depths_are_off_by_at_most_twice_the_motion() {
    let mut random = Random(11);
    for pair in PAIRS {
        let mut recycled = 0;
        for _ in 0..30 {
            let [a, b] = (pair.make)(&mut random);
            let pose = (pair.pose)(&mut random);
            let radius = b.size() * 3f64.sqrt();
            let (piece_a, piece_b) = (a.piece(), b.piece());
            let mut contact = CachedContact::default();
            if contact.update(&piece_a, &piece_b, &pose, 0.1, &GENEROUS).unwrap().is_none() {
                continue;
            }
            for _ in 0..4 {
                let (turn, shift) = (0.01 * random.in_cube(), 0.01 * random.in_cube());
                let next = Pose::new(DQuat::from_scaled_axis(turn) * pose.rotation, pose.translation + shift);
                let motion = shift.length() + turn.length() * radius;
                let before = contact.recycled();
                let Some(found) = contact.update(&piece_a, &piece_b, &next, 0.1, &GENEROUS).unwrap() else {
                    break;
                };
                let error = (depth(Some(found)).unwrap() - distance(&piece_a, &piece_b, &next)).abs();
                for point in found.points() {
                    assert!(point.separation <= 0.1);
                    let gap = point.point_b - point.point_a;
                    assert!((gap.dot(found.normal) - point.separation).abs() < 1e-9);
                    assert!(outside(&a, point.point_a) < 1e-6);
                    assert!(outside(&b, next.inverse_point(point.point_b)) < 1e-6);
                }
                if contact.recycled() == before {
                    break;
                }
                recycled += 1;
                assert!(error <= 2.0 * motion + 1e-9, "{}: {error} after {motion}", pair.name);
            }
        }
        assert!(recycled > 3, "{}: {recycled}", pair.name);
    }
}

fn outside(solid: &Solid, p: DVec3) -> f64 {
    solid.outside(p)
}

/// Half the motion, a quarter of the error: a box that stands on a box, one that stands on an edge, two
/// crossed edges.
#[test]
fn errors_are_of_second_order() {
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let piece = Piece::try_from(&cube).unwrap();
    let eighth = std::f64::consts::FRAC_PI_4;
    let (edge, half_diagonal) = (DQuat::from_rotation_x(eighth), 2f64.sqrt());
    let crossed = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_x(eighth);
    let on_edge = Pose::new(DQuat::from_rotation_x(eighth), DVec3::ZERO);
    let poses = [
        // Not turned: what eight corners share would lose four, and those may become the deepest.
        Pose::at(DVec3::new(0.2, 0.1, 1.98)),
        // A's face against B's edge, and B's face against A's edge.
        Pose::new(edge, DVec3::new(0.2, 0.1, 0.98 + half_diagonal)),
        Pose::new(edge, DVec3::new(0.2, 0.1, 0.98 + half_diagonal)).inverse(),
        on_edge.relative(&Pose::new(crossed, DVec3::new(0.1, 0.05, 2.0 * half_diagonal - 0.02))),
    ];
    let mut random = Random(3);
    for pose in poses {
        for _ in 0..10 {
            let (turn, shift) = (random.on_sphere(), random.on_sphere());
            let error = |motion: f64| {
                let mut contact = CachedContact::default();
                contact.update(&piece, &piece, &pose, 0.05, &GENEROUS).unwrap();
                let rotation = DQuat::from_scaled_axis(motion * turn) * pose.rotation;
                let next = Pose::new(rotation, pose.translation + motion * shift);
                let found = depth(contact.update(&piece, &piece, &next, 0.05, &GENEROUS).unwrap()).unwrap();
                assert_eq!(contact.recycled(), 1);
                (found - distance(&piece, &piece, &next)).abs()
            };
            for motion in [4e-3, 1e-3, 2.5e-4] {
                assert!(error(motion) <= 4.0 * motion * motion, "{pose:?}: {} after {motion}", error(motion));
            }
        }
    }
}

/// Contacts are recomputed after too much motion, at the end of touching and for another margin; bad poses
/// are errors.
#[test]
fn contacts_that_change_are_computed_anew() {
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let piece = Piece::try_from(&cube).unwrap();
    let mut contact = CachedContact::default();
    let mut computed = |pose: Pose, margin: f64| {
        let expected = collide_pieces(&piece, &piece, &pose, margin, &mut PieceCache::default()).unwrap();
        let before = contact.computed();
        let found = contact.update(&piece, &piece, &pose, margin, &Recycling::REAL_TIME).unwrap();
        assert_eq!(found.is_some(), expected.is_some());
        contact.computed() > before
    };
    let at = |x: f64, z: f64| Pose::at(DVec3::new(x, 0.0, z));
    assert!(computed(at(0.0, 1.99), 0.01));
    assert!(!computed(at(5e-4, 1.992), 0.01));
    assert!(computed(at(2e-3, 1.992), 0.01), "slipped");
    assert!(computed(at(2e-3, 2.001), 0.01), "ended to touch");
    assert!(!computed(at(2e-3, 2.002), 0.01));
    assert!(computed(at(2e-3, 2.002), 0.02), "another margin");
    assert!(computed(at(2e-3, 2.021), 0.02), "beyond the margin");
    assert!(!computed(at(2e-3, 2.021), 0.02), "the same pose");
    let tilted = Pose::new(DQuat::from_rotation_x(0.02), DVec3::new(2e-3, 0.0, 2.0));
    assert!(computed(tilted, 0.02), "tilted");
    let nowhere = Pose::at(DVec3::new(0.0, f64::NAN, 0.0));
    let wrong = contact.update(&piece, &piece, &nowhere, 0.02, &Recycling::REAL_TIME);
    assert_eq!(wrong, Err(ClosestError::InvalidPose));
    contact.clear();
    assert_eq!(contact.computed(), 0);
}
