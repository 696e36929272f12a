//! Interface of all broad phases.
//!
//! A space holds boxes under opaque ids and the pairs of them that may touch. Boxes are inserted, moved and
//! removed between steps; a step updates the structure and reports which pairs began and ended. For
//! continuous detection the caller passes the box around the whole motion, `start.union(&end)`.
//!
//! Queries test the boxes as last set, exactly and in double precision, before and after a step alike; boxes
//! changed since the last step are tested linearly.

use std::fmt::Debug;
use std::ops::ControlFlow;

use glam::DVec3;

use super::{Mobility, Pair, PairChanges, ProxyId, ProxyTable, SpaceError, everywhere};
use crate::Aabb;
use crate::primitive::{Ray, slab_interval};

/// How candidates relate to the boxes as set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Exactly the pairs of overlapping boxes.
    Exact,
    /// All of them and some that come close: boxes are enlarged or cells are shared.
    Enlarged,
}

/// Work done by the steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceCounters {
    /// Cell entries inserted, removed or looked up.
    pub cell_operations: u64,
    /// Box against box.
    pub box_tests: u64,
    /// Tree nodes visited in the pair search.
    pub nodes_visited: u64,
    /// Leaves given a new box.
    pub refits: u64,
    /// Boxes sorted into a tree anew, or cells built anew.
    pub rebuilds: u64,
    /// Neighbours exchanged while sorting.
    pub swaps: u64,
}

impl std::ops::AddAssign for SpaceCounters {
    fn add_assign(&mut self, other: Self) {
        self.cell_operations += other.cell_operations;
        self.box_tests += other.box_tests;
        self.nodes_visited += other.nodes_visited;
        self.refits += other.refits;
        self.rebuilds += other.rebuilds;
        self.swaps += other.swaps;
    }
}

/// Boxes under ids, and which of them may touch.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::Aabb;
/// use rattleback_geometry::space::{Mobility, PairChanges, SpaceKind};
/// let mut space = SpaceKind::default().create();
/// let unit = Aabb::new(DVec3::ZERO, DVec3::ONE)?;
/// let ground = space.insert(&unit.swept(DVec3::X * 9.0)?, Mobility::Fixed, 0)?;
/// let stone = space.insert(&unit.swept(DVec3::Z * 5.0)?, Mobility::Moving, 1)?;
/// let mut changes = PairChanges::default();
/// space.step(1, &mut changes);
/// assert_eq!((changes.appeared[0].a, changes.appeared[0].b), (ground, stone));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Space: Debug + Send + Sync {
    /// Its name in the list of [`SpaceKind`](super::SpaceKind).
    fn name(&self) -> &'static str;

    /// Whether candidates are exact.
    fn candidates(&self) -> Candidates;

    /// The boxes by id.
    fn proxies(&self) -> &ProxyTable;

    /// (box, mobility, user data) ⇒ id.
    fn insert(&mut self, bounds: &Aabb, mobility: Mobility, user: u64) -> Result<ProxyId, SpaceError>;

    /// Gives a box a new place.
    fn update(&mut self, id: ProxyId, bounds: &Aabb) -> Result<(), SpaceError>;

    /// Takes a box out; its pairs vanish in the next step.
    fn remove(&mut self, id: ProxyId) -> Result<(), SpaceError>;

    /// [`insert`](Self::insert) of a box that may be unbounded (None) or reach beyond
    /// [`MAX_REACH`](super::MAX_REACH): it gets the box [`everywhere`], so that its pairs stay complete.
    ///
    /// # Errors
    /// If the space is full.
    fn insert_or_everywhere(
        &mut self,
        bounds: Option<&Aabb>,
        mobility: Mobility,
        user: u64,
    ) -> Result<ProxyId, SpaceError> {
        match bounds.map(|bounds| self.insert(bounds, mobility, user)) {
            None | Some(Err(SpaceError::Enormous { .. })) => self.insert(&everywhere(), mobility, user),
            Some(result) => result,
        }
    }

    /// [`update`](Self::update) to a box that may be unbounded (None) or reach beyond
    /// [`MAX_REACH`](super::MAX_REACH): it becomes [`everywhere`].
    ///
    /// # Errors
    /// If there is no such id.
    fn update_or_everywhere(&mut self, id: ProxyId, bounds: Option<&Aabb>) -> Result<(), SpaceError> {
        match bounds.map(|bounds| self.update(id, bounds)) {
            None | Some(Err(SpaceError::Enormous { .. })) => self.update(id, &everywhere()),
            Some(result) => result,
        }
    }

    /// Rebuilds the structure at full quality; useful after inserting many boxes.
    fn build(&mut self);

    /// Brings the structure and the candidates up to date ⇒ what changed since the last step. The number of
    /// threads (at least 1) does not show in the result.
    fn step(&mut self, threads: usize, changes: &mut PairChanges);

    /// Number of candidates after the last step.
    fn pair_count(&self) -> usize;

    /// Visits the candidates after the last step, in no particular order.
    fn for_each_pair(&self, visit: &mut dyn FnMut(Pair));

    /// Work done so far.
    fn counters(&self) -> SpaceCounters;

    /// Candidates after the last step, sorted.
    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::with_capacity(self.pair_count());
        self.for_each_pair(&mut |pair| pairs.push(pair));
        pairs.sort_unstable();
        pairs
    }

    /// Visits every box that shares a point with `bounds`, in no particular order, until the visitor stops.
    fn overlapping(&self, bounds: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let table = self.proxies();
        for index in table.indices() {
            if table.bounds(index).overlaps(bounds) && visit(table.id(index)).is_break() {
                return;
            }
        }
    }

    /// Visits the boxes that a ray hits within `limit`, with the distance at which it enters them (0 inside),
    /// in no particular order. The visitor returns the new limit: usually the nearest hit so far.
    fn along_ray(&self, ray: &Ray, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let table = self.proxies();
        let mut limit = limit;
        for index in table.indices() {
            if visit_along(table, index, ray, &mut limit, visit).is_break() {
                return;
            }
        }
    }

    /// Visits the boxes within `limit` of a point, with their distance (0 inside), in no particular order.
    /// The visitor returns the new limit: usually the nearest so far.
    fn nearest(&self, point: DVec3, limit: f64, visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>) {
        let table = self.proxies();
        let mut limit = limit;
        for index in table.indices() {
            if visit_near(table, index, point, &mut limit, visit).is_break() {
                return;
            }
        }
    }

    /// The box whose overlaps are reported: that of an id, possibly enlarged.
    fn enlarged(&self, id: ProxyId) -> Result<Aabb, SpaceError> {
        self.bounds(id)
    }

    /// [`insert`](Self::insert) with the result of [`enlarged`](Self::enlarged) for the box in another space
    /// of this kind: the pairs to come are then the same in both.
    fn insert_enlarged(
        &mut self,
        bounds: &Aabb,
        _enlarged: &Aabb,
        mobility: Mobility,
        user: u64,
    ) -> Result<ProxyId, SpaceError> {
        self.insert(bounds, mobility, user)
    }

    /// Box of an id.
    fn bounds(&self, id: ProxyId) -> Result<Aabb, SpaceError> {
        self.proxies().find(id).map(|index| *self.proxies().bounds(index))
    }

    /// User data of an id.
    fn user(&self, id: ProxyId) -> Result<u64, SpaceError> {
        self.proxies().find(id).map(|index| self.proxies().user(index))
    }
}

/// Tests one box against the ray; if hit, the visitor sets the new limit.
#[inline]
pub(super) fn visit_along(
    table: &ProxyTable,
    index: u32,
    ray: &Ray,
    limit: &mut f64,
    visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>,
) -> ControlFlow<()> {
    if let Some([enter, _]) = slab_interval(ray.origin(), ray.direction(), *limit, table.bounds(index)) {
        *limit = narrowed(*limit, visit(table.id(index), enter))?;
    }
    ControlFlow::Continue(())
}

/// Tests the distance of one box; if within the limit, the visitor sets the new limit.
#[inline]
pub(super) fn visit_near(
    table: &ProxyTable,
    index: u32,
    point: DVec3,
    limit: &mut f64,
    visit: &mut dyn FnMut(ProxyId, f64) -> ControlFlow<(), f64>,
) -> ControlFlow<()> {
    let distance = table.bounds(index).distance(point);
    if distance <= *limit {
        *limit = narrowed(*limit, visit(table.id(index), distance))?;
    }
    ControlFlow::Continue(())
}

/// The visitor's new limit, which cannot exceed the old one.
fn narrowed(limit: f64, answer: ControlFlow<(), f64>) -> ControlFlow<(), f64> {
    match answer {
        ControlFlow::Continue(new) => ControlFlow::Continue(limit.min(new)),
        ControlFlow::Break(()) => ControlFlow::Break(()),
    }
}
