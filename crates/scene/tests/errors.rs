//! Every kind of mistake is reported at the line and column of the very thing, with what is allowed.

use rattleback_dynamics::Registry;
use rattleback_scene::{Problem, Scene, SceneError};

/// What a scene is refused with: parsed if it can be, else built.
fn error(text: &str) -> SceneError {
    let built = Scene::parse(text, "scene.toml").and_then(|scene| scene.build(&Registry::default()));
    match built {
        Err(error) => error,
        Ok(_) => panic!("this was accepted:\n{text}"),
    }
}

/// A text with one `«…»` around what is wrong, and a part of the message.
#[track_caller]
fn refuses(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').unwrap();
    let (culprit, after) = rest.split_once('»').unwrap();
    let error = error(&format!("{before}{culprit}{after}"));
    let place = error.place().unwrap_or_else(|| panic!("no place: {error}"));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    assert_eq!((place.line, place.column), (line, column), "{error}");
    let first_line = culprit.lines().next().unwrap_or_default().chars().count().max(1);
    assert_eq!(place.width, first_line, "{error}");
    let shown = error.to_string();
    assert!(shown.starts_with(&format!("scene.toml:{line}:{column}: ")), "{shown}");
    assert!(shown.contains(message), "{shown}");
}

#[test]
fn the_message_shows_the_line_and_a_caret() {
    let shown = error("title = 'x'\ngravitiy = [0, 0, -1]\n").to_string();
    let expected = "scene.toml:2:1: unknown key `gravitiy` in the scene, did you mean `gravity`?; allowed: title, \
                    description, include, defaults, gravity, time_step, duration, seed, units, plot, simulator, \
                    materials, body, force, joint, multibody, bounds, filter, mixing\n2 | gravitiy = [0, 0, -1]\n  | ^^^^^^^^";
    assert_eq!(shown, expected);
}

#[test]
fn syntax() {
    refuses("title = 'x'\n[body«»", "unclosed");
    refuses("title = «»", "");
    refuses("a = 1\n«a» = 2", "duplicate key");
    refuses("seed = «1979-05-27»", "a date or time has no meaning");
    refuses("duration = «nan»", "must be finite");
    refuses("[[body]]\nposition = [0, «inf», 0]", "must be finite");
    refuses("duration = «1e999»", "must be finite");
    refuses("seed = «99999999999999999999»", "whole number");
}

#[test]
fn unknown_keys_everywhere() {
    for (text, hint) in [
        ("«colour» = 1", "allowed: title"),
        ("[units]\n«lenght» = 'mm'", "did you mean `length`"),
        ("[simulator]\ntype = 'free-motion'\n«integrater» = 'midpoint'", "did you mean `integrator`"),
        (
            "[simulator]\ntype = 'free-motion'\nintegrator = 'splitting'\n«relative_tolerance» = 1e-6",
            "splitting",
        ),
        ("[materials.steel]\n«bounce» = 1", "allowed: restitution"),
        ("[[body]]\n«pos» = [0, 0, 0]", "unknown key `pos` in body"),
        ("[[body]]\nshape = { type = 'sphere', radius = 1, «raduis» = 2 }", "did you mean `radius`"),
        ("[[body]]\norientation = { «axes» = [1, 0, 0] }", "did you mean `axis`"),
        (
            "[[body]]\nmass_properties = { mass = 1, inertia = [1, 1, 1], «centre» = [0, 0, 0] }",
            "did you mean `center`",
        ),
        ("[[body]]\nmass_model = { type = 'exact', «segments» = 3 }", "exact mass model"),
        ("[[body]]\npoint_masses = [{ mass = 1, position = [0, 0, 0], «size» = 1 }]", "a point mass"),
        ("[[body]]\npath = { type = 'steady', «frequency» = 1 }", "a steady path"),
        ("[[body]]\npath = { type = 'keyframes', keys = [{ time = 0, «pose» = 1 }] }", "a keyframe"),
        ("[[body]]\nrepeat = { count = 2, «gap» = 1 }", "allowed: count"),
        ("[[force]]\ntype = 'gravity'\n«strength» = 1", "allowed: acceleration"),
        ("[[force]]\ntype = 'drag'\nlinear = { «sine» = 1 }", "allowed: harmonic, table"),
        (
            "[[force]]\ntype = 'drag'\nlinear = { harmonic = { amplitude = 1, frequency = 1, «offset» = 1 } }",
            "mean",
        ),
        ("[bounds]\nmin = [0, 0, 0]\n«maximum» = [1, 1, 1]", "allowed: min, max"),
        ("[filter]\n«deny» = []", "allowed: default, forbid, allow"),
        ("[filter]\nforbid = [{ «names» = [] }]", "a filter rule"),
        ("[mixing]\n«bounce» = 'mean'", "allowed: restitution"),
        ("[[mixing.pair]]\nmaterials = ['default', 'default']\n«bounce» = 1", "a mixing pair"),
    ] {
        refuses(text, hint);
    }
}

#[test]
fn wrong_types() {
    for (text, hint) in [
        ("title = «1»", "`title` takes a string, not a whole number"),
        ("gravity = «9.81»", "three numbers"),
        ("gravity = [0, 0, «'down'»]", "a number, not a string"),
        ("gravity = «[0, -9.81]»", "three numbers [x, y, z], not 2 values"),
        ("body = «1»", "a list of tables"),
        ("body = [{}, «1»]", "a table"),
        ("seed = «1.5»", "a whole number"),
        ("materials = «[]»", "a table"),
        ("[materials]\nsteel = «1»", "a table"),
        ("[[body]]\ncan_sleep = «1»", "true or false"),
        ("[[body]]\norientation = «[1, 0, 0]»", "a quaternion [w, x, y, z]"),
        ("[[body]]\ndamping = «[1, 2, 3]»", "[linear, angular]"),
        ("[[body]]\nmass_properties = { mass = 1, inertia = «[1, 2]» }", "9 (row by row)"),
        ("[[body]]\nshape = «'sphere'»", "a table"),
        ("[[body]]\nshape = { type = 'sphere', radius = «'big'» }", "a number"),
        ("[[body]]\nshape = { type = 'convex', vertices = [[0, 0, 0], «[1, 0]»] }", "three numbers"),
        ("[[body]]\nshape = { type = 'mesh', vertices = [], faces = [[0, 1, «1.5»]] }", "a whole number"),
        ("[[force]]\ntype = 'gravity'\nacceleration = «'down'»", "harmonic"),
        ("[[force]]\ntype = 'drag'\nlinear = «[1]»", "a number"),
        ("[[force]]\ntype = 'drag'\nlinear = { table = [[0, 1], «[1]»] }", "pairs [time, value]"),
        ("[[force]]\ntype = 'drag'\non = [«1»]", "a string"),
        ("plot = [«1»]", "a string"),
        ("[filter]\nforbid = [{ bodies = «['a']» }]", "two names"),
        ("[[joint]]\ntype = 'distance'\nbodies = ['a']\nanchors = «[0, 0, 0]»", "two points"),
        ("include = «3»", "a string"),
        ("defaults = «3»", "a table"),
    ] {
        refuses(text, hint);
    }
}

#[test]
fn values_out_of_range() {
    for (text, hint) in [
        ("time_step = «0»", "must be > 0; got 0"),
        ("duration = «-1.0»", "must be > 0; got -1"),
        ("seed = «-1»", "in [0, "),
        ("[[body]]\nname = «''»", "a name without brackets"),
        ("[[body]]\nname = «'world'»", "not `world`"),
        ("[[body]]\nname = «'a[1]'»", "brackets"),
        ("[[body]]\norientation = «[0, 0, 0, 0]»", "not zero"),
        ("[[body]]\norientation = { axis = «[0, 0, 0]», angle = 1 }", "not zero"),
        ("[[body]]\ndamping = [0, «-1»]", "≥ 0"),
        ("[[body]]\ndensity = «0»", "> 0"),
        ("[[body]]\nmass = «-2»", "> 0"),
        (
            "[[body]]\nmass_properties = { mass = 1, inertia = «[1, 1, 3]» }",
            "one exceeds the sum of the other two",
        ),
        ("[[body]]\nmass_model = { type = 'sampled', resolution = «0» }", "in [1, 256]"),
        ("[[body]]\nrepeat = { count = [2, «0», 2] }", "in [1, "),
        ("[[body]]\nrepeat = { count = 2, jitter = «-1» }", "≥ 0"),
        ("[[body]]\nrepeat = { count = 2, scale = [2, «1»] }", "at least the smallest"),
        ("[[body]]\nshape = { type = 'sphere', radius = «-1» }", "`radius` must be > 0; got -1"),
        ("[[body]]\nshape = { type = 'box', half_extents = [1,\n  1,\n  «0.0»] }", "> 0; got 0"),
        ("[[body]]\nshape = { type = 'half-space', normal = «[0, 0, 0]» }", "not zero"),
        ("[[body]]\npath = { type = 'keyframes', keys = «[]» }", "at least one keyframe"),
        ("[[body]]\npath = { type = 'keyframes', keys = [{ time = 1 }, { time = «1» }] }", "later than"),
        ("[materials.rubber]\nrestitution = «1.5»", "in [0, 1]"),
        ("[materials.ice]\nstatic_friction = «0.1»", "at most static_friction = 0.1"),
        ("[[force]]\ntype = 'drag'\nlinear = «-1»", "≥ 0"),
        (
            "[[force]]\ntype = 'drag'\nlinear = «{ harmonic = { mean = 1, amplitude = 2, frequency = 1 } }»",
            "≥ 0",
        ),
        ("[[force]]\ntype = 'drag'\nlinear = { table = [[0, 1], [«0», 2]] }", "later than"),
        ("[[force]]\ntype = 'drag'\nlinear = { table = «[]» }", "at least one pair"),
        ("«[bounds]»\nmin = [1, 0, 0]\nmax = [0, 1, 1]", "bounds"),
    ] {
        refuses(text, hint);
    }
}

#[test]
fn unknown_names() {
    let two = "[[body]]\nname = 'ball'\nmass = 1\nshape = { type = 'sphere', radius = 1 }\n";
    let many = "[[body]]\nname = 'bead'\nshape = { type = 'sphere', radius = 1 }\nrepeat = { count = 3 }\n";
    for (text, hint) in [
        ("gravity = «'nome'»".to_owned(), "did you mean `none`"),
        ("[units]\nlength = «'furlong'»".to_owned(), "known: m, cm, mm, um, km, in, ft"),
        ("[units]\nangle = «'grad'»".to_owned(), "known: rad, deg"),
        ("[simulator]\ntype = «'impuls'»".to_owned(), "known: constraint, free-motion"),
        (
            "[simulator]\ntype = 'free-motion'\nintegrator = «'runge-kutta-5'»".to_owned(),
            "did you mean `runge-kutta-",
        ),
        ("[[body]]\nstatus = «'frozen'»".to_owned(), "known: dynamic, static, kinematic, disabled"),
        ("[[body]]\nshape = { type = «'sfere'», radius = 1 }".to_owned(), "did you mean `sphere`"),
        ("[[body]]\nmaterial = «'steal'»\n[materials.steel]\n".to_owned(), "did you mean `steel`"),
        ("[[body]]\ncollision_mask = [«'walls'»]".to_owned(), "known: default"),
        ("[[body]]\nmass_model = «'hollow'»".to_owned(), "known: exact, sampled, surface"),
        ("[[body]]\npath = { type = «'circle'» }".to_owned(), "known: steady"),
        ("[[force]]\ntype = «'springs'»".to_owned(), "did you mean `spring`"),
        ("[[force]]\ntype = 'vortex'\nfalloff = «'square'»".to_owned(), "one of linear, none"),
        (format!("{two}[[force]]\ntype = 'drag'\non = ['ball', «'bal'»]"), "did you mean `ball`"),
        (format!("{two}[[force]]\ntype = 'drag'\non = «'ball[0]'»"), "`ball`, which is one body"),
        (format!("{two}[[force]]\ntype = 'drag'\ngroup = «'balls'»"), "unknown group"),
        (format!("{two}[[force]]\ntype = 'spring'\nbody_b = «'box'»"), "unknown body `box`"),
        (format!("{many}[[force]]\ntype = 'spring'\nbody_b = «'bead'»"), "`bead[0]` … `bead[2]`"),
        (format!("{many}[[force]]\ntype = 'spring'\nbody_b = «'bead[3]'»"), "`bead[0]` … `bead[2]`"),
        (format!("plot = ['energy', «'bal.x'»]\n{two}"), "did you mean `ball`"),
        ("plot = [«'entropy'»]".to_owned(), "known: energy"),
        ("[filter]\ndefault = «'deny'»".to_owned(), "known: allow, forbid"),
        ("[filter]\nforbid = [{ body = «'missing'» }]".to_owned(), "unknown body"),
        ("[filter]\nallow = [{ groups = ['default', «'rocks'»] }]".to_owned(), "unknown group"),
        ("[mixing]\nfriction = «'median'»".to_owned(), "known: mean, geometric-mean"),
        ("[[mixing.pair]]\nmaterials = ['default', «'glass'»]".to_owned(), "unknown material"),
    ] {
        refuses(&text, hint);
    }
}

#[test]
fn missing_keys_point_at_what_lacks_them() {
    refuses("[[body]]\nshape = «{ radius = 1 }»", "shape needs `type`");
    refuses("[[body]]\nshape = { type = «'sphere'» }", "`sphere` needs `radius` (Radius)");
    refuses("[[body]]\nmass_properties = «{ mass = 1 }»", "needs `inertia`");
    refuses("[[body]]\norientation = «{ angle = 1 }»", "needs `axis`");
    refuses("[[body]]\npath = «{ velocity = [0, 0, 0] }»", "needs `type`");
    refuses("[[body]]\nrepeat = «{ spacing = [0, 0, 1] }»", "needs `count`");
    refuses("«[[force]]»\nname = 'x'", "force needs `type`");
    refuses("«[simulator]»\nintegrator = 'splitting'", "simulator needs `type`");
    refuses("«[bounds]»\nmin = [0, 0, 0]", "needs `max`");
}

#[test]
fn duplicates_and_conflicts() {
    let body = "[[body]]\nname = 'a'\nmass = 1\nshape = { type = 'sphere', radius = 1 }\n";
    refuses(&format!("{body}[[body]]\nname = «'a'»"), "there is a body called `a` already");
    refuses(
        &format!("{body}[[force]]\ntype = 'drag'\nname = 'x'\n[[force]]\ntype = 'drag'\nname = «'x'»"),
        "a force called",
    );
    refuses("[[force]]\ntype = 'drag'\nname = «'gravity'»", "there is a force called `gravity` already");
    refuses("[[body]]\ndensity = 1\nmass = «2»", "exclude each other");
    refuses("[[body]]\nstatus = «'static'»\npath = { type = 'steady' }", "only a kinematic one");
    refuses("[[force]]\ntype = 'drag'\non = 'a'\ngroup = «'b'»", "exclude each other");
    refuses("[filter]\nforbid = [«{ body = 'a', group = 'b' }»]", "exactly one of");
    refuses(
        "[[body]]\nmass_properties = { mass = 1, inertia = [1, 1, 1] }\nrepeat = «{ count = 2, scale = [1, 2] }»",
        "does not go with",
    );
}

#[test]
fn what_the_engine_refuses_is_shown_where_it_stood() {
    refuses("[[body]]\nname = «'ghost'»", "body `ghost`");
    refuses("«[[body]]»\nstatus = 'dynamic'", "body");
    refuses("[[body]]\nmass = «1»\nshape = { type = 'half-space' }", "");
    refuses("[[body]]\nshape = { type = «'convex'», vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }", "");
    refuses("[[force]]\ntype = «'spring'»\nbody_a = 'world'\nbody_b = 'world'", "two different bodies");
    refuses(
        "[[mixing.pair]]\nmaterials = ['default', 'default']\nstatic_friction = «0.1»",
        "kinetic_friction is at most static_friction",
    );
}

#[test]
fn limits() {
    refuses("[[body]]\nrepeat = { count = «[1000, 1000, 1000]» }", "at most 5000000");
    refuses(
        "[[body]]\nmass_model = { type = 'sampled', resolution = 256 }\nshape = { type = 'sphere', radius = 1 }\n\
         repeat = { count = «1000» }",
        "mass integrals",
    );
    refuses(
        "[[body]]\nrepeat = { count = «[9223372036854775807, 9223372036854775807, 2]» }",
        "more than can be counted",
    );
    let half = "[[body]]\nrepeat = { count = 3000000 }\n";
    refuses(&format!("{half}[[body]]\nrepeat = {{ count = «3000000» }}"), "bodies: 6000000");
    let path = (0..10).map(|i| format!("{{ time = {i} }}")).collect::<Vec<_>>().join(", ");
    let keys = format!("path = {{ type = 'keyframes', keys = [{path}] }}");
    refuses(&format!("[[body]]\n{keys}\nrepeat = {{ count = «4000000» }}"), "path points");
    let corners = (0..5000).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let mesh = format!("vertices = [[0, 0, 0]], faces = [[{corners}]]");
    refuses(&format!("[[body]]\nshape = {{ type = «'mesh'», {mesh} }}"), "corners of a face: 5000");
    let copies = "[[body]]\nname = 'a'\nstatus = 'static'\nrepeat = { count = 2000 }\n";
    refuses(&format!("{copies}[filter]\nforbid = [{{ bodies = ['a', «'a'»] }}]"), "name groups instead");
    let groups: Vec<String> = (0..63).map(|i| format!("'g{i}'")).collect();
    refuses(&format!("[[body]]\ngroups = [{}, «'last'»]", groups.join(", ")), "at most 64");
    let long = " ".repeat(rattleback_scene::MAX_SCENE_BYTES as usize + 1);
    assert!(matches!(Scene::parse(&long, "x"), Err(SceneError::TooLarge { .. })));
}

/// Brackets within brackets are refused before they fill the stack.
#[test]
fn depth() {
    for n in [100, 10_000, 100_000] {
        for text in [
            format!("a = {}", "[".repeat(n)),
            format!("a = {}{}", "[".repeat(n), "]".repeat(n)),
            format!("a = {}", "{a = ".repeat(n)),
            format!("{}a = 1", "a.".repeat(n)),
            format!("[{}a]", "a.".repeat(n)),
            format!("{}a = 1 {}", "a = { b".repeat(n), "}".repeat(n)),
        ] {
            let error = error(&text);
            assert!(error.place().is_some(), "{}", error.to_string().len());
        }
    }
}

#[test]
fn mesh_files() {
    refuses("[[body]]\nshape = { type = 'mesh', file = «'no-such-file.obj'» }", "no-such-file.obj");
    refuses("[[body]]\nshape = { type = 'sphere', file = «'part.obj'» }", "is not made of vertices");
    refuses("[[body]]\nshape = { type = 'mesh', file = 'x.obj', «vertices» = [] }", "allowed: file, scale");
    refuses("[[body]]\nshape = { type = 'mesh', file = 'x.obj', scale = «0» }", "> 0");
}

#[test]
fn names_of_scenes() {
    let error = Scene::built_in("tenis-racket").unwrap_err();
    assert!(error.to_string().contains("did you mean `tennis-racket`"), "{error}");
    assert!(matches!(Scene::open("swarn"), Err(SceneError::UnknownScene { .. })));
    assert!(matches!(Scene::open("no/such/scene.toml"), Err(SceneError::Io { .. })));
    assert!(Scene::open("swarm").is_ok());
}

/// A file wins over a built-in scene, its meshes are found beside it, and text that is not UTF-8 is refused in place.
#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("rattleback-scene-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cube = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nv 0 0 10\nv 10 0 10\nv 10 10 10\nv 0 10 10\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    std::fs::write(folder.join("cube.obj"), cube).unwrap();
    let text = "units = { length = 'mm', mass = 'g' }\n[[body]]\nname = 'part'\ndensity = 0.001\n\
                shape = { type = 'mesh', file = 'cube.obj', scale = [1, 2, 3] }\n\
                [[body]]\nname = 'hull'\nshape = { type = 'convex', file = 'cube.obj' }\n";
    let path = folder.join("part.toml");
    std::fs::write(&path, text).unwrap();
    let built = Scene::open(path.to_str().unwrap()).unwrap().build(&Registry::default()).unwrap();
    let part = built.world.body(built.world.find_body("part").unwrap()).unwrap();
    // 10 × 20 × 30 mm³ of water: 6 g, centre at half of each.
    assert!((part.mass() - 6e-3).abs() < 1e-12);
    assert!((part.center_of_mass() - glam::DVec3::new(0.005, 0.01, 0.015)).length() < 1e-12);
    let hull = built.world.body(built.world.find_body("hull").unwrap()).unwrap();
    assert!((hull.mass() - 1e-3).abs() < 1e-12);

    std::fs::write(&path, b"title = 'x'\nbody = '\xFF'").unwrap();
    let error = Scene::load(&path).unwrap_err();
    assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 9)), "{error}");
    assert!(matches!(error.problem(), Some(Problem::Syntax(_))));
    assert!(matches!(Scene::load(&folder), Err(SceneError::Io { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}
