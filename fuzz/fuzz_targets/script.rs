#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_scene::{Scene, SceneError};

// Whatever a script does, it ends, within memory and stack, as a scene or with an error that has a place.
fuzz_target!(|text: &str| {
    match Scene::parse(text, "fuzz.rhai") {
        Ok(scene) => {
            let written = scene.to_toml();
            let again = Scene::parse(&written, "written").expect("what was written can be read");
            assert_eq!(again.to_toml(), written);
        }
        Err(SceneError::Fault(fault)) => {
            assert!(fault.place.line >= 1 && fault.place.column >= 1 && !fault.to_string().is_empty());
        }
        Err(other) => panic!("an error without a place: {other}"),
    }
});
