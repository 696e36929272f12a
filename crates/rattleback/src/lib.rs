//! Rattleback: trustworthy physics at real-time speed.
//!
//! A [`World`](dynamics::World) holds bodies, shapes, materials and forces; a [`Simulator`](dynamics::Simulator) moves
//! it. [`FreeMotion`](dynamics::FreeMotion) is the simulator for bodies that forces move and nothing touches: flight and
//! torque-free rotation are exact, whatever the time step.
//!
//! ```
//! use rattleback::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default(); // gravity points down z
//! let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 100.0).with_shape(Shape::sphere(0.1)?).density(2500.0))?;
//! world.add_force(Drag { quadratic: 0.009.into(), ..Drag::default() })?;
//! let mut simulator = FreeMotion::default();
//! for _ in 0..120 {
//!     simulator.step(&mut world, 1.0 / 60.0)?;
//! }
//! let (body, readout) = (world.body(ball)?, world.readout());
//! println!("{} m high, {} m/s, {} J", body.position().z, body.velocity().z, readout.energy());
//! # let (m, k, g) = (body.mass(), 0.009, 9.81_f64);
//! # let terminal = f64::sqrt(m * g / k); // v = −v∞ tanh(g t/v∞)
//! # assert!((body.velocity().z + terminal * (g * 2.0 / terminal).tanh()).abs() < 1e-4);
//! # Ok(()) }
//! ```
//!
//! Where bodies touch, [`Impulse`](dynamics::simulator::Impulse) makes every contact a collision, found before it happens:
//!
//! ```
//! use rattleback::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default();
//! let rubber = world.add_material(Material::bouncy(1.0))?;
//! world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(rubber))?;
//! world.add_body(Body::dynamic().at(0.0, 0.0, 1.0).with_shape(Shape::sphere(0.1)?).material(rubber))?;
//! let energy = world.readout().energy();
//! let mut simulator = Impulse::default();
//! for _ in 0..600 {
//!     simulator.step(&mut world, 1.0 / 60.0)?;
//! }
//! assert!((world.readout().energy() / energy - 1.0).abs() < 1e-9); // e = 1 keeps its promise
//! # Ok(()) }
//! ```
//!
//! Bodies on joints, in real time, built, stepped and queried with nothing but the prelude:
//!
//! ```
//! use rattleback::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default();
//! world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
//! let door = world.add_body(Body::dynamic().at(0.5, 0.0, 1.1).with_shape(Shape::cuboid(DVec3::new(0.5, 0.02, 1.0))?))?;
//! let motor = Revolute { speed: 1.0.into(), max_torque: 1e6, ..Revolute::default() };
//! let hinge = world.add_joint(JointFrames::to_world(door).along(DVec3::Z), motor)?;
//! let mut simulator = Realtime::default();
//! for _ in 0..60 {
//!     simulator.step(&mut world, 1.0 / 60.0)?;
//! }
//! assert!((world.joint_motion(hinge)?.angular_velocity.z - 1.0).abs() < 0.02);
//! world.change_joint::<Revolute>(hinge, |hinge| hinge.speed = 0.0.into())?;
//! let index = QueryPipeline::of(&world)?;
//! let ray = Ray::new(DVec3::new(0.2, 0.2, 5.0), -DVec3::Z)?;
//! let hit = index.cast_ray(&world, &ray, 10.0, &QueryFilter::default())?;
//! assert!(hit.is_some());
//! # Ok(()) }
//! ```
//!
//! The same can stand in a scene file, which the `rattleback` program runs too (feature `scene`, on by default):
//!
//! ```
//! use rattleback::prelude::*;
//!
//! # #[cfg(feature = "scene")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut built = Scene::open("free-fall")?.build(&Registry::default())?;
//! built.simulator.step(&mut built.world, built.dt)?;
//! assert_eq!(built.world.time(), built.dt);
//! # Ok(()) }
//! # #[cfg(not(feature = "scene"))]
//! # fn main() {}
//! ```
//!
//! Conventions: SI units, right-handed, z up unless gravity has another direction; quaternions are unit, Hamilton, body → world;
//! angular velocities are in the world frame.

pub use rattleback_deformable as deformable;
pub use rattleback_dynamics as dynamics;
pub use rattleback_geometry as geometry;
pub use rattleback_numerics as numerics;
pub use rattleback_particles as particles;
#[cfg(feature = "scene")]
pub use rattleback_scene as scene;

/// Vectors, matrices and quaternions of the interface.
pub use glam;

/// What a first program needs, and nothing whose name would be in the way.
pub mod prelude {
    pub use glam::{DMat3, DQuat, DVec3};
    pub use rattleback_dynamics::force::{
        Buoyancy, Coulomb, Drag, Gravitation, Gravity, LennardJones, PointForce, Spring, Vortex, WindBox,
        WindSphere,
    };
    pub use rattleback_dynamics::joint::{
        BreakThresholds, Cylindrical, Distance, Fixed, Gear, Generic6Dof, Joint, JointFrames, Planar,
        Prismatic, Rack, Revolute, Spherical, Target, Universal, Wheel,
    };
    pub use rattleback_dynamics::query::{CastHit, Hit, QueryFilter, QueryPipeline};
    pub use rattleback_dynamics::simulator::{
        Constraint, ConstraintSettings, ContactPoint, Impulse, ImpulseSettings, Penalty, PenaltySettings,
        Realtime, RealtimeSettings, Sequential, SequentialSettings,
    };
    pub use rattleback_dynamics::world::{CollisionFilter, Combine, Group};
    pub use rattleback_dynamics::{
        Body, BodyId, BodyMut, BodyRef, CollisionGroups, Event, Force, ForceId, FreeMotion, JointId,
        Material, MaterialId, Path, Properties, Readout, Registry, ShapeId, ShapePart, Signal, Simulator,
        Status, Targets, Value, World,
    };
    pub use rattleback_geometry::primitive::Ray;
    pub use rattleback_geometry::{Aabb, MassProperties, Pose, Shape, TriangleMesh};
    #[cfg(feature = "scene")]
    pub use rattleback_scene::{BuiltScene, Scene};
}

/// The tutorial of the interface, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
mod tutorial {}
