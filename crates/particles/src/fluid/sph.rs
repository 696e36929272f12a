//! Smoothed particle hydrodynamics of the source: explicit forces, pressures by an equation of state.
//!
//!   ρ_j = Σ_i m W_poly6(r_ij),   p = k (ρ − ρ₀) for a gas, p = k_b ((ρ/ρ₀)⁷ − 1) for a liquid,
//!   a_j = −(1/ρ_j) Σ_i m (p_i + p_j)/(2 ρ_i) ∇W_spiky + (μ/ρ_j) Σ_i m (v_i − v_j)/ρ_i ∇²W_viscosity + g.
//!
//! The force of i on j is −m² (p_i + p_j)/(2 ρ_i ρ_j) ∇W, opposite for i: momentum is conserved. Sub-steps obey
//! Δt ≤ k h/|v_a| for each axis, 0.4 h/c with the speed of sound c² = dp/dρ, and h² ρ₀/(8 μ).
//!
//! Particles near a plane see mirror images of the others (ghosts) with mirrored normal velocity; in periodic space they
//! see shifted ones. Ghosts count in sums only.

use glam::DVec3;
use rattleback_geometry::hierarchy::Scratch;

use super::Kernel;
use crate::collision::swept_particle_shape;
use crate::error::check;
use crate::{CellGrid, Obstacle, ParticleError};

/// Equation of state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PressureLaw {
    /// p = k (ρ − ρ₀), k in m²/s².
    Gas {
        /// k, m²/s².
        stiffness: f64,
    },
    /// p = k_b ((ρ/ρ₀)⁷ − 1), k_b in Pa.
    Liquid {
        /// k_b, Pa.
        stiffness: f64,
    },
}

impl PressureLaw {
    /// A liquid that is compressed by `compression` percent at a speed: k_b = ρ₀ v²/(7 c/100).
    pub fn liquid(rest_density: f64, max_speed: f64, compression: f64) -> Self {
        Self::Liquid { stiffness: rest_density * max_speed * max_speed / (7.0 * compression / 100.0) }
    }

    /// (ρ, ρ₀) ⇒ p, Pa.
    pub fn pressure(&self, density: f64, rest_density: f64) -> f64 {
        match *self {
            Self::Gas { stiffness } => stiffness * (density - rest_density),
            Self::Liquid { stiffness } => stiffness * ((density / rest_density).powi(7) - 1.0),
        }
    }

    /// c² at rest density, m²/s².
    fn sound_squared(&self, rest_density: f64) -> f64 {
        match *self {
            Self::Gas { stiffness } => stiffness,
            Self::Liquid { stiffness } => 7.0 * stiffness / rest_density,
        }
    }
}

/// Images of particles beyond a boundary.
#[derive(Clone, Debug, PartialEq)]
pub enum Ghosts {
    /// The fluid fills n·p ≥ offset; n of length 1.
    Plane {
        /// Normal into the fluid.
        normal: DVec3,
        /// Offset, m.
        offset: f64,
    },
    /// Space repeats after these lengths, at least 2 h each, m; positions are in [0, length).
    Periodic(
        /// Lengths, m.
        DVec3,
    ),
}

/// Settings of a fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct SphSettings {
    /// ρ₀, kg/m³.
    pub rest_density: f64,
    /// h, m.
    pub support: f64,
    /// Mass of a particle, kg.
    pub mass: f64,
    /// μ, Pa s.
    pub viscosity: f64,
    /// Equation of state.
    pub pressure: PressureLaw,
    /// No attraction below rest density.
    pub clamp_negative_pressure: bool,
    /// An isolated particle has rest density.
    pub isolated_at_rest_density: bool,
    /// External acceleration, m/s².
    pub gravity: DVec3,
    /// k of the time step.
    pub courant: f64,
    /// Kernels of density, pressure and viscosity.
    pub kernels: [Kernel; 3],
    /// Images beyond boundaries.
    pub ghosts: Vec<Ghosts>,
}

impl Default for SphSettings {
    /// Water at a spacing of 5 cm.
    fn default() -> Self {
        Self {
            rest_density: 1000.0,
            support: 0.1,
            mass: 0.125,
            viscosity: 1.0,
            pressure: PressureLaw::Gas { stiffness: 400.0 },
            clamp_negative_pressure: false,
            isolated_at_rest_density: true,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            courant: 1.0,
            kernels: [Kernel::Poly6, Kernel::Spiky, Kernel::Viscosity],
            ghosts: Vec::new(),
        }
    }
}

/// Counters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SphStatistics {
    /// Sub-steps.
    pub sub_steps: u32,
    /// Least and largest density, kg/m³.
    pub density: [f64; 2],
    /// Neighbours of a particle on average.
    pub neighbours: f64,
    /// Limits of the last sub-step: speed, sound, viscosity, s.
    pub limits: [f64; 3],
}

/// A weakly compressible fluid.
#[derive(Clone, Debug)]
pub struct SphFluid {
    settings: SphSettings,
    /// Positions, m.
    pub position: Vec<DVec3>,
    /// Velocities, m/s.
    pub velocity: Vec<DVec3>,
    density: Vec<f64>,
    pressure: Vec<f64>,
    acceleration: Vec<DVec3>,
    grid: CellGrid,
    /// Positions of particles and ghosts, velocities of ghosts, and what they are images of.
    all: Vec<DVec3>,
    all_velocity: Vec<DVec3>,
    image_of: Vec<u32>,
    /// Starts of lists of neighbours, and the lists.
    begin: Vec<u32>,
    list: Vec<u32>,
    statistics: SphStatistics,
}

impl SphFluid {
    /// Particles at positions with velocities.
    ///
    /// # Errors
    /// A setting is out of range, or the numbers of positions and velocities differ.
    pub fn new(
        settings: SphSettings,
        position: Vec<DVec3>,
        velocity: Vec<DVec3>,
    ) -> Result<Self, ParticleError> {
        for (name, x) in [
            ("rest_density", settings.rest_density),
            ("support", settings.support),
            ("mass", settings.mass),
            ("courant", settings.courant),
        ] {
            check(name, x, x > 0.0, "greater than zero")?;
        }
        check("viscosity", settings.viscosity, settings.viscosity >= 0.0, "≥ 0")?;
        let (PressureLaw::Gas { stiffness } | PressureLaw::Liquid { stiffness }) = settings.pressure;
        check("stiffness", stiffness, stiffness >= 0.0, "≥ 0")?;
        if let Some(Ghosts::Periodic(length)) =
            settings.ghosts.iter().find(|g| matches!(g, Ghosts::Periodic(_)))
        {
            let least = length.min_element();
            check("period", least, least >= 2.0 * settings.support, "at least two supports")?;
        }
        let n = position.len();
        check("number of velocities", velocity.len() as f64, velocity.len() == n, "that of positions")?;
        Ok(Self {
            settings,
            position,
            velocity,
            density: vec![0.0; n],
            pressure: vec![0.0; n],
            acceleration: vec![DVec3::ZERO; n],
            grid: CellGrid::default(),
            all: Vec::new(),
            all_velocity: Vec::new(),
            image_of: Vec::new(),
            begin: Vec::new(),
            list: Vec::new(),
            statistics: SphStatistics::default(),
        })
    }

    /// Densities of the last evaluation, kg/m³.
    pub fn density(&self) -> &[f64] {
        &self.density
    }

    /// Pressures of the last evaluation, Pa.
    pub fn pressure(&self) -> &[f64] {
        &self.pressure
    }

    /// Accelerations of the last evaluation, m/s².
    pub fn acceleration(&self) -> &[DVec3] {
        &self.acceleration
    }

    /// Neighbours of a particle in the last evaluation; numbers from the number of particles on are ghosts.
    ///
    /// # Panics
    /// If there is no such particle or nothing was evaluated yet.
    pub fn neighbours(&self, index: usize) -> &[u32] {
        &self.list[self.begin[index] as usize..self.begin[index + 1] as usize]
    }

    /// Counters of the last step.
    pub const fn statistics(&self) -> SphStatistics {
        self.statistics
    }

    /// Mirror and periodic images within reach.
    fn make_ghosts(&mut self) {
        let h = self.settings.support;
        self.all.clone_from(&self.position);
        self.all_velocity.clone_from(&self.velocity);
        self.image_of.clear();
        self.image_of.extend(0..self.position.len() as u32);
        for ghosts in &self.settings.ghosts {
            // Images of images fill the corners.
            match *ghosts {
                Ghosts::Plane { normal, offset } => {
                    for i in 0..self.all.len() {
                        let distance = normal.dot(self.all[i]) - offset;
                        if (0.0..h).contains(&distance) {
                            let v = self.all_velocity[i];
                            self.all.push(self.all[i] - 2.0 * distance * normal);
                            self.all_velocity.push(v - 2.0 * v.dot(normal) * normal);
                            self.image_of.push(self.image_of[i]);
                        }
                    }
                }
                Ghosts::Periodic(length) => {
                    for axis in 0..3 {
                        for i in 0..self.all.len() {
                            let x = self.all[i][axis];
                            let mut shift = DVec3::ZERO;
                            if x < h {
                                shift[axis] = length[axis];
                            } else if x >= length[axis] - h {
                                shift[axis] = -length[axis];
                            } else {
                                continue;
                            }
                            self.all.push(self.all[i] + shift);
                            self.all_velocity.push(self.all_velocity[i]);
                            self.image_of.push(self.image_of[i]);
                        }
                    }
                }
            }
        }
    }

    /// Densities, pressures and accelerations at the present state.
    ///
    /// # Errors
    /// Positions are not finite or too far apart.
    pub fn evaluate(&mut self) -> Result<(), ParticleError> {
        self.make_ghosts();
        let s = &self.settings;
        let (h, m) = (s.support, s.mass);
        self.grid.build(&self.all, h)?;
        self.begin.clear();
        self.list.clear();
        self.begin.push(0);
        for (i, &p) in self.position.iter().enumerate() {
            let list = &mut self.list;
            self.grid.points_within(&self.all, p, h, |j| {
                if j != i {
                    list.push(j as u32);
                }
            });
            self.begin.push(self.list.len() as u32);
        }
        let n = self.position.len();
        for i in 0..n {
            let neighbours = &self.list[self.begin[i] as usize..self.begin[i + 1] as usize];
            let mut density = m * s.kernels[0].value(0.0, h).min(f64::MAX);
            for &j in neighbours {
                density += m * s.kernels[0].value(self.position[i].distance(self.all[j as usize]), h);
            }
            let isolated = neighbours.is_empty() && s.isolated_at_rest_density;
            if isolated || density < 1e-9 * s.rest_density {
                density = s.rest_density;
            }
            let pressure = s.pressure.pressure(density, s.rest_density);
            self.density[i] = density;
            self.pressure[i] = if s.clamp_negative_pressure { pressure.max(0.0) } else { pressure };
        }
        for j in 0..n {
            let mut force = DVec3::ZERO;
            for &other in &self.list[self.begin[j] as usize..self.begin[j + 1] as usize] {
                let (i, other) = (self.image_of[other as usize] as usize, other as usize);
                let x = self.position[j] - self.all[other];
                let r = x.length();
                let volume = m / self.density[i];
                let mean = 0.5 * (self.pressure[i] + self.pressure[j]);
                let gradient = s.kernels[1].slope(r, h) * x.normalize_or_zero();
                let dv = self.all_velocity[other] - self.velocity[j];
                force -= volume * mean * gradient;
                force += s.viscosity * volume * s.kernels[2].laplacian(r, h).max(f64::MIN) * dv;
            }
            self.acceleration[j] = force / self.density[j] + s.gravity;
        }
        self.statistics.neighbours = self.list.len() as f64 / n.max(1) as f64;
        let low = self.density.iter().copied().fold(f64::INFINITY, f64::min);
        self.statistics.density = [low, self.density.iter().copied().fold(0.0, f64::max)];
        Ok(())
    }

    /// Longest stable sub-step within an interval, s.
    pub fn time_step(&mut self, interval: f64) -> f64 {
        let s = &self.settings;
        let fastest = self.velocity.iter().fold(DVec3::ZERO, |most, v| most.max(v.abs())).max_element();
        let sound = s.pressure.sound_squared(s.rest_density).sqrt();
        let limits = [
            s.courant * s.support / fastest,
            0.4 * s.support / sound,
            0.125 * s.support * s.support * s.rest_density / s.viscosity,
        ];
        self.statistics.limits = limits;
        limits.into_iter().fold(interval, f64::min)
    }

    /// Advances the fluid by dt in sub-steps; particles that hit a body lose their velocity towards it, and the body
    /// receives the impulse.
    ///
    /// # Errors
    /// The step is not positive, or the state becomes infinite.
    pub fn step(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) -> Result<(), ParticleError> {
        check("step", dt, dt > 0.0, "greater than zero")?;
        self.statistics.sub_steps = 0;
        let mut left = dt;
        let mut scratch = Scratch::default();
        while left > 0.0 {
            let allowed = self.time_step(left).max(1e-6 * dt);
            let h = left / (left / allowed).ceil().max(1.0);
            self.evaluate()?;
            for i in 0..self.position.len() {
                self.velocity[i] += h * self.acceleration[i];
                let (start, mut d) = (self.position[i], h * self.velocity[i]);
                for obstacle in obstacles.iter_mut() {
                    let pose = obstacle.pose();
                    let (c, along) = (pose.inverse_point(start), pose.inverse_vector(d));
                    let Some(hit) = swept_particle_shape(c, along, 0.0, obstacle.shape(), &mut scratch)
                    else {
                        continue;
                    };
                    let (normal, point) = (pose.vector(hit.normal), pose.point(hit.point));
                    let towards = (self.velocity[i] - obstacle.velocity_at(point)).dot(normal).min(0.0);
                    let w = 1.0 / self.settings.mass + normal.dot(obstacle.inverse_mass_at(point) * normal);
                    let impulse = -towards / w * normal;
                    self.velocity[i] += impulse / self.settings.mass;
                    obstacle.apply_impulse(point, -impulse);
                    // The part of the way beyond the surface is taken away.
                    d -= (1.0 - hit.time) * d.dot(normal).min(0.0) * normal;
                }
                self.position[i] += d;
                if !self.position[i].is_finite() {
                    let (name, allowed) =
                        ("position", "finite; the sub-step is too long or the fluid too stiff");
                    return Err(ParticleError::InvalidCoefficient { name, value: f64::NAN, allowed });
                }
            }
            self.statistics.sub_steps += 1;
            left = if h >= left { 0.0 } else { left - h };
        }
        Ok(())
    }
}
