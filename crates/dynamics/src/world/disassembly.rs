//! A multibody ⇒ rigid bodies with joints between them: the inverse of [`assembly`](super::assembly).
//!
//! The frame of a body is that of its link. A joint of a tree has its axis along some direction of its frame, a joint of the world along z of both its
//! frames: these are turned so that z is the axis. Of a universal joint z of A is the first axis and x of B the second, so both must be square.

use super::{Body, BodyId, JointId, MultibodyId, ShapePart, World};
use crate::error::Error;
use crate::joint::{
    Cylindrical, Distance, Fixed, Joint, JointFrames, Planar, Prismatic, Revolute, Spherical, Universal,
};
use crate::multibody::joint::JointKind;
use crate::multibody::{Link, LoopKind, Mechanism};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{MassProperties, Pose};

/// A joint on its way: the links or the world, the frames on them, the kind, the angle over whole turns if it counts them.
struct Connection {
    links: [Option<usize>; 2],
    frames: [Pose; 2],
    joint: Box<dyn Joint>,
    name: String,
    angle: Option<f64>,
}

impl World {
    /// Turns a multibody into dynamic bodies and joints in the same state ⇒ the bodies, in the order of the links. Their frames are those of the links.
    ///
    /// # Errors
    /// A link without mass, a joint of a kind that bodies do not have, or springs, motors, couplings and joint forces, which are not carried over; the
    /// error names it, and the world is as it was.
    pub fn bodies_from_multibody(&mut self, id: MultibodyId) -> Result<Vec<BodyId>, Error> {
        let bodies = self.link_parts(id)?;
        let connections = self.connections(id)?;
        // Tried on a copy first, so that a refusal leaves no trace.
        self.clone().replace_multibody(id, bodies.clone(), &connections)?;
        self.replace_multibody(id, bodies, &connections)
    }

    fn replace_multibody(
        &mut self,
        id: MultibodyId,
        bodies: Vec<Body>,
        connections: &[Connection],
    ) -> Result<Vec<BodyId>, Error> {
        self.remove_multibody(id)?;
        let made: Vec<BodyId> =
            bodies.into_iter().map(|body| self.add_body(body)).collect::<Result<_, _>>()?;
        for connection in connections {
            self.connect(connection, &made)?;
        }
        Ok(made)
    }

    fn connect(&mut self, connection: &Connection, bodies: &[BodyId]) -> Result<JointId, Error> {
        let Connection { links, frames, joint, name, angle } = connection;
        let [a, b] = links.map(|link| link.map(|link| bodies[link]));
        let (place, frames) = match (a, b) {
            (Some(a), Some(b)) => (JointFrames::between(a, b), *frames),
            (None, Some(b)) => (JointFrames::to_world(b), *frames),
            (Some(a), None) => (JointFrames::to_world(a), [frames[1], frames[0]]),
            (None, None) => {
                return Err(refuse(name, "it connects the world to itself"));
            }
        };
        let id = self.add_boxed_joint(place.frames(frames[0], frames[1]).named(name), joint.clone())?;
        if let (Some(angle), Some(record)) = (angle, self.joints.records.get(id)) {
            let side = |k: usize| -> Option<DQuat> {
                let own = record.frames[k].rotation;
                record.bodies[k].map_or(Some(own), |body| Some(self.bodies.motion_of(body)?.q * own))
            };
            if let (Some(a), Some(b)) = (side(0), side(1))
                && let Some(record) = self.joints.records.get_mut(id)
            {
                record.turned[2] = *angle;
                record.last = Some([a, b]);
            }
        }
        Ok(id)
    }

    /// A body for every link.
    fn link_parts(&self, id: MultibodyId) -> Result<Vec<Body>, Error> {
        let view = self.multibody(id)?;
        let mut bodies = Vec::new();
        for (index, link) in view.tree().links().iter().enumerate() {
            let mass = MassProperties::new(link.mass, link.center_of_mass, link.inertia)
                .map_err(|error| refuse(&link.name, &error.to_string()))?;
            let motion = view.record.link_motion(index, &Pose::at(link.center_of_mass));
            let mut body = Body::dynamic()
                .named(link.name.clone())
                .pose(view.record.link_pose(index))
                .velocity(motion.v)
                .angular_velocity(motion.omega)
                .mass_properties(mass);
            let own = view.record.links.iter().find(|own| own.index as usize == index);
            for shape in own.into_iter().flat_map(|own| self.bodies.shape_ids(own.body)) {
                let Some(attached) = self.shapes.get(*shape) else { continue };
                body = body.with_part(ShapePart {
                    shape: attached.shape.clone(),
                    pose: attached.pose,
                    density: None,
                    material: Some(attached.material),
                    groups: Some(attached.groups),
                    sensor: attached.sensor,
                    one_way: attached.one_way,
                });
            }
            bodies.push(body);
        }
        Ok(bodies)
    }

    /// A joint for every joint and loop.
    fn connections(&self, id: MultibodyId) -> Result<Vec<Connection>, Error> {
        let view = self.multibody(id)?;
        let (tree, mechanism) = (view.tree(), view.mechanism());
        let parts = mechanism.parts();
        let driven = mechanism.is_driven() || !mechanism.actuators().is_empty();
        if driven || !parts.elements.is_empty() || !parts.couplings.is_empty() {
            let name = view.name().map_or_else(|| id.to_string(), ToOwned::to_owned);
            return Err(refuse(&name, "it has springs, dampers, motors, couplings or joint forces"));
        }
        let mut connections = Vec::new();
        for (index, link) in tree.links().iter().enumerate() {
            if link.armature > 0.0 {
                return Err(refuse(&link.name, "its joint has an armature"));
            }
            let axes = tree.velocities_of(index);
            let q = &mechanism.positions()[tree.positions_of(index)];
            let Some((joint, turned, angle)) = world_joint(link, axes.start, q, mechanism)? else { continue };
            let place = Pose::new(link.joint_rotation, link.joint_position);
            connections.push(Connection {
                links: [link.parent, Some(index)],
                frames: [place * Pose::new(turned, DVec3::ZERO), Pose::new(turned, DVec3::ZERO)],
                joint,
                name: view.joint_names()[index].clone(),
                angle,
            });
        }
        for closure in parts.loops {
            let joint: Box<dyn Joint> = match closure.kind {
                LoopKind::Fixed => Box::new(Fixed::default()),
                LoopKind::Revolute => Box::new(Revolute::default()),
                LoopKind::Spherical => Box::new(Spherical::default()),
                LoopKind::Universal => Box::new(Universal::default()),
                LoopKind::Cylindrical => Box::new(Cylindrical::default()),
                LoopKind::Prismatic => Box::new(Prismatic::default()),
                LoopKind::Planar => Box::new(Planar::default()),
                LoopKind::Distance(length) => {
                    Box::new(Distance { min: length, max: length, ..Distance::default() })
                }
            };
            // Loops count their axes as x of A and y of B, joints as z of A and x of B.
            let back = if closure.kind == LoopKind::Universal {
                DQuat::from_mat3(&DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X))
            } else {
                DQuat::IDENTITY
            };
            let frame = |k: usize| Pose::new((closure.rotations[k] * back).normalize(), closure.points[k]);
            connections.push(Connection {
                links: closure.links,
                frames: [frame(0), frame(1)],
                joint,
                name: closure.name.clone(),
                angle: None,
            });
        }
        Ok(connections)
    }
}

/// (link, place of its first velocity, positions) ⇒ its joint for bodies, the rotation from the joint's frame to one whose z is the axis, and the angle; none if
/// it holds nothing.
type WorldJoint = Option<(Box<dyn Joint>, DQuat, Option<f64>)>;

fn world_joint(link: &Link, first: usize, q: &[f64], mechanism: &Mechanism) -> Result<WorldJoint, Error> {
    let parameters = link.joint.parameters().unwrap_or_default();
    let vector = |at: usize| parameters.get(at..at + 3).map_or(DVec3::Z, DVec3::from_slice);
    let along = |axis: DVec3| DQuat::from_rotation_arc(DVec3::Z, axis);
    let limit = |axis: usize| -> Result<(bool, f64, f64), Error> {
        match mechanism.limits().iter().find(|limit| limit.axis == first + axis) {
            None => Ok((false, -1.0, 1.0)),
            Some(limit) if limit.restitution > 0.0 => Err(refuse(&link.name, "its limit bounces")),
            Some(limit) => Ok((true, limit.range[0], limit.range[1])),
        }
    };
    let friction = |axis: usize| {
        let found = mechanism.parts().frictions.iter().find(|friction| friction.axis == first + axis);
        found.map_or(0.0, |friction| friction.force)
    };
    let kind: &dyn JointKind = &*link.joint;
    Ok(Some(match kind.name() {
        "free" => return Ok(None),
        "fixed" => (Box::new(Fixed::default()), DQuat::IDENTITY, None),
        "revolute" => {
            let (limited, min, max) = limit(0)?;
            let joint = Revolute { limited, min, max, friction: friction(0), ..Revolute::default() };
            (Box::new(joint), along(vector(0)), Some(q[0]))
        }
        "prismatic" => {
            let (limited, min, max) = limit(0)?;
            let joint = Prismatic { limited, min, max, friction: friction(0), ..Prismatic::default() };
            (Box::new(joint), along(vector(0)), None)
        }
        "cylindrical" if friction(1) == 0.0 => {
            let ((limited, min, max), (angle_limited, min_angle, max_angle)) = (limit(0)?, limit(1)?);
            let joint = Cylindrical {
                limited,
                min,
                max,
                angle_limited,
                min_angle,
                max_angle,
                friction: friction(0),
                ..Cylindrical::default()
            };
            (Box::new(joint), along(vector(0)), Some(q[1]))
        }
        "spherical" => (Box::new(Spherical::default()), DQuat::IDENTITY, None),
        "planar" if (0..3).all(|axis| limit(axis).is_ok_and(|limit| !limit.0) && friction(axis) == 0.0) => {
            (Box::new(Planar::default()), DQuat::IDENTITY, None)
        }
        "universal" if vector(0).dot(vector(3)).abs() < 1e-9 && friction(0) == friction(1) => {
            let ((first_limited, first_min, first_max), (second_limited, second_min, second_max)) =
                (limit(0)?, limit(1)?);
            let joint = Universal {
                first_limited,
                first_min,
                first_max,
                second_limited,
                second_min,
                second_max,
                friction: friction(0),
            };
            let (z, x) = (vector(0), vector(3));
            (Box::new(joint), DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize(), None)
        }
        _ => {
            return Err(refuse(
                &link.name,
                "bodies have no joint of this kind, with its limits and friction",
            ));
        }
    }))
}

fn refuse(what: &str, reason: &str) -> Error {
    Error::Assembly { what: format!("`{what}`"), reason: reason.to_owned() }
}
