//! Steps of the spaces for everyday use allocate nothing once their buffers have grown.

use crate::counting::allocations;
use crate::random::Random;
use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, SpaceKind};

/// Boxes that swing to and fro, so that every situation comes back: after some periods nothing is allocated
/// any more.
#[test]
fn steps_in_steady_state_allocate_nothing() {
    const PERIOD: usize = 32;
    // The tree is renewed part by part, not in step with the boxes, so its buffers need some rounds to reach
    // their size.
    const WARM: usize = 60 * PERIOD;
    for kind in [SpaceKind::DynamicBvh, SpaceKind::UniformGrid] {
        for speed in [0.02, 0.5] {
            let mut random = Random(3);
            let mut space = kind.create();
            let mut boxes = Vec::new();
            for k in 0..1500 {
                let (center, way) = (8.0 * random.in_cube(), speed * random.in_cube());
                let mobility = if k % 5 == 0 { Mobility::Fixed } else { Mobility::Moving };
                let bounds = Aabb::from_center(center, DVec3::splat(0.5)).unwrap();
                let id = space.insert(&bounds, mobility, 0).unwrap();
                if mobility == Mobility::Moving {
                    boxes.push((id, center, way));
                }
            }
            let mut changes = PairChanges::default();
            let mut run = |steps: usize| {
                let mut reported = 0;
                for step in 0..steps {
                    let phase = step % PERIOD;
                    let swing = phase.min(PERIOD - phase) as f64;
                    for (id, center, way) in &boxes {
                        let bounds = Aabb::from_center(*center + swing * *way, DVec3::splat(0.5)).unwrap();
                        space.update(*id, &bounds).unwrap();
                    }
                    space.step(1, &mut changes);
                    reported += changes.appeared.len();
                }
                reported
            };
            run(WARM);
            let mut reported = 0;
            let allocated = allocations(|| reported = run(4 * PERIOD));
            assert!(reported > 100, "something happens: {reported}");
            assert_eq!(allocated, 0, "{} at {speed} m a step", kind.name());
        }
    }
}
