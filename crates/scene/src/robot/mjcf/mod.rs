//! MJCF ⇒ links and joints.
//!
//! A body has any number of joints, which act one after the other: x_parent = T J₁ J₂ … x_body. In the tree every joint has a link; the last one is the
//! body, unless it turns about a point away from the body's origin: then the body is fixed to that link, so that its frame is that of the file.

mod body;
mod classes;
mod compiler;
mod geom;
pub(super) mod include;
mod mass;
mod orientation;
mod sections;

use super::build::Draft;
use super::mesh::MeshFiles;
use super::xml::{Element, Notes, Xml};
use crate::source::Read;
use classes::Classes;
use compiler::Compiler;
use geom::Meshes;
use glam::DVec3;
use rattleback_geometry::Pose;
use std::collections::HashMap;

/// Sections without a meaning for the motion.
const SILENT: [&str; 4] = ["visual", "statistic", "size", "custom"];
/// Sections that are read.
const KNOWN: [&str; 8] =
    ["compiler", "option", "default", "asset", "worldbody", "equality", "contact", "actuator"];

/// What all parts share.
struct Context<'a> {
    xml: &'a Xml,
    compiler: Compiler,
    classes: Classes<'a>,
    meshes: Meshes<'a>,
    /// Site ⇒ name of its link (none for the world) and its pose there.
    sites: HashMap<String, (Option<String>, Pose)>,
    /// Bodies so far, for names of those without one.
    bodies: usize,
}

/// Elements of an MJCF file, included ones in their places ⇒ draft.
pub(super) fn read(xml: &Xml, files: MeshFiles<'_>, notes: &mut Notes) -> Read<Draft> {
    let root = &xml.elements[0];
    let mut draft = Draft {
        name: root.get("model").map(|name| name.value.clone()).unwrap_or_default(),
        gravity: DVec3::new(0.0, 0.0, -9.81),
        ..Draft::default()
    };
    let compiler = Compiler::read(xml, root)?;
    let classes = Classes::read(xml, root)?;
    let meshes = Meshes::read(xml, root, &compiler, &classes, files, notes)?;
    let mut context = Context { xml, compiler, classes, meshes, sites: HashMap::new(), bodies: 0 };
    for option in xml.children(root, "option") {
        read_option(option, &mut draft, notes)?;
    }
    for world in xml.children(root, "worldbody") {
        body::world(&mut context, world, &mut draft, notes)?;
    }
    mass::set_total(&context.compiler, &mut draft);
    sections::read(&context, root, &mut draft, notes)?;
    for element in root.children.iter().map(|child| &xml.elements[*child]) {
        let tag = element.tag.as_str();
        if !KNOWN.contains(&tag) && !SILENT.contains(&tag) {
            notes.add(element.span, format!("<{tag}> is not supported and left out"));
        }
    }
    Ok(draft)
}

fn read_option(option: &Element, draft: &mut Draft, notes: &mut Notes) -> Read<()> {
    if let Some(gravity) = option.vector("gravity")? {
        draft.gravity = gravity;
    }
    if let Some(step) = option.get("timestep") {
        let seconds = step.number()?;
        if seconds <= 0.0 {
            return Err(step.refuse("above 0"));
        }
        draft.time_step = Some(seconds);
    }
    for name in ["density", "viscosity", "wind"] {
        if let Some(given) = option.get(name)
            && given.numbers(3)?.iter().any(|x| *x != 0.0)
        {
            notes.add(given.span, format!("forces of the medium (`{name}`) are not supported and left out"));
        }
    }
    Ok(())
}
