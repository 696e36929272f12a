//! The two pressure solves.
//!
//! With G = V₀ c, ∇W = −c t³ x (`pass`):
//!
//!   δ_i    = w₀ (1 + Σ_j t⁴ (5 − 4 t)) + W(0) Σ_b V_b t⁴ (5 − 4 t),   w₀ = V₀ W(0),
//!   dδ_i/dt = −G Σ_j t³ (v_i − v_j)·x_ij − c Σ_b V_b t³ (v_i − v_b)·x_ib,
//!   a_i    = G Σ_j (κ_i + κ_j) t³ x_ij + c κ_i Σ_b V_b t³ x_ib,
//!   D_i    = |Σ G t³ x_ij + Σ_b c V_b t³ x_ib|² + Σ_j (G t³ |x_ij|)²,
//!
//! D_i the change of −dδ_i/dt per κ_i. Jacobi: κ_i ← max(0, κ_i + ½ (δ*_i − 1)/(dt² D_i)), δ* = δ + dt dδ/dt(v + dt a).
//! Without divergence: κ_i ← max(0, κ_i + ½ (dδ_i/dt)*/(dt D_i)), where δ would grow and a particle has neighbours all
//! around. Velocities change once at the end of a solve, by sums in double precision whose terms are opposite for both
//! particles of a pair: momentum is conserved to rounding.

use glam::DVec3;

use super::IncompressibleFluid;
use super::lanes::Lanes;
use super::neighbours::Record;
use super::pass::{Visit, for_block, sum_f64};
use crate::{Obstacle, Reaction, parallel};

/// Under-relaxation of Jacobi's method.
const RELAXATION: f32 = 0.5;
/// Neighbours below which a particle is taken to be spray, whose divergence is left alone.
const MIN_NEIGHBOURS: u32 = 18;

/// Constants of the passes in single precision.
#[derive(Clone, Copy)]
struct Factors {
    /// G.
    pair: f32,
    /// c.
    slope: f32,
}

impl IncompressibleFluid {
    fn factors(&self) -> Factors {
        let slope = self.constants.kernel.slope_factor();
        Factors { pair: (self.constants.volume * slope) as f32, slope: slope as f32 }
    }

    /// Pressures in the last sub-step, Pa, those of both solves together, which act one after the other.
    pub fn pressures(&self) -> Vec<f64> {
        let mut pressures = vec![0.0; self.position.len()];
        // Particles that were added since have no neighbours listed yet.
        if self.records.len() != pressures.len() {
            return pressures;
        }
        let (factors, density) = (self.factors(), self.settings().rest_density);
        let (input, blocks) = (self.input(), &self.blocks);
        parallel::fill_groups(self.settings().threads, &self.bounds, &mut pressures, |block, part| {
            let first = blocks[block].first as usize;
            for_block(&blocks[block], &input, |visit| {
                let kappa = f64::from(self.kappa[visit.index]) + f64::from(self.kappa_v[visit.index]);
                part[visit.index - first] = density * kappa * f64::from(moment_of(visit, factors));
            });
        });
        pressures
    }

    /// δ and 1/D of all particles.
    pub(super) fn compute_density(&mut self) {
        let mut density = std::mem::take(&mut self.density);
        let mut inverse = std::mem::take(&mut self.inverse_diagonal);
        let peak = self.constants.kernel.peak() as f32;
        let own = (self.constants.volume * self.constants.kernel.peak()) as f32;
        let mut errors = std::mem::take(&mut self.errors);
        let factors = self.factors();
        let (input, blocks) = (self.input(), &self.blocks);
        parallel::fill_blocks(
            self.settings().threads,
            &self.bounds,
            (&mut density, &mut inverse, &mut errors),
            |block, density, inverse, _| {
                let first = blocks[block].first as usize;
                for_block(&blocks[block], &input, |visit| {
                    let (delta, diagonal) = density_of(visit, factors, own, peak);
                    density[visit.index - first] = delta;
                    inverse[visit.index - first] = if diagonal > 1e-20 { 1.0 / diagonal } else { 0.0 };
                });
            },
        );
        self.errors = errors;
        self.density = density;
        self.inverse_diagonal = inverse;
    }

    /// Makes velocities divergence-free where the fluid would be compressed.
    pub(super) fn solve_divergence(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let mut kappa = std::mem::take(&mut self.kappa_v);
        let settings = self.settings();
        let tolerance = settings.max_divergence_error;
        let iterations = self.solve(dt, &mut kappa, obstacles, false, tolerance);
        self.statistics.divergence_iterations += iterations;
        self.kappa_v = kappa;
    }

    /// Finds pressures that keep the density, and changes velocities by them.
    pub(super) fn solve_density(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let mut kappa = std::mem::take(&mut self.kappa);
        let tolerance = self.settings().max_density_error;
        let iterations = self.solve(dt, &mut kappa, obstacles, true, tolerance);
        self.statistics.density_iterations += iterations;
        self.kappa = kappa;
    }

    /// Projected Jacobi for κ ⇒ iterations; velocities and bodies change at the end.
    fn solve(
        &mut self,
        dt: f64,
        kappa: &mut [f32],
        obstacles: &mut [&mut dyn Obstacle],
        density_goal: bool,
        tolerance: f64,
    ) -> u32 {
        let threads = self.settings().threads;
        let target = self.predict(dt, obstacles, density_goal);
        let scale = if density_goal { 1.0 / (dt * dt) } else { 1.0 / dt } as f32;
        let per_acceleration = if density_goal { dt * dt } else { dt } as f32;
        let unit = if density_goal { 1.0 } else { dt };
        let mut iterations = 0;
        loop {
            self.set_scalar(kappa);
            self.accelerations();
            let factors = self.factors();
            let mut errors = std::mem::take(&mut self.errors);
            let mut units = std::mem::take(&mut self.units);
            let (input, blocks, inverse) = (self.input(), &self.blocks, &self.inverse_diagonal);
            parallel::fill_blocks(
                threads,
                &self.bounds,
                (kappa, &mut units, &mut errors),
                |block, kappa, _, error| {
                    *error = 0.0;
                    let first = blocks[block].first as usize;
                    for_block(&blocks[block], &input, |visit| {
                        let k = visit.index - first;
                        if !density_goal && visit.length < MIN_NEIGHBOURS {
                            kappa[k] = 0.0;
                            return;
                        }
                        let rate = rate_of(visit, factors, true);
                        let residual = target[visit.index] + per_acceleration * rate;
                        *error += f64::from(residual.max(0.0));
                        let step = RELAXATION * residual * scale * inverse[visit.index];
                        kappa[k] = (kappa[k] + step).max(0.0);
                    });
                },
            );
            self.units = units;
            iterations += 1;
            let error = unit * errors.iter().sum::<f64>() / kappa.len() as f64;
            self.errors = errors;
            if density_goal {
                self.statistics.density_error = error;
            }
            if error <= tolerance {
                break;
            }
            if iterations >= self.settings().max_iterations {
                self.statistics.not_converged = true;
                break;
            }
        }
        self.target = target;
        // The error is that of the κ in the records; the last update is not used.
        for (kappa, record) in kappa.iter_mut().zip(&self.records) {
            *kappa = record[3];
        }
        self.accelerate(dt, obstacles);
        iterations
    }

    /// Velocities relative to a reference into the field, and the predicted δ − 1 (or dδ/dt) without pressure.
    fn predict(&mut self, dt: f64, obstacles: &[&mut dyn Obstacle], density_goal: bool) -> Vec<f32> {
        let threads = self.settings().threads;
        self.load_velocity(obstacles);
        let factors = self.factors();
        let mut target = std::mem::take(&mut self.target);
        target.resize(self.density.len(), 0.0);
        let (input, blocks, density) = (self.input(), &self.blocks, &self.density);
        parallel::fill_groups(threads, &self.bounds, &mut target, |block, target| {
            let first = blocks[block].first as usize;
            for_block(&blocks[block], &input, |visit| {
                let rate = rate_of(visit, factors, false);
                target[visit.index - first] =
                    if density_goal { density[visit.index] - 1.0 + dt as f32 * rate } else { rate };
            });
        });
        target
    }

    /// Velocities of fluid and boundary relative to that of the first particle, in single precision.
    pub(super) fn load_velocity(&mut self, obstacles: &[&mut dyn Obstacle]) {
        let reference = self.velocity[0];
        self.boundary_velocity(obstacles, reference);
        let velocity = &self.velocity;
        parallel::fill(self.settings().threads, &mut self.field, |first, field| {
            for (record, v) in field.iter_mut().zip(&velocity[first..]) {
                let v = (*v - reference).as_vec3();
                *record = [v.x, v.y, v.z, 0.0];
            }
        });
    }

    /// κ into the records.
    fn set_scalar(&mut self, kappa: &[f32]) {
        parallel::fill(self.settings().threads, &mut self.records, |first, records| {
            for (record, kappa) in records.iter_mut().zip(&kappa[first..]) {
                record[3] = *kappa;
            }
        });
    }

    /// Accelerations by κ into the field.
    fn accelerations(&mut self) {
        let factors = self.factors();
        let mut field = std::mem::take(&mut self.field);
        let (input, blocks) = (self.input(), &self.blocks);
        parallel::fill_groups(self.settings().threads, &self.bounds, &mut field, |block, field| {
            let first = blocks[block].first as usize;
            for_block(&blocks[block], &input, |visit| {
                field[visit.index - first] = acceleration_of(visit, factors);
            });
        });
        self.field = field;
    }

    /// Velocities change by the accelerations of κ over dt, and bodies receive the opposite impulses.
    fn accelerate(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let factors = self.factors();
        let mass = self.constants.mass;
        let mut velocity = std::mem::take(&mut self.velocity);
        let mut reactions = std::mem::take(&mut self.reactions);
        let mut units = std::mem::take(&mut self.units);
        let (input, blocks, boundary) = (self.input(), &self.blocks, &self.boundary);
        let bodies = obstacles.len();
        parallel::fill_blocks(
            self.settings().threads,
            &self.bounds,
            (&mut velocity, &mut units, &mut reactions),
            |block, velocity, _, reactions| {
                reactions.clear();
                reactions.resize(bodies, Reaction::default());
                let first = blocks[block].first as usize;
                for_block(&blocks[block], &input, |visit| {
                    let own = Lanes::splat(visit.scalar());
                    let mut sum = DVec3::ZERO;
                    visit.groups::<false>(|g| {
                        let weight = (own + g.scalar) * (g.t * g.t * g.t);
                        sum += sum_f64([weight * g.x[0], weight * g.x[1], weight * g.x[2]]);
                    });
                    let mut change = dt * f64::from(factors.pair) * sum;
                    visit.boundary(|b| {
                        let weight = visit.scalar() * b.volume * (b.t * b.t * b.t);
                        let pull = DVec3::from_array(b.x.map(|x| f64::from(weight * x)));
                        let kick = dt * f64::from(factors.slope) * pull;
                        change += kick;
                        reactions[boundary.owner[b.index] as usize]
                            .add(boundary.world[b.index], -mass * kick);
                    });
                    velocity[visit.index - first] += change;
                });
            },
        );
        self.velocity = velocity;
        self.units = units;
        self.reactions = reactions;
        self.apply_reactions(obstacles);
    }
}

/// δ and D of a particle.
#[inline(always)]
fn density_of(visit: &Visit<'_, '_>, f: Factors, own: f32, peak: f32) -> (f32, f32) {
    let (mut w, mut squares) = (Lanes::ZERO, Lanes::ZERO);
    let mut g = [Lanes::ZERO; 3];
    visit.groups::<false>(|n| {
        let t2 = n.t * n.t;
        let t3 = t2 * n.t;
        w = w + (t2 * t2) * (Lanes::splat(5.0) - Lanes::splat(4.0) * n.t);
        let r2 = n.x[0] * n.x[0] + n.x[1] * n.x[1] + n.x[2] * n.x[2];
        squares = squares + t3 * t3 * r2;
        g = [g[0] + t3 * n.x[0], g[1] + t3 * n.x[1], g[2] + t3 * n.x[2]];
    });
    let mut g = g.map(|g| f.pair * g.sum());
    let (mut wall, slope) = (0.0, f.slope);
    visit.boundary(|b| {
        let t3 = b.t * b.t * b.t;
        wall += b.volume * (t3 * b.t) * (5.0 - 4.0 * b.t);
        for c in 0..3 {
            g[c] += slope * b.volume * t3 * b.x[c];
        }
    });
    // Entries that fill groups up have t = 1 and count 1 each.
    let delta = own * (1.0 + (w.sum() - visit.filling() as f32)) + peak * wall;
    let squares = f.pair * f.pair * squares.sum();
    (delta, g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + squares)
}

/// −⅓ Σ V x·∇W of a particle.
#[inline(always)]
fn moment_of(visit: &Visit<'_, '_>, f: Factors) -> f32 {
    let mut sum = Lanes::ZERO;
    visit.groups::<false>(|n| {
        let r2 = n.x[0] * n.x[0] + n.x[1] * n.x[1] + n.x[2] * n.x[2];
        sum = sum + n.t * n.t * n.t * r2;
    });
    let mut wall = 0.0;
    visit.boundary(|b| {
        wall += b.volume * (b.t * b.t * b.t) * (b.x[0] * b.x[0] + b.x[1] * b.x[1] + b.x[2] * b.x[2]);
    });
    (f.pair * sum.sum() + f.slope * wall) / 3.0
}

/// dδ/dt of a particle by the field; boundary points are at rest if the field is that of accelerations.
#[inline(always)]
fn rate_of(visit: &Visit<'_, '_>, f: Factors, accelerations: bool) -> f32 {
    let own = visit.field();
    let mine = own.map(Lanes::splat);
    let mut sum = Lanes::ZERO;
    visit.groups::<true>(|n| {
        let t3 = n.t * n.t * n.t;
        let along = (mine[0] - n.field[0]) * n.x[0]
            + (mine[1] - n.field[1]) * n.x[1]
            + (mine[2] - n.field[2]) * n.x[2];
        sum = sum + t3 * along;
    });
    let mut wall = 0.0;
    visit.boundary(|b| {
        let rest = if accelerations { [0.0; 3] } else { b.field };
        let along: f32 = (0..3).map(|c| (own[c] - rest[c]) * b.x[c]).sum();
        wall += b.volume * (b.t * b.t * b.t) * along;
    });
    -f.pair * sum.sum() - f.slope * wall
}

/// Acceleration of a particle by the scalars.
#[inline(always)]
fn acceleration_of(visit: &Visit<'_, '_>, f: Factors) -> Record {
    let own = Lanes::splat(visit.scalar());
    let mut a = [Lanes::ZERO; 3];
    visit.groups::<false>(|n| {
        let weight = (own + n.scalar) * (n.t * n.t * n.t);
        a = [a[0] + weight * n.x[0], a[1] + weight * n.x[1], a[2] + weight * n.x[2]];
    });
    let mut a = a.map(|a| f.pair * a.sum());
    visit.boundary(|b| {
        let weight = f.slope * visit.scalar() * b.volume * (b.t * b.t * b.t);
        for c in 0..3 {
            a[c] += weight * b.x[c];
        }
    });
    [a[0], a[1], a[2], 0.0]
}
