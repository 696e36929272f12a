//! The drops of `poses --resume`.

use crate::failure::Failure;
use crate::resume_file::ResumeFile;
use rattleback_lab::poses::{DropRecord, Method, Part, StudySettings};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    file: ResumeFile,
    records: Vec<DropRecord>,
}

impl RecordFile {
    /// Opens or creates a file; one of another part or under other circumstances is refused.
    pub fn open(path: &Path, part: &Part, settings: &StudySettings, poses: usize) -> Result<Self, Failure> {
        let header =
            Header { rattleback_poses: 1, part: fingerprint(part), poses, settings: settings.clone() };
        let is_sound = |record: &DropRecord| record.pose.is_none_or(|pose| pose < poses);
        let (file, records) = ResumeFile::open(path, &header, "drops", is_sound)?;
        Ok(Self { file, records })
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
        self.file.append(records)
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
