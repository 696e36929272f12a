//! Large scenes that real-time engines are measured with, described so that any engine can build them.
//!
//! Metres, kilograms, seconds; y up, gravity 10 m/s² down; friction 0.6, restitution 0, density 1000 unless a scene sets others.
//! [`StressScene::world`] makes a world of one; benchmarks hand the same description to other engines.

mod jointed;
mod piles;
mod ragdoll;
mod trees;

use glam::{DQuat, DVec3};
use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
use rattleback_dynamics::{
    Body, BodyId, CollisionGroups, Error, Material, MaterialId, Path, ShapePart, Status, World,
};
use rattleback_geometry::{Pose, Shape};

/// A body of a stress scene.
#[derive(Clone, Debug)]
pub struct StressBody {
    /// What moves it.
    pub status: Status,
    /// Position of its frame, m.
    pub position: DVec3,
    /// Its shapes and their poses.
    pub shapes: Vec<(Shape, Pose)>,
    /// kg/m³.
    pub density: f64,
    /// How an kinematic body moves.
    pub path: Option<Path>,
    /// Orientation of its frame.
    pub rotation: DQuat,
    /// Angular velocity, rad/s, about the origin of its frame.
    pub spin: DVec3,
    /// Coefficient of friction, and lever arm of the resistance against rolling, m.
    pub surface: [f64; 2],
    /// Collision groups.
    pub groups: CollisionGroups,
}

/// How a joint of a stress scene lets its bodies turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StressLimits {
    /// As they like.
    Ball,
    /// Within a cone about z of the first frame, and a range of twist about it, rad.
    Socket {
        /// Half angle of the cone.
        cone: f64,
        /// Least and largest twist.
        twist: [f64; 2],
    },
    /// About z only, within a range, rad.
    Hinge {
        /// Least and largest angle.
        range: [f64; 2],
    },
}

/// A joint of a stress scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StressJoint {
    /// Which bodies of its list.
    pub bodies: [usize; 2],
    /// Its frames in their frames.
    pub frames: [Pose; 2],
    /// What it lets turn.
    pub limits: StressLimits,
    /// Spring back to where both frames coincide, oscillations per second (0 for none), and its damping ratio.
    pub spring: [f64; 2],
    /// Dry friction, N m.
    pub friction: f64,
}

/// Bodies that are added during the run.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The step before which they are added.
    pub step: usize,
    /// The bodies.
    pub bodies: Vec<StressBody>,
    /// Joints between them.
    pub joints: Vec<StressJoint>,
    /// An earlier batch, all of which is removed.
    pub replaces: Option<usize>,
}

/// A scene to measure engines with.
#[derive(Clone, Debug)]
pub struct StressScene {
    /// Its name.
    pub name: &'static str,
    /// How many steps of 1/60 s it is run for.
    pub steps: usize,
    /// Whether bodies may fall asleep.
    pub sleeping: bool,
    /// Speed of its points below which a body counts as still, m/s.
    pub sleep_speed: f64,
    /// Bodies at the beginning.
    pub bodies: Vec<StressBody>,
    /// Joints between them.
    pub joints: Vec<StressJoint>,
    /// Bodies that are added during the run.
    pub arrivals: Vec<Arrival>,
}

/// m/s².
pub const STRESS_GRAVITY: DVec3 = DVec3::new(0.0, -10.0, 0.0);
/// Coefficient of friction of every surface.
pub const STRESS_FRICTION: f64 = 0.6;

/// What a builder of scenes may refuse.
type Built<T> = Result<T, rattleback_geometry::ShapeError>;

/// Name, what is seen, builder.
type StressEntry = (&'static str, &'static str, fn() -> Built<StressScene>);

/// All stress scenes.
pub const STRESS_SCENES: [StressEntry; 12] = [
    ("large-pyramid", "5050 cubes in one pyramid 100 high", || piles::pyramids("large-pyramid", 200, 100, 1)),
    ("many-pyramids", "196 pyramids of 55 cubes", || piles::pyramids("many-pyramids", 100, 10, 14)),
    ("wide-pyramid", "1240 boxes in layers that drop onto each other", piles::wide_pyramid),
    ("convex-pile", "5120 hulls of 32 points collapse into a pile", piles::convex_pile),
    ("junkyard", "10 584 rocks in a yard with a moving pillar", piles::junkyard),
    ("washer", "8000 cubes in a turning drum", piles::washer),
    ("joint-grid", "9900 balls hang in a net of 19 701 joints", jointed::joint_grid),
    ("rain", "300 ragdolls of 14 bones fall on rings", jointed::rain),
    ("trees-100", "50 trees of 22 hulls fall on 60 000 triangles", || trees::trees("trees-100", 1)),
    ("trees-50", "50 trees of 22 hulls fall on 240 000 triangles", || trees::trees("trees-50", 2)),
    ("trees-25", "50 trees of 22 hulls fall on 960 000 triangles", || trees::trees("trees-25", 4)),
    ("large-world", "a million fixed boxes, spheres dropped one by one", piles::large_world),
];

/// Name ⇒ the scene, if there is one of that name.
pub fn stress_scene(name: &str) -> Option<Built<StressScene>> {
    STRESS_SCENES.iter().find(|entry| entry.0 == name).map(|entry| entry.2())
}

impl StressBody {
    fn new(status: Status, position: DVec3, shape: Shape) -> Self {
        Self {
            status,
            position,
            shapes: vec![(shape, Pose::IDENTITY)],
            density: 1000.0,
            path: None,
            rotation: DQuat::IDENTITY,
            spin: DVec3::ZERO,
            surface: [STRESS_FRICTION, 0.0],
            groups: CollisionGroups::default(),
        }
    }

    /// Puts it into a world.
    fn add_to(&self, world: &mut World, name: Option<&str>) -> Result<BodyId, Error> {
        let material = self.material(world)?;
        let mut body = match &self.path {
            Some(path) => Body::kinematic(path.clone()),
            None => Body::new(self.status),
        };
        body = body.pose(Pose::new(self.rotation, self.position)).density(self.density).groups(self.groups);
        if let Some(material) = material {
            body = body.material(material);
        }
        if let Some(name) = name {
            body = body.named(name);
        }
        for (shape, pose) in &self.shapes {
            body = body.with_part(ShapePart { pose: *pose, ..ShapePart::from(shape.clone()) });
        }
        let id = world.add_body(body)?;
        if self.spin != DVec3::ZERO {
            let arm = world.body(id)?.center_of_mass() - self.position;
            let mut body = world.body_mut(id)?;
            body.set_angular_velocity(self.spin)?;
            body.set_velocity(self.spin.cross(arm))?;
        }
        Ok(id)
    }

    /// The material of a body that is not as all others.
    fn material(&self, world: &mut World) -> Result<Option<MaterialId>, Error> {
        let [friction, rolling] = self.surface;
        if self.surface == [STRESS_FRICTION, 0.0] {
            return Ok(None);
        }
        let name = format!("friction {friction}, rolling {rolling}");
        if let Some(known) = world.find_material(&name) {
            return Ok(Some(known));
        }
        let material = Material { rolling_friction: rolling, ..Material::with_friction(friction) };
        world.add_named_material(&name, material).map(Some)
    }
}

impl StressJoint {
    fn add_to(&self, world: &mut World, bodies: &[BodyId]) -> Result<(), Error> {
        let joint_frames = JointFrames::between(bodies[self.bodies[0]], bodies[self.bodies[1]])
            .frames(self.frames[0], self.frames[1]);
        let [frequency, damping_ratio] = self.spring;
        match self.limits {
            StressLimits::Ball => {
                let joint =
                    Spherical { frequency, damping_ratio, friction: self.friction, ..Spherical::default() };
                world.add_joint(joint_frames, joint)
            }
            StressLimits::Socket { cone, twist: [min_twist, max_twist] } => {
                let friction = self.friction;
                let twist_limited = true;
                let joint = Spherical {
                    cone,
                    twist_limited,
                    min_twist,
                    max_twist,
                    frequency,
                    damping_ratio,
                    friction,
                    ..Spherical::default()
                };
                world.add_joint(joint_frames, joint)
            }
            StressLimits::Hinge { range: [min, max] } => {
                let max_torque = if frequency > 0.0 { 1e30 } else { 0.0 };
                let friction = self.friction;
                let joint = Revolute {
                    limited: true,
                    min,
                    max,
                    max_torque,
                    frequency,
                    damping_ratio,
                    friction,
                    ..Revolute::default()
                };
                world.add_joint(joint_frames, joint)
            }
        }
        .map(|_| ())
    }
}

impl StressScene {
    fn new(name: &'static str, steps: usize, sleeping: bool) -> Self {
        Self {
            name,
            steps,
            sleeping,
            sleep_speed: 0.05,
            bodies: Vec::new(),
            joints: Vec::new(),
            arrivals: Vec::new(),
        }
    }

    fn ground(&mut self, half: DVec3) -> Built<()> {
        let shape = Shape::cuboid(half)?;
        self.bodies.push(StressBody::new(Status::Fixed, DVec3::new(0.0, -half.y, 0.0), shape));
        Ok(())
    }

    /// The scene as a world at its beginning.
    ///
    /// # Errors
    /// A body or joint that the world refuses.
    pub fn world(&self) -> Result<World, Error> {
        let mut world = World::default();
        world.set_gravity(STRESS_GRAVITY)?;
        world.set_material(world.default_material(), Material::with_friction(STRESS_FRICTION))?;
        let ids =
            self.bodies.iter().map(|body| body.add_to(&mut world, None)).collect::<Result<Vec<_>, _>>()?;
        for joint in &self.joints {
            joint.add_to(&mut world, &ids)?;
        }
        Ok(world)
    }

    /// Brings the world what arrives before a step ⇒ which arrivals, and their bodies in the order of their lists.
    ///
    /// # Errors
    /// A body or joint that the world refuses.
    pub fn arrive(&self, world: &mut World, step: usize) -> Result<Vec<(usize, Vec<BodyId>)>, Error> {
        let mut arrived = Vec::new();
        let name = |arrival: usize| format!("arrival {arrival}");
        for (index, arrival) in self.arrivals.iter().enumerate().filter(|(_, arrival)| arrival.step == step) {
            if let Some(replaced) = arrival.replaces {
                let gone = name(replaced);
                let of_it = |body: &rattleback_dynamics::world::BodyRef<'_>| body.name() == Some(&gone);
                let ids: Vec<BodyId> = world.iter_bodies().filter(of_it).map(|body| body.id()).collect();
                for id in ids {
                    world.remove_body(id)?;
                }
            }
            let name = name(index);
            let add = |body: &StressBody, world: &mut World| body.add_to(world, Some(&name));
            let ids = arrival.bodies.iter().map(|body| add(body, world)).collect::<Result<Vec<_>, _>>()?;
            for joint in &arrival.joints {
                joint.add_to(world, &ids)?;
            }
            arrived.push((index, ids));
        }
        Ok(arrived)
    }
}
