//! The program under test, and a folder for what it writes.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A ball thrown upwards and a box tumbling without a name of its own; nothing but gravity.
pub const THROW: &str = r#"
title = "A throw"
time_step = 0.01
duration = 2.0
plot = ["ball.z", "energy"]

[[body]]
name = "ball"
position = [1, 2, 3]
velocity = [4, 0, 5]
shape = { type = "sphere", radius = 0.1 }

[[body]]
name = "box, \"big\""
position = [0, 5, 0]
angular_velocity = [0.3, 4, 0.1]
shape = { type = "box", half_extents = [0.1, 0.2, 0.3] }
"#;

/// A folder that is removed when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rattleback-test-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// With a file in it.
    pub fn with(name: &str, text: &str) -> Self {
        let folder = Self::new();
        std::fs::write(folder.path(name), text).unwrap();
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs the program in this folder.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        command(&self.0, arguments).output().unwrap().into()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rattleback"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs the program somewhere.
pub fn run(arguments: &[&str]) -> Ran {
    command(Path::new("."), arguments).output().unwrap().into()
}

/// Exit code and output of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub complaints: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            complaints: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Success without warnings ⇒ output.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!((self.code, self.complaints.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// The input was refused, with a message that contains these words; nothing was printed.
    #[track_caller]
    pub fn refused(self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        for word in words {
            assert!(self.complaints.contains(word), "no `{word}` in: {}", self.complaints);
        }
        assert!(!self.complaints.contains("panicked"), "{self:?}");
    }

    /// It failed with valid input, with a message that contains these words.
    #[track_caller]
    pub fn failed(self, words: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:?}");
        for word in words {
            assert!(self.complaints.contains(word), "no `{word}` in: {}", self.complaints);
        }
        assert!(!self.complaints.contains("panicked"), "{self:?}");
    }
}
