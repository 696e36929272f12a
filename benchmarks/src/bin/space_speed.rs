//! How fast the dynamic tree finds pairs and casts rays, side by side with Parry's `Bvh` and Rapier's `BroadPhaseBvh` on the
//! same boxes in the same run, all on one thread.
//!
//! `cargo run --release --bin space_speed [boxes …]`
//!
//! Rounds alternate, so that a busy machine slows all of them alike. A step is: every box is told where it is, then pairs
//! are brought up to date. Work comes in bursts, so the mean counts for pairs; the least time is that of a quiet step. Ours and Rapier's keep the set of pairs and tell what changed; Parry's alone only walks its tree.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

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
use rattleback_geometry::Aabb;
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::space::{DynamicBvh, Mobility, PairChanges, ProxyId, Space};

const STEPS: usize = 40;

/// SplitMix64, uniform in [−1, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

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

fn timed<T>(times: &mut Vec<f64>, f: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let answer = black_box(f());
    times.push(began.elapsed().as_secs_f64() * 1e3);
    answer
}

fn report(title: &str, rows: Vec<(&str, Vec<f64>, usize)>) {
    println!("{title}");
    let quantiles = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        (times[0], times[times.len() / 2], mean)
    };
    let own = quantiles(rows[0].1.clone());
    for (name, times, answer) in rows {
        let (min, median, mean) = quantiles(times);
        println!(
            "  {name:<16} min {min:9.3} ms  median {median:9.3} ms  mean {mean:9.3} ms  over ours {:6.2} {:6.2} {:6.2}  answer {answer}",
            min / own.0,
            median / own.1,
            mean / own.2
        );
    }
}

fn pairs_and_rays(title: &str, mut gas: Gas) {
    let boxes = gas.aabbs();
    let (mut own, mut parry, mut rapier) = (Own::new(&boxes), Parry::new(&boxes), Rapier::new(&boxes));
    let mut times = [(); 3].map(|()| Vec::new());
    let mut answers = [0; 3];
    for step in 0..STEPS + 5 {
        gas.advance();
        let boxes = gas.aabbs();
        answers[0] = timed(&mut times[0], || own.step(&boxes));
        answers[1] = timed(&mut times[1], || parry.step(&boxes));
        answers[2] = timed(&mut times[2], || rapier.step(&boxes));
        if step < 5 {
            times.iter_mut().for_each(Vec::clear);
        }
    }
    let [t0, t1, t2] = times;
    report(
        &format!("{title}: pairs, {} boxes", boxes.len()),
        vec![("rattleback", t0, answers[0]), ("parry (f32)", t1, answers[1]), ("rapier", t2, answers[2])],
    );

    let mut random = Random(7);
    let rays: Vec<Ray> = (0..10_000)
        .map(|_| Ray::new(1.2 * gas.reach * random.vector(), random.vector()).expect("a direction"))
        .collect();
    let peer_rays: Vec<PeerRay> = rays
        .iter()
        .map(|ray| PeerRay::new(peer_vector(ray.origin()), peer_vector(ray.direction())))
        .collect();
    let mut times = [(); 2].map(|()| Vec::new());
    for _ in 0..9 {
        answers[0] = timed(&mut times[0], || own.cast(&rays));
        answers[1] = timed(&mut times[1], || parry.cast(&peer_rays));
    }
    let [t0, t1] = times;
    report(
        &format!("{title}: 10000 rays, {} boxes", boxes.len()),
        vec![("rattleback", t0, answers[0]), ("parry (f32)", t1, answers[1])],
    );
}

fn main() {
    let mut counts: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    if counts.is_empty() {
        counts = vec![10_000, 100_000];
    }
    for count in counts {
        pairs_and_rays("slow gas", Gas::new(count, 8.0, 0.02));
        pairs_and_rays("fast gas", Gas::new(count, 8.0, 0.6));
        pairs_and_rays("dense, creeping", Gas::new(count, 1.5, 0.001));
    }
}
