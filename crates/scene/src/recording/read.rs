//! Reading a recording, complete or truncated.

use super::{
    ANY_VERSION, BodyState, FULL_EVERY, Kind, MAGIC, MAX_PIECE, PIECE_HEADER, RecordingError, checksum,
    world_error,
};
use rattleback_dynamics::{BodyId, Registry, Simulator, World};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Kind and place of a piece in the file.
#[derive(Clone, Copy, Debug)]
struct Piece {
    offset: u64,
    length: usize,
    kind: Kind,
    time: f64,
}

/// A state of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedState {
    /// Time, s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Potential energy, J.
    pub potential_energy: f64,
    /// Every body, in the order of the opening.
    pub bodies: Vec<BodyState>,
}

/// What is missing in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The end piece is missing: the writer was stopped, or the file is truncated between two pieces.
    Unfinished,
    /// The file is truncated within a piece, or damaged: its last bytes cannot be read.
    Torn {
        /// From the first piece that is not whole to the end of the file.
        bytes: u64,
    },
}

/// A recording opened for reading.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: File,
    states: Vec<Piece>,
    snapshots: Vec<Piece>,
    opening: Vec<u8>,
    ids: Vec<BodyId>,
    /// The state read last, so that reading forwards takes each piece once.
    present: Option<(usize, RecordedState)>,
    beginning: Vec<BodyState>,
    /// Title, one line.
    pub title: String,
    /// Time step of the run, s.
    pub dt: f64,
    /// What is missing after the last state, if anything is.
    pub damage: Option<Damage>,
}

impl Recording {
    /// Path ⇒ recording, up to its last whole piece.
    ///
    /// # Errors
    /// Reading failed, the file is not a recording, or it has no complete state.
    pub fn open(path: &Path, registry: &Registry) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { path: path.into(), source };
        let malformed = |what| RecordingError::Malformed { path: path.into(), what };
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(RecordingError::NotARecording { path: path.into() });
        }
        let file = File::open(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::new(file);
        let mut magic = [0; MAGIC.len()];
        let begun = reader.read_exact(&mut magic);
        if begun.is_ok() && &magic != MAGIC && magic.starts_with(ANY_VERSION) {
            return Err(RecordingError::OtherVersion { path: path.into() });
        }
        if begun.is_err() || &magic != MAGIC {
            return Err(RecordingError::NotARecording { path: path.into() });
        }
        let (mut states, mut snapshots, mut opening) = (Vec::new(), Vec::new(), Vec::new());
        let mut offset = MAGIC.len() as u64;
        let mut contents = Vec::new();
        let mut end = None;
        while let Some((kind, length)) = next_piece(&mut reader, size - offset, &mut contents).map_err(io)? {
            let time = contents.first_chunk::<8>().map_or(0.0, |bytes| f64::from_le_bytes(*bytes));
            let piece = Piece { offset: offset + PIECE_HEADER as u64, length, kind, time };
            match kind {
                Kind::Opening if opening.is_empty() => opening = std::mem::take(&mut contents),
                Kind::Opening => return Err(malformed("recording: it has two openings")),
                Kind::AllBodies | Kind::Moved if time.is_finite() => states.push(piece),
                Kind::AllBodies | Kind::Moved => return Err(malformed("time of a state")),
                Kind::Snapshot => snapshots.push(piece),
                Kind::End => end = contents.first_chunk::<8>().map(|states| u64::from_le_bytes(*states)),
            }
            offset += (PIECE_HEADER + length) as u64;
            if kind == Kind::End {
                break;
            }
        }
        let damage = match (end, size - offset) {
            (Some(count), 0) if count == states.len() as u64 => None,
            (Some(_), 0) => return Err(malformed("recording: states are missing between others")),
            (None, 0) => Some(Damage::Unfinished),
            (_, bytes) => Some(Damage::Torn { bytes }),
        };
        if opening.is_empty() || states.is_empty() {
            return Err(RecordingError::Empty { path: path.into() });
        }
        let (dt, rest) = opening.split_first_chunk::<8>().ok_or_else(|| malformed("opening"))?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(|| malformed("opening"))?;
        let (title, snapshot) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or_else(|| malformed("opening"))?;
        let (dt, title) = (f64::from_le_bytes(*dt), String::from_utf8_lossy(title).into_owned());
        let world = World::restore(snapshot, registry).map_err(|source| world_error(path, source))?;
        let opening = snapshot.to_vec();
        Ok(Self {
            path: path.into(),
            file: reader.into_inner(),
            states,
            snapshots,
            opening,
            ids: world.iter_bodies().map(|body| body.id()).collect(),
            present: None,
            beginning: world.iter_bodies().map(|body| BodyState::of(&body)).collect(),
            title,
            dt: if dt.is_finite() && dt > 0.0 { dt } else { 1.0 / 240.0 },
            damage,
        })
    }

    /// What is missing, and up to which time the recording is complete, in words; none if it is complete.
    pub fn loss(&self) -> Option<String> {
        let (path, time, states) = (self.path.display(), self.time(self.len() - 1), self.len());
        let what = match self.damage? {
            Damage::Unfinished => "the recording was not finished or is cut off; its end is lost".to_owned(),
            Damage::Torn { bytes } => {
                format!("the recording is cut off or damaged; its last {bytes} bytes are lost")
            }
        };
        Some(format!("{path}: {what}, it is whole up to t = {time} s ({states} states)"))
    }

    /// Number of states; at least one.
    #[allow(clippy::len_without_is_empty, reason = "an empty one is not opened")]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Time of a state, s; of the last state for a larger number.
    pub fn time(&self, state: usize) -> f64 {
        self.states.get(state).or(self.states.last()).map_or(0.0, |piece| piece.time)
    }

    /// Time ⇒ the last state not after it, or the first.
    pub fn state_at(&self, time: f64) -> usize {
        self.states.partition_point(|piece| piece.time <= time).saturating_sub(1)
    }

    /// Number of a state ⇒ the state; the last one for a larger number.
    ///
    /// # Errors
    /// Reading failed, or the piece is damaged.
    pub fn state(&mut self, state: usize) -> Result<&RecordedState, RecordingError> {
        let state = state.min(self.states.len() - 1);
        for number in self.start_for(state)..=state {
            self.read_state(number)?;
        }
        match &self.present {
            Some((_, present)) => Ok(present),
            None => Err(self.malformed("state")),
        }
    }

    /// Sets a world that was restored from the opening to a state.
    ///
    /// # Errors
    /// Reading failed, or the piece is damaged.
    pub fn show(&mut self, state: usize, world: &mut World) -> Result<(), RecordingError> {
        let ids = self.ids.clone();
        let recorded = self.state(state)?;
        for (id, body) in ids.iter().zip(&recorded.bodies) {
            let Ok(mut present) = world.body_mut(*id) else { continue };
            let pose = rattleback_geometry::Pose::new(body.orientation, body.position);
            // The numbers were checked when they were read; velocities of fixed bodies are refused, and zero.
            let _ = present.set_pose(pose);
            let _ = present.set_velocity(body.velocity);
            let _ = present.set_angular_velocity(body.angular_velocity);
        }
        Ok(())
    }

    /// World and simulator of the opening.
    ///
    /// # Errors
    /// A snapshot that cannot be restored, such as one with types of a missing plug-in.
    pub fn opening(&self, registry: &Registry) -> Result<(World, Box<dyn Simulator>), RecordingError> {
        World::restore_with(&self.opening, registry).map_err(|source| world_error(&self.path, source))
    }

    /// World and simulator of the last snapshot not after a time, s, to continue from.
    pub fn snapshot_before(
        &mut self,
        time: f64,
        registry: &Registry,
    ) -> Result<(World, Box<dyn Simulator>), RecordingError> {
        let mut found = self.opening(registry)?;
        for piece in self.snapshots.clone() {
            let bytes = self.contents(piece)?;
            let (world, simulator) =
                World::restore_with(&bytes, registry).map_err(|source| world_error(&self.path, source))?;
            if world.time() > time {
                break;
            }
            found = (world, simulator);
        }
        Ok(found)
    }

    /// First piece to read to reach a state: after the state in memory, or the last one with all bodies.
    fn start_for(&self, state: usize) -> usize {
        let full = state - state % FULL_EVERY as usize;
        match &self.present {
            Some((present, _)) if (full..=state).contains(present) => present + 1,
            _ => full,
        }
    }

    fn blank(&self) -> RecordedState {
        let bodies = self.beginning.clone();
        RecordedState { time: 0.0, kinetic_energy: 0.0, potential_energy: 0.0, bodies }
    }

    fn read_state(&mut self, number: usize) -> Result<(), RecordingError> {
        let piece = self.states[number];
        let contents = self.contents(piece)?;
        let number_at = |bytes: &[u8], place: usize| {
            bytes.get(8 * place..8 * place + 8)?.try_into().ok().map(f64::from_le_bytes)
        };
        let mut state = match self.present.take() {
            Some((_, state)) if piece.kind == Kind::Moved => state,
            _ => self.blank(),
        };
        let head = [0, 1, 2].map(|place| number_at(&contents, place));
        let [Some(time), Some(kinetic_energy), Some(potential_energy)] = head else {
            return Err(self.malformed("head of a state"));
        };
        (state.time, state.kinetic_energy, state.potential_energy) = (time, kinetic_energy, potential_energy);
        for row in contents[24..].chunks(BodyState::BYTES) {
            let read = || {
                let (place, numbers) = row.split_first_chunk::<4>()?;
                let mut state = [0.0; BodyState::NUMBERS];
                for (place, number) in state.iter_mut().enumerate() {
                    *number = number_at(numbers, place)?;
                }
                Some((u32::from_le_bytes(*place) as usize, BodyState::from_numbers(state)?))
            };
            let Some((place, body)) = read() else { return Err(self.malformed("body in a state")) };
            let Some(slot) = state.bodies.get_mut(place) else {
                return Err(self.malformed("place of a body in a state"));
            };
            *slot = body;
        }
        self.present = Some((number, state));
        Ok(())
    }

    fn contents(&mut self, piece: Piece) -> Result<Vec<u8>, RecordingError> {
        let mut contents = vec![0; piece.length];
        let read =
            self.file.seek(SeekFrom::Start(piece.offset)).and_then(|_| self.file.read_exact(&mut contents));
        read.map_err(|source| RecordingError::Io { path: self.path.clone(), source })?;
        Ok(contents)
    }

    fn malformed(&self, what: &'static str) -> RecordingError {
        RecordingError::Malformed { path: self.path.clone(), what }
    }
}

/// Reads a piece; none where the file ends or is damaged.
fn next_piece(
    reader: &mut impl Read,
    left: u64,
    contents: &mut Vec<u8>,
) -> std::io::Result<Option<(Kind, usize)>> {
    let mut header = [0; PIECE_HEADER];
    if left < PIECE_HEADER as u64 {
        return Ok(None);
    }
    reader.read_exact(&mut header)?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (length, number) = (u64::from(word(0)), word(4));
    let sum = word(8);
    if length > MAX_PIECE || length > left - PIECE_HEADER as u64 {
        return Ok(None);
    }
    contents.clear();
    contents.resize(length as usize, 0);
    reader.read_exact(contents)?;
    let kind = Kind::of(number).filter(|_| checksum(length as u32, number, contents) == sum);
    Ok(kind.map(|kind| (kind, length as usize)))
}
