//! The motion of an assembly that touches nothing.
//!
//! At every moment forces and joints together give the accelerations, M v̇ = f + Jᵀ λ with J v̇ = −J̇ v (`linkage`), and these are
//! integrated by a method of the eighth order whose steps follow its error (`fehlberg`). After every step places and velocities are put
//! back to where the rows hold to rounding: the nearest ones, measured with the masses, so that what is put back does no work.
//!
//! Springs push with λ = −k C − c Ċ, k = m ω², m = 1/(J M⁻¹ Jᵀ). A motor or dry friction that can keep its speed keeps it by the force it takes;
//! if that is more than it has, or the speed is not reached within the flight, it pushes with all it has. A limit that is reached ends
//! the step where it is reached: the velocity into it is taken out by an impulse through all joints, and from then on it pushes as long as
//! it has to.

use super::assembly::Assembly;
use super::bond::{Moment, Tied};
use super::fehlberg::{self, Rate, STAGES, TIMES};
use super::force::Course;
use super::linkage::{ALWAYS, Linkage, PUSHES};
use super::load::JointLoads;
use super::roster::Roster;
use super::track::Track;
use crate::force::Loads;
use crate::joint::Effect;
use crate::motion::Motion;
use crate::world::{Status, World};
use glam::DVec3;

/// A flight is cut into at most so many steps; whatever changes faster is followed as well as that allows.
const MOST_STEPS: f64 = 16384.0;
/// Limits reached in one flight that are given a time of their own.
const MOST_HITS: usize = 32;
/// How near a limit is reached, m or rad, and how slow it is approached when it holds, m/s or rad/s.
const REACHED: f64 = 1e-10;
/// Time between two looks at an animated body, for its acceleration, s.
const GLANCE: f64 = 1e-5;

/// What a motor does during a flight.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grip {
    Holds,
    Pushes(f64),
}

/// From where to where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voyage<'s> {
    pub roster: &'s Roster,
    pub assembly: &'s Assembly,
    /// What the world does to each body, if that does not change.
    pub courses: &'s [Course],
    pub begin: f64,
    pub time: f64,
    /// Error of a step, m or rad.
    pub tolerance: f64,
}

impl Voyage<'_> {
    fn moment(&self, time: f64, bias: bool) -> Moment {
        Moment { time: self.begin + time, dt: self.time, bias }
    }

    /// v̇ and ω̇ of a body without joints: I ω̇ = τ − ω × I ω.
    fn acceleration(&self, actor: usize, motion: &Motion, loads: Option<&Loads>) -> [DVec3; 2] {
        let body = &self.roster.actors[actor];
        let (acceleration, torque) = match (loads, self.courses[actor]) {
            (None, Course::Free { acceleration, torque }) => (acceleration, torque),
            (None, _) => (DVec3::ZERO, DVec3::ZERO),
            (Some(loads), _) => {
                let wrench = loads.wrench(body.place);
                (loads.uniform_acceleration() + body.inertia.inverse_mass * wrench.force, wrench.torque)
            }
        };
        let gyroscopic = motion.omega.cross(body.inertia.angular_momentum(motion.q, motion.omega));
        [
            acceleration - body.inertia.linear_damping * motion.v,
            body.inertia.angular_velocity(motion.q, torque - gyroscopic)
                - body.inertia.angular_damping * motion.omega,
        ]
    }
}

/// Flies assemblies, and keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub linkage: Linkage,
    rates: [Vec<Rate>; STAGES],
    start: Vec<Motion>,
    trial: Vec<Motion>,
    loads: Loads,
    /// Limits that are reached, and motors, by joint and key.
    reached: Vec<(usize, u8)>,
    grips: Vec<((usize, u8), Grip)>,
    /// Steps taken, since somebody asked.
    pub steps: u64,
}

fn name(tied: &Tied) -> (usize, u8) {
    (tied.bond, tied.row.key)
}

impl Flight {
    /// Carries an assembly over the voyage; its ends go to `end`, what it passes to `tracks`.
    pub fn fly(
        &mut self,
        world: &mut World,
        voyage: &Voyage<'_>,
        from: &[Motion],
        end: &mut [Motion],
        tracks: &mut [Track],
        loads: &mut JointLoads,
    ) {
        let Voyage { roster, assembly, begin, time, .. } = *voyage;
        let uniform = world.forces_are_uniform();
        // Forces may ask for the states of others, so the world has to stand as the assembly does, for a while.
        let kept = (!uniform).then(|| world.bodies().motion(Status::Dynamic).to_vec());
        self.linkage.start(roster, assembly, from);
        self.linkage.script(roster, assembly, begin);
        self.gather(world, voyage, 0.0, uniform);
        self.take_off(world, voyage, loads, uniform);
        self.start.clear();
        self.start.extend(assembly.actors.iter().map(|actor| self.linkage.motion[*actor]));
        self.trial.clone_from(&self.start);
        for (actor, motion) in assembly.actors.iter().zip(&self.start) {
            tracks[*actor].restart(begin, *motion);
        }
        self.rate(world, voyage, 0, 0.0, uniform);
        loads.note(roster, &self.linkage.motion, self.linkage.impulses());
        let (mut gone, mut h, mut hits) = (0.0, time, 0);
        while gone < time {
            let last = h >= (time - gone) * (1.0 - 1e-9);
            h = if last { time - gone } else { h };
            let error = self.attempt(world, voyage, gone, h, uniform);
            let shrink = 0.9 * (voyage.tolerance / error).powf(0.125);
            if (error > voyage.tolerance || error.is_nan()) && h > time / MOST_STEPS {
                h *= if shrink.is_finite() { shrink.clamp(0.1, 0.9) } else { 0.1 };
                continue;
            }
            if !error.is_finite() {
                // Whoever looks at these numbers will take the bodies out.
                self.start.clone_from(&self.trial);
                break;
            }
            self.settle(world, voyage, gone + h);
            let passed = if hits < MOST_HITS { self.passed() } else { None };
            let mut done = last;
            if let Some(limit) = passed {
                h = self.reach(world, voyage, (gone, h), limit, uniform);
                done = false;
                hits += 1;
                self.reached.push(limit);
                self.linkage.script(roster, assembly, begin + gone + h);
                let moment = voyage.moment(gone + h, false);
                let reached = std::mem::take(&mut self.reached);
                self.linkage
                    .settle_velocities(world, roster, assembly, moment, |tied| reached.contains(&name(tied)));
                self.reached = reached;
                loads.strike(roster, &self.linkage.motion, time, self.linkage.impulses());
            }
            gone = if done { time } else { gone + h };
            self.steps += 1;
            for (place, actor) in assembly.actors.iter().enumerate() {
                self.start[place] = self.linkage.motion[*actor];
                tracks[*actor].push(begin + gone, self.start[place]);
            }
            self.release();
            self.rate(world, voyage, 0, gone, uniform);
            loads.note(roster, &self.linkage.motion, self.linkage.impulses());
            h *= if shrink.is_finite() { shrink.clamp(0.3, 4.0) } else { 4.0 };
            h = h.max(time / MOST_STEPS);
        }
        for (actor, motion) in assembly.actors.iter().zip(&self.start) {
            end[*actor] = *motion;
        }
        if let Some(kept) = kept {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&kept);
        }
    }

    /// Finds out which limits are reached and what motors can do, and takes velocities out that joints do not allow.
    fn take_off(&mut self, world: &World, voyage: &Voyage<'_>, loads: &mut JointLoads, uniform: bool) {
        let Voyage { roster, assembly, time, .. } = *voyage;
        let forces = (!uniform).then_some(&self.loads);
        let linkage = &mut self.linkage;
        linkage.look(world, roster, assembly, voyage.moment(0.0, false));
        self.reached.clear();
        self.grips.clear();
        let at_limit = |tied: &&Tied| {
            tied.row.effect == Effect::Limit && tied.row.error <= REACHED && tied.rate <= REACHED
        };
        self.reached.extend(linkage.rows.iter().filter(at_limit).map(name));
        let wrong = |tied: &Tied| match tied.row.effect {
            Effect::Hold => tied.rate.abs() > 1e-10,
            Effect::Limit => tied.row.error <= REACHED && tied.rate < -1e-12,
            Effect::Drive { .. } => tied.rate.abs() > 1e-12,
            Effect::Spring { .. } => false,
        };
        let amiss = linkage.rows.iter().any(wrong);
        for round in 0..2 {
            if amiss {
                // Whether a motor is strong enough depends on what else acts until the end.
                linkage.pose(roster, assembly, |actor, motion| {
                    let [v, omega] = voyage.acceleration(actor, motion, forces);
                    let time = if round == 0 { time } else { 0.0 };
                    [motion.v + time * v, motion.omega + time * omega]
                });
            }
            for row in 0..linkage.rows.len() {
                let tied = linkage.rows[row];
                let (value, bounds) = match tied.row.effect {
                    Effect::Hold => (0.0, ALWAYS),
                    Effect::Limit if self.reached.contains(&name(&tied)) => (0.0, PUSHES),
                    Effect::Drive { speed, most } => {
                        if round == 0 {
                            self.grips.push((name(&tied), Grip::Holds));
                        }
                        let saturated =
                            self.grips.iter().any(|(key, grip)| *key == name(&tied) && *grip != Grip::Holds);
                        if saturated {
                            continue;
                        }
                        (speed, [-most * time, most * time])
                    }
                    _ => continue,
                };
                if amiss {
                    let motion = std::mem::take(&mut linkage.motion);
                    linkage.tie(roster, row, value, bounds, |actor| [motion[actor].v, motion[actor].omega]);
                    linkage.motion = motion;
                }
            }
            if !amiss {
                return;
            }
            linkage.solve();
            // Motors that cannot reach their speed within the flight push all the way instead.
            for (tied, p) in linkage.impulses().filter(|_| round == 0) {
                let Effect::Drive { most, .. } = tied.row.effect else { continue };
                if p.abs() >= most * time {
                    for (_, grip) in self.grips.iter_mut().filter(|(key, _)| *key == name(tied)) {
                        *grip = Grip::Pushes(p.signum());
                    }
                }
            }
        }
        linkage.take_velocities(assembly);
        loads.strike(roster, &linkage.motion, time, linkage.impulses());
    }

    /// Asks the world what it does to the assembly as it stands in the linkage, unless that never changes.
    fn gather(&mut self, world: &mut World, voyage: &Voyage<'_>, gone: f64, uniform: bool) {
        if !uniform {
            let motion = world.bodies_mut().dynamic_mut().0;
            for actor in &voyage.assembly.actors {
                motion[voyage.roster.actors[*actor].place] = self.linkage.motion[*actor];
            }
            world.gather_loads(voyage.begin + gone, &mut self.loads);
        }
    }

    /// Rates of the assembly as it stands in the linkage ⇒ a stage.
    fn rate(&mut self, world: &mut World, voyage: &Voyage<'_>, stage: usize, gone: f64, uniform: bool) {
        let Voyage { roster, assembly, begin, .. } = *voyage;
        self.gather(world, voyage, gone, uniform);
        let loads = (!uniform).then_some(&self.loads);
        let linkage = &mut self.linkage;
        linkage.look(world, roster, assembly, voyage.moment(gone, true));
        linkage.pose(roster, assembly, |actor, motion| voyage.acceleration(actor, motion, loads));
        for row in 0..linkage.rows.len() {
            let tied = linkage.rows[row];
            let bounds = match tied.row.effect {
                Effect::Hold => ALWAYS,
                Effect::Limit if self.reached.contains(&name(&tied)) => PUSHES,
                Effect::Limit => continue,
                Effect::Spring { frequency, damping_ratio, most } => {
                    let k = linkage.compliance(roster, row);
                    let omega = std::f64::consts::TAU * frequency;
                    let pull = omega * omega * tied.row.error + 2.0 * damping_ratio * omega * tied.rate;
                    if k > 0.0 {
                        linkage.push(roster, row, (-pull / k).clamp(-most, most));
                    }
                    continue;
                }
                Effect::Drive { most, .. } => match self.grips.iter().find(|(key, _)| *key == name(&tied)) {
                    Some((_, Grip::Pushes(sign))) => {
                        linkage.push(roster, row, sign * most);
                        continue;
                    }
                    _ => [-most, most],
                },
            };
            let motion = std::mem::take(&mut linkage.motion);
            linkage.tie(roster, row, -tied.bias, bounds, |actor| {
                let at = |time: f64| roster.actors[actor].scripted(time, &motion[actor]);
                let (before, after) = (at(begin + gone - GLANCE), at(begin + gone + GLANCE));
                [(after.v - before.v) / (2.0 * GLANCE), (after.omega - before.omega) / (2.0 * GLANCE)]
            });
            linkage.motion = motion;
        }
        linkage.solve();
        let rates = &mut self.rates[stage];
        rates.clear();
        let states = assembly.actors.iter().zip(linkage.solution());
        rates.extend(states.map(|(actor, found)| Rate::new(&linkage.motion[*actor], *found)));
    }

    /// A step from `start` into `trial` ⇒ its error; the first stage has been done.
    fn attempt(&mut self, world: &mut World, voyage: &Voyage<'_>, gone: f64, h: f64, uniform: bool) -> f64 {
        for stage in 1..STAGES {
            fehlberg::stage(&self.start, &self.rates, stage, h, &mut self.trial);
            self.place(voyage, gone + TIMES[stage] * h);
            self.rate(world, voyage, stage, gone + TIMES[stage] * h, uniform);
            // Rates of unit quaternions are those of the ones that have been rounded to.
            for (rate, motion) in self.rates[stage].iter_mut().zip(&self.trial) {
                rate.q *= motion.q.length();
            }
        }
        fehlberg::finish(&self.start, &self.rates, h, &mut self.trial);
        let error = fehlberg::error(&self.start, &self.rates, h);
        if self.trial.iter().all(Motion::is_finite) { error } else { f64::INFINITY }
    }

    /// Puts the bodies into the linkage as they stand in `trial`.
    fn place(&mut self, voyage: &Voyage<'_>, gone: f64) {
        for (actor, motion) in voyage.assembly.actors.iter().zip(&self.trial) {
            self.linkage.motion[*actor] = Motion { q: motion.q.normalize(), ..*motion };
        }
        self.linkage.script(voyage.roster, voyage.assembly, voyage.begin + gone);
    }

    /// Puts places and velocities back to where the rows hold.
    fn settle(&mut self, world: &World, voyage: &Voyage<'_>, gone: f64) {
        self.place(voyage, gone);
        let Voyage { roster, assembly, .. } = *voyage;
        let (moment, reached) = (voyage.moment(gone, false), &self.reached);
        let limited = |tied: &Tied| reached.contains(&name(tied));
        self.linkage.settle_places(world, roster, assembly, moment, limited);
        self.linkage.settle_velocities(world, roster, assembly, moment, |tied| {
            limited(tied) && tied.row.error <= REACHED
        });
    }

    /// A limit that has been passed though it was not reached before.
    fn passed(&self) -> Option<(usize, u8)> {
        let past = |tied: &&Tied| {
            tied.row.effect == Effect::Limit
                && tied.row.error < -REACHED
                && !self.reached.contains(&name(tied))
        };
        self.linkage.rows.iter().filter(past).min_by(|a, b| a.row.error.total_cmp(&b.row.error)).map(name)
    }

    /// How far over a limit the assembly stands in the linkage; what there is no row for is far away.
    fn room(&self, limit: (usize, u8)) -> f64 {
        self.linkage.rows.iter().find(|tied| name(tied) == limit).map_or(f64::INFINITY, |tied| tied.row.error)
    }

    /// Shortens a step that passed a limit to where it is reached ⇒ its length; the assembly stands there in the linkage.
    fn reach(
        &mut self,
        world: &mut World,
        voyage: &Voyage<'_>,
        (gone, whole): (f64, f64),
        limit: (usize, u8),
        uniform: bool,
    ) -> f64 {
        let (mut low, mut high) = ((0.0, f64::INFINITY), (whole, self.room(limit)));
        let mut h = whole;
        for look in 0..60 {
            let secant = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
            let middle = 0.5 * (low.0 + high.0);
            h = if look % 3 == 2 || !(secant > low.0 && secant < high.0) { middle } else { secant };
            self.attempt(world, voyage, gone, h, uniform);
            self.settle(world, voyage, gone + h);
            let room = self.room(limit);
            if room.abs() <= 0.1 * REACHED || high.0 - low.0 < 1e-15 * whole {
                break;
            }
            if room > 0.0 { low = (h, room) } else { high = (h, room) }
        }
        h
    }

    /// Forgets limits that have been left.
    fn release(&mut self) {
        let rows = &self.linkage.rows;
        self.reached.retain(|limit| {
            rows.iter()
                .any(|tied| name(tied) == *limit && tied.row.error <= 10.0 * REACHED && tied.rate <= 1e-6)
        });
    }

    /// Brings an assembly that contacts have moved back to where its joints hold.
    pub fn repair(&mut self, world: &World, voyage: &Voyage<'_>, motion: &mut [Motion]) {
        let Voyage { roster, assembly, begin, time, .. } = *voyage;
        self.linkage.start(roster, assembly, motion);
        self.linkage.script(roster, assembly, begin + time);
        let moment = voyage.moment(time, false);
        self.linkage.settle_places(world, roster, assembly, moment, |tied| tied.row.effect == Effect::Limit);
        self.linkage.settle_velocities(world, roster, assembly, moment, |_| false);
        for actor in &assembly.actors {
            motion[*actor] = self.linkage.motion[*actor];
        }
    }
}
