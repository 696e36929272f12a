//! The schema agrees with the reader: every built-in scene fits it, and misspelt ones do not.

use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, built_ins, schema};
use serde_json::Value;

/// The part of JSON Schema that ours uses, checked the plain way ⇒ the first thing that does not fit.
fn fault(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return fault(root, root.pointer(path.trim_start_matches('#')).unwrap(), value, at);
    }
    let branches = |key: &str| {
        let list = schema[key].as_array()?;
        let faults: Vec<_> = list.iter().map(|branch| fault(root, branch, value, at)).collect();
        (!faults.iter().any(Option::is_none)).then(|| format!("{at} fits none of {key}: {faults:?}"))
    };
    if let Some(fault) = branches("anyOf").or_else(|| branches("oneOf")) {
        return Some(fault);
    }
    if schema.get("const").is_some_and(|wanted| wanted != value)
        || schema["enum"].as_array().is_some_and(|words| !words.contains(value))
    {
        return Some(format!("{at} is {value}"));
    }
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is(name)) {
        return Some(format!("{at} is {value}, not {types:?}"));
    }
    if let Some(list) = value.as_array() {
        let length = |key: &str, default: u64| schema[key].as_u64().unwrap_or(default) as usize;
        if list.len() < length("minItems", 0) || list.len() > length("maxItems", u64::MAX) {
            return Some(format!("{at} has {} items", list.len()));
        }
        if let Some(items) = schema.get("items") {
            return list
                .iter()
                .enumerate()
                .find_map(|(i, item)| fault(root, items, item, &format!("{at}[{i}]")));
        }
    }
    let lacks = |schema: &Value| {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        required.filter(|key| value.get(key).is_none()).map(str::to_owned).next()
    };
    if let Some(key) = lacks(schema) {
        return Some(format!("{at} lacks {key}"));
    }
    if schema.get("not").is_some_and(|not| lacks(not).is_none()) {
        return Some(format!("{at} is what it must not be"));
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        match (schema["properties"].get(key), schema.get("additionalProperties")) {
            (None, Some(Value::Bool(false))) => return Some(format!("{at} is not known")),
            (Some(inner), _) | (None, Some(inner)) => {
                if let Some(fault) = fault(root, inner, item, &at) {
                    return Some(fault);
                }
            }
            (None, None) => {}
        }
    }
    None
}

fn json_of(toml: &str) -> Value {
    fn convert(value: toml::Value) -> Value {
        match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Float(number) => number.into(),
            toml::Value::Boolean(flag) => flag.into(),
            toml::Value::Datetime(date) => date.to_string().into(),
            toml::Value::Array(list) => list.into_iter().map(convert).collect(),
            toml::Value::Table(table) => {
                Value::Object(table.into_iter().map(|(key, value)| (key, convert(value))).collect())
            }
        }
    }
    convert(toml.parse::<toml::Table>().map(toml::Value::Table).unwrap())
}

#[test]
fn every_scene_that_comes_along_fits_the_schema() {
    let schema = schema(&Registry::default());
    for scene in built_ins() {
        // The scene of a script is checked as a file.
        let script = (scene.file.split('.').next_back() == Some("rhai"))
            .then(|| Scene::parse(scene.text, scene.file).unwrap().to_toml());
        let text = script.as_deref().unwrap_or(scene.text);
        assert_eq!(fault(&schema, &schema, &json_of(text), scene.name), None);
    }
}

#[test]
fn includes_and_defaults_fit() {
    let schema = schema(&Registry::default());
    for text in [
        "include = 'materials.toml'",
        "include = ['a.toml', 'b.toml']",
        "[defaults.body.brick]\nmass = 1\n[defaults.shape.small]\ntype = 'box'\n[[body]]\nlike = 'brick'\nshape = { like = 'small' }",
        "[[joint]]\nlike = 'pin'\nbodies = ['a', 'b']\nanchors = [[0, 0, 0], [1, 0, 0]]",
        "[[joint]]\nlike = 'pin'\ntype = 'revolute'\nchain = 'link'\nbreak_force = 3",
    ] {
        assert_eq!(fault(&schema, &schema, &json_of(text), "scene"), None, "{text}");
    }
}

#[test]
fn misspelt_scenes_do_not_fit() {
    let schema = schema(&Registry::default());
    for text in [
        "titel = 'x'",
        "gravity = [0, 1]",
        "gravity = 'down'",
        "[[body]]\nshpae = {}",
        "[[body]]\nshape = { type = 'sphera', radius = 1 }",
        "[[body]]\nshape = { type = 'sphere', radus = 1 }",
        "[[force]]\ntype = 'spring'\nstifness = 3",
        "units = { length = 'furlong' }",
        "defaults.bodies.brick = {}",
        "[[body]]\nlike = 3",
        "[[force]]\nlike = 'a'\ntype = 'springs'",
        "[[joint]]\ntype = 'hinge'",
        "[[joint]]\ntype = 'revolute'\nbodies = ['a', 'b']\nlimitd = true",
        "include = 3",
    ] {
        assert!(fault(&schema, &schema, &json_of(text), "scene").is_some(), "{text}");
    }
}
