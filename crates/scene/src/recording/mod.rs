//! Recordings: the states of a run in a file, with random access.
//!
//! A recording is only appended to, piece by piece: whatever stops the writer, everything up to the last whole piece can be read. Every
//! piece has a checksum, and the last one is marked as such: a recording that is truncated or damaged opens up to the damage, and reports
//! what is missing. Layout, all little-endian:
//!
//! | bytes | is |
//! |---|---|
//! | 8 | `RBREC002` |
//! | then piece after piece: | |
//! | 4 | length n of the contents |
//! | 4 | kind: 1 opening, 2 all bodies, 3 bodies that moved, 4 snapshot, 5 end |
//! | 4 | CRC-32 (IEEE 802.3) of length, kind and contents |
//! | n | contents |
//!
//! The opening holds the time step, the title and a snapshot of the first state, from which the run can be repeated. A state
//! (kinds 2 and 3) holds the time, kinetic and potential energy, and for each body its index among the bodies of the opening
//! (u32), position, quaternion w x y z, velocity and angular velocity, as f64 bit for bit. Every 32nd state holds all bodies, so
//! any state is at most 31 pieces away from one that needs no other. A snapshot is written when the states since the last one are
//! larger than it: a run can be continued from any snapshot, and the file is at most twice as large as without.
//! The end holds the number of states (u64).

mod read;
mod write;

pub use read::{Damage, RecordedState, Recording};
pub use write::RecordingWriter;

use glam::{DQuat, DVec3};
use rattleback_dynamics::world::BodyRef;
use std::path::PathBuf;

const MAGIC: &[u8; 8] = b"RBREC002";
/// First bytes of recordings of any version.
const ANY_VERSION: &[u8] = b"RBREC";
/// Length, kind and checksum.
const PIECE_HEADER: usize = 12;
/// Interval of states with all bodies.
const FULL_EVERY: u64 = 32;
/// Longest piece, bytes; a longer length is damage.
const MAX_PIECE: u64 = 1 << 30;

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Opening = 1,
    AllBodies = 2,
    Moved = 3,
    Snapshot = 4,
    End = 5,
}

impl Kind {
    fn of(number: u32) -> Option<Self> {
        [Self::Opening, Self::AllBodies, Self::Moved, Self::Snapshot, Self::End]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

/// Why a recording could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// The file system's words.
        source: std::io::Error,
    },
    /// The file does not begin as a recording does.
    #[error("{}: this is not a Rattleback recording (.rbrec)", path.display())]
    NotARecording {
        /// Which file.
        path: PathBuf,
    },
    /// A recording, but of another version of the format.
    #[error("{}: this recording has another format than {}, which is read and written here; record the run again", path.display(), String::from_utf8_lossy(MAGIC))]
    OtherVersion {
        /// Which file.
        path: PathBuf,
    },
    /// Cut off or damaged before the first state.
    #[error("{}: the recording is cut off or damaged before its first state; nothing of it can be read", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// The contents contradict themselves.
    #[error("{}: malformed {what}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The world could not be saved or restored.
    #[error("{}: {source}", path.display())]
    World {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<rattleback_dynamics::Error>,
    },
}

/// A body in a recorded state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Origin of the body frame, m.
    pub position: DVec3,
    /// Attitude of the body frame.
    pub orientation: DQuat,
    /// Of the centre of mass, m/s.
    pub velocity: DVec3,
    /// In the world frame, rad/s.
    pub angular_velocity: DVec3,
}

impl BodyState {
    /// Numbers in a state.
    const NUMBERS: usize = 13;
    /// Bytes in a piece: place and numbers.
    const BYTES: usize = 4 + 8 * Self::NUMBERS;

    fn of(body: &BodyRef<'_>) -> Self {
        let pose = body.pose();
        Self {
            position: pose.translation,
            orientation: pose.rotation,
            velocity: body.velocity(),
            angular_velocity: body.angular_velocity(),
        }
    }

    fn numbers(&self) -> [f64; Self::NUMBERS] {
        let (p, q, v, w) = (self.position, self.orientation, self.velocity, self.angular_velocity);
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// Numbers ⇒ state, if they are finite and the quaternion is one.
    fn from_numbers(n: [f64; Self::NUMBERS]) -> Option<Self> {
        let orientation = DQuat::from_xyzw(n[4], n[5], n[6], n[3]);
        let sound = n.iter().all(|x| x.is_finite()) && (orientation.length_squared() - 1.0).abs() < 1e-6;
        sound.then(|| Self {
            position: DVec3::new(n[0], n[1], n[2]),
            orientation,
            velocity: DVec3::new(n[7], n[8], n[9]),
            angular_velocity: DVec3::new(n[10], n[11], n[12]),
        })
    }
}

/// The error for a world that could not be saved or restored.
fn world_error(path: &std::path::Path, source: rattleback_dynamics::Error) -> RecordingError {
    RecordingError::World { path: path.into(), source: Box::new(source) }
}

/// (length, kind, contents) of a piece ⇒ its checksum; any single flipped bit changes it.
fn checksum(length: u32, kind: u32, contents: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&length.to_le_bytes());
    sum.update(&kind.to_le_bytes());
    sum.update(contents);
    sum.finalize()
}
