//! Can these contacts carry these bodies?
//!
//! Bodies at rest under loads F, τ stay at rest if there are forces p at the contacts, each inside its cone of friction
//! |p_t| ≤ μ p_n, with F + Σ p = 0 and τ + Σ r × p = 0 for every body. To find them, let the loads act for one second on bodies
//! at rest, v = F/m, ω = I⁻¹τ, and make their kinetic energy as small as forces in the cones can. That is a convex problem, its
//! least value is zero exactly if the loads can be carried, and its slope at a contact is u, the relative velocity there.
//!
//! One contact after the other, with K its collision matrix: p ← p − K⁻¹u, the least for this contact, if that lies in the
//! cone; else a step down the slope and back into the cone, p ← Π(p − u/tr K), Π the nearest point of the cone. Neither ever raises
//! the energy.
//!
//! Where rolling is resisted, a contact also passes on a moment m, of at most b p_n across the normal and c p_n along it. The slope there is
//! the relative ω, so m ← Π(m − ω/tr(I₁⁻¹ + I₂⁻¹)).

use crate::contact::{Contactor, collision_matrix};
use glam::{DMat3, DVec3};

/// A body that is to be carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub inverse_mass: f64,
    pub inverse_inertia: DMat3,
    /// Largest distance of its surface from the centre of mass: what turns ω into a speed.
    pub radius: f64,
    /// Velocities after one second of load.
    pub v: DVec3,
    pub omega: DVec3,
}

/// A point where two bodies touch; who is not to be carried stands firm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Support {
    pub bodies: [Option<usize>; 2],
    /// From each centre of mass to the point.
    pub arms: [DVec3; 2],
    /// From the first to the second.
    pub normal: DVec3,
    pub friction: f64,
    /// Levers of the resistance against rolling and spinning, m.
    pub levers: [f64; 2],
    /// Force on the second, N, and moment, N m.
    pub force: DVec3,
    pub moment: DVec3,
    /// Which pair it belongs to.
    pub pair: u32,
    /// Where it is in the world.
    pub place: DVec3,
}

const ROUNDS: usize = 400;
/// Rounds after which it is asked whether it is worth while to go on.
const PAUSE: usize = 64;
const ROUNDS_PER_BODY: usize = 60;
const MOST_ROUNDS: usize = 4000;

/// (bodies after a second of load, their contacts, speed of a free fall of one second, part of it that may be left) ⇒ whether
/// the contacts carry them; the forces begin with those found in the contacts and are left there.
pub(super) fn carries(bodies: &mut [Carried], supports: &mut [Support], fall: f64, residual: f64) -> bool {
    let compliances: Vec<DMat3> = supports.iter().map(|support| compliance(bodies, support)).collect();
    let matrices: Vec<DMat3> = compliances.iter().map(DMat3::inverse).collect();
    let steps: Vec<f64> = compliances.iter().map(|k| 1.0 / (k.x_axis.x + k.y_axis.y + k.z_axis.z)).collect();
    if matrices.iter().any(|k| !k.is_finite()) {
        return false;
    }
    for support in supports.iter() {
        push(bodies, support, support.force);
    }
    let rounds = (ROUNDS + ROUNDS_PER_BODY * bodies.len()).min(MOST_ROUNDS);
    let mut before = f64::INFINITY;
    for round in 0..rounds {
        // Up and down in turn: a tower passes its weight down in one sweep and the answer up in the next.
        for k in 0..supports.len() {
            let k = if round % 2 == 0 { k } else { supports.len() - 1 - k };
            let support = &mut supports[k];
            let u = velocity(bodies, support, 1) - velocity(bodies, support, 0);
            let least = support.force - matrices[k] * u;
            let wanted = if in_cone(least, support.normal, support.friction) {
                least
            } else {
                into_cone(support.force - steps[k] * u, support.normal, support.friction)
            };
            let change = wanted - support.force;
            support.force = wanted;
            push(bodies, support, change);
            if support.levers != [0.0; 2] {
                twist(bodies, support);
            }
        }
        if round % 8 != 7 {
            continue;
        }
        let worst = bodies.iter().map(left).fold(0.0, f64::max);
        if worst <= residual * fall {
            return true;
        }
        if round % PAUSE == PAUSE - 1 {
            // Twice as fast as it has been getting better, would it be in time?
            let pauses = ((rounds - round) / PAUSE) as f64;
            if worst * (worst / before).min(1.0).powf(2.0 * pauses) > residual * fall {
                return false;
            }
            before = worst;
        }
    }
    false
}

fn left(body: &Carried) -> f64 {
    body.v.length().max(body.radius * body.omega.length())
}

fn velocity(bodies: &[Carried], support: &Support, side: usize) -> DVec3 {
    support.bodies[side]
        .map_or(DVec3::ZERO, |body| bodies[body].v + bodies[body].omega.cross(support.arms[side]))
}

fn push(bodies: &mut [Carried], support: &Support, p: DVec3) {
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        if let Some(index) = support.bodies[side] {
            let body = &mut bodies[index];
            body.v += sign * body.inverse_mass * p;
            body.omega += body.inverse_inertia * (sign * support.arms[side].cross(p));
        }
    }
}

/// Lets the moment of a contact do what it can against rolling and spinning.
fn twist(bodies: &mut [Carried], support: &mut Support) {
    let give = |side: usize| support.bodies[side].map_or(DMat3::ZERO, |body| bodies[body].inverse_inertia);
    let k = give(0) + give(1);
    let turn = |side: usize| support.bodies[side].map_or(DVec3::ZERO, |body| bodies[body].omega);
    let n = support.normal;
    let free = support.moment - (turn(1) - turn(0)) / (k.x_axis.x + k.y_axis.y + k.z_axis.z);
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

/// The nearest point of the cone.
fn into_cone(p: DVec3, n: DVec3, mu: f64) -> DVec3 {
    let normal = p.dot(n);
    let tangent = p - normal * n;
    let size = tangent.length();
    if size <= mu * normal {
        return p;
    }
    let height = (normal + mu * size) / (1.0 + mu * mu);
    if height <= 0.0 { DVec3::ZERO } else { height * (n + tangent * (mu / size)) }
}

/// K of a contact; who is not to be carried yields nothing.
fn compliance(bodies: &[Carried], support: &Support) -> DMat3 {
    let [a, b] = [0, 1].map(|side| {
        support.bodies[side].map_or(Contactor::FIXED, |index| Contactor {
            inverse_mass: bodies[index].inverse_mass,
            inverse_inertia: bodies[index].inverse_inertia,
            r: support.arms[side],
            ..Contactor::FIXED
        })
    });
    collision_matrix(&a, &b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: f64 = 9.81;

    fn cube(count: usize) -> Vec<Carried> {
        vec![
            Carried {
                inverse_mass: 1.0,
                inverse_inertia: DMat3::from_diagonal(DVec3::splat(6.0)),
                radius: 0.5 * 3f64.sqrt(),
                v: -G * DVec3::Z,
                omega: DVec3::ZERO,
            };
            count
        ]
    }

    fn four(lower: Option<usize>, upper: usize, overhang: f64, friction: f64) -> Vec<Support> {
        [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
            .into_iter()
            .map(|(x, y): (f64, f64)| Support {
                bodies: [lower, Some(upper)],
                arms: [DVec3::new(x + overhang, y, 0.5), DVec3::new(x, y, -0.5)],
                normal: DVec3::Z,
                friction,
                levers: [0.0; 2],
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: 0,
                place: DVec3::ZERO,
            })
            .collect()
    }

    #[test]
    fn a_cube_is_carried_by_its_weight() {
        let (mut bodies, mut supports) = (cube(1), four(None, 0, 0.0, 0.5));
        assert!(carries(&mut bodies, &mut supports, G, 5e-3));
        let total: DVec3 = supports.iter().map(|support| support.force).sum();
        assert!((total - G * DVec3::Z).length() < 0.01 * G, "{total}");
    }

    /// A tower of ten: the lowest contact carries ten weights.
    #[test]
    fn a_tower_is_carried() {
        let mut bodies = cube(10);
        let mut supports: Vec<Support> =
            (0..10).flat_map(|k: usize| four(k.checked_sub(1), k, 0.0, 0.5)).collect();
        assert!(carries(&mut bodies, &mut supports, G, 5e-3));
        let lowest: f64 = supports[..4].iter().map(|support| support.force.z).sum();
        assert!((lowest - 10.0 * G).abs() < 0.1 * G, "{lowest}");
    }

    /// On a slope of angle a friction holds up to μ = tan a.
    #[test]
    fn a_slope_holds_up_to_its_friction() {
        let slope: f64 = 0.5;
        for (friction, holds) in [(slope.tan() * 1.05, true), (slope.tan() * 0.95, false)] {
            let (mut bodies, mut supports) = (cube(1), four(None, 0, 0.0, friction));
            bodies[0].v = G * DVec3::new(slope.sin(), 0.0, -slope.cos());
            assert_eq!(carries(&mut bodies, &mut supports, G, 5e-3), holds, "{friction}");
        }
    }

    /// Nobody is carried whose centre of mass stands beyond the edge.
    #[test]
    fn an_overhang_falls() {
        for (shift, holds) in [(0.45, true), (0.55, false)] {
            let mut bodies = cube(1);
            let mut supports: Vec<Support> = [(-0.5, -0.5), (-shift, -0.5), (-0.5, 0.5), (-shift, 0.5)]
                .into_iter()
                .map(|(x, y)| Support {
                    bodies: [None, Some(0)],
                    arms: [DVec3::ZERO, DVec3::new(x + (if holds { 0.5 } else { 0.0 }), y, -0.5)],
                    normal: DVec3::Z,
                    friction: 0.8,
                    levers: [0.0; 2],
                    force: DVec3::ZERO,
                    moment: DVec3::ZERO,
                    pair: 0,
                    place: DVec3::ZERO,
                })
                .collect();
            assert_eq!(carries(&mut bodies, &mut supports, G, 5e-3), holds);
        }
    }

    /// A wheel on a slope of angle a is held by rolling friction up to b = r tan a, and by none without.
    #[test]
    fn a_wheel_is_held_by_rolling_friction() {
        let (slope, radius): (f64, f64) = (0.3, 0.5);
        let most = radius * slope.tan();
        for (lever, holds) in [(0.0, false), (0.9 * most, false), (1.1 * most, true)] {
            let mut bodies = cube(1);
            bodies[0].v = G * DVec3::new(slope.sin(), 0.0, -slope.cos());
            let mut supports = vec![Support {
                bodies: [None, Some(0)],
                arms: [DVec3::ZERO, -radius * DVec3::Z],
                normal: DVec3::Z,
                friction: 0.8,
                levers: [lever, 0.0],
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: 0,
                place: DVec3::ZERO,
            }];
            assert_eq!(carries(&mut bodies, &mut supports, G, 5e-3), holds, "{lever}");
        }
    }
}
