//! Distance fields against closed forms and brute force.

use crate::meshes::{block, distance_to_triangle};
use crate::random;

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use random::Random;
use rattleback_geometry::distance_field::{
    ClosestSettings, DistanceField, FieldError, FieldSettings, FillRule, StepRule, Traversal, VertexTree,
};
use rattleback_geometry::{MeshError, PolygonSoup, Pose, TriangleMesh, generate};

fn settings(resolution: u32) -> FieldSettings {
    FieldSettings { resolution, ..FieldSettings::default() }
}

fn plain() -> ClosestSettings {
    ClosestSettings { step: StepRule::Plain, ..ClosestSettings::default() }
}

/// SDF-1: unit cube with ten cells a side.
#[test]
fn cube_on_the_grid_has_exact_values() {
    let field = DistanceField::build(&block(DVec3::ZERO, DVec3::ONE), &settings(10)).unwrap();
    let grid = field.grid();
    assert_eq!(grid.cells(), [12; 3]);
    assert!((grid.cell() - 0.1).abs() < 1e-15);
    assert!(grid.origin().abs_diff_eq(DVec3::splat(-0.1), 1e-15));
    assert!(grid.end().abs_diff_eq(DVec3::splat(1.1), 1e-12));
    for i in 0..13u32.pow(3) {
        let vertex = [i % 13, i / 13 % 13, i / 169];
        let value = field.vertex_value(vertex).unwrap();
        let to_side = vertex.map(|c| (c.min(12 - c) as f64 - 1.0) * 0.1);
        let nearest = to_side.iter().copied().fold(f64::INFINITY, f64::min);
        let on_faces = vertex.iter().filter(|&&c| c == 1 || c == 11).count();
        if nearest > 1e-9 {
            assert!((value + nearest).abs() < 1e-12, "{vertex:?}: {value}");
        } else if nearest > -1e-9 && on_faces == 1 {
            assert_eq!(value, 0.0, "{vertex:?}");
        } else {
            assert!(value >= 0.0, "{vertex:?}: {value}");
        }
    }
    assert!((field.value(DVec3::splat(0.5)).unwrap() + 0.5).abs() < 1e-12);
    assert_eq!(field.vertex_value([13, 0, 0]), None);
}

/// SDF-2: the grid of a 4 × 2 × 1 box.
#[test]
fn grid_follows_the_longest_side() {
    let field = DistanceField::build(&block(DVec3::ZERO, DVec3::new(4.0, 2.0, 1.0)), &settings(64)).unwrap();
    assert_eq!(field.grid().cells(), [66, 34, 18]);
}

/// SDF-3: memory grows with the square of the resolution; a thousand cells a side are practical.
#[test]
fn memory_grows_with_the_surface() {
    let cube = block(DVec3::ZERO, DVec3::ONE);
    let hundred = DistanceField::build(&cube, &settings(100)).unwrap();
    let double = DistanceField::build(&cube, &settings(200)).unwrap();
    assert!((58_806..=61_206).contains(&hundred.crossing_count()), "{}", hundred.crossing_count());
    let ratio = double.memory_bytes() as f64 / hundred.memory_bytes() as f64;
    assert!((ratio - 4.0).abs() < 0.2, "{ratio}");
    let sphere = generate::icosphere(6).unwrap();
    assert_eq!(sphere.triangles().len(), 20_480);
    let limit = FieldSettings { memory_limit: 200_000_000, ..settings(1000) };
    let fine = DistanceField::build(&sphere, &limit).unwrap();
    println!("R = 1000: {} crossings, {} bytes", fine.crossing_count(), fine.memory_bytes());
    assert!(fine.memory_bytes() < 60_000_000);
    let value = fine.value(DVec3::new(0.5, 0.0, 0.0)).unwrap();
    assert!((value + 0.5).abs() < 2e-3, "{value}");
}

fn fine_sphere_field() -> DistanceField {
    let sphere = generate::icosphere(7).unwrap();
    assert!(sphere.triangles().len() >= 80_000);
    DistanceField::build(&sphere, &settings(128)).unwrap()
}

/// Largest distance between the sphere and the icosphere of level 7, with room.
const MESH_ERROR: f64 = 2e-4;

/// SDF-4: signs and bounds on a sphere.
#[test]
fn sphere_values_are_signed_and_within_root_three() {
    let field = fine_sphere_field();
    let [nx, ny, nz] = field.grid().cells();
    let mut largest_ratio = 0.0_f64;
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                let distance = field.grid().position([x, y, z]).length() - 1.0;
                let value = field.vertex_value([x, y, z]).unwrap();
                if distance.abs() > MESH_ERROR {
                    assert_eq!(value > 0.0, distance > 0.0, "{x} {y} {z}: {value} {distance}");
                }
                assert!(value.abs() >= distance.abs() - MESH_ERROR);
                if distance < -MESH_ERROR {
                    assert!(-value <= 3f64.sqrt() * (MESH_ERROR - distance));
                    if distance < -0.01 {
                        largest_ratio = largest_ratio.max(value / distance);
                    }
                }
            }
        }
    }
    println!("largest ratio at grid vertices {largest_ratio}");
    assert!((largest_ratio - 1.704).abs() < 0.03, "{largest_ratio}");
    assert!((field.value(DVec3::ZERO).unwrap() + 1.0).abs() < 0.5 * field.grid().cell());
    // At points whose cell lies wholly inside. (Closer to the surface the spec's "|d| ≥ true − 0.01 h" does
    // not hold: corners outside overestimate as well, and pull the interpolated value up.)
    let h = field.grid().cell();
    let mut random = Random(4);
    let (mut ratio, mut shortfall) = (0.0_f64, 0.0_f64);
    for _ in 0..100_000 {
        let p = in_shell(&mut random, 0.1, 0.97);
        let (value, distance) = (field.value(p).unwrap(), 1.0 - p.length());
        shortfall = shortfall.max(distance + value);
        ratio = ratio.max(-value / distance);
    }
    println!("largest ratio at points {ratio}, largest shortfall {} h", shortfall / h);
    assert!(shortfall < MESH_ERROR + 0.01 * h && (ratio - 1.65).abs() < 0.05);
}

/// Uniform in the volume between two radii.
fn in_shell(random: &mut Random, low: f64, high: f64) -> DVec3 {
    random.on_sphere() * random.between(low.powi(3), high.powi(3)).cbrt()
}

/// Mean, 99th percentile and maximum.
fn statistics(mut samples: Vec<f64>) -> [f64; 3] {
    samples.sort_by(f64::total_cmp);
    let count = samples.len();
    [samples.iter().sum::<f64>() / count as f64, samples[count * 99 / 100], samples[count - 1]]
}

/// SDF-5: how far gradients and found points on a sphere are from the radial direction, against reference
/// numbers.
#[test]
fn sphere_gradients_and_closest_points_match_the_reference() {
    let field = fine_sphere_field();
    let h = field.grid().cell();
    let mut random = Random(5);
    let shells = [
        ((0.3, 0.5), [18.5, 32.7, 36.7]),
        ((0.5, 0.7), [12.9, 24.2, 28.5]),
        ((0.7, 0.9), [6.6, 15.1, 18.6]),
        ((0.9, 0.97), [2.3, 5.5, 6.9]),
    ];
    for ((low, high), reference) in shells {
        let angles = (0..20_000).map(|_| {
            let p = in_shell(&mut random, low, high);
            field.gradient(p).unwrap().angle_between(p).to_degrees()
        });
        let got = statistics(angles.collect());
        println!("{low} to {high}: mean, 99 %, largest = {got:.1?} degrees, reference {reference:?}");
        for (got, reference) in got.iter().zip(reference) {
            assert!((got / reference - 1.0).abs() < 0.15, "{low} to {high}: {got} {reference}");
        }
    }
    for (settings, mean, largest) in [(plain(), 5.9, 26.0), (ClosestSettings::default(), 2.4, 5.0)] {
        let (mut steps, mut angles) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let p = in_shell(&mut random, 0.3, 0.97);
            let found = field.closest_surface_point(p, &settings).unwrap();
            assert!(found.converged && (found.point.length() - 1.0).abs() < 2.0 * h);
            steps.push(f64::from(found.iterations));
            angles.push(found.point.angle_between(p).to_degrees());
        }
        let (steps, angles) = (statistics(steps), statistics(angles));
        println!("{:?}: steps {steps:.2?}, angles {angles:.1?}", settings.step);
        assert!((steps[0] / mean - 1.0).abs() < 0.15 && steps[2] <= largest, "{steps:?}");
        assert!((angles[0] / 3.4 - 1.0).abs() < 0.15 && (angles[1] / 18.0 - 1.0).abs() < 0.15, "{angles:?}");
    }
}

/// SDF-6: in front of a plane that leans equally to all axes the value is √3 times the distance.
#[test]
fn slanted_slab_overestimates_by_root_three() {
    let n = DVec3::ONE.normalize();
    let rotation = DQuat::from_rotation_arc(DVec3::Z, n);
    let slab = TriangleMesh::from_soup(&generate::cuboid(DVec3::new(2.0, 2.0, 0.3)).unwrap()).unwrap();
    let field =
        DistanceField::build(&slab.transformed(&Pose::new(rotation, DVec3::ZERO)).unwrap(), &settings(128))
            .unwrap();
    let mut random = Random(6);
    for _ in 0..1000 {
        let aside = rotation * DVec3::new(random.between(-0.5, 0.5), random.between(-0.5, 0.5), 0.0);
        let depth = random.between(0.001, 0.1);
        let p = aside + (0.3 - depth) * n;
        let value = field.value(p).unwrap();
        assert!((-value / depth - 3f64.sqrt()).abs() < 1e-6, "{} at {depth}", value / depth);
        let error = |iterations| {
            let limited = ClosestSettings { max_iterations: iterations, tolerance: 1e-9, ..plain() };
            (field.closest_surface_point(p, &limited).unwrap().point.dot(n) - 0.3).abs()
        };
        for k in 0..5 {
            assert!(error(k + 1) <= 0.74 * error(k) + 1e-12, "{k}: {} {}", error(k), error(k + 1));
        }
        let newton = field.closest_surface_point(p, &ClosestSettings::default()).unwrap();
        assert!(newton.converged && newton.iterations <= 1);
    }
}

/// SDF-7: the safe traversal finds what brute force finds; the source's fast one misses some.
#[test]
fn safe_traversal_equals_brute_force() {
    let mut random = Random(7);
    let mut missed_by_fast = 0;
    let mut found = 0;
    for round in 0..100 {
        let solid = match round % 4 {
            // A spike much smaller than the upper nodes of the tree.
            0 => generate::cone(0.1, 0.8, 12).unwrap(),
            1 => generate::torus(0.6, 0.2, 24, 12).unwrap(),
            2 => random.crumpled_mesh(),
            _ => block(DVec3::splat(-0.4), DVec3::new(0.4, 0.5, 0.6)),
        };
        let field = DistanceField::build(&solid, &settings(24)).unwrap();
        let vertices: Vec<DVec3> = generate::icosphere(4)
            .unwrap()
            .vertices()
            .iter()
            .map(|&p| p * random.between(0.5, 1.5))
            .collect();
        let tree = VertexTree::new(&vertices).unwrap();
        let pose = Pose::new(random.rotation(), solid.bounds().center() + 0.8 * random.in_cube());
        let inside = |traversal| -> Vec<u32> {
            let contacts = field.contacts(&tree, &pose, traversal, &ClosestSettings::default());
            contacts.iter().map(|contact| contact.vertex).collect()
        };
        let brute: Vec<u32> = (0..vertices.len() as u32)
            .filter(|&v| field.value(pose.point(vertices[v as usize])).is_some_and(|d| d < 0.0))
            .collect();
        assert_eq!(inside(Traversal::Safe), brute, "round {round}");
        found += brute.len();
        let fast = inside(Traversal::FastSource);
        missed_by_fast += brute.iter().filter(|v| !fast.contains(v)).count();
    }
    println!("{found} vertices inside, {missed_by_fast} missed by the fast traversal");
    assert!(found > 100 && missed_by_fast >= 1);
}

/// SDF-8: meshes of fields are closed, of the right genus and volume.
#[test]
fn meshes_of_fields_are_closed_and_keep_volume_and_genus() {
    let sphere = DistanceField::build(&generate::icosphere(5).unwrap(), &settings(32)).unwrap();
    let mesh = sphere.to_mesh().unwrap();
    let report = mesh.report().unwrap();
    assert!(report.is_solid() && report.degenerate_faces == 0);
    assert_eq!(report.euler_characteristic, 2);
    let volume = report.volume.unwrap();
    println!("sphere at R = 32: {} triangles, volume {volume}", mesh.triangles().len());
    assert!((volume / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.02);
    let torus = DistanceField::build(&generate::torus(1.0, 0.4, 48, 24).unwrap(), &settings(40)).unwrap();
    let report = torus.to_mesh().unwrap().report().unwrap();
    assert!(report.is_solid() && report.euler_characteristic == 0);
    // A cube whose faces lie on grid planes keeps its volume up to the cut-off edges.
    let cube =
        DistanceField::build(&block(DVec3::ZERO, DVec3::ONE), &settings(32)).unwrap().to_mesh().unwrap();
    assert!(cube.is_solid() && (cube.integrals().unwrap().t1 - 1.0).abs() < 0.01);
    let mut random = Random(8);
    for _ in 0..20 {
        let crumpled = DistanceField::build(&random.crumpled_mesh(), &settings(20)).unwrap();
        assert_eq!(crumpled.to_mesh().unwrap().solid_error(), None);
    }
}

/// Beside a sharp edge, where all three lines of an outside vertex miss the solid, the value stays of the
/// order of a cell.
#[test]
fn values_beside_sharp_edges_are_not_drowned_by_empty_lines() {
    let field = DistanceField::build(&block(DVec3::ZERO, DVec3::ONE), &settings(10)).unwrap();
    let value = field.vertex_value([11, 11, 6]).unwrap();
    assert!(value <= 0.15, "{value}");
    // Inside, near the edge: negative although one corner of the cell is that vertex.
    assert!(field.value(DVec3::new(0.93, 0.93, 0.45)).unwrap() < 0.0);
}

#[test]
fn bad_input_gives_typed_errors() {
    let cube = block(DVec3::ZERO, DVec3::ONE);
    assert_eq!(
        DistanceField::build(&cube, &settings(0)),
        Err(FieldError::ResolutionTooSmall { resolution: 0 })
    );
    assert!(matches!(
        DistanceField::build(&cube, &settings(1_000_000)),
        Err(FieldError::OutOfMemory { bytes, allowed }) if bytes > allowed
    ));
    let unlimited = FieldSettings { memory_limit: u64::MAX - 1, ..settings(u32::MAX) };
    assert!(matches!(DistanceField::build(&cube, &unlimited), Err(FieldError::OutOfMemory { .. })));
    let open = TriangleMesh::new(cube.vertices().to_vec(), cube.triangles()[1..].to_vec()).unwrap();
    assert!(matches!(DistanceField::build(&open, &settings(8)), Err(FieldError::OddCrossings { .. })));
    let point = TriangleMesh::new(vec![DVec3::ONE; 3], vec![[0, 1, 2]]).unwrap();
    assert_eq!(DistanceField::build(&point, &settings(8)), Err(FieldError::NoExtent { extent: 0.0 }));
    let soup = PolygonSoup::from_triangles(vec![DVec3::NAN; 3], &[[0, 1, 2]]);
    assert_eq!(
        DistanceField::build_from_soup(&soup, &settings(8)),
        Err(FieldError::Mesh(MeshError::NonFinite { vertex: 0 }))
    );
    // Thinner than a cell and between two planes of the grid: nothing inside to make a mesh of.
    let plate = block(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.001));
    let rotated = plate.transformed(&Pose::new(DQuat::from_rotation_x(0.7), DVec3::ZERO)).unwrap();
    let field = DistanceField::build(&rotated, &settings(3)).unwrap();
    assert!(matches!(field.to_mesh(), Err(FieldError::NoSurface) | Ok(_)));
    for p in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e300)] {
        assert_eq!((field.value(p), field.gradient(p)), (None, None));
        assert!(field.closest_surface_point(p, &ClosestSettings::default()).is_none());
    }
    assert!(VertexTree::new(&[]).is_err() && VertexTree::new(&[DVec3::NAN]).is_err());
}

/// Two overlapping boxes: wound around, or counted even and odd. Faces that do not share vertices work as
/// well.
#[test]
fn overlapping_pieces_follow_the_fill_rule() {
    let both = TriangleMesh::joined([
        &block(DVec3::ZERO, DVec3::ONE),
        &block(DVec3::splat(0.45), DVec3::splat(1.55)),
    ])
    .unwrap();
    let wound = DistanceField::build(&both, &settings(31)).unwrap();
    let odd =
        DistanceField::build(&both, &FieldSettings { fill_rule: FillRule::EvenOdd, ..settings(31) }).unwrap();
    let common = DVec3::splat(0.7);
    assert!(wound.value(common).unwrap() < 0.0 && odd.value(common).unwrap() > 0.0);
    let mut loose = PolygonSoup::default();
    for i in 0..both.triangles().len() {
        let first = loose.vertices.len() as u32;
        loose.vertices.extend(both.triangle(i));
        loose.push_face(&[first, first + 1, first + 2]);
    }
    assert_eq!(DistanceField::build_from_soup(&loose, &settings(31)).unwrap(), wound);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any triangles over any points give a field or a typed error; a field accepts any query.
    #[test]
    fn any_soup_gives_a_field_or_an_error(
        points in prop::collection::vec(prop::array::uniform3(prop_oneof![-1.0..1.0f64, Just(0.0), Just(0.5), Just(1e-20)]), 3..12),
        corners in prop::collection::vec(prop::array::uniform3(0..12u32), 1..20),
        resolution in 1..12u32,
        p in prop::array::uniform3(-1.5..1.5f64),
        scale in prop_oneof![Just(1.0), Just(1e-40), Just(1e40)],
    ) {
        let count = points.len() as u32;
        let vertices = points.into_iter().map(|p| scale * DVec3::from_array(p)).collect();
        let triangles: Vec<[u32; 3]> = corners.into_iter().map(|t| t.map(|c| c % count)).collect();
        let soup = PolygonSoup::from_triangles(vertices, &triangles);
        for fill_rule in [FillRule::Winding, FillRule::EvenOdd] {
            if let Ok(field) = DistanceField::build_from_soup(&soup, &FieldSettings { fill_rule, ..settings(resolution) }) {
                let p = scale * DVec3::from_array(p);
                if let Some(value) = field.value(p) {
                    prop_assert!(value.is_finite());
                    let gradient = field.gradient(p).unwrap();
                    prop_assert!((gradient.length() - 1.0).abs() < 1e-9, "{}", gradient);
                    prop_assert!(field.closest_surface_point(p, &plain()).is_some());
                }
                match field.to_mesh() {
                    Ok(mesh) => prop_assert_eq!(mesh.solid_error(), None),
                    Err(error) => prop_assert_eq!(error, FieldError::NoSurface),
                }
            }
        }
    }

    /// The value never underestimates the distance to the nearest face, and is negative where the surface's
    /// solid angle is that of an inside point.
    #[test]
    fn values_bound_the_distance_and_know_inside_from_outside(seed in 0..1000u64) {
        let mut random = Random(seed);
        let mesh = random.crumpled_mesh();
        let field = DistanceField::build(&mesh, &settings(16)).unwrap();
        let [nx, ny, nz] = field.grid().cells();
        for _ in 0..40 {
            let vertex = [random.bits() as u32 % (nx + 1), random.bits() as u32 % (ny + 1), random.bits() as u32 % (nz + 1)];
            let p = field.grid().position(vertex);
            let value = field.vertex_value(vertex).unwrap();
            let nearest = (0..mesh.triangles().len())
                .map(|f| distance_to_triangle(mesh.triangle(f), p))
                .fold(f64::INFINITY, f64::min);
            prop_assert!(value.abs() >= nearest - 1e-9, "{} < {} at {}", value, nearest, p);
            prop_assume!(nearest > 1e-6);
            // Crumpled meshes may overlap themselves: what is wound around backwards counts as inside here
            // only.
            if !mesh.contains(p) {
                continue;
            }
            prop_assert!(value <= 1e-9, "{} at {}", value, p);
        }
    }
}
