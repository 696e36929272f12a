//! Reference model of a space, a plain list of boxes, and random histories to compare with it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::primitive::{Ray, slab_interval};
use rattleback_geometry::space::{Candidates, Mobility, Pair, PairChanges, ProxyId, Space};

use crate::random::Random;

pub struct Model {
    pub boxes: BTreeMap<ProxyId, (Aabb, Mobility)>,
    pub pairs: Vec<Pair>,
}

#[allow(dead_code, reason = "each test file uses a part of it")]
impl Model {
    pub fn new() -> Self {
        Self { boxes: BTreeMap::new(), pairs: Vec::new() }
    }

    pub fn insert(&mut self, space: &mut dyn Space, bounds: Aabb, mobility: Mobility) -> ProxyId {
        let id = space.insert(&bounds, mobility, 7).unwrap();
        assert!(self.boxes.insert(id, (bounds, mobility)).is_none(), "an id was given twice");
        id
    }

    pub fn update(&mut self, space: &mut dyn Space, id: ProxyId, bounds: Aabb) {
        space.update(id, &bounds).unwrap();
        self.boxes.get_mut(&id).unwrap().0 = bounds;
    }

    pub fn remove(&mut self, space: &mut dyn Space, id: ProxyId) {
        space.remove(id).unwrap();
        self.boxes.remove(&id);
        assert!(space.remove(id).is_err() && space.bounds(id).is_err());
    }

    pub fn nth(&self, k: u64) -> Option<ProxyId> {
        self.boxes.keys().nth(k as usize % self.boxes.len().max(1)).copied()
    }

    /// All overlapping pairs that are not both fixed, by looking at all.
    pub fn truth(&self) -> Vec<Pair> {
        let list: Vec<_> = self.boxes.iter().collect();
        let mut pairs = Vec::new();
        for (k, (a, (box_a, a_moves))) in list.iter().enumerate() {
            for (b, (box_b, b_moves)) in &list[k + 1..] {
                let fixed = *a_moves == Mobility::Fixed && *b_moves == Mobility::Fixed;
                if !fixed && box_a.overlaps(box_b) {
                    pairs.push(Pair::new(**a, **b));
                }
            }
        }
        pairs
    }

    /// Steps the space and compares all reported pairs with the model.
    pub fn step(&mut self, space: &mut dyn Space, threads: usize) -> PairChanges {
        let mut changes = PairChanges::default();
        space.step(threads, &mut changes);
        assert!(changes.appeared.is_sorted() && changes.vanished.is_sorted());
        for pair in &changes.vanished {
            let place = self.pairs.binary_search(pair).expect("only a reported pair can vanish");
            self.pairs.remove(place);
        }
        for pair in &changes.appeared {
            let place = self.pairs.binary_search(pair).expect_err("a pair appears once");
            self.pairs.insert(place, *pair);
            for id in [pair.a, pair.b] {
                assert!(self.boxes.contains_key(&id), "{}: {id:?} is not in the space", space.name());
            }
        }
        assert_eq!(space.pairs(), self.pairs, "{}", space.name());
        assert_eq!(space.pair_count(), self.pairs.len());
        let truth = self.truth();
        match space.candidates() {
            Candidates::Exact => assert_eq!(self.pairs, truth, "{}", space.name()),
            Candidates::Enlarged => {
                for pair in &truth {
                    assert!(self.pairs.binary_search(pair).is_ok(), "{} lost {pair:?}", space.name());
                }
                for pair in &self.pairs {
                    let fixed = [pair.a, pair.b].iter().all(|id| self.boxes[id].1 == Mobility::Fixed);
                    assert!(!fixed, "{}: two fixed boxes", space.name());
                }
            }
        }
        changes
    }

    /// Compares overlap, ray and nearest queries with looking at all.
    pub fn compare_queries(&self, space: &dyn Space, random: &mut Random, reach: f64) {
        let name = space.name();
        let window =
            Aabb::from_center(reach * random.in_cube(), DVec3::splat(random.between(0.0, 0.3 * reach)))
                .unwrap();
        let mut found = Vec::new();
        space.overlapping(&window, &mut |id| {
            found.push(id);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        let expected: Vec<_> =
            self.boxes.iter().filter(|(_, (b, _))| b.overlaps(&window)).map(|(id, _)| *id).collect();
        assert_eq!(found, expected, "{name}");

        let mut direction = random.on_sphere();
        if random.bits().is_multiple_of(3) {
            direction = DVec3::AXES[(random.bits() % 3) as usize];
        }
        let ray = Ray::new(reach * random.in_cube(), direction).unwrap();
        let limit =
            if random.bits().is_multiple_of(2) { f64::INFINITY } else { random.between(0.0, 2.0 * reach) };
        let enter = |b: &Aabb| slab_interval(ray.origin(), ray.direction(), limit, b).map(|[t, _]| t);
        let mut all = Vec::new();
        space.along_ray(&ray, limit, &mut |id, t| {
            all.push((id, t));
            ControlFlow::Continue(limit)
        });
        all.sort_unstable_by_key(|hit| hit.0);
        let expected: Vec<_> =
            self.boxes.iter().filter_map(|(id, (b, _))| enter(b).map(|t| (*id, t))).collect();
        assert_eq!(all, expected, "{name}");
        let mut first = f64::INFINITY;
        space.along_ray(&ray, limit, &mut |_, t| {
            first = first.min(t);
            ControlFlow::Continue(first)
        });
        let expected = expected.iter().map(|hit| hit.1).fold(f64::INFINITY, f64::min);
        assert_eq!(first, expected, "{name}");

        let point = 1.5 * reach * random.in_cube();
        let mut nearest = f64::INFINITY;
        space.nearest(point, f64::INFINITY, &mut |_, distance| {
            nearest = nearest.min(distance);
            ControlFlow::Continue(nearest)
        });
        let expected = self.boxes.values().map(|(b, _)| b.distance(point)).fold(f64::INFINITY, f64::min);
        assert_eq!(nearest, expected, "{name}");
    }
}

#[allow(dead_code, reason = "each test file uses a part of it")]
/// A box somewhere in a cube, of sizes over two decades; sometimes a point, sometimes on a grid so that faces
/// coincide.
pub fn random_box(random: &mut Random, reach: f64) -> Aabb {
    let size = 0.3 * reach * 10f64.powf(random.between(-2.0, 0.0));
    let mut center = reach * random.in_cube();
    let mut half =
        DVec3::new(random.between(0.0, size), random.between(0.0, size), random.between(0.0, size));
    if random.bits().is_multiple_of(4) {
        let unit = 0.25 * reach;
        center = (center / unit).round() * unit;
        half = DVec3::splat(0.5 * unit);
    }
    if random.bits().is_multiple_of(50) {
        half = DVec3::ZERO;
    }
    Aabb::from_center(center, half).unwrap()
}
