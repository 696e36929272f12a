//! `rattleback convert`: a scene in another format, in present names.

use crate::arguments::Convert;
use crate::failure::Failure;
use crate::scene_file;
use rattleback_dynamics::Registry;
use rattleback_scene::Scene;
use std::io::Write;
use std::path::Path;

/// Writes a scene as TOML or JSON, and checks that it builds the same world when read again.
pub fn convert(options: &Convert, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let scene = scene_file::open(&options.scene, options.files)?;
    let path = &options.out;
    let text = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => scene.to_toml(),
        Some("json") => scene.to_json(),
        _ => return Err(Failure::Input(format!("{}: scenes are written as .toml or .json", path.display()))),
    };
    if is_same_file(Path::new(&options.scene), path) {
        return Err(Failure::Input(format!("{} would be overwritten by itself", path.display())));
    }
    let before = state(&scene, registry)?;
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("{}: {error}", path.display()));
    std::fs::write(path, text).map_err(|error| failed(&error))?;
    let again = Scene::load_with(path, options.files.access()).map_err(|error| failed(&error))?;
    let after = state(&again, registry).map_err(|failure| {
        Failure::Input(format!(
            "{failure}\nwritten, but mesh files are relative to the folder of {}",
            path.display()
        ))
    })?;
    if before != after {
        return Err(failed(&"the written scene builds another world; please report this"));
    }
    writeln!(out, "{}: the same world as {}", path.display(), options.scene)?;
    Ok(())
}

/// Snapshot of the built scene.
fn state(scene: &Scene, registry: &Registry) -> Result<Vec<u8>, Failure> {
    let built = scene.build(registry).map_err(Failure::input)?;
    built.world.snapshot_with(&*built.simulator).map_err(Failure::failed)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
