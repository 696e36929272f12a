//! Every command of README and guide is run, page by page, in the order of the page.
//!
//! Commands are the lines of ```` ```sh ```` blocks, and code in the text that begins with `rattleback`. They run unchanged, in a
//! folder of the page's own, with these exceptions:
//!
//! - `cargo run --release --` is the program; other commands of `cargo` are what runs this test, and are left out.
//! - `view` gets `--no-open`; as soon as it has printed its address it is ended.
//! - What would take long is shortened, as [`SHORTENED`] lists, and `run` without `--for` gets `--for 0.05`.
//! - Files that a reader would bring along ([`BROUGHT`]) are put into the folder first.
//! - In the text, a bare name of a command, or one with a placeholder (a word in capitals, or `…`), only has to exist: its `--help` is
//!   printed.

use crate::program;

use program::{Folder, THROW, command};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const CUBE: &str = "\
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

const TRIANGLES: &str = "solid part
facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet
facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet
facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet
facet normal -1 0 0\nouter loop\nvertex 0 1 0\nvertex 0 0 0\nvertex 0 0 1\nendloop\nendfacet
endsolid part\n";

/// Files of a reader.
const BROUGHT: &[(&str, &str)] = &[
    ("scene.toml", THROW),
    ("part.obj", CUBE),
    ("part.stl", TRIANGLES),
    ("a.obj", CUBE),
    ("b.obj", CUBE),
    ("measured.csv", "pose,count\n1,10\n2,10\n"),
    ("insert.stl", TRIANGLES),
    ("machine.sandbox", include_str!("../../scene/tests/sandbox/motor.sandbox")),
];

/// (how a command begins, an option that is set or added, its value)
const SHORTENED: &[(&str, &str, &str)] = &[
    ("validate", "", "mass/cube"),
    ("bench impulse", "", "coins"),
    ("bench impulse", "--patience", "1"),
    ("bench free-bodies", "--bodies", "1000"),
    ("bench free-bodies", "--steps", "2"),
    ("bench spaces", "--max", "200"),
    ("bench viewer", "--bodies", "100"),
    ("bench viewer", "--seconds", "1"),
    ("bowling", "--throws", "2"),
    ("poses part.stl --unit mm --report", "--drops", "60"),
    ("poses part.stl --unit mm --json", "--drops", "60"),
    ("poses part.stl --compare", "--drops", "60"),
    ("poses part.stl --independence", "--drops", "40"),
    ("study study.toml", "--samples", "4"),
    ("study bowling", "--samples", "1"),
    ("gate", "--trials", "3"),
    ("array", "--runs", "1"),
    ("stepper", "--runs", "1"),
    ("sdf", "--resolution", "12"),
    ("render", "--size", "160x90"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Every page in the folder.
fn pages_of_the_guide() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Lines of the blocks of a page, and code in its text, marked by a flag.
fn commands(text: &str) -> Vec<(String, bool)> {
    let mut block: Option<&str> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
        } else if block == Some("sh") {
            found.push((line.split(" #").next().unwrap().trim().to_owned(), false));
        } else if block.is_none() {
            let code = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("rattleback "));
            found.extend(code.map(|code| (code.to_owned(), true)));
        }
    }
    found
}

/// Command line ⇒ words for the program, without where its output goes; nothing for what only runs tests.
fn words(page: &str, line: &str) -> Option<Vec<String>> {
    if line.starts_with("cargo test") || line.starts_with("cargo install") {
        return None;
    }
    let rest = line.strip_prefix("rattleback ").or_else(|| line.strip_prefix("cargo run --release -- "));
    let rest = rest.unwrap_or_else(|| panic!("{page}: what is `{line}`?"));
    Some(rest.split(" > ").next().unwrap().split_whitespace().map(str::to_owned).collect())
}

fn shortened(mut words: Vec<String>) -> Vec<String> {
    let line = words.join(" ");
    for (command, option, value) in SHORTENED.iter().filter(|(command, ..)| line.starts_with(command)) {
        match words.iter().position(|word| word == option) {
            Some(place) => words[place + 1] = (*value).into(),
            None if option.is_empty() => {
                let at = command.split(' ').count();
                let given = words.len() > at && !words[at].starts_with("--");
                words.splice(at..at + usize::from(given), [(*value).into()]);
            }
            None => words.extend([(*option).into(), (*value).into()]),
        }
    }
    if words[0] == "run" && !words.iter().any(|word| word == "--for") {
        words.extend(["--for".into(), "0.05".into()]);
    }
    words
}

/// Starts a viewer, waits for its address and ends it.
fn start_viewer(folder: &Folder, words: &[&str]) {
    let arguments = [words, &["--no-open"]].concat();
    let mut child = command(&folder.path(""), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{words:?}: {url}");
}

/// A page ⇒ how many different commands of it were run.
fn follow(name: &str, path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let folder = Folder::new();
    for (name, content) in BROUGHT {
        std::fs::write(folder.path(name), content).unwrap();
    }
    let mut done = BTreeSet::new();
    for (line, in_text) in commands(&text) {
        let Some(words) = words(name, &line) else { continue };
        let is_placeholder =
            |word: &String| word.contains('…') || word.chars().all(|c| c.is_ascii_uppercase());
        if in_text && (words.len() == 1 || words.iter().any(is_placeholder)) {
            folder.run(&[&words[0], "--help"]).fine();
            continue;
        }
        if !done.insert(words.clone()) {
            continue;
        }
        let words = shortened(words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words[0] == "view" {
            start_viewer(&folder, &words);
        } else {
            let ran = folder.run(&words);
            assert_eq!(ran.code, Some(0), "{name}: {words:?}: {}", ran.complaints);
        }
    }
    done.len()
}

#[test]
fn every_command_of_the_readme_works() {
    let readme = docs().join("../README.md");
    assert!(follow("README.md", &readme) >= 25);
}

#[test]
fn every_command_of_the_guide_works() {
    let mut commands = 0;
    let pages = pages_of_the_guide();
    assert!(pages.len() > 12);
    for page in pages {
        commands += follow(&page.file_name().unwrap().to_string_lossy(), &page);
    }
    assert!(commands >= 30, "{commands}");
}

/// The scenes that the guide shows are scenes: every ```toml block builds.
#[test]
fn every_scene_of_the_guide_is_one() {
    let mut scenes = 0;
    for page in ["materials.md", "joints.md", "first-scene.md", "realtime.md", "impulse.md"] {
        let text = std::fs::read_to_string(docs().join(page)).unwrap();
        for scene in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let folder = Folder::with("scene.toml", scene);
            folder.run(&["run", "scene.toml", "--for", "0.02", "--quiet"]).fine();
            scenes += 1;
        }
    }
    assert!(scenes >= 4);
}

/// Every page and picture that the guide names is there, and every page is in its table of contents.
#[test]
fn the_guide_is_complete() {
    let docs = docs();
    let mut pages = vec!["SUMMARY.md".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(page) = pages.pop() {
        let text =
            std::fs::read_to_string(docs.join(&page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        seen.insert(page.clone());
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let local = !link.contains("://") && !link.starts_with("..") && !link.starts_with('#');
            let file = link.split('#').next().unwrap_or(link);
            assert!(!local || docs.join(file).is_file(), "{page}: {link}");
            if page == "SUMMARY.md" {
                pages.push(link.to_owned());
            }
        }
    }
    for page in pages_of_the_guide() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(seen.contains(&name), "{name} is not in the table of contents");
    }
}
