#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, SceneError};
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

fuzz_target!(|text: &str| {
    let scene = match Scene::parse(text, "fuzz.sandbox") {
        Ok(scene) => scene,
        Err(SceneError::Fault(fault)) => {
            assert!(fault.place.line >= 1 && fault.place.column >= 1 && !fault.to_string().is_empty());
            return;
        }
        Err(other) => panic!("an error without a place: {other}"),
    };
    let written = scene.to_toml();
    let again = Scene::parse(&written, "written.toml").expect("what was written can be read");
    assert_eq!(again.to_toml(), written);
    if !text.contains("File")
        && let Err(error) = scene.build(&REGISTRY)
    {
        assert!(error.place().is_some(), "an error without a place: {error}");
    }
});
