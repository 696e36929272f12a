//! Equilibrium test: can these contacts hold these bodies?
//!
//! Bodies at rest under loads F, τ stay at rest if there are forces p at the contacts, each inside its
//! friction cone |p_t| ≤ μ p_n, with F + Σ p = 0 and τ + Σ r × p = 0 for every body. To find them, let the
//! loads act for a time T on bodies with their present velocities, v + T F/m, ω + T I⁻¹τ, and minimise their
//! kinetic energy over impulses in the cones. That is a convex problem; its minimum is zero exactly if the
//! contacts can both stop the bodies within T and hold them, and its gradient at a contact is u, the relative
//! velocity there.
//!
//! Groups of up to some fifty bodies are solved exactly (`cone_projection`), larger ones by relaxation
//! (`relaxation`).
//!
//! Whether the minimum is zero does not depend on the metric: any positive one has the same zeros. With the
//! true masses, 1000 kg on ten boxes of 1 kg is an ill-conditioned problem. So all bodies are given the mass
//! of the heaviest one, with the momentum they have and their own radii of gyration, and a stack takes as
//! long as one of equal masses does.

use super::super::tuning::{EXACT_CONTACT_LIMIT, LOAD_RESIDUAL, RELAXATION_TOLERANCE};
use super::cone_projection::project;
use super::relaxation::relax;
use glam::{DMat3, DVec3};

/// A body of the test, after its loads have acted for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedBody {
    pub inverse_mass: f64,
    pub inverse_inertia: DMat3,
    /// Largest distance of its surface from the centre of mass, m, which converts ω into a speed.
    pub radius: f64,
    /// Velocities after the loads have acted, m/s and rad/s.
    pub v: DVec3,
    pub omega: DVec3,
}

/// Contact point of two bodies; those outside the group do not move.
#[derive(Clone, Copy, Debug)]
pub(super) struct SupportPoint {
    pub bodies: [Option<usize>; 2],
    /// From each centre of mass to the point, m.
    pub arms: [DVec3; 2],
    /// From the first body to the second.
    pub normal: DVec3,
    pub friction: f64,
    /// Levers of rolling and spinning friction, m.
    pub levers: [f64; 2],
    /// Impulse on the second body, N s, and moment, N m s.
    pub force: DVec3,
    pub moment: DVec3,
    /// Index of its pair.
    pub pair: u32,
    /// Position in the world, m.
    pub position: DVec3,
}

/// (bodies after their loads have acted for a while, their contacts, speed of a free fall of that time, part
/// of it that may be left) ⇒ whether the contacts hold them. The impulses are stored in the contacts; the
/// velocities of the bodies are overwritten.
pub(super) fn is_in_equilibrium(
    bodies: &mut [LoadedBody],
    supports: &mut [SupportPoint],
    fall: f64,
    residual: f64,
) -> bool {
    let shares = equalize_masses(bodies);
    let excess =
        |bodies: &[LoadedBody], supports: &[SupportPoint]| worst_excess(bodies, supports, &shares, fall);
    if supports.len() <= EXACT_CONTACT_LIMIT {
        project(bodies, supports, |bodies, supports| excess(bodies, supports) <= residual)
    } else {
        relax(bodies, supports, RELAXATION_TOLERANCE * residual, excess)
    }
}

/// Gives all bodies the mass of the heaviest, at unchanged momentum ⇒ ratio of each mass to it.
fn equalize_masses(bodies: &mut [LoadedBody]) -> Vec<f64> {
    let masses = bodies.iter().map(|body| body.inverse_mass).filter(|inverse| *inverse > 0.0);
    let least = masses.fold(f64::INFINITY, f64::min);
    let weigh = |body: &mut LoadedBody| {
        let share = if body.inverse_mass > 0.0 { least / body.inverse_mass } else { 1.0 };
        body.inverse_mass *= share;
        body.inverse_inertia *= share;
        body.v *= share;
        body.omega *= share;
        share
    };
    bodies.iter_mut().map(weigh).collect()
}

/// Largest remaining speed of a body, in parts of what a residual of 1 allows.
fn worst_excess(bodies: &[LoadedBody], supports: &[SupportPoint], shares: &[f64], fall: f64) -> f64 {
    let mut loads = vec![0.0; bodies.len()];
    for support in supports {
        let load = support.force.dot(support.normal);
        for body in support.bodies.into_iter().flatten() {
            loads[body] += load;
        }
    }
    let excess = |index: usize| {
        let body = &bodies[index];
        let left = body.v.length().max(body.radius * body.omega.length());
        left / (fall * shares[index] + LOAD_RESIDUAL * loads[index] * body.inverse_mass)
    };
    (0..bodies.len()).map(excess).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: f64 = 9.81;

    fn cube(count: usize) -> Vec<LoadedBody> {
        vec![
            LoadedBody {
                inverse_mass: 1.0,
                inverse_inertia: DMat3::from_diagonal(DVec3::splat(6.0)),
                radius: 0.5 * 3f64.sqrt(),
                v: -G * DVec3::Z,
                omega: DVec3::ZERO,
            };
            count
        ]
    }

    fn four(lower: Option<usize>, upper: usize, overhang: f64, friction: f64) -> Vec<SupportPoint> {
        [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
            .into_iter()
            .map(|(x, y): (f64, f64)| SupportPoint {
                bodies: [lower, Some(upper)],
                arms: [DVec3::new(x + overhang, y, 0.5), DVec3::new(x, y, -0.5)],
                normal: DVec3::Z,
                friction,
                levers: [0.0; 2],
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: 0,
                position: DVec3::ZERO,
            })
            .collect()
    }

    /// The forces below a cube add up to its weight.
    #[test]
    fn forces_below_a_cube_add_up_to_its_weight() {
        let (mut bodies, mut supports) = (cube(1), four(None, 0, 0.0, 0.5));
        assert!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3));
        let total: DVec3 = supports.iter().map(|support| support.force).sum();
        assert!((total - G * DVec3::Z).length() < 0.01 * G, "{total}");
    }

    /// A tower of ten: the lowest contact carries ten weights.
    #[test]
    fn a_tower_is_in_equilibrium() {
        let mut bodies = cube(10);
        let mut supports: Vec<SupportPoint> =
            (0..10).flat_map(|k: usize| four(k.checked_sub(1), k, 0.0, 0.5)).collect();
        assert!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3));
        let lowest: f64 = supports[..4].iter().map(|support| support.force.z).sum();
        assert!((lowest - 10.0 * G).abs() < 0.1 * G, "{lowest}");
    }

    /// 1000 kg on nine boxes of 1 kg, and masses that grow or shrink geometrically, are in equilibrium as
    /// well.
    #[test]
    fn mass_ratios_do_not_matter() {
        let laws: [fn(i32) -> f64; 3] = [
            |k| if k == 9 { 1000.0 } else { 1.0 },
            |k| 1000f64.powf(f64::from(k) / 9.0),
            |k| 1000f64.powf(f64::from(9 - k) / 9.0),
        ];
        for mass in laws {
            let mut bodies = cube(10);
            for (body, k) in bodies.iter_mut().zip(0..) {
                body.inverse_mass /= mass(k);
                body.inverse_inertia *= 1.0 / mass(k);
            }
            let mut supports: Vec<SupportPoint> =
                (0..10).flat_map(|k: usize| four(k.checked_sub(1), k, 0.0, 0.5)).collect();
            assert!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3));
            let lowest: f64 = supports[..4].iter().map(|support| support.force.z).sum();
            let weight: f64 = (0..10).map(|k| G * mass(k)).sum();
            assert!((lowest / weight - 1.0).abs() < 0.01, "{lowest} {weight}");
        }
    }

    /// On a slope of angle a friction holds up to μ = tan a.
    #[test]
    fn a_slope_holds_up_to_its_friction() {
        let slope: f64 = 0.5;
        for (friction, holds) in [(slope.tan() * 1.05, true), (slope.tan() * 0.95, false)] {
            let (mut bodies, mut supports) = (cube(1), four(None, 0, 0.0, friction));
            bodies[0].v = G * DVec3::new(slope.sin(), 0.0, -slope.cos());
            assert_eq!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3), holds, "{friction}");
        }
    }

    /// A cube whose centre of mass is beyond the edge is not in equilibrium.
    #[test]
    fn an_overhang_is_no_equilibrium() {
        for (shift, holds) in [(0.45, true), (0.55, false)] {
            let mut bodies = cube(1);
            let mut supports: Vec<SupportPoint> = [(-0.5, -0.5), (-shift, -0.5), (-0.5, 0.5), (-shift, 0.5)]
                .into_iter()
                .map(|(x, y)| SupportPoint {
                    bodies: [None, Some(0)],
                    arms: [DVec3::ZERO, DVec3::new(x + (if holds { 0.5 } else { 0.0 }), y, -0.5)],
                    normal: DVec3::Z,
                    friction: 0.8,
                    levers: [0.0; 2],
                    force: DVec3::ZERO,
                    moment: DVec3::ZERO,
                    pair: 0,
                    position: DVec3::ZERO,
                })
                .collect();
            assert_eq!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3), holds);
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
            let mut supports = vec![SupportPoint {
                bodies: [None, Some(0)],
                arms: [DVec3::ZERO, -radius * DVec3::Z],
                normal: DVec3::Z,
                friction: 0.8,
                levers: [lever, 0.0],
                force: DVec3::ZERO,
                moment: DVec3::ZERO,
                pair: 0,
                position: DVec3::ZERO,
            }];
            assert_eq!(is_in_equilibrium(&mut bodies, &mut supports, G, 5e-3), holds, "{lever}");
        }
    }
}
