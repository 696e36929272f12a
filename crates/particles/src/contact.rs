//! Contact forces between particles that touch without approaching: complementarity of forces and accelerations.
//!
//! In the frame (n, t, k) of a contact with n from A to B, a = A F + b is the relative acceleration of B:
//!
//!   0 ≤ F_n ⟂ a_n ≥ 0,
//!   A_cc′ = F_cᵀ (Σ_q s_qc s_qc′ W_q) F_c′   (only shared particles, with the signs of their roles),
//!   b_n = (a_B − a_A)·n + |v_tan|²/d,   b_t = (a_B − a_A)·t,   b_k likewise.
//!
//! The gap is g = |p_B − p_A| − d with d = r_A + r_B; its second derivative at rest along n contains |v_tan|²/d
//! because n turns. On a flat face of a body with angular velocity ω instead: b_n = (a_B − a_A)·n +
//! 2 (v_B − v_A)·(ω × n) − r |ω × n|².
//!
//! A pair that slides faster than the slip threshold has dynamic friction against its velocity; else static
//! friction, bounded along each axis.

use glam::{DMat3, DVec3};
use rattleback_numerics::lcp::{
    Friction, FrictionContact, FrictionProblem, Lcp, LcpError, Outcome, SquareMatrix, baraff, dantzig,
};

/// What a particle is in contact with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactPartner {
    /// Another particle of the cluster, by its index.
    Particle(usize),
    /// A point of a body.
    Body {
        /// Acceleration of the point without contact forces, m/s².
        acceleration: DVec3,
        /// Inverse mass at the point, kg⁻¹.
        inverse_mass: DMat3,
    },
}

/// One of the contacts of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterContact {
    /// A.
    pub a: ContactPartner,
    /// B, a particle of the cluster.
    pub b: usize,
    /// n, t, k with n from A to B.
    pub frame: [DVec3; 3],
    /// v_B − v_A, m/s.
    pub relative_velocity: DVec3,
    /// Term of b_n by the motion of n, m/s².
    pub normal_rate_term: f64,
    /// Coefficients of static and of dynamic friction.
    pub friction: [f64; 2],
}

/// Matrix A and vector b, rows n, t, k of every contact.
pub fn contact_system(
    inverse_mass: &[f64],
    acceleration: &[DVec3],
    contacts: &[ClusterContact],
) -> (SquareMatrix, Vec<f64>) {
    let n = contacts.len();
    let mut matrix = SquareMatrix::zeros(3 * n);
    let mut b = vec![0.0; 3 * n];
    let ends = |c: &ClusterContact| match c.a {
        ContactPartner::Particle(a) => [Some((a, -1.0)), Some((c.b, 1.0))],
        ContactPartner::Body { .. } => [None, Some((c.b, 1.0))],
    };
    for (i, c) in contacts.iter().enumerate() {
        for (j, other) in contacts.iter().enumerate() {
            let mut scalar = 0.0;
            for (q, s) in ends(c).into_iter().flatten() {
                for (p, s_other) in ends(other).into_iter().flatten() {
                    if p == q {
                        scalar += s * s_other * inverse_mass[q];
                    }
                }
            }
            for x in 0..3 {
                for y in 0..3 {
                    matrix[(3 * i + x, 3 * j + y)] = scalar * c.frame[x].dot(other.frame[y]);
                }
            }
        }
        let a_of_a = match c.a {
            ContactPartner::Particle(a) => acceleration[a],
            ContactPartner::Body { acceleration, inverse_mass } => {
                for x in 0..3 {
                    for y in 0..3 {
                        matrix[(3 * i + x, 3 * i + y)] += c.frame[x].dot(inverse_mass * c.frame[y]);
                    }
                }
                acceleration
            }
        };
        let relative = acceleration[c.b] - a_of_a;
        for x in 0..3 {
            b[3 * i + x] = relative.dot(c.frame[x]);
        }
        b[3 * i] += c.normal_rate_term;
    }
    (matrix, b)
}

/// (1/m, accelerations by external forces, contacts, slip threshold) ⇒ force on B of every contact, N, and
/// whether all conditions hold.
///
/// # Errors
/// A number is not finite or a coefficient negative.
pub fn contact_forces(
    inverse_mass: &[f64],
    acceleration: &[DVec3],
    contacts: &[ClusterContact],
    slip_threshold: f64,
) -> Result<(Vec<DVec3>, bool), LcpError> {
    let (matrix, b) = contact_system(inverse_mass, acceleration, contacts);
    let n = contacts.len();
    if contacts.iter().all(|c| c.friction == [0.0; 2]) {
        let normal = SquareMatrix::from_fn(n, |i, j| matrix[(3 * i, 3 * j)]);
        let solution = dantzig(&Lcp::new(normal, (0..n).map(|i| b[3 * i]).collect())?, None)?;
        let forces = contacts.iter().zip(&solution.z).map(|(c, &f)| f * c.frame[0]).collect();
        return Ok((forces, solution.outcome == Outcome::Solved));
    }
    let regime = |c: &ClusterContact| {
        let slip = [c.relative_velocity.dot(c.frame[1]), c.relative_velocity.dot(c.frame[2])];
        let friction = if slip[0].hypot(slip[1]) <= slip_threshold {
            Friction::Static([c.friction[0]; 2])
        } else {
            let size = slip[0].hypot(slip[1]);
            Friction::Dynamic(slip.map(|s| -c.friction[1] * s / size))
        };
        FrictionContact { friction }
    };
    let problem = FrictionProblem::new(matrix, b, contacts.iter().map(regime).collect())?;
    let solution = baraff(&problem);
    let force = |i: usize| (0..3).map(|x| solution.force[3 * i + x] * contacts[i].frame[x]).sum();
    Ok(((0..n).map(force).collect(), solution.outcome == Outcome::Solved))
}
