//! Shapes from mesh files.

use super::{Context, property};
use crate::document::{Content, Node, unknown_key};
use crate::error::Problem;
use crate::mesh_file::{self, MeshLimits, ObjOptions};
use crate::model::Component;
use crate::source::{Fault, Read};
use crate::units::{LENGTH, NUMBER, Units};
use glam::DVec3;
use rattleback_dynamics::Properties;
use rattleback_dynamics::property::Value;
use rattleback_geometry::PolygonSoup;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most faces of a mesh; larger geometry should be split into several bodies.
const LIMITS: MeshLimits =
    MeshLimits { max_file_bytes: 256 << 20, max_vertices: 2_000_000, max_faces: 4_000_000 };

/// Mesh files read so far: a file is read once, however many bodies use it.
#[derive(Debug, Default)]
pub(super) struct MeshFiles(BTreeMap<PathBuf, PolygonSoup>);

impl MeshFiles {
    /// A shape with a `file` ⇒ its vertices and faces as properties, scaled, in SI.
    pub fn properties(
        &mut self,
        context: &Context<'_>,
        component: &Component<'_>,
        file: &Node,
    ) -> Read<Properties> {
        let entry = property::entry(&context.registry.shapes, &component.type_name)?;
        let has = |name: &str| entry.properties.iter().any(|spec| spec.name == name);
        if !has("vertices") {
            let message = format!("`{}` is not made of vertices, so it cannot come from a file", entry.name);
            return Err(Fault::new(file.span, Problem::Conflict(message)));
        }
        if let Some((key, _)) =
            component.properties.iter().find(|(key, _)| key.name != "file" && key.name != "scale")
        {
            let what = format!("`{}` from a file", entry.name);
            return Err(unknown_key(&what, key, vec!["file".into(), "scale".into()]));
        }
        let scale = component.get("scale").map_or(Ok(DVec3::ONE), |node| read_scale(node, &context.units))?;
        let scale = scale * context.units.factor(LENGTH);
        let soup = self.read(context, file)?;
        let vertices: Vec<DVec3> = soup.vertices.iter().map(|vertex| *vertex * scale).collect();
        if vertices.iter().any(|vertex| !vertex.is_finite()) {
            return Err(Fault::new(file.span, Problem::Mesh("the scaled mesh is not finite".into())));
        }
        let mut given = Properties::from([("vertices".to_owned(), Value::Vec3List(vertices))]);
        if has("faces") {
            given.insert("faces".into(), Value::IndexLists(soup.faces().map(<[u32]>::to_vec).collect()));
        }
        Ok(given)
    }

    fn read(&mut self, context: &Context<'_>, file: &Node) -> Read<&PolygonSoup> {
        let name = file.text("file")?;
        let refuse = |reason| Fault::new(file.span, Problem::Mesh(format!("`{name}`: {reason}")));
        let path = context.access.locate(context.folder, Path::new(name)).map_err(refuse)?;
        match self.0.entry(path) {
            std::collections::btree_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let options = ObjOptions { limits: LIMITS, ..ObjOptions::default() };
                let mesh = mesh_file::read_with(vacant.key(), &options);
                let mesh = mesh.map_err(|error| Fault::new(file.span, Problem::Mesh(error.to_string())))?;
                Ok(vacant.insert(mesh.soup))
            }
        }
    }
}

fn read_scale(node: &Node, units: &Units) -> Read<DVec3> {
    if let Content::List(_) = &node.content {
        let [x, y, z] = node.list_of::<3>("scale", "a number or three of them")?;
        let factor = |node: &Node| node.positive("scale", units, NUMBER);
        return Ok(DVec3::new(factor(x)?, factor(y)?, factor(z)?));
    }
    Ok(DVec3::splat(node.positive("scale", units, NUMBER)?))
}
