//! Scenes in several files.
//!
//! `include = ["materials.toml"]` merges other files into this one. Lists (bodies, forces, joints) are concatenated, those of the
//! included file first; `materials` and `defaults` are merged by name; of all other keys the including file takes precedence, then the
//! later of its includes. A file is included once, however often it is named.
//!
//! Paths are relative to the file that names them and must be in the folder of the first file or below it, unless more is allowed
//! (`file_access`).

use crate::document::{Content, Fields, Key, Node, Table};
use crate::error::Problem;
use crate::file_access::FileAccess;
use crate::model::KEYS;
use crate::source::{Fault, MAX_SCENE_BYTES, Read, Source, Span};
use crate::units::Units;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Deepest nesting of includes.
const MAX_DEPTH: usize = 8;
/// Most files of a scene.
const MAX_FILES: usize = 64;

/// Tables that are put together name by name.
const BY_NAME: [&str; 2] = ["materials", "defaults"];

/// (path, most bytes) ⇒ text of an included file.
pub(crate) type ReadFile = fn(&Path, u64) -> Result<String, String>;
/// (text, name) ⇒ its tree.
pub(crate) type Parse = fn(&str, &str) -> Read<Table>;

/// How files are found and read.
pub(crate) struct Includes<'a> {
    /// Folder of the first file.
    pub folder: &'a Path,
    /// The first file itself, if it is one.
    pub file: Option<&'a Path>,
    /// Where files may lie.
    pub access: FileAccess,
    pub read: ReadFile,
    pub parse: Parse,
}

/// Merges the included files into a tree; their texts are added to the source.
pub(crate) fn resolve(document: &mut Table, source: &mut Source, how: &Includes<'_>) -> Read<()> {
    if document.get("include").is_none() {
        return Ok(());
    }
    Fields::new("the scene", document, Span::default(), KEYS)?;
    let units = units_of(document)?;
    let taken = how.file.and_then(|file| std::fs::canonicalize(file).ok()).into_iter().collect();
    let mut walk = Walk { how, source, units, open: taken, taken: Vec::new() };
    walk.expand(document, Path::new(""))
}

struct Walk<'a, 'h> {
    how: &'a Includes<'h>,
    source: &'a mut Source,
    units: Units,
    /// Files being read, each included by the one before.
    open: Vec<PathBuf>,
    taken: Vec<PathBuf>,
}

impl Walk<'_, '_> {
    /// (tree, its folder as seen from the first file) ⇒ the tree with everything it includes.
    fn expand(&mut self, document: &mut Table, folder: &Path) -> Read<()> {
        let Some(at) = document.entries.iter().position(|(key, _)| key.name == "include") else {
            return Ok(());
        };
        let (_, node) = document.entries.remove(at);
        let mut gathered = Table::default();
        for (name, span) in node.texts("include")? {
            if let Some(included) = self.take(name, span, folder)? {
                let below = std::mem::replace(&mut gathered, included);
                merge(&mut gathered, below);
            }
        }
        merge(document, gathered);
        Ok(())
    }

    /// Name of a file ⇒ its tree, unless it has been taken before.
    fn take(&mut self, name: &str, span: Span, folder: &Path) -> Read<Option<Table>> {
        let conflict = |message: String| Fault::new(span, Problem::Conflict(message));
        let limit = |what, found: usize, limit| {
            Fault::new(span, Problem::Limit { what, found: found.to_string(), limit })
        };
        let relative = folder.join(name);
        let path = self.locate(name, &relative).map_err(conflict)?;
        if self.open.contains(&path) {
            return Err(conflict(format!("`{name}` includes itself, directly or through another file")));
        }
        if self.taken.contains(&path) {
            return Ok(None);
        }
        if self.open.len() > MAX_DEPTH {
            return Err(limit("files that include each other", self.open.len(), MAX_DEPTH));
        }
        if self.taken.len() >= MAX_FILES {
            return Err(limit("included files", self.taken.len() + 1, MAX_FILES));
        }
        let room = MAX_SCENE_BYTES.saturating_sub(self.source.bytes() as u64 + 1);
        let text = (self.how.read)(&path, room).map_err(|reason| conflict(format!("`{name}`: {reason}")))?;
        let origin = self.how.folder.join(&relative).display().to_string();
        let parsed = (self.how.parse)(&text, &origin);
        let start = self.source.add(&origin, text);
        let mut document = parsed.map_err(|fault| Fault { span: fault.span.shifted(start), ..fault })?;
        document.shift(start);
        Fields::new("the scene", &document, Span::default(), KEYS)?;
        if units_of(&document)? != self.units {
            let message = format!("`{name}` is not in the units of the file that includes it");
            return Err(Fault::new(span, Problem::Conflict(message)));
        }
        let folder = relative.parent().unwrap_or(Path::new("")).to_path_buf();
        if !folder.as_os_str().is_empty() {
            relocate(&mut document, &folder);
        }
        self.taken.push(path.clone());
        self.open.push(path);
        self.expand(&mut document, &folder)?;
        self.open.pop();
        Ok(Some(document))
    }

    /// Canonical path of a file, or why it cannot be included.
    fn locate(&self, name: &str, relative: &Path) -> Result<PathBuf, String> {
        if name.is_empty() {
            return Err("an included file needs a name".into());
        }
        // Scripts are not included: they would have to run first.
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("toml" | "json")) {
            return Err(format!("`{name}`: only .toml and .json files can be included"));
        }
        self.how.access.locate(self.how.folder, relative).map_err(|reason| format!("`{name}`: {reason}"))
    }
}

fn units_of(document: &Table) -> Read<Units> {
    document.get("units").map_or_else(|| Ok(Units::default()), Units::read)
}

/// Merges `other` into `document`, which takes precedence.
fn merge(document: &mut Table, other: Table) {
    for (key, node) in other.entries {
        let Some((_, own)) = document.entries.iter_mut().find(|(given, _)| given.name == key.name) else {
            document.entries.push((key, node));
            continue;
        };
        match (&mut own.content, node.content) {
            (Content::List(own), Content::List(mut list))
                if is_list_of_tables(&list) && is_list_of_tables(own) =>
            {
                list.append(own);
                *own = list;
            }
            (Content::Table(own), Content::Table(table)) if BY_NAME.contains(&key.name.as_str()) => {
                merge_names(own, table, key.name == "defaults");
            }
            _ => {}
        }
    }
}

/// Merges by name, and by name within each kind of defaults; existing entries are kept.
fn merge_names(own: &mut Table, other: Table, deeper: bool) {
    let places: BTreeMap<String, usize> =
        own.entries.iter().enumerate().map(|(place, (key, _))| (key.name.clone(), place)).collect();
    for (key, node) in other.entries {
        let Some(&place) = places.get(&key.name) else {
            own.entries.push((key, node));
            continue;
        };
        if let (Content::Table(own), Content::Table(table), true) =
            (&mut own.entries[place].1.content, node.content, deeper)
        {
            merge_names(own, table, false);
        }
    }
}

fn is_list_of_tables(list: &[Node]) -> bool {
    list.iter().all(|node| matches!(node.content, Content::Table(_)))
}

/// Makes the mesh files of an included file relative to the first file.
fn relocate(document: &mut Table, folder: &Path) {
    for (key, node) in &mut document.entries {
        if key.name == "body" || key.name == "defaults" {
            relocate_files(node, folder);
        }
    }
}

fn relocate_files(node: &mut Node, folder: &Path) {
    match &mut node.content {
        Content::List(list) => list.iter_mut().for_each(|item| relocate_files(item, folder)),
        Content::Table(table) => {
            for (Key { name, .. }, item) in &mut table.entries {
                match &mut item.content {
                    Content::Text(file) if name == "file" => {
                        *file = folder.join(&*file).display().to_string();
                    }
                    _ => relocate_files(item, folder),
                }
            }
        }
        _ => {}
    }
}
