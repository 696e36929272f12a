//! Names of the release before: read with a warning at their place, and written under their present names.

use rattleback_dynamics::{Registry, Status};
use rattleback_scene::{Scene, SceneWarning, built_ins, schema};

const OLD: &str = r#"title = "Old names"

[simulator]
type = "realtime"

[[body]]
name = "ground"
status = "fixed"
groups = ["ground"]
shape = { type = "half-space" }

[[body]]
name = "table"
status = "animated"
shape = { type = "box", half_extents = [1, 1, 0.1], touches = ["default"] }

[[body]]
name = "arm"
position = [0, 0, 2]
touches = ["ground"]
shape = { type = "sphere", radius = 0.1 }

[[body]]
name = "hand"
position = [0, 0, 3]
shape = { type = "sphere", radius = 0.1 }

[[joint]]
type = "rigid"
bodies = ["arm", "hand"]

[[joint]]
type = "revolute"
bodies = ["arm"]
effort = 5

[[joint]]
type = "six-axis"
bodies = ["hand"]
linear_effort = [1, 2, 3]
angular_effort = [4, 5, 6]

[[joint]]
type = "cylindrical"
bodies = ["arm"]
effort = 7
torque = 8
"#;

/// (old name, present name)
const RENAMED: &[(&str, &str)] = &[
    ("\"fixed\"", "\"static\""),
    ("\"animated\"", "\"kinematic\""),
    ("touches", "collision_mask"),
    ("\"rigid\"", "\"fixed\""),
    ("linear_effort", "max_force"),
    ("angular_effort", "max_torque"),
    ("effort = 5", "max_torque = 5"),
    ("effort = 7", "max_force = 7"),
    ("torque = 8", "max_torque = 8"),
];

fn present() -> String {
    RENAMED.iter().fold(OLD.to_owned(), |text, (old, new)| text.replace(old, new))
}

fn world(scene: &Scene) -> Vec<u8> {
    let built = scene.build(&Registry::default()).unwrap();
    built.world.snapshot_with(&*built.simulator).unwrap()
}

#[track_caller]
fn warning<'w>(warnings: &'w [SceneWarning], words: &str) -> &'w SceneWarning {
    let found = warnings.iter().find(|warning| warning.message.starts_with(words));
    found.unwrap_or_else(|| panic!("no `{words}` in {warnings:?}"))
}

#[test]
fn old_names_build_the_same_world() {
    let (old, new) = (Scene::parse(OLD, "old.toml").unwrap(), Scene::parse(&present(), "new.toml").unwrap());
    assert_eq!(new.warnings(), []);
    assert_eq!(world(&old), world(&new));
    let built = old.build(&Registry::default()).unwrap();
    assert_eq!(built.world.body(built.world.find_body("ground").unwrap()).unwrap().status(), Status::Fixed);
    assert_eq!(
        built.world.body(built.world.find_body("table").unwrap()).unwrap().status(),
        Status::Kinematic
    );
    assert_eq!(built.warnings, old.warnings());
}

/// One warning for each name, at its first place, with the present name.
#[test]
fn old_names_are_reported_at_their_place() {
    let scene = Scene::parse(OLD, "old.toml").unwrap();
    let warnings = scene.warnings();
    for (words, line, column) in [
        ("status `fixed` has been renamed `static`", 8, 10),
        ("status `animated` has been renamed `kinematic`", 14, 10),
        ("key `touches` has been renamed `collision_mask`", 15, 53),
        ("joint `rigid` has been renamed `fixed`", 29, 8),
        ("key `effort` has been renamed `max_torque`", 35, 1),
        ("key `linear_effort` has been renamed `max_force`", 40, 1),
        ("key `angular_effort` has been renamed `max_torque`", 41, 1),
        ("key `effort` has been renamed `max_force`", 46, 1),
        ("key `torque` has been renamed `max_torque`", 47, 1),
    ] {
        let place = &warning(warnings, words).place;
        assert_eq!((place.line, place.column), (line, column), "{words}");
    }
    assert_eq!(warnings.len(), 9);
    assert!(warning(warnings, "key `touches`").message.ends_with("there is one more place"));
    let shown = warning(warnings, "joint").to_string();
    assert!(shown.starts_with("old.toml:29:8: warning: joint `rigid`"), "{shown}");
    assert!(shown.ends_with("29 | type = \"rigid\"\n   |        ^^^^^^^"), "{shown}");
}

#[test]
fn a_converted_scene_has_present_names() {
    let old = Scene::parse(OLD, "old.toml").unwrap();
    assert_eq!(old.to_toml(), Scene::parse(&present(), "new.toml").unwrap().to_toml());
    for (text, origin) in [(old.to_toml(), "a.toml"), (old.to_json(), "a.json")] {
        assert_eq!(Scene::parse(&text, origin).unwrap().warnings(), [], "{text}");
    }
}

/// Types and keys that come from defaults are replaced too, wherever they are.
#[test]
fn old_names_in_defaults_are_read() {
    let text = "[defaults.body.wall]\nstatus = 'fixed'\ntouches = []\n[defaults.joint.motor]\ntype = 'revolute'\n\
        [defaults.joint.strong]\nlike = 'motor'\neffort = 9\n[[body]]\nlike = 'wall'\ncollision_mask = ['default']\n\
        [[body]]\nname = 'a'\nshape = { type = 'sphere', radius = 1 }\n\
        [[joint]]\nlike = 'motor'\nbodies = ['a']\neffort = 3\n[[joint]]\nlike = 'strong'\nbodies = ['a']\n";
    let scene = Scene::parse(text, "test").unwrap();
    let toml = scene.to_toml();
    assert!(toml.contains("max_torque = 3") && toml.contains("max_torque = 9"), "{toml}");
    assert!(
        toml.contains("collision_mask = [\"default\"]") && !toml.contains("collision_mask = []"),
        "{toml}"
    );
    assert_eq!(scene.warnings().len(), 3, "{:?}", scene.warnings());
    assert!(scene.build(&Registry::default()).is_ok());
}

/// A name in a loop of a script is one place.
#[test]
fn a_loop_of_a_script_is_one_place() {
    let script = "for k in 0..100 {\n  body(#{ status: \"fixed\", position: [k, 0, 0] });\n}";
    let scene = Scene::parse(script, "a.rhai").unwrap();
    let [warning] = scene.warnings() else { panic!("{:?}", scene.warnings()) };
    assert_eq!(warning.place.line, 2);
    assert!(!warning.message.contains("more place"), "{warning}");
}

#[test]
fn both_names_at_once_are_refused() {
    for (text, words) in [
        ("[[body]]\ntouches = []\ncollision_mask = []", "`touches` and `collision_mask`"),
        (
            "[[body]]\nname = 'a'\n[[joint]]\ntype = 'wheel'\nbodies = ['a']\neffort = 1\nmax_torque = 1",
            "`effort` and `max_torque`",
        ),
    ] {
        let error = Scene::parse(text, "test").unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Everything that the project itself shows has present names.
#[test]
fn built_in_scenes_and_schema_have_present_names() {
    for scene in built_ins().iter().filter(|scene| scene.name != "swarm") {
        assert_eq!(Scene::built_in(scene.name).unwrap().warnings(), [], "{}", scene.name);
    }
    let registry = Registry::default();
    let schema = schema(&registry).to_string();
    for old in ["\"touches\"", "effort\"", "\"rigid\"", "\"animated\""] {
        assert!(!schema.contains(old), "{old}");
    }
    for entry in registry.joints.iter() {
        assert!(entry.properties.iter().all(|spec| !spec.name.contains("effort")), "{}", entry.name);
    }
}
