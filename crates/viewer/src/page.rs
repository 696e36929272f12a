//! The page, built into the program.

/// A file of the page.
#[derive(Debug)]
pub struct PageFile {
    /// Path in the URL, without a leading slash.
    pub path: &'static str,
    /// Media type of the `Content-Type` header.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Path ⇒ file; the empty path is the page itself.
pub fn file(path: &str) -> Option<&'static PageFile> {
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}

/// Served instead where the program was built without the page.
pub const MISSING: &str = include_str!("missing.html");

/// Whether the program was built with the page.
pub const fn is_built() -> bool {
    !FILES.is_empty()
}
