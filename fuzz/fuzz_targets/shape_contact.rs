#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::contact::{ContactCache, Contacts, collide, distance, intersects};

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let (Some(a), Some(b)) = (numbers.shape(true), numbers.shape(true)) else { return };
    let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
    for _ in 0..2 {
        let (pose, margin) = (numbers.pose(), numbers.number());
        if collide(&a, &b, &pose, margin, &mut cache, &mut contacts).is_ok() {
            for manifold in contacts.manifolds() {
                assert!((manifold.normal.length() - 1.0).abs() < 1e-6 && !manifold.points().is_empty());
            }
        }
        let _ = distance(&a, &b, &pose);
        let _ = intersects(&a, &b, &pose);
    }
});
