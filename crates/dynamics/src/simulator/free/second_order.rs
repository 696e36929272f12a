//! Rigid bodies as a second-order system ẋ = v, v̇ = a(t, x, v), for any method of
//! [`rattleback_numerics::second_order`].
//!
//! Positions are poses (x, q); attitudes drift by the exponential map, q ← exp(½ h ω) q. The angular
//! acceleration is α = I⁻¹(τ − ω × Iω), and the treatment of the gyroscopic term −ω × Iω is a setting:
//! - off: α = I⁻¹τ, correct only for spherical inertia, for comparison;
//! - explicit: as written, gains energy at large steps;
//! - implicit: one Newton step of I(ω' − ω) + h ω' × Iω' = 0 in the body frame, from ω: never gains energy,
//!   ω' = ω − (I + h([ω]I − [Iω]))⁻¹ h ω × Iω;
//! - momentum: L is integrated instead of ω, L̇ = τ, and the attitude drifts with ω = I⁻¹L.

use super::integration_context::{BodyIntegrator, IntegrationContext};
use super::{StepResult, damp_all};
use crate::component;
use crate::property::{Allowed, Component, ComponentType, Value};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::rigid::Inertia;
use crate::world::SnapshotError;
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;
use rattleback_numerics::second_order::{self, VerletHistory};
use rattleback_numerics::{SecondOrder, SecondOrderIntegrator};

type Q = Vec<Pose>;
type V = Vec<f64>;
/// Velocity components per body.
const WIDTH: usize = 6;

component! {
    /// Rotation in a second-order method.
    pub struct SecondOrderSettings as "second-order settings" {
        /// Treatment of the gyroscopic term −ω × Iω: `off`, `explicit`, `implicit` (never gains energy) or
        /// `momentum` (integrates L).
        gyroscopic: String = "implicit", "", Allowed::OneOf(&["off", "explicit", "implicit", "momentum"]);
    }
}

/// Treatment of the gyroscopic term.
#[derive(Clone, Copy, PartialEq)]
enum Gyroscopic {
    Off,
    Explicit,
    Implicit,
    Momentum,
}

impl SecondOrderSettings {
    fn mode(&self) -> Gyroscopic {
        match self.gyroscopic.as_str() {
            "off" => Gyroscopic::Off,
            "explicit" => Gyroscopic::Explicit,
            "momentum" => Gyroscopic::Momentum,
            _ => Gyroscopic::Implicit,
        }
    }
}

/// ω ⇒ ω' after the gyroscopic term alone has acted for h, by one Newton step in the body frame.
fn implicit_gyroscopic(inertia: &Inertia, q: DQuat, omega: DVec3, h: f64) -> DVec3 {
    let w = q.conjugate() * omega;
    let iw = inertia.moments * w;
    let jacobian = DMat3::from_diagonal(inertia.moments)
        + h * (skew(w) * DMat3::from_diagonal(inertia.moments) - skew(iw));
    let next = w - jacobian.inverse() * (h * w.cross(iw));
    q * next
}

/// [a] with [a] b = a × b.
fn skew(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

/// The equations of motion of all dynamic bodies; the second half of each velocity is ω, or L for `Momentum`.
struct SecondOrderBodies<'f, 'w> {
    context: &'f mut IntegrationContext<'w>,
    mode: Gyroscopic,
    h: f64,
}

impl SecondOrderBodies<'_, '_> {
    fn write(&mut self, x: &Q, v: &V) {
        let mode = self.mode;
        let (motion, inertia) = self.context.dynamic_mut();
        for (((body, inertia), pose), v) in motion.iter_mut().zip(inertia).zip(x).zip(v.chunks_exact(WIDTH)) {
            body.x = pose.translation;
            body.q = pose.rotation;
            body.v = DVec3::from_slice(v);
            let spin = DVec3::from_slice(&v[3..]);
            body.omega =
                if mode == Gyroscopic::Momentum { inertia.angular_velocity(body.q, spin) } else { spin };
        }
    }

    fn read(&mut self, x: &mut Q, v: &mut V) {
        x.clear();
        v.clear();
        let mode = self.mode;
        let (motion, inertia) = self.context.dynamic_mut();
        for (body, inertia) in motion.iter().zip(inertia) {
            x.push(body.pose());
            v.extend(body.v.to_array());
            v.extend(if mode == Gyroscopic::Momentum {
                inertia.angular_momentum(body.q, body.omega).to_array()
            } else {
                body.omega.to_array()
            });
        }
    }
}

impl SecondOrder<Q, V> for SecondOrderBodies<'_, '_> {
    fn acceleration(&mut self, t: f64, x: &Q, v: &V, a: &mut V) {
        self.write(x, v);
        let (mode, h) = (self.mode, self.h);
        let (motion, inertia, loads) = self.context.gather_and_move(t);
        let g = loads.uniform_acceleration();
        let mut non_finite = Vec::new();
        for (index, ((body, inertia), a)) in
            motion.iter().zip(inertia).zip(a.chunks_exact_mut(WIDTH)).enumerate()
        {
            let wrench = loads.wrench(index);
            let linear = g + wrench.force * inertia.inverse_mass;
            let angular = match mode {
                Gyroscopic::Momentum => wrench.torque,
                Gyroscopic::Off => inertia.angular_velocity(body.q, wrench.torque),
                Gyroscopic::Explicit => {
                    let l = inertia.angular_momentum(body.q, body.omega);
                    inertia.angular_velocity(body.q, wrench.torque - body.omega.cross(l))
                }
                Gyroscopic::Implicit => {
                    inertia.angular_velocity(body.q, wrench.torque)
                        + (implicit_gyroscopic(inertia, body.q, body.omega, h) - body.omega) / h
                }
            };
            // A body with a load that is not finite is not accelerated, and is quarantined after the step.
            let finite = linear.is_finite() && angular.is_finite();
            if !finite {
                non_finite.push(index);
            }
            a[..3].copy_from_slice(&if finite { linear } else { DVec3::ZERO }.to_array());
            a[3..].copy_from_slice(&if finite { angular } else { DVec3::ZERO }.to_array());
        }
        self.context.report_non_finite(non_finite);
    }

    fn drift(&mut self, x: &mut Q, h: f64, v: &V) {
        let inertia = self.context.bodies().inertia(crate::world::Status::Dynamic);
        for ((pose, inertia), v) in x.iter_mut().zip(inertia).zip(v.chunks_exact(WIDTH)) {
            let spin = DVec3::from_slice(&v[3..]);
            let omega = if self.mode == Gyroscopic::Momentum {
                inertia.angular_velocity(pose.rotation, spin)
            } else {
                spin
            };
            pose.translation += h * DVec3::from_slice(v);
            pose.rotation = (DQuat::from_scaled_axis(h * omega) * pose.rotation).normalize();
        }
    }
}

/// A second-order method for the system of all dynamic bodies.
struct SecondOrderMethod {
    name: &'static str,
    settings: SecondOrderSettings,
    method: Box<dyn SecondOrderIntegrator<Q, V>>,
    x: Q,
    v: V,
}

impl std::fmt::Debug for SecondOrderMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecondOrderMethod")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl BodyIntegrator for SecondOrderMethod {
    fn description(&self) -> Description {
        Description { type_name: self.name.into(), properties: self.settings.properties() }
    }

    fn advance(&mut self, context: &mut IntegrationContext<'_>, h: f64) -> StepResult {
        let t = context.time();
        damp_all(context, 0.5 * h);
        let mut system = SecondOrderBodies { context, mode: self.settings.mode(), h };
        system.read(&mut self.x, &mut self.v);
        self.method.step(&mut system, t, h, &mut self.x, &mut self.v)?;
        system.write(&self.x, &self.v);
        damp_all(context, 0.5 * h);
        context.count_substeps(1, 0);
        Ok(())
    }

    fn reset(&mut self) {
        self.method.reset();
    }

    fn save_state(&self) -> Vec<u8> {
        let memory =
            self.method.history().map(|history| (&history.mean_velocity, &history.velocity, history.step));
        postcard::to_allocvec(&memory).unwrap_or_default()
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: Option<(V, V, f64)> =
            postcard::from_bytes(bytes).map_err(|_| SnapshotError::Malformed("state of the integrator"))?;
        self.method.restore(state.map(|(mean_velocity, velocity, step)| VerletHistory {
            mean_velocity,
            velocity,
            step,
        }));
        Ok(())
    }
}

/// Name, documentation, and default treatment of the gyroscopic term: the implicit one is of first order, so
/// methods of higher order have the explicit one.
const METHODS: [(&str, &str, &str); 5] = [
    (
        "symplectic-euler",
        "Semi-implicit Euler, order 1: one evaluation per step, bounded energy error",
        "implicit",
    ),
    (
        "taylor-verlet",
        "Taylor step: position of order 2, velocity of order 1 (sometimes called velocity Verlet)",
        "implicit",
    ),
    ("velocity-verlet", "Velocity Verlet, order 2: symplectic for forces of position", "explicit"),
    ("basic-verlet", "Störmer's position Verlet, order 2: uses the previous step", "explicit"),
    ("simpson", "Runge-Kutta of order 4 for forces that depend on time only", "explicit"),
];

pub(super) fn register(integrators: &mut Catalogue<Box<dyn BodyIntegrator>>) -> Result<(), RegistryError> {
    for (name, doc, gyroscopic) in METHODS {
        let mut specs = SecondOrderSettings::type_specs().to_vec();
        for spec in &mut specs {
            spec.default = Some(Value::Text(gyroscopic.into()));
        }
        integrators.register(Entry::new(name, doc, specs, move |given| {
            let settings = SecondOrderSettings::with(given).map_err(|error| error.to_string())?;
            let method = second_order::by_name(name).ok_or_else(|| format!("there is no method {name}"))?;
            Ok(Box::new(SecondOrderMethod { name, settings, method, x: Q::new(), v: V::new() })
                as Box<dyn BodyIntegrator>)
        }))?;
    }
    Ok(())
}
