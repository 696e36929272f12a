//! Parameters of a scene: values that are changed by their path, without changing the file.
//!
//! A path names a key as it is written in a scene file: `gravity[2]`, `simulator.type`, `materials.ball.restitution`,
//! `body.ball.velocity[1]`, `body.ball.shape.radius`, `mixing.pair[0].restitution`. Tables of a list are found by their `name` or by
//! their number from 0. Names with dots or brackets are quoted: `body."left.wheel".mass`. Values are in the units of the scene.

use crate::document::{Content, Key, Node, Table};
use crate::error::SceneError;
use crate::source::Span;
use rattleback_dynamics::property::suggestion;
use std::fmt;

/// Longest path, bytes.
const MAX_PATH: usize = 400;

/// Vectors that are zero if they are not given, so that one component of them can be set.
const ZERO_VECTORS: &[&str] = &["position", "velocity", "angular_velocity"];

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list, such as a vector.
    List(Vec<Self>),
}

impl ParameterValue {
    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            _ => None,
        }
    }

    fn node(&self, span: Span) -> Node {
        let content = match self {
            Self::Bool(value) => Content::Bool(*value),
            Self::Integer(number) => Content::Integer(*number),
            Self::Real(number) => Content::Real(*number),
            Self::Text(text) => Content::Text(text.clone()),
            Self::List(list) => Content::List(list.iter().map(|item| item.node(span)).collect()),
        };
        Node { span, content }
    }

    /// Value of a node; none of a table.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        Some(match &node.content {
            Content::Bool(value) => Self::Bool(*value),
            Content::Integer(number) => Self::Integer(*number),
            Content::Real(number) => Self::Real(*number),
            Content::Text(text) => Self::Text(text.clone()),
            Content::List(list) => Self::List(list.iter().map(Self::of).collect::<Option<_>>()?),
            Content::Table(_) => return None,
        })
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(formatter),
            Self::Integer(number) => number.fmt(formatter),
            Self::Real(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
            Self::List(list) => {
                let shown: Vec<String> = list.iter().map(Self::to_string).collect();
                write!(formatter, "[{}]", shown.join(", "))
            }
        }
    }
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Changes one value of a tree.
pub(crate) fn set(document: &mut Table, path: &str, value: &ParameterValue) -> Result<(), SceneError> {
    let refused = |message: String| SceneError::Parameter { path: path.into(), message };
    let finite = |value: &ParameterValue| value.number().is_none_or(f64::is_finite);
    let all_finite = match value {
        ParameterValue::List(list) => list.iter().all(finite),
        other => finite(other),
    };
    if !all_finite {
        return Err(refused(format!("its value must be finite; got {value}")));
    }
    let steps = steps(path).map_err(refused)?;
    let mut whole = Node { span: Span::default(), content: Content::Table(std::mem::take(document)) };
    let result = place(&mut whole, &steps).map(|node| *node = value.node(node.span));
    if let Content::Table(table) = whole.content {
        *document = table;
    }
    result.map_err(refused)
}

/// Path ⇒ its steps.
fn steps(path: &str) -> Result<Vec<Step>, String> {
    if path.len() > MAX_PATH {
        return Err(format!("a path has at most {MAX_PATH} bytes"));
    }
    let (mut steps, mut rest) = (Vec::new(), path);
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"').ok_or("a quote is not closed")?;
            steps.push(Step::Key(name.into()));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return Err("a key is missing; paths are like `body.ball.velocity[1]`".into());
            }
            steps.push(match rest[..end].parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key(rest[..end].into()),
            });
            rest = &rest[end..];
        }
        while let Some(bracket) = rest.strip_prefix('[') {
            let (index, after) = bracket.split_once(']').ok_or("a bracket is not closed")?;
            let index = index.trim().parse().map_err(|_| format!("[{index}] is not a number from 0"))?;
            steps.push(Step::Index(index));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(steps),
            None => return Err(format!("`{rest}` should begin with a dot")),
        }
    }
}

/// The node of a path; a key that a table does not have yet is added to it.
fn place<'a>(node: &'a mut Node, steps: &[Step]) -> Result<&'a mut Node, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(node) };
    let span = node.span;
    match (&mut node.content, step) {
        (Content::Table(table), step) => {
            let key = match step {
                Step::Key(key) => key.clone(),
                Step::Index(index) => index.to_string(),
            };
            let at = table.entries.iter().position(|(given, _)| given.name == key);
            let at = if let Some(at) = at {
                at
            } else {
                let content = absent(&key, rest, table)?;
                table.entries.push((Key { name: key, span }, Node { span, content }));
                table.entries.len() - 1
            };
            place(&mut table.entries[at].1, rest)
        }
        (Content::List(list), Step::Index(index)) => {
            let length = list.len();
            let item = list.get_mut(*index).ok_or_else(|| match length {
                0 => format!("[{index}]: the list is empty"),
                _ => format!("[{index}]: the list has {length} values, [0] to [{}]", length - 1),
            })?;
            place(item, rest)
        }
        (Content::List(list), Step::Key(name)) => {
            let named = |item: &Node| match &item.content {
                Content::Table(table) => match table.get("name").map(|node| &node.content) {
                    Some(Content::Text(text)) => Some(text.clone()),
                    _ => None,
                },
                _ => None,
            };
            let names: Vec<String> = list.iter().filter_map(named).collect();
            // The shapes of a body are often one: `shape.radius` is that of the only one.
            if names.is_empty() && list.len() == 1 && matches!(list[0].content, Content::Table(_)) {
                return place(&mut list[0], steps);
            }
            let at = list.iter().position(|item| named(item).as_ref() == Some(name));
            let hint = suggestion(name, &names);
            let at = at.ok_or_else(|| {
                format!("nothing in this list is called `{name}`{hint}; names: {}", shortened(&names))
            })?;
            place(&mut list[at], rest)
        }
        (other, Step::Key(key)) => Err(format!("`{key}` is looked for in {}", other.describe())),
        (other, Step::Index(index)) => Err(format!("[{index}] is looked for in {}", other.describe())),
    }
}

/// What a key that is not there begins with.
fn absent(key: &str, rest: &[Step], table: &Table) -> Result<Content, String> {
    let given: Vec<String> = table.entries.iter().map(|(key, _)| key.name.clone()).collect();
    match rest {
        // Whether the key is allowed is checked when the scene is read again.
        [] => Ok(Content::Bool(false)),
        [Step::Index(0..=2)] if ZERO_VECTORS.contains(&key) => {
            let zero = || Node { span: Span::default(), content: Content::Integer(0) };
            Ok(Content::List(vec![zero(), zero(), zero()]))
        }
        _ => Err(format!(
            "there is no `{key}` here{}; give it in the scene first; there are: {}",
            suggestion(key, &given),
            shortened(&given)
        )),
    }
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 20;
    match names.len() {
        0 => "none".into(),
        count if count > SHOWN => format!("{}, … ({count} in all)", names[..SHOWN].join(", ")),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scene;
    use rattleback_dynamics::Registry;

    const SCENE: &str = r#"
[materials.steel]
restitution = 0.5
[[body]]
name = "floor"
status = "static"
shape = { type = "half-space" }
[[body]]
name = "red.ball"
position = [0, 0, 1]
[[body.shape]]
type = "sphere"
radius = 0.1
"#;

    fn changed(path: &str, value: ParameterValue) -> Result<Scene, SceneError> {
        Scene::parse(SCENE, "test").unwrap().with_parameters(&[(path.into(), value)])
    }

    /// The world built is that of a file with the value in it.
    #[test]
    fn a_changed_value_builds_the_same_world_as_a_changed_file() {
        let file = |from: &str, to: &str| Scene::parse(&SCENE.replace(from, to), "test").unwrap();
        for (path, value, from, to) in [
            ("body.\"red.ball\".position[2]", ParameterValue::Real(2.5), "[0, 0, 1]", "[0, 0, 2.5]"),
            ("body[1].shape.radius", ParameterValue::Real(0.3), "radius = 0.1", "radius = 0.3"),
            ("body.1.shape[0].radius", ParameterValue::Real(0.3), "radius = 0.1", "radius = 0.3"),
            ("materials.steel.restitution", ParameterValue::Integer(1), "= 0.5", "= 1"),
            ("gravity", ParameterValue::Text("none".into()), "[materials", "gravity = 'none'\n[materials"),
            (
                "body[1].angular_velocity[1]",
                ParameterValue::Integer(7),
                "[0, 0, 1]",
                "[0, 0, 1]\nangular_velocity = [0, 7, 0]",
            ),
        ] {
            let registry = Registry::default();
            let state = |scene: &Scene| {
                let built = scene.build(&registry).unwrap();
                built.world.snapshot().unwrap()
            };
            assert_eq!(state(&changed(path, value).unwrap()), state(&file(from, to)), "{path}");
        }
    }

    #[test]
    fn wrong_paths_are_answered_with_what_there_is() {
        let refused = |path: &str| changed(path, ParameterValue::Real(1.0)).unwrap_err().to_string();
        assert!(
            refused("body.flor.position").contains("did you mean `floor`"),
            "{}",
            refused("body.flor.position")
        );
        assert!(refused("body[2].position").contains("[0] to [1]"));
        assert!(
            refused("body[0].positio").contains("unknown key `positio`"),
            "{}",
            refused("body[0].positio")
        );
        assert!(refused("body[0].mas.x").contains("give it in the scene first"));
        for bad in ["", ".", "a..b", "a[", "a[x]", "\"a", "a]b", "gravity[0]"] {
            let message = refused(bad);
            assert!(message.contains("parameter") || message.contains("unknown key"), "{bad}: {message}");
        }
        let error = changed("gravity", ParameterValue::Real(f64::NAN)).unwrap_err();
        assert!(error.to_string().contains("finite"));
    }
}
