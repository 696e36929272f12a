//! How a command can end badly, and with which exit code.

use rattleback_lab::plot::PlotError;
use std::io;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What was given cannot be used; the message says what to do.
    #[error("{0}")]
    Input(String),
    /// It went wrong although the input was sound.
    #[error("{0}")]
    Failed(String),
    /// Ctrl-C; what was recorded is on disk.
    #[error("stopped by Ctrl-C at t = {0} s; what was recorded until then has been kept")]
    Interrupted(f64),
    /// The reader of our output has gone: no reason to complain.
    #[error("the output was closed")]
    ClosedPipe,
}

impl Failure {
    /// Failure ⇒ exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted(_) => 130,
            Self::ClosedPipe => 0,
        }
    }

    /// Any error that blames the input.
    pub fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(error.to_string())
    }

    /// Any error that does not.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Errors of drawing: a wrong extension is the caller's.
impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        match error {
            PlotError::NotPng { .. } => Self::input(error),
            _ => Self::failed(error),
        }
    }
}

/// Errors of writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Failed(format!("writing the output failed: {error}"))
        }
    }
}
