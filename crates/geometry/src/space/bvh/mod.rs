//! The dynamic wide tree of boxes, the space for everyday use.
//!
//! - Moving and fixed boxes have a tree each ([`tree`]), four boxes to a node, in single precision rounded
//!   outwards ([`box32`](super::box32)).
//! - Moving boxes are enlarged: by a little on all sides, and ahead by some steps of the way they went last.
//!   As long as a box stays within its enlarged one there is no work. Candidates are the overlaps of enlarged
//!   boxes.
//! - A step fits the trees to the boxes that left ([`maintain`]), searches new and lost pairs of only these
//!   ([`pairs`]), and writes them to the lists of neighbours ([`neighbors`]).
//!
//! Pairs of a fixed box that comes, moves or goes are found by the moving boxes it overlaps, which count as
//! touched then.

mod build;
mod maintain;
mod neighbors;
mod pairs;
mod query;
mod state;
mod tree;

use std::ops::ControlFlow;

use glam::DVec3;

use super::forward::forward;
use super::interface::{visit_along, visit_near};
use super::{
    Candidates, Mobility, Pair, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair,
};
use crate::Aabb;
use crate::box32::Box32;
use crate::primitive::Ray;
use maintain::Upkeep;
use neighbors::Neighbors;
use pairs::{View, Worker};
use state::State;
use tree::Tree;

/// So many lists of neighbours are fetched at once.
const BATCH: usize = 32;

/// How far boxes are enlarged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DynamicBvhSettings {
    /// On all sides, by this fraction of a box's longest side.
    pub margin: f32,
    /// Ahead, by this many times the way of the last step.
    pub lookahead: f32,
    /// Ahead at most by this fraction of the longest side; faster boxes are not enlarged ahead at all, for
    /// they leave in each step anyway.
    pub max_lookahead: f32,
    /// Boxes are stored relative to this point; single precision is finest around it.
    pub origin: DVec3,
}

impl Default for DynamicBvhSettings {
    fn default() -> Self {
        Self { margin: 0.03, lookahead: 8.0, max_lookahead: 0.5, origin: DVec3::ZERO }
    }
}

impl DynamicBvhSettings {
    fn check(&self) -> Result<(), SpaceError> {
        let named =
            [("margin", self.margin), ("lookahead", self.lookahead), ("max_lookahead", self.max_lookahead)];
        for (name, value) in named {
            if !(0.0..=1000.0).contains(&value) {
                let allowed = "between 0 and 1000";
                return Err(SpaceError::Setting { name, value: f64::from(value), allowed });
            }
        }
        let far = self.origin.abs().max_element();
        if !(far <= super::MAX_REACH) || !self.origin.is_finite() {
            return Err(SpaceError::Setting {
                name: "origin",
                value: far,
                allowed: "at most MAX_REACH away",
            });
        }
        Ok(())
    }
}

/// The dynamic wide tree.
#[derive(Clone, Debug, Default)]
pub struct DynamicBvh {
    settings: DynamicBvhSettings,
    table: ProxyTable,
    /// Enlarged box of each index.
    boxes: Vec<Box32>,
    states: Vec<State>,
    moving: Side,
    fixed: Side,
    /// Where fixed boxes were or are that changed since the last step.
    unsettled: Vec<Box32>,
    neighbors: Neighbors,
    /// Whether the trees contain every box, touched ones included.
    trees_current: bool,
    pair_count: usize,
    workers: Vec<Worker>,
    counters: SpaceCounters,
}

/// A tree, and what changed in it since the last step.
#[derive(Clone, Debug, Default)]
struct Side {
    tree: Tree,
    upkeep: Upkeep,
    touched: Vec<u32>,
    /// Boxes of the touched, in their order, while a step lasts.
    fresh: Vec<Box32>,
    /// Room to sort what was touched.
    order: Vec<u64>,
}

impl Side {
    /// Brings the touched into the order of the tree: neighbours in space follow each other, for cache
    /// locality. New boxes go last.
    fn sort_by_place(&mut self, boxes: &[Box32]) {
        let Self { tree, touched, fresh, order, .. } = self;
        order.clear();
        let place = |index: u32| u64::from(tree.slot(index).unwrap_or(tree::NO_SLOT));
        order.extend(touched.iter().map(|&index| place(index) << 32 | u64::from(index)));
        order.sort_unstable();
        touched.clear();
        touched.extend(order.iter().map(|&key| key as u32));
        fresh.clear();
        fresh.extend(touched.iter().map(|&index| boxes[index as usize]));
    }
}

impl DynamicBvh {
    /// Settings ⇒ space.
    pub fn new(settings: DynamicBvhSettings) -> Result<Self, SpaceError> {
        settings.check()?;
        Ok(Self { settings, ..Self::default() })
    }

    fn touch(&mut self, index: u32) {
        self.trees_current = false;
        if self.states[index as usize].touch() {
            let side = if self.table.is_moving(index) { &mut self.moving } else { &mut self.fixed };
            side.touched.push(index);
        }
    }

    /// Marks moving boxes that overlap a changed fixed box as touched.
    fn unsettle(&mut self) {
        let (mut stack, mut hits) = (Vec::new(), Vec::new());
        for &bounds in &self.unsettled {
            if self.moving.touched.len() >= self.moving.tree.leaves {
                break;
            }
            let _ = query::overlapping(&self.moving.tree, 0, bounds, &mut stack, |index| {
                hits.push(index);
                ControlFlow::Continue(())
            });
            for index in hits.drain(..) {
                if self.states[index as usize].touch() {
                    self.moving.touched.push(index);
                    self.moving.fresh.push(self.boxes[index as usize]);
                }
            }
        }
        self.unsettled.clear();
    }

    /// Brings both trees up to date ⇒ whether the moving tree's lanes are marked.
    fn maintain(&mut self) -> bool {
        let Self { boxes, states, moving, fixed, counters, .. } = self;
        let alive = |index: u32| states[index as usize].is_alive();
        let moved = |index: u32| states[index as usize].is_touched();
        let never = |_: u32| false;
        moving.sort_by_place(boxes);
        fixed.sort_by_place(boxes);
        let Side { tree, upkeep, touched, fresh, .. } = moving;
        let marked = upkeep.apply(tree, (touched, fresh), boxes, alive, moved, counters);
        let Side { tree, upkeep, touched, fresh, .. } = fixed;
        upkeep.apply(tree, (touched, fresh), boxes, alive, never, counters);
        let before = moving.touched.len();
        self.unsettle();
        if marked && self.moving.touched.len() > before {
            let states = &self.states;
            self.moving.tree.refit(&|index| states[index as usize].is_touched());
        }
        marked
    }

    /// Writes what the workers found to the neighbours and to `changes`.
    fn settle(&mut self, changes: &mut PairChanges) {
        let Some((all, others)) = self.workers.split_first_mut() else { return };
        for worker in others {
            all.appeared.append(&mut worker.appeared);
            all.vanished.append(&mut worker.vanished);
            all.nodes_visited += std::mem::take(&mut worker.nodes_visited);
            all.box_tests += std::mem::take(&mut worker.box_tests);
        }
        all.appeared.sort_unstable();
        all.vanished.sort_unstable();
        let Self { table, neighbors, states, .. } = self;
        let moves = |index: u32| states[index as usize].is_moving();
        for (keys, change) in [
            (&all.vanished, Neighbors::drop as fn(&mut Neighbors, u32, u32)),
            (&all.appeared, Neighbors::add),
        ] {
            for keys in keys.chunks(BATCH) {
                for &key in keys {
                    neighbors.prefetch(pair::indices(key).1);
                }
                for &key in keys {
                    let (a, b) = pair::indices(key);
                    for (one, other) in [(a, b), (b, a)] {
                        if moves(one) {
                            change(neighbors, one, other);
                        }
                    }
                }
            }
        }
        self.pair_count = self.pair_count + all.appeared.len() - all.vanished.len();
        changes.appeared.extend(all.appeared.iter().map(|&key| pair::pair(table, key)));
        changes.vanished.extend(all.vanished.iter().map(|&key| pair::pair(table, key)));
        self.counters.nodes_visited += std::mem::take(&mut all.nodes_visited);
        self.counters.box_tests += std::mem::take(&mut all.box_tests);
    }

    /// Boxes that are not in the trees yet.
    fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        let touched = self.moving.touched.iter().chain(&self.fixed.touched);
        touched.copied().filter(|&index| !self.trees_current && self.table.is_alive(index))
    }

    /// Whether the trees contain every box.
    fn is_settled(&self) -> bool {
        self.trees_current || (self.moving.touched.is_empty() && self.fixed.touched.is_empty())
    }
}

/// The box around a box and where it may be soon.
fn enlarged(tight: Box32, way: glam::Vec4, settings: &DynamicBvhSettings) -> Box32 {
    let sides = tight.high - tight.low;
    let longest = sides.x.max(sides.y).max(sides.z);
    let most = settings.max_lookahead * longest;
    let way = if way.truncate().abs().max_element() <= most { way } else { glam::Vec4::ZERO };
    let ahead = (way * settings.lookahead).clamp(glam::Vec4::splat(-most), glam::Vec4::splat(most));
    let margin = settings.margin * longest;
    Box32 {
        low: tight.low - margin + ahead.min(glam::Vec4::ZERO),
        high: tight.high + margin + ahead.max(glam::Vec4::ZERO),
    }
}

impl Space for DynamicBvh {
    fn name(&self) -> &'static str {
        "dynamic-bvh"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Enlarged
    }

    forward!(proxies, counters);

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        let tight = Box32::outward(bounds, self.settings.origin);
        let own = match mobility {
            Mobility::Moving => enlarged(tight, glam::Vec4::ZERO, &self.settings),
            Mobility::Fixed => tight,
        };
        self.insert_as(bounds, own, mobility, user)
    }

    fn enlarged(&self, id: ProxyId) -> Result<Aabb, SpaceError> {
        let own = self.boxes[self.table.find(id)? as usize];
        let [low, high] = [own.low, own.high].map(|corner| corner.truncate().as_dvec3());
        let reported = Aabb::new(low + self.settings.origin, high + self.settings.origin);
        Ok(reported.unwrap_or(*self.table.bounds(id.index())))
    }

    fn insert_enlarged(
        &mut self,
        bounds: &Aabb,
        enlarged: &Aabb,
        mobility: Mobility,
        user: u64,
    ) -> Result<ProxyId, SpaceError> {
        let tight = Box32::outward(bounds, self.settings.origin);
        let corner = |p: DVec3| (p - self.settings.origin).as_vec3().extend(0.0);
        let own = Box32 { low: corner(enlarged.min()), high: corner(enlarged.max()) };
        let own = if own.contains(tight) { own } else { own.union(tight) };
        self.insert_as(bounds, own, mobility, user)
    }

    fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(), SpaceError> {
        let (index, old) = self.table.update(id, bounds)?;
        let tight = Box32::outward(bounds, self.settings.origin);
        let own = &mut self.boxes[index as usize];
        if self.table.is_moving(index) {
            if own.contains(tight) {
                return Ok(());
            }
            let way = (0.5 * ((bounds.min() - old.min()) + (bounds.max() - old.max()))).as_vec3().extend(0.0);
            *own = enlarged(tight, way, &self.settings);
        } else {
            self.unsettled.extend([*own, tight]);
            *own = tight;
        }
        self.touch(index);
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), SpaceError> {
        let index = self.table.remove(id)?;
        self.touch(index);
        self.states[index as usize].leave();
        if !self.table.is_moving(index) {
            self.unsettled.push(self.boxes[index as usize]);
        }
        Ok(())
    }

    fn build(&mut self) {
        for moving in [true, false] {
            let side = if moving { &mut self.moving } else { &mut self.fixed };
            // Removed boxes stay until the next step reports their pairs.
            for &index in side.touched.iter().filter(|&&index| !self.table.is_alive(index)) {
                side.tree.remove(index);
            }
            let all = self.table.indices().filter(|&index| self.table.is_moving(index) == moving);
            side.upkeep.rebuild(&mut side.tree, all, &self.boxes, &mut self.counters);
        }
        self.trees_current = true;
    }

    fn step(&mut self, threads: usize, changes: &mut PairChanges) {
        changes.clear();
        let marked = self.maintain();
        let threads = threads.clamp(1, 256);
        if self.workers.len() < threads {
            self.workers.resize_with(threads, Worker::default);
        }
        let view = View {
            boxes: &self.boxes,
            moving: &self.moving.tree,
            fixed: &self.fixed.tree,
            neighbors: &self.neighbors,
            states: &self.states,
            touched: &self.moving.touched,
            fresh: &self.moving.fresh,
        };
        if !view.touched.is_empty() {
            pairs::find(&view, marked, &mut self.workers[..threads]);
            self.settle(changes);
        }
        for side in [&mut self.moving, &mut self.fixed] {
            for index in side.touched.drain(..) {
                self.states[index as usize].settle();
            }
        }
        self.table.recycle();
    }

    fn pair_count(&self) -> usize {
        self.pair_count
    }

    fn for_each_pair(&self, visit: &mut dyn FnMut(Pair)) {
        for index in 0..self.table.slot_count() as u32 {
            for &other in self.neighbors.of(index) {
                if other > index || !self.table.is_moving(other) {
                    visit(pair::pair(&self.table, pair::key(index, other)));
                }
            }
        }
    }

    fn overlapping(&self, bounds: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let settled = self.is_settled();
        let mut look = |index: u32| {
            if self.table.bounds(index).overlaps(bounds) {
                visit(self.table.id(index))
            } else {
                ControlFlow::Continue(())
            }
        };
        for index in self.pending() {
            if look(index).is_break() {
                return;
            }
        }
        let mut stack = Vec::with_capacity(64);
        let within = Box32::outward(bounds, self.settings.origin);
        for side in [&self.moving, &self.fixed] {
            let (_, flow) = query::overlapping(&side.tree, 0, within, &mut stack, |index| {
                if settled || !self.states[index as usize].is_touched() {
                    look(index)
                } else {
                    ControlFlow::Continue(())
                }
            });
            if flow.is_break() {
                return;
            }
        }
    }

    fn along_ray(&self, ray: &Ray, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let sieve = query::Sieve::new(ray);
        let wide = query::WideRay::new(ray, self.settings.origin);
        self.visit_nearby(ray.origin(), limit, &wide, |index, limit| {
            if sieve.misses(self.table.bounds(index), *limit) {
                return ControlFlow::Continue(());
            }
            visit_along(&self.table, index, ray, limit, visit)
        });
    }

    fn nearest(&self, point: DVec3, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let wide = query::WidePoint::new(point, self.settings.origin);
        self.visit_nearby(point, limit, &wide, |index, limit| {
            visit_near(&self.table, index, point, limit, visit)
        });
    }
}

impl DynamicBvh {
    /// Stores a box with its enlarged one.
    fn insert_as(
        &mut self,
        bounds: &Aabb,
        own: Box32,
        mobility: Mobility,
        user: u64,
    ) -> Result<ProxyId, SpaceError> {
        let id = self.table.insert(bounds, mobility, user)?;
        let count = self.table.slot_count();
        if self.boxes.len() < count {
            self.boxes.resize(count, own);
            self.states.resize(count, State::default());
            self.neighbors.reserve(count);
        }
        self.boxes[id.index() as usize] = own;
        self.states[id.index() as usize] = State::new(mobility == Mobility::Moving);
        self.touch(id.index());
        if mobility == Mobility::Fixed {
            self.unsettled.push(own);
        }
        Ok(id)
    }
}

impl DynamicBvh {
    /// Visits every box that may lie within a limit of a point, roughly from near to far: first those not in
    /// the trees yet, and all of them linearly if the point is beyond single precision.
    #[inline(always)]
    fn visit_nearby(
        &self,
        from: DVec3,
        mut limit: f64,
        measure: &impl query::Measure,
        mut look: impl FnMut(u32, &mut f64) -> ControlFlow<()>,
    ) {
        let settled = self.is_settled();
        let trees = query::within_reach(from, self.settings.origin);
        let singly: &mut dyn Iterator<Item = u32> =
            if trees { &mut self.pending() } else { &mut self.table.indices() };
        for index in singly {
            if look(index, &mut limit).is_break() {
                return;
            }
        }
        for side in [&self.moving, &self.fixed].into_iter().filter(|_| trees) {
            let flow = query::descend(&side.tree, &mut limit, measure, |index, limit| {
                if settled || !self.states[index as usize].is_touched() {
                    look(index, limit)
                } else {
                    ControlFlow::Continue(())
                }
            });
            if flow.is_break() {
                return;
            }
        }
    }
}
