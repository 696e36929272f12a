//! `check` refuses the scenes that `run` refuses, and both name bodies in their messages.

use crate::program;

use program::Folder;

/// Scenes that read and build, but that cannot be run; and words of the refusal.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "[simulator]\ntype = 'impulse'\n\
         [[body]]\nname = 'arm'\nshape = { type = 'sphere', radius = 0.1 }\n\
         [[joint]]\ntype = 'revolute'\nbodies = ['arm']\n",
        &["impulse", "joints", "realtime"],
    ),
    (
        "[[body]]\nname = 'arm'\nshape = { type = 'sphere', radius = 0.1 }\n\
         [[joint]]\ntype = 'revolute'\nbodies = ['arm']\n",
        &["free-motion", "joints"],
    ),
    (
        "[simulator]\ntype = 'impulse'\n\
         [[body]]\nname = 'left ball'\nshape = { type = 'sphere', radius = 0.1 }\n\
         [[body]]\nname = 'right ball'\nposition = [0.15, 0, 0]\nshape = { type = 'sphere', radius = 0.1 }\n",
        &["`left ball`", "`right ball`", "overlap"],
    ),
    ("time_step = 1e-300\n[[body]]\nshape = { type = 'sphere', radius = 0.1 }\n", &["1e-300 s", "steps"]),
    (
        "[[body]]\nname = 'far'\nposition = [0, 0, 1e308]\nshape = { type = 'sphere', radius = 0.1 }\n",
        &["not finite", "`far`"],
    ),
    (
        "[[body]]\nname = 'fast'\nvelocity = [1e200, 0, 0]\nshape = { type = 'sphere', radius = 0.1 }\n",
        &["not finite", "`fast`"],
    ),
];

#[test]
fn what_cannot_run_does_not_pass() {
    for (scene, words) in REFUSED {
        let folder = Folder::with("scene.toml", scene);
        folder.run(&["check", "scene.toml"]).refused(words);
        let ran = folder.run(&["run", "scene.toml", "--for", "0.1"]);
        assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
        for word in *words {
            // The number of steps follows from how long the run is.
            assert!(ran.complaints.contains(word), "no `{word}` in: {}", ran.complaints);
        }
    }
}

/// A run in which numbers become non-finite ends with an error.
#[test]
fn a_run_that_ends_beyond_numbers_fails() {
    let scene = "time_step = 0.01\nduration = 1\n\
        [[body]]\nname = 'rocket'\nvelocity = [1e153, 0, 0]\nmass = 1.0\nshape = { type = 'sphere', radius = 0.1 }\n\
        [[force]]\ntype = 'point-force'\non = 'rocket'\nforce = [1e156, 0, 0]\n";
    let folder = Folder::with("scene.toml", scene);
    folder.run(&["check", "scene.toml"]).fine();
    folder.run(&["run", "scene.toml"]).failed(&["not finite", "`rocket`"]);
}

/// Names of the release before are read, and every command that reads the scene warns with the new name and the place.
#[test]
fn old_names_are_warned_of() {
    let scene =
        "duration = 0.02\n[[body]]\nname = 'ground'\nstatus = 'fixed'\nshape = { type = 'half-space' }\n";
    let folder = Folder::with("scene.toml", scene);
    let warned = |arguments: &[&str]| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.complaints.contains("scene.toml:4:10: warning: status `fixed`"), "{ran:?}");
        assert!(ran.complaints.contains("`static`"), "{ran:?}");
    };
    warned(&["check", "scene.toml"]);
    warned(&["run", "scene.toml"]);
    warned(&["convert", "scene.toml", "new.toml"]);
    folder.run(&["run", "scene.toml", "--quiet"]).fine();
    assert!(folder.text("new.toml").contains("status = \"static\""));
    folder.run(&["check", "new.toml"]).fine();
    let components = folder.run(&["components", "joint"]).fine();
    assert!(components.contains("fixed") && !components.contains("rigid"), "{components}");
    let properties = folder.run(&["components", "joint", "wheel"]).fine();
    assert!(properties.contains("max_torque") && !properties.contains("effort"), "{properties}");
}

#[test]
fn values_are_shown_as_they_stand_in_the_file() {
    let scene = "[materials.steel]\nrestitution = 1.5\n";
    let ran = Folder::with("scene.toml", scene).run(&["check", "scene.toml"]);
    assert!(ran.complaints.contains("1.5") && !ran.complaints.contains("Real"), "{ran:?}");
}

/// Meshes outside of the scene's folder are read by every command only where that is allowed.
#[test]
fn files_outside_need_to_be_allowed() {
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let folder = Folder::with("outside.obj", mesh);
    std::fs::create_dir(folder.path("scene")).unwrap();
    let scene = "duration = 0.1\n[[body]]\nshape = { type = 'mesh', file = '../outside.obj' }\n";
    std::fs::write(folder.path("scene/scene.toml"), scene).unwrap();
    for command in [
        &["check", "scene/scene.toml"][..],
        &["run", "scene/scene.toml"],
        &["render", "scene/scene.toml", "--png", "a.png", "--size", "20x20"],
        &["convert", "scene/scene.toml", "scene/b.toml"],
        &["compare", "scene/scene.toml", "--simulators", "free-motion"],
    ] {
        folder.run(command).refused(&["../outside.obj", "--allow-outside", "scene.toml:3:"]);
        let allowed: Vec<&str> = command.iter().copied().chain(["--allow-outside"]).collect();
        folder.run(&allowed).fine();
    }
    folder.run(&["view", "scene/scene.toml", "--no-open"]).refused(&["--allow-outside"]);
}
