//! Simultaneous collisions that share particles.
//!
//! Unknown are the impulses P_c of all collisions c, each in its own frame (n, t, k)_c. With s = +1 where a
//! particle is B and −1 where it is A, the relative velocity after the collisions is
//!
//!   u′_c = u_c + Σ_c′ K_cc′ P_c′,   K_cc′ = F_cᵀ (Σ_{q in c and c′} s_qc s_qc′ W_q) F_c′,
//!
//! W_q = 1/m_q (a matrix for bodies) and F_c the columns n, t, k. Rows of collision c:
//!
//!   n: u′_n = −e u_n;   t, k: u′_a = 0 if it sticks, P_a = σ_a f_a P_n if it slides.
//!
//! Which axes slide is first decided by every pair alone. The linear system does not know that impulses only push
//! nor that friction is bounded: collisions with P_n < 0 are then dropped, axes stuck by more than f_a P_n slide,
//! and the system is solved again. A singular system (loops of touching particles) gets its solution of least
//! squares and least norm, and is flagged.
//!
//! The source keeps velocities as unknowns too ([`solve_cluster_block_matrix`]); eliminating them gives the above.

use glam::{DMat3, DVec3};
use rattleback_numerics::lcp::{SquareMatrix, eliminate};

use super::FrictionModel;

/// What a particle of a cluster collides with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterPartner {
    /// Another particle of the cluster, by its index.
    Particle(usize),
    /// A point of a body: its velocity, m/s, and K, kg⁻¹.
    Body {
        /// Velocity of the point, m/s.
        velocity: DVec3,
        /// Inverse mass at the point, kg⁻¹.
        inverse_mass: DMat3,
    },
}

/// One of the collisions of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterCollision {
    /// A.
    pub a: ClusterPartner,
    /// B, a particle of the cluster.
    pub b: usize,
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Friction.
    pub friction: FrictionModel,
}

/// Result of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterOutcome {
    /// P on B of every collision, N s, in world axes; zero for dropped ones.
    pub impulse: Vec<DVec3>,
    /// Components (n, t, k) of the same.
    pub components: Vec<[f64; 3]>,
    /// Velocities of the particles after it, m/s.
    pub velocity: Vec<DVec3>,
    /// The system was singular; impulses are those of least norm.
    pub singular: bool,
}

/// A collision while it is solved.
struct Row {
    frame: [DVec3; 3],
    bounds: [f64; 2],
    /// Approach velocity in the frame.
    u: [f64; 3],
    /// Whether the tangential axes slide, with the sign of their impulse.
    slides: [Option<f64>; 2],
    active: bool,
}

/// (1/m of the particles, their velocities, collisions) ⇒ impulses and velocities.
///
/// # Panics
/// If a collision names a particle that is not there.
pub fn solve_cluster(
    inverse_mass: &[f64],
    velocity: &[DVec3],
    collisions: &[ClusterCollision],
) -> ClusterOutcome {
    iterate(inverse_mass, velocity, collisions, impulse_space)
}

/// The same by the system of the source, with all velocities as unknowns; for comparison.
///
/// # Panics
/// If a collision names a particle that is not there.
pub fn solve_cluster_block_matrix(
    inverse_mass: &[f64],
    velocity: &[DVec3],
    collisions: &[ClusterCollision],
) -> ClusterOutcome {
    iterate(inverse_mass, velocity, collisions, block_space)
}

/// Solves for given regimes: (1/m, collisions, rows, indices of active rows) ⇒ impulses in their frames, and
/// whether the system was singular.
type Solve = fn(&[f64], &[DVec3], &[ClusterCollision], &[Row], &[usize]) -> (Vec<f64>, bool);

fn iterate(
    inverse_mass: &[f64],
    velocity: &[DVec3],
    collisions: &[ClusterCollision],
    solve: Solve,
) -> ClusterOutcome {
    let mut rows: Vec<Row> = collisions.iter().map(|c| row_of(inverse_mass, velocity, c)).collect();
    let mut components = vec![[0.0; 3]; collisions.len()];
    let mut singular = false;
    // Every pass drops a collision or lets an axis slide for good.
    for _ in 0..=3 * collisions.len() {
        let active: Vec<usize> = (0..rows.len()).filter(|&c| rows[c].active).collect();
        if active.is_empty() {
            components.fill([0.0; 3]);
            break;
        }
        let (solution, is_singular) = solve(inverse_mass, velocity, collisions, &rows, &active);
        singular |= is_singular;
        components.fill([0.0; 3]);
        for (k, &c) in active.iter().enumerate() {
            components[c] = [solution[3 * k], solution[3 * k + 1], solution[3 * k + 2]];
        }
        if !restrict(&mut rows, &components, &active) {
            break;
        }
    }
    apply(inverse_mass, velocity, collisions, &rows, components, singular)
}

/// Changes regimes that the solution contradicts ⇒ whether there were any.
fn restrict(rows: &mut [Row], components: &[[f64; 3]], active: &[usize]) -> bool {
    let largest = active.iter().map(|&c| components[c][0].abs()).fold(0.0, f64::max);
    let mut changed = false;
    for &c in active {
        if components[c][0] < -1e-12 * largest {
            rows[c].active = false;
            changed = true;
        }
    }
    if changed {
        return true;
    }
    for &c in active {
        for axis in 0..2 {
            let (p_n, p_a) = (components[c][0], components[c][axis + 1]);
            if rows[c].slides[axis].is_none()
                && p_a.abs() > rows[c].bounds[axis] * p_n * (1.0 + 1e-12) + 1e-300
            {
                rows[c].slides[axis] = Some(p_a.signum());
                changed = true;
            }
        }
    }
    changed
}

fn row_of(inverse_mass: &[f64], velocity: &[DVec3], c: &ClusterCollision) -> Row {
    let (v_a, w_a) = match c.a {
        ClusterPartner::Particle(a) => (velocity[a], inverse_mass[a]),
        ClusterPartner::Body { velocity, inverse_mass } => (velocity, c.normal.dot(inverse_mass * c.normal)),
    };
    let u = velocity[c.b] - v_a;
    let (frame, bounds) = c.friction.frame(c.normal, u);
    let u = frame.map(|axis| u.dot(axis));
    let stop = -(1.0 + c.restitution) * u[0];
    // Sliding persists where the impulse that would stop it, −μ u_a, exceeds f_a P_n, both per unit of μ.
    let slides = [0, 1].map(|axis| (u[axis + 1].abs() > bounds[axis] * stop).then(|| -u[axis + 1].signum()));
    let active = w_a + inverse_mass[c.b] > 0.0;
    Row { frame, bounds, u, slides, active }
}

/// Σ s s′ W over the particles that two collisions share.
fn coupling(inverse_mass: &[f64], collisions: &[ClusterCollision], c: usize, other: usize) -> DMat3 {
    let mut w = DMat3::ZERO;
    let ends = |c: &ClusterCollision| match c.a {
        ClusterPartner::Particle(a) => [Some((a, -1.0)), Some((c.b, 1.0))],
        ClusterPartner::Body { .. } => [None, Some((c.b, 1.0))],
    };
    for (q, s) in ends(&collisions[c]).into_iter().flatten() {
        for (p, s_other) in ends(&collisions[other]).into_iter().flatten() {
            if p == q {
                w += DMat3::from_diagonal(DVec3::splat(s * s_other * inverse_mass[q]));
            }
        }
    }
    // Bodies answer through their accumulators, each point by itself.
    if let (true, ClusterPartner::Body { inverse_mass, .. }) = (c == other, collisions[c].a) {
        w += inverse_mass;
    }
    w
}

fn impulse_space(
    inverse_mass: &[f64],
    _velocity: &[DVec3],
    collisions: &[ClusterCollision],
    rows: &[Row],
    active: &[usize],
) -> (Vec<f64>, bool) {
    let n = 3 * active.len();
    let mut a = SquareMatrix::zeros(n);
    let mut b = vec![0.0; n];
    for (i, &c) in active.iter().enumerate() {
        let row = &rows[c];
        for (j, &other) in active.iter().enumerate() {
            let w = coupling(inverse_mass, collisions, c, other);
            if w == DMat3::ZERO {
                continue;
            }
            for (axis, direction) in row.frame.iter().enumerate() {
                if axis == 0 || row.slides[axis - 1].is_none() {
                    for (k, along) in rows[other].frame.iter().enumerate() {
                        a[(3 * i + axis, 3 * j + k)] = direction.dot(w * *along);
                    }
                }
            }
        }
        b[3 * i] = -(1.0 + collisions[c].restitution) * row.u[0];
        for axis in 0..2 {
            match row.slides[axis] {
                None => b[3 * i + axis + 1] = -row.u[axis + 1],
                Some(sign) => {
                    a[(3 * i + axis + 1, 3 * i + axis + 1)] = 1.0;
                    a[(3 * i + axis + 1, 3 * i)] = -sign * row.bounds[axis];
                }
            }
        }
    }
    solve_or_least_squares(&a, &b)
}

/// Unknown P of all collisions in their frames and velocities of all particles in world axes.
fn block_space(
    inverse_mass: &[f64],
    velocity: &[DVec3],
    collisions: &[ClusterCollision],
    rows: &[Row],
    active: &[usize],
) -> (Vec<f64>, bool) {
    let (m, particles) = (3 * active.len(), velocity.len());
    let n = m + 3 * particles;
    let mut a = SquareMatrix::zeros(n);
    let mut b = vec![0.0; n];
    for (i, &c) in active.iter().enumerate() {
        let (row, collision) = (&rows[c], &collisions[c]);
        for (axis, direction) in row.frame.iter().enumerate() {
            let line = 3 * i + axis;
            if let Some(sign) = (axis > 0).then(|| row.slides[axis - 1]).flatten() {
                a[(line, line)] = 1.0;
                a[(line, 3 * i)] = -sign * row.bounds[axis - 1];
                continue;
            }
            b[line] = if axis == 0 { -collision.restitution * row.u[0] } else { 0.0 };
            for k in 0..3 {
                a[(line, m + 3 * collision.b + k)] += direction[k];
                if let ClusterPartner::Particle(q) = collision.a {
                    a[(line, m + 3 * q + k)] -= direction[k];
                }
            }
            if let ClusterPartner::Body { velocity, inverse_mass } = collision.a {
                // V_A = v_A − K P.
                b[line] += direction.dot(velocity);
                for (k, along) in row.frame.iter().enumerate() {
                    a[(line, 3 * i + k)] += direction.dot(inverse_mass * *along);
                }
            }
        }
        // Momentum: V − Σ s W P = v.
        let ends = match collision.a {
            ClusterPartner::Particle(q) => [Some((q, -1.0)), Some((collision.b, 1.0))],
            ClusterPartner::Body { .. } => [None, Some((collision.b, 1.0))],
        };
        for (q, s) in ends.into_iter().flatten() {
            for (k, along) in row.frame.iter().enumerate() {
                for x in 0..3 {
                    a[(m + 3 * q + x, 3 * i + k)] -= s * inverse_mass[q] * along[x];
                }
            }
        }
    }
    for q in 0..particles {
        for x in 0..3 {
            a[(m + 3 * q + x, m + 3 * q + x)] = 1.0;
            b[m + 3 * q + x] = velocity[q][x];
        }
    }
    let (mut solution, singular) = solve_or_least_squares(&a, &b);
    solution.truncate(m);
    (solution, singular)
}

/// A x = b ⇒ x; if A is singular, the limit of (AᵀA + ε I)⁻¹ Aᵀ b for small ε.
fn solve_or_least_squares(a: &SquareMatrix, b: &[f64]) -> (Vec<f64>, bool) {
    let n = a.n();
    let (mut matrix, mut x) = (a.clone(), b.to_vec());
    if eliminate(&mut matrix, &mut x) && x.iter().all(|x| x.is_finite()) {
        return (x, false);
    }
    let column_dot = |i: usize, j: usize| (0..n).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>();
    let mut normal = SquareMatrix::from_fn(n, column_dot);
    let epsilon = 1e-11 * normal.largest();
    for i in 0..n {
        normal[(i, i)] += epsilon;
    }
    let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|k| a[(k, i)] * b[k]).sum()).collect();
    if !eliminate(&mut normal, &mut x) {
        x.fill(0.0);
    }
    (x, true)
}

fn apply(
    inverse_mass: &[f64],
    velocity: &[DVec3],
    collisions: &[ClusterCollision],
    rows: &[Row],
    components: Vec<[f64; 3]>,
    singular: bool,
) -> ClusterOutcome {
    let mut after = velocity.to_vec();
    let mut impulse = Vec::with_capacity(collisions.len());
    for (c, collision) in collisions.iter().enumerate() {
        let p: DVec3 = rows[c].frame.iter().zip(components[c]).map(|(axis, p)| p * *axis).sum();
        after[collision.b] += inverse_mass[collision.b] * p;
        if let ClusterPartner::Particle(a) = collision.a {
            after[a] -= inverse_mass[a] * p;
        }
        impulse.push(p);
    }
    ClusterOutcome { impulse, components, velocity: after, singular }
}
