//! Sandbox scripts: the block format of the sandbox of the Gravitas engine, translated to the tree of a scene file.
//!
//! A script is read in three passes: `lexer` (words), `parser` (blocks) and `meaning` (blocks in terms of a scene). Every value of the
//! tree has its place in the script, so errors found later point there. Lengths, masses and angles are in SI units and y is up; nothing is
//! rotated, the gravity of the scene points along −y.

mod body;
mod constraint;
mod force;
mod geometry;
mod lexer;
mod meaning;
mod parser;
mod words;

pub(crate) use words::in_script_names;

use crate::document::Table;
use crate::source::Read;

/// Extensions of sandbox scripts.
const EXTENSIONS: [&str; 2] = [".sandbox", ".gravitas"];

/// Whether a file of this name is a sandbox script.
pub(crate) fn is_sandbox_script(origin: &str) -> bool {
    let origin = origin.to_ascii_lowercase();
    EXTENSIONS.iter().any(|extension| origin.ends_with(extension))
}

/// Text of a script ⇒ the tree of the scene it describes.
pub(crate) fn read(text: &str) -> Read<Table> {
    meaning::scene(&parser::parse(text)?)
}
