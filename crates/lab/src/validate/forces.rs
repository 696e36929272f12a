//! Forces against their closed forms.
//!
//! - Drag: m v̇ = −m g − k v gives v = −(m g/k)(1 − e^(−kt/m)), y = −(m g/k)(t − (m/k)(1 − e^(−kt/m))).
//! - Two masses m at distance d circle each other with ω² = 2 G m/d³.
//! - Spring: with the reduced mass μ, ω₀² = k/μ, ω = ω₀√(1 − ζ²), the stretch from rest at x₀ is
//!   x₀ e^(−ζω₀t)(cos ωt + ζω₀/ω sin ωt); its first extremum is at π/ω and is −x₀ e^(−ζω₀π/ω).
//! - A ball of radius 1 and relative density s floats at the depth d with d²(3 − d) = 4 s.

use super::zero_crossing::{Sample, Zeros};
use super::{Allowed, Check, Outcome};
use glam::DVec3;
use rattleback_dynamics::force::{
    Buoyancy, Coulomb, Drag, GRAVITATIONAL_CONSTANT, Gravitation, LennardJones, Spring,
};
use rattleback_dynamics::{Body, BodyId, FreeMotion, Registry, Simulator, World};
use rattleback_geometry::Shape;
use std::error::Error;
use std::f64::consts::{PI, TAU};

type Failure = Box<dyn Error + Send + Sync>;

fn ball(world: &mut World, mass: f64, at: DVec3, velocity: DVec3) -> Result<BodyId, Failure> {
    let body = Body::dynamic().position(at).velocity(velocity).with_shape(Shape::sphere(0.1)?).mass(mass);
    Ok(world.add_body(body)?)
}

/// T-FRC-02: 10 g falling for 1 s against 0.02 N·s/m. Runge–Kutta 4 at 1 ms as published, the default at 1/240 s.
pub(super) fn drag(registry: &Registry) -> Outcome {
    let (m, k, g) = (0.01, 0.02, 9.81);
    let decay = 1.0 - f64::exp(-k / m);
    let (y, v) = (-(m * g / k) * (1.0 - m / k * decay), -(m * g / k) * decay);
    let mut checks = Vec::new();
    for (name, steps, allowed) in [("runge-kutta-4", 1000, 1e-8), ("splitting", 240, 1e-4)] {
        let mut world = World::default();
        let body = ball(&mut world, m, DVec3::ZERO, DVec3::ZERO)?;
        world.add_force(Drag { linear: k.into(), ..Drag::default() })?;
        let mut simulator = FreeMotion::by_name(name, registry)?;
        for _ in 0..steps {
            simulator.step(&mut world, 1.0 / f64::from(steps))?;
        }
        let body = world.body(body)?;
        let label = format!("free-motion/{name}");
        let allowed = Allowed::Absolute(allowed);
        checks.push(Check::new("force/drag/height", label.clone(), y, body.position().z, allowed));
        checks.push(Check::new("force/drag/velocity", label, v, body.velocity().z, allowed));
    }
    Ok(checks)
}

/// T-FRC-03: two masses of 10¹² kg, 10 m apart; the time between two passages of the first through the x axis.
pub(super) fn binary(registry: &Registry) -> Outcome {
    let (m, d) = (1e12, 10.0);
    let omega = f64::sqrt(2.0 * GRAVITATIONAL_CONSTANT * m / f64::powi(d, 3));
    let mut checks = Vec::new();
    for name in ["runge-kutta-4", "splitting"] {
        let mut world = World::weightless();
        let (arm, speed) = (0.5 * d * DVec3::X, 0.5 * d * omega * DVec3::Y);
        let first = ball(&mut world, m, arm, speed)?;
        ball(&mut world, m, -arm, -speed)?;
        world.add_force(Gravitation::default())?;
        let mut simulator = FreeMotion::by_name(name, registry)?;
        let mut zeros = Zeros::default();
        for _ in 0..(1.6 * 240.0 * TAU / omega) as u32 {
            simulator.step(&mut world, 1.0 / 240.0)?;
            let body = world.body(first)?;
            zeros.push(Sample { t: world.time(), value: body.position().y, slope: body.velocity().y });
        }
        // Started at a passage: the half turn and the full one are seen.
        let half = zeros.times.first().copied().unwrap_or(f64::NAN);
        let full = zeros.times.get(1).copied().unwrap_or(f64::NAN);
        let label = format!("free-motion/{name}");
        let allowed = Allowed::Relative(1e-6);
        checks.push(Check::new("force/binary/period", label.clone(), TAU / omega, full, allowed));
        checks.push(Check::new("force/binary/half-period", label, PI / omega, half, allowed));
    }
    Ok(checks)
}

/// Masses of 1 and 3 kg on a spring of 75 N/m stretched by 0.1 m ⇒ (world, the two bodies).
fn two_on_a_spring(damping_ratio: f64) -> Result<(World, [BodyId; 2]), Failure> {
    let mut world = World::weightless();
    let a = ball(&mut world, 1.0, DVec3::ZERO, DVec3::ZERO)?;
    let b = ball(&mut world, 3.0, 1.1 * DVec3::X, DVec3::ZERO)?;
    world.add_force(Spring {
        body_a: Some(a),
        body_b: Some(b),
        rest_length: 1.0.into(),
        tuning: "damping-ratio".into(),
        stiffness: 75.0.into(),
        damping_ratio: damping_ratio.into(),
        ..Spring::default()
    })?;
    Ok((world, [a, b]))
}

/// Stretch of the spring and its rate.
fn stretch(world: &World, [a, b]: [BodyId; 2]) -> Result<(f64, f64), Failure> {
    let (a, b) = (world.body(a)?, world.body(b)?);
    Ok((b.position().x - a.position().x - 1.0, b.velocity().x - a.velocity().x))
}

/// T-FRC-05: ζ = 0.2, by Runge–Kutta 4 at 1 ms.
pub(super) fn spring(registry: &Registry) -> Outcome {
    const NAME: &str = "runge-kutta-4";
    let (mu, k, zeta, x0) = (0.75, 75.0, 0.2, 0.1);
    let omega0 = f64::sqrt(k / mu);
    let omega = omega0 * f64::sqrt(1.0 - zeta * zeta);
    let at = |t: f64| {
        x0 * (-zeta * omega0 * t).exp() * ((omega * t).cos() + zeta * omega0 / omega * (omega * t).sin())
    };
    let (mut world, ends) = two_on_a_spring(zeta)?;
    let mut simulator = FreeMotion::by_name(NAME, registry)?;
    let mut turns = Zeros::default();
    for _ in 0..500 {
        simulator.step(&mut world, 1e-3)?;
        let (x, rate) = stretch(&world, ends)?;
        let slope = -omega0 * omega0 * x - 2.0 * zeta * omega0 * rate;
        turns.push(Sample { t: world.time(), value: rate, slope });
    }
    let label = format!("free-motion/{NAME}");
    let check = |name: &str, expected, got| {
        Check::new(format!("force/spring/{name}"), label.clone(), expected, got, Allowed::Absolute(1e-6))
    };
    let turn = turns.times.first().copied().unwrap_or(f64::NAN);
    let (x, _) = stretch(&world, ends)?;
    let farthest = stretch_after(turn, zeta, registry)?;
    Ok(vec![
        check("stretch-at-0.5-s", at(0.5), x),
        check("first-turn", PI / omega, turn),
        check("stretch-there", at(PI / omega), farthest),
    ])
}

/// Stretch after t seconds: whole milliseconds and a last step for the rest.
fn stretch_after(t: f64, zeta: f64, registry: &Registry) -> Result<f64, Failure> {
    let (mut world, ends) = two_on_a_spring(zeta)?;
    let mut simulator = FreeMotion::by_name("runge-kutta-4", registry)?;
    while world.time() + 1e-3 < t {
        simulator.step(&mut world, 1e-3)?;
    }
    let rest = t - world.time();
    simulator.step(&mut world, rest)?;
    Ok(stretch(&world, ends)?.0)
}

/// T-FRC-05: ζ = 1 never changes sign: the smallest stretch in 3 s, below which 0 would be crossed.
pub(super) fn critical_spring(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for name in ["runge-kutta-4", "splitting"] {
        let (mut world, ends) = two_on_a_spring(1.0)?;
        let mut simulator = FreeMotion::by_name(name, registry)?;
        let mut crossings = 0.0;
        for _ in 0..720 {
            simulator.step(&mut world, 1.0 / 240.0)?;
            // Below rounding of the positions the sign means nothing.
            crossings += f64::from(u8::from(stretch(&world, ends)?.0 < -1e-12));
        }
        let label = format!("free-motion/{name}");
        checks.push(Check::new("force/spring-critical", label, 0.0, crossings, Allowed::Absolute(0.0)));
    }
    Ok(checks)
}

/// depths of balls of radius 1 m and relative densities 0.25, 0.5, 0.9, 60 s after they were let go.
pub(super) fn floating(_: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for (density, depth) in [(250.0, 0.652704), (500.0, 1.0), (900.0, 1.608400)] {
        let mut world = World::default();
        let body = Body::dynamic().at(0.0, 0.0, 0.5).with_shape(Shape::sphere(1.0)?).density(density);
        let body = world.add_body(body)?;
        world.add_force(Buoyancy { drag: 2000.0, ..Buoyancy::default() })?;
        let mut simulator = FreeMotion::default();
        for _ in 0..60 * 120 {
            simulator.step(&mut world, 1.0 / 120.0)?;
        }
        let got = 1.0 - world.body(body)?.position().z;
        let case = format!("force/buoyancy/{density} kg/m³");
        checks.push(Check::new(case, "free-motion/splitting", depth, got, Allowed::Absolute(1e-6)));
    }
    Ok(checks)
}

/// T-FRC-01: 27 charged balls under gravitation, Coulomb, Lennard-Jones and springs: momentum stays zero, relative to
/// Σ m |v|.
pub(super) fn pair_momentum(_: &Registry) -> Outcome {
    let mut world = World::weightless();
    let mut chain = Vec::new();
    for i in 0..27_u32 {
        let place = DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
        // A fixed irregular pattern, so that nothing cancels by symmetry.
        let offset =
            DVec3::new((1.3 * f64::from(i)).sin(), (2.1 * f64::from(i)).sin(), (0.7 * f64::from(i)).cos());
        let body = Body::dynamic().position(1.5 * place + 0.1 * offset).with_shape(Shape::sphere(0.1)?);
        chain.push(world.add_body(body.mass(1.0 + f64::from(i % 4)).charge(1e-6 * offset.x))?);
    }
    world.add_force(Gravitation { constant: 0.1, softening: 0.1, ..Gravitation::default() })?;
    world.add_force(Coulomb { softening: 0.1, ..Coulomb::default() })?;
    world.add_force(LennardJones { depth: 0.5, cutoff: 3.0, ..LennardJones::default() })?;
    for pair in chain.windows(2) {
        let (body_a, body_b) = (Some(pair[0]), Some(pair[1]));
        let (rest_length, damping) = (1.4.into(), 0.1.into());
        world.add_force(Spring {
            body_a,
            body_b,
            rest_length,
            damping,
            stiffness: 5.0.into(),
            ..Spring::default()
        })?;
    }
    let mut simulator = FreeMotion::default();
    let mut moved = 0.0_f64;
    for _ in 0..1000 {
        simulator.step(&mut world, 1e-3)?;
        moved = moved.max(world.iter_bodies().map(|body| body.momentum().length()).sum());
    }
    let left = world.readout().momentum.length() / moved;
    Ok(vec![Check::new("force/momentum", "free-motion/splitting", 0.0, left, Allowed::Absolute(1e-10))])
}
