//! The stages of a step.

use super::block::{Frame, Mover, Softness, Sweep};
use super::bond::{Bonds, Filling};
use super::contact::{Contact, Sight, Table};
use super::kernel::Link;
use super::lanes::Row;
use super::mechanism::Mechanisms;
use super::roster::{Actor, EXACT, Life, NONE, Roster};
use super::sleep::{Islands, Ties};
use super::solver::{Plan, Solver};
use super::spinner::{Spinner, nutation_rate, times_finer};
use super::{Realtime, RealtimeCounters, TouchPoint};
use crate::error::Error;
use crate::motion::{Inertia, Motion, rotate_freely};
use crate::simulator::stage_times::{StageTimes, Stopwatch};
use crate::world::{Continuity, Event, Handle, Status, World};
use glam::{DQuat, DVec3, Mat3};
use rattleback_numerics::team::{Portions, Shared, spread, together};
use std::sync::atomic::{AtomicBool, Ordering};

/// Between two searches for islands that may sleep, in steps.
const SETTLE_EVERY: u64 = 8;
/// A mover that has been asked for and not yet been placed.
const WANTED: u32 = NONE - 1;
/// Ratio of two masses in contact from which on their island gets more sub-steps.
const DELICATE_RATIO: f64 = 25.0;

/// Bodies that are not worth another thread.
pub(super) const LEAST_BODIES: usize = 128;

/// So many pairs before one is looked at, its contact is sent for.
const AHEAD: usize = 4;
/// Pairs that are not worth another thread.
const LEAST_LOOKS: usize = 16;

/// A dynamic body on its way into a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrant {
    place: u32,
    mover: u32,
    delicate: bool,
    /// Whether its angular velocity stays as it is when nothing turns it.
    round: bool,
}

impl Realtime {
    pub(super) fn advance(
        &mut self,
        world: &mut World,
        dt: f64,
        continuity: Continuity,
    ) -> Result<(), Error> {
        let mut watch = Stopwatch::start();
        self.dt = dt;
        self.sick.clear();
        let time = world.time();
        world.gather_loads(time, &mut self.loads);
        if let Some(memory) = self.recalled.take() {
            self.take_up(memory, world)?;
        }
        if continuity == Continuity::OtherWorld {
            self.start_over()?;
        } else if self.roster.has_lost_track(world) {
            self.end_contacts(time);
            self.start_over()?;
        } else if continuity == Continuity::SteppedByOthers {
            self.roster.retake_states(world);
        }
        self.roster.sync(world, &mut *self.space, dt)?;
        self.thin_crowds(world)?;
        if self.bonds.sync(world) {
            self.table.listen(&sight(world, &self.roster, &self.settings, dt));
        }
        for slot in std::mem::take(&mut self.roster.disturbed) {
            self.islands.wake(&mut self.roster, slot, time, &mut self.events);
        }
        self.roster.note_driven(world);
        self.meet(world, time);
        let pairs = watch.lap();
        self.look(world, time);
        self.begin_account(world);
        self.begin_stage(world);
        self.bounce(world, dt);
        self.end_stage(world);
        let contacts = watch.lap();
        self.enlist_movers(world, dt);
        self.enter_all(world, dt);
        self.fill_bonds(world, dt);
        self.fly_free(world, dt);
        self.place_mechanisms(world);
        self.place_rolling(world);
        self.place_direct(world);
        self.solve(dt);
        let solve = watch.lap();
        self.tell_contacts(world.counters().steps + 1, time);
        self.finish(world, dt)?;
        if self.settings.sleep && world.counters().steps.is_multiple_of(SETTLE_EVERY) {
            let patience = self.settings.sleep_time as f32;
            let Self { islands, roster, table, bonds, events, .. } = self;
            islands.settle(world, roster, &Ties { table, bonds }, patience, time + dt, events);
        }
        self.end_stage(world);
        self.post_work(world);
        self.times = StageTimes { pairs, contacts, solve, motion: watch.lap() };
        Ok(())
    }

    /// Tells that contacts end and bodies wake, because all is found anew in this step.
    fn end_contacts(&mut self, time: f64) {
        let roster = &self.roster;
        for contact in self.table.iter().filter(|contact| contact.touching) {
            let [Some(a), Some(b)] = contact.parts.map(|part| roster.part(part)) else { continue };
            let (Some(one), Some(other)) = (roster.actor(a.actor), roster.actor(b.actor)) else { continue };
            let (bodies, shapes) = ([one.id, other.id], [a.id, b.id]);
            self.events.push(Event::ContactEnded { time, bodies, shapes });
        }
        for actor in roster.actors.iter().flatten().filter(|actor| actor.asleep) {
            self.events.push(Event::Woke { time, body: actor.id });
        }
    }

    /// Forgets everything about the world.
    pub(super) fn start_over(&mut self) -> Result<(), Error> {
        self.space = self.settings.space_kind()?.create();
        self.roster = Roster::default();
        self.table = Table::default();
        self.islands = Islands::default();
        self.bonds = Bonds::default();
        self.mechanisms = Mechanisms::default();
        self.told = None;
        Ok(())
    }

    pub(super) fn threads(&self) -> usize {
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
            let Some(actors) = self.table.end(pair.a.index(), pair.b.index()) else { continue };
            for actor in actors {
                self.islands.wake(&mut self.roster, actor, time, &mut self.events);
            }
        }
        let sight = sight(world, &self.roster, &self.settings, self.dt);
        for pair in &self.changes.appeared {
            self.table.begin(&sight, pair.a.index(), pair.b.index());
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
            self.list_struck(world, stamp);
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
        let Self { table, roster, settings, dt, newly_near, loads, .. } = self;
        let fall = 0.5 * *dt * *dt * loads.uniform_acceleration().length();
        let sight = Sight { fall, ..sight(world, roster, settings, *dt) };
        let lives = &roster.lives;
        let wanting = AtomicBool::new(false);
        {
            let (contacts, summaries) = (Shared::new(&mut table.contacts), Shared::new(&mut table.summaries));
            // Looking again takes a hundred times as long as finding that nothing has changed.
            let portions = Portions::new(summaries.len());
            together(threads, |_| {
                while let Some(portion) = portions.take() {
                    for index in portion.clone() {
                        if index + AHEAD < portion.end {
                            // SAFETY: portions do not overlap.
                            contacts.fetch(unsafe { summaries.get(index + AHEAD) }.contact as usize);
                        }
                        // SAFETY: as above.
                        let summary = unsafe { summaries.get_mut(index) };
                        let [a, b] = summary.actors.map(|slot| lives.get(slot as usize).copied());
                        let stirs = |life: Option<Life>| life.is_some_and(Life::stirs);
                        if summary.stamp == stamp || !(stirs(a) || stirs(b)) {
                            continue;
                        }
                        summary.stamp = stamp;
                        if summary.is_far(&sight) {
                            continue;
                        }
                        if summary.contact == NONE {
                            summary.wanting = true;
                            wanting.store(true, Ordering::Relaxed);
                        // SAFETY: a contact belongs to one pair only.
                        } else if let Some(contact) = unsafe { contacts.get_mut(summary.contact as usize) } {
                            summary.look(contact, &sight);
                        }
                    }
                }
            });
        }
        if !wanting.into_inner() {
            return;
        }
        // In order, so that everybody gets the same place whoever finds them.
        newly_near.clear();
        newly_near
            .extend((0..table.summaries.len() as u32).filter(|slot| table.summaries[*slot as usize].wanting));
        newly_near.retain(|slot| table.make(*slot, &sight));
        let (contacts, summaries) = (Shared::new(&mut table.contacts), Shared::new(&mut table.summaries));
        spread(threads, newly_near.len(), LEAST_LOOKS, |range| {
            for slot in &newly_near[range] {
                // SAFETY: every pair is listed once, and has a contact of its own.
                let summary = unsafe { summaries.get_mut(*slot as usize) };
                // SAFETY: as above.
                if let Some(contact) = unsafe { contacts.get_mut(summary.contact as usize) } {
                    summary.look(contact, &sight);
                }
            }
        });
    }

    fn tell_contacts(&mut self, stamp: u64, time: f64) {
        let roster = &self.roster;
        for summary in &self.table.summaries {
            if summary.stamp != stamp || !summary.changed {
                continue;
            }
            let Some(contact) = self.table.contact(summary) else { continue };
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
    #[allow(unsafe_code)]
    fn enlist_movers(&mut self, world: &World, dt: f64) {
        let stamp = world.counters().steps + 1;
        let any_exact =
            self.run_mechanisms(world, dt) | self.run_rolling(world, dt) | self.run_direct(world, dt);
        let more = self.mark_delicate(world, stamp);
        let Self { solvers, roster, table, bonds, active, entrants, .. } = self;
        solvers.iter_mut().for_each(Solver::clear);
        // Solvers keep addresses of manifolds during the step. All are taken from one borrow of the contacts: another borrow of the
        // whole list would end those taken before.
        let contacts = Shared::new(&mut table.contacts);
        for summary in &table.summaries {
            if !summary.near || summary.stamp != stamp || summary.contact as usize >= contacts.len() {
                continue;
            }
            // SAFETY: the place exists, and a contact belongs to one pair only.
            let Some(contact) = (unsafe { contacts.get_mut(summary.contact as usize) }) else { continue };
            if summary.bouncy && contact.answered == stamp {
                continue;
            }
            let [a, b] = summary.actors;
            let is_exact = |slot| roster.actor(slot).is_some_and(|actor| actor.mover == EXACT);
            if any_exact && (is_exact(a) || is_exact(b)) {
                continue;
            }
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
                solver.add(Link { a, b }, patch);
            }
        }
        active.clear();
        active.extend(bonds.active(roster).map(|place| place as u32));
        let joints = active.len();
        if any_exact {
            let is_exact = |slot: &u32| roster.actor(*slot).is_some_and(|actor| actor.mover == EXACT);
            active.retain(|place| !bonds.all[*place as usize].actors.iter().any(is_exact));
        }
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
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let substeps = self.settings.substeps.max(1) as usize;
        self.substeps = [substeps, substeps * more];
        entrants.clear();
        for (place, id) in world.bodies().ids(Status::Dynamic).iter().enumerate() {
            let Some(actor) = roster.actor_mut(id.slot()) else { continue };
            if actor.mover != WANTED {
                continue;
            }
            let solver = &mut solvers[usize::from(actor.delicate)];
            let spins = actor.joined
                && times_finer(nutation_rate(&motion[place], &inertia[place]), dt, substeps) > 1.0;
            actor.mover = solver.enter(Mover::default(), Frame::fixed(), Row::default());
            if spins {
                let (q, inertia) = (motion[place].q, inertia[place]);
                solver.spinners.push(Spinner { mover: actor.mover, q, inertia });
            }
            let (mover, delicate, round) = (actor.mover, actor.delicate, actor.round || spins);
            entrants.push(Entrant { place: place as u32, mover, delicate, round });
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
            joints,
            contacts: table.summaries.len(),
            manifolds: solvers.iter_mut().map(|solver| solver.links_mut().len()).sum(),
            solved: solvers.iter().map(Solver::free_count).sum(),
            asleep: 0,
        };
    }

    /// Gives everybody in the solvers the numbers that they solve for.
    #[allow(unsafe_code)]
    fn enter_all(&mut self, world: &World, dt: f64) {
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        let threads = self.threads();
        let Self { solvers, entrants, loads, substeps, sick, .. } = self;
        let g = loads.uniform_acceleration();
        let numbers = |entrant: &Entrant| {
            let place = entrant.place as usize;
            let wrench = loads.wrench(place);
            let acceleration = g + wrench.force * inertia[place].inverse_mass;
            let h = dt / substeps[usize::from(entrant.delicate)] as f64;
            let entered =
                enter(&motion[place], &inertia[place], acceleration, wrench.torque, entrant.round, h, dt);
            // Numbers that are none must not get among the others: they would spread through every contact.
            if entered.0.is_sane() && is_sane(&entered.2) {
                return (entered, true);
            }
            let still = Motion { v: DVec3::ZERO, omega: DVec3::ZERO, ..motion[place] };
            (enter(&still, &inertia[place], DVec3::ZERO, DVec3::ZERO, true, h, dt), false)
        };
        let any_sick = AtomicBool::new(false);
        let seats = solvers.each_mut().map(Solver::seats);
        spread(threads, entrants.len(), LEAST_BODIES, |range| {
            for entrant in &entrants[range] {
                let ((mover, frame, kick), sane) = numbers(entrant);
                if !sane {
                    any_sick.store(true, Ordering::Relaxed);
                }
                let (movers, frames, kicks) = &seats[usize::from(entrant.delicate)];
                let seat = entrant.mover as usize;
                // SAFETY: everybody has a seat of their own.
                unsafe {
                    *movers.get_mut(seat) = mover;
                    *frames.get_mut(seat) = frame;
                    *kicks.get_mut(seat) = kick;
                }
            }
        });
        if any_sick.into_inner() {
            sick.extend(
                entrants.iter().filter(|entrant| !numbers(entrant).1).map(|entrant| entrant.place as usize),
            );
        }
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
            let movable = |actor: &&Actor| actor.status == Status::Dynamic && actor.mover != EXACT;
            let actor = roster.actor(slot).filter(movable)?;
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

    /// Makes the joints ready for their solvers.
    fn fill_bonds(&mut self, world: &World, dt: f64) {
        let threads = self.threads();
        for (group, (solver, substeps)) in self.solvers.iter_mut().zip(self.substeps).enumerate() {
            let h = dt / substeps as f64;
            let stiffness = joint_softness(&self.settings, h);
            // Between very different masses sweeps get nowhere, however few joints there are.
            let fewest = if group == 1 { 1 } else { self.settings.exact_joints.max(1) as usize };
            let filling = Filling { world, roster: &self.roster, dt, h, stiffness };
            let (movers, first_free) = (solver.mover_count(), solver.first_free());
            solver.bonds.fill(&self.bonds.all, &filling, movers, first_free, fewest, threads);
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

fn sight<'s>(world: &'s World, roster: &'s Roster, settings: &super::RealtimeSettings, dt: f64) -> Sight<'s> {
    Sight { world, roster, dt, foresight: settings.foresight, recycling: settings.recycling, fall: 0.0 }
}

/// A body ⇒ y = (√m v, √I Rᵀ ω).
pub(super) fn coordinates(motion: &Motion, inertia: &Inertia) -> (DVec3, DVec3) {
    let (scale, root) = (inertia.inverse_mass.sqrt(), inertia.inverse_moments.map(f64::sqrt));
    // A body whose rotations are locked has no root, and no angular velocity.
    let spin = motion.q.conjugate() * motion.omega;
    let w = if root == DVec3::ZERO { DVec3::ZERO } else { spin / root };
    (motion.v / scale, w)
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
    let (v, w) = coordinates(motion, inertia);
    let mut turning = (own * torque) * root * h;
    if !round && root != DVec3::ZERO {
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
    let damping = [inertia.linear_damping, inertia.angular_damping]
        .map(|damping| if damping > 0.0 { (-h * damping).exp() } else { 1.0 });
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
