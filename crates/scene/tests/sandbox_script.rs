//! Sandbox scripts: the built scenes, and errors at their places.

use glam::DVec3;
use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rattleback_dynamics::property::Value;
use rattleback_dynamics::world::BodyRef;
use rattleback_dynamics::{Registry, Signal, Status};
use rattleback_scene::{BuiltScene, Scene, SceneError};

const MOTOR: &str = include_str!("sandbox/motor.sandbox");

#[track_caller]
fn build(text: &str) -> BuiltScene {
    match Scene::parse(text, "a.sandbox").and_then(|scene| scene.build(&Registry::default())) {
        Ok(built) => built,
        Err(error) => panic!("{error}"),
    }
}

fn body<'w>(built: &'w BuiltScene, name: &str) -> BodyRef<'w> {
    built.world.body(built.world.find_body(name).unwrap()).unwrap()
}

fn run(built: &mut BuiltScene, seconds: f64) {
    while built.world.time() < seconds - 1e-9 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
}

/// A scene of some bodies and constraints, one gravity, nothing else; bodies are (id, geometry, density, position).
fn scene(bodies: &[(&str, &str, f64, [f64; 3])], constraints: &str) -> String {
    let bodies: Vec<String> = bodies
        .iter()
        .map(|(id, geometry, density, [x, y, z])| {
            format!(
                "Body {{ Id = \"{id}\" GeometryId = \"{geometry}\" MassDensity = {density}\n  \
                 KineticProperties {{ Position = {{{x}, {y}, {z}}} }} Forces = {{ \"g\" }} }}\n"
            )
        })
        .collect();
    let bodies = bodies.concat();
    format!(
        "Geometries {{ Geometry {{ Type = \"Sphere\" Id = \"ball\" CustomProperties {{ Radius = 0.1 }} }}\n\
         Geometry {{ Type = \"Halfspace\" Id = \"ground\" }}\n\
         Geometry {{ Type = \"Cylinder\" Id = \"drum\" CustomProperties {{ Radius = 0.6 Height = 1.2 }} }} }}\n\
         Forces {{ Force {{ Type = \"Gravity\" Id = \"g\" CustomProperties {{ Acceleration = {{0, -10, 0}} }} }} }}\n\
         Environment {{ Id = \"e\" Space {{ Type = \"KDTree\" Bodies {{\n{bodies}}} }}\nConstraints {{ {constraints} }} }}"
    )
}

/// A-53: the sample scene parses to the values that it lists.
#[test]
fn the_sample_of_the_authors_says_what_it_lists() {
    let built = build(MOTOR);
    assert_eq!(built.title, "DefaultEnvironment");
    let names: Vec<_> = built.world.iter_bodies().filter_map(|body| body.name().map(str::to_owned)).collect();
    assert_eq!(names, ["Ground", "Ball01", "Ball02"]);
    assert_eq!(body(&built, "Ground").status(), Status::Fixed);
    for (name, y) in [("Ball01", 1.0), ("Ball02", 3.0)] {
        let ball = body(&built, name);
        assert_eq!((ball.status(), ball.position()), (Status::Dynamic, DVec3::new(0.0, y, 0.0)));
        // A ball of radius 1/2 and density 1 weighs 4π/3 · 1/8 = π/6.
        assert!((ball.mass() - std::f64::consts::PI / 6.0).abs() < 1e-12);
    }
    let (_, _, gravity) = built.world.iter_forces().next().unwrap();
    let expected = Value::VectorSignal(Signal::Constant(DVec3::new(0.0, -5.0, 0.0)));
    assert_eq!(gravity.get("acceleration"), Ok(expected));
    let shapes: Vec<_> = built.world.iter_shapes().map(|(id, _)| id).collect();
    let mixed = built.world.combined_material(shapes[0], shapes[1]).unwrap();
    assert!((mixed.restitution - 0.25).abs() < 1e-15 && (mixed.surface_perturbation - 0.2).abs() < 1e-15);
    let (_, motor) = built.world.iter_joints().next().unwrap();
    assert_eq!((motor.name(), motor.breaking().drift), (Some("MyAngularMotor"), 100.0));
    assert_eq!(motor.kind().get("speed"), Ok(Value::Signal(Signal::Constant(3.1412))));
    let description = built.simulator.description();
    assert_eq!(description.type_name, "sequential");
    assert_eq!(description.properties.get("space"), Some(&Value::Text("uniform-grid".into())));
}

/// While both balls fall, the motor turns one against the other by its speed, and being inside gives no spin to the pair.
#[test]
fn the_motor_of_the_sample_turns_the_second_ball_against_the_first() {
    let mut built = build(MOTOR);
    run(&mut built, 0.4);
    let spin = |name: &str| body(&built, name).angular_velocity().y;
    assert!((spin("Ball02") - spin("Ball01") - 3.1412).abs() < 1e-3 * 3.1412);
    assert!((spin("Ball02") + spin("Ball01")).abs() < 1e-6);
    // 1 − ½ · 5 · 0.4² without drag, a little more with a damping of 0.1/s.
    let y = body(&built, "Ball01").position().y;
    assert!((0.6 - 1e-9..0.61).contains(&y), "{y}");
}

/// As printed both balls have no density: the whole scene is static.
#[test]
fn without_density_the_sample_stands_still() {
    let text = MOTOR.replace("MassDensity = 1.0", "MassDensity = 0.0");
    let mut built = build(&text);
    run(&mut built, 0.5);
    assert!(built.world.iter_bodies().all(|body| body.status() == Status::Fixed));
    assert_eq!(body(&built, "Ball02").position(), DVec3::new(0.0, 3.0, 0.0));
}

/// The whole of a scene in a few lines, in any layout.
#[test]
fn layout_is_free() {
    let text = r#"
        Geometries { Geometry { Id = "g" Type = "Box" CustomProperties { HalfExtents = {0.5, 0.5, 0.5} } } }
        Materials { Material { Id = "m" RestitutionCoefficient = 0.2 StaticFrictionCoefficient = 0.5 DynamicFrictionCoefficient = 0.4 } }
        Simulator { Type = "Basic" Id = "s" CustomProperties { } }
        Environment { Id = "e" KineticIntegrator = "RK4" ConstraintSolver = "Sequential"
          Space { Type = "KDTree" Id = "k" CustomProperties { MaxDepth = 12 MinBodies = 4 }
            Bodies { Body { Type = "Rigid" Id = "b" GeometryId = "g" BoundingVolumeType = "AxisAlignedBox" MassDensity = 2.5 Material = "m"
              KineticProperties { Position = {0, 2, 0} Orientation = {1, 0, 0, 0} } Forces = { } } } }
          Constraints { } }"#;
    for text in
        [text.to_owned(), text.split_whitespace().collect::<Vec<_>>().join("\n"), format!("/* a */{text}#b")]
    {
        let mut built = build(&text);
        assert!((body(&built, "b").mass() - 2.5).abs() < 1e-12);
        run(&mut built, 0.1);
        // No force acts on it.
        assert_eq!(body(&built, "b").position(), DVec3::new(0.0, 2.0, 0.0));
    }
}

/// A script runs on the simulator of its method, which supports its joints.
#[test]
fn pipelines_and_solvers_are_simulators_that_do_the_same() {
    let joint = r#"Constraint { Type = "Spherical" Id = "j" Body1 = "a" Body2 = "b" CustomProperties { BindPoint = {0, 2, 0} } }"#;
    let slider = r#"Constraint { Type = "Slider" Id = "j" Body1 = "a" Body2 = "b" CustomProperties { BindAxisPoint1 = {0, 2, 0} BindAxisPoint2 = {1, 2, 0} } }"#;
    let script = |pipeline: &str, solver: &str, constraints: &str| {
        let body = |id: &str, x: f64| {
            format!(
                r#"Body {{ Type = "Rigid" Id = "{id}" GeometryId = "g" BoundingVolumeType = "Sphere" MassDensity = 1 Material = "m"
                KineticProperties {{ Position = {{{x}, 2, 0}} Orientation = {{1, 0, 0, 0}} }} Forces = {{ }} }}"#
            )
        };
        format!(
            r#"Geometries {{ Geometry {{ Id = "g" Type = "Sphere" CustomProperties {{ Radius = 0.5 }} }} }}
            Materials {{ Material {{ Id = "m" RestitutionCoefficient = 0.2 }} }}
            Simulator {{ Type = "{pipeline}" Id = "s" CustomProperties {{ }} }}
            Environment {{ Id = "e" KineticIntegrator = "Euler" ConstraintSolver = "{solver}"
            Space {{ Type = "Basic" Id = "k" Bodies {{ {} {} }} }} Constraints {{ {constraints} }} }}"#,
            body("a", -1.0),
            body("b", 1.0)
        )
    };
    for (pipeline, solver, joints, expected, shock) in [
        ("Basic", "Sequential", "", "sequential", Some(false)),
        ("Basic", "Sequential", joint, "sequential", Some(false)),
        ("Basic", "LCP", joint, "constraint", None),
        ("Basic", "PenaltyBased", "", "penalty", None),
        ("ShockPropagation", "Sequential", joint, "sequential", Some(true)),
        ("Sequential", "LCP", "", "sequential", Some(false)),
        ("Bisection", "Sequential", "", "impulse", None),
        ("ConservativeAdvancement", "Sequential", "", "impulse", None),
        ("Basic", "Sequential", slider, "realtime", None),
        ("ShockPropagation", "Sequential", slider, "realtime", None),
        ("Continuous", "Sequential", slider, "constraint", None),
        ("Continuous", "Sequential", joint, "constraint", None),
        ("Realtime", "Sequential", joint, "realtime", None),
    ] {
        let mut built = build(&script(pipeline, solver, joints));
        let description = built.simulator.description();
        assert_eq!(description.type_name, expected, "{pipeline} {solver}");
        assert_eq!(description.properties.get("shock"), shock.map(Value::Bool).as_ref(), "{pipeline}");
        run(&mut built, 0.1);
    }
}

/// Forward references are allowed.
#[test]
fn the_order_of_blocks_does_not_matter() {
    let cut = MOTOR.find("Environment").unwrap();
    let turned = format!("{}{}", &MOTOR[cut..], &MOTOR[..cut]);
    let (a, b) = (build(MOTOR), build(&turned));
    assert_eq!(a.world.snapshot().unwrap(), b.world.snapshot().unwrap());
}

/// y is up: a drum of height 1.2 stands on the ground with its middle at 0.6, a ball of radius 0.1 at 0.1.
#[test]
fn round_shapes_stand_along_y() {
    let bodies = [
        ("ground", "ground", 0.0, [0.0; 3]),
        ("drum", "drum", 100.0, [0.0, 0.61, 0.0]),
        ("ball", "ball", 100.0, [2.0, 0.11, 0.0]),
    ];
    let mut built = build(&scene(&bodies, ""));
    run(&mut built, 1.0);
    assert!((body(&built, "drum").position().y - 0.6).abs() < 2e-3);
    assert!((body(&built, "ball").position().y - 0.1).abs() < 2e-3);
}

/// Each type of constraint leaves its degrees of freedom, and no others.
#[test]
fn constraints_hold_what_they_should() {
    let bodies = [
        ("post", "ball", 0.0, [0.0; 3]),
        ("bob", "ball", 100.0, [1.0, 0.0, 0.0]),
        ("other", "ball", 100.0, [2.0, 0.0, 0.0]),
    ];
    let bound = |kind: &str, custom: &str| {
        let constraint = format!(
            "Constraint {{ Type = \"{kind}\" Id = \"c\" Body1 = \"post\" Body2 = \"bob\" CustomProperties {{ {custom} }} }}"
        );
        let mut built = build(&scene(&bodies, &constraint));
        run(&mut built, 0.5);
        body(&built, "bob").position()
    };
    // A pendulum of length 1 keeps its length, a hinge its plane.
    let ball = bound("Spherical", "BindPoint = {0, 0, 0}");
    assert!((ball.length() - 1.0).abs() < 2e-3 && ball.y < -0.5, "{ball}");
    let hinge = bound("Revolute", "BindAxisPoint1 = {0, 0, -1} BindAxisPoint2 = {0, 0, 1}");
    assert!((hinge.length() - 1.0).abs() < 2e-3 && hinge.y < -0.5 && hinge.z.abs() < 1e-3, "{hinge}");
    // A hinge about +z falls towards negative angles, down to its limit.
    let limited = "BindAxisPoint1 = {0, 0, -1} BindAxisPoint2 = {0, 0, 1} MinAngle = -0.1";
    let hinge = bound("Revolute", limited);
    assert!((-0.105..-0.05).contains(&hinge.y), "{hinge}");
    let rigid = bound("Rigid", "BindPoint1 = {0, 0, 0} BindPoint2 = {1, 0, 0} BindPoint3 = {0, 1, 0}");
    assert!((rigid - DVec3::X).length() < 5e-3, "{rigid}");
    // ½ · 10 · 0.5² = 1.25 down the slider, none sideways.
    let slider = bound("Slider", "BindAxisPoint1 = {0, 0, 0} BindAxisPoint2 = {0, 1, 0}");
    assert!((slider - DVec3::new(1.0, -1.25, 0.0)).length() < 1e-2, "{slider}");
    let cable = bound("Cable", "BindPoint1 = {0, 0, 0} BindPoint2 = {1, 0, 0} MaxLength = 1.1");
    assert!((0.9..1.11).contains(&cable.length()) && cable.y < -0.5, "{cable}");
    let universal = bound("Universal", "BindPoint = {0, 0, 0} Axis1 = {0, 0, 1} Axis2 = {1, 0, 0}");
    assert!((universal.length() - 1.0).abs() < 5e-3, "{universal}");
    // A spring of 1 N/m does not keep a ball of 419 g from falling by ½ g t (t + h), nearly.
    let spring = bound("Spring", "BindPoint1 = {0, 0, 0} BindPoint2 = {1, 0, 0} Stiffness = 1");
    assert!((-1.261..-1.0).contains(&spring.y), "{spring}");
}

/// Gravity on some bodies only stays a force of its own.
#[test]
fn a_force_acts_on_the_bodies_that_list_it() {
    let bodies = [("a", "ball", 100.0, [0.0; 3]), ("b", "ball", 100.0, [5.0, 0.0, 0.0])];
    let text = scene(&bodies, "").replacen("Forces = { \"g\" }", "Forces = { }", 1);
    let mut built = build(&text);
    run(&mut built, 0.5);
    assert_eq!(body(&built, "a").position(), DVec3::ZERO);
    // Euler's method with step h: −½ g t (t + h).
    let expected = -0.5 * 10.0 * 0.5 * (0.5 + built.dt);
    assert!((body(&built, "b").position().y - expected).abs() < 1e-9);
}

/// A-53: what is written of a script as TOML reads back as the same world, and is written the same again.
#[test]
fn a_script_written_as_toml_is_the_same_world() {
    let script = Scene::parse(MOTOR, "motor.sandbox").unwrap();
    let toml = script.to_toml();
    let again = Scene::parse(&toml, "motor.toml").unwrap();
    assert_eq!(again.to_toml(), toml);
    let world = |scene: &Scene| scene.build(&Registry::default()).unwrap().world.snapshot().unwrap();
    assert_eq!(world(&again), world(&script));
}

/// A text with one `«…»` around what is wrong, and a part of the message.
#[track_caller]
fn refuses(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').unwrap();
    let (culprit, after) = rest.split_once('»').unwrap();
    let text = format!("{before}{culprit}{after}");
    let built =
        Scene::parse(&text, "a.sandbox").and_then(|scene| scene.build(&Registry::default()).map(|_| ()));
    let error = built.expect_err(&text);
    let place = error.place().unwrap_or_else(|| panic!("no place: {error}"));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    assert_eq!((place.line, place.column), (line, column), "{error}");
    assert_eq!(place.width, culprit.chars().count().max(1), "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

/// The sample with one piece of it replaced by another.
fn sample_with(old: &str, new: &str) -> String {
    assert!(MOTOR.contains(old), "{old}");
    MOTOR.replacen(old, new, 1)
}

#[test]
fn mistakes_are_told_at_their_place_in_the_words_of_the_script() {
    for (old, new, message) in [
        ("Radius = 0.5", "«Radus» = 0.5", "did you mean `Radius`"),
        ("Radius = 0.5", "Radius = «-0.5»", "`Radius` must be > 0"),
        ("Type = \"Sphere\"", "Type = \"Sphere\" «Colour» = 1", "allowed: Type, Id, CustomProperties"),
        ("Type= \"Basic\"", "Type= «\"Basics\"»", "did you mean `Basic`"),
        ("GeometryId = \" UnitSphere \"", "GeometryId = «\"UnitSpere\"»", "did you mean `UnitSphere`"),
        ("Material = \"Ground\"", "Material = «\"Grund\"»", "did you mean `Ground`"),
        ("Forces = { \"NormalGravity\" }", "Forces = { «\"Gravity\"» }", "unknown force"),
        ("Body1 = \"Ball01\"", "Body1 = «\"Ball1\"»", "did you mean `Ball01`"),
        ("Type = \"AngularMotor\"", "Type = «\"Motor\"»", "known: Spherical, Revolute"),
        ("BindAxisPoint2 = { 0.0, 3.0, 0.0 }", "BindAxisPoint2 = «{ 0.0, 1.0, 0.0 }»", "another point"),
        ("MassDensity = 1.0", "MassDensity = «-1»", "≥ 0"),
        ("MassDensity = 0.0", "MassDensity = «7»", ""),
        ("Position = {0.0, 1.0, 0.0}", "Position = «{0.0, 1.0}»", "three numbers"),
        ("LinearVelocity = {0.0, 0.0, 0.0}", "LinearVelocity = «{1, 0, 0}»", "never moves"),
        ("CanSleep = true", "«CanSlep» = true", "did you mean `CanSleep`"),
        ("Id = \" Ball02\"", "Id = «\"Ball01\"»", "there is a body called `Ball01` already"),
        ("KineticIntegrator = \"Euler\"", "KineticIntegrator = «\"Eulr\"»", "did you mean `Euler`"),
        (
            "RestitutionCoefficient = 0.1",
            "RestitutionCoefficient = «1.5»",
            "`RestitutionCoefficient` must be in [0, 1]",
        ),
        ("Type = \"Grid\"", "Type = «\"Octree\"»", "known: Basic, Grid, KDTree, SweepAndPrune"),
        ("AngularSpeed = 3.1412", "AngularSped = 3.1412", ""),
        ("Orientation = {1.0, 0.0, 0.0, 0.0}", "Orientation = \\{1.0, 0.0, 0.0, 0.0\\}", ""),
    ] {
        if new.contains('«') {
            refuses(&sample_with(old, new), message);
        } else {
            let text = sample_with(old, new);
            assert!(Scene::parse(&text, "a.sandbox").is_err(), "{new}");
        }
    }
    refuses("Geometries { }\n«Enviroment» { }", "did you mean `Environment`");
    refuses("Geometries { «Shape» { } }", "allowed: Geometry");
    refuses("Environment «=» 1", "comes `{`");
    refuses("Environment { Id = «\"»a", "has no end");
}

#[test]
fn hostile_scripts_are_refused_and_cost_little() {
    let began = std::time::Instant::now();
    for text in [
        "A {".repeat(1_000_000),
        format!("A {{ x = {}", "{".repeat(1_000_000)),
        format!(
            "Environment {{ {} }}",
            (0..400_000).map(|k| format!("k{k} = 1 ")).collect::<Vec<_>>().concat()
        ),
        format!("Environment {{ x = \"{}\" }}", "y".repeat(1 << 20)),
        format!("Environment {{ {} }}", "Space { } ".repeat(400_000)),
        "/*".repeat(100_000),
        format!("A {{ x = {{ {} 1 }} }}", "1,".repeat(3_000_000)),
    ] {
        let error = Scene::parse(&text, "a.sandbox").unwrap_err();
        assert!(error.place().is_some() && error.to_string().len() < 2000, "{error}");
    }
    let long = " ".repeat(rattleback_scene::MAX_SCENE_BYTES as usize + 1);
    assert!(matches!(Scene::parse(&long, "a.gravitas"), Err(SceneError::TooLarge { .. })));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

fn check(text: &str, registry: &Registry) -> bool {
    match Scene::parse(text, "fuzz.sandbox") {
        Ok(scene) => {
            let written = scene.to_toml();
            let again = Scene::parse(&written, "written.toml");
            let again = again.unwrap_or_else(|error| panic!("{error}\nwritten from\n{text}"));
            assert_eq!(again.to_toml(), written);
            match scene.build(registry) {
                Ok(_) => true,
                Err(error) => {
                    assert!(error.place().is_some(), "{error}");
                    false
                }
            }
        }
        Err(error) => {
            assert!(error.place().is_some(), "{error}");
            false
        }
    }
}

/// A-53: 10⁵ mutated scripts: a scene, or an error with a line and a column.
#[test]
fn mutated_scripts_are_built_or_refused_in_place() {
    const WORDS: &[&str] = &[
        "{",
        "}",
        "=",
        ",",
        "\"",
        "0",
        "-1",
        "1e308",
        "1e-308",
        "9223372036854775807",
        "true",
        "\"\"",
        "\"world\"",
        "\"Ball01\"",
        "{ }",
        "{0, 0, 0}",
        "{{1}}",
        "Id",
        "Type",
        "CustomProperties",
        "Body { }",
        "Space",
        "//",
        "/*",
        "é",
        "\"Cylinder\"",
        "\"Cable\"",
        "\"Spring\"",
        "\"Rigid\"",
        "\"Universal\"",
        "BindPoint1",
        "\"a[1]\"",
    ];
    let registry = Registry::default();
    let mut random = Pcg64::new(3, 5);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let tokens: Vec<&str> = MOTOR.lines().skip(2).flat_map(str::split_whitespace).collect();
    let mut built = 0;
    for _ in 0..100_000 {
        let mut words = tokens.clone();
        for _ in 0..=below(2) {
            let at = below(words.len());
            match below(3) {
                0 => drop(words.remove(at)),
                1 => words[at] = WORDS[below(WORDS.len())],
                _ => words.insert(at, WORDS[below(WORDS.len())]),
            }
        }
        built += usize::from(check(&words.join(" "), &registry));
    }
    assert!(built > 300, "{built}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text(text in "\\PC{0,120}") {
        check(&text, &Registry::empty());
    }

    #[test]
    fn anything_in_braces(text in "(Environment|Space|Bodies|Body|Id|Type|=|\\{|\\}|,|\"a\"|1|-2.5| ){0,60}") {
        check(&text, &Registry::empty());
    }
}
