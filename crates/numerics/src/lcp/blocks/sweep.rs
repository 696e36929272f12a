//! Gauss–Seidel over contacts: each one in turn is satisfied on its own.
//!
//! With K = J M⁻¹ Jᵀ of one contact and u at the present velocities: p_n ← max(0, p_n − u_n/K_nn); then, at
//! the velocities that makes, p_τ ← the point nearest to p_τ − u_τ/k_τ in the disc of radius μ p_n, k_τ the
//! larger of the two diagonal entries; then v += M⁻¹ Jᵀ Δp.
//!
//! A sweep is a step p → p + r towards the solution, and r falls slowly where impulses have to pass through
//! many bodies. Taken as minus a gradient it serves a method of conjugate ones (M. Silcowitz, S. Niebuhr, K.
//! Erleben 2010): with β = |r|²/|r_before|² the impulses go on to p + r + β d, and d ← r + β d; β > 1 starts
//! anew with d = r. Velocities, linear in p, go the same way. The last sweep stands as it is, so that every
//! contact has satisfied its own conditions.
//!
//! J and W = M⁻¹ Jᵀ of a contact lie side by side in memory: J by columns of (n, t, k), W by rows of six.

use super::problem::{BlockContact, BlockProblem, Stiffness};
use glam::{DVec2, DVec3};

/// Index of the velocity of a static side.
const NO_BODY: u32 = u32::MAX;

/// One contact in flat memory.
#[derive(Clone, Copy, Debug)]
struct Flat {
    bodies: [u32; 2],
    /// Where its impulse is.
    contact: u32,
    friction: f64,
    target: [f64; 4],
    /// 1/K_nn, 1/k_τ, and K_tn, K_kn.
    inverse: [f64; 2],
    across: [f64; 2],
    columns: [[[f64; 4]; 6]; 2],
    pushes: [[[f64; 6]; 3]; 2],
}

/// Contacts and velocities; keeps its allocations between problems.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeper {
    flat: Vec<Flat>,
    velocity: Vec<[f64; 6]>,
    conjugate: ConjugateDirection,
}

impl Sweeper {
    /// ForceAccumulator a problem; contacts that are soft or between immovable blocks are left out.
    pub fn take(&mut self, problem: &BlockProblem) {
        self.flat.clear();
        for (index, contact) in problem.contacts.iter().enumerate() {
            if contact.stiffness == Stiffness::Rigid
                && let Some(flat) = flatten(problem, contact, index)
            {
                self.flat.push(flat);
            }
        }
    }

    /// (impulses and the velocities they make) ⇒ the same after at most `sweeps` sweeps, fewer if one changes
    /// no velocity by more than `enough`.
    pub fn sweep(&mut self, sweeps: usize, enough: f64, impulse: &mut [DVec3], velocity: &mut [[DVec3; 2]]) {
        self.velocity.clear();
        self.velocity.extend(velocity.iter().map(|[v, w]| [v.x, v.y, v.z, w.x, w.y, w.z]));
        self.conjugate.restart(impulse.len(), velocity.len());
        for sweep in 0..sweeps {
            self.conjugate.mark(impulse, &self.velocity);
            let mut change = 0.0_f64;
            for flat in &self.flat {
                let moved = satisfy(flat, &mut self.velocity, &mut impulse[flat.contact as usize]);
                change = change.max(moved);
            }
            if change <= enough {
                break;
            }
            if sweep + 1 < sweeps {
                self.conjugate.go_on(impulse, &mut self.velocity);
            }
        }
        for ([v, w], flat) in velocity.iter_mut().zip(&self.velocity) {
            *v = DVec3::new(flat[0], flat[1], flat[2]);
            *w = DVec3::new(flat[3], flat[4], flat[5]);
        }
    }
}

/// Conjugate direction d, for impulses and for the velocities they cause.
#[derive(Clone, Debug, Default)]
struct ConjugateDirection {
    /// |r|² of the last sweep.
    square: f64,
    /// p and v at the beginning of a sweep.
    before: (Vec<DVec3>, Vec<[f64; 6]>),
    /// d, and M⁻¹ Jᵀ d.
    direction: (Vec<DVec3>, Vec<[f64; 6]>),
}

impl ConjugateDirection {
    /// No direction yet.
    fn restart(&mut self, contacts: usize, blocks: usize) {
        self.square = 0.0;
        self.direction.0.clear();
        self.direction.0.resize(contacts, DVec3::ZERO);
        self.direction.1.clear();
        self.direction.1.resize(blocks, [0.0; 6]);
    }

    /// Stores the state at the beginning of a sweep.
    fn mark(&mut self, impulse: &[DVec3], velocity: &[[f64; 6]]) {
        self.before.0.clear();
        self.before.0.extend_from_slice(impulse);
        self.before.1.clear();
        self.before.1.extend_from_slice(velocity);
    }

    /// After a sweep: p and v advance by β d.
    fn go_on(&mut self, impulse: &mut [DVec3], velocity: &mut [[f64; 6]]) {
        let square: f64 = impulse.iter().zip(&self.before.0).map(|(p, q)| p.distance_squared(*q)).sum();
        let beta = if self.square > 0.0 && square <= self.square { square / self.square } else { 0.0 };
        self.square = square;
        for ((p, q), d) in impulse.iter_mut().zip(&self.before.0).zip(&mut self.direction.0) {
            let r = *p - *q;
            *p += beta * *d;
            *d = beta * *d + r;
        }
        for ((v, w), d) in velocity.iter_mut().zip(&self.before.1).zip(&mut self.direction.1) {
            for i in 0..6 {
                let r = v[i] - w[i];
                v[i] += beta * d[i];
                d[i] = beta * d[i] + r;
            }
        }
    }
}

/// One contact in flat memory; none if no impulse can move its blocks.
fn flatten(problem: &BlockProblem, contact: &BlockContact, index: usize) -> Option<Flat> {
    let k = contact.compliance(&problem.blocks);
    let k_tangent = k.y.max(k.z).max(f64::MIN_POSITIVE);
    if k.x <= 0.0 {
        return None;
    }
    let mut flat = Flat {
        bodies: [NO_BODY; 2],
        contact: index as u32,
        friction: contact.friction,
        target: [contact.target.x, contact.target.y, contact.target.z, 0.0],
        inverse: [1.0 / k.x, 1.0 / k_tangent],
        across: [0.0; 2],
        columns: [[[0.0; 4]; 6]; 2],
        pushes: [[[0.0; 6]; 3]; 2],
    };
    for (side, block) in contact.blocks.iter().enumerate() {
        let Some(block) = block else { continue };
        flat.bodies[side] = *block as u32;
        let [mass, inertia] = &problem.blocks[*block].inverse_mass;
        for (axis, [linear, angular]) in contact.rows[side].iter().enumerate() {
            for (column, entry) in linear.to_array().into_iter().chain(angular.to_array()).enumerate() {
                flat.columns[side][column][axis] = entry;
            }
            let (v, w) = (*mass * *linear, *inertia * *angular);
            flat.pushes[side][axis] = [v.x, v.y, v.z, w.x, w.y, w.z];
        }
        for (tangent, across) in flat.across.iter_mut().enumerate() {
            let [linear, angular] = contact.rows[side][tangent + 1];
            let [v, w] = flat.pushes[side][0].as_chunks::<3>().0 else { continue };
            *across += linear.dot(DVec3::from_array(*v)) + angular.dot(DVec3::from_array(*w));
        }
    }
    Some(flat)
}

/// Satisfies one contact ⇒ its change of velocity.
#[inline]
fn satisfy(flat: &Flat, velocity: &mut [[f64; 6]], impulse: &mut DVec3) -> f64 {
    let mut u = flat.target.map(|t| -t);
    for (body, columns) in flat.bodies.iter().zip(&flat.columns) {
        if *body != NO_BODY {
            for (column, v) in columns.iter().zip(&velocity[*body as usize]) {
                for (sum, entry) in u.iter_mut().zip(column) {
                    *sum += entry * v;
                }
            }
        }
    }
    let before = *impulse;
    let normal = (before.x - u[0] * flat.inverse[0]).max(0.0);
    if normal == 0.0 && before == DVec3::ZERO {
        return 0.0;
    }
    let push = normal - before.x;
    let [u_t, u_k] = [u[1] + flat.across[0] * push, u[2] + flat.across[1] * push];
    let mut tangent = DVec2::new(before.y - u_t * flat.inverse[1], before.z - u_k * flat.inverse[1]);
    let (length, radius) = (tangent.length(), flat.friction * normal);
    if length > radius {
        tangent *= radius / length;
    }
    *impulse = DVec3::new(normal, tangent.x, tangent.y);
    let change = *impulse - before;
    for (body, pushes) in flat.bodies.iter().zip(&flat.pushes) {
        if *body != NO_BODY {
            let velocity = &mut velocity[*body as usize];
            for (i, v) in velocity.iter_mut().enumerate() {
                *v += change.x * pushes[0][i] + change.y * pushes[1][i] + change.z * pushes[2][i];
            }
        }
    }
    (change.x.abs() / flat.inverse[0]).max(change.y.abs().max(change.z.abs()) / flat.inverse[1])
}
