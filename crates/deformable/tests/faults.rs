//! Bad input and extreme numbers.

use glam::DVec3;
use rattleback_deformable::element::SpringKind;
use rattleback_deformable::{
    Cloth, Deformable, DeformableError, DeformableSystem, Method, Settings, Solid, SolidMesh, SpringCloth,
    Strand,
};

/// Stiffness up to 1e9 and steps from 1e-4 to 1/24 s: energy stays bounded, nothing is NaN.
#[test]
fn any_stiffness_and_step_stay_bounded() {
    for k in [1e3, 1e6, 1e9] {
        for h in [1e-4, 1.0 / 60.0, 1.0 / 24.0] {
            for method in [Method::LinearImplicit, Method::Newton] {
                let contact_distance = if method == Method::Newton { 1e-3 } else { 0.0 };
                let cloth = SpringCloth { mass: 0.01, stretch: k, shear: k, bend: 0.1 * k, damping: 0.0 };
                let mut body = cloth.grid(6, 6, 0.1).unwrap();
                body.pin(0).unwrap();
                let settings = Settings { method, contact_distance, ..Settings::default() };
                let mut system = DeformableSystem::new(settings);
                system.add(&body).unwrap();
                let before = system.energies().total();
                for _ in 0..40 {
                    system.step(h).unwrap();
                    let e = system.energies();
                    let limit = before.abs() + 10.0 + 1e-6 * k;
                    assert!(e.total().is_finite() && e.kinetic < limit, "k {k} h {h} {method:?}: {e:?}");
                }
            }
        }
    }
}

/// Inverted, flat and collapsed elements recover or stay finite.
#[test]
fn degenerate_elements_stay_finite() {
    let solid = Solid { density: 1000.0, young: 1e6, poisson_ratio: 0.45, damping: 1e-3 };
    let mesh = SolidMesh::lattice([2, 2, 2], DVec3::splat(0.1)).unwrap();
    for scale in
        [DVec3::new(1.0, 1.0, -1.0), DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.0, 0.0, 0.0), DVec3::ZERO]
    {
        let mut body = solid.mesh(&mesh).unwrap();
        for x in &mut body.position {
            *x *= scale;
        }
        let settings = Settings { contact_distance: 0.0, gravity: DVec3::ZERO, ..Settings::default() };
        let mut system = DeformableSystem::new(settings);
        system.add(&body).unwrap();
        let before = system.energies().total();
        for _ in 0..100 {
            system.step(1.0 / 60.0).unwrap();
            let e = system.energies().total();
            assert!(e.is_finite() && e <= before * (1.0 + 1e-9) + 1e-6, "{scale}: {before} {e}");
        }
    }
    let cloth = Cloth::default();
    for scale in [DVec3::ZERO, DVec3::X] {
        let mut body = cloth.grid(5, 5, 0.1).unwrap();
        for x in &mut body.position {
            *x *= scale;
        }
        for contact_distance in [0.0, 1e-3] {
            let mut system = DeformableSystem::new(Settings { contact_distance, ..Settings::default() });
            system.add(&body).unwrap();
            for _ in 0..20 {
                match system.step(1.0 / 60.0) {
                    Ok(_) | Err(DeformableError::Intersecting { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                assert!(system.position().iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn bad_input_is_an_error() {
    let two = vec![DVec3::ZERO, DVec3::X];
    assert!(matches!(
        Deformable::from_vertices(two.clone(), vec![1.0, 0.0]),
        Err(DeformableError::InvalidMass { .. })
    ));
    assert!(matches!(
        Deformable::from_vertices(two.clone(), vec![1.0]),
        Err(DeformableError::TooMany { .. })
    ));
    assert!(Deformable::from_vertices(vec![DVec3::NAN], vec![1.0]).is_err());
    let mut body = Deformable::from_vertices(two, vec![1.0; 2]).unwrap();
    for ends in [[0, 0], [0, 2]] {
        assert!(matches!(
            body.add_spring(SpringKind::Bend, ends, 1.0, 0.0),
            Err(DeformableError::BadTopology { .. })
        ));
    }
    assert!(body.add_spring(SpringKind::Bend, [0, 1], f64::NAN, 0.0).is_err());
    assert!(body.pin(2).is_err());
    let cloth = Cloth::default();
    assert!(cloth.grid(1, 5, 0.1).is_err());
    assert!(cloth.grid(5, 5, -0.1).is_err());
    assert!(cloth.grid(usize::MAX, 5, 0.1).is_err());
    assert!(Cloth { poisson_ratio: 1.0, ..cloth }.grid(3, 3, 0.1).is_err());
    assert!(cloth.mesh(&[DVec3::ZERO, DVec3::X, 2.0 * DVec3::X], &[[0, 1, 2]]).is_err());
    let strand = Strand::round(1e-3, 1e6, 1000.0);
    assert!(strand.curve(&[DVec3::ZERO]).is_err());
    assert!(strand.curve(&[DVec3::ZERO, DVec3::ZERO]).is_err());
    assert!(strand.curve(&[DVec3::ZERO, DVec3::X, DVec3::ZERO]).is_err());
    assert!(SolidMesh::lattice([0, 1, 1], DVec3::ONE).is_err());
    let flat = SolidMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y],
        tetrahedra: vec![[0, 1, 2, 3]],
    };
    assert!(Solid::default().mesh(&flat).is_err());
    let mut system = DeformableSystem::default();
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(system.step(h).is_err());
    }
    assert!(system.step(0.01).is_ok());
    assert!(system.body_pose(0).is_err());
    assert!(system.add_plane(DVec3::ZERO, 0.0, 0.1).is_err());
    assert!(DeformableSystem::from_snapshot(b"RTLBDEF1").is_err());
    let mut bytes = system.snapshot().unwrap();
    assert!(DeformableSystem::from_snapshot(&bytes).is_ok());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert!(matches!(DeformableSystem::from_snapshot(&bytes), Err(DeformableError::Snapshot { .. })));
}

/// Two crossing sheets are refused, and the system is left as it was.
#[test]
fn surfaces_that_intersect_are_refused() {
    let cloth = Cloth::default().grid(4, 4, 0.1).unwrap();
    let mut system = DeformableSystem::default();
    system.add(&cloth).unwrap();
    let turned = cloth.transformed(&rattleback_geometry::Pose::new(
        glam::DQuat::from_rotation_x(1.0),
        DVec3::new(0.01, 0.013, 0.0),
    ));
    system.add(&turned).unwrap();
    let before = system.position().to_vec();
    assert!(matches!(system.step(0.01), Err(DeformableError::Intersecting { .. })));
    assert_eq!(system.position(), before);
}
