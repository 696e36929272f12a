//! Points inside closed meshes, and the regions where two of them overlap.

use crate::random;

use std::f64::consts::FRAC_PI_4;

use glam::{DQuat, DVec3};
use random::Random;
use rattleback_geometry::primitive::{Tolerances, penetration_regions, point_in_mesh};
use rattleback_geometry::{MeshError, PolygonSoup, Pose, TriangleMesh, generate};

fn cuboid(half: DVec3) -> TriangleMesh {
    TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap()
}

/// A prism over a polygon in the xy plane (counter-clockwise), z from 0 to `height`.
fn prism(outline: &[[f64; 2]], height: f64) -> TriangleMesh {
    let count = outline.len() as u32;
    let bottom = outline.iter().map(|p| DVec3::new(p[0], p[1], 0.0));
    let top = outline.iter().map(|p| DVec3::new(p[0], p[1], height));
    let mut faces: Vec<Vec<u32>> = vec![(0..count).rev().collect(), (count..2 * count).collect()];
    faces.extend((0..count).map(|i| vec![i, (i + 1) % count, count + (i + 1) % count, count + i]));
    let mut soup = PolygonSoup::new(bottom.chain(top).collect());
    for face in &faces {
        soup.push_face(face);
    }
    TriangleMesh::from_soup(&soup).unwrap()
}

/// A square frame: a cube with a square hole through it along z.
fn cube_with_hole() -> TriangleMesh {
    let ring = |half: f64| [[-half, -half], [half, -half], [half, half], [-half, half]];
    let mut vertices = Vec::new();
    for z in [-1.0, 1.0] {
        for half in [1.0, 0.4] {
            vertices.extend(ring(half).map(|[x, y]| DVec3::new(x, y, z)));
        }
    }
    // Bottom outer 0..4, bottom inner 4..8, top outer 8..12, top inner 12..16.
    let mut triangles = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| triangles.extend([[a, b, c], [a, c, d]]);
    for i in 0..4 {
        let j = (i + 1) % 4;
        quad(i, j, 8 + j, 8 + i);
        quad(4 + j, 4 + i, 12 + i, 12 + j);
        quad(8 + i, 8 + j, 12 + j, 12 + i);
        quad(j, i, 4 + i, 4 + j);
    }
    TriangleMesh::new(vertices, triangles).unwrap()
}

/// INT-9: six rays against the winding number on a torus, a cube with a hole and an L, with points in line
/// with vertices.
#[test]
fn int_9_point_in_object_against_winding_number() {
    let ell = prism(&[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]], 1.0);
    let meshes = [generate::torus(1.0, 0.4, 12, 8).unwrap(), cube_with_hole(), ell];
    let tolerances = Tolerances { relative: 0.0, absolute: 1e-9 };
    let mut random = Random(9);
    for mesh in &meshes {
        assert!(mesh.is_solid(), "{:?}", mesh.solid_error());
        let bounds = mesh.bounds();
        let mut inside = 0;
        for case in 0..20_000 {
            let mut p = bounds.center() + 1.1 * bounds.half_extents() * random.in_cube();
            if case % 3 == 0 {
                // In line with a vertex along one or two axes.
                let v = mesh.vertices()[random.bits() as usize % mesh.vertices().len()];
                p[case % 2] = v[case % 2];
                if case % 6 == 0 {
                    p[2] = v[2];
                }
            }
            let near = (0..mesh.triangles().len())
                .any(|i| rattleback_geometry::primitive::Triangle::from(mesh.triangle(i)).distance(p) < 1e-8);
            let got = point_in_mesh(p, mesh, &tolerances);
            if !near {
                assert_eq!(got, mesh.contains(p), "{p}");
            }
            inside += u32::from(got);
        }
        assert!(inside > 2_000);
        assert!(mesh.vertices().iter().all(|&v| point_in_mesh(v, mesh, &tolerances)));
    }
    assert!(!point_in_mesh(DVec3::NAN, &meshes[0], &tolerances));
}

/// INT-10: unit cubes offset by (0.9, 0.3, 0.3): one region, one vertex of each, depth 0.1, vertex gap
/// 0.99499.
#[test]
fn int_10_cubes_overlap_in_one_corner_region() {
    let cube = cuboid(DVec3::splat(0.5));
    let offset = DVec3::new(0.9, 0.3, 0.3);
    let regions = penetration_regions(&cube, &cube, &Pose::at(offset), None, &Tolerances::default()).unwrap();
    assert_eq!(regions.len(), 1);
    let region = &regions[0];
    let vertex = |i: u32, shift: DVec3| cube.vertices()[i as usize] + shift;
    assert_eq!(
        region.vertices_a.iter().map(|&i| vertex(i, DVec3::ZERO)).collect::<Vec<_>>(),
        [DVec3::splat(0.5)]
    );
    assert_eq!(region.vertices_b.len(), 1);
    assert!(vertex(region.vertices_b[0], offset).distance(DVec3::new(0.4, -0.2, -0.2)) < 1e-15);
    assert!((region.depth - 0.1).abs() < 1e-12, "{}", region.depth);
    assert!((region.vertex_gap.unwrap() - 0.9949874).abs() < 1e-7);
    assert!((region.points[0].distance(region.points[1]) - 0.1).abs() < 1e-12);
}

/// INT-10: a U pushed onto a plate with both legs overlaps it in two regions.
#[test]
fn int_10_two_legs_make_two_regions() {
    let u = prism(
        &[[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]],
        1.0,
    );
    // A plate under the legs, which reach 0.1 into it.
    let plate = cuboid(DVec3::new(5.0, 0.5, 5.0));
    let place = Pose::at(DVec3::new(1.5, -0.4, 0.5));
    let regions = penetration_regions(&u, &plate, &place, None, &Tolerances::default()).unwrap();
    assert_eq!(regions.len(), 2);
    for region in &regions {
        assert_eq!((region.vertices_a.len(), region.vertices_b.len()), (4, 0));
        assert!((region.depth - 0.1).abs() < 1e-12);
        assert_eq!(region.vertex_gap, None);
    }
}

/// INT-10: crossed bars that pierce each other edge to edge by 0.05, no vertex inside: one region, depth
/// 0.05.
#[test]
fn int_10_crossed_bars_pierce_edge_to_edge() {
    let bar = cuboid(DVec3::new(2.0, 0.1, 0.1));
    // Stood on an edge, the bar's cross section reaches 0.1 √2 up and down.
    let reach = 0.1 * 2.0_f64.sqrt();
    let lower = bar.transformed(&Pose::new(DQuat::from_rotation_x(FRAC_PI_4), DVec3::ZERO)).unwrap();
    let across = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let place = Pose::new(across, DVec3::new(0.1, 0.2, 2.0 * reach - 0.05));
    let regions = penetration_regions(&lower, &lower, &place, None, &Tolerances::default()).unwrap();
    assert_eq!(regions.len(), 1);
    assert!(regions[0].vertices_a.is_empty() && regions[0].vertices_b.is_empty());
    assert!((regions[0].depth - 0.05).abs() < 1e-9, "{}", regions[0].depth);
}

/// A bar through a plate overlaps it once, though the curves above and below do not touch. One cube in
/// another, and cubes apart; candidates from outside give the same answer; an open mesh is an error.
#[test]
fn nested_piercing_and_separate_meshes() {
    let tolerances = Tolerances::default();
    let (cube, large) = (cuboid(DVec3::splat(0.5)), cuboid(DVec3::splat(1.5)));
    let nested = penetration_regions(&large, &cube, &Pose::IDENTITY, None, &tolerances).unwrap();
    assert_eq!((nested.len(), nested[0].vertices_b.len(), nested[0].segments.len()), (1, 8, 0));
    assert!((nested[0].depth - 1.0).abs() < 1e-12);
    let apart = penetration_regions(&large, &cube, &Pose::at(5.0 * DVec3::X), None, &tolerances).unwrap();
    assert!(apart.is_empty());
    let (bar, plate) = (cuboid(DVec3::new(0.1, 0.1, 2.0)), cuboid(DVec3::new(1.0, 1.0, 0.1)));
    let tilt = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.01, 0.02, 0.03));
    let through = penetration_regions(&plate, &bar, &tilt, None, &tolerances).unwrap();
    assert_eq!(through.len(), 1);
    let all: Vec<(u32, u32)> = (0..12).flat_map(|i| (0..12).map(move |j| (i, j))).collect();
    assert_eq!(penetration_regions(&plate, &bar, &tilt, Some(&all), &tolerances).unwrap(), through);
    let open = TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]).unwrap();
    let error = penetration_regions(&open, &cube, &Pose::IDENTITY, None, &tolerances);
    assert!(matches!(error, Err(MeshError::Open { .. })));
}
