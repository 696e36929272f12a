//! Contact of shapes with surfaces: no ghost collisions, exact separations, few points, for any
//! triangulation.

use crate::random;

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use random::Random;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::contact::{
    ContactCache, ContactError, ContactSettings, Contacts, Sides, collide, contact,
};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh, convex_hull, generate};

fn mesh(mesh: TriangleMesh) -> Shape {
    Shape::Mesh(Arc::new(mesh))
}

fn cube_mesh(half: DVec3) -> Shape {
    mesh(TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap())
}

fn contacts(a: &Shape, b: &Shape, pose: &Pose, margin: f64) -> Contacts {
    contacts_with(a, b, pose, margin, ContactSettings::default())
}

fn contacts_with(a: &Shape, b: &Shape, pose: &Pose, margin: f64, settings: ContactSettings) -> Contacts {
    let mut contacts = Contacts::default();
    collide(a, b, pose, margin, &mut ContactCache::new(settings), &mut contacts).unwrap();
    contacts
}

/// One call with both poses gives what `collide` gives in A's frame, moved to the frame of the poses.
#[test]
fn one_shot_contact_is_collide_in_the_frame_of_the_poses() {
    let mut random = Random(11);
    let shapes = [
        Shape::cuboid(DVec3::new(0.4, 0.5, 0.6)).unwrap(),
        Shape::sphere(0.5).unwrap(),
        cube_mesh(DVec3::ONE),
    ];
    let mut touching = 0;
    for k in 0..60 {
        let (a, b) = (&shapes[k % 3], &shapes[k / 3 % 3]);
        let (pose_a, pose_b) = (
            Pose::new(random.rotation(), random.in_cube()),
            Pose::new(random.rotation(), random.in_cube() + DVec3::new(0.5, 0.0, 0.0)),
        );
        let placed = contact(a, &pose_a, b, &pose_b).unwrap();
        let local = contacts(a, b, &pose_a.relative(&pose_b), 0.0);
        assert_eq!(placed.manifolds().len(), local.manifolds().len());
        for (world, own) in placed.manifolds().iter().zip(local.manifolds()) {
            assert!(world.normal.abs_diff_eq(pose_a.vector(own.normal), 1e-15));
            assert_eq!((world.parts, world.points().len()), (own.parts, own.points().len()));
            for (p, q) in world.points().iter().zip(own.points()) {
                touching += 1;
                assert_eq!((p.separation, p.id), (q.separation, q.id));
                assert!(p.point_a.abs_diff_eq(pose_a.point(q.point_a), 1e-12));
                assert!(p.point_b.abs_diff_eq(pose_a.point(q.point_b), 1e-12));
            }
        }
    }
    assert!(touching > 50, "{touching}");
    let plane = Shape::half_space(DVec3::Z).unwrap();
    let both = contact(&plane, &Pose::IDENTITY, &plane, &Pose::IDENTITY);
    assert_eq!(both, Err(ContactError::BothUnbounded));
}

/// A flat square from −1 to 1 of n × n cells, inner grid points moved about, each cell cut along a random
/// diagonal.
fn ragged_plane(random: &mut Random, n: u32, height: impl Fn(DVec2) -> f64) -> TriangleMesh {
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let mut p = DVec2::new(f64::from(i), f64::from(j)) * (2.0 / f64::from(n)) - 1.0;
            if i % n != 0 && j % n != 0 {
                p += random.in_cube().truncate() * (0.6 / f64::from(n));
            }
            points.push(p.extend(height(p)));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| i * (n + 1) + j);
            let cut =
                if random.bits().is_multiple_of(2) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            triangles.extend(cut);
        }
    }
    TriangleMesh::new(points, triangles).unwrap()
}

fn flat_plane(random: &mut Random, n: u32) -> TriangleMesh {
    ragged_plane(random, n, |_| 0.0)
}

/// Bodies to slide about, with the depth of their lowest point below their origin in their own frame.
fn bodies() -> Vec<Shape> {
    let small: Vec<_> = generate::icosphere(1).unwrap().vertices().iter().map(|&p| 0.2 * p).collect();
    vec![
        Shape::sphere(0.2).unwrap(),
        Shape::cuboid(DVec3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::capsule(0.1, 0.3).unwrap(),
        Shape::cylinder(0.15, 0.2).unwrap(),
        Shape::cone(0.15, 0.3).unwrap(),
        Shape::ellipsoid(DVec3::new(0.2, 0.1, 0.15)).unwrap(),
        Shape::Convex(Arc::new(convex_hull(&small).unwrap())),
    ]
}

fn lowest(body: &Shape, rotation: DQuat) -> f64 {
    body.extent_along(rotation.conjugate() * DVec3::Z).unwrap()[0]
}

/// Any body on a flat surface, in any attitude and at any depth, is pushed straight up, by
/// exactly its depth.
#[test]
fn nothing_trips_over_edges_within_a_plane() {
    let mut random = Random(7);
    for round in 0..12 {
        let n = 1 + (random.bits() % 24) as u32;
        let tilt = random.pose(3.0);
        let plane = flat_plane(&mut random, n).transformed(&tilt).unwrap();
        let plane = mesh(plane);
        for body in bodies() {
            let rotation = if round % 2 == 0 {
                DQuat::from_rotation_z(random.between(-3.0, 3.0))
            } else {
                random.rotation()
            };
            let (start, way) = (0.3 * random.in_cube().truncate(), 0.3 * random.in_cube().truncate());
            let mut cache = ContactCache::default();
            let mut found = Contacts::default();
            for step in 0..20 {
                let depth = [0.04, 0.001, 1e-7, -0.001, -0.01][step % 5];
                let at = (start + way * (step as f64 / 20.0)).extend(-lowest(&body, rotation) - depth);
                let pose = tilt * Pose::new(rotation, at);
                collide(&plane, &body, &pose, 0.02, &mut cache, &mut found).unwrap();
                let up = tilt.vector(DVec3::Z);
                let kind = body.kind();
                assert!(!found.is_empty(), "{kind} n {n} step {step}");
                for manifold in found.manifolds() {
                    assert!(
                        manifold.normal.distance(up) < 1e-6,
                        "{kind} n {n} step {step} depth {depth} {:?}",
                        tilt.inverse_vector(manifold.normal)
                    );
                }
                let (_, point) = found.deepest().unwrap();
                let size = tilt.translation.length() + 1.0;
                assert!(
                    (point.separation + depth).abs() < 1e-9 * size,
                    "{kind} n {n} step {step} {} {depth}",
                    point.separation
                );
                assert!(found.point_count() <= 8, "{kind} {}", found.point_count());
            }
        }
    }
}

/// A box on a fine mesh stands on its four corners.
#[test]
fn a_box_on_a_fine_mesh_has_four_points() {
    let mut random = Random(11);
    let plane = mesh(flat_plane(&mut random, 40));
    let body = Shape::cuboid(DVec3::new(0.31, 0.27, 0.1)).unwrap();
    let pose = Pose::new(DQuat::from_rotation_z(0.3), DVec3::new(0.05, -0.02, 0.099));
    let found = contacts(&plane, &body, &pose, 0.01);
    assert_eq!(found.manifolds().len(), 1);
    let points = found.manifolds()[0].points();
    assert_eq!(points.len(), 4);
    for sign in [DVec2::new(1.0, 1.0), DVec2::new(1.0, -1.0), DVec2::new(-1.0, 1.0), DVec2::new(-1.0, -1.0)] {
        let corner = pose.point(DVec3::new(0.31 * sign.x, 0.27 * sign.y, -0.1));
        assert!(points.iter().any(|p| p.point_b.distance(corner) < 1e-9), "{corner}");
    }
    let raw = contacts_with(&plane, &body, &pose, 0.01, ContactSettings::raw());
    assert!(raw.manifolds().len() > 100);
    let mut ids: Vec<_> = points.iter().map(|p| p.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "names differ");
}

/// Over a ridge the sphere is pushed along the line from the ridge; on a slope along the slope's normal.
#[test]
fn a_ridge_gives_every_normal_between_its_slopes() {
    let mut random = Random(3);
    let slope = 0.5;
    let heights = |p: DVec2| -slope * p.x.abs();
    // An even number of columns, so that the ridge is an edge; points stay on it because the grid is regular
    // there.
    let ridge = HeightField::new(
        21,
        21,
        DVec2::splat(0.1),
        (0..441).map(|i| heights(DVec2::new(f64::from(i % 21 - 10) * 0.1, 0.0))).collect(),
    )
    .unwrap();
    let shapes = [mesh(ridge.surface().unwrap()), Shape::HeightField(Arc::new(ridge))];
    let sphere = Shape::sphere(0.2).unwrap();
    let steep = slope.atan();
    for surface in &shapes {
        for _ in 0..200 {
            let angle = random.between(-1.2, 1.2);
            let (direction, y) = (DVec3::new(angle.sin(), 0.0, angle.cos()), random.between(-0.5, 0.5));
            let depth = random.between(-0.01, 0.02);
            // Beyond the slope's normal the sphere lies on the slope.
            let (normal, foot) = if angle.abs() <= steep {
                (direction, DVec3::new(0.0, y, 0.0))
            } else {
                let x = random.between(0.1, 0.5) * angle.signum();
                let normal = DVec3::new(slope * angle.signum(), 0.0, 1.0).normalize();
                (normal, DVec3::new(x, y, -slope * x.abs()))
            };
            let found = contacts(surface, &sphere, &Pose::at(foot + (0.2 - depth) * normal), 0.02);
            let (manifold, point) = found.deepest().unwrap();
            assert_eq!(found.manifolds().len(), 1, "{angle}");
            assert!(manifold.normal.distance(normal) < 1e-6, "{angle}: {} {normal}", manifold.normal);
            assert!((point.separation + depth).abs() < 1e-9);
        }
    }
}

/// In a valley a sphere touches both slopes, and each pushes along its own normal.
#[test]
fn a_valley_gives_the_normals_of_its_two_slopes() {
    let slope: f64 = 0.7;
    let heights = (0..441).map(|i| slope * (f64::from(i % 21 - 10) * 0.1).abs()).collect();
    let valley = HeightField::new(21, 21, DVec2::splat(0.1), heights).unwrap();
    let normals = [-1.0, 1.0].map(|side| DVec3::new(-side * slope, 0.0, 1.0).normalize());
    let (radius, depth) = (0.3, 0.01);
    let height = (radius - depth) * slope.hypot(1.0);
    let sphere = Shape::sphere(radius).unwrap();
    for surface in [mesh(valley.surface().unwrap()), Shape::HeightField(Arc::new(valley))] {
        for y in [0.0, 0.033, -0.21] {
            let found = contacts(&surface, &sphere, &Pose::at(DVec3::new(0.0, y, height)), 0.0);
            assert_eq!(found.manifolds().len(), 2);
            for normal in normals {
                let manifold = found.manifolds().iter().find(|m| m.normal.distance(normal) < 1e-9).unwrap();
                assert!((manifold.deepest().unwrap().separation + depth).abs() < 1e-12);
            }
        }
    }
}

/// On a finely faceted sphere normals are those of the sphere within the angle between neighbouring facets.
#[test]
fn a_faceted_sphere_gives_normals_within_its_faceting() {
    let mut random = Random(5);
    let sphere = mesh(generate::icosphere(4).unwrap());
    // Edges of the fourth level are up to 1.2 × 1.107/8 rad long; facets differ by less than that, and lie
    // below the sphere by 1 − cos of the radius of the circle around them.
    let facet: f64 = 1.2 * 1.107 / 8.0;
    let sagitta = 1.0 - (facet / 3f64.sqrt()).cos();
    for body in [Shape::sphere(0.3).unwrap(), Shape::cuboid(DVec3::splat(0.2)).unwrap()] {
        for _ in 0..100 {
            let direction = random.on_sphere();
            // A face of the box is opposite the sphere.
            let rotation = DQuat::from_rotation_arc(DVec3::Z, direction);
            let reach = if matches!(body, Shape::Sphere(_)) { 0.3 } else { 0.2 };
            let pose = Pose::new(rotation, direction * (1.0 + reach - 0.01));
            let found = contacts(&sphere, &body, &pose, 0.0);
            let (manifold, point) = found.deepest().unwrap();
            assert!(manifold.normal.distance(direction) < facet, "{}", manifold.normal.distance(direction));
            assert!((point.separation + 0.01).abs() < sagitta, "{}", point.separation);
        }
    }
}

/// Swapping the shapes turns the answer round.
#[test]
fn answers_turn_with_the_question() {
    let mut random = Random(21);
    let surfaces = [
        mesh(generate::torus(1.0, 0.4, 24, 12).unwrap()),
        cube_mesh(DVec3::new(1.0, 0.7, 0.5)),
        mesh(ragged_plane(&mut random, 12, |p| 0.2 * (3.0 * p.x).sin() * (2.0 * p.y).cos())),
    ];
    let mut touched = 0;
    for surface in &surfaces {
        for body in bodies() {
            // Nearest-point search on curved cores converges to 1e-9 in distance, the root of which bounds
            // normals.
            let curved = matches!(body, Shape::Cylinder(_) | Shape::Cone(_) | Shape::Ellipsoid(_));
            let near = if curved { 1e-6 } else { 1e-9 };
            for _ in 0..20 {
                let pose = random.pose(1.2);
                let there = contacts(surface, &body, &pose, 0.05);
                let back = contacts(&body, surface, &pose.inverse(), 0.05);
                assert_eq!(there.manifolds().len(), back.manifolds().len());
                for (m, w) in there.manifolds().iter().zip(back.manifolds()) {
                    let w = w.swapped(&pose.inverse());
                    touched += 1;
                    assert!(m.normal.distance(w.normal) < near, "{} {m:?} {w:?}", body.kind());
                    let (p, q) = (m.deepest().unwrap(), w.deepest().unwrap());
                    assert!((p.separation - q.separation).abs() < near);
                    for p in m.points() {
                        assert!((p.separation - m.normal.dot(p.point_b - p.point_a)).abs() < 1e-9);
                    }
                }
            }
        }
    }
    assert!(touched > 50, "{touched}");
}

/// The separation of a sphere from a mesh is that of its centre from the nearest triangle, found by trying
/// all of them.
#[test]
fn distance_of_a_sphere_from_a_mesh_is_that_of_brute_force() {
    let mut random = Random(13);
    let mut touched = 0;
    for _ in 0..15 {
        let crumpled = random.crumpled_mesh();
        let sphere = Shape::sphere(0.3).unwrap();
        let center = crumpled.bounds().center();
        let surface = mesh(crumpled.clone());
        for _ in 0..40 {
            let at = center + 1.5 * random.in_cube();
            if crumpled.contains(at) {
                continue;
            }
            let nearest = (0..crumpled.triangles().len())
                .map(|i| {
                    rattleback_geometry::primitive::Triangle::from(crumpled.triangle(i))
                        .closest_point(at)
                        .distance(at)
                })
                .fold(f64::INFINITY, f64::min);
            let found = contacts(&surface, &sphere, &Pose::at(at), 0.2);
            match found.deepest() {
                Some((_, point)) => {
                    touched += 1;
                    assert!(
                        (point.separation - (nearest - 0.3)).abs() < 1e-9,
                        "{} {}",
                        point.separation,
                        nearest - 0.3
                    );
                }
                None => assert!(nearest > 0.5),
            }
        }
    }
    assert!(touched > 100, "{touched}");
}

/// What lies inside a solid, or below a terrain, is pushed out.
#[test]
fn buried_bodies_are_pushed_out() {
    let cube = cube_mesh(DVec3::ONE);
    let sphere = Shape::sphere(0.1).unwrap();
    let found = contacts(&cube, &sphere, &Pose::at(DVec3::new(0.1, 0.6, 0.2)), 0.0);
    let (manifold, point) = found.deepest().unwrap();
    assert!(manifold.normal.distance(DVec3::Y) < 1e-12 && (point.separation + 0.5).abs() < 1e-12);
    let terrain = HeightField::new(3, 3, DVec2::ONE, vec![0.0; 9]).unwrap();
    let terrain = Shape::HeightField(Arc::new(terrain));
    let found = contacts(&terrain, &sphere, &Pose::at(DVec3::new(0.3, 0.2, -2.0)), 0.0);
    let (manifold, point) = found.deepest().unwrap();
    assert!(manifold.normal.distance(DVec3::Z) < 1e-12 && (point.separation + 2.1).abs() < 1e-12);
    assert!(contacts(&cube, &sphere, &Pose::at(DVec3::new(0.0, 0.0, 1.2)), 0.0).is_empty());
}

/// A sheet is touched from both sides, or from its front only if so wished.
#[test]
fn sheets_have_one_side_or_two() {
    let sheet = mesh(flat_plane(&mut Random(1), 5));
    let sphere = Shape::sphere(0.2).unwrap();
    let front = ContactSettings { open_meshes: Sides::Front, ..ContactSettings::default() };
    for z in [0.19, -0.19] {
        let pose = Pose::at(DVec3::new(0.1, 0.2, z));
        let found = contacts(&sheet, &sphere, &pose, 0.0);
        let (manifold, point) = found.deepest().unwrap();
        assert!(
            manifold.normal.distance(DVec3::Z * z.signum()) < 1e-9 && (point.separation + 0.01).abs() < 1e-12
        );
        assert_eq!(contacts_with(&sheet, &sphere, &pose, 0.0, front).is_empty(), z < 0.0);
    }
}

/// Piece numbers run through the parts of a compound, triangles one by one; parts far away cost nothing and
/// are no evidence.
#[test]
fn pieces_of_a_compound_are_numbered_through() {
    let cube = cube_mesh(DVec3::splat(0.4));
    let parts = vec![
        (Pose::at(DVec3::new(-2.0, 0.0, 0.0)), Shape::sphere(0.5).unwrap()),
        (Pose::at(DVec3::ZERO), cube.clone()),
        (Pose::at(DVec3::new(2.0, 0.0, 0.0)), Shape::sphere(0.5).unwrap()),
    ];
    let compound = Shape::Compound(Arc::new(Compound::new(parts).unwrap()));
    assert_eq!(compound.piece_count(), 14);
    let sphere = Shape::sphere(0.2).unwrap();
    for (x, height, range) in [(-2.0, 0.5, 0..1), (0.0, 0.4, 1..13), (2.0, 0.5, 13..14)] {
        let pose = Pose::at(DVec3::new(x, 0.0, height + 0.2 - 0.01));
        let found = contacts(&compound, &sphere, &pose, 0.0);
        let (manifold, point) = found.deepest().unwrap();
        assert!(range.contains(&manifold.parts[0]) && manifold.parts[1] == 0, "{:?}", manifold.parts);
        assert!((point.separation + 0.01).abs() < 1e-9 && manifold.normal.distance(DVec3::Z) < 1e-6);
        let back = contacts(&sphere, &compound, &pose.inverse(), 0.0);
        assert_eq!(back.manifolds()[0].parts, [manifold.parts[1], manifold.parts[0]]);
    }
    let pair = contacts(&compound, &compound, &Pose::at(DVec3::new(0.0, 0.99, 0.0)), 0.0);
    assert!(pair.manifolds().len() >= 2);
}

/// A-28 with our four points a manifold: of the many vertices below a plane the extreme ones stay, always the
/// same.
#[test]
fn a_mesh_on_a_half_space_keeps_its_extreme_vertices() {
    let mut random = Random(2);
    let slab = flat_plane(&mut random, 10);
    let floor = Shape::half_space(DVec3::Z).unwrap();
    let found = contacts(&floor, &mesh(slab.clone()), &Pose::at(DVec3::new(3.0, 0.0, -0.01)), 0.0);
    assert_eq!(found.manifolds().len(), 1);
    assert_eq!(found.point_count(), 4);
    for point in found.manifolds()[0].points() {
        assert!((point.separation + 0.01).abs() < 1e-12);
        assert!((point.point_b.x - 3.0).abs() == 1.0 && point.point_b.y.abs() == 1.0);
    }
    assert!(found.manifolds()[0].normal.distance(DVec3::Z) < 1e-12);
    let raw = contacts_with(&floor, &mesh(slab), &Pose::at(DVec3::Z * -0.01), 0.0, ContactSettings::raw());
    assert_eq!(raw.point_count(), 121);
}

/// A cache that has seen other shapes and poses changes nothing.
#[test]
fn any_cache_serves_any_pair() {
    let mut random = Random(17);
    let surfaces = [
        mesh(generate::icosphere(3).unwrap()),
        mesh(flat_plane(&mut random, 9)),
        cube_mesh(DVec3::ONE),
        Shape::HeightField(Arc::new(HeightField::new(5, 5, DVec2::splat(0.4), vec![0.0; 25]).unwrap())),
    ];
    let mut cache = ContactCache::default();
    let mut found = Contacts::default();
    let all = bodies();
    for round in 0..400 {
        let surface = &surfaces[(random.bits() % 4) as usize];
        let body = &all[(random.bits() % all.len() as u64) as usize];
        let pose = random.pose(1.3);
        collide(surface, body, &pose, 0.05, &mut cache, &mut found).unwrap();
        let fresh = contacts(surface, body, &pose, 0.05);
        assert_eq!(found.manifolds().len(), fresh.manifolds().len(), "{round}");
        for (m, w) in found.manifolds().iter().zip(fresh.manifolds()) {
            assert!(m.normal.distance(w.normal) < 1e-6);
            let (p, q) = (m.deepest().unwrap(), w.deepest().unwrap());
            assert!((p.separation - q.separation).abs() < 1e-7);
        }
    }
}

/// Slow bodies do not walk the hierarchy anew, fast ones do.
#[test]
fn slow_bodies_do_not_walk_the_hierarchy() {
    let surface = mesh(flat_plane(&mut Random(1), 30));
    let body = Shape::cuboid(DVec3::splat(0.1)).unwrap();
    let (mut cache, mut found) = (ContactCache::default(), Contacts::default());
    for i in 0..100 {
        let pose = Pose::at(DVec3::new(1e-5 * f64::from(i), 0.0, 0.0999));
        collide(&surface, &body, &pose, 0.01, &mut cache, &mut found).unwrap();
        assert!(!found.is_empty());
    }
    assert_eq!(cache.walks(), 1);
}

#[test]
fn bad_questions_are_refused() {
    let (mut cache, mut found) = (ContactCache::default(), Contacts::default());
    let (floor, sphere) = (Shape::half_space(DVec3::Z).unwrap(), Shape::sphere(1.0).unwrap());
    let mut contact_of =
        |a: &Shape, b: &Shape, pose: &Pose, margin: f64| collide(a, b, pose, margin, &mut cache, &mut found);
    assert_eq!(contact_of(&floor, &floor, &Pose::IDENTITY, 0.0), Err(ContactError::BothUnbounded));
    let nan = Pose::at(DVec3::new(f64::NAN, 0.0, 0.0));
    assert_eq!(
        contact_of(&sphere, &sphere, &nan, 0.0),
        Err(ContactError::Closest(ClosestError::InvalidPose))
    );
    assert!(matches!(
        contact_of(&sphere, &sphere, &Pose::IDENTITY, f64::NAN),
        Err(ContactError::InvalidMargin { .. })
    ));
    assert!(matches!(
        contact_of(&sphere, &sphere, &Pose::IDENTITY, -1.0),
        Err(ContactError::InvalidMargin { .. })
    ));
    let mut odd = ContactCache::new(ContactSettings { merge_angle: f64::NAN, ..ContactSettings::default() });
    let refused = collide(&sphere, &sphere, &Pose::IDENTITY, 0.0, &mut odd, &mut found);
    assert!(matches!(refused, Err(ContactError::InvalidMergeAngle { .. })));
}

/// Zero-area, repeated and needle triangles, huge and tiny ones, poses and margins of any size: an answer
/// that makes sense, or an error, never a panic.
#[test]
fn any_triangles_are_survived() {
    let mut random = Random(99);
    for round in 0..1500 {
        let scale = 10f64.powf(random.between(-12.0, 12.0));
        let count = 3 + random.bits() % 6;
        let grid = |random: &mut Random| {
            if random.bits().is_multiple_of(2) { random.in_cube().round() } else { random.in_cube() }
        };
        let points: Vec<_> = (0..count).map(|_| scale * grid(&mut random)).collect();
        let triangles = (0..=random.bits() % 8).map(|_| [0; 3].map(|_: u32| (random.bits() % count) as u32));
        let Ok(soup) = TriangleMesh::new(points, triangles.collect()) else { continue };
        let soup = mesh(soup);
        let other = match round % 4 {
            0 => Shape::sphere(scale * random.between(0.1, 2.0)).unwrap(),
            1 => Shape::cuboid(scale * (random.in_cube().abs() + 0.1)).unwrap(),
            2 => mesh(
                TriangleMesh::new(vec![scale * DVec3::X, scale * DVec3::Y, DVec3::ZERO], vec![[0, 1, 2]; 3])
                    .unwrap(),
            ),
            _ => Shape::half_space(random.on_sphere()).unwrap(),
        };
        let pose = Pose::new(random.rotation(), scale * grid(&mut random));
        let mut found = Contacts::default();
        let margin = scale * random.between(0.0, 0.5);
        collide(&soup, &other, &pose, margin, &mut ContactCache::default(), &mut found).unwrap();
        for manifold in found.manifolds() {
            assert!((manifold.normal.length() - 1.0).abs() < 1e-9, "{round} {manifold:?}");
            for point in manifold.points() {
                assert!(point.separation <= margin * (1.0 + 1e-9) + 1e-9 * scale, "{round} {manifold:?}");
                assert!(point.point_a.is_finite() && point.point_b.is_finite());
            }
        }
    }
}
