//! The stages of a step: pairs, contacts, building the constraints, solving.

use super::contact::{Contact, NarrowPhaseContext};
use super::contact_block::SweepParameters;
use super::contact_graph::ContactGraph;
use super::contact_kernel::ManifoldBodies;
use super::gyroscopic::{GyroscopicBody, nutation_rate, substep_factor};
use super::joint_constraint::{JointConstraints, JointContext};
use super::joint_groups::JointGroups;
use super::joint_tree::TreeSizes;
use super::mechanism::Mechanisms;
use super::sim_bodies::{Activity, EXACT, NONE, SimBodies, SimBody};
use super::sleep::{IslandEdges, Islands, SleepCriterion};
use super::softness::Softness;
use super::solver::{SubstepPlan, SubstepSolver};
use super::solver_body::{BodyRow, Kick, SolverBody, SolverFrame};
use super::tuning::{
    CONTACT_FREQUENCY_PER_RATE, EXACT_JOINT_BUDGET, HIGH_MASS_RATIO, MAX_SUBSTEP_FACTOR,
    MIN_NEW_CONTACTS_PER_THREAD, MIN_STEP_BODIES_PER_THREAD, PREFETCH_DISTANCE, SLEEP_CHECK_INTERVAL,
};
use super::{Realtime, RealtimeCounters};
use crate::error::Error;
use crate::rigid::{Inertia, Motion, rotate_freely};
use crate::simulator::ContactPoint;
use crate::simulator::stage_times::{StageTimes, Stopwatch};
use crate::world::{Continuity, Event, Handle, Status, World};
use glam::{DQuat, DVec3};
use rattleback_numerics::team::{Chunks, Shared, spread, together};
use std::sync::atomic::{AtomicBool, Ordering};

/// In place of a solver index: the body needs one that is not assigned yet.
const PENDING: u32 = NONE - 1;

/// A dynamic body that enters a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatheredBody {
    index: u32,
    solver_index: u32,
    high_mass_ratio: bool,
    /// Whether its angular velocity is constant without torque, or integrated per sub-step (`gyroscopic`).
    equal_moments: bool,
}

impl Realtime {
    /// All stages of a step.
    pub(super) fn advance(
        &mut self,
        world: &mut World,
        dt: f64,
        continuity: Continuity,
    ) -> Result<(), Error> {
        let mut watch = Stopwatch::start();
        self.dt = dt;
        self.non_finite.clear();
        let time = world.time();
        world.gather_loads(time, &mut self.loads);
        if let Some(saved) = self.pending_restore.take() {
            self.restore(saved, world);
        }
        if continuity == Continuity::OtherWorld {
            self.reset();
        } else if self.sim_bodies.must_rebuild(world) {
            self.report_ends(time);
            self.reset();
        } else if continuity == Continuity::SteppedByOthers {
            self.sim_bodies.resync_states(world);
        }
        self.sim_bodies.sync(world, &mut *self.space, dt)?;
        self.limit_overlaps(world)?;
        if self.joints.sync(world) {
            self.contact_graph.update_joint_exclusions(&narrow_phase_context(
                world,
                &self.sim_bodies,
                &self.settings,
                dt,
            ));
        }
        for slot in std::mem::take(&mut self.sim_bodies.to_wake) {
            self.islands.wake(&mut self.sim_bodies, slot, time, &mut self.events);
        }
        self.sim_bodies.update_kinematic(world);
        self.update_pairs(world, time);
        let pairs = watch.lap();
        self.update_contacts(world, time);
        self.begin_work(world);
        self.begin_stage(world);
        self.resolve_impacts(world, dt);
        self.end_stage(world);
        let contacts = watch.lap();
        self.build_constraints(world, dt);
        self.gather_bodies(world, dt);
        self.prepare_joints(world, dt);
        self.integrate_free_bodies(world, dt);
        self.write_mechanisms(world);
        self.write_rolling(world);
        self.write_sliding(world);
        self.write_direct(world);
        self.solve(dt);
        let solve = watch.lap();
        self.report_contacts(time);
        self.finalize(world, dt)?;
        let requests = world.take_sleep_requests();
        let due = self.settings.sleep && world.counters().steps.is_multiple_of(SLEEP_CHECK_INTERVAL);
        if due || !requests.is_empty() {
            let sleep_time = if due { self.settings.sleep_time as f32 } else { f32::INFINITY };
            let Self { islands, sim_bodies, contact_graph, joints, events, .. } = self;
            islands.try_sleep(
                world,
                sim_bodies,
                &IslandEdges { contact_graph, joints },
                SleepCriterion { sleep_time, requests: &requests },
                time + dt,
                events,
            );
        }
        self.end_stage(world);
        self.post_work(world);
        self.times = StageTimes { pairs, contacts, solve, motion: watch.lap() };
        Ok(())
    }

    /// Reports the end of all contacts and the waking of all sleeping bodies, before everything is rebuilt.
    fn report_ends(&mut self, time: f64) {
        let sim_bodies = &self.sim_bodies;
        for contact in self.contact_graph.iter().filter(|contact| contact.touching) {
            let [Some(a), Some(b)] = contact.colliders.map(|collider| sim_bodies.collider(collider)) else {
                continue;
            };
            let (Some(body_a), Some(body_b)) = (sim_bodies.body(a.body), sim_bodies.body(b.body)) else {
                continue;
            };
            let (bodies, shapes) = ([body_a.id, body_b.id], [a.id, b.id]);
            self.events.push(Event::ContactEnded { time, bodies, shapes });
        }
        for sim_body in sim_bodies.bodies.iter().flatten().filter(|sim_body| sim_body.asleep) {
            self.events.push(Event::Woke { time, body: sim_body.id });
        }
    }

    /// Drops everything that mirrors the world.
    pub(super) fn reset(&mut self) {
        self.space = self.settings.space.create();
        self.sim_bodies = SimBodies::default();
        self.contact_graph = ContactGraph::default();
        self.islands = Islands::default();
        self.joints = JointConstraints::default();
        self.mechanisms = Mechanisms::default();
        self.joint_groups = JointGroups::default();
        self.reported_pairs = None;
    }

    /// Number of worker threads.
    pub(super) fn threads(&self) -> usize {
        self.settings.threads.clamp(1, 256) as usize
    }

    /// Updates the broad phase; begins and ends pairs.
    fn update_pairs(&mut self, world: &World, time: f64) {
        self.space.step(self.threads(), &mut self.changes);
        if let Some(reported_pairs) = self.reported_pairs.take() {
            let mut changes = std::mem::take(&mut self.changes);
            self.pair_changes_since_save(&reported_pairs, &mut changes);
            self.changes = changes;
        }
        for pair in &self.changes.vanished {
            let Some(bodies) = self.contact_graph.end_pair(pair.a.index(), pair.b.index()) else { continue };
            for slot in bodies {
                self.islands.wake(&mut self.sim_bodies, slot, time, &mut self.events);
            }
        }
        let context = narrow_phase_context(world, &self.sim_bodies, &self.settings, self.dt);
        for pair in &self.changes.appeared {
            self.contact_graph.begin_pair(&context, pair.a.index(), pair.b.index());
        }
    }

    /// Updates the contacts of active bodies, and wakes the sleeping bodies they touch, until none is left.
    fn update_contacts(&mut self, world: &World, time: f64) {
        let stamp = world.counters().steps + 1;
        loop {
            self.update_contacts_once(world, stamp);
            self.contact_graph.list_updated(stamp);
            self.touched_sleeping.clear();
            let activities = &self.sim_bodies.activities;
            let asleep = |slot: &u32| activities[*slot as usize] == Activity::Asleep;
            let touched = self.contact_graph.near().flat_map(|(_, pair)| pair.bodies).filter(asleep);
            self.touched_sleeping.extend(touched);
            self.find_struck_sleeping(world);
            if self.touched_sleeping.is_empty() {
                break;
            }
            for slot in &self.touched_sleeping {
                self.islands.wake(&mut self.sim_bodies, *slot, time, &mut self.events);
            }
        }
    }

    /// Updates the contacts of active bodies that were not updated in this step yet.
    #[allow(unsafe_code)]
    fn update_contacts_once(&mut self, world: &World, stamp: u64) {
        let threads = self.threads();
        let Self { contact_graph, sim_bodies, settings, dt, new_contacts, loads, .. } = self;
        let fall = 0.5 * *dt * *dt * loads.uniform_acceleration().length();
        let context = NarrowPhaseContext { fall, ..narrow_phase_context(world, sim_bodies, settings, *dt) };
        let activities = &sim_bodies.activities;
        let needs_contact = AtomicBool::new(false);
        {
            let (contacts, pairs) =
                (Shared::new(&mut contact_graph.contacts), Shared::new(&mut contact_graph.pairs));
            // Recomputing a manifold costs about a hundred times as much as reusing it; so the range is split
            // dynamically.
            let chunks = Chunks::new(pairs.len());
            together(threads, |_| {
                while let Some(chunk) = chunks.take() {
                    for index in chunk.clone() {
                        if index + PREFETCH_DISTANCE < chunk.end {
                            // SAFETY: chunks do not overlap.
                            contacts
                                .prefetch(unsafe { pairs.get(index + PREFETCH_DISTANCE) }.contact as usize);
                        }
                        // SAFETY: as above.
                        let pair = unsafe { pairs.get_mut(index) };
                        let [a, b] = pair.bodies.map(|slot| activities.get(slot as usize).copied());
                        let is_active =
                            |activity: Option<Activity>| activity.is_some_and(Activity::is_active);
                        if pair.stamp == stamp || !(is_active(a) || is_active(b)) {
                            continue;
                        }
                        pair.stamp = stamp;
                        if pair.is_separated(&context) {
                            continue;
                        }
                        if pair.contact == NONE {
                            pair.needs_contact = true;
                            needs_contact.store(true, Ordering::Relaxed);
                        // SAFETY: a contact belongs to one pair only.
                        } else if let Some(contact) = unsafe { contacts.get_mut(pair.contact as usize) } {
                            pair.update(contact, &context);
                        }
                    }
                }
            });
        }
        if !needs_contact.into_inner() {
            return;
        }
        // In order, so that slots do not depend on the number of threads.
        new_contacts.clear();
        new_contacts.extend(
            (0..contact_graph.pairs.len() as u32)
                .filter(|slot| contact_graph.pairs[*slot as usize].needs_contact),
        );
        new_contacts.retain(|slot| contact_graph.create_contact(*slot, &context));
        let (contacts, pairs) =
            (Shared::new(&mut contact_graph.contacts), Shared::new(&mut contact_graph.pairs));
        spread(threads, new_contacts.len(), MIN_NEW_CONTACTS_PER_THREAD, |range| {
            for slot in &new_contacts[range] {
                // SAFETY: every pair is listed once, and has a contact of its own.
                let pair = unsafe { pairs.get_mut(*slot as usize) };
                // SAFETY: as above.
                if let Some(contact) = unsafe { contacts.get_mut(pair.contact as usize) } {
                    pair.update(contact, &context);
                }
            }
        });
    }

    /// Reports contacts that began or ended.
    fn report_contacts(&mut self, time: f64) {
        let sim_bodies = &self.sim_bodies;
        for pair in self.contact_graph.changed() {
            let Some(contact) = self.contact_graph.contact(pair) else { continue };
            let (Some(a), Some(b)) =
                (sim_bodies.collider(contact.colliders[0]), sim_bodies.collider(contact.colliders[1]))
            else {
                continue;
            };
            let (Some(one), Some(other)) = (sim_bodies.body(a.body), sim_bodies.body(b.body)) else {
                continue;
            };
            let (bodies, shapes) = ([one.id, other.id], [a.id, b.id]);
            self.events.push(if contact.touching {
                Event::ContactBegan { time, bodies, shapes }
            } else {
                Event::ContactEnded { time, bodies, shapes }
            });
        }
    }

    /// Adds the manifolds and joints of the present step, and the bodies they act on, to the solvers.
    #[allow(unsafe_code)]
    fn build_constraints(&mut self, world: &World, dt: f64) {
        let stamp = world.counters().steps + 1;
        self.sim_bodies.count_degrees(&self.contact_graph, &self.joints);
        let any_exact = self.run_mechanisms(world, dt)
            | self.run_rolling(world, dt)
            | self.run_sliding(world, dt)
            | self.run_direct(world, dt);
        let substep_factor_max = self.mark_high_mass_ratio(world);
        let Self { solvers, sim_bodies, contact_graph, joints, active, gathered, .. } = self;
        solvers.iter_mut().for_each(SubstepSolver::clear);
        // Solvers keep addresses of manifolds during the step. All are taken from one borrow of the contacts:
        // a second borrow of the whole list would invalidate those taken before.
        let (contacts, near) = contact_graph.contacts_and_near();
        let contacts = Shared::new(contacts);
        for pair in near {
            if pair.contact as usize >= contacts.len() {
                continue;
            }
            // SAFETY: the index is in bounds, and a contact belongs to one pair only.
            let Some(contact) = (unsafe { contacts.get_mut(pair.contact as usize) }) else { continue };
            if pair.bouncy && contact.impact_step == stamp {
                continue;
            }
            let [a, b] = pair.bodies;
            let is_exact =
                |slot| sim_bodies.body(slot).is_some_and(|sim_body| sim_body.solver_index == EXACT);
            if any_exact && (is_exact(a) || is_exact(b)) {
                continue;
            }
            let mut high_mass_ratio = false;
            for slot in [a, b] {
                if sim_bodies.activities[slot as usize] == Activity::Static {
                    continue;
                }
                if let Some(sim_body) = sim_bodies.body_mut(slot) {
                    sim_body.solver_index = PENDING;
                    high_mass_ratio |= sim_body.high_mass_ratio;
                }
            }
            let solver = &mut solvers[usize::from(high_mass_ratio)];
            for manifold in contact.manifolds_mut() {
                solver.add_manifold(ManifoldBodies { a, b }, manifold);
            }
        }
        active.clear();
        active.extend(joints.active(sim_bodies).map(|index| index as u32));
        let joint_count = active.len();
        if any_exact {
            let is_exact =
                |slot: &u32| sim_bodies.body(*slot).is_some_and(|sim_body| sim_body.solver_index == EXACT);
            active.retain(|index| !joints.all[*index as usize].bodies.iter().any(is_exact));
        }
        for index in active.iter() {
            for slot in joints.all[*index as usize].bodies {
                if let Some(sim_body) =
                    sim_bodies.body_mut(slot).filter(|sim_body| sim_body.status != Status::Fixed)
                {
                    sim_body.solver_index = PENDING;
                    sim_body.jointed = true;
                }
            }
        }
        for (index, id) in world.bodies().ids(Status::Kinematic).iter().enumerate() {
            let Some(sim_body) = sim_bodies.body_mut(id.slot()) else { continue };
            if sim_body.solver_index == PENDING {
                let frame = SolverFrame::kinematic(&world.bodies().motion(Status::Kinematic)[index]);
                // It may be in contact with bodies of both solvers, and has the same index in both.
                for solver in solvers.iter_mut() {
                    sim_body.solver_index = solver.add_body(SolverBody::default(), frame, Kick::default());
                }
            }
        }
        solvers.iter_mut().for_each(SubstepSolver::begin_movable);
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let substeps = self.settings.substeps.max(1) as usize;
        self.substeps = [substeps, substeps * substep_factor_max];
        gathered.clear();
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(sim_body) = sim_bodies.body_mut(id.slot()) else { continue };
            if sim_body.solver_index != PENDING {
                continue;
            }
            let solver = &mut solvers[usize::from(sim_body.high_mass_ratio)];
            let nutates = std::mem::take(&mut sim_body.nutates);
            sim_body.solver_index =
                solver.add_body(SolverBody::default(), SolverFrame::fixed(), Kick::default());
            if nutates {
                let (q, inertia) = (motion[index].q, inertia[index]);
                solver.gyroscopic.push(GyroscopicBody { solver_index: sim_body.solver_index, q, inertia });
            }
            let (solver_index, high_mass_ratio, equal_moments) =
                (sim_body.solver_index, sim_body.high_mass_ratio, sim_body.equal_moments || nutates);
            gathered.push(GatheredBody { index: index as u32, solver_index, high_mass_ratio, equal_moments });
        }
        for ends in solvers.iter_mut().flat_map(SubstepSolver::manifold_bodies_mut) {
            for side in [&mut ends.a, &mut ends.b] {
                // Static bodies share index 0.
                *side = sim_bodies.body(*side).map_or(0, |sim_body| {
                    if sim_body.solver_index == NONE { 0 } else { sim_body.solver_index }
                });
            }
        }
        for index in active.iter() {
            let solver_index = |slot: u32| {
                sim_bodies.body(slot).map_or((0, false), |sim_body| {
                    (
                        if sim_body.solver_index == NONE { 0 } else { sim_body.solver_index },
                        sim_body.high_mass_ratio,
                    )
                })
            };
            let sides = joints.all[*index as usize].bodies.map(solver_index);
            let high_mass_ratio = sides.iter().any(|(_, high_mass_ratio)| *high_mass_ratio);
            solvers[usize::from(high_mass_ratio)]
                .joints
                .add(*index as usize, sides.map(|(solver_index, _)| solver_index));
        }
        self.counters = RealtimeCounters {
            joints: joint_count,
            contacts: contact_graph.pairs.len(),
            manifolds: solvers.iter_mut().map(|solver| solver.manifold_bodies_mut().len()).sum(),
            solved: solvers.iter().map(SubstepSolver::movable_count).sum(),
            asleep: 0,
        };
    }

    /// Computes the solver coordinates of all bodies in the solvers.
    #[allow(unsafe_code)]
    fn gather_bodies(&mut self, world: &World, dt: f64) {
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let threads = self.threads();
        let Self { solvers, gathered, loads, substeps, non_finite, .. } = self;
        let g = loads.uniform_acceleration();
        let numbers_of = |gathered_body: &GatheredBody| {
            let index = gathered_body.index as usize;
            let wrench = loads.wrench(index);
            let acceleration = g + wrench.force * inertia[index].inverse_mass;
            let h = dt / substeps[usize::from(gathered_body.high_mass_ratio)] as f64;
            let numbers = gather(
                &motion[index],
                &inertia[index],
                acceleration,
                wrench.torque,
                gathered_body.equal_moments,
                h,
                dt,
            );
            // Non-finite numbers would spread through every contact; such a body enters at rest and is
            // quarantined.
            if numbers.0.velocity.is_in_range() && numbers.2.is_in_range() {
                return (numbers, true);
            }
            let at_rest = Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..motion[index] };
            (gather(&at_rest, &inertia[index], DVec3::ZERO, DVec3::ZERO, true, h, dt), false)
        };
        let any_non_finite = AtomicBool::new(false);
        let buffers = solvers.each_mut().map(SubstepSolver::buffers);
        spread(threads, gathered.len(), MIN_STEP_BODIES_PER_THREAD, |range| {
            for gathered_body in &gathered[range] {
                let ((solver_body, frame, kick), finite) = numbers_of(gathered_body);
                if !finite {
                    any_non_finite.store(true, Ordering::Relaxed);
                }
                let (solver_bodies, frames, kicks) = &buffers[usize::from(gathered_body.high_mass_ratio)];
                let solver_index = gathered_body.solver_index as usize;
                // SAFETY: every body has an index of its own.
                unsafe {
                    *solver_bodies.get_mut(solver_index) = solver_body;
                    *frames.get_mut(solver_index) = frame;
                    *kicks.get_mut(solver_index) = kick;
                }
            }
        });
        if any_non_finite.into_inner() {
            non_finite.extend(
                gathered
                    .iter()
                    .filter(|gathered_body| !numbers_of(gathered_body).1)
                    .map(|gathered_body| gathered_body.index as usize),
            );
        }
    }

    /// Marks the bodies of islands with a high mass ratio between bodies in contact, or without contacts and with
    /// a jointed body that nutates fast ⇒ factor for the number of sub-steps.
    fn mark_high_mass_ratio(&mut self, world: &World) -> usize {
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let (dt, substeps) = (self.dt, self.settings.substeps.max(1) as usize);
        let Self {
            sim_bodies,
            contact_graph,
            islands,
            joints,
            high_mass_ratio,
            marked_roots,
            contact_roots,
            gyroscopic_slots,
            ..
        } = self;
        for slot in high_mass_ratio.drain(..) {
            if let Some(sim_body) = sim_bodies.body_mut(slot) {
                sim_body.high_mass_ratio = false;
            }
        }
        let index_of = |slot: u32| {
            let movable =
                |sim_body: &&SimBody| sim_body.status == Status::Dynamic && sim_body.solver_index != EXACT;
            let sim_body = sim_bodies.body(slot).filter(movable)?;
            Some(sim_body.index).filter(|index| (*index as usize) < inertia.len())
        };
        // The factor grows with the square root of the ratio, as the stiffness of a contact grows with the
        // square of the sub-step rate.
        let mass_ratio_factor = |[a, b]: [u32; 2]| {
            let (a, b) = (inertia[a as usize].inverse_mass, inertia[b as usize].inverse_mass);
            (a.max(b) / a.min(b) / HIGH_MASS_RATIO).sqrt()
        };
        let nutation_factor = |index: u32| {
            let index = index as usize;
            substep_factor(nutation_rate(&motion[index], &inertia[index]), dt, substeps)
        };
        let touching = || contact_graph.near().map(|(_, pair)| pair.bodies);
        let jointed = || joints.active(sim_bodies).map(|joint| joints.all[joint].bodies);
        let connected =
            || touching().chain(jointed()).filter_map(|[a, b]| Some([index_of(a)?, index_of(b)?]));
        let nutating = || {
            // With equal moments of inertia there is no nutation.
            let unequal = |slot: &u32| sim_bodies.body(*slot).is_some_and(|body| !body.equal_moments);
            let with_index =
                jointed().flatten().filter(unequal).filter_map(|slot| Some((slot, index_of(slot)?)));
            with_index.filter(|(_, index)| nutation_factor(*index) > 1.0)
        };
        let mut worst = if self.direct.mass_ratio > HIGH_MASS_RATIO {
            connected().map(mass_ratio_factor).fold(1.0, f64::max)
        } else {
            1.0
        };
        if worst <= 1.0 && nutating().next().is_none() {
            return 1;
        }
        islands.reset(inertia.len());
        connected().for_each(|[a, b]| islands.unite(a, b));
        for roots in [&mut *marked_roots, &mut *contact_roots] {
            roots.clear();
            roots.resize(inertia.len(), false);
        }
        for index in touching().flatten().filter_map(index_of) {
            contact_roots[islands.root(index) as usize] = true;
        }
        for [index, _] in connected().filter(|pair| mass_ratio_factor(*pair) > 1.0) {
            marked_roots[islands.root(index) as usize] = true;
        }
        gyroscopic_slots.clear();
        for (slot, index) in nutating() {
            let root = islands.root(index) as usize;
            if !contact_roots[root] {
                marked_roots[root] = true;
                worst = worst.max(nutation_factor(index));
                gyroscopic_slots.push(slot);
            }
        }
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = islands.root(index as u32);
            if marked_roots[root as usize] {
                high_mass_ratio.push(id.slot());
            }
        }
        for slot in high_mass_ratio.iter() {
            if let Some(sim_body) = sim_bodies.body_mut(*slot) {
                sim_body.high_mass_ratio = true;
            }
        }
        for slot in gyroscopic_slots.iter() {
            if let Some(sim_body) = sim_bodies.body_mut(*slot) {
                sim_body.nutates = true;
            }
        }
        worst.ceil().clamp(1.0, MAX_SUBSTEP_FACTOR) as usize
    }

    /// Prepares the joints of the solvers.
    ///
    /// Stored impulses are those of a sub-step of the default length. Where sub-steps are shorter, the impulses
    /// that they start from are smaller in proportion: the number of sub-steps changes from step to step, and
    /// a warm start many times too large would add energy in each.
    fn prepare_joints(&mut self, world: &World, dt: f64) {
        let threads = self.threads();
        for (group, (solver, substeps)) in self.solvers.iter_mut().zip(self.substeps).enumerate() {
            let h = dt / substeps as f64;
            let softness = joint_softness(&self.settings, h);
            // With a high mass ratio sweeps converge slowly, however few joints there are.
            let exact_joints = self.settings.exact_joints.max(1) as usize;
            let sizes = if group == 1 {
                TreeSizes { least: 1, whole: 0 }
            } else if self.active.len() <= EXACT_JOINT_BUDGET {
                TreeSizes { least: 1, whole: exact_joints }
            } else {
                TreeSizes { least: exact_joints, whole: 0 }
            };
            let context = JointContext { world, sim_bodies: &self.sim_bodies, dt, h, softness };
            let (solver_bodies, first_movable) = (solver.body_count(), solver.first_movable());
            let default_substeps = self.substeps[0];
            if substeps != default_substeps {
                let factor = default_substeps as f32 / substeps as f32;
                solver.joints.scale_impulses(&mut self.joints.all, factor);
                solver.scale_impulses(factor);
            }
            solver.joints.prepare(&self.joints.all, &context, solver_bodies, first_movable, sizes, threads);
        }
    }

    /// Runs both solvers.
    fn solve(&mut self, dt: f64) {
        let threads = self.threads();
        for (solver, substeps) in self.solvers.iter_mut().zip(self.substeps) {
            let h = dt / substeps as f64;
            let frequency = self.settings.contact_frequency * CONTACT_FREQUENCY_PER_RATE / h;
            let damping = self.settings.contact_damping;
            solver.solve(&SubstepPlan {
                substeps,
                h: h as f32,
                parameters: SweepParameters {
                    substep_rate: (1.0 / h) as f32,
                    contact: Softness::new(frequency, damping, h),
                    immovable_contact: Softness::new(2.0 * frequency, damping, h),
                    joint: joint_softness(&self.settings, h),
                    push_speed: self.settings.push_speed as f32,
                    elapsed: 0.0,
                    first_movable: 0,
                },
                threads,
            });
            solver.joints.store_impulses(&mut self.joints.all);
            if substeps != self.substeps[0] {
                let factor = substeps as f32 / self.substeps[0] as f32;
                solver.joints.scale_impulses(&mut self.joints.all, factor);
                solver.scale_impulses(factor);
            }
        }
    }

    /// Contact points of a contact, for the user.
    pub(super) fn points_of<'s>(
        &'s self,
        world: &'s World,
        contact: &'s Contact,
    ) -> impl Iterator<Item = ContactPoint> + 's {
        let sides = contact.bodies.map(|slot| self.sim_bodies.body(slot));
        let colliders = contact.colliders.map(|slot| self.sim_bodies.collider(slot));
        let both = sides[0].zip(sides[1]).zip(colliders[0].zip(colliders[1]));
        let per_second = self.impulse_rate();
        both.into_iter().flat_map(move |((a, b), (collider_a, collider_b))| {
            // By id: the world may have changed since the step.
            let motions = world.bodies().motion_of(a.id).zip(world.bodies().motion_of(b.id));
            motions.into_iter().flat_map(move |(one, other)| {
                contact.manifolds().flat_map(move |manifold| {
                    let axes = |sim_body: &SimBody, motion: &Motion| {
                        if sim_body.status == Status::Fixed { DQuat::IDENTITY } else { motion.q }
                    };
                    let normal = axes(a, one) * manifold.normal();
                    // The manifold has one friction impulse; points share it by their normal impulses.
                    let friction = axes(a, one) * manifold.friction_impulse() * per_second;
                    let total: f64 = manifold.points().iter().map(|point| f64::from(point.impulse())).sum();
                    manifold.points().iter().map(move |contact_point| ContactPoint {
                        bodies: [a.id, b.id],
                        shapes: [collider_a.id, collider_b.id],
                        normal,
                        point: if b.status == Status::Fixed {
                            one.x + axes(a, one) * contact_point.anchor_a()
                        } else {
                            other.x + axes(b, other) * contact_point.anchor_b()
                        },
                        gap: contact_point.gap().into(),
                        force: if total > 0.0 {
                            let impulse = f64::from(contact_point.impulse());
                            normal * (impulse * per_second) + friction * (impulse / total)
                        } else {
                            DVec3::ZERO
                        },
                    })
                })
            })
        })
    }
}

/// What the narrow phase needs, without the effect of gravity.
fn narrow_phase_context<'s>(
    world: &'s World,
    sim_bodies: &'s SimBodies,
    settings: &super::RealtimeSettings,
    dt: f64,
) -> NarrowPhaseContext<'s> {
    NarrowPhaseContext {
        world,
        sim_bodies,
        dt,
        foresight: settings.foresight,
        recycling: settings.recycling,
        fall: 0.0,
    }
}

/// Body ⇒ √m v.
pub(super) fn linear_coordinates(motion: &Motion, inertia: &Inertia) -> DVec3 {
    motion.v / inertia.inverse_mass.sqrt()
}

/// Body ⇒ y = (√m v, √I Rᵀ ω).
pub(super) fn coordinates(motion: &Motion, inertia: &Inertia) -> (DVec3, DVec3) {
    let root = inertia.inverse_moments.map(f64::sqrt);
    // With locked rotations the inverse moments and ω are zero.
    let spin = motion.q.conjugate() * motion.omega;
    let w = if root == DVec3::ZERO { DVec3::ZERO } else { spin / root };
    (linear_coordinates(motion, inertia), w)
}

/// Body ⇒ (solver coordinates, frame, kick of a sub-step h).
fn gather(
    motion: &Motion,
    inertia: &Inertia,
    acceleration: DVec3,
    torque: DVec3,
    equal_moments: bool,
    h: f64,
    dt: f64,
) -> (SolverBody, SolverFrame, Kick) {
    let (scale, root) = (inertia.inverse_mass.sqrt(), inertia.inverse_moments.map(f64::sqrt));
    let to_body = motion.q.conjugate();
    let (v, w) = coordinates(motion, inertia);
    let mut angular = (to_body * torque) * root * h;
    if !equal_moments && root != DVec3::ZERO {
        // Change of ω by free rotation over the step, distributed evenly over the sub-steps.
        let l = inertia.angular_momentum(motion.q, motion.omega);
        let q = rotate_freely(motion.q, l, inertia.inverse_moments, dt);
        let change = inertia.angular_velocity(q, l) - motion.omega;
        angular += (to_body * change) / root * (h / dt);
    }
    let linear = acceleration / scale * h;
    let solver_body = SolverBody { velocity: BodyRow::new(v, w), shift: BodyRow::default() };
    let damping = inertia.damping_factors(h);
    (solver_body, SolverFrame::new(motion.q, root, scale), Kick::new(linear, damping[0], angular, damping[1]))
}

/// Soft constraint of joints that are solved iteratively.
///
/// In a long chain a sweep reduces a slow mode only by a small fraction ε, and its impulse accumulates from
/// sub-step to sub-step. With β the fraction of the drift corrected and γ the fraction of the impulse that is
/// removed per sub-step, such a mode obeys D³ + (2ε + γ)D² + ε(1 + β)D + εβ = 0, which by the Routh–Hurwitz
/// criterion is stable for every ε if γ(1 + β) > β: at a frequency of at most 1/(2πh). A chain of a hundred
/// links stays bounded at twice that; the default is in between.
fn joint_softness(settings: &super::RealtimeSettings, h: f64) -> Softness {
    Softness::new(settings.joint_frequency / (std::f64::consts::TAU * h), settings.joint_damping, h)
}
