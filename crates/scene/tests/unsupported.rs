//! What a simulator ignores or refuses is a warning at its place in the file.

use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, SceneWarning, built_ins};

const SCENE: &str = r#"title = "Many features"

[simulator]
type = "SIMULATOR"

[materials.clay]
restitution = 0.2
rolling_friction = 0.01

[materials.unused]
spinning_friction = 0.01

[[body]]
name = "ground"
status = "static"
shape = { type = "half-space" }

[[body]]
name = "ball"
mass_properties = { mass = 1, inertia = [1, 1, 1] }
material = "clay"
shape = { type = "sphere", radius = 0.1, sensor = true }

[[body]]
name = "balls"
mass_properties = { mass = 1, inertia = [1, 1, 1] }
repeat = { count = 3, spacing = [1, 0, 0] }

[[body.shape]]
type = "sphere"
radius = 0.1
sensor = true

[[joint]]
type = "spherical"
bodies = ["ball"]
break_force = 10
break_torque = 5
break_drift = 0.1
"#;

fn warnings(simulator: &str) -> Vec<SceneWarning> {
    let scene = Scene::parse(&SCENE.replace("SIMULATOR", simulator), "features.toml").unwrap();
    assert_eq!(scene.warnings(), []);
    scene.build(&Registry::default()).unwrap().warnings
}

/// Beginning of the message, line, column.
type Expected = (&'static str, usize, usize);

/// All warnings of each simulator.
const EXPECTED: &[(&str, &[Expected])] = &[
    (
        "free-motion",
        &[
            ("`restitution` has no effect: simulator `free-motion` does not support restitution", 7, 15),
            ("`rolling_friction` has no effect", 8, 20),
            ("`sensor` has no effect", 22, 51),
            ("the joint is refused", 35, 8),
            ("`break_force` has no effect", 37, 15),
            ("`break_torque` has no effect", 38, 16),
            ("`break_drift` has no effect", 39, 15),
        ],
    ),
    ("constraint", &[("`break_drift` has no effect", 39, 15)]),
    (
        "sequential",
        &[
            ("`rolling_friction` has no effect", 8, 20),
            ("`sensor` has no effect", 22, 51),
            ("`break_torque` has no effect", 38, 16),
        ],
    ),
    ("realtime", &[]),
];

#[test]
fn ignored_properties_are_warnings_with_lines() {
    for (simulator, expected) in EXPECTED {
        let found = warnings(simulator);
        assert_eq!(found.len(), expected.len(), "{simulator}: {found:#?}");
        for (message, line, column) in *expected {
            let warning = found.iter().find(|warning| warning.message.starts_with(message));
            let place = &warning.unwrap_or_else(|| panic!("{simulator}: no `{message}` in {found:#?}")).place;
            assert_eq!((place.line, place.column), (*line, *column), "{simulator}: {message}");
        }
    }
    let sensor = warnings("sequential").into_iter().find(|warning| warning.message.starts_with("`sensor`"));
    // The three copies are one place.
    assert!(sensor.unwrap().message.ends_with("; there is one more place"));
}

/// Built-in scenes contain nothing that their simulator ignores.
#[test]
fn built_in_scenes_have_no_warnings() {
    let registry = Registry::default();
    for scene in built_ins() {
        let built = Scene::built_in(scene.name).unwrap().build(&registry).unwrap();
        assert_eq!(built.warnings, [], "{}", scene.name);
    }
}
