//! `rattleback run`, as a user would call it.

use crate::program;

use program::{Folder, THROW, command};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

const G: f64 = 9.81;

/// One line of a CSV file, quotes and all.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(letter),
        }
    }
    fields.push(field);
    fields
}

/// A CSV file as rows of values by column.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let header = fields(lines.next().unwrap());
    lines
        .map(|line| {
            let values = fields(line);
            assert_eq!(values.len(), header.len(), "{line}");
            header.iter().cloned().zip(values).collect()
        })
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

#[test]
fn a_recorded_throw_is_a_parabola() {
    let folder = Folder::with("throw.toml", THROW);
    let out = folder.run(&["run", "throw.toml", "--record", "out.csv", "--every", "10"]).fine();
    assert!(
        out.contains("A throw") && out.contains("2 s in 200 steps of 0.01 s") && out.contains("2 dynamic"),
        "{out}"
    );
    assert!(
        out.contains("out.csv (42 rows), out.energy.csv") && out.contains("events            none"),
        "{out}"
    );

    let rows = table(&folder.text("out.csv"));
    assert_eq!(rows.len(), 2 * 21);
    for (i, row) in rows.iter().filter(|row| row["body"] == "ball").enumerate() {
        let t = number(row, "time");
        assert!((t - 0.1 * i as f64).abs() < 1e-12);
        assert!((number(row, "x") - (1.0 + 4.0 * t)).abs() < 1e-12);
        assert!((number(row, "y") - 2.0).abs() < 1e-12);
        assert!((number(row, "z") - (3.0 + 5.0 * t - 0.5 * G * t * t)).abs() < 1e-12);
        assert!((number(row, "vz") - (5.0 - G * t)).abs() < 1e-12);
        assert_eq!(number(row, "qw"), 1.0);
    }
    // The name with comma and quotes survives, and its body turns.
    let tumbling: Vec<_> = rows.iter().filter(|row| row["body"] == "box, \"big\"").collect();
    assert_eq!(tumbling.len(), 21);
    assert_eq!(number(tumbling[0], "omega_y"), 4.0);
    for row in &tumbling {
        let square: f64 = ["qw", "qx", "qy", "qz"].iter().map(|q| number(row, q).powi(2)).sum();
        assert!((square - 1.0).abs() < 1e-12);
    }

    let energies = table(&folder.text("out.energy.csv"));
    assert_eq!(energies.len(), 21);
    let start = number(&energies[0], "energy");
    for row in &energies {
        assert!((number(row, "energy") / start - 1.0).abs() < 1e-12);
        assert!((number(row, "kinetic_energy") + number(row, "potential_energy") - start).abs() < 1e-9);
    }
}

#[test]
fn plots_are_png_or_svg() {
    let folder = Folder::with("throw.toml", THROW);
    folder.run(&["run", "throw.toml", "--plot", "out.png"]).fine();
    assert_eq!(&folder.read("out.png")[..8], b"\x89PNG\r\n\x1a\n");
    let channels = "energy,momentum.x, ball.omega_y,energy.drift";
    folder.run(&["run", "throw.toml", "--plot", "out.svg", "--channels", channels]).fine();
    let svg = folder.text("out.svg");
    assert!(svg.starts_with("<svg") && svg.contains("A throw") && svg.contains("ball.omega_y"));
    folder
        .run(&["run", "throw.toml", "--plot", "out.jpg"])
        .refused(&["out.jpg: plots are saved as .png or .svg"]);
    folder.run(&["run", "throw.toml", "--plot", "no/out.png"]).refused(&["there is no folder no"]);
}

/// A run in two halves, in two processes, ends in the very bytes of the uninterrupted one, for integrators with and
/// without memory.
#[test]
fn saved_and_resumed_is_bit_for_bit_the_same() {
    let folder = Folder::with("throw.toml", THROW);
    for integrator in ["splitting", "basic-verlet", "dormand-prince"] {
        let run = |rest: &[&str]| {
            let mut arguments = vec!["run", "throw.toml", "--quiet"];
            arguments.extend(rest);
            assert_eq!(folder.run(&arguments).fine(), "");
        };
        run(&["--integrator", integrator, "--save", "whole.bin"]);
        run(&["--integrator", integrator, "--for", "0.73", "--save", "half.bin"]);
        // The integrator comes out of the snapshot, the rest of the time out of the scene.
        run(&["--resume", "half.bin", "--save", "resumed.bin"]);
        assert_eq!(folder.read("whole.bin"), folder.read("resumed.bin"), "{integrator}");
        assert_ne!(folder.read("whole.bin"), folder.read("half.bin"), "{integrator}");
    }
    let past = folder
        .run(&["run", "throw.toml", "--resume", "whole.bin", "--for", "0", "--save", "same.bin"])
        .fine();
    assert!(past.contains("0 s in 0 steps"), "{past}");
    assert_eq!(folder.read("whole.bin"), folder.read("same.bin"));
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let folder = Folder::with("throw.toml", THROW);
    let run = |rest: &[&str]| {
        let mut arguments = vec!["run", "throw.toml"];
        arguments.extend(rest);
        folder.run(&arguments)
    };
    folder.run(&["run", "no-such-scene"]).refused(&[
        "no built-in scene `no-such-scene`",
        "built-in: ",
        "free-fall",
    ]);
    folder.run(&["run", "missing.toml"]).refused(&["missing.toml"]);
    run(&["--simulator", "free-moton"]).refused(&["did you mean `free-motion`"]);
    run(&["--integrator", "euler"]).refused(&["unknown integrator `euler`", "explicit-euler", "splitting"]);
    run(&["--plot", "o.png", "--channels", "ball.q"]).refused(&[
        "unknown channel `ball.q`",
        "ball.omega_y",
        "energy.drift",
    ]);
    run(&["--plot", "o.png", "--channels", "bal.z"]).refused(&["no body `bal`", "did you mean `ball`"]);
    run(&["--channels", "energy"]).refused(&["--plot"]);
    run(&["--dt", "-0.1"]).refused(&["time step must be finite and > 0; got -0.1"]);
    run(&["--dt", "nan"]).refused(&["got NaN"]);
    run(&["--for", "-1"]).refused(&["--for must be finite and ≥ 0"]);
    run(&["--for", "inf"]).refused(&["--for must be finite"]);
    run(&["--for", "1e300"]).refused(&["steps"]);
    run(&["--every", "0"]).refused(&["--every"]);
    run(&["--record", "no/out.csv"]).refused(&["no/out.csv"]);
    run(&["--resume", "throw.toml"]).refused(&["throw.toml", "not a Rattleback snapshot"]);
    run(&["--resume", "missing.bin"]).refused(&["missing.bin"]);
    assert!(!folder.path("o.png").exists());
}

#[test]
fn a_snapshot_past_the_end_needs_a_duration() {
    let folder = Folder::with("throw.toml", THROW);
    folder.run(&["run", "throw.toml", "--for", "3", "--save", "late.bin"]).fine();
    folder
        .run(&["run", "throw.toml", "--resume", "late.bin"])
        .refused(&["past the end of the scene at 2 s", "--for"]);
}

/// The input was sound, the disk was not: exit code 1, and the name of the file.
#[test]
fn files_that_cannot_be_written_are_a_failure() {
    let folder = Folder::with("throw.toml", THROW);
    for (option, name) in [("--plot", "out.png"), ("--save", "out.bin")] {
        std::fs::create_dir(folder.path(name)).unwrap();
        let ran = folder.run(&["run", "throw.toml", option, name]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.complaints.contains(name), "{ran:?}");
    }
}

#[test]
fn scene_errors_point_at_the_place() {
    let folder = Folder::with("bad.toml", "title = 'x'\n[[body]]\nposition = [0, 0]\n");
    folder.run(&["run", "bad.toml"]).refused(&["bad.toml:3:", "^"]);
}

#[test]
fn bodies_that_leave_the_bounds_are_told() {
    let scene = format!("{THROW}\n[bounds]\nmin = [-10, -10, -100]\nmax = [5, 10, 10]\n");
    let folder = Folder::with("throw.toml", &scene);
    let out = folder.run(&["run", "throw.toml"]).fine();
    assert!(
        out.contains("1 left the bounds") && out.contains("`ball` left the bounds of the world"),
        "{out}"
    );
    assert!(out.contains("1 dynamic, 1 disabled"), "{out}");
}

/// Ctrl-C in the middle of a long run: exit code 130, whole rows on disk, a snapshot that can be resumed.
#[cfg(unix)]
#[test]
fn interruption_leaves_whole_files() {
    let folder = Folder::with("throw.toml", THROW);
    let long =
        ["run", "throw.toml", "--for", "1e8", "--record", "out.csv", "--every", "1000", "--save", "end.bin"];
    let mut child =
        command(&folder.path(""), &long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let started = || std::fs::metadata(folder.path("out.csv")).is_ok_and(|file| file.len() > 10_000);
    while !started() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !kill.is_ok_and(|status| status.success()) {
        child.kill().unwrap();
        panic!("the signal could not be sent");
    }
    let ran = program::Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.complaints.contains("stopped by Ctrl-C at t = "), "{ran:?}");
    // What a failing command has to show is shown all the same.
    assert!(ran.out.contains("simulated time") && ran.out.contains("end.bin"), "{ran:?}");
    let rows = table(&folder.text("out.csv"));
    assert_eq!(rows.len() % 2, 0);
    folder.run(&["run", "throw.toml", "--resume", "end.bin", "--for", "1"]).fine();
}
