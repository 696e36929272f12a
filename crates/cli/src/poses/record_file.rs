//! A file of drops that can be continued: a line with what was dropped how, then a line for each drop, all JSON.
//!
//! Lines are appended after every round. A line that was cut off is dropped on reading, with all after it.

use crate::failure::Failure;
use rattleback_lab::poses::{DropRecord, Method, Part, StudySettings};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// First line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    rattleback_poses: u32,
    /// Hash of hull and mass properties.
    part: String,
    poses: usize,
    settings: StudySettings,
}

/// The file, open for appending.
pub struct RecordFile {
    path: PathBuf,
    file: File,
    records: Vec<DropRecord>,
}

impl RecordFile {
    /// Opens or creates a file; one of another part or under other circumstances is refused.
    pub fn open(path: &Path, part: &Part, settings: &StudySettings, poses: usize) -> Result<Self, Failure> {
        let named = |message: String| Failure::Input(format!("{}: {message}", path.display()));
        let header =
            Header { rattleback_poses: 1, part: fingerprint(part), poses, settings: settings.clone() };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        let mut reader = BufReader::new(&file);
        let (mut records, mut line, mut sound) = (Vec::new(), String::new(), 0);
        let first = reader.read_line(&mut line).map_err(|error| named(error.to_string()))?;
        if first > 0 {
            let found: Header = serde_json::from_str(&line)
                .map_err(|_| named("is no file of drops; give another name to --resume".into()))?;
            if found != header {
                return Err(named(
                    "holds drops of another part or under other circumstances; repeat the options of that run, or give another name to --resume".into(),
                ));
            }
            sound = first as u64;
            loop {
                line.clear();
                let length = reader.read_line(&mut line).unwrap_or(0);
                match serde_json::from_str::<DropRecord>(&line) {
                    Ok(record)
                        if length > 0 && line.ends_with('\n') && record.pose.is_none_or(|p| p < poses) =>
                    {
                        records.push(record);
                        sound += length as u64;
                    }
                    _ => break,
                }
            }
        }
        let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
        file.set_len(sound).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        if sound == 0 {
            let text = serde_json::to_string(&header).map_err(Failure::failed)?;
            file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file, records })
    }

    /// The drops of a method, in order, up to the first that is missing.
    pub fn take(&mut self, method: Method) -> Vec<DropRecord> {
        let mut found = Vec::new();
        self.records.retain(|record| {
            let wanted = record.method == method;
            if wanted && record.index == found.len() {
                found.push(record.clone());
            }
            !wanted
        });
        found
    }

    /// Adds drops to the end.
    pub fn append(&mut self, records: &[DropRecord]) -> Result<(), Failure> {
        let mut text = String::new();
        for record in records {
            text.push_str(&serde_json::to_string(record).map_err(Failure::failed)?);
            text.push('\n');
        }
        let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", self.path.display()));
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush()).map_err(failed)
    }
}

/// FNV-1a over the numbers of hull and mass properties.
fn fingerprint(part: &Part) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |x: f64| {
        for byte in x.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    part.hull().vertices().iter().for_each(|p| p.to_array().into_iter().for_each(&mut add));
    let mass = part.mass();
    add(mass.mass);
    mass.center_of_mass.to_array().into_iter().for_each(&mut add);
    mass.inertia.to_cols_array().into_iter().for_each(&mut add);
    format!("{hash:016x}")
}
