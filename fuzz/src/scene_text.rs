//! What holds for any text that is read as a scene.

use std::sync::LazyLock;

use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, SceneError};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

/// Reads a scene, writes it and reads it again, then builds it unless one of the `slow` words occurs in it: errors
/// have places, and what was written reads back.
pub fn check_scene(text: &str, name: &str, slow: &[&str]) {
    let scene = match Scene::parse(text, name) {
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
    if !slow.iter().any(|word| text.contains(word))
        && let Err(error) = scene.build(&REGISTRY)
    {
        assert!(error.place().is_some(), "an error without a place: {error}");
    }
}
