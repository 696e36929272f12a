//! Blocks ⇒ scene.
//!
//! The parts of a script name each other by id, in any order; so everything with an id is collected first.

use super::body::Bodies;
use super::geometry::{self, Geometry};
use super::{constraint, force, words};
use crate::document::{Content, Fields, Key, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use std::collections::BTreeMap;

/// The simulation method that a script names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pipeline {
    /// By the solver of the environment.
    Solver,
    /// Sequentially, with a pass through the levels of every stack.
    Shock,
    /// Collisions at the times at which they happen.
    ImpactTimes,
    /// By the simulator of that name.
    Named(&'static str),
}

const PIPELINES: &[(&str, Pipeline)] = &[
    ("Basic", Pipeline::Solver),
    ("ShockPropagation", Pipeline::Shock),
    ("Bisection", Pipeline::ImpactTimes),
    ("ConservativeAdvancement", Pipeline::ImpactTimes),
    ("Continuous", Pipeline::ImpactTimes),
    ("Realtime", Pipeline::Named("realtime")),
    ("Impulse", Pipeline::Named("impulse")),
    ("Constraint", Pipeline::Named("constraint")),
    ("Penalty", Pipeline::Named("penalty")),
    ("Sequential", Pipeline::Named("sequential")),
    ("FreeMotion", Pipeline::Named("free-motion")),
];
const SOLVERS: &[(&str, &str)] =
    &[("Sequential", "sequential"), ("PenaltyBased", "penalty"), ("LCP", "constraint")];
/// Types of joints that `sequential` does not support.
const SLIDING: &[&str] = &["prismatic", "universal"];
const INTEGRATORS: &[(&str, &str)] =
    &[("Euler", "symplectic-euler"), ("Verlet", "velocity-verlet"), ("RK4", "runge-kutta-4")];
const SPACES: &[(&str, &str)] = &[
    ("Basic", "brute-force"),
    ("Grid", "uniform-grid"),
    ("KDTree", "kd-tree"),
    ("SweepAndPrune", "sweep-and-prune"),
];

/// Settings of a space; they do not affect the motion, and the broad phases of the engine have no equivalent.
const TUNING: &[&str] = &["CellSize", "CleanupInterval", "MaxDepth", "MinBodies", "RebuildInterval", "Axes"];

/// An entry that has no key in the script; its place is that of what it follows from.
pub(super) fn entry(name: &str, span: Span, content: Content) -> (Key, Node) {
    (Key { name: name.into(), span }, Node { span, content })
}

/// A value of the script under a name of the scene.
pub(super) fn renamed(name: &str, node: &Node) -> (Key, Node) {
    (Key { name: name.into(), span: node.span }, node.clone())
}

/// Entries ⇒ table.
pub(super) fn table(span: Span, entries: Vec<(Key, Node)>) -> Node {
    Node { span, content: Content::Table(Table { entries }) }
}

/// The blocks of one name in a block.
pub(super) fn blocks<'a>(what: &str, node: &'a Node, name: &str) -> Read<Vec<&'a Node>> {
    let inside = Fields::of(what, node, &[name]).map(|_| node.table(what))??;
    inside.entries.iter().map(|(key, node)| node.table(&key.name).map(|_| node)).collect()
}

/// Blocks ⇒ by id, each id once.
fn by_id<'a>(kind: &'static str, nodes: Vec<&'a Node>) -> Read<BTreeMap<&'a str, &'a Node>> {
    let mut found = BTreeMap::new();
    for node in nodes {
        let id = Fields::open(kind, node)?.required("Id", "what others call it by")?;
        if found.insert(id.text("Id")?, node).is_some() {
            let name = id.text("Id")?.to_owned();
            return Err(Fault::new(id.span, Problem::Duplicate { kind, name }));
        }
    }
    Ok(found)
}

/// Custom properties ⇒ entries of a scene, all but those in `without`.
pub(super) fn custom(fields: &Fields<'_>, without: &[&str]) -> Read<Vec<(Key, Node)>> {
    let Some(node) = fields.get("CustomProperties") else { return Ok(Vec::new()) };
    let entries = &node.table("CustomProperties")?.entries;
    let kept = entries.iter().filter(|(key, _)| !without.contains(&key.name.as_str()));
    Ok(kept
        .map(|(key, node)| (Key { name: words::property(&key.name), span: key.span }, node.clone()))
        .collect())
}

/// Tree of a script ⇒ tree of the scene it describes.
pub(super) fn scene(script: &Table) -> Read<Table> {
    const PARTS: &[&str] = &["Geometries", "Materials", "Forces", "Simulator", "Environment"];
    Fields::new("the script", script, Span::default(), PARTS)?;
    let all = |name: &str, inner: &str| {
        let parts = script.entries.iter().filter(|(key, _)| key.name == name);
        let nodes = parts.map(|(_, node)| blocks(name, node, inner)).collect::<Read<Vec<_>>>()?;
        Ok::<Vec<&Node>, Fault>(nodes.into_iter().flatten().collect())
    };
    let geometries = by_id("geometry", all("Geometries", "Geometry")?)?;
    let geometries = geometries.into_iter().map(|(id, node)| Ok((id, geometry::read(node)?)));
    let geometries = geometries.collect::<Read<BTreeMap<&str, Geometry>>>()?;
    let forces = by_id("force", all("Forces", "Force")?)?;
    let material_blocks = all("Materials", "Material")?;
    by_id("material", material_blocks.clone())?;
    let Some(environment) = script.get("Environment") else {
        let message = "a script needs an `Environment` with a `Space` that holds its bodies";
        return Err(Fault::new(Span::default(), Problem::Syntax(message.into())));
    };
    let environment = Environment::read(environment)?;
    let bodies = Bodies::read(environment.space, &geometries, &environment.groups)?;
    let mut scene = Table::default();
    scene.entries.push(renamed("title", environment.id));
    let (gravity, forces) = force::read(&forces, &bodies)?;
    scene.entries.push(gravity);
    let (joints, springs) = constraint::read(&environment.constraints, &bodies)?;
    scene.entries.push(simulator(script.get("Simulator"), &environment, &joints)?);
    scene.entries.push(materials(&material_blocks)?);
    let mixing = [("restitution", "mean"), ("friction", "mean"), ("perturbation", "sum")];
    let mixing = mixing.map(|(key, rule)| entry(key, Span::default(), Content::Text(rule.into())));
    scene.entries.push(entry("mixing", Span::default(), Content::Table(Table { entries: mixing.into() })));
    let forces = forces.into_iter().chain(springs).collect();
    for (key, list) in [("body", bodies.into_nodes()), ("force", forces), ("joint", joints)] {
        if !list.is_empty() {
            scene.entries.push(entry(key, Span::default(), Content::List(list)));
        }
    }
    scene.entries.extend(environment.filter);
    Ok(scene)
}

/// The `Environment` block.
struct Environment<'a> {
    id: &'a Node,
    space: &'a Node,
    constraints: Vec<&'a Node>,
    integrator: &'static str,
    solver: &'static str,
    /// Body ⇒ its groups.
    groups: BTreeMap<&'a str, Vec<Node>>,
    filter: Option<(Key, Node)>,
}

impl<'a> Environment<'a> {
    fn read(node: &'a Node) -> Read<Self> {
        const KEYS: &[&str] = &[
            "Id",
            "Space",
            "Constraints",
            "KineticIntegrator",
            "ConstraintSolver",
            "CollisionGroups",
            "CollisionFilter",
        ];
        let fields = Fields::of("Environment", node, KEYS)?;
        let word = |key: &str, words: &[(&str, &'static str)]| {
            fields.map(key, |node| node.word(key, words)).map(|word| word.unwrap_or(words[0].1))
        };
        Ok(Self {
            id: fields.required("Id", "what the scene is called")?,
            space: fields.required("Space", "where the bodies are")?,
            constraints: fields
                .map("Constraints", |node| blocks("Constraints", node, "Constraint"))?
                .unwrap_or_default(),
            integrator: word("KineticIntegrator", INTEGRATORS)?,
            solver: word("ConstraintSolver", SOLVERS)?,
            groups: fields.map("CollisionGroups", groups)?.unwrap_or_default(),
            filter: fields.map("CollisionFilter", filter)?,
        })
    }
}

/// `CollisionGroups { Group { Id = "…" Bodies = { … } } … }` ⇒ the groups of each body.
fn groups(node: &Node) -> Read<BTreeMap<&str, Vec<Node>>> {
    let mut groups: BTreeMap<&str, Vec<Node>> = BTreeMap::new();
    let nodes = blocks("CollisionGroups", node, "Group")?;
    by_id("group", nodes.clone())?;
    for node in nodes {
        let fields = Fields::of("Group", node, &["Id", "Bodies"])?;
        let id = fields.required("Id", "what the group is called")?;
        for body in fields.required("Bodies", "ids of its bodies")?.list("Bodies", "a list of ids")? {
            groups.entry(body.text("Bodies")?).or_default().push(id.clone());
        }
    }
    Ok(groups)
}

/// `CollisionFilter { Default = "Allow" Rule { … } Exception { … } }` ⇒ `[filter]`.
fn filter(node: &Node) -> Read<(Key, Node)> {
    let fields = Fields::of("CollisionFilter", node, &["Default", "Rule", "Exception"])?;
    let allowed =
        fields.map("Default", |node| node.word("Default", &[("Allow", "allow"), ("Filter", "forbid")]))?;
    let mut lists: [Vec<Node>; 2] = Default::default();
    for (key, node) in &node.table("CollisionFilter")?.entries {
        if key.name == "Default" {
            continue;
        }
        Fields::of(&key.name, node, &["Body", "Bodies", "Group", "Groups"])?;
        let entries = &node.table(&key.name)?.entries;
        let entries = entries.iter().map(|(key, node)| renamed(&words::property(&key.name), node)).collect();
        lists[usize::from(key.name == "Exception")].push(table(node.span, entries));
    }
    let [forbid, allow] = lists;
    let default = Content::Text(allowed.unwrap_or("allow").into());
    let entries = vec![
        entry("default", node.span, default),
        entry("forbid", node.span, Content::List(forbid)),
        entry("allow", node.span, Content::List(allow)),
    ];
    Ok((Key { name: "filter".into(), span: node.span }, table(node.span, entries)))
}

/// Whether `sequential` cannot hold a joint, because it constrains points only.
fn slides(joint: &Node) -> bool {
    let kind = joint.table("joint").ok().and_then(|joint| joint.get("type")?.text("type").ok());
    kind.is_some_and(|kind| SLIDING.contains(&kind))
}

/// Simulator, solver, integrator and space, and the joints ⇒ `[simulator]`.
fn simulator(node: Option<&Node>, environment: &Environment<'_>, joints: &[Node]) -> Read<(Key, Node)> {
    let space = Fields::of("Space", environment.space, &["Type", "Id", "CustomProperties", "Bodies"])?;
    let space_type = space.required("Type", "Basic, Grid, KDTree or SweepAndPrune")?;
    let space_name = space_type.word("Space", SPACES)?;
    space.map("CustomProperties", |node| Fields::of("the space", node, TUNING).map(|_| ()))?;
    let span = node.map_or(space_type.span, |node| node.span);
    let mut entries = Vec::new();
    let mut pipeline = Pipeline::Solver;
    if let Some(node) = node {
        let fields = Fields::of("Simulator", node, &["Type", "Id", "CustomProperties"])?;
        pipeline = fields.required("Type", "Basic, or another pipeline")?.word("Simulator", PIPELINES)?;
        entries = custom(&fields, &[])?;
    }
    let name = match pipeline {
        Pipeline::Named(name) => name,
        // Both resolve the time of impact; only the second supports joints.
        Pipeline::ImpactTimes if joints.is_empty() => "impulse",
        Pipeline::ImpactTimes => "constraint",
        Pipeline::Shock if joints.iter().any(slides) => "realtime",
        Pipeline::Shock => "sequential",
        Pipeline::Solver if environment.solver == "sequential" && joints.iter().any(slides) => "realtime",
        Pipeline::Solver => environment.solver,
    };
    // Only free motion has a choice of integrators; all others integrate free flight exactly.
    let (key, value) =
        if name == "free-motion" { ("integrator", environment.integrator) } else { ("space", space_name) };
    entries.insert(0, entry("type", span, Content::Text(name.into())));
    if pipeline == Pipeline::Shock
        && name == "sequential"
        && !entries.iter().any(|(given, _)| given.name == "shock")
    {
        entries.push(entry("shock", span, Content::Bool(true)));
    }
    if !entries.iter().any(|(given, _)| given.name == key) {
        entries.push(entry(key, space_type.span, Content::Text(value.into())));
    }
    Ok((Key { name: "simulator".into(), span }, table(span, entries)))
}

/// Material blocks ⇒ `[materials]`.
fn materials(nodes: &[&Node]) -> Read<(Key, Node)> {
    const KEYS: &[&str] = &[
        "Id",
        "RestitutionCoefficient",
        "StaticFrictionCoefficient",
        "DynamicFrictionCoefficient",
        "RollingFrictionCoefficient",
        "SpinningFrictionCoefficient",
        "SurfacePerturbationCoefficient",
    ];
    let mut materials = Vec::with_capacity(nodes.len());
    for node in nodes {
        let fields = Fields::of("Material", node, KEYS)?;
        let id = fields.required("Id", "what bodies call it by")?;
        let given = node.table("Material")?.entries.iter().filter(|(key, _)| key.name != "Id");
        let mut entries: Vec<_> =
            given.map(|(key, node)| renamed(&words::property(&key.name), node)).collect();
        entries.extend(missing_friction(&fields)?);
        materials.push((Key { name: id.text("Id")?.into(), span: id.span }, table(node.span, entries)));
    }
    Ok(entry("materials", Span::default(), Content::Table(Table { entries: materials })))
}

/// A script may give one of the two friction coefficients; the other is adjusted if needed, since kinetic friction must not exceed static.
fn missing_friction(fields: &Fields<'_>) -> Read<Option<(Key, Node)>> {
    const STATIC: f64 = 0.6;
    const DYNAMIC: f64 = 0.5;
    let number = |key: &str| fields.map(key, |node| Ok((node.plain_number(key)?, node.span)));
    let other = match (number("StaticFrictionCoefficient")?, number("DynamicFrictionCoefficient")?) {
        (Some((given, span)), None) if given < DYNAMIC => Some(("kinetic_friction", given, span)),
        (None, Some((given, span))) if given > STATIC => Some(("static_friction", given, span)),
        _ => None,
    };
    Ok(other.map(|(key, value, span)| entry(key, span, Content::Real(value))))
}
