//! Mass, centre of mass and inertia: closed forms, covariance, combination, other models, bad input.

use crate::random;

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};
use random::Random;
use rattleback_geometry::{
    Compound, MassError, MassModel, MassProperties, MeshError, PolygonSoup, Polyhedron, Pose, Shape,
    TriangleMesh, generate,
};

fn solid(soup: &PolygonSoup, density: f64) -> MassProperties {
    Polyhedron::new(soup).unwrap().mass_properties(density).unwrap()
}

fn assert_same(a: &MassProperties, b: &MassProperties, tolerance: f64) {
    let trace = b.inertia.x_axis.x + b.inertia.y_axis.y + b.inertia.z_axis.z;
    assert!((a.mass - b.mass).abs() <= tolerance * b.mass, "mass {} and {}", a.mass, b.mass);
    let size = (trace / b.mass).sqrt();
    let reach = b.center_of_mass.length().max(size);
    assert!(a.center_of_mass.abs_diff_eq(b.center_of_mass, tolerance * reach), "{a:?} and {b:?}");
    assert!(a.inertia.abs_diff_eq(b.inertia, tolerance * trace), "{a:?} and {b:?}");
}

/// C-T5 and MP-7: moving the mesh moves the centre of mass and turns the tensor; principal moments stay.
#[test]
fn c_t5_mp_7_covariance_under_rigid_motion() {
    let mut random = Random(3);
    for _ in 0..300 {
        let mesh = random.crumpled_mesh();
        let pose = random.pose(5.0);
        let here = mesh.mass_properties(2.5).unwrap();
        let there = mesh.transformed(&pose).unwrap().mass_properties(2.5).unwrap();
        assert_same(&there, &here.transformed(&pose), 1e-12);
        let sorted = |p: &MassProperties| {
            let mut m = p.principal().moments.to_array();
            m.sort_by(f64::total_cmp);
            m
        };
        for (a, b) in sorted(&here).into_iter().zip(sorted(&there)) {
            assert!((a - b).abs() < 1e-12 * sorted(&here)[2]);
        }
    }
}

/// C-T5: two half cubes are one cube, and mass and density agree.
#[test]
fn c_t5_halves_and_mass_instead_of_density() {
    let cube = Shape::cuboid(DVec3::ONE).unwrap().mass_properties(3.0).unwrap();
    let half = Shape::cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap().mass_properties(3.0).unwrap();
    let halves = [Pose::at(DVec3::X * 0.5), Pose::at(DVec3::X * -0.5)].map(|pose| half.transformed(&pose));
    assert_same(&MassProperties::combine(&halves).unwrap(), &cube, 1e-14);
    assert_same(
        &solid(&generate::cuboid(DVec3::ONE).unwrap(), 1.0).scaled_to_mass(24.0).unwrap(),
        &cube,
        1e-14,
    );
}

/// C-T5: the rattleback of the example scene, a 500 g ellipsoid mesh with a 30 g point fixed off its axes,
/// against the closed form, within the error of the mesh.
#[test]
fn c_t5_ellipsoid_with_point_mass() {
    let axes = DVec3::new(0.10, 0.02, 0.015);
    let mesh = generate::ellipsoid(axes, 256).unwrap();
    let body = mesh.mass_properties(1.0).unwrap().scaled_to_mass(0.5).unwrap();
    let at = DVec3::new(0.05, 0.012, 0.004);
    let point = MassProperties::point_mass(0.03, at).unwrap();
    let got = MassProperties::combine(&[body, point]).unwrap();
    let s = 0.5 / 5.0 * axes * axes;
    // Reduced mass times |at|² 1 − at atᵀ.
    let reduced = 0.5 * 0.03 / 0.53;
    let outer = DMat3::from_cols(at * at.x, at * at.y, at * at.z);
    let inertia = DMat3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y))
        + reduced * (DMat3::from_diagonal(DVec3::splat(at.length_squared())) - outer);
    let expected = MassProperties::new(0.53, at * (0.03 / 0.53), inertia).unwrap();
    assert_same(&got, &expected, 2e-4);
}

/// C-T6: principal frames diagonalise, are right-handed, and have moments a body can have.
#[test]
fn c_t6_principal_frame() {
    let mut random = Random(4);
    for _ in 0..1000 {
        let body = random.crumpled_mesh().mass_properties(1.0).unwrap();
        let principal = body.principal();
        let r = DMat3::from_quat(principal.rotation);
        let diagonal = r.transpose() * body.inertia * r;
        let scale = principal.moments.max_element();
        assert!(diagonal.abs_diff_eq(DMat3::from_diagonal(principal.moments), 1e-12 * scale));
        assert!((r.determinant() - 1.0).abs() < 1e-12);
        let m = principal.moments;
        assert!(m.min_element() > 0.0 && 2.0 * m.max_element() <= m.element_sum());
    }
    // Equal moments keep the reference axes exactly, also from a mesh.
    let cube = solid(&generate::cuboid(DVec3::splat(0.3)).unwrap(), 7.0);
    assert_eq!(cube.principal().rotation, DQuat::IDENTITY);
    let brick = Shape::cuboid(DVec3::new(3.0, 1.0, 2.0)).unwrap().mass_properties(1.0).unwrap().principal();
    assert_eq!(brick.rotation, DQuat::IDENTITY);
}

/// C-T8: a cube 17 km away keeps its inertia.
#[test]
fn c_t8_distant_cube() {
    let at = DVec3::splat(1e4);
    let mut soup = generate::cuboid(DVec3::ONE).unwrap();
    soup.vertices.iter_mut().for_each(|p| *p += at);
    let exact = Shape::cuboid(DVec3::ONE).unwrap().mass_properties(1.0).unwrap().transformed(&Pose::at(at));
    let mesh = TriangleMesh::from_soup(&soup).unwrap();
    for got in [solid(&soup, 1.0), mesh.mass_properties(1.0).unwrap()] {
        assert!(got.inertia.abs_diff_eq(exact.inertia, 1e-8), "{got:?}");
        assert!(got.center_of_mass.abs_diff_eq(at, 1e-8));
    }
}

/// MP-1 about the centre of mass: I_xx = 1/80, product −1/480, principal moments 1/96, 1/96, 1/60.
#[test]
fn mp_1_tetrahedron_tensor() {
    let body = solid(&generate::tetrahedron([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]), 1.0);
    assert!(body.center_of_mass.abs_diff_eq(DVec3::splat(0.25), 1e-15));
    assert!((body.inertia.x_axis.x - 1.0 / 80.0).abs() < 1e-16);
    // The tensor has −I_xy off its diagonal.
    assert!((-body.inertia.x_axis.y - -1.0 / 480.0).abs() < 1e-16);
    let mut moments = body.principal().moments.to_array();
    moments.sort_by(f64::total_cmp);
    for (got, exact) in moments.into_iter().zip([1.0 / 96.0, 1.0 / 96.0, 1.0 / 60.0]) {
        assert!((got - exact).abs() < 1e-16);
    }
}

/// MP-3, MP-4: boxes a×b×c have I_xx = M (b² + c²)/12; the square frame 3×3×1 with a 1×1 hole.
#[test]
fn mp_3_mp_4_box_and_frame() {
    for sides in [DVec3::ONE, DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.02, 5.0, 1e-3)] {
        let m = sides.element_product();
        let s = sides * sides * (m / 12.0);
        let exact = DMat3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y));
        let expected = MassProperties::new(m, DVec3::ZERO, exact).unwrap();
        assert_same(&solid(&generate::cuboid(0.5 * sides).unwrap(), 1.0), &expected, 1e-13);
        assert_same(&Shape::cuboid(0.5 * sides).unwrap().mass_properties(1.0).unwrap(), &expected, 1e-15);
    }
    let frame = solid(&generate::cuboid_with_hole(DVec3::new(1.5, 1.5, 0.5), 0.5, 0.5).unwrap(), 1.0);
    assert!((frame.mass - 8.0).abs() < 1e-13);
    assert!((frame.inertia.z_axis.z - 40.0 / 3.0).abs() < 1e-13);
    assert!((frame.inertia.x_axis.x - 22.0 / 3.0).abs() < 1e-13);
}

/// MP-5: parts of two densities, by the compound and by hand with parallel axes.
#[test]
fn mp_5_two_densities() {
    let sphere = Shape::sphere(0.5).unwrap();
    let rod = Shape::cylinder(0.1, 2.0).unwrap();
    let place = Pose::new(DQuat::from_rotation_y(0.7), DVec3::new(1.0, -2.0, 0.5));
    let compound = Compound::new(vec![(Pose::IDENTITY, sphere), (place, rod)]).unwrap();
    let got = compound.mass_properties_by_part(&[2.0, 7.0]).unwrap();
    let (m1, m2) = (2.0 * 4.0 / 3.0 * PI * 0.125, 7.0 * PI * 0.01 * 2.0);
    let c = place.translation * (m2 / (m1 + m2));
    let axis = place.vector(DVec3::Z);
    let axis_outer = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
    let (along, across) = (m2 * 0.005, m2 * (3.0 * 0.01 + 4.0) / 12.0);
    let steiner = |m: f64, d: DVec3| {
        (DMat3::from_diagonal(DVec3::splat(d.length_squared())) - DMat3::from_cols(d * d.x, d * d.y, d * d.z))
            * m
    };
    let inertia = DMat3::from_diagonal(DVec3::splat(0.4 * m1 * 0.25 + across))
        + axis_outer * (along - across)
        + steiner(m1, c)
        + steiner(m2, place.translation - c);
    assert_same(&got, &MassProperties::new(m1 + m2, c, inertia).unwrap(), 1e-14);
    let wrong_count = compound.mass_properties_by_part(&[1.0]);
    assert_eq!(wrong_count, Err(MassError::DensityCount { densities: 1, parts: 2 }));
}

/// sphere, box and cylinder by the numbers of the specification (its cylinder stands along y, ours along
/// z).
#[test]
fn a_2_primitive_tensors() {
    let near = |got: f64, expected: f64, tolerance: f64| assert!((got - expected).abs() < tolerance, "{got}");
    let sphere = Shape::sphere(2.0).unwrap().mass_properties(3.0).unwrap();
    near(sphere.inertia.x_axis.x, 3.0 * 8.0 / 15.0 * PI * 32.0, 1e-12);
    near(sphere.inertia.x_axis.x, 160.8495, 5e-5);
    let brick = Shape::cuboid(DVec3::new(0.5, 1.0, 1.5)).unwrap().mass_properties(1.0).unwrap();
    assert!(brick.inertia.abs_diff_eq(DMat3::from_diagonal(DVec3::new(6.5, 5.0, 2.5)), 1e-14));
    let cylinder = Shape::cylinder(0.6, 1.2).unwrap().mass_properties(1.0).unwrap();
    near(cylinder.mass, 1.357168, 5e-7);
    near(cylinder.inertia.z_axis.z, 0.244290, 5e-7);
    near(cylinder.inertia.x_axis.x, 0.285005, 5e-7);
    let from_faces = solid(&generate::cuboid(DVec3::new(0.5, 1.0, 1.5)).unwrap(), 1.0);
    assert_same(&from_faces, &brick, 1e-13);
    // Six subdivisions of the icosahedron: level 7.
    let fine = generate::icosphere(7).unwrap().mass_properties(1.0).unwrap();
    assert_same(&fine, &Shape::sphere(1.0).unwrap().mass_properties(1.0).unwrap(), 1e-3);
}

/// sampling a unit cube with N = 8 gives (1 − 1/64)/6 plainly and 1/6 refined; a sphere with N = 64 is
/// within
/// 0.1 % in volume and 0.2 % in inertia.
#[test]
fn a_3_sampled_mass() {
    let cube = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    for (refined, exact) in [(false, (1.0 - 1.0 / 64.0) / 6.0), (true, 1.0 / 6.0)] {
        let got = cube.mass_properties_with(1.0, MassModel::Sampled { resolution: 8, refined }).unwrap();
        assert!((got.mass - 1.0).abs() < 1e-12);
        assert!(got.inertia.abs_diff_eq(DMat3::from_diagonal(DVec3::splat(exact)), 1e-12));
    }
    let sphere = Shape::sphere(1.0).unwrap();
    let exact = sphere.mass_properties(1.0).unwrap();
    let got = sphere.mass_properties_with(1.0, MassModel::Sampled { resolution: 64, refined: true }).unwrap();
    assert!((got.mass / exact.mass - 1.0).abs() < 1e-3);
    assert!((got.inertia.x_axis.x / exact.inertia.x_axis.x - 1.0).abs() < 2e-3);
    let coarse = MassModel::Sampled { resolution: 0, refined: false };
    assert!(matches!(sphere.mass_properties_with(1.0, coarse), Err(MassError::Resolution { .. })));
}

/// eight unit cubes are a cube of side 2.
#[test]
fn a_5_eight_cubes() {
    let unit = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    let corners = generate::cuboid(DVec3::splat(0.5)).unwrap().vertices;
    let parts = corners.iter().map(|&p| (Pose::at(p), unit.clone())).collect();
    let eight = Shape::compound(parts).unwrap().mass_properties(1.0).unwrap();
    assert_same(&eight, &Shape::cuboid(DVec3::ONE).unwrap().mass_properties(1.0).unwrap(), 1e-12);
}

/// Every solid shape three times: closed form, exact integral of its fine tessellation, grid sampling.
#[test]
fn closed_forms_agree_with_tessellation_and_sampling() {
    let shapes = [
        Shape::sphere(0.7).unwrap(),
        Shape::cuboid(DVec3::new(0.3, 0.9, 0.5)).unwrap(),
        Shape::cylinder(0.4, 1.3).unwrap(),
        Shape::capsule(0.4, 1.3).unwrap(),
        Shape::cone(0.8, 1.1).unwrap(),
        Shape::ellipsoid(DVec3::new(0.3, 0.9, 0.5)).unwrap(),
        Shape::convex_hull(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).unwrap(),
        Shape::mesh(generate::torus(0.8, 0.3, 24, 12).unwrap()).unwrap(),
    ];
    for shape in shapes {
        let exact = shape.mass_properties(2.0).unwrap();
        assert!((shape.volume().unwrap() * 2.0 / exact.mass - 1.0).abs() < 1e-14);
        let surface = shape.surface(512).unwrap();
        assert!(surface.is_solid());
        assert_same(&surface.mass_properties(2.0).unwrap(), &exact, 2e-4);
        let resolution = if shape.is_convex() { 80 } else { 30 };
        let model = MassModel::Sampled { resolution, refined: true };
        assert_same(&shape.mass_properties_with(2.0, model).unwrap(), &exact, 1.5e-2);
    }
}

/// A thin spherical shell of points has 2/3 m r²; its mass is area times density. An open disc works too.
#[test]
fn surface_model() {
    let sphere = Shape::mesh(generate::icosphere(5).unwrap()).unwrap();
    let shell = sphere.mass_properties_with(2.0, MassModel::Surface { segments: 8 }).unwrap();
    assert!((shell.mass / (8.0 * PI) - 1.0).abs() < 2e-3);
    assert!((shell.inertia.z_axis.z / (2.0 / 3.0 * shell.mass) - 1.0).abs() < 2e-3);
    let mut rim: Vec<DVec3> =
        (0..200).map(|i| DQuat::from_rotation_z(PI * i as f64 / 100.0) * DVec3::X).collect();
    rim.push(DVec3::ZERO);
    let fan = (0..200).map(|i| [200, i, (i + 1) % 200]).collect();
    let disc = Shape::mesh(TriangleMesh::new(rim, fan).unwrap()).unwrap();
    assert!(matches!(disc.mass_properties(1.0), Err(MassError::Mesh(MeshError::Open { .. }))));
    let plate = disc.mass_properties_with(1.0, MassModel::Surface { segments: 8 }).unwrap();
    assert!((plate.mass / PI - 1.0).abs() < 1e-3);
}

/// MP bad input: open, inverted and mis-wound meshes, densities that are none, impossible tensors.
#[test]
fn bad_input_is_named() {
    let cube = TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE).unwrap()).unwrap();
    let mass = |mesh: &TriangleMesh| mesh.mass_properties(1.0);
    assert!(matches!(mass(&cube.reversed()), Err(MassError::Mesh(MeshError::Inverted { .. }))));
    assert_eq!(cube.reversed().reversed(), cube);
    let with = |triangles: Vec<[u32; 3]>| TriangleMesh::new(cube.vertices().to_vec(), triangles).unwrap();
    let mut triangles = cube.triangles().to_vec();
    triangles[3].swap(0, 1);
    assert!(matches!(
        mass(&with(triangles.clone())),
        Err(MassError::Mesh(MeshError::InconsistentWinding { .. }))
    ));
    triangles.remove(3);
    assert!(matches!(mass(&with(triangles)), Err(MassError::Mesh(MeshError::Open { .. }))));
    let twice = [cube.triangles(), cube.triangles()].concat();
    assert!(matches!(mass(&with(twice)), Err(MassError::Mesh(MeshError::NonManifoldEdge { .. }))));
    // Two faces back to back are closed, but hold nothing.
    let flat = TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2], [0, 2, 1]]).unwrap();
    assert!(matches!(mass(&flat), Err(MassError::NonPositiveVolume { .. })));
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Shape::sphere(1.0).unwrap().mass_properties(density).unwrap_err();
        assert!(matches!(error, MassError::NonPositiveDensity { .. }));
        assert!(matches!(cube.mass_properties(density), Err(MassError::NonPositiveDensity { .. })));
    }
    let half_space = Shape::half_space(DVec3::Z).unwrap();
    assert!(matches!(half_space.mass_properties(1.0), Err(MassError::Unbounded { .. })));
    let make = |m: f64, d: DVec3| MassProperties::new(m, DVec3::ZERO, DMat3::from_diagonal(d));
    assert!(matches!(make(0.0, DVec3::ONE), Err(MassError::NonPositiveMass { .. })));
    assert!(matches!(make(1.0, DVec3::new(1.0, 1.0, -1.0)), Err(MassError::NotPositiveDefinite { .. })));
    assert!(matches!(make(1.0, DVec3::new(1.0, 1.0, 2.1)), Err(MassError::TriangleInequality { .. })));
    assert!(matches!(make(1.0, DVec3::NAN), Err(MassError::NonFinite)));
    let skew = DMat3::from_cols(DVec3::new(1.0, 0.1, 0.0), DVec3::Y, DVec3::Z);
    assert!(matches!(MassProperties::new(1.0, DVec3::ZERO, skew), Err(MassError::NotSymmetric { .. })));
    assert_eq!(MassProperties::combine(&[]), Err(MassError::NoParts));
    let point = MassProperties::point_mass(1.0, DVec3::X).unwrap();
    assert!(matches!(MassProperties::combine(&[point]), Err(MassError::NotPositiveDefinite { .. })));
}
