//! Forces and the bodies they act on.

use super::{Component, Named};
use crate::document::{Fields, Node};
use crate::error::Problem;
use crate::source::{Fault, Read};

/// One `[[force]]`.
#[derive(Clone, Debug)]
pub(crate) struct ForceModel<'a> {
    pub name: Option<Named<'a>>,
    pub on: Option<Vec<Named<'a>>>,
    pub group: Option<Named<'a>>,
    pub law: Component<'a>,
}

impl<'a> ForceModel<'a> {
    /// A `[[force]]` table ⇒ model.
    pub fn read(node: &'a Node) -> Read<Self> {
        let law = Component::read_beside("force", node, None, &["name", "on", "group"])?;
        let fields = Fields::open("force", node)?;
        let on = fields.map("on", |node| Named::read_all("on", node))?;
        let group = fields.map("group", |node| Named::read("group", node))?;
        if let (Some(_), Some(group)) = (&on, &group) {
            let message = "`on` and `group` exclude each other; give one of them, or none for every body";
            return Err(Fault::new(group.span, Problem::Conflict(message.into())));
        }
        Ok(Self { name: fields.map("name", |node| Named::read("name", node))?, on, group, law })
    }
}
