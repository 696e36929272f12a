//! Bodies of the space.

use super::geometry::Geometry;
use super::meaning::{blocks, entry, renamed, table};
use crate::document::{Content, Fields, Key, Node};
use crate::error::Problem;
use crate::source::{Fault, Read};
use crate::units::{NUMBER, Units};
use glam::DQuat;
use rattleback_geometry::{Pose, normalized};
use std::collections::BTreeMap;

/// One `Body` block.
#[derive(Debug)]
pub(super) struct ScriptBody<'a> {
    pub id: &'a Node,
    pub movable: bool,
    pub pose: Pose,
    /// Ids of the forces that act on it.
    pub forces: &'a [Node],
    node: Node,
}

/// All bodies, in the order of the script.
#[derive(Debug, Default)]
pub(super) struct Bodies<'a> {
    pub all: Vec<ScriptBody<'a>>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Bodies<'a> {
    /// `Space` block ⇒ its bodies.
    pub fn read(
        space: &'a Node,
        geometries: &BTreeMap<&str, Geometry>,
        groups: &BTreeMap<&str, Vec<Node>>,
    ) -> Read<Self> {
        let fields = Fields::open("Space", space)?;
        let mut bodies = Self::default();
        for node in fields.map("Bodies", |node| blocks("Bodies", node, "Body"))?.unwrap_or_default() {
            let body = ScriptBody::read(node, geometries, groups)?;
            let id = body.id.text("Id")?;
            if bodies.places.insert(id, bodies.all.len()).is_some() {
                let problem = Problem::Duplicate { kind: "body", name: id.into() };
                return Err(Fault::new(body.id.span, problem));
            }
            bodies.all.push(body);
        }
        Ok(bodies)
    }

    /// The body that a value names.
    pub fn get(&self, key: &str, node: &Node) -> Read<&ScriptBody<'a>> {
        let name = node.text(key)?;
        self.places
            .get(name)
            .map(|place| &self.all[*place])
            .ok_or_else(|| unknown("body", node, name, self.places.keys()))
    }

    /// As the list of a scene.
    pub fn into_nodes(self) -> Vec<Node> {
        self.all.into_iter().map(|body| body.node).collect()
    }
}

/// The error for an unknown id.
pub(super) fn unknown<'k>(
    kind: &str,
    node: &Node,
    name: &str,
    known: impl Iterator<Item = &'k &'k str>,
) -> Fault {
    let known = known.map(|name| (*name).to_owned()).collect();
    Fault::new(node.span, Problem::UnknownName { kind: kind.into(), name: name.into(), known })
}

const KEYS: &[&str] = &[
    "Type",
    "Id",
    "GeometryId",
    "BoundingVolumeType",
    "MassDensity",
    "Material",
    "KineticProperties",
    "Forces",
];

/// Bounding volumes of the script; they do not affect the motion, and all broad phases use boxes.
const VOLUMES: &[(&str, ())] = &[("None", ()), ("Sphere", ()), ("AxisAlignedBox", ()), ("OrientedBox", ())];

/// (key of the script, key of the scene, whether only dynamic bodies have it)
const KINETIC: &[(&str, &str, bool)] = &[
    ("Position", "position", false),
    ("Orientation", "orientation", false),
    ("LinearVelocity", "velocity", true),
    ("AngularVelocity", "angular_velocity", true),
    ("DampingCoefficient", "damping", true),
    ("CanSleep", "can_sleep", true),
];

impl<'a> ScriptBody<'a> {
    fn read(
        node: &'a Node,
        geometries: &BTreeMap<&str, Geometry>,
        groups: &BTreeMap<&str, Vec<Node>>,
    ) -> Read<Self> {
        let fields = Fields::of("Body", node, KEYS)?;
        let id = fields.required("Id", "what others call it by")?;
        fields.map("Type", |node| node.word("Type", &[("Rigid", ())]))?;
        fields.map("BoundingVolumeType", |node| node.word("BoundingVolumeType", VOLUMES))?;
        let density = fields.required("MassDensity", "kg/m³; 0 for a body that never moves")?;
        let movable = density.non_negative("MassDensity", &Units::default(), NUMBER)? > 0.0;

        let mut entries = vec![renamed("name", id)];
        if !movable {
            entries.push(entry("status", density.span, Content::Text("static".into())));
        }
        let pose = kinetics(&fields, movable, &mut entries)?;
        if movable {
            entries.push(renamed("density", density));
        }
        entries.extend(fields.get("Material").map(|node| renamed("material", node)));
        if let Some(groups) = groups.get(id.text("Id")?) {
            entries.push(entry("groups", id.span, Content::List(groups.clone())));
        }
        let geometry_id = fields.required("GeometryId", "which geometry it has")?;
        let name = geometry_id.text("GeometryId")?;
        let geometry =
            geometries.get(name).ok_or_else(|| unknown("geometry", geometry_id, name, geometries.keys()))?;
        entries.push(geometry.shape(geometry_id.span));
        let forces = fields.map("Forces", |node| node.list("Forces", "a list of ids"))?.unwrap_or_default();
        Ok(Self { id, movable, pose, forces, node: table(id.span, entries) })
    }
}

/// `KineticProperties` ⇒ entries of the body, and its pose.
fn kinetics(fields: &Fields<'_>, movable: bool, entries: &mut Vec<(Key, Node)>) -> Read<Pose> {
    let Some(node) = fields.get("KineticProperties") else { return Ok(Pose::IDENTITY) };
    let known: Vec<&str> = KINETIC.iter().map(|(key, ..)| *key).collect();
    let kinetic = Fields::of("KineticProperties", node, &known)?;
    for (key, name, of_movable) in KINETIC {
        let Some(value) = kinetic.get(key) else { continue };
        if movable || !of_movable {
            entries.push(renamed(name, value));
        } else if key.ends_with("Velocity")
            && value.vector(key, &Units::default(), NUMBER)? != glam::DVec3::ZERO
        {
            let message = format!("a body of density 0 never moves, so it has no `{key}`");
            return Err(Fault::new(value.span, Problem::Conflict(message)));
        }
    }
    let number = |node: &Node| node.plain_number("Orientation");
    let position = kinetic.map("Position", |node| node.vector("Position", &Units::default(), NUMBER))?;
    let rotation = kinetic.map("Orientation", |node| {
        let [w, x, y, z] = node.list_of::<4>("Orientation", "a quaternion {w, x, y, z}")?;
        normalized(DQuat::from_xyzw(number(x)?, number(y)?, number(z)?, number(w)?))
            .map_err(|_| node.out_of_range("Orientation", "a quaternion that is not zero"))
    })?;
    Ok(Pose::new(rotation.unwrap_or(DQuat::IDENTITY), position.unwrap_or_default()))
}
