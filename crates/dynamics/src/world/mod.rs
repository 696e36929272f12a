//! The world: bodies, shapes, materials, forces and the clock, moved by a [`Simulator`](crate::Simulator).

mod assembly;
mod attach;
mod balance;
mod bodies;
mod body;
mod change_log;
mod contact_force;
mod contact_model;
mod disassembly;
mod epoch;
mod event;
mod filter;
mod handle;
mod joints;
mod ledger;
mod link_forces;
mod material;
mod multibodies;
mod multibody;
mod naming;
mod owner;
mod part;
mod path;
mod readout;
pub(crate) mod shapes;
mod sleep;
mod snapshot;
mod step;
mod view;
mod view_multibody;

pub use bodies::Bodies;
pub use body::{Body, ShapePart, Status};
pub use contact_model::ContactModel;
pub use epoch::{Continuity, Epoch};
pub use event::{Counters, Event};
pub use filter::{CollisionFilter, CollisionGroups, Group, PairSet};
pub use handle::{BodyId, ForceId, Handle, HandleMap, JointId, MaterialId, MultibodyId, PartId, ShapeId};
pub use ledger::{EnergyLedger, ForceWork, LedgerSettings, Work, WorkCategory, WorkEntry, WorkSource};
pub use material::{Combine, CombineRules, CombinedMaterial, Material};
pub use multibody::{JointKey, LinkId, Multibody};
pub use owner::{ColliderOwner, ElementId};
pub use part::{ElementMotion, PartKind, WorldPart};
pub use path::{Path, PathPoint};
pub use readout::Readout;
pub use shapes::AttachedShape;
pub use snapshot::SnapshotError;
pub use view::{BodyMut, BodyRef};
pub use view_multibody::{MultibodyMut, MultibodyRef};

use crate::error::{Error, parameter};
use crate::filter::{PairFilter, Rejection};
use crate::force::{Force, ForceAccumulator, ForceContext, Gravity, Targets};
use crate::property;
use crate::rigid::{Inertia, Motion, Wrench};
use body::BodyRecord;
use change_log::ChangeLog;
use epoch::{Identity, Steppers};
use glam::DVec3;
use joints::Joints;
use multibodies::Multibodies;
use part::PartRecord;
use rand_pcg::Pcg64;
use rattleback_geometry::{Aabb, Pose};
use std::collections::BTreeMap;

/// A force that acts in a world.
#[derive(Clone, Debug)]
pub(crate) struct ForceRecord {
    pub name: Option<String>,
    pub targets: Targets,
    pub force: Box<dyn Force>,
}

/// Everything there is to simulate, and the time.
///
/// ```
/// use rattleback_dynamics::{Body, FreeMotion, Simulator, World};
/// use rattleback_geometry::Shape;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default(); // gravity points down z
/// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 100.0).with_shape(Shape::sphere(0.1)?))?;
/// let mut simulator = FreeMotion::default();
/// for _ in 0..60 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// assert!((world.body(ball)?.position().z - (100.0 - 0.5 * 9.81)).abs() < 1e-12);
/// # Ok(()) }
/// ```
/// A copy is a world of its own with equal contents; simulators take it on anew.
#[derive(Clone, Debug)]
pub struct World {
    time: f64,
    bodies: Bodies,
    shapes: HandleMap<ShapeId, AttachedShape>,
    materials: HandleMap<MaterialId, (Option<String>, Material)>,
    default_material: MaterialId,
    forces: HandleMap<ForceId, ForceRecord>,
    joints: Joints,
    multibodies: Multibodies,
    parts: HandleMap<PartId, PartRecord>,
    combine_rules: CombineRules,
    filter: CollisionFilter,
    pub(super) pair_filter: PairFilter,
    contact_force_thresholds: BTreeMap<BodyId, f64>,
    contact_models: BTreeMap<[ShapeId; 2], ContactModel>,
    /// Bodies that are to fall asleep in the next step.
    sleep_requests: Vec<BodyId>,
    bounds: Option<Aabb>,
    /// The only source of randomness.
    pub random: Pcg64,
    counters: Counters,
    events: Vec<Event>,
    moved: Vec<BodyId>,
    /// Indices of dynamic bodies that are to be quarantined at the end of the step.
    non_finite: Vec<usize>,
    /// States of the dynamic bodies at the beginning of a step; scratch.
    initial_states: Vec<Motion>,
    /// Which bodies came, went or were opened for changes from outside a step.
    change_log: ChangeLog,
    /// What changed the energy, if that is accounted for.
    ledger: Option<Box<EnergyLedger>>,
    identity: Identity,
    steppers: Steppers,
}

impl Default for World {
    /// An empty world with gravity (0, 0, −9.81) m/s².
    fn default() -> Self {
        let mut world = Self::weightless();
        world.forces.insert(ForceRecord {
            name: Some("gravity".into()),
            targets: Targets::All,
            force: Box::new(Gravity::default()),
        });
        world
    }
}

impl World {
    /// An empty world without any force.
    pub fn weightless() -> Self {
        let mut materials = HandleMap::new();
        let default_material = materials.insert((Some("default".into()), Material::default()));
        Self {
            time: 0.0,
            bodies: Bodies::default(),
            shapes: HandleMap::new(),
            materials,
            default_material,
            forces: HandleMap::new(),
            joints: Joints::default(),
            multibodies: Multibodies::default(),
            parts: HandleMap::new(),
            combine_rules: CombineRules::default(),
            filter: CollisionFilter::default(),
            pair_filter: PairFilter::default(),
            contact_force_thresholds: BTreeMap::new(),
            contact_models: BTreeMap::new(),
            sleep_requests: Vec::new(),
            bounds: None,
            random: Pcg64::new(0xcafe_f00d_d15e_a5e5, 0xa02b_dbf7_bb3c_0a7a),
            counters: Counters::default(),
            events: Vec::new(),
            moved: Vec::new(),
            non_finite: Vec::new(),
            initial_states: Vec::new(),
            change_log: ChangeLog::default(),
            ledger: None,
            identity: Identity::default(),
            steppers: Steppers::default(),
        }
    }

    /// A number that changes whenever anything but a simulator may have changed a body.
    pub const fn revision(&self) -> u64 {
        self.change_log.revision()
    }

    /// Bodies that came, went or may have been changed since a revision, perhaps more than once; nothing if the log does not reach back
    /// that far.
    pub fn changed_since(&self, revision: u64) -> Option<&[BodyId]> {
        self.change_log.since(revision)
    }

    /// Seconds since the world began.
    pub const fn time(&self) -> f64 {
        self.time
    }

    /// What the last step cost.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What happened during the last step.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Bodies whose pose changed during the last step.
    pub fn moved(&self) -> &[BodyId] {
        &self.moved
    }

    /// All bodies.
    pub const fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Bodies that leave this box are disabled.
    pub fn set_bounds(&mut self, bounds: Option<Aabb>) {
        self.bounds = bounds;
    }

    /// The box that bodies may not leave, if there is one.
    pub const fn bounds(&self) -> Option<&Aabb> {
        self.bounds.as_ref()
    }

    /// Body description ⇒ id of the new body; refused without a trace if something is wrong with it.
    pub fn add_body(&mut self, body: Body) -> Result<BodyId, Error> {
        body.check()?;
        for material in body.parts.iter().filter_map(|part| part.material).chain(body.material) {
            self.material(material)?;
        }
        // A body that no force moves needs no mass; what its shapes weigh is kept for the day it becomes dynamic.
        let mass = match (body.total_mass(), body.status) {
            (Ok(mass), _) => Some(mass),
            (Err(error), Status::Dynamic) => return Err(error),
            (Err(_), _) => None,
        };
        let (body_from_principal, inertia, mass) =
            mass.map_or((Pose::IDENTITY, Inertia::default(), 0.0), |mass| {
                let principal = mass.principal();
                let inertia = Inertia {
                    inverse_mass: 1.0 / mass.mass,
                    moments: principal.moments,
                    inverse_moments: principal.moments.recip(),
                    linear_damping: body.linear_damping,
                    angular_damping: body.angular_damping,
                };
                (Pose::new(principal.rotation, mass.center_of_mass), inertia, mass.mass)
            });
        if mass > 0.0 && !(inertia.inverse_moments.is_finite() && inertia.inverse_mass.is_finite()) {
            return Err(Error::Mass {
                name: body.name,
                reason: "inertia vanishes about an axis; give it extent or mass properties".into(),
            });
        }
        let pose = Pose::new(body.pose.rotation.normalize(), body.pose.translation);
        let principal = pose * body_from_principal;
        let mut motion = Motion {
            x: principal.translation,
            q: principal.rotation,
            v: body.velocity,
            omega: body.angular_velocity,
        };
        if matches!(body.status, Status::Fixed | Status::Disabled) {
            motion.v = DVec3::ZERO;
            motion.omega = DVec3::ZERO;
        }
        if body.rotation_locked {
            motion.omega = DVec3::ZERO;
        }
        let id = self.bodies.insert(
            BodyRecord {
                status: body.status,
                index: 0,
                name: body.name,
                can_sleep: body.can_sleep,
                groups: body.groups,
                charge: body.charge,
                shape_revision: 0,
                gravity_scale: body.gravity_scale,
                rotation_locked: body.rotation_locked,
                user_data: body.user_data,
                applied: Wrench::default(),
                body_from_principal,
                mass,
                inertia,
                shapes: Vec::with_capacity(body.parts.len()),
                link: None,
                element: None,
                path: body.path,
                path_start: pose,
            },
            motion,
        );
        self.change_log.note(id);
        let material = body.material.unwrap_or(self.default_material);
        for part in body.parts {
            let shape = self.shapes.insert(AttachedShape::new(id, part, material, body.groups));
            self.bodies.record_mut(id)?.shapes.push(shape);
        }
        self.follow_path(id);
        Ok(id)
    }

    /// Takes a body, its shapes and its joints out of the world. Forces that name it stop acting on it.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), Error> {
        self.refuse_link_body(id, "removing it")?;
        self.remove_joints_of(id);
        let record = self.bodies.remove(id)?;
        self.change_log.note(id);
        for shape in record.shapes {
            self.shapes.remove(shape);
            self.forget_contact_models(shape);
        }
        self.filter.rules.forget_body(id);
        self.filter.exceptions.forget_body(id);
        self.pair_filter.forget_body(id);
        self.contact_force_thresholds.remove(&id);
        Ok(())
    }

    /// Id ⇒ read-only view.
    pub fn body(&self, id: BodyId) -> Result<BodyRef<'_>, Error> {
        BodyRef::new(self, id)
    }

    /// Id ⇒ view for changes between steps.
    pub fn body_mut(&mut self, id: BodyId) -> Result<BodyMut<'_>, Error> {
        self.bodies.record(id)?;
        self.change_log.note(id);
        Ok(BodyMut::new(self, id))
    }

    /// All bodies in the order of their slots.
    pub fn iter_bodies(&self) -> impl Iterator<Item = BodyRef<'_>> + '_ {
        self.bodies.records.iter().filter_map(|(id, _)| self.body(id).ok())
    }

    /// Name ⇒ id of the first body called so.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.bodies.records.iter().find(|(_, record)| record.name.as_deref() == Some(name)).map(|(id, _)| id)
    }

    /// Id ⇒ attached shape.
    pub fn shape(&self, id: ShapeId) -> Result<&AttachedShape, Error> {
        self.shapes.get(id).ok_or(Error::UnknownShape(id))
    }

    /// All attached shapes in the order of their slots.
    pub fn iter_shapes(&self) -> impl Iterator<Item = (ShapeId, &AttachedShape)> + '_ {
        self.shapes.iter()
    }

    /// Material ⇒ its new id.
    pub fn add_material(&mut self, material: Material) -> Result<MaterialId, Error> {
        Ok(self.materials.insert((None, material.checked()?)))
    }

    /// (name, material) ⇒ its new id.
    pub fn add_named_material(&mut self, name: &str, material: Material) -> Result<MaterialId, Error> {
        Ok(self.materials.insert((Some(name.into()), material.checked()?)))
    }

    /// Id ⇒ material.
    pub fn material(&self, id: MaterialId) -> Result<&Material, Error> {
        self.materials.get(id).map(|(_, material)| material).ok_or(Error::UnknownMaterial(id))
    }

    /// Name ⇒ id of the first material called so.
    pub fn find_material(&self, name: &str) -> Option<MaterialId> {
        self.materials.iter().find(|(_, (given, _))| given.as_deref() == Some(name)).map(|(id, _)| id)
    }

    /// The material of shapes that name none.
    pub const fn default_material(&self) -> MaterialId {
        self.default_material
    }

    /// How materials are combined.
    pub const fn combine_rules(&self) -> &CombineRules {
        &self.combine_rules
    }

    /// The same, to change; living contacts take the new coefficients from the next step on.
    pub fn combine_rules_mut(&mut self) -> &mut CombineRules {
        self.change_log.note_everything();
        &mut self.combine_rules
    }

    /// Which pairs may touch, by groups and rules.
    pub const fn filter(&self) -> &CollisionFilter {
        &self.filter
    }

    /// The same, to change; all pairs are filtered anew in the next step, those that touch already too.
    pub fn filter_mut(&mut self) -> &mut CollisionFilter {
        self.change_log.note_everything();
        &mut self.filter
    }

    /// All materials in the order of their slots.
    pub fn iter_materials(&self) -> impl Iterator<Item = (MaterialId, &Material)> + '_ {
        self.materials.iter().map(|(id, (_, material))| (id, material))
    }

    /// Changes a material for every shape that has it; living contacts take the new coefficients from the next step on.
    ///
    /// # Errors
    /// No such material, or a coefficient out of its range.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<(), Error> {
        let material = material.checked()?;
        let present = &mut self.materials.get_mut(id).ok_or(Error::UnknownMaterial(id))?.1;
        if *present != material {
            *present = material;
            self.change_log.note_everything();
        }
        Ok(())
    }

    /// Takes a material out that no shape has.
    pub fn remove_material(&mut self, id: MaterialId) -> Result<(), Error> {
        self.material(id)?;
        if id == self.default_material {
            return Err(Error::DefaultMaterial);
        }
        if let Some((shape, _)) = self.shapes.iter().find(|(_, attached)| attached.material == id) {
            return Err(Error::MaterialInUse { material: id, shape });
        }
        self.materials.remove(id);
        self.combine_rules.forget(id);
        Ok(())
    }

    /// Two shapes ⇒ coefficients between their surfaces, by the combine rules and the
    /// [contact modifier](PairFilter::set_contact_modifier).
    pub fn combined_material(&self, a: ShapeId, b: ShapeId) -> Result<CombinedMaterial, Error> {
        let shapes = [a, b];
        let (a, b) = (self.shape(a)?.material, self.shape(b)?.material);
        let combined = self.combine_rules.mix((a, self.material(a)?), (b, self.material(b)?));
        Ok(self.pair_filter.modified(self, shapes, combined))
    }

    /// Whether groups, masks, rules, exclusions and the callback let two shapes touch.
    pub fn can_collide(&self, a: ShapeId, b: ShapeId) -> Result<bool, Error> {
        let bodies = [self.shape(a)?.body, self.shape(b)?.body];
        Ok(self.pair_filter.evaluate(self, bodies, [a, b])?.is_none())
    }

    /// [`can_collide`](Self::can_collide) for a simulator whose broad phase has found a new pair: if it may not touch, that is
    /// reported as [`Event::Filtered`] at the end of the step if [`PairFilter::reports`] is set.
    pub fn filter_pair(&self, a: ShapeId, b: ShapeId) -> Result<bool, Error> {
        Ok(self.evaluate_pair(a, b)?.is_none())
    }

    /// The same with the reason why a pair may not touch.
    pub(crate) fn evaluate_pair(&self, a: ShapeId, b: ShapeId) -> Result<Option<Rejection>, Error> {
        let bodies = [self.shape(a)?.body, self.shape(b)?.body];
        let rejection = self.pair_filter.evaluate(self, bodies, [a, b])?;
        if let Some(why) = rejection {
            self.pair_filter.note(bodies, [a, b], why);
        }
        Ok(rejection)
    }

    /// Excluded pairs, and the callback that decides last whether a pair can collide.
    pub const fn pair_filter(&self) -> &PairFilter {
        &self.pair_filter
    }

    /// The same, to change; simulators look at all pairs anew then.
    pub fn pair_filter_mut(&mut self) -> &mut PairFilter {
        self.change_log.note_everything();
        &mut self.pair_filter
    }

    /// A force on every dynamic body ⇒ its id.
    pub fn add_force(&mut self, force: impl Force + 'static) -> Result<ForceId, Error> {
        self.add_force_on(Targets::All, None, Box::new(force))
    }

    /// (on which bodies, name, force) ⇒ its id.
    pub fn add_force_on(
        &mut self,
        targets: Targets,
        name: Option<String>,
        force: Box<dyn Force>,
    ) -> Result<ForceId, Error> {
        if let Targets::Bodies(ids) = &targets {
            for id in ids {
                self.bodies.record(*id)?;
            }
        }
        property::check(&*force)?;
        force.check(&self.bodies)?;
        self.wake_targets(&targets);
        Ok(self.forces.insert(ForceRecord { name, targets, force }))
    }

    /// Stops a force.
    pub fn remove_force(&mut self, id: ForceId) -> Result<Box<dyn Force>, Error> {
        let record = self.forces.remove(id).ok_or(Error::UnknownForce(id))?;
        self.wake_targets(&record.targets);
        Ok(record.force)
    }

    /// Id ⇒ force, to be configured by its properties.
    pub fn force(&self, id: ForceId) -> Result<&dyn Force, Error> {
        self.forces.get(id).map(|record| &*record.force).ok_or(Error::UnknownForce(id))
    }

    /// Sets a property of a force by name; refused without a trace if the value does not fit.
    pub fn set_force_property(
        &mut self,
        id: ForceId,
        name: &str,
        value: crate::property::Value,
    ) -> Result<(), Error> {
        let record = self.forces.get_mut(id).ok_or(Error::UnknownForce(id))?;
        let before = record.force.get(name)?;
        record.force.set(name, value)?;
        if let Err(error) = record.force.check(&self.bodies) {
            record.force.set(name, before)?;
            return Err(error);
        }
        let targets = record.targets.clone();
        self.wake_targets(&targets);
        Ok(())
    }

    /// Bodies on which a force acts wake up when it changes.
    fn wake_targets(&mut self, targets: &Targets) {
        let dynamic = self.bodies.ids(Status::Dynamic);
        match targets {
            Targets::All => dynamic.iter().for_each(|id| self.change_log.note(*id)),
            Targets::Bodies(ids) => ids.iter().for_each(|id| self.change_log.note(*id)),
        }
    }

    /// All forces with their names.
    pub fn iter_forces(&self) -> impl Iterator<Item = (ForceId, Option<&str>, &dyn Force)> + '_ {
        self.forces.iter().map(|(id, record)| (id, record.name.as_deref(), &*record.force))
    }

    /// Makes the uniform gravity of the whole world this vector, m/s².
    pub fn set_gravity(&mut self, acceleration: DVec3) -> Result<(), Error> {
        if !acceleration.is_finite() {
            return Err(parameter("gravity", "finite", acceleration));
        }
        let value = crate::property::Value::Vec3(acceleration);
        let present = self
            .forces
            .iter()
            .find(|(_, record)| record.targets == Targets::All && record.force.type_name() == "gravity")
            .map(|(id, _)| id);
        if let Some(id) = present {
            return self.set_force_property(id, "acceleration", value);
        }
        let force = Gravity { acceleration: acceleration.into() };
        self.add_force_on(Targets::All, Some("gravity".into()), Box::new(force)).map(|_| ())
    }

    /// Adds up what every force does at time t to the dynamic bodies as they are now.
    pub(crate) fn gather_loads(&mut self, t: f64, loads: &mut ForceAccumulator) {
        self.counters.force_evaluations += 1;
        if self.loads_links() {
            self.update_loaded_bodies();
            let mut loaded = std::mem::take(&mut self.multibodies.loaded);
            loaded.gather(self, t, loads);
            self.multibodies.loaded = loaded;
        } else {
            loads.clear(self.bodies.count(Status::Dynamic));
            for (_, record) in self.forces.iter() {
                record.force.apply(&ForceContext::new(t, &self.bodies, &self.shapes, &record.targets), loads);
            }
        }
        for (index, wrench) in self.bodies.applied() {
            loads.add(index, wrench);
        }
    }

    /// Whether every force is the same at all positions, velocities and times.
    pub(crate) fn forces_are_uniform(&self) -> bool {
        self.bodies.are_plain()
            && self
                .forces
                .iter()
                .all(|(_, record)| record.targets == Targets::All && record.force.is_uniform())
    }

    pub(crate) const fn bodies_mut(&mut self) -> &mut Bodies {
        &mut self.bodies
    }

    pub(crate) const fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }
}
