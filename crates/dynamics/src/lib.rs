//! The world and what moves it: bodies, materials, forces, simulators.
//!
//! It does not depend on files, scripts or pictures.
//!
//! A step, stage by stage, is described in [`simulator`]; conventions: SI units, right-handed, z up unless gravity has
//! another direction, quaternions body → world, angular velocity in the world frame.

mod collision;
mod error;
pub mod filter;
pub mod force;
pub mod impact;
mod island;
pub mod joint;
pub mod multibody;
pub mod property;
pub mod query;
pub mod registry;
pub mod rigid;
pub mod signal;
pub mod simulator;
pub mod solver;
pub mod world;

pub use glam;

pub use error::Error;
pub use force::{Force, Targets};
pub use joint::{Joint, JointFrames};
pub use property::{Component, Properties, Value};
pub use registry::{Plugin, Registry};
pub use signal::Signal;
pub use simulator::{FreeMotion, Simulator};
pub use world::{
    Body, BodyId, BodyMut, BodyRef, CollisionGroups, EnergyLedger, Epoch, Event, ForceId, JointId, Material,
    MaterialId, Multibody, MultibodyId, Path, Readout, ShapeId, ShapePart, Status, World,
};
