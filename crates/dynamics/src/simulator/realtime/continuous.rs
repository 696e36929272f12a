//! Continuous collision detection: fast bodies are stopped at their time of impact.
//!
//! A collider that moves farther in a step than half its smallest extent could pass through a wall. Its
//! motion from the beginning to the end of the step, linear with constant angular velocity, is therefore
//! swept against everything in its swept bounding box (conservative advancement, Mirtich 1996); at the first
//! contact the body is stopped there with its velocity, and the next step finds it in contact.
//!
//! Colliders in contact at the beginning are left to the solver: stopped at contact, a body that slides or
//! tips over would not move at all. But the solver uses the rows of the beginning of the step: a rod that
//! spins fast may penetrate what it touches. For such pairs the core sphere is swept instead, a sphere inside
//! the collider about the centre of mass (about the collider's own centre if the body has several), so that
//! the centre of a body stays on its side. The same holds for jointed bodies: stopped alone, a limb would be
//! torn from its neighbours.
//!
//! A stopped body is an obstacle for others. Impacts are therefore processed in the order of time, and pairs
//! with a stopped body are swept again.

use super::Realtime;
use super::sim_bodies::{NONE, SimBody, SimCollider, update_bounds};
use super::tuning::{
    CORE_SPHERE_RADIUS, CORE_SPHERE_TOLERANCE, MAX_STOPS_PER_BODY, MIN_TOI_PAIRS_PER_THREAD,
    SWEEPS_PER_CHUNK, TOI_ITERATIONS, TOI_TOLERANCE, TOI_TOLERANCE_RANGE,
};
use crate::collision::swept_aabb;
use crate::error::Error;
use crate::rigid::Motion as BodyMotion;
use crate::solver::EventQueue;
use crate::world::{Handle, Status, World};
use glam::DVec3;
use rattleback_geometry::swept::{Advancement, Motion, cast_shapes, rotation_vector};
use rattleback_geometry::{Aabb, Pose, Shape};
use rattleback_numerics::team::{each, each_piece};
use std::ops::ControlFlow;

/// A fast body and its motion in the step.
#[derive(Clone, Copy, Debug)]
struct FastBody {
    index: u32,
    slot: u32,
    motion: Motion,
    /// Poses at the beginning and the end of the step.
    ends: [Pose; 2],
    /// Fraction of the motion after which it is stopped, 0 to 1.
    stop: f64,
}

/// Two colliders with overlapping swept bounding boxes.
#[derive(Clone, Copy, Debug)]
struct ToiPair {
    fast_body: u32,
    collider: u32,
    other: u32,
    /// Motion of the other body, and its index among the fast bodies, if it is one.
    motion: Motion,
    other_fast: Option<u32>,
    /// Whether the solver has a constraint between them, the impact stage resolved an impact of theirs (the
    /// straight path to the end of the step differs from the way to the impact and back), or the fast body is
    /// jointed: only the core sphere is swept.
    core_only: bool,
    /// Time of impact as a fraction of the step, with all stops known so far; 1 for none.
    time: f64,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct ContinuousStage {
    fast_bodies: Vec<FastBody>,
    toi_pairs: Vec<ToiPair>,
    /// Pairs found by each chunk.
    chunks: Vec<PairChunk>,
    /// By body slot: its index among the fast bodies, [`NONE`] for all others.
    by_slot: Vec<u32>,
    /// Swept AABBs of fast colliders: index of the fast body, collider, box.
    swept_boxes: Vec<(u32, u32, Aabb)>,
    /// Pairs by time of impact.
    event_queue: EventQueue,
    /// Pairs by fast body, and the start of each list.
    pairs_of: Vec<u32>,
    starts: Vec<u32>,
    /// Indices of fast bodies, filled before the stage.
    pub fast_indices: Vec<u32>,
    /// By slot: whether a body is jointed.
    jointed: Vec<bool>,
}

/// Pairs of a chunk of swept colliders, and scratch memory of the query.
#[derive(Debug, Default)]
struct PairChunk {
    toi_pairs: Vec<ToiPair>,
    found: Vec<u32>,
}

impl Realtime {
    /// Whether a collider of a body has moved so far that it may have passed through something.
    pub(super) fn is_fast(&self, sim_body: &SimBody, before: &BodyMotion, now: &BodyMotion, dt: f64) -> bool {
        let rotation = now.omega.length().max(before.omega.length()) * dt;
        // Early exit for bodies that are slow as a whole.
        let (moved, rotation_travel) = ((now.x - before.x).length(), rotation * sim_body.reach);
        if moved + rotation_travel <= sim_body.half_thickness {
            return false;
        }
        let (start, end) = (before.pose(), now.pose());
        let fast = |collider: &SimCollider| {
            let moved = end.point(collider.center).distance(start.point(collider.center));
            may_tunnel(collider, moved, rotation)
        };
        sim_body.colliders.iter().filter_map(|index| self.sim_bodies.collider(*index)).any(fast)
    }

    /// Stops the fast bodies at their first contact.
    pub(super) fn stop_fast_bodies(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.continuous.fast_bodies.clear();
        self.continuous.toi_pairs.clear();
        self.continuous.by_slot.clear();
        self.continuous.by_slot.resize(self.sim_bodies.bodies.len(), NONE);
        self.continuous.swept_boxes.clear();
        self.mark_jointed();
        for entry in 0..self.continuous.fast_indices.len() {
            let index = self.continuous.fast_indices[entry];
            let slot = world.bodies().ids(Status::Dynamic)[index as usize].slot();
            let (before, now) = (
                world.initial_states()[index as usize],
                world.bodies().motion(Status::Dynamic)[index as usize],
            );
            let Some(motion) = motion_between(&before, &now, dt) else { continue };
            if let Some(fast_body) = self.continuous.by_slot.get_mut(slot as usize) {
                *fast_body = self.continuous.fast_bodies.len() as u32;
            }
            let ends = [before.pose(), motion.pose(1.0)];
            self.continuous.fast_bodies.push(FastBody { index, slot, motion, ends, stop: 1.0 });
        }
        for index in 0..self.continuous.fast_bodies.len() {
            self.update_swept_boxes(index)?;
        }
        self.find_toi_pairs(world, dt);
        self.compute_times();
        self.queue_pairs();
        for _ in 0..MAX_STOPS_PER_BODY * self.continuous.fast_bodies.len() {
            let Some(first) = self.next_pair() else { break };
            self.stop_pair(first as usize);
        }
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        for fast_body in self.continuous.fast_bodies.iter().filter(|fast_body| fast_body.stop < 1.0) {
            let index = fast_body.index as usize;
            let pose = fast_body.motion.pose(fast_body.stop);
            let body = &mut motion[index];
            // The loads did no work on the way that a linkage in flight does not go: v² − 2 a·Δx.
            let flew = self.mechanisms.are_integrated(fast_body.slot);
            let force = self.loads.wrench(index).force * inertia[index].inverse_mass;
            let work = (self.loads.uniform_acceleration() + force).dot(body.x - pose.translation);
            let speed_squared = body.v.length_squared();
            if flew && work > 0.0 && speed_squared > 0.0 {
                body.v *= (1.0 - 2.0 * work / speed_squared).max(0.0).sqrt();
            }
            (body.x, body.q) = (pose.translation, pose.rotation.normalize());
        }
        Ok(())
    }

    /// Marks the bodies with joints.
    fn mark_jointed(&mut self) {
        let jointed = &mut self.continuous.jointed;
        jointed.clear();
        jointed.resize(self.sim_bodies.bodies.len(), false);
        for slot in self.joints.all.iter().flat_map(|joint| joint.bodies) {
            if let Some(jointed) = jointed.get_mut(slot as usize) {
                *jointed = true;
            }
        }
    }

    /// Sets the swept AABBs of a fast body in the broad phase.
    fn update_swept_boxes(&mut self, index: usize) -> Result<(), Error> {
        let fast_body = self.continuous.fast_bodies[index];
        let Some(sim_body) = self.sim_bodies.body(fast_body.slot) else { return Ok(()) };
        for collider_index in &sim_body.colliders {
            if let Some(collider) = self.sim_bodies.collider(*collider_index)
                && fast_body.may_tunnel(collider)
                && let Some(bounds) = swept_bounds(&fast_body.motion, &fast_body.ends, collider)
            {
                update_bounds(&mut *self.space, collider, &bounds)?;
                self.continuous.swept_boxes.push((index as u32, *collider_index, bounds));
            }
        }
        Ok(())
    }

    /// Finds the pairs of swept colliders.
    fn find_toi_pairs(&mut self, world: &World, dt: f64) {
        let (threads, swept_boxes) = (self.threads(), self.continuous.swept_boxes.len());
        let mut chunks = std::mem::take(&mut self.continuous.chunks);
        let count = swept_boxes.div_ceil(SWEEPS_PER_CHUNK);
        if chunks.len() < count {
            chunks.resize_with(count, PairChunk::default);
        }
        each(threads, &mut chunks[..count], |k, chunk| {
            chunk.toi_pairs.clear();
            for swept in &self.continuous.swept_boxes
                [k * SWEEPS_PER_CHUNK..swept_boxes.min((k + 1) * SWEEPS_PER_CHUNK)]
            {
                self.find_pairs_of(world, swept, dt, chunk);
            }
        });
        for chunk in &mut chunks[..count] {
            self.continuous.toi_pairs.append(&mut chunk.toi_pairs);
        }
        self.continuous.chunks = chunks;
    }

    /// Computes the time of impact of every pair.
    fn compute_times(&mut self) {
        let mut toi_pairs = std::mem::take(&mut self.continuous.toi_pairs);
        each_piece(self.threads(), &mut toi_pairs, MIN_TOI_PAIRS_PER_THREAD, |_, piece| {
            for toi_pair in piece {
                toi_pair.time = self.time_of_impact(toi_pair, 0.0);
            }
        });
        self.continuous.toi_pairs = toi_pairs;
    }

    /// Fills the event queue, and lists the pairs of each fast body.
    fn queue_pairs(&mut self) {
        let ContinuousStage { fast_bodies, toi_pairs, event_queue, pairs_of, starts, .. } =
            &mut self.continuous;
        let fast_bodies_of =
            |toi_pair: &ToiPair| [Some(toi_pair.fast_body), toi_pair.other_fast].into_iter().flatten();
        event_queue.clear();
        starts.clear();
        starts.resize(fast_bodies.len() + 1, 0);
        for (index, toi_pair) in toi_pairs.iter().enumerate() {
            if toi_pair.time < 1.0 {
                event_queue.set(index as u32, toi_pair.time, index as u64);
            }
            fast_bodies_of(toi_pair).for_each(|fast_body| starts[fast_body as usize] += 1);
        }
        let mut total = 0;
        for start in starts.iter_mut() {
            total += *start;
            *start = total;
        }
        pairs_of.clear();
        pairs_of.resize(total as usize, 0);
        // Filled from the back; afterwards each start is the begin of its list.
        for (index, toi_pair) in toi_pairs.iter().enumerate().rev() {
            for fast_body in fast_bodies_of(toi_pair) {
                let start = &mut starts[fast_body as usize];
                *start -= 1;
                pairs_of[*start as usize] = index as u32;
            }
        }
    }

    /// The next pair of the event queue.
    fn next_pair(&mut self) -> Option<u32> {
        self.continuous.event_queue.pop()
    }

    /// Lists the pairs of one swept collider.
    fn find_pairs_of(&self, world: &World, swept: &(u32, u32, Aabb), dt: f64, into: &mut PairChunk) {
        let PairChunk { toi_pairs, found } = into;
        let (index, collider_index, bounds) = swept;
        let fast_body = &self.continuous.fast_bodies[*index as usize];
        let stamp = world.counters().steps + 1;
        let Some(collider) = self.sim_bodies.collider(*collider_index).filter(|collider| !collider.sensor)
        else {
            return;
        };
        let [start, end] = fast_body.ends.map(|pose| pose.point(collider.center));
        found.clear();
        self.space.overlapping(bounds, &mut |proxy| {
            found.push(proxy.index());
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        for other in found.iter() {
            let Some(other_collider) = self.sim_bodies.collider(*other) else { continue };
            let other_fast = self
                .continuous
                .by_slot
                .get(other_collider.body as usize)
                .copied()
                .filter(|other_fast| *other_fast != NONE);
            // A pair of two fast bodies is listed once.
            let listed = other_fast.is_some_and(|other_fast| other_fast < *index);
            if other_collider.sensor || other_collider.body == collider.body || listed {
                continue;
            }
            let Some(motion) = self.motion_of(world, other_collider, other_fast, dt) else { continue };
            let ends = other_fast.map(|other_fast| self.continuous.fast_bodies[other_fast as usize].ends);
            let [from, to] = ends.unwrap_or_else(|| [motion.pose(0.0), motion.pose(1.0)]);
            // With little relative motion the contacts of the next step are early enough.
            let carried_start = to.point(from.inverse_point(start));
            let rotation_travel =
                (fast_body.motion.turn().length() + motion.turn().length()) * collider.radius;
            let relative_travel = end.distance(carried_start) + rotation_travel;
            if relative_travel
                < collider.half_thickness + other_collider.half_thickness.min(collider.half_thickness)
                || !world.can_collide(collider.id, other_collider.id).unwrap_or(false)
                || passes_one_way(collider, &fast_body.ends[0], carried_start - end)
                || passes_one_way(other_collider, &from, end - carried_start)
                || self.contact_graph.is_passing(*collider_index, *other)
            {
                continue;
            }
            let jointed = |slot: u32| self.continuous.jointed.get(slot as usize) == Some(&true);
            let core_only = (other_fast.is_none() && jointed(collider.body))
                || self.contact_graph.is_solved(*collider_index, *other, stamp)
                || self.contact_graph.has_collided(*collider_index, *other, stamp);
            toi_pairs.push(ToiPair {
                fast_body: *index,
                collider: *collider_index,
                other: *other,
                motion,
                other_fast,
                core_only,
                time: 1.0,
            });
        }
    }

    /// Motion of the body of a collider in this step.
    fn motion_of(
        &self,
        world: &World,
        collider: &SimCollider,
        other_fast: Option<u32>,
        dt: f64,
    ) -> Option<Motion> {
        if let Some(other_fast) = other_fast {
            return Some(self.continuous.fast_bodies[other_fast as usize].motion);
        }
        let sim_body = self.sim_bodies.body(collider.body)?;
        let now = sim_body.motion(world)?;
        match sim_body.status {
            Status::Dynamic => motion_between(world.initial_states().get(sim_body.index as usize)?, now, dt),
            Status::Kinematic => {
                // A kinematic body moves to the pose of its path at the end of the step.
                let body = world.body(sim_body.id).ok()?;
                let (path, start) = body.path()?;
                let end = path.at(&start, world.time() + dt).pose * *body.body_from_principal();
                Motion::between(now.pose(), end, DVec3::ZERO).ok()
            }
            Status::Fixed | Status::Disabled => Motion::resting(now.pose()).ok(),
        }
    }

    /// Time of impact of two colliders after `from`; 1 if they do not touch, or touch from the start.
    fn time_of_impact(&self, toi_pair: &ToiPair, from: f64) -> f64 {
        let (Some(collider), Some(other_collider)) =
            (self.sim_bodies.collider(toi_pair.collider), self.sim_bodies.collider(toi_pair.other))
        else {
            return 1.0;
        };
        if toi_pair.core_only {
            return self.core_sphere_toi(toi_pair, other_collider);
        }
        let stop = self.continuous.fast_bodies[toi_pair.fast_body as usize].stop;
        let other_stop = toi_pair
            .other_fast
            .map_or(1.0, |other_fast| self.continuous.fast_bodies[other_fast as usize].stop);
        let motion = self.continuous.fast_bodies[toi_pair.fast_body as usize].motion;
        let thickness = collider.half_thickness.min(other_collider.half_thickness);
        let settings = Advancement {
            distance_tolerance: (TOI_TOLERANCE * thickness)
                .clamp(TOI_TOLERANCE_RANGE[0], TOI_TOLERANCE_RANGE[1]),
            max_iterations: TOI_ITERATIONS,
        };
        let mut times = [from, stop.max(from), other_stop.max(from), 1.0];
        times.sort_by(f64::total_cmp);
        for interval in times.windows(2) {
            let [start, end] = [interval[0], interval[1]];
            let (moves, other_moves) = (start < stop, start < other_stop);
            if end <= start || !(moves || other_moves) {
                continue;
            }
            let motion_piece = if moves { motion.piece(start, end) } else { motion.piece(stop, stop) };
            let other_piece = if other_moves {
                toi_pair.motion.piece(start, end)
            } else {
                toi_pair.motion.piece(other_stop, other_stop)
            };
            let hit = cast_shapes(
                &collider.shape,
                &motion_piece.of_part(&collider.local_pose),
                &other_collider.shape,
                &other_piece.of_part(&other_collider.local_pose),
                &settings,
            );
            if let Ok(Some(hit)) = hit {
                let time = start + hit.contact.time * (end - start);
                return if time > 0.0 { time } else { self.core_sphere_toi(toi_pair, other_collider) };
            }
        }
        1.0
    }

    /// Time of impact of the core sphere of a body that touches the other from the start.
    fn core_sphere_toi(&self, toi_pair: &ToiPair, other_collider: &SimCollider) -> f64 {
        let fast_body = &self.continuous.fast_bodies[toi_pair.fast_body as usize];
        let (Some(sim_body), Some(collider)) =
            (self.sim_bodies.body(fast_body.slot), self.sim_bodies.collider(toi_pair.collider))
        else {
            return 1.0;
        };
        let center = if sim_body.colliders.len() == 1 { DVec3::ZERO } else { collider.center };
        let Ok(core_sphere) = Shape::sphere(CORE_SPHERE_RADIUS * collider.half_thickness) else { return 1.0 };
        let settings = Advancement {
            distance_tolerance: CORE_SPHERE_TOLERANCE * CORE_SPHERE_RADIUS * collider.half_thickness,
            max_iterations: TOI_ITERATIONS,
        };
        let motion = fast_body.motion.of_part(&Pose::at(center));
        let hit = cast_shapes(
            &core_sphere,
            &motion,
            &other_collider.shape,
            &toi_pair.motion.of_part(&other_collider.local_pose),
            &settings,
        );
        match hit {
            Ok(Some(hit)) if hit.contact.time > 0.0 => hit.contact.time,
            // In contact already: only separating motion is allowed.
            Ok(Some(hit)) => {
                let moved = motion.pose(1.0).translation - motion.pose(0.0).translation;
                let towards = |n: DVec3| n.dot(moved - toi_pair.motion.displacement()) > 0.0;
                if hit.contact.gap.is_some_and(|gap| towards(gap.normal)) { 0.0 } else { 1.0 }
            }
            _ => 1.0,
        }
    }

    /// Stops the two bodies of a pair, and sweeps their other pairs again.
    fn stop_pair(&mut self, index: usize) {
        let toi_pair = self.continuous.toi_pairs[index];
        self.continuous.toi_pairs[index].time = 1.0;
        let stopped = [Some(toi_pair.fast_body), toi_pair.other_fast];
        for fast_body in stopped.into_iter().flatten() {
            let fast_body = &mut self.continuous.fast_bodies[fast_body as usize];
            fast_body.stop = fast_body.stop.min(toi_pair.time);
        }
        for fast_body in stopped.into_iter().flatten() {
            let list =
                self.continuous.starts[fast_body as usize]..self.continuous.starts[fast_body as usize + 1];
            for entry in list {
                let k = self.continuous.pairs_of[entry as usize] as usize;
                // Pairs between the two bodies themselves are settled; pairs with both are handled with the
                // first.
                let other = self.continuous.toi_pairs[k];
                let handled_before = toi_pair.other_fast == Some(fast_body)
                    && (other.fast_body == toi_pair.fast_body
                        || other.other_fast == Some(toi_pair.fast_body));
                if k == index || handled_before {
                    continue;
                }
                let time = self.time_of_impact(&other, 0.0);
                let stop = self.continuous.fast_bodies[other.fast_body as usize].stop;
                let other_stop = other
                    .other_fast
                    .map_or(1.0, |other_fast| self.continuous.fast_bodies[other_fast as usize].stop);
                // Nothing to stop if neither body moves any more at that time.
                let moving = time < stop || (other.other_fast.is_some() && time < other_stop);
                let time = if moving { time } else { 1.0 };
                self.continuous.toi_pairs[k].time = time;
                let event = if time < 1.0 { time } else { f64::INFINITY };
                self.continuous.event_queue.set(k as u32, event, k as u64);
            }
        }
    }
}

/// Motion between two states: linear, with constant angular velocity, including whole turns.
fn motion_between(before: &BodyMotion, now: &BodyMotion, dt: f64) -> Option<Motion> {
    let short = rotation_vector(before.q, now.q);
    let spin = now.omega * dt;
    let angle = short.length();
    let rotation = if angle > 1e-9 {
        let axis = short / angle;
        let whole = ((axis.dot(spin) - angle) / std::f64::consts::TAU).round();
        short + axis * (whole * std::f64::consts::TAU)
    } else {
        let whole = (spin.length() / std::f64::consts::TAU).round();
        spin.normalize_or_zero() * (whole * std::f64::consts::TAU)
    };
    Motion::new(before.pose(), DVec3::ZERO, now.x - before.x, rotation).ok()
}

/// Whether a one-sided collider at this pose lets a body pass that moves by `moved` relative to it.
fn passes_one_way(collider: &SimCollider, pose: &Pose, moved: DVec3) -> bool {
    collider.one_way.is_some_and(|direction| pose.vector(direction).dot(moved) >= 0.0)
}

/// Whether a collider with this displacement, m, and rotation, rad, may have passed through something.
fn may_tunnel(collider: &SimCollider, moved: f64, rotation: f64) -> bool {
    let rotation_travel = rotation * collider.radius;
    moved > collider.half_thickness
        || (rotation_travel.is_finite() && rotation_travel > collider.half_thickness)
}

impl FastBody {
    /// Whether a collider of this body may have passed through something.
    fn may_tunnel(&self, collider: &SimCollider) -> bool {
        let [start, end] = self.ends.map(|pose| pose.point(collider.center));
        may_tunnel(collider, start.distance(end), self.motion.turn().length())
    }
}

/// Swept AABB of a collider.
fn swept_bounds(motion: &Motion, ends: &[Pose; 2], collider: &SimCollider) -> Option<Aabb> {
    let poses = ends.map(|pose| pose * collider.local_pose);
    let reach = collider.center.length() + collider.radius;
    let margin = 1e-3 * collider.half_thickness.min(1.0);
    swept_aabb(&collider.shape, poses, reach, motion.turn().length(), margin)
}
