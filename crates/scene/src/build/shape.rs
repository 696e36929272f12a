//! Shapes of bodies.

use super::mesh::MeshFiles;
use super::names::{Bodies, Groups, Materials};
use super::{Context, property, refused};
use crate::error::Problem;
use crate::model::ShapeModel;
use crate::source::{Fault, Read, Span};
use crate::units::{Dimension, LENGTH};
use rattleback_dynamics::property::Value;
use rattleback_dynamics::{CollisionGroups, Properties, ShapePart};
use rattleback_geometry::Shape;

/// Most corners of a face: cutting it into triangles takes time that grows faster than their number.
const MAX_CORNERS: usize = 4096;

/// A shape ready to be attached, and what it takes to make it in another size.
#[derive(Debug)]
pub(super) struct Part {
    pub attached: ShapePart,
    type_name: String,
    properties: Properties,
    span: Span,
}

impl Part {
    /// Model ⇒ part.
    pub fn make(
        context: &Context<'_>,
        meshes: &mut MeshFiles,
        model: &ShapeModel<'_>,
        materials: &Materials<'_>,
        groups: &Groups<'_>,
        groups_of_body: CollisionGroups,
    ) -> Read<Self> {
        let geometry = &model.geometry;
        let entry = property::entry(&context.registry.shapes, &geometry.type_name)?;
        let properties = match geometry.get("file") {
            Some(file) => meshes.properties(context, geometry, file)?,
            None => property::given(context, entry, geometry, &Bodies::default())?,
        };
        let span = geometry.type_name.span;
        let corners = properties.values().filter_map(longest_loop).max().unwrap_or_default();
        if corners > MAX_CORNERS {
            let found = corners.to_string();
            return Err(Fault::new(
                span,
                Problem::Limit { what: "corners of a face", found, limit: MAX_CORNERS },
            ));
        }
        let shape = make(context, &entry.name, &properties, span)?;
        let part = ShapePart {
            shape,
            pose: model.pose,
            density: model.density,
            material: model.material.map(|name| materials.get(&name)).transpose()?,
            groups: groups.of(&model.groups, groups_of_body)?,
            sensor: model.sensor.is_some(),
            one_way: model.one_way.map(|(direction, _)| direction),
        };
        Ok(Self { attached: part, type_name: entry.name.clone(), properties, span })
    }

    /// The same part, every length of it multiplied.
    pub fn scaled(&self, context: &Context<'_>, factor: f64) -> Read<ShapePart> {
        let entry =
            context.registry.shapes.get(&self.type_name).map_err(|error| refused(self.span, error))?;
        let mut properties = self.properties.clone();
        for spec in entry.properties.iter().filter(|spec| Dimension::of_unit(&spec.unit) == Some(LENGTH)) {
            if let Some(value) = properties.get_mut(&spec.name) {
                scale(value, factor);
            }
        }
        let mut part = ShapePart {
            shape: make(context, &self.type_name, &properties, self.span)?,
            ..self.attached.clone()
        };
        part.pose.translation *= factor;
        Ok(part)
    }
}

fn make(context: &Context<'_>, type_name: &str, properties: &Properties, span: Span) -> Read<Shape> {
    context.registry.shapes.make(type_name, properties).map_err(|error| refused(span, error))
}

/// Corners of the longest face among index loops.
fn longest_loop(value: &Value) -> Option<usize> {
    if let Value::IndexLists(loops) = value { loops.iter().map(Vec::len).max() } else { None }
}

fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Real(x) => *x *= factor,
        Value::Vec3(v) => *v *= factor,
        Value::RealList(list) => list.iter_mut().for_each(|x| *x *= factor),
        Value::Vec3List(list) => list.iter_mut().for_each(|v| *v *= factor),
        _ => {}
    }
}
