//! Contact, distance and overlap of surfaces with each other, and of anything with anything.

use crate::random;

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use random::Random;
use rattleback_geometry::contact::{ContactCache, Contacts, collide, distance, intersects};
use rattleback_geometry::primitive::{Triangle, closest_triangle_triangle};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh, generate};

fn mesh(mesh: TriangleMesh) -> Shape {
    Shape::Mesh(Arc::new(mesh))
}

fn cube_mesh(half: DVec3) -> Shape {
    mesh(TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap())
}

fn contacts(a: &Shape, b: &Shape, pose: &Pose, margin: f64) -> Contacts {
    let mut contacts = Contacts::default();
    collide(a, b, pose, margin, &mut ContactCache::default(), &mut contacts).unwrap();
    contacts
}

/// Boxes that overlap across one face, as meshes: depth and normal are those of the boxes themselves.
#[test]
fn cubes_as_meshes_agree_with_boxes() {
    let (a, b) = (DVec3::new(1.0, 0.8, 0.6), DVec3::new(0.5, 0.9, 0.7));
    let (mesh_a, mesh_b) = (cube_mesh(a), cube_mesh(b));
    let (box_a, box_b) = (Shape::cuboid(a).unwrap(), Shape::cuboid(b).unwrap());
    let mut random = Random(9);
    let mut poses = vec![
        Pose::at(DVec3::new(1.4, 0.3, 0.3)),
        Pose::at(DVec3::new(0.0, 0.0, -1.25)),
        Pose::at(DVec3::new(0.2, 1.65, 0.1)),
    ];
    for _ in 0..60 {
        let rotation = DQuat::from_scaled_axis(0.3 * random.in_cube());
        poses.push(Pose::new(
            rotation,
            DVec3::new(1.45, 0.5, 0.4)
                * DVec3::new(1.0, random.between(-1.0, 1.0), random.between(-1.0, 1.0)),
        ));
    }
    let mut checked = 0;
    for pose in poses {
        let boxes = contacts(&box_a, &box_b, &pose, 0.0);
        let meshes = contacts(&mesh_a, &mesh_b, &pose, 0.0);
        assert_eq!(boxes.is_empty(), meshes.is_empty(), "{pose:?}");
        let Some((expected, deep)) = boxes.deepest() else { continue };
        if deep.separation > -1e-3 {
            continue;
        }
        let (manifold, point) = meshes.deepest().unwrap();
        checked += 1;
        let label = format!("{} {} {pose:?} {expected:?} {manifold:?}", point.separation, deep.separation);
        assert!((point.separation - deep.separation).abs() < 1e-5 * (1.0 + deep.separation.abs()), "{label}");
        assert!(manifold.normal.distance(expected.normal) < 1e-9, "{label}");
    }
    assert!(checked > 20, "{checked}");
}

/// Equal cubes on top of each other share four side planes; still they are pushed apart upwards.
#[test]
fn a_stack_of_equal_cubes_is_pushed_apart_upwards() {
    let cube = cube_mesh(DVec3::ONE);
    let found = contacts(&cube, &cube, &Pose::at(DVec3::Z * 1.9), 0.0);
    assert_eq!(found.manifolds().len(), 1);
    let (manifold, point) = found.deepest().unwrap();
    assert!(manifold.normal.distance(DVec3::Z) < 1e-9 && (point.separation + 0.1).abs() < 1e-6);
    assert_eq!(manifold.points().len(), 4);
}

/// Spheres as meshes overlap as deeply as spheres, within the faceting.
#[test]
fn spheres_as_meshes_overlap_as_deeply_as_spheres() {
    let mut random = Random(4);
    let sphere = mesh(generate::icosphere(5).unwrap());
    // Edges up to 1.2 × 1.107/16 rad: a facet lies below the sphere by at most this, on either side.
    let sagitta = 1.0 - (1.2 * 1.107 / 16.0 / 3f64.sqrt()).cos();
    for depth in [0.02, 0.1, 0.3] {
        for _ in 0..10 {
            let direction = random.on_sphere();
            let pose = Pose::new(random.rotation(), (2.0 - depth) * direction);
            let found = contacts(&sphere, &sphere, &pose, 0.0);
            assert_eq!(found.manifolds().len(), 1);
            let (manifold, point) = found.deepest().unwrap();
            assert!((point.separation + depth).abs() < 2.5 * sagitta, "{depth} {}", point.separation);
            assert!(manifold.normal.distance(direction) < 0.12, "{}", manifold.normal.distance(direction));
        }
    }
}

/// Rings linked through each other without touching have no contact, and their distance is that of the tubes.
#[test]
fn linked_rings_do_not_touch() {
    let ring = mesh(generate::torus(1.0, 0.2, 64, 24).unwrap());
    let pose = Pose::new(DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), DVec3::X);
    assert!(contacts(&ring, &ring, &pose, 0.0).is_empty());
    assert!(!intersects(&ring, &ring, &pose).unwrap());
    // The second ring's circle passes through the first one's centre: circles 1 apart, tubes 0.2 each.
    let apart = distance(&ring, &ring, &pose).unwrap();
    assert!((apart.distance - 0.6).abs() < 0.01, "{}", apart.distance);
    assert!(
        contacts(&ring, &ring, &pose, 0.7)
            .deepest()
            .is_some_and(|(_, p)| (p.separation - apart.distance).abs() < 1e-9)
    );
}

/// A solid wholly inside another is pushed out the shortest way through the nearest face.
#[test]
fn a_nested_solid_is_pushed_out() {
    let (outer, inner) = (cube_mesh(DVec3::ONE), cube_mesh(DVec3::splat(0.1)));
    let pose = Pose::at(DVec3::new(0.0, -0.5, 0.2));
    for (a, b, pose, normal) in
        [(&outer, &inner, pose, -DVec3::Y), (&inner, &outer, pose.inverse(), DVec3::Y)]
    {
        assert!(intersects(a, b, &pose).unwrap());
        let found = contacts(a, b, &pose, 0.0);
        let (manifold, point) = found.deepest().unwrap();
        assert!(manifold.normal.distance(normal) < 1e-12, "{}", manifold.normal);
        assert!((point.separation + 0.6).abs() < 1e-12, "{}", point.separation);
        assert!(distance(a, b, &pose).unwrap().distance < 0.0);
    }
}

/// A U-shaped solid: a bar between its legs touches neither; pushed against one leg it is pushed back.
#[test]
fn a_bar_between_the_legs_of_a_u() {
    let part = |center: DVec3, half: DVec3| {
        TriangleMesh::from_soup(&generate::cuboid(half).unwrap())
            .unwrap()
            .transformed(&Pose::at(center))
            .unwrap()
    };
    // One outline, extruded: legs x ∈ [−2, −1] and [1, 2], floor y ∈ [0, 1], height to 3, z ∈ [−1, 1].
    let outline =
        [(-2.0, 0.0), (2.0, 0.0), (2.0, 3.0), (1.0, 3.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, 3.0), (-2.0, 3.0)];
    let mut soup = rattleback_geometry::PolygonSoup::default();
    for z in [-1.0, 1.0] {
        soup.vertices.extend(outline.iter().map(|&(x, y)| DVec3::new(x, y, z)));
    }
    soup.push_face(&[15, 14, 13, 12, 11, 10, 9, 8].map(|i: u32| 23 - i));
    soup.push_face(&[7, 6, 5, 4, 3, 2, 1, 0]);
    for i in 0..8u32 {
        let j = (i + 1) % 8;
        soup.push_face(&[i, j, j + 8, i + 8]);
    }
    let u = mesh(TriangleMesh::from_soup(&soup).unwrap());
    assert!(matches!(&u, Shape::Mesh(mesh) if mesh.is_solid()));
    let bar = mesh(part(DVec3::ZERO, DVec3::new(0.5, 0.5, 3.0)));
    let brick = Shape::cuboid(DVec3::new(0.5, 0.5, 3.0)).unwrap();
    for bar in [&bar, &brick] {
        let free = Pose::at(DVec3::new(0.1, 2.0, 0.0));
        assert!(contacts(&u, bar, &free, 0.0).is_empty() && !intersects(&u, bar, &free).unwrap());
        assert!((distance(&u, bar, &free).unwrap().distance - 0.4).abs() < 1e-9);
        let pressed = contacts(&u, bar, &Pose::at(DVec3::new(0.55, 2.0, 0.0)), 0.0);
        let (manifold, point) = pressed.deepest().unwrap();
        assert!(manifold.normal.distance(-DVec3::X) < 1e-9, "{}", manifold.normal);
        assert!((point.separation + 0.05).abs() < 1e-5, "{}", point.separation);
        let resting = contacts(&u, bar, &Pose::at(DVec3::new(0.0, 1.48, 0.0)), 0.0);
        let (manifold, point) = resting.deepest().unwrap();
        assert!(manifold.normal.distance(DVec3::Y) < 1e-9 && (point.separation + 0.02).abs() < 1e-5);
    }
}

/// A rock on a terrain: the terrain carries it upwards.
#[test]
fn a_rock_on_terrain_is_carried_upwards() {
    let terrain =
        Shape::HeightField(Arc::new(HeightField::new(21, 21, DVec2::splat(0.15), vec![0.0; 441]).unwrap()));
    let rock = mesh(generate::icosphere(4).unwrap());
    let pose = Pose::at(DVec3::new(0.03, 0.05, 0.9));
    let found = contacts(&terrain, &rock, &pose, 0.0);
    let (manifold, point) = found.deepest().unwrap();
    assert!(manifold.normal.distance(DVec3::Z) < 1e-9, "{}", manifold.normal);
    assert!((point.separation + 0.1).abs() < 0.005, "{}", point.separation);
    assert!(intersects(&terrain, &rock, &pose).unwrap());
    assert!(!intersects(&terrain, &rock, &Pose::at(DVec3::Z * 1.1)).unwrap());
    assert!((distance(&terrain, &rock, &Pose::at(DVec3::Z * 1.5)).unwrap().distance - 0.5).abs() < 0.005);
}

/// Distances of meshes from each other are those of all pairs of triangles.
#[test]
fn distances_of_meshes_are_those_of_brute_force() {
    let mut random = Random(8);
    let mut checked = 0;
    for _ in 0..12 {
        let (p, q) = (random.crumpled_mesh(), random.crumpled_mesh());
        let pose = random.pose(4.0);
        let (a, b) = (mesh(p.clone()), mesh(q.clone()));
        let brute = (0..p.triangles().len())
            .flat_map(|i| (0..q.triangles().len()).map(move |j| (i, j)))
            .map(|(i, j)| {
                let u = q.triangle(j).map(|v| pose.point(v));
                closest_triangle_triangle(&Triangle::from(p.triangle(i)), &Triangle::from(u)).distance
            })
            .fold(f64::INFINITY, f64::min);
        let answer = distance(&a, &b, &pose).unwrap();
        if brute == 0.0 {
            assert!(intersects(&a, &b, &pose).unwrap());
        }
        if brute > 0.0 && answer.distance > 0.0 {
            checked += 1;
            assert!((answer.distance - brute).abs() < 1e-9, "{} {brute}", answer.distance);
            assert!((answer.point_a.distance(answer.point_b) - brute).abs() < 1e-9);
            let back = distance(&b, &a, &pose.inverse()).unwrap();
            assert!((back.distance - brute).abs() < 1e-9);
        }
    }
    assert!(checked > 5, "{checked}");
}

/// The three queries never contradict each other, for any two shapes.
#[test]
fn overlap_distance_and_contact_agree() {
    let mut random = Random(31);
    let small: Vec<_> = generate::icosphere(1).unwrap().vertices().iter().map(|&p| 0.4 * p).collect();
    let sphere = Shape::sphere(0.3).unwrap();
    let parts = vec![
        (Pose::at(DVec3::X * 0.5), sphere.clone()),
        (Pose::at(DVec3::X * -0.5), cube_mesh(DVec3::splat(0.3))),
    ];
    let shapes = [
        sphere,
        Shape::cuboid(DVec3::new(0.3, 0.2, 0.4)).unwrap(),
        Shape::Convex(Arc::new(rattleback_geometry::convex_hull(&small).unwrap())),
        Shape::half_space(DVec3::Z).unwrap(),
        mesh(generate::torus(0.6, 0.25, 20, 10).unwrap()),
        cube_mesh(DVec3::new(0.4, 0.3, 0.5)),
        Shape::Compound(Arc::new(Compound::new(parts).unwrap())),
        Shape::HeightField(Arc::new(HeightField::new(9, 9, DVec2::splat(0.25), vec![0.0; 81]).unwrap())),
    ];
    for a in &shapes {
        for b in &shapes {
            if matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_))) {
                continue;
            }
            for _ in 0..12 {
                let pose = random.pose(1.2);
                let label = format!("{} {} {pose:?}", a.kind(), b.kind());
                let apart = distance(a, b, &pose).unwrap();
                let intersecting = intersects(a, b, &pose).unwrap();
                // Terrain has an end below which nothing is known of it.
                let terrain = [a, b].iter().any(|s| matches!(s, Shape::HeightField(_)));
                if !terrain {
                    assert_eq!(intersecting, apart.distance <= 1e-9, "{label} {}", apart.distance);
                }
                assert!((apart.normal.length() - 1.0).abs() < 1e-9, "{label}");
                if apart.distance > 1e-6 {
                    assert!(contacts(a, b, &pose, 0.0).is_empty(), "{label}");
                    // From behind, or beside its end, terrain can be near but not touched.
                    if terrain {
                        continue;
                    }
                    let near = contacts(a, b, &pose, apart.distance + 1e-6);
                    assert!(
                        near.deepest().is_some_and(|(_, p)| (p.separation - apart.distance).abs() < 1e-5),
                        "{label} {near:?} {apart:?}"
                    );
                }
            }
        }
    }
}
