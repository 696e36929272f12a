//! Names of earlier releases in scene files.
//!
//! They are read for one release after they changed. Each is replaced in the tree, so that all later passes, and converted scenes, have
//! present names only, and is reported as a warning at its first place.

use crate::document::{Content, Key, Node, Table};
use crate::error::{Problem, SceneWarning};
use crate::notice::Notices;
use crate::source::{Fault, Read, Source, Span};

/// (status in an earlier release, its present name)
const STATUSES: &[(&str, &str)] = &[("fixed", "static"), ("animated", "kinematic"), ("inactive", "disabled")];
/// (key of bodies and shapes in an earlier release, its present name)
const KEYS: &[(&str, &str)] = &[("touches", "collision_mask")];

/// (present type, type in an earlier release)
const JOINT_TYPES: &[(&str, &str)] = &[("fixed", "rigid")];

/// (type of joint, present key, key in an earlier release)
const JOINT_KEYS: &[(&str, &str, &str)] = &[
    ("revolute", "max_torque", "effort"),
    ("spherical", "max_torque", "effort"),
    ("wheel", "max_torque", "effort"),
    ("prismatic", "max_force", "effort"),
    ("distance", "max_force", "effort"),
    ("target", "max_force", "effort"),
    ("cylindrical", "max_force", "effort"),
    ("cylindrical", "max_torque", "torque"),
    ("six-axis", "max_force", "linear_effort"),
    ("six-axis", "max_torque", "angular_effort"),
];

/// Replaces old names in a tree and records where they were.
#[derive(Debug, Default)]
pub(crate) struct Deprecated {
    replaced: Notices,
}

impl Deprecated {
    /// Replaces the old names of a whole tree. Joints that get their type from a default are complete only after `defaults::apply`, so
    /// this runs before it and after it.
    pub fn replace(&mut self, document: &mut Table) -> Read<()> {
        for (key, node) in &mut document.entries {
            match key.name.as_str() {
                "body" => tables(node, &mut |body| self.body(body))?,
                "joint" => tables(node, &mut |joint| self.joint(joint))?,
                "defaults" => self.defaults(node)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The old names as warnings, one for each name, at its first place.
    pub fn warnings(self, source: &Source) -> Vec<SceneWarning> {
        self.replaced.warnings(source).collect()
    }

    fn defaults(&mut self, node: &mut Node) -> Read<()> {
        let Content::Table(kinds) = &mut node.content else { return Ok(()) };
        for (kind, names) in &mut kinds.entries {
            let Content::Table(names) = &mut names.content else { continue };
            for (_, default) in &mut names.entries {
                let Content::Table(table) = &mut default.content else { continue };
                match kind.name.as_str() {
                    "body" => self.body(table)?,
                    "shape" => self.rename_keys(table, &key_now)?,
                    "joint" => self.joint(table)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &mut Table) -> Read<()> {
        self.rename_keys(body, &key_now)?;
        for (key, node) in &mut body.entries {
            match key.name.as_str() {
                "status" => self.rename_value(node, "status", |old| now(STATUSES, old)),
                "shape" => tables(node, &mut |shape| self.rename_keys(shape, &key_now))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn joint(&mut self, joint: &mut Table) -> Read<()> {
        let Some((_, node)) = joint.entries.iter_mut().find(|(key, _)| key.name == "type") else {
            return Ok(());
        };
        self.rename_value(node, "joint", renamed_type);
        let Content::Text(name) = &node.content else { return Ok(()) };
        let name = name.clone();
        self.rename_keys(joint, &|old| renamed_key(&name, old))
    }

    fn rename_value(
        &mut self,
        node: &mut Node,
        what: &'static str,
        now: impl Fn(&str) -> Option<&'static str>,
    ) {
        if let Content::Text(text) = &mut node.content
            && let Some(new) = now(text)
        {
            let old = std::mem::replace(text, new.into());
            self.note(what, &old, new, node.span);
        }
    }

    /// Renames the keys of a table. A table with a key under both names is refused.
    fn rename_keys(&mut self, table: &mut Table, now: &dyn Fn(&str) -> Option<&'static str>) -> Read<()> {
        for place in 0..table.entries.len() {
            let Key { name, span } = &table.entries[place].0;
            let Some(new) = now(name) else { continue };
            if table.get(new).is_some() {
                let message =
                    format!("`{name}` and `{new}` are the old and the new name of one key; give `{new}`");
                return Err(Fault::new(*span, Problem::Conflict(message)));
            }
            self.note("key", name, new, *span);
            table.entries[place].0.name = new.into();
        }
        Ok(())
    }

    /// A replaced name: `what` is "status", "key" or "joint".
    fn note(&mut self, what: &'static str, old: &str, new: &'static str, span: Span) {
        let message =
            format!("{what} `{old}` has been renamed `{new}`; the next release will not read the old name");
        self.replaced.add(span, message);
    }
}

fn now(names: &'static [(&'static str, &'static str)], old: &str) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == old).map(|(_, new)| *new)
}

fn key_now(old: &str) -> Option<&'static str> {
    now(KEYS, old)
}

/// Every table of a list, or one alone; what is neither is refused by the model.
fn tables(node: &mut Node, change: &mut dyn FnMut(&mut Table) -> Read<()>) -> Read<()> {
    match &mut node.content {
        Content::Table(table) => change(table),
        Content::List(list) => list.iter_mut().try_for_each(|item| match &mut item.content {
            Content::Table(table) => change(table),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

/// Type of a joint in an earlier release ⇒ its present name, if it has changed.
fn renamed_type(old: &str) -> Option<&'static str> {
    JOINT_TYPES.iter().find(|(_, known)| *known == old).map(|(new, _)| *new)
}

/// (type of a joint, key in an earlier release) ⇒ its present name, if it has changed.
fn renamed_key(joint: &str, old: &str) -> Option<&'static str> {
    JOINT_KEYS.iter().find(|(known, _, key)| *known == joint && *key == old).map(|(_, new, _)| *new)
}
