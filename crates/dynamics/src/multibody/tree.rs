//! A tree of links: structure, joints and masses, checked once, so that the algorithms need not check.

use super::joint::{FixedJoint, JointKind, SingleAxis};
use super::linear::{Matrix, Symmetric, Vector};
use super::spatial::RigidInertia;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Deviation from unit length that an axis may have.
const UNIT_TOLERANCE: f64 = 1e-9;

/// Why a tree of links could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The parent is no link that was given before.
    #[error("link `{link}`: its parent is link {parent}, but only {known} links come before it")]
    UnknownParent {
        /// Name of the link.
        link: String,
        /// Index of the parent asked for.
        parent: usize,
        /// Number of links before it.
        known: usize,
    },
    /// A joint names a link that does not exist.
    #[error("link `{link}`: there is no link `{name}`")]
    UnknownLink {
        /// Name of the link whose joint it is.
        link: String,
        /// The name asked for.
        name: String,
    },
    /// Two joints connect a link to a parent.
    #[error("link `{link}` has two parents, `{}` and `{}`; close the loop by a constraint instead", parents[0], parents[1])]
    TwoParents {
        /// Name of the link.
        link: String,
        /// Names of the first two parents.
        parents: [String; 2],
    },
    /// Links are their own ancestors.
    #[error("the joints form a cycle: {}", links.join(" → "))]
    Cycle {
        /// Names of the links on the cycle.
        links: Vec<String>,
    },
    /// Two links have one name.
    #[error("two links are called `{link}`")]
    DuplicateName {
        /// The name.
        link: String,
    },
    /// A number is not what it must be.
    #[error("link `{link}`: {what} must be {allowed}, not {value}")]
    Parameter {
        /// Name of the link.
        link: String,
        /// Which number.
        what: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// What was given.
        value: String,
    },
    /// A joint can move without moving any mass.
    #[error("link `{link}`: its joint moves no mass; give it or a link beyond it a mass, or fix it")]
    Massless {
        /// Name of the link.
        link: String,
    },
}

/// A rigid link and the joint that connects it to its parent.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name; unique in a tree.
    pub name: String,
    /// Index of its parent; none for the world.
    pub parent: Option<usize>,
    /// Kind of its joint.
    pub joint: Arc<dyn JointKind>,
    /// Axes of the joint's frame in the parent link's frame.
    pub joint_rotation: DQuat,
    /// Origin of the joint's frame in the parent link's frame, m.
    pub joint_position: DVec3,
    /// Mass, kg; 0 for intermediate links with mass beyond them.
    pub mass: f64,
    /// Centre of mass in the link's frame, m.
    pub center_of_mass: DVec3,
    /// Inertia tensor about the centre of mass along the axes of the link's frame, kg·m².
    pub inertia: DMat3,
    /// Inertia of motors and gears that each velocity of the joint moves besides the links, kg·m² or kg.
    pub armature: f64,
}

impl Link {
    /// (name, parent, joint) ⇒ a massless link whose joint sits in its parent's frame.
    pub fn new(name: impl Into<String>, parent: Option<usize>, joint: impl JointKind + 'static) -> Self {
        Self {
            name: name.into(),
            parent,
            joint: Arc::new(joint),
            joint_rotation: DQuat::IDENTITY,
            joint_position: DVec3::ZERO,
            mass: 0.0,
            center_of_mass: DVec3::ZERO,
            inertia: DMat3::ZERO,
            armature: 0.0,
        }
    }

    /// A link that is part of its parent.
    pub fn fixed(name: impl Into<String>, parent: Option<usize>) -> Self {
        Self::new(name, parent, FixedJoint)
    }

    /// Puts the joint elsewhere in the parent's frame.
    #[must_use]
    pub fn at(mut self, position: DVec3, rotation: DQuat) -> Self {
        (self.joint_position, self.joint_rotation) = (position, rotation);
        self
    }

    /// Gives the link a mass, kg, a centre of mass, m, and an inertia tensor about it, kg·m².
    #[must_use]
    pub fn with_mass(mut self, mass: f64, center_of_mass: DVec3, inertia: DMat3) -> Self {
        (self.mass, self.center_of_mass, self.inertia) = (mass, center_of_mass, inertia);
        self
    }

    fn check(&self) -> Result<(), TreeError> {
        let refuse = |what, allowed, value: String| {
            Err(TreeError::Parameter { link: self.name.clone(), what, allowed, value })
        };
        let finite = self.joint_position.is_finite() && self.center_of_mass.is_finite();
        if !finite || !self.joint_rotation.is_finite() || !self.inertia.is_finite() {
            return refuse("every number", "finite", format!("{self:?}"));
        }
        if (self.joint_rotation.length() - 1.0).abs() > UNIT_TOLERANCE {
            return refuse("the joint's rotation", "a unit quaternion", self.joint_rotation.to_string());
        }
        if !(self.mass >= 0.0 && self.mass.is_finite()) {
            return refuse("the mass", "finite and at least 0", self.mass.to_string());
        }
        if !(self.armature >= 0.0 && self.armature.is_finite()) {
            return refuse("the armature", "finite and at least 0", self.armature.to_string());
        }
        for axis in self.joint.axes() {
            if !axis.is_finite() || (axis.length() - 1.0).abs() > UNIT_TOLERANCE {
                return refuse("the joint's axis", "a unit vector", axis.to_string());
            }
        }
        if self.joint.velocity_count() > 6 {
            return refuse(
                "the joint's velocity count",
                "at most 6",
                self.joint.velocity_count().to_string(),
            );
        }
        let scale = self.inertia.abs().to_cols_array().into_iter().fold(0.0, f64::max);
        let asymmetry = (self.inertia - self.inertia.transpose()).abs().to_cols_array();
        if asymmetry.into_iter().any(|difference| difference > 1e-9 * scale + 1e-15 * self.mass) {
            return refuse("the inertia", "symmetric", self.inertia.to_string());
        }
        // A moment that rounding made negative, beside the mass at a distance of one metre, is none.
        let (i, slack) = (self.inertia, -1e-9 * scale - 1e-15 * self.mass);
        let diagonal = DVec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z);
        let sum = diagonal.element_sum();
        // Along every direction the two other moments add up to at least the one: I_x + I_y ≥ I_z. On the diagonal this is necessary.
        if diagonal.to_array().into_iter().any(|moment| moment < slack || sum - 2.0 * moment < slack) {
            return refuse(
                "the inertia",
                "that of a body (no moment above the sum of the others)",
                i.to_string(),
            );
        }
        Ok(())
    }
}

/// Short forms of a joint for the algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ShortForm {
    /// R = A + C + sin q B − cos q C with A the joint's rotation, B = A ã, C = A ã², and its axis in the link's frame.
    Rotation { sum: DMat3, sine: DMat3, cosine: DMat3, axis: DVec3 },
    /// About a coordinate axis of the link's frame, by its place and sign: A and the parent's rotation first, then two columns are turned.
    /// `straight`: A is the identity.
    AlignedRotation { axis: usize, sign: f64, straight: bool },
    /// Axis in the link's frame, and in the parent's.
    Translation { axis: DVec3, in_parent: DVec3 },
    /// No short form.
    General,
}

/// What the algorithms need of a link.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Index of the parent; `ROOT` for the world.
    pub parent: u32,
    /// First position and first velocity.
    pub position: u32,
    pub velocity: u32,
    pub velocity_count: u32,
    pub form: ShortForm,
    pub rotation: DMat3,
    pub offset: DVec3,
    pub mass: f64,
    pub center: DVec3,
    pub inertia: DMat3,
    /// m c and the inertia about the link's origin, along the link's axes.
    pub first_moment: DVec3,
    pub second_moment: DMat3,
    pub armature: f64,
    /// Whether S, seen in the link's frame, is the same at all positions.
    pub constant_subspace: bool,
}

/// Parent of links that hang on the world.
pub(super) const ROOT: u32 = u32::MAX;

/// A tree, or a forest, of links.
///
/// Links are numbered in the order in which they are given; a parent comes before its children.
#[derive(Clone, Debug)]
pub struct LinkTree {
    links: Vec<Link>,
    pub(super) nodes: Vec<Node>,
    positions: usize,
    velocities: usize,
    /// Place of the position and of the velocity of every revolute joint.
    pub(super) angles: Vec<[u32; 2]>,
}

impl LinkTree {
    /// Links, parents before children ⇒ tree.
    ///
    /// # Errors
    /// A parent that does not come before, a name given twice, numbers out of range, or a joint that moves no mass.
    pub fn new(links: Vec<Link>) -> Result<Self, TreeError> {
        let mut names = std::collections::HashSet::new();
        let (mut positions, mut velocities) = (0, 0);
        let mut nodes = Vec::with_capacity(links.len());
        for (index, link) in links.iter().enumerate() {
            link.check()?;
            if !names.insert(link.name.as_str()) {
                return Err(TreeError::DuplicateName { link: link.name.clone() });
            }
            if let Some(parent) = link.parent.filter(|parent| *parent >= index) {
                return Err(TreeError::UnknownParent { link: link.name.clone(), parent, known: index });
            }
            nodes.push(Node::new(link, positions, velocities));
            positions += link.joint.position_count();
            velocities += link.joint.velocity_count();
        }
        let revolute = |node: &&Node| {
            matches!(node.form, ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. })
        };
        let angles = nodes.iter().filter(revolute).map(|node| [node.position, node.velocity]).collect();
        let tree = Self { links, nodes, positions, velocities, angles };
        tree.check_masses()?;
        Ok(tree)
    }

    /// A joint whose whole subtree has no mass and no armature could be accelerated without any force.
    fn check_masses(&self) -> Result<(), TreeError> {
        let mut moved: Vec<f64> = self.links.iter().map(|link| link.mass).collect();
        for index in (0..self.links.len()).rev() {
            let link = &self.links[index];
            if moved[index] == 0.0 && link.armature == 0.0 && link.joint.velocity_count() > 0 {
                return Err(TreeError::Massless { link: link.name.clone() });
            }
            if let Some(parent) = link.parent {
                moved[parent] += moved[index];
            }
        }
        Ok(())
    }

    /// Links in their order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Name ⇒ index of a link.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name == name)
    }

    /// Number of joint positions q.
    pub const fn position_count(&self) -> usize {
        self.positions
    }

    /// Number of joint velocities v.
    pub const fn velocity_count(&self) -> usize {
        self.velocities
    }

    /// Index of a link ⇒ places of its joint among the positions.
    pub fn positions_of(&self, link: usize) -> std::ops::Range<usize> {
        let start = self.nodes[link].position as usize;
        start..start + self.links[link].joint.position_count()
    }

    /// Index of a link ⇒ places of its joint among the velocities.
    pub fn velocities_of(&self, link: usize) -> std::ops::Range<usize> {
        let start = self.nodes[link].velocity as usize;
        start..start + self.nodes[link].velocity_count as usize
    }

    /// Positions at which every joint is in its reference position.
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.positions];
        for (index, link) in self.links.iter().enumerate() {
            link.joint.neutral(&mut q[self.positions_of(index)]);
        }
        q
    }

    /// Moves positions along constant velocities for a time, s.
    pub fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        for (index, link) in self.links.iter().enumerate() {
            link.joint.advance(&mut q[self.positions_of(index)], &v[self.velocities_of(index)], h);
        }
    }

    /// (positions q₀, coordinates ξ) ⇒ q₀ ⊕ ξ.
    pub fn retract(&self, start: &[f64], xi: &[f64], q: &mut [f64]) {
        for (index, link) in self.links.iter().enumerate() {
            let (positions, velocities) = (self.positions_of(index), self.velocities_of(index));
            link.joint.retract(&start[positions.clone()], &xi[velocities], &mut q[positions]);
        }
    }

    /// (positions q₀, coordinates ξ, velocities at q₀ ⊕ ξ) ⇒ ξ̇.
    pub fn coordinate_rates(&self, start: &[f64], xi: &[f64], v: &[f64], rates: &mut [f64]) {
        for (index, link) in self.links.iter().enumerate() {
            let (positions, velocities) = (self.positions_of(index), self.velocities_of(index));
            let (xi, v) = (&xi[velocities.clone()], &v[velocities.clone()]);
            link.joint.coordinate_rate(&start[positions], xi, v, &mut rates[velocities]);
        }
    }

    /// (positions, velocities) ⇒ q̇.
    pub fn position_rates(&self, q: &[f64], v: &[f64], rates: &mut [f64]) {
        for (index, link) in self.links.iter().enumerate() {
            let (positions, velocities) = (self.positions_of(index), self.velocities_of(index));
            link.joint.position_rate(&q[positions.clone()], &v[velocities], &mut rates[positions]);
        }
    }

    /// (positions q₀, positions q) ⇒ ξ with q = q₀ ⊕ ξ.
    pub fn displacements(&self, start: &[f64], q: &[f64], xi: &mut [f64]) {
        for (index, link) in self.links.iter().enumerate() {
            let (positions, velocities) = (self.positions_of(index), self.velocities_of(index));
            link.joint.displacement(&start[positions.clone()], &q[positions], &mut xi[velocities]);
        }
    }

    /// Place of a velocity ⇒ place of the position whose rate it is; none for the velocities of quaternions.
    pub fn position_of_velocity(&self, velocity: usize) -> Option<usize> {
        let link = self.link_of_velocity(velocity)?;
        let place = velocity - self.nodes[link].velocity as usize;
        self.links[link].joint.velocities_are_rates().then(|| self.nodes[link].position as usize + place)
    }

    /// Place of a velocity ⇒ index of the link whose joint it belongs to.
    pub fn link_of_velocity(&self, velocity: usize) -> Option<usize> {
        if velocity >= self.velocities {
            return None;
        }
        let after = self.nodes.partition_point(|node| node.velocity as usize <= velocity);
        (0..after).rev().find(|link| self.velocities_of(*link).contains(&velocity))
    }

    /// Puts positions back where they must lie (unit quaternions).
    pub fn normalize(&self, q: &mut [f64]) {
        for (index, link) in self.links.iter().enumerate() {
            link.joint.normalize(&mut q[self.positions_of(index)]);
        }
    }
}

impl Node {
    fn new(link: &Link, position: usize, velocity: usize) -> Self {
        let rotation = DMat3::from_quat(link.joint_rotation);
        let form = match link.joint.single_axis() {
            Some(SingleAxis::Rotation(a)) if a.abs().max_element() == 1.0 && a.abs().element_sum() == 1.0 => {
                let axis = a.abs().max_position();
                ShortForm::AlignedRotation { axis, sign: a[axis], straight: rotation == DMat3::IDENTITY }
            }
            Some(SingleAxis::Rotation(a)) => {
                let skew = DMat3::from_cols(
                    DVec3::new(0.0, a.z, -a.y),
                    DVec3::new(-a.z, 0.0, a.x),
                    DVec3::new(a.y, -a.x, 0.0),
                );
                let (sine, cosine) = (rotation * skew, rotation * skew * skew);
                ShortForm::Rotation { sum: rotation + cosine, sine, cosine, axis: a }
            }
            Some(SingleAxis::Translation(axis)) => {
                ShortForm::Translation { axis, in_parent: rotation * axis }
            }
            None => ShortForm::General,
        };
        Self {
            parent: link.parent.map_or(ROOT, |parent| parent as u32),
            position: position as u32,
            velocity: velocity as u32,
            velocity_count: link.joint.velocity_count() as u32,
            form,
            rotation,
            offset: link.joint_position,
            mass: link.mass,
            center: link.center_of_mass,
            inertia: link.inertia,
            first_moment: link.mass * link.center_of_mass,
            second_moment: about_origin(link),
            armature: link.armature,
            constant_subspace: link.joint.has_constant_subspace(),
        }
    }

    /// Inertia about the link's origin along the axes of the world.
    #[inline(always)]
    pub fn world_inertia<T: super::Scalar>(&self, rotation: &Matrix<T>) -> RigidInertia<T> {
        if T::EXTENDED {
            // I + m (c² 1 − c cᵀ) is rounded to doubles in `second_moment`, which loses the I of what is nearly a point far from its joint.
            return self.inertia_about(rotation, Vector::default());
        }
        RigidInertia {
            mass: T::splat(self.mass),
            first_moment: rotation.apply(Vector::splat(self.first_moment)),
            second_moment: Symmetric::splat(&self.second_moment).rotated(rotation),
        }
    }

    /// Inertia along the axes of the world about a point from which the link's origin lies at `arm`.
    #[inline(always)]
    pub fn inertia_about<T: super::Scalar>(&self, rotation: &Matrix<T>, arm: Vector<T>) -> RigidInertia<T> {
        let mass = T::splat(self.mass);
        let center = arm + rotation.apply(Vector::splat(self.center));
        let mut second_moment = Symmetric::splat(&self.inertia).rotated(rotation);
        second_moment.add_point_mass(center, mass);
        RigidInertia { mass, first_moment: center * mass, second_moment }
    }
}

/// Inertia of a link about its origin: I + m (c² 1 − c cᵀ).
fn about_origin(link: &Link) -> DMat3 {
    let c = link.center_of_mass;
    let outer = DMat3::from_cols(c * c.x, c * c.y, c * c.z);
    link.inertia + (DMat3::from_diagonal(DVec3::splat(c.length_squared())) - outer) * link.mass
}
