#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::closest::{
    ConvexShape, FeatureMap, Gjk, GjkCache, LinCannyCache, Separation, VClipCache, Walk, gjk, lin_canny,
    signed_distance, vclip,
};
use rattleback_geometry::{Pose, Shape};

fn check(separation: &Separation) {
    assert!(separation.distance.is_finite(), "{separation:?}");
    assert!(separation.point_a.is_finite() && separation.point_b.is_finite(), "{separation:?}");
    assert!((separation.normal.length() - 1.0).abs() < 1e-6, "{separation:?}");
}

/// Walks over the features of hulls, from wherever the last one ended.
fn walk(a: &Shape, b: &Shape, poses: &[Pose]) {
    let (Shape::Convex(a), Shape::Convex(b)) = (a, b) else { return };
    let (Ok(a), Ok(b)) = (FeatureMap::new(a), FeatureMap::new(b)) else { return };
    let (mut clip, mut canny) = (VClipCache::default(), LinCannyCache::default());
    for pose in poses {
        for found in [vclip(&a, &b, pose, &mut clip), lin_canny(&a, &b, pose, &mut canny)] {
            if let Ok(Walk::Apart { separation, .. }) = found {
                check(&separation);
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let (Some(a), Some(b)) = (numbers.convex(), numbers.convex()) else { return };
    let poses = [numbers.pose(), numbers.pose(), numbers.pose()];
    walk(&a, &b, &poses);
    let [a, b] = [&a, &b].map(|shape| ConvexShape::try_from(shape).expect("these are convex"));
    let mut cache = GjkCache::default();
    for pose in &poses {
        if let Ok(Gjk::Apart(separation)) = gjk(&a, &b, pose, &mut cache) {
            check(&separation);
        }
        if let Ok(separation) = signed_distance(&a, &b, pose, &mut cache) {
            check(&separation);
        }
    }
});
