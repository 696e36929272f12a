//! Free motion: bodies under forces, without contacts and joints.
//!
//! A step: gather loads → integrate the dynamic bodies (by a [`BodyIntegrator`]) → move the kinematic bodies
//! along their paths → report changes and events.

mod first_order;
mod integration_context;
mod second_order;
mod splitting;

pub use integration_context::{BodyIntegrator, IntegrationContext};
pub use splitting::Splitting;

use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::property::{Allowed, Properties, PropertySpec, Value, ValueType};
use crate::registry::{Catalogue, Description, Entry, Registry, RegistryError};
use crate::simulator::{Capabilities, Feature, Simulator, StepContext};
use crate::world::{Continuity, Epoch, SnapshotError, World};
use glam::DVec3;
use rattleback_numerics::StepError;

const NAME: &str = "free-motion";
/// Most threads of a step.
const MAX_THREADS: u32 = 256;

/// Free-motion simulator: bodies under forces, without contacts and joints, by any integrator.
///
/// The default integrator is exact for uniform gravity and torque-free rotation, and of second order
/// otherwise.
#[derive(Debug)]
pub struct FreeMotion {
    integrator: Box<dyn BodyIntegrator>,
    loads: ForceAccumulator,
    non_finite: Vec<usize>,
    threads: u32,
    /// Revision of the world after the last step; a different one means that the world has been changed
    /// since.
    revision: Option<u64>,
    epoch: Epoch,
}

impl Default for FreeMotion {
    fn default() -> Self {
        Self::new(Box::new(Splitting::default()))
    }
}

impl FreeMotion {
    /// Integrator ⇒ simulator.
    pub fn new(integrator: Box<dyn BodyIntegrator>) -> Self {
        Self {
            integrator,
            loads: ForceAccumulator::default(),
            non_finite: Vec::new(),
            threads: 1,
            revision: None,
            epoch: Epoch::default(),
        }
    }

    /// The simulator with a number of threads, 1 to 256; results do not depend on it.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> Self {
        Self { threads: threads.clamp(1, MAX_THREADS), ..self }
    }

    /// Registered name of an integrator ⇒ simulator with its default settings.
    ///
    /// # Errors
    /// If no integrator has that name.
    ///
    /// ```
    /// use rattleback_dynamics::{FreeMotion, Registry};
    /// let simulator = FreeMotion::by_name("runge-kutta-4", &Registry::default())?;
    /// # Ok::<(), rattleback_dynamics::Error>(())
    /// ```
    pub fn by_name(integrator: &str, registry: &Registry) -> Result<Self, Error> {
        Ok(Self::new(registry.integrators.make(integrator, &Properties::new())?))
    }
}

impl Simulator for FreeMotion {
    fn description(&self) -> Description {
        let integrator = self.integrator.description();
        let mut properties = integrator.properties;
        properties.insert("integrator".into(), Value::Text(integrator.type_name));
        properties.insert("threads".into(), Value::Int(self.threads.into()));
        Description { type_name: NAME.into(), properties }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require(NAME, self.capabilities())?;
        if self.revision != Some(step.revision()) || step.continuity() != Continuity::Unbroken {
            self.integrator.reset();
        }
        loop {
            self.non_finite.clear();
            let Self { integrator, loads, non_finite, threads, .. } = self;
            let context = IntegrationContext::new(step.unsaved_world_mut(), loads, non_finite, *threads);
            let in_blocks = integrator.in_blocks(&context);
            let world = if in_blocks { step.world_in_blocks() } else { step.world_mut() };
            let mut context = IntegrationContext::new(world, loads, non_finite, *threads);
            let Err(source) = integrator.advance(&mut context, dt) else { break };
            if self.non_finite.is_empty() {
                // The history of the integrator belongs to a step that did not take place.
                self.revision = None;
                return Err(Error::Step { time: step.start(), dt, source });
            }
            // Without the bodies that are not finite the step may succeed.
            step.retry_without(&mut self.non_finite);
            self.integrator.reset();
        }
        for index in &self.non_finite {
            step.dynamic_mut().0[*index].x = DVec3::NAN;
        }
        self.epoch = step.finish();
        self.revision = Some(world.revision());
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::KinematicBodies,
            Feature::GravityScale,
            Feature::LockedRotations,
            Feature::EnergyLedger,
        ])
    }

    fn save_state(&self) -> Vec<u8> {
        postcard::to_allocvec(&(self.revision, self.epoch, self.integrator.save_state())).unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let (revision, epoch, state): (Option<u64>, Epoch, Vec<u8>) =
            postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("state of the simulator"))?;
        self.integrator.restore_state(&state)?;
        (self.revision, self.epoch) = (revision, epoch);
        Ok(())
    }
}

/// v(t + h) = v(t) e^(−c h) and ω alike, for every dynamic body.
fn damp_all(context: &mut IntegrationContext<'_>, h: f64) {
    let (motion, inertia) = context.dynamic_mut();
    for (body, inertia) in motion.iter_mut().zip(inertia) {
        inertia.damp(body, h);
    }
}

/// Result of an integration step.
pub(crate) type StepResult = Result<(), StepError>;

pub(crate) fn register_integrators(
    integrators: &mut Catalogue<Box<dyn BodyIntegrator>>,
) -> Result<(), RegistryError> {
    splitting::register(integrators)?;
    first_order::register(integrators)?;
    second_order::register(integrators)
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let mut integrators = Catalogue::new("integrator");
    register_integrators(&mut integrators)?;
    let mut specs = vec![PropertySpec {
        name: "integrator".into(),
        value_type: ValueType::Text,
        unit: String::new(),
        default: Some(Value::Text(splitting::NAME.into())),
        required: false,
        allowed: Allowed::Finite,
        doc: "Integrator, by its registered name".into(),
    }];
    specs.push(PropertySpec {
        name: "threads".into(),
        value_type: ValueType::Int,
        unit: String::new(),
        default: Some(Value::Int(1)),
        required: false,
        allowed: Allowed::Within(1.0, MAX_THREADS.into()),
        doc: "Threads of a step, 1 to 256; results do not depend on it".into(),
    });
    // The simulator accepts the settings of all integrators; each integrator has its own and their defaults.
    for entry in integrators.iter() {
        for spec in &entry.properties {
            if !specs.iter().any(|known| known.name == spec.name) {
                specs.push(PropertySpec { default: None, required: false, ..spec.clone() });
            }
        }
    }
    simulators.register(Entry::new(
        NAME,
        "Bodies under forces, without contacts and joints",
        specs,
        move |given| {
            let Some(Value::Text(name)) = given.get("integrator") else {
                return Err("`integrator` must be a string".into());
            };
            let mut settings = given.clone();
            settings.remove("integrator");
            let threads = match settings.remove("threads") {
                Some(Value::Int(threads)) => threads as u32,
                _ => 1,
            };
            let integrator = integrators.make(name, &settings).map_err(|error| error.to_string())?;
            Ok(Box::new(FreeMotion::new(integrator).with_threads(threads)) as Box<dyn Simulator>)
        },
    ))
}
