//! A scene as TOML, as JSON and as a script builds the same world, bit for bit.

use proptest::prelude::*;
use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, built_ins};

const EVERYTHING: &str = include_str!("everything.toml");

fn world(scene: &Scene) -> Vec<u8> {
    let built = scene.build(&Registry::default()).unwrap();
    built.world.snapshot_with(&*built.simulator).unwrap()
}

/// Through JSON and back the text is the same, and so is the world.
#[track_caller]
fn goes_round(text: &str, origin: &str) {
    let scene = Scene::parse(text, origin).unwrap();
    let toml = scene.to_toml();
    let json = scene.to_json();
    let from_json = Scene::parse(&json, "scene.json").unwrap();
    assert_eq!(from_json.to_json(), json, "{origin}");
    assert_eq!(Scene::parse(&toml, "scene.toml").unwrap().to_toml(), toml, "{origin}");
    assert_eq!(
        Scene::parse(&from_json.to_toml(), "scene.toml").unwrap().to_toml(),
        from_json.to_toml(),
        "{origin}"
    );
    if !text.contains("100_000") && !text.contains("count = [100, 100, 10]") {
        assert_eq!(world(&from_json), world(&scene), "{origin}");
    }
}

#[test]
fn every_built_in_scene_goes_round() {
    for scene in built_ins().iter().filter(|scene| scene.name != "swarm") {
        goes_round(scene.text, scene.file);
    }
    goes_round(EVERYTHING, "everything.toml");
}

#[test]
fn scripts_go_round() {
    goes_round(include_str!("sandbox/motor.sandbox"), "motor.sandbox");
    let script = "simulator(#{ type: \"realtime\" });\nfor k in 0..5 {\n  body(#{ name: `b${k}`, position: [random(), 0.5 * k, 1e-7],\n\
                  shape: #{ type: \"sphere\", radius: 0.1 } });\n}";
    goes_round(script, "script.rhai");
}

/// JSON is read by a parser of its own; another one agrees with what is written.
#[test]
fn what_is_written_is_json() {
    let json = Scene::parse(EVERYTHING, "everything.toml").unwrap().to_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["title"], "Everything");
    assert_eq!(value["body"].as_array().unwrap().len(), 11);
    assert_eq!(value["body"][0]["shape"]["radius"], 2);
    // The other reader sorts keys, and materials are numbered in the order of the file: bodies are compared one by one.
    let bodies = |scene: &Scene| -> Vec<_> {
        let built = scene.build(&Registry::default()).unwrap();
        built.world.iter_bodies().map(|body| (body.pose(), body.mass(), body.velocity())).collect()
    };
    let compact = Scene::parse(&value.to_string(), "compact.json").unwrap();
    assert_eq!(bodies(&compact), bodies(&Scene::parse(EVERYTHING, "everything.toml").unwrap()));
}

#[test]
fn mistakes_in_json_are_told_at_their_place() {
    for (text, line, column, message) in [
        ("{\n  \"titel\": \"x\"\n}", 2, 3, "did you mean `title`"),
        ("{ \"duration\": -1 }", 1, 15, "> 0"),
        ("{ \"duration\": null }", 1, 15, "leave out"),
        ("{ \"duration\": 1e999 }", 1, 15, "finite"),
        ("{ \"seed\": 99999999999999999999 }", 1, 11, "whole number"),
        ("{ \"a\": 1, \"a\": 2 }", 1, 11, "duplicate"),
        ("{ \"a\": [1 2] }", 1, 11, "`,` or `]`"),
        ("{ \"a\": [1,] }", 1, 11, "a value is missing"),
        ("{ \"a\" 1 }", 1, 7, "`:`"),
        ("{ a: 1 }", 1, 3, "double quotes"),
        ("{ \"a\": \"\\q\" }", 1, 8, "escape"),
        ("{ \"a\": \"x", 1, 8, "unterminated"),
        ("[]", 1, 1, "an object"),
        ("{} {}", 1, 4, "after the end"),
        ("{ \"a\": 01 }", 1, 8, "as JSON writes it"),
        ("", 1, 1, "a value is missing"),
    ] {
        let error = Scene::parse(text, "a.json").unwrap_err();
        let place = error.place().unwrap();
        assert_eq!((place.line, place.column), (line, column), "{text}: {error}");
        assert!(error.to_string().contains(message), "{text}: {error}");
    }
    let deep = format!("{{ \"a\": {}", "[".repeat(100_000));
    assert!(Scene::parse(&deep, "a.json").unwrap_err().to_string().contains("deep"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Any text is read or refused at a place; what another reader of JSON accepts as an object is never refused for its syntax alone.
    #[test]
    fn any_text(text in "[\\[\\]{}:,\"0-9truefalsn.eE+\\-\\\\ \n]{0,60}") {
        if let Err(error) = Scene::parse(&text, "a.json") {
            prop_assert!(error.place().is_some());
        }
    }

    #[test]
    fn strings_and_numbers_keep_their_value(title in "\\PC{0,40}", x in any::<f64>().prop_filter("finite", |x| x.is_finite()), n in any::<i32>()) {
        let json = serde_json::json!({ "title": title, "body": [{ "name": "a", "status": "static", "position": [x, n, 0] }] });
        let scene = Scene::parse(&json.to_string(), "a.json").unwrap();
        for again in [Scene::parse(&scene.to_json(), "b.json").unwrap(), Scene::parse(&scene.to_toml(), "b.toml").unwrap()] {
            let built = again.build(&Registry::default()).unwrap();
            prop_assert_eq!(&built.title, &title);
            let at = built.world.body(built.world.find_body("a").unwrap()).unwrap().position();
            prop_assert_eq!((at.x, at.y), (x, f64::from(n)));
        }
    }
}
