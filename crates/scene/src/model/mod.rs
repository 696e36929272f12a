//! The contents of a scene file, before anything of it is built.
//!
//! Everything that can be checked without the registry is checked here: keys, types, ranges, units, and names that are
//! given twice. Properties of shapes, materials, forces, joints and simulators are checked later by the registry; until then they are kept
//! as they are in the file, as a [`Component`].

mod body;
mod component;
mod filter;
mod force;
mod joint;
mod mass;
mod mixing;
mod multibody;
mod path;
mod pose;
mod repeat;
mod signal;

pub use body::status_name;
pub(crate) use body::{BodyModel, GroupsModel, KEYS as BODY_KEYS, ShapeModel};
pub(crate) use component::Component;
pub(crate) use filter::{FilterModel, Pairs};
pub(crate) use force::ForceModel;
pub(crate) use joint::{Ends, JointModel};
pub(crate) use mass::MassSource;
pub(crate) use mixing::CombineRulesModel;
pub(crate) use multibody::{
    JOINTS, LINK_KEYS, LinkModel, MULTIBODY_KEYS, MultibodyModel, coordinates, velocities,
};
pub(crate) use pose::orientation;
pub(crate) use repeat::Repeat;
pub(crate) use signal::{number_signal, vector_signal};

use crate::document::{Fields, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{LENGTH, NUMBER, Units};
use glam::DVec3;
use rattleback_geometry::Aabb;
use std::collections::BTreeSet;

/// Most bodies a scene may have, copies included.
pub(crate) const MAX_BODIES: usize = 5_000_000;

/// Keys of the top level; `include` and `defaults` are resolved before a model is read.
pub(crate) const KEYS: &[&str] = &[
    "title",
    "description",
    "include",
    "defaults",
    "gravity",
    "time_step",
    "duration",
    "seed",
    "units",
    "plot",
    "simulator",
    "materials",
    "body",
    "force",
    "joint",
    "multibody",
    "bounds",
    "filter",
    "mixing",
];

/// A text and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub text: &'a str,
    pub span: Span,
}

impl<'a> Named<'a> {
    pub fn read(key: &str, node: &'a Node) -> Read<Self> {
        Ok(Self { text: node.text(key)?, span: node.span })
    }

    /// One name or a list of names.
    pub fn read_all(key: &str, node: &'a Node) -> Read<Vec<Self>> {
        Ok(node.texts(key)?.into_iter().map(|(text, span)| Self { text, span }).collect())
    }

    /// The error for a name that is taken.
    pub fn duplicate(&self, kind: &'static str) -> Fault {
        Fault::new(self.span, Problem::Duplicate { kind, name: self.text.into() })
    }
}

/// The gravity of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GravityModel {
    Standard,
    None,
    Uniform(DVec3),
}

/// A whole scene.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub gravity: GravityModel,
    pub time_step: f64,
    pub duration: f64,
    pub seed: Option<u64>,
    pub units: Units,
    pub plot: Vec<Named<'a>>,
    pub simulator: Option<Component<'a>>,
    pub materials: Vec<(Named<'a>, Component<'a>)>,
    pub bodies: Vec<BodyModel<'a>>,
    pub forces: Vec<ForceModel<'a>>,
    pub joints: Vec<JointModel<'a>>,
    pub multibodies: Vec<MultibodyModel<'a>>,
    pub bounds: Option<Aabb>,
    pub filter: FilterModel<'a>,
    pub mixing: CombineRulesModel<'a>,
}

impl<'a> Model<'a> {
    /// Tree ⇒ model, or the first error and its place.
    pub fn read(document: &'a Table) -> Read<Self> {
        let fields = Fields::new("the scene", document, Span::default(), KEYS)?;
        let units = fields.map("units", Units::read)?.unwrap_or_default();
        let seconds = |key: &str, default| {
            fields.map(key, |node| node.positive(key, &units, NUMBER)).map(|given| given.unwrap_or(default))
        };
        let text = |key: &str| fields.map(key, |node| node.text(key)).map(Option::unwrap_or_default);
        let seed = fields.map("seed", |node| node.integer_within("seed", 0, i64::MAX))?;
        Ok(Self {
            title: text("title")?,
            description: text("description")?,
            gravity: fields
                .map("gravity", |node| read_gravity(node, &units))?
                .unwrap_or(GravityModel::Standard),
            time_step: seconds("time_step", 1.0 / 240.0)?,
            duration: seconds("duration", 10.0)?,
            seed: seed.map(i64::unsigned_abs),
            plot: fields.map("plot", |node| Named::read_all("plot", node))?.unwrap_or_default(),
            simulator: fields.map("simulator", |node| Component::read("simulator", node, None))?,
            materials: fields.map("materials", read_materials)?.unwrap_or_default(),
            bodies: fields.map("body", |node| read_bodies(node, &units))?.unwrap_or_default(),
            forces: fields.map("force", read_forces)?.unwrap_or_default(),
            joints: fields.map("joint", |node| read_joints(node, &units))?.unwrap_or_default(),
            multibodies: fields.map("multibody", |node| read_multibodies(node, &units))?.unwrap_or_default(),
            bounds: fields.map("bounds", |node| read_bounds(node, &units))?,
            filter: fields.map("filter", FilterModel::read)?.unwrap_or_default(),
            mixing: fields.map("mixing", CombineRulesModel::read)?.unwrap_or_default(),
            units,
        })
    }
}

fn read_gravity(node: &Node, units: &Units) -> Read<GravityModel> {
    if node.text("gravity").is_ok() {
        return node.word("gravity", &[("none", GravityModel::None)]);
    }
    Ok(GravityModel::Uniform(node.vector("gravity", units, LENGTH)?))
}

fn read_materials(node: &Node) -> Read<Vec<(Named<'_>, Component<'_>)>> {
    let table = node.table("materials")?;
    table
        .entries
        .iter()
        .map(|(key, node)| {
            let name = Named { text: &key.name, span: key.span };
            node.table(&key.name)?;
            Ok((name, Component::read("material", node, Some("material"))?))
        })
        .collect()
}

fn read_bodies<'a>(node: &'a Node, units: &Units) -> Read<Vec<BodyModel<'a>>> {
    let mut bodies = Vec::new();
    let mut names = BTreeSet::new();
    let mut total = 0usize;
    for node in node.tables("body")? {
        let body = BodyModel::read(node, units)?;
        if let Some(name) = body.name
            && !names.insert(name.text)
        {
            return Err(name.duplicate("body"));
        }
        total += body.repeat.copies();
        if total > MAX_BODIES {
            let problem = Problem::Limit { what: "bodies", found: total.to_string(), limit: MAX_BODIES };
            return Err(Fault::new(body.repeat.span.unwrap_or(body.span), problem));
        }
        bodies.push(body);
    }
    Ok(bodies)
}

fn read_forces(node: &Node) -> Read<Vec<ForceModel<'_>>> {
    let mut forces = Vec::new();
    let mut names = BTreeSet::new();
    for node in node.tables("force")? {
        let force = ForceModel::read(node)?;
        if let Some(name) = force.name
            && !names.insert(name.text)
        {
            return Err(name.duplicate("force"));
        }
        forces.push(force);
    }
    Ok(forces)
}

fn read_joints<'a>(node: &'a Node, units: &Units) -> Read<Vec<JointModel<'a>>> {
    let mut joints = Vec::new();
    let mut names = BTreeSet::new();
    for node in node.tables("joint")? {
        let joint = JointModel::read(node, units)?;
        if let Some(name) = joint.name
            && !names.insert(name.text)
        {
            return Err(name.duplicate("joint"));
        }
        joints.push(joint);
    }
    Ok(joints)
}

fn read_multibodies<'a>(node: &'a Node, units: &Units) -> Read<Vec<MultibodyModel<'a>>> {
    let mut multibodies = Vec::new();
    let mut names = BTreeSet::new();
    for node in node.tables("multibody")? {
        let multibody = MultibodyModel::read(node, units)?;
        if let Some(name) = multibody.name
            && !names.insert(name.text)
        {
            return Err(name.duplicate("multibody"));
        }
        multibodies.push(multibody);
    }
    Ok(multibodies)
}

fn read_bounds(node: &Node, units: &Units) -> Read<Aabb> {
    let fields = Fields::of("bounds", node, &["min", "max"])?;
    let corner = |key: &str, doc| fields.required(key, doc)?.vector(key, units, LENGTH);
    let (min, max) =
        (corner("min", "the lower corner [x, y, z]")?, corner("max", "the upper corner [x, y, z]")?);
    Aabb::new(min, max)
        .map_err(|error| Fault::new(fields.span(), Problem::Refused(format!("bounds: {error}"))))
}
