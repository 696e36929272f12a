//! Joints and the bodies they connect.

use super::{Component, Named};
use crate::document::{Fields, Node};
use crate::error::Problem;
use crate::model::orientation;
use crate::source::{Fault, Read, Span};
use crate::units::{FORCE, LENGTH, NUMBER, TORQUE, Units};
use glam::{DQuat, DVec3};

/// Keys of a joint that are not properties of its kind.
const KEYS: &[&str] = &[
    "name",
    "bodies",
    "chain",
    "position",
    "anchors",
    "axis",
    "orientation",
    "collide",
    "break_force",
    "break_torque",
    "break_drift",
];

/// The bodies that a joint connects.
#[derive(Clone, Debug)]
pub(crate) enum Ends<'a> {
    /// One body and the world, or two bodies.
    Bodies(Vec<Named<'a>>),
    /// Every copy of a body and the next.
    Chain(Named<'a>),
}

/// One `[[joint]]`.
#[derive(Clone, Debug)]
pub(crate) struct JointModel<'a> {
    pub name: Option<Named<'a>>,
    pub ends: Ends<'a>,
    pub position: Option<DVec3>,
    /// Points of the world, one for each body; as an alternative to `position`.
    pub anchors: Option<[DVec3; 2]>,
    pub rotation: DQuat,
    pub collide: bool,
    /// Force, torque, drift, with their places.
    pub breaking: [Option<(f64, Span)>; 3],
    pub span: Span,
    pub kind: Component<'a>,
}

impl<'a> JointModel<'a> {
    /// A `[[joint]]` table ⇒ model.
    pub fn read(node: &'a Node, units: &Units) -> Read<Self> {
        let kind = Component::read_beside("joint", node, None, KEYS)?;
        let fields = Fields::open("joint", node)?;
        let bodies = fields.map("bodies", |node| Named::read_all("bodies", node))?;
        let chain = fields.map("chain", |node| Named::read("chain", node))?;
        let conflict = |message: &str| Fault::new(node.span, Problem::Conflict(message.into()));
        let ends = match (bodies, chain) {
            (Some(bodies), None) if (1..=2).contains(&bodies.len()) => Ends::Bodies(bodies),
            (None, Some(chain)) => Ends::Chain(chain),
            (Some(_), None) => {
                return Err(conflict("`bodies` of a joint are two, or one that is joined to the world"));
            }
            _ => return Err(conflict("a joint needs either `bodies` or `chain`")),
        };
        let axis = fields.map("axis", |node| {
            let axis = node.vector("axis", units, NUMBER)?;
            let axis =
                axis.try_normalize().ok_or_else(|| node.out_of_range("axis", "a direction, not zero"))?;
            Ok(DQuat::from_rotation_arc(DVec3::Z, axis))
        })?;
        let oriented = fields.map("orientation", |node| orientation("orientation", node, units))?;
        if axis.is_some() && oriented.is_some() {
            return Err(conflict("`axis` and `orientation` exclude each other"));
        }
        let position = fields.map("position", |node| node.vector("position", units, LENGTH))?;
        let anchors = fields.map("anchors", |node| {
            let [a, b] = node.list_of::<2>("anchors", "two points [[x, y, z], [x, y, z]]")?;
            Ok([a.vector("anchors", units, LENGTH)?, b.vector("anchors", units, LENGTH)?])
        })?;
        if anchors.is_some() && (position.is_some() || matches!(ends, Ends::Chain(_))) {
            return Err(conflict("`anchors` do not go with `position` or `chain`"));
        }
        let threshold = |key: &str, dimension| {
            fields.map(key, |node| Ok((node.positive(key, units, dimension)?, node.span)))
        };
        Ok(Self {
            name: fields.map("name", |node| Named::read("name", node))?,
            ends,
            position,
            anchors,
            rotation: axis.or(oriented).unwrap_or(DQuat::IDENTITY),
            collide: fields.map("collide", |node| node.flag("collide"))?.unwrap_or(false),
            breaking: [
                threshold("break_force", FORCE)?,
                threshold("break_torque", TORQUE)?,
                threshold("break_drift", LENGTH)?,
            ],
            span: node.span,
            kind,
        })
    }
}
