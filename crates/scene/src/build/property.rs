//! Values in a file ⇒ values of properties, by the registry's metadata.

use super::names::Bodies;
use super::{Context, refused};
use crate::document::{Content, Node, missing_key, unknown_key};
use crate::error::Problem;
use crate::model::{Component, Named, number_signal, orientation, vector_signal};
use crate::source::{Fault, Read};
use crate::units::{Dimension, NUMBER, Units};
use glam::DVec3;
use rattleback_dynamics::Properties;
use rattleback_dynamics::property::{Allowed, PropertyError, PropertySpec, Value, ValueType, accept};
use rattleback_dynamics::registry::{Catalogue, Entry, RegistryError};

/// Type name ⇒ its entry, or an error at the name.
pub(super) fn entry<'c, T>(catalogue: &'c Catalogue<T>, name: &Named<'_>) -> Read<&'c Entry<T>> {
    catalogue.get(name.text).map_err(|error| match error {
        RegistryError::UnknownType { kind, name: unknown, known } => {
            Fault::new(name.span, Problem::UnknownName { kind: kind.into(), name: unknown, known })
        }
        other => refused(name.span, other),
    })
}

/// The properties of a component for the registry: known, of the right type, in range, complete, in SI.
pub(super) fn given<T>(
    context: &Context<'_>,
    entry: &Entry<T>,
    component: &Component<'_>,
    bodies: &Bodies<'_>,
) -> Read<Properties> {
    let mut given = Properties::new();
    for (key, node) in &component.properties {
        let Some(spec) = entry.properties.iter().find(|spec| spec.name == key.name) else {
            let known = entry.properties.iter().map(|spec| spec.name.clone()).collect();
            return Err(unknown_key(&format!("`{}`", entry.name), key, known));
        };
        given.insert(key.name.clone(), checked(&entry.name, spec, node, &context.units, bodies)?);
    }
    let missing = |spec: &&PropertySpec| spec.required && !given.contains_key(&spec.name);
    if let Some(spec) = entry.properties.iter().find(missing) {
        let what = format!("`{}`", entry.name);
        return Err(missing_key(&what, component.type_name.span, &spec.name, &spec.doc));
    }
    Ok(given)
}

/// (component type, spec, value in the file) ⇒ checked value.
pub(super) fn checked(
    component: &str,
    spec: &PropertySpec,
    node: &Node,
    units: &Units,
    bodies: &Bodies<'_>,
) -> Read<Value> {
    let dimension = match Dimension::of_unit(&spec.unit) {
        Some(dimension) => dimension,
        None if units.are_si() => NUMBER,
        None => {
            let message =
                format!("`{}` is in {}, which only a scene in SI units can give", spec.name, spec.unit);
            return Err(Fault::new(node.span, Problem::Conflict(message)));
        }
    };
    let value = read(&spec.name, spec.value_type, node, units, dimension, bodies)?;
    accept(component, spec, value).map_err(|error| match error {
        PropertyError::Range { allowed, value, .. } => {
            let factor = units.factor(dimension);
            let culprit = culprit(node, &|x| fits(spec.allowed, x * factor));
            match culprit {
                Some(leaf) => leaf.out_of_range(&spec.name, &allowed),
                None => Fault::new(node.span, Problem::Range { key: spec.name.clone(), allowed, value }),
            }
        }
        PropertyError::Type { expected, .. } => node.wrong_type(&spec.name, expected.describe()),
        other => refused(node.span, other),
    })
}

const fn fits(allowed: Allowed, x: f64) -> bool {
    match allowed {
        Allowed::Positive => x > 0.0,
        Allowed::NonNegative => x >= 0.0,
        Allowed::Within(low, high) => low <= x && x <= high,
        Allowed::Finite | Allowed::Direction | Allowed::OneOf(_) => true,
    }
}

/// The first number in a list, or list of lists, that does not fit.
fn culprit<'a>(node: &'a Node, fits: &dyn Fn(f64) -> bool) -> Option<&'a Node> {
    match &node.content {
        Content::List(list) => list.iter().find_map(|item| culprit(item, fits)),
        Content::Integer(number) if !fits(*number as f64) => Some(node),
        Content::Real(number) if !fits(*number) => Some(node),
        _ => None,
    }
}

fn read(
    key: &str,
    value_type: ValueType,
    node: &Node,
    units: &Units,
    dimension: Dimension,
    bodies: &Bodies<'_>,
) -> Read<Value> {
    let list = || node.list(key, value_type.describe());
    Ok(match value_type {
        ValueType::Bool => Value::Bool(node.flag(key)?),
        ValueType::Int => Value::Int(node.integer(key)?),
        ValueType::Real => Value::Real(node.number(key, units, dimension)?),
        ValueType::Text => Value::Text(node.text(key)?.to_owned()),
        ValueType::Vec3 => Value::Vec3(node.vector(key, units, dimension)?),
        ValueType::Quat => Value::Quat(orientation(key, node, units)?),
        ValueType::IntList => {
            Value::IntList(list()?.iter().map(|item| item.integer(key)).collect::<Read<_>>()?)
        }
        ValueType::RealList => Value::RealList(
            list()?.iter().map(|item| item.number(key, units, dimension)).collect::<Read<_>>()?,
        ),
        ValueType::Vec3List => {
            let vectors = list()?.iter().map(|item| item.vector(key, units, dimension));
            Value::Vec3List(vectors.collect::<Read<Vec<DVec3>>>()?)
        }
        ValueType::IndexLists => {
            Value::IndexLists(list()?.iter().map(|item| indices(key, item)).collect::<Read<_>>()?)
        }
        ValueType::Signal => Value::Signal(number_signal(key, node, units, dimension)?),
        ValueType::VectorSignal => Value::VectorSignal(vector_signal(key, node, units, dimension)?),
        ValueType::Body => {
            let name = Named::read(key, node)?;
            Value::Body(if name.text == "world" { None } else { Some(bodies.one(&name)?) })
        }
    })
}

fn indices(key: &str, node: &Node) -> Read<Vec<u32>> {
    let list = node.list(key, "lists of whole numbers")?;
    list.iter().map(|item| Ok(item.integer_within(key, 0, i64::from(u32::MAX))? as u32)).collect()
}
