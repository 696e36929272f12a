//! Direct solution of small islands with high mass ratio.
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
use super::block::Patch;
use super::lanes::Row;
use super::roster::{EXACT, Life, NONE};
use crate::motion::{Inertia, Motion, rotate_freely};
use crate::world::{Handle, Status, World};
use glam::{DQuat, DVec3};
use rattleback_numerics::lcp::blocks::{
    Block, BlockContact, BlockProblem, BlockSettings, BlockSolver, Stiffness,
};
use rattleback_numerics::team::each;

const RATIO: f64 = 25.0;
const MOST_BODIES: usize = 24;
const MOST_POINTS: usize = 160;
const WORTH: f64 = 1.2;
const MOST_PAIRS: usize = 4096;
const RECOVERY: f64 = 0.3;
const SLOP: f64 = 1e-6;

/// An island that is solved directly in the present step.
#[derive(Debug, Default)]
struct Island {
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
    moving: Vec<[DVec3; 2]>,
    velocities: Vec<[DVec3; 2]>,
    motions: Vec<Motion>,
    done: bool,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct Direct {
    islands: Vec<Island>,
    count: usize,
    /// By root of an island.
    roots: Vec<Root>,
    /// Revision of the bodies for which `masses_differ` was computed.
    known: Option<u64>,
    /// Whether masses in the world differ at all.
    uneven: bool,
}

#[derive(Clone, Copy, Debug)]
struct Root {
    /// Mass of the island, kg, and 1/m of its lightest body, 1/kg.
    mass: f64,
    lightest: f64,
    bodies: u32,
    /// Whether something in it excludes it from this solver.
    unfit: bool,
    island: u32,
}

const ALONE: Root = Root { mass: 0.0, lightest: 0.0, bodies: 0, unfit: false, island: NONE };

impl Realtime {
    /// Solves islands with high mass ratio ⇒ whether there are any; their bodies are marked as [`EXACT`].
    pub(super) fn run_direct(&mut self, world: &World, dt: f64) -> bool {
        self.find_uneven(world);
        if self.direct.count == 0 {
            return false;
        }
        let threads = self.threads();
        let Self { direct, roster, table, loads, settings, .. } = self;
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let substeps = settings.substeps.max(1) as f64;
        let push_speed = settings.push_speed;
        let parts = &*roster;
        each(threads.min(direct.count), &mut direct.islands[..direct.count], |_, island| {
            island.problem.blocks.clear();
            for (_, place) in &island.bodies {
                let place = *place as usize;
                let wrench = loads.wrench(place);
                let acceleration = loads.uniform_acceleration() + wrench.force * inertia[place].inverse_mass;
                island.problem.blocks.push(block(
                    &motion[place],
                    &inertia[place],
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
                let summary = &table.summaries[*pair as usize];
                let Some(contact) = table.contact(summary) else { continue };
                let place = |slot: u32| parts.actor(slot).and_then(|actor| actor.motion(world));
                let [Some(a), Some(b)] = summary.actors.map(place) else { continue };
                let movable = summary.actors.map(|slot| island.bodies.iter().position(|body| body.0 == slot));
                for patch in contact.patches() {
                    let sides = [(a, movable[0]), (b, movable[1])];
                    island.lay(patch, sides, contact.origin(), dt, substeps);
                }
            }
            island.pairs = pairs;
            island.done = island.solve(dt, push_speed);
            if island.done {
                island.motions.clear();
                for (((_, place), moving), velocity) in
                    island.bodies.iter().zip(&island.moving).zip(&island.velocities)
                {
                    let Motion { x, q, .. } = motion[*place as usize];
                    island.motions.push(Motion {
                        x: x + moving[0] * dt,
                        q: (DQuat::from_scaled_axis(moving[1] * dt) * q).normalize(),
                        v: velocity[0],
                        omega: velocity[1],
                    });
                }
                // Without impulses bodies fly freely, which free flight integrates exactly.
                let pushes = island.impulses.iter().any(|impulse| *impulse != DVec3::ZERO);
                island.done = pushes && island.motions.iter().all(Motion::is_finite);
            }
        });
        let mut any = false;
        for island in direct.islands[..direct.count].iter().filter(|island| island.done) {
            any = true;
            for (slot, _) in &island.bodies {
                if let Some(actor) = roster.actor_mut(*slot) {
                    actor.mover = EXACT;
                }
            }
            let (mut index, mut manifold) = (0, 0);
            for pair in &island.pairs {
                let contact = table.summaries[*pair as usize].contact;
                let Some(contact) = table.contacts.get_mut(contact as usize).and_then(Option::as_mut) else {
                    continue;
                };
                for patch in contact.patches_mut() {
                    let count = patch.count as usize;
                    let mut along = DVec3::ZERO;
                    for row in &mut patch.points[..count] {
                        let Some((impulse, gap)) = island.impulses.get(index).zip(island.gaps.get(index))
                        else {
                            continue;
                        };
                        let [_, t, k] = &island.problem.contacts[index].rows[1];
                        along += t[0] * impulse.y + k[0] * impulse.z;
                        row.0[6] = (impulse.x / substeps) as f32;
                        row.0[7] = *gap as f32;
                        index += 1;
                    }
                    // Warm start of the next step, in A's axes as the sweeps store it.
                    let own = (island.axes_of_a.get(manifold).copied().unwrap_or_default() * along
                        / substeps)
                        .as_vec3();
                    patch.grip = Row([own.x, own.y, own.z, 0.0, 0.0, 0.0, 0.0, 0.0]);
                    manifold += 1;
                }
            }
        }
        any
    }

    /// Writes the solutions to the world.
    pub(super) fn place_direct(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for island in self.direct.islands[..self.direct.count].iter().filter(|island| island.done) {
            for ((_, place), now) in island.bodies.iter().zip(&island.motions) {
                motion[*place as usize] = *now;
            }
        }
    }

    /// Lists the islands to be solved directly.
    fn find_uneven(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { direct, roster, table, islands, bonds, bounces, .. } = self;
        direct.count = 0;
        let inertia = world.bodies().inertia(Status::Dynamic);
        if direct.known != roster.revision || !roster.pending.is_empty() {
            direct.known = roster.revision;
            let (mut most, mut least) = (0.0_f64, f64::INFINITY);
            for inertia in inertia {
                (most, least) = (most.max(inertia.inverse_mass), least.min(inertia.inverse_mass));
            }
            direct.uneven = most > WORTH * least;
        }
        if !direct.uneven || table.near(stamp).take(MOST_PAIRS + 1).count() > MOST_PAIRS {
            return;
        }
        let place = |slot: u32| {
            let actor = roster.actor(slot).filter(|actor| actor.status == Status::Dynamic)?;
            Some(actor.place).filter(|place| (*place as usize) < inertia.len())
        };
        islands.part(inertia.len());
        for (_, summary) in table.near(stamp) {
            if let [Some(a), Some(b)] = summary.actors.map(place) {
                islands.unite(a, b);
            }
        }
        direct.roots.clear();
        direct.roots.resize(inertia.len(), ALONE);
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = &mut direct.roots[islands.root(place as u32) as usize];
            let own = inertia[place].inverse_mass;
            (root.mass, root.lightest) = (root.mass + 1.0 / own, root.lightest.max(own));
            root.bodies += 1;
            let known = roster.actor(id.slot()).is_some_and(|actor| actor.mover != EXACT);
            root.unfit |= !known || roster.lives[id.slot() as usize] != Life::Awake;
        }
        let is_uneven = |root: &Root| {
            root.mass * root.lightest > RATIO && root.bodies as usize <= MOST_BODIES && !root.unfit
        };
        if !direct.roots.iter().any(is_uneven) {
            return;
        }
        for slot in bonds.all.iter().flat_map(|bond| bond.actors) {
            if let Some(place) = place(slot) {
                direct.roots[islands.root(place) as usize].unfit = true;
            }
        }
        for (place, ..) in &bounces.bends {
            direct.roots[islands.root(*place) as usize].unfit = true;
        }
        for (index, summary) in table.near(stamp) {
            let Some(one) = summary.actors.iter().find_map(|slot| place(*slot)) else { continue };
            let root = islands.root(one) as usize;
            if !is_uneven(&direct.roots[root]) {
                continue;
            }
            let still = |slot: u32| {
                let status = roster.actor(slot).map(|actor| actor.status);
                status == Some(Status::Fixed) || status == Some(Status::Dynamic)
            };
            let contact = table.contact(summary);
            let plain = contact.is_some_and(|contact| {
                let material = &contact.material;
                let answered = summary.bouncy && contact.answered == stamp;
                !answered && material.rolling_friction == 0.0 && material.spinning_friction == 0.0
            });
            if !(plain && summary.actors.iter().all(|slot| still(*slot))) {
                direct.roots[root].unfit = true;
                continue;
            }
            if direct.roots[root].island == NONE {
                direct.roots[root].island = direct.count as u32;
                if direct.islands.len() == direct.count {
                    direct.islands.push(Island::default());
                }
                let island = &mut direct.islands[direct.count];
                island.bodies.clear();
                island.pairs.clear();
                direct.count += 1;
            }
            direct.islands[direct.roots[root].island as usize].pairs.push(index as u32);
        }
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = direct.roots[islands.root(place as u32) as usize];
            if root.island != NONE {
                let island = &mut direct.islands[root.island as usize];
                // An island that turned out to be excluded has no bodies, and is skipped.
                if root.unfit {
                    island.pairs.clear();
                } else {
                    island.bodies.push((id.slot(), place as u32));
                }
            }
        }
    }
}

/// A body with its velocity without contacts.
fn block(motion: &Motion, inertia: &Inertia, acceleration: DVec3, torque: DVec3, dt: f64) -> Block {
    let l = inertia.angular_momentum(motion.q, motion.omega) + torque * dt;
    let q = rotate_freely(motion.q, l, inertia.inverse_moments, dt);
    let damped = |damping: f64| if damping > 0.0 { (-dt * damping).exp() } else { 1.0 };
    let v = (motion.v + acceleration * dt) * damped(inertia.linear_damping);
    let omega = inertia.angular_velocity(q, l) * damped(inertia.angular_damping);
    let tensor = inertia.world_tensor(motion.q);
    let r = glam::DMat3::from_quat(motion.q);
    let inverse = r * glam::DMat3::from_diagonal(inertia.inverse_moments) * r.transpose();
    Block::rigid(inertia.mass(), tensor, inverse, v, omega)
}

impl Island {
    /// Adds the points of a manifold as contacts of the problem.
    fn lay(
        &mut self,
        patch: &Patch,
        sides: [(&Motion, Option<usize>); 2],
        origin: DVec3,
        dt: f64,
        substeps: f64,
    ) {
        let place = |side: usize| {
            let (motion, block) = sides[side];
            if block.is_some() { (motion.x, motion.q) } else { (origin, DQuat::IDENTITY) }
        };
        let (a, b) = (place(0), place(1));
        let n = (a.1 * patch.head.vector(0)).normalize_or(DVec3::Z);
        let (t, k) = n.any_orthonormal_pair();
        let grip = a.1 * patch.grip.vector(0);
        self.axes_of_a.push(a.1.conjugate());
        let load: f64 = patch.points[..patch.count as usize].iter().map(|row| f64::from(row.0[6])).sum();
        for row in &patch.points[..patch.count as usize] {
            let (pa, pb) = (a.0 + a.1 * row.vector(0), b.0 + b.1 * row.vector(3));
            let middle = 0.5 * (pa + pb);
            let rows = |side: usize, sign: f64| {
                let arm = middle - place(side).0;
                [n, t, k].map(|d| [d * sign, arm.cross(d) * sign])
            };
            let speed = |side: usize| {
                sides[side].1.map_or(DVec3::ZERO, |block| {
                    let [v, w] = self.problem.blocks[block].free;
                    v + w.cross(middle - place(side).0)
                })
            };
            let slip = (speed(1) - speed(0)).reject_from_normalized(n).length();
            // A point that slides faster than friction can stop in a step keeps sliding.
            let [rest, sliding] = [f64::from(patch.surface.0[0]), f64::from(patch.surface.0[1])];
            self.gaps.push(n.dot(pb - pa));
            let friction = if slip > 20.0 * rest * dt { sliding } else { rest };
            self.problem.contacts.push(BlockContact {
                blocks: [sides[0].1, sides[1].1],
                rows: [rows(0, -1.0), rows(1, 1.0)],
                target: DVec3::ZERO,
                friction,
                stiffness: Stiffness::Rigid,
            });
            let own = f64::from(row.0[6]);
            let share = if load > 0.0 { own / load } else { 0.0 };
            self.impulses.push(DVec3::new(own, grip.dot(t) * share, grip.dot(k) * share) * substeps);
        }
    }

    /// Solves for the velocities to integrate with, and those to keep ⇒ whether the method converged.
    fn solve(&mut self, dt: f64, push_speed: f64) -> bool {
        if self.bodies.is_empty() || self.problem.contacts.len() > MOST_POINTS {
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
        let overlaps = self.gaps.iter().any(|gap| *gap < -SLOP);
        for mending in [true, false] {
            if !mending && !overlaps {
                self.velocities.clone_from(&self.moving);
                break;
            }
            for (contact, gap) in self.problem.contacts.iter_mut().zip(&self.gaps) {
                contact.target.x = if *gap >= 0.0 {
                    -gap / dt
                } else if mending {
                    (RECOVERY * (-gap - SLOP).max(0.0) / dt).min(push_speed)
                } else {
                    0.0
                };
            }
            let into = if mending { &mut self.moving } else { &mut self.velocities };
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
