//! Errors of a world and their messages.

use crate::multibody::{DynamicsError, MechanismError};
use crate::property::PropertyError;
use crate::registry::RegistryError;
use crate::world::{
    BodyId, ColliderOwner, ElementId, ForceId, JointId, LinkId, MaterialId, MultibodyId, PartId, ShapeId,
    Status,
};
use rattleback_geometry::{MassError, ShapeError};
use rattleback_numerics::StepError;

/// Every way in which a call into this crate can fail. The world is left as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No living body has this id.
    #[error("there is no {0}")]
    UnknownBody(BodyId),
    /// No attached shape has this id.
    #[error("there is no {0}")]
    UnknownShape(ShapeId),
    /// No material has this id.
    #[error("there is no {0}")]
    UnknownMaterial(MaterialId),
    /// No force has this id.
    #[error("there is no {0}")]
    UnknownForce(ForceId),
    /// No joint has this id.
    #[error("there is no {0}")]
    UnknownJoint(JointId),
    /// No multibody has this id.
    #[error("there is no {0}")]
    UnknownMultibody(MultibodyId),
    /// No multibody has such a link.
    #[error("there is no {0}")]
    UnknownLink(LinkId),
    /// No link of a multibody has this name.
    #[error("there is no link `{name}`; there are {}", known.join(", "))]
    UnknownLinkName {
        /// The name asked for.
        name: String,
        /// Names of the links.
        known: Vec<String>,
    },
    /// A multibody has no such joint.
    #[error("{multibody} has no joint {joint}")]
    UnknownMultibodyJoint {
        /// Which multibody.
        multibody: MultibodyId,
        /// Place or name asked for.
        joint: String,
    },
    /// A multibody refuses what it was given.
    #[error("{multibody}: {source}")]
    Mechanism {
        /// Which multibody.
        multibody: MultibodyId,
        /// Why.
        source: MechanismError,
    },
    /// A multibody could not be built.
    #[error("multibody: {0}")]
    Multibody(MechanismError),
    /// A multibody could not be moved; the world is where it was before the step.
    #[error("{multibody}: the step from t = {time} s by {dt} s failed: {source}")]
    MultibodyStep {
        /// Which multibody.
        multibody: MultibodyId,
        /// Time before the step.
        time: f64,
        /// Length of the step.
        dt: f64,
        /// Why.
        source: DynamicsError,
    },
    /// No part has this id, or it is of another type.
    #[error("there is no {0} of this type")]
    UnknownPart(PartId),
    /// No part has such an element.
    #[error("there is no {0}")]
    UnknownElement(ElementId),
    /// A part could not be moved; the world is where it was before the step.
    #[error("part `{part}`: {reason}")]
    Part {
        /// Name or type of the part.
        part: String,
        /// Why.
        reason: String,
    },
    /// Something cannot become part of a multibody, or of rigid bodies with joints.
    #[error("{what} cannot be converted: {reason}")]
    Assembly {
        /// The joint, link or multibody.
        what: String,
        /// Why.
        reason: String,
    },
    /// The body represents a link of a multibody or an element of a part, which alone moves it.
    #[error("{body} is {owner}; {operation} is refused, change its owner instead")]
    OwnedBody {
        /// Which body.
        body: BodyId,
        /// The link or element that it represents.
        owner: ColliderOwner,
        /// What was tried.
        operation: &'static str,
    },
    /// A simulator cannot move what is in the world.
    #[error("the simulator `{simulator}` does not support {what}; {instead}")]
    Unsupported {
        /// Type name of the simulator.
        simulator: &'static str,
        /// What is not supported.
        what: &'static str,
        /// What to do about it.
        instead: &'static str,
    },
    /// The material that everything falls back on cannot go.
    #[error("the default material cannot be removed")]
    DefaultMaterial,
    /// The material is on a shape.
    #[error("{material} is in use on {shape}")]
    MaterialInUse {
        /// Which material.
        material: MaterialId,
        /// A shape that has it.
        shape: ShapeId,
    },
    /// A parameter is out of range.
    #[error("{what} must be {allowed}; got {value}")]
    Parameter {
        /// Which parameter.
        what: &'static str,
        /// What is accepted.
        allowed: &'static str,
        /// What was given.
        value: String,
    },
    /// The mass of a body cannot be determined.
    #[error("body{}: {reason}", name.as_ref().map_or_else(String::new, |name| format!(" `{name}`")))]
    Mass {
        /// Name of the body, if it has one.
        name: Option<String>,
        /// Why.
        reason: String,
    },
    /// The operation makes no sense for a body of this status.
    #[error("{body} is {status}; {operation} needs {needed}")]
    WrongStatus {
        /// Which body.
        body: BodyId,
        /// What it is.
        status: Status,
        /// What was tried.
        operation: &'static str,
        /// What it would have to be.
        needed: &'static str,
    },
    /// A shape was refused.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A mass integral was refused.
    #[error(transparent)]
    MassIntegral(#[from] MassError),
    /// A property was refused.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// The registry could not make something.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The integrator gave up; the world is where it was before the step.
    #[error("the step from t = {time} s by {dt} s failed: {source}")]
    Step {
        /// Time before the step.
        time: f64,
        /// Length of the step.
        dt: f64,
        /// Why.
        source: StepError,
    },
    /// The event loop could not go on; the world is where it was before the step.
    #[error(transparent)]
    Impulse(#[from] crate::simulator::impulse::ImpulseError),
    /// The real-time simulator cannot go on.
    #[error(transparent)]
    Realtime(#[from] crate::simulator::realtime::RealtimeError),
    /// The broad phase refuses a collider.
    #[error("broad phase: {0}")]
    Space(#[from] rattleback_geometry::space::SpaceError),
    /// A question to the world has no answer.
    #[error(transparent)]
    Query(crate::query::QueryError),
    /// A collision could not be resolved.
    #[error("collision: {0}")]
    Collision(#[from] crate::impact::CollisionError),
    /// A snapshot could not be written or read.
    #[error("snapshot: {0}")]
    Snapshot(#[from] crate::world::SnapshotError),
}

/// (name, accepted, value) ⇒ error.
pub(crate) fn parameter(what: &'static str, allowed: &'static str, value: impl std::fmt::Debug) -> Error {
    Error::Parameter { what, allowed, value: format!("{value:?}") }
}
