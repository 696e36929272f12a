//! The stages of a step.

use super::block::{Frame, Mover, Softness, Sweep};
use super::bond::{Bonds, Filling};
use super::contact::{Contact, Sight, Table};
use super::kernel::Link;
use super::lanes::Row;
use super::roster::{Life, NONE, Roster, place_box, set_box};
use super::sleep::{Islands, Ties};
use super::solver::{Plan, Solver};
use super::spinner::{Spinner, nutation_rate, times_finer};
use super::team::{Portions, Shared, together};
use super::{Realtime, RealtimeCounters, TouchPoint};
use crate::error::Error;
use crate::motion::{Inertia, Motion, fly, rotate_freely};
use crate::simulator::stage_times::{StageTimes, Stopwatch};
use crate::world::{Event, Handle, Status, World};
use glam::{DQuat, DVec3, Mat3};

/// Between two searches for islands that may sleep, in steps.
const SETTLE_EVERY: u64 = 8;
/// A mover that has been asked for and not yet been placed.
const WANTED: u32 = NONE - 1;
/// Ratio of two masses in contact from which on their island gets more sub-steps.
const DELICATE_RATIO: f64 = 25.0;

impl Realtime {
    pub(super) fn advance(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut watch = Stopwatch::start();
        self.dt = dt;
        self.sick.clear();
        let time = world.time();
        if let Some(memory) = self.recalled.take() {
            self.take_up(memory, world)?;
        }
        if self.roster.has_lost_track(world) {
            self.start_over()?;
        }
        self.roster.sync(world, &mut *self.space)?;
        self.thin_crowds(world)?;
        if self.bonds.sync(world) {
            self.table.listen(&Sight { world, roster: &self.roster, dt });
        }
        for slot in std::mem::take(&mut self.roster.disturbed) {
            self.islands.wake(&mut self.roster, slot, time, &mut self.events);
        }
        self.roster.note_driven(world);
        self.meet(world, time);
        let pairs = watch.lap();
        world.gather_loads(time, &mut self.loads);
        self.look(world, time);
        self.bounce(world, dt);
        let contacts = watch.lap();
        self.enlist_movers(world, dt);
        self.fill_bonds(world, dt);
        self.fly_free(world, dt);
        self.solve(dt);
        let solve = watch.lap();
        self.tell_contacts(world.counters().steps + 1, time);
        self.finish(world, dt)?;
        if self.settings.sleep && world.counters().steps.is_multiple_of(SETTLE_EVERY) {
            let patience = self.settings.sleep_time as f32;
            let Self { islands, roster, table, bonds, events, .. } = self;
            islands.settle(world, roster, &Ties { table, bonds }, patience, time + dt, events);
        }
        self.times = StageTimes { pairs, contacts, solve, motion: watch.lap() };
        Ok(())
    }

    /// Forgets everything about the world.
    pub(super) fn start_over(&mut self) -> Result<(), Error> {
        self.space = self.settings.space_kind()?.create();
        self.roster = Roster::default();
        self.table = Table::default();
        self.islands = Islands::default();
        self.bonds = Bonds::default();
        self.told = None;
        Ok(())
    }

    fn threads(&self) -> usize {
        self.settings.threads.clamp(1, 256) as usize
    }

    /// Begins and ends contacts.
    fn meet(&mut self, world: &World, time: f64) {
        self.space.step(self.threads(), &mut self.changes);
        if let Some(told) = self.told.take() {
            let mut changes = std::mem::take(&mut self.changes);
            self.compare_pairs(&told, &mut changes);
            self.changes = changes;
        }
        for pair in &self.changes.vanished {
            let Some(contact) = self.table.end(pair.a.index(), pair.b.index()) else { continue };
            for actor in contact.actors {
                self.islands.wake(&mut self.roster, actor, time, &mut self.events);
            }
        }
        let (foresight, recycling) = (self.settings.foresight, self.settings.recycling);
        let sight = Sight { world, roster: &self.roster, dt: self.dt };
        for pair in &self.changes.appeared {
            self.table.begin(&sight, pair.a.index(), pair.b.index(), foresight, recycling);
        }
    }

    /// Looks at the contacts of everybody who is awake, and wakes whom they touch.
    fn look(&mut self, world: &World, time: f64) {
        let stamp = world.counters().steps + 1;
        loop {
            self.look_once(world, stamp);
            self.sleepers.clear();
            let lives = &self.roster.lives;
            let asleep = |slot: &u32| lives[*slot as usize] == Life::Asleep;
            let touched = self.table.near(stamp).flat_map(|(_, summary)| summary.actors).filter(asleep);
            self.sleepers.extend(touched);
            if self.sleepers.is_empty() {
                break;
            }
            for slot in &self.sleepers {
                self.islands.wake(&mut self.roster, *slot, time, &mut self.events);
            }
        }
    }

    #[allow(unsafe_code)]
    fn look_once(&mut self, world: &World, stamp: u64) {
        let threads = self.threads();
        let contacts = Shared::new(&mut self.table.contacts);
        let summaries = Shared::new(&mut self.table.summaries);
        let sight = Sight { world, roster: &self.roster, dt: self.dt };
        let lives = &self.roster.lives;
        // Looking again takes a hundred times as long as finding that nothing has changed.
        let portions = Portions::new(contacts.len());
        together(threads, |_| {
            for index in std::iter::from_fn(|| portions.take()).flatten() {
                // SAFETY: portions do not overlap.
                let summary = unsafe { summaries.get_mut(index) };
                let stirs = |slot: u32| lives.get(slot as usize).copied().unwrap_or_default().stirs();
                if summary.stamp == stamp || !(stirs(summary.actors[0]) || stirs(summary.actors[1])) {
                    continue;
                }
                // SAFETY: as above.
                let Some(contact) = (unsafe { contacts.get_mut(index) }) else { continue };
                contact.look(&sight);
                summary.stamp = stamp;
                summary.near = contact.is_near() && !contact.sensor;
                summary.bouncy = contact.is_bouncy();
                summary.changed = contact.touching != contact.touched;
            }
        });
    }

    fn tell_contacts(&mut self, stamp: u64, time: f64) {
        let roster = &self.roster;
        for (contact, summary) in self.table.contacts.iter().zip(&self.table.summaries) {
            if summary.stamp != stamp || !summary.changed {
                continue;
            }
            let Some(contact) = contact else { continue };
            let (Some(a), Some(b)) = (roster.part(contact.parts[0]), roster.part(contact.parts[1])) else {
                continue;
            };
            let (Some(one), Some(other)) = (roster.actor(a.actor), roster.actor(b.actor)) else { continue };
            let (bodies, shapes) = ([one.id, other.id], [a.id, b.id]);
            self.events.push(if contact.touching {
                Event::ContactBegan { time, bodies, shapes }
            } else {
                Event::ContactEnded { time, bodies, shapes }
            });
        }
    }

    /// Puts the manifolds that count, and the bodies they belong to, into the solvers.
    fn enlist_movers(&mut self, world: &World, dt: f64) {
        let stamp = world.counters().steps + 1;
        let more = self.mark_delicate(world, stamp);
        let Self { solvers, roster, table, bonds, active, .. } = self;
        solvers.iter_mut().for_each(Solver::clear);
        for (contact, summary) in table.contacts.iter_mut().zip(&table.summaries) {
            if !summary.near || summary.stamp != stamp {
                continue;
            }
            let Some(contact) = contact else { continue };
            if summary.bouncy && contact.answered == stamp {
                continue;
            }
            let [a, b] = summary.actors;
            let mut delicate = false;
            for slot in [a, b] {
                if roster.lives[slot as usize] == Life::Fixed {
                    continue;
                }
                if let Some(actor) = roster.actor_mut(slot) {
                    actor.mover = WANTED;
                    delicate |= actor.delicate;
                }
            }
            let solver = &mut solvers[usize::from(delicate)];
            for patch in contact.patches_mut() {
                solver.add(Link { a, b }, std::ptr::from_mut(patch));
            }
        }
        active.clear();
        active.extend(bonds.active(roster).map(|place| place as u32));
        for place in active.iter() {
            for slot in bonds.all[*place as usize].actors {
                if let Some(actor) = roster.actor_mut(slot).filter(|actor| actor.status != Status::Fixed) {
                    actor.mover = WANTED;
                    actor.joined = true;
                }
            }
        }
        for (place, id) in world.bodies().ids(Status::Animated).iter().enumerate() {
            let Some(actor) = roster.actor_mut(id.slot()) else { continue };
            if actor.mover == WANTED {
                let frame = Frame::driven(&world.bodies().motion(Status::Animated)[place]);
                // It may meet bodies of both kinds, and has the same place with both.
                for solver in solvers.iter_mut() {
                    actor.mover = solver.enter(Mover::default(), frame, Row::default());
                }
            }
        }
        solvers.iter_mut().for_each(Solver::begin_free);
        let g = self.loads.uniform_acceleration();
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let substeps = self.settings.substeps.max(1) as usize;
        self.substeps = [substeps, substeps * more];
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = roster.actor_mut(id.slot()) else { continue };
            if actor.mover != WANTED {
                continue;
            }
            let group = usize::from(actor.delicate);
            let wrench = self.loads.wrench(place);
            let acceleration = g + wrench.force * inertia[place].inverse_mass;
            let h = dt / self.substeps[group] as f64;
            let spins = actor.joined
                && times_finer(nutation_rate(&motion[place], &inertia[place]), dt, substeps) > 1.0;
            let evenly = actor.round || spins;
            let entered = enter(&motion[place], &inertia[place], acceleration, wrench.torque, evenly, h, dt);
            // Numbers that are none must not get among the others: they would spread through every contact.
            let (mover, frame, kick) = if entered.0.is_sane() && is_sane(&entered.2) {
                entered
            } else {
                self.sick.push(place);
                let still = Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..motion[place] };
                enter(&still, &inertia[place], DVec3::ZERO, DVec3::ZERO, true, h, dt)
            };
            actor.mover = solvers[group].enter(mover, frame, kick);
            if spins {
                let (q, inertia) = (motion[place].q, inertia[place]);
                solvers[group].spinners.push(Spinner { mover: actor.mover, q, inertia });
            }
        }
        for link in solvers.iter_mut().flat_map(Solver::links_mut) {
            for side in [&mut link.a, &mut link.b] {
                // What is fixed has no mover of its own.
                *side =
                    roster.actor(*side).map_or(0, |actor| if actor.mover == NONE { 0 } else { actor.mover });
            }
        }
        for place in active.iter() {
            let mover = |slot: u32| {
                roster.actor(slot).map_or((0, false), |actor| {
                    (if actor.mover == NONE { 0 } else { actor.mover }, actor.delicate)
                })
            };
            let sides = bonds.all[*place as usize].actors.map(mover);
            let delicate = sides.iter().any(|(_, delicate)| *delicate);
            solvers[usize::from(delicate)].bonds.add(*place as usize, sides.map(|(mover, _)| mover));
        }
        self.counters = RealtimeCounters {
            joints: active.len(),
            contacts: table.contacts.len(),
            manifolds: solvers.iter_mut().map(|solver| solver.links_mut().len()).sum(),
            solved: solvers.iter().map(Solver::free_count).sum(),
            asleep: 0,
        };
    }

    /// Marks the bodies of islands in which a body meets a much lighter one or hangs on a joint and spins fast ⇒ how many times
    /// as many sub-steps they need.
    fn mark_delicate(&mut self, world: &World, stamp: u64) -> usize {
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let (dt, substeps) = (self.dt, self.settings.substeps.max(1) as usize);
        let Self { roster, table, islands, bonds, delicate, marked, .. } = self;
        for slot in delicate.drain(..) {
            if let Some(actor) = roster.actor_mut(slot) {
                actor.delicate = false;
            }
        }
        let place = |slot: u32| {
            let actor = roster.actor(slot).filter(|actor| actor.status == Status::Dynamic)?;
            Some(actor.place).filter(|place| (*place as usize) < inertia.len())
        };
        // A small step needs more care with the root of the ratio: the stiffness of a contact grows with the square of the sub-steps.
        let uneven = |[a, b]: [u32; 2]| {
            let (a, b) = (inertia[a as usize].inverse_mass, inertia[b as usize].inverse_mass);
            (a.max(b) / a.min(b) / DELICATE_RATIO).sqrt()
        };
        let spins = |place: u32| {
            let place = place as usize;
            times_finer(nutation_rate(&motion[place], &inertia[place]), dt, substeps)
        };
        let touching = || table.near(stamp).map(|(_, summary)| summary.actors);
        let joined = || bonds.active(roster).map(|bond| bonds.all[bond].actors);
        let met = || touching().chain(joined()).filter_map(|[a, b]| Some([place(a)?, place(b)?]));
        let spinning = || joined().flatten().filter_map(place).filter(|place| spins(*place) > 1.0);
        let worst = met().map(uneven).chain(spinning().map(spins)).fold(1.0, f64::max);
        if worst <= 1.0 {
            return 1;
        }
        islands.part(inertia.len());
        met().for_each(|[a, b]| islands.unite(a, b));
        marked.clear();
        marked.resize(inertia.len(), false);
        let uneven_pairs = met().filter(|pair| uneven(*pair) > 1.0).map(|pair| pair[0]);
        for place in uneven_pairs.chain(spinning()) {
            marked[islands.root(place) as usize] = true;
        }
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let root = islands.root(place as u32);
            if marked[root as usize] {
                delicate.push(id.slot());
            }
        }
        for slot in delicate.iter() {
            if let Some(actor) = roster.actor_mut(*slot) {
                actor.delicate = true;
            }
        }
        worst.ceil().clamp(1.0, 16.0) as usize
    }

    /// Moves the bodies that nothing touches: exactly.
    fn fly_free(&mut self, world: &mut World, dt: f64) {
        let g = self.loads.uniform_acceleration();
        let ids = world.bodies().count(Status::Dynamic);
        for place in 0..ids {
            let id = world.bodies().ids(Status::Dynamic)[place];
            let Some(actor) = self.roster.actor(id.slot()) else { continue };
            if actor.asleep || actor.mover != NONE {
                continue;
            }
            let wrench = self.loads.wrench(place);
            if !(wrench.force.is_finite() && wrench.torque.is_finite()) {
                self.sick.push(place);
                continue;
            }
            let (motion, inertia) = world.bodies_mut().dynamic_mut();
            let (motion, inertia) = (&mut motion[place], &inertia[place]);
            let kick = |motion: &mut Motion| {
                motion.v += (g + wrench.force * inertia.inverse_mass) * (0.5 * dt);
                motion.omega += inertia.angular_velocity(motion.q, wrench.torque * (0.5 * dt));
                motion.v *= (-0.5 * dt * inertia.linear_damping).exp();
                motion.omega *= (-0.5 * dt * inertia.angular_damping).exp();
            };
            kick(motion);
            fly(std::slice::from_mut(motion), std::slice::from_ref(inertia), dt);
            kick(motion);
        }
    }

    /// Makes the joints ready for their solvers.
    fn fill_bonds(&mut self, world: &World, dt: f64) {
        for (group, (solver, substeps)) in self.solvers.iter_mut().zip(self.substeps).enumerate() {
            let h = dt / substeps as f64;
            let stiffness = joint_softness(&self.settings, h);
            // Between very different masses sweeps get nowhere, however few joints there are.
            let fewest = if group == 1 { 1 } else { self.settings.exact_joints.max(1) as usize };
            let filling = Filling { world, roster: &self.roster, dt, h, stiffness };
            let (movers, first_free) = (solver.mover_count(), solver.first_free());
            solver.bonds.fill(&mut self.bonds, &filling, movers, first_free, fewest);
        }
    }

    fn solve(&mut self, dt: f64) {
        let threads = self.threads();
        for (solver, substeps) in self.solvers.iter_mut().zip(self.substeps) {
            let h = dt / substeps as f64;
            let frequency = self.settings.contact_frequency * 0.25 / h;
            let damping = self.settings.contact_damping;
            solver.solve(&Plan {
                substeps,
                h: h as f32,
                sweep: Sweep {
                    rate: (1.0 / h) as f32,
                    soft: Softness::new(frequency, damping, h),
                    stiff: Softness::new(2.0 * frequency, damping, h),
                    bond: joint_softness(&self.settings, h),
                    push_speed: self.settings.push_speed as f32,
                    elapsed: 0.0,
                    first_free: 0,
                },
                threads,
            });
            solver.bonds.keep(&mut self.bonds.all);
        }
    }

    /// Takes the solved bodies back into the world, and gives everybody who moved a new box.
    fn finish(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.take_back(world, dt);
        if !self.sweeps.fast.is_empty() {
            self.stop_fast(world, dt)?;
        }
        let (foresight, still_speed) = (self.settings.foresight, self.settings.sleep_speed);
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = self.roster.actors.get_mut(id.slot() as usize).and_then(Option::as_mut) else {
                continue;
            };
            if actor.asleep {
                self.counters.asleep += 1;
                continue;
            }
            let motion = &world.bodies().motion(Status::Dynamic)[place];
            if !motion.is_finite() {
                continue;
            }
            let speed = motion.v.length() + motion.omega.length() * actor.reach;
            actor.still = if speed < still_speed { actor.still + dt as f32 } else { 0.0 };
            let pose = motion.pose();
            for index in &actor.parts {
                let Some(part) = self.roster.parts.get(*index as usize).and_then(Option::as_ref) else {
                    continue;
                };
                let margin = foresight.min(0.25 * part.radius);
                let travel = part.velocity(motion) * dt;
                let far = travel.length_squared() > foresight * foresight;
                if far && let Some(bounds) = part.shape.aabb(&(pose * part.place)) {
                    let bounds =
                        bounds.enlarged(margin).and_then(|bounds| bounds.swept(travel)).unwrap_or(bounds);
                    set_box(&mut *self.space, part, &bounds)?;
                } else {
                    place_box(&mut *self.space, part, &pose, margin)?;
                }
            }
        }
        self.move_animated(world, dt)
    }

    /// Takes the solved bodies back into the world, bends the paths of those that bounced, and lists the fast ones.
    fn take_back(&mut self, world: &mut World, dt: f64) {
        for place in 0..world.bodies().count(Status::Dynamic) {
            let id = world.bodies().ids(Status::Dynamic)[place];
            let Some(actor) = self.roster.actor_mut(id.slot()) else { continue };
            actor.joined = false;
            let mover = std::mem::replace(&mut actor.mover, NONE);
            if mover != NONE {
                let (mover, frame) = self.solvers[usize::from(actor.delicate)].leave(mover);
                leave(&mut world.bodies_mut().dynamic_mut().0[place], mover, frame);
            }
        }
        for (place, moved, turned) in &self.bounces.bends {
            let motion = &mut world.bodies_mut().dynamic_mut().0[*place as usize];
            motion.x += *moved;
            motion.q = (DQuat::from_scaled_axis(*turned) * motion.q).normalize();
        }
        self.sweeps.fast.clear();
        if !self.settings.continuous {
            return;
        }
        for (place, (before, now)) in
            self.before.iter().zip(world.bodies().motion(Status::Dynamic)).enumerate()
        {
            let id = world.bodies().ids(Status::Dynamic)[place];
            if let Some(actor) = self.roster.actor(id.slot())
                && !actor.asleep
                && now.is_finite()
                && self.is_fast(actor, before, now, dt)
            {
                self.sweeps.fast.push(place as u32);
            }
        }
    }

    /// Animated bodies go where their paths lead; their boxes go ahead.
    fn move_animated(&mut self, world: &World, dt: f64) -> Result<(), Error> {
        for id in world.bodies().ids(Status::Animated) {
            if let Some(actor) = self.roster.actor_mut(id.slot()) {
                actor.mover = NONE;
            }
            let Some(actor) = self.roster.actor(id.slot()) else { continue };
            let body = world.body(*id)?;
            let pose = match body.path() {
                Some((path, start)) => path.at(&start, world.time() + dt).pose * *body.body_from_principal(),
                None => body.motion().pose(),
            };
            for index in &actor.parts {
                if let Some(part) = self.roster.part(*index) {
                    place_box(&mut *self.space, part, &pose, self.settings.foresight)?;
                }
            }
        }
        Ok(())
    }

    /// The points of a contact as a user sees them.
    pub(super) fn points_of<'s>(
        &'s self,
        world: &'s World,
        contact: &'s Contact,
    ) -> impl Iterator<Item = TouchPoint> + 's {
        let sides = contact.actors.map(|slot| self.roster.actor(slot));
        let known = sides[0].zip(sides[1]);
        let delicate = sides.iter().flatten().any(|actor| actor.delicate);
        let per_second = self.substeps[usize::from(delicate)] as f64 / self.dt;
        known.into_iter().flat_map(move |(a, b)| {
            // By name: the world may have changed since the step.
            let motions = world.bodies().motion_of(a.id).zip(world.bodies().motion_of(b.id));
            motions.into_iter().flat_map(move |(one, other)| {
                contact.patches().flat_map(move |patch| {
                    let axes = |actor: &super::roster::Actor, motion: &Motion| {
                        if actor.status == Status::Fixed { DQuat::IDENTITY } else { motion.q }
                    };
                    let normal = axes(a, one) * patch.head.vector(0);
                    patch.points[..patch.count as usize].iter().map(move |row| TouchPoint {
                        bodies: [a.id, b.id],
                        normal,
                        point: if b.status == Status::Fixed {
                            one.x + axes(a, one) * row.vector(0)
                        } else {
                            other.x + axes(b, other) * row.vector(3)
                        },
                        gap: row.0[7].into(),
                        force: f64::from(row.0[6]) * per_second,
                    })
                })
            })
        })
    }
}

/// A body ⇒ its solver coordinates, how they lie in the world, and what forces do to them in a sub-step h.
fn enter(
    motion: &Motion,
    inertia: &Inertia,
    acceleration: DVec3,
    torque: DVec3,
    round: bool,
    h: f64,
    dt: f64,
) -> (Mover, Frame, Row) {
    let (scale, root) = (inertia.inverse_mass.sqrt(), inertia.inverse_moments.map(f64::sqrt));
    let own = motion.q.conjugate();
    let v = motion.v / scale;
    let w = (own * motion.omega) / root;
    let mut turning = (own * torque) * root * h;
    if !round {
        // What a free body's angular velocity would do in this step, spread over it.
        let l = inertia.angular_momentum(motion.q, motion.omega);
        let q = rotate_freely(motion.q, l, inertia.inverse_moments, dt);
        let change = inertia.angular_velocity(q, l) - motion.omega;
        turning += (own * change) / root * (h / dt);
    }
    let push = acceleration / scale * h;
    let row = |a: DVec3, p: f64, b: DVec3, q: f64| {
        Row([a.x as f32, a.y as f32, a.z as f32, p as f32, b.x as f32, b.y as f32, b.z as f32, q as f32])
    };
    let mover = Mover { velocity: row(v, 0.0, w, 0.0), shift: Row::default() };
    let damping = [(-h * inertia.linear_damping).exp(), (-h * inertia.angular_damping).exp()];
    (mover, Frame::new(motion.q, root, scale), row(push, damping[0], turning, damping[1]))
}

/// Locks of joints that are swept.
///
/// In a long chain a sweep gets only a small part ε of a slow mode done, and what it pulls for adds up from sub-step to
/// sub-step. With β the part of the drift taken back and γ the part of the impulse that leaks away, such a mode obeys
/// D³ + (2ε + γ)D² + ε(1 + β)D + εβ = 0, which is stable for every ε if γ(1 + β) > β: at a frequency of at most 1/(2πh). A
/// swept chain of a hundred links stays bounded at twice that; the default is in between.
fn joint_softness(settings: &super::RealtimeSettings, h: f64) -> Softness {
    Softness::new(settings.joint_frequency / (std::f64::consts::TAU * h), settings.joint_damping, h)
}

/// Whether single precision can bear it.
fn is_sane(row: &Row) -> bool {
    row.0.iter().all(|number| number.abs() < 1e15)
}

impl Mover {
    fn is_sane(&self) -> bool {
        is_sane(&self.velocity)
    }
}

/// Solver coordinates ⇒ body.
fn leave(motion: &mut Motion, mover: &Mover, frame: &Frame) {
    let root = frame.rest.vector(1);
    let scale = f64::from(frame.rest.0[4]);
    let (v, w) = (mover.velocity.vector(0), mover.velocity.vector(4));
    let (moved, turned) = (mover.shift.vector(0), mover.shift.vector(4));
    motion.v = v * scale;
    motion.omega = motion.q * (w * root);
    motion.x += moved * scale;
    motion.q = (DQuat::from_scaled_axis(motion.q * (turned * root)) * motion.q).normalize();
}

impl Frame {
    /// Of what never moves.
    pub(super) fn fixed() -> Self {
        Self::new(DQuat::IDENTITY, DVec3::ZERO, 0.0)
    }

    fn driven(motion: &Motion) -> Self {
        let (v, w) = (motion.v.as_vec3(), motion.omega.as_vec3());
        let drive = Row([v.x, v.y, v.z, 0.0, w.x, w.y, w.z, 0.0]);
        Self { drive, ..Self::new(motion.q, DVec3::ZERO, 0.0) }
    }

    fn new(q: DQuat, root: DVec3, scale: f64) -> Self {
        let r = Mat3::from_quat(q.as_quat()).to_cols_array();
        let root = root.as_vec3();
        Self {
            axes: Row([r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]]),
            rest: Row([r[8], root.x, root.y, root.z, scale as f32, 0.0, 0.0, 0.0]),
            drive: Row::default(),
        }
    }
}
