//! Robots from files: URDF and MJCF.
//!
//! [`RobotModel`] is the content of such a file: a tree of links in joint coordinates ([`multibody`](RobotModel::multibody)), names, colliders, limits,
//! couplings, loops and actuators. [`mechanism`](RobotModel::mechanism) puts springs, dampers, friction, limits, couplings and loops into the joints.
//! What a file contains and the model does not is listed in [`warnings`](RobotModel::warnings), with lines.
//!
//! Conventions. Units are SI. Every link of a URDF file and every body of an MJCF file is a link of the tree; fixed joints remain fixed joints, so all
//! names are kept. A body of an MJCF file with several joints has massless links between them. Positions are measured from the pose in the file:
//! of an MJCF joint with a `ref`, the position is `qpos − ref`. The position of a free joint is the pose in the world.

mod actuator;
mod build;
mod mesh;
mod mjcf;
mod model;
mod msh;
mod multibody;
mod scene;
mod urdf;
mod xml;

pub use actuator::{ActuatorLaw, RobotActuator};
pub use model::{Base, Collider, RobotJoint, RobotModel, RobotOptions};

pub(crate) use model::is_robot;
pub(crate) use scene::table;
pub(crate) use xml::MAX_ROBOT_BYTES;
