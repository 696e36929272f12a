//! Rigid bodies as a first-order system ẏ = f(t, y), for any method of [`rattleback_numerics::integrator`].
//!
//! The state of a body is y = (x, q, v, L): 13 numbers. ẋ = v, q̇ = ½ (0, ω) q, v̇ = F/m, L̇ = τ, with ω = R I⁻¹
//! Rᵀ L evaluated with the attitude of the stage; integrating L instead of ω includes the gyroscopic term.
//! After each step the quaternion is normalised.

use super::integration_context::{BodyIntegrator, IntegrationContext};
use super::{StepResult, damp_all};
use crate::component;
use crate::property::{Allowed, Component, ComponentType};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::rigid::Motion;
use crate::world::SnapshotError;
use glam::{DQuat, DVec3};
use rattleback_numerics::adaptive::{Embedded, Report, StepControl, StepDoubling, SubStepController};
use rattleback_numerics::integrator::{
    BulirschStoer, CashKarp, DormandPrince, EmbeddedPair, ExplicitEuler, ImplicitEuler, RungeKutta2,
    RungeKutta4,
};
use rattleback_numerics::{Integrator, State, StepError, System, Tolerance};

type Y = Vec<f64>;
/// Components of y per body.
const WIDTH: usize = 13;

component! {
    /// Step control of a first-order method.
    pub struct FirstOrderSettings as "first-order settings" {
        /// `fixed`: one step; `adaptive`: steps by error control; `sub-steps`: equal sub-steps whose number
        /// doubles and halves by error control.
        control: String = "fixed", "", Allowed::OneOf(&["fixed", "adaptive", "sub-steps"]);
        /// Local error of a step, absolute part, in SI units of each component of the state; above 0.
        absolute_tolerance: f64 = 1e-8, "", Allowed::Positive;
        /// Local error of a step, relative to each component of the state; at least 0.
        relative_tolerance: f64 = 1e-8, "", Allowed::NonNegative;
    }
}

/// The equations of motion of all dynamic bodies.
struct FirstOrderBodies<'f, 'w>(&'f mut IntegrationContext<'w>);

fn vector(y: &[f64]) -> DVec3 {
    DVec3::from_slice(y)
}

fn quaternion(y: &[f64]) -> DQuat {
    DQuat::from_slice(y)
}

impl FirstOrderBodies<'_, '_> {
    /// Writes y to the bodies.
    fn write(&mut self, y: &Y) {
        let (motion, inertia) = self.0.dynamic_mut();
        for ((body, inertia), y) in motion.iter_mut().zip(inertia).zip(y.chunks_exact(WIDTH)) {
            let q = quaternion(&y[3..]).normalize();
            let l = vector(&y[10..]);
            *body = Motion { x: vector(y), q, v: vector(&y[7..]), omega: inertia.angular_velocity(q, l) };
        }
    }

    /// Reads y from the bodies.
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

impl System<Y> for FirstOrderBodies<'_, '_> {
    fn rate(&mut self, t: f64, y: &Y, rate: &mut Y) {
        self.write(y);
        let (motion, inertia, loads) = self.0.gather_and_move(t);
        let g = loads.uniform_acceleration();
        let mut non_finite = Vec::new();
        let bodies = motion.iter().zip(inertia).zip(y.chunks_exact(WIDTH)).zip(rate.chunks_exact_mut(WIDTH));
        for (index, (((body, inertia), y), rate)) in bodies.enumerate() {
            let wrench = loads.wrench(index);
            let acceleration = g + wrench.force * inertia.inverse_mass;
            // A body with a load that is not finite keeps its state and is quarantined after the step.
            if !(acceleration.is_finite() && wrench.torque.is_finite() && body.is_finite()) {
                rate.fill(0.0);
                non_finite.push(index);
                continue;
            }
            let spin =
                DQuat::from_xyzw(body.omega.x, body.omega.y, body.omega.z, 0.0) * quaternion(&y[3..]) * 0.5;
            rate[..3].copy_from_slice(&body.v.to_array());
            rate[3..7].copy_from_slice(&spin.to_array());
            rate[7..10].copy_from_slice(&acceleration.to_array());
            rate[10..].copy_from_slice(&wrench.torque.to_array());
        }
        self.0.report_non_finite(non_finite);
    }

    fn project(&mut self, y: &mut Y) {
        for y in y.chunks_exact_mut(WIDTH) {
            let q = quaternion(&y[3..]).normalize();
            y[3..7].copy_from_slice(&q.to_array());
        }
    }
}

/// A method with error control: (system, [start, end] of an interval, y, first step) ⇒ y at its end.
type Adaptive =
    dyn FnMut(&mut dyn System<Y>, [f64; 2], &mut Y, Option<f64>) -> Result<Report, StepError> + Send;

/// A first-order method for the system of all dynamic bodies.
struct FirstOrder {
    name: &'static str,
    settings: FirstOrderSettings,
    extra: Option<f64>,
    method: Box<dyn Integrator<Y>>,
    adaptive: Box<Adaptive>,
    controller: SubStepController,
    /// First step of the next interval under error control, s.
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

    fn advance(&mut self, context: &mut IntegrationContext<'_>, h: f64) -> StepResult {
        let t = context.time();
        damp_all(context, 0.5 * h);
        let mut system = FirstOrderBodies(context);
        system.read(&mut self.y);
        let (accepted, rejected) = match self.settings.control.as_str() {
            "adaptive" => {
                // The driver limits the first step to the interval.
                let report = (self.adaptive)(&mut system, [t, t + h], &mut self.y, self.next_step)?;
                self.next_step = Some(report.next_step);
                (report.accepted, report.rejected)
            }
            "sub-steps" => {
                let tolerance =
                    Tolerance::new(self.settings.absolute_tolerance, self.settings.relative_tolerance);
                let (method, whole) = (&mut self.method, &mut self.whole);
                let report = self.controller.advance(t, h, &mut self.y, &mut self.scratch, |t, h, y| {
                    // Error by step doubling: one whole sub-step against two halves, whose result is kept.
                    whole.clone_from(y);
                    method.step(&mut system, t, h, whole)?;
                    method.step(&mut system, t, 0.5 * h, y)?;
                    method.step(&mut system, t + 0.5 * h, 0.5 * h, y)?;
                    whole.add_scaled(-1.0, y);
                    Ok(whole.scaled_error(y, tolerance))
                })?;
                (u64::from(report.substeps), u64::from(report.rejected))
            }
            _ => {
                self.method.step(&mut system, t, h, &mut self.y)?;
                (1, 0)
            }
        };
        system.write(&self.y);
        damp_all(context, 0.5 * h);
        context.count_substeps(accepted, rejected);
        Ok(())
    }

    fn reset(&mut self) {
        self.method.reset();
    }

    fn save_state(&self) -> Vec<u8> {
        let memory = (self.controller.substeps, self.controller.accepted, self.next_step);
        postcard::to_allocvec(&memory).unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let (substeps, accepted, next_step): (u32, u32, Option<f64>) =
            postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("state of the integrator"))?;
        if next_step.is_some_and(|step| !(step.is_finite() && step > 0.0)) || substeps == 0 {
            return Err(SnapshotError::Malformed("state of the integrator"));
        }
        self.controller.substeps = substeps;
        self.controller.accepted = accepted;
        self.next_step = next_step;
        Ok(())
    }
}

/// A method for single steps, and the same method with error control.
type Methods = (Box<dyn Integrator<Y>>, Box<Adaptive>);

/// Registration of one first-order method.
struct MethodEntry {
    name: &'static str,
    doc: &'static str,
    weighted: bool,
    make: fn(&FirstOrderSettings, f64) -> Result<Methods, StepError>,
}

fn control(settings: &FirstOrderSettings) -> StepControl {
    StepControl::new(Tolerance::new(settings.absolute_tolerance, settings.relative_tolerance))
}

/// A method with error control by step doubling.
fn doubled<M: Integrator<Y> + 'static>(
    settings: &FirstOrderSettings,
    make: impl Fn() -> Result<M, StepError>,
) -> Result<Methods, StepError> {
    let mut doubling = StepDoubling::new(make()?, control(settings));
    let adaptive: Box<Adaptive> = Box::new(move |system, [t0, t1], y, first| {
        doubling.control.initial_step = first;
        doubling.integrate(system, t0, t1, y)
    });
    Ok((Box::new(make()?), adaptive))
}

/// An embedded pair, with its own error estimate.
fn embedded<M: EmbeddedPair<Y> + 'static>(settings: &FirstOrderSettings, make: impl Fn() -> M) -> Methods {
    let mut pair = Embedded::new(make(), control(settings));
    let adaptive: Box<Adaptive> = Box::new(move |system, [t0, t1], y, first| {
        pair.control.initial_step = first;
        pair.integrate(system, t0, t1, y)
    });
    (Box::new(make()), adaptive)
}

const METHODS: [MethodEntry; 9] = [
    MethodEntry {
        name: "explicit-euler",
        doc: "Explicit Euler, order 1: gains energy; for comparison",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(ExplicitEuler::new())),
    },
    MethodEntry {
        name: "implicit-euler",
        doc: "Implicit Euler, order 1: stable for stiff springs, loses energy",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(ImplicitEuler::new())),
    },
    MethodEntry {
        name: "midpoint",
        doc: "Midpoint Runge-Kutta, order 2",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta2::midpoint())),
    },
    MethodEntry {
        name: "heun",
        doc: "Heun's Runge-Kutta, order 2",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta2::heun())),
    },
    MethodEntry {
        name: "runge-kutta-2",
        doc: "Two-stage Runge-Kutta of order 2 with a given weight of the second stage",
        weighted: true,
        make: |settings, weight| doubled(settings, || RungeKutta2::with_weight(weight)),
    },
    MethodEntry {
        name: "runge-kutta-4",
        doc: "Classical Runge-Kutta, order 4",
        weighted: false,
        make: |settings, _| doubled(settings, || Ok(RungeKutta4::new())),
    },
    MethodEntry {
        name: "cash-karp",
        doc: "Cash and Karp's embedded pair, order 5(4)",
        weighted: false,
        make: |settings, _| Ok(embedded(settings, CashKarp::new)),
    },
    MethodEntry {
        name: "dormand-prince",
        doc: "Dormand and Prince's embedded pair, order 5(4)",
        weighted: false,
        make: |settings, _| Ok(embedded(settings, DormandPrince::new)),
    },
    MethodEntry {
        name: "bulirsch-stoer",
        doc: "Bulirsch-Stoer extrapolation of the midpoint rule: high accuracy for smooth forces",
        weighted: false,
        make: |settings, _| {
            let tolerance = Tolerance::new(settings.absolute_tolerance, settings.relative_tolerance);
            doubled(settings, || BulirschStoer::new(tolerance))
        },
    },
];

pub(super) fn register(integrators: &mut Catalogue<Box<dyn BodyIntegrator>>) -> Result<(), RegistryError> {
    for entry in METHODS {
        let mut specs = FirstOrderSettings::type_specs().to_vec();
        if entry.weighted {
            specs.push(crate::property::PropertySpec {
                name: "weight".into(),
                value_type: crate::property::ValueType::Real,
                unit: String::new(),
                default: Some(crate::property::Value::Real(1.0)),
                required: false,
                allowed: Allowed::Within(1e-3, 1.0),
                doc: "Weight of the second stage, 0.001 to 1: 1 is the midpoint rule, 1/2 Heun's".into(),
            });
        }
        integrators.register(Entry::new(entry.name, entry.doc, specs, move |given| {
            let mut settings = FirstOrderSettings::default();
            let mut weight = None;
            for (name, value) in given {
                match value {
                    crate::property::Value::Real(x) if name == "weight" => weight = Some(*x),
                    _ => settings.set(name, value.clone()).map_err(|error| error.to_string())?,
                }
            }
            let (method, adaptive) =
                (entry.make)(&settings, weight.unwrap_or(1.0)).map_err(|error| error.to_string())?;
            Ok(Box::new(FirstOrder {
                name: entry.name,
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
