//! Lines, planes, frames: the constructions everything else rests on.

use crate::random;

use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::primitive::{
    ContactFrame, LineSegment, Plane, PrimitiveError, Ray, SegmentPlane, Tetrahedron, Tolerances, Triangle,
    edge_normal_rate, face_normal_rate, point_normal_rate,
};

/// GEO-1: closest point of a segment to a line, by the example and against dense minimisation.
#[test]
fn geo_1_segment_nearest_to_a_line() {
    let z_axis = Ray::new(DVec3::ZERO, DVec3::Z).unwrap();
    let (k, p) =
        LineSegment::new(DVec3::new(1.0, -2.0, 3.0), DVec3::new(1.0, 6.0, -5.0)).closest_to_line(&z_axis);
    assert_eq!((k, p), (0.25, DVec3::new(1.0, 0.0, 1.0)));
    let mut random = Random(1);
    for _ in 0..100_000 {
        let line = Ray::new(random.in_cube(), random.on_sphere()).unwrap();
        let segment = LineSegment::new(2.0 * random.in_cube(), 2.0 * random.in_cube());
        let across = |p: DVec3| (p - line.origin()).cross(line.direction()).length();
        let (_, p) = segment.closest_to_line(&line);
        // The distance is convex along the segment: golden-section search finds its minimum.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
            if across(segment.at(a)) < across(segment.at(b)) { high = b } else { low = a }
        }
        let best = across(segment.at(0.5 * (low + high)));
        assert!(across(p) <= best + 1e-12, "{} {best}", across(p));
    }
    let line = LineSegment::new(DVec3::X, 3.0 * DVec3::X);
    assert_eq!(line.line_parameter(DVec3::new(6.0, 7.0, 8.0)), Some(2.5));
    let parallel = LineSegment::new(DVec3::X, DVec3::X + DVec3::Z);
    assert_eq!(parallel.closest_to_line(&z_axis), (0.0, DVec3::X));
}

/// GEO-2: frames are orthonormal and right-handed for 10⁶ normals and the 26 axes and diagonals.
#[test]
fn geo_2_contact_frames_are_orthonormal() {
    let mut random = Random(2);
    let special = (0..27)
        .filter(|&i| i != 13)
        .map(|i| DVec3::new((i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64) - 1.0);
    let normals: Vec<DVec3> = special.collect();
    assert_eq!(normals.len(), 26);
    for n in normals.into_iter().chain((0..1_000_000).map(|_| random.on_sphere())) {
        let ContactFrame { normal, tangent, binormal } = ContactFrame::new(n).unwrap();
        assert!((tangent.length() - 1.0).abs() < 1e-15 && (binormal.length() - 1.0).abs() < 2e-15);
        let dots = [normal.dot(tangent), tangent.dot(binormal), binormal.dot(normal)];
        assert!(dots.iter().all(|d| d.abs() < 4e-15));
        assert!((normal.cross(tangent).dot(binormal) - 1.0).abs() < 1e-14);
    }
    assert_eq!(ContactFrame::new(DVec3::ZERO), Err(PrimitiveError::NoDirection { what: "contact normal" }));
    assert!(ContactFrame::new(DVec3::NAN).is_err());
}

/// GEO-4: the distance from a plane whose normal has length 2.
#[test]
fn geo_4_plane_with_a_long_normal() {
    let plane = Plane::new(2.0 * DVec3::Z, 2.0).unwrap();
    assert_eq!(plane.signed_distance(DVec3::new(5.0, 5.0, 4.0)), 3.0);
    assert_eq!(plane.closest_point(DVec3::new(5.0, 5.0, 4.0)), DVec3::new(5.0, 5.0, 1.0));
    let crossing = plane.intersect_segment(&LineSegment::new(DVec3::ZERO, 4.0 * DVec3::Z));
    assert_eq!(crossing, SegmentPlane::Point { point: DVec3::Z, parameter: 0.25 });
    let inside = plane.intersect_segment(&LineSegment::new(DVec3::Z, DVec3::ONE));
    assert_eq!(inside, SegmentPlane::Segment);
    let beside = plane.intersect_segment(&LineSegment::new(DVec3::ZERO, DVec3::X));
    assert_eq!(beside, SegmentPlane::Empty);
    assert!(Plane::new(DVec3::ZERO, 1.0).is_err() && Plane::new(DVec3::Z, f64::NAN).is_err());
}

/// TD-1, TD-2: rates of normals and frames against central differences, flipped normals included; frames stay
/// orthonormal.
#[test]
fn td_1_td_2_rates_of_contact_frames() {
    let mut random = Random(3);
    let h = 1e-6;
    let turned = |e: DVec3, omega: DVec3, t: f64| DQuat::from_scaled_axis(t * omega) * e;
    for _ in 0..10_000 {
        let (e1, e2) = (random.on_sphere() * 2.0, random.on_sphere());
        let (w1, w2) = (3.0 * random.in_cube(), 3.0 * random.in_cube());
        if e1.cross(e2).length() < 0.1 {
            continue;
        }
        let sign = if random.bits().is_multiple_of(2) { 1.0 } else { -1.0 };
        let at = |t: f64| sign * turned(e1, w1, t).cross(turned(e2, w2, t)).normalize();
        let (n, rate) = edge_normal_rate(e1, e2, w1, w2).map(|(n, r)| (sign * n, sign * r)).unwrap();
        let scale = rate.length() + w1.length() + w2.length();
        assert!(((at(h) - at(-h)) / (2.0 * h) - rate).length() < 1e-6 * scale);
        let face = face_normal_rate(w1, n);
        assert!(((turned(n, w1, h) - turned(n, w1, -h)) / (2.0 * h) - face).length() < 1e-6 * scale);
        let (p, v) = (random.on_sphere() * 1.5, random.in_cube());
        let point = point_normal_rate(p, v).unwrap();
        let along = |t: f64| (p + t * v).normalize();
        assert!(((along(h) - along(-h)) / (2.0 * h) - point).length() < 1e-8);
        let frame = ContactFrame::new(n).unwrap();
        let [n_rate, t_rate, k_rate] = frame.rates(rate);
        let (before, after) = (ContactFrame::new(at(-h)).unwrap(), ContactFrame::new(at(h)).unwrap());
        if before.tangent.dot(after.tangent) > 0.999 {
            let bound = 1e-6 * scale;
            assert!(((after.tangent - before.tangent) / (2.0 * h) - t_rate).length() < bound);
            assert!(((after.binormal - before.binormal) / (2.0 * h) - k_rate).length() < bound);
        }
        let (t, k) = (frame.tangent, frame.binormal);
        for zero in [
            n_rate.dot(n),
            t_rate.dot(t),
            k_rate.dot(k),
            n_rate.dot(t) + n.dot(t_rate),
            t_rate.dot(k) + t.dot(k_rate),
            k_rate.dot(n) + k.dot(n_rate),
        ] {
            assert!(zero.abs() < 1e-13 * scale.max(1.0), "{zero}");
        }
    }
    assert_eq!(edge_normal_rate(DVec3::X, -2.0 * DVec3::X, DVec3::Y, DVec3::Z), None);
    assert_eq!(point_normal_rate(DVec3::ZERO, DVec3::X), None);
}

/// Segments, triangles and tetrahedra without length, area or volume still answer, and finitely.
#[test]
fn degenerate_primitives_answer_as_what_they_are() {
    let p = DVec3::new(1.0, 2.0, 3.0);
    let point = LineSegment::new(DVec3::X, DVec3::X);
    assert_eq!((point.closest_point(p), point.direction()), (DVec3::X, None));
    let needle = Triangle::new(DVec3::ZERO, DVec3::X, 3.0 * DVec3::X);
    assert_eq!((needle.normal(), needle.closest_point(p)), (None, DVec3::X));
    assert!(
        !needle.contains_coplanar(DVec3::X, &Tolerances::default()) && needle.barycentric(DVec3::X).is_none()
    );
    // Seen from a point on it, rounding gives this triangle an area and a normal of no meaning.
    let slanted =
        Triangle::new(DVec3::new(3.0, 2.0, -1.0), DVec3::new(0.0, 1.0, 1.0), DVec3::new(-3.0, 0.0, 3.0));
    let on_it = slanted.a.lerp(slanted.b, 27.0 / 53.0);
    assert!(slanted.distance(on_it) < 1e-15);
    let dot = Triangle::new(DVec3::X, DVec3::X, DVec3::X);
    assert_eq!((dot.closest_point(p), dot.area()), (DVec3::X, 0.0));
    let flat = Tetrahedron::new([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y]);
    assert_eq!(flat.volume(), 0.0);
    assert!(!flat.contains(DVec3::splat(0.25)));
    assert_eq!(flat.closest_point(DVec3::new(0.25, 0.5, 2.0)), DVec3::new(0.25, 0.5, 0.0));
    assert!(Ray::new(DVec3::ZERO, DVec3::ZERO).is_err() && Ray::new(DVec3::NAN, DVec3::X).is_err());
    assert!(
        Ray::new(DVec3::ZERO, DVec3::splat(1e-320)).is_ok()
            && Ray::new(DVec3::ZERO, DVec3::splat(1e300)).is_ok()
    );
    let nan = Triangle::new(DVec3::NAN, DVec3::X, DVec3::Y);
    assert!(!nan.contains(p, &Tolerances::default()));
}
