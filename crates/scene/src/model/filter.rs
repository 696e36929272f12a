//! Which pairs of bodies may touch.

use super::Named;
use crate::document::{Fields, Node};
use crate::error::Problem;
use crate::source::{Fault, Read};

/// Some pairs, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pairs<'a> {
    WithBody(Named<'a>),
    Bodies(Named<'a>, Named<'a>),
    WithGroup(Named<'a>),
    Groups(Named<'a>, Named<'a>),
}

/// The `[filter]` table.
#[derive(Clone, Debug)]
pub(crate) struct FilterModel<'a> {
    pub allow_by_default: bool,
    pub forbid: Vec<Pairs<'a>>,
    pub allow: Vec<Pairs<'a>>,
}

impl Default for FilterModel<'_> {
    fn default() -> Self {
        Self { allow_by_default: true, forbid: Vec::new(), allow: Vec::new() }
    }
}

impl<'a> FilterModel<'a> {
    /// Table ⇒ rules and exceptions.
    pub fn read(node: &'a Node) -> Read<Self> {
        let fields = Fields::of("filter", node, &["default", "forbid", "allow"])?;
        let default =
            fields.map("default", |node| node.word("default", &[("allow", true), ("forbid", false)]))?;
        let pairs = |key: &str| {
            fields.map(key, |node| node.tables(key)?.into_iter().map(read_pairs).collect::<Read<Vec<_>>>())
        };
        Ok(Self {
            allow_by_default: default.unwrap_or(true),
            forbid: pairs("forbid")?.unwrap_or_default(),
            allow: pairs("allow")?.unwrap_or_default(),
        })
    }
}

fn read_pairs(node: &Node) -> Read<Pairs<'_>> {
    let fields = Fields::of("a filter rule", node, &["body", "bodies", "group", "groups"])?;
    let one = |key: &str| fields.map(key, |node| Named::read(key, node));
    let two = |key: &str| {
        fields.map(key, |node| {
            let [a, b] = node.list_of::<2>(key, "two names")?;
            Ok((Named::read(key, a)?, Named::read(key, b)?))
        })
    };
    match (one("body")?, two("bodies")?, one("group")?, two("groups")?) {
        (Some(body), None, None, None) => Ok(Pairs::WithBody(body)),
        (None, Some((a, b)), None, None) => Ok(Pairs::Bodies(a, b)),
        (None, None, Some(group), None) => Ok(Pairs::WithGroup(group)),
        (None, None, None, Some((a, b))) => Ok(Pairs::Groups(a, b)),
        _ => {
            let message = "a filter rule takes exactly one of `body`, `bodies`, `group` and `groups`";
            Err(Fault::new(node.span, Problem::Conflict(message.into())))
        }
    }
}
