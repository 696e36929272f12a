//! Joints: what holds two bodies together, or one to the world, and how they may still move.
//!
//! Each body carries a frame, and the coordinates of the joint are those of frame B relative to frame A. At rest, unless given otherwise, both
//! coincide. A constraint is a function C of the two poses; its rate is linear in the velocities,
//!
//!   Ċ = d·(v_B − v_A) + b·ω_B − a·ω_A,
//!
//! so an impulse λ changes the momenta by (−λ d, −λ a) and (λ d, λ b). For motion along an axis d that turns with A, at B's
//! anchor p: a = (p − x_A) × d, b = (p − x_B) × d. For rotation about d: a = b = d, without the linear part.
//!
//! A joint names the axes it [locks](Locks), which simulators hold with all they have, and adds [rows](Row) for whatever
//! else acts along the axes left free: limits, springs, motors, friction.

mod axis;
mod coupling;
mod distance;
mod fixed;
mod frames;
mod generic_6dof;
mod hinges;
mod row;
mod sliders;
mod spherical;
mod state;
mod target;
mod wheel;

pub use axis::{JointAxis, Motor};
pub use coupling::{Gear, Rack};
pub use distance::Distance;
pub use fixed::Fixed;
pub use frames::{BreakThresholds, JointFrames, JointRecord};
pub use generic_6dof::Generic6Dof;
pub use hinges::{Revolute, Universal};
pub use row::{Effect, Locks, Row, Rows};
pub use sliders::{Cylindrical, Planar, Prismatic};
pub use spherical::Spherical;
pub use state::{JointFrame, JointMotion, JointState};
pub use target::Target;
pub use wheel::Wheel;

use crate::error::Error;
use crate::property::Component;
use crate::registry::{Catalogue, Entry, RegistryError};
use std::any::Any;

/// A kind of joint: which axes it locks and what acts along the others.
///
/// ```
/// use rattleback_dynamics::joint::{JointFrames, Revolute};
/// use rattleback_dynamics::{simulator::Realtime, Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let door = world.add_body(Body::dynamic().at(0.5, 0.0, 1.0).with_shape(Shape::cuboid(DVec3::new(0.5, 0.02, 1.0))?))?;
/// world.add_joint(JointFrames::to_world(door).along(DVec3::Z), Revolute { speed: 1.0.into(), max_torque: 1e6, ..Revolute::default() })?;
/// let mut simulator = Realtime::default();
/// for _ in 0..60 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// assert!((world.body(door)?.position() - DVec3::new(0.5 * 1_f64.cos(), 0.5 * 1_f64.sin(), 1.0)).length() < 0.02);
/// # Ok(()) }
/// ```
pub trait Joint: Component + Any + CloneJoint {
    /// Axes along and about which frame B does not move in frame A.
    fn locks(&self) -> Locks;

    /// What acts along the other axes in the present state.
    fn rows(&self, state: &JointState, rows: &mut Rows);

    /// Refuses settings that contradict each other.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether it has rows at all in any state; most simple joints have none.
    fn has_rows(&self) -> bool {
        true
    }

    /// Whether the angle about z is counted over whole turns.
    fn counts_turns(&self) -> bool {
        self.has_rows() || self.locks().has(Locks::PARALLEL)
    }

    /// Whether it drives something by itself, so that its bodies never sleep.
    fn is_driven(&self) -> bool {
        false
    }

    /// Whether it may add energy: motors, and springs, which give back what they have taken.
    fn can_add_energy(&self) -> bool {
        self.is_driven()
    }
}

/// Copies a joint of unknown kind; every joint that is [`Clone`] can.
pub trait CloneJoint {
    /// A copy.
    fn clone_joint(&self) -> Box<dyn Joint>;
}

impl<J: Joint + Clone> CloneJoint for J {
    fn clone_joint(&self) -> Box<dyn Joint> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Joint> {
    fn clone(&self) -> Self {
        (**self).clone_joint()
    }
}

/// Registers the built-in joints.
pub(crate) fn register(joints: &mut Catalogue<Box<dyn Joint>>) -> Result<(), RegistryError> {
    macro_rules! all {
        ($($kind:ident),+) => { $(joints.register(Entry::of::<$kind>(|joint| Box::new(joint) as Box<dyn Joint>))?;)+ };
    }
    all!(
        Cylindrical,
        Distance,
        Gear,
        Planar,
        Prismatic,
        Rack,
        Revolute,
        Fixed,
        Generic6Dof,
        Spherical,
        Target,
        Universal,
        Wheel
    );
    Ok(())
}
