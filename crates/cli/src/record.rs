//! Output of `run --record`: tables, or a recording.
//!
//! A full disk ends the recording, not the run: the failure is reported at once and again at the end, and all other output (plot, saved
//! state) is still written.

use crate::failure::Failure;
use rattleback_dynamics::{Readout, Simulator, World};
use rattleback_lab::record::{Recorder, is_parquet};
use rattleback_scene::BuiltScene;
use rattleback_scene::recording::RecordingWriter;
use std::io::Write;
use std::path::{Path, PathBuf};

enum Kind {
    Tables(Recorder),
    Recording(RecordingWriter),
}

/// A record that is being written.
pub struct Record {
    path: PathBuf,
    kind: Option<Kind>,
    failure: Option<String>,
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Whether a path names a recording.
pub fn is_recording(path: &Path) -> bool {
    has_extension(path, "rbrec")
}

/// Refuses a record of an unknown format.
pub fn check_record_path(path: &Path) -> Result<(), Failure> {
    if is_recording(path) || is_parquet(path) || has_extension(path, "csv") {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}: records are tables (.csv, .parquet) or recordings (.rbrec)",
        path.display()
    )))
}

impl Record {
    /// (path, scene at its first state, time step in s) ⇒ record.
    pub fn create(path: &Path, built: &BuiltScene, dt: f64) -> Result<Self, Failure> {
        let kind = if is_recording(path) {
            let writer = RecordingWriter::create(path, &built.title, dt, &built.world, &*built.simulator);
            Kind::Recording(writer.map_err(Failure::input)?)
        } else {
            Kind::Tables(Recorder::create(path).map_err(Failure::input)?)
        };
        Ok(Self { path: path.into(), kind: Some(kind), failure: None })
    }

    /// Appends the present state; after a failure nothing more is written.
    pub fn record(&mut self, world: &World, readout: &Readout, simulator: &dyn Simulator) {
        let written = match &mut self.kind {
            Some(Kind::Tables(recorder)) => {
                recorder.record(world, readout).map_err(|error| error.to_string())
            }
            Some(Kind::Recording(writer)) => {
                writer.record(world, readout, simulator).map_err(|error| error.to_string())
            }
            None => Ok(()),
        };
        if let Err(error) = written {
            self.fail(&error, world.time());
        }
    }

    fn fail(&mut self, error: &str, time: f64) {
        let message = format!("{error}; the record ends before t = {time} s");
        let _ = writeln!(std::io::stderr(), "rattleback: {message}, the run goes on");
        self.failure = Some(message);
        self.kind = None;
    }

    /// Closes the files ⇒ what was written, in words.
    pub fn finish(self) -> Result<String, Failure> {
        if let Some(failure) = self.failure {
            return Err(Failure::Failed(failure));
        }
        match self.kind {
            Some(Kind::Tables(recorder)) => {
                let energies = recorder.energy_path().display().to_string();
                let rows = recorder.finish().map_err(Failure::failed)?;
                Ok(format!("{} ({rows} rows), {energies}", self.path.display()))
            }
            Some(Kind::Recording(writer)) => {
                let states = writer.finish().map_err(Failure::failed)?;
                Ok(format!("{} ({states} states)", self.path.display()))
            }
            None => Ok(String::new()),
        }
    }
}
