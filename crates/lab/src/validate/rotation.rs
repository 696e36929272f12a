//! Rotation without torque: İω = −ω × Iω in the body frame, L constant in the world.
//!
//! Euler's equations, ω̇₁ = (I₂ − I₃) ω₂ω₃/I₁ and cyclic, are solved by Jacobi's elliptic functions. With T the kinetic
//! energy and H = |L|, for I₁ < I₂ < I₃ and 2T I₂ < H², the period of ω is 4K(k)/ω_p with
//! ω_p² = (I₃ − I₂)(H² − 2T I₁)/(I₁I₂I₃) and k² = (I₂ − I₁)(2T I₃ − H²)/((I₃ − I₂)(H² − 2T I₁)).
//! A body with I₁ = I₂ precesses in its own frame at (I₃ − I₁)/I₁ · ω₃.

use super::zero_crossing::{Sample, Zeros};
use super::{Allowed, Check, Outcome};
use glam::{DMat3, DVec3};
use rattleback_dynamics::{Body, BodyId, Error, FreeMotion, Registry, Simulator, World};
use rattleback_geometry::{MassError, MassProperties};

const DT: f64 = 1.0 / 240.0;
/// The integrators that other engines use, for comparison with ours.
const INTEGRATORS: [&str; 3] = ["splitting", "symplectic-euler", "runge-kutta-4"];

/// (principal moments, ω) ⇒ a weightless world with that body of 1 kg.
fn spinning(moments: DVec3, omega: DVec3) -> Result<(World, BodyId), Error> {
    let mass =
        MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(moments)).map_err(|e: MassError| e)?;
    let mut world = World::weightless();
    let body = world.add_body(Body::dynamic().named("body").mass_properties(mass).angular_velocity(omega))?;
    Ok((world, body))
}

/// ω in the frame of the body.
fn body_omega(world: &World, body: BodyId) -> Result<DVec3, Error> {
    let body = world.body(body)?;
    Ok(body.orientation().conjugate() * body.angular_velocity())
}

fn label(integrator: &str) -> String {
    format!("free-motion/{integrator}")
}

/// The torque-free body of the peer comparison: I = diag(0.010, 0.015, 0.020), ω₀ = (0.6, 6, 0.3), 100 s at 1/240 s.
/// Largest relative change of the energy and of the angular momentum vector.
pub(super) fn conservation(registry: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for (rank, integrator) in INTEGRATORS.into_iter().enumerate() {
        let (mut world, _) = spinning(DVec3::new(0.010, 0.015, 0.020), DVec3::new(0.6, 6.0, 0.3))?;
        let mut simulator = FreeMotion::by_name(integrator, registry)?;
        let start = world.readout();
        let (mut energy, mut momentum) = (0.0_f64, 0.0_f64);
        for _ in 0..24_000 {
            simulator.step(&mut world, DT)?;
            let now = world.readout();
            energy = energy.max((now.energy() / start.energy() - 1.0).abs());
            let change = (now.angular_momentum - start.angular_momentum).length();
            momentum = momentum.max(change / start.angular_momentum.length());
        }
        let allowed = if rank == 0 { Allowed::Absolute(1e-9) } else { Allowed::Anything };
        let mut push = |name: &str, got| {
            let case = format!("rotation/conservation/{name}");
            checks.push(Check::new(case, label(integrator), 0.0, got, allowed));
        };
        push("energy", energy);
        push("angular-momentum", momentum);
    }
    Ok(checks)
}

/// RB-1: I = (1, 2, 3), ω₀ = (0.1, 1, 0.1): the first zero of ω₂ and the time between its zeros of one direction.
pub(super) fn flip_period(registry: &Registry) -> Outcome {
    const PERIOD: f64 = 22.99626294412;
    const FIRST_ZERO: f64 = 6.88570308;
    let moments = DVec3::new(1.0, 2.0, 3.0);
    let mut checks = Vec::new();
    for (rank, integrator) in INTEGRATORS.into_iter().enumerate() {
        let (mut world, body) = spinning(moments, DVec3::new(0.1, 1.0, 0.1))?;
        let mut simulator = FreeMotion::by_name(integrator, registry)?;
        let mut zeros = Zeros::default();
        // Long enough for three zeros, 6.89 s + one period.
        for _ in 0..8000 {
            let omega = body_omega(&world, body)?;
            let slope = (moments.z - moments.x) * omega.z * omega.x / moments.y;
            zeros.push(Sample { t: world.time(), value: omega.y, slope });
            simulator.step(&mut world, DT)?;
        }
        let zero = |i: usize| zeros.times.get(i).copied().unwrap_or(f64::NAN);
        let allowed = |limit| if rank == 0 { Allowed::Absolute(limit) } else { Allowed::Anything };
        let (first, period) = (zero(0), zero(2) - zero(0));
        let case = |name: &str| format!("rotation/flip-period/{name}");
        checks.push(Check::new(case("first-zero"), label(integrator), FIRST_ZERO, first, allowed(1e-6)));
        checks.push(Check::new(case("period"), label(integrator), PERIOD, period, allowed(1e-6)));
    }
    Ok(checks)
}

/// RB-3: angle by which (ω₁, ω₂) of a top with I = (1, 1, 1.6) turns in the body frame, per second.
pub(super) fn symmetric_top(registry: &Registry) -> Outcome {
    let (moments, omega) = (DVec3::new(1.0, 1.0, 1.6), DVec3::new(0.5, 0.0, 5.0));
    let expected = (moments.z - moments.x) / moments.x * omega.z;
    let mut checks = Vec::new();
    for (rank, integrator) in INTEGRATORS.into_iter().enumerate() {
        let (mut world, body) = spinning(moments, omega)?;
        let mut simulator = FreeMotion::by_name(integrator, registry)?;
        let (mut angle, mut last) = (0.0, body_omega(&world, body)?.truncate());
        for _ in 0..2400 {
            simulator.step(&mut world, DT)?;
            let now = body_omega(&world, body)?.truncate();
            angle += last.angle_to(now);
            last = now;
        }
        let allowed = if rank == 0 { Allowed::Absolute(1e-6) } else { Allowed::Anything };
        let rate = angle / world.time();
        checks.push(Check::new("rotation/symmetric-top", label(integrator), expected, rate, allowed));
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    /// K(m) = π / (2 agm(1, √(1 − m))).
    fn complete_elliptic(m: f64) -> f64 {
        let (mut a, mut b) = (1.0_f64, (1.0 - m).sqrt());
        for _ in 0..40 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        std::f64::consts::FRAC_PI_2 / a
    }

    /// RB-1: the published period is that of the elliptic functions.
    #[test]
    fn flip_period_is_four_k_over_omega() {
        let (i1, i2, i3) = (1.0, 2.0, 3.0);
        let (two_t, h2) = (i1 * 0.01 + i2 + i3 * 0.01, i1 * i1 * 0.01 + i2 * i2 + i3 * i3 * 0.01);
        assert!((two_t - 2.04_f64).abs() < 1e-12 && (h2 - 4.1_f64).abs() < 1e-12);
        let omega_p = f64::sqrt((i3 - i2) * (h2 - two_t * i1) / (i1 * i2 * i3));
        let m = (i2 - i1) * (two_t * i3 - h2) / ((i3 - i2) * (h2 - two_t * i1));
        assert!((m - 0.98058252427).abs() < 1e-11);
        assert!((4.0 * complete_elliptic(m) / omega_p - 22.99626294412).abs() < 1e-10);
    }
}
