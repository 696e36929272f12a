//! Opening a scene, with its warnings.

use crate::arguments::SceneFiles;
use crate::failure::Failure;
use rattleback_dynamics::Registry;
use rattleback_scene::{BuiltScene, Scene, SceneWarning};
use std::io::{self, Write};

/// (path of a file or name of a built-in scene, which files it may read) ⇒ scene. Its warnings go to standard error.
pub fn open(name: &str, files: SceneFiles) -> Result<Scene, Failure> {
    let scene = open_quietly(name, files)?;
    print(scene.warnings());
    Ok(scene)
}

/// Builds a scene. What its simulator ignores or refuses goes to standard error.
pub fn build(scene: &Scene, registry: &Registry) -> Result<BuiltScene, Failure> {
    let built = scene.build(registry).map_err(Failure::input)?;
    // Those of the scene itself come first and were printed when it was opened.
    print(built.warnings.get(scene.warnings().len()..).unwrap_or_default());
    Ok(built)
}

fn print(warnings: &[SceneWarning]) {
    for warning in warnings {
        // A closed standard error is no reason to stop.
        let _ = writeln!(io::stderr(), "{warning}");
    }
}

/// The same without warnings.
pub fn open_quietly(name: &str, files: SceneFiles) -> Result<Scene, Failure> {
    Scene::open_with(name, files.access()).map_err(Failure::input)
}
