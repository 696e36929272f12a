//! One drop: a part falls onto a flat surface and comes to rest.
//!
//! The drop ends as soon as its end is certain: when the energy E = ½ m v² + ½ ω·I ω + m g z is below the escape height of the pose whose basin
//! the part is in (`landscape`), contact cannot lift it out any more. Poses with barriers smaller than the hops of a simulator are read when the part has been still for
//! 0.2 s within 2° of a stable face. A drop that does neither within its time limit is unsettled.

use super::coarse_hull::coarse_hull;
use super::error::PoseError;
use super::landscape::Landscape;
use super::part::{Part, check};
use crate::contact::Random;
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, Properties, Registry, World};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};

/// Earth, m/s².
const GRAVITY: f64 = 9.81;
/// Movement of a part that is still, over the time of stillness: fraction of its size, and rad.
const STILL: f64 = 2e-3;

/// What a part falls onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// A floor; parts arrive with a horizontal velocity in any direction.
    Floor,
    /// A belt that moves against parts: the horizontal velocity has one direction.
    Belt,
    /// The bottom of a bowl, inclined by 5° towards its rim: parts arrive in any direction and slide or roll downhill. What rolls does not come to rest there.
    Bowl,
}

/// Incline of the bottom of a bowl, rad.
const BOWL_INCLINE: f64 = 5.0 * std::f64::consts::PI / 180.0;

/// Circumstances of a drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DropSettings {
    /// Coulomb coefficient of part and surface.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Height of the lowest point of the part above the surface, m.
    pub height: f64,
    /// Horizontal speed relative to the surface, m/s.
    pub speed: f64,
    /// What it falls onto.
    pub surface: Surface,
    /// Name of the simulator.
    pub simulator: String,
    /// Time step, s.
    pub dt: f64,
    /// A drop that takes longer is unsettled, s.
    pub longest: f64,
    /// Whether a drop ends as soon as its energy traps it; else only at rest.
    pub trap: bool,
}

impl Default for DropSettings {
    /// Those of the source: μ = e = 0.3, 12 cm, 5 cm/s; event-driven contact.
    fn default() -> Self {
        Self {
            friction: 0.3,
            restitution: 0.3,
            height: 0.12,
            speed: 0.05,
            surface: Surface::Floor,
            simulator: "impulse".into(),
            dt: 0.01,
            longest: 10.0,
            trap: true,
        }
    }
}

impl DropSettings {
    /// An error for the first value out of its range.
    pub fn check(&self) -> Result<(), PoseError> {
        check("friction", self.friction, self.friction >= 0.0, "finite and ≥ 0")?;
        check("restitution", self.restitution, (0.0..=1.0).contains(&self.restitution), "from 0 to 1")?;
        check("height", self.height, self.height > 0.0 && self.height <= 1e4, "above 0 and at most 10 km")?;
        check("speed", self.speed, (0.0..=1e3).contains(&self.speed), "from 0 to 1000 m/s")?;
        check("time step", self.dt, self.dt > 0.0 && self.dt <= 0.1, "above 0 and at most 0.1 s")?;
        check(
            "time limit",
            self.longest,
            self.longest > 0.0 && self.longest <= 1e4,
            "above 0 and at most 10000 s",
        )
    }
}

/// Where a drop starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Orientation of the part.
    pub orientation: DQuat,
    /// Direction of the horizontal velocity from x, rad.
    pub heading: f64,
}

/// How a drop ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landing {
    /// The pose; none if it did not settle in time.
    pub pose: Option<usize>,
    /// Orientation at the end, turned so that the face it rests on is exactly horizontal.
    pub orientation: DQuat,
    /// Time until the end was certain, s.
    pub time: f64,
}

/// A part above a surface, ready to be dropped again and again.
pub struct Dropper<'a> {
    part: &'a Part,
    landscape: &'a Landscape,
    settings: &'a DropSettings,
    registry: &'a Registry,
    world: World,
    body: BodyId,
    /// By how much the hull that is dropped is smaller than the part, m.
    deviation: f64,
}

impl<'a> Dropper<'a> {
    /// Part and circumstances ⇒ dropper.
    pub fn new(
        part: &'a Part,
        landscape: &'a Landscape,
        settings: &'a DropSettings,
        registry: &'a Registry,
    ) -> Result<Self, PoseError> {
        settings.check()?;
        let (hull, deviation) = coarse_hull(part, landscape);
        let build = || -> Result<(World, BodyId), rattleback_dynamics::Error> {
            let mut world = World::default();
            // In the frame of the surface.
            let incline = if settings.surface == Surface::Bowl { BOWL_INCLINE } else { 0.0 };
            world.set_gravity(GRAVITY * DVec3::new(incline.sin(), 0.0, -incline.cos()))?;
            let material =
                Material { restitution: settings.restitution, ..Material::with_friction(settings.friction) };
            let material = world.add_material(material)?;
            let floor = Shape::half_space(DVec3::Z)?;
            world.add_body(Body::fixed().named("surface").with_shape(floor).material(material))?;
            let shape = Shape::convex(hull)?;
            let body = Body::dynamic().named("part").with_shape(shape).mass_properties(*part.mass());
            let body = world.add_body(body.material(material))?;
            Ok((world, body))
        };
        let (world, body) = build().map_err(|error| PoseError::Simulator { first: error.to_string() })?;
        // An unknown name is found before the first drop.
        registry
            .simulators
            .make(&settings.simulator, &Properties::default())
            .map_err(|error| PoseError::Simulator { first: error.to_string() })?;
        Ok(Self { part, landscape, settings, registry, world, body, deviation })
    }

    /// Pose in which the part is released, its centre of mass above the origin.
    pub fn release(&self, start: &Start) -> Pose {
        let q = start.orientation.normalize();
        let lowest = self.part.hull().support(q.conjugate() * DVec3::NEG_Z);
        let c = q * self.part.mass().center_of_mass;
        Pose::new(q, DVec3::new(-c.x, -c.y, self.settings.height - (q * lowest).z))
    }

    /// Velocity with which it is released, m/s.
    pub fn velocity(&self, start: &Start) -> DVec3 {
        let (sin, cos) = start.heading.sin_cos();
        self.settings.speed * DVec3::new(cos, sin, 0.0)
    }

    /// Drops the part.
    pub fn drop(&self, start: &Start) -> Result<Landing, rattleback_dynamics::Error> {
        let settings = self.settings;
        let mut world = self.world.clone();
        let mut body = world.body_mut(self.body)?;
        body.set_pose(self.release(start))?;
        body.set_velocity(self.velocity(start))?;
        let mut simulator = self.registry.simulators.make(&settings.simulator, &Properties::default())?;
        let steps = (settings.longest / settings.dt).ceil() as u32;
        let still_steps = ((0.2 / settings.dt).ceil() as u32).max(1);
        let mut still_since = (0, self.release(start));
        for step in 1..=steps {
            simulator.step(&mut world, settings.dt)?;
            let body = world.body(self.body)?;
            let down = body.orientation().conjugate() * DVec3::NEG_Z;
            // On an incline, a part can gain energy.
            if settings.trap && settings.surface != Surface::Bowl {
                let level = self.deviation
                    + body.center_of_mass().z
                    + body.kinetic_energy() / (body.mass() * GRAVITY);
                if let Some(pose) = self.landscape.trapped(self.part, down, level) {
                    return Ok(self.landing(Some(pose), body.orientation(), world.time()));
                }
            }
            let pose = body.pose();
            let turned = pose.rotation.angle_between(still_since.1.rotation);
            let moved = (pose.translation - still_since.1.translation).length() / self.part.size();
            if turned > STILL || moved > STILL {
                still_since = (step, pose);
            } else if step - still_since.0 >= still_steps {
                let settled = self.landscape.nearest(down).filter(|(_, angle)| *angle < 2f64.to_radians());
                if let Some((pose, _)) = settled {
                    return Ok(self.landing(Some(pose), body.orientation(), world.time()));
                }
            }
        }
        Ok(self.landing(None, world.body(self.body)?.orientation(), world.time()))
    }

    fn landing(&self, pose: Option<usize>, orientation: DQuat, time: f64) -> Landing {
        let down = orientation.conjugate() * DVec3::NEG_Z;
        let level = pose.and_then(|pose| {
            let cosine = |f: &&u32| self.landscape.faces.all[**f as usize].normal.dot(down);
            let faces = &self.landscape.poses[pose].faces;
            faces.iter().max_by(|a, b| cosine(a).total_cmp(&cosine(b)))
        });
        let orientation = level.map_or(orientation, |face| {
            let normal = orientation * self.landscape.faces.all[*face as usize].normal;
            (DQuat::from_rotation_arc(normal, DVec3::NEG_Z) * orientation).normalize()
        });
        Landing { pose, orientation, time }
    }
}

/// Random numbers ⇒ a start of uniform orientation.
pub fn uniform_start(random: &mut Random, surface: Surface) -> Start {
    let orientation = random.rotation();
    Start { orientation, heading: heading(random, surface) }
}

/// An orientation turned by up to `angle` about a random axis.
pub fn disturbed_start(orientation: DQuat, angle: f64, random: &mut Random, surface: Surface) -> Start {
    let turn = DQuat::from_axis_angle(random.direction(), random.range(0.0, angle));
    Start { orientation: (turn * orientation).normalize(), heading: heading(random, surface) }
}

/// A pose, on any of its faces, turned about the vertical at random.
pub fn pose_orientation(landscape: &Landscape, pose: usize, random: &mut Random) -> DQuat {
    let faces = &landscape.poses[pose].faces;
    let face = faces[random.index(faces.len())];
    let normal = landscape.faces.all[face as usize].normal;
    DQuat::from_rotation_z(random.angle()) * DQuat::from_rotation_arc(normal, DVec3::NEG_Z)
}

fn heading(random: &mut Random, surface: Surface) -> f64 {
    match surface {
        Surface::Floor | Surface::Bowl => random.angle(),
        Surface::Belt => 0.0,
    }
}
