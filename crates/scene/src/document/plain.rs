//! Values that are written alike in TOML and JSON.

use super::Content;
use std::fmt::Write;

/// Writes a number or a truth value; nothing for other values.
pub(super) fn write_plain(out: &mut String, content: &Content) {
    // Writing to a string does not fail.
    let _ = match content {
        Content::Bool(value) => write!(out, "{value}"),
        Content::Integer(number) => write!(out, "{number}"),
        // The debug form reads back bit for bit and always shows that it is not a whole number.
        Content::Real(number) => write!(out, "{number:?}"),
        Content::Text(_) | Content::List(_) | Content::Table(_) => Ok(()),
    };
}
