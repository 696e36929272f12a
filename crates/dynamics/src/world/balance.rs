//! Closing the energy ledger at the end of a step.
//!
//! Work between the two ends of a step of length h:
//! - a force of power P, as far as it has no potential: h (P₀ + P₁)/2, of second order, and never positive for drag;
//! - damping v(t + h) = v(t) e^(−c h): as if half of it acted at each end, −(1 − e^(−c h)) K₀ − (e^(c h) − 1) K₁, exact for a body that
//!   nothing else acts on;
//! - integrator: Δ(K + U) less everything else.

use super::ledger::{EnergyLedger, ForceWork, Instant, WorkCategory, WorkEntry, WorkSource};
use super::{Event, LedgerSettings, Status, World};
use crate::error::Error;
use crate::force::{ForceAccumulator, ForceContext};
use crate::rigid::{Motion, Wrench};
use glam::DVec3;

impl World {
    /// Begins to account for energy, from the next step on. That costs an evaluation of all potentials and of all forces without one in
    /// every step.
    ///
    /// # Errors
    /// A tolerance that is negative or not finite.
    pub fn open_energy_ledger(&mut self, settings: LedgerSettings) -> Result<(), Error> {
        self.ledger = Some(Box::new(EnergyLedger::new(settings.checked()?)));
        Ok(())
    }

    /// Ends the account of energy, which then costs nothing.
    pub fn close_energy_ledger(&mut self) {
        self.ledger = None;
    }

    /// What changed the mechanical energy, if that is accounted for.
    pub fn energy_ledger(&self) -> Option<&EnergyLedger> {
        self.ledger.as_deref()
    }

    /// Whether simulators have to report the work of contacts and joints.
    pub(crate) const fn keeps_ledger(&self) -> bool {
        self.ledger.is_some()
    }

    /// The same for simulators whose contacts are springs, which give back what they have taken.
    pub(crate) fn begin_elastic_account(&mut self) -> bool {
        if let Some(ledger) = &mut self.ledger {
            ledger.watch.elastic = true;
        }
        self.keeps_ledger()
    }

    /// Posts work done in the present step.
    pub(crate) fn add_work(&mut self, entry: WorkEntry) {
        if let Some(ledger) = &mut self.ledger {
            ledger.add(entry);
        }
    }

    /// Dynamic bodies were taken out: energies have to be evaluated anew.
    pub(super) fn spoil_ledger(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.stale = true;
        }
    }

    /// Energies at the beginning of a step; what has changed since the end of the last one came from outside.
    pub(super) fn begin_ledger(&mut self) {
        let Some(mut ledger) = self.ledger.take() else { return };
        ledger.work.iter_mut().for_each(|work| work.step = 0.0);
        ledger.watch.elastic = false;
        for force in &mut ledger.forces {
            (force.work.step, force.conservative.step) = (0.0, 0.0);
        }
        let first = ledger.revision.is_none();
        if first || ledger.stale || ledger.revision != Some(self.change_log.revision()) {
            let last = ledger.end.energy();
            ledger.list_forces(self.forces.iter().map(|(id, _)| id));
            ledger.gravity = self.uniform_gravity(&mut ledger.loads).length();
            self.evaluate(&mut ledger, |_, _, _| {});
            let energy = ledger.end.energy();
            if first {
                ledger.watch.energy.restart(energy);
            } else {
                ledger.add_external(energy - last);
            }
        }
        let EnergyLedger { begin, end, .. } = &mut *ledger;
        begin.copy_from(end);
        self.ledger = Some(ledger);
    }

    /// K, U and powers as they are now, to `end`. `change` is shown each force, with its potential and power of before.
    fn evaluate(&self, ledger: &mut EnergyLedger, mut change: impl FnMut(&mut ForceWork, f64, f64)) {
        let EnergyLedger { end, forces, loads, .. } = ledger;
        self.read_kinetic(end);
        let power = |(index, wrench): (usize, Wrench)| {
            let motion = &self.bodies.motion(Status::Dynamic)[index];
            wrench.force.dot(motion.v) + wrench.torque.dot(motion.omega)
        };
        end.applied = self.bodies.applied().map(power).sum();
        end.potential = 0.0;
        let [kinetic, potential, mass] = self.multibody_energy();
        end.kinetic += kinetic;
        end.mass += mass;
        end.potential += potential;
        for ((_, record), force) in self.forces.iter().zip(forces) {
            let scope = ForceContext::new(self.time, &self.bodies, &self.shapes, &record.targets);
            let old = (force.potential, force.power);
            force.potential = record.force.potential_energy(&scope);
            end.potential += force.potential;
            let net = record.force.power_without_potential(&scope);
            force.gross = net.is_none();
            force.power = net.unwrap_or_else(|| scope.power(&*record.force, loads));
            change(force, old.0, old.1);
        }
    }

    /// The acceleration that is the same everywhere and always; `loads` is room to work in.
    fn uniform_gravity(&self, loads: &mut ForceAccumulator) -> DVec3 {
        loads.clear(self.bodies.count(Status::Dynamic));
        for (_, record) in self.forces.iter().filter(|(_, record)| record.force.is_uniform()) {
            record
                .force
                .apply(&ForceContext::new(self.time, &self.bodies, &self.shapes, &record.targets), loads);
        }
        loads.uniform_acceleration()
    }

    fn read_kinetic(&self, instant: &mut Instant) {
        let (motion, inertia) = (self.bodies.motion(Status::Dynamic), self.bodies.inertia(Status::Dynamic));
        let damped = inertia.iter().any(|body| body.linear_damping > 0.0 || body.angular_damping > 0.0);
        instant.damped.clear();
        (instant.kinetic, instant.mass) = (0.0, 0.0);
        for (motion, inertia) in motion.iter().zip(inertia) {
            let kinetic = inertia.kinetic_energy(motion);
            instant.kinetic += kinetic;
            instant.mass += inertia.mass();
            if damped {
                let linear = 0.5 * inertia.mass() * motion.v.length_squared();
                instant.damped.push([linear, kinetic - linear]);
            }
        }
    }

    /// Closes a step of length h that has come to its end: work of forces and damping, and the remainder.
    pub(super) fn end_ledger(&mut self, h: f64, before: Option<&[Motion]>) {
        let Some(mut ledger) = self.ledger.take() else { return };
        self.evaluate(&mut ledger, |force, potential, power| {
            let by_potential = potential - force.potential;
            let power = 0.5 * h * (power + force.power);
            force.conservative.add(by_potential);
            force.work.add(if force.gross { power - by_potential } else { power });
        });
        for k in 0..ledger.forces.len() {
            let ForceWork { id, work, .. } = ledger.forces[k];
            ledger.add(entry(WorkCategory::Force, WorkSource::Force(id), work.step));
        }
        let applied = 0.5 * h * (ledger.begin.applied + ledger.end.applied);
        if applied != 0.0 {
            ledger.add(entry(WorkCategory::Force, WorkSource::World, applied));
        }
        self.add_damping(&mut ledger, h);
        let posted = ledger.sum().step - ledger.work(WorkCategory::External).step;
        let left = ledger.end.energy() - ledger.begin.energy() - posted;
        ledger.add(entry(WorkCategory::Integrator, self.fastest_gain(before), left));
        let active = self.is_driven();
        if let Some(event) = ledger.check_passive(active, self.time) {
            self.events.push(event);
        }
        ledger.revision = Some(self.change_log.revision());
        ledger.stale = false;
        self.ledger = Some(ledger);
    }

    fn add_damping(&self, ledger: &mut EnergyLedger, h: f64) {
        let EnergyLedger { begin, end, .. } = ledger;
        // Bodies that were damped at one end only, or were taken out on the way, are left to the remainder.
        if begin.damped.len() != end.damped.len() {
            return;
        }
        let mut sum = 0.0;
        for ((inertia, then), now) in
            self.bodies.inertia(Status::Dynamic).iter().zip(&begin.damped).zip(&end.damped)
        {
            let lost = |c: f64, then: f64, now: f64| (-c * h).exp_m1() * then - (c * h).exp_m1() * now;
            sum += lost(inertia.linear_damping, then[0], now[0]);
            sum += lost(inertia.angular_damping, then[1], now[1]);
        }
        if sum != 0.0 {
            ledger.add(entry(WorkCategory::Damping, WorkSource::World, sum));
        }
    }

    /// The body whose kinetic energy has grown most in the step: where an integrator most probably went wrong.
    fn fastest_gain(&self, before: Option<&[Motion]>) -> WorkSource {
        let bodies = &self.bodies;
        let (ids, now) = (bodies.ids(Status::Dynamic), bodies.motion(Status::Dynamic));
        let Some(before) = before.filter(|before| before.len() == ids.len()) else {
            return WorkSource::World;
        };
        let mut most = (f64::NEG_INFINITY, WorkSource::World);
        for (((id, now), then), inertia) in
            ids.iter().zip(now).zip(before).zip(bodies.inertia(Status::Dynamic))
        {
            let gain = inertia.kinetic_energy(now) - inertia.kinetic_energy(then);
            if gain > most.0 {
                most = (gain, WorkSource::Body(*id));
            }
        }
        most.1
    }

    /// Whether anything in the world may add energy: motors and springs of joints, kinematic bodies in motion, forces that are not
    /// passive.
    fn is_driven(&self) -> bool {
        let moves = |motion: &Motion| motion.v != DVec3::ZERO || motion.omega != DVec3::ZERO;
        self.bodies.motion(Status::Kinematic).iter().any(moves)
            || self.forces.iter().any(|(_, record)| !record.force.is_passive())
            || self.bodies.applied().next().is_some()
            || self.has_driven_multibody()
            || self.joints.records.iter().any(|(_, record)| record.joint.can_add_energy())
    }
}

const fn entry(category: WorkCategory, source: WorkSource, joules: f64) -> WorkEntry {
    WorkEntry { category, source, point: None, joules }
}

impl EnergyLedger {
    /// Brings the list of forces up to date with the world.
    fn list_forces(&mut self, ids: impl Iterator<Item = super::ForceId>) {
        let known = std::mem::take(&mut self.forces);
        let find = |id| known.iter().find(|force| force.id == id).copied();
        self.forces.extend(ids.map(|id| find(id).unwrap_or_else(|| ForceWork::new(id))));
    }

    /// Work from outside moves the reference along: it is no gain.
    fn add_external(&mut self, joules: f64) {
        self.work[WorkCategory::External as usize].add(joules);
        self.watch.energy.reference += joules;
    }

    /// At the end of a step: the event if a passive scene has gained energy.
    fn check_passive(&mut self, active: bool, time: f64) -> Option<Event> {
        let (begin, end, watch) = (&self.begin, &self.end, &mut self.watch);
        watch.most_kinetic = watch.most_kinetic.max(begin.kinetic).max(end.kinetic);
        let [low, high] = watch.potential.unwrap_or([begin.potential; 2]);
        let [low, high] = [low.min(end.potential), high.max(end.potential)];
        watch.potential = Some([low, high]);
        let at_play = watch.most_kinetic + (high - low);
        let rounding = 1e-12 * (end.kinetic + low.abs().max(high.abs()));
        let lifted = end.mass * self.gravity * self.settings.height;
        let tolerance = self.settings.tolerance * at_play + lifted + rounding;
        let (now, dissipated) = (end.energy(), watch.dissipated);
        let energy = &mut watch.energy;
        if active || !tolerance.is_finite() {
            energy.restart(now);
            watch.dissipation.restart(dissipated);
            return None;
        }
        let (gained, rise) = if now - energy.reference > tolerance {
            (now - energy.reference, &*energy)
        } else if !watch.elastic && dissipated - watch.dissipation.reference > tolerance {
            (dissipated - watch.dissipation.reference, &watch.dissipation)
        } else {
            if dissipated < watch.dissipation.reference {
                watch.dissipation.restart(dissipated);
            }
            return None;
        };
        let place = (0..WorkCategory::COUNT).max_by(|a, b| rise.since[*a].total_cmp(&rise.since[*b]))?;
        let (source, point) =
            rise.gains[place].map_or((WorkSource::World, None), |gain| (gain.source, gain.point));
        let event = Event::EnergyGained { time, gained, category: WorkCategory::ALL[place], source, point };
        if now > energy.reference {
            energy.restart(now);
        }
        watch.dissipation.restart(dissipated);
        Some(event)
    }
}
