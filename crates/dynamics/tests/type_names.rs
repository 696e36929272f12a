//! Every type that more than one module can see has a name of its own: a name found by search is the thing meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// A line that defines a type seen outside its module ⇒ its name.
fn defined_type(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = if line.starts_with('(') { line.split_once(')')?.1 } else { line };
    let line = line.trim_start();
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let name = ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| line.strip_prefix(word))?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end])
}

#[test]
fn every_visible_type_name_is_defined_once() {
    assert_eq!(defined_type("    pub(super) struct Rows<'a> {"), Some("Rows"));
    assert_eq!(defined_type("pub unsafe trait Kernel: Send {"), Some("Kernel"));
    assert_eq!(defined_type("struct Private;"), None);

    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source can be read");
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = defined_type(line) {
                let place = format!("{}:{}", file.display(), number + 1);
                places.entry(name.into()).or_default().push(place);
            }
        }
    }
    assert!(places.len() > 100, "{} types in {} files", places.len(), files.len());
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "names defined more than once: {places:#?}");
}
