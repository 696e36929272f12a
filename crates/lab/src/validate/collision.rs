//! Single collisions: reference outcomes, rays of constant sliding, energy.
//!
//! Velocities and impulses of R1 to R9 come from an integration with 25 digits; the rays at 147° and −71° are printed in
//! Mirtich's Fig. 3.3 and were recomputed to ten digits. Energy: over random collisions the work of restitution is e²
//! times that of compression and no collision creates energy (Stronge).

use super::{Allowed, Check, Outcome};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::Registry;
use rattleback_dynamics::impact::{
    Collision, CollisionSettings, Compliance, ContactLaw, Integrated, Law, REFERENCE, rays, resolve,
};

/// R1 to R9: distance of velocity and impulse from the reference.
pub(super) fn references(_: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for case in &REFERENCE {
        let number = case.name.split(' ').next().unwrap_or_default();
        for (law, allowed) in [(Law::Integrated, 1e-10), (Law::Phased, 1e-8)] {
            let out = resolve(&case.collision, &CollisionSettings { law, ..case.settings })?;
            let error = (out.velocity - case.velocity).length().max((out.impulse - case.impulse).length());
            let name = format!("collision/reference/{number}");
            checks.push(Check::new(name, law.law().name(), 0.0, error, Allowed::Absolute(allowed)));
        }
    }
    Ok(checks)
}

/// N6: the rays of Fig. 3.3, in degrees, by ascending angle.
pub(super) fn constant_sliding(_: &Registry) -> Outcome {
    let found = rays(&Compliance::new(&REFERENCE[0].collision.k)?, 0.2);
    let mut angles = found.as_slice().iter().map(|ray| ray.angle.to_degrees());
    let expected = [("diverging", -71.1126847213), ("converging", 147.0010577487)];
    Ok(expected
        .into_iter()
        .map(|(kind, angle)| {
            let got = angles.next().unwrap_or(f64::NAN);
            Check::new(format!("collision/rays/{kind}"), "rays", angle, got, Allowed::Absolute(1e-9))
        })
        .collect())
}

/// The worst of 2000 collisions of bodies with random K, friction and restitution.
pub(super) fn energy(_: &Registry) -> Outcome {
    let (mut created, mut balance) = (0.0_f64, 0.0_f64);
    for n in 0..2000 {
        // A sequence that fills the cube evenly: multiples of irrational numbers.
        let part = |step: f64| (f64::from(n) * step).fract();
        let axes = DMat3::from_quat(DQuat::from_euler(
            glam::EulerRot::XYZ,
            6.0 * part(0.618_033_988_75),
            3.0 * part(0.414_213_562_37),
            6.0 * part(0.732_050_807_57),
        ));
        let diagonal = DVec3::new(1.0 + 9.0 * part(0.236_067_977_5), 1.0, 0.1 + part(0.645_751_311_06));
        let k = axes * DMat3::from_diagonal(diagonal) * axes.transpose();
        let u = DVec3::new(2.0 * part(0.316_624_790_36) - 1.0, 2.0 * part(0.605_551_275_46) - 1.0, -1.0);
        let (e, mu) = (part(0.123_105_625_62), 1.5 * part(0.358_898_943_54));
        let settings = CollisionSettings { e, mu, ..CollisionSettings::default() };
        let out = resolve(&Collision { k: (k + k.transpose()) * 0.5, u }, &settings)?;
        created = created.max(out.work);
        let due = -e * e * out.compression_work;
        balance = balance.max((out.restitution_work - due).abs() / out.compression_work.abs());
    }
    let check = |name: &str, got| {
        Check::new(format!("collision/energy/{name}"), Integrated.name(), 0.0, got, Allowed::Absolute(1e-12))
    };
    Ok(vec![check("created", created), check("balance", balance)])
}
