//! `include` elements: the children of the root of another file in their place.

use crate::error::Problem;
use crate::file_access::FileAccess;
use crate::robot::xml::{MAX_ROBOT_BYTES, Xml};
use crate::source::{Fault, Read, Source};
use std::path::{Path, PathBuf};

/// Most included files.
const MAX_FILES: usize = 256;
/// Deepest nesting.
const MAX_DEPTH: usize = 16;

/// A file: its elements are those from the first up to the first of the next file.
struct File {
    first: usize,
    /// Its folder as seen from that of the first file.
    folder: PathBuf,
    /// The files around it and itself.
    open: Vec<PathBuf>,
}

/// Replaces all `include` elements. Paths are relative to the folder of the first file, or else to that of the file that names them.
pub(in crate::robot) fn resolve(
    xml: &mut Xml,
    source: &mut Source,
    folder: &Path,
    access: FileAccess,
) -> Read<()> {
    let mut files = vec![File { first: 0, folder: PathBuf::new(), open: Vec::new() }];
    let mut index = 0;
    while index < xml.elements.len() {
        let mut place = 0;
        while let Some(child) = xml.elements[index].children.get(place).copied() {
            if xml.elements[child].tag == "include" {
                let own = files.partition_point(|file| file.first <= child) - 1;
                let added = take(xml, child, source, (folder, access), (&mut files, own))?;
                xml.elements[index].children.splice(place..=place, added);
            } else {
                place += 1;
            }
        }
        index += 1;
    }
    Ok(())
}

/// Adds the file of an `include` element ⇒ the children of its root.
fn take(
    xml: &mut Xml,
    include: usize,
    source: &mut Source,
    (folder, access): (&Path, FileAccess),
    (files, own): (&mut Vec<File>, usize),
) -> Read<Vec<usize>> {
    let file = xml.elements[include].required("file", "path of the file")?.clone();
    let refuse =
        |reason: String| Fault::new(file.span, Problem::Conflict(format!("`{}`: {reason}", file.value)));
    let (name, around) = (Path::new(&file.value), &files[own]);
    let path = access
        .locate(folder, name)
        .or_else(|reason| access.locate(folder, &around.folder.join(name)).map_err(|_| refuse(reason)))?;
    if around.open.contains(&path) {
        return Err(refuse("includes itself, directly or through another file".into()));
    }
    for (what, found, limit) in [
        ("included files", files.len(), MAX_FILES),
        ("files that include each other", around.open.len() + 1, MAX_DEPTH),
    ] {
        if found > limit {
            return Err(Fault::new(file.span, Problem::Limit { what, found: found.to_string(), limit }));
        }
    }
    let room = MAX_ROBOT_BYTES.saturating_sub(source.bytes() as u64 + 1);
    let text = crate::scene::read_text(&path, room).map_err(|error| refuse(error.to_string()))?;
    let start = source.add(&path.display().to_string(), text.clone());
    let below = around.folder.join(name.parent().unwrap_or(Path::new("")));
    let open = around.open.iter().cloned().chain([path]).collect();
    files.push(File { first: xml.elements.len(), folder: below, open });
    let root = xml.append(&text, start)?;
    Ok(std::mem::take(&mut xml.elements[root].children))
}
