//! Boxes and spheres around shapes and points.

use crate::random;

use glam::{DMat3, DVec3};
use random::Random;
use rattleback_geometry::{
    Aabb, BoundingSphere, BoundsError, OrientedBox, Polyhedron, Pose, Shape, generate,
};

/// Smallest sphere by brute force: the smallest circumsphere of two to four points that holds all.
fn brute_force_radius(points: &[DVec3]) -> f64 {
    let mut best = f64::INFINITY;
    let mut consider = |center: DVec3, radius: f64| {
        if radius < best && points.iter().all(|p| p.distance(center) <= radius * (1.0 + 1e-10)) {
            best = radius;
        }
    };
    for (i, &a) in points.iter().enumerate() {
        for (j, &b) in points[..i].iter().enumerate() {
            consider(0.5 * (a + b), 0.5 * a.distance(b));
            for (k, &c) in points[..j].iter().enumerate() {
                // Circumcentre within the plane: equal distances and coplanarity as three equations.
                let n = (b - a).cross(c - a);
                let solve = |rows: [DVec3; 3], right: DVec3| {
                    DMat3::from_cols_array_2d(&rows.map(|r| r.to_array())).transpose().inverse() * right
                };
                let half = |p: DVec3| 0.5 * (p.length_squared() - a.length_squared());
                let center = solve([b - a, c - a, n], DVec3::new(half(b), half(c), n.dot(a)));
                consider(center, center.distance(a));
                for &d in &points[..k] {
                    let center = solve([b - a, c - a, d - a], DVec3::new(half(b), half(c), half(d)));
                    consider(center, center.distance(a));
                }
            }
        }
    }
    best
}

#[test]
fn smallest_sphere_equals_brute_force() {
    let mut random = Random(9);
    for round in 0..200 {
        let n = 2 + round % 11;
        let points: Vec<DVec3> =
            (0..n).map(|_| if round % 2 == 0 { random.in_cube() } else { random.on_sphere() }).collect();
        let sphere = BoundingSphere::smallest(&points).unwrap();
        assert!((sphere.radius() - brute_force_radius(&points)).abs() < 1e-9, "{round}");
        assert!(points.iter().all(|p| p.distance(sphere.center()) <= sphere.radius()));
    }
    // Cospherical, coplanar and repeated points.
    let cube = generate::cuboid(DVec3::new(1.0, 2.0, 2.0)).unwrap().vertices;
    let twice: Vec<DVec3> = cube.iter().chain(&cube).copied().collect();
    for points in [&cube, &twice] {
        assert!((BoundingSphere::smallest(points).unwrap().radius() - 3.0).abs() < 1e-12);
    }
    let square = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y, DVec3::ZERO];
    assert!((BoundingSphere::smallest(&square).unwrap().radius() - 1.0).abs() < 1e-14);
    assert_eq!(BoundingSphere::smallest(&[DVec3::ONE; 3]).unwrap().radius(), 0.0);
    assert_eq!(BoundingSphere::smallest(&[]), Err(BoundsError::Empty));
    assert_eq!(BoundingSphere::ritter(&[DVec3::INFINITY]), Err(BoundsError::NonFinite));
}

/// BVH-7: Ritter's sphere holds all points over 10⁴ sets; at most 1.30 times the smallest, 1.10 on average.
#[test]
fn bvh_7_ritter() {
    let mut random = Random(10);
    let set = |random: &mut Random| -> Vec<DVec3> { (0..100).map(|_| random.in_cube()).collect() };
    for _ in 0..10_000 {
        let points = set(&mut random);
        let sphere = BoundingSphere::ritter(&points).unwrap();
        assert!(points.iter().all(|p| p.distance(sphere.center()) <= sphere.radius()));
    }
    let ratios: Vec<f64> = (0..1000)
        .map(|_| {
            let points = set(&mut random);
            BoundingSphere::ritter(&points).unwrap().radius()
                / BoundingSphere::smallest(&points).unwrap().radius()
        })
        .collect();
    assert!(ratios.iter().all(|&r| (1.0 - 1e-12..=1.30).contains(&r)));
    assert!(ratios.iter().sum::<f64>() / 1000.0 <= 1.10);
}

/// The erratum: sphere of radius 1 about 0 and the point (3, 0, 0) give centre (1, 0, 0), radius 2.
#[test]
fn ritter_keeps_the_old_sphere() {
    let unit = BoundingSphere::new(DVec3::ZERO, 1.0).unwrap();
    let far = BoundingSphere::new(DVec3::X * 3.0, 0.0).unwrap();
    assert_eq!(unit.union(&far), BoundingSphere::new(DVec3::X, 2.0).unwrap());
    // Extreme points first span x, then the corner grows the sphere.
    let points = [DVec3::X, -DVec3::X, DVec3::new(0.9, 0.9, 0.9), DVec3::new(-0.99, 0.1, 0.0)];
    let sphere = BoundingSphere::ritter(&points).unwrap();
    assert!(points.iter().all(|&p| p.distance(sphere.center()) <= sphere.radius()));
}

/// ENG-7: vertices in the principal frame and back; edges have two faces and run counter-clockwise in the
/// left one.
#[test]
fn eng_7_registration_of_a_tetrahedron() {
    let mut random = Random(11);
    for _ in 0..200 {
        let corners: [DVec3; 4] = std::array::from_fn(|_| 4.0 * random.in_cube());
        let Ok(world) = Polyhedron::new(&generate::tetrahedron(corners)) else { continue };
        let frame = world.mass_properties(1.0).unwrap().principal_frame();
        let local = world.in_frame(&frame).unwrap();
        for (p, original) in local.vertices().iter().zip(world.vertices()) {
            assert!(frame.point(*p).abs_diff_eq(*original, 1e-12 * 4.0));
        }
        let body = local.mass_properties(1.0).unwrap();
        let i = body.inertia;
        let trace = i.x_axis.x + i.y_axis.y + i.z_axis.z;
        for off in [i.x_axis.y, i.x_axis.z, i.y_axis.z] {
            assert!(off.abs() < 1e-12 * trace, "{off} of {trace}");
        }
        assert_eq!(local.edges().len(), 6);
        for (index, edge) in local.edges().iter().enumerate() {
            let [left, right] = edge.faces.map(|f| f as usize);
            assert!(left < right);
            let runs = |face: usize, from: u32, to: u32| {
                let corners = local.face(face);
                let at = corners.iter().position(|&v| v == from).unwrap();
                assert!(local.face_edges(face).contains(&(index as u32)));
                corners[(at + 1) % corners.len()] == to
            };
            assert!(runs(left, edge.vertices[0], edge.vertices[1]));
            assert!(runs(right, edge.vertices[1], edge.vertices[0]));
        }
    }
}

/// ENG-8: the exact rotation radius is at most the bounding sphere's, and both hold every turned vertex.
#[test]
fn eng_8_rotation_sphere() {
    let mut random = Random(12);
    for _ in 0..1000 {
        let mesh = random.crumpled_mesh();
        let pivot = mesh.mass_properties(1.0).unwrap().center_of_mass;
        let shape = Shape::mesh(mesh.clone()).unwrap();
        let exact = shape.rotation_radius(pivot).unwrap();
        let by_sphere = shape.bounding_sphere().unwrap().rotation_radius(pivot);
        let by_ritter = BoundingSphere::ritter(mesh.vertices()).unwrap().rotation_radius(pivot);
        assert!(exact <= by_sphere && exact <= by_ritter);
        let turn = random.rotation();
        assert!(mesh.vertices().iter().all(|&p| (turn * (p - pivot)).length() <= exact * (1.0 + 1e-15)));
    }
}

/// Stars of edges run around their vertex: neighbouring edges share a face.
#[test]
fn edges_around_a_vertex_are_in_order() {
    for soup in [
        generate::cuboid(DVec3::ONE).unwrap(),
        generate::icosphere(2).unwrap().to_soup(),
        generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5).unwrap(),
    ] {
        let polyhedron = Polyhedron::new(&soup).unwrap();
        let mut total = 0;
        for v in 0..polyhedron.vertices().len() {
            let star = polyhedron.vertex_edges(v);
            total += star.len();
            for (k, &edge) in star.iter().enumerate() {
                let (edge, next) = (
                    polyhedron.edges()[edge as usize],
                    polyhedron.edges()[star[(k + 1) % star.len()] as usize],
                );
                assert!(edge.vertices.contains(&(v as u32)));
                // The face between is on the left of the first edge, seen from the vertex outwards.
                let between = if edge.vertices[0] == v as u32 { edge.faces[0] } else { edge.faces[1] };
                assert!(next.faces.contains(&between));
            }
        }
        assert_eq!(total, 2 * polyhedron.edges().len());
    }
}

/// BVH-5: the box of a oriented box is that box.
#[test]
fn bvh_5_oriented_box_of_a_box() {
    let mut random = Random(13);
    let corners = generate::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap().vertices;
    for _ in 0..100 {
        let pose = random.pose(10.0);
        let points: Vec<DVec3> = corners.iter().map(|&p| pose.point(p)).collect();
        let fitted = OrientedBox::fit(&points).unwrap();
        assert!((fitted.volume() / 48.0 - 1.0).abs() < 1e-9);
        for axis in fitted.axes() {
            let local = pose.inverse_vector(axis).abs();
            assert!(local.max_element() > 1.0 - 1e-15, "{local}");
        }
        // BVH-6, hull half: a cluster of interior points changes nothing.
        let mut crowded = points.clone();
        crowded.extend((0..1000).map(|i| pose.point(DVec3::new(0.9, 1.8, 2.5) - 1e-4 * i as f64)));
        let same = OrientedBox::fit(&crowded).unwrap();
        assert!(
            (same.volume() - fitted.volume()).abs() < 1e-9
                && same.center().abs_diff_eq(fitted.center(), 1e-9)
        );
    }
    // A cube's axes are undetermined; the aligned box must win.
    let cube = generate::cuboid(DVec3::ONE).unwrap().vertices;
    assert!((OrientedBox::fit(&cube).unwrap().volume() - 8.0).abs() < 1e-12);
    // Flat, straight and single points do not fail.
    for points in [&cube[..4], &cube[..2], &cube[..1]] {
        let fitted = OrientedBox::fit(points).unwrap();
        let roomy = OrientedBox::new(fitted.pose(), fitted.half_extents() + 1e-9).unwrap();
        assert!(points.iter().all(|&p| roomy.contains(p)));
    }
}

fn shapes() -> Vec<Shape> {
    let parts = vec![
        (Pose::at(DVec3::X), Shape::cone(0.5, 1.0).unwrap()),
        (Random(99).pose(1.0), Shape::capsule(0.2, 0.5).unwrap()),
    ];
    vec![
        Shape::sphere(0.7).unwrap(),
        Shape::cuboid(DVec3::new(0.3, 0.9, 0.5)).unwrap(),
        Shape::cylinder(0.4, 1.3).unwrap(),
        Shape::capsule(0.4, 1.3).unwrap(),
        Shape::cone(0.8, 1.1).unwrap(),
        Shape::cone(0.3, 2.0).unwrap(),
        Shape::ellipsoid(DVec3::new(0.3, 0.9, 0.5)).unwrap(),
        Shape::convex(rattleback_geometry::convex_hull(generate::icosphere(4).unwrap().vertices()).unwrap())
            .unwrap(),
        Shape::convex_hull(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).unwrap(),
        Shape::mesh(generate::torus(0.8, 0.3, 24, 12).unwrap()).unwrap(),
        Shape::compound(parts).unwrap(),
    ]
}

/// Boxes are tight: the finely cut surface fills them up to its own error, and never leaves them. Spheres and
/// oriented boxes hold the surface, rotation radii bound it tightly.
#[test]
fn bounds_are_tight() {
    let mut random = Random(14);
    for shape in shapes() {
        let surface = shape.surface(256).unwrap();
        for _ in 0..20 {
            let pose = random.pose(3.0);
            let bounds = shape.aabb(&pose).unwrap();
            let seen = Aabb::from_points(surface.vertices().iter().map(|&p| pose.point(p))).unwrap();
            assert!(bounds.enlarged(1e-12).unwrap().contains_box(&seen), "{shape:?}");
            assert!(
                seen.enlarged(1e-3).unwrap().contains_box(&bounds),
                "{shape:?}: {bounds:?} around {seen:?}"
            );
            // The extents along the turned axes are the box.
            for axis in 0..3 {
                let [low, high] = shape.extent_along(pose.inverse_vector(DVec3::AXES[axis])).unwrap();
                let shift = pose.translation[axis];
                assert!((low + shift - bounds.min()[axis]).abs() < 1e-12, "{shape:?}");
                assert!((high + shift - bounds.max()[axis]).abs() < 1e-12, "{shape:?}");
            }
            let about = 2.0 * random.in_cube();
            let reach = shape.rotation_radius(about).unwrap();
            let farthest = surface.vertices().iter().map(|p| p.distance(about)).fold(0.0, f64::max);
            assert!(farthest <= reach * (1.0 + 1e-12), "{shape:?}");
            if !matches!(shape, Shape::Ellipsoid(_)) {
                assert!(reach - farthest < 1e-3, "{shape:?}");
            }
        }
        let sphere = shape.bounding_sphere().unwrap();
        let oriented = shape.oriented_box().unwrap();
        let roomy = OrientedBox::new(oriented.pose(), oriented.half_extents() + 1e-9).unwrap();
        for &p in surface.vertices() {
            assert!(
                p.distance(sphere.center()) <= sphere.radius() * (1.0 + 1e-12) && roomy.contains(p),
                "{shape:?}"
            );
        }
        if shape.is_convex() {
            // No smaller sphere holds the surface's vertices, up to the error of cutting it into flat pieces.
            let smallest = BoundingSphere::smallest(surface.vertices()).unwrap().radius();
            assert!(sphere.radius() < smallest * (1.0 + 1e-3), "{shape:?}");
        }
    }
    let ground = Shape::half_space(DVec3::Z).unwrap();
    assert!(ground.aabb(&Pose::IDENTITY).is_none() && ground.bounding_sphere().is_none());
    assert!(
        ground.rotation_radius(DVec3::ZERO).is_none()
            && ground.extent_along(DVec3::Z).is_none()
            && ground.oriented_box().is_none()
    );
    assert!(ground.surface(8).is_err());
}

/// A support point lies in the shape, and no surface point lies farther along the direction.
#[test]
fn support_points_are_farthest() {
    let mut random = Random(15);
    for shape in shapes() {
        let surface = shape.surface(64).unwrap();
        for _ in 0..50 {
            let d = random.on_sphere() * random.between(1e-3, 1e3);
            let Some(p) = shape.support(d) else {
                assert!(!shape.is_convex());
                continue;
            };
            assert!(shape.contains(p * (1.0 - 1e-9)), "{shape:?} does not hold {p}");
            let reach = p.dot(d) + 1e-9 * d.length();
            assert!(surface.vertices().iter().all(|v| v.dot(d) <= reach), "{shape:?}");
        }
        if shape.is_convex() {
            assert!(shape.support(DVec3::ZERO).unwrap().is_finite());
            assert!(shape.support(DVec3::splat(1e-320)).unwrap().is_finite());
            assert_eq!(shape.support(DVec3::NAN), None);
        }
    }
}
