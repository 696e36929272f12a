//! `rattleback study`, `rattleback gate`, `rattleback array` and `rattleback stepper`.

use crate::program::{Folder, run};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The template runs, writes tables and plots; threads and a run that was killed and continued give the same table.
#[test]
fn threads_and_interruptions_do_not_change_a_study() {
    let folder = Folder::new();
    folder.run(&["new", "study.toml", "--study"]).fine();
    folder.run(&["new", "study.toml", "--study"]).refused(&["study.toml"]);
    let common = ["study", "study.toml", "--samples", "30"];
    let with = |more: &[&str]| folder.run(&[&common[..], more].concat()).fine();
    let table =
        with(&["--threads", "1", "--table", "one.csv", "--table", "one.parquet", "--plot", "effects.png"]);
    assert!(table.contains("friction") && table.contains("explains"), "{table}");
    let csv = folder.text("one.csv");
    assert_eq!(csv.lines().count(), 61);
    assert!(
        csv.starts_with("run,sample,repetition,seed,friction,gravity,speed,contacts,error\n0,0,0,"),
        "{csv}"
    );
    assert!(folder.read("one.parquet").starts_with(b"PAR1"));
    for plot in ["effects-friction.png", "effects-gravity.png"] {
        assert!(folder.read(plot).starts_with(b"\x89PNG"));
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_rattleback"))
        .args(common)
        .args(["--resume", "study.runs"])
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(1)
        && child.try_wait().unwrap().is_none()
        && std::fs::metadata(folder.path("study.runs")).map_or(0, |m| m.len()) < 500
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    let mut kept = folder.text("study.runs");
    kept.push_str("{\"index\":");
    std::fs::write(folder.path("study.runs"), kept).unwrap();
    with(&["--resume", "study.runs", "--table", "two.csv"]);
    assert_eq!(folder.text("two.csv"), csv);
    folder
        .run(&["study", "study.toml", "--samples", "30", "--seed", "9", "--resume", "study.runs"])
        .refused(&["other circumstances"]);
}

#[test]
fn bad_studies_are_refused_with_their_place() {
    let folder = Folder::with("study.toml", "scene = 'bowling'\n[result.z]\nchannel = 'bal.z'\n");
    folder.run(&["study", "study.toml"]).refused(&["study.toml:2:", "did you mean `ball`"]);
    folder.run(&["study", "nothing.toml"]).refused(&["nothing.toml"]);
    folder.run(&["study", "bowlin"]).refused(&["did you mean `bowling`"]);
    folder.run(&["study", "bowling", "--table", "x.txt"]).refused(&[".csv or .parquet"]);
    assert!(run(&["study", "--list"]).fine().contains("chute"));
}

/// A box of 10 × 20 × 30 mm, in mm.
const BRICK: &str = "\
v 0 0 0\nv 10 0 0\nv 10 20 0\nv 0 20 0\nv 0 0 30\nv 10 0 30\nv 10 20 30\nv 0 20 30
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn gates_are_searched() {
    let folder = Folder::with("brick.obj", BRICK);
    let common = ["gate", "brick.obj", "--unit", "mm", "--trials", "4"];
    let with = |more: &[&str]| folder.run(&[&common[..], more].concat());
    let text = with(&[
        "--gate",
        "bar:clearance=0.012..0.03/2",
        "--search",
        "2",
        "--want",
        "1,2",
        "--plot",
        "bar.png",
        "--json",
        "gate.json",
    ])
    .fine();
    assert!(text.contains("bar:clearance=0.012,angle=0") && text.contains("delivered"), "{text}");
    assert!(folder.read("bar.png").starts_with(b"\x89PNG"));
    assert!(folder.text("gate.json").contains("\"counts\""));
    with(&["--gate", "bra:clearance=1"]).refused(&["did you mean `bar`"]);
    with(&["--gate", "none", "--want", "9"]).refused(&["there is no pose 9"]);
    with(&["--gate", "none", "--input", "1,2"]).refused(&["each of the 6 poses"]);
    with(&["--gate", "none", "--plot", "x.png"]).refused(&["needs a gate with a range"]);
}

/// Tables, plots and files of micro-actuators; what is wrong is said with what is allowed.
#[test]
fn micro_actuators_are_varied() {
    let folder = Folder::new();
    let table = folder
        .run(&[
            "stepper",
            "--set",
            "angle=60..120/3",
            "--runs",
            "4",
            "--plot",
            "steps.png",
            "--json",
            "steps.json",
        ])
        .fine();
    assert!(table.contains("angle, deg") && table.contains("one impact"), "{table}");
    assert!(folder.read("steps.png").starts_with(b"\x89PNG"));
    let rows: serde_json::Value = serde_json::from_str(&folder.text("steps.json")).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 3);
    let small = ["--set", "columns=20", "--set", "rows=20", "--set", "duration=0.005", "--runs", "4"];
    let with = |more: &[&str]| folder.run(&[&["array"], &small[..], more].concat()).fine();
    let one = with(&["--tiling", "uniform,brick", "--threads", "1"]);
    assert!(one.contains("differences of the feed"), "{one}");
    assert_eq!(one, with(&["--tiling", "uniform,brick", "--threads", "2"]));
    assert!(folder.run(&["array", "--parameters"]).fine().contains("column_phase"));
    folder.run(&["array", "--set", "tillt=1"]).refused(&["did you mean `tilt`"]);
    folder.run(&["array", "--set", "tilt=90"]).refused(&["tilt must be from 0 to 30 deg"]);
    folder.run(&["array", "--plot", "a.png"]).refused(&["--plot needs a range"]);
    folder.run(&["stepper", "--set", "gap=1"]).refused(&["jaws reach"]);
}
