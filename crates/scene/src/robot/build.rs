//! Links, joints and what refers to them by name ⇒ model.

use super::actuator::RobotActuator;
use super::model::{Collider, RobotJoint, RobotModel};
use super::xml::Notes;
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use glam::DVec3;
use rattleback_dynamics::multibody::{
    Coupling, Link, LinkTree, LoopClosure, LoopKind, TreeBuilder, TreeError, Workspace, forward_kinematics,
};
use rattleback_geometry::{Pose, Shape};
use std::collections::HashMap;

/// Most names that a message lists.
const LISTED: usize = 12;

/// A joint before its link has a number.
#[derive(Debug)]
pub(super) struct JointDraft {
    pub joint: RobotJoint,
    /// Name of the link that it moves.
    pub link: String,
    /// Positions in the pose of the file, unless they are the neutral ones.
    pub initial: Option<Vec<f64>>,
}

/// A collider before its link has a number; without a name it belongs to the world.
#[derive(Debug)]
pub(super) struct ColliderDraft {
    pub link: Option<String>,
    pub shape: Shape,
    pub pose: Pose,
    pub friction: Option<f64>,
}

/// position(follower) = ratio · position(leader) + offset; without a leader the position is the offset.
#[derive(Debug)]
pub(super) struct CouplingDraft {
    pub name: String,
    pub follower: String,
    pub leader: Option<String>,
    pub ratio: f64,
    pub offset: f64,
    pub span: Span,
}

/// A loop between two links, or a link and the world: what holds in the pose of the file.
#[derive(Debug)]
pub(super) struct LoopDraft {
    pub name: String,
    pub links: [Option<String>; 2],
    /// Frame in the first link.
    pub frame: Pose,
    /// Frame in the second link; if it is not given, where the first frame is in the pose of the file.
    pub other: Option<Pose>,
    pub kind: LoopKind,
    pub span: Span,
}

/// An actuator and the name of its joint.
#[derive(Debug)]
pub(super) struct ActuatorDraft {
    pub actuator: RobotActuator,
    pub joint: String,
    pub span: Span,
}

/// Two links that must not collide, by name.
#[derive(Debug)]
pub(super) struct ExclusionDraft {
    pub links: [Option<String>; 2],
    pub span: Span,
}

/// What was read from a file.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub name: String,
    /// Links, the name of the parent of each, and its place in the text.
    pub links: Vec<(Link, Option<String>, Span)>,
    /// Whether the file has a name for the link.
    pub named: Vec<bool>,
    pub joints: Vec<JointDraft>,
    pub colliders: Vec<ColliderDraft>,
    pub couplings: Vec<CouplingDraft>,
    pub loops: Vec<LoopDraft>,
    pub exclusions: Vec<ExclusionDraft>,
    pub actuators: Vec<ActuatorDraft>,
    pub gravity: DVec3,
    pub time_step: Option<f64>,
}

/// Names of links ⇒ their numbers.
struct Numbers(HashMap<String, usize>);

impl Numbers {
    fn link(&self, name: &str, span: Span) -> Read<usize> {
        self.0.get(name).copied().ok_or_else(|| unknown("link", name, span, self.0.keys()))
    }

    /// None stays none: the world.
    fn ends(&self, names: &[Option<String>; 2], span: Span) -> Read<[Option<usize>; 2]> {
        let end = |name: &Option<String>| name.as_deref().map(|name| self.link(name, span)).transpose();
        Ok([end(&names[0])?, end(&names[1])?])
    }
}

/// The error for a name that the file does not have.
pub(super) fn unknown<'a>(
    kind: &str,
    name: &str,
    span: Span,
    known: impl Iterator<Item = &'a String>,
) -> Fault {
    let mut known: Vec<String> = known.take(100_000).cloned().collect();
    known.sort_unstable();
    Fault::new(span, Problem::UnknownName { kind: kind.into(), name: name.into(), known })
}

impl Draft {
    /// Builds the tree and resolves all names.
    pub fn build(self, notes: &mut Notes) -> Read<RobotModel> {
        let spans: HashMap<String, Span> =
            self.links.iter().map(|(link, _, span)| (link.name.clone(), *span)).collect();
        let named: HashMap<String, bool> = self
            .links
            .iter()
            .zip(&self.named)
            .map(|((link, ..), named)| (link.name.clone(), *named))
            .collect();
        let mut builder = TreeBuilder::new();
        let mut parents = Vec::with_capacity(self.links.len());
        for (link, parent, span) in self.links {
            parents.extend(parent.map(|parent| (parent, link.name.clone(), span)));
            builder.link(link);
        }
        for (parent, child, span) in &parents {
            builder.connect(parent, child).map_err(|error| tree_fault(&error, &spans, *span))?;
        }
        let tree = builder.build().map_err(|error| tree_fault(&error, &spans, Span::default()))?;
        let numbers = Numbers(
            tree.links().iter().enumerate().map(|(index, link)| (link.name.clone(), index)).collect(),
        );
        let mut initial = tree.neutral();
        let mut joints = Vec::with_capacity(self.joints.len());
        let mut places = HashMap::new();
        for JointDraft { mut joint, link, initial: given } in self.joints {
            joint.link = numbers.link(&link, Span::default())?;
            if let Some(given) = given {
                initial[tree.positions_of(joint.link)].copy_from_slice(&given);
            }
            places.insert(joint.name.clone(), joints.len());
            joints.push(joint);
        }
        let joint_of = |name: &str, span: Span| {
            places.get(name).copied().ok_or_else(|| unknown("joint", name, span, places.keys()))
        };
        let scalar = |name: &str, span: Span| {
            let velocities = tree.velocities_of(joints[joint_of(name, span)?].link);
            let single = velocities.len() == 1 && tree.position_of_velocity(velocities.start).is_some();
            let message = format!("joint `{name}` has no single position, so it cannot be coupled");
            if single { Ok(velocities.start) } else { Err(Fault::new(span, Problem::Conflict(message))) }
        };
        let mut couplings = Vec::with_capacity(self.couplings.len());
        for CouplingDraft { name, follower, leader, ratio, offset, span } in self.couplings {
            let axis = scalar(&follower, span)?;
            couplings.push(match leader {
                Some(leader) => Coupling::mimic(name, axis, scalar(&leader, span)?, ratio, offset),
                None => Coupling { name, terms: vec![(axis, 1.0)], offset },
            });
        }
        let mut colliders = Vec::with_capacity(self.colliders.len());
        for ColliderDraft { link, shape, pose, friction } in self.colliders {
            let link = link.map(|name| numbers.link(&name, Span::default())).transpose()?;
            colliders.push(Collider { link, shape, pose, friction });
        }
        let exclusions = self
            .exclusions
            .iter()
            .map(|given| numbers.ends(&given.links, given.span))
            .collect::<Read<_>>()?;
        let mut actuators = Vec::with_capacity(self.actuators.len());
        for ActuatorDraft { mut actuator, joint, span } in self.actuators {
            actuator.joint = joint_of(&joint, span)?;
            if tree.velocities_of(joints[actuator.joint].link).len() == 1 {
                actuators.push(actuator);
            } else {
                notes.add(
                    span,
                    format!("an actuator of joint `{joint}`, which has several axes, is left out"),
                );
            }
        }
        let loops = loops(&tree, &numbers, &initial, self.loops)?;
        let links = (0..tree.links().len()).filter(|link| named[&tree.links()[*link].name]).collect();
        Ok(RobotModel {
            name: self.name,
            tree,
            links,
            joints,
            colliders,
            couplings,
            loops,
            exclusions,
            actuators,
            gravity: self.gravity,
            time_step: self.time_step,
            initial,
            warnings: Vec::new(),
        })
    }
}

/// Poses of the links in the pose of the file.
pub(super) fn link_poses(tree: &LinkTree, q: &[f64]) -> Vec<Pose> {
    let mut work = Workspace::<f64>::new(tree);
    forward_kinematics(tree, &mut work, q);
    let pose = |link| {
        let rotation = glam::DQuat::from_mat3(&work.rotation(link, 0)).normalize();
        Pose::new(rotation, work.origin(link, 0))
    };
    (0..tree.links().len()).map(pose).collect()
}

fn loops(tree: &LinkTree, numbers: &Numbers, q: &[f64], drafts: Vec<LoopDraft>) -> Read<Vec<LoopClosure>> {
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    let poses = link_poses(tree, q);
    let pose_of = |link: Option<usize>| link.map_or(Pose::IDENTITY, |link| poses[link]);
    let closure = |LoopDraft { name, links, frame, other, kind, span }| {
        let links = numbers.ends(&links, span)?;
        let other = other.unwrap_or_else(|| pose_of(links[1]).inverse() * pose_of(links[0]) * frame);
        let points = [frame.translation, other.translation];
        Ok(LoopClosure::new(name, links, points, kind).with_rotations([frame.rotation, other.rotation]))
    };
    drafts.into_iter().map(closure).collect()
}

/// Error of the tree ⇒ fault at the link that it names.
fn tree_fault(error: &TreeError, spans: &HashMap<String, Span>, otherwise: Span) -> Fault {
    let at = |link: &String| spans.get(link).copied().unwrap_or(otherwise);
    match error {
        TreeError::Cycle { links } => {
            let mut names = links.iter().take(LISTED).cloned().collect::<Vec<_>>().join(" → ");
            if links.len() > LISTED {
                names = format!("{names} → … ({} links)", links.len());
            }
            let span = links.first().map_or(otherwise, at);
            Fault::new(span, Problem::Conflict(format!("the joints form a cycle: {names}")))
        }
        TreeError::DuplicateName { link } => {
            Fault::new(at(link), Problem::Duplicate { kind: "link", name: link.clone() })
        }
        TreeError::TwoParents { link, .. } | TreeError::Massless { link } => {
            Fault::new(at(link), Problem::Conflict(error.to_string()))
        }
        TreeError::UnknownLink { link, name } => unknown("link", name, at(link), spans.keys()),
        TreeError::Parameter { link, .. } | TreeError::UnknownParent { link, .. } => {
            Fault::new(at(link), Problem::Refused(error.to_string()))
        }
        _ => Fault::new(otherwise, Problem::Refused(error.to_string())),
    }
}
