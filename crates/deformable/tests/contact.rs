//! Contact: no intersections over whole runs, momentum, friction, determinism.

use glam::DVec3;
use rattleback_deformable::forces::Anchor;
use rattleback_deformable::{
    Cloth, Deformable, DeformableSystem, Method, RigidStatus, Settings, Solid, SolidMesh, Strand,
};
use rattleback_geometry::{Pose, generate};

fn run(system: &mut DeformableSystem, h: f64, steps: usize) -> f64 {
    let mut least = f64::INFINITY;
    for step in 0..steps {
        let report = system.step(h).unwrap();
        least = least.min(report.smallest_distance);
        let found = system.intersections();
        assert!(found.is_empty(), "step {step}: {} intersections, {:?}", found.len(), found[0]);
        assert!(system.position().iter().all(|x| x.is_finite()));
    }
    least
}

/// Cloth of 1 mm at 10 m/s against a thin fixed plate, at 1/60 s.
#[test]
fn thin_cloth_does_not_tunnel() {
    let plate = Cloth::default().grid(3, 3, 0.5).unwrap();
    let mut plate = plate;
    plate.pinned.fill(true);
    let cloth = Cloth::default().grid(13, 13, 0.05).unwrap();
    let mut system = DeformableSystem::new(Settings { gravity: DVec3::ZERO, ..Settings::default() });
    system.add(&plate).unwrap();
    let range = system
        .add(&cloth.transformed(&Pose::at(DVec3::new(0.013, 0.007, 0.1))).with_velocity(-10.0 * DVec3::Z))
        .unwrap();
    run(&mut system, 1.0 / 60.0, 15);
    assert!(system.position()[range].iter().all(|x| x.z > 0.0));
}

/// A tablecloth over a box, with the floor below.
#[test]
fn tablecloth_stays_on_its_table() {
    let mut system = DeformableSystem::default();
    let table = generate::cuboid(DVec3::new(0.2, 0.2, 0.02)).unwrap();
    let table = rattleback_geometry::TriangleMesh::from_soup(&table).unwrap();
    system.add_rigid(&table, &Pose::at(DVec3::Z * 0.3), 1.0, RigidStatus::Fixed, 0.5).unwrap();
    system.add_plane(DVec3::Z, 0.0, 0.5).unwrap();
    let cloth =
        Cloth::default().grid(17, 17, 0.05).unwrap().transformed(&Pose::at(DVec3::new(0.01, 0.02, 0.34)));
    let range = system.add(&cloth).unwrap();
    run(&mut system, 1.0 / 60.0, 90);
    let x = &system.position()[range];
    let middle = x[8 + 17 * 8];
    assert!((0.32..0.34).contains(&middle.z), "{middle}");
    assert!(x.iter().any(|x| x.z < 0.2));
}

/// Momentum exchanged between cloth, a soft body and a rigid body balances; so do the impulses reported.
#[test]
fn momentum_between_bodies_balances() {
    for method in [Method::Newton, Method::NewtonBdf2] {
        let settings = Settings {
            gravity: DVec3::ZERO,
            tolerance: 1e-6,
            linear_tolerance: 1e-6,
            method,
            max_iterations: 30,
            ..Settings::default()
        };
        let mut system = DeformableSystem::new(settings);
        system.add(&Cloth::default().grid(9, 9, 0.05).unwrap()).unwrap();
        let ball = generate::icosphere(2).unwrap();
        let ball = rattleback_geometry::TriangleMesh::new(
            ball.vertices().iter().map(|&p| 0.05 * p).collect(),
            ball.triangles().to_vec(),
        )
        .unwrap();
        let body = system
            .add_rigid(&ball, &Pose::at(DVec3::new(0.01, 0.0, 0.06)), 100.0, RigidStatus::Free, 0.4)
            .unwrap();
        system.set_body_velocity(body, DVec3::new(0.3, 0.0, -2.0), DVec3::new(1.0, 2.0, 3.0)).unwrap();
        let (before, mut speed) = (system.momentum(), system.body_velocity(body).unwrap()[0]);
        let mass = system.body_mass(body).unwrap();
        let mut touched = 0;
        for step in 0..20 {
            let report = system.step(1.0 / 120.0).unwrap();
            touched += usize::from(report.contacts > 0);
            let change = (system.momentum() - before).length() / before.length();
            assert!(change < 1e-9, "{method:?} step {step}: {change:e}");
            let now = system.body_velocity(body).unwrap()[0];
            let [impulse, _] = system.body_impulse(body).unwrap();
            if method == Method::Newton {
                assert!((mass * (now - speed) - impulse).length() < 1e-9, "{impulse}");
            }
            speed = now;
            assert!(system.intersections().is_empty());
        }
        assert!(touched > 5);
        assert!(speed.z > -1.99, "{speed}");
    }
}

/// A block of jelly on an incline sticks below the angle of friction and slides above it, with a = g (sin α − μ cos α).
#[test]
fn friction_holds_and_slides_as_coulomb_says() {
    let solid = Solid { density: 500.0, young: 3e5, poisson_ratio: 0.3, damping: 2e-3 };
    let block = solid.mesh(&SolidMesh::lattice([3, 3, 1], DVec3::splat(0.05)).unwrap()).unwrap();
    for (mu, angle, slides) in [(0.5, 20.0_f64, false), (0.3, 30.0, true)] {
        let angle = angle.to_radians();
        let gravity = 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos());
        let mut system = DeformableSystem::new(Settings {
            gravity,
            tolerance: 1e-4,
            stick_speed: 1e-4,
            ..Settings::default()
        });
        system.add_plane(DVec3::Z, 0.0, mu).unwrap();
        let range =
            system.add_with_friction(&block.clone().transformed(&Pose::at(DVec3::Z * 0.0257)), mu).unwrap();
        let h = 1.0 / 120.0;
        let mean = |s: &DeformableSystem| s.momentum().x / s.model().mass[range.clone()].iter().sum::<f64>();
        for _ in 0..30 {
            system.step(h).unwrap();
        }
        let first = mean(&system);
        for _ in 0..60 {
            system.step(h).unwrap();
        }
        let acceleration = (mean(&system) - first) / (60.0 * h);
        let expected = if slides { 9.81 * (angle.sin() - mu * angle.cos()) } else { 0.0 };
        assert!((acceleration - expected).abs() < 0.03, "{acceleration} {expected}");
        if !slides {
            assert!(mean(&system).abs() < 1e-3);
        }
    }
}

/// The same bits on 1, 2 and 4 threads, and after a snapshot.
#[test]
fn runs_are_the_same_on_any_number_of_threads_and_after_a_snapshot() {
    let build = |threads| {
        let mut system = DeformableSystem::new(Settings {
            threads,
            method: Method::NewtonBdf2,
            max_iterations: 4,
            ..Settings::default()
        });
        let mesh = generate::icosphere(3).unwrap();
        let mesh = rattleback_geometry::TriangleMesh::new(
            mesh.vertices().iter().map(|&p| 0.15 * p).collect(),
            mesh.triangles().to_vec(),
        )
        .unwrap();
        system.add_rigid(&mesh, &Pose::IDENTITY, 1.0, RigidStatus::Fixed, 0.4).unwrap();
        let cloth = Cloth::default().grid(34, 34, 0.02).unwrap();
        system.add(&cloth.transformed(&Pose::at(DVec3::new(0.01, 0.0, 0.16)))).unwrap();
        system
    };
    let mut one = build(1);
    let mut others = [build(2), build(4)];
    let h = 1.0 / 60.0;
    for step in 0..6 {
        one.step(h).unwrap();
        for other in &mut others {
            other.step(h).unwrap();
            assert_eq!(one.position(), other.position(), "step {step}");
        }
        if step == 3 {
            others[0] = DeformableSystem::from_snapshot(&one.snapshot().unwrap()).unwrap();
        }
    }
}

/// Strands that cross keep their order; one end pulled.
#[test]
fn strands_do_not_pass_through_each_other() {
    let strand = Strand { linear_density: 0.01, stretch: 100.0, bending: 1e-5, damping: 1e-3 };
    let line =
        |a: DVec3, b: DVec3| -> Vec<DVec3> { (0..=20).map(|i| a.lerp(b, f64::from(i) / 20.0)).collect() };
    let mut system = DeformableSystem::default();
    let mut hold = |curve: &[DVec3]| {
        let mut body: Deformable = strand.curve(curve).unwrap();
        body.pin(0).unwrap();
        body.pin(20).unwrap();
        system.add(&body).unwrap()
    };
    let lower = hold(&line(DVec3::new(-0.5, 0.01, 0.0), DVec3::new(0.5, 0.01, 0.0)));
    let upper = hold(&line(DVec3::new(0.01, -0.5, 0.01), DVec3::new(0.01, 0.5, 0.01)));
    for step in 0..60 {
        // The upper one is pulled down through the lower one.
        for v in [upper.start, upper.end - 1] {
            let x = system.position()[v] - DVec3::Z * 0.004;
            system.set_target(v, x).unwrap();
        }
        system.step(1.0 / 60.0).unwrap();
        let (a, b) = (&system.position()[lower.clone()], &system.position()[upper.clone()]);
        assert!(a[10].z < b[10].z, "step {step}: {} {}", a[10].z, b[10].z);
    }
    assert!(system.position()[lower.start + 10].z < -0.05);
}

/// A weight on an attachment swings from a body that is driven.
#[test]
fn attachments_pull_both_ways() {
    let mut system = DeformableSystem::new(Settings {
        tolerance: 1e-9,
        linear_tolerance: 1e-8,
        contact_distance: 0.0,
        ..Settings::default()
    });
    let cube = generate::cuboid(DVec3::splat(0.1)).unwrap();
    let cube = rattleback_geometry::TriangleMesh::from_soup(&cube).unwrap();
    let body = system.add_rigid(&cube, &Pose::IDENTITY, 1000.0, RigidStatus::Free, 0.0).unwrap();
    let strand = Strand { linear_density: 0.1, stretch: 1000.0, bending: 0.0, damping: 1e-2 };
    let curve: Vec<DVec3> = (0..=10).map(|i| DVec3::new(0.0, 0.0, 0.6 - 0.05 * f64::from(i))).collect();
    let mut rope = strand.curve(&curve).unwrap();
    rope.pin(0).unwrap();
    let range = system.add(&rope).unwrap();
    system.attach(range.end - 1, Anchor::Body(body as u32, DVec3::Z * 0.1), 1e5).unwrap();
    for _ in 0..600 {
        system.step(1.0 / 60.0).unwrap();
    }
    // 8 kg hang on 1000 N: strain 8 · 9.81/1000 over 0.5 m, and the attachment.
    let z = system.body_pose(body).unwrap().translation.z;
    let expected = -8.0 * 9.81 * (0.5 / 1000.0 + 1e-5) - 0.05 * 9.81 * 0.5 / 2000.0;
    assert!((z - expected).abs() < 2e-4, "{z} {expected}");
    let [impulse, _] = system.body_impulse(body).unwrap();
    assert!((impulse.z - 8.0 * 9.81 / 60.0).abs() < 1e-3, "{impulse}");
}

/// A sheet that is pulled apart tears: vertices split, mass stays, and nothing intersects.
#[test]
fn cloth_tears_without_intersections() {
    let mut cloth = Cloth { stretch: 100.0, ..Cloth::default() }.grid(9, 9, 0.05).unwrap();
    for j in 0..9 {
        cloth.pin(9 * j).unwrap();
        cloth.pin(9 * j + 8).unwrap();
    }
    let mut system = DeformableSystem::default();
    system.add(&cloth).unwrap();
    system.set_tearing(1.15).unwrap();
    let mass: f64 = system.model().mass.iter().sum();
    let mut torn = 0;
    for _ in 0..60 {
        for j in 0..9 {
            let x = system.position()[9 * j + 8] + 0.003 * DVec3::X;
            system.set_target(9 * j + 8, x).unwrap();
        }
        torn += system.step(1.0 / 60.0).unwrap().torn;
        assert!(system.intersections().is_empty());
    }
    assert!(torn > 4, "{torn}");
    assert!((system.model().mass.iter().sum::<f64>() - mass).abs() < 1e-12);
    assert_eq!(system.model().len(), 81 + torn);
}
