//! Preconditioned conjugate gradients for (A + Σ Wᵀ C W) x = b with blocks of three.
//!
//! z = P⁻¹ r with the inverses of the diagonal blocks; fixed vertices are filtered: their rows of r and p are zero, so that they
//! do not move. Sums are formed over blocks of rows, then in the order of blocks, so that bits do not depend on the number of
//! threads. Stops when |r| ≤ tol |b|, both measured by P⁻¹.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DMat3, DVec3};
use rattleback_numerics::team::{Shared, Worker, together};

use crate::dual::outer;
use crate::matrix::{BlockMatrix, Couplings};

/// Rows per block of a sum.
const BLOCK: usize = 256;

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations.
    pub iterations: usize,
    /// |r|/|b| at the end.
    pub residual: f64,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// A direction without positive curvature was met.
    pub indefinite: bool,
}

/// Arrays of the method, kept between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConjugateGradients {
    r: Vec<DVec3>,
    z: Vec<DVec3>,
    p: Vec<DVec3>,
    q: Vec<DVec3>,
    inverse: Vec<DMat3>,
    coupled: Vec<DVec3>,
    sums: Vec<[f64; 2]>,
    dots: Vec<f64>,
}

/// Inverse of a positive matrix; of its diagonal if it is singular to rounding.
fn safe_inverse(m: DMat3) -> DMat3 {
    let d = DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z);
    let determinant = m.determinant();
    if determinant > 1e-14 * d.x * d.y * d.z {
        let inverse = m.inverse();
        if inverse.is_finite() {
            return inverse;
        }
    }
    DMat3::from_diagonal(DVec3::from_array(
        d.to_array().map(|d| if d > 0.0 && d.is_finite() { 1.0 / d } else { 1.0 }),
    ))
}

/// The matrix of a step.
pub(crate) struct Operator<'m> {
    pub matrix: &'m BlockMatrix,
    pub couplings: &'m Couplings,
    pub fixed: &'m [bool],
    /// Terms c g gᵀ, of enclosed gas.
    pub rank_one: &'m [(Vec<DVec3>, f64)],
}

impl ConjugateGradients {
    /// Solves for x, from the x given.
    pub fn solve(
        &mut self,
        threads: usize,
        a: &Operator<'_>,
        b: &[DVec3],
        x: &mut [DVec3],
        tolerance: f64,
        limit: usize,
    ) -> SolveReport {
        let n = b.len();
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.q] {
            v.resize(n, DVec3::ZERO);
        }
        self.inverse.resize(n, DMat3::ZERO);
        self.coupled.resize(a.couplings.len(), DVec3::ZERO);
        self.dots.resize(a.rank_one.len(), 0.0);
        self.sums.clear();
        self.sums.resize(n.div_ceil(BLOCK), [0.0; 2]);
        let mut scalars = [Scalars::default()];
        let warm = x.iter().any(|x| *x != DVec3::ZERO);
        let arrays = Arrays {
            r: Shared::new(&mut self.r),
            z: Shared::new(&mut self.z),
            p: Shared::new(&mut self.p),
            q: Shared::new(&mut self.q),
            x: Shared::new(x),
            inverse: Shared::new(&mut self.inverse),
            coupled: Shared::new(&mut self.coupled),
            sums: Shared::new(&mut self.sums),
            dots: Shared::new(&mut self.dots),
            scalars: Shared::new(&mut scalars),
            end: AtomicUsize::new(usize::MAX),
        };
        let threads = if n < 4 * BLOCK { 1 } else { threads };
        together(threads, |worker| arrays.run(worker, a, b, warm, tolerance, limit));
        scalars[0].report
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Scalars {
    rho: f64,
    size: f64,
    alpha: f64,
    beta: f64,
    report: SolveReport,
}

/// Arrays while threads work on them. A thread may be late by any number of stages (see `team`), so that what one stage leaves
/// for another is read within pieces only, and the end of the loop is a number of iterations that never changes once set.
struct Arrays<'s> {
    r: Shared<'s, DVec3>,
    z: Shared<'s, DVec3>,
    p: Shared<'s, DVec3>,
    q: Shared<'s, DVec3>,
    x: Shared<'s, DVec3>,
    inverse: Shared<'s, DMat3>,
    coupled: Shared<'s, DVec3>,
    sums: Shared<'s, [f64; 2]>,
    dots: Shared<'s, f64>,
    scalars: Shared<'s, Scalars>,
    end: AtomicUsize,
}

impl Arrays<'_> {
    /// Runs over blocks of rows; every row is in one block, so that writes of a stage do not meet.
    fn rows(worker: &Worker<'_>, n: usize, mut work: impl FnMut(usize, Range<usize>)) {
        worker.stage(0..n.div_ceil(BLOCK), 1, |blocks| {
            for block in blocks {
                work(block, block * BLOCK..n.min((block + 1) * BLOCK));
            }
        });
    }

    /// A stage of one thread with the sums of the stage before.
    fn decide(&self, worker: &Worker<'_>, n: usize, mut work: impl FnMut(&mut Scalars, [f64; 2])) {
        worker.alone(|| {
            let mut total = [0.0; 2];
            for block in 0..n.div_ceil(BLOCK) {
                // SAFETY: sums were written in the stage before; no other thread works in this one.
                let sums = unsafe { self.sums.get(block) };
                total[0] += sums[0];
                total[1] += sums[1];
            }
            // SAFETY: as above.
            work(unsafe { self.scalars.get_mut(0) }, total);
        });
    }

    /// q ⇐ A v, with partial sums of v·q.
    fn multiply(&self, worker: &Worker<'_>, a: &Operator<'_>, v: &Shared<'_, DVec3>, n: usize) {
        let couplings = a.couplings;
        if couplings.len() > 0 {
            worker.stage(0..couplings.len(), 64, |range| {
                // SAFETY: v is not written in this stage; each coupling is in one piece.
                let v = unsafe { &*v.range_mut(0..n) };
                for c in range {
                    unsafe { *self.coupled.get_mut(c) = couplings.product(c, v) };
                }
            });
        }
        if !a.rank_one.is_empty() {
            worker.stage(0..a.rank_one.len(), 1, |range| {
                // SAFETY: as above.
                let v = unsafe { &*v.range_mut(0..n) };
                for k in range {
                    let (g, c) = &a.rank_one[k];
                    let dot: f64 = g.iter().zip(v).map(|(g, v)| g.dot(*v)).sum();
                    unsafe { *self.dots.get_mut(k) = c * dot };
                }
            });
        }
        Self::rows(worker, n, |block, rows| {
            let mut sum = 0.0;
            // SAFETY: v and `coupled` are not written in this stage; rows and sums of a block by one piece only.
            unsafe {
                let (v, coupled) = (&*v.range_mut(0..n), &*self.coupled.range_mut(0..couplings.len()));
                for i in rows {
                    let mut product = DVec3::ZERO;
                    if !a.fixed[i] {
                        product = a.matrix.row(i, v);
                        if !coupled.is_empty() {
                            product += couplings.gather(i, coupled);
                        }
                        for (k, (g, _)) in a.rank_one.iter().enumerate() {
                            product += g[i] * *self.dots.get(k);
                        }
                    }
                    *self.q.get_mut(i) = product;
                    sum += v[i].dot(product);
                }
                *self.sums.get_mut(block) = [sum, 0.0];
            }
        });
    }

    fn run(
        &self,
        worker: &Worker<'_>,
        a: &Operator<'_>,
        b: &[DVec3],
        warm: bool,
        tolerance: f64,
        limit: usize,
    ) {
        let n = b.len();
        if warm {
            self.multiply(worker, a, &self.x, n);
        }
        // SAFETY (all stages): rows of a block are written by one piece; scalars are written between these stages.
        Self::rows(worker, n, |block, rows| unsafe {
            let mut sums = [0.0; 2];
            for i in rows {
                let inverse = if a.fixed[i] {
                    DMat3::ZERO
                } else {
                    let mut d = a.matrix.value[a.matrix.diagonal[i] as usize];
                    if a.couplings.len() > 0 {
                        d += a.couplings.diagonal(i);
                    }
                    for (g, c) in a.rank_one {
                        d += outer(g[i], g[i]) * *c;
                    }
                    safe_inverse(d)
                };
                let right = if a.fixed[i] { DVec3::ZERO } else { b[i] };
                let r = if warm { right - *self.q.get(i) } else { right };
                let z = inverse * r;
                *self.inverse.get_mut(i) = inverse;
                *self.r.get_mut(i) = r;
                *self.z.get_mut(i) = z;
                *self.p.get_mut(i) = z;
                sums[0] += r.dot(z);
                sums[1] += right.dot(inverse * right);
            }
            *self.sums.get_mut(block) = sums;
        });
        let stop = |s: &mut Scalars, k: usize| {
            s.report.converged = s.rho <= tolerance * tolerance * s.size;
            s.report.iterations = k;
            s.report.residual = if s.size > 0.0 { (s.rho.max(0.0) / s.size).sqrt() } else { 0.0 };
            if s.report.converged || s.report.indefinite || k >= limit || !s.rho.is_finite() {
                self.end.store(k, Ordering::Release);
            }
        };
        self.decide(worker, n, |s, [rho, size]| {
            (s.rho, s.size) = (rho, size);
            stop(s, 0);
        });
        for k in 0.. {
            if self.end.load(Ordering::Acquire) == k {
                break;
            }
            self.multiply(worker, a, &self.p, n);
            self.decide(worker, n, |s, [curvature, _]| {
                s.report.indefinite = !(curvature > 0.0);
                s.alpha = if curvature > 0.0 { s.rho / curvature } else { 0.0 };
            });
            Self::rows(worker, n, |block, rows| unsafe {
                let alpha = self.scalars.get(0).alpha;
                let mut sum = 0.0;
                for i in rows {
                    *self.x.get_mut(i) += alpha * *self.p.get(i);
                    let r = *self.r.get(i) - alpha * *self.q.get(i);
                    let z = *self.inverse.get(i) * r;
                    *self.r.get_mut(i) = r;
                    *self.z.get_mut(i) = z;
                    sum += r.dot(z);
                }
                *self.sums.get_mut(block) = [sum, 0.0];
            });
            self.decide(worker, n, |s, [rho, _]| {
                s.beta = rho / s.rho;
                s.rho = rho;
                stop(s, k + 1);
            });
            Self::rows(worker, n, |_, rows| unsafe {
                let beta = self.scalars.get(0).beta;
                for i in rows {
                    *self.p.get_mut(i) = *self.z.get(i) + beta * *self.p.get(i);
                }
            });
        }
    }
}
