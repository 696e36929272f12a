//! Scene files as JSON: the same tree, for programs that write scenes.
//!
//! Read here and not by a library because every value needs its place in the text. Integers and other numbers are distinguished: `1` is an
//! integer, `1.0` is not.

use super::plain::write_plain;
use super::{Content, Key, Node, Table, not_a_number};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Deepest objects and lists in each other.
const MAX_DEPTH: usize = 64;
/// Lists of fewer values than this are written in one line.
const ITEMS: usize = 13;

impl Table {
    /// JSON text of an object ⇒ tree.
    pub fn parse_json(text: &str) -> Read<Self> {
        let mut reader = Reader { text, at: 0 };
        let node = reader.value(0)?;
        reader.skip_blanks();
        if reader.at < text.len() {
            return Err(reader.refuse("unexpected text after the end of the scene"));
        }
        match node.content {
            Content::Table(table) => Ok(table),
            _ => Err(Fault::new(node.span, Problem::Syntax("a scene is an object `{ … }`".into()))),
        }
    }

    /// The whole tree as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write_table(&mut out, self, 0);
        out.push('\n');
        out
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Read<Node> {
        self.skip_blanks();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(self.refuse(&format!("objects and lists are nested more than {MAX_DEPTH} deep")));
        }
        let content = match self.peek() {
            Some(b'{') => Content::Table(self.object(depth)?),
            Some(b'[') => Content::List(self.list(depth)?),
            Some(b'"') => Content::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't' | b'f' | b'n') => self.word()?,
            _ => return Err(self.refuse("a value is missing here")),
        };
        Ok(Node { span: Span::from(start..self.at), content })
    }

    fn object(&mut self, depth: usize) -> Read<Table> {
        let mut table = Table::default();
        let mut names = BTreeSet::new();
        self.at += 1;
        while !self.ends(b'}', !table.entries.is_empty())? {
            self.skip_blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.refuse("a key in double quotes is missing here"));
            }
            let name = self.string()?;
            let key = Key { name, span: Span::from(start..self.at) };
            if !names.insert(key.name.clone()) {
                return Err(Fault::new(key.span, Problem::Syntax("duplicate key".into())));
            }
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return Err(self.refuse("`:` is missing here"));
            }
            self.at += 1;
            table.entries.push((key, self.value(depth + 1)?));
        }
        Ok(table)
    }

    fn list(&mut self, depth: usize) -> Read<Vec<Node>> {
        let mut list = Vec::new();
        self.at += 1;
        while !self.ends(b']', !list.is_empty())? {
            list.push(self.value(depth + 1)?);
        }
        Ok(list)
    }

    /// Whether the closing bracket comes; takes it, or the comma before what comes instead.
    fn ends(&mut self, closing: u8, after_item: bool) -> Read<bool> {
        self.skip_blanks();
        match self.peek() {
            Some(found) if found == closing => {
                self.at += 1;
                Ok(true)
            }
            Some(b',') if after_item => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if !after_item => Ok(false),
            _ => Err(self.refuse(&format!("`,` or `{}` is missing here", closing as char))),
        }
    }

    fn string(&mut self) -> Read<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            return Err(self.refuse("unterminated string"));
        }
        self.at = end + 1;
        serde_json::from_str(&self.text[start..self.at]).map_err(|_| {
            let message = "a string with a control character or an unknown escape";
            Fault::new(Span::from(start..self.at), Problem::Syntax(message.into()))
        })
    }

    fn number(&mut self) -> Read<Content> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        self.at += length.unwrap_or(rest.len());
        let (word, span) = (&self.text[start..self.at], Span::from(start..self.at));
        let whole = !word.contains(['.', 'e', 'E']);
        match (whole, word.parse::<i64>(), serde_json::from_str::<f64>(word)) {
            (true, Ok(number), Ok(_)) => Ok(Content::Integer(number)),
            (true, Err(_), Ok(_)) => Err(not_a_number(span, "a whole number between −2⁶³ and 2⁶³ − 1", word)),
            (false, _, Ok(number)) if number.is_finite() => Ok(Content::Real(number)),
            _ => Err(not_a_number(span, "a finite number as JSON writes it", word)),
        }
    }

    fn word(&mut self) -> Read<Content> {
        for (word, content) in [("true", Content::Bool(true)), ("false", Content::Bool(false))] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(content);
            }
        }
        Err(self
            .refuse("values are objects, lists, strings, numbers, true and false; leave out what is null"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn refuse(&self, message: &str) -> Fault {
        let end = (self.at + 1).min(self.text.len());
        Fault::new(Span::from(self.at.min(end)..end), Problem::Syntax(message.into()))
    }
}

fn write_table(out: &mut String, table: &Table, depth: usize) {
    if table.entries.is_empty() {
        out.push_str("{}");
        return;
    }
    out.push('{');
    for (i, (key, node)) in table.entries.iter().enumerate() {
        let _ = write!(out, "{}\n{:2$}", if i == 0 { "" } else { "," }, "", 2 * (depth + 1));
        write_text(out, &key.name);
        out.push_str(": ");
        write_value(out, node, depth + 1);
    }
    let _ = write!(out, "\n{:1$}}}", "", 2 * depth);
}

fn write_value(out: &mut String, node: &Node, depth: usize) {
    match &node.content {
        Content::Text(text) => write_text(out, text),
        Content::List(list) => write_list(out, list, depth),
        Content::Table(table) => write_table(out, table, depth),
        plain => write_plain(out, plain),
    }
}

/// In one line if it is short and holds no objects, else one element a line.
fn write_list(out: &mut String, list: &[Node], depth: usize) {
    let mut room = ITEMS;
    let in_line = list.iter().all(|item| is_short(item, &mut room));
    out.push('[');
    for (i, item) in list.iter().enumerate() {
        if in_line {
            out.push_str(if i == 0 { "" } else { ", " });
        } else {
            let _ = write!(out, "{}\n{:2$}", if i == 0 { "" } else { "," }, "", 2 * (depth + 1));
        }
        write_value(out, item, depth + 1);
    }
    if !in_line {
        let _ = write!(out, "\n{:1$}", "", 2 * depth);
    }
    out.push(']');
}

/// Whether a value fits into a line that has room for so many more values.
fn is_short(node: &Node, room: &mut usize) -> bool {
    *room = room.saturating_sub(1);
    *room > 0
        && match &node.content {
            Content::List(list) => list.iter().all(|item| is_short(item, room)),
            Content::Table(_) => false,
            Content::Text(text) => text.len() < 40,
            _ => true,
        }
}

fn write_text(out: &mut String, text: &str) {
    // A string always has a JSON form.
    out.push_str(&serde_json::Value::from(text).to_string());
}
