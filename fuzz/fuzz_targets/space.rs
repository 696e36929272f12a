#![no_main]

//! Any sequence of operations on any space, compared with brute force.

use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{BruteForce, Candidates, Mobility, PairChanges, ProxyId, Space, SpaceKind};

/// Four bytes ⇒ a box on a coarse grid, where many faces coincide; sometimes far out, sometimes enormous.
fn bounds(bytes: &[u8]) -> Option<Aabb> {
    let size = match bytes[3] {
        250.. => 1e14,
        200.. => 100.0,
        small => f64::from(small % 16) * 0.25,
    };
    let scale = if bytes[3] == 199 { 1e7 } else { 0.5 };
    let center = DVec3::new(f64::from(bytes[0]), f64::from(bytes[1]), f64::from(bytes[2] % 32)) * scale;
    Aabb::from_center(center, DVec3::splat(0.5 * size)).ok()
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, operations)) = data.split_first() else { return };
    let kind = SpaceKind::ALL[first as usize % SpaceKind::ALL.len()];
    let (mut space, mut truth) = (kind.create(), BruteForce::default());
    let mut ids: Vec<ProxyId> = Vec::new();
    let (mut changes, mut expected) = (PairChanges::default(), PairChanges::default());
    for bytes in operations.chunks_exact(6).take(2000) {
        let place = usize::from(bytes[1]) % ids.len().max(1);
        let (Some(bounds), id) = (bounds(&bytes[2..]), ids.get(place).copied()) else { continue };
        match (bytes[0] % 8, id) {
            (0..=2, _) => {
                let mobility = if bytes[1] % 3 == 0 { Mobility::Fixed } else { Mobility::Moving };
                let id = space.insert(&bounds, mobility, 0).expect("a box within reach");
                assert_eq!(truth.insert(&bounds, mobility, 0), Ok(id));
                ids.push(id);
            }
            (3 | 4, Some(id)) => assert_eq!(space.update(id, &bounds), truth.update(id, &bounds)),
            (5, Some(id)) => {
                // Ids are kept, so that removed ones are used again and must be refused.
                assert_eq!(space.remove(id), truth.remove(id));
            }
            (6, _) if bytes[1] < 16 => space.build(),
            _ => {
                space.step(1 + usize::from(bytes[1] % 3), &mut changes);
                truth.step(1, &mut expected);
                let (got, exact) = (space.pairs(), truth.pairs());
                match space.candidates() {
                    Candidates::Exact => assert_eq!(changes, expected),
                    Candidates::Enlarged => assert!(exact.iter().all(|pair| got.binary_search(pair).is_ok())),
                }
            }
        }
    }
});
