//! Scenes by program: the same as by hand, and nothing that a script should not do.

use proptest::prelude::*;
use rattleback_dynamics::Registry;
use rattleback_scene::Scene;

const TOWER: &str = r#"
// A tower of boxes, each a little smaller.
fn crate_at(level, half) {
    #{
        name: `crate ${level}`,
        position: [0, 0, (2 * level + 1) * half],
        shape: #{ type: "box", half_extents: [half, half, half] },
    }
}

set("title", "A tower");
set("gravity", [0, 0, -9.81]);
simulator(#{ type: "realtime" });
material("wood", #{ static_friction: 0.5, kinetic_friction: 0.4 });
body(#{ name: "floor", status: "static", shape: #{ type: "half-space" } });
for level in 0..5 {
    let box = crate_at(level, 0.25);
    box.material = "wood";
    body(box);
}
force(#{ type: "drag", on: "crate 4", linear: 0.1 });
"#;

#[test]
fn a_script_says_what_a_file_would() {
    let scene = Scene::parse(TOWER, "tower.rhai").unwrap();
    let built = scene.build(&Registry::default()).unwrap();
    assert_eq!((built.title.as_str(), built.world.bodies().len()), ("A tower", 6));
    let top = built.world.find_body("crate 4").unwrap();
    assert!((built.world.body(top).unwrap().position().z - 2.25).abs() < 1e-12);
    // As TOML it is the same scene again.
    let toml = scene.to_toml();
    let again = Scene::parse(&toml, "tower.toml").unwrap();
    assert_eq!(again.to_toml(), toml);
    let built = again.build(&Registry::default()).unwrap();
    let poses = |built: &rattleback_scene::BuiltScene| -> Vec<_> {
        built.world.iter_bodies().map(|body| body.pose()).collect()
    };
    assert_eq!(poses(&built), poses(&built));
}

fn refusal(script: &str) -> String {
    let built =
        Scene::parse(script, "a.rhai").and_then(|scene| scene.build(&Registry::default()).map(|_| ()));
    built.unwrap_err().to_string()
}

#[test]
fn errors_name_the_line_of_the_script() {
    for (script, line, words) in [
        ("let x = ;", "a.rhai:1:9", "Unexpected"),
        ("set(\"title\", \"a\");\nbody(#{ shpae: 3 });", "a.rhai:2:", "did you mean `shape`"),
        ("\n\nbody(#{ shape: #{ type: \"sphere\", radius: -1 } });", "a.rhai:3:", "radius"),
        ("set(\"title\", 1);\n", "a.rhai:1:", "title"),
        ("set(\"title\", \"a\");\nset(\"title\", \"b\");", "a.rhai:2:", "already"),
        ("fn f() {\n  no_such_function(1)\n}\nf();", "a.rhai:2:", "no_such_function"),
        ("set(\"seed\", 0.0 / 0.0);", "a.rhai:1:", "finite"),
        ("throw \"not today\";", "a.rhai:1:", "not today"),
        ("simulator(#{ type: \"magic\" });", "a.rhai:1:", "magic"),
    ] {
        let message = refusal(script);
        assert!(message.contains(line) && message.contains(words), "{script}: {message}");
    }
}

/// Loops without end, memory without end, calls without end: each is stopped, and its line named.
#[test]
fn what_does_not_end_is_stopped_and_named() {
    for (script, line) in [
        ("let x = 0;\nloop { x += 1; }", "a.rhai:2:"),
        ("\nwhile true { }", "a.rhai:2:"),
        // The call that went too deep.
        ("fn f(n) {\n  f(n + 1)\n}\nf(0);", "a.rhai:4:"),
        ("let s = \"x\";\nloop {\n  s += s;\n}", "a.rhai:3:"),
        ("let a = [1];\nloop {\n  a += a;\n}", "a.rhai:3:"),
        ("let a = [];\nloop {\n  a.push(\"xxxxxxxxxxxxxxxx\");\n}", "a.rhai:3:"),
        ("let m = #{};\nlet i = 0;\nloop {\n  m[`${i}`] = i; i += 1;\n}", "a.rhai:4:"),
        ("let a = [0];\na.pad(1000000000, 0);", "a.rhai:2:"),
        ("loop {\n  body(#{ position: [0, 0, 0] });\n}", "a.rhai:2:"),
    ] {
        let began = std::time::Instant::now();
        let message = refusal(script);
        assert!(message.contains(line), "{script}: {message}");
        assert!(began.elapsed().as_secs() < 30, "{script} took {:?}", began.elapsed());
    }
}

#[test]
fn scripts_reach_nothing_outside() {
    for script in [
        "import \"/etc/passwd\" as p;",
        "eval(\"1\");",
        "open(\"/etc/passwd\");",
        "let t = timestamp();",
        "read_file(\"/etc/passwd\");",
    ] {
        assert!(refusal(script).contains("a.rhai:1:"), "{script}");
    }
}

#[test]
fn random_numbers_are_the_same_every_time() {
    let script = "for i in 0..3 { body(#{ position: [random(), random(), random()] , shape: #{ type: \"sphere\", radius: 0.1 } }); }";
    let positions = || -> Vec<_> {
        let built = Scene::parse(script, "a.rhai").unwrap().build(&Registry::default()).unwrap();
        built.world.iter_bodies().map(|body| body.position()).collect()
    };
    let first = positions();
    assert_eq!(first, positions());
    assert!(first.iter().all(|p| p.min_element() >= 0.0 && p.max_element() < 1.0));
    assert_ne!(first[0], first[1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No text makes the engine panic or hang.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9#{}\\[\\](),;:=+\\-\" \n.|]{0,80}") {
        let _ = Scene::parse(&text, "a.rhai");
    }
}
