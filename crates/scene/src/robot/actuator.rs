//! Actuators of an MJCF file.

/// How an actuator turns its command u into a force; the joint force is gear × force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorLaw {
    /// force = u.
    Force,
    /// force = k (u − length) − d · rate, with the length gear × position.
    Position {
        /// k.
        stiffness: f64,
        /// d.
        damping: f64,
    },
    /// force = d (u − rate).
    Velocity {
        /// d.
        damping: f64,
    },
    /// A law of the element `general` that is not evaluated here.
    General,
}

/// A named actuator on a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotActuator {
    /// Name; empty if the file gives none.
    pub name: String,
    /// Index of its joint among [`RobotModel::joints`](super::RobotModel::joints).
    pub joint: usize,
    /// Joint force for a unit of force.
    pub gear: f64,
    /// Lowest and highest command; infinite where it is not limited.
    pub range: [f64; 2],
    /// Its law.
    pub law: ActuatorLaw,
}
