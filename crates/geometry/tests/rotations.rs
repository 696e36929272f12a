//! Quaternions and rigid motions.

use crate::random;

use std::f64::consts::PI;

use glam::{DMat3, DMat4, DQuat, DVec3};
use random::Random;
use rattleback_geometry::{
    Pose, RotationError, axis_angle, from_axis_angle, normalized, orthonormalized, rotation_from_matrix,
    slerp,
};

fn same_rotation(a: DQuat, b: DQuat, tolerance: f64) -> bool {
    (a - b).length().min((a + b).length()) < tolerance
}

/// Hamilton's table.
#[test]
fn q_1_hamilton() {
    let [i, j, k] = DVec3::AXES.map(|v| DQuat::from_xyzw(v.x, v.y, v.z, 0.0));
    assert_eq!([i * j, j * k, k * i], [k, i, j]);
    assert_eq!([j * i, k * j, i * k], [-k, -i, -j]);
    assert_eq!(i * j * k, -DQuat::IDENTITY);
}

/// products, norms and conversions over 10⁵ random pairs, and round trips at angles 0, π and π − 1e-9.
#[test]
fn q_2_products_and_round_trips() {
    let mut random = Random(20);
    for _ in 0..100_000 {
        let (p, q) = (random.rotation(), random.rotation());
        let (rp, rq) = (DMat3::from_quat(p), DMat3::from_quat(q));
        assert!(DMat3::from_quat(p * q).abs_diff_eq(rp * rq, 1e-14));
        let (a, b) = (p * 3.0, q * 0.2);
        assert!(((a * b).length() - a.length() * b.length()).abs() < 1e-14);
        let v = random.in_cube();
        assert!((q * v).abs_diff_eq(rq * v, 1e-14));
        assert!(same_rotation(rotation_from_matrix(rq).unwrap(), q, 1e-12));
    }
    for angle in [0.0, PI, PI - 1e-9, 1e-9, 2.0] {
        for _ in 0..100 {
            let axis = random.on_sphere();
            let q = from_axis_angle(axis * 7.0, angle).unwrap();
            let (back_axis, back_angle) = axis_angle(q);
            assert!((back_angle - angle).abs() < 1e-12);
            assert!(same_rotation(from_axis_angle(back_axis, back_angle).unwrap(), q, 1e-12));
            assert!(same_rotation(rotation_from_matrix(DMat3::from_quat(q)).unwrap(), q, 1e-12));
        }
    }
}

/// a quarter turn about z maps x to y.
#[test]
fn q_3_quarter_turn() {
    let q = from_axis_angle(DVec3::Z, PI / 2.0).unwrap();
    assert!((q * DVec3::X).abs_diff_eq(DVec3::Y, 1e-15));
}

/// a million products with renormalisation stay orthonormal.
#[test]
fn q_4_drift() {
    let mut random = Random(21);
    let step = random.rotation();
    let mut q = DQuat::IDENTITY;
    for _ in 0..1_000_000 {
        q = normalized(q * step).unwrap();
    }
    let r = DMat3::from_quat(q);
    assert!((r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, 1e-14));
}

/// slerp reaches both ends exactly, moves at constant angular speed, on the shorter arc.
#[test]
fn q_5_slerp() {
    let mut random = Random(22);
    for _ in 0..1000 {
        let (a, b) = (random.rotation(), random.rotation());
        assert_eq!(slerp(a, b, 0.0), a);
        assert!(slerp(a, b, 1.0) == b || slerp(a, b, 1.0) == -b);
        let whole = axis_angle(a.conjugate() * b).1;
        assert!(whole <= PI);
        for i in 0..=10 {
            let t = f64::from(i) / 10.0;
            let part = axis_angle(a.conjugate() * slerp(a, b, t)).1;
            assert!((part - t * whole).abs() < 1e-7 * (1.0 + 1e-3 / (1e-3 + part)), "{part} of {whole}");
        }
    }
    let near = from_axis_angle(DVec3::X, 1e-6).unwrap();
    assert!((axis_angle(slerp(DQuat::IDENTITY, near, 0.25)).1 - 0.25e-6).abs() < 1e-15);
}

/// Bad quaternions and matrices are named.
#[test]
fn bad_rotations() {
    assert_eq!(normalized(DQuat::from_array([0.0; 4])), Err(RotationError::Zero));
    assert_eq!(normalized(DQuat::from_array([f64::NAN; 4])), Err(RotationError::Zero));
    assert!(normalized(DQuat::from_array([1e-310, 0.0, 0.0, 1e-310])).unwrap().is_normalized());
    assert!(normalized(DQuat::from_array([1e300; 4])).unwrap().is_normalized());
    assert!(matches!(rotation_from_matrix(DMat3::IDENTITY * 2.0), Err(RotationError::NotRotation { .. })));
    assert!(matches!(rotation_from_matrix(-DMat3::IDENTITY), Err(RotationError::NotRotation { .. })));
    assert!(rotation_from_matrix(DMat3::NAN).is_err() && orthonormalized(DMat3::ZERO).is_err());
    assert!(from_axis_angle(DVec3::ZERO, 1.0).is_err() && from_axis_angle(DVec3::X, f64::NAN).is_err());
    assert!(Pose::from_matrix(&DMat4::NAN).is_err() && Pose::from_matrix(&DMat4::ZERO).is_err());
}

/// 10⁵ random motions: composition, inverse and 4×4 form agree; R ↔ q also for half turns.
#[test]
fn a_1_rigid_motions() {
    let mut random = Random(23);
    for _ in 0..100_000 {
        let (a, b, p) = (random.pose(10.0), random.pose(10.0), 10.0 * random.in_cube());
        let composed = (a * b).point(p);
        assert!(composed.abs_diff_eq(a.point(b.point(p)), 1e-12));
        assert!((a.to_matrix() * b.to_matrix()).transform_point3(p).abs_diff_eq(composed, 1e-12));
        assert!(a.inverse().point(a.point(p)).abs_diff_eq(p, 1e-12));
        assert!(a.inverse_point(p).abs_diff_eq(a.inverse().point(p), 1e-12));
        assert!(a.inverse_vector(a.vector(p)).abs_diff_eq(p, 1e-12));
        assert!(a.relative(&b).point(p).abs_diff_eq(a.inverse_point(b.point(p)), 1e-12));
        let back = Pose::from_matrix(&a.to_matrix()).unwrap();
        assert!(back.translation == a.translation && same_rotation(back.rotation, a.rotation, 1e-12));
        let axis = random.on_sphere();
        let half_turn = DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
        let r = DMat3::from_quat(half_turn);
        assert!(same_rotation(rotation_from_matrix(r).unwrap(), half_turn, 1e-12));
    }
}

/// Gram–Schmidt on perturbed rotations.
#[test]
fn a_4_gram_schmidt() {
    let mut random = Random(24);
    for _ in 0..10_000 {
        let r = DMat3::from_quat(random.rotation());
        let noise = DMat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube());
        let (fixed, error) = orthonormalized(r + noise * 0.01).unwrap();
        assert!((fixed.transpose() * fixed).abs_diff_eq(DMat3::IDENTITY, 1e-14));
        assert!((fixed.determinant() - 1.0).abs() < 1e-14);
        assert!(error < 0.1 && fixed.abs_diff_eq(r, 0.1));
    }
}
