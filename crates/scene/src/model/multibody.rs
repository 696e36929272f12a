//! Multibodies: trees of links in joint coordinates.
//!
//! A joint has coordinates q and velocities. In files, the coordinates of one with a single axis are one number, of others a list: `universal`
//! two angles, `cylindrical` distance and angle, `planar` x, y and angle, `spherical` a quaternion w, x, y, z, `free` a position and a quaternion.

use super::body::{GroupsModel, read_shapes};
use super::mass::{self, MassSource};
use super::pose::pose;
use super::{Named, ShapeModel};
use crate::document::{Content, Fields, Node, missing_key};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{ANGLE, Dimension, FORCE, INERTIA, LENGTH, MASS, NUMBER, TORQUE, Units};
use glam::DVec3;
use rattleback_geometry::{MassModel, Pose};

/// Keys of a multibody.
pub(crate) const MULTIBODY_KEYS: &[&str] = &[
    "name",
    "file",
    "floating",
    "position",
    "orientation",
    "material",
    "groups",
    "collision_mask",
    "positions",
    "velocities",
    "link",
];

/// Keys of a link.
pub(crate) const LINK_KEYS: &[&str] = &[
    "name",
    "parent",
    "joint",
    "joint_name",
    "axis",
    "second_axis",
    "lead",
    "position",
    "orientation",
    "density",
    "mass",
    "mass_properties",
    "shape",
    "armature",
    "damping",
    "friction",
    "spring",
    "limits",
    "restitution",
    "motor",
];

/// Kinds of joints in files.
pub(crate) const JOINTS: &[&str] =
    &["fixed", "revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar", "free"];

/// A joint that follows a position and a velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotorModel {
    pub stiffness: f64,
    pub damping: f64,
    pub max_force: f64,
    pub position: f64,
    pub velocity: f64,
}

/// One `[[multibody.link]]`, in SI units.
#[derive(Clone, Debug)]
pub(crate) struct LinkModel<'a> {
    pub span: Span,
    pub name: Named<'a>,
    pub parent: Option<Named<'a>>,
    pub joint: &'a str,
    pub joint_name: Option<Named<'a>>,
    pub axis: DVec3,
    pub second_axis: DVec3,
    pub lead: f64,
    pub pose: Pose,
    pub mass: Option<(MassSource, Span)>,
    pub shapes: Vec<ShapeModel<'a>>,
    pub armature: f64,
    pub damping: f64,
    pub friction: f64,
    /// Stiffness, and the coordinate at rest.
    pub spring: Option<(f64, f64)>,
    pub limits: Option<[f64; 2]>,
    pub restitution: f64,
    pub motor: Option<MotorModel>,
}

/// Initial coordinates or velocities of joints, by name, as in the file.
pub(crate) type ByJoint<'a> = Vec<(Named<'a>, &'a Node)>;

/// One `[[multibody]]`.
#[derive(Clone, Debug)]
pub(crate) struct MultibodyModel<'a> {
    pub span: Span,
    pub name: Option<Named<'a>>,
    pub file: Option<Named<'a>>,
    pub floating: bool,
    pub pose: Pose,
    pub material: Option<Named<'a>>,
    pub groups: GroupsModel<'a>,
    pub positions: ByJoint<'a>,
    pub velocities: ByJoint<'a>,
    pub links: Vec<LinkModel<'a>>,
}

impl<'a> MultibodyModel<'a> {
    /// A `[[multibody]]` table ⇒ model.
    pub fn read(node: &'a Node, units: &Units) -> Read<Self> {
        let fields = Fields::of("multibody", node, MULTIBODY_KEYS)?;
        let file = fields.map("file", |node| Named::read("file", node))?;
        let links = fields.map("link", |node| {
            node.tables("link")?
                .into_iter()
                .map(|node| LinkModel::read(node, units))
                .collect::<Read<Vec<_>>>()
        })?;
        let links = match (&file, links) {
            (None, Some(links)) if !links.is_empty() => links,
            (Some(_), None) => Vec::new(),
            (Some(file), Some(_)) => {
                let message = "a multibody from a `file` has its links from there".to_owned();
                return Err(Fault::new(file.span, Problem::Conflict(message)));
            }
            (None, _) => {
                return Err(missing_key("multibody", node.span, "link", "its links, or `file`: a robot"));
            }
        };
        let floating = fields.map("floating", |node| node.flag("floating"))?;
        if let (Some(_), None) = (floating, &file) {
            let message = "`floating` goes with a `file`; give the first link a joint `free` instead";
            return Err(Fault::new(node.span, Problem::Conflict(message.into())));
        }
        let by_joint = |key: &str| {
            let read = |node: &'a Node| {
                let entries = &node.table(key)?.entries;
                Ok(entries
                    .iter()
                    .map(|(key, node)| (Named { text: &key.name, span: key.span }, node))
                    .collect())
            };
            fields.map(key, read).map(Option::unwrap_or_default)
        };
        Ok(Self {
            span: fields.span(),
            name: fields.map("name", |node| Named::read("name", node))?,
            file,
            floating: floating.unwrap_or(false),
            pose: pose(&fields, units)?,
            material: fields.map("material", |node| Named::read("material", node))?,
            groups: GroupsModel::read(&fields)?,
            positions: by_joint("positions")?,
            velocities: by_joint("velocities")?,
            links,
        })
    }
}

impl<'a> LinkModel<'a> {
    fn read(node: &'a Node, units: &Units) -> Read<Self> {
        let fields = Fields::of("link", node, LINK_KEYS)?;
        let words: Vec<(&str, &'static str)> = JOINTS.iter().map(|kind| (*kind, *kind)).collect();
        let joint = fields.map("joint", |node| node.word("joint", &words))?.unwrap_or("fixed");
        let axis = |key: &str, default: DVec3| {
            fields
                .map(key, |node| {
                    let axis = node.vector(key, units, NUMBER)?;
                    axis.try_normalize().ok_or_else(|| node.out_of_range(key, "a direction, not zero"))
                })
                .map(|given| given.unwrap_or(default))
        };
        let own = JointUnits::of(joint);
        let number = |key: &str, dimension: Dimension| {
            fields.map(key, |node| node.non_negative(key, units, dimension)).map(Option::unwrap_or_default)
        };
        for key in ["spring", "limits", "motor"] {
            if let (Some(node), false) = (fields.get(key), own.is_scalar) {
                let message = format!("`{key}` is for joints with one coordinate, not `{joint}`");
                return Err(Fault::new(node.span, Problem::Conflict(message)));
            }
        }
        Ok(Self {
            span: fields.span(),
            name: Named::read("name", fields.required("name", "unique in the multibody")?)?,
            parent: fields.map("parent", |node| Named::read("parent", node))?,
            joint,
            joint_name: fields.map("joint_name", |node| Named::read("joint_name", node))?,
            axis: axis("axis", DVec3::Z)?,
            second_axis: axis("second_axis", DVec3::X)?,
            lead: fields.map("lead", |node| node.number("lead", units, LENGTH))?.unwrap_or_default(),
            pose: pose(&fields, units)?,
            mass: mass::source(&fields, units, MassModel::default())?,
            shapes: fields
                .map("shape", |node| read_shapes(node, units, MassModel::default()))?
                .unwrap_or_default(),
            armature: number("armature", own.inertia)?,
            damping: number("damping", own.force)?,
            friction: number("friction", own.force)?,
            spring: fields.map("spring", |node| own.spring(node, units))?,
            limits: fields.map("limits", |node| {
                let [low, high] = node.list_of::<2>("limits", "[lowest, highest]")?;
                let end = |node: &Node| node.number("limits", units, own.coordinate);
                Ok([end(low)?, end(high)?])
            })?,
            restitution: fields
                .map("restitution", |node| {
                    let given = node.plain_number("restitution")?;
                    if (0.0..=1.0).contains(&given) {
                        Ok(given)
                    } else {
                        Err(node.out_of_range("restitution", "0 to 1"))
                    }
                })?
                .unwrap_or_default(),
            motor: fields.map("motor", |node| own.motor(node, units))?,
        })
    }
}

/// Dimensions of what belongs to a joint. Radians count as numbers in stiffness and damping unless the scene's angles are degrees.
#[derive(Clone, Copy, Debug)]
struct JointUnits {
    is_scalar: bool,
    coordinate: Dimension,
    force: Dimension,
    inertia: Dimension,
}

impl JointUnits {
    fn of(joint: &str) -> Self {
        let is_scalar = matches!(joint, "revolute" | "prismatic" | "screw");
        if joint == "prismatic" {
            return Self { is_scalar, coordinate: LENGTH, force: FORCE, inertia: MASS };
        }
        Self { is_scalar, coordinate: ANGLE, force: TORQUE, inertia: INERTIA }
    }

    /// A number in units of force per coordinate, or per its rate.
    fn per_coordinate(&self, key: &str, node: &Node, units: &Units) -> Read<f64> {
        Ok(node.non_negative(key, units, self.force)? / units.factor(self.coordinate))
    }

    fn spring(&self, node: &Node, units: &Units) -> Read<(f64, f64)> {
        let fields = Fields::of("spring", node, &["stiffness", "rest"])?;
        let stiffness = fields.required("stiffness", "force per coordinate")?;
        let rest = fields.map("rest", |node| node.number("rest", units, self.coordinate))?;
        Ok((self.per_coordinate("stiffness", stiffness, units)?, rest.unwrap_or_default()))
    }

    fn motor(&self, node: &Node, units: &Units) -> Read<MotorModel> {
        let keys = &["stiffness", "damping", "max_force", "position", "velocity"];
        let fields = Fields::of("motor", node, keys)?;
        let gain = |key: &str| {
            fields.map(key, |node| self.per_coordinate(key, node, units)).map(Option::unwrap_or_default)
        };
        let target = |key: &str| {
            fields.map(key, |node| node.number(key, units, self.coordinate)).map(Option::unwrap_or_default)
        };
        Ok(MotorModel {
            stiffness: gain("stiffness")?,
            damping: gain("damping")?,
            max_force: fields
                .map("max_force", |node| node.non_negative("max_force", units, self.force))?
                .unwrap_or(f64::INFINITY),
            position: target("position")?,
            velocity: target("velocity")?,
        })
    }
}

/// (joint, coordinates in the file) ⇒ coordinates in SI, quaternions x, y, z, w.
pub(crate) fn coordinates(joint: &str, node: &Node, units: &Units) -> Read<Vec<f64>> {
    let mut q = numbers("positions", node, units, &dimensions(joint, true))?;
    if let Some(start) = q.len().checked_sub(4).filter(|_| matches!(joint, "spherical" | "free")) {
        q[start..].rotate_left(1);
    }
    Ok(q)
}

/// (joint, velocities in the file) ⇒ velocities in SI.
pub(crate) fn velocities(joint: &str, node: &Node, units: &Units) -> Read<Vec<f64>> {
    numbers("velocities", node, units, &dimensions(joint, false))
}

fn dimensions(joint: &str, position: bool) -> Vec<Dimension> {
    match (joint, position) {
        ("prismatic", _) => vec![LENGTH],
        ("cylindrical", _) => vec![LENGTH, ANGLE],
        ("universal", _) => vec![ANGLE; 2],
        ("planar", _) => vec![LENGTH, LENGTH, ANGLE],
        ("spherical", true) => vec![NUMBER; 4],
        ("spherical", false) => vec![ANGLE; 3],
        ("free", true) => [vec![LENGTH; 3], vec![NUMBER; 4]].concat(),
        ("free", false) => [vec![LENGTH; 3], vec![ANGLE; 3]].concat(),
        ("fixed", _) => Vec::new(),
        _ => vec![ANGLE],
    }
}

fn numbers(key: &str, node: &Node, units: &Units, dimensions: &[Dimension]) -> Read<Vec<f64>> {
    let given = match &node.content {
        Content::List(list) => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    if given.len() != dimensions.len() {
        let count = dimensions.len();
        return Err(node.wrong_type(key, &format!("{count} numbers, as many as the joint has")));
    }
    given.iter().zip(dimensions).map(|(node, dimension)| node.number(key, units, *dimension)).collect()
}
