//! A surface tiled with torsional resonators, under a flat part.
//!
//! A resonator is a plate on a torsion bar along y, at a depth d below its tips. Tilted by φ, a tip at a distance s = ±w from the bar is at
//! (s cos φ + d sin φ, −s sin φ + d cos φ) ≈ (s + d φ, d − s φ): it moves along a line inclined to the surface by atan(w/d), as the track of a vibratory feeder
//! does. With tips on one side only (s = w), parts are thrown towards −x, with those on the other side towards +x. With tips on both sides the plate is its own mirror image,
//! and a symmetric script φ(t + T/2) = −φ(t) feeds nothing. The script
//!
//!   φ = Φ (sin θ + r sin(2θ + χ)),   θ = 2π f t + i ψ_x + j ψ_y   (column i, row j)
//!
//! breaks the symmetry by its second harmonic r or by its phase from column to column ψ_x. Its mirror image in x has χ + π and −ψ_x: reversal of the phases
//! reverses the feed.

use super::GRAVITY;
use super::design::{MicroError, design};
use super::feed::{Machine, Run};
use crate::contact::Random;
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, Path, Properties, Registry, ShapePart, Value, World};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// Part of the duration after which velocities are measured: until then the part picks up speed.
const SETTLING: f64 = 0.4;
/// Half-length of a plate, of the pitch.
const HALF_PLATE: f64 = 0.4;
/// Steps of a period.
const STEPS: f64 = 4.0;

/// On which sides of its torsion bar a plate has tips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tips {
    /// On that towards +x.
    One,
    /// On both.
    Both,
}

/// How plates are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tiling {
    /// All alike.
    Uniform,
    /// Neighbours half a period apart, like the fields of a chessboard.
    Checkered,
    /// Every other row is shifted by half a pitch.
    Brick,
    /// The plates of the half x > 0 are mirrored: parts are fed to the middle, or away from it.
    Squeeze,
}

impl Tiling {
    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Checkered => "checkered",
            Self::Brick => "brick",
            Self::Squeeze => "squeeze",
        }
    }
}

design! {
    /// An array of resonators, and the part on it. Lengths in m, angles in degrees.
    ActuatorArray {
        columns = 66.0, "", 1.0 to 300.0 whole, "Plates along x.";
        rows = 66.0, "", 1.0 to 300.0 whole, "Plates along y.";
        pitch = 0.0003, "m", 1e-6 to 1.0, "Distance of neighbouring plates.";
        depth = 0.0001, "m", 1e-7 to 1.0, "Depth of the torsion bars below the tips.";
        tilt = 2.0, "deg", 0.0 to 30.0, "Largest tilt of the first harmonic.";
        frequency = 1000.0, "Hz", 0.1 to 1e6, "Frequency.";
        column_phase = 0.0, "deg", -360.0 to 360.0, "Phase from column to column.";
        row_phase = 0.0, "deg", -360.0 to 360.0, "Phase from row to row.";
        second = 0.0, "", 0.0 to 1.0, "Second harmonic, as a part of the first.";
        second_phase = 0.0, "deg", -360.0 to 360.0, "Phase of the second harmonic.";
        part_x = 0.003, "m", 1e-6 to 10.0, "Length of the part.";
        part_y = 0.003, "m", 1e-6 to 10.0, "Width of the part.";
        part_z = 0.0005, "m", 1e-6 to 10.0, "Thickness of the part.";
        density = 2330.0, "kg/m³", 1.0 to 30000.0, "Density of the part.";
        friction = 0.3, "", 0.0 to 10.0, "Coulomb coefficient of tips and part.";
        restitution = 0.3, "", 0.0 to 1.0, "Coefficient of restitution of tips and part.";
        duration = 0.1, "s", 1e-6 to 1000.0, "Duration of a run.";
    }
    tips: Tips = Tips::One, "Where plates have tips.";
    tiling: Tiling = Tiling::Uniform, "How plates are arranged.";
}

impl ActuatorArray {
    /// Half the extents of the tiled surface, m.
    fn half_extents(&self) -> (f64, f64) {
        (0.5 * self.columns * self.pitch, 0.5 * self.rows * self.pitch)
    }

    /// Largest height of a tip above its rest.
    fn rise(&self) -> f64 {
        HALF_PLATE * self.pitch * (self.tilt.to_radians() * (1.0 + self.second)).sin()
    }

    /// The array, and the part in a random place and at a random heading above it.
    ///
    /// # Errors
    /// What the world refuses.
    pub fn world(&self, random: &mut Random) -> Result<(World, BodyId), rattleback_dynamics::Error> {
        let mut world = World::default();
        world.set_gravity(GRAVITY * DVec3::NEG_Z)?;
        let material = Material { restitution: self.restitution, ..Material::with_friction(self.friction) };
        let material = world.add_material(material)?;
        let clock = random.angle();
        let (w, p) = (HALF_PLATE * self.pitch, self.pitch);
        // The tips of a side are a rail along the edge of the plate.
        let rail = DVec3::new(0.05 * p, w, 0.25 * self.depth);
        let rails: &[f64] = match self.tips {
            Tips::One => &[1.0],
            Tips::Both => &[1.0, -1.0],
        };
        let rails = rails
            .iter()
            .map(|side| {
                let middle = DVec3::new(side * (w - rail.x), 0.0, self.depth - rail.z);
                Ok(ShapePart { pose: Pose::at(middle), ..ShapePart::from(Shape::cuboid(rail)?) })
            })
            .collect::<Result<Vec<_>, rattleback_dynamics::Error>>()?;
        let (columns, rows) = (self.columns as i64, self.rows as i64);
        for j in 0..rows {
            for i in 0..columns {
                let shift = if self.tiling == Tiling::Brick && j % 2 == 1 { 0.5 } else { 0.0 };
                let x = p * (i as f64 + shift - 0.5 * (columns - 1) as f64);
                let y = p * (j as f64 - 0.5 * (rows - 1) as f64);
                let opposite = self.tiling == Tiling::Checkered && (i + j) % 2 == 1;
                let phase = (i as f64 * self.column_phase + j as f64 * self.row_phase).to_radians()
                    + clock
                    + if opposite { PI } else { 0.0 };
                let mirrored = self.tiling == Tiling::Squeeze && x < 0.0;
                let turn = if mirrored { DQuat::from_rotation_z(PI) } else { DQuat::IDENTITY };
                let path = Path::Tilt {
                    swing: turn * (self.tilt.to_radians() * DVec3::Y),
                    frequency: self.frequency,
                    phase,
                    second: self.second,
                    second_phase: self.second_phase.to_radians(),
                };
                let mut plate = Body::kinematic(path)
                    .named(format!("plate[{i},{j}]"))
                    .pose(Pose::new(turn, DVec3::new(x, y, -self.depth)));
                for rail in &rails {
                    plate = plate.with_part(rail.clone());
                }
                world.add_body(plate.material(material))?;
            }
        }
        let half = 0.5 * DVec3::new(self.part_x, self.part_y, self.part_z);
        let start = DVec3::new(random.range(-p, p), random.range(-p, p), 1.1 * self.rise() + half.z);
        let heading = DQuat::from_rotation_z(random.angle());
        let part = Body::dynamic().named("part").pose(Pose::new(heading, start)).density(self.density);
        let part = world.add_body(part.with_shape(Shape::cuboid(half)?).material(material))?;
        Ok((world, part))
    }
}

impl Machine for ActuatorArray {
    fn check(&self) -> Result<(), MicroError> {
        use super::design::Design;
        self.check_ranges()?;
        let (x, y) = self.half_extents();
        let across = self.part_x.hypot(self.part_y);
        if across >= 2.0 * x.min(y) {
            return Err(MicroError::Geometry(format!(
                "the part is {across} m across and the array {} m; it needs a larger array",
                2.0 * x.min(y)
            )));
        }
        if self.part_x.min(self.part_y) < 2.0 * self.pitch {
            return Err(MicroError::Geometry(format!(
                "the part ({} m by {} m) must span at least two pitches of {} m, or it falls between plates",
                self.part_x, self.part_y, self.pitch
            )));
        }
        if self.depth < self.rise() {
            return Err(MicroError::Geometry(format!(
                "tips sink by {} m, below the torsion bars at a depth of {} m; a smaller tilt or larger depth is needed",
                self.rise(),
                self.depth
            )));
        }
        Ok(())
    }

    fn run(&self, random: &mut Random, registry: &Registry) -> Result<Run, rattleback_dynamics::Error> {
        let (mut world, part) = self.world(random)?;
        // Contacts are resolved to a small part of what tips rise by.
        let epsilon = (0.01 * self.rise()).max(1e-4 * self.part_z);
        let properties = Properties::from([("collision_epsilon".to_owned(), Value::Real(epsilon))]);
        let mut simulator = registry.simulators.make("impulse", &properties)?;
        let dt = 1.0 / (STEPS * self.frequency);
        let steps = (self.duration / dt).ceil() as u64;
        let first = (SETTLING * steps as f64) as u64;
        let (half_x, half_y) = self.half_extents();
        let (mut origin, mut turned, mut heading) = (None, 0.0, 0.0);
        let mut left = false;
        for step in 0..steps {
            simulator.step(&mut world, dt)?;
            let body = world.body(part)?;
            let (c, x) = (body.center_of_mass(), body.orientation() * DVec3::X);
            let now = x.y.atan2(x.x);
            turned += (now - heading + PI).rem_euclid(TAU) - PI;
            heading = now;
            if step == first {
                (origin, turned) = (Some((c, world.time())), 0.0);
            }
            if c.x.abs() > half_x || c.y.abs() > half_y || c.z < -self.depth {
                left = true;
                break;
            }
        }
        let c = world.body(part)?.center_of_mass();
        let (from, since) = origin.unwrap_or((c, 0.0));
        let time = (world.time() - since).max(dt);
        Ok(Run { rates: [(c.x - from.x) / time, (c.y - from.y) / time, turned / time], left })
    }
}
