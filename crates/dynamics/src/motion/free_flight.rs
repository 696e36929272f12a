//! Free flight of many bodies: straight line for the centre of mass, torque-free rotation about it.
//!
//! Over the time h: x ← x + h v, L constant, R by [`free_rotation`](super::free_rotation), ω = R I⁻¹ Rᵀ L.
//! Four bodies are turned at a time; the result does not depend on who shares a group with whom.

use super::free_rotation::{Spin, into_body, into_world, rotate_four_freely};
use super::{Inertia, Motion};
use glam::{DQuat, DVec3};
use wide::f64x4;

const LANES: usize = 4;

/// Moves every body along its force-free path for the time h.
pub fn fly(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    let mut bodies = motion.chunks_exact_mut(LANES);
    let mut masses = inertia.chunks_exact(LANES);
    for (group, inertia) in bodies.by_ref().zip(masses.by_ref()) {
        fly_four(group, inertia, h);
    }
    let rest = bodies.into_remainder();
    if rest.is_empty() {
        return;
    }
    // Fill the last group with copies of its first body, so that the formulas stand only once.
    let mut group = [rest[0]; LANES];
    let mut last = [masses.remainder()[0]; LANES];
    group[..rest.len()].copy_from_slice(rest);
    last[..rest.len()].copy_from_slice(masses.remainder());
    fly_four(&mut group, &last, h);
    rest.copy_from_slice(&group[..rest.len()]);
}

#[inline(always)]
fn gather<const N: usize>(row: impl Fn(usize) -> [f64; N]) -> [f64x4; N] {
    let rows = [row(0), row(1), row(2), row(3)];
    std::array::from_fn(|c| f64x4::new([rows[0][c], rows[1][c], rows[2][c], rows[3][c]]))
}

fn fly_four(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    let q = gather(|i| motion[i].q.to_array());
    let omega = gather(|i| motion[i].omega.to_array());
    let moments = gather(|i| inertia[i].moments.to_array());
    let j = gather(|i| inertia[i].inverse_moments.to_array());

    let omega_body = into_body(q, omega);
    let m = [moments[0] * omega_body[0], moments[1] * omega_body[1], moments[2] * omega_body[2]];
    let l = into_world(q, m);
    let turned = rotate_four_freely(&Spin { q, l, j }, h);
    let m = into_body(turned, l);
    let omega = into_world(turned, [j[0] * m[0], j[1] * m[1], j[2] * m[2]]);

    let q = turned.map(|row| row.to_array());
    let omega = omega.map(|row| row.to_array());
    for (i, body) in motion.iter_mut().enumerate() {
        body.x += h * body.v;
        body.q = DQuat::from_xyzw(q[0][i], q[1][i], q[2][i], q[3][i]);
        body.omega = DVec3::new(omega[0][i], omega[1][i], omega[2][i]);
    }
}
