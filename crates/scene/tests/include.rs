//! Scenes in several files, and defaults by name.

use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, SceneError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder with these files in it, that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            Self(std::env::temp_dir().join(format!("rattleback-include-{}-{count}", std::process::id())));
        for (name, text) in files {
            let path = folder.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn load(&self, name: &str) -> Result<Scene, SceneError> {
        Scene::load(&self.path(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn world(scene: &Scene) -> Vec<u8> {
    scene.build(&Registry::default()).unwrap_or_else(|error| panic!("{error}")).world.snapshot().unwrap()
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

/// Cut into files or in one piece: the same world.
#[test]
fn a_scene_in_three_files_is_the_scene_in_one() {
    let steel = "[materials.steel]\nrestitution = 0.6\n";
    let steel_json = "{ \"materials\": { \"steel\": { \"restitution\": 0.6 } } }";
    let ground =
        "[[body]]\nname = 'ground'\nstatus = 'static'\nmaterial = 'steel'\nshape = { type = 'half-space' }\n";
    let stone = "[[body]]\nname = 'stone'\nposition = [0, 0, 2]\nshape = { type = 'mesh', file = 'FOLDERstone.obj' }\n";
    let ball = "[[body]]\nname = 'ball'\nposition = [0, 0, 5]\nshape = { type = 'sphere', radius = 1 }\n";
    let folder = Folder::with(&[
        ("whole.toml", &format!("duration = 3\n{steel}{ground}{}{ball}", stone.replace("FOLDER", "parts/"))),
        ("cut.toml", &format!("include = ['parts/ground.toml', 'parts/stone.toml']\nduration = 3\n{ball}")),
        ("parts/ground.toml", &format!("include = 'steel.json'\nduration = 9\n{ground}")),
        // Named a second time: taken once.
        ("parts/stone.toml", &format!("include = ['steel.json']\n{}", stone.replace("FOLDER", ""))),
        ("parts/steel.json", steel_json),
        ("parts/stone.obj", TETRAHEDRON),
    ]);
    let (whole, cut) = (folder.load("whole.toml").unwrap(), folder.load("cut.toml").unwrap());
    assert_eq!(world(&cut), world(&whole));
    // The including file takes precedence.
    assert_eq!(cut.build(&Registry::default()).unwrap().duration, 3.0);
    assert!(!cut.to_toml().contains("include"));
    let names: Vec<_> = cut
        .build(&Registry::default())
        .unwrap()
        .world
        .iter_bodies()
        .filter_map(|body| body.name().map(str::to_owned))
        .collect();
    assert_eq!(names, ["ground", "stone", "ball"]);
}

/// An error in an included file names that file and its line.
#[test]
fn mistakes_are_told_in_the_file_they_are_in() {
    let folder = Folder::with(&[
        (
            "a.toml",
            "include = ['b.toml']\n[[body]]\nname = 'x'\nmaterial = 'stone'\nshape = { type = 'sphere', radius = 1 }\n",
        ),
        ("b.toml", "[materials.stone]\n\nrestitution = 1.5\n"),
        ("c.toml", "include = 'd.toml'\n"),
        ("d.toml", "\n\ntitle = = 1\n"),
        ("e.toml", "include = 'f.toml'\n"),
        ("f.toml", "titel = 'x'\n"),
    ]);
    for (name, inner, line, word) in [
        ("a.toml", "b.toml", 3, "in [0, 1]"),
        ("c.toml", "d.toml", 3, ""),
        ("e.toml", "f.toml", 1, "did you mean `title`"),
    ] {
        let error = folder.load(name).and_then(|scene| scene.build(&Registry::default())).err().unwrap();
        let place = error.place().unwrap();
        assert!(Path::new(&place.origin).ends_with(inner) && place.line == line, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// Includes that are refused, with an error at the name in the list: circles, deep nesting, foreign files, other units.
#[test]
fn includes_stay_in_their_folder_and_come_to_an_end() {
    let outside = Folder::with(&[("secret.toml", "title = 'secret'")]);
    let secret = outside.path("secret.toml").display().to_string();
    let tower: Vec<(String, String)> =
        (0..12).map(|k| (format!("t{k}.toml"), format!("include = 't{}.toml'", k + 1))).collect();
    let mut files: Vec<(&str, &str)> = vec![
        ("self.toml", "include = 'self.toml'"),
        ("a.toml", "include = 'b.toml'"),
        ("b.toml", "include = 'a.toml'"),
        ("none.toml", "include = 'nothing.toml'"),
        ("units.toml", "include = 'mm.toml'"),
        ("mm.toml", "units = { length = 'mm' }"),
        ("number.toml", "include = 3"),
        ("folder.toml", "include = 'x.toml'"),
        ("x.toml/inside", ""),
        ("script.toml", "include = 's.rhai'"),
        ("s.rhai", "set(\"include\", \"a.toml\");"),
        ("up.toml", "include = '../x.toml'"),
    ];
    files.extend(tower.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let folder = Folder::with(&files);
    std::fs::write(folder.path("absolute.toml"), format!("include = '{secret}'")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, folder.path("link.toml")).unwrap();
        std::fs::write(folder.path("through.toml"), "include = 'link.toml'").unwrap();
        let message = folder.load("through.toml").unwrap_err().to_string();
        assert!(message.contains("outside"), "{message}");
    }
    std::fs::write(folder.path("../x.toml"), "title = 'x'").ok();
    for (name, word) in [
        ("self.toml", "includes itself"),
        ("a.toml", "includes itself"),
        ("none.toml", "nothing.toml"),
        ("units.toml", "units"),
        ("number.toml", "a string"),
        ("folder.toml", "regular file"),
        ("script.toml", "only .toml and .json"),
        ("up.toml", "outside"),
        ("absolute.toml", "outside"),
        ("t0.toml", "at most 8"),
    ] {
        let error = folder.load(name).unwrap_err();
        assert!(error.place().is_some() && error.to_string().contains(word), "{name}: {error}");
        assert!(!error.to_string().contains("secret'"), "{error}");
    }
    std::fs::remove_file(folder.path("../x.toml")).ok();
    // A script has no access to files.
    assert!(Scene::parse("set(\"include\", [\"a.toml\"]);", "x.rhai").is_err());
}

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::parse(text, "test.toml")
}

/// Bodies, shapes, materials, forces and joints like a default are the same as with all keys written out.
#[test]
fn defaults_fill_in_what_is_not_said() {
    let short = parse(
        "[defaults.body.stone]\ndensity = 2500\nmaterial = 'granite'\nshape = { type = 'box', half_extents = [1, 1, 1] }\n\
         [defaults.body.brick]\nlike = 'stone'\nshape = { like = 'small' }\n\
         [defaults.shape.small]\ntype = 'box'\nhalf_extents = [0.1, 0.2, 0.3]\n\
         [defaults.material.hard]\nrestitution = 0.5\nstatic_friction = 0.9\n\
         [defaults.force.breeze]\ntype = 'drag'\nlinear = 0.5\n\
         [defaults.joint.pin]\ntype = 'revolute'\naxis = [0, 0, 1]\n\
         [materials.granite]\nlike = 'hard'\nrestitution = 0.3\n\
         [[body]]\nlike = 'stone'\nname = 'a'\n\
         [[body]]\nname = 'b'\nlike = 'brick'\nmass = 3\nposition = [5, 0, 0]\n\
         [[force]]\nlike = 'breeze'\non = 'a'\n\
         [[joint]]\nlike = 'pin'\nbodies = ['a', 'b']\norientation = { euler = [1, 0, 0] }\n",
    );
    let long = parse(
        "[materials.granite]\nrestitution = 0.3\nstatic_friction = 0.9\n\
         [[body]]\nname = 'a'\ndensity = 2500\nmaterial = 'granite'\nshape = { type = 'box', half_extents = [1, 1, 1] }\n\
         [[body]]\nname = 'b'\nmass = 3\nposition = [5, 0, 0]\nmaterial = 'granite'\nshape = { type = 'box', half_extents = [0.1, 0.2, 0.3] }\n\
         [[force]]\ntype = 'drag'\nlinear = 0.5\non = 'a'\n\
         [[joint]]\ntype = 'revolute'\nbodies = ['a', 'b']\norientation = { euler = [1, 0, 0] }\n",
    );
    let (short, long) = (short.unwrap_or_else(|error| panic!("{error}")), long.unwrap());
    assert_eq!(world(&short), world(&long));
    let written = short.to_toml();
    assert!(!written.contains("like") && !written.contains("defaults"));
    assert_eq!(world(&parse(&written).unwrap()), world(&short));
}

#[test]
fn defaults_that_are_not_there_or_never_end_are_refused() {
    for (text, line, column, word) in [
        ("[defaults.body.brick]\nmass = 1\n[[body]]\nlike = 'brik'\n", 4, 8, "did you mean `brick`"),
        ("[[body]]\nlike = 'brick'\n", 2, 8, "known: none"),
        ("[[body]]\nlike = 3\n", 2, 8, "a string"),
        ("[defaults.bodies.brick]\nmass = 1\n", 1, 11, "allowed: body, shape"),
        ("[defaults.body]\nmass = 1\n", 2, 8, "a table"),
        (
            "[defaults.body.a]\nlike = 'b'\n[defaults.body.b]\nlike = 'a'\n[[body]]\nlike = 'a'\n",
            6,
            8,
            "like itself",
        ),
        ("[defaults.body.a]\nmaas = 1\n[[body]]\nlike = 'a'\n", 2, 1, "did you mean `mass`"),
        ("[defaults.body.a]\nmass = -1\n[[body]]\nlike = 'a'\n", 2, 8, "> 0"),
    ] {
        let error = parse(text).unwrap_err();
        let place = error.place().unwrap();
        assert_eq!((place.line, place.column), (line, column), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let numbers = "0, ".repeat(500_000);
    let bodies = "[[body]]\nlike = 'a'\n".repeat(10_000);
    let began = std::time::Instant::now();
    let long = format!("[defaults.body.a]\npoint_masses = [{numbers}]\n{bodies}");
    assert!(parse(&long).unwrap_err().to_string().contains("defaults add"));
    // Keys that a table has are not copied from the default.
    let long = format!(
        "[defaults.body.a]\nname = [{numbers}]\n{}",
        "[[body]]\nlike = 'a'\nname = 'x'\n".repeat(10_000)
    );
    assert!(parse(&long).unwrap_err().to_string().contains("already"));
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

/// Whatever a scene names lies in its folder, by name and after links have been followed, unless more is allowed.
#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read_unless_allowed() {
    use rattleback_scene::FileAccess;
    let root = std::env::temp_dir().join(format!("rattleback-outside-{}", std::process::id()));
    let folder = root.join("scene");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    for place in [&root, &folder, &folder.join("below")] {
        std::fs::write(place.join("mesh.obj"), mesh).unwrap();
        std::fs::write(place.join("part.toml"), "title = 'part'").unwrap();
    }
    std::os::unix::fs::symlink(root.join("mesh.obj"), folder.join("link.obj")).unwrap();
    std::os::unix::fs::symlink(&root, folder.join("up")).unwrap();
    std::os::unix::fs::symlink(root.join("part.toml"), folder.join("link.toml")).unwrap();
    let absolute = root.join("mesh.obj").display().to_string();
    let path = folder.join("scene.toml");
    let open = |text: &str, file: &str, access| {
        let path = path.with_file_name(file);
        std::fs::write(&path, text).unwrap();
        Scene::load_with(&path, access)
            .and_then(|scene| scene.build(&Registry::default()).map(|_| ()))
            .map_err(|error| error.to_string())
    };
    let body =
        |file: &str| format!("[[body]]\nstatus = 'static'\nshape = {{ type = 'mesh', file = '{file}' }}");
    let script = |file: &str| {
        format!("body(#{{ status: \"fixed\", shape: #{{ type: \"mesh\", file: \"{file}\" }} }});")
    };
    for inside in ["mesh.obj", "./mesh.obj", "below/mesh.obj", "below/../mesh.obj"] {
        assert_eq!(open(&body(inside), "scene.toml", FileAccess::SceneFolder), Ok(()), "{inside}");
        assert_eq!(open(&script(inside), "scene.rhai", FileAccess::SceneFolder), Ok(()), "{inside}");
    }
    let own = folder.join("mesh.obj").display().to_string();
    for outside in
        ["../mesh.obj", "below/../../mesh.obj", "link.obj", "up/mesh.obj", &absolute, &own, "../nothing.obj"]
    {
        for (text, file) in [(body(outside), "scene.toml"), (script(outside), "scene.rhai")] {
            let refused = open(&text, file, FileAccess::SceneFolder).unwrap_err();
            assert!(refused.contains("--allow-outside") && refused.contains(outside), "{outside}: {refused}");
            if outside != "../nothing.obj" {
                assert_eq!(open(&text, file, FileAccess::Anywhere), Ok(()), "{outside}");
            }
        }
    }
    for outside in ["../part.toml", "link.toml", "up/part.toml", "/etc/passwd.toml"] {
        let text = format!("include = ['{outside}']");
        let refused = open(&text, "scene.toml", FileAccess::SceneFolder).unwrap_err();
        assert!(refused.contains("--allow-outside"), "{outside}: {refused}");
        if outside != "/etc/passwd.toml" {
            assert_eq!(open(&text, "scene.toml", FileAccess::Anywhere), Ok(()), "{outside}");
        }
    }
    std::fs::remove_dir_all(&root).unwrap();
}
