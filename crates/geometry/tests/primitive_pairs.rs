//! Every pair test against a second way of deciding: brute force, exact integers, or another library.

use crate::parry;
use crate::random;

use glam::{DQuat, DVec3};
use parry3d_f64::query;
use random::Random;
use rattleback_geometry::primitive::{
    BoxAxis, LineSegment, Ray, Tetrahedron, Tolerances, Triangle, box_box, box_sphere, box_triangle,
    closest_segment_segment, closest_segment_triangle, closest_sphere_sphere, closest_triangle_triangle,
    coplanar_edges, ray_intersects_aabb, segment_aabb, segment_box, segment_intersects_aabb, segment_sphere,
    segment_triangle, separating_axis, slab_interval, sphere_triangle, triangle_triangle,
};
use rattleback_geometry::{Aabb, BoundingSphere, OrientedBox, Pose};

const EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

fn edges(bounds: &OrientedBox) -> impl Iterator<Item = LineSegment> {
    let corners = bounds.corners();
    EDGES.into_iter().map(move |[i, j]| LineSegment::new(corners[i], corners[j]))
}

/// Convex polyhedra intersect iff an edge of one intersects the other solid. Grown by `margin` the second box
/// must decide the same way for the answer to be clear.
fn boxes_intersect(a: &OrientedBox, b: &OrientedBox, margin: f64) -> bool {
    let grow =
        |x: &OrientedBox| OrientedBox::new(x.pose(), (x.half_extents() + margin).max(DVec3::ZERO)).unwrap();
    let (a, b) = (grow(a), grow(b));
    let hits = |x: &OrientedBox, y: &OrientedBox| edges(x).any(|edge| segment_box(&edge, y));
    hits(&a, &b) || hits(&b, &a)
}

fn random_box(random: &mut Random, reach: f64) -> OrientedBox {
    let half = DVec3::new(random.between(0.1, 1.0), random.between(0.1, 1.0), random.between(0.1, 1.0));
    OrientedBox::new(random.pose(reach), half).unwrap()
}

/// INT-3: the 15 axes against edges piercing solids, on 10⁵ random pairs of which a tenth have parallel
/// edges, and on sizes from 1e-4 to 1e3 at up to 1e6 from the origin.
#[test]
fn int_3_box_box_against_edges_piercing_solids() {
    let mut random = Random(30);
    for case in 0..100_000 {
        let a = random_box(&mut random, 1.0);
        let mut b = random_box(&mut random, 1.0);
        if case % 10 == 0 {
            // One axis in common.
            let turn = DQuat::from_axis_angle(a.axes()[case / 10 % 3], random.between(-3.0, 3.0));
            b = OrientedBox::new(Pose::new(turn * a.pose().rotation, b.center()), b.half_extents()).unwrap();
        }
        let got = box_box(&a, &b);
        assert_eq!(got, box_box(&b, &a), "{a:?} {b:?}");
        if boxes_intersect(&a, &b, 1e-9) == boxes_intersect(&a, &b, -1e-9) {
            assert_eq!(got, boxes_intersect(&a, &b, 0.0), "{a:?} {b:?}");
        }
        // The same pair tiny, stretched or far away: stretching one axis keeps aligned boxes boxes, so only
        // scale and shift.
        let (scale, shift) = if case % 2 == 0 { (1e-4, DVec3::ZERO) } else { (1.0, DVec3::splat(1e6)) };
        let moved = |x: &OrientedBox| {
            let place = Pose::new(x.pose().rotation, scale * x.center() + shift);
            OrientedBox::new(place, scale * x.half_extents()).unwrap()
        };
        if boxes_intersect(&a, &b, 1e-8) == boxes_intersect(&a, &b, -1e-8) {
            assert_eq!(box_box(&moved(&a), &moved(&b)), got, "{a:?} {b:?}");
        }
    }
    let turned = OrientedBox::new(
        Pose::new(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4), DVec3::ZERO),
        DVec3::splat(0.5),
    );
    let at = |x: f64| OrientedBox::new(Pose::at(x * DVec3::X), DVec3::splat(0.5)).unwrap();
    assert!(box_box(&turned.unwrap(), &at(1.2071)) && !box_box(&turned.unwrap(), &at(1.2072)));
    // Faces, edges and corners that touch exactly.
    for touch in [DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::ONE, DVec3::new(1.0, 0.3, -0.2)] {
        let b = OrientedBox::new(Pose::at(touch), DVec3::splat(0.5)).unwrap();
        assert!(box_box(&at(0.0), &b));
    }
    let flat = OrientedBox::new(Pose::IDENTITY, DVec3::ZERO).unwrap();
    assert!(box_box(&flat, &flat) && !box_box(&flat, &at(0.6)));
}

/// Long thin boxes (1 : 1000) against the same oracle.
#[test]
fn needles_of_boxes_against_edges_piercing_solids() {
    let mut random = Random(31);
    for _ in 0..50_000 {
        let mut needle = || OrientedBox::new(random.pose(0.5), DVec3::new(0.001, 0.003, 1.0)).unwrap();
        let (a, b) = (needle(), needle());
        if boxes_intersect(&a, &b, 1e-9) == boxes_intersect(&a, &b, -1e-9) {
            assert_eq!(box_box(&a, &b), boxes_intersect(&a, &b, 0.0), "{a:?} {b:?}");
        }
    }
}

/// INT-4: 4.6 ± 0.5 % of the disjoint pairs of BVH-2 are separated by edge axes only. The number holds for
/// one centre at the origin and the other in (−2, 2)³; with both centres random there it is 1.7 %.
#[test]
fn int_4_edge_axes_matter() {
    let mut random = Random(4);
    let (mut disjoint, mut by_edges) = (0, 0);
    for _ in 0..100_000 {
        let mut some = |reach: f64| {
            let half =
                DVec3::new(random.between(0.2, 1.0), random.between(0.2, 1.0), random.between(0.2, 1.0));
            OrientedBox::new(random.pose(reach), half).unwrap()
        };
        match separating_axis(&some(0.0), &some(2.0)) {
            Some(BoxAxis::Edges(..)) => {
                disjoint += 1;
                by_edges += 1;
            }
            Some(_) => disjoint += 1,
            None => {}
        }
    }
    let share = 100.0 * f64::from(by_edges) / f64::from(disjoint);
    println!("{share:.2} % of {disjoint} disjoint pairs");
    assert!((share - 4.6).abs() < 0.5, "{share}");
}

/// Exact: the origin lies in the hull of the nine differences iff in that of at most four of them
/// (Carathéodory), and each such question is a sign of integers.
fn integer_triangles_intersect(a: [[i64; 3]; 3], b: [[i64; 3]; 3]) -> bool {
    let sub = |p: [i64; 3], q: [i64; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    let cross = |p: [i64; 3], q: [i64; 3]| {
        [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    };
    let dot = |p: [i64; 3], q: [i64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let w: Vec<[i64; 3]> = a.iter().flat_map(|&p| b.iter().map(move |&q| sub(p, q))).collect();
    let zero = [0; 3];
    if w.contains(&zero) {
        return true;
    }
    for i in 0..9 {
        for j in 0..i {
            let c = cross(w[i], w[j]);
            if c == zero && dot(w[i], w[j]) < 0 {
                return true;
            }
            for k in 0..j {
                let d = dot(c, w[k]);
                if d == 0 {
                    // In one plane with the origin: it lies inside iff the three products point the same way.
                    let (c1, c2) = (cross(w[j], w[k]), cross(w[k], w[i]));
                    let (x, y, z) = (dot(c, c1), dot(c, c2), dot(c1, c2));
                    if c != zero && c1 != zero && c2 != zero && x > 0 && y > 0 && z > 0 {
                        return true;
                    }
                    continue;
                }
                for l in 0..k {
                    let volume = |p, q, r| dot(cross(p, q), r);
                    let (v1, v2, v3, v4) = (
                        volume(w[j], w[k], w[l]),
                        -volume(w[i], w[k], w[l]),
                        volume(w[i], w[j], w[l]),
                        -volume(w[i], w[j], w[k]),
                    );
                    let all = [v1, v2, v3, v4];
                    let total: i64 = all.iter().sum();
                    if total != 0 && all.iter().all(|v| v * total.signum() >= 0) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// INT-5: triangles with corners in {−3…3}³, degenerate in every way, against exact integers; symmetric under
/// exchange and under turning the corners round.
#[test]
fn int_5_triangle_triangle_against_exact_integers() {
    let mut random = Random(5);
    let tolerances = Tolerances::default();
    let (mut intersecting, mut coplanar, mut flat) = (0, 0, 0);
    for case in 0..60_000 {
        // Half of the cases in a plane or with many equal coordinates.
        let range: u64 = if case % 2 == 0 { 7 } else { 3 };
        let mut corner = || -> [i64; 3] {
            std::array::from_fn(|_| (random.bits() % range).cast_signed() - (range / 2).cast_signed())
        };
        let (mut a, mut b): ([[i64; 3]; 3], [[i64; 3]; 3]) =
            (std::array::from_fn(|_| corner()), std::array::from_fn(|_| corner()));
        if case % 10 == 1 {
            for p in a.iter_mut().chain(&mut b) {
                p[2] = p[0] + p[1];
            }
            coplanar += 1;
        }
        let expected = integer_triangles_intersect(a, b);
        let float = |t: [[i64; 3]; 3]| Triangle::from(t.map(|p| DVec3::from_array(p.map(|x| x as f64))));
        let (t, u) = (float(a), float(b));
        flat += u32::from(t.normal().is_none() || u.normal().is_none());
        intersecting += u32::from(expected);
        let got = triangle_triangle(&t, &u, &tolerances);
        assert_eq!(got.is_some(), expected, "{a:?} {b:?}");
        assert_eq!(triangle_triangle(&u, &t, &tolerances).is_some(), expected, "swapped {a:?} {b:?}");
        let turned = Triangle::new(t.b, t.c, t.a);
        assert_eq!(triangle_triangle(&turned, &u, &tolerances).is_some(), expected, "turned {a:?} {b:?}");
        assert_eq!(closest_triangle_triangle(&t, &u).distance < 1e-12, expected, "distance {a:?} {b:?}");
        if let Some(overlap) = got {
            for p in [overlap.segment.start, overlap.segment.end] {
                assert!(t.distance(p) < 1e-12 && u.distance(p) < 1e-12, "{a:?} {b:?}");
            }
        }
    }
    println!("{intersecting} meet, {coplanar} in one plane, {flat} with one of no area");
    assert!(intersecting > 8_000 && flat > 1_000);
}

/// Decided by clipping nothing: any corner inside, any triangle side through the box, any box edge through
/// the triangle.
fn box_intersects_triangle(bounds: &OrientedBox, triangle: &Triangle) -> bool {
    triangle.sides().iter().any(|side| segment_box(side, bounds))
        || edges(bounds).any(|edge| segment_triangle(&edge, triangle, &Tolerances::default()).is_some())
}

/// INT-6, A-23: all 13 axes against edges through solids, 10⁵ random pairs; the triangle that only pokes an
/// edge through the box; the triangle that box axes and its own normal do not separate from the box.
#[test]
fn int_6_a_23_box_triangle_against_edges_through_solids() {
    let mut random = Random(6);
    for case in 0..100_000 {
        let bounds = random_box(&mut random, 0.7);
        let reach = if case % 3 == 0 { 5.0 } else { 1.0 };
        let mut triangle =
            Triangle::new(reach * random.in_cube(), reach * random.in_cube(), reach * random.in_cube());
        if case % 7 == 0 {
            triangle.c = triangle.a.lerp(triangle.b, 0.3);
        }
        let grown = |by: f64| OrientedBox::new(bounds.pose(), bounds.half_extents() + by).unwrap();
        if box_intersects_triangle(&grown(1e-9), &triangle)
            == box_intersects_triangle(&grown(-1e-9), &triangle)
        {
            assert_eq!(
                box_triangle(&bounds, &triangle),
                box_intersects_triangle(&bounds, &triangle),
                "{bounds:?} {triangle:?}"
            );
        }
    }
    let cube = |half: f64| OrientedBox::new(Pose::IDENTITY, DVec3::splat(half)).unwrap();
    let poking =
        Triangle::new(DVec3::new(-2.0, 0.0, 0.0), DVec3::new(2.0, 0.1, 0.0), DVec3::new(2.0, -0.1, 0.0));
    assert!(box_triangle(&cube(0.5), &poking));
    let apart =
        Triangle::new(DVec3::new(-1.0, -0.5, 3.0), DVec3::new(2.0, -3.0, 0.5), DVec3::new(2.0, -3.0, 2.5));
    assert!(!box_triangle(&cube(1.0), &apart));
    let axis = DVec3::new(0.0, 1.0, -1.0).normalize();
    let gap = -cube(1.0).half_extents().dot(axis.abs()) - apart.project(axis)[1];
    assert!((gap - 1.060660).abs() < 1e-6, "{gap}");
}

/// The four steps of the specification, with the projection corrected.
fn sphere_intersects_triangle(c: DVec3, r: f64, triangle: &Triangle) -> bool {
    let Some(n) = triangle.normal() else {
        return triangle.sides().iter().any(|s| segment_sphere(s, &BoundingSphere::new(c, r).unwrap()));
    };
    let height = n.dot(c - triangle.a);
    if height.abs() > r {
        return false;
    }
    triangle.corners().iter().any(|p| p.distance(c) <= r)
        || triangle.contains_coplanar(c - height * n, &Tolerances { relative: 0.0, absolute: 0.0 })
        || triangle.sides().iter().any(|s| segment_sphere(s, &BoundingSphere::new(c, r).unwrap()))
}

/// INT-7: spheres and triangles, near the origin and 1e6 away, against the four-step test.
#[test]
fn int_7_sphere_triangle_far_and_near() {
    let mut random = Random(7);
    for case in 0..100_000 {
        let far = if case % 4 == 0 { 1e6 * random.on_sphere() } else { DVec3::ZERO };
        let triangle = Triangle::new(far + random.in_cube(), far + random.in_cube(), far + random.in_cube());
        let (c, r) = (far + 1.5 * random.in_cube(), random.between(0.0, 1.0));
        let clear = if case % 4 == 0 { 1e-8 } else { 1e-12 };
        if (triangle.distance(c) - r).abs() > clear {
            let sphere = BoundingSphere::new(c, r).unwrap();
            assert_eq!(sphere_triangle(&sphere, &triangle), sphere_intersects_triangle(c, r, &triangle));
        }
    }
}

/// INT-8: outline table against slabs, 3·10⁵ rays and segments, a tenth along the axes or starting in face
/// planes.
#[test]
fn int_8_segment_box_table_against_slabs() {
    let mut random = Random(8);
    let bounds = Aabb::new(DVec3::new(-1.0, -0.5, -2.0), DVec3::new(1.0, 2.0, 0.5)).unwrap();
    let mut hits = 0;
    for case in 0..300_000 {
        let mut start = 3.0 * random.in_cube();
        let mut offset = 4.0 * random.in_cube();
        if case % 10 == 0 {
            // Quarters, so that many start in face planes and many directions have zeros; every product is
            // exact.
            start = (4.0 * start).round() / 4.0;
            offset = offset.round();
            if case % 20 == 0 {
                offset *= DVec3::AXES[case / 20 % 3];
            }
        }
        let segment = LineSegment::new(start, start + offset);
        let slabs = segment_aabb(&segment, &bounds);
        assert_eq!(segment_intersects_aabb(&segment, &bounds), slabs, "{segment:?}");
        hits += u32::from(slabs);
        // A ray's direction is rounded to unit length, so exact grazing is left to the segments.
        if case % 10 != 0 {
            let ray = Ray::new(start, offset).unwrap();
            let slabs = slab_interval(start, ray.direction(), f64::INFINITY, &bounds).is_some();
            assert_eq!(ray_intersects_aabb(&ray, &bounds), slabs, "{ray:?}");
        }
    }
    assert!(hits > 30_000);
}

/// INT-11: segments of tilted planes against exact integers in the plane, collinear ones included.
#[test]
fn int_11_coplanar_edges_against_integers() {
    let mut random = Random(11);
    let mut count = 0;
    for _ in 0..100_000 {
        let mut point = || [(random.bits() % 9).cast_signed() - 4, (random.bits() % 9).cast_signed() - 4];
        let [p1, p2, q1, q2] = [point(), point(), point(), point()];
        let side = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
            ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).signum()
        };
        let on = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
            side(a, b, c) == 0 && (0..2).all(|k| a[k].min(b[k]) <= c[k] && c[k] <= a[k].max(b[k]))
        };
        let crossing = side(p1, p2, q1) * side(p1, p2, q2) < 0 && side(q1, q2, p1) * side(q1, q2, p2) < 0;
        let expected = crossing || on(p1, p2, q1) || on(p1, p2, q2) || on(q1, q2, p1) || on(q1, q2, p2);
        let plane = random.pose(10.0);
        let lift = |p: [i64; 2]| plane.point(DVec3::new(p[0] as f64, p[1] as f64, 0.0));
        let (p, q) = (LineSegment::new(lift(p1), lift(p2)), LineSegment::new(lift(q1), lift(q2)));
        let got =
            coplanar_edges(&p, &q, plane.vector(DVec3::Z), &Tolerances { relative: 1e-12, absolute: 1e-12 });
        assert_eq!(got.is_some(), expected, "{p1:?} {p2:?} {q1:?} {q2:?}");
        if let Some((t, m)) = got {
            assert!(p.at(t).distance(q.at(m)) < 1e-11);
            count += 1;
        }
    }
    assert!(count > 10_000);
    // The printed formula gives 0.5 here.
    let (p, q) = (
        LineSegment::new(DVec3::ZERO, 2.0 * DVec3::X),
        LineSegment::new(DVec3::new(1.0, -1.0, 0.0), DVec3::new(3.0, 1.0, 0.0)),
    );
    assert_eq!(coplanar_edges(&p, &q, DVec3::Z, &Tolerances::default()), Some((1.0, 0.5)));
}

/// nearest points of the primitives satisfy the optimality condition of a convex problem, (p − q)·(x −
/// q) ≤ 0 for all x of the set, which corners suffice to check; and agree with the other library. Sizes 1e-4
/// to 1, up to 1e6 away, 1 : 1000.
#[test]
fn a_15_nearest_points_are_optimal() {
    let mut random = Random(15);
    for case in 0..100_000 {
        let (size, far) = match case % 4 {
            0 => (1e-4, DVec3::ZERO),
            1 => (1.0, 1e6 * random.on_sphere()),
            _ => (1.0, DVec3::ZERO),
        };
        let stretch = if case % 4 == 3 { DVec3::new(1.0, 1e-3, 1.0) } else { DVec3::ONE };
        let mut point = || far + size * (stretch * random.in_cube());
        let [a, b, c, d, p, q] = [point(), point(), point(), point(), point(), point()];
        let slack = 1e-9 * size * size + 1e-9 * far.length() * size * 1e-6;
        let optimal =
            |p: DVec3, q: DVec3, corners: &[DVec3]| corners.iter().all(|x| (p - q).dot(*x - q) <= slack);
        let segment = LineSegment::new(a, b);
        assert!(optimal(p, segment.closest_point(p), &[a, b]));
        let triangle = Triangle::new(a, b, c);
        assert!(optimal(p, triangle.closest_point(p), &[a, b, c]), "{triangle:?} {p}");
        let tetrahedron = Tetrahedron::new([a, b, c, d]);
        assert!(optimal(p, tetrahedron.closest_point(p), &[a, b, c, d]), "{tetrahedron:?} {p}");
        let other = LineSegment::new(p, q);
        let pair = closest_segment_segment(&segment, &other);
        assert!(optimal(pair.point_b, pair.point_a, &[a, b]) && optimal(pair.point_a, pair.point_b, &[p, q]));
        let swapped = closest_segment_segment(&other, &segment);
        assert!((pair.distance - swapped.distance).abs() < 1e-12 * size + 1e-15 * far.length());
        let pair = closest_segment_triangle(&other, &triangle);
        assert!(
            optimal(pair.point_b, pair.point_a, &[p, q]) && optimal(pair.point_a, pair.point_b, &[a, b, c]),
            "{case} {other:?} {triangle:?} {pair:?}"
        );
        let facing = Triangle::new(d, p, q);
        let pair = closest_triangle_triangle(&triangle, &facing);
        assert!(
            optimal(pair.point_b, pair.point_a, &[a, b, c])
                && optimal(pair.point_a, pair.point_b, &[d, p, q])
        );
    }
}

/// Distances of segments and triangles agree with the other library.
#[test]
fn distances_agree_with_another_library() {
    use parry3d_f64::shape;
    let mut random = Random(16);
    let identity = parry::pose(&Pose::IDENTITY);
    let mut worst = 0.0_f64;
    for _ in 0..20_000 {
        let points: [DVec3; 6] = std::array::from_fn(|_| random.in_cube());
        let v = points.map(parry::vector);
        let (t, u) =
            (Triangle::new(points[0], points[1], points[2]), Triangle::new(points[3], points[4], points[5]));
        let (pt, pu) = (shape::Triangle::new(v[0], v[1], v[2]), shape::Triangle::new(v[3], v[4], v[5]));
        let theirs = query::distance(&identity, &pt, &identity, &pu).unwrap().distance;
        worst = worst.max((closest_triangle_triangle(&t, &u).distance - theirs).abs());
        let (s, r) = (LineSegment::new(points[0], points[1]), LineSegment::new(points[3], points[4]));
        let (ps, pr) = (shape::Segment::new(v[0], v[1]), shape::Segment::new(v[3], v[4]));
        let theirs = query::distance(&identity, &ps, &identity, &pr).unwrap().distance;
        worst = worst.max((closest_segment_segment(&s, &r).distance - theirs).abs());
    }
    println!("largest difference {worst:e}");
    assert!(worst < 1e-7, "{worst}");
}

/// Spheres, boxes and points: touching exactly, one inside the other, no size at all.
#[test]
fn touching_nested_and_sizeless_primitives_intersect() {
    let sphere = |x: f64, r: f64| BoundingSphere::new(x * DVec3::X, r).unwrap();
    assert!(
        sphere(0.0, 1.0).overlaps(&sphere(3.0, 2.0)) && !sphere(0.0, 1.0).overlaps(&sphere(3.0 + 1e-12, 2.0))
    );
    let nested = closest_sphere_sphere(&sphere(0.0, 5.0), &sphere(1.0, 1.0));
    assert_eq!(nested.distance, 0.0);
    assert!(sphere(0.0, 5.0).contains(nested.point_a) && sphere(1.0, 1.0).contains(nested.point_a));
    let apart = closest_sphere_sphere(&sphere(0.0, 1.0), &sphere(4.0, 2.0));
    assert_eq!((apart.distance, apart.point_a, apart.point_b), (1.0, DVec3::X, 2.0 * DVec3::X));
    let cube = OrientedBox::new(Pose::IDENTITY, DVec3::ONE).unwrap();
    assert!(
        box_sphere(&cube, &sphere(2.0, 1.0))
            && box_sphere(&cube, &sphere(0.2, 0.0))
            && !box_sphere(&cube, &sphere(2.1, 1.0))
    );
    let point = LineSegment::new(DVec3::X, DVec3::X);
    assert!(segment_sphere(&point, &sphere(0.0, 1.0)) && segment_box(&point, &cube));
    assert!(segment_sphere(&LineSegment::new(-0.1 * DVec3::X, 0.1 * DVec3::X), &sphere(0.0, 1.0)));
}
