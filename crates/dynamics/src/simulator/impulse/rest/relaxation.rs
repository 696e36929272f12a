//! Contact forces of large groups by relaxation, one contact after the other (projected Gauss–Seidel).
//!
//! With K the collision matrix of a contact: p ← p − K⁻¹u, the minimum for this contact, if that lies in the
//! cone; else a projected gradient step, p ← Π(p − u/tr K), Π the nearest point of the cone. Neither ever
//! raises the energy. Convergence slows down where cones are active, so this is for groups that are too large
//! for `cone_projection`.
//!
//! With rolling friction a contact also transmits a moment m, of at most b p_n across the normal and c p_n
//! along it. The gradient there is the relative ω, so m ← Π(m − ω/tr(I₁⁻¹ + I₂⁻¹)).

use super::super::tuning::{
    RELAXATION_CHECK, RELAXATION_ROUNDS, RELAXATION_ROUNDS_MAX, RELAXATION_ROUNDS_PER_BODY,
};
use super::equilibrium::{LoadedBody, SupportPoint};
use crate::impact::{ContactBody, collision_matrix};
use glam::{DMat3, DVec3};

/// (bodies after their loads have acted for a while, their contacts, allowed remainder, function that
/// evaluates the remainder) ⇒ whether it was reached.
pub(super) fn relax(
    bodies: &mut [LoadedBody],
    supports: &mut [SupportPoint],
    residual: f64,
    excess: impl Fn(&[LoadedBody], &[SupportPoint]) -> f64,
) -> bool {
    let compliances: Vec<DMat3> = supports.iter().map(|support| compliance(bodies, support)).collect();
    let matrices: Vec<DMat3> = compliances.iter().map(DMat3::inverse).collect();
    let steps: Vec<f64> = compliances.iter().map(|k| 1.0 / (k.x_axis.x + k.y_axis.y + k.z_axis.z)).collect();
    if matrices.iter().any(|k| !k.is_finite()) {
        return false;
    }
    let rounds = (RELAXATION_ROUNDS + RELAXATION_ROUNDS_PER_BODY * bodies.len()).min(RELAXATION_ROUNDS_MAX);
    let mut before = f64::INFINITY;
    for round in 0..rounds {
        // Sweeps alternate in direction: a tower transmits its weight down in one sweep and the reaction up
        // in the next.
        for k in 0..supports.len() {
            let k = if round % 2 == 0 { k } else { supports.len() - 1 - k };
            let support = &mut supports[k];
            let u = velocity(bodies, support, 1) - velocity(bodies, support, 0);
            let least = support.force - matrices[k] * u;
            let wanted = if in_cone(least, support.normal, support.friction) {
                least
            } else {
                project_to_cone(support.force - steps[k] * u, support.normal, support.friction)
            };
            let change = wanted - support.force;
            support.force = wanted;
            apply_impulse(bodies, support, change);
            if support.levers != [0.0; 2] {
                solve_moment(bodies, support);
            }
        }
        if round % 8 != 7 {
            continue;
        }
        let worst = excess(bodies, supports);
        if worst <= residual {
            return true;
        }
        if round % RELAXATION_CHECK == RELAXATION_CHECK - 1 {
            // Gives up if even twice the present rate of convergence would not suffice.
            let pauses = ((rounds - round) / RELAXATION_CHECK) as f64;
            if worst * (worst / before).min(1.0).powf(2.0 * pauses) > residual {
                return false;
            }
            before = worst;
        }
    }
    false
}

/// Velocity of a body at a contact, m/s; zero outside the group.
fn velocity(bodies: &[LoadedBody], support: &SupportPoint, side: usize) -> DVec3 {
    support.bodies[side]
        .map_or(DVec3::ZERO, |body| bodies[body].v + bodies[body].omega.cross(support.arms[side]))
}

/// Applies an impulse to both bodies of a contact.
fn apply_impulse(bodies: &mut [LoadedBody], support: &SupportPoint, p: DVec3) {
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        if let Some(index) = support.bodies[side] {
            let body = &mut bodies[index];
            body.v += sign * body.inverse_mass * p;
            body.omega += body.inverse_inertia * (sign * support.arms[side].cross(p));
        }
    }
}

/// Updates the moment of rolling and spinning friction of a contact.
fn solve_moment(bodies: &mut [LoadedBody], support: &mut SupportPoint) {
    let inverse_inertia =
        |side: usize| support.bodies[side].map_or(DMat3::ZERO, |body| bodies[body].inverse_inertia);
    let k = inverse_inertia(0) + inverse_inertia(1);
    let angular_velocity = |side: usize| support.bodies[side].map_or(DVec3::ZERO, |body| bodies[body].omega);
    let n = support.normal;
    let free =
        support.moment - (angular_velocity(1) - angular_velocity(0)) / (k.x_axis.x + k.y_axis.y + k.z_axis.z);
    let [rolling, spinning] = support.levers.map(|lever| (lever * support.force.dot(n)).max(0.0));
    let along = free.dot(n);
    let wanted = (free - along * n).clamp_length_max(rolling) + along.clamp(-spinning, spinning) * n;
    let change = wanted - support.moment;
    support.moment = wanted;
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        if let Some(index) = support.bodies[side] {
            let body = &mut bodies[index];
            body.omega += body.inverse_inertia * (sign * change);
        }
    }
}

fn in_cone(p: DVec3, n: DVec3, mu: f64) -> bool {
    let normal = p.dot(n);
    (p - normal * n).length() <= mu * normal
}

/// Nearest point of the friction cone.
fn project_to_cone(p: DVec3, n: DVec3, mu: f64) -> DVec3 {
    let normal = p.dot(n);
    let tangent = p - normal * n;
    let size = tangent.length();
    if size <= mu * normal {
        return p;
    }
    let height = (normal + mu * size) / (1.0 + mu * mu);
    if height <= 0.0 { DVec3::ZERO } else { height * (n + tangent * (mu / size)) }
}

/// Collision matrix K of a contact; bodies outside the group have infinite mass.
fn compliance(bodies: &[LoadedBody], support: &SupportPoint) -> DMat3 {
    let [a, b] = [0, 1].map(|side| {
        support.bodies[side].map_or(ContactBody::FIXED, |index| ContactBody {
            inverse_mass: bodies[index].inverse_mass,
            inverse_inertia: bodies[index].inverse_inertia,
            r: support.arms[side],
            ..ContactBody::FIXED
        })
    });
    collision_matrix(&a, &b)
}
