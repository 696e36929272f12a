//! Whatever numbers come in, nothing panics or hangs, and what is reported is finite.

use crate::random;

use glam::{DQuat, DVec2, DVec3};
use random::Random;
use rattleback_geometry::primitive::{
    ContactFrame, FromInside, LineSegment, Plane, Ray, Tetrahedron, Tolerances, Triangle,
    closest_segment_segment, closest_segment_triangle, closest_triangle_triangle, coplanar_edges,
    edge_normal_rate, point_in_mesh, segment_triangle, triangle_triangle,
};
use rattleback_geometry::swept::{
    Advancement, Motion, MovingTriangle, cast_shapes, chord_pieces, swept_boxes, swept_spheres,
    swept_triangles,
};
use rattleback_geometry::{Aabb, BoundingSphere, HeightField, Pose, Shape, generate};

/// Zeros, signs, subnormals, the largest and smallest, and what is no number; ordinary ones too.
fn odd(random: &mut Random) -> f64 {
    const ODD: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::MIN_POSITIVE,
        5e-324,
        1e-160,
        1e150,
        -1e150,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let pick = random.bits() as usize % (2 * ODD.len());
    ODD.get(pick).copied().unwrap_or_else(|| random.between(-2.0, 2.0))
}

fn odd_vector(random: &mut Random) -> DVec3 {
    DVec3::new(odd(random), odd(random), odd(random))
}

#[test]
fn odd_numbers_in_primitives() {
    let mut random = Random(666);
    let tolerances = Tolerances::default();
    let mesh = generate::torus(1.0, 0.3, 6, 5).unwrap();
    for _ in 0..20_000 {
        let p: [DVec3; 7] = std::array::from_fn(|_| odd_vector(&mut random));
        let (s, r) = (LineSegment::new(p[0], p[1]), LineSegment::new(p[2], p[3]));
        let (t, u) = (Triangle::new(p[0], p[1], p[2]), Triangle::new(p[3], p[4], p[5]));
        let _ = (
            closest_segment_segment(&s, &r),
            closest_segment_triangle(&s, &u),
            closest_triangle_triangle(&t, &u),
        );
        let _ = (segment_triangle(&s, &u, &tolerances), triangle_triangle(&t, &u, &tolerances));
        let _ = coplanar_edges(&s, &r, p[4], &tolerances);
        let _ = Tetrahedron::new([p[0], p[1], p[2], p[3]]).closest_point(p[4]);
        let _ =
            (ContactFrame::new(p[0]), edge_normal_rate(p[0], p[1], p[2], p[3]), Plane::through(p[0], p[1]));
        let _ = point_in_mesh(p[0], &mesh, &tolerances);
        let _ = swept_triangles(&MovingTriangle::new(&t, &u), &MovingTriangle::new(&u, &t));
        let _ = chord_pieces(p[0].x, p[0].y, p[0].z);
        if let (Ok(a), Ok(b)) = (BoundingSphere::new(p[0], p[1].x), BoundingSphere::new(p[2], p[1].y)) {
            let hit = swept_spheres(&a, p[3], &b, p[4]);
            assert!(hit.is_none_or(|hit| (0.0..=1.0).contains(&hit.time)));
        }
        if let (Ok(a), Ok(b)) =
            (Aabb::new(p[0].min(p[1]), p[0].max(p[1])), Aabb::new(p[2].min(p[3]), p[2].max(p[3])))
        {
            let hit = swept_boxes(&a, p[4], &b, p[5]);
            assert!(hit.is_none_or(|hit| (0.0..=1.0).contains(&hit.time)));
        }
    }
}

#[test]
fn odd_numbers_in_shape_queries() {
    let mut random = Random(667);
    let heights = (0..20).map(f64::from).collect();
    let shapes = [
        Shape::sphere(1.0).unwrap(),
        Shape::cuboid(DVec3::ONE).unwrap(),
        Shape::cylinder(1.0, 1e-20).unwrap(),
        Shape::capsule(1e-20, 1.0).unwrap(),
        Shape::cone(1e20, 1e-20).unwrap(),
        Shape::ellipsoid(DVec3::new(1e-40, 1.0, 1e40)).unwrap(),
        Shape::half_space(DVec3::ONE).unwrap(),
        Shape::convex_hull(generate::icosphere(1).unwrap().vertices()).unwrap(),
        Shape::mesh(generate::torus(1.0, 0.3, 6, 5).unwrap()).unwrap(),
        Shape::height_field(HeightField::new(4, 5, DVec2::new(1e-10, 1e10), heights).unwrap()).unwrap(),
        Shape::compound(vec![(Pose::IDENTITY, Shape::sphere(1.0).unwrap())]).unwrap(),
    ];
    for _ in 0..3_000 {
        let [p, d, q, e] = std::array::from_fn(|_| odd_vector(&mut random));
        let limit = odd(&mut random);
        for shape in &shapes {
            if let Ok(ray) = Ray::new(p, d) {
                for rule in [FromInside::Origin, FromInside::Exit] {
                    let hit = shape.cast_ray(&ray, limit, rule);
                    assert!(
                        hit.is_none_or(|hit| hit.t >= 0.0 && hit.t <= limit),
                        "{:?} {ray:?} {hit:?}",
                        shape.kind()
                    );
                }
            }
            let _ = shape.closest_point(q);
        }
        let place = |at: DVec3| Pose::new(DQuat::from_rotation_x(d.x.clamp(-9.0, 9.0)), at);
        let motions = [Motion::new(place(p), q, d, e), Motion::new(place(q), p, e, d)];
        if let [Ok(a), Ok(b)] = motions {
            let pick = |random: &mut Random| &shapes[random.bits() as usize % shapes.len()];
            let (first, second) = (pick(&mut random), pick(&mut random));
            if let Ok(Some(hit)) = cast_shapes(first, &a, second, &b, &Advancement::default()) {
                assert!((0.0..=1.0).contains(&hit.contact.time));
            }
        }
    }
}
