//! `rattleback poses`.

use crate::program::Folder;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A box of 10 × 20 × 30 mm, in mm.
const BRICK: &str = "\
v 0 0 0\nv 10 0 0\nv 10 20 0\nv 0 20 0\nv 0 0 30\nv 10 0 30\nv 10 20 30\nv 0 20 30
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn folder() -> Folder {
    Folder::with("brick.obj", BRICK)
}

#[test]
fn geometry_alone_prints_the_closed_form() {
    let text = folder().run(&["poses", "brick.obj", "--unit", "mm", "--method", "none"]).fine();
    assert!(text.contains("6 stable poses"), "{text}");
    assert_eq!(text.matches("32.3").count(), 2, "{text}");
    assert_eq!(text.matches("12.1").count(), 4, "quasi-static and cone: {text}");
}

/// Threads, and a run that was killed and continued, give the same table.
#[test]
fn threads_and_interruptions_do_not_change_the_table() {
    let folder = folder();
    let common = ["poses", "brick.obj", "--unit", "mm", "--drops", "400", "--method", "bootstrap"];
    let with = |more: &[&str]| folder.run(&[&common[..], more].concat()).fine();
    let table = with(&["--threads", "1"]);
    assert_eq!(with(&["--threads", "3"]), table);
    // Killed as soon as some drops are on disk.
    let mut child = Command::new(env!("CARGO_BIN_EXE_rattleback"))
        .args(common)
        .args(["--resume", "run.drops"])
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(1)
        && child.try_wait().unwrap().is_none()
        && std::fs::metadata(folder.path("run.drops")).map_or(0, |m| m.len()) < 10_000
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    // A line that was cut off is dropped.
    let mut kept = folder.text("run.drops");
    kept.push_str("{\"method\":\"boot");
    std::fs::write(folder.path("run.drops"), kept).unwrap();
    assert_eq!(with(&["--resume", "run.drops"]), table);
    assert_eq!(with(&["--resume", "run.drops"]), table);
    folder
        .run(&["poses", "brick.obj", "--unit", "mm", "--mu", "0.5", "--resume", "run.drops"])
        .refused(&["other circumstances"]);
}

#[test]
fn all_outputs_are_written() {
    let folder = folder();
    std::fs::write(folder.path("measured.csv"), "pose,count\n1+2,650\n3+4,240\n5+6,110\n").unwrap();
    let text = folder
        .run(&[
            "poses",
            "brick.obj",
            "--unit",
            "mm",
            "--drops",
            "100",
            "--json",
            "poses.json",
            "--parquet",
            "drops.parquet",
            "--report",
            "report.html",
            "--pictures",
            "pictures",
            "--plot",
            "plot.png",
            "--compare",
            "measured.csv",
            "--sensitivity",
            "--scene",
            "tray.toml",
        ])
        .fine();
    assert!(text.contains("error") && text.contains("with e = 0.6"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&folder.text("poses.json")).unwrap();
    assert_eq!(json["poses"].as_array().unwrap().len(), 6);
    assert_eq!(json["estimates"].as_array().unwrap().len(), 3);
    assert!(json["measured"]["errors"]["quasi-static"].as_f64().unwrap() < 1.0);
    folder.run(&["run", "tray.toml", "--for", "0.3", "--quiet"]).fine();
    for name in ["drops.parquet", "drops.poses.parquet"] {
        assert!(folder.read(name).ends_with(b"PAR1"));
    }
    let report = folder.text("report.html");
    assert_eq!(report.matches("data:image/png;base64,").count(), 6);
    assert!(report.contains("<svg") && !report.contains("src=\"http"));
    for pose in 1..=6 {
        assert!(folder.read(&format!("pictures/pose-{pose:02}.png")).starts_with(b"\x89PNG"));
    }
}

#[test]
fn bad_input_is_named() {
    let folder = folder();
    let brick = ["poses", "brick.obj", "--unit", "mm"];
    let with = |more: &[&str]| folder.run(&[&brick[..], more].concat());
    with(&["--until", "80%"]).refused(&["--until"]);
    with(&["--mu", "-1"]).refused(&["friction", "≥ 0"]);
    with(&["--e", "1.5"]).refused(&["restitution", "0 to 1"]);
    with(&["--simulator", "nonsense"]).refused(&["nonsense"]);
    with(&["--insert", "brick.obj"]).refused(&["FILE=DENSITY"]);
    std::fs::write(folder.path("measured.csv"), "1,10\n7,3\n").unwrap();
    with(&["--method", "none", "--compare", "measured.csv"]).refused(&["no pose 7"]);
    let open = BRICK.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(folder.path("open.obj"), open).unwrap();
    folder.run(&["poses", "open.obj", "--unit", "mm"]).refused(&["open.obj", "closed", "--hull"]);
    folder.run(&["poses", "open.obj", "--unit", "mm", "--hull", "--method", "none"]).fine();
}
