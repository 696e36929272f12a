//! How fast the dynamic tree finds pairs and casts rays, side by side with Parry's `Bvh`, Rapier's `BroadPhaseBvh` and, with the
//! feature `box3d`, Box3D's dynamic tree on the same boxes in the same run, all on one thread. Then what fixed boxes cost a
//! step, and how the cost of a moving box grows with their number.
//!
//! `cargo run --release --bin space_speed [--features box3d] [boxes …]`, or with `fixed` or `growth` for one of the last two.
//!
//! Rounds alternate, so that a busy machine slows all of them alike. A step is: every box gets its position, then pairs
//! are brought up to date. Work comes in bursts, so the mean counts for pairs; the least time is that of a quiet step. Ours
//! and Rapier's keep the set of pairs and report what changed, Box3D's is given a set to keep; Parry's alone only walks its tree.

use std::ops::{ControlFlow, Range};

use glam::DVec3;
use parry3d::bounding_volume::Aabb as PeerAabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use parry3d::query::{Ray as PeerRay, RayCast};
use rapier3d::geometry::BroadPhaseBvh;
use rapier3d::prelude::{
    BroadPhasePairEvent, ColliderBuilder, ColliderHandle, ColliderSet, IntegrationParameters,
    RigidBodyBuilder, RigidBodySet,
};
#[cfg(feature = "box3d")]
use rattleback_benchmarks::Box3dTree;
use rattleback_benchmarks::{Random, Times, print_rows, report, timed};
use rattleback_geometry::Aabb;
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::space::{DynamicBvh, Mobility, PairChanges, ProxyId, Space};

const STEPS: usize = 40;

/// Boxes of side 1 in a cube, each with its velocity in metres per step.
struct Gas {
    reach: f64,
    boxes: Vec<(DVec3, DVec3)>,
}

impl Gas {
    fn new(count: usize, room: f64, speed: f64) -> Self {
        let mut random = Random(count as u64);
        let reach = 0.5 * (count as f64 * room).cbrt();
        Self {
            reach,
            boxes: (0..count).map(|_| (reach * random.vector(), speed * random.vector())).collect(),
        }
    }

    fn advance(&mut self) {
        for (p, v) in &mut self.boxes {
            *p += *v;
            for axis in 0..3 {
                if p[axis].abs() > self.reach {
                    v[axis] = -p[axis].signum() * v[axis].abs();
                }
            }
        }
    }

    fn aabbs(&self) -> Vec<Aabb> {
        let cube = |p: &DVec3| Aabb::from_center(*p, DVec3::splat(0.5)).expect("finite");
        self.boxes.iter().map(|(p, _)| cube(p)).collect()
    }
}

fn peer_vector(p: DVec3) -> Vector {
    Vector::new(p.x as f32, p.y as f32, p.z as f32)
}

fn peer_box(b: &Aabb) -> PeerAabb {
    PeerAabb::new(peer_vector(b.min()), peer_vector(b.max()))
}

/// Ours.
struct Own {
    space: DynamicBvh,
    ids: Vec<ProxyId>,
    changes: PairChanges,
}

impl Own {
    fn new(boxes: &[Aabb]) -> Self {
        let mut space = DynamicBvh::default();
        let ids = boxes.iter().map(|b| space.insert(b, Mobility::Moving, 0).expect("finite")).collect();
        let mut changes = PairChanges::default();
        space.step(1, &mut changes);
        Self { space, ids, changes }
    }

    fn step(&mut self, boxes: &[Aabb]) -> usize {
        for (id, b) in self.ids.iter().zip(boxes) {
            self.space.update(*id, b).expect("known");
        }
        self.space.step(1, &mut self.changes);
        self.space.pair_count()
    }

    fn cast(&self, rays: &[Ray]) -> usize {
        let hit = |ray: &&Ray| {
            let mut nearest = f64::INFINITY;
            self.space.along_ray(ray, f64::INFINITY, &mut |_, t| {
                nearest = nearest.min(t);
                ControlFlow::Continue(nearest)
            });
            nearest.is_finite()
        };
        rays.iter().filter(hit).count()
    }
}

/// Parry's tree: refitted, optimised and walked in each step.
struct Parry {
    tree: Bvh,
    workspace: BvhWorkspace,
    boxes: Vec<PeerAabb>,
}

impl Parry {
    fn new(boxes: &[Aabb]) -> Self {
        let boxes: Vec<PeerAabb> = boxes.iter().map(peer_box).collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        Self { tree, workspace: BvhWorkspace::default(), boxes }
    }

    fn step(&mut self, boxes: &[Aabb]) -> usize {
        for (k, b) in boxes.iter().enumerate() {
            self.boxes[k] = peer_box(b);
            self.tree.insert_or_update_partially(self.boxes[k], k as u32, 0.05);
        }
        self.tree.optimize_incremental(&mut self.workspace);
        self.tree.refit(&mut self.workspace);
        let mut pairs = 0;
        self.tree
            .traverse_bvtt_single_tree::<true>(&mut self.workspace, &mut |a, b| pairs += usize::from(a != b));
        pairs
    }

    fn cast(&self, rays: &[PeerRay]) -> usize {
        let hit = |ray: &&PeerRay| {
            let leaf = |k: u32, limit: f32| self.boxes[k as usize].cast_local_ray(ray, limit, true);
            self.tree.cast_ray(ray, f32::MAX, leaf).is_some()
        };
        rays.iter().filter(hit).count()
    }
}

/// Rapier's broad phase, driven by hand.
struct Rapier {
    broad_phase: BroadPhaseBvh,
    parameters: IntegrationParameters,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    handles: Vec<ColliderHandle>,
    events: Vec<BroadPhasePairEvent>,
    pairs: isize,
}

impl Rapier {
    fn new(boxes: &[Aabb]) -> Self {
        let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
        let handles: Vec<_> = boxes
            .iter()
            .map(|b| {
                let body = bodies.insert(RigidBodyBuilder::dynamic().translation(peer_vector(b.center())));
                let h = b.half_extents().as_vec3();
                colliders.insert_with_parent(ColliderBuilder::cuboid(h.x, h.y, h.z), body, &mut bodies)
            })
            .collect();
        let mut this = Self {
            broad_phase: BroadPhaseBvh::new(),
            parameters: IntegrationParameters::default(),
            bodies,
            colliders,
            handles,
            events: Vec::new(),
            pairs: 0,
        };
        let all = this.handles.clone();
        this.update(&all);
        this
    }

    fn update(&mut self, modified: &[ColliderHandle]) {
        self.events.clear();
        self.broad_phase.update(
            &self.parameters,
            &self.colliders,
            &self.bodies,
            modified,
            &[],
            &mut self.events,
        );
        for event in &self.events {
            self.pairs += if matches!(event, BroadPhasePairEvent::AddPair(_)) { 1 } else { -1 };
        }
    }

    fn step(&mut self, boxes: &[Aabb]) -> usize {
        for (handle, b) in self.handles.iter().zip(boxes) {
            self.broad_phase.set_aabb(&self.parameters, *handle, peer_box(b));
        }
        self.update(&[]);
        self.pairs.unsigned_abs()
    }
}

/// Boxes of side 1 moved and queried by one library, in milliseconds.
struct Row<'a> {
    name: &'static str,
    step: Box<dyn FnMut(&[Aabb]) -> usize + 'a>,
    times: Times,
    answer: usize,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, step: impl FnMut(&[Aabb]) -> usize + 'a) -> Self {
        Self { name, step: Box::new(step), times: Times::default(), answer: 0 }
    }
}

fn print(title: &str, rows: Vec<Row>) {
    let rows: Vec<_> = rows.into_iter().map(|row| (row.name, row.times, row.answer)).collect();
    report(title, &rows);
}

fn pairs_and_rays(title: &str, mut gas: Gas) {
    let boxes = gas.aabbs();
    let (mut own, mut parry, mut rapier) = (Own::new(&boxes), Parry::new(&boxes), Rapier::new(&boxes));
    #[cfg(feature = "box3d")]
    let mut box3d = Box3dTree::new(&boxes);
    let mut rows = vec![
        Row::new("rattleback", |boxes| own.step(boxes)),
        Row::new("parry (f32)", |boxes| parry.step(boxes)),
        Row::new("rapier", |boxes| rapier.step(boxes)),
        #[cfg(feature = "box3d")]
        Row::new("box3d", |boxes| box3d.step(boxes)),
    ];
    for step in 0..STEPS + 5 {
        gas.advance();
        let boxes = gas.aabbs();
        for row in &mut rows {
            row.answer = timed(&mut row.times, || (row.step)(&boxes));
            if step < 5 {
                row.times.clear();
            }
        }
    }
    print(&format!("{title}: pairs, {} boxes", boxes.len()), rows);

    let mut random = Random(7);
    let rays: Vec<Ray> = (0..10_000)
        .map(|_| Ray::new(1.2 * gas.reach * random.vector(), random.vector()).expect("a direction"))
        .collect();
    let peer_rays: Vec<PeerRay> = rays
        .iter()
        .map(|ray| PeerRay::new(peer_vector(ray.origin()), peer_vector(ray.direction())))
        .collect();
    let mut casts: Vec<Cast> = vec![
        ("rattleback", Box::new(|range| own.cast(&rays[range]))),
        ("parry (f32)", Box::new(|range| parry.cast(&peer_rays[range]))),
        #[cfg(feature = "box3d")]
        ("box3d", Box::new(|range| box3d.cast(&rays[range], 6.0 * gas.reach))),
    ];
    let title = format!("{title}: 10000 rays, {} boxes, sums of the batches", boxes.len());
    cast_in_batches(&title, rays.len(), &mut casts);
}

/// A library and its way to cast some of the rays.
type Cast<'a> = (&'static str, Box<dyn FnMut(Range<usize>) -> usize + 'a>);

/// Rays go in batches short enough to be left alone by others now and then, and long enough that no branch predictor has learnt them
/// when they come again; what is printed are sums over the batches, of the least time of each for the minimum.
fn cast_in_batches(title: &str, count: usize, casts: &mut [Cast]) {
    const BATCH: usize = 2500;
    let mut rows: Vec<_> = casts.iter().map(|(name, _)| (*name, [0.0; 3], 0)).collect();
    for start in (0..count).step_by(BATCH) {
        let mut times = vec![Times::default(); casts.len()];
        let mut hits = vec![0; casts.len()];
        for _ in 0..15 {
            for (k, (_, cast)) in casts.iter_mut().enumerate() {
                hits[k] = timed(&mut times[k], || cast(start..count.min(start + BATCH)));
            }
        }
        for (k, row) in rows.iter_mut().enumerate() {
            let summary = times[k].summary();
            (0..3).for_each(|i| row.1[i] += summary[i]);
            row.2 += hits[k];
        }
    }
    print_rows(title, &rows);
}

/// A thousand boxes in a gas of their own, alone and with a million fixed ones around.
fn fixed_boxes(moving: usize, fixed: usize) {
    let gas = || Gas::new(moving, 8.0, 0.02);
    let around = Gas::new(fixed, 8.0, 0.0).aabbs();
    let mut spaces = [(gas(), Own::new(&gas().aabbs())), (gas(), Own::new(&gas().aabbs()))];
    let crowded = &mut spaces[1].1;
    for b in &around {
        crowded.space.insert(b, Mobility::Fixed, 0).expect("finite");
    }
    crowded.space.step(1, &mut crowded.changes);
    let mut times = [(); 2].map(|()| Times::default());
    let mut answers = [0; 2];
    for step in 0..20 * STEPS {
        for (k, (gas, own)) in spaces.iter_mut().enumerate() {
            gas.advance();
            let boxes = gas.aabbs();
            answers[k] = timed(&mut times[k], || own.step(&boxes));
            if step < 5 {
                times[k].clear();
            }
        }
    }
    let [alone, crowded] = times;
    let rows = [("alone", alone, answers[0]), ("among fixed", crowded, answers[1])];
    report(&format!("{moving} moving boxes, alone and among {fixed} fixed ones"), &rows);
}

/// What a moving box costs a step, by their number; the least of some rounds, bursts included.
fn growth(counts: &[usize]) {
    println!("nanoseconds a moving box and step, slow gas, mean over {STEPS} steps, least of the rounds");
    let mut first = None;
    for &count in counts {
        let mut least = f64::INFINITY;
        for _ in 0..(1_000_000 / count).clamp(2, 20) {
            let mut gas = Gas::new(count, 8.0, 0.02);
            let mut own = Own::new(&gas.aabbs());
            let mut times = Times::default();
            for _ in 0..STEPS {
                gas.advance();
                let boxes = gas.aabbs();
                timed(&mut times, || own.step(&boxes));
            }
            least = least.min(times.summary()[2] * 1e6 / count as f64);
        }
        let first = *first.get_or_insert(least);
        println!("  {count:>9} boxes {least:8.1} ns, {:5.2} times the first", least / first);
    }
}

fn main() {
    let mut counts: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [fixed, growing] =
        ["fixed", "growth"].map(|word| std::env::args().skip(1).any(|given| given == word));
    let all = counts.is_empty() && !fixed && !growing;
    if all {
        counts = vec![10_000, 100_000];
    }
    for count in counts {
        pairs_and_rays("slow gas", Gas::new(count, 8.0, 0.02));
        pairs_and_rays("fast gas", Gas::new(count, 8.0, 0.6));
        pairs_and_rays("dense, creeping", Gas::new(count, 1.5, 0.001));
    }
    if all || fixed {
        fixed_boxes(1000, 1_000_000);
    }
    if all || growing {
        growth(&[1000, 10_000, 100_000, 1_000_000]);
    }
}
