//! Direct solution of small islands with high mass ratio, and of columns (`column`).
//!
//! A sweep propagates a load from contact to contact by a fraction that falls with the mass ratio, and a soft
//! contact as stiff as the lighter of two bodies allows yields by the load over its stiffness. A tower whose
//! masses double from box to box is harmless pair by pair and sinks by a third of a box as a whole: what
//! counts is the load of the whole island on its lightest body. Islands of few bodies with a total mass of
//! more than [`DIRECT_MASS_RATIO`] times the lightest are therefore solved as a whole: with M the mass
//! matrix, J the rows of all points and h the step,
//!
//!   M (v − v*) = Jᵀ p,   0 ≤ p_n ⟂ u_n + s/h ≥ 0,   p_τ within the friction cone
//!
//! (the time-stepping scheme of Stewart & Trinkle 1996), by a Newton method on all contacts together
//! (`numerics::lcp::blocks`), in double precision and without softness. Positions are integrated with
//! velocities that also correct a fraction of every overlap s < 0, the velocities kept are those without the
//! correction, so that it adds no momentum. Islands for which the method does not converge are left to the
//! sweeps.

use super::Realtime;
use super::column::ColumnSearch;
use super::contact::Contact;
use super::contact_graph::ContactPair;
use super::manifold_constraint::ManifoldConstraint;
use super::sim_bodies::{Activity, EXACT, NONE};
use super::tuning::{
    DIRECT_MASS_RATIO, DIRECT_MAX_BODIES, DIRECT_MAX_PAIRS, DIRECT_MAX_POINTS, DIRECT_RECOVERY,
    DIRECT_SLIDING_DECELERATION, DIRECT_SLOP, DIRECT_WORLD_RATIO, SOFT_COLUMN_LIMIT,
};
use crate::rigid::{Inertia, Motion, rotate_freely};
use crate::world::{Handle, Status, World};
use glam::{DQuat, DVec3};
use rattleback_numerics::lcp::blocks::{
    Block, BlockContact, BlockProblem, BlockSettings, BlockSolver, Stiffness,
};
use rattleback_numerics::team::each;

/// An island that is solved directly in the present step.
#[derive(Debug, Default)]
struct DirectIsland {
    /// Slots and indices of the bodies.
    bodies: Vec<(u32, u32)>,
    /// Pairs, by slot in the contact graph.
    pairs: Vec<u32>,
    problem: BlockProblem,
    gaps: Vec<f64>,
    /// By manifold: world → axes of A.
    axes_of_a: Vec<DQuat>,
    solver: BlockSolver,
    impulses: Vec<DVec3>,
    drift_velocities: Vec<[DVec3; 2]>,
    velocities: Vec<[DVec3; 2]>,
    motions: Vec<Motion>,
    solved: bool,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct DirectSolver {
    islands: Vec<DirectIsland>,
    count: usize,
    /// By root of an island.
    roots: Vec<IslandTotals>,
    /// Revision of the bodies for which `mass_ratio` was computed.
    revision: Option<u64>,
    /// Mass of the heaviest dynamic body of the world relative to the lightest.
    pub(super) mass_ratio: f64,
    columns: ColumnSearch,
}

/// Totals of an island, by its root.
#[derive(Clone, Copy, Debug)]
struct IslandTotals {
    /// Mass of the island, kg, and 1/m of its lightest body, 1/kg.
    mass: f64,
    lightest: f64,
    bodies: u32,
    /// Whether something in it excludes it from this solver.
    excluded: bool,
    island: u32,
}

const EMPTY: IslandTotals =
    IslandTotals { mass: 0.0, lightest: 0.0, bodies: 0, excluded: false, island: NONE };

impl Realtime {
    /// Solves islands with high mass ratio and columns ⇒ whether there are any; their bodies are marked as [`EXACT`].
    pub(super) fn run_direct(&mut self, world: &World, dt: f64) -> bool {
        self.direct.count = 0;
        self.find_uneven_islands(world);
        self.find_columns(world);
        if self.direct.count == 0 {
            return false;
        }
        let threads = self.threads();
        let Self { direct, sim_bodies, contact_graph, loads, settings, .. } = self;
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let substeps = settings.substeps.max(1) as f64;
        let push_speed = settings.push_speed;
        let bodies = &*sim_bodies;
        each(threads.min(direct.count), &mut direct.islands[..direct.count], |_, island| {
            island.problem.blocks.clear();
            for (_, index) in &island.bodies {
                let index = *index as usize;
                let wrench = loads.wrench(index);
                let acceleration = loads.uniform_acceleration() + wrench.force * inertia[index].inverse_mass;
                island.problem.blocks.push(block(
                    &motion[index],
                    &inertia[index],
                    acceleration,
                    wrench.torque,
                    dt,
                ));
            }
            island.problem.contacts.clear();
            island.gaps.clear();
            island.axes_of_a.clear();
            island.impulses.clear();
            let pairs = std::mem::take(&mut island.pairs);
            for pair in &pairs {
                let pair = &contact_graph.pairs[*pair as usize];
                let Some(contact) = contact_graph.contact(pair) else { continue };
                let motion_of = |slot: u32| bodies.body(slot).and_then(|sim_body| sim_body.motion(world));
                let [Some(a), Some(b)] = pair.bodies.map(motion_of) else { continue };
                let movable = pair.bodies.map(|slot| island.bodies.iter().position(|body| body.0 == slot));
                for manifold in contact.manifolds() {
                    let sides = [(a, movable[0]), (b, movable[1])];
                    island.add_manifold(manifold, sides, contact.origin(), dt, substeps);
                }
            }
            island.pairs = pairs;
            island.solved = island.solve(dt, push_speed);
            if island.solved {
                island.motions.clear();
                for (((_, index), drift), velocity) in
                    island.bodies.iter().zip(&island.drift_velocities).zip(&island.velocities)
                {
                    let Motion { x, q, .. } = motion[*index as usize];
                    island.motions.push(Motion {
                        x: x + drift[0] * dt,
                        q: (DQuat::from_scaled_axis(drift[1] * dt) * q).normalize(),
                        v: velocity[0],
                        omega: velocity[1],
                    });
                }
                // Without impulses bodies fly freely, which free flight integrates exactly.
                let any_impulse = island.impulses.iter().any(|impulse| *impulse != DVec3::ZERO);
                island.solved = any_impulse && island.motions.iter().all(Motion::is_finite);
            }
        });
        let mut any = false;
        for island in direct.islands[..direct.count].iter().filter(|island| island.solved) {
            any = true;
            for (slot, _) in &island.bodies {
                if let Some(sim_body) = sim_bodies.body_mut(*slot) {
                    sim_body.solver_index = EXACT;
                }
            }
            let (mut index, mut manifold_index) = (0, 0);
            for pair in &island.pairs {
                let contact = contact_graph.pairs[*pair as usize].contact;
                let Some(contact) = contact_graph.contacts.get_mut(contact as usize).and_then(Option::as_mut)
                else {
                    continue;
                };
                for manifold in contact.manifolds_mut() {
                    let mut tangent_impulse = DVec3::ZERO;
                    for point in manifold.points_mut() {
                        let Some((impulse, gap)) = island.impulses.get(index).zip(island.gaps.get(index))
                        else {
                            continue;
                        };
                        let [_, t, k] = &island.problem.contacts[index].rows[1];
                        tangent_impulse += t[0] * impulse.y + k[0] * impulse.z;
                        point.set_impulse((impulse.x / substeps) as f32);
                        point.set_gap(*gap as f32);
                        index += 1;
                    }
                    // Warm start of the next step, in A's axes as the sweeps store it.
                    let tangent_impulse = (island.axes_of_a.get(manifold_index).copied().unwrap_or_default()
                        * tangent_impulse
                        / substeps)
                        .as_vec3();
                    manifold.reset_friction_impulse(tangent_impulse);
                    manifold_index += 1;
                }
            }
        }
        any
    }

    /// Writes the solutions to the world.
    pub(super) fn write_direct(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for island in self.direct.islands[..self.direct.count].iter().filter(|island| island.solved) {
            for ((_, index), now) in island.bodies.iter().zip(&island.motions) {
                motion[*index as usize] = *now;
            }
        }
    }

    /// Lists the columns to be solved directly.
    fn find_columns(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { direct, sim_bodies, contact_graph, impacts, loads, .. } = self;
        let motion = world.bodies().motion(Status::Dynamic);
        let dynamic_count = motion.len();
        let h = self.dt / self.settings.substeps.max(1) as f64;
        let give = loads.uniform_acceleration().length() * h * h;
        let uneven_count = direct.count;
        let mut columns = std::mem::take(&mut direct.columns);
        columns.for_each(contact_graph, sim_bodies, |bodies, pairs| {
            let is_plain = |index: &u32| {
                let pair = &contact_graph.pairs[*index as usize];
                contact_graph.contact(pair).is_some_and(|contact| is_plain(pair, contact, stamp))
            };
            let lever = |index: &u32| {
                let contact = contact_graph.contact(&contact_graph.pairs[*index as usize]);
                contact.map_or(0.0, Contact::lever_arm)
            };
            let center = |slot: &u32| {
                let index = sim_bodies.body(*slot).map_or(usize::MAX, |sim_body| sim_body.index as usize);
                motion.get(index).map_or(DVec3::NAN, |motion| motion.x)
            };
            let (top, bottom) = (center(&bodies[0]), center(&bodies[bodies.len() - 1]));
            let count = bodies.len() as f64;
            let half_height = 0.5 * top.distance(bottom) / (count - 1.0);
            // A contact without lever arm carries no column.
            let lever = pairs.iter().map(lever).fold(f64::INFINITY, f64::min);
            let yields =
                lever > 0.0 && count.powi(3) * half_height * give > SOFT_COLUMN_LIMIT * lever * lever;
            if !yields || !pairs.iter().all(is_plain) {
                return;
            }
            let listed = |island: &DirectIsland| island.bodies.iter().any(|(slot, _)| *slot == bodies[0]);
            if direct.islands[..uneven_count].iter().any(listed) {
                return;
            }
            let island = direct.begin_island();
            for slot in bodies {
                let Some(sim_body) = sim_bodies.body(*slot) else { break };
                let has_impact = impacts.outcomes.iter().any(|outcome| outcome.0 == sim_body.index);
                if sim_body.solver_index == EXACT || has_impact || sim_body.index as usize >= dynamic_count {
                    break;
                }
                island.bodies.push((*slot, sim_body.index));
            }
            island.pairs.extend(pairs);
            if island.bodies.len() < bodies.len() {
                direct.count -= 1;
            }
        });
        direct.columns = columns;
    }

    /// Lists the islands with high mass ratio to be solved directly.
    fn find_uneven_islands(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { direct, sim_bodies, contact_graph, islands, joints, impacts, .. } = self;
        let inertia = world.bodies().inertia(Status::Dynamic);
        if direct.revision != sim_bodies.revision || !sim_bodies.pending.is_empty() {
            direct.revision = sim_bodies.revision;
            let (mut most, mut least) = (0.0_f64, f64::INFINITY);
            for inertia in inertia {
                (most, least) = (most.max(inertia.inverse_mass), least.min(inertia.inverse_mass));
            }
            direct.mass_ratio = most / least;
        }
        let masses_differ = direct.mass_ratio > DIRECT_WORLD_RATIO;
        if !masses_differ || contact_graph.near_count() > DIRECT_MAX_PAIRS {
            return;
        }
        let index_of = |slot: u32| {
            let sim_body = sim_bodies.body(slot).filter(|sim_body| sim_body.status == Status::Dynamic)?;
            Some(sim_body.index).filter(|index| (*index as usize) < inertia.len())
        };
        islands.reset(inertia.len());
        for (_, pair) in contact_graph.near() {
            if let [Some(a), Some(b)] = pair.bodies.map(index_of) {
                islands.unite(a, b);
            }
        }
        direct.roots.clear();
        direct.roots.resize(inertia.len(), EMPTY);
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = &mut direct.roots[islands.root(index as u32) as usize];
            let inverse_mass = inertia[index].inverse_mass;
            (root.mass, root.lightest) = (root.mass + 1.0 / inverse_mass, root.lightest.max(inverse_mass));
            root.bodies += 1;
            let is_known = sim_bodies.body(id.slot()).is_some_and(|sim_body| sim_body.solver_index != EXACT);
            root.excluded |= !is_known || sim_bodies.activities[id.slot() as usize] != Activity::Awake;
        }
        let is_direct = |root: &IslandTotals| {
            root.mass * root.lightest > DIRECT_MASS_RATIO
                && root.bodies as usize <= DIRECT_MAX_BODIES
                && !root.excluded
        };
        if !direct.roots.iter().any(is_direct) {
            return;
        }
        for slot in joints.all.iter().flat_map(|joint| joint.bodies) {
            if let Some(index) = index_of(slot) {
                direct.roots[islands.root(index) as usize].excluded = true;
            }
        }
        for (index, ..) in &impacts.outcomes {
            direct.roots[islands.root(*index) as usize].excluded = true;
        }
        for (index, pair) in contact_graph.near() {
            let Some(one) = pair.bodies.iter().find_map(|slot| index_of(*slot)) else { continue };
            let root = islands.root(one) as usize;
            if !is_direct(&direct.roots[root]) {
                continue;
            }
            let is_accepted = |slot: u32| {
                let status = sim_bodies.body(slot).map(|sim_body| sim_body.status);
                status == Some(Status::Fixed) || status == Some(Status::Dynamic)
            };
            let is_plain = contact_graph.contact(pair).is_some_and(|contact| is_plain(pair, contact, stamp));
            if !(is_plain && pair.bodies.iter().all(|slot| is_accepted(*slot))) {
                direct.roots[root].excluded = true;
                continue;
            }
            if direct.roots[root].island == NONE {
                direct.roots[root].island = direct.count as u32;
                direct.begin_island();
            }
            direct.islands[direct.roots[root].island as usize].pairs.push(index as u32);
        }
        for (index, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = direct.roots[islands.root(index as u32) as usize];
            if root.island != NONE {
                let island = &mut direct.islands[root.island as usize];
                // An island that turned out to be excluded has no bodies, and is skipped.
                if root.excluded {
                    island.pairs.clear();
                } else {
                    island.bodies.push((id.slot(), index as u32));
                }
            }
        }
    }
}

impl DirectSolver {
    /// Adds an island.
    fn begin_island(&mut self) -> &mut DirectIsland {
        if self.islands.len() == self.count {
            self.islands.push(DirectIsland::default());
        }
        let island = &mut self.islands[self.count];
        island.bodies.clear();
        island.pairs.clear();
        self.count += 1;
        island
    }
}

/// Whether the contact of a pair has friction only, and no impact in the present step.
fn is_plain(pair: &ContactPair, contact: &Contact, stamp: u64) -> bool {
    let is_impact = pair.bouncy && contact.impact_step == stamp;
    !is_impact && contact.material.rolling_friction == 0.0 && contact.material.spinning_friction == 0.0
}

/// A body with its velocity without contacts.
fn block(motion: &Motion, inertia: &Inertia, acceleration: DVec3, torque: DVec3, dt: f64) -> Block {
    let l = inertia.angular_momentum(motion.q, motion.omega) + torque * dt;
    let q = rotate_freely(motion.q, l, inertia.inverse_moments, dt);
    let damping = inertia.damping_factors(dt);
    let v = (motion.v + acceleration * dt) * damping[0];
    let omega = inertia.angular_velocity(q, l) * damping[1];
    let tensor = inertia.world_tensor(motion.q);
    Block::rigid(inertia.mass(), tensor, inertia.inverse_world_tensor(motion.q), v, omega)
}

impl DirectIsland {
    /// Adds the points of a manifold as contacts of the problem.
    fn add_manifold(
        &mut self,
        manifold: &ManifoldConstraint,
        sides: [(&Motion, Option<usize>); 2],
        origin: DVec3,
        dt: f64,
        substeps: f64,
    ) {
        let pose = |side: usize| {
            let (motion, block) = sides[side];
            if block.is_some() { (motion.x, motion.q) } else { (origin, DQuat::IDENTITY) }
        };
        let (a, b) = (pose(0), pose(1));
        let n = (a.1 * manifold.normal()).normalize_or(DVec3::Z);
        let (t, k) = n.any_orthonormal_pair();
        let friction_impulse = a.1 * manifold.friction_impulse();
        self.axes_of_a.push(a.1.conjugate());
        let load: f64 = manifold.points().iter().map(|point| f64::from(point.impulse())).sum();
        for point in manifold.points() {
            let (pa, pb) = (a.0 + a.1 * point.anchor_a(), b.0 + b.1 * point.anchor_b());
            let center = 0.5 * (pa + pb);
            let rows = |side: usize, sign: f64| {
                let arm = center - pose(side).0;
                [n, t, k].map(|d| [d * sign, arm.cross(d) * sign])
            };
            let speed = |side: usize| {
                sides[side].1.map_or(DVec3::ZERO, |block| {
                    let [v, w] = self.problem.blocks[block].free;
                    v + w.cross(center - pose(side).0)
                })
            };
            let slip = (speed(1) - speed(0)).reject_from_normalized(n).length();
            // A point that slides faster than friction can stop in a step keeps sliding.
            let [sticking, sliding] =
                [manifold.static_friction(), manifold.kinetic_friction()].map(f64::from);
            self.gaps.push(n.dot(pb - pa));
            let friction =
                if slip > DIRECT_SLIDING_DECELERATION * sticking * dt { sliding } else { sticking };
            self.problem.contacts.push(BlockContact {
                blocks: [sides[0].1, sides[1].1],
                rows: [rows(0, -1.0), rows(1, 1.0)],
                target: DVec3::ZERO,
                friction,
                stiffness: Stiffness::Rigid,
            });
            let own = f64::from(point.impulse());
            let share = if load > 0.0 { own / load } else { 0.0 };
            self.impulses.push(
                DVec3::new(own, friction_impulse.dot(t) * share, friction_impulse.dot(k) * share) * substeps,
            );
        }
    }

    /// Solves for the velocities to integrate with, and those to keep ⇒ whether the method converged.
    fn solve(&mut self, dt: f64, push_speed: f64) -> bool {
        if self.bodies.is_empty() || self.problem.contacts.len() > DIRECT_MAX_POINTS {
            return false;
        }
        // The penalty ρ is a multiple of the effective mass of a contact, and has to cover the load of the
        // heaviest body on the lightest.
        let settings = BlockSettings {
            tolerance: 1e-9,
            updates: 60,
            steps: 30,
            all_steps: 300,
            penalty: 1e8,
            ..BlockSettings::default()
        };
        let overlaps = self.gaps.iter().any(|gap| *gap < -DIRECT_SLOP);
        for correcting in [true, false] {
            if !correcting && !overlaps {
                self.velocities.clone_from(&self.drift_velocities);
                break;
            }
            for (contact, gap) in self.problem.contacts.iter_mut().zip(&self.gaps) {
                contact.target.x = if *gap >= 0.0 {
                    -gap / dt
                } else if correcting {
                    (DIRECT_RECOVERY * (-gap - DIRECT_SLOP).max(0.0) / dt).min(push_speed)
                } else {
                    0.0
                };
            }
            let into = if correcting { &mut self.drift_velocities } else { &mut self.velocities };
            match self.solver.solve(&self.problem, &settings, &mut self.impulses, into) {
                // A residual below a fiftieth of the speed that gravity adds in a step is corrected in the
                // next steps, which start from this solution.
                Ok(report) if report.converged || report.residual < 1e-4 + 0.2 * dt => {}
                _ => return false,
            }
        }
        true
    }
}
