//! Bodies and their shapes.

use super::mass::{self, MassSource};
use super::path::path;
use super::pose::pose;
use super::{Component, Named, Repeat};
use crate::document::{Content, Fields, Node};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{ANGLE, LENGTH, NUMBER, Units};
use glam::DVec3;
use rattleback_dynamics::{Path, Status};
use rattleback_geometry::{MassModel, Pose};

/// Keys of a body; `like` is resolved before a model is read.
pub(crate) const KEYS: &[&str] = &[
    "name",
    "like",
    "status",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "damping",
    "density",
    "mass",
    "mass_properties",
    "mass_model",
    "point_masses",
    "charge",
    "can_sleep",
    "material",
    "groups",
    "collision_mask",
    "shape",
    "path",
    "repeat",
];

/// Keys of a shape that are not properties of its geometry.
const SHAPE_KEYS: &[&str] =
    &["position", "orientation", "density", "material", "groups", "collision_mask", "sensor", "one_way"];

/// Groups of a body or shape, and the groups it collides with, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupsModel<'a> {
    pub member_of: Option<Vec<Named<'a>>>,
    pub collision_mask: Option<Vec<Named<'a>>>,
}

/// One shape of a body.
#[derive(Clone, Debug)]
pub(crate) struct ShapeModel<'a> {
    pub geometry: Component<'a>,
    pub pose: Pose,
    pub density: Option<f64>,
    pub material: Option<Named<'a>>,
    pub groups: GroupsModel<'a>,
    /// Place of `sensor = true`, if it is one.
    pub sensor: Option<Span>,
    /// Direction from which it resists, and its place.
    pub one_way: Option<(DVec3, Span)>,
}

/// One `[[body]]`.
#[derive(Clone, Debug)]
pub(crate) struct BodyModel<'a> {
    pub span: Span,
    pub name: Option<Named<'a>>,
    pub status: Status,
    pub pose: Pose,
    pub velocity: DVec3,
    pub angular_velocity: DVec3,
    pub damping: (f64, f64),
    pub mass: Option<(MassSource, Span)>,
    pub mass_model: MassModel,
    pub point_masses: Vec<(f64, DVec3)>,
    pub charge: f64,
    pub can_sleep: bool,
    pub material: Option<Named<'a>>,
    pub groups: GroupsModel<'a>,
    pub shapes: Vec<ShapeModel<'a>>,
    pub path: Option<Path>,
    pub repeat: Repeat,
}

impl<'a> BodyModel<'a> {
    /// A `[[body]]` table ⇒ model.
    pub fn read(node: &'a Node, units: &Units) -> Read<Self> {
        let fields = Fields::of("body", node, KEYS)?;
        let vector = |key: &str, dimension| {
            fields.map(key, |node| node.vector(key, units, dimension)).map(Option::unwrap_or_default)
        };
        let mass_model = fields.map("mass_model", mass::model)?.unwrap_or_default();
        let path = fields.map("path", |node| path(node, units))?;
        let body = Self {
            span: fields.span(),
            name: fields.map("name", read_name)?,
            status: read_status(&fields, path.is_some())?,
            pose: pose(&fields, units)?,
            velocity: vector("velocity", LENGTH)?,
            angular_velocity: vector("angular_velocity", ANGLE)?,
            damping: fields.map("damping", |node| read_damping(node, units))?.unwrap_or_default(),
            mass: mass::source(&fields, units, mass_model)?,
            mass_model,
            point_masses: fields
                .map("point_masses", |node| mass::point_masses(node, units))?
                .unwrap_or_default(),
            charge: fields.map("charge", |node| node.number("charge", units, NUMBER))?.unwrap_or_default(),
            can_sleep: fields.map("can_sleep", |node| node.flag("can_sleep"))?.unwrap_or(true),
            material: fields.map("material", |node| Named::read("material", node))?,
            groups: GroupsModel::read(&fields)?,
            shapes: fields.map("shape", |node| read_shapes(node, units, mass_model))?.unwrap_or_default(),
            path,
            repeat: fields.map("repeat", |node| Repeat::read(node, units))?.unwrap_or_default(),
        };
        if let Some(node) = fields.get("repeat")
            && body.repeat.scale.is_some()
            && (matches!(body.mass, Some((MassSource::Given(_), _))) || !body.point_masses.is_empty())
        {
            let message =
                "`scale` changes the shapes, so it does not go with `mass_properties` or `point_masses`";
            return Err(Fault::new(node.span, Problem::Conflict(message.into())));
        }
        Ok(body)
    }

    /// The place at which errors of the body as a whole are shown.
    pub fn place(&self) -> Span {
        self.name.map_or(self.span, |name| name.span)
    }
}

impl<'a> GroupsModel<'a> {
    fn read(fields: &Fields<'a>) -> Read<Self> {
        Ok(Self {
            member_of: fields.map("groups", |node| Named::read_all("groups", node))?,
            collision_mask: fields.map("collision_mask", |node| Named::read_all("collision_mask", node))?,
        })
    }
}

/// Brackets number copies and `world` stands for no body, so neither can be part of a name.
fn read_name(node: &Node) -> Read<Named<'_>> {
    let name = Named::read("name", node)?;
    if name.text.is_empty() || name.text == "world" || name.text.contains(['[', ']']) {
        return Err(node.out_of_range("name", "a name without brackets, and not `world`"));
    }
    Ok(name)
}

const STATUSES: &[(&str, Status)] = &[
    ("dynamic", Status::Dynamic),
    ("static", Status::Fixed),
    ("kinematic", Status::Kinematic),
    ("disabled", Status::Disabled),
];

/// Status of a body ⇒ its name in scene files.
pub fn status_name(status: Status) -> &'static str {
    STATUSES.iter().find(|(_, known)| *known == status).map_or("dynamic", |(name, _)| *name)
}

fn read_status(fields: &Fields<'_>, has_path: bool) -> Read<Status> {
    let Some(node) = fields.get("status") else {
        return Ok(if has_path { Status::Kinematic } else { Status::Dynamic });
    };
    let status = node.word("status", STATUSES)?;
    if has_path && status != Status::Kinematic {
        let name = status_name(status);
        let message = format!("a {name} body cannot follow a `path`; only a kinematic one does");
        return Err(Fault::new(node.span, Problem::Conflict(message)));
    }
    Ok(status)
}

fn read_damping(node: &Node, units: &Units) -> Read<(f64, f64)> {
    let rate = |node: &Node| node.non_negative("damping", units, NUMBER);
    if let Content::List(_) = &node.content {
        let [linear, angular] = node.list_of::<2>("damping", "a number or two of them [linear, angular]")?;
        return Ok((rate(linear)?, rate(angular)?));
    }
    let both = rate(node)?;
    Ok((both, both))
}

fn read_shapes<'a>(node: &'a Node, units: &Units, mass_model: MassModel) -> Read<Vec<ShapeModel<'a>>> {
    node.tables("shape")?.into_iter().map(|node| read_shape(node, units, mass_model)).collect()
}

fn read_shape<'a>(node: &'a Node, units: &Units, mass_model: MassModel) -> Read<ShapeModel<'a>> {
    let geometry = Component::read_beside("shape", node, None, SHAPE_KEYS)?;
    // The other keys are properties, which the registry checks.
    let fields = Fields::open("shape", node)?;
    let density = |node: &Node| node.positive("density", units, mass::density_dimension(mass_model));
    Ok(ShapeModel {
        geometry,
        pose: pose(&fields, units)?,
        density: fields.map("density", density)?,
        material: fields.map("material", |node| Named::read("material", node))?,
        groups: GroupsModel::read(&fields)?,
        sensor: fields.map("sensor", |node| Ok(node.flag("sensor")?.then_some(node.span)))?.flatten(),
        one_way: fields.map("one_way", |node| Ok((node.vector("one_way", units, NUMBER)?, node.span)))?,
    })
}
