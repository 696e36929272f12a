//! Energy of hops where a contact has none.
//!
//! A body placed with no gap below it, which rolls or rotates there, approaches its contact at no speed and
//! does not slide: nothing pays for a hop, and collisions would follow each other without time passing. The
//! hop is paid for by the motion of the body instead. The body separates at a small part [`HOP_SPEED_SHARE`]
//! of the speed √(2T/m) of its kinetic energy T, at most as fast as any hop, and then its whole velocity is
//! scaled so that T is what it was before the collision. As a hop returns as fast as it left, this happens
//! once, and costs at most HOP_SPEED_SHARE² of the energy; no collision creates any.

use super::tuning::HOP_SPEED_SHARE;
use crate::impact::ContactBody;

/// Kinetic energy, J; 0 for a body of infinite mass.
pub(super) fn kinetic_energy(body: &ContactBody) -> f64 {
    if body.inverse_mass == 0.0 {
        return 0.0;
    }
    let turning = body.omega.dot(body.inverse_inertia.inverse() * body.omega);
    let energy = 0.5 * (body.v.length_squared() / body.inverse_mass + turning);
    if energy.is_finite() { energy } else { 0.0 }
}

/// (both bodies, μ) ⇒ speed of a hop, m/s, that the motion of the movable body can pay for; 0 if both are
/// movable, if the other one moves, or without friction, which alone could change the motion along the
/// ground.
pub(super) fn affordable_hop_speed(bodies: &[ContactBody; 2], mu: f64) -> f64 {
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

/// (bodies before and after) ⇒ scales the velocities after so that no body has more kinetic energy than
/// before.
pub(super) fn limit_energy(before: &[ContactBody; 2], after: &mut [ContactBody; 2]) {
    for (before, after) in before.iter().zip(after) {
        let (had, has) = (kinetic_energy(before), kinetic_energy(after));
        if has > had {
            let factor = (had / has).sqrt();
            after.v *= factor;
            after.omega *= factor;
        }
    }
}
