//! `rattleback export`: recordings for other programs.

use crate::arguments::Export;
use crate::failure::Failure;
use rattleback_dynamics::{Readout, Registry};
use rattleback_lab::record::{Recorder, is_parquet};
use rattleback_scene::recording::Recording;
use rattleback_viewer::animation::Animation;
use std::io::Write;

/// Writes the chosen files; of a damaged recording its intact part, and fails.
pub fn export(options: &Export, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let mut recording = Recording::open(&options.recording, registry).map_err(Failure::input)?;
    let every = options.every as usize;
    if let Some(path) = &options.gltf {
        let animation = Animation::of(&mut recording, registry, every).map_err(Failure::failed)?;
        std::fs::write(path, animation.to_glb())
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "{} ({} keys)", path.display(), animation.keys())?;
    }
    if let Some(path) = options.parquet.as_ref().filter(|path| !is_parquet(path)) {
        return Err(Failure::Input(format!("{}: Parquet tables are saved as .parquet", path.display())));
    }
    for path in options.csv.iter().chain(&options.parquet) {
        let (mut world, _) = recording.opening(registry).map_err(Failure::failed)?;
        let mut recorder = Recorder::create(path).map_err(Failure::input)?;
        for state in (0..recording.len()).step_by(every) {
            recording.show(state, &mut world).map_err(Failure::failed)?;
            let recorded = recording.state(state).map_err(Failure::failed)?;
            let readout = Readout {
                time: recorded.time,
                kinetic_energy: recorded.kinetic_energy,
                potential_energy: recorded.potential_energy,
                ..world.readout()
            };
            recorder.record(&world, &readout).map_err(Failure::failed)?;
        }
        let rows = recorder.finish().map_err(Failure::failed)?;
        writeln!(out, "{} ({rows} rows)", path.display())?;
    }
    recording.loss().map_or(Ok(()), |loss| Err(Failure::Failed(loss)))
}
