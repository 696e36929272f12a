//! Forces and the bodies they act on.
//!
//! In a script a body lists its forces; in a scene a force lists its bodies. If all dynamic bodies name one and the same gravity,
//! and no other, it becomes the gravity of the scene: the motion is the same, and the viewer gets the up direction.

use super::body::{Bodies, unknown};
use super::meaning::{custom, entry, renamed, table};
use super::words;
use crate::document::{Content, Fields, Key, Node};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use std::collections::BTreeMap;

/// Type of the script and of the scene, where the names differ.
const BASIC: (&str, &str) = ("Basic", "point-force");

/// (forces by id, bodies) ⇒ the scene's gravity, and its list of forces.
pub(super) fn read(forces: &BTreeMap<&str, &Node>, bodies: &Bodies<'_>) -> Read<((Key, Node), Vec<Node>)> {
    let mut acting: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for body in &bodies.all {
        for name in body.forces {
            let id = name.text("Forces")?;
            if !forces.contains_key(id) {
                return Err(unknown("force", name, id, forces.keys()));
            }
            let on = acting.entry(id).or_default();
            if body.movable && on.last().is_none_or(|last| last.content != body.id.content) {
                on.push(body.id);
            }
        }
    }
    let movable = bodies.all.iter().filter(|body| body.movable).count();
    let common = common_gravity(forces, &acting, movable)?;
    let mut list = Vec::new();
    // In the order of the script, so that the sum of the forces on a body is always the same.
    let mut in_order: Vec<(&&str, &&Node)> = forces.iter().collect();
    in_order.sort_by_key(|(_, node)| node.span.start);
    for (id, node) in in_order {
        let made = Law::read(node)?;
        match acting.get(*id) {
            Some(on) if !on.is_empty() && common.as_ref().is_none_or(|(common, _)| common != id) => {
                list.extend(made.acting_on(on));
            }
            _ => {}
        }
    }
    let none = || entry("gravity", Span::default(), Content::Text("none".into()));
    Ok((common.map_or_else(none, |(_, acceleration)| renamed("gravity", acceleration)), list))
}

/// The only gravity of the script, if it acts on all dynamic bodies: its id and its acceleration.
fn common_gravity<'a>(
    forces: &BTreeMap<&'a str, &'a Node>,
    acting: &BTreeMap<&str, Vec<&Node>>,
    movable: usize,
) -> Read<Option<(&'a str, &'a Node)>> {
    let mut found = None;
    for (id, node) in forces {
        let fields = Fields::open("Force", node)?;
        let is_gravity =
            fields.get("Type").is_some_and(|node| node.text("Type").is_ok_and(|t| t == "Gravity"));
        if !is_gravity || acting.get(id).is_none_or(Vec::is_empty) {
            continue;
        }
        let properties =
            fields.map("CustomProperties", |node| Fields::of("Gravity", node, &["Acceleration"]))?;
        let acceleration = properties.and_then(|properties| properties.get("Acceleration"));
        match (acceleration, acting.get(id)) {
            (Some(acceleration), Some(on)) if found.is_none() && on.len() == movable => {
                found = Some((*id, acceleration));
            }
            _ => return Ok(None),
        }
    }
    Ok(found)
}

/// A `Force` block.
struct Law<'a> {
    id: &'a Node,
    kind: Node,
    properties: Vec<(Key, Node)>,
}

impl<'a> Law<'a> {
    fn read(node: &'a Node) -> Read<Self> {
        let fields = Fields::of("Force", node, &["Type", "Id", "CustomProperties"])?;
        let kind = fields.required("Type", "which kind it is")?;
        let name = kind.text("Type")?;
        let mut properties = custom(&fields, &["Instantaneous"])?;
        if name == BASIC.0 {
            for (key, _) in properties.iter_mut().filter(|(key, _)| key.name == "value") {
                key.name = "force".into();
            }
        }
        if let Some(flag) = fields
            .get("CustomProperties")
            .and_then(|node| node.table("CustomProperties").ok()?.get("Instantaneous"))
            && flag.flag("Instantaneous")?
        {
            let message =
                "a force that lasts no time is a velocity: give the body a `LinearVelocity` instead";
            return Err(Fault::new(flag.span, Problem::Conflict(message.into())));
        }
        let name = if name == BASIC.0 { BASIC.1.to_owned() } else { words::type_name(name) };
        let kind = Node { span: kind.span, content: Content::Text(name) };
        Ok(Self { id: fields.required("Id", "what bodies call it by")?, kind, properties })
    }

    /// As the list of a scene; a script spring becomes one spring for each of its bodies.
    fn acting_on(self, on: &[&Node]) -> Vec<Node> {
        let start = vec![renamed("type", &self.kind)];
        let is_spring = self.kind.content == Content::Text("spring".into());
        if is_spring && !self.properties.iter().any(|(key, _)| key.name == "body_b") {
            let one = |body: &&Node| {
                let entries = start.iter().cloned().chain([renamed("body_b", body)]);
                table(self.kind.span, entries.chain(self.properties.iter().cloned()).collect())
            };
            return on.iter().map(one).collect();
        }
        let list = Content::List(on.iter().map(|body| (*body).clone()).collect());
        let entries = start.into_iter().chain([renamed("name", self.id), entry("on", self.id.span, list)]);
        vec![table(self.kind.span, entries.chain(self.properties).collect())]
    }
}
