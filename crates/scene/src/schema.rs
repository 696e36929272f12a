//! JSON Schema of scene files, for completion and validation in editors.
//!
//! Made from the registry, so it includes the shapes and forces of plug-ins. It applies to TOML files as well: most editors take it
//! from `#:schema scene.schema.json` in the first line.

use crate::defaults::KINDS;
use crate::model::{BODY_KEYS, JOINTS, KEYS, LINK_KEYS, MULTIBODY_KEYS};
use rattleback_dynamics::Registry;
use rattleback_dynamics::property::{Allowed, PropertySpec, Value, ValueType};
use rattleback_dynamics::registry::Entry;
use serde_json::{Map, Value as Json, json};

/// Registry ⇒ schema of a scene (draft 2020-12).
///
/// ```
/// let schema = rattleback_scene::schema(&rattleback_dynamics::Registry::default());
/// assert_eq!(schema["properties"]["title"]["type"], "string");
/// ```
pub fn schema(registry: &Registry) -> Json {
    let shapes = components(registry.shapes.iter(), &shape_extras());
    let forces = components(registry.forces.iter(), &force_extras());
    let joints = components(registry.joints.iter(), &joint_extras());
    let simulators = components(registry.simulators.iter(), &[]);
    let material =
        registry.materials.iter().next().map_or(json!(true), |entry| table(&entry.properties, &[like()]));
    let mut top = Map::new();
    for key in KEYS {
        top.insert((*key).into(), top_level(key));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rattleback scene",
        "type": "object",
        "properties": top,
        "additionalProperties": false,
        "$defs": {
            "vector": { "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 },
            "orientation": { "anyOf": [
                { "type": "array", "items": { "type": "number" }, "minItems": 4, "maxItems": 4 },
                { "type": "object" }
            ] },
            "names": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
            "shape": shapes,
            "force": forces,
            "joint": joints,
            "simulator": simulators,
            "material": material,
            "body": body(),
            "link": link(),
            "multibody": multibody(),
        },
    })
}

/// Schema of a key of the top level.
fn top_level(key: &str) -> Json {
    let words = |words: &[&str]| json!({ "enum": words });
    match key {
        "title" => json!({ "type": "string", "description": "One line" }),
        "description" => json!({ "type": "string", "description": "What happens in the scene" }),
        "include" => {
            json!({ "$ref": "#/$defs/names", "description": "Files to merge into this one, relative to it" })
        }
        "defaults" => {
            let of_kind = json!({ "type": "object", "additionalProperties": { "type": "object" } });
            let kinds: Map<String, Json> =
                KINDS.iter().map(|kind| ((*kind).into(), of_kind.clone())).collect();
            json!({ "type": "object", "additionalProperties": false, "properties": kinds,
                "description": "By kind and name; `like = NAME` takes them" })
        }
        "gravity" => {
            json!({ "description": "m/s², or \"none\"", "anyOf": [{ "$ref": "#/$defs/vector" }, { "const": "none" }] })
        }
        "time_step" => json!({ "type": "number", "exclusiveMinimum": 0, "description": "Suggested step, s" }),
        "duration" => {
            json!({ "type": "number", "exclusiveMinimum": 0, "description": "Suggested length of a run, s" })
        }
        "seed" => json!({ "type": "integer", "minimum": 0, "description": "Seed of random numbers" }),
        "plot" => {
            json!({ "type": "array", "items": { "type": "string" }, "description": "Channels worth plotting" })
        }
        "units" => json!({ "type": "object", "additionalProperties": false, "properties": {
            "length": words(&["m", "cm", "mm", "um", "km", "in", "ft"]),
            "mass": words(&["kg", "g", "mg", "t", "lb"]),
            "angle": words(&["rad", "deg"]),
        } }),
        "simulator" => json!({ "$ref": "#/$defs/simulator" }),
        "materials" => json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/material" } }),
        "body" => json!({ "type": "array", "items": { "$ref": "#/$defs/body" } }),
        "force" => json!({ "type": "array", "items": { "$ref": "#/$defs/force" } }),
        "joint" => json!({ "type": "array", "items": { "$ref": "#/$defs/joint" } }),
        "multibody" => json!({ "type": "array", "items": { "$ref": "#/$defs/multibody" } }),
        _ => json!({ "type": ["object", "array"] }),
    }
}

fn multibody() -> Json {
    let mut properties = Map::new();
    for key in MULTIBODY_KEYS {
        let schema = match *key {
            "name" | "material" => json!({ "type": "string" }),
            "file" => json!({ "type": "string", "description": "URDF or MJCF, relative to the scene" }),
            "floating" => json!({ "type": "boolean", "description": "Base of a URDF file is free" }),
            "position" => json!({ "$ref": "#/$defs/vector" }),
            "orientation" => json!({ "$ref": "#/$defs/orientation" }),
            "groups" | "collision_mask" => json!({ "$ref": "#/$defs/names" }),
            "positions" | "velocities" => json!({ "type": "object", "description": "Initial, by joint",
                "additionalProperties": { "type": ["number", "array"] } }),
            _ => json!({ "type": "array", "items": { "$ref": "#/$defs/link" } }),
        };
        properties.insert((*key).into(), schema);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn link() -> Json {
    let mut properties = Map::new();
    for key in LINK_KEYS {
        let schema = match *key {
            "name" | "parent" | "joint_name" => json!({ "type": "string" }),
            "joint" => json!({ "enum": JOINTS }),
            "position" | "axis" | "second_axis" => json!({ "$ref": "#/$defs/vector" }),
            "orientation" => json!({ "$ref": "#/$defs/orientation" }),
            "lead" => json!({ "type": "number" }),
            "density" | "mass" | "armature" | "damping" | "friction" => {
                json!({ "type": "number", "minimum": 0 })
            }
            "restitution" => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            "limits" => {
                json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
            }
            "shape" => json!({ "anyOf": [
                { "$ref": "#/$defs/shape" }, { "type": "array", "items": { "$ref": "#/$defs/shape" } }] }),
            _ => json!({ "type": "object" }),
        };
        properties.insert((*key).into(), schema);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "required": ["name"] })
}

fn body() -> Json {
    let mut properties = Map::new();
    for key in BODY_KEYS {
        let schema = match *key {
            "name" | "like" | "material" => json!({ "type": "string" }),
            "status" => json!({ "enum": ["dynamic", "static", "kinematic", "disabled"] }),
            "position" | "velocity" | "angular_velocity" => json!({ "$ref": "#/$defs/vector" }),
            "orientation" => json!({ "$ref": "#/$defs/orientation" }),
            "density" | "mass" => json!({ "type": "number", "minimum": 0 }),
            "charge" => json!({ "type": "number" }),
            "can_sleep" => json!({ "type": "boolean" }),
            "groups" | "collision_mask" => json!({ "$ref": "#/$defs/names" }),
            "shape" => json!({ "anyOf": [
                { "$ref": "#/$defs/shape" }, { "type": "array", "items": { "$ref": "#/$defs/shape" } }] }),
            _ => json!({}),
        };
        properties.insert((*key).into(), schema);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Keys that a table may have beside the properties of its type.
type Extras = [(&'static str, Json)];

fn shape_extras() -> Vec<(&'static str, Json)> {
    vec![
        ("position", json!({ "$ref": "#/$defs/vector" })),
        ("orientation", json!({ "$ref": "#/$defs/orientation" })),
        ("density", json!({ "type": "number" })),
        ("material", json!({ "type": "string" })),
        ("groups", json!({ "$ref": "#/$defs/names" })),
        ("collision_mask", json!({ "$ref": "#/$defs/names" })),
        ("sensor", json!({ "type": "boolean" })),
        ("one_way", json!({ "$ref": "#/$defs/vector" })),
        (
            "file",
            json!({ "type": "string", "description": "OBJ, STL or glTF, relative to the scene; of meshes and hulls" }),
        ),
        ("scale", json!({ "description": "Of a mesh file" })),
        like(),
    ]
}

fn force_extras() -> Vec<(&'static str, Json)> {
    vec![
        ("name", json!({ "type": "string" })),
        ("on", json!({ "$ref": "#/$defs/names" })),
        ("group", json!({ "type": "string" })),
        like(),
    ]
}

fn joint_extras() -> Vec<(&'static str, Json)> {
    let positive = || json!({ "type": "number", "exclusiveMinimum": 0 });
    let vector = || json!({ "$ref": "#/$defs/vector" });
    vec![
        ("name", json!({ "type": "string" })),
        (
            "bodies",
            json!({ "$ref": "#/$defs/names", "description": "Two, or one that is joined to the world" }),
        ),
        (
            "chain",
            json!({ "type": "string", "description": "A repeated body, each copy joined to the next" }),
        ),
        ("position", vector()),
        ("anchors", json!({ "type": "array", "items": vector(), "minItems": 2, "maxItems": 2 })),
        ("axis", vector()),
        ("orientation", json!({ "$ref": "#/$defs/orientation" })),
        ("collide", json!({ "type": "boolean" })),
        ("break_force", positive()),
        ("break_torque", positive()),
        ("break_drift", positive()),
        like(),
    ]
}

fn like() -> (&'static str, Json) {
    ("like", json!({ "type": "string", "description": "Name of a default of its kind" }))
}

/// One of several types, distinguished by `type`.
fn components<'a, T: 'a>(entries: impl Iterator<Item = &'a Entry<T>>, extras: &Extras) -> Json {
    let variants: Vec<Json> = entries
        .map(|entry| {
            let mut schema = table(&entry.properties, extras);
            schema["description"] = entry.doc.lines().next().unwrap_or_default().into();
            schema["properties"]["type"] = json!({ "const": entry.name });
            schema["required"] = json!(["type"]);
            schema
        })
        .collect();
    if extras.iter().any(|(name, _)| *name == "like") {
        // A table that is `like` a default may have its type, and so any property, from there.
        let filled = json!({ "type": "object", "required": ["like"], "description": "Like a default",
            "not": { "required": ["type"] } });
        return json!({ "oneOf": variants.into_iter().chain([filled]).collect::<Vec<_>>() });
    }
    json!({ "oneOf": variants })
}

fn table(specs: &[PropertySpec], extras: &Extras) -> Json {
    let mut properties = Map::new();
    for (name, schema) in extras {
        properties.insert((*name).into(), schema.clone());
    }
    for spec in specs {
        properties.insert(spec.name.clone(), property(spec));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Schema of a property. Ranges are in SI units, and a scene may use others: only the sign is included.
fn property(spec: &PropertySpec) -> Json {
    let list = |items: Json| json!({ "type": "array", "items": items });
    let mut schema = match spec.value_type {
        ValueType::Bool => json!({ "type": "boolean" }),
        ValueType::Int => json!({ "type": "integer" }),
        ValueType::Real => json!({ "type": "number" }),
        ValueType::Text | ValueType::Body => json!({ "type": "string" }),
        ValueType::Vec3 => json!({ "$ref": "#/$defs/vector" }),
        ValueType::Quat => json!({ "$ref": "#/$defs/orientation" }),
        ValueType::IntList => list(json!({ "type": "integer" })),
        ValueType::RealList => list(json!({ "type": "number" })),
        ValueType::Vec3List => list(json!({ "$ref": "#/$defs/vector" })),
        ValueType::IndexLists => list(list(json!({ "type": "integer", "minimum": 0 }))),
        ValueType::Signal => json!({ "type": ["number", "object"] }),
        ValueType::VectorSignal => json!({ "anyOf": [{ "$ref": "#/$defs/vector" }, { "type": "object" }] }),
    };
    let number = matches!(spec.value_type, ValueType::Int | ValueType::Real);
    match spec.allowed {
        Allowed::Positive if number => schema["exclusiveMinimum"] = 0.into(),
        Allowed::NonNegative if number => schema["minimum"] = 0.into(),
        Allowed::OneOf(words) => schema = json!({ "enum": words }),
        _ => {}
    }
    let unit = if spec.unit.is_empty() { String::new() } else { format!(" ({})", spec.unit) };
    schema["description"] = format!("{}{unit}", spec.doc).into();
    match &spec.default {
        Some(Value::Bool(value)) => schema["default"] = (*value).into(),
        Some(Value::Int(value)) => schema["default"] = (*value).into(),
        Some(Value::Real(value)) => schema["default"] = (*value).into(),
        Some(Value::Text(value)) => schema["default"] = value.as_str().into(),
        _ => {}
    }
    schema
}
