//! Typed access to the tree; errors have the place of the value.

use super::{Content, Key, Node, Table};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{Dimension, Units};
use glam::DVec3;

impl Node {
    /// The error for a value of another type.
    pub fn wrong_type(&self, key: &str, expected: &str) -> Fault {
        let found = self.content.describe().into();
        Fault::new(self.span, Problem::Type { key: key.into(), expected: expected.into(), found })
    }

    /// The error for a value out of range.
    pub fn out_of_range(&self, key: &str, allowed: &str) -> Fault {
        let value = self.shown();
        Fault::new(self.span, Problem::Range { key: key.into(), allowed: allowed.into(), value })
    }

    /// The value as a message shows it.
    fn shown(&self) -> String {
        match &self.content {
            Content::Bool(value) => value.to_string(),
            Content::Integer(number) => number.to_string(),
            Content::Real(number) => number.to_string(),
            Content::Text(text) => format!("{:?}", text.chars().take(60).collect::<String>()),
            Content::List(list) => format!("{} values", list.len()),
            Content::Table(_) => "a table".into(),
        }
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &str) -> Read<bool> {
        if let Content::Bool(value) = self.content {
            Ok(value)
        } else {
            Err(self.wrong_type(key, "true or false"))
        }
    }

    /// A string.
    pub fn text(&self, key: &str) -> Read<&str> {
        if let Content::Text(text) = &self.content { Ok(text) } else { Err(self.wrong_type(key, "a string")) }
    }

    /// One of these words.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Read<T> {
        let text = self.text(key)?;
        words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known = words.iter().map(|(word, _)| (*word).to_owned()).collect();
            Fault::new(self.span, Problem::UnknownName { kind: key.into(), name: text.into(), known })
        })
    }

    /// A whole number.
    pub fn integer(&self, key: &str) -> Read<i64> {
        if let Content::Integer(number) = self.content {
            Ok(number)
        } else {
            Err(self.wrong_type(key, "a whole number"))
        }
    }

    /// A whole number in a range.
    pub fn integer_within(&self, key: &str, low: i64, high: i64) -> Read<i64> {
        let number = self.integer(key)?;
        if (low..=high).contains(&number) {
            return Ok(number);
        }
        Err(self.out_of_range(key, &format!("in [{low}, {high}]")))
    }

    /// A number without conversion of units.
    pub fn plain_number(&self, key: &str) -> Read<f64> {
        match self.content {
            Content::Integer(number) => Ok(number as f64),
            Content::Real(number) => Ok(number),
            _ => Err(self.wrong_type(key, "a number")),
        }
    }

    /// A number of some dimension in the scene's units ⇒ in SI.
    pub fn number(&self, key: &str, units: &Units, dimension: Dimension) -> Read<f64> {
        let number = self.plain_number(key)? * units.factor(dimension);
        if number.is_finite() { Ok(number) } else { Err(self.out_of_range(key, "finite in SI units")) }
    }

    /// The same, > 0.
    pub fn positive(&self, key: &str, units: &Units, dimension: Dimension) -> Read<f64> {
        let number = self.number(key, units, dimension)?;
        if number > 0.0 { Ok(number) } else { Err(self.out_of_range(key, "> 0")) }
    }

    /// The same, ≥ 0.
    pub fn non_negative(&self, key: &str, units: &Units, dimension: Dimension) -> Read<f64> {
        let number = self.number(key, units, dimension)?;
        if number >= 0.0 { Ok(number) } else { Err(self.out_of_range(key, "≥ 0")) }
    }

    /// A list.
    pub fn list(&self, key: &str, expected: &str) -> Read<&[Self]> {
        if let Content::List(list) = &self.content { Ok(list) } else { Err(self.wrong_type(key, expected)) }
    }

    /// A list of exactly N values.
    pub fn list_of<const N: usize>(&self, key: &str, expected: &str) -> Read<&[Self; N]> {
        self.list(key, expected)?.try_into().map_err(|_| {
            let found = self.shown();
            Fault::new(self.span, Problem::Type { key: key.into(), expected: expected.into(), found })
        })
    }

    /// Three numbers of some dimension ⇒ vector in SI.
    pub fn vector(&self, key: &str, units: &Units, dimension: Dimension) -> Read<DVec3> {
        let [x, y, z] = self.list_of::<3>(key, "three numbers [x, y, z]")?;
        Ok(DVec3::new(
            x.number(key, units, dimension)?,
            y.number(key, units, dimension)?,
            z.number(key, units, dimension)?,
        ))
    }

    /// A table.
    pub fn table(&self, key: &str) -> Read<&Table> {
        if let Content::Table(table) = &self.content {
            Ok(table)
        } else {
            Err(self.wrong_type(key, "a table"))
        }
    }

    /// A list of strings, or one string alone.
    pub fn texts(&self, key: &str) -> Read<Vec<(&str, Span)>> {
        match &self.content {
            Content::Text(text) => Ok(vec![(text, self.span)]),
            _ => self
                .list(key, "a string or a list of strings")?
                .iter()
                .map(|item| Ok((item.text(key)?, item.span)))
                .collect(),
        }
    }

    /// A list of tables, or one table alone.
    pub fn tables(&self, key: &str) -> Read<Vec<&Self>> {
        match &self.content {
            Content::Table(_) => Ok(vec![self]),
            _ => self
                .list(key, "a table or a list of tables")?
                .iter()
                .map(|item| item.table(key).map(|_| item))
                .collect(),
        }
    }
}

/// A table with checked keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    table: &'a Table,
    span: Span,
    what: &'a str,
}

impl<'a> Fields<'a> {
    /// (what the table is, table, its place, allowed keys) ⇒ its fields, or an error at the first other key.
    pub fn new(what: &'a str, table: &'a Table, span: Span, known: &[&str]) -> Read<Self> {
        match table.entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            Some((key, _)) => {
                Err(unknown_key(what, key, known.iter().map(|key| (*key).to_owned()).collect()))
            }
            None => Ok(Self { table, span, what }),
        }
    }

    /// (key of the table, its node, allowed keys) ⇒ its fields.
    pub fn of(what: &'a str, node: &'a Node, known: &[&str]) -> Read<Self> {
        Self::new(what, node.table(what)?, node.span, known)
    }

    /// A table of which the caller reads only some keys.
    pub fn open(what: &'a str, node: &'a Node) -> Read<Self> {
        Ok(Self { table: node.table(what)?, span: node.span, what })
    }

    /// The place of the table.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// The value of a key read by `read`, if the key is there.
    pub fn map<T>(&self, key: &str, read: impl FnOnce(&'a Node) -> Read<T>) -> Read<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// Value of a key that has to be there.
    pub fn required(&self, key: &str, doc: &str) -> Read<&'a Node> {
        self.get(key).ok_or_else(|| missing_key(self.what, self.span, key, doc))
    }
}

/// The error for a key that is not allowed in its table.
pub(crate) fn unknown_key(what: &str, key: &Key, known: Vec<String>) -> Fault {
    Fault::new(key.span, Problem::UnknownKey { key: key.name.clone(), table: what.into(), known })
}

/// The error for a key that is not there.
pub(crate) fn missing_key(what: &str, span: Span, key: &str, doc: &str) -> Fault {
    Fault::new(span, Problem::MissingKey { table: what.into(), key: key.into(), doc: doc.into() })
}
