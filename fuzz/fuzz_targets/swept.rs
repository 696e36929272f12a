#![no_main]

use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::swept::{Advancement, Motion, MovingTriangle, cast_shapes, swept_triangles};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let (Some(a), Some(b)) = (numbers.shape(true), numbers.shape(true)) else { return };
    let turning = numbers.byte() % 2 == 0;
    let mut motion = || {
        let (start, center, way) = (numbers.pose(), numbers.vector(), numbers.vector());
        Motion::new(start, center, way, if turning { numbers.vector() } else { DVec3::ZERO })
    };
    let (Ok(motion_a), Ok(motion_b)) = (motion(), motion()) else { return };
    let settings = Advancement { distance_tolerance: 1e-4, max_iterations: 50 };
    if let Ok(Some(hit)) = cast_shapes(&a, &motion_a, &b, &motion_b, &settings) {
        assert!((0.0..=1.0).contains(&hit.contact.time), "{hit:?}");
        if let Some(gap) = hit.contact.gap {
            assert!(gap.distance > 0.0 || gap.distance.is_nan(), "{hit:?}");
        }
    }
    let mut triangle = || {
        let mut corners = || Triangle::from([(); 3].map(|()| numbers.vector()));
        MovingTriangle::new(&corners(), &corners())
    };
    let (a, b) = (triangle(), triangle());
    if let Some(hit) = swept_triangles(&a, &b) {
        assert!((0.0..=1.0).contains(&hit.time), "{hit:?}");
    }
});
