//! Forces: what pushes bodies. One file each; every one is a component that scene files can name.
//!
//! A force is called once per evaluation for all its bodies (never once per body), reads their present state and adds
//! wrenches. Evaluation is two-phase: all forces are summed from one consistent state before anything moves.

mod buoyancy;
mod drag;
mod gravity;
mod pair;
mod point_force;
mod spring;
mod vortex;
mod wind;

pub use buoyancy::Buoyancy;
pub use drag::Drag;
pub use gravity::Gravity;
pub use pair::{COULOMB_CONSTANT, Coulomb, GRAVITATIONAL_CONSTANT, Gravitation, LennardJones};
pub use point_force::PointForce;
pub use spring::Spring;
pub use vortex::Vortex;
pub use wind::{ConvexRegion, WindBox, WindPolyhedron, WindSphere};

use crate::error::Error;
use crate::property::Component;
use crate::registry::{Catalogue, Entry, RegistryError};
use crate::rigid::{Inertia, Motion, Wrench};
use crate::world::{AttachedShape, Bodies, BodyId, HandleMap, ShapeId, Status};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Something that pushes bodies.
pub trait Force: Component + Any + CloneForce {
    /// Adds what the force does to the dynamic bodies in scope.
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator);

    /// Potential energy of the bodies in scope, J; 0 for forces without a potential.
    fn potential_energy(&self, _scope: &ForceContext<'_>) -> f64 {
        0.0
    }

    /// d(K + U)/dt by this force, W: what [`potential_energy`](Self::potential_energy) does not stand for, such as dampers and parameters
    /// that change with time. Nothing if that is not known apart; the energy ledger then takes the power of all wrenches and adds ΔU.
    fn power_without_potential(&self, _scope: &ForceContext<'_>) -> Option<f64> {
        None
    }

    /// Whether it never adds energy to bodies beyond what its potential gives back.
    fn is_passive(&self) -> bool {
        false
    }

    /// What is wrong with it in a world of these bodies, if anything.
    fn check(&self, _bodies: &Bodies) -> Result<(), Error> {
        Ok(())
    }

    /// Whether all it ever does is [`ForceAccumulator::add_uniform_acceleration`] with one constant vector. Wrenches of a force that
    /// says so are not looked at.
    fn is_uniform(&self) -> bool {
        false
    }
}

/// Copies a force of unknown kind; every force that is [`Clone`] can.
pub trait CloneForce {
    /// A copy.
    fn clone_force(&self) -> Box<dyn Force>;
}

impl<F: Force + Clone> CloneForce for F {
    fn clone_force(&self) -> Box<dyn Force> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Force> {
    fn clone(&self) -> Self {
        (**self).clone_force()
    }
}

/// Which bodies a force acts on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Targets {
    /// Every dynamic body.
    All,
    /// These, as far as they are dynamic.
    Bodies(Vec<BodyId>),
}

/// What a force may look at.
#[derive(Clone, Copy, Debug)]
pub struct ForceContext<'a> {
    /// Seconds.
    pub time: f64,
    /// All bodies, in the state at which forces are wanted.
    pub bodies: &'a Bodies,
    shapes: &'a HandleMap<ShapeId, AttachedShape>,
    targets: &'a Targets,
}

/// One body a force acts on.
#[derive(Clone, Copy, Debug)]
pub struct TargetBody<'a> {
    /// Place in the loads.
    pub index: usize,
    /// Which body.
    pub id: BodyId,
    /// Its state.
    pub motion: &'a Motion,
    /// Its inertia.
    pub inertia: &'a Inertia,
}

impl<'a> ForceContext<'a> {
    pub(crate) const fn new(
        time: f64,
        bodies: &'a Bodies,
        shapes: &'a HandleMap<ShapeId, AttachedShape>,
        targets: &'a Targets,
    ) -> Self {
        Self { time, bodies, shapes, targets }
    }

    /// Whether every dynamic body is meant.
    pub const fn covers_all(&self) -> bool {
        matches!(self.targets, Targets::All)
    }

    /// The dynamic body with this id, if there is one.
    pub fn dynamic(&self, id: BodyId) -> Option<TargetBody<'a>> {
        match self.bodies.locate(id) {
            Some((Status::Dynamic, index)) => Some(self.target(index)),
            _ => None,
        }
    }

    fn target(&self, index: usize) -> TargetBody<'a> {
        TargetBody {
            index,
            id: self.bodies.ids(Status::Dynamic)[index],
            motion: &self.bodies.motion(Status::Dynamic)[index],
            inertia: &self.bodies.inertia(Status::Dynamic)[index],
        }
    }

    /// How many bodies are meant; some of them may not be dynamic.
    pub fn target_count(&self) -> usize {
        match self.targets {
            Targets::All => self.bodies.count(Status::Dynamic),
            Targets::Bodies(ids) => ids.len(),
        }
    }

    /// The k-th body acted on, if it is dynamic.
    pub fn nth_target(&self, k: usize) -> Option<TargetBody<'a>> {
        match self.targets {
            Targets::All => (k < self.bodies.count(Status::Dynamic)).then(|| self.target(k)),
            Targets::Bodies(ids) => self.dynamic(*ids.get(k)?),
        }
    }

    /// The bodies acted on, in a fixed order.
    pub fn targets(&self) -> impl Iterator<Item = TargetBody<'a>> + '_ {
        (0..self.target_count()).filter_map(|k| self.nth_target(k))
    }

    /// The same at another time.
    pub(crate) const fn at(self, time: f64) -> Self {
        Self { time, ..self }
    }

    /// Power of a force on the bodies in scope, W; `loads` is room to work in.
    pub(crate) fn power(&self, force: &dyn Force, loads: &mut ForceAccumulator) -> f64 {
        let (motion, inertia) = (self.bodies.motion(Status::Dynamic), self.bodies.inertia(Status::Dynamic));
        loads.clear(motion.len());
        force.apply(self, loads);
        let g = loads.uniform_acceleration();
        let mut sum = 0.0;
        for (index, (motion, inertia)) in motion.iter().zip(inertia).enumerate() {
            let wrench = loads.wrench(index);
            sum += wrench.force.dot(motion.v) + wrench.torque.dot(motion.omega);
            if g != DVec3::ZERO {
                sum += inertia.mass() * g.dot(motion.v);
            }
        }
        sum
    }

    /// The shapes of a body.
    pub fn shapes_of(&self, id: BodyId) -> impl Iterator<Item = &'a AttachedShape> + '_ {
        self.bodies.shape_ids(id).iter().filter_map(|shape| self.shapes.get(*shape))
    }
}

/// ∂U/∂t of a force, W: by how much its potential energy changes although bodies stay where they are.
fn rate_of_potential(force: &dyn Force, scope: &ForceContext<'_>) -> f64 {
    // Parameters change over seconds or milliseconds; rounding of U leaves ten digits of its rate.
    const D: f64 = 1e-5;
    let at = |time: f64| force.potential_energy(&scope.at(time));
    (at(scope.time + D) - at(scope.time - D)) / (2.0 * D)
}

/// What all forces together do to the dynamic bodies.
#[derive(Clone, Debug, Default)]
pub struct ForceAccumulator {
    /// An acceleration common to all: gravity costs nothing per body.
    uniform: DVec3,
    wrenches: Vec<Wrench>,
    any_wrench: bool,
}

impl ForceAccumulator {
    /// Clears all loads and makes room for this many bodies.
    pub fn clear(&mut self, bodies: usize) {
        self.uniform = DVec3::ZERO;
        if self.any_wrench || self.wrenches.len() != bodies {
            self.wrenches.clear();
            self.wrenches.resize(bodies, Wrench::default());
            self.any_wrench = false;
        }
    }

    /// The same loads as the other, in the room that is already there.
    pub fn copy_from(&mut self, other: &Self) {
        self.uniform = other.uniform;
        self.wrenches.clone_from(&other.wrenches);
        self.any_wrench = other.any_wrench;
    }

    /// Accelerates every dynamic body alike, m/s².
    pub fn add_uniform_acceleration(&mut self, acceleration: DVec3) {
        self.uniform += acceleration;
    }

    /// Adds a force through and a torque about the centre of mass of one body.
    pub fn add(&mut self, index: usize, wrench: Wrench) {
        self.any_wrench = true;
        self.wrenches[index] += wrench;
    }

    /// Leaves the loads of the first bodies only.
    pub(crate) fn truncate(&mut self, bodies: usize) {
        self.wrenches.truncate(bodies);
    }

    /// The common acceleration, m/s².
    pub const fn uniform_acceleration(&self) -> DVec3 {
        self.uniform
    }

    /// Place of a body ⇒ its wrench, without the common acceleration.
    pub fn wrench(&self, index: usize) -> Wrench {
        if self.any_wrench { self.wrenches[index] } else { Wrench::default() }
    }
}

/// Registers the built-in forces.
pub(crate) fn register(forces: &mut Catalogue<Box<dyn Force>>) -> Result<(), RegistryError> {
    fn entry<F: Force + crate::property::ComponentType>() -> Entry<Box<dyn Force>> {
        Entry::of::<F>(|force| Box::new(force) as Box<dyn Force>)
    }
    forces.register(entry::<Gravity>())?;
    forces.register(entry::<Drag>())?;
    forces.register(entry::<PointForce>())?;
    forces.register(entry::<Spring>())?;
    forces.register(entry::<WindSphere>())?;
    forces.register(entry::<WindBox>())?;
    forces.register(entry::<WindPolyhedron>())?;
    forces.register(entry::<Vortex>())?;
    forces.register(entry::<Gravitation>())?;
    forces.register(entry::<Coulomb>())?;
    forces.register(entry::<LennardJones>())?;
    forces.register(entry::<Buoyancy>())
}
