//! One part passes one gate.
//!
//! The part lies on the track in a stable pose, at a random heading and a random distance from the middle, in front of the gate. It has passed when its centre of
//! mass is beyond the gate by twice its size and it lies within 10° of a stable face without turning (|ω| · size < 2 cm/s); it is rejected when its centre of mass is below the track by its size,
//! and stuck when neither happens in time.

use super::kind::{Gate, GateError, Transport};
use super::matrix::{GateMatrix, Passage};
use crate::contact::Random;
use crate::poses::{Landscape, Part, wilson};
use crate::queue::in_turn;
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, Properties, Registry, World};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Earth, m/s².
const GRAVITY: f64 = 9.81;

/// Circumstances of passages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackSettings {
    /// What moves parts.
    pub transport: Transport,
    /// Width of the track, m.
    pub width: f64,
    /// Largest distance of a part from the middle of the track at the start, m.
    pub offset: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Sectors of the heading that are told apart; 1 for none.
    pub headings: usize,
    /// Name of the simulator.
    pub simulator: String,
    /// Time step, s.
    pub dt: f64,
    /// A passage that takes longer is stuck, s.
    pub longest: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Confidence of intervals.
    pub confidence: f64,
}

impl TrackSettings {
    /// For parts of a size: a belt of 20 cm/s, four sizes wide.
    pub fn for_size(size: f64) -> Self {
        Self {
            transport: Transport::Conveyor { speed: 0.2 },
            width: 4.0 * size,
            offset: 0.5 * size,
            friction: 0.3,
            restitution: 0.3,
            headings: 1,
            // Not `realtime`: its soft contacts let a belt draw parts of a few millimetres through a bar.
            simulator: "impulse".into(),
            dt: 0.005,
            longest: 10.0,
            seed: 1,
            confidence: 0.95,
        }
    }

    fn check(&self) -> Result<(), GateError> {
        let check = |what, value: f64, ok: bool, allowed| {
            if value.is_finite() && ok { Ok(()) } else { Err(GateError::Range { what, allowed, value }) }
        };
        self.transport.check()?;
        check("width of the track", self.width, self.width > 0.0, "above 0")?;
        check(
            "distance from the middle",
            self.offset,
            self.offset >= 0.0 && self.offset < 0.5 * self.width,
            "from 0 to less than half the width of the track",
        )?;
        check("friction", self.friction, self.friction >= 0.0, "≥ 0")?;
        check("restitution", self.restitution, (0.0..=1.0).contains(&self.restitution), "from 0 to 1")?;
        check("number of headings", self.headings as f64, (1..=72).contains(&self.headings), "from 1 to 72")?;
        check("time step", self.dt, self.dt > 0.0 && self.dt <= 0.1, "above 0 and at most 0.1 s")?;
        check(
            "time limit",
            self.longest,
            self.longest > 0.0 && self.longest <= 1e4,
            "above 0 and at most 10000 s",
        )?;
        check(
            "confidence",
            self.confidence,
            self.confidence > 0.0 && self.confidence < 1.0,
            "between 0 and 1",
        )
    }
}

/// A track with a gate, ready for parts.
pub struct GateTrack<'a> {
    part: &'a Part,
    landscape: &'a Landscape,
    settings: &'a TrackSettings,
    registry: &'a Registry,
    gate: Gate,
    world: World,
    body: BodyId,
}

impl<'a> GateTrack<'a> {
    /// (part, its poses, gate, circumstances) ⇒ track.
    pub fn new(
        part: &'a Part,
        landscape: &'a Landscape,
        gate: Gate,
        settings: &'a TrackSettings,
        registry: &'a Registry,
    ) -> Result<Self, GateError> {
        gate.check()?;
        settings.check()?;
        let refused = |error: &dyn std::fmt::Display| GateError::Simulator(error.to_string());
        let (world, body) = world(part, gate, settings).map_err(|error| refused(&error))?;
        registry
            .simulators
            .make(&settings.simulator, &Properties::default())
            .map_err(|error| refused(&error))?;
        Ok(Self { part, landscape, settings, registry, gate, world, body })
    }

    /// Number of states: poses times sectors of headings.
    pub fn states(&self) -> usize {
        self.landscape.poses.len() * self.settings.headings
    }

    /// Matrix of the gate by so many passages from each state, the same for any number of threads.
    ///
    /// # Errors
    /// All passages failed.
    pub fn matrix(&self, trials: usize, threads: usize) -> Result<GateMatrix, GateError> {
        let states = self.states();
        let passages = in_turn(threads, states * trials, |place| {
            match catch_unwind(AssertUnwindSafe(|| self.pass(place / trials, place % trials))) {
                Ok(passage) => passage.map_err(|error| error.to_string()),
                Err(_) => Err("the simulator panicked".into()),
            }
        });
        let mut counts = vec![vec![0.0; states + 2]; states];
        let mut first = None;
        for (place, passage) in passages.into_iter().enumerate() {
            match passage {
                Ok(passage) => counts[place / trials][passage.column(states)] += 1.0,
                Err(error) => first = first.or(Some(error)),
            }
        }
        if let (Some(error), true) = (first, counts.iter().all(|row| row.iter().sum::<f64>() == 0.0)) {
            return Err(GateError::Simulator(error));
        }
        let interval = |row: &Vec<f64>| {
            let total: f64 = row.iter().sum();
            row.iter().map(|count| wilson(*count, total, self.settings.confidence)).collect()
        };
        let intervals = counts.iter().map(interval).collect();
        Ok(GateMatrix { gate: self.gate, counts, intervals })
    }

    /// (state, number of the trial) ⇒ how the part leaves.
    pub fn pass(&self, state: usize, trial: usize) -> Result<Passage, rattleback_dynamics::Error> {
        let (settings, size) = (self.settings, self.part.size());
        let mut random = Random::new(settings.seed, ((state as u64) << 32 | trial as u64) + 1);
        let mut world = self.world.clone();
        let start = self.start(state, &mut random);
        let extent = self.gate.extent(settings.width);
        let mut body = world.body_mut(self.body)?;
        body.set_pose(start)?;
        if let Transport::Conveyor { speed } = settings.transport {
            body.set_velocity(speed * DVec3::X)?;
        }
        let mut simulator = self.registry.simulators.make(&settings.simulator, &Properties::default())?;
        let level = if let Gate::Step { height } = self.gate { -height } else { 0.0 };
        for _ in 0..(settings.longest / settings.dt).ceil() as u64 {
            simulator.step(&mut world, settings.dt)?;
            let body = world.body(self.body)?;
            let centre = body.center_of_mass();
            if centre.z < level - size {
                return Ok(Passage::Rejected);
            }
            if centre.x > extent + 2.0 * size && body.angular_velocity().length() * size < 0.02 {
                let down = body.orientation().conjugate() * DVec3::NEG_Z;
                if let Some((pose, angle)) = self.landscape.nearest(down)
                    && angle < 10_f64.to_radians()
                {
                    return Ok(Passage::Left(self.state(pose, body.orientation())));
                }
            }
        }
        Ok(Passage::Stuck)
    }

    /// Pose of the part at the start.
    fn start(&self, state: usize, random: &mut Random) -> Pose {
        let (pose, sector) = (state / self.settings.headings, state % self.settings.headings);
        let (size, headings) = (self.part.size(), self.settings.headings as f64);
        let faces = &self.landscape.poses[pose].faces;
        let face = faces[random.index(faces.len())] as usize;
        // The ends of a sector belong to two.
        let heading = TAU / headings * (sector as f64 + random.range(-0.49, 0.49));
        let q = DQuat::from_rotation_z(heading) * level(self.landscape.faces.all[face].normal);
        let lowest = self.part.hull().support(q.conjugate() * DVec3::NEG_Z);
        let centre = q * self.part.mass().center_of_mass;
        let offset = random.range(-self.settings.offset, self.settings.offset);
        let approach = self.gate.extent(self.settings.width) + 2.5 * size;
        Pose::new(q, DVec3::new(-approach - centre.x, offset - centre.y, 1e-4 * size - (q * lowest).z))
    }

    /// State of a part that lies in a pose.
    fn state(&self, pose: usize, orientation: DQuat) -> usize {
        let down = orientation.conjugate() * DVec3::NEG_Z;
        let cosine = |f: &&u32| self.landscape.faces.all[**f as usize].normal.dot(down);
        let nearest = self.landscape.poses[pose].faces.iter().max_by(|a, b| cosine(a).total_cmp(&cosine(b)));
        let reference =
            nearest.map_or(DQuat::IDENTITY, |face| level(self.landscape.faces.all[*face as usize].normal));
        let turn = orientation * reference.conjugate();
        let heading = 2.0 * turn.z.atan2(turn.w);
        let headings = self.settings.headings as f64;
        let sector =
            (heading / TAU * headings).round().rem_euclid(headings) as usize % self.settings.headings;
        pose * self.settings.headings + sector
    }
}

/// The turn that puts a face down, without one about the vertical.
fn level(normal: DVec3) -> DQuat {
    DQuat::from_rotation_arc(normal, DVec3::NEG_Z)
}

/// The track about x = 0, and the part somewhere.
fn world(
    part: &Part,
    gate: Gate,
    settings: &TrackSettings,
) -> Result<(World, BodyId), rattleback_dynamics::Error> {
    let mut world = World::default();
    world.set_gravity(settings.transport.gravity(GRAVITY))?;
    let material =
        Material { restitution: settings.restitution, ..Material::with_friction(settings.friction) };
    let material = world.add_material(material)?;
    let (size, half) = (part.size(), 0.5 * settings.width);
    let (track_path, gate_path) = settings.transport.paths();
    let extent = gate.extent(settings.width);
    let reach = extent + 6.0 * size;
    let thick = 0.5 * size;
    let mut add = |name: &str, path: &Option<rattleback_dynamics::world::Path>, pose: Pose, half: DVec3| {
        let body = path.clone().map_or_else(Body::fixed, Body::kinematic);
        world.add_body(body.named(name).pose(pose).with_shape(Shape::cuboid(half)?).material(material))
    };
    // From and to along x, and across y, with its surface at a level.
    let plank = |x: [f64; 2], y: [f64; 2], z: f64| {
        let middle = DVec3::new(0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), z - thick);
        (Pose::at(middle), DVec3::new(0.5 * (x[1] - x[0]), 0.5 * (y[1] - y[0]), thick))
    };
    match gate {
        Gate::Step { height } => {
            let (pose, extents) = plank([-reach, 0.0], [-half, half], 0.0);
            add("track", &track_path, pose, extents)?;
            let (pose, extents) = plank([0.0, reach], [-half, half], -height);
            add("lower track", &track_path, pose, extents)?;
        }
        Gate::Cutout { width, length } => {
            let (before, after) = (-0.5 * length, 0.5 * length);
            let kept = if width > 0.0 { [-half, half - width] } else { [-half - width, half] };
            let (pose, extents) = plank([-reach, before], [-half, half], 0.0);
            add("track", &track_path, pose, extents)?;
            if kept[1] > kept[0] {
                let (pose, extents) = plank([before, after], kept, 0.0);
                add("narrow track", &track_path, pose, extents)?;
            }
            let (pose, extents) = plank([after, reach], [-half, half], 0.0);
            add("track behind", &track_path, pose, extents)?;
        }
        _ => {
            let (pose, extents) = plank([-reach, reach], [-half, half], 0.0);
            add("track", &track_path, pose, extents)?;
        }
    }
    let wall = 0.05 * size;
    match gate {
        Gate::Bar { clearance, angle } => {
            let turn = DQuat::from_rotation_z(angle.to_radians());
            let extents = DVec3::new(wall, 2.0 * half / angle.to_radians().cos(), 1.5 * size);
            add("bar", &gate_path, Pose::new(turn, DVec3::new(0.0, 0.0, clearance + extents.z)), extents)?;
        }
        Gate::Fence { angle, reach } => {
            // From the edge of the track upstream to `reach` over it downstream: its inner face goes through (±extent/2, …).
            let (a, side) = (angle.to_radians(), reach.signum());
            let length = reach.abs() / a.sin();
            let turn = DQuat::from_rotation_z(-side * a);
            let middle = DVec3::new(0.0, side * (half - 0.5 * reach.abs()), 1.5 * size + 0.02 * size);
            let extents = DVec3::new(0.5 * length + wall, wall, 1.5 * size);
            add("fence", &gate_path, Pose::new(turn, middle), extents)?;
        }
        _ => {}
    }
    let shape = Shape::convex(part.hull().clone())?;
    let body = Body::dynamic().named("part").with_shape(shape).mass_properties(*part.mass());
    let body = world.add_body(body.material(material))?;
    Ok((world, body))
}
