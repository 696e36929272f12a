//! The built world has the values of the file, in SI units; the examples of the documentation included.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::property::Value;
use rattleback_dynamics::world::BodyRef;
use rattleback_dynamics::{Path, Registry, Signal, Status};
use rattleback_geometry::space::SpaceKind;
use rattleback_scene::{BuiltScene, Scene};

#[track_caller]
fn build(text: &str) -> BuiltScene {
    match Scene::parse(text, "test").and_then(|scene| scene.build(&Registry::default())) {
        Ok(built) => built,
        Err(error) => panic!("{error}"),
    }
}

fn body<'w>(built: &'w BuiltScene, name: &str) -> BodyRef<'w> {
    built.world.body(built.world.find_body(name).unwrap()).unwrap()
}

/// Every ```toml block of the documentation builds, takes steps, and survives being written.
#[test]
fn the_examples_of_the_documentation_work() {
    let text = include_str!("../../../docs/scene-format.md");
    let module = include_str!("../src/lib.rs").replace("//! ", "").replace("//!", "");
    build(module.split("```toml\n").nth(1).unwrap().split("```").next().unwrap());
    let examples: Vec<&str> =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 8);
    for example in examples {
        let mut built = build(example);
        assert!(built.world.iter_bodies().count() > 0);
        for _ in 0..10 {
            built.simulator.step(&mut built.world, built.dt).unwrap();
        }
        let written = Scene::parse(example, "example").unwrap().to_toml();
        assert_eq!(Scene::parse(&written, "written").unwrap().to_toml(), written);
    }
}

/// Every broad phase can be named in a file and carries the same collision; another name is refused with those there are.
#[test]
fn spaces_are_chosen_by_name() {
    let scene = |space: &str| {
        format!(
            "[simulator]\ntype = 'impulse'\nspace = '{space}'\n[[body]]\nname = 'ball'\nposition = [0, 0, 0.2]\n\
             shape = {{ type = 'sphere', radius = 0.1 }}\n[[body]]\nstatus = 'static'\nposition = [0, 0, -1]\n\
             shape = {{ type = 'box', half_extents = [1, 1, 1] }}\n"
        )
    };
    let mut heights = Vec::new();
    for name in SpaceKind::names() {
        let mut built = build(&scene(name));
        for _ in 0..60 {
            built.simulator.step(&mut built.world, built.dt).unwrap();
        }
        heights.push(body(&built, "ball").position().z);
    }
    assert_eq!(heights.len(), 9);
    // 60 steps of 1/240 s: in free fall it would be 0.1 m deep in the floor.
    assert!(heights[0] > 0.09, "{heights:?}");
    assert!(heights.iter().all(|z| (z - heights[0]).abs() < 1e-6), "{heights:?}");
    let refused = Scene::parse(&scene("octree"), "test").and_then(|scene| scene.build(&Registry::default()));
    let message = refused.err().unwrap().to_string();
    assert!(SpaceKind::names().all(|name| message.contains(name)), "{message}");
}

/// An empty file is an empty world with the documented defaults.
#[test]
fn nothing_said_means_the_defaults() {
    let built = build("");
    assert_eq!((built.dt, built.duration), (1.0 / 240.0, 10.0));
    assert_eq!(built.world.iter_bodies().count(), 0);
    let (_, name, force) = built.world.iter_forces().next().unwrap();
    assert_eq!(name, Some("gravity"));
    let expected = Value::VectorSignal(Signal::Constant(DVec3::new(0.0, 0.0, -9.81)));
    assert_eq!(force.get("acceleration"), Ok(expected));
    assert_eq!(build("gravity = 'none'").world.iter_forces().count(), 0);
}

/// The same body in SI and in millimetres, grams and degrees.
#[test]
fn units_are_converted_at_the_door() {
    let si = build(
        "gravity = [0, 0, -1]\n[[body]]\nname = 'a'\nposition = [0.01, 0, 0]\nvelocity = [0, 0.002, 0]\n\
         angular_velocity = [0, 0, 3.141592653589793]\norientation = { euler = [0, 0, 1.5707963267948966] }\n\
         density = 2000\nshape = { type = 'box', half_extents = [0.01, 0.02, 0.03] }\n\
         [[force]]\ntype = 'spring'\nbody_b = 'a'\nstiffness = 5\nrest_length = 0.1\nmax_force = 2\n\
         [[force]]\ntype = 'gravitation'\nconstant = 7\n[bounds]\nmin = [-1, -1, -1]\nmax = [1, 1, 1]",
    );
    let other = build(
        "units = { length = 'mm', mass = 'g', angle = 'deg' }\ngravity = [0, 0, -1000]\n\
         [[body]]\nname = 'a'\nposition = [10, 0, 0]\nvelocity = [0, 2, 0]\n\
         angular_velocity = [0, 0, 180]\norientation = { euler = [0, 0, 90] }\n\
         density = 0.002\nshape = { type = 'box', half_extents = [10, 20, 30] }\n\
         [[force]]\ntype = 'spring'\nbody_b = 'a'\nstiffness = 5000\nrest_length = 100\nmax_force = 2e6\n\
         [[force]]\ntype = 'gravitation'\nconstant = 7e6\n[bounds]\nmin = [-1000, -1000, -1000]\nmax = [1000, 1000, 1000]",
    );
    let (a, b) = (body(&si, "a"), body(&other, "a"));
    assert!((a.mass() / b.mass() - 1.0).abs() < 1e-12);
    assert!((a.center_of_mass() - b.center_of_mass()).length() < 1e-15);
    assert!((a.velocity() - b.velocity()).length() < 1e-15);
    assert!((a.angular_velocity() - b.angular_velocity()).length() < 1e-12);
    assert!(a.orientation().dot(b.orientation()).abs() > 1.0 - 1e-12);
    assert!((a.inertia().moments - b.inertia().moments).length() < 1e-12 * a.inertia().moments.length());
    assert!((si.world.bounds().unwrap().max() - other.world.bounds().unwrap().max()).length() < 1e-12);
    for ((_, _, a), (_, _, b)) in si.world.iter_forces().zip(other.world.iter_forces()) {
        for spec in a.specs() {
            let (x, y) = (a.get(&spec.name).unwrap().numbers(), b.get(&spec.name).unwrap().numbers());
            let same = x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-12 * x.abs());
            assert!(same, "{}: {x:?} and {y:?}", spec.name);
        }
    }
}

/// Quaternion, axis and angle, and Euler angles of the same orientation; Euler angles rotate about x first.
#[test]
fn orientations_in_three_forms() {
    let q = DQuat::from_rotation_z(0.3) * DQuat::from_rotation_y(0.2) * DQuat::from_rotation_x(0.1);
    let (axis, angle) = q.to_axis_angle();
    let forms = [
        format!("[{}, {}, {}, {}]", 2.0 * q.w, 2.0 * q.x, 2.0 * q.y, 2.0 * q.z),
        format!("{{ axis = [{}, {}, {}], angle = {angle} }}", 5.0 * axis.x, 5.0 * axis.y, 5.0 * axis.z),
        "{ euler = [0.1, 0.2, 0.3] }".into(),
    ];
    for form in forms {
        let built = build(&format!("[[body]]\nname = 'a'\nstatus = 'static'\norientation = {form}"));
        assert!(body(&built, "a").orientation().dot(q).abs() > 1.0 - 1e-14, "{form}");
    }
}

/// Three, six and nine numbers are the same tensor; the centre of mass is where it was put.
#[test]
fn mass_properties_in_three_forms() {
    let forms = ["[2, 3, 4, 0.1, 0.2, 0.3]", "[2, 0.1, 0.2, 0.1, 3, 0.3, 0.2, 0.3, 4]"];
    let expected = DMat3::from_cols_array(&[2.0, 0.1, 0.2, 0.1, 3.0, 0.3, 0.2, 0.3, 4.0]);
    for form in forms {
        let text = format!(
            "[[body]]\nname = 'a'\nmass_properties = {{ mass = 2, center = [1, 0, 0], inertia = {form} }}"
        );
        let built = build(&text);
        let a = body(&built, "a");
        let inertia = a.world_inertia() - expected;
        let largest = inertia.to_cols_array().iter().fold(0f64, |m, x| m.max(x.abs()));
        assert!(largest < 1e-12, "{largest}");
        assert!((a.center_of_mass() - DVec3::X).length() < 1e-15);
    }
}

/// A barbell: two point masses on a massless-looking rod weigh m₁ + m₂ + rod, about their common centre.
#[test]
fn point_masses_and_shapes_add_up() {
    let built = build(
        "[[body]]\nname = 'a'\nmass = 1\nshape = { type = 'sphere', radius = 0.1 }\n\
         point_masses = [{ mass = 3, position = [4, 0, 0] }]",
    );
    let a = body(&built, "a");
    assert!((a.mass() - 4.0).abs() < 1e-12);
    assert!((a.center_of_mass() - DVec3::X * 3.0).length() < 1e-12);
}

/// Sums of small text: densities per part, surfaces per area.
#[test]
fn densities_by_part_and_by_area() {
    let built = build(
        "units = { length = 'cm', mass = 'g' }\n[[body]]\nname = 'a'\ndensity = 1\n\
         [[body.shape]]\ntype = 'box'\nhalf_extents = [0.5, 0.5, 0.5]\n\
         [[body.shape]]\ntype = 'box'\nhalf_extents = [0.5, 0.5, 0.5]\nposition = [3, 0, 0]\ndensity = 2\n\
         [[body]]\nname = 'b'\ndensity = 2\nmass_model = 'surface'\nshape = { type = 'box', half_extents = [0.5, 0.5, 0.5] }",
    );
    assert!((body(&built, "a").mass() - 3e-3).abs() < 1e-15);
    assert!((body(&built, "a").center_of_mass() - DVec3::X * 0.02).length() < 1e-15);
    // 6 cm² at 2 g/cm².
    assert!((body(&built, "b").mass() - 12e-3).abs() < 1e-15);
}

/// Rocks hit the wall but not each other, except for one pair; sensors and masks are kept.
#[test]
fn filters_and_groups() {
    let built = build(
        "[[body]]\nname = 'rock'\ngroups = 'rocks'\nshape = { type = 'sphere', radius = 1 }\nrepeat = { count = 3 }\n\
         [[body]]\nname = 'wall'\nstatus = 'static'\nshape = { type = 'half-space' }\n\
         [[body]]\nname = 'ghost'\nstatus = 'static'\ncollision_mask = []\nshape = { type = 'sphere', radius = 1, sensor = true }\n\
         [filter]\nforbid = [{ groups = ['rocks', 'rocks'] }]\nallow = [{ bodies = ['rock[0]', 'rock[1]'] }]",
    );
    let shape = |name: &str| {
        let id = built.world.find_body(name).unwrap();
        built.world.iter_shapes().find(|(_, shape)| shape.body == id).unwrap().0
    };
    let touch = |a: &str, b: &str| built.world.can_collide(shape(a), shape(b)).unwrap();
    assert!(touch("rock[0]", "wall") && touch("rock[0]", "rock[1]"));
    assert!(!touch("rock[0]", "rock[2]") && !touch("rock[1]", "rock[2]") && !touch("ghost", "wall"));
    assert!(built.world.shape(shape("ghost")).unwrap().sensor);
}

/// Materials mix by the rules given, and a pair keeps its own numbers.
#[test]
fn materials_mix_as_told() {
    let built = build(
        "[materials.a]\nrestitution = 0.2\n[materials.b]\nrestitution = 0.8\n[materials.default]\nrestitution = 0.5\n\
         [[body]]\nname = 'a'\nmaterial = 'a'\nshape = { type = 'sphere', radius = 1 }\n\
         [[body]]\nname = 'b'\nmaterial = 'a'\nshape = { type = 'sphere', radius = 1, material = 'b' }\n\
         [[body]]\nname = 'c'\nshape = { type = 'sphere', radius = 1 }\n\
         [mixing]\nrestitution = 'maximum'\npair = [{ materials = ['b', 'a'], restitution = 0.3, static_friction = 0.7 }]",
    );
    let shapes: Vec<_> = built.world.iter_shapes().map(|(id, _)| id).collect();
    let mixed = |i: usize, k: usize| built.world.combined_material(shapes[i], shapes[k]).unwrap();
    assert_eq!((mixed(0, 1).restitution, mixed(0, 1).static_friction), (0.3, 0.7));
    assert_eq!(mixed(0, 1).kinetic_friction, 0.5);
    assert_eq!((mixed(0, 2).restitution, mixed(1, 2).restitution), (0.5, 0.8));
}

/// A force acts on the bodies it names: all, some, a group.
#[test]
fn forces_find_their_bodies() {
    let mut built = build(
        "gravity = 'none'\n\
         [[body]]\nname = 'a'\nmass = 1\ngroups = ['light']\nshape = { type = 'sphere', radius = 1 }\nrepeat = { count = 2 }\n\
         [[body]]\nname = 'b'\nmass = 1\nshape = { type = 'sphere', radius = 1 }\n\
         [[force]]\ntype = 'point-force'\non = ['a[1]', 'a[1]']\nforce = [1, 0, 0]\n\
         [[force]]\ntype = 'point-force'\ngroup = 'light'\nforce = [0, 1, 0]\n\
         [[force]]\ntype = 'point-force'\nforce = [0, 0, 1]",
    );
    built.simulator.step(&mut built.world, 1.0).unwrap();
    for (name, velocity) in [("a[0]", [0.0, 1.0, 1.0]), ("a[1]", [1.0, 1.0, 1.0]), ("b", [0.0, 0.0, 1.0])] {
        assert!((body(&built, name).velocity() - DVec3::from(velocity)).length() < 1e-15, "{name}");
    }
}

/// The settings of the simulator arrive, and copies of a keyframed body are displaced with their keys.
#[test]
fn simulators_and_copied_paths() {
    let built = build(
        "[simulator]\ntype = 'free-motion'\nintegrator = 'cash-karp'\nrelative_tolerance = 1e-5\n\
         [[body]]\nname = 'arm'\nrepeat = { count = 2, spacing = [0, 0, 3] }\n\
         path = { type = 'keyframes', keys = [{ time = 0, position = [1, 0, 0] }, { time = 1, position = [2, 0, 0] }] }",
    );
    let description = built.simulator.description();
    assert_eq!(description.properties.get("integrator"), Some(&Value::Text("cash-karp".into())));
    assert_eq!(description.properties.get("relative_tolerance"), Some(&Value::Real(1e-5)));
    assert_eq!(body(&built, "arm[0]").status(), Status::Kinematic);
    assert_eq!(body(&built, "arm[1]").position(), DVec3::new(1.0, 0.0, 3.0));
    assert_eq!(body(&built, "arm[1]").velocity(), DVec3::X);
}

/// The scene with all keys builds and steps.
#[test]
fn everything_at_once() {
    let mut built = build(include_str!("everything.toml"));
    assert_eq!(built.world.iter_bodies().count(), 11);
    assert_eq!(built.world.iter_forces().count(), 6);
    for _ in 0..5 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    assert!(built.world.readout().energy().is_finite());
}

/// A circuit and a running surface, in centimetres and degrees.
#[test]
fn circuits_and_surfaces_are_paths() {
    let built = build(
        "[units]\nlength = 'cm'\nangle = 'deg'\n\
         [[body]]\nname = 'a'\npath = { type = 'circuit', cosine = [1, 0, 0], sine = [0, 2, 0], frequency = 3, phase = 180 }\n\
         [[body]]\nname = 'b'\npath = { type = 'surface', velocity = [50, 0, 0], angular_velocity = [0, 0, 180] }\n",
    );
    let pi = std::f64::consts::PI;
    let circuit = Path::Circuit {
        cosine: DVec3::new(0.01, 0.0, 0.0),
        sine: DVec3::new(0.0, 0.02, 0.0),
        frequency: 3.0,
        phase: pi,
    };
    assert_eq!(body(&built, "a").path().unwrap().0, &circuit);
    let surface =
        Path::Surface { velocity: DVec3::new(0.5, 0.0, 0.0), angular_velocity: DVec3::new(0.0, 0.0, pi) };
    assert_eq!(body(&built, "b").path().unwrap().0, &surface);
}

/// Both frictions of a pair may be lower than those of its materials, whichever is given first.
#[test]
fn frictions_of_a_pair_come_in_any_order() {
    for (first, second) in [("static", "kinetic"), ("kinetic", "static")] {
        build(&format!(
            "[[mixing.pair]]\nmaterials = ['default', 'default']\n{first}_friction = 0.1\n{second}_friction = 0.1\n"
        ));
    }
}

/// The example of the page about sandbox scripts: a cube falls by ½ g t (t + h), as Euler's method has it, until it lies on the ground.
#[test]
fn the_sandbox_script_of_the_documentation_works() {
    let page = include_str!("../../../docs/sandbox-scripts.md");
    let script = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let scene = Scene::parse(script, "page.gravitas").unwrap_or_else(|error| panic!("{error}"));
    let mut built = scene.build(&Registry::default()).unwrap();
    let y = |built: &BuiltScene| body(built, "cube").position().y;
    for _ in 0..60 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    assert!((y(&built) - (2.0 - 0.5 * 9.81 * 0.25 * (0.25 + built.dt))).abs() < 1e-6, "{}", y(&built));
    for _ in 0..300 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    assert!((y(&built) - 0.5).abs() < 2e-3, "{}", y(&built));
}

/// A rope from a point of the world to a body: the body hangs at most its length away, and reaches it.
#[test]
fn anchors_of_a_joint_may_lie_apart() {
    let mut built = build(
        "[simulator]\ntype = 'realtime'\n[[body]]\nname = 'bob'\nposition = [0, 0, -0.5]\nshape = { type = 'sphere', radius = 0.1 }\n\
         [[joint]]\ntype = 'distance'\nbodies = ['bob']\nanchors = [[0, 0, 0], [0, 0, -0.5]]\nmax = 2\n",
    );
    for _ in 0..960 {
        built.simulator.step(&mut built.world, built.dt).unwrap();
        assert!(body(&built, "bob").position().length() < 2.05);
    }
    assert!(body(&built, "bob").position().length() > 1.9);
}
