//! Casts find pieces through hierarchies; brute force over all pieces must find the same first contact.

use crate::random;

use std::sync::Arc;

use glam::DVec2;
use random::Random;
use rattleback_geometry::swept::{Advancement, Motion, ShapeContact, cast_shapes};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh, generate};

/// Every convex piece as a shape of its own, in the frame of the whole.
fn pieces(shape: &Shape) -> Vec<(Pose, Shape)> {
    let single = |corners: [glam::DVec3; 3]| {
        Shape::Mesh(Arc::new(TriangleMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap()))
    };
    match shape {
        Shape::Mesh(mesh) => {
            (0..mesh.triangles().len()).map(|i| (Pose::IDENTITY, single(mesh.triangle(i)))).collect()
        }
        Shape::HeightField(field) => {
            (0..field.triangle_count()).map(|i| (Pose::IDENTITY, single(field.triangle(i)))).collect()
        }
        Shape::Compound(compound) => {
            let parts = compound.parts().iter();
            parts
                .flat_map(|(place, part)| pieces(part).into_iter().map(|(inner, p)| (*place * inner, p)))
                .collect()
        }
        other => vec![(Pose::IDENTITY, other.clone())],
    }
}

fn brute(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    settings: &Advancement,
) -> Option<ShapeContact> {
    let mut best: Option<ShapeContact> = None;
    let pieces_b = pieces(b);
    for (i, (place_a, piece_a)) in pieces(a).iter().enumerate() {
        for (j, (place_b, piece_b)) in pieces_b.iter().enumerate() {
            let (of_a, of_b) = (motion_a.of_part(place_a), motion_b.of_part(place_b));
            let hit = cast_shapes(piece_a, &of_a, piece_b, &of_b, settings).unwrap();
            if let Some(hit) = hit
                && best.is_none_or(|known| hit.contact.time < known.contact.time)
            {
                best = Some(ShapeContact { pieces: [i as u32, j as u32], ..hit });
            }
        }
    }
    best
}

#[test]
fn casts_through_hierarchies_agree_with_all_pairs_of_pieces() {
    let mut random = Random(77);
    let heights = (0..64).map(|i| 0.2 * f64::from(i * 7 % 5)).collect();
    let sphere = Shape::sphere(0.2).unwrap();
    let torus = Shape::Mesh(Arc::new(generate::torus(0.6, 0.2, 9, 6).unwrap()));
    let parts = vec![(Pose::at(glam::DVec3::X), sphere.clone()), (Pose::at(-glam::DVec3::X), torus.clone())];
    let shapes = [
        sphere,
        torus,
        Shape::HeightField(Arc::new(HeightField::new(8, 8, DVec2::splat(0.4), heights).unwrap())),
        Shape::Compound(Arc::new(Compound::new(parts).unwrap())),
    ];
    let settings = Advancement { distance_tolerance: 1e-6, max_iterations: 1000 };
    let mut hits = 0;
    for a in &shapes {
        for b in &shapes {
            for _ in 0..6 {
                let mut motion = |reach: f64| {
                    let turn = random.between(0.0, 2.5) * random.on_sphere();
                    Motion::new(random.pose(reach), random.in_cube(), 3.0 * random.in_cube(), turn).unwrap()
                };
                let (motion_a, motion_b) = (motion(2.0), motion(2.0));
                let found = cast_shapes(a, &motion_a, b, &motion_b, &settings).unwrap();
                let expected = brute(a, &motion_a, b, &motion_b, &settings);
                assert_eq!(found.is_some(), expected.is_some(), "{} {}", a.kind(), b.kind());
                let (Some(found), Some(expected)) = (found, expected) else { continue };
                hits += 1;
                // Each is at most the tolerance early; the speed of approach makes that a time.
                assert!((found.contact.time - expected.contact.time).abs() < 1e-4, "{found:?} {expected:?}");
            }
        }
    }
    assert!(hits > 20, "{hits}");
}
