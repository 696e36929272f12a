//! Integration of all or some particles over a part of the interval.
//!
//! * symplectic Euler: v′ = v + h a(p, v), p′ = p + h v′;
//! * velocity Verlet: p′ = p + h v + ½ h² a, v* = v + h a, a′ = a(p′, v*), v′ = v + ½ h (a + a′);
//! * Runge–Kutta 4.
//!
//! Pinned particles do not move.

use glam::DVec3;

use crate::force::{ForceView, Forces};
use crate::{ParticleError, Particles};

/// Method of integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// First order, one evaluation; stable for ω h < 2.
    SymplecticEuler,
    /// Second order, two evaluations.
    #[default]
    VelocityVerlet,
    /// Fourth order, four evaluations.
    RungeKutta4,
}

/// Workspace of the integrator.
#[derive(Clone, Debug, Default)]
pub(super) struct Integration {
    force: Vec<DVec3>,
    position: Vec<DVec3>,
    velocity: Vec<DVec3>,
    /// Accelerations of the stages.
    stages: [Vec<DVec3>; 4],
    /// Velocities of the stages.
    speeds: [Vec<DVec3>; 4],
    /// Evaluations of all forces so far.
    pub evaluations: u64,
}

/// Particles to integrate: their indices with the inverse list, or all.
pub(super) type Subset<'a> = Option<(&'a [u32], &'a [u32])>;

impl Integration {
    /// Accelerations at a state, with constant extra forces on the particles in view.
    #[allow(clippy::too_many_arguments, reason = "the parts of one evaluation")]
    fn evaluate(
        &mut self,
        stage: usize,
        particles: &Particles,
        forces: &mut Forces,
        time: f64,
        state: Option<(&[DVec3], &[DVec3])>,
        subset: Subset<'_>,
        extra: Option<&[DVec3]>,
        threads: usize,
    ) -> Result<(), ParticleError> {
        self.evaluations += 1;
        let (position, velocity) = state.unwrap_or((&self.position, &self.velocity));
        let n = position.len();
        self.force.resize(n, DVec3::ZERO);
        let view = match subset {
            None => ForceView::at(particles, time, position, velocity),
            Some(subset) => ForceView::of(particles, time, position, velocity, subset),
        };
        forces.evaluate(&view, threads, &mut self.force)?;
        let out = &mut self.stages[stage];
        out.resize(n, DVec3::ZERO);
        for k in 0..n {
            let external = extra.map_or(DVec3::ZERO, |extra| extra[k]);
            out[k] = particles.inverse_mass(view.index(k)) * (self.force[k] + external);
        }
        Ok(())
    }

    /// (p, v)(t) → (p, v)(t + h) of the subset, in place; unchanged on an error.
    #[allow(clippy::too_many_arguments, reason = "the parts of one step")]
    pub(super) fn step(
        &mut self,
        method: Method,
        particles: &Particles,
        forces: &mut Forces,
        (time, h): (f64, f64),
        (p, v): (&mut [DVec3], &mut [DVec3]),
        subset: Subset<'_>,
        extra: Option<&[DVec3]>,
        threads: usize,
    ) -> Result<(), ParticleError> {
        let n = p.len();
        let moves = |k: usize| {
            let index = subset.map_or(k, |(indices, _)| indices[k] as usize);
            !particles.traits[index].pinned
        };
        self.evaluate(0, particles, forces, time, Some((p, v)), subset, extra, threads)?;
        match method {
            Method::SymplecticEuler => {
                for k in (0..n).filter(|&k| moves(k)) {
                    v[k] += h * self.stages[0][k];
                    p[k] += h * v[k];
                }
            }
            Method::VelocityVerlet => {
                self.position.clear();
                self.velocity.clear();
                for k in 0..n {
                    let (a, speed) = (self.stages[0][k], if moves(k) { v[k] } else { DVec3::ZERO });
                    self.position.push(p[k] + h * speed + 0.5 * h * h * a);
                    self.velocity.push(v[k] + h * a);
                }
                self.evaluate(1, particles, forces, time + h, None, subset, extra, threads)?;
                for k in (0..n).filter(|&k| moves(k)) {
                    p[k] = self.position[k];
                    v[k] += 0.5 * h * (self.stages[0][k] + self.stages[1][k]);
                }
            }
            Method::RungeKutta4 => {
                for (stage, part) in [(1, 0.5), (2, 0.5), (3, 1.0)] {
                    self.speeds[stage - 1].clear();
                    for k in 0..n {
                        let speed = if stage == 1 { v[k] } else { self.velocity[k] };
                        self.speeds[stage - 1].push(if moves(k) { speed } else { DVec3::ZERO });
                    }
                    self.position.clear();
                    self.velocity.clear();
                    for k in 0..n {
                        self.position.push(p[k] + part * h * self.speeds[stage - 1][k]);
                        self.velocity.push(v[k] + part * h * self.stages[stage - 1][k]);
                    }
                    self.evaluate(stage, particles, forces, time + part * h, None, subset, extra, threads)?;
                }
                for k in (0..n).filter(|&k| moves(k)) {
                    let [a1, a2, a3, a4] = [0, 1, 2, 3].map(|stage: usize| self.stages[stage][k]);
                    let [v1, v2, v3] = [0, 1, 2].map(|stage: usize| self.speeds[stage][k]);
                    p[k] += h / 6.0 * (v1 + 2.0 * (v2 + v3) + self.velocity[k]);
                    v[k] += h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4);
                }
            }
        }
        Ok(())
    }
}
