//! Sandbox scripts: blocks in braces, as the sandbox of the Gravitas engine read them, made into the same tree that a TOML file
//! makes.
//!
//! A script has three rooms, as a file has: `lexer` (words), `parser` (blocks) and `meaning` (what the blocks say in terms of a
//! scene). Everything in the tree stands where the script said it, so that errors found later point at the script, too. Lengths,
//! masses and angles are in SI units and y points up; nothing is turned, the scene's gravity simply points down along y.

mod body;
mod constraint;
mod force;
mod geometry;
mod lexer;
mod meaning;
mod parser;
mod words;

pub(crate) use words::retold;

use crate::document::Table;
use crate::source::Read;

/// What sandbox scripts are called.
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
