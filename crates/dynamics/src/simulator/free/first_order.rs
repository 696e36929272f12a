//! Rigid bodies under any method for ẏ = f(t, y).
//!
//! The state of a body is y = (x, q, v, L): 13 numbers. ẋ = v, q̇ = ½ (0, ω) q, v̇ = F/m, L̇ = τ, with
//! ω = R I⁻¹ Rᵀ L recomputed from the stage's own attitude: integrating L instead of ω is what keeps the gyroscopic term.
//! After each step the quaternion is put back to unit length.

use super::flow::{BodyIntegrator, Flow};
use super::{StepResult, damping};
use crate::component;
use crate::motion::Motion;
use crate::property::{Allowed, Component, ComponentType};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::world::SnapshotError;
use glam::{DQuat, DVec3};
use rattleback_numerics::adaptive::{Embedded, StepControl, StepDoubling, SubStepController};
use rattleback_numerics::integrator::{
    BulirschStoer, CashKarp, DormandPrince, EmbeddedPair, ExplicitEuler, ImplicitEuler, RungeKutta2,
    RungeKutta4,
};
use rattleback_numerics::{Integrator, State, StepError, System, Tolerance};

type Y = Vec<f64>;
const WIDTH: usize = 13;

component! {
    /// How a first-order method chooses its steps.
    pub struct FirstOrderSettings as "first-order settings" {
        /// One step as asked, as many as the error demands, or a number of equal sub-steps that doubles and halves.
        control: String = "fixed", "", Allowed::OneOf(&["fixed", "adaptive", "sub-steps"]);
        /// Largest error of a step, absolute part, in SI units of the state.
        absolute_tolerance: f64 = 1e-8, "", Allowed::Positive;
        /// Largest error of a step, relative part.
        relative_tolerance: f64 = 1e-8, "", Allowed::NonNegative;
    }
}

/// The equations of motion of all dynamic bodies.
struct Newton<'f, 'w>(&'f mut Flow<'w>);

fn vector(y: &[f64]) -> DVec3 {
    DVec3::from_slice(y)
}

fn quaternion(y: &[f64]) -> DQuat {
    DQuat::from_slice(y)
}

impl Newton<'_, '_> {
    /// Puts the bodies into the state y.
    fn place(&mut self, y: &Y) {
        let (motion, inertia) = self.0.dynamic_mut();
        for ((body, inertia), y) in motion.iter_mut().zip(inertia).zip(y.chunks_exact(WIDTH)) {
            let q = quaternion(&y[3..]).normalize();
            let l = vector(&y[10..]);
            *body = Motion { x: vector(y), q, v: vector(&y[7..]), omega: inertia.angular_velocity(q, l) };
        }
    }

    /// The present state of the bodies.
    fn read(&mut self, y: &mut Y) {
        y.clear();
        let (motion, inertia) = self.0.dynamic_mut();
        for (body, inertia) in motion.iter().zip(inertia) {
            y.extend(body.x.to_array());
            y.extend(body.q.to_array());
            y.extend(body.v.to_array());
            y.extend(inertia.angular_momentum(body.q, body.omega).to_array());
        }
    }
}

impl System<Y> for Newton<'_, '_> {
    fn rate(&mut self, t: f64, y: &Y, rate: &mut Y) {
        self.place(y);
        let (motion, inertia, loads) = self.0.gather_and_move(t);
        let g = loads.uniform_acceleration();
        let mut sick = Vec::new();
        let bodies = motion.iter().zip(inertia).zip(y.chunks_exact(WIDTH)).zip(rate.chunks_exact_mut(WIDTH));
        for (index, (((body, inertia), y), rate)) in bodies.enumerate() {
            let wrench = loads.wrench(index);
            let acceleration = g + wrench.force * inertia.inverse_mass;
            // A body whose force is not a number stands still and is taken out after the step; the others go on.
            if !(acceleration.is_finite() && wrench.torque.is_finite() && body.is_finite()) {
                rate.fill(0.0);
                sick.push(index);
                continue;
            }
            let spin =
                DQuat::from_xyzw(body.omega.x, body.omega.y, body.omega.z, 0.0) * quaternion(&y[3..]) * 0.5;
            rate[..3].copy_from_slice(&body.v.to_array());
            rate[3..7].copy_from_slice(&spin.to_array());
            rate[7..10].copy_from_slice(&acceleration.to_array());
            rate[10..].copy_from_slice(&wrench.torque.to_array());
        }
        self.0.report_sick(sick);
    }

    fn project(&mut self, y: &mut Y) {
        for y in y.chunks_exact_mut(WIDTH) {
            let q = quaternion(&y[3..]).normalize();
            y[3..7].copy_from_slice(&q.to_array());
        }
    }
}

/// How the error of a step is found when it is controlled.
trait Adaptive: Send {
    fn integrate(
        &mut self,
        system: &mut dyn System<Y>,
        t0: f64,
        t1: f64,
        y: &mut Y,
        first: Option<f64>,
    ) -> Result<rattleback_numerics::adaptive::Report, StepError>;
}

impl<M: EmbeddedPair<Y>> Adaptive for Embedded<M, Y> {
    fn integrate(
        &mut self,
        system: &mut dyn System<Y>,
        t0: f64,
        t1: f64,
        y: &mut Y,
        first: Option<f64>,
    ) -> Result<rattleback_numerics::adaptive::Report, StepError> {
        self.control.initial_step = first;
        Self::integrate(self, system, t0, t1, y)
    }
}

impl<M: Integrator<Y>> Adaptive for StepDoubling<M, Y> {
    fn integrate(
        &mut self,
        system: &mut dyn System<Y>,
        t0: f64,
        t1: f64,
        y: &mut Y,
        first: Option<f64>,
    ) -> Result<rattleback_numerics::adaptive::Report, StepError> {
        self.control.initial_step = first;
        Self::integrate(self, system, t0, t1, y)
    }
}

/// A first-order method for all dynamic bodies at once.
struct FirstOrder {
    name: &'static str,
    settings: FirstOrderSettings,
    extra: Option<f64>,
    method: Box<dyn Integrator<Y>>,
    adaptive: Box<dyn Adaptive>,
    controller: SubStepController,
    /// Step that the error control would like to begin with.
    next_step: Option<f64>,
    y: Y,
    scratch: [Y; 2],
    whole: Y,
}

impl std::fmt::Debug for FirstOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FirstOrder")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl BodyIntegrator for FirstOrder {
    fn description(&self) -> Description {
        let mut properties = self.settings.properties();
        if let Some(weight) = self.extra {
            properties.insert("weight".into(), crate::property::Value::Real(weight));
        }
        Description { type_name: self.name.into(), properties }
    }

    fn advance(&mut self, flow: &mut Flow<'_>, h: f64) -> StepResult {
        let t = flow.time();
        damping(flow, 0.5 * h);
        let mut newton = Newton(flow);
        newton.read(&mut self.y);
        let (accepted, rejected) = match self.settings.control.as_str() {
            "adaptive" => {
                // A step as long as the interval may be tried again; anything longer is cut to it by the driver.
                let report = self.adaptive.integrate(&mut newton, t, t + h, &mut self.y, self.next_step)?;
                self.next_step = Some(report.next_step);
                (report.accepted, report.rejected)
            }
            "sub-steps" => {
                let tolerance =
                    Tolerance::new(self.settings.absolute_tolerance, self.settings.relative_tolerance);
                let (method, whole) = (&mut self.method, &mut self.whole);
                let report = self.controller.advance(t, h, &mut self.y, &mut self.scratch, |t, h, y| {
                    // The error of a sub-step by step doubling: one whole against two halves, which are kept.
                    whole.clone_from(y);
                    method.step(&mut newton, t, h, whole)?;
                    method.step(&mut newton, t, 0.5 * h, y)?;
                    method.step(&mut newton, t + 0.5 * h, 0.5 * h, y)?;
                    whole.add_scaled(-1.0, y);
                    Ok(whole.scaled_error(y, tolerance))
                })?;
                (u64::from(report.substeps), u64::from(report.rejected))
            }
            _ => {
                self.method.step(&mut newton, t, h, &mut self.y)?;
                (1, 0)
            }
        };
        newton.place(&self.y);
        damping(flow, 0.5 * h);
        flow.count_substeps(accepted, rejected);
        Ok(())
    }

    fn reset(&mut self) {
        self.method.reset();
    }

    fn memory(&self) -> Vec<u8> {
        let memory = (self.controller.substeps, self.controller.accepted, self.next_step);
        postcard::to_allocvec(&memory).unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        let (substeps, accepted, next_step): (u32, u32, Option<f64>) =
            postcard::from_bytes(memory).map_err(|_| SnapshotError::Malformed("memory of the integrator"))?;
        if next_step.is_some_and(|step| !(step.is_finite() && step > 0.0)) || substeps == 0 {
            return Err(SnapshotError::Malformed("memory of the integrator"));
        }
        self.controller.substeps = substeps;
        self.controller.accepted = accepted;
        self.next_step = next_step;
        Ok(())
    }
}

/// A method for steps as they come, and the same under error control.
type Methods = (Box<dyn Integrator<Y>>, Box<dyn Adaptive>);

/// Everything needed to make one kind of first-order method.
struct Recipe {
    name: &'static str,
    doc: &'static str,
    weighted: bool,
    make: fn(&FirstOrderSettings, f64) -> Result<Methods, StepError>,
}

fn control(settings: &FirstOrderSettings) -> StepControl {
    StepControl::new(Tolerance::new(settings.absolute_tolerance, settings.relative_tolerance))
}

/// A method controlled by step doubling.
fn doubled<M: Integrator<Y> + 'static>(
    settings: &FirstOrderSettings,
    make: impl Fn() -> Result<M, StepError>,
) -> Result<Methods, StepError> {
    Ok((Box::new(make()?), Box::new(StepDoubling::new(make()?, control(settings)))))
}

/// A method that brings its own error estimate.
fn embedded<M: EmbeddedPair<Y> + 'static>(settings: &FirstOrderSettings, make: impl Fn() -> M) -> Methods {
    (Box::new(make()), Box::new(Embedded::new(make(), control(settings))))
}

const RECIPES: [Recipe; 9] = [
    Recipe {
        name: "explicit-euler",
        doc: "Forward Euler, order 1: for comparison, gains energy",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(ExplicitEuler::new())),
    },
    Recipe {
        name: "implicit-euler",
        doc: "Backward Euler, order 1: stable for stiff springs, loses energy",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(ImplicitEuler::new())),
    },
    Recipe {
        name: "midpoint",
        doc: "Midpoint Runge-Kutta, order 2",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta2::midpoint())),
    },
    Recipe {
        name: "heun",
        doc: "Heun's Runge-Kutta, order 2",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta2::heun())),
    },
    Recipe {
        name: "runge-kutta-2",
        doc: "Any Runge-Kutta of order 2 with two stages",
        weighted: true,
        make: |settings, weight| doubled(settings, || RungeKutta2::with_weight(weight)),
    },
    Recipe {
        name: "runge-kutta-4",
        doc: "Classical Runge-Kutta, order 4",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta4::new())),
    },
    Recipe {
        name: "cash-karp",
        doc: "Cash and Karp's embedded pair, order 5(4)",
        weighted: false,
        make: |settings, _| Ok(embedded(settings, CashKarp::new)),
    },
    Recipe {
        name: "dormand-prince",
        doc: "Dormand and Prince's embedded pair, order 5(4)",
        weighted: false,
        make: |settings, _| Ok(embedded(settings, DormandPrince::new)),
    },
    Recipe {
        name: "bulirsch-stoer",
        doc: "Extrapolated midpoint rule: very accurate for smooth forces",
        weighted: false,
        make: |settings, _| {
            let tolerance = Tolerance::new(settings.absolute_tolerance, settings.relative_tolerance);
            doubled(settings, || BulirschStoer::new(tolerance))
        },
    },
];

pub(super) fn register(integrators: &mut Catalogue<Box<dyn BodyIntegrator>>) -> Result<(), RegistryError> {
    for recipe in RECIPES {
        let mut specs = FirstOrderSettings::type_specs().to_vec();
        if recipe.weighted {
            specs.push(crate::property::PropertySpec {
                name: "weight".into(),
                value_type: crate::property::ValueType::Real,
                unit: String::new(),
                default: Some(crate::property::Value::Real(1.0)),
                required: false,
                allowed: Allowed::Within(1e-3, 1.0),
                doc: "Weight of the second stage: 1 is the midpoint rule, 1/2 Heun's".into(),
            });
        }
        integrators.register(Entry::new(recipe.name, recipe.doc, specs, move |given| {
            let mut settings = FirstOrderSettings::default();
            let mut weight = None;
            for (name, value) in given {
                match value {
                    crate::property::Value::Real(x) if name == "weight" => weight = Some(*x),
                    _ => settings.set(name, value.clone()).map_err(|error| error.to_string())?,
                }
            }
            let (method, adaptive) =
                (recipe.make)(&settings, weight.unwrap_or(1.0)).map_err(|error| error.to_string())?;
            Ok(Box::new(FirstOrder {
                name: recipe.name,
                settings,
                extra: weight,
                method,
                adaptive,
                controller: SubStepController::default(),
                next_step: None,
                y: Y::new(),
                scratch: [Y::new(), Y::new()],
                whole: Y::new(),
            }) as Box<dyn BodyIntegrator>)
        }))?;
    }
    Ok(())
}
