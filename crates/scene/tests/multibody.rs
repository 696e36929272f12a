//! `[[multibody]]` in scene files: links, joints, motors, robots from files, and the places of errors.

use rattleback_dynamics::Registry;
use rattleback_scene::{BuiltScene, Scene};

fn build(text: &str) -> BuiltScene {
    let scene = Scene::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    scene.build(&Registry::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    match Scene::parse(text, "test.toml") {
        Err(error) => error.to_string(),
        Ok(scene) => {
            scene.build(&Registry::default()).err().map_or_else(String::new, |error| error.to_string())
        }
    }
}

const PENDULUM: &str = r#"
[[multibody]]
name = "pendulum"
position = [0, 0, 2]
positions = { pivot = 0.1 }
velocities = { pivot = 0.5 }
[[multibody.link]]
name = "rod"
joint = "revolute"
joint_name = "pivot"
axis = [0, 2, 0]
mass = 3
shape = { type = "box", half_extents = [0.1, 0.1, 0.5], position = [0, 0, -0.5] }
"#;

/// m l²(1/12 + …): inertia of the shape, scaled to the mass; φ̈ = −m g c sin φ/(I + m c²).
#[test]
fn a_link_has_the_mass_of_its_shapes_and_the_state_of_the_file() {
    let built = build(PENDULUM);
    let id = built.world.find_multibody("pendulum").unwrap();
    let pendulum = built.world.multibody(id).unwrap();
    assert_eq!(pendulum.positions("pivot").unwrap(), [0.1]);
    assert_eq!(pendulum.velocities("pivot").unwrap(), [0.5]);
    let inertia = 3.0 * (1.0 + 0.04) / 12.0 + 3.0 * 0.25;
    let expected = -3.0 * 9.81 * 0.5 * 0.1_f64.sin() / inertia;
    let found = pendulum.accelerations("pivot").unwrap()[0];
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    let body = built.world.body(built.world.find_body("pendulum/rod").unwrap()).unwrap();
    assert!((body.pose().translation.z - 2.0).abs() < 1e-15);
}

/// The same as JSON, as a script, and written and read again.
#[test]
fn all_formats_say_the_same() {
    let built = build(PENDULUM);
    let bytes = built.world.snapshot().unwrap();
    let scene = Scene::parse(PENDULUM, "test.toml").unwrap();
    let json = Scene::parse(&scene.to_json(), "test.json").unwrap();
    let toml = Scene::parse(&scene.to_toml(), "again.toml").unwrap();
    let script = r#"
        multibody(#{ name: "pendulum", position: [0, 0, 2], positions: #{ pivot: 0.1 }, velocities: #{ pivot: 0.5 },
            link: [#{ name: "rod", joint: "revolute", joint_name: "pivot", axis: [0, 2, 0], mass: 3,
                shape: #{ type: "box", half_extents: [0.1, 0.1, 0.5], position: [0, 0, -0.5] } }] });
    "#;
    let script = Scene::parse(script, "test.rhai").unwrap();
    for other in [json, toml, script] {
        let other = other.build(&Registry::default()).unwrap();
        assert_eq!(other.world.snapshot().unwrap(), bytes);
    }
}

/// In cm, g and degrees the motion is the same.
#[test]
fn units_are_those_of_the_scene() {
    let si = PENDULUM.replace(
        "mass = 3",
        "mass = 3\ndamping = 0.2\nlimits = [-1, 1]\nspring = { stiffness = 4, rest = 0.2 }",
    );
    let degree = 180.0 / std::f64::consts::PI;
    // N·m = 1e7 g·cm²/s²; per radian and per degree.
    let small = format!(
        r#"
[units]
length = "cm"
mass = "g"
angle = "deg"
[[multibody]]
name = "pendulum"
position = [0, 0, 200]
positions = {{ pivot = {} }}
velocities = {{ pivot = {} }}
[[multibody.link]]
name = "rod"
joint = "revolute"
joint_name = "pivot"
axis = [0, 1, 0]
mass = 3000
damping = {}
limits = [{}, {}]
spring = {{ stiffness = {}, rest = {} }}
shape = {{ type = "box", half_extents = [10, 10, 50], position = [0, 0, -50] }}
"#,
        0.1 * degree,
        0.5 * degree,
        0.2e7,
        -degree,
        degree,
        4e7 / degree,
        0.2 * degree
    );
    let read = |text: &str| {
        let mut built = build(text);
        for _ in 0..500 {
            built.simulator.step(&mut built.world, 2e-3).unwrap();
        }
        let id = built.world.find_multibody("pendulum").unwrap();
        built.world.multibody(id).unwrap().positions("pivot").unwrap()[0]
    };
    assert!((read(&si) - read(&small)).abs() < 1e-9, "{} {}", read(&si), read(&small));
}

/// Joints with several coordinates take lists, quaternions with w first; a floating tree falls.
#[test]
fn every_joint_can_be_written() {
    let kinds = [
        ("prismatic", "0.1", "0.2"),
        ("cylindrical", "[0.1, 0.2]", "[0.1, 0.2]"),
        ("screw", "0.1", "0.2"),
        ("universal", "[0.1, 0.2]", "[0.1, 0.2]"),
        ("spherical", "[1, 0, 0, 0]", "[0.1, 0.2, 0.3]"),
        ("planar", "[0.1, 0.2, 0.3]", "[0.1, 0.2, 0.3]"),
        ("free", "[1, 2, 3, 1, 0, 0, 0]", "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]"),
    ];
    for (kind, q, v) in kinds {
        let text = format!(
            "plot = [\"m/a.q\", \"m/a.qd\"]\n[[multibody]]\nname = \"m\"\npositions = {{ a = {q} }}\nvelocities = {{ a = {v} }}\n\
             [[multibody.link]]\nname = \"a\"\njoint = \"{kind}\"\nlead = 0.1\nmass = 1\nshape = {{ type = \"sphere\", radius = 0.1 }}\n"
        );
        let mut built = build(&text);
        let id = built.world.find_multibody("m").unwrap();
        let start = built.world.multibody(id).unwrap().all_positions().to_vec();
        if kind == "free" {
            assert_eq!(start, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]);
        }
        for _ in 0..100 {
            built.simulator.step(&mut built.world, 1e-3).unwrap();
        }
        assert_ne!(built.world.multibody(id).unwrap().all_positions(), start, "{kind}");
    }
}

/// Errors have a place and list the alternatives.
#[test]
fn errors_name_their_place() {
    let cases = [
        ("mass = 3", "mas = 3", "mas"),
        ("joint = \"revolute\"", "joint = \"hinge\"", "hinge"),
        ("positions = { pivot = 0.1 }", "positions = { elbow = 0.1 }", "unknown joint `elbow`"),
        ("positions = { pivot = 0.1 }", "positions = { pivot = [0.1, 0.2] }", "1 number"),
        ("positions = { pivot = 0.1 }", "positions = { pivot = nan }", "finite"),
        ("mass = 3", "mass = 3\nparent = \"arm\"", "unknown link `arm`"),
        ("mass = 3", "mass = 3\nparent = \"rod\"", "cycle"),
        ("mass = 3", "mass = 3\nlimits = [1, -1]", "range"),
        ("mass = 3", "mass = 3\nrestitution = 2", "0 to 1"),
        ("joint = \"revolute\"", "joint = \"spherical\"\nlimits = [0, 1]", "one coordinate"),
        ("axis = [0, 2, 0]", "axis = [0, 0, 0]", "not zero"),
        ("position = [0, 0, 2]", "file = \"robot.urdf\"", "has its links from there"),
        ("mass = 3\nshape", "#", "moves no mass"),
    ];
    for (old, new, expected) in cases {
        let text = PENDULUM.replacen(old, new, 1);
        let text = if new == "#" { text.split('#').next().unwrap_or_default().to_owned() } else { text };
        let found = error(&text);
        assert!(found.contains(expected), "{new}: {found:?}");
        assert!(found.contains("test.toml:"), "{found}");
    }
    assert!(error("[[multibody]]\nname = \"empty\"\n").contains("link"));
    assert!(error("[[multibody]]\nfile = \"no such robot.urdf\"\n").contains("no such robot.urdf"));
    let twice = format!("{PENDULUM}{}", PENDULUM.replace("positions = { pivot = 0.1 }", ""));
    assert!(error(&twice).contains("pendulum"));
}

/// A robot from a file: names, limits, friction of geoms as materials, actuators as motors, shapes of the world as a static body.
#[test]
fn a_robot_file_becomes_a_multibody() {
    let folder = std::env::temp_dir().join(format!("rattleback-multibody-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let robot = r#"<mujoco model="arm"><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body name="upper"><joint name="shoulder" axis="0 1 0" damping="0.1" limited="true" range="10 80"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05" friction="0.7 0.005 0.0001"/>
            <body name="fore" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/>
                <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/></body></body></worldbody>
        <actuator><position joint="elbow" kp="100"/></actuator></mujoco>"#;
    std::fs::write(folder.join("arm.xml"), robot).unwrap();
    let scene = folder.join("scene.toml");
    let text = "[[multibody]]\nname = \"r\"\nfile = \"arm.xml\"\nposition = [0, 0, 1]\npositions = { elbow = 0.4 }\n";
    std::fs::write(&scene, text).unwrap();
    let mut built = Scene::load(&scene).unwrap().build(&Registry::default()).unwrap();
    let id = built.world.find_multibody("r").unwrap();
    let arm = built.world.multibody(id).unwrap();
    // The pose of the file lies beyond the limit; it was put on it.
    assert!((arm.positions("shoulder").unwrap()[0] - 10_f64.to_radians()).abs() < 1e-12);
    assert_eq!(arm.positions("elbow").unwrap(), [0.4]);
    assert_eq!(arm.mechanism().servos().len(), 1);
    let shape = built.world.body(built.world.find_body("r/upper").unwrap()).unwrap().shapes()[0];
    let material = built.world.shape(shape).unwrap().material;
    assert_eq!(built.world.material(material).unwrap().kinetic_friction, 0.7);
    let upper = arm.link("upper").unwrap();
    assert!((arm.link_pose(upper).unwrap().translation.z - 1.0).abs() < 1e-15);
    for _ in 0..2000 {
        built.simulator.step(&mut built.world, 2e-3).unwrap();
    }
    let arm = built.world.multibody(id).unwrap();
    assert!(arm.positions("shoulder").unwrap()[0] >= 10_f64.to_radians() - 1e-12);
    let found = Scene::parse("[[multibody]]\nfile = \"../arm.xml\"\n", "a.toml").unwrap();
    assert!(found.build(&Registry::default()).unwrap_err().to_string().contains("outside"));
    let _ = std::fs::remove_dir_all(&folder);
}

/// A hinge whose pose in the file is 30° beyond its limit does not leap: as a scene of bodies it starts on the limit and gains no energy.
#[test]
fn a_robot_beyond_its_limits_gains_no_energy() {
    let text = r#"<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="hip" axis="0 1 0" range="30 100"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05" friction="0.3 0.005 0.0001"/></body></worldbody></mujoco>"#;
    let mut built = Scene::parse(text, "leg.xml").unwrap().build(&Registry::default()).unwrap();
    let start = built.world.readout().energy();
    for _ in 0..200 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
        assert!(built.world.readout().energy() < start + 1e-3, "{}", built.world.readout().energy() - start);
    }
    let shape = built.world.body(built.world.find_body("a").unwrap()).unwrap().shapes()[0];
    let material = built.world.shape(shape).unwrap().material;
    assert_eq!(built.world.material(material).unwrap().static_friction, 0.3);
}

/// The arm of the library sweeps its blocks away and comes to where its motors hold it.
#[test]
fn the_arm_sweeps_the_blocks() {
    let mut built = Scene::built_in("arm").unwrap().build(&Registry::default()).unwrap();
    let block = built.world.find_body("block[2]").unwrap();
    let start = built.world.body(block).unwrap().position();
    let steps = (built.duration / built.dt).round() as usize;
    for _ in 0..steps {
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    let arm = built.world.multibody(built.world.find_multibody("arm").unwrap()).unwrap();
    let angle = arm.positions("turntable").unwrap()[0];
    assert!((angle - 150_f64.to_radians()).abs() < 0.05, "{angle}");
    let moved = (built.world.body(block).unwrap().position() - start).length();
    assert!(moved > 0.1, "{moved} m");
    assert!(built.world.body(block).unwrap().position().z > 0.05);
}
