//! The kd-tree of partitions.
//!
//! A node is a part of space, cut in two along the axis on which the centres of its boxes are spread most, in
//! their middle. A box lies in the deepest node that holds it wholly: below the cut if its maximum is smaller
//! than the cut, above if its minimum is not. Two boxes can only overlap if the node of one lies below (or
//! is) that of the other.
//!
//! A box that leaves its part goes up until it is held, and one that would fit a child goes down by one level
//! when it is moved. If a quarter of the boxes lie higher than necessary, or after some steps, the tree is
//! rebuilt.

use std::ops::ControlFlow;

use glam::DVec3;

use super::forward::forward;
use super::interface::{visit_along, visit_near};
use super::pair::SortedPairs;
use super::{Candidates, Mobility, PairChanges, ProxyId, ProxyTable, Space, SpaceCounters, SpaceError, pair};
use crate::Aabb;
use crate::primitive::Ray;

/// Settings of the kd-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KdTreeSettings {
    /// Parts are not cut below this depth.
    pub max_depth: u32,
    /// Parts with fewer boxes are not cut.
    pub min_boxes: usize,
    /// Steps after which the tree is rebuilt.
    pub rebuild_interval: u32,
}

impl Default for KdTreeSettings {
    fn default() -> Self {
        Self { max_depth: 24, min_boxes: 6, rebuild_interval: 64 }
    }
}

#[derive(Clone, Debug)]
struct Node {
    parent: u32,
    /// Below and above the cut; 0 for a leaf.
    children: [u32; 2],
    axis: usize,
    cut: f64,
    low: DVec3,
    high: DVec3,
    inside: Vec<u32>,
}

impl Node {
    fn holds(&self, bounds: &Aabb) -> bool {
        bounds.min().cmpge(self.low).all() && bounds.max().cmplt(self.high).all()
    }

    /// The child that a box fits into.
    fn child_for(&self, bounds: &Aabb) -> Option<u32> {
        if self.children[0] == 0 {
            None
        } else if bounds.max()[self.axis] < self.cut {
            Some(self.children[0])
        } else if bounds.min()[self.axis] >= self.cut {
            Some(self.children[1])
        } else {
            None
        }
    }
}

const NOWHERE: u32 = u32::MAX;

/// Space cut in two, again and again.
#[derive(Clone, Debug, Default)]
pub struct KdTree {
    settings: KdTreeSettings,
    table: ProxyTable,
    nodes: Vec<Node>,
    /// Node and place in its list of each index.
    places: Vec<(u32, u32)>,
    /// Whether a box lies higher than necessary.
    is_parked: Vec<bool>,
    parked: usize,
    built_for: usize,
    age: u32,
    pairs: SortedPairs,
    counters: SpaceCounters,
}

impl KdTree {
    /// Settings ⇒ space.
    pub fn new(settings: KdTreeSettings) -> Result<Self, SpaceError> {
        if settings.max_depth > 64 {
            let value = f64::from(settings.max_depth);
            return Err(SpaceError::Setting { name: "max_depth", value, allowed: "at most 64" });
        }
        if settings.rebuild_interval == 0 {
            return Err(SpaceError::Setting { name: "rebuild_interval", value: 0.0, allowed: "at least 1" });
        }
        Ok(Self { settings, ..Self::default() })
    }

    fn put(&mut self, index: u32, node: u32) {
        let inside = &mut self.nodes[node as usize].inside;
        self.places[index as usize] = (node, inside.len() as u32);
        inside.push(index);
    }

    fn take(&mut self, index: u32) {
        let (node, place) = std::mem::replace(&mut self.places[index as usize], (NOWHERE, 0));
        if node == NOWHERE {
            return;
        }
        let inside = &mut self.nodes[node as usize].inside;
        inside.swap_remove(place as usize);
        if let Some(&moved) = inside.get(place as usize) {
            self.places[moved as usize].1 = place;
        }
        self.set_parked(index, false);
    }

    fn set_parked(&mut self, index: u32, now: bool) {
        let before = std::mem::replace(&mut self.is_parked[index as usize], now);
        self.parked = self.parked + usize::from(now) - usize::from(before);
    }

    /// Up as far as needed, else down by one.
    fn migrate(&mut self, index: u32, from: u32) {
        let bounds = *self.table.bounds(index);
        let mut node = from;
        while !self.nodes[node as usize].holds(&bounds) && node != 0 {
            node = self.nodes[node as usize].parent;
        }
        if node == from
            && let Some(child) = self.nodes[node as usize].child_for(&bounds)
        {
            node = child;
        }
        if self.places[index as usize].0 != node {
            self.take(index);
            self.put(index, node);
            self.counters.refits += 1;
        }
        let higher = self.nodes[node as usize].child_for(&bounds).is_some();
        self.set_parked(index, higher);
    }

    fn rebuild(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node {
            parent: 0,
            children: [0; 2],
            axis: 0,
            cut: 0.0,
            low: DVec3::NEG_INFINITY,
            high: DVec3::INFINITY,
            inside: Vec::new(),
        });
        self.places.fill((NOWHERE, 0));
        self.is_parked.fill(false);
        (self.parked, self.age, self.built_for) = (0, 0, self.table.len());
        self.counters.rebuilds += 1;
        let all: Vec<u32> = self.table.indices().collect();
        let mut open = vec![(0u32, all, 0)];
        while let Some((at, mut inside, depth)) = open.pop() {
            let cut = if depth < self.settings.max_depth { self.cut(&mut inside) } else { None };
            let Some((axis, cut)) = cut else {
                for index in inside {
                    self.put(index, at);
                }
                continue;
            };
            let first = self.nodes.len() as u32;
            let node = &mut self.nodes[at as usize];
            (node.axis, node.cut, node.children) = (axis, cut, [first, first + 1]);
            let (low, high) = (node.low, node.high);
            let mut halves = [Vec::new(), Vec::new()];
            for side in 0..2 {
                let mut child =
                    Node { parent: at, children: [0; 2], axis: 0, cut: 0.0, low, high, inside: Vec::new() };
                if side == 0 {
                    child.high[axis] = cut;
                } else {
                    child.low[axis] = cut;
                }
                self.nodes.push(child);
            }
            for index in inside {
                match self.nodes[at as usize].child_for(self.table.bounds(index)) {
                    Some(child) => halves[(child - first) as usize].push(index),
                    None => self.put(index, at),
                }
            }
            for (k, half) in halves.into_iter().enumerate() {
                open.push((first + k as u32, half, depth + 1));
            }
        }
    }

    /// Axis and coordinate of a cut that puts something on both sides.
    fn cut(&self, inside: &mut [u32]) -> Option<(usize, f64)> {
        if inside.len() < self.settings.min_boxes.max(2) {
            return None;
        }
        let center = |index: u32| self.table.bounds(index).center();
        let centers = Aabb::from_points(inside.iter().map(|&index| center(index))).ok()?;
        let spread = centers.extents();
        let axis = (0..3).fold(0, |best, axis| if spread[axis] > spread[best] { axis } else { best });
        let half = inside.len() / 2;
        inside.select_nth_unstable_by(half, |&a, &b| {
            center(a)[axis].total_cmp(&center(b)[axis]).then(a.cmp(&b))
        });
        let cut = center(inside[half])[axis];
        let side = |below: bool| {
            let bounds = |index: &&u32| self.table.bounds(**index);
            inside.iter().any(|index| {
                if below { bounds(&index).max()[axis] < cut } else { bounds(&index).min()[axis] >= cut }
            })
        };
        (side(true) || side(false)).then_some((axis, cut))
    }

    /// Visits the boxes of a node and of those below it that a box may overlap.
    fn below(
        &self,
        bounds: &Aabb,
        from: u32,
        look: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let node = &self.nodes[from as usize];
        node.inside.iter().try_for_each(|&index| look(index))?;
        self.children(bounds, node, look)
    }

    fn children(
        &self,
        bounds: &Aabb,
        node: &Node,
        look: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if node.children[0] != 0 {
            if bounds.min()[node.axis] < node.cut {
                self.below(bounds, node.children[0], look)?;
            }
            if bounds.max()[node.axis] >= node.cut {
                self.below(bounds, node.children[1], look)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn find_pairs(&mut self) {
        let mut found = std::mem::take(&mut self.pairs.next);
        let mut tests = 0;
        for node in &self.nodes {
            for (k, &index) in node.inside.iter().enumerate() {
                let bounds = self.table.bounds(index);
                let moves = self.table.is_moving(index);
                let mut look = |other: u32| {
                    tests += 1;
                    let moving = moves || self.table.is_moving(other);
                    if moving && bounds.overlaps(self.table.bounds(other)) {
                        found.push(pair::key(index, other));
                    }
                    ControlFlow::Continue(())
                };
                let _ = node.inside[k + 1..].iter().try_for_each(|&other| look(other));
                let _ = self.children(bounds, node, &mut look);
            }
        }
        self.counters.box_tests += tests;
        self.pairs.next = found;
    }

    /// The part of the ray with t in [begin, end], front to back.
    fn ray_below(
        &self,
        ray: &Ray,
        from: u32,
        (begin, end): (f64, f64),
        limit: &mut f64,
        look: &mut dyn FnMut(u32, &mut f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if begin > *limit {
            return ControlFlow::Continue(());
        }
        let node = &self.nodes[from as usize];
        node.inside.iter().try_for_each(|&index| look(index, limit))?;
        if node.children[0] == 0 {
            return ControlFlow::Continue(());
        }
        let (o, d) = (ray.origin()[node.axis], ray.direction()[node.axis]);
        let first = usize::from(o >= node.cut);
        let crossing = (node.cut - o) / d;
        // Rounding may put the crossing a little early or late.
        let slack = 1e-9 * (1.0 + crossing.abs());
        let (near, far) = (node.children[first], node.children[1 - first]);
        // Along or away from the cut, only the near side is hit; but a ray on the cut itself touches both.
        if !(crossing >= -slack) && crossing.is_finite() || !crossing.is_finite() && o != node.cut {
            return self.ray_below(ray, near, (begin, end), limit, look);
        }
        if !crossing.is_finite() {
            self.ray_below(ray, near, (begin, end), limit, look)?;
            return self.ray_below(ray, far, (begin, end), limit, look);
        }
        if begin <= crossing + slack {
            self.ray_below(ray, near, (begin, end.min(crossing + slack)), limit, look)?;
        }
        if end >= crossing - slack {
            self.ray_below(ray, far, (begin.max(crossing - slack), end), limit, look)?;
        }
        ControlFlow::Continue(())
    }
}

impl Space for KdTree {
    fn name(&self) -> &'static str {
        "kd-tree"
    }

    fn candidates(&self) -> Candidates {
        Candidates::Exact
    }

    forward!(proxies, pairs, counters);

    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError> {
        if self.nodes.is_empty() {
            self.rebuild();
        }
        let id = self.table.insert(bounds, mobility, user)?;
        let count = self.table.slot_count();
        self.places.resize(count, (NOWHERE, 0));
        self.is_parked.resize(count, false);
        let mut node = 0;
        while let Some(child) = self.nodes[node as usize].child_for(bounds) {
            node = child;
        }
        self.put(id.index(), node);
        Ok(id)
    }

    fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(), SpaceError> {
        let (index, _) = self.table.update(id, bounds)?;
        self.migrate(index, self.places[index as usize].0);
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), SpaceError> {
        let index = self.table.remove(id)?;
        self.take(index);
        Ok(())
    }

    fn build(&mut self) {
        self.rebuild();
    }

    fn step(&mut self, _threads: usize, changes: &mut PairChanges) {
        self.age += 1;
        let count = self.table.len();
        let other = count > self.built_for + self.built_for / 4 || 2 * count < self.built_for;
        if other || self.parked * 4 > count || self.age > self.settings.rebuild_interval {
            self.rebuild();
        }
        self.find_pairs();
        self.pairs.replace(&self.table, changes);
        self.table.recycle();
    }

    fn overlapping(&self, bounds: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        if !self.nodes.is_empty() {
            let _ = self.below(bounds, 0, &mut |index| {
                let overlaps_bounds = self.table.bounds(index).overlaps(bounds);
                if overlaps_bounds { visit(self.table.id(index)) } else { ControlFlow::Continue(()) }
            });
        }
    }

    fn along_ray(&self, ray: &Ray, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let mut limit = limit;
        if !self.nodes.is_empty() {
            let mut look = |index: u32, limit: &mut f64| visit_along(&self.table, index, ray, limit, visit);
            let _ = self.ray_below(ray, 0, (0.0, f64::INFINITY), &mut limit, &mut look);
        }
    }

    fn nearest(&self, point: DVec3, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let (mut limit, mut open) = (limit, vec![(0.0, 0u32)]);
        if self.nodes.is_empty() || !point.is_finite() {
            return;
        }
        while let Some((distance, at)) = open.pop() {
            if !(distance <= limit) {
                continue;
            }
            let node = &self.nodes[at as usize];
            let mut inside = node.inside.iter();
            if inside
                .try_for_each(|&index| visit_near(&self.table, index, point, &mut limit, visit))
                .is_break()
            {
                return;
            }
            if node.children[0] != 0 {
                let gap = point[node.axis] - node.cut;
                let near = usize::from(gap >= 0.0);
                open.push((gap.abs().max(distance), node.children[1 - near]));
                open.push((distance, node.children[near]));
            }
        }
    }
}
