//! Hops of bodies that have no energy for them where they touch.
//!
//! A body that was put down with no gap below it, and rolls or turns there, approaches its contact at no speed and slides at none: nothing could
//! limit_energy for a hop, and collisions would follow each other without time passing. It pays with the motion it has instead. It is sent off at a small part
//! [`HOP_SPEED_SHARE`] of the speed √(2T/m) of its kinetic energy T, at most as fast as any hop, and then all of its velocity is scaled so
//! that T is what it was before the collision. As a hop comes back as fast as it left, this happens once, and takes at most SHARE² of the energy; no
//! collision creates any.

use super::tuning::HOP_SPEED_SHARE;
use crate::contact::Contactor;

/// Kinetic energy, J; 0 for a body that nothing moves.
pub(super) fn kinetic_energy(body: &Contactor) -> f64 {
    if body.inverse_mass == 0.0 {
        return 0.0;
    }
    let turning = body.omega.dot(body.inverse_inertia.inverse() * body.omega);
    let energy = 0.5 * (body.v.length_squared() / body.inverse_mass + turning);
    if energy.is_finite() { energy } else { 0.0 }
}

/// (both bodies, μ) ⇒ speed of a hop that the motion of the one that is_movable can limit_energy for; 0 if both do, if the other one moves, or if nothing but friction could
/// change its motion along the ground and there is none.
pub(super) fn affordable_hop_speed(bodies: &[Contactor; 2], mu: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    let payer = match bodies.each_ref().map(|body| body.inverse_mass > 0.0) {
        [true, false] if bodies[1].v.length() + bodies[1].omega.length() == 0.0 => &bodies[0],
        [false, true] if bodies[0].v.length() + bodies[0].omega.length() == 0.0 => &bodies[1],
        _ => return 0.0,
    };
    HOP_SPEED_SHARE * (2.0 * kinetic_energy(payer) * payer.inverse_mass).sqrt()
}

/// (bodies before, and after) ⇒ those after, with no more kinetic energy than before.
pub(super) fn limit_energy(before: &[Contactor; 2], after: &mut [Contactor; 2]) {
    for (before, after) in before.iter().zip(after) {
        let (had, has) = (kinetic_energy(before), kinetic_energy(after));
        if has > had {
            let factor = (had / has).sqrt();
            after.v *= factor;
            after.omega *= factor;
        }
    }
}
