//! A step: sub-steps, islands, and within an island the loop from collision to collision.

use super::crowd::RESTLESS;
use super::force::{Course, follow, loads_of};
use super::impulse::{ConstraintNote, Instant};
use super::island::{Island, islands};
use super::landing::touched_pairs;
use super::lead::Interval;
use super::load::JointLoads;
use super::meeting::{Journey, Outlook, first_meeting};
use super::touch::{Touch, gather};
use super::{Constraint, ContactForce};
use crate::error::Error;
use crate::motion::Motion;
use crate::world::{Event, ShapeId, Status, World};
use glam::DVec3;
use std::collections::BTreeSet;

/// Bodies may stray from where they were expected so often in a sub-step.
const MOST_LOOKS: usize = 3;
/// Times an interval up to a meeting is made shorter because somebody meets earlier in it.
const MOST_CUTS: usize = 4;
/// Meetings that a large island goes back to in a sub-step; later ones are landings.
const CROWDED: usize = 2;

/// Contact phases of a sub-step; what is left after them is crossed by a time step.
const MOST_PHASES: usize = 64;

/// Ends of slips that a sub-step of a small island is cut at.
const MOST_STOPS: usize = 4;

/// When a sub-step begins, how long it is, and what approach is contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubStep {
    pub begin: f64,
    pub h: f64,
    pub contact_speed: f64,
}

/// When an interval begins, how long it is, and whether a crowd hurries over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub begin: f64,
    pub time: f64,
    pub hurried: bool,
}

impl Constraint {
    /// Moves the world's bodies by dt; the world's clock stays.
    pub(super) fn advance(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.roster.sync(world)?;
        self.joint_loads.restart(&self.roster);
        let energy = self.accounts.then(|| world.readout().energy());
        self.settle_joints(world, dt);
        self.account_settling(world, energy);
        let (news, settled) = (self.events.len(), self.works.len());
        let start: Vec<Motion> = world.bodies().motion(Status::Dynamic).to_vec();
        let memory = self.memory.clone();
        loop {
            let substeps = self.substeps.max(1);
            let h = dt / substeps as f64;
            let mut error = 0.0_f64;
            for k in 0..substeps {
                error = error.max(self.sub_step(world, world.time() + k as f64 * h, h)?);
            }
            let tolerance = self.settings.error_tolerance;
            if tolerance == 0.0 || error <= tolerance || substeps >= 1 << 20 {
                world.counters_mut().substeps += substeps as u64;
                break;
            }
            // All over again with sub-steps of half the length.
            world.counters_mut().rejected += substeps as u64;
            self.substeps = 2 * substeps;
            self.accepted = 0;
            self.memory.clone_from(&memory);
            self.events.truncate(news);
            self.works.truncate(settled);
            self.notes.clear();
            self.joint_loads.restart(&self.roster);
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&start);
        }
        self.accepted = (self.accepted + 1).min(4);
        if self.settings.error_tolerance > 0.0 && self.accepted >= 4 {
            self.substeps = (self.substeps / 2).max(self.settings.substeps.max(1) as usize);
            self.accepted = 0;
        }
        self.tell_touching(world.time() + dt);
        Ok(())
    }

    /// States of everybody at a time, from the world.
    pub(super) fn states(&self, world: &World, time: f64) -> Vec<Motion> {
        let state = |actor: &super::roster::Actor| {
            let present = world.bodies().motion(actor.status)[actor.place];
            if actor.status == Status::Animated { actor.scripted(time, &present) } else { present }
        };
        self.roster.actors.iter().map(state).collect()
    }

    /// One sub-step ⇒ an estimate of the error that changing forces make, m.
    fn sub_step(&mut self, world: &mut World, begin: f64, h: f64) -> Result<f64, Error> {
        self.restless = self.restless.saturating_sub(1);
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(begin, &mut loads);
        let start = self.states(world, begin);
        let uniform = loads.uniform_acceleration();
        let free: Vec<Course> = self
            .roster
            .actors
            .iter()
            .map(|actor| match actor.status {
                Status::Dynamic => loads_of(loads.wrench(actor.place), uniform, actor.inertia.inverse_mass),
                Status::Animated => Course::Scripted,
                Status::Fixed | Status::Inactive => Course::Still,
            })
            .collect();
        let speed = match self.settings.contact_speed {
            0.0 => (2.0 * uniform.length() * h).max(1e-4),
            given => given,
        };
        let mut expected: Vec<Motion> = (0..start.len())
            .map(|actor| follow(&self.roster, actor, &start[actor], free[actor], begin, h))
            .collect();
        let borne = self.joint_loads.clone();
        let everybody = 0..self.roster.assemblies.len();
        self.fly(world, everybody, &start, (&free, &mut free.clone()), &mut expected, (begin, h));
        let margin = 2.0 * uniform.length() * h * h + 1e-3;
        self.roster.look(world, &start, &expected, margin)?;
        let remembered = self.memory.clone();
        let (events, notes, works) = (self.events.len(), self.notes.len(), self.works.len());
        let mut end = Vec::new();
        let flown = self.joint_loads.clone();
        for _ in 0..MOST_LOOKS {
            self.joint_loads.clone_from(&flown);
            self.memory.clone_from(&remembered);
            self.events.truncate(events);
            self.notes.truncate(notes);
            self.works.truncate(works);
            self.fresh.clear();
            self.contacts.clear();
            end.clone_from(&expected);
            self.contact_free.clear();
            self.contact_free.extend(self.roster.assembly_of.iter().map(Option::is_none));
            for island in islands(&self.roster) {
                if !island.pairs.is_empty() {
                    // It will fly again, from collision to collision.
                    self.joint_loads.take_back(&borne, self.roster.bonds_of(&island.assemblies));
                }
                let sub_step = SubStep { begin, h, contact_speed: speed };
                let posted = self.works.len();
                match self.pieces(&island, &start, &free, h) {
                    Some(pieces) => {
                        self.cross_crowd(world, &island, (&start, &free), &mut end, sub_step, pieces);
                    }
                    None => self.cross_island(world, &island, &start, &free, &mut end, sub_step),
                }
                self.limit_energy(&island, (&start, &free), &mut end);
                self.account_island(world, &island, (&start, &end, &free), posted, h);
            }
            if !self.roster.look_again(world, &start, &end)? {
                break;
            }
        }
        std::mem::swap(&mut self.memory, &mut self.fresh);
        self.write(world, &end);
        self.ends = end;
        let error = if world.forces_are_uniform() { 0.0 } else { self.correct(world, &free, begin, h) };
        self.loads = loads;
        Ok(error)
    }

    fn write(&self, world: &mut World, end: &[Motion]) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for (actor, end) in self.roster.actors.iter().zip(end) {
            if actor.is_dynamic() {
                motion[actor.place] = *end;
            }
        }
    }

    /// v ← v + h/2 (a₁ − a₀) for bodies that touched nothing: forces of the end count as much as those of the beginning.
    fn correct(&mut self, world: &mut World, free: &[Course], begin: f64, h: f64) -> f64 {
        let mut loads = crate::force::Loads::default();
        world.gather_loads(begin + h, &mut loads);
        let uniform = loads.uniform_acceleration();
        let mut worst = 0.0_f64;
        let motion = world.bodies_mut().dynamic_mut().0;
        for (index, actor) in self.roster.actors.iter().enumerate() {
            let Course::Free { acceleration, torque } = free[index] else { continue };
            let wrench = loads.wrench(actor.place);
            let change = uniform + actor.inertia.inverse_mass * wrench.force - acceleration;
            worst = worst.max(h * h / 6.0 * change.length());
            if self.contact_free[index] {
                let body = &mut motion[actor.place];
                body.v += 0.5 * h * change;
                body.omega += actor.inertia.angular_velocity(body.q, 0.5 * h * (wrench.torque - torque));
            }
        }
        worst
    }

    /// Carries one island over a sub-step, from collision to collision.
    fn cross_island(
        &mut self,
        world: &mut World,
        island: &Island,
        start: &[Motion],
        free: &[Course],
        end: &mut [Motion],
        SubStep { begin, h, contact_speed }: SubStep,
    ) {
        if island.pairs.is_empty() {
            return;
        }
        let mut now = start.to_vec();
        let (mut gone, mut rounds, mut events, mut phases, mut stops) = (0.0, 0, 0, 0, 0);
        let exact = island.actors.len() <= self.settings.exact_bodies as usize;
        let limit = self.settings.collision_limit as usize;
        let most = if exact { 4 * limit + 16 } else { limit.min(CROWDED) };
        loop {
            let mut touches = Vec::new();
            gather(&mut self.roster, &island.pairs, &now, h - gone, self.settings.touch_gap, &mut touches);
            let sub_step = SubStep { begin, h, contact_speed };
            rounds += self.collide(world, island, (&mut now, &touches), sub_step, (begin + gone, rounds));
            let outlooks = self.outlooks(island.pairs.iter(), &touches, &now, contact_speed, exact);
            let borne = (!island.assemblies.is_empty()).then(|| self.joint_loads.clone());
            // From here on nothing that comes fast is a contact; whoever slows down on the way will be one.
            let is_fast =
                |touch: &Touch| !touch.touches() && touch.relative_velocity(&now).x < -contact_speed;
            let left = h - gone;
            if events <= most {
                touches.retain(|touch| !is_fast(touch));
                if exact {
                    // Pairs that are apart are followed to where they touch, however slowly they come.
                    let touched = touched_pairs(&touches);
                    touches.retain(|touch| touched.binary_search(&touch.pair).is_ok());
                    if self.leaves(island, (&now, &touches), free, (begin + gone, left)) {
                        touches.clear();
                    }
                }
            }
            if exact && island.assemblies.is_empty() {
                self.slow_landing(&mut now, (&touches, free), left, contact_speed);
            }
            let stretch = Stretch { begin: begin + gone, time: left, hurried: false };
            if exact && phases < MOST_PHASES && events <= most {
                let rolled = self.cross_phase(island, (&now, &touches, &outlooks), free, end, stretch);
                if let Some((time, met)) = rolled {
                    phases += 1;
                    if met {
                        events += 1;
                        self.counters.meetings += 1;
                    } else if time >= left {
                        return;
                    }
                    gone += time;
                    self.go_on(island, end, &mut now, begin + gone);
                    continue;
                }
            }
            let full = self.cross(world, island, (&now, &touches), free, end, stretch);
            let meeting =
                if events > most { None } else { self.meet(&now, &full, &outlooks, begin + gone, left) };
            let stop =
                if exact && stops < MOST_STOPS { self.slip_end(&now, &touches, free, left) } else { None };
            let stop = stop.filter(|stop| *stop < left && meeting.is_none_or(|meeting| *stop < meeting));
            let Some(time) = stop.or(meeting).filter(|time| *time < left) else {
                self.keep(&touches, left);
                self.account_forces(&touches, &now, end);
                if !touches.is_empty() {
                    self.note_contact(&touches);
                }
                return;
            };
            if stop.is_some() {
                stops += 1;
            } else {
                events += 1;
                self.counters.meetings += 1;
            }
            if let Some(borne) = &borne {
                self.joint_loads.clone_from(borne);
            }
            let cut = Stretch { time, ..stretch };
            let known = (island, &outlooks[..]);
            let time = self.cut(world, known, (&now, &touches, free), end, cut, (exact, borne));
            if time > 0.0 {
                self.keep(&touches, time);
                self.account_forces(&touches, &now, end);
                self.note_contact(&touches);
            } else {
                for &actor in &island.actors {
                    end[actor] = now[actor];
                }
            }
            gone += time;
            self.go_on(island, end, &mut now, begin + gone);
            for &actor in &island.actors {
                self.contact_free[actor] = false;
            }
        }
    }

    /// When the first contact that slides stops sliding, if one does within the interval just solved. Friction μN slows the slip of a body of mass m by
    /// μN/m, N the sum of the normal forces on it, and loads a along the slip add to it or take from it: t = u/(μN/m − a). From there on it sticks,
    /// and places follow from that.
    fn slip_end(&self, now: &[Motion], touches: &[Touch], free: &[Course], time: f64) -> Option<f64> {
        let pressed = |actor: u32| -> f64 {
            let loaded = touches.iter().zip(&self.forces.impulse);
            loaded.filter(|(touch, _)| touch.actors.contains(&actor)).map(|(_, p)| p.x).sum()
        };
        let stop = |(touch, p): (&Touch, &DVec3)| {
            let u = touch.relative_velocity(now);
            let slip = u.y.hypot(u.z);
            let most = touch.kinetic_friction * p.x;
            if slip <= self.settings.stick_speed || p.y.hypot(p.z) >= 0.999 * most {
                return None;
            }
            let along = (u.y * touch.frame.y_axis + u.z * touch.frame.z_axis) / slip;
            let mut slowed = 0.0;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let actor = touch.actors[side];
                if let Course::Free { acceleration, .. } = free[actor as usize] {
                    let friction = touch.kinetic_friction * pressed(actor) / time;
                    slowed += self.roster.actors[actor as usize].inertia.inverse_mass * friction;
                    slowed -= sign * along.dot(acceleration);
                }
            }
            (slowed > 0.0).then(|| slip / slowed)
        };
        touches.iter().zip(&self.forces.impulse).filter_map(stop).min_by(f64::total_cmp)
    }

    /// Crosses an interval, or the part of it up to the first meeting, in a contact phase ⇒ how long that is and whether it ends with a meeting; nothing
    /// if no phase begins here.
    fn cross_phase(
        &mut self,
        island: &Island,
        (now, touches, outlooks): (&[Motion], &[Touch], &[Outlook]),
        free: &[Course],
        end: &mut [Motion],
        stretch: Stretch,
    ) -> Option<(f64, bool)> {
        let (courses, mut time) = self.roll(island, (now, touches), free, end, stretch)?;
        let meeting = self.meet(now, &courses, outlooks, stretch.begin, time);
        let meeting = meeting.filter(|meeting| *meeting < time);
        if let Some(meeting) = meeting {
            if meeting > 0.0 {
                time = self.roll(island, (now, touches), free, end, Stretch { time: meeting, ..stretch })?.1;
            } else {
                time = 0.0;
                for &actor in &island.actors {
                    end[actor] = now[actor];
                }
            }
        }
        if time > 0.0 {
            self.keep(touches, time);
            self.account_forces(touches, now, end);
            self.note_contact(touches);
        }
        Some((time, meeting.is_some_and(|meeting| time >= meeting)))
    }

    /// Courses up to a meeting ⇒ how long they are. Over a shorter interval forces are others, and so are courses: if somebody meets even earlier on them, they
    /// are cut again, provided that matters.
    fn cut(
        &mut self,
        world: &mut World,
        (island, outlooks): (&Island, &[Outlook]),
        (now, touches, free): (&[Motion], &[Touch], &[Course]),
        end: &mut [Motion],
        mut stretch: Stretch,
        (exact, borne): (bool, Option<JointLoads>),
    ) -> f64 {
        for attempt in 1..=MOST_CUTS {
            if stretch.time == 0.0 {
                break;
            }
            let courses = self.cross(world, island, (now, touches), free, end, stretch);
            if !exact || attempt == MOST_CUTS {
                break;
            }
            match self.meet(now, &courses, outlooks, stretch.begin, stretch.time) {
                Some(earlier) if earlier > 0.0 && earlier < stretch.time => stretch.time = earlier,
                _ => break,
            }
            if let Some(borne) = &borne {
                self.joint_loads.clone_from(borne);
            }
        }
        stretch.time
    }

    /// Collisions at an instant ⇒ rounds they took, besides those that the sub-step has seen.
    pub(super) fn collide(
        &mut self,
        world: &World,
        island: &Island,
        (now, touches): (&mut [Motion], &[Touch]),
        SubStep { h, contact_speed, .. }: SubStep,
        (time, rounds): (f64, usize),
    ) -> usize {
        let ties = self.impulsive_ties(world, &island.assemblies, now, time);
        let mut instant = Instant {
            settings: &self.settings,
            time,
            contact_speed,
            rounds,
            dt: h,
            ties: &ties,
            loads: &mut self.joint_loads,
            events: &mut self.events,
            works: self.accounts.then_some(&mut self.works),
            notes: &mut self.notes,
        };
        let more = instant.resolve(&self.roster, now, touches, &mut self.forces);
        self.counters.collision_rounds += more as u64;
        more
    }

    /// Courses over an interval, of a crowd that hurries or exactly; states at its end go to `end`.
    pub(super) fn cross(
        &mut self,
        world: &mut World,
        island: &Island,
        (now, touches): (&[Motion], &[Touch]),
        free: &[Course],
        end: &mut [Motion],
        Stretch { begin, time, hurried }: Stretch,
    ) -> Vec<Course> {
        let mut courses = free.to_vec();
        let assemblies = &island.assemblies;
        self.fly(world, assemblies.iter().copied(), now, (free, &mut courses), end, (begin, time));
        let ties = if touches.is_empty() {
            Vec::new()
        } else {
            self.lasting_ties(world, assemblies, now, (begin, time))
        };
        let interval = Interval {
            settings: &self.settings,
            roster: &self.roster,
            world,
            assemblies,
            ties: &ties,
            memory: &self.memory,
            begin,
            time,
            hurried,
            newton_steps: self.worth(island),
        };
        let report =
            interval.cross(&island.actors, now, touches, &mut self.forces, (free, &mut courses), end);
        self.repair(world, assemblies, &ties, (now, &courses), end, (begin, time));
        self.counters.newton_steps += report.steps as u64;
        self.counters.solves += 1;
        if report.unbounded {
            self.notes.push(ConstraintNote::ContactAsCollision { time: begin, contacts: touches.len() });
        }
        if !report.converged && !hurried && self.is_crowd(island) {
            self.restless = RESTLESS;
        }
        if !report.converged {
            self.counters.not_converged += 1;
            self.notes.push(ConstraintNote::NotConverged { time: begin, residual: report.residual });
        }
        self.counters.worst_residual = self.counters.worst_residual.max(report.residual);
        courses
    }

    /// When the first pair of the island meets on these courses.
    pub(super) fn meet(
        &mut self,
        now: &[Motion],
        courses: &[Course],
        outlooks: &[Outlook],
        begin: f64,
        left: f64,
    ) -> Option<f64> {
        self.scratch.clear();
        self.scratch.extend_from_slice(now);
        let journey = Journey { begin, start: now, courses };
        let touch_gap = self.settings.touch_gap;
        first_meeting(
            &mut self.roster,
            journey,
            outlooks,
            left,
            touch_gap,
            &mut self.scratch,
            &mut self.counters.looks,
        )
    }

    /// What is known of some pairs.
    pub(super) fn outlooks<'p>(
        &self,
        pairs: impl Iterator<Item = &'p [u32; 2]>,
        touches: &[Touch],
        now: &[Motion],
        contact_speed: f64,
        exact: bool,
    ) -> Vec<Outlook> {
        let mut coming: Vec<[u32; 2]> = touches
            .iter()
            .filter(|touch| !touch.touches() && (exact || touch.restitution > 0.0))
            .filter(|touch| touch.relative_velocity(now).x < -contact_speed)
            .map(|touch| touch.pair)
            .collect();
        coming.sort_unstable();
        let outlook = |pair: &[u32; 2]| {
            let found = self.roster.pairs.get(pair).and_then(|pair| pair.found.deepest());
            Outlook {
                pair: *pair,
                separation: found.map_or(f64::INFINITY, |(_, point)| point.separation),
                fast: coming.binary_search(pair).is_ok(),
            }
        };
        pairs.map(outlook).collect()
    }

    /// Remembers the forces of an interval that is done.
    pub(super) fn keep(&mut self, touches: &[Touch], time: f64) {
        for (touch, p) in touches.iter().zip(&self.forces.impulse) {
            let force = touch.frame * *p / time;
            self.fresh.insert(touch.name, [force, touch.point]);
            self.memory.insert(touch.name, [force, touch.point]);
            if *p != DVec3::ZERO || touch.touches() {
                let bodies = touch.actors.map(|actor| self.roster.actors[actor as usize].id);
                let (point, normal, gap) = (touch.point, touch.normal(), touch.gap);
                self.contacts.insert(
                    touch.name,
                    ContactForce { bodies, shapes: touch.name.0, point, normal, gap, force },
                );
            }
        }
    }

    /// Bodies that contacts push are no longer free.
    pub(super) fn note_contact(&mut self, touches: &[Touch]) {
        for (touch, p) in touches.iter().zip(&self.forces.impulse) {
            if *p != DVec3::ZERO {
                for actor in touch.actors {
                    self.contact_free[actor as usize] = false;
                }
            }
        }
    }

    /// Tells which shapes began and ended to touch in this step.
    fn tell_touching(&mut self, time: f64) {
        let mut touching: BTreeSet<[ShapeId; 2]> =
            self.contacts.values().map(|contact| contact.shapes).collect();
        let sensed = self.roster.pairs.values_mut().filter(|pair| pair.sensor && pair.near);
        for pair in sensed {
            let ends = &self.ends;
            if ends.len() == self.roster.actors.len() && pair.separation(&self.roster.parts, ends, 0.0) < 0.0
            {
                touching.insert(pair.shapes);
            }
        }
        let owner = |shapes: &[ShapeId; 2]| {
            let of = |shape: ShapeId| {
                let part = self.roster.parts.iter().find(|part| part.id == shape)?;
                Some(self.roster.actors[part.actor as usize].id)
            };
            Some([of(shapes[0])?, of(shapes[1])?])
        };
        for shapes in touching.difference(&self.touching) {
            if let Some(bodies) = owner(shapes) {
                self.events.push(Event::ContactBegan { time, bodies, shapes: *shapes });
            }
        }
        for shapes in self.touching.difference(&touching) {
            if let Some(bodies) = owner(shapes) {
                self.events.push(Event::ContactEnded { time, bodies, shapes: *shapes });
            }
        }
        self.touching = touching;
    }
}
