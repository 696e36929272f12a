//! Every registered integrator of rigid bodies on motions with a closed form.
//!
//! Order: a ball of mass m on a spring of stiffness k without rest length, x(t) = cos ωt with ω² = k/m; the error at
//! t = 1 with n and 2n steps. Methods for forces of time only are driven by F = −m sin t instead.
//!
//! Fall: after n steps of h, explicit Euler has fallen g h² n(n − 1)/2, symplectic and implicit Euler g h² n(n + 1)/2,
//! all others ½ g t².

use super::{Allowed, Check, Outcome};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::force::{PointForce, Spring};
use rattleback_dynamics::{Body, BodyId, FreeMotion, Registry, Signal, Simulator, World};
use rattleback_geometry::{MassProperties, Shape};
use rattleback_numerics::{integrator, second_order};
use std::error::Error;

type Failure = Box<dyn Error + Send + Sync>;

const OMEGA: f64 = 2.0;

fn ball(world: &mut World, x: f64, vx: f64) -> Result<BodyId, Failure> {
    let shape = Shape::sphere(0.1)?;
    Ok(world.add_body(Body::dynamic().at(x, 0.0, 0.0).velocity(vx * DVec3::X).with_shape(shape).mass(1.0))?)
}

/// Distance in (x, v/ω) from the exact motion at t = 1, in n steps.
fn error(name: &str, registry: &Registry, n: u32) -> Result<f64, Failure> {
    let mut world = World::weightless();
    let mut simulator = FreeMotion::by_name(name, registry)?;
    let driven = name == "simpson";
    let body = if driven { ball(&mut world, 0.0, 1.0)? } else { ball(&mut world, 1.0, 0.0)? };
    if driven {
        let force = Signal::Harmonic {
            mean: DVec3::ZERO,
            amplitude: -DVec3::X,
            frequency: 1.0 / std::f64::consts::TAU,
            phase: 0.0,
        };
        world.add_force(PointForce { force, ..PointForce::default() })?;
    } else {
        let stiffness = (OMEGA * OMEGA).into();
        world.add_force(Spring { body_b: Some(body), stiffness, ..Spring::default() })?;
    }
    for _ in 0..n {
        simulator.step(&mut world, 1.0 / f64::from(n))?;
    }
    let (x, v) = (world.body(body)?.position().x, world.body(body)?.velocity().x);
    if driven {
        return Ok((v - 1.0_f64.cos()).abs());
    }
    Ok((x - OMEGA.cos()).hypot(v / OMEGA + OMEGA.sin()))
}

/// The order a method claims: by its namesake among the numerical methods.
fn claimed_order(name: &str) -> Option<u32> {
    match name {
        "splitting" | "runge-kutta-2" => Some(2),
        _ => integrator::by_name::<f64>(name)
            .map(|method| method.order())
            .or_else(|| second_order::by_name::<f64, f64>(name).map(|method| method.order())),
    }
}

/// T-INT-03 for rigid bodies.
pub(super) fn orders(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for entry in registry.integrators.iter() {
        let name = entry.name.as_str();
        let simulator = format!("free-motion/{name}");
        // It picks its own order to meet its tolerance: the error itself is what can be checked.
        if name == "bulirsch-stoer" {
            let got = error(name, registry, 10)?;
            checks.push(Check::new("body/order/error", simulator, 0.0, got, Allowed::Absolute(1e-7)));
            continue;
        }
        // An integrator of a plug-in makes no claim we could check.
        let Some(order) = claimed_order(name) else { continue };
        // Coarse enough for rounding to be far below the error of the better methods.
        let n = if order > 2 { 20 } else { 80 };
        let measured = (error(name, registry, n)? / error(name, registry, 2 * n)?).log2();
        checks.push(Check::new("body/order", simulator, f64::from(order), measured, Allowed::Absolute(0.05)));
    }
    Ok(checks)
}

/// Attitude and ω after 1 s of a tumbling body under a torque that keeps its direction, in n steps.
fn tumbled(name: &str, registry: &Registry, n: u32) -> Result<(DQuat, DVec3), Failure> {
    let moments = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0));
    let mass = MassProperties::new(1.0, DVec3::ZERO, moments)?;
    let mut world = World::weightless();
    let omega = DVec3::new(0.3, 2.0, -0.5);
    let body = world.add_body(Body::dynamic().mass_properties(mass).angular_velocity(omega))?;
    // A push off centre, fixed in the world: its torque depends on the attitude.
    let (force, point) = (DVec3::new(1.0, -0.5, 2.0).into(), DVec3::new(0.5, 0.3, -0.4));
    world.add_force(PointForce { force, point, ..PointForce::default() })?;
    let mut simulator = FreeMotion::by_name(name, registry)?;
    for _ in 0..n {
        simulator.step(&mut world, 1.0 / f64::from(n))?;
    }
    let body = world.body(body)?;
    Ok((body.orientation(), body.angular_velocity()))
}

/// Orders in rotation, against 1000 steps of Dormand and Prince; more would only add rounding, 1e-15 a step.
///
/// For comparison only: methods with a gyroscopic term of their own, which do to attitudes something else than to
/// positions; and Dormand and Prince's, whose error falls with the sixth power here until rounding takes over.
pub(super) fn tumbling_orders(registry: &Registry) -> Outcome {
    let (q, omega) = tumbled("dormand-prince", registry, 1000)?;
    let error = |name: &str, n: u32| -> Result<f64, Failure> {
        let (got, rate) = tumbled(name, registry, n)?;
        // q and −q are the same attitude.
        let apart = (got - q).length().min((got + q).length());
        Ok(apart.hypot((rate - omega).length()))
    };
    let mut checks = Vec::new();
    for entry in registry.integrators.iter() {
        let name = entry.name.as_str();
        let Some(order) = claimed_order(name).filter(|_| name != "bulirsch-stoer") else { continue };
        let n = match order {
            0..=2 => 160,
            3..=4 => 40,
            _ => 10,
        };
        let measured = (error(name, n)? / error(name, 2 * n)?).log2();
        let own_gyroscope = entry.properties.iter().any(|spec| spec.name == "gyroscopic");
        let compared = own_gyroscope || name == "dormand-prince";
        let allowed = if compared { Allowed::Anything } else { Allowed::Absolute(0.1) };
        let simulator = format!("free-motion/{name}");
        checks.push(Check::new("body/tumbling-order", simulator, f64::from(order), measured, allowed));
    }
    Ok(checks)
}

/// T-INT-05: height after 1 s of fall at h = 0.01 s.
pub(super) fn free_fall(registry: &Registry) -> Outcome {
    let (g, h, n) = (9.81, 0.01, 100.0);
    let mut checks = Vec::new();
    for entry in registry.integrators.iter() {
        let name = entry.name.as_str();
        let expected = match name {
            "explicit-euler" => -0.5 * g * h * h * n * (n - 1.0),
            "implicit-euler" | "symplectic-euler" => -0.5 * g * h * h * n * (n + 1.0),
            _ => -0.5 * g,
        };
        let mut world = World::default();
        let body = ball(&mut world, 0.0, 0.0)?;
        let mut simulator = FreeMotion::by_name(name, registry)?;
        for _ in 0..100 {
            simulator.step(&mut world, h)?;
        }
        let fallen = world.body(body)?.position().z;
        let simulator = format!("free-motion/{name}");
        checks.push(Check::new("body/free-fall", simulator, expected, fallen, Allowed::Absolute(1e-10)));
    }
    Ok(checks)
}
