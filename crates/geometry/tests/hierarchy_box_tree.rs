//! The binary box tree answers as a loop over all boxes would.

use crate::random;

use std::ops::ControlFlow;

use glam::DVec3;
use random::Random;
use rattleback_geometry::hierarchy::{BoxTree, BuildSettings, HierarchyError, Ray, Scratch, WideTree};
use rattleback_geometry::{Aabb, BoundingSphere};

/// Boxes of several kinds: scattered, all the same, flat, on a line, of very different sizes.
fn boxes(kind: u64, count: usize, random: &mut Random) -> Vec<Aabb> {
    (0..count)
        .map(|i| {
            let (center, half) = match kind % 5 {
                0 => (random.in_cube(), 0.1 * random.in_cube().abs()),
                1 => (DVec3::ONE, DVec3::ONE),
                2 => (random.in_cube() * DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.1, 0.05, 0.0)),
                3 => (DVec3::X * i as f64, DVec3::ZERO),
                _ => (random.in_cube() * (-(i as f64)).exp2(), random.in_cube().abs() * (-(i as f64)).exp2()),
            };
            Aabb::from_center(center, half).unwrap()
        })
        .collect()
}

fn entry_by_definition(bounds: &Aabb, ray: &Ray) -> bool {
    let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
    for axis in 0..3 {
        let (o, d) = (ray.origin()[axis], ray.direction()[axis]);
        let (low, high) = (bounds.min()[axis] - o, bounds.max()[axis] - o);
        if d == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
        } else {
            enter = enter.max((low / d).min(high / d));
            leave = leave.min((low / d).max(high / d));
        }
    }
    enter <= leave
}

#[test]
fn queries_equal_brute_force() {
    let mut random = Random(1);
    let mut scratch = Scratch::default();
    for round in 0..300u64 {
        let count = 1 + (random.bits() % 200) as usize;
        let items = boxes(round, count, &mut random);
        let settings = BuildSettings { max_leaf: 1 + (round % 16) as usize, threads: 1 };
        let tree = BoxTree::build(&items, &settings).unwrap();
        let mut collect = |query: &dyn Fn(&mut Vec<u32>, &mut Scratch)| {
            let mut found = Vec::new();
            query(&mut found, &mut scratch);
            found.sort_unstable();
            found
        };
        let all = |test: &dyn Fn(&Aabb) -> bool| -> Vec<u32> {
            (0..count as u32).filter(|&i| test(&items[i as usize])).collect()
        };
        let query = Aabb::from_center(random.in_cube(), random.in_cube().abs()).unwrap();
        let got = collect(&|found, scratch| {
            tree.overlapping(&query, scratch, |i| {
                found.push(i);
                ControlFlow::Continue(())
            });
        });
        assert_eq!(got, all(&|b| b.overlaps(&query)));
        let sphere = BoundingSphere::new(random.in_cube(), random.between(0.0, 1.0)).unwrap();
        let got = collect(&|found, scratch| {
            tree.overlapping_sphere(&sphere, scratch, |i| {
                found.push(i);
                ControlFlow::Continue(())
            });
        });
        assert_eq!(got, all(&|b| b.distance(sphere.center()) <= sphere.radius()));
        // The nearest box, in both trees.
        let wide = WideTree::build(&items, &settings).unwrap();
        let p = 2.0 * random.in_cube();
        let expected = items.iter().map(|b| b.distance(p)).fold(f64::INFINITY, f64::min);
        for binary in [true, false] {
            let (mut best, mut scratch) = (f64::INFINITY, Scratch::default());
            let measure = |i: u32, _: f64| {
                best = items[i as usize].distance(p).min(best);
                Some(best)
            };
            if binary {
                tree.nearest(p, f64::INFINITY, &mut scratch, measure);
            } else {
                wide.nearest(p, f64::INFINITY, &mut scratch, measure);
            }
            assert_eq!(best, expected);
        }
        // The wide tree may hand over more, never less.
        let mut wider = Vec::new();
        wide.overlapping(&query, &mut Scratch::default(), |i| {
            wider.push(i);
            ControlFlow::Continue(())
        });
        assert!(all(&|b| b.overlaps(&query)).iter().all(|i| wider.contains(i)));
        // Rays in general position and along axes, starting inside and outside.
        let mut direction = random.on_sphere();
        if round % 3 == 0 {
            direction = DVec3::AXES[(round % 9 / 3) as usize];
        }
        let ray = Ray::new(2.0 * random.in_cube(), direction * random.between(0.01, 100.0)).unwrap();
        let got = collect(&|found, scratch| {
            tree.along_ray(&ray, f64::INFINITY, scratch, |i, _| {
                found.push(i);
                None
            });
        });
        let mut wider = Vec::new();
        wide.along_ray(&ray, f64::INFINITY, &mut Scratch::default(), |i, _| {
            wider.push(i);
            None
        });
        for i in all(&|b| entry_by_definition(b, &ray)) {
            assert!(got.contains(&i) && wider.contains(&i), "round {round}: ray misses box {i}");
        }
    }
}

/// The tree does not depend on the number of threads.
#[test]
fn threads_do_not_show() {
    let mut random = Random(2);
    for kind in 0..5 {
        let items = boxes(kind, 20_000, &mut random);
        let one = BoxTree::build(&items, &BuildSettings { max_leaf: 2, threads: 1 }).unwrap();
        for threads in [2, 3, 7] {
            assert_eq!(one, BoxTree::build(&items, &BuildSettings { max_leaf: 2, threads }).unwrap());
        }
    }
}

/// Coinciding centres and geometric progressions cannot make the tree deep; every item is in one leaf, inside
/// all its ancestors' boxes.
#[test]
fn shape_of_the_tree() {
    let mut random = Random(3);
    for kind in 0..5 {
        let count = if kind == 4 { 1000 } else { 5000 };
        let items = boxes(kind, count, &mut random);
        let tree = BoxTree::build(&items, &BuildSettings { max_leaf: 1, threads: 1 }).unwrap();
        assert_eq!(tree.node_count(), 2 * count - 1);
        let mut seen = vec![0; count];
        let mut path: Vec<Aabb> = Vec::new();
        tree.for_each_node(|depth, bounds, leaf| {
            assert!(depth < 64 + 27);
            path.truncate(depth);
            path.push(*bounds);
            for &item in leaf {
                seen[item as usize] += 1;
                assert!(path.iter().all(|above| above.contains_box(&items[item as usize])));
            }
        });
        assert!(seen.iter().all(|&times| times == 1));
    }
}

#[test]
fn bad_input_is_refused() {
    assert_eq!(BoxTree::build(&[], &BuildSettings::default()), Err(HierarchyError::Empty));
    let one = [Aabb::from_center(DVec3::ZERO, DVec3::ONE).unwrap()];
    let far = [Aabb::new(DVec3::ZERO, DVec3::splat(1e300)).unwrap()];
    assert!(matches!(
        BoxTree::build(&far, &BuildSettings::default()),
        Err(HierarchyError::NonFinite { index: 0, .. })
    ));
    for settings in [BuildSettings { max_leaf: 0, threads: 1 }, BuildSettings { max_leaf: 4, threads: 0 }] {
        assert!(matches!(BoxTree::build(&one, &settings), Err(HierarchyError::Parameter { .. })));
    }
    let mut tree = BoxTree::build(&one, &BuildSettings::default()).unwrap();
    assert!(matches!(tree.refit(&[]), Err(HierarchyError::CountMismatch { expected: 1, found: 0, .. })));
    assert!(Ray::new(DVec3::NAN, DVec3::X).is_err() && Ray::new(DVec3::ZERO, DVec3::INFINITY).is_err());
}
