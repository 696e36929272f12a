//! The other commands, run as a user would.

use crate::program;

use program::{Folder, command, run};
use rattleback_dynamics::Registry;
use serde_json::Value;
use std::process::Stdio;

/// A box of 2 × 4 × 6 with one corner at the origin.
const BOX: &str = "\
v 0 0 0\nv 2 0 0\nv 2 4 0\nv 0 4 0\nv 0 0 6\nv 2 0 6\nv 2 4 6\nv 0 4 6
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn help_and_usage() {
    let commands = [
        "run",
        "compare",
        "view",
        "check",
        "new",
        "schema",
        "render",
        "export",
        "scenes",
        "components",
        "info",
        "decompose",
        "distance",
        "sdf",
        "validate",
        "bench",
        "bowling",
    ];
    for command in commands {
        assert!(run(&["--help"]).fine().contains(command));
        assert!(run(&[command, "--help"]).fine().contains("Usage"));
    }
    run(&[]).refused(&["Usage"]);
    run(&["validat"]).refused(&["similar", "'validate'"]);
    run(&["run"]).refused(&["<SCENE>"]);
    assert!(run(&["--version"]).fine().starts_with("rattleback "));
}

#[test]
fn scenes_are_listed_one_a_line() {
    let out = run(&["scenes"]).fine();
    for scene in rattleback_scene::built_ins() {
        assert!(
            out.lines().any(|line| line.starts_with(scene.name) && line.contains(scene.summary)),
            "{out}"
        );
    }
}

/// Every built-in scene can be run, and its suggested plot drawn.
#[test]
fn every_built_in_scene_runs() {
    let folder = Folder::new();
    for scene in rattleback_scene::built_ins() {
        // Their time scales differ: atoms need femtoseconds.
        let built = rattleback_scene::Scene::open(scene.name).unwrap().build(&Registry::default()).unwrap();
        let duration = (5.0 * built.dt).to_string();
        let out = folder.run(&["run", scene.name, "--for", &duration, "--plot", "out.svg"]).fine();
        assert!(out.contains("in 5 steps"), "{out}");
        // Only `realtime` reports contact events.
        let quiet =
            out.contains("events            none") || built.simulator.description().type_name == "realtime";
        assert!(out.contains("energy") && quiet, "{}: {out}", scene.name);
        assert!(!out.contains("quarantined") && !out.contains("left the bounds"), "{}: {out}", scene.name);
    }
}

/// Two balls, one of which falls on a floor.
const DROP: &str = r#"
time_step = 0.01
duration = 0.6

[[body]]
name = "floor"
status = "static"
shape = { type = "half-space", normal = [0, 0, 1] }

[[body]]
name = "ball"
position = [0, 0, 1.1]
shape = { type = "sphere", radius = 0.1 }
"#;

/// A ball that falls on a floor: simulators with contacts agree; the one without keeps falling, and the report gives the place.
#[test]
fn simulators_are_compared() {
    let folder = Folder::with("drop.toml", DROP);
    let names = "constraint,realtime,free-motion";
    let out = folder.run(&["compare", "drop.toml", "--simulators", names, "--plot", "drop.svg"]).fine();
    for name in names.split(',') {
        assert!(out.lines().any(|line| line.starts_with(name) && line.contains("60")), "{out}");
    }
    // √(2 · 1 m/g) = 0.4515 s is when it lands.
    assert!(out.contains("constraint and free-motion diverge at t = 0.46 s (`ball`)"), "{out}");
    assert!(folder.text("drop.svg").contains("contact force"));
    let all = folder.run(&["compare", "drop.toml", "--time", "0.05"]).fine();
    assert!(all.contains(" agree: ") && all.contains("penalty"), "{all}");
    folder
        .run(&["compare", "drop.toml", "--simulators", "constrain"])
        .refused(&["did you mean `constraint`"]);
}

/// A simulator that cannot run a scene is left out, with the reason.
#[test]
fn simulators_that_cannot_are_skipped() {
    let folder = Folder::new();
    let out = folder.run(&["compare", "chain", "--simulators", "realtime,impulse", "--time", "0.05"]).fine();
    assert!(out.contains("skipped impulse") && out.contains("joints"), "{out}");
}

#[test]
fn components_tell_their_properties() {
    let all = run(&["components"]).fine();
    for name in ["sphere", "material", "spring", "splitting", "free-motion"] {
        assert!(all.contains(name), "{all}");
    }
    assert!(run(&["components", "forces"]).fine().contains("Damped spring"));
    let spring = run(&["components", "force", "spring"]).fine();
    for word in
        ["stiffness", "N/m", "100", "≥ 0", "one of coefficients, damping-ratio, frequency", "\"world\""]
    {
        assert!(spring.contains(word), "{spring}");
    }
    assert!(run(&["components", "integrator", "splitting"]).fine().contains("no properties"));
    run(&["components", "forse"]).refused(&["did you mean `force`"]);
    run(&["components", "force", "sprung"]).refused(&["unknown force `sprung`", "did you mean `spring`"]);
}

/// I_xx = m (b² + c²)/12 and so on for a box.
#[test]
fn a_box_weighs_what_it_should() {
    let folder = Folder::with("box.obj", BOX);
    let out = folder.run(&["info", "box.obj", "--unit", "cm", "--density", "2700", "--json"]).fine();
    let value: Value = serde_json::from_str(&out).unwrap();
    let number =
        |pointer: &str| value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"));
    let mass = 2700.0 * 48e-6;
    for (pointer, expected) in [
        ("/mass_properties/volume", 48e-6),
        ("/mass_properties/mass", mass),
        ("/mass_properties/center_of_mass/1", 0.02),
        ("/mass_properties/inertia/0/0", mass * (16.0 + 36.0) * 1e-4 / 12.0),
        ("/mass_properties/inertia/1/1", mass * (4.0 + 36.0) * 1e-4 / 12.0),
        ("/mass_properties/inertia/2/2", mass * (4.0 + 16.0) * 1e-4 / 12.0),
        ("/surface_area", 2.0 * (8.0 + 12.0 + 24.0) * 1e-4),
        ("/bounding_box/max/2", 0.06),
        ("/bounding_sphere/radius", 0.5 * 56_f64.sqrt() * 1e-2),
        ("/surface/edges", 12.0),
    ] {
        assert!((number(pointer) / expected - 1.0).abs() < 1e-12, "{pointer}: {}", number(pointer));
    }
    assert_eq!(value["solid"], true);

    let text = folder.run(&["info", "box.obj"]).fine();
    for words in [
        "8, 12, 6",
        "closed yes, oriented yes, manifold yes",
        "first fault",
        "none",
        "48000 kg",
        "(1, 2, 3) m",
    ] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
}

#[test]
fn faults_of_a_mesh_are_named() {
    let open = BOX.replace("f 5 6 7 8\n", "");
    let folder = Folder::with("open.obj", &open);
    let text = folder.run(&["info", "open.obj"]).fine();
    assert!(
        text.contains("closed no") && text.contains("need a closed surface") && !text.contains("kg"),
        "{text}"
    );
    assert!(!text.contains("first fault             none"), "{text}");

    let inverted: String = BOX
        .lines()
        .map(|line| match line.strip_prefix("f ") {
            Some(corners) => format!("f {}\n", corners.split(' ').rev().collect::<Vec<_>>().join(" ")),
            None => format!("{line}\n"),
        })
        .collect();
    let folder = Folder::with("inverted.obj", &inverted);
    let text = folder.run(&["info", "inverted.obj"]).fine();
    assert!(text.contains("faces point inwards") && text.contains("48000 kg"), "{text}");

    folder.run(&["info", "missing.obj"]).refused(&["missing.obj"]);
    let folder = Folder::with("bad.obj", "v 0 0 zero\n");
    folder.run(&["info", "bad.obj"]).refused(&["bad.obj", "line 1"]);
    folder.run(&["info", "bad.obj", "--density", "-1"]).refused(&["--density must be finite and > 0"]);
    folder.run(&["info", "bad.obj", "--unit", "ell"]).refused(&["mm, cm, m, in"]);
}

#[test]
fn validation_passes_and_filters() {
    let out = run(&["validate"]).fine();
    assert!(out.contains("rotation/flip-period/period") && out.contains("checks pass"), "{out}");
    assert!(!out.contains("  NO"), "{out}");
    let json: Value = serde_json::from_str(&run(&["validate", "mass/cube", "--json"]).fine()).unwrap();
    assert_eq!(json.as_array().map(Vec::len), Some(10));
    assert_eq!(json[0]["expected"], 8000.0);
    assert_eq!(json[0]["pass"], true);
    assert!(run(&["validate", "--list"]).fine().contains("force/buoyancy"));
    run(&["validate", "phlogiston"]).refused(&["no case has `phlogiston`", "mass/cube"]);
}

#[test]
fn free_bodies_are_measured_against_a_copy() {
    let out = run(&["bench", "free-bodies", "--bodies", "1000", "--steps", "3"]).fine();
    for words in ["1000 tumbling bodies", "steps/s", "copy, GB/s", "step/copy"] {
        assert!(out.contains(words), "{out}");
    }
    run(&["bench", "free-bodies", "--bodies", "0"]).refused(&["--bodies"]);
}

#[test]
fn spaces_are_measured_on_every_scene() {
    let out = run(&["bench", "spaces", "--max", "100", "--spaces", "dynamic-bvh,brute-force"]).fine();
    for words in ["gas", "pile", "mixed-sizes", "mostly-fixed", "fast", "dynamic-bvh", "brute-force"] {
        assert!(out.contains(words), "{out}");
    }
    run(&["bench", "spaces", "--spaces", "octree"]).refused(&["kd-tree"]);
}

/// A reader that closes the pipe, as `head` does, causes no panic.
#[test]
fn a_closed_pipe_is_no_failure() {
    for arguments in [&["validate", "repeat"][..], &["components"], &["run", "free-fall"]] {
        let mut child = command(std::path::Path::new("."), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ran = program::Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.complaints.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

/// An L of three unit cubes, as one closed surface.
const L_SHAPE: &str = "\
v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0
v 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1
f 6 5 4 3 2 1\nf 7 8 9 10 11 12
f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";

/// The parts of an L are two boxes of volume 3 together, and can be read again.
#[test]
fn decompose_cuts_an_l_in_two() {
    let folder = Folder::with("l.obj", L_SHAPE);
    let out = folder.run(&["decompose", "l.obj", "--out", "parts.obj"]).fine();
    assert!(out.lines().any(|line| line.starts_with("parts ") && line.trim_end().ends_with('2')), "{out}");
    let again = folder.run(&["info", "parts.obj"]).fine();
    assert!(again.contains("components 2"), "{again}");
    let rough = folder.run(&["decompose", "l.obj", "--error", "0.5"]).fine();
    assert!(rough.contains("within --error"), "{rough}");
    folder.run(&["decompose", "l.obj", "--error", "-1"]).refused(&["l.obj"]);
    folder.run(&["decompose", "nowhere.obj"]).refused(&["nowhere.obj"]);
}

/// The surface that a field gives back is closed and has nearly the volume of the solid.
#[test]
fn sdf_gives_the_solid_back() {
    let folder = Folder::with("box.obj", BOX);
    folder.run(&["sdf", "box.obj", "--resolution", "48", "--out", "back.obj"]).fine();
    let info: Value = serde_json::from_str(&folder.run(&["info", "back.obj", "--json"]).fine()).unwrap();
    let volume = info.pointer("/mass_properties/volume").and_then(Value::as_f64).unwrap();
    assert!((volume / 48.0 - 1.0).abs() < 0.02, "{volume}");
    folder.run(&["sdf", "box.obj", "--resolution", "0"]).refused(&["box.obj"]);
    folder.run(&["sdf", "box.obj", "--resolution", "12", "--png", "cut.png", "--across", "x"]).fine();
    assert_eq!(&folder.read("cut.png")[..4], b"\x89PNG");
    folder
        .run(&["sdf", "box.obj", "--resolution", "12", "--png", "cut.png", "--slice", "99"])
        .refused(&["--slice"]);
    folder.run(&["sdf", "box.obj", "--resolution", "12", "--png", "cut.gif"]).refused(&["cut.gif", ".png"]);
}

/// Two boxes of 2 × 4 × 6 (BOX): side by side a metre apart, then 0.1 m deep in each other along the thinnest side.
#[test]
fn distance_of_two_boxes() {
    let folder = Folder::with("box.obj", BOX);
    let extents = folder.run(&["info", "box.obj"]).fine();
    assert!(extents.contains("48"), "{extents}");
    let apart = folder.run(&["distance", "box.obj", "box.obj", "--at", "0,0,10"]).fine();
    assert!(apart.contains("solid") && apart.contains("0 manifolds"), "{apart}");
    let deep = folder.run(&["distance", "box.obj", "box.obj", "--at", "1.9,0,0", "--obj", "both.obj"]).fine();
    assert!(deep.contains("-0.1 m") && deep.contains("1 manifolds, 4 points"), "{deep}");
    assert!(folder.text("both.obj").lines().filter(|line| line.starts_with("f ")).count() > 24);
    folder.run(&["distance", "box.obj", "box.obj", "--at", "1,2"]).refused(&["--at"]);
    folder.run(&["distance", "box.obj", "nowhere.obj"]).refused(&["nowhere.obj"]);
}

/// A ball of radius 0.5 whose centre is 1.2 m from the middle of a box 1 m long: 0.2 m apart. And every kind of shape is drawn.
#[test]
fn distance_of_shapes_in_words() {
    let folder = Folder::with("box.obj", BOX);
    let out =
        folder.run(&["distance", "box:1,2,3", "sphere:0.5", "--at", "1.2,0,0", "--png", "view.png"]).fine();
    assert!(out.contains("0.2 m") && out.contains("box of 1 × 2 × 3 m"), "{out}");
    assert_eq!(&folder.read("view.png")[..4], b"\x89PNG");
    for shape in ["capsule:0.2,1", "cylinder:0.3,1", "cone:0.3,1", "ellipsoid:1,0.5,0.3", "box.obj"] {
        folder.run(&["distance", shape, "sphere:0.5", "--at", "0,0,9", "--png", "view.png"]).fine();
    }
    folder.run(&["distance", "box:1,2", "sphere:0.5"]).refused(&["box:1,2", "length, width, height"]);
    folder.run(&["distance", "box:1,2,-3", "sphere:0.5"]).refused(&["box:1,2,-3"]);
    folder.run(&["distance", "sphere:x", "sphere:0.5"]).refused(&["sphere:x", "radius"]);
    folder.run(&["distance", "pyramid:1", "sphere:0.5"]).refused(&["pyramid:1", "box:1,2,3"]);
}

/// A sandbox script, a script and a file go to TOML and JSON and back; what is written runs like what was read.
#[test]
fn scenes_are_converted() {
    let folder = Folder::with("motor.sandbox", include_str!("../../scene/tests/sandbox/motor.sandbox"));
    folder.run(&["new", "tower.rhai"]).fine();
    folder.run(&["new", "ramp.toml"]).fine();
    for name in ["motor.sandbox", "tower.rhai", "ramp.toml", "bridge"] {
        let output = folder.run(&["convert", name, "a.toml"]).fine();
        assert!(output.contains("the same world"), "{output}");
        folder.run(&["convert", "a.toml", "b.json"]).fine();
        folder.run(&["convert", "b.json", "c.toml"]).fine();
        assert_eq!(folder.text("a.toml"), folder.text("c.toml"), "{name}");
        let ran = |scene: &str, out: &str| {
            folder.run(&["run", scene, "--for", "0.1", "--quiet", "--record", out]).fine();
            folder.text(out)
        };
        assert_eq!(ran(name, "x.csv"), ran("b.json", "y.csv"), "{name}");
    }
    let checked = folder.run(&["check", "motor.sandbox"]);
    assert!(checked.code == Some(0) && checked.out.contains("sequential"), "{checked:?}");
    // `sequential` has perfect surfaces.
    assert!(
        checked.complaints.contains("motor.sandbox:15:90: warning: `surface_perturbation`"),
        "{checked:?}"
    );
    let drawn = folder.run(&["render", "motor.sandbox", "--png", "a.png", "--size", "80x50"]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    folder.run(&["convert", "bridge", "b.obj"]).refused(&[".toml or .json"]);
    folder.run(&["convert", "a.toml", "./a.toml"]).refused(&["overwritten by itself"]);
    folder.run(&["convert", "nothing", "b.toml"]).refused(&["nothing"]);
    std::fs::write(folder.path("bad.sandbox"), "Environment {\n  Ids = 3\n}").unwrap();
    folder.run(&["check", "bad.sandbox"]).refused(&["bad.sandbox:2:3", "did you mean", "^^^"]);
}
