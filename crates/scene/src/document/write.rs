//! Tree ⇒ TOML text.
//!
//! Top-level tables and lists of tables become sections, and so do the tables inside a section that holds nothing else
//! (`[materials.steel]`); everything deeper stays inline. Since that depends on the tree alone, and numbers are written
//! so that they read back bit for bit, writing what was read from something written changes nothing.

use super::plain::write_plain;
use super::{Content, Key, Node, Table};
use std::fmt::Write;

/// An inline list longer than this is broken, one element a line.
const LINE: usize = 100;

impl Table {
    /// The whole tree as TOML text.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        let is_section =
            |node: &Node| matches!(&node.content, Content::Table(_)) || list_of_tables(node).is_some();
        for (key, node) in self.entries.iter().filter(|(_, node)| !is_section(node)) {
            write_entry(&mut out, key, node);
        }
        for (key, node) in &self.entries {
            if let Content::Table(table) = &node.content {
                write_section(&mut out, &bare(&key.name), table);
            } else if let Some(tables) = list_of_tables(node) {
                for table in tables {
                    let _ = writeln!(out, "{}[[{}]]", blank(&out), bare(&key.name));
                    write_entries(&mut out, table);
                }
            }
        }
        out
    }
}

fn blank(out: &str) -> &'static str {
    if out.is_empty() { "" } else { "\n" }
}

fn write_section(out: &mut String, path: &str, table: &Table) {
    let all_tables = table.entries.iter().all(|(_, node)| matches!(node.content, Content::Table(_)));
    if all_tables && !table.entries.is_empty() {
        for (key, node) in &table.entries {
            if let Content::Table(inner) = &node.content {
                let _ = writeln!(out, "{}[{path}.{}]", blank(out), bare(&key.name));
                write_entries(out, inner);
            }
        }
    } else {
        let _ = writeln!(out, "{}[{path}]", blank(out));
        write_entries(out, table);
    }
}

/// The tables of a list that is not empty and holds only tables.
fn list_of_tables(node: &Node) -> Option<Vec<&Table>> {
    let Content::List(list) = &node.content else { return None };
    let tables: Vec<&Table> = list
        .iter()
        .filter_map(|item| if let Content::Table(table) = &item.content { Some(table) } else { None })
        .collect();
    (!list.is_empty() && tables.len() == list.len()).then_some(tables)
}

fn write_entries(out: &mut String, table: &Table) {
    for (key, node) in &table.entries {
        write_entry(out, key, node);
    }
}

fn write_entry(out: &mut String, key: &Key, node: &Node) {
    out.push_str(&bare(&key.name));
    out.push_str(" = ");
    if let Content::List(list) = &node.content {
        let start = out.len();
        write_value(out, node);
        if out.len() - start > LINE {
            out.truncate(start);
            out.push_str("[\n");
            for item in list {
                out.push_str("    ");
                write_value(out, item);
                out.push_str(",\n");
            }
            out.push(']');
        }
    } else {
        write_value(out, node);
    }
    out.push('\n');
}

fn write_value(out: &mut String, node: &Node) {
    match &node.content {
        Content::Text(text) => write_text(out, text),
        Content::List(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_value(out, item);
            }
            out.push(']');
        }
        Content::Table(table) => {
            out.push('{');
            for (i, (key, item)) in table.entries.iter().enumerate() {
                let _ = write!(out, "{}{} = ", if i == 0 { " " } else { ", " }, bare(&key.name));
                write_value(out, item);
            }
            out.push_str(if table.entries.is_empty() { "}" } else { " }" });
        }
        plain => write_plain(out, plain),
    }
}

/// Key ⇒ its TOML form, quoted if necessary.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) {
        return key.into();
    }
    let mut out = String::new();
    write_text(&mut out, key);
    out
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
