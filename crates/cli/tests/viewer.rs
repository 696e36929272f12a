//! `view`, `render`, `run --record` and `export`, as a user would call them.

use crate::program;

use program::{Folder, THROW, command, run};
use rattleback_dynamics::Registry;
use rattleback_scene::recording::Recording;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// PNG ⇒ width and height.
fn look_at(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG"));
    let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (word(16), word(20))
}

#[test]
fn a_scene_is_drawn_without_a_browser() {
    let folder = Folder::with("throw.toml", THROW);
    folder.run(&["render", "throw.toml", "--png", "a.png", "--size", "320x200"]).fine();
    folder.run(&["render", "throw.toml", "--png", "b.png", "--size", "320x200"]).fine();
    folder.run(&["render", "throw.toml", "--png", "c.png", "--size", "320x200", "--time", "0.3"]).fine();
    assert_eq!(look_at(&folder.read("a.png")), (320, 200));
    assert_eq!(folder.read("a.png"), folder.read("b.png"), "the same scene is the same picture");
    assert_ne!(folder.read("a.png"), folder.read("c.png"), "things have moved");
    let out = folder
        .run(&["render", "coins", "--png", "f.png", "--size", "80x50", "--frames", "3", "--time", "0.1"])
        .fine();
    assert_eq!(out.lines().count(), 3);
    for name in ["f-0000.png", "f-0001.png", "f-0002.png"] {
        assert_eq!(look_at(&folder.read(name)), (80, 50));
    }
    folder.run(&["render", "throw.toml", "--png", "a.jpg"]).refused(&[".png"]);
    folder.run(&["render", "throw.toml", "--png", "a.png", "--size", "0x9"]).refused(&["--size"]);
    folder.run(&["render", "throw.toml", "--png", "a.png", "--time", "NaN"]).refused(&["--time"]);
    folder.run(&["render", "nothing", "--png", "a.png"]).refused(&["nothing"]);
    folder.run(&["render", "throw.toml", "--png", "no/a.png"]).failed(&["no/a.png"]);
}

/// Recorded and exported, or written as a table at once: the same numbers but for the last digit.
#[test]
fn a_recording_becomes_the_table_that_the_run_would_have_written() {
    let folder = Folder::with("throw.toml", THROW);
    folder.run(&["run", "throw.toml", "--record", "run.rbrec", "--every", "10"]).fine();
    folder.run(&["run", "throw.toml", "--record", "direct.csv", "--every", "10"]).fine();
    folder.run(&["export", "run.rbrec", "--csv", "exported.csv", "--gltf", "run.glb"]).fine();
    for (direct, exported) in [("direct.csv", "exported.csv"), ("direct.energy.csv", "exported.energy.csv")] {
        let (direct, exported) = (folder.text(direct), folder.text(exported));
        assert_eq!(direct.lines().count(), exported.lines().count());
        for (a, b) in direct.lines().zip(exported.lines()) {
            for (a, b) in a.split(',').zip(b.split(',')) {
                match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(a), Ok(b)) => assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} {b}"),
                    _ => assert_eq!(a, b),
                }
            }
        }
    }
    assert!(folder.read("run.glb").starts_with(b"glTF\x02\0\0\0"));
    // Columns hold their numbers in full: the first page of x begins with the ball at x = 1.
    folder.run(&["run", "throw.toml", "--record", "direct.parquet", "--every", "10"]).fine();
    folder.run(&["export", "run.rbrec", "--parquet", "exported.parquet"]).fine();
    for name in ["direct.parquet", "direct.energy.parquet", "exported.parquet", "exported.energy.parquet"] {
        let table = folder.read(name);
        assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"), "{name}");
    }
    folder.run(&["export", "run.rbrec", "--parquet", "x.csv"]).refused(&[".parquet"]);
    folder.run(&["render", "run.rbrec", "--png", "a.png", "--time", "0.5", "--size", "80x50"]).fine();
    folder.run(&["export", "run.rbrec"]).refused(&["--gltf"]);
    folder.run(&["export", "throw.toml", "--csv", "x.csv"]).refused(&["not a Rattleback recording"]);
    folder.run(&["run", "throw.toml", "--record", "run.txt"]).refused(&[".csv", ".rbrec"]);
}

/// A run that is killed leaves a recording that opens up to its last whole state.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_a_recording_that_opens() {
    let folder = Folder::with("throw.toml", THROW);
    let arguments = ["run", "throw.toml", "--for", "1e6", "--record", "run.rbrec"];
    let mut child = command(&folder.path(""), &arguments).stdout(Stdio::null()).spawn().unwrap();
    let path = folder.path("run.rbrec");
    let began = Instant::now();
    while std::fs::metadata(&path).map_or(0, |data| data.len()) < 100_000 {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    // `kill` is SIGKILL on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    let recording = Recording::open(&path, &Registry::default()).unwrap();
    assert!(recording.len() > 100);
    assert!((recording.time(recording.len() - 1) - 0.01 * (recording.len() - 1) as f64).abs() < 1e-6);
    // The intact part is exported, and the loss is reported.
    let ran = folder.run(&["export", "run.rbrec", "--csv", "saved.csv", "--every", "100"]);
    assert!(ran.out.contains("saved.csv"), "{ran:?}");
    ran.failed(&["run.rbrec", "lost", "whole up to t = "]);
}

/// A full disk is reported, and the other outputs are still written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_recording_and_not_the_run() {
    let folder = Folder::with("throw.toml", THROW);
    run(&["run", "coins", "--record", "/nowhere/run.rbrec"]).refused(&["/nowhere/run.rbrec"]);
    std::os::unix::fs::symlink("/dev/full", folder.path("full.csv")).unwrap();
    std::fs::write(folder.path("full.energy.csv"), "").unwrap();
    let ran = folder.run(&["run", "throw.toml", "--for", "1", "--record", "full.csv", "--save", "end.bin"]);
    ran.failed(&["full.csv", "space"]);
    let out = folder.run(&["run", "throw.toml", "--resume", "end.bin", "--for", "0.5"]).fine();
    assert!(out.contains("in 50 steps"), "{out}");
    std::os::unix::fs::symlink("/dev/full", folder.path("full.rbrec")).unwrap();
    folder.run(&["run", "throw.toml", "--record", "full.rbrec"]).refused(&["full.rbrec", "space"]);
}

/// `view` prints an address of this machine, serves a page there, and ends on a signal.
#[test]
fn view_serves_a_page_on_this_machine() {
    let folder = Folder::with("throw.toml", THROW);
    for scene in [&["throw.toml"] as &[&str], &[]] {
        let arguments = [&["view", "--no-open"], scene].concat();
        let mut child = command(&folder.path(""), &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let address = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Rattleback"));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    folder.run(&["view", "nothing", "--no-open"]).refused(&["nothing"]);
    folder.run(&["view", "nothing.rbrec", "--no-open"]).refused(&["nothing.rbrec"]);
    folder.run(&["view", "--port", "70000"]).refused(&["70000"]);
}

#[test]
fn the_stream_is_measured() {
    let out = run(&["bench", "viewer", "--bodies", "200", "--seconds", "1"]).fine();
    assert!(out.contains("frames/s"), "{out}");
}

/// What `new` writes can be checked, drawn and run, and is not written over.
#[test]
fn a_new_scene_is_a_good_one() {
    let folder = Folder::new();
    for name in ["mine.toml", "mine.rhai"] {
        folder.run(&["new", name]).fine();
        let output = folder.run(&["check", name, "--toml", "same.toml"]).fine();
        assert!(output.contains("My scene") && output.contains("realtime"), "{output}");
        folder.run(&["run", name, "--for", "0.1", "--quiet"]).fine();
        folder.run(&["run", "same.toml", "--for", "0.1", "--quiet"]).fine();
        folder.run(&["new", name]).refused(&[name, "exists"]);
    }
    folder.run(&["new", "mine.txt"]).refused(&[".toml", ".rhai"]);
    std::fs::write(folder.path("bad.rhai"), "let x = 0;\nloop { x += 1; }").unwrap();
    folder.run(&["check", "bad.rhai"]).refused(&["bad.rhai:2:", "stopped"]);
    std::fs::write(folder.path("bad.toml"), "titel = 'x'").unwrap();
    folder.run(&["check", "bad.toml"]).refused(&["bad.toml:1:1", "did you mean `title`"]);
    let schema: serde_json::Value = serde_json::from_str(&run(&["schema"]).fine()).unwrap();
    assert!(schema["$defs"]["shape"]["oneOf"].as_array().unwrap().len() >= 9);
}
