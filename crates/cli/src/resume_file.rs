//! A file of records that can be continued: a line with what they are records of, then a line for each record, all JSON.
//!
//! Lines are appended as records are made. A line that was cut off is dropped on reading, with all after it.

use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file, open for appending.
pub struct ResumeFile {
    path: PathBuf,
    file: File,
}

impl ResumeFile {
    /// (path, header, what the records are in words, which are sound) ⇒ file and the records in it; a file with another header is refused.
    pub fn open<H: Serialize + DeserializeOwned + PartialEq, R: DeserializeOwned>(
        path: &Path,
        header: &H,
        records_of: &str,
        is_sound: impl Fn(&R) -> bool,
    ) -> Result<(Self, Vec<R>), Failure> {
        let named = |message: String| Failure::Input(format!("{}: {message}", path.display()));
        let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut reader = BufReader::new(&file);
        let (mut records, mut line, mut sound) = (Vec::new(), String::new(), 0);
        let first = reader.read_line(&mut line).map_err(|error| named(error.to_string()))?;
        if first > 0 {
            let found: H = serde_json::from_str(&line)
                .map_err(|_| named(format!("is no file of {records_of}; give another name to --resume")))?;
            if found != *header {
                return Err(named(format!(
                    "holds {records_of} of something else or under other circumstances; repeat the options of that run, or give another name to --resume"
                )));
            }
            sound = first as u64;
            loop {
                line.clear();
                let length = reader.read_line(&mut line).unwrap_or(0);
                match serde_json::from_str::<R>(&line) {
                    Ok(record) if length > 0 && line.ends_with('\n') && is_sound(&record) => {
                        records.push(record);
                        sound += length as u64;
                    }
                    _ => break,
                }
            }
        }
        file.set_len(sound).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        if sound == 0 {
            let text = serde_json::to_string(header).map_err(Failure::failed)?;
            file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
        }
        Ok((Self { path: path.to_owned(), file }, records))
    }

    /// Adds records to the end.
    pub fn append<R: Serialize>(&mut self, records: &[R]) -> Result<(), Failure> {
        let mut text = String::new();
        for record in records {
            text.push_str(&serde_json::to_string(record).map_err(Failure::failed)?);
            text.push('\n');
        }
        let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", self.path.display()));
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush()).map_err(failed)
    }
}
