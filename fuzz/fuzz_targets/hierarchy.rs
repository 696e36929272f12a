#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::Aabb;
use rattleback_geometry::hierarchy::{BoxTree, BuildSettings, MeshTree, Ray, Scratch, WideTree};

/// Boxes that overlap a box, by testing all and by both trees.
fn boxes(numbers: &mut Numbers<'_>, settings: &BuildSettings) {
    let count = 1 + numbers.byte() % 40;
    let items: Vec<Aabb> =
        (0..count).filter_map(|_| Aabb::from_points([numbers.vector(), numbers.vector()]).ok()).collect();
    let Ok(query) = Aabb::from_points([numbers.vector(), numbers.vector()]) else { return };
    let (Ok(tree), Ok(wide)) = (BoxTree::build(&items, settings), WideTree::build(&items, settings)) else {
        return;
    };
    let mut scratch = Scratch::default();
    let (mut exact, mut wider) = (Vec::new(), Vec::new());
    tree.overlapping(&query, &mut scratch, |i| {
        exact.push(i);
        ControlFlow::Continue(())
    });
    wide.overlapping(&query, &mut scratch, |i| {
        wider.push(i);
        ControlFlow::Continue(())
    });
    exact.sort_unstable();
    let all: Vec<u32> = (0u32..).zip(&items).filter(|(_, b)| b.overlaps(&query)).map(|(i, _)| i).collect();
    assert_eq!(exact, all);
    assert!(all.iter().all(|i| wider.contains(i)));
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let settings = BuildSettings { max_leaf: usize::from(numbers.byte() % 17), threads: 1 };
    boxes(&mut numbers, &settings);
    let (points, triangles) = numbers.triangles();
    let Ok(tree) = MeshTree::from_triangles(&points, &triangles, &settings) else { return };
    let single = |i: usize| MeshTree::from_triangles(&points, &triangles[i..=i], &settings);
    let singles: Vec<MeshTree> = (0..triangles.len()).filter_map(|i| single(i).ok()).collect();
    let mut scratch = Scratch::default();
    for _ in 0..4 {
        let (p, d) = (numbers.vector(), numbers.vector());
        let alone = |tree: &MeshTree| tree.nearest_point(p, f64::INFINITY, &mut Scratch::default());
        let least = singles.iter().filter_map(alone).map(|near| near.distance).fold(f64::INFINITY, f64::min);
        if let Some(near) = tree.nearest_point(p, f64::INFINITY, &mut scratch) {
            assert!(near.distance <= least * (1.0 + 1e-9), "{} {least}", near.distance);
        }
        if let Ok(ray) = Ray::new(p, d) {
            let hit = tree.cast_ray(&ray, f64::INFINITY, &mut scratch);
            assert_eq!(tree.ray_blocked(&ray, f64::INFINITY, &mut scratch), hit.is_some());
        }
    }
    let pose = numbers.pose();
    let _ = tree.first_crossing(&tree, &pose, &mut scratch);
    let _ = tree.solids_overlap(&tree, &pose, &mut scratch);
});
