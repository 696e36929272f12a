//! A component that the registry makes: its type and the values of its properties.

use super::Named;
use crate::document::{Key, Node, missing_key};
use crate::source::Read;

/// Type name and property values as in the file.
#[derive(Clone, Debug)]
pub(crate) struct Component<'a> {
    pub type_name: Named<'a>,
    pub properties: Vec<(&'a Key, &'a Node)>,
}

impl<'a> Component<'a> {
    /// (what it is, table, type if none is named) ⇒ component; every key but `type` is a property.
    pub fn read(what: &'static str, node: &'a Node, default_type: Option<&'a str>) -> Read<Self> {
        Self::read_beside(what, node, default_type, &[])
    }

    /// The same, where the table has some other keys too.
    pub fn read_beside(
        what: &'static str,
        node: &'a Node,
        default_type: Option<&'a str>,
        other_keys: &[&str],
    ) -> Read<Self> {
        let table = node.table(what)?;
        let type_name = match (table.get("type"), default_type) {
            (Some(node), _) => Named::read("type", node)?,
            (None, Some(text)) => Named { text, span: node.span },
            (None, None) => return Err(missing_key(what, node.span, "type", "which kind it is")),
        };
        let is_property = |key: &Key| key.name != "type" && !other_keys.contains(&key.name.as_str());
        let properties =
            table.entries.iter().filter(|(key, _)| is_property(key)).map(|(key, node)| (key, node));
        Ok(Self { type_name, properties: properties.collect() })
    }

    /// Value of a property, if it is given.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.properties.iter().find(|(key, _)| key.name == name).map(|(_, node)| *node)
    }
}
