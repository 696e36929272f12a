//! Named defaults: `[defaults.body.brick]` once, and `like = "brick"` in every body that has them.
//!
//! A table that is like another has all keys of that one but those it gives itself. Of keys that exclude each other one is enough: a table with
//! a `mass` does not get a `density`. Defaults may be like other defaults of their kind.

use crate::document::{Content, Fields, Key, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use std::collections::BTreeMap;

/// Kinds of tables with defaults: lists of the scene, and the shapes of bodies.
pub(crate) const KINDS: &[&str] = &["body", "shape", "force", "joint", "material"];

/// Longest chain of defaults, each like the next.
const MAX_CHAIN: usize = 16;
/// Most keys of a default: more than anything has.
const MAX_KEYS: usize = 256;
/// Most values that defaults add to a scene: a few bytes of text can make many copies of a long list.
const MAX_VALUES: usize = 2_000_000;

/// Groups of keys of which a table has one at most.
const EXCLUSIVE: &[&[&str]] = &[
    &["density", "mass", "mass_properties"],
    &["axis", "orientation"],
    &["position", "anchors"],
    &["bodies", "chain"],
    &["on", "group"],
];

/// Fills in the defaults of a tree; `defaults` and `like` are removed.
pub(crate) fn apply(document: &mut Table) -> Read<()> {
    let at = document.entries.iter().position(|(key, _)| key.name == "defaults");
    let defaults = at.map(|at| document.entries.remove(at).1);
    let kinds = defaults.as_ref().map(read).transpose()?.unwrap_or_default();
    let mut filler = Filler { kinds, values: 0 };
    for (key, node) in &mut document.entries {
        match key.name.as_str() {
            "body" => filler.fill_bodies(node)?,
            "multibody" => filler.fill_links(node)?,
            "materials" => {
                if let Content::Table(materials) = &mut node.content {
                    for (_, material) in &mut materials.entries {
                        filler.fill("material", material)?;
                    }
                }
            }
            kind @ ("force" | "joint") => filler.fill_all(kind, node)?,
            _ => {}
        }
    }
    Ok(())
}

type ByName<'a> = BTreeMap<&'a str, &'a Table>;

/// `[defaults]` ⇒ kind, name, table.
fn read(node: &Node) -> Read<BTreeMap<&str, ByName<'_>>> {
    Fields::of("defaults", node, KINDS)?;
    let mut kinds = BTreeMap::new();
    for (kind, names) in &node.table("defaults")?.entries {
        let mut by_name = BTreeMap::new();
        for (name, default) in &names.table(&kind.name)?.entries {
            let table = default.table(&name.name)?;
            if table.entries.len() > MAX_KEYS {
                let found = table.entries.len().to_string();
                return Err(Fault::new(
                    name.span,
                    Problem::Limit { what: "keys of a default", found, limit: MAX_KEYS },
                ));
            }
            by_name.insert(name.name.as_str(), table);
        }
        kinds.insert(kind.name.as_str(), by_name);
    }
    Ok(kinds)
}

struct Filler<'a> {
    kinds: BTreeMap<&'a str, ByName<'a>>,
    values: usize,
}

impl<'a> Filler<'a> {
    /// Every table of a list, or one alone; anything else is refused by the model.
    fn fill_all(&mut self, kind: &str, node: &mut Node) -> Read<()> {
        match &mut node.content {
            Content::List(list) => list.iter_mut().try_for_each(|item| self.fill(kind, item)),
            _ => self.fill(kind, node),
        }
    }

    /// Bodies, and the shapes they have then.
    fn fill_bodies(&mut self, node: &mut Node) -> Read<()> {
        self.fill_all("body", node)?;
        let bodies = match &mut node.content {
            Content::List(list) => list.iter_mut().collect(),
            _ => vec![node],
        };
        for body in bodies {
            if let Content::Table(table) = &mut body.content
                && let Some((_, shape)) = table.entries.iter_mut().find(|(key, _)| key.name == "shape")
            {
                self.fill_all("shape", shape)?;
            }
        }
        Ok(())
    }

    /// Shapes of the links of multibodies.
    fn fill_links(&mut self, node: &mut Node) -> Read<()> {
        let Content::List(multibodies) = &mut node.content else { return Ok(()) };
        for multibody in multibodies {
            let Content::Table(table) = &mut multibody.content else { continue };
            let links = table.entries.iter_mut().find(|(key, _)| key.name == "link");
            let Some((_, Node { content: Content::List(links), .. })) = links else { continue };
            for link in links {
                let Content::Table(table) = &mut link.content else { continue };
                if let Some((_, shape)) = table.entries.iter_mut().find(|(key, _)| key.name == "shape") {
                    self.fill_all("shape", shape)?;
                }
            }
        }
        Ok(())
    }

    /// A table that is like another, which may be like a third.
    fn fill(&mut self, kind: &str, node: &mut Node) -> Read<()> {
        let Content::Table(table) = &mut node.content else { return Ok(()) };
        let Some(at) = table.entries.iter().position(|(key, _)| key.name == "like") else { return Ok(()) };
        let (_, first) = table.entries.remove(at);
        let mut next = Some(&first);
        for _ in 0..MAX_CHAIN {
            let Some(like) = next else { return Ok(()) };
            let default = self.named(kind, like)?;
            next = default.get("like");
            for (key, value) in default.entries.iter().filter(|(key, _)| key.name != "like") {
                if !has_key(table, &key.name) {
                    self.count(value, first.span)?;
                    table.entries.push((key.clone(), value.clone()));
                }
            }
        }
        let message = format!("a default is like itself, or more than {MAX_CHAIN} are like each other");
        Err(Fault::new(first.span, Problem::Conflict(message)))
    }

    fn named(&self, kind: &str, like: &Node) -> Read<&'a Table> {
        let name = like.text("like")?;
        let known = self.kinds.get(kind);
        known.and_then(|names| names.get(name)).copied().ok_or_else(|| {
            let known = known.map(|names| names.keys().map(|name| (*name).to_owned()).collect());
            let (kind, known) = (format!("default of a {kind}"), known.unwrap_or_default());
            Fault::new(like.span, Problem::UnknownName { kind, name: name.into(), known })
        })
    }

    fn count(&mut self, value: &Node, span: Span) -> Read<()> {
        self.values += size(value);
        if self.values <= MAX_VALUES {
            return Ok(());
        }
        let what = "values that defaults add to the scene (put long lists into mesh files)";
        Err(Fault::new(span, Problem::Limit { what, found: self.values.to_string(), limit: MAX_VALUES }))
    }
}

/// Whether a table has this key, or one that excludes it.
fn has_key(table: &Table, key: &str) -> bool {
    let group = EXCLUSIVE.iter().find(|group| group.contains(&key)).copied().unwrap_or_default();
    let same = |given: &Key| given.name == key || group.contains(&given.name.as_str());
    table.entries.iter().any(|(given, _)| same(given))
}

fn size(node: &Node) -> usize {
    match &node.content {
        Content::List(list) => 1 + list.iter().map(size).sum::<usize>(),
        Content::Table(table) => 1 + table.entries.iter().map(|(_, node)| size(node)).sum::<usize>(),
        _ => 1,
    }
}
