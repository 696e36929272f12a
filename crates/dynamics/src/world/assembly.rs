//! Rigid bodies with joints between them ⇒ a multibody.
//!
//! The bodies that joints connect to a given one, over any number of other dynamic bodies, are its assembly. A spanning tree of the joints, by breadth from the world
//! (fixed bodies belong to it) and then from the heaviest body that is left, gives the links; a joint that is not in the tree
//! closes a loop. The frame of a link is the frame B that its joint has on it. If the tree passes a joint from B to A, the motion is the inverse one: with
//! T(q) the motion of B in A, exp(q ŝ)⁻¹ = exp(−q ŝ), so single axes are turned about and the two axes of a universal joint change places.

use super::multibody::Multibody;
use super::{BodyId, JointId, MultibodyId, ShapePart, Status, World};
use crate::error::Error;
use crate::joint::{
    Cylindrical, Distance, Fixed, JointMotion, JointRecord, Planar, Prismatic, Revolute, Spherical, Universal,
};
use crate::multibody::joint::{
    CylindricalJoint, FixedJoint, FreeJoint, JointKind, PlanarJoint, PrismaticJoint, RevoluteJoint,
    SphericalJoint, UniversalJoint,
};
use crate::multibody::{Friction, Limit, Link, LinkTree, LoopClosure, LoopKind, Mechanism, MechanismError};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::Pose;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A joint as part of a tree: its kind, its positions and velocities, limits and friction by axis.
struct TreeJoint {
    kind: Arc<dyn JointKind>,
    q: Vec<f64>,
    v: Vec<f64>,
    limits: Vec<(usize, [f64; 2])>,
    frictions: Vec<(usize, f64)>,
}

/// A link on its way: the body, its parent, the pose of the link's frame in principal coordinates of the body, its joint and where that sits.
struct Branch {
    body: BodyId,
    parent: Option<usize>,
    link_in_principal: Pose,
    joint: TreeJoint,
    /// Frame of the joint in the parent's link frame, or in the world.
    place: Pose,
    name: Option<String>,
}

impl World {
    /// Turns a dynamic body and all that joints connect to it into a multibody in the same state. The bodies and joints are taken out; shapes, masses,
    /// limits and dry friction are kept.
    ///
    /// ```
    /// use rattleback_dynamics::glam::DVec3;
    /// use rattleback_dynamics::joint::{JointFrames, Revolute};
    /// use rattleback_dynamics::{Body, FreeMotion, Simulator, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let rod = Shape::cuboid(DVec3::new(0.5, 0.02, 0.02))?;
    /// let first = world.add_body(Body::dynamic().at(0.5, 0.0, 0.0).with_shape(rod.clone()))?;
    /// let second = world.add_body(Body::dynamic().at(1.5, 0.0, 0.0).with_shape(rod))?;
    /// world.add_joint(JointFrames::to_world(first).along(DVec3::Y), Revolute::default())?;
    /// world.add_joint(JointFrames::between(first, second).at(DVec3::X).along(DVec3::Y), Revolute::default())?;
    /// let pendulum = world.multibody_from_bodies(first)?;
    /// FreeMotion::default().step(&mut world, 0.001)?;
    /// assert_eq!(world.multibody(pendulum)?.all_positions().len(), 2);
    /// let bodies = world.bodies_from_multibody(pendulum)?;
    /// assert_eq!((bodies.len(), world.joint_count()), (2, 2));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A body that is not dynamic, a joint with a motor, a spring or a threshold at which it breaks, or of a kind that trees and loops do not have; the
    /// error names it, and the world is as it was.
    pub fn multibody_from_bodies(&mut self, body: BodyId) -> Result<MultibodyId, Error> {
        self.follow_joints();
        let (bodies, joints) = self.assembly_of(body)?;
        let (branches, closing) = self.span(&bodies, &joints)?;
        let multibody = self.assemble_multibody(&branches, &closing)?;
        // Tried on a copy first, so that a refusal leaves no trace.
        let mut trial = self.clone();
        for body in &bodies {
            trial.remove_body(*body)?;
        }
        trial.add_multibody(multibody.clone())?;
        for body in &bodies {
            self.remove_body(*body)?;
        }
        self.add_multibody(multibody)
    }

    /// Dynamic bodies that joints connect to a body, and those joints.
    fn assembly_of(&self, body: BodyId) -> Result<(Vec<BodyId>, Vec<JointId>), Error> {
        let is_dynamic = |id: BodyId| Ok::<_, Error>(self.body(id)?.status() == Status::Dynamic);
        if !is_dynamic(body)? {
            let (status, operation) = (self.body(body)?.status(), "making it a multibody");
            return Err(Error::WrongStatus { body, status, operation, needed: "a dynamic body" });
        }
        let (mut bodies, mut joints) = (vec![body], Vec::new());
        let mut next = 0;
        while next < bodies.len() {
            let own = bodies[next];
            for (id, record) in self.iter_joints().filter(|(_, record)| record.bodies.contains(&Some(own))) {
                if !joints.contains(&id) {
                    joints.push(id);
                }
                for other in record.bodies.into_iter().flatten() {
                    if is_dynamic(other)? && !bodies.contains(&other) {
                        bodies.push(other);
                    }
                }
            }
            next += 1;
        }
        joints.sort_unstable();
        Ok((bodies, joints))
    }

    /// Spanning tree ⇒ links, parents before children, and the joints that are left.
    fn span(&self, bodies: &[BodyId], joints: &[JointId]) -> Result<(Vec<Branch>, Vec<Closing>), Error> {
        let mut index: BTreeMap<BodyId, usize> = BTreeMap::new();
        let (mut branches, mut used) = (Vec::new(), Vec::new());
        // Ends of joints that do not lead to a dynamic body are the world.
        let end = |record: &JointRecord, side: usize| record.bodies[side].filter(|id| bodies.contains(id));
        for id in joints {
            let record = self.joint(*id)?;
            for side in 0..2 {
                if let (None, Some(body)) = (end(record, 1 - side), end(record, side))
                    && !index.contains_key(&body)
                    && !is_rod(record)
                {
                    index.insert(body, branches.len());
                    branches.push(self.branch(*id, side, body, None)?);
                    used.push(*id);
                }
            }
        }
        let mut next = 0;
        loop {
            while next < branches.len() {
                let own = branches[next].body;
                for id in joints {
                    let record = self.joint(*id)?;
                    for side in 0..2 {
                        let (Some(near), Some(far)) = (end(record, 1 - side), end(record, side)) else {
                            continue;
                        };
                        if near != own || index.contains_key(&far) || is_rod(record) {
                            continue;
                        }
                        index.insert(far, branches.len());
                        let branch = self.branch(*id, side, far, Some((next, &branches[next])))?;
                        branches.push(branch);
                        used.push(*id);
                    }
                }
                next += 1;
            }
            // The heaviest of what is left floats.
            let mass = |id: &BodyId| self.bodies.record(*id).map_or(0.0, |record| record.mass);
            let left = bodies.iter().copied().filter(|id| !index.contains_key(id));
            let Some(root) = left.max_by(|a, b| mass(a).total_cmp(&mass(b)).then(b.cmp(a))) else { break };
            index.insert(root, branches.len());
            branches.push(self.floating(root)?);
        }
        let mut closing = Vec::new();
        for id in joints.iter().filter(|id| !used.contains(id)) {
            closing.push(self.closing(*id, &index, &branches)?);
        }
        Ok((branches, closing))
    }

    /// The link of a body that nothing ties to the world.
    fn floating(&self, body: BodyId) -> Result<Branch, Error> {
        let record = self.bodies.record(body)?;
        let link_in_principal = record.body_from_principal.inverse();
        let view = self.body(body)?;
        let (pose, motion) = (view.pose(), view.motion());
        let back = pose.rotation.conjugate();
        let mut q = pose.translation.to_array().to_vec();
        q.extend(pose.rotation.to_array());
        let mut v = (back * motion.velocity_at(pose.translation)).to_array().to_vec();
        v.extend((back * motion.omega).to_array());
        let joint = TreeJoint { kind: Arc::new(FreeJoint), q, v, limits: Vec::new(), frictions: Vec::new() };
        Ok(Branch {
            body,
            parent: None,
            link_in_principal,
            joint,
            place: Pose::IDENTITY,
            name: record.name.clone(),
        })
    }

    /// The link of the body at a side of a joint, with the other side as parent.
    fn branch(
        &self,
        id: JointId,
        side: usize,
        body: BodyId,
        parent: Option<(usize, &Branch)>,
    ) -> Result<Branch, Error> {
        let record = self.joint(id)?;
        let joint = tree_joint(&self.checked_joint(id)?, &self.joint_motion(id)?, side == 0)?;
        let near = record.frames[1 - side];
        let place = match parent {
            Some((_, branch)) => branch.link_in_principal.inverse() * near,
            None => self.in_world(record, 1 - side)?,
        };
        Ok(Branch {
            body,
            parent: parent.map(|(index, _)| index),
            link_in_principal: record.frames[side],
            joint,
            place,
            name: self.bodies.record(body)?.name.clone(),
        })
    }

    /// Frame of a joint on the world or on a fixed body, in the world.
    fn in_world(&self, record: &JointRecord, side: usize) -> Result<Pose, Error> {
        let Some(body) = record.bodies[side] else { return Ok(record.frames[side]) };
        let view = self.body(body)?;
        if view.status() == Status::Kinematic {
            let (status, operation) = (Status::Kinematic, "carrying a multibody");
            return Err(Error::WrongStatus { body, status, operation, needed: "a fixed body" });
        }
        Ok(view.motion().pose() * record.frames[side])
    }

    /// A joint that a multibody can have.
    fn checked_joint(&self, id: JointId) -> Result<NamedJoint<'_>, Error> {
        let record = self.joint(id)?;
        let name = record.name().map_or_else(|| id.to_string(), |name| format!("joint `{name}`"));
        let joint = NamedJoint { name, record };
        if !record.breaking.is_never() {
            return Err(joint.refuse("it can break"));
        }
        if record.joint.is_driven() || record.joint.can_add_energy() {
            return Err(joint.refuse("it has a motor or a spring"));
        }
        Ok(joint)
    }

    fn closing(
        &self,
        id: JointId,
        index: &BTreeMap<BodyId, usize>,
        branches: &[Branch],
    ) -> Result<Closing, Error> {
        let joint = self.checked_joint(id)?;
        let kind = loop_kind(&joint)?;
        let (mut links, mut frames) = ([None; 2], [Pose::IDENTITY; 2]);
        for side in 0..2 {
            links[side] = joint.record.bodies[side].and_then(|body| index.get(&body).copied());
            frames[side] = match links[side] {
                Some(link) => branches[link].link_in_principal.inverse() * joint.record.frames[side],
                None => self.in_world(joint.record, side)?,
            };
        }
        // Loops count their axes as x of A and y of B, joints as z of A and x of B.
        let cyclic = if kind == LoopKind::Universal {
            DQuat::from_mat3(&DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y))
        } else {
            DQuat::IDENTITY
        };
        Ok(Closing {
            name: joint.name,
            links,
            points: frames.map(|frame| frame.translation),
            rotations: frames.map(|frame| (frame.rotation * cyclic).normalize()),
            kind,
        })
    }

    fn assemble_multibody(&self, branches: &[Branch], closing: &[Closing]) -> Result<Multibody, Error> {
        let mut links = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let record = self.bodies.record(branch.body)?;
            let own = branch.name.clone().unwrap_or_else(|| branch.body.to_string());
            let taken = |name: &String| links.iter().any(|link: &Link| link.name == *name);
            let name = if taken(&own) { format!("{own} {index}") } else { own };
            let principal_in_link = branch.link_in_principal.inverse();
            let axes = DMat3::from_quat(principal_in_link.rotation);
            let inertia = axes * DMat3::from_diagonal(record.inertia.moments) * axes.transpose();
            links.push(Link {
                name,
                parent: branch.parent,
                joint: Arc::clone(&branch.joint.kind),
                joint_rotation: branch.place.rotation.normalize(),
                joint_position: branch.place.translation,
                mass: record.mass,
                center_of_mass: principal_in_link.translation,
                inertia: 0.5 * (inertia + inertia.transpose()),
                armature: 0.0,
            });
        }
        let refuse = |source: MechanismError| Error::Multibody(source);
        let names: Vec<String> = links.iter().map(|link| link.name.clone()).collect();
        let tree = LinkTree::new(links)
            .map_err(|error| Error::Assembly { what: "tree".into(), reason: error.to_string() })?;
        let mut mechanism = Mechanism::new(tree);
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (index, branch) in branches.iter().enumerate() {
            let first = mechanism.tree().velocities_of(index).start;
            for (axis, range) in &branch.joint.limits {
                let limit = Limit { axis: first + axis, range: *range, restitution: 0.0 };
                mechanism.add_limit(limit).map_err(refuse)?;
            }
            for (axis, force) in &branch.joint.frictions {
                let friction = Friction { axis: first + axis, force: *force };
                mechanism.add_friction(friction).map_err(refuse)?;
            }
            q.extend_from_slice(&branch.joint.q);
            v.extend_from_slice(&branch.joint.v);
        }
        for closing in closing {
            let Closing { name, links, points, rotations, kind } = closing;
            let closure = LoopClosure::new(name.clone(), *links, *points, *kind).with_rotations(*rotations);
            mechanism.add_loop(closure).map_err(refuse)?;
        }
        mechanism.set_state(&q, &v).map_err(refuse)?;
        if mechanism.has_constraints() {
            mechanism.assemble().map_err(refuse)?;
        }
        let mut multibody = Multibody::new(mechanism);
        for (branch, name) in branches.iter().zip(&names) {
            let record = self.bodies.record(branch.body)?;
            let link_from_body = (record.body_from_principal * branch.link_in_principal).inverse();
            for shape in record.shapes.iter().filter_map(|id| self.shapes.get(*id)) {
                let part = ShapePart {
                    shape: shape.shape.clone(),
                    pose: link_from_body * shape.pose,
                    density: None,
                    material: Some(shape.material),
                    groups: Some(shape.groups),
                    sensor: shape.sensor,
                    one_way: shape.one_way.map(|way| link_from_body.rotation * way),
                };
                multibody = multibody.with_part(name, part)?;
            }
        }
        Ok(multibody)
    }
}

/// Whether a joint is a rod or rope, which has no place in a tree.
fn is_rod(record: &JointRecord) -> bool {
    let joint: &dyn Any = &*record.joint;
    joint.is::<Distance>()
}

/// A joint that closes a loop.
struct Closing {
    name: String,
    links: [Option<usize>; 2],
    points: [DVec3; 2],
    rotations: [DQuat; 2],
    kind: LoopKind,
}

struct NamedJoint<'a> {
    name: String,
    record: &'a JointRecord,
}

impl NamedJoint<'_> {
    fn refuse(&self, reason: &str) -> Error {
        Error::Assembly { what: self.name.clone(), reason: reason.to_owned() }
    }

    fn as_kind<J: crate::joint::Joint>(&self) -> Option<&J> {
        let joint: &dyn Any = &*self.record.joint;
        joint.downcast_ref()
    }
}

/// (joint, how B moves in A, whether B is the parent) ⇒ the joint of a tree.
fn tree_joint(joint: &NamedJoint<'_>, motion: &JointMotion, reversed: bool) -> Result<TreeJoint, Error> {
    let axis = if reversed { -DVec3::Z } else { DVec3::Z };
    let range = |limited: bool, min: f64, max: f64| limited.then_some([min, max]);
    let made = |kind: Arc<dyn JointKind>, q: Vec<f64>, v: Vec<f64>| TreeJoint {
        kind,
        q,
        v,
        limits: Vec::new(),
        frictions: Vec::new(),
    };
    let angle = joint.record.angle();
    let (spin, slide) = (motion.angular_velocity, motion.velocity);
    if let Some(own) = joint.as_kind::<Revolute>() {
        let mut tree = made(Arc::new(RevoluteJoint { axis }), vec![angle], vec![spin.z]);
        tree.limits.extend(range(own.limited, own.min, own.max).map(|range| (0, range)));
        tree.frictions.extend((own.friction > 0.0).then_some((0, own.friction)));
        return Ok(tree);
    }
    if let Some(own) = joint.as_kind::<Prismatic>() {
        let mut tree = made(Arc::new(PrismaticJoint { axis }), vec![motion.translation.z], vec![slide.z]);
        tree.limits.extend(range(own.limited, own.min, own.max).map(|range| (0, range)));
        tree.frictions.extend((own.friction > 0.0).then_some((0, own.friction)));
        return Ok(tree);
    }
    if let Some(own) = joint.as_kind::<Cylindrical>() {
        let kind = Arc::new(CylindricalJoint { axis });
        let mut tree = made(kind, vec![motion.translation.z, angle], vec![slide.z, spin.z]);
        tree.limits.extend(range(own.limited, own.min, own.max).map(|range| (0, range)));
        tree.limits.extend(range(own.angle_limited, own.min_angle, own.max_angle).map(|range| (1, range)));
        tree.frictions.extend((own.friction > 0.0).then_some((0, own.friction)));
        return Ok(tree);
    }
    if let Some(own) = joint.as_kind::<Universal>() {
        return Ok(universal(own, motion, reversed));
    }
    if joint.as_kind::<Fixed>().is_some() {
        return Ok(made(Arc::new(FixedJoint), Vec::new(), Vec::new()));
    }
    if joint.as_kind::<Spherical>().is_some() && !joint.record.joint.has_rows() {
        // ω in axes of the link: of B, or of A with the opposite sign.
        let (turn, omega) = if reversed {
            (motion.rotation.conjugate(), -spin)
        } else {
            (motion.rotation, motion.rotation.conjugate() * spin)
        };
        return Ok(made(Arc::new(SphericalJoint), turn.to_array().to_vec(), omega.to_array().to_vec()));
    }
    if joint.as_kind::<Planar>().is_some() && !joint.record.joint.has_rows() {
        return Ok(planar(motion, reversed));
    }
    Err(joint.refuse("trees have no joint of this kind with these limits or this friction"))
}

/// R = R_z(α) R_x(β), ω = α̇ z_A + β̇ x_B.
fn universal(own: &Universal, motion: &JointMotion, reversed: bool) -> TreeJoint {
    let b = DMat3::from_quat(motion.rotation);
    let (alpha, beta) = (b.x_axis.y.atan2(b.x_axis.x), b.y_axis.z.atan2(b.z_axis.z));
    let rates = [motion.angular_velocity.z, motion.angular_velocity.dot(b.x_axis)];
    let limits = [
        (own.first_limited, own.first_min, own.first_max),
        (own.second_limited, own.second_min, own.second_max),
    ];
    // Turned about, the second axis comes first.
    let order = if reversed { [1, 0] } else { [0, 1] };
    let (first, second) = if reversed { (-DVec3::X, -DVec3::Z) } else { (DVec3::Z, DVec3::X) };
    let mut joint = TreeJoint {
        kind: Arc::new(UniversalJoint { first, second }),
        q: order.map(|k| [alpha, beta][k]).to_vec(),
        v: order.map(|k| rates[k]).to_vec(),
        limits: Vec::new(),
        frictions: Vec::new(),
    };
    for (place, k) in order.into_iter().enumerate() {
        let (limited, min, max) = limits[k];
        joint.limits.extend(limited.then_some((place, [min, max])));
        joint.frictions.extend((own.friction > 0.0).then_some((place, own.friction)));
    }
    joint
}

/// B at (x, y, θ) in A; A in B is at −R(−θ) (x, y), −θ.
fn planar(motion: &JointMotion, reversed: bool) -> TreeJoint {
    let angle = 2.0 * motion.rotation.z.atan2(motion.rotation.w);
    let (place, spin) = (motion.translation, motion.angular_velocity.z);
    // The velocity of the origin of B in A: that of its material less the turning of A about it is what `JointMotion` has.
    let slide = motion.velocity;
    let (place, slide, angle, spin) = if reversed {
        let back = DMat3::from_rotation_z(-angle);
        let origin = -(back * place);
        (origin, -(back * slide) + (spin * DVec3::Z).cross(back * place), -angle, -spin)
    } else {
        (place, slide, angle, spin)
    };
    TreeJoint {
        kind: Arc::new(PlanarJoint),
        q: vec![place.x, place.y, angle],
        v: vec![slide.x, slide.y, spin],
        limits: Vec::new(),
        frictions: Vec::new(),
    }
}

/// Joint ⇒ what it leaves free when it closes a loop.
fn loop_kind(joint: &NamedJoint<'_>) -> Result<LoopKind, Error> {
    if let Some(own) = joint.as_kind::<Distance>() {
        return if own.min == own.max && own.min > 0.0 {
            Ok(LoopKind::Distance(own.min))
        } else {
            Err(joint.refuse("a rope cannot close a loop"))
        };
    }
    let cylindrical = joint.as_kind::<Cylindrical>();
    let plain = cylindrical.map_or(!joint.record.joint.has_rows(), |own| {
        !own.limited && !own.angle_limited && own.friction == 0.0
    });
    if !plain {
        return Err(joint.refuse("a joint that closes a loop has no limits or friction"));
    }
    let kinds = [
        (joint.as_kind::<Fixed>().is_some(), LoopKind::Fixed),
        (joint.as_kind::<Revolute>().is_some(), LoopKind::Revolute),
        (joint.as_kind::<Spherical>().is_some(), LoopKind::Spherical),
        (joint.as_kind::<Universal>().is_some(), LoopKind::Universal),
        (cylindrical.is_some(), LoopKind::Cylindrical),
        (joint.as_kind::<Prismatic>().is_some(), LoopKind::Prismatic),
        (joint.as_kind::<Planar>().is_some(), LoopKind::Planar),
    ];
    let found = kinds.into_iter().find(|(is, _)| *is).map(|(_, kind)| kind);
    found.ok_or_else(|| joint.refuse("loops have no joint of this kind"))
}
