//! Repeated contact queries of a pair do not allocate.

use std::sync::Arc;

use crate::counting::allocations;
use glam::{DQuat, DVec2, DVec3};
use rattleback_geometry::contact::{ContactCache, Contacts, collide};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh, generate};

/// Rolls B about a circle over A twice; the second round must find all memory it needs.
fn allocations_of_second_round(a: &Shape, b: &Shape, height: f64) -> u64 {
    let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
    let mut round = || {
        let mut touched = 0;
        for i in 0..120 {
            let angle = f64::from(i) * std::f64::consts::TAU / 120.0;
            let at = DVec3::new(0.4 * angle.cos(), 0.4 * angle.sin(), height);
            let pose = Pose::new(DQuat::from_rotation_z(3.0 * angle), at);
            collide(a, b, &pose, 0.01, &mut cache, &mut contacts).unwrap();
            touched += usize::from(!contacts.is_empty());
        }
        assert!(touched > 60, "{touched}");
    };
    round();
    allocations(round)
}

#[test]
fn a_pair_in_contact_allocates_nothing() {
    let mesh = |mesh: TriangleMesh| Shape::Mesh(Arc::new(mesh));
    let table = HeightField::new(41, 41, DVec2::splat(0.1), vec![0.0; 1681]).unwrap();
    let sheet = mesh(table.surface().unwrap());
    let terrain = Shape::HeightField(Arc::new(table));
    let brick = Shape::cuboid(DVec3::new(0.2, 0.3, 0.1)).unwrap();
    let sphere = Shape::sphere(0.1).unwrap();
    let parts = [-0.3, 0.3].map(|x| (Pose::at(DVec3::X * x), brick.clone()));
    let pair = Shape::Compound(Arc::new(Compound::new(parts.to_vec()).unwrap()));
    let block = mesh(TriangleMesh::from_soup(&generate::cuboid(DVec3::new(1.0, 1.0, 0.5)).unwrap()).unwrap());
    let small = mesh(TriangleMesh::from_soup(&generate::cuboid(DVec3::new(0.2, 0.3, 0.1)).unwrap()).unwrap());
    for (a, b, height) in [
        (&sheet, &brick, 0.095),
        (&terrain, &sphere, 0.095),
        (&terrain, &pair, 0.095),
        (&pair, &sphere, 0.195),
        (&sheet, &pair, 0.095),
        (&block, &small, 0.595),
        (&terrain, &small, 0.095),
        (&sheet, &small, 0.105),
    ] {
        assert_eq!(allocations_of_second_round(a, b, height), 0, "{} {}", a.kind(), b.kind());
    }
}
