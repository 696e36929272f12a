#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::primitive::{FromInside, Ray};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let Some(shape) = numbers.shape(true) else { return };
    let pose = numbers.pose();
    for _ in 0..4 {
        let (origin, direction, reach) = (numbers.vector(), numbers.vector(), numbers.number());
        let Ok(ray) = Ray::new(origin, direction) else { continue };
        for inside in [FromInside::Origin, FromInside::Exit] {
            for max in [reach, f64::INFINITY] {
                if let Some(hit) = shape.cast_ray(&ray, max, inside) {
                    assert!(hit.t >= 0.0 && hit.t <= max, "{hit:?}");
                    assert!((hit.normal.length() - 1.0).abs() < 1e-6, "{hit:?}");
                }
                let _ = shape.cast_ray_at(&pose, &ray, max, inside);
            }
        }
        let _ = shape.closest_point(origin);
        let _ = shape.contains(origin);
    }
});
