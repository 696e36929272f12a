//! Opening a scene, with its warnings.

use crate::arguments::SceneFiles;
use crate::failure::Failure;
use rattleback_scene::Scene;
use std::io::{self, Write};

/// (path of a file or name of a built-in scene, which files it may read) ⇒ scene. Its warnings go to standard error.
pub fn open(name: &str, files: SceneFiles) -> Result<Scene, Failure> {
    let scene = open_quietly(name, files)?;
    for warning in scene.warnings() {
        // A closed standard error is no reason to stop.
        let _ = writeln!(io::stderr(), "{warning}");
    }
    Ok(scene)
}

/// The same without warnings.
pub fn open_quietly(name: &str, files: SceneFiles) -> Result<Scene, Failure> {
    Scene::open_with(name, files.access()).map_err(Failure::input)
}
