//! A multibody on its way into a world, and how the world keeps it.
//!
//! A multibody moves by its own equations of motion in joint coordinates ([`Mechanism`]). Every link that has shapes is represented among the bodies
//! of the world by a kinematic body, the *link body*, whose frame is the frame of the link. Within a step from t₀ to t₁ it moves at constant
//! velocity and angular velocity from the pose of the link at t₀ to that at t₁; at both ends pose and velocity are those of forward kinematics.
//! Contacts, rays, queries, filters and events thus treat links as every other body, and [`World::owner_of`](super::World::owner_of) names
//! the link.
//!
//! Limits. Contact acts one way: a link pushes bodies as an obstacle in motion does, and nothing pushes back on the joints. Links do not
//! collide with one another, nor with static or kinematic bodies.

use super::{
    Bodies, BodyId, CollisionGroups, Handle, MaterialId, MultibodyId, Path, ShapePart, WorkCategory,
};
use crate::error::Error;
use crate::multibody::{LimitHit, LinkTree, Mechanism, MechanismReadout, MechanismState};
use crate::rigid::Motion;
use glam::DQuat;
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// Names a link of a multibody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkId {
    /// The multibody.
    pub multibody: MultibodyId,
    /// Place of the link in its tree; the joint towards its parent has the same place.
    pub index: u32,
}

impl std::fmt::Display for LinkId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "link {} of {}", self.index, self.multibody)
    }
}

/// A joint of a multibody: by its place, which is that of its link, or by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKey<'a> {
    /// Place of its link in the tree.
    Index(usize),
    /// Name of the joint; without one, that of its link.
    Name(&'a str),
}

impl From<usize> for JointKey<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl<'a> From<&'a str> for JointKey<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for JointKey<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl std::fmt::Display for JointKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

/// A multibody before it enters a world.
///
/// A pendulum of 1 m and 1 kg, released from a tenth of a radian: its period is 2π √(I/(m g l)) with I = m l² + ⅖ m r², less a share of φ²/16
/// for the finite swing.
///
/// ```
/// use rattleback_dynamics::glam::{DMat3, DVec3};
/// use rattleback_dynamics::multibody::joint::RevoluteJoint;
/// use rattleback_dynamics::multibody::{Link, LinkTree, Mechanism};
/// use rattleback_dynamics::world::Multibody;
/// use rattleback_dynamics::{FreeMotion, ShapePart, Simulator, World};
/// use rattleback_geometry::{Pose, Shape};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bob = Link::new("bob", None, RevoluteJoint { axis: DVec3::Y })
///     .with_mass(1.0, -DVec3::Z, DMat3::from_diagonal(DVec3::splat(0.004)));
/// let shape = ShapePart { pose: Pose::at(-DVec3::Z), ..Shape::sphere(0.1)?.into() };
/// let mut world = World::default();
/// let pendulum = Multibody::new(Mechanism::new(LinkTree::new(vec![bob])?)).named("pendulum");
/// let id = world.add_multibody(pendulum.with_part("bob", shape)?)?;
/// world.multibody_mut(id)?.set_positions("bob", &[0.1])?;
/// let period = std::f64::consts::TAU * (1.004_f64 / 9.81).sqrt() * (1.0 + 0.01 / 16.0);
/// for _ in 0..1000 {
///     FreeMotion::default().step(&mut world, period / 1000.0)?;
/// }
/// assert!((world.multibody(id)?.positions("bob")?[0] - 0.1).abs() < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Multibody {
    pub(super) name: Option<String>,
    pub(super) mechanism: Mechanism,
    pub(super) joint_names: Vec<String>,
    pub(super) parts: Vec<(usize, ShapePart)>,
    pub(super) material: Option<MaterialId>,
    pub(super) groups: Option<CollisionGroups>,
}

impl Multibody {
    /// A mechanism in its present state, without shapes. Each joint is called as its link. The gravity of the world replaces its own.
    pub fn new(mechanism: Mechanism) -> Self {
        let joint_names = mechanism.tree().links().iter().map(|link| link.name.clone()).collect();
        Self { name: None, mechanism, joint_names, parts: Vec::new(), material: None, groups: None }
    }

    /// Gives it a name. Link bodies are then called `name/link`, and `link` without one.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// (link, name): calls the joint of a link otherwise than the link.
    ///
    /// # Errors
    /// There is no such link.
    pub fn with_joint_name(mut self, link: &str, name: impl Into<String>) -> Result<Self, Error> {
        let index = find_link(self.mechanism.tree(), link)?;
        self.joint_names[index] = name.into();
        Ok(self)
    }

    /// (link, shape in the frame of the link). Masses of links are those of the tree: densities of shapes count for nothing.
    ///
    /// # Errors
    /// There is no such link.
    pub fn with_part(mut self, link: &str, part: impl Into<ShapePart>) -> Result<Self, Error> {
        let index = find_link(self.mechanism.tree(), link)?;
        self.parts.push((index, part.into()));
        Ok(self)
    }

    /// The material of shapes that name none.
    #[must_use]
    pub const fn material(mut self, material: MaterialId) -> Self {
        self.material = Some(material);
        self
    }

    /// Collision groups of shapes that name none.
    #[must_use]
    pub const fn groups(mut self, groups: CollisionGroups) -> Self {
        self.groups = Some(groups);
        self
    }

    /// The mechanism.
    pub const fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The mechanism, to change.
    pub const fn mechanism_mut(&mut self) -> &mut Mechanism {
        &mut self.mechanism
    }
}

/// Name ⇒ place of a link in the tree.
pub(super) fn find_link(tree: &LinkTree, name: &str) -> Result<usize, Error> {
    tree.find(name).ok_or_else(|| Error::UnknownLinkName {
        name: name.to_owned(),
        known: tree.links().iter().map(|link| link.name.clone()).collect(),
    })
}

/// A kinematic body that represents a link of a multibody or an element of a part, and follows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DrivenBody {
    /// Index of the link or element.
    pub index: u32,
    pub body: BodyId,
    /// Whether it moved in the last step.
    pub moves: bool,
    /// The same before the present step.
    #[serde(skip)]
    pub moved_before: bool,
    /// Its path during a step: poses at the beginning, at the end, and as far again beyond. Empty between steps, with its room kept.
    #[serde(skip)]
    pub keys: Vec<(f64, Pose)>,
    /// State at the beginning of the step.
    #[serde(skip)]
    pub before: Motion,
}

impl DrivenBody {
    pub fn new(index: u32, body: BodyId) -> Self {
        let keys = Vec::with_capacity(3);
        Self { index, body, moves: false, moved_before: false, keys, before: Motion::default() }
    }

    /// Keeps its state at the beginning of a step.
    pub fn save(&mut self, bodies: &Bodies) {
        self.before = bodies.motion_of(self.body).copied().unwrap_or_default();
        self.moved_before = self.moves;
    }

    /// (pose at the end of the step, start, end and length of the step) ⇒ whether it moves in this step or moved in the last. If it
    /// moves, it gets a path from its pose at the beginning, at constant velocity and angular velocity.
    pub fn set_path(&mut self, bodies: &mut Bodies, to: Pose, [start, end, dt]: [f64; 3]) -> bool {
        let from = bodies.pose_of(self.body, &self.before);
        let moves = from != to && end > start && end + dt > end;
        self.moved_before = std::mem::replace(&mut self.moves, moves);
        if moves {
            self.keys.clear();
            self.keys.extend([(start, from), (end, to), (end + dt, beyond(&from, &to))]);
            if let Ok(body) = bodies.record_mut(self.body) {
                body.path = Some(Path::Keyframes(std::mem::take(&mut self.keys)));
                body.path_start = from;
            }
        }
        moves || self.moved_before
    }

    /// Takes the path of the step from the body.
    pub fn release(&mut self, bodies: &mut Bodies) {
        let Ok(body) = bodies.record_mut(self.body) else { return };
        if let Some(Path::Keyframes(keys)) = body.path.take() {
            self.keys = keys;
            self.keys.clear();
        }
    }

    /// Puts the body back to the beginning of the step.
    pub fn roll_back(&mut self, bodies: &mut Bodies) {
        self.release(bodies);
        self.moves = self.moved_before;
        if let Ok(motion) = bodies.motion_of_mut(self.body) {
            *motion = self.before;
        }
    }
}

/// Two poses ⇒ the pose as far beyond the second, at the same velocity and angular velocity.
fn beyond(from: &Pose, to: &Pose) -> Pose {
    let turn = to.rotation * from.rotation.conjugate();
    let turn: DQuat = if turn.w < 0.0 { -turn } else { turn };
    Pose::new((turn * to.rotation).normalize(), 2.0 * to.translation - from.translation)
}

/// A multibody of a world.
#[derive(Clone, Debug)]
pub(super) struct MultibodyRecord {
    pub name: Option<String>,
    pub joint_names: Vec<String>,
    pub mechanism: Mechanism,
    pub links: Vec<DrivenBody>,
    /// Energy, momentum and power at the present state.
    pub readout: MechanismReadout,
    /// Joint accelerations at the present state.
    pub accelerations: Vec<f64>,
    pub accelerations_before: Vec<f64>,
    /// Power of the forces of the world on the links, W, now and at the beginning of a step.
    pub link_power: [f64; 2],
    /// Limits that were reached in the last step, on the clock of the mechanism.
    pub hits: Vec<LimitHit>,
    /// State, energy and power at the beginning of a step.
    pub before: MechanismState,
    pub readout_before: MechanismReadout,
}

impl MultibodyRecord {
    pub fn new(name: Option<String>, joint_names: Vec<String>, mechanism: Mechanism) -> Self {
        Self {
            name,
            joint_names,
            accelerations: vec![0.0; mechanism.velocities().len()],
            accelerations_before: vec![0.0; mechanism.velocities().len()],
            mechanism,
            links: Vec::new(),
            readout: MechanismReadout::default(),
            link_power: [0.0; 2],
            hits: Vec::new(),
            before: MechanismState::default(),
            readout_before: MechanismReadout::default(),
        }
    }

    /// Joint ⇒ its place.
    pub fn joint(&self, id: MultibodyId, key: JointKey<'_>) -> Result<usize, Error> {
        let found = match key {
            JointKey::Index(index) => Some(index).filter(|index| *index < self.joint_names.len()),
            JointKey::Name(name) => self.joint_names.iter().position(|joint| joint == name),
        };
        found.ok_or_else(|| Error::UnknownMultibodyJoint { multibody: id, joint: key.to_string() })
    }

    /// Evaluates energy, momentum, power, accelerations and places of the links at the present state.
    pub fn refresh(&mut self) -> Result<(), crate::multibody::DynamicsError> {
        self.readout = self.mechanism.readout();
        self.accelerations.copy_from_slice(self.mechanism.accelerations()?);
        Ok(())
    }

    /// Place of a link ⇒ pose of its frame, when it was evaluated last.
    pub fn link_pose(&self, link: usize) -> Pose {
        let work = self.mechanism.observed();
        let rotation = glam::DQuat::from_mat3(&work.rotation(link, 0)).normalize();
        Pose::new(rotation, work.origin(link, 0))
    }

    /// Puts the link bodies where forward kinematics has them.
    pub fn place_links(&self, bodies: &mut Bodies) {
        for link in &self.links {
            let Ok(body) = bodies.record_mut(link.body) else { continue };
            let motion = self.link_motion(link.index as usize, &body.body_from_principal);
            body.path_start = self.link_pose(link.index as usize);
            if let Ok(present) = bodies.motion_of_mut(link.body) {
                *present = motion;
            }
        }
    }

    /// Work of drives, dampers and forces on the links in a step of length h, by the trapezoidal rule; what is left in a multibody with limits, dry friction,
    /// couplings or loops counts as theirs, in any other as error of the integrator.
    pub fn work(&self, h: f64) -> impl Iterator<Item = (WorkCategory, f64)> {
        let (then, now, gravity) = (&self.readout_before, &self.readout, self.mechanism.gravity());
        let energy = |readout: &MechanismReadout| readout.kinetic_energy + readout.potential_energy(gravity);
        let motor = 0.5 * h * (then.driving_power + now.driving_power);
        let damping = 0.5 * h * (then.damping_power + now.damping_power);
        let field = 0.5 * h * (self.link_power[0] + self.link_power[1]);
        let dry = self.mechanism.has_dry_parts();
        let left = if dry { energy(now) - energy(then) - motor - damping - field } else { 0.0 };
        let posts = [
            (WorkCategory::Motor, motor),
            (WorkCategory::Damping, damping),
            (WorkCategory::Force, field),
            (WorkCategory::Joint, left),
        ];
        posts.into_iter().filter(|(_, joules)| *joules != 0.0)
    }

    /// (link, from its frame to the principal frame of its body) ⇒ state of the body.
    pub fn link_motion(&self, link: usize, body_from_principal: &Pose) -> Motion {
        let pose = self.link_pose(link);
        let twist = self.mechanism.observed().velocity(link);
        Motion::of_frame(&pose, twist.linear.lane(0), twist.angular.lane(0), body_from_principal)
    }
}

/// Id for messages.
pub(super) fn label(id: MultibodyId) -> String {
    format!("multibody {}v{}", id.slot(), id.generation())
}
