//! Every command in the guide, run as it stands there, one page after the other.

mod program;

use program::{Folder, command};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// Commands of a page, in order, as words; those of `cargo run --release --` as the program they run.
fn commands(page: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside {
            let line = line.split(" #").next().unwrap().trim();
            let rest =
                line.strip_prefix("rattleback ").or_else(|| line.strip_prefix("cargo run --release -- "));
            let rest = rest.unwrap_or_else(|| panic!("{page}: what is `{line}`?"));
            found.push(rest.split_whitespace().map(str::to_owned).collect());
        }
    }
    found
}

/// Starts a viewer, waits for its address and ends it.
fn look(folder: &Folder, words: &[&str]) {
    let arguments = [words, &["--no-open"]].concat();
    let mut child = command(&folder.path(""), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{words:?}: {url}");
}

#[test]
fn every_command_of_the_guide_works() {
    for page in ["first-run.md", "first-scene.md", "recording.md"] {
        let folder = Folder::new();
        let commands = commands(page);
        assert!(commands.len() >= 3, "{page}");
        for words in commands {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if words[0] == "view" {
                look(&folder, &words);
            } else {
                folder.run(&words).fine();
            }
        }
    }
}

/// Every page and picture that the guide names is there.
#[test]
fn the_guide_is_complete() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages = vec!["SUMMARY.md".to_owned()];
    let mut seen = 0;
    while let Some(page) = pages.pop() {
        let text =
            std::fs::read_to_string(docs.join(&page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        seen += 1;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let local = !link.contains("://") && !link.starts_with("..") && !link.starts_with('#');
            assert!(!local || docs.join(link).is_file(), "{page}: {link}");
            if page == "SUMMARY.md" {
                pages.push(link.to_owned());
            }
        }
    }
    assert!(seen > 8);
}
