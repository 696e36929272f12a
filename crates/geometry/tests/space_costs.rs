//! What steps cost, counted in operations, not in seconds.

use crate::random;

use glam::DVec3;
use random::Random;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{
    Mobility, PairChanges, ProxyId, Space, SpaceCounters, SpaceError, SpaceKind,
};

fn work(counters: SpaceCounters) -> u64 {
    let SpaceCounters { cell_operations, box_tests, nodes_visited, refits, rebuilds, swaps } = counters;
    cell_operations + box_tests + nodes_visited + refits + rebuilds + swaps
}

fn cube(center: DVec3) -> Aabb {
    Aabb::from_center(center, DVec3::splat(0.5)).unwrap()
}

/// A gas of unit boxes, one in eight cubic metres.
struct Gas {
    boxes: Vec<(ProxyId, DVec3, DVec3)>,
}

impl Gas {
    fn new(space: &mut dyn Space, count: usize) -> Self {
        let mut random = Random(17);
        let reach = (count as f64).cbrt();
        let mut add = || {
            let center = reach * random.in_cube();
            let id = space.insert(&cube(center), Mobility::Moving, 0).unwrap();
            (id, center, 0.02 * random.in_cube())
        };
        Self { boxes: (0..count).map(|_| add()).collect() }
    }

    /// Moves on ⇒ operations of so many steps after the first two, which build.
    fn run(&mut self, space: &mut dyn Space, steps: usize) -> u64 {
        let mut changes = PairChanges::default();
        let mut before = 0;
        for step in 0..steps + 2 {
            if step == 2 {
                before = work(space.counters());
            }
            for (id, center, way) in &mut self.boxes {
                *center += *way;
                space.update(*id, &cube(*center)).unwrap();
            }
            space.step(1, &mut changes);
        }
        work(space.counters()) - before
    }
}

/// Impulse test 17: from 10³ to 10⁵ boxes at constant density, the work per box of a step less than doubles.
/// (On a floor: `space_textbook`.)
#[test]
fn crowds_of_any_size_cost_the_same_per_box() {
    for kind in [SpaceKind::SpatialHash, SpaceKind::DynamicBvh] {
        let per_box = [1_000, 100_000].map(|count| {
            let mut space = kind.create();
            let mut gas = Gas::new(&mut *space, count);
            gas.run(&mut *space, 3) as f64 / count as f64
        });
        let ratio = per_box[1] / per_box[0];
        assert!(per_box[0] > 0.0 && ratio < 2.0, "{}: {per_box:?}", kind.name());
    }
}

/// A hundred fixed boxes for every moving one, beside which the moving ones float, and a ground: a step takes
/// at most 1.5 times the operations of one without them.
#[test]
fn fixed_boxes_cost_nothing() {
    for kind in
        [SpaceKind::DynamicBvh, SpaceKind::UniformGrid, SpaceKind::SpatialHash, SpaceKind::MultiLevelGrid]
    {
        let run = |fixed: usize| {
            let mut space = kind.create();
            let mut gas = Gas::new(&mut *space, 1000);
            let mut random = Random(23);
            let reach = (fixed as f64).cbrt();
            let shift = DVec3::Z * (reach + 15.0);
            for _ in 0..fixed {
                space.insert(&cube(reach * random.in_cube() - shift), Mobility::Fixed, 0).unwrap();
            }
            gas.run(&mut *space, 30)
        };
        let (alone, among) = (run(0), run(100_000));
        assert!(
            2 * among <= 3 * alone,
            "{}: {alone} operations alone, {among} among fixed ones",
            kind.name()
        );
    }
}

/// One box at 10⁷ m, and one of 10⁷ m: the others cost at most one and a half times as much, but for what
/// comparing each of them with the giant takes.
#[test]
fn one_outlier_does_not_slow_the_rest() {
    const COUNT: usize = 2000;
    const STEPS: usize = 30;
    for kind in SpaceKind::ALL {
        let run = |outlier: Option<Aabb>| {
            let mut space = kind.create();
            if let Some(bounds) = outlier {
                space.insert(&bounds, Mobility::Moving, 0).unwrap();
            }
            Gas::new(&mut *space, COUNT).run(&mut *space, STEPS)
        };
        let alone = run(None);
        let far = run(Some(cube(DVec3::splat(1e7))));
        assert!(2 * far <= 3 * alone, "{}: {alone} operations, {far} with one far out", kind.name());
        let giant = run(Some(Aabb::from_center(DVec3::ZERO, DVec3::splat(1e7)).unwrap()));
        let touching = 4 * (COUNT * STEPS) as u64;
        assert!(
            2 * giant <= 3 * alone + 2 * touching,
            "{}: {alone} operations, {giant} with a giant",
            kind.name()
        );
    }
}

/// Boxes that are none are refused before a space sees them, those that reach too far by every space, and
/// what it holds stays as it was.
#[test]
fn impossible_boxes_are_refused_by_every_space() {
    for (low, high) in
        [(f64::NAN, 1.0), (0.0, f64::NAN), (f64::NEG_INFINITY, 0.0), (0.0, f64::INFINITY), (1.0, 0.0)]
    {
        assert!(Aabb::new(DVec3::splat(low), DVec3::splat(high)).is_err(), "{low} to {high}");
    }
    let enormous = Aabb::new(DVec3::ZERO, DVec3::new(1.0, 2e15, 1.0)).unwrap();
    for kind in SpaceKind::ALL {
        let mut space = kind.create();
        let id = space.insert(&cube(DVec3::ZERO), Mobility::Moving, 0).unwrap();
        let refusal = SpaceError::Enormous { axis: 1, reach: 2e15 };
        assert_eq!(space.insert(&enormous, Mobility::Fixed, 0), Err(refusal), "{}", kind.name());
        assert_eq!(space.update(id, &enormous), Err(refusal), "{}", kind.name());
        assert_eq!((space.bounds(id), space.proxies().len()), (Ok(cube(DVec3::ZERO)), 1), "{}", kind.name());
        space.step(1, &mut PairChanges::default());
        assert_eq!(space.pair_count(), 0);
    }
}
