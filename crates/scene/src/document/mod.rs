//! A scene file as a tree: every value and every key has its place in the text.
//!
//! TOML's own tables are sorted by key; here entries keep the order of the file, because that is the order in which
//! bodies are built and errors are found. Numbers that are not finite, and dates, are refused here.

mod json;
mod plain;
mod read;
mod write;

pub(crate) use read::{Fields, missing_key, unknown_key};

use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub content: Content,
}

/// What a value can be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Table(Table),
}

/// A key and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub name: String,
    pub span: Span,
}

/// Entries in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<(Key, Node)>,
}

impl Content {
    /// The type as a message calls it.
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Table {
    /// Text ⇒ tree.
    pub fn parse(text: &str) -> Read<Self> {
        match DeTable::parse(text) {
            Ok(table) => convert_table(table.into_inner()),
            Err(error) => {
                let end = text.len();
                let span = error.span().unwrap_or(end..end).into();
                Err(Fault::new(span, Problem::Syntax(error.message().trim().replace('\n', "; "))))
            }
        }
    }

    /// Shifts all places by a number of bytes.
    pub fn shift(&mut self, by: usize) {
        for (key, node) in &mut self.entries {
            key.span = key.span.shifted(by);
            node.shift(by);
        }
    }

    /// Key ⇒ its value, if it is there.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(given, _)| given.name == key).map(|(_, node)| node)
    }
}

impl Node {
    fn shift(&mut self, by: usize) {
        self.span = self.span.shifted(by);
        match &mut self.content {
            Content::List(list) => list.iter_mut().for_each(|item| item.shift(by)),
            Content::Table(table) => table.shift(by),
            _ => {}
        }
    }
}

fn convert_table(table: DeTable<'_>) -> Read<Table> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let span = key.span().into();
        entries.push((Key { name: key.into_inner().into_owned(), span }, convert(value)?));
    }
    entries.sort_by_key(|(key, _)| key.span.start);
    Ok(Table { entries })
}

fn convert(value: Spanned<DeValue<'_>>) -> Read<Node> {
    let span = Span::from(value.span());
    let content = match value.into_inner() {
        DeValue::Boolean(value) => Content::Bool(value),
        DeValue::String(text) => Content::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Content::Integer(number),
            Err(_) => {
                return Err(not_a_number(span, "a whole number between −2⁶³ and 2⁶³ − 1", number.as_str()));
            }
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(x) if x.is_finite() => Content::Real(x),
            _ => return Err(not_a_number(span, "finite", number.as_str())),
        },
        DeValue::Datetime(_) => {
            return Err(Fault::new(span, Problem::Syntax("a date or time has no meaning in a scene".into())));
        }
        DeValue::Array(list) => Content::List(list.into_iter().map(convert).collect::<Read<_>>()?),
        DeValue::Table(table) => Content::Table(convert_table(table)?),
    };
    Ok(Node { span, content })
}

fn not_a_number(span: Span, allowed: &str, value: &str) -> Fault {
    Fault::new(span, Problem::Range { key: "number".into(), allowed: allowed.into(), value: value.into() })
}
