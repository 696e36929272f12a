//! Every space against the plain list of boxes.

use crate::random;
use crate::space_model;

use std::ops::ControlFlow;

use glam::DVec3;
use random::Random;
use rattleback_geometry::Aabb;
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::space::{Mobility, PairChanges, SpaceError, SpaceKind, everywhere};
use space_model::{Model, random_box};

const REACH: f64 = 10.0;

/// A step of a random history: small moves of most, teleports, births and deaths of some.
fn live(
    model: &mut Model,
    space: &mut dyn rattleback_geometry::space::Space,
    random: &mut Random,
    population: u64,
) {
    let ids: Vec<_> = model.boxes.keys().copied().collect();
    let calm = random.bits().is_multiple_of(3);
    for id in ids {
        let (bounds, mobility) = model.boxes[&id];
        let chance = random.bits() % 200;
        let moves = mobility == Mobility::Moving && (!calm || chance < 10);
        if chance == 0 {
            model.update(space, id, random_box(random, REACH));
        } else if chance == 1 && model.boxes.len() as u64 > population / 2 {
            model.remove(space, id);
        } else if moves {
            let shift = 0.05 * random.in_cube();
            model.update(space, id, Aabb::new(bounds.min() + shift, bounds.max() + shift).unwrap());
        }
    }
    while (model.boxes.len() as u64) < population && random.bits().is_multiple_of(3) {
        let mobility = if random.bits().is_multiple_of(4) { Mobility::Fixed } else { Mobility::Moving };
        model.insert(space, random_box(random, REACH), mobility);
    }
}

/// 10⁴ steps with insertions, removals and teleports: no space loses a pair, exact ones report no other;
/// queries before and after a step.
#[test]
fn ten_thousand_random_steps() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let mut random = Random(kind.name().len() as u64);
        let mut model = Model::new();
        for k in 0..10_000 {
            live(&mut model, &mut *space, &mut random, 40);
            if k % 16 == 0 {
                model.compare_queries(&*space, &mut random, REACH);
            }
            if k % 1000 == 500 {
                space.build();
                model.compare_queries(&*space, &mut random, REACH);
            }
            model.step(&mut *space, 1);
            if k % 16 == 8 {
                model.compare_queries(&*space, &mut random, REACH);
            }
        }
        while let Some(id) = model.nth(0) {
            model.remove(&mut *space, id);
        }
        model.step(&mut *space, 1);
        assert_eq!((space.pair_count(), space.proxies().len()), (0, 0));
    }
}

/// A larger population, so that trees are deep and lists long.
#[test]
fn many_boxes() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let mut random = Random(5);
        let mut model = Model::new();
        for _ in 0..1200 {
            let mobility = if random.bits().is_multiple_of(3) { Mobility::Fixed } else { Mobility::Moving };
            model.insert(&mut *space, random_box(&mut random, 3.0 * REACH), mobility);
        }
        for _ in 0..40 {
            live(&mut model, &mut *space, &mut random, 1200);
            model.step(&mut *space, 2);
            model.compare_queries(&*space, &mut random, 3.0 * REACH);
        }
    }
}

/// The number of threads changes no bit of the reported pairs.
#[test]
fn threads_do_not_show() {
    for kind in SpaceKind::ALL {
        let histories = [1, 2, 3, 8].map(|threads| {
            let mut space = kind.create();
            let mut random = Random(11);
            let ids: Vec<_> = (0..3000)
                .map(|_| {
                    let bounds = random_box(&mut random, 4.0 * REACH);
                    let mobility =
                        if random.bits().is_multiple_of(5) { Mobility::Fixed } else { Mobility::Moving };
                    (space.insert(&bounds, mobility, 0).unwrap(), bounds, mobility)
                })
                .collect();
            let mut history = Vec::new();
            for step in 0..6 {
                let mut changes = PairChanges::default();
                for (id, bounds, mobility) in &ids {
                    // All, then fewer and fewer.
                    if *mobility == Mobility::Moving && random.bits().is_multiple_of(step + 1) {
                        let shift = 0.5 * random.in_cube();
                        let moved = Aabb::new(bounds.min() + shift, bounds.max() + shift).unwrap();
                        space.update(*id, &moved).unwrap();
                    }
                }
                space.step(threads, &mut changes);
                history.push((changes, space.pairs()));
            }
            history
        });
        assert!(histories.iter().all(|history| *history == histories[0]), "{}", kind.name());
    }
}

/// Thousands of equal boxes, of points in one place, and boxes in a row: nothing hangs, nothing is lost.
#[test]
fn degenerate_crowds() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let mut model = Model::new();
        let unit = Aabb::new(DVec3::ZERO, DVec3::ONE).unwrap();
        let origin = Aabb::new(DVec3::ZERO, DVec3::ZERO).unwrap();
        for k in 0..150 {
            model.insert(&mut *space, unit, Mobility::Moving);
            model.insert(&mut *space, origin, Mobility::Moving);
            let x = DVec3::X * f64::from(k);
            model.insert(&mut *space, Aabb::new(x, x + DVec3::ONE).unwrap(), Mobility::Moving);
            if k % 10 == 0 {
                model.step(&mut *space, 1);
            }
        }
        for k in 0..20 {
            let id = model.nth(k * 37).unwrap();
            model.remove(&mut *space, id);
            model.step(&mut *space, 1);
        }
    }
}

#[test]
fn enormous_boxes_are_refused_and_old_ids_are_known_as_such() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let huge = Aabb::new(DVec3::splat(-1.0), DVec3::new(1.0, 1e16, 1.0)).unwrap();
        let refusal = SpaceError::Enormous { axis: 1, reach: 1e16 };
        assert_eq!(space.insert(&huge, Mobility::Moving, 0), Err(refusal));
        assert!(Aabb::new(DVec3::NAN, DVec3::ONE).is_err() && Aabb::new(DVec3::ONE, DVec3::ZERO).is_err());
        let unit = Aabb::new(DVec3::ZERO, DVec3::ONE).unwrap();
        let id = space.insert(&unit, Mobility::Moving, 3).unwrap();
        assert_eq!(space.update(id, &huge), Err(refusal));
        assert_eq!((space.bounds(id), space.user(id)), (Ok(unit), Ok(3)));
        space.remove(id).unwrap();
        space.step(1, &mut PairChanges::default());
        let again = space.insert(&unit, Mobility::Moving, 4).unwrap();
        assert_eq!(again.index(), id.index(), "slots are used again");
        assert_eq!(space.update(id, &unit), Err(SpaceError::Unknown { id }));
        assert_eq!(space.remove(id), Err(SpaceError::Unknown { id }));
    }
}

/// A half-space is everywhere: it pairs with all that move, near and far, and with nothing fixed.
#[test]
fn unbounded_boxes_pair_with_everything() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let mut model = Model::new();
        let mut random = Random(2);
        let ground = model.insert(&mut *space, everywhere(), Mobility::Fixed);
        for k in 0..50 {
            let mobility = if k % 5 == 0 { Mobility::Fixed } else { Mobility::Moving };
            model.insert(&mut *space, random_box(&mut random, 10f64.powi(k % 8)), mobility);
        }
        model.step(&mut *space, 1);
        let touching = model.pairs.iter().filter(|pair| pair.a == ground || pair.b == ground).count();
        assert_eq!(touching, 40);
        model.update(&mut *space, ground, random_box(&mut random, 1.0));
        model.step(&mut *space, 1);
    }
}

/// Unbounded and too large boxes get the box everywhere, in any order of inserts and updates; other errors
/// are passed on.
#[test]
fn too_large_boxes_are_everywhere() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let huge = Aabb::new(DVec3::splat(-1.0), DVec3::new(1.0, 1e16, 1.0)).unwrap();
        let unit = Aabb::new(DVec3::ZERO, DVec3::ONE).unwrap();
        let small = space.insert_or_everywhere(Some(&unit), Mobility::Moving, 1).unwrap();
        let large = space.insert_or_everywhere(Some(&huge), Mobility::Moving, 2).unwrap();
        let plane = space.insert_or_everywhere(None, Mobility::Fixed, 3).unwrap();
        let boxes = [small, large, plane].map(|id| space.bounds(id).unwrap());
        assert_eq!(boxes, [unit, everywhere(), everywhere()]);
        space.update_or_everywhere(large, Some(&unit)).unwrap();
        space.update_or_everywhere(small, None).unwrap();
        space.update_or_everywhere(plane, Some(&huge)).unwrap();
        let boxes = [small, large, plane].map(|id| space.bounds(id).unwrap());
        assert_eq!(boxes, [everywhere(), unit, everywhere()]);
        let mut changes = PairChanges::default();
        space.step(1, &mut changes);
        assert_eq!(changes.appeared.len(), 3);
        space.remove(small).unwrap();
        assert_eq!(space.update_or_everywhere(small, None), Err(SpaceError::Unknown { id: small }));
    }
}

/// Rays along faces, from inside, from far away, and visitors that stop.
#[test]
fn difficult_rays() {
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        for k in 0..100 {
            let corner = DVec3::X * f64::from(k) * 2.0;
            space
                .insert(&Aabb::new(corner, corner + DVec3::ONE).unwrap(), Mobility::Moving, k as u64)
                .unwrap();
        }
        space.step(1, &mut PairChanges::default());
        let count = |ray: &Ray| {
            let mut count = 0;
            space.along_ray(ray, f64::INFINITY, &mut |_, _| {
                count += 1;
                ControlFlow::Continue(f64::INFINITY)
            });
            count
        };
        let ray = |o: [f64; 3], d: [f64; 3]| Ray::new(DVec3::from_array(o), DVec3::from_array(d)).unwrap();
        assert_eq!(count(&ray([-5.0, 0.0, 0.0], [1.0, 0.0, 0.0])), 100, "{}", kind.name());
        assert_eq!(count(&ray([-5.0, 1.0, 1.0], [1.0, 0.0, 0.0])), 100);
        assert_eq!(count(&ray([-5.0, 1.0, 1.0], [1.0, -0.0, -0.0])), 100);
        assert_eq!(count(&ray([0.5, 0.5, 0.5], [0.0, 1.0, 0.0])), 1);
        assert_eq!(count(&ray([1e12, 0.5, 0.5], [-1.0, 0.0, 0.0])), 100);
        assert_eq!(count(&ray([1e35, 0.5, 0.5], [-1.0, 0.0, 0.0])), 100);
        assert_eq!(count(&ray([0.5, 0.5, 1.0000001], [1.0, 0.0, 0.0])), 0);
        let mut seen = 0;
        space.along_ray(&ray([-5.0, 0.5, 0.5], [1.0, 0.0, 0.0]), f64::INFINITY, &mut |_, _| {
            seen += 1;
            ControlFlow::Break(())
        });
        space.overlapping(&everywhere(), &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        space.nearest(DVec3::ZERO, f64::INFINITY, &mut |_, _| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!(seen, 3);
        let nan = f64::NAN;
        space.nearest(DVec3::splat(nan), nan, &mut |_, _| ControlFlow::Continue(nan));
    }
}
