//! Incompressible fluids: DFSPH (Bender & Koschier, "Divergence-free SPH for incompressible and viscous fluids", 2017).
//!
//! Relative density δ_i = Σ_j V₀ W_ij + Σ_b V_b W_ib over fluid and boundary, with the volume V₀ = 1/Σ W of a cubic
//! lattice: a lattice of the spacing d has δ = 1, and particles have the mass ρ₀ d³. Pressure is the multiplier κ ≥ 0 of
//! the constraint δ_i ≤ 1:
//!
//!   a_i = −Σ_j V₀ (κ_i + κ_j) ∇W_ij − κ_i Σ_b V_b ∇W_ib,
//!
//! with the opposite forces on j and b, so that momentum is conserved exactly. The work of κ under a uniform expansion is
//! that of the pressure p_i = ρ₀ κ_i m_i, m_i = −⅓ Σ V x·∇W over the neighbours of i. A sub-step:
//!
//! 1. particles are sorted by cells, neighbours listed, δ and the diagonal of the system computed;
//! 2. velocities are made divergence-free: dδ/dt ≤ 0 where δ would grow (κ_v);
//! 3. gravity, viscosity, cohesion;
//! 4. pressures are solved for that give δ ≤ 1 at the end of the sub-step (κ), positions move.
//!
//! Both solves are Jacobi iterations projected onto κ ≥ 0, started from the last κ (`solve`).

use glam::{DVec3, IVec3};

use super::Wendland;
use super::boundary::volumes;
use super::neighbours::{self, Block, MAX_IN_CELL, Period, Record, Sorted};
use super::pass::PassInput;
use crate::error::check;
use crate::{CellGrid, Obstacle, ParticleError, Reaction, parallel};

/// Settings of an incompressible fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSettings {
    /// ρ₀, kg/m³.
    pub rest_density: f64,
    /// Distance d of particles on a lattice, m.
    pub spacing: f64,
    /// Radius of the kernel in spacings, 1.5 to 3.
    pub support: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Dynamic viscosity, Pa s; implicit where an explicit step would not be stable.
    pub viscosity: f64,
    /// The same between fluid and walls, Pa s.
    pub wall_viscosity: f64,
    /// Pairwise attraction (Becker & Teschner 2007): acceleration per Σ V₀ W x, s⁻²; a measure of surface tension.
    pub cohesion: f64,
    /// Mean of max(δ − 1, 0) at which the density solve ends.
    pub max_density_error: f64,
    /// Mean of max(dδ/dt, 0) dt at which the divergence solve ends.
    pub max_divergence_error: f64,
    /// Iterations of a solve at most.
    pub max_iterations: u32,
    /// Way of the fastest particle in a sub-step at most, in spacings.
    pub cfl: f64,
    /// Longest sub-step, s.
    pub max_sub_step: f64,
    /// Sub-steps of a step at most; beyond, they become longer than `cfl` allows.
    pub max_sub_steps: u32,
    /// Cells of the support radius after which space repeats along each axis; 0: it does not.
    pub periodic_cells: [u32; 3],
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for FluidSettings {
    /// Water at a spacing of 2 cm.
    fn default() -> Self {
        Self {
            rest_density: 1000.0,
            spacing: 0.02,
            support: 2.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            viscosity: 1e-3,
            wall_viscosity: 0.0,
            cohesion: 0.0,
            max_density_error: 1e-3,
            max_divergence_error: 1e-4,
            max_iterations: 100,
            cfl: 0.4,
            max_sub_step: 5e-3,
            max_sub_steps: 1000,
            periodic_cells: [0; 3],
            threads: 1,
        }
    }
}

impl FluidSettings {
    fn check(&self) -> Result<(), ParticleError> {
        let positive = |name, x: f64| check(name, x, x > 0.0, "greater than zero");
        positive("rest_density", self.rest_density)?;
        positive("spacing", self.spacing)?;
        check("support", self.support, (1.5..=3.0).contains(&self.support), "1.5 to 3")?;
        check("gravity", self.gravity.length(), self.gravity.is_finite(), "finite")?;
        for (name, x) in [
            ("viscosity", self.viscosity),
            ("wall_viscosity", self.wall_viscosity),
            ("cohesion", self.cohesion),
        ] {
            check(name, x, x >= 0.0, "≥ 0")?;
        }
        positive("max_density_error", self.max_density_error)?;
        positive("max_divergence_error", self.max_divergence_error)?;
        positive("cfl", self.cfl)?;
        positive("max_sub_step", self.max_sub_step)?;
        let cells = f64::from(self.periodic_cells.iter().copied().filter(|&n| n > 0).min().unwrap_or(3));
        check("periodic_cells", cells, cells >= 3.0, "0, or at least 3")
    }
}

/// Counters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidStatistics {
    /// Sub-steps.
    pub sub_steps: u32,
    /// Iterations of all density solves.
    pub density_iterations: u32,
    /// Iterations of all divergence solves.
    pub divergence_iterations: u32,
    /// Iterations of all viscosity solves.
    pub viscosity_iterations: u32,
    /// Mean density error after the last solve.
    pub density_error: f64,
    /// A solve ended at its limit of iterations.
    pub not_converged: bool,
}

/// Boundary points of a body.
#[derive(Clone, Debug)]
struct BoundarySet {
    obstacle: usize,
    points: Vec<DVec3>,
    volume: Vec<f32>,
}

/// Boundary points of all bodies in their cells.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundaryPoints {
    pub grid: CellGrid,
    pub world: Vec<DVec3>,
    pub owner: Vec<u32>,
    pub records: Vec<Record>,
    pub velocity: Vec<Record>,
    poses: Vec<rattleback_geometry::Pose>,
}

/// Numbers that follow from the settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub kernel: Wendland,
    /// V₀, m³.
    pub volume: f64,
    /// Mass of a particle, kg.
    pub mass: f64,
    /// γ of boundary volumes.
    pub gamma: f64,
    /// Σ t³ x² y²/(r² + 0.01 h²) over the lattice, m².
    pub shear_moment: f64,
}

impl Constants {
    fn new(settings: &FluidSettings) -> Self {
        let d = settings.spacing;
        let kernel = Wendland { support: settings.support * d };
        let h = kernel.support;
        let (mut sum, mut plane, mut shear) = (0.0, 0.0, 0.0);
        for z in -4..=4_i32 {
            for y in -4..=4_i32 {
                for x in -4..=4_i32 {
                    let p = IVec3::new(x, y, z).as_dvec3() * d;
                    let r = p.length();
                    let t3 = (1.0 - r / h).max(0.0).powi(3);
                    sum += kernel.value(r);
                    shear += t3 * p.x * p.x * p.y * p.y / (r * r + 0.01 * h * h);
                    if z == 0 {
                        plane += kernel.value(r);
                    }
                }
            }
        }
        Self {
            kernel,
            volume: 1.0 / sum,
            mass: settings.rest_density * d.powi(3),
            gamma: plane / sum,
            shear_moment: shear,
        }
    }
}

/// An incompressible fluid.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Pose, Shape};
/// use rattleback_particles::fluid::{FluidSettings, IncompressibleFluid, sample_box_inside};
/// use rattleback_particles::RigidObstacle;
///
/// let half = DVec3::new(0.2, 0.1, 0.2);
/// let mut fluid = IncompressibleFluid::new(FluidSettings { spacing: 0.04, ..FluidSettings::default() })?;
/// fluid.add_box(DVec3::new(-0.2, -0.1, -0.2), DVec3::new(0.0, 0.1, 0.0), DVec3::ZERO)?;
/// // The tank: its inner walls are sampled; the shape itself is not asked for collisions.
/// fluid.add_boundary(0, sample_box_inside(half, 0.04)?)?;
/// let mut tank = RigidObstacle::fixed(Shape::cuboid(half)?, Pose::IDENTITY)?;
/// for _ in 0..10 {
///     fluid.step(0.01, &mut [&mut tank])?;
/// }
/// assert!(fluid.position().iter().all(|p| p.abs().cmple(half + 0.02).all()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IncompressibleFluid {
    settings: FluidSettings,
    pub(super) constants: Constants,
    pub(super) position: Vec<DVec3>,
    pub(super) velocity: Vec<DVec3>,
    id: Vec<u32>,
    next_id: u32,
    /// κ of the density solve and of the divergence solve, m²/s².
    pub(super) kappa: Vec<f32>,
    pub(super) kappa_v: Vec<f32>,
    pub(super) grid: CellGrid,
    pub(super) blocks: Vec<Block>,
    /// First particle of each block, and the end.
    pub(super) bounds: Vec<u32>,
    /// Positions relative to cells, and κ while it is solved for.
    pub(super) records: Vec<Record>,
    /// Velocities or accelerations.
    pub(super) field: Vec<Record>,
    /// δ.
    pub(super) density: Vec<f32>,
    /// δ − 1 or dδ/dt without the pressure that is being solved for.
    pub(super) target: Vec<f32>,
    /// Inverse diagonal.
    pub(super) inverse_diagonal: Vec<f32>,
    sets: Vec<BoundarySet>,
    pub(super) boundary: BoundaryPoints,
    pub(super) errors: Vec<f64>,
    pub(super) sums: Vec<f64>,
    pub(super) reactions: Vec<Vec<Reaction>>,
    pub(super) units: Vec<()>,
    marks: Vec<u64>,
    /// Workspace of the viscosity solve.
    pub(super) conjugate: [Vec<Record>; 3],
    pub(super) statistics: FluidStatistics,
    time: f64,
}

impl IncompressibleFluid {
    /// A fluid without particles.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(settings: FluidSettings) -> Result<Self, ParticleError> {
        settings.check()?;
        Ok(Self {
            constants: Constants::new(&settings),
            settings,
            position: Vec::new(),
            velocity: Vec::new(),
            id: Vec::new(),
            next_id: 0,
            kappa: Vec::new(),
            kappa_v: Vec::new(),
            grid: CellGrid::default(),
            blocks: Vec::new(),
            bounds: Vec::new(),
            records: Vec::new(),
            field: Vec::new(),
            density: Vec::new(),
            target: Vec::new(),
            inverse_diagonal: Vec::new(),
            sets: Vec::new(),
            boundary: BoundaryPoints::default(),
            errors: Vec::new(),
            sums: Vec::new(),
            reactions: Vec::new(),
            units: Vec::new(),
            marks: Vec::new(),
            conjugate: Default::default(),
            statistics: FluidStatistics::default(),
            time: 0.0,
        })
    }

    /// Settings.
    pub const fn settings(&self) -> &FluidSettings {
        &self.settings
    }

    /// Adds particles at one velocity; their ids follow each other.
    ///
    /// # Errors
    /// A number is not finite, or there are more than 2³¹ particles.
    pub fn add_particles(&mut self, positions: &[DVec3], velocity: DVec3) -> Result<(), ParticleError> {
        let count = self.position.len() as u64 + positions.len() as u64;
        if count > 1 << 31 {
            return Err(ParticleError::TooManyParticles { count, limit: 1 << 31 });
        }
        check("velocity", velocity.length(), velocity.is_finite(), "finite")?;
        if let Some(p) = positions.iter().find(|p| !p.is_finite()) {
            check("position", p.length(), false, "finite")?;
        }
        self.position.extend_from_slice(positions);
        let n = self.position.len();
        self.velocity.resize(n, velocity);
        self.id.extend(self.next_id..self.next_id + positions.len() as u32);
        self.next_id += positions.len() as u32;
        self.kappa.resize(n, 0.0);
        self.kappa_v.resize(n, 0.0);
        Ok(())
    }

    /// Fills an axis-aligned box with particles, half a spacing from its faces ⇒ their number.
    ///
    /// # Errors
    /// The corners are not in order, or would need more than 10⁸ particles.
    pub fn add_box(&mut self, low: DVec3, high: DVec3, velocity: DVec3) -> Result<usize, ParticleError> {
        let size = high - low;
        check("extent of the box", size.min_element(), size.min_element() > 0.0 && size.is_finite(), "> 0")?;
        let d = self.settings.spacing;
        let n = (size / d).map(|n| (n + 1e-6).floor().max(1.0));
        if n.element_product() > 1e8 {
            let count = n.element_product() as u64;
            return Err(ParticleError::TooManyParticles { count, limit: 100_000_000 });
        }
        let n = n.as_u64vec3();
        let mut points = Vec::with_capacity((n.x * n.y * n.z) as usize);
        for z in 0..n.z {
            for y in 0..n.y {
                for x in 0..n.x {
                    points.push(low + d * (DVec3::new(x as f64, y as f64, z as f64) + 0.5));
                }
            }
        }
        self.add_particles(&points, velocity)?;
        Ok(points.len())
    }

    /// Adds boundary points of a body, in the frame of its shape; `obstacle` is its index in every later step.
    ///
    /// # Errors
    /// A point is not finite.
    pub fn add_boundary(&mut self, obstacle: usize, points: Vec<DVec3>) -> Result<(), ParticleError> {
        let volume = volumes(&points, self.constants.kernel, self.constants.gamma)?;
        self.sets.push(BoundarySet { obstacle, points, volume });
        self.boundary.poses.clear();
        Ok(())
    }

    /// Number of particles.
    pub const fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Positions, m, in the order of cells.
    pub fn position(&self) -> &[DVec3] {
        &self.position
    }

    /// Velocities, m/s, in the same order.
    pub fn velocity(&self) -> &[DVec3] {
        &self.velocity
    }

    /// Velocities, to be changed, m/s.
    pub fn velocity_mut(&mut self) -> &mut [DVec3] {
        &mut self.velocity
    }

    /// Stable ids, in the same order.
    pub fn ids(&self) -> &[u32] {
        &self.id
    }

    /// Mass of a particle, kg.
    pub const fn particle_mass(&self) -> f64 {
        self.constants.mass
    }

    /// Relative density δ of a particle, at the start of the last sub-step.
    ///
    /// # Panics
    /// If there is no such index, or no step was made yet.
    pub fn relative_density(&self, index: usize) -> f64 {
        f64::from(self.density[index])
    }

    /// Counters of the last step.
    pub const fn statistics(&self) -> FluidStatistics {
        self.statistics
    }

    /// Time, s.
    pub const fn time(&self) -> f64 {
        self.time
    }

    /// Σ m v, kg m/s.
    pub fn momentum(&self) -> DVec3 {
        self.constants.mass * self.velocity.iter().sum::<DVec3>()
    }

    /// Bytes of memory in all arrays, boundary points not included.
    pub fn memory_bytes(&self) -> usize {
        let lists: usize = self.blocks.iter().map(Block::bytes).sum();
        24 * (self.position.capacity() + self.velocity.capacity())
            + 4 * (self.id.capacity() + self.kappa.capacity() + self.kappa_v.capacity())
            + 16 * (self.records.capacity() + self.field.capacity())
            + 4 * (self.density.capacity()
                + self.target.capacity()
                + self.inverse_diagonal.capacity()
                + self.bounds.capacity())
            + 8 * self.marks.capacity()
            + 16 * self.conjugate.iter().map(Vec::capacity).sum::<usize>()
            + self.grid.bytes()
            + lists
    }

    /// Advances the fluid by dt, in sub-steps, among bodies that do not move meanwhile and receive its forces as
    /// impulses.
    ///
    /// # Errors
    /// The step is not positive, a position or velocity is not finite, particles are compressed or spread beyond what
    /// neighbours can be listed for, or a boundary belongs to a body that is not there.
    pub fn step(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) -> Result<(), ParticleError> {
        check("step", dt, dt > 0.0, "finite and greater than zero")?;
        if let Some(set) = self.sets.iter().find(|set| set.obstacle >= obstacles.len()) {
            let reason = format!("boundary of body {} of {}", set.obstacle, obstacles.len());
            return Err(ParticleError::Obstacle { reason });
        }
        self.statistics = FluidStatistics::default();
        let mut left = dt;
        while left > 0.0 && !self.position.is_empty() {
            let fastest = self.velocity.iter().map(|v| v.length_squared()).fold(0.0, f64::max).sqrt();
            if !fastest.is_finite() {
                let value = fastest;
                return Err(ParticleError::InvalidCoefficient { name: "velocity", value, allowed: "finite" });
            }
            let speed = fastest + left.min(self.settings.max_sub_step) * self.settings.gravity.length();
            let allowed = (self.settings.cfl * self.settings.spacing / speed).min(self.settings.max_sub_step);
            let remaining = self.settings.max_sub_steps.saturating_sub(self.statistics.sub_steps).max(1);
            // Equal parts, so that no tiny one is left at the end.
            let parts = (left / allowed).ceil().clamp(1.0, f64::from(remaining));
            let h = left / parts;
            self.sub_step(h, obstacles)?;
            self.statistics.sub_steps += 1;
            left = if parts <= 1.0 { 0.0 } else { left - h };
        }
        self.time += dt;
        Ok(())
    }

    /// The stages of one sub-step.
    fn sub_step(&mut self, dt: f64, obstacles: &mut [&mut dyn Obstacle]) -> Result<(), ParticleError> {
        self.sort()?;
        self.place_boundary(obstacles)?;
        self.find_neighbours()?;
        self.compute_density();
        self.solve_divergence(dt, obstacles);
        let gravity = dt * self.settings.gravity;
        parallel::fill(self.settings.threads, &mut self.velocity, |_, velocity| {
            for v in velocity {
                *v += gravity;
            }
        });
        self.apply_pair_forces(dt, obstacles);
        self.solve_density(dt, obstacles);
        let velocity = &self.velocity;
        parallel::fill(self.settings.threads, &mut self.position, |first, position| {
            for (p, v) in position.iter_mut().zip(&velocity[first..]) {
                *p += dt * *v;
            }
        });
        Ok(())
    }

    pub(super) fn period(&self) -> Period {
        self.settings.periodic_cells.map(|n| n.min(1 << 20).cast_signed())
    }

    /// Sorts all particles by cells.
    fn sort(&mut self) -> Result<(), ParticleError> {
        let h = self.constants.kernel.support;
        for axis in 0..3 {
            let length = f64::from(self.settings.periodic_cells[axis]) * h;
            if length > 0.0 {
                for p in &mut self.position {
                    // Rounding may give the length itself, which belongs to the next period.
                    let x = p[axis].rem_euclid(length);
                    p[axis] = if x < length { x } else { 0.0 };
                }
            }
        }
        self.grid.build(&self.position, h)?;
        self.grid.permute(&mut self.position, &mut self.marks);
        self.grid.permute(&mut self.velocity, &mut self.marks);
        self.grid.permute(&mut self.id, &mut self.marks);
        self.grid.permute(&mut self.kappa, &mut self.marks);
        self.grid.permute(&mut self.kappa_v, &mut self.marks);
        Ok(())
    }

    /// Boundary points at the poses of their bodies, with velocities.
    fn place_boundary(&mut self, obstacles: &[&mut dyn Obstacle]) -> Result<(), ParticleError> {
        let b = &mut self.boundary;
        let h = self.constants.kernel.support;
        let moved = b.poses.len() != obstacles.len()
            || self.sets.iter().any(|set| b.poses[set.obstacle] != obstacles[set.obstacle].pose());
        if moved {
            b.poses.clear();
            b.poses.extend(obstacles.iter().map(|o| o.pose()));
            b.world.clear();
            b.owner.clear();
            b.records.clear();
            let mut volume = Vec::new();
            for set in &self.sets {
                let pose = b.poses[set.obstacle];
                b.world.extend(set.points.iter().map(|&p| pose.point(p)));
                b.owner.resize(b.world.len(), set.obstacle as u32);
                volume.extend_from_slice(&set.volume);
            }
            b.grid.build(&b.world, h)?;
            b.grid.permute(&mut b.world, &mut self.marks);
            b.grid.permute(&mut b.owner, &mut self.marks);
            b.grid.permute(&mut volume, &mut self.marks);
            for (p, v) in b.world.iter().zip(volume) {
                let mut record = neighbours::local(&b.grid, *p);
                record[3] = v;
                b.records.push(record);
            }
            b.velocity.resize(b.world.len(), [0.0; 4]);
        }
        Ok(())
    }

    /// Velocities of boundary points relative to a reference.
    pub(super) fn boundary_velocity(&mut self, obstacles: &[&mut dyn Obstacle], reference: DVec3) {
        let b = &mut self.boundary;
        for i in 0..b.world.len() {
            let v = (obstacles[b.owner[i] as usize].velocity_at(b.world[i]) - reference).as_vec3();
            b.velocity[i] = [v.x, v.y, v.z, 0.0];
        }
    }

    /// Lists of neighbours.
    fn find_neighbours(&mut self) -> Result<(), ParticleError> {
        let n = self.position.len();
        let (grid, position) = (&self.grid, &self.position);
        self.records.resize(n, [0.0; 4]);
        self.field.resize(n, [0.0; 4]);
        self.density.resize(n, 0.0);
        self.inverse_diagonal.resize(n, 0.0);
        self.units.resize(n, ());
        parallel::fill(self.settings.threads, &mut self.records, |first, records| {
            for (record, &p) in records.iter_mut().zip(&position[first..]) {
                *record = neighbours::local(grid, p);
            }
        });
        neighbours::divide(&mut self.blocks, grid, position);
        self.bounds.clear();
        self.bounds.extend(self.blocks.iter().map(|block| block.first));
        self.bounds.push(n as u32);
        self.errors.resize(self.blocks.len(), 0.0);
        self.reactions.resize(self.blocks.len(), Vec::new());
        let fluid = Sorted { grid: &self.grid, records: &self.records };
        let boundary = Sorted { grid: &self.boundary.grid, records: &self.boundary.records };
        let (threads, h) = (self.settings.threads, self.constants.kernel.support);
        let period = self.period();
        debug_assert!(MAX_IN_CELL < usize::from(u16::MAX));
        neighbours::build(threads, &mut self.blocks, &fluid, &boundary, h, period)
    }

    /// What passes over neighbours read.
    pub(super) fn input(&self) -> PassInput<'_> {
        PassInput {
            fluid: Sorted { grid: &self.grid, records: &self.records },
            boundary: Sorted { grid: &self.boundary.grid, records: &self.boundary.records },
            field: &self.field,
            boundary_field: &self.boundary.velocity,
            support: self.constants.kernel.support as f32,
            period: self.period(),
        }
    }

    /// Applies the reactions of all blocks to their bodies, in the order of blocks.
    pub(super) fn apply_reactions(&mut self, obstacles: &mut [&mut dyn Obstacle]) {
        if self.boundary.world.is_empty() {
            return;
        }
        for (body, obstacle) in obstacles.iter_mut().enumerate() {
            let sum = self.reactions.iter().filter_map(|block| block.get(body));
            sum.fold(Reaction::default(), |sum, reaction| sum + *reaction).apply(&mut **obstacle);
        }
    }
}
