//! Optimistic parallel events with rollback: a step runs in several partitions at the same time.
//!
//! After B. Mirtich, *Timewarp rigid body simulation* (SIGGRAPH 2000), which applies D. Jefferson, *Virtual
//! time* (1985), to rigid bodies: groups of bodies advance independently through their own events, and those
//! that turn out to have interacted are rolled back and repeated together. Here the unit of rollback is one
//! step, and the test is on swept AABBs.
//!
//! **Why it is exact.** Let an event of a pair (i, j) be run at time t.
//!
//! 1. It reads and writes only the bodies i, j, their pairs, and resting bodies connected to them through
//!    pairs.
//! 2. A pair exists only while the fat AABBs of its parts overlap (`broad_phase`), and a new one is created
//!    only when they begin to.
//! 3. So if during a step no AABB of partition P, in any of its versions, overlaps one of partition Q, no
//!    event of P reads or writes anything of Q: the events of P and Q commute, and each partition has
//!    computed what a single event queue over all bodies would have.
//! 4. Within a partition events are ordered by (time, kind, index in the world), which does not depend on the
//!    partition.
//!
//! The union of all versions of an AABB within a step is its swept AABB. After all partitions have run, the
//! swept AABBs of each are tested against those of the others ([`PartitionBroadPhase`]). Partitions that
//! overlap are rolled back to the beginning of the step (`checkpoint`), merged (`repartition`) and run again;
//! in the worst case all become one, so that at most n − 1 rounds are needed. They stay merged until the
//! bodies are partitioned anew (`partitioning`), from a guess of which bodies will interact. Neither the number of
//! threads nor the partition therefore shows in a result, by a single bit.

use super::ballistic_body::{BallisticBody, MotionKind};
use super::counters::ImpulseCounters;
use super::kinematic_bound::KinematicPath;
use super::observer::CollisionObserver;
use super::partition::{EventKey, EventKind, Partition};
use super::partitioning::{assign, independent_groups};
use super::repartition::repartition;
use super::tuning::{
    IMBALANCE_LIMIT, LOOKAHEAD_STEPS, LOOKAHEAD_STEPS_MAX, LOOKAHEAD_STEPS_MIN, PARALLEL_THRESHOLD,
    PARTITIONS_PER_THREAD, REPARTITION_PERIOD, REPARTITION_PERIOD_MAX, WASTE_LIMIT,
};
use super::{ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::filter::Rejected;
use crate::force::ForceAccumulator;
use crate::rigid::Motion;
use crate::simulator::ContactPoint;
use crate::world::{BodyId, Event, Status, World};
use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, Space, SpaceError, SpaceKind, everywhere};
use rattleback_numerics::UnionFind;
use rattleback_numerics::team::together;
use std::sync::{Mutex, PoisonError};

/// Input of a step, shared by all partitions.
#[derive(Clone, Copy)]
pub(super) struct StepInput<'a> {
    pub world: &'a World,
    pub settings: &'a ImpulseSettings,
    pub loads: &'a ForceAccumulator,
    /// Whether no force but uniform gravity acts, and no damping.
    pub undisturbed: bool,
    pub start: f64,
    pub end: f64,
}

/// Error of a partition, and the key of the event at which it occurred: time, kind and index in the world.
/// The first one over all partitions is reported.
#[derive(Debug)]
pub(super) struct StepFailure {
    key: (f64, EventKind, u64),
    error: Error,
}

/// All partitions of a world.
#[derive(Debug)]
pub(super) struct PartitionSet {
    /// At least one.
    pub partitions: Vec<Partition>,
    pub observer: CollisionObserver,
    pub counters: ImpulseCounters,
    pub smallest_gap: f64,
    pub events: Vec<Event>,
    /// Pairs rejected by the pair filter in this step.
    pub rejected: Vec<Rejected>,
    /// Number of steps since the partitions were built from the world.
    step: u64,
    /// AABBs of all moving parts, if there are several partitions.
    boxes: Option<PartitionBroadPhase>,
    /// Steps since the bodies were partitioned, number of steps after which to try again, and lookahead of
    /// the partitioning in steps.
    steps_since: u32,
    retry_after: u32,
    lookahead: f64,
    /// Steps since then with conflicts; gaps measured since then, and gaps measured in runs that were rolled
    /// back.
    conflicts: u32,
    work: u64,
    wasted_work: u64,
    /// Gaps measured in the last step.
    step_work: u64,
}

impl Default for PartitionSet {
    fn default() -> Self {
        Self {
            partitions: vec![Partition::default()],
            observer: CollisionObserver::default(),
            counters: ImpulseCounters::default(),
            smallest_gap: 0.0,
            events: Vec::new(),
            rejected: Vec::new(),
            step: 0,
            boxes: None,
            steps_since: 0,
            retry_after: 1,
            lookahead: LOOKAHEAD_STEPS,
            conflicts: 0,
            work: 0,
            wasted_work: 0,
            step_work: 0,
        }
    }
}

/// Broad phase over the moving parts of all partitions: finds partitions that interacted within a step.
#[derive(Debug)]
struct PartitionBroadPhase {
    space: Box<dyn Space>,
    ids: Vec<Option<ProxyId>>,
    partition_of: Vec<u32>,
}

impl PartitionBroadPhase {
    fn new(partitions: &[Partition]) -> Result<Self, SpaceError> {
        let count = partitions.first().map_or(0, |partition| partition.parts.len());
        let space = SpaceKind::DynamicBvh.create();
        let mut boxes = Self { space, ids: vec![None; count], partition_of: vec![0; count] };
        for (index, partition) in partitions.iter().enumerate() {
            for (part, bounds) in partition.broad_phase.boxes() {
                let id = boxes.space.insert(&bounds, Mobility::Moving, u64::from(part))?;
                boxes.ids[part as usize] = Some(id);
                boxes.partition_of[part as usize] = index as u32;
            }
        }
        boxes.space.build();
        Ok(boxes)
    }

    fn set(&mut self, part: u32, bounds: &Aabb) -> Result<(), SpaceError> {
        let Some(id) = self.ids[part as usize] else { return Ok(()) };
        match self.space.update(id, bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(id, &everywhere()),
            other => other,
        }
    }

    /// Joins all partitions whose swept AABBs overlap those of the partitions that have just run.
    fn join_overlapping_partitions(
        &mut self,
        finished: &[(usize, Vec<(u32, Aabb)>)],
        union_find: &mut UnionFind,
    ) -> Result<(), SpaceError> {
        for (part, bounds) in finished.iter().flat_map(|(_, swept_boxes)| swept_boxes) {
            self.set(*part, bounds)?;
        }
        self.space.step(1, &mut PairChanges::default());
        for (partition, swept_boxes) in finished {
            for (_, bounds) in swept_boxes {
                self.space.overlapping(bounds, &mut |id| {
                    if let Ok(other) = self.space.user(id) {
                        union_find.union(*partition as u32, self.partition_of[other as usize]);
                    }
                    std::ops::ControlFlow::Continue(())
                });
            }
        }
        Ok(())
    }
}

impl Partition {
    /// Runs a step, with a checkpoint unless the partition is alone or idle; stores an error.
    fn run(&mut self, input: &StepInput<'_>, step: u64, alone: bool) {
        let idle = input.undisturbed && self.has_no_events(input.end);
        if !(alone || idle) {
            self.save_checkpoint();
        }
        if let Err(error) = self.try_run(input, step) {
            self.failure = Some(StepFailure { key: self.global_event_key(), error });
        }
    }

    fn try_run(&mut self, input: &StepInput<'_>, step: u64) -> Result<(), Error> {
        self.begin_work(input.world);
        self.kick_all(input.loads, input.start, 0.5 * (input.end - input.start))?;
        self.begin_step(step, input.start, input.end)?;
        if input.settings.search == "bracketing" {
            self.run_bracketing(input.world, input.settings, input.start)
        } else {
            self.run_events(input.world, input.settings)
        }
    }

    /// Whether no event is due before the end of the step.
    fn has_no_events(&self, end: f64) -> bool {
        [&self.pair_events, &self.body_events]
            .iter()
            .all(|queue| queue.first().is_none_or(|first| first.0 > end))
            && !self.bodies.iter().any(|body| body.detector.frozen)
    }

    /// Key of the present event, with an index that does not depend on the partition.
    fn global_event_key(&self) -> (f64, EventKind, u64) {
        let EventKey { time, kind, number } = self.current;
        let number = match kind {
            EventKind::Pair => self.pairs[number as usize].pair_key(),
            _ => u64::from(self.global_of.get(number as usize).copied().unwrap_or(0)),
        };
        (time, kind, number)
    }
}

fn space_error(source: SpaceError) -> Error {
    ImpulseError::Space { source }.into()
}

impl PartitionSet {
    /// One partition with all bodies of a world.
    pub fn build(&mut self, world: &World, settings: &ImpulseSettings, gravity: DVec3) -> Result<(), Error> {
        let mut partition = Partition::default();
        partition.build(world, settings, gravity)?;
        self.smallest_gap = f64::INFINITY;
        self.adopt(partition);
        Ok(())
    }

    /// Makes a partition the only one.
    pub fn adopt(&mut self, partition: Partition) {
        self.partitions = vec![partition];
        self.step = 0;
        (self.boxes, self.steps_since, self.retry_after, self.conflicts) = (None, 0, 1, 0);
        (self.work, self.wasted_work) = (0, 0);
    }

    /// Partitions the bodies anew if it is time for that.
    pub fn repartition_if_due(&mut self, settings: &ImpulseSettings, dt: f64) -> Result<(), Error> {
        let several = settings.threads > 1 && settings.search == "one-sided" && !self.observer.is_watching();
        if !several {
            return if self.partitions.len() > 1 { self.distribute(&[], 1) } else { Ok(()) };
        }
        self.steps_since += 1;
        let wasteful = self.wasted_work > 4 * PARALLEL_THRESHOLD
            && self.wasted_work as f64 > WASTE_LIMIT * (self.work + self.wasted_work) as f64;
        if self.partitions.len() > 1 && wasteful {
            self.retry_after = (2 * self.retry_after).clamp(REPARTITION_PERIOD, REPARTITION_PERIOD_MAX);
            return self.distribute(&[], 1);
        }
        // Before the first step no body has a fat AABB.
        if self.step == 0 || !self.is_due(settings.threads as usize) {
            return Ok(());
        }
        self.lookahead = if self.conflicts > 0 { 2.0 * self.lookahead } else { 0.5 * self.lookahead };
        self.lookahead = self.lookahead.clamp(LOOKAHEAD_STEPS_MIN, LOOKAHEAD_STEPS_MAX);
        let mut found = independent_groups(&self.partitions, self.lookahead * dt);
        if found.len() < 2 && self.lookahead > LOOKAHEAD_STEPS_MIN {
            found = independent_groups(&self.partitions, LOOKAHEAD_STEPS_MIN * dt);
        }
        let single = found.len() < 2;
        let retry_after = if single { (2 * self.retry_after).min(REPARTITION_PERIOD_MAX) } else { 1 };
        let most = PARTITIONS_PER_THREAD * settings.threads as usize;
        let partitions = assign(&found, most);
        let assignment: Vec<(usize, &[u32])> = partitions
            .iter()
            .zip(&found)
            .map(|(partition, group)| (*partition, group.members.as_slice()))
            .collect();
        let count = found.len().min(most).max(1);
        if count > 1 || self.partitions.len() > 1 {
            self.distribute(&assignment, count)?;
        }
        (self.steps_since, self.retry_after) = (0, retry_after);
        for body in self.partitions.iter_mut().flat_map(|partition| &mut partition.bodies) {
            body.restarts = 0;
        }
        Ok(())
    }

    fn is_due(&self, threads: usize) -> bool {
        if self.partitions.len() == 1 {
            return self.steps_since >= self.retry_after;
        }
        if self.steps_since < REPARTITION_PERIOD {
            return false;
        }
        let most = self.partitions.iter().map(|partition| partition.work).max().unwrap_or(0) as f64;
        let all = self.partitions.iter().map(|partition| partition.work).sum::<u64>() as f64;
        self.conflicts > 0 || most * threads as f64 > IMBALANCE_LIMIT * all
    }

    /// (partition and indices in the world of its bodies, number of partitions) ⇒ moves all bodies there;
    /// unassigned ones go to the first partition.
    fn distribute(&mut self, assignment: &[(usize, &[u32])], count: usize) -> Result<(), Error> {
        let mut partition_of = vec![0; self.partitions[0].local_of.len()];
        for (partition, members) in assignment {
            for number in *members {
                partition_of[*number as usize] = *partition as u32;
            }
        }
        self.partitions = repartition(std::mem::take(&mut self.partitions), &partition_of, count)?;
        self.boxes = if count > 1 {
            Some(PartitionBroadPhase::new(&self.partitions).map_err(space_error)?)
        } else {
            None
        };
        (self.steps_since, self.conflicts, self.work, self.wasted_work) = (0, 0, 0, 0);
        Ok(())
    }

    /// Runs a step in all partitions.
    ///
    /// # Errors
    /// The first error in the order of events.
    pub fn run(&mut self, input: &StepInput<'_>) -> Result<(), Error> {
        self.step += 1;
        if let [only] = self.partitions.as_mut_slice() {
            std::mem::swap(&mut only.observer, &mut self.observer);
            only.run(input, self.step, true);
            std::mem::swap(&mut only.observer, &mut self.observer);
        } else {
            self.run_in_parallel(input)?;
        }
        self.merge_results();
        let failures = self.partitions.iter_mut().filter_map(|partition| partition.failure.take());
        let order = |a: &StepFailure, b: &StepFailure| {
            a.key.0.total_cmp(&b.key.0).then((a.key.1, a.key.2).cmp(&(b.key.1, b.key.2)))
        };
        failures.min_by(order).map_or(Ok(()), |first| Err(first.error))
    }

    fn run_in_parallel(&mut self, input: &StepInput<'_>) -> Result<(), Error> {
        let threads = if self.step_work < PARALLEL_THRESHOLD { 1 } else { input.settings.threads as usize };
        let (step, mut pending) = (self.step, (0..self.partitions.len()).collect::<Vec<_>>());
        loop {
            let mut partitions: Vec<&mut Partition> = self
                .partitions
                .iter_mut()
                .enumerate()
                .filter_map(|(index, partition)| pending.binary_search(&index).is_ok().then_some(partition))
                .collect();
            // The queue is popped from the end: largest work first.
            partitions.sort_by_key(|partition| partition.work);
            let queue = Mutex::new(partitions);
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
            together(threads.min(pending.len()), |_| {
                while let Some(partition) = next() {
                    partition.run(input, step, false);
                }
            });
            pending = self.resolve_conflicts(&pending)?;
            if pending.is_empty() {
                break;
            }
        }
        self.commit()
    }

    /// Rolls back and merges the partitions that have interacted ⇒ those that have to run again.
    fn resolve_conflicts(&mut self, finished: &[usize]) -> Result<Vec<usize>, Error> {
        let Some(boxes) = &mut self.boxes else { return Ok(Vec::new()) };
        let swept_boxes: Vec<_> = finished
            .iter()
            .map(|index| (*index, self.partitions[*index].broad_phase.swept_boxes()))
            .collect();
        let mut union_find = UnionFind::new(self.partitions.len());
        boxes.join_overlapping_partitions(&swept_boxes, &mut union_find).map_err(space_error)?;
        let roots: Vec<u32> = union_find.roots().collect();
        let mut rerun = Vec::new();
        for root in 0..self.partitions.len() {
            let conflicting: Vec<usize> =
                (root..self.partitions.len()).filter(|index| roots[*index] as usize == root).collect();
            if conflicting.len() < 2 {
                continue;
            }
            let mut partitions: Vec<Partition> =
                conflicting.iter().map(|index| std::mem::take(&mut self.partitions[*index])).collect();
            for partition in &mut partitions {
                self.wasted_work += partition.counters.checks;
                partition.rollback()?;
            }
            let target = vec![0; partitions[0].local_of.len()];
            for joined in repartition(partitions, &target, 1)? {
                for (part, bounds) in joined.broad_phase.boxes() {
                    boxes.set(part, &bounds).map_err(space_error)?;
                    boxes.partition_of[part as usize] = root as u32;
                }
                self.partitions[root] = joined;
            }
            rerun.push(root);
        }
        self.conflicts += u32::from(!rerun.is_empty());
        Ok(rerun)
    }

    /// Accepts the step: drops checkpoints, and merged-away partitions.
    fn commit(&mut self) -> Result<(), Error> {
        let Some(boxes) = &mut self.boxes else { return Ok(()) };
        for partition in &mut self.partitions {
            for (part, _) in partition.broad_phase.swept_boxes() {
                if let Some(bounds) = partition.broad_phase.bounds(part) {
                    boxes.set(part, &bounds).map_err(space_error)?;
                }
            }
            partition.drop_checkpoint();
        }
        if self.partitions.iter().any(|partition| partition.bodies.is_empty()) {
            self.partitions.retain(|partition| !partition.bodies.is_empty());
            for (index, partition) in self.partitions.iter().enumerate() {
                for (part, _) in partition.broad_phase.boxes() {
                    boxes.partition_of[part as usize] = index as u32;
                }
            }
        }
        if self.partitions.len() == 1 {
            (self.boxes, self.steps_since, self.retry_after) = (None, 0, REPARTITION_PERIOD / 4);
        }
        Ok(())
    }

    /// Merges counters, events and rejected pairs of all partitions, in an order that does not depend on
    /// them.
    fn merge_results(&mut self) {
        self.step_work = 0;
        self.events.clear();
        self.rejected.clear();
        for partition in &mut self.partitions {
            self.step_work += partition.counters.checks;
            self.work += partition.counters.checks;
            partition.work += partition.counters.checks;
            self.counters += std::mem::take(&mut partition.counters);
            self.smallest_gap = self.smallest_gap.min(partition.smallest_gap);
            self.events.append(&mut partition.events);
            self.rejected.append(&mut partition.rejected);
        }
        self.events.sort_by(|a, b| {
            let ((time_a, bodies_a), (time_b, bodies_b)) = (time_and_bodies(a), time_and_bodies(b));
            time_a.total_cmp(&time_b).then(bodies_a.cmp(&bodies_b))
        });
        self.rejected.sort_by_key(|rejected| (rejected.bodies, rejected.shapes));
    }

    /// Whether the set of bodies or gravity has changed since the partitions were built.
    pub fn is_stale(&self, world: &World, gravity: DVec3) -> bool {
        let world_bodies = world.bodies();
        let ids = world_bodies.ids(Status::Dynamic);
        let bodies = || self.partitions.iter().flat_map(|partition| &partition.bodies);
        let free = bodies().filter(|body| body.is_dynamic()).count();
        self.partitions[0].gravity != gravity
            || self.partitions[0].local_of.len() + world_bodies.count(Status::Disabled) != world_bodies.len()
            || free != ids.len()
            || bodies().any(|body| body.is_dynamic() && ids.get(body.dynamic_index) != Some(&body.id))
    }

    /// Gives links of multibodies their paths through the step that begins at `time` ⇒ whether that was possible: a link that begins or ceases to
    /// move changes its kind, and everything has to be built anew.
    pub fn follow_links(&mut self, world: &World, time: f64) -> Result<bool, Error> {
        let mut followed = 0;
        for partition in &mut self.partitions {
            let mut moved = Vec::new();
            for (index, body) in partition.bodies.iter_mut().enumerate() {
                if body.kind != MotionKind::Kinematic || !world.driven().contains(&body.id) {
                    continue;
                }
                let view = world.body(body.id)?;
                let Some((path, start)) = view.path() else { return Ok(false) };
                body.kinematic = Some(KinematicPath::new(path.clone(), start));
                let pose = view.pose();
                let motion = Motion { x: pose.translation, q: pose.rotation, ..*view.motion() };
                body.restart_trajectory(time, motion);
                moved.push(index as u32);
            }
            followed += moved.len();
            partition.motion_changed(&moved, time)?;
        }
        Ok(followed == world.driven().len())
    }

    /// Mean contact forces over the last window, in the order of the convex parts.
    pub fn forces(&self) -> Vec<ContactPoint> {
        let mut forces: Vec<_> = self.partitions.iter().flat_map(Partition::forces).collect();
        forces.sort_by_key(|(pair_key, _)| *pair_key);
        forces.into_iter().map(|(_, force)| force).collect()
    }

    /// Bodies at rest, in the order of the world.
    pub fn resting(&self) -> Vec<BodyId> {
        let on = |partition: &Partition| {
            let resting = |(number, body): (&u32, &BallisticBody)| {
                (body.kind == MotionKind::Resting).then_some((*number, body.id))
            };
            partition.global_of.iter().zip(&partition.bodies).filter_map(resting).collect::<Vec<_>>()
        };
        let mut resting: Vec<_> = self.partitions.iter().flat_map(on).collect();
        resting.sort_by_key(|(number, _)| *number);
        resting.into_iter().map(|(_, id)| id).collect()
    }
}

/// Sort key of a reported event.
fn time_and_bodies(event: &Event) -> (f64, Option<[BodyId; 2]>) {
    match event {
        Event::Collision { time, bodies, .. } | Event::Stalled { time, bodies } => (*time, Some(*bodies)),
        _ => (f64::INFINITY, None),
    }
}
