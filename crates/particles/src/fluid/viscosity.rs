//! Forces between neighbours other than pressure: viscosity and cohesion.
//!
//! Viscosity acts along the line between two particles, so that angular momentum is conserved too (Weiler et al., "A
//! physically consistent implicit viscosity solver for SPH fluids", 2018):
//!
//!   a_i = ν B Σ_j s_ij (v_j − v_i)·x_ij x_ij,   s = t³/(|x|² + 0.01 h²),   B = 2/Σ_lattice s x² y².
//!
//! On a lattice, v_x(y) with v″ gives ½ v″ ν B Σ s x² y² = ν v″: the constant B makes that exact. Σ_j ν B s |x|² dt ≤ ¼ is
//! far from the limit of an explicit step; beyond, (1 − dt L) v = v* is solved by conjugate gradients (L is symmetric, all
//! masses being equal), and the velocities change by the pair forces at the solution: momentum is conserved to rounding.
//!
//! Cohesion (Becker & Teschner 2007): a_i = −k Σ_j V₀ W_ij x_ij.

use glam::DVec3;

use super::IncompressibleFluid;
use super::lanes::Lanes;
use super::neighbours::Record;
use super::pass::{for_block, sum_f64};
use crate::{Obstacle, Reaction, parallel};

/// Σ ν B s |x|² dt above which the step is implicit.
const EXPLICIT_LIMIT: f64 = 0.25;
/// Relative residual at which conjugate gradients end.
const TOLERANCE: f64 = 1e-6;

/// Coefficients of a pass, times dt.
#[derive(Clone, Copy)]
struct Coefficients {
    /// ν B dt between fluid particles.
    fluid: f32,
    /// The same with walls, per volume V₀.
    wall: f32,
    /// k V₀ W(0) dt.
    cohesion: f32,
    /// 0.01 h².
    soft: f32,
}

impl IncompressibleFluid {
    fn coefficients(&self, dt: f64) -> Coefficients {
        let settings = self.settings();
        let c = &self.constants;
        let b = 2.0 / (settings.rest_density * c.shear_moment);
        let h = c.kernel.support;
        Coefficients {
            fluid: (settings.viscosity * b * dt) as f32,
            wall: (settings.wall_viscosity * b * dt / c.volume) as f32,
            cohesion: (settings.cohesion * c.volume * c.kernel.peak() * dt) as f32,
            soft: (0.01 * h * h) as f32,
        }
    }

    /// Velocities change by viscosity and cohesion over dt; bodies receive the opposite impulses.
    pub(super) fn apply_pair_forces(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let settings = self.settings();
        if settings.viscosity == 0.0 && settings.wall_viscosity == 0.0 && settings.cohesion == 0.0 {
            return;
        }
        let c = self.coefficients(dt);
        self.load_velocity(obstacles);
        // Lattice estimate of Σ s |x|², with room for compression.
        let h = self.constants.kernel.support;
        let neighbours = 4.0 / 3.0 * std::f64::consts::PI * (h / self.settings().spacing).powi(3);
        let stiffness = f64::from(c.fluid.max(c.wall * self.constants.volume as f32)) * 0.1 * neighbours;
        if stiffness > EXPLICIT_LIMIT {
            self.solve_viscosity(c);
        }
        self.add_pair_forces(c, obstacles);
    }

    /// Field of velocities v* ⇒ field with (1 − dt L) v = v*, by conjugate gradients.
    fn solve_viscosity(&mut self, c: Coefficients) {
        let threads = self.settings().threads;
        let n = self.field.len();
        let [mut residual, mut direction, mut image] = std::mem::take(&mut self.conjugate);
        for vector in [&mut residual, &mut direction, &mut image] {
            vector.resize(n, [0.0; 4]);
        }
        let mut sums = std::mem::take(&mut self.sums);
        let goal = TOLERANCE * TOLERANCE * dot(threads, &self.field, &self.field, &mut sums);
        // r = v* − (1 − dt L) v*, started at v = v*; walls drive it, too.
        self.apply_operator(c, &mut image, true);
        combine(threads, &mut residual, &self.field, -1.0, &image);
        direction.copy_from_slice(&residual);
        let mut rho = dot(threads, &residual, &residual, &mut sums);
        let mut iterations = 0;
        let start = std::mem::take(&mut self.field);
        let mut solution = start;
        while rho > goal && iterations < self.settings().max_iterations {
            self.field = direction;
            self.apply_operator(c, &mut image, false);
            direction = std::mem::take(&mut self.field);
            let curvature = dot(threads, &direction, &image, &mut sums);
            if !(curvature > 0.0) {
                break;
            }
            let alpha = (rho / curvature) as f32;
            add(threads, &mut solution, alpha, &direction);
            add(threads, &mut residual, -alpha, &image);
            let next = dot(threads, &residual, &residual, &mut sums);
            let beta = (next / rho) as f32;
            rho = next;
            parallel::fill(threads, &mut direction, |first, part| {
                for (d, r) in part.iter_mut().zip(&residual[first..]) {
                    *d = [r[0] + beta * d[0], r[1] + beta * d[1], r[2] + beta * d[2], 0.0];
                }
            });
            iterations += 1;
        }
        self.statistics.not_converged |= rho > goal;
        self.statistics.viscosity_iterations += iterations;
        self.field = solution;
        self.conjugate = [residual, direction, image];
        self.sums = sums;
    }

    /// (1 − dt L) field; walls with their velocity, or at rest.
    fn apply_operator(&self, c: Coefficients, out: &mut [Record], moving_walls: bool) {
        let (input, blocks) = (self.input(), &self.blocks);
        parallel::fill_groups(self.settings().threads, &self.bounds, out, |block, out| {
            let first = blocks[block].first as usize;
            for_block(&blocks[block], &input, |visit| {
                let own = visit.field();
                let mut sum = [Lanes::ZERO; 3];
                visit.groups::<true>(|g| {
                    let w = viscous_weight(g, own, c.soft);
                    sum = [sum[0] + w * g.x[0], sum[1] + w * g.x[1], sum[2] + w * g.x[2]];
                });
                let mut result = [0, 1, 2].map(|k: usize| own[k] - c.fluid * sum[k].sum());
                visit.boundary(|b| {
                    let rest = if moving_walls { b.field } else { [0.0; 3] };
                    let w = c.wall * b.volume * wall_weight(b.x, b.t, own, rest, c.soft);
                    for k in 0..3 {
                        result[k] -= w * b.x[k];
                    }
                });
                out[visit.index - first] = [result[0], result[1], result[2], 0.0];
            });
        });
    }

    /// Velocities change by the pair forces at the velocities of the field.
    fn add_pair_forces(&mut self, c: Coefficients, obstacles: &mut [&mut dyn Obstacle]) {
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
                    let own = visit.field();
                    let mut change = DVec3::ZERO;
                    visit.groups::<true>(|g| {
                        let t2 = g.t * g.t;
                        let attraction = Lanes::splat(c.cohesion)
                            * (t2 * t2)
                            * (Lanes::splat(5.0) - Lanes::splat(4.0) * g.t);
                        let w = Lanes::splat(c.fluid) * viscous_weight(g, own, c.soft) - attraction;
                        change += sum_f64([w * g.x[0], w * g.x[1], w * g.x[2]]);
                    });
                    visit.boundary(|b| {
                        let w = c.wall * b.volume * wall_weight(b.x, b.t, own, b.field, c.soft);
                        let kick = DVec3::from_array(b.x.map(|x| f64::from(w * x)));
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

/// s (v_j − v_i)·x_ij.
#[inline(always)]
fn viscous_weight(g: &super::pass::Group, own: [f32; 3], soft: f32) -> Lanes {
    let r2 = g.x[0] * g.x[0] + g.x[1] * g.x[1] + g.x[2] * g.x[2];
    let along = (g.field[0] - Lanes::splat(own[0])) * g.x[0]
        + (g.field[1] - Lanes::splat(own[1])) * g.x[1]
        + (g.field[2] - Lanes::splat(own[2])) * g.x[2];
    (g.t * g.t * g.t) * along * (r2 + Lanes::splat(soft)).reciprocal()
}

/// The same of a boundary point with a velocity.
#[inline(always)]
fn wall_weight(x: [f32; 3], t: f32, own: [f32; 3], rest: [f32; 3], soft: f32) -> f32 {
    let r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    let along: f32 = (0..3).map(|k| (rest[k] - own[k]) * x[k]).sum();
    t * t * t * along / (r2 + soft)
}

/// Σ a·b, in blocks of fixed size.
fn dot(threads: usize, a: &[Record], b: &[Record], sums: &mut Vec<f64>) -> f64 {
    parallel::sum(threads, a.len(), sums, |range| {
        let product = |i: usize| (0..3).map(|k| f64::from(a[i][k]) * f64::from(b[i][k])).sum::<f64>();
        range.map(product).sum()
    })
}

/// out += s b.
fn add(threads: usize, out: &mut [Record], s: f32, b: &[Record]) {
    parallel::fill(threads, out, |first, part| {
        for (out, b) in part.iter_mut().zip(&b[first..]) {
            for k in 0..3 {
                out[k] += s * b[k];
            }
        }
    });
}

/// out = a + s b.
fn combine(threads: usize, out: &mut [Record], a: &[Record], s: f32, b: &[Record]) {
    parallel::fill(threads, out, |first, part| {
        for (k, out) in part.iter_mut().enumerate() {
            *out = std::array::from_fn(|c| a[first + k][c] + s * b[first + k][c]);
        }
    });
}
