//! Writing a recording.

use super::{BodyState, FULL_EVERY, Kind, MAGIC, MAX_PIECE, RecordingError, checksum, world_error};
use rattleback_dynamics::{BodyId, Readout, Simulator, World};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes the states of a run. After each call the state has been passed to the operating system, and is kept if the program crashes.
///
/// ```
/// use rattleback_dynamics::Registry;
/// use rattleback_scene::{Scene, recording::{Recording, RecordingWriter}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path = std::env::temp_dir().join(format!("rattleback-doctest-{}.rbrec", std::process::id()));
/// let mut built = Scene::built_in("tennis-racket")?.build(&Registry::default())?;
/// let mut writer = RecordingWriter::create(&path, &built.title, built.dt, &built.world, &*built.simulator)?;
/// for _ in 0..10 {
///     built.simulator.step(&mut built.world, built.dt)?;
///     writer.record(&built.world, &built.world.readout(), &*built.simulator)?;
/// }
/// writer.finish()?;
/// let mut recording = Recording::open(&path, &Registry::default())?;
/// assert_eq!(recording.len(), 10);
/// let racket = built.world.iter_bodies().next().unwrap();
/// assert_eq!(recording.state(9)?.bodies[0].orientation, racket.orientation());
/// # std::fs::remove_file(&path)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct RecordingWriter {
    path: PathBuf,
    file: File,
    ids: Vec<BodyId>,
    last: Vec<Option<BodyState>>,
    states: u64,
    /// Bytes of states since the last snapshot, and bytes of that snapshot.
    since_snapshot: usize,
    snapshot_bytes: usize,
    piece: Vec<u8>,
}

impl RecordingWriter {
    /// (path, title, time step in s, world and simulator of the first state) ⇒ writer; the opening is written.
    ///
    /// # Errors
    /// A world that cannot be saved, or a file that cannot be written.
    pub fn create(
        path: &Path,
        title: &str,
        dt: f64,
        world: &World,
        simulator: &dyn Simulator,
    ) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { path: path.into(), source };
        let snapshot = world.snapshot_with(simulator).map_err(|source| world_error(path, source))?;
        let mut file = File::create(path).map_err(io)?;
        file.write_all(MAGIC).map_err(io)?;
        let ids: Vec<BodyId> = world.iter_bodies().map(|body| body.id()).collect();
        let last = vec![None; ids.len()];
        let mut writer = Self {
            path: path.into(),
            file,
            ids,
            last,
            states: 0,
            since_snapshot: 0,
            snapshot_bytes: snapshot.len(),
            piece: Vec::new(),
        };
        let title = title.as_bytes();
        let mut contents = Vec::with_capacity(12 + title.len() + snapshot.len());
        contents.extend_from_slice(&dt.to_le_bytes());
        contents.extend_from_slice(&(title.len() as u32).to_le_bytes());
        contents.extend_from_slice(title);
        contents.extend_from_slice(&snapshot);
        writer.append(Kind::Opening, &contents)?;
        Ok(writer)
    }

    /// Appends the present state.
    ///
    /// # Errors
    /// Writing failed.
    pub fn record(
        &mut self,
        world: &World,
        readout: &Readout,
        simulator: &dyn Simulator,
    ) -> Result<(), RecordingError> {
        let full = self.states.is_multiple_of(FULL_EVERY);
        let mut contents = Vec::new();
        for number in [world.time(), readout.kinetic_energy, readout.potential_energy] {
            contents.extend_from_slice(&number.to_le_bytes());
        }
        for (place, id) in self.ids.iter().enumerate() {
            let Ok(body) = world.body(*id) else { continue };
            let state = BodyState::of(&body);
            if !full && self.last[place] == Some(state) {
                continue;
            }
            self.last[place] = Some(state);
            contents.extend_from_slice(&(place as u32).to_le_bytes());
            for number in state.numbers() {
                contents.extend_from_slice(&number.to_le_bytes());
            }
        }
        self.append(if full { Kind::AllBodies } else { Kind::Moved }, &contents)?;
        self.states += 1;
        self.since_snapshot += contents.len();
        if self.since_snapshot > self.snapshot_bytes {
            self.snapshot(world, simulator)?;
        }
        Ok(())
    }

    /// Writes the end piece and syncs the file to disk ⇒ number of states.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(mut self) -> Result<u64, RecordingError> {
        self.append(Kind::End, &self.states.to_le_bytes())?;
        match self.file.sync_all() {
            // Pipes and devices have nothing to wait for.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(RecordingError::Io { path: self.path, source: error })
            }
            _ => Ok(self.states),
        }
    }

    fn snapshot(&mut self, world: &World, simulator: &dyn Simulator) -> Result<(), RecordingError> {
        let snapshot = world.snapshot_with(simulator).map_err(|source| world_error(&self.path, source))?;
        self.snapshot_bytes = snapshot.len();
        self.since_snapshot = 0;
        self.append(Kind::Snapshot, &snapshot)
    }

    /// One write call for a whole piece, so that the file ends with a whole piece unless the disk is full.
    fn append(&mut self, kind: Kind, contents: &[u8]) -> Result<(), RecordingError> {
        let io = |source| RecordingError::Io { path: self.path.clone(), source };
        if contents.len() as u64 > MAX_PIECE {
            return Err(io(io::Error::new(io::ErrorKind::FileTooLarge, "a state of more than a gigabyte")));
        }
        let (length, kind) = (contents.len() as u32, kind as u32);
        self.piece.clear();
        for word in [length, kind, checksum(length, kind, contents)] {
            self.piece.extend_from_slice(&word.to_le_bytes());
        }
        self.piece.extend_from_slice(contents);
        self.file.write_all(&self.piece).map_err(io)
    }
}
